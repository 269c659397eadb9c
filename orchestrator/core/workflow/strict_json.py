"""A JSON reader that knows where everything stands and lets nothing pass in silence.

The standard library keeps the last of two equal keys, accepts NaN, and forgets lines. A workflow file decides who
may complete work, so here each of these is a finding with its path, and reading goes on behind it.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

from orchestrator.core.workflow.problems import Finding, Path

MAX_DEPTH = 32
MAX_DIGITS = 300

_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_WORD = re.compile(r"-?[A-Za-z]+")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_STRINGS = json.JSONDecoder()
_WORDS = {"true": True, "false": False, "null": None}
_INFINITE = frozenset({"NaN", "Infinity", "-Infinity", "-NaN"})


class Unreadable(Exception):
    """The text is not JSON from here on; carries the finding and the line."""

    def __init__(self, finding: Finding, line: int) -> None:
        super().__init__(finding.message)
        self.finding = finding
        self.line = line


class Reader:
    """Reads one text.

    Attributes:
        findings: what was wrong but did not stop the reading.
        lines: path -> line (from 1) of every key and item.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.findings: list[Finding] = []
        self.lines: dict[Path, int] = {}
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def read(self) -> Any:
        """Return the one value of the text.

        Raises: Unreadable, when the text is not JSON or nested too deep.
        """
        value, at = self._value(self._skip(0), ())
        at = self._skip(at)
        if at != len(self.text):
            self._fail(at, (), "something follows the end of the JSON value")
        return value

    def line_of(self, at: int) -> int:
        """The line, from 1, of a position in the text."""
        low, high = 0, len(self._starts)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._starts[middle] <= at else (low, middle)
        return low + 1

    def _value(self, at: int, path: Path) -> tuple[Any, int]:
        if len(path) > MAX_DEPTH:
            raise Unreadable(
                Finding("W108", path, f"The file is nested deeper than {MAX_DEPTH} levels.", "Flatten it."),
                self.line_of(at),
            )
        self.lines[path] = self.line_of(at)
        head = self.text[at : at + 1]
        if head == "{":
            return self._object(at, path)
        if head == "[":
            return self._array(at, path)
        if head == '"':
            return self._string(at, path)
        return self._scalar(at, path)

    def _object(self, at: int, path: Path) -> tuple[dict[str, Any], int]:
        result: dict[str, Any] = {}
        at = self._skip(at + 1)
        if self._is(at, "}"):
            return result, at + 1
        while True:
            key, key_at, at = self._key(at, path)
            if key in result:
                self._twice((*path, key), key_at)
            value, at = self._value(at, (*path, key))
            result[key] = _joined(result.get(key), value)
            self.lines.setdefault((*path, key), self.line_of(key_at))
            at = self._skip(at)
            if self._is(at, "}"):
                return result, at + 1
            at = self._expect(at, ",", path, "a comma or a closing brace")

    def _key(self, at: int, path: Path) -> tuple[str, int, int]:
        if not self._is(at, '"'):
            self._fail(at, path, "a key in double quotes is expected")
        key, end = self._string(at, path)
        return key, at, self._skip(self._expect(self._skip(end), ":", (*path, key), "a colon"))

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
            at = self._skip(self._expect(at, ",", path, "a comma or a closing bracket"))

    def _string(self, at: int, path: Path) -> tuple[str, int]:
        try:
            text, end = _STRINGS.raw_decode(self.text, at)
        except json.JSONDecodeError as error:
            self._fail(error.pos, path, f"a string is broken: {error.msg.lower().removesuffix(' at')}")
        if _UNSTORABLE.search(text):
            self.findings.append(
                Finding("W109", path, "A text holds a NUL or half of a surrogate pair.", "Remove the character.")
            )
        return text, end

    def _scalar(self, at: int, path: Path) -> tuple[Any, int]:
        word = _WORD.match(self.text, at)
        if word:
            return self._word(word.group(), at, path), word.end()
        number = _NUMBER.match(self.text, at)
        if not number:
            self._fail(at, path, "a value is expected" if at < len(self.text) else "the file ends too early")
        return self._number(number, path), number.end()

    def _word(self, word: str, at: int, path: Path) -> Any:
        if word in _INFINITE:
            self._not_finite(word, path)
            return None
        if word not in _WORDS:
            self._fail(at, path, f"{word} is no JSON value")
        return _WORDS[word]

    def _number(self, match: re.Match[str], path: Path) -> int | float:
        digits = match.group()
        if match.group(1) is None and match.group(2) is None and len(digits) <= MAX_DIGITS:
            return int(digits)
        value = float(digits)
        if not math.isfinite(value):
            self._not_finite(digits[:20], path)
            return 0
        return value

    def _skip(self, at: int) -> int:
        match = _SPACE.match(self.text, at)
        return match.end() if match else at

    def _is(self, at: int, char: str) -> bool:
        return self.text[at : at + 1] == char

    def _expect(self, at: int, char: str, path: Path, what: str) -> int:
        if not self._is(at, char):
            self._fail(at, path, f"{what} is expected" if at < len(self.text) else "the file ends too early")
        return self._skip(at + 1)

    def _twice(self, path: Path, at: int) -> None:
        first, again = self.lines.get(path), self.line_of(at)
        message = f"The key {json.dumps(path[-1])} stands twice in one object: on line {first} and on line {again}."
        self.findings.append(Finding("W105", path, message, "Join the two, or remove or rename one of them."))

    def _not_finite(self, word: str, path: Path) -> None:
        self.findings.append(Finding("W106", path, f"{word} is no finite number.", "Write a whole number."))

    def _fail(self, at: int, path: Path, what: str) -> NoReturn:
        line = self.line_of(min(at, len(self.text)))
        column = at - self._starts[line - 1] + 1
        message = f"Not JSON: {what} (line {line}, column {column})."
        raise Unreadable(Finding("W104", path, message, "Mend the syntax there; comments go into `_note` keys."), line)


def _joined(first: Any, again: Any) -> Any:
    """Two objects under one key are read as one, so that the checks behind the duplicate miss nothing."""
    return {**first, **again} if isinstance(first, dict) and isinstance(again, dict) else again
