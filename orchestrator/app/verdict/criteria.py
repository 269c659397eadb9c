"""Success criteria: what must hold at the end; frozen with the first plan, afterwards every change is on record.

A criterion that a number or a command decides is never set as met: the validator computes it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from orchestrator.app.kernel import actors, human
from orchestrator.app.kernel.context import Answer, Call, Context, Work, perform
from orchestrator.app.verdict import scope
from orchestrator.core import names, plan, strictjson
from orchestrator.core.routing.facts import MANAGER
from orchestrator.core.validation import criteria as rules
from orchestrator.errors import Refused, UsageError
from orchestrator.store import evidence as proofs
from orchestrator.store import queries
from orchestrator.store.queries import Row
from orchestrator.store.reader import Agent

PLANNERS = (MANAGER, "orchestrator")
STATUSES = ("open", "met", "deferred")
REMOVED = "removed"

_MEASURE = ("metric", "operator", "target")


def add(
    context: Context,
    *,
    id: str,
    session_id: str,
    text: str,
    metric: str | None = None,
    operator: str | None = None,
    target: str | int | None = None,
    command: tuple[str, ...] = (),
    at_status: tuple[str, ...] = (),
    group_id: str | None = None,
    by: str = MANAGER,
    reason: str = "",
    request_id: str | None = None,
    at: str | None = None,
) -> Answer:
    """Add a success criterion.

    Args:
        id: unique in its session, removed ones included.
        text: what must hold, in words.
        metric, operator, target: what is measured and how it compares; all three or none. A decimal number.
        command: a program and its arguments that the validator runs; it is met by exit status 0.
        at_status: statuses whose report is preceded by the command, such as READY_FOR_QA.
        group_id: the group that it is about; the session as a whole where left out.
        by: the project manager or the orchestrator; after the first plan the project manager alone.
        reason: why; required after the first plan.

    Returns:
        `criterion`.

    Raises:
        UsageError: INVALID_ID, USAGE: no text, an unfit number or command. Refused: ALREADY_EXISTS, SESSION_CLOSED,
            NOT_PERMITTED, REASON_REQUIRED, UNKNOWN_AGENT, HUMAN_REQUIRED, UNKNOWN_GROUP.
    """
    names.check_id("criterion", id)
    target = None if target is None else str(target).strip()
    _check_text(text)
    _check_measure(metric, operator, target)
    _check_command(command)
    if at_status and not command:
        raise UsageError("USAGE", "Only a criterion with a command is due at a status.", "Repeat with --command JSON")
    given = {
        "id": id, "text": text, "metric": metric, "operator": operator, "target": target,
        "command": list(command) or None, "by": by, "reason": reason or None, "group_id": group_id,
        "at_status": [names.status_name(each) for each in at_status] or None,
    }  # fmt: skip
    return perform(context, Call("criterion add", session_id, by, given, request_id, at=at), add_action)


def _check_text(text: str) -> None:
    if not names.said(text):
        raise UsageError("USAGE", "A criterion needs a text.", "Repeat with --text TEXT")


def _check_measure(metric: str | None, operator: str | None, target: str | None) -> None:
    given = dict(zip(_MEASURE, (metric, operator, target), strict=True))
    missing = [name for name, value in given.items() if not names.said(value)]
    if len(missing) == len(given):
        return
    if missing:
        raise UsageError(
            "USAGE", f"A measured criterion needs metric, operator and target; {', '.join(missing)} is missing.",
            "Repeat with --metric NAME --operator ge --target N",
        )
    why = rules.unfit_target(str(metric), str(operator), str(target))
    if why is not None:
        raise UsageError("USAGE", f"The criterion cannot be measured: {why}.", "Repeat with another --target")


def _check_command(command: tuple[str, ...]) -> None:
    if command and not command[0].strip():
        raise UsageError("USAGE", "The command names no program.", """Repeat with --command '["pytest", "-q"]'""")
    if sum(map(len, command)) > plan.COMMAND_LIMIT:
        most = f"The command is longer than {plan.COMMAND_LIMIT} characters."
        raise UsageError("USAGE", most, "Put it into a script")


def add_action(work: Work) -> Answer:
    """Add; a replay calls it with a recorded event's input."""
    given = work.call.input
    session = work.open_session()
    by = _planner(work, given.get("by"), "adding a criterion")
    id_, command = given["id"], given.get("command")
    if work.reader.one("SELECT 1 FROM criteria WHERE session_id = :s AND id = :id", s=session.id, id=id_):
        raise Refused(
            "ALREADY_EXISTS", f"Session {session.id} has, or had, a criterion {id_}; nothing changed.",
            f"orchestrator criterion list --session-id {session.id}",
        )
    group, due = given.get("group_id"), given.get("at_status")
    if group is not None and work.group(group) is None:
        raise work.context.unknown_group(session.id, group)
    _check_due(work, due or ())
    measure = {name: given.get(name) for name in _MEASURE}
    insert(work, id_, names.said(given["text"]), by=by, reason=_reason(given), **measure, command=command,
           group_id=group, at=due)
    return _answer(work, id_)


