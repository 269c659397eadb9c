"""What a program writes, from bytes to evidence: decoded, keys masked, all of it in a file, its end in memory.

Each stream is decoded and masked by itself, so that neither a character nor a key is cut by the border of a read.
"""

from __future__ import annotations

import codecs
import contextlib
import errno
import io
import os
import re
from collections import deque
from collections.abc import Sequence
from pathlib import Path

from orchestrator.core import masking, masking_stream
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.running import facts, prompts, terminal_output
from orchestrator.hints import Any

OUTPUT_KEPT = 256 * 1024
"""Characters of the end of both streams together that are kept in memory, and of stderr."""
RESULT_KEPT = 8 * 1024 * 1024
"""Characters of the end of stdout that are kept in memory: some programs write their result as one document."""
LAST_KEPT = 2_000
"""Characters from which the last line is taken that a person is shown."""
_MANY_PIECES = 2_048
STREAMS = ("stdout", "stderr")


ROOM = 512 * 1024
"""Bytes of an output that are given back where the disk is full, so that its end can be told and recorded."""
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r")) + b"\x7f"
_SECOND_CONTROLS = re.compile("[\x80-\x9f]")
_TELLING = bytes(set(range(32)) - set(b"\t\n\r\b\f\x1b")) + b"\x7f"
"""Bytes that stand in no text; terminal codes do."""
_LEAST_PIECE = 512
_SHARE = 8


class EvidenceLost(OSError):
    """What a program wrote could not be kept; `kind` is one of `facts.DISK_FULL` and `facts.EVIDENCE_DELETED`."""

    def __init__(self, kind: str, sentence: str) -> None:
        super().__init__(sentence)
        self.kind = kind


