"""Claims: who has a task, for how long, who may take it over, and what a lost claim is worth."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest

from orchestrator.app.task import claims
from orchestrator.doors.cli.text import tasks as text
from tests import persons
from tests.cases import every
from tests.integration.tasks.board import LEAD, PM, Board


@pytest.fixture
def board(tmp_path: pathlib.Path) -> Board:
    return Board(tmp_path)


def changes(board: Board, entity: str = "task_claim") -> list[tuple[Any, ...]]:
    return board.context.connection.execute(
        "SELECT entity_id, from_status, to_status, changed_by, reason FROM status_changes WHERE entity = ?"
        " ORDER BY seq, part",
        (entity,),
    ).fetchall()


def lost(board: Board, words: str, **given: Any) -> str:
    """The holder that a lost claim names."""
    refusal = board.refused(words, session_id="S1", **given)
    assert refusal.code == "CLAIM_LOST"
    return str(refusal.data["holder"])


class TestClaiming:
    def test_a_claim_starts_the_task_and_gives_it_to_the_claimer(self, board: Board) -> None:
        board.task("T")
        answer = board.claim("T", lease=60)
        seq = answer["seq"]
        assert answer["claim"] == {
            "token": f"S1:C{seq}", "holder": "dev-1", "until": "2025-01-01T00:01:00.000000Z", "lease": 60,
        }  # fmt: skip
        row = board.shown("T")
        assert [row[name] for name in ("status", "assignee", "claim_holder", "status_changed_by_agent_id")] == [
            "in_progress", "dev-1", "dev-1", "dev-1",
        ]  # fmt: skip

    def test_without_an_id_it_is_the_task_that_next_offers(self, board: Board) -> None:
        for name in ("T9", "T10", "T2"):
            board.task(name)
        assert board.says() == ("get_task", "T2")
        assert board.claim()["task"]["id"] == "T2"

    def test_the_next_claimer_gets_another_task(self, board: Board) -> None:
        board.task("T1")
        board.task("T2")
        assert [board.claim(agent=agent)["task"]["id"] for agent in ("dev-1", "dev-2")] == ["T1", "T2"]

    def test_where_there_is_nothing_nothing_is_claimed_or_written(self, board: Board) -> None:
        before = board.everything()
        answer = board.claim()
        assert (answer["task"], answer["claim"], answer["why"], answer["exit_code"]) == (
            None, None, "No task is pending.", 1,
        )  # fmt: skip
        assert board.everything() == before

    def test_of_two_the_second_learns_who_has_it(self, board: Board) -> None:
        board.task("T")
        board.claim("T")
        assert lost(board, "task claim", id="T", agent_id="dev-2") == "dev-1"

    def test_the_name_of_the_holder_is_not_enough(self, board: Board) -> None:
        board.task("T")
        board.claim("T")
        assert lost(board, "task claim", id="T", agent_id="dev-1") == "dev-1"

    def test_with_the_token_it_is_the_same_claim_again(self, board: Board) -> None:
        board.task("T")
        first = board.claim("T")
        before = board.everything()
        again = board.claim("T", claim_token=first["claim"]["token"])
        assert (again["claim"], again["repeated"]) == (first["claim"], True)
        assert board.claim(claim_token=first["claim"]["token"])["claim"] == first["claim"]
        assert board.everything() == before

    def test_with_the_request_id_it_is_the_same_answer_again(self, board: Board) -> None:
        board.task("T")
        first = board.claim("T", request_id="R1")
        assert board.claim("T", request_id="R1") == {**first, "repeated": True}

    def test_a_task_in_progress_with_somebody_is_not_to_be_claimed(self, board: Board) -> None:
        board.mine("T", "dev-2")
        assert lost(board, "task claim", id="T", agent_id="dev-1") == "dev-2"

    def test_a_task_that_was_blocked_stays_with_who_claimed_it(self, board: Board) -> None:
        board.task("T")
        token = board.claim("T")["claim"]["token"]
        board.move("T", "blocked", "dev-1", claim_token=token)
        before = board.shown("T")
        assert lost(board, "task claim", id="T", agent_id="dev-2") == "dev-1"
        assert board.shown("T") == before

    def test_ones_own_task_in_progress_can_be_claimed(self, board: Board) -> None:
        board.mine("T")
        assert board.claim("T")["claim"]["holder"] == "dev-1"

    @pytest.mark.parametrize(
        ("given", "code"),
        [
            pytest.param({"id": "X", "agent_id": "dev-1"}, "UNKNOWN_TASK", id="unknown task"),
            pytest.param({"id": "T", "agent_id": "nobody"}, "UNKNOWN_AGENT", id="unknown agent"),
            pytest.param({"id": "T", "agent_id": ""}, "ACTOR_REQUIRED", id="nobody"),
            pytest.param({"id": "W", "agent_id": "dev-1"}, "DEPENDENCIES_OPEN", id="a dependency is open"),
            pytest.param({"id": "D", "agent_id": "dev-1"}, "ILLEGAL_MOVE", id="done"),
            pytest.param({"id": "O", "agent_id": "dev-1"}, "NOT_PERMITTED", id="somebody else's"),
        ],
    )
    def test_what_cannot_be_claimed(self, board: Board, given: dict[str, str], code: str) -> None:
        board.task("T")
        board.task("W", depends_on=("T",))
        board.mine("D", "dev-2")
        board.move("D", "done", "dev-2")
        board.task("O", assignee="dev-2")
        assert board.refused("task claim", session_id="S1", **given).code == code

    def test_a_claimer_without_room_is_told_what_keeps_it_busy(self, board: Board) -> None:
        board.task("T1")
        board.task("T2")
        board.claim("T1")
        refusal = board.refused("task claim", session_id="S1", agent_id="dev-1", id="T2")
        assert (refusal.code, refusal.data["tasks"]) == ("ASSIGNEE_BUSY", ["T1"])


class TestLeases:
    def test_while_the_lease_lasts_nobody_takes_over(self, board: Board) -> None:
        board.task("T")
        board.claim("T", lease=600)
        board.clock.minutes = 10
        assert lost(board, "task claim", id="T", agent_id="dev-2") == "dev-1"

    def test_after_its_end_it_may_be_taken_over_on_record(self, board: Board) -> None:
        board.task("T")
        old = board.claim("T", lease=600)["claim"]["token"]
        board.clock.minutes = 11
        answer = board.claim("T", "dev-2")
        assert (answer["claim"]["holder"], answer["taken_over_from"]) == ("dev-2", "dev-1")
        assert changes(board) == [
            ("T", "dev-1", "dev-2", "dev-2", "the lease of dev-1 ended at 2025-01-01T00:10:00.000000Z"),
        ]  # fmt: skip
        assert (board.shown("T")["assignee"], board.shown("T")["claim_token"] == old) == ("dev-2", False)

    @pytest.mark.parametrize(
        ("by", "code"),
        [
            pytest.param("user", "HUMAN_REQUIRED", id="a person's name"),
            pytest.param("system:runner", "NOT_PERMITTED", id="the runner"),
        ],
    )
    def test_after_its_end_it_is_not_taken_over_by(self, board: Board, by: str, code: str) -> None:
        board.task("T")
        board.claim("T", lease=600)
        board.clock.minutes = 11
        before = board.shown("T")
        assert board.refused("task claim", session_id="S1", id="T", agent_id=by).code == code
        assert board.refused("task release", session_id="S1", id="T", by=by, reason="late").code == code
        assert board.shown("T") == before

    def test_idle_agents_are_offered_it_those_of_the_same_role_before_what_others_left(self, board: Board) -> None:
        board.task("A")
        board.claim("A", "qa_expert", lease=600)
        board.task("T")
        board.claim("T", lease=600)
        assert (board.says("dev-2"), board.says("tech_lead")) == (("no_work", None), ("no_work", None))
        board.clock.minutes = 11
        assert (board.says("dev-2"), board.says("tech_lead")) == (("get_task", "T"), ("get_task", "A"))
        assert board.claim(agent="dev-2")["taken_over_from"] == "dev-1"

    def test_the_manager_sees_who_is_overdue_since_when(self, board: Board) -> None:
        board.mine("T", LEAD)
        board.task("T.1", parent="T")
        board.claim("T.1", lease=600)
        board.clock.minutes = 11
        assert board.next(LEAD)["who_works"] == [{
            "agent_id": "dev-1", "id": "T.1", "title": "title of T.1", "last_seen": "2025-01-01T00:00:00.000000Z",
            "claim_until": "2025-01-01T00:10:00.000000Z", "overdue": True,
        }]  # fmt: skip

    @pytest.mark.parametrize(
        ("is_claimed", "now", "then", "overdue"),
        [
            pytest.param(True, "2025-01-01T00:10", None, False, id="a lease that lasts"),
            pytest.param(True, "2025-01-01T00:11", None, True, id="a lease that has ended"),
            pytest.param(True, "2024-12-30T23:59", None, True, id="a clock a day behind that of the claim"),
            pytest.param(True, "2025-01-01T00:01", "out of service", True, id="a holder out of service"),
            pytest.param(True, "2025-01-01T00:11", "blocked", False, id="ended, of a blocked task"),
            pytest.param(False, "2025-01-01T00:11", None, False, id="no lease"),
            pytest.param(False, "2025-01-01T00:01", "out of service", True, id="no lease, with who is out of service"),
        ],
    )
    def test_a_task_is_overdue_wherever_it_is_shown_if_others_may_take_it_over(
        self, board: Board, is_claimed: bool, now: str, then: str | None, overdue: bool
    ) -> None:
        board.mine("T", LEAD)
        board.task("T.1", parent="T", assignee="dev-1")
        if is_claimed:
            token = board.claim("T.1", lease=600)["claim"]["token"]
        else:
            board.move("T.1", "in_progress", "dev-1")
        if then == "blocked":
            board.move("T.1", then, "dev-1", claim_token=token)
        elif then == "out of service":
            board.call("agent deactivate", id="dev-1", by=PM, reason="it died")
        board.context.clock = lambda: f"{now}:00.000000Z"
        shown = board.call("task show", id="T.1", session_id="S1")
        (listed,) = board.call("task list", session_id="S1", parent="T")["tasks"]
        told = [shown["task"]["overdue"], listed["overdue"]]
        told += [each["overdue"] for each in board.next(LEAD).get("who_works", [])]
        if is_claimed:
            why = board.call("why", id="T.1", session_id="S1")
            told += [why["claim"]["overdue"], "overdue" in why["sentences"][0], "overdue" in " ".join(text.task(shown))]
        assert set(told) == {overdue}
        if overdue:
            assert board.claim("T.1", "dev-2")["taken_over_from"] == "dev-1"
        else:
            assert lost(board, "task claim", id="T.1", agent_id="dev-2") == "dev-1"

    def test_a_heartbeat_begins_the_lease_anew(self, board: Board) -> None:
        board.task("T")
        token = board.claim("T", lease=600)["claim"]["token"]
        board.clock.minutes = 9
        held = board.call("task heartbeat", session_id="S1", id="T", claim_token=token)["claim"]
        assert (held["until"], held["lease"], held["token"]) == ("2025-01-01T00:19:00.000000Z", 600, token)
        board.clock.minutes = 15
        assert lost(board, "task claim", id="T", agent_id="dev-2") == "dev-1"

    def test_nobody_but_the_holder_gives_a_sign_of_life(self, board: Board) -> None:
        board.task("T")
        token = board.claim("T", lease=600)["claim"]["token"]
        before = board.shown("T")
        for other in ("dev-2", LEAD):
            assert lost(board, "task heartbeat", id="T", claim_token=token, by=other) == "dev-1"
        assert board.shown("T") == before

    def test_a_heartbeat_may_change_the_lease_and_never_shortens_it(self, board: Board) -> None:
        board.task("T")
        token = board.claim("T", lease=600)["claim"]["token"]
        beat = {"session_id": "S1", "id": "T", "claim_token": token, "by": "dev-1"}
        assert board.call("task heartbeat", lease=10, **beat)["claim"]["until"] == "2025-01-01T00:10:00.000000Z"
        assert board.call("task heartbeat", lease=1200, **beat)["claim"]["until"] == "2025-01-01T00:20:00.000000Z"

    def test_a_clock_that_was_behind_and_is_set_right_ends_no_lease(self, board: Board) -> None:
        board.clock.minutes = 60
        board.task("T")
        board.clock.minutes = 30
        until = board.claim("T", lease=600)["claim"]["until"]
        board.clock.minutes = 61
        assert until == "2025-01-01T01:10:00.000000Z"
        assert lost(board, "task claim", id="T", agent_id="dev-2") == "dev-1"

    def test_a_heartbeat_while_the_clock_is_behind_does_not_shorten_the_lease(self, board: Board) -> None:
        board.clock.minutes = 60
        board.task("T")
        token = board.claim("T", lease=600)["claim"]["token"]
        board.clock.minutes = 0
        board.call("task heartbeat", session_id="S1", id="T", claim_token=token)
        board.clock.minutes = 65
        assert lost(board, "task claim", id="T", agent_id="dev-2") == "dev-1"

    def test_a_clock_that_was_ahead_and_is_set_right_ends_no_lease(self, board: Board) -> None:
        board.task("T")
        board.claim("T", lease=600)
        board.clock.minutes = 60
        board.task("X", assignee="dev-1")
        board.clock.minutes = 1
        assert board.says("dev-2") == ("no_work", None)
        assert lost(board, "task claim", id="T", agent_id="dev-2") == "dev-1"


class TestRelease:
    def test_a_release_makes_the_task_todo_again(self, board: Board) -> None:
        board.task("T")
        token = board.claim("T")["claim"]["token"]
        answer = board.call("task release", session_id="S1", id="T", by="dev-1", claim_token=token, reason="lunch")
        assert (answer["task"]["status"], answer["claim"]) == ("todo", None)
        assert board.shown("T")["claim_holder"] is None
        assert changes(board, "task")[-1] == ("T", "in_progress", "todo", "dev-1", "lunch")

    def test_whoever_asks_next_may_have_what_was_released(self, board: Board) -> None:
        board.task("T")
        token = board.claim("T")["claim"]["token"]
        board.call("task release", session_id="S1", id="T", by="dev-1", claim_token=token)
        assert board.shown("T")["assignee"] is None
        assert board.says("dev-2") == ("get_task", "T")
        assert board.claim("T", "dev-2")["claim"]["holder"] == "dev-2"

    def test_one_who_stands_above_may_release_the_claim_it_means(self, board: Board) -> None:
        board.task("T")
        token = board.claim("T")["claim"]["token"]
        assert board.refused(
            "task release", session_id="S1", id="T", by="dev-2", claim_token=token
        ).code == "NOT_PERMITTED"  # fmt: skip
        assert board.call("task release", session_id="S1", id="T", by=LEAD, claim_token=token)["claim"] is None

    def test_a_supervisor_who_is_late_releases_no_newer_claim(self, board: Board) -> None:
        board.task("T")
        old = board.claim("T")["claim"]["token"]
        board.call("task release", session_id="S1", id="T", claim_token=old)
        board.move("T", "cancelled", PM)
        board.task("U")
        seen = board.claim("U", lease=60)["claim"]["token"]
        board.clock.minutes = 2
        board.claim("U", "dev-2")
        before = board.shown("U")
        assert lost(board, "task release", id="U", by=LEAD, claim_token=seen) == "dev-2"
        assert board.shown("U") == before

    def test_without_the_token_the_holder_releases_nothing(self, board: Board) -> None:
        board.task("T")
        board.claim("T")
        assert lost(board, "task release", id="T", by="dev-1", reason="lunch") == "dev-1"

    def test_without_the_token_one_above_releases_for_a_reason_on_record(self, board: Board) -> None:
        board.task("T")
        board.claim("T")
        assert board.refused("task release", session_id="S1", id="T", by=LEAD).code == "REASON_REQUIRED"
        answer = board.call("task release", session_id="S1", id="T", by=LEAD, reason="it hangs")
        assert (answer["task"]["status"], answer["task"]["assignee"]) == ("todo", None)
        assert changes(board, "task")[-1] == ("T", "in_progress", "todo", LEAD, "it hangs")

    def test_without_the_token_one_above_releases_what_is_overdue_without_a_reason(self, board: Board) -> None:
        board.task("T")
        until = board.claim("T", lease=60)["claim"]["until"]
        board.clock.minutes = 2
        board.call("task release", session_id="S1", id="T", by=LEAD)
        assert changes(board, "task")[-1] == (
            "T", "in_progress", "todo", LEAD, f"the lease of dev-1 ended at {until}",
        )  # fmt: skip

    def test_the_version_says_which_claim_is_meant_as_the_token_does(self, board: Board) -> None:
        board.task("T")
        board.claim("T", lease=60)
        seen = board.shown("T")["version"]
        board.clock.minutes = 2
        board.claim("T", "dev-2")
        late = {"session_id": "S1", "id": "T", "by": LEAD, "reason": "dev-1 is dead", "expect_version": seen}
        refusal = board.refused("task release", **late)
        assert (refusal.code, refusal.data["version"]) == ("VERSION_CONFLICT", seen + 1)
        assert board.shown("T")["claim_holder"] == "dev-2"

    def test_without_the_token_somebody_is_named(self, board: Board) -> None:
        board.task("T")
        board.claim("T")
        before = board.shown("T")
        refusal = board.refused("task release", session_id="S1", id="T", reason="x")
        assert (refusal.code, refusal.message, refusal.suggestion, board.shown("T")) == (
            "ACTOR_REQUIRED", "Releasing task T needs its holder's name or the token of a claim.",
            "Repeat with --by AGENT, or with --claim-token TOKEN", before,
        )  # fmt: skip

    def test_what_nobody_claimed_is_released_by_who_has_it(self, board: Board) -> None:
        board.mine("T")
        answer = board.call("task release", session_id="S1", id="T", by="dev-1")
        assert (answer["task"]["status"], answer["task"]["assignee"]) == ("todo", None)
        assert changes(board, "task")[-1] == ("T", "in_progress", "todo", "dev-1", "released by dev-1")
        assert board.says("dev-2") == ("get_task", "T")

    def test_a_name_alone_releases_nothing_that_a_person_has(self, board: Board) -> None:
        board.task("T", assignee="user")
        persons.sit(board.context)
        board.move("T", "in_progress", "user")
        board.context.credential = None
        before = board.shown("T")
        assert board.refused("task release", session_id="S1", id="T", by="user").code == "HUMAN_REQUIRED"
        assert board.shown("T") == before

    def test_what_nobody_claimed_is_freed_by_one_above_for_a_reason(self, board: Board) -> None:
        board.mine("T")
        asked = {"session_id": "S1", "id": "T"}
        assert board.refused("task release", **asked, by=LEAD, reason=" ").code == "REASON_REQUIRED"
        assert board.refused("task release", **asked, by="dev-2", reason="mine").code == "NOT_PERMITTED"
        assert board.refused("task release", **asked, by="user", reason="mine").code == "HUMAN_REQUIRED"
        board.call("task release", **asked, by=LEAD, reason="dev-1 died")
        row = board.shown("T")
        assert (row["status"], row["assignee"], row["status_changed_by_agent_id"]) == ("todo", None, LEAD)
        causes = board.context.connection.execute("SELECT cause FROM status_changes WHERE entity = 'task'").fetchall()
        assert causes[-1] == ("claim_release",)
        assert board.claim("T", "dev-2")["claim"]["holder"] == "dev-2"

    def test_who_sets_it_todo_by_hand_is_told_how_it_is_given_back(self, board: Board) -> None:
        board.mine("T")
        refusal = board.refused("task set-status", session_id="S1", id="T", status="todo", by="dev-1")
        assert (refusal.code, refusal.data["allowed"]) == ("ILLEGAL_MOVE", ["blocked", "done", "cancelled"])
        assert refusal.suggestion.endswith("; give it back by `orchestrator task release T --session-id S1 --by dev-1`")

    def test_what_is_not_in_progress_cannot_be_released(self, board: Board) -> None:
        board.task("T", assignee="dev-1")
        asked = {"session_id": "S1", "id": "T", "by": LEAD, "reason": "x"}
        assert board.refused("task release", **asked).code == "ILLEGAL_MOVE"
        board.move("T", "in_progress", "blocked", "dev-1")
        assert board.refused("task release", **asked).code == "ILLEGAL_MOVE"

    def test_what_nobody_has_claimed_cannot_be_released(self, board: Board) -> None:
        board.mine("T")
        assert lost(board, "task release", id="T", by="dev-1", claim_token="S1:C1") == "dev-1"  # noqa: S106


class TestLostClaims:
    @pytest.fixture
    def taken_over(self, board: Board) -> tuple[Board, str]:
        """A task that dev-2 has taken over from dev-1, and the token that dev-1 still has."""
        board.task("T")
        old = board.claim("T", lease=60)["claim"]["token"]
        board.clock.minutes = 2
        board.claim("T", "dev-2", lease=60)
        return board, old

    @pytest.mark.parametrize(
        ("words", "more"),
        [
            pytest.param("task heartbeat", {}, id="heartbeat"),
            pytest.param("task release", {}, id="release"),
            pytest.param("task set-status", {"status": "done"}, id="report"),
        ],
    )
    def test_a_stale_token_is_worth_nothing_and_its_use_is_on_record(
        self, taken_over: tuple[Board, str], words: str, more: dict[str, str]
    ) -> None:
        board, old = taken_over
        before = board.shown("T")
        assert lost(board, words, id="T", by="dev-1", claim_token=old, **more) == "dev-2"
        assert board.shown("T") == before
        refusals = board.call("audit refusals", session_id="S1")["refusals"]
        assert (refusals[-1]["code"], refusals[-1]["actor"]) == ("CLAIM_LOST", "dev-1")

    def test_a_report_without_a_token_is_refused_to_who_lost_the_claim(self, taken_over: tuple[Board, str]) -> None:
        board, _ = taken_over
        assert lost(board, "task set-status", id="T", by="dev-1", status="done") == "dev-2"

    def test_the_new_holder_goes_on(self, taken_over: tuple[Board, str]) -> None:
        board, _ = taken_over
        token = board.shown("T")["claim_token"]
        board.move("T", "done", "dev-2", claim_token=token)
        row = board.shown("T")
        assert [row[name] for name in ("status", "claim_holder", "claim_token", "claim_until")] == [
            "done", None, None, None,
        ]  # fmt: skip


def test_the_largest_time_is_looked_for_among_the_newest_on_record(board: Board) -> None:
    board.clock.minutes = 60
    board.task("T")
    board.clock.minutes = 0
    for number in range(3):
        board.task(f"X{number}")
    assert board.claim("T", lease=60)["claim"]["until"] == "2025-01-01T01:01:00.000000Z"
    assert claims.LEASE_S == 900


class TestRoom:
    def test_who_claims_another_s_task_needs_room_itself_and_the_other_needs_none(self, board: Board) -> None:
        board.mine("T")
        board.task("U", assignee="dev-1")
        assert board.claim("U", LEAD)["task"]["assignee"] == LEAD
        board.task("V", assignee="dev-2")
        assert board.refused("task claim", session_id="S1", id="V", agent_id=LEAD).data["tasks"] == ["U"]

    def test_a_task_of_another_session_that_leaves_no_room_is_named_with_its_session(self, board: Board) -> None:
        board.session("S2")
        board.call("task create", id="T", session_id="S2", title="there", by=LEAD)
        board.call("task claim", id="T", session_id="S2", agent_id="dev-1")
        board.task("T")
        refusal = board.refused("task claim", session_id="S1", id="T", agent_id="dev-1")
        assert refusal.message == "dev-1 has T of session S2 in progress, as many as it takes at a time."
        assert refusal.suggestion == "orchestrator task show T --session-id S2"


CLAIMED = {"no lease": None, "a lease that lasts": "2025-01-01T00:09", "a lease that has ended": "2025-01-01T00:11"}


@every("place", [{}, {"group_id": "A"}, {"parent": "P"}], ids=["of no group", "of a group", "below another task"])
@every("now", CLAIMED.values(), ids=CLAIMED)
@every("gone", [False, True], ids=["in service", "out of service"])
def test_next_offers_what_a_claim_takes_over_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, place: dict[str, Any], now: str | None, gone: bool
) -> None:
    board = Board(tmp_path_factory.mktemp("board"))
    if "parent" in place:
        board.mine("P", LEAD)
    board.task("T", assignee="dev-1", **place)
    if now:
        board.claim("T", lease=600)
    else:
        board.move("T", "in_progress", "dev-1")
    if gone:
        board.call("agent deactivate", id="dev-1", by=PM, reason="it died")
    board.context.clock = lambda: f"{now or '2025-01-01T00:11'}:00.000000Z"
    taken_over = gone or now == CLAIMED["a lease that has ended"]
    # A claim asks for no role, and so does not `next`.
    assert (board.next("qa_expert")["action"] == "get_task") == taken_over
    assert (board.next("dev-2")["action"] == "get_task") == taken_over
    if taken_over:
        assert (board.says("dev-2")[1], board.claim(None, "dev-2")["taken_over_from"]) == ("T", "dev-1")
    else:
        assert board.claim(None, "dev-2")["task"] is None
        assert [lost(board, "task claim", id="T", agent_id=each) for each in ("dev-2", "qa_expert")] == ["dev-1"] * 2


class TestOutOfService:
    @pytest.fixture
    def left(self, board: Board) -> Board:
        """T was started by dev-1, U is assigned to it, and dev-1 is out of service."""
        board.mine("T")
        board.task("U", assignee="dev-1")
        board.call("agent deactivate", id="dev-1", by=PM, reason="it died")
        return board

    def test_what_it_had_in_progress_may_be_taken_over(self, left: Board) -> None:
        assert left.claim("T", "dev-2")["taken_over_from"] == "dev-1"
        assert changes(left) == [("T", "dev-1", "dev-2", "dev-2", "dev-1 is out of service")]
        left.move("T", "done", "dev-2")

    def test_a_lease_that_has_not_ended_does_not_hold(self, board: Board) -> None:
        board.task("T")
        board.claim("T", lease=3600)
        board.call("agent deactivate", id="dev-1", by=PM, reason="it died")
        assert board.claim("T", "dev-2")["taken_over_from"] == "dev-1"

    def test_what_it_had_not_begun_goes_to_who_starts_it(self, left: Board) -> None:
        left.move("U", "in_progress", "dev-2")
        assert left.shown("U")["assignee"] == "dev-2"

    def test_its_manager_is_told_of_both(self, left: Board) -> None:
        waiting = left.next(LEAD, "T")
        assert waiting["who_works"][0]["overdue"] is True
        assert "may be taken over" in waiting["instruction"]
        offered = left.next(LEAD, "U")
        assert (offered["action"], "dev-1" in [each["id"] for each in offered["available_workers"]]) == (
            "dispatch", False
        )  # fmt: skip
        left.claim("U", offered["available_workers"][0]["id"])


def test_nothing_is_picked_in_a_paused_session_just_as_nothing_is_offered(board: Board) -> None:
    board.task("T")
    board.call("session pause", id="S1", by=PM, reason="lunch")
    assert (board.claim()["task"], board.claim()["why"]) == (None, "Session S1 is paused.")


@pytest.mark.parametrize(
    ("words", "more", "why"),
    [
        pytest.param("task release", {"by": "dev-1"}, "only the token of that claim", id="release, no token"),
        pytest.param("task heartbeat", {}, "only the token of that claim", id="heartbeat, no token"),
        pytest.param("task heartbeat", {"claim_token": "S1:C1"}, "'S1:C1' is not the token", id="heartbeat, another"),
    ],
)
def test_who_lacks_the_token_is_told_so(board: Board, words: str, more: dict[str, str], why: str) -> None:
    board.task("T")
    board.claim("T")
    refusal = board.refused(words, session_id="S1", id="T", **more)
    assert refusal.code == "CLAIM_LOST"
    assert why in refusal.message
    (recorded,) = board.context.connection.execute("SELECT detail FROM refusals").fetchall()
    # Older records replay, so a sentence that was reworded is recorded as it was.
    assert ("this is its holder's to do" in recorded[0]) == ("claim_token" not in more)
