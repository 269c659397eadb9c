"""The pages in a real browser: answering by keyboard, live changes, hostile texts, and no script at all.

Source: seed 000, INV-5 and INV-6
"""

from __future__ import annotations

import pathlib
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the pages need the extra `web`")

from tests.acceptance import replhouse
from tests.acceptance.pagehouse import Watched, WebHouse, browsing, overflow

pytestmark = pytest.mark.slow

ASKS = "Which glossary should I use, A or B?"
ASKS_AGAIN = "Is the old or the new spelling right?"
STEPS = [
    # Not by the question itself, which stands in every prompt that follows on it.
    {"when": "the glossary says", "status": "INCOMPLETE", "output": ASKS},
    {"when": "twice", "status": "INCOMPLETE", "output": ASKS},
    {"when": "twice", "status": "INCOMPLETE", "output": ASKS_AGAIN},
    {"when": "long", "status": "INCOMPLETE", "output": ASKS},
    {"when": "wide", "status": "INCOMPLETE", "output": f"{ASKS} {'z' * 300}", "repeat": True},
    {"when": "", "status": "COMPLETE", "output": "It is told.", "repeat": True},
]
HOSTILE = [
    "<img src=x onerror=fetch('/api/unblock')>",
    "</script><script>alert(1)</script>",
    "\" onmouseover=\"alert(1)",
    "javascript:alert(1)",
    "[x](javascript:alert(1))",
    "{{7*7}}",
    "\u2028</textarea></title></style><svg onload=alert(1)>",
]
TEXT = " ".join(HOSTILE)

Open = Callable[..., Watched]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with browsing() as found:
        yield found


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory, script: pathlib.Path) -> Iterator[WebHouse]:
    """One server for all tests of the module."""
    base = tmp_path_factory.mktemp("house")
    first = tmp_path_factory.mktemp("database")
    found = WebHouse(base, script, replhouse.initialised(first, script))
    found.serve(*STEPS)
    yield found
    found.close()


@pytest.fixture
def visit(browser: Any, house: WebHouse) -> Iterator[Open]:
    """A browser of its own that came in by the link; what its pages do wrong fails the test."""
    made: list[tuple[Any, Watched]] = []

    def build(*, inside: bool = True, **settings: Any) -> Watched:
        context = browser.new_context(**settings)
        context.set_default_timeout(15_000)
        page = Watched(context.new_page(), house.url)
        made.append((context, page))
        if inside:
            come_in(page.page, house)
        return page

    yield build
    for context, page in made:
        context.close()
        assert page.faults == []


def come_in(page: Any, house: WebHouse) -> None:
    """Open the link and press its button."""
    link = house.link
    page.goto(link)
    page.get_by_role("button", name="Continue as user").click()
    page.wait_for_url(f"{house.url}/")


def press_until(page: Any, key: str, selector: str) -> None:
    """Press a key until an element has the focus."""
    for _ in range(60):
        page.keyboard.press(key)
        if page.evaluate("wanted => document.activeElement.matches(wanted)", selector):
            return
    raise AssertionError(f"{key} does not lead to {selector}")


def test_a_task_is_answered_by_keyboard_alone(house: WebHouse, visit: Open) -> None:
    """Source: seed 000, INV-6."""
    id = house.say("Tell what the glossary says", "keyboard")
    page = visit().page
    page.goto(f"{house.url}/tasks/{id}")
    assert page.locator("textarea:visible").count() == 1
    assert page.get_by_text(ASKS, exact=True).first.is_visible()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    press_until(page, "Tab", "textarea")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    page.keyboard.type("B, the newer one")
    press_until(page, "Tab", "main button")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Control+Enter")
    page.get_by_text("complete", exact=True).first.wait_for()
    assert outline == "solid"
    ((note,),) = [[each["text"]] for each in house.api(f"/api/tasks/{id}")["events"] if each["kind"] == "answered"]
    assert note == "B, the newer one"


