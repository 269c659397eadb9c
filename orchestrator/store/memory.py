"""The fake store: the real schema, guards and statements in memory, cloned cheaply for every test."""

from __future__ import annotations

import sqlite3
from functools import cache

from orchestrator.hints import Any, TypeVar
from orchestrator.store import declared_schema, sqlite

_Connection = TypeVar("_Connection", bound=sqlite.Connection)


@cache
def _template() -> bytes:
    raw = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    # Rows are few and tables many: small pages make a third of the bytes to clone, and to keep for a savepoint.
    raw.execute("PRAGMA page_size=512")
    for statement in declared_schema.creation():
        raw.execute(statement)
    return raw.serialize()


class Watched(sqlite.Connection):
    """A connection that notes which statements it is given; what triggers do is not among them."""

    said: set[str]

    def execute(self, sql: str, /, *parameters: Any) -> sqlite3.Cursor:
        """Run a statement and note it."""
        self.said.add(sql)
        return super().execute(sql, *parameters)


def watched() -> Watched:
    """A connection as `connect` gives it, that notes its statements in `said`."""
    return _open(None, Watched)


def connect(content: bytes | None = None) -> sqlite.Connection:
    """A writing connection to a fresh database in memory, or to a copy of what another one serialised."""
    return _open(content, sqlite.Connection)


def _open(content: bytes | None, factory: type[_Connection]) -> _Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None, factory=factory, cached_statements=256)
    if isinstance(connection, Watched):
        connection.said = set()
    connection.deserialize(content or _template())
    sqlite.prepare(connection)
    return connection
