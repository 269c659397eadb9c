"""Which files and folders a task mentions, and whether what was ordered of them was done. The one definition.

**What is mentioned.** A token of the task that is an existing file or folder of the project, or that has the shape of a
path: a known extension, a name such as README or Makefile, a slash at its end or behind a folder that exists, a pattern
such as `*.log`, or any name that is called a file or folder. A plain word such as `build` names a folder at the top
where it stands right behind a verb or preposition, or is called a folder. Quotes, backticks, links, `./`, punctuation
and Japanese text around a name do not count, and case does not where no entry has the exact name. Addresses, versions,
code names (`Invoice.total`), products (Node.js), fenced blocks and quoted lines are none. Logs, temporary files and the
like that are to be deleted, and tests that are to be written, are mentioned by these words.

**What decides.** At least one mention has to have become what fits: made, changed in content, or gone where its deletion
was ordered; a folder counts by what lies below it. Besides, a file that is not there before has to be there afterwards,
and what is the object of a verb of deleting or moving has to be gone. Everything else that was not touched is only named.

**What decides nothing.** Sources ("using data.csv", "described in notes.txt"), and what must not be touched ("do not touch
a.md", "except a.md"), which forbids COMPLETE where it was. A task that mentions nothing else is judged by its changes.

The verb of a mention is the nearest one before it, in Japanese behind it. It is looked at for two things only: whether
a deletion is ordered, and whether creating one file is the whole order. Names joined by "and", "or" or commas are read
as one. Deletions are ordered of what is mentioned for it, or lies below, and of nothing else.

Source: seed 001, Properties 8, 26 and 31.
"""

from __future__ import annotations

import fnmatch
import functools
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from orchestrator.core import names, task_types
from orchestrator.core.running import tests_exist
from orchestrator.core.running import vocabulary as words
from orchestrator.core.tuples import NamedTuple

MADE, CHANGED, DELETED, EITHER = "made", "changed", "deleted", "either"
"""It has to be there; be new or other in content, if anything; be gone; or any of the last two, if anything."""
SOURCE, DENIED, KEPT = "source", "denied", "kept"
"""It decides nothing; besides, it must not be touched; or not be deleted."""
GONE = "deleted"
"""What became of a path that is there no more."""

READ = 20_000
"""Characters of a task that are looked at; orders stand at its beginning, logs and listings after them."""
_MOST = 400
"""Mentions that are told apart; a task with more is a listing."""
_NEAR = 160
"""Characters before and behind a mention that are looked at."""


class Tree(NamedTuple):
    """The files and folders of a project, by relative paths with slashes."""

    files: Collection[str] = frozenset()
    folders: Collection[str] = frozenset()


NOTHING = Tree()


class Mention(NamedTuple):
    """Something that a task mentions.

    name: as it is mentioned, relative where that is possible. kind: what is ordered of it. files, folders: what had that
    name before. exact: whether one of these has exactly this path. patterns: what else it means. tests: it means any
    test. created: it is the object of a verb of creating.
    """

    name: str
    kind: str = CHANGED
    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    exact: bool = False
    patterns: tuple[str, ...] = ()
    tests: bool = False
    created: bool = False

    @property
    def decides(self) -> bool:
        """Whether it may have to be touched."""
        return self.kind not in (SOURCE, DENIED, KEPT)

    @property
    def required(self) -> bool:
        """Whether it has to be done whatever else was."""
        return self.kind in (MADE, DELETED)

    @property
    def covers(self) -> bool:
        """Whether its deletion, and that of what lies below, is ordered."""
        return self.kind in (DELETED, EITHER)


class Outcome(NamedTuple):
    """What became of what is mentioned.

    unmet: sentences without a full stop on what was ordered and not done. untouched: mentioned, and not touched.
    unmentioned: new and changed files that are not mentioned. deleted, stray: deletions that were ordered or not.
    folders: mentioned folders that were made. unnamed: a deletion was ordered without a word of what.
    """

    unmet: tuple[str, ...] = ()
    untouched: tuple[str, ...] = ()
    unmentioned: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    stray: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    unnamed: bool = False


