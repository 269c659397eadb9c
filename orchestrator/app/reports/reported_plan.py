"""The plan that a project manager's report carries: checked whole before the report counts, made in the same step.

What is planned is made as if the project manager had created each group and criterion; the batch is chosen afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable

from orchestrator.app.engine import group_changes
from orchestrator.app.kernel import views
from orchestrator.app.kernel.context import Answer, Work
from orchestrator.app.session import groups, pending_commands
from orchestrator.app.verdict import criteria, criteria_views
from orchestrator.core import fields, names, plan, strict_json
from orchestrator.core.plan import Criterion, Group, Plan
from orchestrator.core.routing.facts import MANAGER, Case
from orchestrator.core.suggestions import sentence, suggest
from orchestrator.errors import OrchestratorError, Refused
from orchestrator.hints import Any
from orchestrator.store import queries

NOTHING_PLANNED = "nothing_planned"
SINCE = 4
"""The first rules version that reads plans in reports; what was decided before it is told again without them."""

_GROUPS = "SELECT id FROM task_groups WHERE session_id = :session"
_EDGES = "SELECT group_id, depends_on FROM group_dependencies WHERE session_id = :session AND removed_seq IS NULL"
_ANY_GROUP = "SELECT 1 FROM task_groups WHERE session_id = :session LIMIT 1"


def found(work: Work, case: Case) -> Plan | None:
    """The plan of a report, everything about it being checked; None where the report carries none.

    Raises:
        InvalidInput: METADATA_INVALID {problems}. Refused: ALREADY_EXISTS {status}, REASON_REQUIRED.

    Nothing is written.
    """
    report = case.report
    if work.context.rules_version < SINCE:
        return None
    if report.role != MANAGER or case.transition.effect not in plan.EFFECTS or not plan.is_carried(report.details):
        return None
    read = plan.read(report.details, _known(work, case))
    if read is None:
        return None
    _refuse_endless(work, case, read)
    _refuse_other_content(work, read)
    _require_reason(work, case, read)
    return read


def why_not(work: Work, case: Case) -> str | None:
    """Why the plan of a report can no longer be made; None where it can, or where there is none."""
    try:
        found(work, case)
    except OrchestratorError as problem:
        return problem.message.removesuffix(".")
    return None


def carry_out(work: Work, case: Case, agent: str) -> Answer:
    """Make what a report plans; what the decision says of it.

    Args:
        case: of a report whose plan `found` has checked.
        agent: who reported, and so who creates what is planned.
    """
    report, effect = case.report, case.transition.effect
    if work.context.rules_version < SINCE:
        return {}
    if effect not in plan.EFFECTS:
        ignored = plan.KEY in report.details and isinstance(report.details[plan.KEY], dict)
        return {"warnings": [_ignored(report.status)]} if ignored else {}
    read = found(work, case)
    if read is None:
        return {} if _has_groups(work) else {"warnings": [_nothing_planned(work)]}
    return _make(work, read, agent, names.said(report.summary))


def _known(work: Work, case: Case) -> plan.Known:
    connection, key = work.context.connection, {"session": work.step.chain}
    depends: dict[str, list[str]] = {row[0]: [] for row in connection.execute(_GROUPS, key)}
    for group, on in connection.execute(_EDGES, key):
        depends[group].append(on)
    statuses = sorted({status for _, status in case.workflow.transitions})
    return plan.Known({id_: tuple(on) for id_, on in depends.items()}, statuses)


def _refuse_endless(work: Work, case: Case, read: Plan) -> None:
    """Refuse groups that could never be completed without the roles that the session does without."""
    problems = [
        fields.problem(group.path, f"can never be completed: {why}")
        for group in read.groups
        if (why := groups.why_endless(work, case.session, group.id, group.kind, group.security_sensitive))
    ]
    if problems:
        raise plan.invalid(problems)


def _refuse_other_content(work: Work, read: Plan) -> None:
    """Refuse ids that exist with other content, or that are given up."""
    taken = [each for group in read.groups if (each := _taken_group(work, group))]
    taken += [each for criterion in read.criteria if (each := _taken_criterion(work, criterion))]
    if not taken:
        return
    told = "; ".join(
        f"{each['kind']} {each['id']} is {each['status']}" + (f" and differs in {', '.join(each['differs'])}" if
        each["differs"] else "") for each in taken
    )  # fmt: skip
    session = work.step.chain
    raise Refused(
        "ALREADY_EXISTS",
        f"The plan names what already exists: {told}. Nothing was written.",
        sentence(
            "Leave it out of the plan, or give it another id; {} shows what exists",
            suggest("status", session_id=session),
        ),
        status=taken[0]["status"],
        existing=taken,
        _recorded=f"The plan names what exists already: {told}. Nothing was written.",
    )


def _taken_group(work: Work, group: Group) -> Answer | None:
    row = views.group_row(work.reader, work.step.chain, group.id)
    if row is None:
        return None
    depends = {each["id"] for each in views.depends_on(work.reader, work.step.chain, group.id)}
    there = {**row, "security_sensitive": bool(row["security_sensitive"]), "depends_on": depends}
    wanted = {**group._asdict(), "depends_on": set(group.depends_on)}
    compared = [name for name in group._fields if name in group.given and name in there]
    differs = [name for name in compared if wanted[name] != there[name]]
    if not differs and row["status"] != "cancelled":
        return None
    return {"kind": "group", "id": group.id, "status": row["status"], "differs": differs}


def _taken_criterion(work: Work, criterion: Criterion) -> Answer | None:
    row = queries.row(work.reader, queries.CRITERION, session=work.step.chain, id=criterion.id)
    if row is None:
        return None
    there = criteria_views.shape(row)
    wanted: dict[str, Any] = {**criterion._asdict(), "due_at": list(criterion.at)}
    wanted["command"] = list(criterion.command) if criterion.command else None
    compared = ("text", "metric", "operator", "target", "command", "group_id", "due_at")
    differs = [name for name in compared if wanted[name] != there[name]]
    removed = row["removed_seq"] is not None
    if not differs and not removed:
        return None
    status = "removed" if removed else row["status"]
    return {"kind": "criterion", "id": criterion.id, "status": status, "differs": differs}


def _require_reason(work: Work, case: Case, read: Plan) -> None:
    """Once the scope is frozen, new criteria need a reason, which is the report's summary."""
    new = [each.id for each in read.criteria if not _exists(work, each.id)]
    if new and case.session.planned and not names.said(case.report.summary):
        raise Refused(
            "REASON_REQUIRED",
            f"The scope was frozen by the first plan; adding {', '.join(new)} needs a reason, the report's summary.",
            "Repeat with --summary TEXT",
        )


