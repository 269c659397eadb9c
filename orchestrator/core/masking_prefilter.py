"""The first look at a text: whether it could hold anything that is to be masked.

Every text that is stored or shown passes here, and most of them no further. So this looks for literals, of which a key
or a named secret has at least one, compiles no pattern for short texts, and loads nothing else. It may be wrong in one
direction only: a text that it lets pass holds no secret.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Sequence

from orchestrator.core import masking_tables as tables
from orchestrator.core.masking_letters import SHORT, Letters, all_seen, compiled, seldom

NOTHING, HIDDEN, KEYS, FORMS, WHOLE, BROKEN, COLOURED = range(7)
"""What a text may hold: nothing; something hidden, but no secret; keys alone; beside them secrets that no name stands
before, such as passwords in URLs; any secret; a secret that something hidden breaks, or that only colours do.

Where a text holds something hidden, this is no answer for the texts that it was put together from, nor for those that
it is decoded to.
"""

SHORTEST_VALUE = 8
"""A registered value of fewer characters would mask ordinary words."""
NAMES = (
    *("pass", "secret", "token", "key", "credential", "authorization", "cookie", "bearer", "sig=", "net use"),
    *('"auth"', "_auth", "dockerconfigjson", '"sensitive"'),
    "identified by",
    *("sqlplus", "sqlldr", "expdp", "impdp", "jdbc:oracle:", ":5432:", ":*:"),
    *tables.PASSWORDS,
    *tables.AMBIGUOUS,
)
"""Words without one of which, in lower case, a text holds no secret that a name stands before."""
WORDS = (
    *NAMES,
    *("passw", "passp", "pw", "user", "sk-", "xox", "signature=", "variable", "echo ", "printf "),
)
"""With these, what hints need beside a name, and what they begin with: a text without one, in lower case, has none."""
_SHORT_NAMES = ("pwd", "pw=", "pw:", 'pw"', "pw'", "pw`", "pw ", "pw\t")
"""The same of a shorter word, with what follows it."""
_SHARED = ("pass", "auth", "sql", "pdp")
"""What several words share, and few texts hold."""
_RARE = "~ZJQKXVWGYB*:/jzqx\"_kPHAU=vwbpy<["
"""Of the characters of marks and names those that are rarest in texts, so that most texts are done with at once."""
_WARM = 131_072
"""So many characters are looked at before patterns are made."""
_IN_BESIDE, _IN_DOTTED = (*"0123456789", "cio"), "MNO"
"""One of these is in every key that is known by the name of its issuer alone, or in what stands before its dot."""
_ENDLESS_URL = 1_024
_SK = r"sk-(?:ant-[A-Za-z0-9_-]{10}|[A-Za-z0-9_-]{20})"


def look(text: str, secrets: Sequence[str] = (), *, keys_only: bool, letters: Letters | None = None) -> int:
    """What a text may hold: `NOTHING`, `HIDDEN`, `KEYS`, `FORMS`, `WHOLE`, `BROKEN` or `COLOURED`.

    Args:
        text: what is to be stored or shown.
        secrets: registered values.
        keys_only: whether only these and keys count, as before a text is stored.
        letters: of the text, where the caller goes on with them.
    """
    letters = letters or Letters(text)
    hides = letters.controls or letters.spells_controls()
    # Who reads the bytes sees a registered value whose first letter ends a code.
    if hides and secrets and holds_registered(letters.text, secrets):
        return BROKEN
    coloured = letters.without_colours() if letters.controls else None
    if coloured and not letters.spells_controls():
        named = letters.labelled and not keys_only
        if not named and not _coloured_holds(*coloured, letters.text, secrets, keys_only):
            return HIDDEN
        return BROKEN if letters.dropped else COLOURED
    if not hides:
        found = _holds(letters, secrets, keys_only)
        if not found or not letters.dropped or all_seen(text):
            return found
    from orchestrator.core import masking_hidden

    views = masking_hidden.views(text, letters)
    if views:
        return BROKEN if any(_holds(Letters(view), secrets, keys_only, anew=True) for view in views) else HIDDEN
    return _holds(letters, secrets, keys_only)


def _holds(letters: Letters, secrets: Sequence[str], keys_only: bool, *, anew: bool = False) -> int:
    """What a text may hold: as `look`; where ``anew`` is true a key may begin in the middle of a word."""
    text, anew = letters.text, anew or letters.dropped
    lower = "" if keys_only else letters.lower()
    if secrets and holds_registered(text, secrets):
        return WHOLE
    if not keys_only:
        if letters.labelled or holds_name(letters):
            return WHOLE
        if holds_form(text, lower):
            return FORMS
    if _holds_begin(letters):
        return KEYS
    if "k" in text and "sk-" in text and (anew or _begins(text)) and compiled(_SK).search(text):
        return KEYS
    if not letters.has_long_run():
        return NOTHING
    if not keys_only and names_issuer(letters, lower):
        return WHOLE
    return KEYS if is_marked(letters) else NOTHING


def _coloured_holds(text: str, long: bool, whole: str, secrets: Sequence[str], keys_only: bool) -> bool:
    """Whether a secret may be in a text that has colours, as `Letters.without_colours` tells of it.

    What it says without digits is enough for that, as long as that holds no part of a secret.
    """
    if secrets and any(_without_digits(begin) in text for begin in _beginnings(tuple(secrets))):
        return True
    letters = Letters(text)
    if long or ("_" in text and any(_without_digits(mark) in text for mark in tables.SPLIT)) or _holds_begin(letters):
        return True
    if not keys_only:
        lower = letters.lower()
        if holds_name(letters) or holds_form(text, lower) or ("://" in text and len(whole) > _ENDLESS_URL):
            return True
    # A word that no colour breaks ends in them all.
    return "sk-" in text and (_begins(text) or text.count("sk-") != whole.count("task-"))


@functools.cache
def _without_digits(begin: str) -> str:
    """What is left of a word in such a text, whatever of it looks like the rest of a colour."""
    return begin.translate(dict.fromkeys(b"0123456789;")).rpartition("[")[2].lstrip("m")


def holds_registered(text: str, secrets: Sequence[str]) -> bool:
    """Whether a registered value may be in a text, which has the characters that `Letters` leaves."""
    return any(begin in text for begin in _beginnings(tuple(secrets)))


@functools.lru_cache(maxsize=16)
def _beginnings(secrets: tuple[str, ...]) -> tuple[str, ...]:
    begins = {secret[:SHORTEST_VALUE] for secret in secrets if len(secret) >= SHORTEST_VALUE}
    return tuple({begin.encode("latin-1", "ignore").decode("latin-1") for begin in begins})


@functools.cache
def rarest(literal: str) -> str:
    """The character of a literal that most texts do not hold, so that one look for it is enough; empty without one."""
    return next((sign for sign in _RARE if sign in literal), "")


class Literals:
    """Literals, each of which is searched for behind its rarest character, or behind its capitals and rare signs.

    A pattern of several literals looks at each character longer than the finds do that it saves.
    """

    __slots__ = ("_by_rarest", "_parts", "literals")

    def __init__(self, literals: Iterable[str]) -> None:
        self.literals = tuple(literals)
        by_rarest: dict[str, list[str]] = {}
        for literal in self.literals:
            by_rarest.setdefault(rarest(literal), []).append(literal)
        self._by_rarest = [*by_rarest.items()]
        self._parts: list[tuple[str, str]] = []

    def found(self, text: str) -> list[str]:
        """Which of them are in a text."""
        return [each for rare, literals in self._by_rarest if rare in text for each in literals if each in text]

    def is_any_in(self, text: str) -> bool:
        """Whether one of them is in a text."""
        for rare, literals in self._by_rarest:
            if rare in text:
                for literal in literals:
                    if literal in text:
                        return True
        return False

    def found_by_seldom(self, letters: Letters) -> list[str]:
        """Which of them are in a long text; what is seldom of it is searched first, which is short."""
        self._parts = self._parts or [(seldom(each), each) for each in self.literals]
        text, few = letters.text, letters.seldom()
        return [each for part, each in self._parts if part in few and each in text]


_looked = [0]


def _is_warm(length: int) -> bool:
    """Whether so much text was looked at that patterns for it cost less."""
    _looked[0] += length
    return _looked[0] > _WARM


_WORDS, _NAMES, _ISSUERS = Literals(WORDS), Literals(NAMES), Literals(tables.ISSUERS)
_BEGINS = Literals(("-----BEGIN ", "---- BEGIN ", "Private-Lines: ", "AKIA", "ASIA", "AIza", "xox"))
_UNSIGNED = Literals(mark for mark in tables.FORMS if mark[-1] not in tables.SIGNS)
"""Marks that end with no sign."""


def _groups(literals: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Literals with what several of them share, which is searched for first."""
    found: dict[str, list[str]] = {}
    for literal in literals:
        found.setdefault(next((part for part in _SHARED if part in literal), literal), []).append(literal)
    return [*found.items()]


