"""Answers as text for people: pure functions from an answer to lines, fitted to the screen that `screen` knows.

Each operation has its function, loaded when it is asked for; any other answer is shown key by key.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable

from orchestrator.doors.cli import screen
from orchestrator.doors.cli.text import layout
from orchestrator.hints import Any

Answer = dict[str, Any]

_PLACES = {
    "status": "standing:status",
    "route": "changed:decision",
    "redispatch": "changed:decision",
    "answer": "changed:decision",
    "workflow show": "workflows:version",
    "workflow versions": "workflows:versions",
    "workflow diff": "workflows:differences",
    "workflow graph": "workflows:graph",
    "workflow what-if": "workflows:what_if",
    "audit replay": "records:replay",
    "audit export": "records:export",
    "inbox": "inbox:inbox",
    "human enrol": "people:enrolled",
    "human list": "people:listed",
    "human link": "people:link",
    "human remove": "people:removed",
    "human reset": "people:reset",
    "session create": "changed:session",
    "session pause": "changed:session",
    "session resume": "changed:session",
    "session end": "changed:session",
    "session testing-mode": "changed:session",
    "session upgrade-workflow": "changed:session",
    "session show": "standing:session",
    "session list": "lists:sessions",
    "group create": "changed:group",
    "group set-status": "changed:group",
    "group depend": "changed:group",
    "group undepend": "changed:group",
    "group show": "groups:group",
    "group list": "lists:groups",
    "agent register": "changed:agent",
    "agent deactivate": "changed:agent",
    "agent show": "agents:agent",
    "agent list": "lists:agents",
    "agent tree": "agents:tree",
    "criterion add": "verdicts:criterion",
    "criterion approve": "verdicts:criterion",
    "criterion set": "verdicts:criterion",
    "criterion remove": "verdicts:criterion",
    "criterion list": "verdicts:criteria",
    "import peer": "groups:peer",
    "validate": "verdicts:verdict",
    "task create": "tasks:changed",
    "task set-status": "tasks:changed",
    "task status": "tasks:changed",
    "task depend": "tasks:changed",
    "task undepend": "tasks:changed",
    "task show": "tasks:task",
    "task list": "tasks:tasks",
    "blocker list": "tasks:blockers",
    "blocker show": "tasks:blocker",
    "blocker resolve": "tasks:blocker",
    "next": "nexts:next",
    "task claim": "nexts:claim",
    "task heartbeat": "nexts:claim",
    "task release": "nexts:claim",
    "why": "explained:why",
    "handoff": "explained:handoff",
    "audit decisions": "lists:decisions",
    "audit refusals": "lists:refusals",
    "audit timeline": "lists:timeline",
    "audit verify": "verified:verified",
    "audit head": "verified:heads",
    "audit blockers": "audits:blockers",
    "audit gaps": "audits:gaps",
    "audit stats": "audits:stats",
    "audit query": "audits:query",
}


_DOCUMENTS = ("handoff", "workflow show", "workflow graph", "workflow diff")
"""Answers whose own lines are kept, however long."""


def render(words: str, answer: Answer) -> str:
    """An answer as readable text, without a final line break.

    Args:
        words: the operation that gave the answer, such as `group show`.
        answer: what it answered; texts in it may hold anything, and no control character of theirs gets out.
    """
    place = _PLACES.get(words)
    if place is None:
        from orchestrator.doors.cli import shapes

        return shapes.everything(answer)
    module, _, function = place.partition(":")
    lines: Callable[[Answer], list[str]] = getattr(
        importlib.import_module(f"orchestrator.doors.cli.text.{module}"), function
    )
    past = answer.get("as_of")
    head = [f"As of step {past['seq']}, {screen.when(past['at'])}:"] if past else []
    text = "\n".join([*head, *lines(answer)]).rstrip("\n")
    return text if words in _DOCUMENTS else layout.fitted(text)
