"""What a mention of a file or folder in a task orders, and whether that was done. How tasks are read is in `mentions`.

Source: seed 001, Properties 8, 26 and 31.
"""

from __future__ import annotations

import collections
import fnmatch
import functools
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.running import file_names, order_conditions, tests_exist
from orchestrator.core.running.file_names import Tree

MADE, CHANGED, DELETED, EITHER = "made", "changed", "deleted", "either"
"""It has to be there; be new or other in content, if anything; be gone; or any of the last two, if anything."""
EMPTIED, COPIED, ALTERED = "emptied", "copied", "altered"
"""Nothing has to be left below it, or of files nothing of what they held, as far as nothing is spared; each file of it
has to be elsewhere as well; it has to be new or other in content, whatever else was changed."""
SOURCE, DENIED, KEPT, ASIDE = "source", "denied", "kept", "aside"
"""It decides nothing, but is not what was to change; it must not be touched; not be deleted; it does not matter."""
GONE = "deleted"
"""What became of a path that is there no more."""


class Mention(NamedTuple):
    """Something that a task mentions.

    name: as it is mentioned, relative where that is possible. kind: what is ordered of it. files, folders: what had
    that name before. exact: whether one of these has exactly this path. patterns: what else it means. tests: it means
    any test. created: it is the object of a verb of creating. renamed: it goes because it gets another name. moved: it
    goes and comes to be elsewhere. gone: of those of its list one is enough, and it has to be gone. travels: the files
    that were there, each of which has to be elsewhere at the end. converted: one of these may change where it is.
    settled: the whole task holds only where it is missing, or there, as `order_conditions` names it, and it was not.
    """

    name: str
    kind: str = CHANGED
    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    exact: bool = False
    patterns: tuple[str, ...] = ()
    tests: bool = False
    created: bool = False
    renamed: bool = False
    moved: bool = False
    gone: bool = False
    travels: tuple[str, ...] = ()
    converted: bool = False
    settled: str = ""

    @property
    def decides(self) -> bool:
        """Whether it may have to be touched."""
        return self.kind not in (SOURCE, DENIED, KEPT, ASIDE)

    @property
    def required(self) -> bool:
        """Whether it has to be done whatever else was."""
        return self.kind in (MADE, DELETED, EMPTIED, COPIED, ALTERED)

    @property
    def covers(self) -> bool:
        """Whether its deletion, and that of what lies below, is ordered."""
        return self.kind in (DELETED, EITHER, EMPTIED)


class Outcome(NamedTuple):
    """What became of what is mentioned.

    unmet: sentences without a full stop on what was ordered and not done. untouched: mentioned, and not touched.
    unmentioned: new and changed files that are not mentioned. deleted, stray: deletions that were ordered or not.
    folders: mentioned folders that were made. unnamed: a deletion was ordered without a word of what.
    settled, absent: what was there before, or was not, where the whole task is to make it, or delete it, only if it is
        missing, or there; so that nothing was to be done, and nothing was.
    """

    unmet: tuple[str, ...] = ()
    untouched: tuple[str, ...] = ()
    unmentioned: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    stray: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    unnamed: bool = False
    settled: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()


def deciding(found: Iterable[Mention]) -> tuple[Mention, ...]:
    """The mentions of which at least one has to be touched."""
    return tuple(each for each in found if each.decides)


def loosened(mention: Mention) -> Mention:
    """The mention, where it is enough that another one is done."""
    return mention._replace(kind={MADE: CHANGED, DELETED: EITHER, EMPTIED: EITHER}.get(mention.kind, mention.kind))


