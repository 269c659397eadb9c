"""The resources: the session's workflow, what its agents are told of their roles, and what has happened."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import parse_qs, urlencode

from orchestrator.app.kernel import arguments, operations
from orchestrator.app.kernel.context import Context
from orchestrator.app.workflow import session_documents
from orchestrator.core import masking, names
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.doors.mcp.tool_calls import Caller, shown
from orchestrator.doors.mcp.tools import SESSION
from orchestrator.errors import UsageError

SCHEME = "orchestrator://"
JSON, MARKDOWN = "application/json", "text/markdown"
STEPS = 100
"""How many steps a page of a timeline has, unless another number is asked for."""
_PAGING = ("until", "limit")
_QUERY = "{?until,limit}"
_URI = re.compile(r"orchestrator://(?:sessions/([^/?]+)/)?(workflow|timeline|agents/([^/?]+))(?:\?(.*))?", re.DOTALL)

_NUMBER = re.compile(r"[0-9]{1,15}")


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
_TIMELINE = (
    f"What happened in the session, the newest first, {STEPS} steps a page. While has_more is true, next_uri names the"
    " page of the older ones: until is the newest step that it may hold, limit how many."
)
_AGENT = "What an agent's role does and may report, as the session is pinned to it."
RESOURCES = (
    Resource(f"{SCHEME}workflow", "workflow", _WORKFLOW, JSON),
    Resource(f"{SCHEME}timeline", "timeline", _TIMELINE, JSON),
    Resource(f"{SCHEME}timeline{_QUERY}", "page of the timeline", _TIMELINE, JSON),
    Resource(f"{SCHEME}agents/{{name}}", "agent", _AGENT, MARKDOWN),
    Resource(f"{SCHEME}sessions/{{session_id}}/workflow", "workflow of a session", _WORKFLOW, JSON),
    Resource(f"{SCHEME}sessions/{{session_id}}/timeline", "timeline of a session", _TIMELINE, JSON),
    Resource(f"{SCHEME}sessions/{{session_id}}/timeline{_QUERY}", "page of a session's timeline", _TIMELINE, JSON),
    Resource(f"{SCHEME}sessions/{{session_id}}/agents/{{name}}", "agent of a session", _AGENT, MARKDOWN),
)


def listed(caller: Caller) -> list[Resource]:
    """The resources that can be read by name; where there is no database, those that need none to be named."""
    found = [each for each in RESOURCES if not each.is_template]
    try:
        files = caller.within(lambda context: session_documents.agent_files(context, known(caller, context)))
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
    session, what, name, query = found.groups()
    if session is not None:
        names.check_id("session", session)
    page = _page(query, what)
    return caller.within(lambda context: _content(caller, context, session, what, name, page))


def _page(query: str | None, what: str) -> dict[str, Any]:
    """Which page of a timeline is asked for.

    Raises:
        UsageError: USAGE, another parameter, or none of its numbers.
    """
    given = parse_qs(query or "", keep_blank_values=True)
    known = _PAGING if what == "timeline" else ()
    odd = [name for name, said in given.items() if name not in known or not _NUMBER.fullmatch(" ".join(said))]
    if odd:
        way = f"{SCHEME}timeline?until=SEQ&limit=N" if known else f"{SCHEME}{what} takes no query"
        raise UsageError("USAGE", f"{names.shown(odd[0])} is not a page number here.", way)
    return {"limit": STEPS, **{name: int(said[0]) for name, said in given.items()}}


def _content(
    caller: Caller, context: Context, session: str | None, what: str, name: str | None, page: dict[str, Any]
) -> Content:
    if name is not None:
        text = session_documents.agent_file(context, session or known(caller, context), name)
        return Content(masking.mask_document(text), MARKDOWN)
    of = session or caller.settings.session_id or arguments.only_session(context, "status", {})
    if what == "workflow":
        return _json(session_documents.workflow(context, of), context, caller)
    words = "audit timeline"
    bound = arguments.complete(context, words, arguments.bind(words, {SESSION: of, "order": "desc", **page}))
    answer = operations.call(context, words, **bound)
    place = f"sessions/{session}/" if session else ""
    more = {"until": answer.get("next_until"), "limit": page["limit"]}
    next_ = f"{SCHEME}{place}timeline?{urlencode(more)}" if answer["has_more"] else None
    return _json({**answer, "next_uri": next_}, context, caller)


def known(caller: Caller, context: Context) -> str | None:
    """The session that the server is in: its own, else the only one that is open; None where there are others."""
    if caller.settings.session_id:
        return caller.settings.session_id
    found = arguments.open_sessions(context)
    return found[0] if len(found) == 1 else None


def _json(answer: dict[str, Any], context: Context, caller: Caller) -> Content:
    return Content(json.dumps(shown(operations.success(answer, context.path), caller.worded)), JSON)
