"""The logs of runs as files: found by either id, whole or absent, and good enough to verify by."""

from __future__ import annotations

import json
import os
import pathlib
import stat
import tempfile
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.core.running import task_log
from orchestrator.errors import EnvironmentProblem, InvalidInput, OrchestratorError, Refused
from orchestrator.runner import task_logs

SESSION = "S1"
AT = "2026-01-02T03:04:05.000006Z"


def log(number: int = 1, external: str | None = None, **more: Any) -> dict[str, Any]:
    verified = [{"path": "é.md", "exists": True, "detected_at": AT, "detection_method": "diff"}]
    return {
        "task_id": task_log.log_id(number), "external_task_id": external or f"task-{17_000 + number}",
        "session_id": SESSION, "status": "complete", "started_at": AT, "ended_at": AT, "error_reason": None,
        "artifacts": ["é.md"], "events": [{"kind": "ended", "at": AT}], "verification_root": "/p",
        "verified_files": verified,
    } | more  # fmt: skip


def refused(root: pathlib.Path, document: dict[str, Any]) -> list[str]:
    with pytest.raises(InvalidInput) as caught:
        task_logs.save(root, SESSION, document)
    assert caught.value.code == "TASK_LOG_INVALID"
    return [problem["field"] for problem in caught.value.data["problems"]]


def test_a_log_lies_in_its_session_and_is_whole(tmp_path: pathlib.Path) -> None:
    path = task_logs.save(tmp_path, SESSION, log())
    assert path == tmp_path / ".orchestrator/sessions/S1/logs/task-001.json"
    assert json.loads(path.read_bytes()) == log()
    assert [stat.S_IMODE(each.stat().st_mode) for each in (path, path.parent / "index.json", path.parent)] == [
        0o600, 0o600, 0o700,
    ]  # fmt: skip
    assert sorted(each.name for each in path.parent.iterdir()) == [".lock", "index.json", "task-001.json"]


def test_either_id_gives_the_same_log(tmp_path: pathlib.Path) -> None:
    for number in (2, 1):
        task_logs.save(tmp_path, SESSION, log(number))
    assert [entry["external_task_id"] for entry in task_logs.index(tmp_path, SESSION)] == ["task-17001", "task-17002"]
    assert task_logs.read(tmp_path, SESSION, "task-002") == task_logs.read(tmp_path, SESSION, "task-17002") == log(2)


def test_a_later_process_verifies_by_the_file_alone(tmp_path: pathlib.Path) -> None:
    (tmp_path / "é.md").write_text("x")
    path = task_logs.save(tmp_path, SESSION, log(verification_root=str(tmp_path)))
    found = json.loads(path.read_bytes())
    again = [os.path.exists(os.path.join(found["verification_root"], file["path"])) for file in found["verified_files"]]
    assert again == [file["exists"] for file in found["verified_files"]]


def test_saving_again_changes_nothing(tmp_path: pathlib.Path) -> None:
    path = task_logs.save(tmp_path, SESSION, log())
    before = [path.read_bytes(), (path.parent / "index.json").read_bytes()]
    task_logs.save(tmp_path, SESSION, log())
    assert [path.read_bytes(), (path.parent / "index.json").read_bytes()] == before


@pytest.mark.parametrize(
    ("document", "fields"),
    [
        (log(status="incomplete"), ["error_reason"]),
        (log(status="error", error_reason=""), ["error_reason"]),
        (log(events=[]), ["events"]),
        (log(session_id="S2"), ["session_id"]),
        (log(verification_root="p"), ["verification_root"]),
        (log(2, "task-17001"), ["external_task_id"]),
        (log(1, "task-18"), ["task_id"]),
    ],
    ids=["no reason", "empty reason", "no event", "session", "relative root", "external id twice", "log id twice"],
)
def test_what_is_not_whole_or_not_one_to_one_is_not_saved(
    tmp_path: pathlib.Path, document: dict[str, Any], fields: list[str]
) -> None:
    path = task_logs.save(tmp_path, SESSION, log())
    before = sorted((each.name, each.stat().st_mtime_ns) for each in path.parent.iterdir())
    assert refused(tmp_path, document) == fields
    assert sorted((each.name, each.stat().st_mtime_ns) for each in path.parent.iterdir()) == before


def test_a_write_that_fails_is_an_error_and_leaves_what_was_there(tmp_path: pathlib.Path) -> None:
    task_logs.save(tmp_path, SESSION, log())
    with (
        mock.patch("os.fsync", side_effect=OSError(28, "No space left on device")),
        pytest.raises(EnvironmentProblem, match="No space left") as caught,
    ):
        task_logs.save(tmp_path, SESSION, log(2))
    assert caught.value.code == "OUTPUT_FAILED"
    assert [entry["task_id"] for entry in task_logs.index(tmp_path, SESSION)] == ["task-001"]


def test_there_is_none_of_another_id_or_session(tmp_path: pathlib.Path) -> None:
    task_logs.save(tmp_path, SESSION, log())
    for session, name in ((SESSION, "task-002"), ("S2", "task-001")):
        with pytest.raises(Refused) as caught:
            task_logs.read(tmp_path, session, name)
        assert caught.value.code == "UNKNOWN_RUN"
    assert task_logs.index(tmp_path, "S2") == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("index.json", "{bad"), ("index.json", "[]"), ("index.json", '{"tasks": [{}]}'),
        ("index.json", '{"tasks": [{"task_id": "../x"}]}'), ("index.json", '{"tasks": [5]}'),
        ("index.json", '{"tasks": [{"task_id": "task-001", "external_task_id": 5}]}'),
        ("task-001.json", "{bad"), ("task-001.json", "{}"), ("task-001.json", "[]"), ("task-001.json", None),
    ],
)  # fmt: skip
def test_a_file_that_was_not_written_here_is_told(tmp_path: pathlib.Path, name: str, text: str | None) -> None:
    path = task_logs.save(tmp_path, SESSION, log()).parent / name
    path.unlink() if text is None else path.write_text(text)
    with pytest.raises(InvalidInput) as caught:
        task_logs.read(tmp_path, SESSION, "task-001")
    assert caught.value.code == "TASK_LOG_INVALID"


@settings(max_examples=100)
@given(st.lists(st.tuples(st.integers(1, 4), st.sampled_from(["x", "y", "z"])), max_size=6))
def test_p30_the_two_ids_stay_one_to_one_whatever_is_saved(pairs: list[tuple[int, str]]) -> None:
    saved: dict[int, str] = {}
    with tempfile.TemporaryDirectory() as name, mock.patch("os.fsync"):
        root = pathlib.Path(name)
        for number, external in pairs:
            try:
                task_logs.save(root, SESSION, log(number, external))
                accepted = True
            except OrchestratorError:
                accepted = False
            fits = saved.get(number, external) == external and (number in saved or external not in saved.values())
            assert accepted is fits
            if accepted:
                saved[number] = external
        for number, external in saved.items():
            assert task_logs.read(root, SESSION, external) == task_logs.read(root, SESSION, task_log.log_id(number))
        assert len(task_logs.index(root, SESSION)) == len(saved)
