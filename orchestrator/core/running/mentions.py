"""Which files and folders a task mentions, and what it orders of them. The one definition.

Whether that was done is asked in `mention_outcomes`.

**What is mentioned.** A token of the task that is an existing file or folder of the project, or that has the shape of a
path: a known extension, a name such as README or Makefile, a slash at its end or behind a folder that exists, a pattern
such as `*.log`, or any name that is called a file or folder. A plain word such as `build` names a folder at the top
where it stands right behind a verb or preposition, or is called a folder. Quotes, backticks, links, `./`, punctuation
and Japanese text around a name do not count, and case does not where no entry has the exact name. Addresses, versions,
code names (`Invoice.total`), products (Node.js), fenced blocks and quoted lines are none. Logs, Markdown files and the
like (`file_kinds`), and tests that are to be written, are mentioned by these words. What a longer quotation or a listed
command holds is none where anything is mentioned outside.

**What decides.** At least one mention has to have become what fits: made, changed in content, or gone where its
deletion was ordered; a folder counts by what lies below it. Besides, a file that was not there has to be there at the
end, and what is the object of a verb of deleting or moving has to be gone; a deletion does not stand for a change that
was ordered. What is moved or copied into a folder has to be there, and of two files that are swapped both have to
change. All else that was not touched is only named. A file that is only wanted if it is missing (`order_conditions`),
and was there, decides nothing.

**Renamed or replaced.** Where a file gets the name of another, or another takes its place, the old one has to be gone
and the new one there (`renamed_files`). If both were there, the old one may have been overwritten instead. Names that
are replaced in a text ("replace a.md with b.md in index.html") decide nothing; the file that holds them does.

**What decides nothing.** Sources ("using data.csv", "described in notes.txt"), whose change alone is none of what was
ordered, and what must not be touched ("do not touch a.md", "except a.md"), which forbids COMPLETE where it was. Where
nothing else is mentioned, changes decide. What is only read ("check error.log and fix core.py") is a source where
anything else is the object of an order.

The verb of a mention is the nearest one before it, in Japanese behind it. It is looked at for two things only: whether
a deletion is ordered, and whether creating one file is the whole order. Names joined by "and", "or" or commas are read
as one; of those joined by "or" one is enough. Deletions are ordered of what is mentioned for it, or lies below.

Source: seed 001, Properties 8, 26 and 31.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from orchestrator.core import task_types
from orchestrator.core.lazy_regex import regex
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.running import file_kinds, file_names, list_parts, order_conditions, renamed_files, tests_exist
from orchestrator.core.running import prompt_words as words
from orchestrator.core.running.file_kinds import Kind
from orchestrator.core.running.file_names import NOTHING, Index, Place, Tree
from orchestrator.core.running.mention_outcomes import (
    ALTERED,
    ASIDE,
    CHANGED,
    COPIED,
    DELETED,
    DENIED,
    EITHER,
    EMPTIED,
    KEPT,
    MADE,
    SOURCE,
    Mention,
    deciding,
    fits,
    matches,
)
from orchestrator.core.running.order_verbs import (
    CLASSES,
    DENIED_BEFORE,
    EDGE,
    NOUN,
    RENAMES,
    VERB_JA,
    VERBS,
    is_object,
    verb_of,
    verbs,
)
from orchestrator.core.running.renamed_files import Replacement

_GOES, _OVERWRITTEN, _COMES = "goes", "overwritten", "comes"
"""What becomes of a file in a replacement: it is gone, or has what another one had, or it takes the place."""
_MOVES, _CONVERTS, _HOLDS_NAMES = "moves", "converts", "holds names"
"""It goes into a folder; it, or a file of its name, is another one; names are entered into it."""
_TURNS = {
    renamed_files.COPIED: COPIED, renamed_files.SWAPPED: ALTERED,
    renamed_files.ENTERED: SOURCE, renamed_files.MOVED: _MOVES, renamed_files.CONVERTED: _CONVERTS,
}  # fmt: skip
"""What is ordered of each of the old names of a replacement that leaves them."""

_MOST = 400
"""Mentions that are told apart; a task with more is a listing."""
_NEAR = 160
"""Characters before and behind a mention that are looked at."""


_EVENT = regex(
    rf"(?P<denial_ja>(?:(?:次|以下|下記)\S{{0,20}}?(?:{words.any_of(words.DENIALS_JA)}|そのまま)\S{{0,12}}"
    r"|(?<![はをもが])(?:触らない|触れない|変更しない|変更禁止|編集禁止|対象外)[^。\s]{0,10}(?<=[:\uff1a]))"
    r"(?=\s*\n|(?<=[:\uff1a])))"
    rf"|(?P<delete_ja>(?:次|以下|下記)[^。、\n\ue000]{{0,30}}?(?:{words.DELETE_JA})\S{{0,10}}(?=\s*\n|(?<=[:\uff1a])))"
    rf"|(?P<line>\n)(?P<item>\s*(?:[-*+\u2022\u30fb]|\d{{1,3}}[.)])\s|\u30fb)?|(?P<end>[.!?](?=\s|\Z)|[。！？；])"  # noqa: RUF001
    rf"|(?P<turn>[,;]|\bbut\b)|{EDGE}(?:(?P<plain>{words.any_of(words.NO_DENIALS)})|(?P<denial>{words.any_of(words.DENIALS)})"
    rf"|(?P<label>(?:{words.any_of(words.LABELS)})(?=\s*:))"
    rf"|(?P<if>{words.any_of(words.PERHAPS)})|{VERBS})(?![\w\-])|(?P<if_ja>{words.any_of(words.PERHAPS_JA)})",
    re.IGNORECASE,
)
"""What is heard between two mentions."""
_QUOTE = r"[\"'`)\]*」』(\[「『]*"
_ARTICLE = rf"(?:(?:{words.any_of(words.ARTICLES)})\s+)*"
_SOURCE = regex(
    rf"(?:\A|\s|\()(?<!the )(?<!'d )(?<!would )(?:{words.any_of(words.SOURCES)})\s+{_ARTICLE}{_QUOTE}\Z", re.IGNORECASE
)
_SOURCE_AFTER = regex(rf"{_QUOTE},?\s+\(?(?:{words.any_of(words.SOURCES_AFTER)})(?!\w)", re.IGNORECASE)
_SOURCE_JA = regex(rf"(?:ファイル)?(?:の内容|の記述|の仕様)?(?:{words.any_of(words.SOURCES_JA)})")
_EXCEPT = regex(rf"(?:\A|[\s,(])(?:{words.any_of(words.EXCEPTIONS)})\s+{_ARTICLE}{_QUOTE}\Z", re.IGNORECASE)
_ALL_BUT = regex(
    rf"(?<!\w)(?:everything|anything|all|every)(?!\w)[^.,;\n]*\ue000[^.,;\n]*\s(?:but|save)"
    rf"\s+(?:not\s+)?{_ARTICLE}{_QUOTE}\Z",
    re.IGNORECASE,
)
_NOTHING_ELSE = regex(rf"(?<!\w)(?:{words.any_of(words.NOTHING_ELSE)})(?!\w)[^.;\n]{{0,80}}\Z", re.IGNORECASE)
_ANNOUNCED = regex(f"{words.ANNOUNCED}|{words.ANNOUNCED_JA}", re.IGNORECASE)
_KEEPS_AND = regex(
    rf"{_QUOTE},?\s+(?:and|but|while)\s+(?:(?:please|just|then)\s+)?(?:{words.any_of(words.DELETE)}|{words.DELETING})(?!\w)",
    re.IGNORECASE,
)
"""What goes while what was kept stays."""
_KEEPS = regex(rf"(?:\A|\s)(?:keep|leave|retain|preserve):?\s+{_ARTICLE}{_QUOTE}\Z", re.IGNORECASE)
_ALONE = regex(
    rf"(?:(?! (?:but|while|though|yet) )[^.,;\n]){{0,40}}?(?<!\w)(?:{words.any_of(words.UNTOUCHED)})(?!\w)",
    re.IGNORECASE,
)
_DENIED_JA = regex(rf"[^。\n]{{0,30}}?(?:{words.any_of(words.DENIALS_JA)})")
_KEPT_JA = regex("[はをも]?(?:そのまま)?残")
_EXCEPT_JA = regex("[」』`]?(?:を除[いくき]|をのぞ[いくき]|は除[いくき]|は別として|を別にして)")
_RELATIVE_JA = regex(
    "(?:する|した|している|してしまう|して(?:い)?た)(?=[\u4e00-\u9fff\u30a0-\u30ff])(?!作業|タスク)"
)
_FROM_JA = regex("から[「『`]?\ue000+[」』`]?[にへ]")
_OF_JA = regex("の[^、。\\s\ue000]{1,12}を[「『`]?\ue000+[」』`]?に")
_COPIES_JA = regex(words.COPY_JA)
_WHICH_JA = regex(
    rf"(?:{words.DELETE_JA}|{words.TIDY_JA})[^、。\s]{{0,8}}(?:ファイル|フォルダ|もの|の)は[「『`]?\Z"
)
_IF_JA = regex("が(?:あれば|あったら|ある場合|存在|[^、。\ue000]{0,14}(?:れば|たら|なら|場合は?)、?[^、。\ue000]{1,8})")
_TOO = regex(
    rf"{_QUOTE},?\s*(?:too|as\s+well|likewise|also)\s*(?:[.!,;\n]|\Z)|[」』`]?も(?:また|同じく|同様に?|同じように?)?(?:[。\n]|\Z)",
    re.IGNORECASE,
)
_THE_SAME = regex(
    rf"(?<!\w)(?:the\s+same\s+(?:for|with|to|goes\s+for|applies\s+to)|likewise|ditto(?:\s+for)?)\s+{_ARTICLE}{_QUOTE}\Z",
    re.IGNORECASE,
)
_IGNORED = regex(
    r"(?<!\w)(?:ignore|exclude)\s+[\"'`]*\ue000[^.;\n]{0,60}?\s(?:in|by|from|with|for)\s+git(?!\w)"
    r"|(?<!\w)git(?:-?|\s+(?:to\s+)?)ignore\s+[\"'`]*\ue000|\ue000[」』`]?を\.?gitignoreに|\ue000[^。\n]{0,20}[gG]it(?:の管理)?(?:から|で|の)(?:除外|無視)",
    re.IGNORECASE,
)
_BY_GIT = regex(r"[^.;\n]{0,60}?\s(?:in|by|from|with|for)\s+git(?!\w)", re.IGNORECASE)
_PARTICLE = regex(
    rf"(?:の?(?:[0-9一二三四五六七八九十]+(?:つ|個|件|本)|両方|両者)(?:とも)?)?(?:という(?:名前の)?|の)?(?:新しい)?(?:ファイル|{words.FOLDER_JA})?\s*"
    "(?P<particle>から|には|にも|を|も|は|に|へ|の|で|内|が|(?<=とも))"
)
_JOIN = regex(
    rf"{_QUOTE}\s*(?P<join>{words.any_of(words.JOINS)}|(?P<or>{words.any_of(words.OR)}))?\s*{_ARTICLE}{_QUOTE}",
    re.IGNORECASE,
)
_SOME_AFTER = regex(
    r"[\"'`)\]*]*\s*[,:;.\u2013\u2014-]*\s*(?:(?:please|just|only|and|but|you|should|must|can)\s+)*"
    rf"(?:{VERBS})\s+(?:only\s+|just\s+)?(?:the\s+)?{list_parts.WHICH}"
    r"(?:\s+of\s+(?:them|these|those))?(?=\s*(?:[.,;!\n]|\Z)|\s+(?:and|but|only|please)\b)",
    re.IGNORECASE,
)
"""The order behind a list, with which of it is meant."""
_PARAGRAPH = regex(r"\n[ \t]*\n")
_READ = regex(rf"{EDGE}(?:{words.any_of(words.READS)})\s+{_ARTICLE}{_QUOTE}\Z", re.IGNORECASE)
_READ_AFTER = regex(rf"{_QUOTE}\s+(?:{words.any_of(words.READS_AFTER)})(?!\w)", re.IGNORECASE)
_READ_JA = regex(rf"(?:ファイル)?(?:{words.READS_JA})")
_RELATIVE = regex(
    rf"(?<!\w)(?:which|that)\s+(?!is\s|has\s|says\s)\w+s(?:\s[\w-]+){{0,3}}\s+{_QUOTE}\Z", re.IGNORECASE
)
_FROM = regex(rf"(?<!\w)(?:from|of)\s+{_ARTICLE}{_QUOTE}\Z", re.IGNORECASE)
_ALL_OF = regex(
    r"(?<!\w)(?:(?:everything|anything|(?:all|every)(?:\s+of)?(?:\s+the)?\s+(?:files?|contents?|things)"
    r"|(?:the\s+)?(?:whole\s+)?contents?)"
    rf"\s+(?:in|inside|under|below|within|of|from)(?:\s+of)?|wipe(?:\s+out)?|empty(?:\s+out)?)\s+{_ARTICLE}{_QUOTE}\Z",
    re.IGNORECASE,
)
_INSIDE_JA = regex(
    "(?:フォルダ|ディレクトリ)?(?:の中身|内のファイル|の中のファイル|内の(?:すべて|全て)|の中の(?=\\Z))"
)
_TO = regex(rf"{_QUOTE}\s+(?:(?:in|on)?to|for)\s+{_ARTICLE}{_QUOTE}\ue000", re.IGNORECASE)
_INTO = regex(rf"(?<!\w)(?:it|them)\s+(?:in|into|to)\s+{_ARTICLE}{_QUOTE}\Z", re.IGNORECASE)
_PROGRAM = regex(
    rf"\A\ue000{_QUOTE}\s+(?:(?:{words.any_of(words.PASSIVES)})\s+)?(?:{words.any_of(words.OUTPUTS)})\s"
    rf"[^.,;\n]{{0,40}}?(?:to|in|into|as|from)\s+{_ARTICLE}{_QUOTE}\Z",
    re.IGNORECASE,
)
"""What a program is to do when it runs with what is named, behind its own name."""
_EVIDENCE = regex(rf"(?<!\w)(?:{words.any_of(words.EVIDENCE)})\s+{_ARTICLE}{_QUOTE}\Z", re.IGNORECASE)
_KNOWN_FROM = regex(words.KNOWN_FROM, re.IGNORECASE)
_KNOWN_FROM_JA = regex(words.KNOWN_FROM_JA)
_PROPOSED = regex(
    rf"(?<!\w)(?:about|mind|not|consider|by|after|before|besides)\s+(?:{words.any_of(words.DELETING)})"
    rf"\s+{_ARTICLE}{_QUOTE}\Z",
    re.IGNORECASE,
)
_NOTHING = regex(rf"(?<!\w)(?:{words.any_of(words.NOTHING)})\s+{_ARTICLE}{_QUOTE}\Z", re.IGNORECASE)
_MAY = regex(rf"{_QUOTE}\s+(?:{words.FOLDER}\s+)?(?:{words.any_of(words.PASSIVES)})(?!\w)", re.IGNORECASE)
_WHERE = regex(r"[\"'`]*\s+(?:files?\s+)?(?:in|from|under|below|inside|within)\s", re.IGNORECASE)
_IN = regex(rf"{_WHERE.pattern}{_ARTICLE}{_QUOTE}", re.IGNORECASE)
_IN_JA = regex(f"[」』`]?(?:{words.FOLDER_JA})?(?:内|の中|配下|以下)?の(?:すべての|全ての|全部の)?[「『`]?")
_ENSURED = regex(rf"(?:make sure|ensure|see to it)(?:\s+that)?\s+{_ARTICLE}{_QUOTE}\Z", re.IGNORECASE)
_AWAY = regex(
    rf"{_QUOTE}\s+(?:(?:is|are) (?:gone|deleted|removed|moved)|no longer exists?"
    r"|(?:does not|doesn't|do not|don't) exist)(?!\w)",
    re.IGNORECASE,
)
_POLITE = r"(?:(?:please|so|now|just|then|and|kindly)\s+){0,3}"
_TAKEN_OUT = (
    rf"(?:(?:{words.any_of(words.DELETE)})\s+(?:{words.any_of(words.THEM)})|{words.PUT_IT_AWAY}"
    rf"|(?:it|they|and|so)\s+{words.MAY_GO})(?!\w)"
)
"""How what was named before is deleted."""
_PART = regex(
    r"(?:(?:the|an?|this|that|its|your|my|our)\s+(?!(?:contents?|files?|folders?|copy|copies|version|rest)\s)[\w-]+"
    rf"(?:\s+[\w-]+){{0,2}}?|\A\W*[\w-]+(?:\s+\d+)?)\s+(?:of|in|from)\s+{_ARTICLE}{_QUOTE}\Z",
    re.IGNORECASE,
)
"""What makes a name that of a file in which the part lies that is spoken of."""
_TAKES_OUT = regex(_TAKEN_OUT, re.IGNORECASE)
_SPOKEN_IN = regex(
    r"\ue000[\"'`)]*\s+(?:(?:still|also|now|only)\s+)?(?:links?(?:\s+to)?|mentions?|contains?|has|have|lists?|references?|refers?\s+to"
    rf"|imports?|names?|includes?|quotes?|cites?)\s+{_ARTICLE}{_QUOTE}\Z",
    re.IGNORECASE,
)
"""What makes a name one that stands in the file before it."""
_PASSIVE = regex(
    rf"{_QUOTE}\s+out\s+of\s+(?:here|the\s+(?:way|project|repo))(?!\w)"
    rf"|{_QUOTE}[,:]?\s+(?:{_ARTICLE}(?:{words.any_of(words.PASSIVES)})\s+)*"
    r"(?:deleted|removed|erased|gone|renamed|moved)(?!\w)"
    rf"|{_QUOTE}\s+(?:disappear|vanish)(?!\w)|{_QUOTE}\s+{words.MAY_GO}"
    rf"|{_QUOTE}\s+(?:{words.any_of(words.PASSIVES)})\s+"
    r"(?:(?:not|no longer)\s+(?:exist|be there)|go(?:\s+away)?(?=\s*(?:[.!,;:]|\Z)))(?!\w)"
    rf"|(?:(?!\s(?:has(?!\s(?:had|been|become|outlived|served)\s)|have|contains?|with|mentions?|says?|in)\s)[^.\n]"
    rf"|(?<=[^.\n\ue000])\.(?=\s+{_POLITE}{_TAKEN_OUT})){{0,60}}?{EDGE}{_TAKEN_OUT}"
    r"|\s+go(?=\s*(?:[.!,;:]|\Z))",
    re.IGNORECASE,
)
_PUT = regex(rf"{EDGE}(?:{words.PUT_AWAY})\s+{_ARTICLE}{_QUOTE}\Z", re.IGNORECASE)
_BIN = regex(rf"(?:\A|[.!?,;:\n]\s*|\b(?:please|and|then|just|to)\s+)bin\s+{_ARTICLE}{_QUOTE}\Z", re.IGNORECASE)
_AWAY_WITH_IT = regex(
    rf"{_QUOTE}(?:\s+file)?\s+(?:(?:away|out)(?=\s*(?:[.,;:!?)\n]|\Z)|\s+(?:please|now|today|and|then|too|as|since|because)\b)"
    rf"|(?:in(?:to)?|to)\s+(?:the\s+)?(?:{words.any_of(words.TRASH)})(?:\s+(?:can|bin))?(?!\s+(?:{words.FOLDER})|[\w/.-]))",
    re.IGNORECASE,
)
"""What is put away, in two parts around its name."""
_ENDS = r"(?=\s*(?:[.,;:!?)\n]|->|=>|\u2192|\Z)|\s+(?:any\s?more|any\s+longer|now|and|so|here|by|since|because|then)\b)"
_UNNEEDED = regex(
    rf"{_QUOTE}(?:\s+file|\s+{words.FOLDER})?\s*[,;:.(\u2013\u2014-]*\s*(?:(?:because|as|since|for|and)\s+)?"
    r"(?:(?:it|they|this|that|which|we|i)(?:['\u2019](?:s|re))?\s+)?(?:(?:is|are|was|were|be|looks|seems|became)\s+)?"
    rf"(?:(?:now|just|only|by now|simply|an?|already|really|completely|long)\s+){{0,3}}(?:{words.UNNEEDED}){_ENDS}"
    rf"|{_QUOTE}[,;:.]?\s+(?:(?:because|as|since|for)\s+)?(?:we\s+|i\s+)?(?:{words.UNNEEDED_BY})\s+(?:it|them)(?!\w)",
    re.IGNORECASE,
)
_UNNEEDED_BEFORE = regex(
    rf"(?<![\w-])(?:(?:{words.UNNEEDED})(?:\s+(?:files?|{words.FOLDER}))?(?:\s+(?:called|named))?"
    rf"|(?:{words.UNNEEDED_BY}))\s+{_ARTICLE}{_QUOTE}\Z",
    re.IGNORECASE,
)
_THEN_GO = regex(
    rf"[^.\n\ue000]{{0,40}}?(?:->|=>|\u2192|[:;,\u2013\u2014-])\s*(?:please\s+)?(?:{words.any_of(words.DELETE)})\s*[.!]?\s*\Z",
    re.IGNORECASE,
)
_CLEAN_IT = regex(
    rf"[^\n]{{0,80}}?{EDGE}(?:{words.any_of(words.CLEAN)})(?:\s+(?:it|them|this file|that file|up|out|away))+"
    r"(?!\w|\s+\ue000)",
    re.IGNORECASE,
)
_UNNEEDED_JA = regex(
    f"[「『`]?(?:というファイル)?[はが、][^、。\\n\ue000]{{0,8}}?(?:{words.UNNEEDED_JA})"
)
_UNNEEDED_BEFORE_JA = regex(
    f"(?:{words.UNNEEDED_JA})[^、。\\s\ue000]{{0,6}}(?:(?:ファイル|{words.FOLDER_JA})の?)?[「『`]?\\Z"
)
_TIDY_JA = regex(f"(?P<tidy>{words.TIDY_JA})|整理|掃除|外[しす]|{words.CLEAN_JA}")
_DO_IT = regex(
    rf"{EDGE}(?:{words.any_of('|'.join((words.MAKE, words.CHANGE, words.DELETE)))})\s+(?:it|them)(?!\w)"
    rf"(?!\s+(?:in|into|to)\s+{_ARTICLE}{_QUOTE}\Z)",
    re.IGNORECASE,
)
"""What is done to the name before it, which is no mere source then."""
_INSTEAD = regex(
    rf"{_QUOTE}(?:\s+(?:away|out))?\s*[,;:\u2013\u2014-]+\s*(?:(?:but|just|only|rather|instead|simply|please|and|then)\s+){{0,3}}"
    rf"(?:{VERBS})\s+(?:it|them)(?!\w)(?![^.\n]*\bor\b)",
    re.IGNORECASE,
)
"""What is to be done instead of what was denied."""
_OR_ELSE = regex(
    rf"{_QUOTE},?\s+or\b[^.;\n\ue000]{{0,60}}?{EDGE}"
    rf"(?:{words.any_of(f'{words.CHANGE}|{words.MAKE}')})\s+(?:it|them)(?!\w)",
    re.IGNORECASE,
)
"""What else may be done with what is to be deleted."""
_CONDITION = regex(rf"(?<!\w)(?:{words.any_of(words.ONLY_IF)})\s+{_ARTICLE}{_QUOTE}\Z", re.IGNORECASE)
_EXTENSION = regex(rf"(?<!\w)(?:extension|suffix)s?\s+of\s+{_ARTICLE}{_QUOTE}\Z", re.IGNORECASE)
_EXTENSION_JA = regex("の拡張子を")
_NEW_KIND_JA = regex(
    r"(?:ファイル)?を?(?:すべて|全て|全部)?を?\.[A-Za-z]\w{0,5}[にへ](?:変更|変え|リネーム|改名|直)", re.ASCII
)
_INSTEAD_JA = regex("[をはも]?(?:削除せず|消去せず|消さず|捨てず|移動せず)に?、?(?P<rest>[^。\n]*)")
_RENAME_IT = regex(rf"{EDGE}(?:{words.any_of(words.MOVE)})\s+(?:it|them)(?!\w)", re.IGNORECASE)
_ONLY = regex(rf"[,;]\s+(?:but\s+)?(?:only|just)\s+{_ARTICLE}{_QUOTE}\Z", re.IGNORECASE)
_OWNS = regex(r"['\u2019]s\s")
_JAPANESE = regex("[\u3040-\u30ff\u3400-\u9fff\uff66-\uff9f]")
_CONVERTED = regex(f"{words.CONVERTS}|turn|render|export|{words.CONVERTS_JA}|書き出|エクスポート", re.IGNORECASE)
_NAMED = regex(
    rf"{RENAMES.pattern}|(?<!\w)(?:names?|renamed|(?<!folder )(?<!directory )called)(?!\w)|名前", re.IGNORECASE
)
_DELETES = verb_of(words.DELETE, words.CLEAN, japanese=f"|{words.DELETE_JA}|片付け|クリア")
_DELETES_SOME = verb_of(words.DELETE)
_FILES = regex(rf"files?|{words.FOLDER}", re.IGNORECASE)
_HOLDS = regex(words.FILES, re.IGNORECASE)
_STANDS_IN = regex(
    r"\s*(?:from|in|inside|within|on|of|to|for|that|which)\s+(?!(?:(?:this|the|my|our|your|its|whole|entire)\s+)*"
    rf"(?:project|repo|repository|workspace|code\s?base|disk|{words.FOLDER})(?!\w))",
    re.IGNORECASE,
)
"""What the word before it stands in, so that it need be no file."""
_DELETES_FILES_JA = regex(
    rf"(?:(?:ファイル|{words.FOLDER_JA})|(?:\A|[。、!?\n]|プロジェクトの|リポジトリの)(?:(?!から|[のでが内中。、\n])[^\ue000]){{0,30}}(?:{words.FILES_JA}))を?"
    rf"(?:すべて|全て|全部)?(?:{words.DELETE_JA})(?!(?:せず|しない|しません|する(?!こと|[。、\s]|\Z)))"
)
_OUT_OF_JA = regex("\ue000[^、。\n\ue000]{0,40}から[^、。\n\ue000]{0,40}\\Z")
_LISTED = ("listed", "named", "mentioned", "marked", "described", "tagged")
_TAKES_AWAY = regex(
    rf"{_DELETES.pattern}|(?<!\w)(?:{words.any_of(words.MOVE)}|deleted|removed|erased|dropped|renamed|moved)(?!\w)"
    rf"|{words.MOVE_JA}",
    re.IGNORECASE,
)
_EVERYTHING = regex(
    rf"{EDGE}(?<!の)(?:{words.any_of(words.EVERYTHING)})(?!\s+(?:in|under|below|inside|within|from)\s+(?!(?:this|here|it)\b"
    r"|(?:the|my|our)\s+(?:project|repo|repository|folder|directory|workspace|root)\b))",
    re.IGNORECASE,
)
"""All of the project; what a folder holds is mentioned by the folder."""
_MAKES = verb_of(words.MAKE)
_ALTERS = verb_of(words.MAKE, words.CHANGE, words.COPY)
_PHRASE = regex(
    r"\s+((?:(?!(?:and|or|for|to|in|on|of|with|that|which|from|into|about|so)\b)[\w'-]+\s*){1,6})", re.IGNORECASE
)
_ADVERBS = frozenset("first now please quickly carefully today too again also properly short briefly then".split())
_TESTS = regex(rf"(?:{words.TESTS})\Z", re.IGNORECASE)
_DOCUMENTS = regex(rf"(?:{words.DOCUMENTS})\Z", re.IGNORECASE)
_OBJECT_JA = regex(rf"([^\s、。をはがに]{{1,20}})(?:を|の)\S{{0,8}}?(?:{words.MAKE_JA}|{words.CHANGE_JA})")
_TESTS_JA = regex(rf"(?:{words.TESTS_JA})\Z")
_DOCUMENTS_JA = regex(rf"(?:{words.DOCUMENTS_JA})\Z", re.IGNORECASE)


class _Said(NamedTuple):
    """What the words around a place say: the class of the verb, whether the place is its object, what else decides.

    read: it is only read, or touched if needed, where something else is ordered to change.
    within: it is said in which folder.
    into: what is made goes there. taken: something is taken from it. added: it goes into something else that is
        mentioned, or is said of it.
    known: somebody is thanked for it, or it holds something to know, where anything else is mentioned.
    one: of the list that it stands in one entry is enough.
    spares: an exception names it, whatever else is said of it.
    role: it goes for another file, may be overwritten by one that is there, or takes the place of one.
    """

    verb: str = ""
    direct: bool = False
    kind: str = ""
    optional: bool = False
    read: bool = False
    within: bool = False
    into: bool = False
    taken: bool = False
    added: bool = False
    known: bool = False
    one: bool = False
    spares: bool = False
    role: str = ""


def find(text: str, tree: Tree = NOTHING) -> tuple[Mention, ...]:
    """Everything that a task mentions, in order, each once.

    Args:
        text: the task as it was said; files of the project are named in it as relative paths.
        tree: the project as it was before the task was begun.

    Source: seed 001, Properties 8 and 31.
    """
    plain = file_names.plain(text)
    index = Index(tree)
    places, within = _scoped(plain, file_names.places(plain, index)[:_MOST], index)
    masked = file_names.masked(plain, places)
    kinds = tuple(file_kinds.find(masked, places))
    within |= {places[each.within].start for each in kinds if each.within is not None}
    roles = _roles(masked, places, index)
    found = _merged(
        [(place, said, _mention(place, said, index))
         for place, said in zip(places, _readings(masked, places, roles), strict=True)
         if place.start not in within],
        renames=RENAMES.search(masked) is not None,
    )  # fmt: skip
    for mention in (*_kinds(kinds, places, index, found), *_common(masked, tuple(found.values()), index)):
        found.setdefault(mention.name, mention)
    if len(found) == 1:
        found = {name: _settled(each, masked) for name, each in found.items()}
    starts = order_conditions.missing(masked) if len(found) > 1 else ()
    for name in (place.name for place in places if place.start in starts and place.name in found):
        # What is there already is none of what was to change.
        there = found[name].kind == CHANGED and found[name].exact
        found[name] = found[name]._replace(kind=ASIDE) if there else found[name]
    named = _NAMED.search(masked) is not None
    replaced = {place.name for place in places if roles.get(place.start) in (_GOES, _OVERWRITTEN)}
    for name in replaced & {place.name for place in places if roles.get(place.start) == _COMES} & found.keys():
        # What goes and comes back is another one then.
        found[name] = found[name]._replace(kind=ALTERED, moved=False, renamed=False)
    every = tuple(_less_spared(each, found.values(), index) for each in found.values())
    return _travelling(every, index, replaced, named=named)


def _less_spared(mention: Mention, found: Iterable[Mention], index: Index) -> Mention:
    """The mention; of a folder that is to go while something in it is spared, what it holds is meant."""
    if mention.kind != DELETED or not mention.folders:
        return mention
    spared = [each for each in found if each.kind in (DENIED, KEPT)]
    inside = (path for path in index.tree.files if matches(mention, path))
    return mention._replace(kind=EMPTIED) if any(matches(each, path) for path in inside for each in spared) else mention


def _settled(mention: Mention, masked: str) -> Mention:
    """The mention, which is already as the task wants it, where that only holds if it is missing, or there."""
    condition = order_conditions.find(masked)
    there = mention.exact and bool(mention.files)
    if condition == order_conditions.MISSING and there and not mention.covers:
        return mention._replace(kind=ASIDE, created=False, settled=condition)
    gone = not (mention.files or mention.folders or mention.patterns)
    if condition == order_conditions.THERE and gone and mention.kind == DELETED:
        return mention._replace(kind=ASIDE, settled=condition)
    return mention


def _merged(read: Iterable[tuple[Place, _Said, Mention]], *, renames: bool) -> dict[str, Mention]:
    """What is mentioned, each once, by its name: what decides before what does not."""
    readings = [
        (said, each._replace(moved=moves, renamed=moves and renames and each.kind == DELETED)) for _, said, each in read
        for moves in (said.verb == "move" and each.kind in (DELETED, EMPTIED),)
    ]  # fmt: skip
    ordered = any(
        each.decides and not said.read and (said.direct or said.into or each.required) for said, each in readings
    )
    others = any(each.decides and not said.known for said, each in readings)
    found: dict[str, Mention] = {}
    for said, each in readings:
        refers = (said.read and ordered and not each.covers) or (said.known and others)
        mention = each._replace(kind=SOURCE) if refers and each.decides else each
        known = found.get(mention.name)
        decides = known is not None and mention.decides and not known.decides
        if known is None or said.spares or decides or (mention.required and not known.required):
            found[mention.name] = mention
    return found


def _kinds(
    kinds: Iterable[Kind], places: Sequence[Place], index: Index, found: Mapping[str, Mention]
) -> Iterator[Mention]:
    """The kinds of files of which something is ordered."""
    others = bool(deciding(found.values()))
    for each in kinds:
        folders = index.entries(places[each.within].name)[1] if each.within is not None else []
        globs = tuple(f"{folder}/**/{glob}" for folder in folders for glob in each.patterns if "/" not in glob)
        said = each.said if each.said not in found else f"the {each.said}"
        mention = Mention(said, patterns=globs or each.patterns)
        there = any(matches(mention, path) for path in index.tree.files)
        if each.verb in (file_kinds.CHANGE, file_kinds.CONVERT, file_kinds.COPY) and not there:
            continue
        if each.verb == file_kinds.KEEP:
            yield mention._replace(kind=KEPT)
        elif each.verb == file_kinds.CHANGE:
            # Where anything else is mentioned, that was to change.
            yield from () if others else (mention,)
        elif each.verb in (file_kinds.COPY, file_kinds.CONVERT):
            yield mention._replace(kind=COPIED if each.whole else CHANGED, converted=each.verb == file_kinds.CONVERT)
        else:
            whole = EMPTIED if each.verb == file_kinds.CLEAN else DELETED
            kind = whole if each.whole else EITHER
            yield mention._replace(kind=kind, gone=each.verb != file_kinds.CLEAN, moved=each.verb == file_kinds.MOVE)


def _travelling(
    found: tuple[Mention, ...], index: Index, replaced: Collection[str], *, named: bool
) -> tuple[Mention, ...]:
    """The mentions, with the files that have to be elsewhere at the end.

    Args:
        replaced: the names that go because others take their place.
        named: whether they may get new names, which nobody knows.
    """
    moves = [each for each in found if each.name.rstrip("/") not in replaced
             and (each.moved or each.kind == COPIED or (each.converted and each.kind == CHANGED))]  # fmt: skip
    goals = [each for each in found if each not in moves and each.decides and not each.covers]
    named = named or any(each.kind == MADE and not each.name.endswith("/") for each in found)
    done = []
    for each in found:
        of_many = each.moved and bool(each.patterns or each.kind == EMPTIED)
        if each in moves and (of_many if named else goals or each.kind == COPIED or each.converted):
            here = (path for path in index.tree.files if matches(each, path))
            there = tuple(path for path in here if not any(matches(goal, path) for goal in goals))
            each = each._replace(travels=there, renamed=each.renamed or named)
        done.append(each)
    return tuple(done)


def _scoped(text: str, places: Sequence[Place], index: Index) -> tuple[list[Place], set[int]]:
    """The places, where a pattern said to be in a folder means what is there; and where these folders are named."""
    found, within = list(places), set[int]()
    for number, (one, other) in enumerate(itertools.pairwise(places)):
        between = text[one.end : other.start]
        for at, pattern, folder, where in ((number, one, other, _IN), (number + 1, other, one, _IN_JA)):
            name = "/**/".join((*index.entries(folder.name)[1][:1], pattern.name))
            is_pattern = "*" in pattern.name and "/" not in pattern.name and where.fullmatch(between)
            if is_pattern and name != pattern.name and any(fits(path, name) for path in index.tree.files):
                found[at] = pattern._replace(name=name)
                within.add(folder.start)
    return found, within


def of_type(found: Iterable[Mention], task_type: str | None, *, guessed: bool = False) -> tuple[Mention, ...]:
    """What of the mentions counts for a task of a type: for a question nothing, unless that is but a guess.

    Of a report nothing has to become another but what is ordered to be made or to go.
    """
    if task_type == task_types.READ_INFO and not guessed:
        return ()
    if task_type != task_types.REPORT:
        return tuple(found)
    return tuple(each if each.required or not each.decides else each._replace(kind=ASIDE) for each in found)


def sentences(text: str) -> tuple[str, ...]:
    """The lines of a task as they are said, with every mention blackened, without what they quote or announce."""
    return tuple(line for line in _ANNOUNCED.sub("", _blackened(text)).split("\n") if line.strip())


def deletes(text: str) -> bool:
    """Whether a task holds a word that orders a deletion."""
    return _DELETES.search(_ANNOUNCED.sub("", _blackened(text))) is not None


def deletes_files(text: str) -> bool:
    """Whether a task orders that files or folders go, whichever they are."""
    masked = _ANNOUNCED.sub("", _blackened(text))
    if any(not _OUT_OF_JA.search(masked, 0, each.start()) for each in _DELETES_FILES_JA.finditer(masked)):
        return True
    named = "\ue000" in masked
    for verb in _DELETES_SOME.finditer(masked):
        said = _PHRASE.match(masked, verb.end())
        subject = [each for each in (said[1] if said else "").split() if each.lower() not in _ADVERBS]
        if not said or not subject or DENIED_BEFORE.search(masked, max(0, verb.start() - _NEAR), verb.start()):
            continue
        stands = subject[-1] not in _LISTED and _STANDS_IN.match(masked, said.end()) is not None
        subject = subject[:-1] if subject[-1] in _LISTED else subject
        if subject and _FILES.fullmatch(subject[-1]) and not (stands and named):
            return True
        # In a text that names a file, the pictures that are to go may be those of a page.
        if subject and _HOLDS.fullmatch(subject[-1]) and not (stands or named):
            return True
    return False


def orders_passing(text: str) -> bool:
    """Whether a task orders that tests pass.

    Source: seed 001, Property 8.
    """
    return any(map(tests_exist.are_to_pass, sentences(text)))


def sole(found: Sequence[Mention], text: str) -> Mention | None:
    """The one file that a task orders to be created, where that is the whole order; None otherwise."""
    if len(found) != 1 or not found[0].created:
        return None
    masked = _blackened(text, Tree(found[0].files))
    others = {match.lastgroup for match in (*verbs(masked), *VERB_JA.finditer(masked))}
    return found[0] if others <= {"make"} else None


def _blackened(text: str, tree: Tree = NOTHING) -> str:
    plain = file_names.plain(text)
    return file_names.masked(plain, file_names.places(plain, Index(tree)))


_LED = regex(
    r"\s+(?:all\s+(?:of\s+)?)?(?:these|those|them|the\s+following)(?:\s+\w+){0,2}\s+(?:to|into|in|under)\s+"
    r"[^\n]{0,20}\ue000[^\n]{0,20}\s*\Z",
    re.IGNORECASE,
)
"""What says where all of a list is moved that stands behind it."""


class _Hearing:
    """What was said up to a place: the last verb, and whether it is denied."""

    verb, since, lead, denied, closed, perhaps = "", 0, False, False, False, False
    listed, spoken, label, led = False, False, False, False

    def hear(self, event: re.Match[str], text: str) -> None:
        """Take in what stands between two mentions; a list keeps the verb of the line that leads to it."""
        kind = event.lastgroup or ""
        if kind == "item":
            if self.verb:
                lead = text[max(self.since, event.start() - _NEAR) : event.start()]
                self.led = self.led or (self.verb == "move" and _LED.match(lead) is not None)
                self.lead = not self.led and (self.lead or not is_object(lead))
                self.since = event.end()
            # What is denied of a list is denied of each item.
            self.spoken = self.spoken if self.listed else bool(self.verb)
            self.listed = self.denied and (self.listed or not self.closed)
            self.denied, self.closed, self.perhaps = self.listed, self.closed and not self.listed, False
        elif kind in ("line", "end"):
            # A line that breaks behind a verb goes on with what it is about.
            verb, since = (self.verb, self.since) if kind == "line" and not self.closed else ("", 0)
            self.__dict__.clear()
            self.verb, self.since = verb, since
        elif kind == "turn":
            self.closed = True
        elif kind == "denial_ja":
            self.__dict__.clear()
            self.verb, self.denied = "delete" if _DELETES.search(event[0]) else "", True
        elif kind == "delete_ja":
            self.verb, self.since, self.lead, self.denied, self.closed = "delete", event.end(), False, False, False
        elif kind in ("denial", "label"):
            self.verb, self.denied, self.closed, self.listed, self.label = "", True, False, False, kind == "label"
        elif kind in ("if", "if_ja"):
            self.perhaps = True
        elif kind != "plain" and not NOUN.search(text, max(0, event.start() - 12), event.start()):
            # A verb in the line of a label, or in a list that a whole sentence leads to, is an order of its own.
            own = self.spoken if self.listed else self.label
            self.denied, self.perhaps = self.denied and not self.closed and not own, self.perhaps and not self.closed
            # Of what must be neither changed nor deleted the first says more.
            self.verb = self.verb if self.denied and self.verb in ("make", "change", "clean") else kind
            self.since, self.lead, self.closed = event.end(), False, False


def _roles(text: str, places: Sequence[Place], index: Index) -> dict[int, str]:
    """What becomes of each place, by its start, that a replacement of one file by another tells of."""
    roles: dict[int, str] = {}
    # One name alone can only be converted; the other phrases need not be compiled for it (RUN-108).
    several = len(places) > 1 or (len(places) == 1 and _CONVERTED.search(text) is not None)
    for each in renamed_files.find(text) if several else ():
        old, new = ([place for place in places if start <= place.start < end] for start, end in (each.old, each.new))
        if each.kind == renamed_files.REPLACED and not _there(old, index) and _there(new, index):
            old, new = new, old
        if each.kind in _TURNS:
            turned = {place.start: _TURNS[each.kind] for place in _turned(each.kind, old, new, index)}
            if each.kind == renamed_files.ENTERED and turned:
                turned |= {place.start: _HOLDS_NAMES for place in new}
            roles = turned | roles
            continue
        if not old or not new or (each.kind == renamed_files.TURNED and _kind(old) != _kind(new)):
            continue
        if each.kind == renamed_files.FILLED:
            roles = {place.start: SOURCE for place in new} | roles
            continue
        overwrites = each.kind not in (renamed_files.RENAMED, renamed_files.ARCHIVED) and _there(new, index)
        goes, comes = (_OVERWRITTEN, SOURCE) if overwrites else (_GOES, _COMES)
        if each.kind == renamed_files.ARCHIVED:
            goes = _OVERWRITTEN
        if each.kind == renamed_files.QUOTED or not _is_of_files(each, old, places, index):
            goes = comes = SOURCE
        for place, role in (*((place, goes) for place in old), *((place, comes) for place in new)):
            roles.setdefault(place.start, role)
    return roles


def _turned(kind: str, old: Sequence[Place], new: Sequence[Place], index: Index) -> Sequence[Place]:
    """The places that stay in a replacement: files that are copied into a folder, or two that are swapped."""
    if kind == renamed_files.SWAPPED:
        both = list(dict.fromkeys((*old, *new)))
        return both if len(both) == 2 and all(index.has(each.name) for each in both) else ()
    folder = any(each.folder or index.entries(each.name)[1] for each in new)
    if kind == renamed_files.ENTERED:
        ignores = any(each.name.endswith("ignore") for each in new)
        return [each for each in old if not folder and (ignores or "*" in each.name or index.has(each.name))]
    known = all("*" in each.name or index.entries(each.name)[0] for each in old)
    if kind == renamed_files.CONVERTED:
        return [each for each in old if index.entries(each.name)[0]]
    return old if folder and (known or all(index.has(each.name) for each in old)) else ()


def _there(places: Iterable[Place], index: Index) -> bool:
    return any(index.has(place.name) for place in places)


def _kind(places: Iterable[Place]) -> set[str]:
    return {place.name.rpartition("/")[2].rpartition(".")[2] for place in places}


def _is_of_files(each: Replacement, old: Sequence[Place], places: Sequence[Place], index: Index) -> bool:
    """Whether files are replaced, and not names in a text; in a folder it is its files."""
    start, end = each.within or (0, 0)
    folders = [path for place in places if start <= place.start < end for path in index.entries(place.name)[1]]
    entries = [path for place in old for path in itertools.chain(*index.entries(place.name)[:2])]
    return each.within is None or any(path.startswith(f"{folder}/") for path in entries for folder in folders)


def _readings(text: str, places: Sequence[Place], roles: Mapping[int, str]) -> list[_Said]:
    """What the words around each place say of it; places that are joined to a list are read as one."""
    found: list[_Said] = []
    text, spared, any_of = list_parts.find(text, places)
    heard, at, first = _Hearing(), 0, 0
    announced = list(_ANNOUNCED.finditer(text))
    while first < len(places):
        last, either = _last_of_list(text, places, first)
        start, end = places[first].start, places[last].end
        for event in _EVENT.finditer(text, at, start):
            heard.hear(event, text)
        stop = places[last + 1].start if last + 1 < len(places) else len(text)
        before, after = text[max(at - 1, start - _NEAR, 0) : start], text[end : min(stop, end + _NEAR)]
        if _JAPANESE.match(after.lstrip("\"'`」』)]* 、")):
            said = _japanese(before, text[end : end + _NEAR].lstrip("\"'`」』)]* "), after, heard)
        else:
            said = _english(text[max(heard.since, start - _NEAR) : start], before, after, heard)
        # "a.md too" takes the order of what was named before.
        said = found[-1] if found and (_TOO.match(after) or _THE_SAME.search(before)) and found[-1].verb else said
        later = next((each[0] for each in announced if each.start() <= start < each.end()), None)
        if later is not None:
            said = _Said(said.verb, kind=KEPT if _TAKES_AWAY.search(later) else SOURCE)
        which = _SOME_AFTER.match(after) if last > first and not heard.verb else None
        if which:
            said = _Said(next(name for name, _, _ in CLASSES if which[name]), True)
            spared |= list_parts.spared_of(which, range(first, last + 1))
        for each in range(first, last + 1):
            role = roles.get(places[each].start) if not heard.denied else None
            replaced = _replaced(role, optional=said.optional or either) if role else None
            meant = _contrary(said) if each in spared else said._replace(one=either or each in any_of)
            found.append(_of_shell(places, each) if places[each].shell else replaced or meant)
        # What follows the object of a move is where it goes.
        heard.closed, heard.lead = True, heard.lead or heard.verb == "move"
        at, first = end, last + 1
    return found


def _last_of_list(text: str, places: Sequence[Place], first: int) -> tuple[int, bool]:
    """The last place of the list that begins with one, and whether one of them is enough."""
    last, either = first, False
    while last + 1 < len(places):
        until = min(places[last + 1].start, places[last].end + _NEAR)
        join = _JOIN.fullmatch(text, places[last].end, until) if until == places[last + 1].start else None
        if join is None or not (join["join"] or "\n" in join[0] or (places[last].shell and places[last + 1].shell)):
            break
        if _PARAGRAPH.search(join[0]) and text[places[last + 1].end :][:1].strip():
            break  # a sentence begins behind a list
        last, either = last + 1, either or bool(join["or"])
    return last, either


def _replaced(role: str, *, optional: bool) -> _Said:
    """What is said of a place by its part in a replacement."""
    if role == _MOVES:
        return _Said("move", True, optional=optional)
    if role in (_CONVERTS, _HOLDS_NAMES):
        return _Said("change", True, optional=optional, role=role)
    stays = role in (COPIED, ALTERED)
    return _Said("change" if stays else "move", True, role * stays, optional=optional, role=role)


def _contrary(said: _Said) -> _Said:
    """What is said of the entries of a list that are not meant: the contrary of what is said of the others."""
    if said.kind in (DENIED, KEPT):
        return _Said(kind=ASIDE)
    return _Said(kind=KEPT if said.verb in ("delete", "move", "clean") else DENIED)


def _of_shell(places: Sequence[Place], number: int) -> _Said:
    kind = {"mkdir": "make", "mv": "move", "cp": "change"}.get(places[number].shell, "delete")
    last = number + 1 == len(places) or places[number + 1].shell != places[number].shell
    return _Said(kind, not (kind == "move" and last))


def _english(between: str, before: str, after: str, heard: _Hearing) -> _Said:
    direct = bool(heard.verb) and not heard.lead and is_object(between) and not _OWNS.match(after)
    said = _Said(heard.verb, direct, optional=heard.perhaps)
    if heard.verb == "delete" and _OR_ELSE.match(after):
        said = said._replace(optional=True)
    phrase = _phrase(said, before, between, after) or _excepted(said, before, between, after, heard)
    phrase = phrase or _instead(said, before, after, heard)
    if phrase is not None:
        return phrase
    if _FROM.search(before) and heard.verb not in ("delete", "move", "clean") and _TO.match(after + "\ue000"):
        return said._replace(kind=SOURCE)
    if (_SOURCE.search(before) or _SOURCE_AFTER.match(after)) and not _DO_IT.search(after):
        return said._replace(kind=SOURCE)
    if heard.denied and not _ONLY.search(before):
        goes = heard.verb in ("delete", "move") or (_PUT.search(before) and _AWAY_WITH_IT.match(after))
        return said._replace(kind=KEPT if goes else DENIED)
    if _ALONE.match(after):
        return said._replace(kind=DENIED)
    if _KEEPS.search(before) and (not after.strip("\"'`) ")[:1].isalpha() or _KEEPS_AND.match(after)):
        return said._replace(kind=KEPT)
    part = not heard.verb and _PART.search(before)
    part = part or _INTO.search(before)
    if (not part and _PASSIVE.match(after)) or (_ENSURED.search(before) and _AWAY.match(after)):
        return _Said("delete", True)
    if not part and (away := _put_away(said, before, after)) is not None:
        return away
    read = _READ.search(before) or _READ_AFTER.match(after) or _RELATIVE.search(before)
    return said._replace(
        read=read is not None or heard.perhaps,
        within=_WHERE.match(after) is not None,
        into=_INTO.search(before) is not None,
        taken=_FROM.search(before) is not None,
        added=_TO.match(after + "\ue000") is not None or "\ue000" in between,
    )


def _put_away(said: _Said, before: str, after: str) -> _Said | None:
    """What is put away, or cleaned up because nobody needs it, is to be deleted; None where nothing is said of that."""
    if (_PUT.search(before) and _AWAY_WITH_IT.match(after)) or _BIN.search(before):
        return _Said("delete", True)
    if not (_UNNEEDED.match(after) or _UNNEEDED_BEFORE.search(before)):
        return None
    if (said.verb == "clean" and said.direct) or _CLEAN_IT.match(after) or _THEN_GO.match(after):
        return _Said("delete", True)
    return said._replace(kind=EITHER) if not said.verb and not _DO_IT.search(after) else None


def _instead(said: _Said, before: str, after: str, heard: _Hearing) -> _Said | None:
    """What a folder is emptied of, and what is to be done instead of what is denied; None elsewhere."""
    if heard.denied and heard.verb and _ONLY.search(before):
        return said._replace(direct=True)
    if not heard.denied:
        goes = heard.verb in ("delete", "clean", "move") or (not heard.verb and _PASSIVE.match(after))
        empties = goes and _ALL_OF.search(before)
        return said._replace(kind=EMPTIED) if empties else None
    instead = _INSTEAD.match(after)
    if instead is not None:
        return _Said(instead.lastgroup or "", True)
    return _Said("move", True) if _RENAME_IT.search(after) else None


def _excepted(said: _Said, before: str, between: str, after: str, heard: _Hearing) -> _Said | None:
    """What an exception before a place says of it; None where there is none."""
    found = _EXCEPT.search(before)
    if found is not None and found[0].strip().lower().startswith("ignore") and _BY_GIT.match(after):
        return said._replace(kind=SOURCE)
    if found is None:
        return said._replace(kind=DENIED) if _ALL_BUT.search(between) and not heard.denied else None
    if _NOTHING_ELSE.search(before, 0, found.start() + 1):
        return said._replace(direct=True, optional=True, read=True)
    return said if heard.denied else said._replace(kind=DENIED, spares=True)


def _phrase(said: _Said, before: str, between: str, after: str) -> _Said | None:
    """What a set phrase says of a place, whatever verb was heard; None where there is none."""
    if _NOTHING.search(before) and _MAY.match(after):
        return said._replace(kind=DENIED)
    if "\ue000" in between and _CONDITION.search(before):
        return said._replace(kind=SOURCE)
    if _PROGRAM.match(before) or _EVIDENCE.search(before) or (_SPOKEN_IN.search(before) and _TAKES_OUT.search(after)):
        return said._replace(kind=SOURCE)
    if _KNOWN_FROM.search(before):
        return said._replace(known=True)
    if _EXTENSION.search(before) and said.verb in ("change", "move"):
        return _Said("move", True)
    return _Said("delete", True) if _PROPOSED.search(before) else None


def _japanese(before: str, rest: str, after: str, heard: _Hearing) -> _Said:
    """What Japanese around a place says of it.

    Args:
        rest: what follows, up to any length. after: up to the next mention.
    """
    if (phrase := _phrase_ja(before, after)) is not None:
        return phrase
    if (instead := _instead_ja(after)) is not None:
        return instead
    if _DENIED_JA.match(after.partition("、")[0] + ("、" if "、" in after else "")):
        return _Said(kind="" if after.startswith("以外") and _DENIED_JA.match(after, 2) else DENIED)
    if _SOURCE_JA.match(after):
        return _Said(kind=SOURCE)
    if (tidied := _tidied_ja(before, rest, after)) is not None:
        return tidied
    particle = _PARTICLE.match(after)
    which = particle["particle"] if particle else ""
    sentence = rest.partition("。")[0]
    verb = VERB_JA.search(sentence)
    if verb and verb.lastgroup in ("delete", "move") and _RELATIVE_JA.match(sentence, verb.end()):
        if which in ("", "を"):
            return _Said(kind=SOURCE)
        verb = VERB_JA.search(sentence, verb.end())
    verb = verb or next(iter(verbs(rest)), None)
    noun = which == "の" and particle is not None and verb is not None and verb.start() == particle.end()
    kind = (verb.lastgroup or "") if verb else ""
    if kind != "move" and _FROM_JA.match(rest):
        return _Said(kind=SOURCE)
    if (kind == "make" or (verb and _COPIES_JA.match(verb[0]))) and _OF_JA.match(rest):
        return _Said(kind=SOURCE)
    direct = noun or which in ("", "を", "も", "は") or _IF_JA.match(after)
    emptied = EMPTIED * _is_emptied_ja(kind, which, after)
    return _Said(kind, bool(direct), emptied, optional=heard.perhaps, read=_READ_JA.match(after) is not None,
                 into=which == "に" and kind == "make")  # fmt: skip


def _phrase_ja(before: str, after: str) -> _Said | None:
    """What a set phrase says of a place in Japanese; None where there is none."""
    if _WHICH_JA.search(before) and after.startswith(("です", "だ", "である")):
        return _Said("delete", True)
    if _KEPT_JA.match(after):
        return _Said(kind=KEPT)
    if _EXCEPT_JA.match(after):
        return _Said(kind=DENIED)
    if _NEW_KIND_JA.match(after):
        return _Said("move", True)
    if after.startswith(words.FOUND_JA) and _KNOWN_FROM_JA.search(before):
        return _Said(known=True)
    verb = VERB_JA.search(after) if _EXTENSION_JA.match(after) else None
    return _Said("move", True) if verb and verb.lastgroup in ("change", "move") else None


def _instead_ja(after: str) -> _Said | None:
    """What is to be done in Japanese instead of a deletion; None where there is nothing of it."""
    instead = _INSTEAD_JA.match(after)
    verb = VERB_JA.search(instead["rest"]) if instead else None
    return _Said(verb.lastgroup or "", True) if verb and verb.lastgroup not in ("delete", "move") else None


def _tidied_ja(before: str, rest: str, after: str) -> _Said | None:
    """As `_put_away`: what is tidied away may go or change, and goes where nobody needs it."""
    unneeded = _UNNEEDED_JA.match(after) or _UNNEEDED_BEFORE_JA.search(before)
    said = rest.partition("\ue000")[0] if unneeded else after.partition("。")[0]
    verb, tidy = VERB_JA.search(said), _TIDY_JA.search(said)
    if tidy and (verb is None or tidy.start() <= verb.start()):
        if unneeded:
            return _Said("delete", True)
        particle = _PARTICLE.match(after)
        is_object = particle is None or particle["particle"] in ("を", "も", "は")
        return _Said("change", True, EITHER) if tidy["tidy"] and is_object else None
    if unneeded and verb and verb.lastgroup == "delete" and "。" in said[: verb.start()]:
        return _Said("delete", True)
    return _Said("", True, EITHER) if unneeded and verb is None and not verbs(said) else None


def _is_emptied_ja(kind: str, which: str, after: str) -> bool:
    inside = kind in ("delete", "move") and _INSIDE_JA.match(after) is not None
    return inside or (kind == "clean" and which in ("", "を"))


def _mention(place: Place, said: _Said, index: Index) -> Mention:
    """What is ordered of a place."""
    files, folders, exact = index.entries(place.name)
    patterns = (place.name,) if "*" in place.name or "?" in place.name else ()
    folder = bool(folders) or place.folder
    kind, gone = said.kind if said.kind != EMPTIED or folder else "", False
    if said.role == _COMES:
        kind = CHANGED if patterns or said.optional or files or folders else MADE
    elif said.role in (_OVERWRITTEN, SOURCE):
        kind = EITHER if said.role == _OVERWRITTEN else SOURCE
    elif not kind and said.verb in ("delete", "move") and said.direct:
        within = bool(patterns) and said.within and "/" not in place.name
        kind, gone = EITHER if said.optional or said.one or within else DELETED, said.one and not said.optional
    elif not kind and said.verb in ("delete", "clean") and (folder or (patterns and not said.taken)):
        kind = EITHER
    elif not kind:
        # A folder has to be made where that is ordered; a line such as `build/` may be added to a file, and what
        # files say may be about the licence (RUN-37).
        made = said.verb == "make" and said.direct and not said.added
        named = (folder or _is_word(place.name)) and not made
        there = files or folders or named or patterns or said.optional or said.one
        kind = CHANGED if there else MADE
    return Mention(
        place.name + ("/" if folders or (place.folder and not files) else ""), kind, tuple(files), tuple(folders),
        exact, patterns, created=said.verb == "make" and said.direct and kind in (MADE, CHANGED), gone=gone,
        converted=said.role == _CONVERTS,
    )  # fmt: skip


def _is_word(name: str) -> bool:
    """Whether a name is the common word for a kind of file, such as changelog, and not spelt as the file's name is."""
    return name not in words.NAMES.get(name.lower(), (name,))


