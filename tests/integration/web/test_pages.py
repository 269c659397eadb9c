"""Pages that read: what they show, to whom they show forms, and that looking changes nothing."""

from __future__ import annotations

import pathlib
import re

import pytest

pytest.importorskip("fastapi", reason="the pages need the extra `web`")

from orchestrator.doors.web import rendering
from tests.integration.web import story
from tests.integration.web.asgi import HOST, TOKEN, Web
from tests.integration.web.conftest import Make


@pytest.fixture
def busy(make: Make) -> Web:
    """A database in which every page has something to show."""
    web = make(steps=story.STEPS)
    web.serve_runs()
    story.review(web)
    story.clarification(web)
    story.blocked(web)
    story.run(web, story.ASK)
    story.run(web, story.READ, "other", "COMPLETE")
    return web


TABS = ("time", "time?zoom=4&at=3", "graph", "graph?whole=true&size=150", "decisions", "steps", "runs", "verdict")


def places(web: Web) -> list[str]:
    """The address of every page that there is."""
    runs = [f"/tasks/{id}" for (id,) in web.rows("SELECT id FROM runs")]
    asked = [f"/questions/{id}" for (id,) in web.rows("SELECT id FROM questions")]
    sessions = [f"/sessions/{id}" for (id,) in web.rows("SELECT id FROM sessions")]
    verdicts = [f"/sessions/{id}/verdict" for id in ("rev", "clar", "blocked")]
    tabs = [f"/sessions/{id}/{tab}" for id in ("rev", "blocked") for tab in TABS]
    more = ["/sessions/blocked/decisions/D3", "/sessions/blocked/handoffs/3?group=E2E", *tabs]
    groups = [*more, "/sessions/rev/groups/A", "/sessions/blocked/groups/E2E", "/sessions/chat/groups/chat"]
    return ["/", "/sessions", "/sessions?all=true", "/projects", *runs, *asked, *sessions, *verdicts, *groups]


def test_looking_at_every_page_changes_nothing(busy: Web) -> None:
    busy.come_in()
    before = busy.head()
    assert {place: busy.get(place).status for place in places(busy)} == dict.fromkeys(places(busy), 200)
    assert busy.head() == before


def test_nobody_sees_forms_before_they_come_in(busy: Web) -> None:
    shown = {place: busy.get(place) for place in places(busy)}
    assert {place: page.forms for place, page in shown.items() if page.forms} == {}
    assert [place for place, page in shown.items() if "You can only read" not in page.text] == []
    assert "one-time link" in shown["/"].text
    asked = [page.text for place, page in shown.items() if place.startswith("/questions")]
    assert ["how to sign in" in text for text in asked] == [True] * len(asked)


@pytest.mark.parametrize("links", [True, False])
def test_whoever_only_reads_is_told_how_to_come_in(make: Make, links: bool) -> None:
    assert f"orchestrator human link --url http://{HOST}" in make(links=links).get("/").text


def test_a_server_beyond_loopback_shows_nothing_before_somebody_comes_in(make: Make) -> None:
    web = make(reading=False)
    story.clarification(web)
    closed = web.get("/questions/clar:Q2")
    assert (closed.status, "Which provider" in closed.text) == (401, False)
    assert web.get("/questions/clar:Q2", authorization=f"Bearer {TOKEN}").status == 200
    web.come_in()
    assert "Which provider" in web.get("/questions/clar:Q2").text


def test_an_empty_inbox_is_kind(web: Web) -> None:
    assert "Nothing is waiting for you." in web.get("/").text


def test_the_inbox_says_what_each_answer_will_do(web: Web) -> None:
    story.review(web)
    page = web.get("/").text
    assert "Is the schema right?" in page
    assert "<dt>continue</dt><dd>developer goes on (respawn)</dd>" in page
    assert "<dt>abandon</dt><dd>the project manager is called, who may cancel group A</dd>" in page
    assert '<span class="count">1<' in page