_GROUPS, _GROUPS_OF_NAMES = _groups(WORDS), _groups(NAMES)


def words(letters: Letters) -> frozenset[str]:
    """Which of `WORDS` are in a text, in lower case, and all `LABELS` where it may hold one; looked for once."""
    if letters.words is None:
        lower = letters.lower()
        if len(lower) < SHORT:
            found = _WORDS.found(lower)
        else:
            groups = _GROUPS[letters.nameless :]
            found = [each for part, group in groups if part in lower for each in group if each in lower]
        letters.words = frozenset((*found, *tables.LABELS) if letters.labelled else found)
    return letters.words


def names_issuer(letters: Letters, lower: str, start: int = 0) -> bool:
    """Whether a text may hold a key that has no mark, and from a place on names the issuer of such keys."""
    if lower.find("airtable", start) >= 0 and letters.runs():
        return True
    if not letters.has_run(tables.SHORTEST_BESIDE) or not is_issuer_in(lower[start:] if start else lower):
        return False
    return any(map(_may_be_beside, letters.runs()))


def _may_be_beside(run: str) -> bool:
    """Whether a long run and what follows it may be a key that is known by the name of its issuer alone."""
    if len(run) < tables.SHORTEST_BESIDE:
        return False
    return any(map(run.__contains__, _IN_BESIDE)) or ("." in run and any(map(run.__contains__, _IN_DOTTED)))


