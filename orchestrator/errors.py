"""Every error of the product, in one tree.

    OrchestratorError              code, message, suggestion, data; exit status
    ├── InvalidInput               the author of a file or document is asked to fix it    exit 4
    ├── Refused                    a rule turned the caller down; the attempt is recorded exit 3
    ├── UsageError                 the words of the call are wrong                        exit 64
    └── EnvironmentProblem         no database, busy, read-only, full, corrupt, too new   exit 5

The code is stable and machine-readable, the message one sentence for people, the suggestion the command
or act that helps, the data further JSON keys that belong to the code.
"""

from __future__ import annotations

from orchestrator.hints import Any, ClassVar

EXIT_OK = 0
EXIT_NEGATIVE = 1
EXIT_PERSON = 2
EXIT_REFUSED = 3
EXIT_INVALID = 4
EXIT_ENVIRONMENT = 5
EXIT_USAGE = 64
EXIT_INTERNAL = 70
EXIT_INTERRUPTED = 130


class OrchestratorError(Exception):
    """Base of all errors that the product raises on purpose."""

    exit_code: ClassVar[int] = EXIT_INTERNAL

    def __init__(self, code: str, message: str, suggestion: str = "", **data: Any) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.suggestion = suggestion
        self.data = data

    def __reduce__(self) -> tuple[Any, ...]:
        """How it is copied, and sent to another process."""
        return _restored, (type(self), self.code, self.message, self.suggestion, self.data)


def _restored(
    kind: type[OrchestratorError], code: str, message: str, suggestion: str, data: dict[str, Any]
) -> OrchestratorError:
    return kind(code, message, suggestion, **data)


class InvalidInput(OrchestratorError):
    """A workflow file, configuration, metadata or other document is not valid; nothing was changed."""

    exit_code = EXIT_INVALID


class Refused(OrchestratorError):
    """A rule turned the attempt down; it is recorded and moved nothing."""

    exit_code = EXIT_REFUSED


class UsageError(OrchestratorError):
    """The call itself is wrong: an unknown flag, an invalid id, an ambiguous session."""

    exit_code = EXIT_USAGE


class EnvironmentProblem(OrchestratorError):
    """The surroundings do not allow it: no database, busy, read-only, full, corrupt, too new."""

    exit_code = EXIT_ENVIRONMENT
