"""Triggers that every table has: who may write at all, which keys are taken, and that nothing is ever deleted.

They are derived from the declared tables, so that a new table is guarded before anybody thinks of it.

REPLACE removes the old row through any unique key without firing a delete trigger. Therefore a taken key is
refused BEFORE INSERT, whichever unique key it is, which stops REPLACE, OR IGNORE and upserts alike. A table that has
a hidden rowid has one more key.

A trigger is a program of its own: every process that opens the file reads it, and every statement that may fire it
compiles and enters it. So one trigger asks all that is asked of each new row, case by case.
"""

from __future__ import annotations

import sqlalchemy as sa

from orchestrator.store import constants, schema, tables_work

GUARDED_BY_NAME = ("status", "status_changed_by", "status_changed_at", "status_seq")
"""Columns of `task_groups` that a stranger may try to set, so that the guard's own message can say what is missing."""

APPEND_ONLY = (
    "acknowledgements",
    "adoptions",
    "agent_files",
    "agent_reports",
    "audit_events",
    "context_items",
    "deferrals",
    "evidence",
    "grandfathered_groups",
    "human_credentials",
    "human_tokens",
    "import_findings",
    "imported_logs",
    "imported_sessions",
    "notices",
    "projects",
    "refusals",
    "requests",
    "resume_points",
    "router_decisions",
    "run_events",
    "run_files",
    "run_violations",
    "standalone_handoffs",
    "status_changes",
    "texts",
    "workflow_activations",
    "workflow_transitions",
    "workflow_versions",
)
"""Tables whose rows never change."""

Statement = tuple[str, str]


def trigger(name: str, event: str, body: str, *, when: str = "") -> Statement:
    """A trigger as (name, statement).

    Args:
        name: The trigger's name.
        event: When it speaks, such as `BEFORE UPDATE OF status ON task_groups`.
        body: One statement, without its semicolon.
        when: A condition on the row.
    """
    condition = f"\nWHEN {when}" if when else ""
    return name, f"CREATE TRIGGER {name} {event}{condition}\nBEGIN\n  {body};\nEND"


def refuse(name: str, event: str, message: str, *, when: str = "") -> Statement:
    """A trigger that refuses the statement with a message."""
    return trigger(name, event, f"SELECT RAISE(ABORT, '{message}')", when=when)


def refuse_first(name: str, event: str, *cases: tuple[str, str], when: str = "") -> Statement:
    """A trigger that refuses the statement with the message of the first case whose condition holds, if one does.

    Args:
        cases: condition and message of each; they are asked in this order.
    """
    body = "\n    ".join(f"WHEN {condition} THEN RAISE(ABORT, '{message}')" for condition, message in cases)
    return trigger(name, event, f"SELECT CASE {body} END", when=when)


def differs(*columns: str) -> str:
    """The condition that an update changes one of these columns."""
    return "(" + " OR ".join(f"NEW.{column} IS NOT OLD.{column}" for column in columns) + ")"


REFUSED = "WRITE_REFUSED: only the orchestrator writes to this database"
"""What whoever has not the write function is told."""
_BY_STRANGER = (f"{constants.WRITE_FUNCTION}() IS NOT 1", REFUSED)


def _tripwire(name: str, event: str) -> Statement:
    check = f"SELECT CASE WHEN {constants.WRITE_FUNCTION}() = 1 THEN 1 ELSE RAISE(ABORT, '{REFUSED}') END"
    return trigger(name, event, check)


VERSION_TABLE = (
    "CREATE TABLE alembic_version"
    " (version_num VARCHAR(32) NOT NULL, CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))"
)
"""Alembic's own table, as Alembic makes it."""

VERSION_TRIGGERS: tuple[Statement, ...] = tuple(
    _tripwire(f"alembic_version_{event.lower()}_needs_orchestrator", f"BEFORE {event} ON alembic_version")
    for event in ("INSERT", "UPDATE", "DELETE")
)
"""Its tripwires: migrations write through the orchestrator's connection, and going back to nothing deletes the row."""


HANDOFFS: Statement = (
    "handoffs",
    """CREATE VIEW handoffs AS
SELECT session_id, turn, group_id, agent_id, document, hash FROM standalone_handoffs
UNION ALL
SELECT session_id, seq, group_id, handoff_agent, handoff, handoff_hash
FROM router_decisions INDEXED BY sqlite_autoindex_router_decisions_1
WHERE handoff IS NOT NULL OR handoff_agent IS NOT NULL""",
)
"""What agents were started with, wherever it is stored: the view, as (name, statement).

A half of one, which only a forger writes, is seen as well.
"""

