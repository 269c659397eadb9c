"""What return metadata does to a report: who is asked, what blocks, where a successor goes on."""

from __future__ import annotations

import json
from typing import Any

import pytest

from orchestrator.errors import OrchestratorError
from tests.integration.app.table import Table, names

HARD = [{"type": "mathematically_false", "message": "a counterexample", "recoverable": False}]
SOFT = [{"type": "timeout", "recoverable": True}]
FLAG: dict[str, Any] = {"requires_user_review": True, "review_reason": "a person must look"}


def meta(status: str, errors: list[dict[str, Any]] | None = None, **more: Any) -> dict[str, Any]:
    """Return metadata."""
    return {"status": status, "errors": errors or [], **more}


def progress(
    stage: str | None = None, done: int | None = None, total: int | None = None, path: str | None = None
) -> dict[str, Any]:
    """Partial progress without what is not given."""
    given = {"stage": stage, "phases_completed": done, "phases_total": total, "handoff_path": path}
    return {name: value for name, value in given.items() if value is not None}


def routed(status: str, metadata: dict[str, Any], *, via: str = "developer") -> tuple[Table, dict[str, Any]]:
    """A table with two groups, of which A's agent reports with metadata."""
    table = Table("A", "B", plan=True)
    if via == "qa_expert":
        table.says("developer", "READY_FOR_QA", "A")
    if via == "merge":
        table.approve("A")
    return table, table.says("qa_expert" if via == "qa_expert" else "developer", status, "A", metadata=metadata)


FLAGGED = [
    pytest.param("PARTIAL", meta("partial", HARD, **FLAG), "developer", id="partial"),
    pytest.param("BLOCKED", meta("blocked", [{"type": "missing_dependency", "recoverable": False}], **FLAG),
                 "developer", id="blocked"),
    pytest.param("FAIL", meta("failed", [{"type": "validation", "recoverable": False}], **FLAG), "qa_expert",
                 id="failed test"),
    pytest.param("MERGE_CONFLICT", meta("failed", [{"type": "external", "recoverable": False}], **FLAG), "merge",
                 id="failed merge"),
]


class TestAFlag:
    @pytest.mark.parametrize(("status", "metadata", "via"), FLAGGED)
    def test_opens_a_question_and_pauses_the_group_alone(self, status: str, metadata: dict[str, Any], via: str) -> None:
        table, answer = routed(status, metadata, via=via)
        assert (answer["action"], answer["next_agent"], names(answer)[-1]) == ("pause_for_user", None, "user_review")
        assert table.rows("SELECT id, group_id, kind, text FROM questions") == [
            (answer["question_id"], "A", "review", "a person must look")
        ]
        assert (table.awaited("A"), table.status("A"), table.session()[0]) == ("user", "in_progress", "active")
        assert table.says("developer", "READY_FOR_QA", "B")["next_agent"] == "qa_expert"
        assert "over_flagged" not in answer

    def test_with_only_soft_types_is_honoured_and_marked(self) -> None:
        table, answer = routed("PARTIAL", meta("partial", SOFT, **FLAG))
        assert (answer["over_flagged"], answer["action"]) == (True, "pause_for_user")
        assert answer["rules"][-1] == {"name": "user_review", "reason": "a person must look (over-flagged)"}
        assert table.awaited("A") == "user"

    def test_that_is_explicitly_false_is_as_one_that_is_absent(self) -> None:
        _, absent = routed("PARTIAL", meta("partial", SOFT, partial_progress=progress(done=2, total=4)))
        _, false = routed(
            "PARTIAL", meta("partial", SOFT, partial_progress=progress(done=2, total=4), requires_user_review=False)
        )
        assert absent == false
        assert (absent["action"], absent["next_agent"]) == ("respawn", "developer")


