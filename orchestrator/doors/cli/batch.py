"""`batch`: many commands in one process, a JSON line for each, every answer written before the next line is read."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator

from orchestrator import bootstrap, errors, files
from orchestrator.app.kernel import arguments, operations
from orchestrator.app.kernel.context import Context
from orchestrator.app.people import verification
from orchestrator.core import large, names, strictjson
from orchestrator.core.suggestions import suggest
from orchestrator.doors.cli import batch_arguments, calling, catalogue, output
from orchestrator.doors.cli.options import Command, Given, Result, argument
from orchestrator.hints import Any, BinaryIO

DOOR = "batch"
LINE_LIMIT = large.LINE_LIMIT
"""Bytes of one line."""
_KEYS = ("op", "args")


class _Runner:
    """The one connection of a batch: reading until a line writes, so that a read-only file can be read."""

    def __init__(self, db: str | None) -> None:
        self.db = db
        self.context = bootstrap.open_context(db, write=False, door=DOOR, stays=True)
        self.writes = False

    def for_operation(self, words: str, bound: dict[str, Any]) -> Context:
        request = operations.find(words)
        if request.is_writing and not self.writes:
            trial = request.is_trial(bound)
            writing = bootstrap.open_context(self.context.path, write=True, door=DOOR, stays=True, trial=trial)
            if writing.is_rehearsal:
                return writing
            self.context.connection.close()
            self.context, self.writes = writing, True
        return self.context

    def close(self) -> None:
        self.context.connection.close()


def _batch(given: Given) -> Result:
    """Run every line; the answer of the command itself is the lines, so nothing is left to print."""
    # A long life needs what a short one does without.
    gc.enable()
    name = given.arguments.get("file", "-")
    stream = _open(name)
    runner = _Runner(given.db)
    failed = 0
    try:
        listening = True
        for number, line in _lines(stream):
            answer = output.worded(_answer(runner, line, number))
            failed += not answer["success"]
            if listening:
                listening = output.write(output.line(answer), _recorded(answer, number))
    finally:
        runner.close()
        if name != "-":
            stream.close()
    return Result({}, None, errors.EXIT_NEGATIVE if failed else errors.EXIT_OK, printed=True)


def _open(name: str) -> BinaryIO:
    if name == "-":
        if sys.stdin is None:
            raise errors.UsageError("USAGE", "stdin is closed.", suggest("batch", file="FILE"))
        return sys.stdin.buffer
    try:
        return files.opened(name)
    except files.Unreadable as problem:
        raise files.refused(problem, names.shown(name), suggest("batch", file="FILE")) from None


def _lines(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, with their numbers; what is longer than the limit comes cut, and is refused."""
    number = 0
    while line := stream.readline(LINE_LIMIT + 1):
        number += 1
        if len(line) > LINE_LIMIT:
            while not line.endswith(b"\n") and (more := stream.readline(LINE_LIMIT)):
                line = line[: LINE_LIMIT + 1] + more[-1:]
        if line.strip():
            yield number, line


def _recorded(answer: dict[str, Any], number: int) -> str | None:
    step = output.recorded_step(answer, answer["op"]) if answer["success"] else None
    return f"{step}, line {number}" if step else None


def _answer(runner: _Runner, line: bytes, number: int) -> dict[str, Any]:
    words: str | None = None
    bound: dict[str, Any] = {}
    try:
        words, given = _parsed(line, number)
        if words in batch_arguments.OWN:
            return _own(runner, words, given)
        given, token, warnings = batch_arguments.without_token(words, given)
        bound = arguments.bind(words, batch_arguments.fitted(words, given))
        context = runner.for_operation(words, bound)
        verification.of_call(context, words, bound, token, sits=False)
        bound = arguments.complete(context, words, bound)
        found = operations.call(context, words, **bound)
        code = found.pop("exit_code", errors.EXIT_OK)
        if warnings:
            found["warnings"] = [*(found.get("warnings") or ()), *warnings]
        return {**operations.success(found, context.path), "op": words, "exit_code": code}
    except errors.OrchestratorError as problem:
        session = operations.hinted(problem, operations.session_of(words, bound) if words else None)
        return {**operations.failure(problem, session), "op": words, "exit_code": problem.exit_code}
    except Exception as problem:
        _abandon(runner)
        known = bootstrap.environment_problem(problem, runner.context.path)
        if known is not None:
            return {**operations.failure(known, None), "op": words, "exit_code": known.exit_code}
        what = errors.OrchestratorError("INTERNAL", calling.unexpected(problem), "Report this line as a bug")
        return {**operations.failure(what, None), "op": words, "exit_code": errors.EXIT_INTERNAL}


def _own(runner: _Runner, words: str, given: dict[str, Any]) -> dict[str, Any]:
    """The answer of a command that is no operation; a document of its own comes under `document`."""
    command = catalogue.find(words)
    call = batch_arguments.own(command, given, runner.db or runner.context.path)
    found = calling.run(command, call._replace(json=True))
    answer = {**found.answer, "document": strictjson.loads(found.text or "", words)} if found.raw else found.answer
    return {**operations.success(answer, answer.get("db")), "op": words, "exit_code": found.exit_code}


def _abandon(runner: _Runner) -> None:
    connection = runner.context.connection
    if connection.in_transaction:
        connection.rollback()


def _parsed(line: bytes, number: int) -> tuple[str, dict[str, Any]]:
    """The operation and its parameters.

    Raises:
        InvalidInput: BATCH_LINE_INVALID, the line is no JSON object with `op` and `args`.
    """
    what = f"line {number}"
    try:
        found = strictjson.loads(line, what, LINE_LIMIT)
    except strictjson.JsonProblem as problem:
        raise _invalid(problem.message) from None
    if not isinstance(found, dict):
        raise _invalid(f"{what} is not a JSON object")
    unknown = [key for key in found if key not in _KEYS]
    if unknown:
        raise _invalid(f"{what} has the unknown key {names.shown(unknown[0])}; a line takes op and args")
    words, given = found.get("op"), found.get("args", {})
    if not isinstance(words, str):
        raise _invalid(f"{what} has no op")
    if not isinstance(given, dict):
        raise _invalid(f"{what}: args is not an object")
    return words, given


def _invalid(message: str) -> errors.InvalidInput:
    example = '{"op": "group show", "args": {"id": "A", "session_id": "S1"}}'
    return errors.InvalidInput("BATCH_LINE_INVALID", f"{message}.", f"Write lines such as {example}")


COMMANDS = {
    "batch": Command(
        "batch",
        "Run many commands in one process: JSON lines in, one JSON line out for each, in order. A failing line does"
        " not stop the others; the exit code is 1 if any line failed. `op` is a command's words, `args` its"
        " arguments and options by"
        " their names with underscores (a list for what is repeated, true for a flag):\n\n"
        '{"op": "group create", "args": {"id": "A", "session_id": "S1", "depends_on": ["B"]}}',
        "orchestrator batch commands.jsonl",
        (argument("file", "The file to read (default: stdin).", required=False),),
        None,
        _batch,
        line="Run many commands in one process, a JSON line for each.",
        answer=("shapes.Batch",),
    ),
}
