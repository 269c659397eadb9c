"""Where a text names files and folders: the recogniser of names, whatever language stands around them.

A name is a token that is an entry of the project, or that has the shape of a path. What words say of it is not asked
here, but for those that tell a plain word such as `build` from the name of a folder.

Source: seed 001, Properties 8 and 31.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence

from orchestrator.core import names
from orchestrator.core.lazy_regex import regex
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.running import prompt_words as words

READ = 20_000
"""Characters of a task that are looked at; orders stand at its beginning, logs and listings after them."""


class Tree(NamedTuple):
    """The files and folders of a project, by relative paths with slashes."""

    files: Collection[str] = frozenset()
    folders: Collection[str] = frozenset()


NOTHING = Tree()


class Place(NamedTuple):
    """Where something is mentioned: its bounds, name, whether it is called a folder, and the command it belongs to."""

    start: int
    end: int
    name: str
    folder: bool = False
    shell: str = ""


_VERB = regex(
    words.any_of("|".join((words.DELETE, words.CLEAN, words.MOVE, words.MAKE, words.CHANGE, words.COPY))), re.IGNORECASE
)
_MAKES = regex(words.any_of(words.MAKE), re.IGNORECASE)
_TESTS = regex(words.TESTS, re.IGNORECASE)
_DELETE = regex(words.any_of(words.DELETE), re.IGNORECASE)
_PLACES = frozenset(words.PLACES.split("|"))
_STOPS = frozenset(words.ARTICLES.split("|")) | frozenset(
    re.findall("[a-z]+", "|".join((words.FOLLOWS, words.PLACES, words.SOURCES, words.EXCEPTIONS)))
    + "it them some other name names extension suffix type format size path header there here".split()
    + "left remain remaining behind".split()
)
_TRASH = frozenset(words.TRASH.split("|"))
_FENCED = regex(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[^\n]*|\Z)|^[ \t]*>[^\n]*", re.DOTALL | re.MULTILINE)
_RUN = regex(
    r"(?<!\w)(?:run|execute|do|try|then|and)(?:\s+(?:this|these|it|command|commands))?[^\w]*\Z", re.IGNORECASE
)
_ITEM = regex(r"\s*(?:(?:[-*+\u2022]|\d{1,3}[.)])\s|\u30fb)")
_ENDING = regex(
    r"(?P<en>files?)\s+(?:(?:that|which)\s+)?(?:end(?:s|ing)?\s+(?:in|with)|(?:with|having)\s+(?:(?:the|an?)\s+)?(?:file\s+)?"
    r"(?:extension|suffix|ending))\s+[\"'`]?\*?(?P<kind>\.[A-Za-z]\w{0,5})(?!\.?\w)[\"'`]?"
    r"|拡張子が?[「`\"]?\*?(?P<kind_ja>\.[A-Za-z][A-Za-z0-9]{0,5})[」`\"]?の(?P<each>(?:すべて|全て|全部)の)?ファイル",
    re.IGNORECASE | re.ASCII,
)
"""What names a kind of file by how their names end."""
_ELLIPSIS = regex(
    r"(?<![\w.*/-])(markdown|python|csv|json|yaml|text|txt|html|log)(\s*,\s*|\s+(?:and|or)\s+)"
    r"(?=(?:markdown|python|csv|json|yaml|text|txt|html|log|temporary|backup)(?:\s*,|\s+(?:and|or)\s|\s+files))",
    re.IGNORECASE,
)
"""Two kinds of files that share the word."""
_QUOTES = regex(rf"\b(?:{words.QUOTES})\b", re.IGNORECASE)
_KIND = regex(r"(?<![\w*./-])\.[A-Za-z]\w{0,5}(?=\s?(?:files?(?!\w)|ファイル))", re.ASCII)
_URL = regex(
    r"(?:[A-Za-z][A-Za-z0-9+.]{1,20}://|www\.|mailto:)[^\s)>\]」]+|[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{1,64}"
)
_SED = regex(words.SED)
_VARIABLE = regex(
    r"(?<![\w$])\$(?:\{\w{1,60}\}|[A-Za-z_]\w{0,60})(?:/[\w.*-]+)+/?|%\w{1,60}%(?:[/\\][\w.*-]+)+", re.ASCII
)
"""A path that begins with a variable of the environment, which leads out of the project for all that is known."""
_FRAME = regex(r":\d+(?=[:)\],]|\s*(?:\n|\Z))|[\"'], line \d+")
"""Behind a path: where in a file something happened, as logs and traces have it."""
_BRACES = regex(
    r"(?<![\w./${}-])([\w./-]*)\{([\w.-]{1,60}(?:,[\w.-]{0,60}){1,20}|\d{1,3}\.\.\d{1,3})\}([\w./-]*)(?![\w{}])",
    re.ASCII,
)
_BACKSLASHES = regex(r"(?<![\w\\:])(?:[\w.-]+\\)+[\w.*-]+\\?|(?<![\w\\:.])[\w.-]+\\(?=[\s\"'`.,;)]|\Z)", re.ASCII)
"""A path as Windows writes it."""
_MOST = 20
"""Names that are made of one pattern with braces."""
_TEXT = regex(
    rf"(?:{words.TEXT_FOLLOWS}|{words.TEXT_FOLLOWS_JA})\s*[:\uff1a](?P<text>(?:[^\n]|\n(?!\s*\n))+)", re.IGNORECASE
)
_ROTATED = regex(r"(.+\.[A-Za-z]\w*)\.\d{1,4}", re.ASCII)
"""An older file of the same name: `app.log.1`."""
_QUOTED = regex(
    r"`([^`\n]{1,200})`|\"([^\"\n]{1,200})\"|(?<!\w)'([^'\n]{1,200})'(?!\w)|“([^”\n]{1,200})”|「([^」\n]{1,200})」"
    r"|『([^』\n]{1,200})』|\]\(([^()\n]{1,200})\)"
)
_TOKEN = regex(
    r"[^\s\"'`<>|()\[\]「」『』“”,;:!?、。！？：；（）=&$#%^\u2190-\u21ff\u27f0-\u27ff]+"  # noqa: RUF001
    r"(?:\?[\w*-]*\.[\w*.-]+)?"
)
_ASCII_NAME = regex(r"[A-Za-z0-9_.~@+*?{}\-/]+", re.ASCII)
_EXTENSION = regex(r"\.[A-Za-z][A-Za-z0-9]{0,9}(?![A-Za-z0-9_])", re.ASCII)
_PARTICLES = frozenset(("て", "べて", "すべて", *"をはがにへでとのも"))
_DOT_NAME = regex(words.DOT_NAMES, re.ASCII)
_WORD = regex(r"(?<![\w./~@\-])[A-Za-z_][\w-]*(?![\w/]|\.\w)", re.ASCII)
_FOLDER_NAME = regex(r"[\w.\-/ ]*[A-Za-z_][\w.\-/ ]*/")
_FOLDER_AFTER = regex(
    rf"[\"'`]?(?:\s+(?:{words.FOLDER})(?!\w)|\s?(?:という(?:名前の|名の)?)?(?:{words.FOLDER_JA}))", re.IGNORECASE
)
_FOLDER_BEFORE = regex(
    rf"(?<!\w)(?:{words.FOLDER}|files?)(?:\s+(?:called|named))?\s*[:\s]\s*[\"'`]?\Z|(?:{words.FOLDER_JA})[「『]?\Z",
    re.IGNORECASE,
)
_FOLDER_CALLED = regex(r"(?<!\w)(?:folders?|directory|dir)\s+(?:(?:called|named)\s*)?[\"'`]?\Z", re.IGNORECASE)
_CALLED = regex(r"(?<!\w)(?:files?|folders?|directory|dir)\s+(?:called|named)\s*[\"'`]?\Z", re.IGNORECASE)
NEXT_WORD = regex(
    rf"[\"'`)\]*]*(?:\s*\Z|\s*[^\w\s]|\s+[-(\u2013\u2014]|\s+(?:{words.FOLLOWS})(?!\w)|\s*[^\x00-\x7f])", re.IGNORECASE
)
_SHELL = regex(
    r"(?<![\w.-])(?:git\s+)?(?P<name>rm|rmdir|mkdir|mv|cp|unlink)(?P<flags>(?:\s+-[\w-]+)*)\s+(?=[\w./*])"
)
_ARGUMENT = regex(r"[\w./~*?@+-]+(?=[\s\"'`;&|)]|\Z)[ \t]*", re.ASCII)


_SPARES = regex(r"\s+(?:except|excluding|besides|apart\s+from)(?!\w)", re.IGNORECASE)
_ALL_IN = regex(r"(?<!\w)(?:everything|all|every|any)(?!\w)[^.,;\n]{0,30}\Z", re.IGNORECASE)
_ITS_NAME = r"[\"'`]?(?P<new>[A-Za-z_][\w-]*)[\"'`]?(?=\s*(?:\Z|[.,;!?\n])|\s+(?:and|now|please)\b)"
_NOUN = rf"(?:{words.FOLDER}|files?|scripts?)"
_ENTRY = rf"(?:(?:the|my|our|called|named|{_NOUN})\s+)"
_RENAMED = (
    regex(
        rf"(?<![\w\-])(?:{words.any_of(words.MOVE)}|copy|duplicate)\s+{_ENTRY}*[\"'`]?(?P<old>[\w./-]+)[\"'`]?"
        rf"(?:\s+{_NOUN})?\s+(?:to|as|into)\s+{_ITS_NAME}",
        re.IGNORECASE,
    ),
    regex(
        rf"(?<![\w./-])(?:{_NOUN}\s+(?:(?:called|named)\s+)?[\"'`]?(?P<old>[\w./-]++)[\"'`]?"
        rf"|[\"'`]?(?P<before>[\w./-]++)[\"'`]?\s+{_NOUN})"
        r"\s+(?:should|must|shall|needs? to|has to)\s+(?:be|get)"
        rf"\s+(?:called|named|renamed(?:\s+(?:to|as|into))?)\s+{_ITS_NAME}",
        re.IGNORECASE,
    ),
    regex(
        rf"(?<![A-Za-z0-9_./-])(?P<old>[A-Za-z0-9_./-]++)(?:という)?(?:名前の)?(?:ファイル|{words.FOLDER_JA})?(?:の名前)?"
        rf"を(?P<new>[A-Za-z_][A-Za-z0-9_-]*)[にへと]\s*(?:{words.MOVE_JA}|コピー|複製|変)",
    ),
)
"""A folder, or a file without an extension, that gets another name, which is a plain word."""


def has_extension(name: str) -> bool:
    """Whether a path ends as files of a known kind do, and folders do not."""
    stem, dot, extension = name.rpartition("/")[2].rpartition(".")
    return bool(stem and dot) and f".{extension.lower()}" in words.EXTENSIONS - words.FOLDERS_TOO


def named(name: str, path: str) -> bool:
    """Whether a name means a path: case does not count, folders before it may be left out, and words before its end.

    So may be the kind of a file that is known without one, such as README.
    """
    wanted, whole = name.casefold(), path.casefold()
    stems = [each.casefold() for each in words.NAMES.get(wanted.rpartition("/")[2], ())]
    folder = wanted.rpartition("/")[0]
    last = whole.rpartition("/")[2]
    if stems and (last in stems or last.partition(".")[0] in stems):
        return not folder or f"/{whole}".endswith(f"/{folder}/{last}")
    before = whole[: -len(wanted)][-1:]
    return whole.endswith(wanted) and (before in ("", "/", " ") or not before.isascii())


def is_as_written(name: str, path: str) -> bool:
    """Whether a path ends as a name is written, as a file that is to be made has to; one such as a readme need not."""
    return path.endswith(name) or name.rpartition("/")[2].partition(".")[0].casefold() in _STEMS


class Index:
    """A tree, asked for the entries that a name means."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self._by_name: dict[str, list[str]] | None = None

    def entries(self, name: str) -> tuple[list[str], list[str], bool]:
        """The files and folders of a name, and whether it is exactly the path of one."""
        if name in self.tree.files or name in self.tree.folders:
            return [name] if name in self.tree.files else [], [name] if name in self.tree.folders else [], True
        last = name.casefold().rpartition("/")[2]
        candidates = [path for stem in (last, *words.NAMES.get(last, ())) for path in self._of_name(stem.casefold())]
        found = [path for path in dict.fromkeys(candidates) if named(name, path) and " " not in path[: -len(name)]]
        folded = [path for path in found if path.casefold() == name.casefold()]
        top = folded or [path for path in found if last in words.NAMES and "/" not in path and "/" not in name]
        found = top or found
        return (
            [each for each in found if each in self.tree.files],
            [each for each in found if each in self.tree.folders],
            bool(top),
        )

    def _of_name(self, last: str) -> list[str]:
        if self._by_name is None:
            self._by_name = {}
            for path in (*self.tree.files, *self.tree.folders):
                name = path.casefold().rpartition("/")[2]
                keys = {name, name.partition(".")[0]} if name.partition(".")[0] in _STEMS else {name}
                for key in keys if name.isascii() else {*keys, _tail(name)}:
                    self._by_name.setdefault(key, []).append(path)
        return self._by_name.get(last, [])

    def has(self, name: str) -> bool:
        """Whether an entry of the tree has this name."""
        files, folders, _ = self.entries(name)
        return bool(files or folders)

    @functools.cached_property
    def words(self) -> frozenset[str]:
        """The entries at the top of the tree, as one word each."""
        tops = (path for path in (*self.tree.files, *self.tree.folders) if "/" not in path)
        return frozenset(path for path in tops if _WORD.fullmatch(path))

    @functools.cached_property
    def spaced(self) -> tuple[str, ...]:
        """The files with blanks in their names."""
        return tuple(path for path in self.tree.files if " " in path)


