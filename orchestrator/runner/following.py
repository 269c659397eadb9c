"""Following one program from its start until nothing of it is left."""

from __future__ import annotations

import os
import selectors
import subprocess
import time
from collections.abc import Callable

from orchestrator.core.running import prompts
from orchestrator.core.tuples import NamedTuple
from orchestrator.runner import clocks, orphans, processes, reading

LINGER_S = 0.2
"""Seconds that others have to end by themselves when the program itself has ended."""
BACKGROUND_GRACE_S = 0.5
"""Seconds that they then have to end when they are asked to."""
WATCH_S = 0.5
"""Seconds between two reports of progress."""
_LOOK_S = 0.2
_TICK_S = 0.05
_SHORT_TICK_S = 0.01
_CHUNK = 65_536
_AT_ONCE = 8


class Progress(NamedTuple):
    """How a run is going, for a person who waits.

    line: the last line, masked and without codes.
    """

    elapsed_ms: int
    silent_ms: int
    bytes_out: int
    line: str


Watch = Callable[[Progress], None]
Cancelled = Callable[[], bool]


class Run:
    """A program that was started."""

    def __init__(
        self, process: subprocess.Popen[bytes], family: orphans.Family, limits: clocks.Limits, output: reading.Output
    ) -> None:
        """Take over a program with its pipes, which was started with that family."""
        assert process.stdout is not None  # noqa: S101 - both were opened as pipes
        assert process.stderr is not None  # noqa: S101
        self.process = process
        self.output = output
        self.leftovers: tuple[str, ...] = ()
        self.background: tuple[str, ...] = ()
        self._limits = limits
        self._prompts = prompts.Watch(limits.prompt_ms / 1000, limits.finished_prompt_ms / 1000)
        self._pipes = {process.stdout.fileno(): "stdout", process.stderr.fileno(): "stderr"}
        self._family = family
        self._begun = self._heard = self._looked = self._reported = time.monotonic()
        self._is_over = self._is_alone = False
        self._selector = selectors.DefaultSelector()
        for descriptor in self._pipes:
            os.set_blocking(descriptor, False)
            self._selector.register(descriptor, selectors.EVENT_READ)
        self._pidfd = processes.pidfd(process.pid)
        if self._pidfd is not None:
            self._selector.register(self._pidfd, selectors.EVENT_READ)

    def follow(self, watch: Watch | None, cancelled: Cancelled | None) -> clocks.Cause:
        """Read until the program has ended or a cause to end it has come."""
        pause = 0.0
        while True:
            is_all_read = self._read(pause)
            now = time.monotonic()
            if self._has_ended():
                self._linger()
                return clocks.BY_ITSELF
            if cancelled is not None and cancelled():
                return clocks.CANCELLED
            # A prompt is judged only when everything that was written has been read.
            prompt = self._prompts.look() if is_all_read else None
            cause = clocks.first(self._limits, self._begun, self._heard, prompt)
            if cause.moment <= now:
                return cause
            self._keep_track(now)
            self._report(watch, now)
            pause = min(_TICK_S, cause.moment - now)

    def end(self) -> None:
        """End all that is left of it, read what it has written, and close its pipes."""
        try:
            self._forget_pidfd()
            grace_s = BACKGROUND_GRACE_S if self._is_over else self._limits.grace_ms / 1000
            if not self._is_alone:
                self.leftovers = orphans.end(self._family, grace_s, self._wait)
                self._read_rest()
            orphans.reap(self._family)
        finally:
            orphans.forget(self._family)
            self._forget_pidfd()
            self._selector.close()
            for pipe in (self.process.stdout, self.process.stderr):
                if pipe is not None:
                    pipe.close()
            # One that cannot be killed is not waited for.
            self.process.poll() if self.leftovers else self.process.wait()

    def was_cut(self, cause: clocks.Cause) -> bool:
        """Whether somebody was ended who may have been writing: known once all of it has ended."""
        by_itself = cause is clocks.BY_ITSELF and self.process.returncode is not None and self.process.returncode >= 0
        return not by_itself or bool(self.background or self.leftovers)

    def _has_ended(self) -> bool:
        """Whether the program has ended. It is not reaped yet, so that its number names its group and nobody else."""
        try:
            flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
            self._is_over = os.waitid(os.P_PID, self.process.pid, flags) is not None
        except ChildProcessError:
            # Who ignores SIGCHLD has no children to reap.
            self._is_over = True
        return self._is_over

    def _linger(self) -> None:
        """Give those in the background a moment to end, and note who does not."""
        self._forget_pidfd()
        until = time.monotonic() + LINGER_S
        while True:
            living = orphans.look(self._family)
            self._is_alone = not living and not self._pipes
            if self._is_alone or time.monotonic() >= until:
                self.background = tuple(sorted(map(orphans.told, living)))
                return
            self._wait(_SHORT_TICK_S)
            orphans.reap(self._family)

    def _wait(self, seconds: float) -> None:
        self._read(seconds)

    def _read(self, seconds: float) -> bool:
        """Read what there is, after waiting so long for it; whether it was all, or very much more goes on coming."""
        for _ in range(_AT_ONCE):
            ready = [key.fd for key, _ in self._selector.select(seconds) if key.fd in self._pipes]
            if not ready:
                return True
            for descriptor in ready:
                self._take(descriptor)
            seconds = 0
        return False

    def _take(self, descriptor: int) -> None:
        stream = self._pipes[descriptor]
        data = os.read(descriptor, _CHUNK)
        if data:
            self._heard = time.monotonic()
            self._prompts.feed(stream, self.output.add(stream, data), self._heard)
        else:
            self._selector.unregister(descriptor)
            del self._pipes[descriptor]

    def _read_rest(self) -> None:
        until = time.monotonic() + orphans.CLOSING_S
        while self._pipes and time.monotonic() < until:
            self._read(_TICK_S)
        if self._pipes and not self.leftovers:
            self.leftovers = ("an unknown process that holds the output open",)

    def _keep_track(self, now: float) -> None:
        """Look at the family from time to time, so that those who leave it are known."""
        if now - self._looked >= _LOOK_S:
            self._looked = now
            orphans.look(self._family)
            orphans.reap(self._family)

    def _report(self, watch: Watch | None, now: float) -> None:
        if watch is not None and now - self._reported >= WATCH_S:
            self._reported = now
            elapsed, silent = round((now - self._begun) * 1000), round((now - self._heard) * 1000)
            watch(Progress(elapsed, silent, self.output.size, self.output.last_line()))

    def _forget_pidfd(self) -> None:
        if self._pidfd is not None:
            self._selector.unregister(self._pidfd)
            os.close(self._pidfd)
            self._pidfd = None
