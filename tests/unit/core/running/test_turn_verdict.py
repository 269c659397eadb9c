"""P1, P7, P9, P21, P34, P35: what the runner saw decides whether a turn was answered, never what the executor says."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core.routing.facts import DEVELOPER, INVESTIGATOR, MANAGER, QA, RESEARCHER, SENIOR, TECH_LEAD
from orchestrator.core.running import codes, turn_verdict
from orchestrator.core.running.turn_verdict import TurnFacts, TurnVerdict
from tests.cases import every

GOOD = TurnFacts("COMPLETE", "STATUS: READY_FOR_QA", session="S1", issued_session="S1")
TIMEOUT = {"executor_blocked": True, "blocked_reason": "TIMEOUT", "timeout_ms": 700, "limit": "executor_timeout_ms"}
PROMPT = {"executor_blocked": True, "blocked_reason": "INTERACTIVE_PROMPT"}

ROWS: list[Any] = [
    ({"session": "S2"}, "failed", "session_other", "E502", "names session"),
    ({"tampered": ("CLAUDE.md (changed)",)}, "failed", "tampered", "E501", "CLAUDE.md (changed)"),
    ({"cancelled": True, "session": None}, "failed", "cancelled", None, "was cancelled"),
    ({"status": "ERROR", "error": "USAGE_LIMIT: resets 3pm"}, "limited", "usage_limit", None, "resets 3pm"),
    (TIMEOUT, "failed", "blocked", "E503", "executor_timeout_ms of 700 ms"),
    (PROMPT, "failed", "blocked", "E503", "asked for input"),
    ({"status": "DONE"}, "failed", "unknown_status", "E503", "'DONE'"),
    ({"blocked_reason": "BORED"}, "failed", "unknown_status", "E503", "'BORED'"),
    ({"signal": 9, "session": None}, "failed", "executor_error", "E503", "signal 9"),
    ({"status": "ERROR", "error": "it broke\nbadly"}, "failed", "executor_error", "E503", "it broke"),
    ({"status": "INVALID"}, "failed", "executor_error", "E503", "INVALID"),
    (
        {"status": "ERROR", "answer": " ", "error": "EXIT_STATUS: ended with 3"}, "failed", "executor_error", "E503",
        "ended with 3",
    ),
    ({"session": None}, "failed", "session_missing", "E501", "names no session"),
    ({"log_error": "no room"}, "failed", "log_failed", None, "no room"),
    ({"evidence_faults": (("E304", "It differs."),)}, "failed", "evidence_faulty", "E304", "It differs."),
    ({"evidence_missing": ("turn-1-execute",)}, "failed", "evidence_missing", None, "turn-1-execute"),
    ({"leftovers": ("sh (7)",)}, "failed", "leftovers", None, "sh (7)"),
    ({"answer": " \n"}, "no_answer", "no_answer", None, "without an answer"),
    ({"answer": "", "denied_tools": ("Bash",)}, "no_answer", "no_answer", None, "not allowed to use Bash"),
]  # fmt: skip


@pytest.mark.parametrize(("changed", "state", "rule", "code", "said"), ROWS, ids=[f"{row[2]} {row[4]}" for row in ROWS])
def test_each_rule_by_itself_decides(
    changed: dict[str, Any], state: str, rule: str, code: str | None, said: str
) -> None:
    verdict = turn_verdict.judge(GOOD._replace(**changed))
    assert verdict[:3] == (state, rule, code)
    assert said in str(verdict.reason)
    assert code is None or code in codes.CODES


def test_every_rule_has_a_row() -> None:
    assert {row[2] for row in ROWS} == {rule.name for rule in turn_verdict.RULES}


@every("changed", [
    {}, {"denied_tools": ("Bash",)}, {"unfinished": ("a server",)}, {"status": "BLOCKED"}, {"status": "INCOMPLETE"},
    {"status": "NO_EVIDENCE"}, {"status": "ERROR", "error": "EXIT_STATUS: ended with 3"},
    {"status": "ERROR", "error": "PERMISSION_DENIED: Bash"}, {"answer": "I think it is done, maybe."},
])  # fmt: skip
def test_an_answer_counts_whatever_it_says_of_the_work(changed: dict[str, Any]) -> None:
    """P8, P15: whether the work is done is the router's to decide; an exit code decides nothing."""
    assert turn_verdict.judge(GOOD._replace(**changed)) == TurnVerdict("answered")


def test_what_is_wrong_first_is_told() -> None:
    both = GOOD._replace(session="S2", tampered=("x (new)",), answer="")
    assert turn_verdict.judge(both).rule == "session_other"


@given(st.fixed_dictionaries({}, optional={
    "status": st.sampled_from(["COMPLETE", "ERROR", "INVALID", "BLOCKED", "x"]), "answer": st.text(max_size=5),
    "session": st.sampled_from([None, "S1", "S2"]), "cancelled": st.booleans(), "signal": st.sampled_from([None, 9]),
    "error": st.sampled_from([None, "it broke", "USAGE_LIMIT: later"]), "leftovers": st.sampled_from([(), ("x",)]),
}))  # fmt: skip
def test_an_end_is_one_of_four_and_all_but_an_answer_say_why(changed: dict[str, Any]) -> None:
    """P9."""
    facts = GOOD._replace(**changed)
    verdict = turn_verdict.judge(facts)
    assert verdict.state in turn_verdict.ENDED
    assert bool(verdict.reason) == (verdict.state != "answered")
    assert verdict.state != "answered" or facts.answer.strip()


def test_the_type_of_a_turn_follows_from_its_role() -> None:
    writers = {role for role in (DEVELOPER, SENIOR, RESEARCHER, QA, TECH_LEAD, INVESTIGATOR, MANAGER)
               if turn_verdict.task_type(role) == "IMPLEMENTATION"}  # fmt: skip
    assert writers == {DEVELOPER, SENIOR, RESEARCHER, QA}
