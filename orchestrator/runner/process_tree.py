"""Everything that a command has started, wherever it went, and the end of all of it.

A grandchild may begin a session of its own and lose its parent. On Linux this process then becomes its parent, for as
long as a command is supervised. Other threads have children too, and what these leave behind comes here as well: only
what belongs to this command is touched. It is known by its ancestry, its session, a mark in its environment, a brand
that it cannot shed, or by holding the command's output.

One that has shed all of these between two looks is still a child of this process that nobody here has started. Where
all children are this program's own, as in its own commands and servers, it is taken for one of a command that runs; of
a program that uses us as a library the orphans are left alone.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import secrets as chance
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping

from orchestrator.core.named_tuple import NamedTuple
from orchestrator.runner import process_table, rlimit_tag
from orchestrator.runner.process_table import Process

MARK = "XDG_ORCHESTRATOR_RUN"
"""The variable that marks a command's processes. Its name passes allow-lists, also those of programs inside."""
KILLING_S = 2.0
"""Seconds for which killing is repeated, for those that start others meanwhile."""
CLOSING_S = 1.0
"""Seconds for which the output may stay open when all known processes are gone."""
_STEP_S = 0.01

_GET, _SET = 37, 36  # PR_GET_CHILD_SUBREAPER, PR_SET_CHILD_SUBREAPER
_lock = threading.Lock()
_starting = threading.Lock()
_users = 0
_was_parent = 0
_on: dict[int, Family] = {}
_are_all_ours = False


def take_all() -> None:
    """Say that this process has no children but those that this program starts, and what they leave behind."""
    global _are_all_ours
    _are_all_ours = True


def can_adopt() -> bool:
    """Whether this system lets a process become the parent of orphans below it."""
    return _has_prctl()


@contextlib.contextmanager
def adopted() -> Iterator[None]:
    """Let this process become the parent of orphans below it; where the system cannot, nothing changes."""
    global _users, _was_parent
    with _lock:
        if not _users:
            _was_parent = _subreaper(1)
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if not _users and not _was_parent:
                _subreaper(0)


def _has_prctl() -> bool:
    try:
        return bool(ctypes.CDLL(None).prctl)
    except (AttributeError, OSError, TypeError):
        return False


def _subreaper(wanted: int) -> int:
    """Set the attribute; what it was before, or 1 where the system has none."""
    try:
        prctl = ctypes.CDLL(None, use_errno=True).prctl
    except (AttributeError, OSError, TypeError):
        return 1
    before = ctypes.c_int()
    if prctl(_GET, ctypes.byref(before), 0, 0, 0) or prctl(_SET, wanted, 0, 0, 0):
        return 1
    return before.value


def token(tag: str | None = None) -> str:
    """A new mark for one command, which begins with a tag that tells whose it is, where one is given."""
    return f"{tag}-{chance.token_hex(8)}" if tag else chance.token_hex(8)


def marked(variables: Mapping[str, str], token: str) -> dict[str, str]:
    """The variables with the mark of one command; marks of commands around this process stay."""
    around = variables.get(MARK)
    return {**variables, MARK: f"{around}:{token}" if around else token}


class Family(NamedTuple):
    """The processes of one command.

    leader: the command's own number; it must not be reaped before `end` has returned.
    token: its mark.
    brand: what its processes cannot shed; None where there is none.
    output: its pipes, named as in `/proc/N/fd`.
    known: every process of it that was seen and is not gone, by number.
    sessions: the sessions and groups of them.
    """

    leader: int
    token: bytes
    brand: int | None
    output: frozenset[str]
    known: dict[int, Process]
    sessions: set[int]


def start(begin: Callable[[], subprocess.Popen[bytes]], token: str) -> tuple[subprocess.Popen[bytes], Family]:
    """Start a command whose family is looked for until it is forgotten.

    Args:
        begin: starts it, in a session of its own, with pipes for its output.
        token: its mark, which begins with the tag that it was made with.
    """
    # Until the new child is in `_on`, a thread that looks for orphans would take it for one of its own command's.
    with _starting:
        with rlimit_tag.given(rlimit_tag.new(token.rpartition("-")[0])) as brand:
            process = begin()
        if brand is not None:
            rlimit_tag.fix(process.pid, brand)
        pipes = [pipe.fileno() for pipe in (process.stdout, process.stderr) if pipe is not None]
        output = frozenset(f"pipe:[{os.fstat(pipe).st_ino}]" for pipe in pipes)
        of = Family(process.pid, token.encode(), brand, output, {}, {process.pid})
        _on[process.pid] = of
        return process, of


def forget(of: Family) -> None:
    """Look for a family no more."""
    _on.pop(of.leader, None)


