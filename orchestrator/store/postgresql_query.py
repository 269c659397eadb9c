"""SQL of anybody's on a server, which can only read, for a bounded time, into a bounded answer.

Four walls: the transaction is READ ONLY, one statement alone is sent, it must begin as a reading one does, and every
function that it names must be one that the server knows to change nothing (IMMUTABLE or STABLE). The last is needed
since a server's functions act outside of transactions, such as `pg_terminate_backend`.

Source: spec 50, section 3; spec 90, section 1.
"""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Iterator

from orchestrator.core import names
from orchestrator.errors import EnvironmentProblem
from orchestrator.hints import Any
from orchestrator.store import readonly_sql

READING = ("SELECT", "WITH", "VALUES", "EXPLAIN")
"""How a statement may begin."""
_PART = 100
"""Rows that are fetched at once."""
# As the server reads it, but for what is refused below: other strings end where they seem to.
_TOKEN = re.compile(
    r"""(?P<space>\s+|--[^\n\r]*)
    |(?P<comment>/\*)
    |(?P<refused>[eE]'|[uU]&['"])
    |(?P<dollar>\$(?P<tag>(?:[^\W\d]\w*)?)\$.*?\$(?P=tag)\$)
    |(?P<parameter>\$\d)
    |(?P<text>'(?:[^']|'')*')
    |(?P<name>"(?:[^"]|"")*"|[^\W\d][\w$]*)
    |(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_COMMENT = re.compile(r"/\*|\*/")
_ACTING = "SELECT DISTINCT proname::text FROM pg_proc WHERE provolatile = 'v' AND proname = ANY($1::text[]) ORDER BY 1"


def ask(connection: Any, sql: str, *, limit: int, timeout_s: float) -> readonly_sql.Found:
    """Run one reading statement on a connection of its own.

    Values are given as `readonly_sql.ask` gives them; those of types that SQLite lacks as the server writes them.

    Args:
        connection: a `postgresql.Connection` to the database.
        limit: rows at most; the answer also ends with the row that passes `readonly_sql.ANSWER_LIMIT`.
        timeout_s: seconds that the statement may take.

    Raises:
        Refused: NOT_PERMITTED, it would do something else than read.
        UsageError: SQL_INVALID, it is none; QUERY_TIMEOUT.
        EnvironmentProblem: as `postgresql.connect`.
    """
    word = readonly_sql.check_start(sql, READING)
    called = sorted(_called(sql))
    own = connection.another(write=False)
    try:
        own.show_every_type()
        own.execute("BEGIN")
        acting = own.run(_ACTING, (_array(called),)).fetchall()
        if acting:
            raise readonly_sql.not_permitted(f"this would call {names.shown(acting[0][0])}")
        return _answer(own, word, sql, limit, timeout_s)
    finally:
        own.rollback()
        own.close()


def _answer(connection: Any, word: str, sql: str, limit: int, timeout_s: float) -> readonly_sql.Found:
    until = time.monotonic() + timeout_s
    connection.run("SET LOCAL standard_conforming_strings = on")
    try:
        _bound(connection, until)
        if word == "EXPLAIN":
            cursor = connection.run(sql, alone=True)
            rows: Any = cursor
        else:
            connection.run(f"DECLARE asked NO SCROLL CURSOR FOR {sql}", alone=True)
            cursor = connection.run("FETCH 0 FROM asked")
            rows = _fetched(connection, until)
        columns = [str(name) for (name,) in cursor.description]
        return readonly_sql.Found(columns, *readonly_sql.taken(rows, limit))
    except sqlite3.Error as error:
        raise _wrong(str(error)) from None
    except EnvironmentProblem as problem:
        # Of these the first is the end of its time, the second a statement that writes.
        if problem.code == "BUSY" and time.monotonic() >= until:
            raise readonly_sql.timeout(timeout_s) from None
        if problem.code == "READ_ONLY" and "only read" in problem.message:
            raise readonly_sql.not_permitted("this would write") from None
        raise


def _bound(connection: Any, until: float) -> None:
    """Let the next statement take what is left of the time."""
    connection.run(f"SET LOCAL statement_timeout = {max(1, int((until - time.monotonic()) * 1000))}")


def _fetched(connection: Any, until: float) -> Iterator[Any]:
    while True:
        _bound(connection, until)
        part = connection.run(f"FETCH {_PART} FROM asked").fetchall()
        yield from part
        if len(part) < _PART:
            return


def _wrong(said: str) -> Exception:
    if "multiple commands" in said:
        return readonly_sql.invalid("it holds more than one statement")
    return readonly_sql.invalid(said)


def _called(sql: str) -> set[str]:
    """The names before an opening bracket, which functions have, and some words that are none."""
    found, last = set[str](), None
    for name in _names(sql):
        if name == "(" and last is not None:
            found.add(last[1:-1].replace('""', '"') if last.startswith('"') else last.lower())
        last = None if name in ("(", "") else name
    return found


def _names(sql: str) -> Iterator[str]:
    """The names of a statement and its opening brackets; all else between them is told as an empty text."""
    place = 0
    while place < len(sql):
        match = _TOKEN.match(sql, place)
        assert match is not None  # noqa: S101 - any character is a token
        kind, place = str(match.lastgroup), match.end()
        if kind == "refused":
            raise readonly_sql.not_permitted("strings with escapes (E'...', U&'...') cannot be looked through")
        if kind == "parameter":
            raise readonly_sql.invalid("it has parameters, but no values were given")
        if kind == "comment":
            place = _end_of_comment(sql, place)
        elif kind == "name":
            yield match[0]
        elif kind != "space":
            yield "(" if match[0] == "(" else ""


def _end_of_comment(sql: str, place: int) -> int:
    """The place behind a comment, in which others may be."""
    depth = 1
    while depth:
        found = _COMMENT.search(sql, place)
        if found is None:
            raise readonly_sql.invalid("a comment does not end")
        depth, place = depth + (1 if found[0] == "/*" else -1), found.end()
    return place


def _array(texts: list[str]) -> str:
    """Texts as the server reads an array."""
    quoted = (each.replace("\\", "\\\\").replace('"', '\\"') for each in texts)
    return "{" + ",".join(f'"{each}"' for each in quoted) + "}"
