"""Server-sent events: each committed step as it happens, told again from where a reader broke off.

One task looks whether anything was committed; readers read by themselves what is behind their own number, in short
reads, so that a slow one holds up nobody and keeps no snapshot of the database.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Query, Request
from fastapi.sse import format_sse_event
from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from orchestrator.app.audit import event_feed
from orchestrator.app.kernel.connection_pool import Pool
from orchestrator.doors.web.authentication import Reading, Serving
from orchestrator.doors.web.bodies import failures
from orchestrator.doors.web.failures import log

router = APIRouter(prefix="/api")

LOOK_S = 0.05
"""Seconds between two looks for commits of other processes."""
LISTEN_S = 0.5
"""The same of a database that tells of commits, for what is not heard."""
_NUMBER = re.compile(r"[0-9]+")
_TOO_LONG = 16
"""Digits of a number that no event has."""


KEEPALIVE_S = 15.0
"""Seconds of silence after which a stream says that it is there, so that nothing on the way closes it."""
_KEEPALIVE = b": ping\n\n"
_TEXT = {"type": "string"}
_DESCRIBED = {
    "description": "A stream of events, each with its number as id.",
    "content": {"text/event-stream": {"itemSchema": {
        "type": "object", "properties": {"data": _TEXT, "event": _TEXT, "id": _TEXT}, "required": ["data"],
    }}},
}  # fmt: skip
_HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
Told = tuple[bytes, int]
"""Events as they are sent, and the number to go on from."""


class Pulse:
    """Tells readers that something was committed, and that the server stops."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._read: dict[tuple[int, str | None], asyncio.Future[Told]] = {}
        self.next = asyncio.Event()
        """Is set with the next beat; one who looks takes it first, so that nothing between is missed."""
        self.stopping = False

    async def run(self) -> None:
        """Look until cancelled."""
        known: int | None = None
        listener = await run_in_threadpool(_listener, self._pool)
        try:
            while True:
                try:
                    now: int | None = await run_in_threadpool(_last, self._pool)
                except Exception:
                    # A database that is gone is told by whoever reads it.
                    now = None
                if now != known:
                    known = now
                    self.beat()
                await asyncio.sleep(LOOK_S)
                if listener is not None:
                    await run_in_threadpool(listener.wait, LISTEN_S)
        finally:
            if listener is not None:
                listener.close()

    async def after(self, number: int, session: str | None) -> Told:
        """What was committed behind a number, as it is sent, and the number to go on from.

        Readers that have come equally far share one read between two beats: many open pages cost little more than one.
        """
        key = (number, session)
        if key not in self._read:
            self._read[key] = asyncio.ensure_future(run_in_threadpool(_after, self._pool, number, session))
        # A reader that goes away takes nothing from the others.
        return await asyncio.shield(self._read[key])

    def beat(self) -> None:
        """Wake all readers."""
        self._read = {}
        self.next.set()
        self.next = asyncio.Event()

    def stop(self) -> None:
        """End all streams."""
        self.stopping = True
        self.beat()


def _shown(event: dict[str, Any]) -> bytes:
    kind = "refusal" if event["kind"] == "refusal" else "decision" if event["decisions"] else "change"
    number = event.pop("number")
    return format_sse_event(data_str=json.dumps(event, ensure_ascii=False), event=kind, id=str(number))


def _number(text: str | None, newest: int) -> int | None:
    """The number that a reader has come to: none where it is no number, the newest where nothing has reached it."""
    if text is None or not _NUMBER.fullmatch(text):
        return None
    return min(int(text), newest) if len(text) < _TOO_LONG else newest


async def _start(
    serving: Serving, after: Annotated[int | None, Query(ge=0, le=2**53)] = None,
    last_event_id: Annotated[str | None, Header()] = None,
    session_id: Annotated[str | None, Query(max_length=128)] = None,
) -> int:
    """The number behind which a stream begins; that of the newest event at most.

    Raises:
        EnvironmentProblem: the database cannot be read; Refused: UNKNOWN_SESSION. A reader is told so before its
            stream begins.
    """
    newest = await run_in_threadpool(_last, serving.pool, session_id)
    last = _number(last_event_id, newest)
    if last is not None:
        return last
    return newest if after is None else min(after, newest)


def _listener(pool: Pool) -> Any | None:
    try:
        return pool.listener()
    except Exception:
        # A database that is gone is told by whoever reads it.
        return None


def _last(pool: Pool, session: str | None = None) -> int:
    with pool.lent() as context:
        if session is not None:
            context.require_session(session)
        return event_feed.last(context)


def _after(pool: Pool, number: int, session: str | None) -> Told:
    with pool.lent() as context:
        events, further = event_feed.after(context, number, session=session)
    return b"".join(map(_shown, events)), further


@router.get("/events", response_class=StreamingResponse,
            responses={200: _DESCRIBED, **failures(400, 401, 404, 503)})  # fmt: skip
async def follow(
    request: Request, serving: Serving, caller: Reading, start: Annotated[int, Depends(_start)],
    session_id: Annotated[str | None, Query(max_length=128)] = None,
) -> StreamingResponse:
    """Decisions, changes and refusals of all sessions or of one, from now on or behind an event's number."""
    told = _stream(request.app.state.pulse, start, session_id)
    return StreamingResponse(told, headers=_HEADERS, media_type="text/event-stream")


async def _stream(pulse: Pulse, number: int, session: str | None) -> AsyncIterator[bytes]:
    """What was committed behind a number, all that is there at once: each piece costs as much as a page of events."""
    # The first bytes tell the reader that it is connected.
    yield format_sse_event(comment="begins", retry=1000)
    while not pulse.stopping:
        # Taken before the read, so that what is committed meanwhile still wakes this reader.
        beat = pulse.next
        try:
            events, further = await pulse.after(number, session)
        except Exception as fault:
            # The database is away for a while; the reader goes on where it was when it is back.
            log(fault)
            await beat.wait()
            continue
        if events:
            yield events
        if further == number and not await _beats(beat):
            yield _KEEPALIVE
        number = further


async def _beats(beat: asyncio.Event) -> bool:
    """Whether something was committed within the time that a stream may be silent."""
    try:
        async with asyncio.timeout(KEEPALIVE_S):
            return await beat.wait()
    except TimeoutError:
        return False
