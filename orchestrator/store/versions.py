"""Loaded workflow versions: their rules, what differs between two, and who made the one of a session active.

Cold module.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from orchestrator.core import sha256, strict_json
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.routing.facts import ROUTER
from orchestrator.core.workflow import diff, model
from orchestrator.hints import Any
from orchestrator.store.constants import STORE_CHAIN

_CONTENT = "SELECT hash, content FROM workflow_versions WHERE id = ?"
_FILES = """SELECT name, role, model, reports_to, hash FROM agent_files
    WHERE workflow_version_id = ? ORDER BY name"""
# Two chains share no numbers: what came before is told by the order in which events were committed.
_ACTIVATED = f"""SELECT w.seq, w.activated_by, w.activated_at, e.channel, coalesce(a.kind, '')
    FROM workflow_activations w JOIN audit_events e ON e.session_id = '{STORE_CHAIN}' AND e.seq = w.seq
    LEFT JOIN agents a ON a.id = w.activated_by
    WHERE w.workflow_version_id = :version AND e.rowid < (SELECT c.rowid FROM audit_events c
        WHERE c.session_id = :session AND c.seq = :step) ORDER BY w.seq DESC LIMIT 1"""
_VOUCHED = f"""SELECT w.workflow_version_id FROM workflow_activations w LEFT JOIN agents a ON a.id = w.activated_by
    WHERE w.seq < ? AND (w.activated_by = '{ROUTER}' OR a.kind = 'human') ORDER BY w.seq DESC LIMIT 1"""
CONFIRMED = "session_workflow_confirmed"
"""What a person confirms is recorded as a change of: every change of the session's rules up to then."""

# A change is older than the check where its step was not marked, and no decision before it was made by rules that ask.
_PROVEN = """a.kind = 'human' AND json_extract(e.input, '$.person.channel') IS NOT NULL
    AND json_extract(e.input, '$.person.fault') IS NULL"""
_MOVES = f"""SELECT c.seq, c.from_status, c.to_status, c.changed_by, {_PROVEN}, c.changed_at, coalesce(e.channel, ''),
    json_extract(e.input, '$.rules') IS NULL AND NOT EXISTS (SELECT 1 FROM router_decisions d
        WHERE d.session_id = c.session_id AND d.seq < c.seq AND d.rules_version >= 4),
    (SELECT k.seq FROM status_changes k INDEXED BY ix_status_changes_entity WHERE k.session_id = c.session_id
        AND k.entity = '{CONFIRMED}' AND k.seq > c.seq ORDER BY k.seq LIMIT 1)
    FROM status_changes c INDEXED BY ix_status_changes_entity
    LEFT JOIN audit_events e ON e.session_id = c.session_id AND e.seq = c.seq
    LEFT JOIN agents a ON a.id = c.changed_by
    WHERE c.session_id = :session AND c.entity = 'session_workflow' ORDER BY c.seq"""
_CONFIRMATION = f"""SELECT c.changed_by, e.channel, c.changed_at, c.reason FROM status_changes c
    JOIN audit_events e ON e.session_id = c.session_id AND e.seq = c.seq
    JOIN agents a ON a.id = c.changed_by WHERE {_PROVEN} AND c.session_id = ? AND c.seq = ?"""


_FIRST = """SELECT from_status FROM status_changes INDEXED BY ix_status_changes_entity
    WHERE session_id = :session AND entity = 'session_workflow' ORDER BY seq LIMIT 1"""


class Move(NamedTuple):
    """One change of a session's workflow version, with the rules that differ, in words.

    confirmed: who confirmed it, through which channel and when; None where nobody did.
    older: it was recorded before anybody was asked to confirm such a change.
    """

    seq: int
    before: int | None
    after: int | None
    by: str
    at: str
    differs: tuple[str, ...]
    confirmed: str | None
    older: bool

    @property
    def is_open(self) -> bool:
        """Whether a person has to confirm it."""
        return bool(self.differs) and self.confirmed is None

    def text(self) -> str:
        """In one sentence."""
        said = f"step {self.seq} moved it from workflow version {self.before} to version {self.after}"
        rules = f"rules that differ: {'; '.join(self.differs)}" if self.differs else "no rule differs"
        who = f"confirmed by {self.confirmed}" if self.confirmed else f"by {self.by} at {self.at}"
        if not self.differs:
            return f"{said} ({who}); {rules}"
        return f"{said} ({who if self.confirmed else f'{who}, confirmed by no person'}); {rules}"


class Pinned(NamedTuple):
    """The version that a session was created with: who made it active, when and through which channel.

    vouched: the version that `init` or a person made active last before that; None where they made this one active.
    differs: the rules of this version that are others than those of `vouched`, in words.
    """

    version: int
    name: str
    hash: str
    by: str
    at: str
    channel: str
    vouched: int | None = None
    differs: tuple[str, ...] = ()

    def text(self) -> str:
        """In one sentence."""
        shown = f"workflow version {self.version} ({self.name}, {self.hash[:12]})"
        said = f"{shown} was made active by {self.by} through {self.channel} at {self.at}"
        if not self.differs:
            return said
        return f"{said}; no person confirmed that it differs from version {self.vouched}: {'; '.join(self.differs)}"

    def to_json(self) -> dict[str, Any]:
        """As a new session says it."""
        return {**self._asdict(), "differs": list(self.differs)}


