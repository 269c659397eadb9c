"""`inbox`, `answer` and `human enrol`: what waits for a person, and how a person is known."""

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
            "Answer a question, as a person: at a terminal, or with a token that `human enrol` gave out. What was kept"
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
        Command(
            "human enrol",
            "Give a person a token that proves them where there is no terminal. It is printed this once and kept"
            " nowhere; any older one of theirs ends with it. Done at a terminal.",
            "orchestrator human enrol --agent user",
            (option("agent", "The person; else the only one there is.", metavar="AGENT"), BY),
        ),
    )
}  # fmt: skip
