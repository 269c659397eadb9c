"""P29: the exit code is a function of what became of the runs."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core.running import exits, states


@pytest.mark.parametrize(
    ("outcomes", "flags", "code"),
    [
        pytest.param([], {}, 0, id="only started and left"),
        pytest.param(["complete", "complete"], {}, 0, id="all complete"),
        pytest.param(["complete", "error", "incomplete"], {}, 1, id="an error goes before all"),
        pytest.param(["complete", "incomplete"], {}, 2, id="incomplete"),
        pytest.param(["cancelled"], {}, 2, id="cancelled"),
        pytest.param(["awaiting_response"], {}, 2, id="awaiting"),
        pytest.param(["anything"], {}, 1, id="unknown"),
        pytest.param([], {"command_failed": True}, 1, id="unknown command"),
        pytest.param(["complete"], {"interrupted": True}, 2, id="interrupted"),
        pytest.param(["error"], {"interrupted": True}, 1, id="an error goes before an interruption"),
    ],
)
def test_p29_the_exit_code_is_that_of_the_worst(outcomes: list[str], flags: dict[str, bool], code: int) -> None:
    assert exits.exit_code(outcomes, **flags) == code


some = st.lists(st.sampled_from([*states.STATES, "other"]), max_size=8)


@given(some, st.booleans(), st.booleans(), st.randoms())
def test_p29_the_order_of_the_runs_does_not_count(
    outcomes: list[str], failed: bool, interrupted: bool, order: random.Random
) -> None:
    mixed = list(outcomes)
    order.shuffle(mixed)
    codes = {exits.exit_code(each, command_failed=failed, interrupted=interrupted) for each in (outcomes, mixed)}
    assert (len(codes), codes <= {0, 1, 2}) == (1, True)


@given(some)
def test_p29_zero_means_that_everything_is_complete(outcomes: list[str]) -> None:
    assert (exits.exit_code(outcomes) == 0) == (set(outcomes) <= {"complete"})
