"""Copies, checks, repairs, and the report on a file that does not work."""

from __future__ import annotations

import os
import pathlib
import shutil
import sqlite3
import stat
from collections.abc import Callable, Mapping

import pytest

from orchestrator import errors
from orchestrator.store import backup, constants, declared_schema, doctor, guards, maintenance, problems, sqlite, step
from tests.integration.store.conftest import AT, Start, Unprivileged

Damage = Callable[[sqlite3.Connection], object]


def write_text(path: pathlib.Path, content: str) -> None:
    connection = sqlite.connect(path, write=True)
    with step.open_step(connection, constants.STORE_CHAIN, AT) as one:
        one.insert("texts", hash=content, content=content)
        one.seal("test", "tester", "cli", {})
    connection.close()


def tamper(path: pathlib.Path, *statements: str) -> None:
    """What somebody does with file access and effort."""
    raw = sqlite3.connect(path, isolation_level=None)
    raw.create_function("orchestrator_write", 0, lambda: 1)
    for statement in statements:
        raw.execute(statement)
    raw.close()


def report(path: pathlib.Path | str | None, **settings: str) -> doctor.Report:
    """What is said of a file; that its database has no workflow is so in all of them, and tested elsewhere."""
    found = doctor.doctor(str(path) if path else None, {}, pathlib.Path("/"), **settings)
    return found._replace(findings=[each for each in found.findings if each.id != "NO_WORKFLOW"])


def listing(folder: pathlib.Path) -> dict[str, bytes]:
    return {
        str(each.relative_to(folder)): each.read_bytes()
        for each in folder.rglob("*")
        if each.is_file() and not each.name.endswith(("-wal", "-shm"))
    }


def test_a_copy_is_whole_and_private_while_others_write(database: pathlib.Path, tmp_path: pathlib.Path) -> None:
    write_text(database, "first")
    writer = sqlite.connect(database, write=True)
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("INSERT INTO texts VALUES ('second', 'second')")
    copy = maintenance.backup(database, tmp_path / "copies" / "c?.db")
    writer.rollback()
    writer.close()
    assert copy == tmp_path / "copies" / "c?.db"
    assert os.listdir(copy.parent) == ["c?.db"]
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    reader = sqlite.connect(copy, write=False)
    assert reader.execute("SELECT content FROM texts").fetchall() == [("first",)]
    reader.close()
    assert maintenance.check(copy) == []


def test_a_copy_overwrites_nothing(database: pathlib.Path, tmp_path: pathlib.Path) -> None:
    target = tmp_path / "copy.db"
    target.write_text("mine")
    with pytest.raises(errors.Refused) as caught:
        maintenance.backup(database, target)
    assert (caught.value.code, target.read_text()) == ("ALREADY_EXISTS", "mine")


def test_a_copy_of_nothing_leaves_no_file(tmp_path: pathlib.Path) -> None:
    with pytest.raises(errors.EnvironmentProblem) as caught:
        maintenance.backup(tmp_path / "absent.db", tmp_path / "copy.db")
    assert (caught.value.code, os.listdir(tmp_path)) == ("NO_DATABASE", [])


