"""`hook`: one event of a coding client in, the rules' answer out. It denies if it fails where it guards."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # the module behind `signal`, which takes as long as a small command
import _thread
import os
import sys
import time

from orchestrator import bootstrap
from orchestrator.app.clients import claude_code, hooks
from orchestrator.app.kernel.context import Context
from orchestrator.core import strict_json
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.doors.cli import output
from orchestrator.doors.cli.options import Command, Given, Result, flag, option
from orchestrator.errors import EnvironmentProblem, OrchestratorError
from orchestrator.hints import Any

DOOR = "hook"
CLIENTS = ("claude-code", "codex")
"""The clients whose events are known; the first one is the default."""
SIZE_LIMIT = 64 * 1024 * 1024
DENIED, TOLD, UNREADABLE = 2, 0, 1
"""How it ends where something goes wrong: where it guards, where it only tells, and where it cannot know."""
DRIVEN = "ORCHESTRATOR_START"
"""Names the start that a driver has made, SESSION:GROUP:TURN, for an agent that is under way for it."""
WAITS_S = {"SubagentStop": 20.0}
"""Seconds that an event may wait for the database in all, where not the usual ones."""
WAIT_S = 1.5
GATES_S = 20.0
"""Seconds after which the commands that an agent's report asks for must have ended."""
LIMITS_S = {"SubagentStop": 28.0}
"""Seconds after which the system ends the process, where not the usual ones: less than the client waits."""
LIMIT_S = 8.0
LATE_S = 1.8
"""Seconds after which an event that runs no gates is given up, whatever it waits for. The time in which the machine
has no processor for this process does not count: a start is not denied because others are at work."""
_SCHEDULED = "/proc/self/schedstat"


class _Answer(NamedTuple):
    """What the client is told: an object on stdout, words on stderr, and an exit code."""

    document: dict[str, Any] | None = None
    complaint: str | None = None
    code: int = 0


def _hook(given: Given) -> Result:
    begun = time.monotonic()
    # Before stdin is read: a client that never closes it must not keep this process for ever.
    _end_after(LIMIT_S)
    try:
        document = _read()
    except (strict_json.JsonProblem, OSError, AttributeError) as problem:
        return _write(_wrong(f"the event cannot be read: {problem}", UNREADABLE))
    if not isinstance(document, dict):
        return _write(_wrong("the event is not an object", UNREADABLE))
    name, client = str(document.get("hook_event_name")), _adapter(given)
    ends = DENIED if name in client.GUARDING else TOLD
    waits = "SubagentStop" if client.hands_back(document) else name
    _end_after(LIMITS_S.get(waits, LIMIT_S))
    answering = _thread.allocate_lock()
    if waits not in LIMITS_S:
        _give_up_late(begun, ends, answering)
    answer = _answer(given, document, begun, begun + WAITS_S.get(waits, WAIT_S), ends)
    answering.acquire()
    return _write(answer)


def _adapter(given: Given) -> Any:
    """The module that reads and answers the events of the client that calls."""
    if given.arguments.get("client") != "codex":
        return claude_code
    # Claude Code's events are waited for as often, and each module costs a cold call its start.
    from orchestrator.app.clients import codex

    return codex


def _answer(given: Given, document: dict[str, Any], begun: float, until: float, ends: int) -> _Answer:
    """What an event is answered, and what went wrong where it cannot be.

    Args:
        begun: when this process began. until: how long it may wait for the database. Both in seconds of the monotonic
            clock.
        ends: how it ends where something goes wrong.
    """
    client, opener = _adapter(given), _opener(given, document, until)
    try:
        event = client.read(document, os.environ, _owner(given))._replace(until=begun + GATES_S)
        strict = bool(given.arguments.get("strict"))
        reply = hooks.handle(opener, event, strict=strict, driven=os.environ.get(DRIVEN, ""))
        refusal, answer = client.refusal(event, reply), client.answer(event, reply)
    except EnvironmentProblem as problem:
        # Without a database no session is directed, and every start is the client's own affair (RTE-44).
        return _Answer() if problem.code == "NO_DATABASE" else _wrong(problem.message, ends)
    except OrchestratorError as problem:
        return _wrong(f"{problem.code}: {problem.message}", ends)
    except Exception as problem:
        return _wrong(f"unexpected {type(problem).__name__}: {problem}", ends)
    return _Answer(answer) if refusal is None else _Answer(None, refusal, DENIED)


