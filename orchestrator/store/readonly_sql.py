"""SQL of anybody's on a connection that can only read, for a bounded time, into a bounded answer.

Three walls: the file is opened read-only with `query_only`; the statement must begin as a reading one does; and SQLite
asks the authorizer below about everything that the statement would do, inside of views too.
"""

from __future__ import annotations

import contextlib
import math
import re
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence

from orchestrator.core import names
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.suggestions import suggest
from orchestrator.errors import OrchestratorError, Refused, UsageError
from orchestrator.hints import Any
from orchestrator.store import sqlite

READING = ("SELECT", "WITH", "VALUES", "EXPLAIN", "PRAGMA")
"""How a statement may begin."""
ANSWER_LIMIT = 32 * 1024 * 1024
"""Characters of an answer; the row that passes them is its last one."""
VALUE_LIMIT = 64 * 1024 * 1024
"""Bytes of one value, also of those in between that no answer shows."""

_OTHERS = frozenset(
    "ALTER ANALYZE ATTACH BEGIN COMMIT CREATE DELETE DETACH DROP END INSERT REINDEX RELEASE REPLACE ROLLBACK SAVEPOINT"
    " UPDATE VACUUM".split()
)
"""How SQLite's other statements begin."""
_START = re.compile(r"(?:\s|--[^\n]*(?:\n|\Z)|/\*.*?(?:\*/|\Z))*([^\W\d]\w*|.)?", re.DOTALL)
_STEPS_BETWEEN_LOOKS = 2000
"""Instructions of SQLite's machine between two looks at the clock: well below a millisecond."""
_OPEN_PRAGMAS = frozenset(
    "application_id collation_list compile_options encoding foreign_key_list freelist_count function_list index_info"
    " index_list index_xinfo page_count page_size pragma_list schema_version table_info table_list table_xinfo"
    " user_version".split()
)
"""Pragmas that only tell something."""
_WITH_ARGUMENT = frozenset(
    "foreign_key_list index_info index_list index_xinfo table_info table_list table_xinfo".split()
)
"""Those of them whose argument is a name, and not a new value."""
_TABLE_FUNCTIONS = ("json_each", "json_tree", *(f"pragma_{name}" for name in sorted(_OPEN_PRAGMAS)))
_CLOSED_FUNCTIONS = frozenset(("load_extension", "readfile", "writefile", "edit", "fts3_tokenizer"))
_ACTS = {
    sqlite3.SQLITE_INSERT: "insert into",
    sqlite3.SQLITE_UPDATE: "update",
    sqlite3.SQLITE_DELETE: "delete from",
    sqlite3.SQLITE_ATTACH: "attach",
    sqlite3.SQLITE_DETACH: "detach",
    sqlite3.SQLITE_PRAGMA: "set or use the pragma",
    sqlite3.SQLITE_FUNCTION: "call",
}
_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: VALUE_LIMIT,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 1_000_000,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
}
_NEAR = re.compile(
    r'(?:near|unrecognized token:) "(?P<token>.*)"(?:: syntax error)?|'
    r"(?:no such (?:table|column|function|index)|ambiguous column name|wrong number of arguments to function"
    r'|no such table-valued function|misuse of aggregate|misuse of window function):? (?P<name>[^\s()]+).*',
    re.DOTALL,
)
_PLACES_TRIED = 50
_MESSAGE_LENGTH = 300


class Found(NamedTuple):
    """What a statement answers: the names of its columns, its rows, and whether it has more of them."""

    columns: list[str]
    rows: list[list[Any]]
    has_more: bool


def ask(path: str, sql: str, *, limit: int, timeout_s: float, deadline_s: float = sqlite.DEADLINE_S) -> Found:
    """Run one reading statement on a connection of its own.

    Whole numbers and texts come as they are; bytes as hexadecimal digits; a fraction as the number that it is, an
    infinite one as the text `Infinity` or `-Infinity` (SQLite has no NaN: it is null); of texts that are no UTF-8 the
    odd bytes as `\\xNN`.

    Args:
        path: the database file.
        sql: one statement.
        limit: rows at most; the answer also ends with the row that passes `ANSWER_LIMIT`.
        timeout_s: seconds that the statement may take.
        deadline_s: seconds to wait while another process holds the file.

    Raises:
        Refused: NOT_PERMITTED, it would do something else than read.
        UsageError: SQL_INVALID, it is none; QUERY_TIMEOUT.
        EnvironmentProblem: as `sqlite.connect`.
    """
    check_start(sql)
    connection = sqlite.connect(path, write=False, deadline=deadline_s)
    try:
        return _Question(connection, sql, timeout_s, deadline_s).answer(limit)
    finally:
        connection.close()


