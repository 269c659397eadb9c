"""Endpoints that write what the command line can, made of the declarations; and the key that makes each safe to repeat.

Source: spec of the interfaces: HTTP and reply page.
"""

from __future__ import annotations

import concurrent.futures
import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the interface needs the extra `web`")

from pydantic import TypeAdapter

from orchestrator.app import answers
from orchestrator.app.kernel import operations
from orchestrator.doors.web import api_endpoints
from tests.integration.web.asgi import TOKEN, Page, Web
from tests.integration.web.conftest import Make

Body = Mapping[str, Any] | bytes | None
OPERATIONS = [each for each in api_endpoints.WRITING if each.request.words]
"""Endpoints of what the command line has as well."""


def send(
    web: Web, path: str, body: Body = None, key: str | None = None, token: str | None = TOKEN, **more: str
) -> Page:
    headers = {"content-type": "application/json", **more}
    headers |= {"authorization": f"Bearer {token}"} if token else {}
    headers |= {"idempotency-key": key} if key is not None else {}
    text = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    return web._ask("POST", f"/api/{path}", text, headers)


def told(page: Page) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(page.text)
    return found


def refusal(page: Page) -> tuple[int, str]:
    found = told(page)
    assert sorted(found) == ["error", "message"], found
    return page.status, found["error"]


def person(web: Web) -> str:
    """A person's token."""
    return str(web.call_at_terminal("human enrol", agent="user", by="user")["token"])


def done(web: Web, path: str, body: Body = None, **more: Any) -> dict[str, Any]:
    page = send(web, path, body, **more)
    assert page.status in (200, 201), page.text
    return told(page)


@pytest.fixture
def begun(web: Web) -> Web:
    """A session S1 with a planned group A, by HTTP alone."""
    done(web, "sessions", {"id": "S1", "goal": "ship it"})
    done(web, "sessions/S1/groups", {"id": "A", "name": "Login"})
    done(web, "sessions/S1/reports", {"current_agent": "project_manager", "status": "PLANNING_COMPLETE"})
    return web


def asking(web: Web) -> str:
    """A question that the session asks a person."""
    clarify = {"current_agent": "project_manager", "status": "NEEDS_CLARIFICATION", "summary": "which colour?"}
    done(web, "sessions/S1/reports", clarify)
    ((found,),) = web.rows("SELECT id FROM questions WHERE closed_seq IS NULL")
    return str(found)


# What each answers


def test_each_does_what_the_command_line_can_with_its_json(begun: Web) -> None:
    found = {
        "session create": done(begun, "sessions", {"id": "S2", "disabled_roles": ["investigator"]}),
        "group create": done(begun, "sessions/S1/groups", {"id": "B", "depends_on": ["A"], "security_sensitive": True}),
        "route": done(begun, "sessions/S1/reports", {
            "current_agent": "developer", "status": "READY_FOR_QA", "group_id": "A", "details": {"part": 0.5}}),
        "validate": done(begun, "sessions/S1/validate"),
    }  # fmt: skip
    question = asking(begun)
    found["answer"] = done(begun, f"questions/{question}/answer", {"decision": "continue", "note": "blue"},
                           token=person(begun))  # fmt: skip
    assert set(found) == {each.request.words for each in OPERATIONS}
    for words, answer in found.items():
        (name,) = operations.find(words).answer
        shape = answers.shape(name)
        TypeAdapter(shape).validate_python({**answer, "schema": 1, "db": None, "warnings": answer.get("warnings", [])})
    assert found["route"]["next_agent"] == "qa_expert"
    assert (found["answer"]["question_id"], found["answer"]["proof"]) == (question, "possession")
    assert begun.call("audit replay", session_id="S1")["equal"]
    assert begun.call("audit verify", session_id="S1")["ok"]


