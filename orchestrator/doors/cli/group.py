"""`group create`: what follows from it is told to a person."""

from __future__ import annotations

from orchestrator.app.session.requests import CreateGroup
from orchestrator.doors.cli import invoke
from orchestrator.doors.cli.options import Given, Result, of_operation


def _create(given: Given) -> Result:
    found = invoke.operation("group create", given)
    if given.json or found.answer["group"]["status"] != "pending":
        return found
    from orchestrator.doors.cli import next_steps, text

    lines = [text.render("group create", found.answer), *next_steps.after_create(found.answer, given)]
    return found._replace(text="\n".join(lines))


COMMANDS = {"group create": of_operation(CreateGroup, handler=_create)}
