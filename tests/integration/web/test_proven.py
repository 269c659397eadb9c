"""Coming in where a passphrase or an SSH key is enrolled: the page of the link asks for it."""

from __future__ import annotations

import html
import pathlib
import re
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the pages need the extra `web`")

from orchestrator.app.kernel import credentials
from orchestrator.app.kernel.human import TOKEN, Credential
from orchestrator.app.people import person_proof
from orchestrator.runner.surroundings import Surroundings
from tests import persons
from tests.integration.web import story
from tests.integration.web.asgi import Web
from tests.integration.web.conftest import Make

SECRET = "correct horse battery"  # noqa: S105 - a passphrase of the test


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(credentials, "COST", 16)


def enrol(web: Web, **kind: Any) -> str:
    with persons.seated(web._context, secrets=[SECRET, SECRET]):
        return str(web.call("human enrol", by="user", **kind)["enrolment"]["id"])


def link(web: Web, *secrets: str) -> str:
    """The path of a link that `human link` makes."""
    with persons.seated(web._context, secrets=secrets):
        return "/open/" + str(web.call("human link", by="user")["url"]).rpartition("/")[2]


def answer(web: Web) -> int:
    """Answer what is asked, on the page; the status."""
    (question,) = web.call("inbox")["questions"]
    place = f"/questions/{question['id']}"
    return web.send(place, place, decision="continue", note="the first").status


def test_a_passphrase_is_asked_for_and_needed(web: Web) -> None:
    enrol(web, passphrase=True)
    path = f"/open/{web.access.new_link()}"
    assert 'name="passphrase" type="password"' in web.get(path).text
    for typed in ({}, {"passphrase": ""}, {"passphrase": "wrong one"}):
        refused = web.post(path, person="user", **typed)
        assert (refused.status, web.cookies) == (401, {})
        assert "the passphrase is wrong. The link still works." in refused.text
        assert "wrong one" not in refused.text
    assert web.post(path, person="user", passphrase=SECRET).status == 303
    story.clarification(web)
    assert answer(web) == 303
    assert web.rows("SELECT channel FROM questions") == [("page",)]
    (kept,) = web.rows("SELECT json_extract(input, '$.person.proof') FROM audit_events WHERE kind = 'answer'")
    assert kept == ("strong",)
    files = b"".join(each.read_bytes() for each in web.database.parent.glob("orchestrator.db*"))
    assert SECRET.encode() not in files


def test_an_older_visit_proves_nobody_from_then_on(web: Web) -> None:
    web.come_in()
    story.clarification(web)
    enrol(web, passphrase=True)
    assert answer(web) == 403
    assert web.rows("SELECT closed_at FROM questions") == [(None,)]


def test_a_token_as_a_bearer_proves_nobody_from_then_on(web: Web) -> None:
    with persons.seated(web._context):
        token = web.call("human enrol", by="user")["token"]
    assert web.service.person(Credential(TOKEN, token)) == "user"
    person_proof.by_token(web._context, token)
    web._context.surroundings = persons.Played(secrets=[SECRET, SECRET])
    web.call("human enrol", by="user", passphrase=True)
    assert web.service.person(Credential(TOKEN, token)) is None
    assert web._ask("GET", "/api/inbox", b"", {"authorization": f"Bearer {token}"}).status == 401


def test_a_signature_of_what_is_shown_is_taken_once(web: Web, tmp_path: pathlib.Path) -> None:
    key = persons.key(tmp_path)
    enrol(web, ssh_key=str(key))
    path = f"/open/{web.access.new_link()}"
    page = web.get(path).text
    assert 'name="passphrase"' not in page
    shown = re.search(r"printf &#39;%s\\n&#39; &#39;(.*?)&#39; \| ssh-keygen -Y sign -n (\S+) ", page) or re.search(
        r"printf '%s\\n' '(.*?)' \| ssh-keygen -Y sign -n (\S+) ", page
    )
    assert shown is not None, page
    text = html.unescape(shown[1])
    assert shown[2] == person_proof.NAMESPACE
    signed = Surroundings().sign(key.read_text(), str(key), f"{text}\n", shown[2])
    other = persons.key(tmp_path, "other")
    forged = Surroundings().sign(other.read_text(), str(other), f"{text}\n", shown[2])
    assert web.post(path, person="user", signature=str(forged)).status == 401
    # A challenge is good for one try.
    assert web.post(path, person="user", signature=str(signed)).status == 401
    again = re.search(r"orchestrator: open a page of the server; [0-9a-f]+", web.get(path).text)
    assert again is not None
    assert again[0] != text
    signed = Surroundings().sign(key.read_text(), str(key), f"{again[0]}\n", shown[2])
    assert web.post(path, person="user", signature=str(signed)).status == 303
    story.clarification(web)
    assert answer(web) == 303


def test_a_link_that_was_made_with_the_proof_asks_for_nothing_more(web: Web) -> None:
    enrol(web, passphrase=True)
    path = link(web, SECRET)
    assert 'name="passphrase"' not in web.get(path).text
    assert web.post(path, person="user").status == 303
    assert (web.get(path).status, web.post(path, person="user").status) == (410, 410)
    story.clarification(web)
    assert answer(web) == 303


def test_a_link_that_was_made_without_asks_for_it(web: Web) -> None:
    path = link(web)
    enrol(web, passphrase=True)
    assert web.post(path, person="user").status == 401
    assert web.post(path, person="user", passphrase=SECRET).status == 303


def test_a_link_works_where_the_server_has_none_of_its_own(make: Make) -> None:
    web = make(links=False)
    path = link(web)
    assert [web.get(path).status for _ in range(2)] == [200, 200]
    assert web.post(path, {"origin": "http://evil.test"}, person="user").status == 403
    assert web.post(path, person="user").status == 303
    story.clarification(web)
    assert answer(web) == 303
    (kept,) = web.rows("SELECT json_extract(input, '$.person.proof') FROM audit_events WHERE kind = 'answer'")
    assert kept == ("weak",)


def test_a_link_lets_in_whom_it_was_made_for(web: Web) -> None:
    web.call_at_terminal("agent register", id="ana", role="project_manager", parent="user", kind="human", by="user")
    path = link(web)
    assert "<option" not in web.get(path).text
    assert web.post(path, person="ana").status == 403
    enrol(web, passphrase=True)
    own = f"/open/{web.access.new_link()}"
    refused = web.post(own, person="ana", passphrase=SECRET)
    assert (refused.status, "has no passphrase or SSH key" in refused.text) == (401, True)


@pytest.mark.parametrize("code", ["x", "'", "%27 OR 1=1", "é"])
def test_what_was_never_a_link_is_not_found(web: Web, code: str) -> None:
    assert web.get(f"/open/{code}").status == 404
