"""The HTTP interface under inputs that nobody meant: made from its own description, and by hand.

Never a fault of the server, always a documented answer, nothing of its inside in it, and no row changed by a refusal.
"""

from __future__ import annotations

import collections
import gzip
import itertools
import json
import re
import socket
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlencode

import httpx
import hypothesis
import pytest
from hypothesis import HealthCheck, Phase
from hypothesis import strategies as st

from tests.acceptance.webhouse import STEPS, Server, WebHouse
from tests.conftest import LONG

EXAMPLES = 50 if LONG else 4
KEYS = ("sk-ant-api03-" + "a1B2" * 20, "ghp_" + "a1B2c3" * 6, "hunter2hunter2")
SAID = (f"the key is {KEYS[0]}", f"token {KEYS[1]}", f"password: {KEYS[2]}", KEYS[0])
"""What holds a secret, as a caller may send it by mistake."""
INSIDE = re.compile(r"Traceback|\.py\b|sqlite|SELECT |orchestrator_write|/tmp/|/dev/|/home/|/root/", re.IGNORECASE)

WANTED = (
    "not_a_server_error", "status_code_conformance", "content_type_conformance", "response_schema_conformance",
    "response_headers_conformance", "unsupported_method",
)  # fmt: skip
"""What each answer is checked for. Schemathesis takes a second to load, so that only the tests which use it do so."""


@pytest.fixture(scope="module")
def world(shared: WebHouse) -> Iterator[dict[str, Any]]:
    """A server whose database holds some of everything, and ids of it."""
    server = shared.serve(steps=STEPS)
    project = server.project(shared.folder(), "alias")
    done = server.until(server.chat(project, "explain it", "S1")["task_id"])["task_id"]
    asks = server.until(server.chat(project, "ask for a colour", "S1")["task_id"], "AWAITING_RESPONSE")["task_id"]
    with shared.reading():
        yield {"server": server, "ids": {"project": project, "group": "S1", "session": "S1", "id": (done, asks)}}


@pytest.fixture(scope="module")
def operations(world: dict[str, Any]) -> Iterator[Any]:
    """The documented operations but the stream, which never ends."""
    import schemathesis

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
    _check_text(answer.text)
    assert len(answer.text) < 2000
    assert events(web) == before, found


def _check_text(text: str) -> None:
    """Nothing of the inside of the server, and no key that was sent."""
    assert not INSIDE.search(text), text
    assert not any(key in text for key in KEYS), text


def test_every_documented_operation_keeps_its_word(
    operations: list[Any], world: dict[str, Any], shared: WebHouse
) -> None:
    server: Server = world["server"]
    token = {"Authorization": f"Bearer {server.token}"}
    assert len(operations) == 22
    for operation in operations:
        for positive in (True, False):
            _play(operation, positive, world["ids"], token, shared)
    assert server.open.get("/api/health").json() == {"status": "ok"}
    assert "Traceback" not in server.errors


def _play(
    operation: Any, positive: bool, ids: dict[str, Any], token: dict[str, str], web: WebHouse
) -> None:
    from schemathesis import GenerationMode, checks

    checks.load_all_checks()
    wanted = [checks.CHECKS.get_one(name) for name in WANTED]
    mode = GenerationMode.POSITIVE if positive else GenerationMode.NEGATIVE
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
        case.validate_response(answer, checks=wanted)
        if answer.status_code >= 400 and answer.content and case.method != "HEAD":
            _check_text(answer.text)
            assert events(web) == before, answer.text

    try:
        play()
    except hypothesis.errors.Unsatisfiable:
        # Some operations take nothing that could be wrong.
        assert not positive


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


# --- the stream

