"""The files that a text names, and which of them it orders to be deleted."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.]{0,20}://\S+")
_TOKEN = re.compile(r"[A-Za-z0-9_./~-]+")
_FILE = re.compile(r"[A-Za-z0-9_./~-]*[A-Za-z0-9_-]\.[A-Za-z][A-Za-z0-9]{0,9}|[A-Za-z0-9_./~-]*/\.?[A-Za-z0-9_-]+")
_DOT_FILE = re.compile(r"\.[A-Za-z][A-Za-z0-9_.-]*")
_BARE = ("README", "LICENSE", "CHANGELOG", "Makefile", "Dockerfile", "Procfile", "Gemfile", "Jenkinsfile")
_ABBREVIATIONS = ("e.g", "i.e", "a.m", "p.m", "yes/no", "y/n", "and/or", "either/or")
_DELETES = re.compile(
    r"(?<![\w-])(?:delete|remove|erase|unlink|rm|clean up|get rid of)(?![\w-])|削除|消して|消去|除去|取り除",
    re.IGNORECASE,
)
_MOVES = re.compile(r"(?<![\w-])(?:rename|move|mv)(?![\w-])|移動|リネーム|名前を変", re.IGNORECASE)


def files(text: str) -> tuple[str, ...]:
    """The files that a text names, in order, as relative POSIX paths where they are relative; addresses are none."""
    found: dict[str, None] = {}
    for _, _, name in places(text):
        found.setdefault(name)
    return tuple(found)


@functools.lru_cache(maxsize=4)
def places(text: str) -> tuple[tuple[int, int, str], ...]:
    """Where each named file stands: start, end and normalised path; a task's text is asked about many times."""
    blanked = _URL.sub(lambda match: " " * len(match[0]), text)
    every = ((match.start(), match[0].rstrip(".-")) for match in _TOKEN.finditer(blanked))
    return tuple((start, start + len(raw), normal(raw)) for start, raw in every if _is_file(raw))


def normal(path: str) -> str:
    """A path without `./` and doubled slashes, so that two spellings compare equal."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    return ("/" if path.startswith("/") else "") + "/".join(parts)


def ordered_deletions(text: str, deleted: Sequence[str]) -> tuple[str, ...]:
    """Those of the deleted paths whose deletion the text orders.

    A text that names files orders the deletion of those alone, and of what lies below a folder it names.

    Args:
        text: the task's prompt.
        deleted: relative paths that are gone since the task was started.

    Source: seed 001, Property 8.
    """
    if not (_DELETES.search(text) or _MOVES.search(text)):
        return ()
    names = files(text)
    return tuple(path for path in deleted if not names or any(_covers(name, normal(path)) for name in names))


def _covers(name: str, path: str) -> bool:
    same_name = "/" not in name and path.rpartition("/")[2] == name
    return same_name or path == name or path.startswith(name + "/")


def _is_file(raw: str) -> bool:
    if raw.lower() in _ABBREVIATIONS or not raw.strip("./~-"):
        return False
    return raw in _BARE or _FILE.fullmatch(raw) is not None or _DOT_FILE.fullmatch(raw) is not None
