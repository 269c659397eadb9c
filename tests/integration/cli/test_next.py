"""`next`, `task claim`, `task heartbeat`, `task release` on the command line: words, JSON, exit codes, shapes."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

from orchestrator.doors.cli.schema import json_schema
from tests.integration.cli.conftest import Ask, Lines, Run
from tests.integration.cli.test_schema import problems

TASK = ("task create", {"id": "T", "session_id": "S1", "title": "Make a file", "by": "tech_lead", "group_id": "A"})
PLAN = ("route", {"session_id": "S1", "current_agent": "project_manager", "status": "PLANNING_COMPLETE"})
REVIEW = {
    "status": "partial", "requires_user_review": True, "review_reason": "the theorem is false",
    "errors": [{"type": "mathematically_false", "message": "counterexample", "recoverable": False}],
}  # fmt: skip
HANDED = {
    "status": "partial", "errors": [], "partial_progress": {
        "stage": "context_exhaustion_handoff", "details": "two are done", "phases_completed": 2, "phases_total": 4,
        "handoff_path": "handoff.md",
    },
}  # fmt: skip


def report(metadata: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """A developer's report of work that stopped in the middle."""
    return "route", {
        "session_id": "S1", "group_id": "A", "current_agent": "developer", "status": "PARTIAL", "summary": "stopped",
        "metadata": metadata,
    }  # fmt: skip


def well_shaped(words: str, answer: dict[str, Any]) -> bool:
    schema = json_schema(words)
    return list(problems(answer, schema, schema)) == []


def test_an_agent_is_told_what_to_do_in_one_sentence(run: Run, lines: Lines) -> None:
    lines(TASK)
    done = run("next", "--agent-id", "developer", "-s", "S1")
    assert (done.returncode, done.stdout.decode()) == (
        0,
        "get_task (needs_task)\nTake task T by `orchestrator task claim T --session-id S1 --agent-id developer`.\n",
    )


def test_the_command_in_the_sentence_works_as_it_stands(run: Run, ask: Ask, lines: Lines) -> None:
    lines(TASK)
    sentence = ask("next", "--agent-id", "developer", "-s", "S1")["instruction"]
    words = sentence.split("`")[1].split()[1:]
    assert run(*words).stdout.decode().startswith("Task T (Make a file) is in_progress, claimed by developer until ")


def test_progress_and_notices_are_shown_to_people(run: Run, lines: Lines) -> None:
    sub = {"session_id": "S1", "title": "x", "parent": "T", "by": "developer", "assignee": "developer"}
    by = {"session_id": "S1", "by": "developer"}
    lines(
        TASK,
        ("task claim", {"id": "T", "session_id": "S1", "agent_id": "developer"}),
        ("task create", {**sub, "id": "T.1"}),
        ("task create", {**sub, "id": "T.2"}),
        ("task set-status", {**by, "id": "T.1", "status": "in_progress"}),
        ("task set-status", {**by, "id": "T.1", "status": "blocked", "reason": "no file"}),
    )
    text = run("next", "--agent-id", "tech_lead", "-s", "S1", "--task", "T").stdout.decode()
    assert "2 subtasks: 1 pending, 1 blocked" in text
    assert "Blocked below you\n  T.1 (manual, soft, by developer): no file" in text


class TestPostflight:
    """Seed 003, Recommendations 2: what is suggested after an agent has stopped."""

    def test_open_spawns_can_be_resumed(self, run: Run, lines: Lines) -> None:
        lines(PLAN)
        done = run("next", "--session-id", "S1")
        assert (done.returncode, done.stdout.decode()) == (
            0,
            "Start developer (sonnet) on A, turn 4:\nRun orchestrator handoff A --turn 4 --session-id S1 to resume\n",
        )  # fmt: skip

    def test_a_partial_report_is_resumed_from_its_phase(
        self, run: Run, ask: Ask, lines: Lines, tmp_path: pathlib.Path
    ) -> None:
        (tmp_path / "handoff.md").write_text("what is done")
        lines(PLAN, report(HANDED))
        text = run("next", "--session-id", "S1").stdout.decode()
        assert text.endswith(" to resume from phase 3 of 4, hand-off handoff.md\n")
        answer = ask("next", "--session-id", "S1", "--group-id", "A")
        spawn = answer["resume"][0]
        assert [spawn[name] for name in ("group_id", "from_phase", "phases_completed", "phases_total")] == [
            "A", 3, 2, 4,
        ]  # fmt: skip
        assert (answer["state"], answer["_exit"], well_shaped("next", answer)) == ("resumable", 0, True)

    def test_a_question_stops_everything(self, run: Run, ask: Ask, lines: Lines) -> None:
        lines(PLAN, report(REVIEW))
        answer = ask("next", "--session-id", "S1")
        question = answer["questions"][0]["id"]
        done = run("next", "--session-id", "S1")
        assert done.returncode == 2
        assert done.stdout.decode().splitlines()[:4] == [
            "USER REVIEW REQUIRED: the theorem is false",
            f"After resolving, run orchestrator answer {question} --decision continue --note TEXT to continue",
            "  continue: developer goes on (respawn)",
            f"    orchestrator answer {question} --decision continue",
        ]
        assert (answer["state"], answer["resume"], answer["_exit"], well_shaped("next", answer)) == (
            "awaiting_person", [], 2, True,
        )  # fmt: skip

    def test_a_question_of_one_group_does_not_stop_another(self, run: Run, lines: Lines) -> None:
        lines(("group create", {"id": "C", "session_id": "S1"}), PLAN, report(REVIEW))
        assert run("next", "-s", "S1", "-g", "A").returncode == 2
        done = run("next", "-s", "S1", "-g", "C")
        assert (done.returncode, b" C --turn" in done.stdout) == (0, True)

    def test_a_paused_session_is_resumed_first(self, run: Run, lines: Lines) -> None:
        lines(PLAN, ("session pause", {"id": "S1", "by": "project_manager", "reason": "lunch"}))
        done = run("next", "-s", "S1")
        assert (done.returncode, done.stdout.decode()) == (
            0, "Run orchestrator session resume S1 --by project_manager --reason TEXT to resume\n",
        )  # fmt: skip

    def test_a_chat_that_nobody_works_at_has_nothing_to_resume(self, run: Run, ask: Ask, lines: Lines) -> None:
        lines(("session create", {"id": "C1", "kind": "chat"}))
        assert ask("next", "-s", "C1")["state"] == "nothing_to_resume"
        assert run("next", "-s", "C1").stdout == b"Session C1 has no open turns.\n"


