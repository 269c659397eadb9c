"""Is the record whole, and what is a chain's head, to be noted outside of the database?

Verifying reads one moment of the database and changes nothing. What it cannot see by itself is a record whose end was
cut off, or that was written anew from some step on by somebody with access to the file and much effort: only a head
that was noted elsewhere tells that.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator

from orchestrator.app.audit import audit_log
from orchestrator.app.kernel import attached_evidence
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.core import canonical_json
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.suggestions import local, sentence, suggest
from orchestrator.errors import EXIT_NEGATIVE, EXIT_OK, Refused, UsageError
from orchestrator.hints import Any
from orchestrator.store import (
    content_store,
    evidence,
    file_safety,
    findings,
    parallel_reads,
    row_hashes,
    schema_diff,
    snapshot,
    snapshot_read,
    step,
    verify_chain,
)
from orchestrator.store.constants import STORE_CHAIN
from orchestrator.store.findings import Found
from orchestrator.store.row_hashes import Span
from orchestrator.store.verify_chain import Head, Looked

SHOWN = 50
_HEAD = r"(?:([1-9][0-9]{0,17}):)?([0-9a-fA-F]{64})"
_CHAINS = "SELECT id FROM sessions ORDER BY id"


def verify(
    context: Context,
    *,
    session_id: str | None = None,
    head: str | None = None,
    since: int | None = None,
    limit: int = SHOWN,
) -> Answer:
    """Whether the record is as its events say, and the database as this program made it.

    Args:
        session_id: one session; `store` (or `@store`) for what belongs to none; None for all of it.
        head: a head as `head` gave it, `SEQ:HASH` or the hash alone: it must still be part of the record.
        since: a step of the session up to which all was verified before: it is trusted, and only what came after it
            is looked at.
        limit: how many findings are listed at most.

    Returns:
        `ok`, `findings` [{code, session_id, seq, table, subject, message, suggestion}], `counts` of all findings by
        code, `total`, `has_more`, `notes` [{seq, message}] on repairs, how many `chains`, `events` and `rows` were
        looked at, the session's `head`, `warnings` about the file where there are any, and `exit_code` 0 or 1.

    Raises:
        UsageError: USAGE, the head is none, or a step without its session. Refused: UNKNOWN_SESSION.

    Source: seed 004, Proposed Solution 2.
    """
    noted = None if head is None else _head(head)
    if since is not None and session_id is None:
        raise UsageError(
            "USAGE", "--since needs --session-id: steps are numbered per session.",
            suggest("audit verify", session_id="S1"),
        )
    canonical_json.quicken()
    found = Found(context.path, limit)
    seen = _seen(context, session_id, since or 0, noted, found)
    return _told(seen, since, _files(context, seen, found), found)


def _told(seen: _Seen, since: int | None, warnings: list[Any], found: Found) -> Answer:
    return {
        **({"warnings": warnings} if warnings else {}),
        "success": True,
        "ok": not found.total,
        "session_id": seen.chain,
        "since": since,
        "head": seen.last["head"] if seen.last else None,
        "chains": seen.looked.chains,
        "events": seen.looked.events,
        "rows": seen.looked.rows,
        "findings": [_finding(each) for each in found.kept],
        "counts": found.counts,
        "total": found.total,
        "has_more": found.total > len(found.kept),
        "notes": seen.notes,
        "exit_code": EXIT_NEGATIVE if found.total else EXIT_OK,
    }


class _Seen(NamedTuple):
    """What one moment of the database showed.

    chain: the one that was asked about; last: its end. looked: how much was read.
    outside: files that rows name; left: what runs have left on the disk.
    risks: what is wrong with the database's file. notes: repairs.
    """

    chain: str | None
    last: Answer | None
    looked: Looked
    outside: list[content_store.Outside]
    left: list[evidence.Inventory]
    risks: list[file_safety.Risk]
    notes: list[Answer]


def _seen(context: Context, session: str | None, since: int, noted: Head | None, found: Found) -> _Seen:
    held = snapshot_read.of_two(context.connection, context.deadline_s)
    with held as second, _any_text(context.connection, second):
        chain = None if session is None else _chain(context, session)
        looked, outside = _look(context, second, Span(chain, since), noted, found)
        left = [each for each in evidence.inventories(context.connection, chain) if each.seq > since]
        risks = file_safety.risks(context.connection, context.state_folder)
        notes = [{"seq": seq, "message": message} for seq, message in schema_diff.repairs(context.connection)]
        last = None if chain is None else _last(context, chain)
    return _Seen(chain, last, looked, outside, left, risks, notes)


def _files(context: Context, seen: _Seen, found: Found) -> list[Any]:
    """Compare the files beside the database with what is recorded of them; warnings about its own."""
    apart = list(_compare_files(context, seen.outside, found))
    _compare_inventories(context.path, seen.left, found)
    for risk in seen.risks:
        if risk.severity == "error":
            found.add(findings.Finding(risk.id, None, None, None, "file", risk.message, risk.suggestion))
    apart += [
        _elsewhere(each.id, each.place, each.root) for each in attached_evidence.unreachable(context.path, seen.left)
    ]
    as_found = [context.warning] if context.warning else []
    return [*as_found, *apart, *(risk.warning() for risk in seen.risks if risk.severity != "error")]


def _compare_files(context: Context, outside: Iterable[content_store.Outside], found: Found) -> Iterator[Any]:
    """Compare the files that rows name; what is said of those that are out of reach."""
    for each in outside:
        place = evidence.place_of(context.connection, each.chain, each.seq)
        roots = attached_evidence.roots(context.path, each.chain, place.folder)
        if evidence.located(each.file, roots)[0] is None and attached_evidence.is_elsewhere(context.path, place):
            yield _elsewhere(each.file.id, place, each.file.path)
        else:
            content_store.compare_files([each], roots, found)


def _elsewhere(id: str, place: evidence.Place, below: str) -> str:
    said = "Evidence {} lies on {} (below {}) and was not compared."
    return sentence(said, id, str(place.host), local(place.folder or below))


@contextlib.contextmanager
def _any_text(*connections: Any) -> Iterator[None]:
    """Read texts whose bytes are no UTF-8 as well: they are what is looked for."""
    given = [(each, each.text_factory) for each in connections if each is not None]
    for each, _ in given:
        each.text_factory = lambda text: text.decode("utf-8", "replace")
    try:
        yield
    finally:
        for each, factory in given:
            each.text_factory = factory


def _look(
    context: Context, second: Any, span: Span, noted: Head | None, found: Found
) -> tuple[Looked, list[content_store.Outside]]:
    connection, whole = context.connection, span.chain is None
    spans = (Span(STORE_CHAIN), span) if whole else (span,)
    schema_diff.compare(connection, found)
    excused = any(map(found.counts.get, verify_chain.PARTS_MISSING))
    pages, hashed, related = (Found(found.path, found.most) for _ in range(3))
    # One statement that stays inside SQLite. Two threads that both fetch rows hand the interpreter's lock to and fro
    # at every row, and take longer than one that does both (AUD-5).
    with parallel_reads.run(lambda reader: schema_diff.damages(reader, pages), connection, second):
        looked = _together(verify_chain.verify(connection, each, hashed, noted) for each in spans)
        for each in spans:
            verify_chain.relate(connection, each, related, excused=excused)
    found.merge(pages)
    found.merge(hashed)
    if whole:
        # Lines hold the texts of their rows; beside any other finding everything is read.
        trusted = looked.decodable and not found.total
        schema_diff.texts(connection, found, row_hashes.LINED if trusted else ())
    found.merge(related)
    if noted is not None and not looked.head:
        found.at(findings.HEAD_MISSING, span.chain, noted.seq or None, row_hashes.EVENTS, "head", _head_words(noted))
    return looked, [each for one in spans for each in content_store.compare(connection, one, found)]


def _compare_inventories(path: str, left: Iterable[evidence.Inventory], found: Found) -> None:
    """Note what runs have left on the disk that is not as it was recorded."""
    for each in left:
        for fault in attached_evidence.run_faults(path, [each]):
            message = f"Evidence {fault.id}: {fault.why}."
            found.at(findings.EVIDENCE_FILE, each.session, each.seq, "evidence", fault.id, message)


def _together(parts: Iterable[Looked]) -> Looked:
    chains, events, rows, seen, decodable = zip(*parts, strict=True)
    return Looked(sum(chains), sum(events), sum(rows), any(seen), all(decodable))


def _head_words(noted: Head) -> str:
    where = f"step {noted.seq}" if noted.seq else "a step"
    return (
        f"The noted head, {where} with hash {noted.hash.hex()[:16]}..., is not part of the record: its end was cut"
        f" off, or it was rewritten."
    )


def _finding(each: findings.Finding) -> Answer:
    row = each._asdict()
    return {"code": row.pop("code"), "session_id": row.pop("chain"), **row}


def head(context: Context, *, session_id: str | None = None) -> Answer:
    """The head of a chain, or of every one, to be noted outside of the database.

    Args:
        session_id: one session; `store` (or `@store`) for what belongs to none; None for all chains.

    Returns:
        `heads` [{session_id, seq, hash, head}], where `head` is what `verify` takes.

    Raises:
        Refused: UNKNOWN_SESSION.
    """
    with snapshot_read.of(context.connection, context.deadline_s):
        if session_id is not None:
            chains = [_chain(context, session_id)]
        else:
            chains = [STORE_CHAIN, *(row[0] for row in context.connection.execute(_CHAINS))]
        return {"success": True, "heads": [last for chain in chains if (last := _last(context, chain))]}


def _last(context: Context, chain: str) -> Answer | None:
    row = context.connection.execute(step.LAST_EVENT, (chain,)).fetchone()
    if row is None:
        return None
    seq, hash_ = row
    return {"session_id": chain, "seq": seq, "hash": hash_.hex(), "head": snapshot.head(seq, hash_)}


def _chain(context: Context, named: str) -> str:
    """The chain that is meant, even where the session's own row is gone.

    Raises:
        Refused: UNKNOWN_SESSION.
    """
    try:
        return audit_log.chain_of(context, named)
    except Refused:
        if _last(context, named) is None:
            raise
        return named


def _head(text: str) -> Head:
    found = re.fullmatch(_HEAD, text.strip())
    if found is None:
        raise UsageError(
            "USAGE",
            "A head is SEQ:HASH, or just the 64 hexadecimal digits of the hash.",
            suggest("audit head"),
        )
    return Head(int(found[1] or 0), bytes.fromhex(found[2]))
