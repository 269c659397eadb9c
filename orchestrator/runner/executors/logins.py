"""Whether somebody is logged in to a client, as the client itself says without asking a model.

What it does not plainly deny counts as logged in: other versions answer otherwise, and the first turn would tell.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Mapping, Sequence

from orchestrator.core import strict_json
from orchestrator.core.running import program_variables
from orchestrator.core.suggestions import local, sentence
from orchestrator.runner import commands, port

_NOT_LOGGED_IN = "NOT_LOGGED_IN"
TIMEOUT_S = 20.0
"""Seconds that a client may take to say so."""
_SIZE = 64 * 1024


def claude_code(program: str, variables: Mapping[str, str]) -> port.Availability:
    """What `claude auth status` says, which knows keys, tokens and cloud providers as well."""
    ended = _ask((program, "auth", "status"), variables)
    try:
        found = strict_json.loads(ended.output[ended.output.find("{") :], "the answer", _SIZE)
    except strict_json.JsonProblem:
        return port.Availability(True)
    if isinstance(found, dict) and found.get("loggedIn") is False:
        what = sentence("Run {} and type /login, or set ANTHROPIC_API_KEY", local(program))
        return _missing("Claude Code is not logged in.", what)
    return port.Availability(True)


def codex(program: str, variables: Mapping[str, str]) -> port.Availability:
    """What `codex login status` says, where neither a variable nor its configuration makes a login needless."""
    if any(program_variables.is_secret(name) or name.startswith(("CODEX_OSS_", "AWS_")) for name in variables):
        return port.Availability(True)
    if re.search(r"(?m)^\s*model_provider\s*=", _configuration(variables)):
        return port.Availability(True)
    ended = _ask((program, "login", "status"), variables)
    if ended.status and "not logged in" in ended.output.lower():
        return _missing("Codex is not logged in.", sentence("{} login", local(program)))
    return port.Availability(True)


def _configuration(variables: Mapping[str, str]) -> str:
    home = variables.get("CODEX_HOME") or os.path.join(variables.get("HOME", ""), ".codex")
    with contextlib.suppress(OSError), open(os.path.join(home, "config.toml"), "rb") as file:
        return file.read(_SIZE).decode("utf-8", "replace")
    return ""


def _ask(argv: Sequence[str], variables: Mapping[str, str]) -> commands.Ended:
    given = tuple(variables.items())
    return commands.run(argv, folder="/", timeout_s=TIMEOUT_S, variables={}, extra=given, limit=_SIZE)


def _missing(reason: str, suggestion: str) -> port.Availability:
    return port.Availability(False, _NOT_LOGGED_IN, reason, suggestion)
