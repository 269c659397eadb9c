"""`batch`: many commands in one process, a JSON line for each, every answer written once its step is committed."""

from __future__ import annotations

import gc
import sys
import time

from orchestrator import bootstrap, errors, files
from orchestrator.app.kernel import arguments, operations
from orchestrator.app.kernel.context import Context
from orchestrator.app.people import person_proof
from orchestrator.core import names, strict_json
from orchestrator.core.suggestions import suggest
from orchestrator.doors.cli import batch_arguments, batch_lines, catalogue, invoke, output
from orchestrator.doors.cli.options import INTEGER, Command, Given, Result, argument, option
from orchestrator.hints import Any, BinaryIO

DOOR = "batch"
_KEYS = ("op", "args")
MOST_TOGETHER = 1000
"""Lines that may share a commit."""
LOCK_S = 0.1
"""Seconds after which a common commit takes no further line: others wait for the lock that long."""


class _Runner:
    """The one connection of a batch: reading until a line writes, so that a read-only file can be read.

    Answers are held until what they speak of is committed. Where that fails each of them says so instead.
    """

    def __init__(self, db: str | None, together: int, *, allow_superuser: bool) -> None:
        self.together = together
        self.context = bootstrap.open_context(db, write=False, door=DOOR, stays=True)
        self.database = bootstrap.server(db) or self.context.path
        self.allow_superuser = allow_superuser
        self.writes = False
        self.failed = 0
        self._held: list[tuple[dict[str, Any], int]] = []
        self._is_heard = True
        self._is_stale = False

    def take(self, line: bytes, number: int) -> None:
        """Run a line and hold its answer."""
        try:
            words, given = _parsed(line, number)
        except errors.InvalidInput as problem:
            answer = {**operations.failure(problem, None), "op": None, "exit_code": problem.exit_code}
        else:
            request = operations.known(words)
            joins = request is not None and not request.is_alone(given) and not batch_arguments.reads_files(given)
            # A line that does more than its step may take long; neither answers nor the lock wait for it (CLI-15).
            if not joins:
                self.finish()
            answer = _answer(self, words, given, joins=joins)
        self._held.append((answer, number))

    def is_due(self) -> bool:
        """Whether the answers are not to be held any longer."""
        connection = self.context.connection
        return (
            not (connection.is_shared and connection.in_transaction)
            or len(self._held) >= self.together
            or time.monotonic() - connection.begun_s >= LOCK_S
        )

    def finish(self) -> None:
        """Commit what the answers speak of, and write them."""
        held, self._held = self._held, []
        try:
            self.context.connection.settle(self.context.deadline_s)
        except Exception as problem:
            known = _known(self, problem)
            held = [(_refused(known, answer["op"]), number) for answer, number in held]
            self._is_stale = True
        self.failed += sum(not answer["success"] for answer, _ in held)
        if held and self._is_heard:
            written = b"".join([output.line(output.worded(answer)) for answer, _ in held])
            self._is_heard = output.write(written, _recorded(held))

    def for_operation(self, words: str, bound: dict[str, Any], *, joins: bool) -> Context:
        request = operations.find(words)
        if self._is_stale:
            self._open_anew()
        if request.is_writing and not self.writes:
            trial = request.is_trial(bound)
            writing = bootstrap.open_context(
                self.database, write=True, door=DOOR, stays=True, trial=trial, together=self.together > 1,
                allow_superuser=self.allow_superuser,
            )  # fmt: skip
            if writing.is_rehearsal:
                return writing
            self.close()
            self.context, self.writes = writing, True
        if self.writes:
            self.context.connection.joins = joins and self.together > 1
        return self.context

    def _open_anew(self) -> None:
        """Read until a line writes again: what the context has taken in may never have been recorded."""
        context = bootstrap.open_context(self.database, write=False, door=DOOR, stays=True)
        self.close()
        self.context, self.writes, self._is_stale = context, False, False

    def close(self) -> None:
        self.context.connection.close()


def _batch(given: Given) -> Result:
    """Run every line; the answer of the command itself is the lines, so nothing is left to print."""
    together = given.arguments.get("commit_every", 1)
    if not 1 <= together <= MOST_TOGETHER:
        message = f"--commit-every must be from 1 to {MOST_TOGETHER}, not {together}."
        raise errors.UsageError("USAGE", message, suggest("batch", help=True))
    # A long life needs what a short one does without.
    gc.freeze()
    gc.enable()
    name = given.arguments.get("file", "-")
    stream = _open(name)
    lines = batch_lines.Lines(stream)
    runner = _Runner(given.db, together, allow_superuser=given.allow_superuser)
    try:
        for number, line in lines:
            runner.take(line, number)
            if runner.is_due() or not lines.is_waiting():
                runner.finish()
        runner.finish()
    finally:
        runner.close()
        if name != "-":
            stream.close()
    return Result({}, None, errors.EXIT_NEGATIVE if runner.failed else errors.EXIT_OK, printed=True)


