"""Who confirms a group, when that is needed, and the project manager's own path."""

from __future__ import annotations

import pytest

from orchestrator.store import completion_views
from tests.cases import every
from tests.integration.store import ledger
from tests.integration.store.ledger import merged


@pytest.fixture
def book(book: ledger.Ledger) -> ledger.Ledger:
    """With a group that was started."""
    book.group("G")
    return book


# --- confirmed


def once_blocked(book: ledger.Ledger, *proofs: str) -> int:
    """A group that QA blocked and whose approval accepted that, with proofs of its merge. Returns the merge's step."""
    book.report("developer", "submit_test")
    book.report("qa_expert", "block")
    blocker = book.block()
    book.resolve(blocker, seq=book.report("tech_lead", "approve"))
    turn = book.start()[0] if proofs else None
    return book.merge("G", *proofs, turn=turn)


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


@every(("proof", "effect", "why"), [
    ("merged", "confirm", "confirmed"), ("merged", "continue", "acknowledged"),
    ("nothing_to_merge", "confirm", "confirmed"), ("nothing_to_merge", "continue", "acknowledged"),
])  # fmt: skip
def test_a_merge_that_was_proven_is_confirmed_like_any_other(proof: str, effect: str, why: str) -> None:
    book = ledger.Ledger(ledger.empty())
    book.group("G")
    once_blocked(book, proof)
    said = book.report("project_manager", effect, None, acknowledge=("G",))
    assert book.part("confirmed") == (1, why, said)
    book.connection.close()


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


BY_THE_MANAGER = pytest.mark.parametrize(
    ("effect", "acknowledge", "why"),
    [pytest.param("confirm", (), "confirmed", id="BAZINGA"), ("continue", ("G", "I"), "acknowledged")],
)
"""The two ways in which the project manager confirms."""


@BY_THE_MANAGER
def test_a_confirmation_while_a_blocker_is_open_is_none(
    book: ledger.Ledger, effect: str, acknowledge: tuple[str, ...], why: str
) -> None:
    book.group("I")
    once_blocked(book)
    book.block()
    book.report("project_manager", effect, None, acknowledge=acknowledge)
    assert book.part("confirmed")[:2] == (0, "not_confirmed")


@BY_THE_MANAGER
def test_a_confirmation_before_a_new_approval_was_merged_is_none(
    book: ledger.Ledger, effect: str, acknowledge: tuple[str, ...], why: str
) -> None:
    book.group("I")
    once_blocked(book)
    book.reports(("tech_lead", "reject"), ("tech_lead", "approve"))
    book.report("project_manager", effect, None, acknowledge=acknowledge)
    assert book.part("confirmed")[:2] == (0, "not_confirmed")


@BY_THE_MANAGER
def test_an_unfinished_test_is_confirmed_where_nothing_was_ever_blocked(
    book: ledger.Ledger, effect: str, acknowledge: tuple[str, ...], why: str
) -> None:
    book.group("I")
    book.reports(("developer", "submit_test"), ("qa_expert", "inconclusive"))
    book.reports(("tech_lead", "approve"), ("developer", "merge"))
    assert book.part("confirmed") == (0, "not_confirmed", None)
    confirmed = book.report("project_manager", effect, None, acknowledge=acknowledge)
    assert book.part("confirmed") == (1, why, confirmed)


@BY_THE_MANAGER
def test_research_is_confirmed_after_its_approval_alone(
    book: ledger.Ledger, effect: str, acknowledge: tuple[str, ...], why: str
) -> None:
    book.group("I", kind="research")
    book.resolve(book.block("I"))
    book.report("investigator", "progress", "I")
    book.report("project_manager", effect, None, acknowledge=acknowledge)
    assert book.part("confirmed", "I")[:2] == (0, "not_confirmed")
    book.report("tech_lead", "approve", "I")
    assert book.part("confirmed", "I")[:2] == (0, "not_confirmed")
    confirmed = book.report("project_manager", effect, None, acknowledge=acknowledge)
    assert book.part("confirmed", "I") == (1, why, confirmed)


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
    assert {book.part(name, "C") for name in completion_views.PARTS} == {(0, "chat", None)}


