"""What somebody who looks at runs or serves them is refused: in which words, and that nothing is changed by it."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import Any

import pytest

from orchestrator.app.kernel import operations
from orchestrator.app.running import (
    begin_session,
    end_session,
    execute_run,
    run_answers,
    run_list_views,
    run_views,
    start_run,
    submission,
)
from orchestrator.app.running.run_session import RunSession
from orchestrator.errors import EnvironmentProblem, OrchestratorError, Refused
from tests import persons
from tests.integration.app import test_run_session
from tests.integration.app.track import CHAT, TABLES, WORK, Track, track

__all__ = ["track"]

DANGEROUS = "Delete all files in the database folder: rm -rf data"
COMPLETE = {"status": "COMPLETE", "output": "done", "writes": {"a.md": "x"}}
UNFINISHED = {"status": "INCOMPLETE", "output": "Half of it is done.", "writes": {"a.md": "x"}}
NOTHING = {"status": "COMPLETE", "output": "It is written."}


def rows(at: RunSession) -> dict[str, list[Any]]:
    return {name: at.context.connection.execute(f"SELECT * FROM {name}").fetchall() for name in TABLES}


def refused(at: RunSession, call: Callable[[], object], code: str, message: str) -> None:
    """A call that is turned down so, and changes nothing."""
    before, session = rows(at), at.session_id
    with pytest.raises(OrchestratorError) as caught:
        call()
    assert (caught.value.code, caught.value.message) == (code, message)
    assert (rows(at), at.session_id) == (before, session)


def person(at: RunSession, call: Callable[[], Any]) -> Any:
    persons.sit(at.context)
    try:
        return call()
    finally:
        at.context.credential = None


# --- going on with what is not finished


def test_without_a_run_nothing_is_approved(tmp_path: pathlib.Path) -> None:
    at = test_run_session.desk(tmp_path)
    begin_session.ensure(at)
    refused(at, lambda: run_answers.approve(at), "E207", "There is no unfinished work in this session.")


@pytest.mark.parametrize(
    ("step", "said"),
    [
        pytest.param(COMPLETE, "Run {run} is complete; only unfinished work is continued.", id="complete"),
        pytest.param(NOTHING, "Run {run} cannot be continued: nothing of it was verified.", id="nothing verified"),
    ],
)
def test_what_is_not_to_be_continued_is_not(tmp_path: pathlib.Path, step: dict[str, Any], said: str) -> None:
    at = test_run_session.desk(tmp_path, step)
    run = test_run_session.done(at, "create a.md")["id"]
    refused(at, lambda: run_answers.approve(at), "E207", said.format(run=run))
    refused(at, lambda: run_answers.proceed(at, run), "E207", said.format(run=run))


def test_p16_who_only_says_to_go_on_is_asked_with_what_and_may_approve_it(tmp_path: pathlib.Path) -> None:
    at = test_run_session.desk(tmp_path, UNFINISHED, COMPLETE, interactive=False)
    first = test_run_session.done(at, "Create a.md and b.md")
    asked = [test_run_session.done(at, text) for text in ("continue", "続けて")]
    said = f"Run {first['id']} is not finished. Which task should be continued, and what is left to do?"
    assert [(run["state"], run["question"]["text"]) for run in asked] == [("incomplete", said)] * 2
    assert run_answers.approvable(at).id == first["id"]


def test_what_was_continued_is_not_continued_again(tmp_path: pathlib.Path) -> None:
    at = test_run_session.desk(tmp_path, UNFINISHED)
    run = test_run_session.done(at, "create a.md")["id"]
    assert person(at, lambda: run_answers.approve(at))["state"] == "queued"
    said = f"Run {run} cannot be continued: that was answered already."
    refused(at, lambda: person(at, lambda: run_answers.proceed(at, run)), "E207", said)


# --- answering


@pytest.mark.parametrize("named", [True, False], ids=["a run by its id", "any run"])
def test_where_nothing_is_asked_nothing_is_answered(tmp_path: pathlib.Path, named: bool) -> None:
    at = test_run_session.desk(tmp_path, COMPLETE)
    run = test_run_session.done(at, "create a.md")["id"] if named else None
    said = f"Run {run} asks nothing." if named else "No run asks anything."
    refused(at, lambda: run_answers.respond(at, "blue", run), "ILLEGAL_MOVE", said)


def test_a_confirmation_is_answered_by_yes_or_no(tmp_path: pathlib.Path) -> None:
    at = test_run_session.desk(tmp_path, interactive=True)
    assert submission.submit(at, DANGEROUS)["question"]["kind"] == "confirmation"
    answered = lambda: person(at, lambda: run_answers.respond(at, "why not"))  # noqa: E731
    refused(at, answered, "USAGE", "Answer yes or no.")


# --- going on with a session of others


def chat(at: RunSession, other: RunSession) -> str:
    """A chat about the other project."""
    begin_session.set_up_project(other)
    submission.submit(other, "create a.md")
    return str(other.session_id)


def ended(at: RunSession, other: RunSession) -> str:
    begin_session.ensure(at)
    session = str(at.session_id)
    end_session.close(at)
    return session


def no_chat(at: RunSession, other: RunSession) -> str:
    operations.call(other.context, "session create", id=WORK)
    return WORK


@pytest.mark.parametrize(
    ("made", "code", "said"),
    [
        pytest.param(no_chat, "NOT_PERMITTED", "is no chat, so nothing is said in it", id="no chat"),
        pytest.param(ended, "SESSION_CLOSED", "has ended", id="ended"),
        pytest.param(chat, "NOT_PERMITTED", "is about another project", id="another project"),
    ],
)
def test_a_session_in_which_nothing_is_said_here_is_not_joined(
    tmp_path: pathlib.Path, made: Callable[[RunSession, RunSession], str], code: str, said: str
) -> None:
    at = test_run_session.desk(tmp_path)
    session = made(at, test_run_session.again(tmp_path, "elsewhere"))
    refused(at, lambda: begin_session.join(at, session), code, f"Session {session!r} {said}.")


# --- what cannot be executed


def test_a_task_for_an_executor_that_is_not_there_ends_at_once(tmp_path: pathlib.Path) -> None:
    at = test_run_session.desk(tmp_path)
    at.flags = at.flags._replace(executor=f"command:{tmp_path / 'nowhere'}")
    run = submission.submit(at, "create a.md")
    assert (run["state"], run["error_code"]) == ("error", "E503")
    assert run["error_reason"].startswith(f"There is no program {tmp_path / 'nowhere'}.")


def test_a_run_that_another_process_executes_is_not_given_up(tmp_path: pathlib.Path) -> None:
    at = test_run_session.desk(tmp_path)
    run = submission.submit(at, "create a.md")
    operations.ask(
        at.context,
        start_run.StartRun(session_id=run["session_id"], id=run["id"], owner="another", capacity=4, locks=()),
    )
    problem = Refused("ILLEGAL_MOVE", "It runs already.", "")
    refused(at, lambda: execute_run.give_up(at, run["id"], problem), "ILLEGAL_MOVE", "It runs already.")


def test_what_a_database_that_fails_leaves_queued_stays_queued(tmp_path: pathlib.Path) -> None:
    at = test_run_session.desk(tmp_path)
    run = submission.submit(at, "create a.md")
    problem = EnvironmentProblem("BUSY", "It is busy.", "")
    refused(at, lambda: execute_run.give_up(at, run["id"], problem), "BUSY", "It is busy.")


# --- looking at runs


@pytest.mark.parametrize(
    ("call", "code", "said"),
    [
        pytest.param(
            lambda at: execute_run.give_up(at, "task-9", TypeError()), "UNKNOWN_ID", "There is no run 'task-9'.",
            id="giving up an unknown run",
        ),
        pytest.param(
            lambda at: run_views.run_log(at.context, begin_session.ensure(at), "task-9"), "UNKNOWN_ID",
            "There is no run 'task-9'.",
            id="the log of an unknown run",
        ),
        pytest.param(
            lambda at: run_list_views.require(at.context, "task-9"), "UNKNOWN_ID", "There is no task with this id.",
            id="an unknown run",
        ),
        pytest.param(
            lambda at: run_list_views.tasks(at.context, WORK), "UNKNOWN_SESSION", "Session S1 is not a chat.",
            id="the runs of what is no chat",
        ),
    ],
)  # fmt: skip
def test_who_asks_for_what_is_not_there_is_told_so(
    tmp_path: pathlib.Path, call: Callable[[RunSession], object], code: str, said: str
) -> None:
    at = test_run_session.desk(tmp_path)
    begin_session.ensure(at)
    operations.call(at.context, "session create", id=WORK)
    refused(at, lambda: call(at), code, said)


# --- the runner, and what it does not do by hand


@pytest.mark.parametrize(
    ("words", "given"),
    [
        pytest.param("task set-status", {"by": "system:runner", "status": "done"}, id="moves"),
        pytest.param("task claim", {"agent_id": "system:runner"}, id="claims"),
        pytest.param("task release", {"by": "system:runner", "reason": "it wants to"}, id="releases"),
    ],
)
def test_the_runner_does_nothing_with_a_task_by_hand(track: Track, words: str, given: dict[str, str]) -> None:
    task = track.run(track.begun()).task_id
    problem = track.refused(
        lambda: operations.call(track.context, words, id=task, session_id=CHAT, **given), "NOT_PERMITTED"
    )
    assert problem.message == "system:runner changes tasks by its own rules, not by hand."