_STEMS = frozenset(stem.casefold() for stems in words.NAMES.values() for stem in stems)


def _tail(name: str) -> str:
    """What of a name stands behind its last character that is not ASCII."""
    at = max((place for place, character in enumerate(name) if not character.isascii()), default=-1)
    return name[at + 1 :]


def plain(text: str) -> str:
    """The text that is read: fenced blocks and quoted lines are blank in it, but for commands, and so are addresses.

    A substitution as `sed` has it is read as a verb.
    """
    said = re.sub("[\ue000-\uf8ff]", " ", unicodedata.normalize("NFC", text[:READ]))
    said = _FENCED.sub(lambda match: match[0] if _is_command(match[0]) else re.sub(r"[^\n]", " ", match[0]), said)
    said = _KIND.sub(lambda match: f"*{match[0]}" if match[0].lower() in words.EXTENSIONS else match[0], said)
    said = _ELLIPSIS.sub(r"\1 files\2", said)
    said = _ENDING.sub(_kind_of, said)
    said = _BACKSLASHES.sub(lambda match: match[0].replace("\\", "/"), said)
    said = _SED.sub(lambda match: "fix".ljust(len(match[0])), said)
    said = _BRACES.sub(_expanded, said)
    said = _VARIABLE.sub(lambda match: " " * len(match[0]), said)
    return _URL.sub(lambda match: " " * len(match[0]), _unquoted(said))


