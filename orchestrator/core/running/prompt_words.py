"""The word lists by which the runner reads a task and an answer, in English and Japanese. Data, but for
the functions that make a pattern of a list, and the slips of the keyboard of a word: no rule stands here.

Entries are separated by strokes. English ones are matched as whole words in any case; Japanese ones are matched
wherever they stand, since nothing separates words there. What each list decides is said where it is used.
"""

from __future__ import annotations


def slips(*verbs: str) -> str:
    """The list of some verbs as they are mistyped: without one letter behind the first, or with two exchanged."""
    found = {verb[:at] + verb[at + 1 :] for verb in verbs for at in range(1, len(verb))}
    found |= {verb[:at] + verb[at + 1] + verb[at] + verb[at + 2 :] for verb in verbs for at in range(len(verb) - 1)}
    return "|".join(sorted(found - {*verbs, "crate", "crete"}))


_MISTYPED = slips("update", "modify", "replace", "correct", "change")
MAKE = (
    f"{slips('create')}|"
    "create|make|write|add|generate|build|produce|develop|implement|introduce|touch|mkdir|scaffold|draft"
    "|compose|author"
    "|initiali[sz]e|init|provide|prepare|insert|append|prepend|put|save|store|export|dump|record|output|emit|place"
    "|set up|note down|jot down|must exist|should exist|has to exist|have to exist"
    "|needs? to exist|needs? to be there|there should be|there must be|there has to be|there needs? to be"
    "|make sure|ensure|new|need|want"
    "|install|deploy|commit|publish|push|enable|configure|release|integrate|upload|download|bootstrap|register|ship"
    "|would like|i'd like|we'd like|spin up|populate|echo|type|get me|give me|whip up|knock up|throw together"
    "|see to it|undelete"
)
CHANGE = (
    f"{_MISTYPED}|"
    "fix|change|update|modify|edit|correct|adjust|tweak|repair|improve|refactor|rework|rewrite|extend|replace"
    "|overwrite"
    "|format|reformat|bump|simplify|shorten|mend|tidy|patch|amend|revise|polish|proofread|reword|rephrase"
    "|reorder|sort"
    "|restructure|reorgani[sz]e|optimi[sz]e|enhance|expand|complete|finish|fill|annotate|uncomment|comment out|lint"
    "|rework|touch up|clean up|clean|clear|empty|truncate|wipe|reset|revert|restore|undo|sync|upgrade|downgrade"
    "|migrate"
    "|refresh|adapt|enrich|beautify|capitali[sz]e|uppercase|lowercase|dedupe|tick|check off|work on|fix up|flesh out"
    "|swap|set|turn|switch|raise|lower|increase|decrease|reduce|mark|move|disable|deprecate|resolve|address|apply"
    "|bring up to date|spell-?check|localize|redo|alter|resolve|solve|strip|trim|indent|translate|substitute|inline"
    "|must contain|must say|must have|should contain|should say|should have|needs? to contain|has to contain|tidy up"
    "|must be|should be|needs? to be|has to be|have to be|do it|do this|do that|wrap|unify|merge|modernize"
    "|modernise|unblock|restart|harmoni[sz]e|normali[sz]e|standardi[sz]e|streamline|deduplicate|toggle"
    "|continue|proceed|resume|carry on|go on|keep going|keep working|roll back|rollback|back out|exchange|interchange"
    "|transpose|start ignoring|stop ignoring|untrack"
)
DELETE = (
    f"{slips('delete', 'remove')}|"
    "delete|remove|erase|unlink|rm|rmdir|get rid of|drop|discard|purge|trash|destroy|throw away|throw out|eliminate"
    "|nuke|shred|scrap|toss|wipe out|clear out|clean out|ditch|take out|zap|kill|del|dispose of|do away with"
    "|tidy away|clear away|clean away|sweep away|sweep out|bin(?=\\s+[\"'`]*\ue000)"
    "|say goodbye to|there should be no|there must be no|there may be no|there should not be|there must not be"
)
FILES = (
    "images?|pictures?|photos?|screenshots?|thumbnails?|icons?|fonts?|videos?|recordings?|scripts?|binaries|executables?"
    "|archives?|dumps?|snapshots?|fixtures?|assets?|migrations?|templates?|stylesheets?|spreadsheets?|notebooks?"
    "|artifacts?|artefacts?|modules?|drafts?|attachments?|downloads?|uploads?|exports?|pdfs?|zips?|tarballs?|locales?"
    "|translations?|playbooks?|manifests?|certificates?|installers?|build outputs?|source maps?|test data"
)
FILES_JA = (
    "画像|写真|スクリーンショット|スクショ|サムネイル|アイコン|フォント|動画|録画|スクリプト|バイナリ|実行ファイル|アーカイブ"
    "|ダンプ|スナップショット|フィクスチャ|アセット|マイグレーション|テンプレート|スタイルシート|スプレッドシート|ノートブック"
    "|成果物|モジュール|下書き|添付|翻訳|マニフェスト|証明書|インストーラー?|テストデータ"
)
"""What files hold, by the word for it; where these are to go, files go, unless it is said in what they stand."""
CLEAN = "clean|clean up|clear|empty|wipe|tidy|tidy up|prune"
MOVE = f"rename|move|mv|relocate|transfer|sweep|{slips('rename')}"
UNNEEDED = (
    "(?:no longer|not|never|isn['\u2019]t|aren['\u2019]t)(?: being| be)?"
    " (?:needed|used|required|necessary|wanted|in use|of(?: any)? use)"
    "|unneeded|unnecessary|unused|obsolete|leftovers?|left[ -]over|superfluous|redundant|useless|dead|junk|rubbish"
    "|garbage|cruft"
)
UNNEEDED_BY = (
    "(?:nobody|no one|no-one|nothing|nowhere)(?: \\w+)? (?:needs?|uses?|wants?|imports?|requires?|references?)"
    "|(?:no longer|don't|don\u2019t|do not|doesn't|doesn\u2019t|does not) (?:need|use|want|require)"
)
"""What says of a file that it is needed no more, so that cleaning it up means deleting it; `_BY` stands before it."""
UNNEEDED_JA = (
    "不要|要らな|いらな|要りませ|いりませ|使わな|使われな|使われて(?:い)?[なま]|使って(?:い)?[なま]|使いませ|用済|無用"
    "|必要(?:が|は|の)?な[いく]"
)
TIDY_JA = "片付け|片づけ|かたづけ"
PUT_AWAY = "tidy|clear|clean|throw|put|sweep|take|chuck|toss|move|kick|weed"
TRASH = "trash|bin|recycle bin|rubbish|garbage|waste ?basket|dustbin"
THEM = "it|them|this file|that file|these|those|this|that"
HERE = "(?:here|(?:the|this|our|my) (?:project|repo|repository|code ?base|folder|directory|way))"
PUT_IT_AWAY = (
    f"(?:{PUT_AWAY}) (?:{THEM}) (?:(?:away|out)(?: of {HERE})?(?! of )|(?:in|into|to) (?:the )?(?:{TRASH}))"
    f"|bin (?:{THEM})|let (?:{THEM}) go"
)
"""What deletes the file that was named before."""
_MAY_GO = "(?:can|may|should|must|shall|has to|have to|needs? to|ought to)(?: now| all| both| safely| really| just)*"
MAY_GO = (
    f"{_MAY_GO} (?:be (?:deleted|removed|erased|dropped|discarded|thrown (?:away|out)|taken out|got rid of)"
    "|go(?: away)?)"
    "(?=\\s*(?:[.,;:!)\n]|\\Z))"
)
"""What says of a file that it may go, which orders it."""
REMAIN = "(?:should|must|may|shall|are to) (?:remain|stay|exist|be (?:left|there|kept))"
"""What says that of no file, so that all of a kind are to go."""
COPY = (
    "copy|cp|duplicate|clone|convert|translate|transform|split|divide|summari[sz]e|render|extract|collect"
    "|compile|merge"
    "|combine|port|back up|archive|compress|zip|turn|transcribe|document|break up|concatenate"
    r"|break(?=\s+\S*\ue000+\S*\s+up)"
)
NOUNS = "(?:a|the|this|that|my|our|your|its|their|no|every|any|one|last|latest|new|old|current|first|next|of|for)"
"""A verb of the lists right behind one of these is a noun."""

MAKE_JA = (
    "作成|追加|生成|用意|実装|新規|作っ|作り|作る|書いて|書き込|書き出|書く|足し|加え|追記|記入|記載|保存|出力"
    "|挿入|記録|まとめ"
    "|導入|構築|コミット|インストール|デプロイ|公開|設定|登録|入れて|置いて|作れ|書け"
)
CHANGE_JA = (
    "修正|変更|更新|編集|改善|調整|リファクタ(?:リング)?|直し|直す|書き直|書き換|変え|整形|フォーマット|整理|置換|置き換"
    "|差し替|入れ替|短く"
    "|対応|反映|最適化|改訂|校正|翻訳|片付け|仕上げ|完成|有効化|無効化|切り替え|並べ替え|増や|減ら|上げ|下げ|推敲"
    "|片づけ|かたづけ|元に戻|もとに戻|取り消|差し戻|復元|巻き戻|最新に|最新の状態に|きれいに|見直|日本語化|書き起こ|直せ|有効に|無効に|オンに|オフに|太字に|斜体に"
    "|続け|続行|再開|進め|外し|外す|外せ|交換|スワップ|(?<![片名日受])付け(?=て|る|ろ|加え)|(?<!見)(?<!気を)つけ(?=て|る|ろ)"
)
DELETE_JA = (
    "削除|消去|除去|消し|消す|消せ|取り除|破棄|捨て|(?:処分|始末|廃棄|撤去)(?=し|す|せ|を?お願|。|\\Z)"
    "|(?:ゴミ|ごみ)箱(?=[にへ](?:入れ|移|捨|放))"
)
CLEAN_JA = "空に|クリア"
MOVE_JA = "移動|リネーム|改名|名前を変|名前変更|移し|移す"
COPY_JA = "コピー|複製|変換|写し|分割|分け|統合|結合|集計"

