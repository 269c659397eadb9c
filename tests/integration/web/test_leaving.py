"""Readers that go away in the middle of what they read: nobody's fault, and nothing in the server's log."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the interface needs the extra `web`")

from orchestrator.doors.web import events
from tests.integration.web import asgi
from tests.integration.web.asgi import Web

LEAVING = {"a broken pipe": BrokenPipeError, "a client that is gone": OSError}


def follow(web: Web, gone: type[Exception] | None) -> None:
    """Follow events, and go away at the second answer: told when it is written, or (None) by the transport."""
    scope = {
        "type": "http", "asgi": {"version": "3.0", "spec_version": "2.3"}, "http_version": "1.1", "method": "GET",
        "scheme": "http", "path": "/api/events", "raw_path": b"/api/events", "query_string": b"after=0",
        "root_path": "", "headers": [(b"host", asgi.HOST.encode())], "client": ("127.0.0.1", 1),
        "server": (asgi.HOST, 80),
    }  # fmt: skip

    async def run() -> None:
        left = asyncio.Event()
        sent: list[str] = []

        async def receive() -> Any:
            await left.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            sent.append(message["type"])
            if len(sent) > 1:
                left.set()
                if gone is not None:
                    raise gone

        pulse = web.app.state.pulse = events.Pulse(web.service.pool)
        asyncio.get_running_loop().call_later(1.0, pulse.stop)
        await asyncio.wait_for(web.app(scope, receive, send), 20)
        assert sent[:2] == ["http.response.start", "http.response.body"]

    asyncio.run(run())


@pytest.mark.parametrize("gone", [*LEAVING.values(), None], ids=[*LEAVING, "told by the transport"])
def test_a_reader_of_events_who_leaves_is_no_fault(
    web: Web, gone: type[Exception] | None, capfd: pytest.CaptureFixture[str]
) -> None:
    follow(web, gone)
    assert capfd.readouterr().err == ""
