"""The HTTP interface under inputs that nobody meant: made from its own description, and by hand.

Never a fault of the server, always a documented answer, nothing of its inside in it, and no row changed by a refusal.
"""

from __future__ import annotations

import gzip
import json
import re
import socket
from collections.abc import Iterator
from typing import Any

import httpx
import hypothesis
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase
from schemathesis.checks import CHECKS, load_all_checks

from tests.acceptance.webhouse import STEPS, Server, WebHouse

EXAMPLES = 50
INSIDE = re.compile(r"Traceback|\.py\b|sqlite|SELECT |orchestrator_write|/tmp/|/home/|/root/", re.IGNORECASE)

load_all_checks()
WANTED = [
    CHECKS.get_one(name)
    for name in ("not_a_server_error", "status_code_conformance", "content_type_conformance",
                 "response_schema_conformance", "response_headers_conformance", "unsupported_method")
]  # fmt: skip


@pytest.fixture(scope="module")
def world(shared: WebHouse) -> dict[str, Any]:
    """A server whose database holds some of everything, and ids of it."""
    server = shared.serve(steps=STEPS)
    project = server.project(shared.folder(), "alias")
    done = server.until(server.chat(project, "explain it", "S1")["task_id"])["task_id"]
    asks = server.until(server.chat(project, "ask for a colour", "S1")["task_id"], "AWAITING_RESPONSE")["task_id"]
    return {"server": server, "ids": {"project": project, "group": "S1", "session": "S1", "id": (done, asks)}}


@pytest.fixture(scope="module")
def operations(world: dict[str, Any]) -> Iterator[Any]:
    """The documented operations but the stream, which never ends."""
    server: Server = world["server"]
    described = server.open.get("/api/openapi.json").json()
    described["paths"].pop("/api/events")
    schema = schemathesis.openapi.from_dict(described)
    schema.config.base_url = server.url
    return [found.ok() for found in schema.get_all_operations()]


def events(web: WebHouse) -> int:
    """How many steps there are but the refused, which are recorded, and the loop's own."""
    return int(web.rows("SELECT count(*) FROM audit_events WHERE kind <> 'refusal' AND kind NOT LIKE 'run %'")[0][0])


def check(answer: httpx.Response, web: WebHouse, before: int) -> None:
    """What holds of every refusal."""
    if answer.status_code < 400:
        return
    found = answer.json()
    assert sorted(found) == ["error", "message"]
    assert not INSIDE.search(answer.text), answer.text
    assert len(answer.text) < 2000
    assert events(web) == before, found


def test_every_documented_operation_keeps_its_word(
    operations: list[Any], world: dict[str, Any], shared: WebHouse
) -> None:
    server: Server = world["server"]
    token = {"Authorization": f"Bearer {server.token}"}
    assert len(operations) == 17
    for operation in operations:
        for mode in (schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE):
            _play(operation, mode, world["ids"], token, shared)
    assert server.open.get("/api/health").json() == {"status": "ok"}
    assert "Traceback" not in server.errors