ASKS = (
    r"what|why|how|where|who|whose|when|which|whether|is|are|was|were|does|do(?= (?:i|we|you|they|these|those"
    r"|any|all)\b)|did|has|have(?! an? | [\"'`(]*\ue000)|should|explain|describe|tell"
    "|show|list|find|read|look|check|count|compare|analy[sz]e|investigate|give|say|review|open|outline"
)
WH = "what|why|how|where|who|whose|when|which|whether|is|are|was|were|does|did|has|should|between"
PROPOSES = (
    "how about|what about|why not|why don't (?:we|you)|give [\"'`]*\ue000"
    "|.*(?:and|then) (?:list|report|show|give|tell)(?: [\\w']+){1,6} (?:in|into|to) [\"'`]*\ue000"
)
"""How a sentence begins that asks and may well order."""
BEGS = (
    "(?:would|do) you mind (?!if|explaining|telling|describing|showing|checking|looking"
    "|reading|reviewing|listing|giving)"
    "|(?:(?:may|could|can|might) i ask you(?: kindly)? to|would it be possible(?: for you)? to"
    "|would you be (?:so kind as|able|willing) to|(?:i(?:'d| would) be grateful|i(?:'d| would) appreciate it"
    "|it would be \\w+) if you (?:could|would)|do me a favou?r and)"
    " (?!explain|tell|describe|show|check|look|read|review|list|give|know|ask|see|find)"
    "|(?:any|is there a) chance (?:that )?you (?:could|can)"
    "|(?:could|can|may) (?:we|i) (?:please )?(?:get|have) (?:an? |the |some )?[\"'`(]*\ue000"
)
"""What asks politely for what follows it, and so orders it."""
LISTED = (
    "\\s*(?:list|enumerate|collect|gather|describe|explain|outline|count|compare|analy[sz]e|give|show)\\b[^.;\n?]*"
    " in(?:to)? [\"'`*(]*\ue000++[\"'`*).!]*\\s*\\Z"
)
"""What asks about a file or is to be written into it; where it does not exist, it may be the latter."""
_LATER_ON = (
    "(?:later(?: on)?|tomorrow|eventually|some ?day|soon|afterwards|one day|in the future|at some point"
    "|next (?:week|month|sprint|release|year|time))"
)
_WE_WILL = (
    "(?:we|i|they|someone|somebody)(?:(?:'|\u2019)ll| will| plan to| intend to"
    "|(?:(?:'|\u2019)(?:re|m)| are| am) (?:going|planning) to)"
)
_DATA = "(?:text|contents?|lines?|sentences?|words?|items?|entries|message|title|heading|body|points?)"
TEXT_FOLLOWS = (
    rf"(?<!\w)(?:with|containing|saying|holding|having)\s+(?:(?:only|just|the|a|this|these|following|exactly|as|its)\s+){{0,4}}{_DATA}"
    r"|(?<!\w)(?:that|which)\s+(?:says|reads|contains)"
)
TEXT_FOLLOWS_JA = "(?:次|以下|下記)の(?:内容|文|文章|テキスト|項目|行)(?:で|を|と)[^、。\\n]{0,30}"
"""What leads, with a colon behind it, to what a file is to hold, up to the next blank line."""
ANNOUNCED = (
    rf"(?<!\w){_LATER_ON},? {_WE_WILL}\s[^.,;\n]*|(?<!\w){_WE_WILL}\s[^.,;\n]{{0,80}}?(?<!\w){_LATER_ON}(?!\w)"
    rf"|(?<!\ue000)\ue000++[\"'`)]* (?:will|is going to|shall) be \w+ [^.,;\n]{{0,30}}?{_LATER_ON}(?!\w)"
)
"""What is said to be done at another time, and so is not ordered now; a mention is blackened."""
_LATER_ON_JA = "(?:後で|あとで|のちほど|後ほど|いずれ|そのうち|将来|来週|来月|来年|明日)"
ANNOUNCED_JA = (
    rf"{_LATER_ON_JA}[^。\n]{{0,60}}?(?:(?<!願いし)ます(?!か)|予定|つもり)"
    rf"|(?<!\ue000)\ue000++[」』`]?[はをも]?{_LATER_ON_JA}[^。\n]{{0,30}}?(?:(?<!願いし)ます(?!か)|予定|つもり)"
)
SED = r"(?<![\w./-])[sy]/[^/\n]+/[^/\n]*/[gimpe0-9]{0,4}(?![\w/])"
"""A substitution as `sed` has it, which is an order to change and no path."""
GOVERNS = "how|whether|which|when|between|both"
"""What follows these is a part of what they ask."""
ORDERS_TOO = "use|bring|mention|link|include|quote|cite|note the|note this|note it|note down"
WISHES = (
    f"(?:{PUT_IT_AWAY})(?!\\w)|\ue000[^.;\n]{{0,60}} {MAY_GO}|(?:{PUT_AWAY}) \\w+ of (?:{THEM}) (?:out|away)"
    f"|(?:files?|folders?|logs|caches|backups)(?: \\w+){{0,2}} {MAY_GO}|no(?: \\w+){{1,3}} {REMAIN}"
    "|take [^.;\n\ue000]{1,40} out of [\"'`*(]*\ue000|let [\"'`*(]*\ue000+[\"'`*)]* go(?!\\w)|"
    "\ue000[\"'`*)]*\\s+(?:should|needs?|must|has to|have to|ought to|shall|lacks|is missing)(?!\\w)"
    f"|(?:{PUT_AWAY}) [\"'`*]*(?:the )?[\"'`*]*\ue000+[\"'`*]*(?: file)? (?:away|out)(?!\\w)"
    "|get [\"'`]*\ue000+[\"'`]* out of (?:here|the way)"
    "|git-?ignore [\"'`*]*\ue000|git (?:to )?ignore [\"'`*]*\ue000"
    "|(?:ignore|exclude) [\"'`*]*\ue000[^.;\n]{0,60}? (?:in|by|from|with|for) git(?!\\w)"
    "|(?:goes|go|belongs?) (?:in|into|to|under) [\"'`*(]*\ue000"
    "|(?:print|log|pipe|redirect)\\b[^.;\n]{0,60}? (?:in)?to [\"'`*(]*\ue000"
    "|(?:reply|answer|respond) in [\"'`*(]*\ue000|have [\"'`*(]*\ue000+[\"'`*)]* in place(?!\\w)"
)
"""Statements about a mention, which stands blackened in the text, that order something."""
POLITE = (
    "please|kindly|just|now|then|hi|hello|hey|ok|okay|so|also|and|first|next|finally|can you|could you|would you"
    "|will you|let's|let us|i want you to|i need you to|i'd like you to|i would like you to|you should|you must"
    "|we need to"
    "|you can|you may|we should|we must|i want to|try to|go|your task is to|the task is to|quickly|carefully|simply"
)
_WRITTEN_JA = (
    "(?:の?文)?[をもが]\\S{0,6}?(?:\ue000++[」』`]?\\S{0,3}?)?"
    "(?:足|追加|追記|加え|書|入れ|付け|つけ|更新|修正|直|削除|記載|挿入)"
)
ASKS_JA = (
    f"教えて|説明(?!{_WRITTEN_JA})|とは|なぜ|何故|どう(?!し)"
    f"|どこ|どの|どれ|いつ|誰|何(?!か)|ですか|ますか|調べ|見せて|(?:方法|やり方)(?!{_WRITTEN_JA})"
)
POLITE_JA = (
    "(?:て|で)(?:もらう|いただく|頂く)こと[はがも]?(?:でき|可能)\\S{0,8}"
    "|(?:(?:て|で)(?:くれ|もらえ|いただけ|くださ|下さ)|いただけ)\\S{0,8}|お願い\\S{0,6}"
)
ORDER_JA = (
    "[\u3040-\u309f]{0,2}?(?:を)?(?:して(?![いあ])|しておいて|する(?=[。!\\s]*\\Z)|しろ|せよ|し、|したい|お願い"
    "|頼む|て(?![いあ])|(?=[。!:\uff1a\\s]*\\Z)|(?=[:\uff1a]\\s*[「`]?\ue000))"
)

SET_JA = "を[^、。\\s]{1,15}[くに](?=して(?![いあ]))"
"""What says in Japanese what something is to become."""
CONDITION = r"(?:when(?:ever)?|once|as soon as|in case|wherever|the moment)\s[^,?\n]{1,80},\s+"
"""A condition before an order, which asks nothing."""

REPORT = "reports?|summar(?:y|ies|i[sz]e|i[sz]ing)"
REPORT_JA = "レポート|報告|要約|まとめて|まとめを|サマリ"
NO_REPORT = "implement|refactor|delete|remove|install|commit|fix|change|update|modify|edit|correct|rename|move"
NO_REPORT_JA = "実装|修正|変更|更新|削除"
REVIEW = (
    r"review(?:er)?(?:'s|s)?\s+(?:comment|feedback|remark|finding|note|suggestion)s?"
    r"|(?:address|apply|respond|resolve|handle)\s+(?:\S+\s+){0,4}?review"
)
REVIEW_JA = "レビュー(?:の)?(?:指摘|コメント|結果)|指摘(?:事項)?(?:に|を)"
CONFIG = (
    "ci|ci/cd|cd pipeline|pipeline|config|configuration|settings|github actions|workflow|dockerfile|docker-compose"
    "|jenkinsfile|makefile|tsconfig|eslint"
)
CONFIG_NAMES = (
    r"\.github/|\.gitlab-ci|\.ya?ml(?!\w)|\.toml(?!\w)|\.ini(?!\w)|package\.json|settings\.json|設定|パイプライン"
)
LIGHT = (
    f"{_MISTYPED}|"
    "typos?|fix|change|update|modify|edit|correct|adjust|tweak|rename|bump|repair|replace|improve|format|clean"
    "|set|tidy"
    "|reword|rephrase|reorder|sort|swap|shorten|simplify|lint|reformat|uncomment|mend|patch|increase|decrease|raise"
    "|lower|reduce|annotate|polish|proofread|amend|revise|continue|proceed|resume|carry on|go on|keep going"
    "|keep working"
)
LIGHT_JA = "修正|直し|誤字|脱字|リネーム|変えて|続け|続行|再開|進め"

