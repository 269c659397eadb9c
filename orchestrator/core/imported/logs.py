"""What the lines of a peer's log say of its groups. They are texts: whatever is found in them proves nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from orchestrator.core.imported.texts import excerpt
from orchestrator.core.named_tuple import NamedTuple

COORDINATORS = ("orchestrator", "system")
"""Who writes about the work of others; what they say of a group is no answer of an agent."""
BLOCKED = "BLOCKED"
APPROVED = ("APPROVED", "APPROVED_WITH_NOTES")
SETTLING = ("UNBLOCKING_GUIDANCE", "RESUME_BLOCKED", *APPROVED)
MERGED = "MERGE_SUCCESS"
CONFIRMED = "BAZINGA"

_WORDS = r"(?<![A-Za-z0-9_])[A-Z][A-Z_]{3,}(?![A-Za-z0-9_])"
_NEGATED = r"(?i)(?:\bnot|\bnever)\s+"
_NAME = r"[A-Za-z0-9][A-Za-z0-9_.-]*"
_KNOWN = frozenset((BLOCKED, *SETTLING, MERGED, CONFIRMED))


class Line(NamedTuple):
    """One line of a log: its number in the peer's table, its author, its group, and the statuses that it names."""

    number: str
    agent: str
    group_id: str | None
    content: str
    statuses: frozenset[str]

    @property
    def quoted(self) -> str:
        """The line as a finding quotes it."""
        return f"log {self.number}, {self.agent}: {excerpt(self.content)}"


def statuses(content: str) -> frozenset[str]:
    """The statuses that a text names, without those that it denies."""
    found = set()
    for word in re.finditer(_WORDS, content):
        denied = re.fullmatch(_NEGATED, content[max(0, word.start() - 6) : word.start()].lstrip())
        if word.group() in _KNOWN and not denied:
            found.add(word.group())
    return frozenset(found)


def of_groups(lines: Iterable[Line], peer_ids: Mapping[str, str]) -> dict[str, list[Line]]:
    """The lines of each group: those that belong to it, and of those that belong to none the ones that name it.

    Args:
        peer_ids: group ids by the peer's own ids. Where there is one group, every line is its own.
    """
    found: dict[str, list[Line]] = {group: [] for group in peer_ids.values()}
    only = next(iter(found)) if len(found) == 1 else None
    for line in lines:
        groups = {line.group_id or only} if line.group_id or only else _named(line.content, peer_ids)
        for group in groups:
            if group in found:
                found[group].append(line)
    return found


def _named(content: str, peer_ids: Mapping[str, str]) -> set[str | None]:
    words = {word.rstrip("._-") for word in re.findall(_NAME, content)} | set(re.findall(_NAME, content))
    return {peer_ids[word] for word in words if word in peer_ids}


def last_block(lines: Sequence[Line]) -> int | None:
    """Where the newest BLOCKED of an agent stands that no later line of an agent settles; None where there is none."""
    found = None
    for place, line in enumerate(lines):
        if line.agent in COORDINATORS:
            continue
        if BLOCKED in line.statuses:
            found = place
        elif line.statuses.intersection(SETTLING):
            found = None
    return found
