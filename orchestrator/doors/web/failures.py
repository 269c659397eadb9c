"""What a caller is told when something does not work: a code, one sentence, and a status; never where things lie."""

from __future__ import annotations

import re
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from orchestrator import bootstrap
from orchestrator.core import masking, names
from orchestrator.core.suggestions import HIDDEN, elsewhere
from orchestrator.errors import EnvironmentProblem, InvalidInput, OrchestratorError, UsageError

INTERNAL = ("INTERNAL", "Something went wrong inside the server; its log says what.")
TOO_LARGE = ("TOO_LARGE", "The body is too large: at most 1 MiB is allowed; nothing changed.")
_FORBIDDEN = ("HUMAN_REQUIRED", "NOT_PERMITTED", "UNBLOCK_NOT_PERMITTED", "ACTOR_REQUIRED")
_BAD = ("E101", "E102", "E103", "E104", "E105", "REASON_REQUIRED")
_HTTP = {
    400: ("BAD_REQUEST", "The request cannot be read."),
    404: ("NOT_FOUND", "Nothing found at this address."),
    405: ("METHOD_NOT_ALLOWED", "This method is not allowed here."),
    413: TOO_LARGE,
}
_OWN = dict.fromkeys(("model_attributes_type", "model_type", "dict_type"), "This is not a JSON object")
"""Sentences in place of those that speak of the library's own types."""


class Denied(Exception):
    """A request that is let in nowhere: who calls is unknown, or the page that sent it is not ours."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message


def status_of(problem: OrchestratorError) -> int:
    """The status of an error."""
    if isinstance(problem, EnvironmentProblem):
        return 503
    if isinstance(problem, UsageError | InvalidInput) or problem.code in _BAD:
        return 400
    if problem.code.startswith("UNKNOWN_"):
        return 404
    return 403 if problem.code in _FORBIDDEN else 409


def told(fault: Exception) -> tuple[int, str, str]:
    """Status, code and sentence of anything that was raised."""
    if isinstance(fault, Denied):
        return fault.status, fault.code, fault.message
    if isinstance(fault, OrchestratorError):
        return status_of(fault), fault.code, said(fault.message)
    if isinstance(fault, RequestValidationError):
        return 400, "BAD_REQUEST", said(_unfit(fault))
    if isinstance(fault, HTTPException):
        code, message = _HTTP.get(fault.status_code, ("BAD_REQUEST", "The request cannot be answered."))
        return fault.status_code, code, message
    known = bootstrap.environment_problem(fault, HIDDEN)
    # The words of an unknown fault may hold anything, so they go to the log alone.
    return (503, known.code, said(known.message)) if known is not None else (500, *INTERNAL)


def told_as(problem: OrchestratorError, status: int) -> Denied:
    """An error under another status than that of its kind, where an endpoint knows only some."""
    _, code, message = told(problem)
    return Denied(status, code, message)


def said(message: str) -> str:
    """A sentence without secrets, and without what only callers on this machine are told."""
    return str(masking.mask(elsewhere(message)))


def _unfit(fault: RequestValidationError) -> str:
    """Which part of a request does not fit, in the order of the request."""
    said = [(error["loc"], _OWN.get(error["type"]) or _of_a_set(error) or error["msg"]) for error in fault.errors()[:5]]
    parts = [f"{'.'.join(str(step) for step in place[1:]) or place[0]}: {what}" for place, what in said]
    return "; ".join(parts)[:500]


def _of_a_set(error: dict[str, Any]) -> str | None:
    """What is said of a value that is none of those it may be, with the nearest."""
    if error["type"] != "literal_error":
        return None
    allowed, given = re.findall(r"'([^']*)'", error["ctx"]["expected"]), str(error["input"])
    near = names.nearest(given.upper(), allowed) or names.nearest(given, allowed)
    hint = f"; did you mean {near}?" if near else ""
    return f"must be one of {', '.join(allowed)}, not {names.shown(given[:40])}{hint}"


def answer(fault: Exception) -> JSONResponse:
    """The answer of the programs' interface."""
    status, code, message = told(fault)
    if status >= 500:
        log(fault)
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
    return JSONResponse({"error": code, "message": message}, status, headers)


def log(fault: Exception) -> None:
    """One line about a fault on the server's own stderr, without secrets."""
    sys.stderr.write(f"orchestrator: {masking.mask(f'{type(fault).__name__}: {fault}')}\n")


LEFT = "orchestrator.left"
"""Stands in the scope of a request whose reader has gone away."""
Handle = Callable[[Request, Exception], Awaitable[Response]]


def install(app: FastAPI, page: Callable[[Request, int, str, str], Response]) -> Handle:
    """Answer every fault of an application in this way.

    Args:
        page: shows status, code and sentence to a person, where no program asked.

    Returns:
        What answers them.
    """

    async def handle(request: Request, fault: Exception) -> Response:
        if LEFT in request.scope:
            # Nobody reads what is answered, and that is nobody's fault.
            return Response(status_code=500)
        if f"{request.url.path}/".startswith("/api/"):
            return answer(fault)
        status, code, message = told(fault)
        if status >= 500:
            log(fault)
        return page(request, status, code, message)

    for kind in (Denied, OrchestratorError, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(kind, handle)
    return handle
