"""What is kept by the hash of its content: texts, and evidence in the database and in files."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from orchestrator.core.named_tuple import NamedTuple
from orchestrator.hints import Any
from orchestrator.store import evidence, findings, row_hashes
from orchestrator.store.findings import Found
from orchestrator.store.row_hashes import Span

_TEXTS = "texts"
_EVIDENCE = "evidence"
_NAMED = f"""SELECT {row_hashes.key('r.session_id')}, {row_hashes.number('r.seq')}, {row_hashes.key('r.raw_hash')},
    CAST(t.content AS BLOB)
    FROM agent_reports r LEFT JOIN texts t ON t.hash = r.raw_hash WHERE r.raw_hash IS NOT NULL AND {{where}}
    ORDER BY r.session_id, r.seq"""
# `NOT IN` reads the reports once; there is no index on the hashes that they name.
_UNNAMED = f"""SELECT {row_hashes.key('hash')} FROM texts
    WHERE hash NOT IN (SELECT raw_hash FROM agent_reports WHERE raw_hash IS NOT NULL) ORDER BY rowid"""
_KEPT = f"""SELECT {row_hashes.key('t.session_id')}, {row_hashes.number('t.seq')}, {row_hashes.key('t.id')},
    {row_hashes.key('t.hash')}, CAST(t.content AS BLOB), CAST(t.path AS BLOB) FROM evidence t WHERE {{where}}
    ORDER BY t.session_id, t.seq, t.part"""


class Outside(NamedTuple):
    """A piece of evidence in a file, and the step that recorded it."""

    chain: str
    seq: int
    file: evidence.File


def compare(connection: sqlite3.Connection, span: Span, found: Found) -> list[Outside]:
    """Note the texts and the evidence that no longer have their hash, and texts that no report names.

    Returns:
        The evidence that lies in files, to be looked at when no transaction is open.
    """
    sql = _NAMED.format(where=span.where("r.session_id", "r.seq"))
    for chain, seq, hash_, content in map(_decoded, connection.execute(sql, span.parameters)):
        if content is None:
            message = f"The whole message that step {seq} took in is missing."
            found.at(findings.TEXT_MISSING, chain, seq, _TEXTS, hash_, message)
        elif hashlib.sha256(content).hexdigest() != hash_:
            message = f"The whole message that step {seq} took in does not have its hash."
            found.at(findings.TEXT_ALTERED, chain, seq, _TEXTS, hash_, message)
    if span.chain is None and not span.since:
        for (hash_,) in connection.execute(_UNNAMED):
            name = _text(hash_)
            found.at(findings.TEXT_UNCOVERED, None, None, _TEXTS, name, f"No report names the text {name}.")
    return _evidence(connection, span, found)


def _evidence(connection: sqlite3.Connection, span: Span, found: Found) -> list[Outside]:
    outside = []
    sql = _KEPT.format(where=span.where("t.session_id", "t.seq"))
    for row in connection.execute(sql, span.parameters):
        chain, seq, hash_, content = _decoded((*row[:2], *row[3:5]))
        id_, path = _text(row[2]), row[5]
        if path is not None:
            outside.append(Outside(chain, seq, evidence.File(id_, os.fsdecode(path), hash_)))
        elif hashlib.sha256(content or b"").hexdigest() != hash_:
            message = f"The content of evidence {id_} does not have the recorded hash."
            found.at(findings.EVIDENCE_ALTERED, chain, seq, _EVIDENCE, id_, message)
    return outside


def _decoded(row: tuple[Any, ...]) -> tuple[str, int, str, bytes | None]:
    chain, seq, hash_, content = row
    return _text(chain), seq, _text(hash_), content


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


def compare_files(outside: list[Outside], roots: Sequence[Path], found: Found) -> None:
    """Note the files that are missing or no longer have the recorded hash; relative paths begin at one of the roots."""
    for each in outside:
        for fault in evidence.file_faults([each.file], roots):
            message = f"Evidence {fault.id}: {fault.why}."
            found.at(findings.EVIDENCE_FILE, each.chain, each.seq, _EVIDENCE, fault.id, message)
