"""P34, P35, P39: what helps fits the reason for which a run ended."""

from __future__ import annotations

import pytest

from orchestrator.core.running import advice, blocked_output, codes, hedging_words, judgement, states, summary
from tests.cases import every

RULES = [rule.name for rule in judgement.RULES]
FITS = [
    ("exit_code", "E503", "--full"), ("executor_error", "E503", "--full"), ("claimed_missing", None, "not there"),
    ("unverifiable_claim", None, "within the project"), ("target_unmet", None, "that a task mentions"),
    ("limit_broken", "E206", "task_limits"), ("tests_failed", "E210", "tests"), ("checks_failed", "E210", "checks"),
    ("tests_unproven", "E211", "tests"), ("leftovers", None, "processes"), ("put_off", None, "wait"),
    ("denied_tools", "E503", "tools"), ("log_failed", None, "folder"), ("guessed_claim", None, "not sure"),
    ("evidence_missing", None, "evidence"), ("evidence_faulty", "E304", "evidence"), ("question", None, "answer"),
    ("nothing_verified", None, "--type READ_INFO"), ("session_missing", "E501", "ORCHESTRATOR_SESSION_ID"),
    ("executor_incomplete", None, "did not finish"), ("reported_unfinished", None, "not done"),
    ("cancelled", None, "how far"),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "code", "part"), FITS, ids=[row[0] for row in FITS])
def test_p39_the_hint_is_about_what_decided(rule: str, code: str | None, part: str) -> None:
    assert part in (summary.hint(rule, states.UNFINISHED, "x", code, "task-1") or "")


@pytest.mark.parametrize(
    ("reason", "hint"),
    [("DISK_FULL: the disk is full: the output was kept up to byte 0.", "Free space"),
     ("EVIDENCE_DELETED: the evidence folder was deleted while the executor ran", "Enter the task again")],
)  # fmt: skip
def test_p39_no_hint_promises_all_of_an_output_that_was_not_kept(reason: str, hint: str) -> None:
    found = summary.hint("executor_error", states.FAILED, reason, "E503", "task-1") or ""
    assert (found.startswith(hint), "all that the executor wrote" in found) == (True, False)
    assert f"[HINT]    {found}" in (summary.block("task-1795873176588", states.FAILED, "x", hint=found) or "")


@every("rule", [rule for rule in (*RULES, "nothing_verified") if rule != "executor_blocked"])
def test_p39_every_rule_has_a_hint_of_its_own_that_is_shown_whole(rule: str) -> None:
    found = advice.filled(summary.BY_RULE[rule], "task-1795873176588")
    block = summary.block("task-1795873176588", states.FAILED, "x", hint=found)
    assert (f"[HINT]    {found}" in (block or ""), hedging_words.guesses(found)) == (True, False)


def test_p39_there_is_no_hint_of_a_rule_that_does_not_exist() -> None:
    assert set(summary.BY_RULE) - {"nothing_verified"} == set(RULES) - {"executor_blocked"}


CLOCKS = [
    ("executor_timeout_ms", "Raise --executor-timeout MS (now 2000)"),
    ("progress_timeout_ms", "Raise --progress-timeout MS (now 2000)"),
    ("task_limits.seconds", "Raise task_limits.seconds in orchestrator.json (now 2)"),
]


@pytest.mark.parametrize(("limit", "begins"), CLOCKS)
def test_p35_the_hint_after_a_timeout_names_the_clock_that_ended_it(limit: str, begins: str) -> None:
    found = summary.blocked(states.TIMEOUT, limit, 2000)
    fixed = blocked_output.QUESTIONS[blocked_output.BLOCKED_TIMEOUT].replace("\n", " ")
    assert found == f"{begins}, or make the task smaller. {fixed}"
    assert len(found) <= summary.LONGEST


def test_p34_the_hint_after_a_prompt_is_about_the_prompt() -> None:
    fixed = blocked_output.QUESTIONS[blocked_output.BLOCKED_INTERACTIVE].replace("\n", " ")
    assert summary.blocked(states.INTERACTIVE_PROMPT, None, None) == (
        f"Keep the executor from asking, or put the answer into the task. {fixed}"
    )


@pytest.mark.parametrize(
    ("state", "reason", "code", "hint"),
    [
        pytest.param(states.FAILED, "x", "E211", codes.CODES["E211"].remedy, id="refused before it began"),
        pytest.param(states.UNFINISHED, "unanswered", None, "The session was closed before", id="unanswered"),
        pytest.param(states.UNFINISHED, "x", None, "", id="nothing is known"),
    ],
)
def test_p39_without_a_verdict_the_code_or_reason_tells(state: str, reason: str, code: str | None, hint: str) -> None:
    assert (summary.hint(None, state, reason, code, "task-1") or "").startswith(hint)


@pytest.mark.parametrize(
    ("verdict", "rule"),
    [("ERROR: exit_code, put_off", "exit_code"), ("NO_EVIDENCE: nothing_verified", "nothing_verified"), (None, None),
     ("", None)],
)  # fmt: skip
def test_the_rule_that_decided_stands_first_in_the_log(verdict: str | None, rule: str | None) -> None:
    assert summary.rule(verdict) == rule