def test_a_question_comes_with_who_asked_and_what_they_reported(web: Web) -> None:
    page = web.get(f"/questions/{story.review(web)}").text
    assert "asked by developer@rev:A" in page
    assert "Half of it is written." in page
    assert '<a href="/sessions/rev/groups/A">A</a>' in page


def test_a_session_shows_whom_its_groups_await_and_why_it_stands(web: Web) -> None:
    story.blocked(web)
    page = web.get("/sessions/blocked").text
    assert "<b>tech lead</b>" in page
    assert "no test environment" in page
    assert re.search(r"blocked:B\d+", web.get("/sessions/blocked/groups/E2E").text)
    decided = web.get("/sessions/blocked/decisions").text
    assert "<b>qa expert</b> <code>BLOCKED</code>" in decided
    assert ('<b>session</b> <span class="arrow"' in decided, "system:router" in decided) == (True, False)


def test_a_session_that_has_just_begun_lacks_nothing_and_a_cause_is_said_in_words(web: Web) -> None:
    web.call("session create", id="new", goal="Begin")
    assert "nothing" not in web.get("/sessions/new").text
    story.blocked(web)
    web.call("route", session_id="blocked", group_id="E2E", current_agent="tech_lead", status="APPROVED")
    web.call("route", session_id="blocked", group_id="E2E", current_agent="developer", status="MERGE_SUCCESS")
    page = web.get("/sessions/blocked").text
    assert "waiting for the project manager's confirmation" in page


