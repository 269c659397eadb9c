"""Why a task stands where it stands: what blocks it, what it waits for, who has it, and what is done next."""

from __future__ import annotations

from orchestrator.app.kernel.context import Answer, Context
from orchestrator.app.task import answer_next, task_views
from orchestrator.app.task.next_waits import CLOSED_GROUPS
from orchestrator.core import permissions, tasks
from orchestrator.core.permissions import Block
from orchestrator.core.routing.facts import MANAGER
from orchestrator.core.suggestions import sentence, suggest
from orchestrator.core.tasks import Task
from orchestrator.store import queries, snapshot_read, task_reader
from orchestrator.store.queries import Row

LAST_CHANGES = 5
CLOSED = (tasks.DONE, tasks.CANCELLED)


def why(context: Context, session_id: str, task: Task) -> Answer:
    """Why a task is not done, or since when and by whom it is.

    Args:
        task: a task of the session.

    Returns:
        `about: task`, its status, who has it and until when, the open blockers, each with `may_lift`, and questions,
        all that it depends on, the open subtasks, the last changes of its status, the `next` action of who has it
        (null if it is unassigned or needs nothing), and `sentences`.

    Source: seed 002, 完了時チェック.
    """
    with snapshot_read.of(context.connection, context.deadline_s):
        shown = task_views.task(context, id=task.id, session_id=session_id)["task"]
        answer: Answer = {
            "success": True,
            "about": "task",
            "session_id": session_id,
            "task_id": task.id,
            **{name: shown[name] for name in ("group_id", "title", "status", "assignee")},
            "claim": _claim(task, shown["overdue"]),
            "blockers": [_blocker(context, each) for each in shown["blockers"] if each["resolved_seq"] is None],
            "questions": shown["questions"],
            "depends_on": shown["depends_on"],
            "waits_for_groups": [_group(context, session_id, each) for each in shown["waits_for_groups"]],
            "open_subtasks": [each for each in shown["subtasks"] if each["status"] not in CLOSED],
            "changes": _changes(context, session_id, task),
            "next": _next(context, session_id, task),
        }
        return answer | {"sentences": _sentences(context, shown, answer)}


def _claim(task: Task, overdue: bool) -> Answer | None:
    if task.claim_holder is None or task.claim_until is None:
        return None
    return {"holder": task.claim_holder, "until": task.claim_until, "overdue": overdue}


def _blocker(context: Context, row: Row) -> Row:
    opener = task_reader.standing(context.connection, row["opened_by"]) if row["opened_by"] else None
    block = Block(
        row["id"], row["type"], row["class"], row["reason"], row["opened_by"], row["opened_at"], row["cause"]
    )
    return {**row, "may_lift": list(permissions.may_lift(block, opener))}


def _group(context: Context, session: str, group: str) -> Answer:
    found = context.reader.group(session, group)
    return {"id": group, "status": found.status if found else "unknown"}


def _changes(context: Context, session: str, task: Task) -> list[Row]:
    key = {"session": session, "entity": "task", "id": task.id, "limit": LAST_CHANGES}
    return queries.rows(context.reader, queries.LAST_CHANGES, **key)


def _next(context: Context, session: str, task: Task) -> Answer | None:
    """What `next` says to who has the task; None if it is unassigned or needs nothing."""
    agent = context.reader.agent(task.assignee) if task.assignee else None
    found = context.reader.session(session)
    if agent is None or not agent.active or task.status in CLOSED or found is None or found.status == "ended":
        return None
    answer = answer_next.answer(context, session, agent, task)
    return {"agent_id": agent.id, **{name: answer[name] for name in ("action", "state", "instruction")}}


def _ended(said: str, row: Row, task: str, on: str, status: str) -> str:
    """What a task waits for, as a sentence; with the command that drops it where it was cancelled."""
    if status != tasks.CANCELLED:
        return f"{said}."
    drop = suggest("task undepend", id=task, on=on, session_id=row["session_id"], by=MANAGER, reason="TEXT")
    return sentence("{} and will never be done; `{}` drops it.", said, drop)


