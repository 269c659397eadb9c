"""The application: its endpoints and pages, what each answer says to browsers, and what runs beside it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence

from fastapi import FastAPI, Request
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from orchestrator.app.running.serving import Service
from orchestrator.doors.web import acts, api, api_reading, assets, entering, events, failures, pages
from orchestrator.doors.web.access import Access

MAX_BODY = 1024 * 1024
"""Bytes of a request's body at most."""
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self';"
    " img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # With less, browsers name no origin when one of our own forms is sent.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""What every answer says; the pages need no other source than this server, and no inline script or style."""


def create(service: Service, access: Access, *, hosts: Sequence[str], grace_s: float = 10.0) -> FastAPI:
    """Build the application.

    Args:
        service: does what is asked for.
        access: who is let in.
        hosts: the names by which the server may be called, without ports; others are refused, so that no site can
            lead a browser here under a name of its own.
        grace_s: seconds that what is executed has to end, when the server stops.
    """

    @contextlib.asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        app.state.pulse = events.Pulse(service.pool)
        looking = asyncio.create_task(app.state.pulse.run())
        service.loop.start()
        try:
            yield
        finally:
            looking.cancel()
            await asyncio.to_thread(service.loop.stop, grace_s)
            service.pool.close()

    app = FastAPI(
        title="orchestrator", summary="Runs, sessions and questions of one database.", version="1", lifespan=life,
        docs_url=None, redoc_url=None, openapi_url="/api/openapi.json", max_body_size=MAX_BODY,
    )
    app.state.service, app.state.access = service, access
    for part in (api, api_reading, events, assets, entering, pages, acts):
        app.include_router(part.router)
    handle = failures.install(app, pages.failure)
    app.add_middleware(_Edge, hosts=frozenset(hosts), handle=handle)
    return app


class _Edge:
    """Refuses calls under a foreign name, gives every answer its headers, and answers where nobody else did."""

    def __init__(self, app: ASGIApp, hosts: frozenset[str], handle: failures.Handle) -> None:
        self._app = app
        self._hosts = hosts
        self._handle = handle

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        begun = False

        async def sending(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        if _name(Headers(scope=scope).get("host", "")) not in self._hosts:
            denied = failures.Denied(400, "HOST_UNKNOWN", "The server is not called by this name.")
            await failures.answer(denied)(scope, receive, sending)
            return
        try:
            await self._app(scope, receive, sending)
        except Exception as fault:
            if begun:
                raise
            answer = await self._handle(Request(scope, receive), fault)
            await answer(scope, receive, sending)


def _name(host: str) -> str:
    """The name in a Host header, without its port."""
    name, colon, port = host.rpartition(":")
    return (name if colon and port.isdigit() else host).strip("[]").lower()