def test_an_overdue_turn_is_marked(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    web.call("session create", id="late", goal="Wait", turn_timeout=1)
    web.call("group create", id="A", session_id="late", name="A")
    web.call(
        "route", session_id="late", current_agent="project_manager", status="PLANNING_COMPLETE",
        at="2020-01-01T00:00:00.000000Z",
    )  # fmt: skip
    assert '<span class="chip bad">overdue</span>' in web.get("/sessions/late").text


def test_the_picture_brings_no_style_of_its_own_and_shows_the_position(web: Web) -> None:
    story.blocked(web)
    page = web.get("/sessions/blocked/graph").text
    assert ("<svg" in page, "<style" in page, " style=" in page) == (True, False, False)
    assert 'class="node here"' in page
    assert ".wf .here .box" in web.get(re.findall(r'href="(/static/pages\.css[^"]*)"', page)[0]).text


def marks(page: str) -> list[str]:
    """What stands in the picture of a page, box by box."""
    return re.findall(r'<text class="mark"[^>]*>● ([^<]+)<', page)


def test_the_picture_of_a_group_shows_its_position_alone(web: Web) -> None:
    story.blocked(web)
    web.call("group create", id="OTHER", session_id="blocked", name="Other")
    assert len(marks(web.get("/sessions/blocked/graph").text)) >= 1
    assert marks(web.get("/sessions/blocked/groups/E2E").text) == ["E2E"]
    assert marks(web.get("/sessions/blocked/groups/OTHER").text) in ([], ["OTHER"])


def test_a_chat_shows_whom_it_awaits_and_what_stands_in_its_way(make: Make) -> None:
    web = make(steps=story.STEPS)
    web.serve_runs()
    web.call("session create", id="begun", goal="Talk", kind="chat")
    assert "No tasks yet." in web.get("/sessions/begun").text
    story.run(web, story.READ, "chat", "COMPLETE")
    quiet = web.get("/sessions/chat").text
    assert ("Nothing is running, and nobody is expected to act." in quiet, "No decisions yet." in quiet) == (True, True)
    assert ("<svg" in quiet, '<span class="chip plain">idle</span>' in quiet) == (False, True)
    story.run(web, story.ASK, "chat")
    page = web.get("/sessions/chat").text
    assert ("The chat is waiting for <b>a person</b>" in page, "Nothing is running" in page) == (True, False)
    blockers = page[page.index('id="blockers"') : page.index('id="decisions"')]
    assert ("Open blockers" in blockers, story.ASKS in blockers) == (True, True)


def test_a_chat_says_what_runs_and_what_waits_for_a_place(web: Web) -> None:
    web.service.add_project(str(web.project), "portal")
    for _ in range(2):
        web.service.chat("portal", story.READ, "queue")
    assert "2 tasks are waiting for a free worker." in web.get("/sessions/queue").text


def test_a_cancelled_task_is_tried_again_as_a_new_message_alone(make: Make) -> None:
    web = make(steps=story.STEPS)
    web.serve_runs()
    web.come_in()
    id = story.run(web, story.ASK)
    assert web.get(f"/tasks/{id}").forms == [f"/tasks/{id}/reply", f"/tasks/{id}/cancel"]
    assert web.post(f"/tasks/{id}/cancel", None, csrf=web.get(f"/tasks/{id}").csrf).status == 303
    assert web.get(f"/tasks/{id}").forms == [f"/tasks/{id}/again"]


def test_the_link_that_shows_a_page_anew_shows_the_same_of_it(web: Web) -> None:
    story.blocked(web)
    for place in ("/sessions?all=true", "/sessions/blocked/steps?until=3", "/sessions"):
        assert f'<a href="{place}">Reload it</a>' in web.get(place).text
    hostile = web.get('/sessions?all=true&x="><svg onload=alert(1)>').text
    assert "<svg onload" not in hostile


def test_a_timeline_is_turned_page_by_page(web: Web) -> None:
    web.call("session create", id="long", goal="Many groups")
    for number in range(30):
        web.call("group create", id=f"G{number}", session_id="long", name="x")
    page = web.get("/sessions/long/steps").text
    (older,) = re.findall(r'<a href="(/sessions/long/steps\?until=\d+)">Older steps', page)
    assert "group create G29" in page
    assert "group create G0<" in web.get(older).text


def test_ended_sessions_are_in_the_list_of_all(make: Make) -> None:
    web = make(steps=story.STEPS)
    web.serve_runs()
    web.come_in()
    story.run(web, story.READ, "gone", "COMPLETE")
    web.call("session end", id="gone", reason="done with it", by="project_manager")
    assert "gone" not in web.get("/sessions").text
    assert "gone" in web.get("/sessions?all=true").text
    assert "No verdict recorded." in web.get("/sessions/gone/verdict").text


def test_sessions_are_listed_page_by_page(web: Web) -> None:
    for number in range(31):
        web.call("session create", id=f"S{number:02}", goal="")
    first, second = (re.findall(r'<a class="row" href="/sessions/(\w+)"', web.get(place).text)
                     for place in ("/sessions", "/sessions?page=2"))  # fmt: skip
    assert (len(first), len(second), len({*first, *second})) == (30, 1, 31)


def test_without_a_verdict_a_dry_run_is_shown_as_such(web: Web) -> None:
    story.blocked(web)
    page = web.get("/sessions/blocked/verdict").text
    assert "preview: nothing is recorded" in page
    assert '<span class="chip bad">reject</span>' in page


def test_a_recorded_verdict_is_shown_and_a_dry_run_on_demand(web: Web) -> None:
    story.blocked(web)
    found = web.call("validate", session_id="blocked", record=True)
    page = web.get("/sessions/blocked/verdict").text
    assert f"recorded as {found['report_id']}" in page
    assert "nothing is completed" in page
    assert "preview: nothing is recorded" in web.get("/sessions/blocked/verdict?anew=true").text


def test_the_verdict_that_ended_a_session_advises_nothing_that_is_refused_now(web: Web) -> None:
    advice = "<code>orchestrator criterion add ID --session-id done --text TEXT</code>"
    web.call("session create", id="done", goal="Ship it")
    web.call("group create", id="A", session_id="done", name="a")
    for role, status in (
        ("project_manager", "PLANNING_COMPLETE"), ("developer", "READY_FOR_QA"), ("qa_expert", "PASS"),
        ("tech_lead", "APPROVED"), ("developer", "MERGE_SUCCESS"), ("project_manager", "BAZINGA"),
    ):  # fmt: skip
        group = None if role == "project_manager" else "A"
        web.call("route", session_id="done", group_id=group, current_agent=role, status=status)
    assert advice in web.get("/sessions/done/verdict").text
    assert web.call("validate", session_id="done")["verdict"] == "ACCEPT"
    page = web.get("/sessions/done/verdict").text
    assert "no success criteria" in page
    assert advice not in page


def test_a_group_shows_each_part_of_its_path(web: Web) -> None:
    story.blocked(web)
    page = web.get("/sessions/blocked/groups/E2E").text
    parts = re.findall(r'<li class="(met|unmet)">.*?<b>(\w+)</b>', page)
    assert parts == [
        ("unmet", "approved"), ("unmet", "tested"), ("unmet", "merged"), ("unmet", "unblocked"), ("met", "reviewed"),
        ("unmet", "confirmed"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "status"),
    [
        pytest.param("/reply/<svg onload=alert(1)>", 404, id="no page"),
        pytest.param("/tasks/<svg onload=alert(1)>", 404, id="no task"),
        pytest.param("/questions/<svg onload=alert(1)>", 404, id="no question"),
        pytest.param("/sessions/<svg onload=alert(1)>", 400, id="no id of a session"),
        pytest.param("/sessions/none", 404, id="no session"),
        pytest.param("/sessions/none/groups/A", 404, id="no group"),
        pytest.param("/sessions/none/verdict", 404, id="no session to judge"),
        pytest.param("/open/<svg onload=alert(1)>", 404, id="no link"),
        pytest.param("/static/secrets.txt", 404, id="no file"),
        pytest.param("/sessions?all=<svg onload=alert(1)>", 400, id="no truth value"),
    ],
)
def test_a_page_that_is_not_there_says_so_in_text(web: Web, path: str, status: int) -> None:
    page = web.get(path)
    assert (page.status, "<svg" in page.text) == (status, False)
    assert page.headers["content-security-policy"].startswith("default-src 'none'")
    assert page.headers["content-type"] == "text/html; charset=utf-8"


def test_a_page_that_takes_no_form_says_so(web: Web) -> None:
    assert web.post("/sessions/S1").status == 405


def test_a_form_that_is_too_large_is_refused(web: Web) -> None:
    assert web.post("/projects", content="x" * 1_100_000).status == 413


def test_a_database_that_is_gone_is_told_without_saying_where_it_was(web: Web) -> None:
    for path in web.database.parent.glob("orchestrator.db*"):
        path.rename(path.with_suffix(".away"))
    page = web.get("/")
    assert (page.status, str(web.database) in page.text) == (503, False)


def test_a_fault_of_ours_shows_nothing_of_itself(
    web: Web, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("a secret place")

    monkeypatch.setattr(rendering.inbox, "inbox", broken)
    page = web.get("/projects")
    assert (page.status, "a secret place" in page.text) == (500, False)
    assert page.headers["content-security-policy"].startswith("default-src 'none'")
    assert "RuntimeError: a secret place" in capsys.readouterr().err


def test_secrets_are_masked_wherever_they_were_written(web: Web) -> None:
    secret = "=".join(("password", "hunter2hunter2"))
    id = story.review(web, reason=f"May I use {secret}?", goal=f"Move {secret} away")
    shown = [web.get(place).text for place in ("/", f"/questions/{id}", "/sessions", "/sessions/rev")]
    assert [secret in text for text in shown] == [False] * 4


def test_files_are_kept_by_browsers_under_the_address_of_their_version(web: Web) -> None:
    (address,) = re.findall(r'src="(/static/pages\.js[^"]*)"', web.get("/").text)
    assert "immutable" in web.get(address).headers["cache-control"]
    assert web.get("/static/pages.js?v=old").headers["cache-control"] == "no-cache"
    assert web.get(address).headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param(
            "2026-03-04T05:06:07.000000Z",
            '<time datetime="2026-03-04T05:06:07.000000Z">4 Mar 2026, 05:06 UTC</time>', id="a time",
        ),
        pytest.param("<i>once</i>", "&lt;i&gt;once&lt;/i&gt;", id="an imported text"),
        pytest.param(None, "", id="none"),
    ],
)  # fmt: skip
def test_a_time_is_readable_and_exact(text: str | None, shown: str) -> None:
    assert str(rendering.when(text)) == shown