def _kind_of(match: re.Match[str]) -> str:
    """A kind of file as a pattern."""
    kind = match["kind"] or match["kind_ja"]
    if kind.lower() not in words.EXTENSIONS:
        return match[0]
    return f"*{kind} {match['en']}" if match["kind"] else f"{match['each'] or ''}*{kind}ファイル"


def _expanded(match: re.Match[str]) -> str:
    """The names that a shell makes of a pattern with braces; a pattern that is no path stays."""
    before, inner, after = match.groups()
    first, dots, last = inner.partition("..")
    if dots and not 0 <= int(last) - int(first) < _MOST:
        return match[0]
    parts = [str(each) for each in range(int(first), int(last) + 1)] if dots else inner.split(",")
    names = [f"{before}{each}{after}" for each in parts]
    return ", ".join(names) if "." in f"{before}{after}" or "/" in f"{before}{after}" else match[0]


def _unquoted(text: str) -> str:
    """The text without the lines that a line such as "explain this error:" leads to; items of a list are kept."""
    lines, quoting = text.split("\n"), False
    for number, line in enumerate(lines):
        if quoting and line.strip() and not _ITEM.match(line):
            lines[number] = " " * len(line)
            continue
        quoting = line.rstrip().endswith(":") and _QUOTES.search(line) is not None
    return "\n".join(lines)


