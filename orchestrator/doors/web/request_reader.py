"""Bodies that are sent, read as strictly as every other document: no key twice, no NaN, UTF-8 alone, no unfit text."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from email.message import Message
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from orchestrator.core import names, strict_json
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
        _refuse_charset(self)
        try:
            # Its size was limited where it came in.
            return strict_json.loads(await self.body(), _WHAT, limit=None)
        except strict_json.JsonProblem as problem:
            code = _CODES.get(problem.kind, "BAD_REQUEST")
            raise Denied(400, code, f"{problem.message[:300].rstrip('.')}.") from None


def refuse_kind(request: Request) -> None:
    """Say of a body that does not fit what it was sent as, where that is why.

    Raises:
        Denied: 400.
    """
    kind = request.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if kind and kind != "application/json" and not kind.endswith("+json"):
        what = f"The content type is {names.shown(kind[:80])}; a body here is application/json."
        raise Denied(400, "BAD_REQUEST", what)


def _refuse_charset(request: Request) -> None:
    """Refuse a body that says of itself that it is not UTF-8.

    Raises:
        Denied: 400.
    """
    head = Message()
    head["Content-Type"] = request.headers.get("Content-Type", "application/json")
    charset = str(head.get_content_charset("utf-8"))
    if charset not in ("utf-8", "utf8", "us-ascii"):
        raise Denied(400, "BAD_REQUEST", f"The charset is {names.shown(charset[:40])}; a body here is UTF-8.")


class StrictRoute(APIRoute):
    """An endpoint that takes JSON."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """What answers a request."""
        handle = super().get_route_handler()

        async def handle_strictly(request: Request) -> Response:
            try:
                return await handle(_Strict(request.scope, request.receive))
            except RequestValidationError:
                refuse_kind(request)
                raise
            except HTTPException as fault:
                # The framework has one word for all that goes wrong while a body is read.
                if isinstance(fault.__cause__, Denied):
                    raise fault.__cause__ from None
                raise

        return handle_strictly
