"""Who runs at a time: batches, held groups, pausing, and what goes out in which order afterwards."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator import testing
from orchestrator.app.engine import scheduler
from tests.integration.app.table import SESSION, Table, document, load, names

TWELVE = tuple(f"G{n:02d}" for n in range(12))


def slots(count: int, *groups: str, plan: bool = True, **session: Any) -> Table:
    """A planned session with so many slots."""
    context, made = testing.memory_context(), document()
    made["project_manager"]["PLANNING_COMPLETE"]["max_parallel"] = count
    load(context, made)
    return Table(*groups, plan=plan, context=context, **session)


def started(answer: dict[str, Any]) -> list[str]:
    """The groups that a step's batches started, in its own decision and in what followed."""
    decisions = [each for each in (answer, *answer.get("followed_by", ())) if "turn" not in each]
    return [spawn["group_id"] for decision in decisions for spawn in decision.get("spawns", ())]


# Batches


def test_planning_fills_the_slots_by_priority_and_then_creation() -> None:
    table = slots(3, plan=False)
    for id_, priority in (("a", "low"), ("b", "medium"), ("c", "urgent"), ("d", "medium"), ("e", "high")):
        table.group(id_, priority=priority)
    answer = table.plan()
    assert (answer["action"], answer["next_agent"], answer["groups_to_spawn"]) == (
        "spawn_batch", "developer", ["c", "e", "b"],
    )  # fmt: skip
    assert [spawn["group_id"] for spawn in answer["spawns"]] == ["c", "e", "b"]
    assert table.running() == ["b", "c", "e"]


@pytest.mark.parametrize(
    ("count", "said"),
    [(1, "1 pending group takes a free slot: A"), (2, "2 pending groups take free slots: A, B")],
)
def test_a_batch_says_which_groups_take_slots(count: int, said: str) -> None:
    answer = slots(count, "A", "B", plan=False).plan()
    assert [rule["reason"] for rule in answer["rules"] if rule["name"] == "batch"] == [said]


def test_each_group_of_a_batch_gets_its_agent_model_turn_and_hand_off() -> None:
    table = Table()
    table.group("plain")
    table.group("secure", security_sensitive=True)
    table.group("hard", complexity=7)
    table.group("why", kind="research")
    answer = table.plan()
    assert [(spawn["group_id"], spawn["agent"], spawn["agent_id"]) for spawn in answer["spawns"]] == [
        ("plain", "developer", "developer@S1:plain"),
        ("secure", "senior_software_engineer", "senior_software_engineer@S1:secure"),
        ("hard", "senior_software_engineer", "senior_software_engineer@S1:hard"),
        ("why", "requirements_engineer", "requirements_engineer@S1:why"),
    ]
    assert all(spawn["model"] and spawn["handoff"] for spawn in answer["spawns"])
    assert {spawn["turn"] for spawn in answer["spawns"]} == {answer["seq"]}
    assert names(answer) == ["batch", "security", "complexity", "research"]


def test_research_runs_two_at_a_time() -> None:
    table = Table()
    for id_ in ("r1", "r2", "r3"):
        table.group(id_, kind="research")
    table.group("code")
    table.plan()
    assert table.running() == ["r1", "r2", "code"]
    table.says("requirements_engineer", "READY_FOR_REVIEW", "r1")
    answer = table.says("tech_lead", "APPROVED", "r1")
    assert (answer["completed"], started(answer), answer["phase_check"]) == (["r1"], ["r3"], "continue")


def test_in_simple_mode_one_group_runs() -> None:
    table = Table("A", "B", plan=True, mode="simple")
    assert table.running() == ["A"]
    table.complete("A")
    assert table.running() == ["B"]


@pytest.mark.parametrize(
    ("decisions", "filled"),
    [
        pytest.param([], False, id="nothing was decided"),
        pytest.param([("spawn_batch", ["developer", "tech_lead"])], True, id="agents took the slots"),
        pytest.param([("spawn_batch", ["developer", "project_manager"])], False, id="a manager takes no slot"),
        pytest.param([("spawn_batch", ["developer"]), ("spawn", ["developer"])], False, id="the batch is not the last"),
    ],
)
def test_after_a_batch_that_took_the_slots_nothing_else_is_started(
    decisions: list[tuple[str, list[str]]], filled: bool
) -> None:
    made = [{"action": action, "spawns": [{"agent": agent} for agent in agents]} for action, agents in decisions]
    assert scheduler.is_filled(made) is filled