TESTS = "tests?|unit[- ]tests?|test[- ]cases?|specs?|test suites?|testing"
TESTS_JA = "テスト(?:コード|ケース|カバレッジ)?|単体テスト"
_THE_TESTS = (
    r"(?:(?:all|both|of|the|our|my|your|its|their|every|these|those|this|that|failing|broken|red|unit|integration"
    r"|regression|existing|whole|entire|complete|project['\u2019]s)\s+){0,4}"
    r"(?:tests?(?:[ -](?:suite|cases?|run))?|test_\w+|pytest|specs?|suite|[\"'`(]*(?<!\ue000)\ue000++[\"'`)]*)"
    r"(?:\s+(?:in|of|for|under|from)\s+[\w\ue000.\"'`/-]+)?"
)
_GREEN = (
    r"(?:(?:to|all|both|now|still|again|back|be|is|are|turn|turns|go|goes|get|gets|come|run|runs|stay|keep|into|remain"
    r"|succeed|in)\s+){0,4}(?:pass(?:es|ing)?|green|succeed(?:s|ing)?|successful|successfully)"
    r"(?=\s*(?:[.,;:!?)\n]|\Z)|\s+(?:again|now|and|then|too|with|without|by|for|on|in|but|so|please|before|while)\b)"
)
TO_PASS = (
    "(?:make|makes|get|bring|have|keep|turn|let|ensure|make sure|see to it|so|such|until)"
    rf"(?:\s+that)?\s+{_THE_TESTS}\s+{_GREEN}|{_THE_TESTS}\s+(?:must|should|shall|have to|has to|needs? to)\s+{_GREEN}"
    r"|(?:fix|repair|correct|resolve|mend|unbreak|solve|cure)\s+"
    r"(?:(?:all|the|our|my|these|this|that|every|each|any|a|one|of)\s+){0,3}"
    r"(?:(?:failing|broken|red|failed)\s+(?:unit |integration |regression )?(?:tests?|specs?|test (?:suite|cases?))"
    r"|(?:unit |integration )?tests?\s+(?:that|which)\s+(?:fails?|failed|(?:is|are) (?:failing|red|broken))"
    r"|test failures?)(?!\w)"
)
SPEAKS_OF_PASSING = (
    "how|if|when|once|whether|as soon as|after|why|what|before|unless|check|see|whenever|verify|in case|while"
)
"""What says that tests have to pass at the end, with mentions blackened; and what before it in its clause only speaks
of that."""
_TESTS_OF_JA = "(?:テスト(?:コード|ケース|スイート)?|(?<!\ue000)\ue000++[」』`]?)"
_FULLY_JA = "(?:すべて|全て|全部|ちゃんと|再び|また|もう一度|きちんと|必ず)?"
TO_PASS_JA = (
    f"{_TESTS_OF_JA}[がもは]{_FULLY_JA}(?:通る|通過する|パスする|成功する|合格する|グリーンになる|緑になる)(?:よう|まで)"
    f"|{_TESTS_OF_JA}を{_FULLY_JA}(?:通(?:して|せ(?!る)|す(?=よう|。|\\Z))"
    "|(?:通過|パス|成功|合格)させ(?:て|ろ|る(?=よう|。|\\Z))|(?:グリーン|緑)に(?:し|戻))"
    "|(?:失敗し|落ち|壊れ|こけ)(?:て(?:い)?る|た)(?:すべての|全ての|単体)?テスト(?:コード|ケース)?を(?:直|修正|通|なお)"
    "|テストの失敗を(?:直|修正|解消)"
)
DOCUMENTS = (
    "readme|changelog|change log|docs?|documentation|docstrings?|comments?|guide|tutorial|manual|license"
    "|licence|notes?"
    "|faq|glossary|release notes|how-?to|handbook|wiki|contributing|report|summary|letter|article|essay"
    "|posts?|poems?|story|stories|diary|minutes|agenda|proposal|checklist|newsletter|announcement"
    "|e-?mail|memo|cheat ?sheet"
)
DOCUMENTS_JA = (
    "readme|changelog|ドキュメント|文書|説明書|手順書|マニュアル|資料|コメント|変更履歴|リードミー|ライセンス"
)