_EDGE = r"(?<![\w.\-/])"
_CLASSES = (
    ("delete", words.DELETE, words.DELETE_JA), ("clean", words.CLEAN, ""), ("move", words.MOVE, words.MOVE_JA),
    ("make", words.MAKE, words.MAKE_JA), ("change", f"{words.CHANGE}|{words.COPY}", f"{words.CHANGE_JA}|{words.COPY_JA}"),
)  # fmt: skip
_VERBS = "|".join(f"(?P<{name}>{words.any_of(english)})" for name, english, _ in _CLASSES)
_VERB = re.compile(rf"{_EDGE}(?:{_VERBS})(?![\w\-])", re.IGNORECASE)
_VERB_JA = re.compile(
    "|".join(f"(?P<{name}>{ja})" for name, _, ja in sorted(_CLASSES, key=lambda each: each[0] != "change") if ja)
)
_EVENT = re.compile(
    rf"(?P<line>\n)(?P<item>\s*(?:[-*+\u2022]|\d{{1,3}}[.)])\s)?|(?P<end>[.!?](?=\s|\Z)|[。！？；])"  # noqa: RUF001
    rf"|(?P<turn>[,;]|\bbut\b)|{_EDGE}(?:(?P<plain>{words.any_of(words.NO_DENIALS)})|(?P<denial>{words.any_of(words.DENIALS)})"
    rf"|(?P<if>{words.any_of(words.PERHAPS)})|{_VERBS})(?![\w\-])|(?P<if_ja>{words.any_of(words.PERHAPS_JA)})",
    re.IGNORECASE,
)
"""What is heard between two mentions."""
_NOUN = re.compile(rf"\b{words.NOUNS}\s+\Z", re.IGNORECASE)
_QUOTE = r"[\"'`)\]*」』(\[「『]*"
_ARTICLE = rf"(?:(?:{words.any_of(words.ARTICLES)})\s+)*"
_SOURCE = re.compile(
    rf"(?:\A|\s|\()(?<!the )(?<!'d )(?<!would )(?:{words.any_of(words.SOURCES)})\s+{_ARTICLE}{_QUOTE}\Z", re.IGNORECASE
)
_SOURCE_AFTER = re.compile(rf"{_QUOTE}\s+(?:{words.any_of(words.SOURCES_AFTER)})(?!\w)", re.IGNORECASE)
_SOURCE_JA = re.compile(rf"(?:ファイル)?(?:の内容|の記述|の仕様)?(?:{words.any_of(words.SOURCES_JA)})")
_EXCEPT = re.compile(rf"(?:\A|[\s,(])(?:{words.any_of(words.EXCEPTIONS)})\s+{_ARTICLE}{_QUOTE}\Z", re.IGNORECASE)
_KEEPS = re.compile(rf"(?:\A|\s)(?:keep|retain|preserve)\s+{_ARTICLE}{_QUOTE}\Z", re.IGNORECASE)
_ALONE = re.compile(rf"[^.,;\n]{{0,40}}?(?<!\w)(?:{words.any_of(words.UNTOUCHED)})(?!\w)", re.IGNORECASE)
_DENIED_JA = re.compile(rf"[^。\n]{{0,30}}?(?:{words.any_of(words.DENIALS_JA)})")
_KEPT_JA = re.compile("[はをも]?(?:そのまま)?残")
_PARTICLE = re.compile(
    rf"(?:という(?:名前の)?|の)?(?:新しい)?(?:ファイル|{words.FOLDER_JA})?\s*(?P<particle>から|には|にも|を|も|は|に|へ|の|で|内|が)"
)
_JOIN = re.compile(rf"{_QUOTE}\s*(?P<join>{words.any_of(words.JOINS)}|(?P<or>{words.any_of(words.OR)}))?\s*{_ARTICLE}{_QUOTE}",
                   re.IGNORECASE)  # fmt: skip
