"""The lines of a batch: read as they come, and whether another one has come already."""

from __future__ import annotations

import io
import select
from collections.abc import Iterator

from orchestrator.core import oversized
from orchestrator.hints import BinaryIO

LIMIT = oversized.LINE_LIMIT
"""Bytes of one line."""
_PIECE = 65_536


class Lines:
    """The lines of a stream, of which nothing was read yet.

    Nothing of the stream is left in a buffer of its own: so what the system says of its descriptor is all there is.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._rest = bytearray()
        self._searched = 0
        self._has_ended = False

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        """Those that are not blank, with their numbers; one that is longer than the limit comes cut to be refused."""
        number = 0
        while (line := self._next()) is not None:
            number += 1
            if line.strip():
                yield number, line

    def is_waiting(self) -> bool:
        """Whether a whole line can be read at once, without waiting for whoever writes them."""
        while not self._has_line():
            if self._has_ended:
                return bool(self._rest)
            if not self._is_readable():
                return False
            self._read()
        return True

    def _next(self) -> bytes | None:
        while not (self._has_line() or self._has_ended):
            self._read()
        end = self._rest.find(b"\n", self._searched) + 1 or len(self._rest)
        line = bytes(self._rest[: min(end, LIMIT + 1)])
        del self._rest[:end]
        self._searched = 0
        return line or None

    def _has_line(self) -> bool:
        end = self._rest.find(b"\n", self._searched)
        if end < 0:
            # Of a line that is too long no more is kept than shows it.
            del self._rest[LIMIT + 1 :]
        self._searched = len(self._rest) if end < 0 else end
        return end >= 0

    def _read(self) -> None:
        piece = self._stream.read1(_PIECE)  # type: ignore[attr-defined]
        self._has_ended = not piece
        self._rest += piece

    def _is_readable(self) -> bool:
        try:
            return bool(select.select([self._stream.fileno()], [], [], 0)[0])
        except io.UnsupportedOperation:
            # It lies in memory.
            return True
        except (OSError, ValueError):
            # The system cannot tell: nobody is to wait for this stream.
            return False
