"""The adapter for Claude Code: its events as JSON on stdin, its answers as JSON on stdout."""

from __future__ import annotations

import os
from collections.abc import Mapping

from orchestrator.app.clients.events import Event, Reply, bounded
from orchestrator.hints import Any

TASKS = ("TaskCreated", "TaskCompleted")
"""Events about the client's own list of tasks, which only an exit code denies."""
GUARDING = ("PreToolUse", *TASKS)
"""The events that are denied if anything goes wrong."""
STARTING = ("Agent", "Task")
"""The tool that starts an agent, by its names."""
HANDING_BACK = "SubagentHandback"
"""The tool with which an agent at a terminal gives its last message; its stop carries none then."""
_SUBAGENTS = "subagents"


def read(document: Mapping[str, Any], environment: Mapping[str, str], owner: str | None) -> Event:
    """An event of the client.

    Args:
        document: what it wrote to the hook's stdin.
        environment: the hook's own.
        owner: the client's process, where it is known.
    """
    given = _object(document, "tool_input")
    client = _text(document, "session_id") or environment.get("CLAUDE_CODE_SESSION_ID", "")
    response = _object(document, "tool_response")
    worker = _text(document, "agent_id") or None
    return Event(
        name=_text(document, "hook_event_name"),
        client=client,
        owner=owner,
        worker=worker,
        # Where an agent starts another, its own type is told as well.
        role=_text(given, "subagent_type") or _text(document, "agent_type"),
        tool=_text(document, "tool_name"),
        given=given,
        call_id=_text(document, "tool_use_id") or None,
        started=_text(response, "agentId") or _text(given, "to") or None,
        message=_text(document, "last_assistant_message") or (_text(given, "message") if hands_back(document) else ""),
        trace=_text(document, "agent_transcript_path") or _trace(document, _text(response, "agentId") or worker),
        prompt=_text(document, "prompt") or _subject(document),
        reason=_text(document, "error") or _text(document, "reason"),
        source=_text(document, "source"),
        background=bool(document.get("background_tasks")),
        folder=_text(document, "cwd") or None,
    )


def hands_back(document: Mapping[str, Any]) -> bool:
    """Whether an agent is about to give its last message by a tool."""
    return document.get("hook_event_name") == "PreToolUse" and document.get("tool_name") == HANDING_BACK


def refusal(event: Event, reply: Reply) -> str | None:
    """Why an event is denied that only an exit code denies."""
    return bounded(reply.deny) if event.name in TASKS and reply.deny is not None else None


def answer(event: Event, reply: Reply) -> dict[str, Any] | None:
    """What the client is told; None where it is told nothing."""
    own: dict[str, Any] = {"hookEventName": event.name}
    if reply.deny is not None:
        own |= {"permissionDecision": "deny", "permissionDecisionReason": bounded(reply.deny)}
    elif reply.call is not None:
        own |= {"permissionDecision": "allow", "updatedInput": reply.call}
    elif reply.block is not None:
        return {"decision": "block", "reason": bounded(reply.block)}
    elif reply.context is not None:
        own["additionalContext"] = bounded(reply.context)
    else:
        return None
    return {"hookSpecificOutput": own}


def _trace(document: Mapping[str, Any], worker: str | None) -> str | None:
    """The transcript that the client writes of an agent, by the way it names these."""
    main = _text(document, "transcript_path")
    if not main.endswith(".jsonl") or not worker or "/" in worker:
        return None
    return os.path.join(main.removesuffix(".jsonl"), _SUBAGENTS, f"agent-{worker}.jsonl")


def _subject(document: Mapping[str, Any]) -> str:
    """What an entry of the client's list of tasks is about."""
    return f"{_text(document, 'task_subject')}\n{_text(document, 'task_description')}".strip()


def _text(document: Mapping[str, Any], name: str) -> str:
    value = document.get(name)
    return value if isinstance(value, str) else ""


def _object(document: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = document.get(name)
    return value if isinstance(value, dict) else {}
