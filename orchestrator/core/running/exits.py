"""The exit code of `run` and of the REPL: a function of what became of its runs and commands, in any order.

Source: seed 001, Property 29.
"""

from __future__ import annotations

from collections.abc import Iterable

from orchestrator.core.running import states

OK, FAILED, UNFINISHED = 0, 1, 2

_UNFINISHED = (states.UNFINISHED, states.CANCELLED, states.AWAITING, states.QUEUED, states.RUNNING)


def exit_code(outcomes: Iterable[str], *, command_failed: bool = False, interrupted: bool = False) -> int:
    """1 where anything failed, else 2 where anything is unfinished or was interrupted, else 0.

    Args:
        outcomes: the state of every run; one that is unknown counts as failed.
        command_failed: a command was unknown or refused, or the configuration is not valid.
        interrupted: a person broke off.
    """
    found = set(outcomes)
    if command_failed or found - {states.DONE, *_UNFINISHED}:
        return FAILED
    return UNFINISHED if interrupted or found - {states.DONE} else OK
