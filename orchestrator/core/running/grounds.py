"""What alone can make a run complete: what the runner itself verified.

Source: seed 001, Properties 8 and 31.
"""

from __future__ import annotations

from collections.abc import Callable

from orchestrator.core import task_types
from orchestrator.core.running import facts
from orchestrator.core.running.facts import Facts

ANSWERS = (task_types.READ_INFO, task_types.REPORT)


def _verified_file(known: Facts) -> str | None:
    count = facts.count_modified(known.verified)
    if not count:
        return None
    gone = f"; deleted as ordered: {facts.some(known.ordered_deletions)}" if known.ordered_deletions else ""
    return f"{count} {'file' if count == 1 else 'files'} verified on the disk{gone}."


def _ordered_deletion(known: Facts) -> str | None:
    return f"Deleted as ordered: {facts.some(known.ordered_deletions)}." if known.ordered_deletions else None


def _folder(known: Facts) -> str | None:
    return f"Made as ordered: {facts.some(known.folders)}." if known.folders else None


def _unnamed_deletion(known: Facts) -> str | None:
    """Where a deletion is ordered and nothing is mentioned for it, what is gone may be what was meant."""
    if not known.unnamed or not known.stray or known.task_type == task_types.DANGEROUS_OP:
        return None
    return f"The task mentions nothing that is to be deleted; gone is {facts.some(known.stray)}."


def _answer(known: Facts) -> str | None:
    """Where only an answer is wanted, it is what was to be delivered, and its own evidence."""
    return "The answer was given." if known.task_type in ANSWERS and (known.output or "").strip() else None


GROUNDS: tuple[tuple[str, Callable[[Facts], str | None]], ...] = (
    ("verified_file", _verified_file),
    ("ordered_deletion", _ordered_deletion),
    ("folder", _folder),
    ("unnamed_deletion", _unnamed_deletion),
    ("answer", _answer),
)


def found(known: Facts) -> tuple[tuple[str, str], ...]:
    """Every ground that holds, with its sentence; none where what a task orders of what it mentions was not done."""
    if known.targets_unmet and known.task_type != task_types.READ_INFO:
        return ()
    return tuple((name, why) for name, ground in GROUNDS if (why := ground(known)) is not None)
