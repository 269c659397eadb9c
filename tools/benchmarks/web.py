"""Row 17: HTTP beside a bare endpoint of the same framework that answers constant JSON, under the same settings.

A read, a route and a chat.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import pathlib
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any

from orchestrator import bootstrap
from orchestrator.app.kernel import operations
from tools.benchmarks import browser, harness, loads, mix, workplace
from tools.benchmarks.table import Figure

REQUESTS, ROUTES, CHATS, EVENTS = 25, 8, 3, 100
ANCHOR = "bare endpoint"
BARE = """
import socket, sys, uvicorn
from fastapi import FastAPI

app = FastAPI()

@app.get("/constant")
def constant() -> dict[str, object]:
    return {"state": "running", "questions": [], "next": ["orchestrator next"], "success": True}

# With its protocol named, as asyncio sends small answers at once on such a socket alone.
listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
listening.bind(("127.0.0.1", 0))
listening.listen()
print(listening.getsockname()[1], flush=True)
config = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False, lifespan="on")
uvicorn.Server(config).run([listening])
"""
WRITER = """
import sys
from tools.benchmarks import mix

context = mix.open_file(sys.argv[1])
for call in mix.calls("W1", int(sys.argv[2])):
    mix.route(context, call)
"""
ROUTED = [f"R{number}" for number in range(loads.CLIENTS)]
"""The session of each client that routes."""
GROUPS = 1500
"""Of the session in which the other process routes; enough for the whole of a round."""


class Client:
    """A connection that is kept, and what is asked by it; it reads no more of an answer than it must.

    Args:
        requests: what is asked, one after the other.
    """

    def __init__(self, port: int, requests: Iterator[bytes]) -> None:
        self._requests = requests
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self) -> None:
        """Send a request and read its answer.

        Raises:
            harness.CommandFailed: it was refused.
        """
        head = self.answer()[:12]
        if head[9:10] != b"2":
            raise harness.CommandFailed(f"answered {head!r}")

    def answer(self) -> bytes:
        """Send a request; the head and body of its answer."""
        self._socket.sendall(next(self._requests))
        data = b""
        while (end := data.find(b"\r\n\r\n")) < 0:
            data += self._more()
        length = int(data[:end].lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
        while len(data) < end + 4 + length:
            data += self._more()
        return data

    def _more(self) -> bytes:
        found = self._socket.recv(65_536)
        if not found:
            raise harness.CommandFailed("the server closed a connection")
        return found


def get(path: str) -> bytes:
    """A request that reads."""
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


def post(path: str, body: dict[str, Any], token: str) -> bytes:
    """A request that writes."""
    text = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n"
    return f"{head}Content-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n".encode() + text


@contextlib.contextmanager
def started(argv: list[str], environment: dict[str, str]) -> Iterator[str]:
    """A server process; the first line that it prints."""
    with subprocess.Popen(argv, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline()
        finally:
            process.terminate()


def rates(rounds: int) -> Iterator[Figure]:
    """Reads, chats, reads beside a process that routes, and how soon an event is told."""
    with tempfile.TemporaryDirectory() as folder:
        place = workplace.create(pathlib.Path(folder))
        path = place.environment["ORCHESTRATOR_DB"]
        context = bootstrap.open_context(path, write=True, door="bench", environment={})
        routed = mix.groups_for(ROUTES * (rounds + 1))
        for session, groups in (("S1", 20), ("W1", GROUPS), *((name, routed) for name in ROUTED)):
            mix.populate(context, session, groups)
        for call in mix.calls("S1", 10):
            mix.route(context, call)
        steps = pathlib.Path(folder, "steps.json")
        steps.write_text(json.dumps([{"status": "COMPLETE", "output": "x", "delay_ms": 29_000, "repeat": True}]))
        serve = [sys.executable, str(workplace.ORCHESTRATOR), "serve", "--json", "--port", "0", "--executor",
                 f"scripted:{steps}"]  # fmt: skip
        bare_one = [sys.executable, "-c", BARE]
        with started(serve, place.environment) as told, started(bare_one, place.environment) as bare:
            listening = json.loads(told)
            yield from _loads(rounds, pathlib.Path(folder), int(bare), listening, path)
            yield _latency(int(listening["url"].rpartition(":")[2]), context)
            yield from browser.latency(listening["url"], context)


def _loads(rounds: int, folder: pathlib.Path, bare: int, told: dict[str, Any], path: str) -> Iterator[Figure]:
    port, token = int(told["url"].rpartition(":")[2]), told["token"]
    inner = folder / "project" / ".claude"
    for name in ("agents", "rules"):
        (inner / name).mkdir(parents=True)
    for name, text in (("CLAUDE.md", "# Project\n"), ("settings.json", "{}\n")):
        (inner / name).write_text(text)
    added = post("/api/projects", {"project_path": str(folder / "project")}, token)
    answer = Client(port, iter((added,))).answer()
    project = json.loads(answer.partition(b"\r\n\r\n")[2])["project_id"]
    chat = post(f"/api/projects/{project}/chat", {"content": "explain it", "session_id": "chat"}, token)
    status = get("/api/sessions/S1/status")
    made = {
        "bare": _load(bare, get("/constant"), REQUESTS), "read": _load(port, status, REQUESTS),
        "chat": _load(port, chat, CHATS),
        "route": loads.Load([Client(port, _routes(session, token, rounds)).ask for session in ROUTED], ROUTES),
    }  # fmt: skip
    least = harness.interleaved(made, rounds)
    for name, words in (("read", "GET of a session's status"), ("chat", "chat"), ("route", "a route")):
        pair = made[name], made["bare"]
        yield from loads.compared(f"{words}, {loads.CLIENTS} clients", ANCHOR, pair, least, (name, "bare"))
    argv = [sys.executable, "-c", WRITER, path, str(GROUPS)]
    root = pathlib.Path(__file__).resolve().parents[2]
    pair = _load(port, status, REQUESTS), _load(bare, get("/constant"), REQUESTS)
    with subprocess.Popen(argv, cwd=root) as writer:
        least = harness.interleaved(dict(zip(("read", "bare"), pair, strict=True)), harness.MINIMUM_ROUNDS)
        more = "" if writer.poll() is None else "the routes ended early"
        writer.terminate()
    yield from loads.compared("the same GET while another process routes", ANCHOR, pair, least, ("read", "bare"), more)


def _load(port: int, request: bytes, times: int) -> loads.Load:
    return loads.Load([Client(port, itertools.repeat(request)).ask for _ in range(loads.CLIENTS)], times)


def _routes(session: str, token: str, rounds: int) -> Iterator[bytes]:
    """The reports of one client, each as a request."""
    for call in mix.calls(session, mix.groups_for(ROUTES * (rounds + 1))):
        yield post(f"/api/sessions/{call.pop('session_id')}/reports", call, token)


def _next_event(stream: socket.socket) -> None:
    while b"data:" not in stream.recv(65_536):
        pass


def _latency(port: int, context: Any) -> Figure:
    """From the commit of a step to its event at a reader; in looks of the server, which are 50 ms apart."""
    stream = socket.create_connection(("127.0.0.1", port))
    stream.sendall(get("/api/events?session_id=L"))
    taken = []
    data = b""
    while b"begins" not in data:
        data += stream.recv(65_536)
    operations.call(context, "session create", id="L", goal="measured")
    _next_event(stream)
    for number in range(EVENTS):
        # At no fixed place between two looks.
        time.sleep(0.013 * (number % 5))
        operations.call(context, "group create", id=f"L{number}", session_id="L", name="x")
        committed = time.perf_counter()
        _next_event(stream)
        taken.append(time.perf_counter() - committed)
    stream.close()
    middle, p99, worst = statistics.median(taken), statistics.quantiles(taken, n=100)[98], max(taken)
    return Figure(
        "from a commit to its event at a reader, median", "50 ms", middle / 0.05,
        note=f"{middle * 1000:.0f} ms, p99 {p99 * 1000:.0f} ms, worst {worst * 1000:.0f} ms",
    )  # fmt: skip
