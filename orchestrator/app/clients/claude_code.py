"""The adapter for Claude Code: its events as JSON on stdin, its answers as JSON on stdout."""

from __future__ import annotations

import os
from collections.abc import Mapping

from orchestrator.app.clients import events
from orchestrator.app.clients.events import Event, Reply, bounded, part, text
from orchestrator.hints import Any

TASKS = ("TaskCreated", "TaskCompleted")
"""Events about the client's own list of tasks, which only an exit code denies."""
GUARDING = ("PreToolUse", *TASKS)
"""The events that are denied if anything goes wrong."""
HANDING_BACK = "SubagentHandback"
"""The tool with which an agent at a terminal gives its last message; its stop carries none then."""
TOOLS = {
    "Agent": events.START, "Task": events.START, "SendMessage": events.MESSAGE, HANDING_BACK: events.HAND_BACK,
    "Edit": events.BUILD, "Write": events.BUILD, "NotebookEdit": events.BUILD,
}  # fmt: skip
"""What its tools do."""
MODELS = ("sonnet", "opus", "haiku", "fable")
"""Models by the names that the starting tool knows; of another one it is not told."""
_SUBAGENTS = "subagents"


def read(document: Mapping[str, Any], environment: Mapping[str, str], owner: str | None) -> Event:
    """An event of the client.

    Args:
        document: what it wrote to the hook's stdin.
        environment: the hook's own.
        owner: the client's process, where it is known.
    """
    given = part(document, "tool_input")
    client = text(document, "session_id") or environment.get("CLAUDE_CODE_SESSION_ID", "")
    response = part(document, "tool_response")
    worker = text(document, "agent_id") or None
    return Event(
        name=text(document, "hook_event_name"),
        client=client,
        owner=owner,
        worker=worker,
        # Where an agent starts another, its own type is told as well.
        role=text(given, "subagent_type") or text(document, "agent_type"),
        tool=TOOLS.get(text(document, "tool_name"), ""),
        given=given,
        call_id=text(document, "tool_use_id") or None,
        started=text(response, "agentId") or text(given, "to") or None,
        message=text(document, "last_assistant_message") or (text(given, "message") if hands_back(document) else ""),
        trace=text(document, "agent_transcript_path") or _trace(document, text(response, "agentId") or worker),
        prompt=text(document, "prompt") or text(given, "prompt") or _subject(document),
        reason=text(document, "error") or text(document, "reason"),
        source=text(document, "source"),
        background=bool(document.get("background_tasks")),
        folder=text(document, "cwd") or None,
    )


def hands_back(document: Mapping[str, Any]) -> bool:
    """Whether an agent is about to give its last message by a tool."""
    return document.get("hook_event_name") == "PreToolUse" and document.get("tool_name") == HANDING_BACK


def refusal(event: Event, reply: Reply) -> str | None:
    """Why an event is denied that only an exit code denies."""
    return bounded(reply.deny) if event.name in TASKS and reply.deny is not None else None


def answer(event: Event, reply: Reply) -> dict[str, Any] | None:
    """What the client is told; None where it is told nothing."""
    return events.answer(event, reply, _call(event, reply))


def _call(event: Event, reply: Reply) -> dict[str, Any] | None:
    """The input that the tool gets instead: the hand-off in place of the prompt, and a model that the tool knows."""
    if reply.begin is None:
        return None
    given = {name: value for name, value in (event.given or {}).items() if name != "model"}
    model = {"model": reply.begin.model} if reply.begin.model in MODELS else {}
    return {**given, "prompt": reply.begin.hand_off, "subagent_type": given.get("subagent_type"), **model}


def _trace(document: Mapping[str, Any], worker: str | None) -> str | None:
    """The transcript that the client writes of an agent, by the way it names these."""
    main = text(document, "transcript_path")
    if not main.endswith(".jsonl") or not worker or "/" in worker:
        return None
    return os.path.join(main.removesuffix(".jsonl"), _SUBAGENTS, f"agent-{worker}.jsonl")


def _subject(document: Mapping[str, Any]) -> str:
    """What an entry of the client's list of tasks is about."""
    return f"{text(document, 'task_subject')}\n{text(document, 'task_description')}".strip()
