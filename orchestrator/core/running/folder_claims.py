"""Who works in a folder of the disk or waits to, told to whoever has another database: what stands there, who is first.

Rows of locks are the authority within one database. Between databases there is one rule: of runs whose folders overlap
only those of one database work at a time, whether they write or only ask, since what changes while others work in a
folder could not be told apart by records that do not know of each other.

Source: seed 001, Properties 6 and 12.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from orchestrator.core import strict_json
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.running import locks
from orchestrator.core.suggestions import joined, local, sentence


class Occupant(NamedTuple):
    """A run that works in a folder, or waits to.

    database: what tells its database from others. path: where that lies, for people. owner: the process that runs it.
    below: where it works, relative to the folder in which it stands; empty for that itself.
    since: when it came, in nanoseconds. waits: it does not work yet.
    """

    database: str
    path: str
    owner: str
    run: str
    below: str = ""
    since: int = 0
    waits: bool = False


def render(occupant: Occupant) -> bytes:
    """An occupant as its file holds it."""
    return json.dumps(occupant._asdict(), sort_keys=True).encode()


def read(data: bytes) -> Occupant | None:
    """The occupant that a file holds; None where it is not what the runner writes."""
    try:
        document = strict_json.lenient(data)
        found = Occupant(**document)
    except (ValueError, TypeError):
        return None
    texts = (found.database, found.path, found.owner, found.run, found.below)
    if not all(isinstance(text, str) for text in texts) or type(found.since) is not int:
        return None
    return found if isinstance(found.waits, bool) else None


def against(mine: Occupant, others: Sequence[Occupant]) -> tuple[Occupant, ...]:
    """Who keeps one from working in a folder now: runs of other databases that work there, or came to wait before.

    Where runs of its own database work there already it passes those who wait, who may wait for these very runs.
    """
    joins = any(each.database == mine.database and not each.waits and meet(mine, each) for each in others)
    return tuple(
        each for each in others
        if each.database != mine.database and meet(mine, each)
        and (not each.waits or (not joins and each.since < mine.since))
    )  # fmt: skip


def meet(one: Occupant, other: Occupant) -> bool:
    """Whether one works where the other does, or above or below it."""
    return locks.overlap(f"/{one.below}", f"/{other.below}")


def described(root: str, others: Sequence[Occupant]) -> str:
    """Who is in the way, for people."""
    return sentence(
        "Runs of another database are in {}, or above or below it: {}.",
        local(root), joined([_told(each) for each in others], ", "),
    )


def _told(each: Occupant) -> str:
    host, _, number = each.owner.rpartition(":")[0].rpartition(":")
    return sentence(
        "{} of {} ({}, process {} on {})",
        each.run, local(each.path), "waiting" if each.waits else "running", number, host,
    )
