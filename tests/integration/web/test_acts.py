"""What people do on pages: answers, replies, what goes wrong with them, and what was typed then."""

from __future__ import annotations

import html
import json
import re
from urllib.parse import urlencode

import pytest

pytest.importorskip("fastapi", reason="the pages need the extra `web`")

from orchestrator.app.running.requests import MAX_TEXT
from orchestrator.app.running.web_run_service import Caller
from orchestrator.core import questions
from orchestrator.doors.web import form_handlers, login, pages
from orchestrator.doors.web.application import MAX_BODY
from orchestrator.errors import OrchestratorError, UsageError
from tests.integration.web import story
from tests.integration.web.asgi import TOKEN, Page, Web
from tests.integration.web.conftest import Make


@pytest.fixture
def inside(web: Web) -> Web:
    """Somebody came in."""
    web.come_in()
    return web


@pytest.fixture
def running(make: Make) -> Web:
    """Somebody came in, and runs are executed."""
    web = make(steps=story.STEPS)
    web.serve_runs()
    web.come_in()
    return web


def buttons(text: str, name: str = "decision") -> list[str]:
    """The values of a page's buttons of a name."""
    return re.findall(rf'<button[^>]* name="{name}" value="(\w+)"', text)


def closed(web: Web, id: str) -> tuple[object, ...]:
    """By whom, through what and how a question was closed."""
    (row,) = web.rows(f"SELECT closed_by, channel, answer, note FROM questions WHERE id = '{id}'")
    return row


def test_a_question_has_one_button_for_each_decision(inside: Web) -> None:
    asked = {"review": story.review(inside), "clarification": story.clarification(inside)}
    shown = {kind: tuple(buttons(inside.get(f"/questions/{id}").text)) for kind, id in asked.items()}
    assert shown == {kind: questions.DECISIONS[kind] for kind in asked}


def test_the_button_decides_and_the_note_goes_along(inside: Web) -> None:
    id = story.review(inside)
    done = inside.send(f"/questions/{id}", f"/questions/{id}", decision="continue", note="No. Do not go on!\r\nNever")
    assert (done.status, done.headers["location"]) == (303, f"/questions/{id}")
    assert closed(inside, id) == ("user", "page", "continue", "No. Do not go on!\nNever")
    after = inside.get(f"/questions/{id}").text
    assert "Closed by <b>user</b>" in after
    assert buttons(after) == []


@pytest.mark.parametrize(
    "words",
    [
        "yes", "no, don't approve", "not okay", "yes, but not now", "approve? never", "I can't say yes",
        "go ahead and reject", "", "   ", "\u043ek", "x" * 12_000 + " yes",
    ],
)  # fmt: skip
def test_words_decide_nothing(words: str, inside: Web) -> None:
    id = story.review(inside)
    before = inside.head()
    done = inside.send(f"/questions/{id}", f"/questions/{id}", note=words)
    assert (done.status, closed(inside, id)) == (400, (None,) * 4)
    assert inside.head() == before


def test_what_was_typed_comes_back_with_the_sentence(inside: Web) -> None:
    id = story.review(inside)
    done = inside.send(f"/questions/{id}", f"/questions/{id}", decision="revise", note=" ")
    assert (done.status, "needs a note" in done.text) == (400, True)
    done = inside.send(f"/questions/{id}", f"/questions/{id}", decision="maybe", note="my <b>words</b>")
    assert done.status == 400
    assert "my &lt;b&gt;words&lt;/b&gt;</textarea>" in done.text
    # Drawn anew by its script it would lose that.
    assert ("data-events" in inside.get(f"/questions/{id}").text, "data-events" in done.text) == (True, False)


def test_a_question_that_is_closed_says_by_whom_and_gives_the_note_back(inside: Web) -> None:
    id = story.review(inside)
    csrf = inside.get(f"/questions/{id}").csrf
    first = inside.post(f"/questions/{id}", csrf=csrf, decision="continue", note="fine")
    before = inside.head()
    second = inside.post(f"/questions/{id}", csrf=csrf, decision="abandon", note="not fine")
    assert (first.status, second.status) == (303, 409)
    assert "was closed by user: continue; nothing changed" in second.text
    assert "not fine</textarea>" in second.text
    assert closed(inside, id)[2:] == ("continue", "fine")
    assert [row for row in inside.head() if row not in before] in ([], [inside.head()[-1]])


