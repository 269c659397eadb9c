"""What an agent means where it does not say, and the documents that its session is pinned to."""

from __future__ import annotations

import pytest

from orchestrator.app.kernel import operations
from orchestrator.app.task import implied_arguments
from orchestrator.app.workflow import session_documents
from orchestrator.errors import OrchestratorError, Refused
from tests.integration.app.board import Board, board

__all__ = ["board"]

WORKER = "dev-1"


def test_an_agent_reports_in_its_role(board: Board) -> None:
    assert implied_arguments.role(board.context, WORKER, "S1") == "developer"
    assert implied_arguments.role(board.context, "tech_lead", None) == "tech_lead"


@pytest.mark.parametrize(
    ("session", "chain", "code"),
    [("S1", "S1", "UNKNOWN_AGENT"), (None, "@store", "UNKNOWN_AGENT"), ("S9", "@store", "UNKNOWN_SESSION")],
)
def test_who_is_not_registered_has_no_role_and_that_is_recorded(
    board: Board, session: str | None, chain: str, code: str
) -> None:
    with pytest.raises(Refused) as caught:
        implied_arguments.role(board.context, "ghost", session)
    assert caught.value.code == code
    assert board.rows("SELECT session_id, actor, code FROM refusals") == [(chain, "ghost", code)]


def test_a_preview_records_nothing(board: Board) -> None:
    with pytest.raises(Refused):
        implied_arguments.role(board.context, "ghost", "S1", dry_run=True)
    assert board.rows("SELECT * FROM refusals") == []


def test_the_main_task_is_the_one_in_progress_else_the_blocked_one(board: Board) -> None:
    board.task("T1")
    board.task("T2")
    board.move("T1", "in_progress", "blocked")
    assert implied_arguments.main_task(board.context, WORKER, "S1") == "T1"
    board.move("T2", "in_progress")
    assert implied_arguments.main_task(board.context, WORKER, "S1") == "T2"


def test_a_part_of_an_own_task_is_not_the_main_task(board: Board) -> None:
    board.task("T")
    board.move("T", "in_progress")
    board.task("P", parent="T", by=WORKER)
    board.move("P", "in_progress")
    assert implied_arguments.main_task(board.context, WORKER, "S1") == "T"


def test_the_same_request_is_about_the_same_task(board: Board) -> None:
    board.task("T1")
    board.task("T2")
    board.move("T1", "in_progress")
    board.move("T1", "done", request_id="r1")
    board.move("T2", "in_progress")
    assert implied_arguments.main_task(board.context, WORKER, "S1", "r1") == "T1"
    assert implied_arguments.main_task(board.context, WORKER, "S1", "r2") == "T2"


@pytest.mark.parametrize(
    ("agent", "session", "code"),
    [(WORKER, "S1", "UNKNOWN_TASK"), ("ghost", "S1", "UNKNOWN_AGENT"), (WORKER, "S9", "UNKNOWN_SESSION")],
)
def test_who_works_at_nothing_has_no_main_task_and_that_is_recorded(
    board: Board, agent: str, session: str, code: str
) -> None:
    with pytest.raises(Refused) as caught:
        implied_arguments.main_task(board.context, agent, session)
    assert caught.value.code == code
    assert board.rows("SELECT actor, code FROM refusals") == [(agent, code)]


# Documents


def test_a_session_keeps_the_workflow_that_it_began_with(board: Board) -> None:
    shown = operations.call(board.context, "workflow show")
    assert session_documents.workflow(board.context, "S1") == shown
    with pytest.raises(OrchestratorError, match="There is no session S9"):
        session_documents.workflow(board.context, "S9")


@pytest.mark.parametrize("session", ["S1", None])
def test_an_agent_file_is_found_by_its_name_and_by_its_role(board: Board, session: str | None) -> None:
    files = session_documents.agent_files(board.context, session)
    assert {"tech-lead", "developer", "orchestrator-speckit"} <= set(files)
    assert session_documents.agent_file(board.context, session, "tech_lead") == files["tech-lead"]
    with pytest.raises(Refused) as caught:
        session_documents.agent_file(board.context, session, "developr")
    assert (caught.value.code, caught.value.data["did_you_mean"]) == ("UNKNOWN_ID", "developer")
