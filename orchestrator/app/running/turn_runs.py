"""The steps of the run of an agent's turn: queued, started, ended by what was seen, or given up.

Its product is a report. It belongs to no task, asks nothing of a person, and its verdict says only whether there is an
answer; what the answer leads to, the router decides.

Source: seed 001, Properties 5, 6, 9, 12, 18, 21, 26 and 35.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from orchestrator.app.kernel.context import Answer, Call, Context, Work, perform
from orchestrator.app.running import run_repository, start_run
from orchestrator.core import strictjson
from orchestrator.core.routing.facts import RUNNER
from orchestrator.core.running import codes, locks, states, turn_verdict
from orchestrator.core.running.turn_verdict import TurnFacts
from orchestrator.core.suggestions import suggest
from orchestrator.errors import Refused, UsageError
from orchestrator.runner import owners
from orchestrator.store import turn_reader
from orchestrator.store.step import Value
from orchestrator.store.turn_reader import TurnRun

MAX_OUTPUT = 65_536
"""Characters of an answer, from its end, that go into the database; the whole is in the evidence file."""


def queue(
    context: Context, *, session_id: str, group_id: str | None, turn: int, role: str, prompt: str, executor: str,
    model: str | None, folder: str, root: str, owner: str, at: str | None = None,
) -> Answer:
    """Queue the run of a turn, for the process that is going to execute it.

    Args:
        group_id: None for a turn of the session itself.
        prompt: what the executor is told.
        folder: where it works, absolute. root: the project, where evidence and log lie.
        owner: the process: host, number and start time.

    Returns:
        `run`, `seq`.

    Raises:
        Refused: UNKNOWN_SESSION, SESSION_CLOSED, UNKNOWN_GROUP. UsageError: a blank prompt.
    """
    given = {
        "group": group_id, "turn": turn, "role": role, "prompt": prompt, "executor": executor, "model": model,
        "folder": folder, "root": root, "owner": owner,
    }  # fmt: skip
    return perform(context, Call("turn queue", session_id, RUNNER, given, at=at), queue_action)


def queue_action(work: Work) -> Answer:
    """The use case itself; a replay calls it with a recorded event's input."""
    given = work.call.input
    session = work.open_session()
    group = given["group"]
    if group is not None and work.group(group) is None:
        what = f"Session {session.id} has no group {group}."
        raise Refused("UNKNOWN_GROUP", what, suggest("group list", session_id=session.id))
    if not given["prompt"].strip():
        raise UsageError("USAGE", "The hand-off of a turn is blank.", "Pass the text that the agent is to read")
    id = _next_id(work)
    work.step.insert(
        "turn_runs", id=id, group_id=group, turn=given["turn"], role=given["role"], prompt=given["prompt"],
        executor=given["executor"], model=given.get("model"), folder=given["folder"], root=given["root"],
        lock_key=locks.turn_key(session.id, group), queued_by=RUNNER, queued_at=work.at, created_seq=work.seq,
        state=states.QUEUED, state_changed_by=RUNNER, state_changed_at=work.at, state_seq=work.seq,
        owner=given["owner"],
    )
    _record(work, id, None, states.QUEUED, f"turn {given['turn']} of {given['role']}")
    return {"success": True, "run": id, "seq": work.seq}


def _next_id(work: Work) -> str:
    """`turn-<milliseconds>`, one more than any before where the clock has not moved on."""
    newest = turn_reader.newest(work.context.connection)
    is_here = newest is not None and newest[1] == work.step.chain
    number = int(newest[0].removeprefix("turn-")) if newest is not None else 0
    there = work.elsewhere("newest turn", 0 if is_here else number) or 0
    return f"turn-{max(run_repository.milliseconds(work.at), (number if is_here else 0) + 1, there + 1)}"


