"""A word of a printed command is one word in a shell, on one line, whatever stands in it."""

from __future__ import annotations

import pathlib
import re
import shlex
import subprocess

import pytest

import orchestrator
from orchestrator.core import names

WORDS = [
    ("/a/b", "/a/b"), ("a b", "'a b'"), ("it's", "'it'\"'\"'s'"), ("a\nb", "$'a\\x0ab'"), ("\x1b[31m", "$'\\x1b[31m'"),
    ("a'\n\\", "$'a\\'\\x0a\\\\'"), ("é\u2028", "$'é\\xe2\\x80\\xa8'"), ("\udcff", "$'\\xff'"), ("", "''"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "word"), WORDS, ids=[ascii(text) for text, _ in WORDS])
def test_a_word_is_printed_on_one_line(text: str, word: str) -> None:
    assert (names.word(text), names.word(text).isprintable()) == (word, True)


@pytest.mark.parametrize("text", [text for text, _ in WORDS], ids=ascii)
def test_a_shell_reads_the_word_as_it_was(text: str) -> None:
    done = subprocess.run(["bash", "-c", f"printf %s {names.word(text)}"], capture_output=True, check=True)
    assert done.stdout == text.encode("utf-8", "surrogateescape")


def test_words_of_commands_are_spelt_in_one_place() -> None:
    root = pathlib.Path(orchestrator.__file__).parent
    found = {
        path.relative_to(root).as_posix()
        for path in root.rglob("*.py")
        if re.search(r"\bshlex\.quote\b", path.read_text("utf-8"))
    }
    # What is installed is named below the core.
    assert found == {"core/names.py", "resources.py"}
    assert shlex.split(names.word("a b")) == ["a b"]
