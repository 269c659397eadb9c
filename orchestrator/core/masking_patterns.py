"""What secrets look like: where one may begin, by which characters it goes on, and which values are harmless.

Every pattern is bounded or runs over one class of characters, so that none can backtrack; each is compiled when a text
first needs it. A hint begins with a literal, which a text is searched for before anything is compiled.
"""

from __future__ import annotations

import re

from orchestrator.core import masking_kinds as kinds
from orchestrator.core import masking_tables as tables
from orchestrator.core.masking_letters import compiled
from orchestrator.core.named_tuple import NamedTuple

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


_NUMBERED = r"(?:[_-]?\d{1,3}|_(?:prod|production|dev|test|staging|live|old|new|base|value)|-data)?"
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

_LABEL_SIGN = (
    r"[ \t\u3000]{0,4}(?:[(\uff08][^()\uff08\uff09\r\n:]{1,24}[)\uff09][ \t\u3000]{0,4})?"
    r"(?:[:=\uff1a\uff1d]|\u306f)[ \t\u3000]{0,4}[\"'`(\uff08\u300c\u300e\u3010]?(?=\S|\Z)"
)
_CONTENT = r"(?=[^<\s]|\Z)"
_ASIDE = r"\([^()\r\n:]{1,60}\)"
_LAST_WORD = r"(?=\S{7,200}+[ \t]{0,4}(?:[\r\n]|\Z)|\S{0,200}\Z)"
SHORTEST_SPOKEN = 20
_SPOKEN = (
    r"(?: (?:is|was|has|now|be|been|set|changed|to|value|equals|reads)){0,4}:?[ ][\"'`(]{0,2}"
    rf"(?=[a-z0-9+/_=~-]{{{SHORTEST_SPOKEN}}}|[a-z0-9+/_=~-]{{0,{SHORTEST_SPOKEN - 1}}}\Z)"
)
"""What stands between the name of a key and the key in a sentence."""
_CALLED_SO = r"[\w.:/@-]{0,60}(?:password|passwd|passphrase|secret|token|api_?key|access_?key|private_?key)"
_NAME_PART = _CALLED_SO + r"[\w-]{0,20}"
HOLDS_VALUE = (
    rf'"{_CALLED_SO}(?:_?\d{{1,3}})?"\s{{0,4}}:\s{{0,4}}\{{\s{{0,40}}'
    r'(?:"(?:sensitive|type)"\s{0,4}:[^,{}]{1,32},\s{0,40}){0,2}\Z'
)
"""What stands before the value of a variable or output of Terraform that is a secret by its name."""
IS_SENSITIVE = r'"\s{0,40},\s{0,40}(?:"type"\s{0,4}:[^,{}]{1,32},\s{0,40})?"sensitive"\s{0,4}:\s{0,4}true'
"""What stands behind the value of one that is a secret by what is said of it."""
OPTION_NAMES = (
    r"(?:[a-z]{1,16}-){0,3}(?:password|passwd|passphrase|pass|pwd?|token|secret|api-?key|secret-key|access-key|auth-key)"
)
_USER_BEFORE = r"[\w$#.]{1,40}/\"?(?=[^\s@\"]|\Z)"
_DATABASE_AND_USER = r"(?!\d)[^\s:]{1,64}:[^\s:]{1,64}:(?=\S|\Z)"
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
    "clave": r"clave(?<![a-z]clave)(?: (?:de )?(?:api|acceso)| secreta)?",
    "parola": r"parola(?<![a-z]parola)(?: d['\u2019]ordine)?",
    "jeton": r"jeton(?<![a-z]jeton)(?: d['\u2019]acc[eè]s)?",
    "ssel": r"ssel(?:(?<=schlüssel)|(?<=schluessel))",
}
"""How the words of other languages are spelt, where that is not as they begin."""
_BESIDE = r"(?<![a-z0-9])[a-z0-9](?=[a-z0-9_.-]{16}|[a-z0-9_.-]{0,15}\Z)"
"""Where a key without a mark may begin; it is no shorter."""
_SHARE = r"(?:[a-z]:|\*|\\\\\S{1,120}+|\"\\\\[^\"\r\n]{1,120}\"|/[a-z]\S{0,80}+)"

_PASS = ("passw", "passp")
"""With what `pass` goes on in all that hints need but `pass` itself."""
_WORDS = (*_PASS, "secret", "token", "key")

