"""Requests that are not whole, and what they are told."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("fastapi", reason="the interface needs the extra `web`")

from tests.integration.web import story
from tests.integration.web.asgi import TOKEN, Web

BODY = b'{"project_path": "/nowhere"}'
GET = {
    "a name twice": ("/api/sessions?limit=1&limit=2", 400, "BAD_REQUEST", "The query names 'limit' more than once."),
    "events of no session": ("/api/events?session_id=nope", 404, "UNKNOWN_SESSION", "There is no session nope."),
    **{
        asked: (f"/api/{asked}", 400, "BAD_REQUEST", f"This address has no parameter {said}")
        for asked, said in (
            ("task-groups?statu=ERROR", "'statu'; did you mean status?"),
            ("events?sesion_id=S", "'sesion_id'; did you mean session_id?"),
            ("sessions?colour=1", "'colour'; it takes all, limit, since."),
            ("sessions?limit=1&colour=1", "'colour'; it takes all, limit, since."),
            ("projects?x=1", "'x'; it takes none."),
            ("health?x=1", "'x'; it takes none."),
            ("events?since=1", "'since'; it takes session_id, after."),
        )
    },
    "a value of another set": (
        "/api/task-groups?status=EROR", 400, "BAD_REQUEST",
        "status: must be one of QUEUED, RUNNING, AWAITING_RESPONSE, COMPLETE, INCOMPLETE, ERROR, CANCELLED, not 'EROR';"
        " did you mean ERROR?",
    ),
    "the interface itself": ("/api", 404, "NOT_FOUND", "Nothing found at this address."),
}  # fmt: skip
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


def test_a_page_is_shown_whatever_its_address_asks_for_besides(web: Web) -> None:
    assert web.get("/sessions?colour=1").status == 200


@pytest.mark.parametrize(
    ("header", "value", "status"),
    [
        ("content-length", "\u00b2", 200), ("content-length", "9" * 5000, 413), ("content-length", "-1", 200),
        ("referer", "http://[", 200), ("referer", "/sessions/rev]", 200),
    ],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/api/sessions", "/sessions/rev/do/pause"])
def test_headers_that_are_not_whole_are_no_fault_of_the_server(
    path: str, header: str, value: str, status: int, web: Web
) -> None:
    story.review(web)
    assert web.get(path, **{header: value}).status == status


def test_an_address_to_lead_back_to_that_is_none_is_left_out(web: Web) -> None:
    story.review(web)
    web.come_in()
    found = web.send("/sessions/rev/do/pause", "/sessions/rev/do/pause", reason="lunch", back="http://[")
    assert (found.status, found.headers["location"]) == (303, "/sessions/rev")
