"""How long work goes on, on one line of a terminal that is drawn anew; on anything else nothing is written."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from orchestrator.hints import IO, Protocol

CLEAR = "\r\x1b[K"
FIRST_MS = 1_000
"""Work that is shorter has no line, in milliseconds."""
_KIB = 1024


class Seen(Protocol):
    """How a run is going."""

    @property
    def elapsed_ms(self) -> int:
        """Since its start."""

    @property
    def silent_ms(self) -> int:
        """Since its last output."""

    @property
    def bytes_out(self) -> int:
        """What it has written."""


class Line:
    """The line of progress.

    Args:
        sink: where it is drawn; the process's stderr where left out.
    """

    def __init__(self, sink: IO[str] | None = None, environment: Mapping[str, str] | None = None) -> None:
        self._sink = sys.stderr if sink is None else sink
        self._able = _draws(self._sink, os.environ if environment is None else environment)
        self._drawn = False

    def watch(self, seen: Seen) -> None:
        """Draw how a run is going."""
        if self._able and seen.elapsed_ms >= FIRST_MS:
            self._write(CLEAR + text(seen))
            self._drawn = True

    def clear(self) -> None:
        """Leave nothing of it."""
        if self._drawn:
            self._write(CLEAR)
            self._drawn = False

    def _write(self, words: str) -> None:
        assert self._sink is not None  # noqa: S101 - only what draws gets here
        try:
            self._sink.write(words)
            self._sink.flush()
        except (OSError, ValueError):
            self._able = False


def _draws(sink: IO[str] | None, environment: Mapping[str, str]) -> bool:
    try:
        return sink is not None and sink.isatty() and environment.get("TERM", "") not in ("", "dumb")
    except ValueError:
        return False


def text(seen: Seen) -> str:
    """The words of the line: short enough for any terminal."""
    elapsed, silent = seen.elapsed_ms // 1000, seen.silent_ms // 1000
    return f"  {_clock(elapsed)} elapsed, last output {_clock(silent)} ago, {_size(seen.bytes_out)}"


def _clock(seconds: int) -> str:
    minutes, rest = divmod(seconds, 60)
    return f"{minutes}:{rest:02d}"


def _size(count: int) -> str:
    return f"{count} bytes" if count < 10 * _KIB else f"{count // _KIB} KiB"
