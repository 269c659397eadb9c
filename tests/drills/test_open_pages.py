"""Many open pages on one server while a session moves fast: none misses a step, and the server answers others."""

from __future__ import annotations

import asyncio
import pathlib
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the pages need the extra `web`")

from orchestrator import bootstrap
from orchestrator.app.kernel import operations
from tests.acceptance import replhouse
from tests.acceptance.webhouse import Server
from tests.conftest import LONG
from tests.drills.open_pages import OpenPage, watched

PAGES, STEPS_A_SECOND, SECONDS = (50, 50, 20.0) if LONG else (8, 20, 1.5)
MOST_BEHIND_S = 1.0
"""Held where the machine is the drill's own, which the long form needs anyway."""

pytestmark = pytest.mark.slow


class Writer:
    """A session that moves, in a thread of its own.

    Attributes:
        committed: when each event was committed, by its number.
    """

    def __init__(self, database: pathlib.Path) -> None:
        self._database = str(database)
        self._context = self._open()
        operations.call(self._context, "session create", id="S", goal="Ship it")
        for number in range(10):
            operations.call(self._context, "group create", id=f"G{number}", session_id="S", name="Part")
        self.committed: dict[int, float] = {}
        self._enough = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _open(self) -> Any:
        return bootstrap.open_context(self._database, write=True, door="test", environment={})

    def __enter__(self) -> Writer:
        self._context.connection.close()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._enough.set()
        self._thread.join()

    def _run(self) -> None:
        context, begun = self._open(), time.monotonic()
        while not self._enough.is_set():
            operations.call(context, "task create", id=f"T{len(self.committed)}", title="t", session_id="S",
                            by="project_manager")  # fmt: skip
            ((number,),) = context.connection.execute("SELECT max(rowid) FROM audit_events")
            self.committed[number] = time.monotonic()
            self._enough.wait(max(0.0, begun + len(self.committed) / STEPS_A_SECOND - time.monotonic()))
        context.connection.close()


@pytest.fixture
def server(tmp_path: pathlib.Path, script: pathlib.Path) -> Iterator[Server]:
    found = Server(script, tmp_path, replhouse.initialised(tmp_path, script))
    yield found
    found.stop()


def test_open_pages_follow_a_fast_session_and_others_are_answered(server: Server) -> None:
    writer = Writer(server.database)
    pages = [OpenPage(server.port, "/sessions/S", writer.committed.get) for _ in range(PAGES)]
    with writer:
        took = asyncio.run(watched(pages, lambda page: page.get("/api/sessions/S/status"), SECONDS))
    assert took
    for page in pages:
        # Each step once and in order, and pages that were drawn anew.
        assert page.heard == list(range(page.heard[0], page.heard[0] + len(page.heard)))
        assert page.behind
    print(f"{PAGES} pages, behind {max(max(page.behind) for page in pages):.2f} s, others {max(took):.2f} s at most")
    if LONG:
        assert max(max(page.behind) for page in pages) <= MOST_BEHIND_S
        assert max(took) <= MOST_BEHIND_S
