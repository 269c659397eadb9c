"""Commands that came in an agent's report: they run once the project's settings allow them or a person confirms them.

Whoever plans must not run programs through us, so such a command is pending until somebody else has said yes.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Sequence

from orchestrator import files
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.core import project_settings, strict_json
from orchestrator.core.suggestions import sentence, suggest
from orchestrator.errors import EnvironmentProblem, InvalidInput
from orchestrator.store import constants, queries

PENDING = "pending"


def pending(context: Context, session_id: str) -> list[Answer]:
    """The commands of a session that wait for a confirmation, each with why, and the command that gives it."""
    rows = queries.rows(context.reader, queries.PENDING_CRITERIA, session=session_id)
    found = {row["id"]: list(strict_json.stored(row["command"])) for row in rows}
    if not found:
        return []
    waiting, why = unallowed(context.path, found.items())
    return [
        {
            "criterion": id_, "command": found[id_], "why": why,
            "help": suggest("criterion approve", id=id_, session_id=session_id),
        }
        for id_ in waiting
    ]  # fmt: skip


def unallowed(database: str, commands: Iterable[tuple[str, Sequence[str]]]) -> tuple[list[str], str]:
    """Those of the criteria whose commands the project's settings do not allow, and why they do not.

    Args:
        database: the path of the database, which says where the project is.
        commands: each criterion with its command.
    """
    settings, why = _told(database)
    return [id_ for id_, command in commands if not settings.allows(command)], why


def allowed(database: str) -> list[str]:
    """How commands may begin that agents run in a project, each as one line, as its settings allow them."""
    return [shlex.join(each) for each in _told(database)[0].allowed_commands]


def settings(root: str) -> project_settings.Settings | None:
    """What a project sets in its main checkout; None where it has no such file.

    Raises:
        InvalidInput: SETTINGS_INVALID. EnvironmentProblem: SETTINGS_INVALID, the file cannot be read, or is a symbolic
            link.
    """
    place = os.path.join(root, project_settings.FILE)
    try:
        with files.opened(place, follows=False) as file:
            return project_settings.read(file.read(project_settings.SIZE_LIMIT + 1))
    except files.Unreadable as problem:
        if isinstance(problem.__cause__, FileNotFoundError):
            return None
        what = sentence("{} {}.", project_settings.FILE, problem.reason)
        raise EnvironmentProblem("SETTINGS_INVALID", what, "Put a regular file in its place") from None


def _told(database: str) -> tuple[project_settings.Settings, str]:
    """The settings, and why they do not allow what they do not allow."""
    nothing, name = project_settings.Settings(), project_settings.FILE
    try:
        found = settings(_root(database))
    except (InvalidInput, EnvironmentProblem) as problem:
        return nothing, problem.message.removesuffix(".")
    return (nothing, f"no {name} allows it") if found is None else (found, f"{name} does not allow it")


def _root(database: str) -> str:
    """The project that a database belongs to: the folder above `.orchestrator`, else the current one."""
    folder = os.path.dirname(os.path.realpath(database))
    return os.path.dirname(folder) if os.path.basename(folder) == constants.FOLDER else os.getcwd()
