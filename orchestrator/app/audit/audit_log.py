"""What happened in a session, who decided it, and what was turned down. In the order of the record, never of time."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from orchestrator.app.audit import swimlanes
from orchestrator.app.engine import decision_views
from orchestrator.app.kernel import pagination
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.core import caller_labels, names, strict_json
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.suggestions import again, suggest
from orchestrator.errors import UsageError
from orchestrator.hints import TYPE_CHECKING, Any
from orchestrator.store import queries
from orchestrator.store.constants import STORE_CHAIN
from orchestrator.store.queries import Row

if TYPE_CHECKING:
    from typing import TypedDict, Unpack

    from orchestrator.app.audit import event_sentences

    class Asked(TypedDict, total=False):
        """What every list of the record takes.

        group_id: only what is about this group.
        agent, status: as the list says.
        since, until: the steps after which and up to which, whatever the order.
        limit: how many at most (default: 50); the rows of one step stay together.
        order: asc (the default) or desc, by step.
        """

        group_id: str | None
        agent: str | None
        status: str | None
        since: int | None
        until: int | None
        limit: int
        order: str

ORDERS = ("asc", "desc")
STORE_NAME = "store"
"""What people call the chain of the store."""
_CHUNK = 200
_SPEAKING = "route"
"""The call that its rows tell of by themselves, whether it was done or refused."""
_WORDS = ("reason", "note", "summary")
"""Where a caller says why, or what."""


class Filter(NamedTuple):
    """Which rows are asked for; what is None filters nothing, an empty text matches nothing."""

    session: str
    group: str | None
    agent: str | None
    status: str | None
    since: int
    until: int
    limit: int
    descending: bool

    def parameters(self) -> dict[str, Any]:
        """The filter as a statement's parameters, without how many and in which order."""
        return {name: getattr(self, name) for name in ("session", "group", "agent", "status", "since", "until")}


def decisions(context: Context, *, session_id: str, **asked: Unpack[Asked]) -> Answer:
    """Who was sent where, by which rule.

    Args:
        asked: by `agent` only decisions on reports of this role or agent, by `status` on this response status.

    Returns:
        `decisions`, `has_more`, `next_since`; in descending order `next_until` too, to be passed with the same since.

    Raises:
        Refused: UNKNOWN_SESSION. UsageError: USAGE.

    Source: seed 004, Proposed Solution 3.
    """
    context.require_session(session_id)
    said = asked.get("status")
    wanted = filtered(session_id, **asked)._replace(status=None if said is None else names.status_name(said))
    sql = queries.decisions(by_group=wanted.group is not None, descending=wanted.descending)
    found = listed(context, "decisions", sql, wanted, decision_views.decision_shape)
    if not found["decisions"]:
        _require_known(context, wanted, said)
    return found


def _require_known(context: Context, asked: Filter, said: str | None) -> None:
    """Refuse to find nothing for a status that no workflow knows and nobody has reported in the session.

    Args:
        said: the status as it was written, in which a key is still known for one.

    Raises:
        UsageError: USAGE, with the nearest.
    """
    if asked.status is None or said is None:
        return
    rows = context.connection.execute(_KNOWN_STATUSES, {"session": asked.session}).fetchall()
    known = [str(row[0]) for row in rows]
    if asked.status in known:
        return
    near = names.nearest(asked.status, known)
    hint = f"; did you mean {near}?" if near else "."
    raise UsageError(
        "USAGE", f"No workflow has the status {names.shown(said)}{hint}",
        again(status=near) if near else suggest("workflow show"), did_you_mean=near,
    )


_KNOWN_STATUSES = """SELECT response_status FROM workflow_transitions
    UNION SELECT response_status FROM agent_reports WHERE session_id = :session ORDER BY 1"""


def refusals(context: Context, *, session_id: str, **asked: Unpack[Asked]) -> Answer:
    """Who tried what, and why it was refused.

    Args:
        session_id: a session; `store` (or `@store`) for what belongs to no session.
        asked: by `agent` only attempts of this role or actor, by `status` only those with this status.

    Returns:
        `refusals`, `has_more`, `next_since`, in descending order `next_until`.

    Raises:
        Refused: UNKNOWN_SESSION. UsageError: USAGE.
    """
    wanted = filtered(chain_of(context, session_id), **asked)
    found = listed(context, "refusals", queries.refusals(descending=wanted.descending), wanted)
    if not found["refusals"] and wanted.status is not None:
        _require_known(context, wanted._replace(status=names.status_name(wanted.status)), wanted.status)
    return found


