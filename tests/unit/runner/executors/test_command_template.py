"""The arguments of a command: places are filled once, no shell gets a prompt into its script."""

from __future__ import annotations

import pathlib
import stat

import pytest

from orchestrator import errors
from orchestrator.runner.executors import command
from tests.contract.executors import making


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("tool", ["tool"]),
        ("tool --task {prompt_file}", ["tool", "--task", "{prompt_file}"]),
        ("tool 'two words' \"x\"", ["tool", "two words", "x"]),
        ("/no/such/tool", ["/no/such/tool"]),
    ],
)
def test_a_command_is_split_like_words_with_quotes(text: str, words: list[str]) -> None:
    assert command.parse(text) == words


def test_a_path_may_hold_blanks_and_be_relative(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    making.program(tmp_path, "pass", "my tool")
    making.program(tmp_path, "pass", "tool")
    monkeypatch.chdir(tmp_path)
    assert command.parse("my tool") == [str(tmp_path / "my tool")]
    assert command.parse("./tool -v") == [str(tmp_path / "tool"), "-v"]


def test_every_place_is_filled_once_and_what_is_filled_in_is_left_alone(tmp_path: pathlib.Path) -> None:
    task = making.task(tmp_path, "use {project} and {prompt}", model="m")
    template = ["tool", "{prompt}", "--in={project}", "{model}/{session_id}/{run_id}", "{other}", "{prompt_file}"]
    argv = command.filled(template, task, tmp_path)
    assert argv[1:5] == [
        "use {project} and {prompt}", f"--in={task.project}", f"m/{making.SESSION}/task-001", "{other}",
    ]  # fmt: skip
    path = pathlib.Path(argv[5])
    assert path.read_text("utf-8") == task.prompt
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_no_file_is_written_where_none_is_asked_for(tmp_path: pathlib.Path) -> None:
    command.filled(["tool", "{prompt}"], making.task(tmp_path), tmp_path / "absent")
    assert not (tmp_path / "absent").exists()


@pytest.mark.parametrize(
    ("template", "words"),
    [
        pytest.param([], "it names no program", id="nothing"),
        pytest.param([" "], "it names no program", id="blank"),
        pytest.param(["{prompt}"], "the program itself cannot be a place", id="the prompt as program"),
        pytest.param(["tool", "a\0b"], "NUL", id="a NUL character"),
        pytest.param(["sh", "-c", "echo {prompt}"], "a shell's script", id="sh -c"),
        pytest.param(["/bin/bash", "-lc", "cd {project}"], "a shell's script", id="bash -lc"),
        pytest.param(["cmd.exe", "/C", "echo {prompt}"], "a shell's script", id="cmd /C"),
        pytest.param(["pwsh", "-Command", "echo {prompt}"], "a shell's script", id="pwsh -Command"),
    ],
)
def test_a_template_with_a_problem_is_refused(template: list[str], words: str) -> None:
    with pytest.raises(errors.InvalidInput) as caught:
        command.Command(template, {})
    assert caught.value.code == "EXECUTOR_COMMAND_INVALID"
    assert words in caught.value.message


@pytest.mark.parametrize(
    "template",
    [
        pytest.param(["sh", "-c", 'echo "$1"', "sh", "{prompt}"], id="an argument of its own"),
        pytest.param(["bash", "/a/c.sh", "{prompt}"], id="a script's file"),
        pytest.param(["python3", "-c", "print(1)", "{prompt}"], id="no shell"),
    ],
)
def test_a_prompt_beside_a_script_is_accepted(template: list[str]) -> None:
    assert command.Command(template, {}).name == "command"


def test_quotes_that_do_not_end_are_refused() -> None:
    with pytest.raises(errors.InvalidInput) as caught:
        command.parse("tool 'x")
    assert caught.value.code == "EXECUTOR_COMMAND_INVALID"


def test_a_program_that_may_not_be_executed_is_told_apart(tmp_path: pathlib.Path) -> None:
    (tmp_path / "tool").write_text("x", "utf-8")
    state = command.Command([str(tmp_path / "tool")], {}).is_available()
    assert (state.available, state.code) == (False, "PROGRAM_MISSING")
    assert state.suggestion == f"allow it with: chmod +x {tmp_path / 'tool'}"
