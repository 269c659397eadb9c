"""What is handed on says that a group has open tasks: those that are neither done nor cancelled."""

from __future__ import annotations

import sqlite3

from orchestrator.core.lifecycle_table import TASK_STATUSES
from orchestrator.store import reader


def test_a_task_is_open_in_every_status_but_two() -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE tasks (session_id, group_id, status)")
    connection.execute("CREATE INDEX ix_tasks_group ON tasks (session_id, group_id, status)")
    connection.executemany("INSERT INTO tasks VALUES ('S1', ?1, ?1)", [(each,) for each in TASK_STATUSES])
    sql = f"SELECT {reader._OPEN_TASK}"
    found = [each for each in TASK_STATUSES if connection.execute(sql, {"session": "S1", "group": each}).fetchone()[0]]
    assert found == [each for each in TASK_STATUSES if each not in ("done", "cancelled")]
