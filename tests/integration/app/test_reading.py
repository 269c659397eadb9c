"""Sessions, groups and agents are read by whole ids, in the order of the record, and only the ones asked for."""

from __future__ import annotations

import pathlib
import re

import pytest

from orchestrator.app.engine import group_changes
from orchestrator.app.kernel import views
from orchestrator.errors import OrchestratorError
from orchestrator.store import queries
from tests.integration.app.desk import Desk
from tests.integration.app.table import Table


@pytest.fixture
def desk(tmp_path: pathlib.Path) -> Desk:
    return Desk(tmp_path)


def ids(answer: dict[str, list[dict[str, str]]], name: str) -> list[str]:
    return [row["id"] for row in answer[name]]


def test_priorities_are_read_as_they_are_written() -> None:
    assert {word: number for number, word in enumerate(views.PRIORITIES)} == group_changes.PRIORITIES


@pytest.mark.parametrize("asked", ["s_1", "sA1", "S_1"])
def test_a_session_is_found_by_its_whole_id(desk: Desk, asked: str) -> None:
    for id_ in ("s_1", "sA1", "S_1"):
        desk.session(id_)
    found = desk.call("session show", id=asked)["session"]
    assert (found["id"], found["goal"]) == (asked, f"goal of {asked}")


@pytest.mark.parametrize("asked", ["", "%", "_", "\\", "s%", "s_2", "\udc80"])
def test_no_other_session_is_found_by_a_pattern(desk: Desk, asked: str) -> None:
    desk.session("s_1", "AUTH_1")
    assert desk.refused("group show", id=asked, session_id="s_1").code == "UNKNOWN_GROUP"


@pytest.mark.parametrize("asked", ["", "%", "_", "\\", "AUTH%"])
def test_a_state_that_matches_nothing_gives_nothing(desk: Desk, asked: str) -> None:
    desk.planned("S1", "AUTH_1", "AUTHX1")
    assert desk.call("group list", session_id="S1", status=asked)["groups"] == []
    assert desk.call("audit timeline", session_id="S1", status=asked)["events"] == []


@pytest.mark.parametrize(
    ("words", "filter_", "code"),
    [
        ("audit decisions", "group_id", "UNKNOWN_GROUP"), ("audit decisions", "agent", "UNKNOWN_AGENT"),
        ("audit timeline", "group_id", "UNKNOWN_GROUP"), ("audit timeline", "agent", "UNKNOWN_AGENT"),
        ("audit blockers", "group_id", "UNKNOWN_GROUP"), ("audit blockers", "agent", "UNKNOWN_AGENT"),
        ("audit gaps", "group_id", "UNKNOWN_GROUP"), ("audit gaps", "agent", "UNKNOWN_AGENT"),
        ("audit refusals", "group_id", "UNKNOWN_GROUP"), ("audit refusals", "agent", "UNKNOWN_AGENT"),
        ("blocker list", "group_id", "UNKNOWN_GROUP"), ("blocker list", "task", "UNKNOWN_TASK"),
        ("task list", "group_id", "UNKNOWN_GROUP"), ("task list", "assignee", "UNKNOWN_AGENT"),
        ("task list", "parent", "UNKNOWN_TASK"), ("agent list", "role", "UNKNOWN_AGENT"),
        ("inbox", "since", "UNKNOWN_ID"),
    ],
)  # fmt: skip
def test_a_list_by_a_name_that_is_nobodys_is_refused(desk: Desk, words: str, filter_: str, code: str) -> None:
    """A misspelt name is no empty list; nor is a pattern one of what it would match."""
    desk.planned("S1", "AUTH_1", "AUTHX1")
    for asked in ("", "%", "_", "\\", "AUTH%", "AUTH", "\ud800")[words == "inbox" :]:
        assert desk.refused(words, **{"session_id": "S1", filter_: asked}).code == code
    if code == "UNKNOWN_AGENT":
        near = desk.refused(words, **{"session_id": "S1", filter_: "develper"})
        assert (near.data["did_you_mean"], near.message.endswith("did you mean developer?")) == ("developer", True)


