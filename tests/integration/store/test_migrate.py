"""Databases are created, upgraded and taken back by the migrations, whole or not at all."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import NoReturn

import pytest
import sqlalchemy as sa

from orchestrator import errors
from orchestrator.store import alembic_steps, constants, declared_schema, guards, migrate, schema, sqlite, step
from tests.integration.store.conftest import AT, Unprivileged

MIGRATE = "the declared schema changed: write a migration that leads to it"
FIRST = "6987d3ff9bfbb5a66b817325de2d1ab27271994d7ca1cf8baaa0a23f5653c6cf"
"""SHA-256 of the first version's statements; what was published is never edited."""
NOW, LATER = constants.SCHEMA_VERSION, constants.SCHEMA_VERSION + 1
EVENTS = "SELECT seq, actor, channel, at, input FROM audit_events WHERE kind = 'migrate' ORDER BY seq"

NEXT = '''
"""A later version: a column, by the batch mode that rebuilds the table."""
import sqlalchemy as sa
from alembic import op
from orchestrator.store import declared_schema, guards, migrate

revision = "LATER"
down_revision = "NOW"
branch_labels = None
depends_on = None


def rebuild(change):
    connection = op.get_bind()
    guards.drop_all(connection)
    with op.batch_alter_table("agents", recreate="always", table_kwargs={"sqlite_with_rowid": False}) as batch:
        change(batch)
    guards.create_all(connection)


def upgrade():
    rebuild(lambda batch: batch.add_column(sa.Column("nickname", sa.Text, nullable=True)))
    AFTER


def downgrade():
    rebuild(lambda batch: batch.drop_column("nickname"))
'''


@pytest.fixture
def path(tmp_path: pathlib.Path) -> pathlib.Path:
    """Where a database is wanted."""
    return tmp_path / ".orchestrator" / "orchestrator.db"


@pytest.fixture
def later(repository: pathlib.Path, tmp_path: pathlib.Path) -> pathlib.Path:
    """The migrations of a later program, which has one more version."""
    return _later(repository, tmp_path / "later", "")


def _later(repository: pathlib.Path, folder: pathlib.Path, after: str) -> pathlib.Path:
    shutil.copytree(repository / "migrations", folder, ignore=shutil.ignore_patterns("__pycache__"))
    script = NEXT.replace("LATER", f"{LATER:04}").replace("NOW", f"{NOW:04}").replace("AFTER", after)
    (folder / "versions" / f"{LATER:04}_nickname.py").write_text(script)
    return folder


def found(path: pathlib.Path) -> dict[declared_schema.Key, str]:
    connection = sqlite.open_file(path, write=False)
    try:
        return {key: declared_schema.normalised(sql) for key, sql in declared_schema.stored(connection).items()}
    finally:
        connection.close()


def counts(path: pathlib.Path) -> dict[str, int]:
    connection = sqlite.open_file(path, write=False)
    try:
        names = [name for kind, name in declared_schema.stored(connection) if kind == "table"]
        return {name: connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in names}
    finally:
        connection.close()


def version(path: pathlib.Path) -> int:
    raw = sqlite3.connect(path)
    try:
        return int(raw.execute("PRAGMA user_version").fetchone()[0])
    finally:
        raw.close()


def add_agents(path: pathlib.Path) -> None:
    connection = sqlite.connect(path, write=True)
    with step.open_step(connection, constants.STORE_CHAIN, AT) as one:
        one.insert("agents", id="pm", role="project_manager", kind="ai", created_at=AT, created_seq=one.seq)
        one.insert("agents", id="dev", role="developer", parent_id="pm", kind="ai", created_at=AT, created_seq=one.seq)
        one.seal("test", "tester", "cli", {})
    connection.close()


@pytest.fixture(scope="module")
def migrated(tmp_path_factory: pytest.TempPathFactory, repository: pathlib.Path) -> pathlib.Path:
    """A database that was made by all steps, one after the other."""
    path = tmp_path_factory.mktemp("migrated") / "orchestrator.db"
    migrate.upgrade(path, AT, scripts=repository / "migrations")
    return path


@pytest.mark.parametrize("way", ["template", "migrated"])
def test_a_new_database_and_one_that_was_migrated_are_what_is_declared(
    way: str, request: pytest.FixtureRequest
) -> None:
    raw = sqlite3.connect(":memory:")
    schema.metadata.create_all(sa.create_engine("sqlite://", creator=lambda: raw))
    guards.create_all(raw)
    for statement in (guards.VERSION_TABLE, *(sql for _, sql in guards.VERSION_TRIGGERS)):
        raw.execute(statement)
    expected = {key: declared_schema.normalised(sql) for key, sql in declared_schema.stored(raw).items()}
    raw.close()
    made = found(request.getfixturevalue(way))
    assert made.keys() == expected.keys(), MIGRATE
    for key, sql in expected.items():
        assert made[key] == sql, MIGRATE


