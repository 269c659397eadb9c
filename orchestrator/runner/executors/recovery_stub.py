"""The stub that plays failures for tests of recovery, switched on by the environment, and its guard.

Source: seed 001, Property 40.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from orchestrator import errors
from orchestrator.runner import port
from orchestrator.runner.executors import fakes

MODE_VARIABLE: Final = "PM_EXECUTOR_MODE"
SCENARIO_VARIABLE: Final = "PM_RECOVERY_SCENARIO"
PRODUCTION_VARIABLES: Final = ("ORCHESTRATOR_ENV", "NODE_ENV")
MODE: Final = "recovery-stub"
MARK: Final = f"mode={MODE}"
FATAL: Final = f"[FATAL] {MODE} is forbidden in production"
NOTICE: Final = (f"WARNING: {MODE} enabled (test-only)", MARK)
"""What is printed, after the project's path, where the stub is on."""

SCENARIOS: Final[dict[str, Callable[[], fakes.Fake]]] = {
    "blocked": fakes.blocked,
    "timeout": fakes.timeout,
    "error": fakes.error,
    "success": fakes.success,
}


class Stub(NamedTuple):
    """One of the fakes, whose every result carries the mark."""

    fake: fakes.Fake
    name: str = MODE
    production: bool = False

    def is_available(self) -> port.Availability:
        """Always; production is refused before it is made."""
        return self.fake.is_available()

    def execute(
        self, task: port.ExecutorTask, *, watch: port.Watch | None = None, cancelled: port.Cancelled | None = None
    ) -> port.ExecutorResult:
        """Play the scenario."""
        return self.fake.execute(task, watch=watch, cancelled=cancelled)._replace(mark=MARK)


def requested(variables: Mapping[str, str]) -> bool:
    """Whether the environment switches the stub on."""
    return _folded(variables, MODE_VARIABLE) == MODE


def in_production(variables: Mapping[str, str]) -> bool:
    """Whether the environment says that this is production."""
    return any(_folded(variables, name) == "production" for name in PRODUCTION_VARIABLES)


def fatal(variables: Mapping[str, str]) -> str | None:
    """The line for stderr with which a process must end at its start with status 1, or None."""
    return FATAL if requested(variables) and in_production(variables) else None


def from_environment(variables: Mapping[str, str]) -> Stub | None:
    """The stub that the environment asks for, or None where it asks for none.

    Raises:
        Refused: EXECUTOR_FORBIDDEN, this is production.
        InvalidInput: RECOVERY_SCENARIO_UNKNOWN.
    """
    if not requested(variables):
        return None
    if in_production(variables):
        raise errors.Refused("EXECUTOR_FORBIDDEN", FATAL, f"unset {MODE_VARIABLE}", executor=MODE)
    scenario = _folded(variables, SCENARIO_VARIABLE)
    if scenario not in SCENARIOS:
        raise _unknown(scenario)
    return Stub(SCENARIOS[scenario]())


def _unknown(scenario: str) -> errors.InvalidInput:
    known = ", ".join(SCENARIOS)
    near = difflib.get_close_matches(scenario, SCENARIOS, 1, 0.6)
    what = f"{SCENARIO_VARIABLE} is {scenario!r}" if scenario else f"{SCENARIO_VARIABLE} is not set"
    help_ = f"did you mean {near[0]}?" if near else f"set {SCENARIO_VARIABLE} to one of {known}"
    return errors.InvalidInput("RECOVERY_SCENARIO_UNKNOWN", f"{what}; known are {known}.", help_, known=[*SCENARIOS])


def _folded(variables: Mapping[str, str], name: str) -> str:
    return variables.get(name, "").strip().lower()
