"""P8, P31: what a text mentions, and what is no mention."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core import names
from orchestrator.core.running import mention_outcomes, mentions
from orchestrator.core.running.file_names import Tree
from orchestrator.core.running.mention_outcomes import Mention
from tests.unit.core import growth

TREE = Tree(
    frozenset("README.md core.py docs/core.py src/a.py Makefile build/x.o a/b.md".split()),
    frozenset("docs src build a".split()),
)


@pytest.mark.parametrize(
    "text",
    [
        "see https://example.org/a.md", "mail me@example.org", "version 1.2.3", "e.g. this, i.e. that",
        "and/or", "yes/no",
        "CI/CD", "use Invoice.total", "call foo.bar()", "Node.js and Next.js", "console.log", "fix the build", "...",
        "~",
        "```\ncreate x.md\n```", "> create x.md", "explain this error:\ncreate x.md failed", "", "24/7", "TCP/IP",
        "the ../outside.md of ~/x.md",
        "look at the files ending in .foobar", "convert all json files to csv",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_path_is_no_mention(text: str) -> None:
    assert mentions.find(text, TREE) == ()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Create README.md.", [("README.md", ("README.md",))]), ("./core.pyを直して", [("core.py", ("core.py",))]),
        ("fix Core.PY", [("Core.PY", ("core.py",))]), ("update makefile", [("makefile", ("Makefile",))]),
        ("fix a.py", [("a.py", ("src/a.py",))]), ("fix docs/core.py", [("docs/core.py", ("docs/core.py",))]),
        ("delete build", [("build/", ())]), ("docs/ and src/", [("docs/", ()), ("src/", ())]),
        ("fix core.py and core.py", [("core.py", ("core.py",))]), ("create src/new", [("src/new", ())]),
        ("create a/b.md", [("a/b.md", ("a/b.md",))]),
        ("`core.py`, \"a.py\"", [("core.py", ("core.py",)), ("a.py", ("src/a.py",))]),
    ],
)  # fmt: skip
def test_a_mention_means_the_entries_of_its_name(text: str, found: list[tuple[str, tuple[str, ...]]]) -> None:
    assert [(each.name, each.files) for each in mentions.find(text, TREE)] == found


@pytest.mark.parametrize(
    ("mention", "touched", "unmet"),
    [
        (Mention("x.md", mention_outcomes.MADE), {"x.md": "new"}, ()),
        (Mention("x.md", mention_outcomes.MADE), {"docs/x.md": "new"}, ()),
        (Mention("x.md", mention_outcomes.MADE), {"index.md": "new"}, ("x.md was not created",)),
        (Mention("a.py", files=("src/a.py",)), {"src/a.py": "changed"}, ()),
        (Mention("a.py", files=("src/a.py",)), {"src/a.py": "deleted"}, ("a.py was not changed",)),
        (Mention("docs/", folders=("docs",), exact=True), {"docs/x/y.md": "new"}, ()),
        (Mention("docs/", folders=("docs",), exact=True), {"other.md": "new"}, ("docs/ was not changed",)),
        (Mention("README.md", files=("README.md",), exact=True), {"docs/README.md": "new"},
         ("README.md was not changed",)),
        (Mention("readme", mention_outcomes.MADE), {"README.rst": "new"}, ()),
        (Mention("x.md", mention_outcomes.SOURCE), {"other.md": "new"}, ()),
        (Mention("x.md"), {"other.md": "new"}, ("x.md was not created",)),
        (Mention("x.md", mention_outcomes.DENIED), {"other.md": "new"}, ()),
        (Mention("x.md", mention_outcomes.DENIED), {"x.md": "changed"}, ("x.md was changed, which the task forbids",)),
        (Mention("x.md", mention_outcomes.DENIED), {"x.md": "deleted"}, ("x.md was changed, which the task forbids",)),
        (Mention("x.md", mention_outcomes.KEPT), {"x.md": "changed"}, ()),
        (Mention("x.md", mention_outcomes.KEPT), {"x.md": "deleted"}, ("x.md was deleted, which the task forbids",)),
        (Mention("README.md", mention_outcomes.DELETED, ("README.md",), exact=True), {"core.py": "changed"},
         ("README.md was not deleted",)),
        (Mention("*.md", mention_outcomes.DELETED, patterns=("*.md",)), {"x.md": "deleted"}, ("*.md was not deleted",)),
        (Mention("build/", mention_outcomes.EITHER, folders=("build",)), {"build/x.o": "deleted"}, ()),
        (Mention("build/", mention_outcomes.CHANGED, folders=("build",)), {"build/x.o": "deleted"},
         ("build/ was not changed",)),
    ],
)  # fmt: skip
def test_p31_a_mention_is_done_when_what_fits_became_of_it(
    mention: Mention, touched: dict[str, str], unmet: tuple[str, ...]
) -> None:
    there = frozenset(path for path, change in touched.items() if change != "deleted") | TREE.files
    assert mention_outcomes.judged([mention], Tree(there, TREE.folders), touched).unmet == unmet


@pytest.mark.parametrize(
    ("name", "made", "unmet"),
    [
        ("notes.md", "notes.md", ("notes.md was not created",)), ("docs/notes.md", "docs/notes.md", None),
        ("main.py", "src/main.py", ("main.py was not created",)), ("notes.md/", "notes.md", ()), ("docs/", "docs/", ()),
        ("conf.d", "conf.d", ()), ("v2.0", "v2.0", ()), (".github", ".github", ()),
        ("src.old", "src.old", ()),
    ],
)  # fmt: skip
def test_p33_a_folder_is_no_file_that_was_to_be_made(name: str, made: str, unmet: tuple[str, ...] | None) -> None:
    mention = Mention(name, mention_outcomes.MADE)
    after = Tree(TREE.files, {*TREE.folders, made.rstrip("/")})
    found = mention_outcomes.judged([mention], after, {}, made={made.rstrip("/")})
    assert found.unmet == ((f"{name} was not created",) if unmet is None else unmet)


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        ("write documentation for core.py", ()), ("add comments to core.py", ()), ("write a blog post", ()),
        ("write an agenda", ()), ("テストカバレッジを追加して", ()), ("create a poem", ()), ("delete core.py", ()),
        ("add logging to core.py", ("core.py",)), ("write documentation and fix core.py", ("core.py",)),
        ("implement the login", None), ("write a guide and implement the login", None),
        ("add a docstring and add caching to core.py", ("core.py",)),
    ],
)  # fmt: skip
def test_p11_what_is_about_documents_tests_or_deletions_changes_no_source(
    text: str, changes: tuple[str, ...] | None
) -> None:
    assert mentions.to_change(text, mentions.find(text, TREE)) == changes


@given(st.text() | st.text("create a.md /_:?を作成して\n-`>*\"'「」 "))
def test_every_text_is_read(text: str) -> None:
    found = mentions.find(text, TREE)
    assert len({each.name for each in found}) == len(found)


@given(st.text("ab./"))
def test_a_path_has_one_spelling(path: str) -> None:
    once = names.normal_path(path)
    assert names.normal_path(once) == once


@pytest.mark.parametrize("unit", [
    "create a.md, ", "a.mdを", "rm x ", "a/", "`", "- a.md\n", " ", "delete ", "do not ", "a.md or ", "a.md          ",
    "a.mdと", "not a.md ", "the ", "削除", "「", "without the the ", "README ", "using ", "a.md is old, ", "\n", "- ",
    "a\\", "tests ", "使わない", "all the tests in ",
    "all log files ", "move all logs to a/ ", "swap a.md and b.md ", "if a.md is missing, ",
    "create it if it is not there ", "the first two of ", ", but not ", "全てのログを", "a.mdがなければ",
    "files ending in ",
], ids=repr)
def test_long_texts_take_linear_time(unit: str) -> None:
    assert growth.is_even(lambda text: mentions.find(text, TREE), unit, 8_000 // len(unit))
