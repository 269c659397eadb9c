"""JSON as documents from outside must be: no key twice, no NaN, no cut end, no surprise of encoding or depth."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from orchestrator.core import exactjson, names

SIZE_LIMIT = 1024 * 1024
DEPTH_LIMIT = 100

_BOM = b"\xef\xbb\xbf"
# Rarely needed, so they stay text: compiling them would cost every call its start.
_SUSPECT_ESCAPE = r"\\u(?:0000|[dD][89a-fA-F])"
_NESTING = r'(?s)"[^"\\]*(?:\\.[^"\\]*)*"?|[\[{]|[\]}]'
_PLAIN_KEY = r"[A-Za-z_][A-Za-z0-9_-]*"


class JsonProblem(ValueError):
    """Why a text is not acceptable JSON.

    Attributes:
        message: one sentence that begins with the document's name.
        kind: encoding, size, empty, syntax, cut, depth, number, duplicate or text.
        path: the first place, as a JSON path (``$`` where there is none).
        paths: every place, for kinds duplicate and text.
        line: the line, counted from 1, where it is known.
    """

    def __init__(
        self, message: str, kind: str = "syntax", paths: tuple[str, ...] = ("$",), line: int | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.kind = kind
        self.path = paths[0]
        self.paths = paths
        self.line = line


class _KeyTwice(Exception):
    pass


class _BadNumber(Exception):
    pass


class _Pairs(list[tuple[str, object]]):
    """An object with its keys as they were written."""


def loads(data: bytes | str, what: str, limit: int | None = SIZE_LIMIT) -> object:
    """Parse strict JSON.

    Args:
        data: the document; bytes are UTF-8, a byte order mark is skipped.
        what: the document's name, for the sentence ("the metadata file").
        limit: the largest accepted size in bytes; None for texts that were accepted before.

    Raises:
        JsonProblem: it is not UTF-8, too large, empty, cut off, malformed or nested too deeply, has a key twice,
            a number that is none, or a text that cannot be stored.
    """
    text = _decode(data, what, limit)
    if not text.strip(" \t\r\n"):
        raise JsonProblem(f"{what} is empty", "empty")
    _check_depth(text, what)
    try:
        value: object = _parse(text, what, _unique)
    except _KeyTwice:
        _refuse_twice(text, what)
    if "\\u" in text and re.search(_SUSPECT_ESCAPE, text):
        _check_texts(value, what)
    return value


def stored(text: object) -> Any:
    """Parse a JSON text that the store holds: it was checked, or made here, before it was written.

    Args:
        text: a column's value, as SQLite gives it.

    Raises:
        ValueError: it is no JSON; the database was changed from outside.
    """
    return json.loads(str(text))


def has_bom(data: bytes | str) -> bool:
    """Whether a document begins with a UTF-8 byte order mark, which is accepted but worth a warning."""
    return data.startswith(_BOM) if isinstance(data, bytes) else data.startswith("\ufeff")


def canonical(value: object) -> str:
    """The one text of a JSON value: keys sorted, no spaces, letters unescaped. Equal values have equal texts.

    Raises:
        ValueError: NaN, an infinity, or a value that contains itself.
        TypeError: something that JSON has no form for.
    """
    try:
        return _canonical(value)
    except (TypeError, ValueError, RecursionError):
        _SEEN.clear()
        raise


_SEEN: dict[int, object] = {}
_canonical = exactjson.encoder(sort_keys=True, seen=_SEEN)


def at(path: str, key: str | int) -> str:
    """The JSON path of a member or an item below ``path``."""
    if isinstance(key, int):
        return f"{path}[{key}]"
    return f"{path}.{key}" if re.fullmatch(_PLAIN_KEY, key) else f"{path}[{names.shown(key)}]"


def _decode(data: bytes | str, what: str, limit: int | None) -> str:
    raw = data if isinstance(data, bytes) else _encode(data, what)
    if limit is not None and len(raw) > limit:
        raise JsonProblem(f"{what} has {len(raw)} bytes; {limit} are allowed", "size")
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in raw[:4]:
        raise JsonProblem(f"{what} is UTF-16 or UTF-32 text or binary; save it as UTF-8", "encoding")
    try:
        return raw.removeprefix(_BOM).decode()
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        fault = f"byte 0x{raw[error.start]:02x} at offset {error.start}"
        raise JsonProblem(f"{what} is not UTF-8: {fault}, line {line}", "encoding", line=line) from None


def _encode(text: str, what: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise JsonProblem(f"{what} {names.text_problem(text)}", "text") from None


def _check_depth(text: str, what: str) -> None:
    # The parser recurses in C; how deep it may go depends on the Python, so the limit is ours.
    if text.count("[") + text.count("{") <= DEPTH_LIMIT:
        return
    depth = 0
    for token in re.finditer(_NESTING, text):
        first = text[token.start()]
        depth += 1 if first in "[{" else -1 if first in "]}" else 0
        if depth > DEPTH_LIMIT:
            raise JsonProblem(f"{what} is nested more than {DEPTH_LIMIT} levels deep", "depth")


def _parse(text: str, what: str, pairs: Callable[[list[tuple[str, Any]]], Any]) -> object:
    try:
        value: object = json.loads(text, object_pairs_hook=pairs, parse_constant=_no_number, parse_float=_finite)
    except json.JSONDecodeError as error:
        raise _syntax_problem(error, text, what) from None
    except _BadNumber as error:
        raise JsonProblem(f"{what} has {error}, which is no JSON number", "number") from None
    except ValueError:
        # Python refuses to convert integers of thousands of digits.
        raise JsonProblem(f"{what} has a number with too many digits", "number") from None
    return value


def is_cut(error: json.JSONDecodeError, text: str) -> bool:
    """Whether a text is no JSON only because it ends too early."""
    return error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")


def _syntax_problem(error: json.JSONDecodeError, text: str, what: str) -> JsonProblem:
    fault = f"{error.msg.removesuffix(' at')} at line {error.lineno}, column {error.colno}"
    if is_cut(error, text):
        return JsonProblem(f"{what} is cut off: {fault}", "cut", line=error.lineno)
    return JsonProblem(f"{what} is not valid JSON: {fault}", "syntax", line=error.lineno)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _KeyTwice
    return found


def _no_number(name: str) -> NoReturn:
    raise _BadNumber(name)


def _finite(digits: str) -> float:
    value = float(digits)
    if value - value != 0:
        raise _BadNumber(names.shown(digits, 30))
    return value


def _refuse_twice(text: str, what: str) -> NoReturn:
    paths = tuple(_twice(_parse(text, what, _Pairs), "$"))
    raise JsonProblem(f"{what} has a key twice: {', '.join(paths[:10])}", "duplicate", paths)


def _twice(value: object, path: str) -> Iterator[str]:
    if isinstance(value, _Pairs):
        seen: set[str] = set()
        for key, member in value:
            if key in seen:
                yield at(path, key)
            seen.add(key)
            yield from _twice(member, at(path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _twice(item, at(path, index))


def _check_texts(value: object, what: str) -> None:
    faults = list(_bad_texts(value, "$"))
    if faults:
        path, fault = faults[0]
        raise JsonProblem(f"{what} has a text at {path} that {fault}", "text", tuple(place for place, _ in faults))


def _bad_texts(value: object, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        fault = names.text_problem(value)
        if fault:
            yield path, fault
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _bad_texts(item, at(path, index))
    elif isinstance(value, dict):
        for key, member in value.items():
            yield from _bad_texts(key, at(path, key))
            yield from _bad_texts(member, at(path, key))
