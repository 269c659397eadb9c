"""P40: what plays failures for tests never runs in production, and says so elsewhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core.running import simulated_failures
from orchestrator.core.running.simulated_failures import Start

STUB = {"PM_EXECUTOR_MODE": "recovery-stub", "PM_RECOVERY_SCENARIO": "blocked"}
FATAL = "[FATAL] recovery-stub is forbidden in production"
LINES = ("WARNING: recovery-stub enabled (test-only)", "mode=recovery-stub")


@pytest.mark.parametrize("name", ["ORCHESTRATOR_ENV", "NODE_ENV"])
@pytest.mark.parametrize("value", ["production", "Production", " production "])
@pytest.mark.parametrize("scenario", ["blocked", "unknown", ""])
def test_p40_production_refuses_the_stub(name: str, value: str, scenario: str) -> None:
    found = simulated_failures.decide(STUB | {name: value, "PM_RECOVERY_SCENARIO": scenario})
    assert found == Start(1, stderr=(FATAL,))


@pytest.mark.parametrize("scenario", ["blocked", "timeout", "error", "success"])
def test_p40_elsewhere_the_stub_is_announced_and_marks_its_evidence(scenario: str) -> None:
    found = simulated_failures.decide(STUB | {"PM_RECOVERY_SCENARIO": scenario, "NODE_ENV": "test"})
    assert found == Start(None, LINES, (), scenario, "mode=recovery-stub")


@pytest.mark.parametrize("scenario", ["crash", ""])
def test_p40_an_unknown_scenario_ends_the_process(scenario: str) -> None:
    found = simulated_failures.decide(STUB | {"PM_RECOVERY_SCENARIO": scenario})
    assert (found.exit_code, found.stdout, found.stderr) == (
        1, (), ("[FATAL] PM_RECOVERY_SCENARIO must be one of blocked, timeout, error, success",),
    )  # fmt: skip


@pytest.mark.parametrize("variables", [{}, {"NODE_ENV": "production"}, {"PM_RECOVERY_SCENARIO": "error"}], ids=str)
def test_p40_without_the_mode_nothing_changes(variables: dict[str, str]) -> None:
    assert simulated_failures.decide(variables) == Start()


@pytest.mark.parametrize("mode", ["bogus", "recovery_stub", "recovery-stub2"])
@pytest.mark.parametrize("more", [{}, {"NODE_ENV": "production"}], ids=["elsewhere", "in production"])
def test_p40_an_unknown_mode_ends_the_process(mode: str, more: dict[str, str]) -> None:
    found = simulated_failures.decide({"PM_EXECUTOR_MODE": mode} | more)
    assert found == Start(1, stderr=("[FATAL] PM_EXECUTOR_MODE must be recovery-stub, or not set",))


@pytest.mark.parametrize("mode", ["", "  "])
def test_p40_a_blank_mode_is_none(mode: str) -> None:
    assert simulated_failures.decide({"PM_EXECUTOR_MODE": mode}) == Start()


some = st.sampled_from(["", "production", "PRODUCTION ", "test", "recovery-stub", "Recovery-Stub", "error", "x"])
names = st.sampled_from(["ORCHESTRATOR_ENV", "NODE_ENV", "PM_EXECUTOR_MODE", "PM_RECOVERY_SCENARIO"])


@given(st.dictionaries(names, some))
def test_p40_no_environment_of_production_has_a_stub(variables: dict[str, str]) -> None:
    found = simulated_failures.decide(variables)
    values = [variables.get(name, "").strip().lower() for name in ("ORCHESTRATOR_ENV", "NODE_ENV")]
    assert found.scenario is None or ("production" not in values and found.stdout == LINES)
