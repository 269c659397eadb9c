"""Bodies of JSON are read as strictly as every other document, and what says nothing is blank."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("fastapi", reason="the interface needs the extra `web`")

from orchestrator.app.running.web_run_service import Caller
from orchestrator.errors import UsageError
from tests.integration.web import story
from tests.integration.web.asgi import TOKEN, Page, Web
from tests.integration.web.conftest import Make


@pytest.fixture
def project(web: Web) -> str:
    """A registered project."""
    found = send(web, "projects", json.dumps({"project_path": str(web.project)}).encode())
    return str(json.loads(found.text)["project_id"])


def send(web: Web, path: str, body: bytes) -> Page:
    headers = {"authorization": f"Bearer {TOKEN}", "content-type": "application/json"}
    return web._ask("POST", f"/api/{path}", body, headers)


REFUSED: dict[str, tuple[bytes, str]] = {
    "a key twice": (b'{"content": "one", "content": "two"}', "BAD_REQUEST"),
    "an escaped key twice": (b'{"content": "one", "cont\\u0065nt": "two"}', "BAD_REQUEST"),
    "NaN": (b'{"content": "x", "session_id": NaN}', "BAD_REQUEST"),
    "infinity": (b'{"content": "x", "session_id": -Infinity}', "BAD_REQUEST"),
    "a huge exponent": (b'{"content": "x", "session_id": 1e999}', "BAD_REQUEST"),
    "UTF-16": ('{"content": "x"}'.encode("utf-16"), "BAD_REQUEST"),
    "UTF-16 without a mark": ('{"content": "x"}'.encode("utf-16-le"), "BAD_REQUEST"),
    "UTF-32": ('{"content": "x"}'.encode("utf-32"), "BAD_REQUEST"),
    "Latin-1": ('{"content": "\u00e9"}'.encode("latin-1"), "BAD_REQUEST"),
    "a raw control character": (b'{"content": "a\x01b"}', "BAD_REQUEST"),
    "nothing but blanks": (b"  \n", "BAD_REQUEST"),
    "cut off": (b'{"content": "x"', "BAD_REQUEST"),
    "deep": (b'{"content":' + b"[" * 50_000, "BAD_REQUEST"),
    "NUL": (b'{"content": "a\\u0000b"}', "INVALID_TEXT"),
    "half a pair": (b'{"content": "a\\ud800b"}', "INVALID_TEXT"),
    "NUL in the session": (b'{"content": "x", "session_id": "a\\u0000"}', "INVALID_TEXT"),
    "half a pair in the session": (b'{"content": "x", "session_id": "\\udfff"}', "INVALID_TEXT"),
    "NUL in a key": (b'{"content": "x", "a\\u0000": 1}', "INVALID_TEXT"),
    "blanks": (b'{"content": " \\t\\n"}', "USAGE"),
    "zero width": ('{"content": "\u200b\u2060\ufeff"}'.encode(), "USAGE"),
    "fillers": ('{"content": "\u3164\u2800 \u00a0"}'.encode(), "USAGE"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_acceptable_message_is_refused_and_nothing_is_queued(name: str, web: Web, project: str) -> None:
    body, code = REFUSED[name]
    before = web.head()
    found = send(web, f"projects/{project}/chat", body)
    assert (found.status, json.loads(found.text)["error"]) == (400, code), found.text
    assert len(found.text) < 600
    assert web.rows("SELECT count(*) FROM runs") == [(0,)]
    assert web.head() == before


def test_a_project_has_one_alias(web: Web, project: str) -> None:
    found = send(web, "projects", json.dumps({"project_path": str(web.project), "alias": "another"}).encode())
    assert (found.status, json.loads(found.text)["error"]) == (400, "ALREADY_EXISTS")


@pytest.mark.parametrize(
    "body", [b'\xef\xbb\xbf{"content": "explain it"}', b'{"content": "e\\u0301 \\ud83d\\ude00 \\u200b"}'],
    ids=["a byte order mark", "pairs and combining letters"],
)
def test_what_is_acceptable_is_queued(body: bytes, web: Web, project: str) -> None:
    assert send(web, f"projects/{project}/chat", body).status == 201


@pytest.mark.parametrize(
    ("body", "code"),
    [(b'{"reply": "a\\u0000"}', "INVALID_TEXT"), (b'{"reply": "a", "reply": "b"}', "BAD_REQUEST"),
     (b'{"reply": "a", "question_id": "\\udc00"}', "INVALID_TEXT"), (b'{"reply": "a", "choice": "yes"}', "USAGE")],
    ids=["NUL", "a key twice", "half a pair in the question", "words and a choice"],
)  # fmt: skip
def test_a_reply_is_read_in_the_same_way(body: bytes, code: str, web: Web) -> None:
    found = send(web, "tasks/task-1/reply", body)
    assert (found.status, json.loads(found.text)["error"]) == (400, code)


def test_the_description_says_how_long_texts_may_be(web: Web) -> None:
    known = json.loads(web.get("/api/openapi.json").text)["components"]["schemas"]
    content, reply = known["Chat"]["properties"]["content"], known["Reply"]["properties"]["reply"]["anyOf"][0]
    assert (content["maxLength"], reply["maxLength"]) == (65_536, 65_536)
    assert "At most 65536 characters." in content["description"]


def test_a_drawing_shows_where_one_group_stands(web: Web) -> None:
    story.review(web)
    story.blocked(web)
    both = json.loads(web.get("/api/workflow/graph?session_id=blocked").text)["positions"]
    assert both == json.loads(web.get("/api/workflow/graph?session_id=blocked&group_id=E2E").text)["positions"]
    assert both != {}
    assert web.get("/api/workflow/graph?session_id=blocked&group_id=A").status == 404
    assert web.get("/api/workflow/graph?group_id=A").status == 400


def test_the_description_still_tells_of_the_bodies(web: Web) -> None:
    described = json.loads(web.get("/api/openapi.json").text)
    found = described["paths"]["/api/projects/{project}/chat"]["post"]["requestBody"]["content"]["application/json"]
    assert found == {"schema": {"$ref": "#/components/schemas/Chat"}}


@pytest.mark.parametrize("said", ["", " \n", "\u200b", "\u2060\u3164"], ids=["nothing", "blanks", "unseen", "fillers"])
def test_a_reply_in_which_nothing_can_be_seen_answers_nothing(said: str, make: Make) -> None:
    web = make(steps=story.STEPS)
    web.serve_runs()
    id = story.run(web, story.ASK)
    web.come_in()
    before = web.head()
    found = web.send(f"/tasks/{id}", f"/tasks/{id}/reply", reply=said)
    assert found.status in (400, 409)
    assert (web.head(), story.state(web, id)) == (before, "AWAITING_RESPONSE")
    with pytest.raises(UsageError):
        web.service.reply(id, Caller(), reply=said)
    assert (web.head(), story.state(web, id)) == (before, "AWAITING_RESPONSE")