@pytest.mark.parametrize(
    ("headers", "fields", "status", "code"),
    [
        pytest.param({}, {}, 403, "csrf mismatch", id="no token"),
        pytest.param({}, {"csrf": "x"}, 403, "csrf mismatch", id="another token"),
        pytest.param({"origin": "http://evil.test"}, {}, 403, "origin mismatch", id="another site"),
        pytest.param({"origin": "null"}, {}, 403, "origin mismatch", id="a site without a name"),
        pytest.param({"sec-fetch-site": "cross-site"}, {}, 403, "origin mismatch", id="as a browser tells it"),
        pytest.param({"cookie": ""}, {}, 401, "unauthenticated", id="nobody"),
    ],
)
def test_a_form_that_is_not_ours_changes_nothing(
    headers: dict[str, str], fields: dict[str, str], status: int, code: str, inside: Web
) -> None:
    id = story.review(inside)
    before = inside.head()
    done = inside.post(f"/questions/{id}", headers, decision="continue", note="kept <i>text</i>", **fields)
    assert (done.status, code in done.text) == (status, True)
    assert "kept &lt;i&gt;text&lt;/i&gt;</textarea>" in done.text
    assert inside.head() == before


def test_a_script_is_no_person_on_pages_either(inside: Web) -> None:
    id = story.review(inside)
    done = inside.post(f"/questions/{id}", {"authorization": f"Bearer {TOKEN}"}, decision="continue")
    assert (done.status, closed(inside, id)[0]) == (403, None)


@pytest.mark.parametrize(
    ("text", "status"),
    [pytest.param("a\0b", 400, id="NUL"), pytest.param("x" * 65_537, 400, id="too long")],
)
def test_a_text_that_cannot_be_kept_is_refused(text: str, status: int, inside: Web) -> None:
    id = story.review(inside)
    done = inside.send(f"/questions/{id}", f"/questions/{id}", decision="continue", note=text)
    assert (done.status, closed(inside, id)[0]) == (status, None)


@pytest.mark.parametrize("letter", ["x", "\u3042", "\U0001f600", "\n"], ids=["a letter", "a kana", "a face", "a line"])
def test_a_text_of_the_longest_length_is_taken_whatever_its_letters(letter: str, inside: Web) -> None:
    id = story.review(inside)
    text = f"x{letter * (MAX_TEXT - 2)}x"
    done = inside.send(f"/questions/{id}", f"/questions/{id}", decision="continue", note=text.replace("\n", "\r\n"))
    assert (done.status, closed(inside, id)[3]) == (303, text)
    assert len(urlencode({"note": text.replace("\n", "\r\n")})) < MAX_BODY * 0.8


def test_a_text_that_is_too_long_comes_back_with_its_limit(inside: Web) -> None:
    id, text = story.review(inside), "\u3042" * (MAX_TEXT + 1)
    done = inside.send(f"/questions/{id}", f"/questions/{id}", decision="continue", note=text)
    assert (done.status, f"{MAX_TEXT + 1} characters; at most {MAX_TEXT}" in done.text) == (400, True)
    assert f"{text}</textarea>" in done.text


def test_every_place_for_words_says_how_many_it_takes(running: Web) -> None:
    id = story.run(running, story.ASK)
    ((asked,),) = running.rows("SELECT id FROM questions")
    for path in (f"/tasks/{id}", f"/questions/{asked}", "/projects", "/sessions/chat"):
        shown = running.get(path).text
        areas = re.findall(r"<textarea[^>]*>", shown)
        assert [area for area in areas if f'maxlength="{MAX_TEXT}"' not in area] == [], path
        assert (areas != [], f"{MAX_TEXT:,} characters" in shown) == (True, True), path


