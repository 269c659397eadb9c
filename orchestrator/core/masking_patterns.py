"""What secrets look like: where one may begin, by which characters it goes on, and which values are harmless.

Every pattern is bounded or runs over one class of characters, so that none can backtrack; each is compiled when a text
first needs it. A hint begins with a literal, which a text is searched for before anything is compiled.
"""

from __future__ import annotations

import re

from orchestrator.core import masking_kinds as kinds
from orchestrator.core import masking_tables as tables
from orchestrator.core.masking_letters import compiled
from orchestrator.core.tuples import NamedTuple

TOKENS = tuple(token for token, _ in kinds.ROWS)
"""What stands in for each row; nothing for what is masked already."""

MASKED = r"\[MASKED:(?:" + "|".join(sorted({token[8:-1] for token in TOKENS if token})) + r")\]"


class Hint(NamedTuple):
    """A place where a secret may follow: its literal, the pattern that finds it, and who looks closer.

    ``lower``: the literal is looked for in the text in lower case. ``first``: the secret begins with the literal
    itself, so that a beginning of it at the end of a piece is held back. ``row``: the first row that it may be of.
    ``long``: it is looked for only where many characters of a key follow each other. ``marked``: the pattern finds
    where the mark of an issuer ends. ``needs``: in lower case the text has to hold one of these as well.
    """

    literal: str
    pattern: str
    head: str
    row: int
    lower: bool = False
    first: bool = False
    long: bool = False
    marked: bool = False
    needs: tuple[str, ...] = ()


_NUMBERED = r"(?:[_-]?\d{1,3}|_(?:prod|production|dev|test|staging|live|old|new|base|value))?"
_VALUE = r"\\{0,7}[\"']\s{1,8}(?:value|content)\s{0,2}="
_ELEMENT = r"(?:[\"']|[ \t]{1,8}[\w:.-]{1,64}+[ \t]{0,4}=[^<>\r\n]{1,80}+)?>(?=[^<\s]|<!\[cdata\[)"
_SIGN = r"(?:\\{0,7}[\"'`]\]?\s{0,64}|\*{0,3}[ \t]{0,16})(?::=|=>|={1,3}|:(?!:)|\uff1a|\uff1d)"
_SEPARATOR = rf"(?:{_SIGN}|{_VALUE}|{_ELEMENT})"
_NEXT = r"(?=[\d_*\\\"'`:=>\uff1a\uff1d-]|[ \t]{1,16}+(?:[:=\uff1a\uff1d]|[\w:.-]{1,64}+[ \t]{0,4}=))"
"""What must stand right behind a name; most words that hold one are done with here."""
_AFTER = _NEXT + _NUMBERED + _SEPARATOR + r"(?!\s?\"(?:[A-Za-z]{2,8})?\"[,}\]\r\n])"
_BEHIND_BEARER = rf"(?:[ \t]{{1,8}}|%20|{_SIGN}[ \t]{{0,8}})\\{{0,7}}[\"'`]?"
_PLACE = r"[^\s/?#\"'<>\\`@]"
_INSIDE = r"[\w$%^*~@!#?-]"
URL_RUN = rf"(?:[^\s\"'`<>\\:]{{1,1024}}+|:(?!//)|[\"'`>](?={_INSIDE}|\Z)|<(?![/A-Za-z!])|\\(?![\"'`])){{0,128}}+"
"""What a URL may go on with; what ends a string or an element around it ends it too."""
_USERINFO = URL_RUN.replace(r"\\:]", r"\\:@]", 1) + r"(?:@|\Z)"

_MARKED = r"[A-Za-z0-9_+/=.-]"
_BEHIND_MARK = rf"(?=[A-Za-z0-9](?:{_MARKED}{{11}}|{_MARKED}{{0,10}}\Z)|\Z)"
_LITERAL_MARKS = tuple(mark for mark in tables.FORMS if mark[-1] not in tables.SIGNS)


def _mark_pattern(sign: str) -> str:
    """Where a mark may end that ends with this sign. A literal begins it, which is found much faster than a class."""
    ends = [mark[-3:-1] for mark in tables.FORMS if mark.endswith(sign)]
    before, last = ("".join(sorted({end[place] for end in ends})) for place in range(2))
    return rf"{re.escape(sign)}(?<=[{before}][{last}]{re.escape(sign)}){_BEHIND_MARK}"