PLACES = (
    "to|into|onto|in|inside|within|under|at|as|called|named|titled|from|of|on|off|with|by|via|for|about|against|than"
    "|if|whether|that|which|when|where|so"
)
"""What stands between a verb and a name that is not its object."""
SOURCES = (
    "described in|documented in|specified in|outlined in|explained in|listed in|reported in|noted in|mentioned in"
    "|defined in|described by|specified by|according to|based on|based upon|in line with|in accordance with|following"
    "|follow|see|see also|cf.|per|as per|as in|refer to|referring to|consult|consulting|using|with the help of|like"
    "|similar to|same as|in the style of|modelled on|inspired by|about|instead of|rather than|reading|reads|read from"
    "|tool to read|script to read|writes|writing|loads|parses|prints|run|execute|tests for|test for|test cases for"
    "|imported by|used by|with the contents? of"
)
SOURCES_AFTER = (
    "as an? reference|as reference|as the reference|as an? template|as the template|as an? model|as an? example"
    "|as input"
    "|is the template|to pass|to succeed|to go green|pass|passes|goes green"
    "|go green|succeeds|says|describes|explains|states|specifies"
    "|for reference(?!\\s+only)|for your reference|for context|for information|for background|as background|fyi"
)
SOURCES_JA = (
    "の[^、。\\s]{0,12}?[はにを、]?ありがとう|を参考|を参照|に従|に沿|に基づ|をもと(?!に戻)|を元(?!に戻)|に書いてあ|に書かれ|に記載の|に記載され|のとおり|の通り|と同じ|のように"
    "|をテンプレート|をベース|をひな形|を使って|を使い|を用いて|についての|に関する|ではなく|じゃなく|の代わり|のテストを"
)
READS = (
    "read|check|inspect|study|review|open|look at|look into|look in|have a look at|compare|consider|analy[sz]e"
    "|parse|load|load from"
    "|the error is in|take the \\w+ in|take the \\w+ from"
)
EVIDENCE = (
    "the traceback is in|the stack trace is in|the log is in|the logs are in|the output is in|the details are in"
    "|the description is in|the specification is in|the spec is in"
)
"""What leads to a file that tells what is wrong, and is not itself to change."""
KNOWN_FROM = (
    r"(?<!\w)(?:thanks|thank you)(?!\w)[^.;!\n]{0,60}\Z"
    r"|(?<!\w)the (?:\w+ ){0,2}(?:instructions|requirements|examples?|notes|rules|conventions|guidelines|schema|design"
    r"|background|wording|plan) (?:is|are|can be found) (?:all )?in [\"'`*]*\Z"
)
"""What leads to a file that somebody is thanked for, or in which something to know is found."""
KNOWN_FROM_JA = "(?:仕様|手順|資料|説明|詳細|要件|背景|経緯|参考|規約|方針|設計)[^。\n\ue000]{0,20}\\Z"
FOUND_JA = ("にあり", "にある", "にござい", "に載", "にまとめ", "をご覧", "をご参照")
OUTPUTS = "write|save|log|print|dump|export|store|output|send|read|load"
DELETING = "deleting|removing|erasing|dropping|discarding|trashing"
NOTHING_ELSE = "nothing|no other files?|no files?|none|not anything|no one"
"""Where one of these stands before an exception, that is what may be touched."""
NOTHING = (
    "nothing in|nothing under|nothing below|nothing inside|nothing within|no file in|no files in|no file under"
    "|no files under|none of the files in|none of the files under|no part of"
)
"""What forbids a change of what follows, where a word of `PASSIVES` stands behind it."""
READS_AFTER = "holds|contains|shows|lists|has the"
READS_JA = "を読|を見(?!直)|を確認し|を調べ|を開|を集計"
"""What is only read, where something else is ordered to change."""
DENIALS = (
    "do not|don't|don\u2019t|dont|never|must not|mustn't|should not touch|should not change"
    "|should not modify|should not edit|should not delete|may not touch|may not change|without|avoid"
    "|change nothing|touch nothing|modify nothing|edit nothing|nothing but|nothing except|nothing other than"
    "|you may not|you cannot change|you cannot edit|you can't change|you can't edit|hands off|stay away from"
    "|refrain from|do nothing to|no need to"
    "|instead\\s+of\\s+\\w+ing|rather\\s+than\\s+\\w+ing"
    "|no other file"
    "|no other files"
    "|neither|on no account|under no circumstances|by no means|in no case"
)
LABELS = (
    "off limits|off-limits|out of scope|not in scope|as they are|as it is|unchanged|untouched|intact|alone|touched"
    "|read-only"
)
"""What denies the list that follows it, behind a colon."""
NO_DENIALS = (
    "do not like|don't like"
    "|do not need(?! to)|don't need(?! to)|don\u2019t need(?! to)|do not want(?! to)|don't want(?! to)"
    "|don\u2019t want(?! to)"
    "|do not forget|don't forget|don\u2019t forget|do not hesitate|don't hesitate|do not fail|don't fail|do not just"
    "|don't just|do not only|don't only|without fail|without delay|never mind"
)
"""Phrases that begin like a denial and are none."""
DENIALS_JA = (
    "(?<!忘れ)ないで(?!しょう)(?!す)|せず|消さず|しないこと|しない。|しない、|しません|するな|触らない|触れない|触らず|触れず|変えずに|変えない"
    "|変更しない|変更禁止|編集禁止|は禁止|手を加えず|手を加えない|手を付けず|手をつけず|いじらず|いじらない|読み取り専用"
    "|以外|はそのまま"
)
EXCEPTIONS = (
    "not|no need to|except|except for|with the exception of|other than|apart from|excluding|all but|everything but"
    "|anything but|nothing but"
    "|all files but|any file but|file but|files but|every\\s\\S+(?:\\s\\S+)?\\s+but|every\\s\\S+(?:\\s\\S+)?\\s+save"
    "|all\\s\\S+(?:\\s\\S+)?\\s+but|all\\s\\S+(?:\\s\\S+)?\\s+save|each\\s\\S+(?:\\s\\S+)?\\s+but"
    "|each\\s\\S+(?:\\s\\S+)?\\s+save|but not|ignore|skip|save for"
    "|but nothing in|and nothing in|but nothing under|no changes? to|no changes? in|no edits? to|no edits? in"
    "|no modifications? to|no modifications? of|no modifications? in|certainly not|definitely not"
)
UNTOUCHED = (
    "alone|unchanged|untouched|intact|stays the same|stay the same|is frozen|are frozen|is locked|are locked|as is"
    "|as it is|as they are|the way it is|where it is|where they are|not be changed|not be touched"
    "|not be modified|not be edited|not be altered|off limits|is read-only|is read only|for reading only"
    "|for reference only|out of scope|not in scope"
)
_GONE = "(?:do(?:es)? not|don't|doesn't|don\u2019t|doesn\u2019t) (?:yet |already )?exist(?: yet)?"
_ABSENT = (
    f"(?:{_GONE}|(?:is|was|are) (?:still )?(?:missing|absent|not (?:there|present|in place)(?: yet)?)"
    "|isn['\u2019]t (?:there|present)(?: yet)?)"
)
_PRESENT = "(?:(?:still |already )?exists?(?: already)?|(?:is|was|are) (?:still |already )?(?:there|present|around))"
_WHERE_IF = "(?:only )?(?:if|when|where|whenever|in case|should it be that)"
_LEAVE = "(?:leave it|do nothing|skip it)[;,.]? (?:otherwise|else|if not),?"
IF_MISSING = (
    f"unless {{name}} {_PRESENT}", "unless there(?:['\u2019]s| is) (?:already )?{name}",
    f"{_WHERE_IF} {{name}} {_ABSENT}",
    f"{_WHERE_IF} there(?:['\u2019]s| is) (?:not|no) {{name}}(?: yet)?",
    f"{{name}},? unless (?:it|one|that file|this file) {_PRESENT}",
    "{name},? unless there(?:['\u2019]s| is) (?:already one|one(?: already)?)",
    f"{{name}}(?: (?:with|containing|saying|holding) [^.,;:\n\ue000]{{1,40}})?,? {_WHERE_IF} (?:it|that file|this file)"
    f" {_ABSENT}",
    f"{{name}},? {_WHERE_IF} (?:missing|absent|not (?:there|present)|there(?:['\u2019]s| is) none)(?: yet)?",
    f"(?:make sure|ensure|see to it)(?: that)? {{name}} {_PRESENT}",
    "{name} (?:must|should|has to|needs to) (?:exist|be there)", "there (?:should|must|has to|needs to) be {name}",
    f"{{name}},? (?:should|must|is to|has to) be (?:created|made|added|written),? {_WHERE_IF} (?:it|that file)"
    f" {_ABSENT}",
    "(?:check|see|look|verify) (?:whether|if) {name} (?:already )?exists,? and"
    "(?= \\w+ (?:it|one) if (?:not|it does(?: not|n['\u2019]t)))",
    f"(?:if|when) there(?:['\u2019]s| is) already {{name}},? {_LEAVE}", f"(?:if|when) {{name}} {_PRESENT},? {_LEAVE}",
)
IF_MISSING_JA = (
    "{name}が(?:まだ)?(?:なければ|無ければ|なかったら|無かったら|存在しなければ|ないなら|無いなら"
    "|(?:ない|無い|存在しない)(?:場合|とき|時|なら)(?:に?は|に|のみ|だけ)?)",
    "(?:なければ|無ければ|ないなら|存在しなければ)、?{name}を",
    "{name}が(?:ある|存在する)か(?:どうか)?(?:を)?(?:確認|調べ)(?:し|して|て)?、?(?:なければ|無ければ|ない場合は)",
)
"""On what an order to create a file depends, and what orders that it is there; `{name}` is the file."""
IF_THERE = (
    f"{_WHERE_IF} {{name}} {_PRESENT}", f"{_WHERE_IF} there(?:['\u2019]s| is)(?: still)? {{name}}",
    f"{{name}},? {_WHERE_IF} (?:it|that file|this file) {_PRESENT}", f"{{name}},? {_WHERE_IF} (?:present|there)",
    f"(?:make sure|ensure|see to it)(?: that)? {{name}} (?:{_GONE}|is gone|is not there|no longer exists)",
    "there (?:should|must) be no {name}", "{name} (?:must|should) (?:not|no longer) exist",
)
IF_THERE_JA = (
    "{name}が(?:まだ)?(?:あれば|あったら|残っていれば|残っていたら|存在すれば"
    "|(?:ある|存在する|残っている)(?:場合|とき|時|なら)(?:に?は|に|のみ|だけ)?)",
)
"""The same of an order to delete it."""
STATES_THAT = (
    "make sure|ensure|see to it|there (?:should|must|has to|needs to)"
    "|\\S+ (?:must|should|has to|needs to)"
)
"""How a phrase begins that orders by itself."""
ELSE = "otherwise|else|but|and|or|also|then also|in any case|either way|additionally|furthermore|plus|so that"
ELSE_JA = "それ以外|さもなければ|そうでなければ|そして|また|あれば|ついで|なお|ただし"
"""What leads from an order to another one."""
ONLY_IF = "unless|if|when|whenever|because|since|as long as|as soon as|provided that|in case|after|before|until|once"
"""What leads, behind an order, to a name on which it only depends."""
PERHAPS = (
    "if needed|if necessary|if appropriate|if required|if relevant|if possible|if you want|if you like|where possible"
    "|optionally"
)
PERHAPS_JA = "必要なら|必要に応じ|必要であれば|できれば"
OR = "or|または|もしくは|あるいは|か"
JOINS = (
    ",|, and|and|and also|, and also|as well as|along with|together with"
    "|in addition to|plus|nor|&|+|と|、|及び|および|や|も"
)
PASSIVES = "must|should|shall|needs to|need to|has to|have to|can|may|is to|be|to be"
"""What may stand between a name and what is to become of it."""

ARTICLES = (
    "a|an|the|both|these|this|that|following|new|another|empty|blank|short|small|simple|minimal|basic|brief"
    "|complete|old"
    "|initial|single|first|two|three|four|five|six|seven|eight|nine|ten|main|existing|whole|entire|my|our|your|its|all|every|any|markdown|text|json|yaml"
    "|toml|csv|html"
    "|python|shell|config|configuration|source|test|script|module|document|page|file|files|folder|folders|directory"
    "|directories|dir|called|named|at|path|project's|root|top-level|nested|unused|obsolete|stale|temporary|unneeded"
)
NUMBERS = "one two three four five six seven eight nine ten".split()
NUMBERS_JA = "一二三四五六七八九"
ORDINALS = "first second third fourth fifth".split()
"""How many of a list, or which, are meant; the first stands for one."""
FOLDER = "folders?|director(?:y|ies)|dirs?"
FOLDER_JA = "フォルダ|ディレクトリ"
QUOTES = r"explain|describe|what|why|how|log|error|output|message|says?|said|show|traceback|stack ?trace"
"""A line that holds one of these and ends with a colon leads to what is quoted, up to the next blank line."""
DETERMINERS = (
    r"it|them|one|this|that|these|those|the|an?|all|every|each|any|some|my|our|your|its|their|another|everything|up|\d\w*"
)
FOLLOWS = (
    r"and|or|to|in|into|from|with|then|as|for|of|because|so|that|which|now|today|please|again|too|also|if|when"
    r"|but|by|on"
    r"|at|once|immediately|completely|entirely|first|before|after|using|containing|including|under|\w+ly|folder"
    r"|folders"
    r"|directory|directories|dir|file|files|short|soon|instead|is|are|has|needs?|must|should|via"
)
"""What may follow a name in a sentence; another word there makes the name a part of a longer term."""

