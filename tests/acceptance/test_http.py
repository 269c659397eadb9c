"""Each endpoint of the HTTP interface: what it answers, and each way in which it refuses."""

from __future__ import annotations

import json
import pathlib
import re
from typing import Any

import pytest

from tests.acceptance.webhouse import Server, WebHouse

TOKENLESS = ("/projects", "/projects/P1/chat", "/tasks/task-1/reply", "/tasks/task-1/retry", "/tasks/task-1/cancel")


@pytest.fixture(scope="module")
def project(shared: WebHouse, server: Server) -> str:
    return server.project(shared.folder(), "first")


@pytest.fixture(scope="module")
def done(server: Server, project: str) -> dict[str, Any]:
    """A task that is complete."""
    return server.until(server.chat(project, "create notes.md", "chat-of-all")["task_id"])


@pytest.fixture(scope="module")
def failed(server: Server, project: str) -> dict[str, Any]:
    return server.until(server.chat(project, "explain why it may fail", "chat-of-all")["task_id"])


@pytest.fixture(scope="module")
def asking(server: Server, project: str) -> dict[str, Any]:
    """A task that awaits a response, for as long as the module runs."""
    return server.until(server.chat(project, "ask for a colour", "chat-of-all")["task_id"], "AWAITING_RESPONSE")


def refusal(answer: Any) -> tuple[int, str]:
    """Status and code of an answer that has the shape of a failure, and nothing in it that callers may not see."""
    found = answer.json()
    assert sorted(found) == ["error", "message"], found
    assert found["message"].strip()
    for secret in ("Traceback", ".py", "/tmp", "SELECT", "sqlite"):  # noqa: S108 - must not be shown
        assert secret not in answer.text
    return answer.status_code, found["error"]


class TestProjects:
    def test_are_registered_once(self, shared: WebHouse, server: Server) -> None:
        path = str(shared.folder("of-projects"))
        first = server.scripts.post("/api/projects", json={"project_path": path, "alias": "of-projects"})
        again = server.scripts.post("/api/projects", json={"project_path": path + "/"})
        assert (first.status_code, first.json()["created"]) == (201, True)
        assert (again.status_code, again.json()["created"]) == (201, False)
        assert again.json()["project"] == first.json()["project"]
        assert first.json()["project"] in server.open.get("/api/projects").json()["projects"]

    def test_are_one_behind_a_link_as_well(self, shared: WebHouse, server: Server) -> None:
        link = shared.base / "link-to-project"
        link.symlink_to(shared.folder("of-link"))
        assert server.project(link) == server.project(shared.folder("of-link"))

    @pytest.mark.parametrize(
        ("body", "code"),
        [
            pytest.param({"project_path": "relative/path"}, "USAGE", id="relative"),
            pytest.param({"project_path": "/nowhere/at/all"}, "E102", id="no such folder"),
            pytest.param({"project_path": "/"}, "E101", id="not set up"),
            pytest.param({"project_path": ""}, "BAD_REQUEST", id="empty"),
            pytest.param({"project_path": 5}, "BAD_REQUEST", id="a number"),
            pytest.param({"project_path": "/\0"}, "INVALID_TEXT", id="a NUL"),
            pytest.param({"project_path": "/" + "x" * 5000}, "BAD_REQUEST", id="too long"),
            pytest.param({}, "BAD_REQUEST", id="nothing"),
            pytest.param({"project_path": "{path}", "more": 1}, "BAD_REQUEST", id="an unknown key"),
            pytest.param({"project_path": "{path}", "alias": "../x"}, "INVALID_ID", id="an alias that is no id"),
            pytest.param({"project_path": "{path}", "alias": "P12"}, "USAGE", id="an alias like an id of ours"),
            pytest.param([], "BAD_REQUEST", id="a list"),
        ],
    )
    def test_that_are_none_are_refused(self, body: Any, code: str, shared: WebHouse, server: Server) -> None:
        if isinstance(body, dict) and body.get("project_path") == "{path}":
            body = {**body, "project_path": str(shared.folder("of-refusals"))}
        assert refusal(server.scripts.post("/api/projects", json=body)) == (400, code)

    def test_have_one_alias(self, shared: WebHouse, server: Server) -> None:
        server.project(shared.folder("with-alias"), "alias-1")
        for folder, alias in (("with-alias", "alias-2"), ("without-alias", "alias-1")):
            body = {"project_path": str(shared.folder(folder)), "alias": alias}
            assert refusal(server.scripts.post("/api/projects", json=body)) == (400, "ALREADY_EXISTS")