STREAM: dict[str, tuple[str, dict[str, str], int]] = {
    "nothing": ("", {}, 200),
    "a number": ("after=0", {}, 200),
    "the largest": (f"after={2**53}", {}, 200),
    "a later one wins": ("after=0", {"Last-Event-ID": "3"}, 200),
    "an empty last number": ("", {"Last-Event-ID": ""}, 200),
    "an unknown session": ("session_id=nowhere", {}, 404),
    "an unknown parameter": ("more=1", {}, 400),
    "no number": ("after=x", {}, 400),
    "less than nothing": ("after=-1", {}, 400),
    "more than all": (f"after={2**53 + 1}", {}, 400),
    "a fraction": ("after=1.5", {}, 400),
    "a thousand digits": ("after=" + "9" * 1000, {}, 400),
    "twice": ("after=0&after=x", {}, 400),
    "a NUL": ("after=%00", {}, 400),
    "other digits": ("after=%D9%A3", {}, 400),
    "a long session": ("session_id=" + "x" * 129, {}, 400),
    "an odd session": ("session_id=%00%FF%0d%0a", {}, 404),
    "a last number that is none": ("", {"Last-Event-ID": "1 or 1=1"}, 200),
    "a key as the last number": ("", {"Last-Event-ID": KEYS[0]}, 200),
    "a key as a number": (f"after={KEYS[0]}", {}, 400),
    "no token": ("", {"Authorization": "Bearer nonsense"}, 401),
}


@pytest.mark.parametrize("name", STREAM)
def test_the_stream_begins_or_is_refused(name: str, world: dict[str, Any], shared: WebHouse) -> None:
    server: Server = world["server"]
    query, headers, status = STREAM[name]
    before = events(shared)
    with server.open.stream("GET", f"/api/events?{query}", headers=headers, timeout=10) as answer:
        assert answer.status_code == status
        if status == 200:
            assert answer.headers["content-type"].startswith("text/event-stream")
            assert next(answer.iter_lines()) == ": begins"
            return
        answer.read()
        check(answer, shared, before)


@hypothesis.settings(max_examples=EXAMPLES, deadline=None, derandomize=True, database=None, phases=[Phase.generate],
                     suppress_health_check=list(HealthCheck))  # fmt: skip
@hypothesis.given(
    names=st.lists(st.sampled_from(["after", "session_id", "since", "limit"]), max_size=3),
    values=st.lists(st.text(max_size=20) | st.integers().map(str), min_size=3, max_size=3),
    last=st.none() | st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=20),
)
def test_whatever_the_stream_is_asked_it_keeps_its_word(
    names: list[str], values: list[str], last: str | None, world: dict[str, Any], shared: WebHouse
) -> None:
    server: Server = world["server"]
    before = events(shared)
    headers = {} if last is None else {"Last-Event-ID": last}
    query = urlencode(list(zip(names, values, strict=False)), errors="surrogatepass")
    with server.open.stream("GET", f"/api/events?{query}", headers=headers, timeout=10) as answer:
        assert answer.status_code in (200, 400, 404), answer.status_code
        if answer.status_code != 200:
            answer.read()
            check(answer, shared, before)


# --- what only a person does

PERSONAL = ("reply", "retry", "cancel")
TEXTS = st.text(max_size=40) | st.sampled_from([*SAID, "yes", "no", "\u200b", " ", "\0", "\ud800", "x" * 5000])
REPLIES = st.just({"reply": "blue"}) | st.fixed_dictionaries(
    {},
    optional={
        "reply": TEXTS | st.none() | st.integers() | st.lists(TEXTS, max_size=2),
        "choice": st.sampled_from(["yes", "no", "maybe", None, 1, True]),
        "question_id": TEXTS | st.none(),
        "more": TEXTS,
    },
)


@pytest.fixture(scope="module")
def person(world: dict[str, Any], shared: WebHouse) -> httpx.Client:
    """A person who was enrolled."""
    server: Server = world["server"]
    return server.client(shared.person())


@pytest.fixture(scope="module")
def runs(world: dict[str, Any]) -> dict[str, str]:
    """Runs in the states in which a person acts, kept so by making another of its kind where one was used up."""
    return {"awaiting": world["ids"]["id"][1], "done": world["ids"]["id"][0]}


