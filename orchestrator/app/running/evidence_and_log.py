"""What a run leaves on the disk of its project: evidence of each operation, and its log. The database is the source.

Source: seed 001, Properties 7, 18, 21, 26, 30 and 33.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from orchestrator.app.kernel import attached_evidence
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.app.running import current_task_file, execution_types, finish_run, run_repository, run_views
from orchestrator.app.running.execution_types import Done, Job, Seen
from orchestrator.app.running.split_task import Part
from orchestrator.core import masking, strict_json
from orchestrator.core.lifecycle_table import PHASES
from orchestrator.core.running import judgement, limits, mention_outcomes, phases, states
from orchestrator.core.running.evidence import Item
from orchestrator.core.running.facts import DIFF, Facts
from orchestrator.errors import OrchestratorError
from orchestrator.hints import Any
from orchestrator.runner import evidence_files, snapshot, task_logs
from orchestrator.store import run_reader
from orchestrator.store.evidence import CHECKSUM, Place
from orchestrator.store.run_reader import Run


def keep_evidence(
    context: Context, job: Job, seen: Seen, facts: Facts, before: list[dict[str, Any]]
) -> tuple[list[dict[str, Any]], Facts]:
    """Record the evidence of an execution on the disk.

    Args:
        before: the evidence of what was done before in the same run.

    Returns:
        The evidence of all that was done in the run, and the facts with what is missing of it or not sound.
    """
    run = job.run
    known = before[-1]["content"][CHECKSUM] if before else checksum(context, run.session_id)
    facts = _inspected(context, run, [], facts, known) if known is not None else facts
    written, facts = _evidence(context, job, seen, facts)
    return [*before, *written], facts


def end_run(context: Context, done: Sequence[Done], parts: Sequence[Part]) -> Answer:
    """Record the log on the disk, then end the run; what cannot be written there becomes a fact of the run.

    Args:
        done: what was executed, in order.
        parts: into which the run was divided, if it was.

    Returns:
        What `finish_run.finish` answers.
    """
    last, at = done[-1], context.clock()
    run, files = last.job.run, run_views.merged_files(file for each in done for file in _files(each.seen))
    entries = [entry for each in done for entry in _entries(each)] + _phases(done, parts, at)
    log = sorted(entries, key=lambda entry: entry["at"])
    facts = _write_log(context, run, last.facts, log, files, at)
    return finish_run.finish(
        context, session_id=run.session_id, id=run.id, facts=facts, log=log, files=files, evidence=last.evidence,
        violations=[
            {"type": each.type, "limit_value": each.limit, "actual": each.actual, "at": each.at}
            for seen in (each.seen for each in done)
            for each in (*seen.broken, *_tampering(seen, at))
        ],
        answered=last.seen.answered, at=at,
    )  # fmt: skip


def _tampering(seen: Seen, at: str) -> list[limits.Violation]:
    return [limits.Violation(run_views.TOUCHED, 0, len(seen.tampered), at)] if seen.tampered else []


def _evidence(context: Context, job: Job, seen: Seen, facts: Facts) -> tuple[list[dict[str, Any]], Facts]:
    """One record for each operation, and the facts with what is missing or not sound of it when it is read back."""
    run, at, place = job.run, context.clock(), attached_evidence.place(context.path)
    known = {
        execution_types.DIVIDE: {"parts": [list(part.files) for part in job.parts]},
        execution_types.EXECUTE: execution_types.shape(seen.result),
        execution_types.VERIFY: {"files": [_plain(file) for file in _files(seen)]},
        execution_types.CHECK: dict(seen.checks),
    }
    known = masking.mask_keys_value(known, job.secrets)
    ids = {name: execution_types.operation(job, name) for name in execution_types.operations(job, seen)}
    written = [
        record_operation(
            attached_evidence.run_root(context.path, run.verification_root), run.session_id, id, name, at=at,
            facts=known[name],
            artifacts=snapshot.artifacts(
                seen.changes if name == execution_types.VERIFY else (), run.verification_root, job.secrets
            ),
            compress=job.settings.evidence_settings.compression_enabled, place=place,
        )
        for name, id in ids.items()
    ]  # fmt: skip
    return [each for each in written if each is not None], _inspected(context, run, [*ids.values()], facts, None)


def record_operation(
    root: str, session: str, id: str, kind: str, *, at: str, facts: Mapping[str, Any], artifacts: Sequence[Item],
    compress: bool, place: Place,
) -> dict[str, Any] | None:
    """Record one operation on the disk: what the database keeps of it, or None where it could not be recorded.

    What could not be is missed when the evidence is read back.

    Args:
        root: the folder below which evidence of runs is kept. place: where that is, as the record has it.
    """
    try:
        _, checksum = evidence_files.record(
            root, session, id, kind, at=at, facts=facts, artifacts=artifacts, compress=compress
        )
    except OrchestratorError:
        return None
    content = {**facts, "artifacts": [item.path for item in artifacts], CHECKSUM: checksum, **place.recorded()}
    return {"subject": id, "outcome": "recorded", "content": content}


def inspect_operations(
    root: str, session: str, operations: Sequence[str], known: str | None
) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Read the evidence of operations back from the disk.

    Args:
        known: the checksum of the index, where the database has it.

    Returns:
        The operations without evidence, and code and sentence of what is not sound of them or of the index itself.
    """
    found = evidence_files.inspect(root, session, operations, known=known, on_disk=True)
    mine = [problem for problem in found.problems if problem.operation_id in (None, *operations)]
    missing = tuple(each for each in found.missing if each in operations)
    return missing, tuple((problem.code, problem.message) for problem in mine)


