"""MCP servers for tests: the installed command, spoken to by the SDK's own client, or line by line without one.

The SDK takes most of a second to load, so that only the tests which talk through it do so.
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import subprocess
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import anyio
from anyio.from_thread import BlockingPortal, start_blocking_portal

from tests import forks

if TYPE_CHECKING:
    from mcp import Client

Document = dict[str, Any]
LEGACY, MODERN = "2025-11-25", "2026-07-28"
DEADLINE_S = 60.0


class Reply(NamedTuple):
    """What a tool answered."""

    document: Document
    is_error: bool
    text: str


class Server:
    """A client of one server, for tests that are not asynchronous."""

    def __init__(self, portal: BlockingPortal, client: Client) -> None:
        self._portal = portal
        self.client = client

    def do(self, name: str, *arguments: Any, **more: Any) -> Any:
        """Call a method of the client."""

        async def run() -> Any:
            with anyio.fail_after(DEADLINE_S):
                return await getattr(self.client, name)(*arguments, **more)

        return self._portal.call(run)

    def call(self, tool: str, **arguments: Any) -> Reply:
        """Call a tool; the client holds the answer against the schema of the tool."""
        found = self.do("call_tool", tool, arguments)
        (content,) = found.content
        return Reply(found.structured_content, found.is_error, content.text)

    def answer(self, tool: str, **arguments: Any) -> Document:
        """What a tool answers that does what it is asked."""
        found = self.call(tool, **arguments)
        assert (found.is_error, found.document["success"]) == (False, True), found.document
        return found.document

    def refusal(self, tool: str, **arguments: Any) -> Document:
        """What a tool answers that does not."""
        found = self.call(tool, **arguments)
        assert (found.is_error, found.document["success"]) == (True, False), found.document
        return found.document

    def read(self, uri: str) -> tuple[str, str]:
        """The kind and the text of a resource."""
        (content,) = self.do("read_resource", uri).contents
        return content.mime_type, content.text


def error() -> type[Exception]:
    """What the client raises where a server answers with an error of the protocol."""
    from mcp.shared.exceptions import MCPError

    return MCPError


@contextlib.contextmanager
def connected(
    script: pathlib.Path, environment: Mapping[str, str], agent: str | None, *options: str, mode: str = "auto"
) -> Iterator[Server]:
    """A server that acts as an agent, or the main agent's where none is named, with its client."""
    from mcp import Client, StdioServerParameters
    from mcp.client.stdio import stdio_client

    arguments = [str(script), "mcp", *(["--agent-id", agent] if agent else []), *options]
    kept = {name: value for name, value in environment.items() if name.startswith("ORCHESTRATOR_") or name == "HOME"}
    kept["XDG_STATE_HOME"] = os.environ["XDG_STATE_HOME"]
    kept |= forks.of_the_start(os.environ)
    parameters = StdioServerParameters(command=sys.executable, args=arguments, env=kept)
    with start_blocking_portal() as portal, open("/dev/null", "w") as log:
        client = Client(stdio_client(parameters, errlog=log), mode=mode)
        with portal.wrap_async_context_manager(client):
            yield Server(portal, client)


class Wire:
    """A server without a client: what is written and read are lines."""

    def __init__(self, script: pathlib.Path, environment: Mapping[str, str], agent: str, *options: str) -> None:
        argv = [sys.executable, str(script), "mcp", "--agent-id", agent, *options]
        self.process = subprocess.Popen(
            argv, env=dict(environment), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self._id = 0

    def shake_hands(self) -> Document:
        """Begin as a client of the handshake does."""
        info = {"name": "test", "version": "1"}
        given = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": info}
        answer = self.ask("initialize", given)
        self.write({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    def write(self, message: Document | bytes) -> None:
        """Send a line."""
        assert self.process.stdin is not None
        data = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.process.stdin.write(data + b"\n")
        self.process.stdin.flush()

    def read(self) -> Document:
        """Receive a line."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.process.stderr and self.process.stderr.read()
        answer: Document = json.loads(line)
        return answer

    def send(self, method: str, params: Document) -> int:
        """Send a request, and do not wait for its answer."""
        self._id += 1
        self.write({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})
        return self._id

    def ask(self, method: str, params: Document) -> Document:
        """Send a request and receive its answer."""
        id_ = self.send(method, params)
        answer = self.read()
        assert answer["id"] == id_
        return answer

    def call(self, tool: str, **arguments: Any) -> Document:
        """Call a tool."""
        answer: Document = self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]["structuredContent"]
        return answer

    def end(self) -> tuple[int, str, str]:
        """Close the input; the exit code, and what was still written to stdout and to the log."""
        out, log = self.process.communicate(timeout=DEADLINE_S)
        return self.process.returncode, out.decode(), log.decode()

    def close(self) -> None:
        """Leave nothing behind."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()