def test_each_is_described_as_it_is_declared(web: Web) -> None:
    found = json.loads(web.get("/api/openapi.json").text)
    for each in OPERATIONS:
        operation = found["paths"][f"/api{each.path}"]["post"]
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        assert set(schema["properties"]) == set(each.request.parameters()) - {"request_id", *each.places.values()}
        assert "Idempotency-Key" in [parameter["name"] for parameter in operation["parameters"]]
        told_of = json.dumps(operation["responses"][str(each.status)])
        assert all(name in found["components"]["schemas"] for name in _referred(told_of))
    posts = [path["post"] for path in found["paths"].values() if "post" in path]
    assert all("Idempotency-Key" in json.dumps(post["parameters"]) for post in posts)


def test_no_endpoint_is_written_beside_the_declarations(web: Web) -> None:
    paths = json.loads(web.get("/api/openapi.json").text)["paths"]
    made = {("get", f"/api{each.path}") for each in api_endpoints.READING}
    made |= {("post", f"/api{each.path}") for each in api_endpoints.WRITING}
    own = {("get", "/api/health"), ("get", "/api/events")}
    assert {(method, path) for path in paths for method in paths[path]} == made | own


def _referred(text: str) -> list[str]:
    return [part.partition('"')[0] for part in text.split("#/components/schemas/")[1:]]


# Bad input

ROUTE = {"current_agent": "developer", "status": "READY_FOR_QA", "group_id": "A"}
PASSED = {"current_agent": "qa_expert", "status": "PASS"}
BAD: dict[str, tuple[str, Body, tuple[int, str]]] = {
    "nothing": ("sessions", None, (400, "USAGE")),
    "a list": ("sessions", b"[]", (400, "BAD_REQUEST")),
    "null": ("sessions", b"null", (400, "BAD_REQUEST")),
    "cut off": ("sessions", b'{"id": "S2"', (400, "BAD_REQUEST")),
    "a key twice": ("sessions", b'{"id": "S2", "id": "S3"}', (400, "BAD_REQUEST")),
    "NaN": ("sessions/S1/reports", b'{"current_agent": "a", "details": {"x": NaN}}', (400, "BAD_REQUEST")),
    "a huge exponent": ("sessions", b'{"id": "S2", "turn_timeout": 1e999}', (400, "BAD_REQUEST")),
    "half a pair": ("sessions", b'{"id": "S2", "goal": "\\ud800"}', (400, "INVALID_TEXT")),
    "NUL": ("sessions", b'{"id": "S2", "goal": "a\\u0000"}', (400, "INVALID_TEXT")),
    "UTF-16": ("sessions", '{"id": "S2"}'.encode("utf-16"), (400, "BAD_REQUEST")),
    "no id": ("sessions", {"id": "../x"}, (400, "INVALID_ID")),
    "a long id": ("sessions", {"id": "x" * 129}, (400, "INVALID_ID")),
    "an unknown key": ("sessions", {"id": "S2", "colour": "blue"}, (400, "USAGE")),
    "a number for a text": ("sessions", {"id": "S2", "goal": 5}, (400, "USAGE")),
    "a text for a number": ("sessions", {"id": "S2", "turn_timeout": "5"}, (400, "USAGE")),
    "true for a number": ("sessions", {"id": "S2", "turn_timeout": True}, (400, "USAGE")),
    "a fraction": ("sessions/S1/groups", {"id": "B", "complexity": 1.5}, (400, "USAGE")),
    "out of range": ("sessions/S1/groups", {"id": "B", "complexity": 11}, (400, "USAGE")),
    "no choice": ("sessions", {"id": "S2", "mode": "serial"}, (400, "USAGE")),
    "a list of numbers": ("sessions/S1/groups", {"id": "B", "depends_on": [1]}, (400, "INVALID_ID")),
    "a session in the body": ("sessions/S1/reports", {**ROUTE, "session_id": "S1"}, (400, "USAGE")),
    "a key in the body": ("sessions/S1/reports", {**ROUTE, "request_id": "r"}, (400, "USAGE")),
    "details that are a list": ("sessions/S1/reports", {**ROUTE, "details": []}, (400, "USAGE")),
    "too large": ("sessions/S1/reports", {**ROUTE, "summary": "x" * 1024 * 1024}, (413, "TOO_LARGE")),
    "an unknown session": ("sessions/none/reports", ROUTE, (404, "UNKNOWN_SESSION")),
    "an unknown group": ("sessions/S1/reports", {**ROUTE, "group_id": "none"}, (404, "UNKNOWN_GROUP")),
    "an unknown status": ("sessions/S1/reports", {**ROUTE, "status": "DONE"}, (404, "UNKNOWN_STATUS")),
    "out of turn": ("sessions/S1/reports", {**ROUTE, **PASSED}, (409, "OUT_OF_TURN")),
    "a session that is there": ("sessions", {"id": "S1"}, (409, "ALREADY_EXISTS")),
    "an unknown question": ("questions/S1:Q99/answer", {"decision": "yes"}, (404, "UNKNOWN_ID")),
    "no decision": ("questions/S1:Q1/answer", {"note": "x"}, (400, "USAGE")),
    "a dry run on record": ("sessions/S1/validate", {"dry_run": True, "record": True}, (400, "USAGE")),
}  # fmt: skip


