"""`orchestrator.json`: what a project decides for all its people, in a file at its root that git tracks."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.core import fields, names, strict_json
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.errors import InvalidInput
from orchestrator.hints import Any

FILE = "orchestrator.json"
COMMANDS, SETUP, COPY = "allowed_commands", "worktree_setup", "worktree_copy"
KEYS = (COMMANDS, SETUP, COPY)
RUNNER = ("task_limits", "parallel_limits", "timeouts", "evidence_settings", "detection")
"""What else the file may hold: the settings of the task runner, which `core.running.config` reads."""
SIZE_LIMIT = 1024 * 1024
_NOT_COPIED = (".git", ".orchestrator")


class Settings(NamedTuple):
    """allowed_commands: how commands may begin that come in an agent's report, each as an argument list.

    worktree_setup: commands that are run once in each new worktree. worktree_copy: files of the main checkout that are
    copied into it before, by paths relative to the project.
    """

    allowed_commands: tuple[tuple[str, ...], ...] = ()
    worktree_setup: tuple[tuple[str, ...], ...] = ()
    worktree_copy: tuple[str, ...] = ()

    def allows(self, command: Sequence[str]) -> bool:
        """Whether a command begins as one of the allowed ones does, argument by argument."""
        return any(tuple(command[: len(start)]) == start for start in self.allowed_commands)


def read(data: bytes) -> Settings:
    """The settings in a file's content.

    Raises:
        InvalidInput: SETTINGS_INVALID {problems}, one for every fault.
    """
    try:
        found = strict_json.loads(data, FILE, SIZE_LIMIT)
    except strict_json.JsonProblem as problem:
        raise _invalid([fields.problem(path, problem.message) for path in problem.paths]) from None
    if not isinstance(found, dict):
        raise _invalid([fields.problem("$", f"must be an object, not {fields.kind(found)}")])
    problems = [_unknown(key) for key in found if key not in (*KEYS, *RUNNER)]
    settings = Settings(
        tuple(_commands(found, COMMANDS, problems)), tuple(_commands(found, SETUP, problems)),
        tuple(_paths(found, problems)),
    )
    if problems:
        raise _invalid(problems)
    return settings


def check(key: str, value: Any) -> list[fields.Problem]:
    """What is wrong with one of the keys that are read here."""
    problems: list[fields.Problem] = []
    if key == COPY:
        _paths({key: value}, problems)
    else:
        _commands({key: value}, key, problems)
    return problems


def _unknown(key: str) -> fields.Problem:
    near = names.nearest(key, (*KEYS, *RUNNER))
    hint = f"did you mean {near}?" if near else f"the file may have {', '.join((*KEYS, *RUNNER))}"
    return fields.problem(strict_json.at("$", key), f"is unknown; {hint}")


def _paths(found: dict[str, Any], problems: list[fields.Problem]) -> list[str]:
    """The files that are copied into worktrees."""
    place, paths = f"$.{COPY}", []
    for index, each in enumerate(_listed(found, COPY, "a list of paths", problems)):
        why = _why_no_path(each)
        if why is None:
            paths.append(each)
        else:
            problems.append(fields.problem(f"{place}[{index}]", why))
    return paths


def _why_no_path(value: Any) -> str | None:
    """Why a value names no file inside the project."""
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        return "must be the path of a file, such as .env"
    parts = value.split("/")
    if "\\" in value or value.startswith("/") or any(part in ("", ".", "..") for part in parts):
        return "must be a path inside the project, with / between its parts and no . or .. among them"
    if parts[0] in _NOT_COPIED:
        return f"must not be in {parts[0]}"
    return None


def _listed(found: dict[str, Any], key: str, what: str, problems: list[fields.Problem]) -> list[Any]:
    value = found.get(key)
    if value is not None and not isinstance(value, list):
        problems.append(fields.problem(f"$.{key}", f"must be {what}, not {fields.kind(value)}"))
    return value if isinstance(value, list) else []


def _commands(found: dict[str, Any], key: str, problems: list[fields.Problem]) -> list[tuple[str, ...]]:
    """The argument lists of a key."""
    commands = []
    for index, each in enumerate(_listed(found, key, "a list of argument lists", problems)):
        whole = isinstance(each, list) and each and all(isinstance(word, str) and word.strip() for word in each[:1])
        if whole and all(isinstance(word, str) and "\0" not in word for word in each):
            commands.append(tuple(each))
        else:
            problems.append(fields.problem(f"$.{key}[{index}]", 'must be an argument list such as ["pytest", "-q"]'))
    return commands


def _invalid(problems: list[fields.Problem]) -> InvalidInput:
    first = problems[0]
    more = f" ({len(problems)} problems)" if len(problems) > 1 else ""
    return InvalidInput(
        "SETTINGS_INVALID", f"{FILE} is not valid: {first['path']}: {first['message']}{more}.",
        f"Fix every listed problem in {FILE}", problems=problems,
    )
