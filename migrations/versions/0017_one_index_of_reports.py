"""One index of a group's reports in place of three, so that a report writes two pages less."""

from __future__ import annotations

import pathlib

from alembic import op

from orchestrator.store import migrate

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

UP = pathlib.Path(__file__).with_suffix(".sql")
DOWN = UP.with_name(f"{UP.stem}_down.sql")


def upgrade() -> None:
    for statement in migrate.statements(UP):
        op.get_bind().exec_driver_sql(statement)


def downgrade() -> None:
    """Put the indexes and the lists of words back as they were; no row is touched."""
    for statement in migrate.statements(DOWN):
        op.get_bind().exec_driver_sql(statement)