_PASSIVE = re.compile(
    rf"{_QUOTE}[,:]?\s+(?:{_ARTICLE}(?:{words.any_of(words.PASSIVES)})\s+)*(?:deleted|removed|erased|gone|renamed|moved)(?!\w)"
    rf"|[^.\n]{{0,60}}?{_EDGE}(?:{words.any_of(words.DELETE)})\s+(?:it|them|this file|that file|these|those)(?!\w)",
    re.IGNORECASE,
)
_OWNS = re.compile(r"['\u2019]s\s")
_FENCED = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[^\n]*|\Z)|^[ \t]*>[^\n]*", re.DOTALL | re.MULTILINE)
_ITEM = re.compile(r"\s*(?:[-*+\u2022]|\d{1,3}[.)])\s")
_QUOTES = re.compile(rf"\b(?:{words.QUOTES})\b", re.IGNORECASE)
_URL = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.]{1,20}://|www\.|mailto:)[^\s)>\]」]+|[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{1,64}")
_QUOTED = re.compile(
    r"`([^`\n]{1,200})`|\"([^\"\n]{1,200})\"|(?<!\w)'([^'\n]{1,200})'(?!\w)|“([^”\n]{1,200})”|「([^」\n]{1,200})」"
    r"|『([^』\n]{1,200})』|\]\(([^()\n]{1,200})\)"
)
_TOKEN = re.compile(r"[^\s\"'`<>|()\[\]「」『』“”,;:!?、。！？：；（）=&$#%^]+")  # noqa: RUF001
_ASCII_NAME = re.compile(r"[A-Za-z0-9_.~@+*?{}\-/]+", re.ASCII)
_EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,9}(?![A-Za-z0-9_])", re.ASCII)
_DOT_NAME = re.compile(words.DOT_NAMES, re.ASCII)
_WORD = re.compile(r"(?<![\w./~@\-])[A-Za-z_][\w-]*(?![\w/]|\.\w)", re.ASCII)
_FOLDER_NAME = re.compile(r"[\w.\-/ ]*[A-Za-z_][\w.\-/ ]*/")
_FOLDER_AFTER = re.compile(rf"[\"'`]?(?:\s+(?:{words.FOLDER})(?!\w)|\s?(?:{words.FOLDER_JA}))", re.IGNORECASE)
_FOLDER_BEFORE = re.compile(
    rf"(?<!\w)(?:{words.FOLDER}|files?)(?:\s+(?:called|named))?\s*[:\s]\s*[\"'`]?\Z|(?:{words.FOLDER_JA})[「『]?\Z",
    re.IGNORECASE,
)
_CALLED = re.compile(r"(?<!\w)(?:files?|folders?|directory|dir)\s+(?:called|named)\s*[\"'`]?\Z", re.IGNORECASE)
_NEXT_WORD = re.compile(
    rf"[\"'`)\]*]*(?:\s*\Z|\s*[^\w\s]|\s+[-(\u2013\u2014]|\s+(?:{words.FOLLOWS})(?!\w)|\s*[^\x00-\x7f])", re.IGNORECASE
)
_SHELL = re.compile(
    r"(?<![\w.-])(?:git\s+)?(?P<name>rm|rmdir|mkdir|mv|cp|unlink)(?P<flags>(?:\s+-[\w-]+)*)\s+(?=[\w./*])"
)
_ARGUMENT = re.compile(r"[\w./~*?@+-]+(?=[\s\"'`;&|)]|\Z)[ \t]*", re.ASCII)
_JAPANESE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uff66-\uff9f]")
_DELETES = re.compile(
    rf"{_EDGE}(?:{words.any_of(words.DELETE)}|{words.any_of(words.CLEAN)})(?![\w\-])|{words.DELETE_JA}|片付け|クリア", re.IGNORECASE
)
_EVERYTHING = re.compile(rf"{_EDGE}(?:{words.any_of(words.EVERYTHING)})", re.IGNORECASE)
_GROUPS = tuple(
    (re.compile(rf"(?<![A-Za-z0-9_.\-/])(?:{words.any_of(group)})(?![A-Za-z0-9_\-/])", re.IGNORECASE), globs)
    for group, globs in words.GROUPS
)
_MAKES = re.compile(rf"{_EDGE}(?:{words.any_of(words.MAKE)})(?![\w\-])", re.IGNORECASE)
_ALTERS = re.compile(rf"{_EDGE}(?:{words.any_of(words.MAKE)}|{words.any_of(words.CHANGE)}|{words.any_of(words.COPY)})(?![\w\-])", re.IGNORECASE)
_PHRASE = re.compile(
    r"\s+((?:(?!(?:and|or|for|to|in|on|of|with|that|which|from|into|about|so)\b)[\w'-]+\s*){1,6})", re.IGNORECASE
)
_ADVERBS = frozenset("first now please quickly carefully today too again also properly short briefly then".split())
_TESTS = re.compile(rf"(?:{words.TESTS})\Z", re.IGNORECASE)
_DOCUMENTS = re.compile(rf"(?:{words.DOCUMENTS})\Z", re.IGNORECASE)
_OBJECT_JA = re.compile(rf"([^\s、。をはがに]{{1,20}})(?:を|の)\S{{0,8}}?(?:{words.MAKE_JA}|{words.CHANGE_JA})")
_TESTS_JA = re.compile(rf"(?:{words.TESTS_JA})\Z")
_DOCUMENTS_JA = re.compile(rf"(?:{words.DOCUMENTS_JA})\Z", re.IGNORECASE)


_DELETE = re.compile(words.any_of(words.DELETE), re.IGNORECASE)
_ARTICLES = frozenset(words.ARTICLES.split("|"))
_PLACES = frozenset(words.PLACES.split("|"))
_STOPS = _ARTICLES | frozenset(
    re.findall("[a-z]+", "|".join((words.FOLLOWS, words.PLACES, words.SOURCES, words.EXCEPTIONS, "it them some other")))
)


class _Place(NamedTuple):
    """Where something is mentioned: its bounds and name, whether it is called a folder, and the command it belongs to."""

    start: int
    end: int
    name: str
    folder: bool = False
    shell: str = ""


class _Said(NamedTuple):
    """What the words around a place say: the class of the verb, whether the place is its object, what else decides."""

    verb: str = ""
    direct: bool = False
    kind: str = ""
    optional: bool = False


def find(text: str, tree: Tree = NOTHING) -> tuple[Mention, ...]:
    """Everything that a task mentions, in order, each once.

    Args:
        text: the task as it was said; files of the project are named in it as relative paths.
        tree: the project as it was before the task was begun.

    Source: seed 001, Properties 8 and 31.
    """
    plain = _plain(text)
    index = _Index(tree)
    places = _places(plain, index)[:_MOST]
    masked = _masked(plain, places)
    found: dict[str, Mention] = {}
    for place, said in zip(places, _readings(masked, places), strict=True):
        mention = _mention(place, said, index)
        known = found.get(mention.name)
        if known is None or (mention.decides and not known.decides) or (mention.required and not known.required):
            found[mention.name] = mention
    for mention in _common(masked, tuple(found.values())):
        found.setdefault(mention.name, mention)
    return tuple(found.values())


