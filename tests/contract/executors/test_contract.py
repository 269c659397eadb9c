"""What every executor keeps to, whatever is behind it."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import time
from typing import Any

import pytest

from orchestrator.runner.executors import api, failures
from tests.contract.executors import kits, making

ODD_PROMPTS = [
    pytest.param("", id="nothing"),
    pytest.param(" \n\t ", id="blanks"),
    pytest.param("--help", id="like an option"),
    pytest.param("a\0b", id="a NUL character"),
    pytest.param("a\ud800b", id="a lone surrogate"),
    pytest.param("{project} {prompt_file} %s $HOME `id`; rm x", id="places and a shell's words"),
    pytest.param("a" * 200_000, id="longer than an argument may be"),
    pytest.param("変更して\n\x1b[31m", id="Japanese and a colour"),
]


@kits.showing("answer")
def test_P37_an_answer_is_complete_and_names_the_issued_session(
    kit: kits.Kit, tmp_path: pathlib.Path, provider: making.Provider
) -> None:
    made = kit.make("answer", tmp_path, provider)
    result = made.executor.execute(making.task(tmp_path, model=made.model))
    assert (result.status, result.session_id, result.error) == ("COMPLETE", making.SESSION, None)
    assert result.output.strip()


@pytest.mark.usefixtures("sdks_loaded")
@kits.showing("fail")
def test_P37_a_failure_is_a_result_and_no_exception(
    kit: kits.Kit, tmp_path: pathlib.Path, provider: making.Provider
) -> None:
    made = kit.make("fail", tmp_path, provider)
    result = made.executor.execute(making.task(tmp_path, model=made.model))
    assert (result.status, result.session_id) == ("ERROR", making.SESSION)
    assert result.error


@kits.showing("hang")
def test_P35_a_hang_ends_with_its_clock_which_is_named(
    kit: kits.Kit, tmp_path: pathlib.Path, provider: making.Provider
) -> None:
    made = kit.make("hang", tmp_path, provider)
    limits = making.limits(executor_timeout_ms=1_200)
    begun = time.monotonic()
    result = made.executor.execute(making.task(tmp_path, model=made.model, limits=limits))
    assert (result.status, result.executor_blocked, result.blocked_reason) == ("ERROR", True, "TIMEOUT")
    assert (result.timeout_ms, result.limit, result.cause) == (1_200, "executor_timeout_ms", "timeout")
    assert result.session_id == making.SESSION
    assert 1.1 < time.monotonic() - begun < 10


@kits.showing("hang")
def test_P35_silence_ends_with_the_clock_of_progress(
    kit: kits.Kit, tmp_path: pathlib.Path, provider: making.Provider
) -> None:
    made = kit.make("hang", tmp_path, provider)
    task = making.task(tmp_path, model=made.model, limits=making.limits(progress_timeout_ms=1_000))
    result = made.executor.execute(task)
    assert (result.status, result.blocked_reason) == ("ERROR", "TIMEOUT")
    assert (result.limit, result.timeout_ms) == ("progress_timeout_ms", 1_000)


@kits.showing("hang")
def test_a_cancelled_attempt_ends_at_once_and_is_incomplete(
    kit: kits.Kit, tmp_path: pathlib.Path, provider: making.Provider
) -> None:
    made = kit.make("hang", tmp_path, provider)
    cancel_at = time.monotonic() + 0.5
    task = making.task(tmp_path, model=made.model)
    result = made.executor.execute(task, cancelled=lambda: time.monotonic() > cancel_at)
    assert (result.status, result.session_id) == ("INCOMPLETE", making.SESSION)
    assert result.error == "CANCELLED: the run was cancelled"
    assert time.monotonic() < cancel_at + 10


@pytest.mark.usefixtures("sdks_loaded")
@kits.showing("leak")
def test_P24_a_key_is_neither_in_the_result_nor_in_the_evidence(
    kit: kits.Kit, tmp_path: pathlib.Path, provider: making.Provider
) -> None:
    made = kit.make("leak", tmp_path, provider)
    task = making.task(tmp_path, model=made.model, secrets=(making.KEY,) if kit.name == "command" else ())
    result = made.executor.execute(task)
    assert result.status == "COMPLETE"
    assert " key is " in result.output
    assert making.KEY not in repr(result)
    assert task.raw is not None
    assert " key is " in task.raw.read_text("utf-8")
    assert making.KEY not in task.raw.read_text("utf-8")


def seen(
    kit: kits.Kit, folder: pathlib.Path, provider: making.Provider, monkeypatch: pytest.MonkeyPatch
) -> dict[str, Any]:
    """What the executor's process saw around it."""
    if kit.package is not None:
        body = making.SURROUNDINGS + "print(json.dumps({'text': 'seen ' + json.dumps(seen), 'usage': {}}))"
        monkeypatch.setattr(api, "CHILD", making.program(folder, body, "child"))
    made = kit.make("surroundings", folder, provider)
    result = made.executor.execute(making.task(folder, model=made.model))
    assert result.output.startswith("seen "), result
    found: dict[str, Any] = json.loads(result.output.removeprefix("seen "))
    return found


