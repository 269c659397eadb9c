"""A database copied from a server to a file and back: the same chains, and nothing where it cannot be.

Source: spec 90, section 3.
"""

from __future__ import annotations

import contextlib
import pathlib
import re
import sqlite3
from typing import Any

import pytest

from orchestrator import bootstrap
from orchestrator.app.audit import import_session
from orchestrator.app.kernel import operations
from orchestrator.errors import OrchestratorError
from orchestrator.store import database_copy
from tests import postgresql
from tests.cases import every

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("session create", {"id": "S1", "goal": "caf\u00e9"}),
    ("session create", {"id": "S2"}),
    ("group create", {"id": "A", "session_id": "S1"}),
    ("task create", {"id": "T2", "title": "later", "session_id": "S1"}),
    ("task create", {"id": "T1", "title": "below", "parent": "T2", "session_id": "S1"}),
    ("task create", {"id": "T0", "title": "first", "session_id": "S1"}),
    ("task depend", {"id": "T2", "on": "T0", "session_id": "S1", "by": "project_manager"}),
    ("route", {"current_agent": "project_manager", "status": "PLANNING_COMPLETE", "session_id": "S1"}),
    ("route", {"current_agent": "developer", "status": "READY_FOR_QA", "session_id": "S1", "group_id": "A"}),
]


def call(db: str, words: str, **given: Any) -> dict[str, Any]:
    context = bootstrap.open_context(db, write=operations.find(words).is_writing, door="test", environment={})
    with contextlib.closing(context.connection):
        return operations.call(context, words, **given)


def copy(source: str, target: str) -> database_copy.Copied:
    return database_copy.copy(source, target, bootstrap.now(), deadline_s=5.0)


def test_nobody_takes_a_step_in_what_is_being_copied(
    pg_url: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused, tables = list[str](), database_copy.tables

    def meanwhile() -> list[database_copy.Table]:
        context = bootstrap.open_context(
            source, write=True, door="test", environment={"ORCHESTRATOR_BUSY_TIMEOUT": "0.05"}
        )
        with contextlib.closing(context.connection), pytest.raises(OrchestratorError) as caught:
            operations.call(context, "session create", id="S9")
        refused.append(caught.value.code)
        return tables()

    monkeypatch.setattr(database_copy, "tables", meanwhile)
    for source, target in ((pg_url, tmp_path / "one.db"), (str(tmp_path / "one.db"), tmp_path / "two.db")):
        copy(source, str(target))
        assert call(source, "session create", id="S9")["success"]
    assert refused == ["BUSY"] * 2


@pytest.fixture
def empty(pg_folder: pathlib.Path, pg_template: str) -> Any:
    """The URL of a database without a schema."""
    with postgresql.database(pg_folder, "template0") as url:
        yield url


def test_a_copy_there_and_back_has_the_same_chains_and_goes_on(
    pg_url: str, empty: str, tmp_path: pathlib.Path
) -> None:
    for words, given in CALLS:
        call(pg_url, words, **given)
    file = str(tmp_path / "copy.db")
    first, second = copy(pg_url, file), copy(file, empty)
    heads = [call(each, "audit head")["heads"] for each in (pg_url, file, empty)]
    assert (first, heads[0], heads[1]) == (second, heads[1], heads[2])
    for each in (file, empty):
        assert call(each, "audit verify")["findings"] == []
        assert call(each, "session create", id="S3")["success"]
        assert call(each, "audit verify")["total"] == 0
        with pytest.raises(OrchestratorError) as caught:
            copy(pg_url, each)
        assert caught.value.code == "NOT_EMPTY"
    exported = tmp_path / "s1.jsonl"
    call(pg_url, "audit export", session_id="S1", output=str(exported))
    with pytest.raises(OrchestratorError, match="not empty"):
        import_session.import_file(empty, str(exported), bootstrap.now())


def test_an_exported_session_is_imported_into_an_empty_database(
    pg_url: str, empty: str, tmp_path: pathlib.Path
) -> None:
    for words, given in CALLS:
        call(pg_url, words, **given)
    exported = tmp_path / "s1.jsonl"
    call(pg_url, "audit export", session_id="S1", output=str(exported))
    import_session.import_file(empty, str(exported), bootstrap.now())
    assert call(empty, "audit verify", session_id="S1")["head"] == call(pg_url, "audit verify", session_id="S1")["head"]


DAMAGE = [
    ("UPDATE audit_events SET actor = 'x' WHERE seq = 1 AND session_id = 'S1'", "CORRUPT"),
    ("UPDATE tasks SET group_id = 'none' WHERE id = 'T1'", "CORRUPT"),
    ("UPDATE sessions SET goal = 'a' || char(0)", "INVALID_TEXT"),
    ("UPDATE sessions SET goal = x'ff'", "CORRUPT"),
]


@every(("statement", "code"), DAMAGE)
def test_what_does_not_verify_is_not_copied(
    pg_url: str, pg_folder: pathlib.Path, empty: str, tmp_path: pathlib.Path, statement: str, code: str
) -> None:
    file = tmp_path / f"{abs(hash(statement))}.db"
    with contextlib.suppress(OrchestratorError):
        for words, given in CALLS:
            call(pg_url, words, **given)
    copy(pg_url, str(file))
    with contextlib.closing(sqlite3.connect(file)) as damaged:
        for (name,) in damaged.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            damaged.execute(f"DROP TRIGGER {name}")
        damaged.execute(statement)
        damaged.commit()
    with pytest.raises(OrchestratorError) as caught:
        copy(str(file), empty)
    assert caught.value.code == code
    owner = postgresql.Connection(pg_folder, re.findall(r"/(test\d+)\?", empty)[0])
    with contextlib.closing(owner):
        assert owner.execute("SELECT relname FROM pg_class WHERE relnamespace = 2200").fetchall() == []