def test_japanese_text_says_that_it_is() -> None:
    assert [str(rendering.tongue(text)) for text in ("はい", "yes")] == [' lang="ja"', ""]


def test_every_template_escapes_and_misses_nothing_silently() -> None:
    assert rendering._TEMPLATES.autoescape is True
    folder = pathlib.Path(rendering.__file__).parent / "templates"
    texts = {path.name: path.read_text("utf-8") for path in folder.glob("*.html")}
    assert [name for name, text in texts.items() if "|safe" in text or "autoescape" in text] == []
    inline = re.compile(r"<style|\son\w+=|\sstyle=|javascript:|https?://")
    assert [name for name, text in texts.items() if inline.search(text)] == []


def test_a_completed_group_that_nothing_proves_says_so(make: Make) -> None:
    web = make()
    story.taken_as_it_is(web)
    assert "on the project manager&#39;s word alone" in web.get("/sessions/taken").text


def test_a_question_waiting_is_the_first_thing_that_a_session_says(web: Web) -> None:
    story.review(web)
    page = web.get("/sessions/rev").text
    assert "Waiting for <b>a person</b>: 1 open question" in page
    assert page.index("Is the schema right?") < page.index("Views of the session")


def test_a_board_is_filtered_and_keeps_its_filter_from_page_to_page(web: Web) -> None:
    web.call("session create", id="wide", goal="Many groups")
    for number in range(51):
        web.call("group create", id=f"G{number:02}", session_id="wide", name="<b>x</b>")
    page = web.get("/sessions/wide?state=pending&sort=name").text
    (further,) = re.findall(r'<a href="(/sessions/wide\?[^"]+)" rel="next">', page)
    assert ("state=pending" in further, "sort=name" in further) == (True, True)
    assert re.findall(r"/groups/(G\d+)", web.get(further.replace("&amp;", "&")).text) == ["G50"]
    assert "No group fits this filter." in web.get("/sessions/wide?text=%25").text
    assert web.get("/sessions/wide?state=lost").status == 400


