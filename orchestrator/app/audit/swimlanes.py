"""The work of a session over time: a lane for each group, a bar for each turn. Nothing here writes.

Pages draw it, an export holds it, and the terminal shows it in text.

Source: spec 60, section 3 (pages).
"""

from __future__ import annotations

import json

from orchestrator.app.kernel import pagination
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.core.routing.facts import MANAGER
from orchestrator.core.suggestions import again
from orchestrator.core.workflow.vocabulary import COUNTED_EFFECTS
from orchestrator.errors import UsageError
from orchestrator.store import page_reader, queries
from orchestrator.store.queries import Row

LIMIT = 50
MOST = 1000
"""Lanes of one answer at most."""
SENT_BACK = COUNTED_EFFECTS | {"rework"}
"""Effects of reports after which the work is done again."""
OPEN, DONE, REPLACED = "open", "done", "replaced"
"""A turn that is awaited; that was reported; that somebody else was given."""


def swimlanes(
    context: Context, *, session_id: str, groups: tuple[str, ...] = (), limit: int = LIMIT, since: int | None = None,
    every: bool = False,
) -> Answer:
    """The lanes of a session: that of the session itself first, then its groups in the order of their creation.

    Groups in which nothing happened yet have none, unless they are asked for by name or by `every`.

    Args:
        groups: only these groups, and without the session's own lane (default: all).
        limit: groups at most, 1 to 1000; groups that one step created stay together.
        since: the step after which the page begins; the session's own lane is on the first page alone.
        every: with the groups in which nothing happened.

    Returns:
        `session_id`; `start`, when the session began; `end`, when it ended, or now; `ended`; `lanes`, each with
        `group_id` (null for the session), `name`, `status`, `held`, `bars` (one a turn, in order: `turn`, `role`,
        `agent_id`, `start`, `end`, `state` (open, done, replaced), `rework`, and what was reported: `report_id`,
        `response_status`, `effect`, `summary`, `decision_id`, `next_agent`, `action`, null while open), `pauses`
        (`id`, `kind`, `text`, `start`, `end`: questions to a person) and `blocks` (`id`, `type`, `class`, `reason`,
        `start`, `end`); an `end` that is open is null. `without_steps`, how many groups of the
        session nothing happened in, where these are left out; `has_more`, `next_since`. Times are UTC, ISO 8601.

    Raises:
        Refused: UNKNOWN_SESSION, UNKNOWN_GROUP. UsageError: USAGE, the limit.
    """
    context.require_session(session_id)
    if not 1 <= limit <= MOST:
        raise UsageError("USAGE", f"The limit must be 1 to {MOST}.", again(limit=str(LIMIT)))
    session = queries.row(context.reader, queries.SESSION, session=session_id)
    assert session is not None  # noqa: S101 - it was required
    rows, has_more = _rows(context, session_id, groups, limit, since, every)
    if not groups and since is None:
        rows = [{**session, "id": "", "name": ""}, *rows]
    ended = session["status"] == "ended"
    found = _Found(context, session_id, [str(row["id"]) for row in rows])
    answer = {
        "success": True, "session_id": session_id, "start": session["created_at"],
        "end": session["status_changed_at"] if ended else context.clock(), "ended": ended,
        "lanes": [found.lane(row) for row in rows],
        "without_steps": 0 if groups or every else _without_steps(context, session_id),
    }  # fmt: skip
    return {**answer, "has_more": has_more, "next_since": rows[-1]["created_seq"] if has_more else since}


def _rows(
    context: Context, session: str, groups: tuple[str, ...], limit: int, since: int | None, every: bool
) -> tuple[list[Row], bool]:
    if groups:
        named = json.dumps(groups)
        rows = queries.rows(context.reader, page_reader.CHOSEN_LANES, session=session, groups=named)
        known = {row["id"] for row in rows}
        unknown = [group for group in groups if group not in known]
        if unknown:
            raise context.unknown_group(session, unknown[0])
        return rows, False

    def fetch(most: int) -> list[Row]:
        asked = {"session": session, "since": pagination.seq_or(since, 0), "limit": most, "every": int(every)}
        return queries.rows(context.reader, page_reader.LANES, **asked)

    return pagination.page(fetch, limit, "created_seq")


