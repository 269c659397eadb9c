"""Reports that a person is asked about: what they do at once, and how the answer to go on lets them count.

Such a report is written with the effect `withheld`, which the completion view and every count pass over. At once it
ends its turn, begins a pending group, keeps where the work stopped, and opens its blocker. Everything else is stored
with the question. The answer to go on writes the report once more, with its effect, in the answer's own step, so that
it counts from there on; after any other answer the first row stays the only one.

Source: seed 003, Recommendations 2 (a person decides before the work goes on)
"""

from __future__ import annotations

from orchestrator.app.engine import dispatch, group_changes, report_effects, state_changes
from orchestrator.app.engine import metadata as meta
from orchestrator.app.kernel.context import Answer, Version, Work
from orchestrator.app.reports import reported_plan, reported_tasks
from orchestrator.core import strict_json
from orchestrator.core.routing import blocking, engine
from orchestrator.core.routing.facts import (
    MANAGER,
    NO_PATH,
    WITHHELD,
    Case,
    Decision,
    Facts,
    Fired,
    Group,
    Report,
    Target,
)
from orchestrator.hints import Any
from orchestrator.store import queries

REPORT = "report"
"""The part of a question's stored decision that says what of the report is withheld."""

_DECIDED = """SELECT workflow_version_id FROM router_decisions INDEXED BY sqlite_autoindex_router_decisions_1
    WHERE session_id = :session AND seq = :seq AND part = 1"""


def asked(work: Work, case: Case, agent: str) -> Decision | None:
    """The decision on a report that waits for a person; None where the report counts at once.

    A clarification asks nothing about its report, and what completes a group is not held up by the loop guard.

    Args:
        case: a report of which `engine.may_ask` says that a person could be asked.
    """
    decision = engine.decide(case)
    if decision.question is None or decision.asks_session:
        return None
    candidates = report_effects.completed_by(work, case)
    if candidates:
        case, completes = _as_written(work, case, agent, candidates)
        if completes and not case.report.review_reason:
            return None
        decision = engine.decide(case)
    return decision if decision.question is not None else None


def _as_written(work: Work, case: Case, agent: str, candidates: list[str]) -> tuple[Case, bool]:
    """The case with its path as if the report counted, and whether that would complete a group."""
    row = report_effects.report_row(work, case, agent, case.transition.effect)
    said = [("acknowledgements", {"group_id": name, "reason": reason}) for name, reason in
            case.report.acknowledge.items()]
    if work.call.circumstances.measured is not None:
        from orchestrator.app.engine import measured

        said += [("evidence", each) for each in measured.rows(work, row["group_id"])]
    with work.step.tried(("agent_reports", row), *said):
        completes = state_changes.would_complete(work, candidates)
        asks = case.group is not None and report_effects.asks_path(case)
        path = work.reader.path(work.step.chain, case.group.id) if case.group is not None and asks else NO_PATH
    return case._replace(path=path), completes


def withhold(work: Work, case: Case, decision: Decision, agent: str) -> report_effects.Applied:
    """Write a report that waits for a person, do what it does at once, and open the question about it."""
    group = case.group
    report_effects.insert_report(work, case, agent, WITHHELD)
    meta.keep(work, case)
    report_effects.answer_turns(work, case)
    if group is not None and group.status == "pending":
        report_effects.start_group(work, case, group, agent)
    opened = report_effects.open_blocker(work, case, agent)
    begins = group is None and case.transition.effect == "investigate"
    if begins:
        # The question is about this group, so that the session goes on meanwhile.
        group = group_changes.create_investigation(work, case)
    status = work.moved.get(group.id, group.status) if group is not None else None
    waiting = group if status == "in_progress" else None
    kept = {
        "effect": case.transition.effect,
        "group_id": group.id if group is not None else None,
        "begins": begins,
        "concerns": list(blocking.concerned(case)),
        "acknowledge": case.report.acknowledge,
    }
    question = report_effects.ask(work, case, decision, agent, opened, waiting, **{REPORT: kept})
    extras: Answer = {"effect": case.transition.effect, **report_effects.in_files(work), "question_id": question}
    if opened:
        extras["blockers_opened"] = list(opened)
    if group is not None:
        extras["group_status"] = status
    return report_effects.Applied(group, waiting, extras)


