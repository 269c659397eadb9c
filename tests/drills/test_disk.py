"""A disk that fails, fills up or forbids: exit 5, the reason in one sentence, and nothing changed."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from orchestrator import bootstrap, testing
from orchestrator.app.kernel import operations
from orchestrator.app.kernel.context import Context
from orchestrator.errors import EnvironmentProblem
from orchestrator.store import constants
from tests.conftest import Command
from tests.drills import field
from tests.drills.field import SESSION

pytestmark = pytest.mark.slow

NOBODY = 65_534


@pytest.fixture
def database(tmp_path: pathlib.Path) -> pathlib.Path:
    return field.create(tmp_path / "disk.db", groups=2)


# A step that fails at its very end


@pytest.mark.parametrize("how", ["ABORT", "FAIL", "ROLLBACK"])
def test_where_the_audit_event_cannot_be_written_nothing_is(how: str) -> None:
    context = testing.memory_context()
    for words, arguments in (
        ("session create", {"id": SESSION}),
        ("group create", {"id": "G0", "session_id": SESSION}),
        ("route", {"session_id": SESSION, "current_agent": "project_manager", "status": "PLANNING_COMPLETE"}),
    ):
        operations.call(context, words, **arguments)
    before = context.connection.serialize()
    context.connection.execute(
        f"CREATE TEMP TRIGGER broken BEFORE INSERT ON main.audit_events BEGIN SELECT RAISE({how}, 'broken'); END"
    )

    with pytest.raises(sqlite3.IntegrityError, match="broken"):
        operations.call(context, "route", **field.partial("G0"))

    assert not context.connection.in_transaction
    context.connection.execute("DROP TRIGGER broken")
    assert context.connection.serialize() == before
    assert operations.call(context, "route", **field.partial("G0"))["success"]


# A full disk


def test_a_file_that_may_not_grow_refuses_the_step_and_keeps_what_was_answered(database: pathlib.Path) -> None:
    with field.opened(database) as context:
        pages = context.connection.execute("PRAGMA page_count").fetchone()[0]
        context.connection.execute(f"PRAGMA max_page_count={pages + 20}")
        assert_full(context)
        context.connection.execute(f"PRAGMA max_page_count={pages + 1000}")
        assert field.call(context, "route", **field.partial("G0"))["success"]
    assert field.damages(database) == []


def assert_full(context: Context) -> None:
    """Route until the disk is full: that is said in time, and what was answered before is what stands."""
    answered: list[str] = []
    with pytest.raises(EnvironmentProblem) as caught:
        fill(context, answered)
    assert (caught.value.code, caught.value.exit_code) == ("DISK_FULL", 5)
    stored = context.connection.execute(
        "SELECT id FROM router_decisions WHERE current_agent = 'developer' ORDER BY seq"
    )
    assert [row[0] for row in stored] == answered
    assert answered


def fill(context: Context, answered: list[str]) -> None:
    """Route until something gives, and note what was answered."""
    for number in range(2000):
        given = field.partial("G0", summary=f"{number} " + "x" * 2000)
        answered.append(field.call(context, "route", **given)["decision_id"])


@pytest.fixture
def small_disk() -> Iterator[pathlib.Path]:
    """A disk of two megabytes; only who may mount one can play."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="small-disk-"))
    argv = ["mount", "-t", "tmpfs", "-o", "size=2m,mode=0755", "tmpfs", str(folder)]
    try:
        if not shutil.which("mount") or subprocess.run(argv, capture_output=True, timeout=60, check=False).returncode:
            pytest.skip("no small disk can be mounted here")
        yield folder
        subprocess.run(["umount", str(folder)], check=True, timeout=60)
    finally:
        folder.rmdir()


def test_a_full_disk_refuses_the_step_and_keeps_what_was_answered(small_disk: pathlib.Path) -> None:
    path = field.create(small_disk / "full.db", groups=1)
    with field.opened(path) as context:
        assert_full(context)
    assert field.damages(path) == []


def test_on_a_full_disk_the_doctor_says_so(small_disk: pathlib.Path, command: Command) -> None:
    path = field.create(small_disk / "full.db", groups=1)
    healthy = command("doctor", "--db", str(path), "--json")
    names = {path.name for path in small_disk.iterdir()}
    (small_disk / "rest").write_bytes(b"x")
    with (small_disk / "rest").open("ab", buffering=0) as rest, contextlib.suppress(OSError):
        while True:
            rest.write(bytes(4096))
    found = command("doctor", "--db", str(path), "--json")
    told = [[each["id"] for each in json.loads(done.stdout)["findings"]] for done in (healthy, found)]
    assert ("DISK_FULL" in told[0], "DISK_FULL" in told[1], found.returncode) == (False, True, 1)
    assert {path.name for path in small_disk.iterdir()} - names == {"rest"}


