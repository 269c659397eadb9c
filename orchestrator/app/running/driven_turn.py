"""Running an agent's turn: the hand-off goes to an executor under supervision, and its answer comes back with evidence.

Of the same making as the run of a task: a place among the executors, locks, a guard on what no executor may touch, two
looks at the folder, evidence of each operation read back, and a log. What is judged is only whether there is an answer.
Turns of different groups run side by side; they share the evidence of their session, so each records its own while it
holds the session's folder, together with the step that ends it.

Source: seed 001, Properties 1, 6, 7, 9, 12, 18, 20, 21, 26, 31, 33, 34 and 35.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence

from orchestrator.app.kernel import attached_evidence, operations
from orchestrator.app.kernel.context import Context
from orchestrator.app.running import (
    concurrent_runs,
    evidence_and_log,
    execute_run,
    execution_types,
    lock_acquisition,
    turn_runs,
)
from orchestrator.core import masking, strict_json
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.running import config, locks, turn_verdict
from orchestrator.core.running.turn_verdict import TurnFacts
from orchestrator.errors import OrchestratorError
from orchestrator.hints import Any
from orchestrator.runner import (
    atomic_files,
    evidence_files,
    folder_lock,
    orphan_recovery,
    port,
    process,
    process_identity,
    protected_paths,
    repository,
    session_lock,
    snapshot,
    task_logs,
    verified_files,
)
from orchestrator.runner.snapshot import Change
from orchestrator.store import sqlite, turn_reader
from orchestrator.store.turn_reader import TurnRun

LIMITS = process.Limits(executor_timeout_ms=30 * 60_000, progress_timeout_ms=10 * 60_000)
"""The clocks of a turn where its order names no others."""
_LOOKS = snapshot.Looks()
"""What earlier turns of this process have read of their folders."""
PATIENCE_S = 60.0
"""Seconds that a turn waits for a place, its group and its folder."""
LISTED = 200
"""Changed files that the log names."""


class TurnOrder(NamedTuple):
    """What is to be run.

    session_id, group_id, turn, role: whose turn it is; group_id is None for one of the session itself.
    handoff: the text that the agent reads. executor, model: who answers.
    folder: where the agent works. root: the project, where evidence and log lie; the same folder where there is no
        worktree.
    limits: its clocks, in milliseconds. capacity: how many executors may work at once, in all sessions.
    patience_s: seconds that it waits to be started. compress: whether the executor's output is kept compressed.
    conversation: what it goes on with, as an earlier result named it. variables: of the executor's environment.
    commands: command lines that the agent may run without being asked. cost_before: what the conversation had cost, in
    millionths of a dollar, before it is gone on with. budget: what the run may cost, in the same.
    """

    session_id: str
    group_id: str | None
    turn: int
    role: str
    handoff: str
    executor: port.Executor
    folder: str
    root: str
    model: str | None = None
    limits: process.Limits = LIMITS
    capacity: int = locks.CAPACITIES[locks.EXECUTOR]
    patience_s: float = PATIENCE_S
    compress: bool = True
    conversation: str | None = None
    variables: tuple[tuple[str, str], ...] = ()
    commands: tuple[str, ...] = ()
    cost_before: int = 0
    budget: int | None = None


class TurnResult(NamedTuple):
    """What came of it.

    run: its id. state: answered, no_answer, failed or limited; reason, code: why, where it was not answered.
    answer: the agent's text, keys masked. denied_tools: what it was not allowed to use.
    changes: what became of files in its folder. usage: what the executor counted. raw: where its whole output lies,
    as the evidence names it; None where it was never called. conversation: by which it can be gone on with.
    error, answers, resets_at, cost: as `port.ExecutorResult` has them. reached: what changed outside of its tree while
    several were at work that could have done it, in words.
    """

    run: str
    state: str
    answer: str = ""
    reason: str | None = None
    code: str | None = None
    denied_tools: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    usage: dict[str, int] | None = None
    raw: str | None = None
    conversation: str | None = None
    error: str | None = None
    answers: tuple[str, ...] = ()
    resets_at: int | None = None
    cost: int | None = None
    reached: tuple[str, ...] = ()


class _Seen(NamedTuple):
    """What was seen: the result, the files that changed, all files that were looked for, what may not change, and what
    changed outside that another agent may have done as well.
    """

    result: port.ExecutorResult
    changes: Sequence[Change]
    files: Sequence[dict[str, Any]]
    tampered: tuple[str, ...]
    reached: tuple[str, ...] = ()


def run_turn(
    context: Context, order: TurnOrder, *, watch: port.Watch | None = None,
    cancelled: Callable[[], bool] | None = None, tell: Callable[[str], None] | None = None,
    begun: Callable[[str, str], None] | None = None,
) -> TurnResult:
    """Run a turn to its end.

    Args:
        context: the database; each thread that runs turns has its own.
        watch: is told of progress. cancelled: is asked again and again; once true, the executor is ended.
        tell: takes what a person should know meanwhile.
        begun: takes the run's id and the file that its output goes to, right before the executor is called.

    Raises:
        Refused: SESSION_CLOSED, UNKNOWN_GROUP, UNKNOWN_SESSION; nothing was queued. ILLEGAL_MOVE, somebody else has
            ended it meanwhile. UsageError: a blank hand-off.
        EnvironmentProblem: the database cannot be written.
    """
    order = order._replace(folder=os.path.realpath(order.folder), root=os.path.realpath(order.root))
    queued = operations.ask(
        context,
        turn_runs.QueueTurn(
            session_id=order.session_id, group=order.group_id, turn=order.turn, role=order.role, prompt=order.handoff,
            executor=order.executor.name, model=order.model, folder=order.folder, root=order.root,
            owner=process_identity.mine(),
        ),
    )  # fmt: skip
    run = _now(context, queued["run"])
    place = folder_lock.Place(run.root, context.path, run.id)
    try:
        with session_lock.held(run.root, run.session_id):
            return _run(context, order, run, place, watch, cancelled, tell, begun)
    except OrchestratorError as problem:
        return _ended(context, run, problem.message, problem.code)
    except BaseException:
        # Whoever breaks it off goes on living, so that nobody would take it for abandoned.
        with contextlib.suppress(Exception):
            _ended(context, run, "It was broken off.", None)
        raise
    finally:
        place.leave()


def _now(context: Context, id: str) -> TurnRun:
    found = turn_reader.by_id(context.connection, id)
    assert found is not None  # noqa: S101 - it was written before
    return found


def _run(
    context: Context, order: TurnOrder, run: TurnRun, place: folder_lock.Place, watch: port.Watch | None,
    cancelled: Callable[[], bool] | None, tell: Callable[[str], None] | None,
    begun: Callable[[str, str], None] | None,
) -> TurnResult:
    waiter = lock_acquisition.Waiter(
        run, order.capacity, order.patience_s, start=lambda: turn_runs.start(context, run, capacity=order.capacity),
        tell=tell, cancelled=cancelled,
    )  # fmt: skip
    if not lock_acquisition.start_when_free(context, waiter, place):
        return _ended(context, run, "It was cancelled before it began.", None)
    run = _now(context, run.id)
    seen = _watched(context, order, run, place, watch, cancelled, begun)
    # Others of the session record theirs before or after: the index on the disk is as the database has it.
    with evidence_files.recording(attached_evidence.run_root(context.path, run.root), run.session_id):
        return _finished(context, order, run, seen)


def _ended(context: Context, run: TurnRun, reason: str, code: str | None) -> TurnResult:
    """End a run that could not be started, or not be recorded.

    Raises:
        Refused: ILLEGAL_MOVE, somebody else has ended it meanwhile.
    """
    turn_runs.abandon(context, _now(context, run.id), reason=reason, code=code)
    return TurnResult(run.id, turn_verdict.FAILED, reason=reason, code=code)


def _watched(
    context: Context, order: TurnOrder, run: TurnRun, place: folder_lock.Place, watch: port.Watch | None,
    cancelled: Callable[[], bool] | None, begun: Callable[[str, str], None] | None,
) -> _Seen:
    """Call the executor between two looks at its folder and at what it may not touch."""
    since = concurrent_runs.moment(context)
    guard, log = protected_paths.look(run.root), sqlite.log_identity(context.connection)
    before, beside = _LOOKS.take(run.folder), _Beside(order)
    kept_below = attached_evidence.run_root(context.path, run.root)
    raw = evidence_files.raw_file(kept_below, run.session_id, f"{run.id}-{execution_types.EXECUTE}")
    task = port.ExecutorTask(
        run_id=run.id, session_id=run.session_id, prompt=run.prompt, task_type=turn_verdict.task_type(run.role),
        project=run.folder, model=run.model, limits=order.limits, raw=raw, secrets=tuple(context.secrets),
        tag=orphan_recovery.tag(process_identity.mine(), run.id), writes=run.role in turn_verdict.MAY_WRITE,
        role=run.role,
        group=run.group_id, conversation=order.conversation, variables=order.variables,
        commands=order.commands, budget=order.budget,
    )  # fmt: skip
    if begun is not None:
        begun(run.id, str(raw))
    with atomic_files.held_room(raw.parent):
        result = execute_run.called(order.executor, task, watch, cancelled)
    now = snapshot.take(run.folder, contents=False)
    changes = snapshot.changed(before, now)
    found = verified_files.verify(before, now, changes, result.claimed_files, context.clock(), alone=True)
    sqlite.require_place(context.connection, log)
    after = protected_paths.look(run.root)
    # Asked after the look, so that whoever has written by then is on record; in its session others record theirs too.
    working = concurrent_runs.working(context, run, since)
    tampered = protected_paths.differences(guard, after, protected_paths.SHARED, 0.0, (), working, run.id)
    kinds = {snapshot.told(each.path): each.kind for each in changes}
    files = [{**each._asdict(), "change": kinds.get(each.path)} for each in found.files]
    outside = tuple(beside.changed())
    others = beside.others(context, working) if outside else ()
    own = () if others else outside
    reached = tuple(f"{each}, by this agent or one of {', '.join(others)}" for each in outside if others)
    tampered = (*tampered, *_settings_changed(run, changes), *own, *place.tampered())
    return _Seen(result, changes, files, tampered, reached)


class _Beside:
    """The user's checkout beside the tree in which an executor works that could write there as well.

    Nobody can tell its changes from those that a person makes meanwhile, so they are named and none is undone.
    """

    def __init__(self, order: TurnOrder) -> None:
        looks = order.folder != order.root and getattr(order.executor, "reaches_out", False)
        self._root, self._executor = order.root if looks else None, order.executor.name
        self._files = _LOOKS.take(order.root) if looks else None
        self._head = repository.checked_out(order.root) if looks else None

    def others(self, context: Context, working: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
        """The runs of those at work meanwhile that could have written there too."""
        ids = dict.fromkeys(id for each in working.values() for id in each)
        runs = [turn_reader.by_id(context.connection, id) for id in ids]
        return tuple(
            each.id for each in runs
            if each is not None and each.executor == self._executor and self._root == each.root != each.folder
        )

    def changed(self) -> list[str]:
        """What of it is other than before, in words."""
        if self._root is None or self._files is None:
            return []
        now = snapshot.take(self._root, contents=False)
        found = [f"{snapshot.told(each.path)} in the project's checkout ({each.kind})"
                 for each in snapshot.changed(self._files, now)]
        moved = repository.checked_out(self._root) != self._head
        return [*found, *(["the branch of the project's checkout (moved)"] if moved else [])]


def _settings_changed(run: TurnRun, changes: Sequence[Change]) -> tuple[str, ...]:
    """What an executor did to the settings in its own tree, which would count once the tree is merged."""
    if run.folder == run.root:
        return ()
    return tuple(f"{each.path} ({each.kind})" for each in changes if snapshot.told(each.path) == config.OWN_FILE)


def _finished(context: Context, order: TurnOrder, run: TurnRun, seen: _Seen) -> TurnResult:
    result, secrets, at = seen.result, tuple(context.secrets), context.clock()
    evidence, missing, faults = _evidence(context, order, run, seen, at)
    answer = result.output if result.output.strip() else ""
    facts = TurnFacts(
        status=result.status, answer=answer[-turn_runs.MAX_OUTPUT :], error=result.error, session=result.session_id,
        issued_session=run.session_id, executor_blocked=result.executor_blocked,
        blocked_reason=result.blocked_reason, timeout_ms=result.timeout_ms, limit=result.limit, signal=result.signal,
        cancelled=result.cancelled or result.error == execute_run.INTERRUPTED, denied_tools=result.denied_tools,
        leftovers=result.leftovers, unfinished=result.unfinished, tampered=seen.tampered, evidence_missing=missing,
        evidence_faults=faults,
    )  # fmt: skip
    log = [{**entry, "text": masking.mask_keys(entry["text"], secrets), "at": at} for entry in _entries(seen)]
    usage = _usage(context, order, result)
    facts = _write_log(run, facts, log, seen.files, at, secrets)
    ended = turn_runs.finish(
        context, run, facts=facts, log=log, files=seen.files, evidence=evidence, usage=usage, at=at
    )
    return TurnResult(
        run.id, ended["state"], answer, ended["reason"], ended["error_code"], result.denied_tools,
        tuple(seen.changes), usage,
        f"{run.id}-{execution_types.EXECUTE}", result.conversation, result.error,
        result.answers, result.resets_at, result.cost, seen.reached,
    )  # fmt: skip


def _usage(context: Context, order: TurnOrder, result: port.ExecutorResult) -> dict[str, int] | None:
    """What this run used: tokens as the executor counts them, milliseconds, and its own part of the cost."""
    used = {**(result.usage or {}), **({"duration_ms": result.duration_ms} if result.duration_ms else {})}
    if result.usage_is_total and order.conversation is not None:
        # Earlier runs of the turn were of the same conversation; each has its own part on record.
        for run in turn_reader.of_turn(context.connection, order.session_id, order.group_id, order.turn):
            before = strict_json.stored(run.usage) if run.usage else {}
            used |= {name: max(0, used[name] - before.get(name, 0)) for name in result.usage or {}}
    if result.cost is not None:
        used["cost_microusd"] = max(0, result.cost - order.cost_before)
    return used or None


def _evidence(
    context: Context, order: TurnOrder, run: TurnRun, seen: _Seen, at: str
) -> tuple[list[dict[str, Any]], tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Record what was done, and read it back; before that the index has to be the one that the database knows."""
    secrets, root = tuple(context.secrets), attached_evidence.run_root(context.path, run.root)
    known = evidence_and_log.checksum(context, run.session_id)
    _, before = evidence_and_log.inspect_operations(root, run.session_id, (), known) if known else ((), ())
    facts = {
        execution_types.EXECUTE: execution_types.shape(seen.result),
        execution_types.VERIFY: {"folder": run.folder, "files": list(seen.files)},
    }
    written = [
        evidence_and_log.record_operation(
            root, run.session_id, f"{run.id}-{kind}", kind, at=at, facts=masking.mask_keys_value(found, secrets),
            artifacts=snapshot.artifacts(
                seen.changes if kind == execution_types.VERIFY else (), run.folder, secrets
            ),
            compress=order.compress, place=attached_evidence.place(context.path),
        )
        for kind, found in facts.items()
    ]  # fmt: skip
    names = [f"{run.id}-{kind}" for kind in facts]
    missing, faults = evidence_and_log.inspect_operations(root, run.session_id, names, None)
    return [each for each in written if each is not None], missing, (*before, *faults)


