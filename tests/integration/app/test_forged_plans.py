"""What a report planned is what was made of it: whoever changes either side, or adds to it, is found out."""

from __future__ import annotations

import pathlib
import sqlite3
from typing import Any

import pytest

from orchestrator.store import memory, plan_checks
from tests import forging
from tests.integration.app import test_forged_rows
from tests.integration.app.table import Table

MANAGER = "project_manager"
PLAN: dict[str, Any] = {
    "groups": [
        {"id": "B", "depends_on": ["N", "A"], "security_sensitive": True, "priority": "urgent"},
        {"id": "A", "name": " Login page ", "description": "Two fields, of which sk-ant-api03-" + "b" * 30 + " is one.",
         "complexity": 8, "criteria": [{"id": "fast", "text": "it is fast", "metric": "ms", "operator": "le",
                                        "target": 5}]},
        {"id": "R", "kind": "research"}, {"id": "OLD", "description": "of before"},
    ],
    "criteria": [{"id": "tested", "text": " tests pass ", "command": ["pytest", "-q é"], "at": ["ready-for-qa"]},
                 {"id": "safe", "text": "checked", "command": ["true"]}],
}  # fmt: skip


@pytest.fixture(scope="module")
def content() -> bytes:
    """Plans of every shape that is accepted: beside what exists, added later, let go on by a person, by the alias."""
    table = Table("N")
    table.group("OLD", description="of before")
    table.says(MANAGER, "PLANNING_COMPLETE", details={"plan": PLAN})
    table.says(MANAGER, "CONTINUE", summary="one more", details={"task_groups": [{"id": "C"}, {"id": "A"}]})
    with table.person():
        table.do("criterion approve", id="safe", session_id="S1")
    table.do("criterion set", id="tested", session_id="S1", by=MANAGER, text="all tests pass", reason="clearer")
    table.do("session create", id="S2")
    for status in ("PLANNING_COMPLETE", *("CONTINUE",) * 5):
        added = {"plan": {"groups": [{"id": f"G{table.count('task_groups')}"}]}}
        table.says(MANAGER, status, session="S2", summary="more", details=added)
    # The loop guard asks a person about the next one.
    held = table.says(MANAGER, "CONTINUE", session="S2", details={"plan": {"groups": [{"id": "A"}]}})
    with table.person():
        table.do("answer", id=held["question_id"], decision="continue", note="go on")
    table.says("developer", "BLOCKED", "A", "S2", summary="no access")
    table.do("session create", id="S3")
    table.says(MANAGER, "INVESTIGATION_NEEDED", session="S3", summary="why is it slow?")
    return table.context.connection.serialize()


@pytest.fixture
def raw(content: bytes) -> Any:
    """The record without guards."""
    connection = memory.connect(content)
    forging.loosen(connection)
    forging.disarm(connection)
    return connection


def faults(connection: sqlite3.Connection, session: str = "S1") -> set[tuple[str, str]]:
    return {(fault.table, fault.text) for fault in plan_checks.faults(connection, session)}


def test_what_was_planned_is_as_reported_before_anybody_forges(raw: sqlite3.Connection) -> None:
    sessions = ("S1", "S2", "S3")
    assert [faults(raw, session) for session in sessions] == [set(), set(), set()]
    looked_at = [raw.execute(sql, {"session": session, "since": 0}).fetchall() for session in sessions
                 for sql in plan_checks.STATEMENTS.values()]  # fmt: skip
    assert [len(rows) for rows in looked_at] == [2, 4, 3, 7, 7, 0, 0, 0, 0]


def group(column: str, value: str, id_: str = "A") -> str:
    return f"UPDATE task_groups SET {column} = {value} WHERE session_id = 'S1' AND id = '{id_}'"


def criterion(column: str, value: str, id_: str = "tested") -> str:
    return f"UPDATE criteria SET {column} = {value} WHERE id = '{id_}'"