def test_coming_in_and_a_question_are_done_by_keyboard_alone(house: WebHouse, visit: Open) -> None:
    asked = house.batch(
        ("session create", {"id": "keys", "goal": "By keys"}),
        ("group create", {"id": "A", "session_id": "keys", "name": "A"}),
        ("route", {"session_id": "keys", "current_agent": "project_manager", "status": "PLANNING_COMPLETE"}),
        ("route", {"session_id": "keys", "group_id": "A", "current_agent": "developer", "status": "PARTIAL", "metadata":
                   {"status": "partial", "requires_user_review": True, "review_reason": "Is it by keys?"}}),
    )[-1]["question_id"]  # fmt: skip
    page = visit(inside=False).page
    page.goto(house.link)
    press_until(page, "Tab", "main button")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    page.wait_for_url(f"{house.url}/")
    press_until(page, "Tab", f'main a[href="/questions/{asked}"]')
    page.keyboard.press("Enter")
    page.wait_for_url(f"{house.url}/questions/{asked}")
    press_until(page, "Tab", "textarea")
    page.keyboard.type("Typed, and sent by a button")
    for name in ("continue", "revise", "abandon"):
        press_until(page, "Tab", f"#do-{name}")
    press_until(page, "Shift+Tab", "#do-continue")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Space")
    page.get_by_text("Closed by").wait_for()
    assert page.locator(".done .chip").inner_text() == "continue"
    assert page.get_by_text("Typed, and sent by a button").is_visible()


def test_a_reply_that_is_sent_twice_applies_once_and_the_second_is_told(house: WebHouse, visit: Open) -> None:
    id = house.say("Tell what it says twice", "twice")
    watched = visit()
    page, other = watched.page, watched.page.context.new_page()
    for each in (page, other):
        each.goto(f"{house.url}/tasks/{id}")
        each.get_by_text(ASKS).first.wait_for()
    other.locator("textarea").fill("mine too")
    page.locator("textarea").fill("mine")
    page.get_by_role("button", name="Send the reply").dblclick()
    page.get_by_text(ASKS_AGAIN).first.wait_for()
    other.locator("#changed").wait_for()
    other.get_by_role("button", name="Send the reply").click()
    other.get_by_text("is no longer open; nothing changed").wait_for()
    assert other.locator("textarea").input_value() == "mine too"
    events = [each["text"] for each in house.api(f"/api/tasks/{id}")["events"] if each["kind"] == "answered"]
    assert events == ["mine"]


def test_the_link_is_used_up_by_its_button_alone(house: WebHouse, visit: Open) -> None:
    link = house.link
    first, second = visit(inside=False).page, visit(inside=False).page
    for page in (first, second, first):
        page.goto(link)
        assert page.get_by_role("button", name="Continue as user").is_visible()
    first.get_by_role("button", name="Continue as user").click()
    first.wait_for_url(f"{house.url}/")
    assert first.context.cookies()[0]["httpOnly"] is True
    assert first.evaluate("document.cookie") == ""
    assert second.goto(link).status == 410
    assert second.locator("form:not([method=dialog])").count() == 0
    second.goto(house.url)
    assert second.get_by_text("You can only read.").is_visible()
    first.get_by_role("button", name="Sign out").click()
    first.get_by_text("You can only read.").wait_for()


def hostile(house: WebHouse) -> list[str]:
    """A session with hostile text in every field that takes text; its pages."""
    metadata = {"status": "partial", "requires_user_review": True, "review_reason": TEXT}
    found = house.batch(
        ("session create", {"id": "hostile", "goal": TEXT}),
        ("group create", {"id": "A", "session_id": "hostile", "name": TEXT}),
        ("group create", {"id": "B", "session_id": "hostile", "name": TEXT}),
        ("route", {"session_id": "hostile", "current_agent": "project_manager", "status": "PLANNING_COMPLETE",
                   "summary": TEXT}),
        ("route", {"session_id": "hostile", "group_id": "A", "current_agent": "developer", "status": "PARTIAL",
                   "summary": TEXT, "metadata": metadata}),
        ("route", {"session_id": "hostile", "group_id": "B", "current_agent": "developer", "status": "BLOCKED",
                   "summary": TEXT}),
        ("task create", {"id": "T", "title": TEXT, "session_id": "hostile", "group_id": "B", "by": "developer"}),
    )  # fmt: skip
    tabs = (
        "", "/verdict", "/time", "/graph", "/decisions", "/decisions/D5", "/steps", "/runs", "/groups/A", "/groups/B",
        "/handoffs/4?group=A",
    )  # fmt: skip
    return ["/", f"/questions/{found[4]['question_id']}", "/sessions", *(f"/sessions/hostile{tab}" for tab in tabs)]


