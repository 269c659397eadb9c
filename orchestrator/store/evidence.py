"""Evidence by its id, and whether what is kept still has the hash that the record says."""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from orchestrator.core.tuples import NamedTuple

_ID = r":([ER])([1-9][0-9]{0,17})(?:\.([1-9][0-9]{0,8}))?"
_TABLES = {"E": "evidence", "R": "agent_reports"}
_BLOCK = 1024 * 1024

_RECORDED = "SELECT id, hash, content, path FROM evidence WHERE session_id = :session ORDER BY seq, part"
_MESSAGES = """SELECT r.id, r.raw_hash, t.content FROM agent_reports r LEFT JOIN texts t ON t.hash = r.raw_hash
    WHERE r.session_id = :session AND r.raw_hash IS NOT NULL ORDER BY r.seq"""
_HANDOFFS = "SELECT turn, group_id, hash, document FROM handoffs WHERE session_id = :session ORDER BY turn, rowid"


class File(NamedTuple):
    """A piece of evidence that lies in a file."""

    id: str
    path: str
    hash: str


class Fault(NamedTuple):
    """A piece of evidence that does not stand, and why."""

    id: str
    why: str


def digest(text: str) -> str:
    """The hash of a text that is kept as evidence: SHA-256, in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def exists(connection: sqlite3.Connection, session: str, id_: str) -> bool:
    """Whether an id names evidence, or a report, of this session."""
    found = re.fullmatch(_ID, id_.removeprefix(session)) if id_.startswith(f"{session}:") else None
    if found is None:
        return False
    letter, seq, part = found.groups()
    row = connection.execute(
        f"SELECT id FROM {_TABLES[letter]} WHERE session_id = :session AND seq = :seq AND part = :part",
        {"session": session, "seq": int(seq), "part": int(part or 1)},
    ).fetchone()
    return bool(row and row[0] == id_)


def files(connection: sqlite3.Connection, session: str) -> list[File]:
    """The evidence of a session that lies in files."""
    rows = connection.execute(_RECORDED, {"session": session})
    return [File(id_, path, hash_) for id_, hash_, _, path in rows if path is not None]


def faults(connection: sqlite3.Connection, session: str) -> Iterator[Fault]:
    """What the database itself keeps and no longer has its hash: evidence, whole messages, hand-offs."""
    for id_, hash_, content, _ in connection.execute(_RECORDED, {"session": session}):
        if content is not None and digest(content) != hash_:
            yield Fault(id_, "its content does not have the recorded hash")
    for id_, hash_, content in connection.execute(_MESSAGES, {"session": session}):
        if content is None:
            yield Fault(id_, "the whole message that it was taken from is missing")
        elif digest(content) != hash_:
            yield Fault(id_, "the whole message that it was taken from does not have the recorded hash")
    for turn, group, hash_, document in connection.execute(_HANDOFFS, {"session": session}):
        if digest(document) != hash_:
            yield Fault(group or session, f"the hand-off of turn {turn} does not have the recorded hash")


def file_faults(found: list[File], root: Path) -> Iterator[Fault]:
    """Which files are missing or no longer have the recorded hash; relative paths begin at the root."""
    for each in found:
        sha = hashlib.sha256()
        try:
            with (root / each.path).open("rb") as stream:
                while block := stream.read(_BLOCK):
                    sha.update(block)
        except OSError as error:
            yield Fault(each.id, f"{each.path} cannot be read: {error.strerror}")
            continue
        if sha.hexdigest() != each.hash:
            yield Fault(each.id, f"{each.path} does not have the recorded hash")
