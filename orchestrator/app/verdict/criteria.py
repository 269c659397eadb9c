"""Success criteria: what must hold at the end; frozen with the first plan, afterwards every change is on record.

A criterion that a number or a command decides is never set as met: the validator computes it again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from orchestrator.app.kernel import actors, human
from orchestrator.app.kernel.context import Answer, Work
from orchestrator.app.session.pending_commands import PENDING
from orchestrator.app.verdict import criteria_views
from orchestrator.app.verdict.requests import AddCriterion, ApproveCriterion, RemoveCriterion, SetCriterion
from orchestrator.core import names, plan, strict_json
from orchestrator.core.routing.facts import MANAGER
from orchestrator.core.suggestions import again, options, sentence, suggest
from orchestrator.core.validation import criteria as rules
from orchestrator.errors import Refused, UsageError
from orchestrator.hints import Any
from orchestrator.store import evidence as proofs
from orchestrator.store import queries
from orchestrator.store.queries import Row
from orchestrator.store.reader import Agent

PLANNERS = (MANAGER, "orchestrator")
STATUSES = ("open", "met", "deferred")
REMOVED = "removed"

_MEASURE = ("metric", "operator", "target")


_Change = AddCriterion | SetCriterion | RemoveCriterion


def checked_addition(request: AddCriterion) -> AddCriterion:
    """What is added, once its words, numbers and command are found to be fit.

    Raises:
        UsageError: USAGE.
    """
    target = None if request.target is None else str(request.target).strip()
    _check_text(request.text)
    _check_measure(request.metric, request.operator, target)
    _check_command(request.command or ())
    if request.at_status and not request.command:
        raise UsageError("USAGE", "--at is only for criteria with a command.", again(command="JSON"))
    due = tuple(map(names.status_name, request.at_status or ())) or None
    return request.replaced(
        target=target, command=request.command or None, reason=request.reason or None, at_status=due
    )


def checked_finding(request: SetCriterion) -> SetCriterion:
    """What is set, once there is something and it is fit.

    Raises:
        UsageError: USAGE.
    """
    actual = None if request.actual is None else str(request.actual).strip()
    if request.status is None and actual is None and request.evidence is None and request.text is None:
        raise UsageError(
            "USAGE", "Nothing to set.", "Repeat with --status, --actual, --evidence or --text"
        )
    if actual is not None and rules.number(actual) is None:
        message = f"The actual value must be a decimal number, not {names.shown(actual)}."
        raise UsageError("USAGE", message, again(actual="N"))
    if request.text is not None:
        _check_text(request.text)
    return request.replaced(actual=actual, reason=request.reason or None)


def _check_text(text: str) -> None:
    if not names.said(text):
        raise UsageError("USAGE", "A criterion needs a description (--text).", again(text="TEXT"))


def _check_measure(metric: str | None, operator: str | None, target: str | None) -> None:
    given = dict(zip(_MEASURE, (metric, operator, target), strict=True))
    missing = [name for name, value in given.items() if not names.said(value)]
    if len(missing) == len(given):
        return
    if missing:
        raise UsageError(
            "USAGE", f"A measured criterion needs metric, operator and target; {', '.join(missing)} is missing.",
            again(metric="NAME", operator="ge", target="N"),
        )
    why = rules.unfit_target(str(metric), str(operator), str(target))
    if why is not None:
        another = sentence("Repeat with another {}", options(target=True))
        raise UsageError("USAGE", f"The criterion cannot be measured: {why}.", another)


def _check_command(command: tuple[str, ...]) -> None:
    if command and not command[0].strip():
        raise UsageError("USAGE", "The command does not name a program.", again(command='["pytest", "-q"]'))
    if sum(map(len, command)) > plan.COMMAND_LIMIT:
        most = f"The command is longer than {plan.COMMAND_LIMIT} characters."
        raise UsageError("USAGE", most, "Put it into a script")


def add(work: Work, request: AddCriterion) -> Answer:
    """Add a success criterion.

    Returns:
        `criterion`.

    Raises:
        UsageError: INVALID_ID, USAGE: no text, an unfit number or command. Refused: ALREADY_EXISTS, SESSION_CLOSED,
            NOT_PERMITTED, REASON_REQUIRED, UNKNOWN_AGENT, HUMAN_REQUIRED, UNKNOWN_GROUP.
    """
    session = work.open_session()
    by = _planner(work, request, request.by, "adding a criterion")
    id_, command = request.id, request.command
    if work.reader.one("SELECT 1 FROM criteria WHERE session_id = :s AND id = :id", s=session.id, id=id_):
        raise Refused(
            "ALREADY_EXISTS", f"Session {session.id} has, or had, a criterion {id_}; nothing changed.",
            suggest("criterion list", session_id=session.id),
        )
    if request.group_id is not None and work.group(request.group_id) is None:
        raise work.context.unknown_group(session.id, request.group_id)
    _check_due(work, request.at_status or ())
    insert(
        work, id_, names.said(request.text), by=by, reason=_reason(request), metric=request.metric,
        operator=request.operator, target=None if request.target is None else str(request.target), command=command,
        group_id=request.group_id, at=request.at_status,
    )  # fmt: skip
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
        command=strict_json.canonical(list(command)) if command else None,
        created_by=by,
        created_at=work.at,
        created_seq=work.seq,
        status="open",
        group_id=group_id,
        due_at=strict_json.canonical(list(at)) if at else None,
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
                "USAGE", f"The workflow has no status {names.shown(status)}{hint}", suggest("workflow show"),
                did_you_mean=near,
            )


def set_criterion(work: Work, request: SetCriterion) -> Answer:
    """Record what was found about a criterion, or reword it.

    Returns:
        `criterion`, and `warnings` where it is met without evidence.

    Raises:
        Refused: CRITERION_COMPUTED, UNKNOWN_ID {kind}, SESSION_CLOSED, NOT_PERMITTED, REASON_REQUIRED, ACTOR_REQUIRED,
            UNKNOWN_AGENT, HUMAN_REQUIRED. UsageError: USAGE.
    """
    work.open_session()
    row = _require(work, request.id)
    status, proof = request.status, request.evidence

    def reasoned() -> None:
        if status is not None:
            actors.reason(request.reason, f"Setting a criterion to {status}")

    agent = actors.first_of(work, lambda: actors.actor(work, request.by), reasoned)
    actual = None if request.actual is None else str(request.actual)
    if request.text is not None:
        _planner(work, request, agent.id, "rewording a criterion")
    if status is not None:
        _check_status(work, row, status, agent, reasoned)
    if actual is not None and row["operator"] is None:
        without = sentence("Leave out {}", options(actual=True))
        raise UsageError("USAGE", f"Criterion {row['id']} has no metric.", without)
    if actual is not None and (why := rules.unfit_actual(row["metric"], actual)):
        another = sentence("Repeat with another {}", options(actual=True))
        raise UsageError("USAGE", f"Invalid actual value: {why}.", another)
    if proof is not None:
        _check_evidence(work, row, proof, agent)
    _write(work, request, row, agent)
    return _answer(work, row["id"])


def _check_status(work: Work, row: Row, status: str, agent: Agent, reasoned: Callable[[], object]) -> None:
    if agent.kind == "human":
        what = f"Setting criterion {row['id']} to {status} as {agent.id}"
        actors.first_of(work, lambda: human.require(work, agent, what), reasoned)
    elif agent.role != MANAGER:
        raise Refused(
            "NOT_PERMITTED",
            f"{agent.id} may not set a criterion to met or deferred; the project manager may.",
            again(by="project_manager"),
            _recorded=f"{agent.id} may not say whether a criterion is met or deferred; the project manager may.",
        )
    if status == "met" and (row["operator"] or row["command"]):
        how = "its recorded value" if row["operator"] else "its command"
        raise Refused(
            "CRITERION_COMPUTED",
            f"Criterion {row['id']} is decided by {how}; it cannot be set to met by hand.",
            sentence("Record the value with {}", options(actual="N")) if row["operator"]
            else suggest("validate", session_id=work.step.chain),
            _recorded=f"Criterion {row['id']} is decided by {how}; nobody sets it as met.",
        )
    reasoned()


def _check_evidence(work: Work, row: Row, proof: str, agent: Agent) -> None:
    if not proofs.exists(work.context.connection, work.step.chain, proof):
        raise Refused(
            "UNKNOWN_ID", f"There is no evidence or report {names.shown(proof)} in session {work.step.chain}.",
            suggest("audit timeline", session_id=work.step.chain), kind="evidence",
        )
    if row["status"] == "met" and agent.kind == "human":
        human.require(work, agent, f"Giving other evidence for criterion {row['id']} as {agent.id}")
    elif row["status"] == "met" and agent.role != MANAGER:
        raise Refused(
            "NOT_PERMITTED", f"Criterion {row['id']} is met; other evidence for it is the project manager's to give.",
            again(by="project_manager"),
        )


def _write(work: Work, request: SetCriterion, row: Row, agent: Agent) -> None:
    reason = _reason(request)
    sets: dict[str, Any] = {"set_by": agent.id, "set_at": work.at, "set_seq": work.seq}
    for name, entity in (("status", "criterion"), ("text", "criterion_text"), ("actual", "criterion_actual")):
        new = getattr(request, name)
        new = new.strip() if isinstance(new, str) else new
        if new is not None and new != row[name]:
            _record(work, entity, row["id"], row[name], new, agent.id, reason)
            sets[name] = new
    if request.evidence is not None:
        sets["evidence"] = request.evidence
    if request.status is not None:
        sets["reason"] = reason
    _update(work, row["id"], sets)


def remove(work: Work, request: RemoveCriterion) -> Answer:
    """Take a criterion out of the scope; it stays on record, and after the first plan the verdict lists it.

    Raises:
        Refused: UNKNOWN_ID {kind}, SESSION_CLOSED, NOT_PERMITTED, REASON_REQUIRED, UNKNOWN_AGENT, HUMAN_REQUIRED.
    """
    work.open_session()
    row = _require(work, request.id)

    def reasoned() -> str:
        return actors.reason(request.reason, "Removing a criterion")

    by, reason = _planner(work, request, request.by, "removing a criterion", reasoned), reasoned()
    _record(work, "criterion", row["id"], row["status"], REMOVED, by, reason)
    _update(work, row["id"], {"removed_seq": work.seq, "removed_by": by, "removed_reason": reason})
    return _answer(work, row["id"])


def _planner(
    work: Work, request: _Change, by: str | None, what: str, reasoned: Callable[[], object] | None = None
) -> str:
    """Who may change the scope: until the first plan the planners, afterwards the project manager with a reason.

    Args:
        reasoned: the check of a change that needs a reason before the first plan as well.
    """
    frozen = bool(work.session().planned)

    def explained() -> None:
        if frozen:
            actors.reason(request.reason, f"The scope was frozen by the first plan; {what}")

    agent = actors.first_of(work, lambda: actors.actor(work, by), reasoned or explained)
    if agent.kind == "human":
        act = f"{what[0].upper()}{what[1:]} as {agent.id}"
        actors.first_of(work, lambda: human.require(work, agent, act), reasoned or explained)
    elif agent.role not in PLANNERS or (frozen and agent.role != MANAGER):
        since = " once the work is planned" if frozen else ""
        raise Refused(
            "NOT_PERMITTED", f"{agent.id} is {agent.role}; {what}{since} is the project manager's to do.",
            again(by="project_manager"),
        )
    explained()
    return agent.id


def _reason(request: _Change) -> str:
    return names.said(request.reason)


def _require(work: Work, id_: str) -> Row:
    row = queries.row(work.reader, queries.CRITERION, session=work.step.chain, id=id_)
    if row is None or row["removed_seq"] is not None:
        known = [each[0] for each in work.context.connection.execute(
            "SELECT id FROM criteria WHERE session_id = :session AND removed_seq IS NULL LIMIT 50",
            {"session": work.step.chain},
        )]  # fmt: skip
        raise Refused(
            "UNKNOWN_ID", f"Session {work.step.chain} has no criterion {names.shown(id_)}.",
            suggest("criterion list", session_id=work.step.chain),
            kind="criterion", did_you_mean=names.nearest(id_, known),
        )
    return row


def _record(work: Work, entity: str, id_: str, old: str | None, new: str, by: str, reason: str) -> None:
    from orchestrator.app.engine import state_changes

    state_changes.record_change(work, entity, id_, old, new, by=by, reason=reason)


def _update(work: Work, id_: str, values: dict[str, Any]) -> None:
    work.step.update("criteria", (id_,), values)


def _answer(work: Work, id_: str) -> Answer:
    row = queries.row(work.reader, queries.CRITERION, session=work.step.chain, id=id_)
    assert row is not None  # noqa: S101 - written or found just now
    answer: Answer = {"success": True, "criterion": criteria_views.shape(row), "seq": work.seq}
    if row["status"] == "met" and row["evidence"] is None:
        answer["warnings"] = [f"Criterion {id_} is met without evidence; the validator wants some (--evidence ID)."]
    return answer


APPROVED = "approved"


def approve(work: Work, request: ApproveCriterion) -> Answer:
    """Confirm, as a person, that the command of a criterion may run, which came in a report.

    Returns:
        `criterion`.

    Raises:
        Refused: UNKNOWN_ID {kind}, SESSION_CLOSED, HUMAN_REQUIRED, ACTOR_REQUIRED, UNKNOWN_AGENT; ILLEGAL_MOVE, nothing
            about the criterion waits for a confirmation.
    """
    session = work.open_session()
    row = queries.row(work.reader, queries.CRITERION, session=session.id, id=request.id)
    look = suggest("criterion list", session_id=session.id)
    if row is None or row["removed_seq"] is not None:
        what = f"Session {session.id} has no criterion {names.shown(request.id)}."
        raise Refused("UNKNOWN_ID", what, look, kind="criterion")
    if row["approval"] != PENDING:
        raise Refused("ILLEGAL_MOVE", f"Criterion {row['id']} has no command that waits for a confirmation.", look)
    person = actors.person_named(work, request.by, f"Allowing the command of criterion {row['id']}")
    work.actor = person.id
    _record(work, "criterion_command", row["id"], PENDING, APPROVED, person.id, names.said(request.reason))
    work.step.update(
        "criteria", (row["id"],), {"approval": APPROVED, "approved_by": person.id, "approved_seq": work.seq}
    )
    found = queries.row(work.reader, queries.CRITERION, session=session.id, id=row["id"])
    assert found is not None  # noqa: S101 - it was there just now
    return {"success": True, "criterion": criteria_views.shape(found), "seq": work.seq}
