"""What a desk, and who looks at runs, is turned down for: with which words, and that nothing is changed by it."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import Any

import pytest

from orchestrator.app.kernel import operations
from orchestrator.app.running import board, failing, opening, starting, views
from orchestrator.app.running.desk import Desk
from orchestrator.errors import EnvironmentProblem, OrchestratorError, Refused
from tests import persons
from tests.integration.app import test_desk
from tests.integration.app.track import CHAT, TABLES, WORK, Track, track

__all__ = ["track"]

DANGEROUS = "Delete all files in the database folder: rm -rf data"
COMPLETE = {"status": "COMPLETE", "output": "done", "writes": {"a.md": "x"}}
UNFINISHED = {"status": "INCOMPLETE", "output": "Half of it is done.", "writes": {"a.md": "x"}}
NOTHING = {"status": "COMPLETE", "output": "It is written."}


def rows(at: Desk) -> dict[str, list[Any]]:
    return {name: at.context.connection.execute(f"SELECT * FROM {name}").fetchall() for name in TABLES}


def refused(at: Desk, call: Callable[[], object], code: str, message: str) -> None:
    """A call that is turned down so, and changes nothing."""
    before, session = rows(at), at.session_id
    with pytest.raises(OrchestratorError) as caught:
        call()
    assert (caught.value.code, caught.value.message) == (code, message)
    assert (rows(at), at.session_id) == (before, session)


def person(at: Desk, call: Callable[[], Any]) -> Any:
    persons.sit(at.context)
    try:
        return call()
    finally:
        at.context.credential = None


# --- going on with what is not finished


def test_without_a_run_nothing_is_approved(tmp_path: pathlib.Path) -> None:
    at = test_desk.desk(tmp_path)
    at.session()
    refused(at, at.approve, "E207", "There is no unfinished work in this session.")


@pytest.mark.parametrize(
    ("step", "said"),
    [
        pytest.param(COMPLETE, "Run {run} is complete; only unfinished work is continued.", id="complete"),
        pytest.param(NOTHING, "Run {run} cannot be continued: nothing of it was verified.", id="nothing verified"),
    ],
)
def test_what_is_not_to_be_continued_is_not(tmp_path: pathlib.Path, step: dict[str, Any], said: str) -> None:
    at = test_desk.desk(tmp_path, step)
    run = test_desk.done(at, "create a.md")["id"]
    refused(at, at.approve, "E207", said.format(run=run))
    refused(at, lambda: at.proceed(run), "E207", said.format(run=run))


def test_what_was_continued_is_not_continued_again(tmp_path: pathlib.Path) -> None:
    at = test_desk.desk(tmp_path, UNFINISHED)
    run = test_desk.done(at, "create a.md")["id"]
    assert person(at, at.approve)["state"] == "queued"
    said = f"Run {run} cannot be continued: that was answered already."
    refused(at, lambda: person(at, lambda: at.proceed(run)), "E207", said)


# --- answering


@pytest.mark.parametrize("named", [True, False], ids=["a run by its id", "any run"])
def test_where_nothing_is_asked_nothing_is_answered(tmp_path: pathlib.Path, named: bool) -> None:
    at = test_desk.desk(tmp_path, COMPLETE)
    run = test_desk.done(at, "create a.md")["id"] if named else None
    said = f"Run {run} asks nothing." if named else "No run asks anything."
    refused(at, lambda: at.respond("blue", run), "ILLEGAL_MOVE", said)


def test_a_confirmation_is_answered_by_yes_or_no(tmp_path: pathlib.Path) -> None:
    at = test_desk.desk(tmp_path, interactive=True)
    assert at.submit(DANGEROUS)["question"]["kind"] == "confirmation"
    refused(at, lambda: person(at, lambda: at.respond("why not")), "USAGE", "This is answered by yes or no.")


# --- going on with a session of others


def chat(at: Desk, other: Desk) -> str:
    """A chat about the other project."""
    other.init()
    other.submit("create a.md")
    return str(other.session_id)


def ended(at: Desk, other: Desk) -> str:
    at.session()
    session = str(at.session_id)
    at.close()
    return session


def no_chat(at: Desk, other: Desk) -> str:
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
    tmp_path: pathlib.Path, made: Callable[[Desk, Desk], str], code: str, said: str
) -> None:
    at = test_desk.desk(tmp_path)
    session = made(at, test_desk.again(tmp_path, "elsewhere"))
    refused(at, lambda: opening.join(at, session), code, f"Session {session!r} {said}.")


# --- what cannot be executed


def test_a_task_for_an_executor_that_is_not_there_ends_at_once(tmp_path: pathlib.Path) -> None:
    at = test_desk.desk(tmp_path)
    at.flags = at.flags._replace(executor=f"command:{tmp_path / 'nowhere'}")
    run = at.submit("create a.md")
    assert (run["state"], run["error_code"]) == ("error", "E503")
    assert run["error_reason"].startswith(f"There is no program {tmp_path / 'nowhere'}.")


def test_a_run_that_another_process_executes_is_not_given_up(tmp_path: pathlib.Path) -> None:
    at = test_desk.desk(tmp_path)
    run = at.submit("create a.md")
    starting.start(at.context, session_id=run["session_id"], id=run["id"], owner="another", capacity=4, locks=[])
    problem = Refused("ILLEGAL_MOVE", "It runs already.", "")
    refused(at, lambda: failing.give_up(at, run["id"], problem), "ILLEGAL_MOVE", "It runs already.")


def test_what_a_database_that_fails_leaves_queued_stays_queued(tmp_path: pathlib.Path) -> None:
    at = test_desk.desk(tmp_path)
    run = at.submit("create a.md")
    problem = EnvironmentProblem("BUSY", "It is busy.", "")
    refused(at, lambda: failing.give_up(at, run["id"], problem), "BUSY", "It is busy.")


# --- looking at runs


@pytest.mark.parametrize(
    ("call", "code", "said"),
    [
        pytest.param(
            lambda at: failing.give_up(at, "task-9", TypeError()), "UNKNOWN_ID", "There is no run 'task-9'.",
            id="giving up an unknown run",
        ),
        pytest.param(
            lambda at: views.run_log(at.context, at.session(), "task-9"), "UNKNOWN_ID", "There is no run 'task-9'.",
            id="the log of an unknown run",
        ),
        pytest.param(
            lambda at: board.require(at.context, "task-9"), "UNKNOWN_ID", "There is no task of this id.",
            id="an unknown run",
        ),
        pytest.param(
            lambda at: board.groups(at.context, limit=0), "USAGE", "limit is 1 to 200, and offset 0 or more.",
            id="no chats",
        ),
        pytest.param(
            lambda at: board.groups(at.context, limit=201), "USAGE", "limit is 1 to 200, and offset 0 or more.",
            id="too many chats",
        ),
        pytest.param(
            lambda at: board.groups(at.context, offset=-1), "USAGE", "limit is 1 to 200, and offset 0 or more.",
            id="chats before the first",
        ),
        pytest.param(
            lambda at: board.groups(at.context, status="complete"), "USAGE", "There is no such status.",
            id="a status in small letters",
        ),
        pytest.param(
            lambda at: board.tasks(at.context, WORK), "UNKNOWN_SESSION", "Session S1 is no chat.",
            id="the runs of what is no chat",
        ),
    ],
)  # fmt: skip
def test_who_asks_for_what_is_not_there_is_told_so(
    tmp_path: pathlib.Path, call: Callable[[Desk], object], code: str, said: str
) -> None:
    at = test_desk.desk(tmp_path)
    at.session()
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
