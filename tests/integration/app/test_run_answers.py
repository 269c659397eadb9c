"""Runs that are held before any executor, or ask; and what answers do to them."""

from __future__ import annotations

import pytest

from orchestrator import errors
from orchestrator.app.kernel import human, operations
from orchestrator.app.running import clarification
from orchestrator.core import questions
from orchestrator.core.running import blocked_output, continuation
from tests.integration.app.track import CHAT, ROOT, WORK, Track, facts, in_state, track

__all__ = ["track"]

MINUTES = 60


# Holding


def test_a_question_before_any_executor_blocks_the_task(track: Track) -> None:
    run = track.queue()
    answer = track.hold(run, log=[{"kind": "note", "text": "looked at"}])
    known = track.run(run)
    assert (known.state, known.question_id, known.output, known.owner) == (
        "awaiting_response", answer["question_id"], "Which file?", None,
    )  # fmt: skip
    assert (track.task(run), track.questions(run)) == ("blocked", [("reply", None)])
    assert track.log(run)[1:] == [("note", "looked at"), ("awaiting_response", "Which file?")]
    assert track.held() == []


@pytest.mark.parametrize(("state", "task"), [("incomplete", "in_progress"), ("error", "blocked")])
def test_a_run_may_end_before_any_executor(track: Track, state: str, task: str) -> None:
    run = track.queue()
    status = {"incomplete": "INCOMPLETE", "error": "ERROR"}[state]
    track.hold(run, state, code="E211", reason="there are no tests", executor_status=status)
    known = track.run(run)
    assert (known.state, known.error_code, known.error_reason, known.executor_status) == (
        state, "E211", "there are no tests", status,
    )  # fmt: skip
    assert (known.ended_at is not None, track.task(run)) == (True, task)


def test_what_waits_for_another_task_can_still_be_given_up(track: Track) -> None:
    for name, on in (("T1", ()), ("T2", ("T1",))):
        given = {"session_id": WORK, "group_id": "A", "title": name, "depends_on": on}
        operations.call(track.context, "task create", id=name, **given)
    run = track.queue(session=WORK, task="T2")
    track.refused(lambda: track.hold(run), "DEPENDENCIES_OPEN")
    track.hold(run, "error", executor_status="ERROR", reason="it waits")
    assert (track.state(run), track.task(run)) == (["error"], "todo")


def test_nobody_awaits_a_response_to_nothing(track: Track) -> None:
    run = track.queue()
    track.refused(lambda: track.hold(run, question=" "), "ILLEGAL_MOVE")


@pytest.mark.parametrize("state", ["complete", "cancelled", "queued", "running", "finished"])
def test_no_run_is_complete_without_an_executor(track: Track, state: str) -> None:
    run = track.queue()
    track.refused(lambda: track.hold(run, state), "ILLEGAL_MOVE")


# Nobody answers


def test_what_nobody_answers_any_more_is_incomplete(track: Track) -> None:
    run = in_state(track, "awaiting_response")
    assert track.unanswered(run)["state"] == "incomplete"
    known = track.run(run)
    assert (known.error_reason, known.executor_status, track.task(run)) == ("unanswered", "INCOMPLETE", "in_progress")
    assert (track.questions(run), track.blockers(run)) == ([("reply", "moot")], [])


@pytest.mark.parametrize("state", ["queued", "running", "complete", "incomplete", "error", "cancelled"])
def test_only_what_awaits_a_response_can_be_left_unanswered(track: Track, state: str) -> None:
    run = in_state(track, state)
    track.refused(lambda: track.unanswered(run), "ILLEGAL_MOVE")


# Answering


def asked(track: Track, kind: str) -> tuple[str, str]:
    """A run that asks, and what it asks."""
    if kind == "reply":
        run = track.ended("asks")
    elif kind == "confirmation":
        run = track.queue("rm -rf build", "DANGEROUS_OP")
        track.hold(run, kind=questions.CONFIRMATION, question="Shall it be removed?")
    else:
        run = track.ended("incomplete")
    question = track.run(run).question_id
    assert question is not None
    return run, question


