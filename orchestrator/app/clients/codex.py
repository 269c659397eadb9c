"""The adapter for Codex: events of the same names as Claude Code's, with tools and agents of its own.

Models differ in the tools by which they start agents. With those of the first kind an agent's message is plain, and its
agent is called by an id. With those of the second ("collaboration") the message is encrypted for the model, so that no
hook can read or replace it, and an agent is called by the path of its task's name; a start gives it a name of ours.

Source: spec 80, section 4.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from orchestrator.app.clients import events, transcripts
from orchestrator.app.clients.events import Event, Reply, part, text
from orchestrator.core import strict_json
from orchestrator.hints import Any

GUARDING = ("PreToolUse",)
"""The events that are denied if anything goes wrong."""
PLAIN = ("", "multi_agent_v1")
"""The namespaces of tools of the first kind. A hook is told a tool's name with its namespace before it."""
FOREIGN = "mcp__"
"""The prefix of tools that one of the user's MCP servers offers."""
TOOLS = {
    "spawn_agent": events.START, "send_input": events.MESSAGE, "send_message": events.MESSAGE,
    "followup_task": events.MESSAGE, "wait_agent": events.WAIT, "close_agent": events.WAIT,
    "interrupt_agent": events.WAIT, "apply_patch": events.BUILD,
}  # fmt: skip
"""What its tools do, by their names without a namespace."""
BUILDS = tuple(name for name, kind in TOOLS.items() if kind == events.BUILD)
ROOT = "/root/"
"""The main agent's path; the agents that it starts are named below it."""
_STOPPED = "close_agent", "interrupt_agent"
_NAMED = r"\A[a-z_]{1,80}_(\d{1,15})\Z"
_PATH = rb'"agent_path"\s*:\s*"(/root/[a-z0-9_/]{1,300})"'
_HEAD_BYTES = 16 * 1024
"""How much of a transcript is searched for the agent's path; the instructions follow it."""


def read(document: Mapping[str, Any], environment: Mapping[str, str], owner: str | None) -> Event:
    """An event of the client.

    Args:
        document: what it wrote to the hook's stdin.
        environment: the hook's own.
        owner: the client's process, where it is known.
    """
    given, name = part(document, "tool_input"), text(document, "hook_event_name")
    space, tool = _tool(text(document, "tool_name"))
    kind, is_sealed = TOOLS.get(tool, ""), space not in PLAIN
    trace = text(document, "agent_transcript_path") or (
        text(document, "transcript_path") if name == "SubagentStart" else None
    )
    worker = text(document, "agent_id") or None
    if worker and trace:
        worker = _path(trace) or worker
    response = _response(document)
    return Event(
        name=name,
        client=text(document, "session_id"),
        owner=owner,
        worker=worker,
        role=text(given, "agent_type") if kind == events.START else text(document, "agent_type"),
        tool=kind,
        given=given,
        call_id=text(document, "tool_use_id") or None,
        started=_started(kind, given, response, is_sealed=is_sealed),
        message=text(document, "last_assistant_message"),
        trace=trace,
        prompt=text(document, "prompt") or text(given, "message"),
        reason=text(document, "reason"),
        source=text(document, "source"),
        folder=text(document, "cwd") or None,
        start=_start_of(worker),
        failed=_failed(tool, given, response, is_sealed=is_sealed) if name == "PostToolUse" else (),
        asks=("agent_type", "message"),
        is_sealed=is_sealed,
        wakes=False,
    )


def hands_back(_: Mapping[str, Any]) -> bool:
    """Whether an agent is about to give its last message by a tool: there is none for that."""
    return False


def refusal(_: Event, __: Reply) -> None:
    """Why an event is denied that only an exit code denies: there is none."""
    return


def answer(event: Event, reply: Reply) -> dict[str, Any] | None:
    """What the client is told; None where it is told nothing."""
    return events.answer(event, reply, _call(event, reply))


def _call(event: Event, reply: Reply) -> dict[str, Any] | None:
    """The input that the tool gets instead: without the caller's conversation, in the model that the caller has.

    The message is the hand-off, or, where it cannot be replaced, what the caller wrote; then the name tells the start.
    """
    if reply.begin is None:
        return None
    given = event.given or {}
    own = {"agent_type": given.get("agent_type")}
    if not event.is_sealed:
        return {**own, "message": reply.begin.hand_off}
    role = re.sub(r"[^a-z]", "_", event.role.lower())[:60]
    name = f"{role}_{reply.begin.start}"
    return {**own, "message": given.get("message"), "task_name": name, "fork_turns": "none"}


def _start_of(worker: str | None) -> int | None:
    """The step of the start that gave an agent its name; None where it has another one."""
    found = re.match(_NAMED, worker.removeprefix(ROOT)) if worker else None
    return int(found[1]) if found else None


def _tool(name: str) -> tuple[str, str]:
    """The namespace and the name of a tool that the rules know; another one has its whole name and no namespace.

    Users may give the second kind a namespace of their own.
    """
    tool = next((each for each in TOOLS if name.endswith(each)), None)
    return ("", name) if tool is None or name.startswith(FOREIGN) else (name.removesuffix(tool), tool)


def _response(document: Mapping[str, Any]) -> dict[str, Any]:
    """What a tool has answered; these tools answer JSON as a text."""
    found = document.get("tool_response")
    if isinstance(found, str):
        try:
            found = strict_json.lenient(found)
        except ValueError:
            return {}
    return found if isinstance(found, dict) else {}


def _started(kind: str, given: Mapping[str, Any], response: Mapping[str, Any], *, is_sealed: bool) -> str | None:
    """The agent that a tool has started, or that a message is for."""
    if kind == events.START:
        return text(response, "task_name" if is_sealed else "agent_id") or None
    target = text(given, "target")
    return (_absolute(target) if is_sealed else target) or None


def _absolute(name: str) -> str:
    """The path of an agent that the main agent has named."""
    return name if not name or name.startswith("/") else f"{ROOT}{name}"


def _failed(
    tool: str, given: Mapping[str, Any], response: Mapping[str, Any], *, is_sealed: bool
) -> tuple[tuple[str, str], ...]:
    """The agents that have failed or were stopped, as the answer of a tool says; no event of their own says it."""
    target = text(given, "target")
    if tool in _STOPPED and response.get("previous_status") == "running":
        return ((_absolute(target) if is_sealed else target, "its agent was stopped by the main agent"),)
    status = part(response, "status").items() if tool == "wait_agent" else ()
    return tuple(
        (worker, text(state, "errored")) for worker, state in status
        if isinstance(state, dict) and text(state, "errored")
    )  # fmt: skip


def _path(trace: str) -> str | None:
    """The path by which an agent is called, out of its transcript; None where it is called by its id."""
    found = re.search(_PATH, transcripts.head(trace, _HEAD_BYTES) or b"")
    return found[1].decode() if found else None