def _wrong(why: str, code: int) -> _Answer:
    """What went wrong: told to the client where it denies, to the user where it goes on."""
    said = f"orchestrator hook: {why[:300]} (run orchestrator doctor)"
    return _Answer({"systemMessage": said}) if code == TOLD else _Answer(None, said, code)


def _write(answer: _Answer) -> Result:
    if answer.complaint is not None:
        output.complain(answer.complaint)
    if answer.document is not None:
        output.write(output.line(answer.document))
    return Result({}, printed=True, exit_code=answer.code)


def _read() -> object:
    """The event; characters that cannot be stored, which an agent may well write, are replaced.

    Raises:
        JsonProblem, OSError, AttributeError: it cannot be read.
    """
    data = sys.stdin.buffer.read()
    try:
        return strict_json.loads(data, "the event", SIZE_LIMIT)
    except strict_json.JsonProblem as problem:
        if problem.kind != "text":
            raise
    return _storable(strict_json.stored(data.decode("utf-8-sig")))


def _storable(value: object) -> object:
    if isinstance(value, str):
        return value.replace("\0", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_storable(each) for each in value]
    if isinstance(value, dict):
        return {str(_storable(key)): _storable(each) for key, each in value.items()}
    return value


def _end_after(seconds: float) -> None:
    """Let the system end this process by then, whatever it waits for; the command that is installed says what follows.

    Waiting for a lock or a slow disk happens outside of Python, where no handler of ours would be called.
    """
    if bootstrap.has_process and hasattr(_signal, "setitimer"):
        _signal.setitimer(_signal.ITIMER_REAL, seconds)


def _give_up_late(begun: float, code: int, answering: _thread.LockType) -> None:
    """Let a thread answer and end this process once it has waited too long.

    Args:
        begun: when this process began, in seconds of the monotonic clock.
        code: how it ends.
        answering: is held from the moment when the answer is written; then nothing is done.
    """

    def watch() -> None:
        while (left := LATE_S - (time.monotonic() - begun - _unscheduled())) > 0:
            time.sleep(left)
        if answering.acquire(blocking=False):
            os._exit(_write(_wrong(f"no answer within {LATE_S:g} seconds", code)).exit_code)

    if bootstrap.has_process:
        _thread.start_new_thread(watch, ())


def _unscheduled() -> float:
    """Seconds in which this process could have run and the machine had no processor for it; 0 where it does not say."""
    try:
        with open(_SCHEDULED, encoding="ascii") as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


def _opener(given: Given, document: dict[str, Any], until: float) -> hooks.Open:
    folder = document.get("cwd")
    start = folder if isinstance(folder, str) and "\0" not in folder and os.path.isdir(folder) else None

    def open_(write: bool) -> Context:
        waits = {"ORCHESTRATOR_BUSY_TIMEOUT": f"{max(0.01, until - time.monotonic()):.2f}"}
        return bootstrap.open_context(
            given.db, write=write, door=DOOR, channel=DOOR, environment={**os.environ, **waits}, folder=start
        )

    return open_


def _owner(given: Given) -> str | None:
    """The client's process, by the number that the command was installed with, or that the client gives its hooks."""
    number = str(given.arguments.get("process") or os.environ.get("CLAUDE_PID", ""))
    return bootstrap.owner(int(number)) if number.isascii() and number.isdigit() and len(number) < 10 else None


COMMANDS = {
    "hook": Command(
        "hook",
        "Answer one event of a coding client, read from stdin as JSON: the client calls it as a hook.",
        "orchestrator hook",
        (
            flag("strict", "The main agent of an open session may not edit files or start agents of other types."),
            option("client", "The client that calls (default: claude-code).", choices=CLIENTS, metavar="NAME"),
            option("process", "The client's process ID, where the client does not tell it.", metavar="PID"),
        ),
        None,
        _hook,
        line="Handle one hook event of a coding client, from stdin.",
    ),
}
