"""The installed `repl` on a pipe: order, summaries, exit codes, and what lines of every kind come to."""

from __future__ import annotations

import gzip
import json
import os
import pathlib
import re
import signal
import subprocess
import time

import pytest

from orchestrator.doors.cli.schema import json_schema
from tests.acceptance.replhouse import SUMMARY, House
from tests.integration.cli.test_schema import problems

MADE = {"status": "COMPLETE", "output": "made", "writes": {"notes.md": "words\n"}}
CLAIMED = {"status": "COMPLETE", "output": "made", "files": ["nowhere.md"]}
FAILED = {"status": "ERROR", "output": "", "error": "no such thing", "exit_code": 3}
ASKED = {"status": "ERROR", "output": "? Select", "blocked": "INTERACTIVE_PROMPT"}
TASK = "create notes.md"


def test_each_line_is_answered_in_order(house: House) -> None:
    """Source: seed 001, Properties 27 and 28."""
    executor = house.scripted({**MADE, "delay_ms": 200})
    done = house.run(lines=["/start", TASK, "/tasks", "/logs", "/exit"], executor=executor)
    assert (done.code, done.results) == (0, ["COMPLETE"])
    order = re.compile(
        r"Session (chat-\d+) is started\.\nTask (task-\d+) \[log: task-001\]: .*\nFiles: notes\.md \(new\)\n"
        r"=== TASK SUMMARY ===\n(?:\[.*\n){5}====================\n"
        r"\2 \[log: task-001\] COMPLETE  create notes\.md\ntask-001 \[task: \2\] COMPLETE  1 file  create notes\.md\n"
        r"Report: .*\n"
    )
    assert order.fullmatch(done.out), done.out


def test_an_answer_is_there_before_the_next_line_is_written(house: House) -> None:
    """Source: seed 001, Property 28."""
    with house.start(executor=house.scripted(MADE)) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for line, last in (("/keys", "ANTHROPIC_API_KEY"), (TASK, "===================="), ("/tasks", "task-")):
            process.stdin.write(f"{line}\n".encode())
            process.stdin.flush()
            while not (shown := process.stdout.readline().decode()).startswith(last):
                assert shown
        process.stdin.close()
        assert process.wait(30) == 0


@pytest.mark.parametrize(
    ("step", "result", "code"),
    [
        pytest.param(MADE, "COMPLETE", 0, id="complete"),
        pytest.param(CLAIMED, "INCOMPLETE", 2, id="a file that was never made"),
        pytest.param(FAILED, "ERROR", 1, id="exit 3"),
    ],
)
def test_the_end_of_a_task_decides_summary_and_exit_code(
    step: dict[str, object], result: str, code: int, house: House
) -> None:
    """Source: seed 001, Properties 29 and 39."""
    done = house.run(lines=["/start", TASK, "/exit"], executor=house.scripted(step))
    assert (done.code, done.results, done.err) == (code, [result], "")
    found = SUMMARY.search(done.out)
    assert found is not None
    assert found[2] in done.out[: found.start()]


def test_a_run_is_the_same_task_by_itself(house: House) -> None:
    executor = house.scripted({**MADE, "repeat": True})
    done = house.run(TASK, command="run", executor=executor)
    assert (done.code, done.results, done.out.splitlines()[0].split()[0]) == (0, ["COMPLETE"], "Task")
    again = house.run("create other.md", "--json", command="run", executor=house.scripted(CLAIMED))
    answer = json.loads(again.out)
    assert (again.code, answer["success"], answer["run"]["state"]) == (2, True, "incomplete")
    assert SUMMARY.fullmatch(answer["summary"] + "\n")
    assert "output" not in answer["run"]


def test_answers_as_json_have_the_printed_shape(house: House) -> None:
    """One object for each answer: those of commands and tasks, each end, and the first and last word."""
    done = house.run("--json", lines=[TASK, "/tasks", "/nothing", "/logs task-001"], executor=house.scripted(MADE))
    found = [json.loads(line) for line in done.out.splitlines()]
    schema = json_schema("repl")
    assert [list(problems(each, schema, schema)) for each in found] == [[]] * 7
    assert [each.get("op") for each in found] == ["begin", "task", "summary", "/tasks", "line", "/logs", "end"]
    assert (done.code, found[-1]["exit_code"]) == (1, 1)


