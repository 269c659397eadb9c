"""Runs as a server shows them: by session, and one by one, in the words that HTTP has for them.

There a run is a "task" and its chat a "task group"; states are written in upper case. Secrets are masked. The record
has sentences as the command line says them: what names the project or the program of an executor in one becomes a local
part again here, by the columns that hold both, so that a door for callers elsewhere leaves it out.

Source: seed 000, INV-3, INV-4 and INV-6.
"""

from __future__ import annotations

import functools
import html
import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping

from orchestrator.app import projects
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.app.running import run_views
from orchestrator.core import masking
from orchestrator.core.running import advice, states
from orchestrator.core.suggestions import HIDDEN, Sentence, joined, local, parts_of
from orchestrator.errors import Refused
from orchestrator.hints import Any
from orchestrator.store import run_board, run_reader
from orchestrator.store.run_board import FIRST_PROMPT
from orchestrator.store.run_reader import Run

_COPIED = (
    "session_id", "prompt", "task_type", "provider", "model", "retry_of", "error_code", "error_reason",
    "blocked_reason", "files_modified_count", "started_at", "ended_at",
)  # fmt: skip
_REASONS = ("error_reason", "blocked_reason")
_FILE = ("path", "change", "exists")


def groups(context: Context, *, limit: int = 50, offset: int = 0, status: str | None = None) -> Answer:
    """The chats that hold runs, the one that changed last first.

    Args:
        limit: how many at most, 1 to 200.
        offset: how many are skipped.
        status: only those whose newest run is in this state, in upper case.

    Returns:
        `task_groups`, `total_count`, `has_more`.
    """
    total = run_board.count(context.connection, status and status.lower())
    rows = run_board.page(context.connection, status and status.lower(), limit, offset)
    shown = [_group(context, row) for row in rows]
    return {"task_groups": shown, "total_count": total, "has_more": offset + len(rows) < total}


def _group(context: Context, row: dict[str, Any]) -> Answer:
    counts = run_board.states(context.connection, row["session_id"])
    found = {
        "task_group_id": row["session_id"],
        "task_count": sum(counts.values()),
        "status_counts": {state.upper(): number for state, number in counts.items()},
        "latest_status": row["state"].upper(),
        "first_prompt": row["first_prompt"],
        "created_at": row["created_at"],
        "latest_updated_at": row["updated_at"],
    }
    shown = run_views.masked(found)
    # Masked before it is cut: half a secret looks like none.
    return {**shown, "first_prompt": _cut(shown["first_prompt"])}


def _cut(text: str) -> str:
    return text if len(text) <= FIRST_PROMPT else f"{text[: FIRST_PROMPT - 1]}…"


def tasks(context: Context, group: str) -> Answer:
    """The runs of a chat in the order in which they were queued.

    Raises:
        Refused: UNKNOWN_SESSION, there is no chat of this id.
    """
    session = context.require_session(group)
    if session.kind != "chat":
        raise Refused("UNKNOWN_SESSION", f"Session {group} is not a chat.", "GET /api/task-groups lists them")
    runs = run_reader.of_session(context.connection, group)
    return {"task_group_id": group, "tasks": [row(context, run) for run in runs]}


def listed(context: Context, session: str) -> tuple[list[Answer], str | None]:
    """The runs of a session without their files, and where the newest one works."""
    runs = run_reader.of_session(context.connection, session)
    shown = [_row(run, run_views.run_row(context, run, files=False)) for run in runs]
    return shown, runs[-1].verification_root if runs else None


def require(context: Context, id: str) -> Run:
    """The run of an id outside.

    Raises:
        Refused: UNKNOWN_ID {kind}.
    """
    found = run_reader.by_id(context.connection, id)
    if found is None:
        raise Refused("UNKNOWN_ID", "There is no task with this id.", "GET /api/task-groups lists them", kind="task")
    return found


def row(context: Context, run: Run) -> Answer:
    """A run without its output and log."""
    return _row(run, run_views.run_row(context, run))


def _row(run: Run, shown: Answer) -> Answer:
    asked = shown["question"] if run.state == states.AWAITING else None
    read = _reader(((run.executor, run.verification_root),))
    return {
        "task_id": run.id,
        "task_group_id": run.session_id,
        "status": run.state.upper(),
        **{name: shown[name] for name in _COPIED},
        **{name: shown[name] and read(shown[name]) for name in _REASONS},
        # Behind the kind stand paths.
        "executor": shown["executor"].partition(":")[0],
        "created_at": run.queued_at,
        "updated_at": run.state_changed_at,
        "show_reply_ui": asked is not None,
        "question": asked,
        "files": [{name: file[name] for name in _FILE} for file in shown["verified_files"]],
    }


def _places(executor: str, root: str) -> dict[str, str]:
    """What is local in what is said of a run, with what a caller elsewhere is told instead."""
    return {**advice.recorded(root), **_shown({root: HIDDEN}), **_of_executor(executor)}


@functools.lru_cache(maxsize=64)
def _of_executor(executor: str) -> dict[str, str]:
    """The same of what executed it."""
    kind, _, template = executor.partition(":")
    try:
        program = (shlex.split(template) or [""])[0]
    except ValueError:
        program = template.partition(" ")[0]
    # Which program it is helps whoever reads it; where it lies does not.
    own = {program: f"{HIDDEN}/{os.path.basename(program)}"} if os.path.isabs(program) else {}
    # A secret in the executor may have been masked where it was written.
    named = dict.fromkeys((executor, masking.mask(executor)), kind) if template else {}
    return _shown({**own, **named})


