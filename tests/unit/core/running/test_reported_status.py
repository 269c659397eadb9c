"""P1, INV-2: an executor that reports BLOCKED or the like in its answer is not complete, whatever it changed."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.core.running import judgement, reported_status
from orchestrator.core.running.facts import Facts, File, Verdict
from tests.cases import every
from tests.unit.core import growth

# ruff: noqa: RUF001 - text in other languages

GOOD = Facts("LIGHT_EDIT", "COMPLETE", "", 0, session="s", issued_session="s", verified=(File("README.md", True),))

BLOCKED = [
    "STATUS: BLOCKED", "Status: blocked", "**Status:** BLOCKED - no test environment", "FINAL STATUS: BLOCKED",
    "## Status\n\nBLOCKED", "# Status: BLOCKED", "## BLOCKED", "# BLOCKED", "**BLOCKED**", "BLOCKED",
    "BLOCKED: need a key",
    "BLOCKED - no network", "BLOCKED. No key was given.", "🚫 BLOCKED", "⛔ **BLOCKED**: no key", "- STATUS: BLOCKED",
    "> the task\n\nSTATUS: BLOCKED", "I changed README.md.\nSTATUS: BLOCKED", "I changed README.md.\fSTATUS: BLOCKED",
    "done\u2028STATUS: BLOCKED", "STATUS: COMPLETE\n\nSTATUS: BLOCKED", "STATUS: BLOCKED\nI changed README.md.",
    "```json\n{\"status\": \"BLOCKED\", \"summary\": \"no key\"}\n```", "{\n  \"status\": \"BLOCKED\"\n}",
    "Result: BLOCKED", "**Verdict: BLOCKED**", "Outcome: BLOCKED", "| Step | Status |\n|---|---|\n| build | BLOCKED |",
    "状態: BLOCKED", "ステータス：BLOCKED", "状態：ブロック", "Estado: BLOCKED", "Статус: BLOCKED",
    "STATUS:\r\nBLOCKED", "Status — BLOCKED", "status = BLOCKED", "STATUS: BLOCKED\n\n```\nunclosed",
    "MERGE_BLOCKED is what I am at.\nStatus: BLOCKED", "<b>STATUS: BLOCKED</b>",
]  # fmt: skip
UNFINISHED = [
    "STATUS: FAILED", "Status: INCOMPLETE", "**Status: PARTIAL**", "INCOMPLETE: two of three files", "Result: FAILED",
    "STATUS: ERROR", "Status: NOT_DONE", "結果：失敗", "状態：未完了", "```json\n{\"status\": \"failed\"}\n```",
    "STATUS: IN_PROGRESS", "Status: NEEDS_CLARIFICATION", "STATUS: MERGE_BLOCKED",
]  # fmt: skip
SPOKEN_OF = [
    "Done.", "Unblocked the queue.", "STATUS: COMPLETE", "Status: done", "STATUS: READY_FOR_QA", "0 failed, 12 passed",
    "I added a page about BLOCKED tasks.", "The status BLOCKED is now handled.", "> STATUS: BLOCKED",
    "```\nSTATUS: BLOCKED\n```", "`STATUS: BLOCKED` is printed now.", "The line \"STATUS: BLOCKED\" is parsed.",
    "    STATUS: BLOCKED", "<!-- STATUS: BLOCKED -->\ndone", "It prints STATUS: BLOCKED when a key is missing.",
    "Status: 3 of 4 pages rewritten", "BLOCKED: none", "Blocked users can log in again.", "Status: not blocked",
    "FAILED tests/test_x.py is fixed.", "Error handling: improved.", "Errors: 0", "blocked", "",
    "```json\n{\"status\": \"completed\"}\n```", "INCOMPLETE records are skipped now.",
]  # fmt: skip


def judged(output: str, **changed: Any) -> Verdict:
    return judgement.judge(GOOD._replace(output=output, **changed))


@every("output", BLOCKED)
def test_inv2_whoever_reports_blocked_is_not_complete_and_its_question_is_kept(output: str) -> None:
    found = judged(output)
    assert (found.executor_status, found.state, found.error_reason) == ("INCOMPLETE", "incomplete", "blocked")
    assert output.rstrip() in found.output
    assert found.question is not None
    assert judged(output, interactive=True).state == "awaiting_response"
    assert judged(output, task_type="DANGEROUS_OP").executor_status == "BLOCKED"


@every("output", UNFINISHED)
def test_p1_whoever_reports_that_it_is_not_done_is_not_complete(output: str) -> None:
    found = judged(output)
    assert (found.executor_status, found.error_reason) == ("INCOMPLETE", "reported_unfinished"), found
    assert "The executor's answer reports " in found.why


@every("output", SPOKEN_OF)
def test_what_is_only_spoken_of_is_no_status(output: str) -> None:
    assert (reported_status.unfinished(output, is_answer=False), judged(output).executor_status) == (None, "COMPLETE")


@pytest.mark.parametrize("type_", ["READ_INFO", "REPORT"])
def test_an_answer_may_tell_the_status_of_other_things_but_not_end_with_one(type_: str) -> None:
    about = "Status: BLOCKED\nGroup A waits for a key."
    assert judged(about, task_type=type_, verified=()).executor_status == "COMPLETE"
    assert judged("I could not look.\n\nSTATUS: BLOCKED\n", task_type=type_, verified=()).error_reason == "blocked"


@pytest.mark.parametrize("unit", [
    "STATUS: ", "BLOCKED ", "*", "**Status** ", "| Status |\n", "# ", "BLOCKED\n", "> ", "```\n", "\f", "not done ",
    "(",
])  # fmt: skip
def test_long_answers_take_linear_time(unit: str) -> None:
    assert growth.is_even(lambda text: reported_status.unfinished(text, is_answer=False), unit, 40_000 // len(unit))
