"""Writing what lines are answered with: at once and whole, before the next line is read.

Source: seed 001, Property 28.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from orchestrator.app.kernel import operations
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.running import states
from orchestrator.core.suggestions import split_lines
from orchestrator.doors.cli import output
from orchestrator.doors.cli.repl import show
from orchestrator.errors import EnvironmentProblem, OrchestratorError, UsageError
from orchestrator.hints import Any

_PASSES = "BUSY"
_TYPED = ("[NEXT]    ", "[HINT]    ")
"""How lines begin behind which a command stands."""
_SLIP = UsageError("UNKNOWN_COMMAND", "Did you mean /exit?", "/exit", did_you_mean="/exit")


class Answer(NamedTuple):
    """What a line is answered with.

    document: the answer for programs; lines: for people; run: the id of the run that it queues, which is to be
    executed next.
    """

    document: dict[str, Any]
    lines: Sequence[str] = ()
    run: str | None = None


class Teller:
    """Writes answers to stdout, for people or as JSON lines.

    Args:
        json: whether each answer is one JSON object.
        copyable: makes a command one that works where it is copied to.
    """

    def __init__(self, *, json: bool = False, copyable: Callable[[str], str] = str) -> None:
        self.json = json
        self._copyable = copyable
        self.failed = False
        self._listening = True

    def answer(self, name: str, found: Answer) -> None:
        """Write an answer.

        Raises:
            EnvironmentProblem: OUTPUT_FAILED.
        """
        if self.json:
            self._write(output.line({**operations.success({}, None), "op": name, **self.repeatable(found.document)}))
        else:
            self.lines(found.lines)

    def lines(self, lines: Sequence[str]) -> None:
        """Write lines of text, where people read.

        Raises:
            EnvironmentProblem: OUTPUT_FAILED.
        """
        if lines and not self.json:
            self._write(output.text("\n".join(map(self._line, lines)), sys.stdout))

    def repeatable(self, document: dict[str, Any]) -> dict[str, Any]:
        """A document in which what is to be typed next works where it is copied to."""
        found, run, block = dict(document), document.get("run"), document.get("summary")
        if isinstance(run, dict):
            found["run"] = {**run, **{name: self._copyable(run[name]) for name in ("next", "hint") if run.get(name)}}
        if block:
            found["summary"] = "\n".join(map(self._line, split_lines(block)))
        return found

    def _line(self, line: str) -> str:
        """A line, its command as it is to be typed; logs and lists have no lines that begin so."""
        return self._copyable(line) if line.startswith(_TYPED) else line

    def problem(self, name: str, problem: OrchestratorError) -> None:
        """Write why a line was not done; the process will end with 1.

        Raises:
            EnvironmentProblem: OUTPUT_FAILED; the problem itself, where the surroundings fail for longer.
        """
        self.failed = True
        problem.suggestion = self._copyable(problem.suggestion)
        if isinstance(problem, EnvironmentProblem) and problem.code != _PASSES:
            raise problem
        if self.json:
            self._write(output.line({**operations.failure(problem, None), "op": name}))
        else:
            self.lines(show.problem(problem))

    def slip(self) -> None:
        """Answer `exit` without its slash, which is no task; the process will end with 1.

        Raises:
            EnvironmentProblem: OUTPUT_FAILED.
        """
        self.failed = True
        if self.json:
            self._write(output.line({**operations.failure(_SLIP, None), "op": "exit"}))
        else:
            self.lines([f"ERROR: {_SLIP.message}", f"HINT: {_SLIP.suggestion}"])

    def run(self, run: dict[str, Any]) -> None:
        """Write what came of a task: the summary where it has ended.

        Raises:
            EnvironmentProblem: OUTPUT_FAILED.

        Source: seed 001, Property 39.
        """
        kind = "summary" if states.is_terminal(run["state"]) else "question"
        self.answer(kind, Answer({"run": show.brief(run), "summary": show.summarised(run)}, show.ended(run)))

    def _write(self, data: bytes) -> None:
        # A reader that has gone away changes nothing about the work.
        self._listening = self._listening and output.write(data)
