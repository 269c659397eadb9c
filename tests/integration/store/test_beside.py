"""Two connections that see one moment, and a thread that reads with the second one."""

from __future__ import annotations

import pathlib
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from orchestrator.errors import EnvironmentProblem
from orchestrator.store import parallel_reads, snapshot_read, sqlite

NUMBER = "PRAGMA user_version"
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


@pytest.fixture
def opened(database: pathlib.Path) -> Iterator[sqlite.Connection]:
    connection = sqlite.connect(database, write=False)
    yield connection
    connection.close()


def commit(path: pathlib.Path, number: int) -> None:
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute(f"{NUMBER} = {number}")
    writer.close()


def seen(*connections: sqlite3.Connection | None) -> list[int]:
    return [each.execute(NUMBER).fetchone()[0] for each in connections if each is not None]


def test_both_see_what_was_committed_before_and_nothing_after(
    opened: sqlite.Connection, database: pathlib.Path
) -> None:
    commit(database, 101)
    with snapshot_read.of_two(opened) as second:
        assert second is not None
        commit(database, 102)
        assert seen(opened, second) == [101, 101]
    assert not opened.in_transaction
    assert seen(opened) == [102]


def between(monkeypatch: pytest.MonkeyPatch, database: pathlib.Path, times: int) -> list[int]:
    """Commit whenever the first connection is about to begin after the second one, so many times."""
    numbers = [*range(200, 200 + times)]
    begin = snapshot_read._begin
    begun: list[sqlite3.Connection] = []

    def begin_late(connection: sqlite3.Connection) -> None:
        if begun and begun[-1] is not connection and numbers:
            commit(database, numbers.pop())
        begun.append(connection)
        begin(connection)

    monkeypatch.setattr(snapshot_read, "_begin", begin_late)
    return numbers


def test_a_commit_between_them_begins_both_anew(
    opened: sqlite.Connection, database: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = between(monkeypatch, database, 2)
    with snapshot_read.of_two(opened) as second:
        assert second is not None
        assert left == []
        assert seen(opened, second) == [200, 200]


def test_where_commits_never_stop_there_is_one_connection_in_one_moment(
    opened: sqlite.Connection, database: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = between(monkeypatch, database, 100)
    with snapshot_read.of_two(opened) as second:
        assert second is None
        assert left
        now = seen(opened)
        commit(database, 102)
        assert seen(opened) == now


def test_a_database_in_memory_has_no_second_connection() -> None:
    with snapshot_read.of_two(sqlite3.connect(":memory:", isolation_level=None)) as second:
        assert second is None


def test_inside_a_transaction_the_moment_is_its_own(opened: sqlite.Connection) -> None:
    opened.execute("BEGIN")
    with snapshot_read.of_two(opened) as second:
        assert second is None
    assert opened.in_transaction


def test_another_file_under_the_same_path_is_not_taken_for_this_one(
    opened: sqlite.Connection, database: pathlib.Path
) -> None:
    copy = database.with_name("copy.db")
    copy.write_bytes(database.read_bytes())
    copy.replace(database)
    with snapshot_read.of_two(opened) as second:
        assert second is None


def test_a_file_that_cannot_be_opened_twice_is_read_by_one(
    opened: sqlite.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*_: object, deadline: float, **__: object) -> None:
        assert deadline == 0
        raise EnvironmentProblem("BUSY", "held by another process", "wait")

    monkeypatch.setattr(sqlite, "open_file", busy)
    with snapshot_read.of_two(opened) as second:
        assert second is None
        assert opened.in_transaction


def test_the_second_one_reads_while_the_block_runs(opened: sqlite.Connection) -> None:
    block, reader = threading.Event(), threading.Event()

    def read(connection: sqlite3.Connection) -> None:
        assert connection is not opened
        reader.set()
        assert block.wait(10)

    with ExitStack() as stack:
        second = stack.enter_context(snapshot_read.of_two(opened))
        with parallel_reads.run(read, opened, second):
            assert reader.wait(10)
            block.set()


def test_without_a_second_one_the_first_is_read_before_the_block(opened: sqlite.Connection) -> None:
    read: list[sqlite3.Connection] = []
    with parallel_reads.run(read.append, opened, None):
        assert read == [opened]


def test_what_fails_beside_fails_for_the_caller(opened: sqlite.Connection) -> None:
    def fail(connection: sqlite3.Connection) -> None:
        connection.execute("SELECT missing")

    with (
        pytest.raises(sqlite3.OperationalError, match="no such column: missing"),
        snapshot_read.of_two(opened) as second,
        parallel_reads.run(fail, opened, second),
    ):
        pass


def test_a_block_that_fails_stops_every_statement_beside_it(opened: sqlite.Connection) -> None:
    ended: list[str] = []

    def endless(connection: sqlite3.Connection) -> None:
        for _ in range(2):
            with pytest.raises(sqlite3.OperationalError, match="interrupted"):
                connection.execute(ENDLESS).fetchone()
            ended.append("one")

    with (
        pytest.raises(KeyboardInterrupt),
        snapshot_read.of_two(opened) as second,
        parallel_reads.run(endless, opened, second),
    ):
        raise KeyboardInterrupt
    assert ended == ["one", "one"]
