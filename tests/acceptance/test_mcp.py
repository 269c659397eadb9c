"""The MCP door as its clients meet it: the installed command, and the SDK's own client at the other end."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from orchestrator import Orchestrator
from orchestrator.core.oversized import LINE_LIMIT
from orchestrator.doors.cli.schema import json_schema
from orchestrator.doors.mcp.tools import TOOLS
from tests.acceptance import mcphouse
from tests.acceptance.mcphouse import LEGACY, MODERN, Server, Wire, connected
from tests.conftest import long_form
from tests.unit.doors import test_mcp_wording

pytestmark = pytest.mark.slow

WORKER = "developer"
KEY = "sk-ant-api03-" + "a1B2" * 12
Ask = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A database with two groups under way, and a task of the worker's in progress with an open part."""
    path = tmp_path_factory.mktemp("prepared") / "orchestrator.db"
    with Orchestrator.create(path) as o:
        o.session_create("S1", goal="one goal")
        for group in ("A", "B"):
            o.group_create(group, session_id="S1", name=group)
        o.route(session_id="S1", current_agent="project_manager", status="PLANNING_COMPLETE")
        o.task_create("T", title="all", session_id="S1", group_id="A", assignee=WORKER, by="tech_lead")
        o.task_set_status("T", "in_progress", session_id="S1", by=WORKER)
        o.task_create("T1", title="part", session_id="S1", parent="T", assignee=WORKER, by=WORKER)
        o.task_create("Q", title="other", session_id="S1", group_id="B", assignee="qa_expert", by="tech_lead")
    return path.read_bytes()


@pytest.fixture
def path(prepared: bytes, environment: dict[str, str]) -> pathlib.Path:
    """A fresh copy of it, where the commands of a test find it."""
    found = pathlib.Path(environment["ORCHESTRATOR_DB"])
    found.write_bytes(prepared)
    return found


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return tmp_path_factory.mktemp("served") / "orchestrator.db"


@pytest.fixture(scope="module")
def worker(stand_in: pathlib.Path, place: pathlib.Path, prepared: bytes) -> Iterator[Server]:
    """One server for the tests that leave it as it was."""
    place.write_bytes(prepared)
    with connected(stand_in, {"ORCHESTRATOR_DB": str(place)}, WORKER) as server:
        yield server


@pytest.fixture
def served(worker: Server, place: pathlib.Path, prepared: bytes) -> Server:
    """That server, on a fresh database."""
    _put(place, prepared)
    return worker


def _put(place: pathlib.Path, content: bytes) -> None:
    for each in (place, *(place.with_name(place.name + end) for end in ("-wal", "-shm"))):
        each.unlink(missing_ok=True)
    # What this machine has seen at this path was another database, and would say that it went back.
    shutil.rmtree(pathlib.Path(os.environ["XDG_STATE_HOME"]) / "orchestrator", ignore_errors=True)
    place.write_bytes(content)


@pytest.fixture
def ask(stand_in: pathlib.Path) -> Ask:
    """The command line on a database: `ask(place, "status", "S1")`."""

    def call(database: pathlib.Path, *words: str) -> dict[str, Any]:
        argv = [sys.executable, str(stand_in), *words, "--json"]
        kept = {name: value for name, value in os.environ.items() if not name.startswith("ORCHESTRATOR_")}
        done = subprocess.run(
            argv, env={**kept, "ORCHESTRATOR_DB": str(database)}, capture_output=True, text=True, check=False,
            timeout=60,
        )  # fmt: skip
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer

    return call


@pytest.fixture
def wire(stand_in: pathlib.Path, environment: dict[str, str], path: pathlib.Path) -> Iterator[Callable[..., Wire]]:
    """Start servers that are spoken to line by line."""
    with _wires(stand_in, environment) as start:
        yield start


@pytest.fixture
def installed_wire(
    script: pathlib.Path, environment: dict[str, str], path: pathlib.Path
) -> Iterator[Callable[..., Wire]]:
    """The same of the installed command, for tests of its process."""
    with _wires(script, environment) as start:
        yield start


@contextlib.contextmanager
def _wires(script: pathlib.Path, environment: dict[str, str]) -> Iterator[Callable[..., Wire]]:
    opened: list[Wire] = []

    def start(agent: str = WORKER, *options: str) -> Wire:
        opened.append(Wire(script, environment, agent, *options))
        return opened[-1]

    yield start
    for each in opened:
        each.close()


def rows(database: pathlib.Path, sql: str) -> list[tuple[Any, ...]]:
    """What is on record."""
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


# What there is