@pytest.mark.parametrize(
    ("kind", "decision"), [("reply", "continue"), ("reply", "revise"), ("confirmation", "yes")]
)
def test_an_answer_puts_a_run_back_into_the_queue(track: Track, kind: str, decision: str) -> None:
    run, question = asked(track, kind)
    answer = track.answer(question, decision, "the first")
    assert answer["reason"] == (
        f"run {run} is queued again: orchestrator repl --project {ROOT}, then /continue {run}"
    )
    known = track.run(run)
    assert (known.state, known.question_id, known.owner) == ("queued", question, None)
    assert (track.questions(run), track.blockers(run)) == ([(kind, decision)], [])
    assert track.log(run)[-1] == ("answered", "the first")
    begun = known.started_at
    track.clock.seconds += 600
    track.start(run)
    track.finish(run)
    assert (track.state(run), track.task(run), track.run(run).started_at) == (["complete"], "done", begun)


@pytest.mark.parametrize(
    "text", [text for name, text in blocked_output.QUESTIONS.items() if name != blocked_output.IMPLEMENTATION]
)
@pytest.mark.parametrize(
    ("decision", "note", "kept"),
    [
        pytest.param("yes", "", "yes", id="yes"),
        pytest.param("no", "", "no", id="no"),
        pytest.param("no", "yes, but later", "no: yes, but later", id="no, whatever the note says"),
    ],
)
def test_a_yes_no_question_of_an_executor_is_answered_by_the_decision(
    track: Track, text: str, decision: str, note: str, kept: str
) -> None:
    run = track.queue()
    track.hold(run, question=text)
    answer = track.answer(str(track.run(run).question_id), decision, note)
    assert (answer["answered"], answer["response_status"]) == (decision, decision.upper())
    assert (track.questions(run), track.state(run)) == ([("reply", "continue")], ["queued"])
    assert clarification.prompt(track.context, track.run(run)).endswith(f"Question: {text}\nAnswer: {kept}")


def test_a_run_that_ended_asking_yes_or_no_goes_on_with_a_no(track: Track) -> None:
    run = track.ended(facts(status="INCOMPLETE", output=blocked_output.QUESTIONS[blocked_output.DEFAULT]))
    answer = track.answer(str(track.run(run).question_id), "no", "")
    assert (track.state(run), answer["reason"].split(":")[0].endswith(f"continues {run}")) == (["incomplete"], True)


@pytest.mark.parametrize("decision", ["yes", "no"])
def test_what_asks_for_words_is_not_answered_by_yes_or_no(track: Track, decision: str) -> None:
    run = track.queue()
    track.hold(run, question="Which file?")
    with pytest.raises(errors.UsageError, match="takes continue or revise or abandon") as caught:
        track.answer(str(track.run(run).question_id), decision)
    assert caught.value.suggestion.endswith("--decision continue --note TEXT")


def test_the_inbox_offers_yes_and_no_where_that_is_asked(track: Track) -> None:
    track.hold(track.queue(), question=blocked_output.QUESTIONS[blocked_output.DEFAULT])
    (asked,) = operations.call(track.context, "inbox")["questions"]
    told = [(each["decision"], each["command"].partition(each["decision"])[2]) for each in asked["answers"]]
    assert told == [("yes", ""), ("no", ""), *((name, " --note TEXT") for name in ("continue", "revise", "abandon"))]
    assert asked["answers"][1]["effect"].endswith("goes on with the answer no")


@pytest.mark.parametrize("by", ["session", "answer"])
def test_what_a_server_takes_up_is_told_so(track: Track, by: str) -> None:
    if by == "session":
        track.context.channel = "http"
        operations.call(track.context, "session create", id="served", kind="chat")
        track.context.channel = "process"
    run = track.queue(session="served" if by == "session" else CHAT)
    track.hold(run)
    track.context.credential = human.Credential("page" if by == "answer" else human.TERMINAL)
    question = str(track.run(run).question_id)
    answer = operations.call(track.context, "answer", id=question, decision="continue", note="the first")
    assert answer["reason"] == (
        f"run {run} is queued again: orchestrator serve continues it if it runs on this database; otherwise:"
        f" orchestrator repl --project {ROOT}, then /continue {run}"
    )