@pytest.mark.parametrize(
    ("lines", "code", "out"),
    [
        pytest.param(b"", 0, "", id="nothing at all"),
        pytest.param(b"\xef\xbb\xbf\n \r\n/exit\r\nx", 0, "", id="marks, blank lines and ends of Windows"),
        pytest.param(b"exit\n", 1, "ERROR: Did you mean /exit?\nHINT: /exit\n", id="exit alone"),
        pytest.param(b"/foo\n", 1, "ERROR: There is no command '/foo'.\nHINT: /help\n", id="an unknown command"),
        pytest.param(b"caf\xe9\n", 1, "ERROR: Line 1 is not UTF-8: byte 0xe9 at offset 3.\nHINT: Send it as UTF-8\n",
                     id="no UTF-8"),
        pytest.param(b"x" * 2_000_000 + b"\n/exit\n", 1, "ERROR: Line 1 has more than 1048576 bytes.\n"
                     "HINT: Put the text into a file and name the file\n", id="two megabytes"),
    ],
)  # fmt: skip
def test_lines_that_are_no_tasks_call_no_executor(lines: bytes, code: int, out: str, house: House) -> None:
    done = house.run(lines=lines, executor=house.program(f"touch {house.base}/called"))
    assert (done.code, done.out, done.err) == (code, out, "")
    assert not (house.base / "called").exists()


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("# create notes.md", id="what looks like a comment"),
        pytest.param("create notes.md " + "x" * 1_000_000, id="one megabyte", marks=pytest.mark.slow),
        pytest.param("notes.md を作成\u2028して", id="Japanese, and a line separator within"),
    ],
)
def test_any_other_line_is_one_task(line: str, house: House) -> None:
    done = house.run(lines=[line, "/tasks"], executor=house.scripted(MADE))
    assert (done.code, done.results, done.out.count("[log: task-001] COMPLETE")) == (0, ["COMPLETE"], 1)


def test_a_session_alone_is_exit_0(house: House) -> None:
    done = house.run(lines=["/start", "/exit"])
    assert (done.code, done.err) == (0, "")


def test_lines_after_a_block_are_done_and_show_it(house: House) -> None:
    """Source: seed 001, Properties 34 and 36."""
    executor = house.program("printf '? Select an option '; sleep 60")
    began = time.monotonic()
    done = house.run(lines=["/start", "do it in notes.md", "/tasks", "/logs", "/status", "/exit"], executor=executor)
    assert time.monotonic() - began < 20
    assert (done.code, done.results) == (1, ["ERROR"]), done.out
    marks = (
        "blocked_reason=INTERACTIVE_PROMPT", "[RESULT]  ERROR", "[log: task-001] ERROR", "task-001 [task:",
        "Session id",
    )  # fmt: skip
    places = [done.out.index(mark) for mark in marks]
    assert places == sorted(places)
    log = house.logs()[0]
    assert (log["executor_blocked"], log["blocked_reason"], log["status"]) == (True, "INTERACTIVE_PROMPT", "error")


def test_silence_is_ended_and_told_of_with_its_clock(house: House) -> None:
    """Source: seed 001, Property 35."""
    executor = house.program("sleep 60")
    done = house.run("--progress-timeout", "200", lines=["tell me about a.md", "/logs"], executor=executor)
    assert (done.code, done.results) == (1, ["ERROR"])
    assert "blocked_reason=TIMEOUT timeout_ms=200" in done.out[done.out.rindex("task-001 [task:") :]


def test_a_program_gets_the_end_of_its_input_at_once_and_none_of_the_script(house: House) -> None:
    """Source: seed 001, Property 34."""
    executor = house.program("cat > got.md; echo done")
    done = house.run(lines=["create got.md", "/tasks"], executor=executor)
    assert ((house.project / "got.md").read_text(), done.out.count("[log: task-")) == ("", 2)


@pytest.mark.parametrize("stdin", ["a pipe nobody writes to", "closed"])
def test_a_task_needs_nobody_at_stdin(stdin: str, house: House) -> None:
    executor = house.program("cat > /dev/null; echo words > notes.md")
    argv = house.argv("run", TASK, executor=executor, installed=True)
    redirect = " <&-" if stdin == "closed" else ""
    shell = ["sh", "-c", '"$@"' + redirect, "sh", *argv]
    with subprocess.Popen(
        shell, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=house.environment(),
        cwd=house.base,
    ) as process:  # fmt: skip
        assert process.wait(30) == 0
        assert process.stderr is not None
        assert b"error" not in process.stderr.read()


