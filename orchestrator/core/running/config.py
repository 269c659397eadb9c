"""What a project sets: `orchestrator.json` at its root, and what older projects have in `.claude/settings.json`.

`orchestrator.json` is ours alone and holds the sections by name; without it all defaults hold. The other file is
Claude Code's. There our part is the object ``orchestrator`` at the top level; the four sections of numbers may also
stand at the top level themselves, but none in both places. Everything else at the top level is Claude Code's and is
left alone, unless it can only be meant for us: Claude Code's names are camel case, so a name with an underscore, or
one that nearly is one of ours, is an error. What both files set is as `orchestrator.json` has it, value by value.

Source: seed 001, Property 3.
"""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.core import names, project_settings, strict_json
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.running import locks, tests_exist
from orchestrator.core.running.tests_exist import Detection
from orchestrator.errors import InvalidInput
from orchestrator.hints import Any, TypeVar

OWN_FILE, SHARED_FILE = "orchestrator.json", ".claude/settings.json"
"""The files that hold settings, relative to the project; the first wins."""
OBJECT = "orchestrator"
DETECTION = "detection"

_NEAR = 0.75
_KINDS = {
    dict: "an object", list: "a list", str: "a text", bool: "true or false", int: "a number", float: "a number",
}  # fmt: skip


class TaskLimits(NamedTuple):
    """How large one task may be; seconds count over all its attempts."""

    files: int = 5
    tests: int = 10
    seconds: int = 300


class ParallelLimits(NamedTuple):
    """How many may work at the same time."""

    subagents: int = 9
    executors: int = 4


class Timeouts(NamedTuple):
    """How long is waited for a semaphore, and for one lock or tool step, in seconds."""

    deadlock_timeout_seconds: int = 60
    operation_timeout_seconds: int = 120


class EvidenceSettings(NamedTuple):
    """How long raw evidence is kept, in days, and whether it is compressed."""

    retention_days: int = 30
    compression_enabled: bool = True


class Settings(NamedTuple):
    """Everything that a project may set."""

    task_limits: TaskLimits = TaskLimits()
    parallel_limits: ParallelLimits = ParallelLimits()
    timeouts: Timeouts = Timeouts()
    evidence_settings: EvidenceSettings = EvidenceSettings()
    detection: Detection = Detection()


RANGES: Mapping[str, Mapping[str, tuple[int, int] | None]] = {
    "task_limits": {"files": (1, 20), "tests": (1, 50), "seconds": (30, 900)},
    "parallel_limits": {
        "subagents": (1, locks.CAPACITIES[locks.SUBAGENT]), "executors": (1, locks.CAPACITIES[locks.EXECUTOR]),
    },
    "timeouts": {"deadlock_timeout_seconds": (30, 300), "operation_timeout_seconds": (10, 600)},
    "evidence_settings": {"retention_days": (1, 365), "compression_enabled": None},
}
"""The least and the greatest value of each number, both allowed; None for a yes or no."""


class Problem(NamedTuple):
    """One thing that is wrong: the code, its place as a JSON path, and a sentence."""

    code: str
    path: str
    message: str


def parse(data: bytes | str | Mapping[str, Any], own: bytes | str | Mapping[str, Any] | None = None) -> Settings:
    """The settings of a project; what is not set has its default.

    Args:
        data: the whole of `.claude/settings.json`, as its bytes, its text, or parsed already.
        own: likewise of `orchestrator.json`; None where there is none.

    Raises:
        InvalidInput: E105, one is no JSON; E104, something in one is out of range, of another type, unknown, or stands
            twice. Data ``problems``: all of the first such file. Nothing of either is used then.

    Source: seed 001, Property 3.
    """
    ours = {} if own is None else _checked(own, OWN_FILE)
    return _built(_merged(_sections(_checked(data, SHARED_FILE)), ours))


def in_shared_file(data: bytes | str | Mapping[str, Any]) -> tuple[str, ...]:
    """The sections that a valid `.claude/settings.json` still holds."""
    return tuple(_sections(_checked(data, SHARED_FILE)))


def _checked(data: bytes | str | Mapping[str, Any], file: str) -> Mapping[str, Any]:
    document = data if isinstance(data, Mapping) else _loaded(data, file)
    problems = check(document, file)
    if problems:
        raise refusal(problems, file)
    assert isinstance(document, Mapping)  # noqa: S101 - anything else is a problem
    return document


def check(document: object, file: str = SHARED_FILE) -> list[Problem]:
    """Everything that is wrong with a parsed file, in the order of the file."""
    if not isinstance(document, Mapping):
        return [_wrong("$", f"{file} must hold an object, not {_kind(document)}")]
    if file == OWN_FILE:
        return [problem for key in document for problem in _inner(key, document[key], {}, "$")]
    problems = [problem for key in document for problem in _top_level(key, document)]
    inner = document.get(OBJECT, {})
    if not isinstance(inner, Mapping):
        return [*problems, _wrong(f"$.{OBJECT}", f"{OBJECT} must be an object, not {_kind(inner)}")]
    for key in inner:
        problems += _inner(key, inner[key], document)
    return problems


