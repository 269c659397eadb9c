"""The tasks that a report says are done: `details.tasks_done`, a list of ids."""

from __future__ import annotations

from orchestrator.app.kernel.context import Answer, Work
from orchestrator.core import fields
from orchestrator.core.routing.facts import Case
from orchestrator.errors import InvalidInput
from orchestrator.hints import Any

KEY = "tasks_done"
SINCE = 4
"""The first rules version that finishes tasks by reports."""


def check(work: Work, case: Case) -> None:
    """Refuse a list of finished tasks that is none.

    Raises:
        InvalidInput: METADATA_INVALID {problems}.
    """
    value: Any = case.report.details.get(KEY)
    if value is None or work.context.rules_version < SINCE:
        return
    place = f"$.details.{KEY}"
    problems = [] if isinstance(value, list) else [fields.problem(place, f"must be a list, not {fields.kind(value)}")]
    for index, each in enumerate(value if isinstance(value, list) else ()):
        if not isinstance(each, str):
            problems.append(fields.problem(f"{place}[{index}]", f"must be the id of a task, not {fields.kind(each)}"))
    if problems:
        first = problems[0]
        raise InvalidInput(
            "METADATA_INVALID", f"The report is not valid: {first['path']}: {first['message']}.",
            f'Send it as "{KEY}": ["TASK"]', problems=problems,
        )


def finish(work: Work, case: Case, agent: str) -> Answer:
    """Finish what the report names; what the decision says of it.

    Raises:
        Refused: as the service that changes the status of tasks; then nothing of the report counts.
    """
    ids = _ids(work, case)
    if not ids:
        return {}
    refused = work.context.finish_tasks(work, ids, agent)
    for problem in refused.values():
        raise problem
    return {KEY: list(dict.fromkeys(ids))}


def finish_what_can_be(work: Work, case: Case, agent: str) -> Answer:
    """The same for a report that counts later than it came: what cannot be finished any more is a warning."""
    ids = _ids(work, case)
    if not ids:
        return {}
    refused = work.context.finish_tasks(work, ids, agent)
    done = [each for each in dict.fromkeys(ids) if each not in refused]
    warnings = [f"Task {id_} was not finished: {problem.message}" for id_, problem in refused.items()]
    return {KEY: done, **({"warnings": warnings} if warnings else {})}


def _ids(work: Work, case: Case) -> list[str]:
    return [] if work.context.rules_version < SINCE else case.report.details.get(KEY) or []
