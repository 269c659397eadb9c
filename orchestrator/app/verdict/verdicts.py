"""Recording a verdict: the validator's report, the decision on it, and what an ACCEPT completes, in one transaction.

Source: seed 004, Proposed Solution 5.
"""

from __future__ import annotations

from orchestrator.app.engine import dispatch, scheduler, state_changes
from orchestrator.app.kernel import actors
from orchestrator.app.kernel.context import Answer, Context, Version, Work
from orchestrator.app.verdict import requests
from orchestrator.app.verdict.requests import Validate
from orchestrator.core import strict_json
from orchestrator.core.routing import engine
from orchestrator.core.routing.facts import (
    MANAGER,
    NO_PATH,
    PERSON,
    VALIDATOR,
    Case,
    Decision,
    Facts,
    Fired,
    Report,
    Target,
)
from orchestrator.core.suggestions import recorded, suggest
from orchestrator.core.workflow.model import Transition
from orchestrator.errors import EXIT_NEGATIVE, EXIT_OK, Refused
from orchestrator.hints import Any
from orchestrator.store import evidence, queries
from orchestrator.store.constants import STORE_CHAIN

AGENT = requests.AGENT
ACCEPT, REJECT = "ACCEPT", "REJECT"
COMMAND = "command"
"""The kind of evidence that a criterion's command leaves."""
OUTCOMES = {
    ACCEPT: Target(None, "end_session"),
    REJECT: Target(MANAGER, "spawn"),
}
"""What follows a verdict where the workflow does not say it."""


def record(work: Work, request: Validate) -> Answer:
    """Record what `validating.validate` found; a replay runs no command.

    Raises:
        Refused: UNKNOWN_SESSION, SESSION_CLOSED, STATE_CHANGED: the record went on since it was read; UNKNOWN_AGENT,
            NOT_PERMITTED, HUMAN_REQUIRED: of who asks; NOT_PERMITTED, it is a chat.
    """
    session = work.open_session()
    if request.by or work.context.proof is not None:
        work.actor = actors.named_actor(work, request.by, "Validating").id
    if session.kind == "chat" and work.call.circumstances.found is None:
        raise Refused(
            "NOT_PERMITTED",
            f"Session {session.id} is a chat: each of its runs is judged when it ends, and there is no verdict on all.",
            suggest("status", session_id=session.id),
        )
    found = work.call.circumstances.found or {}
    if went_on(work):
        raise Refused(
            "STATE_CHANGED",
            f"Session {session.id} changed while it was being validated, so the verdict would be out of date.",
            suggest("validate", session_id=session.id),
            head=_head(work),
            _recorded=f"Session {session.id} changed while it was validated, so the verdict would be about the past.",
        )
    version = work.context.version(session.workflow_version_id)
    verdict = found["verdict"]
    case = _case(work, version, verdict, found["head"])
    question = work.reader.question(session.id, None)
    _write_report(work, case)
    proofs = [_write_evidence(work, each) for each in found["ran"]]
    if verdict["verdict"] == ACCEPT:
        _accept(work, verdict)
    decision = _decide(work, version, case, question)
    return answer(verdict, found["head"]) | {
        "session_id": session.id,
        "seq": work.seq,
        "report_id": decision["report_id"],
        "evidence": proofs,
        "decision": decision,
        "dry_run": False,
    }


def answer(verdict: dict[str, Any], head: str) -> Answer:
    """A verdict as every door answers it."""
    code = EXIT_OK if verdict["verdict"] == ACCEPT else EXIT_NEGATIVE
    return {"success": True, **verdict, "head": head, "exit_code": code}


def newest(context: Context, session_id: str) -> Answer | None:
    """The verdict that was recorded last, as it was found then; None where there is none.

    Returns:
        As a dry run answers it, with `report_id`, `at`, and `fresh` while nothing was recorded since that changes what
        it rests on.

    Raises:
        Refused: UNKNOWN_SESSION.
    """
    context.require_session(session_id)
    row = queries.row(context.reader, queries.LAST_VERDICT, session=session_id)
    report = queries.row(context.reader, queries.REPORT, session=session_id, seq=row["seq"]) if row else None
    if row is None or report is None:
        return None
    found: Answer = recorded(strict_json.stored(report["details"])["validator_verdict"])
    return {**found, "report_id": row["id"], "at": row["at"], "fresh": row["fresh"]}


def went_on(work: Work) -> bool:
    """Whether something was recorded since the session was read that changes what the verdict rests on."""
    found = work.call.circumstances.found or {}
    head, store = found.get("head"), found.get("store")
    if head is None or store is None:
        # As it was told apart before events of some kinds were left out.
        return bool(head != _head(work))
    seen = int(str(head).partition(":")[0])
    chains = ((work.step.chain, seen, work.seq), (STORE_CHAIN, int(store), queries.LAST_SEQ))
    return any(
        work.reader.one(queries.CHANGED_SINCE, chain=chain, seq=seq, until=until) == (1,)
        for chain, seq, until in chains
    )


