"""Whether any clause of a task orders a change, in English and Japanese, and whether all of it asks for an answer.

A task may begin as a question and go on as an order ("explain it and fix the bug", "Does it pass? If not, repair it"):
one clause that orders a change makes it one. Two verbs under one question ("how do I build and install it?") do not.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from orchestrator.core.running import grammar

_FIRM_VERBS = (
    "implement|refactor|delete|remove|fix|create|modify|edit|rewrite|repair|correct|improve|install|uninstall|deploy|add"
    "|write|generate|insert|append|prepend|rename|replace|introduce|extend|adjust|tweak|mend|configure|enable|disable"
    "|migrate|rework|restructure|reorgani[sz]e|simplify|shorten|optimi[sz]e|tidy|convert|translate|overwrite|reformat"
    "|erase|unlink|mkdir|commit|save|put|make sure|set up|clean up|scaffold|initiali[sz]e|publish|upload|downgrade"
    "|uncomment|annotate|integrate|revert|undo|roll back|restart|unblock|deprecate|rm|mv|cp|rephrase|reword|reorder"
    "|ensure|solve|resolve|speed up|turn (?:on|off)|check (?:in|out)|switch (?:on|off|to)|get rid of"
)
_NOUN_LIKE = (
    "build|release|merge|push|pull|rebase|set|update|change|format|move|port|start|stop|tag|patch|comment|document|copy"
    "|import|export|upgrade|post|sort|use|reset|restore|dump|record|store|split|draft|mark|clean|make"
    "|develop|produce|bump|touch|drop|swap|wrap|extract|inline|mock|lint|style|connect|support|archive|compress|zip|send"
    "|raise|lower|increase|decrease|reduce|expand|allow|deny|apply|register|render|prepare|combine|join|register|label"
    "|download|hook|wire|ship|bootstrap|transform|address"
)
_LIGHT = (
    "set|tidy|reword|rephrase|reorder|sort|swap|shorten|simplify|lint|reformat|uncomment|mend|patch|increase|decrease"
    "|raise|lower|reduce|annotate|bump"
)
_TOOLS = (
    r"(?:(?:git|gh|npm|npx|pnpm|yarn|pip3?|pipx|uv|poetry|cargo|go|gem|brew|apt|apt-get|dnf|docker|helm|kubectl|sudo)\s+){1,2}"
    r"(?:-\S+\s+){0,3}(?:add|commit|push|pull|merge|rebase|checkout|switch|tag|init|clone|cherry-pick|revert|reset|restore"
    r"|rm|mv|install|uninstall|remove|update|upgrade|publish|apply|create|i|ci|build)(?![\w-])"
)
_ONE = (
    r"(?:up\s+|down\s+|out\s+|off\s+|in\s+|back\s+|over\s+)?(?:it|them|this|that|these|those|the|a|an|all|every|each|any"
    r"|some|my|our|your|its|their|another|everything|anything|something|\d\w*)(?![\w-])"
)
_THING = rf"(?:{_ONE}|[\"'`(\[]|{grammar.MARK}|\S{{1,80}}\s*=|\S{{1,80}}\s+(?:to|into|in|as|from|with|for|on)\s)"
_NEXT = rf"\s+(?=(?:\S{{1,80}}\s+)?{_THING})"
_LEADS = (
    r"(?:(?:please|kindly|just|now|then|also|next|first|finally|afterwards?|after that|ok|okay|so|hi|hello|hey|and|but"
    r"|go|try to|let's|let us|(?:you|we) (?:should|must|need to|have to)|(?:i|we)(?:'d| would) like (?:you )?to"
    r"|i (?:want|need) (?:you )?to|we (?:want|need) (?:you )?to|your task is to|the task is to)[\s,:]+){0,6}"
)
_ASKED = r"(?:(?:please|then|also|so|and|now)[\s,]+){0,3}(?:can|could|would|will) you(?: please| also| then)*\s+"
_ITEM = r"\s*(?:[-*+]|\d{1,3}[.)]|todo:?|task:?|step \d+:?)?\s*"
_FIRM = re.compile(rf"{_ITEM}{_LEADS}(?:(?:{_FIRM_VERBS})(?![\w-]|\.\w)|{_TOOLS})", re.IGNORECASE)
_SOFT = re.compile(rf"{_ITEM}{_LEADS}(?:{_NOUN_LIKE})(?:{_NEXT}|(?=\s*[.!]?\s*\Z))", re.IGNORECASE)
_ALONE = re.compile(rf"{_ITEM}{_LEADS}(?:{_NOUN_LIKE})(?=\s+[^\s.,;:?-])", re.IGNORECASE)
_REQUESTED = re.compile(rf"{_ITEM}{_ASKED}(?:{_FIRM_VERBS}|{_NOUN_LIKE})(?![\w-])", re.IGNORECASE)
_DO_IT = re.compile(rf"{_ITEM}{_LEADS}do\s+(?:it|this|that|so)(?![\w-])", re.IGNORECASE)
_BARE = re.compile(rf"{_LEADS}\w+(?:\s*[.,!]|\s*\Z|\s+(?:and|or)\s)", re.IGNORECASE)
_MENDS = re.compile(
    r"\s*(?:then\s+)?(?:fix|repair|correct|mend|patch|solve|resolve)\s+(?:it|that|this|them)(?![\w-])", re.IGNORECASE
)
_LIGHT_VERB = re.compile(rf"{_ITEM}{_LEADS}(?:{_ASKED})?(?:{_LIGHT})(?![\w-])", re.IGNORECASE)
_JOIN = re.compile(
    r"(?P<firm>\s*;\s*|,?\s+(?:and\s+|but\s+)?then\s+|\s+[-\u2013\u2014]+\s+)"
    r"|(?P<comma>,\s*(?:and\s+|but\s+|or\s+|so\s+)?)|\s+(?:and|&|but|or)\s+|:\s+"
)
_INTERROGATIVE = re.compile(
    r"\s*(?:\S{1,20},\s+)?(?:what|why|how|where|who|whose|when|which|is|are|was|were|does|do|did|has|have|should)(?![\w-])",
    re.IGNORECASE,
)
_GOVERNS = re.compile(
    r"\b(?:how|what|whether|where|when|which|ways?|steps?|commands?|instructions?|able|needs?|wants?|tries|try|used"
    r"|supposed|have|has)\s+to\s|\b(?:how|what|why|where|when|(?:which|what)\s(?!(?:it|this|that|he|she|we|they|you|i)\b)\S+)\s+(?:do|does|did|can|could|should"
    r"|would|will|must|might)\s+\S|\b(?:how|when|why|where|whether|if)\s+(?:i|we|you|one|they|it|people|users)\s+\w|\b(?:between|both)\b|\b(?:that|which|who|to)\s+\w+\s*\Z",
    re.IGNORECASE,
)
_READS = re.compile(
    rf"{_ITEM}(?:(?:please|kindly|just|now|then|and|also|hi|hello|hey|ok|okay|so"
    r"|(?:can|could|would|will) you)[\s,]+){0,6}"
    r"(?:what|why|how|where|who|whose|when|which|is|are|was|were|does|do (?:i|we|you|they|these|those|any|all)|did|has"
    r"|have (?:i|we|you|they)|should|explain|describe|tell|show|list|find|read|look|check|count|compare|analy[sz]e"
    r"|investigate|summari[sz]e|report|review|answer|give|name|say|think|open|thanks?|thank you|hi|hello)(?![\w-])",
    re.IGNORECASE,
)
_ENDS_ASKING = re.compile("[?\uff1f][\"')\\]\u300d]*\\s*\\Z")
_CUT_JA = re.compile("[、,;]|(?<=て)\\s+")
_ORDERS_JA = re.compile(
    r"(?:インストール|デプロイ|コミット|プッシュ|マージ|リリース|公開|設定|起動|停止|再起動|整理|整頓|保存|出力|適用|有効化|無効化"
    r"|最適化|変換|翻訳|分割|統合|整形|フォーマット|登録|送信|アップロード|ダウンロード|コピー|複製|復元|解決|調整|用意|準備|挿入"
    r"|追記|記入|記載|除去|消去|セットアップ|初期化|アップデート|アップグレード|アンインストール|書き換え|置き換え|入れ替え|作成|追加"
    r"|修正|変更|更新|実装|削除|生成|編集|改善|対応|反映|移動|置換|構築|導入|リファクタ(?:リング)?|リネーム|切り替え|差し替え|並べ替え)"
    r"(?:を)?(?:して(?![いあ])|しておいて|する(?=[。!\s]*\Z)|しろ|せよ|お願い|頼む|て(?![いあ])|[。!\s]*\Z)"
    r"|(?:片付け|書き換え|書き直し|置き換え|入れ替え|移し|入れ|置い|外し|取り除い|戻し|分け|完成させ|直し|消し|変え|加え|足し"
    r"|作っ|まとめ直し|並べ|付け|つけ|揃え|上げ|下げ|増やし|減らし)て(?![いあ])"
)
_ASKS_JA = re.compile(
    "教えて|説明|とは|なぜ|何故|どう|どこ|どの|どれ|いつ|誰|何|ですか|ますか|調べ|見せて|方法|やり方|か[。？?]?\\Z"  # noqa: RUF001
)
_LOOK = 400
"""Characters about a conjunction that are looked at."""
_QUOTES = re.compile(r"\b(?:explain|describe|what|why|how|log|error|output|message|says?|said|show)\b", re.IGNORECASE)


def orders(text: str) -> Iterator[str]:
    """The clauses of a text that order a change, each from its verb on.

    Args:
        text: the task; what is fenced or quoted in it orders nothing.
    """
    for sentence in sentences(text):
        yield from _english(sentence)
        for clause in _CUT_JA.split(sentence):
            if _ORDERS_JA.search(clause) and not _ASKS_JA.search(clause):
                yield clause


def is_light(clause: str) -> bool:
    """Whether what a clause orders is a small change."""
    return _LIGHT_VERB.match(clause) is not None


def asks_throughout(text: str) -> bool:
    """Whether every sentence of a text, and what follows in one after "then", wants an answer and nothing else."""
    parts = [part for each in sentences(text) for part in _firm_parts(each)]
    return bool(parts) and all(_asks(part) for part in parts)


def sentences(text: str) -> list[str]:
    """The sentences of a text as it is said, without what it quotes."""
    found: list[str] = []
    quoting = False
    said = unicodedata.normalize("NFKC", text[: grammar.READ])
    for line in grammar.FENCED.sub("\n", said).split("\n"):
        if quoting and line.strip():
            continue
        quoting = False
        found += [part for part in grammar.SENTENCE_END.split(" ".join(line.split())) if part]
        # What follows such a line is what it asks about, up to the next blank one.
        quoting = grammar.LEAD_IN.search(line) is not None and _QUOTES.search(line) is not None
    return found


def _firm_parts(sentence: str) -> list[str]:
    parts, at = [], 0
    for join in _JOIN.finditer(sentence):
        if join["firm"]:
            parts.append(sentence[at : join.start()])
            at = join.end()
    return [part for part in (*parts, sentence[at:]) if part.strip()]


def _asks(part: str) -> bool:
    return any((_READS.match(part), _ENDS_ASKING.search(part), _ASKS_JA.search(part)))


def _english(sentence: str) -> Iterator[str]:
    asks = _ENDS_ASKING.search(sentence) is not None
    question = _INTERROGATIVE.match(sentence) is not None
    joins = list(_JOIN.finditer(sentence))
    if _begins(sentence, asks):
        yield sentence[: joins[0].start()] if joins else sentence
    for join in joins:
        clause = sentence[join.end() : join.end() + _LOOK]
        before = sentence[max(0, join.start() - _LOOK) : join.start()]
        governed = (question and asks) or (not join["firm"] and _GOVERNS.search(before) is not None)
        if _REQUESTED.match(clause) or _MENDS.match(clause) or (
            not governed and not _is_listed(join, clause, before) and _follows(clause, join["firm"])
        ):
            yield clause


def _is_listed(join: re.Match[str], clause: str, before: str) -> bool:
    """Whether a clause is but a word of a list, as in "explain insert, update and delete"."""
    bare = None if join["firm"] else _BARE.match(clause)
    return bare is not None and (bool(join["comma"]) or "," in before or bare[0].rstrip().endswith(","))


def _follows(clause: str, firm: str | None) -> bool:
    return any((_FIRM.match(clause), _SOFT.match(clause), firm and _ALONE.match(clause)))


def _begins(sentence: str, asks: bool) -> bool:
    if _REQUESTED.match(sentence):
        return True
    if _DO_IT.match(sentence):
        return not asks
    return any((_FIRM.match(sentence), _SOFT.match(sentence), not asks and _ALONE.match(sentence)))
