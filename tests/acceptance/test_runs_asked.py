"""What the flags of a run ask for, and what is told before any executor is called."""

from __future__ import annotations

import json

import pytest

from tests.acceptance.replhouse import House

ASK = ("what is x", "--type", "READ_INFO")


@pytest.mark.parametrize("model", ["", "  "], ids=["empty", "blank"])
@pytest.mark.parametrize("provider", ["claude-code", "openai"])
def test_p23_an_empty_model_is_an_error_before_any_session_begins(model: str, provider: str, house: House) -> None:
    executor = house.program(f"touch {house.base}/called; echo ok")
    done = house.run(*ASK, "--model", model, "--provider", provider, command="run", executor=executor)
    assert (done.code, done.out) == (1, "")
    assert "error E104: The model name is blank." in done.err
    assert "--model NAME" in done.err
    assert not (house.base / "called").exists()
    assert not (house.project / ".orchestrator").exists()


@pytest.mark.parametrize("flag", ["--provider", "--executor"])
def test_p23_without_a_model_the_error_says_where_it_is_named(flag: str, house: House) -> None:
    """Naming a provider's executor chooses the provider, with all that it needs."""
    done = house.run(*ASK, flag, "openai", command="run", OPENAI_API_KEY="x" * 20)
    assert (done.code, done.results) == (1, ["ERROR"]), done.out + done.err
    assert done.whys == [
        "Provider openai needs a model name. Name it with --model NAME; in a REPL, with /model NAME"
    ]
    assert "[HINT]    Name it with --model NAME; in a REPL, with /model NAME\n" in done.out
    assert "E208" not in done.err
    assert "Report: " in done.out


@pytest.mark.parametrize("flag", ["--provider", "--executor"])
def test_p24_without_a_key_the_command_that_sets_it_is_told_as_it_is_typed(flag: str, house: House) -> None:
    done = house.run(*ASK, flag, "openai", "--model", "gpt", command="run")
    assert (done.code, done.results) == (1, ["ERROR"]), done.out + done.err
    assert done.whys == [
        "OPENAI_API_KEY is NOT SET, and provider openai needs it. export OPENAI_API_KEY=KEY"
    ]
    assert "[HINT]    export OPENAI_API_KEY=KEY\n" in done.out


def test_p23_an_executor_of_another_provider_is_refused(house: House) -> None:
    done = house.run(*ASK, "--executor", "openai", "--provider", "anthropic", command="run")
    assert (done.code, done.out) == (1, "")
    assert "error E104: The executor openai does not belong to provider anthropic." in done.err


def test_p40_the_header_names_the_stub_that_executes(house: House) -> None:
    done = house.run(*ASK, command="run", PM_EXECUTOR_MODE="recovery-stub", PM_RECOVERY_SCENARIO="success")
    assert "READ_INFO, executor recovery-stub\n" in done.out
    assert "claude-code" not in done.out


@pytest.mark.parametrize("command", ["run", "repl"])
def test_p40_an_unknown_mode_ends_the_process(command: str, house: House) -> None:
    done = house.run(*ASK[: 3 * (command == "run")], command=command, PM_EXECUTOR_MODE="bogus")
    assert (done.code, done.out) == (1, "")
    assert done.err == "[FATAL] PM_EXECUTOR_MODE must be recovery-stub, or not set\n"


@pytest.mark.parametrize(("flag", "usual"), [("--executor-timeout", "60000"), ("--progress-timeout", "30000")])
def test_a_wrong_clock_is_told_what_it_is_where_it_is_left_out(flag: str, usual: str, house: House) -> None:
    done = house.run(*ASK, flag, "0", command="run")
    assert done.code == 64
    assert f"{flag} {usual}" in done.err


@pytest.mark.parametrize("command", ["run", "repl"])
def test_p32_as_json_the_first_object_names_the_project_and_no_line_is_none(command: str, house: House) -> None:
    flags = ("--json", "--print-project-path")
    done = house.run(*ASK[: 3 * (command == "run")], *flags, command=command, executor=house.program("echo ok"))
    objects = [json.loads(line) for line in done.out.splitlines()]
    assert objects[0]["project"] == str(house.project)
    told = house.run("--help", command=command, place=()).out
    assert "with --json, the first object holds it as project" in " ".join(told.split())
