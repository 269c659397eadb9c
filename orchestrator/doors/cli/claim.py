"""`task claim`, `task heartbeat` and `task release`: who has a task, and for how long."""

from __future__ import annotations

from orchestrator.doors.cli.options import INTEGER, REASON, REQUEST, SESSION, Command, argument, option

_AGENT = option("agent_id", "Who claims.", "--agent-id", "--by", "-a", metavar="AGENT")
_HOLDER = option(
    "by", "Who has the claim; the holder of the token where left out.", "--by", "--agent-id", metavar="AGENT"
)
_RELEASER = option(
    "by",
    "Who has the task, or stands above who has it; the holder of the token where left out.",
    "--by",
    "--agent-id",
    metavar="AGENT",
)
_TOKEN = option("claim_token", "The token that the claim was answered with.", metavar="TOKEN")
_LEASE = option("lease", "Seconds until others may take the task over.", kind=INTEGER, metavar="SECONDS")

COMMANDS = {
    each.words: each
    for each in (
        Command(
            "task claim",
            "Pick a task and claim it in one step; exactly one of many callers gets it."
            " Exit 1 where there is nothing to claim.",
            "orchestrator task claim T1 -s S1 --agent-id developer --lease 900",
            (
                argument("id", "The task; the one that `next` would offer where left out.", required=False),
                _AGENT,
                _LEASE,
                _TOKEN,
                SESSION,
                REQUEST,
            ),
        ),
        Command(
            "task heartbeat",
            "Give a sign of life: the lease of a claim begins anew.",
            "orchestrator task heartbeat T1 -s S1 --by developer --claim-token S1:C12",
            (argument("id", "The task."), _HOLDER, _TOKEN, _LEASE, SESSION, REQUEST),
        ),
        Command(
            "task release",
            "Give a task back, or free it of who is gone, so that it is todo again. Without the token one above"
            " releases what is claimed, with a reason unless its lease has ended.",
            "orchestrator task release T1 -s S1 --by developer --claim-token S1:C12",
            (
                argument("id", "The task."),
                _RELEASER,
                _TOKEN,
                REASON,
                option("expect_version", "Refuse if the task has another version.", kind=INTEGER, metavar="N"),
                SESSION,
                REQUEST,
            ),
        ),
    )
}
