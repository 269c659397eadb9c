"""HEAD is answered as GET is, without the body."""

from __future__ import annotations

import pytest

pytest.importorskip("fastapi", reason="the interface needs the extra `web`")

from tests.integration.web.asgi import Web


@pytest.mark.parametrize(
    "path", ["/api/health", "/api/sessions", "/api/projects", "/api/openapi.json", "/", "/sessions", "/projects",
             "/static/pages.css", "/api/tasks/none", "/nothing", "/tasks/none"],
)  # fmt: skip
def test_the_head_is_that_of_the_answer(path: str, web: Web) -> None:
    whole, head = web.get(path), web._ask("HEAD", path, b"", {})
    assert (head.status, head.headers, head.text) == (whole.status, whole.headers, "")
    assert whole.text != ""


def test_a_database_that_is_away_shows_in_the_head_too(web: Web) -> None:
    web.database.rename(web.database.with_name("kept"))
    assert web._ask("HEAD", "/api/health", b"", {}).status == 503


@pytest.mark.parametrize("path", ["/api/projects/P1/chat", "/api/tasks/x/cancel", "/api/events"])
def test_what_is_only_posted_or_never_ends_has_no_head(path: str, web: Web) -> None:
    before = web.head()
    assert web._ask("HEAD", path, b"", {}).status == 405
    assert web.head() == before