def timeline(context: Context, *, session_id: str, lanes: bool = False, **asked: Unpack[Asked]) -> Answer:
    """Every step in order, with a sentence for each thing that it wrote.

    Args:
        session_id: a session; `store` (or `@store`) for what belongs to no session.
        lanes: whether to answer the turns of each group over time, as `swimlanes.swimlanes`, instead of events;
            `group_id`, `limit` and `since` count alone then.
        asked: by `agent` only steps by this actor, or in which this role or agent reported, was sent, or changed
            something; by `status` only those in which it was reported, tried or reached.

    Returns:
        `events`: kind, actor, channel, at, seq, `via` (by what its caller was let in, where it says
            so), `called` (the command in words, with the reason or note that nothing which it wrote has; null where
            what it wrote says it),
        `wrote` [{what, id, group_id, text}] and `text`, both together; `has_more`,
        `next_since`, in descending order `next_until`.

    Raises:
        Refused: UNKNOWN_SESSION. UsageError: USAGE.
    """
    if lanes:
        return _lanes(context, session_id, **asked)
    wanted = filtered(chain_of(context, session_id), **asked)
    rows: list[Row] = []
    for event in _told(context, wanted):
        if len(rows) == wanted.limit:
            return paged("events", rows, True, wanted)
        rows.append(event)
    return paged("events", rows, False, wanted)


def _lanes(
    context: Context, session_id: str, *, group_id: str | None = None, limit: int = swimlanes.LIMIT,
    since: int | None = None, order: str = ORDERS[0], **other: object,
) -> Answer:  # fmt: skip
    unfit = [name for name, value in (*other.items(), ("order", order != ORDERS[0] or None)) if value is not None]
    if unfit:
        raise UsageError(
            "USAGE", f"Lanes take group_id, limit and since, not {unfit[0]}.", suggest("audit timeline", lanes=True)
        )
    groups = () if group_id is None else (group_id,)
    return swimlanes.swimlanes(context, session_id=session_id, groups=groups, limit=limit, since=since)


def chain_of(context: Context, named: str) -> str:
    """The chain that is meant: a session's, or the store's, which `store` stands for unless a session is called so."""
    if named == STORE_CHAIN or (named == STORE_NAME and context.reader.session(named) is None):
        return STORE_CHAIN
    return context.require_session(named).id


def filtered(
    session: str, *, group_id: str | None = None, agent: str | None = None, status: str | None = None,
    since: int | None = None, until: int | None = None, limit: int = 50, order: str = "asc",
) -> Filter:  # fmt: skip
    """The filter of a list.

    Raises:
        UsageError: USAGE, the order or the limit.
    """
    if order not in ORDERS:
        raise UsageError("USAGE", "order must be asc or desc.", again(order="asc"))
    pagination.check_limit(limit)
    first, last = pagination.seq_or(since, 0), pagination.seq_or(until, queries.LAST_SEQ)
    return Filter(session, group_id, agent, status, first, last, limit, order == "desc")


def listed(
    context: Context, name: str, sql: str, asked: Filter, shape: Callable[[Row], Row] | None = None
) -> Answer:
    """A page of what a statement finds that takes a filter's parameters and a limit."""
    def fetch(most: int) -> list[Row]:
        return queries.rows(context.reader, sql, **asked.parameters(), limit=most)

    rows, has_more = pagination.page(fetch, asked.limit, "seq")
    return paged(name, [shape(row) for row in rows] if shape else rows, has_more, asked)


def paged(name: str, rows: list[Row], has_more: bool, asked: Filter) -> Answer:
    """The answer of a page, with where the next one begins."""
    if not asked.descending:
        return pagination.listed(name, rows, has_more, "seq", asked.since)
    answer: Answer = {"success": True, name: rows, "has_more": has_more, "next_since": asked.since}
    return {**answer, "next_until": rows[-1]["seq"] - 1} if rows else answer


