"""Looking closer at a hint: is there a secret, where does it begin, which row of the table is it?"""

from __future__ import annotations

import bisect
import functools
import itertools
import re
from collections.abc import Callable, Sequence

from orchestrator.core import masking_extents as runs
from orchestrator.core import masking_kinds as kinds
from orchestrator.core import masking_patterns as patterns
from orchestrator.core import masking_tables as tables
from orchestrator.core.masking_extents import Ends
from orchestrator.core.masking_letters import Letters, compiled
from orchestrator.core.masking_patterns import harmless
from orchestrator.core.named_tuple import NamedTuple

LEAD = 240
"""So far before a short option the program is looked for that it belongs to."""


class View:
    """What is known of the text: this much, and whether it ends here or was cut off here.

    ``ends``: where masked secrets ended, counted from ``before`` this text; ``spans``: from where to where each went;
    ``codes``: where something hidden stood; ``lead``: what stood before this text, with a sign for each masked secret.
    What follows either begins anew; a name before a code still counts.
    """

    __slots__ = ("_key_end", "_lower", "before", "codes", "cut", "ends", "final", "lead", "spans", "text")

    def __init__(
        self, text: str, *, final: bool, cut: bool, ends: list[int], codes: list[int], before: int,
        spans: Sequence[tuple[int, int]] = (), lead: str = "",
    ) -> None:  # fmt: skip
        self.text, self.final, self.cut = text, final, cut
        self.ends, self.codes, self.before, self.spans, self.lead = ends, codes, before, spans, lead
        self._key_end = (0, 0)
        self._lower = ""

    @property
    def lower(self) -> str:
        """The text in lower case, of the same length."""
        self._lower = self._lower or patterns.lowered(self.text)
        return self._lower

    def know(self, letters: Letters) -> None:
        """Take over what is known of the whole text."""
        if self.text.isascii():
            self._lower = letters.lower()

    def key_end(self, at: int) -> tuple[int, int]:
        """Where the next end of a key block behind a place stands, searched for once; else the text's length."""
        if self._key_end[0] < at:
            end = compiled(runs.END).search(self.text, at)
            self._key_end = end.span() if end else (len(self.text), len(self.text) + BLOCK_LIMIT)
        return self._key_end

    def open(self, end: int) -> bool:
        """Whether what ends there may go on."""
        return end >= len(self.text) and not self.final

    def floor(self, at: int) -> int:
        """The last place up to this one where a masked secret ended: what is before it no longer counts."""
        found = bisect.bisect_right(self.ends, self.before + at)
        return self.ends[found - 1] - self.before if found else 0

    def behind_code(self, at: int) -> bool:
        """Whether something hidden stood right before a place."""
        found = bisect.bisect_left(self.codes, self.before + at)
        return found < len(self.codes) and self.codes[found] == self.before + at

    def spaced(self, start: int, end: int) -> str:
        """A part of the text with a blank wherever something hidden stood."""
        first, last = (bisect.bisect_left(self.codes, self.before + at) for at in (start, end))
        places = [start, *(code - self.before for code in self.codes[first:last]), end]
        return " ".join(self.text[begin:stop] for begin, stop in itertools.pairwise(places))

    def told(self, end: int, length: int) -> str:
        """So much of what stands before a place, with a sign for each masked secret, however long that was."""
        pieces, left = list[str](), length
        for begin, stop in reversed(self.spans):
            begin, stop = max(begin - self.before, 0), stop - self.before
            if left <= 0 or stop <= 0:
                break
            if begin < end and stop <= end:
                pieces += [self.text[max(stop, end - left) : end], "*"]
                left -= end - stop + 1
            end = min(end, begin)
        if left > 0:
            pieces += [self.text[max(0, end - left) : end], self.lead[end - left :] if end < left else ""]
        return "".join(reversed(pieces))

    def cut_at(self, end: int) -> bool:
        """Whether what ends there was cut off."""
        return self.cut and end == len(self.text)


class Head(NamedTuple):
    """A secret: where it begins, its row, and what ends it."""

    start: int
    row: int
    ends: Ends


class Pending(NamedTuple):
    """It depends on what follows; a secret would begin no earlier than here."""

    hold: int


Found = Head | Pending | None
Match = re.Match[str]