class Tail:
    """The end of a text that is written in pieces."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._pieces: deque[str] = deque()
        self._size = 0
        self.left_out = 0
        """Characters before the end that are not kept."""

    def add(self, text: str) -> None:
        """Write a piece."""
        self._pieces.append(text)
        self._size += len(text)
        while self._size - len(self._pieces[0]) >= self._limit:
            self._drop(len(self._pieces.popleft()))
        if self._size > 2 * self._limit or len(self._pieces) > _MANY_PIECES:
            whole = self.text()
            self._drop(self._size - len(whole))
            self._pieces = deque([whole])

    def _drop(self, count: int) -> None:
        self._size -= count
        self.left_out += count

    def text(self) -> str:
        """The end, at most as long as the limit."""
        return "".join(self._pieces)[-self._limit :]

    def marked(self) -> str:
        """The end, with a line before it that tells how much is left out."""
        text = self.text()
        left_out = self.left_out + self._size - len(text)
        return f"[... {left_out} characters left out ...]\n{text}" if left_out else text


class _Stream(NamedTuple):
    decoder: codecs.IncrementalDecoder
    mask: masking_stream.Stream
    tail: Tail


class Output:
    """Both streams of one program."""

    def __init__(self, raw: Path | None, secrets: Sequence[str]) -> None:
        """Open the evidence file.

        Args:
            raw: a new file for all of the output, readable by its owner only; None keeps only the ends.
            secrets: values that are masked wherever they occur.

        Raises:
            OSError: the file cannot be made, or is there already.
        """
        self.size = 0
        """Bytes that were written."""
        self.no_text = 0
        """Of these, bytes that are no text, in pieces that are full of such; they are counted instead of kept."""
        self._secrets = tuple(secrets)
        self._both = Tail(OUTPUT_KEPT)
        limits = {"stdout": RESULT_KEPT, "stderr": OUTPUT_KEPT}
        decoder = codecs.getincrementaldecoder("utf-8")
        self._streams = {
            name: _Stream(decoder("replace"), masking_stream.Stream(secrets, keys_only=True), Tail(limits[name]))
            for name in STREAMS
        }
        self._file: Any = io.BytesIO() if raw is None else _created(raw)
        self._is_kept = raw is not None
        self._raw = raw
        self._written = 0

    def add(self, stream: str, data: bytes) -> str:
        """Take what was read.

        Returns:
            Its text as it was written, not masked.
        """
        self.size += len(data)
        text = self._text(data, self._streams[stream].decoder.decode(data))
        self._write(stream, self._streams[stream].mask.feed(text))
        return text

    def _text(self, data: bytes, text: str) -> str:
        """What is text of a piece that was read; all of it, unless more than an eighth of it is none.

        Each byte that is none would be a secret's border to the masking, which takes many times as long for it. Taken
        out beforehand they break no key: what they stood in is masked as if they had not been there.
        """
        strange = len(data) - len(data.translate(None, _TELLING)) + text.count("\ufffd")
        if len(data) < _LEAST_PIECE or strange * _SHARE <= len(text):
            return text
        kept = text.replace("\ufffd", "").encode().translate(None, _CONTROLS)
        self.no_text += max(0, len(data) - len(kept))
        return _SECOND_CONTROLS.sub("", kept.decode())

    def _write(self, stream: str, text: str) -> None:
        if not text:
            return
        if self._is_kept:
            # Once this has failed it is not tried again while the program is ended.
            self._is_kept = False
            self._keep(text.encode())
            self._is_kept = True
        # A text with a NUL ends early for some of those who read it.
        text = text.replace("\0", "\ufffd")
        self._both.add(text)
        self._streams[stream].tail.add(text)

    def _keep(self, data: bytes) -> None:
        """Write all of it to the file.

        Raises:
            EvidenceLost: DISK_FULL; the end of the file says so. OSError: it cannot be written for another reason.
        """
        left = memoryview(data)
        try:
            while left:
                count = self._file.write(left)
                self._written += count
                left = left[count:]
        except OSError as error:
            if error.errno not in FULL:
                raise
            self._written = max(0, self._written - ROOM)
            mark = f"\n[... the disk was full: after {self._written} bytes nothing was kept ...]\n"
            with contextlib.suppress(OSError):
                self._file.truncate(self._written)
                self._file.seek(self._written)
                self._file.write(mark.encode())
            sentence = f"the disk is full: the output was kept up to byte {self._written}. Free space for {self._raw}"
            raise EvidenceLost(facts.DISK_FULL, sentence) from error

    def close(self, *, cut: bool = True) -> None:
        """Write what was held back, masked as well, and make the file durable.

        Args:
            cut: whether who wrote was ended in the middle, so that the first letters of a key may stand at the end.

        Raises:
            EvidenceLost: somebody took the file away, or the disk is full. OSError: it cannot be written, or somebody
                else wrote into it.
        """
        if self._file.closed:
            return
        with self._file:
            for name, stream in self._streams.items():
                rest = stream.mask.feed(stream.decoder.decode(b"", final=True))
                self._write(name, rest + stream.mask.close(cut))
            if self._is_kept and self.no_text:
                self._keep(f"\n[... {self.no_text} bytes that are no text were left out ...]\n".encode())
            if self._is_kept:
                os.fsync(self._file.fileno())
                self._require_whole()

    def _require_whole(self) -> None:
        own, path = os.fstat(self._file.fileno()), os.fspath(self._raw or "")
        try:
            found = os.lstat(path)
        except (FileNotFoundError, NotADirectoryError):
            found = None
        if found is None:
            folder = os.path.dirname(path)
            what = f"the evidence {path}" if os.path.isdir(folder) else f"the evidence folder {folder}"
            raise EvidenceLost(facts.EVIDENCE_DELETED, f"{what} was deleted while the executor ran")
        # The executor runs as the same user, so it could replace or extend the file that speaks about it.
        if (found.st_dev, found.st_ino, found.st_size) != (own.st_dev, own.st_ino, self._written):
            raise OSError(f"the evidence of the output was touched by somebody else: {path}")

    def text(self) -> str:
        """The end of both streams, in order, with a mark where the beginning is left out."""
        return self._both.marked()

    def of(self, stream: str) -> str:
        """The end of one stream."""
        return self._streams[stream].tail.text()

    def last_line(self) -> str:
        """The last line of both streams that is not blank, without codes, wholly masked and not long."""
        lines = terminal_output.clean(self._both.text()[-LAST_KEPT:]).split("\n")
        return self.masked(next((line.strip() for line in reversed(lines) if line.strip()), ""))[-prompts.SHOWN :]

    def masked(self, text: str) -> str:
        """Text for people's eyes, of which more than keys is masked."""
        return masking.mask(text, self._secrets)


def _created(path: Path) -> Any:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
    # Whole pieces are written, so that nothing waits in memory for a disk that has no room.
    return os.fdopen(os.open(path, flags, 0o600), "wb", buffering=0)
