"""`inbox` and `answer`: what waits for a person."""

from __future__ import annotations

from orchestrator.doors.cli import calling, route
from orchestrator.doors.cli.options import (
    BY,
    HUMAN,
    LIMIT,
    OF_SESSION,
    REQUEST,
    TEXT,
    Command,
    Given,
    Result,
    argument,
    option,
)


def _answer(given: Given) -> Result:
    found = calling.operation("answer", given)
    if given.json:
        return found
    from orchestrator.doors.cli import following

    return found._replace(text="\n".join([route.show(found.answer), *following.after_route(found.answer, given)]))


COMMANDS = {
    each.words: each
    for each in (
        Command(
            "inbox",
            "List what waits for a person, the oldest first: what each answer would do, and the command that gives it.",
            "orchestrator inbox --json",
            (OF_SESSION, LIMIT, option("since", "Only what comes after this question.", metavar="ID")),
        ),
        Command(
            "answer",
            "Answer a question, as a person: at a terminal, or with what `human enrol` has enrolled. What was kept"
            " back goes on as the decision says; the note goes to whoever is started.",
            "orchestrator answer S1:Q12 --decision revise --note 'use the staging database'",
            (
                argument("id", "The question, as the inbox names it."),
                option(
                    "decision", "What is to happen.", required=True,
                    choices=("continue", "revise", "abandon", "yes", "no"),
                ),
                option("note", "For whoever goes on; kept in the record.", kind=TEXT),
                OF_SESSION._replace(help="The question's session, which its id names as well."),
                BY,
                HUMAN,
                REQUEST,
            ),
            route.show,
            _answer,
        ),
    )
}  # fmt: skip
