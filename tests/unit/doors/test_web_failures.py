"""What callers are told of faults: a status, a code, and a sentence without paths, statements and secrets."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import hypothesis
import pytest
from hypothesis import strategies as st

from orchestrator.core.suggestions import local, quoted, sentence, suggest
from orchestrator.doors.web import failures
from orchestrator.errors import EnvironmentProblem, InvalidInput, OrchestratorError, Refused, UsageError
from orchestrator.runner import project
from orchestrator.store import problems


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        (sentence("{} is locked.", local("/home/me/data/orchestrator.db")), "… is locked."),
        (sentence("{} and {}.", quoted("/opt/x y"), local("/var/lib/z", "the log")), "… and the log."),
        (sentence("Run {}.", suggest("init", project="/srv/a b")), "Run orchestrator init --project PATH."),
        (sentence("Run {}.", suggest("status", db="/srv/x.db")), "Run orchestrator status."),
        ("Task task-1 is COMPLETE; see /logs.", "Task task-1 is COMPLETE; see /logs."),
        ("a/b is relative, 1/2 a number, and http://host/path an address.",
         "a/b is relative, 1/2 a number, and http://host/path an address."),
        ("password=hunter2hunter2 was wrong.", "password=[MASKED:GENERIC_SECRET] was wrong."),
        ("", ""),
    ],
)  # fmt: skip
def test_a_sentence_says_nothing_of_where_things_lie(message: str, shown: str) -> None:
    assert failures.said(message) == shown


def test_a_fault_of_a_library_leaves_no_gap_where_its_path_was(tmp_path: Path) -> None:
    (tmp_path / "none.db").write_bytes(b"no database" * 100)
    connection = sqlite3.connect(tmp_path / "none.db")
    with pytest.raises(sqlite3.DatabaseError) as caught:
        connection.execute("PRAGMA user_version")
    connection.close()
    _, code, message = failures.told(caught.value)
    assert (code, message) == ("CORRUPT", "The database cannot be used: file is not a database.")


@pytest.mark.parametrize("made", [None, "file"], ids=["nothing", "a file"])
def test_of_a_project_that_is_there_is_not_said_that_it_is_not(tmp_path: Path, made: str | None) -> None:
    if made is not None:
        (tmp_path / ".claude").write_text("")
    with pytest.raises(Refused) as caught:
        project.check(tmp_path)
    told = "… has no .claude folder." if made is None else "…/.claude is not a folder."
    assert failures.told(caught.value) == (400, "E101", told)


WORDS = st.text(
    st.sampled_from("ab secret's\"()<>,;:.`-_[]{}\\\n\t\r\u00e9\u3042\U0001f600"), min_size=1, max_size=20
).filter(lambda word: word not in (".", ".."))  # fmt: skip


def refused(check: Callable[[str], object], path: str) -> OrchestratorError:
    with pytest.raises(OrchestratorError) as caught:
        check(path)
    return caught.value


@hypothesis.given(folders=st.lists(WORDS, min_size=1, max_size=4), kind=st.integers(0, 7))
def test_no_folder_whatever_its_name_is_told_of(folders: list[str], kind: int) -> None:
    """Each folder has a mark in its name; none of these is left, whatever is around it."""
    path = "/nowhere" + "".join(f"/{word}MARK{word}" for word in folders)
    told = [
        problems.no_database(path), problems.no_database(path, found="named by ORCHESTRATOR_DB"),
        problems.corrupt(path, "file is not a database"), problems.unread_log(path), problems.disk_full(path),
        problems.read_only(path, [path, os.path.dirname(path), f"{path}-shm"]),
        refused(project.check, path), refused(project.settings, path),
    ][kind]  # fmt: skip
    _, code, message = failures.told(told)
    assert "MARK" not in message, (code, message)
    assert "nowhere" not in message
    assert "ORCHESTRATOR_DB" not in message


@pytest.mark.parametrize(
    ("problem", "status"),
    [
        (EnvironmentProblem("BUSY", "m", "s"), 503),
        (EnvironmentProblem("NO_DATABASE", "m", "s"), 503),
        (UsageError("INVALID_ID", "m", "s"), 400),
        (InvalidInput("E105", "m", "s"), 400),
        (Refused("E101", "m", "s"), 400),
        (Refused("REASON_REQUIRED", "m", "s"), 400),
        (Refused("UNKNOWN_ID", "m", "s"), 404),
        (Refused("UNKNOWN_SESSION", "m", "s"), 404),
        (Refused("HUMAN_REQUIRED", "m", "s"), 403),
        (Refused("NOT_PERMITTED", "m", "s"), 403),
        (Refused("UNBLOCK_NOT_PERMITTED", "m", "s"), 403),
        (Refused("ILLEGAL_MOVE", "m", "s"), 409),
        (Refused("QUESTION_CLOSED", "m", "s"), 409),
        (Refused("SESSION_CLOSED", "m", "s"), 409),
    ],
)
def test_each_code_has_its_status(problem: OrchestratorError, status: int) -> None:
    assert failures.told(problem) == (status, problem.code, "m")


def test_a_fault_of_the_database_is_told_as_one() -> None:
    fault = sqlite3.OperationalError("database is locked: SELECT secret FROM x")
    fault.sqlite_errorcode = 5
    status, code, message = failures.told(fault)
    assert (status, code, "SELECT" in message) == (503, "BUSY", False)


def test_any_other_fault_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    answer = failures.answer(RuntimeError("secret at /home/me"))
    assert (answer.status_code, b"secret" in bytes(answer.body), b"/home" in bytes(answer.body)) == (500, False, False)
    assert "RuntimeError: secret" in capsys.readouterr().err