PROTOCOLS = "all => all.map(each => each.protocol ?? new URL(each.href.baseVal, location).protocol)"
"""Of links, those in drawings among them."""


def test_hostile_texts_are_texts_everywhere(house: WebHouse, visit: Open) -> None:
    places = hostile(house)
    task = house.say(f"Read this and tell what it is: {TEXT}", "hostile-chat", "COMPLETE")
    places += [f"/tasks/{task}", "/sessions/hostile-chat", "/projects", "/reply/<svg onload=alert(1)>"]
    watched = visit()
    page = watched.page
    for place in places:
        page.goto(f"{house.url}{place}")
        bad = page.locator("main :is(img, script, iframe, style), [onerror], [onload], [onmouseover], [style]")
        assert (place, bad.count()) == (place, 0)
        links = page.locator("a").evaluate_all(PROTOCOLS)
        assert set(links) == {"http:"}
        # Ids are times, and may have any digits.
        assert "49" not in re.sub(r"task-\d+", "", page.locator("h1").inner_text())
        assert watched.faults == []
    page.goto(f"{house.url}{places[1]}")
    assert all(text in page.locator(".ask").inner_text() for text in HOSTILE[:-1])
    page.get_by_label("Your note").fill(TEXT)
    page.get_by_role("button", name="Revise").click()
    page.get_by_text("Closed by").wait_for()
    assert all(text in page.locator(".done").inner_text() for text in HOSTILE[:-1])


def test_a_decision_appears_on_an_open_page_and_leaves_what_is_typed_alone(house: WebHouse, visit: Open) -> None:
    asked = house.batch(
        ("session create", {"id": "live", "goal": "Live"}),
        ("group create", {"id": "A", "session_id": "live", "name": "A"}),
        ("group create", {"id": "B", "session_id": "live", "name": "B"}),
        ("route", {"session_id": "live", "current_agent": "project_manager", "status": "PLANNING_COMPLETE"}),
        ("route", {"session_id": "live", "group_id": "A", "current_agent": "developer", "status": "PARTIAL", "metadata":
                   {"status": "partial", "requires_user_review": True, "review_reason": "Right?"}}),
    )[-1]["question_id"]  # fmt: skip
    watched = visit()
    session, question = watched.page, watched.page.context.new_page()
    session.goto(f"{house.url}/sessions/live/decisions")
    session.locator("#live[data-on=yes]").wait_for()
    session.evaluate("window.mark = 'kept'")
    session.locator("#decisions summary").first.click()
    question.goto(f"{house.url}/questions/{asked}")
    question.locator("#live[data-on=yes]").wait_for()
    question.get_by_label("Your note").type("half a sen")
    waiting = question.locator("nav .count").inner_text()
    house.batch(
        ("route", {"session_id": "live", "group_id": "B", "current_agent": "developer", "status": "READY_FOR_QA"}),
        ("session create", {"id": "live2", "goal": ""}),
        ("route", {"session_id": "live2", "current_agent": "project_manager", "status": "NEEDS_CLARIFICATION",
                   "summary": "Which?"}),
    )  # fmt: skip
    session.locator("#decisions").get_by_text("READY_FOR_QA").wait_for()
    assert session.evaluate("window.mark") == "kept"
    assert session.locator("#decisions details[open]").count() == 1
    question.wait_for_function("before => document.querySelector('nav .count').innerText !== before", arg=waiting)
    question.keyboard.type("tence")
    assert question.get_by_label("Your note").input_value() == "half a sentence"


