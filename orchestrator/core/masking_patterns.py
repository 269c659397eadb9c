"""What secrets look like: where one may begin, by which characters it goes on, and which values are harmless.

Every pattern is bounded or runs over one class of characters, so that none can backtrack; each is compiled when a text
first needs it. A hint begins with a literal, which a text is searched for before anything is compiled.
"""

from __future__ import annotations

import functools
import re

from orchestrator.core.tuples import NamedTuple

# The rows of the table in their order; a character that several cover belongs to the first.
KEEP, REGISTERED, ANTHROPIC, OPENAI, PRIVATE, API, AUTH, SET_COOKIE, COOKIE, JWT = range(10)
JSON, ENV, BEARER, URL, GENERIC = range(10, 15)
TOKENS = (
    "",
    "[MASKED:API_KEY]",
    "[MASKED:ANTHROPIC_KEY]",
    "[MASKED:OPENAI_KEY]",
    "[MASKED:PRIVATE_KEY]",
    "[MASKED:API_KEY]",
    "[MASKED:AUTH_HEADER]",
    "[MASKED:SET_COOKIE]",
    "[MASKED:COOKIE]",
    "[MASKED:JWT]",
    "[MASKED:JSON_CREDENTIAL]",
    "[MASKED:ENV_CREDENTIAL]",
    "[MASKED:BEARER_TOKEN]",
    "[MASKED:GENERIC_SECRET]",
    "[MASKED:GENERIC_SECRET]",
)
"""What stands in for each row; nothing for what is masked already."""

MASKED = r"\[MASKED:(?:" + "|".join(sorted({token[8:-1] for token in TOKENS if token})) + r")\]"


class Hint(NamedTuple):
    """A place where a secret may follow: its literal, the pattern that begins with it, and who looks closer.

    ``lower``: the literal is looked for in the text in lower case. ``first``: the secret begins with the literal
    itself, so that a beginning of it at the end of a piece is held back. ``row``: the first row that it may be of.
    """

    literal: str
    pattern: str
    head: str
    row: int
    lower: bool = False
    first: bool = False


_NUMBERED = r"(?:[_-]?\d{1,3}|_(?:prod|production|dev|test|staging|live|old|new|base|value))?"
_SEPARATOR = r"(?:\\{0,7}[\"'`]\]?\s{0,64}|\*{0,3}[ \t]{0,16})(?::=|=>|={1,3}|:(?!:))"
_AFTER = _NUMBERED + _SEPARATOR + r"(?!\s?\"(?:[A-Za-z]{2,8})?\"[,}\]\r\n])"
_BEHIND_BEARER = rf"(?:[ \t]{{1,8}}|%20|{_SEPARATOR}[ \t]{{0,8}})\\{{0,7}}[\"'`]?"
_PLACE = r"[^\s/?#\"'<>\\`@]"
_PASSWORD = rf"(?={_PLACE}{{0,1023}}(?:@|\Z)|{_PLACE}{{1024}})"

_RANDOM = r"[0-9A-Z]"
ISSUED = {
    "glpat-": ("A-Za-z0-9_-", 20, _RANDOM),
    "npm_": ("A-Za-z0-9", 30, _RANDOM),
    "pypi-AgE": ("A-Za-z0-9_-", 40, ""),
    "hf_": ("A-Za-z0-9", 30, _RANDOM),
    "gsk_": ("A-Za-z0-9", 40, _RANDOM),
    "sk_live_": ("A-Za-z0-9", 16, _RANDOM),
    "rk_live_": ("A-Za-z0-9", 16, _RANDOM),
    "whsec_": ("A-Za-z0-9+/=", 24, _RANDOM),
    "SG.": ("A-Za-z0-9_.-", 50, r"\A[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32}"),
    "dop_v1_": ("A-Za-z0-9", 60, r"\A[a-f0-9]{60}"),
    "shpat_": ("A-Za-z0-9", 32, r"\A[A-Fa-f0-9]{32}"),
    "dckr_pat_": ("A-Za-z0-9_-", 20, _RANDOM),
    "GOCSPX-": ("A-Za-z0-9_-", 24, _RANDOM),
    "ya29.": ("A-Za-z0-9_-", 30, _RANDOM),
    "xapp-": ("A-Za-z0-9-", 20, r"\A[0-9]-.*[0-9]"),
    "glsa_": ("A-Za-z0-9_", 32, _RANDOM),
    "hvs.": ("A-Za-z0-9_-", 24, _RANDOM),
}
"""How keys of further issuers begin, with the characters that follow, the fewest of them, and what is among these.

None is looked for that an ordinary word could begin as well: each has a mark of its issuer, and then what is random.
"""

