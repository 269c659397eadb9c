"""`hook`: one event of a coding client in, the rules' answer out; where it guards and fails, it denies."""

from __future__ import annotations

import os
import sys
from typing import Any

from orchestrator import bootstrap
from orchestrator.app.clients import claude_code, hooks
from orchestrator.app.kernel.context import Context
from orchestrator.core import strictjson
from orchestrator.doors.cli import output
from orchestrator.doors.cli.options import Command, Given, Result
from orchestrator.errors import EnvironmentProblem, OrchestratorError

DOOR = "hook"
SIZE_LIMIT = 64 * 1024 * 1024
DENIED, TOLD, UNREADABLE = 2, 0, 1
"""How it ends where something goes wrong: where it guards, where it only tells, and where it cannot know."""
DRIVEN = "ORCHESTRATOR_START"
"""Set for agents that a driver has started: hooks have nothing to do with those."""
WAITS_S = {"SubagentStop": "20"}
"""Seconds that an event may wait for the database, where not the usual ones."""
_WAITS_S = "1.5"


def _hook(given: Given) -> Result:
    if os.environ.get(DRIVEN):
        return Result({}, printed=True)
    try:
        document = strictjson.loads(sys.stdin.buffer.read(), "the event", SIZE_LIMIT)
    except strictjson.JsonProblem as problem:
        return _wrong(problem.message, UNREADABLE)
    if not isinstance(document, dict):
        return _wrong("the event is no object", UNREADABLE)
    name = str(document.get("hook_event_name"))
    ends = DENIED if name == claude_code.GUARDING else TOLD
    try:
        event = claude_code.read(document, os.environ, _owner())
        answer = claude_code.answer(event, hooks.handle(_opener(given, document, name), event))
    except EnvironmentProblem as problem:
        # Where there is no database no session is directed, and every start is the client's own affair.
        return Result({}, printed=True) if problem.code == "NO_DATABASE" else _wrong(problem.message, ends)
    except OrchestratorError as problem:
        return _wrong(f"{problem.code}: {problem.message}", ends)
    except Exception as problem:
        return _wrong(f"unexpected {type(problem).__name__}: {problem}"[:300], ends)
    if answer is not None:
        output.write(output.line(answer))
    return Result({}, printed=True)


def _opener(given: Given, document: dict[str, Any], name: str) -> hooks.Open:
    folder = document.get("cwd")
    waits = {"ORCHESTRATOR_BUSY_TIMEOUT": WAITS_S.get(name, _WAITS_S)}
    start = folder if isinstance(folder, str) and os.path.isdir(folder) else None

    def open_(write: bool) -> Context:
        return bootstrap.open_context(
            given.db, write=write, door=DOOR, channel=DOOR, environment={**os.environ, **waits}, folder=start
        )

    return open_


def _owner() -> str | None:
    """The client's process, by the number that it gives its hooks."""
    number = os.environ.get("CLAUDE_PID", "")
    return bootstrap.owner(int(number)) if number.isdigit() else None


def _wrong(why: str, code: int) -> Result:
    output.complain(f"orchestrator hook: {why} (orchestrator doctor)")
    return Result({}, printed=True, exit_code=code)


COMMANDS = {
    "hook": Command(
        "hook",
        "Answer one event of a coding client (Claude Code), read from stdin as JSON: the client calls it as a hook.",
        "orchestrator hook",
        (),
        None,
        _hook,
        line="Handle one hook event of a coding client, from stdin.",
    ),
}