def test_the_picture_shows_the_position_and_follows_what_the_command_line_decides(
    house: WebHouse, visit: Open
) -> None:
    house.batch(
        ("session create", {"id": "drawn", "goal": "Drawn"}),
        ("group create", {"id": "A", "session_id": "drawn", "name": "A"}),
        ("group create", {"id": "B", "session_id": "drawn", "name": "B"}),
        ("route", {"session_id": "drawn", "current_agent": "project_manager", "status": "PLANNING_COMPLETE"}),
    )
    group = visit(viewport={"width": 360, "height": 740}).page
    session = group.context.new_page()
    for page, place in ((group, "/sessions/drawn/groups/A"), (session, "/sessions/drawn/graph")):
        page.goto(f"{house.url}{place}")
        page.locator("#live[data-on=yes]").wait_for()
        page.evaluate("window.mark = 'kept'")
    assert (standing(group), standing(session)) == ({"developer": "A"}, {"developer": "A, B"})
    house.batch(
        ("route", {"session_id": "drawn", "group_id": "A", "current_agent": "developer", "status": "READY_FOR_QA"})
    )
    for page in (group, session):
        page.locator("#graph .here title", has_text="qa expert: A").wait_for(state="attached")
    assert (standing(group), standing(session)) == ({"qa expert": "A"}, {"developer": "B", "qa expert": "A"})
    assert [page.evaluate("window.mark") for page in (group, session)] == ["kept"] * 2
    assert [page.evaluate(IN_SIGHT) for page in (group, session)] == [True] * 2
    assert [overflow(page) for page in (group, session)] == [0, 0]


IN_SIGHT = """() => {
  const seen = document.getElementById('picture').getBoundingClientRect();
  return [...document.querySelectorAll('#graph .here')].some((each) => {
    const box = each.getBoundingClientRect();
    return box.left >= seen.left && box.right <= seen.right;
  });
}"""
"""Whether the picture is scrolled to where something stands."""


def standing(page: Any) -> dict[str, str]:
    """What stands where in the picture of a page."""
    titles = page.locator("#graph .here > title").evaluate_all("all => all.map(each => each.textContent)")
    parts = [title.partition(": ") for title in titles]
    return {role.lower(): groups for role, _, groups in parts}


def test_a_page_outlives_a_restart_of_its_server(house: WebHouse, visit: Open) -> None:
    id = house.say("Tell how long it takes", "restart")
    page = visit().page
    page.goto(f"{house.url}/tasks/{id}")
    page.locator("#live[data-on=yes]").wait_for()
    page.locator("textarea").type("my long reply")
    port = house.kill()
    page.locator("#live[data-on=no]").wait_for()
    house.serve(port=port)
    page.locator("#live[data-on=yes]").wait_for()
    page.locator("#enter").get_by_text("You have been signed out.").wait_for()
    page.get_by_role("button", name="Send the reply").click()
    page.wait_for_url(re.compile("/reply$"))
    assert page.get_by_role("heading", name="You have been signed out").is_visible()
    assert page.get_by_text("Open that link in this browser").is_visible()
    assert page.locator("textarea").input_value() == "my long reply"
    assert house.api(f"/api/tasks/{id}")["status"] == "AWAITING_RESPONSE"
    come_in(page, house)
    page.goto(f"{house.url}/tasks/{id}")
    page.locator("textarea").fill("my long reply")
    page.get_by_role("button", name="Send the reply").click()
    page.wait_for_url(f"{house.url}/tasks/{id}")


def test_two_servers_of_one_machine_do_not_end_each_others_visits(
    house: WebHouse, tmp_path: pathlib.Path, script: pathlib.Path, browser: Any
) -> None:
    """In one browser, which tells hosts apart and not their ports."""
    (tmp_path / "first").mkdir()
    other = WebHouse(tmp_path, script, replhouse.initialised(tmp_path / "first", script))
    context = browser.new_context()
    try:
        other.serve(*STEPS)
        pages = {each: context.new_page() for each in (house, other)}
        for each, page in pages.items():
            come_in(page, each)
        for each, page in pages.items():
            page.goto(f"{each.url}/projects")
            assert page.get_by_role("button", name="Sign out").is_visible()
        pages[other].get_by_role("button", name="Sign out").click()
        pages[other].get_by_text("You can only read.").wait_for()
        pages[house].reload()
        assert pages[house].get_by_role("button", name="Sign out").is_visible()
    finally:
        context.close()
        other.close()


