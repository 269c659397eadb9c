"""Tasks, programs that stand in for real ones, and providers on the loopback: no model, no network, nothing to install.

What the stand-in for Claude Code prints was printed by the real program, version 2.1.197, asked without a login or
with a provider on the loopback.
"""

from __future__ import annotations

import http.server
import json
import pathlib
import stat
import sys
import threading
import time
from typing import Any

from orchestrator.runner import port, process

FIXTURES = pathlib.Path(__file__).with_name("fixtures")
KEY = "a-key-nobody-may-see-0123456789"
OTHER_KEY = "b-key-of-somebody-else-0123456789"
SESSION = "ses-2026-0001"


def task(folder: pathlib.Path, prompt: str = "What is this project?", **more: Any) -> port.ExecutorTask:
    """An attempt in the folder `project` of a folder, with evidence beside it."""
    project = folder / "project"
    project.mkdir(exist_ok=True)
    given: dict[str, Any] = {
        "run_id": "task-001",
        "session_id": SESSION,
        "prompt": prompt,
        "task_type": "READ_INFO",
        "project": str(project.resolve()),
        "model": None,
        "limits": limits(),
        "raw": folder / "raw.log",
    }
    return port.ExecutorTask(**(given | more))


def limits(**more: Any) -> process.Limits:
    """Clocks that no healthy stand-in reaches, also on a busy machine, and short waits where one is ended."""
    given: dict[str, Any] = {"executor_timeout_ms": 30_000, "progress_timeout_ms": 30_000, "grace_ms": 300}
    return process.Limits(**(given | more))


def program(folder: pathlib.Path, body: str, name: str = "program") -> pathlib.Path:
    """An executable program of these lines of Python."""
    path = folder / name
    path.write_text(f"#!{sys.executable}\nimport json, os, sys, time\n{body}\n", "utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def fixture(name: str) -> dict[str, Any]:
    """What the real program printed once, and its exit status."""
    found: dict[str, Any] = json.loads((FIXTURES / f"claude-{name}.json").read_text("utf-8"))
    return found


def replayed(name: str) -> str:
    """The body of a stand-in that prints what the real program did, with the conversation's id of this call."""
    return f"""
said = json.loads({json.dumps(json.dumps(fixture(name)))})
given = sys.argv[1:]
session = given[given.index("--session-id") + 1] if "--session-id" in given else "none"
for line in said["stdout"]:
    print(line.replace("@SESSION@", session))
for line in said["stderr"]:
    print(line.replace("@SESSION@", session), file=sys.stderr)
raise SystemExit(said["exit_code"])
"""


def printed(*lines: str, status: int = 0) -> str:
    """The body of a program that prints lines and ends."""
    return f"print({chr(10).join(lines)!r})\nraise SystemExit({status})"


HANG = "print('begun', flush=True)\ntime.sleep(600)"
SURROUNDINGS = """
seen = {"variables": dict(os.environ), "stdin": sys.stdin.read(), "arguments": sys.argv[1:], "folder": os.getcwd()}
"""


class Provider:
    """Both providers' APIs on the loopback; the model's name says how it behaves."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.released = threading.Event()
        provider = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, format: str, *args: object) -> None:
                pass

            def do_POST(self) -> None:
                size = int(self.headers["content-length"])
                body = json.loads(self.rfile.read(size))
                headers = {name.lower(): text for name, text in self.headers.items()}
                provider.requests.append({"path": self.path, "headers": headers, "body": body})
                provider.behave(self, body["model"], "anthropic" if self.path.endswith("/messages") else "openai")

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def url(self, provider: str) -> str:
        """Where it is, as the provider's package wants to know."""
        host, number = self.server.server_address[:2]
        return f"http://{host!s}:{number}" + ("/v1" if provider == "openai" else "")

    def close(self) -> None:
        """Let those that hang go, and stop."""
        self.released.set()
        self.server.shutdown()
        self.server.server_close()

    def behave(self, handler: http.server.BaseHTTPRequestHandler, model: str, provider: str) -> None:
        """Do what the model's name says, such as `refuse-401` or `hang`; give an answer where it says nothing."""
        if model.startswith("refuse-"):
            return self._refuse(handler, int(model.removeprefix("refuse-").partition("-")[0]), model)
        if model == "hang":
            self.released.wait(60)
            return None
        if model == "drop":
            handler.connection.close()
            return None
        text = f"your key is {KEY}" if model == "echo-key" else "It answers."
        lines = (anthropic_events if provider == "anthropic" else openai_events)(text, model)
        return self._stream(handler, lines, slow=model == "slow")

    def _refuse(self, handler: http.server.BaseHTTPRequestHandler, status: int, model: str) -> None:
        kind = {"refuse-429-quota": "insufficient_quota"}.get(model, "some_error")
        words = "Your credit balance is too low" if model == "refuse-400-credit" else f"no, {status}"
        inner = {"type": kind, "code": kind, "message": words}
        data = json.dumps({"type": "error", "error": inner}).encode()
        handler.send_response(status)
        handler.send_header("content-type", "application/json")
        handler.send_header("content-length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)

    def _stream(self, handler: http.server.BaseHTTPRequestHandler, lines: list[str], *, slow: bool) -> None:
        handler.send_response(200)
        handler.send_header("content-type", "text/event-stream")
        handler.end_headers()
        for line in lines:
            if slow:
                time.sleep(0.6)
            handler.wfile.write(f"{line}\n\n".encode())
            handler.wfile.flush()


def anthropic_events(text: str, model: str) -> list[str]:
    """The events of an answer, as Anthropic's API streams them."""
    reason = {"cut": "max_tokens", "decline": "refusal"}.get(model, "end_turn")
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": []}
    message |= {"stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 5, "output_tokens": 1}}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *(
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": part}}
            for part in (text[:4], text[4:])
        ),
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": reason, "stop_sequence": None},
            "usage": {"output_tokens": 7},
        },
        {"type": "message_stop"},
    ]
    if model == "overloaded":
        events[3:] = [{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}]
    return [f"event: {event['type']}\ndata: {json.dumps(event)}" for event in events]


def openai_events(text: str, model: str) -> list[str]:
    """The events of an answer, as OpenAI's API streams them."""
    reason = {"cut": "length", "decline": "content_filter"}.get(model, "stop")
    base = {"id": "c1", "object": "chat.completion.chunk", "created": 0, "model": model}
    usage = {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12}
    parts: list[dict[str, Any]] = [
        *(
            base | {"choices": [{"index": 0, "delta": {"content": part}, "finish_reason": None}]}
            for part in (text[:4], text[4:])
        ),
        base | {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
        base | {"choices": [], "usage": usage},
    ]
    if model == "overloaded":
        parts[1:] = [{"error": {"type": "overloaded_error", "message": "Overloaded"}}]
    return [*(f"data: {json.dumps(part)}" for part in parts), "data: [DONE]"]
