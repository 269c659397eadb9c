"""The program that asks a provider's API: `api_child.py REQUEST.json`. It prints JSON lines, the last is the result.

    {"text": "…", "usage": {…}}                                    the answer                     exit status 0
    {"kind": "ANSWER_CUT", "message": "…", "text": "…", "usage"…}  the beginning of one           exit status 0
    {"kind": "RATE_LIMIT", "message": "…", "text": "…"}            why there is none              exit status 1
    {"received": 12}                                               a sign of life, between those

It stands alone: it imports nothing of this project, so that it runs wherever the provider's package is. Whatever
arrives from the API is told once a second, as a sign of life.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from collections.abc import Iterator

from orchestrator.hints import Any

_SIGN_OF_LIFE_S = 1.0
_PART = "ANSWER_CUT"

_BY_STATUS = {
    400: "REQUEST_INVALID",
    401: "AUTHENTICATION",
    402: "CREDIT",
    403: "AUTHENTICATION",
    404: "MODEL_UNKNOWN",
    408: "API_TIMEOUT",
    413: "REQUEST_INVALID",
    422: "REQUEST_INVALID",
    429: "RATE_LIMIT",
    504: "API_TIMEOUT",
}
_BY_TYPE = {
    "authentication_error": "AUTHENTICATION",
    "permission_error": "AUTHENTICATION",
    "billing_error": "CREDIT",
    "insufficient_quota": "CREDIT",
    "not_found_error": "MODEL_UNKNOWN",
    "invalid_request_error": "REQUEST_INVALID",
    "rate_limit_error": "RATE_LIMIT",
    "rate_limit_exceeded": "RATE_LIMIT",
    "timeout_error": "API_TIMEOUT",
    "overloaded_error": "SERVICE",
    "api_error": "SERVICE",
}
# In this order: a timeout is also a connection error, and what the transport raises has no common parent.
_BY_CLASS = (
    ("Timeout", "API_TIMEOUT"),
    ("Connect", "CONNECTION"),
    ("Protocol", "CONNECTION"),
    ("NetworkError", "CONNECTION"),
    ("ReadError", "CONNECTION"),
    ("AuthenticationError", "AUTHENTICATION"),
    ("RateLimitError", "RATE_LIMIT"),
    ("APIError", "SERVICE"),
)
_WHOLE = ("end_turn", "stop_sequence", "stop")
_CUT = ("max_tokens", "length", "model_context_window_exceeded")


def main(argv: list[str]) -> int:
    """Ask and print; the exit status tells whether there is a whole answer."""
    with open(argv[0], encoding="utf-8") as file:
        request = json.load(file)
    # Importing such a package takes seconds on a busy machine.
    _sign_of_life(0)
    try:
        package = importlib.import_module(request["provider"])
    except ImportError as error:
        return _say({"kind": "EXTRA_MISSING", "message": f"{request['provider']} cannot be imported: {error}"})
    received: list[str] = []
    try:
        reason, usage = _ASK[request["provider"]](package, request, received)
    except Exception as error:
        return _say({"kind": kind(error), "message": message(error), "text": "".join(received)})
    return _say(_answer("".join(received), reason, usage))


def _say(found: dict[str, Any]) -> int:
    print(json.dumps(found), flush=True)
    return 0 if found.get("kind", _PART) == _PART else 1


def _answer(text: str, reason: str | None, usage: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"text": text, "usage": usage}
    if reason in _WHOLE:
        return found
    if reason is None or reason in _CUT:
        return found | {"kind": _PART, "message": f"the answer ends early ({reason or 'no reason given'})"}
    return found | {"kind": "ANSWER_REFUSED", "message": f"there is no answer ({reason})"}


def _settings(request: dict[str, Any]) -> dict[str, Any]:
    given = {"api_key": os.environ[request["key"]].strip(), "timeout": request["timeout_s"], "max_retries": 0}
    return given if request["base_url"] is None else given | {"base_url": request["base_url"]}


def _messages(request: dict[str, Any]) -> list[dict[str, str]]:
    return [{"role": "user", "content": request["prompt"]}]


def _ask_anthropic(package: Any, request: dict[str, Any], received: list[str]) -> tuple[str | None, dict[str, Any]]:
    client = package.Anthropic(**_settings(request))
    asked = {"model": request["model"], "max_tokens": request["max_tokens"], "messages": _messages(request)}
    reason, usage = None, {}
    for event in _alive(client.messages.create(stream=True, **asked)):
        if event.type == "message_start":
            usage.update(_counts(event.message.usage))
        elif event.type == "content_block_delta" and event.delta.type == "text_delta":
            received.append(event.delta.text)
        elif event.type == "message_delta":
            reason = event.delta.stop_reason
            usage.update(_counts(event.usage))
    return reason, usage


def _ask_openai(package: Any, request: dict[str, Any], received: list[str]) -> tuple[str | None, dict[str, Any]]:
    client = package.OpenAI(**_settings(request))
    asked = {"model": request["model"], "messages": _messages(request), "stream_options": {"include_usage": True}}
    reason, usage = None, {}
    for part in _alive(client.chat.completions.create(stream=True, **asked)):
        for choice in part.choices:
            received.append(choice.delta.content or "")
            reason = choice.finish_reason or reason
        usage.update(_counts(part.usage))
    return reason, usage


_ASK = {"anthropic": _ask_anthropic, "openai": _ask_openai}


def _alive(events: Any) -> Iterator[Any]:
    """The events as they come, with a line now and then."""
    told = time.monotonic()
    for count, event in enumerate(events, 1):
        if time.monotonic() - told >= _SIGN_OF_LIFE_S:
            told = time.monotonic()
            _sign_of_life(count)
        yield event


def _sign_of_life(count: int) -> None:
    print(json.dumps({"received": count}), flush=True)


def _counts(usage: Any) -> dict[str, int]:
    names = ("input_tokens", "output_tokens", "prompt_tokens", "completion_tokens", "total_tokens")
    return {name: value for name in names if isinstance(value := getattr(usage, name, None), int)}


def kind(error: Exception) -> str:
    """The kind of failure: by what the API calls it, then by its status, then by the class of the exception."""
    by_type = next((_BY_TYPE[word] for word in _types(error) if word in _BY_TYPE), None)
    status = getattr(error, "status_code", None)
    if "credit balance" in str(error).lower():
        return "CREDIT"
    if by_type == "CREDIT" or not isinstance(status, int) or status < 400:
        return by_type or _by_class(error)
    return _BY_STATUS.get(status, "SERVICE" if status >= 500 else "REQUEST_INVALID")


def _types(error: Exception) -> list[str]:
    body = getattr(error, "body", None)
    inner = body.get("error", body) if isinstance(body, dict) else None
    told = [inner.get("code"), inner.get("type")] if isinstance(inner, dict) else []
    return [str(each) for each in (*told, getattr(error, "code", None), getattr(error, "type", None)) if each]


def _by_class(error: Exception) -> str:
    names = [parent.__name__ for parent in type(error).__mro__]
    return next((found for word, found in _BY_CLASS if any(word in name for name in names)), "REQUEST_INVALID")


def message(error: Exception) -> str:
    """What the exception says, with what caused it where that says more."""
    told = f"{type(error).__name__}: {error}"
    return told if error.__cause__ is None else f"{told} ({type(error.__cause__).__name__}: {error.__cause__})"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
