"""Ids and names: what may be one, how it is folded, and what was probably meant.

Ids are compared byte for byte, so nothing about them is repaired. Names of roles and statuses come from agents'
texts, so surrounding whitespace and ASCII case are forgiven and nothing else: a look-alike letter is another name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from orchestrator import errors

ID_LENGTH = 128
AGENT_ID_LENGTH = 300
ID_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")
AGENT_ID_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:@-]{0,299}")

OWN_FOLDER = ".orchestrator"
"""The folder that holds what the product keeps in a project: its database, backups, evidence and logs."""
IGNORE_FILE, IGNORE_ALL = ".gitignore", b"*\n"
"""What git is told in it: a checkout, a reset or a stash must never move what lies there."""

SHORT_ROLES = {
    "pm": "project_manager",
    "tl": "tech_lead",
    "sse": "senior_software_engineer",
    "qa": "qa_expert",
    "dev": "developer",
    "re": "requirements_engineer",
}

SECURITY_WORDS = frozenset(
    "auth oauth oidc saml sso mfa 2fa totp jwt csrf xss login password passwd passphrase passkey credential secret "
    "security payment authentication authenticate authorization authorisation authorize authorise encryption encrypt "
    "decryption decrypt cryptography crypto permission vulnerability vulnerabilities".split()
)

_UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_TO_LOWER = str.maketrans(_UPPER, _UPPER.lower())
_TO_UPPER = str.maketrans(_UPPER.lower(), _UPPER)
# Patterns that only errors and warnings need stay text: compiling them would cost every call its start.
_NOT_ID = r"[^A-Za-z0-9_.-]"
_NOT_AGENT_ID = r"[^A-Za-z0-9_.:@-]"
_SURROGATE = "[\ud800-\udfff]"
_WORD = r"[^\W_]+"
_CAMEL_PART = r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+"
_NAME_START = r"[^a-z0-9]*([a-z0-9_]+)"
_UNSEEN_KINDS = ("Cc", "Cf", "Cs", "Zs", "Zl", "Zp")
_UNSEEN = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0" + "".join(map(chr, range(0xFE00, 0xFE10)))
"""Characters that are neither space nor control, and that nobody sees all the same: fillers, joiners, variations."""
_BETWEEN_WORDS = "[ _-]+"
_NO_NAME = r"[^\w -]"
_LONGEST_WITH_DIGITS = 20
"""A longer text with digits may be a key, and is not taken for a name."""

_NEGATIONS = ("not", "never", "un", "dis")
_LONGEST_NEAR_MISS = 100


def shown(value: object, length: int = 60) -> str:
    """A value as a message may show it: quoted, ASCII only, at most about ``length`` characters."""
    try:
        text = ascii(value[: length + 1] if isinstance(value, str) else value)
    except ValueError:
        # An integer of thousands of digits has no text in Python.
        text = f"<{type(value).__name__}>"
    return text if len(text) <= length else text[: length - 4] + "...'"


def word(text: str) -> str:
    """A text as one word of a command that is printed on one line: it can be copied into a shell as it stands.

    What cannot be shown, such as a line's end, is spelt as $'...' has it.
    """
    import shlex

    if text.isprintable():
        return shlex.quote(text)
    return "$'" + "".join(map(_spelt, text)) + "'"


def _spelt(letter: str) -> str:
    if letter in "'\\":
        return f"\\{letter}"
    if letter.isprintable():
        return letter
    return "".join(f"\\x{byte:02x}" for byte in letter.encode("utf-8", "surrogateescape"))


def check_id(kind: str, value: object) -> str:
    """Return a session, group, task or criterion id unchanged, or say what is wrong with it.

    Args:
        kind: what the id names, for the sentence ("session", "group", ...).
        value: the id as it was given.

    Raises:
        errors.UsageError: INVALID_ID; data ``kind``, ``value``.
    """
    if isinstance(value, str) and ID_PATTERN.fullmatch(value):
        return value
    raise _invalid_id(kind, value, _id_fault(value, ID_LENGTH, _NOT_ID), "_ . -", ID_LENGTH)


def check_agent_id(value: object, kind: str = "agent") -> str:
    """Return an agent id unchanged; besides the characters of other ids it may hold ``:`` and ``@``.

    Raises:
        errors.UsageError: INVALID_ID; data ``kind``, ``value``.
    """
    if isinstance(value, str) and AGENT_ID_PATTERN.fullmatch(value):
        return value
    raise _invalid_id(kind, value, _id_fault(value, AGENT_ID_LENGTH, _NOT_AGENT_ID), "_ . - : @", AGENT_ID_LENGTH)


def _id_fault(value: object, limit: int, foreign: str) -> str:
    if not isinstance(value, str):
        return f"is not text but {type(value).__name__}"
    if not value:
        return "is empty"
    if len(value) > limit:
        return f"has {len(value)} characters; {limit} are allowed"
    found = re.search(foreign, value)
    if found:
        return f"has {shown(found.group())} (U+{ord(found.group()):04X}) at character {found.start() + 1}"
    return f"begins with {shown(value[0])}"


def _invalid_id(kind: str, value: object, fault: str, marks: str, limit: int) -> errors.UsageError:
    return errors.UsageError(
        "INVALID_ID",
        f"The {kind} id {shown(value)} {fault}.",
        f"Use 1 to {limit} of A-Z a-z 0-9 {marks}, with a letter or digit first.",
        kind=kind,
        value=shown(value),
    )


def fold_name(raw: str) -> str:
    """Strip surrounding whitespace (CR and NBSP too) and lower the ASCII letters; all else stays as it is."""
    stripped = raw.strip()
    return stripped.lower() if stripped.isascii() else stripped.translate(_TO_LOWER)


def role_name(raw: str) -> str:
    """The role that a text names: hyphens and blanks as underscores, short names spelt out.

    Whether there is such a role is for the caller to see.
    """
    folded = _joined(fold_name(raw))
    return SHORT_ROLES.get(folded, folded)


def status_name(raw: str) -> str:
    """The status code that a text names: stripped, hyphens and blanks as underscores, ASCII letters raised."""
    stripped = _joined(raw.strip())
    return stripped.upper() if stripped.isascii() else stripped.translate(_TO_UPPER)


def state_name(raw: str) -> str:
    """The status of a group or task that a text names: hyphens and blanks as underscores, small letters."""
    return _joined(fold_name(raw))


def _joined(name: str) -> str:
    if name.isidentifier():
        return name
    # What has other marks in it is no name, and stays as it was written; so does what may be a key, which would not be
    # known for one any more.
    may_be_key = len(name) > _LONGEST_WITH_DIGITS and re.search(r"\d", name)
    if may_be_key or re.search(_NO_NAME, name):
        return name
    return re.sub(_BETWEEN_WORDS, "_", name)


def nearest(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate that was probably meant, or None.

    A negated word ("DISAPPROVED", "NOT APPROVED") never suggests its opposite: a caller that follows the
    suggestion would turn a refusal into an approval.
    """
    folded = fold_name(word)
    if not folded or len(folded) > _LONGEST_NEAR_MISS:
        return None
    known = {fold_name(candidate): candidate for candidate in candidates}
    if folded in known:
        return known[folded]
    if folded.startswith(_NEGATIONS):
        known = {name: candidate for name, candidate in known.items() if name.startswith(_NEGATIONS)}
    return _closest(folded, known)


