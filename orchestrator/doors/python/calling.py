"""What every method of the Python interface does: check the arguments, call the use case on one connection."""

from __future__ import annotations

from typing import Any

from orchestrator import bootstrap
from orchestrator.app.kernel import arguments, operations, outcomes
from orchestrator.app.kernel.context import Context
from orchestrator.errors import OrchestratorError

Answer = dict[str, Any]


class Caller:
    """Holds the connection."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def _call(self, words: str, **given: Any) -> Answer:
        bound = arguments.bind(words, {name: value for name, value in given.items() if value is not None})
        try:
            bound = arguments.complete(self._context, words, bound)
            return outcomes.success(operations.call(self._context, words, **bound), self._context.path)
        except OrchestratorError:
            raise
        except Exception as error:
            raise bootstrap.environment_problem(error, self._context.path) or error from error
