"""The stream of events that `codex exec --json` prints, and what it says about success and unfinished work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from orchestrator.hints import Any, Final
from orchestrator.runner import port
from orchestrator.runner.executors import failures, own_result, service_errors

Event = Mapping[str, Any]

_ENDS: Final = ("turn.completed", "turn.failed")
_NO_TOOLS: Final = ("agent_message", "reasoning", "error", "todo_list")
_NAMES: Final = ("command", "query", "tool", "prompt", "type")
_LONGEST_NAME: Final = 80


def read(task: port.ExecutorTask, events: Sequence[Event]) -> port.ExecutorResult | None:
    """Turn a stream into a result by the last turn's end; None where no turn has ended.

    The program makes the ids of its conversations itself, so that its result carries the issued session as a text does.
    """
    places = [place for place, event in enumerate(events) if event.get("type") in _ENDS]
    if not places:
        return None
    seen, end = events[: places[-1]], events[places[-1]]
    items = [event["item"] for event in seen if _is(event, "item.completed")]
    said = [item["text"] for item in items if item.get("type") == "agent_message" and isinstance(item.get("text"), str)]
    facts: dict[str, Any] = {
        "output": said[-1] if said else "", "usage": _usage(end), "usage_is_total": True,
        "conversation": _conversation(events),
    }  # fmt: skip
    if end.get("type") == "turn.failed":
        sentence = message(end.get("error")) or "the turn failed, and nothing is said of why"
        return failures.failed(task, service_errors.kind(sentence), sentence, **facts)
    declined = [_name(item) for item in items if item.get("status") == "declined"]
    if declined:
        return failures.denied(task, declined, **facts)
    left = _unfinished(seen)
    calls = len([item for item in items if item.get("type") not in _NO_TOOLS])
    return port.ExecutorResult(
        "COMPLETE", task.session_id, **facts, tool_calls=calls, background=bool(left), unfinished=left
    )


def _conversation(events: Sequence[Event]) -> str | None:
    """The id by which the program goes on with a conversation; an earlier one keeps its own."""
    ids = (event.get("thread_id") for event in events if event.get("type") == "thread.started")
    return next((each for each in ids if isinstance(each, str) and each), None)


def last_error(events: Sequence[Event]) -> str | None:
    """The last error that the program told of without ending its turn."""
    return next((message(event) for event in reversed(events) if event.get("type") == "error"), None)


def message(told: Any) -> str | None:
    """The sentence of an error object."""
    text = told.get("message") if isinstance(told, Mapping) else None
    return text if isinstance(text, str) and text.strip() else None


def _unfinished(events: Sequence[Event]) -> tuple[str, ...]:
    """What began and had not ended at the end of the last turn."""
    under_way: dict[str, str] = {}
    for event in events:
        is_end = _is(event, "item.completed")
        if _is(event, "item.started") or (is_end and event["item"].get("status") == "in_progress"):
            under_way[str(event["item"].get("id"))] = _name(event["item"])
        elif is_end:
            under_way.pop(str(event["item"].get("id")), None)
    return tuple(f"{name} (still running)" for name in under_way.values())


def _is(event: Event, kind: str) -> bool:
    item = event.get("item")
    return event.get("type") == kind and isinstance(item, Mapping) and item.get("type") != "todo_list"


def _name(item: Event) -> str:
    name = next((" ".join(item[key].split()) for key in _NAMES if isinstance(item.get(key), str)), "a task")
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


def _usage(end: Event) -> dict[str, int] | None:
    usage = end.get("usage")
    if not isinstance(usage, Mapping):
        return None
    return {key: value for key, value in usage.items() if own_result.is_count(value)}
