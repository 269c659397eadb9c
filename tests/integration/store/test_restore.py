"""A backup takes the place of a database rightly: checked, alone, on record, whole or not at all."""

from __future__ import annotations

import os
import pathlib
import shutil
import signal
import sqlite3
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from orchestrator import Orchestrator, bootstrap, errors
from orchestrator.app.kernel import operations
from orchestrator.store import (
    backup,
    constants,
    discovery,
    doctor,
    high_water,
    migrate,
    problems,
    restore,
    schema_diff,
    sqlite,
    step,
)
from tests.conftest import LONG
from tests.drills import field
from tests.integration.store.conftest import AT

LATER = "2026-01-02T00:00:00.000000Z"
BY = {"actor": "system:router", "deadline": 0.2}


def add(path: pathlib.Path, steps: int, chain: str = "S1", **marked: Any) -> None:
    """Steps of a chain; of a session that does not exist, they make no row."""
    connection = sqlite.connect(path, write=True)
    connection.seen = marked.get("seen")
    for _ in range(steps):
        with step.open_step(connection, chain, AT) as one:
            one.seal("test", "tester", "cli", {})
    connection.close()


def heads(path: pathlib.Path) -> dict[str, int]:
    """The newest step of each chain; the file is whole."""
    assert field.damages(path) == []
    with field.plain(path) as connection:
        return dict(connection.execute("SELECT session_id, max(seq) FROM audit_events GROUP BY session_id"))


@pytest.fixture
def copy(database: pathlib.Path) -> pathlib.Path:
    """A backup of the database, which has gone on since."""
    target = database.parent / "kept.db"
    add(database, 2, constants.STORE_CHAIN)
    backup.copy(database, target)
    add(database, 3, constants.STORE_CHAIN)
    return target


def test_a_backup_takes_the_place_and_says_what_is_lost(database: pathlib.Path, copy: pathlib.Path) -> None:
    before = copy.read_bytes()
    found = restore.restore(database, copy, LATER, **BY)
    assert found.lost == [restore.Lost(constants.STORE_CHAIN, 3, 6, AT)]
    assert found.version == constants.SCHEMA_VERSION
    assert heads(database) == {constants.STORE_CHAIN: 4}
    assert found.replaced is not None
    assert heads(found.replaced) == {constants.STORE_CHAIN: 6}
    assert found.replaced.parent == database.parent / "backups"
    assert {os.stat(each).st_mode & 0o777 for each in (database, found.replaced)} == {0o600}
    assert copy.read_bytes() == before
    assert not os.path.exists(problems.restore_folder(str(database)))
    connection = sqlite.connect(database, write=False)
    ((seq, message),) = schema_diff.repairs(connection)
    assert seq == 4
    assert "a backup was put in place by system:router" in message
    assert f"{constants.STORE_CHAIN} 3..6" in message
    connection.close()


def test_the_steps_in_the_log_of_a_backup_come_with_it(database: pathlib.Path, copy: pathlib.Path) -> None:
    live = sqlite.connect(copy, write=True)
    add(copy, 1, constants.STORE_CHAIN)
    assert os.path.getsize(f"{copy}-wal")
    restore.restore(database, copy, LATER, **BY)
    live.close()
    assert heads(database) == {constants.STORE_CHAIN: 5}


def test_chains_that_went_apart_are_lost_from_there(database: pathlib.Path, copy: pathlib.Path) -> None:
    add(copy, 7, constants.STORE_CHAIN)
    with field.plain(copy) as connection:
        assert connection.execute("SELECT max(seq) FROM audit_events").fetchone() == (10,)
    connection = sqlite.connect(copy, write=True)
    connection.close()
    shutil.copy(database, other := database.with_name("other.db"))
    with step.open_step(opened := sqlite.connect(other, write=True), constants.STORE_CHAIN, LATER) as one:
        one.seal("test", "somebody else", "cli", {})
    opened.close()
    found = restore.restore(other, copy, LATER, **BY)
    assert found.lost == [restore.Lost(constants.STORE_CHAIN, 6, 7, LATER)]


