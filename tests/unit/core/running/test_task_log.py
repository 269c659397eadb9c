"""What the log of a run that has ended must hold."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.core.running import task_log

FILE = {"path": "README.md", "exists": True, "detected_at": "2026-01-02T03:04:05Z", "detection_method": "diff"}
LOG: dict[str, Any] = {
    "task_id": "task-001",
    "external_task_id": "task-1768282936521",
    "session_id": "S",
    "status": "complete",
    "started_at": "2026-01-02T03:04:05.000006Z",
    "ended_at": "2026-01-02T03:04:06+00:00",
    "error_reason": None,
    "artifacts": ["README.md"],
    "events": [{"kind": "ended"}],
    "verification_root": "/p",
    "verified_files": [FILE],
}


def fields(**changes: Any) -> list[str]:
    log = {key: value for key, value in (LOG | changes).items() if value is not ...}
    return [problem.field for problem in task_log.check(log)]


@pytest.mark.parametrize(
    "changes",
    [
        {}, {"verified_files": [], "artifacts": []}, {"task_id": "task-1000"}, {"verification_root": "C:\\p"},
        {"status": "incomplete", "error_reason": "no evidence"}, {"status": "cancelled", "error_reason": "cancelled"},
        {"more": 1},
    ],
)  # fmt: skip
def test_a_whole_log_has_no_problem(changes: dict[str, Any]) -> None:
    assert fields(**changes) == []


@pytest.mark.parametrize("name", [name for name in LOG if name != "error_reason"])
def test_a_field_that_is_absent_is_named(name: str) -> None:
    assert set(fields(**{name: ...})) == {name}


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"status": "incomplete"}, ["error_reason"]),
        ({"status": "error", "error_reason": " "}, ["error_reason"]),
        ({"status": "running"}, ["status"]),
        ({"events": []}, ["events"]),
        ({"started_at": "yesterday"}, ["started_at"]),
        ({"ended_at": "2026-01-02T03:04:05"}, ["ended_at"]),
        ({"task_id": "task-1"}, ["task_id"]),
        ({"task_id": "task-000"}, ["task_id"]),
        ({"task_id": "task-0001"}, ["task_id"]),
        ({"task_id": "task-001\n"}, ["task_id"]),
        ({"verification_root": "p"}, ["verification_root"]),
        ({"verified_files": [5]}, ["verified_files[0]"]),
        ({"verified_files": [FILE | {"path": "/p/README.md"}]}, ["verified_files[0].path"]),
        ({"verified_files": [FILE | {"path": "../README.md"}]}, ["verified_files[0].path"]),
        ({"verified_files": [FILE, FILE | {"exists": 1}]}, ["verified_files[1].exists"]),
        ({"verified_files": [FILE | {"detected_at": None}]}, ["verified_files[0].detected_at"]),
        ({"verified_files": [FILE | {"detection_method": "guess"}]}, ["verified_files[0].detection_method"]),
    ],
)
def test_what_is_wrong_is_named(changes: dict[str, Any], found: list[str]) -> None:
    assert fields(**changes) == found


@pytest.mark.parametrize(("number", "id_"), [(1, "task-001"), (42, "task-042"), (1000, "task-1000")])
def test_the_id_of_a_log_has_at_least_three_digits(number: int, id_: str) -> None:
    assert task_log.log_id(number) == id_
    assert task_log.is_log_id(id_)


def test_the_two_ids_are_one_to_one() -> None:
    one, other = {"task_id": "task-001", "external_task_id": "x"}, {"task_id": "task-002", "external_task_id": "y"}
    assert task_log.mapping_problems([one, other]) == []
    for entries, found in (
        ([one, other | {"external_task_id": "x"}], ["external_task_id"]),
        ([one, one], ["task_id", "external_task_id"]),
    ):
        assert [problem.field for problem in task_log.mapping_problems(entries)] == found
