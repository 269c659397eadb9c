"""What checking a certificate costs: row 20, on documents as `certificate make` gives them for sessions of a size."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterator
from typing import Any

from orchestrator.app.audit import check_certificate
from orchestrator.core import certificates
from tools.benchmarks import harness
from tools.benchmarks.table import Bound, Figure

EVENTS = 100_000
LIMIT_S = 2.0
"""Seconds that a check of a session with so many events may take."""
SESSION, AT = "S1", "2026-01-01T00:00:00.000000Z"
STEPS = (
    ("developer", "READY_FOR_QA", "progress", "built"), ("qa_expert", "PASS", "pass", "tested"),
    ("tech_lead", "APPROVED", "approve", "approved"), ("developer", "MERGE_SUCCESS", "merge", "merged"),
)  # fmt: skip
"""The reports of each group, and the part of its path that each meets."""


def checks(rounds: int) -> Iterator[Figure]:
    """Row 20: the time of a check beside what it may take; that of a far larger session is shown and not judged."""
    for groups, bound in ((1_000, Bound(1, 0.5)), (20_000, None)):
        data = certificate(groups, EVENTS)
        check = functools.partial(check_certificate.check, data, "it")
        if not check()["ok"]:
            raise harness.CommandFailed("the measured certificate should hold")
        seconds = harness.interleaved({"ours": check}, rounds)["ours"]
        measure = f"`certificate check` of {groups:,} groups and {EVENTS:,} events"
        yield Figure(measure, f"{LIMIT_S:g} s", seconds / LIMIT_S, bound, f"{seconds:.2f} s, {len(data) / 1e6:.1f} MB")


def certificate(groups: int, events: int) -> bytes:
    """A certificate of a session in which every group went its chain, and much else happened."""
    body: dict[str, Any] = {"groups": [], "merges": [], "events": [], "persons": [], "workflow": {}}
    for number in range(groups):
        _complete(body, f"G{number}", 1 + number * len(STEPS))
    listed = body["events"]
    listed.append([len(listed), events, _hash(events), AT, "system:validator", "process", None, "validator", "ACCEPT",
                   "verdict"])  # fmt: skip
    leaves = [certificates.leaf(each) for each in listed]
    leaves += [hashlib.sha256(number.to_bytes(8)).digest() for number in range(events - len(listed))]
    root, proof = certificates.tree(leaves, range(len(listed)))
    body |= {
        "format": certificates.NAME, "version": certificates.VERSION, "made_at": AT, "size": events,
        "session": {"id": SESSION, "goal": "Ship it", "outcome": "accepted"},
        "head": f"{events}:{_digest(events).hex()}",
        "verdict": {"verdict": "ACCEPT", "report_id": f"{SESSION}:R{events}", "at": AT, "checks": []},
        "root": certificates.encoded(root), "proof": certificates.encoded(b"".join(proof)),
    }  # fmt: skip
    return certificates.document(body).encode()


def _complete(body: dict[str, Any], group: str, after: int) -> None:
    path = []
    for seq, (role, status, effect, part) in enumerate(STEPS, after + 1):
        listed = [len(body["events"]), seq, _hash(seq), AT, f"{role}@{SESSION}:{group}", "process", group, role, status]
        body["events"].append([*listed, effect])
        report = f"{SESSION}:R{seq}"
        reason = f"{status} was reported by {role} as {report}"
        path.append({"part": part, "met": True, "report_id": report, "hash": _hash(seq), "reason": reason})
    body["merges"].append({"group": group, "report_id": report, "commit": _digest(after).hex()[:40]})
    body["groups"].append({
        "id": group, "name": f"Part {group}", "kind": "code", "status": "completed", "by": "chain", "path": path,
    })  # fmt: skip


def _digest(number: int) -> bytes:
    return hashlib.sha256(str(number).encode()).digest()


def _hash(number: int) -> str:
    return certificates.encoded(_digest(number))
