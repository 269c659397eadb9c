"""Where a session stands: whom it awaits, since when, and with which commands it goes on.

An agent that lost its context goes on from this answer alone.
"""

from __future__ import annotations

from orchestrator import errors
from orchestrator.app.engine import overview
from orchestrator.app.kernel import views
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.app.session import open_work, unproven_completions
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.routing.facts import MANAGER, PERSON
from orchestrator.core.suggestions import suggest
from orchestrator.hints import Any
from orchestrator.store import file_safety, queries
from orchestrator.store.queries import Row

RUNNING, PAUSED, ENDED, PERSON_AWAITED, STALLED = "running", "paused", "ended", "person_awaited", "stalled"
EXIT_CODES = {PERSON_AWAITED: errors.EXIT_PERSON, STALLED: errors.EXIT_NEGATIVE}
_FINISHED = ("completed", "deferred_external", "cancelled")


class Snapshot(NamedTuple):
    """A session with its groups and open questions, read once.

    groups: of each the columns that say where it stands.
    queued: how the runs of a chat are gone on with that wait for a person.
    """

    session: Row
    groups: list[Row]
    questions: list[Row]
    blockers: list[Row]
    verdict: Row | None = None
    queued: tuple[str, ...] = ()


def status(
    context: Context, *, session_id: str | None = None, brief: bool = False, at_seq: int | None = None
) -> Answer:
    """Where a session stands, or all open ones briefly.

    Args:
        session_id: the session (default: a summary of every open one).
        brief: leave out the groups one by one and why they do not go on.
        at_seq: the state right after this step (default: the current one).

    Returns:
        `warnings`, if any (about the file, and groups that can never be completed), `session`, `goal`, `state`,
        `awaited`, `groups`, `spawns` with the commands to report and to read the hand-off, `questions`, `validate` (the
        command, where the validator is awaited), `pending_approval` (commands of a plan that wait for a person, if any:
        {criterion, command, why, help}), `stuck` (as `stuck.groups` gives it), `verdict` (the
        newest; `fresh` while nothing was recorded since that changes what it rests on), `held`, `stalled`, `causes`,
        `progress`, `workflow` (the version that it was created with), `next`, `exit_code`: 0 running or ended, 2 a
        person is awaited, 1 stalled. Without a session `sessions` and the most urgent `exit_code`.

    Raises:
        Refused: UNKNOWN_SESSION. UsageError: SEQ_OUT_OF_RANGE {first, last}.
    """
    if at_seq is not None:
        return context.as_of(context, status, session_id=session_id, at_seq=at_seq, brief=brief)
    found = _overview(context) if session_id is None else _of_session(context, session_id, brief=brief)
    about_file = [risk.warning() for risk in file_safety.risks(context.connection, context.state_folder)]
    as_found = [context.warning] if context.warning else []
    warnings = [*as_found, *about_file, *found.pop("warnings")]
    return {**found, "warnings": warnings} if warnings else found


def _of_session(context: Context, session_id: str, *, brief: bool) -> Answer:
    context.require_session(session_id)
    seen = _snapshot(context, session_id)
    now = context.clock()
    spawns = open_work.turns(context, seen.session, seen.groups, now)
    answer = _head(seen) | {"warnings": _endless(context, seen), "spawns": spawns}
    answer |= {"questions": open_work.questions(context, seen.questions), "verdict": seen.verdict}
    standing = _standing(context, seen, brief=brief)
    answer |= {"validate": open_work.validation(seen.session), "stuck": _stuck(context, seen, standing)}
    if seen.session["planned"] and (waiting := _pending(context, session_id)):
        answer["pending_approval"] = waiting
    if not brief:
        answer |= _details(context, seen, standing, now)
    return answer | {"next": _next(seen, answer)}


class _Standing(NamedTuple):
    """The groups by kind, and what pending ones wait for: what goes on by itself, and what is shown of each group."""

    kinds: overview.Kinds
    waits_for: dict[str, list[str]]


def _standing(context: Context, seen: Snapshot, *, brief: bool) -> _Standing:
    if brief and not open_work.may_be_stuck(seen.session, seen.groups):
        return _Standing({}, {})
    kinds = overview.kinds(context.reader, seen.session["id"])
    return _Standing(kinds, open_work.dependencies(context, seen.session["id"], seen.groups))


def _stuck(context: Context, seen: Snapshot, standing: _Standing) -> list[Answer]:
    if not open_work.may_be_stuck(seen.session, seen.groups):
        return []
    from orchestrator.app.session import stuck

    return stuck.groups(
        context, seen.session, seen.groups, seen.questions, kinds=standing.kinds, waits=standing.waits_for
    )


def _pending(context: Context, session_id: str) -> list[Answer]:
    """The commands from reports that nobody has allowed to run; few sessions have any."""
    if context.reader.one(queries.ANY_PENDING, session=session_id) is None:
        return []
    from orchestrator.app.session import pending_commands

    return pending_commands.pending(context, session_id)


def _overview(context: Context) -> Answer:
    rows = queries.rows(context.reader, queries.OPEN_SESSIONS, since="", limit=-1)
    seen = [_snapshot(context, row["id"]) for row in rows]
    heads = [_head(each) for each in seen]
    codes = {head.pop("exit_code") for head in heads}
    urgent = next((code for code in (errors.EXIT_NEGATIVE, errors.EXIT_PERSON) if code in codes), errors.EXIT_OK)
    for head in heads:
        head.pop("success")
    endless = [warning for each in seen for warning in _endless(context, each)]
    return {"success": True, "warnings": endless, "sessions": heads, "exit_code": urgent}


