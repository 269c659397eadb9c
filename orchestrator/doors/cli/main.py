"""The command line's entry: which command is called, what it answered, and with which code the process ends.

Only the called command's module is imported. Errors become one line (or one JSON object) and a code here, and nowhere
else.
"""

from __future__ import annotations

import gc
import os
import sys

from orchestrator import errors
from orchestrator.app.kernel import operations
from orchestrator.core import names
from orchestrator.doors.cli import catalogue, coercion, early_interrupts, output, screen
from orchestrator.doors.cli.options import Command, Given, Result
from orchestrator.hints import Any, NoReturn

_LEADING = {"--json": 1, "--debug": 1, "--db": 2}
"""Options that may stand before the command, and how many words each takes."""
_COMPLETE = "_ORCHESTRATOR_COMPLETE"
"""Set by the scripts of `completion` where a shell asks what may follow."""
_TYPED = ("COMP_WORDS", "_TYPER_COMPLETE_ARGS")
"""The variables in which those scripts say what has been typed."""


def run() -> NoReturn:
    """Run the command line of this process, and end it.

    A call lives for some hundredths of a second, so it neither collects cycles nor takes the interpreter down in an
    orderly way, which would be a tenth of its time: connections are closed and answers written by then.
    """
    gc.disable()
    code = main(sys.argv[1:], is_program=True)
    early_interrupts.enter("ending")
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except OSError:
            code = code or errors.EXIT_ENVIRONMENT
    # Coverage writes what it has measured at an orderly exit only.
    if "coverage" in sys.modules:
        sys.exit(code)
    os._exit(code)


def main(argv: list[str], *, is_program: bool = False) -> int:
    """Run one call and return its exit code; what it says is written by then.

    Args:
        argv: the words after the program's name.
        is_program: this process does nothing else, so that its children are those of the call.
    """
    try:
        early_interrupts.enter("running")
        output.occupy_closed_streams()
        return _called(argv, is_program=is_program)
    except errors.OrchestratorError as problem:
        return _failed(problem, argv)
    except KeyboardInterrupt:
        early_interrupts.enter("ending")
        return _failed(_ended("INTERRUPTED", early_interrupts.SENTENCE, errors.EXIT_INTERRUPTED), argv)
    except Exception as problem:
        return _crashed(problem, argv)


def _called(argv: list[str], *, is_program: bool) -> int:
    if "--version" in argv[:1]:
        return _version()
    words, rest = split(argv)
    if _COMPLETE in os.environ:
        return _completed()
    if words is None:
        return _explained(argv)
    command = catalogue.find(words)
    raw = _read(command, rest)
    if isinstance(raw, int):
        return raw
    from orchestrator import bootstrap
    from orchestrator.doors.cli import invoke

    bootstrap.has_process = is_program
    try:
        given = coercion.given(command, raw, os.environ)
    except errors.InvalidInput as problem:
        invoke.record_unread(command.words, coercion.unread(command, raw, os.environ), problem)
        raise
    output.name_database(given.db)
    if not given.json:
        screen.use(screen.of(sys.stdout, os.environ, bootstrap.now(), utc=given.utc, color=given.color))
    return _answered(command, given, invoke.run(command, given))


def split(argv: list[str]) -> tuple[str | None, list[str]]:
    """The words of the called command, or None where there is none of that name, and the rest of the call."""
    start = 0
    while start < len(argv) and argv[start].partition("=")[0] in _LEADING:
        start += 1 if "=" in argv[start] else _LEADING[argv[start]]
    for count in (2, 1):
        words = " ".join(argv[start : start + count])
        if words.count(" ") == count - 1 and catalogue.known(words) is not None:
            return words, [*argv[:start], *argv[start + count :]]
    return None, argv[start:]


def _read(command: Command, rest: list[str]) -> dict[str, Any] | int:
    from orchestrator.doors.cli import fast_parser

    plain = fast_parser.read(command, rest)
    if plain is not None:
        return plain
    from orchestrator.doors.cli import typer_parser

    fast_parser.scan(command, rest)
    found = typer_parser.read([command], [*command.words.split(" "), *rest])
    return found if isinstance(found, int) else found[1]


def _completed() -> int:
    """Tell a shell what may follow; of what has been typed, only the command is built with its parameters."""
    from orchestrator.doors.cli import typer_parser

    line = next((os.environ[name] for name in _TYPED if name in os.environ), "")
    words, _ = split(line.split()[1:])
    found = typer_parser.read([catalogue.find(words)] if words else [], [], completion=True)
    return found if isinstance(found, int) else errors.EXIT_OK


def _explained(argv: list[str]) -> int:
    """Help, or the explanation of a call that names no command."""
    from orchestrator.doors.cli import typer_parser

    _, rest = split(argv)
    found = typer_parser.read([], rest or ["--help"])
    return found if isinstance(found, int) else errors.EXIT_OK


