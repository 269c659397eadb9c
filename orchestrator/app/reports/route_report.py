"""`route`: one report in, one decision out, with everything that follows from it, in one transaction."""

from __future__ import annotations

from orchestrator.app.engine import decision_answers, dispatch, report_effects, scheduler
from orchestrator.app.engine import metadata as meta
from orchestrator.app.kernel import agent_checks, operations
from orchestrator.app.kernel.context import NO_CIRCUMSTANCES, Answer, Circumstances, Context, Version, Work
from orchestrator.app.reports import reported_tasks
from orchestrator.app.reports.requests import Route
from orchestrator.core import masking, names, oversized
from orchestrator.core.routing import admission, engine
from orchestrator.core.routing.facts import (
    MANAGER,
    NO_PATH,
    PERSON,
    PROVEN_SINCE,
    VALIDATOR,
    Case,
    Decision,
    Facts,
    Group,
    Refusal,
    Report,
    Session,
)
from orchestrator.core.suggestions import again, options, recorded, sentence, suggest
from orchestrator.core.workflow import vocabulary
from orchestrator.errors import InvalidInput, Refused
from orchestrator.hints import Any
from orchestrator.store import constants
from orchestrator.store.reader import Opening

OWN_COUNTS = ("approve", "merge", "test_pass")
"""Effects whose loop-guard counts fall only at an answered question."""

SILENT_ROLES = ("orchestrator", "user")
REPORTING_ROLES = frozenset((*vocabulary.ROLES, VALIDATOR)).difference(SILENT_ROLES)


def route(context: Context, request: Route) -> Answer:
    """Record what an agent reported and decide what follows.

    Returns:
        The decision, as the command prints it.

    Raises:
        Refused: with the code of the step that turned the report down; recorded, nothing else changed. GATE_FAILED,
            with `run_commands`: a command that is due fails.
        UsageError: USAGE, a part of the report is larger than it may be.
        EnvironmentProblem: OUTPUT_FAILED, the file of a large part cannot be written; nothing changed.

    Source: seed 004, Proposed Solution 1 and 2.
    """
    if request.run_commands:
        from orchestrator.app.reports import gated_reports

        return gated_reports.route(context, request)
    kept, files = _parted(context, request)
    found = meta.found(context, request.metadata)
    circumstances = Circumstances(found=found) if found else NO_CIRCUMSTANCES
    return operations.carry_out(context, kept, circumstances, files)


def _parted(context: Context, request: Route) -> tuple[Route, list[oversized.Moved]]:
    """What the record keeps of a report, and what of its parts goes into files."""
    if not (request.details or request.metadata or request.raw_text) or context.path == constants.IN_MEMORY:
        # Beside a database in memory there is no place for files (NAM-11).
        return request, []

    def mask(value: Any) -> Any:
        return masking.mask_keys_value(value, context.secrets)

    folder = oversized.folder(request.session_id)
    details, told = oversized.document(oversized.DETAILS, request.details, folder, mask)
    metadata, said = oversized.document(oversized.METADATA, request.metadata, folder, mask)
    message = oversized.message(request.raw_text, folder, mask)
    files = [each for each in (told, said, message) if each]
    if not files:
        return request, []
    raw_text = None if message else request.raw_text
    return request.replaced(details=details, metadata=metadata, raw_text=raw_text), files


def report(work: Work, request: Route) -> Answer:
    """The step that takes a report and decides what follows."""
    said = _normalise(work, request)
    session = work.session()
    version = work.context.version(session.workflow_version_id)
    opening = _opening(work, session, version, said)
    group = opening.group if opening else None
    if said.agent_id is not None:
        agent_checks.require_agent(work, said.agent_id)
    repeated = _repeated_turn(work, group, said)
    if repeated is not None:
        return repeated
    case, facts = _case(work, session, version, opening, said)
    refusal = engine.admit(case, version.workflow, facts, said)
    if refusal is not None or case is None:
        raise _refused(work, refusal, group or session, said)
    if opening is None or opening.started:
        _refuse_under_way(work, group, session, said)
        if case.transition.effect == "merge":
            _refuse_unproven(work, group or session)
    case, agent = _checked(work, case, opening)
    return _accept(work, session, version, case, agent)


