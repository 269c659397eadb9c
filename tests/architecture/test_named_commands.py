"""The texts that people and agents follow name only commands and options that exist."""

from __future__ import annotations

import ast
import pathlib
import re
import shlex
from collections.abc import Iterator

import pytest

from orchestrator.doors.cli import catalogue, main, options
from tests.architecture import source

FILES = [
    source.ROOT / "README.md",
    source.ROOT / "CONTRIBUTING.md",
    *(source.ROOT / "docs" / f"{name}.md" for name in ("certificates", "people", "runs", "interfaces")),
    *(source.ROOT / "docs" / f"{name}.md" for name in ("tour", "releasing")),
    source.ROOT / "workflow" / "README.md",
    source.ROOT / "docs" / "with-claude-code.md",
    source.ROOT / "docs" / "with-codex.md",
    *sorted((source.ROOT / "agents").rglob("*.md")),
]
FENCED = re.compile(r"^ *```[^\n]*\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`([^`]+)`")
CALL = re.compile(r"(?:\$ )?orchestrator ([a-z-].*)")
TABLED = re.compile(r"^\| (`.*?`) \| ", re.MULTILINE)
COMMANDS_TABLE = re.compile(r"^\| command \| .*?(?=\n\n|\Z)", re.MULTILINE | re.DOTALL)


def calls(text: str) -> Iterator[str]:
    """What follows the program's name, in code blocks and between backticks."""
    lines = [line.strip() for block in FENCED.findall(text) for line in block.splitlines()]
    inline = (" ".join(code.split()) for code in INLINE.findall(FENCED.sub("", text)))
    for code in (*lines, *inline):
        if found := CALL.fullmatch(code):
            yield found[1]


def tabled(text: str) -> Iterator[str]:
    """The commands of a table of commands; `a b\\|c` stands for `a b` and `a c`."""
    for table in COMMANDS_TABLE.findall(text):
        for cell in TABLED.findall(table):
            for code in INLINE.findall(cell):
                first, _, rest = code.replace("\\|", "|").partition(" ")
                yield from (f"{first} {each}" for each in rest.split("|")) if rest else (first,)


def faults(call: str) -> list[str]:
    """What a call names that does not exist: its command, or options of it."""
    words, rest = main.split(shlex.split(call, comments=True))
    if words is None:
        return [call]
    known = {flag for each in (*catalogue.find(words).parameters, *options.COMMON) for flag in each.flags} | {"--help"}
    named = [word.partition("=")[0] for word in rest if re.match(r"--?[a-z]", word)]
    return [f"{words} {name}" for name in named if name not in known]


def missing(text: str) -> list[str]:
    return [fault for call in (*calls(text), *tabled(text)) for fault in faults(call)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(source.ROOT).as_posix())
def test_every_command_that_a_text_names_exists(path: pathlib.Path) -> None:
    assert missing(path.read_text("utf-8")) == []


def test_the_texts_name_commands_at_all() -> None:
    named = {path.name: len(list(calls(path.read_text("utf-8")))) for path in FILES}
    assert [name for name, count in named.items() if count == 0] == []


def test_the_reference_s_table_has_every_command() -> None:
    named = set(tabled((source.ROOT / "docs" / "reference.md").read_text("utf-8")))
    assert {main.split(each.split())[0] for each in named} == set(catalogue.every())


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("Run `orchestrator status S`.", [], id="there"),
        pytest.param("Run `orchestrator\n  status S --json`.", [], id="over two lines"),
        pytest.param("Run `orchestrator leave S`.", ["leave S"], id="no such command"),
        pytest.param("Run `orchestrator group leave`.", ["group leave"], id="no such command of a group"),
        pytest.param("Run `orchestrator status S --loud`.", ["status --loud"], id="no such option"),
        pytest.param("```sh\norchestrator route -x Y  # why --not\n```", ["route -x"], id="in a block, with a comment"),
        pytest.param("  ```\n  $ orchestrator leave\n  ```", ["leave"], id="in an indented block, after a prompt"),
        pytest.param("| command | what |\n| --- | --- |\n| `db check\\|leave` | - |", ["db leave"], id="in a table"),
        pytest.param("the orchestrator decides; see `orchestrator/core`", [], id="not a command"),
    ],
)
def test_a_command_that_does_not_exist_is_found(text: str, found: list[str]) -> None:
    assert missing(text) == found


_FIRST = "|".join(sorted({words.partition(" ")[0] for words in catalogue.every()}))
_WRITTEN = re.compile(rf"(?<![\w/.@-])orchestrator (?:{_FIRST})\b")
_NO_SUGGESTIONS = {
    "orchestrator/app/clients/client_files.py": "what a shell prints where the program is missing",
    "orchestrator/core/workflow/report.py": "the name of the tool in a SARIF document",
}


def written(module: source.Module) -> Iterator[str]:
    """The commands that stand in a module's texts; docstrings and the examples of declarations are for readers."""
    skipped = {id(each) for node in ast.walk(module.tree) for each in _for_readers(node)}
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield from _WRITTEN.findall(node.value)


def _for_readers(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Expr):
        yield node.value
    if isinstance(node, ast.Assign) and [each for each in node.targets if getattr(each, "id", "") == "example"]:
        yield node.value
    if isinstance(node, ast.keyword) and node.arg == "example":
        yield node.value


LAYERS = [module for folder in ("core", "app", "store", "runner") for module in source.below(f"orchestrator/{folder}")]


def test_below_the_doors_a_command_is_a_suggestion_and_no_text() -> None:
    found = {module.name: [*written(module)] for module in LAYERS if module.name not in _NO_SUGGESTIONS}
    assert {name: commands for name, commands in found.items() if commands} == {}
    assert all(any(written(module)) for module in LAYERS if module.name in _NO_SUGGESTIONS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("x = 'try: orchestrator status S1'", 1), ("x = f'orchestrator route {role}'", 1), ("'orchestrator status'", 0),
     ("x = 'the orchestrator decides'", 0), ("def f():\n    '''As `orchestrator status`.'''", 0)],
)  # fmt: skip
def test_a_written_command_is_found(text: str, expected: int) -> None:
    assert len([*written(source.Module("x.py", text))]) == expected