def _version() -> int:
    from importlib import metadata

    output.write(output.text(f"orchestrator {metadata.version('guarded-orchestrator')}", sys.stdout))
    return errors.EXIT_OK


def _answered(command: Command, given: Given, result: Result) -> int:
    if result.printed:
        return result.exit_code
    answer = output.worded(result.answer)
    if given.warnings:
        answer = {**answer, "warnings": [*(answer.get("warnings") or ()), *given.warnings]}
    recorded = output.recorded_step(answer, command.words)
    if given.json and not result.raw:
        output.write(output.line(operations.success(answer, answer.get("db"))), recorded)
        return result.exit_code
    from orchestrator.doors.cli import shapes

    for warning in answer.get("warnings") or ():
        output.complain(f"warning: {shapes.visible(warning)}")
    words = _worded(command, given, answer) if result.text is None else result.text
    if words and answer.get("proof") is not None and not result.raw:
        words += f"\nproof: {answer['proof']}"
    if words:
        output.write(output.text(words, sys.stdout), recorded)
    return result.exit_code


def _worded(command: Command, given: Given, answer: dict[str, Any]) -> str | None:
    """How an answer reads; what cannot be worded may be a stored value that was damaged."""
    from orchestrator.doors.cli import text

    try:
        return command.show(answer) if command.show else text.render(command.words, answer)
    except errors.OrchestratorError:
        raise
    except Exception as error:
        from orchestrator import bootstrap

        raise bootstrap.damage(error, given.db) or error from error


def _named_db(argv: list[str]) -> str | None:
    """The --db of a call that failed, wherever it stands."""
    own = argv[: argv.index("--")] if "--" in argv else argv
    for place, word in enumerate(own):
        if word.startswith("--db="):
            return word.partition("=")[2] or None
        if word == "--db" and place + 1 < len(own):
            return own[place + 1] or None
    return None


def _failed(problem: errors.OrchestratorError, argv: list[str]) -> int:
    code = problem.data.pop("_exit_code", problem.exit_code)
    output.name_database(_named_db(argv))
    if problem.code == "HUMAN_REQUIRED":
        problem.suggestion = _by_a_person(problem.suggestion, argv)
    if _json(argv) and not output.is_lost(problem):
        try:
            answer = operations.failure(problem, problem.data.get("_session"))
            output.write(output.line(output.worded(answer)))
        except errors.EnvironmentProblem as second:
            output.complain(_sentence(second))
    else:
        output.complain(_sentence(problem))
    return int(code)


def _by_a_person(suggestion: str, argv: list[str]) -> str:
    """What a person types: the call itself, where it is to be repeated."""
    from orchestrator.app.kernel import human
    return f"{suggestion}: orchestrator {' '.join(map(names.word, argv))}" if suggestion == human.WAYS else suggestion


def _sentence(problem: errors.OrchestratorError) -> str:
    from orchestrator.doors.cli import shapes

    lines = [f"error {problem.code}: {shapes.visible(problem.message)}"]
    for each in problem.data.get("problems") or ():
        shown = "" if _says(each, problem) else _problem(each, problem.message)
        lines += [f"  {shown}"] if shown else []
    if problem.suggestion:
        lines.append(f"try: {shapes.visible(output.worded(problem.suggestion))}")
    return "\n".join(lines)


def _says(each: Any, problem: errors.OrchestratorError) -> bool:
    """Whether a problem is the error itself."""
    return isinstance(each, dict) and (each.get("id"), each.get("message")) == (problem.code, problem.message)


def _problem(each: Any, said: str) -> str:
    """A problem in one line, without what the error's own sentence has said."""
    from orchestrator.doors.cli import shapes

    if not isinstance(each, dict):
        return "" if str(each).rstrip(".") in said else shapes.visible(each)
    place, message = each.get("path", ""), str(each.get("message", ""))
    if message and message.rstrip(".") in said:
        place, message = "" if place == "$" or place.removeprefix("$.") in said else place, ""
    identity = " ".join(str(each[key]) for key in ("severity", "id") if each.get(key))
    parts = [part for part in (identity, place, message) if part]
    return shapes.visible(": ".join(parts)) if parts else ""


def _crashed(problem: Exception, argv: list[str]) -> int:
    if "--debug" in argv:
        import traceback

        output.complain("".join(traceback.format_exception(problem)))
    from orchestrator.doors.cli import invoke

    return _failed(_ended("INTERNAL", invoke.unexpected(problem), errors.EXIT_INTERNAL), argv)


def _ended(code: str, message: str, exit_code: int) -> errors.OrchestratorError:
    advice = "Repeat the call with --debug" if code == "INTERNAL" else "Repeat the call"
    return errors.OrchestratorError(code, message, advice, _exit_code=exit_code)


def _json(argv: list[str]) -> bool:
    own = argv[: argv.index("--")] if "--" in argv else argv
    return "--json" in own or coercion.wants_json(os.environ)