class TestAChat:
    def test_is_queued(self, server: Server, project: str) -> None:
        found = server.chat(project, "explain it")
        assert sorted(found) == ["session_id", "status", "task_group_id", "task_id"]
        assert (found["status"], found["session_id"]) == ("QUEUED", found["task_group_id"])

    def test_goes_to_a_project_by_its_alias(self, server: Server, project: str) -> None:
        task = server.chat("first", "explain it", "by-alias")["task_id"]
        assert server.until(task)["status"] == "COMPLETE"

    @pytest.mark.parametrize(
        ("body", "found"),
        [
            pytest.param({"content": ""}, (400, "USAGE"), id="empty"),
            pytest.param({"content": " \n\t "}, (400, "USAGE"), id="blank"),
            pytest.param({"content": 5}, (400, "BAD_REQUEST"), id="a number"),
            pytest.param({"content": None}, (400, "BAD_REQUEST"), id="null"),
            pytest.param({}, (400, "BAD_REQUEST"), id="nothing"),
            pytest.param({"content": "x", "session_id": "a b"}, (400, "INVALID_ID"), id="a session that is no id"),
            pytest.param({"content": "x", "session_id": "../x"}, (400, "INVALID_ID"), id="a session like a path"),
            pytest.param({"content": "x", "session_id": ""}, (400, "INVALID_ID"), id="an empty session"),
            pytest.param({"content": "x", "session_id": "x" * 129}, (400, "BAD_REQUEST"), id="a long session"),
            pytest.param({"content": "x" * 300_000}, (400, "BAD_REQUEST"), id="too much"),
        ],
    )
    def test_that_says_nothing_is_refused(
        self, body: Any, found: tuple[int, str], server: Server, shared: WebHouse, project: str
    ) -> None:
        before = shared.rows("SELECT count(*) FROM runs")
        assert refusal(server.scripts.post(f"/api/projects/{project}/chat", json=body)) == found
        assert shared.rows("SELECT count(*) FROM runs") == before

    @pytest.mark.parametrize("id", ["P999", "nobody", "..%2F..", "%00", "x" * 2000])
    def test_to_no_project_is_refused(self, id: str, server: Server) -> None:
        status, _ = refusal(server.scripts.post(f"/api/projects/{id}/chat", json={"content": "hello"}))
        assert status == 404

    def test_to_another_project_than_its_session_s_is_refused(
        self, server: Server, shared: WebHouse, done: dict[str, Any]
    ) -> None:
        other = server.project(shared.folder("another"))
        answer = server.scripts.post(
            f"/api/projects/{other}/chat", json={"content": "x", "session_id": done["session_id"]}
        )
        assert refusal(answer) == (403, "NOT_PERMITTED")

    def test_in_a_session_that_is_none_of_chats_is_refused(
        self, server: Server, shared: WebHouse, project: str
    ) -> None:
        assert shared.command("session", "create", "WORK", "--goal", "g").returncode == 0
        answer = server.scripts.post(f"/api/projects/{project}/chat", json={"content": "x", "session_id": "WORK"})
        assert refusal(answer) == (403, "NOT_PERMITTED")

    def test_in_a_session_that_ended_is_refused(self, server: Server, shared: WebHouse, project: str) -> None:
        server.until(server.chat(project, "explain it", "ended")["task_id"])
        with shared.at_terminal() as context:
            from orchestrator.app.kernel import operations

            operations.call(context, "session end", id="ended", by="user", reason="enough")
        answer = server.scripts.post(f"/api/projects/{project}/chat", json={"content": "x", "session_id": "ended"})
        assert refusal(answer) == (409, "SESSION_CLOSED")

    def test_in_a_project_that_is_set_up_no_more_is_refused(self, server: Server, shared: WebHouse) -> None:
        path = shared.folder("taken-apart")
        id = server.project(path)
        (path / ".claude" / "settings.json").unlink()
        assert refusal(server.scripts.post(f"/api/projects/{id}/chat", json={"content": "x"})) == (400, "E103")
        (path / ".claude" / "settings.json").write_text("{nonsense")
        assert refusal(server.scripts.post(f"/api/projects/{id}/chat", json={"content": "x"})) == (400, "E105")


