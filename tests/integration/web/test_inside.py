"""Whatever breaks behind whatever is asked: the answer says nothing of the inside of the server."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the pages need the extra `web`")

from orchestrator.core.suggestions import local, quoted
from orchestrator.errors import EnvironmentProblem, InvalidInput, Refused
from tests.integration.web.asgi import TOKEN, Web

PLACE = "/srv/hushhush place/hushhush.db"
KEY = "ghp_" + "a1B2c3" * 6
SAID = f'{PLACE}: near "SELECT hushhush FROM hushhush": {KEY}'


def _of_sqlite(code: int) -> sqlite3.Error:
    fault = sqlite3.OperationalError(SAID)
    fault.sqlite_errorcode = code
    return fault


FAULTS: dict[str, Callable[[], Exception]] = {
    "a statement": lambda: _of_sqlite(1),
    "a constraint": lambda: sqlite3.IntegrityError(SAID),
    "a lock": lambda: _of_sqlite(5),
    "a full disk": lambda: _of_sqlite(13),
    "the system": lambda: OSError(5, SAID, PLACE),
    "a name": lambda: KeyError(SAID),
    "anything": lambda: RuntimeError(f'Traceback (most recent call last):\n  File "{PLACE}", line 1\n{SAID}'),
    "the surroundings": lambda: EnvironmentProblem("CORRUPT", local(PLACE) + " is damaged", f"rm {KEY}", db=PLACE),
    "a refusal": lambda: Refused("E304", local(PLACE) + f" was changed: {KEY}", "restore", path=PLACE),
    "a document": lambda: InvalidInput("E105", quoted(PLACE) + " is no JSON", f"rm {KEY}", path=PLACE),
}
FREE = ("/api/openapi.json", "/api/events", "/static/{name}", "/open/{code}", "/leave")
"""What asks no database; a stream begins or is refused as every other, but does not end here."""
NAMED = {"project": "P1", "id": "x", "session": "S1", "group": "A", "task": "t", "name": "end", "seq": "1", "part": "1",
         "turn": "1"}  # fmt: skip
TYPED = {"content": "say it", "reply": "blue", "question_id": "", "decision": "continue", "note": "x",
         "project_path": "/srv", "alias": "a", "reason": "x", "session": "S1"}  # fmt: skip
BODIES = {"/api/projects": {"project_path": "/srv"}, "/api/projects/{project}/chat": {"content": "say it"},
          "/api/tasks/{id}/reply": {"reply": "blue"}, "/api/questions/{id}/answer": {"decision": "yes"}}  # fmt: skip


def asked(web: Web) -> list[tuple[str, str]]:
    """Every method and address that asks the database."""
    return [(method, each.path) for each in web.routes for method in each.methods if each.path not in FREE]


@pytest.mark.parametrize("name", FAULTS)
def test_no_answer_says_what_broke(name: str, web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    web.come_in()
    visit = web.get("/projects").csrf
    broken = []

    @contextlib.contextmanager
    def lent(**given: Any) -> Iterator[Any]:
        broken.append(given)
        raise FAULTS[name]()
        yield

    places = asked(web)
    assert len(places) > 50
    monkeypatch.setattr(web.service.pool, "lent", lent)
    monkeypatch.setattr(web.service.pool, "check_writable", lambda: lent().__enter__())
    for method, path in places:
        broken.clear()
        place = path.format(**NAMED)
        if path.startswith("/api/"):
            headers = {"authorization": f"Bearer {TOKEN}", "content-type": "application/json"}
            body = json.dumps(BODIES[path]).encode() if path in BODIES and method == "POST" else b""
            page = web._ask(method, place, body, headers)
        else:
            page = web.post(place, None, csrf=visit, **TYPED) if method == "POST" else web.get(place)
        if method == "GET" and page.status == 303:
            # It was the address of a form, and asks nothing.
            continue
        assert broken, (method, path, page.text)
        assert page.status >= 400, (method, path)
        for inside in ("hushhush", KEY, "SELECT", "Traceback", "File ", "site-packages"):
            assert inside not in page.text, (method, path, page.text)
        if path.startswith("/api/"):
            assert sorted(json.loads(page.text)) == ["error", "message"], (method, path)