def _is_command(block: str) -> bool:
    lines = [line.strip("$ \t") for line in block.split("\n")[1:] if line.strip("`~$ \t")]
    return bool(lines) and all(_SHELL.match(line) for line in lines)


def masked(text: str, places: Sequence[Place]) -> str:
    """The text with every mention blackened, so that no part of a name is taken for a word.

    So is what is quoted, where anything is mentioned outside of it.
    """
    spans = [(start, end) for start, end in _quotations(text, places)
             if not any(start <= each.start < end or each.start <= start < each.end for each in places)]  # fmt: skip
    for start, end in spans if places else ():
        text = text[:start] + re.sub(r"[^\n]", "\ue001", text[start:end]) + text[end:]
    pieces, at = [], 0
    for place in places:
        pieces += [text[at : place.start], "\ue000" * (place.end - place.start)]
        at = place.end
    return "".join((*pieces, text[at:]))


def places(text: str, index: Index) -> list[Place]:
    """Where something is mentioned, in order, none within another."""
    found: list[Place] = []
    for place in (*_quoted(text, index), *_spaced(text, index), *_shell(text, index), *_tokens(text, index),
                  *_plain_words(text, index), *_renamed(text, index)):  # fmt: skip
        found.append(place)
    found.sort(key=lambda place: (place.start, -place.end))
    kept: list[Place] = []
    for place in found:
        if not kept or place.start >= kept[-1].end:
            kept.append(place)
    spans = list(_quotations(text, kept))
    outside = [each for each in kept if not any(start <= each.start < end for start, end in spans)]
    return outside or kept


