"""What "complete" means: every row of the table of parts, each with its reason and the step that says so."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from orchestrator.store import constants, path_history
from tests.cases import every
from tests.integration.store import ledger
from tests.integration.store.ledger import BLOCKED_CHAIN, CHAIN, merged

BUILT = (("developer", "submit_test"), ("qa_expert", "test_pass"))


@pytest.fixture
def book(book: ledger.Ledger) -> ledger.Ledger:
    """With a group that was started."""
    book.group("G")
    return book


@pytest.fixture
def untested() -> Iterator[ledger.Ledger]:
    connection = ledger.empty()
    written = ledger.Ledger(connection, testing_mode="minimal")
    written.group("G")
    yield written
    connection.close()


def test_a_new_group_lacks_its_approval_first(book: ledger.Ledger) -> None:
    path = book.path()
    assert (path["chain"], path["pm_path"], path["valid"], path["missing"]) == (0, 0, 0, "approved")
    assert book.part("approved") == (0, "never", None)
    assert book.part("tested") == (0, "no_submission", None)
    assert book.part("merged") == (0, "never", None)
    assert book.part("unblocked") == (1, "clear", None)
    assert book.part("reviewed") == (1, "not_required", None)
    assert book.part("confirmed") == (1, "not_required", None)


def test_the_whole_chain_completes_a_group(book: ledger.Ledger) -> None:
    _, passed, approved, merge = book.reports(*CHAIN)
    path = book.path()
    assert (path["chain"], path["pm_path"], path["valid"], path["missing"]) == (1, 0, 1, None)
    assert book.part("approved") == (1, "approved", approved)
    assert book.part("tested") == (1, "test_pass", passed)
    assert book.part("merged") == (1, "merged", merge)
    assert path["awaiting_confirmation"] == 0
    book.complete("G")
    assert book.path()["status"] == "completed"


# --- approved


@pytest.mark.parametrize(
    "effect",
    "submit_test submit_review test_pass test_fail inconclusive reject merge_fail block guide escalate investigate"
    " progress plan continue resume clarify none made_up".split(),
)
def test_every_later_report_that_is_no_merge_voids_an_approval(book: ledger.Ledger, effect: str) -> None:
    book.report("tech_lead", "approve")
    later = book.report("developer", effect)
    assert book.part("approved") == (0, "voided", later)


def test_merges_leave_an_approval_standing(book: ledger.Ledger) -> None:
    approved = book.report("tech_lead", "approve")
    book.reports(("developer", "merge"), ("developer", "merge"))
    assert book.part("approved") == (1, "approved", approved)


@pytest.mark.parametrize(
    ("effect", "voids"),
    [("rework", True), ("defer", True)]
    + [(effect, False) for effect in "confirm continue plan resume escalate investigate clarify none approve".split()],
)
def test_of_the_project_manager_only_rework_and_defer_void(book: ledger.Ledger, effect: str, voids: bool) -> None:
    approved = book.report("tech_lead", "approve")
    later = book.report("project_manager", effect)
    assert book.part("approved") == ((0, "voided", later) if voids else (1, "approved", approved))


def test_reports_of_other_groups_void_nothing(book: ledger.Ledger) -> None:
    book.group("H")
    approved = book.report("tech_lead", "approve")
    book.report("developer", "block", "H")
    book.report("project_manager", "rework", None)
    assert book.part("approved") == (1, "approved", approved)


def test_the_newest_of_two_approvals_counts(book: ledger.Ledger) -> None:
    first, fault, second = book.reports(("tech_lead", "approve"), ("developer", "merge_fail"), ("tech_lead", "approve"))
    assert first < fault < second
    assert book.part("approved") == (1, "approved", second)


def test_reopening_voids_an_approval(book: ledger.Ledger) -> None:
    book.reports(*CHAIN)
    book.complete("G")
    reopened = book.reopen("G")
    assert book.part("approved") == (0, "reopened", reopened)
    assert book.part("merged") == (0, "reopened", reopened)
    assert book.part("tested") == (0, "no_submission", None)
    book.reports(*CHAIN)
    assert book.path()["valid"] == 1


# --- tested


def test_a_group_without_a_submission_is_not_tested(book: ledger.Ledger) -> None:
    book.reports(("qa_expert", "test_pass"), ("tech_lead", "approve"))
    assert book.part("tested") == (0, "no_submission", None)


def test_a_submission_that_nobody_tested_is_unanswered(book: ledger.Ledger) -> None:
    submitted, _ = book.reports(("developer", "submit_test"), ("tech_lead", "approve"))
    assert book.part("tested") == (0, "qa_unanswered", submitted)


def test_a_pass_before_the_last_submission_is_none(book: ledger.Ledger) -> None:
    book.reports(*BUILT)
    submitted, _ = book.reports(("developer", "submit_test"), ("tech_lead", "approve"))
    assert book.part("tested") == (0, "qa_unanswered", submitted)


def test_a_pass_still_counts_after_a_submission_to_review(book: ledger.Ledger) -> None:
    _, passed = book.reports(*BUILT)
    book.reports(("tech_lead", "reject"), ("developer", "submit_review"), ("tech_lead", "approve"))
    assert book.part("tested") == (1, "test_pass", passed)


def test_a_pass_may_come_before_the_approval(book: ledger.Ledger) -> None:
    _, passed = book.reports(*BUILT)
    assert book.part("tested") == (1, "test_pass", passed)


def test_a_first_test_before_any_submission_to_testing_is_no_test(book: ledger.Ledger) -> None:
    answer, _, _ = book.reports(("qa_expert", "test_pass"), ("developer", "submit_review"), ("tech_lead", "approve"))
    assert book.part("tested") == (0, "no_test_pass", answer)


def test_a_group_that_qa_was_never_asked_about_needs_no_test(book: ledger.Ledger) -> None:
    submitted, _ = book.reports(("requirements_engineer", "submit_review"), ("tech_lead", "approve"))
    assert book.part("tested") == (1, "qa_not_asked", submitted)


@pytest.mark.parametrize("effect", ["none", "progress", "escalate"])
def test_any_report_of_qa_shows_that_it_was_asked(book: ledger.Ledger, effect: str) -> None:
    book.reports(("qa_expert", effect), ("developer", "submit_review"), ("tech_lead", "approve"))
    assert book.part("tested") == (0, "no_test_pass", None)


def test_qa_is_asked_anew_after_a_reopening(book: ledger.Ledger) -> None:
    book.reports(*CHAIN)
    book.complete("G")
    book.reopen("G")
    submitted, _ = book.reports(("developer", "submit_review"), ("tech_lead", "approve"))
    assert book.part("tested") == (1, "qa_not_asked", submitted)


def test_a_pass_before_the_reopening_is_none(book: ledger.Ledger) -> None:
    book.reports(*CHAIN)
    book.complete("G")
    book.reopen("G")
    submitted, _ = book.reports(("developer", "submit_test"), ("tech_lead", "approve"))
    assert book.part("tested") == (0, "qa_unanswered", submitted)


def reopened(book: ledger.Ledger, *answers: tuple[str, str]) -> None:
    """A group that the project manager alone completed after some reports, and that came back."""
    book.reports(*answers)
    book.report("project_manager", "confirm", None, acknowledge=("G",))
    book.complete("G")
    book.reopen("G")


@pytest.mark.parametrize("submission", ["submit_test", "submit_review"])
def test_a_submission_before_the_reopening_is_none(book: ledger.Ledger, submission: str) -> None:
    reopened(book, ("developer", submission))
    book.report("tech_lead", "approve")
    assert book.part("tested") == (0, "no_submission", None)


def test_an_unfinished_test_before_the_reopening_is_none(book: ledger.Ledger) -> None:
    reopened(book, ("developer", "submit_test"), ("qa_expert", "block"))
    submitted, _ = book.reports(("developer", "submit_test"), ("tech_lead", "approve"))
    assert book.part("tested") == (0, "qa_unanswered", submitted)


def test_a_failure_before_the_reopening_is_no_longer_open(book: ledger.Ledger) -> None:
    reopened(book, ("developer", "submit_test"), ("qa_expert", "test_fail"))
    submitted, _ = book.reports(("developer", "submit_review"), ("tech_lead", "approve"))
    assert book.part("tested") == (1, "qa_not_asked", submitted)


@pytest.mark.parametrize("effect", ["block", "inconclusive"])
def test_an_approval_may_accept_an_unfinished_test(book: ledger.Ledger, effect: str) -> None:
    _, answer, _, _ = book.reports(
        ("developer", "submit_test"), ("qa_expert", effect), ("tech_lead", "approve"), ("developer", "merge")
    )
    assert book.part("tested") == (1, "unfinished_accepted", answer)
    assert book.part("confirmed") == (0, "not_confirmed", None)
    path = book.path()
    assert (path["valid"], path["missing"], path["awaiting_confirmation"]) == (0, "confirmed", 1)


@pytest.mark.parametrize("effect", ["block", "inconclusive"])
def test_an_unfinished_test_that_nobody_accepted_is_none(book: ledger.Ledger, effect: str) -> None:
    _, answer = book.reports(("developer", "submit_test"), ("qa_expert", effect))
    assert book.part("tested") == (0, "no_test_pass", answer)


@pytest.mark.parametrize("effect", ["block", "inconclusive"])
def test_an_unfinished_test_by_another_role_is_none(book: ledger.Ledger, effect: str) -> None:
    submitted, _, _ = book.reports(("developer", "submit_test"), ("developer", effect), ("tech_lead", "approve"))
    assert book.part("tested") == (0, "qa_unanswered", submitted)


def test_a_pass_makes_an_unfinished_test_whole(book: ledger.Ledger) -> None:
    _, _, passed = book.reports(("developer", "submit_test"), ("qa_expert", "inconclusive"), ("qa_expert", "test_pass"))
    book.reports(("tech_lead", "approve"), ("developer", "merge"))
    assert book.part("tested") == (1, "test_pass", passed)
    assert book.part("confirmed") == (1, "not_required", None)


@pytest.mark.parametrize("accepted", [("tech_lead", "approve"), ("developer", "submit_review")])
def test_an_open_failure_is_never_tested(book: ledger.Ledger, accepted: tuple[str, str]) -> None:
    _, failed, _ = book.reports(("developer", "submit_test"), ("qa_expert", "test_fail"), accepted)
    assert book.part("tested") == (0, "open_test_fail", failed)


def test_an_unfinished_test_hides_no_open_failure(book: ledger.Ledger) -> None:
    _, failed, _, _ = book.reports(
        ("developer", "submit_test"), ("qa_expert", "test_fail"), ("qa_expert", "block"), ("tech_lead", "approve")
    )
    assert book.part("tested") == (0, "open_test_fail", failed)


def test_a_later_pass_closes_a_failure(book: ledger.Ledger) -> None:
    book.reports(("developer", "submit_test"), ("qa_expert", "test_fail"))
    _, passed = book.reports(*BUILT)
    assert book.part("tested") == (1, "test_pass", passed)


@pytest.mark.parametrize("submission", ["submit_test", "submit_review"])
def test_other_testing_modes_need_a_submission_alone(untested: ledger.Ledger, submission: str) -> None:
    assert untested.part("tested") == (0, "no_submission", None)
    untested.reports(("developer", submission), ("tech_lead", "approve"))
    assert untested.part("tested")[0] == 1


def test_other_testing_modes_accept_no_open_failure(untested: ledger.Ledger) -> None:
    _, failed = untested.reports(("developer", "submit_test"), ("qa_expert", "test_fail"))
    assert untested.part("tested") == (0, "open_test_fail", failed)


def test_other_testing_modes_know_no_unfinished_test(untested: ledger.Ledger) -> None:
    untested.reports(*BLOCKED_CHAIN)
    assert untested.part("confirmed") == (1, "not_required", None)


# --- merged


def test_a_merge_before_the_approval_is_none(book: ledger.Ledger) -> None:
    _, early, _ = book.reports(("developer", "submit_test"), ("developer", "merge"), ("tech_lead", "approve"))
    assert book.part("merged") == (0, "before_approval", early)


def test_a_merge_after_a_reopening_needs_a_new_approval(book: ledger.Ledger) -> None:
    _, _, approved, _ = book.reports(*CHAIN)
    book.complete("G")
    book.reopen("G")
    book.report("developer", "merge")
    assert book.part("merged") == (0, "voided", approved)


def test_a_merge_after_a_rejection_is_none(book: ledger.Ledger) -> None:
    *_, rejected, _ = book.reports(*BUILT, ("tech_lead", "reject"), ("developer", "merge"))
    assert book.part("merged") == (0, "voided", rejected)


def test_a_merge_is_void_with_its_approval(book: ledger.Ledger) -> None:
    *_, fault = book.reports(*CHAIN, ("developer", "merge_fail"))
    assert book.part("merged") == (0, "voided", fault)


def driven(book: ledger.Ledger, *proofs: str, isolation: str | None = "worktree", rules: int | None = None) -> int:
    """A merge whose agent was started in a worktree, with the evidence that its driver wrote; the merge's step."""
    book.reports(*BUILT, ("tech_lead", "approve"))
    turn, _ = book.start(isolation=isolation)
    return book.merge("G", *proofs, turn=turn, rules=rules)


