"""How Alembic reaches a database: over the connection, and in the transaction, that it is given.

`orchestrator db upgrade` and `downgrade` give it. From a shell, `alembic -x db=FILE check` and
`alembic -x db=FILE revision --autogenerate` compare a file with the declared schema; they open it for reading only.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import context
from sqlalchemy.pool import StaticPool

from orchestrator.store import schema, sqlite


def run(connection: sa.Connection) -> None:
    context.configure(connection=connection, target_metadata=schema.metadata, render_as_batch=True)
    with context.begin_transaction():
        context.run_migrations()


def set_version(connection: sa.Connection) -> None:
    """Keep the number that every start compares equal to the revision."""
    version = int(context.get_context().get_current_revision() or 0)
    connection.exec_driver_sql(f"PRAGMA user_version={version}")


def compare() -> None:
    path = context.get_x_argument(as_dictionary=True).get("db")
    if not isinstance(path, str):
        raise SystemExit("name the database: alembic -x db=FILE ...; versions are applied by `orchestrator db upgrade`")
    engine = sa.create_engine("sqlite://", creator=lambda: sqlite.open_file(path, write=False), poolclass=StaticPool)
    with engine.connect() as connection:
        run(connection)
    engine.dispose()


given = context.config.attributes.get("connection")
if given is None:
    compare()
else:
    run(given)
    set_version(given)
