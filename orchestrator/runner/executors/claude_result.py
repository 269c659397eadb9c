"""The result object that the Claude Code program prints last, and what it says about success."""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.core.hints import Any
from orchestrator.runner import port
from orchestrator.runner.executors import failures, own_result, service_errors


def is_one(found: Mapping[str, Any]) -> bool:
    """Whether an object is such a result, or a part of one that tells of failure."""
    return found.get("type") == "result" or "is_error" in found or "permission_denials" in found


def read(task: port.ExecutorTask, found: Mapping[str, Any], issued: str) -> port.ExecutorResult:
    """Turn the object into a result.

    Denied tools are an error also where the program calls it a success, and so is `is_error` with any status.

    Args:
        task: the attempt.
        found: the object.
        issued: the id that the program was given for its conversation.
    """
    if "permission_denials" in found and not _is_denials(found["permission_denials"]):
        return failures.failed(task, "RESULT_INVALID", "permission_denials is not a list of objects")
    tools = [_tool(denial) for denial in found.get("permission_denials", ())]
    text = found["result"] if isinstance(found.get("result"), str) else ""
    session, usage = _session(task, found, issued, failing=True), _usage(found)
    facts: dict[str, Any] = {"output": text, "session_id": session, "usage": usage}
    if found.get("subtype") == "error_max_budget_usd":
        return failures.failed(task, "BUDGET_EXHAUSTED", _words(found, text), denied_tools=tuple(tools), **facts)
    if tools:
        return failures.denied(task, tools, **facts)
    if found.get("is_error") is True:
        return failures.failed(task, _kind(found, text), _words(found, text), **facts)
    wrong = _unlike_success(found)
    if wrong:
        return failures.failed(task, "RESULT_INVALID", wrong, **facts)
    return port.ExecutorResult("COMPLETE", _session(task, found, issued), text, usage=usage)


def _session(task: port.ExecutorTask, found: Mapping[str, Any], issued: str, failing: bool = False) -> str | None:
    """The runner's session where the issued id is named, else the one named; a failure may also name none."""
    named = found.get("session_id")
    if named == issued or (named is None and failing):
        return task.session_id
    return None if named is None else str(named)


def _unlike_success(found: Mapping[str, Any]) -> str | None:
    if found.get("is_error") is not False:
        return "is_error is neither true nor false"
    if found.get("type") != "result" or found.get("subtype", "success") != "success":
        return f"type and subtype are {found.get('type')!r} and {found.get('subtype')!r}"
    return None if isinstance(found.get("result"), str) else "result is not a text"


def _kind(found: Mapping[str, Any], text: str) -> str:
    if found.get("subtype") == "error_max_turns":
        return "TURNS_EXHAUSTED"
    if found.get("api_error") == "usage_limit_reached":
        return "USAGE_LIMIT"
    return service_errors.kind(text, found.get("api_error_status"))


def _words(found: Mapping[str, Any], text: str) -> str:
    told = found.get("errors")
    told = [str(each) for each in told] if isinstance(told, list) else []
    return text or "; ".join(told) or f"the program reports an error ({found.get('subtype', 'without a kind')})"


def _is_denials(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, Mapping) for each in value)


def _tool(denial: Mapping[str, Any]) -> str:
    return str(denial.get("tool_name") or "a tool without a name")


def _usage(found: Mapping[str, Any]) -> dict[str, int] | None:
    usage = found.get("usage")
    if not isinstance(usage, Mapping):
        return None
    return {key: value for key, value in usage.items() if own_result.is_count(value)}
