"""Running a program under supervision: it gets no answers, no time beyond its limits, and leaves nobody behind.

It is followed from its start until nothing of it is left. Nothing here judges what it printed. How it ended is told: by
itself, at a prompt that nobody answers, by the clock that ran out first, or because it was cancelled.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.running import prompts
from orchestrator.core.suggestions import reason, sentence
from orchestrator.runner import output_capture, process_table, process_tree


class Limits(NamedTuple):
    """The clocks of a run, in milliseconds.

    executor_timeout_ms: for the whole run.
    progress_timeout_ms: without a byte of output.
    prompt_ms: for which an unfinished prompt has to stay the last line.
    finished_prompt_ms: for which a finished one has to.
    grace_ms: for ending when asked to, before being killed.
    task_deadline: a moment of `time.monotonic()`, in seconds, at which the task's own time is up.
    task_limit_ms: the task's own time, to be told.
    """

    executor_timeout_ms: int = 60_000
    progress_timeout_ms: int = 30_000
    prompt_ms: int = 2_000
    finished_prompt_ms: int = 10_000
    grace_ms: int = 3_000
    task_deadline: float | None = None
    task_limit_ms: int | None = None


class Cause(NamedTuple):
    """What ends a run.

    moment: the second from which on it does.
    limit, timeout_ms: the name of the clock that ran out, and what it was set to.
    prompt: the line at which the program waits; not masked.
    """

    moment: float
    limit: str | None = None
    timeout_ms: int | None = None
    prompt: str | None = None


BY_ITSELF = Cause(0.0)
CANCELLED = Cause(0.0)


def task_time(limits: Limits, begun: float) -> list[Cause]:
    """The task's own clock, if there is one, for a run that began at that second."""
    if limits.task_deadline is None:
        return []
    left_ms = round((limits.task_deadline - begun) * 1000)
    return [Cause(limits.task_deadline, "task_limits.seconds", limits.task_limit_ms or max(left_ms, 0))]


def first_cause(limits: Limits, begun: float, heard: float, prompt: prompts.Prompt | None) -> Cause:
    """What will end a run first, if nothing else happens.

    Args:
        limits: all clocks.
        begun: the second in which the run began.
        heard: the second in which it last wrote something.
        prompt: what it waits at.
    """
    causes = [
        Cause(begun + limits.executor_timeout_ms / 1000, "executor_timeout_ms", limits.executor_timeout_ms),
        Cause(heard + limits.progress_timeout_ms / 1000, "progress_timeout_ms", limits.progress_timeout_ms),
        *task_time(limits, begun),
    ]
    if prompt is not None:
        causes.append(Cause(prompt.due, prompt=prompt.text))
    return min(causes, key=lambda cause: cause.moment)


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
# Reads in a row before the clocks are asked again: a program that never stops writing still runs into its limit.
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
        self,
        process: subprocess.Popen[bytes],
        family: process_tree.Family,
        limits: Limits,
        output: output_capture.Output,
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
        # It wakes the selector as soon as the program ends; without it each run would last until the next tick.
        self._pidfd = process_table.pidfd(process.pid)
        if self._pidfd is not None:
            self._selector.register(self._pidfd, selectors.EVENT_READ)

    def follow(self, watch: Watch | None, cancelled: Cancelled | None) -> Cause:
        """Read until the program has ended or a cause to end it has come."""
        pause = 0.0
        while True:
            is_all_read = self._read(pause)
            now = time.monotonic()
            # Asked before the clocks, so that a program that has ended by itself is never reported as timed out.
            if self._has_ended():
                self._linger()
                return BY_ITSELF
            if cancelled is not None and cancelled():
                return CANCELLED
            # A prompt is judged only when everything that was written has been read.
            prompt = self._prompts.look() if is_all_read else None
            cause = first_cause(self._limits, self._begun, self._heard, prompt)
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
                self.leftovers = process_tree.end(self._family, grace_s, self._wait)
                self._read_rest()
            process_tree.reap(self._family)
        finally:
            process_tree.forget(self._family)
            self._forget_pidfd()
            self._selector.close()
            for pipe in (self.process.stdout, self.process.stderr):
                if pipe is not None:
                    pipe.close()
            # One that cannot be killed is not waited for.
            self.process.poll() if self.leftovers else self.process.wait()

    def was_cut(self, cause: Cause) -> bool:
        """Whether somebody was ended who may have been writing: known once all of it has ended."""
        by_itself = cause is BY_ITSELF and self.process.returncode is not None and self.process.returncode >= 0
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
            living = process_tree.look(self._family)
            self._is_alone = not living and not self._pipes
            if self._is_alone or time.monotonic() >= until:
                self.background = tuple(sorted(map(process_tree.told, living)))
                return
            self._wait(_SHORT_TICK_S)
            process_tree.reap(self._family)

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
        until = time.monotonic() + process_tree.CLOSING_S
        while self._pipes and time.monotonic() < until:
            self._read(_TICK_S)
        # An open pipe has a writer: the run must not be complete while somebody unseen can still change files.
        if self._pipes and not self.leftovers:
            self.leftovers = ("an unknown process that holds the output open",)

    def _keep_track(self, now: float) -> None:
        """Look at the family from time to time, so that those who leave it are known."""
        if now - self._looked >= _LOOK_S:
            self._looked = now
            process_tree.look(self._family)
            process_tree.reap(self._family)

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


