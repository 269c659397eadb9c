"""What the project manager moves by a report needs a reason: the summary, or the key that the agent file names."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from orchestrator import resources
from orchestrator.core.routing import blocking
from tests.integration.app.table import Table, document

PM = "project_manager"


def deferrable() -> Table:
    """Group A waits for the manager, with a blocker that guidance marked external."""
    table = Table("A", "B", plan=True)
    table.mark_external("A")
    return table


def deferred() -> Table:
    """Group A is deferred."""
    table = Table("A", "B", plan=True)
    table.defer("A")
    return table


def unplanned() -> Table:
    """Groups that nobody has begun."""
    return Table("A", "B")


CASES: dict[str, tuple[Callable[[], Table], str, str | None, str]] = {
    "defer": (deferrable, "DEFER_EXTERNAL", "A", "SELECT reason FROM deferrals"),
    "resume": (deferrable, "RESUME_BLOCKED", "A", "SELECT resolution_note FROM blockers"),
    "resume, deferred": (
        deferred, "RESUME_BLOCKED", "A", "SELECT reason FROM status_changes WHERE from_status = 'deferred_external'"
    ),
    "end_research": (
        unplanned, "INVESTIGATION_ONLY", None, "SELECT reason FROM status_changes WHERE to_status = 'ended'"
    ),
}  # fmt: skip
KEYS = {"DEFER_EXTERNAL": "deferral_reason", "RESUME_BLOCKED": "resume_reason",
        "INVESTIGATION_ONLY": "investigation_answers"}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
class TestAReason:
    def test_is_required_and_the_refusal_names_the_key(self, case: str) -> None:
        make, status, group, _ = CASES[case]
        table = make()
        for said in ({}, {"summary": " \u200b\n"}, {"details": {KEYS[status]: "  "}}, {"details": {"why": "because"}}):
            refusal = table.refused(PM, status, group, **said)
            assert refusal.code == "REASON_REQUIRED"
            assert refusal.suggestion == f"Repeat with --summary TEXT, or with {KEYS[status]} in --details"
            assert refusal.data["details_key"] == KEYS[status]

    @pytest.mark.parametrize("way", ["summary", "key", "reason", "both", "list"])
    def test_is_taken_as_it_was_given(self, case: str, way: str) -> None:
        make, status, group, sql = CASES[case]
        table = make()
        said: dict[str, Any] = {
            "summary": {"summary": "the server is there"},
            "key": {"details": {KEYS[status]: "the server is there"}},
            "reason": {"details": {"reason": "the server is there"}},
            "both": {"summary": "the server is there", "details": {KEYS[status]: "another one"}},
            "list": {"details": {KEYS[status]: ["it is there"]}},
        }[way]
        table.says(PM, status, group, **said)
        assert table.rows(sql) == [('["it is there"]' if way == "list" else "the server is there",)]


def test_the_end_of_a_session_without_open_groups_cancels_nothing_and_needs_none() -> None:
    assert Table().says(PM, "INVESTIGATION_ONLY")["cancelled"] == []


def test_the_agent_file_names_the_key_of_each_report_that_needs_a_reason() -> None:
    text = (resources.path("agents") / "project_manager.md").read_text("utf-8")
    effects = {"DEFER_EXTERNAL": "defer", "RESUME_BLOCKED": "resume", "INVESTIGATION_ONLY": "end_research"}
    assert {status: blocking.REASONS[effect] for status, effect in effects.items()} == KEYS
    assert effects.keys() <= document()[PM].keys()
    for status, key in KEYS.items():
        (row,) = re.findall(rf"^\| `{status}` .*$", text, re.MULTILINE)
        assert f"`{key}`" in row
        assert f"`{key}`" in text.partition("## Confirming and deferring")[2]
