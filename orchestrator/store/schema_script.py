"""The statements that create the schema, rendered when the product is built and read where they are needed.

`sql/schema.sql` is made of the declared tables, views and guards by `./task generate`; SQLAlchemy is not loaded to read
it. It is plain SQL, for whoever wants to see what the database enforces.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

from orchestrator.core.named_tuple import NamedTuple

FILE = Path(__file__).parent / "sql" / "schema.sql"
POSTGRESQL_FILE = FILE.with_name("postgresql.sql")
VERSION_TABLE = "alembic_version"
"""Alembic's own table."""
_CREATES = re.compile(r"CREATE (?:UNIQUE )?(TABLE|INDEX|VIEW|TRIGGER) (\w+)(?: BEFORE .*? ON (\w+))?")
_BETWEEN = ";\n\n"


class Part(NamedTuple):
    """A part of the schema and the statement that creates it.

    kind: table, index, view or trigger; table: that of a trigger.
    """

    kind: str
    name: str
    table: str
    sql: str


@functools.cache
def parts() -> tuple[Part, ...]:
    """Every part, in order of creation."""
    return tuple(map(_part, FILE.read_text("utf-8").removesuffix(";\n").split(_BETWEEN)))


def functions() -> list[str]:
    """The statements that create the functions of ours in PostgreSQL, which are written by hand."""
    return FILE.with_name("postgresql_functions.sql").read_text("utf-8").removesuffix(";\n").split(_BETWEEN)


def postgresql() -> tuple[str, ...]:
    """The statements that create everything in PostgreSQL, in their order."""
    return tuple(POSTGRESQL_FILE.read_text("utf-8").removesuffix(";\n").split(_BETWEEN))


def _part(sql: str) -> Part:
    found = _CREATES.match(sql)
    if found is None:
        raise ValueError(f"not a statement of the schema: {sql[:60]}")
    return Part(found[1].lower(), found[2], found[3] or "", sql)


def joined(statements: list[str]) -> str:
    """Statements as a script that `parts` reads."""
    return _BETWEEN.join(map(_plain, statements)) + ";\n"


def _plain(sql: str) -> str:
    return "\n".join(line.rstrip() for line in sql.strip().splitlines())
