"""Commands of the command line as calls of the tools: what is suggested anywhere, in the words of this door.

Use cases suggest commands, since every door has people behind it who can type one; an agent here has tools alone. What
no tool and no resource does is said to be a command, for whoever runs the server.
"""

from __future__ import annotations

import functools
import json
import re
import shlex
from collections.abc import Iterator
from typing import Any

from orchestrator.app.kernel import arguments, outcomes
from orchestrator.core.tuples import NamedTuple
from orchestrator.doors.mcp.tools import SESSION, TOOLS, Tool

COMMAND_LINE = "at the command line: "
"""What stands before a command that is nothing for an agent here."""
_READ = "read orchestrator://"
_TEXTS = frozenset(("instruction", "text", "markdown"))
"""Keys whose texts may hold commands among other words."""
_DROPPED = frozenset(("by", "agent_id", "human_token_file"))
"""Who acts is the server's own."""
_FLAGS = frozenset(("brief", "dry_run", "interrupt", "run_commands"))
_SHORT = {"-s": SESSION, "-g": "group_id"}
_BEGIN = re.compile(r"(?<![\w/.-])orchestrator (?=[a-z])")
_TOKEN = re.compile(r"(?:'[^']*'|\"[^\"]*\"|\\.|[^\s'\"\\`])+")
_END = re.compile(r"[,;.:)]+\Z")
_OPTION = re.compile(r"--([a-z]+(?:-[a-z]+)*)\b")


class Form(NamedTuple):
    """How a command is said here.

    name: a tool; "" for a resource. positional: the tool's arguments that the command takes without a flag.
    fixed: what the call says besides. resource: what is read instead, below a session.
    """

    name: str
    positional: tuple[str, ...] = ()
    fixed: dict[str, Any] = {}  # noqa: RUF012 - never changed
    resource: str = ""


_TASK = ("id", "status")
FORMS = {
    "route": Form("route", ("current_agent", "status")),
    "next": Form("get_next_action"),
    "task set-status": Form("update_task_status", _TASK),
    "task status": Form("update_task_status", _TASK),
    "task claim": Form("update_task_status", ("id",), {"status": "in_progress"}),
    "validate": Form("validate_session", (SESSION,)),
    "status": Form("get_status", (SESSION,)),
    "session show": Form("get_status", (SESSION,)),
    "group list": Form("get_status"),
    "group show": Form("get_group", ("id",)),
    "why": Form("get_group", ("id",)),
    "audit decisions": Form("list_decisions"),
    "handoff": Form("handoff", ("group_id",)),
    "audit timeline": Form("", (), {}, "timeline"),
    "workflow show": Form("", (), {}, "workflow"),
}
"""What of the command line there is here, by the words of the command."""


class Command(NamedTuple):
    """A command that was found in a text: from where to where, its words, and how it is said here, if at all."""

    start: int
    end: int
    words: str
    said: str | None


def spoken(text: str) -> str:
    """A suggestion in the words of this door: calls instead of commands, and arguments instead of options."""
    found, last = [], 0
    for each in commands(text):
        said = each.said or text[each.start : each.end]
        if each.said is None and not text[: each.start].lower().endswith(COMMAND_LINE):
            said = COMMAND_LINE + said
        found += [_OPTION.sub(_argument, text[last : each.start]), said]
        last = each.end
    said = "".join([*found, _OPTION.sub(_argument, text[last:])])
    return said[:1].upper() + said[1:] if said.startswith(COMMAND_LINE) else said


def beside(document: Any) -> str:
    """The first command of each kind that an answer prints, with the call that it is here; empty without any."""
    kinds: dict[str, str] = {}
    for text in _texts(document):
        for each in commands(text):
            if each.said is not None:
                kinds.setdefault(each.words, f"{text[each.start : each.end]} is {each.said}")
    return "\n".join(["With the tools and resources of this server:", *kinds.values()]) if kinds else ""


def _texts(found: Any, name: str = "") -> Iterator[str]:
    if isinstance(found, dict):
        for key, value in found.items():
            yield from _texts(value, key)
    elif isinstance(found, list):
        for value in found:
            yield from _texts(value, name)
    elif isinstance(found, str) and (name in outcomes.COMMANDS or name in _TEXTS):
        yield found


def commands(text: str) -> Iterator[Command]:
    """The commands in a text, in order."""
    last = 0
    for match in _BEGIN.finditer(text):
        if match.start() >= last:
            found = _command(text, match)
            last = found.end
            yield found


def _command(text: str, match: re.Match[str]) -> Command:
    tokens = list(_tokens(text, match.end()))
    for count in (2, 1):
        words = " ".join(token for token, _ in tokens[:count])
        if words in FORMS and len(tokens) >= count:
            given, end = _given(FORMS[words], tokens[count:], tokens[count - 1][1])
            said = None if given is None else _said(FORMS[words], given)
            if said is not None:
                return Command(match.start(), end, words, said)
    return Command(match.start(), tokens[-1][1] if tokens else match.end(), "", None)


def _tokens(text: str, place: int) -> Iterator[tuple[str, int]]:
    """The words of a command with their ends, up to the end of the line or of the sentence that it stands in."""
    while (match := _TOKEN.match(text, place)) is not None:
        token = _END.sub("", match[0])
        if token:
            yield token, match.start() + len(token)
        if token != match[0] or text[match.end() : match.end() + 1] != " ":
            return
        place = match.end() + 1


def _given(form: Form, tokens: list[tuple[str, int]], end: int) -> tuple[dict[str, str | bool] | None, int]:
    """What a command gives, and where it ends; None where a tool takes no such thing."""
    given: dict[str, str | bool] = {}
    positional, fits, place = list(form.positional), True, 0
    while place < len(tokens):
        token, after = tokens[place]
        name = _SHORT.get(token) or (token[2:].replace("-", "_") if token.startswith("--") else "")
        if name in _FLAGS:
            given[name] = True
        elif name and place + 1 < len(tokens):
            place += 1
            after = tokens[place][1]
            given[name] = _plain(tokens[place][0])
        elif not name and positional and not token.startswith("-"):
            given[positional.pop(0)] = _plain(token)
        else:
            fits = not name
            break
        end = after
        place += 1
    return (given if fits else None), end


def _plain(token: str) -> str:
    try:
        return " ".join(shlex.split(token))
    except ValueError:
        return token


def _said(form: Form, given: dict[str, str | bool]) -> str | None:
    session = given.get(SESSION)
    if form.resource:
        return f"{_READ}{f'sessions/{session}/' if session else ''}{form.resource}"
    tool = TOOLS[form.name]
    named = {tool.aliases.get(name, name): value for name, value in given.items() if name not in _DROPPED}
    if not named.keys() <= tool.arguments.keys():
        return None
    call = {**{name: _value(tool, name, value) for name, value in named.items()}, **form.fixed}
    return f"{tool.name} {json.dumps(call, ensure_ascii=False)}" if call else tool.name


def _value(tool: Tool, name: str, value: str | bool) -> Any:
    if not isinstance(value, str):
        return value
    if name == "acknowledge":
        group, _, reason = value.partition("=")
        return {group: reason}
    kinds = arguments.parameters(tool.words)[name].kinds
    return int(value) if int in kinds and value.isascii() and value.isdecimal() else value


@functools.cache
def _known() -> frozenset[str]:
    return frozenset(name for tool in TOOLS.values() for name in tool.arguments)


def _argument(match: re.Match[str]) -> str:
    name = match[1].replace("-", "_")
    return name if name in _known() else match[0]