def test_a_decision_shows_report_rule_and_what_follows_and_leads_to_the_hand_off(web: Web) -> None:
    story.blocked(web)
    page = web.get("/sessions/blocked/decisions/D4").text
    assert [re.search(pattern, page) is not None for pattern in ("READY_FOR_QA", "<h3>Rules?</h3>", "qa expert")]
    (handoff,) = re.findall(r'href="(/sessions/blocked/handoffs/4\?group=E2E)"', page)
    assert "You are qa_expert" in web.get(handoff).text
    blocked = web.get("/sessions/blocked/decisions/D5").text
    (blocker,) = re.findall(r'<a href="([^"]*)">Blocker<span class="unseen"> blocked:B5</span></a>', blocked)
    assert "blocked:B5" in web.get(blocker).text


def test_lanes_lead_to_decisions_and_escape_what_was_reported(web: Web) -> None:
    story.blocked(web)
    web.call("route", session_id="blocked", group_id="E2E", current_agent="tech_lead", status="UNBLOCKING_GUIDANCE",
             summary="<script>alert(1)</script> sk-ant-api03-" + "x" * 90)  # fmt: skip
    page = web.get("/sessions/blocked/time").text
    assert 'href="/sessions/blocked/decisions/D5"' in page
    assert ("&lt;script&gt;" in page, "<script>alert" in page, "xxxx" in page) == (True, False, False)