def test_a_list_by_a_name_that_is_somebodys_may_be_empty(desk: Desk) -> None:
    desk.planned("S1", "AUTH_1")
    assert desk.call("audit decisions", session_id="S1", agent="qa_expert")["decisions"] == []
    assert desk.call("audit refusals", session_id="S1", group_id="AUTH_1")["refusals"] == []
    assert desk.call("task list", session_id="S1", group_id="AUTH_1", assignee="developer")["tasks"] == []


@pytest.mark.parametrize("asked", ["", "%", "_", "\\", "READY%"])
def test_a_status_that_no_workflow_has_is_refused_as_a_filter(desk: Desk, asked: str) -> None:
    desk.planned("S1", "AUTH_1")
    assert desk.refused("audit decisions", session_id="S1", status=asked).code == "USAGE"


def test_an_absent_filter_filters_nothing(desk: Desk) -> None:
    desk.session("S1", "AUTH_1", "AUTHX1")
    assert ids(desk.call("group list", session_id="S1"), "groups") == ["AUTH_1", "AUTHX1"]


def test_groups_are_listed_by_status(desk: Desk) -> None:
    desk.planned("S1", "A", "B")
    desk.call("group set-status", id="B", status="cancelled", session_id="S1", by="project_manager", reason="no need")
    assert ids(desk.call("group list", session_id="S1", status="cancelled"), "groups") == ["B"]


@pytest.mark.parametrize("size", [1, 2, 7])
def test_pages_have_no_gap_and_no_repetition_while_rows_arrive(desk: Desk, size: int) -> None:
    desk.session("S1", *(f"G{number}" for number in range(9)))
    seen: list[str] = []
    page = {"has_more": True, "next_since": None}
    while page["has_more"]:
        page = desk.call("group list", session_id="S1", limit=size, since=page["next_since"])
        seen += ids(page, "groups")
        if len(seen) < 5:
            desk.call("group create", id=f"late{len(seen)}", session_id="S1", name="late")
    every = ids(desk.call("group list", session_id="S1", limit=100), "groups")
    assert seen == every


def test_a_page_after_the_last_one_is_empty_and_goes_on_from_there(desk: Desk) -> None:
    desk.session("S1", "A")
    page = desk.call("group list", session_id="S1", since=99)
    assert (page["groups"], page["has_more"], page["next_since"]) == ([], False, 99)


@pytest.mark.parametrize("limit", [0, -1])
def test_a_page_has_at_least_one_row(desk: Desk, limit: int) -> None:
    desk.session("S1")
    assert desk.refused("group list", session_id="S1", limit=limit).code == "USAGE"
    assert desk.refused("audit timeline", session_id="S1", limit=limit).code == "USAGE"


@pytest.mark.parametrize("number", [10**30, -(10**30)])
def test_any_number_may_be_asked_for(desk: Desk, number: int) -> None:
    desk.planned("S1", "A")
    desk.call("group list", session_id="S1", since=number)
    desk.call("group list", session_id="S1", limit=10**30)
    desk.call("audit decisions", session_id="S1", group_id="A", since=number, until=number)
    desk.call("audit timeline", session_id="S1", since=number, until=number, limit=10**30)
    assert desk.refused("handoff", session_id="S1", group_id="A", turn=number).code == "UNKNOWN_ID"


def test_ended_sessions_are_listed_when_all_are_asked_for(desk: Desk) -> None:
    desk.session("S1")
    desk.session("S2", "A")
    desk.report("project_manager INVESTIGATION_ONLY", session="S2", summary="answered")
    assert ids(desk.call("session list"), "sessions") == ["S1"]
    assert ids(desk.call("session list", all=True), "sessions") == ["S1", "S2"]
    assert ids(desk.call("session list", all=True, limit=1, since="S1"), "sessions") == ["S2"]


def test_the_same_group_id_in_another_session_is_another_group(desk: Desk) -> None:
    for session in ("S1", "S2"):
        desk.planned(session, "AUTH")
    desk.report("developer READY_FOR_QA,qa_expert BLOCKED", "AUTH", "S1", summary="in S1 only")
    other = desk.group("AUTH", "S2")
    answers = [
        other,
        desk.call("status", session_id="S2"),
        desk.call("why", id="AUTH", session_id="S2"),
        desk.call("handoff", group_id="AUTH", session_id="S2"),
        desk.call("audit timeline", session_id="S2"),
        desk.call("audit decisions", session_id="S2", group_id="AUTH"),
        desk.call("agent list", session_id="S2"),
    ]
    assert re.findall(r"S1|in S1 only", repr(answers)) == []
    assert (other["awaited"]["role"], other["blockers"]) == ("developer", [])