def test_either_id_shows_the_same_log(house: House) -> None:
    """Source: seed 001, Property 30."""
    executor = house.scripted(MADE)
    done = house.run(lines=[TASK, "/logs task-001", "/logs task-002"], executor=executor)
    id = done.out[done.out.index("Task task-") + 5 :].split()[0]
    log = done.out[done.out.index("Log: ") : done.out.index("ERROR:")]
    assert (id in log, done.code, house.logs()[0]["external_task_id"]) == (True, 1, id)
    index = json.loads(next(house.project.glob(".orchestrator/sessions/*/logs/index.json")).read_bytes())
    assert f'"external_task_id": "{id}"' in json.dumps(index)


def test_a_run_that_is_ambiguous_is_asked_about_and_given_to_nobody(house: House) -> None:
    """Source: seed 001, Property 19."""
    done = house.run(lines=["fix it", "/exit"], executor=house.program(f"touch {house.base}/called"))
    assert (done.code, done.results) == (2, ["INCOMPLETE"])
    assert not (house.base / "called").exists()


def test_the_task_under_way_is_written_down_until_it_ends(house: House) -> None:
    """Source: seed 001, Property 38."""
    house.run(TASK, command="run", executor=house.program("cp .claude/repl.json notes.md"))
    during = json.loads((house.project / "notes.md").read_bytes())
    after = json.loads((house.project / ".claude" / "repl.json").read_bytes())
    id = house.logs()[0]["external_task_id"]
    assert (during, after) == (
        {"current_task_id": id, "last_task_id": None}, {"current_task_id": None, "last_task_id": id},
    )  # fmt: skip


HELD = {
    "ambiguous": ("fix it", ()),
    "not confirmed": ("rm -rf build", ()),
    "without a model": (TASK, ("--provider", "openai")),
    "without its program": (TASK, ("--executor", "command:/nowhere/at-all")),
}


@pytest.mark.parametrize(("task", "flags"), HELD.values(), ids=HELD)
def test_p38_what_ends_before_any_executor_is_the_task_that_ended_last(
    task: str, flags: tuple[str, ...], house: House
) -> None:
    house.run(TASK, command="run", executor=house.program("echo x > notes.md; echo made"))
    house.run(task, "--type", "LIGHT_EDIT", *flags, command="run", executor=None if flags else house.scripted(MADE))
    pointers = json.loads((house.project / ".claude" / "repl.json").read_bytes())
    last = max(log["external_task_id"] for log in house.logs())
    assert len(house.logs()) == 2
    assert pointers == {"current_task_id": None, "last_task_id": last}


def test_p38_a_terminal_task_that_is_named_as_running_is_so_no_more_when_the_next_session_begins(house: House) -> None:
    house.run(TASK, command="run", executor=house.scripted(MADE))
    id = house.logs()[0]["external_task_id"]
    path = house.project / ".claude" / "repl.json"
    path.write_text(json.dumps({"current_task_id": id, "last_task_id": None}))
    house.run(lines=["/start"], executor=house.scripted(MADE))
    assert json.loads(path.read_bytes()) == {"current_task_id": None, "last_task_id": id}


def test_a_key_in_a_task_is_neither_shown_nor_kept(house: House) -> None:
    """Source: seed 001, Properties 24 and 25."""
    key = "sk-" + "a" * 40
    executor = house.scripted({**MADE, "output": f"used {key}"})
    done = house.run(lines=[f"{TASK} with {key}", "/tasks", "/logs task-001 --full"], executor=executor)
    assert (key in done.out, "[MASKED:OPENAI_KEY]" in done.out) == (False, True)
    kept = [path for path in house.base.rglob("*") if path.is_file() and not path.name.startswith("steps")]
    assert [path.name for path in kept if key.encode() in path.read_bytes()] == []


