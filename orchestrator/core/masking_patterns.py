"""What secrets look like: where one may begin, by which characters it goes on, and which values are harmless.

Every pattern is bounded or runs over one class of characters, so that none can backtrack; each is compiled when a text
first needs it. A hint begins with a literal, which a text is searched for before anything is compiled.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

from orchestrator.core import masking_kinds as kinds
from orchestrator.core.tuples import NamedTuple

TOKENS = tuple(token for token, _ in kinds.ROWS)
"""What stands in for each row; nothing for what is masked already."""

MASKED = r"\[MASKED:(?:" + "|".join(sorted({token[8:-1] for token in TOKENS if token})) + r")\]"


class Hint(NamedTuple):
    """A place where a secret may follow: its literal, the pattern that finds it, and who looks closer.

    ``lower``: the literal is looked for in the text in lower case. ``first``: the secret begins with the literal
    itself, so that a beginning of it at the end of a piece is held back. ``row``: the first row that it may be of.
    ``long``: it is looked for only where many characters of a key follow each other. ``marked``: the pattern finds
    where the mark of an issuer ends.
    """

    literal: str
    pattern: str
    head: str
    row: int
    lower: bool = False
    first: bool = False
    long: bool = False
    marked: bool = False


_NUMBERED = r"(?:[_-]?\d{1,3}|_(?:prod|production|dev|test|staging|live|old|new|base|value))?"
_VALUE = r"\\{0,7}[\"']\s{1,8}value\s{0,2}="
_ELEMENT = r"(?:[\"']|[ \t][^<>\r\n]{1,80})?>(?=[^<\s]|<!\[cdata\[)"
_SIGN = r"(?:\\{0,7}[\"'`]\]?\s{0,64}|\*{0,3}[ \t]{0,16})(?::=|=>|={1,3}|:(?!:))"
_SEPARATOR = rf"(?:{_SIGN}|{_VALUE}|{_ELEMENT})"
_AFTER = _NUMBERED + _SEPARATOR + r"(?!\s?\"(?:[A-Za-z]{2,8})?\"[,}\]\r\n])"
_BEHIND_BEARER = rf"(?:[ \t]{{1,8}}|%20|{_SIGN}[ \t]{{0,8}})\\{{0,7}}[\"'`]?"
_PLACE = r"[^\s/?#\"'<>\\`@]"
_INSIDE = r"[\w$%^*~@!#?-]"
URL_RUN = rf"(?:[^\s\"'`<>\\:]{{1,1024}}+|:(?!//)|[\"'`>](?={_INSIDE}|\Z)|<(?![/A-Za-z!])|\\(?![\"'`])){{0,128}}+"
"""What a URL may go on with; what ends a string or an element around it ends it too."""
_USERINFO = URL_RUN.replace(r"\\:]", r"\\:@]", 1) + r"(?:@|\Z)"

_TAIL, _SHORT = 128, 4_096
LONG_RUN = 16
"""So many letters, digits, `_` and `-` in a row are in every key that is known by the mark of its issuer."""
_MARKED = r"[A-Za-z0-9_+/=.-]"
_BEHIND_MARK = rf"(?=[A-Za-z0-9](?:{_MARKED}{{11}}|{_MARKED}{{0,10}}\Z)|\Z)"

MARKS = {mark: kind.form for kind in kinds.ISSUED if kind.form for mark in kind.marks}
"""What follows an issuer's mark."""
LONGEST_MARK = max(map(len, MARKS))
_SIGNS = "-_."
"""How most marks end; of these the sign is looked for, and then what stands before it."""
_LITERAL_MARKS = tuple(mark for mark in MARKS if mark[-1] not in _SIGNS)
SPLIT_MARKS = tuple(mark for mark, form in MARKS.items() if "+" in form.characters)
"""Marks of keys that may hold no long run, because characters of base64 split it."""


