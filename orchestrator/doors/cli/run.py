"""`run PROMPT`: one task from its words to its end."""

from __future__ import annotations

from orchestrator.core import task_types
from orchestrator.doors.cli.options import TEXT, Command, Given, Result, argument, option
from orchestrator.doors.cli.repl import flags


def _run(given: Given) -> Result:
    # Whoever lists all commands needs nothing of what runs a task.
    from orchestrator.doors.cli.repl import one_task

    return one_task.run(given)


COMMANDS = {
    "run": Command(
        "run",
        "Run one task: an executor does it, and the result is verified. Exit codes: 0 complete, 1 an error, 2"
        " incomplete or interrupted. It never prompts: a task that needs an answer ends incomplete, with its question.",
        "orchestrator run 'create notes.md' --type LIGHT_EDIT --project .",
        (
            argument("prompt", "What to do; - reads stdin, @FILE a file.", kind=TEXT),
            option("type", "Task type (default: guessed from the prompt).", choices=task_types.TYPES),
            *flags.FLAGS,
        ),
        None,
        _run,
        line="Run one task with an executor and verify the result.",
        answer=("runs.OneRun",),
    ),
}
