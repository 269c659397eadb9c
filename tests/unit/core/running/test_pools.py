"""P5 and P12: at most nine subagents, which only read, and four executors; who comes later waits in order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core.running import locks
from orchestrator.core.running.locks import Pool
from orchestrator.errors import Refused


def held(level: str, names: list[str]) -> Pool:
    places = Pool(level, locks.CAPACITIES[level])
    for name in names:
        places = locks.ask(places, name)
    return places


@pytest.mark.parametrize(("level", "capacity"), [("L1", 9), ("L2", 4)])
def test_p5_one_more_than_the_limit_waits_and_starts_on_release(level: str, capacity: int) -> None:
    names = [f"w{number}" for number in range(capacity)]
    full = locks.ask(held(level, names), "late")
    freed = locks.ask(held(level, names[1:]), "late")
    assert (len(full.active), full.waiting) == (capacity, ("late",))
    assert (freed.active[-1], len(freed.active), freed.waiting) == ("late", capacity, ())


def test_p5_without_waiting_a_full_pool_refuses() -> None:
    with pytest.raises(Refused) as problem:
        locks.ask(held("L2", list("abcd")), "late", wait=False)
    assert (problem.value.code, problem.value.data["running"]) == ("E404", list("abcd"))


def test_p5_nobody_passes_those_that_wait() -> None:
    waiting = Pool("L2", 4, ("a",), ("b",))
    assert locks.ask(waiting, "c").waiting == ("b", "c")


def test_p5_a_subagent_may_not_write() -> None:
    with pytest.raises(Refused) as problem:
        locks.ask(Pool("L1", 9), "s", writes=True)
    assert problem.value.code == "E402"


def test_p5_an_executor_may_write() -> None:
    assert locks.ask(Pool("L2", 4), "e", writes=True).active == ("e",)


@pytest.mark.parametrize("name", ["a", "late"])
def test_p5_nobody_asks_twice(name: str) -> None:
    with pytest.raises(Refused) as problem:
        locks.ask(locks.ask(held("L2", list("abcd")), "late"), name)
    assert problem.value.code == "E404"


@given(st.lists(st.integers(0, 12).map(str), unique=True), st.integers(1, 4))
def test_p5_asking_keeps_limit_and_order(names: list[str], capacity: int) -> None:
    places = Pool("L2", capacity)
    for name in names:
        places = locks.ask(places, name)
    assert (list(places.active), list(places.waiting)) == (names[:capacity], names[capacity:])
