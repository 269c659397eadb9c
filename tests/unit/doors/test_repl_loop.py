"""The loop on a session that executes nothing: order, answers, exit codes, and what interrupts do."""

from __future__ import annotations

import inspect
import io
import json
import os
import signal
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator.core.running import states
from orchestrator.doors.cli.repl import exit, identity, loop, messages, show, sources
from orchestrator.doors.cli.repl.interrupts import Interrupts
from orchestrator.errors import EnvironmentProblem, OrchestratorError, Refused
from tests.cases import every
from tests.unit.doors.fake_session import FUNCTIONS, FakeSession, answered_by_the_fake, outcome

BLOCKED = outcome(
    states.FAILED, why="it asked", executor_blocked=True, blocked_reason="INTERACTIVE_PROMPT", timeout_ms=60000
)
ASKS = outcome(states.AWAITING, question={"id": "Q1", "kind": "reply", "text": "Which file?\nName it."})
SUMMARY = """=== TASK SUMMARY ===
[RESULT]  {result}
[TASK]    task-1768282936521
[NEXT]    {next}
[WHY]     {why}
[HINT]    {hint}
====================
"""
Play = Callable[..., tuple[int, str]]


@pytest.fixture(autouse=True)
def _heard() -> Iterator[None]:
    """No signal is ignored from the start, as some are where the tests run in the background of a shell."""
    before = {number: signal.signal(number, signal.SIG_DFL) for number in (signal.SIGTERM, signal.SIGHUP)}
    before[signal.SIGINT] = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture(autouse=True)
def _faked(monkeypatch: pytest.MonkeyPatch) -> None:
    for function in FUNCTIONS:
        monkeypatch.setattr(f"{function.__module__}.{function.__name__}", answered_by_the_fake(function))


@pytest.fixture
def play(capfd: pytest.CaptureFixture[str]) -> Play:
    """Play a script of lines on a session; the exit code and what was written to stdout."""

    def run(session: FakeSession, *lines: str | bytes, **flags: Any) -> tuple[int, str]:
        data = b"".join((line if isinstance(line, bytes) else line.encode()) + b"\n" for line in lines)
        code = played(session, sources.Stream(io.BytesIO(data)), **flags)
        return code, capfd.readouterr().out

    return run


def played(
    session: FakeSession, source: sources.Source, *, interactive: bool = False, is_project: bool = True,
    as_json: bool = False,
) -> int:
    teller = messages.Teller(json=as_json)
    with Interrupts(forgives=interactive) as interrupts:
        worker = loop.Worker(session, teller, interrupts)
        speaker = identity.Speaker(None, interactive=False)
        lines = loop.Loop(
            session, source, teller, interrupts, worker, speaker, interactive=interactive, is_project=is_project
        )
        return int(exit.ended(session, teller, worker, interrupts, lines.run, debug=False)["exit_code"])


def test_a_task_is_taken_up_and_its_summary_printed_before_the_next_line(play: Play) -> None:
    code, out = play(FakeSession([outcome(why="a.md was made")]), "/start", "create a.md", "/exit")
    head = "Session chat-1 is started.\nTask task-1768282936521 [log: task-001]: READ_INFO, executor fake\n"
    summary = SUMMARY.format(
        result="COMPLETE", next="Enter the next task", why="a.md was made",
        hint="/logs task-1768282936521 shows the log of the run",
    )  # fmt: skip
    assert (code, out) == (0, head + summary)


@pytest.mark.parametrize(
    ("found", "result", "exit_code"),
    [
        pytest.param(outcome(why="done"), "COMPLETE", 0, id="complete"),
        pytest.param(outcome(states.UNFINISHED, error_reason="no file"), "INCOMPLETE", 2, id="incomplete"),
        pytest.param(outcome(states.FAILED, error_reason="exit 3"), "ERROR", 1, id="error"),
        pytest.param(outcome(states.CANCELLED, error_reason="cancelled"), "INCOMPLETE", 2, id="cancelled"),
        pytest.param(outcome(states.FAILED), "ERROR", 1, id="an error without a reason"),
    ],
)
@pytest.mark.parametrize("interactive", [False, True], ids=["script", "person"])
def test_every_end_has_its_summary_and_exit_code(
    found: dict[str, Any], result: str, exit_code: int, interactive: bool, play: Play
) -> None:
    """Source: seed 001, Properties 29 and 39."""
    code, out = play(FakeSession([found]), "do it", "/exit", interactive=interactive)
    assert code == exit_code
    lines = out.splitlines()[1:]
    assert (lines[0], lines[-1], lines[1]) == ("=== TASK SUMMARY ===", "====================", f"[RESULT]  {result}")
    assert [line[10:].strip() == "" for line in lines[1:-1]] == [False] * 5