def _quotations(text: str, places: Sequence[Place]) -> Iterator[tuple[int, int]]:
    """The bounds of quotations of several words, and of listed commands, that are not to be run."""
    yield from (match.span("text") for match in _TEXT.finditer(text))
    whole = {(place.start, place.end) for place in places}
    for pattern, match in ((each, match) for each in (_QUOTED, _FENCED) for match in each.finditer(text)):
        start, end = match.span(match.lastindex or 0) if pattern is _QUOTED else match.span()
        inner = match[0][1:-1].strip()
        several = " " in inner or not inner.isascii() or pattern is _FENCED
        if several and (start, end) not in whole and not _RUN.search(text, max(0, match.start() - 20), match.start()):
            yield start, end


def _quoted(text: str, index: Index) -> Iterator[Place]:
    for match in _QUOTED.finditer(text):
        number = match.lastindex or 1
        inner = match[number].strip()
        begin = match.start(number) + len(match[number]) - len(match[number].lstrip())
        before, after = text[max(0, match.start() - 40) : match.start()], text[match.end() : match.end() + 20]
        called = _CALLED.search(before) or _FOLDER_BEFORE.search(before) or _FOLDER_AFTER.match(after)
        name, folder = names.normal_path(inner.rstrip("/")), inner.endswith("/")
        if not index.has(name) and (": " in inner or _FRAME.match(text, begin + len(inner))):
            continue
        if not name or _SHELL.match(inner) or (not index.has(name) and _is_prose_of(inner, index)):
            continue
        if (called and not re.search(r"[:=(){}]", inner)) or index.has(name) or _is_path(inner, index, spaced=True):
            folder = folder or _FOLDER_CALLED.search(before) is not None
            yield Place(begin, begin + len(inner), name, folder or bool(_FOLDER_AFTER.match(after)))


def _is_prose_of(inner: str, index: Index) -> bool:
    """Whether a quotation of several words speaks of a file: its end is the name of one that exists."""
    tails = (inner[match.end() :] for match in re.finditer(r"\s+", inner))
    return any(index.has(tail) for tail in tails)


def _spaced(text: str, index: Index) -> Iterator[Place]:
    for path in index.spaced:
        at = text.find(path)
        if at >= 0:
            yield Place(at, at + len(path), path)


