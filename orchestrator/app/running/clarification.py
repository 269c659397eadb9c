"""What stands between a task and its executor: whether it is clear and confirmed, and what was answered about it.

Source: seed 001, Property 19; seed 000, INV-2.
"""

from __future__ import annotations

from orchestrator.app.kernel.context import Context
from orchestrator.app.running import requested_files
from orchestrator.core import questions
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.running import advice, ambiguity, blocked_output, states
from orchestrator.core.suggestions import joined
from orchestrator.errors import UsageError
from orchestrator.store import run_reader
from orchestrator.store.run_reader import Run

UNCONFIRMED = "not_confirmed"


class Doubt(NamedTuple):
    """Why no executor sees a run yet: the reason as one word, what is asked, and by which kind of question."""

    reason: str
    question: str
    kind: str


def doubt(context: Context, run: Run) -> Doubt | None:
    """Why a run is not given to an executor before somebody has answered, or None.

    A destructive one needs a yes each time. What was answered before in this session is not asked again.
    """
    if run.task_type in blocked_output.BLOCKABLE and not _confirmed(context, run):
        return Doubt(UNCONFIRMED, blocked_output.fallback(run.task_type, None), questions.CONFIRMATION)
    if _asked(context, run) or run.retry_of is not None:
        return None
    found = _unclear(context, run)
    if found is None or _remembered(context, run, found.question) is not None:
        return None
    return Doubt(found.reason, found.question, questions.REPLY)


def prompt(context: Context, run: Run) -> str:
    """What the executor is told: what was asked for, with what was answered about it."""
    asked = _asked(context, run)
    if asked is not None:
        told = asked["answer"] in questions.GOES_ON and asked["note"]
        return f"{run.prompt}\n\n{pair(asked['text'], asked['note'])}" if told else run.prompt
    found = _unclear(context, run) if run.retry_of is None else None
    reply = _remembered(context, run, found.question) if found is not None else None
    return f"{run.prompt}\n\n{pair(found.question, reply)}" if found is not None and reply is not None else run.prompt


def remembered(context: Context, run: Run) -> tuple[str, str] | None:
    """Question and answer that an earlier answer of the session settled for this run."""
    if _asked(context, run) is not None or run.retry_of is not None:
        return None
    found = _unclear(context, run)
    reply = _remembered(context, run, found.question) if found is not None else None
    return (found.question, reply) if found is not None and reply is not None else None


def recalled(context: Context, run: Run, question: str, before: tuple[str, str] | None) -> str | None:
    """The reply that the session has for what an executor asks, unless the executor was told it already.

    Args:
        before: question and answer of the session that the executor was told beforehand.
    """
    own = _asked(context, run)
    told = [own["text"]] if own is not None else []
    told += [before[0]] if before is not None else []
    if ambiguity.normalised(question) in map(ambiguity.normalised, told):
        return None
    return _remembered(context, run, question)


def word(text: str) -> str | None:
    """The decision that a person's one word stands for, or None; words among others decide nothing."""
    return {"yes": questions.YES, "y": questions.YES, "no": questions.NO, "n": questions.NO}.get(text.strip().lower())


def yes_or_no(text: str) -> str:
    """The decision that a person's word stands for.

    Raises:
        UsageError: USAGE, it is neither yes nor no.
    """
    found = word(text)
    if found is None:
        ways = joined([advice.typed("/respond yes"), advice.typed("/respond no")], ", or ")
        raise UsageError("USAGE", "Answer yes or no.", ways)
    return found


def pair(question: str, reply: str) -> str:
    """A question and its answer, as an executor is told them."""
    return f"Question: {question}\nAnswer: {reply}"


def _asked(context: Context, run: Run) -> run_reader.Row | None:
    return run_reader.question(context.connection, run.question_id) if run.question_id else None


def _confirmed(context: Context, run: Run) -> bool:
    """Whether a person said yes to this run, or to the one that it tries again."""
    before = run_reader.run(context.connection, run.session_id, run.retry_of) if run.retry_of else None
    rows = [_asked(context, each) for each in (run, before) if each is not None]
    return any(row and row["kind"] == questions.CONFIRMATION and row["answer"] == questions.YES for row in rows)


def _unclear(context: Context, run: Run) -> ambiguity.Doubt | None:
    """What is not clear in a run's task; which run is not finished, where the task only says to go on."""
    root = run.verification_root
    found = ambiguity.doubt(requested_files.relative(run.prompt, root), requested_files.named(run.prompt, root))
    if found is None or found.reason != ambiguity.TASK_AMBIGUOUS:
        return found
    left = unfinished(context, run)
    return found if left is None else found._replace(question=f"Run {left.id} is not finished. {found.question}")


def unfinished(context: Context, run: Run) -> Run | None:
    """The last run before this one in its project, where it is not finished; who only said to go on does not count."""
    last = run_reader.last_session(context.connection, run.verification_root, run.session_id)
    runs = [each for session in (last, run.session_id) if session is not None
            for each in run_reader.of_session(context.connection, session)]  # fmt: skip
    worked = [each for each in runs if each.id != run.id and each.error_reason != ambiguity.TASK_AMBIGUOUS]
    return worked[-1] if worked and worked[-1].state == states.UNFINISHED else None


def _remembered(context: Context, run: Run, question: str) -> str | None:
    known = [
        ambiguity.Answered(run.session_id, asked, reply)
        for asked, reply in run_reader.answered(context.connection, run.session_id)
    ]
    return ambiguity.recall(known, run.session_id, question, run.task_type)