def test_a_group_tells_whom_it_awaits_and_what_stands_in_its_way(desk: Desk) -> None:
    desk.planned("S1", "A")
    desk.report("developer READY_FOR_QA,qa_expert FAIL,developer READY_FOR_QA,qa_expert BLOCKED", "A", summary="no env")
    group = desk.group()
    assert group["awaited"] == {
        "role": "tech_lead", "agent_id": "tech_lead@S1:A", "action": "spawn", "turn": group["turn"],
        "since": desk.clock(), "held": None,
    }  # fmt: skip
    assert group["counters"] == {
        "qa_attempts": 1, "tl_review_attempts": 0, "merge_attempts": 0, "revision_count": 1, "iterations": 0,
    }  # fmt: skip
    assert [(each["reason"], each["resolved_at"]) for each in group["blockers"]] == [("no env", None)]
    assert (group["priority"], group["security_sensitive"], group["path_valid"]) == ("medium", False, False)


def test_a_resolved_blocker_stays_in_sight(desk: Desk) -> None:
    desk.planned("S1", "A")
    desk.report("developer READY_FOR_QA,qa_expert BLOCKED,tech_lead UNBLOCKING_GUIDANCE", "A", summary="no env")
    assert [each["resolution"] for each in desk.group()["blockers"]] == ["guidance"]


def test_a_dependency_is_satisfied_when_its_group_is_completed(desk: Desk) -> None:
    desk.session("S1", "A")
    desk.call("group create", id="B", session_id="S1", depends_on=("A",))
    desk.report("project_manager PLANNING_COMPLETE")
    before = desk.group("B")["depends_on"]
    desk.report("developer READY_FOR_QA,qa_expert PASS,tech_lead APPROVED,developer MERGE_SUCCESS", "A")
    assert before == [{"id": "A", "status": "in_progress", "satisfied": False}]
    assert desk.group("B")["depends_on"] == [{"id": "A", "status": "completed", "satisfied": True}]


def test_dependents_are_open_and_completed_groups_that_still_depend(desk: Desk) -> None:
    desk.session("S1", "A")
    for id_ in ("B", "C"):
        desk.call("group create", id=id_, session_id="S1", depends_on=("A",))
    desk.call("group set-status", id="C", status="cancelled", session_id="S1", by="project_manager", reason="no need")
    found = views.dependents(desk.context.reader, "S1", "A")
    assert found == [{"group_id": "B", "status": "pending"}]


def test_a_removed_dependency_makes_no_dependent(desk: Desk) -> None:
    desk.session("S1", "A")
    desk.call("group create", id="B", session_id="S1", depends_on=("A",))
    desk.call("group set-status", id="A", status="cancelled", session_id="S1", by="project_manager", reason="no need")
    desk.call("group undepend", id="B", on="A", session_id="S1", by="project_manager", reason="no need")
    assert (views.dependents(desk.context.reader, "S1", "A"), desk.group("B")["depends_on"]) == ([], [])


@pytest.mark.sqlite("statements of SQLite are counted")
def test_the_row_of_a_group_costs_one_statement(desk: Desk) -> None:
    desk.session("S1", "A")
    seen: list[str] = []
    desk.context.connection.set_trace_callback(seen.append)
    row = views.group_row(desk.context.reader, "S1", "A")
    assert (len(seen), row and row["id"]) == (1, "A")
    assert views.group_row(desk.context.reader, "S1", "B") is None


