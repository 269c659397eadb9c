"""Sentences that are told to callers elsewhere: what they say stays, where things lie on this machine does not."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping

from orchestrator.errors import OrchestratorError
from orchestrator.store import constants

_END = r"[^\s/'\"`,;()<>]"
_LAST = r"[^\s/'\"`,;()<>.:]"
_BELOW = rf"(?:/(?:{_END}+/)*{_END}*{_LAST})?"
"""What may follow on a path that is known: something below it."""
_QUOTED = re.compile(r"(?<=')(?:file:)?/[^'\n]+(?=')|(?<=\")(?:file:)?/[^\"\n]+(?=\")")
_PATH = re.compile(rf"(?<![\w/.:])(?:file:)?/+(?:{_END}+/)*{_END}*{_LAST}")
_NAMED = re.compile(r" \(named by [^)]*\)")


def places(problem: OrchestratorError, *more: str | None) -> list[str]:
    """Every absolute path that an error knows by itself, in its data, and the working folder.

    Args:
        more: paths that the caller knows of.
    """
    values = [each for value in problem.data.values() for each in (value if isinstance(value, list) else [value])]
    found = [each for each in (*values, *more) if isinstance(each, str) and each.startswith("/")]
    return [*found, *working_folder()]


def folders(known: Iterable[str]) -> list[str]:
    """The folders that hold these paths; of the product's own folder also the project that it lies in."""
    inner = [os.path.dirname(path) for path in known]
    outer = [os.path.dirname(folder) for folder in inner if os.path.basename(folder) == constants.FOLDER]
    return [folder for folder in (*inner, *outer) if len(folder) > 1]


def working_folder() -> list[str]:
    """The working folder, where there is one and it is not the root."""
    try:
        found = os.getcwd()
    except OSError:
        return []
    return [found] if len(found) > 1 else []


def without_places(text: str, known: Mapping[str, str], elsewhere: str | None) -> str:
    """A sentence with words instead of paths.

    Args:
        text: the sentence.
        known: paths whatever letters they have, blanks, quotes and line ends too, and the word for each; also what
            lies below them, and as a message quotes them.
        elsewhere: the word for all else that looks like a path; None leaves it, since it may be what a caller said.
    """
    words = {form: word for path, word in known.items() if len(path) > 1 for form in _forms(path)}
    if words:
        # The longest first: the one that begins like another is found whole.
        forms = sorted(words, key=len, reverse=True)
        pattern = rf"(?<![\w/])({'|'.join(map(re.escape, forms))}){_BELOW}"
        text = re.sub(pattern, lambda found: words[found[1]], text)
    return text if elsewhere is None else _PATH.sub(elsewhere, _QUOTED.sub(elsewhere, _NAMED.sub("", text)))


def _forms(path: str) -> set[str]:
    """A path as it is, and as it is written between quotes."""
    return {path, repr(path)[1:-1], ascii(path)[1:-1]}
