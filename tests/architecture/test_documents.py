"""The documents: what their examples show is what the commands print, and the site has every page."""

from __future__ import annotations

import pathlib
import re
import shlex
from typing import NamedTuple

import pytest
import yaml

from tests import forks
from tests.architecture import source
from tests.conftest import clean_environment

DOCS = source.ROOT / "docs"
EXAMPLE = re.compile(r"^<!-- example(?:, exit (\d))? -->\n```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ELLIPSIS = "..."
"""Stands for anything in what an example prints, over any number of lines."""


class Shown(NamedTuple):
    """One command of an example: its line, its exit code, and what it prints on stdout and then on stderr."""

    line: str
    exit: int
    printed: str


def examples(text: str) -> list[Shown]:
    """The commands of a document's examples; the exit code of a block is that of its first command."""
    found = []
    for exit_, block in EXAMPLE.findall(text):
        for number, each in enumerate(re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]):
            line, _, printed = each.partition("\n")
            found.append(Shown(line, int(exit_ or 0) if number == 0 else 0, printed))
    return found


def matches(printed: str, shown: str) -> bool:
    """Whether something printed is what an example shows; blanks at the ends of lines do not count."""
    trimmed = "\n".join(line.rstrip() for line in printed.splitlines())
    wanted = "\n".join(line.rstrip() for line in shown.splitlines())
    return re.fullmatch(".*".join(map(re.escape, wanted.split(ELLIPSIS))), trimmed, re.DOTALL) is not None


WITH_EXAMPLES = [path for path in sorted(DOCS.rglob("*.md")) if EXAMPLE.search(path.read_text("utf-8"))]


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=lambda path: path.name)
def test_an_example_prints_what_it_shows(path: pathlib.Path, forked: forks.Forks, tmp_path: pathlib.Path) -> None:
    environment = clean_environment() | {"COLUMNS": "200"}
    for shown in examples(path.read_text("utf-8")):
        program, *words = shlex.split(shown.line)
        done = forked.run(tuple(words), stdin=b"", environment=environment, cwd=tmp_path)
        printed = (done.stdout + done.stderr).decode()
        assert (program, done.returncode) == ("orchestrator", shown.exit), (shown.line, printed)
        assert matches(printed, shown.printed), f"{shown.line}\n--- printed\n{printed}--- shown\n{shown.printed}"


def test_there_are_examples() -> None:
    assert "tour.md" in {path.name for path in WITH_EXAMPLES}


@pytest.mark.parametrize(
    ("printed", "shown", "expected"),
    [
        pytest.param("one\ntwo\n", "one\ntwo\n", True, id="the same"),
        pytest.param("one  \n", "one\n", True, id="blanks at the end"),
        pytest.param("at 12:00, done\n", "at ..., done\n", True, id="something within a line"),
        pytest.param("one\ntwo\nthree\n", "one\n...\n", True, id="further lines"),
        pytest.param("one\ntwo\n", "one\n", False, id="lines that are not shown"),
        pytest.param("one\n", "One\n", False, id="another letter"),
        pytest.param("aXb\n", "a.b\n", False, id="a dot is a dot"),
    ],
)
def test_what_is_printed_is_compared_with_what_is_shown(printed: str, shown: str, expected: bool) -> None:
    assert matches(printed, shown) is expected


def test_the_exit_code_of_a_block_is_that_of_its_first_command() -> None:
    text = "<!-- example, exit 3 -->\n```console\n$ orchestrator a\nno\n$ orchestrator b\n```\n"
    assert examples(text) == [Shown("orchestrator a", 3, "no\n"), Shown("orchestrator b", 0, "")]


def pages(navigation: object) -> list[str]:
    """Every page of the site's navigation."""
    if isinstance(navigation, str):
        return [navigation]
    members = navigation.values() if isinstance(navigation, dict) else navigation
    assert isinstance(members, list) or hasattr(members, "__iter__")
    return [page for each in members for page in pages(each)]


class _Settings(yaml.SafeLoader):
    """Reads mkdocs.yml without importing what it names."""


_Settings.add_multi_constructor("tag:yaml.org,2002:python/name:", lambda loader, suffix, node: suffix)


def test_the_site_has_every_document() -> None:
    settings = yaml.load((source.ROOT / "mkdocs.yml").read_text("utf-8"), _Settings)  # noqa: S506 - a safe loader
    hooks = (DOCS / "_site" / "hooks.py").read_text("utf-8")
    carried = re.findall(r'^    "([\w./]+)": "([\w./-]+)",$', hooks, re.MULTILINE)
    own = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    listed = pages(settings["nav"])
    assert sorted(listed) == sorted(own | {page for _, page in carried})
    assert [document for document, _ in carried if not (source.ROOT / document).is_file()] == []


@pytest.mark.parametrize(
    "path", sorted((source.ROOT / ".github" / "ISSUE_TEMPLATE").glob("[!c]*.yml")), ids=lambda path: path.name
)
def test_a_form_for_issues_asks_each_thing_once_and_has_something_to_fill_in(path: pathlib.Path) -> None:
    form = yaml.safe_load(path.read_text("utf-8"))
    names = [field["id"] for field in form["body"]]
    assert (bool(form["name"] and form["description"]), len(set(names))) == (True, len(names))
    assert all(field["attributes"]["label"] for field in form["body"])
    assert any(field.get("validations", {}).get("required") for field in form["body"])
