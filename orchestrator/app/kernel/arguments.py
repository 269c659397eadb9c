"""One way for all doors to take the parameters of an operation: known names, fitting types, sound ids and texts.

What is found here is wrong in itself, whatever the database holds, so it is no refusal and leaves no record.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, NoReturn

from orchestrator.app.kernel import operations
from orchestrator.app.kernel.argument_tables import AGENT_IDS, CHOICES, IDS, RANGES, STATES, TASK_IDS
from orchestrator.app.kernel.context import AGENT_JSON, Call, Context, Work, no_session_open, perform
from orchestrator.core import large, names
from orchestrator.core.tuples import NamedTuple
from orchestrator.errors import Refused, UsageError
from orchestrator.store.constants import STORE_CHAIN

REQUIRED = object()
OBJECT_LIMIT = 1024 * 1024
"""Bytes of a JSON parameter; more belongs into a file that it names. Parts of a report may be larger."""
_INTERNAL = ("context", "at")
_KINDS: dict[str, type] = {"str": str, "int": int, "bool": bool, "dict": dict, "tuple": list}
_WORDS = {str: "a text", int: "a whole number", bool: "true or false", dict: "an object", list: "a list"}

_OTHER_NAMES = {
    "id": ("group_id", "session_id"), "session_id": ("id",), "group_id": ("id",), "at": ("at_seq",),
}  # fmt: skip
"""Common names of parameters, and what they may mean."""

_INFINITE = (float("inf"), float("-inf"))

Check = Callable[[Any], None]


class Parameter(NamedTuple):
    """One parameter of a use case, as its signature and the tables above say."""

    kinds: tuple[type, ...]
    default: Any
    nullable: bool
    check: Check | None


_known: dict[str, dict[str, Parameter]] = {}


def parameters(words: str) -> dict[str, Parameter]:
    """The parameters of an operation by name.

    Raises:
        UsageError: USAGE for an unknown operation, with the nearest known one.
    """
    found = _known.get(words)
    if found is None:
        operation = operations.OPERATIONS.get(words)
        if operation is None:
            near = names.nearest(words, operations.OPERATIONS)
            hint = f"; did you mean {near}?" if near else "."
            raise UsageError(
                "USAGE", f"There is no operation {names.shown(words)}{hint}", "orchestrator --help", did_you_mean=near
            )
        found = _known[words] = _signature(words, operation)
    return found


def _signature(words: str, operation: operations.Operation) -> dict[str, Parameter]:
    # Read from the function itself: importing inspect would cost half the start of a call.
    function = getattr(importlib.import_module(operation.module), operation.function)
    code, defaults = function.__code__, function.__kwdefaults__ or {}
    listed = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return {
        name: _parameter(words, name, str(function.__annotations__[name]), defaults.get(name, REQUIRED))
        for name in listed
        if name not in _INTERNAL
    }


def _parameter(words: str, name: str, annotation: str, default: Any) -> Parameter:
    parts = [part.strip().partition("[")[0] for part in annotation.split("|")]
    kinds = tuple(_KINDS[part] for part in parts if part in _KINDS)
    return Parameter(kinds, default, "None" in parts, _check_of(words, name, kinds))


def bind(words: str, given: dict[str, Any]) -> dict[str, Any]:
    """Check the parameters of an operation by name; lists become tuples, what is null and may be left out is.

    Args:
        words: the words of the operation.
        given: values by name; `id` may stand for the group, and `session_id` for the id of a session's own commands.

    Raises:
        UsageError: USAGE naming the unknown, missing or unfit parameter; INVALID_ID; INVALID_TEXT.
    """
    known = parameters(words)
    found: dict[str, Any] = {}
    for name, value in given.items():
        parameter = known.get(name)
        if parameter is None:
            name = _other_name(words, name, known, given)
            parameter = known[name]
        if value is None and _may_be_null(words, name, parameter):
            if parameter.nullable:
                found[name] = None
            continue
        if name == "status" and words in STATES and type(value) is str:
            value = names.state_name(value)
        found[name] = _fitting(words, name, parameter, value)
    missing = [
        name for name, each in known.items() if each.default is REQUIRED and name not in found and name != "session_id"
    ]
    if missing and not _may_be_session(words, missing):
        message = f"{words} needs {', '.join(missing)}."
        raise UsageError("USAGE", message, f"orchestrator {words} --help", _missing=missing)
    return found


def complete(context: Context, words: str, bound: dict[str, Any]) -> dict[str, Any]:
    """Fill in the session where an operation needs one and none was named: the only one that is open.

    Raises:
        UsageError: AMBIGUOUS_SESSION {sessions}. Refused: UNKNOWN_SESSION, none is open.
    """
    known = parameters(words)
    if words.startswith("blocker ") and "session_id" not in bound and ":" in bound.get("id", ""):
        return {**bound, "session_id": bound["id"].partition(":")[0]}
    for name in ("session_id", "id"):
        wanted = known.get(name)
        of_session = name == "session_id" or _may_be_session(words, ["id"])
        if wanted is not None and wanted.default is REQUIRED and name not in bound and of_session:
            return {**bound, name: only_session(context, words, bound)}
    if words == "why" and bound.get("session_id") is None and ":" not in bound["id"]:
        return {**bound, "session_id": only_session(context, words, bound)}
    if words == "status" and bound.get("session_id") is None:
        open_ = open_sessions(context)
        session = open_[0] if len(open_) == 1 else None if open_ else _last_ended(context)
        return {**bound, "session_id": session} if session else bound
    return bound


_OF_THE_LAST = ("next", "why", "audit stats")
"""Commands that read the last session where none is open, and say that it has ended; so does `status`."""


def _last_ended(context: Context) -> str | None:
    row = context.reader.one(
        "SELECT id FROM sessions WHERE status = 'ended' AND kind <> 'chat' AND outcome <> 'imported'"
        " ORDER BY status_changed_at DESC, id DESC LIMIT 1"
    )
    return str(row[0]) if row else None


def open_sessions(context: Context) -> list[str]:
    """The ids of the orchestrations that have not ended, at most 21; a chat is meant only by its name."""
    rows = context.connection.execute(
        "SELECT id FROM sessions INDEXED BY ix_sessions_open WHERE status <> 'ended' AND kind <> 'chat' "
        "ORDER BY id LIMIT 21"
    )
    return [str(row[0]) for row in rows]


def only_session(context: Context, words: str, given: dict[str, Any]) -> str:
    """The one orchestration that is open; for what is asked after the end, the last one that has ended.

    Raises:
        UsageError: AMBIGUOUS_SESSION {sessions}. Refused: UNKNOWN_SESSION; recorded where the operation writes.
    """
    found = open_sessions(context)
    if len(found) == 1:
        return found[0]
    if found:
        listed = ", ".join(found[:20]) + (", ..." if len(found) > 20 else "")
        raise UsageError(
            "AMBIGUOUS_SESSION",
            f"Several sessions are open: {listed}.",
            "Repeat with --session-id ID",
            sessions=found[:20],
        )
    ended = _last_ended(context) if words in _OF_THE_LAST else None
    if ended is not None:
        return ended
    if operations.OPERATIONS[words].writes:
        _refuse(context, words, given, no_session_open())
    raise no_session_open("orchestrator session list --all")


def _refuse(context: Context, words: str, given: dict[str, Any], refusal: Refused) -> NoReturn:
    """Raise a refusal that is on record."""

    def refuse(work: Work) -> dict[str, Any]:
        raise refusal

    actor = given.get("by") or given.get("agent_id") or given.get("current_agent") or ""
    perform(context, Call(words, STORE_CHAIN, actor, given, dry_run=bool(given.get("dry_run"))), refuse)
    raise AssertionError("a call that refuses was let through")


def _may_be_null(words: str, name: str, parameter: Parameter) -> bool:
    may_be_filled_in = name == "session_id" or _may_be_session(words, [name])
    return parameter.nullable or parameter.default is not REQUIRED or may_be_filled_in


def _may_be_session(words: str, missing: list[str]) -> bool:
    return missing == ["id"] and words.startswith("session ") and words != "session create"


def _other_name(words: str, name: str, known: dict[str, Parameter], given: dict[str, Any]) -> str:
    """The parameter that another common name for it means.

    Raises:
        UsageError: USAGE, there is none.
    """
    for other in _OTHER_NAMES.get(name, ()):
        fits = other != "id" or words.startswith(f"{IDS[name]} ")
        if other in known and other not in given and fits:
            return other
    near = names.nearest(name, known)
    hint = f"; did you mean {near}?" if near else "."
    raise UsageError(
        "USAGE",
        f"{words} has no parameter {names.shown(name)}{hint}",
        f"orchestrator {words} --help",
        did_you_mean=near,
    )


def _fitting(words: str, name: str, parameter: Parameter, value: Any) -> Any:
    kind = type(value)
    if kind is tuple:
        value, kind = list(value), list
    if kind not in parameter.kinds:
        wanted = " or ".join(_WORDS[each] for each in parameter.kinds)
        raise UsageError("USAGE", f"{words}: {name} must be {wanted}.", f"orchestrator {words} --help")
    if parameter.check is not None:
        parameter.check(value)
    return tuple(value) if kind is list else value


def _check_of(words: str, name: str, kinds: tuple[type, ...]) -> Check | None:
    """What a value of the parameter must satisfy besides its type."""
    group, _, _ = words.partition(" ")
    if name == "id" and group in ("session", "group", "agent", "task", "criterion"):
        return _agent_id(name) if group == "agent" else _id(group)
    if name == "session_id" and group == "audit":
        return _chain
    if group == "audit" and name in ("group_id", "agent"):
        # A filter that nothing can have matches nothing.
        return _text_check(name, kinds)
    kind = _kind_of(group, name)
    if kind == "agent":
        return _agent_id(name)
    if kind is not None:
        return _each(_id(kind)) if list in kinds else _id(kind)
    if name == "acknowledge":
        return _acknowledge
    choices = CHOICES.get(f"{words} {name}") or CHOICES.get(name)
    if choices:
        return _choice(name, choices)
    if name in RANGES and int in kinds:
        return _range(name, *RANGES[name])
    if name == "request_id":
        return _request
    # The check of workflow files has words of its own for bytes that are no text.
    limit = large.REPORT_LIMIT if words == "route" and name in AGENT_JSON else OBJECT_LIMIT
    return None if name == "content" else _text_check(name, kinds, limit)


def _kind_of(group: str, name: str) -> str | None:
    """What a parameter of an operation names by its id, if anything."""
    if name in TASK_IDS or f"{group} {name}" in TASK_IDS:
        return "task"
    return "agent" if name in AGENT_IDS else IDS.get(name)


def _text_check(name: str, kinds: tuple[type, ...], limit: int = OBJECT_LIMIT) -> Check | None:
    if dict in kinds:
        return lambda value: _check_object(name, value, limit)
    if list in kinds:
        return _each(lambda value: _check_text(name, value))
    if str in kinds:
        return lambda value: None if type(value) is int else _check_text(name, value)
    return None


def _id(kind: str) -> Check:
    return lambda value: _ignore(names.check_id(kind, value))


def _chain(value: str) -> None:
    """A session's id, or the chain of what belongs to no session."""
    if value != STORE_CHAIN:
        names.check_id("session", value)


