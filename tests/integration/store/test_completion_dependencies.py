"""A group is unblocked: nothing open on it, and all that it depends on is done or awaits its confirmation alone."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import pytest

from tests.integration.store import ledger
from tests.integration.store.ledger import BLOCKED_CHAIN, CHAIN, merged


@pytest.fixture
def book(book: ledger.Ledger) -> ledger.Ledger:
    """With a group that was started."""
    book.group("G")
    return book


def awaiting_confirmation(book: ledger.Ledger, group: str) -> None:
    """Give a group everything but the confirmation."""
    book.reports(*BLOCKED_CHAIN, group=group)
    assert book.path(group)["awaiting_confirmation"] == 1


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
    depended = book.depend("G", "D")
    assert book.part("unblocked") == (0, "dependency", depended)
    assert book.path()["unblocked_ref"] == "D"
    merged(book, "D")
    book.complete("D")
    assert book.part("unblocked") == (1, "clear", None)


def test_a_dependency_that_was_never_started_blocks(book: ledger.Ledger) -> None:
    book.group("D", started=False)
    depended = book.depend("G", "D")
    merged(book, "G")
    assert (book.part("unblocked"), book.path()["missing"]) == ((0, "dependency", depended), "unblocked")


def test_a_dependency_that_only_another_session_dropped_blocks(
    book: ledger.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    book.group("D")
    book.depend("G", "D")
    merged(book, "G")
    ledger.begin_another_session(book, monkeypatch)
    for group in ("G", "D"):
        book.group(group)
    book.depend("G", "D")
    book.undepend("G", "D")
    monkeypatch.undo()
    assert book.path()["missing"] == "unblocked"


def test_a_dropped_dependency_does_not_block(book: ledger.Ledger) -> None:
    book.group("D")
    book.depend("G", "D")
    book.undepend("G", "D")
    assert book.part("unblocked") == (1, "clear", None)
    book.depend("G", "D")
    assert book.part("unblocked")[:2] == (0, "dependency")


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
    if trouble == "reject":
        book.report("tech_lead", "reject", "D")
    else:
        getattr(book, trouble)("D")
    assert book.part("unblocked")[:2] == (0, "dependency")


@pytest.mark.parametrize("part", ["tested", "merged", "reviewed"])
def test_a_dependency_that_misses_a_part_is_not_satisfied(book: ledger.Ledger, part: str) -> None:
    book.group("D")
    book.depend("G", "D")
    qa = () if part == "tested" else (("qa_expert", "test_pass"),)
    merge = () if part == "merged" else (("developer", "merge"),)
    book.reports(("developer", "submit_test"), *qa, ("tech_lead", "approve"), *merge, group="D")
    if part == "reviewed":
        book.decide("D", mandatory_review=True)
    assert book.path("D")["missing"] == part
    assert book.part("unblocked")[:2] == (0, "dependency")


def test_a_deferred_dependency_is_not_satisfied(book: ledger.Ledger) -> None:
    book.group("D")
    book.depend("G", "D")
    book.defer("D", book.block("D", external=True))
    assert book.part("unblocked")[:2] == (0, "dependency")


def test_a_cancelled_dependency_is_not_satisfied_even_when_it_was_merged(book: ledger.Ledger) -> None:
    book.group("D")
    book.depend("G", "D")
    awaiting_confirmation(book, "D")
    book.move("D", "in_progress", "cancelled")
    assert book.path("D")["awaiting_confirmation"] == 0
    assert book.part("unblocked")[:2] == (0, "dependency")


SINGLE = (
    ("developer", "submit_test"),
    ("developer", "submit_review"),
    ("developer", "merge"),
    ("qa_expert", "test_pass"),
    ("qa_expert", "test_fail"),
    ("qa_expert", "inconclusive"),
    ("qa_expert", "none"),
    ("tech_lead", "approve"),
    ("tech_lead", "reject"),
    ("tech_lead", "none"),
    ("senior_software_engineer", "approve"),
)
Reports = tuple[tuple[str, str], ...]


def nearly(chain: Reports) -> Iterator[Reports]:
    """A chain, and all that one report too many, too few or in the place of another makes of it."""
    yield chain
    for place in range(len(chain) + 1):
        yield from ((*chain[:place], each, *chain[place:]) for each in SINGLE)
    for place in range(len(chain)):
        yield (*chain[:place], *chain[place + 1 :])
        yield from ((*chain[:place], each, *chain[place + 1 :]) for each in SINGLE)


def reopened(book: ledger.Ledger) -> None:
    """QA had not finished when it was completed."""
    book.reports(*BLOCKED_CHAIN)
    book.report("project_manager", "confirm", None)
    book.complete("G")
    book.reopen("G")


def reviewed(book: ledger.Ledger) -> None:
    book.report("tech_lead", "none", "G")
    book.decide("G", mandatory_review=True)


@pytest.mark.parametrize(
    ("kind", "security", "mode", "before"),
    [
        pytest.param("code", False, "full", None, id="code"),
        pytest.param("code", False, "full", reopened, id="reopened"),
        pytest.param("code", False, "full", reviewed, id="mandatory review"),
        pytest.param("code", True, "full", None, id="security"),
        pytest.param("code", False, "minimal", None, id="minimal testing"),
        pytest.param("research", False, "full", None, id="research"),
        pytest.param("chat", False, "full", None, id="chat"),
    ],
)
@pytest.mark.parametrize(
    "chain",
    [
        pytest.param(CHAIN, id="tested"),
        pytest.param(BLOCKED_CHAIN, id="blocked"),
        pytest.param((("developer", "submit_review"), ("tech_lead", "approve"), ("developer", "merge")), id="untested"),
    ],
)
def test_a_dependency_is_satisfied_when_its_own_path_lacks_the_confirmation_alone(
    kind: str, security: bool, mode: str, before: Callable[[ledger.Ledger], None] | None, chain: Reports
) -> None:
    book = ledger.Ledger(ledger.empty(), testing_mode=mode)
    book.group("G", kind=kind, security=security)
    book.group("W")
    book.depend("W", "G")
    if before is not None:
        before(book)
    for reports in nearly(chain):
        book.connection.execute("SAVEPOINT before")
        book.reports(*reports)
        met = all(book.part(part)[0] for part in ("approved", "tested", "merged", "reviewed"))
        assert (book.part("unblocked", "W")[1], reports) == ("clear" if met else "dependency", reports)
        book.connection.execute("ROLLBACK TO before")
    book.connection.close()


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


def test_a_research_group_that_is_waited_for_needs_no_review(book: ledger.Ledger) -> None:
    book.group("D", kind="research")
    book.depend("G", "D")
    book.report("tech_lead", "approve", "D")
    book.decide("D", mandatory_review=True)
    assert book.part("unblocked") == (1, "clear", None)


@pytest.mark.parametrize(
    "tasks",
    [
        pytest.param([("in_progress", "done"), ()], id="one to do"),
        pytest.param([("in_progress", "done"), ("in_progress",)], id="one begun"),
        pytest.param([("cancelled",)], id="all cancelled"),
    ],
)
def test_what_is_waited_for_has_its_tasks_done(book: ledger.Ledger, tasks: list[tuple[str, ...]]) -> None:
    book.group("D")
    seq = book.depend("G", "D")
    awaiting_confirmation(book, "D")
    for number, statuses in enumerate(tasks):
        book.task(f"T{number}", "D", *statuses)
    assert book.part("unblocked") == (0, "dependency", seq)


@pytest.mark.parametrize("other", ["S0", "S2"])
def test_the_step_of_a_dependency_is_the_one_of_its_own_session(
    book: ledger.Ledger, monkeypatch: pytest.MonkeyPatch, other: str
) -> None:
    book.group("D")
    depended = book.depend("G", "D")
    ledger.begin_another_session(book, monkeypatch, other)
    for group in ("G", "D"):
        book.group(group)
    book.depend("G", "D")
    monkeypatch.undo()
    assert book.part("unblocked") == (0, "dependency", depended)


def test_the_step_of_a_dependency_that_was_dropped_and_added_again_is_the_newer_one(book: ledger.Ledger) -> None:
    book.group("D")
    book.depend("G", "D")
    book.undepend("G", "D")
    again = book.depend("G", "D")
    assert book.part("unblocked") == (0, "dependency", again)


@pytest.mark.parametrize("other", ["S0", "S2"])
@pytest.mark.parametrize("settled", [True, False])
def test_whether_a_group_is_settled_is_asked_in_its_own_session(
    book: ledger.Ledger, monkeypatch: pytest.MonkeyPatch, settled: bool, other: str
) -> None:
    book.group("D")
    book.depend("G", "D")
    if settled:
        awaiting_confirmation(book, "D")
    ledger.begin_another_session(book, monkeypatch, other)
    book.group("D")
    if not settled:
        merged(book, "D")
    monkeypatch.undo()
    assert book.part("unblocked")[1] == ("clear" if settled else "dependency")


@pytest.fixture
def waiting(book: ledger.Ledger) -> ledger.Ledger:
    """G depends on A, which awaits its confirmation and depends on B, which is open."""
    for group in ("A", "B"):
        book.group(group)
    book.depend("G", "A")
    awaiting_confirmation(book, "A")
    book.depend("A", "B")
    return book


def test_a_group_waits_for_what_its_dependency_waits_for(waiting: ledger.Ledger) -> None:
    assert (waiting.part("unblocked"), waiting.path()["unblocked_ref"]) == ((0, "dependency", None), "B")


def test_a_group_waits_no_more_for_what_its_dependency_dropped(waiting: ledger.Ledger) -> None:
    waiting.undepend("A", "B")
    assert waiting.part("unblocked") == (1, "clear", None)


def test_a_group_waits_no_more_for_what_its_dependency_saw_completed(waiting: ledger.Ledger) -> None:
    merged(waiting, "B")
    waiting.complete("B")
    assert waiting.part("unblocked") == (1, "clear", None)


def test_a_group_goes_on_waiting_when_others_of_its_dependency_are_completed(waiting: ledger.Ledger) -> None:
    waiting.group("C")
    waiting.depend("A", "C")
    merged(waiting, "C")
    waiting.complete("C")
    assert waiting.path()["unblocked_ref"] == "B"


def test_a_group_goes_on_waiting_when_another_session_completed_one_of_that_name(
    waiting: ledger.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.begin_another_session(waiting, monkeypatch)
    waiting.group("B")
    merged(waiting, "B")
    waiting.complete("B")
    monkeypatch.undo()
    assert waiting.path()["unblocked_ref"] == "B"


def test_a_group_waits_for_nothing_that_another_sessions_groups_wait_for(
    waiting: ledger.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting.undepend("A", "B")
    ledger.begin_another_session(waiting, monkeypatch)
    chain_of(waiting, "A", "X")
    monkeypatch.undo()
    assert waiting.part("unblocked") == (1, "clear", None)


def test_a_group_that_still_waits_for_another_waits_no_more_for_what_it_dropped(waiting: ledger.Ledger) -> None:
    waiting.undepend("A", "B")
    waiting.group("X")
    waiting.depend("G", "X")
    waiting.undepend("G", "X")
    assert waiting.part("unblocked") == (1, "clear", None)


def test_a_group_waits_for_nothing_that_the_group_of_its_name_in_another_session_waits_for(
    waiting: ledger.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting.undepend("A", "B")
    waiting.group("X")
    ledger.begin_another_session(waiting, monkeypatch)
    for group in ("G", "X"):
        waiting.group(group)
    waiting.depend("G", "X")
    monkeypatch.undo()
    assert waiting.part("unblocked") == (1, "clear", None)


def test_a_cycle_of_dependencies_ends(book: ledger.Ledger) -> None:
    chain_of(book, "A", "B")
    book.depend("B", "A")
    book.depend("G", "A")
    assert book.part("unblocked")[1] == "dependency"
    for group in ("A", "B"):
        book.reports(*BLOCKED_CHAIN, group=group)
    assert book.part("unblocked") == (1, "clear", None)
