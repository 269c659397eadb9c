"""`audit ...`: what happened, who decided it, and what was turned down."""

from __future__ import annotations

from orchestrator.doors.cli.options import (
    GROUP,
    INTEGER,
    LIMIT,
    PAGE,
    SESSION,
    SINCE,
    TEXT,
    Command,
    argument,
    option,
)

UNTIL = option("until", "Only what comes up to this step.", kind=INTEGER, metavar="SEQ")
_OF_BLOCKERS = {
    "agent": "Only what this role or agent opened or resolved.",
    "status": "Only what is open, or resolved.",
}
_NAMED = argument("session", "The session.", target="session_id", required=False)
FILTERS = (
    _NAMED._replace(help="The session; `store` is what belongs to none."),
    SESSION._replace(help=f"{SESSION.help} `store` is what belongs to none."),
    GROUP,
    option("agent", "Only what this role or agent did or was sent to do."),
    option("status", "Only what has this status."),
    *PAGE,
    UNTIL,
    option("order", "By step.", choices=("asc", "desc")),
)
OF_RECORD = (_NAMED, SESSION, *FILTERS[2:])
"""The same for what every session has and the store has not."""
BLOCKER_FILTERS = tuple(
    each._replace(help=_OF_BLOCKERS[each.name]) if each.name in _OF_BLOCKERS else each for each in OF_RECORD
)

COMMANDS = {
    each.words: each
    for each in (
        Command(
            "audit decisions",
            "List decisions: who was sent where, by which rule.",
            "orchestrator audit decisions S1 -g A --limit 20",
            FILTERS,
        ),
        Command(
            "audit timeline",
            "List all that happened, in the order of the record.",
            "orchestrator audit timeline S1 --since 40",
            FILTERS,
        ),
        Command(
            "audit refusals",
            "List what was refused: who tried what, and why not.",
            "orchestrator audit refusals S1 --agent orchestrator",
            FILTERS,
        ),
        Command(
            "audit blockers",
            "List open and resolved blockers: who opened and resolved each, how, and how long it stands or stood.",
            "orchestrator audit blockers S1 --status open",
            BLOCKER_FILTERS,
        ),
        Command(
            "audit gaps",
            "List where the record is not whole: reports without decisions, spawns without reports, groups moved"
            " without cause. Exit 1 where any is listed.",
            "orchestrator audit gaps S1",
            OF_RECORD,
        ),
        Command(
            "audit stats",
            "Count a session: reports by agent and status, rework, time in each role, escalations, refusals, and usage"
            """ where reports give it in their details: {"usage": {"input_tokens": N, "output_tokens": N}}.""",
            "orchestrator audit stats S1 --json",
            (_NAMED, SESSION, GROUP, SINCE, UNTIL),
        ),
        Command(
            "audit query",
            "Run one SQL statement that only reads (SELECT, WITH, VALUES, EXPLAIN, telling PRAGMAs). With --json rows"
            " are lists in the order of columns, bytes are hexadecimal digits, infinite numbers are texts.",
            "orchestrator audit query 'SELECT session_id,count(*) FROM agent_reports GROUP BY 1' --limit 20",
            (
                argument("sql", "The statement; - reads stdin, @FILE a file.", kind=TEXT),
                LIMIT._replace(help="How many rows at most; 1000 where left out."),
                option("timeout", "Seconds that it may take; 30 where left out.", kind=INTEGER, metavar="SECONDS"),
            ),
        ),
    )
}
