"""A replica of a server: what reads is answered, all else says where to write.

Source: spec 90, section 4.
"""

from __future__ import annotations

import os
import pathlib
import subprocess
import tempfile
from collections.abc import Iterator

import pytest

from tests import postgresql
from tests.integration.cli.conftest import Ask

pytestmark = pytest.mark.slow

READS = [("status",), ("session", "list"), ("audit", "query", "SELECT 1"), ("doctor",)]
WRITES = [
    ("session", "create", "S1"), ("validate", "S1"), ("audit", "verify"), ("db", "check"), ("db", "upgrade"), ("init",),
    ("drive", "S1"),
]  # fmt: skip
"""Also what compares the schema with the declared one, which is created beside it for that."""


@pytest.fixture
def place() -> Iterator[pathlib.Path]:
    """A folder whose path is short enough for a socket."""
    with tempfile.TemporaryDirectory(prefix="pg") as folder:
        yield pathlib.Path(folder)


def test_a_replica_answers_what_reads_and_names_the_primary_for_all_else(
    ask: Ask, place: pathlib.Path, pg_folder: pathlib.Path, pg_template: str
) -> None:
    bin_, data = postgresql.programs(), place / "data"
    assert bin_ is not None
    whose = {"user": postgresql.NOBODY, "group": postgresql.NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    if whose:
        os.chown(place, postgresql.NOBODY, postgresql.NOBODY)
    quiet = {"cwd": place, "check": True, "stdout": subprocess.DEVNULL, "env": {**os.environ, "HOME": str(place)}}
    subprocess.run([bin_ / "pg_basebackup", "-h", pg_folder, "-U", postgresql.OWNER, "-D", data, "-R", "-c", "fast"],
                   **quiet, **whose)  # type: ignore[call-overload]
    control = [bin_ / "pg_ctl", "-D", data, "-s", "-w"]
    settings = f"-c listen_addresses= -c unix_socket_directories={place}"
    subprocess.run([*control, "-l", place / "log", "-o", settings, "start"], **quiet, **whose)  # type: ignore[call-overload]
    try:
        url = postgresql.address(place, pg_template)
        for words in READS:
            assert ask(*words, ORCHESTRATOR_DB=url)["success"], words
        for words in WRITES:
            answer = ask(*words, ORCHESTRATOR_DB=url)
            assert (answer["_exit"], answer["code"]) == (5, "READ_ONLY"), (words, answer)
            assert "primary server" in answer["suggestion"], words
    finally:
        subprocess.run([*control, "-m", "immediate", "stop"], **quiet, **whose)  # type: ignore[call-overload]
