"""One way for all doors to take the parameters of an operation: known names, fitting types, sound ids and texts.

What is found here is wrong in itself, whatever the database holds, so it is no refusal and leaves no record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from orchestrator.app.kernel import operations, requests
from orchestrator.app.kernel.context import NO_SESSION_OPEN, Call, Context, Work, no_session_open, perform
from orchestrator.app.kernel.requests import REQUIRED, Parameter
from orchestrator.core import names, oversized, strict_json
from orchestrator.core.suggestions import again, options, sentence, suggest
from orchestrator.errors import Refused, UsageError
from orchestrator.hints import Any, NoReturn
from orchestrator.store.constants import STORE_CHAIN

OBJECT_LIMIT = 1024 * 1024
"""Bytes of a JSON parameter; more belongs into a file that it names. Parts of a report may be larger."""
_WORDS = {str: "a text", int: "a whole number", bool: "true or false", dict: "an object", list: "a list"}

_OTHER_NAMES = {
    "id": ("group_id", "session_id"), "session_id": ("id",), "group_id": ("id",), "at": ("at_seq", "at_status"),
}  # fmt: skip
"""Common names of parameters, and what they may mean."""
_NAMES = {"session_id": requests.SESSION_ID, "group_id": requests.GROUP_ID}
"""What parameters of these names hold, which an operation's own commands call `id`."""

_INFINITE = (float("inf"), float("-inf"))


def parameters(words: str) -> dict[str, Parameter]:
    """The parameters of an operation by name.

    Raises:
        UsageError: USAGE for an unknown operation, with the nearest known one.
    """
    return operations.find(words).parameters()


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
        if value is None and _may_be_null(parameter):
            if parameter.nullable:
                found[name] = None
            continue
        if parameter.field.is_state and type(value) is str:
            value = names.state_name(value)
        found[name] = fitting(words, parameter, value)
    missing = [
        name
        for name, each in known.items()
        if each.default is REQUIRED and name not in found and not each.field.is_found
    ]
    if missing:
        message = f"{words} needs {', '.join(missing)}."
        raise UsageError("USAGE", message, suggest(words, help=True), _missing=missing)
    return found


def complete(context: Context, words: str, bound: dict[str, Any]) -> dict[str, Any]:
    """Fill in the session where an operation needs one and none was named: the only one that is open.

    Raises:
        UsageError: AMBIGUOUS_SESSION {sessions}. Refused: UNKNOWN_SESSION, none is open.
    """
    known = parameters(words)
    if words.startswith("blocker ") and "session_id" not in bound and ":" in bound.get("id", ""):
        return {**bound, "session_id": bound["id"].partition(":")[0]}
    for name, each in known.items():
        if each.field.is_found and bound.get(name) is None and not bound.get("every"):
            return {**bound, name: only_session(context, words, bound)}
    if words == "why" and bound.get("session_id") is None and ":" not in bound["id"]:
        return {**bound, "session_id": only_session(context, words, bound)}
    if words == "status" and bound.get("session_id") is None:
        open_ = open_sessions(context)
        session = open_[0] if len(open_) == 1 else None if open_ else _last_ended(context)
        return {**bound, "session_id": session} if session else bound
    return bound


def _reads_the_last(words: str) -> bool:
    """Whether a command reads the last session where none is open: what is asked of the record, most of all then."""
    return words in ("next", "why", "certificate make", "workflow what-if") or words.startswith("audit ")


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
            again(session_id="ID"),
            sessions=found[:20],
        )
    ended = _last_ended(context) if _reads_the_last(words) else None
    if ended is not None:
        return ended
    chat = context.reader.one("SELECT 1 FROM sessions WHERE status <> 'ended' AND kind = 'chat' LIMIT 1") is not None
    if operations.find(words).is_writing:
        refusal = no_session_open(chat_is_open=chat)
        refusal.data["_recorded"] = NO_SESSION_OPEN
        _refuse(context, words, given, refusal)
    if context.reader.one("SELECT 1 FROM sessions LIMIT 1") is None:
        raise no_session_open()
    raise no_session_open(suggest("session list", all=True), chat_is_open=chat)


def _refuse(context: Context, words: str, given: dict[str, Any], refusal: Refused) -> NoReturn:
    """Raise a refusal that is on record."""

    def refuse(work: Work) -> dict[str, Any]:
        raise refusal

    actor = given.get("by") or given.get("agent_id") or given.get("current_agent") or ""
    perform(context, Call(words, STORE_CHAIN, actor, given, dry_run=bool(given.get("dry_run"))), refuse)
    raise AssertionError("a call that refuses was let through")


def _may_be_null(parameter: Parameter) -> bool:
    return parameter.nullable or parameter.default is not REQUIRED or parameter.field.is_found


def _other_name(words: str, name: str, known: dict[str, Parameter], given: dict[str, Any]) -> str:
    """The parameter that another common name for it means.

    Raises:
        UsageError: USAGE, there is none.
    """
    for other in _OTHER_NAMES.get(name, ()):
        fits = other != "id" or ("id" in known and known["id"].field.holds == _NAMES[name])
        if other in known and other not in given and fits:
            return other
    near = names.nearest(name, known)
    hint = f"; did you mean {near}?" if near else "."
    raise UsageError(
        "USAGE",
        f"{words} has no parameter {names.shown(name)}{hint}",
        suggest(words, help=True),
        did_you_mean=near,
    )


