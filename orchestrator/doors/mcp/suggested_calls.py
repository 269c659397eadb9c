"""Suggestions in the words of this door: calls of tools, and resources to read.

An agent here has tools alone. What no tool and no resource does is said to be a command, for whoever runs the server,
or for a person where it needs one.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping
from typing import Any

from orchestrator.core import suggestions
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.suggestions import PERSON, Suggestion
from orchestrator.doors.mcp.main_tools import MAIN_TOOLS
from orchestrator.doors.mcp.tools import SESSION, TOOLS, Tool

COMMAND_LINE = "at the command line: "
"""What stands before a command that is nothing for an agent here."""
_FOR_A_PERSON = f"for a person, {COMMAND_LINE}"
_NONE: Mapping[str, Any] = {}
_SERVERS_OWN = frozenset(("by", "agent_id", "human_token_file"))
"""Who acts is fixed when the server is started."""


class Form(NamedTuple):
    """A tool that does for an operation which has none of its own.

    renamed: the tool's arguments by the operation's parameters. fixed: what the call says besides.
    """

    tool: str
    renamed: Mapping[str, str] = _NONE
    fixed: Mapping[str, Any] = _NONE


FORMS = {
    "group list": Form("get_status"),
    "session show": Form("get_status", {"id": SESSION}),
    "task claim": Form("update_task_status", fixed={"status": "in_progress"}),
    "why": Form("get_group"),
}
"""Operations that another tool does for, by their words."""
RESOURCES = {"audit timeline": "timeline", "workflow show": "workflow"}
"""What is read instead of calling an operation, below a session where one is named."""
Worded = Callable[[Suggestion], str]


def _forms(tools: Mapping[str, Tool]) -> dict[str, Form]:
    """The tool that does for an operation, by its words."""
    return {**FORMS, **{tool.words: Form(tool.name) for tool in reversed(list(tools.values()))}}


def _worded(tools: Mapping[str, Tool], forms: Mapping[str, Form], suggestion: Suggestion) -> str:
    """A suggestion in the words of a server with these tools."""
    words, given = suggestion.operation, suggestion.arguments
    if not words:
        return _arguments(tools, suggestion)
    if suggestion.is_typed:
        return suggestion
    if words in RESOURCES and given.keys() <= {SESSION}:
        place = f"sessions/{given[SESSION]}/" if SESSION in given else ""
        return f"read orchestrator://{place}{RESOURCES[words]}"
    form = forms.get(words)
    return (_call(tools, form, given) if form else None) or _command(suggestion)


worded: Worded = functools.partial(_worded, TOOLS, _forms(TOOLS))
"""A suggestion in the words of the server of one agent."""
main_worded: Worded = functools.partial(
    _worded, MAIN_TOOLS, {**_forms(MAIN_TOOLS), "handoff": Form("handoff", fixed={"start": True})}
)
"""The same of the main agent's server, which reads a hand-off to start its agent."""


def _command(suggestion: Suggestion) -> str:
    """The command itself, without the database, which the server was told and no agent is."""
    given = {name: value for name, value in suggestion.arguments.items() if name != "db"}
    line = suggestions.command_line(suggestion.operation, given)
    return f"{_FOR_A_PERSON if suggestion.audience == PERSON else COMMAND_LINE}{line}"


def _call(tools: Mapping[str, Tool], form: Form, given: Mapping[str, Any]) -> str | None:
    """The call of a tool; None where the tool takes no such thing."""
    tool = tools[form.tool]
    named = {form.renamed.get(name, name): value for name, value in given.items() if name not in _SERVERS_OWN}
    if not named.keys() <= tool.arguments.keys():
        return None
    call = {**{name: _value(tool, name, value) for name, value in named.items()}, **form.fixed}
    return f"{tool.name} {json.dumps(call, ensure_ascii=False)}" if call else tool.name


def _value(tool: Tool, name: str, value: Any) -> Any:
    """A value as the tool takes it; one that stands for a number stays as it is written."""
    kinds = tool.parameters[name].kinds
    return int(value) if int in kinds and isinstance(value, str) and value.isdecimal() else value


def _arguments(tools: Mapping[str, Tool], suggestion: Suggestion) -> str:
    """Arguments of the call that is answered; what no tool takes is an option of the command line."""
    known = {name for tool in tools.values() for name in tool.arguments}
    if not suggestion.arguments.keys() <= known:
        return suggestion
    return " ".join(
        name if value is True else f"{name} {value if isinstance(value, str | int) else json.dumps(value)}"
        for name, value in suggestion.arguments.items()
    )