def _told(context: Context, asked: Filter) -> Iterator[Row]:
    """The events of the span that the filter lets through, read in chunks."""
    from orchestrator.app.audit import event_sentences

    since, until = asked.since, asked.until
    sql = queries.events(descending=asked.descending)
    while True:
        events = queries.rows(
            context.reader, sql, session=asked.session, since=since, until=until, limit=_CHUNK
        )
        if not events:
            return
        low, high = sorted((events[0]["seq"], events[-1]["seq"]))
        wrote = event_sentences.of_steps(context.reader, asked.session, low - 1, high)
        for event in events:
            told = wrote.get(event["seq"], [])
            if _matches(event, told, asked):
                yield _event(event, told)
        since, until = (since, low - 1) if asked.descending else (high, until)


def _matches(event: Row, told: list[event_sentences.Told], asked: Filter) -> bool:
    groups = {each.group_id for each in told} | {_named_group(event)}
    actors = {event["actor"], *(actor for each in told for actor in each.actors)}
    statuses = {each.status for each in told}
    return (
        (asked.group is None or asked.group in groups - {None, ""})
        and (asked.agent is None or asked.agent in actors - {None, ""})
        and (asked.status is None or asked.status in statuses - {None, ""})
    )


def _named_group(event: Row) -> str | None:
    """The group that a step's input names, for steps that wrote no row with a group."""
    given = strict_json.stored(event["input"])
    named = given.get("group_id") or (given.get("id") if event["kind"].startswith("group ") else None)
    return named if isinstance(named, str) else None


def _event(event: Row, told: list[event_sentences.Told]) -> Row:
    shown = {name: value for name, value in event.items() if name != "input"} | {"via": _via(event)}
    unsaid = _unsaid(event, told)
    silent = _call(event)[0] == _SPEAKING and told and not shown["via"] and not unsaid
    called = None if silent else _called(event) + (f": {unsaid}" if unsaid else "")
    sentences = [*([called] if called else []), *(each.text for each in told)]
    return {**shown, "called": called, "wrote": [each.shown() for each in told], "text": "; ".join(sentences)}


def _via(event: Row) -> str | None:
    """By what the caller of a step was let in, where its event says so; a refused call is kept within its event."""
    found = _call(event)[1].get("via")
    return found if isinstance(found, str) else None


def _call(event: Row) -> tuple[str, dict[str, Any]]:
    """What was called and with what; the event of a refusal keeps within it what was refused."""
    given = strict_json.stored(event["input"])
    if event["kind"] != "refusal":
        return event["kind"], given
    kept = given.get("input")
    return str(given.get("call") or "refusal"), kept if isinstance(kept, dict) else {}


def _called(event: Row) -> str:
    """What was called, by whom, on what: with the things that it names, and the words that say what they are."""
    (call, given), via = _call(event), _via(event)
    named = _first(given, "id", "group_id", "name")
    on, waits, words = _first(given, "on"), given.get("depends_on"), _first(given, "title", "text", "goal")
    parts = (
        f"{event['actor'] or 'somebody'}: {call} {named}".rstrip(),
        f" on {on}" if on else "",
        f", depends on {', '.join(map(str, waits))}" if isinstance(waits, list) and waits else "",
        f" ({words})" if words else "",
        caller_labels.told(via, event["actor"]) if via else "",
    )
    return "".join(parts)


def _unsaid(event: Row, told: list[event_sentences.Told]) -> str:
    """Why a caller called, or what they reported, as far as no row of the step says it."""
    given = _call(event)[1]
    acknowledged = given.get("acknowledge")
    words = [given.get(name) for name in _WORDS]
    words += acknowledged.values() if isinstance(acknowledged, dict) else ()
    found = dict.fromkeys(names.said(each) for each in words if isinstance(each, str))
    return "; ".join(each for each in found if each and not any(_ends_with(row.text, each) for row in told))


def _ends_with(text: str, words: str) -> bool:
    """Whether a sentence ends with these words, behind a colon or in brackets."""
    for closing in ("", ")"):
        rest = text.strip().removesuffix(f"{words}{closing}")
        if rest != text.strip() and rest.rstrip().endswith((":", "(")):
            return True
    return False


def _first(given: dict[str, Any], *names: str) -> str:
    return next((given[name] for name in names if isinstance(given.get(name), str)), "")
