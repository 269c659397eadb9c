"""Ending runs: what the runner saw is judged in the step that records it, so that a replay judges again.

Source: seed 001, Properties 8, 26, 31 and 33.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from orchestrator.app.kernel import operations
from orchestrator.app.kernel.context import Answer, Context, Work
from orchestrator.app.kernel.requests import Request
from orchestrator.app.running import run_repository
from orchestrator.core import blockers, questions
from orchestrator.core.routing.facts import RUNNER
from orchestrator.core.running import advice, judgement, states
from orchestrator.core.running import facts as seen
from orchestrator.core.running.facts import Facts, File, Verdict
from orchestrator.errors import Refused
from orchestrator.hints import Any
from orchestrator.store.run_reader import Run
from orchestrator.store.step import Value

UNKNOWN_CAUSE = "unclassified"
PROMPTED = "waiting"
"""The type of the blocker of a run whose executor asked for input: a person can let it go on."""


class FinishRun(Request, event="run finish", use_case="running.finish_run:end", acting=RUNNER):
    """End a running run as its facts say, which are as `plain` gives them."""

    session_id: str
    id: str
    facts: Mapping[str, Any]
    log: tuple[Mapping[str, Any], ...]
    files: tuple[Mapping[str, Any], ...]
    evidence: tuple[Mapping[str, Any], ...]
    violations: tuple[Mapping[str, Any], ...] = ()
    answered: str | None = None


def finish(
    context: Context, *, session_id: str, id: str, facts: Facts, log: Sequence[Mapping[str, Any]],
    files: Sequence[Mapping[str, Any]], evidence: Sequence[Mapping[str, Any]],
    violations: Sequence[Mapping[str, Any]] = (), answered: str | None = None, at: str | None = None,
) -> Answer:
    """End a running run, or let it await a response, as the facts say.

    Args:
        facts: what the runner saw.
        log: entries of its log: at, kind, level, text.
        files: path, change, present, detected_at, detection_method.
        evidence: subject, outcome and content of each operation, once.
        violations: type, limit_value, actual, at.
        answered: when the executor's answer was there (default: the time of the step).

    Returns:
        `run`, `state`, `executor_status`, `why`, `question_id`, `seq`.

    Raises:
        Refused: UNKNOWN_ID, ILLEGAL_MOVE (it does not run).

    Source: seed 001, Property 8.
    """
    request = FinishRun(
        session_id=session_id, id=id, facts=plain(facts), log=tuple(map(dict, log)), files=tuple(map(dict, files)),
        evidence=tuple(map(dict, evidence)), violations=tuple(map(dict, violations)), answered=answered,
    )
    return operations.carry_out(context, request, at=at)


def plain(facts: Facts) -> dict[str, Any]:
    """Facts as JSON keeps them; what is as it would be anyway is left out."""
    default = Facts(None, "")._asdict()
    found = {name: value for name, value in facts._asdict().items() if value != default[name]}
    return {name: _listed(value) for name, value in found.items()}


def _listed(value: Any) -> Any:
    return [_listed(each) for each in value] if isinstance(value, list | tuple) else value


def restored(given: Mapping[str, Any]) -> Facts:
    """The facts that `plain` has told."""
    found: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in given.items()
    }
    found["verified"] = tuple(File(*each) for each in found.get("verified", ()))
    found["evidence_faults"] = tuple((each[0], each[1]) for each in found.get("evidence_faults", ()))
    return Facts(**{"task_type": None, "status": "", **found})


def end(work: Work, request: FinishRun) -> Answer:
    """The step that ends a run."""
    work.open_session()
    run = run_repository.require(work, request.id)
    if run.state != states.RUNNING:
        raise Refused("ILLEGAL_MOVE", f"Run {run.id} is {run.state}; it does not run.", advice.logs(run.id))
    facts = restored(request.facts)
    verdict = judgement.judge(facts)
    _write_proof(work, request, run, verdict)
    said = {"kind": "output", "level": run_repository.FULL, "text": verdict.output}
    output = [{**said, "at": request.answered or work.at}]
    entries = [*(output if verdict.output.strip() else []), *request.log]
    entries.sort(key=lambda entry: entry.get("at") or work.at)
    run_repository.log(work, run, [*entries, *_closing(facts, verdict)])
    asked = _ask(work, run, facts, verdict)
    ended = run_repository.move(
        work, run, verdict.state, by=RUNNER, reason=verdict.why, values=values(facts, verdict, asked)
    )
    kept = run_repository.end_task(work, ended, verdict.state, _reason(verdict), cause(facts, verdict))
    if kept is not None:
        run_repository.log(work, run, [{"kind": "task", "text": kept}])
    return {
        "success": True, "run": run.id, "state": verdict.state, "executor_status": verdict.executor_status,
        "why": verdict.why, "question_id": asked, "seq": work.seq,
    }


def _write_proof(work: Work, request: FinishRun, run: Run, verdict: Verdict) -> None:
    content = {"facts": request.facts, "verdict": [verdict.executor_status, verdict.state, *verdict.rules]}
    run_repository.write_evidence(
        work, kind="run", subject=run.id, outcome=verdict.executor_status, content=content
    )
    for each in request.evidence:
        run_repository.write_evidence(work, kind="operation", **each)
    for file in request.files:
        work.step.insert("run_files", run_id=run.id, **{**file, "present": int(file["present"])})
    for violation in request.violations:
        work.step.insert("run_violations", run_id=run.id, **violation)


def _closing(facts: Facts, verdict: Verdict) -> list[dict[str, str]]:
    """What the log says last: the verdict with the rules that spoke."""
    rules = f"{verdict.executor_status}: {', '.join(verdict.rules)}"
    entries = [{"kind": "verdict", "level": run_repository.FULL, "text": rules}]
    if facts.guessed:
        said = f"{facts.task_type} was guessed; judged as {seen.judged_as(facts)}"
        entries.append({"kind": "judged_as", "level": run_repository.FULL, "text": said})
    return [*entries, {"kind": verdict.state, "text": verdict.why}]


def _ask(work: Work, run: Run, facts: Facts, verdict: Verdict) -> str | None:
    """Open the question that a run ends with: its own, or whether its unfinished work may be continued."""
    if verdict.question is not None:
        confirms = verdict.executor_status == states.BLOCKED
        kind = questions.CONFIRMATION if confirms else questions.REPLY
        return run_repository.ask(work, run, kind=kind, text=verdict.question)
    if verdict.state != states.UNFINISHED or not _has_progress(facts):
        return None
    text = f"{verdict.why} Continue this task?"
    return run_repository.ask(work, run, kind=questions.CONTINUATION, text=text)


def _has_progress(facts: Facts) -> bool:
    """Whether something was reached that the work can go on from, with sound evidence."""
    return seen.count_modified(facts.verified) > 0 and not facts.evidence_missing and not facts.evidence_faults


def values(facts: Facts, verdict: Verdict, asked: str | None) -> dict[str, Value]:
    """The columns of a run that its facts and their verdict give.

    Args:
        asked: the question that it ends with, or None.
    """
    return {
        "executor_status": verdict.executor_status,
        "error_code": verdict.code,
        "error_reason": None if verdict.state == states.DONE else verdict.why,
        "executor_blocked": int(facts.executor_blocked),
        "blocked_reason": facts.blocked_reason,
        "timeout_ms": facts.timeout_ms,
        "limit_name": facts.limit,
        "files_modified_count": seen.count_modified(facts.verified),
        "output": verdict.output,
        "question_id": asked,
    }


def _reason(verdict: Verdict) -> str:
    return verdict.question or verdict.error or verdict.why


def cause(facts: Facts, verdict: Verdict) -> str:
    """The type of the blocker that an error opens."""
    if facts.blocked_reason == states.INTERACTIVE_PROMPT:
        return PROMPTED
    return verdict.cause if verdict.cause in blockers.TYPES else UNKNOWN_CAUSE
