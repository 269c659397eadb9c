"""The final report of a runner session: built from facts, checked as a whole, readable as a page.

Source: seed 001, Properties 10 and 15.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.names import shown
from orchestrator.core.running import codes, states
from orchestrator.hints import Any

REDACTED = "[REDACTED]"
_SECRET_NAME = re.compile(
    r"(?:api[_-]?key|secret|token|passwords?|passwd|passphrase|credentials?|authorization|cookie|private[_-]?key)\Z",
    re.IGNORECASE,
)
_NOTHING_LEFT = "Nothing left to do."
NOTHING_ASKED = "No task was entered in this session."
"""The reason of a session that was merely started, which is COMPLETE for want of anything that is not."""


class Task(NamedTuple):
    """A task of the session: its id, the state of its last run, and why it is not complete, or None."""

    id: str
    state: str
    reason: str | None = None


class Inventory(NamedTuple):
    """The evidence of the session: operations in all, those without evidence or with faults, and the raw files."""

    total: int
    missing_operations: Sequence[str] = ()
    integrity_failures: Sequence[str] = ()
    raw_files: Sequence[str] = ()


class Problem(NamedTuple):
    """One thing that is wrong with a report: its place, and a sentence."""

    place: str
    message: str


FIELDS: dict[str, type | tuple[type, ...]] = {
    "session_id": str,
    "overall_status": str,
    "tasks": list,
    "totals": dict,
    "incomplete_task_reasons": dict,
    "evidence_inventory": dict,
    "next_action": bool,
    "next_action_reason": str,
    "violations": list,
    "selected_provider": str,
    "selected_model": (str, type(None)),
}
_INVENTORY: dict[str, type] = {"total": int, "missing_operations": list, "integrity_failures": list, "raw_files": list}
_TOTALS = ("total", "completed", "incomplete", "failed", "open")
_TOTAL_OF = {
    states.DONE: "completed",
    states.UNFINISHED: "incomplete",
    states.CANCELLED: "incomplete",
    states.FAILED: "failed",
}


def build(
    *,
    session_id: str,
    statuses: Iterable[str],
    tasks: Sequence[Task],
    inventory: Inventory,
    next_action: tuple[bool, str],
    violations: Sequence[Mapping[str, Any]] = (),
    provider: str,
    model: str | None,
) -> dict[str, Any]:
    """The report as JSON-able values.

    Args:
        statuses: the executor status of every run, to be merged; a session without tasks was merely started.
        next_action: whether anything is to be done next, and why or why not.
        violations: each with type, limit, actual and time.
    """
    evidence = {name: list(value) if name != "total" else value for name, value in inventory._asdict().items()}
    allowed, reason = next_action
    return {
        "session_id": session_id,
        "overall_status": _overall(statuses, tasks, inventory),
        "tasks": [{"task_id": task.id, "status": task.state} for task in tasks],
        "totals": _totals(tasks),
        "incomplete_task_reasons": {task.id: task.reason or "(unknown)" for task in tasks if task.state != states.DONE},
        "evidence_inventory": evidence,
        "next_action": allowed,
        "next_action_reason": reason or _NOTHING_LEFT,
        "violations": [dict(each) for each in violations],
        "selected_provider": provider,
        "selected_model": model,
    }


def _overall(statuses: Iterable[str], tasks: Sequence[Task], inventory: Inventory) -> str:
    found = list(statuses)
    if inventory.missing_operations or inventory.integrity_failures:
        found.append(states.NO_EVIDENCE)
    if any(task.state != states.DONE for task in tasks):
        found.append(states.INCOMPLETE)
    return states.merge(found, merely_started=not tasks)


def _totals(tasks: Sequence[Task]) -> dict[str, int]:
    counted = dict.fromkeys(_TOTALS, 0)
    for task in tasks:
        counted[_TOTAL_OF.get(task.state, "open")] += 1
    return counted | {"total": len(tasks)}


def check(report: Mapping[str, Any]) -> list[Problem]:
    """Everything that a report lacks or that contradicts itself; a report with any problem is none."""
    missing = [Problem(name, f"{name} is missing") for name in FIELDS if name not in report]
    wrong = [
        Problem(name, f"{name} is {shown(report[name])}")
        for name, kind in FIELDS.items()
        if name in report and (not isinstance(report[name], kind) or report[name] == "")
    ]
    problems = [*missing, *wrong]
    if not problems:
        problems = [found for check_part in _PARTS for found in check_part(report)]
    return problems


def require(report: Mapping[str, Any]) -> None:
    """Refuse a report that is not whole.

    Raises:
        Refused: E208; data ``problems``.
    """
    problems = check(report)
    if problems:
        what = "; ".join(problem.message for problem in problems)
        raise codes.refused("E208", f"The report is not valid: {what}.", problems=[each._asdict() for each in problems])


def _status(report: Mapping[str, Any]) -> list[Problem]:
    status, tasks = report["overall_status"], report["tasks"]
    if status not in states.SEVERITY:
        return [Problem("overall_status", f"overall_status is {shown(status)}")]
    if status == states.COMPLETE and any(_state(task) != states.DONE for task in tasks):
        return [Problem("overall_status", "overall_status is COMPLETE but a task is not")]
    return []


def _counts(report: Mapping[str, Any]) -> list[Problem]:
    totals = report["totals"]
    found = [
        Problem(f"totals.{name}", f"totals.{name} must be a count")
        for name in _TOTALS
        if not isinstance(totals.get(name), int) or isinstance(totals[name], bool) or totals[name] < 0
    ]
    if found:
        return found
    parts = {name: totals[name] for name in _TOTALS if name != "total"}
    for name, count in parts.items():
        if count > totals["total"]:
            found.append(Problem(f"totals.{name}", f"{name} {count} is more than total {totals['total']}"))
    if sum(parts.values()) != totals["total"] or totals["total"] != len(report["tasks"]):
        found.append(Problem("totals", "the totals do not add up to the tasks"))
    return found


def _reasons(report: Mapping[str, Any]) -> list[Problem]:
    found = []
    for place, task in enumerate(report["tasks"]):
        state = _state(task)
        if state not in states.STATES or not str(task.get("task_id") or "").strip():
            found.append(Problem(f"tasks[{place}]", f"tasks[{place}] needs an id and a state"))
        elif state != states.DONE and not report["incomplete_task_reasons"].get(task["task_id"]):
            found.append(Problem("incomplete_task_reasons", f"no reason is given for {task['task_id']}"))
    return found


def _evidence(report: Mapping[str, Any]) -> list[Problem]:
    inventory = report["evidence_inventory"]
    return [
        Problem(f"evidence_inventory.{name}", f"evidence_inventory.{name} is missing or of the wrong kind")
        for name, kind in _INVENTORY.items()
        if not isinstance(inventory.get(name), kind)
    ]


def _violations(report: Mapping[str, Any]) -> list[Problem]:
    needs = {"type", "limit", "actual", "time"}
    return [
        Problem(f"violations[{place}]", f"violations[{place}] needs type, limit, actual and time")
        for place, each in enumerate(report["violations"])
        if not isinstance(each, Mapping) or not needs <= each.keys()
    ]


_PARTS = (_status, _counts, _reasons, _evidence, _violations)


def _state(task: Any) -> Any:
    return task.get("status") if isinstance(task, Mapping) else None


def redact(value: Any) -> Any:
    """A JSON-able value in which nothing stands any more under a name that means a secret; other values are kept."""
    if isinstance(value, Mapping):
        return {key: REDACTED if _SECRET_NAME.search(str(key)) else redact(each) for key, each in value.items()}
    return [redact(each) for each in value] if isinstance(value, list | tuple) else value


def page(report: Mapping[str, Any]) -> str:
    """A valid report as a page of Markdown.

    Raises:
        Refused: E208.
    """
    require(report)
    reasons, inventory = report["incomplete_task_reasons"], report["evidence_inventory"]
    tasks = [_line(f"{task['task_id']}: {task['status']}", reasons.get(task["task_id"])) for task in report["tasks"]]
    broken = [_line(f"{each['type']}: {each['actual']} of {each['limit']}") for each in report["violations"]]
    evidence = [_line(f"{name}: {_amount(inventory[name])}") for name in _INVENTORY]
    return "\n".join(
        (
            f"# Session {report['session_id']}: {report['overall_status']}",
            *("", "## Tasks", "", *(tasks or ["- none"])),
            *("", "## Evidence", "", *evidence),
            *("", "## Violations", "", *(broken or ["- none"])),
            *("", "## Next", "", _line("yes" if report["next_action"] else "no", report["next_action_reason"])),
            *("", f"Provider {report['selected_provider']}, model {report['selected_model'] or 'of the provider'}", ""),
        )
    )


def _line(text: str, more: str | None = None) -> str:
    return "- " + " ".join(f"{text}{f' ({more})' if more else ''}".split())


def _amount(value: Any) -> str:
    return str(value) if isinstance(value, int) else ", ".join(map(str, value)) or "none"
