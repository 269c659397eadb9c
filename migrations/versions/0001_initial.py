"""The first schema: everything in the SQL file beside this one."""

from __future__ import annotations

import pathlib

from alembic import op

from orchestrator.store import migrate

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

SQL = pathlib.Path(__file__).with_suffix(".sql")
APPLICATION_ID = 0x4F524348


def upgrade() -> None:
    connection = op.get_bind()
    connection.exec_driver_sql(f"PRAGMA application_id={APPLICATION_ID}")
    for statement in migrate.statements(SQL):
        connection.exec_driver_sql(statement)


def downgrade() -> None:
    """Drop everything, unless that would lose a row. Triggers and indexes go with their tables."""
    connection = op.get_bind()
    migrate.refuse_loss(connection)
    created = [statement.split(maxsplit=3)[1:3] for statement in migrate.statements(SQL)]
    for wanted in ("VIEW", "TABLE"):
        for kind, name in reversed(created):
            if kind == wanted:
                connection.exec_driver_sql(f"DROP {kind} {name}")
