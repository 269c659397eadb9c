"""The stub that plays failures for tests of recovery, switched on by the environment.

Source: seed 001, Property 40.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from orchestrator import errors
from orchestrator.core import names
from orchestrator.core.running import production as environment
from orchestrator.core.tuples import NamedTuple
from orchestrator.runner import port
from orchestrator.runner.executors import fakes

PLAYED: Final[dict[str, Callable[[], fakes.Fake]]] = {
    "blocked": fakes.blocked,
    "timeout": fakes.timeout,
    "error": fakes.error,
    "success": fakes.success,
}


class Stub(NamedTuple):
    """One of the fakes, whose every result carries the mark."""

    fake: fakes.Fake
    name: str = environment.STUB
    production: bool = False

    def is_available(self) -> port.Availability:
        """Always; production is refused before it is made."""
        return self.fake.is_available()

    def execute(
        self, task: port.ExecutorTask, *, watch: port.Watch | None = None, cancelled: port.Cancelled | None = None
    ) -> port.ExecutorResult:
        """Play the scenario."""
        return self.fake.execute(task, watch=watch, cancelled=cancelled)._replace(mark=environment.MARK)


def from_environment(variables: Mapping[str, str]) -> Stub | None:
    """The stub that the environment asks for, or None where it asks for none.

    Raises:
        Refused: EXECUTOR_FORBIDDEN, this is production.
        InvalidInput: RECOVERY_SCENARIO_UNKNOWN; EXECUTOR_UNKNOWN, another mode than the stub's.
    """
    start = environment.decide(variables)
    if start.scenario is not None:
        return Stub(PLAYED[start.scenario]())
    if start.exit_code is None:
        return None
    if variables[environment.MODE_VARIABLE].strip().lower() != environment.STUB:
        help_ = f"unset {environment.MODE_VARIABLE}"
        raise errors.InvalidInput("EXECUTOR_UNKNOWN", start.stderr[0], help_, known=[environment.STUB])
    if environment.in_production(variables):
        help_ = f"unset {environment.MODE_VARIABLE}"
        raise errors.Refused("EXECUTOR_FORBIDDEN", environment.FATAL, help_, executor=environment.STUB)
    near = names.nearest(variables.get(environment.SCENARIO_VARIABLE, ""), tuple(PLAYED))
    help_ = f"did you mean {near}?" if near else f"set {environment.SCENARIO_VARIABLE} to one of {', '.join(PLAYED)}"
    raise errors.InvalidInput("RECOVERY_SCENARIO_UNKNOWN", start.stderr[0], help_, known=[*PLAYED])