_LOADED = "SELECT id, seq, name, hash, content, transitions_hash FROM workflow_versions ORDER BY id"
_PINNED = "SELECT name, hash FROM agent_files WHERE workflow_version_id = ?"
_TRANSITIONS = """SELECT current_agent, response_status, next_agent, action, effect, escalation_check, bypass_qa,
    fallback_agent FROM workflow_transitions WHERE workflow_version_id = ?"""


def altered(connection: sqlite3.Connection) -> Iterator[tuple[int, str, str]]:
    """The loaded versions that are not what their hashes say: the step that loaded each, its name, and why."""
    for id_, seq, name, hash_, content, own in connection.execute(_LOADED).fetchall():
        pinned = {"transitions": own, "agents": dict(connection.execute(_PINNED, (id_,)))}
        if model.hash_of(content) != own:
            yield seq, name, f"the content of workflow version {id_} does not have its hash"
        elif _sha256(strict_json.canonical(pinned)) != hash_:
            yield seq, name, f"workflow version {id_} does not have the hash of its content and agent files"
        elif _rows_of(content) != set(connection.execute(_TRANSITIONS, (id_,))):
            yield seq, name, f"the transitions of workflow version {id_} are not those of its content"


def _sha256(text: str) -> str:
    return sha256.new(text.encode("utf-8", "surrogatepass")).hexdigest()


def _rows_of(content: str) -> set[tuple[Any, ...]]:
    return {
        (each.role, each.status, each.next_agent, each.action, each.effect, int(each.escalation_check),
         int(each.bypass_qa), each.fallback_agent)
        for each in model.parse(strict_json.stored(content)).transitions.values()
    }  # fmt: skip


def read(connection: sqlite3.Connection, version: int) -> diff.Version | None:
    """A loaded version with its agent files; None where there is none."""
    row = connection.execute(_CONTENT, (version,)).fetchone()
    if row is None:
        return None
    files = tuple(diff.AgentFile(*file) for file in connection.execute(_FILES, (version,)))
    return diff.Version(model.parse(strict_json.stored(row[1]), str(row[0])), files)


def by_hash(connection: sqlite3.Connection, hash_: str) -> int | None:
    """The number of the version with this hash."""
    row = connection.execute("SELECT id FROM workflow_versions WHERE hash = ?", (hash_,)).fetchone()
    return row and int(row[0])


def rules_between(connection: sqlite3.Connection, before: int | None, after: int | None) -> tuple[str, ...]:
    """The rules that differ between two versions, in words; a version that is missing differs in everything."""
    if before == after and before is not None:
        return ()
    a, b = (None if each is None else read(connection, each) for each in (before, after))
    if a is None or b is None:
        return ("a version that the database does not have",)
    return tuple(diff.sentences(diff.of_rules(diff.diff(a, b))))


def pinned(connection: sqlite3.Connection, session: str, *, compared: bool = True) -> Pinned | None:
    """The version that a session was created with; None where nothing says so.

    Args:
        compared: whether `differs` is found out, which reads two versions.
    """
    first = connection.execute(_FIRST, {"session": session}).fetchone()
    now = connection.execute("SELECT workflow_version_id FROM sessions WHERE id = ?", (session,)).fetchone()
    version = now and (now[0] if first is None else by_hash(connection, first[0]))
    if version is None:
        return None
    given = {"version": version, "session": session, "step": 1}
    found = connection.execute(_ACTIVATED, given).fetchone()
    named = connection.execute("SELECT name, hash FROM workflow_versions WHERE id = ?", (version,)).fetchone()
    if found is None or named is None:
        return None
    seq, by, at, channel, kind = found
    name, hash_ = named
    about = Pinned(version, name, hash_, by, at, channel)
    if by == ROUTER or kind == "human" or not compared:
        return about
    vouched = connection.execute(_VOUCHED, (seq,)).fetchone()
    if vouched is None:
        return about
    return about._replace(vouched=vouched[0], differs=rules_between(connection, vouched[0], version))


def moves(connection: sqlite3.Connection, session: str) -> list[Move]:
    """Every change of a session's workflow version, in the order in which they were made."""
    found = []
    for row in connection.execute(_MOVES, {"session": session}).fetchall():
        seq, old, new, by, proven, at, channel, older, confirmation = row
        before, after = by_hash(connection, old), by_hash(connection, new)
        confirmed = f"{by} through {channel} at {at}" if proven else None
        if confirmed is None and confirmation is not None:
            confirmed = _confirmed(connection, session, confirmation)
        differs = rules_between(connection, before, after)
        found.append(Move(seq, before, after, by, at, differs, confirmed, bool(older)))
    return found


def _confirmed(connection: sqlite3.Connection, session: str, seq: int) -> str | None:
    row = connection.execute(_CONFIRMATION, (session, seq)).fetchone()
    return row and f"{row[0]} through {row[1]} at {row[2]}: {row[3]}"
