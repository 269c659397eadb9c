"""The resources: the session's workflow, what its agents are told of their roles, and what has happened."""

from __future__ import annotations

import json
import re
from typing import Any

from orchestrator.app import arguments, operations, outcomes, pinned
from orchestrator.app.context import Context
from orchestrator.core import names
from orchestrator.core.tuples import NamedTuple
from orchestrator.doors.mcp.calling import Caller, shown
from orchestrator.errors import UsageError

SCHEME = "orchestrator://"
JSON, MARKDOWN = "application/json", "text/markdown"
STEPS = 100
"""How many steps a timeline shows: the newest."""
_URI = re.compile(r"orchestrator://(?:sessions/([^/]+)/)?(workflow|timeline|agents/([^/]+))")


class Resource(NamedTuple):
    """A resource, or with a parameter in its URI many of them."""

    uri: str
    name: str
    description: str
    kind: str

    @property
    def is_template(self) -> bool:
        """Whether its URI has a parameter."""
        return "{" in self.uri


class Content(NamedTuple):
    """What a resource holds."""

    text: str
    kind: str


_WORKFLOW = "The workflow version that the session is pinned to: who follows whom, on which status."
_TIMELINE = f"What happened in the session, the newest {STEPS} steps, the newest first."
_AGENT = "What an agent's role does and may report, as the session is pinned to it."
RESOURCES = (
    Resource(f"{SCHEME}workflow", "workflow", _WORKFLOW, JSON),
    Resource(f"{SCHEME}timeline", "timeline", _TIMELINE, JSON),
    Resource(f"{SCHEME}agents/{{name}}", "agent", _AGENT, MARKDOWN),
    Resource(f"{SCHEME}sessions/{{session_id}}/workflow", "workflow of a session", _WORKFLOW, JSON),
    Resource(f"{SCHEME}sessions/{{session_id}}/timeline", "timeline of a session", _TIMELINE, JSON),
    Resource(f"{SCHEME}sessions/{{session_id}}/agents/{{name}}", "agent of a session", _AGENT, MARKDOWN),
)


def listed(caller: Caller) -> list[Resource]:
    """The resources that can be read by name; where there is no database, those that need none to be named."""
    found = [each for each in RESOURCES if not each.is_template]
    try:
        files = caller.within(lambda context: pinned.agent_files(context, _known(caller, context)))
    except Exception as problem:
        # Whoever reads one of them is told.
        caller.failed(problem, None)
        return found
    return [*found, *(Resource(f"{SCHEME}agents/{name}", f"agent {name}", _AGENT, MARKDOWN) for name in files)]


def read(caller: Caller, uri: str) -> Content:
    """What a resource holds.

    Raises:
        OrchestratorError: USAGE for another URI; UNKNOWN_SESSION, AMBIGUOUS_SESSION, UNKNOWN_ID; those of the database.
    """
    found = _URI.fullmatch(uri)
    if found is None:
        way = f"One of: {', '.join(each.uri for each in RESOURCES)}"
        raise UsageError("USAGE", f"There is no resource {names.shown(uri)}.", way)
    session, what, name = found.groups()
    if session is not None:
        names.check_id("session", session)
    return caller.within(lambda context: _content(caller, context, session, what, name))


def _content(caller: Caller, context: Context, session: str | None, what: str, name: str | None) -> Content:
    if name is not None:
        text = pinned.agent_file(context, session or _known(caller, context), name)
        return Content(outcomes.masked(text), MARKDOWN)
    of = session or caller.settings.session_id or arguments.only_session(context, "status", {})
    if what == "workflow":
        return _json(pinned.workflow(context, of), context)
    return _json(operations.call(context, "audit timeline", session_id=of, order="desc", limit=STEPS), context)


def _known(caller: Caller, context: Context) -> str | None:
    """The session that the server is in: its own, else the only one that is open; None where there are others."""
    if caller.settings.session_id:
        return caller.settings.session_id
    found = arguments.open_sessions(context)
    return found[0] if len(found) == 1 else None


def _json(answer: dict[str, Any], context: Context) -> Content:
    return Content(json.dumps(shown(outcomes.success(answer, context.path))), JSON)