def test_a_new_repl_reaches_what_an_earlier_one_has_printed(house: House) -> None:
    """Source: seed 001, Properties 27 and 30."""
    before = house.run(TASK, command="run", executor=house.scripted(MADE))
    id, session = SUMMARY.findall(before.out)[0][1], house.logs()[0]["session_id"]
    done = house.run(lines=["/status", "/tasks", "/logs", "/logs task-001", f"/logs {id}", "/exit"])
    head = f"No tasks in this session.\nEarlier, in session {session} (/logs ID shows one):\n"
    assert f"\nDb:              {house.database}\n" in done.out
    assert "\nProject mode:    fixed\n" in done.out
    assert f"{head}{id} [log: task-001] COMPLETE  create notes.md\n{head}task-001 [task: {id}] COMPLETE" in done.out
    detail = done.out[done.out.index("Log:      task-001") :]
    assert detail[: len(detail) // 2] * 2 == detail
    told = [json.loads(line) for line in house.run("--json", lines=["/tasks"]).out.splitlines()]
    assert [run["id"] for each in told if each["op"] == "/tasks" for run in each["earlier"]] == [id]


def test_a_repl_in_a_fresh_project_looks_for_nothing_earlier(house: House) -> None:
    house.database.unlink()
    done = house.run(lines=["/status", "/tasks", "/logs"])
    assert (done.code, done.out.count("No tasks in this session.\n"), house.database.exists()) == (0, 2, False)
    assert "Earlier" not in done.out
    assert "\nDb:              -\n" in done.out


@pytest.mark.parametrize(
    "unseen", ["\\033[0m", "\\342\\200\\213", "\\033]0;title\\007"], ids=["colour", "no width", "title"]
)
def test_a_key_that_is_broken_by_what_is_unseen_is_not_kept(house: House, unseen: str) -> None:
    """Source: seed 001, Properties 24 and 25."""
    rest = "ant-api03-QQQQBBBBCCCCDDDDEEEEFFFFGGGGHHHHIIIIJJJJKKKK"
    executor = house.program(f"printf '\\033[32mkey\\033[0m sk-{unseen}{rest}\\n'; echo words > notes.md")
    done = house.run(lines=[TASK, "/logs task-001 --full"], executor=executor)
    (raw,) = house.project.glob(".orchestrator/sessions/*/evidence/raw/*-execute.log*")
    written = gzip.open(raw).read() if raw.suffix == ".gz" else raw.read_bytes()
    assert (done.code, written) == (0, b"\x1b[32mkey\x1b[0m [MASKED:ANTHROPIC_KEY]\n")
    kept = [path for path in house.base.rglob("*") if path.is_file() and not path.name.startswith("program")]
    assert [path.name for path in kept if rest.encode() in path.read_bytes()] == []


def test_a_runner_that_was_killed_leaves_no_lock_behind(house: House) -> None:
    executor = house.program(f"for each in /proc/$$/fd/*; do readlink $each; done > fds; echo $$ > {house.base}/child; "
                             "exec sleep 600")  # fmt: skip
    with house.start("look at a.md", command="run", executor=executor, installed=True) as process:
        child = until(house.base / "child")
        process.kill()
    try:
        assert re.search(r"\.db|\.lock", (house.project / "fds").read_text()) is None
        done = house.run("--executor-timeout", "20000", TASK, command="run", executor=house.scripted(MADE))
        assert (done.code, done.results) == (0, ["COMPLETE"])
    finally:
        os.kill(child, signal.SIGKILL)


# --- projects


def test_the_project_s_path_is_the_first_line(house: House) -> None:
    """Source: seed 001, Property 32."""
    done = house.run("--print-project-path", lines=["/keys"])
    assert done.out.splitlines()[0] == f"PROJECT_PATH={house.project}"


def test_a_temporary_project_is_named_and_said_to_be_volatile(house: House) -> None:
    # What is left of it goes with the test.
    more = {"TMPDIR": str(house.base)}
    done = house.run("--print-project-path", lines=[TASK], place=(), executor=house.scripted(MADE), **more)
    path = pathlib.Path(done.out.splitlines()[0].removeprefix("PROJECT_PATH="))
    assert (done.code, path.is_absolute(), "volatile" in done.err, (path / "notes.md").exists()) == (0, *[True] * 3)


def test_a_fixed_project_stays_with_its_files(house: House) -> None:
    place = ("--project-mode", "fixed", "--project-root", str(house.project))
    done = house.run("--print-project-path", lines=[TASK], place=place, executor=house.scripted(MADE))
    assert (done.code, done.out.splitlines()[0]) == (0, f"PROJECT_PATH={house.project}")
    assert (house.project / "notes.md").read_text() == "words\n"
    log = house.logs()[0]
    assert (log["verification_root"], [file["path"] for file in log["verified_files"]]) == (
        str(house.project), ["notes.md"],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("place", "said"),
    [
        pytest.param(("--project-mode", "fixed"), "--project-root", id="fixed without a root"),
        pytest.param(("--project-mode", "fixed", "--project-root", "nowhere"), "E102", id="root missing"),
        pytest.param(("--project-mode", "fixed", "--project-root", "file"), "E102", id="root is a file"),
        pytest.param(("--project", "nowhere"), "E102", id="project missing"),
        pytest.param(("--project", "bare"), "E101", id="no .claude"),
        pytest.param(("--project", "half"), "E103", id="a part missing"),
        pytest.param(("--project", "project/.claude"), "E101", id="its parent would do"),
    ],
)
def test_a_project_that_is_not_fit_is_exit_1_with_its_reason(
    place: tuple[str, ...], said: str, house: House
) -> None:
    """Source: seed 001, Properties 2 and 32."""
    (house.base / "file").touch()
    (house.base / "bare").mkdir()
    (house.base / "half" / ".claude").mkdir(parents=True)
    done = house.run(place=place, lines=["/exit"])
    assert (done.code, done.out, said in done.err) == (1, "", True)
    assert not (house.base / "nowhere").exists()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        pytest.param("{bad", "E105", id="no JSON"),
        pytest.param('{"orchestrator": {"task_limits": {"files": 0}}}', "E104", id="out of range"),
    ],
)
def test_settings_that_are_wrong_are_exit_1(text: str, code: str, house: House) -> None:
    (house.project / ".claude" / "settings.json").write_text(text)
    done = house.run(lines=["/exit"])
    assert (done.code, done.out, code in done.err) == (1, "", True)


