"""Events told again: each event's whole input through the same use case, at its recorded time.

What comes out must be what is on record; replay, import and looking at an earlier state are this one function.
"""

from __future__ import annotations

from collections.abc import Iterable

from orchestrator.app.kernel import operations
from orchestrator.app.kernel.context import (
    AGENT_JSON,
    Action,
    Answer,
    Call,
    Context,
    Work,
    no_session_open,
    parted,
    perform,
)
from orchestrator.core import strict_json
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.suggestions import local, suggest
from orchestrator.errors import EnvironmentProblem, InvalidInput, Refused
from orchestrator.hints import Any
from orchestrator.store.constants import STORE_CHAIN

REFUSAL = "refusal"
SCHEMA = "migrate"
"""The event of a move of the schema. It is told by creating the database, not by a use case."""

OF_THE_STORE = frozenset(("init", "agent", "answer", "human", "project", "workflow"))
"""The first words of calls that belong to no session."""


class Event(NamedTuple):
    """What a replay needs of one row of `audit_events`; `input` is its JSON text."""

    chain: str
    kind: str
    actor: str
    channel: str
    at: str
    input: str


class Told(NamedTuple):
    """What came of an event: the answer, or the code that it was refused with."""

    event: Event
    answer: Answer | None
    code: str | None


def events(context: Context) -> list[Event]:
    """All events of a database in the order in which they were committed, whatever chain they are of.

    The order is that of insertion, not of time: two chains know nothing of each other's numbers, and clocks go back.
    """
    rows = context.connection.execute(
        "SELECT session_id, kind, actor, channel, at, input FROM audit_events ORDER BY rowid"
    )
    return [Event(*row) for row in rows]


def replay(context: Context, recorded: Iterable[Event]) -> list[Told]:
    """Tell events again, in their order, into a database that is as it was before the first of them.

    Args:
        context: on the database that takes them, created at the recorded time where the record says when; its door and
            channel are set to the recorded ones.
        recorded: the events, those of all chains that they depend on.

    Raises:
        EnvironmentProblem: CORRUPT, an event of a kind that this program does not know.
    """
    return [tell(context, event) for event in recorded if event.kind != SCHEMA]


def call_of(event: Event) -> tuple[Call, str | None]:
    """The call that an event is the record of, and the door of a refused one.

    Raises:
        EnvironmentProblem: CORRUPT, as `replay`.
    """
    given: Any = strict_json.stored(event.input)
    kind, chain, door, refused = event.kind, event.chain, None, None
    if kind == REFUSAL:
        refused = given.get("refused")
        kind, chain, door, given = given["call"], given["chain"], given["door"], given["input"]
    if kind not in operations.kinds():
        raise EnvironmentProblem(
            "CORRUPT", f"The record has an event of kind {kind}, unknown to this program.", suggest("doctor")
        )
    given, circumstances = parted(operations.step(kind), given)
    if refused is not None:
        call = Call(kind, chain, event.actor, given, at=event.at, refused=refused, circumstances=circumstances)
        return call, door
    for name in AGENT_JSON:
        if name in given:
            given[name] = strict_json.stored(given[name])
    request = given.pop("request_id", None)
    return Call(kind, chain, event.actor, given, request, at=event.at, circumstances=circumstances), door


def tell(context: Context, event: Event) -> Told:
    """Tell one event again, as `replay`."""
    call, door = call_of(event)
    context.channel, context.door = event.channel, door or context.door
    try:
        return Told(event, perform(context, call, _action(call)), None)
    except (Refused, InvalidInput) as problem:
        return Told(event, None, problem.code)


def _action(call: Call) -> Action:
    if call.refused is not None:
        return _refuse_as_before
    if call.chain == STORE_CHAIN and call.kind.partition(" ")[0] not in OF_THE_STORE:
        return _refuse_for_want_of_a_session
    return operations.action(call.kind)


def _refuse_as_before(work: Work) -> Answer:
    """The refusal of a call that was kept cut, or could not be read, and so cannot be judged again."""
    said = work.call.refused or {}
    raise Refused(said["code"], local(said["detail"]), "", _role=said["role"], _turn=said["turn"])


def _refuse_for_want_of_a_session(work: Work) -> Answer:
    raise no_session_open()
