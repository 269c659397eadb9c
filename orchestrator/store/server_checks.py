"""What is the matter with a database on a PostgreSQL server: the way to it, its rights, and what guards it.

Nothing is changed. The counterpart of `doctor` and of `maintenance.check`, which look files over.

Source: spec 90, section 3; spec 50, section 2.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from orchestrator import errors
from orchestrator.core import database_urls
from orchestrator.core.suggestions import suggest
from orchestrator.hints import Any
from orchestrator.store import constants, maintenance, postgresql, problems
from orchestrator.store.maintenance import Problem

Facts = dict[str, Any]
_FACTS = """SELECT current_setting('server_version'), current_setting('server_encoding'), current_user::text,
    current_setting('is_superuser'), pg_is_in_recovery(),
    (SELECT reset_val FROM pg_settings WHERE name = 'default_transaction_read_only'),
    (SELECT count(*) FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid WHERE NOT t.tgisinternal
        AND c.relnamespace = 'public'::regnamespace AND t.tgenabled = 'O'),
    has_database_privilege(current_database(), 'CREATE'), inet_client_addr() IS NOT NULL"""
_LACKING = """SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
    AND NOT (has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT')
        AND has_table_privilege(oid, 'UPDATE')) ORDER BY relname LIMIT 1"""


def check(url: str, deadline_s: float) -> tuple[str, list[Problem]]:
    """The database as it may be shown, and everything that is wrong with its schema and states.

    Raises:
        EnvironmentProblem: as `postgresql.connect`; READ_ONLY, the role may not create a schema to compare with.
    """
    connection = postgresql.connect(url, write=False, deadline=deadline_s)
    try:
        return connection.path, [*_schema(connection), *_states(connection)]
    finally:
        connection.close()


def doctor(url: str, deadline_s: float) -> tuple[str, Facts, list[Problem]]:
    """The database as it may be shown, what is known of its server, and what is wrong; errors first.

    Never raises for a state of the server.
    """
    facts: Facts = {"program_version": constants.SCHEMA_VERSION}
    path = database_urls.masked(url)
    try:
        connection = postgresql.open_server(url, write=False, deadline=deadline_s)
    except errors.OrchestratorError as problem:
        return path, facts, [maintenance.from_error(problem)]
    try:
        found = list(_guarded(_examined, connection, facts))
    finally:
        connection.close()
    order = ("error", "warning", "info")
    return path, facts, sorted(found, key=lambda each: order.index(each.severity))


def _guarded(look: Callable[..., Iterator[Problem]], *given: Any) -> Iterator[Problem]:
    """What a look finds; what keeps it from looking is a finding as well."""
    try:
        yield from look(*given)
    except errors.OrchestratorError as problem:
        yield maintenance.from_error(problem)


def _examined(connection: Any, facts: Facts) -> Iterator[Problem]:
    names = "server_version encoding user superuser replica read_only guards may_create remote".split()
    seen = dict(zip(names, connection.run(_FACTS).fetchone(), strict=True))
    schema, path = postgresql.read_version(connection), connection.path
    facts |= {name: seen[name] for name in ("server_version", "encoding", "user", "guards")}
    facts |= {"superuser": seen["superuser"] == "on", "replica": bool(seen["replica"])}
    facts |= {"tls": connection.is_encrypted, "schema_version": schema}
    yield from _server(seen, path, is_encrypted=facts["tls"])
    if schema != constants.SCHEMA_VERSION:
        is_newer = schema > constants.SCHEMA_VERSION
        yield maintenance.from_error(problems.too_new(path, schema) if is_newer else postgresql.older(path, schema))
        return
    yield from _rights(connection, seen["user"])
    if seen["may_create"] and not seen["replica"]:
        yield from _schema(connection)
    else:
        who = "a replica" if seen["replica"] else seen["user"]
        what = f"The schema was not compared with the declared one: {who} may not create another beside it."
        yield Problem("SCHEMA_UNCHECKED", "info", path, what, "run doctor as the owner of the database")
    if connection.run("SELECT 1 FROM workflow_activations LIMIT 1").fetchone() is None:
        what = "No workflow is loaded, so no session can be created."
        yield Problem("NO_WORKFLOW", "error", path, what, suggest("init", db=path))
    yield from maintenance.clock_problems(connection)


def _server(seen: Facts, path: str, *, is_encrypted: bool) -> Iterator[Problem]:
    """What is wrong with the server, the connection and the user."""
    user, version, encoding = seen["user"], seen["server_version"], seen["encoding"]
    if int(re.split(r"\D", version)[0]) < 14:
        what = f"The server has version {version}; 14 or later is needed."
        yield Problem("DATABASE_UNSUPPORTED", "error", path, what, "upgrade the server")
    if encoding != "UTF8":
        what = f"The database has the encoding {encoding}; texts need UTF8."
        yield Problem("ENCODING", "error", path, what, "createdb --encoding UTF8 --template template0 NAME")
    if seen["superuser"] == "on":
        what = f"{user} is a superuser, whom no right and no guard stops."
        yield Problem("SUPERUSER", "warning", user, what, "name another user in the URL: createuser NAME")
    if seen["remote"] and not is_encrypted:
        what = "The connection is not encrypted."
        yield Problem("TLS_OFF", "warning", path, what, "add sslmode=verify-full to the URL")
    if seen["replica"]:
        what = "The server is a replica, which only reads."
        yield Problem("READ_ONLY", "warning", path, what, "name the primary server in the URL to write")
    elif seen["read_only"] == "on":
        what, way = f"Transactions of {user} only read.", "ALTER ROLE NAME SET default_transaction_read_only = off"
        yield Problem("READ_ONLY", "warning", user, what, way)


def _rights(connection: Any, user: str) -> Iterator[Problem]:
    lacking = connection.run(_LACKING).fetchone()
    if lacking is not None:
        what = f"{user} may not read and write all tables ({lacking[0]}, for one), so it can record nothing."
        way = f"as the owner: GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA public TO {user}"
        yield Problem("RIGHTS", "info", user, what, way)


def _schema(connection: Any) -> Iterator[Problem]:
    for each in connection.schema_problems():
        yield Problem(each.code, "error", each.subject, each.message, each.suggestion)


def _states(connection: Any) -> Iterator[Problem]:
    connection.execute("BEGIN")
    try:
        yield from maintenance.state_problems(connection)
    finally:
        connection.rollback()