KEY_HINTS = (
    Hint("sk-", r"sk-", "sk", OPENAI, first=True),
    Hint("-----BEGIN ", r"-----BEGIN ", "block", PRIVATE, first=True),
    Hint("---- BEGIN ", r"---- BEGIN ", "block", PRIVATE, first=True),
    Hint("AIza", r"AIza", "google", API, first=True),
    Hint("AKIA", r"AKIA", "amazon", API, first=True),
    Hint("ASIA", r"ASIA", "amazon", API, first=True),
    *(Hint(f"gh{kind}_", f"gh{kind}_", "github", API, first=True) for kind in "pousr"),
    Hint("github_pat_", r"github_pat_", "github", API, first=True),
    Hint("xox", r"xox", "slack", API, first=True),
    *(Hint(begin, re.escape(begin), begin, API, first=True) for begin in ISSUED),
)
"""Keys that must never be stored."""

HINTS = (
    *KEY_HINTS,
    Hint("eyJ", r"eyJ", "jwt", JWT, first=True),
    Hint("[MASKED:", MASKED, "keep", KEEP),
    Hint("authorization", r"authorization" + _SEPARATOR, "authorization", AUTH, lower=True),
    Hint("cookie", r"cookie" + _SEPARATOR, "cookie", SET_COOKIE, lower=True),
    Hint("bearer", r"bearer" + _BEHIND_BEARER, "bearer", BEARER, lower=True),
    Hint("://", r"://(?:\[masked:[a-z_]+\]|[^\s/?#\"'<>@:\[\]\\`]){0,256}:" + _PASSWORD, "url", URL, lower=True),
    Hint("pass", r"pass(?:word|wd|phrase|code)?" + _AFTER, "password", JSON, lower=True),
    Hint("pwd", r"pwd" + _AFTER, "folder", JSON, lower=True),
    Hint("secret", r"secret" + _AFTER, "secret", JSON, lower=True),
    Hint("token", r"token" + _AFTER, "token", JSON, lower=True),
    Hint("key", r"key" + _AFTER, "key", JSON, lower=True),
    Hint("credential", r"credentials?" + _AFTER, "credential", JSON, lower=True),
)

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
    r"|scram-sha-(?:1|256)|aws4-hmac-sha256))(?:[ \t]{1,8}|%20)"
)
"""The word before credentials in an Authorization header; the group: parameters follow, not one word."""

WORD = r"[A-Za-z]{2,8}"
_SEGMENT = rf"(?:\.?(?:[a-z0-9_@+-]|{MASKED})(?:[a-z0-9_.@+-]|{MASKED}){{0,63}}|[A-Z](?:[a-z]|{MASKED}){{1,30}})"
PATH = rf"(?:~|\.{{1,2}})?(?:/{_SEGMENT}){{1,32}}/?|[A-Za-z]:(?:[/\\]{_SEGMENT}){{1,32}}[/\\]?"
FOLDER = r"[/~.$`%]|[A-Za-z]:[/\\]"
_CALL = rf"(?:[A-Za-z_]|{MASKED})(?:[\w.]|{MASKED}){{0,39}}\("
OPENING = rf"(?:\[?{_CALL}|\[)?[bBrRuUfF]{{0,2}}\\{{0,7}}"
OPENER = rf"(?:\[?{_CALL}|\[)?[bBrRuUfF]{{0,2}}(\\{{0,7}})(\"\"\"|'''|[\"'`])"
ANNOTATION = r"[ \t]{0,16}[A-Za-z]{1,8}[ \t]{0,16}=(?!=)"
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


def harmless(value: str) -> bool:
    """Whether a value that stands where a secret could is none: nothing, a mark, a short bare word, a file path."""
    if len(value) > WINDOW:
        return False
    if len(value) <= PLAIN_LIMIT and not any(map(str.isalnum, value)):
        return True
    return bool(compiled(WORD).fullmatch(value) or compiled(PATH).fullmatch(value))


def lowered(text: str) -> str:
    """The text in lower case, of the same length."""
    return text.replace("\u0130", "i").lower()
