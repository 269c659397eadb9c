"""A key in every text of every operation, also of those that are turned down: it is nowhere in the database."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

from orchestrator.app.kernel import arguments, operations
from tests.integration.cli.conftest import Run, jsonl
from tests.integration.cli.test_keys_at_the_door import KEYS, Smuggler

FILLERS: dict[type, Any] = {str: "A", int: 1, bool: False, dict: {}, list: []}
SOUND = {"session_id": "S1", "group_id": "A", "by": "project_manager", "request_id": None, "decision": "yes"}


def fitting(words: str) -> dict[str, Any]:
    """Arguments by which an operation can be read: whether it can be done does not matter."""
    return {
        name: SOUND.get(name, FILLERS[parameter.kinds[0]])
        for name, parameter in arguments.parameters(words).items()
        if parameter.default is arguments.REQUIRED or name == "by"
    }


def smuggled(at: Smuggler, words: str, name: str, kinds: tuple[type, ...]) -> list[Any]:
    """A parameter's values with a key in them."""
    where = f"{words} {name}"
    found: list[Any] = [at.key(where), at.text(where)] if str in kinds else []
    if dict in kinds:
        found += [{at.key(f"{where}, a name"): at.text(f"{where}, a value")}]
    if list in kinds:
        found += [[at.text(f"{where}, an item")]]
    return found


def every_call(at: Smuggler) -> list[tuple[str, dict[str, Any]]]:
    """Each operation with each of its texts as a key, one by one and all of them."""
    calls = []
    for words in operations.every():
        whole = fitting(words)
        for name, parameter in arguments.parameters(words).items():
            for value in smuggled(at, words, name, parameter.kinds):
                calls.append((words, {**whole, name: value}))
        if "session_id" in whole:
            texts = {name: at.key(f"{words} {name}") for name, value in whole.items() if isinstance(value, str)}
            calls.append((words, {**whole, **texts}))
    return calls


def test_the_table_is_whole() -> None:
    texts = {
        f"{words} {name}"
        for words in operations.every()
        for name, parameter in arguments.parameters(words).items()
        if str in parameter.kinds
    }
    at = Smuggler(KEYS["anthropic"])
    assert len(every_call(at)) > len(texts) > 100
    assert texts <= set(at.marks.values())


def test_no_key_is_kept_of_any_parameter(run: Run, database: pathlib.Path) -> None:
    at = Smuggler(KEYS["anthropic"])
    calls = every_call(at)
    done = run("batch", stdin=jsonl(calls))
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(calls)
    assert [each for each in answers if each.get("code") == "INTERNAL"] == []
    files = b"".join(each.read_bytes() for each in database.parent.glob(f"{database.name}*"))
    assert at.found(files) == []
    assert at.found(done.stdout + done.stderr) == []
    assert run("audit", "verify").returncode == 0


COMMANDS = {
    "answer": ("answer", "{key}", "--decision", "yes"),
    "answer, as of a session": ("answer", "{key}:Q1", "--decision", "yes"),
    "route": ("route", "developer", "-s", "{key}", "-g", "A", "--status", "BLOCKED"),
    "route, an unread report": ("route", "{key}", "-s", "S1", "-g", "{key}", "--report", "-"),
    "why": ("why", "{key}"),
    "session end": ("session", "end", "{key}"),
    "request id": ("session", "pause", "S404", "--reason", "r", "--request-id", "{key}"),
    "task claim": ("task", "claim", "{key}", "--agent-id", "{key}", "-s", "S1"),
    "blocker resolve": ("blocker", "resolve", "{key}:B1", "--guidance", "{key}"),
    "group show": ("group", "show", "{key}", "-s", "S1"),
}


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_no_key_is_kept_of_a_command(words: tuple[str, ...], run: Run, database: pathlib.Path) -> None:
    at = Smuggler(KEYS["anthropic"])
    done = run(*(each.format(key=at.key(each)) for each in words), stdin=b'{"status": ')
    assert done.returncode != 0
    files = b"".join(each.read_bytes() for each in database.parent.glob(f"{database.name}*"))
    assert at.found(files + done.stdout + done.stderr) == []
