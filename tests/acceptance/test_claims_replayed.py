"""Claims are told again: tokens come from the numbers of steps, and times are those on record."""

from __future__ import annotations

from tests.acceptance.test_replay import assert_told_again
from tests.integration.tasks.board import LEAD, in_memory


def test_claims_heartbeats_takeovers_and_releases_are_told_again_row_by_row() -> None:
    board = in_memory()
    board.task("T")
    board.task("U", priority="low")
    token = board.claim(lease=60)["claim"]["token"]
    board.call("task heartbeat", session_id="S1", id="T", claim_token=token)
    board.clock.minutes = 5
    newer = board.claim("T", "dev-2", request_id="R1")["claim"]["token"]
    board.refused("task release", session_id="S1", id="T", by=LEAD, claim_token=token)
    board.refused("task claim", session_id="S1", id="T", agent_id="dev-1")
    board.call("task release", session_id="S1", id="T", by=LEAD, claim_token=newer, reason="stuck")
    board.claim(agent="dev-2")
    assert_told_again(board.context)
