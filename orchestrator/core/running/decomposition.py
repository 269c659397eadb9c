"""Which subtasks exist: those alone that the runner approved, each approval with its evidence.

Source: seed 001, Property 13.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from orchestrator.core.running import codes, states

ADD, ALTER, REMOVE = "add", "alter", "remove"
ACTIONS = (ADD, ALTER, REMOVE)
RUNNER = "runner"


class Change(NamedTuple):
    """A change of the subtasks that an agent proposed: what is to become of which subtask, by whom, to which text."""

    action: str
    task: str
    by: str
    text: str = ""


class Plan(NamedTuple):
    """The subtasks with their texts, the changes that wait, and the evidence of each approved one, in order."""

    tasks: Mapping[str, str]
    proposed: tuple[Change, ...] = ()
    evidence: tuple[Mapping[str, str], ...] = ()


def propose(plan: Plan, change: Change) -> Plan:
    """Note a proposed change; it changes no task.

    Raises:
        Refused: E205, an unknown action, a subtask to add that exists, or one to alter or remove that does not.
    """
    if change.action not in ACTIONS or (change.action == ADD) == (change.task in plan.tasks):
        raise unapproved(f"{change.by} cannot {change.action} subtask {change.task}.", (change.task,))
    return plan._replace(proposed=(*plan.proposed, change))


def approve(plan: Plan, change: Change, *, by: str, at: str) -> Plan:
    """Make a proposed change, and its evidence.

    Args:
        by: who approves: the runner alone may.
        at: the time, as it is recorded.

    Raises:
        Refused: E205, somebody else approves, or nobody proposed this.
    """
    if by != RUNNER:
        raise unapproved(f"{by} may not approve subtask {change.task}.", (change.task,))
    if change not in plan.proposed:
        raise unapproved(f"Nobody proposed to {change.action} subtask {change.task}.", (change.task,))
    rest = list(plan.proposed)
    rest.remove(change)
    tasks = {task: text for task, text in plan.tasks.items() if task != change.task}
    if change.action != REMOVE:
        tasks[change.task] = change.text
    record = {"kind": "decomposition", **change._asdict(), "approved_by": by, "at": at}
    return Plan(tasks, tuple(rest), (*plan.evidence, record))


def check(plan: Plan, found: Mapping[str, str]) -> None:
    """Refuse subtasks that are not those of the plan: made, changed or left out by somebody else.

    Args:
        found: the subtasks as an agent works on them, with their texts.

    Raises:
        Refused: E205; data ``tasks``, each of them; the session is INVALID.
    """
    wrong = _differing(plan.tasks, found)
    if wrong:
        raise unapproved(f"Nobody approved subtask {', '.join(wrong)} as it is.", wrong)


def unapproved(sentence: str, tasks: Iterable[str]) -> Exception:
    """The refusal of a subtask that the runner did not approve."""
    return codes.refused("E205", sentence, tasks=list(tasks), status=states.INVALID)


def _differing(planned: Mapping[str, str], found: Mapping[str, str]) -> list[str]:
    return [task for task in dict.fromkeys((*planned, *found)) if planned.get(task) != found.get(task)]
