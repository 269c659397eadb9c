"""`redispatch`: a new turn for the awaited role when its agent died."""

from __future__ import annotations

from typing import Any

import pytest

from tests.integration.app.table import REVIEW, SESSION, Answer, Table, names


def again(table: Table, group: str | None = "A", reason: str = "the agent died") -> Answer:
    return table.do("redispatch", session_id=SESSION, group_id=group, reason=reason)


def test_the_awaited_role_gets_a_new_turn_and_hand_off_and_the_old_turn_is_stale() -> None:
    table = Table("A", plan=True)
    table.says("developer", "READY_FOR_QA", "A", details={"test_results": "all green"})
    old = table.row("A", "awaited_role, awaited_agent_id, awaited_action")
    turn = table.turn("A")
    answer = again(table)
    assert (answer["next_agent"], answer["action"], names(answer)) == ("qa_expert", "spawn", ["redispatch"])
    assert answer["include_context"] == ["dev_output", "files_changed", "test_results"]
    assert table.row("A", "awaited_role, awaited_agent_id, awaited_action") == old
    assert (table.turn("A"), table.decisions("cause, report_id")[-1]) == (answer["seq"], ("redispatch", None))
    assert table.rows("SELECT count(*) FROM handoffs WHERE group_id = 'A' AND turn IN (:old, :new)",
                      old=turn, new=answer["turn"]) == [(2,)]  # fmt: skip
    assert table.code("qa_expert", "PASS", "A", turn=turn) == "STALE_TURN"
    table.says("qa_expert", "PASS", "A", turn=answer["turn"])


def test_who_was_sent_to_merge_is_sent_to_merge_again() -> None:
    table = Table("A", plan=True)
    table.approve("A")
    assert again(table)["action"] == "spawn_merge"
    assert table.says("developer", "MERGE_SUCCESS", "A")["completed"] == ["A"]


def test_the_sessions_own_turn_is_given_anew_too() -> None:
    table = Table()
    answer = again(table, None)
    assert (answer["next_agent"], table.session("turn")) == ("project_manager", (answer["seq"],))


def test_a_manager_who_was_only_named_is_called() -> None:
    table = Table("A", "B", plan=True)
    table.confirmable("A")
    answer = again(table)
    assert (answer["next_agent"], answer["action"], table.row("A", "awaited_action")) == (
        "project_manager", "spawn", ("spawn",),
    )  # fmt: skip


def ended(table: Table) -> None:
    table.move("A", "cancelled")
    table.says("project_manager", "INVESTIGATION_ONLY")


def asked(table: Table) -> None:
    table.says("developer", "PARTIAL", "A", metadata=REVIEW)


def paused(table: Table) -> None:
    table.do("session pause", id=SESSION, by="project_manager", reason="r")
    table.says("developer", "PARTIAL", "A")


@pytest.mark.parametrize(
    ("before", "arguments", "code"),
    [
        pytest.param(None, {"reason": " "}, "REASON_REQUIRED", id="no reason"),
        pytest.param(None, {"group_id": "X"}, "UNKNOWN_GROUP", id="unknown group"),
        pytest.param(None, {"by": "nobody"}, "UNKNOWN_AGENT", id="unknown actor"),
        pytest.param(None, {"group_id": None}, "OUT_OF_TURN", id="the session awaits nobody"),
        pytest.param(lambda table: table.move("A", "cancelled"), {}, "GROUP_CLOSED", id="closed group"),
        pytest.param(ended, {}, "SESSION_CLOSED", id="ended session"),
        pytest.param(asked, {}, "QUESTION_OPEN", id="a person is awaited"),
        pytest.param(paused, {}, "OUT_OF_TURN", id="held: nobody was started"),
        pytest.param(lambda table: table.says("project_manager", "BAZINGA"), {"group_id": None}, "OUT_OF_TURN",
                     id="the validator is no agent"),
    ],
)  # fmt: skip
def test_where_no_agent_has_an_open_turn_nothing_is_redispatched(
    before: Any, arguments: dict[str, Any], code: str
) -> None:
    table = Table("A", plan=True)
    if before:
        before(table)
    given = {"session_id": SESSION, "group_id": "A", "reason": "r", **arguments}
    assert table.refusal("redispatch", **given).code == code


def test_a_pending_group_has_no_turn() -> None:
    assert Table("A").refusal("redispatch", session_id=SESSION, group_id="A", reason="r").code == "OUT_OF_TURN"


def test_agents_that_die_again_and_again_call_the_next_rung() -> None:
    table = Table("A", plan=True)
    found = [again(table)["next_agent"] for _ in range(8)]
    assert found == ["developer"] * 5 + ["tech_lead", "project_manager", None]
    assert (table.awaited("A"), table.count("questions")) == ("user", 1)


def test_a_rung_that_is_awaited_already_is_skipped() -> None:
    table = Table("A", plan=True)
    table.says("developer", "READY_FOR_REVIEW", "A")
    found = [again(table)["next_agent"] for _ in range(6)]
    assert found == ["tech_lead"] * 5 + ["project_manager"]


def test_a_manager_who_dies_again_and_again_leads_to_a_person() -> None:
    table = Table()
    found = [again(table, None)["action"] for _ in range(6)]
    assert found == ["spawn"] * 5 + ["pause_for_user"]
    assert table.session() == ("paused", "user")
