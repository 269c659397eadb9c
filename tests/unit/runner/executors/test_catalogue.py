"""A name or a provider stands for one executor; anything else is refused with the names there are."""

from __future__ import annotations

import pathlib

import pytest

from orchestrator import errors
from orchestrator.runner.executors import catalogue

PRODUCTION = {"ORCHESTRATOR_ENV": "production"}
STUB = {"PM_EXECUTOR_MODE": "recovery-stub", "PM_RECOVERY_SCENARIO": "error"}


@pytest.mark.parametrize(
    ("name", "executor", "production"),
    [
        ("command:cat", "command", True),
        ("command:tool --task {prompt_file}", "command", True),
        ("claude-code", "claude-code", True),
        ("codex", "codex", True),
        ("anthropic", "anthropic", True),
        ("openai", "openai", True),
        ("fake-success", "fake-success", False),
        ("fake-blocked", "fake-blocked", False),
        ("fake-error", "fake-error", False),
        ("fake-timeout", "fake-timeout", False),
    ],
)
def test_P37_each_name_stands_for_its_executor(name: str, executor: str, production: bool) -> None:
    found = catalogue.named(name, {})
    assert (found.name, found.production) == (executor, production)


def test_a_script_is_named_with_its_file(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "my script.json"
    path.write_text("[]", "utf-8")
    assert catalogue.named(f"scripted:{path}", {}).name == "scripted"


@pytest.mark.parametrize(
    ("provider", "executor"),
    [(None, "claude-code"), ("claude-code", "claude-code"), ("codex", "codex"), ("openai", "openai"),
     ("anthropic", "anthropic")],
)
def test_P23_each_provider_stands_for_its_executor(provider: str | None, executor: str) -> None:
    assert catalogue.of_provider(provider, {}).name == executor


@pytest.mark.parametrize(
    ("provider", "suggestion"),
    [
        ("foo", "use one of claude-code, codex, anthropic, openai"),
        ("", "use one of claude-code, codex, anthropic, openai"),
        ("OpenAI", "did you mean openai?"),
        ("claude", "did you mean claude-code?"),
        ("fake-success", "use one of claude-code, codex, anthropic, openai"),
    ],
)
def test_P23_an_unknown_provider_is_refused(provider: str, suggestion: str) -> None:
    with pytest.raises(errors.InvalidInput) as caught:
        catalogue.of_provider(provider, {})
    assert (caught.value.code, caught.value.suggestion) == ("PROVIDER_UNKNOWN", suggestion)
    assert "claude-code, codex, anthropic, openai" in caught.value.message


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        ("claude-cod", "did you mean claude-code?"),
        ("comand:cat", "did you mean command:PROGRAM?"),
        ("command", "write command:PROGRAM"),
        ("command:", "write command:PROGRAM"),
        ("scripted:  ", "write scripted:FILE"),
        ("fake-sucess", "did you mean fake-success?"),
        ("recovery-stub", "set PM_EXECUTOR_MODE=recovery-stub and PM_RECOVERY_SCENARIO"),
        ("zzz", "use one of command:PROGRAM, claude-code, codex, anthropic, openai"),
    ],
)
def test_an_unknown_executor_is_refused(name: str, suggestion: str) -> None:
    with pytest.raises(errors.InvalidInput) as caught:
        catalogue.named(name, {})
    assert (caught.value.code, caught.value.suggestion) == ("EXECUTOR_UNKNOWN", suggestion)
    assert caught.value.data["known"] == [*catalogue.NAMES]


@pytest.mark.parametrize("name", ["fake-success", "fake-blocked", "fake-error", "fake-timeout", "scripted:a.json"])
def test_P40_no_test_executor_is_made_in_production(name: str) -> None:
    with pytest.raises(errors.Refused) as caught:
        catalogue.named(name, PRODUCTION)
    assert caught.value.code == "EXECUTOR_FORBIDDEN"


@pytest.mark.parametrize(
    ("name", "provider", "variables", "executor"),
    [
        pytest.param(None, None, {}, "claude-code", id="nothing said"),
        pytest.param(None, "openai", {}, "openai", id="a provider"),
        pytest.param("command:cat", "openai", {}, "command", id="a name beats the provider"),
        pytest.param("command:cat", "openai", STUB, "recovery-stub", id="the stub beats both"),
        pytest.param("command:cat", None, PRODUCTION, "command", id="production"),
    ],
)
def test_the_executor_of_a_call(
    name: str | None, provider: str | None, variables: dict[str, str], executor: str
) -> None:
    assert catalogue.chosen(name, provider, variables).name == executor
