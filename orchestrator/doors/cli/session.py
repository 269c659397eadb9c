"""`session testing-mode`: the mode may stand alone, since the session may be left out."""

from __future__ import annotations

import os

from orchestrator.app.session.requests import SetTestingMode
from orchestrator.doors.cli import coercion, invoke
from orchestrator.doors.cli.options import Given, Parameter, Result, of_operation


def _testing_mode(given: Given) -> Result:
    """One word is the mode, of two the first is the session."""
    arguments = dict(given.arguments)
    first = arguments.pop("first", None)
    if "mode" not in arguments and first is not None:
        arguments["mode"] = first
    elif first is not None:
        if arguments.get("id") == os.environ.get("ORCHESTRATOR_SESSION"):
            arguments.pop("id", None)
        coercion.agree(arguments, "id", first, "SESSION and --session-id")
    return invoke.operation("session testing-mode", given._replace(arguments=arguments))


def _lenient(parameter: Parameter) -> Parameter:
    """The first of two words may be left out, so that neither place is filled for sure."""
    if parameter.name == "session":
        return parameter._replace(target="first")
    return parameter._replace(required=False) if parameter.name == "mode" else parameter


_COMMAND = of_operation(SetTestingMode, handler=_testing_mode)

COMMANDS = {"session testing-mode": _COMMAND._replace(parameters=tuple(map(_lenient, _COMMAND.parameters)))}
