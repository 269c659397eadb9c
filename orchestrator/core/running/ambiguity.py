"""Whether a task is clear enough to be given to an executor; if not, what is asked first, once in a session.

Source: seed 001, Property 19.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from orchestrator.core import task_types
from orchestrator.core.lazy_regex import regex
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.names import shown
from orchestrator.core.running import mentions
from orchestrator.core.running import prompt_words as words
from orchestrator.core.running.file_names import NOTHING, Tree

FILE_EXISTS, FILE_AMBIGUOUS = "target_file_exists", "target_file_ambiguous"
ACTION_AMBIGUOUS, TASK_AMBIGUOUS = "target_action_ambiguous", "target_task_ambiguous"

_CREATES = regex(rf"(?<![\w-])(?:{words.ASKED_MAKES})(?![\w-])|{words.ASKED_MAKES_JA}", re.IGNORECASE)
_CHANGES = regex(rf"(?<![\w-])(?:{words.ASKED_CHANGES})(?![\w-])|{words.ASKED_CHANGES_JA}", re.IGNORECASE)
_FILLERS = regex(rf"(?<![\w-])(?:{words.FILLERS})(?![\w-])|{words.FILLERS_JA}", re.IGNORECASE)
_GOES_ON = regex(rf"(?<![\w-])(?:{words.GOES_ON})(?![\w-])|{words.GOES_ON_JA}", re.IGNORECASE)
_LETTER = regex(r"[^\W_]")
_EDGES = " \t\n.,;:!?*_\"'`()[]。、\uff01\uff1f「」"


class Doubt(NamedTuple):
    """Why a task is not clear, and the one question that would make it so."""

    reason: str
    question: str


class Answered(NamedTuple):
    """A question that was answered before, in which session."""

    session: str
    question: str
    answer: str


def doubt(text: str, tree: Tree = NOTHING) -> Doubt | None:
    """What keeps a task from being given to an executor, or None.

    A file that exists, where creating it is the whole order; something to be created or changed without a word on what;
    words that only say to go on, or answer nothing.

    Args:
        text: the task.
        tree: the project.
    """
    plain = unicodedata.normalize("NFKC", text)
    creates, changes = _CREATES.search(plain), _CHANGES.search(plain)
    found = mentions.find(plain, tree)
    sole = mentions.sole(found, plain)
    if sole is not None and sole.files and sole.exact:
        there = _quoted(sole.files[0])
        asked = f"{there} exists already. Is it to be replaced or extended, or which other name is wanted?"
        return Doubt(FILE_EXISTS, asked)
    if not found and goes_on(plain):
        return Doubt(TASK_AMBIGUOUS, "Which task should be continued, and what is left to do?")
    if found or not (creates or changes) or _says_what(plain, (_CREATES, _CHANGES)):
        return None
    if creates:
        return Doubt(FILE_AMBIGUOUS, "Which file is to be created, and what is to be in it?")
    return Doubt(ACTION_AMBIGUOUS, "Which file is to be changed, and how?")


def goes_on(text: str) -> bool:
    """Whether a text only says to go on, as in "please continue" or "yes", and not with what."""
    plain = unicodedata.normalize("NFKC", text)
    return _GOES_ON.search(plain) is not None and not _says_what(plain, (_GOES_ON,))


def _says_what(text: str, verbs: Iterable[re.Pattern[str]]) -> bool:
    """Whether anything is left of a text without its verbs and the words that name nothing."""
    rest = text
    for empty in (*verbs, _FILLERS):
        rest = empty.sub(" ", rest)
    return _LETTER.search(rest) is not None


def _quoted(path: str) -> str:
    """A path as a sentence of one line may show it."""
    return path if path.isprintable() and len(path) <= 100 else shown(path, 100)


def normalised(question: str) -> str:
    """A question as it is compared: case, widths, whitespace and the marks at its ends do not count."""
    folded = unicodedata.normalize("NFKC", question).casefold()
    return " ".join(folded.split()).strip(_EDGES)


def recall(answers: Iterable[Answered], session: str, question: str, task_type: str) -> str | None:
    """The latest answer to the same question in the same session; none for DANGEROUS_OP, which is asked each time.

    Args:
        answers: what was answered before, the oldest first.
    """
    if task_type == task_types.DANGEROUS_OP:
        return None
    wanted = normalised(question)
    found = [each.answer for each in answers if each.session == session and normalised(each.question) == wanted]
    return found[-1] if found else None
