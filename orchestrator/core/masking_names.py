"""Secrets that a name stands before: headers, credentials in JSON, environments and settings, bearer tokens."""

from __future__ import annotations

from collections.abc import Callable

from orchestrator.core import masking_heads as heads
from orchestrator.core import masking_patterns as patterns
from orchestrator.core import masking_runs as runs
from orchestrator.core.masking_heads import Found, Head, Match, Pending, View
from orchestrator.core.masking_patterns import compiled, harmless
from orchestrator.core.masking_runs import Ends

_BLANK_STOPS = r"[\s\"'`]"
_QUERY_STOPS = r"[\s\"'`&#;]"
_BEARER_STOPS = r"[^A-Za-z0-9._~+/=|!@$%^*:-]"
_WORD_STOPS = r"[\s\"'`\\]"
_HEADER_STOPS = r"[\"'`\\\r\n]"
_NAME_LENGTH = 64
_NAME = r"[A-Za-z0-9_.%-]"
_PROSE_LENGTH = 20
"""A word of lower-case letters after `bearer` is prose up to this length."""
_KIND_LENGTH = 16


def _bearer(view: View, hint: Match) -> Found:
    if not heads.free(view, hint.start()):
        return None
    start = hint.end()
    value = heads.value(view, start, _BEARER_STOPS)
    if isinstance(value, Pending):
        return value
    if harmless(value) or value.lower() in patterns.BEARER_WORDS or _challenge(view.text, start, value):
        return None
    if value.isalpha() and value.islower() and len(value) < _PROSE_LENGTH and view.text[hint.start()] == "b":
        return None
    return Head(start, patterns.BEARER, Ends(runs.RUN, _BEARER_STOPS, marks=True))


def _challenge(text: str, start: int, value: str) -> bool:
    """Whether it is a parameter of a server's question: `Bearer realm="x"`."""
    return value.endswith("=") and value[:-1].isalpha() and text[start + len(value) :][:1] == '"'


def _talk(content: str) -> bool:
    """Whether what stands after a header's name is no credential: a bare word, or prose."""
    scheme = compiled(patterns.SCHEME).match(patterns.lowered(content))
    if scheme and not scheme[1]:
        return all(map(harmless, content[scheme.end() :].split()))
    first, _, rest = content.strip().partition(" ")
    second = rest.split(maxsplit=1)[:1]
    if not compiled(patterns.WORD).fullmatch(first):
        return harmless(content)
    return not second or bool(compiled(rf"[a-z]+[.,:;]?|{patterns.MASKED}").fullmatch(second[0]))


def _header(row: int, view: View, hint: Match, at: int) -> Found:
    """A header's value, quoted or to the end of its line; the scheme of an authorization stays readable."""
    lead = _lead(view, hint)
    opener = compiled(patterns.OPENER).match(view.text, lead)
    if view.open(opener.end() if opener else lead) or (opener and _half_open(view, opener)):
        return Pending(lead)
    if opener is None and view.open(_opening(view, lead)):
        return Pending(lead)
    quote = _quote_before(view, at)
    ends = _quoted(opener) if opener else Ends(runs.HEADER, rf"[{quote}\\\r\n]" if quote else _HEADER_STOPS)
    start = opener.end() if opener else lead
    if view.text.startswith("[", start) and not view.text.startswith("[MASKED:"[: len(view.text) - start], start):
        start += 1
    content = heads.content(view, start, ends) if opener else heads.value(view, start, ends.stops)
    if isinstance(content, Pending):
        return content
    if _talk(content):
        return None
    scheme = compiled(patterns.SCHEME).match(view.lower, start) if row == patterns.AUTH else None
    if scheme is None:
        return Head(start, row, ends)
    if not opener and not scheme[1]:
        ends = Ends(runs.RUN, _WORD_STOPS, marks=True)
    return Head(scheme.end(), row, ends)


def _opening(view: View, at: int) -> int:
    """How far a text goes on as it would up to an opening quote."""
    found = compiled(patterns.OPENING).match(view.text, at)
    return found.end() if found else at


def _quote_before(view: View, at: int) -> str:
    before = _before_name(view, at)
    return before if before in ('"', "'", "`") else ""


def _before_name(view: View, at: int) -> str:
    """The character before the whole name that a hint belongs to."""
    name, floor = at, max(view.floor(at), at - _NAME_LENGTH)
    while name > floor and compiled(_NAME).match(view.text, name - 1):
        name -= 1
    return view.text[name - 1] if name > floor else ""


def _before(view: View, at: int, length: int = 1) -> str:
    """So much of the text before a hint, in lower case, as is not masked."""
    return view.lower[max(view.floor(at), at - length) : at]


def _authorization(view: View, hint: Match) -> Found:
    return _header(patterns.AUTH, view, hint, hint.start())


def _cookie(view: View, hint: Match) -> Found:
    before = _before(view, hint.start(), len("set-"))
    row = patterns.SET_COOKIE if before.endswith(("set-", "set_", "set")) else patterns.COOKIE
    return _header(row, view, hint, hint.start())


def _lead(view: View, hint: Match) -> int:
    """Where the value begins: after blanks, and after line ends where the name was quoted."""
    lead = compiled(r"\*{0,3}\s{0,64}" if _is_quoted(hint) else r"\*{0,3}[ \t]{0,16}").match(view.text, hint.end())
    return lead.end() if lead else hint.end()