@functools.cache
def _mark_pattern(sign: str) -> str:
    """Where a mark may end that ends with this sign. A literal begins it, which is found much faster than a class."""
    ends = [mark[-3:-1] for mark in MARKS if mark.endswith(sign)]
    seconds, lasts = ("".join(sorted({end[place] for end in ends})) for place in range(2))
    return rf"{re.escape(sign)}(?<=[{seconds}][{lasts}]{re.escape(sign)}){_BEHIND_MARK}"


KEY_HINTS = (
    Hint("sk-", r"sk-", "sk", kinds.OPENAI, first=True),
    Hint("-----BEGIN ", r"-----BEGIN ", "block", kinds.PRIVATE, first=True),
    Hint("---- BEGIN ", r"---- BEGIN ", "block", kinds.PRIVATE, first=True),
    Hint("AIza", r"AIza", "google", kinds.API, first=True),
    Hint("AKIA", r"AKIA", "amazon", kinds.API, first=True),
    Hint("ASIA", r"ASIA", "amazon", kinds.API, first=True),
    Hint("xox", r"xox", "slack", kinds.API, first=True),
    *(Hint(mark, re.escape(mark), "issued", kinds.API, long=True) for mark in _LITERAL_MARKS),
    *(Hint(sign, _mark_pattern(sign), "issued", kinds.API, long=True, marked=True) for sign in _SIGNS),
)
"""Keys that must never be stored."""

OPTION_NAMES = (
    r"(?:[a-z]{1,16}-){0,3}(?:password|passwd|passphrase|pass|pwd|token|secret|api-?key|secret-key|access-key|auth-key)"
)
OPTION_LETTERS = "".join(sorted({letter for letters in kinds.PROGRAMS.values() for letter in letters}))

HINTS = (
    *KEY_HINTS,
    Hint("eyJ", r"eyJ", "jwt", kinds.JWT, first=True),
    Hint("[MASKED:", MASKED, "keep", kinds.KEEP),
    Hint("authorization", r"authorization" + _SIGN, "authorization", kinds.AUTH, lower=True),
    Hint("cookie", r"cookie" + _SIGN, "cookie", kinds.SET_COOKIE, lower=True),
    Hint("bearer", r"bearer" + _BEHIND_BEARER, "bearer", kinds.BEARER, lower=True),
    Hint("://", rf"://(?={_USERINFO}|[^\s/?#\"'<>@:\[\]\\`]{{0,256}}:{_PLACE}{{1024}})", "url", kinds.URL),
    Hint("sig=", r"(?<=[?&;])sig=", "signature", kinds.GENERIC, lower=True),
    Hint("machine", r"machine\s{1,16}\S{1,100}\s{1,16}password\s{1,16}(?=\S|\Z)", "netrc", kinds.GENERIC, lower=True),
    Hint(
        "login",
        r"login\s{1,16}\S{1,100}\s{1,16}(?:account\s{1,16}\S{1,40}\s{1,16})?password\s{1,16}(?=\S|\Z)",
        "netrc",
        kinds.GENERIC,
        lower=True,
    ),
    Hint(
        "--",
        rf"--{OPTION_NAMES}(?:[ \t]{{1,8}}|[ \t]{{0,8}}\\\r?\n[ \t]{{0,40}})(?=[^\s-]|\Z)",
        "option",
        kinds.GENERIC,
        lower=True,
    ),
    Hint(" -", rf" -[{OPTION_LETTERS}](?:=|[ \t]{{1,8}})?(?=[^\s=-]|\Z)", "letter", kinds.GENERIC),
    Hint("pass", r"pass(?:word|wd|phrase|code)?" + _AFTER, "password", kinds.JSON, lower=True),
    Hint("pwd", r"pwd" + _AFTER, "folder", kinds.JSON, lower=True),
    Hint("secret", r"secret" + _AFTER, "secret", kinds.JSON, lower=True),
    Hint("token", r"token" + _AFTER, "token", kinds.JSON, lower=True),
    Hint("key", r"key" + _AFTER, "key", kinds.JSON, lower=True),
    Hint("credential", r"credentials?" + _AFTER, "credential", kinds.JSON, lower=True),
)
NAMES = ("pass", "pwd", "secret", "token", "key", "credential", "authorization", "cookie", "bearer")
"""Words without one of which, in lower case, a text holds no secret that a name stands before."""

