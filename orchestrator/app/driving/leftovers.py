"""What a driver left that was killed: its executors are ended, an answer that they gave counts, else a fresh agent is
ordered.

Source: seed 001, Property 35.
"""

from __future__ import annotations

import contextlib
import functools
import os
import uuid
from collections.abc import Collection

from orchestrator.app import starts
from orchestrator.app.driving import trees, turn
from orchestrator.app.driving.trees import Tell
from orchestrator.app.kernel import operations
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.app.reports.requests import Redispatch
from orchestrator.app.running import lock_acquisition, orphaned_runs, tree_evidence, turn_runs
from orchestrator.core import names
from orchestrator.core.running import turn_verdict
from orchestrator.errors import EnvironmentProblem, OrchestratorError, Refused
from orchestrator.runner import process_identity, repository
from orchestrator.store import turn_reader
from orchestrator.store.queries import Row

LISTED = 200
"""Files that the record of what was left names."""
_COMMIT = "SELECT json_extract(input, '$.commit') FROM audit_events WHERE session_id = :session AND seq = :seq"
REASON = "the process that started its agent is gone"


def take_over(
    context: Context, session_id: str, turns: list[Answer], root: str, tell: Tell, drivers: Collection[str] = ()
) -> None:
    """See to the open turns whose starter is gone.

    Args:
        turns: the open turns, as `status` gives them.
        drivers: those that work in this process, by their clients' names. One that has ended otherwise, such as with
            the connection to its database, leaves starts behind though the process lives.
        root: the project's folder.
        tell: takes what happens, as events.

    Raises:
        EnvironmentProblem: what such a turn has left cannot be kept, such as GIT_FAILED; the turn stays as it is.
    """
    left = functools.partial(_left, context, session_id, drivers)
    lost = [each for each in turns if "start" in each and left(each)]
    if not lost:
        return
    # First, because it ends agents that still run: nobody may write into a tree while it is looked at.
    lock_acquisition.free_abandoned(context)
    for spawn in lost:
        # Asked again: that may have taken a while, and another driver may have begun the turn anew.
        start = left(spawn)
        if start is None:
            continue
        if _is_own(start, drivers):
            _end_own_runs(context, start)
        # Another driver may be faster; whoever is slower is refused.
        with contextlib.suppress(Refused):
            _take_over(context, start, spawn["action"], root, tell)


def _left(context: Context, session_id: str, drivers: Collection[str], spawn: Answer) -> Row | None:
    """The start of a turn whose process, or whose driver in this process, is gone; None where nobody left it."""
    start = starts.of_turn(context, session_id, spawn["group_id"], spawn["turn"])
    return start if start is not None and (start["state"] == starts.LOST or _is_own(start, drivers)) else None


def client() -> str:
    """A name for a driver of this process."""
    return f"drive-{os.getpid()}-{uuid.uuid4().hex[:8]}"


def _is_own(start: Row, drivers: Collection[str]) -> bool:
    """Whether a driver of this process made a start, and is over."""
    is_mine = start["via"] == starts.DRIVE and start["owner"] == process_identity.mine()
    return is_mine and start["client"] not in drivers


def _end_own_runs(context: Context, start: Row) -> None:
    """End the runs that a driver of this process has left; its threads are over."""
    for run in turn_reader.of_turn(context.connection, start["session_id"], start["group_id"], start["turn"]):
        if run.ended_at is None and run.owner == process_identity.mine():
            with contextlib.suppress(Refused):
                turn_runs.abandon(context, run, reason="its end could not be written when it came")


def _keep_left(context: Context, start: Row, root: str, tell: Tell) -> None:
    """Keep what an agent that was ended in the middle has left in its tree, before another one begins there.

    It is on record as a patch, and then committed or undone as after any turn; a merge of a builder that is under way
    is left to the next.
    """
    with trees.alone(root, start["session_id"]):
        found = context.reader.one(_COMMIT, session=start["session_id"], seq=start["bound_seq"])
        tree = trees.left_by(root, start, str(found[0]) if found and found[0] else None)
        if tree is not None:
            _keep(context, start, tree, tell)


def _keep(context: Context, start: Row, tree: trees.Tree, tell: Tell) -> None:
    commits = trees.commits(tree)
    files = repository.changed(tree.path)
    if not commits:
        files = sorted({*files, *repository.changed_since(tree.path, tree.begun)})
    if files:
        patch = repository.patch(tree.path, "HEAD" if commits else tree.begun)
        content = {
            "folder": tree.path, "commit": tree.begun, "files": files[:LISTED], "count": len(files),
            "left_out": patch.left_out[:LISTED], "left_out_count": len(patch.left_out), "cut": patch.is_cut,
        }  # fmt: skip
        outcome = f"{len(files)} {'file' if len(files) == 1 else 'files'}"
        tree_evidence.record(context, start, tree_evidence.LEFT, outcome, content, patch.data)
        tell("warning", reason=f"{start['role']} was ended in the middle; {_said(files, patch)}")
    if not (commits and tree.merges):
        trees.finish(tree, tell)


def _said(files: list[str], patch: repository.Patch) -> str:
    kept = ", ".join([each for each in files if each not in patch.left_out][:20]) or "none"
    left_out = f"; left out as too large or no text: {', '.join(patch.left_out[:20])}" if patch.left_out else ""
    cut = f"; cut after {repository.PATCH_LIMIT} bytes" if patch.is_cut else ""
    return f"kept as evidence: {kept}{left_out}{cut}"


def _take_over(context: Context, start: Row, action: str, root: str, tell: Tell) -> None:
    runs = turn_reader.of_turn(context.connection, start["session_id"], start["group_id"], start["turn"])
    if any(run.ended_at is None for run in runs):
        # What it left could not be ended, and may still write.
        tell("waiting", start=start, reason="processes started by a killed driver could not be stopped")
        return
    newest, is_here = runs[-1] if runs else None, orphaned_runs.is_here(str(start["owner"]))
    is_left_here = is_here or start["isolation"] != trees.WORKTREE
    if is_left_here and newest is not None and newest.state == turn_verdict.ANSWERED and newest.output:
        try:
            decision = turn.recover(
                context, start, action, root, newest.output, functools.partial(tell, start=start)
            )
        except EnvironmentProblem:
            raise
        except OrchestratorError:
            # The answer holds no report that can be taken, so a fresh agent is ordered below.
            pass
        else:
            tell("recovered", start=start, run=newest.id, decision=decision)
            return
    # The tree of an agent on another machine lies there; one of that name here is not what it worked in.
    if is_here and start["bound_seq"] is not None and start["isolation"] == trees.WORKTREE:
        _keep_left(context, start, root, functools.partial(tell, start=start))
    # Only once what was left is on record: from here on another agent may begin in the same tree (AUT-28).
    reason = REASON if is_here else f"{REASON} (on {names.host_of(str(start['owner']))})"
    starts.end(context, start, outcome=starts.LOST, reason=reason)
    if start["bound_seq"] is None:
        # No agent had begun, so that the same turn is free again (AUT-13).
        tell("lost", start=start, reason=reason)
        return
    where = {"session_id": start["session_id"], "group_id": start["group_id"]}
    decision = operations.ask(context, Redispatch(**where, reason=reason))
    tell("lost", start=start, run=start["worker"], reason=reason, decision=decision)
