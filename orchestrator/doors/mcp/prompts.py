"""The prompts: the hand-off of a turn for each role, and a report; and what completes their arguments and URIs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from orchestrator.app.kernel import arguments, operations
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.app.workflow import session_documents
from orchestrator.core import masking, names
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.suggestions import reword, suggest
from orchestrator.core.workflow.model import Workflow
from orchestrator.doors.mcp import resources
from orchestrator.doors.mcp.tool_calls import Caller
from orchestrator.doors.mcp.tools import SESSION
from orchestrator.errors import Refused, UsageError

REPORT = "report"
MOST = 100
"""How many values complete an argument; the protocol allows no more."""
_OF_GROUPS = "SELECT id FROM task_groups WHERE session_id = :session ORDER BY created_seq LIMIT 1000"
_SESSION = "The session (default: the server's own, else the only open one)."
_GROUP = "The task group (default: the session as a whole)."
_TURN = {SESSION: _SESSION, "group_id": _GROUP, "turn": "The turn (default: the open one)."}
_REPORTED = {"role": "Who reports.", "status": "What is reported.", "group_id": _GROUP, SESSION: _SESSION}
_NEEDED = ("role", "status")


class Prompt(NamedTuple):
    """A prompt with what its arguments mean."""

    name: str
    description: str
    arguments: Mapping[str, str]

    @property
    def required(self) -> tuple[str, ...]:
        """The arguments that cannot be left out."""
        return _NEEDED if self.name == REPORT else ()


def listed(caller: Caller) -> list[Prompt]:
    """Every prompt; where there is no database only those that need no workflow."""
    report = Prompt(REPORT, "Report how the turn of an agent ended.", _REPORTED)
    try:
        roles = caller.within(lambda context: _workflow(context, _session(caller, context, {})).roles())
    except Exception as problem:
        # Whoever gets one of them is told.
        caller.failed(problem, None)
        return [report]
    return [*(Prompt(role, f"The hand-off of an open turn of {role}.", _TURN) for role in roles), report]


def text(caller: Caller, name: str, given: Mapping[str, str]) -> str:
    """What a prompt says.

    Raises:
        OrchestratorError: USAGE for another prompt, argument or value; UNKNOWN_SESSION, UNKNOWN_GROUP, UNKNOWN_ID.
    """
    said: str = masking.mask_document(caller.within(lambda context: _text(caller, context, name, given)))
    return said


def _text(caller: Caller, context: Context, name: str, given: Mapping[str, str]) -> str:
    session = _session(caller, context, given)
    roles = _workflow(context, session).roles()
    known = _REPORTED if name == REPORT else _TURN if name in roles else None
    if known is None:
        raise UsageError("USAGE", f"There is no prompt {names.shown(name)}.", f"One of: {', '.join((*roles, REPORT))}")
    odd = [each for each in given if each not in known]
    missing = [each for each in _NEEDED if name == REPORT and not given.get(each)]
    if odd or missing:
        what = f"has no argument {names.shown(odd[0])}" if odd else f"needs {', '.join(missing)}"
        raise UsageError("USAGE", f"The prompt {name} {what}.", f"{name} takes: {', '.join(known)}")
    bound = session or arguments.only_session(context, "status", {})
    if name == REPORT:
        return _report(caller, given, bound)
    turn = _turn(context, name, bound, given)
    asked = arguments.bind("handoff", {SESSION: bound, **turn})
    return str(reword(operations.call(context, "handoff", **asked)["markdown"], caller.worded))


def _report(caller: Caller, given: Mapping[str, str], session: str) -> str:
    """The call of the tool that reports what was chosen."""
    role, status = names.role_name(given["role"]), names.status_name(given["status"])
    where = {"group_id": given["group_id"]} if given.get("group_id") else {}
    call = {SESSION: session, **where, "current_agent": role, "status": status, "summary": "TEXT"}
    return (
        f"Report {status} for {role} with the tool route: {json.dumps(call)}. Put what was done in a sentence into"
        " summary. Then go on as the answer says."
    )


def _turn(context: Context, role: str, session: str, given: Mapping[str, str]) -> dict[str, Any]:
    """Which turn of a role is meant: the one that is named, else the only open one.

    Raises:
        UsageError: USAGE, several are open, or it is no number. Refused: UNKNOWN_ID, none is open.
    """
    number, group = given.get("turn"), given.get("group_id") or None
    if number:
        if not number.isdecimal() or len(number) > 15:
            raise UsageError("USAGE", f"turn must be a number, not {names.shown(number)}.", "Name the turn")
        return {"group_id": group, "turn": int(number)}
    own = [each for each in _open_turns(context, session, role) if group in (None, each["group_id"])]
    if len(own) == 1:
        return {"group_id": own[0]["group_id"], "turn": own[0]["turn"]}
    if not own:
        on = f" on {group}" if group else ""
        what = f"No turn of {role} is open{on}."
        raise Refused("UNKNOWN_ID", what, suggest("status", session_id=session), kind="handoff")
    which = ", ".join(str(each["group_id"]) for each in own)
    raise UsageError("USAGE", f"{role} has several open turns: {which}.", "Name the group_id")


def _open_turns(context: Context, session: str, role: str) -> list[Answer]:
    standing = operations.call(context, "status", session_id=session, brief=True)
    return [each for each in standing["spawns"] if each["agent"] == role]


def completed(caller: Caller, of: str, name: str, begun: str, context_given: Mapping[str, str]) -> list[str]:
    """The values of an argument that begin as what is typed; none where nothing is known of it.

    Args:
        of: the name of the prompt, or empty for the URI of a resource.
        context_given: the arguments that are chosen already.
    """
    found = caller.within(lambda context: _values(caller, context, of, name, context_given))
    return [each for each in found if each.lower().startswith(begun.lower())][:MOST]


def _values(caller: Caller, context: Context, of: str, name: str, given: Mapping[str, str]) -> list[str]:
    if name == SESSION:
        return arguments.open_sessions(context)
    session = _session(caller, context, given)
    if name == "name":
        return list(session_documents.agent_files(context, session))
    workflow = _workflow(context, session)
    role = given.get("role", "") if of == REPORT else of
    if name == "role":
        return list(workflow.roles())
    if name == "status":
        return list(workflow.statuses_of(role) or dict.fromkeys(status for _, status in workflow.transitions))
    if session is None:
        return []
    if name == "group_id":
        return [str(row[0]) for row in context.connection.execute(_OF_GROUPS, {"session": session})]
    group = given.get("group_id") or None
    turns = _open_turns(context, session, role) if name == "turn" else []
    return [str(each["turn"]) for each in turns if group in (None, each["group_id"])]


def _session(caller: Caller, context: Context, given: Mapping[str, str]) -> str | None:
    """The session that is meant, where one can be.

    Raises:
        Refused: UNKNOWN_SESSION. UsageError: INVALID_ID.
    """
    named = given.get(SESSION)
    if not named:
        return resources.known(caller, context)
    names.check_id("session", named)
    return context.require_session(named).id


def _workflow(context: Context, session: str | None) -> Workflow:
    version = context.active_version() if session is None else (
        context.version(context.require_session(session).workflow_version_id)
    )
    return version.workflow