def _endless(context: Context, seen: Snapshot) -> list[str]:
    """Groups that their session's disabled roles keep from ever being completed; most sessions have every role."""
    if not seen.session["disabled_roles"]:
        return []
    from orchestrator.app.engine import feasible

    return feasible.warnings(context, seen.session, seen.groups)


def _snapshot(context: Context, session_id: str) -> Snapshot:
    reader = context.reader
    session = views.session_row(reader, session_id)
    return Snapshot(
        session,
        [views.group_shape(row) for row in queries.rows(reader, queries.STANDING_GROUPS, session=session_id)],
        queries.rows(reader, queries.OPEN_QUESTIONS, session=session_id),
        queries.rows(reader, queries.OPEN_BLOCKERS, session=session_id),
        queries.row(reader, queries.LAST_VERDICT, session=session_id),
        _queued(context, session) if session["kind"] == "chat" else (),
    )


def _queued(context: Context, session: Row) -> tuple[str, ...]:
    from orchestrator.core.running import advice

    runs = context.runs.queued(context, session["id"]) if session["status"] != ENDED else []
    return tuple(advice.by_hand(run.verification_root, run.id) for run in runs)


def _head(seen: Snapshot) -> Answer:
    state = _state(seen)
    session = seen.session
    names = ("id", "kind", "mode", "testing_mode", "status", "outcome", "outcome_reason", "turn_timeout", "planned")
    return {
        "success": True,
        "session": {name: session[name] for name in names},
        "goal": session["goal"],
        "state": state,
        "stalled": state == STALLED,
        "awaited": views.awaited(session),
        "held": [group["id"] for group in seen.groups if group["held"]],
        "progress": views.progress(seen.groups),
        "exit_code": EXIT_CODES.get(state, errors.EXIT_OK),
    }


def _state(seen: Snapshot) -> str:
    if seen.session["status"] == ENDED:
        return ENDED
    waiting = [row for row in (seen.session, *seen.groups) if row["awaited_role"]]
    if seen.questions or seen.queued or any(row["awaited_role"] == PERSON for row in waiting):
        return PERSON_AWAITED
    if seen.session["status"] == PAUSED:
        return PAUSED
    if seen.session["kind"] == "chat":
        # A chat waits for its next message, not for an agent's turn.
        return RUNNING
    return RUNNING if any(row["held"] is None for row in waiting) else STALLED


def _details(context: Context, seen: Snapshot, standing: _Standing, now: str) -> Answer:
    kinds, waits_for = standing
    doubts = unproven_completions.in_session(context.reader, seen.session["id"]) if kinds["completed"] else {}
    entries = {entry["group_id"]: {**entry, "kind": kind} for kind, found in kinds.items() for entry in found}
    from orchestrator.store import versions

    pinned = versions.pinned(context.connection, seen.session["id"], compared=False)
    return {
        "workflow": pinned and pinned.to_json(),
        "groups": [_group(seen, row, entries[row["id"]], doubts.get(row["id"]), waits_for, now) for row in seen.groups],
        "causes": overview.causes(kinds) if not any(_works(row) for row in seen.groups) else [],
    }


def _works(row: Row) -> bool:
    """Whether an agent other than the project manager, or a person, is at work on the group."""
    return row["awaited_role"] not in (None, MANAGER) and row["held"] is None


def _group(
    seen: Snapshot, row: Row, entry: dict[str, Any], doubt: unproven_completions.Doubt | None,
    waits_for: dict[str, list[str]], now: str,
) -> Answer:  # fmt: skip
    return {
        "id": row["id"],
        "name": row["name"],
        "kind": row["kind"],
        "status": row["status"],
        "priority": row["priority"],
        "awaited": views.awaited(row),
        "waits_for": list(waits_for.get(row["id"], ())),
        "overdue": open_work.overdue(seen.session, row, now),
        "awaiting_confirmation": entry["kind"] == "awaiting_confirmation",
        "cause": entry.get("cause"),
        "missing": doubt.missing if doubt else entry.get("missing"),
        "doubt": doubt.kind if doubt else None,
        "rework": views.revisions(row),
        "blockers": [blocker["id"] for blocker in seen.blockers if blocker["group_id"] == row["id"]],
    }


def _next(seen: Snapshot, answer: Answer) -> list[str]:
    """What goes on from here: commands, and the questions that wait for a person."""
    session, spawns = seen.session["id"], answer["spawns"]
    commands: list[str] = [suggest("inbox", session_id=session)] if seen.questions else []
    commands += seen.queued
    if answer["state"] == PAUSED and not any(question["group_id"] is None for question in seen.questions):
        commands.append(overview.resume_command(session))
    commands += [each["help"] for each in answer.get("pending_approval", ())]
    if answer["validate"]:
        commands.append(answer["validate"]["command"])
    for spawn in (each for each in spawns if not open_work.is_under_way(each) or each["overdue"]):
        commands += [spawn["redispatch"]] if "redispatch" in spawn else [spawn["handoff"], spawn["report_command"]]
    commands += [step["command"] for group in answer["stuck"] for step in group["helps"]]
    if answer["state"] == STALLED:
        unfinished = (group["id"] for group in seen.groups if group["status"] not in _FINISHED)
        commands += [suggest("why", id=group, session_id=session) for group in unfinished]
    return list(dict.fromkeys(commands))
