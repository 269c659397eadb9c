"""One use case is one transaction, one audit event and one number in one chain.

A step collects the rows that it inserts into one digest per table; the event that seals it carries the digests and
the hash of the event before it.
"""

from __future__ import annotations

import re
import sqlite3
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from orchestrator import errors
from orchestrator.core import canonical_json, clock_jumps, sha256
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.hints import TYPE_CHECKING, Any
from orchestrator.store import problems, sqlite
from orchestrator.store.constants import STORE_CHAIN
from orchestrator.store.table_metadata import (
    COLUMNS,
    KEYS,
    NO_SESSION,
    OF_SESSION,
    STORED_AS,
    STORED_WITH,
    column_names,
    packed,
)

if TYPE_CHECKING:
    from hashlib import _Hash

Value = str | int | bytes | None

FIRST_HASH = bytes(32)
"""What stands for the hash of the event before the first."""

STATE = "state"
"""The member of an event's `rows` with the digests of rows that may change: by table, by key."""

# Nearly every step reads its session: one look for both (CLI-8).
_LAST = f"""SELECT e.seq, e.hash, e.at, CASE WHEN s.id IS NOT NULL THEN {packed(column_names("sessions"), "s.")} END
    FROM audit_events e LEFT JOIN sessions s ON s.id = e.session_id
    WHERE e.session_id = ? ORDER BY e.seq DESC LIMIT 1"""
_LAST_OF_STORE = "SELECT seq, hash, at, NULL FROM audit_events WHERE session_id = ? ORDER BY seq DESC LIMIT 1"
_NEWEST = "SELECT at FROM audit_events ORDER BY rowid DESC LIMIT 1"
LAST_EVENT = "SELECT seq, hash FROM audit_events WHERE session_id = ? ORDER BY seq DESC LIMIT 1"

_NO_EVENT = (0, FIRST_HASH, None, None)
EVENT = "INSERT INTO audit_events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
"""The statement that seals a step."""

_PLAIN = frozenset((str, int, bytes, type(None)))

_TEXT = frozenset((str,))
_EXACT = frozenset((str, int, bool, type(None)))

_FILLED = ("session_id", "seq", "part")
_UPDATES: dict[tuple[str, ...], str] = {}


class _Table(NamedTuple):
    insert: str
    row: dict[str, Value]
    """A row of nothing but defaults: every column, in the order in which they are stored."""
    own: tuple[str, ...]
    """The columns that a step fills in."""
    places: dict[str, int]
    select: str
    covered: int
    """How many of the columns are the row's own; those behind are covered by the row of another table."""


class _Event(NamedTuple):
    """The columns of an audit event, in the order of the declared schema."""

    session_id: str
    seq: int
    kind: str
    actor: str
    channel: str
    at: str
    input: str
    rows: str
    prev_hash: bytes
    hash: bytes


_TABLES: dict[str, _Table] = {}


