"""The first look at a text: whether it could hold anything that is to be masked.

Every text that is stored or shown passes here, and most of them no further. So this looks for literals, of which a key
or a named secret has at least one, compiles no pattern for most texts, and loads nothing else. It may be wrong in one
direction only: a text that it lets pass holds no secret.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

from orchestrator.core import masking_tables as tables
from orchestrator.core.masking_letters import Letters, compiled

NOTHING, HIDDEN, WHOLE, BROKEN = range(4)
"""What a text may hold: nothing; something hidden, but no secret; a secret; a secret that something hidden breaks.

Where a text holds something hidden, this is no answer for the texts that it was put together from, nor for those that
it is decoded to.
"""

SHORTEST_VALUE = 8
"""A registered value of fewer characters would mask ordinary words."""
NAMES = (*("pass", "pwd", "secret", "token", "key", "credential", "authorization", "cookie", "bearer", "sig="),)
"""Words without one of which, in lower case, a text holds no secret that a name stands before."""
_ENDLESS_URL = 1_024
_SHORT = 2_048
"""Characters; a text of fewer is looked through for each mark in turn."""
_SK = r"sk-(?:ant-[A-Za-z0-9_-]{10}|[A-Za-z0-9_-]{20})"


def look(text: str, secrets: Sequence[str] = (), *, keys_only: bool) -> int:
    """What a text may hold: `NOTHING`, `HIDDEN`, `WHOLE` or `BROKEN`.

    Args:
        text: what is to be stored or shown.
        secrets: registered values.
        keys_only: whether only these and keys count, as before a text is stored.
    """
    letters = Letters(text)
    holds = _holds_key if keys_only else _holds_secret
    if letters.unseen or letters.spells_controls():
        from orchestrator.core import masking_hidden

        views = masking_hidden.views(text, letters)
        if views:
            found = any(_holds_value(view, secrets) or holds(Letters(view), True) for view in views)
            return BROKEN if found else HIDDEN
    return WHOLE if _holds_value(text, secrets) or holds(letters, False) else NOTHING


def _holds_value(text: str, secrets: Sequence[str]) -> bool:
    """Whether a registered value could begin in a text."""
    return bool(secrets) and any(begin[0] in text and begin in text for begin in _beginnings(tuple(secrets)))


@functools.lru_cache(maxsize=16)
def _beginnings(secrets: tuple[str, ...]) -> tuple[str, ...]:
    return tuple({secret[:SHORTEST_VALUE] for secret in secrets if len(secret) >= SHORTEST_VALUE})


def _holds_secret(text: Letters, anew: bool) -> bool:
    # Names are what most texts have, and there are fewer of them.
    data, lower = text.text, text.lower()
    if any(name in lower for name in NAMES):
        return True
    if "J" in data and "eyJ" in data:
        return True
    if "://" in data and ("@" in data or len(data) > _ENDLESS_URL):
        return True
    if " -" in data and not _OPTIONS.isdisjoint({part[:1] for part in data.split(" -")[1:]}):
        return True
    return _holds_key(text, anew)


_OPTIONS = frozenset(tables.OPTION_LETTERS)


def _holds_key(text: Letters, anew: bool) -> bool:
    """Whether a key could be in a text; where ``anew`` is true one may begin in the middle of a word."""
    data = text.text
    if "B" in data and "BEGIN " in data and ("-----BEGIN " in data or "---- BEGIN " in data):
        return True
    if "I" in data and "IA" in data and ("AKIA" in data or "ASIA" in data):
        return True
    if ("z" in data and "AIza" in data) or ("x" in data and "xox" in data):
        return True
    if "k" in data and "sk-" in data and (anew or _begins(data)) and compiled(_SK).search(data):
        return True
    return text.has_long_run() and is_marked(data)


def _begins(data: str) -> bool:
    """Whether `sk-` is more than the end of words such as `task-`."""
    return "\\" in data or "%" in data or "\x1b" in data or data.count("sk-") != data.count("task-")


_PARTS = ("hook", "TT3", "EZ")


@functools.cache
def _marks() -> list[tuple[str, str, list[str]]]:
    """Marks that end with no sign, by what several of them share, and its last character, which is looked for first."""
    found: dict[str, list[str]] = {}
    for mark in tables.FORMS:
        if mark[-1] not in tables.SIGNS:
            found.setdefault(next((part for part in _PARTS if part in mark), mark), []).append(mark)
    return [(part[-1], part, marks) for part, marks in found.items()]


@functools.cache
def _marks_backwards(sign: str) -> str:
    """A pattern of all marks that end with a sign, from that sign on backwards.

    It begins with a literal, which is found much faster than a class, and no two of its branches begin alike.
    """
    return re.escape(sign) + _branches({mark[-2::-1] for mark in tables.FORMS if mark.endswith(sign)})


def _branches(words: set[str]) -> str:
    """A pattern of all these words, each looked at letter by letter."""
    behind: dict[str, set[str]] = {}
    for word in words:
        behind.setdefault(word[0], set()).add(word[1:])
    # Of a word and a longer one that begins with it the shorter is found first.
    parts = [re.escape(first) + ("" if "" in rest else _branches(rest)) for first, rest in sorted(behind.items())]
    return parts[0] if len(parts) == 1 else f"(?:{'|'.join(parts)})"


def is_marked(data: str) -> bool:
    """Whether an issuer's key is in a text: a mark, and behind it enough of what follows it."""
    if len(data) < _SHORT:
        # Making the patterns below costs more than looking for each mark in turn.
        return any(mark in data and _has_form(data, mark) for mark in tables.FORMS)
    backwards = data[::-1]
    for sign in tables.SIGNS:
        if sign in data and compiled(_marks_backwards(sign)).search(backwards):
            if any(mark[-1] == sign and mark in data and _has_form(data, mark) for mark in tables.FORMS):
                return True
    for rare, part, marks in _marks():
        if rare in data and part in data and any(mark in data and _has_form(data, mark) for mark in marks):
            return True
    return False


def _has_form(data: str, mark: str) -> bool:
    characters, least, needed = tables.FORMS[mark]
    behind, at = compiled(f"[{characters}]{{{least},126}}").match, data.find(mark)
    while at >= 0:
        found = behind(data, at + len(mark))
        if found and (not needed or compiled(needed).search(found[0])):
            return True
        at = data.find(mark, at + 1)
    return False