def _agent_id(name: str) -> Check:
    # An empty actor is no actor: the rule that asks for one speaks, and is recorded.
    kind = "agent" if name in ("id", "agent_id", "agent") else f"agent of {name}"
    return lambda value: _ignore(value == "" or names.check_agent_id(value, kind))


def _ignore(value: object) -> None:
    """Drop what a check returns; it raises where something is wrong."""


def _each(check: Check) -> Check:
    def every(values: list[Any]) -> None:
        for value in values:
            check(value)

    return every


def _acknowledge(value: dict[str, Any]) -> None:
    for group, reason in value.items():
        names.check_id("group", group)
        _check_text("acknowledge", reason)


def check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    """Whether a value is one of those that a parameter takes.

    Raises:
        UsageError: USAGE, naming them and the nearest.
    """
    _choice(name, choices)(value)


def _choice(name: str, choices: tuple[str, ...]) -> Check:
    def check(value: str) -> None:
        if value not in choices:
            _check_text(name, value)
            near = names.nearest(value, choices)
            hint = f"; did you mean {near}?" if near else "."
            raise UsageError(
                "USAGE",
                f"{name} must be {', '.join(choices[:-1])} or {choices[-1]}, not {names.shown(value)}{hint}",
                f"Use one of: {', '.join(choices)}",
                did_you_mean=near,
                choices=list(choices),
                _named=name,
            )

    return check