def _inspected(context: Context, run: Run, operations: list[str], facts: Facts, known: str | None) -> Facts:
    root = attached_evidence.run_root(context.path, run.verification_root)
    missing, faults = inspect_operations(root, run.session_id, operations, known)
    return facts._replace(evidence_missing=missing, evidence_faults=(*facts.evidence_faults, *faults))


def _files(seen: Seen) -> list[dict[str, Any]]:
    kinds = {snapshot.told(change.path): change.kind for change in seen.changes}
    folders = [
        {"path": path, "change": change, "present": change == snapshot.NEW, "detected_at": seen.looked,
         "detection_method": DIFF}
        for path, change in sorted(seen.folders.items())
    ]  # fmt: skip
    known = {file.path for file in seen.found.files}
    there = [
        {"path": path, "change": None, "present": True, "detected_at": seen.looked, "detection_method": DIFF}
        for path in mention_outcomes.there_already(seen.mentioned) if path in seen.after.files and path not in known
    ]  # fmt: skip
    return folders + there + [
        {
            "path": file.path, "change": kinds.get(file.path), "present": file.exists,
            "detected_at": file.detected_at, "detection_method": file.detection_method,
        }
        for file in seen.found.files
    ]  # fmt: skip


def _plain(file: Mapping[str, Any]) -> dict[str, Any]:
    return {"path": file["path"], "change": file["change"], "exists": file["present"]}


def _entries(done: Done) -> list[dict[str, Any]]:
    """What the log says of an execution, besides its verdict; each with the time at which it was seen."""
    job, seen, result = done.job, done.seen, done.seen.result
    entries: list[dict[str, Any]] = []
    if job.part is not None:
        entries.append({"kind": "part", "text": job.part.sentence()})
    if job.remembered is not None:
        question, reply = job.remembered
        entries.append({"kind": "answered", "text": f"{question} As answered before: {reply}"})
    if result.mark:
        entries.append({"kind": "mode", "text": result.mark})
    if result.prompt:
        entries.append({"kind": "prompt", "text": result.prompt})
    if result.executor_blocked:
        clock = f" {result.limit} timeout_ms={result.timeout_ms}" if result.timeout_ms is not None else ""
        entries.append({"kind": "blocked", "text": f"{result.blocked_reason}{clock}"})
    if result.error:
        entries.append({"kind": "error", "level": run_repository.FULL, "text": result.error})
    entries += [{"kind": "file", "text": f"{each.kind}: {snapshot.told(each.path)}"} for each in seen.changes[:200]]
    if seen.beside:
        entries.append({"kind": "beside", "text": f"worked in the project too: {', '.join(seen.beside[:20])}"})
    entries += [
        {"kind": "unattributed", "text": f"{each.kind}, by whom is not known: {snapshot.told(each.path)}"}
        for each in seen.shared[:200]
    ]
    entries += [{"kind": "tampered", "text": each} for each in seen.tampered[:200]]
    entries += [{"kind": "claim", "text": f"{snapshot.told(each.path)}: {each.why}"} for each in seen.found.problems]
    entries += [{"kind": "proposal", "text": f"not approved: {each}"} for each in result.proposed_tasks]
    entries += [{"kind": "check", "text": f"{name}: {outcome}"} for name, outcome in seen.checks.items() if outcome]
    kept = [
        {**each, "text": masking.mask_keys(each["text"], job.secrets), "at": _time(seen, each["kind"])}
        for each in entries
    ]
    return [each for each in kept if each["text"].strip()]


