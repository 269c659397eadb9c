"""From the commit of a step to a real browser: its event there, and the open page that shows it."""

from __future__ import annotations

import shutil
import statistics
import time
from collections.abc import Callable, Iterator
from importlib import util
from typing import Any

from orchestrator.app.kernel import operations
from tools.benchmarks import harness
from tools.benchmarks.table import Figure

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
EVENTS = 40
LOOK_S = 0.05
DEADLINE_S = 30.0
WATCH = """() => {
  const now = () => performance.timeOrigin + performance.now();
  window.told = [];
  window.drawn = [];
  const stream = new EventSource('/api/events?session_id=B');
  for (const kind of ['decision', 'change', 'refusal']) stream.addEventListener(kind, () => window.told.push(now()));
  new MutationObserver(() => window.drawn.push(now())).observe(document.getElementById('steps'), { childList: true });
  return new Promise((done) => { stream.onopen = () => done(true); });
}"""


def latency(url: str, context: Any) -> Iterator[Figure]:
    """Both, where a browser is installed; nothing elsewhere."""
    program = next((found for name in PROGRAMS if (found := shutil.which(name))), None)
    if program is None or util.find_spec("playwright") is None:
        return
    from playwright import sync_api

    operations.call(context, "session create", id="B", goal="measured")
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        page = chromium.new_page()
        page.goto(f"{url}/sessions/B/steps")
        page.locator("#live[data-on=yes]").wait_for()
        page.evaluate(WATCH)
        told, drawn = _taken(page, lambda number: _commit(context, number))
        chromium.close()
    for words, taken in (("its event in a browser", told), ("an open page that shows it", drawn)):
        middle, worst = statistics.median(taken), max(taken)
        note = f"{middle * 1000:.0f} ms, worst {worst * 1000:.0f} ms"
        yield Figure(f"from a commit to {words}, median", "50 ms", middle / LOOK_S, note=note)


def _commit(context: Any, number: int) -> float:
    """Write a step; the time of its commit."""
    # At no fixed place between two looks of the server.
    time.sleep(0.013 * (number % 5))
    operations.call(context, "group create", id=f"B{number}", session_id="B", name="x")
    return time.time()


def _taken(page: Any, commit: Callable[[int], float]) -> tuple[list[float], list[float]]:
    """The seconds from each commit to its event, and to the page that shows it."""
    told, drawn = [], []
    for number in range(EVENTS):
        known = page.evaluate("window.drawn.length")
        committed = commit(number)
        until = time.monotonic() + DEADLINE_S
        while not page.evaluate(f"window.drawn.length > {known} && window.told.length > {number}"):
            if time.monotonic() > until:
                raise harness.CommandFailed("a browser was not told of a commit")
            time.sleep(0.005)
        told.append(page.evaluate(f"window.told[{number}]") / 1000 - committed)
        drawn.append(page.evaluate(f"window.drawn[{known}]") / 1000 - committed)
    return told, drawn
