"""`blocker ...`: what stands in the way of groups and tasks, one by one."""

from __future__ import annotations

from orchestrator.doors.cli.options import CHANGE, GROUP, PAGE, SESSION, Command, argument, flag, option

COMMANDS = {
    each.words: each
    for each in (
        Command(
            "blocker list",
            "List the blockers of a session.",
            "orchestrator blocker list -s S1 -g A --open",
            (
                SESSION,
                GROUP,
                option("task", "Only those of this task.", metavar="ID"),
                flag("open", "Only those that are not resolved.", "--open"),
                *PAGE,
            ),
        ),
        Command(
            "blocker show",
            "Show a blocker: who opened it, when and why, and what became of it.",
            "orchestrator blocker show S1:B12 -s S1",
            (argument("id", "The blocker."), SESSION),
        ),
        Command(
            "blocker resolve",
            "Resolve a blocker, as far as it is yours to lift.",
            "orchestrator blocker resolve S1:B12 -s S1 --by developer --reason 'the file is there now'",
            (argument("id", "The blocker."), SESSION, *CHANGE),
        ),
    )
}
