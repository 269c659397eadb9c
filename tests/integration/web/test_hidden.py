"""What a page makes visible, and what it does not tell: marks that turn text, and where things lie."""

from __future__ import annotations

import json
import pathlib
import re

import pytest

pytest.importorskip("fastapi", reason="the pages need the extra `web`")

from orchestrator.app.kernel import operations
from orchestrator.app.running.turn_runs import QueueTurn
from tests.integration.web import story
from tests.integration.web.asgi import Web
from tests.integration.web.conftest import Make

MARKS = "".join(map(chr, (0x202E, 0x2066, 0x200F, 0x200B, 0x061C, 0xFEFF, 0x85, 0x1B, 0x7F)))


def test_marks_that_turn_text_or_hide_are_spelt_out_on_pages(web: Web) -> None:
    id = story.review(web, reason=f"Is it?{MARKS}\nA second\tline", goal="Ship\u202eit")
    for path in ("/", f"/questions/{id}", "/sessions", "/sessions/rev"):
        text = web.get(path).text
        assert [mark for mark in MARKS if mark in text] == [], path
    asked = "Is it?\\u202e\\u2066\\u200f\\u200b\\u061c\\ufeff\\x85\\x1b\\x7f\nA second\tline"
    assert asked in web.get(f"/questions/{id}").text
    assert "Ship\\u202eit" in web.get("/sessions").text


def test_what_joins_letters_stays(web: Web) -> None:
    family, persian = "\U0001f469\u200d\U0001f467", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"
    id = story.review(web, reason=f"{family} {persian}")
    assert f"{family} {persian}" in web.get(f"/questions/{id}").text


def test_what_was_typed_comes_back_as_it_was_typed(web: Web) -> None:
    id = story.review(web)
    web.come_in()
    done = web.send(f"/questions/{id}", f"/questions/{id}", decision="maybe", note="a\u202eb")
    assert (done.status, "a\u202eb</textarea>" in done.text) == (400, True)


def test_a_program_that_is_not_there_is_named_without_its_place(make: Make, tmp_path: pathlib.Path) -> None:
    place = tmp_path / "hidden place" / "agent.sh"
    web = make(executor=f"command:'{place}' {{prompt}}")
    web.serve_runs()
    id = story.run(web, story.READ, until="ERROR")
    told = json.loads(web.get(f"/api/tasks/{id}").text)
    assert told["error_reason"] == "There is no program …/agent.sh. Install it, or give the path of another program"
    ((question,),) = web.rows("SELECT id FROM questions")
    places = ("", "/timeline", "/status", "/decisions")
    api = [f"/api/tasks/{id}", "/api/inbox", "/api/task-groups", *(f"/api/sessions/chat{each}" for each in places)]
    tabs = ("time", "graph", "decisions", "steps", "runs", "tasks", "evidence", "verdict", "groups/chat")
    pages = (
        "/", "/sessions/chat", f"/tasks/{id}", f"/questions/{question}", *(f"/sessions/chat/{tab}" for tab in tabs)
    )  # fmt: skip
    assert "There is no program …/agent.sh." in web.get(f"/questions/{question}").text
    for path in (*api, *pages):
        shown = web.get(path).text
        assert ("hidden place" in shown, str(tmp_path) in shown) == (False, False), path


def test_a_program_is_not_told_where_an_executor_lies(make: Make) -> None:
    web = make(steps=story.STEPS)
    web.serve_runs()
    story.run(web, story.ASK)
    told = json.loads(web.get("/api/sessions/chat/timeline").text)
    assert "queued -> running by system:runner (scripted starts)" in json.dumps(told)
    for path in ("/api/sessions/chat/timeline", "/sessions/chat", "/api/sessions/chat/timeline?limit=500"):
        assert ("steps.json" in web.get(path).text, str(web.database.parent) in web.get(path).text) == (False, False)


SHOWS_PLACES = ("/projects", "/api/projects")
"""Where it is said which folders are registered."""
NO_TEXT = ("/api/events", "/static/{name}", "/open/{code}")
"""What tells nothing of a session, or has no end."""


def addresses(web: Web, known: dict[str, str]) -> list[str]:
    """Every address that is read, its places filled in; each has to be known, so that a new one is looked at."""
    paths = {each.path for each in web.routes if "GET" in each.methods} - {*NO_TEXT, *SHOWS_PLACES}
    return sorted(re.sub(r"\{(\w+)\}", lambda found: known[found[1]], known.get(path, path)) for path in paths)


def test_no_address_that_reads_tells_where_a_project_lies(make: Make, tmp_path: pathlib.Path) -> None:
    place = f"{tmp_path}/project"
    web = make(steps=json.dumps([{"status": "INCOMPLETE", "output": f"Is {place}/notes.md meant?", "repeat": True}]))
    web.serve_runs()
    run = story.run(web, f"{story.ASK} in {place}")
    asked = story.review(web, reason=f"Is {place}/schema.sql right?", goal=f"Ship {place}")
    web.call("task create", id="T1", title=f"Read {place}", description=place, session_id="rev", group_id="A",
             by="project_manager")  # fmt: skip
    web.call("criterion add", id="C1", text=f"{place} is tidy", session_id="rev", reason=place,
             by="project_manager")  # fmt: skip
    queued = QueueTurn(
        session_id="rev", group="A", turn=3, role="developer", prompt=f"Work in {place}", model=None,
        executor=f"command:{place}/agent", folder=place, root=place, owner="none",
    )  # fmt: skip
    operations.carry_out(web._context, queued)
    decided = json.loads(web.get("/api/sessions/rev/decisions").text)["decisions"][0]
    ((seq, part),) = web.rows("SELECT seq, part FROM evidence WHERE session_id = 'chat' LIMIT 1")
    known = {
        "session": "rev", "group": "A", "turn": str(decided["spawns"][0]["turn"]), "name": "end", "id": run,
        "project": "portal", "/questions/{id}": f"/questions/{asked}",
        "/sessions/{session}/decisions/{id}": f"/sessions/rev/decisions/{decided['id'].rpartition(':')[2]}",
        "/sessions/{session}/evidence/{seq}.{part}": f"/sessions/chat/evidence/{seq}.{part}",
        "/api/task-groups/{group}/tasks": "/api/task-groups/chat/tasks",
    }  # fmt: skip
    told = {path: web.get(path) for path in (*addresses(web, known), "/sessions/chat", "/tasks/" + run)}
    assert {path: page.status for path, page in told.items() if page.status not in (200, 303)} == {}
    assert [path for path, page in told.items() if place in page.text or str(tmp_path) in page.text] == []
    assert "Ship …" in told["/sessions/rev"].text
