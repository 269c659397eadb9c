"""Runs of agents' turns: each holds its group and its folder while it runs, and ends with what was seen of it."""

from __future__ import annotations

import pathlib

from alembic import op

from orchestrator.store import migrate

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

UP = pathlib.Path(__file__).with_suffix(".sql")
DOWN = UP.with_name(f"{UP.stem}_down.sql")
TABLE = "turn_runs"


def upgrade() -> None:
    for statement in migrate.statements(UP):
        op.get_bind().exec_driver_sql(statement)


def downgrade() -> None:
    """Put everything back as it was, unless that would lose a row."""
    migrate.refuse_loss(op.get_bind(), [TABLE])
    for statement in migrate.statements(DOWN):
        op.get_bind().exec_driver_sql(statement)
