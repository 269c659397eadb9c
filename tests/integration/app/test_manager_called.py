"""The project manager is called for the session: every account of it says so, and why."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.app.audit import event_sentences
from orchestrator.doors.cli import text
from orchestrator.doors.cli.text import changed
from orchestrator.errors import Refused
from tests.integration.app.table import SESSION, Table

Answer = dict[str, Any]


def told(table: Table, decision: Answer) -> list[str]:
    """A decision in the words of its answer, of `why`, and of the timeline, without what comes before and after."""
    why = table.do("why", id=decision["decision_id"])["sentences"]
    (step,) = table.do("audit timeline", session_id=SESSION, since=decision["seq"] - 1, limit=1)["events"]
    (wrote,) = [each["text"] for each in step["wrote"] if each["id"] == decision["decision_id"]]
    return [
        text.render("route", decision).splitlines()[0],
        next(each for each in why if each.startswith("Decided: ")),
        wrote,
    ]


class TestWhereTheManagerIsCalled:
    def test_after_a_merge_it_is_for_the_session(self) -> None:
        table = Table("A", plan=True)
        assert told(table, table.confirmable("A")) == [
            "spawn: project_manager for the session, turn 7",
            "Decided: spawn project_manager for the session.",
            "decision S1:D7: spawn project_manager for the session by completion, phase_check",
        ]

    def test_after_a_deferral_it_is_not_on_the_group_that_was_put_aside(self) -> None:
        table = Table("A", plan=True)
        table.mark_external("A")
        answer = table.says("project_manager", "DEFER_EXTERNAL", "A", summary="no environment this month")
        first, decided, _ = told(table, answer)
        assert first == f"spawn: project_manager for the session, turn {answer['seq']}"
        assert decided == "Decided: spawn project_manager for the session."

    def test_where_the_group_itself_needs_them_it_is_on_the_group(self) -> None:
        table = Table("A", plan=True)
        table.block("A")
        details = {"external": True, "external_dependency": "IT"}
        answer = table.says("tech_lead", "UNBLOCKING_GUIDANCE", "A", details=details)
        assert told(table, answer)[:2] == [
            f"spawn: project_manager on A, turn {answer['seq']}", "Decided: spawn project_manager on A.",
        ]  # fmt: skip

    def test_a_call_that_no_report_led_to_names_no_group(self) -> None:
        table = Table("A", plan=True)
        (then,) = table.move("A", "cancelled")["followed_by"]
        assert changed.followed({"followed_by": [then]}) == [
            f"Then: spawn project_manager, turn {then['turn']} (phase_check)."
        ]
        assert event_sentences.decided({**then, "reason": None}) == "spawn project_manager"


def test_a_merge_that_starts_others_starts_nobody_on_its_own_group() -> None:
    table = Table("A", "B", mode="simple", plan=True)
    shown = text.render("route", table.complete("A")).splitlines()
    assert shown[0] == "spawn_batch: developer"
    assert "  start developer (sonnet) on B, turn 8" in shown


@pytest.mark.parametrize(
    ("turn", "suggested"),
    [
        pytest.param(7, "orchestrator handoff --turn 7 --session-id S1", id="the session's turn"),
        pytest.param(99, "orchestrator status S1", id="a turn of nobody's"),
    ],
)
def test_who_asks_a_group_for_the_session_s_turn_is_told_where_it_is(turn: int, suggested: str) -> None:
    table = Table("A", plan=True)
    assert table.confirmable("A")["turn"] == 7
    with pytest.raises(Refused) as caught:
        table.do("handoff", session_id=SESSION, group_id="A", turn=turn)
    assert (caught.value.code, caught.value.suggestion) == ("UNKNOWN_ID", suggested)


LACKS = (
    "group A is not completed and awaits project_manager: tested is not met, no test passed after FAIL, report S1:R6"
)


class TestAMergeThatDoesNotCompleteItsGroup:
    """The decision lists what is missing, wherever it is read, and names who is awaited."""

    @pytest.fixture
    def table(self) -> Table:
        return Table("A", "B", plan=True)

    @pytest.fixture
    def merged(self, table: Table) -> Answer:
        """Approved past a failed test, and merged, while another group is at work."""
        table.says("developer", "READY_FOR_QA", "A")
        table.says("qa_expert", "FAIL", "A")
        table.says("developer", "READY_FOR_REVIEW", "A")
        table.says("tech_lead", "APPROVED", "A")
        return table.says("developer", "MERGE_SUCCESS", "A")

    def test_the_answer_says_who_is_awaited_and_what_is_missing(self, merged: Answer) -> None:
        assert merged["awaiting_manager"] == ["A"]
        shown = text.render("route", merged).splitlines()
        assert shown[0] == "Nobody to start: A waits for the project manager"
        assert f"  rule completion: {LACKS}" in shown

    def test_the_record_says_it(self, table: Table, merged: Answer) -> None:
        (row,) = table.do("audit decisions", session_id=SESSION, since=merged["seq"] - 1)["decisions"]
        assert row["rules"] == [{"name": "completion", "reason": LACKS}]
        assert [part["part"] for part in row["path"] if not part["met"]] == ["tested"]
        assert row["awaiting_manager"] == ["A"]

    def test_why_and_the_timeline_say_it(self, table: Table, merged: Answer) -> None:
        sentences = table.do("why", id=merged["decision_id"])["sentences"]
        assert f"Rule completion fired: {LACKS}." in sentences
        assert "No rule changed it." not in sentences
        assert told(table, merged)[1:] == [
            "Decided: wait; A awaits project_manager (groups_running).",
            f"decision {merged['decision_id']}: wait; A awaits project_manager (groups_running) by completion",
        ]

    def test_a_held_start_is_still_on_its_group(self) -> None:
        table = Table("A", "B", mode="simple", plan=True)
        table.confirmable("A")
        answer = table.says("project_manager", "REWORK", "A", summary="the figures are wrong")
        assert text.render("route", answer).splitlines()[0] == "wait: developer on A"

    def test_a_merge_that_completes_its_group_lists_nothing(self, table: Table) -> None:
        answer = table.complete("B")
        assert (answer["rules"], "path" in answer, "awaiting_manager" in answer) == ([], False, False)

    def test_a_report_of_the_manager_leaves_both_groups_to_them_by_name(self, table: Table, merged: Answer) -> None:
        table.confirmable("B")
        answer = table.says("project_manager", "CONTINUE")
        assert answer["awaiting_manager"] == ["A", "B"]


def handed(table: Table) -> Answer:
    """What the project manager was handed when they were called last."""
    return table.do("handoff", session_id=SESSION)


def section(markdown: str, title: str) -> list[str]:
    """The lines of one section of a hand-off, without blank ones."""
    lines = markdown.split(f"## {title}\n", 1)[1].split("\n## ", 1)[0].splitlines()
    return [line for line in lines if line]


def command(status: str, turn: int, more: str = "", group: str = "") -> str:
    at = f" --group-id {group}" if group else ""
    return (
        f"orchestrator route --session-id S1{at} --current-agent project_manager --turn {turn} --status {status}{more}"
        " --summary TEXT"
    )


class TestWhatTheManagerIsHanded:
    def test_a_group_to_be_confirmed_is_named_with_the_command_that_confirms_it(self) -> None:
        table = Table("A", plan=True)
        turn = table.confirmable("A")["turn"]
        answer = handed(table)
        full, markdown = answer["handoff"], answer["markdown"]
        (group,) = full["groups"]
        assert (group["id"], group["cause"], group["unmet"]) == ("A", "confirmation_needed", [])
        assert (full["phase_check"], full["causes"][0]) == ("complete", "confirmation_needed")
        confirm = command("BAZINGA", turn, " --acknowledge A=REASON")
        assert full["next"] == [
            {
                "what": "confirm the goal, and with it A",
                "command": confirm,
                "report": '{"status": "BAZINGA", "summary": "TEXT", "acknowledge": {"A": "REASON"}}',
            }
        ]
        why = "- Work is done and waits for the project manager to confirm it."
        assert why in section(markdown, "Why you are called")
        assert section(markdown, "Groups") == ['- A ("A"): in_progress, awaits project_manager, to be confirmed']
        assert section(markdown, "What may follow") == [
            "To confirm the goal, and with it A:", "```", confirm, "```",
        ]  # fmt: skip

    def test_what_is_missing_of_a_merged_group_is_said_part_by_part(self) -> None:
        table = Table("A", plan=True)
        table.says("developer", "READY_FOR_QA", "A")
        table.says("qa_expert", "FAIL", "A")
        table.says("developer", "READY_FOR_REVIEW", "A")
        table.says("tech_lead", "APPROVED", "A")
        turn = table.says("developer", "MERGE_SUCCESS", "A")["turn"]
        answer = handed(table)
        assert answer["handoff"]["phase_check"] == "attention"
        assert answer["handoff"]["next"] == [
            {
                "what": "send A back to its builder",
                "command": command("REWORK", turn, group="A"),
                "report": '{"status": "REWORK", "group_id": "A", "summary": "TEXT"}',
            }
        ]
        assert section(answer["markdown"], "Groups") == [
            '- A ("A"): in_progress, awaits project_manager, completion path not met',
            "  - Not tested yet: no test passed after FAIL, report S1:R5",
        ]
        assert table.says("project_manager", "REWORK", "A", turn=turn)["next_agent"] == "developer"

    def test_every_kind_is_told_those_first_that_are_for_the_manager(self) -> None:
        table = Table("DONE", "DEFERRED", "WAITS", "GONE", "SURE", plan=False)
        table.do("group depend", id="WAITS", on="GONE", session_id=SESSION, by="project_manager", reason="its data")
        table.plan()
        table.complete("DONE")
        table.defer("DEFERRED")
        table.move("GONE", "cancelled")
        table.confirmable("SURE")
        answer = handed(table)
        assert section(answer["markdown"], "Groups") == [
            '- SURE ("SURE"): in_progress, awaits project_manager, to be confirmed',
            '- WAITS ("WAITS"): pending, depends on a cancelled group',
            "  - Still blocked: it depends on group GONE, which is not done",
            '- DEFERRED ("DEFERRED"): deferred_external, to be acknowledged by the confirmation',
            '- GONE ("GONE"): cancelled',
            '- DONE ("DONE"): completed',
        ]
        assert [step["what"] for step in answer["handoff"]["next"]] == [
            "confirm SURE, and go on", "let WAITS go on without the group that it depends on",
        ]  # fmt: skip

    def test_the_one_confirmation_names_what_is_deferred_too(self) -> None:
        table = Table("A", "B", plan=True)
        table.defer("A")
        turn = table.confirmable("B")["turn"]
        (step,) = handed(table)["handoff"]["next"]
        assert step["command"] == command("BAZINGA", turn, " --acknowledge B=REASON --acknowledge A=REASON")

    def test_what_was_said_with_the_merge_is_handed_on(self) -> None:
        table = Table("A", plan=True)
        table.approve("A")
        table.says("developer", "MERGE_SUCCESS", "A", details={"merge_result": "commit 1f2e"})
        full = handed(table)["handoff"]
        given = [(each["name"], each["producer"], each["value"]) for each in full["context"]]
        assert given == [("merge_result", "developer@S1:A", "commit 1f2e")]
        assert full["missing_context"] == ["test_results"]
        table.do("redispatch", session_id=SESSION, reason="the agent died")
        again = handed(table)["handoff"]
        assert [again[name] for name in ("context", "missing_context", "causes", "groups")] == [
            full[name] for name in ("context", "missing_context", "causes", "groups")
        ]

    def test_it_is_told_as_it_stood_when_they_were_called(self) -> None:
        table = Table("A", plan=True)
        turn = table.confirmable("A")["turn"]
        before = handed(table)
        table.says("project_manager", "REWORK", "A", summary="look again")
        after = table.do("handoff", session_id=SESSION, turn=turn)
        assert (after["hash"], after["verified"], after["open"]) == (before["hash"], True, False)
        assert after["handoff"]["groups"] == before["handoff"]["groups"]
        assert (after["handoff"]["next"], "What may follow" in after["markdown"]) == ([], False)

    def test_while_others_work_nothing_is_said_to_stand_still(self) -> None:
        table = Table("A", "B", plan=True)
        table.says("project_manager", "NEEDS_CLARIFICATION", summary="which one?")
        (question,) = table.asked()
        table.answer(question, "continue", note="the first")
        full = handed(table)["handoff"]
        assert ("causes" in full, [group["cause"] for group in full["groups"]]) == (False, ["running", "running"])

    def test_a_replay_gives_the_same_hand_offs(self) -> None:
        table = Table("A", "B", plan=True)
        table.confirmable("A")
        table.complete("B")
        table.says("project_manager", "BAZINGA", acknowledge={"A": "the environment was there"})
        answer = table.do("audit replay", session_id=SESSION)
        assert (answer["equal"], answer["count"]) == (True, 0)