@pytest.mark.parametrize(
    ("lines", "exit_code"),
    [
        pytest.param((), 0, id="nothing"),
        pytest.param(("/start", "/exit"), 0, id="a session alone"),
        pytest.param(("", "  ", "/help"), 0, id="blank lines"),
        pytest.param(("/foo",), 1, id="an unknown command"),
        pytest.param(("exit",), 1, id="a slip"),
        pytest.param((b"\xff",), 1, id="no text"),
        pytest.param(("/model",), 1, id="an argument is missing"),
        pytest.param(('/model ""',), 1, id="an empty name"),
        pytest.param(("/exit now",), 1, id="an argument too many"),
        pytest.param(("/logs task-999",), 1, id="a log that is not there"),
        pytest.param(("do it", "/foo", "do it"), 1, id="an error between complete ones"),
    ],
)
def test_what_is_written_alone_decides_the_exit_code(
    lines: tuple[str | bytes, ...], exit_code: int, play: Play
) -> None:
    assert play(FakeSession(), *lines)[0] == exit_code


@given(st.lists(st.sampled_from([states.DONE, states.UNFINISHED, states.FAILED, states.CANCELLED]), max_size=6))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_exit_code_is_that_of_the_worst_end_whatever_the_order(play: Play, ends: list[str]) -> None:
    """Source: seed 001, Property 29."""
    code, _ = play(FakeSession([outcome(end) for end in ends]), *("do it" for _ in ends))
    assert code == (1 if states.FAILED in ends else 2 if set(ends) - {states.DONE} else 0)


def test_a_slip_gives_two_lines_and_calls_nobody(play: Play) -> None:
    session = FakeSession()
    assert play(session, "exit") == (1, "ERROR: Did you mean /exit?\nHINT: /exit\n")
    assert session.calls == ["close"]


def test_lines_after_a_block_are_done_in_order_and_show_it(play: Play) -> None:
    """Source: seed 001, Property 36."""
    code, out = play(FakeSession([BLOCKED]), "/start", "ask me", "/tasks", "/logs", "/status", "/exit")
    assert code == 1
    marks = (
        "Session chat-1", "Blocked: blocked_reason=INTERACTIVE_PROMPT timeout_ms=60000", "[RESULT]  ERROR",
        "task-1768282936521 [log: task-001] ERROR  ask me",
        "task-001 [task: task-1768282936521] ERROR  blocked_reason=INTERACTIVE_PROMPT timeout_ms=60000",
        "Session id: chat-1",
    )  # fmt: skip
    places = [out.index(mark) for mark in marks]
    assert places == sorted(places)


def test_either_id_shows_the_same_log(play: Play) -> None:
    """Source: seed 001, Property 30."""
    session = FakeSession()
    play(session, "do it")
    _, by_log = play(session, "/logs task-001")
    _, by_task = play(session, "/logs task-1768282936521")
    assert by_log == by_task
    assert "T queued: do it" in by_log


def test_raw_output_is_shown_on_request_alone(play: Play) -> None:
    """Source: seed 001, Property 25."""
    session = FakeSession([outcome(output="raw\nwords")])
    _, out = play(session, "do it", "/tasks", "/logs", "/logs task-001", "/logs --tree", "/logs --json")
    assert "raw" not in out
    assert "Output\n  raw\n  words\n" in play(session, "/logs task-001 --full")[1]


def test_a_tree_shows_session_work_and_task(play: Play) -> None:
    session = FakeSession()
    play(session, "do it")
    assert play(session, "/logs --tree")[1] == (
        "thread chat-1\n└─ run T1\n   └─ task task-1768282936521 [COMPLETE] [log: task-001] do it\n"
    )


def test_a_task_that_no_executor_is_called_for_has_its_summary_at_once(play: Play) -> None:
    """Source: seed 001, Property 19."""
    session = FakeSession(held={"fix it": outcome(states.UNFINISHED, error_reason="target_action_ambiguous")})
    code, out = play(session, "fix it")
    assert (code, out.count("[WHY]     target_action_ambiguous"), session.calls) == (2, 1, ["close"])


def test_a_question_is_shown_with_how_it_is_answered(play: Play) -> None:
    session = FakeSession([ASKS, outcome(why="done")])
    code, out = play(session, "do it", "/respond a.md", interactive=True)
    asked = "Task task-1768282936521 asks:\n  Which file?\n  Name it.\nAnswer: /respond TEXT\n"
    assert (code, asked in out, "SUMMARY" in out[: out.index("Answer:")]) == (0, True, False)
    assert session.calls == ["work task-001", "respond None: a.md", "work task-001", "close"]