def test_a_first_talk_is_one_group_of_two_tasks_also_after_the_server_was_killed(house: WebHouse, visit: Open) -> None:
    """Source: seed 000, INV-3, INV-4 and INV-5."""
    page = visit().page
    page.get_by_role("link", name="Projects").click()
    register(page, house)
    card = page.locator("section.card").filter(has=page.get_by_role("heading", name="newcomer"))
    card.get_by_label("What should be done?").fill("Tell what the first thing is")
    card.get_by_role("button", name="Start").click()
    page.get_by_text("complete", exact=True).first.wait_for()
    page.locator(".crumbs a").last.click()
    session = page.url.rpartition("/")[2]
    page.get_by_label("Send another message").fill("Tell what the second thing is")
    page.get_by_role("button", name="Send").click()
    page.get_by_text("complete", exact=True).first.wait_for()

    def shown() -> tuple[int, str, list[str]]:
        page.goto(f"{house.url}/projects")
        group = page.locator(f'#chats a[href="/sessions/{session}"]')
        found = (group.count(), group.locator(".row-side .soft").inner_text().partition(",")[0])
        group.click()
        return (*found, page.locator("#tasks .row-main").all_inner_texts())

    told = (1, "2 tasks", ["Tell what the first thing is", "Tell what the second thing is"])
    assert shown() == told
    house.serve(port=house.kill())
    assert shown() == told
    (kept,) = [each for each in house.api("/api/task-groups")["task_groups"] if each["task_group_id"] == session]
    assert (kept["task_count"], kept["status_counts"]) == (2, {"COMPLETE": 2})


def register(page: Any, house: WebHouse) -> None:
    """Register a folder of its own as the project `newcomer`, on the page of projects."""
    if page.locator("#add[open]").count() == 0:
        page.get_by_text("Register a project").click()
    page.get_by_label("Full path of its folder").fill(str(replhouse.set_up(house.base / "newcomer")))
    page.get_by_label("Alias (optional)").fill("newcomer")
    page.get_by_role("button", name="Register").click()
    page.get_by_role("heading", name="newcomer").wait_for()


@pytest.mark.parametrize("scripted", [True, False])
def test_an_act_leads_back_says_what_it_did_and_escape_closes_its_menu(
    house: WebHouse, visit: Open, scripted: bool
) -> None:
    session = f"acts-{scripted}"
    asked = house.batch(
        ("session create", {"id": session, "goal": "Act"}),
        ("group create", {"id": "A", "session_id": session, "name": "A"}),
        ("route", {"session_id": session, "current_agent": "project_manager", "status": "PLANNING_COMPLETE"}),
        ("route", {"session_id": session, "group_id": "A", "current_agent": "developer", "status": "BLOCKED",
                   "summary": "no key"}),
    )  # fmt: skip
    assert len(asked) == 4
    page = visit(java_script_enabled=scripted).page
    group = f"{house.url}/sessions/{session}/groups/A"
    page.goto(group)
    if scripted:
        press_until(page, "Tab", "#acts > summary")
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        page.keyboard.press("Escape")
        held = "[document.querySelector('#acts').open, document.activeElement.matches('#acts > summary')]"
        assert page.evaluate(held) == [False, True]
        page.goto(f"{house.url}/sessions/{session}/time")
        for key, focused in (("j", "project manager, turn"), ("j", "A"), ("ArrowRight", "developer, turn"),
                             ("ArrowRight", "investigator, turn"), ("ArrowLeft", "developer, turn")):  # fmt: skip
            page.keyboard.press(key)
            name = page.evaluate("document.activeElement.ariaLabel || document.activeElement.textContent")
            assert name.startswith(focused), (key, name)
        page.goto(group)
    page.get_by_role("link", name="Lift it").click()
    assert page.get_by_text("no key", exact=True).is_visible()
    page.get_by_label("Why").fill("the key is there")
    page.get_by_role("button", name="Lift a blocker").click()
    page.wait_for_url(group)
    told = page.locator("#did").inner_text()
    assert re.fullmatch(r"Blocker \S+ was lifted; the developer was started on A\.", told)
    if scripted:
        page.locator("#said", has_text="was lifted").wait_for(state="attached")
    page.reload()
    assert page.locator("#did").count() == 0


