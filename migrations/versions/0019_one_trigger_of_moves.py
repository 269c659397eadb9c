"""One trigger for all that is asked of a move to another status, so that less is read and compiled."""

from __future__ import annotations

import pathlib

from alembic import op

from orchestrator.store import migrate

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

UP = pathlib.Path(__file__).with_suffix(".sql")
DOWN = UP.with_name(f"{UP.stem}_down.sql")


def upgrade() -> None:
    for statement in migrate.statements(UP):
        op.get_bind().exec_driver_sql(statement)


def downgrade() -> None:
    """Put the triggers of each move back; no row is touched."""
    for statement in migrate.statements(DOWN):
        op.get_bind().exec_driver_sql(statement)
