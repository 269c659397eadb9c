"""What people read: what follows, in plain words, and nothing twice."""

from __future__ import annotations

import re

import pytest

from tests.integration.cli.conftest import Lines, Run

WAY = (("developer", "READY_FOR_QA"), ("qa_expert", "PASS"), ("tech_lead", "APPROVED"))


def text(run: Run, *words: str) -> list[str]:
    """The lines that a command prints."""
    done = run(*words)
    assert done.returncode in (0, 2), done.stderr
    return done.stdout.decode().splitlines()


def approved(run: Run) -> None:
    """Bring group A to its merge."""
    for role, status in WAY:
        text(run, "route", role, status, "-g", "A")


def test_a_healthy_session_lacks_nothing_and_repeats_nothing(run: Run) -> None:
    shown = text(run, "status", "S1")
    commands = [line for line in shown if re.search("orchestrator (handoff|route)", line)]
    assert "What does not go on by itself" not in shown
    assert len(commands) == len({line.partition("orchestrator ")[2] for line in commands}) == 2


def test_a_route_names_the_hand_off_that_follows(run: Run) -> None:
    assert text(run, "route", "developer", "READY_FOR_QA", "-g", "A")[-1].startswith("Next: orchestrator handoff A ")


def test_a_plan_names_the_hand_off_of_every_agent_that_it_starts(run: Run, lines: Lines) -> None:
    lines(("session create", {"id": "S2"}), *(("group create", {"id": id_, "session_id": "S2"}) for id_ in "MN"))
    shown = text(run, "route", "pm", "PLANNING_COMPLETE", "-s", "S2")
    assert [line.partition(" --turn")[0] for line in shown[-2:]] == [
        f"Next: orchestrator handoff {id_}" for id_ in "MN"
    ]


def test_a_manager_out_of_turn_is_told_whose_report_is_awaited(run: Run) -> None:
    text(run, "route", "developer", "READY_FOR_QA", "-g", "A")
    told = run("route", "pm", "REWORK", "-g", "A", "--summary", "again").stderr.decode()
    assert re.search("try: orchestrator route .*--current-agent qa_expert .*; or repeat .* with --interrupt", told)


def test_a_completed_group_is_named(run: Run) -> None:
    approved(run)
    assert "Group A is completed." in text(run, "route", "developer", "MERGE_SUCCESS", "-g", "A")


def test_a_wait_says_who_is_working(run: Run, lines: Lines) -> None:
    lines(("group create", {"id": "C", "session_id": "S1"}))
    text(run, "route", "developer", "PARTIAL", "-g", "C")
    approved(run)
    shown = text(run, "route", "developer", "MERGE_SUCCESS", "-g", "A")
    assert shown[0].startswith("Nobody to start: ")
    assert not [line for line in shown if line.startswith("  reason: ")]
    assert "developer on C" in next(line for line in shown if line.startswith("Already working: "))


def test_the_end_is_said_to_be_the_validators(run: Run, lines: Lines) -> None:
    shown = text(run, "route", "pm", "BAZINGA", "--acknowledge", "A=done", "--acknowledge", "B=done")
    assert shown[-1] == "Waiting for the validator: orchestrator validate S1"


def test_before_the_plan_a_new_group_names_what_follows(run: Run) -> None:
    shown = text(run, "group", "create", "N", "-s", "S1")
    assert shown[-1].endswith("orchestrator route project_manager PLANNING_COMPLETE --session-id S1")


def test_one_group_is_one_group(run: Run, lines: Lines) -> None:
    lines(("session create", {"id": "S2"}), ("group create", {"id": "A", "session_id": "S2"}))
    assert "Progress: 1 group: 1 pending" in text(run, "status", "S2")


@pytest.mark.parametrize("words", [("full", "-s", "S1"), ("S1", "full"), ("full",)], ids=" ".join)
def test_a_testing_mode_is_set_on_the_session_that_is_named(words: tuple[str, ...], run: Run) -> None:
    shown = text(run, "session", "testing-mode", *words, "--by", "project_manager", "--reason", "release")
    assert shown[0].startswith("Session S1 is active (testing full")


def test_a_refusal_names_who_tried_and_as_whom(run: Run, lines: Lines) -> None:
    lines(("agent register", {"id": "bob", "role": "developer", "parent": "tech_lead"}))
    assert run("route", "pm", "PLANNING_COMPLETE", "--agent-id", "bob").returncode == 3
    assert "  bob as project_manager  " in text(run, "audit", "refusals", "-s", "S1")[-1]
