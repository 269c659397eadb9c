"""`certificate make`: what a session's verdict rests on as one document, which is checked without the database.

What looks like a secret is masked before anything is hashed, as in an export: a listed step shows who did what and
when, and of a report its group, role, status and effect. Texts of reports are not in it.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Iterator

from orchestrator.app.audit import export_session
from orchestrator.app.engine import overview
from orchestrator.app.kernel import views
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.app.verdict import verdicts
from orchestrator.core import certificates, masking, strict_json
from orchestrator.core.certificates import Event
from orchestrator.core.suggestions import local, sentence, suggest
from orchestrator.core.validation.snapshot import Group, Snapshot
from orchestrator.errors import EnvironmentProblem, Refused
from orchestrator.hints import Any
from orchestrator.store import snapshot, snapshot_read, versions

CHAIN, MANAGER, IMPORTED = "chain", "project_manager", "imported"
"""By what a completed group is: a chain of reports, the project manager's word, or an import."""
_EVENTS = """SELECT e.hash, e.seq, e.at, e.actor, e.channel, CASE WHEN r.role IS NULL THEN e.kind END, r.group_id,
    r.role, r.response_status, r.effect
    FROM audit_events e LEFT JOIN agent_reports r ON r.session_id = e.session_id AND r.seq = e.seq
    WHERE e.session_id = ? ORDER BY e.seq"""
_PERSONS = """SELECT e.seq, e.kind, coalesce(json_extract(e.input, '$.person.proof'),
    CASE e.channel WHEN 'terminal' THEN 'weak' ELSE 'possession' END)
    FROM audit_events e JOIN agents a ON a.id = e.actor AND a.kind = 'human'
    WHERE e.session_id = ? AND e.kind <> 'refusal' ORDER BY e.seq"""
_MOVED = """SELECT entity_id, changed_by, reason, seq FROM status_changes INDEXED BY ix_status_changes_entity
    WHERE session_id = ? AND entity = 'group' ORDER BY entity_id, seq"""
"""Moves of groups; the last of each counts."""
_NAMES = "SELECT id, name FROM task_groups WHERE session_id = ?"
_WORKFLOW = "SELECT name, hash FROM workflow_versions WHERE id = ?"
_MERGE = """SELECT r.details, e.outcome, e.content FROM agent_reports r LEFT JOIN evidence e
    INDEXED BY ix_evidence_merge ON e.session_id = r.session_id AND e.seq = r.seq AND e.subject = r.group_id
    AND e.kind = 'merge' WHERE r.session_id = ? AND r.seq = ? AND r.part = 1"""

Hide = Callable[[str], str]


def make(context: Context, *, session_id: str, sign: str | None = None, output: str | None = None) -> Answer:
    """Make the certificate of a session's newest verdict.

    Args:
        sign: the file of an SSH key, private or public (then its other half is beside it or in an SSH agent).
        output: the file to write; one that exists is never overwritten (default, and `-`: none).

    Returns:
        `session_id`, `verdict`, `head`, `events` (how many steps the session has), `proven` (how many are listed),
        `groups`, `signed`, `bytes`, and `output`, or else the `document` itself.

    Raises:
        Refused: UNKNOWN_SESSION; NO_VERDICT: none was recorded, or the record went on since; ALREADY_EXISTS.
        EnvironmentProblem: CORRUPT, the record does not verify; SIGNING_FAILED; OUTPUT_FAILED.
    """
    if sign is not None and not os.path.isfile(sign):
        raise _unsigned(sign, "it is not a regular file" if os.path.lexists(sign) else "there is no such file")
    made = body(context, session_id)
    text = certificates.document(made, None if sign is None else functools.partial(_signature, context, sign))
    answer: Answer = {
        "success": True,
        "session_id": session_id,
        "verdict": made["verdict"]["verdict"],
        "head": made["head"],
        "events": made["size"],
        "proven": len(made["events"]),
        "groups": len(made["groups"]),
        "signed": sign is not None,
        "bytes": len(text.encode()),
        "output": None,
    }
    if output in (None, "-"):
        return {**answer, "document": strict_json.stored(text)}
    path, _, _ = export_session.to_file(os.path.realpath(str(output)), text.encode(), iter(()))
    return {**answer, "output": path}


