"""The file of a project that names the task that runs in it, and the one that ended last.

It is written only while the project is held, so that it never changes under the run of another process.

Source: seed 001, Property 38.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from orchestrator.app.context import Context
from orchestrator.core.running import states
from orchestrator.errors import OrchestratorError
from orchestrator.runner import project
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


def _point(root: str, *, current: str | None, last: str | None = None) -> None:
    try:
        before = project.load_pointers(root)
    except OrchestratorError:
        if current is not None:
            raise
        # The run that has just ended has spoilt them, and says so.
        before = project.Pointers()
    project.save_pointers(root, project.Pointers(current, last or before.last_task_id))