def _without_steps(context: Context, session: str) -> int:
    (number,) = context.connection.execute(page_reader.WITHOUT_STEPS, {"session": session}).fetchone()
    return int(number)


class _Found:
    """What the record has of the lanes of a page, by group; the session itself is the empty name."""

    def __init__(self, context: Context, session: str, groups: list[str]) -> None:
        asked = {"session": session, "groups": json.dumps(groups)}
        read = context.reader
        reports = queries.rows(read, page_reader.REPORTS, **asked)
        if "" in groups:
            reports += queries.rows(read, page_reader.SESSION_REPORTS, session=session)
        self._reports = _by_group(reports)
        self._turns = _by_group(queries.rows(read, page_reader.TURNS, **asked))
        self._pauses = _by_group(queries.rows(read, page_reader.QUESTIONS, **asked))
        self._blocks = _by_group(queries.rows(read, page_reader.BLOCKERS, **asked))

    def lane(self, row: Row) -> Answer:
        """The lane of a group's row, or of the session's with the empty name."""
        group = str(row["id"])
        return {
            "group_id": group or None, "name": row["name"], "status": row["status"], "held": row["held"],
            "bars": _bars(row, self._turns.get(group, []), self._reports.get(group, [])),
            "pauses": [
                {"id": each["id"], "kind": each["kind"], "text": each["text"], "start": each["asked_at"],
                 "end": each["closed_at"]}
                for each in self._pauses.get(group, [])
            ],
            "blocks": [
                {"id": each["id"], "type": each["type"], "class": each["class"], "reason": each["reason"],
                 "start": each["opened_at"], "end": each["resolved_at"]}
                for each in self._blocks.get(group, [])
            ],
        }  # fmt: skip


def _by_group(rows: list[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["group_id"], []).append(row)
    return found


_REPORTED = ("response_status", "effect", "summary", "decision_id", "next_agent", "action")


def _bars(row: Row, turns: list[Row], reports: list[Row]) -> list[Answer]:
    """The turns of one lane with what was reported on each; a report without a turn is a bar of its own."""
    sent_back = {each["seq"] for each in reports if each["effect"] in SENT_BACK}
    answered = {each["turn"]: each for each in reports if each["turn"] is not None}
    given = {each["turn"] for each in turns}
    bars = [
        _bar(each, answered.get(each["turn"]), is_open=each["turn"] == row["turn"], again=each["turn"] in sent_back)
        for each in turns
    ]
    alone = [
        _bar({"turn": None, "role": each["role"], "agent_id": each["agent_id"], "at": each["reported_at"]}, each)
        for each in reports if each["turn"] not in given
    ]  # fmt: skip
    _end_replaced(bars, row)
    return sorted([*bars, *alone], key=lambda bar: (bar["start"], bar["turn"] or 0))


def _bar(turn: Row, report: Row | None, *, is_open: bool = False, again: bool = False) -> Answer:
    state = DONE if report else OPEN if is_open else REPLACED
    return {
        "turn": turn["turn"], "role": turn["role"] or MANAGER, "agent_id": turn["agent_id"], "start": turn["at"],
        "end": report["reported_at"] if report else None, "state": state, "rework": again,
        "report_id": report["id"] if report else None,
        **{name: report[name] if report else None for name in _REPORTED},
    }  # fmt: skip


def _end_replaced(bars: list[Answer], row: Row) -> None:
    """End each turn that nobody reported on where the next one of its lane begins, or where its group settled."""
    for bar, following in zip(bars, [*bars[1:], None], strict=False):
        if bar["state"] == REPLACED:
            bar["end"] = following["start"] if following else max(bar["start"], row["status_changed_at"])