class TestNoFlag:
    def test_hard_and_partial_the_system_asks_itself(self) -> None:
        table, answer = routed("PARTIAL", meta("partial", HARD))
        assert (answer["action"], answer["under_flagged"]) == ("pause_for_user", True)
        text = "hard blocker without a request for review: mathematically_false"
        assert answer["rules"][-1] == {"name": "user_review", "reason": f"{text} (under-flagged)"}
        assert table.rows("SELECT kind, text, group_id FROM questions") == [("review", text, "A")]
        assert (table.awaited("A"), table.session()[0]) == ("user", "active")

    def test_who_is_asked_sees_what_happened(self) -> None:
        table = Table("A", plan=True)
        errors = [{"type": "mathematically_false", "message": " 1=2 ", "recoverable": False}]
        metadata = meta("partial", errors, partial_progress=progress(done=2, total=4))
        answer = table.says("developer", "PARTIAL", "A", metadata=metadata, summary="The lemma is false.")
        (asked,) = table.do("inbox")["questions"]
        told = asked["report"]
        assert (told["id"], told["agent_id"], told["response_status"], told["summary"]) == (
            answer["report_id"], "developer@S1:A", "PARTIAL", "The lemma is false.",
        )  # fmt: skip
        assert told["errors"] == [{"type": "mathematically_false", "message": "1=2"}]
        assert (told["progress"]["phases_completed"], told["progress"]["phases_total"]) == (2, 4)
        assert table.do("status", session_id="S1")["questions"][0]["report"] == told

    def test_a_long_error_is_cut_and_many_are_left_out(self) -> None:
        many = [{"type": "external", "message": "x" * 600, "recoverable": False}] * 12
        table, _ = routed("PARTIAL", meta("partial", many))
        told = table.do("inbox")["questions"][0]["report"]
        assert ([len(each["message"]) for each in told["errors"]], told["progress"]) == ([503] * 10, None)

    def test_hard_and_blocked_is_routed_by_the_table_with_a_hard_blocker(self) -> None:
        table, answer = routed("BLOCKED", meta("blocked", HARD))
        assert (answer["next_agent"], answer["action"], table.count("questions")) == ("investigator", "spawn", 0)
        assert table.blockers("type, class") == [("mathematically_false", "hard")]

    @pytest.mark.parametrize(
        ("errors", "reason"),
        [
            pytest.param(
                [{"type": "timeout", "message": "too slow"}, {"type": "external", "message": " no key "}], "no key",
                id="the error that counts",
            ),
            pytest.param([{"type": "external"}, {"type": "timeout", "message": "too slow"}], "too slow", id="another"),
            pytest.param([{"type": "external", "message": "\u200b"}], "it stands", id="none: the summary"),
        ],
    )
    def test_the_blocker_says_what_the_error_says(self, errors: list[dict[str, Any]], reason: str) -> None:
        table = Table("A", plan=True)
        table.says("developer", "BLOCKED", "A", metadata=meta("blocked", errors), summary="it stands")
        assert table.blockers("type, reason")[-1][1] == reason

    def test_a_hard_type_as_stage_is_hard_and_gives_no_type(self) -> None:
        table, _ = routed("BLOCKED", meta("blocked", partial_progress=progress("missing_dependency")))
        assert table.blockers("type, class") == [("unclassified", "hard")]
        table, _ = routed("BLOCKED", meta("blocked", SOFT, partial_progress=progress("missing_dependency")))
        assert table.blockers("type, class") == [(SOFT[0]["type"], "soft")]

    @pytest.mark.parametrize(
        ("status", "metadata", "target"),
        [
            pytest.param("PARTIAL", meta("partial", SOFT), ("developer", "respawn"), id="partial"),
            pytest.param("BLOCKED", meta("blocked", [{"type": "waiting", "recoverable": True}]),
                         ("investigator", "spawn"), id="blocked"),
        ],
    )
    def test_soft_continues_by_the_table(self, status: str, metadata: dict[str, Any], target: tuple[str, str]) -> None:
        table, answer = routed(status, metadata)
        assert ((answer["next_agent"], answer["action"]), table.count("questions")) == (target, 0)
        assert {row[0] for row in table.blockers("class")} <= {"soft"}

    def test_failed_and_not_recoverable_is_routed_by_the_table(self) -> None:
        table, answer = routed("BLOCKED", meta("failed", [{"type": "validation", "recoverable": False}]))
        assert (answer["next_agent"], table.count("questions")) == ("investigator", 0)
        assert table.blockers("type, class") == [("validation", "hard")]