class TestClaims:
    def test_a_claim_its_heartbeat_and_its_release(self, ask: Ask, lines: Lines) -> None:
        lines(TASK)
        claimed = ask("task", "claim", "-s", "S1", "--agent-id", "developer", "--lease", "60")
        token = claimed["claim"]["token"]
        beat = ask("task", "heartbeat", "T", "-s", "S1", "--by", "developer", "--claim-token", token)
        released = ask("task", "release", "T", "-s", "S1", "--by", "developer", "--claim-token", token)
        assert [each["task"]["status"] for each in (claimed, beat, released)] == ["in_progress", "in_progress", "todo"]
        assert (claimed["claim"]["lease"], beat["claim"]["lease"], released["claim"]) == (60, 60, None)
        for words, answer in (("claim", claimed), ("heartbeat", beat), ("release", released)):
            assert well_shaped(f"task {words}", answer)

    def test_a_person_can_read_the_claims_token(self, run: Run, ask: Ask, lines: Lines) -> None:
        lines(TASK)
        told = run("task", "claim", "-s", "S1", "--agent-id", "developer").stdout.decode()
        token = told.partition("Claim token: ")[2].partition(" ")[0]
        beat = ask("task", "heartbeat", "T", "-s", "S1", "--by", "developer", "--claim-token", token)
        assert (beat["success"], beat["claim"]["token"]) == (True, token)

    def test_nothing_to_claim_is_a_negative_answer(self, run: Run, ask: Ask) -> None:
        done = run("task", "claim", "-s", "S1", "--agent-id", "developer")
        assert (done.returncode, done.stdout) == (1, b"Nothing to claim: No task is pending.\n")
        answer = ask("task", "claim", "-s", "S1", "--agent-id", "developer")
        assert (answer["success"], answer["task"], answer["_exit"], well_shaped("task claim", answer)) == (
            True, None, 1, True,
        )  # fmt: skip

    def test_a_lost_claim_names_the_holder(self, ask: Ask, lines: Lines) -> None:
        lines(TASK, ("task claim", {"session_id": "S1", "agent_id": "developer"}))
        answer = ask("task", "claim", "T", "-s", "S1", "--agent-id", "qa_expert")
        assert (answer["code"], answer["holder"], answer["_exit"]) == ("CLAIM_LOST", "developer", 3)

    @pytest.mark.parametrize("lease", ["0", "604801", "-1", "many"])
    def test_a_lease_is_a_sane_number_of_seconds(self, run: Run, lease: str) -> None:
        assert run("task", "claim", "-s", "S1", "--agent-id", "developer", f"--lease={lease}").returncode == 64


def test_through_a_batch_answers_are_the_same(lines: Lines, ask: Ask) -> None:
    asked = {"agent_id": "developer", "session_id": "S1"}
    answer = lines(TASK, ("next", asked))[-1]
    plain = ask("next", "--agent-id", "developer", "-s", "S1")
    plain.pop("_exit")
    assert {name: value for name, value in answer.items() if name not in ("op", "exit_code")} == plain
    assert (answer["op"], answer["exit_code"]) == ("next", 0)
    empty = lines(("task claim", {"agent_id": "qa_expert", "session_id": "S1", "id": "T"}), ("task claim", asked))[-1]
    assert (empty["success"], empty["task"], empty["exit_code"]) == (True, None, 1)


def test_what_an_agent_is_told_is_plain_json(run: Run, lines: Lines) -> None:
    lines(TASK)
    done = run("next", "-a", "developer", "-s", "S1", "--json")
    answer = json.loads(done.stdout)
    assert set(answer) == {
        "success", "schema", "db", "warnings", "action", "state", "instruction", "task", "turns", "progress",
            "notices",
    }  # fmt: skip
