"""What the log of a run that has ended must hold.

Source: seed 001, Properties 26, 30 and 33.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.running.evidence import is_relative
from orchestrator.hints import Any

STATUSES = ("complete", "incomplete", "error", "cancelled")
METHODS = ("diff", "executor_claim")

_TEXTS = ("task_id", "external_task_id", "session_id", "started_at", "ended_at")
_TIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})")
_LOG_ID = re.compile(r"task-(?!0+\Z)(?:\d{3}|[1-9]\d{3,8})")


class Problem(NamedTuple):
    """One thing that is wrong with a log: the field, and a sentence."""

    field: str
    message: str


def log_id(number: int) -> str:
    """The id that the n-th run of a session has in its log: ``task-001``."""
    return f"task-{number:03d}"


def is_log_id(text: str) -> bool:
    """Whether a text is such an id, in its one form."""
    return _LOG_ID.fullmatch(text) is not None


def check(log: Mapping[str, Any]) -> list[Problem]:
    """Everything that a finished log lacks or has wrong.

    Source: seed 001, Properties 26 and 33.
    """
    problems = [
        Problem(name, f"{name} must be a text that is not empty") for name in _TEXTS if not _is_text(log.get(name))
    ]
    if not is_log_id(str(log.get("task_id"))):
        problems.append(Problem("task_id", "task_id must be the log's own id, such as task-001"))
    problems += [
        Problem(name, f"{name} must be a time in ISO 8601 with its zone")
        for name in ("started_at", "ended_at")
        if _is_text(log.get(name)) and not _TIME.fullmatch(log[name])
    ]
    return problems + _status(log) + _lists(log) + _verification(log)


def mapping_problems(entries: Sequence[Mapping[str, Any]]) -> list[Problem]:
    """Where the two ids of runs are not one to one.

    Source: seed 001, Property 30.
    """
    problems = []
    for name in ("task_id", "external_task_id"):
        seen: set[str] = set()
        for entry in entries:
            if entry[name] in seen:
                problems.append(Problem(name, f"{name} {entry[name]} stands for more than one run"))
            seen.add(entry[name])
    return problems


def _status(log: Mapping[str, Any]) -> list[Problem]:
    status = log.get("status")
    if status not in STATUSES:
        return [Problem("status", f"status must be one of {', '.join(STATUSES)}")]
    if status != "complete" and not _is_text(log.get("error_reason")):
        return [Problem("error_reason", f"a run that is {status} must have an error_reason")]
    return []


def _lists(log: Mapping[str, Any]) -> list[Problem]:
    problems = []
    if not isinstance(log.get("artifacts"), list):
        problems.append(Problem("artifacts", "artifacts must be a list"))
    events = log.get("events")
    if not isinstance(events, list) or not events:
        problems.append(Problem("events", "events must be a list with at least one event"))
    return problems


def _verification(log: Mapping[str, Any]) -> list[Problem]:
    problems = []
    root = log.get("verification_root")
    if not isinstance(root, str) or not re.match(r"/|[A-Za-z]:[\\/]|\\\\", root):
        problems.append(Problem("verification_root", "verification_root must be an absolute path"))
    files = log.get("verified_files")
    if not isinstance(files, list):
        return [*problems, Problem("verified_files", "verified_files must be a list")]
    return problems + [problem for number, file in enumerate(files) for problem in _file(file, number)]


def _file(file: object, number: int) -> list[Problem]:
    place = f"verified_files[{number}]"
    if not isinstance(file, Mapping):
        return [Problem(place, f"{place} must be an object")]
    rules = (
        ("path", _is_text(file.get("path")) and is_relative(file["path"]), "a relative path"),
        ("exists", isinstance(file.get("exists"), bool), "true or false"),
        ("detected_at", _is_text(file.get("detected_at")) and _TIME.fullmatch(file["detected_at"]), "a time"),
        ("detection_method", file.get("detection_method") in METHODS, f"one of {', '.join(METHODS)}"),
    )
    return [Problem(f"{place}.{name}", f"{place}.{name} must be {what}") for name, good, what in rules if not good]


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())
