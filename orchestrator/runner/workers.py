"""Questions answered by several processes of one program side by side: a line in, a line out, until none is left.

What a process leaves unanswered, because it was killed or cannot be started, is for the caller to answer.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
from collections.abc import Callable, Sequence

from orchestrator.hints import Any
from orchestrator.runner import process_tree


def cores() -> int:
    """How many processes can compute at once."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def answers(
    command: Sequence[str], questions: Sequence[bytes], count: int, told: Callable[[int], None]
) -> list[bytes | None]:
    """Ask processes of a program, each the next question when it has answered its last; none outlives the call.

    Should this process be killed, each of them ends with the question that it is at: nothing more comes in.

    Args:
        command: the program; it answers each line on stdin with a line on stdout.
        questions: lines without their end, the longest work first.
        count: how many processes.
        told: is given the number of answers so far after each, by the thread that got it.

    Returns:
        The answers in the order of the questions; None for a question that was not answered.
    """
    asked = _Asked(questions, told)
    workers: list[_Worker] = []
    try:
        for _ in range(min(count, len(questions))):
            # Known before it is started: an interrupt may come in between.
            workers.append(_Worker(asked))
            with contextlib.suppress(OSError, subprocess.SubprocessError):
                workers[-1].start(command)
        for worker in workers:
            worker.wait()
    finally:
        for worker in workers:
            worker.end()
    return asked.found


class _Asked:
    """What is asked, and what was answered so far."""

    def __init__(self, questions: Sequence[bytes], told: Callable[[int], None]) -> None:
        self.found: list[bytes | None] = [None] * len(questions)
        self._left = iter([*enumerate(questions)])
        self._told = told

    def of(self, process: subprocess.Popen[bytes]) -> None:
        """Ask one process until nothing is left or it is gone."""
        stdin: Any = process.stdin
        stdout: Any = process.stdout
        for place, question in self._left:
            try:
                stdin.write(question + b"\n")
                stdin.flush()
                line = stdout.readline()
            except OSError:
                return
            if not line.endswith(b"\n"):
                return
            self.found[place] = line
            self._told(sum(each is not None for each in self.found))


class _Worker:
    """A process that is asked, and the thread that asks it."""

    def __init__(self, asked: _Asked) -> None:
        self._asked = asked
        self._process: subprocess.Popen[bytes] | None = None
        self._family: process_tree.Family | None = None
        self._thread: threading.Thread | None = None

    def start(self, command: Sequence[str]) -> None:
        """Start the process, and ask it in a thread."""

        def begin() -> subprocess.Popen[bytes]:
            # In a session of its own, so that an interrupt at the terminal reaches the caller alone.
            self._process = subprocess.Popen(  # noqa: S603 - an argument list; there is no shell
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                start_new_session=True,
            )  # fmt: skip
            return self._process

        # Whoever looks for what commands have left behind must not take it for that.
        process, self._family = process_tree.start(begin, process_tree.token())
        self._thread = threading.Thread(target=self._asked.of, args=(process,), daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Wait until it is asked no more."""
        if self._thread is not None:
            self._thread.join()

    def end(self) -> None:
        """End the process, which leaves nothing behind: it only read."""
        if self._process is None:
            return
        self._process.kill()
        self._process.wait()
        if self._thread is not None and self._thread.ident is not None:
            self._thread.join()
        if self._family is not None:
            process_tree.forget(self._family)
        for stream in filter(None, (self._process.stdin, self._process.stdout)):
            # What is still to be written goes nowhere.
            with contextlib.suppress(OSError):
                stream.close()
