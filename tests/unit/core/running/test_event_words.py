"""The words in what programs print while they work."""

from __future__ import annotations

import json

import pytest

from orchestrator.core.running import event_words

SAID = {"type": "text", "text": "I read it."}
CALLED = {"type": "tool_use", "name": "Bash", "input": {"command": "make  test\nmake lint", "description": "Check"}}


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        ("plain\n{not json}\n[1]", "plain\n{not json}\n[1]"),
        ('{"type": "widget", "id": 1}', '{"type": "widget", "id": 1}'),
        (json.dumps({"type": "assistant", "message": {"content": [SAID, CALLED]}}),
         "I read it.\n[Bash] make test make lint"),
        (json.dumps({"type": "item.completed", "item": {"type": "agent_message", "text": "Done."}}), "Done."),
        (json.dumps({"type": "item.completed", "item": {"type": "command_execution", "command": "ls"}}),
         "[command_execution] ls"),
        ('before\n{"type": "system", "subtype": "init"}\nafter', "before\nafter"),
        (json.dumps({"type": "assistant", "message": {"content": "text"}}), ""),
        ('{"type": 5}', '{"type": 5}'),
        ("{" * 50_000, "{" * 50_000),
    ],
)  # fmt: skip
def test_events_are_shown_by_their_words_and_everything_else_as_it_is(printed: str, shown: str) -> None:
    assert event_words.readable(printed) == shown