def judged(
    found: Sequence[Mention], after: Tree, touched: Mapping[str, str], *, unnamed: bool = False,
    files: bool = False, made: Collection[str] = (), about: Collection[str] | None = None, later: Collection[str] = (),
) -> Outcome:
    """What became of what a task mentions.

    Args:
        after: the project now.
        touched: what became of each path since the task was begun: new, changed or deleted.
        unnamed: whether the task orders a deletion by some word.
        files: whether that is one of files.
        made: folders that are new since then.
        about: the names that this part of the task is about; all of them where left out.
        later: those that a later part is about.

    Source: seed 001, Properties 8 and 31.
    """
    state = _State(after, touched, frozenset(made), [each for each in found if each.kind in (DENIED, KEPT)])
    decide = [each for each in deciding(found) if each.name not in later]
    here = [each for each in decide if about is None or each.name in about]
    unmet = [_sentence(each) for each in decide if each.required and not state.is_done(each)]
    # What went does not stand for what was to change (RUN-35).
    least = [each for each in here if not each.covers] or here
    if least and not unmet and not any(state.is_touched(each) for each in least):
        unmet = [_sentence(each) for each in least]
    if not unmet and not made and all(change == GONE for change in touched.values()):
        unmet = [f"{each.name} was deleted, and nothing has a new name" for each in here if each.renamed]
    if files and touched and GONE not in touched.values() and not any(each.covers for each in decide):
        unmet = ["no file was deleted"]
    sources = [each for each in found if each.kind == SOURCE]
    if touched and not decide and all(any(matches(each, path) for each in sources) for path in touched):
        unmet = [f"nothing but {each.name} was changed, which the task only refers to" for each in sources[:1]]
    unmet += [f"{path} was deleted and is nowhere else" for each in decide for path in state.lost(each)]
    absent = tuple(each.name for each in found if each.settled == order_conditions.THERE)
    if touched or made:
        unmet += [f"{name} was there already, so that nothing was to be changed" for name in there_already(found)]
        unmet += [f"{name} was not there, so that nothing was to be changed" for name in absent]
    unmet += [_hurt(each) for each in found if state.is_hurt(each)]
    gone = [path for path, change in touched.items() if change == GONE]
    deleted = tuple(path for path in gone if any(each.covers and matches(each, path) for each in found))
    deleted += tuple(each.name for each in found if each.covers and state.is_folder_gone(each) and not deleted)
    kept = [path for path, change in touched.items() if change != GONE]
    return Outcome(
        unmet=tuple(dict.fromkeys(unmet)),
        untouched=tuple(
            each.name for each in found
            if each.kind not in (DENIED, KEPT) and not each.settled and not state.is_touched(each)
        ),
        unmentioned=tuple(path for path in kept if not any(matches(each, path) for each in found)),
        deleted=deleted, stray=tuple(path for path in gone if path not in deleted),
        folders=tuple(each.name for each in decide if state.is_folder_made(each)),
        unnamed=unnamed and not decide and not absent,
        settled=tuple(path for path in there_already(found) if path in after.files and not touched),
        absent=() if touched else absent,
    )  # fmt: skip


def there_already(found: Iterable[Mention]) -> tuple[str, ...]:
    """The files that were there, where the whole task is to make them if they are missing."""
    return tuple(path for each in found if each.settled == order_conditions.MISSING for path in each.files)


def undone(found: Collection[Mention], after: Tree, touched: Mapping[str, str]) -> Iterator[Mention]:
    """Those mentions of which what is ordered was not done; the arguments are those of `judged`."""
    state = _State(after, touched, frozenset())
    return (each for each in found if not state.is_done(each))


class _State:
    """The project after the work, asked about single mentions."""

    def __init__(
        self, after: Tree, touched: Mapping[str, str], made: frozenset[str], spared: Sequence[Mention] = ()
    ) -> None:
        self._after, self._touched, self._made, self._spared = after, touched, made, spared

    def _changes(self, mention: Mention) -> set[str]:
        return {change for path, change in self._touched.items() if matches(mention, path)}

    def is_touched(self, mention: Mention) -> bool:
        """Whether something that fits became of it."""
        changes = self._changes(mention)
        if mention.kind == DELETED:
            return (GONE in changes or bool(mention.files or mention.folders)) and not self._is_left(mention)
        if mention.kind == EMPTIED:
            emptied = bool(changes) if mention.patterns else GONE in changes or self.is_folder_gone(mention)
            return emptied and not self._is_filled(mention)
        if mention.travels and not mention.moved and len(self._missing(mention)) < len(mention.travels):
            return True
        if mention.kind == COPIED:
            return False
        if not mention.gone and (changes - {GONE} or self.is_folder_made(mention)):
            return True
        return mention.kind == EITHER and (GONE in changes or self.is_folder_gone(mention))

    def is_done(self, mention: Mention) -> bool:
        """Whether what is ordered of it by itself was done."""
        if mention.kind == DELETED:
            # Where nothing of a pattern is there, a new folder is no move of it.
            moved = not (mention.moved and mention.patterns) or GONE in self._changes(mention)
            return moved and not self._is_left(mention)
        if mention.kind == EMPTIED:
            return not self._is_filled(mention)
        if mention.kind == COPIED:
            return not self._missing(mention)
        there = mention.kind == MADE and mention.name in self._after.files
        return there or self.is_touched(mention)

    def is_hurt(self, mention: Mention) -> bool:
        """Whether it was changed in a way that the task forbids."""
        changes = self._changes(mention)
        # Tests that are only referred to, as those that have to pass, prove nothing once they are gone.
        kept = mention.kind == KEPT or (mention.kind == SOURCE and tests_exist.is_of_tests(mention.name))
        return (mention.kind == DENIED and bool(changes)) or (kept and GONE in changes)

    def lost(self, mention: Mention) -> list[str]:
        """The files that were to be moved, and are gone without being elsewhere."""
        missing = self._missing(mention) if mention.moved else []
        return [path for path in missing if path not in self._after.files]

    def _missing(self, mention: Mention) -> list[str]:
        """The files that have to be elsewhere at the end, and are not: nothing of their name was written."""
        if mention.renamed:
            return []
        written = [path for path, change in self._touched.items() if change != GONE and path not in mention.travels]
        there = collections.Counter(map(_stem, written))
        missing = []
        for path in (each for each in mention.travels if not self._is_spared(each)):
            if there[_stem(path)] > 0:
                there[_stem(path)] -= 1
            elif not mention.converted or self._touched.get(path, GONE) == GONE:
                missing.append(path)
        return missing

    def _is_spared(self, path: str) -> bool:
        return any(matches(each, path) for each in self._spared)

    def _is_left(self, mention: Mention) -> bool:
        """Whether anything is left of what has to be gone; one of several files of a name is enough."""
        if mention.patterns:
            return self._is_filled(mention)
        left = [path for path in mention.files if path in self._after.files]
        left += [path for path in mention.folders if path in self._after.folders]
        return bool(left) and (mention.exact or len(left) == len(mention.files) + len(mention.folders))

    def _is_filled(self, mention: Mention) -> bool:
        # What is moved may come to be where its pattern still fits.
        there = mention.travels if mention.travels and mention.moved else self._after.files
        below = (path for path in there if path in self._after.files and matches(mention, path))
        # A file that is emptied stays.
        stays = self._touched if mention.kind == EMPTIED and mention.patterns else ()
        return any(path not in stays and not self._is_spared(path) for path in below)

    def is_folder_gone(self, mention: Mention) -> bool:
        """Whether it was a folder that is there no more."""
        return bool(mention.folders) and not any(path in self._after.folders for path in mention.folders)

    def is_folder_made(self, mention: Mention) -> bool:
        """Whether it is a folder that was not there before; `notes.md` is a file, unless it is called a folder."""
        if mention.patterns or file_names.has_extension(mention.name):
            return False
        return any(file_names.named(mention.name.rstrip("/"), path) for path in self._made)


