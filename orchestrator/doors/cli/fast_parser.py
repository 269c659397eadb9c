"""Reading a call that is plainly right, without Typer: what an agent's script sends at every step.

Whatever is not plain (an unknown option, a missing value, a cluster of short flags, a cry for help) is left to
Typer, which reads the same declaration and explains. For every call that both accept, both give the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from orchestrator.doors.cli.options import COMMON, FLAG, PAIRS, WORDS, Command, Parameter
from orchestrator.errors import UsageError
from orchestrator.hints import Any

REPEATABLE = (WORDS, PAIRS)
HELP = ("--help", "-h")


class _NotPlain(Exception):
    pass


def read(command: Command, argv: list[str]) -> dict[str, Any] | None:
    """The parameters' values by name, or None where only Typer can say what the call means.

    Returns:
        Texts as they were written, lists for what can be repeated, True for flags; only what was given.

    Raises:
        UsageError: USAGE, an option has a flag of the command for its value, or two different values.
    """
    try:
        return _read(command, argv)
    except _NotPlain:
        return None


def _read(command: Command, argv: list[str]) -> dict[str, Any]:
    parameters = (*command.parameters, *COMMON)
    values: dict[str, Any] = {}
    words = _options(argv, {flag: each for each in parameters for flag in each.flags}, values)
    places = [each for each in parameters if not each.flags]
    if places and places[-1].kind == WORDS and words:
        values[places[-1].name] = words[len(places) - 1 :]
        words = words[: len(places) - 1]
    if len(words) > len(places):
        raise _NotPlain
    values.update((place.name, word) for place, word in zip(places, words, strict=False))
    if any(each.required and each.name not in values for each in parameters):
        raise _NotPlain
    return values


def _options(argv: list[str], flags: dict[str, Parameter], values: dict[str, Any]) -> list[str]:
    """Take the options out of the call into `values` and return the words that are left."""
    words: list[str] = []
    rest = iter(argv)
    for word in rest:
        if word == "--":
            words.extend(rest)
        elif word == "-" or not word.startswith("-"):
            words.append(word)
        else:
            _option(word, rest, flags, values)
    return words


def _option(word: str, rest: Iterator[str], flags: dict[str, Parameter], values: dict[str, Any]) -> None:
    name, equals, value = word.partition("=") if word.startswith("--") else (word, "", "")
    found = flags.get(name)
    if found is None or (equals and found.kind == FLAG):
        raise _NotPlain
    if found.kind == FLAG:
        values[found.name] = True
        return
    if not equals:
        following = next(rest, None)
        if following is None:
            raise _NotPlain
        value = following
        refuse_flag(found, value, flags)
    if found.kind in REPEATABLE:
        values.setdefault(found.name, []).append(value)
    else:
        if values.setdefault(found.name, value) != value:
            raise twice(found)


def refuse_flag(parameter: Parameter, value: str, flags: Mapping[str, Parameter]) -> None:
    """Refuse an option's value that is a flag of the command: a value was forgotten, and the flag would be lost.

    Raises:
        UsageError: USAGE, with how such a value is given on purpose.
    """
    if value in flags or value in HELP:
        name = parameter.flags[0]
        raise UsageError(
            "USAGE", f"{name} needs a value; {value} is an option of this command.",
            f"{name} VALUE {value}; to mean the text {value} itself: {name}={value}",
        )


def twice(parameter: Parameter) -> UsageError:
    """The error for an option that is given two values and takes one."""
    return UsageError("USAGE", f"{parameter.flags[0]} is given twice with different values.", "Give it once")


def scan(command: Command, argv: list[str]) -> None:
    """Refuse what `read` refuses, in a call that is left to Typer, which would take it.

    Raises:
        UsageError: as for `refuse_flag` and `twice`.
    """
    flags = {flag: each for each in (*command.parameters, *COMMON) for flag in each.flags}
    values: dict[str, str] = {}
    rest = iter(argv)
    for word in rest:
        if word == "--":
            return
        name, equals, value = word.partition("=") if word.startswith("--") else (word[:2], word[2:], word[2:])
        found = flags.get(name)
        if found is None or found.kind == FLAG:
            continue
        if not equals:
            value = next(rest, "")
            refuse_flag(found, value, flags)
        if found.kind not in REPEATABLE and values.setdefault(found.name, value) != value:
            raise twice(found)
