"""How runs end, what becomes of their tasks, and how they are tried again."""

from __future__ import annotations

import functools

import pytest

from orchestrator import errors
from orchestrator.app.kernel import operations
from orchestrator.app.running import run_queue
from orchestrator.core import questions, task_types
from orchestrator.core.running.facts import File
from tests import persons
from tests.integration.app.track import CHAT, NEW_FILE, Track, facts, in_state, track

__all__ = ["track"]


# Finishing

ENDS = [
    ("complete", "complete", "COMPLETE", "done", [], []),
    ("incomplete", "incomplete", "INCOMPLETE", "in_progress", [], [("continuation", None)]),
    ("nothing", "incomplete", "NO_EVIDENCE", "in_progress", [], []),
    ("asks nobody", "incomplete", "INCOMPLETE", "in_progress", [], [("reply", None)]),
    ("asks", "awaiting_response", "INCOMPLETE", "blocked", ["waiting"], [("reply", None)]),
    ("error", "error", "ERROR", "blocked", ["unclassified"], [("review", None)]),
    ("timeout", "error", "ERROR", "blocked", ["timeout"], []),
    ("prompt", "error", "ERROR", "blocked", ["waiting"], []),
    ("foreign", "error", "INVALID", "blocked", ["unclassified"], [("review", None)]),
    ("cancelled", "cancelled", "INCOMPLETE", "cancelled", [], []),
]


@pytest.mark.parametrize(
    ("seen", "state", "status", "task", "blockers", "asked"), ENDS, ids=[row[0] for row in ENDS]
)
def test_a_run_ends_as_the_facts_say_and_its_task_with_it(
    track: Track, seen: str, state: str, status: str, task: str, blockers: list[str], asked: list[tuple[str, str]]
) -> None:
    run = track.begun()
    answer = track.finish(run, seen)
    known = track.run(run)
    assert (answer["state"], answer["executor_status"], answer["run"]) == (state, status, run)
    assert (known.state, known.executor_status, known.owner) == (state, status, None)
    assert (track.task(run), [row[0] for row in track.blockers(run)]) == (task, blockers)
    assert track.questions(run) == asked
    assert answer["question_id"] == known.question_id
    assert (known.question_id is not None) == (bool(asked) and asked[0][0] in questions.OF_RUNS)
    assert (known.ended_at is None) == (state == "awaiting_response")
    assert known.error_reason == (None if state == "complete" else answer["why"])
    assert track.log(run)[-1] == (state, answer["why"])


def test_what_a_run_leaves_is_kept(track: Track) -> None:
    run = track.begun()
    violation = {"type": "files", "limit_value": 5, "actual": 6, "at": "t"}
    seen = facts(output="It is written.", verified=(*NEW_FILE, File("gone.md", False, "executor_claim")))
    answer = track.finish(
        run, seen, log=[{"kind": "file", "text": "new: a.md", "level": "full", "at": "then"}],
        evidence=[{"subject": "o1", "outcome": "recorded", "content": {"n": 1}}], violations=[violation],
    )  # fmt: skip
    assert answer["executor_status"] == "NO_EVIDENCE"
    assert track.rows("SELECT path, change, present FROM run_files") == [("a.md", "new", 1), ("gone.md", "new", 0)]
    assert track.rows("SELECT type, limit_value, actual, at FROM run_violations") == [("files", 5, 6, "t")]
    assert track.rows("SELECT kind, subject, outcome, content FROM evidence WHERE kind = 'operation'") == [
        ("operation", "o1", "recorded", '{"n":1}')
    ]
    assert track.rows("SELECT subject, outcome FROM evidence WHERE kind = 'run'") == [(run, "NO_EVIDENCE")]
    assert track.rows("SELECT at, level FROM run_events WHERE kind = 'file'") == [("then", "full")]
    known = track.run(run)
    assert (known.files_modified_count, known.output) == (1, "It is written.")


def test_a_hung_executor_is_told_by_its_clock(track: Track) -> None:
    run = track.run(track.ended("timeout"))
    assert (run.executor_blocked, run.blocked_reason, run.timeout_ms, run.limit_name) == (
        1, "TIMEOUT", 60000, "executor_timeout",
    )  # fmt: skip


@pytest.mark.parametrize("type", ["READ_INFO", "REPORT"])
def test_an_answer_is_the_evidence_of_what_asks(track: Track, type: str) -> None:
    run = track.begun("what is this?", type)
    assert track.finish(run, facts(type, output="A project."))["state"] == "complete"
    assert track.task(run) == "done"


def test_a_deletion_that_was_ordered_is_proof(track: Track) -> None:
    run = track.begun("delete old.md")
    gone = {"path": "old.md", "change": "deleted", "present": False, "detected_at": "t", "detection_method": "diff"}
    answer = track.finish(run, facts(output="It is gone.", ordered_deletions=("old.md",)), files=[gone])
    assert (answer["state"], track.run(run).files_modified_count) == ("complete", 0)