def test_an_open_page_gets_only_the_regions_that_it_does_not_show_yet(web: Web) -> None:
    story.review(web)
    page = web.get("/sessions/rev").text
    known = ",".join(f"{id}={mark}" for id, mark in re.findall(r'id="(\w+)"[^>]* data-live="(\w+)"', page))
    again = web.get("/sessions/rev", **{"x-regions": known}).text
    assert ("Is the schema right?" in again, again.count(" data-same>")) == (False, page.count(" data-live="))
    web.call("group create", id="B", session_id="rev", name="Second group")
    changed = web.get("/sessions/rev", **{"x-regions": known}).text
    assert ("Second group" in changed, re.findall(r'id="(\w+)"[^>]* data-same>', changed)[:1]) == (True, ["pages"])


@pytest.mark.parametrize("path", ["/", "/questions/{id}", "/sessions/rev", "/sessions/rev/groups/A"])
def test_where_a_question_is_shown_its_reader_sees_what_was_reported(web: Web, path: str) -> None:
    metadata = {
        "status": "partial", "errors": [{"type": "mathematically_false", "message": "1=2", "recoverable": False}],
        "partial_progress": {"phases_completed": 2, "phases_total": 4},
    }  # fmt: skip
    web.call("session create", id="rev", goal="Prove it")
    web.call("group create", id="A", session_id="rev", name="First group")
    web.call("route", session_id="rev", current_agent="project_manager", status="PLANNING_COMPLETE")
    told = web.call(
        "route", session_id="rev", group_id="A", current_agent="developer", status="PARTIAL", metadata=metadata,
        summary="The lemma is false.",
    )  # fmt: skip
    page = web.get(path.format(id=told["question_id"]))
    for said in ("1=2", "The lemma is false.", str(told["report_id"]), "phases 2 of 4"):
        assert said in page.text


def test_a_graph_is_told_in_words_and_drawn_larger(web: Web) -> None:
    story.blocked(web)
    text = web.get("/sessions/blocked/graph").text
    told = '<code class="stop">BLOCKED ×1</code> <span class="arrow" aria-label="leads to">↓</span> <span'
    assert (text.count(told), text.count('class="ladder ')) == (2, 2)
    drawn = [web.get(f"/sessions/blocked/graph?size={size}").text for size in (100, 150, 200, 999)]
    widths = [int(re.findall(r'<svg[^>]*class="wf"[^>]* width="(\d+)"', each)[0]) for each in drawn]
    assert [each / widths[0] for each in widths] == pytest.approx([1, 1.5, 2, 2], abs=0.01)


def test_the_graph_shows_what_groups_depend_on(web: Web) -> None:
    story.blocked(web)
    assert "What groups depend on" not in web.get("/sessions/blocked/graph").text
    web.call("group create", id="NEXT", session_id="blocked", name="<b>Next</b>", depends_on=["E2E"])
    page = web.get("/sessions/blocked/graph").text
    assert "<title>NEXT depends on E2E</title>" in page
    for said, is_there in (
        ('href="/sessions/blocked/groups/NEXT"', True), ("&lt;b&gt;Next", True), ("<b>Next", False)
    ):  # fmt: skip
        assert (said in page) == is_there
    # A narrow board has no heads of columns, which say what a group stands beside.
    board = web.get("/sessions/blocked").text
    assert re.findall(r'<td data-narrow="waits for"><span class="soft"><a[^>]*>([^<]*)<', board) == ["E2E"]


@pytest.mark.parametrize(
    ("last", "shown"),
    [
        ("2025-01-01T10:00:40Z", ["10:00:00 UTC", "10:00:40 UTC"]),
        ("2025-01-01T14:00:00Z", ["10:00 UTC", "14:00 UTC"]),
        ("2025-01-03T10:00:00Z", ["1 Jan, 10:00 UTC", "3 Jan, 10:00 UTC"]),
        ("2026-02-03T10:00:00Z", ["1 Jan 2025, 10:00 UTC", "3 Feb 2026, 10:00 UTC"]),
    ],
)
def test_the_axis_tells_its_moments_apart(last: str, shown: list[str]) -> None:
    assert rendering.scale(["2025-01-01T10:00:00Z", last]) == shown
