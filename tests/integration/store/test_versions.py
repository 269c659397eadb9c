"""A database of an older version that is in use comes to the newest one and back, and keeps every row."""

from __future__ import annotations

import pathlib
import shutil
import sqlite3
from collections.abc import Callable
from typing import Any

import pytest

from orchestrator import errors, resources
from orchestrator.core.routing import facts
from orchestrator.store import (
    constants,
    declared_schema,
    findings,
    migrate,
    row_hashes,
    sqlite,
    sqlite_errors,
    table_metadata,
    verify_chain,
)
from tests.integration.app import peer
from tests.integration.app.desk import Desk
from tests.integration.store.conftest import AT

NEWEST = constants.SCHEMA_VERSION
Older = Callable[[pathlib.Path, str], None]
OLDER = sorted(path.name[:4] for path in (resources.path("migrations") / "versions").glob("*.py"))[:-1]


def contents(path: pathlib.Path) -> dict[str, list[Any]]:
    """Every row of every table, under the name by which it is read.

    Of the migrations' own marks only the events that tell of other things.
    """
    raw = sqlite3.connect(path)
    try:
        names = [row[0] for row in raw.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        found = {
            name: rows_of(raw, name)
            for name in {*names, *table_metadata.STORED_AS} - set(table_metadata.STORED_AS.values())
        }
    finally:
        raw.close()
    del found["alembic_version"]
    found["audit_events"] = [row for row in found["audit_events"] if row[2] != migrate.EVENT]
    return found


def rows_of(raw: sqlite3.Connection, table: str) -> list[Any]:
    described = raw.execute(f'PRAGMA table_xinfo("{table}")').fetchall()
    listed = ", ".join(f'"{row[1]}"' for row in described if row[1] not in table_metadata.STORED_WITH.get(table, ()))
    return sorted(map(filled, raw.execute(f'SELECT {listed} FROM "{table}"')), key=repr)


def filled(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """A row without the nulls at its end: a column that was added later is null in every older row."""
    last = len(row)
    while last and row[last - 1] is None:
        last -= 1
    return row[:last]


def objects(path: pathlib.Path) -> dict[declared_schema.Key, str]:
    connection = sqlite.open_file(path, write=False)
    try:
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return {key: declared_schema.normalised(sql) for key, sql in declared_schema.stored(connection).items()}
    finally:
        connection.close()


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> dict[int | str, pathlib.Path]:
    """A database in which a session was worked on, blocked, deferred, refused; with columns null and filled.

    By its version; the older ones are made when they are first asked for, so its decisions are of older rules.
    """
    desk = Desk(tmp_path_factory.mktemp("used"))
    desk.context.rules_version = facts.LEAN_SINCE - 1
    desk.planned("S1", "A", "B", "C", "D", "E")
    desk.report("developer READY_FOR_QA,qa_expert BLOCKED", "A", summary="quotes ' \" % and \U0001f600")
    desk.report("tech_lead UNBLOCKING_GUIDANCE", "A", details={"external": True, "external_dependency": "theirs"})
    desk.report("project_manager DEFER_EXTERNAL", "A", summary="not ours")
    desk.report("developer READY_FOR_REVIEW,tech_lead APPROVED,developer MERGE_SUCCESS", "B", details={"n": 0.5})
    desk.refused("group set-status", id="C", status="completed", session_id="S1", by="developer", reason="")
    desk.call("group set-status", id="C", status="cancelled", session_id="S1", by="project_manager", reason="no")
    desk.context.connection.close()
    return {NEWEST: desk.path}


@pytest.fixture
def used(kept: dict[int | str, pathlib.Path], tmp_path: pathlib.Path) -> pathlib.Path:
    """A database of this version that was worked with."""
    return pathlib.Path(shutil.copy(kept[NEWEST], tmp_path / "used.db"))


@pytest.fixture
def older(kept: dict[int | str, pathlib.Path]) -> Older:
    """Put in the place of the database the same one, taken back to a version, one after another."""

    def made(version: str) -> pathlib.Path:
        if version not in kept:
            source = kept[NEWEST] if version == OLDER[-1] else made(OLDER[OLDER.index(version) + 1])
            path = pathlib.Path(shutil.copy(source, kept[NEWEST].with_name(f"{version}.db")))
            migrate.downgrade(path, version, AT)
            kept[version] = path
        return kept[version]

    return lambda path, version: shutil.copy(made(version), path)


@pytest.mark.parametrize("version", OLDER)
def test_an_older_database_keeps_every_row(used: pathlib.Path, older: Older, version: str) -> None:
    expected, newest = contents(used), objects(used)
    older(used, version)
    old = contents(used)
    assert {name: old[name] for name in old} == {name: expected[name] for name in old}

    moved = migrate.upgrade(used, AT)

    assert (moved.before, moved.after) == (int(version), NEWEST)
    assert contents(used) == expected
    assert objects(used) == newest


def test_hand_offs_are_covered_as_before_wherever_a_version_stores_them(used: pathlib.Path, older: Older) -> None:
    """With each: how many are rows of their own, with their decision, and with the decision of another group."""

    def found() -> tuple[list[findings.Finding], tuple[int, ...]]:
        noted = findings.Found("used.db", 9)
        connection = sqlite.connect(used, write=False)
        verify_chain.verify(connection, row_hashes.Span(None), noted)
        places = connection.execute("""SELECT (SELECT count(*) FROM standalone_handoffs), count(handoff),
            count(handoff_group) FROM router_decisions""").fetchone()
        connection.close()
        return noted.kept, places

    assert found() == ([], (5, 6, 1))
    for version, places in (("0017", (7, 4, 0)), ("0015", (11, 0, 0))):
        older(used, version)
        migrate.upgrade(used, AT)
        assert found() == ([], places)


@pytest.mark.parametrize("version", OLDER)
def test_what_a_downgrade_leaves_is_what_the_older_program_made(
    used: pathlib.Path, older: Older, tmp_path: pathlib.Path, repository: pathlib.Path, version: str
) -> None:
    scripts = tmp_path / "older"
    shutil.copytree(repository / "migrations", scripts, ignore=shutil.ignore_patterns("__pycache__"))
    for file in (scripts / "versions").iterdir():
        if file.name[:4] > version:
            file.unlink()
    made = tmp_path / "made.db"
    migrate.upgrade(made, AT, scripts=scripts)

    older(used, version)

    assert objects(used) == objects(made)


def test_an_upgraded_database_works_and_its_guards_stand(used: pathlib.Path, older: Older) -> None:
    older(used, "0001")
    with pytest.raises(errors.EnvironmentProblem) as caught:
        sqlite.connect(used, write=True)
    assert caught.value.code == "SCHEMA_TOO_OLD"
    migrate.upgrade(used, AT)
    raw = sqlite3.connect(used)
    for statement in (
        "INSERT INTO criteria (session_id, id, text, created_by, created_at, created_seq, status)"
        " VALUES ('S1', 'X', 'x', 'x', 'x', 1, 'met')",
        "INSERT INTO evidence (session_id, seq, kind, subject, outcome, hash, size, content)"
        " VALUES ('S1', 1, 'x', 'x', 'x', 'x', 0, '')",
        "UPDATE sessions SET status = 'ended', outcome = 'accepted'",
    ):
        with pytest.raises(sqlite3.OperationalError, match=constants.WRITE_FUNCTION):
            raw.execute(statement)
    raw.close()


def test_a_downgrade_that_would_lose_criteria_or_evidence_names_them(tmp_path: pathlib.Path) -> None:
    desk = Desk(tmp_path)
    desk.context.rules_version = facts.LEAN_SINCE - 1
    desk.session("S1", "A")
    desk.call("criterion add", id="C1", session_id="S1", text="it runs")
    desk.context.connection.close()
    before, content = contents(desk.path), objects(desk.path)
    with pytest.raises(errors.EnvironmentProblem) as caught:
        migrate.downgrade(desk.path, "0001", AT)
    assert (caught.value.code, caught.value.data["rows"]) == ("DOWNGRADE_REFUSED", {"criteria": 1})
    assert (contents(desk.path), objects(desk.path)) == (before, content)


def test_a_downgrade_names_the_decisions_whose_answers_an_older_program_would_cut(tmp_path: pathlib.Path) -> None:
    desk = Desk(tmp_path)
    desk.planned("S1", "A")
    desk.report("developer READY_FOR_QA", "A")
    ((decisions,),) = desk.context.connection.execute("SELECT count(*) FROM router_decisions").fetchall()
    desk.context.connection.close()
    before, content = contents(desk.path), objects(desk.path)
    with pytest.raises(errors.EnvironmentProblem) as caught:
        migrate.downgrade(desk.path, "0014", AT)
    assert (caught.value.code, caught.value.data["rows"]) == ("DOWNGRADE_REFUSED", {"router_decisions": decisions})
    assert (contents(desk.path), objects(desk.path)) == (before, content)


def test_a_downgrade_that_would_lose_what_was_imported_names_it(tmp_path: pathlib.Path) -> None:
    desk = Desk(tmp_path)
    desk.context.rules_version = facts.LEAN_SINCE - 1
    desk.call("import peer", file=str(peer.incident(tmp_path / "peer.db")))
    desk.context.connection.close()
    before, content = contents(desk.path), objects(desk.path)
    with pytest.raises(errors.EnvironmentProblem) as caught:
        migrate.downgrade(desk.path, "0002", AT)
    assert (caught.value.code, caught.value.data["rows"]) == (
        "DOWNGRADE_REFUSED",
        {"grandfathered_groups": 3, "import_findings": 11, "imported_logs": 11, "imported_sessions": 2},
    )
    assert (contents(desk.path), objects(desk.path)) == (before, content)


# Marks that contradict each other


TRIPWIRES = "SELECT name FROM sqlite_master WHERE tbl_name = 'alembic_version' AND type = 'trigger'"


def stamp(path: pathlib.Path, *statements: str) -> None:
    raw = sqlite3.connect(path, isolation_level=None)
    for (name,) in raw.execute(TRIPWIRES).fetchall():
        raw.execute(f"DROP TRIGGER {name}")
    for statement in statements:
        raw.execute(statement)
    raw.close()


def refused(path: pathlib.Path) -> str:
    """The one sentence that both readers and writers get."""
    said = set()
    for write in (False, True):
        with pytest.raises(errors.EnvironmentProblem) as caught:
            sqlite.connect(path, write=write)
        assert caught.value.code == "CORRUPT"
        assert "orchestrator db restore FILE" in caught.value.suggestion
        said.add(caught.value.message)
    (message,) = said
    return message


@pytest.mark.parametrize("version", OLDER)
@pytest.mark.parametrize("both", [False, True], ids=["the number alone", "the mark of the migrations too"])
def test_an_older_file_that_says_to_be_of_this_version_is_refused(
    used: pathlib.Path, older: Older, version: str, both: bool
) -> None:
    older(used, version)
    mark = f"UPDATE alembic_version SET version_num = '{NEWEST:04}'"
    stamp(used, f"PRAGMA user_version={NEWEST}", *([mark] if both else []))
    message = refused(used)
    assert f"claims schema version {NEWEST}" in message
    assert ("it has the schema of another version" if both else f"its migrations say {version}") in message


@pytest.mark.parametrize("statement", ["DROP TABLE alembic_version", "DELETE FROM alembic_version"])
def test_a_file_without_the_mark_of_its_migrations_is_refused(used: pathlib.Path, statement: str) -> None:
    stamp(used, statement)
    assert "its migrations say none" in refused(used)


@pytest.mark.parametrize("version", range(1, NEWEST))
def test_a_file_that_says_to_be_older_than_it_is_is_not_upgraded(used: pathlib.Path, version: int) -> None:
    stamp(used, f"PRAGMA user_version={version}")
    before = contents(used)
    with pytest.raises(errors.EnvironmentProblem) as caught:
        migrate.upgrade(used, AT)
    assert caught.value.code == "CORRUPT"
    assert f"its migrations say {NEWEST:04}" in caught.value.message
    assert contents(used) == before
    # Nobody is sent to an upgrade or a repair that would be refused.
    assert f"its migrations say {NEWEST:04}" in refused(used)
    assert caught.value.suggestion == f"orchestrator db restore FILE --db {used}"


def test_a_schema_without_its_triggers_is_damaged_and_of_no_other_version(used: pathlib.Path) -> None:
    raw = sqlite3.connect(used)
    triggers = raw.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
    raw.close()
    stamp(used, *(f"DROP TRIGGER IF EXISTS {name}" for (name,) in triggers))
    sqlite.connect(used, write=True).close()


# A step of the migrations that fails


TABLE, VIEW = "CREATE TABLE {} (a)", "CREATE VIEW {} AS SELECT 1 AS a"
TRIGGER, INDEX = "CREATE TRIGGER {} AFTER INSERT ON texts BEGIN SELECT 1; END", "CREATE INDEX {} ON agents (role)"


def test_a_users_trigger_that_refuses_the_event_of_an_upgrade_is_named(used: pathlib.Path, older: Older) -> None:
    older(used, OLDER[-1])
    raw = sqlite3.connect(used, isolation_level=None)
    raw.execute("CREATE TRIGGER mine BEFORE INSERT ON audit_events BEGIN SELECT RAISE(ABORT, 'not today'); END")
    raw.close()
    before = contents(used)
    with pytest.raises(errors.EnvironmentProblem, match="not today") as caught:
        migrate.upgrade(used, AT)
    assert (caught.value.code, caught.value.data["object"], contents(used)) == ("MIGRATION_FAILED", "mine", before)
    assert sqlite_errors.environment_problem(RuntimeError(), used) is None, "an older file is not damaged"


@pytest.mark.parametrize(
    ("version", "name", "made"),
    [
        (2, "criteria", TABLE),
        (2, "evidence", VIEW),
        (3, "imported_sessions", TABLE),
        (4, "human_tokens", VIEW),
        (4, "ix_human_tokens_agent", INDEX),
        (5, "runs", TABLE),
        (5, "ix_runs_created", TABLE),
        (7, "projects", TABLE),
        (8, "sessions_insert_needs_orchestrator_and_new_key", TRIGGER),
        (10, "human_credentials", TABLE),
        (11, "ix_agent_reports_by_manager", INDEX),
        (12, "starts", TABLE),
        (12, "ix_starts_open", INDEX),
        (13, "turn_runs", TABLE),
    ],
)
def test_a_step_that_meets_a_users_object_says_which_and_changes_nothing(
    used: pathlib.Path, older: Older, version: int, name: str, made: str
) -> None:
    older(used, max(each for each in OLDER if each < f"{version:04}"))
    raw = sqlite3.connect(used, isolation_level=None)
    raw.execute(made.format(name))
    raw.close()
    before = contents(used)
    with pytest.raises(errors.EnvironmentProblem) as caught:
        migrate.upgrade(used, AT)
    problem = caught.value
    assert (problem.code, problem.exit_code) == ("MIGRATION_FAILED", 5)
    assert problem.data["step"].startswith(f"{version:04}")
    assert problem.data["object"] == name
    assert pathlib.Path(problem.data["backup"]).exists()
    assert problem.data["backup"] in problem.message
    assert problem.suggestion.startswith(f"rename or drop {name} in {used}, then orchestrator db upgrade")
    assert contents(used) == before
    raw = sqlite3.connect(used, isolation_level=None)
    raw.execute(f"DROP {made.split()[1]} {name}")
    raw.close()
    assert migrate.upgrade(used, AT).after == NEWEST