class TestTaskGroups:
    def test_are_paged_and_filtered(self, server: Server, done: dict[str, Any], failed: dict[str, Any]) -> None:
        everything = server.open.get("/api/task-groups", params={"limit": 200}).json()
        pages, offset = [], 0
        while True:
            page = server.open.get("/api/task-groups", params={"limit": 1, "offset": offset}).json()
            pages += page["task_groups"]
            assert page["total_count"] == everything["total_count"]
            offset += 1
            if not page["has_more"]:
                break
        assert [each["task_group_id"] for each in pages] == [
            each["task_group_id"] for each in everything["task_groups"]
        ]
        for status in {each["latest_status"] for each in pages}:
            found = server.open.get("/api/task-groups", params={"status": status, "limit": 200}).json()
            assert {each["latest_status"] for each in found["task_groups"]} == {status}
            assert found["total_count"] == len(found["task_groups"])
        beyond = server.open.get("/api/task-groups", params={"offset": 10_000}).json()
        assert (beyond["task_groups"], beyond["has_more"]) == ([], False)

    @pytest.mark.parametrize("query", ["limit=0", "limit=201", "limit=x", "offset=-1", "status=NOPE", "status=complete",
                                       "limit=99999999999999999999", "offset=99999999999999999999"])
    def test_of_a_wrong_query_are_refused(self, query: str, server: Server) -> None:
        assert refusal(server.open.get(f"/api/task-groups?{query}")) == (400, "BAD_REQUEST")

    def test_have_their_tasks_in_order(
        self, server: Server, done: dict[str, Any], failed: dict[str, Any], asking: dict[str, Any]
    ) -> None:
        found = server.open.get("/api/task-groups/chat-of-all/tasks").json()
        ids = [each["task_id"] for each in found["tasks"]]
        assert found["task_group_id"] == "chat-of-all"
        assert sorted(ids) == ids
        assert {done["task_id"], failed["task_id"], asking["task_id"]} <= set(ids)

    @pytest.mark.parametrize("id", ["nobody", "WORK-2", "..%2F", "%F0%9F%98%80"])
    def test_that_are_none_are_not_found(self, id: str, server: Server) -> None:
        status, _ = refusal(server.open.get(f"/api/task-groups/{id}/tasks"))
        assert status == 404


class TestATask:
    def test_is_shown_whole(self, server: Server, done: dict[str, Any]) -> None:
        assert (done["status"], done["output"], done["show_reply_ui"], done["question"]) == (
            "COMPLETE", "made", False, None,
        )  # fmt: skip
        assert [event["kind"] for event in done["events"]] == ["queued", "file", "complete"]
        assert done["files"] == [{"path": "notes.md", "change": "new", "exists": True}]

    def test_that_is_none_is_not_found(self, server: Server) -> None:
        assert refusal(server.open.get("/api/tasks/task-1")) == (404, "UNKNOWN_ID")

    def test_says_nothing_of_where_things_lie(
        self, server: Server, shared: WebHouse, done: dict[str, Any], failed: dict[str, Any]
    ) -> None:
        assert str(shared.base) not in json.dumps([done, failed])

    def test_that_failed_is_tried_again_by_a_person(
        self, server: Server, shared: WebHouse, failed: dict[str, Any]
    ) -> None:
        path = f"/api/tasks/{failed['task_id']}/retry"
        assert refusal(server.scripts.post(path)) == (403, "UNBLOCK_NOT_PERMITTED")
        with server.client(shared.person()) as person:
            answer = person.post(path)
        found = answer.json()
        assert answer.status_code == 200, found
        assert (found["old_status"], found["retry_of"]) == ("ERROR", failed["task_id"])
        assert server.until(found["task_id"])["retry_of"] == failed["task_id"]

    def test_that_was_cancelled_is_not_tried_again(self, server: Server, project: str) -> None:
        """Its task is closed."""
        id = server.chat(project, "ask for a colour", "to-cancel")["task_id"]
        server.until(id, "AWAITING_RESPONSE")
        assert server.scripts.post(f"/api/tasks/{id}/cancel").status_code == 200
        assert refusal(server.scripts.post(f"/api/tasks/{id}/retry")) == (409, "ILLEGAL_MOVE")

    def test_that_is_complete_is_not_tried_again(self, server: Server, done: dict[str, Any]) -> None:
        assert refusal(server.scripts.post(f"/api/tasks/{done['task_id']}/retry")) == (409, "ILLEGAL_MOVE")

    def test_that_asks_is_not_tried_again(self, server: Server, asking: dict[str, Any]) -> None:
        assert refusal(server.scripts.post(f"/api/tasks/{asking['task_id']}/retry")) == (409, "ILLEGAL_MOVE")

    def test_that_waits_is_cancelled_once(self, server: Server, project: str) -> None:
        id = server.chat(project, "ask for a colour", "to-cancel")["task_id"]
        server.until(id, "AWAITING_RESPONSE")
        answer = server.scripts.post(f"/api/tasks/{id}/cancel")
        assert (answer.status_code, answer.json()) == (
            200, {"task_id": id, "old_status": "AWAITING_RESPONSE", "new_status": "CANCELLED"},
        )  # fmt: skip
        assert refusal(server.scripts.post(f"/api/tasks/{id}/cancel")) == (409, "ILLEGAL_MOVE")

    @pytest.mark.parametrize("act", ["retry", "cancel", "reply"])
    def test_that_is_none_is_not_moved(self, act: str, server: Server) -> None:
        answer = server.scripts.post(f"/api/tasks/task-1/{act}", json={"reply": "x"} if act == "reply" else None)
        assert refusal(answer) == (404, "UNKNOWN_ID")


