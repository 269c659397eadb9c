"""`init`: the database, the first agents and the active workflow. Doing it again changes nothing."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from orchestrator import files, resources
from orchestrator.app.agents import registry
from orchestrator.app.kernel import operations
from orchestrator.app.kernel.context import Answer, Context, Work
from orchestrator.app.kernel.requests import Request
from orchestrator.app.workflow import workflows
from orchestrator.app.workflow.requests import LoadWorkflow
from orchestrator.core import names
from orchestrator.core.suggestions import local, quoted, sentence, suggest
from orchestrator.core.workflow import vocabulary
from orchestrator.errors import InvalidInput
from orchestrator.hints import Any
from orchestrator.store import migrate

SYSTEM = ("system:router", "system:validator", "system:runner")
INSTALLER = "system:router"


def create_database(path: str | Path, at: str) -> Any:
    """Create the database file or bring it to this program's schema; return what was moved."""
    return migrate.upgrade(path, at, actor=INSTALLER)


def agent_texts(folder: Path | None = None) -> dict[str, str]:
    """The agent files of a folder by name; the shipped ones where none is given.

    Raises:
        InvalidInput: WORKFLOW_INVALID, one of them cannot be read.
    """
    folder = folder or resources.path("agents")
    return {file.name: _text(file) for file in sorted(folder.glob("*.md"))}


def read_workflow(file: Path | None) -> tuple[str, str]:
    """Text and name of a transitions file; the shipped one where none is given.

    Raises:
        InvalidInput: WORKFLOW_INVALID, the file cannot be read.
    """
    source = file or resources.path("workflow") / "transitions.json"
    try:
        # The check of workflow files has words of its own for bytes that are no text.
        return files.content(source).decode("utf-8", "surrogateescape"), source.name
    except files.Unreadable as problem:
        raise _unreadable(source, problem, suggest("workflow check", file="FILE")) from None


def require_valid(workflow: Path) -> None:
    """Refuse a transitions file that could not be loaded, before anything is created.

    Raises:
        InvalidInput: WORKFLOW_INVALID with every problem.
    """
    content, source = read_workflow(workflow)
    with naming(str(workflow)):
        workflows.valid(content, agent_texts(), source)


@contextlib.contextmanager
def naming(file: str) -> Iterator[None]:
    """Have what is wrong with a transitions file advise a check of it by the path that the caller named.

    The record keeps the file's name alone.
    """
    try:
        yield
    except InvalidInput as problem:
        if problem.code == "WORKFLOW_INVALID" and "workflow check" in problem.suggestion:
            problem.suggestion = suggest("workflow check", file=file)
        raise


def _text(file: Path) -> str:
    try:
        return files.text(file)
    except files.Unreadable as problem:
        raise _unreadable(file, problem, sentence("Replace or remove {}", quoted(str(file)))) from None


def _unreadable(file: Path, problem: files.Unreadable, advice: str) -> InvalidInput:
    message = sentence("{} {}.", local(names.shown(str(file))), problem.reason)
    return InvalidInput("WORKFLOW_INVALID", message, advice, problems=[])


def initialise(context: Context, *, workflow: Path | None = None, agent_folder: Path | None = None) -> Answer:
    """Register the first agents and load the workflow into a database that exists.

    Args:
        workflow: a transitions file (default: the shipped one, and only if none is active yet).
        agent_folder: a folder of agent files (default: the shipped ones).

    Returns:
        `agents_registered`, and what `workflow load` answers; `version` is the active one.
    """
    texts = agent_texts(agent_folder)
    registered = operations.ask(context, RegisterAgents(agents=_tree(texts)))
    active = context.reader.one("SELECT 1 FROM workflow_activations LIMIT 1")
    if workflow is None and active is not None:
        version = context.active_version()
        return {"success": True, "agents_registered": registered["agents_registered"], "loaded": False,
                "activated": False, "version": workflows.version_row(context, version.id), "problems": []}
    content, source = read_workflow(workflow)
    loaded = operations.ask(
        context, LoadWorkflow(content=content, agent_texts=texts, source=source, by=INSTALLER)
    )
    return {**loaded, "agents_registered": registered["agents_registered"]}


class RegisterAgents(Request, event="init", use_case="setup:register", acting=INSTALLER):
    """Register the first agents: role and parent of each, parents first."""

    agents: tuple[list[str | None], ...]


def _tree(texts: dict[str, str]) -> tuple[list[str | None], ...]:
    """Role and parent of every agent to register, parents first."""
    from orchestrator.core import agents as agent_files

    parents: dict[str, str | None] = {"user": None}
    for name, text in texts.items():
        file = agent_files.parse(text, name)
        parents.setdefault(file.role, file.reports_to)
    for role in vocabulary.ROLES:
        parents.setdefault(role, "tech_lead" if role not in ("project_manager", "validator") else "user")
    parents.pop("validator", None)
    ordered: list[list[str | None]] = []
    while len(ordered) < len(parents):
        known = {role for role, _ in ordered}
        ready = [[r, p] for r, p in parents.items() if r not in known and (p is None or p in known)]
        ordered += ready or [[r, "user"] for r in parents if r not in known]
    return tuple(ordered)


def register(work: Work, request: RegisterAgents) -> Answer:
    """Register what is not registered yet."""
    registered = []
    for role, parent in request.agents:
        if role is not None and work.reader.agent(role) is None:
            registry.insert(work, role, role, parent, "human" if role == "user" else "ai")
            registered.append(role)
    for name in SYSTEM:
        if work.reader.agent(name) is None:
            registry.insert(work, name, name, None, "system")
            registered.append(name)
    answer: Answer = {"success": True, "agents_registered": registered}
    return answer if registered else {**answer, "unchanged": True}


def require_project(root: str) -> None:
    """Refuse a folder that cannot be set up for runs, as `project.require_room`."""
    from orchestrator.runner import project

    project.require_room(root)


def set_up_project(root: str) -> tuple[str, ...]:
    """Set a folder up for runs, as `project.init`."""
    from orchestrator.runner import project

    return project.init(root)