def body(context: Context, session_id: str) -> dict[str, Any]:
    """What the certificate of a session says.

    Raises:
        Refused: UNKNOWN_SESSION, NO_VERDICT. EnvironmentProblem: CORRUPT.
    """
    with snapshot_read.of(context.connection, context.deadline_s):
        return _Body(context, session_id).made()


def _signature(context: Context, key: str, text: str) -> str:
    """The signature of a text, made by `ssh-keygen`, which asks for what it needs itself."""
    found = context.surroundings and context.surroundings.sign("", key, text, certificates.NAMESPACE)
    if not found:
        raise _unsigned(key, "ssh-keygen could not sign with it")
    return str(found)


def _unsigned(key: str, why: str) -> EnvironmentProblem:
    message = sentence("The certificate was not signed with {}: {}.", local(key), why)
    return EnvironmentProblem("SIGNING_FAILED", message, "Name an SSH key of yours")


class _Body:
    """What a certificate says, read in one moment."""

    def __init__(self, context: Context, session_id: str) -> None:
        self._context = context
        self._id = session_id
        self._hide = functools.lru_cache(maxsize=65536)(functools.partial(masking.mask, secrets=context.secrets))
        self._rested: set[int] = set()
        self._every: list[Event] = []

    def made(self) -> dict[str, Any]:
        """The whole of it."""
        verdict = self._verdict()
        seen = snapshot.read(self._context.connection, self._id, self._context.deadline_s)
        assert seen is not None  # noqa: S101 - it has a verdict
        self._require_whole(seen.snapshot)
        every = self._every = self._events()
        groups = self._groups(seen.snapshot)
        persons = self._persons(every)
        self._rested |= {1, len(every), seen.snapshot.confirmation_seq or 1}
        # What is listed comes first in the tree: the rest needs a dozen nodes then, whatever is listed.
        order = sorted(every, key=lambda each: (each.seq not in self._rested, each.seq))
        placed = [each._replace(place=place) for place, each in enumerate(order)]
        rested = placed[: len(self._rested)]
        leaves = [certificates.leaf(each.listed()) for each in placed]
        root, proof = certificates.tree(leaves, range(len(rested)))
        return {
            "format": certificates.NAME,
            "version": certificates.VERSION,
            "made_at": self._context.clock(),
            "session": self._session(),
            "workflow": self._workflow(),
            "verdict": verdict,
            "groups": groups,
            "merges": [*self._merges(groups)],
            "persons": persons,
            "head": seen.snapshot.head,
            "events": [each.listed() for each in rested],
            "size": len(every),
            "root": certificates.encoded(root),
            "proof": certificates.encoded(b"".join(proof)),
        }

    def _rows(self, sql: str, *keys: object) -> list[Any]:
        found: list[Any] = self._context.connection.execute(sql, keys or (self._id,)).fetchall()
        return found

    def _text(self, value: Any) -> Any:
        """A document with its texts masked."""
        if isinstance(value, str):
            return self._hide(value)
        if isinstance(value, dict):
            return {name: self._text(each) for name, each in value.items()}
        return [self._text(each) for each in value] if isinstance(value, list) else value

    def _verdict(self) -> dict[str, Any]:
        found = verdicts.newest(self._context, self._id)
        way = suggest("validate", session_id=self._id)
        if found is None:
            message = f"Session {self._id} has no verdict yet, so there is nothing to certify."
            raise Refused("NO_VERDICT", message, way)
        # It is about the past, which nobody who holds only the file could see (AUD-32).
        if not found["fresh"]:
            message = f"The verdict of session {self._id} ({found['verdict']}) is out of date: the record went on."
            raise Refused("NO_VERDICT", message, way)
        self._rested.add(_seq(found["report_id"]))
        names = ("verdict", "reason", "report_id", "at", "checks")
        return {name: self._text(found[name]) for name in names}

    def _require_whole(self, seen: Snapshot) -> None:
        faults = [*seen.chain, *seen.guards]
        if faults:
            what = f"The record of session {self._id} does not verify: {faults[0].subject}: {faults[0].text}"
            raise EnvironmentProblem("CORRUPT", what, suggest("audit verify", session_id=self._id))

    def _session(self) -> dict[str, Any]:
        row = views.session_row(self._context.reader, self._id)
        names = ("id", "kind", "goal", "testing_mode", "created_at", "status", "outcome")
        return {name: self._text(row[name]) for name in names}

    def _workflow(self) -> dict[str, Any]:
        session = self._context.require_session(self._id)
        ((name, hash_),) = self._rows(_WORKFLOW, session.workflow_version_id)
        pinned = versions.pinned(self._context.connection, self._id)
        moves = versions.moves(self._context.connection, self._id)
        self._rested |= {each.seq for each in moves}
        return {
            "name": self._hide(name),
            "hash": hash_,
            "pinned": None if pinned is None else self._hide(pinned.text()),
            "changes": [self._hide(each.text()) for each in moves],
        }

    def _events(self) -> list[Event]:
        hide = self._hide
        return [
            Event(0, seq, certificates.encoded(hash_), *(each and hide(each) for each in rest))
            for hash_, seq, *rest in self._rows(_EVENTS)
        ]

    def _persons(self, every: list[Event]) -> list[dict[str, Any]]:
        found = []
        for seq, kind, proof in self._rows(_PERSONS):
            act = every[seq - 1]
            self._rested.add(seq)
            found.append({"seq": seq, "kind": kind, "actor": act.actor, "channel": act.channel, "proof": proof})
        return found

    def _groups(self, seen: Snapshot) -> list[dict[str, Any]]:
        names = dict(self._rows(_NAMES))
        moved = {id_: (by, reason, seq) for id_, by, reason, seq in self._rows(_MOVED)}
        return [self._group(each, names[each.id], *moved.get(each.id, ("", "", None))) for each in seen.groups]

    def _group(self, group: Group, name: str, by: str, reason: str, seq: int | None) -> dict[str, Any]:
        if seq is not None:
            self._rested.add(seq)
        _, parts = overview.path(self._context.reader, self._id, group.id)
        return {
            "id": self._hide(group.id),
            "name": self._hide(name),
            "kind": group.kind,
            "status": group.status,
            "by": _by(group) if group.status == "completed" else None,
            "changed_by": self._hide(by),
            "reason": self._hide(reason),
            "acknowledged": group.acknowledged and self._hide(group.acknowledged),
            "path": [*self._path(parts)],
        }

    def _path(self, parts: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        for part in parts:
            found = {"part": part["part"], "met": part["met"], "code": part["code"], "report_id": None, "hash": None}
            if part["report_id"] is not None:
                seq = _seq(part["report_id"])
                self._rested.add(seq)
                found |= {"report_id": self._hide(part["report_id"]), "hash": self._every[seq - 1].hash}
            yield found

    def _merges(self, groups: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        for group in groups:
            part = next((each for each in group["path"] if each["part"] == "merged"), None)
            if part is None or part["report_id"] is None or group["status"] != "completed":
                continue
            ((details, outcome, commit),) = self._rows(_MERGE, self._id, _seq(part["report_id"]))
            named = strict_json.stored(details).get("commit")
            yield {
                "group": group["id"],
                "report_id": part["report_id"],
                "commit": snapshot.commit_id(commit or named),
                "proof": outcome,
            }


def _by(group: Group) -> str:
    return IMPORTED if group.grandfathered else CHAIN if group.chain else MANAGER


def _seq(report_id: str) -> int:
    return int(report_id.rpartition(":R")[2])
