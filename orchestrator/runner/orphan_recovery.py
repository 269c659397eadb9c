"""The processes that a runner has left behind that was killed: found by their mark, and ended before anybody goes on.

A run belongs to one process, and the number and start of that process with the run's id begin the mark of all that the
run starts. No other run has the same, whatever its database; a process without the mark is one of the run where it
descends from one with it or shares its session, since a run's programs are never started in a session that is there.

Source: seed 001, Properties 6, 31 and 35.
"""

from __future__ import annotations

import os
import signal
import time

from orchestrator.core.named_tuple import NamedTuple
from orchestrator.runner import process_table, process_tree, rlimit_tag
from orchestrator.runner.process_table import Process

GRACE_S = 3.0
"""Seconds that they have to end when they are asked to."""
KILLING_S = 2.0
"""Seconds for which killing is repeated."""
_STEP_S = 0.02


class Lost(NamedTuple):
    """What was found of an abandoned run.

    ended: processes that were ended, in words. left: those that could not be.
    is_told: whether this system tells by what mark a process was started; where it does not, nothing was looked for.
    """

    ended: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    is_told: bool = True


def tag(owner: str, run: str) -> str:
    """How the marks of a run's processes begin.

    Args:
        owner: the process that runs it: host, number and start, as `owners.mine` tells it.
    """
    return ".".join((*owner.split(":")[-2:], run))


def is_within(tag: str) -> bool:
    """Whether this process was itself started by the run."""
    return _carries(os.environ.get(process_tree.MARK, ""), tag) or rlimit_tag.is_of(0, tag)


def end(tag: str, grace_s: float = GRACE_S) -> Lost:
    """End all processes of a run whose runner is gone: ask them, then kill.

    Args:
        tag: of the run.
        grace_s: seconds between the two.
    """
    # Without the marks nothing tells these processes from other programs, and a guess could kill a stranger's
    # (RUN-59).
    if not process_table.tells_variables():
        return Lost(is_told=False)
    seen: dict[int, Process] = {}
    begun, asked = time.monotonic(), set[int]()
    # One that began another in the middle of a look is found in the next one.
    while (living := _living(tag, seen)) or (living := _living(tag, seen)):
        waited = time.monotonic() - begun
        if waited > grace_s + KILLING_S:
            break
        for process in living:
            if waited > grace_s:
                process_table.send(process, signal.SIGKILL)
            elif process.number not in asked:
                asked.add(process.number)
                process_table.send(process, signal.SIGTERM)
        time.sleep(_STEP_S)
    left = {process.number for process in living}
    ended = sorted(process_tree.told(each) for each in seen.values() if each.number not in left)
    return Lost(tuple(ended), tuple(sorted(map(process_tree.told, living))))


def _living(tag: str, seen: dict[int, Process]) -> list[Process]:
    """Those that live of a run; they are added to those that were seen of it."""
    everybody = {each.number: each for each in process_table.everybody() if not each.has_ended}
    own = everybody.pop(os.getpid(), None)
    found = {
        number for number, each in everybody.items()
        if _is_seen(each, seen) or rlimit_tag.is_of(number, tag)
        or _carries(process_table.variable(number, process_tree.MARK), tag)
    }  # fmt: skip
    # Session 0 means unknown, and this process's own session may hold the person's shell.
    sessions = {everybody[number].session for number in found} - {0, own.session if own else 0}
    found |= {number for number, each in everybody.items() if each.session in sessions}
    below = found
    while below := {number for number, each in everybody.items() if each.parent in below} - found:
        found |= below
    seen.update((number, everybody[number]) for number in found)
    return [everybody[number] for number in found]


def _is_seen(process: Process, seen: dict[int, Process]) -> bool:
    return process.number in seen and seen[process.number].started == process.started


def _carries(mark: str, tag: str) -> bool:
    return any(part.startswith(f"{tag}-") for part in mark.split(":"))
