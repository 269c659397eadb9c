"""`why` explains a group by its unmet parts and a decision rule by rule."""

from __future__ import annotations

import pathlib

import pytest

from orchestrator import resources
from tests.integration.app.desk import Desk
from tests.integration.app.table import SESSION, Table


@pytest.fixture
def desk(tmp_path: pathlib.Path) -> Desk:
    return Desk(tmp_path)


@pytest.fixture
def blocked(desk: Desk) -> Desk:
    desk.planned("S1", "A")
    desk.report("dev ready_for_qa,qa_expert BLOCKED", "A", summary="no env")
    return desk


def test_a_group_awaits_somebody_since_a_decision(blocked: Desk) -> None:
    answer = blocked.call("why", id="A", session_id="S1")
    assert (answer["awaited"]["role"], answer["awaited"]["decision_id"]) == ("tech_lead", "S1:D5")
    assert answer["sentences"][0] == (
        f"Group A is in_progress and awaits tech_lead (tech_lead@S1:A), action spawn, since {blocked.clock()},"
        " decision S1:D5."
    )


def test_a_group_names_its_unmet_parts_in_words(blocked: Desk) -> None:
    answer = blocked.call("why", id="A", session_id="S1")
    assert [part["part"] for part in answer["unmet"]] == ["approved", "tested", "merged", "unblocked", "confirmed"]
    assert "Still blocked: blocker S1:B5 is open." in answer["sentences"]
    assert [decision["id"] for decision in answer["decisions"]] == ["S1:D5", "S1:D4", "S1:D3"]


def test_a_group_started_in_a_batch_names_the_batch(desk: Desk) -> None:
    desk.planned("S1", "A")
    assert desk.call("why", id="A", session_id="S1")["awaited"]["decision_id"] == "S1:D3"


def test_a_pending_group_says_what_it_waits_for(desk: Desk) -> None:
    desk.session("S1", "A")
    desk.call("group create", id="B", session_id="S1", depends_on=("A",))
    assert "It depends on group A, which is pending." in desk.call("why", id="B", session_id="S1")["sentences"]


ROUND_IN_CIRCLES = {
    "developer": "READY_FOR_QA",
    "senior_software_engineer": "READY_FOR_QA",
    "qa_expert": "FAIL",
    "tech_lead": "CHANGES_REQUESTED",
    "project_manager": "REWORK",
}


def test_a_group_that_went_round_in_circles_awaits_a_person_since_a_decision(desk: Desk) -> None:
    desk.planned("S1", "A")
    while (role := desk.group()["awaited"]["role"]) != "user":
        last = desk.report(f"{role} {ROUND_IN_CIRCLES[role]}", "A")
    answer = desk.call("why", id="A", session_id="S1")
    assert answer["awaited"]["decision_id"] == last["decision_id"]
    assert answer["sentences"][0].startswith("Group A is in_progress and awaits a person, action pause_for_user, since")
    assert "loop_guard" in [rule["name"] for rule in answer["decisions"][0]["rules"]]


def test_a_finished_group_says_who_finished_it(desk: Desk) -> None:
    desk.planned("S1", "A")
    desk.report("developer READY_FOR_QA,qa_expert PASS,tech_lead APPROVED,developer MERGE_SUCCESS", "A")
    answer = desk.call("why", id="A", session_id="S1")
    assert (answer["unmet"], answer["awaited"]) == ([], None)
    assert answer["sentences"] == [
        f"Group A is completed since {desk.clock()}, by system:router (the completion path is valid).",
        "approved is met: given by APPROVED, report S1:R6.",
        "tested is met: passed by PASS, report S1:R5.",
        "merged is met: done by MERGE_SUCCESS, report S1:R7.",
        "unblocked is met: nothing stands in the way.",
        "reviewed is met: no review is mandatory.",
        "confirmed is met: the group was never blocked.",
    ]


def test_a_cancelled_group_says_nothing_of_what_it_lacks() -> None:
    table = Table("A")
    table.move("A", "cancelled")
    sentences = table.do("why", id="A", session_id=SESSION)["sentences"]
    assert [sentence.partition(" since")[0] for sentence in sentences] == ["Group A is cancelled"]


