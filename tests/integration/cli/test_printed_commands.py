"""Commands that are printed exist, and work where they are copied: with the database and the session of the call."""

from __future__ import annotations

import json
import pathlib
import re
import shlex
from collections.abc import Iterator
from typing import Any

import pytest

from orchestrator.doors.cli import catalogue, main
from tests.cases import every
from tests.conftest import Command
from tests.integration.cli.conftest import Ask, Lines, Run
from tests.integration.cli.test_refusals import ROWS

PRINTED = ("suggestion", "status_hint", "next", "handoff", "report_command", "redispatch", "hint")
DEV = {"session_id": "S1", "group_id": "A", "current_agent": "developer"}


def commands(found: Any, key: str = "") -> Iterator[str]:
    """Every command in the keys of an answer that hold commands."""
    if isinstance(found, dict):
        for name, value in found.items():
            yield from commands(value, name)
    elif isinstance(found, list):
        for each in found:
            yield from commands(each, key)
    elif isinstance(found, str) and key in PRINTED and found.startswith("orchestrator "):
        yield found


def exists(command: str) -> bool:
    """Whether the command line has a command of these words, with these options."""
    words, rest = main.split(shlex.split(command.partition(", ")[0])[1:])
    if words is None:
        return rest == ["--help"] or (rest[0] in catalogue.GROUPS and rest[1:] == ["--help"])
    flags = {flag for each in catalogue.find(words).parameters for flag in each.flags} | {"--help", "--db", "--json"}
    return {word for word in rest if re.match("--?[a-z]", word)} <= flags


@pytest.mark.parametrize("name", ROWS)
def test_every_command_of_an_answer_exists(name: str, lines: Lines) -> None:
    answers = lines(*ROWS[name][0], ("status", {"session_id": "S1"}), ("validate", {"session_id": "S1"}))
    found = list(commands(answers))
    assert found != []
    assert [command for command in found if not exists(command)] == []


def test_the_commands_of_the_demonstration_do_what_it_shows(command: Command, tmp_path: pathlib.Path) -> None:
    """Whoever copies them into a shell, one after the other, gets the same answers."""
    told = json.loads(command("demo", "--json").stdout)["steps"]
    assert command("init").returncode == 0
    shown = [step for step in told if step["command"].startswith("orchestrator ")]
    assert len(shown) == len(told) - 1
    answers = [json.loads(command(*shlex.split(step["command"])[1:], "--json").stdout) for step in shown]
    kept = ("code", "action", "next_agent", "blockers_opened", "blockers_resolved", "completed", "verdict", "completes")
    assert [[answer.get(name) for name in kept] for answer in answers] == [
        [step["answer"].get(name) for name in kept] for step in shown
    ]


@every("words", catalogue.every())
def test_every_example_of_the_help_exists(words: str) -> None:
    assert exists(catalogue.find(words).example)


def test_a_look_at_the_group_names_the_session(lines: Lines) -> None:
    (answer,) = lines(("route", {**DEV, "status": "PARTIAL", "group_id": "B"}))
    advice = "orchestrator group show B --session-id S1"
    assert (answer["code"], answer["suggestion"]) == ("DEPENDENCIES_OPEN", advice)


def test_an_unknown_status_without_a_near_one_is_answered_with_the_list(lines: Lines) -> None:
    (answer,) = lines(("route", {**DEV, "status": "XYZZY"}))
    assert answer["suggestion"] == f"Repeat with one of: {', '.join(answer['valid_statuses'])}"


@pytest.mark.parametrize(("role", "way"), [("developer", "Discard the answer"), ("project_manager", "orchestrator")])
def test_only_the_manager_is_told_how_a_closed_group_is_reopened(role: str, way: str, lines: Lines) -> None:
    by = {"by": "project_manager", "reason": "out of scope"}
    _, answer = lines(
        ("group set-status", {"id": "A", "session_id": "S1", "status": "cancelled", **by}),
        ("route", {**DEV, "current_agent": role, "status": "REWORK" if role != "developer" else "PARTIAL"}),
    )
    assert (answer["code"], answer["suggestion"].split(" ")[0]) == ("GROUP_CLOSED", way.split(" ")[0])


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(("status", "S1"), id="status"),
        pytest.param(("route", "developer", "READY_FOR_QA", "-g", "A"), id="route"),
        pytest.param(("route", "developer", "XYZZY", "-g", "B"), id="refusal"),
        pytest.param(("group", "show", "Z"), id="unknown group"),
        pytest.param(("validate", "S1", "--dry-run"), id="verdict"),
        pytest.param(("next", "--agent-id", "developer", "--session-id", "S1"), id="instruction"),
        pytest.param(("group", "create", "C", "--session-id", "S1"), id="what follows"),
        pytest.param(("doctor",), id="notes"),
    ],
)
@pytest.mark.parametrize("json_", [True, False], ids=["json", "text"])
def test_the_database_that_was_named_is_named_again(
    words: tuple[str, ...], json_: bool, run: Run, database: pathlib.Path
) -> None:
    done = run(*words, "--db", str(database), *(["--json"] if json_ else []), ORCHESTRATOR_DB="")
    if json_:
        found = [*commands(json.loads(done.stdout)), *re.findall("`(orchestrator [^`]+)`", done.stdout.decode())]
    else:
        text = (done.stdout + done.stderr).decode()
        found = re.findall(r"(?<![@\w])orchestrator (?:--db|[a-z]+) [^`\n]*", text)
    assert [command for command in found if f"--db {database}" not in command] == []


def test_a_batch_names_its_database_again(run: Run, database: pathlib.Path) -> None:
    line = json.dumps({"op": "status", "args": {"session_id": "S1"}}).encode()
    answer = json.loads(run("batch", "--db", str(database), stdin=line).stdout)
    assert answer["next"][0].startswith(f"orchestrator --db {database} handoff")


def test_a_printed_command_works_in_another_folder(run: Run, database: pathlib.Path, tmp_path: pathlib.Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    done = run("status", "S1", "--json", "--db", database.name, ORCHESTRATOR_DB="", cwd=tmp_path)
    command = shlex.split(json.loads(done.stdout)["next"][0])[1:]
    assert run(*command, ORCHESTRATOR_DB="", cwd=tmp_path / "elsewhere").returncode == 0


def test_what_people_wrote_is_left_as_it_is(ask: Ask, database: pathlib.Path) -> None:
    ask("session", "create", "S2", "--goal", "orchestrator status is slow")
    assert ask("status", "S2", "--db", str(database))["goal"] == "orchestrator status is slow"


def test_a_group_alone_is_helped_with_its_own_help(run: Run) -> None:
    done = run("group")
    assert (done.returncode, b"try: orchestrator group --help" in done.stderr) == (64, True)


@pytest.mark.parametrize("words", [("-h",), ("group", "-h"), ("group", "show", "-h")], ids=" ".join)
def test_short_help_is_help(words: tuple[str, ...], run: Run) -> None:
    assert run(*words).stdout == run(*words[:-1], "--help").stdout != b""


def test_what_is_missing_is_named_as_it_is_written(run: Run) -> None:
    done = run("session", "testing-mode", "-s", "S1")
    assert b"session testing-mode needs MODE." in done.stderr
