"""Projects: the folders that a server offers for runs, each known by an id of its own.

Source: seed 000, INV-3 (a chat belongs to a project)
"""

from __future__ import annotations

import os
import re

from orchestrator.app.kernel import actors, operations
from orchestrator.app.kernel.context import Answer, Context, Work
from orchestrator.app.kernel.requests import REQUEST, Request, option
from orchestrator.core import names
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.routing.facts import RUNNER
from orchestrator.errors import Refused, UsageError
from orchestrator.runner import project

_OWN_IDS = re.compile(r"P\d+")
_COLUMNS = "id, alias, path, created_by, created_at"
_BY_NAME = f"SELECT {_COLUMNS} FROM projects WHERE id = :name OR alias = :name"
_BY_PATH = f"SELECT {_COLUMNS} FROM projects WHERE path = :path"
_ALL = f"SELECT {_COLUMNS} FROM projects ORDER BY seq"


class Project(NamedTuple):
    """A folder that was registered; `path` is absolute and holds no link."""

    id: str
    alias: str | None
    path: str
    created_by: str
    created_at: str


class ListProjects(Request, use_case="projects:every", answer="chats.Projects"):
    """All projects."""


class AddProject(
    Request,
    event="project add",
    use_case="projects:register",
    prepared_by="projects:add",
    answer="chats.ProjectAnswer",
):
    """Register a project. One that is registered already is answered as it is, with `created` false; an alias that is
    another project's, or another one for this project, is 400."""

    path: str = option("Its absolute path.", span=(1, 4096))
    alias: str | None = option("An alias, in the form of an id.", default=None, span=(0, 128))
    by: str = RUNNER
    request_id: str | None = REQUEST


def add(context: Context, request: AddProject) -> Answer:
    """Register a project. One that is registered already is answered as it is.

    Returns:
        `project`, and `created`: whether it is new.

    Raises:
        UsageError: USAGE, the path is not absolute; INVALID_ID, the alias. Refused: E101, E102, E103, the folder is no
            project; ALREADY_EXISTS, the alias is another project's, or the project has another alias.
    """
    path, alias = request.path, request.alias
    if not os.path.isabs(path):
        raise UsageError("USAGE", "The path of a project must be absolute.", "Give the full path of the folder")
    if alias is not None:
        _check_alias(alias)
    project.check(path)
    return operations.carry_out(context, request.replaced(path=os.path.realpath(path)))


def _check_alias(alias: str) -> None:
    names.check_id("project", alias)
    if _OWN_IDS.fullmatch(alias):
        raise UsageError("USAGE", f"{alias} looks like a project id.", "Choose another alias")


def register(work: Work, request: AddProject) -> Answer:
    """The step that registers a project."""
    agent = actors.actor(work, request.by)
    path, alias = request.path, request.alias
    known = _one(work.context, _BY_PATH, path=path)
    if known is not None and alias in (None, known.alias):
        return {"success": True, "project": known._asdict(), "created": False, "unchanged": True}
    named = known or (_one(work.context, _BY_NAME, name=alias) if alias is not None else None)
    if named is not None:
        what = "The project is registered under another alias" if known else f"The alias {alias} is another project's"
        raise Refused("ALREADY_EXISTS", f"{what}; nothing changed.", "Leave the alias out, or choose another one")
    created = Project(f"P{work.seq}", alias, path, agent.id, work.at)
    work.step.insert("projects", **created._asdict())
    return {"success": True, "project": created._asdict(), "created": True, "seq": work.seq}


def _one(context: Context, sql: str, **parameters: object) -> Project | None:
    row = context.connection.execute(sql, parameters).fetchone()
    return None if row is None else Project(*row)


def listed(context: Context) -> list[Project]:
    """All projects in the order in which they were registered."""
    return [Project(*row) for row in context.connection.execute(_ALL)]


def every(context: Context) -> Answer:
    """All projects, as `projects`."""
    return {"projects": [found._asdict() for found in listed(context)]}


def require(context: Context, name: str) -> Project:
    """The project of an id or an alias.

    Raises:
        Refused: UNKNOWN_ID {kind}.
    """
    found = _one(context, _BY_NAME, name=name)
    if found is None:
        known = [word for each in listed(context) for word in (each.id, each.alias) if word]
        raise Refused(
            "UNKNOWN_ID", f"There is no project {names.shown(name)}.", "Register it first",
            kind="project", did_you_mean=names.nearest(name, known),
        )
    return found
