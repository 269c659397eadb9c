"""Writing answers: JSON or text, to the file descriptors themselves, so that nothing is left to fail at the end.

The commands that an answer suggests name the database of its call, so that they work where they are copied to.

JSON is ASCII, so it fits every locale. Text is encoded as the terminal asks, and what it cannot show is escaped.
"""

from __future__ import annotations

import errno
import json
import os
import sys

from orchestrator.app.kernel import operations
from orchestrator.core import masking, names, suggestions
from orchestrator.core.suggestions import ELSEWHERE, Suggestion, suggest
from orchestrator.doors.cli import screen
from orchestrator.errors import EnvironmentProblem, OrchestratorError
from orchestrator.hints import Any

STDOUT, STDERR = 1, 2


def occupy_closed_streams() -> None:
    """Fill the places of closed standard streams: else the database might be opened as descriptor 1 and printed to."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if stream is None:
            os.open(os.devnull, os.O_RDONLY)


def line(document: dict[str, Any]) -> bytes:
    """A JSON object as one line of ASCII, with secrets masked."""
    document = masking.mask_document(document)
    return json.dumps(document, separators=(", ", ": "), default=str).encode("ascii") + b"\n"


def text(words: str, stream: Any) -> bytes:
    """Text as the stream's encoding has it, secrets masked; what it lacks is escaped with a backslash."""
    words = masking.mask_written(words)
    encoding = getattr(stream, "encoding", None) or "ascii"
    return (words.rstrip("\n") + "\n").encode(encoding, "backslashreplace")


def write(data: bytes, recorded: str | None = None) -> bool:
    """Write to stdout.

    Args:
        data: all of it.
        recorded: the id of the step that the answer is about, where one was written.

    Returns:
        False where the reader has gone away: what is recorded stays, and nobody wants to hear of it.

    Raises:
        EnvironmentProblem: OUTPUT_FAILED.
    """
    try:
        if sys.stdout is None:
            raise OSError(errno.EBADF, "stdout is closed")
        _write_all(STDOUT, data)
    except BrokenPipeError:
        return False
    except OSError as error:
        raise _output_failed(error, recorded) from None
    return True


def draw(words: str) -> None:
    """Write to stderr as it is, without a line end, secrets masked; where that fails nothing is drawn."""
    try:
        if sys.stderr is not None:
            _write_all(STDERR, masking.mask_written(words).encode(sys.stderr.encoding or "ascii", "backslashreplace"))
    except OSError:
        pass


_HEADS = (("error ", screen.RED), ("warning:", screen.YELLOW), ("try:", screen.BOLD))
"""How a line on stderr begins, and in what style where that is a terminal."""


def complain(words: str) -> None:
    """Write to stderr; where that fails there is nobody left to tell."""
    try:
        if sys.stderr is not None:
            _write_all(STDERR, text(_coloured(words), sys.stderr))
    except OSError:
        pass


def _coloured(words: str) -> str:
    if not (screen.is_terminal(sys.stderr) and screen.has_colours(os.environ)):
        return words
    return "\n".join(_head(line) for line in words.split("\n"))


def _head(line: str) -> str:
    for head, style in _HEADS:
        if line.startswith(head):
            end = line.index(":") + 1
            return f"\x1b[{style}m{line[:end]}\x1b[0m{line[end:]}"
    return line


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _output_failed(error: OSError, recorded: str | None) -> EnvironmentProblem:
    what = f"; the step is recorded: {recorded}" if recorded else ""
    return EnvironmentProblem(
        "OUTPUT_FAILED",
        f"The answer could not be written ({error.strerror or error}){what}.",
        suggest("audit timeline") if recorded else "Repeat with a writable stdout",
        recorded=recorded,
    )


def is_lost(problem: OrchestratorError) -> bool:
    """Whether it is the answer itself that could not be written, and not a file: then no other can be, either."""
    return problem.code == "OUTPUT_FAILED" and "path" not in problem.data


def recorded_step(answer: dict[str, Any], words: str) -> str | None:
    """The id of the step that an answer speaks of, or None for one that wrote nothing."""
    request = operations.known(words)
    if answer.get("dry_run") or request is None or not request.is_writing:
        return None
    seq = answer.get("seq")
    found = answer.get("decision_id") or (f"step {seq}" if seq is not None else None)
    return str(found) if found else None


_options = ""
"""What the commands of this call's answer have between program and operation."""


def name_database(db: str | None) -> None:
    """Have every later command name a database.

    Args:
        db: the file as the call named it; None where it named none.
    """
    global _options
    _options = "" if db is None else option(db)


def option(db: str) -> str:
    """`--db FILE` as the words of a command that may be run in any folder."""
    if "://" in db:
        from orchestrator.core import database_urls

        return f"--db {names.word(database_urls.masked(db))}"
    try:
        path = os.path.abspath(db)
    except OSError:
        path = db
    return f"--db {names.word(path)}"


def worded(found: Any) -> Any:
    """A text or an answer, its commands with the database."""
    return suggestions.reword(found, _command) if _options else found


def _command(suggestion: Suggestion) -> str:
    named = "db" in suggestion.arguments or suggestion.audience == ELSEWHERE
    if named or not suggestion.operation or suggestion.is_typed:
        return suggestion
    return suggestions.command_line(suggestion.operation, suggestion.arguments, _options)
