"""The file of a project that names the task that runs in it, and the one that ended last.

It is written only while the project is held, so that it never changes under the run of another database.

Source: seed 001, Property 38.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from orchestrator.app.kernel.context import Context
from orchestrator.core.running import states
from orchestrator.errors import OrchestratorError
from orchestrator.runner import folder_lock, project
from orchestrator.store import run_reader
from orchestrator.store.run_reader import Run


@contextlib.contextmanager
def pointed(context: Context, root: str, run: Run) -> Iterator[None]:
    """While this is entered, the file says that the run runs; then that it has ended, unless it awaits a response.

    Raises:
        InvalidInput: E105, the file is not what the runner writes. EnvironmentProblem: OUTPUT_FAILED.
    """
    _point(root, current=run.id)
    failed = False
    try:
        yield
    except OrchestratorError:
        # It is given up, which is its end.
        failed = True
        raise
    finally:
        found = run_reader.run(context.connection, run.session_id, run.id) or run
        over = failed or found.ended_at is not None
        # A run that is an error has its own reason, such as that it spoilt this very file.
        told = failed or found.state == states.FAILED
        with contextlib.suppress(*([OrchestratorError] if told else [])):
            _point(root, current=None, last=run.id if over else None)


def ended(context: Context, run: Run) -> None:
    """Say of a run that it has ended, where no executor was called, its process is gone, or nobody answered.

    While another database works in the project, the file tells of what runs there, and stays as it is.
    """
    root = run.verification_root
    if not project.is_set_up(root):
        return
    place = folder_lock.Place(root, context.path, run.id)
    try:
        with contextlib.suppress(OrchestratorError):
            before = project.load_pointers(root)
            current = None if before.current_task_id == run.id else before.current_task_id
            found = project.Pointers(current, before.last_task_id if run.ended_at is None else run.id)
            if found != before and place.take().taken:
                project.save_pointers(root, found)
    finally:
        place.leave()


def heal(context: Context, root: str) -> None:
    """Put right what a killed process has left: the run that is named runs no more, as the database has it."""
    with contextlib.suppress(OrchestratorError):
        named = project.load_pointers(root).current_task_id
        run = run_reader.by_id(context.connection, named) if named is not None else None
        if run is not None and run.state not in (states.QUEUED, states.RUNNING):
            ended(context, run)


def _point(root: str, *, current: str | None, last: str | None = None) -> None:
    try:
        before = project.load_pointers(root)
    except OrchestratorError:
        if current is not None:
            raise
        # The run that has just ended has spoilt them, and says so.
        before = project.Pointers()
    project.save_pointers(root, project.Pointers(current, last or before.last_task_id))