def test_a_published_version_is_never_edited(repository: pathlib.Path) -> None:
    text = (repository / "migrations" / "versions" / "0001_initial.sql").read_bytes()
    assert hashlib.sha256(text).hexdigest() == FIRST, "write a further migration instead"


def test_alembic_sees_no_difference_either(migrated: pathlib.Path, repository: pathlib.Path) -> None:
    command = [sys.executable, "-m", "alembic", "-x", f"db={migrated}", "check"]
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (0, "No new upgrade operations detected.\n"), done.stderr


@pytest.mark.parametrize("way", ["template", "migrated"])
def test_the_number_in_the_file_is_that_of_the_newest_migration(way: str, request: pytest.FixtureRequest) -> None:
    template = request.getfixturevalue(way)
    raw = sqlite3.connect(template)
    assert raw.execute("SELECT version_num FROM alembic_version").fetchall() == [(f"{constants.SCHEMA_VERSION:04}",)]
    assert raw.execute("PRAGMA application_id").fetchone() == (constants.APPLICATION_ID,)
    raw.close()
    assert alembic_steps.revisions(None)[-1] == f"{constants.SCHEMA_VERSION:04}"
    assert migrate.current(template) == (constants.SCHEMA_VERSION, constants.SCHEMA_VERSION)
    assert version(template) == constants.SCHEMA_VERSION


def test_an_upgrade_creates_a_private_database_with_an_event(path: pathlib.Path) -> None:
    moved = migrate.upgrade(path, AT, actor="alice", channel="batch")
    assert moved == (0, constants.SCHEMA_VERSION, None, ())
    assert [stat.S_IMODE(each.stat().st_mode) for each in (path.parent, path)] == [0o700, 0o600]
    assert sorted(os.listdir(path.parent)) == [".gitignore", "orchestrator.db"]
    connection = sqlite.connect(path, write=False)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert connection.execute(EVENTS).fetchall() == [(1, "alice", "batch", AT, f'{{"from":0,"to":{NOW}}}')]
    rows = connection.execute("SELECT * FROM audit_events").fetchall()
    assert [step.verify_event(row) for row in rows] == [True]
    connection.close()


def test_a_second_upgrade_changes_nothing(database: pathlib.Path) -> None:
    before = database.read_bytes()
    assert migrate.upgrade(database, AT) == (NOW, NOW, None, ())
    assert database.read_bytes() == before
    assert sorted(os.listdir(database.parent)) == [".gitignore", "orchestrator.db"]


def test_an_upgrade_says_nothing(path: pathlib.Path, capfd: pytest.CaptureFixture[str]) -> None:
    migrate.upgrade(path, AT)
    migrate.downgrade(path, "base", AT)
    assert capfd.readouterr() == ("", "")


def test_an_empty_database_goes_down_and_up_again(path: pathlib.Path) -> None:
    migrate.upgrade(path, AT)
    expected = found(path)
    down = migrate.downgrade(path, "base", AT)
    assert (down.before, down.after) == (NOW, 0)
    assert down.backup is not None
    assert found(path) == {}
    assert migrate.upgrade(path, AT).after == NOW
    assert found(path) == expected


def test_a_downgrade_that_would_lose_rows_names_them(database: pathlib.Path) -> None:
    add_agents(database)
    before, content = counts(database), found(database)
    with pytest.raises(errors.EnvironmentProblem) as caught:
        migrate.downgrade(database, "base", AT)
    assert (caught.value.code, caught.value.data["rows"]) == ("DOWNGRADE_REFUSED", {"agents": 2, "audit_events": 1})
    assert (counts(database), found(database)) == (before, content)
    assert "2 of agents" in caught.value.message


def test_an_unknown_revision_is_wrong_usage(database: pathlib.Path) -> None:
    with pytest.raises(errors.UsageError, match="there are base, 0001, 0002"):
        migrate.downgrade(database, f"{NOW + 1:04d}", AT)