def _checked(work: Work, case: Case, opening: Opening | None) -> tuple[Case, str]:
    """What else a report in turn must be: its metadata, its acknowledgements, and who gives it.

    Refused here it counts among the refusals of the open turn, as every other one does.
    """
    report = case.report
    try:
        judged = meta.judged(work, case)
        if judged is not report:
            case = case._replace(report=judged)
        _check_acknowledged(work, report)
        reported_tasks.check(work, case)
        if report.role == MANAGER:
            _check_plan(work, case)
        if report.role == VALIDATOR:
            return case, VALIDATOR
        _refuse_in_chat(case)
        stands = opening is not None and opening.agent_stands
        return case, agent_checks.acting_agent(work, report.role, case.group, report.agent_id, stands=stands)
    except (Refused, InvalidInput) as problem:
        waiting = case.group or case.session
        problem.data.update(_turn=waiting.turn, _role=report.role)
        raise


def _normalise(work: Work, request: Route) -> Report:
    role = names.role_name(request.current_agent)
    if role not in REPORTING_ROLES:
        if role.startswith("system:"):
            raise _reserved(role, work.step.chain)
        near = names.nearest(role, [each for each in vocabulary.ROLES if each not in SILENT_ROLES])
        hint = f"; did you mean {near}?" if near else "."
        raise Refused(
            "UNKNOWN_ROLE",
            f"Unknown role {names.shown(request.current_agent)}{hint}",
            f"One of: {', '.join(r for r in vocabulary.ROLES if r not in (*SILENT_ROLES, VALIDATOR))}",
            did_you_mean=near,
            _recorded=f"No role is called {names.shown(request.current_agent)}, or it reports nothing{hint}",
        )
    if role == VALIDATOR and not work.call.dry_run:
        raise _reserved(role, work.step.chain)
    return Report(
        role=role,
        status=names.status_name(request.status),
        raw_role=request.current_agent,
        raw_status=request.status,
        group_id=request.group_id,
        agent_id=request.agent_id,
        turn=request.turn,
        summary=request.summary or "",
        # In the order in which the event keeps them, so that a replay writes its rows in the same order.
        details=dict(sorted(request.details.items())) if request.details else {},
        acknowledge=dict(sorted(request.acknowledge.items())) if request.acknowledge else {},
        interrupt=bool(request.interrupt),
        testing_mode=request.testing_mode,
        metadata=request.metadata,
        raw_text=request.raw_text,
    )


def _reserved(role: str, session_id: str) -> Refused:
    is_part = role.startswith("system:")
    return Refused(
        "RESERVED_ROLE",
        f"{role} reports nothing through route; its verdicts come from its own command.",
        "Report as one of the team's roles" if is_part else suggest("validate", session_id=session_id),
    )


def _opening(work: Work, session: Session, version: Version, report: Report) -> Opening | None:
    group_id = report.group_id or (session.id if session.kind == "chat" else None)
    if group_id is None:
        return None
    opening = work.opening(group_id, **_counted(version, report))
    if opening is None:
        known = [row[0] for row in work.context.connection.execute(
            "SELECT id FROM task_groups WHERE session_id = :session ORDER BY created_seq LIMIT 50",
            {"session": session.id},
        )]
        raise Refused(
            "UNKNOWN_GROUP",
            f"Session {session.id} has no group {group_id}.",
            suggest("group list", session_id=session.id),
            did_you_mean=names.nearest(group_id, known),
            _role=report.role,
        )
    return opening


def _counted(version: Version, report: Report) -> dict[str, Any]:
    """Which earlier reports count as visits of this one, and how many of them."""
    transition, _ = engine.find(version.workflow, report)
    status, own = (transition.status, transition.effect in OWN_COUNTS) if transition else (report.status, False)
    return {"role": report.role, "status": status, "own": own, "most": version.most_visits}


def _repeated_turn(work: Work, group: Group | None, report: Report) -> Answer | None:
    """The recorded decision, where the same role answered the same explicitly given turn with the same status."""
    if report.turn is None or work.call.dry_run:
        return None
    found = work.version().workflow.find(report.role, report.status)
    row = work.reader.one(
        "SELECT r.seq FROM agent_reports r"
        " WHERE r.session_id = :session AND r.group_id IS :group AND r.role = :role AND r.response_status = :status"
        " AND r.turn = :turn AND r.turn_assumed = 0 ORDER BY r.seq LIMIT 1",
        session=work.step.chain,
        group=group and group.id,
        role=report.role,
        status=found[0].status if found else report.status,
        turn=report.turn,
    )
    if row is None:
        return None
    answers = recorded(decision_answers.of_step(work.reader, work.step.chain, row[0]))
    if not answers:
        return None
    answer: Answer = answers[0]
    if answers[1:]:
        answer["followed_by"] = answers[1:]
    return {**answer, "repeated": True, "unchanged": True}


