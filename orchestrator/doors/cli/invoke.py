"""From a call that was understood to its answer: opening the database, calling the operation, saying how it ended."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable

from orchestrator import bootstrap
from orchestrator.app.kernel import arguments, operations
from orchestrator.doors.cli import output, screen
from orchestrator.doors.cli.options import Command, Given, Result
from orchestrator.errors import InvalidInput, OrchestratorError, UsageError
from orchestrator.hints import Any

DOOR = "cli"
SLOW = (
    "audit import", "db backup", "db check", "db copy", "db downgrade", "db restore", "db upgrade", "workflow check",
)
"""Commands with a handler of their own that may take long and ask a person nothing."""


def run(command: Command, given: Given) -> Result:
    """Run a command: its own handler, or the operation of its words."""
    try:
        if command.handler is None:
            return operation(command.words, given)
        if command.words not in SLOW:
            return command.handler(given)
        with _progress(command.words):
            return command.handler(given)
    except OrchestratorError:
        raise
    except Exception as error:
        raise bootstrap.damage(error, given.db) or error from error


def operation(words: str, given: Given, call: Callable[..., dict[str, Any]] = operations.call) -> Result:
    """Call an operation with the parameters that were given.

    Args:
        call: what stands in for the operation, where it answers in a way of its own.

    Raises:
        OrchestratorError: what the operation refuses; `session_id` and `db` in its data tell where.
    """
    taken = dict(given.arguments)
    token = taken.pop("human_token_file", None)
    try:
        bound = arguments.bind(words, taken)
    except UsageError as problem:
        raise _spelt(words, problem) from None
    request = operations.find(words)
    context = bootstrap.open_context(
        given.db, write=request.is_writing, door=DOOR, trial=request.is_trial(bound),
        allow_superuser=given.allow_superuser,
    )
    try:
        bound = arguments.complete(context, words, bound)
        if words in _LOOKS:
            _free_or_tell(context, writes=request.is_writing)
        if token is not None or bound.get("by") or words in operations.PERSONS:
            from orchestrator.app.people import person_proof

            person_proof.of_call(context, words, bound, token, sits=True)
        with _progress(words):
            return result(call(context, words, **bound), context.path)
    except OrchestratorError as problem:
        problem.data.setdefault("_session", operations.hinted(problem, operations.session_of(words, bound)))
        problem.data.setdefault("db", context.path)
        raise
    except Exception as error:
        raise bootstrap.environment_problem(error, context.path) or error from error
    finally:
        context.connection.close()


def _progress(words: str) -> contextlib.AbstractContextManager[None]:
    """Show on a person's terminal that the block is at work; elsewhere nothing, nor is it loaded how."""
    if words in _TELLING or not (screen.is_terminal(sys.stderr) and screen.moves_cursor(os.environ)):
        return contextlib.nullcontext()
    from orchestrator.doors.cli import progress_line

    return progress_line.shown(words)


_TELLING = ("drive",)
"""What tells as it goes what happens, so that no line beside it says that it is at work."""
_LOOKS = ("answer", "inbox", "next", "status", "why")
"""What tells or decides where things stand, and must not take for running what nobody executes any more."""


def _free_or_tell(context: Any, *, writes: bool) -> None:
    """End the runs whose process is gone, where this call may write; else say on stderr that it is."""
    lost = bootstrap.lost_runs(context)
    if lost and writes:
        from orchestrator.app.running import lock_acquisition

        lock_acquisition.free_abandoned(context)
    elif lost:
        from orchestrator.app.running import orphaned_runs
        from orchestrator.doors.cli.text.layout import visible

        for run in lost:
            output.complain(visible(f"warning: {run.id} is no longer running. {orphaned_runs.notice(run)}"))


def _spelt(words: str, problem: UsageError) -> UsageError:
    """The problem with parameters as they are written on the command line."""
    missing, named = problem.data.get("_missing"), problem.data.get("_named")
    if missing or named:
        from orchestrator.doors.cli import catalogue, coercion

        spelt = {each.key: coercion.spelt(each) for each in reversed(catalogue.find(words).parameters)}
        if missing:
            problem.message = f"{words} needs {', '.join(spelt.get(name, name) for name in missing)}."
        if named:
            problem.message = spelt.get(named, named) + problem.message.removeprefix(named)
    return problem


def record_unread(words: str, given: Given, problem: InvalidInput) -> None:
    """Record that a writing call could not be read, where its database and session are known."""
    request = operations.known(words)
    if request is None or not request.is_writing:
        return
    try:
        context = bootstrap.open_context(
            given.db, write=True, door=DOOR, allow_superuser=given.allow_superuser
        )
    except OrchestratorError:
        return
    from orchestrator.app.kernel import malformed_calls

    try:
        malformed_calls.record(context, words, given.arguments, problem)
    finally:
        context.connection.close()


def result(answer: dict[str, Any], path: str | None) -> Result:
    """An answer with its database; a read says by `exit_code` how to end."""
    code = answer.pop("exit_code", 0)
    return Result({"db": path, **output.worded(answer)}, exit_code=code)


def unexpected(problem: Exception) -> str:
    """One sentence about a fault of the program."""
    return f"Unexpected: {type(problem).__name__}: {problem}"[:300]