def test_every_address_to_which_a_form_is_sent_can_be_opened_again() -> None:
    routes = [route for part in (form_handlers, login, pages) for route in part.router.routes]
    posted = {path for route in routes for path in _places(route, "POST")}
    shown = {path for route in routes for path in _places(route, "GET")}
    assert (len(posted) > 6, posted - shown) == (True, set())


def _places(route: object, method: str) -> list[str]:
    return [getattr(route, "path", "")] if method in (getattr(route, "methods", None) or ()) else []


@pytest.mark.parametrize(
    ("path", "place"),
    [("/tasks/task-1/reply", "/tasks/task-1"), ("/tasks/task-1/retry", "/tasks/task-1"),
     ("/tasks/task-1/cancel", "/tasks/task-1"), ("/projects/P1/chat", "/projects"),
     ("/leave", "/")],
)  # fmt: skip
def test_opened_again_it_leads_to_the_page_of_its_form(path: str, place: str, web: Web) -> None:
    found = web.get(path)
    assert (found.status, found.headers["location"]) == (303, place)


def test_a_form_that_answers_twice_answers_nothing(inside: Web) -> None:
    id = story.review(inside)
    csrf = inside.get(f"/questions/{id}").csrf
    body = f"csrf={csrf}&decision=continue&decision=abandon".encode()
    found = inside._ask("POST", f"/questions/{id}", body, {"content-type": "application/x-www-form-urlencoded"})
    assert (found.status, "more than once" in found.text) == (400, True)
    assert inside.rows("SELECT closed_at FROM questions") == [(None,)]


def test_a_form_of_many_fields_is_refused(inside: Web) -> None:
    fields = {f"field{number}": "x" for number in range(60)}
    assert inside.post("/projects", **fields).status == 400


def test_a_reply_goes_to_the_task_and_applies_once(running: Web) -> None:
    """Source: seed 000, INV-6."""
    id = story.run(running, story.ASK)
    page = running.get(f"/tasks/{id}")
    (asked,) = re.findall(r'name="question_id" value="([^"]+)"', page.text)
    assert (page.text.count('<textarea id="reply"'), html.escape(story.ASKS) in page.text) == (1, True)
    fields = {"csrf": page.csrf, "question_id": asked, "reply": "B, the newer one"}
    assert running.post(f"/tasks/{id}/reply", **fields).headers["location"] == f"/tasks/{id}"
    again = running.post(f"/tasks/{id}/reply", **fields)
    assert (again.status, "B, the newer one</textarea>" in again.text) == (409, True)
    assert closed(running, asked) == ("user", "page", "continue", "B, the newer one")


def test_an_old_page_answers_no_newer_question(running: Web) -> None:
    id = story.run(running, story.ASK)
    page = running.get(f"/tasks/{id}")
    (asked,) = re.findall(r'name="question_id" value="([^"]+)"', page.text)
    visit = running.access.visit(running.cookies[running.access.cookie])
    assert visit is not None
    running.service.reply(id, visit.caller, reply="A")
    story.wait(running, id, "AWAITING_RESPONSE", story.ASKS_AGAIN)
    before = running.head()
    done = running.post(f"/tasks/{id}/reply", csrf=page.csrf, question_id=asked, reply="B")
    assert (done.status, story.ASKS_AGAIN in done.text, ">\nB</textarea>" in done.text) == (409, True, True)
    assert (closed(running, asked)[3], running.head()) == ("A", before)


def test_a_page_without_its_question_answers_none(running: Web) -> None:
    id = story.run(running, story.ASK)
    done = running.send(f"/tasks/{id}", f"/tasks/{id}/reply", reply="B")
    assert (done.status, story.state(running, id)) == (409, "AWAITING_RESPONSE")


def test_a_reply_that_does_not_name_its_question_answers_the_first_one_only(running: Web) -> None:
    id = story.run(running, story.ASK)
    ((asked,),) = running.rows("SELECT id FROM questions")
    page = running.get(f"/tasks/{id}")
    assert running.post(f"/tasks/{id}/reply", csrf=page.csrf, question_id=asked, reply="A").status == 303
    story.wait(running, id, "AWAITING_RESPONSE", story.ASKS_AGAIN)
    before = running.head()
    with pytest.raises(UsageError) as caught:
        running.service.reply(id, Caller(), reply="B")
    said = "This task has asked before, so a reply must name the question it answers."
    assert (caught.value.code, caught.value.message, running.head()) == ("USAGE", said, before)


