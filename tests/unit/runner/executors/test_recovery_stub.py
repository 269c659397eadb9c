"""The recovery stub: switched on by the environment, marked in every result, and never in production."""

from __future__ import annotations

import pathlib

import pytest

from orchestrator import errors
from orchestrator.core.running import simulated_failures as environment
from orchestrator.runner.executors import fakes
from tests.contract.executors import making

ON = {"PM_EXECUTOR_MODE": "recovery-stub", "PM_RECOVERY_SCENARIO": "success"}


@pytest.mark.parametrize(
    ("variables", "requested", "production"),
    [
        pytest.param({}, False, False, id="nothing set"),
        pytest.param(ON, True, False, id="on"),
        pytest.param(ON | {"ORCHESTRATOR_ENV": "production"}, True, True, id="on in production"),
        pytest.param(ON | {"NODE_ENV": "production"}, True, True, id="on, the other variable"),
        pytest.param(ON | {"NODE_ENV": " Production "}, True, True, id="written differently"),
        pytest.param(ON | {"ORCHESTRATOR_ENV": "development"}, True, False, id="on in development"),
        pytest.param(ON | {"ORCHESTRATOR_ENV": "test", "NODE_ENV": "production"}, True, True, id="one of both"),
        pytest.param({"ORCHESTRATOR_ENV": "production"}, False, True, id="production alone"),
        pytest.param({"PM_EXECUTOR_MODE": ""}, False, False, id="empty"),
        pytest.param({"PM_RECOVERY_SCENARIO": "error"}, False, False, id="a scenario alone"),
    ],
)
def test_P40_production_and_the_stub_exclude_each_other(
    variables: dict[str, str], requested: bool, production: bool
) -> None:
    assert environment.in_production(variables) == production
    expected = "[FATAL] recovery-stub is forbidden in production" if requested and production else None
    assert environment.decide(variables).stderr == (() if expected is None else (expected,))
    if expected is not None:
        with pytest.raises(errors.Refused) as caught:
            fakes.from_environment(variables)
        assert (caught.value.code, caught.value.message) == ("EXECUTOR_FORBIDDEN", expected)
    else:
        assert (fakes.from_environment(variables) is not None) == requested


@pytest.mark.parametrize(
    ("scenario", "status", "reason"),
    [("blocked", "BLOCKED", "INTERACTIVE_PROMPT"), ("timeout", "ERROR", "TIMEOUT"), ("error", "ERROR", None),
     ("success", "COMPLETE", None), (" Success ", "COMPLETE", None)],
)  # fmt: skip
def test_P40_the_scenario_is_played_and_marked(
    tmp_path: pathlib.Path, scenario: str, status: str, reason: str | None
) -> None:
    stub = fakes.from_environment(ON | {"PM_RECOVERY_SCENARIO": scenario})
    assert stub is not None
    result = stub.execute(making.task(tmp_path))
    assert (result.status, result.blocked_reason, result.mark) == (status, reason, "mode=recovery-stub")
    assert (stub.name, stub.production, stub.is_available().available) == ("recovery-stub", False, True)


@pytest.mark.parametrize(
    ("scenario", "suggestion"),
    [
        ("succes", "did you mean success?"),
        ("x", "set PM_RECOVERY_SCENARIO to one of blocked, timeout, error, success"),
        ("", "set PM_RECOVERY_SCENARIO to one of blocked, timeout, error, success"),
    ],
)
def test_P40_an_unknown_scenario_is_refused(scenario: str, suggestion: str) -> None:
    with pytest.raises(errors.InvalidInput) as caught:
        fakes.from_environment(ON | {"PM_RECOVERY_SCENARIO": scenario})
    assert (caught.value.code, caught.value.suggestion) == ("RECOVERY_SCENARIO_UNKNOWN", suggestion)


def test_P40_an_unknown_mode_is_refused() -> None:
    with pytest.raises(errors.InvalidInput) as caught:
        fakes.from_environment({"PM_EXECUTOR_MODE": "bogus"})
    assert (caught.value.code, caught.value.suggestion) == ("EXECUTOR_UNKNOWN", "unset PM_EXECUTOR_MODE")
