"""Runs with much to show: pages stay short and say what they leave out, programs get all of it, each file once."""

from __future__ import annotations

import json
import re

import pytest

pytest.importorskip("fastapi", reason="the pages need the extra `web`")

from orchestrator.doors.web import pages, rendering
from tests.integration.web import story
from tests.integration.web.asgi import Web
from tests.integration.web.conftest import Make


def detail(web: Web, id: str) -> dict[str, object]:
    """A task as programs read it."""
    found: dict[str, object] = json.loads(web.get(f"/api/tasks/{id}").text)
    return found


def test_a_page_shows_some_files_and_entries_and_says_how_many_more(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "FILES", 2)
    monkeypatch.setattr(pages, "EVENTS", 3)
    step = {"when": "", "status": "COMPLETE", "output": "Written.", "writes": {f"{n}.md": "x" for n in "abcd"}}
    web = make(steps=json.dumps([step]))
    web.serve_runs()
    id = story.run(web, "Write the four reports", until="COMPLETE")
    shown, found = web.get(f"/tasks/{id}").text, detail(web, id)
    events = found["events"]
    assert isinstance(events, list)
    assert len(re.findall(r"<li><code>\w\.md</code>", shown)) == 2
    assert "And 2 more files." in shown
    assert shown.count('<li><div class="line">') == 3
    assert f"{len(events) - 3} earlier entries are not shown." in shown
    assert f"<b>{events[-1]['kind'].replace('_', ' ')}</b>" in shown
    assert len(found["files"]) == 4  # type: ignore[arg-type]


def test_changed_files_come_first() -> None:
    files = [{"path": path, "change": change, "exists": True} for path, change in [("a", None), ("b", "new")]]
    found = pages._shortened({"files": files, "events": []})
    assert [file["path"] for file in found["task"]["files"]] == ["b", "a"]


def test_a_file_is_listed_once_after_a_reply(make: Make) -> None:
    ask = {"when": "", "status": "INCOMPLETE", "output": story.ASKS, "writes": {"notes.md": "a", "first.md": "a"}}
    done = {"when": "", "status": "COMPLETE", "output": "Written.", "writes": {"notes.md": "b"}}
    web = make(steps=json.dumps([ask, done]))
    web.serve_runs()
    web.come_in()
    id = story.run(web, story.ASK)
    page = web.get(f"/tasks/{id}")
    (asked,) = re.findall(r'name="question_id" value="([^"]+)"', page.text)
    assert web.post(f"/tasks/{id}/reply", csrf=page.csrf, question_id=asked, reply="B").status == 303
    story.wait(web, id, "COMPLETE")
    assert web.rows("SELECT count(*) FROM run_files WHERE path = 'notes.md'") == [(2,)]
    files = detail(web, id)["files"]
    assert isinstance(files, list)
    assert sorted((file["path"], file["change"]) for file in files) == [("first.md", "new"), ("notes.md", "new")]
    assert web.get(f"/tasks/{id}").text.count("<code>notes.md</code>") == 1


@pytest.mark.parametrize(
    ("change", "exists", "said"),
    [("new", True, "new"), ("deleted", False, "deleted"), ("changed", False, "changed, gone since"),
     (None, False, "not found"), (None, True, "")],
)  # fmt: skip
def test_what_became_of_a_file_is_said_in_words(change: str | None, exists: bool, said: str) -> None:
    assert rendering.fate({"path": "a", "change": change, "exists": exists}) == said


@pytest.mark.parametrize("length", [500, 501, 60_000])
def test_a_list_of_chats_shows_the_beginning_of_the_first_prompt(length: int, web: Web) -> None:
    web.service.add_project(str(web.project), "portal")
    web.service.chat("portal", "\u3042" * length, "chat")
    (found,) = json.loads(web.get("/api/task-groups").text)["task_groups"]
    expected = "\u3042" * 500 if length == 500 else "\u3042" * 499 + "…"
    assert found["first_prompt"] == expected


def test_what_is_cut_holds_no_half_of_a_secret(web: Web) -> None:
    web.service.add_project(str(web.project), "portal")
    web.service.chat("portal", "x " * 245 + "ghp_" + "a1B2" * 9, "chat")
    (found,) = json.loads(web.get("/api/task-groups").text)["task_groups"]
    assert "a1B2" not in found["first_prompt"]
