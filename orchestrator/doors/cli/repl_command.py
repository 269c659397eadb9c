"""`repl`: tasks and commands, line by line, from a person or a script."""

from __future__ import annotations

from orchestrator.doors.cli.options import HUMAN, Command, Given, Result
from orchestrator.doors.cli.repl import flags


def _repl(given: Given) -> Result:
    # Whoever lists all commands needs nothing of what runs tasks.
    from orchestrator.doors.cli.repl import conversation

    return conversation.held(given)


COMMANDS = {
    "repl": Command(
        "repl",
        "Read tasks and commands line by line; each one is finished before the next is read. A line that begins"
        " with / is a command (/help lists them), any other text is a task. Exit codes: 0 all complete, 1 an error,"
        " 2 something incomplete or interrupted. With --json, every answer is one JSON object on one line.",
        "orchestrator repl --project . --non-interactive",
        (*flags.FLAGS, HUMAN),
        None,
        _repl,
        line="Run tasks and commands line by line.",
        answer=("runs.Line",),
    ),
}