# --- what is missing

QA = (("developer", "submit_test"), ("qa_expert", "test_pass"))
LACKING = {
    "approved": lambda book: None,
    "tested": lambda book: book.reports(QA[0], ("tech_lead", "approve"), ("developer", "merge"), group="X"),
    "merged": lambda book: book.reports(*QA, ("tech_lead", "approve"), group="X"),
    "unblocked": lambda book: (merged(book, "X"), book.ask("X")),
    "reviewed": lambda book: (merged(book, "X"), book.decide("X", mandatory_review=True)),
}
"""What leaves a group without one part alone; a research group, where only that one can lack the approval alone."""


@pytest.mark.parametrize("part", LACKING)
def test_each_part_alone_keeps_the_chain_from_being_whole(book: ledger.Ledger, part: str) -> None:
    book.group("X", kind="research" if part == "approved" else "code")
    LACKING[part](book)
    path = book.path("X")
    lacking = [each for each in completion_views.PARTS if not book.part(each, "X")[0]]
    assert (lacking, path["chain"], path["valid"], path["missing"]) == ([part], 0, 0, part)
    with ledger.refused(f"COMPLETION_PATH_MISSING: {part} is not met"):
        book.complete("X")


def test_a_lacking_confirmation_keeps_the_chain_from_being_whole(book: ledger.Ledger) -> None:
    once_blocked(book)
    path = book.path()
    assert (path["chain"], path["valid"], path["missing"]) == (0, 0, "confirmed")
    with ledger.refused("COMPLETION_PATH_MISSING: confirmed is not met"):
        book.complete("G")


@pytest.mark.parametrize("part", LACKING)
def test_what_lacks_another_part_as_well_does_not_await_its_confirmation(book: ledger.Ledger, part: str) -> None:
    book.group("X", kind="research" if part == "approved" else "code")
    book.resolve(book.block("X"))
    LACKING[part](book)
    path = book.path("X")
    lacking = [each for each in completion_views.PARTS if not book.part(each, "X")[0]]
    assert (lacking, path["awaiting_confirmation"]) == ([part, "confirmed"], 0)


# --- the project manager's own path


def manager_path(book: ledger.Ledger) -> tuple[int, int]:
    """Whether the path of its own is there, and whether any is."""
    path = book.path()
    return path["pm_path"], path["valid"]


@pytest.mark.parametrize(
    ("role", "effect"),
    [
        ("developer", "progress"),
        ("developer", "merge"),
        ("tech_lead", "reject"),
        ("project_manager", "none"),
        ("project_manager", "rework"),
    ],
)
def test_what_was_reported_of_the_group_before_does_not_hinder_the_path(
    book: ledger.Ledger, role: str, effect: str
) -> None:
    book.report(role, effect)
    book.report("project_manager", "confirm", None, acknowledge=("G",))
    assert manager_path(book) == (1, 1)


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
    assert manager_path(book) == (0, 0)


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
    assert manager_path(book) == (0, 0)


def test_later_reports_of_others_leave_the_path(book: ledger.Ledger) -> None:
    book.group("H")
    book.report("project_manager", "confirm", None, acknowledge=("G",))
    book.report("developer", "block", "H")
    book.report("project_manager", "continue", None)
    assert manager_path(book) == (1, 1)


def test_only_the_last_bazinga_counts(book: ledger.Ledger) -> None:
    book.report("project_manager", "confirm", None, acknowledge=("G",))
    book.report("project_manager", "confirm", None)
    assert manager_path(book) == (0, 0)


def test_the_path_needs_an_unblocked_group(book: ledger.Ledger) -> None:
    blocker = book.block()
    book.report("project_manager", "confirm", None, acknowledge=("G",))
    assert manager_path(book) == (0, 0)
    book.resolve(blocker)
    assert manager_path(book) == (1, 1)


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
    assert book.part("unblocked")[:2] == (0, "dependency")