def _play(
    operation: Any, mode: Any, ids: dict[str, Any], token: dict[str, str], web: WebHouse
) -> None:
    strategy = operation.as_strategy(generation_mode=mode)

    @hypothesis.settings(
        max_examples=EXAMPLES // 2, deadline=None, derandomize=True, database=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @hypothesis.given(case=strategy, known=hypothesis.strategies.booleans(), at=hypothesis.strategies.integers(0, 1))
    def play(case: Any, known: bool, at: int) -> None:
        if known:
            # What is there, so that more than the look-up of an id is reached.
            for name, value in ids.items():
                if name in (case.path_parameters or {}):
                    case.path_parameters[name] = value if isinstance(value, str) else value[at]
        before = events(web)
        answer = case.call(headers={**(case.headers or {}), **token}, timeout=20)
        assert answer.status_code < 500, answer.text
        case.validate_response(answer, checks=WANTED)
        if answer.status_code >= 400 and answer.content and case.method != "HEAD":
            assert not INSIDE.search(answer.text), answer.text
            assert events(web) == before, answer.text

    try:
        play()
    except hypothesis.errors.Unsatisfiable:
        # Some operations take nothing that could be wrong.
        assert mode is schemathesis.GenerationMode.NEGATIVE


DEEP = "[" * 100_000
HOSTILE: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "application/json"),
    "deep lists": (DEEP.encode(), "application/json"),
    "deep objects": (b'{"a":' * 50_000, "application/json"),
    "a key twice": (b'{"content": "explain it", "content": "  "}', "application/json"),
    "NaN": (b'{"content": NaN}', "application/json"),
    "infinity as a key's value": (b'{"content": "x", "session_id": Infinity}', "application/json"),
    "a huge number": (b'{"content": ' + b"9" * 10_000 + b"}", "application/json"),
    "no UTF-8": (b'{"content": "\xff\xfe"}', "application/json"),
    "a half of a pair": (b'{"content": "\\ud800"}', "application/json"),
    "a half of a pair in the session": (b'{"content": "x", "session_id": "\\udfff"}', "application/json"),
    "a NUL in the session": (b'{"content": "x", "session_id": "a\\u0000"}', "application/json"),
    "an open string": (b'{"content": "x', "application/json"),
    "two documents": (b'{"content": "x"} {"content": "y"}', "application/json"),
    "a form": (b"content=x", "application/x-www-form-urlencoded"),
    "many parts": (b"--b\r\n\r\nx\r\n--b--", "multipart/form-data; boundary=b"),
    "plain text": (b'{"content": 5}', "text/plain"),
    "JSON under no name": (b'{"content": 5}', ""),
    "proto": (b'{"content": "x", "__proto__": {"a": 1}}', "application/json"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_body_that_is_none_is_refused(name: str, world: dict[str, Any], shared: WebHouse) -> None:
    server: Server = world["server"]
    body, kind = HOSTILE[name]
    before = events(shared)
    headers = {"Content-Type": kind} if kind else {}
    answer = server.scripts.post(f"/api/projects/{world['ids']['project']}/chat", content=body, headers=headers)
    assert answer.status_code == 400, answer.text
    check(answer, shared, before)


@pytest.mark.parametrize("name", ["gzip", "deflate", "br"])
def test_a_packed_body_is_not_unpacked(name: str, world: dict[str, Any], shared: WebHouse) -> None:
    """Ten megabytes in ten kilobytes stay ten kilobytes of something that is no JSON."""
    server: Server = world["server"]
    packed = gzip.compress(b'{"content": "' + b"x" * 10_000_000 + b'"}')
    before = events(shared)
    headers = {"Content-Type": "application/json", "Content-Encoding": name}
    answer = server.scripts.post(f"/api/projects/{world['ids']['project']}/chat", content=packed, headers=headers)
    assert answer.status_code == 400
    check(answer, shared, before)


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize("path", ["projects", "tasks/task-1/reply", "tasks/task-1/retry", "nothing", "sessions"])
def test_a_body_of_two_megabytes_is_refused(
    path: str, chunked: bool, world: dict[str, Any], shared: WebHouse
) -> None:
    server: Server = world["server"]
    before = events(shared)
    body: Any = (b"x" * 65_536 for _ in range(32)) if chunked else b"x" * 2_097_152
    answer = server.scripts.post(f"/api/{path}", content=body, headers={"Content-Type": "application/json"})
    # What is not read at all need not be measured.
    assert answer.status_code in ((413, 404, 405) if chunked else (413,))
    if path in ("projects", "tasks/task-1/reply"):
        assert (answer.status_code, answer.json()["error"]) == (413, "TOO_LARGE")
    check(answer, shared, before)


@pytest.mark.parametrize(
    "id",
    ["x" * 6000, "%2F", "..", "..%2F..%2Fetc%2Fpasswd", "%00", "%0d%0aSet-Cookie:%20a=b", "%F0%9F%98%80", "%FF%FE",
     "%ED%A0%80", "'%20OR%201=1--", "%25%25", "S1%20", "{{7*7}}", "<script>", "task-1795857336196/..", "*", "S1;x=y"],
)  # fmt: skip
@pytest.mark.parametrize("path", ["tasks/{}", "sessions/{}", "sessions/{}/status", "task-groups/{}/tasks"])
def test_an_id_that_is_none_is_not_found(id: str, path: str, world: dict[str, Any], shared: WebHouse) -> None:
    server: Server = world["server"]
    before = events(shared)
    target = f"/api/{path.format(id)}"
    answer = raw(server, f"GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
    status = int(answer.split(b" ", 2)[1])
    assert status in (400, 404)
    assert b"set-cookie" not in answer.lower().partition(b"\r\n\r\n")[0]
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]
    assert not INSIDE.search(answer.decode("latin-1"))
    assert events(shared) == before


@pytest.mark.parametrize("query", ["session_id=%00", "session_id=%FF", "session_id=" + "x" * 5000, "limit=%31%30x",
                                   "since='", "limit=1&limit=x", "session_id=a%0d%0ab"])
def test_a_query_that_is_none_is_refused_or_finds_nothing(query: str, world: dict[str, Any]) -> None:
    server: Server = world["server"]
    for path in ("inbox", "workflow/graph", "sessions/S1/decisions"):
        answer = server.open.get(f"/api/{path}?{query}")
        assert answer.status_code in (200, 400, 404), answer.text
        assert not INSIDE.search(answer.text)


@pytest.mark.parametrize(
    "request_",
    [
        pytest.param(b"GET /api/health HTTP/1.1\r\nHost: localhost\r\nX: " + b"y" * 200_000, id="a long header"),
        pytest.param(b"GET /api/health HTTP/1.1\r\n\r\n", id="no host"),
        pytest.param(b"GET /api/health HTTP/1.1\r\nHost: localhost\r\nHost: evil\r\n\r\n", id="two hosts"),
        pytest.param(b"GET http://evil/api/health HTTP/1.1\r\nHost: evil\r\n\r\n", id="an absolute target"),
        pytest.param(b"POST /api/projects HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n", id="length -5"),
        pytest.param(b"POST /api/projects HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n"
                     b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", id="two lengths"),
        pytest.param(b"POST /api/projects HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999\r\n\r\n",
                     id="a huge length"),
        pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", id="TLS"),
        pytest.param(b"GET /api/health HTTP/9.9\r\nHost: localhost\r\n\r\n", id="another version"),
        pytest.param(b"NONSENSE\r\n\r\n", id="nonsense"),
    ],
)  # fmt: skip
def test_a_request_that_is_none_is_refused_and_the_server_goes_on(
    request_: bytes, world: dict[str, Any], shared: WebHouse
) -> None:
    server: Server = world["server"]
    before = events(shared)
    answer = raw(server, request_)
    assert answer == b"" or answer.split(b" ", 2)[1][:1] in (b"4", b"5") or b"200 OK" in answer
    assert b" 500 " not in answer.splitlines()[0] if answer else True
    assert server.open.get("/api/health").status_code == 200
    assert events(shared) == before


def raw(server: Server, request: bytes) -> bytes:
    """Send bytes; what comes back until the other side closes, or for a second."""
    found = b""
    with socket.create_connection(("127.0.0.1", server.port), timeout=1) as connection:
        try:
            connection.sendall(request)
            while data := connection.recv(65_536):
                found += data
        except (TimeoutError, ConnectionError):
            pass
    return found
