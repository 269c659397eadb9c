"""`orchestrator hook` as a client calls it: recorded and broken events, a locked database, the shell around it."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pathlib
import random
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from orchestrator.app import starts
from orchestrator.app.clients import claude_code_files, client_files, codex, codex_files, hooks
from orchestrator.app.kernel import operations
from orchestrator.doors.cli import hook, main
from orchestrator.runner import process_identity
from tests.conftest import clean_environment
from tests.integration.app.desk import Desk
from tests.integration.clients.test_hooks import CLIENT, CODEX, Client, report

RECORDED = pathlib.Path(__file__).with_name("recorded_events.jsonl")
"""What hooks of Claude Code 2.1.332 received in two scenes: one agent in the foreground, two in the background."""
EVENTS = [json.loads(line) for line in RECORDED.read_text().splitlines()]
OF_CODEX = [json.loads(line)["event"] for line in CODEX.read_text().splitlines()]
FOREGROUND, BACKGROUND = EVENTS[0]["session_id"], EVENTS[-1]["session_id"]
PLAN = {"groups": [{"id": "A"}, {"id": "B"}]}
STRICT = ("hook", "--strict")
BY_CODEX = ("hook", "--client", "codex")


class Caller:
    """Calls the command in this process on a database of its own."""

    def __init__(self, folder: pathlib.Path, patch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
        self.desk = Desk(folder)
        self.path, self._patch, self._capfd = self.desk.path, patch, capfd
        for name in [name for name in os.environ if name.startswith(("ORCHESTRATOR_", "CLAUDE"))]:
            patch.delenv(name)
        patch.setenv("ORCHESTRATOR_DB", str(self.path))

    def call(self, event: Any, *words: str) -> tuple[int, str, str]:
        """Exit code, stdout and stderr."""
        data = event if isinstance(event, bytes) else json.dumps(event).encode()
        self._patch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(data)))
        self._capfd.readouterr()
        code = main.main(list(words or ("hook",)))
        said = self._capfd.readouterr()
        return code, said.out, said.err

    def session(self, client: str) -> None:
        """A session with the open groups A and B, directed by a client."""
        self.desk.session()
        self.desk.call("route", current_agent="project_manager", status="PLANNING_COMPLETE", session_id="S1",
                       details={"plan": PLAN})
        operations.ask(self.desk.context, starts.AdoptSession(session_id="S1", client=client))


@pytest.fixture
def caller(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Caller:
    return Caller(tmp_path, monkeypatch, capfd)


def kind(out: str) -> str:
    """What an answer does."""
    if not out:
        return "nothing"
    answer = json.loads(out)
    own = answer.get("hookSpecificOutput", {})
    return str(own.get("permissionDecision") or ("context" if "additionalContext" in own else answer.get("decision")))


ANSWERS = {
    FOREGROUND: [
        ("SessionStart", "context"), ("UserPromptSubmit", "nothing"), ("PreToolUse", "nothing"),
        ("PreToolUse", "deny"), ("SubagentStart", "nothing"), ("SubagentStop", "nothing"), ("SubagentStop", "nothing"),
        ("PostToolUse", "nothing"), ("Stop", "block"), ("Stop", "nothing"), ("SessionEnd", "nothing"),
    ],
    BACKGROUND: [
        ("SessionStart", "context"), ("UserPromptSubmit", "nothing"), ("PreToolUse", "allow"), ("PreToolUse", "allow"),
        ("SubagentStart", "nothing"), ("PostToolUse", "nothing"), ("SubagentStart", "nothing"),
        ("PostToolUse", "nothing"), ("Stop", "nothing"), ("SubagentStop", "nothing"), ("UserPromptSubmit", "context"),
        ("SubagentStop", "nothing"), ("Stop", "block"), ("Stop", "nothing"), ("UserPromptSubmit", "context"),
        ("Stop", "nothing"), ("Stop", "nothing"), ("SessionEnd", "nothing"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("client", [FOREGROUND, BACKGROUND], ids=["foreground", "background"])
def test_recorded_events_are_answered(caller: Caller, client: str) -> None:
    caller.session(client)
    turns = {each["group_id"]: str(each["turn"]) for each in caller.desk.call("status", session_id="S1")["spawns"]}
    found = []
    for event in [each for each in EVENTS if each["session_id"] == client]:
        given = event.get("tool_input", {})
        text = json.dumps(event).replace("TURN", turns.get(given.get("description"), ""))
        code, out, err = caller.call(text.encode())
        assert (code, err) == (0, ""), event
        found.append((event["hook_event_name"], kind(out)))
    assert found == ANSWERS[client]


def test_the_foreground_scene_with_one_open_turn_is_answered_to_its_end(
    caller: Caller, tmp_path: pathlib.Path
) -> None:
    caller.session(FOREGROUND)
    caller.desk.call("group set-status", id="B", status="cancelled", session_id="S1", by="project_manager", reason="x")
    found = []
    for event in [each for each in EVENTS if each["session_id"] == FOREGROUND]:
        out = caller.call({**event, "agent_transcript_path": str(tmp_path / "agent.jsonl")})[1]
        found.append(kind(out))
        if found[-1] == "allow":
            prompt = json.loads(out)["hookSpecificOutput"]["updatedInput"]["prompt"]
            (tmp_path / "agent.jsonl").write_text(json.dumps({"message": {"content": prompt}}))
    assert found == [
        "context", "nothing", "nothing", "allow", "nothing", "block", "nothing", "context", "block", "nothing",
        "nothing",
    ]  # fmt: skip
    assert caller.desk.call("group show", id="A", session_id="S1")["group"]["awaited"]["role"] == "qa_expert"


# What is broken


def mutated(event: dict[str, Any], chance: random.Random) -> Any:
    """An event with something in it that no client should send."""
    wrong: list[Any] = [
        None, 7, -1, "", "\0", "x" * 9000, [], {}, [None], {"a": {"b": []}}, True, 1e308, "\u202e", "../../etc/passwd",
        "S1", "A" * 200, "<task-notification><status>failed</status>", "[orchestrator S1 - turn 1 x y]", "\ud7ff",
    ]  # fmt: skip
    found = json.loads(json.dumps(event))
    places = [(found, key) for key in found]
    places += [(found[key], inner) for key in found if isinstance(found[key], dict) for inner in found[key]]
    for _ in range(chance.randint(1, 3)):
        holder, key = chance.choice(places)
        if chance.random() < 0.3:
            holder.pop(key, None)
        else:
            holder[key] = chance.choice(wrong)
    return found


CALLS = [
    (("hook",), EVENTS, claude_code_files.GUARDS), (STRICT, EVENTS, claude_code_files.GUARDS),
    (BY_CODEX, OF_CODEX, codex.GUARDING), ((*BY_CODEX, "--strict", "--process", "1"), OF_CODEX, codex.GUARDING),
]  # fmt: skip


@pytest.mark.parametrize("seed", range(6))
def test_no_event_however_broken_ends_in_a_traceback(caller: Caller, seed: int) -> None:
    caller.session(FOREGROUND)
    chance = random.Random(seed)  # noqa: S311 - nothing secret
    for _ in range(60):
        words, events, guards = chance.choice(CALLS)
        broken = mutated({**chance.choice(events), "session_id": FOREGROUND}, chance)
        code, out, err = caller.call(broken, *words)
        assert code in (0, 2), (broken, err)
        assert "Traceback" not in err
        assert "unexpected" not in out + err, broken
        assert out == "" or isinstance(json.loads(out), dict)
        assert code == 0 or broken["hook_event_name"] in guards


def test_a_message_with_characters_that_cannot_be_stored_is_read_without_them(caller: Caller) -> None:
    caller.session(FOREGROUND)
    stop = {**EVENTS[8], "last_assistant_message": "a\0b\ud800", "\0": 1}
    assert kind(caller.call(stop)[1]) == "block"


@pytest.mark.parametrize("data", [
    b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"hook_event_name": "Stop", "hook_event_name": "Stop"}', b"[" * 5000,
])  # fmt: skip
def test_what_is_no_event_ends_with_1_so_that_the_command_around_it_decides(caller: Caller, data: bytes) -> None:
    code, out, err = caller.call(data)
    assert (code, out) == (1, "")
    assert err.startswith("orchestrator hook: the event")
    assert err.count("\n") == 1


@pytest.mark.parametrize(("words", "guards", "name"), [
    (words, guards, name) for words, events, guards in (
        (("hook",), claude_code_files.EVENTS, claude_code_files.GUARDS),
        (BY_CODEX, codex_files.EVENTS, codex.GUARDING),
    ) for name in events
])  # fmt: skip
def test_a_fault_of_ours_denies_where_it_guards_and_is_told_elsewhere(
    caller: Caller, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], guards: tuple[str, ...], name: str
) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(hooks, "handle", fails)
    code, out, err = caller.call({"hook_event_name": name, "session_id": CLIENT}, *words)
    said = "orchestrator hook: unexpected RuntimeError: a bug (run orchestrator doctor)"
    if name in guards:
        assert (code, out, err) == (2, "", f"{said}\n")
    else:
        assert (code, json.loads(out), err) == (0, {"systemMessage": said}, "")


def test_every_event_that_is_installed_is_answered_and_the_other_way_round() -> None:
    assert {*claude_code_files.EVENTS, *codex_files.EVENTS} == hooks._EVENTS


def test_without_a_database_nothing_is_said(caller: Caller, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.delenv("ORCHESTRATOR_DB")
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    monkeypatch.setenv("HOME", str(tmp_path / "empty"))
    for event in EVENTS[:4]:
        assert caller.call(event) == (0, "", "")
    for event in OF_CODEX[:4]:
        assert caller.call(event, *BY_CODEX) == (0, "", "")


# A database that another process has locked, and the shell around the command


def call_installed(caller: Caller, folder: pathlib.Path, event: dict[str, Any], command: str) -> tuple[Any, float]:
    """What the shell's command answers to an event, and the seconds it took."""
    environment = clean_environment() | {"ORCHESTRATOR_DB": str(caller.path), "CLAUDE_PROJECT_DIR": str(folder)}
    begun = time.monotonic()
    done = subprocess.run(
        ["sh", "-c", command], input=json.dumps(event), capture_output=True, text=True, env=environment, check=False,
        cwd=folder,
    )  # fmt: skip
    return done, time.monotonic() - begun


