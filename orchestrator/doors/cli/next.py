"""`next`: what an agent does now, or with which commands a session goes on."""

from __future__ import annotations

from orchestrator.doors.cli.options import GROUP, SESSION, Command, option

COMMANDS = {
    each.words: each
    for each in (
        Command(
            "next",
            "Say what an agent does now. Without an agent, say with which commands a session goes on."
            " Exit 2 where the session waits for a person.",
            "orchestrator next --agent-id developer -s S1 --json",
            (
                option("agent_id", "Who asks.", "--agent-id", "-a", metavar="AGENT"),
                option("task", "About which task; else the agent's own.", metavar="ID"),
                SESSION,
                GROUP._replace(help="Without an agent: only this group."),
            ),
        ),
    )
}
