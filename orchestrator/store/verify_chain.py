"""Whether the record is whole: every event hashes to what it says, every row is as an event left it, and the rows fit
each other.

One pass over the events, beside it one over each table, all in the order of chains and steps: block by block what the
events tell of is compared with what the tables hold. What is held in memory is a block, and the newest state of the
rows of one chain that may change.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
import operator
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator

from orchestrator import progress
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.suggestions import joined, local, sentence
from orchestrator.hints import Any
from orchestrator.store import findings, gaps, row_hashes, sqlite, step, text_damage
from orchestrator.store.constants import STORE_CHAIN
from orchestrator.store.findings import Found
from orchestrator.store.row_hashes import Expression, Span

ALL = 2**31
"""More findings than anybody asks for."""

_BLOCK = 64
"""How many events are read at once, with all that they hold."""

_sha256 = hashlib.sha256
_chain_of = operator.itemgetter(0)
_Known = dict[str, tuple[int, str]]
"""By key: the last step that wrote the row, and the digest of what it left."""
_END: tuple[Any, ...] = (None, None, b"")
_BYTES_IN_JSON = "JSON cannot hold BLOB values"
_ALL_SESSIONS = "SELECT id FROM sessions ORDER BY id"
_AGENTS = "agents"
PARTS_MISSING = ("TABLE_MISSING", "INDEX_MISSING")
"""Findings about the schema that say already why rows cannot be related, with the repair."""
_SESSIONS = "sessions"
_OF_AGENTS = f""" AND t.kind LIKE 'agent %' AND t.rows LIKE '%"{_AGENTS}"%'"""
_ANCHOR = "SELECT seq, hash FROM audit_events WHERE session_id = :chain AND seq <= :since ORDER BY seq DESC LIMIT 1"
_BEFORE = """SELECT 1 FROM audit_events WHERE session_id = :chain AND seq <= :since AND hash = :hash
    AND (:seq = seq OR :seq = 0)"""

# `json.loads` looks for white space around what it reads, at every event.
_scan: Callable[[str, int], tuple[Any, int]] = json.JSONDecoder().raw_decode


class Broken(NamedTuple):
    """A step that does not verify: its number, and what is wrong with it."""

    seq: int
    why: str


class Head(NamedTuple):
    """A chain's head as somebody noted it: a step's hash, and its number where that was noted too (else 0)."""

    seq: int
    hash: bytes


class Looked(NamedTuple):
    """How much was looked at, whether the noted head was among it, and whether all texts in it are UTF-8."""

    chains: int
    events: int
    rows: int
    head: bool
    decodable: bool


def broken(connection: sqlite3.Connection, session: str) -> Iterator[Broken]:
    """What does not verify in a session's chain and in the store's, in order; read in the caller's transaction."""
    for chain in (session, STORE_CHAIN):
        found = Found(getattr(connection, "path", ""), ALL)
        verify(connection, Span(chain), found)
        where = "" if chain == session else "Among what belongs to no session: "
        yield from (Broken(each.seq or 0, joined([where, each.message])) for each in found.kept)
    found = Found(getattr(connection, "path", ""), ALL)
    # Reports, decisions, spawns and steps are asked for by a check of their own.
    _relate(connection, session, lambda: gaps.others(connection, session), found, excused=False)
    yield from (Broken(each.seq or 0, each.message) for each in found.kept)


def relate(connection: sqlite3.Connection, span: Span, found: Found, *, excused: bool = False) -> None:
    """Check what must hold between the rows of the sessions of a span; read in the caller's transaction.

    Args:
        span: one chain, or those of all sessions; only what is missing in later steps.
        found: what is found is noted here.
        excused: that rows cannot be related is no finding, since one of `PARTS_MISSING` was found.
    """
    if span.chain == STORE_CHAIN:
        _relate(connection, STORE_CHAIN, lambda: gaps.of_store(connection), found, excused=excused)
        return
    sessions = [span.chain] if span.chain else [row[0] for row in connection.execute(_ALL_SESSIONS)]
    for session in sessions:
        breaks = functools.partial(gaps.breaks, connection, session, span.since)
        _relate(connection, session, breaks, found, excused=excused)


