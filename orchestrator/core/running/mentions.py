"""Which files and folders a task mentions, what it orders for each, and what of that was done. The one definition.

**What is mentioned.** A token of the task that is an existing file or folder of the project (also as a plain word, such
as `build` in `rm -rf build`), or that has the shape of a path: a known extension, a name such as README or Makefile, a
slash at its end or behind a folder that exists, a pattern such as `*.log`, or any name that is called a file or folder.
Quotes, backticks, links, `./`, punctuation and Japanese text around it do not count; case does not where no entry has
the exact name. Addresses, versions, code names (`Invoice.total`), products (Node.js), fenced blocks and quoted lines
are none. Where logs, temporary files or the like are to be deleted, or tests are to be written, that word is a mention.

**What decides.** Where anything is mentioned, at least one mention has to have become what fits: new, other in content,
or gone where its deletion was ordered; a folder has to be there, be gone, or have such changes below it. Besides, what
is ordered by itself has to be done whatever else was: each file to be created has to be there, each one to be deleted
or moved be gone, and each one that is itself the object of a change ("update a.md and b.md"), or to which something is
added ("add a test to b.py"), has to be another one. What only helps ("using data.csv", "described in notes.txt", "for
x.py") need not change, and a task that mentions nothing else is judged by its changes alone. What must not be touched
("do not touch a.md") forbids COMPLETE where it was. One of several ("a.md or b.md") and what is conditional ("if
needed") is not demanded by itself.

Only the words next to a mention and the nearest verb are looked at, and only to tell these cases apart: no words around
a mention make it none. Deletions are ordered only of what is mentioned for it, or lies below.

Source: seed 001, Properties 8, 26 and 31.
"""

from __future__ import annotations

