"""Finishing the tasks that a report names, by the same service as every other change of a task."""

from __future__ import annotations

from orchestrator.app.kernel import agent_checks
from orchestrator.app.kernel.context import Work
from orchestrator.app.task import status_checks, task_status
from orchestrator.core import tasks
from orchestrator.errors import Refused
from orchestrator.store.reader import Agent


def finish(work: Work, ids: list[str], by: str) -> dict[str, Refused]:
    """Set tasks done, each as far as the service lets its agent; one that is done stays as it is.

    They are taken in whatever order works, so that a part is done before its whole.

    Args:
        ids: of tasks of the step's session.
        by: the id of the agent who reports.

    Returns:
        What was refused, by the task's id, in the order of the ids.
    """
    agent = agent_checks.require_agent(work, by)
    left = list(dict.fromkeys(ids))
    while True:
        refused: dict[str, Refused] = {}
        for id_ in left:
            try:
                _finish(work, id_, agent)
            except Refused as problem:
                refused[id_] = problem
        if not refused or len(refused) == len(left):
            return refused
        left = list(refused)


def _finish(work: Work, id_: str, agent: Agent) -> None:
    task = status_checks.require_task(work, work.step.chain, id_)
    agent_checks.refuse_outside(work, agent, task.group_id)
    if task.status == tasks.DONE:
        return
    if task.pending:
        # Whether it can be done is asked first: what was begun and then refused would stay begun.
        status_checks.may_finish(work, task, agent)
        task = task_status.change(work, task, tasks.IN_PROGRESS, by=agent)
    task_status.change(work, task, tasks.DONE, by=agent)
