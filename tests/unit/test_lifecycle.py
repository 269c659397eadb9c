"""The machines of groups and sessions have the moves of the tables, and no others."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest

from orchestrator.core import lifecycle, lifecycle_table
from orchestrator.errors import Refused

KINDS = {
    "group": (lifecycle_table.GROUP_STATUSES, lifecycle_table.GROUP_MOVES, lifecycle.check_group_move),
    "session": (lifecycle_table.SESSION_STATUSES, lifecycle_table.SESSION_MOVES, lifecycle.check_session_move),
}


def refused(check: Callable[[str, str], None], source: str, dest: str) -> bool:
    try:
        check(source, dest)
    except Refused as problem:
        return problem.code == "ILLEGAL_MOVE"
    return False


@pytest.mark.parametrize("kind", KINDS)
def test_every_other_move_is_refused(kind: str) -> None:
    statuses, moves, check = KINDS[kind]
    legal = {(source, dest) for _, source, dest in moves}
    every = set(itertools.product(statuses, repeat=2))
    assert {move for move in every if not refused(check, *move)} == legal


@pytest.mark.parametrize(
    ("machine", "kind"), [(lifecycle.group_machine, "group"), (lifecycle.session_machine, "session")]
)
def test_no_trigger_leads_past_the_moves(machine: Callable[[], tuple[object, object]], kind: str) -> None:
    made, model = machine()
    names = {trigger for trigger, _, _ in KINDS[kind][1]}
    assert set(made.events) == names  # type: ignore[attr-defined]
    assert [name for name in dir(model) if name.startswith("to_")] == []
