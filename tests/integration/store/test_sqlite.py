"""How database files are opened, how writers wait, and what goes wrong with a reason."""

from __future__ import annotations

import json
import mmap
import os
import pathlib
import shutil
import sqlite3
import stat
from collections.abc import Iterator

import pytest

from orchestrator import errors
from orchestrator.store import constants, doctor, migrate, sqlite, step
from tests.integration.store import fuse
from tests.integration.store.conftest import AT, Start, Unprivileged

NAMES = {
    "question mark": "a?b",
    "uri query": "x.db?mode=memory",
    "hash": "a#b",
    "percent": "100%25",
    "space": "with space",
    "apostrophe": "it's",
    "emoji": "emoji-\U0001f600",
    "dash": "-dash",
    "newline": "line\n",
    "colon": "file:memory",
    "no utf-8": "byte-\udcff",
}


def write_text(connection: sqlite3.Connection, content: str = "kept") -> None:
    with step.open_step(connection, constants.STORE_CHAIN, AT) as one:
        one.insert("texts", hash=content, content=content)
        one.seal("test", "tester", "cli", {})


def texts(connection: sqlite3.Connection) -> list[str]:
    return [row[0] for row in connection.execute("SELECT content FROM texts ORDER BY rowid")]


def refusal(path: pathlib.Path | str, *, write: bool) -> errors.EnvironmentProblem:
    with pytest.raises(errors.EnvironmentProblem) as caught:
        sqlite.connect(path, write=write, deadline=0.05)
    assert caught.value.suggestion
    return caught.value


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES.keys())
@pytest.mark.parametrize("relative", [False, True], ids=["absolute", "relative"])
def test_a_path_is_a_path_whatever_its_characters(
    template: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, name: str, relative: bool
) -> None:
    folder = tmp_path / name
    folder.mkdir()
    shutil.copy(template, folder / name)
    monkeypatch.chdir(folder)
    path = name if relative else str(folder / name)
    writer = sqlite.connect(path, write=True)
    write_text(writer)
    reader = sqlite.connect(path, write=False)
    assert texts(reader) == ["kept"]
    reader.close()
    writer.close()
    assert os.listdir(folder) == [name]
    assert os.listdir(tmp_path) == [name]


def test_a_path_that_begins_with_two_slashes_is_a_path(database: pathlib.Path) -> None:
    connection = sqlite.connect(f"/{database}", write=False)
    assert texts(connection) == []
    connection.close()


@pytest.mark.parametrize("write", [False, True], ids=["reading", "writing"])
@pytest.mark.parametrize("name", ["absent.db", "absent/absent.db", "", ".", "a\0b"])
def test_opening_never_creates_a_file(tmp_path: pathlib.Path, write: bool, name: str) -> None:
    assert refusal(f"{tmp_path}/{name}", write=write).code == "NO_DATABASE"
    assert os.listdir(tmp_path) == []


WRITING = {
    "foreign_keys": 1,
    "trusted_schema": 1,
    "recursive_triggers": 1,
    "synchronous": 2,
    "busy_timeout": 0,
    "query_only": 0,
    "journal_mode": "wal",
}


@pytest.mark.parametrize(("pragma", "expected"), WRITING.items(), ids=WRITING.keys())
def test_a_writing_connection_has_its_settings(database: pathlib.Path, pragma: str, expected: int | str) -> None:
    connection = sqlite.connect(database, write=True)
    assert connection.execute(f"PRAGMA {pragma}").fetchone() == (expected,)
    connection.close()


def test_synchronous_may_be_normal_and_nothing_else(database: pathlib.Path) -> None:
    connection = sqlite.connect(database, write=True, synchronous="NORMAL")
    assert connection.execute("PRAGMA synchronous").fetchone() == (1,)
    connection.close()
    with pytest.raises(errors.UsageError, match="FULL or NORMAL"):
        sqlite.connect(database, write=True, synchronous="OFF")


def test_the_write_function_is_known_to_writing_connections_alone(database: pathlib.Path) -> None:
    writer = sqlite.connect(database, write=True)
    assert writer.execute("SELECT orchestrator_write()").fetchone() == (1,)
    writer.close()
    reader = sqlite.connect(database, write=False)
    with pytest.raises(sqlite3.OperationalError, match="no such function: orchestrator_write"):
        reader.execute("SELECT orchestrator_write()")
    reader.close()


