"""Bodies that are sent, read as strictly as every other document: no key twice, no NaN, UTF-8 alone, no unfit text."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from orchestrator.core import strictjson
from orchestrator.doors.web.failures import Denied

_WHAT = "The body"
_CODES = {"text": "INVALID_TEXT"}


class _Strict(Request):
    """A request whose JSON is read by the product's own rules."""

    async def json(self) -> Any:
        """The value of the body.

        Raises:
            Denied: 400, it is no acceptable JSON.
        """
        try:
            # Its size was limited where it came in.
            return strictjson.loads(await self.body(), _WHAT, limit=None)
        except strictjson.JsonProblem as problem:
            code = _CODES.get(problem.kind, "BAD_REQUEST")
            raise Denied(400, code, f"{problem.message[:300].rstrip('.')}.") from None


class StrictRoute(APIRoute):
    """An endpoint that takes JSON."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """What answers a request."""
        handle = super().get_route_handler()

        async def handle_strictly(request: Request) -> Response:
            try:
                return await handle(_Strict(request.scope, request.receive))
            except HTTPException as fault:
                # The framework has one word for all that goes wrong while a body is read.
                if isinstance(fault.__cause__, Denied):
                    raise fault.__cause__ from None
                raise

        return handle_strictly