DETAILS = "UPDATE agent_reports SET details = '{}' WHERE session_id = 'S1' AND effect = '{}'"
PENDING = "group A is not as its report planned it: {}"
TESTED = "criterion tested is not as its report planned it: {}"
NEW = """INSERT INTO task_groups (session_id, id, name, kind, created_by, created_at, created_seq, status,
    status_changed_by, status_changed_at, status_seq) SELECT session_id, '{0}', '{0}', '{1}', created_by, created_at,
    created_seq + {2}, 'pending', status_changed_by, status_changed_at, created_seq + {2} FROM task_groups
    WHERE session_id = '{3}' AND id = 'A'"""
UNHELD = "{} was made in the step of a report whose plan does not hold it"
MISSING = "the report's plan holds {}, which was made neither by it nor before it"
APPROVED = "UPDATE audit_events SET {} WHERE kind = 'criterion approve'"
CHANGED = "INSERT INTO status_changes VALUES ('{}', 99, {}, '{}', '{}', '{}', 'x', 'user', 't', 'r', 'manual');"
# What is written over the record, in which session, and what is said of it.
FORGED: dict[str, tuple[str, set[tuple[str, str]]]] = {
    **{
        f"a group's {name}": (group(column, value), {("task_groups", PENDING.format(name))})
        for name, column, value in (
            ("name", "name", "'Other'"), ("description", "description", "NULL"), ("kind", "kind", "'research'"),
            ("security_sensitive", "security_sensitive", "1"), ("complexity", "complexity", "1"),
            ("priority", "priority", "0"), ("creator", "created_by", "'tech_lead'"),
        )
    },
    **{
        f"a criterion's {name}": (criterion(column, value), {("criteria", TESTED.format(name))})
        for name, column, value in (
            ("metric, operator, target", "metric = 'ms', operator = 'le', target", "'5'"),
            ("command", "command", "'[\"true\"]'"), ("group_id", "group_id", "'A'"), ("due_at", "due_at", "NULL"),
            ("creator", "created_by", "'tech_lead'"), ("approval", "approval", "NULL"),
        )
    },
    "a group's wording of a changed criterion": (
        "UPDATE status_changes SET from_status = 'x' WHERE entity = 'criterion_text'",
        {("criteria", TESTED.format("text"))}),
    "a criterion without a measure": (criterion("metric = NULL, operator = NULL, target", "NULL", "fast"), {
        ("criteria", "criterion fast is not as its report planned it: metric, operator, target")}),
    "a command that is approved by no step": (
        criterion("approval = 'approved', approved_by = 'user', approved_seq", "2"),
        {("criteria", TESTED.format("approval"))}),
    "a command that is approved in another's name": (
        criterion("approved_by", "'project_manager'", "safe"),
        {("criteria", "criterion safe is not as its report planned it: approval")}),
    **{
        f"a command whose approval is {name}": (sql, {
            ("criteria", "criterion safe is not as its report planned it: approval")})
        for name, sql in (
            ("another word", criterion("approval", "'x'", "safe")),
            ("an agent's", APPROVED.format("actor = 'project_manager'") + ";"
             + criterion("approved_by", "'project_manager'", "safe")),
            ("another session's", APPROVED.format("session_id = 'S9'")),
            ("of another step", APPROVED.format("seq = 900")),
            ("of another kind of step", APPROVED.format("kind = 'answer'")),
            ("somebody's who is no person", "UPDATE agents SET kind = 'ai' WHERE id = 'user'"),
        )
    },
    "a plan of another role": (
        "UPDATE agent_reports SET role = 'developer' WHERE session_id = 'S1' AND effect = 'continue'",
        {("task_groups", UNHELD.format("group C"))}),
    "another kind and security before the first change": (
        CHANGED.format("S1", 1, "group_kind", "B", "research") + CHANGED.format("S1", 2, "group_security", "B", "0"),
        {("task_groups", "group B is not as its report planned it: kind, security_sensitive")}),
    "a change of another group": (CHANGED.format("S1", 1, "group_security", "B", "1"), set()),
    "changes in another session": (
        CHANGED.format("S2", 1, "group_kind", "A", "research") + CHANGED.format("S2", 2, "group_security", "A", "1")
        + CHANGED.format("S2", 3, "criterion_text", "fast", "x"), set()),
    "dependencies of later, and of another session": (
        "INSERT INTO group_dependencies (session_id, group_id, depends_on, seq, added_by)"
        " SELECT session_id, 'A', 'N', created_seq + 90, created_by FROM task_groups WHERE session_id = 'S1'"
        " AND id = 'A' UNION ALL SELECT 'S2', 'A', 'N', created_seq, created_by FROM task_groups"
        " WHERE session_id = 'S1' AND id = 'A'", set()),
    "a dependency less": (
        "DELETE FROM group_dependencies WHERE group_id = 'B' AND depends_on = 'A'",
        {("task_groups", "group B is not as its report planned it: depends_on")}),
    "a dependency more": (
        "INSERT INTO group_dependencies (session_id, group_id, depends_on, seq, added_by)"
        " SELECT 'S1', 'A', 'N', created_seq, created_by FROM task_groups WHERE session_id = 'S1' AND id = 'A'",
        {("task_groups", PENDING.format("depends_on"))}),
    "another group in the report's step": (NEW.format("X", "code", 0, "S1"), {
        ("task_groups", UNHELD.format("group X"))}),
    "a group of an investigation in a plan's step": (
        NEW.format("X", "research", 0, "S1").replace("'X'", "'investigation-' || created_seq", 1),
        {("task_groups", UNHELD.format("group investigation-4"))}),
    "a criterion moved to the step of another report": (
        "UPDATE criteria SET created_seq = (SELECT created_seq FROM task_groups WHERE id = 'C') WHERE id = 'fast'",
        {("criteria", UNHELD.format("criterion fast")),
         ("criteria", MISSING.format("criterion fast"))}),
    "a planned group that is gone": (
        "DELETE FROM group_dependencies WHERE depends_on = 'A'; DELETE FROM criteria WHERE id = 'fast';"
        " DELETE FROM task_groups WHERE session_id = 'S1' AND id = 'A'",
        {("task_groups", MISSING.format("group A")), ("criteria", MISSING.format("criterion fast")),
         ("task_groups", "group B is not as its report planned it: depends_on")}),
    "a report that planned nothing": (
        DETAILS.format("{}", "continue"), {("task_groups", UNHELD.format("group C"))}),
    "a report whose plan cannot be read": (
        DETAILS.format('{"plan": {"groups": [{"id": "C", "name": 5}]}}', "continue"),
        {("task_groups", UNHELD.format("group C"))}),
    "a report whose details are no JSON": (
        DETAILS.format("{", "continue"), {("task_groups", UNHELD.format("group C"))}),
    "a report that planned more": (
        DETAILS.format('{"task_groups": [{"id": "C"}, {"id": "Z"}]}', "continue"),
        {("task_groups", MISSING.format("group Z"))}),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGED)
def test_a_plan_and_what_came_of_it_do_not_part_unseen(name: str, raw: sqlite3.Connection) -> None:
    sql, expected = FORGED[name]
    for statement in filter(str.strip, sql.split(";")):
        raw.execute(statement)
    assert faults(raw) == expected


@pytest.mark.sqlite("the file is forged")
def test_a_verification_tells_it_where_every_hash_fits(content: bytes, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "orchestrator.db"
    path.write_bytes(content)
    assert test_forged_rows.told(path, 0) == set()
    forging.tamper(path, group("complexity", "1"))
    with forging.unguarded(path) as connection:
        forging.recompute(connection, "S1")
    assert {(code, table) for code, _, table in test_forged_rows.told(path, 0)} == {
        ("PLAN_NOT_AS_REPORTED", "task_groups")
    }
