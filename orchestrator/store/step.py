"""One use case is one transaction, one audit event and one number in one chain.

A step collects the rows that it inserts into one digest per table; the event that seals it carries the digests and
the hash of the event before it.
"""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from orchestrator.store import sqlite

if TYPE_CHECKING:
    from hashlib import _Hash

Value = str | int | bytes | None

FIRST_HASH = bytes(32)
"""What stands for the hash of the event before the first."""

NUMBERED = frozenset(
    ("acknowledgements", "agent_reports", "evidence", "refusals", "router_decisions", "status_changes")
)
"""Tables with a `part` column: one step may write several rows, numbered from 1."""

COLUMNS = {
    "acknowledgements": "session_id seq part group_id reason",
    "agent_files": "workflow_version_id role name model reports_to content hash",
    "agent_reports": "session_id seq part group_id role agent_id response_status raw_role raw_status effect turn"
    " turn_assumed summary details metadata raw_hash reported_at",
    "agents": "id role parent_id kind max_parallel_tasks=1 active=1 session_id group_id created_at created_seq",
    "blockers": "id session_id group_id task_id type class reason opened_by opened_role opened_at opened_seq report_id"
    " cause external=0 external_dependency external_by external_seq resolved_at resolved_by resolved_seq resolution"
    " resolution_note",
    "context_items": "session_id group_id name seq",
    "criteria": "session_id id text metric operator target command created_by created_at created_seq status actual"
    " reason evidence set_by set_at set_seq removed_seq removed_by removed_reason",
    "deferrals": "session_id seq group_id blocker_id reason dependency confirmed_by confirmed_seq deferred_by"
    " deferred_at",
    "evidence": "session_id seq part group_id kind subject outcome hash size content path",
    "group_dependencies": "session_id group_id depends_on seq added_by removed_seq removed_by removed_reason",
    "handoffs": "session_id turn group_id agent_id document hash",
    "questions": "id session_id group_id task_id kind text asked_by asked_at opened_seq decision closed_at closed_by"
    " closed_seq answer note channel",
    "refusals": "session_id seq part door actor claimed_session group_id role status turn code detail refused_at",
    "requests": "session_id request_id command input_hash seq answer",
    "router_decisions": "session_id seq part group_id current_agent response_status next_agent action timestamp"
    " report_id cause rules workflow_version_id rules_version handoff_hash mandatory_review=0 answer",
    "sessions": "id kind mode testing_mode goal workflow_version_id turn_timeout disabled_roles created_by created_at"
    " status status_changed_by status_changed_at status_seq outcome outcome_reason planned=0 awaited_role"
    " awaited_agent_id awaited_action turn awaited_since held held_seq held_part progress_seq=0 answered_seq=0",
    "status_changes": "session_id seq part entity entity_id from_status to_status changed_by changed_at reason cause",
    "task_groups": "session_id id name kind security_sensitive=0 complexity=3 priority=2 created_by created_at"
    " created_seq status status_changed_by status_changed_at status_seq awaited_role awaited_agent_id awaited_action"
    " turn awaited_since held held_seq held_part qa_attempts=0 tl_review_attempts=0 merge_attempts=0 iterations=0"
    " senior=0 builder_role builder_agent_id progress_seq=0 answered_seq=0",
    "texts": "hash content",
    "workflow_activations": "seq workflow_version_id activated_by activated_at",
    "workflow_transitions": "workflow_version_id current_agent response_status next_agent action include_context"
    " escalation_check=0 model_override fallback_agent bypass_qa=0 max_parallel then_action effect",
    "workflow_versions": "id hash name content transitions_hash loaded_at seq",
}
"""The columns that a step writes, in the order of the declared schema, with the defaults of the declared schema."""

NO_SESSION = frozenset(("agents",))
"""Tables whose `session_id` may be null: it is then left as given."""

LAST_EVENT = "SELECT seq, hash FROM audit_events WHERE session_id = ? ORDER BY seq DESC LIMIT 1"

_EVENT = "INSERT INTO audit_events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"

_PLAIN = frozenset((str, int, bytes, type(None)))