@pytest.mark.parametrize("sql", ["DELETE FROM texts", "CREATE TABLE t (a)", "PRAGMA user_version = 9"])
def test_a_reading_connection_changes_nothing(database: pathlib.Path, sql: str) -> None:
    before = database.read_bytes()
    connection = sqlite.connect(database, write=False)
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        connection.execute(sql)
    connection.close()
    assert database.read_bytes() == before


def test_a_new_database_is_its_owners_alone(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "deep" / ".orchestrator" / "orchestrator.db"
    assert sqlite.create(path) == ()
    assert [stat.S_IMODE(each.stat().st_mode) for each in (path.parent, path)] == [0o700, 0o600]
    connection = sqlite.open_file(path, write=True)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()


def test_creating_keeps_what_exists(database: pathlib.Path) -> None:
    connection = sqlite.connect(database, write=True)
    write_text(connection)
    assert sqlite.create(database) == ()
    assert texts(connection) == ["kept"]
    connection.close()


def test_without_wal_a_rollback_journal_serves_with_a_warning(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    uri = sqlite.uri
    # This layer of SQLite has no shared memory, as on a network mount.
    monkeypatch.setattr(sqlite, "uri", lambda real, mode: f"{uri(real, mode)}&vfs=unix-dotfile")
    path = tmp_path / "orchestrator.db"
    (warning,) = sqlite.create(path)
    assert "rollback journal" in warning
    connection = sqlite.open_file(path, write=True)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    connection.close()


@pytest.fixture
def without_shared_memory(tmp_path: pathlib.Path) -> Iterator[pathlib.Path]:
    """A disk on which no file can be mapped into memory that processes share."""
    for name in ("below", "above"):
        (tmp_path / name).mkdir()
    try:
        mount = fuse.mounted(tmp_path / "below", tmp_path / "above")
        place = mount.__enter__()
    except OSError as error:
        pytest.skip(f"nothing can be mounted here: {error}")
    try:
        yield place
    finally:
        mount.__exit__(None, None, None)


def test_on_a_disk_without_shared_memory_a_rollback_journal_serves_with_a_warning(
    without_shared_memory: pathlib.Path,
) -> None:
    with open(without_shared_memory / "probe", "w+b") as file:
        file.write(bytes(4096))
        file.flush()
        with pytest.raises(OSError, match="No such device"):
            mmap.mmap(file.fileno(), 4096)
    path = without_shared_memory / ".orchestrator" / "orchestrator.db"
    moved = migrate.upgrade(path, AT)
    assert "rollback journal" in moved.warnings[0]
    for write in (False, True):
        connection = sqlite.connect(path, write=write)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
        connection.close()
    assert sorted(os.listdir(without_shared_memory.parent / "below" / ".orchestrator")) == [
        ".gitignore", "orchestrator.db",
    ]  # fmt: skip
    found = [each.id for each in doctor.doctor(str(path), {}, pathlib.Path("/")).findings]
    assert found == ["NO_WORKFLOW", "JOURNAL_MODE"], "an upgrade alone loads no workflow"


def test_a_file_with_a_log_that_comes_to_a_disk_without_shared_memory_is_whole_and_init_gives_it_a_journal(
    without_shared_memory: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    made, path = tmp_path / ".orchestrator", without_shared_memory / ".orchestrator" / "orchestrator.db"
    migrate.upgrade(made / "orchestrator.db", AT)
    shutil.copytree(made, path.parent)
    problem = refusal(path, write=True)
    assert (problem.code, "Its content is untouched" in problem.message) == ("DATABASE_UNSUPPORTED", True)
    (found,) = doctor.doctor(str(path), {}, pathlib.Path("/")).findings
    assert (found.id, "orchestrator init" in str(found.suggestion)) == ("DATABASE_UNSUPPORTED", True)
    moved = migrate.upgrade(path, AT)
    assert (moved.before, "rollback journal" in moved.warnings[0]) == (moved.after, True)
    sqlite.connect(path, write=True).close()


@pytest.mark.parametrize("there", [(), ("folder",), ("folder", "other"), ("folder", "empty")], ids=str)
@pytest.mark.parametrize("where", [(sqlite, "_set_journal"), (migrate, "_make")], ids=["journal", "schema"])
def test_an_init_that_fails_leaves_nothing(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, there: tuple[str, ...], where: tuple[object, str]
) -> None:
    path = tmp_path / ".orchestrator" / "orchestrator.db"
    if "folder" in there:
        path.parent.mkdir()
    for name in there[1:]:
        (path if name == "empty" else path.with_name(name)).touch()
    before = sorted(str(each) for each in tmp_path.rglob("*") if each.name != ".gitignore")

    def fail(*_: object) -> str:
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(*where, fail)
    with pytest.raises(sqlite3.OperationalError):
        migrate.upgrade(path, AT)
    assert sorted(str(each) for each in tmp_path.rglob("*") if each.name != ".gitignore") == before
    assert path.parent.exists() == ("folder" in there)


def set_header(path: pathlib.Path, **pragmas: int) -> None:
    raw = sqlite3.connect(path)
    for name, value in pragmas.items():
        raw.execute(f"PRAGMA {name}={value}")
    raw.close()


@pytest.mark.parametrize("write", [False, True], ids=["reading", "writing"])
def test_a_newer_schema_is_refused_untouched(database: pathlib.Path, write: bool) -> None:
    set_header(database, user_version=constants.SCHEMA_VERSION + 41)
    before = database.read_bytes()
    problem = refusal(database, write=write)
    assert problem.code == "SCHEMA_TOO_NEW"
    assert (problem.data["database_version"], problem.data["program_version"]) == (
        constants.SCHEMA_VERSION + 41,
        constants.SCHEMA_VERSION,
    )
    assert database.read_bytes() == before


def test_an_older_schema_names_the_upgrade(database: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "SCHEMA_VERSION", constants.SCHEMA_VERSION + 1)
    problem = refusal(database, write=False)
    assert (problem.code, problem.suggestion) == ("SCHEMA_TOO_OLD", f"orchestrator db upgrade --db {database}")


def test_an_empty_file_names_init(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "empty.db"
    path.touch()
    problem = refusal(path, write=False)
    assert (problem.code, problem.suggestion) == ("NO_DATABASE", f"orchestrator init --db {path}")


@pytest.mark.parametrize("version", [0, constants.SCHEMA_VERSION, 99], ids=["no version", "our version", "another"])
def test_another_programs_database_is_left_alone(tmp_path: pathlib.Path, version: int) -> None:
    path = tmp_path / "other.db"
    raw = sqlite3.connect(path)
    raw.execute("CREATE TABLE songs (title)")
    raw.execute(f"PRAGMA user_version={version}")
    raw.close()
    problem = refusal(path, write=True)
    assert (problem.code, "another program" in problem.message) == ("NO_DATABASE", True)


@pytest.mark.parametrize("write", [False, True], ids=["reading", "writing"])
def test_a_file_that_is_no_database_is_corrupt(tmp_path: pathlib.Path, write: bool) -> None:
    path = tmp_path / "notes.db"
    path.write_text("not a database, but long enough to be looked at " * 40)
    before = path.read_bytes()
    assert refusal(path, write=write).code == "CORRUPT"
    assert path.read_bytes() == before


def test_a_header_that_no_version_wrote_is_corrupt(database: pathlib.Path) -> None:
    with database.open("r+b") as file:
        file.seek(44)
        file.write((9).to_bytes(4, "big"))
    with pytest.raises(errors.EnvironmentProblem) as caught:
        write_text(sqlite.connect(database, write=True))
    assert (caught.value.code, caught.value.suggestion) == ("CORRUPT", f"orchestrator doctor --db {database}")


def test_a_cut_off_file_is_corrupt_when_it_is_used(database: pathlib.Path) -> None:
    whole = database.read_bytes()
    database.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(errors.EnvironmentProblem) as caught:
        write_text(sqlite.connect(database, write=True))
    assert (caught.value.code, caught.value.suggestion) == ("CORRUPT", f"orchestrator doctor --db {database}")


def attempts(path: pathlib.Path) -> list[object]:
    """What reading and writing give."""
    answers: list[object] = []
    for write in (False, True):
        try:
            connection = sqlite.connect(path, write=write)
            answers.append(texts(connection))
            connection.close()
        except errors.EnvironmentProblem as problem:
            answers.append(problem.code)
    return answers


@pytest.mark.parametrize(("file_mode", "folder_mode"), [(0o444, 0o555), (0o666, 0o555), (0o444, 0o777)])
def test_a_read_only_database_is_read_and_not_written(
    template: pathlib.Path, open_folder: pathlib.Path, unprivileged: Unprivileged, file_mode: int, folder_mode: int
) -> None:
    path = pathlib.Path(shutil.copy(template, open_folder / "orchestrator.db"))
    connection = sqlite.connect(path, write=True)
    write_text(connection)
    connection.close()
    path.chmod(file_mode)
    open_folder.chmod(folder_mode)
    before = path.read_bytes()
    assert unprivileged(lambda: attempts(path)) == [["kept"], "READ_ONLY"]
    assert path.read_bytes() == before
    assert os.listdir(open_folder) == ["orchestrator.db"]


def test_a_read_only_mount_is_not_taken_for_missing_permissions(
    template: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writable = os.statvfs(template)
    flags = (*writable[:8], writable.f_flag | os.ST_RDONLY, *writable[9:])
    monkeypatch.setattr(os, "statvfs", lambda path: os.statvfs_result(flags))
    monkeypatch.setattr(os, "access", lambda path, mode, **_: not mode & os.W_OK)
    with pytest.raises(errors.EnvironmentProblem, match="mounted read-only") as caught:
        sqlite.connect(template, write=True)
    assert (caught.value.code, "chmod" in caught.value.suggestion) == ("READ_ONLY", False)


def test_a_log_that_a_reader_may_not_take_in_is_named(
    template: pathlib.Path, open_folder: pathlib.Path, unprivileged: Unprivileged
) -> None:
    path = pathlib.Path(shutil.copy(template, open_folder / "orchestrator.db"))
    connection = sqlite.connect(path, write=True)
    write_text(connection)
    path.chmod(0o644)
    open_folder.chmod(0o555)
    assert unprivileged(lambda: attempts(path)) == ["READ_ONLY", "READ_ONLY"]
    open_folder.chmod(0o755)
    connection.close()


def test_a_log_that_may_not_be_written_is_named(
    template: pathlib.Path, open_folder: pathlib.Path, unprivileged: Unprivileged
) -> None:
    path = pathlib.Path(shutil.copy(template, open_folder / "orchestrator.db"))
    shared = open_folder / "orchestrator.db-shm"
    shared.touch()
    for each, mode in ((open_folder, 0o777), (path, 0o666), (shared, 0o444)):
        each.chmod(mode)

    def cure() -> str:
        return refusal(path, write=True).suggestion

    assert unprivileged(cure) == f"chmod u+w {shared}"


def test_a_file_that_may_not_be_read_says_so(
    template: pathlib.Path, open_folder: pathlib.Path, unprivileged: Unprivileged
) -> None:
    path = pathlib.Path(shutil.copy(template, open_folder / "orchestrator.db"))
    path.chmod(0o000)
    assert unprivileged(lambda: attempts(path)) == ["NO_DATABASE", "NO_DATABASE"]


def test_a_writer_waits_at_short_random_distances_until_the_deadline(database: pathlib.Path) -> None:
    holder, waiter = (sqlite.connect(database, write=True) for _ in range(2))
    holder.execute("BEGIN IMMEDIATE")
    waits: list[float] = []
    with pytest.raises(errors.EnvironmentProblem) as caught:
        sqlite.begin_immediate(waiter, 3.0, waits.append, lambda: sum(waits))
    assert (caught.value.code, "3 s" in caught.value.message) == ("BUSY", True)
    assert 3.0 <= sum(waits) < 3.01
    assert 0.0001 <= min(waits) < max(waits) <= 0.002
    holder.close()
    waiter.close()


def test_a_writer_begins_as_soon_as_the_lock_is_free(database: pathlib.Path) -> None:
    holder, waiter = (sqlite.connect(database, write=True) for _ in range(2))
    holder.execute("BEGIN IMMEDIATE")
    sqlite.begin_immediate(waiter, 3.0, lambda _: holder.rollback())
    assert waiter.in_transaction
    holder.close()
    waiter.close()


def test_a_reader_waits_for_a_writer_that_keeps_it_out(database: pathlib.Path) -> None:
    set_journal = sqlite.open_file(database, write=True)
    set_journal.execute("PRAGMA journal_mode=DELETE")
    reader = sqlite.connect(database, write=False)
    set_journal.execute("BEGIN EXCLUSIVE")
    assert refusal(database, write=False).code == "BUSY"
    assert sqlite.retry(lambda: texts(reader), "", 3.0, lambda _: set_journal.rollback()) == []
    reader.close()
    set_journal.close()


def test_a_writer_that_still_reads_an_older_state_does_not_wait_for_itself(database: pathlib.Path) -> None:
    connection = sqlite.connect(database, write=True)
    write_text(connection, "one")
    write_text(connection, "two")
    reading = connection.execute("SELECT content FROM texts")
    reading.fetchone()
    other = sqlite.connect(database, write=True)
    write_text(other, "three")
    other.close()
    with pytest.raises(errors.EnvironmentProblem, match="This process still reads") as caught:
        # A deadline that the test would not survive.
        write_text_within(connection, 3600.0)
    assert (caught.value.code, connection.in_transaction) == ("BUSY", False)
    reading.close()
    write_text(connection, "four")
    connection.close()


def write_text_within(connection: sqlite3.Connection, deadline: float) -> None:
    with step.open_step(connection, constants.STORE_CHAIN, AT, deadline):
        pass


def test_a_file_deleted_while_open_takes_no_step(database: pathlib.Path) -> None:
    connection = sqlite.connect(database, write=True)
    database.unlink()
    with pytest.raises(errors.EnvironmentProblem) as caught:
        sqlite.begin_immediate(connection)
    assert (caught.value.code, connection.in_transaction) == ("NO_DATABASE", False)
    connection.close()


def test_a_file_replaced_while_open_takes_no_step(database: pathlib.Path) -> None:
    connection = sqlite.connect(database, write=True)
    shutil.copy(database, database.with_name("copy.db"))
    database.with_name("copy.db").replace(database)
    with pytest.raises(errors.EnvironmentProblem, match="moved or deleted"):
        sqlite.begin_immediate(connection)
    connection.close()


CODES = [
    (5, "BUSY"),
    (517, "BUSY"),
    (6, "BUSY"),
    (8, "READ_ONLY"),
    (1032, "NO_DATABASE"),
    (10, "CORRUPT"),
    (266, "CORRUPT"),
    (778, "DISK_FULL"),
    (11, "CORRUPT"),
    (13, "DISK_FULL"),
    (14, "NO_DATABASE"),
    (26, "CORRUPT"),
    (1, None),
    (19, None),
    (1811, None),
]


@pytest.mark.parametrize(("number", "expected"), CODES, ids=[str(number) for number, _ in CODES])
def test_every_result_code_has_its_meaning(number: int, expected: str | None) -> None:
    error = sqlite3.OperationalError("something")
    error.sqlite_errorcode = number
    problem = sqlite.translate(error, "/folder/x.db")
    assert (problem and problem.code) == expected
    assert problem is None or (problem.message.endswith(".") and problem.suggestion)


def test_bytes_where_a_row_holds_text_are_damage() -> None:
    connection = sqlite3.connect(":memory:")
    with pytest.raises(sqlite3.OperationalError) as caught:
        connection.execute("SELECT json_array(x'ff')").fetchall()
    connection.close()
    problem = sqlite.translate(caught.value, "/folder/x.db")
    assert problem is not None
    assert problem.code == "CORRUPT"


def test_a_constraint_is_no_problem_of_the_environment(database: pathlib.Path) -> None:
    connection = sqlite.connect(database, write=True)
    with pytest.raises(sqlite3.IntegrityError) as caught:
        connection.execute("INSERT INTO texts (hash, content) VALUES ('h', NULL)")
    assert sqlite.translate(caught.value, database) is None
    connection.close()


HOT_LOOP = """
import json, sys, time
from orchestrator.store import sqlite, step
connection = sqlite.connect(sys.argv[1], write=True)
print("ready", flush=True); sys.stdin.readline()
worst, count, until = 0.0, 0, time.monotonic() + 2
while time.monotonic() < until:
    began = time.monotonic()
    with step.open_step(connection, "@store", "now") as one:
        worst = max(worst, time.monotonic() - began)
        one.insert("texts", hash=f"{sys.argv[2]}-{count}", content="x")
        one.seal("test", "tester", "cli", {"count": count})
    count += 1
print(json.dumps([count, worst]))
"""


@pytest.mark.slow
def test_four_writers_share_the_lock_fairly(database: pathlib.Path, start: Start) -> None:
    processes = [start(HOT_LOOP, database, str(number)) for number in range(4)]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    answers = [process.communicate(timeout=30) for process in processes]
    assert [error for _, error in answers] == [""] * 4
    counts, waits = zip(*(json.loads(out) for out, _ in answers), strict=True)
    assert min(counts) >= 0.2 * max(counts)
    assert max(waits) < 1.0
    connection = sqlite.connect(database, write=False)
    events = "SELECT count(*), max(seq) FROM audit_events WHERE kind = 'test' OR kind = 'migrate'"
    assert connection.execute(events).fetchone() == (sum(counts) + 1, sum(counts) + 1)
    connection.close()
