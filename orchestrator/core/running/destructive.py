"""Words of destructive operations, in English, Japanese and shell, and files that only a person may have touched.

What destroys is a verb together with what it destroys: a disk is formatted and so is code, a table is dropped and so is
a shadow. A thing that is named is the object only where its phrase ends with it, so that "delete the database" is meant
and "delete the database comment" is not.

Source: seed 000, INV-2.
"""

from __future__ import annotations

import re
import unicodedata

_GIT = r"git(?:\s+-\S+(?:\s+[^-\s]\S*)?){0,4}\s+"
_ENDS = (
    r"(?=[\"'`)\]]*(?:\s*\Z|\s*[.,;:!?\n]|\s+[-(&|]|[^\x00-\x7f]"
    r"|\s+(?:of|on|in|at|for|from|and|then|now|please|before|after|with|to|as|again|first|if|so|or|via|by|using|under"
    r"|without|because|that|which|completely|entirely|immediately|permanently|recursively|today|forever|too|also|at)\b))"
)
_SOME = r"(?:(?!(?:on|for|with|into|as|onto|over|under|to|by|and|or|shadows?|support|from|in|of|about)\s)[^\s,;:]+\s+)"
_OF = r"(?:of\s+)?(?:(?:the|my|your|our|these|those|this|its|their|his|her)\s+)?"

_COMMANDS = (
    r"rm\s+(?:\S+\s+){0,6}?(?:-[a-z]*r[a-z]*|--recursive)(?![\w-])",
    r"(?:drop|truncate)\s+(?:tables?|databases?|schemas?|columns?|keyspaces?|collections?|db)(?!\w)"
    r"(?!\s+(?:cells?|shadows?|zones?|headers?|captions?|titles?|names?|widths?))",
    r"delete-stack|destroy|terminate-instances",
    rf"{_GIT}push\s+(?:\S+\s+){{0,6}}?(?:--force(?:-[a-z-]+)?(?:=\S+)?|--mirror|--delete|-[a-z]*f[a-z]*|-d)(?![\w-])",
    rf"{_GIT}reset\s+(?:\S+\s+){{0,6}}?--hard",
    rf"{_GIT}clean\s+(?:\S+\s+){{0,3}}?(?:-[a-z]*f[a-z]*|--force)",
    rf"{_GIT}(?:filter-branch|filter-repo|stash\s+(?:clear|drop)|reflog\s+expire|update-ref\s+-d)",
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
_PHRASES = (
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
    "(?:削除|消去|消して|消す|消し去|抹消|破棄|ワイプ|吹き飛ば|空に"
    "|(?:drop|delete|truncate|wipe|rm)(?![A-Za-z0-9_-]))"
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
_JAPANESE = (
    rf"{_STORE_JA}\s*(?:を|の中身を|の全データを|のデータを)\s*{_ALL_JA}?\s*{_GONE_JA}",
    rf"{_STORE_JA}\s*の\s*{_ALL_JA}?\s*(?:削除|消去|初期化|ドロップ(?!ダウン|シャドウ))",
    rf"{_STORE_JA}\s*{_ALL_JA}?\s*(?:削除|消去|初期化|フォーマット)(?:して|する|せよ|しろ|をお願い)",
    rf"全(?:ての|部の)?\s*{_MANY_JA}\s*を?\s*{_DELETES_JA}",
    rf"{_MANY_JA}\s*を?\s*{_ALL_JA}\s*{_DELETES_JA}",
    r"(?:すべて|全て|全部)\s*(?:の\S{0,20})?を?\s*(?:削除|消去|消して|消す)",
    r"(?:何もかも|フォルダー?ごと|ディレクトリごと)\s*(?:を\s*)?(?:削除|消去|消して|消す)",
    r"強制\s*(?:プッシュ|push)|ハードリセット|(?:git|コミット)の?履歴を書き換え",
)

_DESTRUCTIVE = re.compile(
    rf"(?<![\w.-])(?:{'|'.join(_COMMANDS)})(?![\w-])|(?<![\w.-])(?:{'|'.join(_PHRASES)})|{'|'.join(_JAPANESE)}",
    re.IGNORECASE,
)
_PRECIOUS = re.compile(
    r"(?<![\w.])\.env(?:[\w.-]*)"
    r"|[\w*-]\.(?:pem|key)(?![\w-])|(?<![\w.])\.(?:pem|key)(?![\w-])"
    r"|(?<![\w-])id_rsa(?!\w)"
    r"|(?<![\w.~/-])/(?:etc|usr|var)(?![\w-])"
    r"|(?<![\w.])\.(?:ssh|aws)(?![\w-])",
    re.IGNORECASE | re.ASCII,
)
# Whether a branch is deleted by force is a matter of case.
_BRANCH = re.compile(rf"(?<![\w.-]){_GIT}branch\s+(?:\S+\s+){{0,3}}?-[a-zA-Z]*D")


def plain(text: str) -> str:
    """Full-width letters made plain and runs of whitespace one space, so that they hide nothing."""
    return " ".join(unicodedata.normalize("NFKC", text).split())


def is_destructive(text: str) -> bool:
    """Whether a text names a destructive operation, or a file or path that only a person may have touched."""
    # A line's end ends a phrase, and is a mere blank within a command.
    forms = dict.fromkeys((plain(text), plain(" ; ".join(text.splitlines()))))
    return any(pattern.search(form) for form in forms for pattern in (_DESTRUCTIVE, _PRECIOUS, _BRANCH))
