"""What is found where a column is another in all rows of a session, while a twin session still has what it had.

Each line of `moved_rows.txt` says what is written over one session of each pair, and how often which code is told of.
"""

from __future__ import annotations

import pathlib
import sqlite3
from collections.abc import Iterator

import pytest

from orchestrator.store import findings, gaps, verify_chain
from orchestrator.store.constants import STORE_CHAIN
from orchestrator.store.row_hashes import Span
from tests.integration.app import twins

pytestmark = pytest.mark.sqlite("the file is forged")

MOVED = pathlib.Path(__file__).with_name("moved_rows.txt")
SINCE = 30
"""The step after which is looked where a line says `later`."""
ALIKE = ("agents", "workflow_versions", "workflow_transitions", "workflow_activations", "agent_files")
"""Tables of no session: what is written over them is written over all rows."""


APART = """INSERT INTO standalone_handoffs SELECT * FROM handoffs EXCEPT SELECT * FROM standalone_handoffs;
    UPDATE router_decisions SET handoff = NULL, handoff_agent = NULL, handoff_group = NULL, handoff_group_hash = NULL"""


def lines() -> list[tuple[str, str]]:
    """What is written, and what is told of it."""
    return [(change, told) for change, _, told in (line.partition(" | ") for line in MOVED.read_text().splitlines())]


def numbered() -> list[str]:
    """For each line the table that it begins with, and its number in the file."""
    return [f"{changes.partition('.')[0]} {number}" for number, (changes, _) in enumerate(lines(), 1)]


@pytest.fixture(scope="module")
def world() -> Iterator[sqlite3.Connection]:
    """The twins, without guards; each hand-off in a row of its own, so that decisions are written over without them."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.deserialize(twins.world())
    connection.executescript("PRAGMA foreign_keys=OFF; PRAGMA ignore_check_constraints=ON")
    for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        connection.execute(f"DROP TRIGGER {name}")
    twins.changed_before(connection)
    connection.executescript(APART)
    yield connection
    connection.close()


def told(connection: sqlite3.Connection, since: int = 0) -> str:
    """How often which code is told of in the first of the twins and among what belongs to no session."""
    found, standing = findings.Found("file.db", 1000), findings.Found("file.db", 1000)
    for name in twins.STORIES:
        session = f"{name}1"
        verify_chain.relate(connection, Span(session, since), found)
        for each in gaps.standing(connection, session):
            standing.at(f"standing {each.kind}", session, each.seq, each.table, each.subject, each.text)
    verify_chain.relate(connection, Span(STORE_CHAIN), found)
    counts = sorted({**found.counts, **standing.counts}.items())
    return ", ".join(f"{code} {count}" for code, count in counts) or "nothing"


def moved(connection: sqlite3.Connection, changes: str) -> str:
    """What is told of changes, which are taken back; one that begins with `@` is made in the other twin."""
    given, later, _ = changes.partition(", later")
    connection.execute("BEGIN")
    try:
        for change in given.split("; "):
            place, _, assignment = change.lstrip("@").partition(".")
            key, twin = "id" if place == "sessions" else "session_id", 2 if change.startswith("@") else 1
            where = "" if place in ALIKE else f" WHERE {key} LIKE '%{twin}'"
            connection.execute(f"UPDATE OR IGNORE {place} SET {assignment}{where}")
        return told(connection, SINCE if later else 0)
    finally:
        connection.execute("ROLLBACK")


def test_the_twins_are_as_they_should_be(world: sqlite3.Connection) -> None:
    assert told(world) == "nothing"


@pytest.mark.parametrize(("changes", "expected"), lines(), ids=numbered())
def test_what_is_written_over_the_rows_is_told_of(changes: str, expected: str, world: sqlite3.Connection) -> None:
    assert moved(world, changes) == expected
