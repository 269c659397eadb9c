"""A desk with tasks on it, in few words."""

from __future__ import annotations

import functools
import json
import pathlib
from typing import Any

from orchestrator import testing
from tests.integration.app.desk import Clock, Desk

DEV, LEAD, PM = "developer", "tech_lead", "project_manager"


class Board(Desk):
    """Calls about the tasks of one session, S1, with groups A and B."""

    def __init__(self, folder: pathlib.Path) -> None:
        super().__init__(folder)
        self.prepare()

    def prepare(self) -> None:
        """The session, its groups and two workers."""
        self.session("S1", "A", "B")
        for name in ("dev-1", "dev-2"):
            self.call("agent register", id=name, role="developer", parent="tech_lead")

    def task(self, id: str, *, by: str = LEAD, **more: Any) -> dict[str, Any]:
        """Create a task."""
        return self.call("task create", id=id, session_id="S1", title=f"title of {id}", by=by, **more)

    def mine(self, id: str = "T", agent: str = "dev-1", **more: Any) -> None:
        """A task that an agent has in progress."""
        self.task(id, **{"assignee": agent, **more})
        self.move(id, "in_progress", agent)

    def subs(self, *ids: str, parent: str = "T", agent: str = "dev-1", **more: Any) -> None:
        """Subtasks, each of the same agent."""
        for id in ids:
            self.task(id, parent=parent, by=agent, **{"assignee": agent, **more})

    def move(self, id: str, *statuses: str, by: str | None = None, **more: Any) -> dict[str, Any]:
        """Move a task along; the last word is who does it."""
        words = list(statuses)
        actor = by or words.pop()
        answer: dict[str, Any] = {}
        for status in words:
            reason = {"reason": f"{status} by {actor}"} if status in ("blocked", "cancelled") else {}
            answer = self.call("task set-status", id=id, status=status, session_id="S1", by=actor, **{**reason, **more})
        return answer

    def next(self, agent: str = "dev-1", task: str | None = None) -> dict[str, Any]:
        """What an agent does next."""
        return self.call("next", session_id="S1", agent_id=agent, task=task)

    def says(self, agent: str = "dev-1", task: str | None = None) -> tuple[str, Any]:
        """The action and what it is about, in short."""
        return short(self.next(agent, task))

    def claim(self, id: str | None = None, agent: str = "dev-1", **more: Any) -> dict[str, Any]:
        """Claim a task."""
        return self.call("task claim", session_id="S1", agent_id=agent, id=id, **more)

    def shown(self, id: str) -> dict[str, Any]:
        """The row of a task."""
        cursor = self.context.connection.execute("SELECT * FROM tasks WHERE session_id = 'S1' AND id = ?", (id,))
        names = [column[0] for column in cursor.description]
        return dict(zip(names, cursor.fetchone(), strict=True))

    def everything(self) -> str:
        """All rows of all tables, to be compared."""
        connection = self.context.connection
        names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        rows = {name: sorted(map(repr, connection.execute(f'SELECT * FROM "{name}"'))) for name in names}
        return json.dumps(rows, sort_keys=True)


ABOUT = (
    "task", "current_subtask", "next_subtask", "subtask", "blocked_subtask", "blocked_task", "blocked_subtasks",
    "root_causes", "ring", "question_id", "who_works", "dependency",
)  # fmt: skip


@functools.cache
def _prepared() -> bytes:
    board = _without_file()
    board.prepare()
    content: bytes = board.context.connection.serialize()
    return content


def in_memory() -> Board:
    """A board without a file, which is quick to make: for properties, and for replays."""
    return _without_file(_prepared())


def _without_file(content: bytes | None = None) -> Board:
    board = Board.__new__(Board)
    board.clock = Clock()
    board.context = testing.memory_context(board.clock, content=content)
    return board


def short(answer: dict[str, Any]) -> tuple[str, Any]:
    """The action of an answer, and the ids of what it is about."""
    for key in ABOUT:
        if key in answer:
            found = answer[key]
            if isinstance(found, list):
                return answer["action"], [each["id"] if isinstance(each, dict) else each for each in found]
            return answer["action"], found["id"] if isinstance(found, dict) else found
    return answer["action"], None