INTERACTIVE_PROMPT = "INTERACTIVE_PROMPT"
TIMEOUT = "TIMEOUT"


class Ended(NamedTuple):
    """How a run ended. All text is decoded, with keys masked.

    exit_code: as the system tells it; None where a signal ended the program, or it was not started.
    signal: which.
    why: in words, `exit 1`, `ended after 60000 ms (executor_timeout_ms)`.
    blocked_reason: INTERACTIVE_PROMPT or TIMEOUT where the runner ended it.
    timeout_ms: the clock that ran out, in milliseconds.
    limit: its name: executor_timeout_ms, progress_timeout_ms or task_limits.seconds.
    prompt: what it waited at, without codes; wholly masked.
    output: the end of both streams, in order; stdout and stderr: of each by itself.
    bytes_out: how many bytes it wrote. no_text: how many of these were no text and are counted alone.
    leftovers: processes that could not be ended; the run is then not complete.
    background: processes that went on after the program had ended by itself, and were ended.
    """

    exit_code: int | None
    signal: int | None
    why: str
    blocked_reason: str | None = None
    timeout_ms: int | None = None
    limit: str | None = None
    prompt: str | None = None
    output: str = ""
    stdout: str = ""
    stderr: str = ""
    bytes_out: int = 0
    duration_ms: int = 0
    leftovers: tuple[str, ...] = ()
    background: tuple[str, ...] = ()
    cancelled: bool = False
    no_text: int = 0


def supervise(
    argv: Sequence[str],
    *,
    folder: str | os.PathLike[str],
    variables: Mapping[str, str],
    limits: Limits = Limits(),  # noqa: B008 - a frozen value
    raw: Path | None = None,
    secrets: Sequence[str] = (),
    watch: Watch | None = None,
    cancelled: Cancelled | None = None,
    tag: str | None = None,
    text: str = "",
) -> Ended:
    """Run a program until it has ended, or is ended, with everything that it started.

    Its stdin holds a given text, or nothing, and then the end, so that it never waits there. It has a session of its
    own and no terminal, and it inherits no other file of this process.

    Args:
        argv: the program and its arguments, as they are; there is no shell.
        folder: its working directory.
        variables: all variables that it gets, besides a mark by which its processes are found.
        limits: its clocks.
        raw: a new file for the whole output, with keys masked; None keeps only the end of it.
        secrets: values that are masked wherever they occur.
        watch: is told of progress every half second; what it raises ends the run and is raised.
        cancelled: is asked some times a second whether to end the run.
        tag: begins the mark by which its processes are found, also by a later process of ours.
        text: what it can read from its stdin, a file that has no name.

    Returns:
        How it ended; a program that cannot be started has ended as well, without an exit code.

    Raises:
        OSError: the evidence file cannot be made or written. Nothing of the program is left then, as with
            KeyboardInterrupt and with whatever `watch` and `cancelled` raise.

    Source: seed 001, Properties 34 and 35.
    """
    begun = time.monotonic()
    if any(each.moment <= begun for each in task_time(limits, begun)):
        return _too_late(limits, begun)
    _occupy_standard_streams()
    with contextlib.closing(output_capture.Output(raw, secrets)) as output, process_tree.adopted():
        try:
            with _input(text) as source:
                run = _start(argv, folder, variables, limits, output, tag, source)
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            return Ended(None, None, sentence("cannot be started: {}", reason(error)))
        return _followed(run, output, watch, cancelled, begun)