def _hurt(mention: Mention) -> str:
    how = {DENIED: "changed, which the task forbids", SOURCE: "deleted, which the task refers to"}
    return f"{mention.name} was {how.get(mention.kind, 'deleted, which the task forbids')}"


def _sentence(mention: Mention) -> str:
    if mention.tests:
        return "no test was written or changed"
    there = mention.files or mention.folders or mention.patterns
    said = {MADE: "created", DELETED: "deleted", EITHER: "changed or deleted", EMPTIED: "emptied", COPIED: "copied"}
    if mention.moved and (mention.travels or mention.patterns):
        return f"{mention.name} was not moved"
    word = "deleted" if mention.gone else said.get(mention.kind, "changed")
    return f"{mention.name} was not {word if there or mention.kind != CHANGED else 'created'}"


def _stem(path: str) -> str:
    """The name of a file without its extensions."""
    name = path.rpartition("/")[2].casefold()
    return name.partition(".")[0] or name


def matches(mention: Mention, path: str) -> bool:
    """Whether a path is what a mention means, or lies below it."""
    if mention.tests:
        return tests_exist.is_of_tests(path)
    if mention.patterns:
        return any(fits(path, pattern) for pattern in mention.patterns)
    if path in mention.files or any(path.startswith(f"{folder}/") for folder in mention.folders):
        return True
    if mention.exact:
        return False
    name = mention.name.rstrip("/")
    if mention.kind == MADE and file_names.has_extension(name) and not file_names.is_as_written(name, path):
        return False
    return file_names.named(name, path) or f"/{name.casefold()}/" in f"/{path.casefold()}"


def fits(path: str, pattern: str) -> bool:
    """Whether a path is one that a pattern stands for."""
    if pattern == "**":
        return True
    if pattern.endswith("/**"):
        return fnmatch.fnmatchcase(f"/{path}", f"*/{pattern[:-3]}/*")
    if "/" not in pattern:
        return fnmatch.fnmatchcase(path.rpartition("/")[2], pattern)
    return re.fullmatch(_glob(pattern), path) is not None


@functools.cache
def _glob(pattern: str) -> str:
    """A pattern of paths, in which one star stays within a folder and two do not."""
    parts = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.sub(r"\*\*/|\*\*|\*|\?|[^*?]+", lambda match: parts.get(match[0]) or re.escape(match[0]), pattern)


def means(found: Sequence[Mention], path: str) -> bool:
    """Whether any mention means a path, or a folder that it lies in."""
    named = file_names.named
    return any(matches(each, path) or named(each.name.rstrip("/"), path) or path in each.folders for each in found)
