"""Every command explains itself, with an example that works as it stands."""

from __future__ import annotations

import json
import os
import re
import shlex

import pytest

from orchestrator.app.kernel import operations
from orchestrator.doors.cli import catalogue, fast_parser, main, options, typer_parser
from tests.integration.cli.conftest import Run

every_command = pytest.mark.parametrize("words", catalogue.every())


@every_command
def test_the_help_of_a_command_has_an_example(words: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main.main([*words.split(), "--help"]) == 0
    out, err = capfd.readouterr()
    assert err == ""
    assert out.startswith(f"Usage: orchestrator {words} ")
    assert " ".join(catalogue.find(words).example.split()) in " ".join(out.split())
    assert all(flag in out for each in catalogue.find(words).parameters for flag in each.flags)


@every_command
def test_the_example_is_a_call_of_the_command(words: str) -> None:
    command = catalogue.find(words)
    program, *argv = shlex.split(command.example)
    found, rest = main.split(argv)
    assert (program, found) == ("orchestrator", words)
    assert fast_parser.read(command, rest) is not None


@every_command
def test_a_command_stands_in_the_lists_with_a_short_text(words: str) -> None:
    line = catalogue.find(words).line
    assert (len(line) <= 62, line[-1], words.partition(" ")[0] in (*catalogue.GROUPS, words)) == (True, ".", True)


def test_every_operation_is_a_command_and_every_command_says_what_it_answers() -> None:
    every = catalogue.every()
    assert set(operations.every()) <= set(every)
    assert {words for words, each in every.items() if not each.answer} == {"hook", "mcp", "schema"}
    assert [each for each in every if each.partition(" ")[0] not in catalogue.FIRST_WORDS] == []


@pytest.mark.parametrize("group", ["", *catalogue.GROUPS])
def test_the_help_of_a_group_lists_what_is_in_it(group: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main.main([*group.split(), "--help"]) == 0
    out = capfd.readouterr().out
    assert [word for word in catalogue.below(group) if f"\n  {word} " not in out] == []


def test_every_word_of_a_parameter_is_explained() -> None:
    silent = [
        (words, each.name)
        for words in catalogue.every()
        for each in (*catalogue.find(words).parameters, *options.COMMON)
        if not each.help.endswith((".", ")"))
    ]
    assert silent == []


ODD = re.compile(
    r"left out|\banew\b|\bmends?\b|again and again|out of service|stands? in (the|its) way|where there is none"
    r"|what belongs to none|told by|do without|whom the|as whom|is no (person|chat|folder)"
)
"""Turns of phrase that a reader has to take twice; each has a plain one."""


def test_help_is_worded_plainly() -> None:
    texts = {words: (catalogue.find(words).help, *(each.help for each in catalogue.find(words).parameters))
             for words in catalogue.every()}  # fmt: skip
    texts |= {group: (text,) for group, text in catalogue.GROUPS.items()}
    assert {words: text for words, found in texts.items() for text in found if ODD.search(text)} == {}


def test_the_version_is_printed(run: Run) -> None:
    done = run("--version")
    assert (done.returncode, done.stdout.split()[0]) == (0, b"orchestrator")


def test_help_needs_no_database_and_no_rich(run: Run, tmp_path: os.PathLike[str]) -> None:
    done = run("route", "--help", ORCHESTRATOR_DB="/nowhere/at/all.db", COLUMNS="40")
    assert (done.returncode, b"\x1b[" in done.stdout) == (0, False)
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_only_the_called_command_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    found = typer_parser.build({"group show": catalogue.find("group show")}, lambda words, values: None)
    group = next(each for each in found.registered_groups if each.name == "group")
    assert group.typer_instance is not None
    built = [
        each.name for each in group.typer_instance.registered_commands if each.callback is not typer_parser._nothing
    ]
    assert built == ["show"]


def test_a_schema_is_printed(run: Run) -> None:
    found = json.loads(run("schema", "group", "show").stdout)
    assert found["title"] == "orchestrator group show"
