"""Every row of the table of next actions, for workers and for managers: action, state and the keys of the answer."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.core import next_action
from orchestrator.core.next_facts import Facts, Item, Notice, Root, Worker
from tests.cases import every
from tests.unit.tasks.build import (
    BOSS,
    ME,
    asked,
    blocked,
    facts,
    hard,
    managed,
    soft,
    task,
    walked,
)

ALWAYS = {"action", "state", "instruction", "progress", "notices", "turns"}
ONE = {"in_progress": 1}
STUCK = {"todo": 1}

ROWS: dict[str, tuple[Facts, str, str, set[str]]] = {
    "1 an open question, worker": (
        facts(task(), question=asked()), "wait_for_review", "awaiting_person", {"question_id", "reason"},
    ),
    "1 an open question, manager": (
        managed(task(), question=asked()), "wait_for_review", "awaiting_person", {"question_id", "reason"},
    ),
    "1 an open question of the group, no main task": (
        facts(question=asked()), "wait_for_review", "awaiting_person", {"question_id", "reason"},
    ),
    "2 no main task, one to take": (facts(candidate=task("T1", "todo")), "get_task", "needs_task", {"task"}),
    "2 no main task, one to take, manager": (
        managed(candidate=task("T1", "todo")), "get_task", "needs_task", {"task"},
    ),
    "2 no main task, nothing to take": (facts(why_none="No task is pending."), "no_work", "needs_task", {"why"}),
    "2 no main task, and what there is depends on a cancelled one": (
        facts(dead_end=("T1", "X")), "needs_decision", "dependency_cancelled", {"task", "dependency"},
    ),
    "2 a main task that is done": (facts(task(status="done")), "no_work", "needs_task", {"why"}),
    "3 main task blocked by oneself": (
        facts(blocked("T")), "unblock_and_continue", "has_self_blocked_subtask", {"blocked_task"},
    ),
    "3 main task blocked hard": (
        facts(blocked("T", hard())), "wait_for_review", "awaiting_person", {"question_id", "reason", "blocked_task"},
    ),
    "3 main task blocked by others": (
        facts(blocked("T", soft(BOSS, liftable=False))), "wait_for_unblock", "has_external_blocked_subtask",
        {"blocked_task"},
    ),
    "3 main task blocked, and a dependency is open": (
        facts(blocked("T", waits=True), walk=walked("X")), "wait_for_dependencies", "waiting_on_dependencies",
        {"root_causes"},
    ),
    "3 main task blocked, no room to go on": (
        facts(blocked("T"), busy=("T0",)), "no_work", "needs_task", {"why"},
    ),
    "4 no subtasks": (facts(task()), "work", "execute_task", set()),
    "4 no subtasks, not begun": (facts(task(status="todo")), "work", "execute_task", set()),
    "4 no subtasks, not begun, no room": (
        facts(task(status="todo"), busy=("T0",)), "no_work", "needs_task", {"why"},
    ),
    "4 no subtasks, not begun, waits": (
        facts(Item(task(status="todo"), waits=True), walk=walked("X")), "wait_for_dependencies",
        "waiting_on_dependencies", {"root_causes"},
    ),
    "4 no subtasks, manager's own": (managed(task(assignee=BOSS)), "work", "execute_task", set()),
    "4 no subtasks, a worker is at it": (managed(task()), "wait", "executing_subtask", {"who_works"}),
    "4 no subtasks, a worker has not begun": (
        managed(task(status="todo")), "dispatch", "start_next_subtask", {"subtask", "available_workers"},
    ),
    "5 own subtask in progress": (
        facts(task(), subtasks=ONE, working=(task("T.1"),)), "execute_subtask", "executing_subtask",
        {"current_subtask"},
    ),
    "5 a subtask in progress, manager": (
        managed(task(assignee=BOSS), subtasks=ONE, working=(task("T.1"),)), "wait", "executing_subtask",
        {"who_works"},
    ),
    "5 a subtask in progress and one ready, manager": (
        managed(task(assignee=BOSS), subtasks={"in_progress": 1, "todo": 1}, working=(task("T.1"),),
                ready=task("T.2", "todo"), workers=(Worker("dev-2", "developer"),)),
        "wait", "executing_subtask", {"who_works"},
    ),
    "5 a subtask in progress, the manager's own": (
        managed(task(assignee=BOSS), subtasks=ONE, working=(task("T.1", assignee=BOSS),)), "execute_subtask",
        "executing_subtask", {"current_subtask"},
    ),
    "6 a pending subtask that may begin": (
        facts(task(), subtasks=STUCK, ready=task("T.1", "todo")), "start_subtask", "start_next_subtask",
        {"next_subtask"},
    ),
    "6 a pending subtask that may begin, manager": (
        managed(task(assignee=BOSS), subtasks=STUCK, ready=task("T.1", "todo"), workers=(Worker(ME, "developer"),)),
        "dispatch", "start_next_subtask", {"subtask", "available_workers"},
    ),
    "6 a pending subtask that may begin, nobody is free": (
        managed(task(assignee=BOSS), subtasks=STUCK, ready=task("T.1", "todo")), "dispatch", "start_next_subtask",
        {"subtask", "available_workers"},
    ),
    "6 a pending subtask of the manager's own": (
        managed(task(assignee=BOSS), subtasks=STUCK, ready=task("T.1", "todo", assignee=BOSS)), "start_subtask",
        "start_next_subtask", {"next_subtask"},
    ),
    "6 blocked and pending executable": (
        facts(task(), subtasks={"todo": 1, "blocked": 1}, ready=task("T.2", "todo"), blocked=(blocked(),)),
        "start_subtask", "start_next_subtask", {"next_subtask"},
    ),
    "7 blocked by oneself": (
        facts(task(), subtasks={"blocked": 1}, blocked=(blocked(),)), "unblock_and_continue",
        "has_self_blocked_subtask", {"blocked_subtask"},
    ),
    "7 blocked by nobody on record": (
        facts(task(), subtasks={"blocked": 1}, blocked=(blocked("T.1", soft(None)),)), "unblock_and_continue",
        "has_self_blocked_subtask", {"blocked_subtask"},
    ),
    "7 blocked by a worker below, manager": (
        managed(task(assignee=BOSS), subtasks={"blocked": 1}, blocked=(blocked(),)), "unblock_and_continue",
        "has_self_blocked_subtask", {"blocked_subtask"},
    ),
    "7 one is hard": (
        facts(task(), subtasks={"blocked": 1}, blocked=(blocked("T.1", soft(), hard()),)), "wait_for_review",
        "awaiting_person", {"question_id", "reason"},
    ),
    "7 one is hard, another may be lifted": (
        facts(task(), subtasks={"blocked": 2}, blocked=(blocked("T.1", hard()), blocked("T.2"))),
        "unblock_and_continue", "has_self_blocked_subtask", {"blocked_subtask"},
    ),
    "7 one is hard, manager": (
        managed(task(assignee=BOSS), subtasks={"blocked": 1}, blocked=(blocked("T.1", hard()),)), "wait_for_review",
        "awaiting_person", {"question_id", "reason"},
    ),
    "7 blocked by others": (
        facts(task(), subtasks={"blocked": 1}, blocked=(blocked("T.1", soft(BOSS, liftable=False)),)),
        "wait_for_unblock", "has_external_blocked_subtask", {"blocked_subtasks"},
    ),
    "7 blocked by others, manager": (
        managed(task(assignee=BOSS), subtasks={"blocked": 1},
                blocked=(blocked("T.1", soft("user", liftable=False)),)),
        "wait_for_unblock", "has_external_blocked_subtask", {"blocked_subtasks"},
    ),
    "7 blocked by oneself, but a dependency is open": (
        facts(task(), subtasks={"blocked": 1}, blocked=(blocked(waits=True),), walk=walked("X")),
        "wait_for_dependencies", "waiting_on_dependencies", {"root_causes"},
    ),
    "8 waits on others' work": (
        facts(task(), subtasks=STUCK, walk=walked("X")), "wait_for_dependencies", "waiting_on_dependencies",
        {"root_causes"},
    ),
    "8 waits on others' work, manager": (
        managed(task(assignee=BOSS), subtasks=STUCK, walk=walked("X")), "wait_for_dependencies",
        "waiting_on_dependencies", {"root_causes"},
    ),
    "8 others work at subtasks": (
        facts(task(), subtasks=ONE, working=(task("T.1", assignee="dev-2"),), walk=walked("T.1")),
        "wait_for_dependencies", "waiting_on_dependencies", {"root_causes"},
    ),
    "8 a cancelled dependency": (
        facts(task(), subtasks=STUCK, walk=walked(dead_end=("T.1", "X"))), "needs_decision", "dependency_cancelled",
        {"task", "dependency"},
    ),
    "8 a cancelled dependency, manager": (
        managed(task(assignee=BOSS), subtasks=STUCK, walk=walked(dead_end=("T.1", "X"))), "needs_decision",
        "dependency_cancelled", {"task", "dependency"},
    ),
    "8 a ring in old data": (
        facts(task(), subtasks=STUCK, walk=walked(ring=("T.1", "T.2", "T.1"))), "dependency_deadlock",
        "dependency_deadlock", {"ring"},
    ),
    "8 a ring in old data, manager": (
        managed(task(assignee=BOSS), subtasks=STUCK, walk=walked(ring=("T.1", "T.2", "T.1"))), "dependency_deadlock",
        "dependency_deadlock", {"ring"},
    ),
    "9 every subtask done": (facts(task(), subtasks={"done": 2}), "report_completion", "needs_completion", set()),
    "9 subtasks done and cancelled": (
        facts(task(), subtasks={"done": 1, "cancelled": 1}), "report_completion", "needs_completion", set(),
    ),
    "9 every subtask done, manager": (
        managed(task(assignee=BOSS), subtasks={"done": 2}), "completion_check", "needs_completion", set(),
    ),
    "9 every subtask done, the task itself not begun": (
        facts(task(status="todo"), subtasks={"done": 1}), "report_completion", "needs_completion", set(),
    ),
    "9 every subtask done, the task itself not begun, no room": (
        facts(task(status="todo"), subtasks={"done": 1}, busy=("T0",)), "no_work", "needs_task", {"why"},
    ),
    "9 all cancelled": (
        facts(task(), subtasks={"cancelled": 2}), "needs_decision", "all_cancelled", {"task"},
    ),
    "9 all cancelled, manager": (
        managed(task(assignee=BOSS), subtasks={"cancelled": 2}), "needs_decision", "all_cancelled", {"task"},
    ),
}  # fmt: skip


@every(("given", "action", "state", "keys"), ROWS.values(), ids=ROWS)
def test_the_first_rule_that_matches_answers(given: Facts, action: str, state: str, keys: set[str]) -> None:
    answer = next_action.answer(given)
    assert (answer["action"], answer["state"], set(answer) - ALWAYS) == (action, state, keys)


@every("given", [row[0] for row in ROWS.values()], ids=ROWS)
def test_the_instruction_is_one_sentence_with_a_command(given: Facts) -> None:
    instruction = next_action.answer(given)["instruction"]
    assert "`orchestrator " in instruction
    assert instruction.endswith(".")
    assert "\n" not in instruction


def test_progress_counts_the_subtasks() -> None:
    counts = {"todo": 2, "backlog": 1, "done": 3, "cancelled": 1, "in_progress": 1, "blocked": 2}
    assert next_action.progress(facts(task(), subtasks=counts)) == {
        "total": 10, "done": 3, "cancelled": 1, "in_progress": 1, "pending": 3, "blocked": 2,
    }  # fmt: skip


def asks(given: Facts, key: str) -> Any:
    return next_action.answer(given)[key]


def test_a_task_that_can_be_unblocked_comes_with_its_reason() -> None:
    given = facts(task(), subtasks={"blocked": 1}, blocked=(blocked(),))
    assert asks(given, "blocked_subtask") == {"id": "T.1", "title": "title of T.1", "blocked_reason": "no file"}


def test_a_reason_that_nobody_gave_shows_as_unknown() -> None:
    given = facts(task(), subtasks={"blocked": 1}, blocked=(blocked("T.1", blocked_reason=None),))
    assert asks(given, "blocked_subtask")["blocked_reason"] == "unknown"


def test_a_blocked_task_without_a_blocker_on_record_can_be_gone_on_with() -> None:
    given = facts(Item(task(status="blocked")))
    assert asks(given, "blocked_task") == {"id": "T", "title": "title of T", "blocked_reason": "unknown"}


def test_others_blocks_come_with_who_made_them() -> None:
    given = facts(task(), subtasks={"blocked": 1}, blocked=(blocked("T.1", soft(), soft(BOSS, liftable=False)),))
    assert asks(given, "blocked_subtasks") == [{"id": "T.1", "title": "title of T.1", "blocked_by": BOSS}]


def test_the_review_of_a_subtask_names_its_question() -> None:
    item = blocked("T.1", hard())._replace(question=asked())
    answer = next_action.answer(facts(task(), subtasks={"blocked": 1}, blocked=(item,)))
    assert (answer["question_id"], answer["reason"]) == ("S1:Q6", "which colour?")
    assert "orchestrator answer S1:Q6" in answer["instruction"]


def test_a_hard_block_without_a_question_names_the_blocker_that_a_person_may_lift() -> None:
    answer = next_action.answer(facts(blocked("T", hard())))
    assert (answer["question_id"], answer["reason"]) == (None, "the theorem is false")
    assert "`orchestrator blocker resolve S1:B5 --session-id S1 --reason TEXT`" in answer["instruction"]


def test_who_works_is_told_with_the_claim_and_whether_it_is_overdue() -> None:
    late = task("T.1", claim_holder="dev-2", claim_until="2026-01-01T11:00:00.000000Z",
                claim_beat_at="2026-01-01T10:45:00.000000Z")  # fmt: skip
    answer = next_action.answer(managed(task(assignee=BOSS), subtasks=ONE, working=(late,)))
    assert answer["who_works"] == [{
        "agent_id": "dev-2", "id": "T.1", "title": "title of T.1", "last_seen": "2026-01-01T10:45:00.000000Z",
        "claim_until": "2026-01-01T11:00:00.000000Z", "overdue": True,
    }]  # fmt: skip
    assert "T.1 is overdue" in answer["instruction"]


def test_a_manager_who_waits_learns_what_may_begin_meanwhile() -> None:
    given = ROWS["5 a subtask in progress and one ready, manager"][0]
    assert "meanwhile T.2 may begin by `orchestrator task claim T.2 --session-id S1 --agent-id dev-2`" in asks(
        given, "instruction"
    )


def test_root_causes_are_what_else_waits_for() -> None:
    given = facts(task(), subtasks=STUCK, walk=walked("X", "group G"),
                  describe=lambda name: Root("group", "G", "G", "pending") if name.startswith("group ")
                  else Root("task", name, "other work", "in_progress", "qa_expert"))  # fmt: skip
    answer = next_action.answer(given)
    assert [(each["kind"], each["id"], each["assignee"]) for each in answer["root_causes"]] == [
        ("task", "X", "qa_expert"), ("group", "G", None),
    ]  # fmt: skip
    assert "task X (in_progress, qa_expert), group G (pending)" in answer["instruction"]


WAITS = {name: row for name, row in ROWS.items() if row[1] in next_action.WAITING}


@pytest.mark.parametrize("given", [row[0] for row in WAITS.values()], ids=WAITS)
def test_who_waits_is_told_what_else_is_its_own(given: Facts) -> None:
    instruction = asks(given._replace(elsewhere=lambda: "U.1"), "instruction")
    told = f" Meanwhile U.1 is yours: call `orchestrator next --session-id S1 --agent-id {given.agent_id} --task U.1`."
    assert instruction == asks(given, "instruction") + told


def test_who_waits_for_its_own_task_without_room_for_it_is_told_to_give_it_away() -> None:
    given = facts(task(), subtasks=STUCK, walk=walked("X"), describe=lambda name: Root("task", name, name, "todo", ME))
    assert asks(given, "instruction").endswith(
        " X is yours, and there is no room for it now: let another agent take it by"
        " `orchestrator task claim X --session-id S1 --agent-id AGENT`."
    )
    assert "no room" not in asks(given._replace(elsewhere=lambda: "X"), "instruction")


def test_a_dependency_of_the_group_is_dropped_where_the_group_has_it() -> None:
    given = facts(task(), subtasks=STUCK, walk=walked(dead_end=("T.1", "group G")),
                  describe=lambda name: Root("task", name, name, "todo", None, "H"))  # fmt: skip
    assert "orchestrator group undepend H --on G" in asks(given, "instruction")


def test_a_ring_is_broken_at_a_dependency_not_at_what_a_task_contains() -> None:
    given = facts(task(), subtasks=STUCK, walk=walked(ring=("X", "X.1", "Y", "X")),
                  describe=lambda name: Root("task", name, name, "todo", None, None, "X" if name == "X.1" else None))
    assert "orchestrator task undepend X.1 --on Y" in asks(given, "instruction")


def test_of_many_names_the_first_few_are_told() -> None:
    given = facts(task(), subtasks=STUCK, walk=walked(*(f"X{n}" for n in range(9))))
    assert "X4 (in_progress, nobody has it) and 4 more" in asks(given, "instruction")


def test_notices_come_with_every_answer() -> None:
    notice = Notice("S1:B4", "T.1", "title", "manual", "soft", "no file", ME, "2026-01-01T10:00:00.000000Z")
    assert asks(managed(notices=(notice,)), "notices") == [notice._asdict()]