def _open(name: str) -> BinaryIO:
    if name == "-":
        if sys.stdin is None:
            raise errors.UsageError("USAGE", "stdin is closed.", suggest("batch", file="FILE"))
        return sys.stdin.buffer
    try:
        return files.opened(name)
    except files.Unreadable as problem:
        raise files.refused(problem, names.shown(name), suggest("batch", file="FILE")) from None


def _recorded(held: list[tuple[dict[str, Any], int]]) -> str | None:
    """The steps that answers speak of, the first and the last of them."""
    steps = [(output.recorded_step(answer, answer["op"]), number) for answer, number in held if answer["success"]]
    told = [f"{step}, line {number}" for step, number in steps if step]
    return " to ".join(dict.fromkeys((told[0], told[-1]))) if told else None


def _answer(runner: _Runner, words: str, given: dict[str, Any], *, joins: bool) -> dict[str, Any]:
    bound: dict[str, Any] = {}
    try:
        if words in batch_arguments.OWN:
            return _own(runner, words, given)
        given, token, warnings = batch_arguments.without_token(words, given)
        bound = arguments.bind(words, batch_arguments.fitted(words, given))
        context = runner.for_operation(words, bound, joins=joins)
        person_proof.of_call(context, words, bound, token, sits=False)
        bound = arguments.complete(context, words, bound)
        found = operations.call(context, words, **bound)
        code = found.pop("exit_code", errors.EXIT_OK)
        if warnings:
            found["warnings"] = [*(found.get("warnings") or ()), *warnings]
        return {**operations.success(found, context.path), "op": words, "exit_code": code}
    except errors.OrchestratorError as problem:
        session = operations.hinted(problem, operations.session_of(words, bound))
        return _refused(problem, words, session)
    except Exception as problem:
        _abandon(runner)
        return _refused(_known(runner, problem), words)


def _refused(problem: errors.OrchestratorError, words: str | None, session: str | None = None) -> dict[str, Any]:
    return {**operations.failure(problem, session), "op": words, "exit_code": problem.exit_code}


def _known(runner: _Runner, problem: Exception) -> errors.OrchestratorError:
    """What an error means for who reads the answer."""
    if isinstance(problem, errors.OrchestratorError):
        return problem
    known = bootstrap.environment_problem(problem, runner.context.path)
    return known or errors.OrchestratorError("INTERNAL", invoke.unexpected(problem), "Report this line as a bug")


def _own(runner: _Runner, words: str, given: dict[str, Any]) -> dict[str, Any]:
    """The answer of a command that is no operation; a document of its own comes under `document`."""
    command = catalogue.find(words)
    call = batch_arguments.own(command, given, runner.database)
    found = invoke.run(command, call._replace(json=True))
    answer = {**found.answer, "document": strict_json.loads(found.text or "", words)} if found.raw else found.answer
    return {**operations.success(answer, answer.get("db")), "op": words, "exit_code": found.exit_code}


def _abandon(runner: _Runner) -> None:
    connection = runner.context.connection
    # Of a common transaction the step was taken back already.
    if connection.in_transaction and not connection.is_shared:
        connection.rollback()


def _parsed(line: bytes, number: int) -> tuple[str, dict[str, Any]]:
    """The operation and its parameters.

    Raises:
        InvalidInput: BATCH_LINE_INVALID, the line is no JSON object with `op` and `args`.
    """
    what = f"line {number}"
    try:
        found = strict_json.loads(line, what, batch_lines.LIMIT)
    except strict_json.JsonProblem as problem:
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
        (
            argument("file", "The file to read (default: stdin).", required=False),
            option(
                "commit_every",
                f"Commit up to N lines together, from 1 to {MOST_TOGETHER} (default: 1). Answers are printed after"
                " their commit; if it fails, none of these lines is recorded.",
                kind=INTEGER, metavar="N",
            ),
        ),
        None,
        _batch,
        line="Run many commands in one process, a JSON line for each.",
        answer=("shapes.Batch",),
    ),
}
