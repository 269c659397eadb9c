"""A model that a test plays: it serves the Messages and the Responses API on loopback; a function says what it answers.

So an unchanged Claude Code or Codex really calls tools, starts subagents and runs hooks, and no model is needed.
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

    calls: name and input of each; a name may have its namespace before it, as in `space.name`.
    wait: seconds before it answers; after: what must have happened before, within a
    minute. status, error, headers: of an HTTP error.
    """

    text: str = ""
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()
    wait: float = 0.0
    status: int = 200
    error: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    after: threading.Event | None = None


Play = Callable[[Asked], Said]


def text_of(content: Any) -> str:
    """All text in a message's content."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(map(text_of, content))
    return text_of(content.get("text") or content.get("content") or "") if isinstance(content, dict) else ""


def messages_of(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The input of the Responses API as messages, all that the model said at once as one.

    What the client tells the model as its developer counts as said by the user, as contexts of hooks are.
    """
    found: list[dict[str, Any]] = []
    for item in items:
        kind, role = item.get("type", "message"), item.get("role")
        if kind.endswith("_output"):
            found.append({"role": "user", "content": item.get("output")})
        elif role in ("user", "developer") or kind == "agent_message":
            found.append({"role": "user", "content": item.get("content")})
        elif (kind != "message" or role == "assistant") and not (found and found[-1]["role"] == "assistant"):
            found.append({"role": "assistant", "content": ""})
    return found


def asked(body: dict[str, Any]) -> Asked:
    """A request to the model."""
    messages = messages_of(body["input"]) if "input" in body else body.get("messages", [])
    spoken = [number for number, each in enumerate(messages) if each["role"] == "assistant"]
    first = messages[: spoken[0]] if spoken else messages
    last = messages[spoken[-1] + 1 :] if spoken else messages
    told = ["\n".join(text_of(each["content"]) for each in part) for part in (first, last)]
    tools = tuple(str(each.get("name") or each.get("type")) for each in body["tools"])
    return Asked(told[0], told[1], len(spoken), str(body.get("model")), tools)


_NUMBERS = itertools.count(1)
"""Of messages and calls; a resumed conversation has those of an earlier server in it, and no id may come twice."""


class Model:
    """The server; `heard` is everything that it was asked, with its answers."""

    def __init__(self, play: Play) -> None:
        self.play, self.heard = play, list[tuple[Asked, Said]]()
        self._numbers, self._lock = _NUMBERS, threading.Lock()

    def answer(self, body: dict[str, Any]) -> Said:
        """What it says to a request."""
        if not body.get("tools"):
            # The client's own questions, such as one for a title.
            return Said("A title")
        question = asked(body)
        with self._lock:
            said = self.play(question)
            self.heard.append((question, said))
        time.sleep(said.wait)
        if said.after is not None:
            said.after.wait(60.0)
        return said

    def document(self, body: dict[str, Any], said: Said) -> dict[str, Any]:
        """An answer as its document."""
        if said.status != 200:
            return {"type": "error", "error": {"type": said.error, "message": said.text}}
        return self._response(body, said) if "input" in body else self._message(body, said)

    def _response(self, body: dict[str, Any], said: Said) -> dict[str, Any]:
        text = {"type": "output_text", "text": said.text or ".", "annotations": []}
        output: list[dict[str, Any]] = [
            {"type": "message", "role": "assistant", "id": f"item_{next(self._numbers):06}", "content": [text]}
        ]
        for name, given in said.calls:
            number, (space, _, tool) = next(self._numbers), name.rpartition(".")
            output.append({
                "type": "function_call", "id": f"item_{number:06}", "call_id": f"call_{number:06}", "name": tool,
                "arguments": json.dumps(given), **({"namespace": space} if space else {}),
            })  # fmt: skip
        return {
            "id": f"resp_{next(self._numbers):06}", "object": "response", "status": "completed",
            "model": body.get("model"), "output": output,
            "usage": {"input_tokens": 10, "output_tokens": 10, "total_tokens": 20},
        }  # fmt: skip

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
    """An answer as the stream of events in which it is sent."""
    if "output" in message:
        yield "response.created", {"response": {**message, "output": [], "status": "in_progress"}}
        for index, item in enumerate(message["output"]):
            yield "response.output_item.done", {"output_index": index, "item": item}
        yield "response.completed", {"response": message}
        return
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
            said = model.answer(body)
            document = model.document(body, said)
            if said.status != 200 or not body.get("stream"):
                with contextlib.suppress(ConnectionError):
                    self._send(said.status, document, said.headers)
                return
            parts = ((kind, json.dumps({"type": kind, **data})) for kind, data in events(document))
            lines = (f"event: {kind}\ndata: {data}\n\n" for kind, data in parts)
            with contextlib.suppress(ConnectionError):
                # A client or agent that was killed waits for nothing.
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.end_headers()
                self.wfile.write("".join(lines).encode())

        def _send(self, status: int, document: dict[str, Any], headers: tuple[tuple[str, str], ...] = ()) -> None:
            data = json.dumps(document).encode()
            self.send_response(status)
            for name, value in headers:
                self.send_header(name, value)
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