def is_issuer_in(lower: str) -> bool:
    """Whether a text in lower case names an issuer whose keys have no mark."""
    return _ISSUERS.is_any_in(lower)


def holds_name(letters: Letters) -> bool:
    """Whether a word is in a text that a secret may follow; this is what most texts have that hold one."""
    lower = letters.lower()
    if len(lower) < SHORT:
        return _NAMES.is_any_in(lower) or ("pw" in lower and any(map(lower.__contains__, _SHORT_NAMES)))
    for number, (part, group) in enumerate(_GROUPS_OF_NAMES):
        if part in lower and any(map(lower.__contains__, group)):
            letters.nameless = number
            return True
    return (
        "pw" in lower and compiled(f"pw[{''.join(name[2] for name in _SHORT_NAMES)}]").search(lower) is not None
    )


def holds_form(data: str, lower: str) -> bool:
    """Whether a text may hold a secret that is masked where it is shown and has no such word before it."""
    if "J" in data and "eyJ" in data:
        return True
    if ":" in data and "/" in data and "://" in data and ("@" in data or is_endless(data)):
        return True
    if "=" in data and ("signature=" in lower or ("_" in data and "_auth" in lower)):
        return True
    if " -" not in data:
        return False
    return not _OPTIONS.isdisjoint({part[:1] for part in data.split(" -")[1:]}) or "-user" in lower or "curl" in lower


def is_endless(data: str) -> bool:
    """Whether a text has so long a stretch without what ends the password of a URL that it needs no `@` behind it."""
    whole = _ENDLESS_URL // 2  # such a stretch covers one of these parts
    places = range(0, len(data) - whole + 1, whole)
    return any(all(data.find(stop, at, at + whole) < 0 for stop in _URL_STOPS) for at in places)


_URL_STOPS = " /\"\n'"
_OPTIONS = frozenset((*tables.OPTION_LETTERS, tables.STDIN_LETTER))