def _encoder(*, sort_keys: bool) -> Callable[[object], str]:
    """The core's canonical JSON. The C encoder is made once: `JSONEncoder.encode` makes one at every call."""
    plain = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, default=bytes.hex, sort_keys=sort_keys)
    try:
        make = json.encoder.c_make_encoder  # type: ignore[attr-defined]  # absent where there is no C accelerator
        text = json.encoder.encode_basestring
        chunks = make(None, bytes.hex, text, None, ":", ",", sort_keys, False, True)
        chunks([], 0)
    except (AttributeError, TypeError):
        return plain.encode
    return lambda value: "".join(chunks(value, 0))


_line = _encoder(sort_keys=False)
_canonical = _encoder(sort_keys=True)


class _Table(NamedTuple):
    sql: str
    defaults: dict[str, Value]
    filled: tuple[str, ...]


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
        self._counts: dict[str, int] = {}
        self.sealed = False
        last = connection.execute(LAST_EVENT, (chain,)).fetchone()
        self.seq: int = 1 if last is None else last[0] + 1
        self.prev_hash: bytes = FIRST_HASH if last is None else last[1]

    def insert(self, table: str, /, **columns: Value) -> int:
        """Write one row; `session_id`, `seq` and `part` are filled in.

        Returns:
            The row's number among the rows of that table in this step: its part, where the table has one.

        Raises:
            TypeError: a float, or another value that no column holds; a column that the table has not.
            IntegrityError: a guard or constraint refused the row.
        """
        sql, defaults, filled = _TABLES.get(table) or _table(table)
        row = {**defaults, **columns}
        if len(row) != len(defaults):
            raise TypeError(f"{table} has no column {', '.join(sorted(row.keys() - defaults.keys()))}")
        part = self._counts.get(table, 0) + 1
        for name in filled:
            if name not in columns:
                row[name] = self.chain if name == "session_id" else self.seq if name == "seq" else part
        values = _plain(row) if not _PLAIN.issuperset(map(type, row.values())) else list(row.values())
        self._connection.execute(sql, values)
        self._counts[table] = part
        digest = self._digests.get(table)
        if digest is None:
            digest = self._digests[table] = hashlib.sha256()
        digest.update(row_line(values))
        return part

    def count(self, table: str) -> int:
        """How many rows of the table this step has written so far."""
        return self._counts.get(table, 0)

    def execute(self, sql: str, parameters: Mapping[str, Value]) -> sqlite3.Cursor:
        """Read, or update a table that may change. What it changes, the event's input must explain."""
        return self._connection.execute(sql, parameters)

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
        rows = _canonical({table: digest.hexdigest() for table, digest in self._digests.items()})
        fields = (self.chain, self.seq, kind, actor, channel, self.at, _storable(_canonical(input)), rows)
        digest = event_hash(self.prev_hash, fields)
        connection = self._connection
        connection.execute(_EVENT, (*fields, self.prev_hash, digest))
        sqlite.retry(lambda: connection.execute("COMMIT"), getattr(connection, "path", ""), self._deadline_s)
        self.sealed = True
        return digest

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


def row_line(values: list[Value]) -> bytes:
    """The line of a row in its table's digest: its values as JSON, in the order of the columns.

    Nulls at the end are left out, so that a column added later changes no digest of an older row.
    """
    last = len(values)
    while last and values[last - 1] is None:
        last -= 1
    return f"{_line(values[:last])}\n".encode()


def event_hash(prev_hash: bytes, fields: tuple[str | int, ...]) -> bytes:
    """The hash of an event: over the hash before it and its first eight columns, as stored."""
    return hashlib.sha256(prev_hash + _line(fields).encode()).digest()


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
    if isinstance(value, Mapping):
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


def _plain(row: dict[str, Value]) -> list[Value]:
    for name, value in row.items():
        if isinstance(value, bool):
            row[name] = int(value)
        elif type(value) not in _PLAIN:
            raise TypeError(f"{name} cannot hold {type(value).__name__} {value!r}")
    return list(row.values())


def _table(table: str) -> _Table:
    defaults: dict[str, Value] = {}
    for word in COLUMNS[table].split():
        name, _, default = word.partition("=")
        defaults[name] = int(default) if default else None
    fillable = ("session_id", "seq", "part") if table not in NO_SESSION else ("seq", "part")
    names = ", ".join(f'"{name}"' for name in defaults)
    sql = f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(defaults))})"
    found = _TABLES[table] = _Table(sql, defaults, tuple(name for name in fillable if name in defaults))
    return found
