"""Who is let in by a server: links that are used once, visits that end, tokens, and where a request comes from."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import inspect
import threading
from typing import Any

import httpx
import pytest
from fastapi import Depends, FastAPI
from starlette.requests import Request

from orchestrator.app.kernel import human
from orchestrator.doors.web import access, authentication, failures
from orchestrator.doors.web.access import Access

TOKEN = "a-token-of-scripts-123456"  # noqa: S105 - of these tests
PERSONS = human.TOKEN_MARK + "alice"


class TestALink:
    def test_is_used_once_by_one_of_fifty(self) -> None:
        door = Access(TOKEN)
        code = door.new_link()
        assert code is not None
        gate, won = threading.Barrier(50), []

        def use() -> None:
            gate.wait()
            if (found := door.use_link(code, "user")) is not None:
                won.append(found)

        threads = [threading.Thread(target=use) for _ in range(50)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        ((cookie, visit),) = won
        assert door.visit(cookie) == visit

    def test_is_not_used_up_by_looking(self) -> None:
        door = Access(TOKEN)
        code = str(door.new_link())
        assert [door.is_link(code), door.is_link(code), door.is_link("x")] == [True, True, False]
        assert door.use_link(code, "user") is not None
        assert (door.is_link(code), door.use_link(code, "user")) == (False, None)

    def test_ends_with_the_next(self) -> None:
        door = Access(TOKEN)
        old, new = str(door.new_link()), str(door.new_link())
        assert (door.use_link(old, "user"), door.is_link(new)) == (None, True)

    def test_is_none_where_no_person_may_come_in(self) -> None:
        door = Access(TOKEN, links=False)
        assert (door.new_link(), door.use_link("", "user"), door.is_link("")) == (None, None, False)

    @pytest.mark.parametrize("code", ["", "x", "\udcff", "é" * 1000, "\0"])
    def test_of_another_code_lets_nobody_in(self, code: str) -> None:
        door = Access(TOKEN)
        door.new_link()
        assert (door.is_link(code), door.use_link(code, "user")) == (False, None)


class TestAVisit:
    def test_ends_after_its_time(self, monkeypatch: pytest.MonkeyPatch) -> None:
        door = Access(TOKEN)
        found = door.use_link(str(door.new_link()), "user")
        assert found is not None
        cookie, visit = found
        for seconds, there in ((access.VISIT_S - 1, True), (access.VISIT_S, False), (0, False)):
            now = visit.until - access.VISIT_S + seconds
            monkeypatch.setattr(access.time, "monotonic", lambda now=now: now)
            assert (door.visit(cookie) is not None) == there

    def test_ends_when_it_is_left(self) -> None:
        door = Access(TOKEN)
        found = door.use_link(str(door.new_link()), "user")
        assert found is not None
        door.leave("another")
        assert door.visit(found[0]) is not None
        door.leave(found[0])
        assert door.visit(found[0]) is None

    @pytest.mark.parametrize("cookie", [None, "", "x", "\udcff"])
    def test_of_another_cookie_is_none(self, cookie: str | None) -> None:
        assert Access(TOKEN).visit(cookie) is None

    def test_speaks_for_its_person_through_the_page(self) -> None:
        door = Access(TOKEN)
        found = door.use_link(str(door.new_link()), "alice")
        assert found is not None
        assert found[1].caller == authentication.Caller("alice", human.Credential("page"), "a page of alice")


class TestATokenOfScripts:
    @pytest.mark.parametrize("given", ["", "x", TOKEN[:-1], TOKEN + "x", TOKEN.upper(), "\udcff", "é"])
    def test_is_the_server_s_own_alone(self, given: str) -> None:
        assert Access(TOKEN).script(given) is None
        assert Access(None).script(given) is None

    def test_proves_nobody(self) -> None:
        assert Access(TOKEN).script(TOKEN) == authentication.Caller(None, None, "the server's token")

    def test_is_no_person_s_whatever_it_looks_like(self) -> None:
        assert Access(TOKEN).script(PERSONS) is None
        proof = access.credential(PERSONS)
        assert proof == human.Credential(human.TOKEN, PERSONS)
        assert PERSONS not in repr(proof)
        assert access.credential(TOKEN) is None


def test_no_secret_is_kept_as_it_is() -> None:
    door = Access(TOKEN)
    code = str(door.new_link())
    found = door.use_link(str(door.new_link()), "user")
    assert found is not None
    kept = repr({name: value for name, value in vars(door).items() if name != "_lock"})
    for secret in (TOKEN, code, found[0]):
        assert secret not in kept


@pytest.mark.parametrize("function", [Access.is_link, Access.use_link, Access.script, access.is_form_token])
def test_secrets_are_compared_in_constant_time(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []

    def watched(one: Any, other: Any) -> bool:
        compared.append((one, other))
        return hmac.compare_digest(one, other)

    class Watched:
        compare_digest = staticmethod(watched)

    door = Access(TOKEN)
    door.new_link()
    monkeypatch.setattr(access, "hmac", Watched)
    if function is access.is_form_token:
        access.is_form_token(access.Visit("user", "token", 0.0), "other")
    else:
        function(door, "guess", *(["user"] if "person" in inspect.signature(function).parameters else []))
    assert len(compared) == 1


class Fake:
    """A service that knows one person's token."""

    def person(self, credential: human.Credential) -> str | None:
        return "alice" if credential.token == PERSONS else None


