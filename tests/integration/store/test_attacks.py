"""What a stranger with the database file can do to it: nothing.

Each statement is tried through three doors: the `sqlite3` shell, a bare connection of Python, and a connection that
pretends to be the orchestrator's own and brings false versions of SQLite's functions.
"""

from __future__ import annotations

import pathlib
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator

import pytest

from orchestrator.store import doctor, guards, maintenance, schema_diff, sqlite
from orchestrator.store.findings import Found
from tests.integration.store import ledger

TRIPWIRE = "no such function: orchestrator_write"
APPROVED = (
    "COMPLETION_PATH_MISSING: approved is not met: tech_lead APPROVED + MERGE_SUCCESS,"
    " or project_manager BAZINGA acknowledging the group"
)
CONFIRMED = APPROVED.replace("approved is", "confirmed is")
NOT_RECORDED = "STATUS_CHANGE_MISSING"
UNCHECKED = "PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF; PRAGMA recursive_triggers = OFF;"
COMPLETE = "UPDATE task_groups SET status = 'completed' WHERE id = 'G';"
TOUCH = "UPDATE task_groups SET status = status WHERE id = 'G';"
COLUMNS = (
    "session_id, id, name, kind, created_by, created_at, created_seq,"
    " status, status_changed_by, status_changed_at, status_seq"
)
ROW = "'S1', 'G', 'n', 'code', 'x', 't', 1, 'completed', 'x', 't', 1"
NEW_ROW = ROW.replace("'G'", "'NEW'")
REPORT = (
    "agent_reports (session_id, seq, group_id, role, agent_id, response_status, raw_role, raw_status, effect,"
    " turn_assumed, summary, details, reported_at)"
)
APPROVE = "('S1', 900, 'G', 'tech_lead', 'tech_lead', 'APPROVED', 'x', 'x', 'approve', 0, 's', '{}', 't')"