def insert(
    work: Work,
    id_: str,
    text: str,
    *,
    by: str,
    reason: str,
    metric: str | None = None,
    operator: str | None = None,
    target: str | None = None,
    command: Sequence[str] | None = None,
    group_id: str | None = None,
    at: Sequence[str] | None = None,
    approval: str | None = None,
) -> None:
    """Write the row of a new criterion, everything about it being checked.

    Args:
        at: statuses at which the command is due.
        approval: `pending` for a command that must not run until a person, or the project's settings, allow it.
    """
    work.step.insert(
        "criteria",
        id=id_,
        text=text,
        metric=metric,
        operator=operator,
        target=target,
        command=strictjson.canonical(list(command)) if command else None,
        created_by=by,
        created_at=work.at,
        created_seq=work.seq,
        status="open",
        group_id=group_id,
        due_at=strictjson.canonical(list(at)) if at else None,
        approval=approval if command else None,
    )
    _record(work, "criterion", id_, None, "open", by, reason)


def _check_due(work: Work, statuses: Sequence[str]) -> None:
    known = {status for _, status in work.version().workflow.transitions}
    for status in statuses:
        if status not in known:
            near = names.nearest(status, known)
            hint = f"; did you mean {near}?" if near else "."
            raise UsageError(
                "USAGE", f"The workflow has no status {names.shown(status)}{hint}", "orchestrator workflow show",
                did_you_mean=near,
            )


def set_criterion(
    context: Context,
    *,
    id: str,
    session_id: str,
    status: str | None = None,
    actual: str | int | None = None,
    evidence: str | None = None,
    text: str | None = None,
    by: str | None = None,
    reason: str = "",
    request_id: str | None = None,
    at: str | None = None,
) -> Answer:
    """Record what was found about a criterion, or reword it.

    Args:
        status: open, met or deferred; the project manager's to set, with a reason.
        actual: the measured value of a numeric criterion; any registered agent may record it.
        evidence: the id of evidence or of a report of this session that shows it.
        text: another wording; after the first plan the project manager's, with a reason.

    Returns:
        `criterion`, and `warnings` where it is met without evidence.

    Raises:
        Refused: CRITERION_COMPUTED, UNKNOWN_ID {kind}, SESSION_CLOSED, NOT_PERMITTED, REASON_REQUIRED, ACTOR_REQUIRED,
            UNKNOWN_AGENT, HUMAN_REQUIRED. UsageError: USAGE.
    """
    actual = None if actual is None else str(actual).strip()
    if status is None and actual is None and evidence is None and text is None:
        raise UsageError(
            "USAGE", "Nothing is to be set.", "Repeat with --status, --actual, --evidence or --text"
        )
    if actual is not None and rules.number(actual) is None:
        message = f"The actual value must be a decimal number, not {names.shown(actual)}."
        raise UsageError("USAGE", message, "Repeat with --actual N")
    if text is not None:
        _check_text(text)
    given = {
        "id": id, "status": status, "actual": actual, "evidence": evidence, "text": text, "by": by,
        "reason": reason or None,
    }  # fmt: skip
    return perform(context, Call("criterion set", session_id, by or "", given, request_id, at=at), set_action)