@pytest.mark.parametrize("type", task_types.TYPES)
def test_a_dangerous_operation_alone_is_blocked(track: Track, type: str) -> None:
    run = track.begun("rm -rf build", type)
    answer = track.finish(run, facts(type, "BLOCKED", interactive=True))
    dangerous = type == "DANGEROUS_OP"
    assert (answer["state"], answer["executor_status"]) == (
        "awaiting_response", "BLOCKED" if dangerous else "INCOMPLETE",
    )  # fmt: skip
    assert track.questions(run) == [("confirmation" if dangerous else "reply", None)]
    assert track.run(run).output


@pytest.mark.parametrize("state", ["queued", "awaiting_response", "complete", "incomplete", "error", "cancelled"])
def test_what_does_not_run_is_not_finished(track: Track, state: str) -> None:
    run = in_state(track, state)
    track.refused(lambda: track.finish(run), "ILLEGAL_MOVE")


PEOPLE = [
    ("task set-status", {"status": "blocked", "by": "user", "reason": "stop"}),
    ("task set-status", {"status": "blocked", "by": "user", "reason": "stop", "blocker_type": "permission_denied"}),
    ("task set-status", {"status": "cancelled", "by": "user", "reason": "no need"}),
    ("task set-status", {"status": "done", "by": "user"}),
    ("task create", {"id": "part", "title": "a part", "by": "project_manager"}),
]


@pytest.mark.parametrize("seen", ["complete", "incomplete", "nothing", "asks", "asks nobody", "error", "cancelled"])
@pytest.mark.parametrize(
    ("words", "given"), PEOPLE, ids=["blocked", "hard blocked", "cancelled", "done", "a part of it"]
)
def test_a_run_ends_whatever_became_of_its_task(track: Track, words: str, given: dict[str, str], seen: str) -> None:
    run = track.begun()
    task = {"parent" if words == "task create" else "id": track.run(run).task_id}
    track.person(words, session_id=CHAT, **given, **task)
    before = track.task(run)
    track.finish(run, seen)
    assert track.run(run).owner is None
    if before in ("done", "cancelled"):
        assert track.task(run) == before


def test_a_run_is_complete_although_its_task_is_not_done(track: Track) -> None:
    run = track.begun()
    task = track.run(run).task_id
    operations.call(track.context, "task create", id="part", session_id=CHAT, title="a part", parent=task)
    track.finish(run)
    assert (track.state(run), track.task(run)) == (["complete"], "in_progress")
    kind, text = track.log(run)[-1]
    assert (kind, "part" in text) == ("task", True)


# Cancelling and abandoning


def test_what_is_queued_is_cancelled_with_its_task(track: Track) -> None:
    run = track.queue()
    assert track.cancel(run)["state"] == "cancelled"
    known = track.run(run)
    assert (known.executor_status, known.error_reason, track.task(run)) == ("INCOMPLETE", "no need", "cancelled")
    assert track.log(run)[-1] == ("cancelled", "no need")


def test_what_awaits_a_response_is_cancelled_with_its_question(track: Track) -> None:
    run = in_state(track, "awaiting_response")
    track.cancel(run)
    assert (track.state(run), track.task(run), track.questions(run)) == (
        ["cancelled"], "cancelled", [("reply", "moot")],
    )  # fmt: skip


@pytest.mark.parametrize("state", ["running", "complete", "incomplete", "error", "cancelled"])
def test_what_runs_or_has_ended_is_not_cancelled(track: Track, state: str) -> None:
    run = in_state(track, state)
    track.refused(lambda: track.cancel(run), "ILLEGAL_MOVE")


def test_cancelling_needs_a_reason(track: Track) -> None:
    run = track.queue()
    track.refused(lambda: track.cancel(run, " "), "REASON_REQUIRED")


def test_a_run_whose_process_is_gone_is_an_error_and_holds_nothing(track: Track) -> None:
    run = track.queue()
    track.start(run)
    track.abandon(run)
    known = track.run(run)
    assert (known.state, known.executor_status, known.error_code, known.owner) == ("error", "ERROR", "E503", None)
    assert (track.held(), track.task(run)) == ([], "blocked")
    assert track.log(run)[-1][1] == "the process that ran it is gone"


@pytest.mark.parametrize("state", ["queued", "awaiting_response", "complete", "error"])
def test_what_runs_nowhere_is_not_abandoned(track: Track, state: str) -> None:
    run = in_state(track, state)
    track.refused(lambda: track.abandon(run), "ILLEGAL_MOVE")


def test_no_run_is_taken_from_who_is_not_known_to_be_gone(track: Track) -> None:
    run = track.begun()
    track.refused(lambda: track.abandon(run, "host:8:2"), "ILLEGAL_MOVE")


# Trying again


@pytest.mark.parametrize("seen", ["incomplete", "nothing", "asks nobody", "timeout", "prompt"])
def test_what_was_not_complete_is_tried_again_under_new_ids(track: Track, seen: str) -> None:
    run = track.ended(seen)
    new = track.again(run)
    known, before = track.run(new), track.run(run)
    assert (known.state, known.retry_of, known.task_id, known.log_id) == ("queued", run, before.task_id, "task-002")
    assert (known.prompt, known.task_type, known.executor) == (before.prompt, before.task_type, before.executor)
    assert all(answer == "moot" for _, answer in track.questions(run))
    track.start(new)
    track.finish(new)
    assert (track.state(run, new), track.task(new)) == ([before.state, "complete"], "done")


