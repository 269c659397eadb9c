"""A database of which somebody took something away: each command says that the database is damaged, and what helps."""

from __future__ import annotations

import contextlib
import json
import pathlib
import sqlite3
from collections.abc import Iterator
from typing import Any

import pytest

from tests.integration.cli.conftest import PREPARATION, Run, jsonl

TABLES = (
    "sessions", "task_groups", "group_dependencies", "agents", "agent_reports", "audit_events", "refusals", "requests",
    "questions", "tasks", "runs", "run_events", "run_files", "run_locks", "evidence", "blockers", "criteria",
    "workflow_versions", "workflow_activations", "status_changes",
)  # fmt: skip
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    *PREPARATION,
    ("session create", {"id": "S2", "goal": "another"}),
    ("task create", {"session_id": "S1", "id": "T1", "group_id": "A", "title": "t", "by": "project_manager"}),
    ("route", {"session_id": "S1", "group_id": "A", "current_agent": "developer", "status": "BLOCKED"}),
    ("status", {"session_id": "S1"}),
    ("inbox", {}),
    ("why", {"session_id": "S1", "id": "A"}),
    ("audit timeline", {"session_id": "S1"}),
    ("audit verify", {}),
)


@contextlib.contextmanager
def opened(path: pathlib.Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        yield connection
    finally:
        connection.close()


@pytest.mark.parametrize("table", TABLES)
def test_a_table_that_is_gone_is_the_databases_fault(table: str, run: Run, database: pathlib.Path) -> None:
    with opened(database) as connection:
        connection.execute(f"DROP TABLE {table}")
    done = run("batch", stdin=jsonl(CALLS))
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(CALLS), done.stderr
    codes = [(each.get("code"), each.get("exit_code")) for each in answers]
    assert ("CORRUPT", 5) in codes
    assert [code for code, _ in codes if code == "INTERNAL"] == []
    told = next(each for each in answers if each.get("code") == "CORRUPT")
    assert f"The table {table} is missing" in told["error"]
    assert told["suggestion"].startswith("orchestrator doctor")


ROBBERIES = {
    "index": ("DROP INDEX ix_runs_open", "The index ix_runs_open is missing"),
    "column": ("ALTER TABLE sessions RENAME COLUMN goal TO aim", "The table sessions differs from the one this"
        " program creates"),
    "view": ("DROP VIEW completion_paths", "The view completion_paths is missing"),
}


@pytest.mark.parametrize(("sql", "said"), ROBBERIES.values(), ids=ROBBERIES)
def test_what_else_is_gone_is_named_too(sql: str, said: str, run: Run, database: pathlib.Path) -> None:
    with opened(database) as connection:
        connection.execute(sql)
    answers = [json.loads(line) for line in run("batch", stdin=jsonl(CALLS)).stdout.splitlines()]
    assert [each for each in answers if each.get("code") == "INTERNAL"] == []
    assert said in run("doctor").stdout.decode()
    assert [each["error"] for each in answers if each.get("code") == "CORRUPT" and said not in each["error"]] == []


def test_a_run_says_it_as_well(run: Run, database: pathlib.Path, tmp_path: pathlib.Path) -> None:
    with opened(database) as connection:
        connection.execute("DROP TABLE runs")
    project = tmp_path / "project"
    for name in ("agents", "rules"):
        (project / ".claude" / name).mkdir(parents=True)
    (project / ".claude" / "CLAUDE.md").write_text("# Project\n")
    (project / ".claude" / "settings.json").write_text("{}\n")
    done = run("run", "create notes.md", "--project", str(project), "--executor", "command:/bin/true")
    said = done.stderr.decode() + done.stdout.decode()
    assert "CORRUPT" in said
    assert "INTERNAL" not in said
    assert "orchestrator doctor" in said
    verified = run("audit", "verify")
    assert (verified.returncode, b"error CORRUPT" in verified.stderr) == (5, True)


def test_the_doctor_says_first_what_is_gone_and_not_all_that_went_with_it(run: Run, database: pathlib.Path) -> None:
    with opened(database) as connection:
        connection.execute("DROP TRIGGER agent_reports_are_never_changed")
        connection.execute("DROP TRIGGER criteria_moves_are_recorded")
        connection.execute("DROP TABLE runs")
    findings = [line for line in run("doctor").stdout.decode().splitlines() if line.startswith(("error", "  and"))]
    assert findings == [
        "error TABLE_MISSING: The table runs is missing, and with it 11 of its triggers and indexes.",
        "error TRIGGER_MISSING: The trigger agent_reports_are_never_changed is missing.",
        "  and 1 more of this kind: criteria_moves_are_recorded",
    ]
