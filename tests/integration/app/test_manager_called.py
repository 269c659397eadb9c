"""The project manager is called for the session: every account of it says so, and why."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.app.audit import telling
from orchestrator.doors.cli import route
from orchestrator.doors.cli.text import changed
from orchestrator.errors import Refused
from tests.integration.app.table import SESSION, Table

Answer = dict[str, Any]


def told(table: Table, decision: Answer) -> list[str]:
    """A decision in the words of its answer, of `why`, and of the timeline, without what comes before and after."""
    why = table.do("why", id=decision["decision_id"])["sentences"]
    (step,) = table.do("audit timeline", session_id=SESSION, since=decision["seq"] - 1, limit=1)["events"]
    (wrote,) = [each["text"] for each in step["wrote"] if each["id"] == decision["decision_id"]]
    return [
        route.show(decision).splitlines()[0],
        next(each for each in why if each.startswith("Decided: ")),
        wrote,
    ]


class TestWhereTheManagerIsCalled:
    def test_after_a_merge_it_is_for_the_session(self) -> None:
        table = Table("A", plan=True)
        assert told(table, table.confirmable("A")) == [
            "spawn: project_manager for the session, turn 7",
            "Decided: spawn project_manager for the session.",
            "decision S1:D7: spawn project_manager for the session by completion, phase_check",
        ]

    def test_after_a_deferral_it_is_not_on_the_group_that_was_put_aside(self) -> None:
        table = Table("A", plan=True)
        table.mark_external("A")
        answer = table.says("project_manager", "DEFER_EXTERNAL", "A", summary="no environment this month")
        first, decided, _ = told(table, answer)
        assert first == f"spawn: project_manager for the session, turn {answer['seq']}"
        assert decided == "Decided: spawn project_manager for the session."

    def test_where_the_group_itself_needs_them_it_is_on_the_group(self) -> None:
        table = Table("A", plan=True)
        table.block("A")
        details = {"external": True, "external_dependency": "IT"}
        answer = table.says("tech_lead", "UNBLOCKING_GUIDANCE", "A", details=details)
        assert told(table, answer)[:2] == [
            f"spawn: project_manager on A, turn {answer['seq']}", "Decided: spawn project_manager on A.",
        ]  # fmt: skip

    def test_a_call_that_no_report_led_to_names_no_group(self) -> None:
        table = Table("A", plan=True)
        (then,) = table.move("A", "cancelled")["followed_by"]
        assert changed.followed({"followed_by": [then]}) == [
            f"Then: spawn project_manager, turn {then['turn']} (phase_check)."
        ]
        assert telling.decided({**then, "reason": None}) == "spawn project_manager"


def test_a_merge_that_starts_others_starts_nobody_on_its_own_group() -> None:
    table = Table("A", "B", mode="simple", plan=True)
    shown = route.show(table.complete("A")).splitlines()
    assert shown[0] == "spawn_batch: developer"
    assert "  start developer (sonnet) on B, turn 8" in shown


@pytest.mark.parametrize(
    ("turn", "suggested"),
    [
        pytest.param(7, "orchestrator handoff --turn 7 --session-id S1", id="the session's turn"),
        pytest.param(99, "orchestrator status S1", id="a turn of nobody's"),
    ],
)
def test_who_asks_a_group_for_the_session_s_turn_is_told_where_it_is(turn: int, suggested: str) -> None:
    table = Table("A", plan=True)
    assert table.confirmable("A")["turn"] == 7
    with pytest.raises(Refused) as caught:
        table.do("handoff", session_id=SESSION, group_id="A", turn=turn)
    assert (caught.value.code, caught.value.suggestion) == ("UNKNOWN_ID", suggested)


LACKS = (
    "group A is not completed and awaits project_manager: tested is not met, no test passed after FAIL, report S1:R6"
)


class TestAMergeThatDoesNotCompleteItsGroup:
    """The decision lists what is missing, wherever it is read, and names who is awaited."""

    @pytest.fixture
    def table(self) -> Table:
        return Table("A", "B", plan=True)

    @pytest.fixture
    def merged(self, table: Table) -> Answer:
        """Approved past a failed test, and merged, while another group is at work."""
        table.says("developer", "READY_FOR_QA", "A")
        table.says("qa_expert", "FAIL", "A")
        table.says("developer", "READY_FOR_REVIEW", "A")
        table.says("tech_lead", "APPROVED", "A")
        return table.says("developer", "MERGE_SUCCESS", "A")

    def test_the_answer_says_who_is_awaited_and_what_is_missing(self, merged: Answer) -> None:
        assert merged["awaiting_manager"] == ["A"]
        shown = route.show(merged).splitlines()
        assert shown[0] == "wait: nobody; A awaits project_manager"
        assert f"  rule completion: {LACKS}" in shown

    def test_the_record_says_it(self, table: Table, merged: Answer) -> None:
        (row,) = table.do("audit decisions", session_id=SESSION, since=merged["seq"] - 1)["decisions"]
        assert row["rules"] == [{"name": "completion", "reason": LACKS}]
        assert [part["part"] for part in row["path"] if not part["met"]] == ["tested"]
        assert row["awaiting_manager"] == ["A"]

    def test_why_and_the_timeline_say_it(self, table: Table, merged: Answer) -> None:
        sentences = table.do("why", id=merged["decision_id"])["sentences"]
        assert f"Rule completion fired: {LACKS}." in sentences
        assert "No rule changed it." not in sentences
        assert told(table, merged)[1:] == [
            "Decided: wait; A awaits project_manager (groups_running).",
            f"decision {merged['decision_id']}: wait; A awaits project_manager (groups_running) by completion",
        ]

    def test_a_held_start_is_still_on_its_group(self) -> None:
        table = Table("A", "B", mode="simple", plan=True)
        table.confirmable("A")
        answer = table.says("project_manager", "REWORK", "A", summary="the figures are wrong")
        assert route.show(answer).splitlines()[0] == "wait: developer on A"

    def test_a_merge_that_completes_its_group_lists_nothing(self, table: Table) -> None:
        answer = table.complete("B")
        assert (answer["rules"], "path" in answer, "awaiting_manager" in answer) == ([], False, False)

    def test_a_report_of_the_manager_leaves_both_groups_to_them_by_name(self, table: Table, merged: Answer) -> None:
        table.confirmable("B")
        answer = table.says("project_manager", "CONTINUE")
        assert answer["awaiting_manager"] == ["A", "B"]
