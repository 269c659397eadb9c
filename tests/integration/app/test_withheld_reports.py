"""A report that a person is asked about counts from the answer to go on, and after any other answer it never does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.acceptance.test_replay import assert_told_again
from tests.integration.app.table import REVIEW, Table, tight

EXTERNAL = {"external": True, "external_dependency": "the hospital's IT"}
HARD = {
    "status": "partial", "errors": [{"type": "missing_dependency", "message": "no licence", "recoverable": False}],
}  # fmt: skip


def play(*steps: str) -> Callable[[], Table]:
    """A planned session in which the words of a table were played on group A."""

    def made() -> Table:
        table = Table("A", "B", plan=True)
        for step in steps:
            getattr(table, step)("A")
        return table

    return made


def in_test() -> Table:
    """Group A waits for QA."""
    table = Table("A", "B", plan=True)
    table.says("developer", "READY_FOR_QA", "A")
    return table


def unplanned() -> Table:
    """A session whose groups wait for the plan."""
    return Table("A", "B")


def merged() -> Table:
    """Group A was blocked, its blocker was accepted, and somebody is sent to merge it."""
    table = play("block")()
    table.says("tech_lead", "APPROVED", "A")
    return table


CASES: dict[str, tuple[Callable[[], Table], tuple[Any, ...], dict[str, Any]]] = {
    "submit_test": (play(), ("developer", "READY_FOR_QA", "A"), {}),
    "submit_review": (play(), ("developer", "READY_FOR_REVIEW", "A"), {}),
    "test_pass": (in_test, ("qa_expert", "PASS", "A"), {}),
    "test_fail": (in_test, ("qa_expert", "FAIL", "A"), {}),
    "inconclusive": (in_test, ("qa_expert", "FLAKY", "A"), {}),
    "approve": (play("submit"), ("tech_lead", "APPROVED", "A"), {}),
    "approve a block": (play("block"), ("tech_lead", "APPROVED", "A"), {}),
    "reject": (play("submit"), ("tech_lead", "CHANGES_REQUESTED", "A"), {}),
    "merge": (merged, ("developer", "MERGE_SUCCESS", "A"), {}),
    "merge_fail": (play("approve"), ("developer", "MERGE_CONFLICT", "A"), {}),
    "guide": (play("block"), ("tech_lead", "UNBLOCKING_GUIDANCE", "A"), {}),
    "guide, external": (play("block"), ("tech_lead", "UNBLOCKING_GUIDANCE", "A"), {"details": EXTERNAL}),
    "guide, to the builder": (play("block"), ("tech_lead", "ARCHITECTURAL_DECISION_MADE", "A"), {}),
    "escalate": (play("submit"), ("tech_lead", "ESCALATE_TO_OPUS", "A"), {}),
    "investigate": (play("submit"), ("tech_lead", "SPAWN_INVESTIGATOR", "A"), {}),
    "progress": (play("approve"), ("developer", "PARTIAL", "A"), {}),
    "defer": (play("mark_external"), ("project_manager", "DEFER_EXTERNAL", "A"), {"summary": "no environment"}),
    "resume": (play("mark_external"), ("project_manager", "RESUME_BLOCKED", "A"), {"summary": "it is there"}),
    "resume, deferred": (play("defer"), ("project_manager", "RESUME_BLOCKED", "A"), {"summary": "it is there"}),
    "rework": (play("confirmable"), ("project_manager", "REWORK", "A"), {}),
    "acknowledge": (play("confirmable"), ("project_manager", "CONTINUE"), {"acknowledge": {"A": "looked at it"}}),
    "confirm": (play("confirmable"), ("project_manager", "BAZINGA"), {}),
    "confirm, too early": (play("block"), ("project_manager", "BAZINGA"), {"acknowledge": {"A": "looked at it"}}),
    "plan": (unplanned, ("project_manager", "PLANNING_COMPLETE"), {}),
}
"""For each effect: a session, and a report that asks a person before it counts."""

COMPLETES = ("acknowledge", "confirm")
"""Reports that complete a group and are therefore not held up by the loop guard."""

WHY = "group_id, status, approved_why, tested_why, merged_why, unblocked_why, reviewed_why, confirmed_why, valid"


def path(table: Table, columns: str = "*") -> list[tuple[Any, ...]]:
    """What the completion view says of every group."""
    return table.rows(f"SELECT {columns} FROM completion_paths ORDER BY group_id")


def effects(table: Table) -> dict[str, Any]:
    """What a report does, beside whom it starts."""
    return {
        "path": path(table, WHY),
        "groups": table.rows(
            "SELECT id, status, awaited_role, awaited_action, qa_attempts, tl_review_attempts, merge_attempts,"
            " iterations, builder_role, senior FROM task_groups ORDER BY id"
        ),
        "blockers": table.rows("SELECT external, external_dependency, resolution, resolved_by FROM blockers"),
        "deferred": table.rows("SELECT group_id, reason FROM deferrals"),
        "acknowledged": table.rows("SELECT group_id, reason FROM acknowledgements"),
        "context": table.rows("SELECT group_id, name FROM context_items"),
        "planned": table.session("planned, awaited_role"),
    }


def standing(table: Table) -> dict[str, Any]:
    """What stands of a report that does not count: whom the group waits for is all that changes."""
    found = effects(table)
    found["groups"] = [(*row[:2], *row[4:]) for row in found["groups"]]
    found["planned"] = found["planned"][:1]
    return found


def report(table: Table, case: str) -> dict[str, Any]:
    """Give the report of a case."""
    _, said, more = CASES[case]
    return table.says(*said, **more)


def asked(case: str) -> tuple[Table, str]:
    """The session of a case after its report, which waits for a person."""
    table = tight(CASES[case][0]())
    return table, report(table, case)["question_id"]


@pytest.mark.parametrize("case", [case for case in CASES if case not in COMPLETES])
class TestAWithheldReport:
    def test_changes_nothing_while_a_person_is_asked(self, case: str) -> None:
        table = tight(CASES[case][0]())
        before, seen = standing(table), path(table, "group_id, approved_why, tested_why, merged_why, reviewed_why")
        report(table, case)
        assert table.count("questions") == 1
        after = standing(table)
        after.pop("path"), before.pop("path")
        assert after == before
        assert path(table, "group_id, approved_why, tested_why, merged_why, reviewed_why") == seen

    @pytest.mark.parametrize("decision", ["abandon", "revise"])
    def test_leaves_the_path_as_it_was_when_it_is_turned_down(self, case: str, decision: str) -> None:
        table = tight(CASES[case][0]())
        before, seen = standing(table), path(table)
        table.answer(report(table, case)["question_id"], decision)
        assert path(table) == seen
        after = standing(table)
        if decision == "revise":
            # Starting the reporter ends an external mark unless the manager is awaited.
            after.pop("blockers"), before.pop("blockers")
        assert after == before
        assert_told_again(table.context)

    def test_does_at_the_answer_what_it_would_have_done_at_once(self, case: str) -> None:
        table, question = asked(case)
        plain = CASES[case][0]()
        report(plain, case)
        answer = table.answer(question, "continue")
        assert (answer["response_status"], answer["answered"]) == ("CONTINUE", "continue")
        found, wanted = effects(table), effects(plain)
        assert [_numberless(row) for row in found.pop("groups")] == [_numberless(row) for row in wanted.pop("groups")]
        for name in ("path", "context"):
            found[name], wanted[name] = ([_numberless(row) for row in rows] for rows in (found[name], wanted[name]))
        assert found == wanted
        assert_told_again(table.context)

    def test_is_on_record_twice_once_it_counts(self, case: str) -> None:
        table, question = asked(case)
        kept = "group_id, role, agent_id, response_status, summary, details"
        (first,) = table.rows(f"SELECT {kept} FROM agent_reports WHERE effect = 'withheld'")
        answer = table.answer(question, "continue")
        assert table.rows(f"SELECT {kept} FROM agent_reports WHERE seq = {answer['seq']}") == [first]
        assert table.rows(f"SELECT cause FROM router_decisions WHERE seq = {answer['seq']} AND part = 1") == [
            ("question",)
        ]
        findings = table.do("audit verify")["findings"]
        # A database in memory has no version of a file.
        assert [each for each in findings if each["code"] != "VERSION_MISMATCH"] == []


def _numberless(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """A row without the number of the step in a group's id."""
    return tuple("investigation" if str(each).startswith("investigation-") else each for each in row)