def test_another_try_may_have_another_executor_and_a_note(track: Track) -> None:
    run = track.ended("incomplete")
    new = track.run(track.again(run, note="mind the gap", executor="other", provider="openai", model="m"))
    assert (new.prompt, new.executor, new.provider, new.model) == (
        "create a.md\n\nmind the gap", "other", "openai", "m",
    )  # fmt: skip


@pytest.mark.parametrize("state", ["queued", "running", "awaiting_response", "complete"])
def test_what_is_open_or_complete_is_not_tried_again(track: Track, state: str) -> None:
    run = in_state(track, state)
    problem = track.refused(lambda: track.again(run), "ILLEGAL_MOVE")
    said = f"Run {run} is {state}; only one that ended without being complete is tried again."
    assert (problem.message, problem.suggestion) == (said, f"/logs {run}")


@pytest.mark.parametrize("state", ["queued", "awaiting_response", "complete", "incomplete", "cancelled"])
def test_what_does_not_run_is_not_stopped(track: Track, state: str) -> None:
    run = in_state(track, state)
    problem = track.refused(
        lambda: operations.ask(track.context, run_queue.StopRun(session_id=CHAT, id=run, reason="enough")),
        "ILLEGAL_MOVE",
    )
    assert problem.message == f"Run {run} is {state}."


def test_what_is_tried_again_already_is_not_tried_a_third_time(track: Track) -> None:
    run = track.ended("incomplete")
    track.again(run)
    track.refused(lambda: track.again(run), "ILLEGAL_MOVE")


def test_an_error_that_nobody_understands_is_a_persons_to_try_again(track: Track) -> None:
    run = track.ended("error")
    problem = track.refused(lambda: track.again(run), "UNBLOCK_NOT_PERMITTED")
    assert problem.data["hard"] is True
    persons.sit(track.context)
    new = track.again(run, by="user")
    track.context.credential = None
    assert (track.run(new).queued_by, track.blockers(run)) == ("user", [])
    track.start(new)
    track.finish(new)
    assert track.task(new) == "done"


def test_a_new_run_lifts_no_block_that_is_a_persons(track: Track) -> None:
    """Whatever way leads to the start, what is hard or opened by somebody else stays."""
    hard, soft = track.ended("error"), track.ended("nothing")
    track.person(
        "task set-status", id=track.run(soft).task_id, session_id=CHAT, status="blocked", by="user", reason="stop"
    )
    for run in (hard, soft):
        new = track.queue(task=track.run(run).task_id)
        track.refused(functools.partial(track.start, new), "UNBLOCK_NOT_PERMITTED")
        track.refused(functools.partial(track.hold, new), "UNBLOCK_NOT_PERMITTED")
        track.hold(new, "incomplete")
        assert (track.state(new), track.task(new), len(track.blockers(new))) == (["incomplete"], "blocked", 1)


def test_a_persons_block_stays_until_a_person_tries_again(track: Track) -> None:
    run = track.ended("nothing")
    task = track.run(run).task_id
    track.person("task set-status", id=task, session_id=CHAT, status="blocked", by="user", reason="stop")
    track.refused(lambda: track.again(run), "UNBLOCK_NOT_PERMITTED")
    persons.sit(track.context)
    new = track.again(run, by="user")
    track.context.credential = None
    track.start(new)
    assert track.blockers(new) == []


def test_what_the_runner_blocked_itself_it_lets_go(track: Track) -> None:
    run = track.ended("timeout")
    new = track.queue(task=track.run(run).task_id)
    track.start(new)
    assert (track.task(new), track.blockers(new)) == ("in_progress", [])


# --- the end of a session


def test_a_session_that_ends_leaves_no_run_open(track: Track) -> None:
    queued, asking = track.queue(), track.queue("create b.md")
    track.hold(asking)
    operations.call(track.context, "session end", id=CHAT, by="project_manager", reason="enough")
    assert {track.run(run).state for run in (queued,)} == {"cancelled"}
    assert (track.run(asking).state, track.run(asking).error_reason) == ("incomplete", "unanswered")
    assert track.rows("SELECT DISTINCT status FROM tasks") == [("cancelled",)]
    assert track.rows("SELECT count(*) FROM questions WHERE closed_seq IS NULL") == [(0,)]


def test_a_session_does_not_end_while_something_runs(track: Track) -> None:
    run = track.begun()
    before = track.rows("SELECT * FROM runs")
    with pytest.raises(errors.Refused) as refused:
        operations.call(track.context, "session end", id=CHAT, by="project_manager", reason="enough")
    assert (refused.value.code, refused.value.data["runs"]) == ("ILLEGAL_MOVE", [run])
    assert track.rows("SELECT * FROM runs") == before
    track.finish(run)
    operations.call(track.context, "session end", id=CHAT, by="project_manager", reason="enough")
    assert track.rows("SELECT status FROM sessions WHERE id = 'C1'") == [("ended",)]
