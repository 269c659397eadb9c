"""A hand-off is kept in the row of its decision, where that starts one agent for its group; a view has all of them."""

from __future__ import annotations

import pathlib

from alembic import op

from orchestrator.store import migrate

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

UP = pathlib.Path(__file__).with_suffix(".sql")
DOWN = UP.with_name(f"{UP.stem}_down.sql")


def upgrade() -> None:
    for statement in migrate.statements(UP):
        op.get_bind().exec_driver_sql(statement)


def downgrade() -> None:
    """Put each hand-off into a row of its own again, in the order in which its step covers it; no row is lost."""
    for statement in migrate.statements(DOWN):
        op.get_bind().exec_driver_sql(statement)