@pytest.mark.parametrize(
    ("kind", "text", "how"),
    [
        ("confirmation", "Is it to be deleted?", "/respond yes, or /respond no"),
        ("reply", "YES/NO: May I?", "/respond yes, or /respond no"),
        ("reply", "Which file?", "/respond TEXT"),
    ],
)
def test_a_question_says_by_which_words_it_is_answered(kind: str, text: str, how: str) -> None:
    row = {"id": "task-1", "state": states.AWAITING, "question": {"id": "C1:Q2", "kind": kind, "text": text}}
    assert show.question(row) == ["Task task-1 asks:", f"  {text}", f"Answer: {how}"]


@pytest.mark.parametrize("line", ["/tasks", "/logs"])
def test_a_list_says_of_a_cancelled_task_that_it_is(line: str, play: Play) -> None:
    _, out = play(FakeSession([outcome(states.CANCELLED, error_reason="cancelled")]), "do it", line)
    assert "] INCOMPLETE (cancelled)  " in out


def test_nothing_that_is_stored_moves_the_cursor(play: Play) -> None:
    _, out = play(FakeSession([outcome(why="a\x1b[2Jb")]), "clear\x1b[2J it", "/tasks", "/logs task-001")
    assert "\x1b" not in out


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        pytest.param("/keys", "OPENAI_API_KEY: SET\nANTHROPIC_API_KEY: NOT SET\n", id="keys"),
        pytest.param("/provider openai", "Provider: openai\nModel:    -\n", id="provider"),
        pytest.param("/model gpt-9", "Provider: claude-code\nModel:    gpt-9\n", id="model"),
        pytest.param("/tasks", "No tasks in this session.\n", id="no tasks"),
        pytest.param("/logs", "No tasks in this session.\n", id="no logs"),
        pytest.param("/logs --tree", "No tasks in this session.\n", id="no tree"),
        pytest.param("/logs --full", "No tasks in this session.\n", id="no logs in full"),
        pytest.param("/logs --json", "[]\n", id="no logs as JSON"),
        pytest.param("/tsks", "ERROR: There is no command '/tsks'. Did you mean /tasks?\nHINT: /tasks\n", id="a slip"),
        pytest.param('/model ""', "ERROR: E104 The model name is blank.\nHINT: /model NAME\n", id="a refusal"),
    ],
)
def test_a_command_answers(line: str, shown: str, play: Play) -> None:
    assert play(FakeSession(), line)[1] == shown


def test_without_a_project_there_is_help_init_and_exit(play: Play) -> None:
    """Source: seed 001, Property 2."""
    session = FakeSession()
    lines = ("do it", "/tasks", "/help", "/init", "/tasks", "/exit")
    code, out = play(session, *lines, interactive=True, is_project=False)
    refused = "ERROR: E101 This folder is not a project yet, or an incomplete one.\nHINT: /init sets it up\n"
    assert (code, out.startswith(refused * 2), session.calls) == (1, True, ["init", "close"])
    listed = [line.split()[0] for line in out.splitlines() if line.startswith("/")]
    assert listed == ["/help", "/init", "/exit"]
    assert ("No tasks before /init" in out, "Any other text is a task" in out) == (True, False)
    assert out.endswith("The project /projects/one is set up: .claude\nNo tasks in this session.\n")


def test_an_answer_is_one_object_where_json_is_asked_for(play: Play) -> None:
    _, out = play(FakeSession(), "/start", "do it", "/tasks", "/foo", "exit", as_json=True)
    found = [json.loads(line) for line in out.splitlines()]
    assert [(each["op"], each["success"]) for each in found] == [
        ("/start", True), ("task", True), ("summary", True), ("/tasks", True), ("line", False), ("exit", False),
    ]  # fmt: skip
    assert (found[2]["run"]["state"], found[2]["summary"].count("\n")) == ("complete", 6)