def command_of(event: str, scope: str = "local", files: Any = claude_code_files) -> str:
    return str(files.hooks(scope, strict=False)[event]["hooks"][0]["command"])


HOLDS = """
import os, signal, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
for each in sys.argv[2:]:
    connection.execute(each).fetchall()
print("locked", flush=True)
os.kill(os.getpid(), signal.SIGSTOP)
"""


@contextlib.contextmanager
def stopped_holder(path: pathlib.Path, *statements: str) -> Iterator[None]:
    """A process that was stopped while it holds a lock on the database."""
    with subprocess.Popen([sys.executable, "-c", HOLDS, str(path), *statements], stdout=subprocess.PIPE) as holder:
        try:
            assert holder.stdout is not None
            assert holder.stdout.readline() == b"locked\n"
            yield
        finally:
            holder.kill()


@pytest.mark.parametrize("statements", [
    ("BEGIN IMMEDIATE",), ("PRAGMA locking_mode = EXCLUSIVE", "BEGIN EXCLUSIVE"),
], ids=["writers wait", "readers wait"])  # fmt: skip
def test_a_database_locked_by_a_stopped_process_denies_a_start_and_lets_the_rest_go_on(
    caller: Caller, statements: tuple[str, ...]
) -> None:
    caller.session(FOREGROUND)
    caller.desk.call("group set-status", id="B", status="cancelled", session_id="S1", by="project_manager", reason="x")
    start, bind = EVENTS[3], EVENTS[7]
    assert kind(caller.call(start)[1]) == "allow"
    caller.desk.context.connection.close()
    environment = clean_environment() | {"ORCHESTRATOR_DB": str(caller.path)}
    with stopped_holder(caller.path, *statements):
        processes = [
            subprocess.Popen(
                ["sh", "-c", command_of(event["hook_event_name"])], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, text=True, env=environment,
            ) for event in (start, bind)
        ]  # fmt: skip
        (denied_out, denied_err), (told_out, told_err) = [
            process.communicate(json.dumps(event)) for process, event in zip(processes, (start, bind), strict=True)
        ]
    assert (processes[0].returncode, denied_out) == (2, "")
    assert "run orchestrator doctor" in denied_err
    assert processes[1].returncode == 0
    assert "orchestrator" in json.loads(told_out)["systemMessage"]
    assert told_err == ""
    assert hook.WAIT_S < hook.LATE_S < 2.0


