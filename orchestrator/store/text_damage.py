"""Stored texts that are no text: bytes that are not UTF-8, each with its table, row and column.

A changed byte on the disk leaves the pages of a file in order, so that SQLite's own check does not see it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterator

from orchestrator.core.named_tuple import NamedTuple
from orchestrator.hints import Any, TypeVar

_T = TypeVar("_T")

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


def decoded(connection: sqlite3.Connection, read: Callable[[], _T]) -> _T:
    """What `read` returns with the driver's decoder, or with `text_factory` where a text is damaged.

    A factory in Python is called for every text.

    Args:
        read: reads all it needs before it returns; it may run twice.

    Raises:
        OperationalError: a text is damaged, and the connection has no factory of its own.
    """
    factory = connection.text_factory
    connection.text_factory = str
    try:
        return read()
    except sqlite3.OperationalError as error:
        if factory is str or not str(error).startswith(UNDECODABLE):
            raise
    finally:
        connection.text_factory = factory
    return read()


def damages(connection: sqlite3.Connection, known: Collection[str] = ()) -> Iterator[Damage]:
    """The first damaged texts, with the driver's own decoder where nothing is damaged.

    Args:
        known: tables that are not read, because all their texts are known to be UTF-8.

    Raises:
        Error: the schema or the pages are damaged.
    """
    factory, found = connection.text_factory, 0
    try:
        connection.text_factory = bytes
        tables = [name.decode("utf-8", "replace") for (name,) in connection.execute(_TABLES)]
        for table in tables:
            connection.text_factory = str
            if table in known or _is_readable(connection, table):
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
            if kind == b"text" and not is_text(value):
                yield Damage(table, row, name)


def is_text(value: bytes) -> bool:
    """Whether bytes are UTF-8."""
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def _shown(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _name(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