def _head(work: Work) -> str:
    from orchestrator.store import snapshot

    return snapshot.head(work.seq - 1, work.step.prev_hash)


def _case(work: Work, version: Version, verdict: dict[str, Any], head: str) -> Case:
    name = verdict["verdict"]
    failed = [check for check in verdict["checks"] if check["level"] == "error"]
    details: dict[str, Any] = {"validator_verdict": {**verdict, "head": head}}
    if failed:
        details["failed_checks"] = failed
        details["remediation_guidance"] = list(dict.fromkeys(check["hint"] for check in failed if check["hint"]))
    report = Report(VALIDATOR, name, VALIDATOR, name, summary=verdict["reason"], details=dict(sorted(details.items())))
    transition, _ = engine.find(version.workflow, report)
    session = work.session()
    visits = work.reader.visits(session, VALIDATOR, name, own=False, most=version.most_visits)
    facts = Facts(session, visits=visits)
    return Case(version.workflow, version.models, facts, report, transition or _transition(name), None, NO_PATH)


def _transition(name: str) -> Transition:
    target = OUTCOMES[name]
    return Transition(
        VALIDATOR, name, target.agent, target.action, None, "none", ("validator_verdict",), None, None, False, False,
        None, "none", False, False, "",
    )  # fmt: skip


def _write_report(work: Work, case: Case) -> None:
    report = case.report
    work.step.insert(
        "agent_reports",
        group_id=None,
        role=VALIDATOR,
        agent_id=AGENT,
        response_status=report.status,
        raw_role=report.raw_role,
        raw_status=report.raw_status,
        effect=case.transition.effect,
        turn_assumed=0,
        summary=report.summary,
        details=strict_json.canonical(report.details),
        reported_at=work.at,
    )
    for name in report.details:
        work.step.insert("context_items", group_id="", name=name)


def _write_evidence(work: Work, ran: dict[str, Any]) -> str:
    part = work.step.insert(
        "evidence",
        kind=COMMAND,
        subject=ran["criterion"],
        outcome=ran["why"],
        hash=evidence.digest(ran["output"]),
        size=ran["size"],
        content=ran["output"],
    )
    return f"{work.step.chain}:E{work.seq}" + (f".{part}" if part > 1 else "")


def _accept(work: Work, verdict: dict[str, Any]) -> None:
    """Complete what rests on the project manager's word; the database asks for its path once more. Then end."""
    for group_id in verdict["completes"]:
        group = work.group(group_id)
        assert group is not None  # noqa: S101 - the record is as it was when the verdict was found
        reason = "the project manager's acknowledgement, accepted by the validator"
        state_changes.move_group(work, group, "completed", by=AGENT, reason=reason, cause="verdict")
    state_changes.move_session(
        work, work.session().status, "ended", by=AGENT, reason=verdict["reason"], cause="verdict", outcome="accepted"
    )


def _decide(work: Work, version: Version, case: Case, open_question: str | None) -> Answer:
    decision = engine.decide(case)
    extras: Answer = {"effect": case.transition.effect}
    if case.report.status == ACCEPT:
        target, rules = OUTCOMES[ACCEPT], decision.rules
    elif open_question is not None:
        target = Target(PERSON, "pause_for_user")
        rules = (Fired("question_open", f"a person is awaited for question {open_question}"),)
        extras["question_id"] = open_question
    else:
        target, rules = decision.target, decision.rules
        if decision.question is not None:
            extras["question_id"] = _ask(work, decision)
    record = dispatch.Record(
        current_agent=VALIDATOR,
        response_status=case.report.status,
        group=None,
        target=target,
        cause="report",
        rules=rules,
        include_context=decision.include_context,
        model=decision.model,
        extras=extras,
        report=True,
        session_level=True,
    )
    return dispatch.decide(work, work.session(), version, record)


def _ask(work: Work, decision: Decision) -> str:
    """The question to a person, whose answer to go on emits what was decided otherwise."""
    assert decision.question is not None  # noqa: S101 - the caller asks only where there is one
    stored = {
        "target": list(decision.postponed or OUTCOMES[REJECT]),
        "include_context": list(decision.include_context),
        "model": decision.model,
        "blockers": [],
        "reporter": {"role": VALIDATOR, "agent_id": AGENT},
    }
    kind, text = decision.question
    return scheduler.ask(work, work.session(), None, kind, text, by=AGENT, decision=strict_json.canonical(stored))
