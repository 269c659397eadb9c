"""What a person does with a session and its groups on pages: each act's effect is said before, and its rules hold."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from urllib.parse import urlencode

import pytest

pytest.importorskip("fastapi", reason="the pages need the extra `web`")

from orchestrator.doors.web import person_acts
from tests.integration.web import story
from tests.integration.web.asgi import Page, Web


@pytest.fixture
def inside(web: Web) -> Web:
    """Somebody came in, and there is a session with a blocked group and one that waits for a slot."""
    web.come_in()
    story.blocked(web)
    web.call("group create", id="B", session_id="blocked", name="Second")
    web.call("criterion add", id="fast", session_id="blocked", text="It is fast", by="project_manager", reason="asked")
    return web


def act(web: Web, called: str, /, **fields: str) -> Page:
    """Open an act's page and send its form."""
    return web.send(f"/sessions/blocked/do/{called}", f"/sessions/blocked/do/{called}", **fields)


def blocker(web: Web) -> str:
    ((id,),) = web.rows("SELECT id FROM blockers")
    return str(id)


def nothing(web: Web) -> None:
    """No preparation."""


def paused(web: Web) -> None:
    web.call("session pause", id="blocked", by="project_manager", reason="wait")


def cancelled(web: Web) -> None:
    web.call("group set-status", id="B", session_id="blocked", status="cancelled", by="project_manager", reason="no")


def completed(web: Web) -> None:
    for role, status in (
        ("developer", "READY_FOR_QA"), ("qa_expert", "PASS"), ("tech_lead", "APPROVED"), ("developer", "MERGE_SUCCESS"),
    ):  # fmt: skip
        web.call("route", session_id="blocked", group_id="B", current_agent=role, status=status)


def depending(web: Web) -> None:
    web.call("group create", id="C", session_id="blocked", name="Third", depends_on=("B",))
    cancelled(web)


_B = {"group": "B", "reason": "because"}
PLAYED: dict[str, tuple[Callable[[Web], None], dict[str, str], str, object]] = {
    "pause": (nothing, {"reason": "because"}, "SELECT status FROM sessions", "paused"),
    "resume": (paused, {"reason": "because"}, "SELECT status FROM sessions", "active"),
    "group": (
        nothing, {"id": "N", "name": "New", "complexity": "8", "depends_on": "B, E2E", "security_sensitive": "yes"},
        "SELECT complexity || priority || security_sensitive || (SELECT count(*) FROM group_dependencies)"
        " FROM task_groups WHERE id = 'N'", "8212",
    ),
    "criterion": (
        nothing, {"id": "new", "text": "It is new", "reason": "asked"}, "SELECT text FROM criteria WHERE id = 'new'",
        "It is new",
    ),
    "testing": (nothing, {"mode": "minimal", "reason": "because"}, "SELECT testing_mode FROM sessions", "minimal"),
    "validate": (nothing, {}, "SELECT response_status FROM agent_reports WHERE role = 'validator'", "REJECT"),
    "end": (nothing, {"reason": "because"}, "SELECT outcome FROM sessions", "abandoned"),
    "redispatch": (
        nothing, {"group": "E2E", "reason": "because"},
        "SELECT count(*) FROM router_decisions WHERE cause = 'redispatch'", 1,
    ),
    "cancel": (nothing, _B, "SELECT status FROM task_groups WHERE id = 'B'", "cancelled"),
    "reopen": (completed, _B, "SELECT status FROM task_groups WHERE id = 'B'", "in_progress"),
    "depend": (nothing, {**_B, "on": "E2E"}, "SELECT depends_on FROM group_dependencies", "E2E"),
    "undepend": (
        depending, {"group": "C", "on": "B", "reason": "because"}, "SELECT removed_reason FROM group_dependencies",
        "because",
    ),
    "unblock": (nothing, {"id": "BLOCKER", "reason": "because"}, "SELECT resolved_by FROM blockers", "user"),
    "set-criterion": (
        nothing, {"id": "fast", "status": "deferred", "reason": "because"}, "SELECT status FROM criteria", "deferred",
    ),
}  # fmt: skip
"""Acts with what is done before, their forms, and what the record says afterwards."""