LATE = """
import sys, time
from orchestrator.app.clients import hooks
from orchestrator.doors.cli import hook, main
hook.LATE_S, hook._unscheduled = 0.3, lambda: UNSCHEDULED
hooks.handle = lambda *_, **__: time.sleep(SLEEPS) or hooks.NOTHING
sys.argv = ["orchestrator", "hook"]
main.run()
"""


@pytest.mark.parametrize(("unscheduled", "sleeps", "ended"), [(0, 600, True), (600, 1, False)], ids=["waits", "busy"])
@pytest.mark.parametrize("event", [EVENTS[3], EVENTS[7]], ids=["guards", "tells"])
def test_an_event_that_waits_too_long_is_given_up_but_not_on_a_busy_machine(
    caller: Caller, tmp_path: pathlib.Path, event: dict[str, Any], unscheduled: int, sleeps: int, ended: bool
) -> None:
    program = LATE.replace("UNSCHEDULED", str(unscheduled)).replace("SLEEPS", str(sleeps))
    called = f"{shlex.quote(sys.executable)} -c {shlex.quote(program)}"
    command = command_of(event["hook_event_name"]).replace(f"{client_files.program()} hook", called)
    done, _ = call_installed(caller, tmp_path, event, command)
    said = "orchestrator hook: no answer within 0.3 seconds (run orchestrator doctor)"
    if not ended:
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    elif event["hook_event_name"] == "PreToolUse":
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"{said}\n")
    else:
        assert (done.returncode, json.loads(done.stdout)) == (0, {"systemMessage": said})


