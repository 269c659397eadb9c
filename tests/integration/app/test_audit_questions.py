"""Blockers with their durations, gaps in the record, and a session in numbers: whole, in order, filtered as asked."""

from __future__ import annotations

import datetime
import pathlib
import re
import sqlite3
import time
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.app.answers import audits
from orchestrator.app.audit import stats
from orchestrator.app.kernel import durations
from orchestrator.store import gaps, inquiries
from tests import forging
from tests.integration.app.desk import Desk

HANDOFF = "session_id, turn, group_id, agent_id, document, hash"
MANAGER = {"by": "project_manager", "reason": "r"}


@pytest.fixture
def desk(tmp_path: pathlib.Path) -> Desk:
    return Desk(tmp_path)


@pytest.fixture
def blocked(desk: Desk) -> Desk:
    """Three groups; A's blocker was resolved after 25 minutes, B's and C's are open."""
    desk.planned("S1", "A", "B", "C")
    for group in "ABC":
        desk.report("developer READY_FOR_QA,qa_expert BLOCKED", group, summary=f"{group}: no env")
        desk.clock.minutes += 10
    desk.clock.minutes -= 5
    desk.report("tech_lead UNBLOCKING_GUIDANCE", "A", summary="use the mock")
    return desk


def listed(desk: Desk, words: str, **asked: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = desk.call(f"audit {words}", session_id="S1", **{"limit": 1000, **asked})[words]
    return found


def forged(desk: Desk, *statements: str) -> None:
    """Change rows behind the back of every guard."""
    forging.disarm(desk.context.connection)
    forging.loosen(desk.context.connection)
    for sql in statements:
        assert desk.context.connection.execute(sql).rowcount > 0, sql


class TestBlockers:
    """Open and resolved, who opened and resolved them, how, and for how long."""

    def test_they_say_who_opened_and_resolved_them_and_for_how_long_they_stood(self, blocked: Desk) -> None:
        blocked.clock.minutes = 40
        answer = blocked.call("audit blockers", session_id="S1")
        told = ("group_id", "status", "class", "cause", "opened_by", "opened_role", "resolved_by", "resolved_role",
                "resolution", "resolution_note", "open_seconds")  # fmt: skip
        assert [tuple(row[name] for name in told) for row in answer["blockers"]] == [
            ("A", "resolved", "hard", "report", "qa_expert@S1:A", "qa_expert", "tech_lead@S1:A", "tech_lead",
             "guidance", "use the mock", 25 * 60),
            ("B", "open", "hard", "report", "qa_expert@S1:B", "qa_expert", None, None, None, None, 30 * 60),
            ("C", "open", "hard", "report", "qa_expert@S1:C", "qa_expert", None, None, None, None, 20 * 60),
        ]  # fmt: skip
        assert answer["measured_at"] == blocked.clock()
        assert [row["seq"] for row in answer["blockers"]] == [row["opened_seq"] for row in answer["blockers"]]

    @pytest.mark.parametrize(
        ("asked", "groups"),
        [
            pytest.param({}, "ABC", id="absent filters"),
            pytest.param({"group_id": "B"}, "B", id="group"),
            pytest.param({"status": "open"}, "BC", id="open"),
            pytest.param({"status": "resolved"}, "A", id="resolved"),
            pytest.param({"status": "open", "group_id": "A"}, "", id="open of a group"),
            pytest.param({"agent": "qa_expert"}, "ABC", id="role that opened"),
            pytest.param({"agent": "qa_expert@S1:C"}, "C", id="agent that opened"),
            pytest.param({"agent": "tech_lead"}, "A", id="role that resolved"),
            pytest.param({"agent": "tech_lead@S1:A"}, "A", id="agent that resolved"),
            pytest.param({"agent": "developer"}, "", id="role that did neither"),
            pytest.param({"status": ""}, "", id="empty status"),
        ],
    )
    def test_they_are_filtered(self, blocked: Desk, asked: dict[str, str], groups: str) -> None:
        assert "".join(row["group_id"] for row in listed(blocked, "blockers", **asked)) == groups

    @pytest.mark.parametrize("asked", [{}, {"status": "open"}, {"group_id": "B"}], ids=["all", "open", "one group"])
    @pytest.mark.parametrize("order", ["asc", "desc"])
    @pytest.mark.parametrize("limit", [1, 2, 5, 1000])
    def test_pages_put_together_are_the_list_though_steps_open_many(
        self, blocked: Desk, asked: dict[str, str], order: str, limit: int
    ) -> None:
        forged(blocked, *(
            "INSERT INTO blockers (id, session_id, group_id, type, class, reason, opened_at, opened_seq, cause)"
            f" VALUES ('S1:B{seq}.{number}', 'S1', 'B', 'other', 'soft', 'x', '2025-01-01T00:00:00.000000Z', {seq},"
            " 'manual')"
            for seq in (20, 21, 22) for number in range(2, 13)
        ))  # fmt: skip
        every = [row["id"] for row in listed(blocked, "blockers", order=order, **asked)]
        found: list[str] = []
        page, more = None, dict(asked)
        while page is None or page["has_more"]:
            page = blocked.call("audit blockers", session_id="S1", order=order, limit=limit, **more)
            found += [row["id"] for row in page["blockers"]]
            more |= {"since": page["next_since"], **({"until": page["next_until"]} if "next_until" in page else {})}
        assert found == every
        assert len(set(every)) == len(every) > 30
        if order == "asc":
            assert [row for row in every if row.startswith("S1:B20.")] == [f"S1:B20.{n}" for n in range(2, 13)]

    def test_a_span_is_of_the_steps_that_opened_them(self, blocked: Desk) -> None:
        first, second, third = (row["seq"] for row in listed(blocked, "blockers"))
        found = [row["seq"] for row in listed(blocked, "blockers", since=first, until=third - 1)]
        assert found == [second]

    def test_a_time_that_cannot_be_read_has_no_duration(self, blocked: Desk) -> None:
        forged(blocked, "UPDATE blockers SET opened_at = 'last spring' WHERE group_id = 'B'")
        assert [row["open_seconds"] for row in listed(blocked, "blockers", group_id="B")] == [None]

    @pytest.mark.parametrize("status", inquiries.BLOCKER_STATUSES)
    def test_a_misspelt_status_is_no_session_without_blockers(self, blocked: Desk, status: str) -> None:
        refused = blocked.refused("audit blockers", session_id="S1", status=f"{status[:-1]}")
        assert (refused.code, refused.data["did_you_mean"]) == ("USAGE", status)


class TestGaps:
    """Reports without decisions, spawns without reports, groups moved without cause."""

    def test_a_whole_record_has_none(self, blocked: Desk) -> None:
        blocked.report("qa_expert PASS,tech_lead APPROVED,developer MERGE_SUCCESS", "A")
        blocked.call("group set-status", id="C", status="cancelled", session_id="S1", **MANAGER)
        blocked.call("redispatch", group_id="B", session_id="S1", **MANAGER)
        blocked.call("session pause", id="S1", **MANAGER)
        blocked.call("session resume", id="S1", **MANAGER)
        answer = blocked.call("audit gaps", session_id="S1")
        assert (answer["gaps"], answer["has_more"], answer["exit_code"]) == ([], False, 0)

    @pytest.mark.parametrize("kind", ["chat", "orchestration"])
    def test_a_new_session_has_none(self, desk: Desk, kind: str) -> None:
        desk.call("session create", id="S1", kind=kind)
        assert listed(desk, "gaps") == []

    FORGERIES = (
        pytest.param("DELETE FROM router_decisions WHERE seq = 5",
                     {"kind": gaps.UNDECIDED, "seq": 5, "subject": "S1:R5", "group_id": "A", "role": "developer",
                      "agent_id": "developer@S1:A", "status": "READY_FOR_QA", "text": "the report has no decision"},
                     id="a report without its decision"),
        pytest.param("DELETE FROM agent_reports WHERE seq = 5",
                     {"kind": gaps.UNREPORTED, "seq": 5, "subject": "S1:D5", "group_id": "A", "role": "developer",
                      "agent_id": None, "status": "READY_FOR_QA",
                      "text": "the decision names a report that does not exist"},
                     id="a decision without its report"),
        pytest.param("DELETE FROM audit_events WHERE seq = 3",
                     {"kind": gaps.MISSING_STEP, "seq": 3, "subject": "S1", "group_id": None, "role": None,
                      "agent_id": None, "status": None, "text": "of 8 steps 7 are on record; step 3 is missing"},
                     id="a missing step"),
        pytest.param("DELETE FROM audit_events WHERE session_id = 'S1' AND seq = 1",
                     {"kind": gaps.MISSING_STEP, "seq": 1, "subject": "S1", "group_id": None, "role": None,
                      "agent_id": None, "status": None, "text": "of 8 steps 7 are on record; step 1 is missing"},
                     id="a missing first step"),
        pytest.param("UPDATE task_groups SET turn = NULL, awaited_role = NULL WHERE id = 'B'",
                     {"kind": gaps.UNENDED, "seq": 8, "subject": "B", "group_id": "B", "role": "developer",
                      "agent_id": "developer@S1:B", "status": None,
                      "text": "developer@S1:B was started in turn 8, and nothing tells how that ended"},
                     id="a spawn that vanished"),
        pytest.param("UPDATE task_groups SET status = 'completed', status_changed_by = 'developer',"
                     " awaited_role = NULL WHERE id = 'A'",
                     {"kind": gaps.UNCAUSED, "seq": 4, "subject": "A", "group_id": "A", "role": "developer",
                      "agent_id": "developer", "status": "completed",
                      "text": "group A is completed since step 4, and no recorded change leads there: the last one is"
                              " in_progress in step 4"},
                     id="a status of nobody's"),
        pytest.param("UPDATE task_groups SET status_seq = 7 WHERE id = 'A'",
                     {"kind": gaps.UNCAUSED, "seq": 7, "subject": "A", "group_id": "A", "role": "system:router",
                      "agent_id": "system:router", "status": "in_progress",
                      "text": "group A is in_progress since step 7, and no recorded change leads there: the last one is"
                              " in_progress in step 4"},
                     id="a step that moved nothing"),
        pytest.param("DELETE FROM status_changes WHERE entity_id = 'A'",
                     {"kind": gaps.UNCAUSED, "seq": 4, "subject": "A", "group_id": "A", "role": "system:router",
                      "agent_id": "system:router", "status": "in_progress",
                      "text": "group A is in_progress since step 4, and no recorded change leads there: the last one is"
                              " pending in step 2"},
                     id="a change that vanished"),
        pytest.param("UPDATE status_changes SET from_status = 'completed' WHERE entity_id = 'A'",
                     {"kind": gaps.UNCAUSED, "seq": 4, "subject": "A", "group_id": "A", "role": "system:router",
                      "agent_id": "system:router", "status": "in_progress",
                      "text": "group A is said to go from completed to in_progress, but was pending since step 2"},
                     id="changes that do not link"),
        pytest.param("INSERT INTO status_changes VALUES ('S1', 5, 9, 'group', 'Z', 'pending', 'in_progress',"
                     " 'tech_lead', 't', 'r', 'manual')",
                     {"kind": gaps.UNCAUSED, "seq": 5, "subject": "Z", "group_id": "Z", "role": None,
                      "agent_id": None, "status": "in_progress",
                      "text": "status changes tell of group Z, which does not exist"},
                     id="a group that does not exist"),
        pytest.param("UPDATE sessions SET status = 'paused'",
                     {"kind": gaps.UNCAUSED, "seq": 1, "subject": "S1", "group_id": None, "role": "project_manager",
                      "agent_id": "project_manager", "status": "paused",
                      "text": "session S1 is paused since step 1, and no recorded change leads there: the last one is"
                              " active in step 1"},
                     id="a session that nobody paused"),
    )  # fmt: skip

    @pytest.mark.parametrize(("sql", "gap"), FORGERIES)
    def test_what_is_missing_is_named(self, desk: Desk, sql: str, gap: dict[str, Any]) -> None:
        desk.planned("S1", "A", "B")
        desk.report("developer READY_FOR_QA,qa_expert FAIL", "A")
        desk.report("developer READY_FOR_REVIEW,tech_lead CHANGES_REQUESTED", "B")
        forged(desk, sql)
        answer = desk.call("audit gaps", session_id="S1")
        assert gap in answer["gaps"]
        assert answer["exit_code"] == 1

    def test_a_missing_step_is_looked_for_in_its_own_session(self, desk: Desk) -> None:
        desk.planned("S1", "A", "B")
        desk.call("session create", id="S0")
        forged(desk, "DELETE FROM audit_events WHERE session_id = 'S1' AND seq = 3")
        assert [gap["seq"] for gap in listed(desk, "gaps") if gap["kind"] == gaps.MISSING_STEP] == [3]

    TASK_FORGERIES = (
        pytest.param("UPDATE tasks SET status = 'done' WHERE id = 'T'", "done", 4,
                     "task T is done since step 4, and no recorded change leads there: the last one is in_progress in"
                     " step 4", id="a status of nobody's"),
        pytest.param("DELETE FROM status_changes WHERE entity_id = 'T' AND seq = 4", "in_progress", 4,
                     "task T is in_progress since step 4, and no recorded change leads there: the last one is todo in"
                     " step 3", id="a change that vanished"),
        pytest.param("DELETE FROM status_changes WHERE entity_id = 'T' AND seq = 3", "in_progress", 4,
                     "task T is said to go from todo to in_progress, but was not before step 3", id="a beginning"),
        pytest.param("DELETE FROM status_changes WHERE entity_id = 'T'", "in_progress", 4,
                     "task T is in_progress since step 4, and no recorded change leads there: the last one is its"
                     " creation in step 3", id="all changes"),
        pytest.param("UPDATE status_changes SET from_status = 'backlog' WHERE entity_id = 'T' AND seq = 4",
                     "in_progress", 4,
                     "task T is said to go from backlog to in_progress, but was todo since step 3", id="no link"),
        pytest.param("UPDATE status_changes SET from_status = NULL WHERE entity_id = 'T' AND seq = 4",
                     "in_progress", 4, "task T is said to begin as in_progress, but was todo since step 3",
                     id="two beginnings"),
    )  # fmt: skip

    @pytest.mark.parametrize(("sql", "status", "seq", "text"), TASK_FORGERIES)
    def test_what_is_missing_of_a_task_is_named(
        self, desk: Desk, sql: str, status: str, seq: int, text: str
    ) -> None:
        desk.session("S1", "A")
        desk.call("task create", id="T", session_id="S1", title="t", group_id="A", assignee="developer")
        desk.call("task set-status", id="T", session_id="S1", status="in_progress", by="developer")
        assert listed(desk, "gaps") == []
        forged(desk, sql)
        by = {"role": "developer", "agent_id": "developer"}
        expected = {"kind": gaps.UNCAUSED, "seq": seq, "subject": "T", "group_id": "A", **by, "status": status}
        assert listed(desk, "gaps", group_id="A") == [{**expected, "text": text}]

    def test_a_whole_record_of_tasks_has_none(self, desk: Desk) -> None:
        desk.session("S1", "A")
        task = {"session_id": "S1", "group_id": "A"}
        desk.call("task create", id="P", title="p", assignee="developer", **task, by="tech_lead")
        desk.call("task create", id="X", title="x", status="blocked", reason="later", **task, by="tech_lead")
        desk.call("task create", id="P.1", title="q", parent="P", status="backlog", **task, by="tech_lead")
        desk.call("task create", id="Y", title="y", depends_on=("P",), auto_unblock=True, **task, by="tech_lead")
        for status in ("in_progress", "blocked", "in_progress"):
            desk.call("task set-status", id="P", session_id="S1", status=status, by="developer", reason="r")
        desk.call("task set-status", id="P.1", session_id="S1", status="in_progress", by="developer")
        for id in ("P.1", "P"):
            desk.call("task set-status", id=id, session_id="S1", status="done", by="developer")
        desk.call("task set-status", id="X", session_id="S1", status="cancelled", by="project_manager", reason="no")
        assert listed(desk, "gaps") == []

    def test_a_move_of_a_step_that_is_not_on_record_is_named(self, desk: Desk) -> None:
        desk.planned("S1", "A")
        forged(desk, "DELETE FROM audit_events WHERE seq = 3")
        texts = [row["text"] for row in listed(desk, "gaps") if row["kind"] == gaps.UNCAUSED]
        assert texts == ["group A went to in_progress in step 3, which is not on record"]

    @pytest.mark.parametrize("kind", ["import peer", "import audit"])
    def test_what_came_from_elsewhere_begins_as_it_was_there(self, desk: Desk, kind: str) -> None:
        desk.session("S1", "A")
        forged(
            desk,
            f"UPDATE audit_events SET kind = '{kind}' WHERE session_id = 'S1' AND seq IN (1, 2)",
            "UPDATE task_groups SET status = 'completed', status_changed_by = NULL",
            "UPDATE sessions SET status = 'ended', outcome = 'imported'",
        )
        assert listed(desk, "gaps") == []
        forged(desk, "UPDATE task_groups SET status_seq = 1")
        assert [row["text"].split(": ")[1] for row in listed(desk, "gaps")] == ["the last one is its import in step 2"]

    @pytest.fixture
    def broken(self, desk: Desk) -> Desk:
        """Two groups whose decisions are gone, and one of which is completed by nobody's word."""
        desk.planned("S1", "A", "B")
        for group in "AB":
            desk.report("developer READY_FOR_QA,qa_expert FAIL,developer READY_FOR_QA", group)
        forged(
            desk,
            # Otherwise the hand-offs that are stored with these decisions are gone as well.
            f"INSERT INTO standalone_handoffs ({HANDOFF}) SELECT {HANDOFF} FROM handoffs EXCEPT SELECT {HANDOFF}"
            " FROM standalone_handoffs",
            "DELETE FROM router_decisions WHERE report_id IS NOT NULL AND group_id IS NOT NULL",
            "UPDATE task_groups SET status = 'completed', status_changed_by = 'tech_lead', awaited_role = NULL"
            " WHERE id = 'A'",
        )
        return desk

    @pytest.mark.parametrize(
        ("asked", "seqs"),
        [
            pytest.param({}, [4, 5, 6, 7, 8, 9, 10], id="absent filters"),
            pytest.param({"group_id": "A"}, [4, 5, 6, 7], id="group"),
            pytest.param({"agent": "qa_expert"}, [6, 9], id="role"),
            pytest.param({"agent": "qa_expert@S1:B"}, [9], id="agent"),
            pytest.param({"agent": "tech_lead"}, [4], id="who moved it"),
            pytest.param({"status": "FAIL"}, [6, 9], id="reported status"),
            pytest.param({"status": "completed"}, [4], id="reached status"),
            pytest.param({"since": 5, "until": 7}, [6, 7], id="span"),
            pytest.param({"order": "desc"}, [10, 9, 8, 7, 6, 5, 4], id="descending"),
            pytest.param({"status": ""}, [], id="empty status"),
        ],
    )
    def test_they_are_filtered_and_ordered(self, broken: Desk, asked: dict[str, Any], seqs: list[int]) -> None:
        answer = broken.call("audit gaps", session_id="S1", **asked)
        assert [row["seq"] for row in answer["gaps"] if row["kind"] != gaps.UNENDED] == seqs
        assert answer["exit_code"] == int(bool(answer["gaps"]))

    @pytest.mark.parametrize("order", ["asc", "desc"])
    @pytest.mark.parametrize("limit", [1, 2, 1000])
    def test_pages_put_together_are_the_list(self, broken: Desk, order: str, limit: int) -> None:
        every = listed(broken, "gaps", order=order)
        found: list[dict[str, Any]] = []
        page, more = None, {}
        while page is None or page["has_more"]:
            page = broken.call("audit gaps", session_id="S1", order=order, limit=limit, **more)
            found += page["gaps"]
            more = {"since": page["next_since"], **({"until": page["next_until"]} if "next_until" in page else {})}
        assert found == every


class TestStats:
    """A session in numbers, each defined."""

    @pytest.fixture
    def worked(self, desk: Desk) -> Desk:
        """A: planned after 1 minute, built in 2, failed after 3, built in 4, failed after 5, with the senior for 6."""
        desk.session("S1", "A", "B")
        desk.clock.minutes = 1
        desk.report("project_manager PLANNING_COMPLETE")
        used = {"usage": {"input_tokens": 100, "output_tokens": 7}}
        for minutes, words in ((2, "developer READY_FOR_QA"), (3, "qa_expert FAIL"), (4, "developer READY_FOR_QA"),
                               (5, "qa_expert FAIL")):  # fmt: skip
            desk.clock.minutes += minutes
            desk.report(words, "A", details=used)
        desk.refused("route", session_id="S1", group_id="A", current_agent="developer", status="READY_FOR_QA")
        desk.clock.minutes += 6
        return desk

    def stats(self, desk: Desk, **asked: Any) -> dict[str, Any]:
        found: dict[str, Any] = desk.call("audit stats", session_id="S1", **asked)["stats"]
        return found

    def times(self, found: dict[str, Any]) -> dict[str, tuple[int, int, int]]:
        return {row["role"]: (row["turns"], row["open_turns"], row["seconds"] // 60) for row in found["roles"]}

    def test_time_in_a_role_is_that_of_its_turns(self, worked: Desk) -> None:
        assert self.times(self.stats(worked)) == {
            "developer": (3, 1, 2 + 4 + 20), "project_manager": (1, 0, 1), "qa_expert": (2, 0, 3 + 5),
            "senior_software_engineer": (1, 1, 6),
        }  # fmt: skip

    def test_reports_are_counted_by_agent_and_status(self, worked: Desk) -> None:
        found = self.stats(worked)
        assert [(row["agent_id"], row["role"], row["reports"], row["statuses"]) for row in found["agents"]] == [
            ("developer@S1:A", "developer", 2, {"READY_FOR_QA": 2}),
            ("project_manager", "project_manager", 1, {"PLANNING_COMPLETE": 1}),
            ("qa_expert@S1:A", "qa_expert", 2, {"FAIL": 2}),
        ]
        assert (found["reports"], sum(row["reports"] for row in found["roles"])) == (5, 5)

    def test_rework_escalations_refusals_and_usage(self, worked: Desk) -> None:
        found = self.stats(worked)
        assert found["rework"] == {
            "judged": 2, "returned": 2, "rate": "1.0000", "groups": 1,
            "by_effect": {"test_fail": 2, "reject": 0, "merge_fail": 0},
        }  # fmt: skip
        assert found["escalations"] == {
            "total": 1, "after_failures": 1, "iteration_budget": 0, "loop_guard": 0, "reported": 0,
        }  # fmt: skip
        assert found["refusals"] == {"total": 1, "by_code": {"OUT_OF_TURN": 1}}
        assert found["usage"] == {"reports": 4, "input_tokens": 400, "output_tokens": 28}
        assert (found["loop_guard"], found["rules"]["escalation"]) == (0, 1)

    def test_the_loop_guard_is_counted(self, desk: Desk) -> None:
        desk.planned("S1", "A")
        for _ in range(7):
            answer = desk.report(f"{desk.group()['awaited']['role']} PARTIAL", "A")
            if any(rule["name"] == "loop_guard" for rule in answer["rules"]):
                break
        found = self.stats(desk)
        assert (found["loop_guard"], found["escalations"]["loop_guard"], found["escalations"]["total"]) == (1, 1, 1)

    def test_questions_are_timed(self, desk: Desk) -> None:
        desk.planned("S1", "A")
        desk.report("project_manager NEEDS_CLARIFICATION", summary="which colour?")
        desk.clock.minutes += 3
        assert self.stats(desk)["questions"] == {"asked": 1, "open": 1, "seconds": 180}

    def test_of_one_group(self, worked: Desk) -> None:
        found = self.stats(worked, group_id="B")
        assert (self.times(found), found["reports"], found["refusals"]["total"]) == ({"developer": (1, 1, 20)}, 0, 0)
        assert found["rework"]["rate"] is None
        assert self.stats(worked, group_id="A")["usage"]["reports"] == 4

    @pytest.mark.parametrize("group", ["", "%", "_", "\ud800"])
    def test_a_group_that_nothing_is_of(self, worked: Desk, group: str) -> None:
        found = self.stats(worked, group_id=group)
        assert (found["reports"], found["roles"], found["refusals"]["total"], found["rules"]) == (0, [], 0, {})

    def test_a_span_counts_what_is_in_it_as_it_was_at_its_end(self, worked: Desk) -> None:
        found = self.stats(worked, since=3, until=6)
        assert self.times(found) == {
            "developer": (3, 2, 2 + 5), "project_manager": (0, 0, 0), "qa_expert": (1, 0, 3),
        }  # fmt: skip
        assert (found["reports"], found["measured_at"]) == (3, "2025-01-01T00:06:00.000000Z")
        assert self.stats(worked, until=10**9)["measured_at"] == worked.clock()
        assert self.stats(worked, since=6, until=3)["reports"] == 0

    def test_an_ended_group_takes_no_more_time(self, desk: Desk) -> None:
        desk.planned("S1", "A")
        desk.clock.minutes = 5
        desk.call("group set-status", id="A", status="cancelled", session_id="S1", **MANAGER)
        desk.clock.minutes = 50
        assert self.times(self.stats(desk))["developer"] == (1, 0, 5)

    def test_a_clock_that_goes_backwards_takes_nothing_away(self, desk: Desk) -> None:
        desk.clock.minutes = 30
        desk.planned("S1", "A")
        desk.clock.minutes = 10
        assert self.times(self.stats(desk))["developer"] == (1, 1, 0)


@pytest.mark.parametrize(
    ("details", "used"),
    [
        pytest.param('{"usage":{"input_tokens":1,"output_tokens":2}}', {"input_tokens": 1, "output_tokens": 2},
                     id="both"),
        pytest.param('{"usage":{"input_tokens":0}}', {"input_tokens": 0}, id="zero"),
        pytest.param('{"usage":{"input_tokens":-1,"output_tokens":2}}', {"output_tokens": 2}, id="negative"),
        pytest.param('{"usage":{"input_tokens":1.5}}', {}, id="a fraction"),
        pytest.param('{"usage":{"input_tokens":true}}', {}, id="a flag"),
        pytest.param('{"usage":{"input_tokens":"7"}}', {}, id="a text"),
        pytest.param(f'{{"usage":{{"input_tokens":{10**30}}}}}', {}, id="too large"),
        pytest.param('{"usage":{"tokens":7}}', {}, id="another name"),
        pytest.param('{"usage":7}', {}, id="a number"),
        pytest.param('{"usage":null}', {}, id="null"),
        pytest.param('{"a":"\\"usage\\""}', {}, id="only the word"),
        pytest.param("[]", {}, id="no object"),
        pytest.param(None, {}, id="nothing"),
    ],
)  # fmt: skip
def test_usage_that_makes_no_sense_counts_as_absent(details: str | None, used: dict[str, int]) -> None:
    assert stats.usage(details) == used


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [(0, 0, None), (0, 3, "0.0000"), (1, 3, "0.3333"), (2, 3, "0.6667"), (3, 3, "1.0000"), (1, 20_000, "0.0001"),
     (1, 20_001, "0.0000")],
)  # fmt: skip
def test_a_share_is_a_decimal_text(part: int, whole: int, text: str | None) -> None:
    assert stats.share(part, whole) == text


@given(st.datetimes(), st.datetimes())
def test_a_duration_is_of_whole_seconds_and_never_below_none(one: Any, other: Any) -> None:
    written = [f"{each.isoformat(timespec='microseconds')}Z" for each in (one, other)]
    assert durations.seconds(*written) == max(0, (other - one) // datetime.timedelta(seconds=1))


STEPS = st.lists(st.tuples(st.sampled_from("rcs"), st.sampled_from(["", "A", "B"]), st.booleans()), max_size=40)


@given(STEPS)
def test_however_turns_follow_each_group_is_with_one_agent_at_a_time(played: list[tuple[str, str, bool]]) -> None:
    moment = [f"2025-01-01T00:00:{second:02d}.000000Z" for second in range(60)]
    turns, reports, closings = [], [], []
    for seq, (kind, group, manager) in enumerate(played):
        role = "project_manager" if manager else "developer"
        if kind == "s":
            turns.append((seq, group, role, moment[seq]))
        elif kind == "r":
            reports.append((seq, group, role, role, "X", "none", None, moment[seq], None))
        else:
            closings.append((seq, group or None, moment[seq]))
    counted, times = stats.count(turns, reports, closings)
    times.stop(moment[len(played)])
    assert (sum(times.turns.values()), sum(counted.by_agent.values())) == (len(turns), len(reports))
    assert sum(times.open.values()) <= len({group for _, group, *_ in turns})
    assert sum(times.seconds.values()) <= len(played) * 3
    assert all(count >= 0 for count in times.seconds.values())


@pytest.mark.parametrize("words", ["blockers", "gaps", "stats"])
@pytest.mark.parametrize("session", ["S9", "@store"])
def test_an_unknown_session_is_refused_and_leaves_no_record(desk: Desk, words: str, session: str) -> None:
    desk.session("S1")
    before = desk.events()
    refused = desk.refused(f"audit {words}", session_id=session)
    assert (refused.code, refused.exit_code, desk.events()) == ("UNKNOWN_SESSION", 3, before)


@pytest.mark.parametrize("words", ["blockers", "gaps"])
@pytest.mark.parametrize("asked", [{"limit": 0}, {"limit": -1}, {"order": "random"}], ids=["none", "less", "order"])
def test_a_wrong_page_is_refused(desk: Desk, words: str, asked: dict[str, Any]) -> None:
    desk.session("S1")
    assert desk.refused(f"audit {words}", session_id="S1", **asked).code == "USAGE"


def test_the_answer_declares_every_kind_of_gap_of_a_session() -> None:
    of_the_store = {gaps.UNPROVED, gaps.UNLOADED}
    assert set(get_args(audits.Kind)) == set(gaps.KINDS) - of_the_store


STATEMENTS = {
    **{f"gaps {name}": sql for name, sql in gaps.STATEMENTS.items()},
    **{name: sql for name, sql in vars(inquiries).items() if isinstance(sql, str) and sql.startswith("SELECT")},
    **{
        f"blockers {status} {by_group} {descending}": inquiries.blockers(
            by_group=by_group, status=status, descending=descending
        )
        for status in (None, "open", "resolved", "")
        for by_group in (False, True)
        for descending in (False, True)
    },
}


@pytest.mark.parametrize("name", STATEMENTS)
@pytest.mark.sqlite("SQLite's plan is read")
def test_no_statement_scans_a_table(desk: Desk, name: str) -> None:
    sql = STATEMENTS[name]
    nothing = dict.fromkeys(re.findall(r":(\w+)", sql))
    plan = [row[3] for row in desk.context.connection.execute(f"EXPLAIN QUERY PLAN {sql}", nothing)]
    # A virtual table here is the list inside one row, `above` the agents above one, `newest` one spawn of each group,
    # `handoffs` what was found in the tables behind that view.
    small = ("VIRTUAL TABLE", "SCAN above", "SCAN newest", "SCAN handoffs")
    assert [step for step in plan if step.startswith("SCAN") and not any(each in step for each in small)] == []
    assert [step for step in plan if "AUTOMATIC" in step] == []


def grown(folder: pathlib.Path, groups: int) -> Desk:
    """A session with so many groups, each of which was built, failed, and built again."""
    folder.mkdir()
    desk = Desk(folder)
    desk.session("S1", "G0")
    forging.disarm(desk.context.connection)
    count = f"n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {groups})"
    numbers = f"WITH RECURSIVE {count}, s(k) AS (VALUES (0),(1),(2))"
    connection: sqlite3.Connection = desk.context.connection
    at = "'2025-01-01T00:00:00.000000Z'"
    base = 10
    for sql in (
        "INSERT INTO audit_events (session_id, seq, kind, actor, channel, at, input, rows, prev_hash, hash)"
        f" {numbers} SELECT 'S1', i, 'route', 'x', 'p', {at}, '{{}}', '{{}}', x'', x'' FROM"
        f" (SELECT i * 3 + k + {base} AS i FROM n, s) WHERE i > 2",
        "INSERT INTO agent_reports (session_id, seq, group_id, role, agent_id, response_status, raw_role, raw_status,"
        f" effect, turn, turn_assumed, summary, details, reported_at) {numbers} SELECT 'S1', i * 3 + k + {base},"
        f" 'G' || i, 'developer', 'developer', 'X', 'x', 'x', 'test_fail', i * 3 + k - 1 + {base}, 0, '',"
        f" '{{\"usage\":{{\"input_tokens\":1}}}}', {at} FROM n, s",
        "INSERT INTO router_decisions (session_id, seq, group_id, current_agent, response_status, next_agent, action,"
        f" timestamp, report_id, cause, rules, workflow_version_id, rules_version, answer) {numbers} SELECT 'S1',"
        f" i * 3 + k + {base}, 'G' || i, 'developer', 'X', 'developer', 'spawn', {at},"
        f" 'S1:R' || (i * 3 + k + {base}), 'report', '[{{\"name\":\"escalation\",\"reason\":\"r\"}}]', 1, 1, '{{}}'"
        " FROM n, s",
        f"INSERT INTO standalone_handoffs (session_id, turn, group_id, agent_id, document, hash) {numbers}"
        f" SELECT 'S1', i * 3 + k + {base}, 'G' || i, 'developer', '', '' FROM n, s",
        f"INSERT INTO blockers (id, session_id, group_id, type, class, reason, opened_at, opened_seq, cause) {numbers}"
        f" SELECT 'S1:B' || (i * 3 + {base}), 'S1', 'G' || i, 'x', 'soft', 'r', {at}, i * 3 + {base}, 'report' FROM n",
        "INSERT INTO task_groups (session_id, id, name, kind, created_by, created_at, created_seq, status,"
        f" status_changed_at, status_seq) {numbers} SELECT 'S1', 'G' || i, '', 'code', 'x', {at}, i * 3 + {base},"
        f" 'in_progress', {at}, i * 3 + {base} FROM n",
        "INSERT INTO status_changes (session_id, seq, part, entity, entity_id, from_status, to_status, changed_by,"
        f" changed_at, reason, cause) {numbers} SELECT 'S1', i * 3 + {base}, 1, 'group', 'G' || i, 'pending',"
        f" 'in_progress', 'x', {at}, '', 'batch' FROM n",
    ):  # fmt: skip
        connection.execute(sql)
    return desk


def steps(desk: Desk, words: str, **asked: Any) -> int:
    """How many thousands of SQLite's instructions a call takes."""
    count = 0

    def tick() -> int:
        nonlocal count
        count += 1
        return 0

    desk.context.connection.set_progress_handler(tick, 1000)
    try:
        desk.call(words, session_id="S1", **asked)
    finally:
        desk.context.connection.set_progress_handler(None, 0)
    return count


@pytest.mark.parametrize("words", ["audit gaps", "audit stats", "audit blockers"])
@pytest.mark.sqlite("SQLite's instructions are counted")
def test_ten_times_the_record_takes_ten_times_the_work(tmp_path: pathlib.Path, words: str) -> None:
    small, large = grown(tmp_path / "small", 300), grown(tmp_path / "large", 3000)
    began = time.process_time()
    took = [steps(desk, words) for desk in (small, large)]
    assert took[1] < 13 * took[0] + 5
    # Of this process alone: others may keep it waiting for as long as they like.
    assert time.process_time() - began < 20
