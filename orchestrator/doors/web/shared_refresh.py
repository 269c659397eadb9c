"""One drawing of a page for all who have it open: what they ask for while it is drawn waits for the next one.

A session that moves fast makes each of its open pages ask again several times a second. A page that asks is told what
was so after it asked, so that nothing is missed; which of its regions it has already is looked at afterwards.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

KNOWN = "x-regions"
"""The header in which an open page says which regions it shows: `id=mark`, with commas."""
PROGRAMS = "/api/"
"""Where the addresses begin that programs read."""
SPACING_S = 0.1
"""Seconds between the beginnings of two drawings of one page."""
_KNOWN = re.compile(r"([\w:.@-]{1,200})=([0-9a-f]{1,64})")
_REGION = re.compile(rb'(<(\w+) id="([\w:.@-]+)"[^>]* data-live="([0-9a-f]+)")>.*?</\2>(<!--\3-->)', re.DOTALL)
_TOLD_APART = ("host", "cookie", "authorization", "accept")
"""Headers on which a page depends."""
Answered = tuple[Message, bytes]
"""The beginning of an answer, and its body."""


class SharedRefresh:
    """Answers open pages that ask again; all else goes through."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._next: dict[object, asyncio.Future[Answered]] = {}
        self._begun: dict[object, float] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        headers = Headers(scope=scope) if scope["type"] == "http" else Headers()
        # What programs read is no page, and their stream of events has no end that could be waited for.
        if KNOWN not in headers or scope["method"] != "GET" or scope["path"].startswith(PROGRAMS):
            await self._app(scope, receive, send)
            return
        client = (scope.get("client") or ("",))[0]
        key = (scope["path"], scope["query_string"], client, *(headers.get(name) for name in _TOLD_APART))
        if key not in self._next:
            self._next[key] = asyncio.ensure_future(self._draw(key, scope))
        # Whoever goes away takes the drawing from nobody.
        begin, body = await asyncio.shield(self._next[key])
        body = without(body, dict(_KNOWN.findall(headers[KNOWN])))
        begin = {**begin, "headers": list(begin["headers"])}
        MutableHeaders(scope=begin)["content-length"] = str(len(body))
        await send(begin)
        await send({"type": "http.response.body", "body": body})

    async def _draw(self, key: object, scope: Scope) -> Answered:
        """Draw a page once the one before is old enough; whoever asks from its beginning on waits for the next one."""
        now = asyncio.get_running_loop().time
        await asyncio.sleep(max(0.0, self._begun.get(key, 0.0) + SPACING_S - now()))
        del self._next[key]
        self._begun = {each: at for each, at in self._begun.items() if now() - at < SPACING_S} | {key: now()}
        return await _answered(self._app, scope)


async def _answered(app: ASGIApp, scope: Scope) -> Answered:
    """What an application answers."""
    sent: list[Message] = []
    asked: list[Message] = [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive() -> Message:
        # Nobody leaves the drawing: it has several readers. To say so at once would keep the server busy for ever.
        return asked.pop() if asked else await asyncio.get_running_loop().create_future()

    async def send(message: Message) -> None:
        sent.append(message)

    try:
        await app(dict(scope), receive, send)
    except Exception:
        # The framework raises again what it has answered whole, and has written to the log.
        if not sent or sent[-1]["type"] != "http.response.body" or sent[-1].get("more_body"):
            raise
    return sent[0], b"".join(each.get("body", b"") for each in sent[1:])


def without(page: bytes, known: Mapping[str, str]) -> bytes:
    """A page with those regions empty that a reader shows already, by their marks."""

    def shown(found: re.Match[bytes]) -> bytes:
        begin, tag, id, mark, end = found.groups()
        same = known.get(id.decode()) == mark.decode()
        return b"%b data-same></%b>%b" % (begin, tag, end) if same else found[0]

    return _REGION.sub(shown, page)
