"""`answer`: what follows from an answer is told to a person."""

from __future__ import annotations

from orchestrator.app.people.requests import AnswerQuestion
from orchestrator.doors.cli import invoke
from orchestrator.doors.cli.options import Given, Result, of_operation


def _answer(given: Given) -> Result:
    found = invoke.operation("answer", given)
    if given.json:
        return found
    from orchestrator.doors.cli import next_steps, text

    lines = [text.render("answer", found.answer), *next_steps.after_route(found.answer, given)]
    return found._replace(text="\n".join(lines))


COMMANDS = {"answer": of_operation(AnswerQuestion, handler=_answer)}
