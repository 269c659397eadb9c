"""A server's life: from its start to the end of its input, or to a signal."""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Callable
from typing import Any, cast

import anyio
from mcp.server.stdio import stdio_server

from orchestrator import errors
from orchestrator.core import masking
from orchestrator.doors.mcp.server import Desk, build
from orchestrator.doors.mcp.stdio_transport import Lines, Output, Wire
from orchestrator.doors.mcp.tool_calls import Caller, Settings

GRACE_S = 1.5
"""How long a call that is under way may take to its end after a signal; clients kill after two seconds."""


def serve(settings: Settings, schema_of: Callable[[str], dict[str, Any]]) -> int:
    """Serve one agent, or the main agent, over stdin and stdout until the input ends.

    Args:
        settings: as whom, in which session, on which database.
        schema_of: the JSON Schema of what an operation answers, by its words.

    Returns:
        The exit code: 0, or 130 after an interrupt.

    Raises:
        Refused: as `Caller.prepare`.
    """
    _log_to_stderr(settings)
    caller = Caller(settings)
    caller.prepare()
    try:
        return anyio.run(_serve, Desk(caller, schema_of))
    finally:
        caller.close()


async def _serve(desk: Desk) -> int:
    wire = Wire()
    output = Output(wire.sink)
    lines = Lines(wire.source, output, desk.busy)
    server = build(desk)
    codes: list[int] = []
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_watch, desk.caller, lines, codes)
            # The transport reads lines and writes them, and asks nothing more of a file.
            async with stdio_server(cast(Any, lines), cast(Any, output)) as (source, sink):
                await server.run(source, sink, server.create_initialization_options())
            tasks.cancel_scope.cancel()
    except* OSError:
        # Nobody reads what is written: the client is gone.
        pass
    return codes[0] if codes else errors.EXIT_OK


async def _watch(caller: Caller, lines: Lines, codes: list[int]) -> None:
    """At a signal read nothing more; what does not end within the grace is left, and its step with it or not at all."""
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for number in signals:
            codes.append(errors.EXIT_INTERRUPTED if number == signal.SIGINT else errors.EXIT_OK)
            caller.leaving.set()
            lines.stop()
            break
        await anyio.sleep(GRACE_S)
    # Nothing else ends the threads of calls that are still under way.
    os._exit(codes[0])


class _Plain(logging.Formatter):
    """One line for each record, secrets masked; without tracebacks unless they are asked for."""

    def __init__(self, *, debug: bool) -> None:
        super().__init__("orchestrator mcp: %(levelname)s %(name)s: %(message)s")
        self._debug = debug

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        if not self._debug:
            kind = record.exc_info[0] if record.exc_info else None
            record.exc_info, record.exc_text, record.stack_info = None, None, None
            record.msg = f"{record.msg} ({kind.__name__})" if kind else record.msg
        return masking.mask(super().format(record))


def _log_to_stderr(settings: Settings) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Plain(debug=settings.debug))
    logging.basicConfig(handlers=[handler], level=logging.DEBUG if settings.debug else logging.WARNING, force=True)