def _case(
    work: Work, session: Session, version: Version, opening: Opening | None, report: Report
) -> tuple[Case | None, Facts]:
    transition, alias = engine.find(version.workflow, report)
    effect = transition.effect if transition else "none"
    reader, group = work.reader, opening.group if opening else None
    group_id = group.id if group else None
    other = group is not None and report.role != group.awaited_role
    facts = Facts(
        session=session,
        group=group,
        blockers=reader.blockers(session.id, opening.group.id) if opening and opening.blocked else (),
        open_dependencies=reader.open_dependencies(session.id, group.id) if group and group.status == "pending" else (),
        question_id=opening.question if opening else None,
        visits=opening.visits if opening else reader.visits(session, **_counted(version, report)) if transition else 0,
        refusal=reader.newest_refusal(session.id, group_id, group.turn) if group and other else None,
        clarifications=reader.clarifications(session) if effect == "clarify" else 0,
        open_code_groups=reader.in_progress(session.id, "code") if effect == "end_research" else (),
        cancels=effect == "end_research" and reader.has_open_groups(session.id),
        manager_turns=reader.manager_turns(session) if report.role == MANAGER and report.turn is not None else (),
    )
    if transition is None:
        return None, facts
    return Case(version.workflow, version.models, facts, report, transition, alias, NO_PATH), facts


_UNDER_WAY = """SELECT seq, via, client, started_at FROM starts INDEXED BY ix_starts_open WHERE session_id = :session
    AND group_id = :group AND turn = :turn AND ended_seq IS NULL"""


def _refuse_under_way(work: Work, group: Group | None, session: Session, report: Report) -> None:
    """Refuse a report by hand on a turn on which an agent is at work, unless it says that it takes the turn over."""
    waiting = group or session
    if report.interrupt or waiting.turn is None or waiting.awaited_role != report.role:
        return
    start = work.reader.one(_UNDER_WAY, session=session.id, group=group.id if group else "", turn=waiting.turn)
    if start is None or work.call.circumstances.start_of == start[0]:
        return
    raise Refused(
        "OUT_OF_TURN",
        f"Turn {waiting.turn} is under way: {report.role} was started through {start[1]} at {start[3]} (client"
        f" {start[2]}), and its answer is the report.",
        sentence("Repeat the call with {} to report in its place", options(interrupt=True)),
        expected_agent=waiting.awaited_role, expected_action=waiting.awaited_action, turn=waiting.turn,
    )


_STARTED_IN = """SELECT isolation, ended_seq FROM starts INDEXED BY sqlite_autoindex_starts_1
    WHERE session_id = :session AND group_id = :group AND turn = :turn ORDER BY seq DESC LIMIT 1"""


def _refuse_unproven(work: Work, waiting: Group | Session) -> None:
    """Refuse a merge that nobody has seen, where the agent was started in a worktree of its own; the completion path
    does not take it either.
    """
    if waiting.turn is None or (work.call.circumstances.measured or {}).get("merge"):
        return
    session, group = work.step.chain, getattr(waiting, "id", "")
    isolation, ended = work.reader.one(_STARTED_IN, session=session, group=group, turn=waiting.turn) or (None, None)
    # Under older rules a start that had ended asked for nothing (AUT-1).
    if isolation != "worktree" or (ended is not None and work.context.rules_version < PROVEN_SINCE):
        return
    drive, again_ = suggest("drive", session_id=session), suggest("redispatch", group_id=group, session_id=session)
    raise Refused(
        "MERGE_UNPROVEN",
        f"The agent of turn {waiting.turn} was started in a worktree, and its merge was not verified.",
        sentence("{}, or, to merge by hand, {}", drive, again_), _turn=waiting.turn, _role=waiting.awaited_role,
        _recorded=f"The agent of turn {waiting.turn} works in a worktree, and nobody has seen its merge.",
    )  # fmt: skip


_LIFTED = """SELECT json_extract(rules, '$[0].reason') FROM router_decisions
    INDEXED BY sqlite_autoindex_router_decisions_1 WHERE session_id = :session AND seq = :turn AND cause = 'blocker'"""


