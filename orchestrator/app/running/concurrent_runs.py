"""Who else works in the folder of a run while its executor does: what changes then cannot be said to be its work.

Runs that only ask share a project, so the difference of two looks is that of all of them. Who shared it is told by the
record alone: who held a lock when the look began, and who was given one since, in the order of the steps, whatever any
clock says.

Source: seed 001, Properties 6, 8 and 31.
"""

from __future__ import annotations

from orchestrator.app.kernel.context import Context
from orchestrator.app.running import start_run
from orchestrator.app.running.start_run import Starting
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.running import locks, states
from orchestrator.store import event_reader, run_reader, turn_reader
from orchestrator.store.run_reader import Run


class Mark(NamedTuple):
    """A moment in the record, and who shared the run's folder at it."""

    number: int
    there: tuple[str, ...]


def moment(context: Context) -> Mark:
    """The moment from which on others are looked for, where nobody can share the folder."""
    return Mark(event_reader.last(context.connection), ())


def mark(context: Context, run: Run) -> Mark:
    """The moment from which on others are looked for; taken before the first look at the tree."""
    # The number is read first, so that who comes between the two is found twice and not never.
    number = event_reader.last(context.connection)
    held = [(other, path) for _, other, path, _ in start_run.held_by_all(context)]
    return Mark(number, _others(run, held))


def beside(context: Context, run: Run, since: Mark) -> tuple[str, ...]:
    """The runs that had a lock on the run's folder, or above or below it, at any time since a moment."""
    begun = run_reader.started_after(context.connection, since.number)
    return tuple(dict.fromkeys((*since.there, *_others(run, begun))))


def writers(context: Context, run: Run, since: Mark) -> tuple[str, ...]:
    """The other runs whose processes may write into the project's folder that they begin or have ended.

    These are open, or moved since a moment; who ended shortly before that may write it now.
    """
    connection = context.connection
    ids = run_reader.moved_after(connection, since.number - _SHORTLY)
    moved = (run_reader.by_id(connection, id) for id in dict.fromkeys(ids))
    open_ = (each for state in _OPEN for each in run_reader.in_state(connection, state))
    every = {each.id: each for each in (*moved, *open_) if each is not None and each.id != run.id}
    root = start_run.folder(run)
    return tuple(id for id, each in every.items() if start_run.folder(each) == root)


def working(context: Context, run: Starting, since: Mark) -> dict[str, tuple[str, ...]]:
    """The other runs, by session, that run, or were moved by any step since a moment: what they leave is written now.

    Who only has a session open says so in its folder. To be asked after the last look.
    """
    connection, found = context.connection, dict[str, tuple[str, ...]]()
    moved = (_any(context, id) for id in run_reader.moved_after(connection, since.number))
    for each in (*moved, *start_run.running_of_all(context)):
        if each is not None and each.id != run.id:
            found[each.session_id] = (*found.get(each.session_id, ()), each.id)
    return found


def _any(context: Context, id: str) -> Starting | None:
    return run_reader.by_id(context.connection, id) or turn_reader.by_id(context.connection, id)


_OPEN = (states.QUEUED, states.RUNNING, states.AWAITING)
_SHORTLY = 200
"""Steps."""


def _others(run: Run, locked: list[tuple[str, str]]) -> tuple[str, ...]:
    root = start_run.folder(run)
    return tuple(other for other, path in locked if other != run.id and locks.overlap(path, root))
