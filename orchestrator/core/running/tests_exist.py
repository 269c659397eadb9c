"""Whether a project has tests, as its list of files shows it: before source changes, there have to be some; and
whether an order says that tests have to pass.

Source: seed 001, Properties 8 and 11.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping, Sequence

from orchestrator.core import names, strict_json
from orchestrator.core.lazy_regex import regex
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.running import codes, prompt_words
from orchestrator.hints import Any

SOURCE_EXTENSIONS = tuple(
    ".py .pyi .pyx .js .jsx .mjs .cjs .ts .tsx .mts .cts .vue .svelte .go .rs .java .kt .kts .scala .groovy .c .h .cc "
    ".cpp .cxx .hpp .hh .m .mm .cs .fs .vb .rb .php .swift .dart .ex .exs .erl .hs .clj .lua .pl .pm .r .jl .zig .nim "
    ".sh .bash .ps1 .sql".split()
)
DOCUMENTATION = ("*.md", "*.rst", "*.txt", "*.adoc", "docs/**", "doc/**", "LICENSE*", "README*", "CHANGELOG*")
TEST_FILES = (
    "test_*.py", "*_test.py", "*.test.[cm]?[jt]sx?", "*.spec.[cm]?[jt]sx?", "**/__tests__/**", "*_test.go",
    "**/tests/*.rs", "*Test.java", "*Tests.java", "*IT.java", "*Test.kt", "*Tests.kt", "*Spec.scala", "*Test.scala",
    "*Test.cs", "*Tests.cs", "*_spec.rb", "*_test.rb", "test_*.rb", "*Test.php", "*_test.exs", "*Tests.swift",
    "*_test.dart", "*_spec.lua", "*.bats", "t/*.t", "test_*.c", "*_test.c", "test_*.cpp", "*_test.cpp", "*_test.cc",
    "*_unittest.cc", "*.Tests.ps1",
)  # fmt: skip
TEST_FOLDERS = frozenset({"test", "tests", "__tests__", "spec", "specs", "t"})
FOREIGN_FOLDERS = frozenset(
    {".venv", "venv", "site-packages", "vendor", "third_party", "bower_components", "target", "dist", ".tox", ".nox"}
)
"""Folders with the files of others, whose tests are not the project's."""

TASK_TYPE = "IMPLEMENTATION"
CHECKS = ("lint", "tests", "types", "build")

_LISTS = ("source_extensions", "documentation", "test_files")
# What of a pattern is not taken literally; the brackets and question marks of the table above stand for themselves.
_SPECIAL = r"\*\*/|/\*\*|\*|\[cm\]\?|\[jt\]|x\?"
_MEANINGS = {"**/": "(?:.*/)?", "/**": "/.*", "*": "[^/]*", "[cm]?": "[cm]?", "[jt]": "[jt]", "x?": "x?"}

Argv = tuple[str, ...]

TO_PASS = regex(rf"(?<![\w.\-/])(?:{prompt_words.TO_PASS})|{prompt_words.TO_PASS_JA}", re.IGNORECASE)
"""What orders that tests pass, in a text with its mentions blackened."""
_ONLY_SPEAKS = regex(rf"(?<!\w)(?:{prompt_words.SPEAKS_OF_PASSING})(?!\w)[^,.;\n]*\Z", re.IGNORECASE)


class Detection(NamedTuple):
    """What is looked for in a project.

    source_extensions: of files that have to have tests.
    documentation, test_files: patterns; `*` is any text within a name, `**/` and `/**` are any folders, and a
        pattern without a slash is that of a name in any folder.
    checks: the commands of a check, which take the place of those that would be found; none: there is no such check.
    """

    source_extensions: tuple[str, ...] = SOURCE_EXTENSIONS
    documentation: tuple[str, ...] = DOCUMENTATION
    test_files: tuple[str, ...] = TEST_FILES
    checks: tuple[tuple[str, tuple[Argv, ...]], ...] = ()


DEFAULT = Detection()


def check(value: object, path: str) -> list[tuple[str, str]]:
    """Everything that is wrong with the settings of the detection: places as JSON paths, and sentences."""
    if not isinstance(value, Mapping):
        return [(path, f"{path} must be an object")]
    faults = []
    for key, given in value.items():
        place = strict_json.at(path, str(key))
        if key in _LISTS:
            faults += _texts(given, place)
        elif key == "checks":
            faults += _checks(given, place)
        else:
            known = ", ".join((*_LISTS, "checks"))
            faults.append((place, f"{names.shown(key)} at {place} is not a setting; known: {known}"))
    return faults


