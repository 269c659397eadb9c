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
            "decision S1:D7: spawn project_manager for the session by phase_check",
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