def _time(seen: Seen, kind: str) -> str:
    """When that of which an entry tells was there or was seen."""
    if kind in ("part", "answered"):
        return seen.began
    if kind in ("file", "beside", "unattributed", "claim"):
        return seen.looked
    return seen.at if kind in ("tampered", "check") else seen.answered


def _phases(done: Sequence[Done], parts: Sequence[Part], at: str) -> list[dict[str, Any]]:
    job, verdict = done[-1].job, judgement.judge(done[-1].facts)
    plan = {"executor": job.executor.name, "executor_timeout_ms": job.limits.executor_timeout_ms}
    made = phases.evidence_of(
        prompt=job.run.prompt, tasks=_states(done, parts, verdict.state), plan=plan, checks=_checks(done),
        verified=verdict.executor_status != states.NO_EVIDENCE, report=verdict.why,
    )  # fmt: skip
    failed = verdict.executor_status in (states.ERROR, states.INVALID)
    times = (*[done[0].seen.began] * 3, done[-1].seen.answered, done[-1].seen.at, at, at)
    walked = phases.walk(made, dict(zip(PHASES, times, strict=True)), fails="EXECUTION" if failed else None)
    return list(walked)


def _states(done: Sequence[Done], parts: Sequence[Part], state: str) -> dict[str, str]:
    """The state of the run, or of each of its parts: those before the last one were complete, later ones not begun."""
    run = done[-1].job.run.id
    if not parts:
        return {run: state}
    under_way = done[-1].job.part.number if done[-1].job.part is not None else len(parts)
    known = [*(states.DONE for _ in parts[: under_way - 1]), state, *(states.QUEUED for _ in parts[under_way:])]
    return {f"{run} part {part.number}": each for part, each in zip(parts, known, strict=True)}


def _checks(done: Sequence[Done]) -> dict[str, str | None]:
    return {name: outcome for each in done for name, outcome in each.seen.checks.items()}


def checksum(context: Context, session: str) -> str | None:
    """What the index of a session's evidence on the disk has to be, as the database has it; None before the first."""
    text = run_reader.last_operation(context.connection, session, attached_evidence.place(context.path).host)
    return None if text is None else strict_json.stored(text).get(CHECKSUM)


def _write_log(
    context: Context, run: Run, facts: Facts, log: list[dict[str, Any]], files: list[dict[str, Any]], at: str
) -> Facts:
    """Write the log with the verdict that the facts lead to; where that fails, the run is an error."""
    verdict = judgement.judge(facts)
    if not states.is_terminal(verdict.state):
        # It goes on when it is answered; its log is written when it ends.
        return facts
    now = run_reader.run(context.connection, run.session_id, run.id) or run
    known: dict[str, Any] = finish_run.values(facts, verdict, None)
    ended = now._replace(**known, state=verdict.state, ended_at=at)
    events = [*log, {"kind": verdict.state, "text": verdict.why, "at": at}]
    try:
        _save(context, ended, events, files)
    except OrchestratorError as problem:
        return facts._replace(log_error=problem.message)
    return facts


def save_log(context: Context, session: str, id: str) -> None:
    """Write the log of a run that has ended, as the database has it, and that it ended, unless its project is gone.

    Raises:
        EnvironmentProblem: OUTPUT_FAILED.
    """
    run = run_reader.run(context.connection, session, id)
    if run is not None and run.ended_at is not None and os.path.isdir(run.verification_root):
        current_task_file.ended(context, run)
        events = run_reader.events(context.connection, session, run.id)
        _save(context, run, events, run_reader.files(context.connection, session, run.id))


def _save(context: Context, run: Run, events: list[dict[str, Any]], files: list[dict[str, Any]]) -> None:
    """Write the log of an ended run, without a key in it."""
    document = {
        "task_id": run.log_id,
        "external_task_id": run.id,
        "session_id": run.session_id,
        "status": run.state,
        "executor_status": run.executor_status,
        "started_at": run.started_at or run.queued_at,
        "ended_at": run.ended_at,
        "error_reason": run.error_reason,
        "error_code": run.error_code,
        "executor_blocked": bool(run.executor_blocked),
        "blocked_reason": run.blocked_reason,
        "timeout_ms": run.timeout_ms,
        "limit": run.limit_name,
        "verification_root": run.verification_root,
        "verified_files": [_verified(file) for file in files],
        "artifacts": [file["path"] for file in files if file["present"]],
        "events": [{"level": run_repository.SUMMARY, **event} for event in events],
    }
    task_logs.save(run.verification_root, run.session_id, masking.mask_keys_value(document, context.secrets))


def _verified(file: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "path": file["path"], "exists": bool(file["present"]), "detected_at": file["detected_at"],
        "detection_method": file["detection_method"],
    }  # fmt: skip
