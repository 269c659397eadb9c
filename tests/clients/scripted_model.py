"""A model that a test plays: it serves the Messages API on loopback, and a function says what it answers.

So an unchanged Claude Code really calls tools, starts subagents and runs hooks, and no model is needed.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Asked(NamedTuple):
    """What the model is asked.

    first: what was said before it spoke first; last: since it spoke last, tool results and hook contexts included.
    turns: how often it has spoken. model: the one that is asked. tools: the names of those that it may call.
    """

    first: str
    last: str
    turns: int
    model: str
    tools: tuple[str, ...]


class Said(NamedTuple):
    """What the model answers: a text, then tool calls; or an HTTP error.

    calls: name and input of each. wait: seconds before it answers.
    """

    text: str = ""
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()
    wait: float = 0.0
    status: int = 200
    error: str = ""


Play = Callable[[Asked], Said]


def text_of(content: Any) -> str:
    """All text in a message's content."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(map(text_of, content))
    return text_of(content.get("text") or content.get("content") or "") if isinstance(content, dict) else ""


def asked(body: dict[str, Any]) -> Asked:
    """A request to the model."""
    messages = body.get("messages", [])
    spoken = [number for number, each in enumerate(messages) if each["role"] == "assistant"]
    first = messages[: spoken[0]] if spoken else messages
    last = messages[spoken[-1] + 1 :] if spoken else messages
    told = ["\n".join(text_of(each["content"]) for each in part) for part in (first, last)]
    return Asked(told[0], told[1], len(spoken), str(body.get("model")), tuple(each["name"] for each in body["tools"]))


class Model:
    """The server; `heard` is everything that it was asked, with its answers."""

    def __init__(self, play: Play) -> None:
        self.play, self.heard = play, list[tuple[Asked, Said]]()
        self._numbers, self._lock = itertools.count(1), threading.Lock()

    def answer(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """The status and document of an answer."""
        if not body.get("tools"):
            # The client's own questions, such as one for a title.
            return 200, self._message(body, Said("A title"))
        question = asked(body)
        with self._lock:
            said = self.play(question)
            self.heard.append((question, said))
        time.sleep(said.wait)
        if said.status != 200:
            return said.status, {"type": "error", "error": {"type": said.error, "message": said.text}}
        return 200, self._message(body, said)

    def _message(self, body: dict[str, Any], said: Said) -> dict[str, Any]:
        blocks: list[dict[str, Any]] = [{"type": "text", "text": said.text or "."}]
        for name, given in said.calls:
            blocks.append({"type": "tool_use", "id": f"toolu_{next(self._numbers):06}", "name": name, "input": given})
        return {
            "id": f"msg_{next(self._numbers):06}", "type": "message", "role": "assistant", "model": body.get("model"),
            "content": blocks, "stop_reason": "tool_use" if said.calls else "end_turn", "stop_sequence": None,
            "usage": {"input_tokens": 10, "output_tokens": 10},
        }  # fmt: skip


def events(message: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """A message as the stream of events in which it is sent."""
    yield "message_start", {"message": {**message, "content": [], "stop_reason": None}}
    for index, block in enumerate(message["content"]):
        is_text = block["type"] == "text"
        empty = {"type": "text", "text": ""} if is_text else {**block, "input": {}}
        yield "content_block_start", {"index": index, "content_block": empty}
        whole = block["text"] if is_text else json.dumps(block["input"])
        kind, key = ("text_delta", "text") if is_text else ("input_json_delta", "partial_json")
        yield "content_block_delta", {"index": index, "delta": {"type": kind, key: whole}}
        yield "content_block_stop", {"index": index}
    yield "message_delta", {"delta": {"stop_reason": message["stop_reason"]}, "usage": {"output_tokens": 10}}
    yield "message_stop", {}


@contextmanager
def serving(play: Play) -> Iterator[tuple[Model, str]]:
    """The model and its address."""
    model = Model(play)

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            """Nothing on stderr."""

        def do_HEAD(self) -> None:
            self._send(200, {})

        do_GET = do_HEAD

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
            if "count_tokens" in self.path:
                return self._send(200, {"input_tokens": 10})
            status, document = model.answer(body)
            if status != 200 or not body.get("stream"):
                return self._send(status, document)
            parts = ((kind, json.dumps({"type": kind, **data})) for kind, data in events(document))
            lines = (f"event: {kind}\ndata: {data}\n\n" for kind, data in parts)
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            with contextlib.suppress(ConnectionError):
                # A client that was killed waits for nothing.
                self.wfile.write("".join(lines).encode())

        def _send(self, status: int, document: dict[str, Any]) -> None:
            data = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(b"" if self.command == "HEAD" else data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield model, f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