def _closest(folded: str, known: dict[str, str]) -> str | None:
    # Loaded only when something went wrong: a good call must not pay for it.
    import difflib

    start = re.match(_NAME_START, folded)
    for attempt in (folded, start.group(1) if start else ""):
        found = difflib.get_close_matches(attempt, known, n=1)
        if found:
            return known[found[0]]
    return None


def text_problem(value: str) -> str | None:
    """What makes a text unfit to be stored, or None: NUL characters, and surrogates that UTF-8 cannot hold."""
    place = value.find("\0")
    if place >= 0:
        return f"contains a NUL character at character {place + 1}"
    if value.isascii():
        return None
    found = re.search(_SURROGATE, value)
    if found:
        return f"contains the lone surrogate U+{ord(found.group()):04X} at character {found.start() + 1}"
    return None


def said(text: str | None) -> str:
    """A text without whitespace around it; empty where there is nothing in it that can be seen.

    What is only spaces, controls, zero-width or other unseen characters says nothing, whoever asks for a reason.
    """
    found = (text or "").strip()
    if found.isascii() and found.isprintable():
        return found
    return found if any(map(_is_seen, found)) else ""


def _is_seen(letter: str) -> bool:
    # Loaded only for what is not plain: a good call must not pay for it.
    import unicodedata

    return unicodedata.category(letter) not in _UNSEEN_KINDS and letter not in _UNSEEN


def whole_words_security(name: str) -> str | None:
    """The first whole word of a group's name that speaks of security, as it is written there, or None.

    Words end at anything that is no letter or digit and inside camel case; a plural s and digits at the end are
    ignored. "OAuth2 login", "userAuth" and "payments" match, "Author page" and "Authentic recipes" do not.
    """
    for word in re.findall(_WORD, name):
        parts = re.findall(_CAMEL_PART, word) if word.isascii() else []
        for part in (word, *parts):
            if _speaks_of_security(part):
                return str(part)
    return None


def _speaks_of_security(word: str) -> bool:
    folded = fold_name(word)
    return any(form in SECURITY_WORDS for form in (folded, folded.rstrip("0123456789"), folded.removesuffix("s")))


def host_of(process: str) -> str:
    """The machine of a process that is named as `host:number:start`."""
    return process.rsplit(":", 2)[0]


def normal_path(path: str) -> str:
    """A path without `./` and doubled slashes, so that two spellings compare equal."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    return ("/" if path.startswith("/") else "") + "/".join(parts)
