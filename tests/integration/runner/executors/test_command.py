"""Real programs behind the command executor: what they print, ask, leave behind and end with."""

from __future__ import annotations

import json
import pathlib
import time
from typing import Any

import pytest

from orchestrator.runner import port
from orchestrator.runner.executors import command
from tests.contract.executors import kits, making


def run(folder: pathlib.Path, body: str, prompt: str = "x", *, template: tuple[str, ...] = (), **more: Any) -> Any:
    program = making.program(folder, body)
    executor = command.Command([str(program), *template], kits.surroundings())
    return executor.execute(making.task(folder, prompt, **more))


def said(**found: Any) -> str:
    return making.printed(json.dumps({"session_id": making.SESSION} | found))


def test_text_is_the_answer_and_carries_the_issued_session(tmp_path: pathlib.Path) -> None:
    result = run(tmp_path, "print('It is', end=' '); print('small.')")
    assert (result.status, result.output, result.session_id) == ("COMPLETE", "It is small.", making.SESSION)
    assert (result.exit_code, result.output_bytes, result.claimed_files) == (0, 13, ())


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(said(status="COMPLETE", output="a"), ("COMPLETE", making.SESSION, "a", None), id="a result"),
        pytest.param("print('log')\n" + said(status="INCOMPLETE", output="b"),
                     ("INCOMPLETE", making.SESSION, "b", None), id="a result on the last line"),
        pytest.param(making.printed('{"status": "COMPLETE", "output": "c"}'),
                     ("COMPLETE", None, "c", None), id="P1: no session"),
        pytest.param(said(status="COMPLETE", output="d", session_id="other"),
                     ("COMPLETE", "other", "d", None), id="P1: another session"),
        pytest.param("print('a log', file=sys.stderr)", ("COMPLETE", making.SESSION, "", None), id="P8: no answer"),
        pytest.param(making.printed('{"is_error": true}'),
                     ("ERROR", making.SESSION, "",
                      "REPORTED_ERROR: the program reports an error (without a kind)"), id="E13: is_error"),
        pytest.param("print('\\x1b[32mgreen\\x1b[0m\\ttab')", ("COMPLETE", making.SESSION, "green tab", None),
                     id="colours"),
    ],
)  # fmt: skip
def test_the_answer_is_read(tmp_path: pathlib.Path, body: str, expected: tuple[str | None, ...]) -> None:
    result = run(tmp_path, body)
    assert (result.status, result.session_id, result.output, result.error) == expected


def test_E13_denied_tools_are_an_error_with_exit_status_0(tmp_path: pathlib.Path) -> None:
    found = {"type": "result", "subtype": "success", "is_error": False, "result": "I could not...",
             "permission_denials": [{"tool_name": "Write"}]}  # fmt: skip
    result = run(tmp_path, making.printed(json.dumps(found)))
    assert (result.status, result.cause, result.denied_tools) == ("ERROR", "permission_denied", ("Write",))
    assert (result.exit_code, result.session_id) == (0, making.SESSION)


def test_E13_half_an_object_is_an_error_with_exit_status_0(tmp_path: pathlib.Path) -> None:
    result = run(tmp_path, making.printed('{"status": "COMPLETE", "output": "half'))
    assert (result.status, (result.error or "").partition(":")[0]) == ("ERROR", "RESULT_CUT")


@pytest.mark.parametrize("status", [1, 3, 127, 255])
@pytest.mark.parametrize(
    "line", ["all is done", json.dumps({"status": "COMPLETE", "session_id": making.SESSION})], ids=["text", "JSON"]
)
def test_P8_another_status_than_0_is_an_error_whatever_is_printed(
    tmp_path: pathlib.Path, status: int, line: str
) -> None:
    result = run(tmp_path, f"print('no space left', file=sys.stderr)\n{making.printed(line, status=status)}")
    assert (result.status, result.exit_code, result.session_id) == ("ERROR", status, making.SESSION)
    assert result.error == f"EXIT_STATUS: the program ended with status {status}: no space left"


def test_what_a_failing_program_reports_is_kept(tmp_path: pathlib.Path) -> None:
    line = json.dumps({"status": "ERROR", "session_id": making.SESSION, "error": "no net", "cause": "external"})
    result = run(tmp_path, making.printed(line, status=2))
    assert (result.status, result.error, result.cause, result.exit_code) == ("ERROR", "no net", "external", 2)


def test_a_program_that_is_killed_is_an_error(tmp_path: pathlib.Path) -> None:
    result = run(tmp_path, "import signal\nos.kill(os.getpid(), signal.SIGKILL)")
    assert (result.status, result.exit_code, result.signal) == ("ERROR", None, 9)
    assert result.error == "SIGNAL: the program was ended by signal 9"


def test_P34_a_program_that_asks_is_ended_and_its_question_told(tmp_path: pathlib.Path) -> None:
    body = f"print('Overwrite {making.KEY}? [y/N] ', end='', flush=True)\ntime.sleep(600)"
    result = run(tmp_path, body, limits=making.limits(prompt_ms=300), secrets=(making.KEY,))
    assert (result.status, result.executor_blocked, result.blocked_reason) == ("ERROR", True, "INTERACTIVE_PROMPT")
    assert result.prompt is not None
    assert result.prompt.endswith("? [y/N]")
    assert making.KEY not in repr(result)


