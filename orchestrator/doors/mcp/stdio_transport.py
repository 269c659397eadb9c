"""The two ends of the wire: lines in, lines out, for the SDK's own transport to read and write.

A line is read strictly before the SDK sees it, since the SDK answers nothing to what it cannot parse, and a caller
would wait for ever. At the end of the input nothing more is read, and what is under way is answered first.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
from collections.abc import Callable
from typing import Any

import anyio
import mcp_types as types
from anyio import to_thread

from orchestrator.core import oversized, strict_json
from orchestrator.doors.mcp.tool_calls import log

LINE_LIMIT = oversized.LINE_LIMIT
"""Bytes of one message, as of one line of a batch."""
_PARSE_ERROR, _INVALID_REQUEST = -32700, -32600
_STDIN, _STDOUT, _STDERR = 0, 1, 2
_END, _CHUNK = 512, 1024 * 1024
_ID = rb'"id"\s*:\s*(\d{1,18}|"[^"\\]{1,200}")'
_VERSION = rb'"jsonrpc"\s*:\s*"2\.0"'
_ID_FIRST = re.compile(rb'\s*\{\s*(?:(?:' + _VERSION + rb'|"method"\s*:\s*"[^"\\]{1,200}")\s*,\s*)*' + _ID)
_ID_LAST = re.compile(_ID + rb"\s*(?:,\s*" + _VERSION + rb")?\s*\}\s*\Z")
_TICK_S = 0.01
_IDLE_TICKS = 30


class Wire:
    """Descriptors of their own for the protocol; what else writes to stdout ends in the log."""

    def __init__(self) -> None:
        self.source, self.sink = os.dup(_STDIN), os.dup(_STDOUT)
        nothing = os.open(os.devnull, os.O_RDONLY)
        # A program that a call starts could otherwise read the client's next messages.
        os.dup2(nothing, _STDIN)
        os.close(nothing)
        with contextlib.suppress(OSError):
            os.dup2(_STDERR, _STDOUT)


class Output:
    """Writes lines whole, one after another, and counts the answers among them."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lock = anyio.Lock()
        self.answers = 0

    async def write(self, line: str) -> None:
        """Write a line."""
        async with self._lock:
            await to_thread.run_sync(_write_all, self._descriptor, line.encode("utf-8"))
        self.answers += 1

    async def flush(self) -> None:
        """Do nothing: every line is written by then."""

    async def refuse(self, id: Any, code: int, message: str) -> None:
        """Answer a line that is no message; it is not counted."""
        log(message)
        error = {"code": code, "message": message}
        await self.write(json.dumps({"jsonrpc": "2.0", "id": id, "error": error}) + "\n")
        self.answers -= 1


class Lines:
    """Reads lines, and gives on those that are messages."""

    def __init__(self, descriptor: int, output: Output, busy: Callable[[], bool]) -> None:
        self._stream = io.BufferedReader(io.FileIO(descriptor, closefd=False))
        self._output = output
        self._busy = busy
        self._scope: anyio.CancelScope | None = None
        self._stopped = False
        self._asked = 0

    def stop(self) -> None:
        """Read nothing more, as if the input had ended."""
        self._stopped = True
        if self._scope is not None:
            self._scope.cancel()

    def __aiter__(self) -> Lines:
        return self

    async def __anext__(self) -> str:
        while not self._stopped:
            line = b""
            with anyio.CancelScope() as self._scope:
                # A read that waits for input cannot be ended, so its thread is left behind when the server stops.
                line = await to_thread.run_sync(self._read, abandon_on_cancel=True)
            if not line:
                break
            if line.strip() and (message := await self._message(line)) is not None:
                return message
        await self._answered()
        raise StopAsyncIteration

    def _read(self) -> bytes:
        """One line; what is longer than the limit comes as its beginning and its end."""
        line = self._stream.readline(LINE_LIMIT + 1)
        if len(line) > LINE_LIMIT:
            end = line[-_END:]
            while not end.endswith(b"\n") and (more := self._stream.readline(_CHUNK)):
                end = (end + more)[-_END:]
            line += end
        return line

    async def _message(self, line: bytes) -> str | None:
        """The line where it is a message; else it is answered here, with its id as far as that can be told."""
        if len(line) > LINE_LIMIT:
            told = f"The message has more than {LINE_LIMIT} bytes."
            await self._output.refuse(_id_of_long(line), _INVALID_REQUEST, told)
            return None
        try:
            found = strict_json.loads(line, "the message", LINE_LIMIT)
        except strict_json.JsonProblem as problem:
            await self._output.refuse(_id(line), _PARSE_ERROR, f"{problem.message}.")
            return None
        if isinstance(found, dict) and "method" in found and type(found.get("id", 0)) not in (int, str):
            # The SDK takes it for a notification, and answers nothing.
            await self._output.refuse(None, _INVALID_REQUEST, "The id of a request must be a whole number or text.")
            return None
        try:
            types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValueError:
            await self._output.refuse(_id_of(found), _INVALID_REQUEST, "This is not a JSON-RPC message.")
            return None
        self._asked += isinstance(found, dict) and "method" in found and "id" in found
        return line.decode("utf-8-sig")

    async def _answered(self) -> None:
        """Wait until what was asked is answered; what a caller has cancelled never is."""
        idle = 0
        while self._asked > self._output.answers and idle < _IDLE_TICKS:
            await anyio.sleep(_TICK_S)
            idle = 0 if self._busy() else idle + 1


def _id(line: bytes) -> Any:
    """The id of a message that is read leniently."""
    try:
        return _id_of(strict_json.lenient(line))
    except ValueError:
        return None


def _id_of_long(line: bytes) -> Any:
    """The id of a message that is too long to be read: where the SDKs write it, before the parameters or at the end."""
    found = _ID_FIRST.match(line[:_END]) or _ID_LAST.search(line[-_END:])
    return _id(b'{"id":%b}' % found[1]) if found else None


def _id_of(found: object) -> Any:
    id_ = found.get("id") if isinstance(found, dict) else None
    return id_ if type(id_) in (int, str) and str(id_).isprintable() else None


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]

