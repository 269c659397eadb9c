"""Lifting a group's last blocker by hand returns it to who was blocked, whoever was to judge the block meanwhile."""

from __future__ import annotations

from typing import Any

import pytest

from tests.acceptance.test_replay import assert_told_again
from tests.integration.app.table import REVIEW, Table, names, tight

SOFT = {"status": "blocked", "errors": [{"type": "timeout", "message": "no answer", "recoverable": True}]}
EXTERNAL = {"external": True, "external_dependency": "the hospital's IT"}


def lift(table: Table, blocker: str, by: str = "user") -> dict[str, Any]:
    """The blocker is resolved by a person, or by an agent that may."""
    with table.person():
        return table.do("blocker resolve", id=blocker, session_id="S1", by=by, reason="it is back")


def softly(table: Table) -> str:
    """QA stops at something soft; the blocker's id."""
    table.says("developer", "READY_FOR_QA", "A")
    (blocker,) = table.says("qa_expert", "BLOCKED", "A", summary="no answer", metadata=SOFT)["blockers_opened"]
    return str(blocker)


class TestTheLastBlocker:
    def test_is_lifted_and_who_was_blocked_goes_on(self) -> None:
        table = Table("A", plan=True)
        blocker, turn = table.block("A"), table.turn("A")
        handoff = table.do("handoff", session_id="S1", group_id="A", turn=turn)
        (decision,) = lift(table, blocker)["followed_by"]
        assert (decision["next_agent"], decision["agent_id"]) == ("qa_expert", "qa_expert@S1:A")
        assert (names(decision), decision["action"]) == (["return_to_blocked"], "respawn")
        (reason,) = [rule["reason"] for rule in decision["rules"]]
        assert reason == f"blocker {blocker} was lifted by user: it is back; turn {turn} of tech_lead is superseded"
        frozen = table.do("handoff", session_id="S1", group_id="A", turn=turn)
        assert frozen["handoff"] == handoff["handoff"] | {"report_command": None}
        assert [each["id"] for each in handoff["handoff"]["blockers"]] == [blocker]
        assert table.do("handoff", session_id="S1", group_id="A")["handoff"]["blockers"] == []
        assert_told_again(table.context)

    @pytest.mark.parametrize("numbered", [True, False])
    def test_makes_a_late_report_stale_and_says_why(self, numbered: bool) -> None:
        table = Table("A", plan=True)
        blocker, turn = table.block("A"), table.turn("A")
        lift(table, blocker)
        late = table.refused("tech_lead", "UNBLOCKING_GUIDANCE", "A", **({"turn": turn} if numbered else {}))
        assert late.code == ("STALE_TURN" if numbered else "OUT_OF_TURN")
        assert f"Turn {table.turn('A')} began because blocker {blocker} was lifted by user" in late.message

    def test_may_be_the_agents_own_soft_one(self) -> None:
        table = Table("A", plan=True)
        lift(table, softly(table), by="qa_expert@S1:A")
        assert table.awaited("A") == "qa_expert"
        table.says("qa_expert", "PASS", "A")
        assert table.awaited("A") == "tech_lead"

    def test_is_lifted_from_an_investigation(self) -> None:
        table = Table("A", plan=True)
        (blocker,) = table.says("developer", "BLOCKED", "A", summary="stuck")["blockers_opened"]
        assert table.awaited("A") == "investigator"
        lift(table, blocker)
        assert table.awaited("A") == "developer"

    def test_is_lifted_while_the_manager_decides(self) -> None:
        table = Table("A", plan=True)
        lift(table, table.mark_external("A"))
        assert table.awaited("A") == "qa_expert"

    @pytest.mark.parametrize("details", [{}, EXTERNAL])
    def test_closes_a_question_about_guidance_on_it(self, details: dict[str, Any]) -> None:
        table = Table("A", plan=True)
        blocker = table.block("A")
        table.says("tech_lead", "UNBLOCKING_GUIDANCE", "A", metadata=REVIEW, details=details)
        lift(table, blocker)
        assert (table.awaited("A"), table.asked()) == ("qa_expert", [])
        assert table.rows("SELECT answer, closed_by FROM questions") == [("moot", "system:router")]

    def test_leaves_a_question_about_the_blocked_report(self) -> None:
        table = Table("A", plan=True)
        said = table.says("developer", "BLOCKED", "A", metadata={**SOFT, "requires_user_review": True,
                                                                "review_reason": "buy a licence?"})  # fmt: skip
        lift(table, said["blockers_opened"][0])
        assert (table.awaited("A"), table.asked()) == ("user", [said["question_id"]])

    def test_waits_for_the_others(self) -> None:
        table = Table("A", plan=True)
        first = table.block("A")
        table.says("tech_lead", "SPAWN_INVESTIGATOR", "A")
        (second,) = table.says("investigator", "BLOCKED", "A", summary="no logs")["blockers_opened"]
        lift(table, second)
        assert table.awaited("A") == "tech_lead"
        lift(table, first)
        assert table.awaited("A") == "qa_expert"

    def test_does_not_stop_who_works_in_spite_of_it(self) -> None:
        table = Table("A", plan=True)
        blocker = table.block("A")
        table.says("project_manager", "REWORK", "A", interrupt=True)
        assert "followed_by" not in lift(table, blocker)
        assert table.awaited("A") == "developer"

    def test_does_not_stop_the_review_of_work_that_went_on(self) -> None:
        table = Table("A", plan=True)
        blocker = table.block("A")
        table.says("project_manager", "REWORK", "A", interrupt=True)
        table.says("developer", "READY_FOR_REVIEW", "A")
        lift(table, blocker)
        assert table.awaited("A") == "tech_lead"

    def test_is_lifted_while_no_slot_is_free(self) -> None:
        table = Table("A", "B", mode="simple")
        table.plan()
        blocker = table.mark_external("A")
        assert table.awaited("B") == "developer"
        lift(table, blocker)
        assert table.row("A", "awaited_role, held") == ("qa_expert", "slot")

    def test_of_a_deferred_group_starts_nobody(self) -> None:
        table = Table("A", "B", plan=True)
        lift(table, table.defer("A"))
        assert (table.status("A"), table.awaited("A")) == ("deferred_external", None)

    def test_of_a_group_under_a_tight_guard_leaves_the_question_about_an_approval(self) -> None:
        table = Table("A", plan=True)
        blocker = table.block("A")
        question = tight(table).says("tech_lead", "APPROVED", "A")["question_id"]
        lift(table, blocker)
        assert (table.awaited("A"), table.asked()) == ("user", [question])
