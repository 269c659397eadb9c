"""The commands and the words of a next action: each sentence names ids and what is to be called."""

from __future__ import annotations

from collections.abc import Iterable

from orchestrator.core import handoff, tasks
from orchestrator.core.next_facts import Barrier, Facts, Item, Payload, Turn
from orchestrator.core.suggestions import Suggestion, sentence, suggest
from orchestrator.core.tasks import Task

UNKNOWN = "unknown"
PRIORITIES = ("urgent", "high", "medium", "low")
"""The words of a priority, at the place of its number."""
_NAMED = 5


def of_task(task: Task) -> Payload:
    """A task as an answer tells of it."""
    return {
        "id": task.id,
        "title": task.title,
        "type": task.type,
        "status": task.status,
        "priority": PRIORITIES[task.priority],
        "group_id": task.group_id,
        "parent_id": task.parent_id,
        "assignee": task.assignee,
    }


def of_blocked(item: Item) -> Payload:
    """A blocked task that can be gone on with."""
    return {**_named(item.task), "blocked_reason": item.task.blocked_reason or UNKNOWN}


def of_stopped(item: Item) -> Payload:
    """A blocked task, and who keeps it so."""
    return {**_named(item.task), "blocked_by": blocker_of(item).opened_by or UNKNOWN}


def of_working(facts: Facts, task: Task) -> Payload:
    """A task under way, and who works at it; overdue once its claim has ended."""
    return {
        "agent_id": task.claim_holder or task.assignee or UNKNOWN,
        **_named(task),
        "last_seen": task.claim_beat_at,
        "claim_until": task.claim_until,
        "overdue": overdue(facts, task),
    }


def _named(task: Task) -> Payload:
    return {"id": task.id, "title": task.title}


def overdue(facts: Facts, task: Task) -> bool:
    """Whether another agent may take over a task under way."""
    return tasks.overdue(task, facts.now, gone=task.holder in facts.gone)


def blocker_of(item: Item) -> Barrier:
    """The blocker of a task to tell of: the first that somebody else must lift, else the first."""
    first = item.barriers[0] if item.barriers else Barrier("", False, UNKNOWN, None, True)
    return next((each for each in item.barriers if not each.liftable and not each.awaits), first)


def listed(names: Iterable[str]) -> str:
    """Names as one part of a sentence; only the first few of many."""
    every = list(names)
    more = f" and {len(every) - _NAMED} more" if len(every) > _NAMED else ""
    return ", ".join(every[:_NAMED]) + more


def turn(facts: Facts, open_: Turn) -> str:
    """That a turn is the asker's, and the command that says what it is about."""
    where = f" on group {open_.group_id}" if open_.group_id else ""
    read = handoff.command(facts.session_id, open_.group_id, open_.number)
    told = "Turn {}{} is open for you: read `{}`, do what it says, and report it."
    return sentence(told, open_.number, where, read)


def of_turn(facts: Facts, open_: Turn) -> Payload:
    """An open turn with the commands to read its hand-off and to report on it."""
    session, group, number = facts.session_id, open_.group_id, open_.number
    return {
        "group_id": group,
        "agent": open_.agent,
        "agent_id": open_.agent_id,
        "model": open_.model,
        "action": open_.action,
        "turn": number,
        "handoff": handoff.command(session, group, number),
        "report_command": handoff.report_command(session, group, open_.agent or UNKNOWN, number),
    }


def set_status(facts: Facts, task: str, status: str, reason: str | None = None) -> Suggestion:
    """The command that moves a task."""
    by = {"session_id": facts.session_id, "by": facts.agent_id, "reason": reason}
    return suggest("task set-status", id=task, status=status, **by)


def claim(facts: Facts, task: str, agent: str) -> Suggestion:
    """The command that claims a task."""
    return suggest("task claim", id=task, session_id=facts.session_id, agent_id=agent)


def again(facts: Facts, task: str | None = None) -> Suggestion:
    """The command that asks anew."""
    return suggest("next", session_id=facts.session_id, agent_id=facts.agent_id, task=task)


def undepend(facts: Facts, task: str, dependency: str) -> Suggestion:
    """The command that drops a dependency of a task or of a group."""
    words = "group undepend" if task.startswith("group ") else "task undepend"
    ends = {"id": task.removeprefix("group "), "on": dependency.removeprefix("group ")}
    by = facts.dropper(task, dependency)
    return suggest(words, **ends, session_id=facts.session_id, by=by, reason="TEXT")


def answering(facts: Facts, item: Item | None) -> Suggestion:
    """The command by which a person goes on with what waits for one."""
    question = item.question if item is not None else facts.question
    if question is not None:
        return suggest("answer", id=question.id, decision="continue", note="TEXT")
    hard = next(each.id for each in item.barriers if each.hard) if item else ""
    by = {"session_id": facts.session_id, "by": facts.person() or None, "reason": "TEXT"}
    return suggest("blocker resolve", id=hard, **by)
