"""What an accepted report changes: its own rows first, then what its decision says.

The report is written before the completion view is asked, so that the view is the only definition of complete;
nothing here refuses any more, except the database itself.
"""

from __future__ import annotations

from orchestrator.app.engine import dispatch, group_changes, overview, scheduler, state_changes
from orchestrator.app.engine import metadata as meta
from orchestrator.app.kernel.context import Answer, Version, Work
from orchestrator.core import canonical_json, completion_wording, names, sha256, strict_json
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.routing import blocking, rules
from orchestrator.core.routing.facts import (
    BUILDERS,
    INVESTIGATOR,
    MANAGER,
    NO_PATH,
    PERSON,
    PROGRESS,
    PROGRESS_READ_SINCE,
    SENIOR,
    STARTING,
    VALIDATOR,
    Blocker,
    Case,
    Decision,
    Fired,
    Group,
    Path,
    Target,
)
from orchestrator.hints import Any
from orchestrator.store.reader import AWAITING_MANAGER, IDLE

RESOLUTIONS = {"approve": "accepted", "guide": "guidance", "resume": "resumed"}


class Written(NamedTuple):
    """A report that is written: the case with the path as the view answers it now, and what happened on the way."""

    case: Case
    opened: tuple[str, ...]
    resolved: tuple[str, ...]
    completed: tuple[str, ...]


class Applied(NamedTuple):
    """What a decision's answer says besides its target; `waiting` is the group that waits for that, if one does."""

    group: Group | None
    waiting: Group | None
    extras: Answer
    rules: tuple[Fired, ...] = ()


def write_report(work: Work, case: Case, agent: str) -> Written:
    """Write the report's rows, settle and open its blockers, count it, and complete what it completes."""
    candidates = completed_by(work, case)
    insert_report(work, case, agent, case.transition.effect)
    add_content(work, case)
    meta.keep(work, case)
    answer_turns(work, case)
    return take_effect(work, case, agent, candidates, open_blocker(work, case, agent))


def take_effect(work: Work, case: Case, agent: str, candidates: list[str], opened: tuple[str, ...]) -> Written:
    """Let a report that is written count: start its group, settle blockers, count, complete what it completes."""
    group = case.group
    if group is not None:
        start_group(work, case, group, agent)
    resolved = blocking.settles(case)
    for blocker in resolved:
        effect = case.transition.effect
        state_changes.resolve_blocker(
            work, blocker, by=agent, resolution=RESOLUTIONS.get(effect, "resolved"),
            note=blocking.reason(case) if effect == "resume" else case.report.summary,
        )
    if group is not None:
        _count(work, case, group, agent)
    completed = state_changes.complete(work, candidates)
    if completed:
        path = Path(approved=True, valid=True)
    else:
        path = work.reader.path(work.step.chain, group.id) if group is not None and asks_path(case) else NO_PATH
    return Written(case if path == case.path else case._replace(path=path), opened, resolved, completed)


def asks_path(case: Case) -> bool:
    """Whether the report may complete its group: a merge, or the approval of what is never merged."""
    effect = case.transition.effect
    return effect == "merge" or (effect == "approve" and case.group is not None and case.group.kind != "code")


def insert_report(work: Work, case: Case, agent: str, effect: str) -> None:
    """Write the row of a report, and the files and the text that it came with."""
    raw = case.report.raw_text
    raw_hash = keep_text(work, raw) if raw else None
    if case.report.role == VALIDATOR:
        return
    work.step.insert("agent_reports", **report_row(work, case, agent, effect), raw_hash=raw_hash)
    for each in work.call.circumstances.attached or ():
        work.step.insert(
            "evidence", group_id=case.group.id if case.group else None, kind=each["what"],
            subject=f"{work.step.chain}:R{work.seq}", outcome=f"{each['bytes']} bytes in {each['path']}",
            hash=each["sha256"], size=each["bytes"], path=each["path"],
        )
    seen = work.call.circumstances
    if seen.measured is not None or seen.used is not None:
        from orchestrator.app.engine import measured

        measured.keep(work, case.group.id if case.group else None)
        measured.keep_usage(work, case.group.id if case.group else None, seen.start_of)


def report_row(work: Work, case: Case, agent: str, effect: str) -> dict[str, Any]:
    """The columns of a report as it is given in this step."""
    report, group = case.report, case.group
    own = group is not None and (report.role != MANAGER or group.awaited_role == MANAGER)
    open_turn = group.turn if group is not None and own else case.session.turn
    return {
        "group_id": group.id if group is not None else None,
        "role": report.role,
        "agent_id": agent,
        "response_status": case.transition.status,
        "raw_role": report.raw_role,
        "raw_status": report.raw_status,
        "effect": effect,
        "turn": report.turn if report.turn is not None else open_turn,
        "turn_assumed": int(report.turn is None),
        "summary": report.summary,
        "details": canonical_json.exact(report.details),
        "metadata": strict_json.canonical(report.metadata) if report.metadata else None,
        "reported_at": work.at,
    }