_IT = (
    "{old}(?: (?:is|was|looks|seems)(?: [\\w'-]+){1,4}| has an?(?: [\\w-]+)? (?:name|filename))?[,;.:]?"
    "(?: and| so| then| please| just| now)*"
)
_THIS = "(?:it|this file|that file)"
_IS_TO = (
    "(?:(?:should|must|shall|will|can|may|needs? to|has to|have to|ought to|is to|are to|to)(?: henceforth| now| then)?"
    " (?:be|get)|gets?|be)(?: henceforth| now)?"
)
_ENSURE = "(?:make sure|ensure|see to it)(?: that)? {old} (?:is|gets)"
_NEW_NAME = "(?:new )?(?:name|filename|file name)"
_IS_NAMED = "(?:to|into|is|must be|should be|becomes|shall be)"
RENAMES = "rename|renames|renamed|renaming|retitle|relabel|extension of|suffix of"
RENAMES_JA = "拡張子|リネーム|改名|名前(?:を)?変|名前変更|改称"
RENAMED = (
    "(?:rename|retitle|relabel|rechristen):? {old},?(?: to be| to| as| into|:| ->| =>| -->| \\u2192)? {new}",
    f"{_IT} (?:rename|retitle) {_THIS}(?: to| as| into)? {{new}}",
    "(?:call|name|christen) {old},? {new}", f"{_IT} (?:call|name) {_THIS} {{new}}",
    f"{{old}} {_IS_TO} (?:called|named|renamed|known|titled)(?: to| as| into)? {{new}}",
    f"{_ENSURE} (?:called|named|renamed)(?: to| as| into)? {{new}}",
    "{old}(?: should| must| shall| will| has to| needs to| is to)? becomes? {new}",
    f"{{old}}(?: should| must)? gets? (?:the |a )?{_NEW_NAME}:? {{new}}",
    f"(?:give|assign) {{old}} (?:the |a )?{_NEW_NAME}:? {{new}}",
    f"{_IT} give {_THIS} (?:the |a )?{_NEW_NAME}:? {{new}}",
    f"(?:give|assign) the {_NEW_NAME} {{new}} to {{old}}", f"(?:the )?{_NEW_NAME} of {{old}} {_IS_NAMED} {{new}}",
    f"{{old}}['\u2019]s {_NEW_NAME} {_IS_NAMED} {{new}}", f"{_NEW_NAME} from {{old}} (?:to|into) {{new}}",
    "(?:filename|file name) {old} (?:to|into) {new}",
    f"{{old}} needs? (?:a|another)(?: [\\w-]+)? {_NEW_NAME}[:,]? {{new}}",
    f"{{old}}[,;.:]?(?: and)? (?:its|the|the file['\u2019]s) {_NEW_NAME} {_IS_NAMED} {{new}}",
    f"{{new}} (?:is|will be|should be|shall be) the {_NEW_NAME} (?:of|for) {{old}}",
    f"(?:use|take) (?:the )?{_NEW_NAME} {{new}} (?:for|instead of) {{old}}",
)
"""How one file is said to get the name of another: `{old}` stands for names that go, `{new}` for what takes them, both
with their articles and quotes."""
_NAMES_JA = f"{RENAMES_JA}|命名|名付|名づけ"
_NAME_JA = "名(?:前|称)?"
_SINCE_JA = (
    "(?:(?:今後|これから|以後|以降)は?、?|[^、。\\s\ue000]{1,12}(?:ので|ため)、?"
    "|(?:削除せず|消去せず|消さず|捨てず)に?、?)?"
)
RENAMED_JA = (
    f"{{old}}(?:を|は){_SINCE_JA}{{new}}(?:に|へ|と)、?(?:{_NAMES_JA}|呼)",
    f"{{old}}(?:を|は){_SINCE_JA}{{new}}という{_NAME_JA}(?:に|で|へ)", f"{{old}}という{_NAME_JA}を{{new}}(?:に|へ)",
    f"{{old}}の(?:新しい)?(?:ファイル)?{_NAME_JA}(?:を|は){_SINCE_JA}{{new}}(?:に|へ|と|です|だ|で)",
    f"{_NAME_JA}を{{old}}から{{new}}(?:に|へ)", f"{{old}}から{{new}}(?:に|へ)、?(?:ファイル)?{_NAME_JA}(?:を|変)",
    f"{{old}}(?:から|->|=>|\u2192){{new}}(?:に|へ)(?:{_NAMES_JA})",
)
_FOR_OLD = "(?:replacement|substitute|successor|stand-in)s? (?:for|of|to)"
_THERE = "(?:put|place|install|have|want|need|there should be|there must be|there has to be|get|keep)"
_TAKEN = "(?:replaced|superseded|substituted|exchanged|swapped|swapped out) (?:with|by|for|against|through)"
ARCHIVED = ("archive {old},? (?:as|to|into|under) {new}",)
ARCHIVED_JA = ("{old}を{new}(?:として|に)アーカイブ",)
"""How one file is said to be kept under another name, where the old one may go or stay."""
REPLACED = (
    "(?:replace|replacing|supersede|substitute|exchange|swap) {old} (?:with|by|through) {new}",
    "(?:swap|exchange|trade|switch|change)(?: out| in)? {old}(?: out| in)? (?:for|against|with) {new}",
    f"{_IT} (?:replace|supersede|substitute) {_THIS} (?:with|by) {{new}}",
    f"{_IT} (?:swap|exchange|trade|switch) {_THIS}(?: out)? (?:for|with) {{new}}",
    f"{{new}}[,;.](?: and)? {_THIS}(?: should| must| shall| will| is to)? (?:replaces?|supersedes?) {{old}}",
    "substitute {new} for {old}", "(?:drop|drops|abandon|discard) {old} in (?:favou?r|place) of {new}",
    f"(?:{_THERE}|create|write|make|add|save|store|generate|move|copy|produce) {{new}}"
    " in (?:the )?(?:place|stead) of {old}",
    f"(?:{_THERE}) {{new}} instead of {{old}}", f"(?:instead|in place) of {{old}},? (?:i )?(?:{_THERE}) {{new}}",
    "{new} where {old} (?:is|was|used to be|stands|stood|lies|lay|sits)(?: now)?",
    "{new},?(?: (?:should|must|shall|will|to|needs to|has to|is to|and))*"
    " (?:replaces?|replacing|supersedes?|superseding) {old}",
    "{new},?(?: (?:should|must|shall|will|to|that|which))* takes? the place of {old}",
    f"{{new}},? as (?:a |an |the |its )?{_FOR_OLD} {{old}}", f"{{new}},? (?:a|the) {_FOR_OLD} {{old}}",
    f"{{old}} {_IS_TO} {_TAKEN} {{new}}", f"{_ENSURE} {_TAKEN} {{new}}",
    f"(?:want|need|like|have|get) {{old}} {_TAKEN} {{new}}",
    "{old}(?: should| must| has to| is to)? (?:gives? way|makes? way|yields?) (?:to|for) {new}",
    f"{{old}} (?:to|into|as|in) {{new}},?(?: and)?(?: then)? (?:{DELETE})"
    " the (?:original|old one|old file|source|former)",
    f"(?:copy|duplicate|back up) {{old}} (?:to|into|as|under) {{new}}[,;.]?(?: and)?(?: then| afterwards)?(?: please)?"
    f" (?:{DELETE}) it",
)
"""How one file is said to take the place of another, which is gone then."""
_REPLACES_JA = "置き換|置換|差し替|差替|入れ替|入替|取り替|取替|すり替|交換|リプレース"
REPLACED_JA = (
    f"{{old}}(?:を|は){_SINCE_JA}{{new}}(?:に|へ|で|と)、?(?:{_REPLACES_JA})",
    f"{{old}}から{{new}}(?:に|へ)(?:{_REPLACES_JA}|乗り換|切り替)",
    f"{{new}}(?:で|によって){{old}}を(?:{_REPLACES_JA})",
    "{old}の(?:代わり|かわり|替わり)に、?{new}を(?:置|配置|入れ|据え)", "{old}をやめて、?{new}(?:に|を)",
    f"{{old}}を[^、。\\n\ue000]{{0,12}}{{new}}(?:に|へ|を)[^。\\n\ue000]{{0,16}}[、。]?(?:元|もと|古い)の?(?:ファイル|もの|方)?(?:たち)?[はを]"
    f"(?:すべて|全て|両方)?(?:とも)?(?:{DELETE_JA})",
    f"{{old}}を{{new}}[にへ](?:コピー|複製|バックアップ)(?:した(?:あと|後)に?|してから|して|し)、?(?:{DELETE_JA})",
)
TURNED = (
    "(?:change|turn|make) {old} (?:in)?to {new}", "{new},? (?:that|which) (?:replaces?|supersedes?) {old}",
)
TURNED_JA = ("{old}(?:を|は){new}に(?:し(?!た|な)|する|変更|変え)",)
"""What says as much of two files of one kind, and of others that one is made from the other, or works on it."""
QUOTED = (
    "(?:links?|references?|mentions?|occurrences?|imports?|pointers?|paths?|strings?|words?|includes?|urls?)"
    "(?: to| of| for| from)? {old} (?:with|by|to|into|for)(?: (?:one|ones|that|those|an? [\\w-]+|the [\\w-]+|links"
    "|references|mentions|imports)(?: to| of| for| from)?)? {new}",
    "\ue000 from {old} (?:to|into) {new}", "use {new} (?:instead|in place) of {old}(?= in \ue000)",
    "\ue000 (?:that|which|to) (?:renam|mov|replac|swap|copi|copy|convert|exchang)\\w* {old} (?:to|with|by|into|for|as)"
    " {new}",
)
QUOTED_JA = ("{old}(?:への|の)(?:リンク|参照|言及|文字列|インポート)を{new}(?:への(?:リンク|参照))?(?:に|へ|と)",)
"""What speaks of names that stand in some file, or that a program works on, so that neither file has to change."""
_PART = "(?:contents?|text|body|titles?|headings?|lines?|sections?|paragraphs?|words|rows?|data|values?|styles?)"
FILLED = (
    f"{_PART} (?:of|in|from) {{old}} (?:with|by|to|into) (?:that|those|the(?: [\\w-]+){{1,3}}) (?:of|in|from) {{new}}",
    f"{{old}}['\u2019]s(?: [\\w-]+)? {_PART} (?:with|by|to) {{new}}", "overwrite {old} (?:with|by) {new}",
)
DUPLICATES, DUPLICATES_JA = "copy|cp|duplicate|clone|back up|collect|gather", "コピー|複製|バックアップ|集め"
CONVERTS, CONVERTS_JA = "convert|transform|transcode|port", "変換"
PUTS, PUTS_JA = "put|place|bring", "入れ|置[いくきけ]"
"""Verbs by which each file of a kind comes to be elsewhere: in addition, in another form or in its place, or by moving
where a folder is named."""
CONVERTED = (
    f"(?:{CONVERTS}|turn|render|export) {{old}} (?:in)?to (?:an? )?(?!\ue000)[\\w.+-]+(?: files?)?"
    "(?=\\s*(?:[.,;:!)\n]|\\Z))",
)
CONVERTED_JA = ("{old}を[A-Za-z]{2,12}(?:形式)?[にへ](?:変換|書き出|エクスポート)",)
"""What gives a file another form, without a word of its new name."""
COPIED = ("(?:copy|duplicate|clone|back up|cp) {old} (?:to|into|in|under) {new}",)
COPIED_JA = ("{old}を{new}[にへ](?:コピー|複製|バックアップ)",)
"""What puts each of some files into a folder as well."""
_HAS = "(?:contents?|names?|places?|positions?|texts?)"
_SWAPS = "(?:swap|exchange|interchange|transpose|switch|trade)"
SWAPPED = (
    f"{_SWAPS}(?: around| over)? {{old}}(?: around| over)?"
    "(?=\\s*(?:[.,;:!)\n]|\\Z)|\\s+(?:and|so|please|then|now)(?!\\w))",
    f"{_SWAPS} (?:the )?{_HAS} of {{old}} (?:with|and|for) (?:that|those|the {_HAS}) of {{new}}",
    f"{_SWAPS} {{old}}['\u2019]s {_HAS} (?:with|and|for) {{new}}['\u2019]s(?!\\w)",
    "{old} [^.;\n\ue000]{1,40}{new},? and (?:vice versa|the other way a?round)",
    f"{_SWAPS} (?:the )?{_HAS} of {{old}}", f"(?:let|have|make) {{old}} {_SWAPS} {_HAS}",
    f"{{old}}(?: should| must| have to| need to| shall)+ {_SWAPS} {_HAS}",
    "{old}(?: should| must| have to| need to| shall)+ be (?:swapped|exchanged|interchanged|switched)",
)
SWAPPED_JA = (
    "{old}(?:の(?:中身|内容|名前|位置|順番))?を(?:互いに|相互に|それぞれ)?(?:入れ替え|入れかえ|入替|交換|スワップ|取り替え|とりかえ)",
    "{old}の(?:中身|内容)と{new}の(?:中身|内容)を(?:互いに|相互に)?(?:入れ替え|入れかえ|入替|交換|スワップ)",
    "{old}を(?:逆に|あべこべに)",
)
"""What gives each of two files what the other one has."""
_ENTERS = "(?:add|append|insert|include|enter|register|mention|(?:start|stop) ignoring)"
_ITS_LIST = "(?:(?:the |its |a )?[\\w -]{1,30} (?:in|of) )?"
ENTERED = (
    f"{_ENTERS} {{old}} (?:to|into|in) {_ITS_LIST}{{new}}",
    f"(?:put|copy|paste|append|insert|add) {{old}}['\u2019]s(?: [\\w-]+)? {_PART}"
    f" (?:at|to|into|in|on) {_ITS_LIST}{{new}}",
    f"(?:{DELETE}|strip) {{old}} (?:out of|from) {_ITS_LIST}{{new}}",
    f"{_SWAPS} (?:the )?(?:links?|references?|mentions?|imports?) (?:to|of) {{old}} (?:in|of) {{new}}",
    f"{_SWAPS} {{old}} (?:in|within) {{new}}",
)
ENTERED_JA = (
    "{old}を{new}[にへ](?:追加|追記|記載|登録|加え|入れ)", f"{{old}}を{{new}}から(?:{DELETE_JA}|外[しす])",
    f"{{new}}から{{old}}を(?:{DELETE_JA}|外[しす])",
    "{new}の(?:末尾|先頭|冒頭|最後|中|下)に{old}(?:の(?:内容|中身|本文|文章))?を(?:追記|追加|挿入|書|コピー|貼|入れ)",
)
"""What writes names into a file, or takes them out of it."""
MOVED = (
    f"(?:{MOVE}|put|place|store|bring) {{old}} (?:to|into|in|under) {{new}}",
    "{old}(?: should| must| both| all)* (?:go(?:es)?|belongs?) (?:to|into|in|under) {new}",
)
MOVED_JA = ("{old}を{new}[にへ](?:移動|移し|移す|入れ|置)",)
"""What moves files into a folder."""
FILLED_JA = (
    "{old}の(?:内容|中身|本文|文章|テキスト)を{new}の(?:内容|中身|本文|文章|テキスト|もの|それ)(?:に|で|と)",
)
"""What fills a file, which stays, from another one, which only serves."""
EVERYWHERE = (
    r"everywhere|wherever|throughout|across|(?:in|inside|within)\s+(?:all|every|each|any|line|title|imports|links|code"
    r"|comments?|the\s+(?:code|text|docs|documentation|links?|imports?|source))"
)
"""What says behind a replacement that names in texts are meant."""
ASKS_FIRST = "explain|describe|tell|show|list|find|read|look|check|say|review"

