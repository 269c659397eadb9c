"""Every check of the validator, with a snapshot that it accepts and one that it does not."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core.validation import checks, criteria
from orchestrator.core.validation.snapshot import (
    Criterion,
    Finding,
    Group,
    Measured,
    Merge,
    Proof,
    Ran,
    RuleChange,
    Snapshot,
)

GROUP = Group(
    id="A", kind="code", status="completed", awaited_role=None, held=None, chain=True, pm_path=False, missing=None,
    reviewed=True, confirmed=True, unblocked=True, ever_blocked=False, acknowledged=None, reason="",
)  # fmt: skip
CRITERION = Criterion("C1", "it is documented", "met", None, None, None, None, None, "S1:R5", "read",
                      "project_manager", True)  # fmt: skip
MEASURED = CRITERION._replace(status="open", metric="coverage", operator="ge", target="80", actual="80", evidence=None)
COMMANDED = CRITERION._replace(status="open", command=("pytest", "-q"), evidence=None)
GOOD = Snapshot(
    session="S1", kind="orchestration", status="active", testing_mode="full", head="9:ab", groups=(GROUP,),
    confirmation_seq=8, last_manager_seq=8, last_manager_status="BAZINGA", reports_after=(), open_blockers=(),
    open_questions=(), criteria=(CRITERION,), scope_changes=(), gaps=(), chain=(), guards=(), loosened=(),
    mandatory=(), roles=(), human_acts=(), evidence=(), dropped=(),
)  # fmt: skip
FOUND = (Finding("X", "is so"),)
RULES = RuleChange("step 4", "other rules", differs=True, confirmed=True, older=False)

Row = tuple[str, str, dict[str, Any], list[tuple[str, str]]]


def lines(check: str, snapshot: Snapshot) -> list[tuple[str, str]]:
    """What one check says: level and subject of each line."""
    return [(level, subject) for level, subject, _, _ in checks.CHECKS[check](snapshot)]


def group(**changes: Any) -> dict[str, Any]:
    return {"groups": (GROUP._replace(**changes),)}


ROWS: tuple[Row, ...] = (
    ("V01", "confirmed last", {}, []),
    ("V01", "never confirmed", {"confirmation_seq": None}, [("error", "project_manager")]),
    ("V01", "the manager said something else since", {"last_manager_seq": 9, "last_manager_status": "CONTINUE"},
     [("error", "project_manager")]),
    ("V01", "somebody reported since", {"reports_after": FOUND}, [("error", "X")]),
    ("V02", "completed", {}, []),
    ("V02", "no group", {"groups": ()}, [("error", "S1")]),
    ("V02", "nothing but deferred", group(status="deferred_external"), [("error", "S1")]),
    ("V02", "nothing but cancelled", group(status="cancelled"), [("error", "S1")]),
    ("V02", "pending", {"groups": (GROUP, GROUP._replace(id="B", status="pending"))}, [("error", "B")]),
    ("V02", "in progress", {"groups": (GROUP, GROUP._replace(id="B", status="in_progress"))}, [("error", "B")]),
    ("V02", "deferred beside completed", {"groups": (GROUP, GROUP._replace(id="B", status="deferred_external"))}, []),
    ("V02", "in progress on the manager's word", group(status="in_progress", chain=False, pm_path=True),
     [("warning", "A")]),
    ("V03", "a chain", {}, []),
    ("V03", "no path", group(chain=False, missing="merged"), [("error", "A")]),
    ("V03", "the manager's word", group(chain=False, pm_path=True, missing="merged"), [("warning", "A")]),
    ("V03", "imported as completed", group(chain=False, grandfathered=True), [("error", "A")]),
    ("V03", "imported and acknowledged", group(chain=False, grandfathered=True, acknowledged="looked at"),
     [("warning", "A")]),
    ("V03", "imported, with a finding", group(chain=False, grandfathered=True, acknowledged="x", imported=("odd",)),
     [("warning", "A"), ("warning", "A")]),
    ("V03", "not completed", group(status="in_progress", chain=False), []),
    ("V04", "never blocked", group(confirmed=False), []),
    ("V04", "blocked, resolved, confirmed", group(ever_blocked=True), []),
    ("V04", "not resolved", group(ever_blocked=True, unblocked=False), [("error", "A")]),
    ("V04", "not confirmed", group(ever_blocked=True, confirmed=False), [("error", "A")]),
    ("V04", "in progress, neither", group(status="in_progress", ever_blocked=True, unblocked=False, confirmed=False),
     [("error", "A"), ("error", "A")]),
    ("V04", "confirmed by the manager's word", group(ever_blocked=True, confirmed=False, pm_path=True), []),
    ("V04", "deferred", group(status="deferred_external", ever_blocked=True, unblocked=False, confirmed=False), []),
    ("V05", "acknowledged", group(status="deferred_external", acknowledged="no environment"), [("info", "A")]),
    ("V05", "not acknowledged", group(status="deferred_external"), [("error", "A")]),
    ("V05", "cancelled with a reason", group(status="cancelled", reason="out of scope"), []),
    ("V05", "cancelled without", group(status="cancelled", reason="  "), [("error", "A")]),
    ("V05", "a dropped dependency", {"dropped": FOUND}, [("info", "X")]),
    ("V06", "whole", {}, []),
    ("V06", "a gap", {"gaps": FOUND}, [("error", "X")]),
    ("V07", "nothing open", {}, []),
    ("V07", "a blocker", {"open_blockers": FOUND}, [("error", "X")]),
    ("V07", "a question", {"open_questions": FOUND}, [("error", "X")]),
    ("V08", "met with evidence", {}, []),
    ("V08", "none at all", {"criteria": ()}, [("warning", "S1")]),
    ("V08", "open", {"criteria": (CRITERION._replace(status="open"),)}, [("error", "C1")]),
    ("V08", "met without evidence", {"criteria": (CRITERION._replace(evidence=None),)}, [("error", "C1")]),
    ("V08", "evidence that does not exist", {"criteria": (CRITERION._replace(evidence_exists=False),)},
     [("error", "C1")]),
    *(
        ("V08", name, {"criteria": (CRITERION._replace(group=of, proof=proof),)}, [(level, "C1")] if level else [])
        for name, of, proof, level in (
            ("evidence that a test passed", None, Proof(True, "qa_expert", "PASS", "test_pass", "A"), ""),
            ("evidence that a test failed", None, Proof(True, "qa_expert", "FAIL", "test_fail", "A"), "error"),
            ("evidence that is blocked", None, Proof(True, "developer", "BLOCKED", "block", "A"), "error"),
            ("a rejection as evidence", None, Proof(True, "tech_lead", "CHANGES_REQUESTED", "reject", "A"), "error"),
            ("a verdict against it", None, Proof(True, "validator", "REJECT", "none"), "error"),
            ("a verdict for it", None, Proof(True, "validator", "ACCEPT", "none"), ""),
            ("a command that passed", None, Proof(False, "command", "exit 0"), ""),
            ("a command that failed", None, Proof(False, "command", "exit 1"), "error"),
            ("a gate, which failed", None, Proof(False, "gate", "exit 0", None, "A"), "error"),
            ("evidence of its group", "A", Proof(True, "qa_expert", "PASS", "test_pass", "A"), ""),
            ("evidence of another group", "A", Proof(True, "qa_expert", "PASS", "test_pass", "B"), "error"),
            ("evidence of earlier work", None, Proof(True, "qa_expert", "PASS", "test_pass", "A", True), "warning"),
            ("the manager's own word", None, Proof(True, "project_manager", "CONTINUE", "continue"), "warning"),
        )
    ),
    ("V08", "deferred", {"criteria": (CRITERION._replace(status="deferred"),)}, [("info", "C1")]),
    ("V08", "deferred without a word", {"criteria": (CRITERION._replace(status="deferred", reason=" "),)},
     [("error", "C1")]),
    ("V08", "computed", {"criteria": (MEASURED, COMMANDED)}, []),
    ("V08", "a change of scope", {"scope_changes": FOUND}, [("info", "X")]),
    ("V09", "reached", {"criteria": (MEASURED,)}, [("info", "C1")]),
    ("V09", "missed", {"criteria": (MEASURED._replace(actual="79.999"),)}, [("error", "C1")]),
    ("V09", "no value", {"criteria": (MEASURED._replace(actual=None),)}, [("error", "C1")]),
    ("V09", "deferred", {"criteria": (MEASURED._replace(actual=None, status="deferred"),)}, []),
    ("V09", "a value that its evidence contradicts",
     {"criteria": (MEASURED._replace(evidence="S1:R5", proof=Proof(True, "qa_expert", "FAIL", "test_fail", "A")),)},
     [("info", "C1"), ("error", "C1")]),
    ("V10", "exit 0", {"criteria": (COMMANDED,), "ran": (Ran("C1", 0, "exit 0"),)}, [("info", "C1")]),
    ("V10", "exit 1", {"criteria": (COMMANDED,), "ran": (Ran("C1", 1, "exit 1"),)}, [("error", "C1")]),
    ("V10", "exit 5", {"criteria": (COMMANDED,), "ran": (Ran("C1", 5, "exit 5"),)}, [("error", "C1")]),
    ("V10", "killed", {"criteria": (COMMANDED,), "ran": (Ran("C1", None, "killed"),)}, [("error", "C1")]),
    ("V10", "not run", {"criteria": (COMMANDED,)}, [("error", "C1")]),
    ("V10", "another's success", {"criteria": (COMMANDED,), "ran": (Ran("C2", 0, "exit 0"),)}, [("error", "C1")]),
    ("V10", "deferred", {"criteria": (COMMANDED._replace(status="deferred"),)}, []),
    ("V11", "reviewed", {"mandatory": FOUND}, [("info", "X")]),
    ("V11", "a review is owed", group(reviewed=False), [("error", "A")]),
    ("V11", "owed, but cancelled", group(reviewed=False, status="cancelled"), []),
    ("V11", "loosened", {"loosened": FOUND}, [("warning", "X")]),
    ("V12", "tasks done", {}, []),
    ("V12", "a task", {"tasks": FOUND}, [("error", "X")]),
    ("V13", "verifies", {}, []),
    ("V13", "a broken step", {"chain": FOUND}, [("error", "X")]),
    ("V13", "a missing guard", {"guards": FOUND}, [("error", "X")]),
    ("V13", "a repair", {"repairs": FOUND}, [("warning", "X")]),
    ("V14", "roles held", {"human_acts": FOUND}, [("info", "X")]),
    ("V14", "a stranger", {"roles": FOUND}, [("error", "X")]),
    ("V15", "evidence stands", {}, []),
    ("V15", "evidence does not", {"evidence": FOUND}, [("error", "X")]),
    ("V16", "merged", {"merges": (Merge("A", "ab12", True, "it is in main"),)}, []),
    ("V16", "merged long ago", {"merges": (Merge("A", "ab12", True, "it is in main", True),)}, [("warning", "A")]),
    ("V16", "not merged", {"merges": (Merge("A", "ab12", False, "it is not"),)}, [("error", "A")]),
    ("V16", "unseen", {"merges": (Merge("A", "ab12", None, "no repository"),)}, [("warning", "A")]),
    ("V16", "unnamed", {"merges": (Merge("A", None, None, "none is named"),)}, [("warning", "A")]),
    ("V16", "went past QA", group(skipped_qa=True), [("info", "A")]),
    ("V17", "a gate that failed", {"gates": (Finding("A", "gate C1 did not pass"),)}, [("warning", "A")]),
    ("V17", "seen", {"measured": (Measured("A", "merge", "merged"), Measured("A", "submit_test", None, True))}, []),
    ("V17", "a difference", {"measured": (Measured("A", "submit_test", None, True, ("x",)),)}, [("warning", "A")]),
    ("V17", "a merge that nobody saw", {"measured": (Measured("A", "merge"),)}, [("error", "A")]),
    ("V17", "nothing to merge", {"measured": (Measured("A", "merge", "nothing_to_merge"),)}, [("warning", "A")]),
    ("V17", "nothing changed", {"measured": (Measured("A", "submit_test", None, False),)}, [("warning", "A")]),
    ("V18", "the version that it began with", {"workflow": FOUND}, [("info", "X")]),
    ("V18", "begun with rules that no person made active", {"unvouched_workflow": FOUND}, [("warning", "X")]),
    ("V18", "other texts", {"rule_changes": (RULES._replace(differs=False, confirmed=False),)}, [("info", "step 4")]),
    ("V18", "other rules, confirmed", {"rule_changes": (RULES,)}, [("warning", "step 4")]),
    ("V18", "other rules, confirmed by nobody", {"rule_changes": (RULES._replace(confirmed=False),)},
     [("error", "step 4")]),
    ("V18", "the same, before anybody was asked", {"rule_changes": (RULES._replace(confirmed=False, older=True),)},
     [("warning", "step 4")]),
)  # fmt: skip


def test_the_one_confirmation_that_is_suggested_names_every_group_that_needs_a_word() -> None:
    """As only the last one counts, two that name one group each would never be enough."""
    groups = {
        "CHAIN": GROUP,
        "UNCONFIRMED": GROUP._replace(ever_blocked=True, confirmed=False),
        "CONFIRMED": GROUP._replace(ever_blocked=True),
        "BLOCKED": GROUP._replace(ever_blocked=True, confirmed=False, unblocked=False),
        "DEFERRED": GROUP._replace(status="deferred_external"),
        "KNOWN": GROUP._replace(status="deferred_external", acknowledged="no environment"),
        "WORD": GROUP._replace(status="in_progress", chain=False, pm_path=True, acknowledged="my word"),
        "DROPPED": GROUP._replace(status="cancelled", ever_blocked=True, confirmed=False, reason="no more"),
        "LATER": GROUP._replace(status="pending", ever_blocked=True, confirmed=False),
        "IMPORTED": GROUP._replace(ever_blocked=True, confirmed=False, grandfathered=True),
    }
    snapshot = GOOD._replace(
        groups=tuple(group._replace(id=id) for id, group in groups.items()), last_manager_status="REWORK",
        last_manager_seq=None, reports_after=FOUND,
    )  # fmt: skip
    named = " ".join(f"--acknowledge {id}=REASON" for id in ("UNCONFIRMED", "DEFERRED", "KNOWN", "WORD", "IMPORTED"))
    confirm = f"orchestrator route project_manager BAZINGA --session-id {snapshot.session} {named}"
    verdict = checks.validate(snapshot)
    hinted = [line for line in verdict.checks if line.id in ("V03", "V04", "V05") and line.hint]
    of = [(line.id, line.subject, line.hint) for line in hinted]
    why = f"orchestrator why BLOCKED --session-id {snapshot.session}"
    assert of == [
        ("V03", "IMPORTED", confirm),
        ("V04", "UNCONFIRMED", confirm), ("V04", "BLOCKED", why), ("V04", "BLOCKED", why), ("V05", "DEFERRED", confirm),
    ]  # fmt: skip
    late = snapshot._replace(confirmation_seq=1, last_manager_seq=1)
    hints = {line.hint for each in (snapshot, late) for line in checks.validate(each).checks if line.id == "V01"}
    assert hints == {confirm}


@pytest.mark.parametrize(
    ("check", "changes", "said"), [(row[0], *row[2:]) for row in ROWS], ids=[f"{row[0]} {row[1]}" for row in ROWS]
)
def test_a_check_says(check: str, changes: dict[str, Any], said: list[tuple[str, str]]) -> None:
    snapshot = GOOD._replace(**changes)
    assert lines(check, snapshot) == said
    rejected = any(level == "error" for level, _ in said)
    errors = {line.id for line in checks.validate(snapshot).checks if line.level == "error"}
    assert (check in errors) is rejected


def test_the_checks_are_those_of_the_table_and_each_has_a_bad_row() -> None:
    assert list(checks.CHECKS) == [f"V{number:02}" for number in range(1, 19)]
    assert {row[0] for row in ROWS if ("error" in {level for level, _ in row[3]})} == set(checks.CHECKS)
    assert {row[0] for row in ROWS if "error" not in {level for level, _ in row[3]}} == set(checks.CHECKS)


@pytest.mark.parametrize(
    ("imported", "others", "first"),
    [
        (1, 0, "1 of 1 completed group is only imported; "),
        (1, 2, "1 of 3 completed groups is only imported; "),
        (2, 1, "2 of 3 completed groups are only imported; "),
        (0, 1, ""),
    ],
)
@pytest.mark.parametrize("word", [None, "looked at"])
def test_a_verdict_says_first_how_much_is_only_imported(
    imported: int, others: int, first: str, word: str | None
) -> None:
    came = GROUP._replace(chain=False, grandfathered=True, acknowledged=word)
    groups = [came._replace(id=f"I{n}") for n in range(imported)] + [GROUP._replace(id=f"G{n}") for n in range(others)]
    verdict = checks.validate(GOOD._replace(groups=tuple(groups)))
    accepted = word is not None or not imported
    rest = "V03 (" if not accepted else "every check passed"
    assert (verdict.verdict == "ACCEPT", verdict.reason.startswith(first + rest)) == (accepted, True)
    assert verdict.imported == tuple(f"I{n}" for n in range(imported))


def test_a_good_session_is_accepted() -> None:
    verdict = checks.validate(GOOD)
    assert (verdict.verdict, verdict.reason, verdict.completes) == ("ACCEPT", "every check passed", ())


def test_an_accept_counts_its_warnings_and_names_what_it_completes() -> None:
    word = GROUP._replace(id="B", status="in_progress", chain=False, pm_path=True, acknowledged="my word", missing="m")
    verdict = checks.validate(GOOD._replace(groups=(GROUP, word)))
    assert (verdict.verdict, verdict.reason) == ("ACCEPT", "every check passed, with 1 warning")
    assert verdict.completes == ("B",)
    (line,) = [line for line in verdict.checks if line.level == "warning"]
    assert (line.id, line.subject, "my word" in line.message) == ("V02", "B", True)


def test_every_check_runs_although_the_first_fails_and_a_reject_completes_nothing() -> None:
    word = GROUP._replace(id="B", status="in_progress", chain=False, pm_path=True)
    bad = GOOD._replace(confirmation_seq=None, open_questions=FOUND, evidence=FOUND, groups=(GROUP, word))
    verdict = checks.validate(bad)
    assert verdict.reason == "V01 (project_manager), V07 (X), V15 (X)"
    assert (verdict.verdict, verdict.completes) == ("REJECT", ())


def test_a_reason_names_a_few_subjects_and_counts_the_rest() -> None:
    many = tuple(GROUP._replace(id=f"G{number}", status="pending") for number in range(12))
    verdict = checks.validate(GOOD._replace(groups=(GROUP, *many)))
    assert verdict.reason == f"V02 ({', '.join(f'G{number}' for number in range(10))} and 2 more)"
    assert sum(line.level == "error" for line in verdict.checks) == 12


def test_a_verdict_is_plain_json() -> None:
    found = checks.validate(GOOD._replace(criteria=())).to_json()
    assert found == {
        "verdict": "ACCEPT",
        "reason": "every check passed, with 1 warning",
        "checks": [{"id": "V08", "level": "warning", "subject": "S1", "message": "the session has no success criteria",
                    "hint": "orchestrator criterion add ID --session-id S1 --text TEXT"}],
        "completes": [],
        "imported": [],
    }  # fmt: skip


@given(st.data())
def test_the_verdict_is_accept_exactly_where_no_line_is_an_error(data: st.DataObject) -> None:
    changes: dict[str, Any] = {}
    for row in data.draw(st.lists(st.sampled_from(ROWS), max_size=6)):
        changes |= row[2]
    verdict = checks.validate(GOOD._replace(**changes))
    assert (verdict.verdict == "ACCEPT") is not any(line.level == "error" for line in verdict.checks)
    assert [line.id for line in verdict.checks] == sorted(line.id for line in verdict.checks)


# Numbers


@pytest.mark.parametrize(
    ("operator", "below", "same", "above"),
    [
        ("ge", False, True, True), ("gt", False, False, True), ("le", True, True, False), ("lt", True, False, False),
        ("eq", False, True, False),
    ],
)  # fmt: skip
def test_an_operator_compares(operator: str, below: bool, same: bool, above: bool) -> None:
    def met(actual: str) -> bool:
        return criteria.OPERATORS[operator](criteria.number(actual), criteria.number("80"))

    assert (met("79.9999999999999999999"), met("80.0"), met("8.00001e1")) == (below, same, above)


@pytest.mark.parametrize("text", [None, "", " ", "NaN", "nan", "sNaN", "Infinity", "-inf", "1_000", "0x10", "٣", "1,5",
                                  "80%", "--1", "1e1000", "1" * 41, "."])  # fmt: skip
def test_what_is_no_number_is_none(text: str | None) -> None:
    assert criteria.number(text) is None
    (line,) = criteria.compare(MEASURED._replace(actual=text), "S1")
    assert line[0] == "error"


@pytest.mark.parametrize(
    ("metric", "operator", "target", "fits"),
    [
        ("coverage", "ge", "80.5", True),
        ("errors", "le", "0", True),
        ("errors", "eq", "0", True),
        ("errors", "lt", "0", False),
        ("coverage", "ge", "-1", False),
        ("coverage", "ge", "NaN", False),
        ("coverage", "ge", "Infinity", False),
        ("coverage", "ge", "-Infinity", False),
        ("coverage", "ge", "", False),
        ("coverage", "about", "80", False),
        ("latency_change_percent", "le", "-10", True),
        ("sizeDelta", "lt", "0", True),
        ("exchange", "ge", "-1", False),
    ],
)
def test_a_target_fits_its_metric(metric: str, operator: str, target: str, fits: bool) -> None:
    assert (criteria.unfit_target(metric, operator, target) is None) is fits


@pytest.mark.parametrize(
    ("command", "status", "why"),
    [
        (("pytest", "-q"), 5, "its command ended with 5 (pytest: no tests were collected)"),
        ((".venv/bin/python", "-m", "pytest"), 5, "its command ended with 5 (pytest: no tests were collected)"),
        (("sh", "-c", "exit 5"), 5, "its command ended with 5"),
        (("pytest", "-q"), 1, "its command ended with 1"),
    ],
)
def test_what_5_means_is_said_of_pytest_alone(command: tuple[str, ...], status: int, why: str) -> None:
    criterion = COMMANDED._replace(command=command)
    ((_, _, said, _),) = criteria.judge(criterion, Ran("C1", status, f"exit {status}"), session="S1")
    assert said == why


@pytest.mark.parametrize(
    ("metric", "actual", "fits"),
    [
        ("open_bugs", "-1", False),
        ("latency_ms", "-0.001", False),
        ("open_bugs", "0", True),
        ("open_bugs", "-0", True),
        ("latency_change_percent", "-12", True),
        ("sizeDelta", "-3", True),
    ],
)
def test_a_measured_amount_is_never_below_zero(metric: str, actual: str, fits: bool) -> None:
    measured = MEASURED._replace(metric=metric, operator="le", target="0", actual=actual)
    (line,) = criteria.compare(measured, "S1")
    assert (criteria.unfit_actual(metric, actual) is None, line[0]) == (fits, "info" if fits else "error")


def test_the_command_of_a_criterion_is_shown_as_a_shell_takes_it() -> None:
    criterion = COMMANDED._replace(command=("sh", "-c", "make check; exit 5"))
    ((_, _, _, hint),) = criteria.judge(criterion, Ran("C1", 5, "exit 5"), session="S1")
    assert hint == "sh -c 'make check; exit 5'"


def test_a_word_of_a_command_that_cannot_be_shown_is_spelt() -> None:
    criterion = COMMANDED._replace(command=("sh", "-c", "make\nexit 5"))
    ((_, _, _, hint),) = criteria.judge(criterion, Ran("C1", 5, "exit 5"), session="S1")
    assert hint == "sh -c $'make\\x0aexit 5'"


def test_what_a_session_lacks_is_named_with_a_command_that_names_the_session() -> None:
    found = checks.validate(GOOD._replace(groups=(), criteria=())).checks
    assert {line.id: line.hint for line in found if line.subject == "S1"} == {
        "V02": "orchestrator group create ID --session-id S1",
        "V08": "orchestrator criterion add ID --session-id S1 --text TEXT",
    }


def test_a_manager_who_has_said_nothing_is_told_as_such() -> None:
    silent = GOOD._replace(confirmation_seq=None, last_manager_seq=None, last_manager_status=None)
    (line,) = (line for line in checks.validate(silent).checks if line.id == "V01")
    assert (line.level, line.subject, line.message) == ("error", "project_manager", "nothing was reported yet")
