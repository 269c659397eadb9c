"""The machines of groups and sessions: which moves exist at all. The only user of `transitions`.

`auto_transitions` is off: the library would otherwise add a `to_<state>` trigger for every state, which skips every
condition. Guards are not conditions here; they are computed before, with their reasons, and the database checks them
again.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from transitions import Machine

from orchestrator.core.lifecycle_table import GROUP_MOVES, GROUP_STATUSES, SESSION_MOVES, SESSION_STATUSES, illegal


class _Model:
    state: str


def _machine(states: tuple[str, ...], moves: tuple[tuple[str, str, str], ...], initial: str) -> tuple[Machine, Any]:
    model = _Model()
    machine = Machine(model, states=list(states), initial=initial, auto_transitions=False, send_event=False)
    for trigger, source, dest in moves:
        machine.add_transition(trigger, source, dest)
    return machine, model


def group_machine(initial: str = "pending") -> tuple[Machine, Any]:
    """The machine of a group's status and the model it drives."""
    return _machine(GROUP_STATUSES, GROUP_MOVES, initial)


def session_machine(initial: str = "active") -> tuple[Machine, Any]:
    """The machine of a session's status and the model it drives."""
    return _machine(SESSION_STATUSES, SESSION_MOVES, initial)


@cache
def _tables() -> dict[str, Machine]:
    """One machine of each kind for the process, asked for its moves only: building one costs half a step."""
    return {"group": group_machine()[0], "session": session_machine()[0]}


def check_group_move(from_: str, to: str) -> None:
    """Raise `Refused` ILLEGAL_MOVE unless the group's machine has the move.

    Source: seed 004, Proposed Solution 4.
    """
    _check("group", from_, to)


def check_session_move(from_: str, to: str) -> None:
    """Raise `Refused` ILLEGAL_MOVE unless the session's machine has the move."""
    _check("session", from_, to)


def _check(what: str, from_: str, to: str) -> None:
    moves = _tables()[what].get_transitions(source=from_)
    if all(move.dest != to for move in moves):
        raise illegal(what, from_, to, [str(move.dest) for move in moves])