class _Question:
    """One statement on one connection: what was denied to it, and when its time is over."""

    def __init__(self, connection: sqlite.Connection, sql: str, timeout_s: float, deadline_s: float) -> None:
        self._connection = connection
        self._sql = sql
        self._timeout_s = timeout_s
        self._deadline_s = deadline_s
        self._denied: str | None = None
        self._late = False

    def answer(self, limit: int) -> Found:
        connection = self._connection
        connection.text_factory = _text
        for name, most in _LIMITS.items():
            connection.setlimit(name, most)
        self._declare_tables()
        connection.set_authorizer(self._authorize)
        until = time.monotonic() + self._timeout_s
        connection.set_progress_handler(lambda: self._over(until), _STEPS_BETWEEN_LOOKS)
        try:
            cursor = sqlite.retry(lambda: connection.execute(self._sql), connection.path, self._deadline_s)
            if cursor.description is None:
                raise invalid("there is no statement in it")
            columns = [str(column[0]) for column in cursor.description]
            return Found(columns, *taken(cursor, limit))
        except (sqlite3.Error, sqlite3.Warning, MemoryError) as error:
            raise self._explained(error) from None

    def _declare_tables(self) -> None:
        """SQLite declares the tables of its functions at their first use, which looks like a change of the schema."""
        asked = self._sql.lower()
        for name in _TABLE_FUNCTIONS:
            if name in asked:
                with contextlib.suppress(sqlite3.Error):
                    self._connection.execute(f"SELECT 1 FROM {name} LIMIT 0").close()

    def _over(self, until: float) -> bool:
        """Whether to stop. Whatever is raised in here SQLite would swallow."""
        self._late = time.monotonic() > until
        return self._late

    def _authorize(self, act: int, first: str | None, second: str | None, *_: str | None) -> int:
        if _is_open(act, first, second):
            return sqlite3.SQLITE_OK
        what = second if act == sqlite3.SQLITE_FUNCTION else first
        self._denied = self._denied or f"{_ACTS.get(act, 'change')} {what or 'the database'}"
        return sqlite3.SQLITE_DENY

    def _explained(self, error: BaseException) -> BaseException:
        if self._denied is not None:
            return not_permitted(f"this would {self._denied}")
        if isinstance(error, MemoryError):
            return invalid("it needs more memory than available")
        if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_INTERRUPT:
            return timeout(self._timeout_s) if self._late else KeyboardInterrupt()
        known = sqlite.translate(error, self._connection.path) if isinstance(error, sqlite3.Error) else None
        return known or self._wrong(str(error))

    def _wrong(self, message: str) -> OrchestratorError:
        if "one statement at a time" in message:
            return invalid("it holds more than one statement")
        if "bindings" in message or "binding" in message:
            return invalid("it has parameters, but no values were given")
        place = self._place(message)
        where = f", at character {place + 1}" if place is not None else ""
        return invalid(message[:_MESSAGE_LENGTH] + where)

    def _place(self, message: str) -> int | None:
        """Where the text stands that SQLite complains of; None where that cannot be told."""
        found = _NEAR.fullmatch(message)
        if found is None:
            return None
        token = found["token"] or found["name"].rpartition(".")[2]
        places = list(_places(self._sql, token))
        if len(places) < 2 or found["token"] is None:
            return places[0] if len(places) == 1 else None
        return next((place for place in places if self._is_wrong_up_to(place + len(token), message)), None)

    def _is_wrong_up_to(self, end: int, message: str) -> bool:
        """Whether the beginning of the statement is wrong in the same way; it is only prepared."""
        try:
            self._connection.execute(f"EXPLAIN {self._sql[:end]}").close()
        except (sqlite3.Error, sqlite3.Warning) as error:
            return str(error) == message
        return False


def check_start(sql: str, reading: Sequence[str] = READING) -> str:
    """The word that a text begins with, which has to be that of a statement that reads.

    Args:
        reading: how it may begin.

    Raises:
        Refused: NOT_PERMITTED, it does something else. UsageError: SQL_INVALID.
    """
    found = _START.match(sql)
    word = (found[1] if found else None) or ""
    if word.upper() in reading:
        return word.upper()
    if word.upper() in _OTHERS:
        raise not_permitted(f"only {', '.join(reading)} are allowed, not {word.upper()}")
    if not word:
        raise invalid("there is no statement in it")
    near = names.nearest(word, reading)
    hint = f"; did you mean {near}?" if near else ""
    raise invalid(f"it begins with {names.shown(word)}, not with {' or '.join(reading)}{hint}", near)


def _is_open(act: int, first: str | None, second: str | None) -> bool:
    if act == sqlite3.SQLITE_PRAGMA:
        name = (first or "").lower()
        return name in _OPEN_PRAGMAS and (second is None or name in _WITH_ARGUMENT)
    if act == sqlite3.SQLITE_FUNCTION:
        return (second or "").lower() not in _CLOSED_FUNCTIONS
    return act in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE)


def taken(cursor: Iterable[Sequence[Any]], limit: int) -> tuple[list[list[Any]], bool]:
    """Rows as they are answered, so many at most, and whether there are more."""
    rows: list[list[Any]] = []
    size = 0
    for row in cursor:
        if len(rows) == limit or size > ANSWER_LIMIT:
            return rows, True
        rows.append([_value(each) for each in row])
        size += sum(len(each) if isinstance(each, str) else 8 for each in rows[-1])
    return rows, False


def _value(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, float) and math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value


def _text(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")


def _places(sql: str, token: str) -> Iterator[int]:
    """Where a token stands as a word of its own, the first few times."""
    edges = (r"(?<!\w)" if token[:1].isalnum() else "", r"(?!\w)" if token[-1:].isalnum() else "")
    words = re.finditer(f"{edges[0]}{re.escape(token)}{edges[1]}", sql) if token else iter(())
    return (match.start() for match, _ in zip(words, range(_PLACES_TRIED), strict=False))


def not_permitted(why: str) -> Refused:
    """A statement would do something else than read."""
    message = f"Queries are read-only: {why[:_MESSAGE_LENGTH]}."
    return Refused("NOT_PERMITTED", message, suggest("audit query", help=True))


def invalid(why: str, near: str | None = None) -> UsageError:
    """A text is no statement that can be run; `near` is a word that may have been meant."""
    example = suggest("audit query", sql="SELECT name, sql FROM sqlite_master")
    more = {"did_you_mean": near} if near else {}
    return UsageError("SQL_INVALID", f"The SQL cannot be run: {why}{'' if why.endswith('?') else '.'}", example, **more)


def timeout(seconds: float) -> UsageError:
    """A statement has taken longer than it may."""
    message = f"The query was stopped after {seconds:g} s."
    return UsageError("QUERY_TIMEOUT", message, "Narrow the query, or repeat with a longer --timeout")
