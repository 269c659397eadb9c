"""The tests of use cases on PostgreSQL: `pytest --store postgresql`.

Where a test asks for a database in memory, or for a desk's own file, it gets one on a temporary server. All that it
does there is one transaction that is rolled back, in which its own transactions are savepoints, so that the next test
gets the same database; what is committed and who waits for whom are the matter of other tests. The statements of tests
are rendered as those of the store are.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import os
import pathlib
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from orchestrator.app import setup
from orchestrator.app.kernel import attached_evidence
from orchestrator.app.kernel.context import Context
from orchestrator.store import constants, memory, postgresql, schema, schema_script, server
from orchestrator.store.findings import Finding
from tests import forging
from tests import postgresql as servers
from tests.integration.app import desk
from tests.integration.store import ledger

_CATALOGUE = "(SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public') listed WHERE 1"
_TABLES = [table.name for table in schema.metadata.sorted_tables]


def _columns(table: str) -> list[str]:
    return [f'"{each.name}"' for each in schema.metadata.tables[table].columns if each.computed is None]


_OR = re.compile(r"\A(?:(UPDATE) OR \w+|INSERT OR (?:REPLACE|IGNORE)|REPLACE)\b")
_LOOSE = {"foreign_keys = OFF": forging.REFERENCES, "ignore_check_constraints = ON": forging.CHECKS}


class Databases:
    """The databases of a server, lent to tests: each one to one connection at a time."""

    def __init__(self, folder: pathlib.Path) -> None:
        self._folder = folder
        self._owner = servers.Connection(folder)
        self._owner.run(f"DO $$ BEGIN CREATE ROLE {servers.TEAM} LOGIN; EXCEPTION WHEN duplicate_object THEN END $$;")
        self._numbers = itertools.count(1)
        self._lent: list[tuple[str, Connection]] = []
        self._idle: dict[str, list[str]] = {}
        self._kept: dict[bytes, str] = {}
        self._given: list[tuple[str, postgresql.Connection]] = []

    def _copied(self, name: str, user: str = servers.TEAM) -> str:
        made = f"t{next(self._numbers)}"
        self._owner.run(f"CREATE DATABASE {made} TEMPLATE {name} OWNER {user};")
        return made

    def _url(self, name: str, user: str = servers.TEAM) -> str:
        return servers.address(self._folder, name, user)

    @functools.cached_property
    def bare(self) -> str:
        """The schema alone, as a database in memory has it before anything is done."""
        name = self._copied("template0")
        connection = postgresql.Connection(self._url(name), write=True, deadline_s=5.0, synchronous="NORMAL")
        connection.execute("BEGIN IMMEDIATE")
        for statement in schema_script.postgresql():
            connection.run(statement)
        connection.run("INSERT INTO alembic_version VALUES ($1)", (f"{constants.SCHEMA_VERSION:04}",))
        connection.execute("COMMIT")
        connection.close()
        return name

    @functools.cached_property
    def filled(self) -> str:
        """What a desk begins with: agents and workflow, by the desk's clock."""
        name, clock = self._copied("template0"), desk.Clock()
        server.create(self._url(name), clock(), actor="system:router")
        connection = postgresql.connect(self._url(name), write=True)
        setup.initialise(Context(connection, path="", clock=clock, door="test", channel="process", deadline_s=5.0))
        connection.close()
        return name

    def lend(self, template: str) -> Connection:
        """A connection to a database like a template."""
        idle = self._idle.setdefault(template, [])
        name = idle.pop() if idle else self._copied(template)
        made = Connection(self._url(name), write=True, deadline_s=1.0, synchronous="NORMAL")
        made.databases = self
        self._lent.append((template, made))
        made.name = name
        return made

    def give(self) -> postgresql.Connection:
        """A connection to a filled database that is nobody else's, in which everything is committed."""
        name = self._copied(self.filled)
        made = postgresql.Connection(self._url(name), write=True, deadline_s=5.0, synchronous="NORMAL")
        self._given.append((name, made))
        return made

    def keep(self, content: bytes, rows: dict[str, list[tuple[Any, ...]]]) -> None:
        """Keep the rows of a database, to be found again by its content."""
        if content in self._kept:
            return
        name = self._kept[content] = self._copied(self.bare)
        # Nothing but a superuser may leave out the guards.
        made = postgresql.Connection(self._url(name, servers.OWNER), write=True, deadline_s=1.0, synchronous="NORMAL")
        made.run("SET session_replication_role = replica")
        made.run("BEGIN")
        for table, found in rows.items():
            made.run(f"DELETE FROM {table}")
            columns = _columns(table)
            names = ", ".join(columns)
            places = ", ".join(f"${place}" for place in range(1, len(columns) + 1))
            for row in found:
                made.run(f"INSERT INTO {table} ({names}) OVERRIDING SYSTEM VALUE VALUES ({places})", row)
        made.run("COMMIT")
        made.close()

    def of(self, content: bytes | None) -> Connection:
        """A connection to a database with a content that was kept."""
        return self.lend(self.bare if content is None else self._kept[content])

    def give_back(self) -> None:
        """Take everything back that was lent; nothing was committed."""
        for template, connection in self._lent:
            connection.close()
            if not connection.is_spoilt:
                self._idle[template].append(connection.name)
        self._lent.clear()
        for name, given in self._given:
            given.close()
            self._owner.run(f"DROP DATABASE {name} WITH (FORCE);")
        self._given.clear()