@pytest.mark.parametrize(
    "flags",
    [
        pytest.param(("--projct", "x"), id="unknown"),
        pytest.param(("--project-mode", "loose"), id="unknown choice"),
        pytest.param(("--executor-timeout", "soon"), id="no number"),
        pytest.param(("--progress-timeout", "0"), id="out of range"),
    ],
)
def test_a_wrong_flag_is_exit_64(flags: tuple[str, ...], house: House) -> None:
    done = house.run(*flags, lines=["/exit"])
    assert (done.code, done.out, done.err.startswith("error USAGE")) == (64, "", True)


def test_what_is_wrong_with_settings_or_a_script_is_said_once(house: House) -> None:
    settings, script = house.project / ".claude" / "settings.json", house.base / "script.json"
    kept = settings.read_text()
    settings.write_text('{"orchestrator": {"task_limits": {"files": 0}}}')
    told = house.run(lines=["/exit"]).err
    assert told.count("orchestrator.task_limits.files must be a whole number from 1 to 20, not 0.") == 1
    settings.write_text(kept)
    script.write_text('[{"status": 7}]')
    done = house.run(lines=["/exit"], executor=f"scripted:{script}")
    lines = [line.strip(" .") for line in done.err.splitlines() if "status" in line]
    assert (done.code, len(lines), lines[0].startswith("error SCRIPT_INVALID: ")) == (1, 1, True)


@pytest.mark.parametrize(
    "flags",
    [
        pytest.param(("--provider", "foo"), id="unknown provider"),
        pytest.param(("--provider", "openai", "--model", ""), id="empty model"),
        pytest.param(("--executor", "nonsense"), id="unknown executor"),
    ],
)
def test_a_choice_that_does_not_exist_is_an_error(flags: tuple[str, ...], house: House) -> None:
    """Source: seed 001, Property 23."""
    done = house.run(*flags, lines=[TASK, "/exit"])
    assert (done.code, "Traceback" in done.err) == (1, False)


def test_keys_are_said_to_be_set_and_never_shown(house: House) -> None:
    """Source: seed 001, Property 24."""
    done = house.run(lines=["/keys"], OPENAI_API_KEY="sk-" + "a" * 40, ANTHROPIC_API_KEY="  ")
    assert done.out == "OPENAI_API_KEY: SET\nANTHROPIC_API_KEY: NOT SET\n"


