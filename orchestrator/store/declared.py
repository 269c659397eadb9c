"""The schema as SQL texts: as declared, as found in a file, and as a migration takes it over."""

from __future__ import annotations

import functools
import re
import sqlite3
from collections.abc import Iterator, Mapping
from types import MappingProxyType

import sqlalchemy as sa

from orchestrator.store import guards, guards_tables, schema

Key = tuple[str, str]
"""Type (table, index, view, trigger) and name."""


@functools.cache
def declared() -> Mapping[Key, str]:
    """The SQL of every table, index, view and trigger as declared, in order of creation; put together once."""
    raw = sqlite3.connect(":memory:", isolation_level=None)
    try:
        for sql in creation():
            raw.execute(sql)
        return MappingProxyType(stored(raw))
    finally:
        raw.close()


@functools.cache
def compared() -> Mapping[Key, str]:
    """What is declared, as it is compared."""
    return MappingProxyType({key: normalised(sql) for key, sql in declared().items()})


def creation() -> Iterator[str]:
    """The statements that create everything that is declared."""
    dialect = sa.create_mock_engine("sqlite://", lambda *_: None).dialect
    for table in schema.metadata.sorted_tables:
        yield str(sa.schema.CreateTable(table).compile(dialect=dialect))
        for index in sorted(table.indexes, key=lambda each: str(each.name)):
            yield str(sa.schema.CreateIndex(index).compile(dialect=dialect))
    for _, sql in (*guards.VIEWS, *guards.TRIGGERS):
        yield sql
    yield guards_tables.VERSION_TABLE
    for _, sql in guards_tables.VERSION_TRIGGERS:
        yield sql


def stored(connection: sqlite3.Connection) -> dict[Key, str]:
    """The SQL of everything in a file, in order of creation; without Alembic's own table."""
    rows = connection.execute(
        "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name <> 'alembic_version'"
        " ORDER BY rowid"
    )
    return {(kind, name): sql for kind, name, sql in rows}


def normalised(sql: str) -> str:
    """SQL as it is compared: one space for any whitespace."""
    return re.sub(r"\s+", " ", sql).strip()


def freeze() -> str:
    """The SQL of everything that is declared, as a migration may take it over.

    `python -m orchestrator.store.declared` prints it; a migration keeps its own copy, which is never edited.
    """
    blocks = "".join(f"{sql.strip()};\n\n" for sql in declared().values())
    return "".join(f"{line.rstrip()}\n" for line in blocks.rstrip().splitlines())


if __name__ == "__main__":
    print(freeze(), end="")
