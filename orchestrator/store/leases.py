"""Leases on a PostgreSQL server: which process is at work on what, by the clock of the database.

On one machine the system tells whether a process lives. Of a process on another machine only its lease tells: it is
renewed while the process lives, and whoever's lease has expired is taken for gone. Leases are no part of the record;
on a file there are none.

Source: spec 90, section 2.
"""

from __future__ import annotations

from orchestrator.core import names
from orchestrator.hints import Any

PROCESS = ""
"""What stands for the session in the lease of a process that works on no session as a whole."""
ALONE, HOST, SHARED = "alone", "host", "shared"
"""How a session is driven: beside nobody, beside drivers of the same machine, or beside everybody."""

_LIVES = "SELECT max(until) >= clock_timestamp() FROM leases WHERE owner = $1"
_TAKE_SESSION = "SELECT 1 FROM sessions WHERE id = $1 FOR UPDATE"
_OTHERS = """SELECT owner, mode FROM leases WHERE session_id = $1 AND owner <> $2 AND until >= clock_timestamp()
    ORDER BY owner"""
_TAKE = """INSERT INTO leases (owner, session_id, mode, until)
    VALUES ($1, $2, $3, clock_timestamp() + $4 * interval '1 millisecond')
    ON CONFLICT (owner, session_id) DO UPDATE SET mode = excluded.mode, until = excluded.until"""
_RENEW = """UPDATE leases SET until = clock_timestamp() + $3 * interval '1 millisecond'
    WHERE owner = $1 AND session_id = $2 AND until >= clock_timestamp()"""
_GIVE_BACK = "UPDATE leases SET until = '-infinity' WHERE owner = $1 AND session_id = $2"
_PURGE = """DELETE FROM leases WHERE until < clock_timestamp() AND owner <> $1
    AND NOT EXISTS (SELECT 1 FROM starts WHERE starts.owner = leases.owner AND ended_seq IS NULL)
    AND NOT EXISTS (SELECT 1 FROM turn_runs WHERE turn_runs.owner = leases.owner)
    AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.owner = leases.owner)"""


def lives(connection: Any, owner: str) -> bool | None:
    """Whether a lease of a process has not expired; None where it never had one."""
    found = connection.run(_LIVES, (owner,)).fetchone()
    return None if found is None or found[0] is None else bool(found[0])


def take(
    connection: Any, session: str, owner: str, mode: str, milliseconds: int, *, waits: bool, deadline_s: float
) -> tuple[tuple[str, str], ...] | None:
    """Take the lease of a session for a driver.

    Args:
        mode: ALONE, HOST or SHARED.
        waits: wait for a step of the session that is under way; else the session is skipped.

    Returns:
        Who holds leases of the session already, as owner and mode, where one of them excludes this; nothing was taken
        then. None where the session was skipped.
    """
    connection.run("BEGIN")
    try:
        connection.wait_for_locks(deadline_s)
        found = connection.run(_TAKE_SESSION + ("" if waits else " SKIP LOCKED"), (session,)).fetchone()
        if found is None and not waits:
            return None
        others = tuple((str(each), str(how)) for each, how in connection.run(_OTHERS, (session, owner)).fetchall())
        if any(excludes(owner, mode, *other) for other in others):
            return others
        connection.run(_TAKE, (owner, session, mode, milliseconds))
        connection.run(_PURGE, (owner,))
        connection.run("COMMIT")
        return ()
    finally:
        connection.rollback()


def take_own(connection: Any, owner: str, milliseconds: int) -> None:
    """Take, or take again, the lease of a process."""
    connection.run(_TAKE, (owner, PROCESS, SHARED, milliseconds))


def excludes(owner: str, mode: str, other: str, others_mode: str) -> bool:
    """Whether two drivers may not drive one session at the same time."""
    if ALONE in (mode, others_mode):
        return True
    return HOST in (mode, others_mode) and names.host_of(owner) != names.host_of(other)


def renew(connection: Any, session: str, owner: str, milliseconds: int) -> bool:
    """Put off the end of a lease; False where it has expired already, and others may have taken over."""
    return bool(connection.run(_RENEW, (owner, session, milliseconds)).rowcount)


def give_back(connection: Any, session: str, owner: str) -> None:
    """End a lease, so that others need not wait for its end."""
    connection.run(_GIVE_BACK, (owner, session))
