"""Faults that such systems had with tasks, each as its situation and the right result."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.app.task import claims
from orchestrator.core import task_graph
from orchestrator.store.task_edges import Edges
from tests.acceptance.test_blocked_task_recovery import nobodys_block
from tests.integration.app.board import SESSION, Board, board

__all__ = ["board"]


@pytest.mark.parametrize(
    ("by", "code"),
    [
        ("dev-1", "UNBLOCK_NOT_PERMITTED"),
        ("DEV-1", "UNKNOWN_AGENT"),
        ("dev-1 ", "UNKNOWN_AGENT"),
        ("developer", "UNBLOCK_NOT_PERMITTED"),
        (None, "ACTOR_REQUIRED"),
        ("human", "UNKNOWN_AGENT"),
        ("user", "HUMAN_REQUIRED"),
    ],
    ids=str,
)
def test_b01_who_raised_a_hard_block_does_not_lift_it(board: Board, by: str | None, code: str) -> None:
    board.task("T")
    board.move("T", "in_progress")
    board.move("T", "blocked", blocker_type="permission_denied", reason="needs a key")
    assert board.no("T", "in_progress", by=by).code == code
    assert board.status("T") == {"T": "blocked"}
    assert board.refusals()[-1] == (by or "", code)
    with board.person():
        board.move("T", "in_progress", by="user", reason="key given")
    (row,) = board.show("T")["blockers"]
    assert (row["opened_by"], row["resolved_by"]) == ("dev-1", "user")


def test_b03_a_task_that_was_created_blocked_stays_blocked(board: Board) -> None:
    board.task("P")
    board.task("T", parent="P", by="tech_lead", status="blocked", reason="not yet")
    (blocker,) = board.open("T")
    board.move("P", "in_progress")
    assert board.call("next", agent_id="dev-1")["action"] == "wait_for_unblock"
    assert board.refused("task claim", id="T", agent_id="dev-1").code == "ILLEGAL_MOVE"
    board.move("P", "blocked")
    board.move("P", "in_progress")
    assert (board.status("T"), board.open("T")) == ({"T": "blocked"}, [blocker])
    assert board.no("T", "in_progress").code == "UNBLOCK_NOT_PERMITTED"


def test_b06_nobody_on_record_equals_no_actor(board: Board) -> None:
    nobodys_block(board, "T")
    assert board.no("T", "in_progress", by="dev-9").code == "UNKNOWN_AGENT"
    assert board.no("T", "in_progress", by=None).code == "ACTOR_REQUIRED"
    board.move("T", "in_progress", by="dev-2")
    assert [row["resolution"] for row in board.show("T")["blockers"]] == ["legacy"]


def test_b07_each_blocker_is_lifted_alone_and_once(board: Board) -> None:
    board.task("T")
    board.move("T", "in_progress")
    for type_, reason in (("missing_dependency", "no key"), ("manual", "soft"), ("missing_dependency", "no key")):
        board.move("T", "blocked", blocker_type=type_, reason=reason)
    hard, soft, other = board.open("T")
    with board.person():
        board.resolve(hard, by="user")
        assert board.open("T") == [soft, other]
        assert board.refused("blocker resolve", id=hard, by="user", reason="x").code == "ALREADY_RESOLVED"
    board.move("T", "blocked", blocker_type="missing_dependency", reason="no key")
    third = board.open("T")[-1]
    assert third not in (hard, soft, other)
    with board.person():
        for each in (soft, other, third):
            assert board.status("T") == {"T": "blocked"}
            board.resolve(each, by="user")
    assert board.status("T") == {"T": "in_progress"}


def test_d01_a_ring_of_three_is_refused_with_all_of_it(board: Board) -> None:
    for id_ in ("A1", "B1", "C1"):
        board.task(id_)
    board.call("task depend", id="A1", on="B1")
    board.call("task depend", id="B1", on="C1")
    refusal = board.refused("task depend", id="C1", on="A1")
    assert (refusal.code, refusal.data["cycle"]) == ("DEPENDENCY_CYCLE", ["C1", "A1", "B1", "C1"])


def test_d05_what_is_waited_for_is_offered_and_not_what_waits(board: Board) -> None:
    board.task("A1")
    board.task("B1", depends_on=("A1",))
    assert board.call("next", agent_id="dev-1")["task"]["id"] == "A1"
    board.move("A1", "in_progress", "done")
    assert board.call("next", agent_id="dev-1")["task"]["id"] == "B1"


def test_d08_a_cancelled_dependency_is_a_decision_and_can_be_dropped(board: Board) -> None:
    board.task("P")
    board.task("A1", parent="P")
    board.task("B1", parent="P", depends_on=("A1",))
    board.move("P", "in_progress")
    board.move("A1", "cancelled")
    assert board.show("B1")["depends_on"][0]["status"] == "cancelled"
    found = board.call("next", agent_id="dev-1")
    assert (found["action"], found["state"]) == ("needs_decision", "dependency_cancelled")
    assert "B1" in str(found["task"])
    assert found["dependency"] == "A1"
    board.call("task undepend", id="B1", on="A1", reason="A1 was cancelled")
    assert board.move("B1", "in_progress")["status"] == "in_progress"
    assert board.refused("task create", id="A1", title="again").code == "ALREADY_EXISTS"


def test_d12_one_total_order_whatever_the_order_of_rows(board: Board) -> None:
    from orchestrator.app.kernel import operations

    now, board.context.clock = board.context.clock, lambda: "2026-02-02T00:00:00.000000Z"
    for id_ in ("T9", "T10", "T2"):
        operations.call(board.context, "task create", id=id_, title="t", session_id=SESSION, assignee="dev-1")
    board.context.clock = now
    for id_ in ("T2", "T9", "T10"):
        for _ in range(3):
            assert board.call("next", agent_id="dev-1")["task"]["id"] == id_
        board.move(id_, "in_progress", "done")


def test_l01_a_claim_is_idempotent_by_its_token_and_not_by_a_name(board: Board) -> None:
    board.task("T")
    first = board.call("task claim", id="T", agent_id="dev-1")
    assert board.refused("task claim", id="T", agent_id="dev-1").code == "CLAIM_LOST"
    again = board.call("task claim", id="T", agent_id="dev-1", claim_token=first["claim"]["token"])
    assert again["claim"]["token"] == first["claim"]["token"]
    assert board.refused("task claim", id="T", agent_id="dev-2").code in ("CLAIM_LOST", "NOT_PERMITTED")


def test_l03_a_late_report_with_an_old_token_moves_nothing(board: Board) -> None:
    board.task("T", assignee=None)
    first = board.call("task claim", id="T", agent_id="dev-1")["claim"]["token"]
    board.call("task release", id="T", by="dev-1", claim_token=first)
    assert (board.show("T")["status"], board.show("T")["claim_holder"]) == ("todo", None)
    board.move("T", "in_progress")
    second = board.call("task claim", id="T", agent_id="dev-1")["claim"]["token"]
    refusal = board.no("T", "done", claim_token=first)
    assert (refusal.code, refusal.data["holder"]) == ("CLAIM_LOST", "dev-1")
    assert board.refused("task release", id="T", by="dev-1", claim_token=first).code == "CLAIM_LOST"
    assert board.show("T")["claim_holder"] == "dev-1"
    board.move("T", "done", claim_token=second)
    assert board.show("T")["claim_holder"] is None


def test_l04_an_overdue_claim_is_taken_over_on_record(board: Board) -> None:
    board.task("T", assignee=None)
    board.call("task claim", id="T", agent_id="dev-1", lease=60)
    assert board.refused("task claim", id="T", agent_id="dev-2").code == "CLAIM_LOST"
    board.clock.seconds += claims.LEASE_S * 2
    found = board.call("task claim", id="T", agent_id="dev-2")
    assert found["taken_over_from"] == "dev-1"
    assert board.rows(
        "SELECT from_status, to_status FROM status_changes WHERE entity = 'task_claim' AND entity_id = 'T'"
    ) == [("dev-1", "dev-2")]


# --- scale


def edges(board: Board, pairs: list[tuple[str, str]]) -> None:
    """Tasks and dependencies, written at once."""
    connection = board.context.connection
    connection.execute("BEGIN IMMEDIATE")
    for id_ in dict.fromkeys(id_ for pair in pairs for id_ in pair):
        connection.execute(
            "INSERT INTO tasks (session_id, id, title, description, type, created_at, created_seq, status,"
            " status_changed_at, status_seq) VALUES ('S1', ?, 't', '', 'REPORT', '2025', 1, 'todo', '2025', 1)",
            (id_,),
        )
    for pair in pairs:
        connection.execute(
            "INSERT INTO task_dependencies (session_id, task_id, depends_on_id, seq) VALUES ('S1', ?, ?, 1)", pair
        )
    connection.execute("COMMIT")


def diamonds(layers: int) -> list[tuple[str, str]]:
    pairs = []
    for layer in range(layers):
        here, there = f"a{layer}", f"a{layer + 1}"
        for side in (f"b{layer}", f"c{layer}"):
            pairs += [(here, side), (side, there)]
    return pairs


def chain(size: int) -> list[tuple[str, str]]:
    return [(f"T{number}", f"T{number + 1}") for number in range(size)]


def test_x01_a_lattice_of_diamonds_costs_its_edges_and_not_its_ways(board: Board) -> None:
    edges(board, diamonds(24))
    board.task("new")
    board.call("task depend", id="new", on="a0")
    refusal = board.refused("task depend", id="a24", on="new")
    assert (refusal.code, len(refusal.data["cycle"])) == ("DEPENDENCY_CYCLE", 51)


def test_x01_a_long_ring_is_found_whole(board: Board) -> None:
    edges(board, chain(5000))
    refusal = board.refused("task depend", id="T5000", on="T0")
    assert (refusal.code, len(refusal.data["cycle"])) == ("DEPENDENCY_CYCLE", 5002)


def test_x01_a_task_with_many_dependencies_is_told_of_what_is_open(board: Board) -> None:
    edges(board, [("wide", f"D{number}") for number in range(17)])
    board.context.connection.execute("UPDATE tasks SET assignee = 'dev-1', version = 2 WHERE id = 'wide'")
    assert len(board.no("wide", "in_progress").data["open"]) == 17


@pytest.mark.sqlite("statements of SQLite are counted")
def test_x01_a_chain_grows_at_its_end_by_a_few_statements(board: Board) -> None:
    edges(board, chain(400))
    board.task("new")
    counted: list[str] = []
    board.context.connection.set_trace_callback(counted.append)
    board.call("task depend", id="new", on="T0")
    board.context.connection.set_trace_callback(None)
    assert len([each for each in counted if each.startswith("SELECT")]) < 60


@pytest.mark.parametrize("plan", [chain, lambda size: diamonds(size // 4)], ids=["chain", "lattice"])
@pytest.mark.sqlite("statements of SQLite are counted")
def test_x01_many_edges_are_asked_about_in_few_statements(board: Board, plan: Any) -> None:
    edges(board, plan(4000))
    connection = board.context.connection
    counted: list[str] = []
    connection.set_trace_callback(counted.append)
    assert task_graph.ring_of_task(Edges(connection, SESSION), "nothing", plan(4000)[0][0]) == []
    connection.set_trace_callback(None)
    assert len(counted) < 300
