"""P6 and P12: shared readers, one writer, all files or none, nobody forgotten, no circle of waiting."""

from __future__ import annotations

import contextlib
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core.running import locks
from orchestrator.core.running.locks import Lock, Request, Table
from orchestrator.errors import Refused

R, W = "read", "write"


def paths_of(table: Table, owner: str) -> list[str]:
    return [lock.path for lock in table.held if lock.owner == owner]


@pytest.mark.parametrize(("first", "second"), [(W, W), (W, R), (R, W)])
def test_p6_a_writer_is_alone(first: str, second: str) -> None:
    table = locks.acquire(Table(), "A", {"f": first})
    with pytest.raises(Refused) as problem:
        locks.acquire(table, "B", {"f": second})
    assert (problem.value.code, problem.value.data["holders"]) == ("E401", ["A"])


def test_p6_readers_share() -> None:
    table = locks.acquire(locks.acquire(Table(), "A", {"f": R}), "B", {"f": R})
    assert table.held == (Lock("f", R, "A"), Lock("f", R, "B"))


def test_p6_files_are_locked_in_order_and_released_in_reverse() -> None:
    table = locks.acquire(Table(), "A", {"z": W, "a": W, "m": R})
    after, freed = locks.release(table, "A")
    assert (paths_of(table, "A"), freed, after) == (["a", "m", "z"], ("z", "m", "a"), Table())


def test_p6_of_several_files_all_are_locked_or_none() -> None:
    table = locks.acquire(Table(), "A", {"m": W})
    with pytest.raises(Refused) as problem:
        locks.acquire(table, "B", {"a": W, "m": W, "z": W})
    assert (problem.value.code, paths_of(table, "B")) == ("E401", [])


@pytest.mark.parametrize(
    "wants", [{}, {"a": "append"}, {"a": R, "./a": W}], ids=["nothing", "unknown mode", "one file twice"]
)
def test_p6_what_cannot_be_asked_for_is_refused(wants: dict[str, str]) -> None:
    with pytest.raises(Refused) as problem:
        locks.acquire(Table(), "A", wants)
    assert problem.value.code == "E402"


def test_p6_two_spellings_are_one_file() -> None:
    with pytest.raises(Refused) as problem:
        locks.acquire(locks.acquire(Table(), "A", {"src/a": W}), "B", {"./src//a": R})
    assert problem.value.code == "E401"


def test_p6_part_of_the_locks_may_be_released() -> None:
    table, freed = locks.release(locks.acquire(Table(), "A", {"a": W, "b": W}), "A", ["./a"])
    assert (paths_of(table, "A"), freed) == (["b"], ("a",))


@pytest.mark.parametrize(("owner", "paths"), [("B", None), ("B", ["a"]), ("A", ["b"])], ids=str)
def test_p6_only_the_owner_releases(owner: str, paths: list[str] | None) -> None:
    with pytest.raises(Refused) as problem:
        locks.release(locks.acquire(Table(), "A", {"a": W}), owner, paths)
    assert problem.value.code == "E405"


def test_p6_a_lock_past_its_time_is_still_held_and_nothing_releases_it_by_itself() -> None:
    table = locks.acquire(Table(), "A", {"a": W}, expires_at=10.0)
    with pytest.raises(Refused) as taken:
        locks.acquire(table, "B", {"a": W})
    with pytest.raises(Refused) as released:
        locks.release_expired(table, 11.0)
    assert (taken.value.code, released.value.code, released.value.data) == ("E401", "E405", {"paths": ["a"]})


@pytest.mark.parametrize("expires", [None, 12.0])
def test_p6_without_a_lock_past_its_time_there_is_nothing_to_refuse(expires: float | None) -> None:
    table = locks.acquire(Table(), "A", {"a": W}, expires_at=expires)
    assert locks.release_expired(table, 11.0) is None  # type: ignore[func-returns-value]


def test_p6_writers_of_one_file_go_one_after_another() -> None:
    table = Table()
    for time, owner in enumerate("ABC"):
        table = locks.request(table, owner, {"f": W}, time)
    order = []
    while table.held:
        order.append(table.held[0].owner)
        table, _ = locks.release(table, order[-1])
    assert (order, table.waiting) == (["A", "B", "C"], ())


def test_p6_a_reader_that_comes_later_does_not_pass_a_waiting_writer() -> None:
    table = locks.request(locks.request(locks.request(Table(), "A", {"f": R}, 0), "B", {"f": W}, 1), "C", {"f": R}, 2)
    assert [each.owner for each in table.waiting] == ["B", "C"]
    with pytest.raises(Refused) as problem:
        locks.acquire(table, "D", {"f": R})
    assert problem.value.data["holders"] == ["B"]


def test_p6_who_waits_for_nothing_in_common_is_served_out_of_order() -> None:
    table = locks.request(locks.acquire(Table(), "A", {"f": W}), "B", {"f": W, "g": W}, 0)
    table = locks.request(table, "C", {"h": W}, 0)
    assert (paths_of(table, "C"), [each.owner for each in table.waiting]) == (["h"], ["B"])


def test_p6_a_reader_alone_may_become_the_writer_and_stays_one() -> None:
    table = locks.acquire(locks.acquire(Table(), "A", {"f": R}), "A", {"f": W})
    again = locks.acquire(table, "A", {"f": R})
    assert (table.held, again.held) == ((Lock("f", W, "A"),), (Lock("f", W, "A"),))


def test_p6_nobody_waits_twice() -> None:
    table = locks.request(locks.acquire(Table(), "A", {"f": W}), "B", {"f": W}, 0)
    with pytest.raises(Refused) as problem:
        locks.request(table, "B", {"g": W}, 1)
    assert problem.value.code == "E402"