def _relate(
    connection: sqlite3.Connection, session: str, breaks: Callable[[], Iterator[gaps.Break]], found: Found, *,
    excused: bool,
) -> None:  # fmt: skip
    part = Found(found.path, found.most)

    def read() -> None:
        part.clear()
        for each in breaks():
            # A missing step is found by its hash.
            if each.kind != gaps.MISSING_STEP:
                message = f"{each.subject}: {each.text}."
                part.at(each.kind.upper(), session, each.seq, each.table, each.subject, message)

    try:
        text_damage.decoded(connection, read)
    except (sqlite3.OperationalError, TypeError, ValueError) as error:
        if isinstance(error, sqlite3.Error) and sqlite.translate(error, found.path):
            raise
        if excused:
            return
        message = sentence(
            "What must hold between the rows of session {} cannot be checked: {}.", session, local(error)
        )
        found.at(findings.ROWS_UNREADABLE, session, None, None, session, message)
    finally:
        found.merge(part)


def verify(connection: sqlite3.Connection, span: Span, found: Found, head: Head | None = None) -> Looked:
    """Verify the chains of a span, each with all rows that belong to it; read in the caller's transaction.

    Args:
        span: one chain, or those of all sessions; a step after which to begin is trusted, with all before it.
        found: what is found is noted here.
        head: looked for among the events.
    """
    line = row_hashes.expression(connection)
    looked, part = text_damage.decoded(connection, lambda: _passed(connection, span, found, head, line))
    found.merge(part)
    return looked


def _passed(
    connection: sqlite3.Connection, span: Span, found: Found, head: Head | None, line: Expression
) -> tuple[Looked, Found]:
    part = Found(found.path, found.most)
    try:
        return _Pass(connection, span, part, head, line).run(), part
    except sqlite3.OperationalError as error:
        if line is not row_hashes.plain or _BYTES_IN_JSON not in str(error):
            raise
        # Somebody put bytes where text belongs; they are looked at in a slower way.
        return _passed(connection, span, found, head, row_hashes.careful)


class _Rows:
    """The rows of a table in order.

    Attributes:
        row: chain, step, line and key of what is next; `_END` behind the last.
        count: how many rows were passed.
        decodable: whether their texts are UTF-8.
    """

    __slots__ = ("_cursor", "count", "decodable", "row")

    def __init__(self, connection: sqlite3.Connection, sql: str, span: Span) -> None:
        self.count = 0
        self.decodable = True
        self._cursor = connection.execute(sql, span.parameters)
        self.row: tuple[Any, ...] = next(self._cursor, _END)

    def until(self, chain: bytes, last: int) -> dict[int, str]:
        """Pass the rows of a chain up to a step; the digests of those of each step together."""
        found: dict[int, str] = {}
        of, at, _ = first = self.row
        if of != chain or at > last:
            return found
        count, sha = 0, _sha256()
        for row in itertools.chain((first,), self._cursor):
            of, seq, line = row
            if seq != at or of != chain:
                found[at] = sha.hexdigest()
                # What is no number is sorted behind all numbers, and belongs to no step before.
                if of != chain or not at < seq <= last:
                    break
                at, sha = seq, _sha256()
            count += 1
            if not line.isascii():
                self.decodable &= text_damage.is_text(line)
            sha.update(row_hashes.trimmed(line) if line[-6:] == row_hashes.NULL_AT_END else line + b"\n")
        else:
            row, found[at] = _END, sha.hexdigest()
        self.row = row
        self.count += count
        return found

    def advance(self) -> None:
        """Pass one row."""
        line = self.row[2]
        self.count += 1
        if not line.isascii():
            self.decodable &= text_damage.is_text(line)
        self.row = next(self._cursor, _END)

    def skip(self) -> tuple[bytes, int]:
        """Pass the rows of whatever step is next, and return its chain and number."""
        chain, seq = self.row[:2]
        while self.row[1] == seq and self.row[0] == chain:
            self.advance()
        return chain, seq


