"""A session with one group, agents at several places, and short words for what is done to its tasks."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from typing import Any

import pytest

from orchestrator import errors
from orchestrator.app.kernel import operations
from orchestrator.testing import Clock, memory_context
from tests import persons

SESSION = "S1"
AGENTS = (("dev-1", "developer"), ("dev-2", "developer"), ("qa-1", "qa_expert"))
"""Agents besides the shipped ones, with whom they report to."""


@functools.cache
def _template() -> bytes:
    context = memory_context()
    operations.call(context, "session create", id=SESSION, goal="a goal")
    operations.call(context, "group create", id="A", session_id=SESSION, name="first")
    operations.call(context, "group create", id="B", session_id=SESSION, name="second")
    for agent, parent in AGENTS:
        role = "qa_expert" if parent == "qa_expert" else "developer"
        operations.call(context, "agent register", id=agent, role=role, parent=parent)
    operations.call(context, "agent register", id="busy", role="developer", parent="developer", max_parallel_tasks=2)
    return bytes(context.connection.serialize())


class Board:
    """Calls operations on tasks of one session."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.clock.seconds = 1000
        self.context = memory_context(self.clock, content=_template())

    def call(self, words: str, **given: Any) -> dict[str, Any]:
        """Call an operation on the session."""
        return operations.call(self.context, words, session_id=SESSION, **given)

    def refused(self, words: str, **given: Any) -> errors.OrchestratorError:
        """Call an operation that must be turned down, and return why."""
        with pytest.raises(errors.OrchestratorError) as caught:
            self.call(words, **given)
        return caught.value

    def task(self, id: str, *, by: str = "project_manager", status: str = "todo", **given: Any) -> dict[str, Any]:
        """Create a task of group A, or below its parent; assigned to `dev-1` unless somebody else is named."""
        given.setdefault("assignee", "dev-1")
        if "parent" not in given:
            given.setdefault("group_id", "A")
        found: dict[str, Any] = self.call("task create", id=id, title=f"title of {id}", by=by, status=status, **given)
        return found["task"]  # type: ignore[no-any-return]

    def move(self, id: str, *statuses: str, by: str = "dev-1", **given: Any) -> dict[str, Any]:
        """Set a task to these statuses, one after another; return its row."""
        found: dict[str, Any] = {}
        for status in statuses:
            more = {"reason": f"reason of {id}"} if status in ("blocked", "cancelled") else {}
            found = self.call("task set-status", id=id, status=status, by=by, **{**more, **given})["task"]
        return found

    def no(self, id: str, status: str, *, by: str | None = "dev-1", **given: Any) -> errors.OrchestratorError:
        """Set a task to a status that must be refused, and return why."""
        more = {"reason": f"reason of {id}"} if status in ("blocked", "cancelled") else {}
        return self.refused("task set-status", id=id, status=status, by=by, **{**more, **given})

    def show(self, id: str) -> dict[str, Any]:
        """The task as `task show` answers it."""
        found: dict[str, Any] = self.call("task show", id=id)["task"]
        return found

    def status(self, *ids: str) -> dict[str, str]:
        """The statuses of tasks."""
        return {id_: self.show(id_)["status"] for id_ in ids}

    def open(self, id: str) -> list[str]:
        """The ids of a task's open blockers, the oldest first."""
        return [each["id"] for each in self.show(id)["blockers"] if each["resolved_at"] is None]

    def resolve(self, blocker: str, *, by: str = "dev-1", reason: str = "mended") -> dict[str, Any]:
        """Resolve a blocker."""
        return self.call("blocker resolve", id=blocker, by=by, reason=reason)

    @contextlib.contextmanager
    def person(self) -> Iterator[None]:
        """What is called inside comes from a person at a terminal."""
        persons.sit(self.context)
        try:
            yield
        finally:
            self.context.credential = None

    def rows(self, sql: str, **given: Any) -> list[tuple[Any, ...]]:
        """Rows of the database."""
        return list(self.context.connection.execute(sql, given).fetchall())

    def refusals(self) -> list[tuple[str, str]]:
        """Actor and code of what was refused, in order."""
        return [(row[0], row[1]) for row in self.rows("SELECT actor, code FROM refusals ORDER BY rowid")]

    def events(self) -> int:
        """How many steps there are in all."""
        return int(self.rows("SELECT count(*) FROM audit_events")[0][0])


@pytest.fixture
def board() -> Board:
    """A board of the test's own."""
    return Board()
