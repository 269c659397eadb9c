"""What every method of the Python interface does: check the arguments, call the use case on one connection."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from orchestrator import bootstrap
from orchestrator.app.kernel import arguments, copy_in_memory, operations
from orchestrator.app.kernel.context import Context
from orchestrator.core.suggestions import Suggestion, reword
from orchestrator.errors import OrchestratorError, UsageError
from orchestrator.hints import Any

Answer = dict[str, Any]


class Caller:
    """Holds the connection."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._thread = threading.get_ident()
        self._is_open = True

    def close(self) -> None:
        """Close the connection; nothing can be called afterwards.

        Raises:
            UsageError: USAGE, in another thread than that which opened it.
        """
        self._require_thread()
        self._is_open = False
        self._context.connection.close()

    def _require_thread(self) -> None:
        if threading.get_ident() != self._thread:
            what = "An Orchestrator belongs to the thread that opened it."
            raise UsageError("USAGE", what, "Open one in each thread: Orchestrator.open(path)")

    @contextlib.contextmanager
    def _fitting(self, words: str, bound: dict[str, Any]) -> Iterator[Context]:
        """The context; a copy in memory for the trial of a call that would write what was opened for reading."""
        request = operations.find(words)
        if self._context.connection.writes or not request.is_writing or not request.is_trial(bound):
            yield self._context
            return
        context = copy_in_memory.of(self._context)
        try:
            yield context
        finally:
            context.connection.close()

    def _call(self, words: str, **given: Any) -> Answer:
        self._require_thread()
        if not self._is_open:
            raise UsageError("USAGE", "This Orchestrator is closed.", "Open it again: Orchestrator.open(path)")
        try:
            bound = arguments.bind(words, {name: value for name, value in given.items() if value is not None})
            with self._fitting(words, bound) as context:
                bound = arguments.complete(context, words, bound)
                answer = operations.success(operations.call(context, words, **bound), context.path)
        except OrchestratorError as problem:
            problem.suggestion, problem.data = reword(problem.suggestion, worded), reword(problem.data, worded)
            raise
        except Exception as error:
            raise bootstrap.environment_problem(error, self._context.path) or error from error
        found: Answer = reword(answer, worded)
        return found


def worded(suggestion: Suggestion) -> str:
    """A suggestion as the call of a method; what no method does is a command.

    Arguments with which a call is repeated are those of a call: `reason="TEXT"`.
    """
    words, given = suggestion.operation, suggestion.arguments
    operation = operations.known(words)
    if words and (operation is None or not given.keys() <= operation.parameters().keys()):
        return str(suggestion)
    said = ", ".join(f"{name}={value!r}" for name, value in given.items())
    return f"o.{words.replace(' ', '_').replace('-', '_')}({said})" if words else said