class Step:
    """An open transaction on one chain; `open_step` makes it, `seal` ends it.

    Attributes:
        chain: the session's id, or the chain of the store.
        at: the time of the step, taken in once, UTC.
        seq: this step's number in its chain.
        prev_hash: the hash of the event before it.
    """

    def __init__(
        self, connection: sqlite3.Connection, chain: str, at: str, deadline_s: float = sqlite.DEADLINE_S
    ) -> None:
        self.chain = chain
        self.at = at
        self._connection = connection
        self._deadline_s = deadline_s
        self._digests: dict[str, _Hash] = {}
        self._known: dict[str, dict[tuple[Value, ...], list[Value]]] = {}
        self._changed: dict[str, dict[tuple[Value, ...], None]] = {}
        self._held: dict[str, Value] = {}
        self._holds: tuple[str, tuple[Value, ...]] | None = None
        self._counts: dict[str, int] = {}
        self.sealed = False
        sql = _LAST_OF_STORE if chain == STORE_CHAIN else _LAST
        seq, prev_hash, at_last, session = connection.execute(sql, (chain,)).fetchone() or _NO_EVENT
        self.seq: int = seq + 1
        self.prev_hash: bytes = prev_hash
        self._last_at: str | None = at_last
        if session is not None:
            self.know("sessions", (chain,), canonical_json.values(session))
        self._own: dict[str, Value] = {"session_id": chain, "seq": self.seq}
        """What rows of this step have without being given it."""

    def insert(self, table: str, /, **columns: Value) -> int:
        """Write one row; `session_id`, `seq` and `part` are filled in.

        Returns:
            The row's number among the rows of that table in this step: its part, where the table has one.

        Raises:
            TypeError: a float, or another value that no column holds; a column that the table has not.
            IntegrityError: a guard or constraint refused the row.
            EnvironmentProblem: CORRUPT, the row was not written: a foreign trigger skipped it.
        """
        known = _TABLES.get(table) or _table(table)
        part = self._counts.get(table, 0) + 1
        given, values = self._filled(known, part, columns)
        if not _PLAIN.issuperset(map(type, values)):
            values = _plain(tuple(given), values)
        if len(values) > len(known.row):
            raise TypeError(f"{table} has no column {', '.join(sorted(columns.keys() - known.row.keys()))}")
        if self._connection.execute(known.insert, values).rowcount != 1:
            raise self._skipped(f"a row of {table}")
        self._counts[table] = part
        keys = KEYS.get(table)
        if keys is not None:
            key = tuple([given[name] for name in keys])
            self._known.setdefault(table, {})[key] = values
            self._changed.setdefault(table, {})[key] = None
            return part
        self.cover(table, values if known.covered == len(values) else values[: known.covered])
        return part

    def _filled(
        self, table: _Table, part: int, columns: Mapping[str, Value]
    ) -> tuple[dict[str, Value], list[Value]]:
        """A row with what the step fills in, by name and in the order in which it is stored."""
        row, own = table.row.copy(), self._own
        own["part"] = part
        for name in table.own:
            row[name] = own[name]
        row.update(columns)
        return row, list(row.values())

    def cover(self, table: str, values: Sequence[Value]) -> None:
        """Take a row into what the event covers, for one that is stored with the next row of another table.

        Args:
            table: the name under which it is read.
            values: the values of all its columns, in the order of the declared schema.
        """
        line, digest = row_line(values), self._digests.get(table)
        if digest is None:
            self._digests[table] = sha256.new(line)
        else:
            digest.update(line)

    def update(self, table: str, key: tuple[Value, ...], values: Mapping[str, Value], *, hold: bool = False) -> None:
        """Change columns of one row; their names come from the code, never from a caller.

        Args:
            table: one of those whose rows may change.
            key: the row's key, as `rows.KEYS` has it.
            values: the columns to set.
            hold: more may follow for the same row, so that one statement can do for both. Until then, or until
                `flush`, the row is read as it was.

        Raises:
            IntegrityError: a guard or constraint refused the change.
            EnvironmentProblem: CORRUPT, the row was not changed: a foreign trigger skipped it.
        """
        if self._holds is not None:
            if self._holds == (table, key):
                values = {**self._held, **values}
            else:
                self.flush()
        if hold:
            self._holds, self._held = (table, key), dict(values)
            return
        self._holds = None
        names = (table, *values)
        sql = _UPDATES.get(names) or _update(names)
        if not _PLAIN.issuperset(map(type, values.values())):
            values = dict(zip(values, _plain(tuple(values), list(values.values())), strict=True))
        if self._connection.execute(sql, (*values.values(), *self._key(table, key))).rowcount != 1:
            raise self._skipped(f"a row of {table}")
        self._changed.setdefault(table, {})[key] = None
        known = self._known.get(table)
        if known is not None and key in known:
            row, places = known[key], _TABLES[table].places
            for name, value in values.items():
                row[places[name]] = value

    def row(self, table: str, key: tuple[Value, ...]) -> Sequence[Value] | None:
        """A row that may change as it is now, its own changes included, or None; it is read once in a step.

        Args:
            table: one of those whose rows may change.
            key: the row's key, as `rows.KEYS` has it.

        Returns:
            The values of all columns, in the order of the declared schema.
        """
        known = self._known.setdefault(table, {})
        row = known.get(key)
        if row is None:
            select = (_TABLES.get(table) or _table(table)).select
            found = self._connection.execute(select, self._key(table, key)).fetchone()
            if found is None:
                return None
            row = known[key] = list(found)
        return row

    def know(self, table: str, key: tuple[Value, ...], row: list[Value]) -> None:
        """Take in a row that was read in this step, before it was changed, so that `row` need not; it is the step's."""
        self._known.setdefault(table, {})[key] = row

    def _key(self, table: str, key: tuple[Value, ...]) -> tuple[Value, ...]:
        return (self.chain, *key) if table in OF_SESSION else key

    @contextmanager
    def tried(self, *rows: tuple[str, Mapping[str, Value]]) -> Iterator[None]:
        """Let rows stand while the block reads, and take them back: to see what they would lead to.

        Args:
            rows: a table and the columns of each; they are the first of their tables in this step.

        Raises:
            EnvironmentProblem: CORRUPT, a foreign trigger skipped a row.
        """
        self.flush()
        self._connection.execute("SAVEPOINT tried")
        try:
            for part, (table, columns) in enumerate(rows, start=1):
                known = _TABLES.get(table) or _table(table)
                _, values = self._filled(known, 1 if table == rows[0][0] else part - 1, columns)
                if self._connection.execute(known.insert, values).rowcount != 1:
                    raise self._skipped(f"a row of {table}")
            yield
        finally:
            self._connection.execute("ROLLBACK TO tried")
            self._connection.execute("RELEASE tried")

    def flush(self) -> None:
        """Write what is held back, before something reads it."""
        if self._holds is not None:
            table, key = self._holds
            self.update(table, key, {})

    def count(self, table: str) -> int:
        """How many rows of the table this step has written so far."""
        return self._counts.get(table, 0)

    def execute(self, sql: str, parameters: Mapping[str, Value]) -> sqlite3.Cursor:
        """Run a statement that changes no row which an event covers: on the schema, or on the migrations' mark.

        Raises:
            EnvironmentProblem: CORRUPT, a statement that writes rows wrote none: a foreign trigger skipped them.
        """
        cursor = self._connection.execute(sql, parameters)
        if cursor.rowcount == 0:
            raise self._skipped(f"what '{sql}' writes")
        return cursor

    def seal(self, kind: str, actor: str, channel: str, input: Mapping[str, object]) -> bytes:
        """Write the step's event and commit.

        Args:
            kind: what was done, such as `route`.
            actor: who did it.
            channel: the door it came through.
            input: everything that was taken in, as JSON without floats.

        Returns:
            The event's hash: the new head of the chain.

        Raises:
            TypeError: the input holds a float or something that JSON has no form for.
            EnvironmentProblem: BUSY, where a rollback journal has to wait for readers.
        """
        check_exact(input)
        self.flush()
        rows = canonical_json.exact(self._covered())
        fields = (self.chain, self.seq, kind, actor, channel, self.at, _storable(canonical_json.exact(input)), rows)
        digest = event_hash(self.prev_hash, fields)
        connection = self._connection
        if connection.execute(EVENT, (*fields, self.prev_hash, digest)).rowcount != 1:
            raise self._skipped("a row of audit_events")
        sqlite.retry(lambda: connection.execute("COMMIT"), getattr(connection, "path", ""), self._deadline_s)
        self.sealed = True
        seen = getattr(connection, "seen", None)
        if seen is not None:
            seen.note(self.chain, self.seq, digest, self.at)
        return digest

    def _skipped(self, what: str) -> errors.EnvironmentProblem:
        """CORRUPT: not one row was written, as a foreign trigger can skip it without an error."""
        return problems.skipped(getattr(self._connection, "path", ""), what)

    def _covered(self) -> dict[str, object]:
        """The digests of the rows that this step wrote."""
        found: dict[str, object] = {table: digest.hexdigest() for table, digest in self._digests.items()}
        if self._changed:
            found[STATE] = {
                table: {state_key(key): self._state(table, key) for key in keys}
                for table, keys in self._changed.items()
            }
        return found

    def _state(self, table: str, key: tuple[Value, ...]) -> str:
        row = self.row(table, key)
        assert row is not None  # noqa: S101 - the step wrote the row, and none is ever deleted
        return sha256.new(row_line(row)).hexdigest()

    def clock_warning(self) -> str | None:
        """That this step's clock is a day or more away from the newest step before it; asked before it is sealed."""
        last = self._last_at
        if last is not None and last[:10] == self.at[:10]:
            return None
        # A session may have slept for days while others went on (STO-10).
        newest = self._connection.execute(_NEWEST).fetchone()
        if newest is None:
            return None
        return clock_jumps.warning(self.at, max(newest[0], last or ""))

    def rollback(self) -> None:
        """Leave nothing of the step. After an error SQLite may have done so already."""
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")


