"""What the answer of a question does to the task that waited for it: it goes on, or is cancelled."""

from __future__ import annotations

from orchestrator.app.engine import dispatch
from orchestrator.app.kernel.context import Answer, Version, Work
from orchestrator.app.task import task_status
from orchestrator.core import questions, tasks
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.questions import ABANDONS
from orchestrator.core.routing.facts import PERSON, Fired, Session, Target
from orchestrator.errors import Refused
from orchestrator.store import task_reader
from orchestrator.store.queries import Row
from orchestrator.store.reader import Agent


class Said(NamedTuple):
    """An answer: the word that was said, which the record of the decision has, and as it is kept."""

    word: str
    decision: str
    note: str


def decide(work: Work, session: Session, version: Version, question: Row, person: Agent, said: Said) -> Answer:
    """Release or cancel the task, and record it as the decision that follows from the answer.

    Raises:
        Refused: what the change of the task is refused with.
    """
    task_id = str(question["task_id"])
    task = task_reader.task(work.reader.connection, session.id, task_id)
    done = "the task is closed already"
    by_run = None
    if question["kind"] in questions.OF_RUNS:
        by_run = work.context.runs.decide(work, question, person, said.decision, said.note)
    if by_run is not None:
        done = by_run
    elif task is not None and not task.closed:
        done = _change(work, task, person, said.decision, said.note)
    record = dispatch.Record(
        current_agent=PERSON,
        response_status=said.word.upper(),
        group=work.group(question["group_id"]) if question["group_id"] else None,
        target=Target(None, "wait"),
        cause="question",
        rules=(Fired("question", f"question {question['id']} was answered by {person.id}: {said.word}"),),
        extras={"question_id": question["id"], "answered": said.word, "task_id": task_id},
        reason=done,
        session_level=True,
    )
    return dispatch.decide(work, session, version, record)


def _change(work: Work, task: tasks.Task, person: Agent, decision: str, note: str) -> str:
    reason = note or f"question answered: {decision}"
    if decision in ABANDONS:
        task_status.change(work, task, tasks.CANCELLED, by=person, reason=reason, cause="question")
        return f"task {task.id} is cancelled"
    if task.status != tasks.BLOCKED:
        return f"task {task.id} goes on"
    try:
        task_status.change(work, task, tasks.IN_PROGRESS, by=person, reason=reason, cause="question")
    except Refused as refusal:
        if refusal.code not in ("DEPENDENCIES_OPEN", "ASSIGNEE_BUSY"):
            raise
        # The answer lifts what it was about; something else still keeps the task from beginning.
        found = task_reader.blockers_of_task(work.context.connection, work.step.chain, task.id)
        lifted = [block.id for block in found]
        task_status.resolve(work, task, lifted, by=person.id, reason=reason, resolution="answered")
        return f"task {task.id} may begin later: {refusal.message}"
    return f"task {task.id} goes on"