def _sentences(context: Context, row: Row, answer: Answer) -> list[str]:
    closed = [*_session(context, answer["session_id"]), *_closed_group(context, row)]
    sentences = [_standing(row, answer), *closed]
    sentences += [_blocked(each) for each in answer["blockers"]]
    sentences += [f"Question {each['id']} is open about it: {each['text']}" for each in answer["questions"]]
    waits = [each for each in answer["depends_on"] if not each["satisfied"] and row["status"] not in CLOSED]
    named = (f"It depends on task {each['id']} ({each['title']}), which is {each['status']}" for each in waits)
    sentences += [_ended(said, row, row["id"], each["id"], each["status"])
                  for said, each in zip(named, waits, strict=True)]  # fmt: skip
    above = task_reader.open_above(context.connection, row["session_id"], row["id"]) if _pending(row) else []
    said = "Task {0.of}, which it belongs to, depends on task {0.id}, which is {0.status}"
    sentences += [_ended(said.format(each), row, each.of, each.id, each.status) for each in above]
    groups = answer["waits_for_groups"] if row["status"] not in CLOSED else ()
    sentences += [
        f"Its group {row['group_id']} depends on group {each['id']}, which is {each['status']}." for each in groups
    ]
    parts = answer["open_subtasks"]
    sentences += [f"Its subtask {each['id']} ({each['title']}) is {each['status']}." for each in parts]
    return [*sentences, *_onward(row, answer, waiting=bool(waits or above or groups or closed))]


def _pending(row: Row) -> bool:
    return row["status"] not in (*CLOSED, tasks.IN_PROGRESS)


def _standing(row: Row, answer: Answer) -> str:
    by = row["status_changed_by_agent_id"] or "nobody on record"
    why = answer["changes"][0]["reason"] if answer["changes"] else ""
    reason = f" ({row['blocked_reason'] or why})" if row["blocked_reason"] or why else ""
    has = f"assigned to {row['assignee']}" if row["assignee"] else "unassigned"
    since = f"since {row['status_changed_at']}, by {by}{reason}"
    return f"Task {row['id']} ({row['title']}) is {row['status']} {since}; {has}{_held(answer['claim'])}."


def _held(claim: Answer | None) -> str:
    if claim is None:
        return ""
    over = "; overdue: other agents may take it over" if claim["overdue"] else ""
    return f", claimed by {claim['holder']} until {claim['until']}{over}"


def _session(context: Context, session: str) -> list[str]:
    found = context.reader.session(session)
    return [f"Session {session} is {found.status}."] if found and found.status != "active" else []


def _closed_group(context: Context, row: Row) -> list[str]:
    """That the task's group takes no part any more."""
    found = context.reader.group(row["session_id"], row["group_id"]) if row["group_id"] else None
    if found is None or found.status not in CLOSED_GROUPS or row["status"] in CLOSED:
        return []
    return [f"Its group {row['group_id']} is {found.status}."]


def _blocked(row: Row) -> str:
    by = row["opened_by"] or "nobody on record"
    what = f"Blocker {row['id']} ({row['class']} {row['type']}), opened by {by} at {row['opened_at']}"
    return f"{what}, blocks it: {row['reason']}. May lift it: {', '.join(row['may_lift'])}."


def _onward(row: Row, answer: Answer, *, waiting: bool) -> list[str]:
    found = answer["next"]
    if found is not None:
        return [sentence("Next for {}: {}. {}", found["agent_id"], found["action"], found["instruction"])]
    free = row["assignee"] is None and row["status"] in (tasks.TODO, tasks.BACKLOG)
    if not free or waiting or answer["questions"]:
        return []
    command = suggest("task claim", id=row['id'], session_id=row['session_id'], agent_id="AGENT")
    return [sentence("Nothing blocks it; an agent starts it with `{}`.", command)]
