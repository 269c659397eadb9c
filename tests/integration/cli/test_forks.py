"""A call in a fork, as most tests of this folder make it, is the call that a user's shell makes."""

from __future__ import annotations

import pathlib
import re
import shutil
import subprocess

import pytest

from tests import forks
from tests.integration.cli.conftest import Run, clean_environment

TIMES = re.compile(rb"\d{4}-\d\d-\d\dT[\d:.]+Z|\d+ (ms|s)\b|[0-9a-f]{64}")


@pytest.mark.parametrize(
    ("words", "stdin"),
    [
        pytest.param(("status", "S1"), b"", id="text"),
        pytest.param(("status", "S1", "--json"), b"", id="json"),
        pytest.param(("status", "S9"), b"", id="refused"),
        pytest.param(("stauts", "S1"), b"", id="misspelt"),
        pytest.param(("route", "--help"), b"", id="help"),
        pytest.param(("route", "developer", "READY_FOR_QA", "-g", "B", "-s", "S1", "--json"), b"", id="out of turn"),
        pytest.param(("group", "create", "C", "-s", "S1", "--name", "ü", "--json"), b"", id="written"),
        pytest.param(("batch",), b'{"op": "status", "args": {"session_id": "S1"}}\nno JSON\n', id="batch"),
        pytest.param(("doctor", "--json"), b"", id="doctor"),
        pytest.param(("workflow", "show", "--json"), b"", id="long"),
    ],
)
def test_it_answers_as_the_installed_command(
    words: tuple[str, ...], stdin: bytes, run: Run, installed: Run, database: pathlib.Path
) -> None:
    kept = shutil.copy(database, database.with_name("kept.db"))
    forked = run(*words, stdin=stdin)
    shutil.copy(kept, database)
    started = installed(*words, stdin=stdin)
    assert [forked.returncode, *(TIMES.sub(b"", each) for each in (forked.stdout, forked.stderr))] == [
        started.returncode, *(TIMES.sub(b"", each) for each in (started.stdout, started.stderr))
    ]  # fmt: skip


def test_another_interpreter_is_none_of_its_forks(forked: forks.Forks, tmp_path: pathlib.Path) -> None:
    with pytest.raises(AssertionError):
        forked.run(["status"], stdin=b"", environment=clean_environment() | {"LC_ALL": "C"}, cwd=tmp_path)


def test_who_does_not_end_in_time_is_killed(forked: forks.Forks, database: pathlib.Path) -> None:
    environment = clean_environment() | {"ORCHESTRATOR_DB": str(database)}
    words = ("status", "S1", "--watch", "--interval", "60")
    with pytest.raises(subprocess.TimeoutExpired):
        forked.run(words, stdin=b"", environment=environment, cwd=database.parent, timeout=0.5)
    ended = forked.run(("status", "S1"), stdin=b"", environment=environment, cwd=database.parent)
    assert ended.returncode == 0