def test_a_disk_that_does_not_respond_is_not_waited_for(caller: Caller, tmp_path: pathlib.Path) -> None:
    caller.session(FOREGROUND)
    folder = caller.path.parent / hooks.FOLDER
    folder.mkdir(exist_ok=True)
    # Whoever opens a pipe waits for its other end, outside of Python.
    os.mkfifo(folder / f"{FOREGROUND}.json")
    stop = {"hook_event_name": "Stop", "session_id": FOREGROUND}
    done, _ = call_installed(caller, tmp_path, stop, command_of("Stop"))
    assert done.returncode == 0
    assert "no answer within" in json.loads(done.stdout)["systemMessage"]


@pytest.mark.parametrize("files", [claude_code_files, codex_files])
@pytest.mark.parametrize("scope", ["local", "project"])
def test_a_missing_program_denies_where_it_guards_and_is_told_elsewhere(
    caller: Caller, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, scope: str, files: Any
) -> None:
    monkeypatch.setattr(client_files, "program", lambda: "/nowhere/orchestrator")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    denied, _ = call_installed(caller, tmp_path, EVENTS[3], command_of("PreToolUse", scope, files))
    assert (denied.returncode, denied.stdout) == (2, "")
    assert "run orchestrator doctor" in denied.stderr
    told, _ = call_installed(caller, tmp_path, EVENTS[8], command_of("Stop", scope, files))
    assert told.returncode == 0
    assert "the hook failed" in json.loads(told.stdout)["systemMessage"]


