"""Running a program under supervision: it gets no answers, no time beyond its limits, and leaves nobody behind.

Nothing here judges what a program printed. How it ended is told: by itself, at a prompt that nobody answers, by the
clock that ran out first, or because it was cancelled.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from orchestrator.core.tuples import NamedTuple
from orchestrator.runner import clocks, following, orphans, reading
from orchestrator.runner.clocks import Limits as Limits
from orchestrator.runner.following import Progress as Progress

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
    watch: following.Watch | None = None,
    cancelled: following.Cancelled | None = None,
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
    for spent in clocks.task_time(limits, begun):
        if spent.moment <= begun:
            return Ended(None, None, "not started: the task's time is up", TIMEOUT, spent.timeout_ms, spent.limit)
    _occupy_standard_streams()
    with contextlib.closing(reading.Output(raw, secrets)) as output, orphans.adopted():
        try:
            with _input(text) as source:
                run = _start(argv, folder, variables, limits, output, tag, source)
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            return Ended(None, None, f"cannot be started: {reason}")
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
    with tempfile.TemporaryFile() as file:
        file.write(text.encode("utf-8", "surrogateescape"))
        file.seek(0)
        yield file.fileno()


def _start(
    argv: Sequence[str],
    folder: str | os.PathLike[str],
    variables: Mapping[str, str],
    limits: Limits,
    output: reading.Output,
    tag: str | None,
    source: int,
) -> following.Run:
    token = orphans.token(tag)
    process, family = orphans.start(
        lambda: subprocess.Popen(  # noqa: S603 - an argument list; there is no shell
            list(argv),
            cwd=folder,
            env=orphans.marked(variables, token),
            stdin=source,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            close_fds=True,
            start_new_session=True,
        ),
        token,
    )
    try:
        return following.Run(process, family, limits, output)
    except BaseException:
        orphans.forget(family)
        with process:
            os.killpg(process.pid, signal.SIGKILL)
        raise


def _told(run: following.Run, cause: clocks.Cause, duration_ms: int) -> Ended:
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
        cause is clocks.CANCELLED,
        output.no_text,
    )


def _why(cause: clocks.Cause, prompt: str | None, by_itself: str) -> str:
    if cause is clocks.CANCELLED:
        return "cancelled"
    if prompt is not None:
        return f"waits for an answer: {prompt}"
    return f"ended after {cause.timeout_ms} ms ({cause.limit})" if cause.limit else by_itself
