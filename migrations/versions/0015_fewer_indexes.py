"""Two indexes of reports in place of twelve, and one of groups in progress that most steps leave as it is."""

from __future__ import annotations

import pathlib

from alembic import op

from orchestrator.store import migrate

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

UP = pathlib.Path(__file__).with_suffix(".sql")
DOWN = UP.with_name(f"{UP.stem}_down.sql")


def upgrade() -> None:
    for statement in migrate.statements(UP):
        op.get_bind().exec_driver_sql(statement)


def downgrade() -> None:
    """Put the indexes back as they were, unless a decision keeps only a part of its answer."""
    migrate.refuse_loss(op.get_bind(), unread={"router_decisions": "rules_version >= 6"})
    for statement in migrate.statements(DOWN):
        op.get_bind().exec_driver_sql(statement)
