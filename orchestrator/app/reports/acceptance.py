"""What follows from every accepted report, at once or once a person has let it go on."""

from __future__ import annotations

from orchestrator.app.engine import consequences, fanning, spawning
from orchestrator.app.kernel.context import Version, Work
from orchestrator.core.routing.facts import Case, Decision
from orchestrator.store.reader import IDLE


def record(
    work: Work, version: Version, case: Case, decision: Decision, applied: consequences.Applied
) -> spawning.Record:
    """The decision on a report, with what it does beside starting somebody, as it is carried out and answered."""
    group = applied.group
    found = spawning.Record(
        current_agent=case.report.role,
        response_status=case.transition.status,
        group=group,
        target=decision.target,
        cause="report",
        rules=(*decision.rules, *applied.rules),
        include_context=decision.include_context,
        model=decision.model,
        extras={**decision.extras, **applied.extras},
        report=True,
        mandatory_review=decision.mandatory_review,
        session_level=applied.waiting is None,
        resume=work.seq if consequences.resumes(case) else None,
    )
    if decision.target.action in ("spawn_batch", "check_phase"):
        return fanning.fan_out(work, version, found, case.transition.next_agent)
    return found


def await_manager_again(work: Work, decision: Decision, applied: consequences.Applied) -> None:
    """After a report of the project manager every group in progress that awaits nobody awaits them again, by name."""
    sends = decision.target.agent is not None and decision.target.action != "spawn_batch"
    sent = applied.waiting.id if applied.waiting and sends else None
    idle = work.context.connection.execute(IDLE, {"session": work.step.chain}).fetchall()
    again = [group for (id_,) in idle if id_ != sent and (group := work.group(id_))]
    for group in again:
        spawning.await_manager(work, group)
    if again:
        applied.extras["awaiting_manager"] = [*applied.extras.get("awaiting_manager", ()), *(g.id for g in again)]