def test_a_newer_database_is_refused_untouched(database: pathlib.Path) -> None:
    raw = sqlite3.connect(database)
    raw.execute(f"PRAGMA user_version={LATER}")
    raw.close()
    before = database.read_bytes()
    moves: list[Callable[[], object]] = [
        lambda: migrate.upgrade(database, AT),
        lambda: migrate.downgrade(database, "base", AT),
    ]
    for move in moves:
        with pytest.raises(errors.EnvironmentProblem) as caught:
            move()
        assert caught.value.code == "SCHEMA_TOO_NEW"
        assert (caught.value.data["database_version"], caught.value.data["program_version"]) == (LATER, NOW)
    assert database.read_bytes() == before
    assert sorted(os.listdir(database.parent)) == [".gitignore", "orchestrator.db"]
    assert migrate.current(database) == (LATER, NOW)


@pytest.mark.parametrize("content", ["no database " * 100, "x"], ids=["long", "short"])
def test_a_file_that_is_no_database_stays_as_it_is(tmp_path: pathlib.Path, content: str) -> None:
    path = tmp_path / "notes"
    path.write_text(content)
    with pytest.raises(errors.EnvironmentProblem) as caught:
        migrate.upgrade(path, AT)
    assert caught.value.code == "CORRUPT"
    assert path.read_text() == content