@pytest.mark.parametrize("write", [True, False], ids=["writer", "reader"])
def test_while_others_have_it_open_nothing_is_changed(
    database: pathlib.Path, copy: pathlib.Path, write: bool
) -> None:
    other = sqlite.connect(database, write=write)
    other.execute("SELECT count(*) FROM audit_events").fetchone()
    with pytest.raises(errors.EnvironmentProblem) as caught:
        restore.restore(database, copy, LATER, **BY)
    assert caught.value.code == "BUSY"
    other.close()
    assert heads(database) == {constants.STORE_CHAIN: 6}
    assert not (database.parent / "backups").exists()
    assert not os.path.exists(problems.restore_folder(str(database)))


def test_a_process_that_had_the_old_file_open_takes_no_step_in_it(
    database: pathlib.Path, copy: pathlib.Path
) -> None:
    waiting = sqlite3.connect(sqlite.uri(str(database), "mode=rw"), uri=True, factory=sqlite.Connection)
    waiting.path, waiting.identity = str(database), sqlite._identity(str(database))
    restore.restore(database, copy, LATER, **BY)
    add(database, 1, constants.STORE_CHAIN)
    sqlite.prepare(waiting)
    with pytest.raises(errors.EnvironmentProblem, match="was moved or deleted"):
        sqlite.begin_immediate(waiting)
    waiting.close()
    assert heads(database) == {constants.STORE_CHAIN: 5}


def torn(path: pathlib.Path) -> None:
    path.write_bytes(os.urandom(8192))


def cut(path: pathlib.Path) -> None:
    with open(path, "r+b") as file:
        file.truncate(3 * 4096)