def fitting(words: str, parameter: Parameter, value: Any) -> Any:
    """A value as a parameter takes it.

    Args:
        words: what is called, for the error.

    Raises:
        UsageError: USAGE naming the parameter; INVALID_ID; INVALID_TEXT.
    """
    kind = type(value)
    if kind is tuple:
        value, kind = list(value), list
    if kind not in parameter.kinds:
        wanted = " or ".join(_WORDS[each] for each in parameter.kinds)
        raise UsageError("USAGE", f"{words}: {parameter.name} must be {wanted}.", suggest(words, help=True))
    for each in value if kind is list else (value,):
        _check(parameter, each, kind)
    return tuple(value) if kind is list else value


def _check(parameter: Parameter, value: Any, kind: type) -> None:
    """What a value of the parameter, or each in a list of them, must satisfy besides its type."""
    name, field = parameter.name, parameter.field
    if field.holds:
        _CHECKS[field.holds](name, value)
    elif field.choices:
        check_choice(name, value, field.choices)
    elif field.span is not None and int in parameter.kinds:
        _check_span(name, value, *field.span)
    elif kind is dict:
        _check_object(name, value, OBJECT_LIMIT)
    elif kind in (str, list):
        _check_text(name, value)


def check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    """Whether a value is one of those that a parameter takes.

    Raises:
        UsageError: USAGE, naming them and the nearest.
    """
    if value in choices:
        return
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


def _check_span(name: str, value: Any, least: int, most: int) -> None:
    if isinstance(value, int) and not least <= value <= most:
        message = f"{name} must be from {least} to {most}, not {names.shown(value)}."
        raise UsageError("USAGE", message, f"Repeat with a number from {least} to {most}", _named=name)


def _check_id(kind: str) -> Callable[[str, Any], None]:
    def check(name: str, value: str) -> None:
        names.check_id(kind, value)

    return check


def _check_chain(name: str, value: str) -> None:
    """A session's id, or the chain of what belongs to no session."""
    if value != STORE_CHAIN:
        names.check_id("session", value)


def _check_agent_id(name: str, value: str) -> None:
    # An empty actor is no actor: the rule that asks for one speaks, and is recorded.
    if value != "":
        names.check_agent_id(value, "agent" if name in ("id", "agent_id", "agent") else f"agent of {name}")


def _check_reasons(name: str, value: dict[str, Any]) -> None:
    for group, reason in value.items():
        names.check_id("group", group)
        _check_text(name, reason)


def check_request_id(name: str, value: str) -> None:
    """Whether a text can be a request id.

    Raises:
        UsageError: USAGE, INVALID_TEXT.
    """
    _check_text(name, value)
    if not value.strip() or len(value) > names.AGENT_ID_LENGTH:
        raise UsageError(
            "USAGE",
            f"request_id must have 1 to {names.AGENT_ID_LENGTH} characters.",
            sentence("Repeat with another {}", options(request_id=True)),
        )


def _check_report_part(name: str, value: dict[str, Any]) -> None:
    _check_object(name, value, oversized.REPORT_LIMIT)


def _leave_unread(name: str, value: object) -> None:
    """What the use case checks itself."""


def _check_text(name: str, value: object) -> None:
    if type(value) is not str:
        what = _WORDS[type(value)] if type(value) in (dict, list) else names.shown(value)
        raise UsageError("USAGE", f"{name} must be text, not {what}.", "")
    problem = names.text_problem(value)
    if problem:
        raise UsageError("INVALID_TEXT", f"The text of {name} {problem}.", "Repeat without it", parameter=name)


def _check_object(name: str, value: dict[str, Any], limit: int) -> None:
    """Texts inside of an object are stored as well; what JSON has no form for is refused."""
    size = 0
    rest: list[Any] = [value]
    _check_depth(name, value)
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
            raise UsageError("USAGE", f"{name} holds {names.shown(found)}, which JSON cannot represent.", "")
        size += 2
        if size > limit:
            told = f"{name} is larger than {limit} bytes."
            raise UsageError("USAGE", told, "Put large items into a file and name that file")


def _check_depth(name: str, value: object) -> None:
    """Whether a value is nested no deeper than a document may be, from which it comes at every other door."""
    level: Iterable[object] = [value]
    for _ in range(strict_json.DEPTH_LIMIT):
        # Each once: one value may stand in many places, and even within itself.
        level = {id(each): each for found in level for each in _inner(found)}.values()
        if not level:
            return
    told = f"{name} is nested more than {strict_json.DEPTH_LIMIT} levels deep."
    raise UsageError("USAGE", told, "Put what is so deep into a file and name that file")


def _inner(value: Any) -> Iterable[object]:
    """The containers in a container, which alone can nest."""
    found = value.values() if type(value) is dict else value if type(value) in (list, tuple) else ()
    return (each for each in found if type(each) in (dict, list, tuple))


_CHECKS: dict[str, Callable[[str, Any], None]] = {
    requests.SESSION_ID: _check_id("session"),
    requests.GROUP_ID: _check_id("group"),
    requests.TASK_ID: _check_id("task"),
    requests.CRITERION_ID: _check_id("criterion"),
    requests.AGENT_ID: _check_agent_id,
    requests.CHAIN: _check_chain,
    requests.REASONS: _check_reasons,
    requests.REQUEST_ID: check_request_id,
    requests.REPORT_PART: _check_report_part,
    requests.UNREAD: _leave_unread,
}
"""The check of what a value is, by what the declaration says that it holds."""
