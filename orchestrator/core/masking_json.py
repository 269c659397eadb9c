"""Masking of texts that are JSON: string by string, so that an escaped newline ends a line as a newline does."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

Mask = Callable[[str], str]
"""Masks a text."""
MaskNamed = Callable[[str, str | float], str | None]
"""Masks a value behind a name; None where the name says nothing of a secret."""

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|-?\d[0-9.eE+-]*|[:,{}\[\]]')
_DATA_NAMES = ('"data"', '"stringData"')
_BEGINS = ("{", "[", '"')


def masked(text: str, mask: Mask, mask_named: MaskNamed) -> str:
    """A text masked: as JSON where it is one document, or one in each line; else as it is."""
    if _is_document(text):
        return _document(text, mask, mask_named)
    lines = text.split("\n")
    if len(lines) > 1 and all(not line.strip() or _is_document(line) for line in lines):
        return "\n".join(_document(line, mask, mask_named) if line.strip() else line for line in lines)
    return mask(text)


def masked_but_for(text: str, kept: re.Pattern[str], mask: Mask, mask_named: MaskNamed) -> str:
    """A text masked as by `masked`, but for the parts of it that a pattern finds."""
    found = [part[0] for part in kept.finditer(text)]
    if not found:
        return masked(text, mask, mask_named)
    # A name that says nothing and a value that is none: they stay as they are, and give the parts their places back.
    shown = masked(kept.sub('"":null', text), mask, mask_named)
    parts = iter(found)
    return re.sub('"":null', lambda _: next(parts), shown, count=len(found))


def _is_document(text: str) -> bool:
    if not text.lstrip().startswith(_BEGINS):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _document(text: str, mask: Mask, mask_named: MaskNamed) -> str:
    """A JSON document with each string masked, names too, and with what a name that says secret holds."""
    pieces: list[str] = []
    at, name, said = 0, "", ""
    secret = _secret_data(text) if '"Secret"' in text else []
    for token in _TOKEN.finditer(text):
        found = token[0]
        if found == ":":
            # What came last is the name of what comes next.
            name = said
        elif found in "{}[],":
            name = ""
        else:
            held = name and any(begin < token.start() < end for begin, end in secret)
            shown = _shown(found, '"secret"' if held else name, mask, mask_named)
            if shown != found:
                pieces += [text[at : token.start()], shown]
                at = token.end()
            said = found
    return "".join((*pieces, text[at:]))


def _secret_data(text: str) -> list[tuple[int, int]]:
    """Where in a JSON document the data of Kubernetes secrets stand, whether their kind is named before or behind."""
    found = list[tuple[int, int]]()
    stack = list[tuple[str, int]]()
    data, is_secret = dict[int, list[tuple[int, int]]](), set[int]()
    name = said = ""
    for token in _TOKEN.finditer(text):
        each = token[0]
        if each == ":":
            name = said
        elif each in "{[":
            stack.append((name, token.start()))
            name = ""
        elif each in "}]":
            called, begin = stack.pop()
            if begin in is_secret:
                found += data.get(begin, [])
            if called in _DATA_NAMES and stack:
                data.setdefault(stack[-1][1], []).append((begin, token.end()))
        elif each == ",":
            name = ""
        else:
            if name == '"kind"' and each == '"Secret"' and stack:
                is_secret.add(stack[-1][1])
            said = each
    return found


def _shown(token: str, name: str, mask: Mask, mask_named: MaskNamed) -> str:
    value = json.loads(token)
    behind = mask_named(str(json.loads(name)), value) if name else None
    shown = str(value) if behind is None else behind
    if shown == str(value) and isinstance(value, str):
        shown = masked(value, mask, mask_named)
    return token if shown == str(value) else json.dumps(shown, ensure_ascii=token.isascii())
