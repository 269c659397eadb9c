"""The application: its endpoints and pages, what each answer says to browsers, and what runs beside it."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import math
from collections.abc import AsyncIterator, Sequence
from typing import Any

import anyio
from fastapi import FastAPI, Request
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from orchestrator.app.driving.autopilot import Autopilot
from orchestrator.app.running.web_run_service import Service
from orchestrator.doors.web import (
    api_endpoints as declared,
)
from orchestrator.doors.web import (
    api_reads,
    assets,
    events,
    failures,
    form_handlers,
    login,
    pages,
    person_acts,
    session_pages,
    what_if_page,
)
from orchestrator.doors.web.access import Access
from orchestrator.doors.web.idempotent_forms import Once
from orchestrator.doors.web.shared_refresh import SharedRefresh

MAX_BODY = 1024 * 1024
"""Bytes of a request's body at most."""
_ENDLESS = ("/api/events",)
"""What has no answer whose head could be sent alone."""
_MOST_DIGITS = 16
GONE = (anyio.BrokenResourceError, anyio.ClosedResourceError, ConnectionError)
"""What is raised where the reader of an answer went away."""
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self';"
    " img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # With less, browsers name no origin when one of our own forms is sent (PAG-15).
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""What every answer says; the pages need no other source than this server, and no inline script or style."""
_HEADERS = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
"""The same as it is sent."""


def create(
    service: Service, access: Access, *, hosts: Sequence[str], grace_s: float = 10.0,
    autopilot: Autopilot | None = None,
) -> FastAPI:
    """Build the application.

    Args:
        service: does what is asked for.
        access: who is let in.
        hosts: the names by which the server may be called, without ports; others are refused, so that no site can
            lead a browser here under a name of its own.
        grace_s: seconds that runs have to end, when the server stops.
        autopilot: drives sessions that are begun here; their turns have all the time that they take.
    """

    @contextlib.asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        app.state.pulse = events.Pulse(service.pool)
        looking = asyncio.create_task(app.state.pulse.run())
        service.loop.start()
        if autopilot is not None:
            autopilot.start()
        try:
            yield
        finally:
            looking.cancel()
            if autopilot is not None:
                autopilot.leave()
            await asyncio.to_thread(service.loop.stop, grace_s)
            if autopilot is not None:
                await asyncio.to_thread(autopilot.stop)
            # Last: runs and drivers that end still record how they ended.
            service.pool.close()

    app = _Application(
        frozenset(hosts),
        title="orchestrator", summary="Runs, sessions and questions of one database.", version="1", lifespan=life,
        # The framework's own pages would be readable without a token beyond loopback (HTTP-4).
        redirect_slashes=False, docs_url=None, redoc_url=None, openapi_url=None, max_body_size=MAX_BODY,
    )
    app.state.service, app.state.access, app.state.once, app.state.autopilot = service, access, Once(), autopilot
    for part in (
        declared, api_reads, events, assets, login, pages, session_pages, what_if_page, form_handlers, person_acts
    ):  # fmt: skip
        # Including a router would build each of its routes again, at the first request of every server (HTTP-28).
        app.router.routes.extend(part.router.routes)
    app.state.handle = failures.install(app, pages.failure)
    return app


class _Application(FastAPI):
    """The framework's application behind the edge, which sees every answer, also those to faults."""

    def __init__(self, hosts: frozenset[str], **settings: Any) -> None:
        super().__init__(**settings)
        self._hosts = hosts

    def openapi(self) -> dict[str, Any]:
        """The description of the interface: every failure has one shape, and none is a 422."""
        if not self.openapi_schema:
            found = super().openapi()
            failure = {"application/json": {"schema": {"$ref": "#/components/schemas/Failure"}}}
            for operation in (each for path in found["paths"].values() for each in path.values()):
                operation["responses"].pop("422", None)
                operation["responses"].setdefault("400", {"description": "Bad Request", "content": failure})
            for name in ("HTTPValidationError", "ValidationError"):
                found["components"]["schemas"].pop(name, None)
            declared.describe(found)
        return self.openapi_schema or {}

    def build_middleware_stack(self) -> ASGIApp:
        """What a request goes through."""
        return _Edge(SharedRefresh(super().build_middleware_stack()), self._hosts, self.state.handle)


class _Edge:
    """Refuses calls under a foreign name and what is too large, and gives every answer its headers."""

    def __init__(self, app: ASGIApp, hosts: frozenset[str], handle: failures.Handle) -> None:
        self._app = app
        self._hosts = hosts
        self._handle = handle

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answered, looked = False, scope["method"] == "HEAD" and scope["path"] not in _ENDLESS
        if looked:
            # The answer is that to GET, without its body.
            scope = {**scope, "method": "GET"}
        receive, send = _noting_who_leaves(scope, receive, send)

        async def sending(message: Message) -> None:
            nonlocal answered
            if message["type"] == "http.response.start":
                said = {name for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *(each for each in _HEADERS if each[0] not in said)]
            answered = message["type"] == "http.response.body" and not message.get("more_body")
            await send({**message, "body": b""} if looked and message["type"] == "http.response.body" else message)

        denied = self._denied(Headers(scope=scope))
        try:
            await (self._app if denied is None else await self._refusal(scope, denied))(scope, receive, sending)
        except Exception as fault:
            # The framework raises again what it has answered, and a stream whose reader has gone is nobody's fault.
            if not (answered or failures.LEFT in scope or _is_gone(fault)):
                failures.log(fault)

    async def _refusal(self, scope: Scope, denied: failures.Denied) -> Response:
        return await self._handle(Request(scope), denied)

    def _knows(self, name: str) -> bool:
        return name in self._hosts or _is_address(name)

    def _denied(self, headers: Headers) -> failures.Denied | None:
        if not self._knows(_name(headers.get("host", ""))):
            what = "The server is not called by this name; its --name adds one."
            return failures.Denied(400, "HOST_UNKNOWN", what)
        length = headers.get("content-length", "")
        # What comes without its length is measured while it is read.
        return failures.Denied(413, *failures.TOO_LARGE) if _number(length) > MAX_BODY else None


def _number(text: str) -> float:
    """A number that stands in a header; 0 where it is none. One of very many digits is larger than all others."""
    if not (text.isascii() and text.isdigit()):
        return 0
    return int(text) if len(text) < _MOST_DIGITS else math.inf


def _noting_who_leaves(scope: Scope, receive: Receive, send: Send) -> tuple[Receive, Send]:
    """Both ends of a request, which say in its scope that its reader has gone away."""

    async def receiving() -> Message:
        message = await receive()
        if message["type"] == "http.disconnect":
            scope[failures.LEFT] = True
        return message

    async def sending(message: Message) -> None:
        try:
            await send(message)
        except OSError:
            scope[failures.LEFT] = True
            raise

    return receiving, sending


def _is_gone(fault: Exception) -> bool:
    """Whether a fault says no more than that nobody reads any more."""
    others = fault.split(GONE)[1] if isinstance(fault, ExceptionGroup) else fault
    return others is None or isinstance(others, GONE)


def _is_address(name: str) -> bool:
    """Whether a name is an address, which no other site can make its own."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _name(host: str) -> str:
    """The name in a Host header, without its port."""
    name, colon, port = host.rpartition(":")
    return (name if colon and port.isdigit() else host).strip("[]").lower()