DAMAGES: dict[str, Callable[[pathlib.Path], None]] = {
    "no database": torn,
    "cut off": cut,
    "missing": pathlib.Path.unlink,
    "empty": lambda path: path.write_bytes(b""),
    "a few bytes": lambda path: path.write_bytes(b"x"),
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("end", ["", "-wal", "-journal"])
def test_whatever_was_there_is_kept_and_no_log_of_it_reaches_the_backup(
    database: pathlib.Path, copy: pathlib.Path, damage: str, end: str
) -> None:
    DAMAGES[damage](database)
    there = database.read_bytes() if database.exists() else None
    if end:
        pathlib.Path(f"{database}{end}").write_bytes(b"steps of another time" * 200)
    found = restore.restore(database, copy, LATER, **BY)
    assert heads(database) == {constants.STORE_CHAIN: 4}
    kept = sorted(each.name for each in (database.parent / "backups").glob("*"))
    # The log of a damaged file is its own, and SQLite has taken in what of it can be read.
    assert len(kept) == (there is not None) + (bool(end) and (damage, end) != ("cut off", "-wal"))
    if there is None and not end:
        assert (found.replaced, found.lost) == (None, [])
    else:
        assert (found.lost, found.replaced and found.replaced.exists()) == (None, True)


WRONG: dict[str, tuple[Callable[[pathlib.Path], Any], str]] = {
    "none": (pathlib.Path.unlink, "NO_DATABASE"),
    "no database": (torn, "CORRUPT"),
    "cut off": (cut, "CORRUPT"),
    "newer": (lambda path: execute(path, "PRAGMA user_version=99"), "SCHEMA_TOO_NEW"),
    "another program's": (lambda path: execute(path, "PRAGMA application_id=1"), "NO_DATABASE"),
    "without a trigger": (lambda path: execute(path, "DROP TRIGGER audit_events_are_never_changed"), "CORRUPT"),
    "altered": (lambda path: alter(path), "CORRUPT"),
    "empty": (lambda path: path.write_bytes(b""), "CORRUPT"),
    "a folder": (lambda path: (path.unlink(), path.mkdir()), "NO_DATABASE"),
    "a pipe": (lambda path: (path.unlink(), os.mkfifo(path)), "NO_DATABASE"),
    "a loop": (lambda path: (path.unlink(), path.symlink_to(path)), "NO_DATABASE"),
}


def execute(path: pathlib.Path, *statements: str) -> None:
    with field.plain(path) as connection:
        connection.create_function("orchestrator_write", 0, lambda: 1)
        for statement in statements:
            connection.execute(statement)


def alter(path: pathlib.Path) -> None:
    with field.plain(path) as connection:
        name = "audit_events_are_never_changed"
        (sql,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = ?", (name,)).fetchone()
    execute(path, f"DROP TRIGGER {name}", "UPDATE audit_events SET actor = 'x' WHERE seq = 2", sql)


@pytest.mark.parametrize("wrong", WRONG)
def test_a_backup_that_is_not_whole_is_refused(database: pathlib.Path, copy: pathlib.Path, wrong: str) -> None:
    damage, code = WRONG[wrong]
    damage(copy)
    before = heads(database)
    with pytest.raises(errors.EnvironmentProblem) as caught:
        restore.restore(database, copy, LATER, **BY)
    assert (caught.value.code, ".restoring" in caught.value.message) == (code, False), caught.value.message
    # No new database is to be made where a backup was meant.
    assert not caught.value.suggestion.startswith(("orchestrator init", "name a file by --db"))
    assert heads(database) == before
    assert not (database.parent / "backups").exists()
    assert not os.path.exists(problems.restore_folder(str(database)))


def test_a_full_disk_is_told_of_at_the_database(
    database: pathlib.Path, copy: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(source: str, target: str, deadline: float) -> None:
        raise problems.disk_full(target)

    monkeypatch.setattr(restore.backup, "copy", full)
    with pytest.raises(errors.EnvironmentProblem) as caught:
        restore.restore(database, copy, LATER, **BY)
    assert (caught.value.code, caught.value.data["db"]) == ("DISK_FULL", str(database))
    assert problems.restore_folder(str(database)) not in caught.value.message + caught.value.suggestion


def test_the_database_itself_is_no_backup_of_it(database: pathlib.Path) -> None:
    (link := database.with_name("link.db")).symlink_to(database)
    with pytest.raises(errors.UsageError, match="is the database itself"):
        restore.restore(database, link, LATER, **BY)


def test_an_older_backup_is_upgraded(database: pathlib.Path, copy: pathlib.Path) -> None:
    migrate.downgrade(copy, "0007", AT)
    before = copy.read_bytes()
    found = restore.restore(database, copy, LATER, **BY)
    assert found.version == 7
    assert sqlite.connect(database, write=False).close() is None
    assert copy.read_bytes() == before
    assert list((database.parent / "backups").glob("orchestrator-*")) == [found.replaced]


def test_a_disk_without_second_names_keeps_a_copy(
    database: pathlib.Path, copy: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def link(*_: object) -> None:
        raise OSError(95, "not supported")

    monkeypatch.setattr(os, "link", link)
    found = restore.restore(database, copy, LATER, **BY)
    assert found.replaced is not None
    assert heads(found.replaced) == {constants.STORE_CHAIN: 6}


def test_what_was_seen_is_forgotten_with_a_restore(
    database: pathlib.Path, copy: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    state = str(tmp_path / "state")
    connection = sqlite.connect(database, write=True)
    high_water.rewrite(connection, state)
    connection.close()
    restore.restore(database, copy, LATER, state_folder=state, **BY)
    connection = sqlite.connect(database, write=False)
    assert high_water.missing(connection, state) is None
    connection.close()
    shutil.copy(copy, database)
    connection = sqlite.connect(database, write=False)
    seen = high_water.missing(connection, state)
    assert seen is not None
    assert (seen.chain, seen.seq) == (constants.STORE_CHAIN, 4)
    connection.close()


# Killed


CALLS = ("execute", "executescript", "open", "link", "rename", "replace", "unlink", "mkdir", "fsync", "backup", "close")


def restored(database: pathlib.Path, copy: pathlib.Path, number: int = 0) -> field.Ended:
    """How a restore ended in a process that is killed at its so-manieth call that may change something outside of it;
    one that comes to its end says how many there were.
    """

    def child() -> int:
        seen = 0

        def look(_: object, event: str, called: Any) -> None:
            nonlocal seen
            if event == "c_call" and called.__name__ in CALLS:
                seen += 1
                if seen == number:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.setprofile(look)
        restore.restore(database, copy, LATER, **BY)
        sys.setprofile(None)
        return seen

    ended = field.in_child(child)
    assert ended.error is None, ended.error
    return ended


@pytest.mark.slow
@pytest.mark.parametrize("how", ["live", "damaged", "log alone"])
def test_a_restore_killed_at_any_call_is_whole_or_absent(
    database: pathlib.Path, copy: pathlib.Path, tmp_path: pathlib.Path, how: str
) -> None:
    log = pathlib.Path(f"{database}-wal")
    if how == "live":
        killed_writer(database)
    elif how == "damaged":
        torn(database)
    else:
        database.unlink()
        log.write_bytes(b"steps")
    template = shutil.copytree(database.parent, tmp_path / "template")
    old, new = 0, 0
    # The last calls are those that move things: none of them is left out.
    for number in calls(restored(database, copy).value):
        shutil.rmtree(database.parent)
        shutil.copytree(template, database.parent)
        assert restored(database, copy, number).signal == signal.SIGKILL
        if how == "live":
            found = heads(database)
            assert found in ({constants.STORE_CHAIN: 7}, {constants.STORE_CHAIN: 4})
            old, new = old + (found[constants.STORE_CHAIN] == 7), new + (found[constants.STORE_CHAIN] == 4)
        elif not database.exists():
            with pytest.raises(errors.EnvironmentProblem) as caught:
                migrate.upgrade(database, LATER)
            assert caught.value.code == "NO_DATABASE"
        restore.restore(database, copy, LATER, **BY)
        assert heads(database)[constants.STORE_CHAIN] == 4
        assert not os.path.exists(problems.restore_folder(str(database)))
        assert how != "log alone" or [each for each in (database.parent / "backups").iterdir() if "wal" in each.name]
    assert how != "live" or (old > 2 and new > 0)


def killed_writer(database: pathlib.Path, state: pathlib.Path | None = None) -> None:
    """A step in the log of the database, left by a process that was killed."""

    def child() -> None:
        connection = sqlite.connect(database, write=True)
        connection.seen = high_water.follow(connection, None if state is None else f"{state}/orchestrator")
        with step.open_step(connection, constants.STORE_CHAIN, AT) as one:
            one.seal("test", "tester", "cli", {})
        os.kill(os.getpid(), signal.SIGKILL)

    assert field.in_child(child).signal == signal.SIGKILL
    assert os.path.getsize(f"{database}-wal")


def calls(last: int) -> Iterator[int]:
    """Where to kill: everywhere near the end, now and then before."""
    yield from range(1, last - 60, 1 if LONG else max(1, last // 2))
    yield from range(max(1, last - 60), last + 1, 1 if LONG else 20)


# What doctor says of a backup that was only copied


@pytest.mark.parametrize("how", ["copied", "moved"])
def test_a_backup_beside_an_older_log_is_described(database: pathlib.Path, copy: pathlib.Path, how: str) -> None:
    killed_writer(database)
    for each in (database, pathlib.Path(f"{database}-wal")):
        os.utime(each, (1_700_000_000, 1_700_000_000))
    if how == "copied":
        shutil.copyfile(copy, database)
    else:
        os.utime(copy, (1_600_000_000, 1_600_000_000))
        os.replace(copy, database)
    found = doctor.doctor(str(database), {}, pathlib.Path("/"))
    (finding,) = [each for each in found.findings if each.id == "LOG_OLDER"]
    assert finding.suggestion.startswith(f"orchestrator db restore FILE --db {database}")


def told(database: pathlib.Path, state: pathlib.Path) -> tuple[set[str], list[str]]:
    """What doctor finds, and what the first step of a process is warned of."""
    variables = {"XDG_STATE_HOME": str(state)}
    found = {each.id for each in doctor.doctor(str(database), variables, pathlib.Path("/")).findings}
    context = bootstrap.open_context(str(database), write=True, door="test", environment=variables)
    answers = [operations.call(context, "session create", id=name, goal="it goes on") for name in ("S1", "S2")]
    context.connection.close()
    assert not answers[1].get("warnings")
    return found, answers[0].get("warnings") or []


@pytest.mark.parametrize("how", ["copied", "moved", "neither", "closed to others"])
def test_a_backup_beside_a_live_log_is_told_at_once(tmp_path: pathlib.Path, how: str) -> None:
    state, database, copy = tmp_path / "state", tmp_path / "o.db", tmp_path / "copy.db"
    Orchestrator.create(database).close()
    shutil.copy(database, copy)
    killed_writer(database, state)
    if how == "closed to others":
        database.chmod(0o640)
        database.chmod(0o600)
    elif how != "neither":
        (shutil.copyfile if how == "copied" else shutil.move)(copy, database)
    found, warnings = told(database, state)
    is_replaced = how in ("copied", "moved")
    assert ("LOG_OLDER" in found, any("nothing was restored" in each for each in warnings)) == (is_replaced,) * 2


@pytest.mark.parametrize("with_log", [True, False])
def test_a_database_that_was_moved_without_its_log_is_told(tmp_path: pathlib.Path, with_log: bool) -> None:
    state, database, moved = tmp_path / "state", tmp_path / "o.db", tmp_path / "elsewhere" / "moved.db"
    Orchestrator.create(database).close()
    killed_writer(database, state)
    moved.parent.mkdir()
    database.rename(moved)
    if with_log:
        pathlib.Path(f"{database}-wal").rename(f"{moved}-wal")
    copy = pathlib.Path(shutil.copy(moved, tmp_path / "copy.db"))
    found, warnings = told(moved, state)
    is_told = any(each.startswith("The database lacks") for each in warnings)
    assert ("MOVED_WITHOUT_LOG" in found, is_told) == (not with_log,) * 2
    # It goes on without them, which is told again; a copy may go its own way.
    assert ("MOVED_WITHOUT_LOG" in told_by_doctor(moved, state)) is not with_log
    assert "MOVED_WITHOUT_LOG" not in told_by_doctor(copy, state)


def told_by_doctor(database: pathlib.Path, state: pathlib.Path) -> set[str]:
    found = doctor.doctor(str(database), {"XDG_STATE_HOME": str(state)}, pathlib.Path("/"))
    return {each.id for each in found.findings}


def test_a_link_to_a_database_that_was_moved_without_its_log_is_refused(
    database: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    killed_writer(database)
    moved = tmp_path / "moved.db"
    database.rename(moved)
    database.symlink_to(moved)
    log = pathlib.Path(f"{database}-wal")
    before = log.read_bytes()
    for explicit, folder in ((str(database), "/"), (None, str(tmp_path))):
        for find in (discovery.find, discovery.place):
            with pytest.raises(errors.EnvironmentProblem, match="moved from there without it") as caught:
                find(explicit, {}, folder)
            assert caught.value.code == "NO_DATABASE"
    assert log.read_bytes() == before
    log.rename(f"{moved}-wal")
    assert discovery.find(None, {}, str(tmp_path)) == str(moved)


def test_a_live_log_is_no_older_one(database: pathlib.Path) -> None:
    killed_writer(database)
    found = doctor.doctor(str(database), {}, pathlib.Path("/"))
    assert [each for each in found.findings if each.id == "LOG_OLDER"] == []


def test_a_backup_is_made_beside_no_foreign_log(database: pathlib.Path, tmp_path: pathlib.Path) -> None:
    (tmp_path / "b.db-wal").write_bytes(b"steps")
    with pytest.raises(errors.Refused) as caught:
        backup.copy(database, tmp_path / "b.db")
    assert (caught.value.code, (tmp_path / "b.db").exists()) == ("ALREADY_EXISTS", False)


@pytest.mark.parametrize("content", [None, b""], ids=["missing", "empty"])
@pytest.mark.parametrize("what", ["upgrade", "read", "write"])
def test_nothing_deletes_a_log_that_lost_its_file(
    database: pathlib.Path, content: bytes | None, what: str
) -> None:
    killed_writer(database)
    log = pathlib.Path(f"{database}-wal")
    steps = log.read_bytes()
    database.rename(moved := database.with_name("moved.db"))
    if content is not None:
        database.write_bytes(content)
    with pytest.raises(errors.EnvironmentProblem) as caught:
        migrate.upgrade(database, LATER) if what == "upgrade" else sqlite.connect(database, write=what == "write")
    assert caught.value.code == "NO_DATABASE"
    assert log.read_bytes() == steps
    moved.replace(database)
    assert heads(database)[constants.STORE_CHAIN] == 2
