"""What comes back again and again: failures, rounds of investigation, the same report; it always ends with a person."""

from __future__ import annotations

import pytest

from orchestrator.core.routing.facts import PROGRESS_READ_SINCE
from tests.integration.app.table import SESSION, Table, changed, names


def failing(table: Table, kind: str, group: str = "A") -> dict[str, object]:
    """One more failure of a kind, from wherever the group stands."""
    if table.awaited(group) == "project_manager":
        table.says("project_manager", "REWORK", group)
    elif table.awaited(group) == "tech_lead":
        table.says("tech_lead", "ARCHITECTURAL_DECISION_MADE", group)
    builder = str(table.awaited(group))
    if kind == "test_fail":
        table.says(builder, "READY_FOR_QA", group)
        return table.says("qa_expert", "FAIL", group)
    if kind == "reject":
        table.says(builder, "READY_FOR_REVIEW", group)
        return table.says("tech_lead", "CHANGES_REQUESTED", group)
    table.says(builder, "READY_FOR_REVIEW", group)
    table.says("tech_lead", "APPROVED", group)
    return table.says(str(table.awaited(group)), "MERGE_CONFLICT", group)


COUNTERS = {"test_fail": "qa_attempts", "reject": "tl_review_attempts", "merge_fail": "merge_attempts"}
SSE = "senior_software_engineer"


@pytest.mark.parametrize(
    ("kind", "ladder"),
    [
        pytest.param("test_fail", ["developer", SSE, SSE, "tech_lead", "tech_lead"], id="test_fail"),
        pytest.param("reject", ["developer", SSE, SSE, "project_manager", "project_manager"], id="reject"),
        pytest.param("merge_fail", ["developer", SSE, SSE, "tech_lead", "tech_lead"], id="merge_fail"),
    ],
)
def test_failures_of_one_kind_are_counted_and_climb(kind: str, ladder: list[str]) -> None:
    table = changed("A", loop_guard={"max_visits": 50})
    table.plan()
    found = [failing(table, kind) for _ in range(8)]
    assert [answer["next_agent"] for answer in found[:5]] == ladder
    assert [answer["next_agent"] for answer in found[5:]] == ["project_manager", "project_manager", None]
    assert (found[-1]["action"], table.awaited("A"), table.count("questions")) == ("pause_for_user", "user", 1)
    assert found[-1]["escalation_counter"] == {COUNTERS[kind]: 8}
    others = [name for effect, name in COUNTERS.items() if effect != kind]
    assert table.row("A", ", ".join([COUNTERS[kind], *others])) == (7, 0, 0)


def test_r12_counters_are_of_one_group_in_one_session() -> None:
    table = Table("AUTH", plan=True)
    for _ in range(3):
        failing(table, "test_fail", "AUTH")
    assert table.awaited("AUTH") == SSE
    table.do("session create", id="S2")
    table.group("AUTH", session="S2")
    table.says("project_manager", "PLANNING_COMPLETE", session="S2")
    table.says("developer", "READY_FOR_QA", "AUTH", session="S2")
    answer = table.says("qa_expert", "FAIL", "AUTH", session="S2")
    assert (answer["next_agent"], names(answer)) == ("developer", [])
    assert table.row("AUTH", "qa_attempts", session="S2") == (1,)


def test_the_effect_counts_whatever_the_status_is_called() -> None:
    table = Table("A", plan=True)
    table.says("developer", "READY_FOR_QA", "A")
    table.says("qa_expert", "FAIL_ESCALATE", "A")
    assert table.row("A", "qa_attempts, senior") == (1, 1)
    answer = failing(table, "test_fail")
    assert (answer["next_agent"], answer["escalation_counter"]) == (SSE, {"qa_attempts": 2})


def test_an_investigation_has_five_rounds_of_its_own_each_time_it_is_called() -> None:
    table = Table("A", plan=True)
    for _ in range(2):
        table.says(str(table.awaited("A")), "SPAWN_INVESTIGATOR", "A")
        rounds = [table.says("investigator", "HYPOTHESIS_ELIMINATED", "A")["next_agent"] for _ in range(2)]
        rounds += [table.says("investigator", "NEED_MORE_ANALYSIS", "A")["next_agent"] for _ in range(3)]
        assert rounds == ["investigator"] * 4 + ["tech_lead"]


