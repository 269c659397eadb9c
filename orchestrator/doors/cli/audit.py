"""`audit ...`: what happened, who decided it, and what was turned down."""

from __future__ import annotations

from orchestrator.doors.cli.options import GROUP, INTEGER, PAGE, SESSION, Command, option

FILTERS = (
    SESSION._replace(help=f"{SESSION.help} `store` is what belongs to none."),
    GROUP,
    option("agent", "Only what this role or agent did or was sent to do."),
    option("status", "Only what has this status."),
    *PAGE,
    option("until", "Only what comes up to this step.", kind=INTEGER, metavar="SEQ"),
    option("order", "By step.", choices=("asc", "desc")),
)

COMMANDS = {
    each.words: each
    for each in (
        Command(
            "audit decisions",
            "List decisions: who was sent where, by which rule.",
            "orchestrator audit decisions -s S1 -g A --limit 20",
            FILTERS,
        ),
        Command(
            "audit timeline",
            "List all that happened, in the order of the record.",
            "orchestrator audit timeline -s S1 --since 40",
            FILTERS,
        ),
        Command(
            "audit refusals",
            "List what was refused: who tried what, and why not.",
            "orchestrator audit refusals -s S1 --agent orchestrator",
            FILTERS,
        ),
    )
}
