"""Bringing a database on a PostgreSQL server to this program's schema, in one transaction that the record keeps.

What is declared is created once more, in a schema of its own; what the server says of both tells what to add. Tables,
columns, constraints and indexes are added or made anew, rows stay as they are, and functions, views and triggers are
created as this program declares them. The result has to equal what is declared; else nothing was changed.

Source: spec 90, section 1; spec 50, section 4.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator

from orchestrator import errors
from orchestrator.core.suggestions import sentence
from orchestrator.hints import Any
from orchestrator.store import constants, postgresql, postgresql_catalogue, problems, schema_script, sqlite
from orchestrator.store.postgresql_catalogue import BESIDE
from orchestrator.store.step import Step

_CREATES = re.compile(
    r"CREATE (?P<kind>FUNCTION|AGGREGATE|TABLE|VIEW|TRIGGER|(?:UNIQUE )?INDEX) (?P<name>\w+)"
)
# A trigger of ours calls the function of its own name.
_TRIGGERS = """SELECT c.relname, t.tgname, p.proname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
    JOIN pg_proc p ON p.oid = t.tgfoid WHERE NOT t.tgisinternal AND c.relnamespace = 'public'::regnamespace
    AND p.pronamespace = c.relnamespace AND t.tgname IN (p.proname, p.proname || '_by_truncate')"""
_COLUMNS = f"""SELECT c.relname, a.attname, concat_ws(' ', format_type(a.atttypid, a.atttypmod),
    CASE WHEN a.attcollation <> t.typcollation THEN 'COLLATE ' || a.attcollation::regcollation END,
    CASE a.attgenerated WHEN 's' THEN 'GENERATED ALWAYS AS (' || pg_get_expr(d.adbin, d.adrelid) || ') STORED'
      ELSE 'DEFAULT ' || pg_get_expr(d.adbin, d.adrelid) END,
    CASE a.attidentity WHEN 'a' THEN 'GENERATED ALWAYS AS IDENTITY' END, CASE WHEN a.attnotnull THEN 'NOT NULL' END)
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  JOIN pg_type t ON t.oid = a.atttypid LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
  WHERE c.relkind = 'r' AND c.relnamespace = '{BESIDE}'::regnamespace AND NOT EXISTS (SELECT 1 FROM pg_class o
    JOIN pg_attribute b ON b.attrelid = o.oid AND b.attname = a.attname AND NOT b.attisdropped
    WHERE o.relname = c.relname AND o.relnamespace = 'public'::regnamespace)
  ORDER BY c.relname, a.attnum"""


def upgrade(
    url: str, at: str, *, actor: str, deadline: float = sqlite.DEADLINE_S, allow_superuser: bool = False,
    channel: str = "cli",
) -> tuple[int, int]:
    """Bring a database that has a schema to this program's version; steps that are under way are waited for.

    Returns:
        The schema version before and after.

    Raises:
        EnvironmentProblem: as `postgresql.open_server`; NO_DATABASE, it has no schema; SCHEMA_TOO_NEW; SCHEMA_TOO_OLD,
            no program has made this version on a server, or what was found cannot be brought to this one; READ_ONLY,
            the role does not own the tables; BUSY. Nothing was changed.
    """
    connection = postgresql.open_server(url, write=True, deadline=deadline, allow_superuser=allow_superuser)
    try:
        connection.execute("BEGIN IMMEDIATE")
        connection.wait_for(constants.STORE_CHAIN, deadline)
        before = postgresql.read_version(connection)
        if before > constants.SCHEMA_VERSION:
            raise problems.too_new(connection.path, before)
        if before < postgresql.FIRST:
            raise postgresql.older(connection.path, before)
        if before == constants.SCHEMA_VERSION:
            return before, before
        try:
            _rebuild(connection)
        except (sqlite3.Error, errors.OrchestratorError) as error:
            raise _failed(connection, before, error) from error
        connection.run("UPDATE alembic_version SET version_num = $1", (f"{constants.SCHEMA_VERSION:04}",))
        step = Step(connection, constants.STORE_CHAIN, at, deadline)  # type: ignore[arg-type]
        step.seal("migrate", actor, channel, {"from": before, "to": constants.SCHEMA_VERSION})
        return before, constants.SCHEMA_VERSION
    finally:
        connection.rollback()
        connection.close()


def _failed(connection: Any, before: int, error: Exception) -> Exception:
    """Why it was not done; what the server itself refuses is told as it is."""
    if isinstance(error, errors.EnvironmentProblem):
        return error
    return errors.EnvironmentProblem(
        "SCHEMA_TOO_OLD",
        sentence(
            "The database has schema version {}, and something in it is in the way of version {}: {}. Nothing was"
            " changed.", before, constants.SCHEMA_VERSION, str(error).rstrip("."),
        ),
        "remove what is named, as the owner of the database", db=connection.path,
    )


class _Differs(sqlite3.OperationalError):
    """What was made is not what is declared."""


def _rebuild(connection: Any) -> None:
    """Make everything as it is declared, in the transaction that is open."""
    parts = list(_declared())
    _drop_acting(connection, [name for kind, name, _ in parts if kind == "VIEW"])
    postgresql_catalogue.create_beside(connection)
    wanted = postgresql_catalogue.parts(connection, BESIDE)
    connection.run("SET LOCAL search_path = public, pg_temp")
    found = postgresql_catalogue.parts(connection, "public")
    for kind, name, sql in parts:
        if kind in ("FUNCTION", "AGGREGATE"):
            connection.run(sql.replace("CREATE ", "CREATE OR REPLACE ", 1))
        elif kind == "TABLE" and ("table", name) not in found:
            connection.run(sql)
    for table, column, words in connection.run(_COLUMNS).fetchall():
        connection.run(f'ALTER TABLE {table} ADD COLUMN "{column}" {words}')
    _settle_constraints(connection, wanted)
    _settle_indexes(connection, wanted, {name: sql for kind, name, sql in parts if kind.endswith("INDEX")})
    for kind, _, sql in parts:
        if kind in ("VIEW", "TRIGGER"):
            connection.run(sql)
    found = postgresql_catalogue.parts(connection, "public")
    connection.run(f"DROP SCHEMA {BESIDE} CASCADE")
    for each in postgresql_catalogue.differences(found, wanted):
        raise _Differs(each.message)


def _declared() -> Iterator[tuple[str, str, str]]:
    """Every statement with the kind and the name of what it creates."""
    for sql in schema_script.postgresql():
        found = _CREATES.match(sql)
        assert found is not None, sql[:60]  # noqa: S101 - the file is rendered by the product itself
        yield found["kind"], found["name"], sql


def _drop_acting(connection: Any, views: list[str]) -> None:
    """Drop the triggers of whatever version, with their functions, and the views that are declared."""
    functions = dict[str, None]()
    for table, trigger, function in connection.run(_TRIGGERS).fetchall():
        connection.run(f'DROP TRIGGER "{trigger}" ON "{table}"')
        functions[function] = None
    for each in functions:
        connection.run(f'DROP FUNCTION "{each}"()')
    for each in reversed(views):
        connection.run(f"DROP VIEW IF EXISTS {each}")


def _settle_constraints(connection: Any, wanted: postgresql_catalogue.Parts) -> None:
    found = postgresql_catalogue.parts(connection, "public")
    ours = {name for kind, name in wanted if kind == "table"}
    changed = [
        name for (kind, name), text in found.items()
        if kind == "constraint" and name.split(":")[0] in ours and wanted.get((kind, name)) != text
    ]
    # What refers to others goes first and comes last.
    for name in sorted(changed, key=lambda each: not found["constraint", each].startswith("FOREIGN")):
        table, _, constraint = name.partition(": ")
        connection.run(f'ALTER TABLE {table} DROP CONSTRAINT "{constraint}"')
    missing = {
        name: text for (kind, name), text in wanted.items()
        if kind == "constraint" and (name in changed or (kind, name) not in found)
    }
    for name, text in sorted(missing.items(), key=lambda each: each[1].startswith("FOREIGN")):
        table, _, constraint = name.partition(": ")
        connection.run(f'ALTER TABLE {table} ADD CONSTRAINT "{constraint}" {text.rpartition(" ")[0]}')


def _settle_indexes(connection: Any, wanted: postgresql_catalogue.Parts, declared: dict[str, str]) -> None:
    found = {name: text for (kind, name), text in postgresql_catalogue.parts(connection, "public").items()
             if kind == "index"}  # fmt: skip
    for name, text in found.items():
        if wanted.get(("index", name)) != text:
            connection.run(f'DROP INDEX "{name}"')
            found = {**found, name: ""}
    for name, sql in declared.items():
        if not found.get(name):
            connection.run(sql)
