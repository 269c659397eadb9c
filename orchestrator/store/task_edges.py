"""What tasks and groups of one session are connected by, read as far as it is asked for.

The first questions are asked one by one, so that a short way costs the same in any session. A long way reads all
edges at once, which is cheaper than asking for each.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence

from orchestrator.core import task_graph
from orchestrator.store import task_reader

ONE_BY_ONE = 200
"""So many questions are asked before all edges are read."""

_ONE = {
    "depends": """SELECT depends_on_id FROM task_dependencies
        WHERE session_id = :session AND task_id = :of AND removed_seq IS NULL""",
    "children": "SELECT id FROM tasks INDEXED BY ix_tasks_parent WHERE session_id = :session AND parent_id = :of",
    "group_depends": """SELECT depends_on FROM group_dependencies
        WHERE session_id = :session AND group_id = :of AND removed_seq IS NULL""",
    "members": """SELECT id FROM tasks INDEXED BY ix_tasks_group
        WHERE session_id = :session AND group_id = :of AND parent_id IS NULL""",
}
_ALL = {
    "depends": """SELECT task_id, depends_on_id FROM task_dependencies
        WHERE session_id = :session AND removed_seq IS NULL""",
    "children": "SELECT parent_id, id FROM tasks WHERE session_id = :session AND parent_id IS NOT NULL",
    "group_depends": """SELECT group_id, depends_on FROM group_dependencies
        WHERE session_id = :session AND removed_seq IS NULL""",
    "members": """SELECT group_id, id FROM tasks
        WHERE session_id = :session AND group_id IS NOT NULL AND parent_id IS NULL""",
}
_PLACES = """SELECT id, parent_id, group_id FROM tasks WHERE session_id = :session AND (parent_id IS NOT NULL
    OR group_id IN (SELECT group_id FROM group_dependencies WHERE session_id = :session AND removed_seq IS NULL))"""

_WAITED_FOR = """SELECT EXISTS (SELECT 1 FROM task_dependencies
        WHERE session_id = :session AND depends_on_id = :of AND removed_seq IS NULL)
    OR EXISTS (SELECT 1 FROM tasks INDEXED BY ix_tasks_parent WHERE session_id = :session AND parent_id = :of)"""
_GROUP_WAITED_FOR = """SELECT EXISTS (SELECT 1 FROM group_dependencies
    WHERE session_id = :session AND depends_on = :of AND removed_seq IS NULL)"""

Place = tuple[str | None, str | None]


class Edges:
    """The edges of a session, with the place of a new task that is about to be written.

    Each attribute answers what `orchestrator.core.task_graph.Graph` says of it.
    """

    def __init__(
        self, connection: sqlite3.Connection, session: str, *, new: tuple[str, str | None, str | None] | None = None
    ) -> None:
        self._connection = connection
        self._session = session
        self._new = new
        self._left = ONE_BY_ONE
        self.depends = self._asking("depends")
        self.children = self._asking("children")
        self.group_depends = self._asking("group_depends")
        self.members = self._asking("members")
        self.place: Callable[[str], Place | None] = self._place

    def is_waited_for(self, task: str) -> bool:
        """Whether anything but the task itself may wait for it: if nothing does, no ring leads through its start."""
        place = self._place(task)
        if place is None or place[0] is not None:
            return True
        waited = self._is(_WAITED_FOR, task)
        return waited or (place[1] is not None and self._is(_GROUP_WAITED_FOR, place[1]))

    def _is(self, sql: str, of: str) -> bool:
        (found,) = self._connection.execute(sql, {"session": self._session, "of": of}).fetchone()
        return bool(found)

    def _asking(self, what: str) -> task_graph.Ask:
        def ask(of: str) -> Sequence[str] | None:
            if not self._few():
                answer: task_graph.Ask = getattr(self, what)
                return answer(of)
            rows = self._connection.execute(_ONE[what], {"session": self._session, "of": of})
            return [row[0] for row in rows] + self._added(what).get(of, [])

        return ask

    def _place(self, task: str) -> Place | None:
        if not self._few():
            return self.place(task)
        if self._new is not None and self._new[0] == task:
            return self._new[1:]
        found = task_reader.task(self._connection, self._session, task)
        return (found.parent_id, found.group_id) if found else None

    def _few(self) -> bool:
        """Whether to ask for one only; at the first time not, everything is read, and answered from memory."""
        self._left -= 1
        if self._left == 0:
            self.depends, self.children = self._read("depends").get, self._read("children").get
            self.group_depends, self.members = self._read("group_depends").get, self._read("members").get
            places = {id_: (parent, group) for id_, parent, group in self._rows(_PLACES)}
            self.place = ({**places, self._new[0]: self._new[1:]} if self._new else places).get
        return self._left > 0

    def _added(self, what: str) -> dict[str, list[str]]:
        """What a new task adds: it stands below its parent, or else in its group."""
        if self._new is None:
            return {}
        id_, parent, group = self._new
        below = "children" if parent is not None else "members"
        above = parent if parent is not None else group
        return {above: [id_]} if what == below and above is not None else {}

    def _rows(self, sql: str) -> sqlite3.Cursor:
        return self._connection.execute(sql, {"session": self._session})

    def _read(self, what: str) -> dict[str, list[str]]:
        found = self._added(what)
        for of, other in self._rows(_ALL[what]).fetchall():
            if of in found:
                found[of].append(other)
            else:
                found[of] = [other]
        return found
