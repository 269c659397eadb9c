"""The documents that a session is pinned to: its workflow, and what its agents are told of their roles."""

from __future__ import annotations

from orchestrator.app.kernel.context import Answer, Context
from orchestrator.app.workflow import workflows
from orchestrator.core import names
from orchestrator.errors import Refused

_FILES = "SELECT name, role, content FROM agent_files WHERE workflow_version_id = :version ORDER BY name"


def workflow(context: Context, session_id: str) -> Answer:
    """The workflow version of a session, as `workflow show` answers it.

    Raises:
        Refused: UNKNOWN_SESSION.
    """
    return workflows.shown(context, context.require_session(session_id).workflow_version_id)


def agent_files(context: Context, session_id: str | None) -> dict[str, str]:
    """The agent files by name that a session is pinned to; those of the active version without a session.

    Raises:
        Refused: UNKNOWN_SESSION. EnvironmentProblem: NO_WORKFLOW.
    """
    version = context.active_version().id if session_id is None else (
        context.require_session(session_id).workflow_version_id
    )
    return {name: content for name, _, content in context.connection.execute(_FILES, {"version": version})}


def agent_file(context: Context, session_id: str | None, name: str) -> str:
    """One agent file, as `agent_files`; a role's name is as good as the file's, which has hyphens.

    Raises:
        Refused: UNKNOWN_ID {kind, did_you_mean}.
    """
    files = agent_files(context, session_id)
    found = files.get(name) or files.get(name.replace("_", "-"))
    if found is None:
        near = names.nearest(name, files)
        what = f"No agent file is called {names.shown(name)}."
        way = f"One of: {', '.join(files)}"
        raise Refused("UNKNOWN_ID", what, way, kind="agent file", did_you_mean=near)
    return found