@pytest.mark.parametrize(("mode", "version"), [("auto", MODERN), ("legacy", LEGACY)])
def test_tools_and_resources_are_listed_under_every_protocol(
    script: pathlib.Path, environment: dict[str, str], path: pathlib.Path, mode: str, version: str
) -> None:
    with connected(script, environment, WORKER, mode=mode) as server:
        assert server.client.protocol_version == version
        assert server.client.server_info is not None
        assert server.client.server_info.name == "orchestrator"
        tools = {tool.name: tool for tool in server.do("list_tools").tools}
        assert tuple(tools) == tuple(TOOLS)
        for name, tool in tools.items():
            assert tool.input_schema["additionalProperties"] is False
            assert set(tool.input_schema["properties"]) == set(TOOLS[name].arguments)
            assert tool.output_schema == {"type": "object", **json_schema(TOOLS[name].words)}
        assert [name for name, tool in tools.items() if not tool.annotations.read_only_hint] == [
            "route", "update_task_status", "report_completed", "validate_session"
        ]
        uris = [each.uri for each in server.do("list_resources").resources]
        assert uris[:3] == ["orchestrator://workflow", "orchestrator://timeline", "orchestrator://agents/developer"]
        templates = [each.uri_template for each in server.do("list_resource_templates").resource_templates]
        assert "orchestrator://sessions/{session_id}/timeline" in templates
        assert server.answer("get_next_action")["action"] == "start_subtask"


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("get_status", {}, ("status", "S1")),
        ("get_status", {"brief": True}, ("status", "S1", "--brief")),
        ("get_group", {"id": "A"}, ("group", "show", "A", "-s", "S1")),
        ("get_group", {"id": "A", "at_seq": 4}, ("group", "show", "A", "-s", "S1", "--at", "4")),
        ("list_decisions", {"limit": 1}, ("audit", "decisions", "-s", "S1", "--limit", "1")),
        ("handoff", {"group_id": "A"}, ("handoff", "A", "-s", "S1")),
        ("get_next_action", {}, ("next", "--agent-id", WORKER, "-s", "S1")),
        ("get_next_action", {"task": "T1"}, ("next", "--agent-id", WORKER, "-s", "S1", "--task", "T1")),
        ("validate_session", {"dry_run": True}, ("validate", "S1", "--dry-run")),
        (
            "route", {"status": "READY_FOR_QA", "group_id": "A", "dry_run": True},
            ("route", WORKER, "READY_FOR_QA", "-g", "A", "--dry-run", "--agent-id", WORKER),
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)  # fmt: skip
def test_an_answer_is_the_command_line_s(
    served: Server, place: pathlib.Path, ask: Ask, tool: str, arguments: dict[str, Any], words: tuple[str, ...]
) -> None:
    found = served.call(tool, **arguments)
    assert json.loads(found.text) == found.document
    printed = _still(ask(place, *words))
    assert _still(found.document) == _as_told(printed, _still(found.document))
    test_mcp_wording.offered(test_mcp_wording.without_role(found.document))


def _as_told(printed: Any, told: Any) -> Any:
    """What the command line prints, its commands replaced by what is told instead, which names none."""
    if isinstance(printed, dict):
        return {name: _as_told(each, told.get(name)) for name, each in printed.items()}
    if isinstance(printed, list):
        return [_as_told(each, other) for each, other in zip(printed, told, strict=True)]
    return told if isinstance(printed, str) and "orchestrator " in printed else printed