class Application:
    """Two endpoints that tell who calls, behind the same dependencies as the real ones."""

    def __init__(self, *, reading: bool = True) -> None:
        self.app = FastAPI()
        self.app.state.access, self.app.state.service = Access(TOKEN, reading=reading), Fake()

        @self.app.get("/api/x")
        def read(caller: authentication.Reading) -> list[str | None]:
            return [caller.person]

        @self.app.post("/api/x")
        def write(caller: authentication.Writing) -> list[str | None]:
            return [caller.person]

        @self.app.post("/api/fields")
        async def fields(found: dict[str, str] = Depends(authentication.fields)) -> dict[str, str]:  # noqa: B008
            return found

        failures.install(self.app, lambda request, status, code, message: failures.JSONResponse({}, status))
        found = self.app.state.access.use_link(self.app.state.access.new_link(), "alice")
        self.cookie, self.visit = found

    def call(self, method: str, path: str = "/api/x", **more: Any) -> httpx.Response:
        async def calling() -> httpx.Response:
            transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost:8765") as client:
                return await client.request(method, path, **more)

        return asyncio.run(calling())

    def write(self, csrf: str | None = None, cookie: str | None = None, **headers: str) -> tuple[int, Any]:
        given = {"Cookie": f"{access.COOKIE}_0={cookie or self.cookie}", **headers}
        if csrf is not None:
            given[authentication.CSRF_HEADER] = csrf
        answer = self.call("POST", headers={name.replace("_", "-"): value for name, value in given.items()})
        found = answer.json()
        return answer.status_code, found["error"] if isinstance(found, dict) else found


class TestWriting:
    def test_with_cookie_and_form_token_is_the_person_s(self) -> None:
        made = Application()
        assert made.write(made.visit.csrf) == (200, ["alice"])
        assert made.write(made.visit.csrf, Origin="http://localhost:8765", Sec_Fetch_Site="same-origin") == (
            200, ["alice"],
        )  # fmt: skip

    def test_by_a_form_carries_the_token_in_a_field(self) -> None:
        made = Application()
        cookie = {"Cookie": f"{access.COOKIE}_0={made.cookie}"}
        assert made.call("POST", data={"csrf": made.visit.csrf}, headers=cookie).json() == ["alice"]
        assert made.call("POST", data={"csrf": "x"}, headers=cookie).status_code == 403
        assert made.call("POST", json={"csrf": made.visit.csrf}, headers=cookie).status_code == 403

    @pytest.mark.parametrize("csrf", [None, "", "x", "x" * 10_000])
    def test_without_the_form_token_is_refused(self, csrf: str | None) -> None:
        assert Application().write(csrf) == (403, "CSRF_MISMATCH")

    def test_with_another_visit_s_form_token_is_refused(self) -> None:
        made = Application()
        other = made.app.state.access.use_link(made.app.state.access.new_link(), "bob")
        assert made.write(other[1].csrf) == (403, "CSRF_MISMATCH")

    @pytest.mark.parametrize(
        "headers",
        [
            {"Origin": "http://evil.example"},
            {"Origin": "http://localhost:8766"},
            {"Origin": "http://localhost"},
            {"Origin": "null"},
            {"Origin": ""},
            {"Origin": "http://[::1"},
            {"Origin": "http://localhost:8765.evil.example"},
            {"Origin": "http://localhost:8765@evil.example"},
            {"Sec_Fetch_Site": "cross-site"},
            {"Sec_Fetch_Site": "same-site"},
            {"Sec_Fetch_Site": ""},
        ],
        ids=str,
    )
    def test_from_another_place_is_refused(self, headers: dict[str, str]) -> None:
        made = Application()
        assert made.write(made.visit.csrf, **headers) == (403, "ORIGIN_MISMATCH")

    def test_with_a_cookie_that_is_none_is_refused(self) -> None:
        made = Application()
        assert made.write(made.visit.csrf, cookie="x") == (401, "UNAUTHENTICATED")

    @pytest.mark.parametrize(
        ("token", "found"),
        [
            (TOKEN, (200, [None])),
            (PERSONS, (200, ["alice"])),
            (PERSONS + "x", (401, "UNAUTHENTICATED")),
            ("x", (401, "UNAUTHENTICATED")),
        ],
    )
    def test_with_a_token_needs_no_form(self, token: str, found: tuple[int, Any]) -> None:
        """Also from another place: what a browser adds by itself is no token."""
        made = Application()
        assert made.write(cookie="x", Authorization=f"bearer {token}", Origin="http://evil.example") == found

    def test_with_a_wrong_token_is_refused_whatever_the_cookie(self) -> None:
        made = Application()
        assert made.write(made.visit.csrf, Authorization="Bearer x") == (401, "UNAUTHENTICATED")


