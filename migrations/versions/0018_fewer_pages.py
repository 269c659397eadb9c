"""Fewer pages for a step that starts one agent, and a shorter look at what a group lacks to be complete."""

from __future__ import annotations

import pathlib

from alembic import op

from orchestrator.store import migrate

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

UP = pathlib.Path(__file__).with_suffix(".sql")
DOWN = UP.with_name(f"{UP.stem}_down.sql")


def upgrade() -> None:
    for statement in migrate.statements(UP):
        op.get_bind().exec_driver_sql(statement)


def downgrade() -> None:
    """Put each hand-off of a started group, and what its step covers with it, into a row of its own; no row is lost."""
    for statement in migrate.statements(DOWN):
        op.get_bind().exec_driver_sql(statement)
