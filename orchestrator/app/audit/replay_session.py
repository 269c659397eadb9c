"""Telling a session's record again, event by event, into another database, and saying what came of each.

What differs does not stop the telling: the chain is put where the record says, and the next event is told.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping

from orchestrator import progress
from orchestrator.app.audit import replay_events
from orchestrator.app.kernel.context import Context
from orchestrator.core import strict_json
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.routing import facts
from orchestrator.errors import EnvironmentProblem, OrchestratorError
from orchestrator.hints import Any, TypeVar
from orchestrator.store import event_stream, replay_database
from orchestrator.store.event_stream import Entry, Outsider, Recorded
from orchestrator.store.step import open_step

_T = TypeVar("_T")

_SURROUNDINGS = ("BUSY", "DISK_FULL", "READ_ONLY", "NO_DATABASE")
DEADLINE_S = 10.0
_UNKNOWN: Mapping[str, int] = {}


class Outcome(NamedTuple):
    """What came of an event: the event that was told in its place, and why there is none."""

    recorded: Recorded
    told: Recorded | None
    problem: str | None = None

    @property
    def equal(self) -> bool:
        """Whether the told event is the recorded one; its hash covers all that its step wrote."""
        return self.told is not None and self.told[:10] == self.recorded[:10]


def context_on(connection: Any, path: str) -> Context:
    """A context that tells; its clock is never asked, since every time is recorded."""
    return Context(connection, path=path, clock=_no_clock, door="replay", channel="replay", deadline_s=DEADLINE_S)


def _no_clock() -> str:
    raise AssertionError("a replay takes its time from the record")


def in_own_database(path: str, tell: Callable[[Context], _T]) -> _T:
    """Call `tell` with a context on an empty database that is gone afterwards; `path` is the file that it tells of.

    Where a step turns out to need undoing after it wrote something, all is told anew on a database that can.
    """
    with contextlib.suppress(replay_database.CannotUndo), own_database(path, undoes=False) as context:
        return tell(context)
    with own_database(path) as context:
        return tell(context)


@contextlib.contextmanager
def own_database(path: str, *, undoes: bool = True) -> Iterator[Context]:
    """A context on an empty database that is gone after the block, as `in_own_database` and `fold.connect` say."""
    connection = replay_database.connect(undoes=undoes)
    try:
        yield context_on(connection, path)
    finally:
        connection.close()


def outcomes(context: Context, entries: Iterator[Entry], last: Mapping[str, int] = _UNKNOWN) -> Iterator[Outcome]:
    """Tell entries in their order; agents of other sessions are let in without a word.

    Args:
        last: the number of the last event of each chain, where it is known, to say how far it is.

    Raises:
        EnvironmentProblem: the database that takes them cannot.
    """
    for entry in entries:
        if isinstance(entry, Outsider):
            replay_database.add_outsider(context.connection, entry)
        else:
            yield tell(context, entry, last)


def tell(context: Context, event: Recorded, last: Mapping[str, int] = _UNKNOWN) -> Outcome:
    """Tell one event, as `outcomes`; whatever comes of it, the chain then stands where the record does."""
    connection = context.connection
    if not event.seq % progress.EVERY:
        progress.tell(f"events of {event.chain}", event.seq, last.get(event.chain))
    replay_database.stand_before(connection, event)
    # Decisions carry the version of the rules that they were made by. Told again they are compared as if made by it.
    context.rules_version = facts.RULES_VERSION if event.rules_version is None else event.rules_version
    problem = _told(context, event)
    told = replay_database.last(connection, event.chain)
    if told is None or told.seq < event.seq:
        replay_database.carry(connection, event)
        return Outcome(event, None, problem or "it writes nothing when replayed")
    return Outcome(event, told, problem)


def _told(context: Context, event: Recorded) -> str | None:
    """Tell it; in words why it could not be told."""
    try:
        if event.kind in event_stream.CARRIED:
            with open_step(context.connection, event.chain, event.at) as step:
                step.seal(event.kind, event.actor, event.channel, strict_json.stored(event.input))
        else:
            if '"raw_text":' in event.input and '"texts":' not in event.rows:
                _let_in(context, strict_json.stored(event.input).get("raw_text"))
            replay_events.tell(context, replay_events.Event(*event[:1], *event[2:7]))
    except EnvironmentProblem as problem:
        if problem.code in _SURROUNDINGS:
            raise
        return problem.message
    except OrchestratorError as problem:
        return problem.message
    except replay_database.CannotUndo:
        raise
    except Exception as problem:
        # What was altered on record can be anything, and so can what becomes of it.
        return f"it cannot be replayed: {type(problem).__name__}: {problem}"[:300]
    return None


def _let_in(context: Context, message: str | None) -> None:
    """Let a message be on record: each is kept once, and where its step kept none, another session had it first."""
    if message:
        replay_database.add_text(context.connection, message)