class TestOldAndForeignFields:
    def test_a_file_without_the_two_fields_is_valid_and_recoverable_is_true(self) -> None:
        table, answer = routed("BLOCKED", meta("blocked", [{"type": "validation"}]))
        assert answer["next_agent"] == "investigator"
        assert table.blockers("type, class") == [("validation", "soft")]

    def test_unknown_fields_are_kept(self) -> None:
        table, _ = routed("PARTIAL", meta("partial", SOFT, session_id="sess_1", metadata={"agent": "x"}))
        (kept,) = table.rows("SELECT metadata FROM agent_reports WHERE metadata IS NOT NULL")[0]
        assert json.loads(kept)["metadata"] == {"agent": "x"}


INVALID = [
    pytest.param(meta("completed"), ["$.status"], id="completed"),
    pytest.param(meta("done"), ["$.status"], id="done"),
    pytest.param(meta("partial", requires_user_review=True), ["$.review_reason"], id="flag without a reason"),
    pytest.param(meta("partial", requires_user_review=True, review_reason="  "), ["$.review_reason"],
                 id="blank reason"),
    pytest.param(meta("partial", requires_user_review=True, review_reason="x" * 501), ["$.review_reason"],
                 id="reason of 501 characters"),
    pytest.param(meta("implemented", **FLAG), ["$.requires_user_review", "$.status"], id="flag with implemented"),
    pytest.param(meta("in_progress", **FLAG), ["$.requires_user_review"], id="flag with in_progress"),
    pytest.param(meta("partial", requires_user_review="true", review_reason="x"), ["$.requires_user_review"],
                 id="flag as text"),
    pytest.param(meta("partial", [{"type": "timeout"}], requires_user_review=False), ["$.errors[0].recoverable"],
                 id="error without recoverable in a new file"),
    pytest.param(meta("partial", partial_progress=progress("context_exhaustion_handoff")),
                 ["$.partial_progress.handoff_path"], id="handoff without a path"),
    pytest.param(meta("partial", partial_progress=progress("context_exhaustion_handoff", path="nowhere/h.md")),
                 ["$.partial_progress.handoff_path"], id="handoff file missing"),
    pytest.param(meta("partial", partial_progress=progress(done=5, total=4)), ["$.partial_progress.phases_completed"],
                 id="5 of 4 phases"),
    pytest.param(meta("partial", partial_progress=progress(done=-1, total=4)), ["$.partial_progress.phases_completed"],
                 id="-1 phases"),
    pytest.param(meta("implemented", partial_progress=progress(done=3, total=4)),
                 ["$.partial_progress.phases_completed", "$.status"], id="implemented with 3 of 4"),
    pytest.param(meta("partial", artifacts=[{"type": "x", "path": "/etc/x", "summary": "x"}]), ["$.artifacts[0].path"],
                 id="absolute path"),
    pytest.param(meta("partial", artifacts=[{"type": "x", "path": "a/../../x", "summary": "x"}]),
                 ["$.artifacts[0].path"], id="climbing path"),
    pytest.param(meta("completed", requires_user_review="yes", artifacts=[{"path": "/x"}]),
                 ["$.artifacts[0].path", "$.requires_user_review", "$.status"], id="several"),
]


