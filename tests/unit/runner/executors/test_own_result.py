"""The JSON result of a program: every problem is told, nothing is guessed, an error beats a success."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest

from orchestrator.runner.executors import own_result
from tests.contract.executors import making


def read(folder: pathlib.Path, **found: Any) -> Any:
    return own_result.read(making.task(folder), found)


def test_every_part_arrives(tmp_path: pathlib.Path) -> None:
    result = read(
        tmp_path, status="INCOMPLETE", session_id=making.SESSION, output="half", files=["a.py"], error="e",
        cause="Timeout", proposed_tasks=["write tests"], tool_calls=3, usage={"input_tokens": 5}, background=True,
    )  # fmt: skip
    told = (result.status, result.session_id, result.output, result.claimed_files, result.error, result.cause)
    assert told == ("INCOMPLETE", making.SESSION, "half", ("a.py",), "e", "timeout")
    assert (result.proposed_tasks, result.tool_calls) == (("write tests",), 3)
    assert (result.usage, result.background) == ({"input_tokens": 5}, True)


@pytest.mark.parametrize("status", ["COMPLETE", "INCOMPLETE", "NO_EVIDENCE", "ERROR", "INVALID", "BLOCKED"])
def test_each_status_is_taken_as_it_is(tmp_path: pathlib.Path, status: str) -> None:
    assert read(tmp_path, status=status).status == status


@pytest.mark.parametrize(
    ("found", "session"),
    [
        pytest.param({}, None, id="named by nobody"),
        pytest.param({"session_id": None}, None, id="null"),
        pytest.param({"session_id": making.SESSION}, making.SESSION, id="the issued one"),
        pytest.param({"session_id": "other"}, "other", id="another"),
    ],
)
@pytest.mark.parametrize("status", ["COMPLETE", "ERROR"])
def test_P1_a_result_names_the_session_that_it_names(
    tmp_path: pathlib.Path, status: str, found: dict[str, Any], session: str | None
) -> None:
    assert read(tmp_path, status=status, **found).session_id == session


def test_an_error_beats_the_claim_of_completeness(tmp_path: pathlib.Path) -> None:
    result = read(tmp_path, status="COMPLETE", error="it broke")
    assert (result.status, result.error) == ("ERROR", "it broke")


def test_an_error_without_words_gets_some(tmp_path: pathlib.Path) -> None:
    expected = "REPORTED_ERROR: the program reports an error and does not say which"
    assert read(tmp_path, status="ERROR").error == expected


PROBLEMS = [
    ({}, ["status is missing"]),
    ({"status": None}, ["status is missing"]),
    ({"status": "COMPLET"}, ["status 'COMPLET' is unknown, did you mean COMPLETE?"]),
    ({"status": "complete"}, ["status 'complete' is unknown, did you mean COMPLETE?"]),
    (
        {"status": 7},
        ["status '7' is unknown, known are COMPLETE, INCOMPLETE, NO_EVIDENCE, ERROR, INVALID, BLOCKED"],
    ),
    ({"status": "COMPLETE", "session_id": 5}, ["session_id is not a text"]),
    ({"status": "COMPLETE", "output": None}, ["output is not a text"]),
    ({"status": "COMPLETE", "files": "a.py"}, ["files is not a list of texts"]),
    ({"status": "COMPLETE", "files": ["a", 1]}, ["files is not a list of texts"]),
    ({"status": "COMPLETE", "tool_calls": True}, ["tool_calls is not a whole number from 0 on, or null"]),
    ({"status": "COMPLETE", "tool_calls": -1}, ["tool_calls is not a whole number from 0 on, or null"]),
    ({"status": "COMPLETE", "usage": {"a": 1.5}}, ["usage is not an object of whole numbers from 0 on, or null"]),
    ({"status": "COMPLETE", "background": "no"}, ["background is not true or false"]),
    ({"status": "ERROR", "cause": "timeuot"}, ["cause 'timeuot' is no type of blocker, did you mean timeout?"]),
    ({"status": "ERROR", "cause": "xyz"}, ["cause 'xyz' is no type of blocker"]),
    (
        {"output": 1, "error": [], "proposed_tasks": {}},
        [
            "status is missing",
            "output is not a text",
            "error is not a text or null",
            "proposed_tasks is not a list of texts",
        ],
    ),
]


@pytest.mark.parametrize(("found", "expected"), PROBLEMS, ids=[str(row[0]) for row in PROBLEMS])
def test_every_problem_of_a_result_is_told(
    tmp_path: pathlib.Path, found: dict[str, Any], expected: list[str]
) -> None:
    assert own_result.problems(found) == expected
    result = read(tmp_path, **found)
    assert (result.status, result.error) == ("ERROR", "RESULT_INVALID: " + "; ".join(expected))


def test_more_files_than_anybody_makes_are_no_claim(tmp_path: pathlib.Path) -> None:
    """Each is looked for on the disk, after the executor's own time."""
    files = [f"{number}" for number in range(own_result.MOST_FILES + 1)]
    assert read(tmp_path, status="COMPLETE", files=files).error == "RESULT_INVALID: files lists more than 10000 files"
    assert read(tmp_path, status="COMPLETE", files=["a.py"] * 100 + ["b.py"]).claimed_files == ("a.py", "b.py")