def add_content(work: Work, case: Case) -> None:
    """Let what a report says count: whom it acknowledges, and what it gives to later agents."""
    if case.report.role == VALIDATOR:
        return
    for group_id, reason in case.report.acknowledge.items():
        work.step.insert("acknowledgements", group_id=group_id, reason=names.said(reason))
    for name in case.report.details:
        work.step.insert("context_items", group_id=case.group.id if case.group else "", name=name)


def keep_text(work: Work, text: str) -> str:
    """Keep a text under its SHA-256, once, and return that."""
    hash_ = sha256.new(text.encode()).hexdigest()
    if work.reader.one("SELECT 1 FROM texts WHERE hash = :hash", hash=hash_) is None:
        work.step.insert("texts", hash=hash_, content=text)
    return hash_


def answer_turns(work: Work, case: Case) -> None:
    """The turn that the report answers is over; the project manager's report answers all of theirs."""
    if case.report.role == VALIDATOR:
        return
    if case.group is None:
        for group in work.reader.groups(AWAITING_MANAGER, work.step.chain):
            state_changes.clear_group(work, group.id)
    # A question that concerns the whole session stays open: a person is still awaited.
    if case.report.role == MANAGER and case.session.awaited_role != PERSON:
        state_changes.clear_session(work)


def start_group(work: Work, case: Case, group: Group, agent: str) -> None:
    """Begin a group with its first report, or resume a deferred one."""
    starts = case.report.role != MANAGER or case.transition.action in STARTING
    if group.status == "pending" and starts:
        state_changes.move_group(
            work, group, "in_progress", by="system:router", reason=f"first report by {case.report.role}", cause="report"
        )
    elif group.status == "deferred_external":
        state_changes.move_group(work, group, "in_progress", by=agent, reason=blocking.reason(case), cause="report")


def open_blocker(work: Work, case: Case, agent: str) -> tuple[str, ...]:
    """Open the blocker that a report with effect `block` is about; its id, or nothing."""
    if case.transition.effect != "block":
        return ()
    type_, severity, reason = meta.blocker_of(case.report)
    blocker = state_changes.open_blocker(
        work,
        case.group.id if case.group else None,
        type=type_,
        severity=severity,
        reason=reason,
        by=agent,
        role=case.report.role,
        cause="report",
        report_id=f"{work.step.chain}:R{work.seq}",
    )
    return (blocker,)


def _count(work: Work, case: Case, group: Group, agent: str) -> None:
    effect, role = case.transition.effect, case.report.role
    sets: dict[str, Any] = {} if group.awaited_role is None else dict.fromkeys(state_changes.AWAITED)
    if counter := rules.COUNTERS.get(effect):
        sets[counter] = getattr(group, counter) + 1
    if case.transition.iteration_budget_check:
        sets["iterations"] = group.iterations + 1
    if effect in PROGRESS:
        sets["progress_seq"] = work.seq
        if work.context.rules_version < PROGRESS_READ_SINCE:
            work.update_session({"progress_seq": work.seq})
    if role in BUILDERS and (group.builder_role, group.builder_agent_id) != (role, agent):
        sets["builder_role"], sets["builder_agent_id"] = role, agent
    if role == SENIOR and not group.senior:
        sets["senior"] = 1
    if sets:
        # An agent's report is most often followed by the start of the next one, or by its group's completion, which
        # is another change of the row. The completion view reads none of these columns.
        state_changes.update_group(work, group.id, sets, hold=role != MANAGER)


def completed_by(work: Work, case: Case) -> list[str]:
    """The groups whose chain this report may make valid; the view then says which are."""
    report = case.report
    if report.role == MANAGER:
        again = case.group.id if case.group is not None and case.transition.action in STARTING else None
        named = [group_id for group_id in report.acknowledge if group_id != again]
        if case.transition.effect == "confirm":
            named += [group.id for group in work.reader.groups(AWAITING_MANAGER, work.step.chain)]
        return list(dict.fromkeys(named))
    return [case.group.id] if case.group is not None and asks_path(case) else []


def apply(
    work: Work, case: Case, decision: Decision, agent: str, written: Written, *, begun: Group | None = None
) -> Applied:
    """Carry out what the decision does besides starting somebody: marks, deferral, questions, the session's end.

    Args:
        begun: the research group of an investigation without a group, where there is one already.
    """
    group = case.group
    extras: Answer = {"effect": case.transition.effect, **in_files(work)}
    if decision.marks_external and group is not None:
        dependency = str(case.report.details["external_dependency"]).strip()
        state_changes.mark_external(work, decision.marks_external, dependency=dependency, by=agent)
    if written.opened:
        extras["blockers_opened"] = list(written.opened)
    if written.resolved:
        extras["blockers_resolved"] = list(written.resolved)
    if written.completed:
        extras["completed"] = list(written.completed)
    only_asks = (decision.postponed or decision.target).agent == PERSON
    if group is None and case.transition.effect == "investigate" and not only_asks:
        group = begun or group_changes.create_investigation(work, case)
    waiting = None if (group is case.group and case.waiting is None) or decision.asks_session else group
    if group is not None and decision.target.agent == INVESTIGATOR and case.report.role != INVESTIGATOR:
        state_changes.update_group(work, group.id, {"iterations": 0})
    _by_effect(work, case, group, agent, extras)
    if decision.question is not None:
        extras["question_id"] = ask(work, case, decision, agent, written.opened, waiting)
    fired: tuple[Fired, ...] = ()
    if group is not None and group.id not in written.completed and decision.target.action == "check_phase":
        fired = await_completion(work, group.id, extras)
    if group is not None:
        extras["group_status"] = work.moved.get(group.id, group.status)
    return Applied(group, waiting, extras, fired)


