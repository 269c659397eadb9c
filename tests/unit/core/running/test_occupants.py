"""Who keeps whom from a folder, between databases."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core.running import folder_claims
from orchestrator.core.running.folder_claims import Occupant

MINE = Occupant("1:1", "/x/a.db", "host:7:99", "task-1", since=5)
OTHER = Occupant("1:2", "/x/b.db", "host:of:colons:8:99", "task-2", since=9)


@pytest.mark.parametrize(
    ("mine", "others", "expected"),
    [
        pytest.param(MINE, [], [], id="nobody"),
        pytest.param(MINE, [OTHER], [OTHER], id="one of another database"),
        pytest.param(MINE, [OTHER._replace(database="1:1")], [], id="one of its own database"),
        pytest.param(MINE, [OTHER._replace(below="b/c")], [OTHER._replace(below="b/c")], id="one further down"),
        pytest.param(MINE._replace(below="b"), [OTHER], [OTHER], id="one further up"),
        pytest.param(MINE._replace(below="b"), [OTHER._replace(below="c")], [], id="a sibling"),
        pytest.param(MINE._replace(below="b"), [OTHER._replace(below="bc")], [], id="a sibling whose name goes on"),
        pytest.param(MINE, [OTHER._replace(waits=True)], [], id="who came to wait later"),
        pytest.param(
            MINE, [OTHER._replace(waits=True, since=4)], [OTHER._replace(waits=True, since=4)],
            id="who came to wait before",
        ),
        pytest.param(
            MINE, [MINE._replace(run="task-9"), OTHER._replace(waits=True, since=4)], [],
            id="who joins its own passes who waits",
        ),
        pytest.param(
            MINE, [MINE._replace(run="task-9", waits=True), OTHER._replace(waits=True, since=4)],
            [OTHER._replace(waits=True, since=4)], id="its own that waits are no reason to pass",
        ),
    ],
)  # fmt: skip
def test_p6_who_is_in_the_way(mine: Occupant, others: list[Occupant], expected: list[Occupant]) -> None:
    assert list(folder_claims.against(mine, others)) == expected


def test_a_sentence_names_run_database_and_process() -> None:
    assert folder_claims.described("/p", [OTHER, OTHER._replace(run="task-3", waits=True)]) == (
        "Runs of another database are in /p, or above or below it: task-2 of /x/b.db (running, process 8 on "
        "host:of:colons), task-3 of /x/b.db (waiting, process 8 on host:of:colons)."
    )


@given(st.builds(Occupant, *[st.text()] * 5, st.integers(), st.booleans()))
def test_p6_what_a_file_holds_is_read_as_it_was_written(occupant: Occupant) -> None:
    assert folder_claims.read(folder_claims.render(occupant)) == occupant


@pytest.mark.parametrize(
    "data",
    [
        b"", b"{", b"[]", b"{}", b"\xff", b'{"database":1,"path":"","owner":"","run":""}',
        b'{"database":"","path":"","owner":"","run":"","since":true}',
        b'{"database":"","path":"","owner":"","run":"","waits":0}',
        b'{"database":"","path":"","owner":"","run":"","more":0}',
    ],
)  # fmt: skip
def test_what_the_runner_does_not_write_says_nothing(data: bytes) -> None:
    assert folder_claims.read(data) is None


places = st.lists(st.sampled_from(["a", "b"]), max_size=3).map("/".join)
crowd = st.lists(
    st.builds(
        lambda database, below, since, waits: MINE._replace(database=database, below=below, since=since, waits=waits),
        st.sampled_from("xyz"), places, st.integers(0, 9), st.booleans(),
    ),
    min_size=2, max_size=6, unique_by=lambda each: each.since,
)  # fmt: skip


@given(crowd)
def test_p6_of_two_that_meet_and_are_of_two_databases_one_waits(every: list[Occupant]) -> None:
    first, second, *_ = every
    working = second._replace(waits=False)
    meets = folder_claims.meet(first, working) and first.database != working.database
    assert (
        bool(folder_claims.against(first, [working]))
        == meets
        == bool(folder_claims.against(working, [first._replace(waits=False)]))
    )


@given(crowd)
def test_p12_somebody_of_those_who_all_wait_may_go_on(every: list[Occupant]) -> None:
    waiting = [each._replace(waits=True) for each in every]
    assert [
        each for each in waiting if not folder_claims.against(each, [other for other in waiting if other is not each])
    ] != []
