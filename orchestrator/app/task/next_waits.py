"""What an agent's work waits for: all that is open in a session, followed to its ends.

It is read only when an agent can do nothing, for it looks at every open task.

Source: seed 002, pendingSubTasks の依存関係フィルタリング.
"""

from __future__ import annotations

from orchestrator.core import permissions, tasks
from orchestrator.core.next_facts import Root
from orchestrator.core.permissions import Standing
from orchestrator.core.routing.facts import MANAGER
from orchestrator.core.tasks import Task
from orchestrator.core.wait_graph import Node, Waits, follow
from orchestrator.store import next_reader, task_reader
from orchestrator.store.reader import Reader

CLOSED_GROUPS = ("completed", "deferred_external", "cancelled")
_BLOCKER = "blocker "
_GROUP = "group "
"""What stands before a group's id where tasks and groups are named together; no id holds a space."""


class Waiting:
    """Follows what a main task, or what is below it, waits for."""

    def __init__(self, reader: Reader, session: str, main: Task) -> None:
        self.reader = reader
        self.connection = reader.connection
        self.session = session
        self.main = main
        self._found: Waits | None = None
        self._groups: dict[str, tuple[str, ...]] = {}
        self._above: dict[str, str | None] = {}

    def walk(self) -> Waits:
        """What the main task waits for where it waits itself, else what its open subtasks wait for."""
        main = self.main
        if self._found is not None:
            return self._found
        self.reach = next_reader.reach(self.connection, self.session)
        open_ = [name for name in self.reach.below.get(main.id, ()) if self.reach.tasks[name][1] != tasks.CANCELLED]
        own = main.status != tasks.IN_PROGRESS and (
            task_reader.waits(self.connection, self.session, main) or bool(self._stops(main.group_id))
        )
        self._found = follow([main.id] if own else sorted(open_, key=tasks.natural), self._look)
        return self._found

    def _look(self, name: str) -> Node:
        if name.startswith(_BLOCKER):
            return Node()
        if name.startswith(_GROUP):
            return self._look_at_group(name.removeprefix(_GROUP))
        _, status, _, group, _ = self.reach.tasks[name]
        if status == tasks.CANCELLED:
            return Node(dead=True)
        if status == tasks.IN_PROGRESS:
            return Node(self.reach.below.get(name, ()))
        whole = [str(self._parent(name))] if self._waits_above(name) else []
        waits = [*self.reach.edges.get(name, ()), *whole]
        if group is None:
            return Node(waits)
        return Node([*waits, *(_GROUP + each for each in self._open_groups(group)), *self._stops(group)])

    def _stops(self, group: str | None) -> list[str]:
        """The hard blocker with which the tasks of a group wait, if there is one."""
        found = task_reader.stops_group(self.connection, self.session, group)
        return [_BLOCKER + found] if found else []

    def _waits_above(self, name: str) -> str | None:
        """The nearest task above another one that depends on something: a part waits for what its whole waits for."""
        climbed: list[str] = []
        here, found = name, None
        while found is None and here not in self._above:
            self._above[here] = None
            climbed.append(here)
            parent = self._parent(here)
            if parent is None:
                break
            found = parent if self.reach.edges.get(parent) else None
            here = parent
        else:
            found = found or self._above[here]
        self._above |= dict.fromkeys(climbed, found)
        return found

    def _parent(self, name: str) -> str | None:
        """The task above, where it has not ended."""
        parent = self.reach.tasks[name][4]
        return parent if parent in self.reach.tasks else None

    def _look_at_group(self, group: str) -> Node:
        found = self.reader.group(self.session, group)
        if found is None or found.status in CLOSED_GROUPS:
            return Node(dead=True)
        inside = self.reach.of_group.get(group, [])
        return Node([*inside, *(_GROUP + each for each in self._open_groups(group))])

    def _open_groups(self, group: str) -> tuple[str, ...]:
        """The groups that a group waits for, asked once for each."""
        if group not in self._groups:
            self._groups[group] = self.reader.open_dependencies(self.session, group)
        return self._groups[group]

    def describe(self, name: str) -> Root:
        """A task, group or blocker of the walk in words."""
        if name.startswith(_BLOCKER):
            id = name.removeprefix(_BLOCKER)
            row = self.reader.one("SELECT reason, opened_by, group_id FROM blockers WHERE id = :id", id=id)
            reason, by, of = map(str, row or ("", "", ""))
            return Root("blocker", id, reason, "open", by, of)
        if name.startswith(_GROUP):
            id = name.removeprefix(_GROUP)
            found = self.reader.group(self.session, id)
            return Root("group", id, id, found.status if found else "unknown")
        title, status, assignee, group, parent = self.reach.tasks[name]
        return Root("task", name, title, status, assignee, group, parent)


def dropper(reader: Reader, session: str, asker: Standing, task: str, dependency: str) -> str:
    """Who may drop a dependency: the asker where it added it or stands above who did, else the manager of all."""
    if asker.role == MANAGER:
        return asker.id
    found = task_reader.task(reader.connection, session, task)
    if asker.group_id is not None and found is not None and found.group_id not in (None, asker.group_id):
        return MANAGER
    if task.startswith(_GROUP) or dependency.startswith(_GROUP):
        return MANAGER
    added = next_reader.added_by(reader.connection, session, task, dependency)
    who = task_reader.standing(reader.connection, added) if added else None
    allowed = who is None or who.id == asker.id or permissions.is_above(asker, who)
    return asker.id if allowed else MANAGER
