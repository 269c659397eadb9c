"""What an agent means where it does not say: its own role, and the task that it works at.

For doors through which one known agent speaks. What cannot be found out is refused, and the refusal recorded, like
every other one.
"""

from __future__ import annotations

from orchestrator.app.kernel import agent_checks
from orchestrator.app.kernel.context import Call, Context, Work, perform
from orchestrator.core import masking, strict_json, tasks
from orchestrator.core.suggestions import suggest
from orchestrator.errors import Refused
from orchestrator.hints import Any
from orchestrator.store import next_reader
from orchestrator.store.constants import STORE_CHAIN

SET_STATUS = "task set-status"
_ANSWERED = """SELECT answer FROM requests
    WHERE session_id = :session AND request_id = :request AND command = :command"""


def role(context: Context, agent_id: str, session_id: str | None, *, dry_run: bool = False) -> str:
    """The role in which an agent reports.

    Args:
        session_id: where a refusal is recorded (default: the chain of what belongs to no session).
        dry_run: record no refusal.

    Raises:
        Refused: UNKNOWN_AGENT.
    """
    require(context, "route", agent_id, session_id, dry_run=dry_run)
    found = context.reader.agent(agent_id)
    return found.role if found else ""


def require(
    context: Context, words: str, agent_id: str, session_id: str | None, *, dry_run: bool = False
) -> None:
    """Refuse an agent that nobody has registered, or that is out of service, where the operation itself asks for none.

    Args:
        words: the operation.
        session_id, dry_run: as for `role`.

    Raises:
        Refused: UNKNOWN_AGENT.
    """
    found = context.reader.agent(agent_id)
    if found is None or not found.active:
        given = {"agent_id": agent_id}
        perform(context, Call(words, session_id or STORE_CHAIN, agent_id, given, None, dry_run, refused={}), _refuse)


def main_task(context: Context, agent_id: str, session_id: str, request_id: str | None = None) -> str:
    """The id of an agent's main task: the one in progress, else the blocked one, the first in order of several.

    Args:
        request_id: where the same request was answered before, the task that it was about.

    Raises:
        Refused: UNKNOWN_TASK, the agent works at none; UNKNOWN_SESSION, UNKNOWN_AGENT.

    Source: seed 002, 完了時チェック (report_completion is about the main task).
    """
    before = _answered(context, session_id, request_id) if request_id else None
    if before is not None:
        return before
    for status in (tasks.IN_PROGRESS, tasks.BLOCKED):
        found = next_reader.main_tasks(context.connection, session_id, agent_id, status)
        if found:
            return found[0].id
    given = {"by": agent_id, "status": tasks.DONE}
    perform(context, Call(SET_STATUS, session_id, agent_id, given, refused={}), _refuse)
    return ""


def _answered(context: Context, session: str, request: str) -> str | None:
    kept = masking.mask_keys_id(request, context.secrets)
    row = context.reader.one(_ANSWERED, session=session, request=kept, command=SET_STATUS)
    return str(strict_json.stored(row[0])["task"]["id"]) if row else None


def _refuse(work: Work) -> dict[str, Any]:
    """Refuse a call in which something was left out that cannot be found out."""
    session = work.session().id if work.step.chain != STORE_CHAIN else ""
    agent = agent_checks.require_agent(work, work.actor)
    raise Refused(
        "UNKNOWN_TASK",
        f"{agent.id} has no task in progress in session {session}.",
        suggest("next", agent_id=agent.id, session_id=session),
        _recorded=f"{agent.id} works at no task in session {session}.",
    )
