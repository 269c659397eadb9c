"""P5 and P12: at most nine subagents, which only read, and four executors; who comes later waits in order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core.running import pools
from orchestrator.core.running.pools import Pool, Waiter
from orchestrator.errors import Refused


def held(level: str, count: int) -> Pool:
    places = pools.pool(level)
    for number in range(count):
        places = pools.ask(places, f"w{number}", number)
    return places


@pytest.mark.parametrize(("level", "capacity"), [("L1", 9), ("L2", 4)])
def test_p5_one_more_than_the_limit_waits_and_starts_on_release(level: str, capacity: int) -> None:
    full = pools.ask(held(level, capacity), "late", 50.0)
    assert (len(full.active), full.waiting) == (capacity, (Waiter("late", 50.0),))
    freed = pools.release(full, "w0")
    assert (freed.active[-1], len(freed.active), freed.waiting) == ("late", capacity, ())


def test_p5_without_waiting_a_full_pool_refuses_and_a_released_place_is_taken() -> None:
    full = held("L2", 4)
    with pytest.raises(Refused) as problem:
        pools.ask(full, "late", 0, wait=False)
    taken = pools.ask(pools.release(full, "w2"), "late", 0, wait=False)
    assert (problem.value.code, taken.active) == ("E404", ("w0", "w1", "w3", "late"))


def test_p5_a_subagent_may_not_write() -> None:
    with pytest.raises(Refused) as problem:
        pools.ask(pools.pool("L1"), "s", 0, writes=True)
    assert problem.value.code == "E402"


def test_p5_an_executor_may_write() -> None:
    assert pools.ask(pools.pool("L2"), "e", 0, writes=True).active == ("e",)


@pytest.mark.parametrize(("level", "capacity"), [("L1", 10), ("L1", 0), ("L2", 5), ("L2", -1)])
def test_p5_no_pool_is_larger_than_its_limit(level: str, capacity: int) -> None:
    with pytest.raises(Refused) as problem:
        pools.pool(level, capacity)
    assert problem.value.code == "E104"


@pytest.mark.parametrize("name", ["w0", "late"])
def test_p5_nobody_asks_twice(name: str) -> None:
    with pytest.raises(Refused) as problem:
        pools.ask(pools.ask(held("L2", 4), "late", 0), name, 0)
    assert problem.value.code == "E404"


def test_p5_who_holds_no_place_cannot_release_one() -> None:
    with pytest.raises(Refused) as problem:
        pools.release(held("L2", 2), "w7")
    assert problem.value.code == "E405"


def test_p5_who_waits_may_leave_the_queue() -> None:
    full = pools.ask(pools.ask(held("L2", 4), "one", 0), "two", 0)
    assert pools.release(full, "one").waiting == (Waiter("two", 0),)


def test_p12_who_waits_longer_than_the_timeout_is_named() -> None:
    full = pools.ask(pools.ask(held("L2", 4), "old", 10.0), "new", 60.0)
    assert (pools.overdue(full, 70.0, 60), pools.overdue(full, 70.1, 60)) == ((), ("old",))


moves = st.lists(st.tuples(st.booleans(), st.integers(0, 8)), max_size=40)


@given(moves, st.integers(1, 4))
def test_p5_random_asking_and_releasing_keeps_limit_order_and_every_waiter(
    taken: list[tuple[bool, int]], capacity: int
) -> None:
    places = pools.pool("L2", capacity)
    asked: list[str] = []
    for time, (asks, number) in enumerate(taken):
        name = f"w{number}"
        if asks == (name in asked):
            continue
        places = pools.ask(places, name, time) if asks else pools.release(places, name)
        asked = [*asked, name] if asks else [each for each in asked if each != name]
        assert [*places.active, *(each.name for each in places.waiting)] == asked
        assert len(places.active) == min(capacity, len(asked))
