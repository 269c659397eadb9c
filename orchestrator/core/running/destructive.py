"""Whether a text names a destructive operation, or a file that only a person may have touched; words: `vocabulary`.

What destroys is a verb together with what it destroys: a disk is formatted and so is code, a table is dropped and so is
a shadow. A thing that is named is the object only where its phrase ends with it, so that "delete the database" is meant
and "delete the database comment" is not.

Source: seed 000, INV-2.
"""

from __future__ import annotations

import re
import unicodedata

from orchestrator.core.running import vocabulary

_DESTRUCTIVE = re.compile(
    rf"(?<![\w.-])(?:{'|'.join(vocabulary.DESTRUCTIVE_COMMANDS)})(?![\w-])"
    rf"|(?<![\w.-])(?:{'|'.join(vocabulary.DESTRUCTIVE_PHRASES)})|{'|'.join(vocabulary.DESTRUCTIVE_JA)}",
    re.IGNORECASE,
)
_PRECIOUS = re.compile(vocabulary.PRECIOUS, re.IGNORECASE | re.ASCII)
# Whether a branch is deleted by force is a matter of case.
_BRANCH = re.compile(rf"(?<![\w.-]){vocabulary.GIT}branch\s+(?:\S+\s+){{0,3}}?-[a-zA-Z]*D")


def plain(text: str) -> str:
    """Full-width letters made plain and runs of whitespace one space, so that they hide nothing."""
    return " ".join(unicodedata.normalize("NFKC", text).split())


def is_destructive(text: str) -> bool:
    """Whether a text names a destructive operation, or a file or path that only a person may have touched."""
    # A line's end ends a phrase, and is a mere blank within a command.
    forms = dict.fromkeys((plain(text), plain(" ; ".join(text.splitlines()))))
    return any(pattern.search(form) for form in forms for pattern in (_DESTRUCTIVE, _PRECIOUS, _BRANCH))