KEYS = {
    "command": set(),
    "claude-code": {"ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"},
    "codex": {"OPENAI_API_KEY"},
    "anthropic": {"ANTHROPIC_API_KEY"},
    "openai": {"OPENAI_API_KEY"},
}


@kits.showing("surroundings")
def test_P24_the_process_gets_no_key_but_its_own(
    kit: kits.Kit, tmp_path: pathlib.Path, provider: making.Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = seen(kit, tmp_path, provider, monkeypatch)["variables"]
    secret = {"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GITHUB_TOKEN", "DATABASE_PASSWORD", "CLAUDE_CODE_OAUTH_TOKEN"}
    assert secret & found.keys() == KEYS[kit.name]
    assert found["PATH"] == os.environ["PATH"]


@kits.showing("surroundings")
def test_P24_no_key_is_an_argument(
    kit: kits.Kit, tmp_path: pathlib.Path, provider: making.Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = " ".join(seen(kit, tmp_path, provider, monkeypatch)["arguments"])
    assert making.KEY not in arguments
    assert "[MASKED" not in arguments


@kits.showing("surroundings")
def test_P34_standard_input_comes_to_its_end_at_once_and_the_folder_is_the_project(
    kit: kits.Kit, tmp_path: pathlib.Path, provider: making.Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = seen(kit, tmp_path, provider, monkeypatch)
    prompt = making.task(tmp_path).prompt if kit.name in ("claude-code", "codex") else ""
    assert (found["stdin"], found["folder"]) == (prompt, str((tmp_path / "project").resolve()))


@kits.showing("absent")
def test_P37_an_executor_that_cannot_be_called_says_why_and_what_helps(
    kit: kits.Kit, tmp_path: pathlib.Path, provider: making.Provider
) -> None:
    made = kit.make("absent", tmp_path, provider)
    state = made.executor.is_available()
    result = made.executor.execute(making.task(tmp_path, model=made.model))
    assert not state.available
    assert state.reason
    assert state.suggestion
    assert (result.status, result.session_id) == ("ERROR", making.SESSION)
    assert result.error == f"{state.code}: {state.reason} {state.suggestion}"
    assert result.cause == failures.KINDS[state.code or ""]
    assert provider.requests == []


@pytest.mark.usefixtures("sdks_loaded")
@kits.showing("answer")
@pytest.mark.parametrize("prompt", ODD_PROMPTS)
def test_P37_no_prompt_makes_it_raise(
    kit: kits.Kit, tmp_path: pathlib.Path, provider: making.Provider, prompt: str
) -> None:
    made = kit.make("answer", tmp_path, provider)
    result = made.executor.execute(making.task(tmp_path, prompt, model=made.model))
    assert result.status in ("COMPLETE", "ERROR")
    assert (result.error is None) == (result.status == "COMPLETE")
    assert result.session_id == making.SESSION


@pytest.mark.usefixtures("sdks_loaded")
@kits.showing("answer")
def test_an_answer_leaves_no_file_in_the_project(
    kit: kits.Kit, tmp_path: pathlib.Path, provider: making.Provider
) -> None:
    made = kit.make("answer", tmp_path, provider)
    task = making.task(tmp_path, model=made.model)
    made.executor.execute(task)
    assert list(pathlib.Path(task.project).rglob("*")) == []


@kits.showing("answer")
def test_P37_only_real_executors_are_for_production(
    kit: kits.Kit, tmp_path: pathlib.Path, provider: making.Provider
) -> None:
    executor = kit.make("answer", tmp_path, provider).executor
    assert executor.production == (kit.behaviours == kits.PROGRAMS)


@kits.showing("answer")
def test_P37_asking_whether_it_is_available_starts_nothing(
    kit: kits.Kit, tmp_path: pathlib.Path, provider: making.Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    executor = kit.make("answer", tmp_path, provider).executor
    monkeypatch.setattr(subprocess, "Popen", None)
    assert executor.is_available().available
    assert provider.requests == []