class _Pass:
    """One pass over the chains of a span."""

    def __init__(
        self, connection: sqlite3.Connection, span: Span, found: Found, head: Head | None, line: Expression
    ) -> None:
        self._connection = connection
        self._span = span
        self._found = found
        self._head = head or Head(0, b"")
        self._head_seen = False
        self._line = line
        self._parsed = _parser()
        self._events = connection.execute(row_hashes.events(span, line), span.parameters)
        self._written = {
            table: _Rows(connection, row_hashes.written(table, span, line), span)
            for table in row_hashes.written_in(span)
        }
        self._changing = {
            table: _Rows(connection, row_hashes.changing(table, span, line), span) for table in row_hashes.CHANGING
        }
        self._by_store = _states_by_store(connection, line) if span.chain != STORE_CHAIN else {}
        self._shapes: set[tuple[Any, ...]] = set()
        self._chains = 0
        self._chain, self._name = b"", ""
        self._seq, self._hash = 0, step.FIRST_HASH
        self._states: defaultdict[str, _Known] = defaultdict(dict)

    def run(self) -> Looked:
        """Verify every chain, and then what belongs to none."""
        if self._span.chain is not None:
            self._begin(self._span.chain.encode())
        count, decodable = 0, True
        while rows := self._events.fetchmany(_BLOCK):
            count += len(rows)
            for chain, events in itertools.groupby(rows, _chain_of):
                if chain != self._chain:
                    self._end()
                    self._begin(chain)
                decodable &= self._block(list(events))
            progress.tell("events", count)
        self._end()
        self._orphans(None)
        tables = (*self._written.values(), *self._changing.values())
        decodable &= all(each.decodable for each in tables)
        return Looked(self._chains, count, sum(each.count for each in tables), self._head_seen, decodable)

    # Chains

    def _begin(self, chain: bytes) -> None:
        self._orphans(chain)
        self._chain, self._name = chain, chain.decode("utf-8", "replace")
        self._seq, self._hash = 0, step.FIRST_HASH
        self._states.clear()
        self._chains += 1
        if self._span.since:
            self._begin_after(self._span.since)

    def _begin_after(self, since: int) -> None:
        """Take a step as it stands for the one before the first that is looked at."""
        row = self._connection.execute(_ANCHOR, self._span.parameters).fetchone()
        last, hash_ = row or (0, step.FIRST_HASH)
        self._seq, self._hash = since, hash_
        if last != since:
            self._seq, self._hash = last, hash_
            message = f"Step {since}, up to which the record was verified before, is missing; step {last} is the last."
            self._note(findings.EVENT_MISSING, since, row_hashes.EVENTS, message)
        given = {**self._span.parameters, **self._head._asdict()}
        self._head_seen = self._connection.execute(_BEFORE, given).fetchone() is not None

    def _end(self) -> None:
        """What is left of a chain after its last event: rows that no event tells of, and the newest states."""
        if not self._chains:
            return
        for table, found in self._written.items():
            while found.row[0] == self._chain:
                self._uncovered(table, found.skip()[1])
        self._require_session()
        for table, found in self._changing.items():
            self._compare_states(table, found, self._states.pop(table, {}))
        for table, known in self._states.items():
            for key, (seq, _) in known.items():
                message = f"Step {seq} wrote row {key} of {table}, which is not known."
                self._note(findings.STATE_MISSING, seq, table, message, key)

    def _require_session(self) -> None:
        """A chain that knows of no session has none; one that knows of it misses its row by itself."""
        there = self._changing[_SESSIONS].row[0] == self._chain or _SESSIONS in self._states
        if not there and self._seq and self._name != STORE_CHAIN and not self._span.since:
            message = f"There are events of session {self._name}, which does not exist."
            self._note(findings.ROWS_ORPHANED, self._seq, row_hashes.EVENTS, message)

    def _orphans(self, before: bytes | None) -> None:
        """The rows of chains that have no event, up to a chain."""
        for table, found in (*self._written.items(), *self._changing.items()):
            while found.row is not _END and (before is None or found.row[0] < before):
                chain, seq = found.skip()
                name = chain.decode("utf-8", "replace")
                message = f"Rows of {table} belong to {name or 'no session'}, of which there is no event at all."
                self._found.at(findings.ROWS_ORPHANED, name, seq, table, name, message)

    def _note(self, code: str, seq: int, table: str, message: str, subject: str = "") -> None:
        self._found.at(code, self._name, seq, table, subject or f"step {seq}", message)

    # Events

    def _block(self, events: list[tuple[Any, ...]]) -> bool:
        """Verify events of a chain with the rows that they tell of; whether all texts of the events are UTF-8."""
        _, seqs, lines, before, own, covered, kinds = zip(*events, strict=True)
        last = seqs[-1]
        if seqs != tuple(range(self._seq + 1, self._seq + 1 + len(events))):
            if len(events) > 1:
                decodable = [self._block([each]) for each in events]
                return all(decodable)
            self._jump(last)
        else:
            linked = map(operator.eq, before, (self._hash, *own))
            self._note_steps(findings.EVENT_UNLINKED, "Step {} does not follow the step before it.", seqs, linked)
        whole = map(operator.eq, own, [_sha256(prev + line).digest() for prev, line in zip(before, lines, strict=True)])
        self._note_steps(findings.EVENT_ALTERED, "The event of step {} was altered.", seqs, whole)
        self._head_seen |= self._head.hash in own and any(map(self._is_head, own, seqs))
        self._seq, self._hash = last, own[-1]
        wanted = self._wanted(seqs, kinds, covered)
        for table, rows in self._written.items():
            told, found = wanted.pop(table, {}), rows.until(self._chain, last)
            if told != found:
                self._differ(table, told, found)
        for table in [each for each in wanted if each not in row_hashes.BY_HASH]:
            for seq in wanted[table]:
                self._note(findings.ROWS_MISSING, seq, table, f"Step {seq} wrote rows of {table}, which is not known.")
        return all(map(bytes.isascii, lines)) or all(map(text_damage.is_text, lines))

    def _wanted(
        self, seqs: tuple[int, ...], kinds: tuple[bytes, ...], covered: tuple[bytes, ...]
    ) -> dict[str, dict[int, Any]]:
        """The digests of rows by table and step, as events tell of them; the states of rows are noted."""
        wanted: defaultdict[str, dict[int, Any]] = defaultdict(dict)
        for seq, kind, tables in zip(seqs, kinds, map(self._parsed, covered), strict=True):
            states = tables.pop(step.STATE, {})
            if (shape := (kind, *tables, step.STATE, *states)) not in self._shapes:
                self._require_rows(seq, shape, tables)
            for table, digest in tables.items():
                wanted[table][seq] = digest
            for table, rows in states.items():
                known = self._states[table]
                for key, digest in rows.items() if type(rows) is dict else ():
                    known[key] = (seq, digest)
        return wanted

    def _is_head(self, hash_: bytes, seq: int) -> bool:
        return hash_ == self._head.hash and self._head.seq in (seq, 0)

    def _require_rows(self, seq: int, shape: tuple[Any, ...], covered: dict[str, Any]) -> None:
        """A step of a kind that always writes certain rows covers some, and certain rows only steps of a kind write."""
        kind = shape[0]
        faults = [*_missing_rows(kind, covered), *_foreign_rows(kind, shape[1:])]
        for code, table, text in faults:
            self._note(code, seq, table, f"Step {seq} is a {kind.decode('utf-8', 'replace')}, {text}.")
        if not faults:
            self._shapes.add(shape)

    def _note_steps(self, code: str, message: str, seqs: Iterable[int], sound: Iterable[bool]) -> None:
        """Note the steps of which something does not hold."""
        for seq in itertools.compress(seqs, map(operator.not_, sound)):
            self._note(code, seq, row_hashes.EVENTS, message.format(seq))

    def _jump(self, seq: int) -> None:
        expected = self._seq + 1
        if seq > expected:
            many = f"Steps {expected} to {seq - 1} are" if seq > expected + 1 else f"Step {expected} is"
            self._note(findings.EVENT_MISSING, expected, row_hashes.EVENTS, f"{many} missing.")
        else:
            self._note(findings.EVENT_ADDED, seq, row_hashes.EVENTS, f"No chain has a step {seq} here.")

    # Rows that stay

    def _differ(self, table: str, wanted: dict[int, Any], found: dict[int, str]) -> None:
        for seq in sorted({*wanted, *found}):
            if seq not in wanted:
                self._uncovered(table, seq)
            elif seq not in found:
                self._note(findings.ROWS_MISSING, seq, table, f"The rows of {table} that step {seq} wrote are missing.")
            elif found[seq] != wanted[seq]:
                message = f"The rows of {table} are not those that step {seq} wrote, or not in its order."
                self._note(findings.ROWS_ALTERED, seq, table, message)

    def _uncovered(self, table: str, seq: int) -> None:
        known = "its event tells of none" if 0 < seq <= self._seq else "there is no such step"
        message = f"Rows of {table} say that step {seq} wrote them, and {known}."
        self._note(findings.ROWS_UNCOVERED, seq, table, message)

    # Rows that may change

    def _compare_states(self, table: str, found: _Rows, expected: _Known) -> None:
        while found.row[0] == self._chain:
            _, created, line, *parts = found.row
            key, digest = step.state_key(tuple(parts)), _sha256(row_hashes.trimmed(line)).hexdigest()
            known = expected.pop(key, None)
            if known is None or digest != known[1] or key in self._by_store:
                self._compare_state(table, key, created, digest, known)
            found.advance()
        for key, known in expected.items():
            self._compare_elsewhere(table, key, known)

    def _compare_state(self, table: str, key: str, created: int, found: str, known: tuple[int, str] | None) -> None:
        if known is None:
            message = f"No event tells of row {key} of {table}."
            self._note(findings.STATE_UNCOVERED, created, table, message, key)
            return
        seq, digest = known
        if table == _AGENTS:
            digest = self._by_store.get(key, digest)
        if found != digest:
            message = f"Row {key} of {table} is not as step {seq}, the last that wrote it, left it."
            self._note(findings.STATE_ALTERED, seq, table, message, key)

    def _compare_elsewhere(self, table: str, key: str, known: tuple[int, str]) -> None:
        """A row that was not among those of its chain: an older one, or a session's agent that the store changed."""
        row = None
        if self._span.since or (table == _AGENTS and self._span.chain == STORE_CHAIN):
            given = row_hashes.key_of(table, self._name, key)
            row = self._connection.execute(row_hashes.one(table, self._line), given).fetchone()
        if row is None:
            message = f"Row {key} of {table}, which step {known[0]} wrote, is missing."
            self._note(findings.STATE_MISSING, known[0], table, message, key)
        else:
            self._compare_state(table, key, row[1], _sha256(row_hashes.trimmed(row[2])).hexdigest(), known)


