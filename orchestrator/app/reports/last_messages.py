"""Reports that come as an agent's last message: taken out of it, sent back with the form, or the agent replaced.

One way for hooks and the driver: both see an agent's last message, and neither lets the agent run a command for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from orchestrator.app.kernel import malformed_calls, operations
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.app.reports import handoffs, redispatch
from orchestrator.app.reports.requests import Redispatch
from orchestrator.app.verdict import gates
from orchestrator.core import fields, names, report_parser
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.routing.facts import MANAGER
from orchestrator.errors import InvalidInput, OrchestratorError, Refused
from orchestrator.hints import Any
from orchestrator.store.queries import Row

REPLACED = 2
"""How often an agent that does not report is replaced before a person is asked."""
FAULTS = (
    "AMBIGUOUS_REPORT", "UNKNOWN_STATUS", "METADATA_INVALID", "METADATA_MISMATCH", "REASON_REQUIRED", "ALREADY_EXISTS",
    "DEFERRAL_INCOMPLETE", "COMPLETION_GATE", "UNKNOWN_TASK", "UNKNOWN_GROUP", "INVALID_ID", "USAGE",
)  # fmt: skip
"""Refusals that the agent itself can put right by another last message."""
SEEN = ("MERGE_UNPROVEN", gates.CODE, "NOTHING_CHANGED")
"""Refusals of a report because of what was seen, which the agent can put right by more work."""


class Proven(NamedTuple):
    """What was seen of that which a report claims.

    details: what stands in the report's details besides its own. measured: what its step keeps as a circumstance.
    """

    details: Mapping[str, Any] = {}
    measured: Mapping[str, Any] | None = None


Prove = Callable[[str, str], Proven]


def report(context: Context, start: Row, message: str, prove: Prove | None = None, **more: Any) -> Answer:
    """Route the report that a last message holds, as the answer of the start's turn.

    Args:
        start: as `starts.shape` gives it.
        prove: is given the effect and the name of the reported status. It refuses what was not seen to be so, and
            gives what was seen.
        more: what else `route` is told, such as its request id.

    Returns:
        The decision.

    Raises:
        OrchestratorError: there is no report in it, or `route` refuses it; recorded either way.
    """
    given = {"session_id": start["session_id"], "group_id": start["group_id"], "current_agent": start["role"]}
    found = _extracted(context, start, message, given)
    given["group_id"] = found.pop("group_id")
    if prove is not None:
        seen = proven(context, start, given, found["status"], prove)
        context.measured = seen.measured
        if seen.details:
            found = {**found, "details": {**found.get("details", {}), **seen.details}}
    context.start = start["seq"]
    try:
        return operations.call(context, "route", **given, turn=start["turn"], raw_text=message, **found, **more)
    finally:
        context.start = context.measured = context.used = None


def _extracted(context: Context, start: Row, message: str, given: Answer) -> Answer:
    """The report in a message; that there is none, or no readable one, is on record like every refusal."""
    try:
        if message.lstrip().startswith("{"):
            found = report_parser.document(message)
        else:
            session = context.require_session(start["session_id"])
            workflow = context.version(session.workflow_version_id).workflow
            found = report_parser.extract(message, start["role"], workflow.statuses_of(start["role"]))
        group = _group(context, start, found.group_id)
    except InvalidInput as problem:
        problem.data.update(_turn=start["turn"], _role=start["role"])
        malformed_calls.record(context, "route", given, problem)
        raise
    parts = {"details": found.details, "metadata": found.metadata, "acknowledge": found.acknowledge}
    parts = {name: dict(value) for name, value in parts.items() if value}
    return {"status": found.status, "group_id": group, "summary": found.summary, **parts}


def _group(context: Context, start: Row, named: str | None) -> str | None:
    """The group that a report is about: that of its turn, or one that the manager of the whole session names.

    Raises:
        InvalidInput: METADATA_INVALID, another one is named.
    """
    own: str | None = start["group_id"]
    if named is None or named == own:
        return own
    if own is not None or start["role"] != MANAGER:
        told = f"must be {own}, the group of this turn" if own else "must be left out"
    elif context.reader.group(start["session_id"], named) is None:
        told = f"names no group of session {start['session_id']}"
    else:
        return named
    problems = [fields.problem("$.group_id", told)]
    raise InvalidInput(
        "METADATA_INVALID", f"The report is not valid: $.group_id: {told}.", "Report again", problems=problems
    )


def proven(context: Context, start: Row, given: Answer, status: str, prove: Prove) -> Proven:
    """Let what a report claims be compared with what was seen; a refusal is on record with what was seen.

    Args:
        start: the turn that is answered, by `session_id`, `turn` and `role`.
        given: what else of the call is recorded with a refusal.
        status: the reported status; with one that the role does not have, nothing is compared.
        prove: as `report` takes it.

    Raises:
        Refused: as `prove`.
    """
    session = context.require_session(start["session_id"])
    found = context.version(session.workflow_version_id).workflow.find(start["role"], names.status_name(status))
    try:
        return prove(found[0].effect, found[0].status) if found else Proven()
    except Refused as problem:
        problem.data.update(_turn=start["turn"], _role=start["role"])
        context.measured = problem.data.pop("_measured", None)
        try:
            malformed_calls.record(context, "route", {**given, "status": status}, problem)
        finally:
            context.measured = None
        raise


def gated(
    context: Context, start: Row, folder: str, *, may_return: bool = True, within_s: float | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Prove:
    """What runs the gates of a report, as `gates.check` does; the report carries what came of them."""

    def prove(effect: str, status: str) -> Proven:
        seen = gates.check(
            context, start, status, folder, may_return=may_return, within_s=within_s, cancelled=cancelled
        )
        return Proven(seen.details(), seen.measured() or None)

    return prove


def is_open(context: Context, start: Row) -> bool:
    """Whether the turn of a start is still the one that is awaited."""
    session, group = start["session_id"], start["group_id"]
    row = context.require_session(session) if group is None else context.reader.group(session, group)
    return row is not None and row.turn == start["turn"] and not row.held


def form(context: Context, start: Row, problem: OrchestratorError) -> str:
    """What is wrong with a message, and what a report looks like."""
    told = handoffs.handoff(
        context, session_id=start["session_id"], group_id=start["group_id"], turn=start["turn"]
    )["handoff"]
    faults = [f"- {each['path']}: {each['message']}" for each in problem.data.get("problems", ())]
    statuses = [f"- {each['status']}: {each['description']}" for each in told["statuses"]]
    first = "Your report was refused." if problem.code in SEEN else "Your last message is not a report yet."
    if problem.code == "UNKNOWN_GROUP" and start["group_id"] is None:
        faults.append('- A report on one group names it beside the status: "group_id": "ID"')
    lines = [
        f"{first} {problem.message}", *faults, "", "Statuses that you may report:",
        *statuses, "", "End your last message with exactly one report and nothing after it, either", "",
        '```json\n{"status": "CODE", "summary": "one sentence", "details": {}}\n```', "", "or one line STATUS: CODE",
    ]  # fmt: skip
    return "\n".join(lines)


def replace(context: Context, start: Row, *, reason: str, replaced: int) -> Answer:
    """Start the agent of an open turn anew, or ask a person where that was tried often enough.

    Args:
        start: one that has ended without a report.
        replaced: how often the agent was replaced already since the last report.

    Returns:
        The decision, as `route` answers it.

    Raises:
        Refused: as `redispatch`.
    """
    session, group = start["session_id"], start["group_id"]
    if replaced < REPLACED:
        return operations.ask(context, Redispatch(session_id=session, group_id=group, reason=reason))
    said = f"{start['role']} was started {replaced + 1} times without a usable report. Last time: {reason}"
    return operations.ask(context, redispatch.GiveUp(session_id=session, group_id=group, reason=said))
