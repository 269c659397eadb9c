"""Any program as an executor: an argument list with places for the prompt, no shell, text or JSON as its answer."""

from __future__ import annotations

import itertools
import os
import pathlib
import re
import shlex
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence

from orchestrator import errors
from orchestrator.core import names
from orchestrator.core.running import program_variables
from orchestrator.core.suggestions import HIDDEN, local, sentence
from orchestrator.hints import Final
from orchestrator.runner import port, process
from orchestrator.runner.executors import claude_stream, failures, own_result, reading, service_errors

NAME: Final = "command"
PLACES: Final = ("prompt", "prompt_file", "project", "model", "session_id", "run_id")
"""What `{…}` in an argument is replaced with; braces around other words stay as they are."""

ARGUMENT_BYTES: Final = 128 * 1024 - 1
"""The longest argument that a program can be given on Linux, without its final NUL."""

_PLACE = re.compile(r"\{(" + "|".join(PLACES) + r")\}")
_SCRIPT_OPTION = re.compile(r"-[a-z]*c[a-z]*|[-/](?:c|k|command)", re.IGNORECASE)
_SHELLS: Final = ("sh", "bash", "dash", "zsh", "ksh", "fish", "cmd", "cmd.exe", "powershell", "pwsh")


class Command:
    """Runs one program for each attempt.

    The program's working directory is the project. It finds the ids in ORCHESTRATOR_SESSION_ID and
    ORCHESTRATOR_RUN_ID, since a JSON result must name its session.

    Args:
        template: the program and its arguments; the prompt is a further argument where no place is left for it.
        variables: where the environment is taken from; this process's own where left out.

    Raises:
        InvalidInput: EXECUTOR_COMMAND_INVALID.
    """

    name: Final = NAME
    production: Final = True
    reaches_out: Final = True
    """Whether it may write wherever this process can, and not only in the folder that it is given."""

    def __init__(self, template: Sequence[str], variables: Mapping[str, str] | None = None) -> None:
        self._template = _checked(template)
        self._variables = os.environ if variables is None else variables

    def is_available(self) -> port.Availability:
        """Whether the program is there and may be started."""
        return program_state(self._template[0], program_variables.child(self._variables))

    def execute(
        self, task: port.ExecutorTask, *, watch: port.Watch | None = None, cancelled: port.Cancelled | None = None
    ) -> port.ExecutorResult:
        """Run the program under supervision and read what it printed."""
        state = self.is_available()
        if not state.available:
            return failures.unavailable(task, state)
        with tempfile.TemporaryDirectory(prefix="orchestrator-prompt-") as folder:
            argv = filled(self._template, task, pathlib.Path(folder))
            wrong = argument_problem(argv)
            if wrong is not None:
                return failures.failed(task, "PROMPT_INVALID", wrong)
            ended = process.supervise(
                argv,
                folder=task.project,
                variables=_variables(self._variables, task),
                limits=task.limits,
                raw=task.raw,
                secrets=task.secrets,
                watch=watch,
                cancelled=cancelled,
                tag=task.tag,
            )
        return failures.cleaned(read(task, ended), task.secrets)


def of_provider(
    name: str,
    argv: Sequence[str],
    task: port.ExecutorTask,
    variables: Mapping[str, str],
    read: Callable[[process.Ended], port.ExecutorResult],
    watch: port.Watch | None,
    cancelled: port.Cancelled | None,
) -> port.ExecutorResult:
    """Run a provider's program under supervision, which gets the prompt on its stdin, and read what it printed.

    Args:
        name: the provider.
        variables: where the environment is taken from.
        read: turns what the program did and printed into a result.
    """
    wrong = argument_problem(argv) or text_problem("a prompt", task.prompt)
    if wrong is not None:
        return failures.failed(task, "PROMPT_INVALID", wrong)
    given = program_variables.child(variables, needs=program_variables.OF_PROGRAM[name]) | dict(task.variables)
    secrets = (*task.secrets, *program_variables.secrets(given).values())
    ended = process.supervise(
        argv,
        folder=task.project,
        variables=given,
        # A whole line is an event; one that quotes a question asks nobody.
        limits=task.limits._replace(finished_prompt_ms=task.limits.executor_timeout_ms),
        raw=task.raw,
        secrets=secrets,
        watch=watch,
        cancelled=cancelled,
        tag=task.tag,
        text=task.prompt,
    )
    return failures.cleaned(service_errors.explained(read(ended), name, variables), secrets)


def parse(text: str) -> list[str]:
    """The template that the user wrote: the path of a program, or a program with arguments.

    Args:
        text: as behind `command:`; quotes group words as a shell's do. Where the whole text is the path of a file, it
            is the program, blanks included.

    Raises:
        InvalidInput: EXECUTOR_COMMAND_INVALID.
    """
    if os.path.isfile(text):
        return [os.path.abspath(text)]
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise _invalid(f"{text!r} cannot be split into arguments: {error}") from error
    if words and os.path.dirname(words[0]) and os.path.isfile(words[0]):
        words[0] = os.path.abspath(words[0])
    return words