@pytest.mark.parametrize(("kind", "decision"), [("reply", "abandon"), ("confirmation", "no")])
def test_an_answer_may_end_the_run_and_its_task(track: Track, kind: str, decision: str) -> None:
    run, question = asked(track, kind)
    track.answer(question, decision, "leave it")
    known = track.run(run)
    assert (known.state, known.error_reason, track.task(run)) == ("cancelled", "leave it", "cancelled")
    assert (known.executor_status, known.state_changed_by) == ("INCOMPLETE", "user")


def test_unfinished_work_goes_on_once_it_is_approved(track: Track) -> None:
    run, question = asked(track, "continuation")
    track.answer(question, "continue")
    ((new,),) = track.rows("SELECT id FROM runs WHERE retry_of = ?", run)
    assert (track.state(run, new), track.questions(run)) == (
        ["incomplete", "queued"], [("continuation", "continue")],
    )  # fmt: skip
    track.start(new)
    track.finish(new)
    assert track.task(run) == "done"


def test_unfinished_work_may_be_given_up(track: Track) -> None:
    run, question = asked(track, "continuation")
    track.answer(question, "abandon")
    assert (track.state(run), track.task(run)) == (["incomplete"], "cancelled")


@pytest.mark.parametrize(("late", "allowed"), [(0, True), (1, False)], ids=["in time", "too late"])
def test_an_approval_expires_after_thirty_minutes(track: Track, late: int, allowed: bool) -> None:
    assert continuation.TTL_SECONDS == 30 * MINUTES
    _, question = asked(track, "continuation")
    # Who answers is found out before the step, which reads the clock once.
    track.clock.seconds += continuation.TTL_SECONDS - 2 + late
    if allowed:
        track.answer(question, "continue")
    else:
        track.refused(lambda: track.answer(question, "continue"), "E207")
        track.answer(question, "abandon")


@pytest.mark.parametrize("kind", ["reply", "confirmation"])
def test_an_answer_to_a_run_that_waits_never_expires(track: Track, kind: str) -> None:
    run, question = asked(track, kind)
    track.clock.seconds += 2 * 24 * 60 * MINUTES
    track.answer(question, "yes" if kind == "confirmation" else "continue")
    assert track.state(run) == ["queued"]


def test_a_question_of_a_run_that_did_not_wait_makes_a_new_run(track: Track) -> None:
    run = track.ended("asks nobody")
    track.answer(str(track.run(run).question_id), "continue", "the first")
    new = track.one("SELECT id FROM runs WHERE retry_of = ?", run)
    assert track.run(new).prompt == "create a.md\n\nthe first"


@pytest.mark.parametrize("kind", ["reply", "confirmation", "continuation"])
def test_a_question_is_answered_once_and_by_a_person(track: Track, kind: str) -> None:
    _, question = asked(track, kind)
    decision = "yes" if kind == "confirmation" else "continue"
    given = {"id": question, "decision": decision, "note": "n"}
    track.refused(lambda: operations.call(track.context, "answer", **given), "HUMAN_REQUIRED")
    track.answer(question, decision)
    track.refused(lambda: track.answer(question, decision), "QUESTION_CLOSED")


@pytest.mark.parametrize("seen", ["incomplete", "asks nobody"])
@pytest.mark.parametrize("then", ["queued", "running", "complete"])
def test_an_answer_starts_no_second_run_of_a_task(track: Track, then: str, seen: str) -> None:
    """Another run of the task was queued meanwhile; what the first one asked is moot."""
    run = track.ended(seen)
    question = str(track.run(run).question_id)
    other = track.queue(task=track.run(run).task_id)
    if then != "queued":
        track.start(other)
    if then == "complete":
        track.finish(other)
    track.refused(lambda: track.answer(question, "continue"), "QUESTION_CLOSED")
    assert track.one("SELECT count(*) FROM runs") == 2
    if then == "complete":
        assert track.task(other) == "done"
