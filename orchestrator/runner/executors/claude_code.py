"""The Claude Code program as an executor: headless, nobody to ask, its stream of JSON events read to the last one.

The stream is asked for rather than the one object at the end, because a silent program is ended by the progress
clock: each event is a sign of life. The result object is the same in both forms, and both are read.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Mapping, Sequence

from orchestrator.core import task_types
from orchestrator.core.running import program_variables, providers
from orchestrator.hints import Final
from orchestrator.runner import port, process
from orchestrator.runner.executors import claude_stream, command, failures, logins, reading, service_errors

NAME: Final = providers.CLAUDE_CODE
PROGRAM: Final = "claude"

WRITING: Final = ("--permission-mode", "acceptEdits")
"""Files of the project may be edited; anything else is what the project's own settings allow."""
ANSWERING: Final = ("--permission-mode", "default", "--disallowedTools", "Edit,Write,NotebookEdit")
"""For tasks that only ask. The tools that write are not even offered, whatever the project's settings allow: the mode
`plan` offers and then denies them, and a denial would make an error of a good answer."""

READING: Final = ("Read", "Glob", "Grep", "Bash")
EDITING: Final = ("Edit", "Write")
"""The tools of an agent's turn: of all, and of those who build or add tests besides."""
GIT_READS: Final = ("status", "diff", "log", "show")
GIT_WRITES: Final = ("add", "commit")
NEVER: Final = ("Bash(git -C *)", "Bash(git push *)", "Bash(git push)")

_INSTALL: Final = "install it with: npm install -g @anthropic-ai/claude-code"
_NAMESPACE: Final = uuid.UUID("5d0f7c9e-3a51-5d3c-9f2e-8f6f1f0a7b11")


class ClaudeCode:
    """Runs `claude -p` once for each attempt, with a conversation id made from the run's ids.

    The prompt is read from stdin, since everybody on the machine can read a process's arguments.

    Args:
        program: its name or path.
        variables: where the environment is taken from; this process's own where left out.
        arguments: further arguments; those that fit the type of the task where left out.
        stream: whether to ask for the stream of events, or for one JSON object at the end.
    """

    name: Final = NAME
    production: Final = True

    def __init__(
        self,
        program: str = PROGRAM,
        variables: Mapping[str, str] | None = None,
        arguments: Sequence[str] | None = None,
        *,
        stream: bool = True,
    ) -> None:
        self._program = program
        self._variables = os.environ if variables is None else variables
        self._arguments = arguments
        self._stream = stream

    def is_available(self) -> port.Availability:
        """Whether the program is there; whether somebody is logged in shows when it is called."""
        return command.program_state(self._program, program_variables.child(self._variables), _INSTALL)

    def is_logged_in(self) -> port.Availability:
        """Whether somebody is logged in, as the program itself says; no model is asked."""
        variables = program_variables.child(self._variables, needs=program_variables.OF_PROGRAM[NAME])
        return logins.claude_code(self._program, variables)

    def execute(
        self, task: port.ExecutorTask, *, watch: port.Watch | None = None, cancelled: port.Cancelled | None = None
    ) -> port.ExecutorResult:
        """Run the program under supervision and read its result object."""
        state = self.is_available()
        if not state.available:
            return failures.unavailable(task, state)
        argv = self.argv(task, issued := task.conversation or conversation(task))
        return command.of_provider(
            NAME, argv, task, self._variables, lambda ended: read(task, ended, issued), watch, cancelled
        )

    def argv(self, task: port.ExecutorTask, issued: str) -> list[str]:
        """The program and its arguments; the prompt is none of them."""
        shape = ("stream-json", "--verbose") if self._stream else ("json",)
        model = () if task.model is None else ("--model", task.model)
        given = self._arguments
        if given is None:
            given = ANSWERING if task.task_type in task_types.ANSWERS and not task.writes else WRITING
            if task.role is not None:
                given = turn_arguments(task)
        goes_on = "--session-id" if task.conversation is None else "--resume"
        return [self._program, "-p", "--output-format", *shape, goes_on, issued, *model, *given]


def turn_arguments(task: port.ExecutorTask) -> list[str]:
    """The tools of an agent's turn, as an exact list, and what it may do with them without being asked.

    Files are edited by mode, which reaches the agent's own folder alone. Of git single verbs are allowed: `git *` would
    reach other branches by `git -C`. The project's own hooks are for people.
    """
    writes, verbs = task.writes, GIT_READS + (GIT_WRITES if task.writes else ())
    allowed = [f"Bash(git {verb})" for verb in verbs] + [f"Bash(git {verb} *)" for verb in verbs]
    allowed += [f"Bash({each})" for each in task.commands]
    mode = "acceptEdits" if writes else "default"
    # The program counts what this one call of it costs, also where it goes on with a conversation.
    budget = () if task.budget is None else ("--max-budget-usd", f"{task.budget / 1_000_000:.6f}")
    tools = (*READING, *(EDITING if writes else ()))
    return [
        "--permission-mode", mode, "--tools", ",".join(tools), "--allowedTools", ",".join(allowed),
        "--disallowedTools", ",".join(NEVER), "--settings", '{"disableAllHooks": true}', *budget,
    ]  # fmt: skip


def conversation(task: port.ExecutorTask) -> str:
    """The id of the program's conversation, a UUID that belongs to this attempt alone."""
    told = f"\n{task.told}" if task.told else ""
    return str(uuid.uuid5(_NAMESPACE, f"{task.session_id}\n{task.run_id}\n{task.attempt}{told}"))


def read(task: port.ExecutorTask, ended: process.Ended, issued: str) -> port.ExecutorResult:
    """Turn what the program did and printed into a result.

    Args:
        task: the attempt.
        ended: how the program ended.
        issued: the conversation id that it was given.
    """
    stopped = failures.of_end(task, ended)
    if stopped is not None:
        return stopped
    return failures.with_status(task, failures.measured(_result(task, ended, issued), ended), ended)


def _result(task: port.ExecutorTask, ended: process.Ended, issued: str) -> port.ExecutorResult:
    try:
        reading.final_object(ended.stdout)
    except reading.Unreadable as error:
        return failures.unreadable(task, error, ended)
    found = claude_stream.read(task, reading.objects(ended.stdout), issued)
    if found is not None:
        return found._replace(conversation=issued)
    if ended.exit_code:
        return service_errors.of_status(task, ended)
    return failures.failed(task, "RESULT_CUT", "the program printed no result object", output=ended.output)