class TestReading:
    def test_is_free_where_it_is_said_so(self) -> None:
        assert Application().call("GET").json() == [None]

    @pytest.mark.parametrize(
        ("headers", "found"),
        [
            ({}, 401),
            ({"Authorization": f"Bearer {TOKEN}"}, 200),
            ({"Authorization": f"Bearer {PERSONS}"}, 200),
            ({"Authorization": f"Bearer {PERSONS}x"}, 401),
            ({"Authorization": ""}, 401),
            ({"Cookie": f"{access.COOKIE}_0=x"}, 401),
            ({"Cookie": "right"}, 200),
        ],
        ids=str,
    )
    def test_needs_a_token_or_cookie_elsewhere(self, headers: dict[str, str], found: int) -> None:
        made = Application(reading=False)
        if headers.get("Cookie") == "right":
            headers = {"Cookie": f"{access.COOKIE}_0={made.cookie}"}
        assert made.call("GET", headers=headers).status_code == found


class TestFields:
    def test_are_read_by_their_names(self) -> None:
        answer = Application().call("POST", "/api/fields", content="a=2&b=&c=%C3%A9%FF", headers={
            "Content-Type": "application/x-www-form-urlencoded; charset=utf-8"})  # fmt: skip
        assert answer.json() == {"a": "2", "b": "", "c": "é\ufffd"}

    def test_are_none_of_another_type(self) -> None:
        assert Application().call("POST", "/api/fields", content="a=1").json() == {}

    @pytest.mark.parametrize(
        ("data", "code"),
        [
            pytest.param({f"f{n}": "x" for n in range(60)}, "BAD_REQUEST", id="too many"),
            pytest.param({"a": "x" * (authentication.MAX_TEXT + 1)}, "BAD_REQUEST", id="too long"),
            pytest.param({"a": "x\0"}, "INVALID_TEXT", id="NUL"),
            pytest.param({"a": ["1", "2"]}, "BAD_REQUEST", id="twice"),
        ],
    )
    def test_are_refused(self, data: dict[str, Any], code: str) -> None:
        answer = Application().call("POST", "/api/fields", data=data)
        assert (answer.status_code, answer.json()["error"]) == (400, code)


@pytest.mark.parametrize(("keys", "is_one"), [(0, True), (1, True), (2, False)])
def test_a_request_has_one_key_at_most(keys: int, is_one: bool) -> None:
    request = Request({"type": "http", "headers": [(b"idempotency-key", b"a")] * keys})
    refused = contextlib.nullcontext() if is_one else pytest.raises(failures.Denied, match="more than one")
    with refused:
        assert asyncio.run(authentication.idempotency_key(request, "a" if keys else None)) == ("a" if keys else None)


def test_a_request_without_a_service_is_none_of_ours() -> None:
    """The dependencies read the application's state alone."""
    made = Application()
    request = Request({"type": "http", "app": made.app, "headers": [], "method": "GET", "path": "/"})
    assert (authentication.access(request), authentication.service(request)) == (
        made.app.state.access,
        made.app.state.service,
    )
