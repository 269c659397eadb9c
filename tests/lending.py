"""Databases in memory that are lent to one test after the other.

A connection that is opened anew reads a schema of hundreds of triggers and translates each statement with those that it
sets off, which takes five times as long as most tests. So a connection is kept: all that a test does is one transaction
that is rolled back, in which the test's own transactions are savepoints. What cannot be done in a transaction, or would
outlive it, ends the loan, and the test goes on with a database of its own; so does whoever still holds the connection
when the test is over.

What is committed and who waits for whom are the matter of tests with files.
"""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable, Generator
from typing import Any, Literal

import pytest

from orchestrator.store import memory, sqlite

_WHO_LENDS = 3
"""References of whoever lends: the list of those lent, the loop over it, and the argument of the count."""
_TEMPLATES = 20
"""As many contents are kept ready."""
_BY_ITSELF = ("VACUUM", "ATTACH", "DETACH")


class Connection(sqlite.Connection):
    """A connection in a transaction that is never committed, as long as it is lent."""

    is_lent = False
    own_references = 0
    """References of its own parts, such as its cache of statements."""
    _is_open = False
    _is_spoilt = False

    def begin_loan(self) -> None:
        """Begin what is rolled back at the end."""
        super().execute("BEGIN IMMEDIATE")
        self.is_lent, self._is_open, self._is_spoilt = True, False, False

    def end_loan(self) -> None:
        """Be an ordinary connection from now on, with all that was done; within a transaction, after the test."""
        self._is_spoilt = True
        if self.is_lent and not self._is_open:
            self.is_lent = False
            super().execute("COMMIT")

    def taken_back(self) -> bool:
        """Whether all that was done could be undone."""
        if self._is_spoilt or not super().in_transaction:
            return False
        super().execute("ROLLBACK")
        self.path, self.is_lent = ":memory:", False
        return True

    @property
    def in_transaction(self) -> bool:
        """Whether the test has begun one."""
        return self._is_open if self.is_lent else super().in_transaction

    def execute(self, sql: str, /, *parameters: Any) -> sqlite3.Cursor:
        """Run a statement; transactions are savepoints."""
        if not self.is_lent:
            return super().execute(sql, *parameters)
        if sql.startswith("BEGIN") and not self._is_open:
            found = super().execute("SAVEPOINT own")
            self._is_open = True
            return found
        if sql in ("COMMIT", "ROLLBACK"):
            if not self._is_open:
                raise sqlite3.OperationalError(f"cannot {sql.lower()} - no transaction is active")
            if sql == "ROLLBACK":
                super().execute("ROLLBACK TO own")
            found = super().execute("RELEASE own")
            self._is_open = False
            return found
        if (sql.startswith("PRAGMA") and "=" in sql) or sql.startswith(_BY_ITSELF):
            self.end_loan()
        return super().execute(sql, *parameters)

    def commit(self) -> None:
        """Commit the test's transaction."""
        if not self.is_lent:
            super().commit()
        elif self._is_open:
            self.execute("COMMIT")

    def rollback(self) -> None:
        """Roll the test's transaction back."""
        if not self.is_lent:
            super().rollback()
        elif self._is_open:
            self.execute("ROLLBACK")

    def __exit__(self, *fault: Any) -> Literal[False]:
        """Commit or roll back the test's transaction, where it has begun one."""
        if not self.is_lent:
            return super().__exit__(*fault)
        if self._is_open:
            self.execute("COMMIT" if fault[0] is None else "ROLLBACK")
        return False


def _ending(name: str) -> Callable[..., Any]:
    method = getattr(sqlite3.Connection, name)

    def call(self: Connection, *words: Any, **named: Any) -> Any:
        self.end_loan()
        return method(self, *words, **named)

    return call


for _name in (
    "backup", "blobopen", "close", "create_aggregate", "create_collation", "create_function", "create_window_function",
    "cursor", "deserialize", "executescript", "interrupt", "iterdump", "serialize",
    "set_authorizer", "set_progress_handler", "set_trace_callback", "setlimit",
):  # fmt: skip
    setattr(Connection, _name, _ending(_name))


def _opened(content: bytes) -> Connection:
    made = memory._open(content, Connection)
    made.own_references = sys.getrefcount(made) - 2
    return made


class Lender:
    """A plugin that lends connections while a test runs, but not to what outlives it."""

    def __init__(self) -> None:
        self._is_open = False
        self._lent: list[tuple[bytes, Connection]] = []
        self._idle: dict[bytes, list[Connection]] = {}
        self._open = memory.connect

    def pytest_configure(self) -> None:
        """Give tests connections that are lent."""
        memory.connect = self.connect  # type: ignore[assignment]

    def pytest_unconfigure(self) -> None:
        """Leave everything as it was."""
        memory.connect = self._open

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self) -> Generator[None, object, object]:
        """Lend while a test runs, and take back what it had."""
        self._is_open = True
        try:
            return (yield)
        finally:
            self._is_open = False
            self._take_back()

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[object]) -> Generator[None, object, object]:
        """Lend nothing to a fixture that is there for more than one test."""
        before = self._is_open
        self._is_open = before and fixturedef.scope == "function"
        try:
            return (yield)
        finally:
            self._is_open = before

    def connect(self, content: bytes | None = None) -> sqlite.Connection:
        """A connection to a database in memory with this content."""
        if not self._is_open:
            return self._open(content)
        content = content or memory._template()
        if content not in self._idle:
            if len(self._idle) == _TEMPLATES:
                del self._idle[next(iter(self._idle))]
            self._idle[content] = []
        idle = self._idle[content]
        connection = idle.pop() if idle else _opened(content)
        connection.begin_loan()
        self._lent.append((content, connection))
        return connection

    def _take_back(self) -> None:
        lent, self._lent = self._lent, []
        for content, connection in lent:
            if sys.getrefcount(connection) > connection.own_references + _WHO_LENDS:
                connection.end_loan()
            elif connection.taken_back():
                self._idle.get(content, []).append(connection)