@pytest.mark.parametrize("name", PLAYED)
def test_an_act_says_its_effect_and_does_it(inside: Web, name: str) -> None:
    prepare, fields, sql, found = PLAYED[name]
    prepare(inside)
    fields = {each: text.replace("BLOCKER", blocker(inside)) for each, text in fields.items()}
    shown = inside.get(f"/sessions/blocked/do/{name}").text
    assert re.search(re.escape(person_acts.ACTS[name].effect).replace("'", "(&#39;|')"), shown) is not None
    done = act(inside, name, **fields)
    assert (done.status, inside.rows(sql)) == (303, [(found,)])
    ((actor, channel),) = inside.rows("SELECT actor, channel FROM audit_events ORDER BY rowid DESC LIMIT 1")
    assert (actor, channel) == ("user", "page")
    # The page that comes says it once.
    place = done.headers["location"]
    assert told(inside, place, **{"x-regions": ""}) == ""
    assert (told(inside, place), told(inside, place)) == (SAID[name], "")


SAID = {
    "pause": "The session is paused.",
    "resume": "The session goes on.",
    "group": "Group N was added.",
    "criterion": "Criterion new was added.",
    "testing": "The testing mode is minimal now.",
    "validate": "The verdict is recorded: REJECT; the project manager was started.",
    "end": "The session has ended.",
    "redispatch": "Turn 8 began; the tech lead was started on E2E.",
    "cancel": "Group B was cancelled.",
    "reopen": "Group B was reopened; the developer was started on B.",
    "depend": "Group B depends on E2E now.",
    "undepend": "Group C no longer depends on B; the developer was started on C.",
    "unblock": "Blocker blocked:B5 was lifted; the qa expert was started on E2E.",
    "set-criterion": "Criterion fast is deferred now.",
}


def told(web: Web, place: str, **headers: str) -> str:
    """What a page says of the act that led to it."""
    found = re.search(r'<p class="did" id="did" role="status">([^<]*)</p>', web.get(place, **headers).text)
    return found[1] if found else ""


def test_what_was_done_is_told_to_nobody_else_and_on_no_other_page(inside: Web, make: Callable[..., Web]) -> None:
    assert act(inside, "pause", reason="because").status == 303
    assert told(inside, "/sessions/blocked?did=No") == "The session is paused."
    act(inside, "resume", reason="because")
    mine = dict(inside.cookies)
    inside.cookies.clear()
    assert told(inside, "/sessions/blocked") == ""
    inside.cookies.update(mine)
    assert told(inside, "/sessions/blocked/time") == ""
    # What fails takes back what was to be told.
    assert act(inside, "resume", reason="again").status == 409
    assert told(inside, "/sessions/blocked") == ""


@pytest.mark.parametrize(
    ("name", "fields", "referer", "place"),
    [
        ("redispatch", {"group": "E2E"}, "http://here.test/sessions/blocked?state=overdue&role=",
         "/sessions/blocked?state=overdue&role="),
        ("unblock", {"id": "BLOCKER"}, "http://here.test/sessions/blocked/groups/E2E", "/sessions/blocked/groups/E2E"),
        ("unblock", {"id": "BLOCKER"}, "", "/sessions/blocked/groups/E2E"),
        ("set-criterion", {"id": "fast", "status": "deferred"}, "", "/sessions/blocked/tasks"),
        ("depend", {"group": "B", "on": "E2E"}, "", "/sessions/blocked/groups/B"),
        # Never to another place.
        ("pause", {}, "http://evil.test/x", "/sessions/blocked"),
        ("pause", {}, "http://evil.test//evil.test/sessions/blocked", "/sessions/blocked"),
        ("pause", {}, "/sessions/blockedx", "/sessions/blocked"),
        ("pause", {}, "/sessions/blocked/do/end", "/sessions/blocked"),
    ],
)  # fmt: skip
def test_an_act_leads_back_to_where_its_form_was_opened_from(
    inside: Web, name: str, fields: dict[str, str], referer: str, place: str
) -> None:
    fields = {each: text.replace("BLOCKER", blocker(inside)) for each, text in fields.items()}
    query = urlencode({each: text for each, text in fields.items() if each in ("id", "group")})
    page = inside.get(f"/sessions/blocked/do/{name}?{query}", referer=referer)
    (back,) = re.findall(r'name="back" value="([^"]*)"', page.text)
    form = {**fields, "back": html.unescape(back), "csrf": page.csrf, "reason": "because"}
    assert html.unescape(re.findall(r'href="([^"]*)">Back', page.text)[0]) == place
    done = inside.post(f"/sessions/blocked/do/{name}", None, **form)
    assert (done.status, done.headers["location"]) == (303, place)


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("unblock?id=BLOCKER", ("no test environment", "Raised by qa_expert@blocked:E2E", "groups/E2E", "<time")),
        ("set-criterion?id=fast", ("It is fast",)),
        ("cancel?group=B", ("<b dir=\"auto\">Second</b>", "Waiting for developer")),
    ],
)
def test_an_act_shows_what_it_is_about(inside: Web, query: str, shown: tuple[str, ...]) -> None:
    page = inside.get(f"/sessions/blocked/do/{query.replace('BLOCKER', blocker(inside))}").text
    assert [each for each in shown if each not in page] == []
    assert "f-id" not in page


