"""Databases for the tests of the store, and users who may not write them."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import NoReturn

import pytest

from orchestrator.store import migrate
from tests.integration.store import ledger

AT = "2026-01-01T00:00:00.000000Z"
NOBODY = 65534

Unprivileged = Callable[[Callable[[], object]], object]
Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A migrated, otherwise empty database that nobody has open."""
    path = tmp_path_factory.mktemp("template") / "orchestrator.db"
    migrate.upgrade(path, AT)
    return path


@pytest.fixture
def database(template: pathlib.Path, tmp_path: pathlib.Path) -> pathlib.Path:
    """A fresh database of the test's own."""
    folder = tmp_path / ".orchestrator"
    folder.mkdir(mode=0o700)
    return pathlib.Path(shutil.copy(template, folder / "orchestrator.db"))


@pytest.fixture
def book() -> Iterator[ledger.Ledger]:
    """A session without groups in a database in memory, to be written row by row."""
    written = ledger.Ledger(ledger.empty())
    yield written
    written.connection.close()


@pytest.fixture
def open_folder() -> Iterator[pathlib.Path]:
    """A folder that every user of the machine may reach."""
    folder = pathlib.Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    for each in (folder, *folder.rglob("*")):
        each.chmod(0o700)
    shutil.rmtree(folder)


@pytest.fixture
def unprivileged() -> Unprivileged:
    """Call a function as a user whom file modes bind: another one where the tests run as root.

    In a fork, since that user may not be able to start the interpreter. The answer has to have a form in JSON.
    """

    def run(function: Callable[[], object]) -> object:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            _answer(function, writing)
        os.close(writing)
        with open(reading, encoding="utf-8") as stream:
            answer = json.loads(stream.read())
        os.waitpid(child, 0)
        return answer

    return run


def _answer(function: Callable[[], object], writing: int) -> NoReturn:
    try:
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        answer = function()
    except BaseException as error:
        answer = repr(error)
    os.write(writing, json.dumps(answer).encode())
    os._exit(0)


@pytest.fixture
def start(repository: pathlib.Path) -> Iterator[Start]:
    """Start a text of Python as a process of its own; what still runs at the end of the test is stopped."""
    started: list[subprocess.Popen[str]] = []

    def begin(script: str, *arguments: str | pathlib.Path) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", script, *map(str, arguments)],
            cwd=repository,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        process.kill()
        process.communicate()
