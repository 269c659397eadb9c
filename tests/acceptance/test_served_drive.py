"""`serve --drive` as a person meets it: a session begun on the page runs by itself, also after a kill of its server."""

from __future__ import annotations

import datetime
import pathlib
import re
import signal
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the pages need the extra `web`")

from tests.acceptance import replhouse
from tests.acceptance.pagehouse import DEADLINE_S, Watched, WebHouse, browsing
from tests.acceptance.test_pages import come_in
from tests.integration.app.test_drive import BUILT, PLANNED, REST

pytestmark = pytest.mark.slow

USED = {"usage": {"input_tokens": 1200, "output_tokens": 30, "cost_microusd": 250_000}}


@pytest.fixture
def house(tmp_path: pathlib.Path, script: pathlib.Path, stand_in: pathlib.Path) -> Iterator[WebHouse]:
    (tmp_path / "house").mkdir()
    (tmp_path / "database").mkdir()
    found = WebHouse(tmp_path / "house", script, replhouse.initialised(tmp_path / "database", script))
    yield found
    found.close()


def until(holds: Callable[[], object]) -> None:
    limit = time.monotonic() + DEADLINE_S
    while not holds():
        assert time.monotonic() < limit
        time.sleep(0.05)


def at_work(house: WebHouse) -> list[dict[str, Any]]:
    return [each for each in house.api("/api/sessions/S1/status")["spawns"] if "start" in each]


def test_a_session_that_is_begun_on_the_page_runs_to_its_verdict(house: WebHouse) -> None:
    house.serve({**PLANNED, **USED}, {**BUILT, **USED, "delay_ms": 2500}, *REST, flags=("--drive",))
    with browsing() as browser:
        page = browser.new_page()
        watched = Watched(page, house.url)
        come_in(page, house)
        page.goto(f"{house.url}/sessions")
        page.get_by_label("What should the team achieve?").fill("Ship the login page")
        page.get_by_role("button", name="Begin").click()
        page.wait_for_url(f"{house.url}/sessions/S1")
        page.get_by_text("This server drives the session.").wait_for()
        page.get_by_role("link", name="Runs", exact=True).click()
        page.locator("#work tbody tr", has_text="developer").wait_for()
        assert "group so far" not in page.locator("#work").inner_text()
        page.get_by_text("Accepted: every check passed").wait_for()
        assert "$0.50" in page.locator("#work").inner_text()
        assert watched.faults == []
    assert "Traceback" not in house.complaints()


def test_the_page_says_until_when_a_usage_limit_is_waited_for(house: WebHouse) -> None:
    reset = datetime.datetime.now(datetime.UTC) + datetime.timedelta(hours=5)
    hit = f"USAGE_LIMIT: You've hit your session limit · resets {reset:%I:%M%p} (UTC)"
    house.serve(PLANNED, {"role": "developer", "status": "ERROR", "error": hit}, flags=("--drive",))
    house.api("/api/sessions", {"id": "S1", "goal": "Ship the login page"})
    with browsing() as browser:
        page = browser.new_page()
        watched = Watched(page, house.url)
        come_in(page, house)
        page.goto(f"{house.url}/sessions/S1/runs")
        page.locator("#work tbody tr", has_text="limited").wait_for()
        waits = page.locator("#work tbody tr", has_text="waits for a usage limit until").inner_text()
        assert re.search(r"until \d+ \w+ \d{4}, \d\d:\d\d \(in 5 hr\.?\)", waits.replace("\xa0", " ")), waits
        assert "You've hit your session limit" in page.locator("#head").inner_text()
        assert watched.faults == []


def test_a_server_that_is_killed_is_followed_by_one_that_goes_on(house: WebHouse) -> None:
    house.serve(PLANNED, {**BUILT, "delay_ms": 60_000}, flags=("--drive",))
    house.api("/api/sessions", {"id": "S1", "goal": "Ship the login page"})
    until(lambda: [each for each in at_work(house) if each["agent"] == "developer"])
    port = house.kill()
    house.serve(BUILT, *REST, port=port, flags=("--drive",))
    until(lambda: house.api("/api/sessions/S1/status")["session"]["outcome"] == "accepted")
    house.server.send_signal(signal.SIGINT)
    assert house.server.wait(DEADLINE_S) == 0
