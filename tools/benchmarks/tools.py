"""Row 17, the route: HTTP has none, so it is called as a tool, beside a bare tool of the same SDK with constant JSON.

Each of the eight clients has a real server process of its own, as every client of the protocol has on stdio.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

from orchestrator import bootstrap
from tools.benchmarks import harness, loads, mix, workplace
from tools.benchmarks.table import Figure

ROUTES = 5
"""Of each client in a round; each is the first report of a group that has just been started."""
BARE = """
import anyio
import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server

ANSWER = {"success": True, "next_agent": "qa_expert", "action": "spawn", "group_id": "A", "turn": 2}
TOOL = types.Tool(name="route", input_schema={"type": "object"}, output_schema={"type": "object"})

async def tools(asked, page):
    return types.ListToolsResult(tools=[TOOL])

async def call(asked, call):
    text = types.TextContent(type="text", text='{"success": true}')
    return types.CallToolResult(content=[text], structured_content=ANSWER)

async def main():
    server = Server("bare", on_list_tools=tools, on_call_tool=call)
    async with stdio_server() as (source, sink):
        await server.run(source, sink, server.create_initialization_options())

anyio.run(main)
"""
VERSION = "2025-11-25"


class Client:
    """A server process and its one client, which reads no more of an answer than it must."""

    def __init__(self, argv: list[str], environment: dict[str, str]) -> None:
        self._process = subprocess.Popen(argv, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._ids = itertools.count(1)
        info = {"name": "bench", "version": "1"}
        self._ask("initialize", {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": info})
        self._write({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def call(self, arguments: dict[str, Any]) -> None:
        """Call the tool.

        Raises:
            harness.CommandFailed: it was refused.
        """
        line = self._ask("tools/call", {"name": "route", "arguments": arguments})
        if b'"isError":true' in line or b'"result"' not in line:
            raise harness.CommandFailed(f"answered {line[:300]!r}")

    def _ask(self, method: str, params: dict[str, Any]) -> bytes:
        self._write({"jsonrpc": "2.0", "id": next(self._ids), "method": method, "params": params})
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def _write(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def close(self) -> None:
        """End the server."""
        self._process.communicate()


def rates(rounds: int) -> Iterator[Figure]:
    """Routes over MCP by eight clients."""
    rounds = max(rounds, harness.MINIMUM_ROUNDS)
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        place = workplace.create(pathlib.Path(folder))
        each = mix.RUNNING
        sessions = -(-loads.CLIENTS * ROUTES * (rounds + 1) // each)
        context = bootstrap.open_context(place.environment["ORCHESTRATOR_DB"], write=True, door="bench", environment={})
        for number in range(sessions):
            mix.populate(context, f"S{number}", 0)
        context.connection.close()
        turns = iter([(f"S{number}", f"G{group:06d}") for number in range(sessions) for group in range(each)])
        serving = [sys.executable, str(workplace.ORCHESTRATOR), "mcp", "--agent-id", "developer"]
        sides = {"route": serving, "bare": [sys.executable, "-c", BARE]}
        eight = range(loads.CLIENTS)
        clients = {name: [Client(argv, place.environment) for _ in eight] for name, argv in sides.items()}
        for client in itertools.chain(*clients.values()):
            stack.callback(client.close)

        def route(client: Client) -> None:
            session, group = next(turns)
            client.call({"session_id": session, "group_id": group, "status": "READY_FOR_QA", "summary": "done"})

        made = {
            "route": loads.Load([lambda client=client: route(client) for client in clients["route"]], ROUTES),
            "bare": loads.Load([lambda client=client: client.call({}) for client in clients["bare"]], ROUTES),
        }
        least = harness.interleaved(made, rounds)
        words = f"route over MCP, {loads.CLIENTS} clients, a server each"
        yield from loads.compared(words, "bare tool", (made["route"], made["bare"]), least, ("route", "bare"))