def test_what_does_not_fit_is_refused_and_changes_nothing(begun: Web) -> None:
    tables = ("sessions", "task_groups", "agent_reports", "router_decisions")
    rows = "SELECT " + ", ".join(f"(SELECT count(*) FROM {table})" for table in tables)
    before = begun.rows(rows)
    found = {name: refusal(send(begun, path, body)) for name, (path, body, _) in BAD.items()}
    assert found == {name: expected for name, (*_, expected) in BAD.items()}
    kinds = ("text/plain", "application/x-www-form-urlencoded", "application/json; charset=utf-16")
    for kind in kinds:
        page = send(begun, "sessions", {"id": "S2"}, **{"content-type": kind})
        assert refusal(page) == (400, "BAD_REQUEST"), kind
    assert begun.rows(rows) == before


# Who may


WRONG = "another-token-of-scripts"


def test_beyond_loopback_nobody_writes_without_the_token(closed: Web) -> None:
    before = closed.head()
    for each in api_endpoints.WRITING:
        path = each.path.format(session="S1", id="S1:Q1", project="P1").removeprefix("/")
        for token in (None, WRONG):
            assert refusal(send(closed, path, {"id": "X"}, token=token)) == (401, "UNAUTHENTICATED")
    assert closed.head() == before


def test_nobody_writes_without_a_token_and_no_page_of_others(begun: Web) -> None:
    for each in api_endpoints.WRITING:
        path = each.path.format(session="S1", id="S1:Q1", project="P1").removeprefix("/")
        assert refusal(send(begun, path, {"id": "X"}, token=None)) == (401, "UNAUTHENTICATED")
    begun.come_in()
    assert refusal(send(begun, "sessions", {"id": "S2"}, token=None)) == (403, "CSRF_MISMATCH")
    csrf = {"x-csrf-token": begun.get("/projects").csrf}
    foreign = {**csrf, "origin": "http://elsewhere.test"}
    assert refusal(send(begun, "sessions", {"id": "S2"}, token=None, **foreign)) == (403, "ORIGIN_MISMATCH")
    found = done(begun, "sessions", {"id": "S2"}, token=None, **csrf)
    assert found["session"]["created_by"] == "user"
    assert begun.rows("SELECT channel, json_extract(input, '$.via') FROM audit_events WHERE session_id = 'S2'") == [
        ("page", "a page of user")
    ]