def _too_late(limits: Limits, begun: float) -> Ended:
    spent = next(each for each in task_time(limits, begun) if each.moment <= begun)
    return Ended(None, None, "not started: the task's time is up", TIMEOUT, spent.timeout_ms, spent.limit)


def _followed(
    run: Run, output: output_capture.Output, watch: Watch | None, cancelled: Cancelled | None, begun: float
) -> Ended:
    """How a program that was started has ended, with everything that it started."""
    try:
        cause = run.follow(watch, cancelled)
    finally:
        run.end()
    output.close(cut=run.was_cut(cause))
    return _told(run, cause, round((time.monotonic() - begun) * 1000))


def _occupy_standard_streams() -> None:
    """Keep the numbers of stdin, stdout and stderr from being given to a file of ours, where they are closed."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # The lowest free number is taken, which is this one.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)


@contextlib.contextmanager
def _input(text: str) -> Iterator[int]:
    """A descriptor from which a text is read, and then the end."""
    if not text:
        yield subprocess.DEVNULL
        return
    # Writing to a pipe would block on a program that does not read; arguments are visible to everybody (RUN-63).
    with tempfile.TemporaryFile() as file:
        file.write(text.encode("utf-8", "surrogateescape"))
        file.seek(0)
        yield file.fileno()


def _start(
    argv: Sequence[str],
    folder: str | os.PathLike[str],
    variables: Mapping[str, str],
    limits: Limits,
    output: output_capture.Output,
    tag: str | None,
    source: int,
) -> Run:
    token = process_tree.token(tag)
    process, family = process_tree.start(
        lambda: subprocess.Popen(  # noqa: S603 - an argument list; there is no shell
            list(argv),
            cwd=folder,
            env=process_tree.marked(variables, token),
            stdin=source,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            close_fds=True,
            # Without a controlling terminal /dev/tty cannot be opened, so no program asks a person past these pipes.
            start_new_session=True,
        ),
        token,
    )
    try:
        return Run(process, family, limits, output)
    except BaseException:
        process_tree.forget(family)
        with process:
            # Nobody follows it yet, so neither a limit nor a cancellation could end it later.
            os.killpg(process.pid, signal.SIGKILL)
        raise


def _told(run: Run, cause: Cause, duration_ms: int) -> Ended:
    code, output = run.process.returncode, run.output
    exit_code, number = (code, None) if code is None or code >= 0 else (None, -code)
    prompt = None if cause.prompt is None else output.masked(cause.prompt)
    reason = INTERACTIVE_PROMPT if prompt is not None else TIMEOUT if cause.limit else None
    return Ended(
        exit_code,
        number,
        _why(cause, prompt, f"killed by signal {number}" if number else f"exit {exit_code}"),
        reason,
        cause.timeout_ms,
        cause.limit,
        prompt,
        output.text(),
        output.of("stdout"),
        output.of("stderr"),
        output.size,
        duration_ms,
        run.leftovers,
        run.background,
        cause is CANCELLED,
        output.no_text,
    )


def _why(cause: Cause, prompt: str | None, by_itself: str) -> str:
    if cause is CANCELLED:
        return "cancelled"
    if prompt is not None:
        return f"waits for an answer: {prompt}"
    return f"ended after {cause.timeout_ms} ms ({cause.limit})" if cause.limit else by_itself
