"""The one-time link: what opening it does, what its button does, and how a visit ends."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("fastapi", reason="the pages need the extra `web`")

from tests.integration.web.asgi import TOKEN, Web


def test_opening_the_link_uses_nothing_up_and_its_button_does(web: Web) -> None:
    code = web.access.new_link()
    shown = [web.get(f"/open/{code}") for _ in range(3)]
    assert [page.status for page in shown] == [200] * 3
    assert "Continue as user" in shown[0].text
    assert web.cookies == {}
    done = web.post(f"/open/{code}", person="user")
    assert (done.status, done.headers["location"], len(web.links)) == (303, "/", 1)
    assert (web.get(f"/open/{code}").status, web.post(f"/open/{code}", person="user").status) == (410, 410)
    assert web.get(f"/open/{web.links[0]}").status == 200


def test_the_cookie_is_for_this_server_and_no_script(web: Web) -> None:
    done = web.post(f"/open/{web.access.new_link()}", person="user")
    parts = {part.strip().split("=")[0].lower(): part.strip() for part in done.headers["set-cookie"].split(";")}
    assert {"httponly", "path", "samesite", "max-age"} <= set(parts)
    assert (parts["samesite"].lower(), parts["path"], "secure" in parts) == ("samesite=strict", "Path=/", False)


def test_an_ended_visit_is_told_exactly_how_to_go_on(web: Web) -> None:
    assert "You can only read" in web.get("/").text
    web.come_in()
    web.service.add_project(str(web.project), "portal")
    csrf = web.get("/projects").csrf
    # As after the server's restart: nothing is known of any visit.
    web.access.leave(web.cookies[web.access.cookie])
    shown = web.get("/projects")
    assert shown.status == 200
    for said in ("You have been signed out", "restart", "newest one-time link", "Open that link in this browser"):
        assert said in shown.text
    sent = web.post("/projects/portal/chat", csrf=csrf, content="explain <this>")
    assert (sent.status, "<h1>You have been signed out</h1>" in sent.text) == (401, True)
    assert "explain &lt;this&gt;</textarea>" in sent.text
    assert "newest one-time link" in sent.text
    assert '<a href="/projects/portal/chat">Open the page again</a>' in sent.text
    assert web.get("/projects/portal/chat").headers["location"] == "/projects"
    assert web.rows("SELECT count(*) FROM runs") == [(0,)]


@pytest.mark.parametrize("token", ["", "wrong", f"{TOKEN}x"])
def test_beyond_loopback_the_link_needs_the_token_too(token: str, closed: Web) -> None:
    code = closed.access.new_link()
    assert 'type="password"' in closed.get(f"/open/{code}").text
    refused = closed.post(f"/open/{code}", person="user", token=token)
    assert (refused.status, closed.cookies, closed.access.is_link(str(code))) == (401, {}, True)
    assert closed.get("/").status == 401
    assert closed.post(f"/open/{code}", person="user", token=f" {TOKEN} ").status == 303
    assert closed.get("/").status == 200


def test_on_loopback_the_link_is_enough(web: Web) -> None:
    assert "password" not in web.get(f"/open/{web.access.new_link()}").text


def test_of_two_who_press_the_button_at_once_one_comes_in(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    code = web.access.new_link()
    monkeypatch.setattr(web.access, "use_link", lambda *_: None)
    done = web.post(f"/open/{code}", person="user")
    assert (done.status, web.cookies, "This link has been used" in done.text) == (410, {}, True)


def test_a_link_that_was_never_one_is_not_found(web: Web) -> None:
    web.access.new_link()
    assert [web.get("/open/x").status, web.post("/open/x", person="user").status] == [404, 404]


def test_a_link_that_made_room_for_another_is_used_up(web: Web) -> None:
    code = web.access.new_link()
    web.access.new_link()
    assert web.get(f"/open/{code}").status == 410


@pytest.mark.parametrize("person", ["", "nobody", "project_manager", "<b>"])
def test_nobody_comes_in_who_is_not_registered(person: str, web: Web) -> None:
    code = web.access.new_link()
    assert web.post(f"/open/{code}", person=person).status == 400
    assert web.access.is_link(str(code))


def test_another_site_cannot_press_the_button(web: Web) -> None:
    code = web.access.new_link()
    assert web.post(f"/open/{code}", {"origin": "http://evil.test"}, person="user").status == 403
    assert web.access.is_link(str(code))


def test_of_several_people_none_is_chosen_silently(web: Web) -> None:
    web.call_at_terminal("agent register", id="ana", role="project_manager", parent="user", kind="human", by="user")
    code = web.access.new_link()
    page = web.get(f"/open/{code}").text
    assert re.findall(r"<option[^>]*>(\w+)</option>", page) == ["Choose", "ana", "user"]
    assert "selected" not in page
    web.post(f"/open/{code}", person="ana")
    assert '<span class="person">ana</span>' in web.get("/").text


def test_whoever_leaves_reads_only(web: Web) -> None:
    web.come_in()
    kept = dict(web.cookies)
    assert web.send("/", "/leave").status == 303
    assert "You can only read" in web.get("/").text
    web.cookies = kept
    assert "You have been signed out" in web.get("/").text