FOLDERS_TOO = frozenset((".bak", ".old", ".orig", ".tmp", ".out", ".bin", ".x"))
"""Of the extensions of files those that folders have as well."""
EXTENSIONS = frozenset(
    (
        ".adoc .astro .bat .bib .cfg .cmake .conf .css .csv .diff .feature .gif .gql .gradle .graphql .htm .html .http"
        " .ico .ini .ipynb .jpeg .jpg .json .json5 .jsonc .jsonl .less .log .markdown .md .mdx .ndjson .patch .pdf"
        " .plist"
        " .png .po .properties .proto .rst .sass .scss .svg .tex .tf .tfvars .toml .tsv .txt .webp .xml .xsd .yaml .yml"
        " .dat .bin .tmp .bak .old .orig .doc .docx .xls .xlsx .ppt .pptx .odt .zip .tar .gz .tgz .db .sqlite .sqlite3"
        " .pyc .rtf .tmpl .tpl .j2 .jinja .pem .crt .parquet .pkl .npy .mp3 .mp4 .wav .woff .woff2 .ttf .jar .whl .srt"
        " .ics .lockb .out .map .cmd .fish .zsh .nix .ejs .hbs .pug .styl .rmd .env.example .sum .mod .o .so .a .exe .x"
        " .py .pyi .pyx .js .jsx .mjs .cjs .ts .tsx .mts .cts .vue .svelte .go .rs .java .kt .kts .scala .groovy .c .h"
        " .cc .cpp .cxx .hpp .hh .m .mm .cs .fs .vb .rb .php .swift .dart .ex .exs .erl .hs .clj .lua .pl .pm .r .jl"
        " .zig"
        " .nim .sh .bash .ps1 .sql"
    ).split()
)
PRODUCTS = frozenset(
    "node.js next.js vue.js nuxt.js express.js react.js d3.js three.js chart.js backbone.js ember.js angular.js"
    " moment.js"
    " discord.js p5.js alpine.js solid.js nest.js deno.js socket.io asp.net console.log math.log np.log logging.log"
    " os.environ self.log logger.log torch.o tensorflow.js electron.js socket.js web.py sys.out system.out source.map"
    " array.map list.map stream.map".split()
)
"""Words of the shape of a file's name that are the names of something else, unless such a file exists."""
ABBREVIATIONS = frozenset(("e.g", "i.e", "a.m", "p.m", "etc", "vs", "cf", "ph.d", "u.s"))
DOT_NAMES = (
    r"\.(?:env[\w.-]*|[\w-]*(?:rc|ignore|config|attributes|keep|version|profile)(?:\.\w+)?|flake8|mailmap|htaccess"
    r"|htpasswd|github|vscode|husky|circleci|venv|gitmodules|gitlab-ci\.yml|travis\.yml|pre-commit-config\.yaml)"
)
NAMES = {
    "readme": ("README",), "changelog": ("CHANGELOG", "CHANGES", "HISTORY", "NEWS"),
    "license": ("LICENSE", "LICENCE", "COPYING"), "licence": ("LICENCE", "LICENSE", "COPYING"),
    "makefile": ("Makefile", "GNUmakefile"), "dockerfile": ("Dockerfile",), "procfile": ("Procfile",),
    "gemfile": ("Gemfile",), "jenkinsfile": ("Jenkinsfile",), "rakefile": ("Rakefile",), "pipfile": ("Pipfile",),
    "vagrantfile": ("Vagrantfile",), "brewfile": ("Brewfile",), "codeowners": ("CODEOWNERS",),
    "contributing": ("CONTRIBUTING",), "リードミー": ("README",), "変更履歴": ("CHANGELOG", "CHANGES", "HISTORY"),
    "チェンジログ": ("CHANGELOG", "CHANGES"), "ライセンスファイル": ("LICENSE", "LICENCE", "COPYING"),
}  # fmt: skip
"""Files that are known by a name without a kind, in any case; in which files each is found."""
GROUPS = (
    ("markdown file|markdown files|Markdownファイル|マークダウンファイル", ("*.md", "*.markdown")),
    ("python file|python files|Pythonファイル", ("*.py",)),
    ("csv file|csv files|CSVファイル", ("*.csv",)),
    ("json file|json files|JSONファイル", ("*.json",)),
    ("yaml file|yaml files|YAMLファイル", ("*.yaml", "*.yml")),
    ("text file|text files|txt files|テキストファイル", ("*.txt",)),
    ("html file|html files|HTMLファイル", ("*.html", "*.htm")),
    ("log|logs|log file|log files|ログ|ログファイル", ("*.log", "*.log.*", "log/**", "logs/**")),
    ("temporary files|temporary file|temp files|tmp files|temporary data|temp data|一時ファイル",
     ("*.tmp", "*.temp", "*~", "*.swp", "tmp/**", "temp/**")),
    ("backup|backups|backup files|back-ups|バックアップ",
     ("*.bak", "*.orig", "*~", "*.old", "backup/**", "backups/**")),
    ("cache|caches|キャッシュ",
     ("__pycache__/**", "*.pyc", ".cache/**", "cache/**", ".pytest_cache/**", ".mypy_cache/**")),
    ("build artifact|build artifacts|build artefacts|build output|build outputs|build files",
     ("build/**", "dist/**", "out/**", "target/**", "*.egg-info/**")),
)  # fmt: skip
"""What is deleted by a common word: which files that is."""
ONLY_ABOUT = (
    "that|which|who|how|scripts?|tools?|programs?|functions?|commands?|tests?|code|class|method|hook|job|step|rules?"
    "|options?|flags?|page|list|index|report|summary|table|parser|reader|loader|overview|references?|links?"
)
ONLY_ABOUT_JA = "スクリプト|ツール|プログラム|関数|コマンド|テスト|一覧|リスト|目次|要約|レポート|処理|機能"
"""What stands between a verb and a kind of file that is only spoken of."""
ALL_OF, ALL_OF_JA = "all|every|each|both|all of|each of|both of", "すべて|全て|全部"
EVERYTHING = (
    "everything|all files|all the files|all of the files|all my files|all our files|all these files|all of it"
    "|every file"
    "|すべて|全て|全部|全ファイル|何もかも"
)