@pytest.mark.parametrize(
    ("content", "until", "given", "code", "said"),
    [
        pytest.param(
            story.DANGEROUS, "AWAITING_RESPONSE", {"choice": "maybe"}, "USAGE", "choice must be yes or no.",
            id="another choice to confirm by",
        ),
        pytest.param(
            story.ASK, "AWAITING_RESPONSE", {"choice": "maybe"}, "USAGE", "choice must be yes or no.",
            id="another choice to go on by",
        ),
        pytest.param(
            story.DANGEROUS, "AWAITING_RESPONSE", {"reply": "why not"}, "USAGE", "This question takes only yes or no.",
            id="words to confirm by",
        ),
        pytest.param(
            story.ASK, "AWAITING_RESPONSE", {"reply": " \n"}, "USAGE", "The reply is empty.", id="no words",
        ),
        pytest.param(
            story.READ, "COMPLETE", {"reply": "B"}, "ILLEGAL_MOVE", "Task {id} is COMPLETE and is not waiting for a"
                " response.",
            id="nothing is asked",
        ),
    ],
)  # fmt: skip
def test_what_answers_nothing_is_refused_and_changes_nothing(
    running: Web, content: str, until: str, given: dict[str, str], code: str, said: str
) -> None:
    id = story.run(running, content, until=until)
    before = running.head()
    with pytest.raises(OrchestratorError) as caught:
        running.service.reply(id, Caller(), **given)
    assert (caught.value.code, caught.value.message) == (code, said.format(id=id))
    assert running.head() == before


def test_a_confirmation_has_a_textarea_and_is_given_by_a_button(running: Web) -> None:
    id = story.run(running, story.DANGEROUS)
    page = running.get(f"/tasks/{id}")
    assert ("<textarea" in page.text, buttons(page.text, "choice")) == (True, ["yes", "no"])
    (asked,) = re.findall(r'name="question_id" value="([^"]+)"', page.text)
    fields = {"csrf": page.csrf, "question_id": asked}
    assert running.post(f"/tasks/{id}/reply", **fields, reply="yes please").status == 400
    assert running.post(f"/tasks/{id}/reply", **fields, reply="yes please", choice="no").status == 303
    assert (closed(running, asked)[2], story.state(running, id)) == ("no", "CANCELLED")


@pytest.mark.parametrize(
    ("fields", "kept"),
    [
        pytest.param({"choice": "no"}, "no", id="a button"),
        pytest.param({"choice": "no", "reply": "yes, later"}, "no: yes, later", id="a button and a note"),
        pytest.param({"reply": "the second half"}, "the second half", id="words alone"),
    ],
)
def test_a_yes_no_question_of_a_run_is_answered_by_a_button(running: Web, fields: dict[str, str], kept: str) -> None:
    id = story.run(running, story.WHETHER)
    page = running.get(f"/tasks/{id}")
    assert ("<textarea" in page.text, " required" in page.text, buttons(page.text, "choice")) == (
        True, False, ["yes", "no"],
    )  # fmt: skip
    ((asked,),) = running.rows("SELECT id FROM questions")
    assert running.post(f"/tasks/{id}/reply", csrf=page.csrf, question_id=asked, **fields).status == 303
    assert closed(running, asked)[2:] == ("continue", kept)


@pytest.mark.parametrize(
    ("fields", "kept"),
    [
        pytest.param({"decision": "yes"}, "yes", id="yes"),
        pytest.param({"decision": "continue", "note": "half"}, "half", id="words"),
    ],
)
def test_a_yes_no_question_of_a_run_has_the_same_buttons_on_its_own_page(
    running: Web, fields: dict[str, str], kept: str
) -> None:
    story.run(running, story.WHETHER)
    ((asked,),) = running.rows("SELECT id FROM questions")
    page = running.get(f"/questions/{asked}")
    assert (buttons(page.text), " required" in page.text) == (["yes", "no", "continue"], False)
    assert running.post(f"/questions/{asked}", csrf=page.csrf, **fields).status == 303
    assert closed(running, asked)[2:] == ("continue", kept)


