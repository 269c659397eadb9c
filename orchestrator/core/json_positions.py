"""A JSON reader that knows the line and column of everything and goes on behind a fault, to name them all.

Cold module: workflow files are read by it alone. The standard library keeps the last of two equal keys, accepts NaN,
and forgets lines: each of these is a fault here. `strict_json` asks where the faults are of a text that it refuses;
such a text may be large and full of them, so there the standard library parses, and only the first fault is located.
"""

from __future__ import annotations

import bisect
import json
import math
import re
from collections.abc import Callable, Collection

from orchestrator.core import names
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.hints import Any, NoReturn

SYNTAX, DEPTH, DUPLICATE, NUMBER, TEXT = "syntax", "depth", "duplicate", "number", "text"

Path = tuple[str | int, ...]

_MAX_DIGITS = 300
_BLANK = frozenset(" \t\n\r")
_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_WORD = re.compile(r"-?[A-Za-z]+")
_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_MEMBERS = re.compile(rf"{_STRING}(?:[ \t\n\r]*:)?|\{{[ \t\n\r]*\}}|[{{}}]")
_STRINGS = json.JSONDecoder()
_WORDS = {"true": True, "false": False, "null": None}
_INFINITE = frozenset({"NaN", "Infinity", "-Infinity", "-NaN"})


class Fault(NamedTuple):
    """What is wrong with a text.

    Attributes:
        kind: syntax, depth, duplicate, number or text.
        path: the value, the key that is there twice, or the container that breaks off.
        line, column: where, counted from 1.
        words: what was expected (syntax), the number as it is written, or what is unfit about a text.
        first: the line of the key that is there before (duplicate).
    """

    kind: str
    path: Path
    line: int
    column: int
    words: str = ""
    first: int | None = None


