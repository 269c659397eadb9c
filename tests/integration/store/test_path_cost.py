"""A look at a completion path, and a write, cost the same however long the record is."""

from __future__ import annotations

import itertools
import re
import sqlite3
from collections.abc import Callable

import pytest

from orchestrator.store import guards, queries
from tests.integration.store import ledger
from tests.integration.store.ledger import CHAIN

PATH = "SELECT * FROM completion_paths WHERE session_id = 'S1' AND group_id = 'G'"
# What is walked row by row: the answers of inner queries, never a table.
WALKED = re.compile(r"SCAN (\(subquery-\d+\)|CONSTANT ROW|w|j|p|group_reasons)\Z")


def test_no_table_is_scanned_for_a_path(book: ledger.Ledger) -> None:
    plan = [row["detail"] for row in book.connection.execute(f"EXPLAIN QUERY PLAN {PATH}")]
    assert [step for step in plan if step.startswith("SCAN") and not WALKED.match(step)] == []
    assert len([step for step in plan if "INDEX ix_agent_reports_" in step]) > 15


def test_every_read_of_reports_names_its_index() -> None:
    reads = [place.split() for _, sql in guards.VIEWS for place in sql.split("FROM agent_reports")[1:]]
    assert {" ".join(words[1:3]) for words in reads} == {"INDEXED BY"}


def tested(book: ledger.Ledger) -> None:
    book.reports(*CHAIN)


def failed_before(book: ledger.Ledger) -> None:
    book.reports(CHAIN[0], ("qa_expert", "test_fail"), *CHAIN)


def never_sent_to_qa(book: ledger.Ledger) -> None:
    book.reports(("developer", "submit_review"), *CHAIN[2:])


def with_tasks(book: ledger.Ledger) -> None:
    book.task("T1", "G", "in_progress", "done")
    book.reports(*CHAIN)


def after_another(book: ledger.Ledger) -> None:
    book.group("A")
    book.depend("G", "A")
    book.reports(*CHAIN, group="A")
    book.complete("A")
    book.reports(*CHAIN)


def from_a_worktree(book: ledger.Ledger) -> None:
    book.reports(*CHAIN[:3])
    turn, _ = book.start()
    book.merge("G", "merged", turn=turn)


def beside_a_worktree(book: ledger.Ledger) -> None:
    book.group("A")
    book.start("A")
    book.reports(*CHAIN)


def blocked_before(book: ledger.Ledger) -> None:
    book.resolve(book.block())
    book.reports(*CHAIN, ("project_manager", "confirm"))


def beside_a_blocked_one(book: ledger.Ledger) -> None:
    book.block(book.group("A"))
    book.reports(*CHAIN)


SHAPES: dict[str, tuple[Callable[[ledger.Ledger], None], bool]] = {
    "tested": (tested, True),
    "tested again after a failure": (failed_before, True),
    "never sent to QA": (never_sent_to_qa, True),
    "with a task that is done": (with_tasks, True),
    "after another group": (after_another, True),
    "merged from a worktree": (from_a_worktree, True),
    "beside a worktree": (beside_a_worktree, True),
    "beside a blocked group": (beside_a_blocked_one, True),
    "blocked before": (blocked_before, False),
}


@pytest.mark.parametrize("name", SHAPES)
def test_the_usual_completed_groups_are_judged_in_one_statement(book: ledger.Ledger, name: str) -> None:
    play, plain = SHAPES[name]
    book.group("G")
    play(book)
    assert book.path()["chain"] == 1
    assert book.is_plain() is plain
    book.complete("G")
    asked = [row[0] for row in book.connection.execute(queries.NOT_PLAIN, {"session": ledger.SESSION})]
    assert ("G" in asked) is not plain


@pytest.mark.parametrize(
    ("kind", "security", "mode"), [("research", False, "full"), ("code", True, "full"), ("code", False, "disabled")]
)
def test_a_group_is_plain_by_what_its_kind_and_session_ask_for(kind: str, security: bool, mode: str) -> None:
    written = ledger.Ledger(ledger.empty(), testing_mode=mode)
    written.group("G", kind=kind, security=security)
    if kind == "research":
        written.reports(("tech_lead", "approve"))
    elif mode == "disabled":
        written.reports(CHAIN[0], *CHAIN[2:])
    else:
        written.reports(*CHAIN)
    assert written.is_plain()
    assert written.path()["chain"] == 1


