"""The steps between two versions of the schema, taken by Alembic on a connection of ours."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa
from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy.pool import StaticPool

from orchestrator import resources
from orchestrator.core.suggestions import local, sentence
from orchestrator.store import problems, sqlite


def revisions(folder: Path | None) -> list[str]:
    """The revisions of a folder of migrations, the oldest first; this program's own where none is given."""
    return sorted(each.revision for each in _scripts(folder).walk_revisions())


class Steps:
    """The steps on a connection that is attached to Alembic.

    Args:
        connection: ours. attached: the same for Alembic. script: where the steps stand.
    """

    def __init__(self, connection: sqlite.Connection, attached: sa.Connection, script: ScriptDirectory) -> None:
        self._connection, self._attached, self._script = connection, attached, script

    def take(self, revision: str, is_up: bool, copy: Path | None) -> None:
        """Take the steps from the present revision, in the transaction that is open.

        Args:
            revision: where they lead.
            is_up: whether it is a later one.
            copy: the copy that was made before, for the message where one of them fails.

        Raises:
            EnvironmentProblem: DISK_FULL, BUSY, CORRUPT, or MIGRATION_FAILED with the step and what stands in its way.
        """
        config = Config()
        config.attributes["connection"] = self._attached
        given = self._script._upgrade_revs if is_up else self._script._downgrade_revs
        try:
            with EnvironmentContext(config, self._script, fn=lambda present, _: given(revision, present)):
                self._script.run_env()
        except sa.exc.DBAPIError as error:
            cause = error.orig
            known = sqlite.translate(cause, self._connection.path) if isinstance(cause, sqlite3.Error) else None
            if known is not None:
                raise known from error
            found = _IN_THE_WAY.search(str(cause))
            step = self._step_after(sqlite.revisions(self._connection) or [])
            said = str(copy) if copy else None
            raise problems.failed_step(
                self._connection.path, step, str(cause), found and found[1], said
            ) from error

    def _step_after(self, done: list[str]) -> str:
        """The step that comes after those that are done: which of them failed."""
        taken = {up.revision for name in done for up in self._script.iterate_revisions(name, "base")}
        for each in reversed(list(self._script.walk_revisions())):
            if each.revision not in taken:
                return f"{each.revision} ({each.doc.rstrip('.')})" if each.doc else str(each.revision)
        return "after the last"


@contextmanager
def attached(connection: sqlite.Connection, folder: Path | None) -> Iterator[Steps]:
    """The steps of a folder on a connection. SQLAlchemy rolls back when it first connects, so this precedes the lock.

    Raises:
        EnvironmentProblem: CORRUPT, the file names a revision that this program does not know.
    """
    script = _scripts(folder)
    engine = sa.create_engine("sqlite://", creator=lambda: connection, poolclass=StaticPool)
    try:
        with engine.connect() as made, made.begin():
            yield Steps(connection, made, script)
    except sa.exc.DBAPIError as error:
        cause = error.orig
        raise (isinstance(cause, sqlite3.Error) and sqlite.translate(cause, connection.path)) or error from error
    except CommandError as error:
        what = sentence("its migrations do not match this program ({})", local(error))
        raise problems.corrupt(connection.path, what) from error


_IN_THE_WAY = re.compile(r"(?:named|table|view|index|trigger) \"?(\w+)\"?(?: already exists|$)")
"""What SQLite says where an object of a name is there already: "table x already exists", "... a table named x"."""


def _scripts(folder: Path | None) -> ScriptDirectory:
    return ScriptDirectory(str(folder or resources.path("migrations")))