@contextmanager
def open_step(
    connection: sqlite3.Connection, chain: str, at: str, deadline_s: float = sqlite.DEADLINE_S
) -> Iterator[Step]:
    """Begin a step; what is not sealed by the end of the block is rolled back.

    Args:
        connection: a writing connection.
        chain: the session's id, or the chain of the store.
        at: the time of the step, UTC, ISO 8601 with microseconds and `Z`.
        deadline_s: seconds to wait for the write lock.

    Raises:
        EnvironmentProblem: BUSY, READ_ONLY, DISK_FULL, CORRUPT or NO_DATABASE.
    """
    step: Step | None = None
    try:
        sqlite.begin_immediate(connection, deadline_s)
        lock = getattr(connection, "lock", None)
        if lock is not None:
            # A server has no lock of the whole database: a step takes that of its chain.
            lock(chain, deadline_s)
        step = Step(connection, chain, at, deadline_s)
        yield step
    except sqlite3.Error as error:
        problem = sqlite.translate(error, getattr(connection, "path", ""))
        if problem is None:
            raise
        raise problem from error
    finally:
        if connection.in_transaction and (step is None or not step.sealed):
            connection.execute("ROLLBACK")


def state_key(key: tuple[Value, ...]) -> str:
    """The name of a row among the states of its table: its key, as JSON where it has more than one column."""
    return str(key[0]) if len(key) == 1 else canonical_json.exact(key)


