"""The pages of sessions of every size, as axe and a browser see them: accessible, never wider than the window, and
their first screen says who is awaited, what is stuck and what to do.

One width and one theme always; all of them with the long drills.
"""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the pages need the extra `web`")

from orchestrator import bootstrap
from orchestrator.app.kernel import operations
from tests.acceptance import replhouse
from tests.acceptance.pagehouse import Watched, WebHouse, browsing, overflow
from tests.conftest import LONG, long_form

AXE_VERSION = "4.14.1"
_CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
AXE = _CACHE / "orchestrator-test-clients" / f"axe-core-{AXE_VERSION}" / "axe.min.js"
"""The program that looks for violations; `./task client` puts it there."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not AXE.is_file(), reason=f"axe {AXE_VERSION} is not at {AXE}"),
]
WINDOWS = [(width, scheme) for width in (390, 768, 1280) for scheme in ("light", "dark")] if LONG else [(390, "dark")]
SIZES = (10, 100, 1000) if LONG else (10, 1000)
VIOLATIONS = """() => axe.run().then((found) => found.violations.map(
  (each) => `${each.id}: ${each.nodes.map((node) => node.html.slice(0, 120)).slice(0, 3).join(' ')}`))"""
REVIEW = {"status": "partial", "requires_user_review": True, "review_reason": "Which of both totals is right?"}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with browsing() as found:
        yield found


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory, script: pathlib.Path) -> Iterator[WebHouse]:
    """A server of sessions with few and many groups: one asks a person, one is blocked, one was sent back."""
    base, first = tmp_path_factory.mktemp("house"), tmp_path_factory.mktemp("database")
    found = WebHouse(base, script, replhouse.initialised(first, script))
    context = bootstrap.open_context(found.environment()["ORCHESTRATOR_DB"], write=True, door="cli", environment={})
    for size in SIZES:
        fill(context, f"S{size}", size)
    context.connection.close()
    found.serve({"when": "", "status": "COMPLETE", "output": "Done.", "repeat": True})
    yield found
    found.close()


def fill(context: Any, session: str, size: int) -> None:
    """A session of so many groups, with something of everything that a page shows."""

    def report(role: str, status: str, group: str | None = None, **more: Any) -> None:
        operations.call(
            context, "route", session_id=session, group_id=group, current_agent=role, status=status, **more
        )

    operations.call(context, "session create", id=session, goal=f"Ship the portal in {size} parts")
    for number in range(size):
        needs = (f"G{number - 1}",) if number % 10 == 9 else ()
        operations.call(
            context, "group create", id=f"G{number}", session_id=session, name=f"Part {number}", depends_on=needs
        )
    report("project_manager", "PLANNING_COMPLETE", summary="One after the other.")
    report("developer", "READY_FOR_QA", "G0", summary="12 tests pass.")
    report("qa_expert", "FAIL", "G0", summary="The total is rounded twice.")
    report("developer", "BLOCKED", "G1", summary="The test environment is away.")
    report("developer", "PARTIAL", "G2", summary="Half of it.", metadata=REVIEW)
    operations.call(context, "task create", id="T1", title="Sum up", session_id=session, group_id="G3", by="developer")


def places(session: str) -> list[str]:
    """The pages of a session. A verdict on very many groups is a dry run of the validator, and no page's work."""
    tabs = ["", "?state=blocked", "/time", "/graph", "/graph?size=200", "/decisions", "/steps", "/runs", "/tasks"]
    more = ["/evidence", "/groups/G1", "/groups/G2"]
    return [f"/sessions/{session}{tab}" for tab in (*tabs, *more)]


def others(session: str) -> list[str]:
    """The pages on which it makes no difference how many groups a session has."""
    below = ("do/group", "do/end", "do/cancel?group=G3", "verdict", "decisions/D1", "handoffs/1")
    asked, compared = f"/questions/{session}:Q{SIZES[0] + 6}", f"/what-if?session={session}&version=1"
    return [*(f"/sessions/{session}/{each}" for each in below), "/", "/sessions", "/projects", asked, compared]


@pytest.mark.parametrize(("width", "scheme"), WINDOWS)
@pytest.mark.parametrize("size", [SIZES[0], *(pytest.param(each, marks=long_form) for each in SIZES[1:])])
def test_no_page_has_a_violation_or_is_wider_than_its_window(
    house: WebHouse, browser: Any, size: int, width: int, scheme: str
) -> None:
    # What looks is no part of the page, so the page's policy is not asked about it; other tests hold the policy.
    context = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme, bypass_csp=True)
    context.set_default_timeout(30_000)
    watched = Watched(context.new_page(), house.url)
    page = watched.page
    page.goto(house.link)
    page.get_by_role("button", name="Continue as user").click()
    page.wait_for_url(f"{house.url}/")
    found = {}
    for place in places(f"S{size}") + (others(f"S{size}") if size == SIZES[0] else []):
        status = page.goto(f"{house.url}{place}").status
        page.evaluate("() => document.querySelectorAll('main details').forEach((each) => { each.open = true })")
        page.evaluate(AXE.read_text())
        found[place] = (status, page.evaluate(VIOLATIONS), max(overflow(page), 0))
    context.close()
    assert {place: each for place, each in found.items() if each != (200, [], 0)} == {}
    assert watched.faults == []


@pytest.mark.parametrize("size", SIZES)
def test_the_first_screen_says_who_is_awaited_what_is_stuck_and_what_to_do(
    house: WebHouse, browser: Any, size: int
) -> None:
    """Without a script, on a phone."""
    context = browser.new_context(viewport={"width": 390, "height": 844}, java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{house.url}/sessions/S{size}")
    head = page.locator(".headline")
    box = head.bounding_box()
    told = head.inner_text()
    page.get_by_role("link", name="1 blocked").click()
    rows = page.locator("tr[data-row]").count()
    context.close()
    assert box["y"] + box["height"] <= 844
    asked = ("a person: 1 open question", "1 blocked", "Which of both totals is right?", f"0 of {size}")
    assert [text in told for text in asked] == [True] * len(asked)
    assert rows == 1