def test_r17_the_limit_holds_over_what_runs_and_not_per_decision() -> None:
    table = Table(*TWELVE, plan=True)
    assert table.running() == list(TWELVE[:4])
    answer = table.approve("G00")
    assert (started(answer), len(table.running())) == ([], 4)
    merged = table.says("developer", "MERGE_SUCCESS", "G00")
    assert (started(merged), merged["phase_check"], merged["action"]) == (["G04"], "continue", "spawn_batch")
    table.approve("G01")
    table.approve("G02")
    first, second = (table.says("developer", "MERGE_SUCCESS", group) for group in ("G01", "G02"))
    assert (started(first), started(second)) == (["G05"], ["G06"])
    assert table.running() == ["G03", "G04", "G05", "G06"]


def test_r17_the_limit_comes_from_the_plan_transition() -> None:
    assert slots(7, *TWELVE).running() == list(TWELVE[:7])


def test_before_planning_the_machinery_starts_nothing() -> None:
    table = Table("A", "B")
    table.move("A", "cancelled")
    assert (table.running(), table.session()) == ([], ("active", "project_manager"))


def test_a_group_that_is_created_after_planning_takes_a_free_slot() -> None:
    table = Table("A", plan=True)
    answer = table.group("B")
    assert (table.running(), started({"followed_by": answer["followed_by"]})) == (["A", "B"], ["B"])
    assert table.decisions("cause")[-1] == ("group",)


def test_continuing_counts_as_planning_too() -> None:
    table = Table("A")
    table.says("project_manager", "CONTINUE")
    assert (table.running(), table.session("planned")) == (["A"], (1,))


@pytest.mark.parametrize(
    ("count", "reason"),
    [pytest.param(1, "all_slots_busy", id="slots"), pytest.param(4, "waiting_on_dependencies", id="dependencies")],
)
def test_a_batch_that_starts_nothing_waits_with_the_reason(count: int, reason: str) -> None:
    table = slots(count, "A")
    table.group("B", depends_on=("A",))
    answer = table.says("project_manager", "CONTINUE")
    assert (answer["action"], answer["next_agent"], answer["reason"]) == ("wait", None, reason)


def test_a_batch_without_anything_to_start_or_to_wait_for_calls_the_manager() -> None:
    table = Table()
    answer = table.plan()
    assert (answer["action"], answer["next_agent"], names(answer)) == ("spawn", "project_manager", ["stalled"])
    assert answer["causes"] == ["nothing_pending", "nothing_completed"]


# Held groups


def full() -> Table:
    """Two slots: A is deferred, B and C run, D is pending."""
    table = slots(2, "A", "B", "C", "D")
    table.defer("A")
    assert table.running() == ["B", "C"]
    return table


def test_a_group_that_comes_back_without_a_free_slot_is_held() -> None:
    table = full()
    answer = table.says("project_manager", "RESUME_BLOCKED", "A", summary="it is there")
    assert (answer["action"], answer["next_agent"], answer["reason"]) == ("wait", "qa_expert", "held")
    assert ("turn" in answer, "handoff" in answer) == (False, False)
    assert table.row("A", "status, awaited_role, turn, held") == ("in_progress", "qa_expert", None, "slot")
    assert table.code("qa_expert", "PASS", "A") == "OUT_OF_TURN"


def test_free_slots_go_to_held_groups_before_pending_ones() -> None:
    table = full()
    table.says("project_manager", "RESUME_BLOCKED", "A", summary="it is there")
    answer = table.complete("B")
    (followed,) = answer["followed_by"]
    assert (followed["group_id"], followed["action"], followed["next_agent"]) == ("A", "spawn", "qa_expert")
    assert (names(followed), table.running()) == (["held"], ["A", "C"])
    assert followed["include_context"] == ["resume_reason", "external_dependency"]
    assert table.decisions("cause, report_id")[-1] == ("slot", None)
    assert (table.status("D"), answer["phase_check"]) == ("pending", "wait")


def test_rework_and_reopening_are_held_too() -> None:
    table = slots(1, "A", "B")
    table.mark_external("A")
    assert table.running() == ["B"]
    assert table.says("project_manager", "REWORK", "A")["reason"] == "held"
    table.complete("B")
    assert table.running() == ["A"]
    (decision,) = table.move("B", "in_progress")["followed_by"]
    assert (decision["action"], decision["reason"], table.row("B", "held")) == ("wait", "held", ("slot",))