def of_type(found: Iterable[Mention], task_type: str | None, *, guessed: bool = False) -> tuple[Mention, ...]:
    """What of the mentions counts for a task of a type: for a question nothing, unless that is but a guess.

    Of a report nothing has to become another but what is ordered to be made or to go.
    """
    if task_type == task_types.READ_INFO and not guessed:
        return ()
    if task_type != task_types.REPORT:
        return tuple(found)
    return tuple(each if each.required or not each.decides else each._replace(kind=SOURCE) for each in found)


def sentences(text: str) -> tuple[str, ...]:
    """The lines of a task as they are said, with every mention blackened, without what they quote."""
    return tuple(line for line in _blackened(text).split("\n") if line.strip())


def deletes(text: str) -> bool:
    """Whether a task holds a word that orders a deletion."""
    return _DELETES.search(_blackened(text)) is not None


def deciding(found: Iterable[Mention]) -> tuple[Mention, ...]:
    """The mentions of which at least one has to be touched."""
    return tuple(each for each in found if each.decides)


def loosened(mention: Mention) -> Mention:
    """The mention, where it is enough that another one is done."""
    return mention._replace(kind={MADE: CHANGED, DELETED: EITHER}.get(mention.kind, mention.kind))


def sole(found: Sequence[Mention], text: str) -> Mention | None:
    """The one file that a task orders to be created, where that is the whole order; None otherwise."""
    if len(found) != 1 or not found[0].created:
        return None
    masked = _blackened(text, Tree(found[0].files))
    others = {match.lastgroup for match in (*_verbs(masked), *_VERB_JA.finditer(masked))}
    return found[0] if others <= {"make"} else None


def judged(
    found: Sequence[Mention], after: Tree, touched: Mapping[str, str], *, unnamed: bool = False,
    made: Collection[str] = (), about: Collection[str] | None = None, later: Collection[str] = (),
) -> Outcome:
    """What became of what a task mentions.

    Args:
        after: the project now.
        touched: what became of each path since the task was begun: new, changed or deleted.
        unnamed: whether the task orders a deletion by some word.
        made: folders that are new since then.
        about: the names that this part of the task is about; all of them where left out.
        later: those that a later part is about.

    Source: seed 001, Properties 8 and 31.
    """
    state = _State(after, touched, frozenset(made))
    decide = [each for each in deciding(found) if each.name not in later]
    here = [each for each in decide if about is None or each.name in about]
    unmet = [_sentence(each) for each in decide if each.required and not state.is_done(each)]
    if here and not unmet and not any(state.is_touched(each) for each in here):
        unmet = [_sentence(each) for each in here]
    hurt = [each for each in found if state.is_hurt(each)]
    unmet += [f"{each.name} was {'deleted' if each.kind == KEPT else 'changed'}, which the task forbids" for each in hurt]
    gone = [path for path, change in touched.items() if change == GONE]
    deleted = tuple(path for path in gone if any(each.covers and _matches(each, path) for each in found))
    deleted += tuple(each.name for each in found if each.covers and state.is_folder_gone(each) and not deleted)
    kept = [path for path, change in touched.items() if change != GONE]
    return Outcome(
        unmet=tuple(dict.fromkeys(unmet)),
        untouched=tuple(each.name for each in found if each.kind not in (DENIED, KEPT) and not state.is_touched(each)),
        unmentioned=tuple(path for path in kept if not any(_matches(each, path) for each in found)),
        deleted=deleted, stray=tuple(path for path in gone if path not in deleted),
        folders=tuple(each.name for each in decide if state.is_folder_made(each)),
        unnamed=unnamed and not decide,
    )  # fmt: skip


def undone(found: Collection[Mention], after: Tree, touched: Mapping[str, str]) -> Iterator[Mention]:
    """Those mentions of which what is ordered was not done; the arguments are those of `judged`."""
    state = _State(after, touched, frozenset())
    return (each for each in found if not state.is_done(each))


