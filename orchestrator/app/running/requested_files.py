"""What a run's task mentions, and what became of it, over all the runs of the task.

Source: seed 001, Properties 8, 26 and 31.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping

from orchestrator.app.kernel.context import Context
from orchestrator.app.running import run_repository
from orchestrator.core import task_types
from orchestrator.core.running import mention_outcomes, mentions
from orchestrator.core.running.file_names import Tree
from orchestrator.core.running.mention_outcomes import Mention, Outcome
from orchestrator.runner import snapshot
from orchestrator.runner.snapshot import Change, Snapshot
from orchestrator.store import run_reader
from orchestrator.store.run_reader import Run

CALLER, WORDS, GUESS = "caller", "words", "guess"
"""Who told the type of a task."""


def tree(look: Snapshot) -> Tree:
    """The files and folders that a look has found, and the folders at the top that it does not look into."""
    skipped = (name for name in snapshot.SKIPPED if os.path.isdir(os.path.join(look.root, name)))
    return Tree(frozenset(map(snapshot.told, look.files)), look.folders | frozenset(skipped))


def mentioned(context: Context, run: Run, now: Tree | None = None) -> tuple[Mention, ...]:
    """What a run's task mentions: of a question nothing.

    Where a person has mentioned another file since, nothing of the first text has to be there or be gone any more; it
    may be meant all the same.

    Args:
        now: the project before this run (default: only names are compared).
    """
    guessed = is_guessed(context, run)
    if run.task_type == task_types.READ_INFO and not guessed:
        return ()
    first = run_reader.of_task(context.connection, run.session_id, run.task_id)[0]
    asked = run_reader.question(context.connection, run.question_id) if run.question_id else None
    said = "\n".join((run.prompt.removeprefix(first.prompt), (asked or {}).get("note") or "")).strip()
    before = _before(context, run, now) if now is not None else Tree()
    root = run.verification_root
    found = mentions.find(relative(first.prompt, root), before)
    since = mentions.find(relative(said, root), before) if said else ()
    if since:
        names = {each.name for each in since}
        found = (*(mention_outcomes.loosened(each) for each in found if each.name not in names), *since)
    return mentions.of_type(found, run.task_type, guessed=guessed)


def is_guessed(context: Context, run: Run) -> bool:
    """Whether nobody gave the type of a run's task, and no word of it told the type."""
    return type_by(context, run) == GUESS


def type_by(context: Context, run: Run) -> str:
    """Who told the type of a run's task: the caller, the words of the task, or nobody, so that it is a guess."""
    first = run_reader.of_task(context.connection, run.session_id, run.task_id)[0]
    events = run_reader.events(context.connection, run.session_id, first.id)
    kinds = {event["kind"] for event in events} if first.task_type == run.task_type else set()
    return GUESS if run_repository.GUESSED in kinds else WORDS if run_repository.TOLD in kinds else CALLER


def left(context: Context, run: Run, found: Collection[Mention], now: Tree) -> list[Mention]:
    """Those mentions that no earlier attempt at the run's task has done by themselves; all where there was none."""
    runs = run_reader.of_task(context.connection, run.session_id, run.task_id)
    if all(each.started_at is None for each in runs):
        return list(found)
    return list(mention_outcomes.undone(found, now, _touched_before(context, run)))


def named(text: str, root: str) -> Tree:
    """What of the files that a task names is there now, below the root of its project."""
    names = (each.name.rstrip("/") for each in mentions.find(relative(text, root)))
    there = [name for name in names if os.path.lexists(os.path.join(root, name))]
    folders = {name for name in there if os.path.isdir(os.path.join(root, name))}
    return Tree(frozenset(there) - folders, frozenset(folders))


def outcome(
    context: Context, run: Run, found: tuple[Mention, ...], after: Snapshot, changes: Mapping[str, str],
    made: Collection[str] = (), about: Collection[str] | None = None, later: Collection[str] = (),
) -> Outcome:
    """What became of what a task mentions, in this run or an earlier one of it.

    Args:
        found: what it mentions.
        after: the project now.
        changes: what became of each path since the run was started.
        made: folders that are new since then.
        about, later: the names that this part of the task is about, and those of later parts.
    """
    touched = {**_touched_before(context, run), **changes}
    unnamed, files = mentions.deletes(run.prompt), mentions.deletes_files(run.prompt)
    return mention_outcomes.judged(
        found, tree(after), touched, unnamed=unnamed, files=files, made=made, about=about, later=later
    )


def _before(context: Context, run: Run, now: Tree) -> Tree:
    """The project as it was before the first run of the task."""
    touched = _touched_before(context, run)
    new = {path for path, change in touched.items() if change == snapshot.NEW}
    gone = {path for path, change in touched.items() if change == snapshot.DELETED}
    return Tree((frozenset(now.files) - new) | gone, now.folders) if touched else now


def _touched_before(context: Context, run: Run) -> dict[str, str]:
    runs = run_reader.of_task(context.connection, run.session_id, run.task_id)
    rows = [row for each in runs for row in run_reader.files(context.connection, run.session_id, each.id)]
    found: dict[str, str] = {}
    for row in rows:
        if row["change"] is not None:
            first = found.get(row["path"])
            found[row["path"]] = snapshot.NEW if first == snapshot.NEW == row["change"] else row["change"]
    return found


def kinds(changes: Collection[Change]) -> dict[str, str]:
    """What became of each path, as texts that every document can hold."""
    return {snapshot.told(change.path): change.kind for change in changes}


def relative(text: str, root: str) -> str:
    """The text with files of the project named as they are in it."""
    for top in dict.fromkeys((root, os.path.realpath(root))):
        text = text.replace(f"{top.rstrip('/')}/", "./")
    return text


def writes(context: Context, run: Run) -> bool:
    """Whether a run is expected to write though its type asks: the type is a guess, or a file is ordered to be made."""
    if run.task_type == task_types.READ_INFO:
        return is_guessed(context, run) and bool(mention_outcomes.deciding(mentions.find(run.prompt)))
    return any(each.required for each in mentioned(context, run, named(run.prompt, run.verification_root)))