import bisect
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
"""It has to be there; be new or other in content; be gone; or any of the last two."""
WANTED, WEAK, SOURCE, DENIED = "wanted", "weak", "source", "denied"
"""It decides; it decides where nothing else does; it only helps; it is excluded."""
NEW, GONE = "new", "deleted"
"""What became of a path, besides `CHANGED`."""

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

    name: as it is mentioned, relative where that is possible. kind: what is ordered. role: what it counts for.
    required: it has to be done by itself. covers: its deletion, and that of what lies below, is ordered.
    forbidden: the kinds of change that it must not have. files, folders: what had that name before.
    exact: whether one of these has exactly this path. patterns: what else it means. tests: it means any test.
    """

    name: str
    kind: str = CHANGED
    role: str = WANTED
    required: bool = False
    covers: bool = False
    forbidden: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    exact: bool = False
    patterns: tuple[str, ...] = ()
    tests: bool = False


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


def _any(entries: str) -> str:
    """The alternatives of a list, the longest first, so that no word hides a longer phrase."""
    return "|".join(sorted(entries.split("|"), key=len, reverse=True))


_EDGE = r"(?<![\w.\-/])"
_CLASSES = (
    ("delete", words.DELETE, words.DELETE_JA), ("clean", words.CLEAN, ""), ("move", words.MOVE, words.MOVE_JA),
    ("copy", f"{words.COPY}|{words.TELL}", words.COPY_JA),
    ("make", words.MAKE, words.MAKE_JA), ("change", words.CHANGE, words.CHANGE_JA),
)  # fmt: skip
_VERB = re.compile(
    rf"{_EDGE}(?:{'|'.join(f'(?P<{name}>{_any(english)})' for name, english, _ in _CLASSES)})(?![\w\-])", re.IGNORECASE
)
_VERB_JA = re.compile(
    "|".join(f"(?P<{name}>{ja})" for name, _, ja in sorted(_CLASSES, key=lambda each: each[0] != "change") if ja)
)
_NOUN = re.compile(rf"\b{words.NOUNS}\s+\Z", re.IGNORECASE)
_ARTICLES = frozenset(words.ARTICLES.split("|"))
_SOURCES = re.compile(rf"(?:\A|\s)(?:{words.SOURCES})\Z", re.IGNORECASE)
_LONG_SOURCES = re.compile(rf"(?:\A|\s)(?=\S+\s+\S)(?:{words.SOURCES})\Z", re.IGNORECASE)
_SEEKS = re.compile(rf"(?:\A|\s){words.SEEKS}\Z", re.IGNORECASE)
_PLACE = re.compile(rf"(?:\A|\s)(?P<place>{words.PLACES})\Z", re.IGNORECASE)
_OUT_OF = re.compile(rf"(?:\A|\s)(?P<place>{words.OUT_OF})\Z", re.IGNORECASE)
_SAYS = re.compile(rf"[\"'`)\]]*\s+(?:{words.SOURCES_AFTER})(?!\w)", re.IGNORECASE)
_WITHIN = re.compile(rf"(?<![\w-])(?:{words.PRODUCTS_THAT})", re.IGNORECASE)
_NEVER = re.compile(rf"{_EDGE}{words.NEVER}(?!\w)", re.IGNORECASE)
_NOT_THIS = re.compile(rf"(?:\A|\s)(?:{words.NOT_THIS})\Z", re.IGNORECASE)
_LEFT = re.compile(rf"{_EDGE}{words.LEFT_ALONE}(?!\w)[^.;]*\Z", re.IGNORECASE)
_ALONE = re.compile(rf"[^.;\n]{{0,60}}?(?<!\w)(?:{words.ALONE})(?!\w)", re.IGNORECASE)
_NOTHING_BUT = re.compile(rf"{words.NOTHING_BUT}[^,;]*\Z", re.IGNORECASE)
_TURN = re.compile(r"[,;]|\b(?:and|but|then)\b", re.IGNORECASE)
_PERHAPS = re.compile(rf"\b(?:{words.PERHAPS})\b|{words.PERHAPS_JA}", re.IGNORECASE)
_AND = re.compile(words.AND, re.IGNORECASE)
_OR = re.compile(rf"[\"'`)\]」』]*(?:{words.OR})(?:(?:the|a|an)\s+)?[\"'`(\[「『]*", re.IGNORECASE)
_CONTENT = re.compile(
    r"[\"'`)\]*]*\s+(?:(?P<to>(?:in)?to)|by|with)(?:\s+(?:the|a|an|file|my|our))*\s+[\"'`(\[*]*", re.IGNORECASE
)
"""Between what is added or put in the place of something, and where."""
_COPIES = re.compile(rf"(?<!\w)(?:{words.COPIES})\s+of(?!\w)[^,;]*\Z", re.IGNORECASE)
_LINKS = re.compile(rf"(?:\A|\s)(?:{words.LINKS})\Z", re.IGNORECASE)
_KEPT = re.compile(
    rf"(?:\A|[,;]|\b(?:and|but)\b)\s*(?:please\s+)?(?:{words.KEPT})\s*(?:the\s+)?[\"'`(\[*]*\Z", re.IGNORECASE
)
_PASSIVE = re.compile(
    r"[\"'`)\]]*\s+(?:file\s+|folder\s+)?(?:(?:must|should|shall|needs?\s+to|has\s+to|have\s+to|can|may|is\s+to)\s+)?(?:be\s+)?"
    r"(?:(?P<delete>deleted|removed|erased|gone)|(?P<move>renamed|moved)|(?P<make>created|made|written|added|generated)"
    r"|(?P<change>updated|changed|fixed|edited|corrected|improved))(?!\w)",
    re.IGNORECASE,
)
_WANTS = re.compile(r"\b(?:want|need|get|have|must|should|shall|to)\b", re.IGNORECASE)
_OWNS = re.compile(r"['\u2019]s\s")
_PRONOUN = re.compile(rf"\s+(?:{words.PRONOUNS})(?!\w)", re.IGNORECASE)
_BOUND = re.compile("[.!?](?=\\s|\\Z)|[。！？;；\n]")  # noqa: RUF001
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
_RELATIVE_JA = re.compile("(?:を)?(?:する|している|した|される|された|すべき)(?!よう|こと|つもり|[。、!\\s]|\\Z)")
_NOT_JA = re.compile(rf"[^。\n]{{0,20}}?(?:{words.NOT_JA})")
_SOURCE_JA = re.compile(rf"(?:ファイル)?(?:の内容|の記述|の仕様)?(?:{words.SOURCES_AFTER_JA})")
_NOT_THIS_JA = re.compile(rf"(?:ファイル)?(?:{words.NOT_THIS_JA})")
_PARTICLE = re.compile(
    rf"(?:という(?:名前の)?|の)?(?:新しい)?(?:ファイル|{words.FOLDER_JA})?\s*"
    "(?P<particle>から|には|にも|を|も|は|に|へ|の|で|内|が)"
)
_DELETES = re.compile(
    rf"{_EDGE}(?:{_any(words.DELETE)}|{_any(words.CLEAN)})(?![\w\-])|{words.DELETE_JA}|片付け|クリア", re.IGNORECASE
)
_EVERYTHING = re.compile(rf"{_EDGE}(?:{words.EVERYTHING})", re.IGNORECASE)
_GROUPS = tuple(
    (re.compile(rf"(?<![A-Za-z0-9_.\-/])(?:{name})(?![A-Za-z0-9_\-/])", re.IGNORECASE), globs)
    for name, globs in words.GROUPS.items()
)
_MAKES = re.compile(rf"{_EDGE}(?:{_any(words.MAKE)})(?![\w\-])", re.IGNORECASE)
_ALTERS = re.compile(rf"{_EDGE}(?:{_any(words.MAKE)}|{_any(words.CHANGE)}|{_any(words.COPY)})(?![\w\-])", re.IGNORECASE)
_PHRASE = re.compile(
    r"\s+((?:(?!(?:and|or|for|to|in|on|of|with|that|which|from|into|about|so)\b)[\w'-]+\s*){1,6})", re.IGNORECASE
)
_ADVERBS = frozenset("first now please quickly carefully today too again also properly short briefly then".split())
_TESTS = re.compile(rf"(?:{words.TESTS})\Z", re.IGNORECASE)
_DOCUMENTS = re.compile(rf"(?:{words.DOCUMENTS})\Z", re.IGNORECASE)
_OBJECT_JA = re.compile(rf"([^\s、。をはがに]{{1,20}})(?:を|の)\S{{0,8}}?(?:{words.MAKE_JA}|{words.CHANGE_JA})")
_TESTS_JA = re.compile(rf"(?:{words.TESTS_JA})\Z")
_DOCUMENTS_JA = re.compile(rf"(?:{words.DOCUMENTS_JA})\Z", re.IGNORECASE)


class _Place(NamedTuple):
    """Where something is mentioned: its bounds and name.

    shell: the command that it is an argument of. part: it is but a part of a longer term, as in "changelog entry".
    """

    start: int
    end: int
    name: str
    folder: bool = False
    shell: str = ""
    part: bool = False


class _Reading(NamedTuple):
    """What the words around a place say: the class of the verb, how it is joined, and what it counts for."""

    verb: str = ""
    place: str = ""
    direct: bool = False
    role: str = WANTED
    forbidden: tuple[str, ...] = ()
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
    for place, reading in zip(places, _readings(masked, places, index), strict=True):
        mention = _mention(place, reading, index)
        known = found.get(mention.name)
        if known is None or (known.role != WANTED and mention.role == WANTED):
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
    return tuple(
        each if each.required and each.kind in (MADE, DELETED) else each._replace(role=SOURCE, required=False)
        for each in found
    )


def sentences(text: str) -> tuple[str, ...]:
    """The lines of a task as they are said, with every mention blackened, without what they quote."""
    plain = _plain(text)
    return tuple(line for line in _masked(plain, _places(plain, _Index(Tree()))).split("\n") if line.strip())


def deletes(text: str) -> bool:
    """Whether a task holds a word that orders a deletion."""
    return _DELETES.search(_masked(_plain(text), _places(_plain(text), _Index(Tree())))) is not None


def deciding(mentions: Iterable[Mention]) -> tuple[Mention, ...]:
    """The mentions of which at least one has to be touched."""
    every = tuple(mentions)
    return tuple(each for each in every if each.role == WANTED) or tuple(each for each in every if each.role == WEAK)


def sole(mentions: Sequence[Mention], text: str) -> Mention | None:
    """The one file that a task orders to be created, where that is the whole order; None otherwise."""
    if len(mentions) != 1 or mentions[0].kind != MADE or not mentions[0].required:
        return None
    plain = _plain(text)
    masked = _masked(plain, _places(plain, _Index(Tree(mentions[0].files))))
    others = {match.lastgroup for match in _verbs(masked)} | {match.lastgroup for match in _VERB_JA.finditer(masked)}
    return mentions[0] if others <= {"make"} else None


def judged(
    mentions: Sequence[Mention], after: Tree, touched: Mapping[str, str], *, unnamed: bool = False,
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
    decide = [each for each in deciding(mentions) if each.name not in later]
    here = [each for each in decide if about is None or each.name in about]
    unmet = [_sentence(each) for each in decide if each.required and not state.is_done(each)]
    if here and not unmet and not any(state.is_touched(each) for each in here):
        unmet = [_sentence(each) for each in here]
    unmet += [f"{each.name} was changed, which the task forbids" for each in mentions if state.is_hurt(each)]
    gone = [path for path, change in touched.items() if change == GONE]
    deleted = tuple(path for path in gone if any(each.covers and _matches(each, path) for each in mentions))
    deleted += tuple(each.name for each in mentions if each.covers and state.is_folder_gone(each) and not deleted)
    kept = [path for path, change in touched.items() if change != GONE]
    return Outcome(
        unmet=tuple(dict.fromkeys(unmet)),
        untouched=tuple(each.name for each in mentions if each.role != DENIED and not state.is_touched(each)),
        unmentioned=tuple(path for path in kept if not any(_matches(each, path) for each in mentions)),
        deleted=deleted, stray=tuple(path for path in gone if path not in deleted),
        folders=tuple(each.name for each in decide if state.is_folder_made(each)),
        unnamed=unnamed and not decide,
    )  # fmt: skip


def undone(mentions: Collection[Mention], after: Tree, touched: Mapping[str, str]) -> Iterator[Mention]:
    """Those mentions of which what is ordered by itself was not done; the arguments are those of `judged`."""
    state = _State(after, touched, frozenset())
    return (each for each in mentions if not state.is_done(each))


class _State:
    """The project after the work, asked about single mentions."""

    def __init__(self, after: Tree, touched: Mapping[str, str], made: frozenset[str]) -> None:
        self._after, self._touched, self._made = after, touched, made

    def _changes(self, mention: Mention) -> set[str]:
        return {change for path, change in self._touched.items() if _matches(mention, path)}

    def is_touched(self, mention: Mention) -> bool:
        """Whether something that fits became of it."""
        changes = self._changes(mention)
        fits = bool(changes - {GONE}) or self.is_folder_made(mention)
        if mention.kind == DELETED:
            return self._is_gone(mention)
        if mention.kind == EITHER or mention.covers:
            return fits or GONE in changes or self.is_folder_gone(mention)
        return fits

    def is_done(self, mention: Mention) -> bool:
        """Whether what is ordered of it by itself was done."""
        if mention.kind == MADE:
            there = self._changes(mention) - {GONE} or self.is_folder_made(mention)
            return bool(there) or any(path in self._after.files for path in mention.files if mention.exact) or any(
                path in self._after.folders for path in mention.folders if mention.exact
            )
        return self.is_touched(mention)

    def is_hurt(self, mention: Mention) -> bool:
        """Whether it was changed in a way that the task forbids."""
        return not self._changes(mention).isdisjoint(mention.forbidden)

    def _is_gone(self, mention: Mention) -> bool:
        if mention.patterns:
            left = [path for path in self._after.files if _matches(mention, path)]
            return GONE in self._changes(mention) and not (mention.required and left)
        known = (*mention.files, *mention.folders)
        left = [path for path in mention.files if path in self._after.files]
        left += [path for path in mention.folders if path in self._after.folders]
        return bool(known) and (not left if mention.exact else len(left) < len(known))

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
            if raw.startswith("-") or raw.lower() in _STOPS:
                break
            at = argument.end()
            path = names.normal_path(raw.rstrip("./") if raw.endswith((".", "/")) else raw)
            if path and (match["flags"] or name in ("mkdir", "rmdir") or index.has(path) or _is_path(raw, index)):
                yield _Place(argument.start(), argument.start() + len(raw), path, raw.endswith("/"), name)


_STOPS = frozenset(re.findall(r"[a-z]+", words.FOLLOWS)) | _ARTICLES | frozenset("it them some".split())


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
        if _is_prose(word, before, after, index):
            continue
        called = _FOLDER_AFTER.match(after) or _FOLDER_BEFORE.search(before)
        if word.lower() in words.NAMES and (word != word.lower() or _NEXT_WORD.match(after) or index.has(word)):
            yield _Place(at, end, word, part=not _NEXT_WORD.match(after) and word == word.lower())
        elif word in index.words or (called and word.lower() not in _STOPS and _is_folder(word, before, after, index)):
            yield _Place(at, end, word, bool(_FOLDER_AFTER.match(after)))


def _is_prose(word: str, before: str, after: str, index: _Index) -> bool:
    """Whether a word that could be a name is a word of every day where it stands."""
    if _FOLDER_AFTER.match(after) or _FOLDER_BEFORE.search(before):
        return False
    if _VERB.fullmatch(word) and re.search(rf"(?:\A|[.!?:;\n,]|\b(?:{words.POLITE}))\s*\Z", before, re.IGNORECASE):
        return True
    if word.lower() in words.NAMES and (word.lower() != word or index.has(word)):
        return False
    if _TESTS.match(word) and (_MAKES.search(before) or _ALTERS.search(before)):
        return True
    if not _NEXT_WORD.match(after):
        return True
    last = before.split()[-1].lower() if before.split() else ""
    destroys = re.search(rf"(?:{_any(words.DELETE)})(?:\s+the)?\s*\Z", before, re.IGNORECASE)
    return word.lower() in words.COMMON and not destroys and not before.endswith(("`", '"', "'", "/")) and (
        last in _ARTICLES or not _VERB.search(before[-20:]) or (_VERB.fullmatch(last) is None and last not in _PLACES)
    )


_PLACES = frozenset(re.findall(r"[a-z]+", words.PLACES)) | {"from", "and"}


def _is_folder(word: str, before: str, after: str, index: _Index) -> bool:
    """Whether a word that is called a folder is its name: it exists, or is named so, or is to be made."""
    if index.has(word) or _CALLED.search(before):
        return True
    return word.lower() not in words.COMMON and bool(_FOLDER_AFTER.match(after)) and bool(_VERB.search(before))


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


def _readings(text: str, places: Sequence[_Place], index: _Index) -> list[_Reading]:
    """What the words around each place say of it."""
    bounds = [0, *(match.end() for match in _BOUND.finditer(text)), len(text) + 1]
    found: list[_Reading] = []
    for number, place in enumerate(places):
        at = bisect.bisect_right(bounds, place.start) - 1
        sentence = bounds[at], bounds[at + 1] - 1
        before = found[-1] if found and places[number - 1].start >= sentence[0] else None
        gap = text[places[number - 1].end : place.start] if before else ""
        found.append(_reading(text, places, number, sentence, before, gap))
    return found


def _reading(
    text: str, places: Sequence[_Place], number: int, sentence: tuple[int, int], before: _Reading | None, gap: str
) -> _Reading:
    place = places[number]
    if place.shell:
        return _of_shell(place, places, number)
    japanese = _of_japanese(text, places, number, sentence)
    if japanese is not None:
        return japanese
    either = before is not None and _OR.fullmatch(gap) is not None
    if before is not None and (either or (_AND.fullmatch(gap) and gap.strip("\"'` \t"))):
        return before._replace(optional=before.optional or either)
    found = _of_english(text, place, sentence)
    if before is not None and not gap.strip("\"'` \t") and before.verb in ("move", "copy"):
        return found._replace(verb=before.verb, place="to", direct=False)
    end = min(sentence[1], places[number + 1].start if number + 1 < len(places) else sentence[1])
    is_content = end < sentence[1] and _CONTENT.fullmatch(text[place.end : end]) is not None
    if found.direct and is_content and found.verb in ("make", "change"):
        found = found._replace(direct=False, role=WEAK if found.role == WANTED else found.role)
    perhaps = _is_perhaps(text, places[number - 1].end if before else sentence[0], place, end)
    optional = perhaps or _OR.fullmatch(text[place.end : end]) is not None
    return found._replace(optional=optional, role=SOURCE if perhaps and found.role == WANTED else found.role)


def _is_perhaps(text: str, begin: int, place: _Place, end: int) -> bool:
    """Whether something is to be done only if need be: it says so before a place, or behind it and before no verb."""
    behind = _PERHAPS.search(text, place.end, end)
    return _PERHAPS.search(text, begin, place.start) is not None or (
        behind is not None and not _VERB.search(text, behind.end(), end)
    )


def _of_shell(place: _Place, places: Sequence[_Place], number: int) -> _Reading:
    kind = {"mkdir": "make", "mv": "move", "cp": "copy"}.get(place.shell, "delete")
    last = number + 1 == len(places) or places[number + 1].shell != place.shell
    first = number == 0 or places[number - 1].shell != place.shell
    goal = kind in ("move", "copy") and last and not first
    return _Reading(kind, "to" if goal else "", not goal)


def _verbs(text: str) -> list[re.Match[str]]:
    """The verbs of a text that are not nouns."""
    return [each for each in _VERB.finditer(text) if not _NOUN.search(text, max(0, each.start() - 12), each.start())]


def _of_english(text: str, place: _Place, sentence: tuple[int, int]) -> _Reading:
    begin = max(sentence[0], place.start - _NEAR)
    before, after = text[begin : place.start], text[place.end : min(sentence[1], place.end + _NEAR)]
    verbs = _verbs(before)
    verb, from_ = (verbs[-1].lastgroup or "", verbs[-1].end()) if verbs else ("", 0)
    passive = _PASSIVE.match(after)
    if passive and verb in ("", "make") and (not verbs or _WANTS.search(before)):
        return _Reading(passive.lastgroup or "", "", True, forbidden=_forbidden(before, after))
    tail = _tail_words(before[from_:])
    joined = " ".join(tail[-4:])
    place_ = "of" if _OWNS.match(after) else _join(joined)
    if verb:
        # A few words that describe it may stand between.
        direct = not place_ and "," not in before[from_:] and len(tail) <= 3
    else:
        verb, direct = _behind(after)
        lead = "" if verb else _lead(text, sentence[0])
        verb, direct = verb or lead, (direct or bool(lead)) and not place_
    found = _Reading(verb, place_, direct)
    return found._replace(role=_role(found, before, after, joined, from_), forbidden=_forbidden(before, after))


def _tail_words(before: str) -> list[str]:
    """The words before a place, without the articles and adjectives at their end."""
    found = [word.strip("\"'`()[]*_:") for word in before.split()]
    found = [word for word in found if word]
    while found and found[-1].lower() in _ARTICLES:
        found.pop()
    return found


def _join(tail: str) -> str:
    """The word that joins a place to what stands before, or nothing."""
    match = _PLACE.search(tail) or _OUT_OF.search(tail)
    return match["place"].lower() if match else ""


def _behind(after: str) -> tuple[str, bool]:
    """The first verb behind a place, as in `README.md: delete it`."""
    for match in _verbs(after[:80]):
        return match.lastgroup or "", _PRONOUN.match(after, match.end()) is not None
    return "", False


def _lead(text: str, start: int) -> str:
    """The verb of the line that leads to a list, where a line of it has none."""
    line = text[max(0, start - 400) : start].rstrip("\n")
    for each in reversed(line.split("\n")):
        if _ITEM.match(each) or not each.strip():
            continue
        verbs = _verbs(each)
        return (verbs[-1].lastgroup or "") if each.rstrip().endswith(":") and verbs else ""
    return ""


def _role(found: _Reading, before: str, after: str, tail: str, from_: int) -> str:
    if _NOTHING_BUT.search(before):
        return WANTED
    if _is_denied(before, after, tail):
        return DENIED
    if _SAYS.match(after) or _LONG_SOURCES.search(tail):
        return SOURCE
    if _LINKS.search(tail):
        return WEAK
    if found.place in ("", "as") and _SOURCES.search(tail) and not _SEEKS.search(tail):
        return WANTED if found.place == "as" else SOURCE
    if found.place in words.OUT_OF.split("|"):
        return _role_out_of(found, before, from_)
    if found.verb == "copy" and not found.place:
        return WEAK
    return SOURCE if _is_inner(before, found) else WANTED


def _role_out_of(found: _Reading, before: str, from_: int) -> str:
    """What a place counts for that something comes out of, or that it is done with."""
    if found.place in ("against", "than"):
        return SOURCE
    made_of = found.place in ("from", "on", "with") or (found.place == "of" and _COPIES.search(before))
    if found.verb in ("make", "copy") and from_ and made_of:
        return SOURCE
    return WEAK if found.place in ("with", "by", "via") else WANTED


def _is_inner(before: str, found: _Reading) -> bool:
    """Whether a name belongs to what something else is to do: "a tool to read a.csv and write b.csv"."""
    return found.verb in ("make", "copy", "") and _WITHIN.search(before) is not None and not _NEVER.search(before)


def _is_denied(before: str, after: str, tail: str) -> bool:
    if _NOTHING_BUT.search(before):
        return False
    if _NOT_THIS.search(tail) or (_LEFT.search(before) and _ALONE.match(after)):
        return True
    return bool(_forbidden(before, after))


def _forbidden(before: str, after: str) -> tuple[str, ...]:
    """The kinds of change that the words before a place forbid."""
    if _NOTHING_BUT.search(before):
        return ()
    if _LEFT.search(before) and _ALONE.match(after):
        return (NEW, CHANGED, GONE)
    if _KEPT.search(before) and not after.strip(" .!"):
        return (GONE,)
    denials = list(_NEVER.finditer(before))
    if not denials:
        return ()
    said = before[denials[-1].end() :]
    for turn in _TURN.finditer(said):
        if turn[0] in ",;" or _VERB.search(said, turn.end()):
            return ()
    verbs = _verbs(said)
    return (GONE,) if verbs and verbs[-1].lastgroup in ("delete", "move") else (NEW, CHANGED, GONE)


def _of_japanese(text: str, places: Sequence[_Place], number: int, sentence: tuple[int, int]) -> _Reading | None:
    """What Japanese behind a place says of it; a list of places is read by what follows its last one."""
    last, either = number, False
    while last + 1 < len(places):
        gap = text[places[last].end : places[last + 1].start]
        if not (_AND.fullmatch(gap) and re.search("[と、やも及]", gap)) and not _OR.fullmatch(gap):
            break
        either, last = either or _OR.fullmatch(gap) is not None, last + 1
    after = text[places[last].end : min(sentence[1], places[last].end + _NEAR)].lstrip("\"'`」』)]* ")
    if not _JAPANESE.match(after):
        return None
    if _NOT_THIS_JA.match(after):
        return _Reading(role=DENIED, forbidden=(GONE,) if "残" in after[:6] else ())
    denies = _NOT_JA.match(after.partition("、")[0])
    if after.startswith(words.EXCEPT_JA):
        return _Reading() if denies else _Reading(role=DENIED)
    if _SOURCE_JA.match(after):
        return _Reading(role=SOURCE)
    particle = _PARTICLE.match(after)
    verb = _VERB_JA.search(after) or next(iter(_verbs(after)), None)
    if denies and (verb is None or denies.end() >= verb.start()):
        return _Reading(role=DENIED, forbidden=(NEW, CHANGED, GONE))
    perhaps = either or re.search(words.PERHAPS_JA, text[sentence[0] : sentence[1]]) is not None
    return _japanese(particle["particle"] if particle else "", verb, after)._replace(optional=perhaps)


def _japanese(particle: str, verb: re.Match[str] | None, after: str) -> _Reading:
    kind = (verb.lastgroup or "") if verb else ""
    if verb is not None and _RELATIVE_JA.match(after, verb.end()):
        return _Reading(kind, role=SOURCE)
    if particle == "から" and kind in ("make", "copy", ""):
        return _Reading(kind, "from", role=SOURCE)
    if particle in ("に", "へ", "には", "にも"):
        return _Reading(kind, "to")
    if particle in ("の", "で", "内", "から", "が"):
        return _Reading(kind, "in")
    return _Reading(kind, "", True, WEAK if kind == "copy" else WANTED)


def _mention(place: _Place, said: _Reading, index: _Index) -> Mention:
    """What is ordered of a place."""
    files, folders, exact = index.entries(place.name)
    makes = said.verb in ("make", "move", "copy")
    there = bool(files or folders) and (exact or not makes)
    patterns = (place.name,) if "*" in place.name or "?" in place.name else ()
    if place.part and said.role == WANTED:
        said = said._replace(role=WEAK)
    kind, required, covers = _ordered(said, there=there, folder=bool(folders) or place.folder)
    if said.role != WANTED or said.optional:
        required = False
    covers = covers and said.role != DENIED and said.role != SOURCE
    return Mention(
        place.name + ("/" if folders or (place.folder and not files) else ""), kind, said.role, required, covers,
        said.forbidden, tuple(files), tuple(folders), exact, patterns,
    )  # fmt: skip


def _ordered(said: _Reading, *, there: bool, folder: bool) -> tuple[str, bool, bool]:
    """What is ordered: the kind, whether it has to be done by itself, and whether a deletion is a part of it."""
    goal = said.place in ("to", "into", "onto", "as", "called", "named", "titled", "in", "inside", "at", "under")
    to = said.place in ("to", "into", "onto")
    if said.verb == "delete":
        loose = (EITHER if folder else CHANGED, False, folder or not said.place)
        return (DELETED, True, True) if said.direct else loose
    if said.verb == "clean":
        return EITHER, False, said.direct or folder
    if said.verb == "move" and not said.place:
        return DELETED, said.direct, True
    if said.verb in ("move", "copy") and goal:
        return (CHANGED, to, False) if there else (MADE, True, False)
    if said.verb == "copy":
        return CHANGED, False, not said.place
    if said.verb == "make" and (goal or not said.place):
        if there:
            return (MADE, True, False) if said.direct else (CHANGED, to, False)
        return MADE, said.direct or goal, False
    return CHANGED, said.verb == "change" and said.direct, False


def _common(masked: str, found: Sequence[Mention]) -> Iterator[Mention]:
    """What is mentioned by a common word: logs that are to be deleted, tests that are to be written."""
    if _DELETES.search(masked):
        for group, patterns in _GROUPS:
            match = next((each for each in group.finditer(masked) if _NEXT_WORD.match(masked, each.end())), None)
            if match:
                yield Mention(match[0], EITHER, covers=True, patterns=patterns)
        if _EVERYTHING.search(masked) and not any(each.role in (WANTED, WEAK) for each in found):
            yield Mention("everything", EITHER, covers=True, patterns=("**",))
    subjects = tuple(_subjects(masked, _MAKES))
    if any(_TESTS.search(each) or _TESTS_JA.search(each) for each in subjects) and not any(
        each.role == WANTED for each in found
    ):
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
    decide = [each for each in deciding(found) or found if each.kind not in (DELETED, EITHER)]
    named = tuple(path for each in decide for path in (each.files or (each.name,)) if not each.tests)
    if any(not each.tests and not each.folders for each in decide):
        return named
    plain = _plain(text)
    masked = _masked(plain, _places(plain, _Index(Tree())))
    subjects = [each for each in _subjects(masked, _ALTERS) if each]
    spared = (_TESTS, _DOCUMENTS, _TESTS_JA, _DOCUMENTS_JA)
    if subjects and not all(any(pattern.search(each) for pattern in spared) for each in subjects):
        return None
    return () if subjects or _DELETES.search(masked) else None


def means(found: Sequence[Mention], path: str) -> bool:
    """Whether any mention means a path, or a folder that it lies in."""
    return any(_matches(each, path) or _named(each.name.rstrip("/"), path) or path in each.folders for each in found)