class _State:
    """The project after the work, asked about single mentions."""

    def __init__(self, after: Tree, touched: Mapping[str, str], made: frozenset[str]) -> None:
        self._after, self._touched, self._made = after, touched, made

    def _changes(self, mention: Mention) -> set[str]:
        return {change for path, change in self._touched.items() if _matches(mention, path)}

    def is_touched(self, mention: Mention) -> bool:
        """Whether something that fits became of it."""
        changes = self._changes(mention)
        if mention.kind == DELETED:
            return (GONE in changes or bool(mention.files or mention.folders)) and not self._is_left(mention)
        if changes - {GONE} or self.is_folder_made(mention):
            return True
        return mention.kind == EITHER and (GONE in changes or self.is_folder_gone(mention))

    def is_done(self, mention: Mention) -> bool:
        """Whether what is ordered of it by itself was done."""
        if mention.kind == DELETED:
            return not self._is_left(mention)
        there = mention.kind == MADE and mention.name in self._after.files
        return there or self.is_touched(mention)

    def is_hurt(self, mention: Mention) -> bool:
        """Whether it was changed in a way that the task forbids."""
        changes = self._changes(mention)
        return (mention.kind == DENIED and bool(changes)) or (mention.kind == KEPT and GONE in changes)

    def _is_left(self, mention: Mention) -> bool:
        """Whether anything is left of what has to be gone; one of several files of a name is enough."""
        if mention.patterns:
            return any(_matches(mention, path) for path in self._after.files)
        left = [path for path in mention.files if path in self._after.files]
        left += [path for path in mention.folders if path in self._after.folders]
        return bool(left) and (mention.exact or len(left) == len(mention.files) + len(mention.folders))

    def is_folder_gone(self, mention: Mention) -> bool:
        """Whether it was a folder that is there no more."""
        return bool(mention.folders) and not any(path in self._after.folders for path in mention.folders)

    def is_folder_made(self, mention: Mention) -> bool:
        """Whether it is a folder that was not there before."""
        return any(_named(mention.name.rstrip("/"), path) for path in self._made)


def _sentence(mention: Mention) -> str:
    if mention.tests:
        return "no test was written or changed"
    there = mention.files or mention.folders or mention.patterns
    word = {MADE: "created", DELETED: "deleted", EITHER: "changed or deleted"}.get(mention.kind, "changed")
    return f"{mention.name} was not {word if there or mention.kind != CHANGED else 'created'}"


def _matches(mention: Mention, path: str) -> bool:
    """Whether a path is what a mention means, or lies below it."""
    if mention.tests:
        return tests_exist.is_of_tests(path)
    if mention.patterns:
        return any(_fits(path, pattern) for pattern in mention.patterns)
    if path in mention.files or any(path.startswith(f"{folder}/") for folder in mention.folders):
        return True
    if mention.exact:
        return False
    name = mention.name.rstrip("/")
    return _named(name, path) or f"/{name.casefold()}/" in f"/{path.casefold()}"


def _fits(path: str, pattern: str) -> bool:
    if pattern == "**":
        return True
    if pattern.endswith("/**"):
        return fnmatch.fnmatchcase(f"/{path}", f"*/{pattern[:-3]}/*")
    if "/" not in pattern:
        return fnmatch.fnmatchcase(path.rpartition("/")[2], pattern)
    return fnmatch.fnmatchcase(path, pattern.replace("**/", "*")) or fnmatch.fnmatchcase(path, pattern)


def _named(name: str, path: str) -> bool:
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