def _exists(work: Work, criterion: str) -> bool:
    return queries.row(work.reader, queries.CRITERION, session=work.step.chain, id=criterion) is not None


def _has_groups(work: Work) -> bool:
    return work.reader.one(_ANY_GROUP, session=work.step.chain) is not None


def _make(work: Work, read: Plan, agent: str, reason: str) -> Answer:
    new = [group for group in read.groups if work.group(group.id) is None]
    for group in new:
        group_changes.insert(
            work, group.id, name=group.name, description=group.description, kind=group.kind, by=agent,
            security_sensitive=group.security_sensitive, complexity=group.complexity, priority=group.priority,
        )
    for group in new:
        group_changes.depend(work, group.id, group.depends_on, by=agent)
    added = [each for each in read.criteria if not _exists(work, each.id)]
    for each in added:
        criteria.insert(
            work, each.id, each.text, by=agent, reason=reason, metric=each.metric, operator=each.operator,
            target=each.target, command=each.command, group_id=each.group_id, at=each.at,
            approval=pending_commands.PENDING,
        )
    unmarked = (groups.unmarked_security(group.name, group.security_sensitive) for group in new)
    warnings = [warning for warning in unmarked if warning]
    pending = [each for each in added if each.command]
    if pending:
        warnings.append(_unapproved(work, pending))
    planned = {
        "groups": [group.id for group in new],
        "criteria": [each.id for each in added],
        "unchanged": [*_others(read.groups, new), *_others(read.criteria, added)],
    }
    return {"planned": planned, **({"warnings": warnings} if warnings else {})}


def _others(planned: Iterable[Any], made: Iterable[Any]) -> list[str]:
    """The ids of what was planned and existed before."""
    ids = {each.id for each in made}
    return [each.id for each in planned if each.id not in ids]


def _unapproved(work: Work, pending: list[Criterion]) -> str:
    named = "; ".join(f"{each.id} ({strict_json.canonical(list(each.command or ()))})" for each in pending)
    return sentence(
        "pending_approval: commands from a report run only once orchestrator.json allows them or a person confirms"
        " them: {}. A person: {}", named, suggest("criterion approve", id="ID", session_id=work.step.chain),
    )  # fmt: skip


def _nothing_planned(work: Work) -> str:
    return sentence(
        "{}: the plan names no group and the session has none, so nobody can be started. Report it again with"
        " details.plan, or create groups: {}", NOTHING_PLANNED,
        suggest("group create", id="ID", session_id=work.step.chain),
    )  # fmt: skip


def _ignored(status: str) -> str:
    return f"plan_ignored: {status} carries no plan; report CONTINUE with details.plan to add groups."