HEAD_LENGTH = 320
"""The longest text of a hint; how far a hint may reach back from the end of a piece."""

# What stands before `key` or `_key` where it opens something.
KEY_KINDS = (
    *("api", "access", "secret", "private", "auth", "encryption", "signing", "signature", "master", "account", "host"),
    *("storage", "shared", "service", "session", "subscription", "deploy", "deployment", "ssh", "client", "app", "ssl"),
    *("application", "license", "webhook", "admin", "root", "server", "user", "aws", "openai", "anthropic", "azure"),
    *("google", "gcp", "github", "gitlab", "stripe", "slack", "twilio", "sendgrid", "gemini", "mistral", "tls", "jwt"),
)

# Lower-case words after `Bearer` that are the scheme's own vocabulary, or prose.
BEARER_WORDS = frozenset(
    (
        *("authentication", "authorization", "authorisation", "credential", "credentials", "challenge", "middleware"),
        *("token_type", "tokenauth", "tokens", "token", "securityscheme", "requirement", "requirements"),
    )
)

SCHEME = (
    r"(?:bearer|basic|token|negotiate|ntlm|api-?key|key|ssws|mutual|(digest|oauth|signature|hawk|mac|dpop"
    r"|scram-sha-(?:1|256)|aws4-hmac-sha256))(?:[ \t]{1,8}|%20|[ \t]{0,8}\r?\n[ \t]{1,16})"
)
"""The word before credentials in an Authorization header; the group: parameters follow, not one word."""

WORD = r"[A-Za-z]{2,8}"
_SEGMENT = rf"(?:\.?(?:[a-z0-9_@+-]|{MASKED})(?:[a-z0-9_.@+-]|{MASKED}){{0,63}}|[A-Z](?:[a-z]|{MASKED}){{1,30}})"
PATH = rf"(?:~|\.{{1,2}})?(?:/{_SEGMENT}){{1,32}}/?|[A-Za-z]:(?:[/\\]{_SEGMENT}){{1,32}}[/\\]?"
FOLDER = r"[/~.$`%]|[A-Za-z]:[/\\]"
_CALL = rf"(?:[A-Za-z_]|{MASKED})(?:[\w.]|{MASKED}){{0,39}}\("
OPENING = rf"(?:\[?{_CALL}|\[)?[bBrRuUfF]{{0,2}}\\{{0,7}}"
OPENER = rf"(?:\[?{_CALL}|\[)?[bBrRuUfF]{{0,2}}(\\{{0,7}})(\"\"\"|'''|[\"'`])"
ANNOTATED = r"[ \t]{0,16}[A-Za-z_&*?][\w.<>?&*|\[\]]{0,63}(?:[ ]\|[ ][\w.\[\]]{1,32}){0,3}[ \t]{0,16}"
ANNOTATION = ANNOTATED + r"=(?![=>])"
SHORTEST_VALUE = 8
"""A registered value of fewer characters would mask ordinary words."""
WINDOW = 256
"""How much of a value is looked at to tell whether it is harmless; what is longer is not."""
PLAIN_LIMIT = 3
"""Up to so many marks without a letter or digit open a structure, and are no value."""


@functools.cache
def compiled(pattern: str) -> re.Pattern[str]:
    """The pattern, compiled once."""
    return re.compile(pattern)


def lowered(text: str) -> str:
    """The text in lower case, of the same length."""
    return text.replace("\u0130", "i").lower()


_ENDING = 3
_BY_ENDING: dict[str, list[str]] = {}
for _mark in sorted((mark for mark in MARKS if mark[-1] in _SIGNS), key=len, reverse=True):
    _BY_ENDING.setdefault(_mark[-_ENDING:], []).append(_mark)


def mark_before(text: str, end: int, least: int) -> re.Match[str] | None:
    """The longest mark of an issuer that ends at a place and begins no earlier than another."""
    for mark in _BY_ENDING.get(text[end - _ENDING : end], ()):
        if end - len(mark) >= least and text.endswith(mark, least, end):
            return compiled(re.escape(mark)).match(text, end - len(mark))
    return None