class Unreadable(Exception):
    """The text is not JSON from here on, or nested too deep to be followed."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.words)
        self.fault = fault


class Reader:
    """Reads one text.

    Attributes:
        faults: what was wrong but did not stop the reading: keys twice, numbers that are not finite (read as null
            or 0), texts that cannot be stored.
    """

    def __init__(self, text: str, depth: int) -> None:
        """Prepare to read.

        Args:
            text: the whole document, without a byte order mark.
            depth: how many levels of lists and objects are followed.
        """
        self.text = text
        self.faults: list[Fault] = []
        self._depth = depth
        self._offsets: dict[Path, int] = {}
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def read(self) -> Any:
        """Return the one value of the text.

        Raises: Unreadable, when the text is not JSON or nested too deep.
        """
        value, at = self._value(self._skip(0), ())
        at = self._skip(at)
        if at != len(self.text):
            self._fail(at, (), "there is text after the end of the JSON value")
        return value

    def lines(self) -> dict[Path, int]:
        """The line, from 1, on which each value begins that was read, by its path."""
        return {path: self._line(at) for path, at in self._offsets.items()}

    def _line(self, at: int) -> int:
        return bisect.bisect_right(self._starts, at)

    def _fault(self, kind: str, path: Path, at: int, words: str, first: int | None = None) -> Fault:
        line = self._line(at)
        return Fault(kind, path, line, at - self._starts[line - 1] + 1, words, first)

    def _note(self, kind: str, path: Path, at: int, words: str, first: int | None = None) -> None:
        self.faults.append(self._fault(kind, path, at, words, first))

    def _fail(self, at: int, path: Path, what: str, kind: str = SYNTAX) -> NoReturn:
        raise Unreadable(self._fault(kind, path, min(at, len(self.text)), what))

    def _value(self, at: int, path: Path) -> tuple[Any, int]:
        if len(path) > self._depth:
            self._fail(at, path, f"more than {self._depth} levels", DEPTH)
        self._offsets[path] = at
        head = self.text[at : at + 1]
        if head == "{":
            return self._object(at, path)
        if head == "[":
            return self._array(at, path)
        if head == '"':
            value, end = self._string(at, path)
            self._check_text(value, path, at)
            return value, end
        return self._scalar(at, path)

    def _object(self, at: int, path: Path) -> tuple[dict[str, Any], int]:
        result: dict[str, Any] = {}
        at = self._skip(at + 1)
        if self._is(at, "}"):
            return result, at + 1
        while True:
            key, at = self._key(at, path, result)
            value, at = self._value(at, (*path, key))
            result[key] = _joined(result.get(key), value)
            at = self._skip(at)
            if self._is(at, "}"):
                return result, at + 1
            at = self._expect(at, ",", path, "a comma or a closing brace")

    def _key(self, at: int, path: Path, before: dict[str, Any]) -> tuple[str, int]:
        if not self._is(at, '"'):
            self._fail(at, path, "a key in double quotes is expected")
        key, end = self._string(at, path)
        inner = (*path, key)
        self._check_text(key, inner, at)
        end = self._expect(self._skip(end), ":", inner, "a colon")
        if key in before:
            self._note(DUPLICATE, inner, at, "", self._line(self._offsets[inner]))
        return key, end

    def _array(self, at: int, path: Path) -> tuple[list[Any], int]:
        result: list[Any] = []
        at = self._skip(at + 1)
        if self._is(at, "]"):
            return result, at + 1
        while True:
            value, at = self._value(at, (*path, len(result)))
            result.append(value)
            at = self._skip(at)
            if self._is(at, "]"):
                return result, at + 1
            at = self._expect(at, ",", path, "a comma or a closing bracket")

    def _string(self, at: int, path: Path) -> tuple[str, int]:
        try:
            text, end = _STRINGS.raw_decode(self.text, at)
        except json.JSONDecodeError as error:
            self._fail(error.pos, path, f"invalid string: {error.msg.lower().removesuffix(' at')}")
        return text, end

    def _check_text(self, text: str, path: Path, at: int) -> None:
        unfit = names.text_problem(text)
        if unfit:
            self._note(TEXT, path, at, unfit)

    def _scalar(self, at: int, path: Path) -> tuple[Any, int]:
        number = _NUMBER.match(self.text, at)
        if number:
            return self._number(number, path), number.end()
        word = _WORD.match(self.text, at)
        if word:
            return self._word(word.group(), at, path), word.end()
        self._fail(at, path, "a value is expected" if at < len(self.text) else "the file ends too early")

    def _word(self, word: str, at: int, path: Path) -> Any:
        if word in _INFINITE:
            self._note(NUMBER, path, at, word)
            return None
        if word not in _WORDS:
            self._fail(at, path, f"{word} is not a JSON value")
        return _WORDS[word]

    def _number(self, match: re.Match[str], path: Path) -> int | float:
        digits = match.group()
        if match.group(1) is None and match.group(2) is None and len(digits) <= _MAX_DIGITS:
            return int(digits)
        value = float(digits)
        if not math.isfinite(value):
            self._note(NUMBER, path, match.start(), digits[:20])
            return 0
        return value

    def _skip(self, at: int) -> int:
        # Most places have no white space; a document may have a million of them.
        if self.text[at : at + 1] not in _BLANK:
            return at
        match = _SPACE.match(self.text, at)
        return match.end() if match else at

    def _is(self, at: int, char: str) -> bool:
        return self.text.startswith(char, at)

    def _expect(self, at: int, char: str, path: Path, what: str) -> int:
        if not self._is(at, char):
            self._fail(at, path, f"{what} is expected" if at < len(self.text) else "the file ends too early")
        return self._skip(at + 1)


def _joined(first: Any, again: Any) -> Any:
    """Two objects under one key are read as one, so that the checks behind the duplicate miss nothing."""
    return {**first, **again} if isinstance(first, dict) and isinstance(again, dict) else again


# The faults of a valid text

At = Callable[[str, str | int], str]
"""The path of a member or an item below a path."""


class _Members(list[tuple[str, Any]]):
    """The members of an object with a key that is there twice, in it or below it."""


def twice(text: str, at: At) -> tuple[list[str], int, int]:
    """The keys that are there again in their object: the path of each, line and column of the first.

    Args:
        text: valid JSON but for such keys, and there is one.
    """
    found: list[str] = []
    _name_twice(json.loads(text, object_pairs_hook=_members), "$", at, found)
    return found, *_line_and_column(text, _first_twice(text))


def unfit(text: str, at: At) -> tuple[list[str], str, int, int]:
    """The texts that cannot be stored: the path of each, what is unfit about the first, its line and column.

    Args:
        text: valid JSON, without a key that is there twice.
    """
    found: list[str] = []
    _name_unfit(json.loads(text), "$", at, found)
    for token in re.finditer(_STRING, text):
        words = names.text_problem(json.loads(token.group())) if "\\" in token.group() else None
        if words:
            return found, words, *_line_and_column(text, token.start())
    return found, "", 1, 1


def _members(pairs: list[tuple[str, Any]]) -> _Members | None:
    found = dict(pairs)
    return _Members(pairs) if len(found) != len(pairs) or _hold_members(found.values()) else None


def _hold_members(values: Collection[Any]) -> bool:
    kinds = set(map(type, values))
    return _Members in kinds or (list in kinds and any(_hold_members(each) for each in values if type(each) is list))


def _name_twice(value: Any, path: str, at: At, found: list[str]) -> None:
    if type(value) is list:
        for place, item in enumerate(value):
            if item:
                _name_twice(item, at(path, place), at, found)
    elif type(value) is _Members:
        paths: dict[str, str] = {}
        for key, inner in value:
            if key in paths:
                found.append(paths[key])
            else:
                paths[key] = at(path, key)
            _name_twice(inner, paths[key], at, found)


def _first_twice(text: str) -> int:
    """Where the first key stands that its object has before."""
    outer: list[set[str]] = []
    keys: set[str] = set()
    for token in _MEMBERS.finditer(text):
        word = token.group()
        if word == "{":
            outer.append(keys)
            keys = set()
        elif word == "}":
            keys = outer.pop()
        elif word[-1] == ":":
            key = word[: word.rindex('"') + 1]
            key = json.loads(key) if "\\" in key else key[1:-1]
            if key in keys:
                return token.start()
            keys.add(key)
    return 0


def _name_unfit(value: Any, path: str, at: At, found: list[str]) -> None:
    members = value.items() if type(value) is dict else enumerate(value) if type(value) is list else ()
    if type(value) is str and names.text_problem(value):
        found.append(path)
    for key, inner in members:
        is_unfit = type(key) is str and names.text_problem(key)
        if is_unfit:
            found.append(at(path, key))
        if inner and type(inner) in (str, list, dict) and (type(inner) is not str or names.text_problem(inner)):
            _name_unfit(inner, at(path, key), at, found)


def _line_and_column(text: str, place: int) -> tuple[int, int]:
    return text.count("\n", 0, place) + 1, place - text.rfind("\n", 0, place)