KEY_HINTS = (
    Hint("sk-", r"sk-", "sk", kinds.OPENAI, first=True),
    Hint("-----BEGIN ", r"-----BEGIN ", "block", kinds.PRIVATE, first=True),
    Hint("---- BEGIN ", r"---- BEGIN ", "block", kinds.PRIVATE, first=True),
    Hint("Private-Lines: ", r"Private-Lines: (?:\d{0,5}\Z|\d{1,5}\r?(?:\n|\Z))", "putty", kinds.PRIVATE),
    Hint("AIza", r"AIza", "google", kinds.API, first=True),
    Hint("AKIA", r"AKIA", "amazon", kinds.API, first=True),
    Hint("ASIA", r"ASIA", "amazon", kinds.API, first=True),
    Hint("xox", r"xox", "slack", kinds.API, first=True),
    *(Hint(mark, re.escape(mark), "issued", kinds.API, long=True) for mark in _LITERAL_MARKS),
    *(Hint(sign, _mark_pattern(sign), "issued", kinds.API, long=True, marked=True) for sign in tables.SIGNS),
)
"""Keys that must never be stored."""

_LABEL_SIGN = r"[ \t\u3000]{0,4}(?:[:=\uff1a\uff1d]|\u306f)[ \t\u3000]{0,4}[\"'`\u300c]?(?=\S|\Z)"
_CONTENT = r"(?=[^<\s]|\Z)"
_LAST_WORD = r"(?=\S{7,200}+[ \t]{0,4}(?:[\r\n]|\Z)|\S{0,200}\Z)"
_NAME_PART = r"[\w.:/@-]{0,60}(?:password|passwd|passphrase|secret|token|api_?key|access_?key|private_?key)[\w-]{0,20}"
OPTION_NAMES = (
    r"(?:[a-z]{1,16}-){0,3}(?:password|passwd|passphrase|pass|pwd?|token|secret|api-?key|secret-key|access-key|auth-key)"
)
_LETTER = f"[{tables.OPTION_LETTERS}]"
_GAP = r"[ \t]{1,8}"
_ARGUMENT = rf"{_GAP}(?:\"[^\"\r\n]{{1,120}}\"|'[^'\r\n]{{1,120}}'|[^\s\"'|;&>-][^\s\"'|;&>]{{0,120}}+)"
_LAST_ARGUMENT = rf"{_GAP}(?=[^\s|;&>*/\\-]|\Z)"
_FLAG = rf"{_GAP}-[A-Za-z]{{1,10}}(?:{_GAP}\d{{1,3}}(?=[ \t]))?"
_FLAGS_WITH = rf"(?=(?:{_FLAG}){{0,5}}{_GAP}-[A-Za-z]{{0,8}}%s)"
_BATCH = (
    rf"(?:\.exe)?{_FLAGS_WITH % 'b'}(?:{_FLAGS_WITH % 'n'}(?:{_FLAG}){{1,6}}|(?:{_FLAG}){{1,6}}{_ARGUMENT})"
    rf"{_ARGUMENT}{_LAST_ARGUMENT}"
)
"""Behind a program that takes a password as its last argument where `-b` says so; before that a user, and a file."""
_PASSE = "e(?:(?<=mot[ _-]de[ _-]passe)|(?<=motdepasse))"
_SPELLINGS = {
    "contrase": r"contrase(?:ñ|n|ny)a",
    "senha": r"(?<!de)senha",
    "senord": r"senord(?<=l[öo]senord)",
    "jelsz": r"jelsz[óo]",
}
"""How the words of other languages are spelt, where that is not as they begin."""
_BESIDE = r"(?<![a-z0-9])[a-z0-9](?=[a-z0-9_.-]{16}|[a-z0-9_.-]{0,15}\Z)"
"""Where a key without a mark may begin; it is no shorter."""
_SHARE = r"(?:[a-z]:|\*|\\\\\S{1,120}+|\"\\\\[^\"\r\n]{1,120}\"|/[a-z]\S{0,80}+)"

_PASS = ("pass",)
_WORDS = ("pass", "secret", "token", "key")