def test_an_act_that_cannot_be_done_now_has_no_form(inside: Web) -> None:
    def form(name: str) -> list[str]:
        return inside.get(f"/sessions/blocked/do/{name}").forms

    assert (form("resume"), len(form("pause"))) == ([], 1)
    paused(inside)
    assert (form("pause"), len(form("resume"))) == ([], 1)
    id = blocker(inside)
    act(inside, "unblock", id=id, reason="because")
    assert form(f"unblock?id={id}") == []
    act(inside, "end", reason="enough")
    assert [name for name in person_acts.ACTS if form(name)] == []


def test_every_act_is_played_or_named_here(inside: Web) -> None:
    assert set(person_acts.ACTS) - set(PLAYED) == {"upgrade", "defer", "approve-criterion"}
    for name in ("upgrade", "defer", "approve-criterion"):
        assert inside.get(f"/sessions/blocked/do/{name}").status == 200


def test_deferring_without_an_external_blocker_is_refused_in_words(inside: Web) -> None:
    page = act(inside, "defer", group="E2E", reason="because")
    assert (page.status, 'role="alert"' in page.text, "because</textarea>" in page.text) == (409, True, True)


@pytest.mark.parametrize(
    ("name", "fields", "told"),
    [
        ("pause", {}, "Something is missing: Why."),
        ("pause", {"reason": " \u2003 "}, "Something is missing: Why."),
        ("group", {"id": "N", "name": "New", "complexity": "many"}, "complexity is a whole number."),
        ("group", {"id": "N", "name": "New", "complexity": "99"}, "complexity"),
        ("group", {"id": "<b>", "name": "New"}, "&lt;b&gt;"),
        ("group", {"id": "B", "name": "Again"}, "B"),
        ("testing", {"mode": "never", "reason": "x"}, "never"),
        ("redispatch", {"group": "none", "reason": "x"}, "none"),
        ("redispatch", {"reason": "x"}, 'role="alert"'),
        ("unblock", {"id": "blocked:B99", "reason": "x"}, "blocked:B99"),
    ],
)
def test_what_is_wrong_is_told_where_it_was_typed_and_changes_nothing(
    inside: Web, name: str, fields: dict[str, str], told: str
) -> None:
    asked = "SELECT (SELECT count(*) FROM task_groups), status, testing_mode FROM sessions"
    before = inside.rows(asked)
    page = act(inside, name, **fields)
    assert (page.status // 100, told in page.text, "<b>" in page.text.replace("<b>user</b>", "")) == (4, True, False)
    assert inside.rows(asked) == before


def test_an_act_needs_a_person_a_token_and_our_own_page(web: Web) -> None:
    story.blocked(web)
    place = "/sessions/blocked/do/pause"
    assert web.get(place).forms == []
    assert web.post(place, None, reason="x").status == 401
    web.come_in()
    assert web.post(place, None, reason="x", csrf="wrong").status == 403
    csrf = web.get(place).csrf
    assert web.post(place, {"origin": "http://evil.test"}, reason="x", csrf=csrf).status == 403
    assert web.rows("SELECT status FROM sessions") == [("active",)]


def test_a_form_sent_twice_does_its_act_once(inside: Web) -> None:
    page = inside.get("/sessions/blocked/do/group")
    once = re.findall(r'name="once" value="([^"]+)"', page.text)[0]
    form = {"csrf": page.csrf, "once": once, "id": "N", "name": "New"}
    sent = [inside.post("/sessions/blocked/do/group", None, **form).status for _ in "ab"]
    assert (sent, inside.rows("SELECT count(*) FROM task_groups WHERE id = 'N'")) == ([303, 303], [(1,)])


def test_an_old_page_starts_no_agent_again_that_it_did_not_show(inside: Web) -> None:
    place = "/sessions/blocked/do/redispatch"

    def form(page: str) -> dict[str, str]:
        return {"group": "E2E", "reason": "it died", **dict(re.findall(r'name="(csrf|turn)" value="([^"]+)"', page))}

    old = form(inside.get(f"{place}?group=E2E").text)
    lead = {"session_id": "blocked", "group_id": "E2E", "current_agent": "tech_lead"}
    inside.call("route", status="UNBLOCKING_GUIDANCE", summary="use the other one", **lead)
    found = inside.post(place, None, **old)
    assert (found.status, "it waits for qa expert now" in found.text) == (409, True)
    assert inside.rows("SELECT count(*) FROM router_decisions WHERE cause = 'redispatch'") == [(0,)]
    # The page that says so shows whom the group waits for, so that it can be meant.
    assert inside.post(place, None, **form(found.text)).status == 303
    assert inside.rows("SELECT awaited_role FROM task_groups WHERE id = 'E2E'") == [("qa_expert",)]


def test_an_agent_that_was_started_too_often_is_asked_about_and_the_page_says_so(inside: Web) -> None:
    for _ in range(6):
        inside.call("redispatch", group_id="E2E", session_id="blocked", reason="it died")
    done = act(inside, "redispatch", group="E2E", reason="once more")
    assert done.status == 303
    ((question,),) = inside.rows("SELECT id FROM questions WHERE closed_at IS NULL")
    assert f"question {question} waits for a person" in inside.get(done.headers["location"]).text


def test_pages_offer_the_acts_that_fit(inside: Web) -> None:
    def offered(place: str) -> list[str]:
        return re.findall(r'<li><a href="/sessions/blocked/do/([\w-]+)', inside.get(place).text)

    assert offered("/sessions/blocked")[:2] == ["pause", "group"]
    assert set(offered("/sessions/blocked/groups/E2E")) == set(person_acts.OF_GROUP)
    paused(inside)
    assert "resume" in offered("/sessions/blocked")
    act(inside, "end", reason="enough")
    assert [each for each in offered("/sessions/blocked") if each in person_acts.ACTS] == []


def test_a_paused_session_that_waits_for_a_person_says_both(web: Web) -> None:
    story.review(web)
    web.call("session pause", id="rev", by="project_manager", reason="wait")
    page = web.get("/sessions/rev").text
    said = ("person awaited</span>", "paused</span>", "Paused: nobody is started.", "Resume the session", "1 open q")
    assert [each for each in said if each not in page] == []
    assert " · paused" in web.get("/sessions").text


def test_a_question_is_answered_in_the_inbox_and_equal_ones_are_one_card(web: Web) -> None:
    web.come_in()
    first = story.review(web)
    web.call("group create", id="B", session_id="rev", name="Second group")
    metadata = {"status": "partial", "requires_user_review": True, "review_reason": "Is the schema right?"}
    web.call("route", session_id="rev", group_id="B", current_agent="developer", status="PARTIAL", metadata=metadata)
    page = web.get("/")
    assert (page.text.count('<li class="card asks"'), "1 more with the same words" in page.text) == (1, True)
    done = web.send("/", f"/questions/{first}", decision="continue", note="", **{"from": "inbox"})
    assert (done.status, done.headers["location"]) == (303, "/")
    assert web.rows(f"SELECT closed_by FROM questions WHERE id = '{first}'") == [("user",)]


def test_tasks_criteria_and_evidence_have_their_tabs(inside: Web) -> None:
    inside.call("task create", id="T1", title="Write <it>", session_id="blocked", group_id="B", by="project_manager")
    page = inside.get("/sessions/blocked/tasks").text
    assert [text in page for text in ("Write &lt;it&gt;", "It is fast", "set-criterion?id=fast")] == [True] * 3
    inside.call(
        "criterion add", id="run", session_id="blocked", text="It runs", by="project_manager", reason="asked",
        command=("sh", "-c", "echo sk-ant-api03-" + "x" * 90),
    )  # fmt: skip
    inside.call_at_terminal("validate", session_id="blocked", record=True, by="user")
    shown = inside.get("/sessions/blocked/evidence").text
    (link,) = re.findall(r'href="(/sessions/blocked/evidence/\d+\.\d+)"', shown)
    content = inside.get(link)
    assert (content.status, "xxxx" in content.text) == (200, False)
    assert content.headers["content-disposition"].startswith("attachment")
    assert inside.get("/sessions/blocked/evidence/1.1").status == 404


def test_an_act_that_is_not_there_is_not_found(inside: Web) -> None:
    found = inside.get("/sessions/blocked/do/none")
    assert (found.status, "There is no such act." in found.text) == (404, True)