PROOFS: list[Any] = [
    ((), {}, (0, "unproven")),
    (("merged",), {}, (1, "proven")),
    (("nothing_to_merge",), {}, (1, "nothing_to_merge")),
    ((), {"isolation": "none"}, (1, "merged")),
    ((), {"isolation": None}, (1, "merged")),
    ((), {"rules": 4}, (1, "merged")),
    ((), {"rules": 5}, (0, "unproven")),
]


@every(("proofs", "more", "found"), PROOFS)
def test_a_merge_from_a_worktree_counts_with_its_proof_alone(
    proofs: tuple[str, ...], more: dict[str, Any], found: tuple[int, str]
) -> None:
    book = ledger.Ledger(ledger.empty())
    book.group("G")
    merge = driven(book, *proofs, **more)
    assert book.part("merged") == (*found, merge)
    judged = path_history.History(book.connection, "S1").judge("G", merge)
    assert judged is not None
    assert (judged.valid, judged.missing) == (found[0], None if found[0] else "merged")
    assert book.path()["valid"] == found[0]


@every(("before", "after", "why"), [
    (("tech_lead", "reject"), None, "voided"), (None, ("tech_lead", "approve"), "before_approval"),
])
@pytest.mark.parametrize("proofs", [(), ("merged",), ("nothing_to_merge",)], ids=["none", "merged", "nothing"])
def test_a_proven_merge_needs_the_approval_before_it(
    before: tuple[str, str] | None, after: tuple[str, str] | None, why: str, proofs: tuple[str, ...]
) -> None:
    book = ledger.Ledger(ledger.empty())
    book.group("G")
    book.group("W")
    book.depend("W", "G")
    book.reports(*BUILT, ("tech_lead", "approve"), *([before] if before else []))
    turn, _ = book.start()
    book.merge("G", *proofs, turn=turn)
    book.reports(*([after] if after else []))
    assert (book.part("merged")[:2], book.part("unblocked", "W")[1]) == ((0, why), "dependency")
    assert [book.part(part)[0] for part in ("approved", "tested")] == [int(after is not None), 1]


