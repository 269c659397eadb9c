"""`schema COMMAND`: the JSON Schema of what a command answers."""

from __future__ import annotations

import json

from orchestrator.core import names
from orchestrator.doors.cli import catalogue
from orchestrator.doors.cli.options import WORDS, Command, Given, Parameter, Result
from orchestrator.errors import UsageError


def _schema(given: Given) -> Result:
    words = " ".join(given.arguments["command"])
    if words not in catalogue.COMMANDS:
        near = names.nearest(words, catalogue.COMMANDS)
        hint = f"; did you mean {near}?" if near else "."
        raise UsageError(
            "USAGE", f"There is no command {names.shown(words)}{hint}", "orchestrator --help", did_you_mean=near
        )
    from orchestrator.doors.cli import answers

    return Result({"db": None}, json.dumps(answers.json_schema(words), indent=2), raw=True)


COMMANDS = {
    "schema": Command(
        "schema",
        "Print the JSON Schema of a command's answer.",
        "orchestrator schema group show",
        (Parameter("command", (), WORDS, "The command's words.", True, "COMMAND..."),),
        None,
        _schema,
    ),
}
