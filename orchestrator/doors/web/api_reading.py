"""Endpoints that read what the command line reads: the same keys, without where the database lies."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from starlette.responses import JSONResponse

from orchestrator.app.kernel import arguments, operations
from orchestrator.app.kernel.context import Context
from orchestrator.app.running import run_list_views
from orchestrator.core import masking
from orchestrator.doors.web import bodies
from orchestrator.doors.web.api import failures
from orchestrator.doors.web.callers import Reading, Serving
from orchestrator.doors.web.failures import log, told
from orchestrator.errors import OrchestratorError

router = APIRouter(prefix="/api")

Answer = dict[str, Any]
Limit = Annotated[int, Query(ge=1, le=500)]
Since = Annotated[str | None, Query(max_length=300)]
Seq = Annotated[int | None, Query(ge=0, le=2**53)]
Name = Annotated[str | None, Query(max_length=300)]
_OF_RUNS = frozenset(
    ("audit decisions", "audit timeline", "blocker list", "group show", "group list", "inbox", "status", "task show")
)
"""What tells of runs, in words that may name places."""


def answer(context: Context, words: str, **given: Any) -> Answer:
    """What an operation answers, checked and completed as at every door; its secrets are not yet masked."""
    known = {name: value for name, value in given.items() if value is not None}
    bound = arguments.complete(context, words, arguments.bind(words, known))
    found = operations.call(context, words, **bound)
    found.pop("exit_code", None)
    if words in _OF_RUNS:
        found = run_list_views.without_places(context, bound.get("session_id"), found)
    return found


def ask(context: Context, words: str, **given: Any) -> Answer:
    """What an operation answers, with secrets masked."""
    shown: Answer = masking.mask_value(answer(context, words, **given))
    return shown


def read(serving: Serving, words: str, **given: Any) -> Answer:
    """`ask` on a context that is lent for it."""
    with serving.pool.lent() as context:
        return ask(context, words, **given)


@router.get("/sessions", responses=failures(400, 401, 503))
def list_sessions(
    serving: Serving, caller: Reading, all: bool = True, limit: Limit = 50, since: Since = None
) -> Answer:
    """Sessions in the order of their ids, ended ones too."""
    return read(serving, "session list", all=all, limit=limit, since=since)


@router.get("/sessions/{session}", responses=failures(400, 401, 404, 503))
def show_session(session: str, serving: Serving, caller: Reading) -> Answer:
    """A session with its groups."""
    with serving.pool.lent() as context:
        found = ask(context, "session show", id=session)
        return {**found, "groups": ask(context, "group list", session_id=session)["groups"]}


@router.get("/sessions/{session}/decisions", responses=failures(400, 401, 404, 503))
def list_decisions(
    session: str, serving: Serving, caller: Reading, group_id: Name = None, limit: Limit = 50, since: Seq = None
) -> Answer:
    """The decisions of a session: who was sent where, by which rule."""
    return read(serving, "audit decisions", session_id=session, group_id=group_id, limit=limit, since=since)


@router.get("/sessions/{session}/timeline", responses=failures(400, 401, 404, 503))
def show_timeline(
    session: str, serving: Serving, caller: Reading, group_id: Name = None, limit: Limit = 50, since: Seq = None
) -> Answer:
    """All that happened in a session, in order."""
    return read(serving, "audit timeline", session_id=session, group_id=group_id, limit=limit, since=since)


@router.get("/sessions/{session}/status", responses=failures(400, 401, 404, 503))
def show_status(session: str, serving: Serving, caller: Reading, brief: bool = False) -> Answer:
    """Where a session stands: who is awaited, since when, and what is asked."""
    return read(serving, "status", session_id=session, brief=brief)


@router.get("/inbox", responses=failures(400, 401, 404, 503))
def show_inbox(
    serving: Serving, caller: Reading, session_id: Name = None, limit: Limit = 50, since: Since = None
) -> Answer:
    """What waits for a person, the oldest first."""
    return read(serving, "inbox", session_id=session_id, limit=limit, since=since)


@router.get("/workflow/graph", responses=failures(400, 401, 404, 503))
def show_graph(
    serving: Serving, caller: Reading, format: Literal["mermaid", "dot", "svg"] = "mermaid", session_id: Name = None,
    group_id: Name = None,
) -> Answer:
    """The workflow as a drawing; with a session, its position in it, and with a group of it, that one's alone."""
    return read(serving, "workflow graph", format=format, session_id=session_id, group_id=group_id)


@router.get("/openapi.json", include_in_schema=False)
def show_description(request: Request, caller: Reading) -> JSONResponse:
    """The description of the interface."""
    return JSONResponse(request.app.openapi())


@router.get("/health", response_model=bodies.Health, responses=failures(401, 503))
def show_health(serving: Serving, caller: Reading) -> JSONResponse:
    """Whether the store can be written: 200, or 503 with the reason."""
    try:
        serving.pool.check_writable()
    except OrchestratorError as problem:
        log(problem)
        status, code, message = told(problem)
        return JSONResponse({"error": code, "message": message}, status)
    return JSONResponse({"status": "ok"})
