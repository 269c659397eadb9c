"""A database with one workflow, and short words for what agents report into it."""

from __future__ import annotations

import functools
import pathlib
import shutil
import tempfile
from typing import Any

import pytest

from orchestrator import bootstrap as _bootstrap  # noqa: F401 - names what contexts ask of runs
from orchestrator import errors
from orchestrator.app import setup
from orchestrator.app.kernel import operations
from orchestrator.app.kernel.context import Context
from orchestrator.store import sqlite


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.minutes = 0

    def __call__(self) -> str:
        return f"2025-01-01T{self.minutes // 60:02d}:{self.minutes % 60:02d}:00.000000Z"


@functools.cache
def _template() -> pathlib.Path:
    path = pathlib.Path(tempfile.mkdtemp()) / "template.db"
    clock = Clock()
    setup.create_database(path, clock())
    context = _of_file(path, clock)
    setup.initialise(context)
    context.connection.close()
    return path


def _of_file(path: pathlib.Path, clock: Clock) -> Context:
    connection = sqlite.connect(path, write=True, synchronous="NORMAL")
    return Context(connection, path=str(path), clock=clock, door="test", channel="process", deadline_s=5.0)


def _context(path: pathlib.Path, clock: Clock) -> Context:
    return _of_file(path, clock)


class Desk:
    """Calls operations on a database of its own."""

    def __init__(self, folder: pathlib.Path, *, shared: bool = False) -> None:
        """Make a database in a folder.

        Args:
            shared: other connections are to see what this one has committed.
        """
        self.path = folder / "orchestrator.db"
        shutil.copyfile(_template(), self.path)
        self.clock = Clock()
        self.context = _context(self.path, self.clock)

    @classmethod
    def of_file(cls, folder: pathlib.Path) -> Desk:
        """A desk with a file, whatever the store is that is tested: for what opens the file by itself."""
        made = cls.__new__(cls)
        made.path, made.clock = folder / "orchestrator.db", Clock()
        shutil.copyfile(_template(), made.path)
        made.context = _of_file(made.path, made.clock)
        return made

    def call(self, words: str, **arguments: Any) -> dict[str, Any]:
        """Call an operation."""
        return operations.call(self.context, words, **arguments)

    def refused(self, words: str, **arguments: Any) -> errors.OrchestratorError:
        """Call an operation that must be turned down, and return why."""
        with pytest.raises(errors.OrchestratorError) as caught:
            self.call(words, **arguments)
        return caught.value

    def session(self, id: str = "S1", *groups: str, **more: Any) -> None:
        """A session with these groups, not planned yet."""
        self.call("session create", id=id, goal=f"goal of {id}", **more)
        for group in groups:
            self.call("group create", id=group, session_id=id, name=f"name of {group}")

    def planned(self, id: str = "S1", *groups: str, **more: Any) -> None:
        """A session whose groups are started, as far as there are slots."""
        self.session(id, *groups, **more)
        self.report("project_manager PLANNING_COMPLETE", session=id)

    def report(self, words: str, group: str | None = None, session: str = "S1", **more: Any) -> dict[str, Any]:
        """Route `role STATUS`, or several separated by commas, on one group; return the last decision."""
        answer: dict[str, Any] = {}
        for each in words.split(","):
            role, status = each.split()
            answer = self.call(
                "route", session_id=session, group_id=group, current_agent=role, status=status, **more
            )
        return answer

    def group(self, id: str = "A", session: str = "S1") -> dict[str, Any]:
        """The group as `group show` answers it."""
        found: dict[str, Any] = self.call("group show", id=id, session_id=session)["group"]
        return found

    def part(self, name: str, id: str = "A", session: str = "S1") -> tuple[bool, str]:
        """Whether a part of the group's path is met, and why."""
        return next((part["met"], part["reason"]) for part in self.group(id, session)["path"] if part["part"] == name)

    def events(self) -> int:
        """How many steps there are in all."""
        return int(self.context.connection.execute("SELECT count(*) FROM audit_events").fetchone()[0])