def any_of(entries: str) -> str:
    """A pattern of the entries of a list, the longest first, so that no word hides a longer phrase."""
    known = sorted(set(entries.split("|")), key=len, reverse=True)
    return "|".join(each if "\\" in each else each.replace("+", r"\+").replace(" ", r"\s+") for each in known)


FILLERS = (
    "it|its|this|that|these|those|them|something|anything|everything|some|thing|things|stuff|one|ones|a|an|the"
    "|any|all|of"
    "|file|files|code|please|kindly|just|now|then|can|could|would|will|you|for|me|us|and|also|to|want|i|we|need|let's"
    "|lets|here|there|up|again|ok|okay|thanks|thank|bit|little|more|somehow"
)
FILLERS_JA = (
    "ファイル|コード|何か|なにか|何|それ|これ|あれ|全部|すべて|全て|新しい|ちょっと|少し|もう一度|適当に|いい感じに"
    "|お願い(?:します)?|下さい|ください|して|します|する|ほしい|欲しい|もらえますか|くれますか|くれる|もらえる"
    "|[をにのはがもとでねよ]"
)
ASKED_MAKES = "create|add|make|write|generate|build|produce|new"
ASKED_MAKES_JA = "作成|追加|生成|作って|作る|作り|書いて|足して"
ASKED_CHANGES = (
    "fix|change|update|modify|edit|correct|adjust|tweak|repair|improve|refactor|rework|rename|replace|delete|remove"
    "|clean up|clean"
)
ASKED_CHANGES_JA = "修正|変更|更新|編集|改善|調整|削除|直して|直す|変えて|消して"

GOES_ON = (
    "continue|proceed|resume|carry on|go on|go ahead|keep going|keep working|keep at it|pick up where you left off"
    "|where you left off|from where you stopped|finish|complete|the rest|what is left|what's left|what remains"
    "|the remaining|remaining|retry|try again|once more|again|next|next step|next one|next task|do it|do that|do so|do"
    "|go for it|go|yes|yep|yeah|y|sure|no|n|nope|work|working|task|tasks|job|last|previous|unfinished|same"
    "|with|on|from|at|where|left off|as before|as planned|start over|start again|move on|onwards?|more|not yet"
)
GOES_ON_JA = (
    "続け(?:て|る|ろ|よう)?|続き(?:から|を)?|続行|再開|進(?:めて|める|めろ|め|んで)|先へ|次へ?|次に|もう一度|再度|やり直し(?:て)?|残り|はい|いいえ"
    "|うん|最初から|最後まで|どうぞ|その通り|作業|タスク|仕事|前回|さっき|中断した|から|やって|ください|頼む|頼みます|よろしく"
)
"""What only speaks of a task that was given before; the fillers beside it say no more."""

GUESSES = (
    r"probably|maybe|might|perhaps|possibly|presumably|likely|seem(?:s|ed|ingly)?|appear(?:s|ed)? to"
    r"|i (?:think|guess|believe|suppose|assume)"
)
GUESSES_JA = "たぶん|多分(?!野)|おそらく|恐らく|かもしれ|かも知れ|と思います|と思われ"
_ENDED = r"(?=\s*(?:[.,;:!?)]|\Z|(?:in|on|as|at|and|or|once|twice|instead|everywhere|throughout)\b))"
_REWORDED = r"(?:replac|chang|swap|turn|renam|correct|reword|substitut)\w*"
SPOKEN_WORDS = (
    rf"(?<!\w)(?:words?|terms?|adverbs?|adjectives?|phrases?|strings?|tokens?|(?:occurrence|instance|mention|use)s? of"
    rf"|every|with the (?:text|label|title|heading|line|value|contents?)):?\s+(?:{GUESSES})(?![\w-])"
    rf"|(?<!\w)(?:contain(?:s|ing)?|hold(?:s|ing)?|say(?:s|ing)?|read(?:s|ing)?|print(?:s|ing)?)\s+(?:only\s+|just\s+)?"
    rf"(?:{GUESSES})(?![\w-]){_ENDED}"
    rf"|(?<!\w)(?:add|append|insert|remov|delet|eras|put|wrote|writ|strik|strip)\w*\s+(?:{GUESSES})\s+(?=(?:to|into|from|in|at|on"
    r"|after|before|behind)\b)"
    rf"|(?<!\w){_REWORDED}\s+(?:{GUESSES})\s+(?=(?:with|by|to|into|for)\b)"
    rf"|(?<!\w){_REWORDED}\s[^.\n]{{1,80}}?\s(?:with|by|to|into|for)\s+(?:{GUESSES})(?![\w-]){_ENDED}"
    rf"|(?<![\w-])(?:{GUESSES})(?=\.\w|/\w)|(?<=/)(?:{GUESSES})(?![\w-])"
)
"""Guessing words that are spoken of, or are a part of a file's name."""
SPOKEN_WORDS_JA = (
    rf"(?:{GUESSES_JA})\w{{0,3}}?(?=を|が含|が入|という|と(?:書|記|入力|出力|表示|追記|いう)|の(?:語|文字|言葉|単語|表現))"
)
CLAIMS = (
    r"done|complet(?:e|ed|es|ely)|finish(?:ed|es)?|ready|success(?:ful|fully)?|succeed(?:s|ed)?|works?|working|worked"
    r"|pass(?:es|ed)?|fine|ok|okay|correct|created?|added|updated|changed|modified|fixed|fixes|implemented|wrote"
    r"|written"
    r"|removed|deleted|renamed|resolved|solved|deployed|installed|built"
)
CLAIMS_JA = "完了|終わ|終了|でき(?:た|ま)|しました|成功|作成|追加|修正|変更|更新|実装|削除|直り|直し|動作|動き"
EXPECTS = r"hopefully|supposedly|presumed|i(?:'d| would)? (?:say|expect|hope)"
EXPECTS_JA = r"はず(?:です|だ|\Z)|(?:でしょう|だろう)(?!か)"
"""Words by which a sentence only expects what it says."""
SHOULD_BE = (
    r"should (?:(?:now|all|already|just|have|be|been) )*(?:works?|working|pass|passing|succeed|done|completed?|finished"
    r"|ready|fine|ok|okay|correct|fixed|created|added|updated|removed|deleted|implemented|written)"
)
"""A claim that is only expected, whatever else its sentence claims."""
LATER = (
    r"polling (?:has |was )?started|started polling|(?:started|running|continues) in the background"
    r"|(?:is|are) still running|will (?:notify|report|update) (?:you )?(?:when|once)"
)
LATER_JA = "ポーリングを?開始|バックグラウンドで(?:実行|継続)"

UNFINISHED = (
    "BLOCKED|MERGE_BLOCKED|STUCK|FAILED|FAIL|FAILURE|INCOMPLETE|NOT_COMPLETE|PARTIAL|PARTIALLY_COMPLETE|PARTIALLY_DONE"
    "|UNFINISHED|NOT_DONE|NOT_FINISHED|ABORTED|CANCELLED|CANCELED|ERROR|INVALID|NO_EVIDENCE|IN_PROGRESS"
    "|NEEDS_CLARIFICATION|WAITING|UNSUCCESSFUL"
)
"""Statuses by which an executor says that its work is not done."""
UNFINISHED_ALONE = "BLOCKED|INCOMPLETE|NOT DONE|UNFINISHED"
"""Those that say so where they begin a line by themselves."""
SPOKEN_OF = (
    "is|are|was|were|when|if|whenever|wherever|now|in|lines?|tasks?|rows?|statuses|entries|groups?|messages?|and|or"
    "|instead|too|as"
)
"""What follows the name of a status in a sentence that only speaks of it."""
UNFINISHED_CODES_JA = {
    "ブロック": "BLOCKED", "失敗": "FAILED", "未完了": "INCOMPLETE", "未完": "INCOMPLETE", "中断": "ABORTED",
    "エラー": "ERROR", "保留": "BLOCKED",
}  # fmt: skip
UNFINISHED_JA = "|".join(UNFINISHED_CODES_JA)
STATES = "state|status|result|verdict|outcome|conclusion"
STATES_JA = "状態|ステータス|結果|結論|ステイタス"
UNFINISHED_STEMS = (
    "BLOCKED", "STUCK", "FAIL", "COMPLETE", "PARTIAL", "UNFINISHED", "NOT", "ABORTED", "CANCEL", "ERROR", "INVALID",
    "NO_EVIDENCE", "NO EVIDENCE", "PROGRESS", "CLARIFICATION", "WAITING", "UNSUCCESSFUL", *UNFINISHED_CODES_JA,
)  # fmt: skip
"""A text without any of these holds none of these statuses."""

GIT = r"git(?:\s+-\S+(?:\s+[^-\s]\S*)?){0,4}\s+"
_ENDS = (
    r"(?=[\"'`)\]]*(?:\s*\Z|\s*[.,;:!?\n]|\s+[-(&|]|[^\x00-\x7f]"
    r"|\s+(?:of|on|in|at|for|from|and|then|now|please|before|after|with|to|as|again|first|if|so|or|via|by|using|under"
    r"|without|because|that|which|completely|entirely|immediately|permanently|recursively|today|forever|too|also|at)\b))"
)
_SOME = r"(?:(?!(?:on|for|with|into|as|onto|over|under|to|by|and|or|shadows?|support|from|in|of|about)\s)[^\s,;:]+\s+)"
_OF = r"(?:of\s+)?(?:(?:the|my|your|our|these|those|this|its|their|his|her)\s+)?"

