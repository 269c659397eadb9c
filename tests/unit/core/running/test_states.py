"""Statuses of executors and states of runs: how they merge, move and show."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable

import pytest
import transitions
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core import lifecycle, lifecycle_table
from orchestrator.core.running import states
from orchestrator.errors import Refused

statuses = st.sampled_from((*states.EXECUTOR_STATUSES, "DONE", ""))
several = st.lists(statuses, min_size=1, max_size=6)


@pytest.mark.parametrize("pair", list(itertools.product(range(5), repeat=2)), ids=str)
def test_p29_the_more_severe_of_two_statuses_wins(pair: tuple[int, int]) -> None:
    merged = states.merge(states.SEVERITY[place] for place in pair)
    assert merged == states.SEVERITY[max(pair)]


def test_the_order_of_severity_is_fixed() -> None:
    assert states.SEVERITY == ("COMPLETE", "INCOMPLETE", "NO_EVIDENCE", "ERROR", "INVALID")


@pytest.mark.parametrize(
    ("found", "started", "expected"),
    [
        pytest.param([], True, "COMPLETE", id="merely started"),
        pytest.param([], False, "NO_EVIDENCE", id="nothing, and more than started"),
        pytest.param(["BLOCKED"], False, "INCOMPLETE", id="blocked"),
        pytest.param(["COMPLETE", "DONE"], False, "ERROR", id="unknown"),
        pytest.param(["INVALID"], True, "INVALID", id="a session merely started can be invalid"),
    ],
)
def test_what_else_may_be_merged(found: list[str], started: bool, expected: str) -> None:
    assert states.merge(found, merely_started=started) == expected


@given(several, several, several)
def test_p29_merging_is_associative_and_commutative(one: list[str], two: list[str], three: list[str]) -> None:
    whole = states.merge(one + two + three)
    grouped = states.merge([states.merge(three + two), states.merge(one)])
    assert (whole, states.merge([whole, whole])) == (grouped, whole)


@given(several)
def test_p29_nothing_merges_to_less_than_it_holds(found: list[str]) -> None:
    rank = states.SEVERITY.index
    assert rank(states.merge(found)) == max(rank(states.merge([status])) for status in found)


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("COMPLETE", "complete"), ("INCOMPLETE", "incomplete"), ("NO_EVIDENCE", "incomplete"), ("ERROR", "error"),
        ("INVALID", "error"), ("BLOCKED", "incomplete"), ("anything", "error"),
    ],
)  # fmt: skip
def test_p38_a_status_shows_as_a_state(status: str, state: str) -> None:
    assert states.state_of(status) == state


@pytest.mark.parametrize(
    ("state", "word"),
    [
        ("complete", "COMPLETE"), ("incomplete", "INCOMPLETE"), ("error", "ERROR"), ("cancelled", "INCOMPLETE"),
        ("queued", None), ("running", None), ("awaiting_response", None), ("anything", None),
    ],
)  # fmt: skip
def test_p39_terminal_states_alone_have_a_word(state: str, word: str | None) -> None:
    assert (states.word_of(state), states.is_terminal(state)) == (word, word is not None)


def legal(check: Callable[[str, str], None], source: str, dest: str) -> bool:
    try:
        check(source, dest)
    except Refused as problem:
        return problem.code != "ILLEGAL_MOVE"
    return True


def test_p35_runs_move_by_the_table_and_no_further() -> None:
    every = itertools.product(states.STATES, repeat=2)
    assert {move for move in every if legal(lifecycle.check_run_move, *move)} == {
        ("queued", "running"), ("queued", "cancelled"),
        ("running", "complete"), ("running", "incomplete"), ("running", "error"),
        ("running", "awaiting_response"), ("running", "cancelled"),
        ("awaiting_response", "queued"), ("awaiting_response", "incomplete"), ("awaiting_response", "cancelled"),
    }  # fmt: skip


def test_p35_no_run_leaves_a_terminal_state() -> None:
    assert [move for move in lifecycle_table.RUN_MOVES if move[1] in states.TERMINAL] == []


def test_the_run_machine_has_no_other_triggers() -> None:
    machine, model = lifecycle.run_machine()
    names = {trigger for trigger, _, _ in lifecycle_table.RUN_MOVES}
    assert (set(machine.events), model.state, [name for name in dir(model) if name.startswith("to_")]) == (
        names, "queued", [],
    )  # fmt: skip


@given(st.lists(st.sampled_from(sorted({trigger for trigger, _, _ in lifecycle_table.RUN_MOVES})), max_size=8))
def test_p35_random_triggers_go_along_the_table_and_stop_at_its_ends(triggers: list[str]) -> None:
    _, model = lifecycle.run_machine()
    went = []
    for trigger in triggers:
        before = model.state
        with contextlib.suppress(transitions.MachineError):
            getattr(model, trigger)()
            went.append((trigger, before, model.state))
    assert set(went) <= set(lifecycle_table.RUN_MOVES)
    assert [move for move in went[:-1] if move[2] in states.TERMINAL] == []
