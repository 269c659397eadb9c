"""A deterministic, audited, fail-closed orchestrator for teams of software agents.

`Orchestrator` is the Python interface, the classes of `orchestrator.errors` are its exceptions.
"""

# Every call of the command imports this file before it can hold interrupts back, so it imports nothing: also not
# `typing`, whose constant of this name type checkers know without it (CLI-5).
TYPE_CHECKING = False

if TYPE_CHECKING:
    from orchestrator.doors.python import Orchestrator as Orchestrator
    from orchestrator.errors import EnvironmentProblem as EnvironmentProblem
    from orchestrator.errors import InvalidInput as InvalidInput
    from orchestrator.errors import OrchestratorError as OrchestratorError
    from orchestrator.errors import Refused as Refused
    from orchestrator.errors import UsageError as UsageError

_HOMES = {
    "Orchestrator": "orchestrator.doors.python",
    "OrchestratorError": "orchestrator.errors",
    "InvalidInput": "orchestrator.errors",
    "Refused": "orchestrator.errors",
    "UsageError": "orchestrator.errors",
    "EnvironmentProblem": "orchestrator.errors",
}

__all__ = ["EnvironmentProblem", "InvalidInput", "Orchestrator", "OrchestratorError", "Refused", "UsageError"]


def __getattr__(name: str) -> object:
    # On demand: every command line call imports this package, and needs none of it.
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(home), name)