# What takes a plain group its proof: each is one row more.
LATER: dict[str, Callable[[ledger.Ledger], object]] = {
    "a report that voids the approval": lambda book: book.report("developer", "progress"),
    "a failed test": lambda book: book.report("qa_expert", "test_fail"),
    "a blocker": lambda book: book.block(),
    "a question": lambda book: book.ask(),
    "an open task": lambda book: book.task("T1", "G"),
    "a cancelled task alone": lambda book: book.task("T1", "G", "cancelled"),
    "a dependency": lambda book: book.depend("G", book.group("A")),
    "a mandatory review": lambda book: book.decide(mandatory_review=True),
    "a reopening": lambda book: (book.complete("G"), book.reopen("G")),
    "a merge from a worktree that nobody saw": lambda book: book.merge(turn=book.start()[0]),
}


@pytest.mark.parametrize("name", LATER)
def test_a_group_is_no_longer_plain_after(book: ledger.Ledger, name: str) -> None:
    book.group("G")
    book.reports(*CHAIN)
    assert book.is_plain()
    LATER[name](book)
    assert not book.is_plain()


def grown(reports: int) -> ledger.Ledger:
    """A session whose one group has so many reports, and half as many decisions, blockers and changes."""
    written = ledger.Ledger(ledger.empty())
    written.group("G")
    written.reports(*CHAIN)
    last = written.seq
    guards.drop_all(written.connection)
    numbers = f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {reports})"
    effects = "submit_test test_pass test_fail block inconclusive approve reject merge confirm submit_review".split()
    roles = "developer qa_expert qa_expert qa_expert qa_expert tech_lead tech_lead developer project_manager".split()
    effect = " ".join(f"WHEN {place} THEN '{word}'" for place, word in enumerate(effects))
    role = " ".join(f"WHEN {place} THEN '{word}'" for place, word in enumerate(roles))
    for sql in (
        "INSERT INTO agent_reports (session_id, seq, group_id, role, agent_id, response_status, raw_role, raw_status,"
        " effect, turn_assumed, summary, details, reported_at) "
        f"{numbers} SELECT 'S1', {last} + i, 'G', CASE i % 10 {role} ELSE 'developer' END, 'developer', 'X', 'x', 'x',"
        f" CASE i % 10 {effect} END, 0, 's', '{{}}', 't' FROM n",
        "INSERT INTO acknowledgements (session_id, seq, group_id, reason)"
        " SELECT session_id, seq, 'G', 'known' FROM agent_reports WHERE effect = 'confirm'",
        "INSERT INTO router_decisions (session_id, seq, group_id, current_agent, response_status, action, timestamp,"
        " cause, rules, workflow_version_id, rules_version, mandatory_review, answer) "
        f"{numbers} SELECT 'S1', {last} + i, 'G', 'x', 'x', 'x', 't', 'task', '[]', 1, 1, i % 2, '{{}}' FROM n",
        "INSERT INTO status_changes (session_id, seq, entity, entity_id, from_status, to_status, changed_by,"
        f" changed_at, reason, cause) {numbers} SELECT 'S1', {last} + i, 'group', 'G', 'completed', 'in_progress',"
        " 'x', 't', 'r', 'c' FROM n WHERE i % 2",
        "INSERT INTO blockers (id, session_id, group_id, type, class, reason, opened_at, opened_seq, cause,"
        f" resolved_at, resolved_seq, resolution) {numbers} SELECT 'B' || i, 'S1', 'G', 'm', 'hard', 'r', 't',"
        f" {last} + i, 'manual', 't', {last} + i, 'accepted' FROM n WHERE i % 2",
    ):
        written.connection.execute(sql)
    guards.create_all(written.connection)
    written.seq = last + reports
    for _ in range(2):
        written.reports(*CHAIN)
    return written


def instructions(connection: sqlite3.Connection, work: Callable[[], object]) -> int:
    """How many instructions of SQLite's machine something takes."""
    counted = itertools.count()
    work()
    connection.set_progress_handler(lambda: next(counted) < 0, 1)
    work()
    connection.set_progress_handler(None, 0)
    return next(counted)


@pytest.mark.slow
def test_a_path_and_a_report_cost_the_same_at_any_length() -> None:
    costs = []
    for reports in (100, 100_000):
        written = grown(reports)
        path = instructions(written.connection, written.viewed)
        report = instructions(written.connection, lambda: written.report("developer", "progress"))  # noqa: B023
        costs.append((path, report))
        written.connection.close()
    (short_path, short_report), (long_path, long_report) = costs
    assert long_path <= 1.5 * short_path
    assert long_report <= 1.5 * short_report
