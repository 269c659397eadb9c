"""The fake store: the real schema, guards and statements in memory, cloned cheaply for every test."""

from __future__ import annotations

import sqlite3
from functools import cache

from orchestrator.store import sqlite


@cache
def _template() -> bytes:
    import sqlalchemy as sa
    from sqlalchemy.pool import StaticPool

    from orchestrator.store import guards, guards_tables, schema

    raw = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    # Rows are few and tables many: small pages make a third of the bytes to clone, and to keep for a savepoint.
    raw.execute("PRAGMA page_size=512")
    engine = sa.create_engine("sqlite://", creator=lambda: raw, poolclass=StaticPool)
    with engine.begin() as connection:
        schema.metadata.create_all(connection)
        guards.create_all(connection)
    for statement in (guards_tables.VERSION_TABLE, *(sql for _, sql in guards_tables.VERSION_TRIGGERS)):
        raw.execute(statement)
    return raw.serialize()


def connect(content: bytes | None = None) -> sqlite.Connection:
    """A writing connection to a fresh database in memory, or to a copy of what another one serialised."""
    connection = sqlite3.connect(":memory:", isolation_level=None, factory=sqlite.Connection, cached_statements=256)
    connection.deserialize(content or _template())
    sqlite.prepare(connection)
    return connection