def test_P35_the_task_s_own_clock_is_named(tmp_path: pathlib.Path) -> None:
    limits = making.limits(task_deadline=time.monotonic() + 1, task_limit_ms=300_000)
    result = run(tmp_path, making.HANG, limits=limits)
    assert (result.limit, result.timeout_ms, result.cause) == ("task_limits.seconds", 300_000, "timeout")


def test_P8_work_that_is_left_in_the_background_is_told_and_ended(tmp_path: pathlib.Path) -> None:
    body = """
import subprocess
subprocess.Popen(["sleep", "600"], start_new_session=True)
print("polling started")
"""
    result = run(tmp_path, body)
    assert (result.status, result.background, result.leftovers) == ("COMPLETE", True, ())


@pytest.mark.parametrize(
    ("name", "background", "unfinished"),
    [
        ("background-stopped", True, ("x (stopped)",)),
        ("background-completed", False, ()),
        ("success", None, ()),
    ],
)
def test_P8_a_script_that_starts_claude_code_tells_of_background_work_by_its_events(
    tmp_path: pathlib.Path, name: str, background: bool | None, unfinished: tuple[str, ...]
) -> None:
    said = making.replayed(name).replace('"none"', repr(making.SESSION))
    result = run(tmp_path, said)
    assert (result.status, result.session_id) == ("COMPLETE", making.SESSION)
    assert (result.background, result.unfinished) == (background, unfinished)


def test_a_result_of_its_own_behind_the_events_of_another_program_is_the_result(tmp_path: pathlib.Path) -> None:
    own = json.dumps({"type": "result", "status": "INCOMPLETE", "session_id": making.SESSION, "output": "half"})
    result = run(tmp_path, making.printed('{"type": "system"}', own))
    assert (result.status, result.output, result.background) == ("INCOMPLETE", "half", None)


@pytest.mark.parametrize(
    "template",
    [
        pytest.param((), id="no place"),
        pytest.param(("{prompt}",), id="an argument"),
        pytest.param(("--task={prompt_file}",), id="a file"),
    ],
)
def test_the_prompt_arrives_as_argument_or_file(tmp_path: pathlib.Path, template: tuple[str, ...]) -> None:
    body = """
text = sys.argv[1]
print(open(text.removeprefix("--task="), newline="").read() if text.startswith("--task=") else text, end="")
"""
    prompt = "fix {project};\n\t$(id) `x` 'y' \"z\" 変更 end"
    assert run(tmp_path, body, prompt, template=template).output == prompt


def test_a_prompt_s_file_holds_what_no_argument_does_and_is_gone_afterwards(tmp_path: pathlib.Path) -> None:
    body = "path = sys.argv[1]\nprint(path, len(open(path).read()))"
    path, size = run(tmp_path, body, "a" * 300_000, template=("{prompt_file}",)).output.split()
    assert (pathlib.Path(path).exists(), size) == (False, "300000")
    assert tmp_path not in pathlib.Path(path).parents


def test_the_program_knows_the_ids_that_it_must_name(tmp_path: pathlib.Path) -> None:
    body = "print(os.environ['ORCHESTRATOR_SESSION_ID'], os.environ['ORCHESTRATOR_RUN_ID'])"
    assert run(tmp_path, body).output == f"{making.SESSION} task-001"


def test_a_long_answer_keeps_its_end_and_is_whole_in_the_evidence(tmp_path: pathlib.Path) -> None:
    task = making.task(tmp_path)
    program = making.program(tmp_path, "print('x' * 1_000_000 + 'END')")
    result = command.Command([str(program)], kits.surroundings()).execute(task)
    assert result.output.endswith("xEND")
    assert len(result.output) < 300_000
    assert result.output.startswith("[... ")
    assert task.raw is not None
    assert task.raw.stat().st_size == 1_000_004 == result.output_bytes


def test_E08_a_result_of_megabytes_on_one_line_is_read(tmp_path: pathlib.Path) -> None:
    body = f"print(json.dumps({{'status': 'COMPLETE', 'session_id': {making.SESSION!r}, 'output': 'x' * 4_000_000}}))"
    result = run(tmp_path, body)
    assert (result.status, result.error, result.session_id) == ("COMPLETE", None, making.SESSION)


def test_progress_is_told(tmp_path: pathlib.Path) -> None:
    told: list[Any] = []
    program = making.program(tmp_path, "print('working', flush=True)\ntime.sleep(1.5)")
    executor: port.Executor = command.Command([str(program)], kits.surroundings())
    executor.execute(making.task(tmp_path), watch=told.append)
    assert told[-1].line == "working"


def test_a_task_that_no_argument_can_hold_is_told_how_it_gets_through() -> None:
    assert command.argument_problem(["program", "x" * 131_071]) is None
    assert command.argument_problem(["program", "x" * 131_072]) == (
        "an argument holds 131071 bytes, and the task's has 131072; say {prompt_file} in the executor's command, which"
        " gets the task in a file"
    )
