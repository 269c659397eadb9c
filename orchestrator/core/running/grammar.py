"""The words by which a task orders something of a file, in English and Japanese; see ``targets``.

The files that may be targets stand in the text as one private character each.
"""

from __future__ import annotations

import re

from orchestrator.core.running import tests_exist

MADE, CHANGED, DELETED = "made", "changed", "deleted"
"""It has to be there; it has to be new, changed or gone; it must not be there."""

KINDS = frozenset(
    (
        ".adoc .astro .bat .bib .cfg .cmake .conf .css .csv .diff .env .feature .gif .gql .gradle .graphql .htm"
        " .html .http .ico .ini .ipynb .jpeg .jpg .json .json5 .jsonc .jsonl .less .lock .log .markdown .md .mdx"
        " .ndjson .org .patch .pdf .plist .png .po .properties .proto .rst .sass .scss .split .svg .tex .tf .toml"
        " .tsv .txt .webp .xml .xsd .yaml .yml"
    ).split()
) | frozenset(tests_exist.SOURCE_EXTENSIONS)
PRODUCTS = re.compile(r"[A-Z][A-Za-z0-9]*\.(?:js|ts|io|net)|d3\.js|socket\.io", re.ASCII)
BARE = frozenset(("README", "LICENSE", "CHANGELOG", "Makefile", "Dockerfile", "Procfile", "Gemfile", "Jenkinsfile"))
DOT = re.compile(r"\.[a-z][a-z0-9_-]*")
PLACEHOLDERS = frozenset("*?{}<>$@%|\\")
READ = 20_000
"""Characters of a task that are looked at; orders stand at its beginning, logs and listings after them."""

FENCED = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1|\Z)|^[ \t]*>[^\n]*", re.DOTALL | re.MULTILINE)
FIRST, MOST = 0xE000, 0x1900
MARK = "[\ue000-\uf8ff]"

