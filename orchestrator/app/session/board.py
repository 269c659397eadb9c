"""The groups of a session as a board: filtered, sorted, page by page, and what they are counted by.

What needs somebody comes first: questions to a person, overdue agents, blocked groups. Nothing here writes.

Source: spec 60, section 3 (pages).
"""

from __future__ import annotations

import json
from datetime import datetime, timedelta

from orchestrator.app.kernel import pagination, views
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.app.session import open_work, unproven_completions
from orchestrator.app.session.status import ENDED, PAUSED, PERSON_AWAITED, RUNNING, STALLED
from orchestrator.core import lifecycle_table
from orchestrator.core.routing.facts import MANAGER, PERSON
from orchestrator.core.suggestions import again
from orchestrator.errors import UsageError
from orchestrator.hints import Any
from orchestrator.store import page_reader, queries
from orchestrator.store.queries import Row

ALL, OVERDUE, BLOCKED, WAITING, HELD = "all", "overdue", "blocked", "waiting", "held"
STATES = (ALL, WAITING, OVERDUE, BLOCKED, HELD, *lifecycle_table.GROUP_STATUSES)
"""What a board may be filtered by: everything, a kind of trouble, or a status."""
SORTS = tuple(page_reader.ORDERS)
LIMIT = 50


def board(
    context: Context, *, session_id: str, state: str = ALL, role: str | None = None, text: str = "",
    sort: str = SORTS[0], page: int = 1, limit: int = LIMIT,
) -> Answer:  # fmt: skip
    """One page of the groups of a session.

    Args:
        state: one of `STATES`.
        role: only groups that await this role.
        text: only groups whose id or name holds this, in whatever case.
        sort: one of `SORTS`.
        page: from 1; one past the end is the last one.
        limit: rows of a page, 1 or more.

    Returns:
        `groups`: id, name, status, priority, `awaited` (as `status` has it), `overdue`, `blocked`, `asked` (a question
        to a person is open), `blockers` ({id, type, class, reason, external}), `waits_for` (groups), `missing` (the
        first part of its completion path that lacks, of one that awaits the project manager), `doubt`, `rework`,
        `limited_until` (of one whose agent waits for a usage limit);
        `total`, `page`, `pages`.

    Raises:
        Refused: UNKNOWN_SESSION. UsageError: USAGE.
    """
    context.require_session(session_id)
    for name, value, known in (("state", state, STATES), ("sort", sort, SORTS)):
        if value not in known:
            raise UsageError("USAGE", f"{name} must be one of {', '.join(known)}.", again(**{name: known[0]}))
    pagination.check_limit(limit)
    asked = {"session": session_id, "late": _late(context, session_id), "state": state, "role": role, "text": text}
    sql, number = page_reader.board(sort), max(page, 1)
    rows = queries.rows(context.reader, sql, **asked, limit=limit, offset=_offset(number, limit))
    total = rows[0]["total"] if rows else int(context.connection.execute(page_reader.BOARD_COUNT, asked).fetchone()[0])
    pages = max(-(-total // limit), 1)
    if number > pages:
        number = pages
        rows = queries.rows(context.reader, sql, **asked, limit=limit, offset=_offset(number, limit))
    return {"success": True, "groups": _shown(context, session_id, rows), "total": total, "page": number,
            "pages": pages}  # fmt: skip


def _offset(page: int, limit: int) -> int:
    return min((page - 1) * limit, queries.LAST_SEQ)


def _late(context: Context, session_id: str) -> str:
    """The moment before which an agent that has its turn since is overdue."""
    (minutes,) = context.connection.execute("SELECT turn_timeout FROM sessions WHERE id = ?", (session_id,)).fetchone()
    moment = datetime.fromisoformat(context.clock()) - timedelta(minutes=minutes)
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


def _shown(context: Context, session: str, rows: list[Row]) -> list[Answer]:
    named = json.dumps([row["id"] for row in rows])
    reasons: dict[str, list[Row]] = {}
    for each in queries.rows(context.reader, page_reader.OPEN_REASONS, session=session, groups=named):
        reasons.setdefault(each.pop("group_id"), []).append(each)
    waits = open_work.dependencies(context, session, rows)
    until = limited(context, session, [row["id"] for row in rows])
    return [
        _group(context, session, row, reasons.get(row["id"], []), waits.get(row["id"], []))
        | {"limited_until": until.get(row["id"])}
        for row in rows
    ]


def known(context: Context, *, session_id: str, ids: list[str]) -> set[str]:
    """Which of some names are groups of a session."""
    asked = {"session": session_id, "ids": json.dumps(ids)}
    return {row["id"] for row in queries.rows(context.reader, page_reader.GROUPS_NAMED, **asked)}


def limited(context: Context, session_id: str, groups: list[str]) -> dict[str, str]:
    """Until when the agents of groups wait for a usage limit, of those that do."""
    asked = {"session": session_id, "groups": json.dumps(groups), "now": context.clock()}
    return {row["group_id"]: row["due_at"] for row in queries.rows(context.reader, page_reader.LIMITED, **asked)}


def deferral(context: Context, session_id: str, group_id: str) -> Row | None:
    """What a deferred group waits for outside of the project: reason, dependency, deferred_by, deferred_at."""
    return queries.row(context.reader, page_reader.DEFERRAL, session=session_id, group=group_id)


def _group(context: Context, session: str, row: Row, blockers: list[Row], waits: list[str]) -> Answer:
    doubt = unproven_completions.of(context.reader, session, row["id"]) if row["status"] == "completed" else None
    path = context.reader.path(session, row["id"]) if row["awaited_role"] == MANAGER else None
    return {
        **{name: row[name] for name in ("id", "name", "kind", "status")},
        "priority": views.PRIORITIES[row["priority"]],
        "awaited": views.awaited(row),
        **{name: bool(row[name]) for name in (OVERDUE, BLOCKED, "asked")},
        "blockers": blockers,
        "waits_for": waits,
        "missing": path.missing if path else doubt.missing if doubt else None,
        "awaiting_confirmation": bool(path and path.awaiting_confirmation),
        "doubt": doubt.kind if doubt else None,
        "rework": views.revisions(row),
    }


def counts(context: Context, *, session_id: str) -> Answer:
    """What the groups of a session are counted by, in one statement.

    Returns:
        `groups`, `by_status`, `rework`; `working`, the roles at work with how many groups await them, since when the
        first has, and the first group by id; `waiting` (groups that wait for a person), `overdue`, `blocked`, `held`.

    Raises:
        Refused: UNKNOWN_SESSION.
    """
    context.require_session(session_id)
    asked = {"session": session_id, "late": _late(context, session_id)}
    rows = queries.rows(context.reader, page_reader.BOARD_COUNTS, **asked)
    by_status: dict[str, int] = {}
    for row in rows:
        by_status[row["status"]] = by_status.get(row["status"], 0) + row["groups"]

    def count(fits: Any) -> int:
        return sum(row["groups"] for row in rows if fits(row))

    return {
        "success": True, "groups": sum(by_status.values()), "by_status": by_status,
        "rework": sum(row["rework"] for row in rows), "working": _working(rows),
        WAITING: count(lambda row: row["asked"] or row["awaited_role"] == PERSON),
        OVERDUE: count(lambda row: row["overdue"]), BLOCKED: count(lambda row: row["blocked"]),
        HELD: count(lambda row: row["is_held"]),
    }  # fmt: skip


def _working(rows: list[Row]) -> list[Answer]:
    """The agents at work, of each role, the largest number first."""
    found: dict[str, Answer] = {}
    for row in rows:
        role = row["awaited_role"]
        if role in (None, PERSON) or row["is_held"]:
            continue
        known = found.setdefault(role, {"role": role, "groups": 0, "since": row["since"], "first": row["first"]})
        known["groups"] += row["groups"]
        known["since"], known["first"] = min(known["since"], row["since"]), min(known["first"], row["first"])
    return sorted(found.values(), key=lambda each: (-each["groups"], each["role"]))


MOST_QUESTIONS = 3
"""Open questions that a head tells in full."""
_OF_SESSION = (
    "id", "kind", "mode", "testing_mode", "status", "outcome", "outcome_reason", "turn_timeout", "created_at",
    "created_by",
)  # fmt: skip


def head(context: Context, *, session_id: str) -> Answer:
    """What the first screen of a session says: its state, whom it awaits, what is stuck.

    Returns:
        `session`, `goal`, `state` (as `status` has it), `awaited`, `counts` (as `counts` gives them), `questions` (the
        oldest ones with their answers), `asked` (how many are open), `validate` (the command, where the validator is
        awaited), `verdict` (the newest).

    Raises:
        Refused: UNKNOWN_SESSION.
    """
    numbers = counts(context, session_id=session_id)
    session = views.session_row(context.reader, session_id)
    asked = open_work.of_session(context, session_id)
    return {
        "success": True, "session": {name: session[name] for name in _OF_SESSION}, "goal": session["goal"],
        "state": state(session, asks=bool(asked or numbers[WAITING]), works=bool(numbers["working"])),
        "awaited": views.awaited(session), "counts": numbers,
        "questions": open_work.questions(context, asked[:MOST_QUESTIONS]), "asked": len(asked),
        "validate": open_work.validation(session),
        "verdict": queries.row(context.reader, queries.LAST_VERDICT, session=session_id),
    }  # fmt: skip


def state(session: Row, *, asks: bool, works: bool) -> str:
    """The state of a session, by what is counted of its groups; `status` tells it from the groups themselves."""
    if session["status"] == ENDED:
        return ENDED
    if asks or session["awaited_role"] == PERSON:
        return PERSON_AWAITED
    if session["status"] == PAUSED:
        return PAUSED
    own = session["awaited_role"] is not None and session["held"] is None
    return RUNNING if works or own or session["kind"] == "chat" else STALLED


def turns(context: Context, *, session_id: str) -> list[Answer]:
    """The open turns of a session, as `status` tells them; groups without one are not looked at.

    Raises:
        Refused: UNKNOWN_SESSION.
    """
    context.require_session(session_id)
    asked = {"session": session_id, "since": 0, "status": "in_progress", "limit": -1}
    groups = [views.group_shape(row) for row in queries.rows(context.reader, queries.GROUPS, **asked)]
    return open_work.turns(context, views.session_row(context.reader, session_id), groups, context.clock())