def _is_quoted(hint: Match) -> bool:
    return any(quote in hint.group() for quote in "\"'`")


def _quoted(opener: Match) -> Ends:
    return Ends(runs.QUOTED, rf"[{opener[2][0]}\r\n]", level=len(opener[1]))


def _row(view: View, hint: Match, start: int) -> int:
    """Which kind of credential: in JSON, in an environment, or any other."""
    name = hint.group()
    if _is_quoted(hint) and name.endswith(":"):
        return patterns.JSON
    written = view.text[hint.start() : hint.end()]
    upper = (
        written.isupper() and not view.text[max(view.floor(hint.start()), hint.start() - 1) : hint.start()].islower()
    )
    direct = name.endswith("=") and not name.endswith((" =", "\t=", "==", ":=", "*=")) and start == hint.end()
    return patterns.ENV if upper and direct and not _is_quoted(hint) else patterns.GENERIC


def _credential(view: View, hint: Match, query: bool = False, folder: bool = False) -> Found:
    """A value after a name that says secret."""
    start = _lead(view, hint)
    if view.open(start):
        return Pending(start)
    row = _row(view, hint, start)
    opener = compiled(patterns.OPENER).match(view.text, start)
    if opener:
        return _quoted_value(view, row, opener, folder)
    stops = _stops(view, hint, row, query)
    value = heads.value(view, start, stops)
    if isinstance(value, Pending):
        return value
    if folder and compiled(patterns.FOLDER).match(value):
        return None
    if not harmless(value):
        return Head(start, row, Ends(runs.RUN, stops, marks=True))
    return _annotated(view, hint, start, row)


def _half_open(view: View, opener: Match) -> bool:
    """Whether two quotes may become three."""
    return view.text.startswith(opener[2][0], opener.end()) and view.open(opener.end() + 1)


def _quoted_value(view: View, row: int, opener: Match, folder: bool = False) -> Found:
    start, ends = opener.end(), _quoted(opener)
    if view.open(start) or _half_open(view, opener):
        return Pending(opener.start())
    content = heads.content(view, start, ends)
    if isinstance(content, Pending):
        return Pending(opener.start())
    if harmless(content) or (folder and compiled(patterns.FOLDER).match(content)):
        return None
    return Head(start, row, ends)


def _annotated(view: View, hint: Match, start: int, row: int) -> Found:
    """A value behind a name's type: `token: string = "…"`."""
    if not hint.group().endswith(":"):
        return None
    annotation = compiled(patterns.ANNOTATION).match(view.text, start)
    if annotation is None:
        rest = compiled(r"[A-Za-z]{1,8}[ \t]{0,16}=?").match(view.text, start)
        return Pending(start) if rest and view.open(rest.end()) else None
    lead = compiled(r"[ \t]{0,16}").match(view.text, annotation.end())
    begin = lead.end() if lead else annotation.end()
    if view.open(begin):
        return Pending(begin)
    opener = compiled(patterns.OPENER).match(view.text, begin)
    if opener:
        return _quoted_value(view, row, opener)
    value = heads.value(view, begin, _BLANK_STOPS)
    if isinstance(value, Pending):
        return value
    return None if harmless(value) else Head(begin, row, Ends(runs.RUN, _BLANK_STOPS, marks=True))


def _stops(view: View, hint: Match, row: int, query: bool) -> str:
    """What ends an unquoted value: in a query also the characters that end one there."""
    if not hint.group().endswith("="):
        return _BLANK_STOPS
    in_query = _before_name(view, hint.start()) in ("?", "&", "#", ";")
    return _QUERY_STOPS if in_query or (query and row != patterns.ENV) else _BLANK_STOPS


def _password(view: View, hint: Match) -> Found:
    """`pass` alone is a word of its own, unless it ends the name of a setting."""
    if not view.lower.startswith(("passw", "passp", "passc"), hint.start()):
        setting = _before(view, hint.start()) in ("_", "-") and (hint.group().endswith("=") or _is_quoted(hint))
        if not setting:
            return None
    return _credential(view, hint)


def _folder(view: View, hint: Match) -> Found:
    return _credential(view, hint, folder=True) if heads.free(view, hint.start()) else None


def _secret(view: View, hint: Match) -> Found:
    before = _before(view, hint.start(), len("client-"))
    return _credential(view, hint, query=before.endswith(("client_", "client-", "client")))


def _named_token(view: View, hint: Match) -> Found:
    return _credential(view, hint, query=True)


def _key(view: View, hint: Match) -> Found:
    before = _before(view, hint.start(), _KIND_LENGTH)
    named = before[: len(before) - 1 if before.endswith(("_", "-", ".", " ")) else None].endswith(patterns.KEY_KINDS)
    return _credential(view, hint, query=True) if named else None


def _credentials(view: View, hint: Match) -> Found:
    """In prose and settings of other kinds the word stands before much that is none."""
    row = _row(view, hint, hint.end())
    return _credential(view, hint) if row in (patterns.ENV, patterns.JSON) else None


HEADS: dict[str, Callable[[View, Match], Found]] = {
    **heads.HEADS,
    "bearer": _bearer,
    "authorization": _authorization,
    "cookie": _cookie,
    "password": _password,
    "folder": _folder,
    "secret": _secret,
    "token": _named_token,
    "key": _key,
    "credential": _credentials,
}
"""Who looks closer at any hint, by the name that a hint has."""
