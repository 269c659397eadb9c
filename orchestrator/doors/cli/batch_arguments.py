"""The arguments of a batch's line, by the names of the use case or of the command line's options."""

from __future__ import annotations

import json

from orchestrator.app.kernel import arguments
from orchestrator.core import names
from orchestrator.core.suggestions import suggest
from orchestrator.doors.cli import catalogue, coercion, options, route, workflow
from orchestrator.doors.cli.options import Command, Given, Parameter
from orchestrator.errors import UsageError
from orchestrator.hints import Any

Arguments = dict[str, Any]

OWN = frozenset(("workflow check", "metadata check", "doctor", "db current", "db check", "schema", "init"))
"""Commands that are no operations and may be lines."""
_TOKEN = "human_token_file"  # noqa: S105 - the name of a parameter
NAMES_OF_FILES = ("report", "output", "metadata", "file", "agents", _TOKEN)
"""Parameters of operations that name a file where they are a text."""
_FILES = (options.DOCUMENT, options.METADATA, options.OBJECT_FILE)


def reads_files(given: Arguments) -> bool:
    """Whether a line names a file to read: what lies there may take its time."""
    return any(isinstance(given.get(name), str) for name in NAMES_OF_FILES)


def fitted(words: str, given: Arguments) -> Arguments:
    """The parameters of an operation, taken from what a line gives.

    Raises:
        UsageError: USAGE, a file cannot be read, or two names of one parameter contradict each other.
        InvalidInput: METADATA_INVALID.
    """
    if words == "route":
        given = _of_route(given)
    elif words in _OF_FILES and "file" in given:
        given = _of_file(words, given)
    known = arguments.parameters(words)
    if given.keys() <= known.keys():
        return given
    spellings = _spellings(words)
    found: Arguments = {}
    for name, value in given.items():
        key = name if name in known else spellings.get(name, name)
        coercion.agree(found, key, value, f"{words}: {name} and another argument")
    return found


def without_token(words: str, given: Arguments) -> tuple[Arguments, bytes | None, list[str]]:
    """What a line gives besides a person's token, the token, and warnings about its file.

    A batch has no terminal: a token alone proves.

    Raises:
        UsageError: USAGE, the file cannot be read, or the command takes no token.
    """
    name = given.get(_TOKEN)
    command = catalogue.known(words) if name is not None else None
    if command is None:
        return given, None, []
    from orchestrator.doors.cli import secret_file_check

    if options.HUMAN not in command.parameters:
        raise UsageError("USAGE", f"{words} takes no {_TOKEN}.", suggest(words, help=True))
    if name == options.STDIN or not isinstance(name, str):
        raise _stdin(_TOKEN)
    rest = {key: value for key, value in given.items() if key != _TOKEN}
    return rest, coercion.secret(name, _TOKEN), secret_file_check.warnings(name, _TOKEN)


def own(command: Command, given: Arguments, db: str | None) -> Given:
    """The call of a command that is no operation.

    Raises:
        UsageError: USAGE, an argument that the command does not have or that does not fit.
    """
    known = {spelling: each for each in command.parameters for spelling in _names(each)}
    raw: Arguments = {}
    for name, value in given.items():
        if name not in known:
            message = f"{command.words} has no parameter {names.shown(name)}."
            raise UsageError("USAGE", message, f"orchestrator {command.words} --help")
        raw[known[name].name] = _fit(command, known[name], value)
    missing = [each.name for each in command.parameters if each.required and each.name not in raw]
    if missing:
        message = f"{command.words} needs {', '.join(missing)}."
        raise UsageError("USAGE", message, f"orchestrator {command.words} --help")
    return coercion.given(command, {name: value for name, value in raw.items() if value is not False}, {})._replace(
        db=db
    )


def _fit(command: Command, parameter: Parameter, value: Any) -> Any:
    if parameter.kind == options.WORDS and isinstance(value, str):
        value = value.split()
    fits = {options.FLAG: isinstance(value, bool), options.WORDS: _is_words(value)}
    if not fits.get(parameter.kind, isinstance(value, str)):
        message = f"{command.words}: {parameter.name} is invalid: {names.shown(value)}."
        raise UsageError("USAGE", message, f"orchestrator {command.words} --help")
    if value == options.STDIN and parameter.kind in _FILES:
        raise _stdin(parameter.name)
    return value


def _is_words(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _stdin(name: str) -> UsageError:
    return UsageError("USAGE", f"{name} cannot be read from stdin, where the lines come from.", "Name a file")


def _spellings(words: str) -> dict[str, str]:
    """Parameters of the use case by what the command line calls them."""
    command = catalogue.known(words)
    return {spelling: each.key for each in command.parameters for spelling in _names(each)} if command else {}


def _names(parameter: Parameter) -> tuple[str, ...]:
    flags = tuple(flag[2:].replace("-", "_") for flag in parameter.flags if flag.startswith("--"))
    return (parameter.name, *flags)


def _of_route(given: Arguments) -> Arguments:
    found = dict(given)
    if isinstance(found.get("acknowledge"), list):
        found["acknowledge"] = _pairs(found["acknowledge"])
    if isinstance(found.get("metadata"), str):
        if found["metadata"] == options.STDIN:
            raise _stdin("metadata")
        found["metadata"] = coercion.as_object(coercion.metadata_file(found["metadata"], "metadata"), "metadata")
    for name in ("report", "output"):
        if name in found:
            found[name] = _bytes(name, found[name])
    route.take_document(found)
    return found


def _pairs(given: list[Any]) -> dict[str, str]:
    found: dict[str, str] = {}
    for each in given:
        group, equals, reason = each.partition("=") if isinstance(each, str) else ("", "", "")
        if not equals or not group or group in found:
            message = f"acknowledge takes GROUP=REASON, each group once, not {names.shown(each)}."
            raise UsageError("USAGE", message, '"acknowledge": {"GROUP": "REASON"}')
        found[group] = reason
    return found


def _bytes(name: str, given: Any) -> bytes:
    """A document: an object as it is, or the content of the file of this name."""
    if isinstance(given, dict):
        return json.dumps(given, ensure_ascii=False).encode()
    if not isinstance(given, str):
        raise UsageError("USAGE", f"{name} must be the name of a file, or an object.", "Name a file")
    if given == options.STDIN:
        raise _stdin(name)
    return coercion.document(given, name)


_OF_FILES = {"workflow load": workflow.loading, "workflow what-if": workflow.assuming}
"""Operations on a transitions file and its agent files: what reads both."""


def _of_file(words: str, given: Arguments) -> Arguments:
    rest = {name: value for name, value in given.items() if name not in ("file", "agents")}
    for name in ("file", "agents"):
        if name in given and not isinstance(given[name], str):
            raise UsageError("USAGE", f"{words}: {name} must be text.", f"orchestrator {words} --help")
    return {**rest, **_OF_FILES[words](given)}
