"""Tools as data, and how their calls are translated: nothing here needs the SDK or a database."""

from __future__ import annotations

import json
import pathlib
import sys
from typing import Any

import pytest

from orchestrator import errors, resources
from orchestrator.app.kernel import arguments, operations
from orchestrator.doors.cli import main
from orchestrator.doors.cli.schema import json_schema
from orchestrator.doors.mcp import tool_calls, tools
from orchestrator.doors.mcp.tool_calls import Caller, Settings
from orchestrator.doors.mcp.tools import TOOLS, Tool
from orchestrator.store import problems

NAMES = (
    "route", "get_next_action", "update_task_status", "report_completed", "validate_session", "get_status",
    "get_group", "list_decisions", "handoff",
)  # fmt: skip
LEFT_OUT = {"route": {"agent_id", "raw_text"}, "next": {"agent_id", "group_id"}, "task set-status": {"by"},
            "validate": {"by"}}  # fmt: skip
"""Parameters that no tool takes: who acts, what is for a session as a whole, and an agent's whole message."""

every_tool = pytest.mark.parametrize("tool", TOOLS.values(), ids=list(TOOLS))


@pytest.fixture
def caller() -> Caller:
    return Caller(Settings("developer", "S1"))


def test_the_tools_are_those_that_were_agreed() -> None:
    assert tuple(TOOLS) == NAMES


@every_tool
def test_a_tool_takes_what_its_operation_takes(tool: Tool) -> None:
    known = set(arguments.parameters(tool.words))
    assert set(tool.arguments) <= known
    assert {tool.actor, *tool.fixed, *tool.aliases.values()} - {""} <= known
    if tool.name != "report_completed":
        assert known - set(tool.arguments) == LEFT_OUT.get(tool.words, set())


@every_tool
def test_no_tool_takes_an_actor(tool: Tool) -> None:
    assert {"agent_id", "by", "human_token_file"} & set(tools.taken(tool)["properties"]) == set()


@every_tool
def test_a_tool_that_writes_takes_a_request_id(tool: Tool) -> None:
    assert ("request_id" in tool.arguments) == operations.find(tool.words).is_writing


@every_tool
def test_a_schema_says_each_argument_and_allows_no_other(tool: Tool) -> None:
    schema = tools.taken(tool)
    assert (schema["type"], schema["additionalProperties"]) == ("object", False)
    assert set(schema["properties"]) == set(tool.arguments)
    assert all(each["description"] and each["type"] for each in schema["properties"].values())
    assert json.loads(json.dumps(schema)) == schema


@pytest.mark.parametrize(
    ("tool", "required"),
    [
        ("route", ["status"]),
        ("get_next_action", None),
        ("update_task_status", ["id", "status"]),
        ("report_completed", None),
        ("validate_session", None),
        ("get_status", None),
        ("get_group", ["id"]),
        ("list_decisions", None),
        ("handoff", None),
    ],
)
def test_what_cannot_be_left_out(tool: str, required: list[str] | None) -> None:
    assert tools.taken(TOOLS[tool]).get("required") == required


def test_choices_and_ranges_are_those_of_the_use_case() -> None:
    properties = tools.taken(TOOLS["route"])["properties"]
    assert properties["testing_mode"]["enum"] == ["full", "minimal", "disabled"]
    assert (properties["turn"]["minimum"], properties["turn"]["maximum"]) == (0, 2**53)
    assert properties["acknowledge"]["additionalProperties"] == {"type": "string"}
    assert tools.taken(TOOLS["list_decisions"])["properties"]["limit"]["default"] == 50


@every_tool
def test_an_answer_s_schema_is_the_command_line_s_with_an_object_at_its_root(tool: Tool) -> None:
    printed = json_schema(tool.words)
    assert tools.answered(printed) == {"type": "object", **printed}


# From a tool's arguments to a use case's parameters