def test_P2_init_overwrites_nothing(house: House) -> None:
    (house.project / ".claude" / "settings.json").write_text('{"mine": true}')
    before = (house.project / ".claude" / "settings.json").read_text()
    done = house.run(lines=["/init"])
    assert (done.code, "nothing was missing" in done.out) == (0, True)
    assert (house.project / ".claude" / "settings.json").read_text() == before


# --- the recovery stub


@pytest.mark.parametrize(
    ("variable", "lines"),
    [
        pytest.param("ORCHESTRATOR_ENV", ["/exit"], id="exit alone"),
        pytest.param("NODE_ENV", ["/start", "/exit"], id="a session, and the other variable"),
    ],
)
def test_the_stub_is_refused_in_production_before_anything_else(
    variable: str, lines: list[str], house: House
) -> None:
    """Source: seed 001, Property 40."""
    more = {variable: "production", "PM_EXECUTOR_MODE": "recovery-stub", "PM_RECOVERY_SCENARIO": "success"}
    done = house.run(lines=lines, place=("--project", "nowhere"), **more)
    assert (done.code, done.out, done.err) == (1, "", "[FATAL] recovery-stub is forbidden in production\n")


@pytest.mark.parametrize(
    ("scenario", "result", "code"), [("blocked", "ERROR", 1), ("timeout", "ERROR", 1), ("error", "ERROR", 1)]
)
def test_the_stub_says_that_it_is_one(scenario: str, result: str, code: int, house: House) -> None:
    """Source: seed 001, Property 40."""
    more = {"PM_EXECUTOR_MODE": "recovery-stub", "PM_RECOVERY_SCENARIO": scenario}
    done = house.run("--print-project-path", lines=["/start", TASK, "/tasks", "/exit"], **more)
    assert done.out.splitlines()[:3] == [
        f"PROJECT_PATH={house.project}", "WARNING: recovery-stub enabled (test-only)", "mode=recovery-stub",
    ]  # fmt: skip
    assert (done.code, done.results) == (code, [result])


def test_a_scenario_that_does_not_exist_is_exit_1(house: House) -> None:
    done = house.run(lines=["/exit"], PM_EXECUTOR_MODE="recovery-stub", PM_RECOVERY_SCENARIO="none")
    assert (done.code, done.out, done.err.startswith("[FATAL] PM_RECOVERY_SCENARIO")) == (1, "", True)


# --- interrupts


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["interrupt", "end"])
def test_a_signal_stops_the_run_with_all_its_processes(number: signal.Signals, house: House) -> None:
    """Source: seed 001, Property 35."""
    executor = house.program(f"sleep 61 & echo $! > {house.base}/child; wait")
    with house.start(executor=executor) as process:
        assert process.stdin is not None
        process.stdin.write(b"look at a.md\n/tasks\n")
        process.stdin.close()
        child = until(house.base / "child")
        process.send_signal(number)
        assert process.stdout is not None
        out = process.stdout.read().decode()
        code = process.wait(30)
    assert (code, [found[1] for found in SUMMARY.finditer(out)]) == (2, ["INCOMPLETE"])
    assert ("[log: task-001] INCOMPLETE" in out) == (number == signal.SIGINT)
    assert not pathlib.Path(f"/proc/{child}").exists()
    assert house.logs()[0]["status"] == "cancelled"


def until(path: pathlib.Path) -> int:
    """The number in a file, once it is there."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if path.exists() and path.read_text().strip():
            return int(path.read_text())
        time.sleep(0.02)
    raise AssertionError("the executor was not started")


def test_a_reader_that_goes_away_loses_no_run(house: House) -> None:
    with house.start(executor=house.scripted(MADE, {**MADE, "writes": {"b.md": "x"}})) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.close()
        process.stdin.write(f"{TASK}\ncreate b.md\n".encode())
        process.stdin.close()
        assert process.wait(30) == 0
    assert [log["status"] for log in house.logs()] == ["complete", "complete"]


def test_an_output_that_cannot_be_written_is_exit_1_and_every_run_has_ended(house: House) -> None:
    with open("/dev/full", "wb") as full, house.start(executor=house.scripted(MADE), stdout=full) as process:
        assert process.stdin is not None
        process.stdin.write(f"{TASK}\n".encode())
        process.stdin.close()
        assert process.wait(30) == 1
    assert "queued" not in [log["status"] for log in house.logs()]
