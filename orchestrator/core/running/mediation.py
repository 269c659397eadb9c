"""Whether a task is clear enough to be given to an executor; if not, what is asked first, once in a session.

Source: seed 001, Property 19.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable

from orchestrator.core import task_types
from orchestrator.core.names import shown
from orchestrator.core.running import named, targets
from orchestrator.core.tuples import NamedTuple

FILE_EXISTS, FILE_AMBIGUOUS = "target_file_exists", "target_file_ambiguous"
ACTION_AMBIGUOUS = "target_action_ambiguous"

_CREATES = re.compile(
    r"(?<![\w-])(?:create|add|make|write|generate|build|produce|new)(?![\w-])|作成|追加|生成|作って|作る|作り|書いて|足して",
    re.IGNORECASE,
)
_CHANGES = re.compile(
    r"(?<![\w-])(?:fix|change|update|modify|edit|correct|adjust|tweak|repair|improve|refactor|rework|rename|replace"
    r"|delete|remove|clean up|clean)(?![\w-])|修正|変更|更新|編集|改善|調整|削除|直して|直す|変えて|消して",
    re.IGNORECASE,
)
_FILLERS = re.compile(
    r"(?<![\w-])(?:it|its|this|that|these|those|them|something|anything|everything|some|thing|things|stuff|one|ones"
    r"|a|an|the|any|all|of|file|files|code|please|kindly|just|now|then|can|could|would|will|you|for|me|us|and|also"
    r"|to|want|i|we|need|let's|lets|here|there|up|again|ok|okay|thanks|thank|bit|little|more|somehow)(?![\w-])"
    r"|ファイル|コード|何か|なにか|何|それ|これ|あれ|全部|すべて|全て|新しい|ちょっと|少し|もう一度|適当に|いい感じに"
    r"|お願い(?:します)?|下さい|ください|して|します|する|ほしい|欲しい|もらえますか|くれますか|くれる|もらえる"
    r"|[をにのはがもとでねよ]",
    re.IGNORECASE,
)
_LETTER = re.compile(r"[^\W_]")
_PLACE_BEFORE = re.compile(
    r"(?<![\w-])(?:to|in|into|inside|for|from|of|at|on|onto|with|about|like|using|per|by|see|beside|after|before)"
    r"(?:\s+(?:the|a|an|file|our|my|existing))*\s*[\"'`(\[]*\Z",
    re.IGNORECASE,
)
_PLACE_AFTER = re.compile(
    r"[\"'`)\]」』]*\s*(?:ファイル)?(?:に(?!して)|へ|で|から|の|用|を(?:参考|もとに|元に|見て|読んで|使っ))"
)
_EDGES = " \t\n.,;:!?\"'`()[]。、\uff01\uff1f「」"


class Doubt(NamedTuple):
    """Why a task is not clear, and the one question that would make it so."""

    reason: str
    question: str


class Answered(NamedTuple):
    """A question that was answered before, in which session."""

    session: str
    question: str
    answer: str


def doubt(text: str, existing: Collection[str] = ()) -> Doubt | None:
    """What keeps a task from being given to an executor, or None.

    A file that is to be created and exists; something to be created or changed without a word on what.

    Args:
        text: the task.
        existing: those of the named files that exist, relative to the project.
    """
    plain = unicodedata.normalize("NFKC", text)
    creates, changes = _CREATES.search(plain), _CHANGES.search(plain)
    if creates:
        there = _existing_target(plain, existing)
        if there is not None:
            asked = f"{_quoted(there)} exists already. Is it to be replaced or extended, or which other name is wanted?"
            return Doubt(FILE_EXISTS, asked)
    if not (creates or changes) or _says_what(plain):
        return None
    if creates:
        return Doubt(FILE_AMBIGUOUS, "Which file is to be created, and what is to be in it?")
    return Doubt(ACTION_AMBIGUOUS, "Which file is to be changed, and how?")


def _existing_target(text: str, existing: Collection[str]) -> str | None:
    """The first named file that exists and is itself to be created, not changed, nor the place where something is."""
    altered = {each.path for each in targets.wanted(text) if each.kind != targets.MADE}
    known = {named.normal(path) for path in existing} - altered
    for start, end, path in named.places(text):
        place = _PLACE_BEFORE.search(text[max(0, start - 60) : start]) or _PLACE_AFTER.match(text[end : end + 20])
        if path in known and not place:
            return path
    return None


def _says_what(text: str) -> bool:
    """Whether anything is left of a text without its verbs and the words that name nothing."""
    rest = text
    for empty in (_CREATES, _CHANGES, _FILLERS):
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