def _refused(work: Work, refusal: Refusal | None, waiting: Group | Session, report: Report) -> Refused:
    assert refusal is not None  # noqa: S101 - admit answers a refusal whenever there is no case
    # A late answer is refused in the turn that it answers, so it never counts against the open one.
    turn = report.turn if refusal.code == "STALE_TURN" else waiting.turn
    message = refusal.message
    if refusal.code in ("OUT_OF_TURN", "STALE_TURN") and waiting.turn is not None:
        lifted = work.reader.one(_LIFTED, session=work.step.chain, turn=waiting.turn)
        message += f" Turn {waiting.turn} began because {lifted[0]}." if lifted else ""
    return Refused(refusal.code, message, refusal.suggestion, _turn=turn, _role=report.role, **refusal.data)


def _check_acknowledged(work: Work, report: Report) -> None:
    if report.acknowledge and report.role != MANAGER:
        raise Refused(
            "NOT_PERMITTED", "Only the project manager acknowledges groups.",
            sentence("Report without {}", options(acknowledge=True)),
        )  # fmt: skip
    for group_id, reason in report.acknowledge.items():
        if work.group(group_id) is None:
            look = suggest("group list", session_id=work.step.chain)
            raise Refused("UNKNOWN_GROUP", f"There is no group {group_id} to acknowledge.", look)
        if not isinstance(reason, str) or not names.said(reason):
            raise Refused(
                "REASON_REQUIRED", f"Acknowledging {group_id} needs a reason.", again(acknowledge={group_id: "REASON"})
            )


def _check_plan(work: Work, case: Case) -> None:
    from orchestrator.app.reports import reported_plan

    reported_plan.found(work, case)


def _refuse_in_chat(case: Case) -> None:
    """Runs do the work of a chat."""
    if case.session.kind == "chat":
        raise Refused(
            "NOT_PERMITTED",
            admission.in_chat(case.session.id),
            admission.ANOTHER,
            _recorded=f"Session {case.session.id} is a chat: its work is done by runs, and no agent reports in it.",
        )


def _accept(work: Work, session: Session, version: Version, case: Case, agent: str) -> Answer:
    work.actor = agent
    asked = _withhold(work, version, case, agent) if engine.may_ask(case) else None
    if asked is not None:
        return asked
    done = reported_tasks.finish(work, case, agent)
    written = report_effects.write_report(work, case, agent)
    case = written.case
    decision = engine.decide(case)
    if not _starts_one(decision):
        work.step.flush()
    planned = _plan(work, case, agent) if case.report.role == MANAGER else {}
    applied = report_effects.apply(work, case, decision, agent, written)
    applied.extras.update(planned | done)
    if case.report.role == MANAGER:
        report_effects.await_manager_again(work, decision, applied)
    changed = applied.group is not case.group or written.opened or written.resolved or decision.marks_external
    record = report_effects.record(work, version, case, decision, applied, None if changed else case.facts.blockers)
    answer = dispatch.decide(work, work.session(), version, record)
    _finish(work, case, answer)
    return answer


def _plan(work: Work, case: Case, agent: str) -> Answer:
    from orchestrator.app.reports import reported_plan

    return reported_plan.carry_out(work, case, agent)


def _withhold(work: Work, version: Version, case: Case, agent: str) -> Answer | None:
    """Ask a person about the report before it counts; None where nothing is to be asked."""
    from orchestrator.app.reports import withheld_reports

    decision = withheld_reports.asked(work, case, agent)
    if decision is None:
        return None
    applied = withheld_reports.withhold(work, case, decision, agent)
    if case.report.role == MANAGER:
        report_effects.await_manager_again(work, decision, applied)
    record = report_effects.record(work, version, case, decision._replace(mandatory_review=False), applied)
    answer = dispatch.decide(work, work.session(), version, record)
    _finish(work, case, answer)
    return answer


def _starts_one(decision: Decision) -> bool:
    """Whether the decision sends one agent to the group and does nothing else: nothing reads the group before that."""
    agent, action = decision.target.agent, decision.target.action
    return agent not in (None, PERSON) and action not in ("spawn_batch", "check_phase") and decision.question is None


def _finish(work: Work, case: Case, answer: Answer) -> None:
    """Let the machinery run where the step freed something, and say what followed."""
    if work.unsettled or case.report.role == MANAGER:
        work.step.flush()
        scheduler.settle(work, "report")
    if len(work.decisions) > 1:
        answer["followed_by"] = work.decisions[1:]