@pytest.mark.parametrize(
    ("tool", "given", "taken"),
    [
        pytest.param(
            "route", {"status": "PASS"}, {"session_id": "S1", "status": "PASS", "agent_id": "developer"}, id="actor"
        ),
        pytest.param(
            "get_group", {"id": "A", "session_id": "S2"}, {"session_id": "S2", "id": "A"}, id="a session of its own"
        ),
        pytest.param("get_group", {"group_id": "A"}, {"session_id": "S1", "id": "A"}, id="another name"),
        pytest.param(
            "update_task_status", {"task_id": "T", "status": "done", "reason": None},
            {"session_id": "S1", "id": "T", "status": "done", "by": "developer"}, id="null is left out",
        ),
        pytest.param(
            "report_completed", {}, {"session_id": "S1", "status": "done", "by": "developer"}, id="a fixed status"
        ),
    ],
)  # fmt: skip
def test_arguments_are_translated(caller: Caller, tool: str, given: dict[str, Any], taken: dict[str, Any]) -> None:
    assert caller.taken(TOOLS[tool], given) == taken


@pytest.mark.parametrize(
    ("tool", "given", "said"),
    [
        pytest.param("route", {"staus": "x"}, "route has no argument 'staus'; did you mean status?", id="near"),
        pytest.param("route", {"zzzzzz": "x"}, "route has no argument 'zzzzzz'.", id="far"),
        pytest.param("route", {"group_id": "A"}, "route needs status.", id="missing"),
        pytest.param("update_task_status", {}, "update_task_status needs id, status.", id="all missing"),
        pytest.param("get_group", {"id": "A", "group_id": "B"}, "get_group was given id twice.", id="two names"),
        pytest.param("report_completed", {"status": "done"}, "report_completed has no argument 'status'", id="fixed"),
        pytest.param("route", {"status": "x", "by": "user"}, "route takes no by: who acts is fixed", id="by"),
        pytest.param("get_status", {"agent_id": "x"}, "get_status takes no agent_id", id="actor of a reading tool"),
        pytest.param("route", {"\x1b[31m": "x"}, r"route has no argument '\x1b[31m'", id="hostile name"),
    ],
)
def test_arguments_that_do_not_fit_are_told(caller: Caller, tool: str, given: dict[str, Any], said: str) -> None:
    with pytest.raises(errors.UsageError) as caught:
        caller.taken(TOOLS[tool], given)
    assert caught.value.message.startswith(said)
    assert caught.value.suggestion.startswith(f"{tool} takes: ")


# Errors

DB = "/home/a b/project/.orchestrator/orchestrator.db"


@pytest.mark.parametrize(
    ("problem", "shown"),
    [
        (problems.no_database(DB, found="named by --db"), "The database does not exist."),
        (problems.too_new(DB, 9, 6),
         "The database has schema version 9, newer than this program's version 6."),
        (problems.unread_log(DB),
         "The folder of … is read-only, but …-wal holds steps that only a user with write access can apply."),
        (errors.EnvironmentProblem("FULL", "There is no room and/or no right.", "free it"),
         "There is no room and/or no right."),
    ],
    ids=["missing", "too new", "beside it", "no path"],
)  # fmt: skip
def test_an_error_of_the_surroundings_names_no_path(problem: errors.OrchestratorError, shown: str) -> None:
    found = tool_calls.failure(problem, None)
    assert found["error"] == shown
    assert "/home" not in json.dumps(found)


def test_a_refusal_is_the_command_line_s_object() -> None:
    problem = errors.Refused("OUT_OF_TURN", "Not you.", "wait", expected_agent="qa_expert", _turn=3)
    assert tool_calls.failure(problem, "S1") == {
        "success": False, "schema": 1, "code": "OUT_OF_TURN", "error": "Not you.", "suggestion": "wait",
        "status_hint": 'get_status {"session_id": "S1"}', "expected_agent": "qa_expert",
    }  # fmt: skip