def row_line(values: Sequence[Value]) -> bytes:
    """The line of a row in its table's digest: its values as JSON, in the order of the columns.

    Nulls at the end are left out, so that a column added later changes no digest of an older row.
    """
    last = len(values)
    while last and values[last - 1] is None:
        last -= 1
    return canonical_json.line(values[:last])


def event_hash(prev_hash: bytes, fields: tuple[str | int, ...]) -> bytes:
    """The hash of an event: over the hash before it and its first eight columns, as stored."""
    return sha256.new(prev_hash + canonical_json.exact(fields).encode()).digest()


def verify_event(row: tuple[Any, ...]) -> bool:
    """Whether an event's stored hash is the hash of what it holds.

    Args:
        row: all columns of `audit_events`, in the order of the declared schema.
    """
    event = _Event(*row)
    return bool(event_hash(event.prev_hash, row[:8]) == event.hash)


def check_exact(value: object) -> None:
    """Refuse what has no exact text in JSON.

    Raises:
        TypeError: a float, bytes, or a key that is no text, anywhere in the value.
    """
    if value is None or isinstance(value, (str, int)):
        return
    if isinstance(value, dict):
        if _EXACT.issuperset(map(type, value.values())) and _TEXT.issuperset(map(type, value)):
            return
        for key, member in value.items():
            if not isinstance(key, str):
                raise TypeError(f"hashed JSON has text keys only, not {key!r}")
            check_exact(member)
    elif isinstance(value, list | tuple):
        for item in value:
            check_exact(item)
    else:
        raise TypeError(f"{type(value).__name__} {value!r} has no exact JSON text and cannot be hashed")


def _storable(text: str) -> str:
    """JSON text in which halves of characters, left by bytes that are no text, stand as escapes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return re.sub("[\ud800-\udfff]", lambda half: f"\\u{ord(half[0]):04x}", text)
    return text


def _plain(names: tuple[str, ...], values: list[Value]) -> list[Value]:
    """Values as they are stored; a sentence is stored as the command line says it."""
    for name, value in zip(names, values, strict=True):
        if not isinstance(value, bool | str) and type(value) not in _PLAIN:
            raise TypeError(f"{name} cannot hold {type(value).__name__} {value!r}")
    return [int(value) if isinstance(value, bool) else str(value) if isinstance(value, str) else value
            for value in values]  # fmt: skip


def _table(table: str) -> _Table:
    defaults: dict[str, Value] = {}
    for word in COLUMNS[table].split():
        name, _, default = word.partition("=")
        # The names by which rows are written are interned, and a look for one that is the same object is quicker.
        defaults[sys.intern(name)] = int(default) if default else None
    covered = len(defaults)
    defaults |= dict.fromkeys(STORED_WITH.get(table, ()))
    names = ", ".join(f'"{name}"' for name in defaults)
    found = _TABLES[table] = _Table(
        insert=f"INSERT INTO {STORED_AS.get(table, table)} ({names}) VALUES ({', '.join('?' * len(defaults))})",
        row=defaults,
        own=tuple(name for name in (("seq",) if table in NO_SESSION else _FILLED) if name in defaults),
        places={name: place for place, name in enumerate(defaults)},
        select=f"SELECT {names} FROM {table} WHERE {_where(table)}" if table in KEYS else "",
        covered=covered,
    )
    return found


def _where(table: str) -> str:
    names = ("session_id", *KEYS[table]) if table in OF_SESSION else KEYS[table]
    return " AND ".join(f"{name} = ?" for name in names)


def _update(names: tuple[str, ...]) -> str:
    table, *columns = names
    if table not in _TABLES:
        _table(table)
    sets = ", ".join(f'"{name}" = ?' for name in columns)
    sql = _UPDATES[names] = f"UPDATE {table} SET {sets} WHERE {_where(table)}"
    return sql