@pytest.mark.sqlite("the write function of a connection is taken away")
def test_no_statement_completes_a_group_whose_merge_nobody_has_seen(book: ledger.Ledger) -> None:
    driven(book)
    with ledger.refused("COMPLETION_PATH_MISSING"):
        book.complete("G")
    for attack in (
        "UPDATE starts SET isolation = 'none'", "DELETE FROM starts", "UPDATE agent_reports SET turn = NULL",
        "UPDATE OR REPLACE starts SET turn = 1", "INSERT OR REPLACE INTO starts SELECT * FROM starts",
    ):  # fmt: skip
        with pytest.raises(sqlite3.IntegrityError):
            book.connection.execute(attack)
    # Whoever is not the program writes no evidence, whatever it says.
    book.connection.create_function(constants.WRITE_FUNCTION, 0, lambda: 0)
    with pytest.raises(sqlite3.IntegrityError):
        book.insert("evidence", session_id="S1", seq=book.seq, kind="merge", subject="G", outcome="merged", hash="h",
                    size=0, content="")
    assert book.part("merged")[:2] == (0, "unproven")


def test_the_newest_start_of_the_turn_says_where_its_agent_worked(book: ledger.Ledger) -> None:
    merge = driven(book)
    book.connection.execute("UPDATE starts SET ended_seq = seq, ended_at = 't', outcome = 'failed'")
    assert book.part("merged") == (0, "unproven", merge)


