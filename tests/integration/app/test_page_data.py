"""What pages and pictures of a session are made from: its swimlanes, and its groups as a board."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest

from orchestrator import errors
from orchestrator.app.audit import evidence_list, swimlanes
from orchestrator.app.session import board, dashboard
from tests import persons
from tests.integration.app.desk import Desk


@pytest.fixture
def desk(tmp_path: pathlib.Path) -> Desk:
    return Desk(tmp_path)


def step(desk: Desk, words: str, group: str | None, **more: Any) -> dict[str, Any]:
    """Report a minute later than whatever was reported before."""
    desk.clock.minutes += 1
    return desk.report(words, group, **more)


def lane(desk: Desk, group: str) -> dict[str, Any]:
    (found,) = swimlanes.swimlanes(desk.context, session_id="S1", groups=(group,))["lanes"]
    return dict(found)


def test_a_lane_has_a_bar_for_each_turn_with_its_report_and_marks_rework(desk: Desk) -> None:
    desk.planned("S1", "A")
    step(desk, "developer READY_FOR_QA", "A", summary="first try")
    step(desk, "qa_expert FAIL", "A", summary="it breaks")
    step(desk, "developer READY_FOR_QA", "A")
    bars = lane(desk, "A")["bars"]
    assert [(bar["role"], bar["state"], bar["rework"], bar["response_status"]) for bar in bars] == [
        ("developer", "done", False, "READY_FOR_QA"),
        ("qa_expert", "done", False, "FAIL"),
        ("developer", "done", True, "READY_FOR_QA"),
        ("qa_expert", "open", False, None),
    ]
    assert [bar["start"] for bar in bars[1:]] == [bar["end"] for bar in bars[:-1]]
    assert (bars[0]["summary"], bars[0]["next_agent"], bars[-1]["end"]) == ("first try", "qa_expert", None)


def test_a_turn_that_was_given_anew_ends_where_the_next_one_begins(desk: Desk) -> None:
    desk.planned("S1", "A")
    desk.clock.minutes += 61
    desk.call("redispatch", group_id="A", session_id="S1", by="project_manager", reason="it is gone")
    first, second = lane(desk, "A")["bars"]
    assert (first["state"], first["end"], second["state"]) == ("replaced", second["start"], "open")


def test_a_group_that_waits_for_another_one_has_an_empty_lane(desk: Desk) -> None:
    desk.session("S1", "A")
    desk.call("group create", id="B", session_id="S1", depends_on=("A",))
    desk.report("project_manager PLANNING_COMPLETE")
    assert (lane(desk, "B")["bars"], lane(desk, "B")["status"]) == ([], "pending")


def test_questions_are_pauses_and_blockers_are_blocked_time(desk: Desk) -> None:
    desk.planned("S1", "A", "B")
    review = {"status": "partial", "requires_user_review": True, "review_reason": "Right?"}
    step(desk, "developer PARTIAL", "A", metadata=review)
    step(desk, "developer BLOCKED", "B", summary="no key")
    ((pause,), (block,)) = lane(desk, "A")["pauses"], lane(desk, "B")["blocks"]
    assert (pause["kind"], pause["text"], pause["end"]) == ("review", "Right?", None)
    assert (block["reason"], block["end"]) == ("no key", None)


def test_the_sessions_own_lane_is_first_on_the_first_page_alone(desk: Desk) -> None:
    desk.planned("S1", "A", "B", "C")
    first = swimlanes.swimlanes(desk.context, session_id="S1", limit=2)
    second = swimlanes.swimlanes(desk.context, session_id="S1", limit=2, since=first["next_since"])
    assert [each["group_id"] for each in first["lanes"]] == [None, "A", "B"]
    assert [each["group_id"] for each in second["lanes"]] == ["C"]
    assert [bar["response_status"] for bar in first["lanes"][0]["bars"]] == ["PLANNING_COMPLETE"]
    assert (first["has_more"], second["has_more"]) == (True, False)


def test_groups_in_which_nothing_happened_are_counted_and_have_no_lane(desk: Desk) -> None:
    desk.planned("S1", *"ABCDEF")
    step(desk, "developer BLOCKED", "A", summary="no key")
    shown = swimlanes.swimlanes(desk.context, session_id="S1", limit=3)
    begun = [row[0] for row in desk.context.connection.execute("SELECT id FROM task_groups WHERE turn > 0 ORDER BY id")]
    assert 0 < len(begun) < 6
    assert [each["group_id"] for each in shown["lanes"]] == [None, *begun[:3]]
    assert (shown["without_steps"], shown["has_more"]) == (6 - len(begun), len(begun) > 3)
    whole = swimlanes.swimlanes(desk.context, session_id="S1", every=True)
    assert ([each["group_id"] for each in whole["lanes"]], whole["without_steps"]) == ([None, *"ABCDEF"], 0)


def test_a_board_shows_the_groups_that_are_held(desk: Desk) -> None:
    desk.planned("S1", "A", "B")
    desk.call("session pause", id="S1", by="project_manager", reason="wait")
    step(desk, "developer READY_FOR_QA", "A")
    found = board.board(desk.context, session_id="S1", state="held")
    assert [each["id"] for each in found["groups"]] == ["A"]
    assert board.counts(desk.context, session_id="S1")["held"] == 1


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"session_id": "none"}, "UNKNOWN_SESSION"),
        ({"session_id": "S1", "groups": ("A", "none")}, "UNKNOWN_GROUP"),
        ({"session_id": "S1", "limit": 0}, "USAGE"),
        ({"session_id": "S1", "limit": swimlanes.MOST + 1}, "USAGE"),
    ],
)
def test_lanes_of_what_is_not_there_are_refused(desk: Desk, asked: dict[str, Any], code: str) -> None:
    desk.planned("S1", "A")
    with pytest.raises(errors.OrchestratorError) as caught:
        swimlanes.swimlanes(desk.context, **asked)
    assert caught.value.code == code


@pytest.mark.parametrize("unfit", [{"agent": "developer"}, {"status": "PLANNED"}, {"order": "desc"}])
def test_a_timeline_of_lanes_takes_no_filter_of_events(desk: Desk, unfit: dict[str, Any]) -> None:
    desk.planned("S1", "A")
    refused = desk.refused("audit timeline", session_id="S1", lanes=True, **unfit)
    assert (refused.code, next(iter(unfit)) in refused.message) == ("USAGE", True)


def test_content_of_evidence_that_is_not_there_is_refused(desk: Desk) -> None:
    desk.planned("S1", "A")
    with pytest.raises(errors.Refused) as caught:
        evidence_list.content(desk.context, session_id="S1", seq=1)
    assert (caught.value.code, caught.value.data["kind"]) == ("UNKNOWN_ID", "evidence")


def test_sessions_of_an_unknown_state_are_refused(desk: Desk) -> None:
    with pytest.raises(errors.UsageError, match="state must be one of") as caught:
        dashboard.sessions(desk.context, state="none")
    assert caught.value.code == "USAGE"


@pytest.fixture
def mixed(desk: Desk) -> Desk:
    """Groups in every kind of trouble: B asks a person, D is blocked, A is overdue, C has just begun."""
    desk.planned("S1", "A", "B", "C", "D", turn_timeout=30)
    review = {"status": "partial", "requires_user_review": True, "review_reason": "Right?"}
    step(desk, "developer PARTIAL", "B", metadata=review)
    desk.clock.minutes += 20
    step(desk, "developer BLOCKED", "D", summary="no key")
    desk.clock.minutes += 15
    step(desk, "developer READY_FOR_QA", "C")
    return desk


def ids(desk: Desk, **asked: Any) -> list[str]:
    return [group["id"] for group in board.board(desk.context, session_id="S1", **asked)["groups"]]


def test_what_needs_somebody_comes_first(mixed: Desk) -> None:
    assert ids(mixed) == ["B", "A", "D", "C"]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"state": "waiting"}, ["B"]),
        ({"state": "overdue"}, ["A"]),
        ({"state": "blocked"}, ["D"]),
        ({"state": "completed"}, []),
        ({"role": "qa_expert"}, ["C"]),
        ({"text": "OF d"}, ["D"]),
        ({"text": "%"}, []),
        ({"sort": "name"}, ["A", "B", "C", "D"]),
        ({"sort": "waiting"}, ["A", "B", "D", "C"]),
        ({"limit": 3, "page": 2}, ["C"]),
        ({"limit": 3, "page": 9}, ["C"]),
    ],
)
def test_a_board_is_filtered_sorted_and_read_by_the_page(mixed: Desk, asked: dict[str, Any], found: list[str]) -> None:
    assert ids(mixed, **asked) == found


@pytest.mark.parametrize("sort", board.SORTS)
def test_every_order_shows_every_group_once(mixed: Desk, sort: str) -> None:
    assert sorted(ids(mixed, sort=sort)) == ["A", "B", "C", "D"]


@pytest.mark.parametrize("asked", [{"state": "lost"}, {"sort": "colour"}, {"limit": 0}])
def test_a_board_refuses_what_it_does_not_know(desk: Desk, asked: dict[str, Any]) -> None:
    desk.planned("S1", "A")
    with pytest.raises(errors.UsageError):
        board.board(desk.context, session_id="S1", **asked)


def test_a_board_says_of_each_group_what_status_says(mixed: Desk) -> None:
    mixed.call("group create", id="E", session_id="S1", depends_on=("A", "C"))
    told = {group["id"]: group for group in mixed.call("status", session_id="S1")["groups"]}
    for group in board.board(mixed.context, session_id="S1")["groups"]:
        same = ("name", "status", "priority", "awaited", "overdue", "waits_for", "rework", "awaiting_confirmation")
        assert {name: group[name] for name in same} == {name: told[group["id"]][name] for name in same}
        assert [each["id"] for each in group["blockers"]] == told[group["id"]]["blockers"]


def test_open_turns_are_those_that_status_tells(mixed: Desk) -> None:
    assert board.turns(mixed.context, session_id="S1") == mixed.call("status", session_id="S1")["spawns"]


def test_groups_are_counted_by_status_role_and_trouble(mixed: Desk) -> None:
    found = board.counts(mixed.context, session_id="S1")
    assert [(each["role"], each["groups"], each["first"]) for each in found["working"]] == [
        ("developer", 1, "A"), ("investigator", 1, "D"), ("qa_expert", 1, "C"),
    ]  # fmt: skip
    numbers = {name: found[name] for name in ("groups", "by_status", "waiting", "overdue", "blocked", "held")}
    assert numbers == {
        "groups": 4, "by_status": {"in_progress": 4}, "waiting": 1, "overdue": 1, "blocked": 1, "held": 0,
    }  # fmt: skip


PLAYED = {
    "running": (),
    "person_awaited": (
        ("route", {"current_agent": "project_manager", "status": "NEEDS_CLARIFICATION", "summary": "which?"}),
    ),
    "paused": (("session pause", {"id": "S1", "by": "project_manager", "reason": "wait"}),),
    "ended": (("session end", {"id": "S1", "by": "user", "reason": "no longer wanted"}),),
}


@pytest.mark.parametrize("state", PLAYED)
def test_a_head_and_a_dashboard_say_the_state_that_status_says(desk: Desk, state: str) -> None:
    desk.session("S1", "A")
    for words, given in PLAYED[state]:
        with persons.seated(desk.context):
            desk.call(words, **({} if "id" in given else {"session_id": "S1"}), **given)
    (listed,) = dashboard.sessions(desk.context, state="all")["sessions"]
    told = [board.head(desk.context, session_id="S1"), desk.call("status", session_id="S1"), listed]
    assert [each["state"] for each in told] == [state] * 3


def test_a_dashboard_counts_groups_questions_and_blockers(mixed: Desk) -> None:
    mixed.call("session create", id="S2", goal="Another Goal")
    found = dashboard.sessions(mixed.context)
    named = ("id", "title", "groups", "blocked", "questions", "work")
    numbers = [[each[name] for name in named] for each in found["sessions"]]
    assert numbers == [["S1", "goal of S1", 4, 1, 1, 3], ["S2", "Another Goal", 0, 0, 0, 0]]
    assert found["counts"] == {"all": 2, "open": 2, "waiting": 1, "ended": 0}


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"state": "waiting"}, ["S1"]),
        ({"state": "ended"}, []),
        ({"text": "OTHER"}, ["S2"]),
        ({"limit": 1, "page": 5}, ["S2"]),
    ],
)
def test_sessions_are_filtered_and_read_by_the_page(mixed: Desk, asked: dict[str, Any], found: list[str]) -> None:
    mixed.call("session create", id="S2", goal="Another Goal")
    assert [each["id"] for each in dashboard.sessions(mixed.context, **asked)["sessions"]] == found