def test_an_unknown_group_is_refused_with_the_nearest_one_and_leaves_no_trace(desk: Desk) -> None:
    desk.session("S1", "login")
    before = desk.events()
    problem = desk.refused("group show", id="logim", session_id="S1")
    assert (problem.code, problem.data["did_you_mean"], desk.events()) == ("UNKNOWN_GROUP", "login", before)


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        pytest.param("session show", {"id": "S9"}, id="session show"),
        pytest.param("group list", {"session_id": "S9"}, id="group list"),
        pytest.param("group show", {"id": "A", "session_id": "S9"}, id="group show"),
        pytest.param("status", {"session_id": "S9"}, id="status"),
        pytest.param("why", {"id": "A", "session_id": "S9"}, id="why a group"),
        pytest.param("why", {"id": "S9:D1"}, id="why a decision"),
        pytest.param("handoff", {"session_id": "S9"}, id="handoff"),
        pytest.param("audit decisions", {"session_id": "S9"}, id="decisions"),
        pytest.param("audit timeline", {"session_id": "S9"}, id="timeline"),
        pytest.param("audit refusals", {"session_id": "S9"}, id="refusals"),
        pytest.param("agent list", {"session_id": "S9"}, id="agent list"),
        pytest.param("agent tree", {"session_id": "S9"}, id="agent tree"),
    ],
)
def test_an_unknown_session_is_refused(desk: Desk, words: str, arguments: dict[str, str]) -> None:
    desk.session("S1")
    before = desk.events()
    assert (desk.refused(words, **arguments).code, desk.events()) == ("UNKNOWN_SESSION", before)


class TestApproval:
    """Words inside other words approve nothing; the part names the report that gave or voided it."""

    def approved(self, desk: Desk) -> None:
        desk.planned("S1", "A")
        desk.report("developer READY_FOR_QA,qa_expert PASS,tech_lead APPROVED", "A")

    def test_it_is_given_by_a_report(self, desk: Desk) -> None:
        self.approved(desk)
        assert desk.part("approved") == (True, "given by APPROVED, report S1:R6")

    def test_it_is_voided_by_a_later_report(self, desk: Desk) -> None:
        self.approved(desk)
        desk.report("developer MERGE_CONFLICT", "A")
        assert desk.part("approved") == (False, "voided by MERGE_CONFLICT, report S1:R7")

    @pytest.mark.parametrize(
        "text", ["NOT APPROVED", "DISAPPROVED", "UNAPPROVED", "Verdict: BLOCKED - cannot be APPROVED until S4"]
    )
    def test_a_text_that_holds_the_word_gives_none(self, desk: Desk, text: str) -> None:
        desk.planned("S1", "A")
        desk.report("developer READY_FOR_QA,qa_expert PASS", "A", summary=text)
        call = {"session_id": "S1", "group_id": "A", "current_agent": "tech_lead"}
        assert desk.refused("route", **call, status=text).code == "UNKNOWN_STATUS"
        assert desk.part("approved") == (False, "never approved: the last report that counts is PASS, report S1:R5")

    def test_it_was_never_asked_for(self, desk: Desk) -> None:
        desk.planned("S1", "A")
        assert desk.part("approved") == (False, "no approval was reported")


class TestAgents:
    """Agents by id, under those that they report to."""

    def test_one_names_all_above_it(self, desk: Desk) -> None:
        desk.planned("S1", "A")
        agent = desk.call("agent show", id="developer@S1:A")["agent"]
        assert agent["ancestors"] == ["developer", "tech_lead", "project_manager", "user"]
        assert desk.call("agent show", id="developer")["agent"]["children"] == ["developer@S1:A"]

    def test_an_unknown_one_is_refused(self, desk: Desk) -> None:
        problem = desk.refused("agent show", id="develper")
        assert (problem.code, problem.data["did_you_mean"]) == ("UNKNOWN_AGENT", "developer")

    def test_they_are_listed_by_session_and_role(self, desk: Desk) -> None:
        desk.planned("S1", "A", "B")
        found = desk.call("agent list", session_id="S1", role="developer")
        assert ids(found, "agents") == ["developer@S1:A", "developer@S1:B"]

    def test_pages_go_by_id(self, desk: Desk) -> None:
        first = desk.call("agent list", limit=4)
        rest = desk.call("agent list", limit=100, since=first["next_since"])
        every = ids(desk.call("agent list", limit=100), "agents")
        assert ids(first, "agents") + ids(rest, "agents") == every == sorted(every)

    def test_deactivated_ones_are_listed_when_all_are_asked_for(self, desk: Desk) -> None:
        desk.call("agent register", id="developer-2", role="developer", parent="tech_lead")
        desk.call("agent deactivate", id="developer-2", by="project_manager", reason="no need")
        assert "developer-2" not in ids(desk.call("agent list"), "agents")
        assert "developer-2" in ids(desk.call("agent list", all=True), "agents")

    def test_the_tree_holds_every_agent_once(self, desk: Desk) -> None:
        desk.planned("S1", "A")
        desk.planned("S2", "A")
        found: list[str] = []
        waiting = list(desk.call("agent tree")["agents"])
        while waiting:
            node = waiting.pop()
            found.append(node["id"])
            waiting += node["children"]
        assert sorted(found) == ids(desk.call("agent list", limit=100), "agents")

    def test_the_tree_of_a_session_has_no_instances_of_another(self, desk: Desk) -> None:
        desk.planned("S1", "A")
        desk.planned("S2", "A")
        shown = repr(desk.call("agent tree", session_id="S1"))
        assert ("developer@S1:A" in shown, "S2" in shown) == (True, False)


