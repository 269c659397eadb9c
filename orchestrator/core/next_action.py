"""What an agent does next: one ordered list of rules over facts; the first that matches answers.

Source: seed 002, 完了時チェック and pendingSubTasks の依存関係フィルタリング.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

from orchestrator.core import next_words as words
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.next_facts import Facts, Item, Payload
from orchestrator.core.suggestions import joined, sentence
from orchestrator.core.tasks import BLOCKED, CANCELLED, DONE, IN_PROGRESS, PENDING, Task
from orchestrator.hints import Any, cast


class Reply(NamedTuple):
    """What a rule answers: the action, the state it is taken in, one sentence, and the keys of this action."""

    action: str
    state: str
    instruction: str
    payload: Payload


Rule = Callable[[Facts], Reply | None]


def answer(facts: Facts) -> dict[str, Any]:
    """What the asker does next.

    Returns:
        `action`, `state`, `instruction`, the keys of the action, `turns` (the open ones of the asker), `progress`,
        `notices`.

    Source: seed 002, 完了時チェック.
    """
    turns = facts.turns()
    found = next(reply for reply in (rule(facts) for rule in RULES) if reply is not None)
    return {
        "action": found.action,
        "state": found.state,
        "instruction": _first_of_all(facts, found.action) + found.instruction + _meanwhile(facts, found.action),
        **found.payload,
        "turns": [words.of_turn(facts, each) for each in turns],
        "progress": progress(facts),
        "notices": [each._asdict() for each in facts.notices],
    }


WAITING = ("wait_for_review", "wait_for_unblock", "wait_for_dependencies", "wait")
"""Actions in which the asker does nothing about its main task."""


def _first_of_all(facts: Facts, action: str) -> str:
    """The open turns of who could take a task: what a turn is about comes first."""
    turns = [words.turn(facts, each) for each in facts.turns()] if action == "get_task" else []
    return joined([part for each in turns for part in (each, " ")])


def _meanwhile(facts: Facts, action: str) -> str:
    """What else is the asker's and can go on, so that two who wait for each other's subtasks do not stall."""
    other = facts.elsewhere() if action in WAITING else None
    return sentence(" Meanwhile {} is yours: call `{}`.", other, words.again(facts, other)) if other else ""


def progress(facts: Facts) -> dict[str, int]:
    """How many subtasks the main task has, and how many of each kind."""
    counts = facts.counts
    return {
        "total": sum(counts.values()),
        "done": counts.get(DONE, 0),
        "cancelled": counts.get(CANCELLED, 0),
        "in_progress": counts.get(IN_PROGRESS, 0),
        "pending": sum(counts.get(status, 0) for status in PENDING),
        "blocked": counts.get(BLOCKED, 0),
    }


def _review(facts: Facts) -> Reply | None:
    question = facts.question
    if question is None:
        return None
    instruction = sentence(
        "Wait: question {} is for a person, who answers it by `{}`; then call `{}`.", question.id,
        words.answering(facts, None), words.again(facts, facts.main.task.id if facts.main else None),
    )  # fmt: skip
    payload = {"question_id": question.id, "reason": question.reason or words.UNKNOWN}
    return Reply("wait_for_review", "awaiting_person", instruction, payload)


def _task_to_get(facts: Facts) -> Reply | None:
    if facts.main is not None or facts.candidate is None:
        return None
    task = facts.candidate
    claim = words.claim(facts, task.id, facts.agent_id)
    payload = {"task": words.of_task(task)}
    return Reply("get_task", "needs_task", sentence("Take task {} by `{}`.", task.id, claim), payload)


def _no_task_without_a_decision(facts: Facts) -> Reply | None:
    return _decide(facts, facts.dead_end) if facts.main is None and facts.dead_end else None


def _no_work(facts: Facts) -> Reply | None:
    main = facts.main
    if main is None:
        why = facts.why_none
    elif main.task.status in (DONE, CANCELLED):
        why = f"Task {main.task.id} is {main.task.status}."
    else:
        return None
    return _nothing(facts, why)


def _nothing(facts: Facts, why: str) -> Reply:
    turns = joined([words.turn(facts, each) for each in facts.turns()], " ")
    if turns:
        instruction = sentence("{} Then ask again by `{}`.", turns, words.again(facts))
        return Reply("take_turn", "turn_open", instruction, {"why": sentence("{} {}", why, turns)})
    instruction = sentence("{} Ask again later by `{}`.", why, words.again(facts))
    return Reply("no_work", "needs_task", instruction, {"why": why})


def _full(facts: Facts) -> Reply:
    """What is answered instead of what would put one task more in progress than there is room for."""
    return _nothing(facts, f"{words.listed(facts.busy)} must end first: no more can be in progress at a time.")


def _blocked_main(facts: Facts) -> Reply | None:
    if facts.task.status != BLOCKED:
        return None
    main = cast(Item, facts.main)
    found = _first(_BLOCKED, facts, (main,))
    if found is None:
        return None
    if found.action == "unblock_and_continue" and facts.busy:
        return _full(facts)
    named = {key: value for key, value in found.payload.items() if key not in ("blocked_subtask", "blocked_subtasks")}
    told = words.of_blocked if found.action == "unblock_and_continue" else words.of_stopped
    return found._replace(payload={**named, "blocked_task": told(main)})


def _first(rules: tuple[Callable[[Facts, tuple[Item, ...]], Reply | None], ...], facts: Facts,
           items: tuple[Item, ...]) -> Reply | None:  # fmt: skip
    return next((reply for reply in (rule(facts, items) for rule in rules) if reply is not None), None)


def _waiting_main(facts: Facts) -> Reply | None:
    return _waiting(facts) if cast(Item, facts.main).waits else None


def _work(facts: Facts) -> Reply | None:
    if facts.counts:
        return None
    task = facts.task
    if facts.manager and task.assignee not in (None, facts.agent_id):
        return _wait(facts, (task,)) if task.status == IN_PROGRESS else _dispatch(facts, task)
    if facts.busy:
        return _full(facts)
    done = words.set_status(facts, task.id, DONE)
    instruction = sentence("Work on task {}, and when it is done, call `{}`.", task.id, done)
    if task.status in PENDING:
        claim = words.claim(facts, task.id, facts.agent_id)
        instruction = sentence("Begin task {} by `{}`, and work on it.", task.id, claim)
    return Reply("work", "execute_task", instruction, {})


def _subtask_at_work(facts: Facts) -> Reply | None:
    mine = [task for task in facts.working if task.assignee in (None, facts.agent_id)]
    if mine:
        task = mine[0]
        done = words.set_status(facts, task.id, DONE)
        instruction = sentence("Work on subtask {}, and when it is done, call `{}`.", task.id, done)
        if facts.parted(task):
            go_on = words.again(facts, task.id)
            instruction = sentence("Go on with subtask {}, which has parts of its own, by `{}`.", task.id, go_on)
        payload = {"current_subtask": words.of_task(task)}
        return Reply("execute_subtask", "executing_subtask", instruction, payload)
    return _wait(facts, facts.working) if facts.manager and facts.working else None


def _wait(facts: Facts, working: tuple[Task, ...]) -> Reply:
    who = [words.of_working(facts, task) for task in working]
    late = [task for task in working if words.overdue(facts, task)]
    at_work = words.listed(f"{each['agent_id']} ({each['id']})" for each in who)
    instruction = sentence("Wait for {}, then call `{}`", at_work, words.again(facts, facts.task.id))
    if late:
        claim = words.claim(facts, late[0].id, "AGENT")
        overdue = words.listed(task.id for task in late)
        instruction += sentence("; {} is overdue and may be taken over by `{}`", overdue, claim)
    elif facts.ready is not None and facts.workers:
        claim = words.claim(facts, facts.ready.id, facts.workers[0].id)
        instruction += sentence("; meanwhile {} may begin by `{}`", facts.ready.id, claim)
    return Reply("wait", "executing_subtask", instruction + ".", {"who_works": who})


def _ready_subtask(facts: Facts) -> Reply | None:
    task = facts.ready
    if task is None:
        return None
    if facts.manager and task.assignee != facts.agent_id:
        return _dispatch(facts, task)
    instruction = sentence("Start subtask {} by `{}`.", task.id, words.set_status(facts, task.id, IN_PROGRESS))
    return Reply("start_subtask", "start_next_subtask", instruction, {"next_subtask": words.of_task(task)})


def _dispatch(facts: Facts, task: Task) -> Reply:
    workers = [each._asdict() for each in facts.workers]
    if workers:
        claim = words.claim(facts, task.id, facts.workers[0].id)
        to = words.listed(each.id for each in facts.workers)
        instruction = sentence("Hand subtask {} to {}, by `{}`.", task.id, to, claim)
    else:
        instruction = sentence("No worker is free for subtask {}; ask again by `{}`.", task.id, words.again(facts))
    payload = {"subtask": words.of_task(task), "available_workers": workers}
    return Reply("dispatch", "start_next_subtask", instruction, payload)


def _own_block(facts: Facts, items: tuple[Item, ...]) -> Reply | None:
    for item in items:
        if item.waits or any(each.hard or not each.liftable for each in item.barriers):
            continue
        task = item.task
        resume = words.set_status(facts, task.id, IN_PROGRESS, "TEXT")
        instruction = sentence("Unblock {} by `{}`, and go on with it.", task.id, resume)
        payload = {"blocked_subtask": words.of_blocked(item)}
        return Reply("unblock_and_continue", "has_self_blocked_subtask", instruction, payload)
    return None


def _hard_block(facts: Facts, items: tuple[Item, ...]) -> Reply | None:
    item = next((each for each in items if any(barrier.hard for barrier in each.barriers)), None)
    if item is None:
        return None
    barrier = next(each for each in item.barriers if each.hard)
    instruction = sentence(
        "Wait: only a person may lift blocker {} of {}, by `{}`; then call `{}`.", barrier.id, item.task.id,
        words.answering(facts, item), words.again(facts),
    )  # fmt: skip
    reason = item.question.reason if item.question else barrier.reason
    payload = {"question_id": item.question.id if item.question else None, "reason": reason or words.UNKNOWN}
    return Reply("wait_for_review", "awaiting_person", instruction, payload)


def _foreign_block(facts: Facts, items: tuple[Item, ...]) -> Reply | None:
    foreign = [item for item in items if any(not each.liftable and not each.awaits for each in item.barriers)]
    if not foreign:
        return None
    stopped = [words.of_stopped(item) for item in foreign]
    who = words.listed(f"{each['id']} (by {each['blocked_by']})" for each in stopped)
    instruction = sentence("Wait until others lift what blocks {}, then call `{}`.", who, words.again(facts))
    payload = {"blocked_subtasks": stopped}
    return Reply("wait_for_unblock", "has_external_blocked_subtask", instruction, payload)


_BLOCKED = (_own_block, _hard_block, _foreign_block)


def _blocked_subtasks(facts: Facts) -> Reply | None:
    return _first(_BLOCKED, facts, facts.blocked)


def _waiting_subtasks(facts: Facts) -> Reply | None:
    counts = progress(facts)
    return _waiting(facts) if any(counts[name] for name in ("pending", "blocked", "in_progress")) else None


def _waiting(facts: Facts) -> Reply:
    # A walk that comes upon neither a root nor a dead end has gone round a ring.
    return _others_work(facts) or _dead_end(facts) or _ring(facts)


def _others_work(facts: Facts) -> Reply | None:
    roots = [facts.describe(name) for name in facts.walk().roots]
    if not roots:
        return None
    who = words.listed(_said(each.kind, each.id, each.status, each.assignee) for each in roots)
    instruction = sentence("Wait for {}, then call `{}`.", who, words.again(facts, facts.task.id))
    own = next((each for each in roots if each.assignee == facts.agent_id and each.status in PENDING), None)
    if own is not None and facts.elsewhere() is None:
        claim = words.claim(facts, own.id, "AGENT")
        instruction += sentence(
            " {} is yours, and there is no room for it now: let another agent take it by `{}`.", own.id, claim
        )
    payload = {"root_causes": [each._asdict() for each in roots]}
    return Reply("wait_for_dependencies", "waiting_on_dependencies", instruction, payload)


def _said(kind: str, name: str, status: str, assignee: str | None) -> str:
    if kind == "blocker":
        return f"blocker {name} of its group to be lifted"
    return f"{kind} {name} ({status}, {assignee or 'nobody has it'})" if kind == "task" else f"{kind} {name} ({status})"


def _dead_end(facts: Facts) -> Reply | None:
    end = facts.walk().dead_end
    return _decide(facts, end) if end else None


def _decide(facts: Facts, end: tuple[str, str]) -> Reply:
    task, dependency = end
    waiting = task
    if dependency.startswith("group ") and not task.startswith("group "):
        waiting = f"group {facts.describe(task).group_id}"
    drop = words.undepend(facts, waiting, dependency)
    instruction = sentence(
        "Decide: {} depends on {}, of which nothing will come; drop that by `{}`.", task, dependency, drop
    )
    return Reply("needs_decision", "dependency_cancelled", instruction, {"task": task, "dependency": dependency})


def _ring(facts: Facts) -> Reply:
    ring = facts.walk().ring
    edges = list(itertools.pairwise(ring))
    # What a task or group contains stays in it; what a task depends on can be dropped.
    edge = next((each for each in edges if _of_tasks(each) and not _of_parts(facts, each)), edges[0])
    drop = words.undepend(facts, *edge)
    then = words.again(facts, facts.task.id)
    instruction = sentence("Break the ring {} by `{}`, then call `{}`.", " -> ".join(ring), drop, then)
    return Reply("dependency_deadlock", "dependency_deadlock", instruction, {"ring": list(ring)})


def _of_parts(facts: Facts, edge: tuple[str, str]) -> bool:
    one, other = edge
    return facts.describe(other).parent_id == one or facts.describe(one).parent_id == other


def _of_tasks(edge: tuple[str, str]) -> bool:
    return not any(name.startswith("group ") for name in edge)


def _complete(facts: Facts) -> Reply | None:
    if not facts.counts.get(DONE):
        return None
    main = facts.task
    if facts.busy:
        return _full(facts)
    finish = sentence("`{}`", words.set_status(facts, main.id, DONE))
    if main.status in PENDING:
        finish = sentence("`{}` and then {}", words.set_status(facts, main.id, IN_PROGRESS), finish)
    action = "completion_check" if facts.manager else "report_completion"
    what = "Check the work on" if facts.manager else "Report"
    instruction = sentence("{} task {}, and complete it by {}.", what, main.id, finish)
    return Reply(action, "needs_completion", instruction, {})


def _all_cancelled(facts: Facts) -> Reply:
    main = facts.task.id
    cancel = words.set_status(facts, main, CANCELLED, "TEXT")
    instruction = sentence(
        "Decide: every subtask of {} is cancelled; give it new ones, or cancel it by `{}`.", main, cancel
    )
    return Reply("needs_decision", "all_cancelled", instruction, {"task": main})


RULES: tuple[Rule, ...] = (
    _review,
    _task_to_get,
    _no_task_without_a_decision,
    _no_work,
    _blocked_main,
    _waiting_main,
    _work,
    _subtask_at_work,
    _ready_subtask,
    _blocked_subtasks,
    _waiting_subtasks,
    _complete,
    _all_cancelled,
)
"""The rules in their order; the first that answers is the answer."""
