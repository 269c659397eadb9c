"""Pages that stay open in front of a server, as the script keeps them: a stream of events, and what it asks for."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable
from typing import Any

SHOWS = re.compile(r"/api/events\?after=(\d+)")
"""The newest event that a page shows, in the address of its stream."""
_REGION = re.compile(r'<\w+ id="([\w:.@-]+)"[^>]* data-live="([0-9a-f]+)"')
GAP_S = 0.4
"""Seconds between two looks, as in `pages.js`."""
LATEST_S = 60.0
"""Seconds after which a page that was not drawn anew is given up."""


class OpenPage:
    """One page: it follows the events, and asks again at most every `GAP_S`.

    Attributes:
        heard: the numbers of the events that it was told of.
        behind: of each event that it has shown, how many seconds after it was committed.
    """

    def __init__(self, port: int, path: str, committed: Callable[[int], float | None]) -> None:
        self._port, self._path, self._committed = port, path, committed
        self.heard: list[int] = []
        self.behind: list[float] = []
        self.shown = 0
        self._known = ""

    async def get(self, path: str, **headers: str) -> str:
        """The body of an answer."""
        reader, writer = await self._ask(path, Connection="close", **headers)
        try:
            found = (await reader.read()).decode()
        finally:
            writer.close()
        return found.partition("\r\n\r\n")[2]

    async def _ask(self, path: str, **headers: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port, limit=2**22)
        lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
        writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\n{lines}\r\n".encode())
        return reader, writer

    async def open(self) -> None:
        """Load the page, then follow and look until cancelled."""
        await self.look()
        self._changed = asyncio.Event()
        await asyncio.gather(self._follow(), self._refresh())

    async def look(self) -> None:
        """Ask for the page with the regions that are shown already."""
        text = await self.get(self._path, X_Regions=self._known)
        regions = dict(each.split("=") for each in self._known.split(",") if each) | dict(_REGION.findall(text))
        self._known = ",".join(f"{id}={mark}" for id, mark in regions.items())
        newest = int(SHOWS.findall(text)[0])
        now = time.monotonic()
        for number in range(self.shown + 1, newest + 1):
            at = self._committed(number)
            if at is not None and self.shown:
                self.behind.append(now - at)
        self.shown = newest

    async def _follow(self) -> None:
        reader, writer = await self._ask(f"/api/events?after={self.shown}")
        try:
            while line := await reader.readline():
                if line.startswith(b"id: "):
                    self.heard.append(int(line[4:]))
                    self._changed.set()
        finally:
            writer.close()

    async def _refresh(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            await asyncio.gather(asyncio.sleep(GAP_S), self.look())


async def watched(pages: list[OpenPage], others: Callable[[OpenPage], Any], seconds: float) -> list[float]:
    """Keep pages open for so long, and until each was drawn anew; how long each thing took that others asked for."""
    tasks = [asyncio.create_task(page.open()) for page in pages]
    took: list[float] = []
    begun = time.monotonic()
    while (past := time.monotonic() - begun) < seconds or (past < LATEST_S and not all(each.behind for each in pages)):
        begin = time.monotonic()
        await others(pages[0])
        took.append(time.monotonic() - begin)
        await asyncio.sleep(0.05)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return took
