"""`orchestrator.json`: what a project decides for all its people, in a file at its root that git tracks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from orchestrator.core import fields, names, strictjson
from orchestrator.core.tuples import NamedTuple
from orchestrator.errors import InvalidInput

FILE = "orchestrator.json"
COMMANDS = "allowed_commands"
SIZE_LIMIT = 1024 * 1024


class Settings(NamedTuple):
    """allowed_commands: how commands may begin that come in an agent's report, each as an argument list."""

    allowed_commands: tuple[tuple[str, ...], ...] = ()

    def allows(self, command: Sequence[str]) -> bool:
        """Whether a command begins as one of the allowed ones does, argument by argument."""
        return any(tuple(command[: len(start)]) == start for start in self.allowed_commands)


def read(data: bytes) -> Settings:
    """The settings in a file's content.

    Raises:
        InvalidInput: SETTINGS_INVALID {problems}, one for every fault.
    """
    try:
        found = strictjson.loads(data, FILE, SIZE_LIMIT)
    except strictjson.JsonProblem as problem:
        raise _invalid([fields.problem(path, problem.message) for path in problem.paths]) from None
    if not isinstance(found, dict):
        raise _invalid([fields.problem("$", f"must be an object, not {fields.kind(found)}")])
    problems = [_unknown(key) for key in found if key != COMMANDS]
    commands = tuple(_commands(found.get(COMMANDS), problems))
    if problems:
        raise _invalid(problems)
    return Settings(commands)


def _unknown(key: str) -> fields.Problem:
    near = names.nearest(key, (COMMANDS,))
    hint = f"did you mean {near}?" if near else f"the file has {COMMANDS}"
    return fields.problem(strictjson.at("$", key), f"is unknown; {hint}")


def _commands(value: Any, problems: list[fields.Problem]) -> list[tuple[str, ...]]:
    place, found = f"$.{COMMANDS}", []
    if value is not None and not isinstance(value, list):
        problems.append(fields.problem(place, f"must be a list of argument lists, not {fields.kind(value)}"))
    for index, each in enumerate(value if isinstance(value, list) else ()):
        whole = isinstance(each, list) and each and all(isinstance(word, str) and word.strip() for word in each[:1])
        if whole and all(isinstance(word, str) for word in each):
            found.append(tuple(each))
        else:
            problems.append(fields.problem(f"{place}[{index}]", 'must be an argument list such as ["pytest", "-q"]'))
    return found


def _invalid(problems: list[fields.Problem]) -> InvalidInput:
    first = problems[0]
    more = f" ({len(problems)} problems)" if len(problems) > 1 else ""
    return InvalidInput(
        "SETTINGS_INVALID", f"{FILE} is not valid: {first['path']}: {first['message']}{more}.",
        f"Fix every listed problem in {FILE}", problems=problems,
    )
