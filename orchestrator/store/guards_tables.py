"""Triggers that every table has: who may write at all, which keys are taken, and that nothing is ever deleted.

They are derived from the declared tables, so that a new table is guarded before anybody thinks of it.

REPLACE removes the old row through any unique key without firing a delete trigger. Therefore a taken key is
refused BEFORE INSERT, whichever unique key it is, which stops REPLACE, OR IGNORE and upserts alike. A table that has
a hidden rowid has one more key.

A trigger is a program of its own: every process that opens the file reads it, and every statement that may fire it
compiles and enters it. So one trigger asks all that is asked of each new row, and of each move to another status, case
by case (STO-59).
"""

from __future__ import annotations

from collections.abc import Iterable

import sqlalchemy as sa

from orchestrator.store import constants, emitter, guards_handoffs, schema, tables_work
from orchestrator.store.emitter import Expression, Guard, Refusal, Row

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

INSERT, UPDATE, DELETE = "INSERT", "UPDATE", "DELETE"


def refuse(
    name: str,
    event: str,
    table: sa.Table,
    message: str,
    *,
    when: Expression | None = None,
    columns: tuple[str, ...] = (),
) -> Guard:
    """A guard that refuses the statement with a message; its arguments are those of `Guard`."""
    return Guard(name, event, table.name, Refusal(message), when, columns)


def refuse_first(
    name: str,
    event: str,
    table: sa.Table,
    *cases: tuple[Expression, str],
    when: Expression | None = None,
    columns: tuple[str, ...] = (),
) -> Guard:
    """A guard that refuses the statement with the message of the first case whose condition holds, if one does.

    Args:
        cases: condition and message of each; they are asked in this order.
    """
    answer = emitter.case(*((condition, Refusal(message)) for condition, message in cases))
    return Guard(name, event, table.name, answer, when, columns)


def new(table: sa.Table) -> Row:
    """The row as it is written."""
    return Row("NEW", table)


def old(table: sa.Table) -> Row:
    """The row as it was."""
    return Row("OLD", table)


def changes(table: sa.Table, *columns: str) -> Expression:
    """The condition that an update changes one of these columns."""
    return emitter.bracketed(sa.or_(*(emitter.differs(new(table)[each], old(table)[each]) for each in columns)))


def moves(table: sa.Table, column: str, pairs: Iterable[tuple[str, str]]) -> Expression:
    """The condition that a column goes from one value to another, as one of the pairs says."""
    to: dict[str, list[Expression]] = {}
    for before, after in pairs:
        to.setdefault(before, []).append(new(table)[column] == after)
    return sa.or_(*(
        emitter.bracketed(sa.and_(old(table)[column] == before, emitter.bracketed(sa.or_(*after))))
        for before, after in to.items()
    ))  # fmt: skip


REFUSED = "WRITE_REFUSED: only the orchestrator writes to this database"
"""What whoever has not the write function is told."""
WRITES: Expression = sa.Function(constants.WRITE_FUNCTION, type_=sa.Integer())
"""Calls the function that writing connections of the orchestrator have, and no others."""
_BY_STRANGER = (emitter.differs(WRITES, 1), REFUSED)


def _tripwire(name: str, event: str, table: str, columns: tuple[str, ...] = ()) -> Guard:
    answer = emitter.case((WRITES == 1, 1), otherwise=Refusal(REFUSED))
    return Guard(name, event, table, answer, None, columns)


VERSION_TABLE = (
    "CREATE TABLE alembic_version"
    " (version_num VARCHAR(32) NOT NULL, CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))"
)
"""Alembic's own table, as Alembic makes it."""

VERSION_GUARDS: tuple[Guard, ...] = tuple(
    _tripwire(f"alembic_version_{event.lower()}_needs_orchestrator", event, "alembic_version")
    for event in (INSERT, UPDATE, DELETE)
)
"""Its tripwires: migrations write through the orchestrator's connection, and going back to nothing deletes the row."""


HIDDEN = ("rowid",)
"""The key that SQLite gives to each row of a table that has no other way to find it."""


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
        keys.add(HIDDEN)
    return sorted(key for key in keys if key)


def _inserted(table: sa.Table) -> Guard:
    return refuse_first(
        f"{table.name}_insert_needs_orchestrator_and_new_key",
        INSERT,
        table,
        _BY_STRANGER,
        *(_taken(table, key) for key in unique_keys(table)),
        *guards_handoffs.CASES.get(table.name, ()),
    )


def _taken(table: sa.Table, key: tuple[str, ...]) -> tuple[Expression, str]:
    message = f"ALREADY_EXISTS: {table.name} has a row with this {', '.join(key)}"
    return emitter.exists(table.alias("t"), same_key(table, key)), message


def same_key(table: sa.Table, key: tuple[str, ...]) -> Expression:
    """The condition that a row `t` of a table has the new one's values in the columns of a key."""
    if key == HIDDEN:
        return emitter.SameHiddenKey()
    return sa.and_(*(Row("t", table)[column] == new(table)[column] for column in key))


def _updated(table: sa.Table) -> Guard:
    name = table.name
    if name in APPEND_ONLY:
        never = (sa.true(), f"NEVER_CHANGED: rows of {name} stay as they were written")
        return refuse_first(f"{name}_are_never_changed", UPDATE, table, _BY_STRANGER, never)
    columns = tuple(column for column in table.columns.keys() if column not in GUARDED_BY_NAME)
    named = columns if table is tables_work.task_groups else ()
    return _tripwire(f"{name}_update_needs_orchestrator", UPDATE, name, named)


def _deleted(table: sa.Table) -> Guard:
    message = f"NEVER_DELETED: rows of {table.name} stay"
    return refuse(f"{table.name}_are_never_deleted", DELETE, table, message)


def _of(table: sa.Table) -> tuple[Guard, ...]:
    return _inserted(table), _updated(table), _deleted(table)


GUARDS: tuple[Guard, ...] = tuple(guard for table in schema.metadata.sorted_tables for guard in _of(table))
"""The guards that every table has."""
