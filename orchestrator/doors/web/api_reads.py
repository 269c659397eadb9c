"""Endpoints that read what the command line reads: the same keys, without where the database lies."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse

from orchestrator.app.kernel import arguments, operations
from orchestrator.app.kernel.context import Context
from orchestrator.app.running import run_list_views
from orchestrator.doors.web import bodies
from orchestrator.doors.web.authentication import Reading, Serving
from orchestrator.doors.web.bodies import failures
from orchestrator.doors.web.failures import log, told
from orchestrator.errors import OrchestratorError

router = APIRouter(prefix="/api")

Answer = dict[str, Any]

def answer(context: Context, words: str, **given: Any) -> Answer:
    """What an operation answers, checked and completed as at every door, the places of projects as local parts.

    Its secrets are not yet masked.
    """
    known = {name: value for name, value in given.items() if value is not None}
    bound = arguments.complete(context, words, arguments.bind(words, known))
    found = operations.call(context, words, **bound)
    found.pop("exit_code", None)
    placed: Answer = run_list_views.with_places(context, bound.get("session_id"), found)
    return placed


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