class TestWhatCompletesAGroup:
    @pytest.mark.parametrize("case", COMPLETES)
    def test_is_not_held_up(self, case: str) -> None:
        table = tight(CASES[case][0]())
        assert "question_id" not in report(table, case)
        assert table.status("A") == "completed"


def flagged(**details: Any) -> tuple[Table, str, str]:
    """QA is blocked; guidance asks a person for a look. The table, the blocker and the question."""
    table = Table("A", plan=True)
    blocker = table.block("A")
    answer = table.says("tech_lead", "UNBLOCKING_GUIDANCE", "A", metadata=REVIEW, details=details)
    return table, blocker, answer["question_id"]


class TestFlaggedGuidance:
    def test_lifts_the_blocker_with_the_answer_to_go_on(self) -> None:
        table, blocker, question = flagged()
        assert table.blockers() == [(blocker, 0, None)]
        answer = table.answer(question, "continue")
        assert (answer["next_agent"], answer["agent_id"]) == ("qa_expert", "qa_expert@S1:A")
        assert answer["blockers_resolved"] == [blocker]
        assert table.blockers("id, resolution, resolved_by, resolved_seq") == [
            (blocker, "guidance", "tech_lead@S1:A", answer["seq"])
        ]

    def test_may_be_given_anew_after_revise(self) -> None:
        table, blocker, question = flagged()
        answer = table.answer(question, "revise", note="use the other server")
        assert (answer["next_agent"], table.awaited("A")) == ("tech_lead", "tech_lead")
        again = table.says("tech_lead", "UNBLOCKING_GUIDANCE", "A")
        assert (again["next_agent"], again["blockers_resolved"]) == ("qa_expert", [blocker])

    def test_leaves_the_block_after_abandon(self) -> None:
        table, blocker, question = flagged()
        assert table.answer(question, "abandon")["next_agent"] == "project_manager"
        assert table.blockers() == [(blocker, 0, None)]
        table.says("project_manager", "BAZINGA", acknowledge={"A": "looks fine"})
        verdict = table.do("validate", session_id="S1")
        failed = {check["id"] for check in verdict["checks"] if check["level"] == "error"}
        assert (verdict["verdict"], table.status("A")) == ("REJECT", "in_progress")
        assert {"V02", "V04", "V07"} <= failed

    @pytest.mark.parametrize("status", ["DEFER_EXTERNAL", "RESUME_BLOCKED"])
    def test_marks_the_blocker_external_with_the_answer(self, status: str) -> None:
        table, blocker, question = flagged(**EXTERNAL)
        assert table.blockers() == [(blocker, 0, None)]
        answer = table.answer(question, "continue")
        assert (answer["next_agent"], table.blockers()) == ("project_manager", [(blocker, 1, None)])
        assert table.rows("SELECT external_seq, external_by FROM blockers") == [(answer["seq"], "tech_lead@S1:A")]
        table.says("project_manager", status, "A", summary="the server comes in May")
        assert table.status("A") == ("deferred_external" if status == "DEFER_EXTERNAL" else "in_progress")

    def test_marks_nothing_external_when_it_is_turned_down(self) -> None:
        table, _, question = flagged(**EXTERNAL)
        table.answer(question, "abandon")
        assert table.code("project_manager", "DEFER_EXTERNAL", "A", summary="later") == "DEFERRAL_NOT_CONFIRMED"
        assert table.move_refused("A", "deferred_external").code == "DEFERRAL_NOT_CONFIRMED"