def _by_part(literals: Iterable[str]) -> dict[str, list[str]]:
    """Literals by what several of them share, so that one search is enough for a text that has none of them."""
    parts: dict[str, list[str]] = {}
    for literal in literals:
        parts.setdefault(next((part for part in _SHARED if part in literal), literal), []).append(literal)
    return parts


_SHARED = ("BEGIN ", "IA", "TT3", "hook")
_MARK_PARTS = _by_part(_LITERAL_MARKS)
KEY_PARTS = _by_part(hint.literal for hint in KEY_HINTS if not hint.long and hint.literal != "sk-")
"""What keys begin with that are no issuer's, but for the ordinary end of words, by the part they share."""


def has_literal(text: str, parts: dict[str, list[str]]) -> bool:
    """Whether one of the literals of such parts is in a text."""
    return any(part in text and any(literal in text for literal in literals) for part, literals in parts.items())


_CLASSES = (
    *(b"c" * 9, b"  ", b"cc", b" ", b"c" * 18, b" " * 13, b"a", b"  ", b"a" * 10, b" " * 7, b"a" * 26, b" " * 4),
    *(b"a", b" ", b"a" * 26, b" " * 4, b"c", b" " * 128),
)
_CLASS_TABLE = b"".join(_CLASSES)
UNSEEN = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
)
"""Characters that no terminal shows, and that begin what it does not show."""

ESCAPED = (
    r"\\(?:x(?:0[0-8bcefBCEF]|[189][0-9a-fA-F]|7[fF]|[aA][dD])|u(?:00(?:0[0-8bcefBCEF]|[189][0-9a-fA-F]|7[fF]|[aA][dD])"
    r"|034[fF]|061[cC]|11(?:5[fF]|60)|17[bB][45]|180[b-fB-F]|20(?:0[b-fB-F]|2[a-eA-E]|6[0-9a-fA-F])|3164"
    r"|[fF][eE](?:0[0-9a-fA-F]|[fF]{2})|[fF]{2}[aA]0))"
)
"""Such characters as JSON, code and the doors for people spell them."""
_SPELT_CODES = ("\\033[", "\\e[", "\\E[", "^[[", "\\u{1")
"""How shells and scripts spell the beginning of a code."""
_RUN, CONTROL = b"a" * LONG_RUN, b"c"


def classes(text: str) -> bytes:
    """Of each character: `a` for what may be in a long run, `c` for a control of ASCII, else a blank."""
    return text.encode("ascii", "replace").translate(_CLASS_TABLE)


def is_broken(text: str) -> bool:
    """Whether a text has characters that are not shown and could break a secret, or has them spelt out."""
    if CONTROL in classes(text) if text.isascii() else compiled(f"[{UNSEEN}]").search(text):
        return True
    if any(sign in text for sign in _SPELT_CODES):
        return True
    return ("\\u" in text or "\\x" in text) and compiled(ESCAPED).search(text) is not None


def has_long_run(text: str, known: bytes | None = None) -> bool:
    """Whether a text has so many characters of a key in a row that an issuer's key could be in it.

    Args:
        known: the classes of the text, if they are known.
    """
    if _RUN in (classes(text) if known is None else known):
        return True
    return "_" in text and any(mark in text for mark in SPLIT_MARKS)


def may_end_marked(text: str) -> bool:
    """Whether the end of a text may be the beginning of an issuer's key."""
    tail = text[-LONGEST_MARK - _TAIL :]
    return any(mark in tail for mark in MARKS)


def may_be_marked(text: str, known: bytes) -> bool:
    """Whether an issuer's key could be in a text of known classes."""
    if not has_long_run(text, known):
        return False
    if len(text) < _SHORT:
        return any(mark in text for mark in MARKS)
    if has_literal(text, _MARK_PARTS):
        return True
    return any(
        mark_before(text, found.end(), 0)
        for sign in _SIGNS
        if sign in text
        for found in compiled(_mark_pattern(sign)).finditer(text)
    )
