"""JSON as documents from outside must be: no key twice, no NaN, no cut end, no surprise of encoding or depth."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable

from orchestrator.core import canonical_json, names
from orchestrator.hints import Any, NoReturn

SIZE_LIMIT = 1024 * 1024
DEPTH_LIMIT = 100

_BOM = b"\xef\xbb\xbf"
# Rarely needed, so they stay text: compiling them would cost every call its start.
_SUSPECT_ESCAPE = r"\\u(?:0000|[dD][89a-fA-F])"
_DEEPER = {"[": 1, "{": 1, "]": -1, "}": -1}
_PLAIN_KEY = r"[A-Za-z_][A-Za-z0-9_-]*"


class JsonProblem(ValueError):
    """Why a text is not acceptable JSON.

    Attributes:
        message: one sentence that begins with the document's name.
        kind: encoding, size, empty, syntax, cut, depth, number, duplicate or text.
        path: the first place, as a JSON path (``$`` where there is none).
        paths: every place, for kinds duplicate and text.
        line, column: the first place, counted from 1, where it is known.
    """

    def __init__(
        self, message: str, kind: str = "syntax", paths: tuple[str, ...] = ("$",), line: int | None = None,
        column: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__(message)
        self.message = message
        self.kind = kind
        self.path = paths[0]
        self.paths = paths
        self.line = line
        self.column = column


class _KeyTwice(Exception):
    pass


class _BadNumber(Exception):
    pass


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
        # What else is wrong with it is worse.
        _parse(text, what, dict)
        _refuse_twice(text, what)
    if "\\u" in text and re.search(_SUSPECT_ESCAPE, text) and not _can_be_stored(value):
        _refuse_texts(text, what)
    return value


def stored(text: object) -> Any:
    """Parse a JSON text that the store holds: it was checked, or made here, before it was written.

    Args:
        text: a column's value, as SQLite gives it.

    Raises:
        ValueError: it is no JSON; the database was changed from outside.
    """
    return json.loads(str(text))


def lenient(data: bytes | str) -> Any:
    """Parse a text as its own program does: the last of two equal keys counts, and names of files are any bytes.

    Raises:
        ValueError: it is no JSON, or nested too deep.
    """
    try:
        return json.loads(data)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


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
_canonical = canonical_json.encoder(sort_keys=True, seen=_SEEN)


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
        line, column = raw.count(b"\n", 0, error.start) + 1, error.start - raw.rfind(b"\n", 0, error.start)
        fault = f"{what} is not UTF-8: byte 0x{raw[error.start]:02x} at offset {error.start}, line {line}"
        raise JsonProblem(fault, "encoding", line=line, column=column) from None


def _encode(text: str, what: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise JsonProblem(f"{what} {names.text_problem(text)}", "text") from None


def _check_depth(text: str, what: str) -> None:
    # The parser recurses in C; how deep it may go depends on the Python, so the limit is ours.
    if text.count("[") + text.count("{") <= DEPTH_LIMIT:
        return
    # Every second piece between quotes is a text. An escape outside of texts ends the parser before it goes deeper.
    outside = "".join(text.replace("\\\\", "").replace('\\"', "").split('"')[::2])
    steps = map(_DEEPER.__getitem__, re.findall(r"[][{}]", outside))
    if max(itertools.accumulate(steps), default=0) > DEPTH_LIMIT:
        raise JsonProblem(f"{what} is nested more than {DEPTH_LIMIT} levels deep", "depth")


def _parse(text: str, what: str, pairs: Callable[[list[tuple[str, Any]]], Any]) -> object:
    try:
        value: object = json.loads(text, object_pairs_hook=pairs, parse_constant=_no_number, parse_float=_finite)
    except json.JSONDecodeError as error:
        raise _syntax_problem(error, text, what) from None
    except _BadNumber as error:
        raise JsonProblem(f"{what} has {error}, which is not a JSON number", "number") from None
    except ValueError:
        # Python refuses to convert integers of thousands of digits.
        raise JsonProblem(f"{what} has a number with too many digits", "number") from None
    return value


def end_of(text: str, start: int) -> int | None:
    """Where a JSON value ends that begins there within a text; None where it is none, or too deep to be followed."""
    try:
        return json.JSONDecoder().raw_decode(text, start)[1]
    except (ValueError, RecursionError):
        return None


def breaks_off(text: str, start: int) -> bool:
    """Whether what begins there is no JSON value only because the text ends too early, or is too deep to tell."""
    try:
        json.JSONDecoder().raw_decode(text, start)
    except json.JSONDecodeError as error:
        return _is_cut(error, text)
    except RecursionError:
        return True
    except ValueError:
        # A number of too many digits.
        return False
    return False


def _is_cut(error: json.JSONDecodeError, text: str) -> bool:
    return error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")


def _syntax_problem(error: json.JSONDecodeError, text: str, what: str) -> JsonProblem:
    fault = f"{error.msg.removesuffix(' at')} at line {error.lineno}, column {error.colno}"
    cut = _is_cut(error, text)
    message = f"{what} is cut off: {fault}" if cut else f"{what} is not valid JSON: {fault}"
    return JsonProblem(message, "cut" if cut else "syntax", line=error.lineno, column=error.colno)


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
    from orchestrator.core import json_positions

    paths, line, column = json_positions.twice(text, at)
    message = f"{what} has a duplicate key: {', '.join(paths[:10])}"
    raise JsonProblem(message, "duplicate", tuple(paths), line, column)


def _can_be_stored(value: object) -> bool:
    try:
        # A NUL is written as an escape, half of a surrogate pair as it is.
        return b"\\u0000" not in canonical(value).encode()
    except UnicodeEncodeError:
        return False


def _refuse_texts(text: str, what: str) -> None:
    from orchestrator.core import json_positions

    paths, words, line, column = json_positions.unfit(text, at)
    if paths:
        raise JsonProblem(f"{what} has a string at {paths[0]} that {words}", "text", tuple(paths), line, column)
