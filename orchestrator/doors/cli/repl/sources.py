"""Where lines come from: a pipe or file, or a person at a terminal with history and completion."""

from __future__ import annotations

import contextlib
import importlib
import io
import sys
from collections.abc import Sequence

from orchestrator.doors.cli.repl import parser
from orchestrator.errors import EnvironmentProblem
from orchestrator.hints import IO, Any, BinaryIO, Protocol

PROMPT = "orchestrator> "
_READ = parser.LINE_LIMIT + 2
"""A line of the limit, and its end."""


class Source(Protocol):
    """What lines are read from."""

    def read(self) -> bytes | None:
        """The next line; None at the end. One that is too long comes cut, but longer than the limit."""


def is_terminal(stream: IO[Any] | None) -> bool:
    """Whether somebody sits there."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


class Stream:
    """Lines of a pipe or a file.

    Args:
        stream: what to read; None for one that is closed, which has no lines.
    """

    def __init__(self, stream: BinaryIO | None) -> None:
        self._stream = io.BytesIO() if stream is None else stream

    def read(self) -> bytes | None:
        """The next line; None at the end.

        Raises:
            EnvironmentProblem: INPUT_FAILED, it cannot be read.
        """
        try:
            line = self._stream.readline(_READ)
            if len(line) == _READ and not line.endswith(b"\n"):
                line += b"."  # so that it is longer than the limit, whatever its last byte is
                self._skip()
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            message = f"stdin cannot be read: {reason}."
            raise EnvironmentProblem("INPUT_FAILED", message, "orchestrator repl < FILE") from None
        return line or None

    def _skip(self) -> None:
        while more := self._stream.readline(_READ):
            if more.endswith(b"\n"):
                return


class Terminal:
    """Lines that a person types. A line is done with Enter: one that ends otherwise was never given."""

    def __init__(self, names: Sequence[str]) -> None:
        self._edited = is_terminal(sys.stdout) and _offer(names)
        if self._edited and isinstance(sys.stdin, io.TextIOWrapper):
            # What is no text is refused as a line, not as a fault.
            sys.stdin.reconfigure(errors="surrogateescape")

    def read(self) -> bytes | None:
        """The next line; None where the person ends the input (Ctrl-D), in the middle of a line as well, or is gone."""
        try:
            return self._line()
        except (EOFError, OSError):
            with contextlib.suppress(OSError):
                sys.stderr.write("\n")
            return None

    def _line(self) -> bytes | None:
        if self._edited:
            return input(PROMPT).encode("utf-8", "surrogateescape")
        # Answers may go elsewhere, and the prompt is none of them.
        sys.stderr.write(PROMPT)
        sys.stderr.flush()
        line = Stream(sys.stdin.buffer).read()
        if line is None or not (line.endswith(b"\n") or len(line) > parser.LINE_LIMIT):
            raise EOFError
        return line


def _offer(names: Sequence[str]) -> bool:
    """Let the line be edited, earlier ones be called back, and commands be completed; whether the platform can."""
    try:
        readline: Any = importlib.import_module("readline")
    except ImportError:
        return False

    def complete(text: str, state: int) -> str | None:
        return [*(name for name in names if text and name.startswith(text)), None][state]

    readline.set_completer_delims(" \t\n")
    readline.set_completer(complete)
    libedit = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if libedit else "tab: complete")
    return True
