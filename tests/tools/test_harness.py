"""The measuring itself: what is compared, and how a figure is judged. No time is asserted."""

from __future__ import annotations

import itertools
import os
import pathlib
import sys

import pytest

from tools.benchmarks import harness, rows, table


def test_every_round_runs_each_case_once_after_one_unmeasured_call() -> None:
    calls: list[str] = []
    harness.interleaved({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, 11)
    assert calls == ["a", "b"] * 12


def test_the_least_time_of_all_rounds_counts() -> None:
    durations = itertools.chain([5.0, 2.0], itertools.repeat(3.0))
    ticks = itertools.chain.from_iterable((0.0, duration) for duration in durations)
    assert harness.interleaved({"a": lambda: None}, 11, lambda: next(ticks)) == {"a": 2.0}


def test_too_few_rounds_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 11"):
        harness.interleaved({"a": lambda: None}, 10)


def test_a_process_that_fails_is_no_measurement(tmp_path: pathlib.Path) -> None:
    case = harness.process((sys.executable, "-c", "raise SystemExit('no database')"), tmp_path, os.environ)
    with pytest.raises(harness.CommandFailed, match=r"exit 1 .*: no database"):
        case()


def test_an_expected_exit_code_is_a_measurement(tmp_path: pathlib.Path) -> None:
    case = harness.process((sys.executable, "-c", "raise SystemExit(2)"), tmp_path, os.environ, exits=(0, 2))
    assert case() is None


def test_prepared_calls_are_run_one_after_another(tmp_path: pathlib.Path) -> None:
    calls = [(sys.executable, "-c", f"open('{name}', 'w').close()") for name in ("first", "second")]
    case = harness.processes(calls, tmp_path, os.environ)
    case()
    assert [path.name for path in tmp_path.iterdir()] == ["first"]
    case()
    assert {path.name for path in tmp_path.iterdir()} == {"first", "second"}


def test_a_loop_never_gives_a_number_twice() -> None:
    seen: list[int] = []
    case = harness.loop(seen.append, 3)
    case()
    case()
    assert seen == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("bound", "ratio", "verdict"),
    [
        pytest.param(table.Bound(3.0, 2.6), 2.6, "goal", id="a cost at its goal"),
        pytest.param(table.Bound(3.0, 2.6), 3.0, "must", id="a cost at its limit"),
        pytest.param(table.Bound(3.0, 2.6), 3.01, "missed", id="a cost above its limit"),
        pytest.param(table.Bound(3, 5, at_least=True), 5.0, "goal", id="a gain at its goal"),
        pytest.param(table.Bound(3, 5, at_least=True), 3.0, "must", id="a gain at its limit"),
        pytest.param(table.Bound(3, 5, at_least=True), 2.9, "missed", id="a gain below its limit"),
    ],
)
def test_a_ratio_is_judged_by_its_bound(bound: table.Bound, ratio: float, verdict: str) -> None:
    assert bound.verdict(ratio) == verdict


@pytest.mark.parametrize(
    ("figure", "missed"),
    [
        pytest.param(table.Figure("m", "a", 9.0, table.Bound(3.0, 2.6)), True, id="worse than it must be"),
        pytest.param(table.Figure("m", "a", None, table.Bound(3.0, 2.6)), True, id="not measured"),
        pytest.param(table.Figure("m", "a", 2.9, table.Bound(3.0, 2.6)), False, id="as it must be"),
        pytest.param(table.Figure("m", "a", 9.0), False, id="shown only"),
    ],
)
def test_a_figure_that_misses_its_bound_fails_the_run(figure: table.Figure, missed: bool) -> None:
    assert table.missed(figure) is missed


def test_a_line_is_markdown() -> None:
    figure = table.Figure("cold `a|b`", "process", 2.345, table.Bound(3.0, 2.6))
    assert table.line(1, figure) == "| 1 | cold `a\\|b` | process | 2.35× | ≤ 3× | ≤ 2.6× | goal |"


def test_a_figure_that_could_not_be_measured_says_why() -> None:
    figure = table.Figure("cold `next`", "process", None, table.Bound(3.0, 2.6), "exit 64")
    assert table.line(2, figure) == "| 2 | cold `next` | process | not measured | ≤ 3× | ≤ 2.6× | exit 64 |"


def test_rows_are_numbered_once_and_in_order() -> None:
    found = [row.number for row in rows.ROWS]
    assert found == sorted(set(found))