_RUN_STOPS = r"[^A-Za-z0-9_-]"
_URL_STOPS = r"[\s/?#\"'<>\\`]"
_NUMBER_BEFORE = r"(?:\A|[^0-9])[0-9]{6,12}\Z"
_AZURE_BEFORE = r"(?:\A|[^A-Za-z0-9_.~-])[A-Za-z0-9_.~-]{3}\Z"
"""Three characters of a client secret stand before what it is known by, and stay."""
_DOTTED_STOPS = r"[^A-Za-z0-9_.-]|\.(?!\.?[A-Za-z0-9_-])"
_SHORTEST_PART, _ENCRYPTED_WINDOW = 8, 80
_ESCAPE_BEFORE = (
    r"(?:\\[abfnrtv0]|\\[ux][0-9A-Fa-f]{2,4}|%[0-9A-Fa-f]{2}"
    r"|(?:\x1b|x1[bB]|u001[bB]|033|\\[eE]|\^\[)\[[0-9;?]{0,13}[A-Za-z])\Z"
)
_ESCAPE_LENGTH = 20
_WORDS = r"[a-z]{1,15}(?:-[a-z]{1,15})+(?:-\d{1,3})?"
_KINDS_OF_KEY = ("ant-", "proj-", "svcacct-")
_SHORTEST_OPENAI, _SHORTEST_ANTHROPIC = 20, 10
_TOKEN_WINDOW = 126
BLOCK_LIMIT = 16_384
"""So far behind a key block's begin its end is looked for, whatever is between them."""
PART_LIMIT = 16_384
"""The longest first or second part of a JSON web token that is waited for."""
_PASSWORD_LIMIT = 1_024
_SCHEME_LENGTH = 37
_ENDLESS = rf"([^\s/?#\"'<>@:\[\]\\`]{{0,256}}:)[^\s/?#\"'<>\\`@]{{{_PASSWORD_LIMIT}}}"
_WEB_SCHEMES = ("http", "https", "ws", "wss", "file", "git+https", "git+http")
_HOST_CHARACTER = r"[\w$%^*~@!#?/-]"
_HOST = (
    r"(?:localhost|(?:[\w-]{1,63}\.){1,8}[A-Za-z]{2,24}|\d{1,3}(?:\.\d{1,3}){3}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?"
)
_LETTERS = r"(?:(?:[A-Z]?[a-z]{1,20}){1,3}|[A-Z]{1,24})\d{0,4}|\d{1,6}"
_USER = rf"(?=.{{0,40}}\Z)(?:{_LETTERS})?(?:(?:[._+~@-]|%40)(?:{_LETTERS})){{0,5}}"
"""The name of a user, which is no secret; what looks random is none."""


def free(view: View, at: int, also: str = "") -> bool:
    """Whether a word can begin at a place: no letter or digit before it, unless that belongs to an escape."""
    before = view.text[max(view.floor(at), at - 1) : at]
    if view.codes and view.behind_code(at):
        return True
    if not (before.isalnum() or (before and before in also)):
        return True
    return bool(compiled(_ESCAPE_BEFORE).search(view.text[max(0, at - _ESCAPE_LENGTH) : at]))


def _sk(view: View, hint: Match) -> Found:
    start = hint.start()
    if not free(view, start):
        return None
    run = compiled(rf"[A-Za-z0-9_-]{{0,{_TOKEN_WINDOW}}}").match(view.text, hint.end())
    body = run.group() if run else ""
    end = hint.end() + len(body)
    if view.open(end):
        return Pending(start)
    cut = view.cut_at(end)
    if len(body) < _SHORTEST_OPENAI and not cut and not _anthropic(body):
        return None
    begun = cut and body.startswith(_KINDS_OF_KEY)
    if not begun and len(body) < _TOKEN_WINDOW and compiled(_WORDS).fullmatch(body):
        return None
    row = kinds.ANTHROPIC if (cut and body.startswith("ant-")) or _anthropic(body) else kinds.OPENAI
    return Head(start, row, Ends(runs.RUN, _RUN_STOPS))


def _anthropic(body: str) -> bool:
    return body.startswith("ant-") and len(body) >= len("ant-") + _SHORTEST_ANTHROPIC


def token(characters: str, least: int, needed: str = "") -> Callable[[View, Match], Found]:
    """Who looks closer at keys of one class of characters, at least so many, one of them of the needed ones."""

    def head(view: View, hint: Match) -> Found:
        if not free(view, hint.start()):
            return None
        run = compiled(rf"[{characters}]{{0,{_TOKEN_WINDOW}}}").match(view.text, hint.end())
        body = run.group() if run else ""
        end = hint.end() + len(body)
        if view.open(end):
            return Pending(hint.start())
        enough = len(body) >= least and (not needed or compiled(needed).search(body))
        if not enough and not view.cut_at(end):
            return None
        return Head(hint.start(), kinds.API, Ends(runs.RUN, rf"[^{characters}]"))

    return head


