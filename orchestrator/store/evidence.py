"""Evidence by its id, and whether what is kept still has the hash that the record says."""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from orchestrator import files as named_files
from orchestrator.core import strict_json
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.suggestions import reason, sentence
from orchestrator.core.validation.snapshot import Proof

_ID = r":([ER])([1-9][0-9]{0,17})(?:\.([1-9][0-9]{0,8}))?"
_TABLES = {"E": "evidence", "R": "agent_reports"}
_BLOCK = 1024 * 1024
_PROOFS = {
    "R": """SELECT role, response_status, effect, group_id FROM agent_reports
        WHERE session_id = :session AND seq = :seq AND part = :part""",
    "E": """SELECT kind, outcome, NULL, group_id FROM evidence
        WHERE session_id = :session AND seq = :seq AND part = :part""",
}
_SUBMITTED_SINCE = """SELECT 1 FROM agent_reports WHERE session_id = :session AND group_id = :group AND seq > :seq
    AND effect IN ('submit_test', 'submit_review') LIMIT 1"""

_RECORDED = "SELECT id, hash, content, path, seq FROM evidence WHERE session_id = :session ORDER BY seq, part"
_SHARED = """SELECT 1 FROM evidence e WHERE (e.kind = 'operation' AND json_extract(e.content, '$.host') = ?)
    OR (e.path IS NOT NULL AND EXISTS (SELECT 1 FROM audit_events a WHERE a.session_id = e.session_id AND a.seq = e.seq
        AND json_extract(a.input, '$.attached[0].host') = ?)) LIMIT 1"""
_INPUT = "SELECT input FROM audit_events WHERE session_id = ? AND seq = ?"
_MESSAGES = """SELECT r.id, r.raw_hash, t.content FROM agent_reports r LEFT JOIN texts t ON t.hash = r.raw_hash
    WHERE r.session_id = :session AND r.raw_hash IS NOT NULL ORDER BY r.seq"""
_HANDOFFS = "SELECT turn, group_id, hash, document FROM handoffs WHERE session_id = :session ORDER BY turn, group_id"

_WITH_OPERATIONS = "SELECT DISTINCT session_id FROM evidence WHERE kind = 'operation' ORDER BY session_id"
# An operation is named after its run.
_OF_SESSION = """SELECT e.id, e.seq, e.content, coalesce((SELECT r.verification_root FROM runs r
        WHERE r.session_id = e.session_id AND substr(e.subject, 1, length(r.id) + 1) = r.id || '-'
        ORDER BY length(r.id) DESC LIMIT 1), (SELECT t.root FROM turn_runs t
        WHERE t.session_id = e.session_id AND substr(e.subject, 1, length(t.id) + 1) = t.id || '-'
        ORDER BY length(t.id) DESC LIMIT 1))
    FROM evidence e WHERE e.session_id = :session AND e.kind = 'operation'"""
_NEWEST = "ORDER BY e.seq DESC, e.part DESC LIMIT 1"
_OPERATION = f"{_OF_SESSION} {_NEWEST}"
_OPERATION_ON = f"{_OF_SESSION} AND ifnull(json_extract(e.content, '$.host'), '') = :host {_NEWEST}"
_HOSTS = """SELECT DISTINCT json_extract(content, '$.host') FROM evidence WHERE session_id = :session
    AND kind = 'operation' ORDER BY 1"""
_EXPIRIES = "SELECT content FROM evidence WHERE kind = 'expiry' AND subject = :root"
HOST = "host"
"""Where the evidence of an operation names the machine on which its files lie, where several work on a database."""
CHECKSUM = "index"
"""Where the evidence of an operation has the checksum of the index that lists it on the disk."""


SHARED = "a shared folder"
"""What stands for the machine there, where the files lie in a folder that several have; no machine has a blank in its
name."""
FOLDER = "folder"
"""Where such evidence names that folder, as it is called on the machine that recorded it."""


