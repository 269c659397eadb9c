"""Claude Code as an executor, by way of a stand-in that prints what the real program printed."""

from __future__ import annotations

import hashlib
import json
import pathlib
import uuid
from typing import Any

import pytest

from orchestrator.core import task_types
from orchestrator.runner.executors import claude_code
from tests.contract.executors import kits, making


def run(folder: pathlib.Path, body: str, **more: Any) -> Any:
    program = making.program(folder, body, "claude")
    return claude_code.ClaudeCode(str(program), kits.surroundings()).execute(making.task(folder, **more))


SET = "set for it: ANTHROPIC_API_KEY, CLAUDE_CODE_OAUTH_TOKEN"
LOG_IN = "run `claude` and log in, or: export ANTHROPIC_API_KEY=KEY"


@pytest.mark.parametrize(
    ("name", "status", "error"),
    [
        ("success", "COMPLETE", None),
        ("stream", "COMPLETE", None),
        ("accepted-write", "COMPLETE", None),
        ("denied-write", "ERROR", "PERMISSION_DENIED: not allowed: Write"),
        ("stream-denied-write", "ERROR", "PERMISSION_DENIED: not allowed: Write"),
        (
            "not-logged-in",
            "ERROR",
            f"NOT_LOGGED_IN: Not logged in · Please run /login ({LOG_IN}; {SET})",
        ),
        (
            "not-logged-in-text",
            "ERROR",
            f"NOT_LOGGED_IN: Not logged in · Please run /login ({LOG_IN}; {SET})",
        ),
        (
            "invalid-key",
            "ERROR",
            f"AUTHENTICATION: Invalid API key · Fix external API key (check the key or token; {SET})",
        ),
        (
            "rate-limit",
            "ERROR",
            "RATE_LIMIT: API Error: Request rejected (429) · limit (wait a moment, then enter the task again)",
        ),
        ("no-credit", "ERROR", "CREDIT: Credit balance is too low (add credit, or log in with another account)"),
        ("turns-exhausted", "ERROR", "TURNS_EXHAUSTED: Reached maximum number of turns (1)"),
        (
            "unknown-option",
            "ERROR",
            "EXIT_STATUS: the program ended with status 1: error: unknown option '--no-such-flag'",
        ),
        (
            "session-invalid",
            "ERROR",
            "EXIT_STATUS: the program ended with status 1: Error: Invalid session ID. Must be a valid UUID.",
        ),
        (
            "stream-without-verbose",
            "ERROR",
            "EXIT_STATUS: the program ended with status 1: Error: When using --print, --output-format=stream-json"
            " requires --verbose",
        ),
        ("version", "ERROR", "RESULT_CUT: the program printed no result object"),
    ],
)
def test_E13_what_the_real_program_printed_is_understood(
    tmp_path: pathlib.Path, name: str, status: str, error: str | None
) -> None:
    result = run(tmp_path, making.replayed(name))
    assert (result.status, result.error) == (status, error)
    assert (result.session_id, result.exit_code) == (making.SESSION, making.fixture(name)["exit_code"])


RESULT = {"type": "result", "subtype": "success", "is_error": False, "result": "I could not..."}


def told(**change: Any) -> str:
    return making.printed(json.dumps(RESULT | change))


@pytest.mark.parametrize(
    ("body", "error", "cause"),
    [
        pytest.param(told(permission_denials=[{"tool_name": "Write"}, {"tool_name": "Bash"}]),
                     "PERMISSION_DENIED: not allowed: Write, Bash", "permission_denied", id="denied"),
        pytest.param(making.printed('{"is_error": true}'),
                     "REPORTED_ERROR: the program reports an error (without a kind)", None, id="is_error"),
        pytest.param(told(is_error=True), "REPORTED_ERROR: I could not...", None, id="is_error beside success"),
        pytest.param(making.printed('{"type": "result", "is_error": false, "res'), "RESULT_CUT", None, id="half"),
        pytest.param(making.printed('{"type": "system"}', '{"type": "result", "is'), "RESULT_CUT", None,
                     id="half a last event"),
        pytest.param(making.printed('{"type": "system"}'), "RESULT_CUT: the program printed no result object", None,
                     id="no last event"),
        pytest.param(making.printed(), "RESULT_CUT: the program printed no result object", None, id="nothing"),
        pytest.param(making.printed("I am done."), "RESULT_CUT: the program printed no result object", None,
                     id="text"),
    ],
)  # fmt: skip
def test_E13_exit_status_0_is_no_success_by_itself(
    tmp_path: pathlib.Path, body: str, error: str, cause: str | None
) -> None:
    result = run(tmp_path, body)
    assert (result.status, result.exit_code, result.session_id) == ("ERROR", 0, making.SESSION)
    assert (result.error or "").startswith(error)
    assert result.cause == cause


def test_a_success_with_another_exit_status_is_an_error(tmp_path: pathlib.Path) -> None:
    body = making.replayed("success").replace('raise SystemExit(said["exit_code"])', "raise SystemExit(2)")
    result = run(tmp_path, body)
    expected = ("ERROR", "EXIT_STATUS: the program ended with status 2", 2)
    assert (result.status, result.error, result.exit_code) == expected


@pytest.mark.parametrize(
    ("named", "session"), [("", None), ("another-conversation", "another-conversation")]
)
def test_P1_a_success_of_no_or_another_conversation_is_not_this_session_s(
    tmp_path: pathlib.Path, named: str, session: str | None
) -> None:
    change = {"session_id": named} if named else {}
    result = run(tmp_path, told(**change))
    assert (result.status, result.session_id) == ("COMPLETE", session)


