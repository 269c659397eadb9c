"""P6 and P12: shared readers, one writer, all files or none, nobody forgotten, no circle of waiting."""

from __future__ import annotations

import contextlib
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core.running import locks
from orchestrator.core.running.locks import Lock, Table
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


def test_p6_files_are_locked_in_order() -> None:
    table = locks.acquire(Table(), "A", {"z": W, "a": W, "m": R})
    assert paths_of(table, "A") == ["a", "m", "z"]


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


def test_p6_writers_of_one_file_go_one_after_another() -> None:
    """Who is served next is asked again when the one before has gone."""
    owners, order = ["A", "B", "C"], []
    while owners:
        table = Table()
        for owner in owners:
            table = locks.request(table, owner, {"f": W})
        assert [each.owner for each in table.waiting] == owners[1:]
        order.append(table.held[0].owner)
        owners.remove(order[-1])
    assert order == ["A", "B", "C"]


@pytest.mark.parametrize(("held", "wanted", "free"), [("p", "p/a", False), ("p/a", "p", False), ("p", "pq", True)])
def test_p6_a_folder_is_locked_with_what_lies_below(held: str, wanted: str, free: bool) -> None:
    table = locks.request(locks.acquire(Table(), "A", {held: W}), "B", {wanted: R})
    assert locks.waits(table, "B") is not free


def test_p6_a_reader_that_comes_later_does_not_pass_a_waiting_writer() -> None:
    table = locks.request(locks.request(locks.request(Table(), "A", {"f": R}), "B", {"f": W}), "C", {"f": R})
    assert [each.owner for each in table.waiting] == ["B", "C"]
    with pytest.raises(Refused) as problem:
        locks.acquire(table, "D", {"f": R})
    assert problem.value.data["holders"] == ["B"]


def test_p6_who_waits_for_nothing_in_common_is_served_out_of_order() -> None:
    table = locks.request(locks.acquire(Table(), "A", {"f": W}), "B", {"f": W, "g": W})
    table = locks.request(table, "C", {"h": W})
    assert (paths_of(table, "C"), [each.owner for each in table.waiting]) == (["h"], ["B"])


def test_p6_a_reader_alone_may_become_the_writer_and_stays_one() -> None:
    table = locks.acquire(locks.acquire(Table(), "A", {"f": R}), "A", {"f": W})
    again = locks.acquire(table, "A", {"f": R})
    assert (table.held, again.held) == ((Lock("f", W, "A"),), (Lock("f", W, "A"),))


def test_p6_nobody_waits_twice() -> None:
    table = locks.request(locks.acquire(Table(), "A", {"f": W}), "B", {"f": W})
    with pytest.raises(Refused) as problem:
        locks.request(table, "B", {"g": W})
    assert problem.value.code == "E402"


def test_p12_a_circle_of_waiting_stops() -> None:
    table = locks.acquire(locks.acquire(Table(), "A", {"f1": W}), "B", {"f2": W})
    table = locks.request(table, "A", {"f2": W})
    with pytest.raises(Refused) as problem:
        locks.request(table, "B", {"f1": W})
    assert (problem.value.code, sorted(problem.value.data["cycle"])) == ("E403", ["A", "B"])


def test_p12_waiting_without_a_circle_is_no_deadlock() -> None:
    table = locks.request(locks.acquire(Table(), "A", {"f": W}), "B", {"f": W})
    assert (locks.waits_for(table), locks.find_cycle(locks.waits_for(table))) == ({"B": ("A",)}, ())


def test_p12_who_holds_a_lock_passes_those_that_wait_for_it() -> None:
    table = locks.request(locks.acquire(Table(), "A", {"f": W}), "B", {"f": W, "g": W})
    assert paths_of(locks.request(table, "A", {"g": W}), "A") == ["f", "g"]


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
Asked = list[tuple[str, dict[str, str]]]
asked = st.lists(st.tuples(st.sampled_from("ABCD"), wants))


@given(asked)
def test_p6_random_requests_never_give_two_writers_and_give_all_or_none(taken: Asked) -> None:
    table = Table()
    for owner, files in taken:
        before = paths_of(table, owner)
        with contextlib.suppress(Refused):
            table = locks.request(table, owner, files)
        after = paths_of(table, owner)
        assert safe(table)
        assert set(files) <= set(after) or after == before
        assert all(locks.waits_for(table).values())


@given(asked)
def test_p12_random_requests_never_close_a_circle(taken: Asked) -> None:
    table = Table()
    for owner, files in taken:
        with contextlib.suppress(Refused):
            table = locks.request(table, owner, files)
        assert locks.find_cycle(locks.waits_for(table)) == ()