def is_within(view: View, at: int) -> bool:
    """Whether as many characters stand before a place as of a client secret stand before its mark."""
    before = view.text[max(view.floor(at), at - 4) : at]
    return bool(compiled(_AZURE_BEFORE).search(before))


def _is_mark(view: View, at: int, mark: str) -> bool:
    if mark.endswith("Q~"):
        return is_within(view, at)
    if mark.startswith(":"):
        return bool(compiled(_NUMBER_BEFORE).search(view.text[max(0, at - 13) : at]))
    return free(view, at)


def _issued(view: View, hint: Match) -> Found:
    """A key behind the mark of its issuer."""
    mark, at = hint.group(), hint.start()
    if not _is_mark(view, at, mark):
        return None
    (characters, least, needed), body = tables.FORMS[mark], hint.end()
    start = body if mark.endswith(tables.BEHIND) else at
    run = compiled(rf"[{characters}]{{0,{_TOKEN_WINDOW}}}").match(view.text, body)
    found = run.group() if run else ""
    end = body + len(found)
    if view.open(end):
        return Pending(start)
    enough = len(found) >= least and (not needed or compiled(needed).search(found))
    if not enough and not view.cut_at(end):
        return None
    return Head(start, kinds.API, _issued_ends(mark[start - at :], characters))


@functools.cache
def _issued_ends(mark: str, characters: str) -> Ends:
    """What ends a key: the mark is run over as well, and may hold other characters."""
    others = "".join(sorted({re.escape(each) for each in mark if not each.isalnum()}))
    letters = "" if "A-Za-z" in characters else re.escape("".join(filter(str.isalnum, mark)))
    return Ends(runs.RUN, rf"[^{others}{letters}{characters}]")


def _block(view: View, hint: Match) -> Found:
    start = hint.start()
    begin = compiled(runs.BEGIN).match(view.text, start)
    if begin is None:
        begun = compiled(runs.BEGUN).match(view.text, start)
        return Pending(start) if begun and view.open(begun.end()) else None
    stop, end = view.key_end(begin.end())
    if end > min(start + BLOCK_LIMIT, len(view.text)):
        return Pending(start) if view.open(start + BLOCK_LIMIT) else Head(start, kinds.PRIVATE, Ends(runs.BLOCK))
    several = view.text.find('"', begin.end(), stop) >= 0
    if several and view.open(end + runs.CLOSED_LENGTH):
        return Pending(start)
    if several and not _is_one(view.text, begin.end(), stop, end):
        return Head(start, kinds.PRIVATE, Ends(runs.BLOCK))
    return Head(start, kinds.PRIVATE, Ends(runs.FIXED, length=end - start))


def _putty(view: View, hint: Match) -> Found:
    """The lines of a private key as PuTTY writes them."""
    if view.open(hint.end()):
        return Pending(hint.start())
    return Head(hint.end(), kinds.PRIVATE, Ends(runs.BLOCK))


def _is_one(text: str, begin: int, stop: int, end: int) -> bool:
    """Whether strings that follow each other are one block: none is a name."""
    between = compiled(runs.STRINGS).fullmatch(text, begin, stop)
    return bool(between and compiled(runs.closed(re.escape(f'{between[1]}"'))).match(text, end))


def _jwt(view: View, hint: Match) -> Found:
    """Two parts and the dot of a third, two that are JSON both, or five of which the second is empty."""
    start = hint.start()
    if not free(view, start, also="_-"):
        return None
    found = Head(start, kinds.JWT, Ends(runs.DOTTED, _DOTTED_STOPS))
    first = _part(view, start)
    if view.open(first):
        return Pending(start)
    if view.cut_at(first):
        return found
    if view.text[first : first + 1] != "." or first - start < _SHORTEST_PART:
        return None
    second = _part(view, first + 1)
    if second - first > PART_LIMIT:
        return found
    if view.open(second) or (second == first + 1 and view.open(second + _ENCRYPTED_WINDOW)):
        return Pending(start)
    return found if _is_web_token(view, first, second) else None


def _part(view: View, at: int) -> int:
    part = compiled(rf"[A-Za-z0-9_-]{{0,{PART_LIMIT}}}").match(view.text, at)
    return part.end() if part else at


def _is_web_token(view: View, first: int, second: int) -> bool:
    if second == first + 1:
        return bool(compiled(r"\.[A-Za-z0-9_-]{1,64}\.[A-Za-z0-9_-]{8}").match(view.text, second))
    if view.text[second : second + 1] == "." or view.cut_at(second):
        return True
    return view.text.startswith("eyJ", first + 1) and second - first > _SHORTEST_PART


def _keep(view: View, hint: Match) -> Found:
    return Head(hint.start(), kinds.KEEP, Ends(runs.FIXED, length=hint.end() - hint.start()))