def test_tools_and_tokens_are_counted(tmp_path: pathlib.Path) -> None:
    result = run(tmp_path, making.replayed("stream-denied-write"))
    assert result.tool_calls == 1
    assert result.usage is not None
    assert (result.usage["input_tokens"], result.usage["output_tokens"]) == (6, 4)


def test_P20_what_is_not_told_is_not_counted(tmp_path: pathlib.Path) -> None:
    assert run(tmp_path, making.replayed("success")).tool_calls is None


ARGUMENTS = ["--output-format", "stream-json", "--verbose", "--session-id", "ID"]
WRITES = ["--permission-mode", "acceptEdits"]
ASKS = ["--permission-mode", "default", "--disallowedTools", "Edit,Write,NotebookEdit"]


@pytest.mark.parametrize(
    ("more", "stream", "expected"),
    [
        pytest.param({}, True, ["claude", "-p", *ARGUMENTS, *ASKS], id="the stream"),
        pytest.param({}, False, ["claude", "-p", "--output-format", "json", *ARGUMENTS[3:], *ASKS], id="one object"),
        pytest.param({"model": "opus"}, True, ["claude", "-p", *ARGUMENTS, "--model", "opus", *ASKS], id="a model"),
        *(
            pytest.param({"task_type": each}, True, ["claude", "-p", *ARGUMENTS, *mode], id=each)
            for each, mode in {**dict.fromkeys(task_types.TYPES, WRITES), "READ_INFO": ASKS, "REPORT": ASKS}.items()
        ),
    ],
)  # fmt: skip
def test_the_arguments(tmp_path: pathlib.Path, more: dict[str, Any], stream: bool, expected: list[str]) -> None:
    executor = claude_code.ClaudeCode(stream=stream)
    assert executor.argv(making.task(tmp_path, "-hi", **more), "ID") == expected


def test_arguments_of_the_caller_s_own_stand_for_all_types(tmp_path: pathlib.Path) -> None:
    executor = claude_code.ClaudeCode(arguments=["--permission-mode", "plan"])
    assert executor.argv(making.task(tmp_path), "ID")[-2:] == ["--permission-mode", "plan"]


PROMPTS = {
    "words": "hi", "an option": "--help", "a hyphen": "-", "lines": "a\r\nb", "Japanese": "\u30e1\u30e2",
    "a megabyte": "x" * 1_000_000,
}  # fmt: skip


@pytest.mark.parametrize("prompt", PROMPTS.values(), ids=PROMPTS)
def test_the_prompt_is_read_from_stdin_whole_and_is_no_argument(tmp_path: pathlib.Path, prompt: str) -> None:
    body = """
import hashlib
said = hashlib.sha256(sys.stdin.buffer.read()).hexdigest()
session = sys.argv[sys.argv.index("--session-id") + 1]
text = f"{said} {max(map(len, sys.argv[1:])) < 100} {sys.stdin.read()!r}"
print(json.dumps({"type": "result", "subtype": "success", "is_error": False, "result": text, "session_id": session}))
"""
    expected = hashlib.sha256(prompt.encode()).hexdigest()
    assert run(tmp_path, body, prompt=prompt).output == f"{expected} True ''"


@pytest.mark.parametrize(("prompt", "why"), [("a\0b", "a NUL character"), ("\ud800", "a lone surrogate")], ids=ascii)
def test_a_prompt_that_is_no_text_is_told(tmp_path: pathlib.Path, prompt: str, why: str) -> None:
    result = run(tmp_path, making.replayed("stream"), prompt=prompt)
    assert (result.status, result.error) == ("ERROR", f"PROMPT_INVALID: a prompt cannot hold {why}")


def test_each_attempt_has_a_conversation_of_its_own(tmp_path: pathlib.Path) -> None:
    task = making.task(tmp_path)
    attempts = [task, task._replace(attempt=2), task._replace(run_id="task-002"), task._replace(session_id="s2")]
    ids = [claude_code.conversation(each) for each in attempts]
    assert len({*ids}) == 4
    assert [str(uuid.UUID(each)) for each in ids] == ids
    assert claude_code.conversation(task) == ids[0]


def test_a_missing_program_is_told_apart_with_how_to_install_it(tmp_path: pathlib.Path) -> None:
    state = claude_code.ClaudeCode(variables={"PATH": str(tmp_path)}).is_available()
    assert state == (
        False, "PROGRAM_MISSING", "There is no program claude.",
        "install it with: npm install -g @anthropic-ai/claude-code",
    )  # fmt: skip


def test_E07_an_event_that_quotes_a_question_asks_nobody(tmp_path: pathlib.Path) -> None:
    body = "print(json.dumps({'type': 'assistant', 'text': 'Overwrite? [y/N]'}), flush=True)\ntime.sleep(2)"
    limits = making.limits(finished_prompt_ms=300)
    result = run(tmp_path, body + "\n" + making.replayed("stream"), limits=limits)
    assert (result.status, result.blocked_reason) == ("COMPLETE", None)


def test_P34_an_unfinished_line_that_asks_still_ends_it(tmp_path: pathlib.Path) -> None:
    body = "print('Do you trust this folder? [y/N] ', end='', flush=True)\ntime.sleep(600)"
    result = run(tmp_path, body, limits=making.limits(prompt_ms=300))
    assert (result.status, result.blocked_reason) == ("ERROR", "INTERACTIVE_PROMPT")