def refusal(problems: list[Problem], file: str = SHARED_FILE) -> InvalidInput:
    """The error that names all problems; what begins with a key keeps its letters."""
    sentences = "; ".join(problem.message for problem in problems[:10])
    more = f"; and {len(problems) - 10} more" if len(problems) > 10 else ""
    listed = [problem._asdict() for problem in problems]
    suggestion = f"Fix {file}; none of it was used"
    return InvalidInput(problems[0].code, f"{sentences}{more}.", suggestion, problems=listed, file=file)


def _loaded(data: bytes | str, file: str) -> object:
    try:
        return strict_json.loads(data, file)
    except strict_json.JsonProblem as problem:
        raise refusal([Problem("E105", path, problem.message) for path in problem.paths[:1]], file) from None


def _top_level(key: object, document: Mapping[Any, Any]) -> list[Problem]:
    if key == OBJECT:
        return []
    if key in RANGES:
        return _section(str(key), document[key], f"$.{key}")
    if not isinstance(key, str):
        return [_wrong("$", f"a name is {_kind(key)}, and must be a text")]
    if "_" in key or _near(key, (OBJECT, *RANGES)):
        return [_unknown(strict_json.at("$", key), key, (OBJECT, *RANGES))]
    return []


def _inner(key: object, value: object, document: Mapping[Any, Any], above: str = f"$.{OBJECT}") -> list[Problem]:
    path = strict_json.at(above, str(key))
    if key == DETECTION:
        return [_wrong(place, message) for place, message in tests_exist.check(value, path)]
    if key in project_settings.KEYS and above == "$":
        found = project_settings.check(str(key), value)
        return [_wrong(each["path"], f"{each['path']} {each['message']}") for each in found]
    if key not in RANGES:
        return [_unknown(path, key, (*RANGES, DETECTION))]
    twice = [_wrong(path, f"{key} stands at {path} and at $.{key}; keep one")] if key in document else []
    return twice + _section(str(key), value, path)


def _section(section: str, value: object, path: str) -> list[Problem]:
    if not isinstance(value, Mapping):
        return [_wrong(path, f"{section} must be an object, not {_kind(value)}")]
    ranges = RANGES[section]
    problems = []
    for key, given in value.items():
        place = strict_json.at(path, str(key))
        if key not in ranges:
            problems.append(_unknown(place, key, ranges))
        else:
            problems += _value(place, given, ranges[key])
    return problems


def _value(path: str, value: object, limits: tuple[int, int] | None) -> list[Problem]:
    name = path.removeprefix("$.")
    if limits is None:
        good = isinstance(value, bool)
        return [] if good else [_wrong(path, f"{name} must be true or false, not {_told(value)}")]
    low, high = limits
    # True is an int in Python, and no number in JSON.
    if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high:
        return []
    return [_wrong(path, f"{name} must be a whole number from {low} to {high}, not {_told(value)}")]


def _wrong(path: str, message: str) -> Problem:
    return Problem("E104", path, message)


def _unknown(path: str, key: object, known: Any) -> Problem:
    near = _near(str(key), tuple(known))
    hint = f"did you mean {near}" if near else f"known are {', '.join(known)}"
    return _wrong(path, f"{names.shown(key)} at {path} is no setting; {hint}")


def _near(key: str, known: tuple[str, ...]) -> str | None:
    # Loaded only for a name that is not ours, which a good file may not have.
    import difflib

    found = difflib.get_close_matches(key[:100].lower(), known, 1, _NEAR)
    return found[0] if found else None


def _told(value: object) -> str:
    return names.shown(value) if isinstance(value, int | float | str) else _kind(value)


def _kind(value: object) -> str:
    return "null" if value is None else _KINDS.get(type(value), "something else")


def _sections(document: Mapping[str, Any]) -> dict[str, Any]:
    inner = document.get(OBJECT, {})
    return {key: document[key] for key in RANGES if key in document} | dict(inner)


def _merged(shared: Mapping[str, Any], ours: Mapping[str, Any]) -> dict[str, Any]:
    return {**shared, **{section: {**shared.get(section, {}), **given} for section, given in ours.items()}}


_Section = TypeVar("_Section", TaskLimits, ParallelLimits, Timeouts, EvidenceSettings)


def _filled(default: _Section, given: Mapping[str, Any]) -> _Section:
    return default._replace(**given)


def _built(sections: Mapping[str, Any]) -> Settings:
    return Settings(
        _filled(TaskLimits(), sections.get("task_limits", {})),
        _filled(ParallelLimits(), sections.get("parallel_limits", {})),
        _filled(Timeouts(), sections.get("timeouts", {})),
        _filled(EvidenceSettings(), sections.get("evidence_settings", {})),
        tests_exist.built(sections.get(DETECTION, {})),
    )