def start(context: Context, run: TurnRun, *, capacity: int, at: str | None = None) -> Answer:
    """Start a queued run, if a place is free for it and nobody holds its folder or its group.

    Args:
        capacity: how many runs may run at once, in all sessions, those of tasks among them.

    Returns:
        `run`, `seq`.

    Raises:
        Refused: ILLEGAL_MOVE, E404 {running} (no place is free), E401 {paths, holders} (held by others).
    """
    given = {"id": run.id, "owner": run.owner, "capacity": capacity}
    return perform(context, Call("turn start", run.session_id, RUNNER, given, at=at), start_action)


def start_action(work: Work) -> Answer:
    """The use case itself; a replay calls it with a recorded event's input."""
    given = work.call.input
    work.open_session()
    run = _require(work, given["id"], states.QUEUED)
    start_run.refuse_full(work, run.id, given["capacity"], writes=True)
    start_run.refuse_locked(work, run.id, start_run.wants(work.context, run))
    _move(work, run, states.RUNNING, f"{run.executor} starts", {"started_at": work.at})
    return {"success": True, "run": run.id, "seq": work.seq}


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
    given = {
        "id": run.id, "facts": plain(facts), "log": [dict(entry) for entry in log],
        "files": [dict(file) for file in files], "evidence": [dict(each) for each in evidence],
        "usage": dict(usage) if usage else None,
    }  # fmt: skip
    return perform(context, Call("turn finish", run.session_id, RUNNER, given, at=at), finish_action)


def finish_action(work: Work) -> Answer:
    """The use case itself; a replay calls it with a recorded event's input."""
    given = work.call.input
    run = _require(work, given["id"], states.RUNNING)
    facts = restored(given["facts"])
    verdict = turn_verdict.judge(facts)
    content = {name: given[name] for name in ("facts", "log", "files")} | {"verdict": list(verdict)}
    run_repository.write_evidence(work, kind="turn", subject=run.id, outcome=verdict.state, content=content)
    for each in given["evidence"]:
        run_repository.write_evidence(work, kind="operation", **each)
    usage = given.get("usage")
    _move(work, run, verdict.state, verdict.reason or "answered", {
        "owner": None, "ended_at": work.at, "reason": verdict.reason, "error_code": verdict.code,
        "blocked_reason": facts.blocked_reason, "timeout_ms": facts.timeout_ms, "limit_name": facts.limit,
        "output": facts.answer or None, "usage": strictjson.canonical(usage) if usage else None,
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


def abandon(
    context: Context, run: TurnRun, *, reason: str, code: str | None = "E503", log: Sequence[Mapping[str, Any]] = (),
    gone: bool | None = None, at: str | None = None,
) -> Answer:
    """End a run as failed that was never started, or whose process is gone or cannot go on with it.

    Args:
        gone: whether its process is gone, or this one; looked at where left out.
        reason: why. code: the error code that fits.
        log: entries of its log, such as what was still found of it.

    Raises:
        Refused: ILLEGAL_MOVE, it has ended or has another owner by now; E405, its process lives.
    """
    owner = str(run.owner)
    if gone is None:
        gone = owner == owners.mine() or owners.is_gone(owner)
    given = {
        "id": run.id, "owner": owner, "reason": reason, "code": code, "log": [dict(entry) for entry in log],
        "lives": not gone,
    }  # fmt: skip
    return perform(context, Call("turn abandon", run.session_id, RUNNER, given, at=at), abandon_action)


def abandon_action(work: Work) -> Answer:
    """The use case itself; a replay calls it with a recorded event's input."""
    given = work.call.input
    run = _require(work, given["id"], states.QUEUED, states.RUNNING)
    if run.owner != given["owner"]:
        raise Refused("ILLEGAL_MOVE", f"{run.id} is run by {run.owner}; nothing changed.", "Nothing is to be done")
    if given.get("lives"):
        raise codes.refused("E405", f"{run.id} holds its group: {run.owner} is not known to be gone.", run=run.id)
    give_up(work, run, given["reason"], given.get("code"), given.get("log", ()))
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