class Connection(postgresql.Connection):
    """A connection in a transaction that is never committed."""

    databases: Databases
    name: str
    is_spoilt = False

    def another(self, *, write: bool) -> postgresql.Connection:
        """Another connection, which may commit: nobody else gets the database."""
        self.is_spoilt = self.is_spoilt or write
        return super().another(write=write)

    def schema_problems(self) -> Iterator[Finding]:
        """As usual; nothing is committed."""
        before = self.is_spoilt
        yield from super().schema_problems()
        self.is_spoilt = before

    def _opened(self) -> Any:
        made = super()._opened()
        made.execute(f"BEGIN; {servers.MAY_WRITE}")
        self._is_open = False
        return made

    @property
    def in_transaction(self) -> bool:
        return self._is_open

    def _switch(self, sql: str) -> postgresql.Cursor:
        if sql.startswith("BEGIN"):
            self._is_open = True
            return super().run("SAVEPOINT own")
        if sql in ("COMMIT", "ROLLBACK"):
            self._is_open = False
            return super().run("RELEASE own" if sql == "COMMIT" else "ROLLBACK TO own")
        return super().run(sql)

    def run(self, sql: str, values: Any = None, *, hides: bool = False) -> postgresql.Cursor:
        """Run a statement; one that fails outside of the test's own transactions changes nothing."""
        if self._is_open:
            return super().run(sql, values, hides=hides)
        super().run("SAVEPOINT statement")
        try:
            found = super().run(sql, values, hides=hides)
        except BaseException:
            super().run("ROLLBACK TO statement")
            raise
        super().run("RELEASE statement")
        return found

    def execute(self, sql: str, parameters: Any = ()) -> postgresql.Cursor:
        """As usual; the tables are those of the server's catalogue, and of ways around guards that only SQLite has
        the nearest is gone.
        """
        if sql.startswith("PRAGMA ") and " = " in sql:
            if kind := _LOOSE.get(sql.removeprefix("PRAGMA ")):
                forging.drop(self, kind)
            return self.run("SELECT")
        if sql.startswith("CREATE TEMP"):
            return self.run(re.sub(r"(\w)([,)])", r"\1 text\2", sql) if sql.startswith("CREATE TEMP TABLE") else sql)
        sql = _OR.sub(lambda found: found[1] or "INSERT", sql).replace(" main.", " public.")
        return super().execute(sql.replace("sqlite_master WHERE type = 'table'", _CATALOGUE), parameters)

    def serialize(self) -> bytes:
        """Every row as text, by which the same rows are found again."""
        rows = {
            table: self.run(f"SELECT {', '.join(_columns(table))} FROM {table}").fetchall()
            for table in _TABLES
        }
        content = json.dumps(rows, ensure_ascii=False, default=repr).encode("utf-8", "surrogatepass")
        self.databases.keep(content, rows)
        return content


class Shell:
    """A connection for the ledger: rows are found by name."""

    def __init__(self, connection: Connection) -> None:
        self._connection, self.judge = connection, connection.judge

    def execute(self, sql: str, values: Any = ()) -> servers.Answer:
        """Run a statement."""
        found = self._connection.execute(sql, values)
        names = [each[0] for each in found.description]
        return servers.Answer([servers.Row(dict(zip(names, row, strict=True))) for row in found.fetchall()])

    def close(self) -> None:
        """It is given back when the test is over."""


@functools.cache
def _databases() -> Databases:
    """The databases of a server that is started when the first is asked for."""
    programs = servers.programs()
    if programs is None:
        raise pytest.UsageError("no PostgreSQL server, 14 or later, is installed")
    # Nobody else is to hold a table, and many are connected at once where a test has many cases.
    settings = "-c listen_addresses= -c autovacuum=off -c max_connections=400"
    return Databases(_STACK.enter_context(servers.server(programs, settings)))


_STACK = contextlib.ExitStack()


@pytest.fixture(autouse=True)
def _given_back() -> Iterator[None]:
    before = pathlib.Path.cwd()
    yield
    os.chdir(before)
    _databases().give_back()


def _context(path: object, clock: Callable[[], str], *, shared: bool = False) -> Context:
    connection = _databases().give() if shared else _databases().lend(_databases().filled)
    return Context(connection, path=connection.path, clock=clock, door="test", channel="process", deadline_s=5.0)


def _lay(own: desk.Desk, folder: pathlib.Path, *, shared: bool = False) -> None:
    own.clock = desk.Clock()
    own.context = _context(folder, own.clock, shared=shared)
    # The project is the folder in which the program runs.
    os.chdir(attached_evidence.project_root(str(folder / "orchestrator.db")))
    # No file is there: the folder of a project is found by it, and whoever opens it is told so.
    own.path = folder / "orchestrator.db"


def pytest_configure(config: pytest.Config) -> None:
    """Let what gives tests their databases give some of the server; some tests are prepared when they are collected."""
    memory.connect = lambda content=None: _databases().of(content)  # type: ignore[assignment]
    desk.Desk.__init__ = _lay  # type: ignore[method-assign]
    desk._context = _context
    empty = ledger.empty
    ledger.empty = lambda path=":memory:": (  # type: ignore[assignment]
        Shell(_databases().of(None)) if path == ":memory:" else empty(path)
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out what is about files."""
    for item in items:
        for mark in item.iter_markers("sqlite"):
            item.add_marker(pytest.mark.skip(reason=f"about a file: {mark.args[0]}"))


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop the server."""
    _STACK.close()
