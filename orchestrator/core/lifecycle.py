"""The machines of groups, sessions, runs and phases: which moves exist at all. The only user of `transitions`.

`auto_transitions` is off: the library would otherwise add a `to_<state>` trigger for every state, which skips every
condition. Guards are not conditions here; they are computed before, with their reasons, and the database checks them
again.
"""

from __future__ import annotations

from functools import cache

from transitions import Machine

from orchestrator.core.lifecycle_table import (
    GROUP_MOVES,
    GROUP_STATUSES,
    PHASE_MOVES,
    PHASES,
    RUN_MOVES,
    RUN_STATUSES,
    SESSION_MOVES,
    SESSION_STATUSES,
    illegal,
)
from orchestrator.hints import Any


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


def run_machine(initial: str = "queued") -> tuple[Machine, Any]:
    """The machine of a run's state and the model it drives."""
    return _machine(RUN_STATUSES, RUN_MOVES, initial)


def phase_machine(initial: str = PHASES[0]) -> tuple[Machine, Any]:
    """The machine of a runner session's phases and the model it drives."""
    return _machine(PHASES, PHASE_MOVES, initial)


_MACHINES = {
    "group": group_machine,
    "session": session_machine,
    "run": run_machine,
    "phase": phase_machine,
}


@cache
def _table(what: str) -> Machine:
    """One machine of a kind for the process, asked for its moves only: building one costs half a step."""
    return _MACHINES[what]()[0]


def check_group_move(from_: str, to: str) -> None:
    """Raise `Refused` ILLEGAL_MOVE unless the group's machine has the move.

    Source: seed 004, Proposed Solution 4.
    """
    _check("group", from_, to)


def check_session_move(from_: str, to: str) -> None:
    """Raise `Refused` ILLEGAL_MOVE unless the session's machine has the move."""
    _check("session", from_, to)


def check_run_move(from_: str, to: str) -> None:
    """Raise `Refused` ILLEGAL_MOVE unless the run's machine has the move.

    Source: seed 001, Property 35.
    """
    _check("run", from_, to)


def next_phase(phase: str) -> str | None:
    """The only phase that follows, or None after the last; raises ValueError for an unknown one.

    Source: seed 001, Property 4.
    """
    moves = _table("phase").get_transitions(source=_table("phase").get_state(phase).name)
    return str(moves[0].dest) if moves else None


@cache
def _destinations(what: str, from_: str) -> tuple[str, ...]:
    """Where the machine of a group, session or run leads from a status; the machines of the process never change."""
    return tuple(str(move.dest) for move in _table(what).get_transitions(source=from_))


def _check(what: str, from_: str, to: str) -> None:
    destinations = _destinations(what, from_)
    if to not in destinations:
        raise illegal(what, from_, to, list(destinations))
