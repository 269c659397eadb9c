"""`schema COMMAND`: the JSON Schema of what a command answers."""

from __future__ import annotations

import json

from orchestrator.core import names
from orchestrator.doors.cli import catalogue
from orchestrator.doors.cli.options import WORDS, Command, Given, Parameter, Result
from orchestrator.errors import UsageError
from orchestrator.hints import Any


def _schema(given: Given) -> Result:
    words = " ".join(given.arguments["command"])
    if catalogue.known(words) is None:
        near = names.nearest(words, catalogue.every_words())
        hint = f"; did you mean {near}?" if near else "."
        raise UsageError(
            "USAGE", f"There is no command {names.shown(words)}{hint}", "orchestrator --help", did_you_mean=near
        )
    return Result({"db": None}, json.dumps(json_schema(words), indent=2), raw=True)


def json_schema(words: str) -> dict[str, Any]:
    """The JSON Schema of a command's answer, errors included.

    Raises:
        KeyError: there is no command of these words.
    """
    from orchestrator.app import answers

    names = catalogue.find(words).answer
    # A line of a batch says itself whether it failed.
    failing = () if words == "batch" or not names else (answers.FAILURE,)
    return answers.json_schema(words, (*names, *failing))


COMMANDS = {
    "schema": Command(
        "schema",
        "Print the JSON Schema of a command's answer.",
        "orchestrator schema group show",
        (Parameter("command", (), WORDS, "The words of the command.", True, "COMMAND..."),),
        None,
        _schema,
        line="Print the JSON Schema of a command's answer.",
    ),
}