PARTS = ("_FAILED_SINCE", "_STANDING", "_TESTED_ANEW", "_VOIDED")
"""Conditions within statements, about a group that these name."""
STATEMENTS = {
    **{
        name: sql for name, sql in vars(queries).items()
        if isinstance(sql, str) and sql.startswith("SELECT") and name not in PARTS
    },
    **queries.STEP_ROWS,
    **{
        f"{name} {'down' if descending else 'up'}": sql
        for descending in (False, True)
        for name, sql in (
            ("decisions", queries.decisions(by_group=False, descending=descending)),
            ("decisions of a group", queries.decisions(by_group=True, descending=descending)),
            ("refusals", queries.refusals(descending=descending)),
            ("events", queries.events(descending=descending)),
        )
    },
}


@pytest.mark.parametrize("name", STATEMENTS)
@pytest.mark.sqlite("SQLite's plan is read")
def test_a_statement_steps_through_an_index(desk: Desk, name: str) -> None:
    sql = STATEMENTS[name]
    nothing = dict.fromkeys(re.findall(r":(\w+)", sql))
    plan = [row[3] for row in desk.context.connection.execute(f"EXPLAIN QUERY PLAN {sql}", nothing)]
    # Of agents there is one for each role of a group; an index of who is above whom cost each step a page.
    walks = ["SCAN agents"] if name in ("AGENT_TREE", "CHILDREN") else []
    tables = ("agent", "task", "session", "group", "router", "blocker", "question", "handoff", "audit", "refusal")
    names = ("g", "d", "t", "b", "r")
    read = [step.removeprefix("SCAN ") for step in plan if step.startswith("SCAN ")]
    scans = [f"SCAN {table}" for table in read if table in names or table.startswith(tables)]
    assert scans == walks
    if name.split()[0] in ("decisions", "refusals", "events", "LAST_DECISIONS", "REPORT", "SESSIONS"):
        assert [step for step in plan if "TEMP B-TREE" in step] == []


@pytest.mark.parametrize(
    ("words", "given", "code", "near"),
    [
        pytest.param("task list", {"group_id": "LOGIM"}, "UNKNOWN_GROUP", "LOGIN", id="a group"),
        pytest.param("blocker list", {"task": "T-2"}, "UNKNOWN_TASK", "T-1", id="a task"),
        pytest.param("task list", {"assignee": "develper"}, "UNKNOWN_AGENT", "developer", id="an agent"),
        pytest.param("audit refusals", {"status": "READY_FOR_Q"}, "USAGE", "READY_FOR_QA", id="a status"),
        pytest.param("inbox", {"since": "S1:Q9"}, "UNKNOWN_ID", None, id="a question"),
    ],
)
def test_a_list_of_what_nobody_knows_is_refused_with_the_nearest(
    words: str, given: dict[str, str], code: str, near: str | None
) -> None:
    table = Table("LOGIN", plan=True)
    table.do("task create", id="T-1", session_id="S1", title="t", by="tech_lead")
    with pytest.raises(OrchestratorError) as caught:
        table.do(words, session_id="S1", **given)
    assert (caught.value.code, caught.value.data.get("did_you_mean")) == (code, near)
