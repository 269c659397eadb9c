"""Requests that are not whole, and what they are told."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("fastapi", reason="the interface needs the extra `web`")

from tests.integration.web.asgi import TOKEN, Web

BODY = b'{"project_path": "/nowhere"}'
GET = {
    "a name twice": ("/api/sessions?limit=1&limit=2", 400, "BAD_REQUEST", "The query names 'limit' more than once."),
    "events of no session": ("/api/events?session_id=nope", 404, "UNKNOWN_SESSION", "There is no session nope."),
    "the interface itself": ("/api", 404, "NOT_FOUND", "Nothing found at this address."),
}
POST = {
    "an unknown charset": ("application/json; charset=odd", BODY, "The charset is 'odd'; a body here is UTF-8."),
    "a form": ("text/plain", BODY, "The content type is 'text/plain'; a body here is application/json."),
    "a list": ("application/json", b"[]", "body: This is not a JSON object"),
}


@pytest.mark.parametrize("asked", GET)
def test_what_is_asked_wrongly_is_told_as_json(asked: str, web: Web) -> None:
    path, status, code, message = GET[asked]
    found = web.get(path)
    assert (found.status, json.loads(found.text)) == (status, {"error": code, "message": message})


@pytest.mark.parametrize("sent", POST)
def test_a_body_is_refused_in_our_own_words(sent: str, web: Web) -> None:
    kind, body, message = POST[sent]
    found = web._ask("POST", "/api/projects", body, {"authorization": f"Bearer {TOKEN}", "content-type": kind})
    assert (found.status, json.loads(found.text)) == (400, {"error": "BAD_REQUEST", "message": message})
