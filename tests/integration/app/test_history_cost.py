"""What is asked again and again costs the same however long the record is: counted in SQLite's instructions."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from orchestrator.app.session import open_work
from orchestrator.store import guards
from tests.integration.app.table import SESSION, Table

pytestmark = pytest.mark.sqlite("SQLite's instructions are counted")

LENGTHS = (100, 1_000, 10_000)
TABLES = ("audit_events", "agent_reports", "router_decisions")


def played(steps: int) -> Table:
    """A session of three groups, one completed, whose record was made so many steps longer."""
    table = Table("A", "B", "C", plan=True)
    table.complete("A")
    table.says("developer", "READY_FOR_QA", "B")
    table.says("qa_expert", "FAIL", "B")
    lengthen(table, steps)
    return table


def lengthen(table: Table, steps: int) -> None:
    """Copy the rows of the newest step that wrote every table to so many later steps."""
    connection = table.context.connection
    last = table.rows("SELECT max(seq) FROM audit_events")[0][0]
    guards.drop_all(connection)
    numbers = f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {steps})"
    for name in TABLES:
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({name})") if row[1] != "seq"]
        values = [f"'{SESSION}:R' || ({last} + i)" if column == "report_id" else column for column in columns]
        connection.execute(
            f"INSERT INTO {name} (seq, {', '.join(columns)}) {numbers} SELECT {last} + i, {', '.join(values)}"
            f" FROM n, {name} WHERE session_id = '{SESSION}' AND seq = {last}"
        )
    guards.create_all(connection)


def cost(table: Table, words: str, **asked: Any) -> tuple[int, int]:
    """How many statements a call runs, and how many instructions of SQLite's machine they take."""
    counted, statements = itertools.count(), []
    table.do(words, session_id=SESSION, **asked)
    connection = table.context.connection
    connection.set_progress_handler(lambda: next(counted) < 0, 1)
    connection.set_trace_callback(statements.append)
    try:
        table.do(words, session_id=SESSION, **asked)
    finally:
        connection.set_progress_handler(None, 0)
        connection.set_trace_callback(None)
    return len(statements), next(counted)


@pytest.fixture(scope="module")
def tables() -> list[Table]:
    return [played(steps) for steps in LENGTHS]


def test_a_status_costs_the_same_at_any_length(tables: list[Table]) -> None:
    statements, instructions = zip(*(cost(table, "status") for table in tables), strict=True)
    assert len(set(statements)) == 1
    assert max(instructions) <= 1.01 * min(instructions)


def test_the_gaps_of_the_newest_steps_cost_the_same_at_any_length(tables: list[Table]) -> None:
    newest = [table.rows("SELECT max(seq) FROM audit_events")[0][0] for table in tables]
    costs = [cost(table, "audit gaps", since=last - 50) for table, last in zip(tables, newest, strict=True)]
    assert max(instructions for _, instructions in costs) <= 1.05 * min(instructions for _, instructions in costs)


def test_a_completed_group_adds_little_to_a_status() -> None:
    table = Table(*(f"G{number}" for number in range(40)), plan=True)
    costs = []
    for number in range(30):
        if number in (4, 29):
            costs.append(cost(table, "status"))
        table.complete(f"G{number}")
    (few_statements, few), (many_statements, many) = costs
    assert many_statements == few_statements
    # The completion view takes about seven hundred for one.
    assert many - few < 25 * 110


def test_what_pending_groups_wait_for_is_asked_in_one_statement() -> None:
    asked = []
    for waiting in (2, 20):
        table = Table("A", plan=True)
        table.group("B", depends_on=("A",))
        for number in range(waiting):
            table.group(f"G{number}", depends_on=("A", "B"))
        reader = table.context.reader
        rows = [{"id": id, "status": status} for id, status in table.rows("SELECT id, status FROM task_groups")]
        found = open_work.dependencies(table.context, SESSION, rows)
        alone = {row["id"]: list(reader.open_dependencies(SESSION, row["id"])) for row in rows if row["id"] > "A"}
        assert found == alone
        asked.append([cost(table, words)[0] for words in ("status", "group list")])
    assert asked[0] == asked[1]