def test_a_question_of_a_run_is_answered_on_its_own_page_as_well(running: Web) -> None:
    id = story.run(running, story.ASK)
    ((asked,),) = running.rows("SELECT id FROM questions")
    page = running.get(f"/questions/{asked}")
    assert (buttons(page.text), f'href="/tasks/{id}"' in page.text) == (["continue"], True)
    assert running.post(f"/questions/{asked}", csrf=page.csrf, decision="continue", note="A").status == 303
    assert closed(running, asked) == ("user", "page", "continue", "A")


def test_no_page_of_a_chat_tells_its_reader_to_type_a_command(running: Web) -> None:
    id = story.run(running, story.ASK)
    ((question,),) = running.rows("SELECT id FROM questions WHERE closed_seq IS NULL")
    page = running.send(f"/tasks/{id}", f"/tasks/{id}/reply", reply="B", question_id=question)
    assert page.status == 303
    told = [running.get(path).text for path in ("/sessions/chat", "/sessions/chat/groups/chat", f"/tasks/{id}", "/")]
    assert "this server continues it" in told[0]
    assert not [command for command in ("orchestrator ", "/continue", "/approve", "/logs ", "--") for text in told
                if command in re.sub(r"<!--.*?-->", "", text)]  # fmt: skip


def test_work_that_was_approved_goes_on_as_another_task(make: Make) -> None:
    half = {"when": "", "status": "INCOMPLETE", "output": "Half of it.", "writes": {"notes.md": "a"}}
    whole = {**half, "status": "COMPLETE", "writes": {"notes.md": "b"}, "repeat": True}
    web = make(steps=json.dumps([half, whole]))
    web.serve_runs()
    web.come_in()
    id = story.run(web, "Write a report about the tests into notes.md", until="INCOMPLETE")
    (asked,) = re.findall(r'class="button" href="(/questions/[^"]+)"', web.get(f"/tasks/{id}").text)
    assert web.send(asked, asked, decision="continue").status == 303
    (newer,) = re.findall(r'retried as <a href="/tasks/([^"]+)"', web.get(f"/tasks/{id}").text)
    story.wait(web, newer, "COMPLETE")


def test_a_task_is_cancelled_and_tried_again_from_its_page(running: Web) -> None:
    id = story.run(running, story.ASK)
    assert running.get(f"/tasks/{id}").forms[1:] == [f"/tasks/{id}/cancel"]
    assert running.send(f"/tasks/{id}", f"/tasks/{id}/cancel").status == 303
    assert story.state(running, id) == "CANCELLED"
    again = running.send(f"/tasks/{id}", f"/tasks/{id}/cancel")
    assert (again.status, "CANCELLED" in again.text.upper()) == (409, True)


def test_what_ended_well_is_neither_cancelled_nor_tried_again(running: Web) -> None:
    id = story.run(running, story.READ, until="COMPLETE")
    page = running.get(f"/tasks/{id}")
    assert (page.forms, "It says: be kind." in page.text) == ([], True)
    assert running.post(f"/tasks/{id}/retry", csrf=page.csrf).status == 409


def test_a_person_begins_from_the_page(running: Web) -> None:
    page = running.get("/projects")
    assert "No projects are registered." in page.text
    assert running.post("/projects", csrf=page.csrf, project_path=str(running.project), alias="portal").status == 303
    (place,) = [form for form in running.get("/projects").forms if form.endswith("/chat")]
    begun = running.post(place, csrf=page.csrf, content=story.READ)
    id = begun.headers["location"].removeprefix("/tasks/")
    story.wait(running, id, "COMPLETE")
    ((session,),) = running.rows(f"SELECT session_id FROM runs WHERE id = '{id}'")
    chat = running.get(f"/sessions/{session}")
    assert (place in chat.forms, story.READ in chat.text) == (True, True)
    assert running.post(place, csrf=page.csrf, content=story.READ, session_id=str(session)).status == 303
    assert "2 tasks" in running.get(f"/sessions/{session}").text


