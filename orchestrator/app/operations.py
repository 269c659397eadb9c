"""The table of what the doors offer: the words of an operation, the use case behind it, and whether it writes.

Every door calls `call`; none knows another home for the same thing. Use cases are imported when they are called.
"""

from __future__ import annotations

import importlib
import inspect
from typing import Any, NamedTuple

from orchestrator.app.context import Answer, Context
from orchestrator.errors import UsageError


class Operation(NamedTuple):
    """One use case as the doors see it."""

    words: str
    module: str
    function: str
    writes: bool


def _operation(words: str, place: str, *, writes: bool = False) -> Operation:
    module, _, function = place.partition(":")
    return Operation(words, f"orchestrator.app.{module}", function, writes)


OPERATIONS: dict[str, Operation] = {
    operation.words: operation
    for operation in (
        _operation("route", "routing:route", writes=True),
        _operation("redispatch", "redispatching:redispatch", writes=True),
        _operation("session create", "sessions:create", writes=True),
        _operation("session pause", "sessions:pause", writes=True),
        _operation("session resume", "sessions:resume", writes=True),
        _operation("session end", "sessions:end", writes=True),
        _operation("session testing-mode", "sessions:set_testing_mode", writes=True),
        _operation("session upgrade-workflow", "sessions:upgrade_workflow", writes=True),
        _operation("session list", "reading:sessions"),
        _operation("session show", "reading:session"),
        _operation("group create", "groups:create", writes=True),
        _operation("group set-status", "groups:set_status", writes=True),
        _operation("group depend", "dependencies:depend", writes=True),
        _operation("group undepend", "dependencies:undepend", writes=True),
        _operation("group list", "reading:groups"),
        _operation("group show", "reading:group"),
        _operation("agent register", "agents:register", writes=True),
        _operation("agent deactivate", "agents:deactivate", writes=True),
        _operation("agent list", "reading:agents"),
        _operation("agent show", "reading:agent"),
        _operation("agent tree", "reading:agent_tree"),
        _operation("workflow load", "workflows:load", writes=True),
        _operation("workflow show", "workflows:show"),
        _operation("workflow versions", "workflows:versions"),
        _operation("workflow diff", "workflows:diff"),
        _operation("workflow graph", "workflows:graph"),
        _operation("status", "status:status"),
        _operation("why", "explaining:why"),
        _operation("handoff", "handoffs:handoff"),
        _operation("audit decisions", "auditing:decisions"),
        _operation("audit timeline", "auditing:timeline"),
        _operation("audit refusals", "auditing:refusals"),
    )
}


def call(context: Context, words: str, **arguments: Any) -> Answer:
    """Call an operation by its words with the parameters of its use case.

    Raises:
        UsageError: USAGE for an unknown operation or parameter, or a missing one.
    """
    operation = OPERATIONS[words]
    function = getattr(importlib.import_module(operation.module), operation.function)
    answer: Answer = function(context, **arguments)
    return answer


def bind(words: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Check the parameters of an operation by name, for doors that take them as data; lists become tuples.

    Raises:
        UsageError: USAGE naming the unknown operation or parameter and the nearest known one, or the missing ones.
    """
    from orchestrator.core import names

    operation = OPERATIONS.get(words)
    if operation is None:
        near = names.nearest(words, OPERATIONS)
        raise UsageError("USAGE", f"There is no operation {names.shown(words)}.", near or "", did_you_mean=near)
    function = getattr(importlib.import_module(operation.module), operation.function)
    known = {name: p for name, p in inspect.signature(function).parameters.items() if name not in ("context", "at")}
    for name in arguments:
        if name not in known:
            near = names.nearest(name, known)
            raise UsageError("USAGE", f"{words} has no parameter {names.shown(name)}.", near or "", did_you_mean=near)
    missing = [name for name, p in known.items() if p.default is p.empty and name not in arguments]
    if missing:
        raise UsageError("USAGE", f"{words} needs {', '.join(missing)}.", f"orchestrator {words} --help")
    return {
        name: _value(words, name, value, str(known[name].annotation))
        for name, value in arguments.items()
        if value is not None or known[name].default is not None
    }


_KINDS = {"str": str, "int": int, "bool": bool, "dict": dict, "tuple": list}


def _value(words: str, name: str, value: Any, annotation: str) -> Any:
    if value is None and "None" in annotation:
        return None
    wanted = [kind for word, kind in _KINDS.items() if annotation.startswith(word) or f"| {word}" in annotation]
    fits = type(value) in wanted if type(value) is bool or bool in wanted else isinstance(value, tuple(wanted))
    if not fits:
        raise UsageError(
            "USAGE", f"{words}: {name} must be {' or '.join(kind.__name__ for kind in wanted)}.", f"orchestrator {words} --help"
        )
    return tuple(value) if isinstance(value, list) else value