def set_action(work: Work) -> Answer:
    """Set; a replay calls it with a recorded event's input."""
    given = work.call.input
    work.open_session()
    row = _require(work, given["id"])
    agent = actors.actor(work, given.get("by"))
    status, actual, proof = given.get("status"), given.get("actual"), given.get("evidence")
    if given.get("text") is not None:
        _planner(work, agent.id, "rewording a criterion")
    if status is not None:
        _check_status(work, row, status, agent, _reason(given))
    if actual is not None and row["operator"] is None:
        raise UsageError("USAGE", f"Criterion {row['id']} measures nothing.", "Leave out --actual")
    if actual is not None and (why := rules.unfit_actual(row["metric"], actual)):
        raise UsageError("USAGE", f"The actual value cannot be so: {why}.", "Repeat with another --actual")
    if proof is not None:
        _check_evidence(work, row, proof, agent)
    _write(work, row, agent)
    return _answer(work, row["id"])


def _check_status(work: Work, row: Row, status: str, agent: Agent, reason: str) -> None:
    if agent.kind == "human":
        human.require(work, agent, f"Setting criterion {row['id']} to {status} as {agent.id}")
    elif agent.role != MANAGER:
        raise Refused(
            "NOT_PERMITTED", f"{agent.id} may not say whether a criterion is met or deferred; the project manager may.",
            "Repeat with --by project_manager",
        )
    if status == "met" and (row["operator"] or row["command"]):
        how = "its recorded value" if row["operator"] else "its command"
        raise Refused(
            "CRITERION_COMPUTED", f"Criterion {row['id']} is decided by {how}; nobody sets it as met.",
            "Record the value with --actual N" if row["operator"] else f"orchestrator validate {work.step.chain}",
        )
    if not reason:
        message = f"Setting a criterion to {status} needs a reason."
        raise Refused("REASON_REQUIRED", message, "Repeat with --reason TEXT")


def _check_evidence(work: Work, row: Row, proof: str, agent: Agent) -> None:
    if not proofs.exists(work.context.connection, work.step.chain, proof):
        raise Refused(
            "UNKNOWN_ID", f"There is no evidence or report {names.shown(proof)} in session {work.step.chain}.",
            f"orchestrator audit timeline --session-id {work.step.chain}", kind="evidence",
        )
    if row["status"] == "met" and agent.kind == "human":
        human.require(work, agent, f"Giving other evidence for criterion {row['id']} as {agent.id}")
    elif row["status"] == "met" and agent.role != MANAGER:
        raise Refused(
            "NOT_PERMITTED", f"Criterion {row['id']} is met; other evidence for it is the project manager's to give.",
            "Repeat with --by project_manager",
        )


def _write(work: Work, row: Row, agent: Agent) -> None:
    given, reason = work.call.input, _reason(work.call.input)
    sets: dict[str, Any] = {"set_by": agent.id, "set_at": work.at, "set_seq": work.seq}
    for name, entity in (("status", "criterion"), ("text", "criterion_text"), ("actual", "criterion_actual")):
        new = given.get(name)
        new = new.strip() if isinstance(new, str) else new
        if new is not None and new != row[name]:
            _record(work, entity, row["id"], row[name], new, agent.id, reason)
            sets[name] = new
    if given.get("evidence") is not None:
        sets["evidence"] = given["evidence"]
    if given.get("status") is not None:
        sets["reason"] = reason
    _update(work, row["id"], sets)


