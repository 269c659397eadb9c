"""Whether a process may start with the executor that plays failures for tests, and the exact lines that say so.

Source: seed 001, Property 40.
"""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.core.named_tuple import NamedTuple

MODE_VARIABLE = "PM_EXECUTOR_MODE"
SCENARIO_VARIABLE = "PM_RECOVERY_SCENARIO"
PRODUCTION = "production"
STUB = "recovery-stub"
SCENARIOS = ("blocked", "timeout", "error", "success")
FATAL = "[FATAL] recovery-stub is forbidden in production"
MARK = "mode=recovery-stub"
WARNING = "WARNING: recovery-stub enabled (test-only)"


class Start(NamedTuple):
    """What a process does at its start.

    exit_code: end at once with it; None goes on. stdout: lines to print after the project's path. stderr: likewise.
    scenario: what the stub plays, or None where the real executors are used. mark: in all evidence of the stub.
    """

    exit_code: int | None = None
    stdout: tuple[str, ...] = ()
    stderr: tuple[str, ...] = ()
    scenario: str | None = None
    mark: str | None = None


def decide(variables: Mapping[str, str]) -> Start:
    """What the environment asks for: ORCHESTRATOR_ENV or NODE_ENV, PM_EXECUTOR_MODE and PM_RECOVERY_SCENARIO.

    Case and spaces around a value do not count. Another mode than the stub is refused: who sets one takes the executor
    for another than it is. The stub needs one of the four scenarios by name.
    """
    mode = _value(variables, MODE_VARIABLE)
    if not mode:
        return Start()
    if mode != STUB:
        return Start(1, stderr=(f"[FATAL] {MODE_VARIABLE} must be {STUB}, or not set",))
    if in_production(variables):
        return Start(1, stderr=(FATAL,))
    scenario = _value(variables, SCENARIO_VARIABLE)
    if scenario not in SCENARIOS:
        return Start(1, stderr=(f"[FATAL] {SCENARIO_VARIABLE} must be one of {', '.join(SCENARIOS)}",))
    return Start(None, (WARNING, MARK), (), scenario, MARK)


def in_production(variables: Mapping[str, str]) -> bool:
    """Whether ORCHESTRATOR_ENV or NODE_ENV says that this is production."""
    return PRODUCTION in (_value(variables, "ORCHESTRATOR_ENV"), _value(variables, "NODE_ENV"))


def _value(variables: Mapping[str, str], name: str) -> str:
    return variables.get(name, "").strip().lower()
