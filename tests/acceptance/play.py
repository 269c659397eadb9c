"""Two stages for one story: the use cases in this process, and the installed command in a process of its own."""

from __future__ import annotations

import json
import pathlib
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from orchestrator import resources, testing
from orchestrator.app import setup
from orchestrator.app.kernel import operations
from orchestrator.errors import OrchestratorError
from orchestrator.store import constants

SESSION = "S1"
Answer = dict[str, Any]


class Stage(Protocol):
    """Where a story is played."""

    def call(self, words: str, arguments: dict[str, Any]) -> Answer:
        """One operation; what it answered, with the `exit_code` of its kind."""

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """What is on record."""

    def past_every_door(self, sql: str) -> list[str]:
        """The refusal that a statement meets which is not ours, once for each client there is."""


class Process:
    """The use cases, on a database in memory."""

    def __init__(self, workflow: pathlib.Path | None = None) -> None:
        self.context = testing.memory_context()
        if workflow is not None:
            setup.initialise(self.context, workflow=workflow)

    def call(self, words: str, arguments: dict[str, Any]) -> Answer:
        try:
            return {"exit_code": 0, **operations.call(self.context, words, **arguments)}
        except OrchestratorError as problem:
            refused = {"success": False, "code": problem.code, "error": problem.message, "exit_code": problem.exit_code}
            return {**refused, **problem.data}

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        return self.context.connection.execute(sql).fetchall()

    def past_every_door(self, sql: str) -> list[str]:
        connection = self.context.connection
        connection.create_function(constants.WRITE_FUNCTION, 0, None)
        try:
            return [attempt(connection, sql)]
        finally:
            connection.create_function(constants.WRITE_FUNCTION, 0, lambda: 1)


class Command:
    """`orchestrator batch` on a database file: one line in, one line out."""

    def __init__(self, environment: Mapping[str, str], script: pathlib.Path, database: pathlib.Path) -> None:
        self.path = pathlib.Path(environment["ORCHESTRATOR_DB"])
        shutil.copyfile(database, self.path)
        self._failed = False
        argv = [sys.executable, str(script), "batch"]
        self._process = subprocess.Popen(
            argv, env=dict(environment), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def call(self, words: str, arguments: dict[str, Any]) -> Answer:
        source, sink = self._process.stdin, self._process.stdout
        assert source is not None
        assert sink is not None
        source.write(json.dumps({"op": words, "args": arguments}) + "\n")
        source.flush()
        answer: Answer = json.loads(sink.readline())
        self._failed = self._failed or not answer["success"]
        return answer

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        connection = sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)
        try:
            return connection.execute(sql).fetchall()
        finally:
            connection.close()

    def past_every_door(self, sql: str) -> list[str]:
        connection = sqlite3.connect(self.path, isolation_level=None)
        try:
            refused = [attempt(connection, sql)]
        finally:
            connection.close()
        shell = shutil.which("sqlite3")
        if shell:
            done = subprocess.run([shell, str(self.path), sql], capture_output=True, text=True, timeout=60, check=False)
            refused.append(done.stderr if done.returncode else "")
        return refused

    def close(self) -> None:
        """End the process by the end of its input; its exit code says whether a line failed."""
        rest, _ = self._process.communicate(timeout=60)
        assert (rest, self._process.returncode) == ("", int(self._failed))


def attempt(connection: sqlite3.Connection, sql: str) -> str:
    """Run a statement; return the refusal's text, empty where the statement went through."""
    try:
        connection.execute(sql)
    except sqlite3.Error as error:
        return str(error)
    return ""


def initialise(
    environment: Mapping[str, str], script: pathlib.Path, database: pathlib.Path, workflow: pathlib.Path | None = None
) -> pathlib.Path:
    """Create a database with `orchestrator init`."""
    argv = [sys.executable, str(script), "init", *(["--workflow", str(workflow)] if workflow else [])]
    surroundings = {**environment, "ORCHESTRATOR_DB": str(database)}
    done = subprocess.run(argv, env=surroundings, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return database


class Story:
    """One session on a stage, told in the words of its actors."""

    def __init__(self, stage: Stage, *, groups: tuple[str, ...] = ("A",), **session: Any) -> None:
        self.stage = stage
        self.done("session create", id=SESSION, goal="one goal", **session)
        for group in groups:
            self.group(group)

    def do(self, words: str, **arguments: Any) -> Answer:
        return self.stage.call(words, arguments)

    def done(self, words: str, **arguments: Any) -> Answer:
        answer = self.do(words, **arguments)
        assert (answer["success"], answer["exit_code"]) == (True, 0), answer
        return answer

    def group(self, group: str, **more: Any) -> Answer:
        return self.done("group create", id=group, session_id=SESSION, name=group, **more)

    def plan(self) -> Answer:
        return self.says("project_manager", "PLANNING_COMPLETE")

    def says(self, role: str, status: str, group: str | None = None, **more: Any) -> Answer:
        """A report that is accepted."""
        return self.done("route", **self._report(role, status, group), **more)

    def refused(self, role: str, status: str, group: str | None = None, **more: Any) -> str:
        """The code that a report is refused with."""
        return self.code("route", **self._report(role, status, group), **more)

    def code(self, words: str, **arguments: Any) -> str:
        answer = self.do(words, **arguments)
        assert (answer["success"], answer["exit_code"]) == (False, 3), answer
        return str(answer["code"])

    def moves(self, group: str, status: str, by: str) -> dict[str, Any]:
        return {"id": group, "status": status, "session_id": SESSION, "by": by, "reason": "only the environment"}

    def _report(self, role: str, status: str, group: str | None) -> dict[str, Any]:
        given = {"session_id": SESSION, "current_agent": role, "status": status}
        return {**given, "group_id": group} if group else given

    def groups(self) -> dict[str, str]:
        """The status of every group."""
        return dict(self.stage.rows("SELECT id, status FROM task_groups ORDER BY created_seq"))

    def awaited(self) -> dict[str, str | None]:
        """Whom every group in progress waits for."""
        sql = "SELECT id, awaited_role FROM task_groups WHERE status = 'in_progress' ORDER BY created_seq"
        return dict(self.stage.rows(sql))

    def session(self) -> tuple[str, str | None]:
        """The session's status, and whom it waits for as a whole."""
        ((status, awaited),) = self.stage.rows("SELECT status, awaited_role FROM sessions")
        return status, awaited

    def open_blockers(self) -> list[tuple[str, str]]:
        return self.stage.rows(
            "SELECT group_id, opened_role FROM blockers WHERE resolved_seq IS NULL ORDER BY opened_seq"
        )

    def resolutions(self) -> list[tuple[str, str]]:
        return self.stage.rows(
            "SELECT group_id, resolution FROM blockers WHERE resolved_seq IS NOT NULL ORDER BY resolved_seq, opened_seq"
        )

    def refusals(self) -> list[tuple[str, str]]:
        """Who was refused, and with which code, in order."""
        return self.stage.rows("SELECT actor, code FROM refusals ORDER BY seq")


def two_slots(folder: pathlib.Path) -> pathlib.Path:
    """The shipped workflow with two slots."""
    document = json.loads((resources.path("workflow") / "transitions.json").read_text("utf-8"))
    for status in ("PLANNING_COMPLETE", "CONTINUE"):
        document["project_manager"][status]["max_parallel"] = 2
    file = folder / "two_slots.json"
    file.write_text(json.dumps(document), "utf-8")
    return file


Told = Callable[..., Story]
"""Begins a story."""