class TestAnUnderFlaggedPartial:
    def test_counts_nothing_until_the_answer(self) -> None:
        table = Table("A", plan=True)
        table.says("developer", "READY_FOR_QA", "A")
        question = table.says("qa_expert", "PARTIAL", "A", metadata=HARD)["question_id"]
        assert path(table, "tested_why") == [("qa_unanswered",)]
        table.answer(question, "continue")
        assert (table.awaited("A"), path(table, "tested_why")) == ("tech_lead", [("no_test_pass",)])

    def test_resumes_where_it_stopped_after_revise(self) -> None:
        table = Table("A", plan=True)
        half = {"phases_completed": 1, "phases_total": 2}
        said = table.says("developer", "PARTIAL", "A", metadata={**HARD, "partial_progress": half})
        assert table.answer(said["question_id"], "revise")["resume"]["phase"] == 2


class TestAMerge:
    def test_is_reported_again_after_revise(self) -> None:
        table = tight(merged())
        answer = table.answer(table.says("developer", "MERGE_SUCCESS", "A")["question_id"], "revise")
        assert (answer["next_agent"], answer["action"]) == ("developer", "spawn_merge")
        assert table.says("developer", "MERGE_SUCCESS", "A")["group_status"] == "in_progress"


class TestAnInvestigationWithoutAGroup:
    def asked(self) -> tuple[Table, dict[str, Any]]:
        table = Table("A", plan=True)
        return table, table.says("project_manager", "INVESTIGATION_NEEDED", metadata=REVIEW, summary="why so slow?")

    def test_goes_on_in_the_group_that_was_asked_about(self) -> None:
        table, said = self.asked()
        assert table.awaited(said["group_id"]) == "user"
        answer = table.answer(said["question_id"], "continue")
        assert (answer["next_agent"], answer["group_id"]) == ("investigator", said["group_id"])
        assert table.count("task_groups") == 2
        assert_told_again(table.context)

    @pytest.mark.parametrize("decision", ["revise", "abandon"])
    def test_leaves_no_open_group_when_it_is_turned_down(self, decision: str) -> None:
        table, said = self.asked()
        assert table.answer(said["question_id"], decision)["next_agent"] == "project_manager"
        assert table.status(said["group_id"]) == "cancelled"
        assert_told_again(table.context)


