"""Agents that do nothing but what `next` tells them: no command is refused, and all work comes to its end."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator.errors import OrchestratorError
from tests.conftest import LONG
from tests.integration.tasks.board import DEV, LEAD, PM, Board, in_memory
from tests.integration.tasks.obeying import commands, obey, run

AGENTS = ["dev-1", "dev-2", LEAD]
WORKERS = [DEV, "investigator", "qa_expert", "requirements_engineer", "senior_software_engineer"]
MAINS = ["M1", "M2", "M3"]
SUBS = [f"{main}.{number}" for main in MAINS for number in (1, 2, 10)]

Step = tuple[str, ...]
WHO = st.sampled_from(["dev-1", "dev-2", LEAD])
ANY = st.sampled_from(MAINS + SUBS)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("depend"), ANY, ANY),
        st.tuples(st.just("in_progress"), ANY, WHO),
        st.tuples(st.just("blocked"), ANY, WHO),
        st.tuples(st.just("cancelled"), ANY, WHO),
        st.tuples(st.just("done"), ANY, WHO),
        st.tuples(st.just("claim"), ANY, WHO),
    ),
    max_size=25,
)
OWNERS = st.lists(st.sampled_from([None, "dev-1", "dev-2", LEAD]), min_size=12, max_size=12)
PRIORITIES = st.lists(st.sampled_from(["urgent", "medium", "low"]), min_size=12, max_size=12)


def prepared(owners: list[str | None], priorities: list[str], steps: list[Step]) -> Board:
    """A board after a story of which each step was taken or refused."""
    board = in_memory()
    for id, owner, priority in zip(MAINS + SUBS, owners, priorities, strict=True):
        parent = id.partition(".")[0] if "." in id else None
        board.task(id, assignee=owner, priority=priority, parent=parent)
    for step in steps:
        attempt(board, *step)
    return board


def attempt(board: Board, what: str, id: str, other: str) -> None:
    try:
        if what == "depend":
            board.call("task depend", id=id, on=other, session_id="S1", by=LEAD)
        elif what == "claim":
            board.claim(id, other)
        else:
            board.move(id, what, by=other)
    except OrchestratorError:
        pass


def open_tasks(board: Board) -> dict[str, Any]:
    rows = board.context.connection.execute("SELECT id, status FROM tasks WHERE status NOT IN ('done', 'cancelled')")
    return dict(rows.fetchall())


def stopped(answer: dict[str, Any]) -> bool:
    """Whether an agent waits for what another one must do first: lift a block, or take a task for want of room."""
    return answer["action"] == "wait_for_unblock" or "there is no room for it now" in answer["instruction"]


stories = given(OWNERS, PRIORITIES, STEPS)
few = settings(max_examples=100 if LONG else 10, suppress_health_check=list(HealthCheck))


@few
@stories
def test_no_command_that_next_names_is_refused(
    owners: list[str | None], priorities: list[str], steps: list[Step]
) -> None:
    board = prepared(owners, priorities, steps)
    for agent in AGENTS:
        obey(board, board.next(agent))


@few
@given(OWNERS, PRIORITIES, STEPS, st.sampled_from([None, "dev-1", "dev-2"]))
def test_next_offers_exactly_what_a_claim_gives(
    owners: list[str | None], priorities: list[str], steps: list[Step], gone: str | None
) -> None:
    board = prepared(owners, priorities, steps)
    if gone is not None:
        board.call("agent deactivate", id=gone, by=PM, reason="it died")
    for asker in sorted({"dev-1", "dev-2", "qa_expert"} - {gone}):
        answer = board.next(asker)
        if answer["action"] == "no_work":
            free = [id for id in open_tasks(board) if board.shown(id)["assignee"] in (None, gone, asker)]
            assert [id for id in free if taken(board, id, asker)] == []
        elif answer["action"] == "get_task":
            assert board.claim(None, asker)["task"]["id"] == answer["task"]["id"]


def taken(board: Board, id: str, asker: str) -> bool:
    """Whether an agent gets a task by its name."""
    try:
        return board.claim(id, asker)["task"] is not None
    except OrchestratorError:
        return False


@few
@stories
def test_all_work_ends_or_waits_for_a_decision(
    owners: list[str | None], priorities: list[str], steps: list[Step]
) -> None:
    board = prepared(owners, priorities, steps)
    assert run(board, [*AGENTS, *WORKERS, PM])
    left = open_tasks(board)
    why = {agent: board.next(agent) for agent in AGENTS}
    assert left == {} or any(map(stopped, why.values())), (left, why)


@few
@stories
def test_asking_twice_is_answered_alike_and_writes_nothing(
    owners: list[str | None], priorities: list[str], steps: list[Step]
) -> None:
    board = prepared(owners, priorities, steps)
    before = board.everything()
    answers = [board.next(agent) for agent in AGENTS]
    assert [board.next(agent) for agent in AGENTS] == answers
    assert board.everything() == before


@few
@stories
def test_nobody_is_told_of_a_deadlock_where_there_is_no_ring(
    owners: list[str | None], priorities: list[str], steps: list[Step]
) -> None:
    board = prepared(owners, priorities, steps)
    assert "dependency_deadlock" not in {board.next(agent)["action"] for agent in AGENTS}


def test_the_command_of_a_sentence_is_taken_apart() -> None:
    answer = {"instruction": "Start T by `orchestrator task set-status T done --session-id S1 --by dev-1`, then"
              " `orchestrator next --agent-id dev-1`."}  # fmt: skip
    assert commands(answer) == [("task set-status", {"id": "T", "status": "done", "session_id": "S1", "by": "dev-1"})]


@pytest.mark.parametrize("owner", [pytest.param("dev-1", id="a worker's"), pytest.param(LEAD, id="a manager's")])
def test_a_plain_piece_of_work_is_done_by_following(tmp_path: pathlib.Path, owner: str) -> None:
    board = Board(tmp_path)
    board.task("T", assignee=owner)
    board.task("T.1", parent="T")
    board.task("T.2", parent="T", depends_on=("T.1",))
    assert run(board, [*AGENTS, *WORKERS, PM])
    assert open_tasks(board) == {}
