"""What a run's task orders by name, and what of it was not done, over all the runs of the task.

Source: seed 001, Properties 8, 26 and 31.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable

from orchestrator.app.context import Context
from orchestrator.core import task_types
from orchestrator.core.running import named, targets
from orchestrator.core.running.targets import Target
from orchestrator.store import run_reader
from orchestrator.store.run_reader import Run


def wanted(context: Context, run: Run) -> tuple[Target, ...]:
    """The targets of a run's task: of a question none, and none where a person has named a file since."""
    if run.task_type == task_types.READ_INFO:
        return ()
    first = run_reader.of_task(context.connection, run.session_id, run.task_id)[0]
    asked = run_reader.question(context.connection, run.question_id) if run.question_id else None
    said = [run.prompt.removeprefix(first.prompt), (asked or {}).get("note") or ""]
    if any(named.files(text) or targets.takes_back(text) for text in said):
        return ()
    return targets.wanted(_relative(first.prompt, run.verification_root))


def left(context: Context, run: Run) -> tuple[Target, ...]:
    """The targets that no earlier attempt at the run's task has met; all of them where there was none."""
    orders = wanted(context, run)
    runs = run_reader.of_task(context.connection, run.session_id, run.task_id)
    if all(each.started_at is None for each in runs):
        return orders
    open_ = targets.unmet(orders, _there(orders, run), _touched_before(context, run))
    return tuple(each for each in orders if each.path in open_)


def unmet(context: Context, run: Run, present: Collection[str], touched: Collection[str]) -> tuple[str, ...]:
    """Those targets with which nothing happened of what was ordered, in this run or an earlier one of its task.

    Args:
        present: the project's files now, as relative paths.
        touched: those that are new, changed or gone since the run was started.
    """
    orders = wanted(context, run)
    if not orders:
        return ()
    there, before = _there(orders, run), _touched_before(context, run)
    return targets.unmet(orders, {*present, *there}, {*touched, *before})


def _there(orders: Iterable[Target], run: Run) -> set[str]:
    return {each.path for each in orders if os.path.lexists(os.path.join(run.verification_root, each.path))}


def _touched_before(context: Context, run: Run) -> set[str]:
    runs = run_reader.of_task(context.connection, run.session_id, run.task_id)
    rows = [row for each in runs for row in run_reader.files(context.connection, run.session_id, each.id)]
    return {row["path"] for row in rows if row["change"] is not None}


def _relative(text: str, root: str) -> str:
    """The text with files of the project named as they are in it."""
    return text.replace(f"{root.rstrip('/')}/", "")
