"""The one place that names concrete adapters: which store, which clock, what runs commands."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

from orchestrator.app.context import Context
from orchestrator.errors import OrchestratorError, UsageError
from orchestrator.store import discovery, sqlite

DEFAULT_DEADLINE_S = 10.0


def now() -> str:
    """The current time: UTC, ISO 8601, microseconds, Z."""
    seconds, nanoseconds = divmod(time.time_ns(), 1_000_000_000)
    moment = time.gmtime(seconds)
    return time.strftime("%Y-%m-%dT%H:%M:%S", moment) + f".{nanoseconds // 1000:06d}Z"


def deadline(environment: Mapping[str, str]) -> float:
    """How long a write waits for other writers, in seconds.

    Raises:
        UsageError: ORCHESTRATOR_BUSY_TIMEOUT is not a number of seconds.
    """
    given = environment.get("ORCHESTRATOR_BUSY_TIMEOUT")
    if not given:
        return DEFAULT_DEADLINE_S
    try:
        seconds = float(given)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < 86_400:
        message = "ORCHESTRATOR_BUSY_TIMEOUT must be a number of seconds."
        raise UsageError("USAGE", message, "export ORCHESTRATOR_BUSY_TIMEOUT=10")
    return seconds


def open_context(
    explicit: str | None = None,
    *,
    write: bool,
    door: str,
    channel: str = "process",
    environment: Mapping[str, str] | None = None,
    folder: str | os.PathLike[str] | None = None,
) -> Context:
    """Find the database and open it for one door.

    Args:
        explicit: the path that the caller named, before the environment and discovery.
        write: whether the use case writes; a reading one opens read-only and creates nothing.
        door: cli, batch, python, ...; recorded with refusals.
        channel: through what the actor spoke; recorded with every step.
        folder: where the search begins; the current one where left out.

    Raises:
        EnvironmentProblem: NO_DATABASE, READ_ONLY, CORRUPT, SCHEMA_TOO_NEW.
    """
    environment = os.environ if environment is None else environment
    path = discovery.find(explicit, environment, folder or discovery.working_folder(explicit, environment))
    seconds = deadline(environment)
    synchronous = environment.get("ORCHESTRATOR_SYNCHRONOUS", "FULL").upper()
    connection = sqlite.connect(path, write=write, deadline=seconds, synchronous=synchronous)
    return Context(
        connection, path=path, clock=now, door=door, channel=channel, deadline_s=seconds, run=run_command
    )


def environment_problem(error: Exception, path: str) -> OrchestratorError | None:
    """What an error in the middle of a call says about the database; None where it says nothing about it."""
    return sqlite.environment_problem(error, path)


def run_command(argv: Sequence[str], **settings: Any) -> Any:
    """Run a command to its end; what runs it is loaded when one is run."""
    from orchestrator.runner import commands

    return commands.run(argv, **settings)