def _shell(text: str, index: Index) -> Iterator[Place]:
    """The arguments of a command that is named as it is typed."""
    at = 0
    for match in _SHELL.finditer(text):
        if match.start() < at:
            continue
        name, at, found = match["name"], match.end(), 0
        while (argument := _ARGUMENT.match(text, at)) is not None:
            raw = argument[0].strip()
            if raw.startswith("-") or (raw.lower() in _STOPS and not index.has(raw)):
                break
            at = argument.end()
            path = names.normal_path(raw.rstrip("./") if raw.endswith((".", "/")) else raw)
            # Where something goes need not be there.
            goes = name in ("mv", "cp") and found == 1 and NEXT_WORD.match(text, at) is not None
            known = match["flags"] or name in ("mkdir", "rmdir") or goes or index.has(path) or _is_path(raw, index)
            if path and known:
                found += 1
                yield Place(argument.start(), argument.start() + len(raw), path, raw.endswith("/"), name)


def _tokens(text: str, index: Index) -> Iterator[Place]:
    for match in _TOKEN.finditer(text):
        start, token = match.start(), match[0]
        if token.isascii():
            yield from _ascii(start, token, text, index)
        else:
            yield from _unicode(start, token, text, index)


def _ascii(start: int, token: str, text: str, index: Index) -> Iterator[Place]:
    """A token without blanks, with what marks emphasis or ends a sentence taken off."""
    raw = token.rstrip(".-,~") if not set(token) <= set("./") else ""
    if raw.endswith("*") and raw.startswith("*"):
        stripped = raw.strip("*")
        start, raw = start + raw.index(stripped) if stripped else start, stripped
    if raw.startswith("@"):
        start, raw = start + 1, raw[1:]
    if raw.startswith("_") and raw.endswith("_") and len(raw) > 2:
        start, raw = start + 1, raw[1:-1]
    called = _CALLED.search(text[max(0, start - 40) : start]) is not None
    if text[start + len(raw) : start + len(raw) + 1] in ("(", "<", "$", "{") or not _ASCII_NAME.fullmatch(raw):
        return
    if _is_path(raw, index) or (called and re.search(r"[A-Za-z]", raw) and not raw.startswith("-")):
        name = names.normal_path(raw.rstrip("/"))
        if name and (index.has(name) or not _FRAME.match(text, start + len(raw))):
            folder = _FOLDER_CALLED.search(text[max(0, start - 40) : start]) is not None
            yield Place(start, start + len(raw), name, folder or raw.endswith("/"))


def _unicode(start: int, token: str, text: str, index: Index) -> Iterator[Place]:
    """Names within text without blanks: by their extension, by a name that is known, or by one that exists."""
    at = 0
    for match in _EXTENSION.finditer(token):
        if match[0].lower() not in words.EXTENSIONS or match.start() < at:
            continue
        name = _stem(token[at : match.start()]) + match[0]
        # "拡張子を.txtに" names a kind.
        if name != match[0] and name.lower() not in words.PRODUCTS and name[: -len(match[0])] not in _PARTICLES:
            yield Place(start + match.end() - len(name), start + match.end(), names.normal_path(name))
            at = match.end()
    for match in _ASCII_NAME.finditer(token):
        yield from _ascii(start + match.start(), match[0], text, index)
        word = match[0].rstrip("/")
        folder = match[0].endswith("/") or _FOLDER_AFTER.match(token, match.end()) is not None
        if index.has(word) or (folder and word):
            yield Place(start + match.start(), start + match.start() + len(match[0]), names.normal_path(word), folder)
    for known in words.NAMES:
        if not known.isascii() and known in token:
            yield Place(start + token.index(known), start + token.index(known) + len(known), known)


def _stem(before: str) -> str:
    """The end of a text that is the stem of a name: its ASCII end, or else its last word of one script."""
    folders, slash, last = before.rpartition("/")
    plain = re.search("[^\u3040-\u30ff\u3400-\u9fff\uff66-\uff9f]*\\Z", last)
    name = plain[0] if plain else ""
    if not name:
        tail = re.search("[\u4e00-\u9fff\u30a0-\u30ff々ー]+\\Z", last) or re.search("[\u3040-\u309f]+\\Z", last)
        name = tail[0] if tail else ""
    whole = name == last
    return f"{_stem(folders)}/{name}" if slash and whole and folders else (f"/{name}" if slash and whole else name)


