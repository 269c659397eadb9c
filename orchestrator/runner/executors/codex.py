"""The Codex program as an executor: `codex exec`, headless, its events read to the end of its turn.

Nobody can be asked, so its sandbox decides: an agent that may write reaches its own folder and the system's temporary
ones, no other repository and no network.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from orchestrator.core import task_types
from orchestrator.core.running import program_variables, providers
from orchestrator.hints import Final
from orchestrator.runner import port, process
from orchestrator.runner.executors import codex_stream, command, failures, logins, reading, service_errors

NAME: Final = providers.CODEX
PROGRAM: Final = "codex"

WRITING: Final = ("--sandbox", "workspace-write")
"""What it starts may write in the project."""
ANSWERING: Final = ("--sandbox", "read-only")
"""For tasks that only ask."""
NO_HOOKS: Final = ("--disable", "hooks")
"""For an agent's turn: the project's own hooks are for people."""
_TEMPORARY: Final = (("exclude_slash_tmp", "/tmp"), ("exclude_tmpdir_env_var", ""))  # noqa: S108 - compared with, not used
"""Settings that take a temporary folder out of the sandbox, and which; blank is that of the environment."""

_INSTALL: Final = "install it with: npm install -g @openai/codex"


class Codex:
    """Runs `codex exec` once for each attempt; the prompt is read from stdin, and a project need not be a repository.

    Args:
        program: its name or path.
        variables: where the environment is taken from; this process's own where left out.
    """

    name: Final = NAME
    production: Final = True

    def __init__(self, program: str = PROGRAM, variables: Mapping[str, str] | None = None) -> None:
        self._program = program
        self._variables = os.environ if variables is None else variables

    def is_available(self) -> port.Availability:
        """Whether the program is there; whether somebody is logged in shows when it is called."""
        return command.program_state(self._program, program_variables.child(self._variables), _INSTALL)

    def is_logged_in(self) -> port.Availability:
        """Whether somebody is logged in, as the program itself says; no model is asked."""
        variables = program_variables.child(self._variables, needs=program_variables.OF_PROGRAM[NAME])
        return logins.codex(self._program, variables)

    def execute(
        self, task: port.ExecutorTask, *, watch: port.Watch | None = None, cancelled: port.Cancelled | None = None
    ) -> port.ExecutorResult:
        """Run the program under supervision and read its events."""
        state = self.is_available()
        if not state.available:
            return failures.unavailable(task, state)
        argv = self.argv(task)
        return command.of_provider(NAME, argv, task, self._variables, lambda ended: read(task, ended), watch, cancelled)

    def argv(self, task: port.ExecutorTask) -> list[str]:
        """The program and its arguments; the prompt is none of them."""
        model = () if task.model is None else ("--model", task.model)
        mode = ANSWERING if task.task_type in task_types.ANSWERS and not task.writes else WRITING
        turn = () if task.role is None else (*NO_HOOKS, *self._own_tree(task.project))
        goes_on = () if task.conversation is None else ("resume", task.conversation)
        return [self._program, "exec", "--json", "--skip-git-repo-check", *mode, *model, *turn, *goes_on, "-"]

    def _own_tree(self, folder: str) -> list[str]:
        """What keeps the user's tree out of reach where it lies in a temporary folder itself."""
        found = []
        for name, place in _TEMPORARY:
            above = os.path.realpath(place or self._variables.get("TMPDIR") or "/")
            if above != "/" and os.path.realpath(folder).startswith(f"{above}/"):
                found += ["--config", f"sandbox_workspace_write.{name}=true"]
        return found


def read(task: port.ExecutorTask, ended: process.Ended) -> port.ExecutorResult:
    """Turn what the program did and printed into a result."""
    stopped = failures.of_end(task, ended)
    if stopped is not None:
        return stopped
    return failures.with_status(task, failures.measured(_result(task, ended), ended), ended)


def _result(task: port.ExecutorTask, ended: process.Ended) -> port.ExecutorResult:
    events = reading.objects(ended.stdout)
    found = codex_stream.read(task, events)
    if found is not None:
        return found
    said = codex_stream.last_error(events)
    if said is not None:
        return failures.failed(task, service_errors.kind(said), said, output=ended.output)
    if ended.exit_code:
        return service_errors.of_status(task, ended)
    return failures.failed(task, "RESULT_CUT", "the program ended without the end of its turn", output=ended.output)