def _url(view: View, hint: Match) -> Found:
    """The password of a URL, or the token that stands for a user, up to the last `@` before the host."""
    start = hint.end()
    endless = compiled(_ENDLESS).match(view.text, start)
    if endless:
        return Head(endless.end(1), kinds.URL, Ends(runs.RUN, _URL_STOPS))
    run = compiled(patterns.URL_RUN).match(view.text, start, start + 2 * _PASSWORD_LIMIT)
    end = run.end() if run else start
    if view.open(end):
        return Pending(start)
    place = _within(view, start, end)
    if "[MASKED:" in place:  # a token holds a colon that is none of the URL
        place = compiled(patterns.MASKED).sub(lambda found: "M" * len(found[0]), place)
    length = _userinfo(view, start, place)
    user, colon, password = place[: max(length, 0)].partition(":")
    if not user + password:
        return None
    if not compiled(_USER).fullmatch(user) and not harmless(user):
        return Head(start, kinds.URL, Ends(runs.FIXED, length=length))
    if harmless(password) and not compiled("[/?#@]").search(password):
        return None
    return Head(start + len(user + colon), kinds.URL, Ends(runs.FIXED, length=len(password)))


def _scheme(view: View, start: int) -> tuple[str, str]:
    """What stands before the scheme of a URL, and the scheme in lower case."""
    # Backwards, since only its end has a place of its own.
    before = view.lower[max(view.floor(start), start - 3 - _SCHEME_LENGTH) : start - 3][::-1]
    run = compiled(r"[a-z0-9+.-]{0,31}(?<=[a-z])").match(before)
    if run is None:
        return "", ""
    return before[run.end() : run.end() + 1], run.group()[::-1]


def _within(view: View, start: int, end: int) -> str:
    """A URL without what closes the string, the link or the brackets that it stands in."""
    run = view.text[start:end]
    if not compiled(r"[\"'`)\]>}]").search(run):
        return run
    opener, _ = _scheme(view, start)
    if opener in ("'", '"', "`"):
        return run.partition(opener)[0]
    closer = {"(": ")", "[": "]", "<": ">", "{": "}"}.get(opener)
    found = compiled(rf"\{closer}(?!{_HOST_CHARACTER})").search(run) if closer else None
    return run[: found.start()] if found else run


def _userinfo(view: View, start: int, place: str) -> int:
    """How long the part before the last `@` of the authority is; -1 for none.

    Where a path could begin a password may go on as well: what stands there decides.
    """
    last = place.rfind("@")
    stop = compiled("[/?#]").search(place)
    authority = place[: stop.start()] if stop else place
    at = authority.rfind("@")
    if at < 0:
        user, colon, rest = authority.partition(":")
        named = harmless(rest) and (rest.lower() == "port" or not rest.isalnum())
        local = "." in user or user == "localhost"
        numbered = rest.isdigit() and (local or _scheme(view, start)[1] in _WEB_SCHEMES)
        return -1 if not colon or named or numbered or user.startswith("[") else last
    if ":" not in authority[:at] or last == at:
        return at
    whole = compiled(_HOST).fullmatch(authority, at + 1)
    return at if whole and not compiled(_HOST + r"(?=[/?#,]|\Z)").match(place, last + 1) else last


def value(view: View, start: int, stops: str) -> str | Pending:
    """As much of an unquoted value as tells whether it is harmless."""
    found = compiled(stops).search(view.text, start, start + patterns.WINDOW + 1)
    stop = found.start() if found else min(len(view.text), start + patterns.WINDOW + 1)
    if found is None and stop - start <= patterns.WINDOW and view.open(stop):
        return Pending(start)
    return view.text[start : runs.bare_end(view.text, start, stop)]


def content(view: View, start: int, ends: Ends) -> str | Pending:
    """As much of a quoted value."""
    text = view.text[: start + patterns.WINDOW + runs.ESCAPES]
    extent = runs.scan(text, ends, start, final=False)
    if not extent.closed and len(text) == len(view.text) and not view.final:
        return Pending(start)
    return text[start : extent.end]


HEADS: dict[str, Callable[[View, Match], Found]] = {
    "sk": _sk,
    "block": _block,
    "putty": _putty,
    "google": token("A-Za-z0-9_-", 30),
    "amazon": token("A-Z0-9", 16),
    "slack": token("A-Za-z0-9-", 12, needed=r"\A[a-z]-.*[0-9]"),
    "issued": _issued,
    "jwt": _jwt,
    "keep": _keep,
    "url": _url,
}
"""Who looks closer at secrets that are known by their form, by the name that a hint has."""