# Names of what is tried, the statements, what a stranger is told, and what one is told who can pass the tripwire.
ATTACKS = [
    ("update", "UPDATE task_groups SET status = 'completed' WHERE id = 'G'", APPROVED, APPROVED),
    ("update of all groups", "UPDATE task_groups SET status = 'completed'", APPROVED, APPROVED),
    (
        "update of a group that awaits confirmation",
        "UPDATE task_groups SET status = 'completed' WHERE id = 'MERGED'",
        CONFIRMED,
        CONFIRMED,
    ),
    (
        "update with its change columns",
        "UPDATE task_groups SET status = 'completed', status_changed_by = 'project_manager', status_seq = 99",
        APPROVED,
        APPROVED,
    ),
    *(
        (f"update or {verb}", f"UPDATE OR {verb} task_groups SET status = 'completed'", APPROVED, APPROVED)
        for verb in ("REPLACE", "IGNORE", "FAIL", "ABORT", "ROLLBACK")
    ),
    (
        "update from a query",
        "UPDATE task_groups SET status = v.s FROM (SELECT 'completed' AS s) v WHERE id = 'G'",
        APPROVED,
        APPROVED,
    ),
    (
        "update without checks and keys",
        "PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF; PRAGMA recursive_triggers = ON;"
        " UPDATE task_groups SET status = 'completed' WHERE id = 'G'",
        APPROVED,
        APPROVED,
    ),
    (
        "update behind a false view",
        "CREATE TEMP VIEW completion_paths AS SELECT 'S1' session_id, 'G' group_id, 1 valid, NULL missing;"
        " CREATE TEMP TABLE status_changes (session_id, seq, entity, entity_id, from_status, to_status, changed_by);"
        " UPDATE task_groups SET status = 'completed' WHERE id = 'G'",
        APPROVED,
        APPROVED,
    ),
    *(
        (
            f"update behind a temporary trigger that {name}",
            f"{UNCHECKED} CREATE TEMP TRIGGER x {event} ON task_groups BEGIN {body} END; {statement}",
            APPROVED,
            APPROVED,
        )
        for name, event, body, statement in (
            ("completes before the guard", "BEFORE UPDATE", COMPLETE, TOUCH),
            ("completes and ignores conflicts", "BEFORE UPDATE", COMPLETE.replace("UPDATE", "UPDATE OR IGNORE"), TOUCH),
            ("completes after the guard", "AFTER UPDATE", COMPLETE, TOUCH),
            ("completes while the guard judges", "BEFORE UPDATE", COMPLETE, COMPLETE),
            ("completes and skips the rest", "BEFORE UPDATE", f"{COMPLETE} SELECT RAISE(IGNORE);", COMPLETE),
        )
    ),
    *(
        (f"update with {name}", f"{pragmas} UPDATE task_groups SET status = 'completed' WHERE id = 'G'", told, told)
        for name, pragmas, told in (
            ("an untrusted schema", "PRAGMA trusted_schema = OFF;", APPROVED),
            ("a writable schema", "PRAGMA writable_schema = ON;", APPROVED),
            ("deferred keys", "PRAGMA defer_foreign_keys = ON;", APPROVED),
            ("old renaming rules", "PRAGMA legacy_alter_table = ON;", APPROVED),
            ("rows in another order", "PRAGMA reverse_unordered_selects = ON;", APPROVED),
            (
                "long names of columns",
                "PRAGMA full_column_names = ON; PRAGMA short_column_names = OFF;",
                "no such column",
            ),
        )
    ),
    ("update that returns rows", "UPDATE task_groups SET status = 'completed' RETURNING *", APPROVED, APPROVED),
    ("a status of bytes", f"{UNCHECKED} UPDATE task_groups SET status = x'636f6d706c65746564'", "ILLEGAL_MOVE",
     "ILLEGAL_MOVE"),
    ("no status", f"{UNCHECKED} UPDATE OR REPLACE task_groups SET status = NULL", "STATUS_CHANGE_MISSING",
     "STATUS_CHANGE_MISSING"),
    (
        "a status that was recorded before",
        "UPDATE task_groups SET (status, status_seq, status_changed_by) = (SELECT to_status, seq, changed_by"
        " FROM status_changes WHERE entity_id = 'REOPENED' AND to_status = 'completed') WHERE id = 'REOPENED'",
        "STATUS_CHANGE_MISSING: a later move has no earlier step",
        "STATUS_CHANGE_MISSING: a later move has no earlier step",
    ),
    ("update of the view", "UPDATE completion_paths SET valid = 1", "it is a view", "it is a view"),
    (
        "update with a further column",
        "UPDATE task_groups SET status = 'completed', awaited_role = NULL WHERE id = 'G'",
        TRIPWIRE,
        APPROVED,
    ),
    ("cancellation", "UPDATE task_groups SET status = 'cancelled'", NOT_RECORDED, NOT_RECORDED),
    (
        "deferral",
        "UPDATE task_groups SET status = 'deferred_external'",
        "DEFERRAL_NOT_CONFIRMED",
        "DEFERRAL_NOT_CONFIRMED",
    ),
    ("a status that is none", "UPDATE task_groups SET status = 'done'", "ILLEGAL_MOVE", "ILLEGAL_MOVE"),
    (
        "who changed it",
        "UPDATE task_groups SET status_changed_by = 'somebody'",
        NOT_RECORDED,
        NOT_RECORDED,
    ),
    ("another key", "UPDATE OR REPLACE task_groups SET id = 'G' WHERE id = 'MERGED'", TRIPWIRE, "NEVER_CHANGED"),
    ("another kind", "UPDATE task_groups SET kind = 'research'", TRIPWIRE, NOT_RECORDED),
    ("no security", "UPDATE task_groups SET security_sensitive = 0", TRIPWIRE, NOT_RECORDED),
    ("no tests", "UPDATE sessions SET testing_mode = 'disabled'", TRIPWIRE, NOT_RECORDED),
    ("end of the session", "UPDATE sessions SET status = 'ended', outcome = 'accepted'", TRIPWIRE, NOT_RECORDED),
    ("insert as completed", f"INSERT INTO task_groups ({COLUMNS}) VALUES ({NEW_ROW})", TRIPWIRE, "ILLEGAL_MOVE"),
    *(
        (verb.lower(), f"{verb} INTO task_groups ({COLUMNS}) VALUES ({ROW})", TRIPWIRE, "ALREADY_EXISTS|ILLEGAL_MOVE")
        for verb in ("INSERT OR REPLACE", "REPLACE", "INSERT OR IGNORE")
    ),
    *(
        (
            f"upsert that would {name}",
            f"INSERT INTO task_groups ({COLUMNS}) VALUES ({ROW.replace('completed', 'pending')}) {tail}",
            TRIPWIRE,
            "ALREADY_EXISTS",
        )
        for name, tail in (
            ("update", "ON CONFLICT DO UPDATE SET status = 'completed'"),
            ("do nothing", "ON CONFLICT DO NOTHING"),
        )
    ),
    ("delete", "DELETE FROM task_groups WHERE id = 'G'", "NEVER_DELETED", "NEVER_DELETED"),
    ("forged report over a true one", f"REPLACE INTO {REPORT} VALUES {APPROVE.replace('900', '{seq}')}", TRIPWIRE,
     "ALREADY_EXISTS"),
    (
        "forged report by its rowid",
        f"REPLACE INTO {REPORT.replace('(', '(rowid, ')} VALUES {APPROVE.replace('(', '(1, ')}",
        TRIPWIRE,
        "ALREADY_EXISTS",
    ),
    ("changed report", "UPDATE agent_reports SET effect = 'approve'", TRIPWIRE, "NEVER_CHANGED"),
    ("deleted report", "DELETE FROM agent_reports", "NEVER_DELETED", "NEVER_DELETED"),
    ("deleted move", "DELETE FROM status_changes", "NEVER_DELETED", "NEVER_DELETED"),
    ("deleted blocker", "DELETE FROM blockers", "NEVER_DELETED", "NEVER_DELETED"),
    ("blocker never opened", "UPDATE blockers SET group_id = NULL", TRIPWIRE, "NEVER_CHANGED"),
    ("blocker softened", "UPDATE blockers SET class = 'soft'", TRIPWIRE, "NEVER_CHANGED"),
    ("role of an agent", "UPDATE agents SET role = 'tech_lead'", TRIPWIRE, "NEVER_CHANGED"),
]  # fmt: skip
# These would be a true record for whoever passes the tripwire, so only a stranger is stopped here.
FORGERIES = [
    ("forged report", f"INSERT INTO {REPORT} VALUES {APPROVE}"),
    ("forged acknowledgement", "INSERT INTO acknowledgements VALUES ('S1', 900, 1, 'G', 'known')"),
    ("forged move", "INSERT INTO status_changes SELECT session_id, 900, part, entity, entity_id, 'in_progress',"
     " 'completed', changed_by, changed_at, reason, cause FROM status_changes LIMIT 1"),
    ("resolved blocker", "UPDATE blockers SET resolved_at = 't', resolved_seq = 900, resolution = 'accepted'"),
    ("dropped dependency", "UPDATE group_dependencies SET removed_seq = 900"),
    ("awaited role", "UPDATE task_groups SET awaited_role = NULL"),
    ("counters", "UPDATE task_groups SET qa_attempts = 0"),
    ("text", "INSERT INTO texts VALUES ('hash', 'content')"),
]  # fmt: skip


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[pathlib.Path, int]:
    """A file with a group that QA blocked, and one that was once blocked and awaits its confirmation; its last step."""
    path = tmp_path_factory.mktemp("attacked") / "orchestrator.db"
    written = ledger.Ledger(ledger.empty(path))
    written.group("MERGED", security=True)
    for role, effect in (("developer", "submit_test"), ("qa_expert", "block"), ("tech_lead", "approve")):
        written.report(role, effect, "MERGED")
    written.report("developer", "merge", "MERGED")
    written.group("REOPENED")
    written.reports(*ledger.CHAIN, group="REOPENED")
    written.complete("REOPENED")
    written.reopen("REOPENED")
    written.reports(*ledger.CHAIN, group="REOPENED")
    written.group("G", security=True)
    written.depend("MERGED", "G")
    written.undepend("MERGED", "G")
    written.depend("G", "MERGED")
    written.reports(("developer", "submit_test"), ("qa_expert", "block"))
    written.block()
    assert written.path("MERGED")["missing"] == "confirmed"
    written.connection.close()
    return path, written.seq