class TestARefusal:
    @pytest.mark.parametrize(("metadata", "places"), INVALID)
    def test_lists_every_problem_and_leaves_the_group_as_it_was(
        self, metadata: dict[str, Any], places: list[str]
    ) -> None:
        table = Table("A", plan=True)
        problem = table.refused("developer", "PARTIAL", "A", metadata=metadata)
        assert (problem.code, problem.exit_code) == ("METADATA_INVALID", 4)
        assert sorted(each["path"] for each in problem.data["problems"]) == places
        assert table.says("developer", "READY_FOR_QA", "A")["next_agent"] == "qa_expert"

    @pytest.mark.parametrize(
        ("role", "status", "metadata"),
        [
            pytest.param("developer", "READY_FOR_QA", meta("partial"), id="partial with a submission"),
            pytest.param("developer", "READY_FOR_QA", meta("blocked"), id="blocked with a submission"),
            pytest.param("developer", "BLOCKED", meta("implemented"), id="implemented with a block"),
            pytest.param("developer", "BLOCKED", meta("partial"), id="partial with a block"),
            pytest.param("developer", "PARTIAL", meta("failed"), id="failed with progress"),
            pytest.param("developer", "PARTIAL", meta("planned"), id="planned with progress"),
        ],
    )
    def test_of_a_status_that_contradicts_the_report_s(self, role: str, status: str, metadata: dict[str, Any]) -> None:
        table = Table("A", plan=True)
        problem = table.refused(role, status, "A", metadata=metadata)
        assert (problem.code, problem.exit_code) == ("METADATA_MISMATCH", 4)
        assert [each["path"] for each in problem.data["problems"]] == ["$.status"]
        assert table.awaited("A") == "developer"

    @pytest.mark.parametrize(
        ("status", "metadata"),
        [
            pytest.param("READY_FOR_QA", meta("implemented"), id="implemented with a submission"),
            pytest.param("READY_FOR_QA", meta("researched"), id="researched with a submission"),
            pytest.param("PARTIAL", meta("in_progress"), id="in progress with progress"),
            pytest.param("ESCALATE_SENIOR", meta("partial", SOFT), id="partial with an escalation"),
            pytest.param("SPAWN_INVESTIGATOR", meta("partial", SOFT), id="partial with an investigation"),
        ],
    )
    def test_is_not_made_where_both_agree(self, status: str, metadata: dict[str, Any]) -> None:
        assert Table("A", plan=True).says("developer", status, "A", metadata=metadata)["success"] is True


class TestAResumePoint:
    def test_is_stored_with_a_partial_report_and_given_to_the_successor(self) -> None:
        table, answer = routed("PARTIAL", meta("partial", SOFT, partial_progress=progress("tests", 2, 4)))
        point = {"seq": answer["seq"], "stage": "tests", "phase": 3, "phases_completed": 2, "phases_total": 4,
                 "handoff_path": None}  # fmt: skip
        assert answer["resume"] == point
        assert table.do("group show", id="A", session_id="S1")["group"]["resume_point"] == point
        told = table.do("handoff", session_id="S1", group_id="A")
        assert told["handoff"]["resume"] == point
        assert "- begin with phase 3 of 4" in told["markdown"]
        assert table.do("group show", id="B", session_id="S1")["group"]["resume_point"] is None

    def test_of_a_handoff_names_its_file(self, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "handoff.md").write_text("go on here")
        given = meta("partial", partial_progress=progress("context_exhaustion_handoff", 1, 3, "handoff.md"))
        table, answer = routed("PARTIAL", given)
        assert (answer["action"], answer["next_agent"]) == ("respawn", "developer")
        assert '- hand-off file: "handoff.md"' in table.do("handoff", session_id="S1", group_id="A")["markdown"]

    def test_survives_a_redispatch(self) -> None:
        table, answer = routed("PARTIAL", meta("partial", SOFT, partial_progress=progress("tests", 2, 4)))
        table.do("redispatch", session_id="S1", group_id="A", reason="it died")
        assert table.do("handoff", session_id="S1", group_id="A")["handoff"]["resume"]["seq"] == answer["seq"]

    def test_is_not_left_by_a_report_without_metadata(self) -> None:
        table = Table("A", plan=True)
        table.says("developer", "PARTIAL", "A")
        assert table.count("resume_points") == 0


def stopped(table: Table, type_: str, done: int | None = None) -> dict[str, Any]:
    """One more partial report with a soft blocker."""
    given = meta("partial", [{"type": type_, "recoverable": True}], partial_progress=progress(done=done, total=9))
    return table.says("developer", "PARTIAL", "A", metadata=given)