class TestAReportThatCannotCountAnyMore:
    def test_calls_the_manager_and_says_why(self) -> None:
        table = tight(play("defer")())
        question = table.says("project_manager", "RESUME_BLOCKED", "A", summary="it is there")["question_id"]
        table.move("A", "cancelled")
        answer = table.answer(question, "continue")
        assert (answer["next_agent"], table.session("awaited_role")) == ("project_manager", ("project_manager",))
        assert "RESUME_BLOCKED cannot be carried out any more: group A is cancelled by now" in [
            rule["reason"] for rule in answer["rules"]
        ]
        assert table.rows("SELECT count(*) FROM agent_reports WHERE response_status = 'RESUME_BLOCKED'") == [(1,)]
        assert_told_again(table.context)


def test_statistics_count_it_once_and_its_effect_with_the_answer() -> None:
    table = in_test()
    failed = {"status": "failed", "requires_user_review": True, "review_reason": "really?", "errors": []}
    details = {"usage": {"input_tokens": 7, "output_tokens": 3}}
    question = table.says("qa_expert", "FAIL", "A", metadata=failed, details=details)["question_id"]
    before = table.do("audit stats", session_id="S1")["stats"]
    table.answer(question, "continue")
    after = table.do("audit stats", session_id="S1")["stats"]
    for found in (before, after):
        (tester,) = [each for each in found["roles"] if each["role"] == "qa_expert"]
        assert (tester["statuses"], tester["usage"]["input_tokens"]) == ({"FAIL": 1}, 7)
    assert [found["rework"]["by_effect"]["test_fail"] for found in (before, after)] == [0, 1]


def test_the_record_tells_when_it_was_given_and_when_it_counts() -> None:
    table, _, question = flagged()
    given = int(question.partition(":Q")[2])
    told = table.do("why", id=f"S1:D{given}")["sentences"]
    assert told[:2] == [
        "tech_lead@S1:A reported UNBLOCKING_GUIDANCE as tech_lead.", "It has no effect until a person approves it.",
    ]  # fmt: skip
    table.answer(question, "continue")
    steps = table.do("audit timeline", session_id="S1", since=given - 1)["events"]
    said = [each["text"] for step in steps for each in step["wrote"] if each["what"] == "report"]
    assert said == [
        "tech_lead@S1:A reported UNBLOCKING_GUIDANCE on A (takes effect once a person approves it)",
        "the report of tech_lead@S1:A takes effect now: UNBLOCKING_GUIDANCE on A",
    ]
