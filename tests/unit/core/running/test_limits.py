"""P14, P17: how large a task may be, and how it is split."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core.running import limits
from orchestrator.core.running.limits import Piece, TaskLimits, Violation
from orchestrator.errors import Refused

AT = "2025-01-01T00:00:00.000Z"


@pytest.mark.parametrize(
    ("settings", "actual", "found"),
    [
        pytest.param(TaskLimits(files=2), {"files": 3}, [Violation("max_files", 2, 3, AT)], id="P14 third file of 2"),
        pytest.param(TaskLimits(seconds=30), {"seconds": 31}, [Violation("max_seconds", 30, 31, AT)], id="P17 31"),
        pytest.param(TaskLimits(), {"files": 5, "tests": 10, "seconds": 300}, [], id="at the limits"),
        pytest.param(
            TaskLimits(), {"files": 6, "tests": 11, "seconds": 301, "other": 9},
            [
                Violation("max_files", 5, 6, AT), Violation("max_tests", 10, 11, AT),
                Violation("max_seconds", 300, 301, AT),
            ],
            id="all of them",
        ),
    ],
)  # fmt: skip
def test_p17_every_broken_limit_is_a_violation(
    settings: TaskLimits, actual: dict[str, int], found: list[Violation]
) -> None:
    assert limits.violations(settings, actual, AT) == found


def test_p14_a_task_that_fits_is_one_part() -> None:
    pieces = [Piece(("a",), 1, 2, 10), Piece(("b",), 4, 8, 290)]
    assert limits.split(TaskLimits(), pieces, AT) == (tuple(pieces),)


def test_p14_a_larger_task_is_split_so_that_each_part_fits() -> None:
    pieces = [Piece(("a",), 3), Piece(("b",), 2), Piece(("c",), 1), Piece(("d",), 0, 0, 300)]
    assert limits.split(TaskLimits(), pieces, AT) == ((pieces[0], pieces[1]), (pieces[2], pieces[3]))


def test_p14_nothing_to_do_needs_no_part() -> None:
    assert limits.split(TaskLimits(), [], AT) == ()


def test_p14_a_piece_that_cannot_be_split_and_does_not_fit_is_refused() -> None:
    with pytest.raises(Refused) as problem:
        limits.split(TaskLimits(), [Piece(("a",)), Piece(("b",), files=6)], AT)
    assert (problem.value.code, problem.value.message) == ("E206", "The task is over its limits: max_files 6 of 5.")


pieces = st.builds(Piece, st.tuples(st.text("abc")), st.integers(0, 6), st.integers(0, 11), st.integers(0, 310))


@given(st.lists(pieces, max_size=12))
def test_p14_parts_fit_and_lose_nothing_or_a_piece_does_not_fit(given_: list[Piece]) -> None:
    if any(limits.violations(TaskLimits(), each._asdict(), AT) for each in given_):
        with pytest.raises(Refused, match="over its limits"):
            limits.split(TaskLimits(), given_, AT)
        return
    parts = limits.split(TaskLimits(), given_, AT)
    fits = all(
        sum(piece.files for piece in part) <= 5
        and sum(piece.tests for piece in part) <= 10
        and sum(piece.seconds for piece in part) <= 300
        for part in parts
    )
    assert (fits, [piece for part in parts for piece in part]) == (True, given_)