def remove(
    context: Context,
    *,
    id: str,
    session_id: str,
    by: str,
    reason: str,
    request_id: str | None = None,
    at: str | None = None,
) -> Answer:
    """Take a criterion out of the scope; it stays on record, and after the first plan the verdict lists it.

    Raises:
        Refused: UNKNOWN_ID {kind}, SESSION_CLOSED, NOT_PERMITTED, REASON_REQUIRED, UNKNOWN_AGENT, HUMAN_REQUIRED.
    """
    given = {"id": id, "by": by, "reason": reason}
    return perform(context, Call("criterion remove", session_id, by, given, request_id, at=at), remove_action)


def remove_action(work: Work) -> Answer:
    """Remove; a replay calls it with a recorded event's input."""
    given = work.call.input
    work.open_session()
    row = _require(work, given["id"])
    by, reason = _planner(work, given.get("by"), "removing a criterion"), _reason(given)
    if not reason:
        raise Refused("REASON_REQUIRED", "Removing a criterion needs a reason.", "Repeat with --reason TEXT")
    _record(work, "criterion", row["id"], row["status"], REMOVED, by, reason)
    _update(work, row["id"], {"removed_seq": work.seq, "removed_by": by, "removed_reason": reason})
    return _answer(work, row["id"])


def _planner(work: Work, by: str | None, what: str) -> str:
    """Who may change the scope: until the first plan the planners, afterwards the project manager with a reason."""
    agent = actors.actor(work, by)
    frozen = bool(work.session().planned)
    if agent.kind == "human":
        human.require(work, agent, f"{what[0].upper()}{what[1:]} as {agent.id}")
    elif agent.role not in PLANNERS or (frozen and agent.role != MANAGER):
        since = " once the work is planned" if frozen else ""
        raise Refused(
            "NOT_PERMITTED", f"{agent.id} is {agent.role}; {what}{since} is the project manager's to do.",
            "Repeat with --by project_manager",
        )
    if frozen and not _reason(work.call.input):
        raise Refused(
            "REASON_REQUIRED", f"The scope was frozen by the first plan; {what} needs a reason.",
            "Repeat with --reason TEXT",
        )
    return agent.id


def _reason(given: Any) -> str:
    return names.said(given.get("reason"))


def _require(work: Work, id_: str) -> Row:
    row = queries.row(work.reader, queries.CRITERION, session=work.step.chain, id=id_)
    if row is None or row["removed_seq"] is not None:
        known = [each[0] for each in work.context.connection.execute(
            "SELECT id FROM criteria WHERE session_id = :session AND removed_seq IS NULL LIMIT 50",
            {"session": work.step.chain},
        )]  # fmt: skip
        raise Refused(
            "UNKNOWN_ID", f"Session {work.step.chain} has no criterion {names.shown(id_)}.",
            f"orchestrator criterion list --session-id {work.step.chain}",
            kind="criterion", did_you_mean=names.nearest(id_, known),
        )
    return row


def _record(work: Work, entity: str, id_: str, old: str | None, new: str, by: str, reason: str) -> None:
    from orchestrator.app.engine import changes

    changes.record_change(work, entity, id_, old, new, by=by, reason=reason)


def _update(work: Work, id_: str, values: dict[str, Any]) -> None:
    work.step.update("criteria", (id_,), values)


def _answer(work: Work, id_: str) -> Answer:
    row = queries.row(work.reader, queries.CRITERION, session=work.step.chain, id=id_)
    assert row is not None  # noqa: S101 - written or found just now
    answer: Answer = {"success": True, "criterion": scope.shape(row), "seq": work.seq}
    if row["status"] == "met" and row["evidence"] is None:
        answer["warnings"] = [f"Criterion {id_} is met without evidence; the validator wants some (--evidence ID)."]
    return answer