def test_the_shared_command_finds_the_program_and_leaves_events_to_the_local_one(
    caller: Caller, tmp_path: pathlib.Path, script: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    caller.session(FOREGROUND)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    project = tmp_path / "a project"
    (project / ".claude").mkdir(parents=True)
    (project / ".venv/bin").mkdir(parents=True)
    (project / ".venv/bin/orchestrator").symlink_to(script)
    done, _ = call_installed(caller, project, EVENTS[0], command_of("SessionStart", "project"))
    assert kind(done.stdout) == "context"
    (project / ".venv/bin/orchestrator").unlink()
    monkeypatch.setenv("PATH", f"{script.parent}:/usr/bin:/bin")
    done, _ = call_installed(caller, project, EVENTS[0], command_of("SessionStart", "project"))
    assert kind(done.stdout) == "context"
    (project / ".claude/settings.local.json").write_text(json.dumps({"x": command_of("SessionStart")}))
    done, _ = call_installed(caller, project, EVENTS[0], command_of("SessionStart", "project"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("scope", ["local", "project"])
def test_the_command_of_codex_names_the_process_that_calls_it(
    caller: Caller, tmp_path: pathlib.Path, script: pathlib.Path, monkeypatch: pytest.MonkeyPatch, scope: str
) -> None:
    client = OF_CODEX[0]["session_id"]
    caller.session(client)
    monkeypatch.setenv("PATH", f"{script.parent}:/usr/bin:/bin")
    start = next(each for each in OF_CODEX if each["hook_event_name"] == "PreToolUse")
    turn = caller.desk.call("group show", id="A", session_id="S1")["group"]["turn"]
    given = {**start["tool_input"], "message": f"[orchestrator S1 A turn {turn} developer spawn]"}
    done, _ = call_installed(
        caller, tmp_path, {**start, "tool_input": given}, command_of("PreToolUse", scope, codex_files)
    )
    assert kind(done.stdout) == "allow", done
    (owner,) = caller.desk.context.connection.execute("SELECT owner FROM starts WHERE turn > 1").fetchone()
    assert owner == process_identity.mine()


def test_strict_denies_codex_the_tool_that_edits(caller: Caller) -> None:
    caller.session(FOREGROUND)
    edit = tool("apply_patch", command="*** Begin Patch")
    assert kind(caller.call(edit, *BY_CODEX, "--strict")[1]) == "deny"
    assert kind(caller.call(edit, *BY_CODEX)[1]) == "nothing"
    assert kind(caller.call({**edit, "agent_id": "a1"}, *BY_CODEX, "--strict")[1]) == "nothing"
    helper = tool("spawn_agent", agent_type="worker", message="x")
    assert kind(caller.call(helper, *BY_CODEX, "--strict")[1]) == "deny"
    assert kind(caller.call(tool("spawn_agent", message="x"), *BY_CODEX)[1]) == "nothing"


def test_an_event_that_takes_too_long_is_ended_and_denied(caller: Caller, tmp_path: pathlib.Path) -> None:
    program = (
        "import time\nfrom orchestrator import bootstrap\nfrom orchestrator.doors.cli import hook\n"
        "bootstrap.has_process = True\nhook._end_after(0.2)\ntime.sleep(30)"
    )
    slow = f"'{sys.executable}' -c '{program}'"
    guard = command_of("PreToolUse").replace(f"{client_files.program()} hook", slow)
    denied, took = call_installed(caller, tmp_path, EVENTS[3], guard)
    assert (denied.returncode, denied.stdout) == (2, "")
    assert took < 20


# Sessions that are driven, strictness, lists of tasks, usage limits


def test_an_agent_that_a_driver_has_started_is_left_alone_while_its_start_is_under_way(caller: Caller) -> None:
    caller.session(FOREGROUND)
    turns = {each["group_id"]: each["turn"] for each in caller.desk.call("status", session_id="S1")["spawns"]}
    stop = EVENTS[8]
    other = f"S1:A:{turns['A']}"
    assert kind(caller.call(stop)[1]) == "block"
    reserve = starts.ReserveStart(session_id="S1", group_id="A", turn=turns["A"], via="drive", client="driver")
    start = operations.ask(caller.desk.context, reserve)["start"]
    for named in (other, "", "S1:A:9999", "nonsense", "::", f"S1:B:{turns['B']}"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("ORCHESTRATOR_START", named)
            assert caller.call(EVENTS[3]) == (0, "", ""), named
            assert caller.call({**EVENTS[3], "session_id": "somebody"}) == (0, "", "")
    starts.end(caller.desk.context, start, outcome="failed", reason="x")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ORCHESTRATOR_START", other)
        assert kind(caller.call(EVENTS[3])[1]) == "deny"


def tool(name: str, **given: Any) -> dict[str, Any]:
    return {"hook_event_name": "PreToolUse", "session_id": FOREGROUND, "tool_name": name, "tool_use_id": "t",
            "tool_input": given}


def test_with_strict_who_directs_does_not_build(caller: Caller) -> None:
    caller.session(FOREGROUND)
    for name in ("Edit", "Write", "NotebookEdit"):
        assert kind(caller.call(tool(name), *STRICT)[1]) == "deny"
        assert kind(caller.call(tool(name))[1]) == "nothing"
        assert kind(caller.call({**tool(name), "agent_id": "a1"}, *STRICT)[1]) == "nothing"
    helper = tool("Agent", subagent_type="general-purpose", prompt="x")
    assert kind(caller.call(helper, *STRICT)[1]) == "deny"
    assert "start developer on A" in caller.call(helper, *STRICT)[1]
    assert kind(caller.call({**helper, "agent_id": "a1"}, *STRICT)[1]) == "nothing"
    assert kind(caller.call(tool("Bash"), *STRICT)[1]) == "nothing"
    caller.desk.call("session pause", id="S1", by="project_manager", reason="x")
    assert kind(caller.call(tool("Edit"), *STRICT)[1]) == "nothing"


@pytest.mark.parametrize(
    ("name", "at", "text", "code"),
    [
        ("TaskCompleted", "in_progress", "Do T1", 2), ("TaskCompleted", "done", "Do T1", 0),
        ("TaskCompleted", "in_progress", "Do T10", 0), ("TaskCreated", "in_progress", "Do T1", 0),
        ("TaskCreated", "blocked", "do (T1)", 2), ("TaskCreated", "done", "T1", 2), ("TaskCreated", "done", "Tea", 0),
    ],
)  # fmt: skip
def test_an_entry_of_the_clients_list_that_names_a_task_of_ours_goes_by_our_rules(
    caller: Caller, name: str, at: str, text: str, code: int
) -> None:
    caller.session(FOREGROUND)
    caller.desk.call("task create", id="T1", title="x", session_id="S1", group_id="A", assignee="developer")
    for each in ["in_progress", at][at == "in_progress" :]:
        caller.desk.call("task set-status", id="T1", status=each, session_id="S1", by="developer", reason="x")
    found = caller.call({"hook_event_name": name, "session_id": FOREGROUND, "task_id": "1", "task_subject": text})
    assert (found[0], found[1]) == (code, "")
    assert (f"Task T1 of session S1 is {at}." in found[2]) == (code == 2)


LIMITS = ["You've hit your session limit · resets 3pm (Europe/Warsaw)", "Claude usage limit reached."]


@pytest.mark.parametrize("said", LIMITS)
def test_a_usage_limit_is_no_answer_and_no_failure(tmp_path: pathlib.Path, said: str) -> None:
    client = Client(tmp_path)
    client.begun("project_manager", worker="pm")
    assert client.stops(said, "pm") is None
    assert client.rows("SELECT outcome, reason, due_at > started_at FROM starts") == [("limited", said, 1)]
    assert client.rows("SELECT count(*) FROM audit_events WHERE kind = 'refusal'") == [(0,)]
    assert client.start("project_manager")["permissionDecision"] == "allow"


def test_a_report_that_speaks_of_a_limit_is_a_report(tmp_path: pathlib.Path) -> None:
    client = Client(tmp_path)
    client.begun("project_manager", worker="pm")
    message = "Users have hit your limit.\n\n" + report("PLANNING_COMPLETE", details={"plan": PLAN})
    assert client.stops(message, "pm") is None
    assert client.rows("SELECT outcome FROM starts") == [(None,)]