def test_a_group_that_the_manager_took_as_it_is_says_what_is_met_and_what_is_not() -> None:
    table = Table("A", plan=True)
    table.says("developer", "READY_FOR_QA", "A")
    table.says("project_manager", "BAZINGA", acknowledge={"A": "good enough"}, interrupt=True)
    table.move("A", "completed")
    sentences = table.do("why", id="A", session_id=SESSION)["sentences"]
    assert sentences[1:] == [
        "unblocked is met: nothing stands in the way.",
        "reviewed is met: no review is mandatory.",
        "confirmed is met: the group was never blocked.",
        "Not approved yet: never approved: the last report that counts is READY_FOR_QA, report S1:R4.",
        "Not tested yet: quality assurance has not answered READY_FOR_QA, report S1:R4.",
        "Not merged yet: nothing was merged.",
        "The project manager acknowledged it as it is, in BAZINGA, report S1:R5 (good enough), which stands for what is"
        " not met.",
    ]


def test_a_deferred_group_says_what_it_waits_for_and_not_what_it_lacks() -> None:
    table = Table("A")
    blocker = table.mark_external("A")
    table.move("A", "deferred_external")
    answer = table.do("why", id="A", session_id=SESSION)
    assert answer["sentences"][1:] == [
        f"It waits for the hospital's IT (blocker {blocker}), outside the project; the session ends only when a project"
        " manager's BAZINGA acknowledges it by name."
    ]
    assert [part["part"] for part in answer["unmet"]][:1] == ["approved"]


@pytest.mark.parametrize(
    ("id_", "command"),
    [
        ("S1:B5", "orchestrator audit blockers --session-id S1"),
        ("S1:X5", "orchestrator audit refusals --session-id S1"),
        ("S1:E5", "orchestrator audit timeline --session-id S1"),
        ("S1:Q5", "orchestrator inbox --session-id S1"),
        ("S1:D99", "orchestrator audit decisions --session-id S1"),
        ("S 1:Z", "orchestrator audit decisions"),
    ],
)
def test_an_id_that_is_no_decisions_is_sent_to_the_list_that_it_stands_in(
    blocked: Desk, id_: str, command: str
) -> None:
    assert blocked.refused("why", id=id_, session_id="S1").suggestion == command


def test_a_group_that_lacks_its_confirmation_says_so(desk: Desk) -> None:
    desk.planned("S1", "A")
    desk.report("developer READY_FOR_QA,qa_expert BLOCKED,tech_lead UNBLOCKING_GUIDANCE,qa_expert PASS", "A")
    desk.report("tech_lead APPROVED,developer MERGE_SUCCESS", "A")
    answer = desk.call("why", id="A", session_id="S1")
    assert answer["sentences"][-1] == (
        "Only the project manager's confirmation is missing: `orchestrator route project_manager BAZINGA"
        " --session-id S1 --acknowledge A=REASON`."
    )
    assert answer["awaited"]["decision_id"] == "S1:D9"


def test_a_held_group_names_the_decision_that_held_it(desk: Desk) -> None:
    desk.planned("S1", "A")
    desk.call("session pause", id="S1", by="project_manager", reason="lunch")
    decision = desk.report("developer READY_FOR_QA", "A")
    answer = desk.call("why", id="A", session_id="S1")
    assert (answer["awaited"]["held"], answer["awaited"]["decision_id"]) == ("session_paused", decision["decision_id"])
    assert answer["sentences"][0].endswith("; it is held (session_paused).")


@pytest.mark.parametrize(
    ("id_", "session"),
    [
        pytest.param("S1:D5", None, id="whole id"),
        pytest.param("D5", "S1", id="short id"),
        pytest.param("S1:D5.1", None, id="first part"),
        pytest.param("S1:R5", None, id="the report"),
    ],
)
def test_a_decision_is_found_by_its_id(blocked: Desk, id_: str, session: str | None) -> None:
    answer = blocked.call("why", id=id_, session_id=session)
    assert (answer["about"], answer["decision"]["id"]) == ("decision", "S1:D5")


