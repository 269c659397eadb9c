"""The README and the documents: their paths exist, and every block of the README does what it shows."""

from __future__ import annotations

import pathlib
import re
import shlex
import sqlite3
import subprocess
import sys

import pytest

from tests import forks
from tests.architecture import source
from tests.conftest import clean_environment

DOCUMENTS = (
    *(source.ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "SECURITY", "DECISIONS")),
    *sorted((source.ROOT / "docs").rglob("*.md")),
)
PATH = re.compile(
    r"(?<![\w./-])(?:orchestrator/(?!SESSION/)|(?:workflow|agents|migrations|tests|docs)/)[\w./-]*\w|(?<![\w./-])\.ci/\w+"
)
"""`orchestrator/SESSION/` begins the name of a branch."""
LINK = re.compile(r"\]\(([^)#:]+\.md)(?:#([^)]*))?\)")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INSTALLS = "pip install ."
"""What `test_wheel` does with the wheel of this checkout."""


def missing(text: str) -> list[str]:
    """The paths of the project in a text that lead nowhere."""
    return [path for path in PATH.findall(text) if not (source.ROOT / path).exists()]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_path_in_a_document_exists(path: pathlib.Path) -> None:
    text = path.read_text("utf-8")
    assert missing(LINK.sub("", text)) == []
    assert [link for link in LINK.findall(text) if not leads(path.parent, *link)] == []


def leads(folder: pathlib.Path, file: str, anchor: str) -> bool:
    """Whether a link leads to a document, and to one of its headings."""
    if not (folder / file).exists():
        return False
    headings = re.findall(r"^#+ (.+)$", (folder / file).read_text("utf-8"), re.MULTILINE)
    return not anchor or anchor in [re.sub(r"[^\w -]", "", each).lower().replace(" ", "-") for each in headings]


def test_a_link_to_a_heading_that_is_gone_is_found() -> None:
    anchors = ("your-first-session", "who-is-a-person")
    assert [leads(source.ROOT, "README.md", each) for each in anchors] == [True, False]
    assert leads(source.ROOT, "NOTHING.md", "") is False


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("see `orchestrator/core/` and orchestrator/errors.py.", [], id="there"),
        pytest.param("see `orchestrator/nowhere/`", ["orchestrator/nowhere"], id="no such folder"),
        pytest.param("see agents/nobody.md, written by hand", ["agents/nobody.md"], id="no such file"),
        pytest.param("at .orchestrator/orchestrator.db", [], id="not a path of the project"),
    ],
)
def test_a_path_that_leads_nowhere_is_found(text: str, found: list[str]) -> None:
    assert missing(text) == found


def blocks(kind: str) -> list[str]:
    """The README's blocks of a kind."""
    found = BLOCK.findall((source.ROOT / "README.md").read_text("utf-8"))
    return [text for each, text in found if each == kind]


def test_every_block_is_of_a_kind_that_a_test_here_runs() -> None:
    found = BLOCK.findall((source.ROOT / "README.md").read_text("utf-8"))
    assert {kind for kind, _ in found} == {"sh", "console", "mermaid", "python"}


def test_every_command_of_the_readme_does_what_it_says(forked: forks.Forks, tmp_path: pathlib.Path) -> None:
    commands = [line for text in blocks("sh") for line in text.splitlines()]
    environment = clean_environment() | {"ORCHESTRATOR_DB": str(tmp_path / "orchestrator.db")}
    said = {}
    for line in commands:
        if line == INSTALLS:
            continue
        program, *words = shlex.split(line, comments=True)
        done = forked.run(tuple(words), stdin=b"", environment=environment, cwd=tmp_path)
        assert (program, done.returncode) == ("orchestrator", 0), (line, done.stdout, done.stderr)
        said[line] = done.stdout.decode()
    assert said["orchestrator validate"].startswith("ACCEPT: ")
    assert said["orchestrator validate S2"].startswith("ACCEPT: ")
    python = [sys.executable, "-c", blocks("python")[0].replace(".orchestrator/", "")]
    done = subprocess.run(python, capture_output=True, text=True, check=True, cwd=tmp_path, env=environment)
    assert done.stdout.startswith("qa_expert ")


def test_the_first_session_takes_ten_commands() -> None:
    first = next(text for text in blocks("sh") if text.startswith("orchestrator init"))
    assert len(first.splitlines()) == 10


def test_plain_sql_is_refused_as_the_readme_shows(forked: forks.Forks, tmp_path: pathlib.Path) -> None:
    (block,) = blocks("console")
    command, expected = block.splitlines()
    environment = clean_environment() | {"ORCHESTRATOR_DB": str(tmp_path / "orchestrator.db")}
    for words in (("init",), ("session", "create", "S1"), ("group", "create", "A", "-s", "S1")):
        assert forked.run(words, stdin=b"", environment=environment, cwd=tmp_path).returncode == 0
    sql = shlex.split(command.removeprefix("$ "))[-1]
    connection = sqlite3.connect(tmp_path / "orchestrator.db")
    with pytest.raises(sqlite3.Error, match=expected):
        connection.execute(sql)
    connection.close()


def test_the_picture_names_every_box_it_draws() -> None:
    (drawn,) = blocks("mermaid")
    lines = drawn.splitlines()
    assert lines[0] == "flowchart LR"
    boxes = set(re.findall(r"\b(\w+)[\[({]", drawn))
    used = {word for line in lines[1:] for word in re.findall(r"(?:^|--> (?:\|.*?\| )?|-- \".*?\" --> )\s*(\w+)", line)}
    assert used == boxes