def test_another_programs_database_stays_as_it_is(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "songs.db"
    raw = sqlite3.connect(path)
    raw.execute("CREATE TABLE songs (title)")
    raw.close()
    before = path.read_bytes()
    with pytest.raises(errors.EnvironmentProblem, match="another program"):
        migrate.upgrade(path, AT)
    assert path.read_bytes() == before


def test_a_later_version_keeps_every_row_and_object(database: pathlib.Path, later: pathlib.Path) -> None:
    add_agents(database)
    before, objects = counts(database), found(database)
    up = migrate.upgrade(database, AT, scripts=later)
    assert (up.before, up.after) == (NOW, LATER)
    assert counts(database) == before | {"audit_events": before["audit_events"] + 1}
    assert found(database).keys() == objects.keys()
    assert "nickname" in found(database)["table", "agents"]
    assert not any("alembic_tmp" in sql for sql in found(database).values())
    down = migrate.downgrade(database, f"{NOW:04}", AT, scripts=later)
    assert (down.before, down.after) == (LATER, NOW)
    assert counts(database) == before | {"audit_events": before["audit_events"] + 2}
    assert found(database).keys() == objects.keys()
    connection = sqlite.connect(database, write=False)
    assert connection.execute("SELECT id, parent_id FROM agents ORDER BY id").fetchall() == [
        ("dev", "pm"),
        ("pm", None),
    ]
    assert [row[4] for row in connection.execute(EVENTS)] == [
        f'{{"from":0,"to":{NOW}}}',
        f'{{"from":{NOW},"to":{LATER}}}',
        f'{{"from":{LATER},"to":{NOW}}}',
    ]
    connection.close()


def test_an_upgrade_first_makes_a_private_copy(database: pathlib.Path, later: pathlib.Path) -> None:
    add_agents(database)
    before = counts(database)
    copy = migrate.upgrade(database, AT, scripts=later).backup
    assert copy is not None
    assert copy == database.parent / "backups" / f"orchestrator-v{NOW}-2026-01-01T000000.000000Z.db"
    assert [stat.S_IMODE(each.stat().st_mode) for each in (copy.parent, copy)] == [0o700, 0o600]
    assert os.listdir(copy.parent) == [copy.name]
    assert (version(copy), counts(copy)) == (NOW, before)
    migrate.downgrade(database, f"{NOW:04}", AT, scripts=later)
    again = migrate.upgrade(database, AT, scripts=later).backup
    assert again is not None
    assert again.name == f"orchestrator-v{NOW}-2026-01-01T000000.000000Z-2.db"


@pytest.mark.parametrize(
    ("after", "error"),
    [("raise ArithmeticError('bad')", ArithmeticError), ("op.execute('INSERT INTO nowhere VALUES (1)')", Exception)],
    ids=["exception", "sql"],
)
def test_a_migration_that_fails_leaves_the_older_version(
    repository: pathlib.Path, tmp_path: pathlib.Path, database: pathlib.Path, after: str, error: type[Exception]
) -> None:
    add_agents(database)
    before, objects = counts(database), found(database)
    with pytest.raises(error):
        migrate.upgrade(database, AT, scripts=_later(repository, tmp_path / "bad", after))
    assert (version(database), counts(database), found(database)) == (NOW, before, objects)


def test_a_migration_that_breaks_a_reference_is_refused(
    repository: pathlib.Path, tmp_path: pathlib.Path, database: pathlib.Path
) -> None:
    add_agents(database)
    after = "guards.drop_all(op.get_bind()); op.execute(\"DELETE FROM agents WHERE id = 'pm'\")"
    with pytest.raises(errors.EnvironmentProblem, match="1 row of agents refers to rows that do not exist") as caught:
        migrate.upgrade(database, AT, scripts=_later(repository, tmp_path / "bad", after))
    assert (version(database), counts(database)["agents"]) == (NOW, 2)
    assert f"sqlite3 {database} 'PRAGMA foreign_key_check' lists them" in caught.value.suggestion


def test_a_busy_database_is_named_after_the_deadline(database: pathlib.Path, later: pathlib.Path) -> None:
    holder = sqlite.connect(database, write=True)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(errors.EnvironmentProblem) as caught:
        migrate.upgrade(database, AT, scripts=later, deadline=0.05)
    assert caught.value.code == "BUSY"
    holder.close()
    assert not (database.parent / "backups").exists()


class Upgrade:
    """A process that upgrades a database as soon as it is told to: a fork of this one, so that nothing is loaded anew.

    No database may be open here when it is made.
    """

    def __init__(self, path: pathlib.Path, scripts: pathlib.Path | None = None) -> None:
        gate, self._opener = os.pipe()
        self._answer, sink = os.pipe()
        self._process = os.fork()
        if self._process == 0:
            os.close(self._opener)
            _upgrade(path, scripts, gate, sink)
        os.close(gate)
        os.close(sink)

    def begin(self) -> None:
        os.write(self._opener, b"go")
        os.close(self._opener)

    def kill(self) -> None:
        os.kill(self._process, signal.SIGKILL)
        os.close(self._answer)
        os.waitpid(self._process, 0)

    def answer(self) -> list[object]:
        """The versions before and after, and the copy; or what went wrong."""
        with open(self._answer, encoding="utf-8") as stream:
            found: list[object] = json.loads(stream.read())
        os.waitpid(self._process, 0)
        return found


def _upgrade(path: pathlib.Path, scripts: pathlib.Path | None, gate: int, sink: int) -> NoReturn:
    os.read(gate, 2)
    try:
        moved = migrate.upgrade(path, AT, scripts=scripts)
        answer = [moved.before, moved.after, moved.backup and str(moved.backup)]
    except BaseException as error:
        answer = [repr(error)]
    os.write(sink, json.dumps(answer).encode())
    os._exit(0)


def all_at_once(upgrades: list[Upgrade]) -> list[list[object]]:
    for each in upgrades:
        each.begin()
    return [each.answer() for each in upgrades]


def seconds(path: pathlib.Path, scripts: pathlib.Path | None = None) -> float:
    """How long an upgrade takes that nobody disturbs."""
    upgrade, begun = Upgrade(path, scripts), time.monotonic()
    upgrade.begin()
    upgrade.answer()
    return time.monotonic() - begun


@pytest.mark.slow
def test_eight_processes_create_one_database(path: pathlib.Path, template: pathlib.Path) -> None:
    answers = all_at_once([Upgrade(path) for _ in range(8)])
    assert sorted(answers, key=str) == [[0, NOW, None], *[[NOW, NOW, None]] * 7]
    assert sorted(os.listdir(path.parent)) == [".gitignore", "orchestrator.db"]
    assert found(path) == found(template)
    assert counts(path)["audit_events"] == 1


@pytest.mark.slow
def test_eight_processes_upgrade_once(database: pathlib.Path, later: pathlib.Path) -> None:
    add_agents(database)
    answers = all_at_once([Upgrade(database, later) for _ in range(8)])
    assert sorted(answer[:2] for answer in answers) == [[NOW, LATER], *[[LATER, LATER]] * 7]
    (copy,) = [answer[2] for answer in answers if answer[2]]
    assert os.listdir(database.parent / "backups") == [pathlib.Path(str(copy)).name]
    assert counts(database)["audit_events"] == 3


@pytest.mark.slow
def test_a_killed_migration_leaves_a_whole_version(
    database: pathlib.Path, later: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    add_agents(database)
    objects = found(database).keys()
    outcomes = set()
    whole = seconds(pathlib.Path(shutil.copy(database, tmp_path / "whole.db")), later)
    for number in range(12):
        victim = tmp_path / f"{number}.db"
        shutil.copy(database, victim)
        upgrade = Upgrade(victim, later)
        upgrade.begin()
        time.sleep(whole * number / 10)
        upgrade.kill()
        now = version(victim)
        outcomes.add(now)
        assert found(victim).keys() == objects
        assert counts(victim)["agents"] == 2
        assert counts(victim)["audit_events"] == 2 + now - NOW
        assert migrate.upgrade(victim, AT, scripts=later).after == LATER
        assert counts(victim)["audit_events"] == 3
    assert NOW in outcomes


@pytest.mark.slow
def test_a_killed_creation_is_finished_by_the_next(path: pathlib.Path, template: pathlib.Path) -> None:
    whole = seconds(path)
    shutil.rmtree(path.parent)
    for number in range(10):
        upgrade = Upgrade(path)
        upgrade.begin()
        time.sleep(whole * number / 10)
        upgrade.kill()
        assert migrate.upgrade(path, AT).after == NOW
        assert found(path) == found(template)
        assert counts(path)["audit_events"] == 1
        shutil.rmtree(path.parent)


@pytest.fixture
def small_disk() -> Iterator[pathlib.Path]:
    """A file system with room for a few hundred kilobytes."""
    folder = tempfile.mkdtemp()
    mounted = os.geteuid() == 0 and shutil.which("mount") is not None
    if mounted:
        command = ["mount", "-t", "tmpfs", "-o", "size=1000k", "none", folder]
        mounted = subprocess.run(command, capture_output=True, check=False).returncode == 0
    if not mounted:
        os.rmdir(folder)
        pytest.skip("mounting a small file system needs root")
    yield pathlib.Path(folder)
    subprocess.run(["umount", folder], check=True)
    os.rmdir(folder)


def test_a_full_disk_creates_no_half_schema(small_disk: pathlib.Path) -> None:
    (small_disk / "filler").write_bytes(b"x" * 700_000)
    path = small_disk / ".orchestrator" / "orchestrator.db"
    with pytest.raises(errors.EnvironmentProblem) as caught:
        migrate.upgrade(path, AT)
    assert caught.value.code == "DISK_FULL"
    (small_disk / "filler").unlink()
    assert not path.parent.exists()


def test_a_full_disk_stops_an_upgrade_at_its_copy(
    small_disk: pathlib.Path, database: pathlib.Path, later: pathlib.Path
) -> None:
    path = pathlib.Path(shutil.copy(database, small_disk / "orchestrator.db"))
    with pytest.raises(errors.EnvironmentProblem) as caught:
        migrate.upgrade(path, AT, scripts=later)
    assert caught.value.code == "DISK_FULL"
    assert version(path) == NOW
    assert os.listdir(small_disk / "backups") == []


def test_a_limit_on_pages_stops_a_migration_whole(database: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def limited(connection: sqlite3.Connection, **settings: object) -> None:
        prepare(connection, **settings)  # type: ignore[arg-type]
        connection.execute("PRAGMA max_page_count=40")

    prepare = sqlite.prepare
    path = database.with_name("limited.db")
    monkeypatch.setattr(sqlite, "prepare", limited)
    with pytest.raises(errors.EnvironmentProblem) as caught:
        migrate.upgrade(path, AT)
    assert caught.value.code == "DISK_FULL"
    assert not path.exists()


@pytest.mark.parametrize(("file_mode", "folder_mode"), [(0o444, 0o555), (0o666, 0o555), (0o444, 0o777)])
def test_a_read_only_database_is_not_upgraded(
    database: pathlib.Path,
    later: pathlib.Path,
    open_folder: pathlib.Path,
    unprivileged: Unprivileged,
    file_mode: int,
    folder_mode: int,
) -> None:
    path = pathlib.Path(shutil.copy(database, open_folder / "orchestrator.db"))
    scripts = shutil.copytree(later, open_folder / "later")
    path.chmod(file_mode)
    open_folder.chmod(folder_mode)

    def attempt() -> object:
        try:
            return migrate.upgrade(path, AT, scripts=scripts)
        except errors.EnvironmentProblem as problem:
            return problem.code

    assert unprivileged(attempt) == "READ_ONLY"
    assert version(path) == NOW


def test_a_folder_where_nothing_may_be_created_is_read_only(
    open_folder: pathlib.Path, unprivileged: Unprivileged
) -> None:
    open_folder.chmod(0o555)

    def attempt() -> object:
        try:
            return migrate.upgrade(open_folder / ".orchestrator" / "orchestrator.db", AT)
        except errors.EnvironmentProblem as problem:
            return problem.code

    assert unprivileged(attempt) == "READ_ONLY"
    assert os.listdir(open_folder) == []


@pytest.mark.parametrize("name", ["a?b", "a#b", "100%25", "with space", "it's", "emoji-\U0001f600", "-dash", "line\n"])
def test_a_database_is_created_under_any_name(tmp_path: pathlib.Path, name: str) -> None:
    folder = tmp_path / name
    migrate.upgrade(folder / name, AT)
    assert os.listdir(folder) == [name]
    assert migrate.current(folder / name) == (NOW, NOW)