def test_a_decision_names_file_and_line_of_its_transition(blocked: Desk) -> None:
    text = (resources.path("workflow") / "transitions.json").read_text("utf-8").splitlines()
    answer = blocked.call("why", id="S1:D5")
    found = answer["transition"]
    assert found["file"] == "transitions.json"
    assert f'"{found["path"].rpartition(".")[2]}"' in text[found["line"] - 1]
    assert any(f"at transitions.json:{found['line']}, {found['path']}" in each for each in answer["sentences"])


def test_a_decision_names_its_report_transition_and_consequences(blocked: Desk) -> None:
    answer = blocked.call("why", id="S1:D5")
    report, transition = answer["report"], answer["transition"]
    assert (report["agent_id"], report["response_status"]) == ("qa_expert@S1:A", "BLOCKED")
    assert (transition["path"], transition["next_agent"], transition["effect"]) == (
        "$.qa_expert.BLOCKED", "tech_lead", "block",
    )  # fmt: skip
    assert answer["consequences"] == [
        {
            "what": "blocker_opened", "id": "S1:B5", "group_id": "A",
            "text": "blocker S1:B5 (hard unclassified) opened on A: no env",
        }
    ]  # fmt: skip


def test_a_decision_keeps_the_names_as_they_were_written(blocked: Desk) -> None:
    answer = blocked.call("why", id="S1:D4")
    assert (answer["report"]["raw_role"], answer["report"]["raw_status"]) == ("dev", "ready_for_qa")
    assert answer["sentences"][0] == "developer@S1:A reported READY_FOR_QA (written 'ready_for_qa') as developer."


def test_a_decision_tells_rule_by_rule_what_changed_it(desk: Desk) -> None:
    desk.planned("S1", "A", testing_mode="minimal")
    decision = desk.report("developer READY_FOR_QA", "A")["decision_id"]
    answer = desk.call("why", id=decision)
    assert [rule["name"] for rule in answer["rules"]] == ["testing_mode"]
    assert answer["decision"]["next_agent"] != answer["transition"]["next_agent"]
    assert [line for line in answer["sentences"] if line.startswith("Rule testing_mode fired: ")] != []


def test_a_decision_of_the_machinery_names_its_cause(desk: Desk) -> None:
    desk.session("S1")
    answer = desk.call("why", id="S1:D1")
    assert (answer["report"], answer["transition"]) == (None, None)
    assert answer["sentences"][0] == "Triggered by session, not by a report."


def test_an_alias_is_named(desk: Desk) -> None:
    desk.planned("S1", "A")
    desk.report("developer BLOCKED,investigator INCOMPLETE", "A")
    transition = desk.call("why", id="S1:D5")["transition"]
    assert (transition["alias"], transition["path"]) == ("INCOMPLETE", "$.investigator.INVESTIGATION_INCOMPLETE")


@pytest.mark.parametrize(
    ("id_", "session", "code"),
    [
        pytest.param("S1:D99", None, "UNKNOWN_ID", id="no such step"),
        pytest.param("S1:D5.7", None, "UNKNOWN_ID", id="no such part"),
        pytest.param("S1:Z5", None, "UNKNOWN_ID", id="no such kind"),
        pytest.param("S1:", None, "UNKNOWN_ID", id="nothing after the session"),
        pytest.param("D99", "S1", "UNKNOWN_ID", id="short id of no step"),
        pytest.param("B", "S1", "UNKNOWN_GROUP", id="no such group"),
        pytest.param("", "S1", "UNKNOWN_GROUP", id="empty"),
        pytest.param("A", None, "USAGE", id="a group of no session"),
    ],
)
def test_what_is_unknown_is_refused(blocked: Desk, id_: str, session: str | None, code: str) -> None:
    assert blocked.refused("why", id=id_, session_id=session).code == code


def test_a_group_may_be_called_like_a_decision(desk: Desk) -> None:
    desk.session("S1", "D1")
    assert desk.call("why", id="D1", session_id="S1")["about"] == "group"
