"""A database to measure in, made by the same commands that a user would give."""

from __future__ import annotations

import os
import pathlib
import sys
from typing import NamedTuple

from tools.benchmarks import harness

ORCHESTRATOR = pathlib.Path(sys.executable).with_name("orchestrator")
ANCHOR = (sys.executable, "-I", "-c", "import sqlite3,json,argparse")


class Workplace(NamedTuple):
    """A folder of its own with a database in it."""

    folder: pathlib.Path
    environment: dict[str, str]

    def command(self, *arguments: str, exits: tuple[int, ...] = (0,)) -> str:
        """Give one command and return what it printed."""
        return harness.call((ORCHESTRATOR, *arguments), self.folder, self.environment, exits)

    def measured(self, *arguments: str, exits: tuple[int, ...] = (0,)) -> harness.Case:
        """A case that gives the same command each time."""
        return harness.process((ORCHESTRATOR, *arguments), self.folder, self.environment, exits)

    def anchor(self) -> harness.Case:
        """The case that the cold commands are compared with: a process that imports what they cannot do without."""
        return harness.process(ANCHOR, self.folder, self.environment)


def create(folder: pathlib.Path) -> Workplace:
    """An initialised database in an empty folder."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ORCHESTRATOR_", "PYTHONDONT"))}
    workplace = Workplace(folder, kept | {"ORCHESTRATOR_DB": str(folder / "orchestrator.db")})
    workplace.command("init")
    return workplace


def session(workplace: Workplace, name: str) -> None:
    """A session with one group, A, that waits for its first report."""
    workplace.command("session", "create", name, "--goal", "one small change")
    workplace.command("group", "create", "A", "--session-id", name, "--name", "A", "--by", "project_manager")


def first_report(name: str) -> tuple[str, ...]:
    """The words of the first report in a session's group, which can be given once."""
    words = "route --group-id A --current-agent developer --status READY_FOR_QA --json --session-id"
    return (*words.split(), name)


def second_report(name: str) -> tuple[str, ...]:
    """The words of the report that answers the first one: as most reports, it moves no group to another status."""
    words = "route --group-id A --current-agent qa_expert --status PASS --json --session-id"
    return (*words.split(), name)