def _range(name: str, least: int, most: int) -> Check:
    def check(value: object) -> None:
        if isinstance(value, int) and not least <= value <= most:
            message = f"{name} must be from {least} to {most}, not {names.shown(value)}."
            raise UsageError("USAGE", message, f"Repeat with a number from {least} to {most}", _named=name)

    return check


def _request(value: str) -> None:
    _check_text("request_id", value)
    if not value.strip() or len(value) > names.AGENT_ID_LENGTH:
        raise UsageError(
            "USAGE",
            f"request_id must have 1 to {names.AGENT_ID_LENGTH} characters.",
            "Repeat with another --request-id",
        )


def _check_text(name: str, value: object) -> None:
    if type(value) is not str:
        raise UsageError("USAGE", f"{name} must be a text, not {names.shown(value)}.", "")
    problem = names.text_problem(value)
    if problem:
        raise UsageError("INVALID_TEXT", f"The text of {name} {problem}.", "Repeat without it", parameter=name)


def _check_object(name: str, value: dict[str, Any], limit: int) -> None:
    """Texts inside of an object are stored as well; what JSON has no form for is refused."""
    size = 0
    rest: list[Any] = [value]
    while rest:
        found = rest.pop()
        if type(found) is dict:
            for key in found:
                _check_text(f"a key of {name}", key)
                size += len(key)
            rest.extend(found.values())
        elif type(found) in (list, tuple):
            rest.extend(found)
        elif type(found) is str:
            _check_text(name, found)
            size += len(found)
        elif type(found) not in (int, float, bool, type(None)) or found != found or found in _INFINITE:
            raise UsageError("USAGE", f"{name} holds {names.shown(found)}, which JSON has no form for.", "")
        size += 2
        if size > limit:
            told = f"{name} is larger than {limit} bytes."
            raise UsageError("USAGE", told, "Put large items into a file and name that")