def test_a_fault_of_the_program_says_neither_where_nor_what(
    caller: Caller, capsys: pytest.CaptureFixture[str]
) -> None:
    reply = caller.failed(ValueError(f"SELECT secret FROM {DB}"), None)
    assert (reply.is_error, reply.document["code"], reply.document["error"]) == (
        True, "INTERNAL", "Unexpected: ValueError."
    )  # fmt: skip
    assert "SELECT" not in reply.text
    assert "ValueError: 'SELECT secret" in capsys.readouterr().err


def test_what_is_shown_is_masked_and_is_plain_json() -> None:
    key = "sk-ant-api03-" + "a1B2" * 12
    found = tool_calls.shown({"summary": f"the key is {key}", "path": pathlib.PurePosixPath("x"), "parts": ("a",)})
    assert key not in json.dumps(found)
    assert (found["path"], found["parts"]) == ("x", ["a"])


# The command


@pytest.fixture
def streams(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> pytest.CaptureFixture[str]:
    monkeypatch.delenv("ORCHESTRATOR_JSON", raising=False)
    return capfd


@pytest.mark.parametrize("missing", ["mcp", "mcp.server.stdio", "mcp_types"])
def test_without_the_package_or_with_another_release_the_command_says_what_to_install(
    streams: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    for own in ("serving", "server", "streams"):
        monkeypatch.delitem(sys.modules, f"orchestrator.doors.mcp.{own}", raising=False)
    for loaded in [name for name in sys.modules if name.startswith(f"{missing}.")]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, missing, None)
    assert main.main(["mcp", "--agent-id", "developer"]) == 5
    said = streams.readouterr()
    assert said.out == ""
    assert "EXTRA_MISSING" in said.err
    assert resources.installing("mcp") in said.err


@pytest.mark.parametrize(
    ("words", "code"),
    [
        pytest.param(["--agent-id"], "USAGE", id="nobody"),
        pytest.param(["--agent-id", "a b"], "INVALID_ID", id="no agent's id"),
        pytest.param(["--agent-id", "developer", "-s", "a/b"], "INVALID_ID", id="no session's id"),
        pytest.param(["--agent-id", "developer", "--agnt", "x"], "USAGE", id="an unknown option"),
    ],
)
def test_a_start_that_cannot_be_right_is_wrong_usage(
    streams: pytest.CaptureFixture[str], words: list[str], code: str
) -> None:
    assert main.main(["mcp", *words]) == 64
    said = streams.readouterr()
    assert (said.out, code in said.err) == ("", True)


@pytest.mark.parametrize("name", ["details", "metadata", "acknowledge"])
def test_an_object_may_come_as_its_json(caller: Caller, name: str) -> None:
    given = {"group_id": "A", "status": "PASS", name: '{"A": "b"}'}
    assert caller.taken(TOOLS["route"], given)[name] == {"A": "b"}
    assert caller.taken(TOOLS["route"], {**given, name: {"A": "b"}})[name] == {"A": "b"}


@pytest.mark.parametrize(
    ("value", "why"),
    [
        pytest.param(
            "words", "and the text of details is not valid JSON: Expecting value at line 1, column 1", id="text"
        ),
        pytest.param("[1]", "not text '[1]'", id="JSON of a list"),
        pytest.param(["a"], "not a list", id="list"),
        pytest.param(3, "not a number", id="number"),
        pytest.param('{"a": 1, "a": 2}', "and the text of details has a duplicate key: $.a", id="key twice"),
    ],
)
def test_what_is_no_object_is_told_the_form_that_is_wanted(caller: Caller, value: Any, why: str) -> None:
    with pytest.raises(errors.UsageError) as caught:
        caller.taken(TOOLS["route"], {"group_id": "A", "status": "PASS", "details": value})
    assert caught.value.message == f"route: details must be an object, {why}."
    assert caught.value.suggestion == 'Send it as "details": {"files": ["login.py"]}'


def test_a_text_that_is_asked_for_is_not_read_as_json(caller: Caller) -> None:
    given = {"group_id": "A", "status": "PASS", "summary": '{"a": 1}'}
    assert caller.taken(TOOLS["route"], given)["summary"] == '{"a": 1}'