def test_p6_what_a_dead_owner_held_and_waited_for_is_freed() -> None:
    table = locks.request(locks.acquire(Table(), "A", {"f": W, "g": W}), "B", {"f": W}, 0)
    table = locks.request(table, "C", {"g": W}, 0)
    gone = locks.abandoned(table, {"C"})
    for owner in gone:
        table = locks.forget(table, owner)
    assert (gone, table) == (("A", "B"), Table((Lock("g", W, "C"),)))


def test_p6_nothing_is_taken_from_the_living() -> None:
    table = locks.acquire(Table(), "A", {"f": W}, expires_at=0)
    assert locks.abandoned(table, ["A"]) == ()


def test_p12_a_circle_of_waiting_stops() -> None:
    table = locks.acquire(locks.acquire(Table(), "A", {"f1": W}), "B", {"f2": W})
    table = locks.request(table, "A", {"f2": W}, 0)
    with pytest.raises(Refused) as problem:
        locks.request(table, "B", {"f1": W}, 1)
    assert (problem.value.code, sorted(problem.value.data["cycle"])) == ("E403", ["A", "B"])


def test_p12_waiting_without_a_circle_is_no_deadlock() -> None:
    table = locks.request(locks.acquire(Table(), "A", {"f": W}), "B", {"f": W}, 0)
    assert (locks.waits_for(table), locks.find_cycle(locks.waits_for(table))) == ({"B": ("A",)}, ())


def test_p12_who_holds_a_lock_passes_those_that_wait_for_it() -> None:
    table = locks.request(locks.acquire(Table(), "A", {"f": W}), "B", {"f": W, "g": W}, 0)
    assert paths_of(locks.request(table, "A", {"g": W}, 1), "A") == ["f", "g"]


def test_p12_waiting_too_long_stops() -> None:
    table = Table(waiting=(Request("A", (("f", W),), 10.0), Request("B", (("f", W),), 60.0)))
    with pytest.raises(Refused) as problem:
        locks.check_overdue(table, 70.5, 60)
    assert (problem.value.code, problem.value.message) == ("E403", "A waited longer than 60 seconds.")


def test_p12_waiting_for_a_while_is_allowed() -> None:
    table = Table(waiting=(Request("A", (("f", W),), 10.0),))
    assert locks.check_overdue(table, 70.0, 60) is None  # type: ignore[func-returns-value]


graphs = st.dictionaries(st.integers(0, 5).map(str), st.lists(st.integers(0, 7).map(str), max_size=3), max_size=6)


def reaches(graph: dict[str, list[str]], start: str) -> set[str]:
    found: set[str] = set()
    ahead = list(graph.get(start, ()))
    while ahead:
        node = ahead.pop()
        if node not in found:
            found.add(node)
            ahead += graph.get(node, ())
    return found


@given(graphs)
def test_p12_a_circle_is_found_where_there_is_one(graph: dict[str, list[str]]) -> None:
    cycle = locks.find_cycle(graph)
    exists = any(node in reaches(graph, node) for node in graph)
    pairs = [*itertools.pairwise(cycle), *([(cycle[-1], cycle[0])] if cycle else [])]
    assert (bool(cycle), all(target in graph[source] for source, target in pairs)) == (exists, True)


def safe(table: Table) -> bool:
    """No file has a writer beside anybody else."""
    by_path: dict[str, list[Lock]] = {}
    for lock in table.held:
        by_path.setdefault(lock.path, []).append(lock)
    return all(len(each) == 1 or all(lock.mode == R for lock in each) for each in by_path.values())


wants = st.dictionaries(st.sampled_from("abc"), st.sampled_from([R, W]), min_size=1)
Moves = list[tuple[str, str, dict[str, str]]]
moves = st.lists(st.tuples(st.sampled_from("ABCD"), st.sampled_from(["ask", "take", "release", "die"]), wants))


def moved(table: Table, owner: str, move: str, files: dict[str, str], time: int) -> Table:
    if move == "release":
        return locks.release(table, owner)[0]
    if move == "die":
        return locks.forget(table, owner)
    return locks.request(table, owner, files, time) if move == "ask" else locks.acquire(table, owner, files)


@given(moves)
def test_p6_random_moves_never_give_two_writers_and_give_all_or_none(taken: Moves) -> None:
    table = Table()
    for time, (owner, move, files) in enumerate(taken):
        before = paths_of(table, owner)
        with contextlib.suppress(Refused):
            table = moved(table, owner, move, files, time)
        after = paths_of(table, owner)
        assert safe(table)
        assert move in ("release", "die") or set(files) <= set(after) or after == before


@given(moves)
def test_p6_random_moves_lose_no_waiter_and_let_nobody_wait_for_nothing(taken: Moves) -> None:
    table, wanted = Table(), dict[str, set[str]]()
    for time, (owner, move, files) in enumerate(taken):
        try:
            table = moved(table, owner, move, files, time)
        except Refused:
            continue
        if move == "ask":
            wanted[owner] = set(files)
        if move == "die":
            wanted.pop(owner, None)
        waiting = {each.owner: {path for path, _ in each.wants} for each in table.waiting}
        served = [each for each in wanted if each not in waiting]
        assert all(waiting[each] == wanted[each] for each in waiting)
        assert all(locks.waits_for(table).values())
        for each in served:
            assert wanted.pop(each) <= set(paths_of(table, each))
    for owner in {lock.owner for lock in table.held} | {each.owner for each in table.waiting}:
        table = locks.forget(table, owner)
    assert table == Table()
