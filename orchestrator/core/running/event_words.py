"""The words in what a program prints while it works: some print an event a line, as a JSON object.

Only for eyes, while a run is under way; what came of it is read from the events themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from orchestrator.core import strict_json
from orchestrator.hints import Any

_EVENTS = re.compile(r"system|assistant|user|stream_event|rate_limit_event|result|error|(?:thread|turn|item)\.\w+")
"""The types of events that such programs print; an object of another type is an output like any other."""
_CALLED = ("command", "file_path", "path", "pattern", "query", "url", "description", "prompt")
"""What says most about a call of a tool, the most telling first."""
_LONGEST = 200
"""Characters of what a tool was called with."""


def readable(text: str) -> str:
    """An output with the words of its events in their place; every other line as it is."""
    return "\n".join(line for each in text.split("\n") for line in _lines(each))


def _lines(line: str) -> Iterator[str]:
    event = _event(line)
    if event is None:
        yield line
        return
    item, message = event.get("item"), event.get("message")
    if event["type"] == "item.completed" and isinstance(item, dict):
        yield from _part(item)
    elif event["type"] == "assistant" and isinstance(message, dict):
        parts = message.get("content")
        for part in parts if isinstance(parts, list) else ():
            yield from _part(part) if isinstance(part, dict) else ()
    elif event["type"] == "error" and isinstance(message, str):
        yield message


def _event(line: str) -> dict[str, Any] | None:
    """The event that a line is, or None."""
    if not line.startswith("{"):
        return None
    try:
        found = strict_json.lenient(line)
    except (ValueError, RecursionError):
        return None
    kind = found.get("type")
    return found if isinstance(kind, str) and _EVENTS.fullmatch(kind) else None


def _part(part: dict[str, Any]) -> Iterator[str]:
    """A text that was said, or a tool that was called."""
    text, given = part.get("text"), part.get("input", part)
    if isinstance(text, str):
        yield text
    elif isinstance(given, dict):
        name = str(part.get("name") or part.get("type") or "tool")
        said = next((each for each in map(given.get, _CALLED) if isinstance(each, str) and each), "")
        yield f"[{name}] {' '.join(said.split())[:_LONGEST]}".rstrip()