_HANDOFF_TAKEN = "ALREADY_EXISTS: handoffs has a row with this session_id, group_id, turn"
# What a table of its own refuses by NOT NULL and by its key is asked of both places here.
_OF_HANDOFFS = {
    "router_decisions": (
        (
            "(NEW.handoff IS NULL) <> (NEW.handoff_agent IS NULL)"
            " OR (NEW.handoff IS NOT NULL AND (NEW.group_id IS NULL OR NEW.handoff_hash IS NULL))",
            "HANDOFF_INCOMPLETE: a hand-off with its decision has a group, an agent and a hash",
        ),
        (
            "NEW.handoff IS NOT NULL AND EXISTS (SELECT 1 FROM handoffs h WHERE h.session_id = NEW.session_id"
            " AND h.group_id = NEW.group_id AND h.turn = NEW.seq)",
            _HANDOFF_TAKEN,
        ),
    ),
    "standalone_handoffs": (
        (
            "EXISTS (SELECT 1 FROM router_decisions t INDEXED BY sqlite_autoindex_router_decisions_1"
            " WHERE t.session_id = NEW.session_id AND t.seq = NEW.turn AND t.group_id = NEW.group_id"
            " AND t.handoff IS NOT NULL)",
            _HANDOFF_TAKEN,
        ),
    ),
}


def has_hidden_rowid(table: sa.Table) -> bool:
    """Whether rows have a number beside their key, through which REPLACE could reach them."""
    key = list(table.primary_key.columns)
    is_alias = len(key) == 1 and isinstance(key[0].type, sa.Integer)
    return table.dialect_options["sqlite"]["with_rowid"] is not False and not is_alias


def unique_keys(table: sa.Table) -> list[tuple[str, ...]]:
    """The columns of each unique key of a table, in a fixed order."""
    keys = {tuple(column.name for column in table.primary_key.columns)}
    constraints = (item for item in table.constraints if isinstance(item, sa.UniqueConstraint))
    keys |= {tuple(column.name for column in constraint.columns) for constraint in constraints}
    keys |= {tuple(column.name for column in index.columns) for index in table.indexes if index.unique}
    if has_hidden_rowid(table):
        keys.add(("rowid",))
    return sorted(key for key in keys if key)


def _inserted(table: sa.Table) -> Statement:
    return refuse_first(
        f"{table.name}_insert_needs_orchestrator_and_new_key",
        f"BEFORE INSERT ON {table.name}",
        _BY_STRANGER,
        *(_taken(table, key) for key in unique_keys(table)),
        *_OF_HANDOFFS.get(table.name, ()),
    )


def _taken(table: sa.Table, key: tuple[str, ...]) -> tuple[str, str]:
    same = " AND ".join(f"t.{column} = NEW.{column}" for column in key)
    message = f"ALREADY_EXISTS: {table.name} has a row with this {', '.join(key)}"
    return f"EXISTS (SELECT 1 FROM {table.name} t WHERE {same})", message


def _updated(table: sa.Table) -> Statement:
    name = table.name
    if name in APPEND_ONLY:
        never = ("1", f"NEVER_CHANGED: rows of {name} stay as they were written")
        return refuse_first(f"{name}_are_never_changed", f"BEFORE UPDATE ON {name}", _BY_STRANGER, never)
    columns = ""
    if table is tables_work.task_groups:
        columns = "OF " + ", ".join(column for column in table.columns.keys() if column not in GUARDED_BY_NAME) + " "
    return _tripwire(f"{name}_update_needs_orchestrator", f"BEFORE UPDATE {columns}ON {name}")


def _deleted(table: sa.Table) -> Statement:
    message = f"NEVER_DELETED: rows of {table.name} stay"
    return refuse(f"{table.name}_are_never_deleted", f"BEFORE DELETE ON {table.name}", message)


def _of(table: sa.Table) -> tuple[Statement, ...]:
    return _inserted(table), _updated(table), _deleted(table)


TRIGGERS: tuple[Statement, ...] = tuple(
    statement for table in schema.metadata.sorted_tables for statement in _of(table)
)
"""The triggers that every table has, as (name, statement)."""