def look(of: Family) -> list[Process]:
    """Look for all processes of a family, and tell those that live, the leader among them.

    Who ended in the middle of a look may have left somebody behind who was not there yet: nobody is left when a look
    finds nobody new.
    """
    while True:
        before = frozenset(of.known)
        living = _look(of)
        if living or before >= of.known.keys() - {of.leader}:
            return living


def _look(of: Family) -> list[Process]:
    ours = process_table.children(os.getpid())
    waiting = [of.leader, *of.known, *(number for number in ours - of.known.keys() if _belongs(of, number))]
    seen: dict[int, Process] = {}
    while waiting:
        number = waiting.pop()
        process = None if number in seen else process_table.find(number)
        if process is None or not _is_known(of, process):
            continue
        seen[number] = process
        waiting += process_table.children(number)
    of.known.clear()
    of.known.update(seen)
    of.sessions.update(number for process in seen.values() for number in (process.session, process.group) if number)
    return [process for process in seen.values() if not process.has_ended]


def _is_known(of: Family, process: Process) -> bool:
    """False for a new process that has got the number of one that is gone."""
    before = of.known.get(process.number)
    return before is None or before.started == process.started


def _belongs(of: Family, number: int) -> bool:
    """Whether a child of this process is an orphan of the family."""
    process = process_table.find(number)
    if process is None or number == of.leader:
        return process is not None
    if of.sessions & {process.session, process.group}:
        return True
    if of.brand is not None and rlimit_tag.has(number, of.brand) and process.session != os.getsid(0):
        return True
    if process_table.environment_holds(number, of.token):
        return True
    # Another thread's child holds our files until it runs its program; until then it is called as we are.
    is_ours = process_table.command_line(number) == process_table.command_line(os.getpid())
    return (not is_ours and process_table.holds(number, of.output)) or _is_nobodys(of, process)


def _is_nobodys(of: Family, process: Process) -> bool:
    """Whether a child that nobody here has started can only be an orphan of a command, and of this as well as any."""
    with _starting:
        others = [other for other in _on.values() if other is not of]
        if process.number in _on or any(_is_one_of(other, process) for other in others):
            return False
        first = of.known.get(of.leader) or process_table.find(of.leader)
        if process.session in (0, os.getsid(0)) or first is None or int(process.started) < int(first.started):
            return False
        # Who has lowered the limit did so to hide (RUN-55).
        return _are_all_ours or rlimit_tag.of(process.number) not in (None, rlimit_tag.of(0))


def _is_one_of(other: Family, process: Process) -> bool:
    if process.number in other.known or other.sessions & {process.session, process.group}:
        return True
    return (other.brand is not None and rlimit_tag.has(process.number, other.brand)) or (
        process_table.environment_holds(process.number, other.token)
    )


def end(of: Family, grace_s: float, wait: Callable[[float], None]) -> tuple[str, ...]:
    """End all processes of a family: ask them, wait, then kill; those that were our children are reaped.

    Args:
        of: the family. Its leader is not reaped, so that its number goes on to name its group.
        grace_s: seconds that they have to end by themselves.
        wait: is called for waiting some seconds; it reads what they still write, so that none of them hangs.

    Returns:
        Those that could not be ended, in words.
    """
    try:
        _ask(of, grace_s, wait)
    finally:
        # Also when somebody at the keyboard has no patience.
        living = _kill(of, wait)
    return tuple(sorted(told(process) for process in living))


def told(process: Process) -> str:
    """A process in words."""
    return f"{process.number} {process.name}"


def _ask(of: Family, grace_s: float, wait: Callable[[float], None]) -> None:
    asked: set[int] = set()
    until = time.monotonic() + grace_s
    while living := look(of):
        _send(of, [process for process in living if process.number not in asked], signal.SIGTERM)
        asked |= {process.number for process in living}
        if time.monotonic() >= until:
            return
        wait(_STEP_S)
        reap(of)


def _kill(of: Family, wait: Callable[[float], None]) -> list[Process]:
    until = time.monotonic() + KILLING_S
    while living := look(of):
        _send(of, living, signal.SIGKILL)
        if time.monotonic() >= until:
            break
        wait(_STEP_S)
        reap(of)
    reap(of)
    return living


def _send(of: Family, to: list[Process], what: signal.Signals) -> None:
    if any(process.group == of.leader for process in to):
        # All of the group at once: nobody is to go on because its own child ended a moment earlier.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(of.leader, what)
    for process in to:
        if process.group != of.leader:
            process_table.send(process, what)


def reap(of: Family) -> None:
    """Reap those of a family that have ended, except for its leader."""
    for process in list(of.known.values()):
        if process.number != of.leader and (found := process_table.find(process.number)) and _is_known(of, found):
            process_table.reap(found)