def test_the_first_report_of_a_group_is_held_where_no_slot_is_free() -> None:
    table = slots(1, "A", "B")
    answer = table.says("developer", "READY_FOR_REVIEW", "B")
    assert (answer["action"], answer["reason"], table.row("B", "status, held")) == (
        "wait", "held", ("in_progress", "slot"),
    )  # fmt: skip


def test_an_investigation_without_a_group_is_held_where_no_slot_is_free() -> None:
    table = slots(1, "A")
    answer = table.says("project_manager", "INVESTIGATION_NEEDED")
    assert (answer["reason"], table.row(answer["group_id"], "held")) == ("held", ("slot",))


def test_held_groups_go_out_in_the_order_in_which_they_were_held() -> None:
    table = slots(1, "A", "B", "C")
    for group in ("C", "B"):
        table.says("developer", "READY_FOR_REVIEW", group)
    table.complete("A")
    assert (table.running(), table.row("B", "held")) == (["C"], ("slot",))


def test_a_group_in_work_keeps_its_slot_from_role_to_role() -> None:
    table = slots(1, "A", "B")
    table.approve("A")
    assert (table.running(), table.row("A", "held")) == (["A"], (None,))


def test_a_group_that_awaits_the_manager_takes_no_slot() -> None:
    table = slots(1, "A", "B")
    table.mark_external("A")
    assert (table.awaited("A"), table.running()) == ("project_manager", ["B"])


# Pausing


def test_a_paused_session_decides_and_holds_its_spawns_back() -> None:
    table = Table("A", "B", plan=True)
    table.do("session pause", id=SESSION, by="project_manager", reason="a freeze")
    answer = table.says("developer", "READY_FOR_QA", "A")
    assert (answer["action"], answer["next_agent"], answer["reason"]) == ("wait", "qa_expert", "session_paused")
    assert table.row("A", "awaited_role, turn, held") == ("qa_expert", None, "session_paused")
    assert table.code("qa_expert", "PASS", "A") == "OUT_OF_TURN"


def test_resuming_emits_what_was_held_back_in_its_order() -> None:
    table = Table("A", "B", "C", plan=True)
    table.do("session pause", id=SESSION, by="project_manager", reason="a freeze")
    table.says("developer", "READY_FOR_QA", "C")
    table.says("developer", "READY_FOR_REVIEW", "A")
    answer = table.do("session resume", id=SESSION, by="project_manager", reason="go on")
    emitted = [(each["group_id"], each["next_agent"], each["action"]) for each in answer["followed_by"]]
    assert emitted == [("C", "qa_expert", "spawn"), ("A", "tech_lead", "spawn")]
    assert set(table.decisions("cause")[-2:]) == {("session",)}
    assert table.running() == ["A", "B", "C"]


def test_the_session_s_own_spawn_goes_out_first() -> None:
    table = Table("A", plan=True)
    table.do("session pause", id=SESSION, by="project_manager", reason="a freeze")
    table.says("developer", "READY_FOR_QA", "A")
    table.move("A", "cancelled")
    assert table.session() == ("paused", None)
    (followed,) = table.do("session resume", id=SESSION, by="project_manager", reason="go on")["followed_by"]
    assert (followed["next_agent"], names(followed), table.session()) == (
        "project_manager", ["phase_check"], ("active", "project_manager"),
    )  # fmt: skip


def test_a_paused_session_starts_no_batch_until_it_goes_on() -> None:
    table = Table("A")
    table.do("session pause", id=SESSION, by="project_manager", reason="a freeze")
    answer = table.plan()
    assert (answer["action"], answer["reason"], table.running()) == ("wait", "session_paused", [])
    resumed = table.do("session resume", id=SESSION, by="project_manager", reason="go on")
    assert (started({"followed_by": resumed["followed_by"]}), table.running()) == (["A"], ["A"])


def test_what_was_held_back_is_held_again_where_the_slots_are_taken() -> None:
    table = slots(1, "A", "B")
    table.do("session pause", id=SESSION, by="project_manager", reason="a freeze")
    table.says("developer", "READY_FOR_REVIEW", "B")
    table.do("session resume", id=SESSION, by="project_manager", reason="go on")
    assert (table.running(), table.row("B", "held")) == (["A"], ("slot",))


def test_a_session_with_an_open_question_of_its_own_is_not_resumed_by_hand() -> None:
    table = Table("A")
    question = table.says("project_manager", "NEEDS_CLARIFICATION")["question_id"]
    refusal = table.refusal("session resume", id=SESSION, by="project_manager", reason="go on")
    assert (refusal.code, refusal.data) == ("QUESTION_OPEN", {"question_id": question})