def release(
    work: Work, version: Version, record: dispatch.Record, question: queries.Row, kept: dict[str, Any]
) -> Answer:
    """Let the report that a question was about count, and carry out the decision that waited for the answer.

    Args:
        version: the session's workflow version, under which the next agent is started.
        record: the answer's decision as it is without the report.
        question: the question that is answered.
        kept: what was stored of the report with it.
    """
    row = queries.row(work.reader, queries.REPORT, session=work.step.chain, seq=question["opened_seq"])
    assert row is not None  # noqa: S101 - written with the question
    case = _case(work, question, row, kept)
    why = _impossible(case) or reported_plan.why_not(work, case)
    if why is not None:
        fired = Fired("question", f"{case.report.status} cannot be carried out any more: {why}")
        return dispatch.decide(work, work.session(), version, record._replace(
            target=Target(MANAGER, "spawn"), rules=(*record.rules, fired),
            session_level=record.group is None or record.group.status != "in_progress",
        ))
    agent = str(row["agent_id"])
    candidates = report_effects.completed_by(work, case)
    done = reported_tasks.finish_what_can_be(work, case, agent)
    _write_again(work, row, case)
    decision = engine.confirmed(case, record.target, record.model, record.include_context)
    written = report_effects.take_effect(work, case, agent, candidates, ())
    work.step.flush()
    planned = reported_plan.carry_out(work, written.case, agent)
    applied = report_effects.apply(work, written.case, decision, agent, written, begun=record.group)
    warnings = [*planned.pop("warnings", ()), *done.pop("warnings", ())]
    applied.extras.update(planned | done | ({"warnings": warnings} if warnings else {}))
    if case.report.role == MANAGER:
        report_effects.await_manager_again(work, decision, applied)
    found = report_effects.record(work, version, written.case, decision, applied)
    resolved = [*record.extras.get("blockers_resolved", ()), *written.resolved]
    return dispatch.decide(work, work.session(), version, found._replace(
        current_agent=record.current_agent, response_status=record.response_status, cause=record.cause, report=False,
        rules=(*record.rules, *found.rules), question=record.question, resume=record.resume,
        extras={**found.extras, **record.extras, **({"blockers_resolved": resolved} if resolved else {})},
    ))


def drop(work: Work, group: Group, question: str, *, by: str) -> None:
    """Cancel the research group that was begun for a report, which was turned down before anybody worked on it.

    Args:
        question: whose answer turned it down.
    """
    group_changes.cancel(work, group, by=by, reason=f"question {question} was not answered to go on", cause="question")


def _case(work: Work, question: queries.Row, row: queries.Row, kept: dict[str, Any]) -> Case:
    """The report as it was decided on, with the blockers that it was about as far as they are open."""
    decided = work.reader.one(_DECIDED, session=work.step.chain, seq=question["opened_seq"])
    assert decided is not None  # noqa: S101 - each report has its decision
    version = work.context.version(int(str(decided[0])))
    group = work.group(row["group_id"]) if row["group_id"] else None
    report = Report(
        role=row["role"], status=row["response_status"], raw_role=row["raw_role"], raw_status=row["raw_status"],
        group_id=row["group_id"], agent_id=row["agent_id"], turn=row["turn"], summary=row["summary"],
        details=dict(sorted(strict_json.stored(row["details"]).items())), acknowledge=kept["acknowledge"],
    )
    transition, alias = engine.find(version.workflow, report)
    assert transition is not None  # noqa: S101 - the version is the one that the report was decided under
    open_ = work.reader.blockers(work.step.chain, group.id) if group is not None else ()
    about = tuple(blocker for blocker in open_ if blocker.id in kept["concerns"])
    facts = Facts(work.session(), group, about)
    return Case(version.workflow, version.models, facts, report, transition, alias, NO_PATH)


def _write_again(work: Work, row: queries.Row, case: Case) -> None:
    copied = ("group_id", "role", "agent_id", "response_status", "raw_role", "raw_status", "summary", "details",
              "metadata", "raw_hash")
    # It answers no turn: the withheld row did (RTE-20).
    work.step.insert(
        "agent_reports", **{name: row[name] for name in copied}, effect=case.transition.effect, turn_assumed=0,
        reported_at=work.at,
    )
    report_effects.add_content(work, case)


def _impossible(case: Case) -> str | None:
    """Why the report can no longer do what it says, because of what happened since; None where it can."""
    group, effect = case.group, case.transition.effect
    if group is not None and group.status not in ("pending", "in_progress"):
        if (group.status, effect) != ("deferred_external", "resume"):
            return f"group {group.id} is {group.status} by now"
    refusal = blocking.refuse(case)
    return refusal.message.removesuffix(".") if refusal is not None else None
