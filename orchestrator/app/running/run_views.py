"""Runs as people and programs see them, secrets masked. Lists and logs come from one statement, so that they agree.

Source: seed 001, Properties 25, 27 and 30.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from orchestrator.app.kernel.context import Answer, Context
from orchestrator.app.running import orphaned_runs, requested_files, run_repository
from orchestrator.core import masking, questions, strict_json, task_types
from orchestrator.core.running import advice, facts, states, summary, visibility
from orchestrator.hints import Any
from orchestrator.runner import snapshot
from orchestrator.store import run_reader
from orchestrator.store.run_reader import Run

TOUCHED = "touched_files"
"""The type of the violation of a run during which settings or records were touched."""

_SHOWN = (
    "id", "log_id", "session_id", "task_id", "prompt", "task_type", "state", "executor_status", "executor", "provider",
    "model", "retry_of", "queued_at", "started_at", "ended_at", "error_code", "error_reason", "blocked_reason",
    "timeout_ms", "files_modified_count", "output", "verification_root",
)  # fmt: skip


def runs(context: Context, session: str) -> list[Answer]:
    """The runs of a session in the order in which they were queued: /tasks and /logs both list these."""
    return [run_row(context, run) for run in run_reader.of_session(context.connection, session)]


def run_row(context: Context, run: Run, *, files: bool = True) -> Answer:
    """A run without its log.

    Args:
        files: its files are read; there may be many thousand.
    """
    row = {name: getattr(run, name) for name in _SHOWN}
    question = run_reader.question(context.connection, run.question_id) if run.question_id else None
    rows = merged_files(run_reader.files(context.connection, run.session_id, run.id)) if files else []
    found: Answer = {
        **row,
        "group_id": run.session_id,
        "status": states.word_of(run.state) or run.state.upper(),
        "executor_blocked": bool(run.executor_blocked),
        "limit": run.limit_name,
        "question": _question(question),
        "verified_files": [_file(each) for each in rows],
        "artifacts": [each["path"] for each in rows if each["present"]],
        "violations": run_reader.violations(context.connection, run.session_id, run.id),
    }
    if orphaned_runs.is_gone(context.connection, run):
        found["error_reason"] = orphaned_runs.notice(run)
    return masked(found)


def _question(row: dict[str, Any] | None) -> Answer | None:
    """The question, while it is open."""
    if row is None or row["closed_at"] is not None:
        return None
    return {"id": row["id"], "kind": row["kind"], "text": row["text"]}


def _file(row: dict[str, Any]) -> Answer:
    return {
        "path": row["path"], "exists": bool(row["present"]), "detected_at": row["detected_at"],
        "detection_method": row["detection_method"], "change": row["change"],
    }  # fmt: skip


def run_log(
    context: Context, session: str, id: str, level: str = run_repository.SUMMARY, known: Answer | None = None
) -> Answer:
    """A run with the events of its log, by its id outside or in the log.

    Args:
        level: `full` shows what executors wrote and what the runner did inside; anything else means summary.
        known: the run as `run_row` shows it, where that was read already.

    Raises:
        Refused: UNKNOWN_ID; MASKING_FAILED, a secret is still there after masking.
    """
    run = run_reader.run(context.connection, session, id)
    if run is None:
        ids = [each.id for each in run_reader.of_session(context.connection, session)]
        raise run_repository.unknown(id, ids)
    found = dict(run_row(context, run) if known is None else known)
    events = run_reader.events(context.connection, session, run.id)
    shown = visibility.shown((visibility.Entry(**event) for event in events), level, masking.mask)
    found["events"] = [entry._asdict() for entry in shown]
    if visibility.level(level) != visibility.FULL:
        found.pop("output")
    return found


def tree(context: Context, session: str) -> list[Answer]:
    """The session's runs by thread: each first run with the runs that tried its task again, oldest first."""
    threads: dict[str, Answer] = {}
    for row in runs(context, session):
        thread = threads.setdefault(row["task_id"], {"task_id": row["task_id"], "prompt": row["prompt"], "runs": []})
        thread["runs"].append(row)
    return list(threads.values())


def describe(context: Context, run: Run, known: Answer | None = None) -> Answer:
    """A run with why it stands where it stands, what to do next, and a hint, as its summary tells them.

    Args:
        known: the run as `run_row` shows it, where that was read already.
    """
    found = run_row(context, run) if known is None else known
    asked = found["question"] if run.state in (states.UNFINISHED, states.AWAITING) else None
    events = run_reader.events(context.connection, run.session_id, run.id) if states.is_terminal(run.state) else []
    by = requested_files.type_by(context, run)
    said = " ".join(asked["text"].split()) if asked else found["error_reason"] or why(context, run)
    describe = {"why": said, "next": _next(found), "hint": _hint(run, found["question"], events)}
    guessed = by == requested_files.GUESS and states.is_terminal(run.state)
    mentioned = _mentioned(context, run)
    if guessed or (run.state == states.DONE and run.task_type in task_types.ANSWERS):
        untouched = mentioned["mentioned_untouched"]
        describe["why"] = _worth(run, said, found["verified_files"], untouched, guessed=guessed)
    if guessed and run.state == states.DONE:
        describe |= {"hint": summary.TYPE_GUESSED}
    if run.state == states.FAILED and str(run.error_reason).startswith(orphaned_runs.LOST):
        describe["next"] = orphaned_runs.again(run)
    if _is_tampered(found):
        describe |= {"next": advice.filled(_LOOK, run.id), "hint": _TAMPERED}
    found |= {"type_by": by, "judged_as": _judged_as(run, found["verified_files"], by), **mentioned}
    found["complete_if"] = _COMPLETE_IF[found["judged_as"] in task_types.ANSWERS]
    return {**found, **{name: text for name, text in describe.items() if text is not None}}