def _holds_begin(letters: Letters) -> bool:
    """Whether a key could be in a text that begins as no word does."""
    return _BEGINS.is_any_in(letters.text)


def _begins(data: str) -> bool:
    """Whether `sk-` is more than the end of words such as `task-`."""
    return "\\" in data or "%" in data or "\x1b" in data or data.count("sk-") != data.count("task-")


_IN_BODY = "A-Za-z0-9_+/=.-"
_SHORTEST_BODY = min(form[1] for mark, form in tables.FORMS.items() if mark[-1] in tables.SIGNS)
"""How much every key has behind such a mark, and of which characters."""


@functools.cache
def _marks_backwards(sign: str, whole: bool) -> str:
    """A pattern of all marks that end with a sign, from that sign on backwards.

    It begins with a literal, which is found much faster than a class, and no two of its branches begin alike.

    Args:
        sign: the last character of the marks.
        whole: whether all that stands behind a mark is there; else so much is looked at as is at the end of a run.
    """
    return re.escape(sign) + _branches({mark[-2::-1] for mark in tables.FORMS if mark.endswith(sign)}, sign, whole)


def _branches(words: set[str], before: str, whole: bool) -> str:
    """A pattern of all these words, each looked at letter by letter, and of what every key has behind its mark."""
    behind: dict[str, set[str]] = {}
    for word in words:
        behind.setdefault(word[0], set()).add(word[1:])
    parts = []
    for first, rest in sorted(behind.items()):
        mark, longer = before + first, rest - {""}
        each = [_body(mark, whole)] if "" in rest else []
        each += [_branches(longer, mark, whole)] if longer else []
        parts.append(re.escape(first) + (each[0] if len(each) == 1 else f"(?:{'|'.join(each)})"))
    return parts[0] if len(parts) == 1 else f"(?:{'|'.join(parts)})"


def _body(mark: str, whole: bool) -> str:
    """What stands behind a mark that is read backwards."""
    characters, least, _ = tables.FORMS[mark[::-1]] if whole else (_IN_BODY, _SHORTEST_BODY, "")
    return f"(?<=[{characters}]{{{least}}}{re.escape(mark)})"


def is_marked(letters: Letters) -> bool:
    """Whether an issuer's key is in a text: a mark, and behind it enough of what follows it."""
    return any(_has_form(letters.text, mark) for mark in marks(letters))


def marks(letters: Letters) -> Iterator[str]:
    """The marks of issuers that are in a text."""
    data = letters.around_runs()
    endings = _endings(data, data is letters.text)
    if endings:
        by_ending = _marks_by_ending()
        for ending in endings:
            yield from [mark for mark in by_ending[ending] if mark in data]
    yield from _UNSIGNED.found_by_seldom(letters) if data is letters.text else _UNSIGNED.found(data)
    if data is not letters.text and letters.is_split():
        yield from [mark for mark in tables.SPLIT if mark in letters.text]


@functools.cache
def _marks_by_ending() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for mark in tables.FORMS:
        if mark[-1] in tables.SIGNS:
            found.setdefault(mark[-3:-1], []).append(mark)
    return found


def _endings(data: str, whole: bool) -> frozenset[str]:
    """What stands before the sign of each mark that ends with a sign and may be in a text, in a long one with a key."""
    if len(data) < SHORT and not _is_warm(len(data)):
        # Making the patterns costs more than looking at what stands before each sign (SEC-16).
        parts = data.replace("_", "-").replace(".", "-").split("-")
        return tables.ENDINGS.intersection([part[-2:] for part in parts])
    backwards, found = data[::-1], frozenset[str]()
    for sign in tables.SIGNS:
        if sign in data:
            found |= {place[0][2:0:-1] for place in compiled(_marks_backwards(sign, whole)).finditer(backwards)}
    return found


def _has_form(data: str, mark: str) -> bool:
    characters, least, needed = tables.FORMS[mark]
    behind, at = compiled(f"[{characters}]{{{least},126}}").match, data.find(mark)
    while at >= 0:
        found = behind(data, at + len(mark))
        if found and (not needed or compiled(needed).search(found[0])):
            return True
        at = data.find(mark, at + 1)
    return False
