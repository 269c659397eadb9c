"""From the words of a call to the values that a use case takes: texts from stdin and files, numbers, JSON."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

from orchestrator import files
from orchestrator.app.kernel import arguments as checks
from orchestrator.core import names, oversized, strict_json
from orchestrator.doors.cli import options
from orchestrator.doors.cli.options import Command, Given, Parameter
from orchestrator.errors import EnvironmentProblem, InvalidInput, OrchestratorError, UsageError
from orchestrator.hints import Any

_PLAIN = (options.WORD, options.FLAG)
_OFF = ("", "0", "false", "no", "off")


def wants_json(environment: Mapping[str, str]) -> bool:
    """Whether ORCHESTRATOR_JSON asks for JSON."""
    return environment.get("ORCHESTRATOR_JSON", "").lower() not in _OFF


def given(command: Command, raw: dict[str, Any], environment: Mapping[str, str]) -> Given:
    """Turn what was written into values.

    Raises:
        UsageError: USAGE, a value is not what its parameter takes, or stdin is asked for twice.
        InvalidInput: METADATA_INVALID, a JSON file is not an object; FILE_INVALID. EnvironmentProblem:
            FILE_UNREADABLE.
    """
    values = dict(raw)
    own = {each.name: values.pop(each.name, None) for each in options.COMMON}
    _refuse_second_stdin(command, values)
    arguments: dict[str, Any] = {}
    for parameter in command.parameters:
        if parameter.name in values:
            value = _READERS[parameter.kind](parameter, values[parameter.name])
            if parameter.choices:
                value = names.state_name(value) if parameter.name == "status" else value
                checks.check_choice(spelt(parameter), value, parameter.choices)
            agree(arguments, parameter.key, value, f"{spelt(parameter)} and another argument")
    for parameter in command.parameters:
        if parameter.variable and environment.get(parameter.variable):
            said = environment[parameter.variable]
            arguments.setdefault(parameter.key, [said] if parameter.kind == options.WORDS else said)
    if own["color"] is not None:
        checks.check_choice("--color", own["color"], options.COLOR.choices)
    warnings = _warnings(command, values)
    wants = bool(own["json"]) or wants_json(environment)
    return Given(
        arguments, wants, own["db"], bool(own["debug"]), warnings, bool(own["utc"]), own["color"],
        bool(own["allow_superuser"]),
    )  # fmt: skip


def _warnings(command: Command, values: dict[str, Any]) -> tuple[str, ...]:
    secrets = [each for each in command.parameters if each.kind == options.SECRET and each.name in values]
    if not secrets:
        return ()
    from orchestrator.doors.cli import secret_file_check

    return tuple(said for each in secrets for said in secret_file_check.warnings(values[each.name], spelt(each)))


def unread(command: Command, raw: dict[str, Any], environment: Mapping[str, str]) -> Given:
    """What a call names, where another of its values cannot be read."""
    plain = {each.key: raw[each.name] for each in command.parameters if each.kind in _PLAIN and each.name in raw}
    variables = {each.key: environment[each.variable] for each in command.parameters if environment.get(each.variable)}
    return Given({**variables, **plain}, False, raw.get("db"), False)


def agree(arguments: dict[str, Any], name: str, value: Any, who: str) -> None:
    """Set a parameter that may be given in two places, as long as both say the same.

    Raises:
        UsageError: USAGE, they contradict each other.
    """
    if name in arguments and arguments[name] != value:
        shown = f"{names.shown(arguments[name])} and {names.shown(value)}"
        raise UsageError("USAGE", f"{who} contradict each other on {name}: {shown}.", "Give one of them")
    arguments[name] = value


def _refuse_second_stdin(command: Command, values: dict[str, Any]) -> None:
    readers = (
        options.TEXT, options.ARRAY, options.OBJECT, options.OBJECT_FILE, options.DOCUMENT, options.METADATA,
        options.SECRET,
    )
    candidates = [each for each in command.parameters if each.kind in readers]
    readers_of_stdin = [each for each in candidates if values.get(each.name) == options.STDIN]
    if len(readers_of_stdin) > 1:
        taken = " and ".join(spelt(each) for each in readers_of_stdin)
        raise UsageError("USAGE", f"{taken} cannot both read stdin.", "Write one of them to a file and pass the file")


def spelt(parameter: Parameter) -> str:
    """How a person writes the parameter."""
    return parameter.flags[0] if parameter.flags else parameter.metavar


_ANOTHER = "Name a readable regular file"
_LITERAL = f"{_ANOTHER}; write @@ for a text that begins with @"


def read_file(name: str, what: str, limit: int | None = None, advice: str = _ANOTHER) -> bytes:
    """The bytes of a regular file, or of stdin for `-`.

    Args:
        name: the file's.
        what: the parameter that names it.
        limit: in bytes; None stands for that of texts.
        advice: what helps where the file cannot be read.

    Raises:
        EnvironmentProblem: FILE_UNREADABLE. InvalidInput: FILE_INVALID, it has more bytes than the limit.
    """
    bound = files.TEXT_LIMIT if limit is None else limit
    try:
        if name != options.STDIN:
            return files.content(name, bound)
        return files.bounded(sys.stdin.buffer, bound) if sys.stdin else b""
    except files.Unreadable as problem:
        raise files.refused(problem, f"{what}: {_named(name)}", advice) from None


def _named(name: str) -> str:
    return "stdin" if name == options.STDIN else names.shown(name)


def text(value: str, what: str) -> str:
    """A text argument: as it is, or from stdin (`-`) or a file (`@file`); `@@` is a literal @."""
    if value == options.STDIN:
        return decoded(read_file(options.STDIN, what), options.STDIN, what)
    if value.startswith("@@"):
        return value[1:]
    if value.startswith("@"):
        return decoded(read_file(value[1:], what, advice=_LITERAL), value[1:], what)
    return value


def decoded(data: bytes, name: str, what: str) -> str:
    """The text of a file or of stdin, without the line end at its end, which belongs to the file.

    Raises:
        InvalidInput: FILE_INVALID, it is not UTF-8.
    """
    try:
        found = files.decoded(data)
    except files.Unreadable as problem:
        raise files.refused(problem, f"{what}: {_named(name)}", "") from None
    return found.removesuffix("\n").removesuffix("\r")


def document(name: str, what: str) -> bytes:
    """The bytes of a file or of stdin that holds a report or a part of one, which is a text.

    Raises:
        EnvironmentProblem: FILE_UNREADABLE. InvalidInput: FILE_INVALID, it is too large or not UTF-8.
    """
    data = read_file(name, what, oversized.REPORT_LIMIT)
    decoded(data, name, what)
    return data


def _word(parameter: Parameter, value: str) -> str:
    return value


def _text(parameter: Parameter, value: str) -> str:
    return text(value, spelt(parameter))


def _integer(parameter: Parameter, value: str) -> int:
    digits = value.removeprefix("-")
    # 18 digits always fit the 64 bits that SQLite has for an integer.
    if digits.isascii() and digits.isdecimal() and len(digits) <= 18:
        return int(value)
    raise UsageError("USAGE", f"{spelt(parameter)} must be a whole number, not {names.shown(value)}.", "")


def _words(parameter: Parameter, value: list[str]) -> tuple[str, ...]:
    return tuple(value)


def _object(parameter: Parameter, value: str) -> dict[str, Any]:
    data: bytes | str = value
    if value == options.STDIN or value.startswith("@"):
        data = document(value if value == options.STDIN else value[1:], spelt(parameter))
    return as_object(data, spelt(parameter))


def _object_file(parameter: Parameter, value: str) -> dict[str, Any]:
    return as_object(metadata_file(value, spelt(parameter)), spelt(parameter))


def metadata_file(name: str, what: str) -> bytes:
    """The bytes of a metadata file; one that cannot be read, or begins with a byte-order mark, is no valid metadata.

    Raises:
        InvalidInput: METADATA_INVALID.
    """
    try:
        data = document(name, what)
    except OrchestratorError as problem:
        raise _invalid(what, problem.message.rstrip("."), ("$",)) from None
    if strict_json.has_bom(data):
        raise _invalid(what, f"{what} begins with a byte-order mark; save it as UTF-8 without one", ("$",))
    return data


def _metadata(parameter: Parameter, value: str) -> bytes:
    return metadata_file(value, spelt(parameter))


def as_object(data: bytes | str, what: str) -> dict[str, Any]:
    """A JSON object, read strictly.

    Raises:
        InvalidInput: METADATA_INVALID with the problems.
    """
    try:
        found = strict_json.loads(data, what, oversized.REPORT_LIMIT)
    except strict_json.JsonProblem as problem:
        raise _invalid(what, problem.message, problem.paths) from None
    if not isinstance(found, dict):
        raise _invalid(what, f"{what} must be a JSON object", ("$",))
    return found


def _array(parameter: Parameter, value: str) -> tuple[str, ...]:
    what = spelt(parameter)
    data: bytes | str = value
    if value == options.STDIN or value.startswith("@"):
        data = document(value if value == options.STDIN else value[1:], what)
    try:
        found = strict_json.loads(data, what)
    except strict_json.JsonProblem as problem:
        raise UsageError("USAGE", f"{problem.message}.", f"{what} {parameter.metavar}") from None
    if not isinstance(found, list) or not found or not all(isinstance(each, str) for each in found):
        raise UsageError("USAGE", f"{what} must be a JSON array of texts.", f"""{what} '["pytest", "-q"]'""")
    return tuple(found)


def _invalid(what: str, message: str, paths: tuple[str, ...]) -> InvalidInput:
    problems = [{"path": path, "message": message} for path in paths]
    return InvalidInput("METADATA_INVALID", f"{message}.", f"Fix {what} and repeat the call.", problems=problems)


def _document(parameter: Parameter, value: str) -> bytes:
    return document(value, spelt(parameter))


def secret(name: str, what: str) -> bytes:
    """The bytes of a file (or of stdin) with a secret. What is given may be the secret itself, so it is never shown.

    Raises:
        EnvironmentProblem: FILE_UNREADABLE. InvalidInput: FILE_INVALID, it is too large.
    """
    try:
        return read_file(name, what)
    except InvalidInput as problem:
        raise InvalidInput(problem.code, f"{what}: the file is too large.", f"{what} FILE") from None
    except EnvironmentProblem as problem:
        message = f"{what}: there is no readable regular file of that name."
        raise EnvironmentProblem(problem.code, message, f"{what} FILE") from None


def _secret(parameter: Parameter, value: str) -> bytes:
    return secret(value, spelt(parameter))


def _pairs(parameter: Parameter, value: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for pair in value:
        name, equals, said = pair.partition("=")
        if not equals or not name:
            message = f"{spelt(parameter)} takes {parameter.metavar}, not {names.shown(pair)}."
            raise UsageError("USAGE", message, f"{spelt(parameter)} {parameter.metavar}")
        if name in found:
            raise UsageError("USAGE", f"{spelt(parameter)} names {names.shown(name)} twice.", "Name it once")
        found[name] = text(said, spelt(parameter))
    return found


def _flag(parameter: Parameter, value: bool) -> bool:
    return value


_READERS: dict[str, Callable[[Parameter, Any], Any]] = {
    options.WORD: _word,
    options.TEXT: _text,
    options.INTEGER: _integer,
    options.FLAG: _flag,
    options.WORDS: _words,
    options.ARRAY: _array,
    options.OBJECT: _object,
    options.OBJECT_FILE: _object_file,
    options.PAIRS: _pairs,
    options.DOCUMENT: _document,
    options.METADATA: _metadata,
    options.SECRET: _secret,
}
