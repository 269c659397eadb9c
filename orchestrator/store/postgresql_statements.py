"""Statements on a connection of the driver, sent by the driver's own calls of libpq, with all of their rows at once.

What a cursor of the driver is for, such as rows of any shape and cancelling in parts, no statement of the store needs,
and it takes two thirds of the time of a short one. A statement that is repeated is prepared on the server.

Source: spec 90, sections 1 and 4.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence

import psycopg
from psycopg import adapt, generators, pq

from orchestrator.hints import Any

REPEATED = 5
"""After how many times a statement is prepared: whoever runs one command sends most of them once."""
MOST = 100
"""Statements that a connection has prepared at most."""
_FAILED = (pq.ExecStatus.FATAL_ERROR, pq.ExecStatus.BAD_RESPONSE)
_Key = tuple[str, tuple[int, ...]]
"""A statement and the types of its values: an absent blob has another than one that is there."""


class Rows:
    """The rows of a statement, and how many it has read or changed.

    Args:
        result: as libpq gives it; None for nothing. hides: leave out the hidden key where `*` gave it.
    """

    def __init__(self, driver: psycopg.Connection[Any], result: Any = None, hides: bool = False) -> None:
        self._result, self._hides = result, hides
        self.rowcount = -1 if result is None or result.command_tuples is None else result.command_tuples
        rows: list[tuple[Any, ...]] = []
        if result is not None and result.nfields and result.ntuples:
            values = adapt.Transformer(driver)
            values.set_pgresult(result)
            rows = values.load_rows(0, result.ntuples, tuple)
            if hides and (kept := self._kept):
                rows = [tuple([row[place] for place in kept]) for row in rows]
        self._rows = iter(rows)

    @functools.cached_property
    def description(self) -> list[tuple[str]]:
        """The name of each column, in a tuple of its own; nothing where there are no rows."""
        names = self._names
        return [(names[place],) for place in self._kept or range(len(names))]

    @functools.cached_property
    def _names(self) -> list[str]:
        if self._result is None:
            return []
        return [self._result.fname(place).decode() for place in range(self._result.nfields)]

    @functools.cached_property
    def _kept(self) -> list[int]:
        """The places of the columns that are shown; nothing where all are."""
        names = self._names
        if not self._hides or "rowid" not in names:
            return []
        return [place for place, name in enumerate(names) if name != "rowid" or place == 0]

    def fetchone(self) -> tuple[Any, ...] | None:
        """The next row, or None."""
        return next(self._rows, None)

    def fetchmany(self, size: int) -> list[tuple[Any, ...]]:
        """The next rows, so many at most."""
        return list(itertools.islice(self._rows, size))

    def fetchall(self) -> list[tuple[Any, ...]]:
        """The rows that are left."""
        return list(self._rows)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return self._rows

    def __next__(self) -> tuple[Any, ...]:
        return next(self._rows)

    def close(self) -> None:
        """Let go of the rows that are left."""
        self._rows = iter(())


class Statements:
    """What is sent on a connection of the driver.

    Args:
        driver: in autocommit mode; transactions are begun and ended by statements.
    """

    def __init__(self, driver: psycopg.Connection[Any]) -> None:
        self._driver = driver
        self._sent: dict[_Key, int] = {}
        self._prepared: dict[_Key, bytes] = {}
        self._number = 0

    def run(self, sql: str, values: Sequence[Any] | None, *, hides: bool = False, alone: bool = False) -> Rows:
        """Run a statement; without values there may be several, and the rows are those of the last.

        Args:
            values: of its placeholders `$1`, `$2`, ...
            alone: refuse a text of more than one statement.

        Raises:
            psycopg.Error: what the server or the connection says.
        """
        driver, connection = self._driver, self._driver.pgconn
        with driver.lock:
            if values:
                dumped = adapt.Transformer(driver)
                given = dumped.dump_sequence(values, [adapt.PyFormat.AUTO] * len(values))
                types = tuple(dumped.types or ())
                name = self._name(sql, types)
                if name is None:
                    connection.send_query_params(sql.encode(), given, types, dumped.formats)
                else:
                    connection.send_query_prepared(name, given, dumped.formats)
            elif alone:
                connection.send_query_params(sql.encode(), None)
            else:
                connection.send_query(sql.encode())
            return Rows(driver, self._results()[-1], hides)

    def _results(self) -> list[Any]:
        """What came of what was sent. An interrupt meanwhile cancels it on the server."""
        found: list[Any] = self._driver.wait(generators.execute(self._driver.pgconn))
        if found[-1].status in _FAILED:
            raise psycopg.errors.error_from_result(found[-1])
        return found

    def _name(self, sql: str, types: tuple[int, ...]) -> bytes | None:
        """The name of a statement that is prepared; None for one that was not sent so often yet."""
        key = sql, types
        name = self._prepared.pop(key, None)
        if name is None:
            count = self._sent[key] = self._sent.get(key, 0) + 1
            if count <= REPEATED:
                return None
            name = self._prepare(sql, types)
            del self._sent[key]
        # The one that was used last is the last to go.
        self._prepared[key] = name
        return name

    def _prepare(self, sql: str, types: tuple[int, ...]) -> bytes:
        connection = self._driver.pgconn
        if len(self._prepared) >= MOST:
            oldest = self._prepared.pop(next(iter(self._prepared)))
            connection.send_query(b"DEALLOCATE " + oldest)
            self._results()
        if len(self._sent) > 10 * MOST:
            self._sent = {}
        self._number += 1
        name = f"orchestrator_{self._number}".encode()
        connection.send_prepare(name, sql.encode(), types)
        self._results()
        return name
