"""Running one command to its end: no shell, nothing on stdin, bounded output, and nobody left behind.

Nothing here judges what a command printed; how it ended is told as the operating system tells it.
"""

from __future__ import annotations

import os
import selectors
import subprocess
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence

from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.suggestions import reason, sentence
from orchestrator.runner import process_tree

ENVIRONMENT = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR")
"""The variables of this process that a command gets; none of them holds a secret."""

OUTPUT_LIMIT = 1024 * 1024
"""Bytes of output that are kept: one half from its beginning, the other from its end."""

TERMINATION_GRACE_S = 1.0
"""How long the processes of a command may take to end when they are asked to, before they are killed."""
LINGER_S = 0.5
"""How long the output stays open for what a command has left running in the background."""

CANCELLED = "cancelled"
"""Why a command has ended that somebody cancelled."""

_TIMELY, _LATE, _CANCELLED = range(3)
_CHUNK = 65_536
_AT_ONCE = 64
_TICK_S = 0.05


class Ended(NamedTuple):
    """How a command ended.

    status: its exit status; None where it did not end by itself.
    why: in words, `exit 1`, `killed after 300 seconds`.
    output: what it wrote to stdout and stderr, in order, as text; the middle is left out beyond the limit.
    size: how many bytes it wrote.
    """

    status: int | None
    why: str
    output: str
    size: int


def environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Those variables that a command may see; the mark of a run around this process is one of them."""
    return {name: variables[name] for name in (*ENVIRONMENT, process_tree.MARK) if name in variables}


def run(
    argv: Sequence[str],
    *,
    folder: str | os.PathLike[str],
    timeout_s: float,
    variables: Mapping[str, str] | None = None,
    limit: int = OUTPUT_LIMIT,
    cancelled: Callable[[], bool] | None = None,
    tag: str | None = None,
    extra: Sequence[tuple[str, str]] = (),
) -> Ended:
    """Run a command and wait for its end.

    Args:
        argv: the program and its arguments, as they are.
        folder: its working directory.
        timeout_s: seconds after which it is killed with everything that it started.
        variables: where the allowed environment variables are taken from; this process's own where left out.
        limit: bytes of output that are kept.
        cancelled: is asked some times a second whether to end it, with everything that it started.
        tag: begins the mark by which its processes are found.
        extra: further variables that it gets, whatever its surroundings have.

    Returns:
        How it ended; a program that cannot be started has ended as well, without a status.
    """
    kept, token = _Output(limit), process_tree.token(tag)
    seen = environment(os.environ if variables is None else variables) | dict(extra)
    with process_tree.adopted():
        try:
            process, family = process_tree.start(
                lambda: subprocess.Popen(  # noqa: S603 - an argument list that the record holds; there is no shell
                    list(argv),
                    cwd=folder,
                    env=process_tree.marked(seen, token),
                    # A command that reads would otherwise take what a person types, or wait until its time is up.
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                ),
                token,
            )
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            return Ended(None, sentence("cannot be started: {}", reason(error)), "", 0)
        try:
            how = _follow(process, kept, time.monotonic() + timeout_s, cancelled)
        finally:
            _end(process, family, kept)
    return Ended(*_told(process.returncode, how, timeout_s), kept.text(), kept.size)


def _told(returncode: int, how: int, timeout_s: float) -> tuple[int | None, str]:
    if how != _TIMELY:
        return None, CANCELLED if how == _CANCELLED else f"killed after {timeout_s:g} seconds"
    if returncode < 0:
        return None, f"killed by signal {-returncode}"
    return returncode, f"exit {returncode}"


def _follow(
    process: subprocess.Popen[bytes], kept: _Output, deadline: float, cancelled: Callable[[], bool] | None
) -> int:
    """Read until the command has ended and its output is closed, its time is up, or somebody cancels it."""
    assert process.stdout is not None  # noqa: S101 - it was opened as a pipe
    descriptor = process.stdout.fileno()
    os.set_blocking(descriptor, False)
    lingers: float | None = None
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        is_open = True
        while True:
            if not is_open:
                time.sleep(_TICK_S)
            elif selector.select(_TICK_S):
                is_open = _read(descriptor, kept)
            now = time.monotonic()
            if not _has_ended(process):
                if now >= deadline:
                    return _LATE
                if cancelled is not None and cancelled():
                    return _CANCELLED
                continue
            lingers = now + LINGER_S if lingers is None else lingers
            if not is_open or now >= lingers:
                return _TIMELY


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Whether the command has ended. It is not reaped yet, so that its number still names its group and nobody else."""
    if hasattr(os, "waitid"):
        return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    return process.poll() is not None


def _read(descriptor: int, kept: _Output) -> bool:
    try:
        data = os.read(descriptor, _CHUNK)
    except BlockingIOError:
        return True
    kept.add(data)
    return bool(data)


def _end(process: subprocess.Popen[bytes], family: process_tree.Family, kept: _Output) -> None:
    """End all that is left of the command: ask, then kill. Its leader is reaped, and its output closed."""
    assert process.stdout is not None  # noqa: S101 - it was opened as a pipe
    descriptor = process.stdout.fileno()
    os.set_blocking(descriptor, False)

    def wait(seconds: float) -> None:
        # What is asked to end may have more to say, and would hang where nobody reads it.
        time.sleep(seconds)
        for _ in range(_AT_ONCE):
            size = kept.size
            _read(descriptor, kept)
            if kept.size == size:
                break

    try:
        left = process_tree.end(family, TERMINATION_GRACE_S, wait)
    finally:
        process_tree.forget(family)
        process.stdout.close()
    # One that cannot be killed is not waited for.
    process.poll() if left else process.wait()


class _Output:
    """The beginning and the end of what was written."""

    def __init__(self, limit: int) -> None:
        self._head_limit = limit // 2
        self._tail_limit = limit - limit // 2
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self.size = 0

    def add(self, data: bytes) -> None:
        self.size += len(data)
        room = self._head_limit - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        if data:
            self._tail.append(data)
            self._tail_size += len(data)
            while self._tail_size - len(self._tail[0]) >= self._tail_limit:
                self._tail_size -= len(self._tail.popleft())

    def text(self) -> str:
        tail = b"".join(self._tail)[-self._tail_limit :] if self._tail_limit else b""
        left_out = self.size - len(self._head) - len(tail)
        if not left_out:
            return _decoded(bytes(self._head) + tail)
        return f"{_decoded(bytes(self._head))}\n[... {left_out} bytes left out ...]\n{_decoded(tail)}"


def _decoded(data: bytes) -> str:
    # A text with a NUL ends early for some of those who read the database.
    return data.decode("utf-8", "replace").replace("\0", "\ufffd")
