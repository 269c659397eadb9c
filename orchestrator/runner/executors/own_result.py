"""The JSON result of a program that was written for this runner, or wraps one that was not.

    {"status": "COMPLETE", "session_id": "…", "output": "…", "files": ["…"], "error": null, "cause": null,
     "proposed_tasks": [], "tool_calls": 3, "usage": {"input_tokens": 5}, "background": false}

Only `status` must be there; a result without `session_id` names no session, and the runner does not believe it.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping

from orchestrator.core import blockers
from orchestrator.hints import Any, Final
from orchestrator.runner import port
from orchestrator.runner.executors import failures

MOST_FILES: Final = 10_000
"""Files that a result may claim: each is looked for on the disk, when no clock of the executor runs any more."""


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_optional_text(value: Any) -> bool:
    return value is None or isinstance(value, str)


def is_texts(value: Any) -> bool:
    """Whether it is a list of texts."""
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def is_count(value: Any) -> bool:
    """Whether it is a whole number from 0 on."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_optional_count(value: Any) -> bool:
    return value is None or is_count(value)


def _is_counts(value: Any) -> bool:
    return value is None or (isinstance(value, dict) and all(map(is_count, value.values())))


_RULES: Final[dict[str, tuple[Callable[[Any], bool], str]]] = {
    "session_id": (_is_optional_text, "a text"),
    "output": (_is_text, "a text"),
    "files": (is_texts, "a list of texts"),
    "error": (_is_optional_text, "a text or null"),
    "cause": (_is_optional_text, "a text or null"),
    "proposed_tasks": (is_texts, "a list of texts"),
    "tool_calls": (_is_optional_count, "a whole number from 0 on, or null"),
    "usage": (_is_counts, "an object of whole numbers from 0 on, or null"),
    "background": (_is_flag, "true or false"),
}
KEYS: Final = ("status", *_RULES)


def problems(found: Mapping[str, Any]) -> list[str]:
    """Everything that is wrong with a result, each as one phrase; empty where it is valid."""
    broken = [key for key, (holds, _) in _RULES.items() if key in found and not holds(found[key])]
    wrong = [f"{key} is not {_RULES[key][1]}" for key in broken]
    if "files" not in broken and len(found.get("files", ())) > MOST_FILES:
        wrong.append(f"files lists more than {MOST_FILES} files")
    return [*_status_problems(found.get("status")), *wrong, *_cause_problems(found.get("cause"))]


def _status_problems(status: Any) -> list[str]:
    if status in failures.STATUSES:
        return []
    if status is None:
        return ["status is missing"]
    near = difflib.get_close_matches(str(status).upper(), failures.STATUSES, 1, 0.6)
    return [f"status {str(status)[:40]!r} is unknown, " + (f"did you mean {near[0]}?" if near else _known())]


def _known() -> str:
    return "known are " + ", ".join(failures.STATUSES)


def _cause_problems(cause: Any) -> list[str]:
    if not isinstance(cause, str) or blockers.type_name(cause) in blockers.TYPES:
        return []
    near = difflib.get_close_matches(blockers.type_name(cause), blockers.TYPES, 1, 0.6)
    return [f"cause {cause[:40]!r} is no type of blocker" + (f", did you mean {near[0]}?" if near else "")]


def read(task: port.ExecutorTask, found: Mapping[str, Any]) -> port.ExecutorResult:
    """Turn the object into a result; one that is not valid is an error that lists everything wrong with it."""
    wrong = problems(found)
    if wrong:
        return failures.failed(task, "RESULT_INVALID", "; ".join(wrong))
    result = port.ExecutorResult(
        status=found["status"],
        session_id=found.get("session_id"),
        output=found.get("output", ""),
        claimed_files=tuple(dict.fromkeys(found.get("files", ()))),
        error=found.get("error"),
        cause=None if found.get("cause") is None else blockers.type_name(found["cause"]),
        proposed_tasks=tuple(found.get("proposed_tasks", ())),
        tool_calls=found.get("tool_calls"),
        usage=found.get("usage"),
        background=found.get("background") or None,
    )
    return _consistent(result)


def _consistent(result: port.ExecutorResult) -> port.ExecutorResult:
    """An error beats the claim that the work is complete, and is never without words."""
    if result.error and result.status == "COMPLETE":
        return result._replace(status=failures.ERROR)
    if result.status == failures.ERROR and not result.error:
        return result._replace(error="REPORTED_ERROR: the program reports an error and does not say which")
    return result
