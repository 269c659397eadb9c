"""A key put into any text that a caller gives: it is in no row, no event and no export, and all of it still replays."""

from __future__ import annotations

import itertools
import json
import pathlib
from typing import Any

import pytest

from tests.integration.cli.conftest import Run, jsonl

KEYS = {
    "anthropic": "sk-ant-api03-{}abcdefghijklmnopqrstuvwxyz0123456789ABCDEF",
    "openai": "sk-proj-{}abcdefghijklmnopqrstuvwxyz0123456789ABCDEF",
    "google": "AIza{}aaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "aws": "AKIA{}QQQQQQQQ",
    "github": "ghp_{}abcdefghijklmnopqrstuvwxyz01",
    "github, fine-grained": "github_pat_11ABCDEFG0{}_abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "slack": "xoxb-1234567890-1234567890123-{}abcdefghijkl",
}
"""One key of each pattern; in place of the braces stands what tells one from the next."""


class Smuggler:
    """Makes keys that are told apart by a mark, and knows where each was put."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._numbers = itertools.count(10_000_000)
        self.marks: dict[bytes, str] = {}

    def key(self, where: str) -> str:
        mark = str(next(self._numbers))
        self.marks[mark.encode()] = where
        return self._pattern.format(mark)

    def text(self, where: str) -> str:
        return f"see {self.key(where)} there"

    def found(self, data: bytes) -> list[str]:
        return [where for mark, where in self.marks.items() if mark in data]


def calls(at: Smuggler) -> list[tuple[str, dict[str, Any]]]:
    """Every text that a call can have, those that are refused as well."""
    manager = {"session_id": "S1", "by": "project_manager"}
    route = {"session_id": "S1", "group_id": "A"}
    block = {"status": "blocked", "errors": [{"type": "external_dependency", "message": at.text("error of metadata")}]}
    return [
        ("session create", {"id": "S2", "goal": at.text("goal")}),
        ("session create", {"id": at.key("id of a session"), "goal": "g"}),
        ("group create", {**manager, "id": "C", "name": at.text("name of a group")}),
        ("group create", {**manager, "id": at.key("id of a group"), "name": "n"}),
        ("group create", {**manager, "id": "D", "name": "n", "request_id": at.key("request id")}),
        ("group create", {**manager, "id": "D", "name": "n", "request_id": at.key("request id of a refusal")}),
        ("criterion add", {**manager, "id": "C1", "text": at.text("criterion")}),
        ("criterion add", {**manager, "id": "C2", "text": "t", "command": ["cat", "secret.txt", at.text("command")]}),
        ("agent register", {"id": at.key("id of an agent"), "role": "developer", "by": "project_manager"}),
        (
            "route",
            {
                "session_id": "S1",
                "current_agent": "project_manager",
                "status": "PLANNING_COMPLETE",
                "summary": at.text("summary"),
                "details": {at.text("name in details"): at.text("value"), "deep": [{"a": at.text("deep value")}]},
            },
        ),
        ("task create", {**manager, "id": "T1", "group_id": "A", "title": at.text("title of a task")}),
        ("task create", {**manager, "id": at.key("id of a task"), "group_id": "A", "title": "t"}),
        ("task set-status", {**manager, "id": "T1", "status": "cancelled", "reason": at.text("reason of a task")}),
        ("route", {**route, "current_agent": "developer", "status": "BLOCKED", "summary": "s", "metadata": block}),
        ("route", {**route, "current_agent": at.key("role"), "status": "BLOCKED"}),
        ("route", {**route, "current_agent": "investigator", "status": at.key("status")}),
        ("route", {**route, "current_agent": "investigator", "status": "BLOCKED", "agent_id": at.key("agent")}),
        ("route", {**route, "current_agent": "investigator", "status": "BLOCKED", "session_id": at.key("session")}),
        ("route", {**route, "current_agent": "investigator", "status": "BLOCKED", "group_id": at.key("group")}),
        ("route", {**route, "current_agent": "developer", at.key("name of a parameter"): 1}),
        ("redispatch", {**manager, "group_id": "A", "reason": at.text("reason of a redispatch")}),
        ("group set-status", {**manager, "id": "B", "status": "cancelled", "reason": at.text("reason of a group")}),
        ("group set-status", {"session_id": "S1", "id": "A", "status": "cancelled", "reason": "r", "by": at.key("by")}),
        (
            "route",
            {
                "session_id": "S1",
                "current_agent": "project_manager",
                "status": "BAZINGA",
                "acknowledge": {"A": at.text("acknowledgement")},
            },
        ),
        (
            "route",
            {
                "session_id": "S1",
                "current_agent": "project_manager",
                "status": "NEEDS_CLARIFICATION",
                "summary": at.text("question"),
            },
        ),
        ("session pause", {**manager, "id": "S2", "session_id": "S2", "reason": at.text("reason of a pause")}),
        ("answer", {"id": "S1:Q1", "decision": "continue", "note": at.text("note"), "by": "user"}),
        (at.text("operation"), {}),
    ]


@pytest.mark.parametrize("pattern", KEYS.values(), ids=KEYS)
def test_no_key_gets_in_by_any_text(pattern: str, run: Run, database: pathlib.Path, tmp_path: pathlib.Path) -> None:
    at = Smuggler(pattern)
    written = run("batch", stdin=jsonl(calls(at)))
    message = f"I did it with {at.key('message of an agent')}\n\nSTATUS: BLOCKED\n"
    run("route", "investigator", "-s", "S1", "-g", "A", "--output", "-", stdin=message.encode())
    report = {"status": "BLOCKED", "summary": at.text("report"), "details": {"a": at.text("details of a report")}}
    run("route", "tech_lead", "-s", "S1", "-g", "A", "--report", "-", stdin=json.dumps(report).encode())
    (tmp_path / "secret.txt").write_text(at.text("output of a command"))
    run("validate", "S1", "--record")
    assert at.found(written.stdout + written.stderr) == []
    assert run("audit", "verify").returncode == 0
    for format in ("jsonl", "csv"):
        assert at.found(run("audit", "export", "S1", "--format", format).stdout) == []
    assert run("audit", "replay", "S1").returncode == 0
    files = [each.read_bytes() for each in database.parent.glob(f"{database.name}*")]
    assert at.found(b"".join(files)) == []
    assert b"[MASKED:" in b"".join(files)


def test_requests_with_keys_for_ids_stay_two(run: Run) -> None:
    at = Smuggler(KEYS["anthropic"])
    for group in ("C", "D"):
        key = at.key(group)
        for repeated in (False, True):
            given = {"id": group, "session_id": "S1", "name": "n", "request_id": key}
            (answer,) = map(json.loads, run("batch", stdin=jsonl([("group create", given)])).stdout.splitlines())
            assert (answer["success"], answer.get("repeated", False)) == (True, repeated)