@pytest.mark.parametrize("status", ["PARTIAL", "INCOMPLETE"])
def test_the_same_report_without_progress_climbs_to_a_person(status: str) -> None:
    table = Table("A", plan=True)
    found = []
    for _ in range(8):
        if table.awaited("A") == "tech_lead":
            table.says("tech_lead", "ARCHITECTURAL_DECISION_MADE", "A")
        elif table.awaited("A") == "project_manager":
            table.says("project_manager", "REWORK", "A")
        found.append(table.says("developer", status, "A")["next_agent"])
    assert found == ["developer"] * 5 + ["tech_lead", "project_manager", None]
    assert table.awaited("A") == "user"


def test_progress_clears_the_counts_of_reports_that_are_none() -> None:
    table = Table("A", plan=True)
    for _ in range(5):
        table.says("developer", "PARTIAL", "A")
    table.submit("A")
    table.says("tech_lead", "CHANGES_REQUESTED", "A")
    assert table.says("developer", "PARTIAL", "A")["next_agent"] == "developer"


def test_progress_elsewhere_does_not_clear_the_counts_of_a_group() -> None:
    table = Table("A", "B", plan=True)
    for _ in range(5):
        table.says("developer", "PARTIAL", "A")
    table.complete("B")
    assert table.says("developer", "PARTIAL", "A")["next_agent"] == "tech_lead"


def test_progress_does_not_clear_its_own_counts() -> None:
    """Approval after approval whose merge always fails is a loop, though each is progress."""
    table = changed("A", escalation_after_failures={"threshold": 50})
    table.plan()
    found = [failing(table, "merge_fail")["next_agent"] for _ in range(5)]
    table.says(str(table.awaited("A")), "READY_FOR_REVIEW", "A")
    answer = table.says("tech_lead", "APPROVED", "A")
    assert (found, answer["next_agent"], names(answer)) == (["developer"] * 5, "project_manager", ["loop_guard"])


def test_reports_of_the_manager_without_a_group_go_straight_to_a_person() -> None:
    table = Table("A", plan=True)
    found = [table.says("project_manager", "CONTINUE") for _ in range(6)]
    assert [answer["action"] for answer in found] == ["wait"] * 5 + ["pause_for_user"]
    assert (names(found[-1]), table.session()) == (["loop_guard"], ("paused", "user"))
    assert table.rows("SELECT kind, group_id FROM questions") == [("budget", None)]


@pytest.mark.parametrize("rules_version", [PROGRESS_READ_SINCE - 1, PROGRESS_READ_SINCE])
def test_progress_of_any_group_clears_the_counts_of_reports_without_a_group(rules_version: int) -> None:
    """Its step is read off the reports; before, it stood in the row of the session, and a replay writes it there."""
    table = Table("A", "B", plan=True)
    table.context.rules_version = rules_version
    for _ in range(5):
        table.says("project_manager", "CONTINUE")
    table.complete("A")
    step = table.rows("SELECT max(seq) FROM agent_reports WHERE effect = 'merge'")[0][0]
    found = [table.says("project_manager", "CONTINUE")["action"] for _ in range(6)]
    assert found == ["wait"] * 5 + ["pause_for_user"]
    kept = table.rows("SELECT progress_seq FROM sessions WHERE id = :session", session=SESSION)
    assert kept == [(step if rules_version < PROGRESS_READ_SINCE else 0,)]
    assert table.do("audit replay", session_id=SESSION)["equal"]


def test_confirmations_that_are_rejected_again_and_again_go_to_a_person() -> None:
    table = Table("A")
    found = [table.says("project_manager", "BAZINGA")["action"] for _ in range(6)]
    assert found == ["validate_then_end"] * 5 + ["pause_for_user"]
    assert table.session() == ("paused", "user")


def test_investigations_without_a_group_end_with_a_person_and_nobody_waits_in_vain() -> None:
    table = Table(plan=True)
    found = [table.says("project_manager", "INVESTIGATION_NEEDED") for _ in range(6)]
    assert found[-1]["action"] == "pause_for_user"
    asked = table.rows("SELECT group_id FROM questions WHERE closed_seq IS NULL")
    awaiting = table.rows("SELECT id FROM task_groups WHERE awaited_role = 'user'")
    assert ([row for row in asked if row[0]], len(asked)) == (awaiting, 1)
