"""What proves people besides tokens: passphrases, SSH keys, links, and what ended them."""

from __future__ import annotations

import pathlib

from alembic import op

from orchestrator.store import migrate

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

UP = pathlib.Path(__file__).with_suffix(".sql")
DOWN = UP.with_name(f"{UP.stem}_down.sql")
TABLE = "DROP TABLE "


def upgrade() -> None:
    for statement in migrate.statements(UP):
        op.get_bind().exec_driver_sql(statement)


def downgrade() -> None:
    """Put everything back as it was, unless that would lose a row."""
    statements = [statement.removesuffix(";") for statement in migrate.statements(DOWN)]
    migrate.refuse_loss(op.get_bind(), [each.removeprefix(TABLE) for each in statements if each.startswith(TABLE)])
    for statement in statements:
        op.get_bind().exec_driver_sql(statement)
