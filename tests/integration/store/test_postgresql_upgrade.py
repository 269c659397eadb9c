"""An older schema on a server is brought to this program's, whole or not at all.

Source: spec 90, section 1; spec 50, section 4.
"""

from __future__ import annotations

import contextlib
import lzma
import pathlib
from collections.abc import Iterator

import pytest

from orchestrator import bootstrap
from orchestrator.app import maintenance, setup
from orchestrator.app.kernel import operations
from orchestrator.errors import EnvironmentProblem
from orchestrator.store import constants, postgresql, schema_script, server
from tests import postgresql as servers

AT = "2026-01-01T00:00:00.000000Z"
OLDER = lzma.decompress(pathlib.Path(__file__).with_name("postgresql_17.sql.xz").read_bytes()).decode()
"""The statements by which the first program that knew servers created its schema."""


@pytest.fixture
def older(pg_folder: pathlib.Path, pg_template: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, str]]:
    """The URL of a database with the older schema, in which a session was begun, and its name."""
    name = "older"
    owner = servers.Connection(pg_folder)
    owner.run(f"CREATE DATABASE {name} OWNER {servers.TEAM};")
    statements = OLDER.removesuffix(";\n").split(";\n\n")
    monkeypatch.setattr(schema_script, "postgresql", lambda: tuple(statements))
    monkeypatch.setattr(constants, "SCHEMA_VERSION", 17)
    url = servers.address(pg_folder, name)
    server.create(url, AT, actor="system:router")
    monkeypatch.undo()
    try:
        yield url, name
    finally:
        owner.run(f"DROP DATABASE {name} WITH (FORCE);")
        owner.close()


CHANGES = """BEGIN; SET orchestrator.write = '1';
    DROP INDEX ix_refusals_turn; CREATE INDEX ix_old ON tasks (title);
    ALTER TABLE tasks DROP COLUMN claim_beat_at; ALTER TABLE agents DROP CONSTRAINT ck_agents_kind;
    ALTER TABLE run_files ADD CONSTRAINT ck_old CHECK (present >= 0);
    DROP TRIGGER runs_move_by_the_rules ON runs; DROP TABLE adoptions;
    UPDATE alembic_version SET version_num = '0016'; COMMIT;"""
"""What a later version may change, in the other direction."""
IN_THE_WAY = [
    ("CREATE VIEW own AS SELECT * FROM group_marks", "group_marks"),
    ("ALTER TABLE tasks ADD COLUMN own TEXT", "tasks"),
    ("ALTER TABLE agents DISABLE ROW LEVEL SECURITY, ENABLE ROW LEVEL SECURITY", "agents"),
]
"""What somebody has made in it that keeps it from becoming the declared one, and what is named then."""


def test_an_older_schema_becomes_the_declared_one_with_its_rows(
    older: tuple[str, str], pg_folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, name = older
    owner = servers.Connection(pg_folder, name)
    owner.run(CHANGES)
    with pytest.raises(EnvironmentProblem) as caught:
        bootstrap.open_context(url, write=False, door="test")
    assert caught.value.code == "SCHEMA_TOO_OLD"
    monkeypatch.setattr(postgresql, "FIRST", 16)
    with pytest.raises(EnvironmentProblem) as caught:
        bootstrap.open_context(url, write=False, door="test")
    assert (caught.value.code, "db upgrade" in caught.value.suggestion) == ("SCHEMA_TOO_OLD", True)
    for statement, named in IN_THE_WAY:
        owner.run(f"{statement};")
        with pytest.raises(EnvironmentProblem, match=named) as caught:
            maintenance.create_on_server(url, AT)
        assert (caught.value.code, server.current(url, 5.0)[1]) == ("SCHEMA_TOO_OLD", 16)
        owner.run("DROP VIEW IF EXISTS own; ALTER TABLE tasks DROP COLUMN IF EXISTS own;"
                  " ALTER TABLE agents DISABLE ROW LEVEL SECURITY;")  # fmt: skip
    moved = [maintenance.create_on_server(url, AT) for _ in range(2)]
    assert [(each["before"], each["after"]) for each in moved] == [
        (16, constants.SCHEMA_VERSION), (constants.SCHEMA_VERSION,) * 2
    ]  # fmt: skip
    assert maintenance.check_on_server(url, 5.0)["problems"] == []
    context = bootstrap.open_context(url, write=True, door="test")
    with contextlib.closing(context.connection):
        setup.initialise(context)
        operations.call(context, "session create", id="S1")
        found = operations.call(context, "audit verify")
        kinds = context.connection.execute("SELECT kind FROM audit_events WHERE seq < 3 ORDER BY rowid").fetchall()
    assert (found["findings"], kinds[:2]) == ([], [("migrate",), ("migrate",)])
    owner.close()