def _still(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer without what goes on with the clock."""
    spawns = [{**each, "overdue_for": None} for each in answer.get("spawns", ())]
    return {**answer, "spawns": spawns}


def test_resources_are_read(served: Server, place: pathlib.Path, ask: Ask) -> None:
    kind, text = served.read("orchestrator://workflow")
    assert (kind, json.loads(text)) == ("application/json", ask(place, "workflow", "show"))
    assert served.read("orchestrator://sessions/S1/workflow") == (kind, text)
    events = json.loads(served.read("orchestrator://timeline")[1])["events"]
    assert [event["seq"] for event in events] == list(range(8, 0, -1))
    for name in ("tech-lead", "tech_lead"):
        kind, text = served.read(f"orchestrator://agents/{name}")
        assert (kind, "APPROVED" in text) == ("text/markdown", True)


@pytest.mark.parametrize("below", ["", "sessions/S1/"], ids=["own", "named"])
def test_a_timeline_is_read_to_its_beginning_page_by_page(served: Server, below: str) -> None:
    uri, pages = f"orchestrator://{below}timeline?limit=3", []
    while uri:
        pages.append(json.loads(served.read(uri)[1]))
        uri = pages[-1]["next_uri"]
        assert uri is None or uri.startswith(f"orchestrator://{below}timeline?until=")
    assert [[event["seq"] for event in page["events"]] for page in pages] == [[8, 7, 6], [5, 4, 3], [2, 1]]
    templates = [each.uri_template for each in served.do("list_resource_templates").resource_templates]
    assert {"orchestrator://timeline{?until,limit}", "orchestrator://sessions/{session_id}/timeline{?until,limit}"} <= (
        set(templates)
    )


@pytest.mark.parametrize(
    ("uri", "code"),
    [
        ("orchestrator://timeline?until=x", "USAGE"),
        ("orchestrator://timeline?limit=0", "USAGE"),
        ("orchestrator://timeline?limit=1&limit=2", "USAGE"),
        ("orchestrator://timeline?by=user", "USAGE"),
        ("orchestrator://workflow?until=1", "USAGE"),
        ("orchestrator://agents/nobody", "UNKNOWN_ID"),
        ("orchestrator://sessions/S9/timeline", "UNKNOWN_SESSION"),
        ("orchestrator://sessions/S9/workflow", "UNKNOWN_SESSION"),
        ("orchestrator://sessions/..%2F/workflow", "INVALID_ID"),
        ("orchestrator://nothing", "USAGE"),
        ("file:///etc/passwd", "USAGE"),
    ],
)
def test_a_resource_that_there_is_not_is_an_error_with_its_code(served: Server, uri: str, code: str) -> None:
    with pytest.raises(mcphouse.error()) as caught:
        served.read(uri)
    assert caught.value.data["code"] == code


# Refusals


@pytest.mark.parametrize(
    ("tool", "arguments", "code", "more"),
    [
        ("route", {"status": "READY_FOR_QA", "group_id": "A", "turn": 1}, "STALE_TURN", {"turn": 4}),
        ("route", {"status": "PASS", "group_id": "A", "current_agent": "qa_expert"}, "OUT_OF_TURN",
         {"expected_agent": "developer"}),
        ("route", {"status": "READY_FOR_Q", "group_id": "A"}, "UNKNOWN_STATUS", {"did_you_mean": "READY_FOR_QA"}),
        ("route", {"status": "READY_FOR_QA", "group_id": "Z"}, "UNKNOWN_GROUP", {}),
        ("route", {"status": "READY_FOR_QA", "group_id": "A", "session_id": "S9"}, "UNKNOWN_SESSION",
         {"sessions": ["S1"]}),
        ("route", {"status": "x", "current_agent": "nobody"}, "UNKNOWN_ROLE", {}),
        ("route", {"status": "ACCEPT", "current_agent": "validator"}, "RESERVED_ROLE", {}),
        ("route", {"status": "MERGE_SUCCESS", "group_id": "A"}, "OUT_OF_TURN", {"expected_action": "spawn_merge"}),
        ("route", {"status": "BLOCKED", "group_id": "A", "metadata": {"status": "done"}}, "METADATA_INVALID", {}),
        ("route", {"status": "BLOCKED", "group_id": "A", "acknowledge": {"A": "fine"}}, "NOT_PERMITTED", {}),
        ("route", {"status": "READY_FOR_QA", "group_id": "a/b"}, "INVALID_ID", {"kind": "group"}),
        ("update_task_status", {"id": "T9", "status": "done"}, "UNKNOWN_TASK", {"did_you_mean": "T"}),
        ("update_task_status", {"id": "T1", "status": "finished"}, "UNKNOWN_STATUS", {}),
        ("update_task_status", {"id": "T1", "status": "done"}, "ILLEGAL_MOVE", {}),
        ("update_task_status", {"id": "T", "status": "blocked"}, "REASON_REQUIRED", {}),
        ("update_task_status", {"id": "T", "status": "done", "expect_version": 1}, "VERSION_CONFLICT", {"version": 2}),
        ("update_task_status", {"id": "Q", "status": "in_progress"}, "NOT_PERMITTED", {}),
        ("report_completed", {}, "COMPLETION_GATE", {}),
        ("get_group", {"id": "Z"}, "UNKNOWN_GROUP", {}),
        ("get_next_action", {"task": "Q"}, "NOT_PERMITTED", {}),
        ("handoff", {"group_id": "A", "turn": 99}, "UNKNOWN_ID", {"kind": "handoff"}),
        ("list_decisions", {"session_id": "S9"}, "UNKNOWN_SESSION", {}),
        ("list_decisions", {"limit": -3}, "USAGE", {}),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)  # fmt: skip
def test_a_refusal_is_an_error_with_its_code(
    served: Server, place: pathlib.Path, tool: str, arguments: dict[str, Any], code: str, more: dict[str, Any]
) -> None:
    before = rows(place, "SELECT count(*) FROM refusals")
    found = served.refusal(tool, **arguments)
    assert (found["code"], found["schema"]) == (code, 1)
    assert found["error"]
    assert found["suggestion"]
    assert {name: found[name] for name in more} == more
    test_mcp_wording.offered(found)
    assert not [inside for inside in (str(place.parent), "SELECT ", "Traceback") if inside in json.dumps(found)]
    recorded = rows(place, "SELECT door, actor, code FROM refusals ORDER BY rowid DESC LIMIT 1")
    if TOOLS[tool].words in ("route", "task set-status") and code != "INVALID_ID":
        assert recorded == [("mcp", WORKER, code)]
    else:
        assert rows(place, "SELECT count(*) FROM refusals") == before


def test_a_refused_completion_says_what_to_do_instead(served: Server) -> None:
    assert served.refusal("report_completed")["next"] == {
        name: value
        for name, value in served.answer("get_next_action").items()
        if name not in ("success", "schema", "db", "warnings")
    }


def test_who_is_deactivated_meanwhile_is_nobody(
    stand_in: pathlib.Path, environment: dict[str, str], path: pathlib.Path
) -> None:
    with Orchestrator.open(path) as o:
        o.agent_register("ghost", role="qa_expert")
    with connected(stand_in, environment, "ghost") as server:
        with Orchestrator.open(path) as o:
            o.agent_deactivate("ghost", by="project_manager", reason="gone")
        for tool, arguments in (
            ("route", {"status": "PASS", "group_id": "A"}), ("report_completed", {}), ("validate_session", {}),
        ):  # fmt: skip
            assert server.refusal(tool, **arguments)["code"] == "UNKNOWN_AGENT"
    recorded = rows(path, "SELECT actor, code FROM refusals WHERE actor = 'ghost'")
    assert recorded == [("ghost", "UNKNOWN_AGENT")] * 3
    assert rows(path, "SELECT DISTINCT channel FROM audit_events WHERE kind = 'refusal'") == [("mcp",)]


def test_with_several_sessions_open_one_must_be_named(
    stand_in: pathlib.Path, environment: dict[str, str], path: pathlib.Path, served: Server, place: pathlib.Path
) -> None:
    for each in (path, place):
        with Orchestrator.open(each) as o:
            o.session_create("S2", goal="another")
    assert served.refusal("get_group", id="A")["code"] == "AMBIGUOUS_SESSION"
    assert served.answer("get_group", id="A", session_id="S1")["group"]["id"] == "A"
    with pytest.raises(mcphouse.error()) as caught:
        served.read("orchestrator://timeline")
    assert caught.value.data["sessions"] == ["S1", "S2"]
    with connected(stand_in, environment, WORKER, "--session-id", "S1") as server:
        assert server.answer("get_group", id="A")["group"]["id"] == "A"
        assert server.answer("get_status")["session"]["id"] == "S1"


def test_every_refusal_can_be_told_again(served: Server, place: pathlib.Path, ask: Ask) -> None:
    served.refusal("report_completed")
    served.answer("update_task_status", id="T1", status="in_progress")
    served.answer("update_task_status", id="T1", status="done")
    served.answer("report_completed")
    assert served.refusal("report_completed")["code"] == "UNKNOWN_TASK"
    assert ask(place, "audit", "replay", "S1")["equal"]
    assert ask(place, "audit", "verify", "S1")["ok"]


# Arguments


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("route", {"status": 5}, "route: status must be a text."),
        ("route", {"status": "PASS", "turn": "4"}, "route: turn must be a whole number."),
        ("route", {"status": "PASS", "turn": True}, "route: turn must be a whole number."),
        ("route", {"status": "PASS", "turn": -1}, "turn must be from 0 to"),
        ("route", {"status": "PASS", "details": "x"}, "route: details must be an object, and the text of details"),
        ("route", {"status": "PASS", "details": []}, "route: details must be an object, not a list."),
        ("route", {"status": "PASS", "dry_run": "yes"}, "route: dry_run must be true or false."),
        ("route", {"status": "PASS", "acknowledge": {"A": 1}}, "acknowledge must be text"),
        ("route", {"status": "PASS", "testing_mode": "ful"}, "did you mean full?"),
        ("route", {"status": "PASS", "request_id": " "}, "request_id must have 1 to"),
        ("route", {"status": "PASS", "session_id": 1}, "route: session_id must be a text."),
        ("route", {"status": "PASS", "by": "user"}, "route takes no by"),
        ("route", {}, "route needs status."),
        ("list_decisions", {"limit": 0}, "limit must be from 1 to"),
        ("list_decisions", {"order": "up"}, "order must be asc or desc, not 'up'"),
        ("get_status", {"session": "S1"}, "get_status has no argument 'session'"),
        ("update_task_status", {"id": "T", "status": "done", "blocker_type": "manuel"}, "did you mean manual?"),
        ("route", {"status": "PASS", "details": {"n": 10**400}}, ""),
    ],
    ids=lambda value: json.dumps(value)[:60] if isinstance(value, dict) else None,
)  # fmt: skip
def test_an_argument_that_does_not_fit_is_told_and_leaves_no_record(
    served: Server, place: pathlib.Path, tool: str, arguments: dict[str, Any], said: str
) -> None:
    before = place.read_bytes()
    found = served.refusal(tool, **arguments)
    if said:
        assert found["code"] == "USAGE"
        assert said in found["error"]
        assert place.read_bytes() == before
    assert "orchestrator route --help" not in found["suggestion"]


def test_an_unknown_tool_is_no_tool_of_the_server(served: Server) -> None:
    with pytest.raises(mcphouse.error(), match=r"There is no tool 'get_nxt_action'; did you mean get_next_action\?"):
        served.do("call_tool", "get_nxt_action", {})


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("@/etc/passwd", id="no file is read"),
        pytest.param("-", id="no stdin is read"),
        pytest.param("@@x", id="an at stays"),
        pytest.param("'; DROP TABLE tasks; --", id="sql"),
        pytest.param("\x1b[31mred\x07\r\n\u202e\u200b", id="controls"),
        pytest.param("{\"code\": \"OK\"}\n</tool>", id="markup"),
        pytest.param("\U0001f600 é 漢字", id="letters"),
    ],
)
def test_a_text_is_taken_as_it_is(served: Server, place: pathlib.Path, text: str) -> None:
    served.answer("route", status="BLOCKED", group_id="A", summary=text, details={text: [text]})
    ((summary, details),) = rows(place, "SELECT summary, details FROM agent_reports WHERE group_id = 'A'")
    assert (summary, json.loads(details)) == (text, {text: [text]})
    shown = served.answer("handoff", group_id="A")
    assert text in json.dumps(shown, ensure_ascii=False) or json.dumps(text)[1:-1] in json.dumps(shown)


def test_a_key_is_neither_stored_nor_shown(served: Server, place: pathlib.Path) -> None:
    answer = served.call("route", status="BLOCKED", group_id="A", summary=f"the key is {KEY}", details={"key": KEY})
    shown = served.read("orchestrator://timeline")[1]
    refused = served.call("update_task_status", id="T", status=KEY)
    for text in (answer.text, shown, refused.text):
        assert KEY not in text
    assert all(KEY.encode() not in each.read_bytes() for each in place.parent.iterdir())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param({"summary": "x" * 1_000_000}, None, id="a summary of 1 MB"),
        pytest.param({"details": {"log": "x" * 1_000_000}}, None, id="details of 1 MB"),
        pytest.param({"details": {"log": "x" * 3_000_000}}, None, id="details of more"),
        pytest.param({"details": {"external_dependency": "x" * 1_100_000}}, "what decides", id="what decides"),
        pytest.param({"details": {str(n): n for n in range(200_000)}}, None, id="many members"),
        pytest.param({"x" * 1_000_000: 1}, "has no argument", id="a name of 1 MB"),
        pytest.param({"current_agent": "x" * 1_000_000}, "", id="a role of 1 MB"),
        pytest.param({"group_id": "x" * 1_000_000}, "has 1000000 characters; 128 are allowed", id="an id of 1 MB"),
        pytest.param({"request_id": "x" * 1_000_000}, "request_id must have", id="a request id of 1 MB"),
    ],
)
def test_huge_arguments_are_taken_or_told(served: Server, arguments: dict[str, Any], said: str | None) -> None:
    found = served.call("route", **{"status": "BLOCKED", "group_id": "A", **arguments})
    if said is None:
        assert not found.is_error
    else:
        assert found.is_error
        assert said in found.document["error"]
        assert len(found.text) < 10_000
    assert served.answer("get_group", id="A")["success"]


def test_large_details_are_kept_in_a_file_whose_place_is_told(served: Server, place: pathlib.Path) -> None:
    given = {"blocker_details": "+ a line\n" * 200_000}
    answer = served.answer("route", status="BLOCKED", group_id="A", details=given)
    (part,) = answer["evidence"]
    file = place.parent / part["path"]
    assert (json.loads(file.read_bytes()), file.stat().st_size) == (given, part["bytes"])
    assert "It begins:" in served.answer("handoff", group_id="A")["markdown"]


# Sending twice


def test_the_same_request_is_answered_once(served: Server, place: pathlib.Path) -> None:
    report = {"status": "READY_FOR_QA", "group_id": "A", "request_id": "r1"}
    first, second = served.answer("route", **report), served.answer("route", **report)
    assert (first["repeated"], second["repeated"]) == (False, True)
    assert {**first, "repeated": None} == {**second, "repeated": None}
    assert rows(place, "SELECT count(*) FROM agent_reports WHERE group_id = 'A'") == [(1,)]
    assert served.refusal("route", **{**report, "summary": "other"})["code"] == "REQUEST_ID_REUSED"
    assert served.refusal("update_task_status", id="T1", status="in_progress", request_id="r1")["code"] == (
        "REQUEST_ID_REUSED"
    )


def test_the_same_report_of_completion_is_answered_once_whatever_the_agent_works_at_by_then(
    served: Server, place: pathlib.Path
) -> None:
    for status in ("in_progress", "done"):
        served.answer("update_task_status", id="T1", status=status)
    first = served.answer("report_completed", request_id="r2")
    with Orchestrator.open(place) as o:
        o.task_create("T2", title="next", session_id="S1", group_id="A", assignee=WORKER, by="tech_lead")
    served.answer("update_task_status", id="T2", status="in_progress")
    second = served.answer("report_completed", request_id="r2")
    assert (first["task"]["id"], second["task"]["id"], second["repeated"]) == ("T", "T", True)
    assert rows(place, "SELECT status FROM tasks WHERE id = 'T2'") == [("in_progress",)]


# The database


def test_what_became_of_the_database_is_told_by_each_call(served: Server, place: pathlib.Path, prepared: bytes) -> None:
    assert served.answer("get_status")["state"] == "running"
    place.unlink()
    missing = served.refusal("get_status")
    assert missing["code"] == "NO_DATABASE"
    # Whether this machine has seen steps of it depends on which tests ran before.
    assert missing["error"].startswith(("The database is gone: ", "The database does not exist."))
    place.write_bytes(b"no database at all, but a text that is long enough to be taken for one" * 9)
    assert served.refusal("route", status="READY_FOR_QA", group_id="A")["code"] in ("CORRUPT", "NO_DATABASE")
    _put(place, prepared)
    connection = sqlite3.connect(place)
    connection.execute("PRAGMA user_version = 9999")
    connection.close()
    too_new = [served.refusal(tool, **given) for tool, given in (("get_status", {}), ("report_completed", {}))]
    assert {each["code"] for each in too_new} == {"SCHEMA_TOO_NEW"}
    for each in (missing, *too_new):
        assert str(place.parent) not in json.dumps(each)
        assert "db" not in each
    _put(place, prepared)
    assert served.answer("get_status")["state"] == "running"


def test_a_server_may_be_started_before_its_database(
    stand_in: pathlib.Path, environment: dict[str, str], prepared: bytes
) -> None:
    database = pathlib.Path(environment["ORCHESTRATOR_DB"])
    with connected(stand_in, environment, WORKER) as server:
        assert server.refusal("get_status")["code"] == "NO_DATABASE"
        assert [each.uri for each in server.do("list_resources").resources] == [
            "orchestrator://workflow", "orchestrator://timeline"
        ]
        with pytest.raises(mcphouse.error()) as caught:
            server.read("orchestrator://workflow")
        assert caught.value.data["code"] == "NO_DATABASE"
        assert str(database.parent) not in str(caught.value.data)
        database.write_bytes(prepared)
        assert server.answer("get_status")["state"] == "running"


def test_nothing_of_the_database_is_held_between_calls(installed_wire: Callable[..., Wire], path: pathlib.Path) -> None:
    server = installed_wire()
    server.shake_hands()
    assert server.call("get_status")["success"]
    assert server.call("update_task_status", id="T1", status="in_progress")["success"]
    # The whole log can be written back and emptied, and no lock stands in the way of another writer.
    connection = sqlite3.connect(path, isolation_level=None, timeout=0)
    try:
        assert connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone() == (0, 0, 0)
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("ROLLBACK")
    finally:
        connection.close()
    assert path.with_name(f"{path.name}-wal").stat().st_size == 0
    assert server.call("get_status")["success"]


def test_a_database_that_is_locked_is_busy_for_that_call(
    stand_in: pathlib.Path, environment: dict[str, str], path: pathlib.Path
) -> None:
    with connected(stand_in, {**environment, "ORCHESTRATOR_BUSY_TIMEOUT": "0.2"}, WORKER) as server:
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute("BEGIN IMMEDIATE")
        assert server.refusal("update_task_status", id="T1", status="in_progress")["code"] == "BUSY"
        assert server.answer("get_status")["state"] == "running"
        connection.execute("ROLLBACK")
        connection.close()
        assert server.answer("update_task_status", id="T1", status="in_progress")["task"]["status"] == "in_progress"


def test_two_servers_at_once_lose_nothing(
    stand_in: pathlib.Path, environment: dict[str, str], path: pathlib.Path, ask: Ask
) -> None:
    rounds = 6
    agents = (WORKER, "qa_expert")
    with Orchestrator.open(path) as o:
        o.task_set_status("Q", "in_progress", session_id="S1", by="qa_expert")
        for agent, parent in zip(agents, ("T", "Q"), strict=True):
            for number in range(rounds):
                o.task_create(f"{agent}-{number}", title="part", session_id="S1", parent=parent, assignee=agent)
    failures: list[BaseException] = []

    def work(server: Server, agent: str) -> None:
        try:
            for number in range(rounds):
                for status in ("in_progress", "done"):
                    server.answer("update_task_status", id=f"{agent}-{number}", status=status)
        except BaseException as problem:
            failures.append(problem)

    with connected(stand_in, environment, agents[0]) as one, connected(stand_in, environment, agents[1]) as other:
        threads = [threading.Thread(target=work, args=each) for each in ((one, agents[0]), (other, agents[1]))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert failures == []
    done = rows(path, "SELECT assignee, count(*) FROM tasks WHERE status = 'done' GROUP BY assignee ORDER BY assignee")
    assert done == [(agent, rounds) for agent in agents]
    steps = [seq for (seq,) in rows(path, "SELECT seq FROM audit_events WHERE session_id = 'S1' ORDER BY seq")]
    assert steps == list(range(1, len(steps) + 1))
    assert ask(path, "audit", "verify")["ok"]


# The wire


def test_calls_that_are_sent_at_once_are_all_answered_before_the_end(wire: Callable[..., Wire]) -> None:
    server = wire()
    server.shake_hands()
    asked = [server.send("tools/call", {"name": "get_group", "arguments": {"id": "A"}}) for _ in range(10)]
    asked.append(server.send("tools/call", {"name": "report_completed", "arguments": {}}))
    code, out, log = server.end()
    answered = [json.loads(line) for line in out.splitlines()]
    assert sorted(each["id"] for each in answered) == asked
    assert all("result" in each for each in answered)
    assert (code, log) == (0, "")


HOSTILE = {
    "no json": (b"{nonsense", None, -32700),
    "no text": (b'{"jsonrpc": "2.0", "id": 70, "method": "ping", "params": {"x": "\xff"}}', None, -32700),
    "a doubled key": (b'{"jsonrpc": "2.0", "id": 71, "method": "ping", "method": "ping"}', 71, -32700),
    "a number that is none": (b'{"jsonrpc": "2.0", "id": 72, "method": "ping", "params": {"x": NaN}}', 72, -32700),
    "half a letter": (b'{"jsonrpc": "2.0", "id": 73, "method": "ping", "params": {"x": "\\ud800"}}', 73, -32700),
    "a NUL": (b'{"jsonrpc": "2.0", "id": 74, "method": "ping", "params": {"x": "\\u0000"}}', 74, -32700),
    "too deep": (b'{"jsonrpc": "2.0", "id": 75, "method": "ping", "params": ' + b"[" * 5000, None, -32700),
    "a list": (b"[1, 2]", None, -32600),
    "an id that is null": (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', None, -32600),
    "an id that is an object": (b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}', None, -32600),
    "an id that is a fraction": (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', None, -32600),
    "an id that is true": (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}', None, -32600),
    "no method": (b'{"jsonrpc": "2.0", "id": 76}', 76, -32600),
    "another protocol": (b'{"jsonrpc": "1.0", "id": 77, "method": "ping"}', 77, -32600),
    "too long": (b'{"jsonrpc": "2.0", "id": 78, "method": "' + b"x" * LINE_LIMIT + b'"}', 78, -32600),
    "too long, its id last": (b'{"params": {"x": "' + b"x" * (LINE_LIMIT + 1) + b'"}, "id": "a"}', "a", -32600),
    "too long, without an id": (b"[" + b"x" * LINE_LIMIT, None, -32600),
}


def test_a_line_that_is_no_message_is_answered_and_costs_nothing_else(wire: Callable[..., Wire]) -> None:
    server = wire()
    server.shake_hands()
    for name, (line, id_, code) in HOSTILE.items():
        server.write(line)
        answer = server.read()
        assert (name, answer["id"], answer["error"]["code"]) == (name, id_, code)
        assert "Traceback" not in answer["error"]["message"]
        server.write(b"  ")
        assert server.ask("ping", {})["result"] == {}
    code, out, log = server.end()
    assert (code, out) == (0, "")
    assert "Traceback" not in log


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"name": "route", "arguments": "x"}, "Invalid request parameters"),
        ({"arguments": {}}, "Invalid request parameters"),
        ({"name": "a\x1bb"}, "There is no tool 'a\\x1bb'."),
    ],
)
def test_a_call_that_is_none_is_an_error_of_the_protocol(
    wire: Callable[..., Wire], params: dict[str, Any], said: str
) -> None:
    server = wire()
    server.shake_hands()
    assert server.ask("tools/call", params)["error"]["message"] == said


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_signal_ends_the_server_while_it_waits(wire: Callable[..., Wire], number: int, code: int) -> None:
    server = wire()
    server.shake_hands()
    assert server.call("get_group", id="A")["success"]
    server.process.send_signal(number)
    assert server.process.wait(timeout=30) == code
    assert server.end()[1:] == ("", "")


def test_a_signal_ends_what_validation_runs_and_nothing_is_recorded(
    wire: Callable[..., Wire], path: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    begun = tmp_path / "begun"
    script = f"import os, pathlib, time; pathlib.Path({str(begun)!r}).write_text(str(os.getpid())); time.sleep(60)"
    with Orchestrator.open(path) as o:
        o.criterion_add("C", "ends", session_id="S1", command=(sys.executable, "-c", script), reason="x")
        before = o.status("S1")["verdict"]
    server = wire()
    server.shake_hands()
    asked = server.send("tools/call", {"name": "validate_session", "arguments": {"record": True}})
    # While one call is long, others are answered.
    assert server.call("get_group", id="A")["success"]
    until = time.monotonic() + 30
    while not (begun.exists() and begun.read_text()) and time.monotonic() < until:
        time.sleep(0.02)
    server.process.send_signal(signal.SIGTERM)
    answer = server.read()
    assert (answer["id"], answer["result"]["structuredContent"]["code"]) == (asked, "INTERRUPTED")
    assert server.end()[:2] == (0, "")
    with pytest.raises(ProcessLookupError):
        os.kill(int(begun.read_text()), 0)
    with Orchestrator.open(path) as o:
        assert o.status("S1")["verdict"] == before


def test_a_client_that_goes_away_ends_the_server(wire: Callable[..., Wire]) -> None:
    server = wire()
    server.shake_hands()
    assert server.process.stdout is not None
    server.process.stdout.close()
    server.send("tools/call", {"name": "get_status", "arguments": {}})
    assert server.process.wait(timeout=30) == 0
    assert server.process.stderr is not None
    assert "Traceback" not in server.process.stderr.read().decode()


@pytest.mark.parametrize("whole", [2, *(pytest.param(each, marks=long_form) for each in (0, 5))])
def test_a_server_that_is_killed_leaves_whole_steps(
    installed_wire: Callable[..., Wire], wire: Callable[..., Wire], path: pathlib.Path, ask: Ask, whole: int
) -> None:
    """Killed in the middle of a row of calls, once so many of them are done, and after a moment that differs."""
    parts = [f"P{number}" for number in range(80)]
    with Orchestrator.open(path) as o:
        for part in parts:
            o.task_create(part, title="part", session_id="S1", parent="T", assignee=WORKER, by=WORKER)
    server = installed_wire()
    server.shake_hands()
    for part in parts:
        given = {"id": part, "status": "in_progress", "request_id": f"start {part}"}
        server.send("tools/call", {"name": "update_task_status", "arguments": given})
    for _ in range(whole):
        server.read()
    time.sleep(0.013 * (whole + 1))
    server.process.kill()
    server.process.wait()
    verified = ask(path, "audit", "verify", "S1")
    assert (verified["ok"], verified["findings"]) == (True, [])
    kept = [request for (request,) in rows(path, "SELECT request_id FROM requests ORDER BY request_id")]
    begun = rows(path, "SELECT 'start ' || id FROM tasks WHERE parent_id = 'T' AND status = 'in_progress' ORDER BY id")
    assert [request for (request,) in begun] == kept
    assert whole <= len(kept) < len(parts)
    again = wire()
    again.shake_hands()
    after = again.call("update_task_status", id=parts[-1], status="in_progress", request_id=f"start {parts[-1]}")
    assert (after["success"], after["task"]["status"]) == (True, "in_progress")
    assert again.end()[0] == 0


def test_one_server_serves_a_main_agent_for_every_role(stand_in: pathlib.Path, environment: dict[str, str]) -> None:
    path = pathlib.Path(environment["ORCHESTRATOR_DB"])
    with Orchestrator.create(path):
        pass
    plan = {"groups": [{"id": "A", "name": "login"}]}
    said = {"status": "PLANNING_COMPLETE", "summary": "one group", "details": {"plan": plan}}
    with connected(stand_in, {"ORCHESTRATOR_DB": str(path)}, None) as server:
        server.answer("create_session", id="S1", goal="Ship it")
        hand_off = server.answer("handoff", start=True)["markdown"]
        assert server.answer("route", message=f"```json\n{json.dumps(said)}\n```")["next_agent"] == "developer"
        for status in ("READY_FOR_QA", "PASS", "APPROVED", "MERGE_SUCCESS"):
            server.answer("handoff", start=True, group_id="A")
            server.answer("route", message=f"STATUS: {status}", group_id="A")
        assert hand_off.startswith("[orchestrator S1 - turn 1 project_manager spawn]")
        listed = {each.name: each for each in server.do("list_prompts").prompts}
        assert {each.name for each in listed["report"].arguments if each.required} == {"role", "status"}
        (prompt,) = server.do("get_prompt", "project_manager").messages
        assert prompt.content.text.startswith("[orchestrator S1 - turn ")
        with pytest.raises(mcphouse.error()) as caught:
            server.do("get_prompt", "developer")
        assert caught.value.error.data["code"] == "UNKNOWN_ID"
        server.answer("handoff", start=True)
        server.answer("route", status="BAZINGA", summary="done")
        assert server.answer("validate_session")["verdict"] == "ACCEPT"
    assert {row[0] for row in rows(path, "SELECT via FROM starts")} == {"mcp"}


def test_the_log_is_the_only_other_output(
    script: pathlib.Path, environment: dict[str, str], path: pathlib.Path
) -> None:
    path.unlink()
    server = Wire(script, environment, WORKER)
    server.shake_hands()
    assert server.call("get_status")["code"] == "NO_DATABASE"
    code, out, log = server.end()
    assert (code, out) == (0, "")
    assert log.startswith("orchestrator mcp: NO_DATABASE: ")
    assert len(log.splitlines()) == 1