class TestReading:
    @pytest.mark.parametrize(
        ("path", "keys"),
        [
            ("/sessions", {"sessions", "has_more"}),
            ("/sessions/chat-of-all", {"session", "groups"}),
            ("/sessions/chat-of-all/decisions", {"decisions", "has_more"}),
            ("/sessions/chat-of-all/timeline", {"events", "has_more"}),
            ("/sessions/chat-of-all/status", {"session", "state", "questions"}),
            ("/sessions/chat-of-all/status?brief=true", {"session"}),
            ("/inbox", {"questions", "has_more"}),
            ("/inbox?session_id=chat-of-all", {"questions"}),
            ("/workflow/graph", {"graph", "format"}),
            ("/workflow/graph?format=dot", {"graph"}),
            ("/workflow/graph?format=svg&session_id=chat-of-all", {"graph"}),
            ("/health", {"status"}),
        ],
    )
    def test_answers_what_the_command_line_does(
        self, path: str, keys: set[str], server: Server, shared: WebHouse, asking: dict[str, Any]
    ) -> None:
        answer = server.open.get(f"/api{path}")
        assert answer.status_code == 200, answer.text
        assert keys <= set(answer.json())
        assert str(shared.database) not in answer.text

    def test_is_word_by_word_what_the_command_line_answers(
        self, server: Server, shared: WebHouse, done: dict[str, Any], failed: dict[str, Any], asking: dict[str, Any]
    ) -> None:
        for path, words in (
            ("sessions/by-word/decisions", ("audit", "decisions", "-s", "by-word")),
            ("sessions/by-word/timeline", ("audit", "timeline", "-s", "by-word")),
            ("sessions/by-word/status", ("status", "by-word")),
            ("inbox?session_id=by-word", ("inbox", "-s", "by-word")),
        ):
            if path.endswith("decisions"):
                task = server.chat("first", "ask for a colour", "by-word")["task_id"]
                server.until(task, "AWAITING_RESPONSE")
            said = shared.command(*words, "--json").stdout
            # Neither the database nor, behind the kind of an executor, its file is told over HTTP.
            said = re.sub(r"\(scripted:[^)]* starts\)", "(scripted starts)", said)
            told = json.loads(said.replace(f"orchestrator --db {shared.database} ", "orchestrator "))
            found = server.open.get(f"/api/{path}").json()
            assert {name: told[name] for name in found} == found
            assert set(told) - set(found) == {"schema", "db", "warnings"}

    @pytest.mark.parametrize("path", ["", "/decisions", "/timeline", "/status"])
    def test_of_no_session_is_not_found(self, path: str, server: Server) -> None:
        assert refusal(server.open.get(f"/api/sessions/nobody{path}")) == (404, "UNKNOWN_SESSION")
        status, code = refusal(server.open.get(f"/api/sessions/a%20b{path}"))
        assert (status, code) in {(400, "INVALID_ID"), (404, "UNKNOWN_SESSION")}

    @pytest.mark.parametrize("path", ["workflow/graph?format=pdf", "sessions?limit=0", "inbox?limit=x",
                                      "sessions/chat-of-all/decisions?since=-1", "sessions/chat-of-all/status?brief=7"])
    def test_of_a_wrong_query_is_refused(self, path: str, server: Server) -> None:
        assert refusal(server.open.get(f"/api/{path}")) == (400, "BAD_REQUEST")

    @pytest.mark.parametrize("path", ["/api/nothing", "/api/", "/api/tasks/task-1/nothing", "/api/tasks/%2F"])
    def test_of_nothing_is_not_found(self, path: str, server: Server) -> None:
        assert refusal(server.open.get(path)) == (404, "NOT_FOUND")

    def test_masks_secrets(self, server: Server, project: str) -> None:
        key = "sk-ant-" + "a1B2c3D4" * 8
        found = server.until(server.chat(project, f"explain password: hunter2hunter2 and {key}", "secret")["task_id"])
        shown = json.dumps(found) + server.open.get("/api/task-groups?limit=200").text
        shown += server.open.get("/api/sessions/secret/timeline").text
        assert key not in shown
        assert "hunter2" not in shown


