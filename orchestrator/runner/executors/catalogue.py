"""Which executors there are, and which one a name or a provider stands for."""

from __future__ import annotations

import difflib
import functools
import os
from collections.abc import Callable, Mapping

from orchestrator import errors
from orchestrator.core.running import simulated_failures
from orchestrator.hints import Final
from orchestrator.runner import port
from orchestrator.runner.executors import api, claude_code, codex, command, fakes, scripted

Variables = Mapping[str, str]

DEFAULT_PROVIDER: Final = claude_code.NAME

PROVIDERS: Final[dict[str, Callable[[Variables], port.Executor]]] = {
    claude_code.NAME: lambda variables: claude_code.ClaudeCode(variables=variables),
    codex.NAME: lambda variables: codex.Codex(variables=variables),
    **{each.name: functools.partial(api.Api, each) for each in (api.ANTHROPIC, api.OPENAI)},
}
_FAKES: Final[dict[str, Callable[[], port.Executor]]] = {
    "fake-success": fakes.success,
    "fake-blocked": fakes.blocked,
    "fake-error": fakes.error,
    "fake-timeout": fakes.timeout,
}
_WITH_PATH: Final = {command.NAME: "command:PROGRAM", scripted.NAME: "scripted:FILE"}
NAMES: Final = (*_WITH_PATH.values(), *PROVIDERS, *_FAKES)
"""Every name that `--executor` takes."""
_TOLD: Final = (_WITH_PATH[command.NAME], *PROVIDERS)
"""Those that do work; the others are for tests and demonstrations."""


def chosen(name: str | None, provider: str | None, variables: Variables | None = None) -> port.Executor:
    """The executor of a call: the stub where the environment asks for it, else the named one, else the provider's.

    Args:
        name: as given to `--executor`, or None.
        provider: the selected provider; None for the default one.
        variables: the environment; this process's own where left out.

    Raises:
        InvalidInput: EXECUTOR_UNKNOWN, PROVIDER_UNKNOWN, EXECUTOR_COMMAND_INVALID, SCRIPT_INVALID or
            RECOVERY_SCENARIO_UNKNOWN.
        Refused: EXECUTOR_FORBIDDEN, a test executor in production.
    """
    given = os.environ if variables is None else variables
    stub = fakes.from_environment(given)
    if stub is not None:
        return stub
    return named(name, given) if name is not None else of_provider(provider, given)


def named(name: str, variables: Variables | None = None) -> port.Executor:
    """The executor of a name: `command:PROGRAM`, `scripted:FILE`, a provider or a fake.

    Raises:
        InvalidInput: EXECUTOR_UNKNOWN, EXECUTOR_COMMAND_INVALID or SCRIPT_INVALID.
        Refused: EXECUTOR_FORBIDDEN, a test executor in production.
    """
    given = os.environ if variables is None else variables
    head, colon, rest = name.partition(":")
    if colon and rest.strip() and head == command.NAME:
        return command.Command(command.parse(rest), given)
    if colon and rest.strip() and head == scripted.NAME:
        return _allowed(head, lambda: scripted.load(rest), given)
    if name in _FAKES:
        return _allowed(name, _FAKES[name], given)
    if name in PROVIDERS:
        return PROVIDERS[name](given)
    raise _unknown_executor(name, head)


def of_provider(provider: str | None, variables: Variables | None = None) -> port.Executor:
    """The executor of a provider; None stands for the default one.

    Raises:
        InvalidInput: PROVIDER_UNKNOWN.

    Source: seed 001, Property 23.
    """
    given = os.environ if variables is None else variables
    wanted = DEFAULT_PROVIDER if provider is None else provider
    if wanted not in PROVIDERS:
        raise _unknown("PROVIDER_UNKNOWN", "provider", wanted, wanted, [*PROVIDERS])
    return PROVIDERS[wanted](given)


def _allowed(name: str, make: Callable[[], port.Executor], variables: Variables) -> port.Executor:
    if simulated_failures.in_production(variables):
        sentence = f"The test executor {name} is forbidden in production."
        raise errors.Refused("EXECUTOR_FORBIDDEN", sentence, f"use one of {', '.join(PROVIDERS)}", executor=name)
    return make()


def _unknown_executor(name: str, head: str) -> errors.InvalidInput:
    if head in _WITH_PATH:
        sentence = f"The executor {name!r} needs a value after its colon."
        return errors.InvalidInput("EXECUTOR_UNKNOWN", sentence, f"write {_WITH_PATH[head]}", known=[*NAMES])
    if name == simulated_failures.STUB:
        sentence = f"The {simulated_failures.STUB} can only be enabled through the environment."
        mode = f"{simulated_failures.MODE_VARIABLE}={simulated_failures.STUB}"
        help_ = f"set {mode} and {simulated_failures.SCENARIO_VARIABLE}"
        return errors.InvalidInput("EXECUTOR_UNKNOWN", sentence, help_, known=[*NAMES])
    return _unknown("EXECUTOR_UNKNOWN", "executor", name, head, [*_TOLD], [*NAMES])


def _unknown(
    code: str, what: str, name: str, head: str, told: list[str], every: list[str] | None = None
) -> errors.InvalidInput:
    known = every or told
    heads = {each.partition(":")[0]: each for each in known}
    near = difflib.get_close_matches(head.strip().lower(), heads, 1, 0.6)
    help_ = f"did you mean {heads[near[0]]}?" if near else f"use one of {', '.join(told)}"
    return errors.InvalidInput(code, f"There is no {what} {name!r}; known: {', '.join(told)}.", help_, known=known)
