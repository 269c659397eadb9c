"""Calls of a server that wait at the same time: one commit, answers after it, each refused or failed by itself."""

from __future__ import annotations

import pathlib
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from orchestrator import bootstrap, errors
from orchestrator.app import setup
from orchestrator.app.kernel import operations, shared_calls
from orchestrator.app.kernel.connection_pool import Pool
from orchestrator.app.kernel.context import Context
from orchestrator.store import shared_commit

SESSION = "S1"
WAIT_S = 20.0


class House:
    """A pool on a file with one session, what was committed through it, and a first call that others wait for."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self.commits: list[str] = []
        self.pool = Pool(self._open, shares_commits=True)
        self.has_begun, self.goes_on = threading.Event(), threading.Event()

    def _open(self, write: bool) -> Context:
        context = bootstrap.open_context(
            str(self.path), write=write, door="http", environment={"ORCHESTRATOR_BUSY_TIMEOUT": "0.4"}, shared=True,
            together=write,
        )  # fmt: skip
        context.connection.set_trace_callback(lambda sql: self.commits.append(sql) if sql == "COMMIT" else None)
        return context

    def call(self, words: str, **given: Any) -> dict[str, Any]:
        return self.pool.carried_out(lambda context: operations.call(context, words, **given), joins=True)

    def held(self, words: str, **given: Any) -> dict[str, Any]:
        """A call that works until it may go on."""

        def act(context: Context) -> dict[str, Any]:
            self.has_begun.set()
            assert self.goes_on.wait(WAIT_S)
            return operations.call(context, words, **given)

        return self.pool.carried_out(act, joins=True)

    def waiting(self) -> int:
        assert self.pool._together is not None
        return len(self.pool._together._waiting)

    def steps(self) -> list[tuple[int, str]]:
        with self.pool.lent() as context:
            sql = "SELECT seq, kind FROM audit_events WHERE session_id = ? ORDER BY seq"
            return context.connection.execute(sql, (SESSION,)).fetchall()


@pytest.fixture
def house(tmp_path: pathlib.Path) -> Iterator[House]:
    path = tmp_path / "orchestrator.db"
    setup.create_database(path, bootstrap.now())
    made = House(path)
    with made.pool.lent(write=True) as context:
        setup.initialise(context)
    made.call("session create", id=SESSION, goal="a goal")
    made.commits.clear()
    yield made
    made.goes_on.set()
    made.pool.close()


class Calls:
    """Calls in threads of their own: a first one that works, and others that wait for it."""

    def __init__(self, house: House, first: Callable[[], Any], others: Sequence[Callable[[], Any]]) -> None:
        self.found: list[Any] = [None] * (len(others) + 1)
        self._threads = [threading.Thread(target=self._run, args=each) for each in enumerate((first, *others))]
        self._threads[0].start()
        assert house.has_begun.wait(WAIT_S)
        for number, thread in enumerate(self._threads[1:], start=1):
            thread.start()
            until(lambda number=number: house.waiting() == number)  # type: ignore[misc]

    def _run(self, number: int, call: Callable[[], Any]) -> None:
        try:
            self.found[number] = call()
        except BaseException as problem:
            self.found[number] = problem

    def ended(self) -> list[Any]:
        for thread in self._threads:
            thread.join(WAIT_S)
            assert not thread.is_alive()
        return self.found


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + WAIT_S
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.001)


def groups(house: House, *ids: str) -> list[Callable[[], Any]]:
    return [lambda id=id: house.call("group create", id=id, session_id=SESSION, name=id) for id in ids]  # type: ignore[misc]


def behind_one(house: House, others: Sequence[Callable[[], Any]]) -> Calls:
    """Calls that wait while the first one makes group A."""
    return Calls(house, lambda: house.held("group create", id="A", session_id=SESSION, name="A"), others)


def test_those_that_wait_share_one_commit_and_each_is_a_step(house: House) -> None:
    calls = behind_one(house, groups(house, *"BCDE"))
    house.goes_on.set()
    assert [answer["group"]["id"] for answer in calls.ended()] == [*"ABCDE"]
    assert house.commits == ["COMMIT"] * 2  # the first was alone when it began
    assert house.steps() == [(1, "session create"), *((seq, "group create") for seq in range(2, 7))]


def test_a_call_that_nobody_waits_with_commits_by_itself(house: House) -> None:
    with house.pool.lent(write=True) as context:
        begun: list[str] = []
        context.connection.set_trace_callback(begun.append)
    house.call("group create", id="A", session_id=SESSION, name="A")
    assert [sql for sql in begun if "SAVEPOINT" in sql] == []


def test_none_is_answered_before_the_commit(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    settle, may_commit, is_asked = shared_commit.Connection.settle, threading.Event(), threading.Event()

    def late(self: shared_commit.Connection, deadline_s: float) -> None:
        if self.is_shared:
            is_asked.set()
            assert may_commit.wait(WAIT_S)
        settle(self, deadline_s)

    monkeypatch.setattr(shared_commit.Connection, "settle", late)
    calls = behind_one(house, groups(house, *"BC"))
    house.goes_on.set()
    assert is_asked.wait(WAIT_S)
    assert (calls.found[1:], len(house.steps())) == ([None, None], 2)
    may_commit.set()
    calls.ended()
    assert len(house.steps()) == 4


def test_one_that_is_refused_or_fails_takes_back_its_own_rows_alone(house: House) -> None:
    def fails(context: Context) -> None:
        operations.call(context, "group create", id="X", session_id=SESSION, name="x", complexity=99)

    def breaks(context: Context) -> None:
        raise KeyboardInterrupt

    others = [
        *groups(house, "B"), lambda: house.call("group create", id="B", session_id=SESSION, name="again"),
        lambda: house.pool.carried_out(fails, joins=True), lambda: house.pool.carried_out(breaks, joins=True),
        *groups(house, "C"),
    ]  # fmt: skip
    calls = behind_one(house, others)
    house.goes_on.set()
    found = [answer if isinstance(answer, BaseException) else answer["group"]["id"] for answer in calls.ended()]
    assert (found[:2], found[5]) == (["A", "B"], "C")
    assert [getattr(each, "code", type(each).__name__) for each in found[2:5]] == [
        "ALREADY_EXISTS", "IntegrityError", "KeyboardInterrupt",
    ]  # fmt: skip
    with house.pool.lent() as context:
        assert [id for (id,) in context.connection.execute("SELECT id FROM task_groups ORDER BY id")] == [*"ABC"]


def test_where_the_commit_fails_all_are_told_and_nothing_is_on_record(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: shared_commit.Connection) -> None:
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorcode, error.sqlite_errorname = sqlite3.SQLITE_FULL, "SQLITE_FULL"
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(shared_commit.Connection, "_commit", full)
        refused = lambda: house.call("group create", id="B", session_id=SESSION, name="again")  # noqa: E731
        others = [*groups(house, *"BC"), refused]
        calls = behind_one(house, others)
        house.goes_on.set()
        told = calls.ended()[1:]
    assert [(type(each), each.code) for each in told] == [(errors.EnvironmentProblem, "DISK_FULL")] * 3
    assert len({id(each) for each in told}) == 3
    assert house.steps() == [(1, "session create"), (2, "group create")]
    house.call("group create", id="B", session_id=SESSION, name="B")
    assert house.steps()[-1] == (3, "group create")


def test_while_another_process_writes_each_is_told_in_its_time(house: House) -> None:
    holder = sqlite3.connect(house.path, isolation_level=None)
    calls = behind_one(house, groups(house, *"BCDE"))
    holder.execute("BEGIN IMMEDIATE")
    began = time.monotonic()
    house.goes_on.set()
    assert [each.code for each in calls.ended()] == ["BUSY"] * 5
    assert time.monotonic() - began < 5 * 0.4
    holder.close()


def test_of_many_a_commit_takes_no_more_than_its_number(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_calls, "MOST_TOGETHER", 2)
    monkeypatch.setattr(shared_calls, "LOCK_S", 60.0)
    calls = behind_one(house, groups(house, *"BCDE"))
    house.goes_on.set()
    calls.ended()
    assert len(house.commits) == 3


def test_one_that_does_more_than_its_step_or_tries_shares_none(house: House) -> None:
    calls = behind_one(house, groups(house, "B"))
    for how in ({"joins": False}, {"joins": True, "trial": True}):
        assert house.pool.carried_out(lambda context: context.connection.joins, **how) is False  # waits for nobody
    house.goes_on.set()
    calls.ended()


def test_nothing_of_a_caller_stays_for_the_next_one(house: House) -> None:
    ways: list[Any] = []

    def known(context: Context) -> None:
        ways.append(context.via)
        context.via = "a token"

    def first(context: Context) -> None:
        house.has_begun.set()
        house.goes_on.wait(WAIT_S)
        known(context)

    others = [lambda: house.pool.carried_out(known, joins=True)] * 3
    calls = Calls(house, lambda: house.pool.carried_out(first, joins=True), others)
    house.goes_on.set()
    calls.ended()
    assert ways == [None] * 4
