"""What "complete" means: every row of the table of parts, each with its reason and the step that says so."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Iterator

import pytest

from tests.integration.store import ledger

BUILT = (("developer", "submit_test"), ("qa_expert", "test_pass"))
CHAIN = (*BUILT, ("tech_lead", "approve"), ("developer", "merge"))
BLOCKED_CHAIN = (
    ("developer", "submit_test"),
    ("qa_expert", "block"),
    ("tech_lead", "approve"),
    ("developer", "merge"),
)


@pytest.fixture
def book() -> Iterator[ledger.Ledger]:
    connection = ledger.empty()
    written = ledger.Ledger(connection)
    written.group("G")
    yield written
    connection.close()


@pytest.fixture
def untested() -> Iterator[ledger.Ledger]:
    connection = ledger.empty()
    written = ledger.Ledger(connection, testing_mode="minimal")
    written.group("G")
    yield written
    connection.close()


def merged(book: ledger.Ledger, group: str) -> None:
    """Give a group everything that a group that was never blocked needs."""
    book.reports(*CHAIN, group=group)


def awaiting_confirmation(book: ledger.Ledger, group: str) -> None:
    """Give a group everything but the confirmation."""
    book.reports(*BLOCKED_CHAIN, group=group)
    assert book.path(group)["awaiting_confirmation"] == 1


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


def test_a_merge_is_void_with_its_approval(book: ledger.Ledger) -> None:
    *_, fault = book.reports(*CHAIN, ("developer", "merge_fail"))
    assert book.part("merged") == (0, "voided", fault)


# --- unblocked


def test_an_open_blocker_blocks(book: ledger.Ledger) -> None:
    book.reports(*CHAIN)
    blocker = book.block()
    assert book.part("unblocked") == (0, "open_blocker", book.seq)
    path = book.path()
    assert (path["missing"], path["unblocked_ref"], path["ever_blocked"]) == ("unblocked", blocker, 1)
    resolved = book.resolve(blocker)
    assert book.part("unblocked") == (1, "clear", resolved)


def test_an_external_blocker_blocks_as_well(book: ledger.Ledger) -> None:
    book.block(external=True)
    assert book.part("unblocked") == (0, "open_blocker", book.seq)


def test_an_open_question_blocks(book: ledger.Ledger) -> None:
    question = book.ask()
    assert book.part("unblocked") == (0, "open_question", book.seq)
    assert book.path()["unblocked_ref"] == question
    book.answer(question)
    assert book.part("unblocked") == (1, "clear", None)


def test_blockers_of_other_groups_do_not_block(book: ledger.Ledger) -> None:
    book.group("H")
    book.block("H")
    assert book.part("unblocked") == (1, "clear", None)


def test_an_open_dependency_blocks_until_it_is_completed(book: ledger.Ledger) -> None:
    book.group("D")
    book.depend("G", "D")
    assert book.part("unblocked") == (0, "dependency", None)
    assert book.path()["unblocked_ref"] == "D"
    merged(book, "D")
    book.complete("D")
    assert book.part("unblocked") == (1, "clear", None)


def test_a_dropped_dependency_does_not_block(book: ledger.Ledger) -> None:
    book.group("D")
    book.depend("G", "D")
    book.undepend("G", "D")
    assert book.part("unblocked") == (1, "clear", None)
    book.depend("G", "D")
    assert book.part("unblocked") == (0, "dependency", None)


def test_a_reopened_dependency_blocks_again(book: ledger.Ledger) -> None:
    book.group("D")
    book.depend("G", "D")
    merged(book, "D")
    book.complete("D")
    merged(book, "G")
    assert book.path()["valid"] == 1
    book.reopen("D")
    path = book.path()
    assert (path["valid"], path["missing"], path["unblocked_ref"]) == (0, "unblocked", "D")


def test_a_dependency_that_awaits_confirmation_is_satisfied(book: ledger.Ledger) -> None:
    book.group("D")
    book.depend("G", "D")
    awaiting_confirmation(book, "D")
    assert book.part("unblocked") == (1, "clear", None)


@pytest.mark.parametrize("trouble", ["block", "ask", "reject"])
def test_a_dependency_that_awaits_confirmation_must_stay_sound(book: ledger.Ledger, trouble: str) -> None:
    book.group("D")
    book.depend("G", "D")
    awaiting_confirmation(book, "D")
    {
        "block": lambda: book.block("D"),
        "ask": lambda: book.ask("D"),
        "reject": lambda: book.report("tech_lead", "reject", "D"),
    }[trouble]()
    assert book.part("unblocked") == (0, "dependency", None)


def test_a_deferred_dependency_is_not_satisfied(book: ledger.Ledger) -> None:
    book.group("D")
    book.depend("G", "D")
    book.defer("D", book.block("D", external=True))
    assert book.part("unblocked") == (0, "dependency", None)


def test_a_cancelled_dependency_is_not_satisfied_even_when_it_was_merged(book: ledger.Ledger) -> None:
    book.group("D")
    book.depend("G", "D")
    awaiting_confirmation(book, "D")
    book.move("D", "in_progress", "cancelled")
    assert book.part("unblocked") == (0, "dependency", None)


def chain_of(book: ledger.Ledger, *groups: str) -> None:
    """Each group depends on the next."""
    for group in groups:
        book.group(group)
    for group, on in itertools.pairwise(groups):
        book.depend(group, on)


def test_a_chain_of_groups_that_await_confirmation_is_satisfied(book: ledger.Ledger) -> None:
    chain_of(book, "A", "B", "C")
    book.depend("G", "A")
    for group in ("C", "B", "A"):
        assert book.path()["unblocked_ref"] is not None
        awaiting_confirmation(book, group)
    assert book.part("unblocked") == (1, "clear", None)
    question = book.ask("C")
    assert book.path()["unblocked_ref"] == "C"
    book.answer(question)
    assert book.part("unblocked") == (1, "clear", None)


def test_a_diamond_is_satisfied_when_its_far_corner_is(book: ledger.Ledger) -> None:
    for group in ("L", "R", "Z"):
        book.group(group)
    for group, on in (("G", "L"), ("G", "R"), ("L", "Z"), ("R", "Z")):
        book.depend(group, on)
    awaiting_confirmation(book, "Z")
    for side in ("L", "R"):
        assert book.part("unblocked")[1] == "dependency"
        awaiting_confirmation(book, side)
    assert book.part("unblocked") == (1, "clear", None)
    book.report("tech_lead", "reject", "Z")
    assert book.path()["unblocked_ref"] == "Z"


def test_what_a_completed_dependency_depends_on_is_not_asked(book: ledger.Ledger) -> None:
    chain_of(book, "A", "B")
    book.depend("G", "A")
    for group in ("B", "A"):
        merged(book, group)
        book.complete(group)
    book.reopen("B")
    assert book.part("unblocked") == (1, "clear", None)


def test_a_cycle_of_dependencies_ends(book: ledger.Ledger) -> None:
    chain_of(book, "A", "B")
    book.depend("B", "A")
    book.depend("G", "A")
    assert book.part("unblocked")[1] == "dependency"
    for group in ("A", "B"):
        book.reports(*BLOCKED_CHAIN, group=group)
    assert book.part("unblocked") == (1, "clear", None)


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


def test_a_security_group_needs_the_tech_lead_again_after_a_reopening(book: ledger.Ledger) -> None:
    book.group("X", security=True)
    merged(book, "X")
    book.complete("X")
    book.reopen("X")
    assert book.part("reviewed", "X") == (0, "no_security_review", None)


# --- confirmed


def once_blocked(book: ledger.Ledger) -> int:
    """A group that QA blocked and whose approval accepted that. Returns the step of the merge."""
    book.report("developer", "submit_test")
    book.report("qa_expert", "block")
    blocker = book.block()
    book.resolve(blocker, seq=book.report("tech_lead", "approve"))
    return book.report("developer", "merge")


def test_a_group_that_was_once_blocked_needs_a_confirmation(book: ledger.Ledger) -> None:
    merge = once_blocked(book)
    assert book.part("confirmed") == (0, "not_confirmed", merge - 1)
    assert book.path()["awaiting_confirmation"] == 1


def test_any_bazinga_after_the_merge_confirms(book: ledger.Ledger) -> None:
    once_blocked(book)
    confirmed = book.report("project_manager", "confirm", None)
    assert book.part("confirmed") == (1, "confirmed", confirmed)
    path = book.path()
    assert (path["chain"], path["pm_path"], path["awaiting_confirmation"]) == (1, 0, 0)


@pytest.mark.parametrize("effect", ["continue", "none", "plan"])
def test_any_report_of_the_project_manager_that_acknowledges_the_group_confirms(
    book: ledger.Ledger, effect: str
) -> None:
    once_blocked(book)
    acknowledged = book.report("project_manager", effect, None, acknowledge=("G",))
    assert book.part("confirmed") == (1, "acknowledged", acknowledged)


@pytest.mark.parametrize(
    ("role", "effect", "acknowledge"),
    [
        pytest.param("project_manager", "continue", (), id="no acknowledgement"),
        pytest.param("project_manager", "continue", ("H",), id="another group"),
        pytest.param("tech_lead", "none", ("G",), id="another role acknowledges"),
        pytest.param("tech_lead", "confirm", (), id="another role confirms"),
    ],
)
def test_nothing_else_confirms(book: ledger.Ledger, role: str, effect: str, acknowledge: tuple[str, ...]) -> None:
    book.group("H")
    once_blocked(book)
    book.report(role, effect, None, acknowledge=acknowledge)
    assert book.part("confirmed")[:2] == (0, "not_confirmed")


@pytest.mark.parametrize("effect", ["confirm", "continue"])
def test_a_confirmation_before_the_merge_is_none(book: ledger.Ledger, effect: str) -> None:
    book.report("developer", "submit_test")
    book.report("qa_expert", "block")
    book.report("tech_lead", "approve")
    book.report("project_manager", effect, None, acknowledge=("G",))
    book.report("developer", "merge")
    assert book.part("confirmed") == (0, "not_confirmed", None)


def test_a_confirmation_before_the_last_resolution_is_none(book: ledger.Ledger) -> None:
    once_blocked(book)
    book.report("project_manager", "confirm", None)
    blocker = book.block()
    assert book.part("confirmed")[:2] == (0, "not_confirmed")
    resolved = book.resolve(blocker)
    assert book.part("confirmed") == (0, "not_confirmed", resolved)
    confirmed = book.report("project_manager", "confirm", None)
    assert book.part("confirmed") == (1, "confirmed", confirmed)


# --- research and chat


def test_a_research_group_needs_neither_test_nor_merge_nor_review(book: ledger.Ledger) -> None:
    book.group("I", kind="research")
    book.decide("I", mandatory_review=True)
    assert book.path("I")["missing"] == "approved"
    approved = book.report("tech_lead", "approve", "I")
    assert book.part("approved", "I") == (1, "approved", approved)
    assert [book.part(name, "I") for name in ("tested", "merged", "reviewed")] == [(1, "not_required", None)] * 3
    assert book.path("I")["chain"] == 1


def test_a_blocked_research_group_is_confirmed_after_its_approval(book: ledger.Ledger) -> None:
    book.group("I", kind="research")
    blocker = book.block("I")
    book.resolve(blocker)
    book.report("project_manager", "confirm", None)
    book.report("tech_lead", "approve", "I")
    assert book.path("I")["awaiting_confirmation"] == 1
    confirmed = book.report("project_manager", "confirm", None)
    assert book.part("confirmed", "I") == (1, "confirmed", confirmed)


def test_an_approved_research_group_satisfies_who_depends_on_it(book: ledger.Ledger) -> None:
    book.group("I", kind="research")
    book.depend("G", "I")
    book.report("tech_lead", "approve", "I")
    assert book.part("unblocked") == (1, "clear", None)


def test_a_chat_group_is_closed_and_never_completed_by_this_path(book: ledger.Ledger) -> None:
    book.group("C", kind="chat")
    merged(book, "C")
    book.report("project_manager", "confirm", None, acknowledge=("C",))
    path = book.path("C")
    assert (path["chain"], path["pm_path"], path["valid"], path["missing"]) == (0, 0, 0, "closed")


# --- the project manager's own path


def test_a_bazinga_that_acknowledges_the_group_is_a_path_of_its_own(book: ledger.Ledger) -> None:
    book.report("project_manager", "confirm", None, acknowledge=("G",))
    path = book.path()
    assert (path["chain"], path["pm_path"], path["valid"], path["missing"]) == (0, 1, 1, "approved")
    book.complete("G")


@pytest.mark.parametrize(("effect", "acknowledge"), [("confirm", ()), ("confirm", ("H",)), ("continue", ("G",))])
def test_no_other_report_of_the_project_manager_is_a_path(
    book: ledger.Ledger, effect: str, acknowledge: tuple[str, ...]
) -> None:
    book.group("H")
    book.report("project_manager", effect, None, acknowledge=acknowledge)
    assert book.path()["pm_path"] == 0


@pytest.mark.parametrize(
    ("role", "effect"),
    [
        ("developer", "progress"),
        ("developer", "merge"),
        ("tech_lead", "approve"),
        ("project_manager", "none"),
        ("project_manager", "rework"),
    ],
)
def test_a_later_report_of_the_group_ends_the_path(book: ledger.Ledger, role: str, effect: str) -> None:
    book.report("project_manager", "confirm", None, acknowledge=("G",))
    book.report(role, effect)
    assert book.path()["pm_path"] == 0


def test_later_reports_of_others_leave_the_path(book: ledger.Ledger) -> None:
    book.group("H")
    book.report("project_manager", "confirm", None, acknowledge=("G",))
    book.report("developer", "block", "H")
    book.report("project_manager", "continue", None)
    assert book.path()["pm_path"] == 1


def test_only_the_last_bazinga_counts(book: ledger.Ledger) -> None:
    book.report("project_manager", "confirm", None, acknowledge=("G",))
    book.report("project_manager", "confirm", None)
    assert book.path()["pm_path"] == 0


def test_the_path_needs_an_unblocked_group(book: ledger.Ledger) -> None:
    blocker = book.block()
    book.report("project_manager", "confirm", None, acknowledge=("G",))
    assert book.path()["pm_path"] == 0
    book.resolve(blocker)
    assert book.path()["pm_path"] == 1


def test_reopening_ends_the_path(book: ledger.Ledger) -> None:
    book.report("project_manager", "confirm", None, acknowledge=("G",))
    book.complete("G")
    book.reopen("G")
    path = book.path()
    assert (path["pm_path"], path["valid"]) == (0, 0)


def test_a_group_that_waits_for_the_verdict_satisfies_nobody(book: ledger.Ledger) -> None:
    book.group("D")
    book.depend("G", "D")
    book.report("project_manager", "confirm", None, acknowledge=("D",))
    assert book.path("D")["pm_path"] == 1
    assert book.part("unblocked") == (0, "dependency", None)


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


def test_a_dropped_index_is_an_error_and_no_answer(book: ledger.Ledger) -> None:
    book.reports(*CHAIN)
    book.connection.execute("DROP INDEX ix_agent_reports_standing")
    with pytest.raises(sqlite3.OperationalError, match="no such index: ix_agent_reports_standing"):
        book.path()
