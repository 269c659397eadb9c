"""The files that a text names, and the deletions that it orders."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core.running import named
from tests.unit.core import growth


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("Create README.md.", ("README.md",)), ("src/a.py、./b.tsを直して", ("src/a.py", "b.ts")),
        ("readmeを作って", ()), ("see https://x.org/a.html and .gitignore", (".gitignore",)),
        ("e.g. version 1.2, yes/no", ()), ("Update LICENSE and Makefile", ("LICENSE", "Makefile")),
        ("a.py and a.py", ("a.py",)), ("tests/unit is a folder", ("tests/unit",)), ("/etc/hosts", ("/etc/hosts",)),
        ("... -- ~", ()), ("config/.env.local", ("config/.env.local",)), ("", ()),
    ],
    ids=str,
)  # fmt: skip
def test_named_files_are_found(text: str, files: tuple[str, ...]) -> None:
    assert named.files(text) == files


@pytest.mark.parametrize(
    ("text", "deleted", "ordered"),
    [
        pytest.param("Delete old.txt", ["old.txt", "new.txt"], ("old.txt",), id="the named file alone"),
        pytest.param("remove old.txt", ["sub/old.txt"], ("sub/old.txt",), id="by its name in any folder"),
        pytest.param("src/aを削除して", ["src/a/b.py", "src/ab.py"], ("src/a/b.py",), id="below a named folder"),
        pytest.param("Delete all logs", ["a.log", "b.log"], ("a.log", "b.log"), id="no file is named"),
        pytest.param("Rename a.py to b.py", ["a.py"], ("a.py",), id="a move takes the old file away"),
        pytest.param("Fix a.py", ["a.py"], (), id="nobody ordered it"),
        pytest.param("Delete ./old.txt", ["old.txt"], ("old.txt",), id="another spelling"),
    ],
)
def test_p8_only_ordered_deletions_count(text: str, deleted: list[str], ordered: tuple[str, ...]) -> None:
    assert named.ordered_deletions(text, deleted) == ordered


@given(st.text(), st.lists(st.text()))
def test_p8_ordered_deletions_are_some_of_the_deletions(text: str, deleted: list[str]) -> None:
    assert set(named.ordered_deletions(text, deleted)) <= set(deleted)


@given(st.text("ab./"))
def test_a_path_has_one_spelling(path: str) -> None:
    once = named.normal(path)
    assert (named.normal(once), named.normal(f"./{path}" if not path.startswith("/") else path)) == (once, once)


@pytest.mark.parametrize("unit", ["a/", ".", "a.", "a://", "-"])
def test_long_texts_take_linear_time(unit: str) -> None:
    assert growth.is_even(named.files, unit, 20_000)
