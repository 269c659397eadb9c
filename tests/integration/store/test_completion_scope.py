"""What is recorded of one group says nothing of another, nor of one that has its id in another session."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

import pytest

from orchestrator.store import path_history
from tests.integration.store import ledger
from tests.integration.store.ledger import CHAIN, Ledger


def new(book: Ledger) -> None:
    """Nothing was reported."""


def chain(book: Ledger) -> None:
    book.reports(*CHAIN)


def blocked(book: Ledger) -> None:
    book.reports(("developer", "submit_test"), ("qa_expert", "block"))
    book.block()


def resolved(book: Ledger) -> None:
    book.reports(("developer", "submit_test"), ("qa_expert", "block"))
    book.resolve(book.block())
    book.reports(("tech_lead", "approve"), ("developer", "merge"))


def confirmed(book: Ledger) -> None:
    resolved(book)
    book.report("project_manager", "confirm", None)


def acknowledged(book: Ledger) -> None:
    book.report("project_manager", "confirm", None, acknowledge=("G",))


def reopened(book: Ledger) -> None:
    chain(book)
    book.complete("G")
    book.reopen("G")


def redone(book: Ledger) -> None:
    reopened(book)
    chain(book)


def unasked(book: Ledger) -> None:
    """QA had nothing to do."""
    book.reports(("developer", "submit_review"), ("tech_lead", "approve"), ("developer", "merge"))


def undone(book: Ledger) -> None:
    """All that was to be done in it was cancelled."""
    chain(book)
    book.task("T", "G", "cancelled")


def unreviewed(book: Ledger) -> None:
    """A review that has to be came to nothing yet."""
    chain(book)
    book.decide("G", mandatory_review=True)


def late(book: Ledger) -> None:
    """A pass came after the approval."""
    book.reports(("developer", "submit_test"), ("tech_lead", "approve"), ("developer", "merge"))
    book.report("project_manager", "test_pass")


def dependent(book: Ledger) -> None:
    book.group("D")
    book.depend("G", "D")


def failed(book: Ledger) -> None:
    book.reports(("developer", "submit_test"), ("qa_expert", "test_fail"))


STORIES = (
    new, chain, failed, undone, unasked, unreviewed, late, blocked, resolved, confirmed, acknowledged, reopened, redone,
    dependent,
)  # fmt: skip


@pytest.fixture
def book(book: ledger.Ledger) -> ledger.Ledger:
    """With a group that was started."""
    book.group("G")
    return book


def paths(connection: sqlite3.Connection) -> list[tuple[object, ...]]:
    rows = connection.execute("SELECT * FROM completion_paths WHERE session_id = 'S1' AND group_id = 'G'")
    return [tuple(row) for row in rows]


def everything(book: Ledger, group: str) -> None:
    """Record everything that there is of a group: it was completed, reopened, blocked, asked about."""
    book.reports(*CHAIN, group=group)
    book.complete(group)
    book.reopen(group)
    book.reports(("developer", "submit_review"), ("developer", "submit_test"), ("qa_expert", "test_fail"), group=group)
    book.reports(*CHAIN, ("tech_lead", "reject"), ("project_manager", "rework"), group=group)
    book.decide(group, mandatory_review=True)
    book.resolve(book.block(group))
    book.answer(book.ask(group))
    book.task(f"open in {group}", group)
    book.task(f"done in {group}", group, "in_progress", "done")
    book.block(group)
    book.ask(group)


def another_session(book: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger.begin_another_session(book, monkeypatch)
    for group in ("G", "D", "X"):
        book.group(group)
    for group in ("G", "D"):
        everything(book, group)
    book.depend("G", "X")
    book.depend("D", "X")
    book.report("project_manager", "confirm", None, acknowledge=("G", "D"))


def another_group(book: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    for group in ("H", "X"):
        book.group(group)
    everything(book, "H")
    book.depend("H", "X")


def another_entity(book: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Others than groups have statuses as well, and may have a group's id."""
    for entity in ("session", "task", "run"):
        book.record(entity, "G", "completed", "in_progress")


