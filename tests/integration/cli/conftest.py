"""A prepared database, and the installed command on it."""

from __future__ import annotations

import json
import pathlib
import shutil
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from tests import forks
from tests.conftest import Command, clean_environment

Completed = subprocess.CompletedProcess[bytes]
Run = Callable[..., Completed]
Ask = Callable[..., dict[str, Any]]
Lines = Callable[..., list[dict[str, Any]]]

PREPARATION = (
    ("session create", {"id": "S1", "goal": "one change"}),
    ("group create", {"id": "A", "session_id": "S1", "name": "Login"}),
    ("group create", {"id": "B", "session_id": "S1", "name": "Report", "depends_on": ["A"]}),
)


def jsonl(calls: Any) -> bytes:
    """The lines of a batch."""
    return b"".join(json.dumps({"op": op, "args": args}).encode() + b"\n" for op, args in calls)


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory, script: pathlib.Path) -> pathlib.Path:
    """A database with one open session of two groups, to be copied."""
    path = tmp_path_factory.mktemp("prepared") / "orchestrator.db"
    environment = clean_environment() | {"ORCHESTRATOR_DB": str(path)}
    for arguments, lines in (("init",), b""), (("batch",), jsonl(PREPARATION)):
        argv = [sys.executable, str(script), *arguments]
        done = subprocess.run(argv, input=lines, capture_output=True, env=environment, check=False)
        assert done.returncode == 0, (done.stdout, done.stderr)
    return path


@pytest.fixture
def database(prepared: pathlib.Path, tmp_path: pathlib.Path) -> pathlib.Path:
    """The test's own copy of the prepared database."""
    return pathlib.Path(shutil.copy(prepared, tmp_path / "orchestrator.db"))


@pytest.fixture
def run(forked: forks.Forks, installed: Run, database: pathlib.Path, tmp_path: pathlib.Path) -> Run:
    """Run the command on the database: `run("status", "S1", COLUMNS="40")`.

    In a fork of a process that has it loaded; modules that are about its start have `installed` for `run`.
    """

    def call(*arguments: str | bytes, stdin: bytes = b"", cwd: pathlib.Path | None = None, **more: str) -> Completed:
        environment = clean_environment() | {"ORCHESTRATOR_DB": str(database)} | more
        if forks.of_the_start(environment) != forked.start:
            return installed(*arguments, stdin=stdin, cwd=cwd, **more)
        return forked.run(arguments, stdin=stdin, environment=environment, cwd=cwd or tmp_path)

    return call


@pytest.fixture
def installed(script: pathlib.Path, database: pathlib.Path, tmp_path: pathlib.Path) -> Run:
    """As `run`, always with an interpreter of its own, as a user's shell starts it."""

    def call(*arguments: str | bytes, stdin: bytes = b"", cwd: pathlib.Path | None = None, **more: str) -> Completed:
        environment = clean_environment() | {"ORCHESTRATOR_DB": str(database)} | more
        argv = [sys.executable, str(script), *arguments]
        return subprocess.run(
            argv, input=stdin, capture_output=True, env=environment, cwd=cwd or tmp_path, timeout=60, check=False
        )

    return call


@pytest.fixture
def ask(run: Run) -> Ask:
    """Run a command with --json and return its answer, with the process's exit code as `_exit`."""

    def call(*arguments: str | bytes, **more: Any) -> dict[str, Any]:
        done = run(*arguments, "--json", **more)
        assert done.stderr == b"", done.stderr
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer | {"_exit": done.returncode}

    return call


@pytest.fixture
def lines(run: Run) -> Lines:
    """Run a batch of (operation, arguments) and return its answers."""

    def call(*calls: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
        done = run("batch", stdin=jsonl(calls))
        assert done.stderr == b"", done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    return call


@pytest.fixture
def command(forked: forks.Forks, environment: dict[str, str], tmp_path: pathlib.Path) -> Command:
    """As everywhere, on a database that is not there yet; in a fork as `run`."""

    def call(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        done = forked.run(arguments, stdin=stdin.encode(), environment=environment, cwd=tmp_path)
        return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())

    return call
