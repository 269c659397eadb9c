"""What verifying finds: stable codes, a sentence for each finding, and what to do about it; as many as asked for."""

from __future__ import annotations

import bisect

from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.suggestions import quoted, sentence, suggest
from orchestrator.store.constants import STORE_CHAIN

EVENT_ALTERED = "EVENT_ALTERED"
EVENT_MISSING = "EVENT_MISSING"
EVENT_ADDED = "EVENT_ADDED"
EVENT_UNLINKED = "EVENT_UNLINKED"
HEAD_MISSING = "HEAD_MISSING"
ROWS_ALTERED = "ROWS_ALTERED"
ROWS_MISSING = "ROWS_MISSING"
ROWS_UNCOVERED = "ROWS_UNCOVERED"
ROWS_ORPHANED = "ROWS_ORPHANED"
ROWS_UNREADABLE = "ROWS_UNREADABLE"
EVENT_EMPTY = "EVENT_EMPTY"
EVENT_FOREIGN = "EVENT_FOREIGN"
STATE_ALTERED = "STATE_ALTERED"
STATE_MISSING = "STATE_MISSING"
STATE_UNCOVERED = "STATE_UNCOVERED"
TEXT_ALTERED = "TEXT_ALTERED"
TEXT_MISSING = "TEXT_MISSING"
TEXT_UNCOVERED = "TEXT_UNCOVERED"
EVIDENCE_ALTERED = "EVIDENCE_ALTERED"
EVIDENCE_FILE = "EVIDENCE_FILE"
TEXT_DAMAGED = "TEXT_DAMAGED"
FILE_DAMAGED = "FILE_DAMAGED"
TEMP_SHADOW = "TEMP_SHADOW"


class Finding(NamedTuple):
    """Something that is not as the record says: a stable code, where, a sentence, and what to do.

    chain: a session's id, or the chain of the store; None where it is about the database as a whole.
    seq: the step that it is about; None where it is about none.
    table: the table; for views, triggers and indexes the name is in `subject` alone.
    """

    code: str
    chain: str | None
    seq: int | None
    table: str | None
    subject: str
    message: str
    suggestion: str


class Found:
    """The first findings, by chain and step, and how many there are of each code; whole-database ones come first.

    Args:
        path: the database, for what to do about it.
        most: how many findings are kept.
    """

    def __init__(self, path: str, most: int) -> None:
        self.counts: dict[str, int] = {}
        self.path = path
        self.most = most
        self.kept: list[Finding] = []

    def add(self, finding: Finding) -> None:
        """Note a finding that says itself what to do."""
        self.counts[finding.code] = self.counts.get(finding.code, 0) + 1
        self._keep(finding)

    def _keep(self, finding: Finding) -> None:
        bisect.insort(self.kept, finding, key=_place)
        del self.kept[self.most :]

    def at(self, code: str, chain: str | None, seq: int | None, table: str | None, subject: str, message: str) -> None:
        """Note a finding about a step, or about rows that no step is known for."""
        self.add(Finding(code, chain, seq, table, subject, message, self._suggestion(code, chain, seq)))

    def _suggestion(self, code: str, chain: str | None, seq: int | None) -> str:
        # The database says what the file was; it is the file that has to come back.
        what = "the file" if code == EVIDENCE_FILE else quoted(self.path)
        restore = sentence("restore a backup of {} from before it was changed", what)
        if chain is None or seq is None or seq < 1:
            return restore
        session = "store" if chain == STORE_CHAIN else chain
        return sentence("{}; then {}", suggest("audit timeline", session_id=session, since=seq - 1, until=seq), restore)

    def clear(self) -> None:
        """Forget everything that was noted."""
        self.counts.clear()
        self.kept.clear()

    @property
    def total(self) -> int:
        """How many findings there are."""
        return sum(self.counts.values())

    def merge(self, other: Found) -> None:
        """Take over what another one found."""
        for finding in other.kept:
            self._keep(finding)
        for code, count in other.counts.items():
            self.counts[code] = self.counts.get(code, 0) + count


def _place(finding: Finding) -> tuple[str, int, str, str]:
    return finding.chain or "", finding.seq or 0, finding.table or "", finding.subject