def test_the_token_says_who_acts(begun: Web) -> None:
    question = asking(begun)
    token = person(begun)
    answer = {"decision": "continue", "note": "blue"}
    assert refusal(send(begun, f"questions/{question}/answer", answer)) == (403, "HUMAN_REQUIRED")
    named = {**answer, "by": "user"}
    assert refusal(send(begun, f"questions/{question}/answer", named)) == (403, "HUMAN_REQUIRED")
    assert refusal(send(begun, "sessions", {"id": "S2", "by": "user"})) == (403, "HUMAN_REQUIRED")
    other = {"id": "S2", "by": "project_manager"}
    assert refusal(send(begun, "sessions", other, token=token)) == (403, "NOT_PERMITTED")
    assert done(begun, "sessions", {"id": "S2"}, token=token)["session"]["created_by"] == "user"
    assert done(begun, "sessions/S2/groups", {"id": "A"}, token=token)["group"]["created_by"] == "user"
    assert done(begun, f"questions/{question}/answer", answer, token=token)["answered"] == "continue"
    assert begun.rows("SELECT closed_by, channel FROM questions") == [("user", "token")]
    # With the server's token an agent may be named, as at the command line, and a verdict is the validator's.
    assert done(begun, "sessions", {**other, "id": "S3"})["session"]["created_by"] == "project_manager"


# Keys

CHANGED: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "session create": ("sessions", {"id": "S2", "goal": "a"}, {"id": "S2", "goal": "b"}),
    "group create": ("sessions/S1/groups", {"id": "B"}, {"id": "C"}),
    "route": ("sessions/S1/reports", ROUTE, {**ROUTE, "summary": "x"}),
    "validate": ("sessions/S1/validate", {"record": True}, {"record": True, "command_timeout": 7}),
    "project add": ("projects", {"project_path": "{project}"}, {"project_path": "{project}", "alias": "first"}),
    "run queue": ("projects/P2/chat", {"content": "explain it"}, {"content": "explain that"}),
    "run queue in a chat": (
        "projects/P2/chat", {"content": "say it", "session_id": "c"}, {"content": "say that", "session_id": "c"},
    ),
}  # fmt: skip


def _filled(web: Web, body: dict[str, Any]) -> dict[str, Any]:
    return {name: str(web.project) if value == "{project}" else value for name, value in body.items()}


def _steps(web: Web) -> int:
    ((count,),) = web.rows("SELECT count(*) FROM audit_events WHERE kind <> 'refusal'")
    return int(count)


def test_the_same_key_with_the_same_body_is_one_step_and_another_body_is_refused(begun: Web) -> None:
    for name, (path, body, changed) in CHANGED.items():
        path = path.replace("P2", begun.rows("SELECT id FROM projects")[0][0]) if "P2" in path else path
        key = f"key of {name}"
        first = done(begun, path, _filled(begun, body), key=key)
        before = _steps(begun)
        again = done(begun, path, _filled(begun, body), key=key)
        assert {**again, "repeated": True} == {**first, "repeated": True}, name
        assert refusal(send(begun, path, _filled(begun, changed), key=key)) == (409, "REQUEST_ID_REUSED"), name
        assert _steps(begun) == before, name
    assert all(begun.call("audit replay", session_id=each)["equal"] for each in ("S1", "S2", "c"))
    assert begun.call("audit verify")["ok"]


@pytest.mark.parametrize("key", ["", "  ", "x" * 301])
def test_a_key_has_to_be_one(key: str, begun: Web) -> None:
    for each in api_endpoints.WRITING:
        path = each.path.format(session="S1", id="S1:Q1", project="P1").removeprefix("/")
        assert send(begun, path, {"id": "X"}, key=key).status == 400


@pytest.mark.parametrize("name", ["session create", "route", "run queue", "run queue in a chat"])
def test_two_posts_at_a_time_with_one_key_give_one_step(name: str, begun: Web) -> None:
    path, body, _ = CHANGED[name]
    if "P2" in path:
        path = path.replace("P2", done(begun, "projects", {"project_path": str(begun.project)})["project_id"])
    ((before,),) = begun.rows("SELECT max(rowid) FROM audit_events")
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        pages = list(pool.map(lambda _: send(begun, path, body, key="k-1"), range(4)))
    found = [{**told(page), "repeated": True} for page in pages]
    assert [page.status for page in pages] == [201] * 4, [page.text for page in pages]
    assert found == [found[0]] * 4
    # A chat is begun with what is first said in it.
    expected = ["run choose", "run queue", "session create"] if name.startswith("run") else [name]
    assert sorted(kind for (kind,) in begun.rows(f"SELECT kind FROM audit_events WHERE rowid > {before}")) == expected
    assert begun.rows("SELECT count(*) FROM requests WHERE request_id = 'k-1'") == [(1,)]