def _missing_rows(kind: bytes, covered: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    for table in row_hashes.WRITES.get(kind, ()):
        if table not in covered:
            yield findings.EVENT_EMPTY, table, f"and its event covers no row of {table}"


def _foreign_rows(kind: bytes, tables: tuple[Any, ...]) -> Iterator[tuple[str, str, str]]:
    for table in tables:
        origins = row_hashes.ORIGINS.get(table)
        if origins and not any(kind.startswith(each) if each.endswith(b" ") else kind == each for each in origins):
            yield findings.EVENT_FOREIGN, table, f"which writes no row of {table}, and one is covered"


def _parser() -> Callable[[bytes], dict[str, Any]]:
    """How to read what an event covers: with the compiled parser, and with the library's what that one refuses."""
    import orjson  # only for commands that read the whole record

    loads, refused = orjson.loads, orjson.JSONDecodeError

    def parsed(covered: bytes) -> dict[str, Any]:
        try:
            found = loads(covered)
        except refused:
            return _parsed(covered)
        return found if type(found) is dict and type(found.get(step.STATE)) is dict else _covered(found)

    return parsed


def _parsed(covered: bytes) -> dict[str, Any]:
    """What an event covers; nothing where that was made unreadable."""
    try:
        return _covered(_scan(covered.decode(), 0)[0])
    except (ValueError, StopIteration, RecursionError):
        return {}


def _covered(found: Any) -> dict[str, Any]:
    """The tables, with the states of rows, as far as they are such."""
    if type(found) is not dict:
        return {}
    if step.STATE in found and type(found[step.STATE]) is not dict:
        found[step.STATE] = {}
    return found


def _states_by_store(connection: sqlite3.Connection, line: Expression) -> dict[str, str]:
    """The newest states of agents that steps of the store left."""
    found: dict[str, str] = {}
    span = Span(STORE_CHAIN)
    for _, _, text, prev_hash, own_hash, covered, _ in connection.execute(
        row_hashes.events(span, line, _OF_AGENTS), span.parameters
    ):
        if hashlib.sha256(prev_hash + text).digest() == own_hash:
            found.update(_parsed(covered).get(step.STATE, {}).get(_AGENTS, {}))
    return found
