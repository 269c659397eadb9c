"""`mcp`: start the MCP door, which has the process from then on."""

from __future__ import annotations

import gc
import importlib

from orchestrator import resources
from orchestrator.app.kernel import requests
from orchestrator.core import names
from orchestrator.doors.cli import catalogue, output
from orchestrator.doors.cli.options import Command, Given, Result, option
from orchestrator.errors import EnvironmentProblem
from orchestrator.hints import Any

PACKAGES = ("mcp", "mcp_types", "anyio")
"""What the extra brings."""


def _mcp(given: Given) -> Result:
    agent, session = given.arguments.get("agent_id"), given.arguments.get("session_id")
    if agent is not None:
        names.check_agent_id(agent)
    if session is not None:
        names.check_id("session", session)
    door = _door()
    # A long life needs what a short one does without.
    gc.enable()
    output.occupy_closed_streams()
    from orchestrator.doors.cli import schema

    code = door.serve(door.Settings(agent, session, given.db, given.debug), schema.json_schema)
    return Result({}, exit_code=code, printed=True)


def _door() -> Any:
    try:
        return importlib.import_module(catalogue.DOORS["mcp"])
    except ImportError as error:
        lacking = error.name or ""
        if lacking.partition(".")[0] not in PACKAGES:
            raise
        raise EnvironmentProblem(
            "EXTRA_MISSING",
            f"The Python package mcp is missing, too old or too new: no {lacking}.",
            resources.installing("mcp"),
        ) from None


COMMANDS = {
    "mcp": Command(
        "mcp",
        "Serve the project over the Model Context Protocol: tools, resources and prompts, on stdin and stdout, until"
        " the input ends. Without --agent-id it serves a main agent, which starts the agents of every role and reports"
        " for those it has started. With --agent-id it serves that agent alone, and no call can name another. The log"
        " goes to stderr.",
        "orchestrator mcp",
        (
            option(
                "agent_id", "The agent the server acts as (default: the main agent, for every role it starts).",
                "--agent-id", "-a", metavar="AGENT",
            ),
            option("session_id", requests.SESSION.help, "--session-id", "-s", metavar="ID")._replace(
                variable=requests.SESSION.variable
            ),
        ),
        None,
        _mcp,
        line="Serve a team, or one agent, over the Model Context Protocol.",
    ),
}