class Handed(sources.Source):
    """Gives lines one by one, each only after what was written before has been seen."""

    def __init__(self, lines: list[bytes | BaseException], seen: Callable[[], str]) -> None:
        self.lines, self.seen = lines, seen
        self.before: list[str] = []

    def read(self) -> bytes | None:
        self.before.append(self.seen())
        found = self.lines.pop(0) if self.lines else None
        if isinstance(found, KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
        return found if isinstance(found, bytes) else None


def test_an_answer_is_written_before_the_next_line_is_read(capfd: pytest.CaptureFixture[str]) -> None:
    """Source: seed 001, Property 28."""
    source = Handed([b"/keys\n", b"do it\n", b"/tasks\n"], lambda: capfd.readouterr().out)
    played(FakeSession(), source)
    first, keys, task, tasks = source.before
    assert (first, keys.startswith("OPENAI"), task.endswith("====\n"), tasks.startswith("task-")) == ("", *[True] * 3)


def interrupt(times: int, number: int = signal.SIGINT) -> Callable[[], None]:
    def send() -> None:
        for _ in range(times):
            os.kill(os.getpid(), number)

    return send


def test_an_interrupt_stops_the_run_and_the_next_line_is_done(play: Play) -> None:
    session = FakeSession()
    session.meanwhile = interrupt(1)
    code, out = play(session, "long work", "/tasks")
    assert (code, "[WHY]     cancelled" in out, "CANCELLED" not in out, "[log: task-001] INCOMPLETE" in out) == (
        2, True, True, True,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("send", "interactive"),
    [
        pytest.param(interrupt(2), False, id="a second one in a script"),
        pytest.param(interrupt(2), True, id="a second one of a person"),
        pytest.param(interrupt(3), True, id="a third one, which breaks in"),
        pytest.param(interrupt(1, signal.SIGTERM), True, id="a signal to end"),
        pytest.param(interrupt(1, signal.SIGHUP), False, id="the terminal is gone"),
    ],
)
def test_what_ends_the_loop_stops_the_run_first(send: Callable[[], None], interactive: bool, play: Play) -> None:
    session = FakeSession()
    session.meanwhile = send
    code, out = play(session, "long work", "/tasks", interactive=interactive)
    assert (code, "[log: task-001] I" in out, session.tasks()[0]["state"], session.calls[-1]) == (
        2, False, "cancelled", "close",
    )  # fmt: skip


def test_a_second_interrupt_of_a_script_ends_it_also_in_a_later_run(play: Play) -> None:
    session = FakeSession()
    session.meanwhile = interrupt(1)
    play(session, "one", "two", "three")
    assert session.calls == ["work task-001", "work task-002", "close"]


def test_a_person_may_stop_one_run_after_the_other(play: Play) -> None:
    session = FakeSession()
    session.meanwhile = interrupt(1)
    code, _ = play(session, "one", "two", "/tasks", interactive=True)
    assert (code, [run["state"] for run in session.tasks()]) == (2, ["cancelled", "cancelled"])


@pytest.mark.parametrize(
    ("given_lines", "interactive", "done", "exit_code"),
    [
        pytest.param([KeyboardInterrupt(), b"do it"], True, 1, 0, id="a person goes on"),
        pytest.param([KeyboardInterrupt(), KeyboardInterrupt(), b"do it"], True, 0, 2, id="a person leaves"),
        pytest.param([KeyboardInterrupt(), b"a", KeyboardInterrupt(), b"b"], True, 2, 0, id="a person goes on twice"),
        pytest.param([KeyboardInterrupt(), b"do it"], False, 0, 2, id="a script ends"),
    ],
)
def test_an_interrupt_while_a_line_is_awaited(
    given_lines: list[bytes | BaseException], interactive: bool, done: int, exit_code: int
) -> None:
    session = FakeSession()
    code = played(session, Handed(given_lines, str), interactive=interactive)
    assert (code, len(session.tasks())) == (exit_code, done)


def test_a_run_that_was_broken_off_in_its_queue_is_cancelled(play: Play) -> None:
    session = FakeSession([KeyboardInterrupt()])
    code, out = play(session, "do it")
    assert (code, session.tasks()[0]["state"], "[RESULT]  INCOMPLETE" in out) == (2, "cancelled", True)


@pytest.mark.parametrize(
    ("problem", "code"),
    [
        pytest.param(EnvironmentProblem("DISK_FULL", "No room.", ""), "DISK_FULL", id="no room on the disk"),
        pytest.param(RuntimeError("broken"), "INTERNAL", id="a fault of the program"),
    ],
)
def test_what_cannot_go_on_ends_with_1_and_leaves_nothing_open(
    problem: Exception, code: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """Source: seed 001, Property 9."""
    session = FakeSession([problem])
    with pytest.raises(OrchestratorError) as stopped:
        played(session, sources.Stream(io.BytesIO(b"do it\n/tasks\n")))
    assert (stopped.value.code, stopped.value.data["_exit_code"], session.calls[-1]) == (code, 1, "close")
    assert "[log: task-001] QUEUED" not in capfd.readouterr().out


def test_a_refusal_of_the_desk_is_an_error_of_the_line_alone(play: Play) -> None:
    code, out = play(FakeSession([Refused("E207", "Not now.", "/approve")]), "do it", "/keys")
    assert (code, "ERROR: E207 Not now.\nHINT: /approve\nOPENAI_API_KEY" in out) == (1, True)


@every("function", FUNCTIONS)
def test_what_the_loop_calls_is_what_the_fake_answers(function: Callable[..., Any]) -> None:
    fake = inspect.signature(getattr(FakeSession, function.__name__)).parameters
    wanted = [*inspect.signature(function).parameters][1:]
    assert [*fake][1:] == wanted[: len(fake) - 1]
