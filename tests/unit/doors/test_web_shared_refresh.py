"""Open pages that ask at once share a drawing, which began after each of them asked; each gets what it lacks."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the pages need the extra `web`")

from orchestrator.doors.web import shared_refresh
from orchestrator.doors.web.shared_refresh import SharedRefresh, without

PAGE = (b'<nav id="pages" class="x" data-live="aa"><a>1</a></nav><!--pages--><p>kept</p>'
        b'<div id="head" data-live="bb"><div>in</div></div><!--head-->')  # fmt: skip


@pytest.mark.parametrize(
    ("known", "lacks"),
    [
        ({}, []),
        ({"pages": "ab", "none": "bb"}, []),
        ({"pages": "aa"}, [b"<a>1</a>"]),
        ({"pages": "aa", "head": "bb"}, [b"<a>1</a>", b"<div>in</div>"]),
    ],
)
def test_a_region_that_is_shown_already_comes_back_empty(known: dict[str, str], lacks: list[bytes]) -> None:
    found = without(PAGE, known)
    assert [part for part in (b"<a>1</a>", b"<p>kept</p>", b"<div>in</div>") if part not in found] == lacks
    assert (found.count(b" data-same></"), found.count(b"<!--")) == (len(lacks), 2)


class Drawn:
    """An application that counts its drawings and lets them take as long as a test wants."""

    def __init__(self) -> None:
        self.begun: list[tuple[str, str | None]] = []
        self.may_end = asyncio.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        headers = dict(scope["headers"])
        number = len(self.begun)
        self.begun.append((scope["path"], headers.get(b"cookie", b"").decode()))
        await self.may_end.wait()
        if scope["path"] == "/broken":
            raise RuntimeError("broken")
        begin = {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"1")]}
        await send(begin)
        await send({"type": "http.response.body", "body": PAGE + str(number).encode()})


async def ask(app: SharedRefresh, path: str = "/", cookie: str = "", known: str | None = "pages=aa") -> bytes:
    headers = [(b"cookie", cookie.encode())] + ([] if known is None else [(b"x-regions", known.encode())])
    scope = {"type": "http", "method": "GET", "path": path, "query_string": b"", "headers": headers}
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    await app(scope, None, send)  # type: ignore[arg-type]
    length = dict(sent[0]["headers"])[b"content-length"]
    body: bytes = b"".join(each["body"] for each in sent[1:])
    assert known is None or int(length) == len(body)
    return body


@pytest.fixture(autouse=True)
def _no_spacing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_refresh, "SPACING_S", 0.0)


def test_who_asks_while_a_page_is_drawn_gets_the_next_drawing_together() -> None:
    async def play() -> tuple[list[bytes], int]:
        inner = Drawn()
        app = SharedRefresh(inner)
        first = asyncio.create_task(ask(app))
        await asyncio.sleep(0.01)
        later = [asyncio.create_task(ask(app, known="head=bb")) for _ in range(5)]
        inner.may_end.set()
        return [await first, *(await asyncio.gather(*later))], len(inner.begun)

    bodies, drawings = asyncio.run(play())
    assert [each[-1:] for each in bodies] == [b"0"] + [b"1"] * 5
    assert (drawings, b"<a>1</a>" in bodies[0], b"<a>1</a>" in bodies[1]) == (2, False, True)


def test_nobody_is_shown_a_page_that_was_drawn_for_somebody_else() -> None:
    async def play() -> list[tuple[str, str | None]]:
        inner = Drawn()
        inner.may_end.set()
        app = SharedRefresh(inner)
        asked = [ask(app), ask(app, cookie="a"), ask(app, cookie="b"), ask(app, "/other"), ask(app, known=None)]
        await asyncio.gather(*asked)
        return sorted(inner.begun, key=str)

    assert asyncio.run(play()) == [("/", ""), ("/", ""), ("/", "a"), ("/", "b"), ("/other", "")]


def test_who_goes_away_takes_the_drawing_from_nobody_and_a_fault_reaches_all() -> None:
    async def play() -> tuple[bytes, list[Any], bytes]:
        inner = Drawn()
        app = SharedRefresh(inner)
        gone, stays = asyncio.create_task(ask(app)), asyncio.create_task(ask(app))
        await asyncio.sleep(0.01)
        gone.cancel()
        inner.may_end.set()
        broken = await asyncio.gather(ask(app, "/broken"), ask(app, "/broken"), return_exceptions=True)
        return await stays, broken, await ask(app)

    body, broken, again = asyncio.run(play())
    assert (body[-1:], [str(each) for each in broken], again[-1:]) == (b"0", ["broken", "broken"], b"2")


@pytest.mark.parametrize(("path", "is_shared"), [("/", True), ("/api/events", False), ("/api/health", False)])
def test_what_programs_read_is_not_drawn_for_several(path: str, is_shared: bool) -> None:
    """The stream of events has no end: to wait for it would keep its reader, and the server, for ever."""
    found: list[Any] = []

    async def inner(scope: Any, receive: Any, send: Any) -> None:
        found.append((receive, send))
        length = (b"content-length", str(len(PAGE)).encode())
        await send({"type": "http.response.start", "status": 200, "headers": [length]})
        await send({"type": "http.response.body", "body": PAGE})

    asyncio.run(ask(SharedRefresh(inner), path, known="other=aa"))
    ((receive, _),) = found
    assert (receive is not None) == is_shared


def test_a_drawing_that_listens_for_its_reader_hears_once_and_then_waits() -> None:
    async def inner(scope: Any, receive: Any, send: Any) -> None:
        assert (await receive())["type"] == "http.request"
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(receive(), 0.01)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"1")]})
        await send({"type": "http.response.body", "body": PAGE})

    asyncio.run(ask(SharedRefresh(inner)))
