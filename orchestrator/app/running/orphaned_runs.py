"""Runs whose process is gone: who only reads says so, and who may write ends them."""

from __future__ import annotations

import datetime
import os

from orchestrator.core import masking, names
from orchestrator.core.running import advice, states
from orchestrator.core.suggestions import local, sentence, suggest
from orchestrator.errors import OrchestratorError
from orchestrator.hints import TYPE_CHECKING
from orchestrator.runner import process_identity
from orchestrator.store import run_reader, turn_reader
from orchestrator.store.run_reader import Run
from orchestrator.store.turn_reader import TurnRun

if TYPE_CHECKING:
    from orchestrator.store.sqlite import Connection


LOST = "the process that ran it is gone"
"""How the reason of a run begins that was ended because of that."""
_MOST = 20
"""Files that are named at most."""
_LONGEST = 500
"""Characters of a task that are shown to be entered again."""


def is_gone(connection: Connection, run: Run | TurnRun) -> bool:
    """Whether a run is said to run, and its process is gone."""
    is_open = run.state in (states.QUEUED, states.RUNNING) and run.owner is not None
    return is_open and process_identity.is_gone(str(run.owner), connection)


def list_orphaned(connection: Connection) -> list[Run | TurnRun]:
    """The runs, of tasks and of turns, that nobody executes any more, though they are said to run."""
    running: list[Run | TurnRun] = [*run_reader.in_state(connection, states.RUNNING)]
    running += turn_reader.open_runs(connection)
    return [run for run in running if is_gone(connection, run)]


def notice(run: Run | TurnRun) -> str:
    """What is said of such a run until somebody ends it."""
    if isinstance(run, TurnRun):
        return sentence("Its driver is gone: {} takes over its turn.", remedy(run))
    return sentence("Its process is gone: {} ends it and says what changed.", remedy(run))


def describe(connection: Connection, run: Run | TurnRun, left: tuple[str, ...] = ()) -> str:
    """What has become of such a run by a call that may write.

    Args:
        left: processes of it that live on.
    """
    if isinstance(run, TurnRun):
        turn = turn_reader.by_id(connection, run.id) or run
        what = sentence("{} in {}", run.id, local(run.folder))
        return _described(what, turn.reason, left, runs=turn.ended_at is None)
    now = run_reader.run(connection, run.session_id, run.id) or run
    where = sentence("{} in {}", run.id, local(run.verification_root))
    return _described(where, now.error_reason, left, runs=now.state == states.RUNNING)


def _described(where: str, reason: str | None, left: tuple[str, ...], *, runs: bool) -> str:
    if runs:
        if left:
            return where + f" runs no more, but these of its processes could not be stopped: {', '.join(left)}."
        return where + " runs no more, and its end could not be recorded yet: see whether there is room on the disk."
    return where + f" was left by a runner that was killed, and is ended: {masking.mask(reason or LOST)}."


def root(run: Run | TurnRun) -> str:
    """The project of a run."""
    return run.root if isinstance(run, TurnRun) else run.verification_root


def remedy(run: Run | TurnRun) -> str:
    """The command that ends such a run."""
    if isinstance(run, TurnRun):
        return suggest("drive", session_id=run.session_id)
    return advice.look(run.verification_root, run.id)


def lost(owner: str) -> str:
    """Why a run is ended whose process is gone, with its machine where that is another one."""
    return LOST if is_here(owner) else f"{LOST} (on {names.host_of(owner)})"


def is_here(owner: str) -> bool:
    """Whether a process belongs to this machine."""
    return names.host_of(owner) == process_identity.host()


def reason(run: Run) -> str:
    """Why such a run is ended, with the files that were written since it began, if these can be told."""
    if not is_here(str(run.owner)):
        return lost(str(run.owner))
    names = _changed(run)
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    what = f"; written since it began, and not verified: {', '.join(names[:_MOST])}{more}" if names else ""
    return f"{LOST}{what}"


def again(run: Run) -> str:
    """What to enter for a new try of a run that has ended."""
    text = " ".join(run.prompt.split())
    return f"Enter the task again: {masking.mask(text if len(text) <= _LONGEST else f'{text[:_LONGEST]}…')}"


def _changed(run: Run) -> list[str]:
    from orchestrator.runner import snapshot

    try:
        begun = datetime.datetime.fromisoformat(str(run.started_at)).timestamp() * 1e9
        files = snapshot.take(os.path.realpath(run.verification_root), contents=False).files
    except (ValueError, OSError, OrchestratorError):
        return []
    return [snapshot.told(path) for path, (_, modified, changed, _) in sorted(files.items())
            if max(modified, changed) >= begun]  # fmt: skip
