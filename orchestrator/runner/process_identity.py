"""Which process runs a run, told so that another program can see whether it still lives."""

from __future__ import annotations

import os
import platform

from orchestrator.core import names
from orchestrator.hints import Any
from orchestrator.runner import process_table

HOST = "ORCHESTRATOR_HOST"
"""The variable that names this machine where its host name does not tell it from others, such as in containers."""
SANDBOXES = ("CODEX_SANDBOX_NETWORK_DISABLED", "CODEX_THREAD_ID")
"""Variables that Codex sets for the commands that it confines."""
_FIRST_NUMBERS = "pid:[4026531836]"
"""The numbers that Linux gives its processes where nothing has made others; a fixed name of the kernel's."""
_STEP_S = 2
"""Seconds by which two answers of `ps` about one start may differ."""


def mine() -> str:
    """This process, as `host:number:start`; the start tells it from a later process of the same number."""
    return of(os.getpid())


def of(number: int) -> str:
    """A process of this machine, in the same way."""
    return f"{host()}:{number}:{_start(number) or 0}"


def host() -> str:
    """The name of this machine: what `ORCHESTRATOR_HOST` says, else its host name."""
    return "".join(os.environ.get(HOST, "").split()) or platform.node() or "localhost"


def is_gone(owner: str, connection: Any = None) -> bool:
    """Whether a process is known to have ended.

    Of another machine only a lease tells. Without one nothing is known of it, nor in a sandbox that hides the processes
    outside it; and what is not known lives: a lock is never taken from a live owner.

    Args:
        connection: to the database that names the process; one to a server tells its lease by `lives`.
    """
    lives = getattr(connection, "lives", None)
    leased = None if lives is None else lives(owner)
    if leased:
        return False
    number_, started = owner.rsplit(":", 2)[1:] if owner.count(":") > 1 else ("", "")
    if names.host_of(owner) != host():
        return leased is False
    if not number_.isdigit() or not started.isdigit() or _is_confined():
        return False
    number = int(number_)
    if process_table.has_proc() and int(started):
        return _start(number) != int(started)
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    now = _start(number)
    # What is not told lives.
    return bool(int(started)) and now is not None and abs(now - int(started)) > _STEP_S


def is_below(owner: str, above: str) -> bool:
    """Whether a process was started by another one, or by one that this has started; both must be alive.

    What the system does not tell is answered with False.
    """
    if is_gone(owner) or is_gone(above) or owner == above:
        return False
    host, wanted = (above.rpartition(":")[0].rpartition(":")[each] for each in (0, 2))
    number = owner.rpartition(":")[0].rpartition(":")[2]
    if owner.rpartition(":")[0].rpartition(":")[0] != host or not (number.isdigit() and wanted.isdigit()):
        return False
    found, seen = process_table.find(int(number)), set[int]()
    while found is not None and found.number not in seen:
        if found.parent == int(wanted):
            return True
        seen.add(found.number)
        found = process_table.find(found.parent)
    return False


def _is_confined() -> bool:
    """Whether this process runs in the sandbox of an agent's program, with process numbers of its own."""
    if not any(name in os.environ for name in SANDBOXES):
        return False
    try:
        return os.readlink("/proc/self/ns/pid") != _FIRST_NUMBERS
    except OSError:
        return False


def _start(number: int) -> int | None:
    """When a process began, in clock ticks since the machine did, or in seconds; None where there is none."""
    if not process_table.has_proc():
        return process_table.began(number)
    try:
        with open(f"/proc/{number}/stat", encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()
    # A process that has ended and waits to be collected is gone as well.
    return None if fields[0] in "ZX" else int(fields[19])