HINTS = (
    *KEY_HINTS,
    Hint("eyJ", r"eyJ", "jwt", kinds.JWT, first=True),
    Hint("[MASKED:", MASKED, "keep", kinds.KEEP),
    Hint("authorization", r"authorization" + _SIGN, "authorization", kinds.AUTH, lower=True),
    Hint("cookie", r"cookie" + _SIGN, "cookie", kinds.SET_COOKIE, lower=True),
    Hint("bearer", r"bearer" + _BEHIND_BEARER, "bearer", kinds.BEARER, lower=True),
    Hint("://", rf"://(?={_USERINFO}|[^\s/?#\"'<>@:\[\]\\`]{{0,256}}:{_PLACE}{{1024}})", "url", kinds.URL),
    Hint("sig=", r"sig=(?<=[?&;]sig=)", "signature", kinds.GENERIC, lower=True),
    Hint("signature=", r"signature=(?<=[?&;-]signature=)", "signature", kinds.GENERIC, lower=True),
    Hint("_auth", r"_auth(?<![a-z0-9_-]_auth)[ \t]{0,4}=[ \t]{0,4}(?=\S|\Z)", "option", kinds.GENERIC, lower=True),
    Hint(
        "machine",
        r"machine\s{1,16}\S{1,100}\s{1,16}password\s{1,16}(?=\S|\Z)",
        "netrc",
        kinds.GENERIC,
        lower=True,
        needs=_PASS,
    ),
    Hint(
        "login",
        r"login\s{1,16}\S{1,100}\s{1,16}(?:account\s{1,16}\S{1,40}\s{1,16})?password\s{1,16}(?=\S|\Z)",
        "netrc",
        kinds.GENERIC,
        lower=True,
        needs=_PASS,
    ),
    Hint(
        "--",
        rf"--{OPTION_NAMES}(?:[ \t]{{1,8}}|(?<=-pw)=|[ \t]{{0,8}}\\\r?\n[ \t]{{0,40}})(?=[^\s-]|\Z)",
        "option",
        kinds.GENERIC,
        lower=True,
        needs=(*_WORDS, "pw"),
    ),
    Hint(
        " -",
        r" -(?:(?:store|key|(?:src|dest)(?:store|key))?pass(?:word|phrase|wd)?"
        r"|pw(?![ \t]{1,8}[\d.]{1,15}(?:[\s;|&)]|\Z)))[ \t]{1,8}(?=[^\s-]|\Z)",
        "option",
        kinds.GENERIC,
        lower=True,
        needs=("pass", "pw"),
    ),
    Hint(
        "<key>",
        rf"<key>{_NAME_PART}</key>\s{{0,40}}<string>{_CONTENT}",
        "listed",
        kinds.GENERIC,
        lower=True,
        needs=_WORDS,
    ),
    Hint(
        "variable",
        rf'variable\s{{1,4}}"{_NAME_PART}"\s{{0,4}}\{{[^{{}}]{{0,160}}?default\s{{0,12}}=\s{{0,4}}(?="|\Z)',
        "option",
        kinds.GENERIC,
        lower=True,
        needs=_WORDS,
    ),
    Hint("-> ", r'-> "(?<=" -> ")', "changed", kinds.GENERIC),
    Hint(
        "password is",
        rf"password is(?: generated)?(?: for \S{{1,60}}(?<=:))?:?[ \t]{{1,4}}{_LAST_WORD}",
        "told",
        kinds.GENERIC,
        lower=True,
        needs=_PASS,
    ),
    Hint(
        "config",
        rf"config(?:ure)?\s{{1,4}}set\s{{1,4}}{_NAME_PART}\s{{1,4}}(?=[^\s-]|\Z)",
        "option",
        kinds.GENERIC,
        lower=True,
        needs=_WORDS,
    ),
    Hint("--", r"--(?:proxy-)?user(?:=|[ \t]{1,8})(?=[^\s=-]|\Z)", "user", kinds.GENERIC, lower=True, needs=("user",)),
    Hint(" -", rf" -(?:{_LETTER}|[A-Za-z]{{1,4}}{_LETTER}[ \t])", "letter", kinds.COOKIE),
    Hint("--cookie", rf"--cookie(?:=|{_GAP})(?=[^\s=-]|\Z)", "jar", kinds.COOKIE, lower=True, needs=("cookie",)),
    *(Hint(name, name + _BATCH, "argument", kinds.GENERIC, needs=_PASS) for name in ("htpasswd", "mosquitto_passwd")),
    Hint(
        "net use",
        rf"net use(?:r{_ARGUMENT}|(?:{_GAP}{_SHARE}){{1,8}}){_LAST_ARGUMENT}",
        "argument",
        kinds.GENERIC,
        lower=True,
    ),
    Hint("identified by", r"identified by[ \t]{1,8}(?=[\"']|\Z)", "argument", kinds.GENERIC, lower=True),
    Hint(
        "password",
        r"password(?<=with password|pted password)[ \t]{1,8}(?=[\"']|\Z)",
        "argument",
        kinds.GENERIC,
        lower=True,
        needs=_PASS,
    ),
    Hint("wpa_passphrase", rf"wpa_passphrase{_ARGUMENT}{_LAST_ARGUMENT}", "argument", kinds.GENERIC, needs=_PASS),
    Hint("nmcli", rf"nmcli[^\r\n|;&]{{0,160}}?{_GAP}password{_LAST_ARGUMENT}", "argument", kinds.GENERIC, needs=_PASS),
    Hint("authtoken", rf"authtoken{_LAST_ARGUMENT}", "option", kinds.GENERIC, lower=True, needs=("token",)),
    Hint("<<", r"<<<[ \t]{0,4}(?=\S|\Z)", "fed", kinds.GENERIC),
    Hint("<<", r"<<(?<!<<<)-?[ \t]{0,4}[\"'\\]?\w{1,40}[\"']?[^\r\n]{0,200}\r?\n(?=.|\Z)", "fed", kinds.GENERIC),
    Hint("echo ", r"echo[ ](?:-[neE]{1,3}[ ])?(?=\S|\Z)", "piped", kinds.GENERIC),
    Hint("printf ", r"printf[ ](?=\S|\Z)", "piped", kinds.GENERIC),
    *(Hint(issuer, _BESIDE, "beside", kinds.GENERIC, lower=True) for issuer in tables.ISSUERS),
    Hint("pass", rf"pass(?:wor[dt]|wd|phrase|code|ord|{_PASSE})?" + _AFTER, "password", kinds.JSON, lower=True),
    Hint("pwd", r"pwd" + _AFTER, "folder", kinds.JSON, lower=True),
    Hint("pw", r"pw(?<![a-z0-9]pw)" + _AFTER, "short", kinds.JSON, lower=True),
    *(Hint(name, _SPELLINGS.get(name, name) + _AFTER, "named", kinds.JSON, lower=True) for name in tables.PASSWORDS),
    Hint("secret", r"secret" + _AFTER, "secret", kinds.JSON, lower=True),
    Hint("token", r"token" + _AFTER, "token", kinds.JSON, lower=True),
    Hint("key", r"key" + _AFTER, "key", kinds.JSON, lower=True),
    Hint("credential", r"credentials?" + _AFTER, "credential", kinds.JSON, lower=True),
    *(Hint(label, label + _LABEL_SIGN, "label", kinds.GENERIC) for label in tables.LABELS),
)
BEGINS = (
    *(hint.literal[:-1] for hint in HINTS if hint.first),
    *(mark for mark in tables.FORMS if not mark.endswith(tables.BEHIND)),
)
"""What keys begin with, where a whole one may be cut; of hints without the last character."""

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
WINDOW = 256
"""How much of a value is looked at to tell whether it is harmless; what is longer is not."""
PLAIN_LIMIT = 3
"""Up to so many marks without a letter or digit open a structure, and are no value."""


def lowered(text: str) -> str:
    """The text in lower case, of the same length."""
    return text.replace("\u0130", "i").lower()


_ENDING = 3
_BY_ENDING: dict[str, list[str]] = {}
for _mark in sorted((mark for mark in tables.FORMS if mark[-1] in tables.SIGNS), key=len, reverse=True):
    _BY_ENDING.setdefault(_mark[-_ENDING:], []).append(_mark)
_LONGER = {
    mark: longer
    for mark in tables.FORMS
    if (longer := tuple(other for other in tables.FORMS if other != mark and other.startswith(mark)))
}
"""Marks that begin with a mark."""


def mark_before(text: str, end: int, least: int) -> re.Match[str] | None:
    """The longest mark of an issuer that ends at a place and begins no earlier than another."""
    for mark in _BY_ENDING.get(text[end - _ENDING : end], ()):
        at = end - len(mark)
        if at >= least and text.startswith(mark, at) and not text.startswith(_LONGER.get(mark, ()), at):
            return compiled(re.escape(mark)).match(text, at)
    return None
