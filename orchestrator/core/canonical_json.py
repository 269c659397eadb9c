"""JSON texts that are hashed: of values without floats, which have one text alone.

Two writers give the same texts. The standard library's is there at once; the compiled one is some six times as fast,
but loading it takes longer than all texts of one command, so only a process that stays loads it.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from orchestrator.core import sha256
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.hints import Any


class Writer(NamedTuple):
    """What writes JSON without spaces, letters unescaped and bytes as hexadecimal digits, and reads a row of it.

    Attributes:
        exact: the text of a value, members in the order of their names.
        line: the text of a row's values in UTF-8, with the end of the line.
        values: the values of a row, of which none is a float, from the array that SQLite makes of them.
    """

    exact: Callable[[object], str]
    line: Callable[[object], bytes]
    values: Callable[[str], list[Any]]


def quicken() -> None:
    """Write with the compiled writer from here on, and hash what is written with the quicker library."""
    global exact, line, values
    sha256.quicken()
    if exact is LIBRARY.exact:
        exact, line, values = compiled()


def compiled() -> Writer:
    """The compiled writer; what it cannot write is left to the library's."""
    import orjson

    dumps = orjson.dumps
    kinds = orjson.OPT_PASSTHROUGH_SUBCLASS | orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME
    by_name, ended = kinds | orjson.OPT_SORT_KEYS, kinds | orjson.OPT_APPEND_NEWLINE

    def exact(value: object) -> str:
        try:
            return dumps(value, _plain, by_name).decode()
        except TypeError:
            # Integers of more than 64 bits, halves of characters, keys that are no texts, tuples with names.
            return LIBRARY.exact(value)

    def line(values: object) -> bytes:
        try:
            return dumps(values, _plain, ended)
        except TypeError:
            return LIBRARY.line(values)

    return Writer(exact, line, orjson.loads)


def encoder(
    *, sort_keys: bool, default: Callable[[Any], object] | None = None, seen: dict[int, object] | None = None
) -> Callable[[object], str]:
    """The library's writer of JSON without spaces. Its C encoder is made once: `json.dumps` makes one a call.

    Args:
        sort_keys: whether members stand in the order of their names.
        default: what to write of a value that JSON has no form for.
        seen: what notes the containers that are being written, so that one within itself is an error; without it none
            is noticed, and NaN is let through. It must be emptied after an error.
    """
    strict = seen is not None
    plain = json.JSONEncoder(
        separators=(",", ":"), ensure_ascii=False, default=default, sort_keys=sort_keys, allow_nan=not strict,
        check_circular=strict,
    )  # fmt: skip
    try:
        make = json.encoder.c_make_encoder  # type: ignore[attr-defined]  # absent where there is no C accelerator
        text = json.encoder.encode_basestring
        chunks = make(seen, default or plain.default, text, None, ":", ",", sort_keys, False, not strict)
        chunks([], 0)
    except (AttributeError, TypeError):
        return plain.encode
    return lambda value: "".join(chunks(value, 0))


def _plain(value: Any) -> str:
    """A text that is of a class of its own, such as a suggestion; bytes as their digits."""
    return str(value) if isinstance(value, str) else bytes.hex(value)


_default = bytes.hex
_in_order = encoder(sort_keys=False, default=_default)


def _line(values: object) -> bytes:
    return f"{_in_order(values)}\n".encode()


def _values(text: str) -> list[Any]:
    found: list[Any] = _decoder.raw_decode(text)[0]
    return found


_decoder = json.JSONDecoder()
LIBRARY = Writer(encoder(sort_keys=True, default=_default), _line, _values)
"""The writer that is there at once."""

exact: Callable[[object], str] = LIBRARY.exact
"""Gives the one text of a value that holds no float; whoever takes in values from outside has refused those. It raises
TypeError for what JSON has no form for. Called as `canonical_json.exact`, since `quicken` puts another in place."""

line: Callable[[object], bytes] = LIBRARY.line
"""Gives the line of a row's values, in the order that they have, called in the same way. It raises TypeError too, and
UnicodeEncodeError for half a character."""

values: Callable[[str], list[Any]] = LIBRARY.values
"""Gives the values of a row, read from SQLite's JSON array of them; called in the same way."""
