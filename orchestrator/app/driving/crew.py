"""Who answers for which role: an executor and a model."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping, Sequence

from orchestrator.core import names
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.suggestions import Local, local, suggest
from orchestrator.core.workflow import vocabulary
from orchestrator.errors import UsageError
from orchestrator.runner import port
from orchestrator.runner.executors import catalogue

_WHOLE = ("command", "scripted")
"""Executors whose name goes on to the end of the argument: what follows is a program or a file, and no model."""
_OWN_MODELS = ("claude-code", "command", "scripted")
"""Executors that know the models by the names that agent files use."""


class Member(NamedTuple):
    """Who answers for a role; `model` is None where the turn's own counts."""

    name: str
    executor: port.Executor
    model: str | None = None

    @property
    def shown(self) -> Local:
        """Its name; behind the kind stands a path."""
        return local(self.name, self.name.partition(":")[0])

    def model_of(self, turn: Mapping[str, str | None]) -> str | None:
        """The model that a turn is run with; None leaves it to the executor."""
        return self.model or (turn["model"] if self.executor.name in _OWN_MODELS else None)


class Crew(NamedTuple):
    """Who answers where nothing else is said, and for single roles."""

    usual: Member
    roles: Mapping[str, Member]

    def of(self, role: str) -> Member:
        """Who answers for a role."""
        return self.roles.get(role, self.usual)

    def members(self) -> list[Member]:
        """Each executor once."""
        return list({each.name: each for each in (self.usual, *self.roles.values())}.values())


def crew(executor: str | None, roles: Sequence[str], variables: Mapping[str, str] | None = None) -> Crew:
    """The crew that the arguments name.

    Args:
        executor: `NAME[:MODEL]`, `command:PROGRAM` or `scripted:FILE`; default: the default provider.
        roles: each `ROLE=EXECUTOR[:MODEL]`.
        variables: the environment; default: this process's own.

    Raises:
        UsageError: USAGE, a role that is none, is given twice, or has no executor.
        InvalidInput: EXECUTOR_UNKNOWN, EXECUTOR_COMMAND_INVALID, SCRIPT_INVALID. Refused: EXECUTOR_FORBIDDEN.
    """
    given = os.environ if variables is None else variables
    made = functools.cache(lambda name: catalogue.chosen(name, None, given))
    found: dict[str, Member] = {}
    for each in roles:
        name, _, rest = each.partition("=")
        role = names.role_name(name)
        if role not in vocabulary.ROLES or not rest.strip():
            known = ", ".join(vocabulary.ROLES)
            what = f"--role {names.shown(each)} is not ROLE=EXECUTOR[:MODEL]; roles are {known}."
            raise UsageError("USAGE", what, suggest("drive", help=True))
        if role in found:
            raise UsageError("USAGE", f"--role names {role} twice.", "Give each role only once")
        found[role] = _member(rest, made)
    return Crew(_member(executor, made), found)


def _member(text: str | None, made: Callable[[str | None], port.Executor]) -> Member:
    name, _, model = (text or "").partition(":")
    if text is None or name in _WHOLE:
        executor = made(text)
        return Member(text or executor.name, executor)
    return Member(text, made(name), model or None)
