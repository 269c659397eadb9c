"""The schema as SQL texts: as declared, as found in a file, and as a migration takes it over."""

from __future__ import annotations

import functools
import re
import sqlite3
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from orchestrator.store import guards, schema_script

Key = tuple[str, str]
"""Type (table, index, view, trigger) and name."""


@functools.cache
def declared() -> Mapping[Key, str]:
    """The SQL of every table, index, view and trigger as declared, in order of creation, without Alembic's table."""
    tables = {(each.kind, each.name): each.sql for each in schema_script.parts() if each.kind in ("table", "index")}
    del tables["table", schema_script.VERSION_TABLE]
    views = {("view", name): sql for name, sql in guards.VIEWS}
    triggers = {("trigger", name): sql for name, sql in (*guards.TRIGGERS, *guards.VERSION_TRIGGERS)}
    return MappingProxyType({**tables, **views, **triggers})


@functools.cache
def compared() -> Mapping[Key, str]:
    """What is declared, as it is compared."""
    return MappingProxyType({key: normalised(sql) for key, sql in declared().items()})


def creation() -> Iterator[str]:
    """The statements that create everything that is declared."""
    yield guards.VERSION_TABLE
    yield from declared().values()


def stored(connection: sqlite3.Connection) -> dict[Key, str]:
    """The SQL of everything in a file, in order of creation; without Alembic's own table."""
    rows = connection.execute(
        "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name <> 'alembic_version'"
        " ORDER BY rowid"
    )
    return {(kind, name): sql for kind, name, sql in rows}


def normalised(sql: str) -> str:
    """SQL as it is compared: one space for any whitespace, and none at brackets."""
    return re.sub(r"\s*([()])\s*", r"\1", re.sub(r"\s+", " ", sql)).strip()


def freeze() -> str:
    """The SQL of everything that is declared, as a migration may take it over.

    `python -m orchestrator.store.declared_schema` prints it; a migration keeps its own copy, which is never edited.
    """
    blocks = "".join(f"{sql.strip()};\n\n" for sql in declared().values())
    return "".join(f"{line.rstrip()}\n" for line in blocks.rstrip().splitlines())


if __name__ == "__main__":
    print(freeze(), end="")