def test_an_answer_to_a_question_is_given_once(begun: Web) -> None:
    question, token = asking(begun), person(begun)
    path, body = f"questions/{question}/answer", {"decision": "continue", "note": "blue"}
    first = done(begun, path, body, key="k", token=token)
    before = _steps(begun)
    assert done(begun, path, body, key="k", token=token) == {**first, "repeated": True}
    assert refusal(send(begun, path, {**body, "note": "red"}, key="k", token=token)) == (409, "REQUEST_ID_REUSED")
    assert refusal(send(begun, path, body, key="other", token=token)) == (409, "QUESTION_CLOSED")
    assert _steps(begun) == before


@pytest.fixture
def chatting(web: Web) -> Callable[[str], str]:
    """Says something in a chat; the task."""
    project = done(web, "projects", {"project_path": str(web.project)})["project_id"]
    path = f"projects/{project}/chat"
    return lambda content: str(done(web, path, {"content": content, "session_id": "c"})["task_id"])


def test_a_reply_with_a_key_is_given_once(web: Web, chatting: Callable[[str], str]) -> None:
    task, token = chatting("rm -rf everything"), person(web)
    body = {"choice": "yes"}
    first = done(web, f"tasks/{task}/reply", body, key="k", token=token)
    before = _steps(web)
    assert first["old_status"] == "AWAITING_RESPONSE"
    assert done(web, f"tasks/{task}/reply", body, key="k", token=token) == first
    other = send(web, f"tasks/{task}/reply", {"choice": "no"}, key="k", token=token)
    assert refusal(other) == (409, "REQUEST_ID_REUSED")
    assert refusal(send(web, f"tasks/{task}/reply", body, key="new", token=token)) == (409, "ILLEGAL_MOVE")
    assert _steps(web) == before


def test_a_cancellation_and_a_retry_with_a_key_are_done_once(web: Web, chatting: Callable[[str], str]) -> None:
    task = chatting("explain it")
    cancelled = done(web, f"tasks/{task}/cancel", key="k")
    assert (cancelled["old_status"], cancelled["new_status"]) == ("QUEUED", "CANCELLED")
    assert done(web, f"tasks/{task}/cancel", key="k") == cancelled
    assert refusal(send(web, f"tasks/{task}/cancel", key="new")) == (409, "ILLEGAL_MOVE")
    other = chatting("explain that")
    assert refusal(send(web, f"tasks/{other}/cancel", key="k")) == (409, "REQUEST_ID_REUSED")


def test_a_retry_with_a_key_makes_one_run(make: Make) -> None:
    web = make(steps='[{"status": "ERROR", "output": "", "error": "no such thing", "repeat": true}]')
    project = done(web, "projects", {"project_path": str(web.project)})["project_id"]
    task = done(web, f"projects/{project}/chat", {"content": "explain it", "session_id": "c"})["task_id"]
    web.serve_runs()
    _until_ended(web, task)
    token = person(web)
    first = done(web, f"tasks/{task}/retry", key="k", token=token)
    _until_ended(web, first["task_id"])
    assert done(web, f"tasks/{task}/retry", key="k", token=token) == first
    assert web.rows("SELECT count(*) FROM runs") == [(2,)]
    assert web.call("audit replay", session_id="c")["equal"]


def _until_ended(web: Web, task: str) -> None:
    import time

    until = time.monotonic() + 30
    while json.loads(web.get(f"/api/tasks/{task}").text)["ended_at"] is None:
        assert time.monotonic() < until
        time.sleep(0.02)