# A file that goes away


def test_a_file_that_is_deleted_while_open_takes_no_more_steps(database: pathlib.Path) -> None:
    with field.opened(database) as context:
        field.call(context, "route", **field.partial("G0"))
        database.unlink()
        with pytest.raises(EnvironmentProblem) as caught:
            field.call(context, "route", **field.partial("G0"))
    assert (caught.value.code, caught.value.exit_code) == ("NO_DATABASE", 5)
    assert not database.exists()


def test_a_file_that_is_replaced_while_open_is_left_alone(database: pathlib.Path, tmp_path: pathlib.Path) -> None:
    other = field.create(tmp_path / "other.db", groups=2)
    with field.opened(database) as context:
        field.call(context, "route", **field.partial("G0"))
        os.replace(other, database)
        before = database.read_bytes()
        with pytest.raises(EnvironmentProblem) as caught:
            field.call(context, "route", **field.partial("G0"))
        assert database.read_bytes() == before
    assert caught.value.code == "NO_DATABASE"


# Somebody who may only read


@pytest.fixture
def shared() -> Iterator[pathlib.Path]:
    """A folder that everybody may enter, with a database that everybody may read."""
    if os.geteuid() != 0:
        pytest.skip("only root can become somebody else")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="shared-"))
    folder.chmod(0o755)
    path = field.create(folder / "shared.db", groups=2)
    path.chmod(0o644)
    yield path
    shutil.rmtree(folder)


def as_nobody(act: Callable[[], Any]) -> field.Ended:
    """Act as a user to whom nothing belongs."""

    def become() -> Any:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        return act()

    return field.in_child(become)


def read(path: pathlib.Path) -> Any:
    context = bootstrap.open_context(str(path), write=False, door="python", environment={})
    return operations.call(context, "group show", id="G0", session_id=SESSION)["group"]["status"]


def write(path: pathlib.Path) -> Any:
    with field.opened(path) as context:
        return field.call(context, "route", **field.partial("G0"))["success"]


@pytest.mark.parametrize("folder_mode", [0o755, 0o777], ids=["read-only folder", "folder that takes files"])
def test_who_may_only_read_a_file_reads_it_and_writes_nothing(shared: pathlib.Path, folder_mode: int) -> None:
    read(shared)
    before, names = field.everything(shared), sorted(each.name for each in shared.parent.iterdir())
    shared.parent.chmod(folder_mode)

    reading, writing = as_nobody(lambda: read(shared)), as_nobody(lambda: write(shared))

    assert (reading.value, reading.error) == ("in_progress", None)
    assert writing.value == "READ_ONLY"
    shared.parent.chmod(0o755)
    assert field.everything(shared) == before
    assert sorted(each.name for each in shared.parent.iterdir()) == names


def test_whose_file_it_is_may_still_write_after_somebody_else_read_it(shared: pathlib.Path) -> None:
    read(shared)
    assert as_nobody(lambda: read(shared)).value == "in_progress"
    assert write(shared) is True


# Files that are not what they should be


def _no_database(path: pathlib.Path) -> None:
    path.write_text("These are the minutes of a meeting. " * 50)


def _cut_off(path: pathlib.Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 3])


def _newer(path: pathlib.Path) -> None:
    with field.plain(path) as connection:
        connection.execute(f"PRAGMA user_version={constants.SCHEMA_VERSION + 1}")


def _somebody_elses(path: pathlib.Path) -> None:
    path.unlink()
    with field.plain(path) as connection:
        connection.execute("CREATE TABLE recipes (name)")


SPOILT = {
    "no database": (_no_database, {"CORRUPT"}),
    "cut off": (_cut_off, {"CORRUPT"}),
    "newer schema": (_newer, {"SCHEMA_TOO_NEW"}),
    "of another program": (_somebody_elses, {"NO_DATABASE"}),
    "gone": (pathlib.Path.unlink, {"NO_DATABASE"}),
}


@pytest.mark.parametrize(("spoil", "codes"), list(SPOILT.values()), ids=list(SPOILT))
def test_a_spoilt_file_is_named_and_left_as_it_is(
    command: Command, environment: dict[str, str], spoil: Callable[[pathlib.Path], object], codes: set[str]
) -> None:
    path = field.create(pathlib.Path(environment["ORCHESTRATOR_DB"]), groups=1)
    spoil(path)
    before = path.read_bytes() if path.exists() else None

    done = command("route", "developer", "PARTIAL", "-g", "G0", "-s", SESSION, "--json")

    answer = json.loads(done.stdout)
    assert (done.returncode, answer["success"]) == (5, False)
    assert answer["code"] in codes
    assert answer["error"].count("\n") == 0
    assert done.stderr == ""
    assert (path.read_bytes() if path.exists() else None) == before
