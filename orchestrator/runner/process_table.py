"""Processes of this machine: who they are, who started them, and ending them without hitting anybody else.

A number alone names nobody, since numbers are used again; a number and the moment of the start do. On Linux all of
it is read from /proc, elsewhere from `ps`.
"""

from __future__ import annotations

import calendar
import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator

from orchestrator.core.named_tuple import NamedTuple

PROC = "/proc"
_PS = ("ps", "-A", "-o", "pid=", "-o", "ppid=", "-o", "pgid=", "-o", "state=", "-o", "lstart=", "-o", "comm=")
_PS_FIELDS = 10


class Process(NamedTuple):
    """A process as it was seen.

    started: its start, in the words of the system; equal for the same process only.
    session: the session's number; 0 where the system does not tell.
    """

    number: int
    parent: int
    group: int
    session: int
    started: str
    has_ended: bool
    name: str


def has_proc() -> bool:
    """Whether this system keeps a folder of its processes."""
    return os.path.exists(f"{PROC}/self/stat")


def began(number: int) -> int | None:
    """When a process began, in seconds since the epoch, as `ps` tells it; None where it is not there, or has ended."""
    found = _told_by_ps().get(number)
    if found is None or found.has_ended:
        return None
    try:
        return calendar.timegm(time.strptime(found.started, "%a %b %d %H:%M:%S %Y"))
    except ValueError:
        return None


def find(number: int) -> Process | None:
    """The process with that number; one that has ended and is not reaped is told too. None where there is none."""
    if not has_proc():
        return _told_by_ps().get(number)
    text = _read(number, "stat").decode("utf-8", "replace")
    # The name may hold blanks and brackets of its own.
    head, _, tail = text.rpartition(")")
    fields = tail.split()
    if not fields:
        return None
    parent, group, session = map(int, fields[1:4])
    return Process(number, parent, group, session, fields[19], fields[0] in "ZX", head.partition("(")[2])


def children(number: int) -> set[int]:
    """The numbers of a process's children, those that have ended and are not reaped too."""
    if not os.path.exists(f"{PROC}/thread-self/children"):
        return {process.number for process in everybody() if process.parent == number}
    found: set[int] = set()
    for thread in _names(number, "task"):
        found.update(map(int, _read(number, f"task/{thread}/children").split()))
    return found


def environment_holds(number: int, text: bytes) -> bool:
    """Whether a text is in the variables that a process was started with; False where that cannot be read."""
    return text in _read(number, "environ")


def tells_variables() -> bool:
    """Whether this system tells with what variables a process was started."""
    return os.path.exists(f"{PROC}/self/environ")


def variable(number: int, name: str) -> str:
    """A variable that a process was started with; empty where it has none, or that cannot be read."""
    beginning = f"{name}=".encode()
    found = (each for each in _read(number, "environ").split(b"\0") if each.startswith(beginning))
    return next(found, beginning)[len(beginning) :].decode("utf-8", "replace")


def variable_names(number: int) -> frozenset[str]:
    """The names of the variables that a process was started with; none where that cannot be read."""
    found = (each.partition(b"=")[0] for each in _read(number, "environ").split(b"\0") if each)
    return frozenset(name.decode("utf-8", "replace") for name in found)


def holds(number: int, files: frozenset[str]) -> bool:
    """Whether a process has one of the files open, each named as in `/proc/N/fd`; False where that cannot be read."""
    for name in _names(number, "fd"):
        with contextlib.suppress(OSError):
            if os.readlink(f"{PROC}/{number}/fd/{name}") in files:
                return True
    return False


def command_line(number: int) -> bytes:
    """A process's arguments, each ended by a NUL; empty where they cannot be read or it has ended."""
    return _read(number, "cmdline")


def send(process: Process, what: signal.Signals) -> None:
    """Send a signal to this process, and to no later one of the same number; one that is not there gets none."""
    with contextlib.suppress(ProcessLookupError, PermissionError), _held(process.number) as descriptor:
        if not _is_same(process):
            return
        if descriptor is None:
            os.kill(process.number, what)
        else:
            signal.pidfd_send_signal(descriptor, what)


def reap(process: Process) -> None:
    """Take the exit status of a child of ours that has ended, so that nothing of it stays."""
    if process.has_ended and process.parent == os.getpid():
        with contextlib.suppress(ChildProcessError):
            os.waitpid(process.number, os.WNOHANG)


@contextlib.contextmanager
def _held(number: int) -> Iterator[int | None]:
    """Hold on to who has a number now, so that a look at it and a signal to it mean the same; None where that fails."""
    descriptor = pidfd(number)
    try:
        yield descriptor
    finally:
        if descriptor is not None:
            os.close(descriptor)


def pidfd(number: int) -> int | None:
    """A descriptor that stands for a process and is readable once it has ended; None where the system has none."""
    try:
        return os.pidfd_open(number)
    except (AttributeError, OSError):
        return None


def _is_same(process: Process) -> bool:
    found = find(process.number)
    return found is not None and found.started == process.started and not found.has_ended


def _read(number: int, name: str) -> bytes:
    try:
        with open(f"{PROC}/{number}/{name}", "rb") as file:
            return file.read()
    except OSError:
        return b""


def _names(number: int, folder: str) -> list[str]:
    try:
        return os.listdir(f"{PROC}/{number}/{folder}")
    except OSError:
        return []


def everybody() -> list[Process]:
    """All processes of this machine that the system tells of."""
    if not has_proc():
        return list(_told_by_ps().values())
    found = (find(int(name)) for name in os.listdir(PROC) if name.isdigit())
    return [process for process in found if process]


def _told_by_ps() -> dict[int, Process]:
    try:
        # The words of a time must be the same whoever asks, in whatever language and zone.
        done = subprocess.run(  # noqa: S603
            _PS, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=10,
            env={**os.environ, "LC_ALL": "C", "TZ": "UTC0"},
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return {}
    rows = (line.split(None, _PS_FIELDS - 1) for line in done.stdout.decode("utf-8", "replace").splitlines())
    return {int(row[0]): _from_row(row) for row in rows if len(row) == _PS_FIELDS}


def _from_row(row: list[str]) -> Process:
    number, parent, group, state = row[:4]
    return Process(int(number), int(parent), int(group), 0, " ".join(row[4:9]), state[0] in "ZX", row[9])