def test_a_reply_needs_no_script(house: WebHouse, visit: Open) -> None:
    house.batch(
        ("session create", {"id": "plain", "goal": ""}),
        ("route", {"session_id": "plain", "current_agent": "project_manager", "status": "NEEDS_CLARIFICATION",
                   "summary": "Which?"}),
    )  # fmt: skip
    page = visit(java_script_enabled=False).page
    page.goto(f"{house.url}/questions/plain:Q2")
    page.get_by_label("Your note").fill("The second")
    page.get_by_role("button", name="Continue").click()
    page.get_by_text("Closed by").wait_for()
    assert page.get_by_text("The second").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_is_wider_than_a_phone_and_all_text_can_be_read(scheme: str, house: WebHouse, visit: Open) -> None:
    house.say(f"Tell how wide it is {'y' * 300}", f"chat-{scheme}")
    tasks = [each["task_group_id"] for each in house.api("/api/task-groups")["task_groups"]]
    # Ids as long as ids may be, also where a decision or a step is named by them.
    long, group = f"wide-{scheme}-{'i' * 128}"[:128], "W" * 128
    house.batch(
        ("session create", {"id": long, "goal": "x" * 300}),
        ("group create", {"id": group, "session_id": long, "name": "w" * 200}),
        ("route", {"session_id": long, "current_agent": "project_manager", "status": "PLANNING_COMPLETE"}),
        ("route", {"session_id": long, "group_id": group, "current_agent": "developer", "status": "BLOCKED",
                   "summary": "b" * 300}),
    )  # fmt: skip
    sessions = [each["id"] for each in house.api("/api/sessions")["sessions"]]
    asked = [f"/questions/{each['id']}" for each in house.api("/api/inbox")["questions"]]
    runs = [f"/tasks/{each['task_id']}" for each in house.api(f"/api/task-groups/{tasks[0]}/tasks")["tasks"]]
    places = ["/", "/sessions", "/projects", *asked[:2], *runs, *(f"/sessions/{each}" for each in sessions[:4])]
    page = visit(color_scheme=scheme, viewport={"width": 360, "height": 740}).page
    wide = f"/sessions/{long}"
    places += [f"/sessions/chat-{scheme}", wide, f"{wide}/verdict", f"{wide}/groups/{group}", "/sessions/none"]
    for place in places:
        page.goto(f"{house.url}{place}")
        assert (place, overflow(page) <= 0, page.evaluate(FAINT)) == (place, True, [])


FAINT = """() => {
  const channel = (value) => (value /= 255) <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const behind = (each) => {
    for (; each; each = each.parentElement) {
      const found = parts(getComputedStyle(each).backgroundColor);
      if (found.length < 4 || found[3] > 0) return found;
    }
    return parts(getComputedStyle(document.documentElement).backgroundColor);
  };
  const faint = [];
  for (const each of document.querySelectorAll('body *:not(svg, svg *, option)')) {
    const own = [...each.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own || !each.checkVisibility()) continue;
    const [a, b] = [light(parts(getComputedStyle(each).color)), light(behind(each))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) faint.push(each.className + ': ' + each.textContent.slice(0, 30));
  }
  return faint;
}"""


def test_the_server_complained_of_nothing(house: WebHouse) -> None:
    assert house.complaints() == ""
    assert house.api("/api/health") == {"status": "ok"}