def in_files(work: Work) -> Answer:
    """The parts of the step's report that lie in files, as its answer names them."""
    found = work.call.circumstances.attached
    return {"evidence": found} if found else {}


def _by_effect(work: Work, case: Case, group: Group | None, agent: str, extras: Answer) -> None:
    effect = case.transition.effect
    if effect in ("plan", "continue"):
        work.update_session({"planned": 1})
    elif effect == "defer" and group is not None:
        _defer(work, case, group, agent)
    elif effect == "end_research" and case.report.role != VALIDATOR:
        extras["cancelled"] = group_changes.end_research(work, case, agent)
    elif effect == "confirm":
        dispatch.await_validator(work)


def _defer(work: Work, case: Case, group: Group, agent: str) -> None:
    blocker = blocking.newest(case, external=True)
    assert blocker is not None  # noqa: S101 - admission refuses a deferral without it
    group_changes.defer(work, group, blocker.id, reason=blocking.reason(case), by=agent, cause="report")


def ask(
    work: Work, case: Case, decision: Decision, agent: str, opened: tuple[str, ...], waiting: Group | None,
    **kept: Any,
) -> str:
    """Open the question that a decision asks, with what an answer needs to go on.

    Args:
        opened: the blockers that the report has opened.
        waiting: the group that waits for the answer; None where the session does.
        kept: more that the answer needs.
    """
    question = decision.question
    assert question is not None  # noqa: S101 - the caller asks only where there is one
    postponed = decision.postponed or Target(None, decision.target.action)
    stored = {
        "target": list(postponed),
        "include_context": list(decision.include_context),
        "model": decision.model,
        "blockers": list(opened),
        "reporter": {"role": case.report.role, "agent_id": agent, "action": _again(case)},
        **({"resume": work.seq} if resumes(case) else {}),
        **kept,
    }
    return scheduler.ask(
        work, work.session(), waiting, question.kind, question.text, by=agent, decision=strict_json.canonical(stored)
    )


def _again(case: Case) -> str:
    """How the reporter is started to report anew: who was sent to merge is sent to merge again."""
    merges = case.group is not None and case.group.awaited_action == "spawn_merge" and case.report.role != MANAGER
    return "spawn_merge" if merges else "respawn"


def resumes(case: Case) -> bool:
    """Whether the report left a point to resume from."""
    return case.report.stop is not None and case.report.stop.status == "partial"


def await_completion(work: Work, group_id: str, extras: Answer) -> tuple[Fired, ...]:
    """A merged (or, in research, approved) group that is not completed awaits the project manager, never nobody.

    Returns:
        What the decision gives as its reason: whom the group awaits, and each part of its path that is not met.
    """
    group = work.group(group_id)
    if group is None or group.status != "in_progress":
        return ()
    dispatch.await_manager(work, group)
    extras["path"] = overview.parts(work, group_id)
    extras["awaiting_manager"] = [group_id]
    work.unsettled = True
    return (Fired("completion", completion_wording.lacking(group_id, MANAGER, extras["path"])),)


def record(
    work: Work, version: Version, case: Case, decision: Decision, applied: Applied,
    blockers: tuple[Blocker, ...] | None = None,
) -> dispatch.Record:
    """The decision on a report, with what it does beside starting somebody, as it is carried out and answered.

    Args:
        blockers: the group's open blockers, where they are known.
    """
    group = applied.group
    found = dispatch.Record(
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
        blockers=blockers,
        resume=work.seq if resumes(case) else None,
    )
    if decision.target.action in ("spawn_batch", "check_phase"):
        return scheduler.fan_out(work, version, found, case.transition.next_agent)
    return found


def await_manager_again(work: Work, decision: Decision, applied: Applied) -> None:
    """After a report of the project manager every group in progress that awaits nobody awaits them again, by name."""
    sends = decision.target.agent is not None and decision.target.action != "spawn_batch"
    sent = applied.waiting.id if applied.waiting and sends else None
    idle = work.context.connection.execute(IDLE, {"session": work.step.chain}).fetchall()
    again = [group for (id_,) in idle if id_ != sent and (group := work.group(id_))]
    for group in again:
        dispatch.await_manager(work, group)
    if again:
        applied.extras["awaiting_manager"] = [*applied.extras.get("awaiting_manager", ()), *(g.id for g in again)]
