"""What records nothing in the end works where nothing can be written, and leaves nothing behind."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
from typing import Any

import pytest

from orchestrator import EnvironmentProblem, Orchestrator
from orchestrator.doors.cli import main, output
from tests.integration.store.conftest import Unprivileged

ROUTE = ("route", "qa_expert", "PASS", "-g", "A")
CALLS: dict[str, tuple[tuple[str, ...], tuple[int, str | None]]] = {
    "a dry run": ((*ROUTE, "--dry-run"), (0, None)),
    "a dry run that is refused": (("route", "qa_expert", "NOPE", "-g", "A", "--dry-run"), (3, "UNKNOWN_STATUS")),
    "a dry run of an unknown session": (("validate", "S9", "--dry-run"), (3, "UNKNOWN_SESSION")),
    "a validation that would not be recorded": (("validate",), (1, None)),
    "a validation of work that is confirmed": (("validate", "DONE"), (0, None)),
    "a validation by an unknown agent": (("validate", "--by", "nobody"), (3, "UNKNOWN_AGENT")),
    "a verdict that is to be recorded": (("validate", "--record"), (5, "READ_ONLY")),
    "a report": (ROUTE, (5, "READ_ONLY")),
}


@pytest.fixture
def path(open_folder: pathlib.Path) -> pathlib.Path:
    """A database with a session that is under way, and one that waits for its verdict."""
    path = open_folder / "orchestrator.db"
    with Orchestrator.create(path) as o:
        for session in ("DONE", "S1"):
            o.session_create(session, goal="one goal")
            o.group_create("A", session_id=session, name="A")
            given: dict[str, Any] = {"session_id": session, "group_id": "A"}
            o.route(current_agent="developer", status="READY_FOR_QA", **given)
            if session == "DONE":
                o.route(current_agent="qa_expert", status="PASS", **given)
                o.route(current_agent="tech_lead", status="APPROVED", **given)
                o.route(current_agent="developer", status="MERGE_SUCCESS", **given)
                o.route(session_id=session, current_agent="project_manager", status="BAZINGA")
    return path


def answer(path: pathlib.Path, words: tuple[str, ...]) -> tuple[int, dict[str, Any]]:
    session = () if {"DONE", "S9"} & {*words} else ("-s", "S1")
    written: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(output, "write", lambda line, *_: written.append(line) or True)
        code = main.main([*words, *session, "--json", "--db", str(path)])
    (line,) = written
    return code, json.loads(line)


def python(path: pathlib.Path) -> list[Any]:
    with Orchestrator.open(path, read_only=True) as o:
        report: dict[str, Any] = {"session_id": "S1", "current_agent": "qa_expert", "status": "PASS", "group_id": "A"}
        tried = o.route(**report, dry_run=True)
        try:
            o.route(**report)
        except EnvironmentProblem as problem:
            refused = problem.code
        verdict = o.validate("DONE")
        return [tried["next_agent"], refused, verdict["verdict"], verdict["recorded"], len(verdict["warnings"])]


@pytest.mark.parametrize(("file_mode", "folder_mode"), [(0o444, 0o555), (0o666, 0o555), (0o444, 0o777)])
def test_what_records_nothing_works_on_a_read_only_database(
    path: pathlib.Path, tmp_path: pathlib.Path, unprivileged: Unprivileged, file_mode: int, folder_mode: int
) -> None:
    # What is loaded by then need not be readable for another user.
    other = pathlib.Path(shutil.copy(path, tmp_path / "other.db"))
    python(other)
    for words, _ in CALLS.values():
        answer(other, words)
    path.chmod(file_mode)
    path.parent.chmod(folder_mode)
    before = path.read_bytes()
    found = unprivileged(lambda: {name: answer(path, words) for name, (words, _) in CALLS.items()})
    assert isinstance(found, dict), found
    assert {name: (code, said.get("code")) for name, (code, said) in found.items()} == {
        name: expected for name, (_, expected) in CALLS.items()
    }
    verdict = found["a validation of work that is confirmed"][1]
    assert (verdict["verdict"], verdict["recorded"], len(verdict["warnings"])) == ("ACCEPT", False, 1)
    assert unprivileged(lambda: python(path)) == ["tech_lead", "READ_ONLY", "ACCEPT", False, 1]
    assert (path.read_bytes(), os.listdir(path.parent)) == (before, ["orchestrator.db"])
