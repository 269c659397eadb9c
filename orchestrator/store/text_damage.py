"""Stored texts that are no text: bytes that are not UTF-8, each with its table, row and column.

A changed byte on the disk leaves the pages of a file in order, so that SQLite's own check does not see it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

from orchestrator.core.tuples import NamedTuple

MOST = 20
UNDECODABLE = "Could not decode to UTF-8"
"""How the driver begins its error, which has no code."""
_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"


class Damage(NamedTuple):
    """A text that is not UTF-8. `row` names the key's columns with their values, or the rowid."""

    table: str
    row: str
    column: str

    @property
    def message(self) -> str:
        """The damage in one sentence, without its stop."""
        return f"table {self.table}, row {self.row}, column {self.column} is not UTF-8"


def damages(connection: sqlite3.Connection) -> Iterator[Damage]:
    """The first damaged texts; reads every table, in the driver's own speed where nothing is damaged.

    Raises:
        Error: the schema or the pages are damaged.
    """
    factory, found = connection.text_factory, 0
    try:
        connection.text_factory = bytes
        tables = [name.decode("utf-8", "replace") for (name,) in connection.execute(_TABLES)]
        for table in tables:
            connection.text_factory = str
            if _is_readable(connection, table):
                continue
            connection.text_factory = bytes
            for damage in _of_table(connection, table):
                yield damage
                found += 1
                if found == MOST:
                    return
    finally:
        connection.text_factory = factory


def _is_readable(connection: sqlite3.Connection, table: str) -> bool:
    try:
        for _ in connection.execute(f"SELECT * FROM {_name(table)}"):
            pass
    except sqlite3.OperationalError as error:
        if not str(error).startswith(UNDECODABLE):
            raise
        return False
    return True


def _of_table(connection: sqlite3.Connection, table: str) -> Iterator[Damage]:
    described = connection.execute(f"PRAGMA table_info({_name(table)})").fetchall()
    names = [row[1].decode("utf-8", "replace") for row in described]
    keys = [names[place] for place, row in enumerate(described) if row[5]]
    shown = keys or ["rowid"]
    sql = f"SELECT {', '.join(map(_name, shown))}, {', '.join(map(_name, names))} FROM {_name(table)}"
    # Texts come as bytes as well as blobs do; their type is asked for where they cannot be decoded.
    typed = f"SELECT {', '.join(f'typeof({_name(name)})' for name in names)} FROM {_name(table)}"
    for values, types in zip(connection.execute(sql), connection.execute(typed), strict=True):
        own = values[len(shown) :]
        row = ", ".join(f"{name} {_shown(value)}" for name, value in zip(shown, values, strict=False))
        for name, value, kind in zip(names, own, types, strict=True):
            if kind == b"text" and not _is_text(value):
                yield Damage(table, row, name)


def _is_text(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def _shown(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _name(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
