"""Every kind of question and every answer: what goes on, who is started, and that nobody waits for nobody."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from orchestrator import testing
from orchestrator.app.engine import dispatch, scheduler, state_changes
from orchestrator.app.kernel import human
from orchestrator.app.kernel.context import Call, perform
from orchestrator.app.people import answer_question
from orchestrator.core import questions, strict_json
from orchestrator.core.routing.facts import Target
from orchestrator.errors import Refused, UsageError
from tests.acceptance import walking
from tests.acceptance.test_replay import assert_told_again
from tests.integration.app.table import REVIEW, Table, changed, names, tight

BLOCKED = {
    "status": "blocked", "requires_user_review": True, "review_reason": "buy a licence?",
    "errors": [{"type": "missing_dependency", "recoverable": False}],
}  # fmt: skip


def review() -> tuple[Table, str]:
    """A partial report asks for a look."""
    table = Table("A", "B", plan=True)
    return table, table.says("developer", "PARTIAL", "A", metadata=REVIEW)["question_id"]


def review_of_a_block() -> tuple[Table, str]:
    """A blocked report asks for a look."""
    table = Table("A", "B", plan=True)
    return table, table.says("developer", "BLOCKED", "A", metadata=BLOCKED)["question_id"]


def clarification() -> tuple[Table, str]:
    """The project manager asks."""
    table = Table("A", "B", plan=True)
    return table, table.says("project_manager", "NEEDS_CLARIFICATION", summary="which colour?")["question_id"]


def budget() -> tuple[Table, str]:
    """Failures have climbed to a person."""
    table = changed("A", "B", loop_guard={"max_visits": 50}, escalation_after_failures={"threshold": 1})
    table.plan()
    answer: dict[str, Any] = {}
    while "question_id" not in answer:
        if table.awaited("A") == "project_manager":
            table.says("project_manager", "REWORK", "A")
        elif table.awaited("A") == "tech_lead":
            table.says("tech_lead", "ARCHITECTURAL_DECISION_MADE", "A")
        table.says(str(table.awaited("A")), "READY_FOR_QA", "A")
        answer = table.says("qa_expert", "FAIL", "A")
    return table, answer["question_id"]


def session_budget() -> tuple[Table, str]:
    """The project manager goes on and on."""
    table = changed("A", loop_guard={"max_visits": 2})
    table.plan()
    answer: dict[str, Any] = {}
    while "question_id" not in answer:
        answer = table.says("project_manager", "CONTINUE")
    return table, answer["question_id"]


def verdict_budget() -> tuple[Table, str]:
    """BAZINGA again and again."""
    table = changed("A", loop_guard={"max_visits": 2})
    table.plan()
    answer: dict[str, Any] = {}
    while "question_id" not in answer:
        answer = table.says("project_manager", "BAZINGA")
    return table, answer["question_id"]


def redispatched() -> tuple[Table, str]:
    """An agent dies again and again."""
    table = tight(Table("A", "B", plan=True))
    return table, table.do("redispatch", session_id="S1", group_id="A", reason="died")["question_id"]


def session_redispatched() -> tuple[Table, str]:
    """The project manager dies again and again."""
    table = tight(Table("A"))
    return table, table.do("redispatch", session_id="S1", reason="died")["question_id"]


def refused() -> tuple[Table, str]:
    """Reports are refused again and again."""
    table = tight(Table("A", "B", plan=True))
    with pytest.raises(Refused, match="no status"):
        table.says("developer", "NONSENSE", "A")
    return table, table.asked()[0]


def reopened() -> tuple[Table, str]:
    """A group is reopened again and again."""
    table = Table("A", "B", plan=True)
    table.complete("A")
    return tight(table), table.move("A", "in_progress")["followed_by"][0]["question_id"]


def resumed() -> tuple[Table, str]:
    """A deferred group is resumed again and again."""
    table = Table("A", "B", plan=True)
    table.defer("A")
    return tight(table), table.move("A", "in_progress")["followed_by"][0]["question_id"]


def merged() -> tuple[Table, str]:
    """A merge that does not complete its group."""
    table = Table("A", "B", plan=True)
    table.block("A")
    table.says("tech_lead", "APPROVED", "A")
    return tight(table), table.says("developer", "MERGE_SUCCESS", "A")["question_id"]


def planned() -> tuple[Table, str]:
    """The very plan asks a person first."""
    table = tight(Table("A", "B"))
    return table, table.plan()["question_id"]


def review_at_the_limit() -> tuple[Table, str]:
    """A report that asks for a look where a person would be asked anyway."""
    table = tight(Table("A", "B", plan=True))
    return table, table.says("developer", "PARTIAL", "A", metadata=REVIEW)["question_id"]


ASKED: dict[str, Callable[[], tuple[Table, str]]] = {
    each.__name__: each
    for each in (review, review_of_a_block, clarification, budget, session_budget, verdict_budget, redispatched,
                 session_redispatched, refused, reopened, resumed, merged, planned,
                 review_at_the_limit)
}  # fmt: skip
DECISIONS = ("continue", "revise", "abandon")


def target(answer: dict[str, Any]) -> tuple[str | None, str]:
    return answer["next_agent"], answer["action"]


_ANSWERS = [
    (kind, decision) for kind in ASKED for decision in questions.DECISIONS.get(kind, DECISIONS) if decision in DECISIONS
]


class TestAnAnswer:
    @pytest.mark.parametrize(("kind", "decision"), _ANSWERS)
    def test_closes_its_question_and_leaves_nobody_waiting_for_nobody(self, kind: str, decision: str) -> None:
        table, question = ASKED[kind]()
        answer = table.answer(question, decision, note="do it")
        assert (answer["question_id"], answer["answered"], answer["current_agent"]) == (question, decision, "user")
        assert table.decisions("cause, response_status, report_id")[-len(answer.get("followed_by", ())) - 1] == (
            "question", decision.upper(), None,
        )  # fmt: skip
        assert table.rows("SELECT answer, note, channel, closed_by, closed_seq FROM questions WHERE id = :id",
                          id=question) == [(decision, "do it", "terminal", "user", answer["seq"])]  # fmt: skip
        assert table.asked() == []
        assert table.session("status") == ("active",)
        assert walking.violations(table.context) == []

    @pytest.mark.parametrize(("kind", "decision"), _ANSWERS)
    def test_is_told_again_row_by_row(self, kind: str, decision: str) -> None:
        table, question = ASKED[kind]()
        table.answer(question, decision, note="do it")
        assert_told_again(table.context)

    @pytest.mark.parametrize(
        ("kind", "decision", "expected"),
        [
            pytest.param("review", "continue", ("developer", "respawn"), id="review, continue"),
            pytest.param("review", "revise", ("developer", "respawn"), id="review, revise"),
            pytest.param("review", "abandon", ("project_manager", "spawn"), id="review, abandon"),
            pytest.param("review_of_a_block", "continue", ("investigator", "spawn"), id="block, continue"),
            pytest.param("review_of_a_block", "revise", ("developer", "respawn"), id="block, revise"),
            pytest.param("review_of_a_block", "abandon", ("project_manager", "spawn"), id="block, abandon"),
            pytest.param("clarification", "continue", ("project_manager", "spawn"), id="clarification, continue"),
            pytest.param("budget", "continue", ("senior_software_engineer", "respawn"), id="budget, continue"),
            pytest.param("budget", "revise", ("qa_expert", "respawn"), id="budget, revise"),
            pytest.param("budget", "abandon", ("project_manager", "spawn"), id="budget, abandon"),
            pytest.param("session_budget", "continue", (None, "wait"), id="plans, continue"),
            pytest.param("session_budget", "revise", ("project_manager", "spawn"), id="plans, revise"),
            pytest.param("verdict_budget", "continue", (None, "validate_then_end"), id="verdict, continue"),
            pytest.param("redispatched", "continue", ("developer", "spawn"), id="redispatch, continue"),
            pytest.param("redispatched", "revise", ("developer", "respawn"), id="redispatch, revise"),
            pytest.param("reopened", "continue", ("developer", "respawn"), id="reopened, continue"),
            pytest.param("resumed", "continue", ("qa_expert", "respawn"), id="resumed, continue"),
            pytest.param("refused", "continue", ("developer", "spawn"), id="refused, continue"),
            pytest.param("merged", "continue", (None, "wait"), id="merge, continue"),
            pytest.param("planned", "continue", ("developer", "spawn_batch"), id="plan, continue"),
            pytest.param("session_redispatched", "continue", ("project_manager", "spawn"), id="manager, continue"),
        ],
    )
    def test_goes_to(self, kind: str, decision: str, expected: tuple[str | None, str]) -> None:
        table, question = ASKED[kind]()
        assert target(table.answer(question, decision)) == expected

    def test_to_go_on_releases_the_blockers_of_the_report(self) -> None:
        table, question = review_of_a_block()
        answer = table.answer(question, "continue")
        ((blocker, _, resolution),) = table.blockers()
        assert (answer["blockers_resolved"], resolution) == ([blocker], "answered")
        assert table.rows("SELECT resolved_by FROM blockers") == [("user",)]

    @pytest.mark.parametrize("decision", ["revise", "abandon"])
    def test_otherwise_leaves_them(self, decision: str) -> None:
        table, question = review_of_a_block()
        table.answer(question, decision)
        assert [row[2] for row in table.blockers()] == [None]

    @pytest.mark.parametrize("kind", ["review", "clarification"])
    def test_reaches_its_agent_in_the_hand_off(self, kind: str) -> None:
        table, question = ASKED[kind]()
        answer = table.answer(question, "revise" if kind == "review" else "continue", note="use\nthe staging database")
        group = "A" if kind == "review" else None
        told = table.do("handoff", session_id="S1", group_id=group)
        assert told["handoff"]["question"]["note"] == "use\nthe staging database"
        assert "```\nuse\nthe staging database\n```" in told["markdown"]
        assert (told["verified"], told["handoff"]["turn"]) == (True, answer["turn"])

    def test_reaches_its_agent_after_a_redispatch_too(self) -> None:
        table, question = review()
        table.answer(question, "revise", note="use the other one")
        table.do("redispatch", session_id="S1", group_id="A", reason="died")
        assert table.do("handoff", session_id="S1", group_id="A")["handoff"]["question"]["id"] == question

    def test_waits_for_a_slot_and_keeps_its_note(self) -> None:
        table = Table("A", "B", mode="simple")
        table.plan()
        question = table.says("developer", "PARTIAL", "A", metadata=REVIEW)["question_id"]
        assert table.awaited("B") == "developer"
        answer = table.answer(question, "revise", note="later")
        assert (answer["action"], answer["reason"], table.row("A", "held")) == ("wait", "held", ("slot",))
        table.move("B", "cancelled")
        told = table.do("handoff", session_id="S1", group_id="A")
        assert (table.row("A", "held"), told["handoff"]["question"]["note"]) == ((None,), "later")

    def test_sets_the_counters_back(self) -> None:
        table, question = budget()
        counters = "qa_attempts, tl_review_attempts, merge_attempts, iterations, answered_seq"
        assert table.row("A", "qa_attempts") == (3,)
        answer = table.answer(question, "abandon", note="enough")
        assert table.row("A", counters) == (0, 0, 0, 0, answer["seq"])

    def test_sets_the_counters_back_before_the_report_counts(self) -> None:
        table, question = budget()
        answer = table.answer(question, "continue")
        assert table.row("A", "qa_attempts, answered_seq") == (1, answer["seq"])

    def test_by_yes_or_no_is_the_decision_and_never_a_word_of_the_note(self) -> None:
        table, question = _confirmation()
        answer = table.answer(question, "no", note="yes, continue, go on")
        assert target(answer) == ("project_manager", "spawn")
        table, question = _confirmation()
        assert target(table.answer(question, "yes", note="no! abandon"))[0] == "developer"


def _confirmation(kind: str = "confirmation") -> tuple[Table, str]:
    """A question of a kind that no report opens."""
    table = Table("A", plan=True)

    def ask(work: Any) -> dict[str, Any]:
        session, group = work.session(), work.reader.group("S1", "A")
        stored = strict_json.canonical({"target": ["developer", "respawn", None], "include_context": []})
        question = scheduler.ask(work, session, group, kind, "really?", decision=stored)
        record = dispatch.Record("system:router", "ASK", group, Target("user", "pause_for_user"), "question")
        dispatch.decide(work, session, work.version(), record)
        return {"question": question}

    found = perform(table.context, Call("route", "S1", "developer", {}), ask)
    return table, found["question"]


class TestTheDecisions:
    @pytest.mark.parametrize("kind", questions.DECISIONS)
    @pytest.mark.parametrize("decision", ["continue", "revise", "abandon", "yes", "no"])
    def test_of_each_kind(self, kind: str, decision: str) -> None:
        table, question = _confirmation(kind)
        if decision in questions.DECISIONS[kind]:
            assert table.answer(question, decision)["answered"] == decision
            return
        with table.person(), pytest.raises(UsageError, match=" takes "):
            table.do("answer", id=question, decision=decision, note="x")
        assert table.asked() == [question]

    @pytest.mark.parametrize(
        ("kind", "decision", "needed"),
        [
            pytest.param("review", "continue", False, id="review, continue"),
            pytest.param("review", "revise", True, id="revise"),
            pytest.param("budget", "abandon", True, id="abandon"),
            pytest.param("clarification", "continue", True, id="clarification"),
            pytest.param("reply", "continue", True, id="reply"),
            pytest.param("confirmation", "no", False, id="no"),
            pytest.param("continuation", "continue", False, id="continuation"),
        ],
    )
    def test_need_a_note_where_it_is_the_answer(self, kind: str, decision: str, needed: bool) -> None:
        table, question = _confirmation(kind)
        if not needed:
            assert table.answer(question, decision, note="")["answered"] == decision
            return
        with table.person():
            assert table.refusal("answer", id=question, decision=decision, note="  ").code == "REASON_REQUIRED"


class TestARefusedAnswer:
    def test_of_an_unknown_question(self) -> None:
        table, question = review()
        for id_ in ("S1:Q99", "S9:Q1", "nonsense", "@store:Q1"):
            with table.person():
                problem = table.refusal("answer", id=id_, decision="continue")
            assert (problem.code, problem.data["kind"]) == ("UNKNOWN_ID", "question")
        assert table.asked() == [question]
        assert_told_again(table.context)

    def test_of_a_question_of_another_session(self) -> None:
        table, question = review()
        table.do("session create", id="S2")
        with table.person():
            assert table.refusal("answer", id=question, session_id="S2", decision="continue").code == "UNKNOWN_ID"

    def test_of_a_closed_question(self) -> None:
        table, question = review()
        table.answer(question, "continue")
        with table.person():
            problem = table.refusal("answer", id=question, decision="abandon", note="x")
        assert (problem.code, problem.data["answer"], problem.data["closed_by"]) == (
            "QUESTION_CLOSED", "continue", "user",
        )  # fmt: skip

    def test_of_a_question_that_was_cancelled(self) -> None:
        table, question = review()
        table.move("A", "cancelled")
        with table.person():
            problem = table.refusal("answer", id=question, decision="continue")
        assert (problem.code, problem.data["answer"]) == ("QUESTION_CLOSED", "moot")

    def test_repeated_with_the_same_request_is_the_same_answer(self) -> None:
        table, question = review()
        first = table.answer(question, "continue", request_id="r1")
        again = table.answer(question, "continue", request_id="r1")
        assert {**again, "repeated": False} == first

    @pytest.mark.parametrize("by", ["project_manager", "developer", "user", None])
    def test_of_whoever_is_no_person(self, by: str | None) -> None:
        table, question = review()
        problem = table.refusal("answer", id=question, decision="continue", by=by)
        assert (problem.code, problem.exit_code, table.asked()) == ("HUMAN_REQUIRED", 3, [question])


class TestASession:
    def test_goes_on_with_the_answer_of_its_question(self) -> None:
        table, question = clarification()
        assert table.session() == ("paused", "user")
        answer = table.answer(question, "continue", note="blue")
        assert table.session("status, awaited_role, turn") == ("active", "project_manager", answer["seq"])

    def test_that_was_paused_by_hand_stays_paused(self) -> None:
        table = Table("A", plan=True)
        table.do("session pause", id="S1", by="project_manager", reason="lunch")
        question = table.says("project_manager", "NEEDS_CLARIFICATION", summary="which?")["question_id"]
        answer = table.answer(question, "continue", note="blue")
        assert (answer["action"], answer["reason"], table.session()) == (
            "wait", "session_paused", ("paused", "project_manager"),
        )  # fmt: skip
        table.do("session resume", id="S1", by="project_manager", reason="back")
        told = table.do("handoff", session_id="S1")
        assert (table.session("status, held"), told["handoff"]["question"]["note"]) == (("active", None), "blue")

    def test_with_several_questions_goes_on_with_the_last_answer(self) -> None:
        table, first = clarification()
        second = table.says("project_manager", "NEEDS_CLARIFICATION", summary="which size?")["question_id"]
        assert table.asked() == [first, second]
        assert table.answer(second, "continue")["reason"] == "session_paused"
        assert table.session("status") == ("paused",)
        assert walking.violations(table.context) == []
        assert target(table.answer(first, "continue")) == ("project_manager", "spawn")
        assert table.session("status") == ("active",)

    def test_may_clarify_again_after_an_answer(self) -> None:
        table, question = clarification()
        for _ in range(2):
            table.says("project_manager", "NEEDS_CLARIFICATION", summary="more?")
        assert table.code("project_manager", "NEEDS_CLARIFICATION", summary="again?") == "CLARIFICATION_LIMIT"
        table.answer(question, "continue", note="blue")
        assert table.says("project_manager", "NEEDS_CLARIFICATION", summary="again?")["success"] is True

    def test_emits_what_was_held_back_meanwhile(self) -> None:
        table, question = clarification()
        assert table.says("developer", "READY_FOR_QA", "A")["reason"] == "session_paused"
        answer = table.answer(question, "continue", note="blue")
        assert [target(each) for each in answer["followed_by"]] == [("qa_expert", "spawn")]

    def test_that_is_abandoned_closes_its_questions_and_groups(self) -> None:
        table, question = clarification()
        with table.person():
            found = table.do("session end", id="S1", by="user", reason="no budget")
        assert (found["session"]["outcome"], found["cancelled"]) == ("abandoned", ["A", "B"])
        assert table.rows("SELECT answer FROM questions WHERE id = :id", id=question) == [("moot",)]
        assert_told_again(table.context)

    def test_that_ends_with_its_investigation_asks_nobody_any_more(self) -> None:
        table = Table()
        question = table.says("project_manager", "NEEDS_CLARIFICATION", summary="which?")["question_id"]
        table.says("project_manager", "INVESTIGATION_ONLY", summary="answered")
        assert table.rows("SELECT id, answer FROM questions") == [(question, "moot")]


class TestAGroupWithAnOpenQuestion:
    def test_takes_no_report(self) -> None:
        table, question = review()
        for role in ("developer", "project_manager"):
            problem = table.refused(role, "REWORK" if role == "project_manager" else "READY_FOR_QA", "A")
            assert (problem.code, problem.data["question_id"]) == ("QUESTION_OPEN", question)

    def test_is_not_deferred_past_it(self) -> None:
        table = Table("A", plan=True)
        table.mark_external("A")
        question = table.says("project_manager", "CONTINUE", "A", metadata=None)
        assert "question_id" not in question
        def ask(work: Any) -> dict[str, Any]:
            return {"question": state_changes.open_question(work, "A", kind="review", text="a look")}

        perform(table.context, Call("route", "S1", "project_manager", {}), ask)
        assert table.move_refused("A", "deferred_external").code == "QUESTION_OPEN"

    def test_goes_all_the_way_once_it_is_answered(self) -> None:
        table, question = review_of_a_block()
        table.answer(question, "continue")
        table.says("investigator", "ROOT_CAUSE_FOUND", "A")
        table.says("tech_lead", "ARCHITECTURAL_DECISION_MADE", "A")
        table.complete("A")
        table.says("project_manager", "CONTINUE", acknowledge={"A": "seen"})
        assert table.status("A") == "completed"


def _of_a_task(kind: str, status: str = "blocked") -> tuple[Table, str]:
    """A task of group A that waits for a person."""
    table = Table("A", plan=True)
    made = {"id": "T1", "session_id": "S1", "group_id": "A", "title": "t", "assignee": "developer"}
    table.do("task create", **made, by="project_manager")
    table.do("task set-status", id="T1", session_id="S1", status="in_progress", by="developer")
    if status == "blocked":
        table.do("task set-status", id="T1", session_id="S1", status="blocked", by="developer", reason="a reply")
    elif status != "in_progress":
        table.do("task set-status", id="T1", session_id="S1", status=status, by="project_manager", reason="no need")
    given = {"kind": kind, "text": "what now?", "task_id": "T1"}

    def ask(work: Any) -> dict[str, Any]:
        return {"question": state_changes.open_question(work, "A", **given)}

    return table, perform(table.context, Call("route", "S1", "developer", {}), ask)["question"]


class TestAQuestionOfATask:
    @pytest.mark.parametrize(
        ("kind", "decision", "status"),
        [
            pytest.param("reply", "continue", "in_progress", id="reply"),
            pytest.param("reply", "revise", "in_progress", id="reply, revise"),
            pytest.param("reply", "abandon", "cancelled", id="reply, abandon"),
            pytest.param("confirmation", "yes", "in_progress", id="yes"),
            pytest.param("confirmation", "no", "cancelled", id="no"),
            pytest.param("continuation", "continue", "in_progress", id="approve"),
            pytest.param("continuation", "abandon", "cancelled", id="not approved"),
        ],
    )
    def test_releases_or_cancels_its_task(self, kind: str, decision: str, status: str) -> None:
        table, question = _of_a_task(kind)
        (asked,) = table.do("inbox")["questions"]
        assert (asked["task_id"], asked["group_id"]) == ("T1", "A")
        answer = table.answer(question, decision, note="so be it")
        assert (answer["task_id"], answer["action"], answer["answered"]) == ("T1", "wait", decision)
        assert table.rows("SELECT status, status_changed_by_agent_id FROM tasks") == [(status, "user")]
        assert table.rows("SELECT count(*) FROM blockers WHERE resolved_seq IS NULL") == [(0,)]
        assert table.asked() == []

    def test_of_a_closed_task_only_closes(self) -> None:
        table, question = _of_a_task("reply", "cancelled")
        assert table.answer(question, "continue")["reason"] == "the task is closed already"
        assert table.rows("SELECT status FROM tasks") == [("cancelled",)]

    def test_keeps_its_group_s_agents_at_work(self) -> None:
        table, _ = _of_a_task("reply")
        assert table.says("developer", "READY_FOR_QA", "A")["next_agent"] == "qa_expert"

    def test_keeps_its_group_from_being_completed(self) -> None:
        table, question = _of_a_task("reply", "in_progress")
        assert dict(_parts(table))["unblocked"] is False
        table.answer(question, "continue")
        table.do("task set-status", id="T1", session_id="S1", status="done", by="developer")
        assert dict(_parts(table))["unblocked"] is True


def _parts(table: Table) -> list[tuple[str, bool]]:
    return [(part["part"], part["met"]) for part in table.do("group show", id="A", session_id="S1")["group"]["path"]]


class TestTheInbox:
    def test_lists_open_questions_of_all_sessions_oldest_first(self) -> None:
        table, first = review()
        table.do("session create", id="S0")
        table.group("A", session="S0")
        table.says("project_manager", "PLANNING_COMPLETE", session="S0")
        second = table.says("developer", "PARTIAL", "A", session="S0", metadata=REVIEW)["question_id"]
        third = table.says("developer", "PARTIAL", "B", metadata=REVIEW)["question_id"]
        assert table.asked() == [first, second, third]
        found = table.do("inbox", session_id="S1")["questions"]
        assert [each["id"] for each in found] == [first, third]

    def test_is_read_page_by_page(self) -> None:
        table, first = review()
        second = table.says("developer", "PARTIAL", "B", metadata=REVIEW)["question_id"]
        page = table.do("inbox", limit=1)
        assert ([each["id"] for each in page["questions"]], page["has_more"]) == ([first], True)
        rest = table.do("inbox", limit=1, since=page["next_since"])
        assert ([each["id"] for each in rest["questions"]], rest["has_more"]) == ([second], False)

    def test_says_what_each_answer_will_do_and_how_it_is_given(self) -> None:
        table, question = review_of_a_block()
        (found,) = table.do("inbox")["questions"]
        assert (found["text"], found["kind"], found["asked_by"]) == ("buy a licence?", "review", "developer@S1:A")
        assert [(each["decision"], each["effect"], each["command"]) for each in found["answers"]] == [
            ("continue", "investigator goes on (spawn)", f"orchestrator answer {question} --decision continue"),
            ("revise", "developer is started again and gets the note",
             f"orchestrator answer {question} --decision revise --note TEXT"),
            ("abandon", "the project manager is called, who may cancel group A",
             f"orchestrator answer {question} --decision abandon --note TEXT"),
        ]  # fmt: skip

    def test_of_an_unknown_session_is_refused(self) -> None:
        table, _ = review()
        with pytest.raises(Refused, match="no session S9"):
            table.do("inbox", session_id="S9")


def test_a_question_survives_a_restart() -> None:
    table, question = review()
    later = Table.__new__(Table)
    later.context = testing.memory_context(table.context.clock, content=table.context.connection.serialize())
    assert later.asked() == [question]
    assert target(later.answer(question, "continue")) == ("developer", "respawn")


def test_the_rules_of_an_answer_name_question_and_person() -> None:
    table, question = review()
    answer = table.answer(question, "continue")
    assert (names(answer), answer["rules"][0]["reason"]) == (
        ["question"], f"question {question} was answered by user: continue",
    )  # fmt: skip


def test_a_token_serves_as_well_as_a_terminal() -> None:
    table, question = review()
    with table.person():
        token = table.do("human enrol", agent="user")["token"]
    with table.person(human.Credential(human.TOKEN, token)):
        table.do("answer", id=question, decision="continue")
    assert table.rows("SELECT channel FROM questions") == [("token",)]
    assert table.rows("SELECT actor, channel FROM audit_events ORDER BY rowid DESC LIMIT 1") == [("user", "token")]


def test_to_look_whether_an_unknown_question_can_be_answered_says_that_there_is_none() -> None:
    table = Table("A")
    with pytest.raises(Refused) as problem:
        answer_question.look(table.context, "S1:Q99", "continue", "")
    assert (problem.value.code, problem.value.data["kind"]) == ("UNKNOWN_ID", "question")


class TestAClarification:
    def test_asks_what_the_details_ask(self) -> None:
        table = Table("A", plan=True)
        details = {"clarification_question": "Which API?"}
        id = table.says("project_manager", "NEEDS_CLARIFICATION", details=details)["question_id"]
        for words, given in (("next", {"session_id": "S1"}), ("status", {"session_id": "S1"}), ("inbox", {})):
            (question,) = table.do(words, **given)["questions"]
            assert question["text"] == "Which API?"
            assert [each["decision"] for each in question["answers"]] == ["continue"]
        found = table.do("why", id=id)
        assert (found["about"], found["question"]["text"]) == ("question", "Which API?")
        assert "It asks: Which API?" in found["sentences"]
        assert table.do("why", id=id.rpartition(":")[2], session_id="S1")["question"] == found["question"]

    def test_falls_back_to_the_summary(self) -> None:
        table = Table("A", plan=True)
        table.says("project_manager", "NEEDS_CLARIFICATION", summary="Which?", details={"clarification_question": [1]})
        (question,) = table.do("inbox")["questions"]
        assert question["text"] == "Which?"

    def test_answered_is_explained_with_its_note(self) -> None:
        table, id = clarification()
        table.answer(id, "continue", note="blue")
        assert any("continue (blue)" in each for each in table.do("why", id=id)["sentences"])

    def test_that_does_not_exist_cannot_be_explained(self) -> None:
        assert table_code(clarification()[0], "S1:Q999") == "UNKNOWN_ID"


def table_code(table: Table, id: str) -> str:
    """The code of the refusal to explain a question."""
    with pytest.raises(Refused) as caught:
        table.do("why", id=id)
    return caught.value.code


def test_a_question_of_the_manager_about_the_session_cannot_be_abandoned() -> None:
    table, _ = ASKED["session_budget"]()
    (question,) = table.do("inbox")["questions"]
    assert [each["decision"] for each in question["answers"]] == ["continue", "revise"]


def test_an_answer_to_a_clarification_before_rules_version_4_is_still_accepted_in_a_replay() -> None:
    assert questions.decisions("clarification", "", before=True) == ("continue", "revise", "abandon")
    assert questions.decisions("clarification", "") == ("continue",)