class TestASoftBlockerThatReturns:
    @pytest.mark.parametrize(
        ("reports", "limit"),
        [
            pytest.param([("timeout", n) for n in range(1, 6)], "the same blocker returned more than 3 times",
                         id="more than 3 times"),
            pytest.param([("timeout", None)] * 5, "the same blocker returned more than 3 times",
                         id="more than 3 times, nothing measured"),
            pytest.param([("timeout", 2)] * 3, "2 continuations brought no progress", id="2 without progress"),
            pytest.param([("timeout", 2), ("mcp_transient", 1), ("timeout", 2)], "2 continuations brought no progress",
                         id="2 without progress of two types"),
            pytest.param([(("timeout", "mcp_transient", "build_warning")[n % 3], n) for n in range(1, 7)],
                         "5 continuations were used", id="5 in all"),
        ],
    )
    def test_becomes_hard_at_the_first_limit_and_a_person_is_asked(
        self, reports: list[tuple[str, int | None]], limit: str
    ) -> None:
        table = Table("A", plan=True)
        *before, last = [stopped(table, *each) for each in reports]
        assert {answer["action"] for answer in before} == {"respawn"}
        assert (last["action"], names(last)[-1]) == ("pause_for_user", "user_review")
        assert table.rows("SELECT kind, text FROM questions") == [("budget", f"{reports[-1][0]}: {limit}")]
        assert table.rows("SELECT class FROM resume_points ORDER BY seq DESC LIMIT 1") == [("hard",)]

    def test_may_go_on_as_long_as_each_second_continuation_brings_progress(self) -> None:
        table = Table("A", plan=True)
        types = ("timeout", "mcp_transient")
        found = [stopped(table, types[n % 2], done) for n, done in enumerate((1, 1, 2, 2, 3))]
        assert {answer["action"] for answer in found} == {"respawn"}

    @pytest.mark.parametrize("how", ["progress", "an answer"])
    def test_is_counted_anew_after(self, how: str) -> None:
        table = Table("A", plan=True)
        for _ in range(2):
            stopped(table, "timeout", 2)
        if how == "progress":
            table.submit("A")
            table.says("tech_lead", "CHANGES_REQUESTED", "A")
        else:
            table.answer(stopped(table, "timeout", 2)["question_id"], "continue")
        assert [stopped(table, "timeout", 2)["action"] for _ in range(2)] == ["respawn", "respawn"]
        assert stopped(table, "timeout", 2)["action"] == "pause_for_user"

    def test_of_a_blocked_report_opens_a_hard_blocker_and_asks_nobody(self) -> None:
        table = Table("A", plan=True)
        given = meta("blocked", SOFT, partial_progress=progress(done=1, total=4))
        for _ in range(3):
            table.says("developer", "BLOCKED", "A", metadata=given)
            table.says("investigator", "NEED_DEVELOPER_DIAGNOSTIC", "A")
        assert (table.blockers("type, class"), table.count("questions")) == (
            [("timeout", "soft"), ("timeout", "soft"), ("timeout", "hard")], 0,
        )  # fmt: skip

    def test_counts_for_its_own_group_alone(self) -> None:
        table = Table("A", "B", plan=True)
        for _ in range(2):
            stopped(table, "timeout", 2)
        given = meta("partial", SOFT, partial_progress=progress(done=2, total=9))
        assert table.says("developer", "PARTIAL", "B", metadata=given)["action"] == "respawn"


@pytest.mark.sqlite("statements of SQLite are counted")
def test_a_report_without_metadata_runs_no_statement_for_it() -> None:
    table = Table("A", plan=True)
    seen: list[str] = []
    table.context.connection.set_trace_callback(seen.append)
    table.says("developer", "PARTIAL", "A")
    table.context.connection.set_trace_callback(None)
    assert [sql for sql in seen if "resume_points" in sql or "human_tokens" in sql] == []


def test_what_was_found_out_before_the_step_is_part_of_its_event() -> None:
    table = Table("A", plan=True)
    given = meta("partial", partial_progress=progress("context_exhaustion_handoff", path="nowhere.md"))
    with pytest.raises(OrchestratorError):
        table.says("developer", "PARTIAL", "A", metadata=given)
    (kept,) = table.rows("SELECT input FROM audit_events WHERE kind = 'refusal'")[0]
    assert json.loads(kept)["input"]["found"] == {"missing_file": "nowhere.md"}
