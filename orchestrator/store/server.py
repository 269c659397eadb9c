"""PostgreSQL databases, as what lies above asks for them; the driver is loaded by the first call."""

from __future__ import annotations

import contextlib

from orchestrator.core.suggestions import sentence
from orchestrator.errors import EnvironmentProblem
from orchestrator.hints import Any
from orchestrator.store import constants, sqlite


def connect(url: str, **settings: Any) -> Any:
    """A connection to a database of this program's schema, as `postgresql.connect` opens it.

    Raises:
        EnvironmentProblem: DATABASE_UNSUPPORTED, the driver is not installed; and as `postgresql.connect`.
    """
    return _loaded().connect(url, **settings)


def create(url: str, at: str, **settings: Any) -> tuple[int, int]:
    """Create the schema as `postgresql.create` does, or bring an older one to this program's version.

    Raises:
        EnvironmentProblem: as `postgresql.create` and `postgresql_upgrade.upgrade`.
    """
    postgresql = _loaded()
    _, before, program = current(url, settings.get("deadline", sqlite.DEADLINE_S))
    found: tuple[int, int]
    if postgresql.FIRST <= before < program:
        from orchestrator.store import postgresql_upgrade

        found = postgresql_upgrade.upgrade(url, at, **settings)
    else:
        found = postgresql.create(url, at, **settings)
    return found


def current(url: str, deadline_s: float) -> tuple[str, int, int]:
    """The database as it may be shown, and the schema versions of it and of this program."""
    postgresql = _loaded()
    connection = postgresql.open_server(url, write=False, deadline=deadline_s)
    try:
        return connection.path, postgresql.read_version(connection), constants.SCHEMA_VERSION
    finally:
        connection.close()


def filling(url: str, deadline_s: float, *, allow_superuser: bool) -> contextlib.AbstractContextManager[Any]:
    """A connection for the rows of a copy, as `postgresql.filling` gives it."""
    found: contextlib.AbstractContextManager[Any] = _loaded().filling(
        url, deadline_s, allow_superuser=allow_superuser
    )
    return found


def listener(url: str, deadline_s: float) -> Any:
    """What waits for the steps of everybody, by `wait(seconds)`."""
    postgresql = _loaded()
    connection = postgresql.open_server(url, write=False, deadline=deadline_s)
    connection.close()
    return connection.listener()


def check(url: str, deadline_s: float) -> tuple[str, list[Any]]:
    """What is wrong inside a database, as `server_checks.check` says."""
    return _checks().check(url, deadline_s)  # type: ignore[no-any-return]


def doctor(url: str, deadline_s: float) -> tuple[str, dict[str, Any], list[Any]]:
    """What is known of a database and its server, and what is wrong, as `server_checks.doctor` says."""
    return _checks().doctor(url, deadline_s)  # type: ignore[no-any-return]


def _checks() -> Any:
    _loaded()
    from orchestrator.store import server_checks

    return server_checks


def _loaded() -> Any:
    try:
        from orchestrator.store import postgresql
    except ImportError:
        raise EnvironmentProblem(
            "DATABASE_UNSUPPORTED",
            "PostgreSQL databases need a driver that is not installed.",
            sentence("pip install 'guarded-orchestrator[postgres]'"),
            scheme="postgresql",
        ) from None
    return postgresql