class _Index:
    """A tree, asked for the entries that a name means."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self._by_name: dict[str, list[str]] | None = None

    def entries(self, name: str) -> tuple[list[str], list[str], bool]:
        """The files and folders of a name, and whether it is exactly the path of one."""
        if name in self.tree.files or name in self.tree.folders:
            return [name] if name in self.tree.files else [], [name] if name in self.tree.folders else [], True
        last = name.casefold().rpartition("/")[2]
        candidates = [path for stem in (last, *words.NAMES.get(last, ())) for path in self._named(stem.casefold())]
        found = [path for path in dict.fromkeys(candidates) if _named(name, path) and " " not in path[: -len(name)]]
        folded = [path for path in found if path.casefold() == name.casefold()]
        top = folded or [path for path in found if last in words.NAMES and "/" not in path and "/" not in name]
        found = top or found
        return [each for each in found if each in self.tree.files], [
            each for each in found if each in self.tree.folders
        ], bool(top)

    def _named(self, last: str) -> list[str]:
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


def _plain(text: str) -> str:
    """The text that is read: fenced blocks and quoted lines are blank in it, but for commands, and so are addresses."""
    said = re.sub("[\ue000-\uf8ff]", " ", unicodedata.normalize("NFC", text[:READ]))
    said = _FENCED.sub(lambda match: match[0] if _is_command(match[0]) else re.sub(r"[^\n]", " ", match[0]), said)
    return _URL.sub(lambda match: " " * len(match[0]), _unquoted(said))


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


def _masked(text: str, places: Sequence[_Place]) -> str:
    """The text with every mention blackened, so that no part of a name is taken for a word."""
    pieces, at = [], 0
    for place in places:
        pieces += [text[at : place.start], "\ue000" * (place.end - place.start)]
        at = place.end
    return "".join((*pieces, text[at:]))


def _places(text: str, index: _Index) -> list[_Place]:
    """Where something is mentioned, in order, none within another."""
    found: list[_Place] = []
    for place in (*_quoted(text, index), *_spaced(text, index), *_shell(text, index), *_tokens(text, index),
                  *_plain_words(text, index)):  # fmt: skip
        found.append(place)
    found.sort(key=lambda place: (place.start, -place.end))
    kept: list[_Place] = []
    for place in found:
        if not kept or place.start >= kept[-1].end:
            kept.append(place)
    return kept


def _quoted(text: str, index: _Index) -> Iterator[_Place]:
    for match in _QUOTED.finditer(text):
        number = match.lastindex or 1
        inner = match[number].strip()
        begin = match.start(number) + len(match[number]) - len(match[number].lstrip())
        before, after = text[max(0, match.start() - 40) : match.start()], text[match.end() : match.end() + 20]
        called = _CALLED.search(before) or _FOLDER_BEFORE.search(before) or _FOLDER_AFTER.match(after)
        name, folder = names.normal_path(inner.rstrip("/")), inner.endswith("/")
        if not name or _SHELL.match(inner):
            continue
        if (called and not re.search(r"[:=(){}]", inner)) or index.has(name) or _is_path(inner, index, spaced=True):
            yield _Place(begin, begin + len(inner), name, folder or bool(_FOLDER_AFTER.match(after)))


def _spaced(text: str, index: _Index) -> Iterator[_Place]:
    for path in index.spaced:
        at = text.find(path)
        if at >= 0:
            yield _Place(at, at + len(path), path)


def _shell(text: str, index: _Index) -> Iterator[_Place]:
    """The arguments of a command that is named as it is typed."""
    at = 0
    for match in _SHELL.finditer(text):
        if match.start() < at:
            continue
        name, at = match["name"], match.end()
        while (argument := _ARGUMENT.match(text, at)) is not None:
            raw = argument[0].strip()
            if raw.startswith("-") or (raw.lower() in _STOPS and not index.has(raw)):
                break
            at = argument.end()
            path = names.normal_path(raw.rstrip("./") if raw.endswith((".", "/")) else raw)
            if path and (match["flags"] or name in ("mkdir", "rmdir") or index.has(path) or _is_path(raw, index)):
                yield _Place(argument.start(), argument.start() + len(raw), path, raw.endswith("/"), name)


def _tokens(text: str, index: _Index) -> Iterator[_Place]:
    for match in _TOKEN.finditer(text):
        start, token = match.start(), match[0]
        if token.isascii():
            yield from _ascii(start, token, text, index)
        else:
            yield from _unicode(start, token, text, index)


def _ascii(start: int, token: str, text: str, index: _Index) -> Iterator[_Place]:
    """A token without blanks, with what marks emphasis or ends a sentence taken off."""
    raw = token.rstrip(".-,~") if not set(token) <= set("./") else ""
    if raw.endswith("*") and raw.startswith("*"):
        stripped = raw.strip("*")
        start, raw = start + raw.index(stripped) if stripped else start, stripped
    if raw.startswith("_") and raw.endswith("_") and len(raw) > 2:
        start, raw = start + 1, raw[1:-1]
    called = _CALLED.search(text[max(0, start - 40) : start]) is not None
    if text[start + len(raw) : start + len(raw) + 1] in ("(", "<", "$", "{") or not _ASCII_NAME.fullmatch(raw):
        return
    if _is_path(raw, index) or (called and re.search(r"[A-Za-z]", raw) and not raw.startswith("-")):
        name = names.normal_path(raw.rstrip("/"))
        if name:
            yield _Place(start, start + len(raw), name, raw.endswith("/"))


def _unicode(start: int, token: str, text: str, index: _Index) -> Iterator[_Place]:
    """Names within text without blanks: by their extension, by a name that is known, or by one that exists."""
    at = 0
    for match in _EXTENSION.finditer(token):
        if match[0].lower() not in words.EXTENSIONS or match.start() < at:
            continue
        name = _stem(token[at : match.start()]) + match[0]
        if name != match[0] and name.lower() not in words.PRODUCTS:
            yield _Place(start + match.end() - len(name), start + match.end(), names.normal_path(name))
            at = match.end()
    for match in _ASCII_NAME.finditer(token, at):
        yield from _ascii(start + match.start(), match[0], text, index)
        word = match[0].rstrip("/")
        folder = match[0].endswith("/") or _FOLDER_AFTER.match(token, match.end()) is not None
        if index.has(word) or (folder and word):
            yield _Place(start + match.start(), start + match.start() + len(match[0]), names.normal_path(word), folder)
    for known in words.NAMES:
        if not known.isascii() and known in token:
            yield _Place(start + token.index(known), start + token.index(known) + len(known), known)


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


def _plain_words(text: str, index: _Index) -> Iterator[_Place]:
    """Plain words that name an entry of the project, or that are called a folder or are known as files."""
    for match in _WORD.finditer(text):
        word, at, end = match[0], match.start(), match.end()
        after, before = text[end : end + 40], text[max(0, at - 40) : at]
        called, known = _FOLDER_AFTER.match(after) or _FOLDER_BEFORE.search(before), word.lower() in words.NAMES
        if not called and not known and word not in index.words:
            continue
        if called and word.lower() not in _STOPS and _is_folder(word, before, index):
            yield _Place(at, end, word, bool(_FOLDER_AFTER.match(after)))
        elif known and (word != word.lower() or _NEXT_WORD.match(after) or index.has(word)):
            yield _Place(at, end, word)
        elif word in index.words and _NEXT_WORD.match(after) and not _is_prose(word, before):
            yield _Place(at, end, word)


def _is_prose(word: str, before: str) -> bool:
    """Whether a word that names an entry is one of every day: not behind a verb or preposition, or tests to be written."""
    said = before.lower().rsplit(None, 2)
    last = said[-1] if said else ""
    if last == "the" and _DELETE.fullmatch(said[-2] if len(said) > 1 else ""):
        return False
    makes = _MAKES.fullmatch(last) is not None
    return not (before.endswith(("`", '"', "'")) or _VERB.fullmatch(last) or last in _PLACES or last == "and") or (
        makes and _TESTS.match(word) is not None
    )


def _is_folder(word: str, before: str, index: _Index) -> bool:
    """Whether a word that is called a folder is its name: it exists, or is named so, or is to be made or go."""
    return index.has(word) or _CALLED.search(before) is not None or _VERB.search(before) is not None


def _is_path(raw: str, index: _Index, *, spaced: bool = False) -> bool:
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
        return re.fullmatch(r"[\w./*?-]*\*[\w./*?-]*", raw) is not None and ("." in last or "/" in raw)
    if last.startswith("."):
        return _DOT_NAME.fullmatch(last) is not None
    if last in ("README", "LICENSE", "CHANGELOG") or ("/" in raw and last.lower() in words.NAMES):
        return True
    extension = "." + last.rpartition(".")[2].lower() if "." in last else ""
    if extension in words.EXTENSIONS and last != extension and not re.fullmatch(r"\d[\d.]*\.\w", last):
        return True
    first = raw.lstrip("/").partition("/")[0] if not raw.startswith("./") else "."
    return ("/" in raw.rstrip("/") and not raw.startswith("/") and (first == "." or first in index.tree.folders)) or (
        raw.endswith("/") and not raw.startswith("/") and _FOLDER_NAME.fullmatch(raw) is not None
    )


def _blackened(text: str, tree: Tree = NOTHING) -> str:
    plain = _plain(text)
    return _masked(plain, _places(plain, _Index(tree)))


class _Hearing:
    """What was said up to a place: the last verb, and whether it is denied."""

    verb, since, lead, denied, closed, perhaps = "", 0, False, False, False, False

    def hear(self, event: re.Match[str], text: str) -> None:
        """Take in what stands between two mentions; a list keeps the verb of the line that leads to it."""
        kind = event.lastgroup or ""
        if kind == "item":
            if self.verb:
                self.lead = self.lead or not _is_object(text[max(self.since, event.start() - _NEAR) : event.start()])
                self.since = event.end()
            self.denied, self.perhaps = self.denied and not self.closed, False
        elif kind in ("line", "end"):
            self.__dict__.clear()
        elif kind == "turn":
            self.closed = True
        elif kind == "denial":
            self.denied, self.closed = True, False
        elif kind in ("if", "if_ja"):
            self.perhaps = True
        elif kind != "plain" and not _NOUN.search(text, max(0, event.start() - 12), event.start()):
            self.denied, self.perhaps = self.denied and not self.closed, self.perhaps and not self.closed
            self.verb, self.since, self.lead = kind, event.end(), False


def _verbs(text: str) -> list[re.Match[str]]:
    """The verbs of a text that are not nouns."""
    return [each for each in _VERB.finditer(text) if not _NOUN.search(text, max(0, each.start() - 12), each.start())]


def _is_object(between: str) -> bool:
    """Whether what follows these words is what the verb before them is about: no preposition, few words, no turn."""
    said = [word for word in re.findall(r"[^\W\d_][\w'-]*", between.lower()) if word not in _ARTICLES]
    return _PLACES.isdisjoint(said) and len(said) <= 2 and not (said and re.search(r"[:,\n]", between))


def _readings(text: str, places: Sequence[_Place]) -> list[_Said]:
    """What the words around each place say of it; places that are joined to a list are read as one."""
    found: list[_Said] = []
    heard, at, first = _Hearing(), 0, 0
    while first < len(places):
        last, either = first, False
        while last + 1 < len(places):
            join = _JOIN.fullmatch(text, places[last].end, places[last + 1].start)
            if join is None or not (join["join"] or (places[last].shell and places[last + 1].shell)):
                break
            last, either = last + 1, either or bool(join["or"])
        start, end = places[first].start, places[last].end
        for event in _EVENT.finditer(text, at, start):
            heard.hear(event, text)
        stop = places[last + 1].start if last + 1 < len(places) else len(text)
        before, after = text[max(at, start - _NEAR) : start], text[end : min(stop, end + _NEAR)]
        if _JAPANESE.match(after.lstrip("\"'`」』)]* ")):
            said = _japanese(text[end : end + _NEAR].lstrip("\"'`」』)]* "), after, heard)
        else:
            said = _english(text[max(heard.since, start - _NEAR) : start], before, after, heard)
        said = said._replace(optional=said.optional or either)
        found += [_of_shell(places, each) if places[each].shell else said for each in range(first, last + 1)]
        # What follows the object of a move is where it goes.
        heard.closed, heard.lead = True, heard.lead or heard.verb == "move"
        at, first = end, last + 1
    return found


def _of_shell(places: Sequence[_Place], number: int) -> _Said:
    kind = {"mkdir": "make", "mv": "move", "cp": "change"}.get(places[number].shell, "delete")
    last = number + 1 == len(places) or places[number + 1].shell != places[number].shell
    return _Said(kind, not (kind == "move" and last))


def _english(between: str, before: str, after: str, heard: _Hearing) -> _Said:
    direct = bool(heard.verb) and not heard.lead and _is_object(between) and not _OWNS.match(after)
    said = _Said(heard.verb, direct, optional=heard.perhaps)
    if _EXCEPT.search(before):
        return said if heard.denied else said._replace(kind=DENIED)
    if _SOURCE.search(before) or _SOURCE_AFTER.match(after):
        return said._replace(kind=SOURCE)
    if heard.denied:
        return said._replace(kind=KEPT if heard.verb in ("delete", "move") else DENIED)
    if _ALONE.match(after):
        return said._replace(kind=DENIED)
    if _KEEPS.search(before) and not after.strip("\"'`) ")[:1].isalpha():
        return said._replace(kind=KEPT)
    return _Said("delete", True) if _PASSIVE.match(after) else said


def _japanese(rest: str, after: str, heard: _Hearing) -> _Said:
    """What Japanese behind a place says of it.

    Args:
        rest: what follows, up to any length. after: up to the next mention.
    """
    if _KEPT_JA.match(after):
        return _Said(kind=KEPT)
    if _DENIED_JA.match(after.partition("、")[0] + ("、" if "、" in after else "")):
        return _Said(kind="" if after.startswith("以外") and _DENIED_JA.match(after, 2) else DENIED)
    if _SOURCE_JA.match(after):
        return _Said(kind=SOURCE)
    verb = _VERB_JA.search(rest.partition("。")[0]) or next(iter(_verbs(rest)), None)
    particle = _PARTICLE.match(after)
    direct = (particle["particle"] if particle else "") in ("", "を", "も", "は")
    return _Said((verb.lastgroup or "") if verb else "", direct, optional=heard.perhaps)


def _mention(place: _Place, said: _Said, index: _Index) -> Mention:
    """What is ordered of a place."""
    files, folders, exact = index.entries(place.name)
    patterns = (place.name,) if "*" in place.name or "?" in place.name else ()
    folder = bool(folders) or place.folder
    kind = said.kind
    if not kind and said.verb in ("delete", "move") and said.direct:
        kind = EITHER if said.optional else DELETED
    elif not kind and said.verb in ("delete", "clean") and (folder or patterns):
        kind = EITHER
    elif not kind:
        there = files or folders or folder or patterns or said.optional
        kind = CHANGED if there else MADE
    return Mention(
        place.name + ("/" if folders or (place.folder and not files) else ""), kind, tuple(files), tuple(folders), exact,
        patterns, created=said.verb == "make" and said.direct and kind in (MADE, CHANGED),
    )  # fmt: skip


def _common(masked: str, found: Sequence[Mention]) -> Iterator[Mention]:
    """What is mentioned by a common word: logs that are to be deleted, tests that are to be written."""
    if _DELETES.search(masked):
        for group, patterns in _GROUPS:
            match = next((each for each in group.finditer(masked) if _NEXT_WORD.match(masked, each.end())), None)
            if match:
                yield Mention(match[0], EITHER, patterns=patterns)
        if _EVERYTHING.search(masked) and not deciding(found):
            yield Mention("everything", EITHER, patterns=("**",))
    subjects = tuple(_subjects(masked, _MAKES))
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
    named = tuple(path for each in decide for path in (each.files or (each.name,)) if not each.tests)
    if any(not each.tests and not each.folders for each in decide):
        return named
    masked = _blackened(text)
    subjects = [each for each in _subjects(masked, _ALTERS) if each]
    spared = (_TESTS, _DOCUMENTS, _TESTS_JA, _DOCUMENTS_JA)
    if subjects and not all(any(pattern.search(each) for pattern in spared) for each in subjects):
        return None
    return () if subjects or _DELETES.search(masked) else None


def means(found: Sequence[Mention], path: str) -> bool:
    """Whether any mention means a path, or a folder that it lies in."""
    return any(_matches(each, path) or _named(each.name.rstrip("/"), path) or path in each.folders for each in found)