def built(value: Mapping[str, Any]) -> Detection:
    """The detection that valid settings describe."""
    lists = {key: tuple(value[key]) for key in _LISTS if key in value}
    commands = {
        name: tuple(tuple(argv) for argv in given) for name, given in value.get("checks", {}).items()
    }
    return Detection(**lists, checks=tuple(commands.items()))


def is_source(path: str, detection: Detection = DEFAULT) -> bool:
    """Whether a file needs tests: it is of a listed kind, and neither documentation nor part of the tests.

    Args:
        path: relative to the project, with slashes.
    """
    name = path.rpartition("/")[2].lower()
    if not name.endswith(detection.source_extensions) or _matches(path, detection.documentation):
        return False
    return not is_of_tests(path, detection)


def is_of_tests(path: str, detection: Detection = DEFAULT) -> bool:
    """Whether a file is a test, or stands in a folder of tests as helpers of tests do."""
    return not TEST_FOLDERS.isdisjoint(path.split("/")[:-1]) or _matches(path, detection.test_files)


def own_tests(paths: Iterable[str], detection: Detection = DEFAULT) -> tuple[str, ...]:
    """The project's tests among its files, in order of their paths; those of packages in it are not its own."""
    found = (path for path in paths if _matches(path, detection.test_files))
    return tuple(sorted(path for path in found if FOREIGN_FOLDERS.isdisjoint(path.split("/"))))


def require(
    task_type: str,
    touched: Sequence[str] | None,
    paths: Iterable[str],
    detection: Detection = DEFAULT,
    other_tests: Sequence[str] = (),
) -> tuple[str, ...]:
    """The tests that have to be there before a task is given to an executor.

    Args:
        task_type: only IMPLEMENTATION needs tests.
        touched: the files that the task names, relative to the project; None where nobody knows, which may be source.
        paths: the project's files.
        other_tests: what shows tests besides the names of files: source that holds its tests, a target that runs some.

    Returns:
        What shows the project's tests; nothing where none are needed and none were looked for.

    Raises:
        Refused: E211, source is to change and the project has no tests. Data ``source``.

    Source: seed 001, Property 11.
    """
    source = None if touched is None else [path for path in touched if is_source(path, detection)]
    if task_type != TASK_TYPE or source == []:
        return ()
    found = (*own_tests(paths, detection), *other_tests)
    if not found:
        what = "source files" if source is None else ", ".join(names.shown(path, 100) for path in source[:5])
        raise codes.refused("E211", f"The project has no tests, and the task changes {what}.", source=source)
    return found


def are_to_pass(sentence: str) -> bool:
    """Whether a sentence, with its mentions blackened, orders that tests pass: they are the evidence of it then.

    Source: seed 001, Property 8 (required tests passed).
    """
    return any(not _ONLY_SPEAKS.search(sentence, 0, found.start()) for found in TO_PASS.finditer(sentence))


def _matches(path: str, patterns: tuple[str, ...]) -> bool:
    return _compiled(patterns).fullmatch(path) is not None


@functools.lru_cache(maxsize=16)
def _compiled(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return regex("|".join(map(_expression, patterns)) or r"(?!)", re.DOTALL)


def _expression(pattern: str) -> str:
    anywhere = "" if "/" in pattern else "(?:.*/)?"
    parts = re.split(f"({_SPECIAL})", pattern)
    return anywhere + "".join(_MEANINGS.get(part, re.escape(part)) for part in parts)


def _texts(value: object, path: str) -> list[tuple[str, str]]:
    if not isinstance(value, list):
        return [(path, f"{path} must be a list of strings")]
    bad = [index for index, text in enumerate(value) if not isinstance(text, str) or not text.strip() or "\0" in text]
    return [(f"{path}[{index}]", f"{path}[{index}] must be non-empty text") for index in bad]


def _checks(value: object, path: str) -> list[tuple[str, str]]:
    if not isinstance(value, Mapping):
        return [(path, f"{path} must be an object")]
    faults = []
    for name, commands in value.items():
        place = strict_json.at(path, str(name))
        if name not in CHECKS:
            known = ", ".join(CHECKS)
            faults.append((place, f"{names.shown(name)} at {place} is not a check; known: {known}"))
        elif not isinstance(commands, list):
            faults.append((place, f"{place} must be a list of commands"))
        else:
            faults += [fault for index, argv in enumerate(commands) for fault in _command(argv, f"{place}[{index}]")]
    return faults


def _command(argv: object, path: str) -> list[tuple[str, str]]:
    if argv == []:
        return [(path, f"{path} must name a program and its arguments")]
    return _texts(argv, path)
