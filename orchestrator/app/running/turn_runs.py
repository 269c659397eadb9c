"""The steps of the run of an agent's turn: queued, started, ended by what was seen, or given up.

Its product is a report. It belongs to no task, asks nothing of a person, and its verdict says only whether there is an
answer; what the answer leads to, the router decides.

Source: seed 001, Properties 5, 6, 9, 12, 18, 21, 26 and 35.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from orchestrator.app.kernel import operations
from orchestrator.app.kernel.context import Answer, Context, Work
from orchestrator.app.kernel.requests import Request
from orchestrator.app.running import run_repository, start_run
from orchestrator.core import strict_json
from orchestrator.core.routing.facts import RUNNER
from orchestrator.core.running import codes, locks, states, turn_verdict
from orchestrator.core.running.turn_verdict import TurnFacts
from orchestrator.core.suggestions import suggest
from orchestrator.errors import Refused, UsageError
from orchestrator.hints import Any
from orchestrator.runner import process_identity
from orchestrator.store import turn_reader
from orchestrator.store.step import Value
from orchestrator.store.turn_reader import TurnRun

MAX_OUTPUT = 65_536
"""Characters of an answer, from its end, that go into the database; the whole is in the evidence file."""


class QueueTurn(Request, event="turn queue", use_case="running.turn_runs:queue", acting=RUNNER):
    """Queue the run of a turn, for the process that is going to execute it.

    Attributes:
        group: None for a turn of the session itself.
        prompt: what the executor is told.
        folder: where it works, absolute. root: the project, where evidence and log lie.
        owner: the process: host, number and start time.
    """

    session_id: str
    group: str | None
    turn: int
    role: str
    prompt: str
    executor: str
    model: str | None
    folder: str
    root: str
    owner: str


def queue(work: Work, request: QueueTurn) -> Answer:
    """Queue the run of a turn.

    Returns:
        `run`, `seq`.

    Raises:
        Refused: UNKNOWN_SESSION, SESSION_CLOSED, UNKNOWN_GROUP. UsageError: a blank prompt.
    """
    session, group = work.open_session(), request.group
    if group is not None and work.group(group) is None:
        what = f"Session {session.id} has no group {group}."
        raise Refused("UNKNOWN_GROUP", what, suggest("group list", session_id=session.id))
    if not request.prompt.strip():
        raise UsageError("USAGE", "The hand-off of a turn is blank.", "Pass the text that the agent is to read")
    id = _next_id(work)
    work.step.insert(
        "turn_runs", id=id, group_id=group, turn=request.turn, role=request.role, prompt=request.prompt,
        executor=request.executor, model=request.model, folder=request.folder, root=request.root,
        lock_key=locks.turn_key(session.id, group), queued_by=RUNNER, queued_at=work.at, created_seq=work.seq,
        state=states.QUEUED, state_changed_by=RUNNER, state_changed_at=work.at, state_seq=work.seq,
        owner=request.owner,
    )
    _record(work, id, None, states.QUEUED, f"turn {request.turn} of {request.role}")
    return {"success": True, "run": id, "seq": work.seq}


def _next_id(work: Work) -> str:
    """`turn-<milliseconds>`, one more than any before where the clock has not moved on."""
    newest = turn_reader.newest(work.context.connection)
    is_here = newest is not None and newest[1] == work.step.chain
    number = int(newest[0].removeprefix("turn-")) if newest is not None else 0
    there = work.elsewhere("newest turn", 0 if is_here else number) or 0
    return f"turn-{max(run_repository.milliseconds(work.at), (number if is_here else 0) + 1, there + 1)}"


class StartTurn(Request, event="turn start", use_case="running.turn_runs:begin", acting=RUNNER):
    """Start a queued run of a turn; `capacity` runs may run at once on its machine, in all sessions."""

    session_id: str
    id: str
    owner: str | None
    capacity: int


def start(context: Context, run: TurnRun, *, capacity: int, at: str | None = None) -> Answer:
    """Start a queued run, if a place is free for it and nobody holds its folder or its group.

    Args:
        capacity: how many runs may run at once on its machine, in all sessions, those of tasks among them.

    Returns:
        `run`, `seq`.

    Raises:
        Refused: ILLEGAL_MOVE, E404 {running} (no place is free), E401 {paths, holders} (held by others).
    """
    request = StartTurn(session_id=run.session_id, id=run.id, owner=run.owner, capacity=capacity)
    return operations.carry_out(context, request, at=at)


def begin(work: Work, request: StartTurn) -> Answer:
    """The step that starts the run of a turn."""
    work.open_session()
    run = _require(work, request.id, states.QUEUED)
    start_run.refuse_full(work, run.id, request.owner, request.capacity, writes=True)
    start_run.refuse_locked(work, run.id, start_run.wants(work.context, run))
    _move(work, run, states.RUNNING, f"{run.executor} starts", {"started_at": work.at})
    return {"success": True, "run": run.id, "seq": work.seq}


class FinishTurn(Request, event="turn finish", use_case="running.turn_runs:end", acting=RUNNER):
    """End a running run of a turn as its facts say, which are as `plain` gives them."""

    session_id: str
    id: str
    facts: Mapping[str, Any]
    log: tuple[Mapping[str, Any], ...]
    files: tuple[Mapping[str, Any], ...]
    evidence: tuple[Mapping[str, Any], ...]
    usage: Mapping[str, int] | None = None


def finish(
    context: Context, run: TurnRun, *, facts: TurnFacts, log: Sequence[Mapping[str, Any]],
    files: Sequence[Mapping[str, Any]], evidence: Sequence[Mapping[str, Any]], usage: Mapping[str, int] | None = None,
    at: str | None = None,
) -> Answer:
    """End a running run as the facts say.

    Args:
        facts: what the runner saw.
        log: entries of its log: at, kind, text.
        files: path and change of what became another in its folder.
        evidence: subject, outcome and content of each operation, once.
        usage: what the executor counted, such as tokens.

    Returns:
        `run`, `state`, `reason`, `error_code`, `seq`.

    Raises:
        Refused: ILLEGAL_MOVE (it does not run).
    """
    request = FinishTurn(
        session_id=run.session_id, id=run.id, facts=plain(facts), log=tuple(map(dict, log)),
        files=tuple(map(dict, files)), evidence=tuple(map(dict, evidence)), usage=dict(usage) if usage else None,
    )
    return operations.carry_out(context, request, at=at)


def end(work: Work, request: FinishTurn) -> Answer:
    """The step that ends the run of a turn."""
    run = _require(work, request.id, states.RUNNING)
    facts = restored(request.facts)
    verdict = turn_verdict.judge(facts)
    content = {
        "facts": request.facts, "log": list(request.log), "files": list(request.files), "verdict": list(verdict),
    }
    run_repository.write_evidence(work, kind="turn", subject=run.id, outcome=verdict.state, content=content)
    for each in request.evidence:
        run_repository.write_evidence(work, kind="operation", **each)
    usage = request.usage
    _move(work, run, verdict.state, verdict.reason or "answered", {
        "owner": None, "ended_at": work.at, "reason": verdict.reason, "error_code": verdict.code,
        "blocked_reason": facts.blocked_reason, "timeout_ms": facts.timeout_ms, "limit_name": facts.limit,
        "output": facts.answer or None, "usage": strict_json.canonical(usage) if usage else None,
    })  # fmt: skip
    return {
        "success": True, "run": run.id, "state": verdict.state, "reason": verdict.reason, "error_code": verdict.code,
        "seq": work.seq,
    }  # fmt: skip


def plain(facts: TurnFacts) -> dict[str, Any]:
    """Facts as JSON keeps them; what is as it would be anyway is left out."""
    default = TurnFacts("")._asdict()
    found = {name: value for name, value in facts._asdict().items() if name == "status" or value != default[name]}
    return {name: _listed(value) for name, value in found.items()}


def _listed(value: Any) -> Any:
    return [_listed(each) for each in value] if isinstance(value, list | tuple) else value


def restored(given: Mapping[str, Any]) -> TurnFacts:
    """The facts that `plain` has told."""
    found: dict[str, Any] = {
        name: tuple(map(_frozen, value)) if isinstance(value, list) else value for name, value in given.items()
    }
    return TurnFacts(**found)


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


class AbandonTurn(Request, event="turn abandon", use_case="running.turn_runs:end_abandoned", acting=RUNNER):
    """End a run of a turn as failed; `lives` where its process is not known to be gone."""

    session_id: str
    id: str
    owner: str
    reason: str
    code: str | None = None
    log: tuple[Mapping[str, Any], ...] = ()
    lives: bool = False


def abandon(
    context: Context, run: TurnRun, *, reason: str, code: str | None = "E503", log: Sequence[Mapping[str, Any]] = (),
    gone: bool | None = None, at: str | None = None,
) -> Answer:
    """End a run as failed that was never started, or whose process is gone or cannot go on with it.

    Args:
        gone: whether its process is gone, or this one (default: it is checked).
        reason: why. code: the error code that fits.
        log: entries of its log, such as what was still found of it.

    Raises:
        Refused: ILLEGAL_MOVE, it has ended or has another owner by now; E405, its process lives.
    """
    owner = str(run.owner)
    if gone is None:
        gone = owner == process_identity.mine() or process_identity.is_gone(owner, context.connection)
    request = AbandonTurn(
        session_id=run.session_id, id=run.id, owner=owner, reason=reason, code=code, log=tuple(map(dict, log)),
        lives=not gone,
    )
    return operations.carry_out(context, request, at=at)


def end_abandoned(work: Work, request: AbandonTurn) -> Answer:
    """The step that ends the run of a turn whose process is gone."""
    run = _require(work, request.id, states.QUEUED, states.RUNNING)
    if run.owner != request.owner:
        raise Refused("ILLEGAL_MOVE", f"{run.id} is run by {run.owner}; nothing changed.", "Nothing is to be done")
    if request.lives:
        raise codes.refused("E405", f"{run.id} holds its group: {run.owner} is not known to be gone.", run=run.id)
    give_up(work, run, request.reason, request.code, request.log)
    return {"success": True, "run": run.id, "state": turn_verdict.FAILED, "seq": work.seq}


def give_up(
    work: Work, run: TurnRun, reason: str, code: str | None = None, log: Sequence[Mapping[str, Any]] = ()
) -> None:
    """End a run as failed within a step, with its log."""
    content = {"reason": reason, "log": [dict(entry) for entry in log]}
    run_repository.write_evidence(work, kind="turn", subject=run.id, outcome=turn_verdict.FAILED, content=content)
    _move(work, run, turn_verdict.FAILED, reason, {
        "owner": None, "ended_at": work.at, "reason": reason, "error_code": code,
    })  # fmt: skip


def of_session(work: Work) -> list[TurnRun]:
    """The open runs of turns of the step's session."""
    found = turn_reader.open_runs(work.context.connection)
    return [each for each in found if each.session_id == work.step.chain]


def _require(work: Work, id: str, *expected: str) -> TurnRun:
    run = turn_reader.by_id(work.context.connection, id)
    if run is None or run.session_id != work.step.chain:
        raise Refused("UNKNOWN_ID", f"Session {work.step.chain} has no run {id}.", "Look at its log", kind="turn run")
    if run.state not in expected:
        what = f"{run.id} is {run.state}, not {' or '.join(expected)}."
        raise Refused("ILLEGAL_MOVE", what, "Start the turn again")
    return run


def _move(work: Work, run: TurnRun, to: str, reason: str, values: Mapping[str, Value]) -> None:
    _record(work, run.id, run.state, to, reason)
    work.step.update("turn_runs", (run.id,), {
        "state": to, "state_changed_by": RUNNER, "state_changed_at": work.at, "state_seq": work.seq, **values,
    })  # fmt: skip


def _record(work: Work, id: str, from_: str | None, to: str, reason: str) -> None:
    work.step.insert(
        "status_changes", entity="turn", entity_id=id, from_status=from_, to_status=to, changed_by=RUNNER,
        changed_at=work.at, reason=reason, cause="turn",
    )  # fmt: skip