@every(("isolations", "found"), [
    (("none", "worktree"), (0, "unproven")), (("worktree", "none"), (1, "merged")), (("worktree", None), (1, "merged")),
])
def test_of_several_starts_of_a_turn_the_newest_counts(isolations: tuple[str | None, ...], found: Any) -> None:
    book = ledger.Ledger(ledger.empty())
    book.group("G")
    book.reports(*BUILT, ("tech_lead", "approve"))
    turn, _ = book.start(isolation=isolations[0])
    book.start(isolation=isolations[1], turn=turn)
    merge = book.merge(turn=turn)
    # One that comes later says nothing of the merge.
    book.start(isolation=isolations[0], turn=turn)
    assert book.part("merged") == (*found, merge)


def another_session(book: ledger.Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is written from now on belongs to another session, whose groups have the same ids."""
    ledger.begin_another_session(book, monkeypatch)
    book.group("G")


def start_elsewhere(book: ledger.Ledger, monkeypatch: pytest.MonkeyPatch, turn: int) -> None:
    another_session(book, monkeypatch)
    book.start(isolation="none", turn=turn)


def start_of_another_group(book: ledger.Ledger, monkeypatch: pytest.MonkeyPatch, turn: int) -> None:
    book.group("H")
    book.start("H", isolation="none", turn=turn)


def start_of_another_turn(book: ledger.Ledger, monkeypatch: pytest.MonkeyPatch, turn: int) -> None:
    book.start(isolation="none")


def old_rules_elsewhere(book: ledger.Ledger, monkeypatch: pytest.MonkeyPatch, merge: int) -> None:
    another_session(book, monkeypatch)
    book.seq = merge - 1
    book.merge(rules=4)


def old_rules_of_another_step(book: ledger.Ledger, monkeypatch: pytest.MonkeyPatch, merge: int) -> None:
    book.judge(merge - 2, rules=4)


def old_rules_of_another_part(book: ledger.Ledger, monkeypatch: pytest.MonkeyPatch, merge: int) -> None:
    book.judge(merge, rules=4, part=2)


def proof_elsewhere(book: ledger.Ledger, monkeypatch: pytest.MonkeyPatch, merge: int) -> None:
    another_session(book, monkeypatch)
    book.seq = merge - 1
    book.merge("G", "merged")


def proof_of_another_group(book: ledger.Ledger, monkeypatch: pytest.MonkeyPatch, merge: int) -> None:
    book.group("H")
    book.prove("H", merge, "merged")


def proof_in_another_step(book: ledger.Ledger, monkeypatch: pytest.MonkeyPatch, merge: int) -> None:
    book.prove("G", book.step(), "merged")


def merge_elsewhere(book: ledger.Ledger, monkeypatch: pytest.MonkeyPatch, merge: int) -> None:
    another_session(book, monkeypatch)
    book.seq = merge
    book.merge()


def merge_of_another_group(book: ledger.Ledger, monkeypatch: pytest.MonkeyPatch, merge: int) -> None:
    book.group("H")
    book.merge("H")


@pytest.mark.parametrize("other", [start_elsewhere, start_of_another_group, start_of_another_turn])
def test_where_an_agent_worked_is_said_by_a_start_of_its_own_turn(
    book: ledger.Ledger, monkeypatch: pytest.MonkeyPatch, other: Callable[..., None]
) -> None:
    book.reports(*BUILT, ("tech_lead", "approve"))
    turn, _ = book.start(isolation="worktree")
    other(book, monkeypatch, turn)
    monkeypatch.undo()
    merge = book.merge(turn=turn)
    assert book.part("merged") == (0, "unproven", merge)


@pytest.mark.parametrize(
    "other",
    [
        old_rules_elsewhere, old_rules_of_another_step, old_rules_of_another_part,
        proof_elsewhere, proof_of_another_group, proof_in_another_step, merge_elsewhere, merge_of_another_group,
    ],
)  # fmt: skip
def test_a_merge_is_proven_by_what_its_own_step_says_of_its_group(
    book: ledger.Ledger, monkeypatch: pytest.MonkeyPatch, other: Callable[..., None]
) -> None:
    merge = driven(book)
    other(book, monkeypatch, merge)
    monkeypatch.undo()
    book.seq = max(book.seq, merge)
    assert book.part("merged") == (0, "unproven", merge)


# --- reviewed


def test_a_mandatory_review_needs_a_later_report_of_the_tech_lead(book: ledger.Ledger) -> None:
    book.report("tech_lead", "guide")
    decided = book.decide(mandatory_review=True)
    assert book.part("reviewed") == (0, "no_review", decided)
    reviewed = book.report("tech_lead", "none")
    assert book.part("reviewed") == (1, "reviewed", reviewed)


def test_only_the_newest_mandatory_review_is_asked_for_and_ordinary_decisions_are_not(book: ledger.Ledger) -> None:
    book.decide(mandatory_review=True)
    reviewed = book.report("tech_lead", "guide")
    book.decide()
    assert book.part("reviewed") == (1, "reviewed", reviewed)
    again = book.decide(mandatory_review=True)
    assert book.part("reviewed") == (0, "no_review", again)


def test_a_security_group_needs_the_tech_lead(book: ledger.Ledger) -> None:
    book.group("X", security=True)
    book.report("senior_software_engineer", "submit_review", "X")
    assert book.part("reviewed", "X") == (0, "no_security_review", None)
    reviewed = book.report("tech_lead", "guide", "X")
    assert book.part("reviewed", "X") == (1, "reviewed", reviewed)


def test_a_flag_that_is_neither_yes_nor_no_asks_for_the_tech_lead(book: ledger.Ledger) -> None:
    book.connection.execute("PRAGMA ignore_check_constraints = ON")
    row = dict(book.connection.execute("SELECT * FROM task_groups WHERE id = ?", [book.group("Y")]).fetchone())
    book.insert("task_groups", **row | {"id": "X", "security_sensitive": 2, "status": "pending"})
    book.report("senior_software_engineer", "submit_review", "X")
    assert book.part("reviewed", "X") == (0, "no_security_review", None)


def test_a_security_group_needs_the_tech_lead_again_after_a_reopening(book: ledger.Ledger) -> None:
    book.group("X", security=True)
    merged(book, "X")
    book.complete("X")
    book.reopen("X")
    assert book.part("reviewed", "X") == (0, "no_security_review", None)


# --- order of the parts


def test_the_first_missing_part_is_named_in_order(book: ledger.Ledger) -> None:
    book.group("D")
    book.depend("G", "D")
    seen = [book.path()["missing"]]
    book.report("tech_lead", "approve")
    seen.append(book.path()["missing"])
    book.reports(("developer", "submit_test"), ("qa_expert", "block"), ("tech_lead", "approve"))
    seen.append(book.path()["missing"])
    book.report("developer", "merge")
    seen.append(book.path()["missing"])
    book.undepend("G", "D")
    book.decide(mandatory_review=True)
    seen.append(book.path()["missing"])
    book.reports(("tech_lead", "approve"), ("developer", "merge"))
    seen.append(book.path()["missing"])
    book.report("project_manager", "confirm", None)
    seen.append(book.path()["missing"])
    assert seen == ["approved", "tested", "merged", "unblocked", "reviewed", "confirmed", None]


def test_a_group_that_does_not_exist_has_no_path(book: ledger.Ledger) -> None:
    found = book.connection.execute("SELECT * FROM completion_paths WHERE session_id = 'S1' AND group_id = 'none'")
    assert found.fetchall() == []


@pytest.mark.sqlite("SQLite is told its indexes")
def test_a_dropped_index_is_an_error_and_no_answer(book: ledger.Ledger) -> None:
    book.reports(*CHAIN)
    book.connection.execute("DROP INDEX ix_agent_reports_group")
    with pytest.raises(sqlite3.OperationalError, match="no such index: ix_agent_reports_group"):
        book.path()


def test_a_pass_that_came_after_the_approval_tests_nothing(book: ledger.Ledger) -> None:
    """The project manager's own reports do not stand in the way of an approval, so one may come after it."""
    submitted, *_ = book.reports(("developer", "submit_test"), ("tech_lead", "approve"), ("developer", "merge"))
    book.report("project_manager", "test_pass")
    assert book.part("tested") == (0, "qa_unanswered", submitted)