@pytest.fixture
def book(kept: tuple[pathlib.Path, int], tmp_path: pathlib.Path) -> Iterator[ledger.Ledger]:
    """A copy of the file, for a test of its own."""
    template, seq = kept
    copy = shutil.copy(template, tmp_path / "orchestrator.db")
    written = ledger.Ledger(ledger.prepared(sqlite3.connect(copy, isolation_level=None)), seq=seq)
    yield written
    written.connection.close()


@pytest.fixture
def shell() -> str:
    """The `sqlite3` command."""
    found = shutil.which("sqlite3")
    if found is None:
        pytest.skip("the sqlite3 command is not installed")
    return found


@pytest.fixture
def file(book: ledger.Ledger, tmp_path: pathlib.Path) -> pathlib.Path:
    return tmp_path / "orchestrator.db"


def through_the_shell(shell: str, file: pathlib.Path, sql: str) -> str:
    """Try statements in the shell, and return what it complains of."""
    done = subprocess.run(
        [shell, "-batch", "-bail", str(file), sql], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode != 0
    return done.stderr


def through_python(file: pathlib.Path, sql: str, *, pretending: bool = False) -> str:
    """Try statements through a connection of Python, and return what SQLite complains of."""
    connection = sqlite3.connect(file)
    if pretending:
        ledger.register(connection)
        for name in ("max", "min", "ifnull", "coalesce", "count", "abs", "iif", "nullif", "like", "glob", "instr"):
            connection.create_function(name, -1, lambda *_: 1)
    with pytest.raises(sqlite3.Error) as refusal:
        connection.executescript(sql)
    connection.close()
    return str(refusal.value)


def statement(book: ledger.Ledger, sql: str) -> str:
    return sql.replace("{seq}", str(book.seq - 1))


attacks = pytest.mark.parametrize(
    ("sql", "told"),
    [pytest.param(sql, stranger, id=name) for name, sql, stranger, _ in ATTACKS]
    + [pytest.param(sql, TRIPWIRE, id=name) for name, sql in FORGERIES],
)


@attacks
def test_the_shell_changes_nothing(book: ledger.Ledger, file: pathlib.Path, shell: str, sql: str, told: str) -> None:
    before = ledger.content(file)
    assert told in through_the_shell(shell, file, statement(book, sql))
    assert ledger.content(file) == before


@attacks
def test_a_bare_connection_changes_nothing(book: ledger.Ledger, file: pathlib.Path, sql: str, told: str) -> None:
    before = ledger.content(file)
    assert told in through_python(file, statement(book, sql))
    assert ledger.content(file) == before


@pytest.mark.parametrize(("sql", "told"), [pytest.param(sql, told, id=name) for name, sql, _, told in ATTACKS])
def test_false_functions_change_nothing(book: ledger.Ledger, file: pathlib.Path, sql: str, told: str) -> None:
    before = ledger.content(file)
    complaint = through_python(file, statement(book, sql), pretending=True)
    assert any(word in complaint for word in told.split("|"))
    assert ledger.content(file) == before


def test_even_a_valid_path_completes_nothing_without_its_row(book: ledger.Ledger, file: pathlib.Path) -> None:
    book.report("project_manager", "confirm", None)
    assert book.path("MERGED")["valid"] == 1
    before = ledger.content(file)
    complaint = through_python(file, "UPDATE task_groups SET status = 'completed' WHERE id = 'MERGED'")
    assert complaint.startswith(NOT_RECORDED)
    assert ledger.content(file) == before


def test_reading_needs_no_permission(file: pathlib.Path) -> None:
    connection = sqlite3.connect(file)
    found = connection.execute("SELECT group_id, missing FROM completion_paths ORDER BY group_id").fetchall()
    connection.close()
    assert found == [("G", "approved"), ("MERGED", "confirmed"), ("REOPENED", None)]


@pytest.mark.parametrize("pretending", [False, True])
def test_a_temporary_trigger_that_skips_the_row_changes_nothing(
    book: ledger.Ledger, file: pathlib.Path, pretending: bool
) -> None:
    before = ledger.content(file)
    connection = sqlite3.connect(file)
    if pretending:
        ledger.register(connection)
    connection.executescript(
        f"{UNCHECKED} CREATE TEMP TRIGGER x BEFORE UPDATE ON task_groups BEGIN SELECT RAISE(IGNORE); END; {COMPLETE}"
    )
    connection.close()
    assert ledger.content(file) == before


@pytest.mark.parametrize("pretending", [False, True])
def test_a_file_that_is_attached_judges_by_its_own_views_and_tables(
    book: ledger.Ledger, file: pathlib.Path, pretending: bool
) -> None:
    before = ledger.content(file)
    connection = sqlite3.connect(":memory:")
    if pretending:
        ledger.register(connection)
    connection.executescript(
        f"ATTACH '{file}' AS theirs; CREATE TABLE completion_paths AS SELECT 'S1' session_id, 'G' group_id, 1 valid,"
        " NULL missing; CREATE TABLE status_changes (session_id, seq, entity, entity_id, from_status, to_status,"
        f" changed_by); {UNCHECKED}"
    )
    with pytest.raises(sqlite3.IntegrityError, match=APPROVED.replace("+", r"\+")):
        connection.execute("UPDATE theirs.task_groups SET status = 'completed' WHERE id = 'G'")
    connection.close()
    assert ledger.content(file) == before


def test_no_guard_writes_anything_that_a_client_could_intercept() -> None:
    for name, sql in guards.TRIGGERS:
        body = sql.partition("\nBEGIN\n")[2]
        assert body.startswith("  SELECT "), name
        assert body.count(";") == 1 + body.count("';'"), name


# What changes the schema cannot be prevented; it is named afterwards, by whom and with which code.
TRACES = [
    ("a trigger is dropped", "DROP TRIGGER task_groups_completed_needs_path",
     ("TRIGGER_MISSING", "task_groups_completed_needs_path")),
    ("a trigger that does nothing", "DROP TRIGGER task_groups_completed_needs_path; CREATE TRIGGER"
     " task_groups_completed_needs_path BEFORE UPDATE OF status ON task_groups BEGIN SELECT 1; END",
     ("TRIGGER_ALTERED", "task_groups_completed_needs_path")),
    ("a view that says yes", "DROP VIEW completion_paths; CREATE VIEW completion_paths AS SELECT session_id,"
     " id AS group_id, 1 AS valid, NULL AS missing FROM task_groups", ("VIEW_ALTERED", "completion_paths")),
    ("the schema is written as a table", "PRAGMA writable_schema = ON; DELETE FROM sqlite_master"
     " WHERE name = 'task_groups_completed_needs_path'", ("TRIGGER_MISSING", "task_groups_completed_needs_path")),
    ("a renamed table", "ALTER TABLE task_groups RENAME TO old", ("TABLE_MISSING", "task_groups")),
    ("a table renamed there and back", "ALTER TABLE task_groups RENAME TO old; ALTER TABLE old RENAME TO task_groups",
     ("TABLE_ALTERED", "task_groups")),
    ("a renamed table by the old rules", "PRAGMA legacy_alter_table = ON; ALTER TABLE task_groups RENAME TO old;"
     " ALTER TABLE old RENAME TO task_groups", ("TABLE_ALTERED", "task_groups")),
    ("a further column", "ALTER TABLE task_groups ADD COLUMN more", ("TABLE_ALTERED", "task_groups")),
    ("a trigger that uses our connections", "CREATE TRIGGER uses AFTER INSERT ON agent_reports BEGIN"
     " INSERT INTO texts VALUES ('h', 'c'); END", ("SCHEMA_FOREIGN", "uses")),
    ("a dropped index", "DROP INDEX ix_blockers_open", ("INDEX_MISSING", "ix_blockers_open")),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "told"), [pytest.param(sql, told, id=name) for name, sql, told in TRACES])
def test_a_changed_schema_is_named(database: pathlib.Path, sql: str, told: tuple[str, str]) -> None:
    connection = sqlite3.connect(database)
    connection.executescript(sql)
    connection.close()
    assert told in [(problem.id, problem.subject) for problem in maintenance.check(database)]
    diagnosed = doctor.doctor(str(database), {}, database.parent)
    assert told in [(problem.id, problem.subject) for problem in diagnosed.findings]
    reading = sqlite.open_file(database, write=False)
    found = Found(str(database), 100)
    schema_diff.compare(reading, found)
    reading.close()
    assert told in [(each.code, each.subject) for each in found.kept]


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO alembic_version VALUES ('9999')",
        "UPDATE alembic_version SET version_num = '0001'",
        "DELETE FROM alembic_version",
    ],
)
def test_a_stranger_writes_no_version(database: pathlib.Path, statement: str) -> None:
    raw = sqlite3.connect(database)
    with pytest.raises(sqlite3.OperationalError, match="no such function: orchestrator_write"):
        raw.execute(statement)
    raw.close()