def _common(masked: str, found: Sequence[Mention], index: Index) -> Iterator[Mention]:
    """What is mentioned by a common word besides kinds of files: all of a project, tests that are to be written."""
    if _DELETES.search(masked) and _EVERYTHING.search(masked) and not deciding(found):
        yield Mention("everything", EITHER, patterns=("**",))
    if _IGNORED.search(masked) and not any(each.name.endswith("ignore") for each in found):
        files, _, exact = index.entries(".gitignore")
        yield Mention(".gitignore", CHANGED if files else MADE, tuple(files), exact=exact)
    # "Fix the failing tests" is about what they test.
    subjects = tuple(_subjects(tests_exist.TO_PASS.sub(" ", masked), _MAKES))
    if any(_TESTS.search(each) or _TESTS_JA.search(each) for each in subjects) and not deciding(found):
        yield Mention("the tests", CHANGED, tests=True)


def _subjects(masked: str, verbs: re.Pattern[str]) -> Iterator[str]:
    """What each of some verbs is about: the few words behind it, or before it in Japanese."""
    for match in verbs.finditer(masked):
        phrase = _PHRASE.match(masked, match.end())
        said = (phrase[1] if phrase else "").split()
        while said and said[-1].lower() in _ADVERBS:
            said.pop()
        yield " ".join(said)
    for match in _OBJECT_JA.finditer(masked):
        yield match[1]


def to_change(text: str, found: Sequence[Mention]) -> tuple[str, ...] | None:
    """The files that a task is to change, as far as it says; nothing where it is about tests, documents or deletions.

    None where nobody knows, which may be source.

    Source: seed 001, Property 11.
    """
    decide = [each for each in deciding(found) or found if not each.covers]
    means = ((each.files or each.travels or each.patterns or (each.name,)) for each in decide if not each.tests)
    named = tuple(itertools.chain.from_iterable(means))
    masked = _blackened(text)
    said = list(_subjects(masked, _ALTERS))
    subjects = [each for each in said if each]
    spared = (_TESTS, _DOCUMENTS, _TESTS_JA, _DOCUMENTS_JA)
    is_spared = bool(subjects) and all(any(pattern.search(each) for pattern in spared) for each in subjects)
    if any(not each.tests and not each.folders for each in decide):
        # Documentation or tests of a file are another thing than the file.
        return () if is_spared and len(subjects) == len(said) else named
    if subjects and not is_spared:
        return None
    return () if subjects or _DELETES.search(masked) else None

