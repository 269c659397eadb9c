"""Descriptions of groups, criteria that come with a plan, and which agent was started for which turn."""

from __future__ import annotations

import pathlib

from alembic import op

from orchestrator.store import migrate

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

UP = pathlib.Path(__file__).with_suffix(".sql")
DOWN = UP.with_name(f"{UP.stem}_down.sql")
TABLES = ("starts", "adoptions")
COLUMNS = {"task_groups": ("description",), "criteria": ("group_id", "due_at", "approval")}
"""The columns that hold what an older schema has no place for."""


def upgrade() -> None:
    for statement in migrate.statements(UP):
        op.get_bind().exec_driver_sql(statement)


def downgrade() -> None:
    """Put everything back as it was, unless that would lose a row, or what stands in a column."""
    migrate.refuse_loss(op.get_bind(), TABLES, COLUMNS)
    for statement in migrate.statements(DOWN):
        op.get_bind().exec_driver_sql(statement.removesuffix(";"))
