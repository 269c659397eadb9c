"""Decisions, refusals and the timeline: in the record's order, whole steps, only what was asked for."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest

from tests.integration.app.desk import Desk
from tests.integration.app.table import Table

LISTS = {"audit decisions": "decisions", "audit timeline": "events", "audit refusals": "refusals"}


@pytest.fixture
def desk(tmp_path: pathlib.Path) -> Desk:
    return Desk(tmp_path)


@pytest.fixture
def busy(desk: Desk) -> Desk:
    """Two groups with a history: merges that start others in the same step, refusals, a blocker."""
    desk.session("S1", "A", "B")
    desk.call("group create", id="C", session_id="S1", depends_on=("A",))
    desk.report("project_manager PLANNING_COMPLETE")
    for group in ("A", "B", "C"):
        desk.report("developer READY_FOR_QA", group)
        desk.refused("route", session_id="S1", group_id=group, current_agent="developer", status="READY_FOR_QA")
        desk.report("qa_expert BLOCKED,tech_lead UNBLOCKING_GUIDANCE,qa_expert PASS", group, summary=f"{group}: no env")
        desk.report("tech_lead APPROVED,developer MERGE_SUCCESS", group)
    desk.report("project_manager BAZINGA", acknowledge={"A": "seen"})
    return desk


def read(desk: Desk, words: str, **asked: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = desk.call(words, session_id="S1", **{"limit": 1000, **asked})[LISTS[words]]
    return rows


def marks(table: Table) -> list[str]:
    """What the timeline of a table tells of external marks."""
    events = table.do("audit timeline", session_id="S1", limit=1000)["events"]
    return [each["text"] for event in events for each in event["wrote"] if each["what"] == "blocker_marked"]


def pages(desk: Desk, words: str, **asked: Any) -> list[dict[str, Any]]:
    """All pages of a list, put together."""
    found: list[dict[str, Any]] = []
    while True:
        page = desk.call(words, session_id="S1", **asked)
        found += page[LISTS[words]]
        if not page["has_more"]:
            return found
        asked |= {"since": page["next_since"]}
        if "next_until" in page:
            asked["until"] = page["next_until"]


@pytest.mark.parametrize("words", LISTS)
@pytest.mark.parametrize("asked", [{}, {"group_id": "B"}], ids=["all", "one group"])
@pytest.mark.parametrize("order", ["asc", "desc"])
@pytest.mark.parametrize("limit", [1, 2, 7, 1000])
def test_pages_put_together_are_the_list(busy: Desk, words: str, asked: dict[str, str], order: str, limit: int) -> None:
    every = read(busy, words, **asked)
    found = pages(busy, words, order=order, limit=limit, **asked)
    key = [(row["seq"], row.get("part", 1)) for row in every]
    assert key == sorted(set(key))
    assert key
    assert [(row["seq"], row.get("part", 1)) for row in found] == (key if order == "asc" else key[::-1])


@pytest.mark.parametrize("words", LISTS)
@pytest.mark.parametrize("order", ["asc", "desc"])
def test_a_span_is_open_at_its_start_and_closed_at_its_end(busy: Desk, words: str, order: str) -> None:
    every = [row["seq"] for row in read(busy, words)]
    since, until = every[1], every[-2]
    expected = [seq for seq in every if since < seq <= until]
    found = [row["seq"] for row in read(busy, words, since=since, until=until, order=order)]
    assert sorted(found) == expected
    assert [row["seq"] for row in read(busy, words, since=until, until=since)] == []


@pytest.mark.parametrize("group", ["B", None])
def test_the_span_of_one_group_s_decisions_is_the_span_of_all(busy: Desk, group: str | None) -> None:
    every = read(busy, "audit decisions")
    for bound in range(0, every[-1]["seq"] + 2):
        found = read(busy, "audit decisions", group_id="B", since=bound, until=bound + 5)
        assert found == [row for row in every if row["group_id"] == "B" and bound < row["seq"] <= bound + 5]


def test_an_unknown_order_is_refused(busy: Desk) -> None:
    assert busy.refused("audit decisions", session_id="S1", order="random").code == "USAGE"


class TestDecisions:
    """Who was sent where, by which rule."""

    def test_they_name_rules_and_spawns(self, busy: Desk) -> None:
        (batch,) = [row for row in read(busy, "audit decisions") if row["response_status"] == "PLANNING_COMPLETE"]
        assert [rule["name"] for rule in batch["rules"]] == ["batch"]
        assert [(spawn["group_id"], spawn["agent"]) for spawn in batch["spawns"]] == [
            ("A", "developer"), ("B", "developer"),
        ]  # fmt: skip

    def test_they_are_filtered_by_the_reporting_role_or_agent(self, busy: Desk) -> None:
        by_role = read(busy, "audit decisions", agent="qa_expert")
        by_agent = read(busy, "audit decisions", agent="qa_expert@S1:B")
        assert {row["current_agent"] for row in by_role} == {"qa_expert"}
        assert [row["id"] for row in by_agent] == [row["id"] for row in by_role if row["group_id"] == "B"]

    def test_they_are_filtered_by_status(self, busy: Desk) -> None:
        found = read(busy, "audit decisions", status="APPROVED", group_id="A")
        assert [(row["current_agent"], row["next_agent"]) for row in found] == [("tech_lead", "developer")]


class TestRefusals:
    """Who tried what, and why it was refused."""

    def test_they_say_who_tried_what(self, busy: Desk) -> None:
        found = read(busy, "audit refusals")
        assert [(row["role"], row["status"], row["group_id"], row["code"]) for row in found] == [
            ("developer", "READY_FOR_QA", group, "OUT_OF_TURN") for group in ("A", "B", "C")
        ]

    def test_those_of_unknown_sessions_are_in_the_store_s_chain(self, busy: Desk) -> None:
        busy.refused("route", session_id="nowhere", current_agent="developer", status="READY_FOR_QA")
        (refusal,) = busy.call("audit refusals", session_id="@store")["refusals"]
        assert (refusal["claimed_session"], refusal["code"]) == ("nowhere", "UNKNOWN_SESSION")


class TestTimeline:
    """Every step in order, in sentences."""

    def test_it_tells_every_step_once(self, busy: Desk) -> None:
        events = read(busy, "audit timeline")
        assert [event["seq"] for event in events] == list(range(1, events[-1]["seq"] + 1))
        assert all(event["text"] for event in events)

    def test_it_tells_a_report_with_what_followed(self, desk: Desk) -> None:
        desk.planned("S1", "A")
        desk.report("developer READY_FOR_QA,qa_expert BLOCKED", "A", summary="no env")
        event = read(desk, "audit timeline")[-1]
        assert (event["kind"], event["channel"], event["at"]) == ("route", "process", desk.clock())
        assert event["text"] == (
            "qa_expert@S1:A reported BLOCKED on A: no env; decision S1:D5: spawn tech_lead on A;"
            " blocker S1:B5 (hard unclassified) opened on A: no env"
        )

    def test_it_tells_moves_resolved_blockers_and_refusals(self, busy: Desk) -> None:
        told = [each["text"] for event in read(busy, "audit timeline") for each in event["wrote"]]
        assert "group B: pending -> in_progress by system:router (a slot is free)" in told
        assert "blocker S1:B8 resolved by tech_lead@S1:A (guidance): A: no env" in told
        assert "the project manager acknowledged A: seen" in told
        assert [text for text in told if text.startswith("refused developer READY_FOR_QA on A: OUT_OF_TURN, ")] != []

    def test_a_refused_command_is_named_with_what_it_was_called_on(self, desk: Desk) -> None:
        desk.planned("S1", "A")
        desk.refused("group set-status", id="A", session_id="S1", status="completed", by="developer", reason="x")
        event = read(desk, "audit timeline")[-1]
        assert event["called"] == "developer: group set-status A: x"
        assert event["text"].startswith("developer: group set-status A: x; refused developer completed on A: ")

    def test_who_poses_as_another_role_is_named(self, desk: Desk) -> None:
        desk.call("agent register", id="bob", role="developer", parent="tech_lead")
        desk.session("S1", "A")
        desk.refused(
            "route", session_id="S1", current_agent="project_manager", status="PLANNING_COMPLETE", agent_id="bob"
        )
        assert read(desk, "audit timeline")[-1]["text"].startswith("refused bob as project_manager PLANNING_COMPLETE: ")

    def test_it_tells_of_external_marks_also_of_those_that_were_taken_back(self) -> None:
        table = Table("A")
        blocker = table.mark_external("A")
        assert marks(table) == [f"blocker {blocker} marked external on A by tech_lead@S1:A: the hospital's IT"]
        table.context.connection.execute(
            "UPDATE blockers SET external = 0, external_dependency = NULL, external_by = NULL, external_seq = NULL"
        )
        assert marks(table) == [
            "a blocker no longer marked external marked external on A by tech_lead@S1:A: the hospital's IT"
        ]

    def test_it_tells_questions(self, desk: Desk) -> None:
        desk.planned("S1", "A")
        desk.report("project_manager NEEDS_CLARIFICATION", summary="which colour?")
        assert "question S1:Q4 (clarification) asked: " in read(desk, "audit timeline")[-1]["text"]

    def test_it_names_what_was_called_where_no_row_tells(self, busy: Desk) -> None:
        assert read(busy, "audit timeline")[1]["text"] == "project_manager: group create A"

    def test_it_is_filtered_by_group_with_its_creation_and_its_start(self, busy: Desk) -> None:
        events = read(busy, "audit timeline", group_id="B")
        assert [event["kind"] for event in events[:3]] == ["group create", "route", "route"]

    def test_it_is_filtered_by_who_was_sent(self, busy: Desk) -> None:
        kinds = [event["seq"] for event in read(busy, "audit timeline", agent="qa_expert@S1:C")]
        assert len(kinds) > 3

    def test_it_is_filtered_by_status(self, busy: Desk) -> None:
        assert len(read(busy, "audit timeline", status="READY_FOR_QA")) == 6

    def test_the_store_has_one_too(self, desk: Desk) -> None:
        events = desk.call("audit timeline", session_id="@store")["events"]
        assert [event["kind"] for event in events] == ["migrate", "init", "workflow load"]


def test_reading_writes_nothing(busy: Desk) -> None:
    before = busy.events()
    for words in LISTS:
        read(busy, words)
    busy.refused("audit timeline", session_id="nowhere")
    busy.refused("audit decisions", session_id="@store")
    assert busy.events() == before


@pytest.mark.parametrize("words", ["audit timeline", "audit refusals"])
def test_store_stands_for_what_belongs_to_no_session(desk: Desk, words: str) -> None:
    desk.refused("agent register", id="x", role="nobody")
    every = desk.call(words, session_id="@store")[LISTS[words]]
    assert every != []
    assert desk.call(words, session_id="store")[LISTS[words]] == every


@pytest.mark.parametrize("words", ["audit timeline", "audit refusals"])
def test_a_session_that_is_called_store_is_meant_before_the_stores_record(desk: Desk, words: str) -> None:
    desk.session("store", "A")
    desk.refused("group create", id="A", session_id="store")
    rows = desk.call(words, session_id="store")[LISTS[words]]
    assert {row["session_id"] for row in rows} == {"store"}
