"""What is blocked always asks something, and only a destructive task may be blocked."""

from __future__ import annotations

import bisect
import re

from orchestrator.core import task_types
from orchestrator.core.lazy_regex import regex
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.running import states

BLOCKABLE = frozenset({task_types.DANGEROUS_OP})
SEPARATOR = "---"

DEFAULT, IMPLEMENTATION = "default", "implementation"
BLOCKED_TIMEOUT, BLOCKED_INTERACTIVE, DANGEROUS = "blocked_timeout", "blocked_interactive", "dangerous"

TEMPLATES: dict[str, str] = {
    DEFAULT: "YES/NO: このタスクはコード変更を許可しますか\uff1f\n(Do you permit code changes for this task?)",
    IMPLEMENTATION: "このタスクを実行するために、以下の情報を教えてください:\n1. 変更対象のファイル\n2. 期待する動作",
    BLOCKED_TIMEOUT: "タスクがタイムアウトしました。続行しますか\uff1f (YES/NO)",
    BLOCKED_INTERACTIVE: "対話的な確認が必要です。続行を許可しますか\uff1f (YES/NO)",
}
"""The texts of the source, letter by letter. Source: seed 000, Implementation Requirements 3."""

QUESTIONS: dict[str, str] = {
    DEFAULT: TEMPLATES[DEFAULT],
    IMPLEMENTATION: f"{TEMPLATES[IMPLEMENTATION]}\nWhich files are to change, and what is expected of them?",
    BLOCKED_TIMEOUT: f"{TEMPLATES[BLOCKED_TIMEOUT]}\nIt ran out of time. Is it to go on (yes or no)?",
    BLOCKED_INTERACTIVE: f"{TEMPLATES[BLOCKED_INTERACTIVE]}\nIt asks for a confirmation. May it go on (yes or no)?",
    DANGEROUS: "YES/NO: 取り消せない操作です。実行を許可しますか\uff1f\n(This cannot be undone. Do you permit it?)",
}
"""What is asked where the executor asked nothing."""

_QUESTION_OF = {wording: asked for name, asked in QUESTIONS.items() for wording in (asked, TEMPLATES.get(name, asked))}
_OURS = regex("|".join(map(re.escape, sorted(_QUESTION_OF, key=len, reverse=True))))
"""The fallback questions, whole, or the source's own text without the line added to it."""
_CLOSERS = "\"'\u201d\u2019)\uff09\\]】」』*_`"
_MARK = "?\uff1f"
_BORDER = regex(f"[。\uff01\uff1f][{_CLOSERS}]*|[.!?][{_CLOSERS}]*(?=\\s|\\Z)|\n")
_YES_NO_LINE = regex("\\s*YES\\s*/\\s*NO\\s*[:\uff1a]", re.IGNORECASE)
_YES_NO = regex(r"[(\[]\s*(?:yes\s*(?:/|or)\s*no|y\s*/\s*n)\s*[)\]]", re.IGNORECASE)
_LEAD = "#>*-_• \t"


class Asked(NamedTuple):
    """A question within a text, and where it ends."""

    text: str
    end: int


def can_block(task_type: object) -> bool:
    """Whether a task of this type may be BLOCKED: DANGEROUS_OP alone.

    Source: seed 000, INV-2.
    """
    return isinstance(task_type, str) and task_type in BLOCKABLE


def fallback(task_type: str | None, reason: str | None) -> str:
    """The question for a blocked task that asked none, by its type first and the reason next.

    Args:
        reason: TIMEOUT, INTERACTIVE_PROMPT or None.

    Source: seed 000, Implementation Requirements 3.
    """
    if task_type == task_types.DANGEROUS_OP:
        return QUESTIONS[DANGEROUS]
    if task_type == task_types.IMPLEMENTATION:
        return QUESTIONS[IMPLEMENTATION]
    return QUESTIONS[{states.TIMEOUT: BLOCKED_TIMEOUT, states.INTERACTIVE_PROMPT: BLOCKED_INTERACTIVE}.get(
        reason or "", DEFAULT
    )]


def guarded(output: str | None, task_type: str | None, reason: str | None = None) -> str:
    """The output of a blocked task with a question in it, unchanged where it has one. Applied twice it is the same.

    Source: seed 000, INV-1.
    """
    text = output or ""
    if not text.strip():
        return fallback(task_type, reason)
    if last_question(text) is not None:
        return text
    return f"{text.rstrip()}\n{SEPARATOR}\n{fallback(task_type, reason)}"


def last_question(text: str) -> str | None:
    """The one question that is asked of a person: the last one of the text, or None.

    Source: seed 000, INV-6.
    """
    found = _found(text)
    return found[-1].text if found else None


def is_yes_no(question: str) -> bool:
    """Whether a question says that it is answered by yes or no: YES/NO: before it, or both words in brackets.

    Source: seed 000, Implementation Requirements 3.
    """
    return _YES_NO_LINE.match(question) is not None or _YES_NO.search(question) is not None


def ends_asking(text: str) -> bool:
    """Whether the text's last word to its reader is a question."""
    found = _found(text)
    rest = _YES_NO.sub("", text[found[-1].end :]) if found else "."
    return not rest.strip(_LEAD + "\n\r" + _CLOSERS)


def _found(text: str) -> list[Asked]:
    """Every question; one of ours is one question, however many sentences it has."""
    ours = [(match.start(), match.end(), _QUESTION_OF[match[0]]) for match in _OURS.finditer(text)]
    ends = [end for _, end, _ in ours]

    def is_within(end: int) -> bool:
        place = bisect.bisect_left(ends, end)
        return place < len(ours) and ours[place][0] < end

    found = [each for each in _sentences(text) if not is_within(each.end)]
    return sorted([*found, *(Asked(question, end) for _, end, question in ours)], key=lambda asked: asked.end)


def _sentences(text: str) -> list[Asked]:
    found: list[tuple[int, int]] = []
    begun = line = 0
    for end in [*(match.end() for match in _BORDER.finditer(text)), len(text)]:
        piece = text[begun:end]
        if _is_question(piece):
            # The mark of a line that begins YES/NO: may be several sentences further on.
            start = line if _YES_NO_LINE.match(text, line, end) else begun
            while start == line and found and found[-1][1] > line:
                found.pop()
            found.append((start, end))
        begun = end
        line = end if piece.endswith("\n") else line
    return [Asked(text[start:end].strip().lstrip(_LEAD), end) for start, end in found]


def _is_question(piece: str) -> bool:
    stripped = piece.strip().rstrip(_CLOSERS)
    asks = stripped.endswith(tuple(_MARK)) and any(letter.isalnum() for letter in stripped)
    return asks or _YES_NO_LINE.match(piece) is not None
