"""Which type a task has: given by the caller, or detected by its words, destructive ones first. Unsure is READ_INFO."""

from __future__ import annotations

import re
from collections.abc import Sequence

from orchestrator.core import task_types
from orchestrator.core.names import shown
from orchestrator.core.running import clauses, destructive, targets
from orchestrator.core.tuples import NamedTuple
from orchestrator.errors import UsageError

_REPORT = re.compile(
    r"(?<![\w-])(?:reports?|summar(?:y|ies|i[sz]e|i[sz]ing))(?![\w-]|\.\w)|レポート|報告|要約|まとめて|まとめを|サマリ",
    re.IGNORECASE,
)
_POLITE = r"(?:(?:please|kindly|just|now|then|hi|hello|hey|ok|okay|(?:can|could|would|will) you)[\s,]+){0,6}"
_LEADING_QUESTION = re.compile(
    rf"{_POLITE}(?:what|why|how|where|who|whose|when|which|is|are|was|were|does|do|did|has|have|should|explain"
    r"|describe|tell|show|list|find|read|look|check|count|compare|analy[sz]e|investigate)(?![\w-])",
    re.IGNORECASE,
)
_QUESTION_JA = re.compile(
    "教えて|説明|とは|なぜ|何故|どう(?!し)|どこ|どの|どれ|いつ|誰|何(?!か)|ですか|ますか|調べ|見せて"
)
_QUESTION_END = re.compile("[?\uff1f]\\s*\\Z")
_MAKE = (
    r"create|add|implement|write|generate|build|make|develop|introduce|extend|refactor|migrate|port|move|delete|remove"
)
_CHANGE = r"fix|change|update|modify|edit|correct|adjust|tweak|rename|bump|repair|replace|improve|format|clean"
_ANSWER = r"address|apply|respond|resolve|handle"
_VERB = re.compile(rf"(?<![\w-])(?:{_MAKE}|{_CHANGE})(?![\w-])", re.IGNORECASE)
_IMPERATIVE = re.compile(rf"{_POLITE}(?:{_MAKE}|{_CHANGE})(?![\w-])", re.IGNORECASE)
_STRONG = re.compile(
    rf"(?<![\w-])(?:implement|refactor|delete|remove|{_CHANGE})(?![\w-])|実装|修正|変更|更新|削除", re.IGNORECASE
)
_SURU = "作成|追加|修正|変更|更新|実装|削除|生成|編集|改善|対応|反映|移動|置換|構築|導入|リファクタ(?:リング)?|リネーム"
_REQUEST_JA = re.compile(
    rf"(?:{_SURU})(?:して(?![いあお])|する|しろ|せよ|を?(?:お願い|頼)|[。!\s]*\Z)"
    r"|(?:作って|書いて|直して|消して|変えて|加えて|足して)(?!い)"
)
_REVIEW = re.compile(
    r"review(?:er)?(?:'s|s)?\s+(?:comment|feedback|remark|finding|note|suggestion)s?"
    rf"|(?:{_ANSWER})\s+(?:\S+\s+){{0,4}}?review|レビュー(?:の)?(?:指摘|コメント|結果)|指摘(?:事項)?(?:に|を)",
    re.IGNORECASE,
)
_CONFIG = re.compile(
    r"(?<![\w-])(?:ci|ci/cd|cd pipeline|pipeline|config|configuration|settings|github actions|workflow|dockerfile"
    r"|docker-compose|jenkinsfile|makefile|tsconfig|eslint)(?![\w-])"
    r"|\.github/|\.gitlab-ci|\.ya?ml(?!\w)|\.toml(?!\w)|\.ini(?!\w)|package\.json|settings\.json|設定|パイプライン",
    re.IGNORECASE,
)
_LIGHT = re.compile(rf"(?<![\w-])(?:typos?|{_CHANGE})(?![\w-])|修正|直して|誤字|脱字|リネーム|変えて", re.IGNORECASE)


def check(value: object) -> str:
    """A task type as it was given; any other value is refused.

    Raises:
        UsageError: INVALID_TASK_TYPE; data ``allowed``.
    """
    if isinstance(value, str) and value in task_types.TYPES:
        return value
    raise UsageError(
        "INVALID_TASK_TYPE",
        f"{shown(value)} is no type of task.",
        f"Use one of: {', '.join(task_types.TYPES)}",
        allowed=list(task_types.TYPES),
    )


class Settled(NamedTuple):
    """The type of a task, and whether it is but a guess, since no word of the task tells it."""

    type: str
    guessed: bool = False


def settle(given: str | None, text: str) -> Settled:
    """The type that the caller gave, checked, or else the one that the words of the task show."""
    if given is not None:
        return Settled(check(given))
    found = detect(text)
    return Settled(found, found == task_types.READ_INFO and not clauses.asks_throughout(text))


def detect(text: str) -> str:
    """The type of a task by its English or Japanese words: the first of the ordered tests that holds.

    Destructive operations come first, then words for reports, questions, verbs of making and changing. A clause that
    orders a change makes more than a report or a question of a task, and so does a file that has to come to be.

    Source: seed 000, INV-2; seed 001, Property 8.
    """
    plain = destructive.plain(text)
    if destructive.is_destructive(text):
        return task_types.DANGEROUS_OP
    ordered = tuple(clauses.orders(text))
    if _REPORT.search(plain) and not _STRONG.search(plain) and all(_REPORT.search(clause) for clause in ordered):
        return task_types.REPORT
    if not ordered and _is_question(plain) and not targets.wanted(text):
        return task_types.READ_INFO
    return _edit(plain, ordered, text)


def _is_question(text: str) -> bool:
    """Asks for an answer; "Can you create it?" asks for work."""
    if _IMPERATIVE.match(text) or _REQUEST_JA.search(text):
        return False
    return any((_LEADING_QUESTION.match(text), _QUESTION_JA.search(text), _QUESTION_END.search(text)))


def _edit(text: str, ordered: Sequence[str], said: str) -> str:
    if _REVIEW.search(text):
        return task_types.REVIEW_RESPONSE
    if not (ordered or _VERB.search(text) or _REQUEST_JA.search(text) or targets.wanted(said)):
        return task_types.READ_INFO
    if _CONFIG.search(text):
        return task_types.CONFIG_CI_CHANGE
    light = _LIGHT.search(text) or any(map(clauses.is_light, ordered))
    return task_types.LIGHT_EDIT if light else task_types.IMPLEMENTATION