def _fresh(server: Server, project: str, kind: str, runs: dict[str, str], number: int) -> str:
    """A run that awaits or failed."""
    wanted = {"awaiting": ("ask for a colour", "AWAITING_RESPONSE"), "failed": ("fail at it", "ERROR")}[kind]
    if kind not in runs or server.task(runs[kind])["status"] != wanted[1]:
        id = server.chat(project, wanted[0], f"{kind}-{number}")["task_id"]
        runs[kind] = server.until(id, wanted[1], "COMPLETE", "ERROR", "INCOMPLETE")["task_id"]
        assert server.task(runs[kind])["status"] == wanted[1], server.task(runs[kind])
    return runs[kind]


def test_what_a_person_does_is_done_or_refused_whatever_is_sent(
    world: dict[str, Any], shared: WebHouse, person: httpx.Client, runs: dict[str, str]
) -> None:
    """Replies, retries and cancellations in a world in which each of them can be done."""
    server: Server = world["server"]
    project = world["ids"]["project"]
    done: collections.Counter[tuple[str, int]] = collections.Counter()
    numbers = itertools.count()

    @hypothesis.settings(
        max_examples=150 if LONG else 30, deadline=None, derandomize=True, database=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @hypothesis.given(act=st.sampled_from(PERSONAL), kind=st.sampled_from(["awaiting", "failed", "done"]),
                      asked=st.booleans(), body=REPLIES)  # fmt: skip
    def play(act: str, kind: str, asked: bool, body: dict[str, Any]) -> None:
        id = runs["done"] if kind == "done" else _fresh(server, project, kind, runs, next(numbers))
        if asked and kind == "awaiting":
            body = {**body, "question_id": server.task(id)["question"]["id"]}
        was, before, recorded = server.task(id)["status"], events(shared), steps()
        content = json.dumps(body).encode() if act == "reply" else b""
        answer = person.post(f"/api/tasks/{id}/{act}", content=content, headers={"Content-Type": "application/json"})
        assert answer.status_code in (200, 400, 409), answer.text
        done[act, answer.status_code] += 1
        check(answer, shared, before)
        if answer.status_code == 200:
            found = answer.json()
            assert found["old_status"] == was
            assert found["new_status"] == ("CANCELLED" if act == "cancel" else "QUEUED")
            assert steps() > recorded

    def steps() -> int:
        return int(shared.rows("SELECT count(*) FROM audit_events")[0][0])

    play()
    assert {(act, status) for act in PERSONAL for status in (200, 409)} <= set(done), done
    assert done["reply", 400]


@pytest.mark.parametrize("said", SAID)
@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("projects", {"project_path": "/nowhere/{}"}),
        ("projects", {"project_path": "{}"}),
        ("projects", {"project_path": "/nowhere", "alias": "{}"}),
        ("projects", {"project_path": "/nowhere", "{}": "x"}),
        ("projects/P0/chat", {"content": "x", "session_id": "{}"}),
        ("projects/P0/chat", {"content": "x", "{}": 1}),
        ("projects/{}/chat", {"content": "x"}),
        ("tasks/{}/reply", {"reply": "x"}),
        ("tasks/{}/cancel", {}),
        ("tasks/task-1/reply", {"reply": "x", "choice": "{}"}),
        ("tasks/task-1/reply", {"reply": "x", "question_id": "{}"}),
        ("tasks/{awaiting}/reply", {"reply": "x", "question_id": "{}"}),
    ],
)
def test_no_key_that_was_sent_comes_back(
    path: str, body: dict[str, Any], said: str, world: dict[str, Any], shared: WebHouse, runs: dict[str, str],
    person: httpx.Client,
) -> None:
    server: Server = world["server"]
    awaiting = _fresh(server, world["ids"]["project"], "awaiting", runs, 10_000)
    place = path.replace("{awaiting}", awaiting).replace("{}", quote(said, safe=""))
    before = events(shared)
    sent = {key.replace("{}", said): str(value).replace("{}", said) for key, value in body.items()}
    answer = person.post(f"/api/{place}", json=sent)
    assert 400 <= answer.status_code < 500, answer.text
    check(answer, shared, before)