def _entries(seen: _Seen) -> list[dict[str, str]]:
    """What the log says, besides the verdict."""
    result = seen.result
    found = [("mode", result.mark), ("prompt", result.prompt), ("blocked", result.blocked_reason)]
    found += [("error", result.error), ("conversation", result.conversation)]
    found += [("denied", each) for each in result.denied_tools]
    found += [("file", f"{each.kind}: {snapshot.told(each.path)}") for each in seen.changes[:LISTED]]
    found += [("tampered", each) for each in seen.tampered[:LISTED]]
    found += [("reached", each) for each in seen.reached[:LISTED]]
    found += [("background", each) for each in result.unfinished]
    return [{"kind": kind, "text": text} for kind, text in found if text and text.strip()]


def _write_log(
    run: TurnRun, facts: TurnFacts, log: Sequence[dict[str, Any]], files: Sequence[dict[str, Any]], at: str,
    secrets: Sequence[str],
) -> TurnFacts:
    """Write the log with the verdict that the facts lead to; where that fails, the turn has failed."""
    verdict = turn_verdict.judge(facts)
    document = {
        "run": run.id, "session_id": run.session_id, "group_id": run.group_id, "turn": run.turn, "role": run.role,
        "status": verdict.state, "reason": verdict.reason, "error_code": verdict.code, "executor": run.executor,
        "started_at": run.started_at, "ended_at": at, "folder": run.folder, "verification_root": run.folder,
        "verified_files": list(files), "blocked_reason": facts.blocked_reason, "timeout_ms": facts.timeout_ms,
        "limit": facts.limit, "events": [*log, {"kind": verdict.state, "text": verdict.reason or "answered", "at": at}],
    }  # fmt: skip
    try:
        task_logs.save_turn(run.root, run.session_id, run.id, masking.mask_keys_value(document, secrets))
    except OrchestratorError as problem:
        return facts._replace(log_error=problem.message)
    return facts
