"""`session ...`: one piece of work, from goal to verdict."""

from __future__ import annotations

import os

from orchestrator.doors.cli import calling, values
from orchestrator.doors.cli.options import (
    BY_MANAGER,
    CHANGE,
    INTEGER,
    LIMIT,
    REQUEST,
    SESSION,
    TEXT,
    THIS_SESSION,
    WORDS,
    Command,
    Given,
    Result,
    argument,
    flag,
    option,
)

MODES = ("full", "minimal", "disabled")

_CREATE = Command(
    "session create",
    "Create a session, pinned to the active workflow version, and call the project manager.",
    "orchestrator session create S1 --goal 'Ship the login page'",
    (
        argument("id", "The new session's id."),
        option("kind", "What it is.", choices=("orchestration", "chat")),
        option("mode", "How many groups run at a time.", choices=("simple", "parallel")),
        option("testing_mode", "How much is tested.", choices=MODES),
        option("goal", "What is to be reached.", kind=TEXT),
        option("turn_timeout", "Minutes after which an agent is overdue.", kind=INTEGER, metavar="MINUTES"),
        option("disabled_roles", "A role to do without. Repeatable.", "--disable-role", kind=WORDS, metavar="ROLE"),
        BY_MANAGER,
        REQUEST,
    ),
)

_LIST = Command(
    "session list",
    "List sessions, the open ones where not said otherwise.",
    "orchestrator session list --all --json",
    (
        flag("all", "With those that have ended."),
        LIMIT,
        option("since", "Only what comes after this id.", metavar="ID"),
    ),
)

_SHOW = Command("session show", "Show a session.", "orchestrator session show S1", THIS_SESSION)

_PAUSE = Command(
    "session pause",
    "Pause a session: reports are accepted and decided, but nobody is started.",
    "orchestrator session pause S1 --by project_manager --reason 'waiting for the release'",
    (*THIS_SESSION, *CHANGE),
)

_RESUME = Command(
    "session resume",
    "Resume a paused session; what was held back is started.",
    "orchestrator session resume S1 --by project_manager --reason 'released'",
    (*THIS_SESSION, *CHANGE),
)

_END = Command(
    "session end",
    "End a session: a chat, by the project manager. Abandoning an orchestration is a person's to do.",
    "orchestrator session end CHAT-1 --by project_manager --reason 'answered'",
    (*THIS_SESSION, *CHANGE),
)


def _testing_mode(given: Given) -> Result:
    """One word is the mode, of two the first is the session."""
    arguments = dict(given.arguments)
    first = arguments.pop("first", None)
    if "mode" not in arguments and first is not None:
        arguments["mode"] = first
    elif first is not None:
        if arguments.get("id") == os.environ.get("ORCHESTRATOR_SESSION"):
            arguments.pop("id", None)
        values.agree(arguments, "id", first, "SESSION and --session-id")
    return calling.operation("session testing-mode", given._replace(arguments=arguments))


_TESTING_MODE = Command(
    "session testing-mode",
    "Change how much a session tests. Tightening is the project manager's, loosening a person's.",
    "orchestrator session testing-mode S1 full --by project_manager --reason 'release candidate'",
    (
        argument("session", "The session; else --session-id.", target="first", required=False),
        argument("mode", "full, minimal or disabled.", required=False),
        SESSION._replace(target="id"),
        *CHANGE,
    ),
    None,
    _testing_mode,
)

_UPGRADE = Command(
    "session upgrade-workflow",
    "Move a session to the active workflow version, unless its open state does not exist there. Only a person may do"
    " it where the two versions differ in more than texts, models and include_context.",
    "orchestrator session upgrade-workflow S1 --by user --reason 'new review step'",
    (
        *THIS_SESSION,
        flag("confirm", "Move nothing; confirm, as a person, the changes of rules that nobody confirmed so far."),
        *CHANGE,
    ),
)

COMMANDS = {each.words: each for each in (_CREATE, _LIST, _SHOW, _PAUSE, _RESUME, _END, _TESTING_MODE, _UPGRADE)}
