"""Nobody makes a completed group by calling it imported: the door is the first step of a session, and then shut."""

from __future__ import annotations

import pathlib
import shutil
import sqlite3
import subprocess

import pytest

from orchestrator.store import guards_imported, sqlite, step
from tests.cases import every
from tests.integration.app import peer
from tests.integration.app.desk import Desk
from tests.integration.store import ledger

SESSION = peer.INCIDENT
TRIPWIRE = "no such function: orchestrator_write"
GROUP = (
    "task_groups (session_id, id, name, kind, created_by, created_at, created_seq,"
    " status, status_changed_by, status_changed_at, status_seq)"
)
PARTS = {
    "imported_sessions": "('{session}', {seq}, 'x', NULL, NULL, 'x', 'x')",
    "grandfathered_groups": "('{session}', '{group}', {seq}, 'x', 'completed', NULL)",
    "imported_logs": "('{session}', {seq}, 99, NULL, NULL, NULL, NULL, NULL, 'x', NULL)",
    "import_findings": "('{session}', {seq}, 99, NULL, 'x', 'x')",
    GROUP: "('{session}', '{group}', 'n', 'code', 'x', 't', {seq}, 'completed', NULL, 't', {seq})",
    GROUP + " ": "('{session}', '{group}', 'n', 'code', 'x', 't', {seq}, 'in_progress', NULL, 't', {seq})",
}
VERBS = ("INSERT", "REPLACE", "INSERT OR REPLACE", "INSERT OR IGNORE")
# A group of an imported session that is there or new, and the same of a session that was created here.
PLACES = {
    "over an imported group": (SESSION, "PAY"),
    "over a grandfathered one": (SESSION, "E2E-A"),
    "beside imported groups": (SESSION, "NEW"),
    "over a group of ours": ("S1", "A"),
    "beside groups of ours": ("S1", "NEW"),
}
INSERTS = [
    pytest.param(
        f"{verb} INTO {table} VALUES {values.format(session=session, group=group, seq=seq)}",
        id=f"{verb} {table.split('(')[0].strip()} {name}, step {seq}",
    )
    for verb in VERBS
    for table, values in PARTS.items()
    for name, (session, group) in PLACES.items()
    for seq in (1, 2)
]
UPSERTS = [
    pytest.param(
        f"INSERT INTO {table} VALUES {values.format(session=SESSION, group='PAY', seq=1)} ON CONFLICT DO {what}",
        id=f"upsert {table.split('(')[0].strip()} {what.split()[0].lower()}",
    )
    for table, values in PARTS.items()
    for what in ("NOTHING", "UPDATE SET seq = 1" if "task_groups" not in table else "UPDATE SET status = 'completed'")
]
UPDATES = {
    "the imported session": "UPDATE imported_sessions SET seq = 2",
    "the grandfathered group": "UPDATE OR REPLACE grandfathered_groups SET group_id = 'PAY' WHERE group_id = 'E2E-A'",
    "the log": "UPDATE imported_logs SET content = 'APPROVED'",
    "the findings": "UPDATE import_findings SET text = 'fine'",
    "the blocker": "UPDATE blockers SET cause = 'manual'",
    "the origin": "UPDATE task_groups SET created_seq = 9 WHERE id = 'PAY'",
}
DELETES = {name: f"DELETE FROM {name}" for name in list(PARTS)[:4]}
MOVES = {
    "a group at work": "UPDATE task_groups SET status = 'completed' WHERE id = 'PAY'",
    "a group at work, without a changer": "UPDATE task_groups SET status = 'completed', status_changed_by = NULL,"
    " status_seq = 1 WHERE id = 'PAY'",
    "a pending group": "UPDATE OR REPLACE task_groups SET status = 'completed' WHERE id = 'HELP'",
    "back to work": "UPDATE task_groups SET status = 'in_progress' WHERE id = 'E2E-A'",
}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A database with an imported session and one of its own."""
    folder = tmp_path_factory.mktemp("imported")
    desk = Desk(folder)
    desk.call("import peer", file=str(peer.incident(folder / "peer.db")))
    desk.planned("S1", "A")
    desk.context.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    desk.context.connection.close()
    return desk.path


@pytest.fixture
def file(kept: pathlib.Path, tmp_path: pathlib.Path) -> pathlib.Path:
    return pathlib.Path(shutil.copy(kept, tmp_path / "orchestrator.db"))


def refusal(file: pathlib.Path, sql: str, *, pretending: bool) -> str:
    """What a stranger is told, or one who has a write function of their own; nothing may have changed."""
    before = ledger.content(file)
    connection = sqlite3.connect(file)
    if pretending:
        ledger.register(connection)
    with pytest.raises(sqlite3.Error) as caught:
        connection.executescript(sql)
    connection.close()
    assert ledger.content(file) == before
    return str(caught.value)


@every("sql", [*INSERTS, *UPSERTS])
def test_a_stranger_inserts_nothing(file: pathlib.Path, sql: str) -> None:
    assert refusal(file, sql, pretending=False) == TRIPWIRE


@every("sql", [*INSERTS, *UPSERTS])
def test_one_who_has_the_write_function_inserts_nothing_either(file: pathlib.Path, sql: str) -> None:
    told = refusal(file, sql, pretending=True)
    assert told.partition(":")[0] in ("ALREADY_EXISTS", "IMPORT_CLOSED", "ILLEGAL_MOVE")


@pytest.mark.parametrize("sql", [pytest.param(sql, id=name) for name, sql in UPDATES.items()])
def test_imported_rows_stay_as_they_are(file: pathlib.Path, sql: str) -> None:
    assert refusal(file, sql, pretending=False) == TRIPWIRE
    assert refusal(file, sql, pretending=True).startswith("NEVER_CHANGED")


@pytest.mark.parametrize("sql", [pytest.param(sql, id=name) for name, sql in DELETES.items()])
def test_imported_rows_are_never_deleted(file: pathlib.Path, sql: str) -> None:
    for pretending in (False, True):
        assert refusal(file, sql, pretending=pretending).startswith("NEVER_DELETED")


@pytest.mark.parametrize("sql", [pytest.param(sql, id=name) for name, sql in MOVES.items()])
def test_imported_groups_move_by_the_rules_of_all_groups(file: pathlib.Path, sql: str) -> None:
    told = {refusal(file, sql, pretending=pretending).partition(":")[0] for pretending in (False, True)}
    assert told <= {"COMPLETION_PATH_MISSING", "ILLEGAL_MOVE", "STATUS_CHANGE_MISSING"}


def test_the_shell_is_told_the_same(file: pathlib.Path) -> None:
    shell = shutil.which("sqlite3")
    if shell is None:
        pytest.skip("the sqlite3 command is not installed")
    sql = f"INSERT INTO grandfathered_groups VALUES {PARTS['grandfathered_groups']}"
    done = subprocess.run(
        [shell, str(file), sql.format(session=SESSION, group="PAY", seq=1)],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert (done.returncode != 0, TRIPWIRE in done.stderr) == (True, True)


FORGED_SESSION: dict[str, step.Value] = {
    "kind": "orchestration", "mode": "parallel", "testing_mode": "full", "goal": "", "workflow_version_id": 1,
    "turn_timeout": 60, "disabled_roles": "", "created_by": "project_manager", "created_at": "t", "status": "active",
    "status_changed_at": "t", "status_seq": 1,
}  # fmt: skip
FORGED_GROUP: dict[str, step.Value] = {
    "name": "G", "kind": "code", "created_by": "x", "created_at": "t", "created_seq": 1, "status": "completed",
    "status_changed_at": "t", "status_seq": 1,
}  # fmt: skip


def _forge(connection: sqlite.Connection, kind: str) -> None:
    """A step that brings a session as if it were imported, sealed by an event of some kind."""
    with step.open_step(connection, "S9", "t") as one:
        one.insert("sessions", id="S9", **FORGED_SESSION)
        one.insert("imported_sessions", peer_id="x", source="x", source_hash="x")
        one.insert("grandfathered_groups", group_id="G", peer_id="G")
        one.insert("task_groups", id="G", **FORGED_GROUP)
        one.seal(kind, "project_manager", "process", {})


def test_no_other_step_brings_imported_rows(file: pathlib.Path) -> None:
    """The guards hold against the orchestrator's own use cases: a session that is imported says so in its event."""
    connection = sqlite.connect(file, write=True)
    with pytest.raises(sqlite3.IntegrityError, match="IMPORT_CLOSED"):
        _forge(connection, "session create")
    assert connection.execute("SELECT count(*) FROM sessions WHERE id = 'S9'").fetchone() == (0,)
    _forge(connection, guards_imported.EVENT)
    assert connection.execute("SELECT status FROM task_groups WHERE session_id = 'S9'").fetchone() == ("completed",)
    connection.close()


def test_a_completed_group_needs_its_grandfathered_row_even_in_an_import(file: pathlib.Path) -> None:
    connection = sqlite3.connect(file, isolation_level=None)
    ledger.register(connection)
    connection.execute("BEGIN")
    connection.execute(
        "INSERT INTO sessions (id, kind, mode, testing_mode, goal, workflow_version_id, turn_timeout, disabled_roles,"
        " created_by, created_at, status, status_changed_at, status_seq) VALUES"
        " ('S9', 'orchestration', 'simple', 'full', '', 1, 60, '', 'x', 't', 'active', 't', 1)"
    )
    connection.execute("INSERT INTO imported_sessions VALUES ('S9', 1, 'x', NULL, NULL, 'x', 'x')")
    values = PARTS[GROUP].format(session="S9", group="G", seq=1)
    with pytest.raises(sqlite3.IntegrityError, match="ILLEGAL_MOVE"):
        connection.execute(f"INSERT INTO {GROUP} VALUES {values}")
    with pytest.raises(sqlite3.IntegrityError, match="ILLEGAL_MOVE"):
        connection.execute(f"INSERT INTO {GROUP} VALUES {values.replace('NULL', repr('somebody'))}")
    connection.close()