def filled(template: Sequence[str], task: port.ExecutorTask, folder: pathlib.Path) -> list[str]:
    """The arguments of one attempt; what is filled in is not searched for places again.

    Args:
        template: checked arguments.
        task: the attempt.
        folder: where the prompt's file is written, for its owner's eyes alone, if one is asked for.
    """
    values = {
        "prompt": task.prompt,
        "prompt_file": str(folder / "prompt.txt"),
        "project": task.project,
        "model": task.model or "",
        "session_id": task.session_id,
        "run_id": task.run_id,
    }
    if any("{prompt_file}" in argument for argument in template):
        descriptor = os.open(values["prompt_file"], os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            file.write(task.prompt)
    return [_PLACE.sub(lambda place: values[place[1]], argument) for argument in template]


def argument_problem(argv: Sequence[str]) -> str | None:
    """Why these cannot be a program's arguments, or None."""
    for argument in argv:
        wrong = text_problem("an argument", argument)
        if wrong is not None:
            return wrong
        size = len(os.fsencode(argument))
        if size > ARGUMENT_BYTES:
            where = "say {prompt_file} in the executor's command, which gets the task in a file"
            return f"an argument holds {ARGUMENT_BYTES} bytes, and the task's has {size}; {where}"
    return None


def text_problem(what: str, text: str) -> str | None:
    """Why a program cannot be given that text, or None."""
    if "\0" in text:
        return f"{what} cannot hold a NUL character"
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return f"{what} cannot hold a lone surrogate"
    return None


def program_state(program: str, variables: Mapping[str, str], suggestion: str = "") -> port.Availability:
    """Whether a program can be found on the PATH of these variables, or at its path."""
    if shutil.which(program, path=variables.get("PATH", os.defpath)):
        return port.Availability(True)
    # Which program it is helps whoever reads it; where it lies does not (HTTP-14).
    base = f"{HIDDEN}/{os.path.basename(program)}" if os.path.isabs(program) else program
    if os.path.isfile(program):
        way = sentence("allow it with: chmod +x {}", local(names.word(program), base))
        what = sentence("{} is not executable.", local(program, base))
        return port.Availability(False, "PROGRAM_MISSING", what, way)
    if os.path.isdir(program):
        help_ = "name the program itself, such as the script in it"
        what = sentence("{} is a folder, not a program.", local(program, base))
        return port.Availability(False, "PROGRAM_MISSING", what, help_)
    help_ = suggestion or "install it, or give the path of another program"
    return port.Availability(False, "PROGRAM_MISSING", sentence("There is no program {}.", local(program, base)), help_)


def read(task: port.ExecutorTask, ended: process.Ended) -> port.ExecutorResult:
    """Turn what a program did and printed into a result.

    A status other than 0 is an error whatever was printed; text carries the issued session, a JSON result must
    name it.
    """
    stopped = failures.of_end(task, ended)
    if stopped is not None:
        return stopped
    result = failures.measured(_answered(task, ended), ended)
    return failures.with_status(task, result, ended)


def _answered(task: port.ExecutorTask, ended: process.Ended) -> port.ExecutorResult:
    try:
        found = reading.final_object(ended.stdout)
    except reading.Unreadable as error:
        return failures.unreadable(task, error, ended)
    if found is None:
        return port.ExecutorResult("COMPLETE", task.session_id, ended.stdout.strip())
    if task.role is not None and found.get("status") not in failures.STATUSES and not claude_stream.is_event(found):
        # An agent's report is a document with a status of its own.
        return port.ExecutorResult("COMPLETE", task.session_id, ended.stdout.strip())
    if found.get("status") not in failures.STATUSES and claude_stream.is_event(found):
        # A script that has started Claude Code prints what that prints.
        streamed = claude_stream.read(task, reading.objects(ended.stdout), task.session_id)
        return streamed or failures.failed(task, "RESULT_CUT", "the events end without a result", output=ended.output)
    return own_result.read(task, found)


def _variables(variables: Mapping[str, str], task: port.ExecutorTask) -> dict[str, str]:
    ids = {"ORCHESTRATOR_SESSION_ID": task.session_id, "ORCHESTRATOR_RUN_ID": task.run_id}
    return program_variables.child(variables) | ids | dict(task.variables)


def _checked(template: Sequence[str]) -> tuple[str, ...]:
    if not template or not template[0].strip():
        raise _invalid("it names no program")
    wrong = argument_problem(template)
    if wrong is not None:
        raise _invalid(wrong)
    if _PLACE.search(template[0]):
        raise _invalid("the program itself cannot be a place for something else")
    if _into_shell(template):
        raise _invalid("a prompt within a shell's script would be run as a part of it")
    has_prompt = any("{prompt}" in argument or "{prompt_file}" in argument for argument in template)
    return tuple(template) if has_prompt else (*template, "{prompt}")


def _into_shell(template: Sequence[str]) -> bool:
    """Whether something unknown would become a part of a script: the argument behind `-c` of a shell."""
    if pathlib.PurePath(template[0]).name.lower() not in _SHELLS:
        return False
    pairs = itertools.pairwise(template[1:])
    return any(_SCRIPT_OPTION.fullmatch(option) and _PLACE.search(script) for option, script in pairs)


def _invalid(sentence: str) -> errors.InvalidInput:
    help_ = "name the program and its arguments, with {prompt} or {prompt_file} as an argument of its own"
    return errors.InvalidInput("EXECUTOR_COMMAND_INVALID", f"The executor's command is not valid: {sentence}.", help_)