@pytest.mark.parametrize("other", [another_session, another_group, another_entity])
@pytest.mark.parametrize("story", STORIES)
def test_what_is_recorded_elsewhere_says_nothing_of_a_group(
    book: Ledger,
    monkeypatch: pytest.MonkeyPatch,
    story: Callable[[Ledger], None],
    other: Callable[[Ledger, pytest.MonkeyPatch], None],
) -> None:
    story(book)
    before = paths(book.connection)
    other(book, monkeypatch)
    assert paths(book.connection) == before


def test_a_group_waits_for_its_own_sessions_group_of_that_name(book: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    book.group("D")
    seq = book.depend("G", "D")
    ledger.begin_another_session(book, monkeypatch)
    book.group("D")
    book.reports(*CHAIN, group="D")
    book.complete("D")
    monkeypatch.undo()
    assert book.part("unblocked") == (0, "dependency", seq)


def pass_in_another_group(book: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    book.group("H")
    book.reports(*CHAIN[:2], group="H")


def pass_in_another_session(book: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    another_session(book, monkeypatch)
    book.reports(*CHAIN[:2], group="G")
    monkeypatch.undo()


@pytest.mark.parametrize("other", [pass_in_another_group, pass_in_another_session])
def test_a_pass_elsewhere_between_submission_and_approval_is_no_pass_of_the_group(
    book: Ledger, monkeypatch: pytest.MonkeyPatch, other: Callable[[Ledger, pytest.MonkeyPatch], None]
) -> None:
    submitted = book.report("developer", "submit_test")
    other(book, monkeypatch)
    book.reports(("tech_lead", "approve"), ("developer", "merge"))
    assert book.part("tested") == (0, "qa_unanswered", submitted)


@pytest.mark.parametrize(
    ("statuses", "part"),
    [
        pytest.param((), (0, "open_task", None), id="open"),
        pytest.param(("in_progress",), (0, "open_task", None), id="in progress"),
        pytest.param(("in_progress", "done"), (1, "clear", None), id="done"),
        pytest.param(("cancelled",), (0, "no_task_done", None), id="cancelled"),
    ],
)
def test_the_tasks_of_a_group_are_done_or_none_is_there(
    book: Ledger, statuses: tuple[str, ...], part: tuple[object, ...]
) -> None:
    chain(book)
    assert book.part("unblocked") == (1, "clear", None)
    book.task("T", "G", *statuses)
    assert book.part("unblocked") == part


def test_a_task_of_later_work_says_nothing_of_an_earlier_completion(book: Ledger) -> None:
    reopened(book)
    book.task("T", "G", "in_progress")
    assert [*path_history.unproven(book.connection, "S1")] == []
    book.record("group", "G", "in_progress", "completed")
    assert [(group, missing) for _, group, _, missing in path_history.unproven(book.connection, "S1")] == [
        ("G", "approved")
    ]


# --- acknowledgements: of the project manager, in the step and the session of the report


def elsewhere(book: Ledger, monkeypatch: pytest.MonkeyPatch, seq: int, role: str, effect: str, *known: str) -> None:
    """A report in the step of this number of another session."""
    monkeypatch.setattr(ledger, "SESSION", "S2")
    row = dict(book.connection.execute("SELECT * FROM sessions WHERE id = 'S1'").fetchone())
    book.insert("sessions", **row | {"id": "S2"})
    for group in known:
        book.group(group)
    book.seq, after = seq - 1, book.seq
    book.report(role, effect, None, acknowledge=known)
    book.seq = max(book.seq, after)
    monkeypatch.undo()


def test_what_somebody_else_acknowledges_is_not_acknowledged(
    book: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolved(book)
    book.report("project_manager", "continue", None)
    said = book.report("validator", "continue", None, acknowledge=("G",))
    elsewhere(book, monkeypatch, said, "project_manager", "continue")
    assert book.part("confirmed")[:2] == (0, "not_confirmed")
    book.report("project_manager", "continue", None, acknowledge=("G",))
    assert book.part("confirmed")[:2] == (1, "acknowledged")


def test_a_group_is_not_acknowledged_by_a_confirmation_of_another_session(
    book: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    confirmed_at = book.report("project_manager", "confirm", None)
    elsewhere(book, monkeypatch, confirmed_at, "project_manager", "confirm", "G")
    assert book.path()["pm_path"] == 0


def test_only_the_project_manager_confirms(book: Ledger) -> None:
    acknowledged(book)
    assert book.path()["pm_path"] == 1
    book.report("validator", "confirm", None)
    assert book.path()["pm_path"] == 1
