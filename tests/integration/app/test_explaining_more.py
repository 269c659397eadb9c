"""`why GROUP` tells a stranger who came back to the group, who took it as it is, and every decision that moved it."""

from __future__ import annotations

from typing import Any

from tests.integration.app.table import SESSION, Table

PM = "project_manager"


def why(table: Table, group: str = "A") -> dict[str, Any]:
    """The whole answer for a group."""
    return table.do("why", id=group, session_id=SESSION)


def decisions(table: Table, group: str = "A") -> list[tuple[str, str]]:
    """Who reported what, newest first."""
    return [(each["current_agent"], each["response_status"]) for each in why(table, group)["decisions"]]


def taken_as_it_is() -> Table:
    """A is with a developer, and the manager acknowledged it."""
    table = Table("A", plan=True)
    table.says("developer", "READY_FOR_QA", "A")
    table.says(PM, "BAZINGA", acknowledge={"A": "good enough"})
    return table


def test_a_group_that_waits_for_the_verdict_says_who_took_it_as_it_is_and_what_completes_it() -> None:
    assert why(taken_as_it_is())["sentences"][-1] == (
        "The project manager acknowledged it as it is, in BAZINGA, report S1:R5 (good enough), which stands for what is"
        " not met: its completion path is valid, and a verdict of ACCEPT completes it: `orchestrator validate S1`."
    )


def test_a_group_that_was_completed_so_says_with_which_words() -> None:
    table = taken_as_it_is()
    table.move("A", "completed")
    assert why(table)["sentences"][-1] == (
        "The project manager acknowledged it as it is, in BAZINGA, report S1:R5 (good enough), which stands for what is"
        " not met."
    )


def test_the_newest_acknowledgement_is_the_one_that_counts() -> None:
    table = taken_as_it_is()
    table.says(PM, "BAZINGA", acknowledge={"A": "better still"})
    assert "report S1:R6 (better still)" in why(table)["sentences"][-1]


def test_a_reopened_group_says_who_reopened_it_and_why() -> None:
    table = Table("A", plan=True)
    table.complete("A")
    table.move("A", "in_progress", reason="the figures are wrong")
    at = table.context.clock()
    answer = why(table)
    assert answer["awaited"]["role"] == "developer"
    assert any(
        sentence.startswith(f"It was completed, and reopened by project_manager at {at[:10]}")
        and sentence.endswith(": the figures are wrong.")
        for sentence in answer["sentences"]
    )


def test_a_reopened_group_that_went_on_says_it_still() -> None:
    table = Table("A", plan=True)
    table.complete("A")
    table.move("A", "in_progress", reason="the figures are wrong")
    table.says("developer", "READY_FOR_QA", "A")
    assert any("reopened by project_manager" in sentence for sentence in why(table)["sentences"])


def test_a_group_that_came_back_from_its_deferral_says_who_took_it_up_and_why() -> None:
    table = Table("A")
    table.mark_external("A")
    table.move("A", "deferred_external")
    table.move("A", "in_progress", reason="the hospital answered")
    (said,) = [sentence for sentence in why(table)["sentences"] if sentence.startswith("It was ")]
    assert said.startswith("It was deferred, and taken up again by project_manager at ")
    assert said.endswith(": the hospital answered.")


def test_a_group_that_never_came_back_says_nothing_of_it() -> None:
    table = Table("A", plan=True)
    assert not [sentence for sentence in why(table)["sentences"] if sentence.startswith("It was ")]


def test_the_batch_that_started_a_group_is_among_its_decisions() -> None:
    table = Table("A", plan=True)
    assert decisions(table) == [(PM, "PLANNING_COMPLETE")]


def test_the_merge_of_another_group_that_started_it_is_too() -> None:
    table = Table("A")
    table.group("B", depends_on=("A",))
    table.plan()
    table.complete("A")
    assert decisions(table, "B") == [("developer", "MERGE_SUCCESS")]
    assert why(table, "B")["decisions"][0]["group_id"] == "A"


def test_a_start_of_other_groups_is_not() -> None:
    table = Table("A", "B", plan=True)
    table.complete("A")
    assert decisions(table, "B") == [(PM, "PLANNING_COMPLETE")]


def test_the_confirmation_that_completed_a_group_is_among_its_decisions() -> None:
    table = Table("A", plan=True)
    table.confirmable("A")
    table.says(PM, "BAZINGA")
    answer = why(table)
    assert answer["status"] == "completed"
    assert decisions(table)[:2] == [(PM, "BAZINGA"), ("developer", "MERGE_SUCCESS")]


def test_the_verdict_that_completed_a_group_is_among_its_decisions() -> None:
    table = taken_as_it_is()
    table.do("validate", session_id=SESSION, record=True)
    answer = why(table)
    assert answer["status"] == "completed"
    assert decisions(table)[0] == ("validator", "ACCEPT")


def test_they_are_in_order_each_once_and_no_more_than_the_last() -> None:
    table = Table("A", plan=True)
    table.confirmable("A")
    table.says(PM, "BAZINGA")
    ids = [(each["seq"], each["part"]) for each in why(table)["decisions"]]
    assert ids == sorted(set(ids), reverse=True)
    assert len(ids) == 5