class Place(NamedTuple):
    """Where files of evidence lie.

    host: the machine, SHARED, or None where only one works on the database. folder: the shared folder, by its name on
    the machine that recorded it.
    """

    host: str | None = None
    folder: str | None = None

    def recorded(self) -> dict[str, str]:
        """What the record keeps of it."""
        return {name: value for name, value in ((HOST, self.host), (FOLDER, self.folder)) if value is not None}


class File(NamedTuple):
    """A piece of evidence that lies in a file."""

    id: str
    path: str
    hash: str
    place: Place = Place()


class Inventory(NamedTuple):
    """What the runs of a session have left on the disk: files, and an index that lists them.

    id, seq: of the newest evidence that names the index; root: the project of its run, or the folder that several
    machines share; checksum: of the index; expired: whether it was deleted on record, since it was older than evidence
    is kept.
    """

    session: str
    id: str
    seq: int
    root: str
    checksum: str
    expired: bool
    place: Place = Place()


class Fault(NamedTuple):
    """A piece of evidence that does not stand, and why."""

    id: str
    why: str


def digest(text: str) -> str:
    """The hash of a text that is kept as evidence: SHA-256, in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Cited(NamedTuple):
    """A row that an id names as evidence: `letter` says of which table it is, `seq` and `part` which one."""

    letter: str
    seq: int
    part: int


def cited(connection: sqlite3.Connection, session: str, id_: str) -> Cited | None:
    """The evidence or report of this session that an id names; None where it names none."""
    found = re.fullmatch(_ID, id_.removeprefix(session)) if id_.startswith(f"{session}:") else None
    if found is None:
        return None
    letter, seq, part = found.groups()
    named = Cited(letter, int(seq), int(part or 1))
    row = connection.execute(
        f"SELECT id FROM {_TABLES[letter]} WHERE session_id = :session AND seq = :seq AND part = :part",
        {"session": session, "seq": named.seq, "part": named.part},
    ).fetchone()
    return named if row and row[0] == id_ else None


def exists(connection: sqlite3.Connection, session: str, id_: str) -> bool:
    """Whether an id names evidence, or a report, of this session."""
    return cited(connection, session, id_) is not None


def proof(connection: sqlite3.Connection, session: str, id_: str) -> Proof | None:
    """What the evidence or report says that an id names; None where it names none."""
    named = cited(connection, session, id_)
    if named is None:
        return None
    given = {"session": session, "seq": named.seq, "part": named.part}
    by, said, effect, group = connection.execute(_PROOFS[named.letter], given).fetchone()
    later = {"session": session, "group": group, "seq": named.seq}
    is_older = group is not None and connection.execute(_SUBMITTED_SINCE, later).fetchone() is not None
    return Proof(named.letter == "R", str(by), str(said), effect, group, is_older)


def files(connection: sqlite3.Connection, session: str) -> list[File]:
    """The evidence of a session that lies in files."""
    rows = connection.execute(_RECORDED, {"session": session}).fetchall()
    return [
        File(id_, path, hash_, place_of(connection, session, seq))
        for id_, hash_, _, path, seq in rows if path is not None
    ]  # fmt: skip


def is_shared(connection: sqlite3.Connection) -> bool:
    """Whether any evidence on record lies in a shared folder."""
    return connection.execute(_SHARED, (SHARED, SHARED)).fetchone() is not None


def place_of(connection: sqlite3.Connection, session: str, seq: int) -> Place:
    """Where the files lie that a step wrote."""
    row = connection.execute(_INPUT, (session, seq)).fetchone()
    attached = {} if row is None else _parsed(row[0]).get("attached")
    first = attached[0] if isinstance(attached, list) and attached else None
    return _place(first if isinstance(first, dict) else {})


def _place(said: Mapping[str, object]) -> Place:
    host, folder = said.get(HOST), said.get(FOLDER)
    if not isinstance(host, str):
        return Place()
    return Place(host, folder if host == SHARED and isinstance(folder, str) else None)


def inventories(connection: sqlite3.Connection, session: str | None) -> list[Inventory]:
    """What lies on the disk of the runs of a session, or of every one, on each machine."""
    every = [session] if session is not None else [row[0] for row in connection.execute(_WITH_OPERATIONS)]
    return [found for each in every for found in _inventories(connection, each)]


def _inventories(connection: sqlite3.Connection, session: str) -> Iterator[Inventory]:
    newest = _inventory(connection, session)
    if newest is None or newest.place.host is None:
        yield from filter(None, [newest])
        return
    for (host,) in connection.execute(_HOSTS, {"session": session}).fetchall():
        found = _inventory(connection, session, "" if host is None else str(host))
        if found is not None:
            yield found


def _inventory(connection: sqlite3.Connection, session: str, host: str | None = None) -> Inventory | None:
    """What lies on the disk of the machine that recorded last, or of one; an empty name stands for none."""
    sql = _OPERATION if host is None else _OPERATION_ON
    row = connection.execute(sql, {"session": session, "host": host}).fetchone()
    content = {} if row is None or row[3] is None else _parsed(row[2])
    checksum, place = content.get(CHECKSUM), _place(content)
    if not isinstance(checksum, str):
        return None
    id_, seq, _, root = row
    # A folder that several machines share has one name in the record, whatever each of them calls it.
    root, of = (place.folder, SHARED) if place.folder is not None else (root, root)
    deleted = [_parsed(text).get("sessions") for (text,) in connection.execute(_EXPIRIES, {"root": of})]
    gone = any(session in each for each in deleted if isinstance(each, list))
    return Inventory(session, id_, seq, root, checksum, gone, place)


def _parsed(text: object) -> dict[str, object]:
    try:
        found = strict_json.stored(text) if isinstance(text, str) else {}
    except ValueError:
        # It was altered, as its own hash tells.
        return {}
    return found if isinstance(found, dict) else {}


def faults(connection: sqlite3.Connection, session: str) -> Iterator[Fault]:
    """What the database itself keeps and no longer has its hash: evidence, whole messages, hand-offs."""
    for id_, hash_, content, *_ in connection.execute(_RECORDED, {"session": session}):
        if content is not None and digest(content) != hash_:
            yield Fault(id_, "its content does not have the recorded hash")
    for id_, hash_, content in connection.execute(_MESSAGES, {"session": session}):
        if content is None:
            yield Fault(id_, "the message it was taken from is missing")
        elif digest(content) != hash_:
            yield Fault(id_, "the message it was taken from does not have the recorded hash")
    for turn, group, hash_, document in connection.execute(_HANDOFFS, {"session": session}):
        if digest(document) != hash_:
            yield Fault(group or session, f"the hand-off of turn {turn} does not have the recorded hash")


def file_faults(found: list[File], roots: Sequence[Path]) -> Iterator[Fault]:
    """Which files are missing or no longer have the recorded hash; relative paths begin at one of the roots."""
    for each in found:
        _, why = located(each, roots)
        if why is not None:
            yield Fault(each.id, why)


def located(file: File, roots: Sequence[Path]) -> tuple[Path | None, str | None]:
    """Where a file lies that has the recorded hash; else None, and why not at the first place."""
    first = None
    for root in dict.fromkeys(roots):
        why = _why_not(root / file.path, file)
        if why is None:
            return root / file.path, None
        first = first or why
    return None, first


def _why_not(path: Path, file: File) -> str | None:
    sha = hashlib.sha256()
    try:
        # An agent can put anything in its place: a pipe would be waited for, a device has no end.
        with named_files.opened(path) as stream:
            while block := stream.read(_BLOCK):
                sha.update(block)
    except named_files.Unreadable as problem:
        return sentence("{} {}", file.path, problem.reason)
    except OSError as error:
        return sentence("{} cannot be read: {}", file.path, reason(error))
    return None if sha.hexdigest() == file.hash else f"{file.path} does not have the recorded hash"