_COMPLETE_IF = {
    True: "COMPLETE needs an answer",
    False: "COMPLETE needs changed content, including what the task mentions",
}


def _judged_as(run: Run, files: Sequence[Answer], by: str) -> str:
    """The type that a run is judged as: where it was guessed, what changed decides."""
    if by != requested_files.GUESS or run.task_type == task_types.DANGEROUS_OP:
        return run.task_type
    return task_types.LIGHT_EDIT if any(file["change"] for file in files) else task_types.READ_INFO


def _mentioned(context: Context, run: Run) -> Answer:
    """What the task mentions and was not touched, what was touched and is not mentioned, and deletions not ordered."""
    text = run_reader.judged(context.connection, run.session_id, run.id)
    known = strict_json.stored(text)["facts"] if text is not None else {}
    names = {"mentioned_untouched": "untouched", "touched_unmentioned": "unmentioned", "deleted_unordered": "stray"}
    return {name: list(known.get(fact, ())) for name, fact in names.items()}


def _worth(run: Run, said: str, files: Sequence[Answer], untouched: Sequence[str], *, guessed: bool) -> str:
    """What the end of a task that wanted an answer is worth: what was checked, and what happened besides."""
    touched = [f"{file['path']} ({file['change']})" for file in files if file["change"]]
    if guessed and touched:
        judged = f"as files changed it was judged as {task_types.LIGHT_EDIT}"
        return f"{said} {run.task_type} as the task's type was guessed; {judged}."
    if guessed and run.state == states.DONE:
        said = "An answer was given; nothing was checked on disk;"
        named = f" {facts.UNTOUCHED}: {facts.some(untouched)}." if untouched else ""
        return f"{said} {run.task_type} as the task's type was guessed.{named}"
    if guessed:
        return f"{said} {run.task_type} as the task's type was guessed."
    if not touched or run.task_type != task_types.READ_INFO:
        return said
    return f"{said} Only an answer was wanted, but files were changed: {facts.some(touched)}."


def _next(row: Answer) -> str | None:
    """What to do next about a run that is not complete."""
    question = row["question"]
    if row["state"] != states.UNFINISHED:
        return None
    if question is None:
        return advice.filled("{logs} shows what is missing; then enter the task again", row["id"])
    if question["kind"] == questions.CONTINUATION:
        return advice.filled("{logs} shows what is missing; {later}, lets it go on", row["id"])
    decision = questions.decisions(question["kind"], question["text"])[0]
    return questions.command(question["id"], decision, question["kind"])


_LOOK = "{full} lists what was touched; check it before you run anything else here"
_TAMPERED = "If you edited it yourself, enter the task again; otherwise restore it, and do not trust this executor"


def _is_tampered(row: Answer) -> bool:
    return any(each["type"] == TOUCHED for each in row["violations"])


_HINTS = {
    questions.CONFIRMATION: "It destroys something, so it was not started: yes starts it, no cancels it",
    questions.REPLY: "The executor gets the answer with the task; or enter the task again with the answer in it",
    questions.CONTINUATION: "What was done stays; yes continues with the rest. The question expires after 30 minutes",
}
"""What helps where something is asked, by the kind of the question."""


def _hint(run: Run, asked: Answer | None, events: Sequence[Answer]) -> str | None:
    """What helps: about the question that is open, the clock or prompt that ended the executor, or else the error."""
    if run.state == states.UNFINISHED and asked is not None:
        return _HINTS.get(asked["kind"])
    if run.executor_blocked:
        return summary.blocked(run.blocked_reason, run.limit_name, run.timeout_ms)
    if run.state not in (states.UNFINISHED, states.FAILED):
        return None
    if advised := [str(event["text"]) for event in events if event["kind"] == run_repository.ADVICE]:
        return advised[-1]
    verdicts = [event["text"] for event in events if event["kind"] == "verdict"]
    rule = summary.rule(verdicts[-1] if verdicts else None)
    return summary.hint(rule, run.state, run.error_reason, run.error_code, run.id)


def why(context: Context, run: Run) -> str:
    """Why a run stands where it stands, in one line."""
    events = run_reader.events(context.connection, run.session_id, run.id)
    said = [event["text"] for event in events if event["kind"] == run.state]
    return said[-1] if said else run.state


def masked(found: Answer) -> Answer:
    """The same with every secret pattern masked; what cannot be masked is not shown."""
    shown: Answer = masking.mask_value(found)
    return shown


def merged_files(files: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each file once, as it is at last; what was new before and changed since is new.

    Args:
        files: rows with `path`, `change` and `present` at least, those of earlier executions first.
    """
    found: dict[str, dict[str, Any]] = {}
    for file in files:
        known = found.get(file["path"])
        if known is not None and file["change"] is None and file["present"]:
            continue
        new = known is not None and (known["change"], file["change"]) == (snapshot.NEW, snapshot.CHANGED)
        found[file["path"]] = {**file, "change": snapshot.NEW} if new else file
    return list(found.values())