HINTS = (
    *KEY_HINTS,
    Hint("eyJ", r"eyJ", "jwt", kinds.JWT, first=True),
    Hint("[MASKED:", MASKED, "keep", kinds.KEEP),
    Hint("authorization", r"authorization" + _SIGN, "authorization", kinds.AUTH, lower=True),
    Hint("cookie", r"cookie" + _SIGN, "cookie", kinds.SET_COOKIE, lower=True),
    Hint("bearer", r"bearer" + _BEHIND_BEARER, "bearer", kinds.BEARER, lower=True),
    Hint(
        "bearer",
        r"bearer[ ]{0,2}[\"'`][ ]{0,4}(?:\+|\.{1,2}|&|<>|\|\|)[ ]{0,4}[\"'`](?=[^\s\"'`]|\Z)",
        "joined",
        kinds.BEARER,
        lower=True,
    ),
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
        needs=("pass", "secret", "token", "key", "pw"),
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
    Hint('-> "', r'-> "(?<=" -> ")', "changed", kinds.GENERIC),
    Hint(
        "password is",
        rf"password is(?: generated)?(?: for \S{{1,60}}(?<=:))?:?[ \t]{{1,4}}{_LAST_WORD}",
        "told",
        kinds.GENERIC,
        lower=True,
        needs=_PASS,
    ),
    Hint(
        "pass",
        rf"pass(?:word|phrase|code)(?: for [^\r\n:]{{1,80}}| {_ASIDE}):[ \t]{{1,4}}{_LAST_WORD}",
        "told",
        kinds.GENERIC,
        lower=True,
        needs=_PASS,
    ),
    *(Hint(name, name + _SPOKEN, "spoken", kinds.GENERIC, lower=True) for name in ("key", "token", "secret")),
    Hint("kind: secret", r"kind: secret(?=\s|\Z)", "manifest", kinds.GENERIC, lower=True, needs=("secret",)),
    Hint("data:", r"data:[ \t]{0,4}\r?\n(?=[ ])", "data", kinds.GENERIC, lower=True, needs=("secret",)),
    Hint(
        "enter ",
        rf"enter (?:[a-z]{{1,16}} ){{0,3}}pass(?:word|phrase|code)(?: for [^\r\n:]{{1,80}}| {_ASIDE})?:[ \t]{{1,4}}"
        r"(?=[^\s\"'`]|\Z)",
        "typed",
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
    Hint("jdbc:oracle:", r"jdbc:oracle:[a-z0-9]{2,8}:" + _USER_BEFORE, "logon", kinds.GENERIC, lower=True),
    *(
        Hint(name, rf"{name}(?:{_FLAG}){{0,4}}{_GAP}[\"']?{_USER_BEFORE}", "logon", kinds.GENERIC, lower=True)
        for name in ("sqlplus", "sqlldr", "expdp", "impdp")
    ),
    Hint(":5432:", r":5432:" + _DATABASE_AND_USER, "pgpass", kinds.GENERIC),
    Hint(":*:", r":\*:" + _DATABASE_AND_USER, "pgpass", kinds.GENERIC),
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
    Hint("ENV ", rf"ENV[ ](?i:{_NAME_PART})[ ]{{1,4}}(?=[^\s=-]|\Z)", "option", kinds.GENERIC, needs=_WORDS),
    Hint(
        "secret set",
        r"secret set[ ]\S{1,60}[ ]{1,4}--body(?:=|[ ]{1,4})(?=[^\s-]|\Z)",
        "option",
        kinds.GENERIC,
        lower=True,
        needs=("secret",),
    ),
    Hint("authtoken", rf"authtoken{_LAST_ARGUMENT}", "option", kinds.GENERIC, lower=True, needs=("token",)),
    Hint("<<", r"<<<[ \t]{0,4}(?=\S|\Z)", "fed", kinds.GENERIC),
    Hint("<<", r"<<(?<!<<<)-?[ \t]{0,4}[\"'\\]?\w{1,40}[\"']?[^\r\n]{0,200}\r?\n(?=.|\Z)", "fed", kinds.GENERIC),
    Hint("echo ", r"echo[ ](?:-[neE]{1,3}[ ])?(?=\S|\Z)", "piped", kinds.GENERIC),
    Hint("printf ", r"printf[ ](?=\S|\Z)", "piped", kinds.GENERIC),
    Hint("", _BESIDE, "beside", kinds.GENERIC, lower=True),
    Hint("pass", rf"pass(?:wor[dt]|wd|phrase|code|ord|{_PASSE})?" + _AFTER, "password", kinds.JSON, lower=True),
    Hint("pwd", r"pwd" + _AFTER, "folder", kinds.JSON, lower=True),
    Hint("pw", r"pw(?<![a-z0-9]pw)" + _AFTER, "short", kinds.JSON, lower=True),
    *(Hint(name, _SPELLINGS.get(name, name) + _AFTER, "named", kinds.JSON, lower=True) for name in tables.PASSWORDS),
    *(Hint(name, _SPELLINGS[name] + _AFTER, "mixed", kinds.JSON, lower=True) for name in tables.AMBIGUOUS),
    Hint('"auth"', r'"auth' + _AFTER, "mixed", kinds.JSON, lower=True),
    Hint("_auth", r"_auth(?<=[a-z0-9]_auth)" + _AFTER, "mixed", kinds.JSON, lower=True),
    Hint("dockerconfigjson", r"dockerconfigjson" + _AFTER, "mixed", kinds.JSON, lower=True),
    Hint(
        '"value"',
        r'"value"\s{0,4}:\s{0,4}"(?=[^"]|\Z)',
        "valued",
        kinds.JSON,
        lower=True,
        needs=(*_WORDS, '"sensitive"'),
    ),
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
    return text.lower() if text.isascii() else text.replace("\u0130", "i").lower()


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


LINE = 200
"""So much of a line tells whether an unquoted value is code or prose."""

_SECRET_WORDS = frozenset(
    (
        *("password", "passwords", "passwd", "passphrase", "passcode", "pwd", "pass", "secret", "secrets", "token"),
        *("tokens", "key", "keys", "apikey", "credential", "credentials", "creds", "auth", "authorization", "oauth"),
        *(
            "cookie",
            "cookies",
            "bearer",
            "jwt",
            "csrf",
            "xsrf",
            "otp",
            "placeholder",
            "redacted",
            "example",
            "changeme",
        ),
        *("passwort", "kennwort", "zugangsdaten", "schlüssel", "geheimnis", "passe", "contraseña", "clave", "senha"),
        *("wachtwoord", "lösenord", "adgangskode", "kodeord", "passord", "salasana", "parola", "heslo", "hasło"),
        *("jelszó", "şifre", "parolă", "lozinka", "geslo", "slaptažodis", "parool", "sandi", "khẩu", "jeton"),
        *("contrasenya", "pasahitza", "şifrə", "lykilorð", "parole", "wagwoord", "fjalëkalimi", "cyfrinair"),
    )
)
"""Words that name a secret, in English and as translations do; what holds one and no digit is a name or a label."""

_COMMON_WORDS = frozenset(
    (
        *("undefined", "optional", "disabled", "generated", "unchanged", "anonymous", "incorrect", "mismatch"),
        *("malformed", "unexpected", "forbidden", "unauthorized", "authenticated", "authentication", "configured"),
        *("unconfigured", "refreshed", "invalidated", "encrypted", "incomplete", "unavailable", "unsupported"),
        *(
            "validated",
            "identifier",
            "available",
            "sensitive",
            "protected",
            "confidential",
            "permission",
            "permissions",
        ),
        *("requirements", "description", "unspecified", "deprecated", "expiration", "validation", "verification"),
        *("plaintext", "cleartext", "forgotten", "wildcard", "operator", "punctuation", "whitespace", "identity"),
        *("erforderlich", "obligatoire", "obligatoria", "requerida", "requerido", "incorrecta", "verplicht"),
        *("automatic", "automatically", "interactive", "separately", "elsewhere", "lowercase", "uppercase"),
    )
)
"""Words of more than eight letters that settings, logs and parsers put where a secret could stand."""

CLAIM = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}:C[0-9]{1,12}(?:\.[0-9]{1,4})?"
"""The token of a claim, made of the session and the number of a step; harmless where its own name stands before it."""
CLAIM_NAME = r"claim[_ -]?"
_CLOSERS = r"[\"'`)}\].,;:!>]{0,6}"
_MEMBER = r"(?:(?:->|\.|::|\?\.)[A-Za-z_]\w{0,63}|\[[\"'\w$.@*-]{0,64}\]?)"
_NOTED = r"(?:(?:auto|pre|re|non)-)?[A-Za-z][a-z]{0,13}"
_NOTE = (
    rf"\((?:[A-Za-z]{{2,8}}|(?:auto|pre|re|non)-[a-z]{{2,12}}"
    rf"|(?:{_NOTED}|\d{{1,3}}\+?)(?:(?:[.,:;]?[ ]|/)(?:{_NOTED}|\d{{1,3}})){{1,8}})[.…]{{0,3}}\)"
)
"""What is said in brackets in the place of a secret, a bare word or prose: `(hidden)`, `(empty for none)`."""
_REFERENCES = (
    _NOTE,
    r"\$\{{1,2}[!#]?[ ]?[A-Za-z_][\w.\[\]\"'@*()-]{0,63}?(?::?[?+][^}]{0,99}|:?-)?[ ]?",
    rf"\$(?:[A-Z_][A-Z0-9_]{{0,63}}|[a-z_]{{1,40}}|[a-z]{{1,20}}(?:[A-Z][a-z]{{1,20}}){{1,4}}){_MEMBER}{{0,6}}(?:\([^\n]{{0,99}})?",
    r"\$env:[A-Za-z_]\w{0,63}",
    r"\$(?:\d{1,2}|[@*#?]|[A-Z][a-z]{2,20}(?:[A-Z][a-z]{1,20}){0,4})",
    r"%(?:\d|\*|~\d)",
    r"(?:sk|ghp|gho|ghs|hf|npm|xox[bp]|glpat|AIza|AKIA)[-_]?(?:ant-|proj-|live_|test_)?(?:[.…]{1,64}|[xX*]{3,64})?",
    r"\$\{?\(.{0,200}",
    r"(?:file:)?<\(.{0,200}",
    r"%\{?[A-Za-z_][\w.:-]{0,63}[%}]",
    r"%\([A-Za-z_]\w{0,63}\)[a-z]",
    r"%[+#.]?\d{0,3}[a-zA-Z]",
    r"\{{1,3}[-&!#%]?[ ]?(?:[A-Za-z_][A-Za-z_.!:\[\]()\"'|@ -]{0,80})?\d{0,2}[ ]?",
    r"\{\{.{0,160}",
    r"\$[A-Za-z_]\w{0,63}\{[\"']?\w{1,63}[\"']?",
    r"\s{1,4}[+|%&]\s{1,4}[A-Za-z_(].{0,99}",
    r"(?:cat|echo|pass|gpg|aws|vault|gh|op|head|openssl|security|gcloud|az|kubectl|printf|bw)"
    r"(?: [\w$./~:=-]{1,80}){1,8}",
    r"<{1,2}[%=/|]?[ ]?[A-Za-z_][A-Za-z_ .:|'/@()-]{0,60}[ %]?",
    r"\[\[?[ ]?[A-Za-z][A-Za-z_ -]{1,40}[ ]?\]?",
    r"[\[(][yY]/[nN]",
    r"#\{[^}\n]{0,99}",
    r"@{1,2}[A-Za-z_]{2,40}",
    r"@[A-Za-z_][A-Za-z_.]{1,60}@",
    r"#[0-9a-fA-F]{6}",
    r":[a-z_]{2,40}",
    r"[*•●xX.…_?#]{3,64}",
    r"!(?:Ref|Sub|GetAtt|env|secret|vault|ENV)\b.{0,99}",
    r"(?:env|file|vault|op|ssm|arn|awssm|secretsmanager|azurekv|keyring|keychain|ref|id|type)[:=+]/{0,3}[A-Za-z_/.][\w./:@,=$-]{0,199}",
    r"(?i:(?:your|my|the|some|insert|replace|change|example|dummy|sample)[-_ ][a-z]{1,20}(?:[-_ ][a-z]{1,20}){0,5})",
    r"(?:\.{0,2}/)?[A-Za-z0-9_.@-]{1,64}(?:/[A-Za-z0-9_.@-]{1,64}){0,8}\.(?:pem|key|txt|json|ya?ml|toml|py|js|ts|crt|cer|env|cfg"
    r"|ini|conf|enc|gpg|age|p12|pfx|jks|md|html|sql|go|rs|java|rb|sh|asc|pub|properties)(?::\d{1,6})?",
    r"[a-z_]{2,32}(?:/[a-z_]{2,32}){2,8}",
    r"[(<\[]?(?i:not|none|no|nothing|never|still|left|to be|is|was|same as)(?:[ _-][a-z]{2,14}){1,4}",
    r"[(<\[]?(?i:n/a|n\.a\.?)",
    r"[(<\[](?i:not|none|no|un[a-z]{2,12}|never|nothing)",
)
_PLACEHOLDER = (
    r"(?:\$?\{(?:(?:await )?[A-Za-z_]{1,40}\d{0,2}(?:[.\[(][^{}\r\n]{0,60})?(?:![rsa])?(?::[^{}\r\n]{0,10})?)?\}"
    r"|%(?:\([A-Za-z_]{1,40}\))?[-+#0]?\d{0,2}[sdrfxi]|<[A-Za-z_][A-Za-z_ -]{1,24}>)"
)
_MADE = rf"(?:[\s:/_.,;|+@-]{{0,4}}{_PLACEHOLDER}){{1,8}}[\s:/_.,;|+@-]{{0,4}}"
"""A text that is put together when the program runs: `{prefix}-{suffix1}`, `%s%d`."""
_REFERENCE = "(?:" + "|".join((*_REFERENCES, _MADE)) + ")" + _CLOSERS
_NAME = r"[^\W\d_]{1,32}(?:[_.\-/: '\u2019|]{1,3}[^\W\d_]{1,32}){0,11}"
_HUMP = r"[A-Z]?[^\W\dA-Z_]+|[A-Z]+(?![a-z])"
_LETTERS_A_WORD = 3
_MASKED_WORD = "maskedvalue"
_SPEECH = (
    r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*[ ]?[.,:;!?…]{0,3}(?: [^\W\d_]+(?:['\u2019-][^\W\d_]+)*[ ]?[.,:;!?…]{0,3}){1,30}"
)
_OTHER_SCRIPT = r"[\u0370-\u1cff\u2e80-\ud7ff\uf900-\ufaff\uff10-\uffdc]"
_RANDOM_PART = r"(?=[!-~]{0,40}[0-9])(?=[!-~]{0,40}[A-Za-z])[!-~]{6}"
_PATTERN = (
    r"(?:\^?[^\s]{0,60}\[\^?(?:[A-Za-z0-9]-[A-Za-z0-9]|\\[wds])[^\s]{0,120}"
    r"|[a-z_]{2,24}(?:\|[a-z_]{2,24}(?::[a-z_0-9,]{1,24})?){1,12})"
)

_ROOTS = (
    "self|this|cls|super|base|os|sys|process|env|environ|config|configuration|cfg|conf|var|vars|local|locals|data|module"
    "|args|argv|options|opts|params|props|state|request|req|res|resp|response|ctx|context|settings|secrets|user|users"
    "|app|event|body|headers|session|credentials|client|server|account|input|output|each|values|node|parser|lexer|form"
    "|result|item|row|db|store|import|window|document|global|globalThis|crypto|uuid|random|string|std|http|fmt|json|core"
)
_PART = r"[A-Za-z_][A-Za-z_]{0,40}\d{0,3}"
_CHAIN = rf"{_PART}(?:(?:\.|->|::|\?\.|!\.){_PART}){{0,8}}"
_LEAD = r"[&*!(]{0,3}(?:(?:new|await|yield|not|typeof|async|lambda|mut|ref|function|fn|func|def|class|static)[ ]{1,2})?"
_CALLED = r"[A-Za-z_]\w{0,40}(?:(?:\.|->|::|\?\.)[A-Za-z_]\w{0,40}){0,8}!?"
_CODES = (
    rf"{_LEAD}{_CALLED}\((?:[^\n]{{0,{LINE}}}\)(?![A-Za-z0-9])|[ ]{{0,8}}\\?\Z|[^\n]{{0,{LINE}}}[,({{[]\s{{0,8}}\Z)",
    rf"{_LEAD}{_CHAIN}\??\[[^\]\n]{{0,80}}\](?![A-Za-z0-9])",
    rf"{_LEAD}(?:{_ROOTS})(?:(?:\.|->|::|\?\.|!\.){_PART}){{1,8}}(?![A-Za-z0-9])",
    rf"{_LEAD}{_PART}(?:->|::|\?\.){_CHAIN}(?![A-Za-z0-9])",
    r"[&*]{0,2}(?:'[a-z]+ )?[A-Z]\w{0,40}<[\w<>:, &'?|\[\].]{0,80}>",
    r"[&*]{1,2}(?:mut )?[A-Za-z_]{1,40}\d?(?:(?:\.|::)[A-Za-z_]{2,40}){0,4}(?=[\s,;)=]|\Z)",
    r"(?:u?int|float|Uint|Int|Float|Big[A-Z]int)\d{1,3}(?:_t|Array)?(?![A-Za-z0-9])",
    r"(?:Read|Get|New|ConvertTo|ConvertFrom|Import)-[A-Z][A-Za-z]{2,30}(?!\w)",
    r"\*?\[\][A-Za-z_.]{2,40}(?![A-Za-z0-9])",
    r"[a-z0-9_]{2,24}\.[A-Z][A-Za-z0-9]{0,40}(?:Key|Token|Secret|Password|Credentials?)(?!\w)",
    r"[A-Za-z_]{1,40}(?:\.[A-Za-z_]{1,40}){0,4}\._?[a-z_]{0,24}(?:key|token|secret|passw(?:or)?d|credentials?)(?![\w.@])",
    _NOTE + r"(?![A-Za-z0-9])",
    r"&?(?:[a-z][a-z0-9]{1,20}\.[A-Z][A-Za-z]{1,40}|[A-Z][a-z]{2,20}[A-Za-z]{0,30})\{(?:\}|[A-Za-z]{1,40}:)",
    r"\((?:[A-Za-z_][A-Za-z_.]{0,40}|\d{1,3}), ?[^)\n]{0,80}\)",
    r"[A-Za-z]{2,24}\?(?=[\s,;)=]|\Z)",
    r"[A-Za-z.]{2,40}(?:[ ]?\|[ ]?[A-Za-z.]{2,40}){1,5}(?=[\s,;)=\]}]|\Z)",
    r"(?:\([^()\n]{0,80}\)|[A-Za-z_]{1,40})[ ]?(?:=>|->)[ ]?\S",
)
_CODE = "(?:" + "|".join(_CODES) + ")"
_CODE_SIGN = r"[^\w\s,;'\"$%/@#=]|[Ii]nt|[Ff]loat"
"""One of these is in every expression and type."""
_VARIABLE = (
    r"!?_{0,2}(?:[A-Za-z]{2,30}\d{0,2}|[A-Za-z](?=_))"
    r"(?:(?:_{1,2}|\.|->|::)[A-Za-z]{1,30}\d{0,2}|_\d{1,3}){0,8}(?=[\s(\[):;,{&|\]]|\Z)"
)
_WORD_AND_DIGITS = r"[A-Za-z]+[0-9]+"
_SMALL_NUMBER = r"\d{1,3}(?=[\s):;,{&|\]]|\Z)"
_TYPE = (
    r"(?:(?:[a-z_]{2,24}\.)?[A-Z][A-Za-z]{2,30}\)|(?:[a-z]{1,10}\.)?(?:Optional|Union|List|Dict|Sequence|Mapping|Iterable"
    r"|Final|ClassVar|Annotated|Literal)\[|(?:str|bytes|int|bool|dict|list|None)(?: ?\| ?[\w.\[\]]{2,40}){1,4}"
    r"(?=[\s,)=]|\Z))"
)
_PARSED = (
    r"(?:(?:\A|[^a-z_])re\.[a-z]{2,12}|\.(?:encode|decode|[lr]?strip|split|replace|join|startswith|endswith|format"
    r"|remove(?:prefix|suffix)|r?find|index|push))\([bru]{0,2}f?\Z"
)
_ASKING = (
    r"(?:getpass|input|prompt|ask|askpass|question|readline|read_?password|password_input|secret_input)\(\[?[bru]?f?\Z"
)
_READING = r"(?:env|get[a-z_]{0,24}|fetch|lookup|read[a-z_]{0,16})\(\[?\Z"
_KEY_NAME = r"[A-Za-z][A-Za-z0-9_.-]{0,63}"
_PROSE = r"(?:[Aa]|[A-Za-z][a-z]{1,20})[,.]?[ ](?:[a-z]{1,20}|['\"`(<{$]|[a-z]+['\u2019]s)(?![A-Za-z0-9_@=:-])"


def harmless(value: str) -> bool:
    """Whether a value is none: nothing, a mark, a short bare word, a file path, a reference, the name of a secret."""
    if len(value) > WINDOW:
        return False
    if value.isalnum():
        if value.isascii() and not value.isalpha():
            return False
    elif len(value) <= PLAIN_LIMIT and not any(map(str.isalnum, value)):
        return True
    if compiled(WORD).fullmatch(value) or compiled(PATH).fullmatch(value):
        return True
    if "[MASKED:" in value:  # a key that is masked stays a word of the label that it was one of
        value = compiled(MASKED).sub(_MASKED_WORD, value)
    # Every reference has a sign, but for a row of crosses.
    signed = not value.isalnum() or not value.strip("xX")
    return (signed and bool(compiled(_REFERENCE).fullmatch(value))) or is_label(value)


def is_label(value: str) -> bool:
    """Whether a value says what a secret is called, or what to do with one: `DB_PASSWORD`, `Mot de passe`."""
    value = value.lstrip("_")
    if value.isascii() and compiled("[0-9]").search(value):
        return False
    value = value.strip(" \t*,;()[]")
    if value.lower() in _COMMON_WORDS:
        return True
    if compiled(_OTHER_SCRIPT).search(value):
        return not compiled(_RANDOM_PART).search(value)
    speech = compiled(_SPEECH).fullmatch(value)
    if not speech and not compiled(_NAME + r"[ ]?[.…!?:*]{0,3}").fullmatch(value):
        return False
    if speech and value[0].isupper() and value[-1] in ".?!…:":
        return True
    words = compiled(_HUMP).findall(value)
    if len("".join(words)) < _LETTERS_A_WORD * len(words):
        return False
    return any(word.lower() in _SECRET_WORDS for word in words)


def is_pattern(value: str) -> bool:
    """Whether a value is a regular expression, or a list of what a form checks: `required|min:8`."""
    return ("[" in value or "|" in value) and bool(compiled(_PATTERN).fullmatch(value))


def is_code(rest: str) -> bool:
    """Whether an unquoted value is an expression or a type.

    Args:
        rest: the line from the value on, at most `LINE` characters of it.
    """
    return bool(compiled(_CODE_SIGN).search(rest) and compiled(_CODE).match(rest))


def is_name(rest: str) -> bool:
    """Whether what stands behind an equals sign of code is a name: anything else there is in quotes."""
    return bool(compiled(_VARIABLE).match(rest))


def is_variable(rest: str) -> bool:
    """Whether what stands where code assigns or compares is a variable, which has words for a name.

    Args:
        rest: the line from the value on.
    """
    found = compiled(_VARIABLE).match(rest)
    # One word with a digit behind it, and nothing else of code around it, may as well be a password.
    return found is not None and (not compiled(_WORD_AND_DIGITS).fullmatch(found[0]) or rest[found.end() :][:1] > " ")


def is_type(rest: str) -> bool:
    """Whether a type stands there: `Optional[str]`, `str | None`, `Cookie)`."""
    return bool(compiled(_TYPE).match(rest))


def is_small(rest: str) -> bool:
    """Whether a number of up to three digits stands there."""
    return bool(compiled(_SMALL_NUMBER).match(rest))


def asks(call: str) -> bool:
    """Whether a call asks somebody for a secret, or takes one apart, so that the text in it is none: `getpass("…`."""
    call = call.rstrip("\"'`\\").lower()
    return bool(compiled(_ASKING).search(call) or compiled(_PARSED).search(call))


def reads(call: str, name: str) -> bool:
    """Whether a call reads a secret by its name: `environ.get("API_KEY2`."""
    words = compiled(_HUMP).findall(name) if compiled(_KEY_NAME).fullmatch(name) else []
    return any(word.lower() in _SECRET_WORDS for word in words) and bool(
        compiled(_READING).search(call.rstrip("\"'`\\").lower())
    )


def is_prose(rest: str) -> bool:
    """Whether an unquoted value is a word of a sentence: a word, and another one behind it."""
    return bool(compiled(_PROSE).match(rest))