@pytest.mark.parametrize("goal", ["", " \n"], ids=["none", "blanks"])
def test_a_session_without_a_goal_is_not_begun(goal: str, inside: Web) -> None:
    before = inside.head()
    done = inside.send("/sessions", "/sessions", goal=goal)
    assert (done.status, inside.head()) == (400, before)
    assert "A session needs a goal." in done.text


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        pytest.param({"project_path": "relative", "alias": "x"}, 400, id="a relative path"),
        pytest.param({"project_path": "/nowhere/at/all", "alias": "x"}, 400, id="no folder"),
        pytest.param({}, 400, id="nothing"),
    ],
)
def test_a_project_that_is_none_is_refused_and_its_form_stays_filled(
    fields: dict[str, str], status: int, inside: Web
) -> None:
    done = inside.send("/projects", "/projects", **fields)
    assert done.status == status
    assert [value for value in fields.values() if f'value="{value}"' not in done.text] == []


def test_a_chat_that_says_nothing_is_refused_in_its_project(inside: Web) -> None:
    inside.service.add_project(str(inside.project), "portal")
    done = inside.send("/projects", "/projects/P4/chat", content=" ")
    assert (done.status, "The message is empty." in done.text) == (400, True)
    lost = inside.send("/projects", "/projects/P99/chat", content="my words")
    assert (lost.status, "my words</textarea>" in lost.text) == (404, True)


def once(page: Page) -> str:
    """The mark of the first form of a page that begins something."""
    found = re.search(r'name="once" value="([^"]+)"', page.text)
    assert found is not None
    return found[1]


def test_a_chat_that_is_sent_twice_begins_one_task(running: Web) -> None:
    running.service.add_project(str(running.project), "portal")
    page = running.get("/projects")
    say = {"csrf": page.csrf, "once": once(page), "content": story.READ, "session_id": "twice"}
    first, second = (running.post("/projects/portal/chat", **say) for _ in range(2))
    assert (first.status, first.headers["location"]) == (303, second.headers["location"])
    assert running.rows("SELECT count(*) FROM runs") == [(1,)]
    other = running.post("/projects/portal/chat", **{**say, "content": f"{story.READ} again"})
    anew = running.post("/projects/portal/chat", **{**say, "once": once(running.get("/projects"))})
    assert len({each.headers["location"] for each in (first, other, anew)}) == 3


def test_a_form_that_was_refused_may_be_sent_again(running: Web) -> None:
    page = running.get("/projects")
    say = {"csrf": page.csrf, "once": "its mark", "content": story.READ}
    assert running.post("/projects/portal/chat", **say).status == 404
    running.service.add_project(str(running.project), "portal")
    assert running.post("/projects/portal/chat", **say).status == 303


def test_a_task_that_is_tried_again_twice_by_one_form_is_tried_once(make: Make) -> None:
    web = make(steps=json.dumps([{"when": "", "status": "ERROR", "output": "", "error": "no", "repeat": True}]))
    web.serve_runs()
    web.come_in()
    id = story.run(web, story.READ, until="ERROR")
    page = web.get(f"/tasks/{id}")
    places = {web.post(f"/tasks/{id}/retry", csrf=page.csrf, once=once(page)).headers["location"] for _ in range(2)}
    assert (len(places), web.rows("SELECT count(*) FROM runs")) == (1, [(2,)])


def test_what_is_said_on_a_page_stands_in_the_record_with_whose_page_it_was(web: Web) -> None:
    """Its run is queued by the program, as in every chat, and its event says who came in."""
    web.come_in()
    web.send("/projects", "/projects", project_path=str(web.project), alias="portal")
    web.send("/projects", "/projects/portal/chat", content=story.READ, session_id="said")
    told = web.rows(
        "SELECT kind, actor, input ->> 'via' FROM audit_events WHERE kind IN ('project add', 'run queue') ORDER BY kind"
    )
    assert told == [(kind, "system:runner", "a page of user") for kind in ("project add", "run queue")]
    page = web.get("/sessions/said").text
    assert "system:runner: run queue, for user on a page" in page