_MAKES = "create|add|make|write|generate|build|produce|develop|implement|introduce|touch"
_CHANGES = (
    "fix|change|update|modify|edit|correct|adjust|tweak|repair|improve|refactor|rework|rewrite|extend|replace|overwrite"
    "|format|reformat|clean up|clean|bump|simplify|shorten"
)
_DELETES = "delete|remove|erase|unlink|rm"
_MOVES = "rename|move|mv"
_PUTS = (
    "add|append|prepend|insert|write|put|save|store|export|dump|record|copy|cp|convert|rename|move|mv|split|divide"
    "|translate|summari[sz]e|render|extract|collect|compile"
)
_WISH = (
    "please|kindly|just|now|then|also|next|first|finally|second|third|ok|okay|hi|hello|hey|and|always"
    "|(?:can|could|would|will) you|let's|let us|you (?:should|must|need to|have to|can|may)|(?:i|we) (?:want|need) to"
    "|(?:i|we)(?:'d| would) like (?:you )?to|(?:i|we) (?:want|need) you to|we (?:should|must)|(?:your|the) task is to"
)
_BEGINS = rf"(?:(?:\d{{1,3}}[.)]|[-*+#]{{1,6}}|todo:?|task:?|step \d+:?)\s+)?(?:(?:{_WISH})[\s,:]+){{0,6}}"
_BETWEEN = (
    r"(?:(?:a|an|the|both|these|this|that|following|new|another|empty|blank|short|small|simple|minimal|basic|brief|complete"
    r"|initial|single|first|main|existing|whole|my|our|your|its|markdown|text|json|yaml|toml|csv|html|python|shell"
    r"|config|configuration|source|test|script|module|document|readme|page|file|files|files:|called|named|:|:\s|at)\s+"
    r"|[\"'`(\[]+){0,8}"
)
_AND = r"[\"'`)\]]*(?:\s*,\s*and\s+|\s*,\s*|\s+and\s+|\s*&\s*)(?:(?:the|a|an|also)\s+)?[\"'`(\[]*"
_ENDS = (
    r"(?=[\"'`)\]]*(?:\s+(?:file|files))?(?:\s*\Z|\s*[.,;:!?\u2013\u2014]|\s+[-(\u2013\u2014]"
    r"|\s+(?:with|that|which|containing|holding|for|in|into|at|on|from|by|so|as|using|and|then|but|because|via|like|about"
    r"|describing|explaining|listing|based|according|after|before|per|now|again|too|also|please|only|under|inside|where"
    r"|including|saying|of|to)\b))"
)
_OBJECT = rf"{_BETWEEN}(?P<files>{MARK}(?:{_AND}{MARK})*){_ENDS}"
ORDERS = tuple(
    (re.compile(rf"(?P<lead>{_BEGINS})(?:{verbs})\s+{_OBJECT}", re.IGNORECASE), kind)
    for verbs, kind in ((_MAKES, MADE), (_CHANGES, CHANGED), (_DELETES, DELETED), (_MOVES, DELETED))
)
PUT = re.compile(
    rf"(?P<lead>{_BEGINS})(?:{_PUTS})\s+(?P<what>[^:;\n]{{1,120}}?)\s+(?:to|into|as)\s+{_OBJECT}", re.IGNORECASE
)
ADDED_TO = re.compile(rf"(?:add|put|move|mv|copy|write)\s+{_BETWEEN}{MARK}[\"'`)\]]*\s+(?:in)?to\b", re.IGNORECASE)
PUT_ELSEWHERE = re.compile(
    r"\b(?:to|from|that|which|who|where|how|if|\w+ing|links?|references?|refers?|pointers?|paths?|access|according|similar"
    r"|compared|related|up|thanks|due|close|identical|equal|relative|imports?|such)\b",
    re.IGNORECASE,
)
_LONE = rf"(?P<files>{MARK})[\"'`)\]]*"
MUST_BE = (
    re.compile(
        rf"(?P<lead>{_BEGINS}){_BETWEEN}{_LONE}\s+(?:must|should|has to|have to|needs? to|ought to|shall)\s+"
        r"(?:(?:also|now|then)\s+)?(?:be (?:there|created|made|written|present|added|generated)|exist|contain|hold|have"
        r"|say|list|read|start|describe|explain)\b(?!\s+(?:no|nothing)\b)",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?P<lead>{_BEGINS})(?:there (?:must|should|has to|needs? to|ought to|shall) be|(?:make sure|ensure)"
        rf"(?: that)?(?: there is)?|(?:i|we) (?:need|want)|we'?re missing|it needs)\s+{_BETWEEN}{_LONE}"
        r"(?=\s*(?:\Z|[.,;:!]|exists?\b|is (?:there|present|created)\b|with\b|that\b|containing\b))",
        re.IGNORECASE,
    ),
)
"""A named file that has to be there, as a statement."""
TOLD_IN = re.compile(
    rf"(?P<lead>{_BEGINS})(?:summari[sz]e|report|list|document|describe|explain|note|record|save|store|outline|collect)\s+"
    rf"(?:on\s+|down\s+)?(?P<what>[^:;\n]{{1,120}}?)\s+(?:in|inside)\s+{_OBJECT}",
    re.IGNORECASE,
)
"""What is to be told in a file: where that is what it is about, it has to be there as well."""
WITHIN = re.compile(
    r"\b(?:to|that|which|who|so|how|should|can|could|will|would|must|may|might|script|tool|program|command|function|lets?"
    r"|makes?|when|while|not|don't|never|without)\b",
    re.IGNORECASE,
)
CLAUSE = re.compile(r"(?:\A|,\s*(?:and\s+|then\s+)?|;\s*|\s+and\s+(?:then\s+)?|\s+then\s+)")
SENTENCE_END = re.compile("(?<=[.!?])\\s+|[。！？\uff01\uff1f]|\n")  # noqa: RUF001
NOT = re.compile(r"\b(?:don't|do not|does not|never|without|not|except|but)\b", re.IGNORECASE)
DOUBTFUL = re.compile(
    r"\b(?:if|when|unless|or|either|optionally|necessary|needed|appropriate|otherwise|where possible)\b"
    "|もし|必要なら|必要に応じ|場合|または|もしくは|あるいは|代わり|ではなく|でなく|ないで|せず|ずに",
    re.IGNORECASE,
)
TAKEN_BACK = re.compile(r"\binstead\b|\brather than\b|代わりに|ではなく", re.IGNORECASE)
LEAD_IN = re.compile(r":\s*\Z")
ITEM = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s+")

_QUOTED = "[\"'`」』)]*\\s*(?:という(?:名前の)?)?(?:ファイル)?"
_LIST = rf"(?P<files>{MARK}(?:{_QUOTED}\s*(?:と|、|,|及び|および)\s*[\"'`「『(]*{MARK})*){_QUOTED}"
_DO = (
    r"(?:して(?![いるあおかも])|してください|しておいて|せよ|しろ|し、|を?お願い|を?頼|する(?=\s*\Z)|したい"
    r"|(?=\s*\Z)|(?=[、,]))"
)
_TE = "(?![いるあおかも])"
ORDERS_JA = tuple(
    (re.compile(rf"{_LIST}\s*[をも]\s*(?:新規に?|新しく|全て|すべて|完全に)?\s*(?:{verbs})"), kind)
    for verbs, kind in (
        (rf"(?:作成|追加|生成|用意|実装){_DO}|(?:作って|書いて|足して){_TE}", MADE),
        (rf"(?:修正|変更|更新|編集|改善|調整|リファクタ(?:リング)?){_DO}", CHANGED),
        (rf"(?:直して|書き直して|書き換えて){_TE}", CHANGED),
        (rf"(?:削除|消去|除去){_DO}|消して{_TE}", DELETED),
    )
)
PUT_JA = re.compile(
    rf"{_LIST}\s*に\s*(?!従|基づ|沿|ある|書いて|書か|関す|つい|対す|よ)[^、,。\ue000-\uf8ff]{{1,40}}を\s*"
    rf"(?:(?:追加|追記|記入|記載|保存|出力|挿入){_DO}|(?:書いて|書き込んで|足して){_TE})"
)
STORED_JA = re.compile(rf"を\s*{_LIST}\s*に\s*(?:(?:保存|出力|記録){_DO}|書き(?:出|込)して{_TE}|まとめて{_TE})")