def test_a_copy_that_cannot_read_its_source_leaves_no_file(database: pathlib.Path, tmp_path: pathlib.Path) -> None:
    tamper(database, "PRAGMA journal_mode=DELETE")
    holder = sqlite3.connect(database, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    with pytest.raises(errors.EnvironmentProblem) as caught:
        maintenance.backup(database, tmp_path / "copies" / "copy.db", deadline=0.05)
    holder.close()
    assert caught.value.code == "BUSY"
    assert not (tmp_path / "copies").exists()


def test_a_fresh_database_has_no_problems(database: pathlib.Path) -> None:
    write_text(database, "text")
    assert maintenance.check(database) == []


SCHEMA_DAMAGE = {
    "trigger missing": (("DROP TRIGGER texts_are_never_deleted",), "TRIGGER_MISSING", "texts_are_never_deleted"),
    "trigger altered": (
        (
            "DROP TRIGGER texts_are_never_deleted",
            "CREATE TRIGGER texts_are_never_deleted BEFORE DELETE ON texts BEGIN SELECT 1; END",
        ),
        "TRIGGER_ALTERED",
        "texts_are_never_deleted",
    ),
    "view missing": (("DROP VIEW completion_paths",), "VIEW_MISSING", "completion_paths"),
    "index missing": (("DROP INDEX ix_blockers_open",), "INDEX_MISSING", "ix_blockers_open"),
    "index altered": (
        ("DROP INDEX ix_blockers_open", "CREATE INDEX ix_blockers_open ON blockers (session_id)"),
        "INDEX_ALTERED",
        "ix_blockers_open",
    ),
    "table altered": (("ALTER TABLE texts ADD COLUMN more",), "TABLE_ALTERED", "texts"),
    "table missing": (("DROP TABLE standalone_handoffs",), "TABLE_MISSING", "standalone_handoffs"),
    "trigger of another": (
        ("CREATE TRIGGER quiet BEFORE INSERT ON texts BEGIN SELECT RAISE(IGNORE); END",),
        "SCHEMA_FOREIGN",
        "quiet",
    ),
}


@pytest.mark.parametrize(
    ("statements", "problem_id", "subject"), SCHEMA_DAMAGE.values(), ids=list(SCHEMA_DAMAGE.keys())
)
def test_every_change_of_the_schema_is_found(
    database: pathlib.Path, statements: tuple[str, ...], problem_id: str, subject: str
) -> None:
    tamper(database, *statements)
    for problems_found in (maintenance.check(database), report(database).findings):
        found = {(problem.id, problem.subject) for problem in problems_found}
        assert (problem_id, subject) in found
        assert all(problem.suggestion and problem.message for problem in problems_found)


ROW_DAMAGE = {
    "version": (("PRAGMA foreign_keys=OFF", "DELETE FROM alembic_version"), "VERSION_MISMATCH", "alembic_version"),
    "reference": (
        (
            "PRAGMA foreign_keys=OFF",
            "INSERT INTO agents (id, role, parent_id, kind, created_at, created_seq)"
            " VALUES ('a', 'developer', 'nobody', 'ai', 'now', 1)",
        ),
        "REFERENCE_BROKEN",
        "agents",
    ),
    "a row without its event": (
        ("INSERT INTO requests VALUES ('S1', 'r', 'route', 'h', 1, '{}')",),
        "ORPHANS",
        "requests",
    ),
    "a row of the store without its event": (
        ("INSERT INTO workflow_versions VALUES (1, 'h', 'n', 'c', 't', 'now', 99)",),
        "ORPHANS",
        "workflow_versions",
    ),
    "a row without its group": (
        ("PRAGMA foreign_keys=OFF", "INSERT INTO standalone_handoffs VALUES ('S1', 1, 'G', 'a', 'd', 'h')"),
        "ORPHANS",
        "standalone_handoffs",
    ),
}


@pytest.mark.parametrize(("statements", "problem_id", "subject"), ROW_DAMAGE.values(), ids=list(ROW_DAMAGE.keys()))
def test_rows_that_fit_nothing_are_found(
    database: pathlib.Path, statements: tuple[str, ...], problem_id: str, subject: str
) -> None:
    triggers = [f"DROP TRIGGER {name}" for kind, name in declared_schema.declared() if kind == "trigger"]
    tamper(database, *triggers, *statements)
    found = {(problem.id, problem.subject) for problem in maintenance.check(database) if problem.id[:7] != "TRIGGER"}
    assert (problem_id, subject) in found


def damage_pages(path: pathlib.Path) -> None:
    content = bytearray(path.read_bytes())
    content[4096 * 3 : 4096 * 6] = b"\xff" * (4096 * 3)
    path.write_bytes(content)


def cut(path: pathlib.Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


BROKEN: dict[str, Callable[[pathlib.Path], object]] = {
    "damaged pages": damage_pages,
    "cut off": cut,
    "no database": lambda path: path.write_text("no database " * 500),
    "one byte": lambda path: path.write_text("x"),
}


@pytest.mark.parametrize("damage", BROKEN.values(), ids=BROKEN.keys())
def test_a_corrupt_file_is_reported_and_kept(database: pathlib.Path, damage: Callable[[pathlib.Path], object]) -> None:
    damage(database)
    before = listing(database.parent)
    assert "CORRUPT" in {problem.id for problem in maintenance.check(database)}
    findings = report(database).findings
    assert findings[0].severity == "error"
    assert "CORRUPT" in {finding.id for finding in findings}
    assert listing(database.parent) == before


def cure(database: pathlib.Path) -> str:
    (found,) = {finding.suggestion for finding in report(database).findings if finding.id == "CORRUPT"}
    return found


def test_the_cure_of_a_corrupt_file_is_the_newest_copy_of_it(database: pathlib.Path) -> None:
    """Copies of other databases lie beside it, and later ones; those would put another record in its place."""
    older, newer = (maintenance.backup(database, backup.beside(str(database), 8, AT)) for _ in range(2))
    for name in ("b.db", f"{database.stem}2-v8-2026-11-28T120000.000000Z.db", f"{database.stem}-v8-more-v8-x.db"):
        maintenance.backup(database, database.parent / "backups" / name)
    os.utime(older, (1, 1))
    cut(database)
    assert (cure(database), older.exists()) == (f"orchestrator db restore {newer} --db {database}", True)


def test_where_only_other_databases_have_copies_none_is_proposed(database: pathlib.Path) -> None:
    maintenance.backup(database, database.parent / "backups" / f"{database.stem}2-v8-2026-11-28T120000.000000Z.db")
    cut(database)
    assert cure(database) == f"orchestrator db restore FILE --db {database}, with a copy of yours"


def test_a_repair_creates_again_what_is_broken_and_leaves_an_event(database: pathlib.Path) -> None:
    tamper(
        database,
        "DROP TRIGGER texts_are_never_deleted",
        "DROP VIEW completion_paths",
        "DROP INDEX ix_questions_open",
        "CREATE INDEX ix_questions_open ON questions (id)",
    )
    repaired = maintenance.repair(database, AT, "alice")
    assert sorted(repaired) == ["completion_paths", "ix_questions_open", "texts_are_never_deleted"]
    assert maintenance.check(database) == []
    connection = sqlite.connect(database, write=False)
    (row,) = connection.execute("SELECT * FROM audit_events WHERE kind = 'repair'").fetchall()
    assert step.verify_event(row)
    assert (row[3], "CREATE INDEX ix_questions_open ON questions (id)" in row[6]) == ("alice", True)
    connection.close()


VERSION_DAMAGE = {
    "deleted": ("DELETE FROM alembic_version",),
    "another": ("UPDATE alembic_version SET version_num = '0001'",),
    "one more": ("INSERT INTO alembic_version VALUES ('9999')",),
    "no table": ("DROP TABLE alembic_version",),
}


@pytest.mark.parametrize("statements", VERSION_DAMAGE.values(), ids=list(VERSION_DAMAGE.keys()))
def test_a_mark_of_another_version_is_found_and_set_again(database: pathlib.Path, statements: tuple[str, ...]) -> None:
    tripwires = [f"DROP TRIGGER {name}" for name, _ in guards.VERSION_TRIGGERS]
    tamper(database, *tripwires, *statements)
    for problems_found in (maintenance.check(database), report(database).findings):
        (found,) = (each for each in problems_found if each.id == "VERSION_MISMATCH")
        assert (found.severity, found.subject) == ("error", "alembic_version")
        assert found.suggestion == f"orchestrator db check --repair --db {database}"
    repaired = maintenance.repair(database, AT, "alice")
    assert sorted(repaired) == sorted(["alembic_version", *(name for name, _ in guards.VERSION_TRIGGERS)])
    assert (maintenance.check(database), report(database).findings) == ([], [])


@pytest.mark.parametrize("verb", ["DELETE", "INSERT"])
def test_a_repair_whose_writing_a_foreign_trigger_skips_is_none(database: pathlib.Path, verb: str) -> None:
    tripwires = [f"DROP TRIGGER {name}" for name, _ in guards.VERSION_TRIGGERS]
    skips = f"CREATE TRIGGER skips BEFORE {verb} ON alembic_version BEGIN SELECT RAISE(IGNORE); END"
    tamper(database, *tripwires, "UPDATE alembic_version SET version_num = '0001'", skips)
    before = database.read_bytes()
    with pytest.raises(errors.EnvironmentProblem, match=f"what '{verb}.*' writes was skipped"):
        maintenance.repair(database, AT, "alice")
    assert database.read_bytes() == before


@pytest.mark.parametrize(
    "statement",
    [
        pytest.param("DELETE FROM alembic_version", id="delete"),
        pytest.param("UPDATE alembic_version SET version_num = '9999'", id="update"),
        pytest.param("REPLACE INTO alembic_version SELECT version_num FROM alembic_version", id="replace"),
    ],
)
def test_a_stranger_cannot_write_the_mark(database: pathlib.Path, statement: str) -> None:
    raw = sqlite3.connect(database, isolation_level=None)
    with pytest.raises(sqlite3.OperationalError, match="no such function: orchestrator_write"):
        raw.execute(statement)
    raw.close()
    assert maintenance.check(database) == []


def test_a_repair_of_nothing_writes_nothing(database: pathlib.Path) -> None:
    before = database.read_bytes()
    assert maintenance.repair(database, AT, "alice") == []
    assert database.read_bytes() == before


def test_the_report_on_a_healthy_database_has_its_facts_and_no_findings(database: pathlib.Path) -> None:
    found = report(database)
    assert (found.path, found.why, found.findings) == (str(database), "named by --db", [])
    assert found.facts == {
        "sqlite_version": sqlite3.sqlite_version,
        "program_version": constants.SCHEMA_VERSION,
        "schema_version": constants.SCHEMA_VERSION,
        "synchronous": "FULL",
        "journal_mode": "wal",
        "size": database.stat().st_size,
        "wal_size": 0,
        "mode": "0600",
        "writer": None,
    }


def test_the_report_says_why_it_is_that_file(database: pathlib.Path) -> None:
    folder = database.parent.parent
    found = doctor.doctor(None, {"HOME": str(folder)}, folder)
    assert (found.path, found.why) == (str(database), f"the nearest from {folder} upwards")
    named = doctor.doctor(None, {"ORCHESTRATOR_DB": str(database)}, pathlib.Path("/"))
    assert (named.path, named.why) == (str(database), "named by ORCHESTRATOR_DB")


@pytest.mark.parametrize("named", [True, False], ids=["named", "searched"])
def test_the_report_on_no_database_names_init(tmp_path: pathlib.Path, named: bool) -> None:
    found = doctor.doctor(str(tmp_path / "absent.db") if named else None, {}, tmp_path)
    (finding,) = found.findings
    assert (found.path, finding.id, finding.suggestion.startswith("orchestrator init")) == (None, "NO_DATABASE", True)
    assert os.listdir(tmp_path) == []


def only(found: doctor.Report, severity: str) -> maintenance.Problem:
    (finding,) = found.findings
    assert finding.severity == severity
    return finding


def test_the_report_on_a_newer_database_touches_nothing(database: pathlib.Path) -> None:
    tamper(database, f"PRAGMA user_version={constants.SCHEMA_VERSION + 1}")
    before = listing(database.parent)
    found = report(database)
    assert (only(found, "error").id, found.facts["schema_version"]) == (
        "SCHEMA_TOO_NEW",
        constants.SCHEMA_VERSION + 1,
    )
    assert listing(database.parent) == before


def test_the_report_on_an_older_database_names_the_upgrade(
    database: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, "SCHEMA_VERSION", constants.SCHEMA_VERSION + 1)
    finding = only(report(database), "error")
    assert (finding.id, finding.suggestion) == ("SCHEMA_TOO_OLD", f"orchestrator db upgrade --db {database}")


def test_the_report_on_another_programs_database_helps_on(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "songs.db"
    tamper(path, "CREATE TABLE songs (title)")
    path.chmod(0o600)
    findings = [finding for finding in report(path).findings if finding.severity == "error"]
    assert [(finding.id, finding.suggestion) for finding in findings] == [("NO_DATABASE", "name another file by --db")]


def test_the_report_on_an_empty_file_names_init(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "empty.db"
    path.touch(mode=0o600)
    errors_found = [finding for finding in report(path).findings if finding.severity == "error"]
    assert [finding.suggestion for finding in errors_found] == [f"orchestrator init --db {path}"]


HOLD = """
import sys
from orchestrator.store import sqlite
connection = sqlite.open_file(sys.argv[1], write=True)
connection.execute(sys.argv[2])
print("held", flush=True)
sys.stdin.readline()
"""


@pytest.mark.skipif(not doctor.LOCKS.exists(), reason="the system keeps no list of locks")
@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_the_report_names_the_process_that_writes(database: pathlib.Path, start: Start, journal: str) -> None:
    tamper(database, f"PRAGMA journal_mode={journal}")
    process = start(HOLD, database, "BEGIN IMMEDIATE")
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    found = report(database)
    (finding,) = [finding for finding in found.findings if finding.id == "WRITER_ACTIVE"]
    assert (found.facts["writer"], finding.severity) == (process.pid, "info")
    assert str(process.pid) in finding.message


def test_the_report_tells_busy_from_corrupt(database: pathlib.Path, start: Start) -> None:
    tamper(database, "PRAGMA journal_mode=DELETE")
    process = start(HOLD, database, "BEGIN EXCLUSIVE")
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    (finding,) = [finding for finding in report(database).findings if finding.severity == "error"]
    assert (finding.id, "doctor" in finding.suggestion) == ("BUSY", False)


def test_without_a_list_of_locks_no_writer_is_named(
    database: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "LOCKS", tmp_path / "absent")
    assert report(database).facts["writer"] is None


def test_the_report_on_a_rollback_journal_warns(database: pathlib.Path) -> None:
    tamper(database, "PRAGMA journal_mode=DELETE")
    assert only(report(database), "warning").id == "JOURNAL_MODE"


def test_the_report_on_normal_synchronous_says_what_that_means(database: pathlib.Path) -> None:
    assert only(report(database, synchronous="NORMAL"), "info").id == "SYNCHRONOUS"


def test_the_report_on_an_open_file_names_chmod(database: pathlib.Path) -> None:
    database.chmod(0o644)
    finding = only(report(database), "warning")
    assert (finding.id, finding.suggestion) == ("PERMISSIONS", f"chmod 600 {database}")


def test_the_report_for_a_user_who_may_only_read(
    template: pathlib.Path, open_folder: pathlib.Path, unprivileged: Unprivileged
) -> None:
    path = pathlib.Path(shutil.copy(template, open_folder / "orchestrator.db"))
    path.chmod(0o444)
    open_folder.chmod(0o555)
    found = unprivileged(lambda: [finding.id for finding in report(path).findings])
    assert found == ["PERMISSIONS", "READ_ONLY"]
    assert os.listdir(open_folder) == ["orchestrator.db"]


def test_every_problem_of_the_environment_has_a_sentence_and_a_command() -> None:
    path = "/a folder/x.db"
    made = [
        problems.no_database(path), problems.not_ours(path), problems.outdated(path, 0), problems.outdated(path, 1),
        problems.too_new(path, 9), problems.busy(path, 10.0), problems.read_only(path), problems.unread_log(path),
        problems.disk_full(path), problems.corrupt(path, "file is not a database"),
        problems.from_os(PermissionError(13, "denied"), path), problems.from_os(OSError(28, "no space"), path),
        problems.from_os(NotADirectoryError(20, "not a folder"), path),
    ]  # fmt: skip
    assert [problem.exit_code for problem in made] == [errors.EXIT_ENVIRONMENT] * len(made)
    assert [problem.message for problem in made if not problem.message.endswith(".")] == []
    assert [problem.code for problem in made if not problem.suggestion] == []
    assert "'/a folder/x.db'" in made[0].suggestion


@pytest.mark.parametrize("read", [declared_schema.declared, declared_schema.compared])
def test_what_is_declared_is_put_together_once_and_no_reader_alters_it(
    read: Callable[[], Mapping[declared_schema.Key, str]],
) -> None:
    assert read() is read()
    with pytest.raises(TypeError):
        read()["table", "sessions"] = ""  # type: ignore[index]