def _plain_words(text: str, index: Index) -> Iterator[Place]:
    """Plain words that name an entry of the project, or that are called a folder or are known as files."""
    for match in _WORD.finditer(text):
        word, at, end = match[0], match.start(), match.end()
        after, before = text[end : end + 40], text[max(0, at - 40) : at]
        called, known = _FOLDER_AFTER.match(after) or _FOLDER_BEFORE.search(before), word.lower() in words.NAMES
        if not called and not known and word not in index.words:
            continue
        if called and word.lower() not in _STOPS and _is_folder(word, before, index):
            yield Place(at, end, word, bool(_FOLDER_AFTER.match(after) or _FOLDER_CALLED.search(before)))
        elif known and (word != word.lower() or NEXT_WORD.match(after) or index.has(word)):
            yield Place(at, end, word)
        elif word in index.words and _is_named(before, after) and not _is_prose(word, before):
            yield Place(at, end, word)


def _is_named(before: str, after: str) -> bool:
    """Whether a word stands for itself: a sentence may go on behind it, also with what of all in it is spared."""
    return bool(NEXT_WORD.match(after) or (_SPARES.match(after) and _ALL_IN.search(before)))


def _renamed(text: str, index: Index) -> Iterator[Place]:
    """The plain words that are to be the names of entries of the project, and what these are called now."""
    for match in (each for pattern in _RENAMED for each in pattern.finditer(text)):
        old = "before" if match.groupdict().get("before") else "old"
        name = names.normal_path(match[old].rstrip("/"))
        files, folders, _ = index.entries(name)
        plain = folders or (name in files and not has_extension(name))
        if plain and match["new"].lower() not in _STOPS | _TRASH:
            yield Place(match.start(old), match.end(old), name)
            yield Place(match.start("new"), match.end("new"), match["new"], folder=bool(folders))


def _is_prose(word: str, before: str) -> bool:
    """Whether a word that names an entry is one of every day: behind no verb or preposition, or tests to be written."""
    said = before.lower().rsplit(None, 2)
    last = said[-1] if said else ""
    if last == "the" and _DELETE.fullmatch(said[-2] if len(said) > 1 else ""):
        return False
    makes = _MAKES.fullmatch(last) is not None
    return not (before.endswith(("`", '"', "'")) or _VERB.fullmatch(last) or last in _PLACES or last == "and") or (
        makes and _TESTS.match(word) is not None
    )


def _is_folder(word: str, before: str, index: Index) -> bool:
    """Whether the word beside "folder" is its name: such a folder exists, is named, or is to be made or deleted."""
    return index.has(word) or _CALLED.search(before) is not None or _VERB.search(before) is not None


def _is_path(raw: str, index: Index, *, spaced: bool = False) -> bool:
    """Whether a token has the shape of a path."""
    lower, last = raw.lower(), raw.rstrip("/").rpartition("/")[2]
    if lower.strip(".") in words.ABBREVIATIONS or not raw.strip("./~-*?") or raw.startswith(("~", "-")) or "//" in raw:
        return False
    if ".." in raw.split("/"):
        return False
    name = names.normal_path(raw.rstrip("/"))
    if ("." in last or "/" in raw) and index.has(name):
        return True
    if lower in words.PRODUCTS or (" " in raw and not spaced):
        return False
    if "*" in raw or "?" in raw:
        known = "*" in raw or has_extension(raw)
        return known and re.fullmatch(r"[\w./*?-]+", raw) is not None and ("." in last or "/" in raw)
    if last.startswith("."):
        return _DOT_NAME.fullmatch(last) is not None
    if last in ("README", "LICENSE", "CHANGELOG") or ("/" in raw and last.lower() in words.NAMES):
        return True
    older = _ROTATED.fullmatch(last)
    last = older[1] if older else last
    extension = "." + last.rpartition(".")[2].lower() if "." in last else ""
    if extension in words.EXTENSIONS and last != extension and not re.fullmatch(r"\d[\d.]*\.\w", last):
        return True
    first = raw.lstrip("/").partition("/")[0] if not raw.startswith("./") else "."
    return ("/" in raw.rstrip("/") and not raw.startswith("/") and (first == "." or first in index.tree.folders)) or (
        raw.endswith("/") and not raw.startswith("/") and _FOLDER_NAME.fullmatch(raw) is not None
    )