DESTRUCTIVE_COMMANDS = (
    r"rm\s+(?:\S+\s+){0,6}?(?:-[a-z]*r[a-z]*|--recursive)(?![\w-])",
    r"(?:drop|truncate)\s+(?:tables?|databases?|schemas?|columns?|keyspaces?|collections?|db)(?!\w)"
    r"(?!\s+(?:cells?|shadows?|zones?|headers?|captions?|titles?|names?|widths?))",
    r"delete-stack|destroy|terminate-instances",
    rf"{GIT}push\s+(?:\S+\s+){{0,6}}?(?:--force(?:-[a-z-]+)?(?:=\S+)?|--mirror|--delete|-[a-z]*f[a-z]*|-d)(?![\w-])",
    rf"{GIT}reset\s+(?:\S+\s+){{0,6}}?--hard",
    rf"{GIT}clean\s+(?:\S+\s+){{0,3}}?(?:-[a-z]*f[a-z]*|--force)",
    rf"{GIT}(?:filter-branch|filter-repo|stash\s+(?:clear|drop)|reflog\s+expire|update-ref\s+-d)",
    r"kubectl\s+(?:\S+\s+){0,6}?delete|helm\s+(?:uninstall|delete)",
    r"docker\s+(?:(?:container|image|volume|network)\s+)?rmi?",
    r"docker\s+(?:(?:system|container|image|volume|network)\s+)prune",
    r"(?:npm|cargo|gem)\s+(?:unpublish|yank)|gh\s+(?:repo|release)\s+delete",
    r"aws\s+(?:\S+\s+){0,4}?delete-[a-z-]+|(?:aws\s+s3|gsutil)\s+(?:\S+\s+){0,3}?(?:rm|rb)",
    r"(?:gcloud|az|heroku|doctl|flyctl)\s+(?:\S+\s+){0,5}?(?:delete|destroy)",
    r"mkfs(?:\.\w+)?|wipefs|diskpart|dropdb|dropuser|userdel|crontab\s+-r|flushall|flushdb|shred\s+-\S+",
    r"dd\s+(?:\S+\s+){0,6}?of=\S+|format\s+[a-z]:|(?:del|rd|rmdir|erase)\s+(?:\S+\s+){0,3}?/s",
    r"remove-item\s+(?:\S+\s+){0,6}?-recurse|find\s+(?:\S+\s+){1,12}?-delete",
    r"delete\s+from\s+\w+(?=\s*(?:;|\Z|where\s))",
    r"(?:rake|rails)\s+db:(?:drop|reset)|prisma\s+migrate\s+reset|manage\.py\s+flush",
    r"force[\s-]+push(?:es|ed|ing)?|hard[\s-]+reset|rewrite\s+(?:the\s+)?(?:git\s+|whole\s+|entire\s+)?history",
)
_DELETES = r"(?:delete|remove|erase|wipe(?:\s+out)?|purge|shred|nuke|trash|unlink|rm|get\s+rid\s+of|clear\s+out)"
_WIPES = r"(?:delete|erase|wipe(?:\s+out)?|purge|nuke|shred|drop|truncate|reset|clear|empty|flush|tear\s+down|remove)"
_MANY = (
    r"files?|folders?|director(?:y|ies)|data|databases?|dbs?|backups?|repos?|repositor(?:y|ies)|users?|accounts?"
    r"|customers?|records?|buckets?|volumes?|containers?|instances?|clusters?|namespaces?|pods?|servers?|projects?"
    r"|sources?|source\s+code|code|codebase|history"
)
_MANY_MORE = r"logs?|documents?|branches|commits?|rows?|tables?|e?mails?|images?|entries|tags?|secrets?|certificates?"
_MEDIA = (
    r"(?:hard\s+)?(?:disks?|drives?)|partitions?|file\s?systems?|ssds?|hdds?|usb\s+(?:stick|drive)|sd\s+card|/dev/\w+"
    r"|boot\s+sector|partition\s+table"
)
_STORES = r"databases?|dbs?|data\s?bases?|(?:s3\s+)?buckets?|keyspaces?|data\s+(?:warehouse|lake)"
_LIVE = (
    r"(?:production|prod|live)(?:\s+(?:data|databases?|dbs?|environment|servers?|clusters?|systems?|buckets?|instances?"
    r"|tables?|stack|backups?|volumes?))?"
)
_WHOLE = (
    r"(?:project|repo(?:sitory)?|home\s+(?:directory|folder)|root\s+(?:directory|folder)|code\s?base|workspace|server"
    r"|machine|system|computer|git\s+history|commit\s+history|back-?ups?|cluster)"
)
DESTRUCTIVE_PHRASES = (
    rf"(?:re)?format\s+{_SOME}{{0,3}}?(?:{_MEDIA}){_ENDS}",
    rf"(?:erase|wipe(?:\s+out)?|zero(?:\s+out)?|shred|overwrite|(?:re)?partition|nuke|clean|delete|remove)\s+{_SOME}{{0,3}}?"
    rf"(?:{_MEDIA}){_ENDS}",
    rf"(?:drop|truncate)\s+{_SOME}{{1,3}}?(?:tables?|databases?|schemas?|columns?|keyspaces?|collections?|dbs?){_ENDS}",
    rf"{_WIPES}\s+{_SOME}{{0,3}}?(?:{_STORES}){_ENDS}",
    rf"(?:{_WIPES}|terminate|shut\s+down|overwrite)\s+{_SOME}{{0,3}}?(?:{_LIVE}){_ENDS}",
    rf"{_WIPES}\s+(?:the\s+)?(?:database|db|sql)\s+tables?{_ENDS}",
    rf"{_DELETES}\s+everything{_ENDS}",
    rf"{_DELETES}\s+(?:all|every)\s+{_OF}{_SOME}{{0,2}}?(?:{_MANY}){_ENDS}",
    rf"(?:delete|erase|wipe|purge|nuke|drop|truncate)\s+(?:all|every)\s+{_OF}{_SOME}{{0,2}}?(?:{_MANY_MORE}){_ENDS}",
    rf"(?:{_DELETES}|{_WIPES})\s+(?:the|my|our|your|this)\s+(?:entire|whole|complete|full)\s+{_SOME}{{0,2}}?"
    rf"(?:{_MANY}|{_WHOLE}|tables?|disk|drive|app(?:lication)?|site|website){_ENDS}",
    rf"(?:delete|erase|wipe(?:\s+out)?|purge|nuke|trash)\s+(?:(?:the|my|our|your|this)\s+)?{_WHOLE}{_ENDS}",
    rf"terminate\s+(?:all|every)\s+{_OF}{_SOME}{{0,2}}?(?:instances?|servers?|pods?|clusters?){_ENDS}",
)

_ALL_JA = "(?:すべて|全て|全部|全員|全件|全|丸ごと|まるごと|完全に|一括で?)"
_DELETES_JA = (
    "(?:削除|消去|消して|消す|消し去|抹消|破棄|ワイプ|吹き飛ば|空に|(?:drop|delete|truncate|wipe|rm)(?![A-Za-z0-9_-]))"
)
_GONE_JA = rf"(?:{_DELETES_JA}|ドロップ(?!シャドウ|ダウン)|初期化|フォーマット|クリア|リセット|format(?![A-Za-z0-9_-]))"
_STORE_JA = (
    "(?:データベース|(?<![A-Za-z])DB|テーブル|スキーマ|バックアップ|バケット|クラスタ[ーー]?|リポジトリ|ディスク|HDD|SSD"
    "|ドライブ|パーティション|ボリューム|サーバー?|ファイルシステム|本番(?:環境|データ)?|(?:ホーム|ルート)(?:ディレクトリ|フォルダ)"
    "|(?:git|コミット)の?履歴)"
)
_MANY_JA = (
    "(?:ファイル|データ|テーブル|ユーザー?|フォルダー?|ディレクトリ|レコード|リポジトリ|ブランチ|データベース|DB"
    "|バックアップ|コンテナ|インスタンス|アカウント|顧客|行|ログ|コード|ソース|プロジェクト)"
)
DESTRUCTIVE_JA = (
    rf"{_STORE_JA}\s*(?:を|の中身を|の全データを|のデータを)\s*{_ALL_JA}?\s*{_GONE_JA}",
    rf"{_STORE_JA}\s*の\s*{_ALL_JA}?\s*(?:削除|消去|初期化|ドロップ(?!ダウン|シャドウ))",
    rf"{_STORE_JA}\s*{_ALL_JA}?\s*(?:削除|消去|初期化|フォーマット)(?:して|する|せよ|しろ|をお願い)",
    rf"全(?:ての|部の)?\s*{_MANY_JA}\s*を?\s*{_DELETES_JA}",
    rf"{_MANY_JA}\s*を?\s*{_ALL_JA}\s*{_DELETES_JA}",
    r"(?:すべて|全て|全部)\s*(?:の\S{0,20})?を?\s*(?:削除|消去|消して|消す)",
    r"(?:何もかも|フォルダー?ごと|ディレクトリごと)\s*(?:を\s*)?(?:削除|消去|消して|消す)",
    r"強制\s*(?:プッシュ|push)|ハードリセット|(?:git|コミット)の?履歴を書き換え",
)
"""What destroys, as it is said in English and Japanese, and written in a shell: patterns, each of a whole phrase."""
PRECIOUS = (
    r"(?<![\w.])\.env(?:[\w.-]*)"
    r"|[\w*-]\.(?:pem|key)(?![\w-])|(?<![\w.])\.(?:pem|key)(?![\w-])"
    r"|(?<![\w-])id_rsa(?!\w)"
    r"|(?<![\w.~/-])/(?:etc|usr|var)(?![\w-])"
    r"|(?<![\w.])\.(?:ssh|aws)(?![\w-])"
)
"""Files that only a person may have touched."""