class TestWriting:
    @pytest.mark.parametrize("path", TOKENLESS)
    @pytest.mark.parametrize(
        "header",
        [None, "Bearer", "Bearer wrong-token-wrong-token", "Basic dXNlcjpwdw==", "Bearer orchestrator-human-x"],
    )
    def test_needs_a_token(self, path: str, header: str | None, server: Server, shared: WebHouse) -> None:
        before = shared.rows("SELECT count(*) FROM audit_events")
        answer = server.open.post(f"/api{path}", json={}, headers={"Authorization": header} if header else {})
        assert refusal(answer) == (401, "UNAUTHENTICATED")
        assert answer.headers["www-authenticate"] == "Bearer"
        assert shared.rows("SELECT count(*) FROM audit_events") == before

    def test_with_a_wrong_token_even_reading_is_refused(self, server: Server) -> None:
        with server.client("wrong-token-wrong-token") as client:
            assert refusal(client.get("/api/sessions")) == (401, "UNAUTHENTICATED")


class TestEveryAnswer:
    @pytest.mark.parametrize("path", ["/api/health", "/api/nothing", "/api/openapi.json", "/api/tasks/task-1"])
    def test_says_what_browsers_may_do_with_it(self, path: str, server: Server) -> None:
        headers = server.open.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "server" not in headers
        assert "access-control-allow-origin" not in headers

    @pytest.mark.parametrize(
        "host", ["evil.example", "127.0.0.1.evil.example", "", "localhost.evil:80", "127.0.0.1@evil", "[::1"]
    )
    def test_is_only_given_under_the_server_s_own_name(self, host: str, server: Server) -> None:
        assert refusal(server.open.get("/api/health", headers={"Host": host})) == (400, "HOST_UNKNOWN")

    @pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1:99", "[::1]:8765", "[::1]"])
    def test_is_given_under_each_of_them(self, host: str, server: Server) -> None:
        assert server.open.get("/api/health", headers={"Host": host}).status_code == 200

    @pytest.mark.parametrize("method", ["OPTIONS", "TRACE", "PUT", "PATCH", "DELETE", "CONNECT2"])
    def test_to_another_method_is_a_refusal(self, method: str, server: Server) -> None:
        answer = server.open.request(method, "/api/sessions")
        assert refusal(answer) == (405, "METHOD_NOT_ALLOWED")

    def test_to_a_look_at_its_head_has_no_body(self, server: Server) -> None:
        answer = server.open.head("/api/health")
        assert (answer.status_code, answer.content) == (200, b"")
        assert server.open.head("/api/health").headers["content-length"] == str(len(b'{"status":"ok"}'))


def test_the_description_is_whole(server: Server, pytestconfig: pytest.Config) -> None:
    """Every endpoint of the interface with a schema for each status that it names; errors in one shape."""
    described = server.open.get("/api/openapi.json").json()
    assert set(described["paths"]) == {
        "/api/projects", "/api/projects/{project}/chat", "/api/task-groups", "/api/task-groups/{group}/tasks",
        "/api/tasks/{id}", "/api/tasks/{id}/reply", "/api/tasks/{id}/retry", "/api/tasks/{id}/cancel", "/api/sessions",
        "/api/sessions/{session}", "/api/sessions/{session}/decisions", "/api/sessions/{session}/timeline",
        "/api/sessions/{session}/status", "/api/sessions/{session}/groups", "/api/sessions/{session}/reports",
        "/api/sessions/{session}/validate", "/api/questions/{id}/answer", "/api/inbox", "/api/workflow/graph",
        "/api/events", "/api/health",
    }  # fmt: skip
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            assert operation["description"], (method, path)
            for status, answer in operation["responses"].items():
                (content,) = answer["content"].values()
                assert content.get("schema") or content.get("itemSchema"), (method, path, status)
                if status >= "400":
                    assert content["schema"] == {"$ref": "#/components/schemas/Failure"}
            assert "401" in operation["responses"], (method, path)


def test_the_database_is_owned_by_its_user_alone(shared: WebHouse, server: Server) -> None:
    assert pathlib.Path(server.told["db"]) == shared.database
