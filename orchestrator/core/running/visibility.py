"""What of a log is shown: a summary unless everything is asked for, masked in any case; and the tree of its tasks.

Source: seed 001, Property 25.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from orchestrator.core.named_tuple import NamedTuple
from orchestrator.errors import Refused

SUMMARY, FULL = "summary", "full"


class Entry(NamedTuple):
    """One entry of a log; `level` says from which level on it is shown."""

    at: str
    kind: str
    level: str
    text: str


class Logged(NamedTuple):
    """A task as the tree shows it: its thread and run, its own id and its parent's, its state and what was asked."""

    thread: str
    run: str
    task: str
    parent: str | None
    state: str
    text: str = ""


class Branch(NamedTuple):
    """A thread, run or task with what is below it."""

    kind: str
    id: str
    state: str | None
    text: str
    below: tuple[Branch, ...] = ()


Mask = Callable[[str], str]


def level(value: object) -> str:
    """The level that is meant: `full` where it is asked for by this very word, else `summary`."""
    return FULL if value == FULL else SUMMARY


def shown(entries: Iterable[Entry], wanted: object, mask: Mask) -> list[Entry]:
    """The entries of a level, masked. An entry that cannot be masked is left out.

    Args:
        entries: in order; they are not changed.
        wanted: the level that was asked for.
        mask: hides secrets.

    Raises:
        Refused: MASKING_FAILED, a secret is still there after masking.
    """
    chosen = [entry for entry in entries if entry.level == SUMMARY or level(wanted) == FULL]
    texts = [_masked(entry.text, mask) for entry in chosen]
    return [entry._replace(text=text) for entry, text in zip(chosen, texts, strict=True) if text is not None]


def _masked(text: str, mask: Mask) -> str | None:
    try:
        once = mask(text)
        again = mask(once)
    except Exception:
        # Whatever went wrong, what cannot be masked is not shown.
        return None
    if again != once:
        raise Refused("MASKING_FAILED", "A secret is still readable after it was masked.", "Report this as a fault")
    return once


def tree(tasks: Sequence[Logged]) -> tuple[Branch, ...]:
    """Tasks below their parents, below their runs, below their threads, each in the order of its first appearance.

    A parent that is not of the same run, or that is its own descendant, counts as none, so that no task is lost.
    """
    threads = {}
    for thread in dict.fromkeys(task.thread for task in tasks):
        of_thread = [task for task in tasks if task.thread == thread]
        runs = tuple(
            Branch("run", run, None, "", _tasks([task for task in of_thread if task.run == run]))
            for run in dict.fromkeys(task.run for task in of_thread)
        )
        threads[thread] = Branch("thread", thread, None, "", runs)
    return tuple(threads.values())


def _tasks(tasks: Sequence[Logged]) -> tuple[Branch, ...]:
    parents = {task.task: task.parent for task in tasks}
    roots = [task for task in tasks if _is_root(task.task, parents)]
    return tuple(_branch(task, tasks, {root.task for root in roots}) for task in roots)


def _is_root(task: str, parents: dict[str, str | None]) -> bool:
    seen: set[str] = set()
    above = parents[task]
    while above is not None and above in parents and above not in seen:
        if above == task:
            return True
        seen.add(above)
        above = parents[above]
    return parents[task] not in parents


def _branch(task: Logged, tasks: Sequence[Logged], roots: set[str]) -> Branch:
    below = (each for each in tasks if each.parent == task.task and each.task not in roots)
    return Branch("task", task.task, task.state, task.text, tuple(_branch(each, tasks, roots) for each in below))


def lines(branches: Sequence[Branch], mask: Mask) -> list[str]:
    """A tree as lines of text, masked."""
    return [line for branch in branches for line in (_label(branch, mask), *_below(branch, "", mask))]


def _below(branch: Branch, indent: str, mask: Mask) -> list[str]:
    found: list[str] = []
    for place, each in enumerate(branch.below, start=1):
        last = place == len(branch.below)
        found.append(f"{indent}{'└─ ' if last else '├─ '}{_label(each, mask)}")
        found += _below(each, f"{indent}{'   ' if last else '│  '}", mask)
    return found


def _label(branch: Branch, mask: Mask) -> str:
    state = f" [{branch.state.upper()}]" if branch.state else ""
    text = _masked(" ".join(branch.text.split()), mask)
    return f"{branch.kind} {branch.id}{state}{f' {text}' if text else ''}"