def _shown(places: Mapping[str, str]) -> dict[str, str]:
    """Places in each form in which they are written."""
    return {form: word for place, word in places.items() if len(place) > 1 for form in _forms(place)}


def _forms(place: str) -> set[str]:
    """A path as it is, and as it is written between quotes and in HTML."""
    return {place, repr(place)[1:-1], ascii(place)[1:-1], html.escape(place)}


_BEGIN = 8
"""Characters of a place by which it is looked for: those of worktrees begin alike."""


@functools.lru_cache(maxsize=64)
def _reader(executed: tuple[tuple[str, str], ...]) -> Callable[[str], str]:
    """What makes of a recorded text one with its local parts.

    Args:
        executed: executors, each with a place of theirs.

    A text is searched for the few beginnings of the places, and only there compared with them, so that a session with a
    worktree for each of 1,000 groups is read like one with a single place.
    """
    places = {place: word for each in executed for place, word in _places(*each).items()}
    known = {form.partition(advice.ID)[0]: (form, word) for form, word in places.items()}
    # The longest first: the one that begins like another is found whole.
    lengths = sorted({len(each) for each in known}, reverse=True)
    begins = "|".join(map(re.escape, {each[:_BEGIN] for each in known}))
    outside = re.compile(rf"(?<![\w/])(?:{begins})")

    def place(text: str, start: int) -> tuple[int, str] | None:
        """Where the place that begins here ends, and what is told instead."""
        for length in lengths:
            form, word = known.get(text[start : start + length], ("", ""))
            end = _end(form, text, start + length) if form else None
            if end is not None:
                return end, word
        return None

    def read(text: str) -> str:
        if type(text) is not str:
            return joined([read(part) if type(part) is str else part for part in parts_of(text)])
        parts, end, found = [], 0, outside.search(text)
        while found is not None:
            start, next_ = found.start(), found.start() + 1
            if (there := place(text, start)) is not None:
                next_, word = there
                parts += [text[end:start], local(text[start:next_], word)]
                end = next_
            found = outside.search(text, next_)
        return joined([*parts, text[end:]]) if parts else text

    return read


def _end(form: str, text: str, at: int) -> int | None:
    """Where a recorded form ends, whose part before a run's id ends here; None where its rest is another."""
    _, named, rest = form.partition(advice.ID)
    if not named:
        return at
    id = advice.ID_PATTERN.match(text, at)
    return id.end() + len(rest) if id is not None and text.startswith(rest, id.end()) else None


def with_places(context: Context, session: str | None, found: Any) -> Any:
    """What is told of a session, the places of its projects and of the programs of executors as local parts.

    Args:
        session: the session; None where what is told names its own, or several.
        found: an answer, or a part of one.
    """
    sessions = set(_named(found)) if session is None else {session}
    executed = run_board.executors(context.connection, sessions) if sessions else ()
    return _each(found, _reader(tuple(executed))) if executed else found


_OF_SESSIONS = ("session_id", "task_group_id")
_SESSIONS = ("session", "sessions")


def _named(found: Any, *, is_session: bool = False) -> Iterator[str]:
    """The sessions that an answer names, wherever in it.

    Args:
        is_session: it tells of a session itself, whose id is its own.
    """
    if isinstance(found, dict):
        for name, value in found.items():
            if type(value) is str and (name in _OF_SESSIONS or (name == "id" and is_session)):
                yield value
            elif isinstance(value, dict | list | tuple):
                yield from _named(value, is_session=name in _SESSIONS)
    elif isinstance(found, list | tuple):
        for each in found:
            yield from _named(each, is_session=is_session)


def _each(found: Any, read: Callable[[str], str]) -> Any:
    """An answer with each text in it read; a text of another kind, such as a picture that is drawn, stays."""
    if type(found) is str or isinstance(found, Sentence):
        return read(found)
    if isinstance(found, dict):
        return {name: _each(value, read) for name, value in found.items()}
    return [_each(value, read) for value in found] if isinstance(found, list | tuple) else found


def place_of(context: Context, run: Run) -> str | None:
    """The project in whose chat a run was asked for, where more may be said there; None elsewhere."""
    session = context.require_session(run.session_id)
    if session.kind != "chat" or session.status == "ended":
        return None
    return next((each.id for each in projects.listed(context) if each.path == run.verification_root), None)


def next_try(context: Context, run: Run) -> str | None:
    """The id of the run that tried a run's task again right after it, or None."""
    runs = run_reader.of_task(context.connection, run.session_id, run.task_id)
    return next((each.id for each in runs if each.retry_of == run.id), None)


def task(context: Context, id: str) -> Answer:
    """A run with its output and log.

    Raises:
        Refused: UNKNOWN_ID {kind}.
    """
    return detail(context, require(context, id))


def detail(context: Context, run: Run) -> Answer:
    """A run with its output, why it stands where it stands, and its log."""
    shown = run_views.run_row(context, run)
    events = run_views.run_log(context, run.session_id, run.id, known=shown)["events"]
    told = run_views.describe(context, run, shown)
    read = _reader(((run.executor, run.verification_root),))
    events = [{**each, "text": read(each["text"])} for each in events]
    return {**_row(run, shown), "output": told["output"], "why": read(told["why"]), "events": events}
