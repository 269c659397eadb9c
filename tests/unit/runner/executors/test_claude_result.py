"""What Claude Code's result object means: denied tools and `is_error` beat what it calls itself."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

from orchestrator.runner.executors import claude_stream
from tests.contract.executors import making

ISSUED = "11111111-2222-5333-8444-555555555555"
GOOD = {"type": "result", "subtype": "success", "is_error": False, "result": "pong", "session_id": ISSUED}


def read(folder: pathlib.Path, found: dict[str, Any]) -> Any:
    return claude_stream.read_result(making.task(folder), found, ISSUED)


def real(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(making.fixture(name)["stdout"][-1].replace("@SESSION@", ISSUED))
    return found


@pytest.mark.parametrize(
    ("name", "error", "cause"),
    [
        (
            "not-logged-in",
            "NOT_LOGGED_IN: Not logged in · Please run /login",
            "external",
        ),
        ("invalid-key", "AUTHENTICATION: Invalid API key · Fix external API key", "external"),
        ("rate-limit", "RATE_LIMIT: API Error: Request rejected (429) · limit", "mcp_transient"),
        ("no-credit", "CREDIT: Credit balance is too low", "external"),
        ("turns-exhausted", "TURNS_EXHAUSTED: Reached maximum number of turns (1)", "phase_incomplete"),
        ("denied-write", "PERMISSION_DENIED: not allowed: Write", "permission_denied"),
        ("stream-denied-write", "PERMISSION_DENIED: not allowed: Write", "permission_denied"),
    ],
)
def test_E13_each_failure_of_the_real_program_has_its_kind(
    tmp_path: pathlib.Path, name: str, error: str, cause: str
) -> None:
    result = read(tmp_path, real(name))
    assert (result.status, result.session_id) == ("ERROR", making.SESSION)
    assert (result.error, result.cause) == (error, cause)


def test_an_unknown_model_is_told(tmp_path: pathlib.Path) -> None:
    result = read(tmp_path, real("unknown-model"))
    assert (result.status, (result.error or "").partition(":")[0]) == ("ERROR", "MODEL_UNKNOWN")


@pytest.mark.parametrize("name", ["success", "accepted-write", "stream"])
def test_each_success_of_the_real_program_is_one(tmp_path: pathlib.Path, name: str) -> None:
    result = read(tmp_path, real(name))
    assert (result.status, result.session_id, result.output) == ("COMPLETE", making.SESSION, "pong")
    assert result.usage is not None
    assert result.usage["output_tokens"] > 0


@pytest.mark.parametrize(
    ("status", "kind"),
    [(400, "REQUEST_INVALID"), (401, "AUTHENTICATION"), (403, "AUTHENTICATION"), (404, "MODEL_UNKNOWN"),
     (408, "API_TIMEOUT"), (429, "RATE_LIMIT"), (500, "SERVICE"), (529, "SERVICE"), (418, "REPORTED_ERROR"),
     (None, "REPORTED_ERROR"), ("401", "REPORTED_ERROR")],
)  # fmt: skip
def test_the_status_of_the_api_tells_the_kind(tmp_path: pathlib.Path, status: object, kind: str) -> None:
    result = read(tmp_path, GOOD | {"is_error": True, "api_error_status": status, "result": "no"})
    assert result.error == f"{kind}: no"


def test_E13_all_denied_tools_are_listed_once_each(tmp_path: pathlib.Path) -> None:
    denials = [{"tool_name": "Write"}, {"tool_name": "Bash"}, {"tool_name": "Write"}, {}]
    result = read(tmp_path, GOOD | {"permission_denials": denials, "result": "I could not..."})
    assert result.denied_tools == ("Write", "Bash", "a tool without a name")
    assert (result.status, result.cause, result.output) == ("ERROR", "permission_denied", "I could not...")


@pytest.mark.parametrize(
    "found",
    [
        pytest.param({"is_error": True}, id="an error without more"),
        pytest.param({"is_error": False, "permission_denials": [{"tool_name": "Write"}]}, id="denied"),
    ],
)
def test_E13_a_failure_needs_no_session(tmp_path: pathlib.Path, found: dict[str, Any]) -> None:
    result = read(tmp_path, found)
    assert (result.status, result.session_id) == ("ERROR", making.SESSION)


@pytest.mark.parametrize(
    ("named", "session"), [(None, None), ("other", "other"), (5, "5"), (ISSUED, making.SESSION)]
)
def test_P1_a_success_names_its_session(tmp_path: pathlib.Path, named: object, session: str | None) -> None:
    result = read(tmp_path, GOOD | {"session_id": named})
    assert (result.status, result.session_id) == ("COMPLETE", session)


def test_P1_a_failure_of_another_session_is_not_taken_for_this_one(tmp_path: pathlib.Path) -> None:
    assert read(tmp_path, GOOD | {"is_error": True, "session_id": "other"}).session_id == "other"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"is_error": "false"}, "is_error is neither true nor false"),
        ({"is_error": None}, "is_error is neither true nor false"),
        ({"is_error": 0}, "is_error is neither true nor false"),
        ({"type": "assistant"}, "type and subtype are 'assistant' and 'success'"),
        ({"subtype": "error_during_execution"}, "type and subtype are 'result' and 'error_during_execution'"),
        ({"result": None}, "result is not a text"),
        ({"permission_denials": "Write"}, "permission_denials is not a list of objects"),
        ({"permission_denials": None}, "permission_denials is not a list of objects"),
        ({"permission_denials": ["Write"]}, "permission_denials is not a list of objects"),
    ],
)
def test_what_does_not_look_like_a_success_is_none(
    tmp_path: pathlib.Path, change: dict[str, Any], sentence: str
) -> None:
    result = read(tmp_path, GOOD | change)
    assert (result.status, result.error) == ("ERROR", f"RESULT_INVALID: {sentence}")
