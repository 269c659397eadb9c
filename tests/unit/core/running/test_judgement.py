"""P1, P7, P8, P9, P11, P15, P31, P34, P35, INV-1, INV-2: what the runner saw decides, never what the executor says."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from orchestrator.core import task_types
from orchestrator.core.running import blocked_output, codes, judgement, states
from orchestrator.core.running import hedging_words as words
from orchestrator.core.running.facts import CLAIM, DIFF, Facts, File, Verdict, count_modified
from tests.cases import every
from tests.unit.core import growth

OTHER_TYPES = [type_ for type_ in task_types.TYPES if type_ != "DANGEROUS_OP"]
README = File("README.md", True)
GOOD = Facts(
    "IMPLEMENTATION", "COMPLETE", "Created README.md.", 0, session="s-1", issued_session="s-1", verified=(README,)
)


def judged(**changed: Any) -> Verdict:
    return judgement.judge(GOOD._replace(**changed))


def status_and_state(**changed: Any) -> tuple[str, str]:
    verdict = judged(**changed)
    return verdict.executor_status, verdict.state


def test_p8_a_verified_file_makes_a_run_complete() -> None:
    assert judged() == Verdict(
        "COMPLETE", "complete", None, None, None, "Created README.md.", "1 file verified on the disk.",
        ("verified_file",),
    )  # fmt: skip


ROWS: list[Any] = [
    pytest.param(
        {"output": "STATUS: FAILED"}, "INCOMPLETE", "incomplete", "reported_unfinished", None, id="P1 it says so itself"
    ),
    pytest.param({"session": None}, "INVALID", "error", "session_missing", "E501", id="P1 no session id"),
    pytest.param({"session": "s-2"}, "INVALID", "error", "session_other", "E502", id="P1 other session id"),
    pytest.param({"foreign": ("x",)}, "INVALID", "error", "foreign_artifact", "E501", id="P21 foreign artifact"),
    pytest.param({"tampered": ("x (new)",)}, "INVALID", "error", "tampered", "E501", id="P1 settings touched"),
    pytest.param({"unapproved": ("T9",)}, "INVALID", "error", "unapproved_task", "E205", id="P13 a task of its own"),
    pytest.param({"status": "INVALID"}, "INVALID", "error", "executor_invalid", "E503", id="executor says invalid"),
    pytest.param({"cancelled": True}, "INCOMPLETE", "cancelled", "cancelled", None, id="cancelled"),
    pytest.param(
        {"cancelled": True, "session": None, "exit_code": -15},
        "INCOMPLETE", "cancelled", "cancelled", None, id="what was cancelled names no session",
    ),
    pytest.param(
        {"executor_blocked": True, "blocked_reason": "INTERACTIVE_PROMPT", "session": None},
        "ERROR", "error", "executor_blocked", "E503", id="P34 prompt",
    ),
    pytest.param(
        {"executor_blocked": True, "blocked_reason": "TIMEOUT", "timeout_ms": 200, "limit": "progress_timeout_ms"},
        "ERROR", "error", "executor_blocked", "E503", id="P35 silence",
    ),
    pytest.param(
        {"executor_blocked": True, "blocked_reason": "TIMEOUT", "status": "BLOCKED", "interactive": True},
        "ERROR", "error", "executor_blocked", "E503", id="P35 is an error everywhere",
    ),
    pytest.param({"status": "DONE"}, "ERROR", "error", "unknown_facts", "E503", id="P9 unknown status"),
    pytest.param({"tests": "some"}, "ERROR", "error", "unknown_facts", "E503", id="P9 unknown result of tests"),
    pytest.param({"blocked_reason": "X"}, "ERROR", "error", "unknown_facts", "E503", id="P9 unknown reason"),
    pytest.param({"log_error": "Disk full."}, "ERROR", "error", "log_failed", None, id="P26 the log was not written"),
    pytest.param({"log_error": ""}, "ERROR", "error", "log_failed", None, id="P26 for a reason that nobody told"),
    pytest.param({"exit_code": 3}, "ERROR", "error", "exit_code", "E503", id="P8 exit code"),
    pytest.param({"exit_code": 3, "session": None}, "ERROR", "error", "exit_code", "E503", id="failed without result"),
    pytest.param({"signal": 9, "session": None}, "ERROR", "error", "exit_code", "E503", id="ended by a signal"),
    pytest.param({"denied_tools": ("Write",)}, "ERROR", "error", "denied_tools", "E503", id="denied tools, exit 0"),
    pytest.param({"status": "ERROR"}, "ERROR", "error", "executor_error", "E503", id="executor says error"),
    pytest.param({"error": "boom"}, "ERROR", "error", "executor_error", "E503", id="error beats exit 0"),
    pytest.param({"violations": ("max_files 3 of 2",)}, "ERROR", "error", "limit_broken", "E206", id="P17 limit"),
    pytest.param({"task_type": "UNKNOWN"}, "ERROR", "error", "unknown_type", "E503", id="unknown type"),
    pytest.param({"task_type": None}, "ERROR", "error", "unknown_type", "E503", id="no type"),
    pytest.param(
        {"claimed_files": ("README.md",), "verified": ()},
        "NO_EVIDENCE", "incomplete", "claimed_missing", None, id="P31 claimed and absent",
    ),
    pytest.param(
        {"claimed_files": ("b.md",)}, "NO_EVIDENCE", "incomplete", "claimed_missing", None, id="P8 missing claim wins",
    ),
    pytest.param(
        {"verified": (README, File("b.md", False, CLAIM))},
        "NO_EVIDENCE", "incomplete", "claimed_missing", None, id="P31 a claim looked for in vain",
    ),
    pytest.param(
        {"verified": (File("README.md", True, CLAIM),)},
        "NO_EVIDENCE", "incomplete", "nothing_verified", None, id="P31 claimed, there before, unchanged",
    ),
    pytest.param(
        {"unverifiable": ("/tmp/x",), "claimed_files": ("/tmp/x",)},  # noqa: S108
        "NO_EVIDENCE", "incomplete", "unverifiable_claim", None, id="P15 a claim that cannot be checked",
    ),
    pytest.param(
        {"evidence_missing": ("op-1",)}, "NO_EVIDENCE", "incomplete", "evidence_missing", None, id="P7 no evidence",
    ),
    pytest.param(
        {"evidence_faults": (("E304", "Changed."), ("E303", "Gone."))},
        "NO_EVIDENCE", "incomplete", "evidence_faulty", "E304", id="P21 tampered",
    ),
    pytest.param(
        {"output": "It is probably done."},
        "NO_EVIDENCE", "incomplete", "guessed_claim", None, id="P15 guess, even when files changed",
    ),
    pytest.param(
        {"output": "It should be done.", "expected": True},
        "NO_EVIDENCE", "incomplete", "guessed_claim", None, id="P15 only expected, even when files changed",
    ),
    pytest.param(
        {"status": "NO_EVIDENCE"}, "NO_EVIDENCE", "incomplete", "executor_no_evidence", None, id="executor has none",
    ),
    pytest.param({"status": "INCOMPLETE"}, "INCOMPLETE", "incomplete", "executor_incomplete", None, id="unfinished"),
    pytest.param(
        {"targets_unmet": ("docs/x.md was not created",)}, "INCOMPLETE", "incomplete", "target_unmet", None,
        id="P31 the ordered file was not made, whatever else was",
    ),
    pytest.param(
        {"targets_unmet": ("docs/x.md was not created",), "task_type": "REPORT", "output": "Written."},
        "INCOMPLETE", "incomplete", "target_unmet", None, id="P31 a report that was ordered as a file",
    ),
    pytest.param(
        {"targets_unmet": ("a was not deleted",), "verified": (), "ordered_deletions": ("b",)},
        "INCOMPLETE", "incomplete", "target_unmet", None, id="P31 one of two ordered deletions",
    ),
    pytest.param(
        {"task_type": "DANGEROUS_OP", "ordered_deletions": ("build/x.o",), "stray": ("old.md",)},
        "INCOMPLETE", "incomplete", "stray_deletion", None, id="P8 more was destroyed than was ordered",
    ),
    pytest.param({"tests": "failed"}, "INCOMPLETE", "incomplete", "tests_failed", "E210", id="P11 tests fail"),
    pytest.param({"checks_failed": ("lint",)}, "INCOMPLETE", "incomplete", "checks_failed", "E210", id="P4 lint fails"),
    pytest.param(
        {"verified": (File("a.py", True),), "tests": "none"},
        "NO_EVIDENCE", "incomplete", "tests_unproven", "E211", id="P11 source without tests",
    ),
    pytest.param(
        {"verified": (File("a.py", True),)},
        "NO_EVIDENCE", "incomplete", "tests_unproven", "E210", id="P11 source whose tests were not run",
    ),
    pytest.param({"leftovers": ("42 sleep",)}, "INCOMPLETE", "incomplete", "leftovers", None, id="P35 leftovers"),
    pytest.param({"background": True}, "INCOMPLETE", "incomplete", "put_off", None, id="P8 background work"),
    pytest.param({"output": "Polling started."}, "INCOMPLETE", "incomplete", "put_off", None, id="P8 polling started"),
    pytest.param({"output": "All done.", "background": True, "unfinished": ("npm test (stopped)",)},
                 "INCOMPLETE", "incomplete", "put_off", None, id="P8 background work behind confident words"),
    pytest.param(
        {"verified": (), "unattributed": ("a",), "beside": ("task-1",)},
        "NO_EVIDENCE", "incomplete", "nothing_verified", None, id="P8 whose work it was cannot be told",
    ),
    pytest.param({"verified": ()}, "NO_EVIDENCE", "incomplete", "nothing_verified", None, id="P8 nothing verified"),
    pytest.param(
        {"verified": (File("a", False),)}, "NO_EVIDENCE", "incomplete", "nothing_verified", None, id="P31 none exists",
    ),
    pytest.param(
        {"task_type": "READ_INFO", "output": "", "verified": ()},
        "NO_EVIDENCE", "incomplete", "nothing_verified", None, id="P8 empty answer",
    ),
    pytest.param(
        {"task_type": "READ_INFO", "output": None, "verified": ()},
        "NO_EVIDENCE", "incomplete", "nothing_verified", None, id="P8 no answer",
    ),
    pytest.param(
        {"task_type": "REPORT", "output": "It is probably complete.", "verified": ()},
        "NO_EVIDENCE", "incomplete", "guessed_claim", None, id="P15 an answer that claims completion by guess",
    ),
]  # fmt: skip


@every(("changed", "status", "state", "rule", "code"), ROWS)
def test_one_fact_less_and_the_run_is_not_complete(
    changed: dict[str, Any], status: str, state: str, rule: str, code: str | None
) -> None:
    verdict = judged(**changed)
    found = (verdict.executor_status, verdict.state, verdict.error_reason, verdict.code, verdict.rules[0])
    assert found == (status, state, rule, code, rule)


@every("changed", [pytest.param(row.values[0], id=row.id) for row in ROWS])
def test_p26_p39_whatever_is_not_complete_says_why_in_one_line_without_guessing(changed: dict[str, Any]) -> None:
    verdict = judged(**changed)
    assert (len(verdict.why.splitlines()), words.guesses(verdict.why)) == (1, False)


COMPLETE: list[Any] = [
    pytest.param(
        {"output": "It holds 'it might be done'.", "said": "It holds 'x'."}, ("verified_file",),
        id="P15 a word of guess that is data",
    ),
    pytest.param(
        {"output": 'Wrote the question "Which one?"', "said": 'Wrote the question "x"'}, ("verified_file",),
        id="P15 a question that is data asks nobody",
    ),
    pytest.param({"verified": (README, File("b", False))}, ("verified_file",), id="P31 one exists, one does not"),
    pytest.param({"verified": (), "ordered_deletions": ("old",)}, ("ordered_deletion",), id="P8 ordered deletion"),
    pytest.param(
        {"verified": (), "ordered_deletions": ("old",), "claimed_files": ("./old",)},
        ("ordered_deletion",), id="P8 a claimed file that was to be deleted is not missing",
    ),
    pytest.param({"task_type": "READ_INFO", "verified": (), "output": "Layers."}, ("answer",), id="P8 answer"),
    pytest.param({"task_type": "REPORT", "verified": (), "output": "Fine."}, ("answer",), id="P8 report"),
    pytest.param(
        {"task_type": "REPORT", "output": "See the file."}, ("verified_file", "answer"), id="both a file and an answer",
    ),
    pytest.param(
        {"task_type": "READ_INFO", "verified": (), "output": "It might be the cache."},
        ("answer",), id="P15 a careful answer claims no completion",
    ),
    pytest.param({"verified": (File("a.py", True),), "tests": "passed"}, ("verified_file",), id="P11 tests passed"),
    pytest.param({"verified": (File("a.py", True),), "tests_required": False}, ("verified_file",), id="P11 off"),
    pytest.param({"task_type": "LIGHT_EDIT", "verified": (File("a.py", True),)}, ("verified_file",), id="P11 no edits"),
    pytest.param({"tests": "none"}, ("verified_file",), id="P11 documentation is exempt"),
    pytest.param({"claimed_files": ("./README.md",)}, ("verified_file",), id="P31 a claim in another spelling"),
    pytest.param({"exit_code": None}, ("verified_file",), id="an executor without exit code"),
]  # fmt: skip


@pytest.mark.parametrize(("changed", "rules"), COMPLETE)
def test_p8_what_the_runner_verified_is_complete(changed: dict[str, Any], rules: tuple[str, ...]) -> None:
    verdict = judged(**changed)
    found = (verdict.executor_status, verdict.state, verdict.error_reason, verdict.question, verdict.rules)
    assert found == ("COMPLETE", "complete", None, None, rules)


@pytest.mark.parametrize("task_type", [*OTHER_TYPES, None, "UNKNOWN_TYPE"])
@pytest.mark.parametrize("output", ["", "Which file?", "It waits"])
def test_inv2_only_dangerous_work_is_blocked(task_type: str | None, output: str) -> None:
    verdict = judged(task_type=task_type, status="BLOCKED", output=output)
    expected = blocked_output.guarded(output, task_type)
    assert (verdict.executor_status, verdict.state, verdict.error, verdict.output, bool(expected.strip())) == (
        "INCOMPLETE", "incomplete", expected, expected, True,
    )  # fmt: skip


def test_inv2_a_dangerous_task_stays_blocked_with_its_question() -> None:
    verdict = judged(task_type="DANGEROUS_OP", status="BLOCKED", output="")
    question = blocked_output.QUESTIONS["dangerous"]
    assert (verdict.executor_status, verdict.state, verdict.question, verdict.output) == (
        "BLOCKED", "incomplete", question, question,
    )  # fmt: skip


ASKS: list[Any] = [
    pytest.param({"status": "BLOCKED", "output": "a? b?"}, "b?", id="blocked, the last question is asked"),
    pytest.param({"status": "BLOCKED", "task_type": "DANGEROUS_OP"}, blocked_output.QUESTIONS["dangerous"],
    id="dangerous"),
    pytest.param(
        {"status": "BLOCKED", "task_type": "REPORT", "output": "", "blocked_reason": "TIMEOUT"},
        blocked_output.QUESTIONS["blocked_timeout"], id="blocked for a time",
    ),
    pytest.param({"status": "INCOMPLETE", "output": "Which file?"}, "Which file?", id="unfinished and asks"),
    pytest.param(
        {"status": "INCOMPLETE", "output": "", "task_type": "READ_INFO"},
        blocked_output.QUESTIONS["default"], id="INV-6 unfinished without output",
    ),
    pytest.param({"output": "Made it. Shall I go on?"}, "Shall I go on?", id="the last word is a question"),
    pytest.param(
        {"output": "Which file? Tell me.", "verified": ()}, "Which file?", id="a question, and nothing verified",
    ),
    pytest.param({"status": "NO_EVIDENCE", "output": "Which?"}, "Which?", id="no evidence and asks"),
    pytest.param(
        {"output": "Which folder? Tell me.", "targets_unmet": ("x.md",)}, "Which folder?",
        id="a question, and the ordered file is missing",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("changed", "question"), ASKS)
def test_inv6_where_somebody_can_answer_the_one_question_is_asked(changed: dict[str, Any], question: str) -> None:
    verdict = judged(interactive=True, **changed)
    assert (verdict.state, verdict.question) == ("awaiting_response", question)


@pytest.mark.parametrize(("changed", "question"), ASKS)
def test_s10_where_nobody_can_answer_the_run_is_incomplete_and_keeps_the_question(
    changed: dict[str, Any], question: str
) -> None:
    verdict = judged(**changed)
    assert (verdict.state, verdict.question) == ("incomplete", question)


def test_inv6_without_a_question_nobody_is_asked() -> None:
    assert status_and_state(status="INCOMPLETE", output="Half of it.", interactive=True) == ("INCOMPLETE", "incomplete")


def test_a_question_within_an_answer_is_part_of_it() -> None:
    output = "Why? Because of the cache."
    assert judged(task_type="READ_INFO", verified=(), output=output).executor_status == "COMPLETE"


def test_p35_a_clock_is_told_in_the_unit_of_its_setting() -> None:
    verdict = judged(executor_blocked=True, blocked_reason="TIMEOUT", timeout_ms=30_000, limit="task_limits.seconds")
    assert verdict.why == "The executor was ended by task_limits.seconds of 30 s."


@pytest.mark.parametrize(
    ("reason", "name", "why", "cause"),
    [
        pytest.param(
            "TIMEOUT", "blocked_timeout", "The executor was ended by executor_timeout_ms of 60000 ms.", "timeout",
            id="timeout",
        ),
        pytest.param(
            "INTERACTIVE_PROMPT", "blocked_interactive", "The executor asked for input, and nobody can give it.", None,
            id="prompt",
        ),
    ],
)  # fmt: skip
def test_p34_p35_the_fallback_is_the_hint_of_an_executor_that_hung(
    reason: str, name: str, why: str, cause: str | None
) -> None:
    verdict = judged(
        task_type="READ_INFO", executor_blocked=True, blocked_reason=reason,
        timeout_ms=60_000, limit="executor_timeout_ms",
    )  # fmt: skip
    assert (verdict.hint, verdict.why, verdict.cause) == (blocked_output.QUESTIONS[name], why, cause)


def test_p39_what_was_deleted_is_told_beside_what_was_made() -> None:
    why = "1 file verified on the disk; deleted as ordered: a, b, c and 1 more."
    assert judged(ordered_deletions=("a", "b", "c", "d")).why == why


def test_denied_tools_are_listed_as_a_hard_blocker() -> None:
    verdict = judged(denied_tools=("Write", "Bash", "Edit", "Read"))
    why = "The executor was not allowed to use Write, Bash, Edit and 1 more."
    assert (verdict.why, verdict.cause) == (why, "permission_denied")


def test_the_cause_that_the_executor_knows_is_kept() -> None:
    assert judged(status="ERROR", cause="mcp_transient").cause == "mcp_transient"


ADAPTED = "The runner's own adapter of command failed: OSError: x"


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (None, "The executor reported an error."),
        ("NOT_LOGGED_IN: no login.\nmore", "The executor reported an error: NOT_LOGGED_IN: no login."),
        ("x" * 200, f"The executor reported an error: {'x' * 159}…"),
        (ADAPTED, ADAPTED),
    ],
    ids=["none", "several lines", "long", "the executor reported nothing"],
)
def test_an_error_is_told_in_one_line(error: str | None, why: str) -> None:
    verdict = judged(status="ERROR", error=error)
    assert (verdict.why, verdict.error) == (why, error or why)


def test_every_objection_is_named_and_the_first_decides() -> None:
    verdict = judged(exit_code=2, evidence_missing=("op",), tests="failed")
    assert (verdict.error_reason, verdict.rules) == ("exit_code", ("exit_code", "evidence_missing", "tests_failed"))


def test_every_rule_has_a_row() -> None:
    named = {row.values[3] for row in ROWS} | {"blocked", "question"}
    assert named == {rule.name for rule in judgement.RULES} | {"nothing_verified"}


def test_p31_modified_files_are_those_that_exist() -> None:
    assert count_modified((README, File("b", False), File("c", True, CLAIM))) == 1


texts = st.text(max_size=20) | st.sampled_from(["", "done", "Probably done.", "Which?", "All tests pass, COMPLETE!"])
few = st.lists(st.sampled_from(["a", "b.py", "README.md"]), max_size=2).map(tuple)
files = st.builds(File, st.sampled_from(["a", "b.py", "README.md"]), st.booleans(), st.sampled_from([DIFF, CLAIM]))
mostly_none = st.just(()) | st.just(()) | few
anything: st.SearchStrategy[Facts] = st.builds(
    Facts,
    task_type=st.sampled_from([*task_types.TYPES, None, "OTHER"]),
    status=st.sampled_from(["COMPLETE", "COMPLETE", "COMPLETE", *states.EXECUTOR_STATUSES, "DONE"]),
    output=st.none() | texts,
    exit_code=st.sampled_from([0, 0, None, 1, -9]),
    session=st.sampled_from(["s", "s", "s", "other", None]),
    issued_session=st.just("s"),
    claimed_files=mostly_none,
    verified=st.lists(files, max_size=3).map(tuple),
    ordered_deletions=mostly_none,
    targets_unmet=mostly_none,
    unverifiable=mostly_none,
    foreign=mostly_none,
    unapproved=mostly_none,
    evidence_missing=mostly_none,
    evidence_faults=st.just(()) | st.just((("E304", "Changed."),)),
    tests=st.sampled_from([None, "passed", "failed", "none", "?"]),
    tests_required=st.booleans(),
    violations=mostly_none,
    error=st.none() | st.none() | texts,
    denied_tools=mostly_none,
    background=st.sampled_from([False, False, True]),
    executor_blocked=st.sampled_from([False, False, True]),
    blocked_reason=st.sampled_from([None, None, "TIMEOUT", "INTERACTIVE_PROMPT", "X"]),
    signal=st.sampled_from([None, None, 15]),
    cancelled=st.sampled_from([False, False, True]),
    interactive=st.booleans(),
    leftovers=mostly_none,
    log_error=st.sampled_from([None, None, None, "", "Disk full."]),
)


def proven(facts: Facts) -> bool:
    """What P8 demands, in other words than the rules."""
    changed = {file.path for file in facts.verified if file.exists and file.method == DIFF}
    there = {file.path for file in facts.verified if file.exists} | set(facts.ordered_deletions)
    answered = facts.task_type in ("READ_INFO", "REPORT") and bool((facts.output or "").strip())
    return all(
        (
            changed or facts.ordered_deletions or answered,
            set(facts.claimed_files) <= there and not facts.targets_unmet,
            facts.status == "COMPLETE",
            facts.exit_code in (0, None) and facts.signal is None,
            facts.session == facts.issued_session,
            facts.tests in (None, "passed", "none"),
            not (facts.evidence_missing or facts.evidence_faults or facts.foreign or facts.unverifiable),
            not facts.unapproved,
            not (facts.violations or facts.denied_tools or facts.leftovers or facts.background),
            not (facts.executor_blocked or facts.cancelled) and facts.log_error is None,
        )
    )


@given(anything)
@example(GOOD)
def test_p8_no_facts_without_proof_give_complete(facts: Facts) -> None:
    verdict = judgement.judge(facts)
    assert (verdict.executor_status, verdict.state) != ("COMPLETE", "complete") or proven(facts)
    assert (verdict.executor_status == "COMPLETE") == (verdict.state == "complete")


@given(anything, texts)
def test_p1_no_words_of_an_executor_make_more_of_a_run_that_changed_nothing(facts: Facts, said: str) -> None:
    nothing = facts._replace(verified=(), ordered_deletions=(), task_type="IMPLEMENTATION", output=said)
    assert judgement.judge(nothing).executor_status != "COMPLETE"


@given(anything)
def test_inv1_inv2_blocked_is_dangerous_and_asks(facts: Facts) -> None:
    verdict = judgement.judge(facts)
    asks = verdict.executor_status != "BLOCKED" or (facts.task_type == "DANGEROUS_OP" and bool(verdict.question))
    assert (asks, verdict.state != "awaiting_response" or bool(verdict.question)) == (True, True)


@given(anything)
def test_p9_p26_every_verdict_is_known_and_says_why(facts: Facts) -> None:
    verdict = judgement.judge(facts)
    known = (
        verdict.executor_status in states.EXECUTOR_STATUSES,
        verdict.state in (*states.TERMINAL, "awaiting_response"),
        verdict.code is None or verdict.code in codes.CODES,
        bool(verdict.error_reason) or verdict.state == "complete",
        bool(verdict.why and verdict.rules),
        facts.interactive or verdict.state != "awaiting_response",
    )
    assert known == (True,) * 6


@pytest.mark.parametrize(
    ("facts", "status", "why"),
    [
        pytest.param({"task_type": "READ_INFO"}, "COMPLETE", "1 file verified on the disk.", id="something changed"),
        pytest.param({"task_type": "READ_INFO", "verified": (), "output": "Yes."}, "COMPLETE", "The answer was given.",
                     id="nothing changed"),
        pytest.param({"task_type": "READ_INFO", "targets_unmet": ("a.md was not changed",)}, "INCOMPLETE",
                     "a.md was not changed.", id="something else changed than the task mentions"),
        pytest.param({"task_type": "READ_INFO", "targets_unmet": ("a.md was not changed",), "verified": (),
                      "output": "Yes."}, "COMPLETE", "The answer was given.", id="an answer about a file"),
    ],
)  # fmt: skip
def test_p8_a_guessed_type_is_judged_by_what_changed(facts: dict[str, Any], status: str, why: str) -> None:
    verdict = judged(guessed=True, **facts)
    assert (verdict.executor_status, verdict.why) == (status, why)


def test_p8_where_nothing_changed_the_verdict_says_so() -> None:
    verdict = judged(verified=(), targets_unmet=("a.md was not changed",), untouched=("a.md",))
    assert (verdict.executor_status, verdict.why) == (
        "NO_EVIDENCE", "No file changed. Mentioned and not touched: a.md.",
    )  # fmt: skip


@pytest.mark.parametrize("exit_code", [0, 3])
def test_p10_what_is_mentioned_or_touched_alone_stands_in_every_verdict(exit_code: int) -> None:
    verdict = judged(
        exit_code=exit_code, untouched=("data.csv",), unmentioned=("a", "b", "c", "d"), stray=("old.md",)
    )
    assert verdict.why.endswith(
        "Mentioned and not touched: data.csv. Touched and not mentioned: a, b, c and 1 more."
        " Deleted and not ordered: old.md."
    )


def test_a_folder_that_was_made_is_what_was_ordered() -> None:
    assert judged(verified=(), folders=("out",)).why == "Made as ordered: out."


@pytest.mark.parametrize(("task_type", "status"), [("LIGHT_EDIT", "COMPLETE"), ("DANGEROUS_OP", "INCOMPLETE")])
def test_p8_a_deletion_that_the_task_orders_without_a_name_is_told(task_type: str, status: str) -> None:
    verdict = judged(task_type=task_type, verified=(), unnamed=True, stray=("src/dead.py",))
    assert (verdict.executor_status, "src/dead.py" in verdict.why) == (status, True)


@given(anything)
def test_the_same_facts_give_the_same_verdict(facts: Facts) -> None:
    assert judgement.judge(facts) == judgement.judge(Facts(*facts))


@given(anything)
def test_p8_objections_alone_or_a_ground_decide(facts: Facts) -> None:
    spoken = [rule for rule in judgement.RULES if rule.objection(facts) is not None]
    complete = judgement.judge(facts).executor_status == "COMPLETE"
    assert complete == (not spoken and bool(judgement.grounds(facts)))


def test_judging_takes_linear_time() -> None:
    assert growth.is_even(lambda output: judged(output=output), "Is it done? ", 10_000)


def test_p31_why_a_claim_cannot_be_verified_is_told() -> None:
    verdict = judged(
        claimed_files=("/srv/x.md", "out.md"), unverifiable=("'/srv/x.md'", "out.md"),
        claim_problems=("it lies outside of the project", "a link leads out of the project"),
    )  # fmt: skip
    assert (verdict.error_reason, verdict.why) == (
        "unverifiable_claim",
        "Claimed but not to be verified: '/srv/x.md' (it lies outside of the project), out.md (a link leads out of the"
        " project).",
    )  # fmt: skip


def test_P8_where_events_tell_that_all_background_work_is_finished_the_words_of_the_answer_are_not_asked() -> None:
    words = "The job is still running in production, as it has to."
    assert judged(task_type="REPORT", output=words).executor_status == "INCOMPLETE"
    assert judged(task_type="REPORT", output=words, background=False).executor_status == "COMPLETE"


def test_P8_unfinished_background_work_is_named() -> None:
    verdict = judged(background=True, unfinished=("npm test (stopped)",))
    assert verdict.why == "The executor left work unfinished in the background: npm test (stopped)."


@pytest.mark.parametrize(
    ("error", "why"),
    [
        ("NOT_LOGGED_IN: Please run /login", "NOT_LOGGED_IN: Please run /login"),
        ("EXIT_STATUS: the program ended with status 1: no such flag",
         "The executor ended with exit code 1: no such flag"),
        ("EXIT_STATUS: the program ended with status 1", "The executor ended with exit code 1."),
        ("EXIT_STATUS: it fails", "The executor ended with exit code 1: it fails"),
        (None, "The executor ended with exit code 1."),
    ],
)  # fmt: skip
def test_P39_the_reason_of_a_failure_is_the_executor_s_own(error: str | None, why: str) -> None:
    verdict = judged(status="ERROR", exit_code=1, error=error)
    assert (verdict.executor_status, verdict.rules[0], verdict.code, verdict.why) == ("ERROR", "exit_code", "E503", why)


def test_what_an_executor_said_ends_before_what_was_not_touched_is_named() -> None:
    why = judged(verified=(), exit_code=3, error="nothing done", untouched=("a.md",)).why
    assert why.endswith("nothing done. Mentioned and not touched: a.md.")
