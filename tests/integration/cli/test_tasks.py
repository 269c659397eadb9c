"""Tasks and blockers through the command, a batch, and the Python interface."""

from __future__ import annotations

import pathlib
import subprocess
import sys
from typing import Any

import pytest

from orchestrator import Orchestrator
from orchestrator.errors import Refused
from tests.integration.cli.conftest import Ask, Lines, Run, clean_environment


def test_a_task_goes_from_its_creation_to_done(ask: Ask) -> None:
    created = ask(
        "task", "create", "T1", "--title", "Login form", "-g", "A", "--assignee", "developer", "--priority", "high",
        "--type", "IMPLEMENTATION", "--by", "tech_lead",
    )  # fmt: skip
    assert (created["_exit"], created["task"]["status"], created["task"]["priority"]) == (0, "todo", "high")
    for status in ("in_progress", "done"):
        found = ask("task", "set-status", "T1", status, "--by", "developer")
        assert (found["_exit"], found["task"]["status"]) == (0, status)
    assert [row["id"] for row in ask("task", "list", "--status", "done")["tasks"]] == ["T1"]


def test_status_is_short_for_set_status(ask: Ask) -> None:
    ask("task", "create", "T1", "--title", "x", "--assignee", "developer")
    assert ask("task", "status", "T1", "in_progress", "--by", "developer")["task"]["status"] == "in_progress"
    assert [event["kind"] for event in ask("audit", "timeline")["events"]][-1] == "task set-status"


REFUSALS: list[tuple[str, tuple[str, ...], int, str]] = [
    ("an unknown task", ("T9", "done", "--by", "developer"), 3, "UNKNOWN_TASK"),
    ("an unknown status", ("T1", "dne", "--by", "developer"), 3, "UNKNOWN_STATUS"),
    ("an old version", ("T1", "in_progress", "--by", "developer", "--expect-version", "7"), 3, "VERSION_CONFLICT"),
    ("no such move", ("T1", "done", "--by", "developer"), 3, "ILLEGAL_MOVE"),
    ("no actor", ("T1", "in_progress"), 3, "ACTOR_REQUIRED"),
    ("an unknown actor", ("T1", "in_progress", "--by", "nobody"), 3, "UNKNOWN_AGENT"),
    ("a person's name alone", ("T1", "in_progress", "--by", "user"), 3, "HUMAN_REQUIRED"),
    ("another branch", ("T1", "in_progress", "--by", "qa_expert"), 3, "NOT_PERMITTED"),
    ("no reason", ("T1", "cancelled", "--by", "developer"), 3, "REASON_REQUIRED"),
    ("an open dependency", ("T2", "in_progress", "--by", "developer"), 3, "DEPENDENCIES_OPEN"),
    ("an unknown blocker type", ("T1", "blocked", "--by", "developer", "--blocker-type", "bad"), 64, "USAGE"),
    ("an id that is none", ("a b", "done", "--by", "developer"), 64, "INVALID_ID"),
]


@pytest.mark.parametrize(("words", "exit_", "code"), [row[1:] for row in REFUSALS], ids=[row[0] for row in REFUSALS])
def test_a_refusal_has_its_code_and_exit(ask: Ask, words: tuple[str, ...], exit_: int, code: str) -> None:
    ask("task", "create", "T1", "--title", "x", "--assignee", "developer")
    ask("task", "create", "T2", "--title", "x", "--assignee", "developer", "--depends-on", "T1")
    found = ask("task", "set-status", *words)
    assert (found["_exit"], found["code"], found["success"]) == (exit_, code, False)
    assert found["suggestion"]


def test_a_block_is_refused_to_others_and_lifted_by_who_may(ask: Ask) -> None:
    ask("task", "create", "T1", "--title", "x", "-g", "A", "--assignee", "developer")
    ask("task", "set-status", "T1", "in_progress", "--by", "developer")
    blocked = ask("task", "set-status", "T1", "blocked", "--by", "tech_lead", "--reason", "wrong plan")
    assert blocked["task"]["blocked_reason"] == "wrong plan"
    (row,) = ask("blocker", "list", "--task", "T1", "--open")["blockers"]
    refused = ask("blocker", "resolve", row["id"], "--by", "developer", "--reason", "mine")
    assert (refused["_exit"], refused["code"], refused["opened_by"]) == (3, "UNBLOCK_NOT_PERMITTED", "tech_lead")
    assert refused["may"][:2] == ["tech_lead", "project_manager"]
    lifted = ask("blocker", "resolve", row["id"], "--by", "tech_lead", "--reason", "plan is right")
    assert (lifted["task"]["status"], lifted["blocker"]["resolved_by"]) == ("in_progress", "tech_lead")
    again = ask("blocker", "resolve", row["id"], "--by", "tech_lead", "--reason", "again")
    assert again["code"] == "ALREADY_RESOLVED"
    assert ask("blocker", "show", row["id"])["blocker"]["resolution_note"] == "plan is right"


def test_the_gate_names_what_to_do_instead(ask: Ask) -> None:
    ask("task", "create", "P", "--title", "x", "--assignee", "developer")
    ask("task", "create", "C", "--title", "x", "--parent", "P", "--assignee", "developer")
    ask("task", "set-status", "P", "in_progress", "--by", "developer")
    refused = ask("task", "set-status", "P", "done", "--by", "developer")
    assert (refused["code"], refused["next"]["next_subtask"]["id"]) == ("COMPLETION_GATE", "C")


@pytest.mark.parametrize("words", ["create", "depend", "undepend"])
def test_help_says_who_plans_a_task_where_nobody_is_named(run: Run, words: str) -> None:
    said = " ".join(run("task", words, "--help").stdout.decode().replace("│", " ").split())
    assert "(default: the awaited agent of the task's group, else project_manager)" in said


def test_a_task_without_a_name_is_planned_by_whom_its_group_awaits(ask: Ask) -> None:
    ask("route", "project_manager", "PLANNING_COMPLETE")
    for task in ("T1", "T2"):
        ask("task", "create", task, "--title", "x", "-g", "A", "--assignee", "tech_lead", "--by", "tech_lead")
    refused = ask("task", "depend", "T2", "--on", "T1")
    assert (refused["_exit"], refused["code"]) == (3, "NOT_PERMITTED")
    assert ask("task", "depend", "T2", "--on", "T1", "--by", "tech_lead")["_exit"] == 0


def test_dependencies_are_added_and_dropped(ask: Ask) -> None:
    for task in ("T1", "T2"):
        ask("task", "create", task, "--title", "x")
    ask("task", "depend", "T2", "--on", "T1")
    ring = ask("task", "depend", "T1", "--on", "T2")
    assert (ring["code"], ring["cycle"]) == ("DEPENDENCY_CYCLE", ["T1", "T2", "T1"])
    assert ask("task", "show", "T2")["task"]["depends_on"][0]["id"] == "T1"
    ask("task", "undepend", "T2", "--on", "T1", "--reason", "not needed")
    assert ask("task", "show", "T2")["task"]["depends_on"] == []


def test_a_batch_takes_the_same_arguments(lines: Lines) -> None:
    found = lines(
        ("task create", {"id": "T1", "session_id": "S1", "title": "x", "assignee": "developer"}),
        ("task create", {"id": "T2", "session_id": "S1", "title": "x", "depends_on": ["T1"], "auto_unblock": True}),
        ("task depend", {"id": "T1", "session_id": "S1", "on": "T2"}),
        ("task set-status", {"id": "T1", "session_id": "S1", "status": "in_progress", "by": "developer"}),
        ("task status", {"id": "T1", "session_id": "S1", "status": "done", "by": "developer"}),
        ("task show", {"id": "T2", "session_id": "S1"}),
    )
    assert [line["exit_code"] for line in found] == [0, 0, 3, 0, 0, 0]
    assert (found[1]["task"]["status"], found[-1]["task"]["status"]) == ("blocked", "todo")


def test_two_processes_do_not_both_close_a_ring(ask: Ask, script: pathlib.Path, database: pathlib.Path) -> None:
    for task in ("A1", "B1", "C1"):
        ask("task", "create", task, "--title", "x")
    ask("task", "depend", "A1", "--on", "B1")
    environment = clean_environment() | {"ORCHESTRATOR_DB": str(database)}
    argv = [sys.executable, str(script), "task", "depend"]
    racing = [
        subprocess.Popen([*argv, *edge], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for edge in (("B1", "--on", "C1"), ("C1", "--on", "A1"))
    ]
    codes = []
    for process in racing:
        process.communicate(timeout=60)
        codes.append(process.returncode)
    assert sorted(codes) == [0, 3]


def test_the_python_interface_does_the_same(database: pathlib.Path) -> None:
    with Orchestrator.open(database) as o:
        o.task_create("T1", title="x", assignee="developer", group_id="A")
        o.task_create("T2", title="y")
        o.task_depend("T2", "T1")
        o.task_undepend("T2", "T1")
        o.task_set_status("T1", "in_progress", by="developer")
        o.task_set_status("T1", "blocked", by="developer", reason="no data", blocker_type="waiting")
        (row,) = o.blocker_list(task="T1", open=True)["blockers"]
        with pytest.raises(Refused) as caught:
            o.blocker_resolve(row["id"], by="qa_expert", reason="x")
        assert caught.value.code == "UNBLOCK_NOT_PERMITTED"
        assert o.blocker_resolve(row["id"], by="developer", reason="there")["task"]["status"] == "in_progress"
        assert o.blocker_show(row["id"])["blocker"]["resolved_by"] == "developer"
        assert [each["id"] for each in o.task_list()["tasks"]] == ["T1", "T2"]
        assert o.task_show("T1")["task"]["version"] == 4


TEXTS: list[tuple[str, tuple[str, ...], str]] = [
    ("show", ("task", "show", "T1"), "Task T1 of S1: Login form"),
    ("list", ("task", "list"), "TASK  STATUS"),
    ("blockers", ("blocker", "list"), "OPEN"),
    ("blocker", ("blocker", "show", "S1:B6"), "Blocker S1:B6 on task T1 OPEN, soft manual"),
    ("change", ("task", "status", "T1", "in_progress", "--by", "developer"), "Task T1 is in_progress"),
    ("resolve", ("blocker", "resolve", "S1:B6", "--by", "developer", "--reason", "x"), "Task T1 is in_progress"),
]


@pytest.mark.parametrize(("words", "expected"), [row[1:] for row in TEXTS], ids=[row[0] for row in TEXTS])
def test_people_read_text(run: Run, words: tuple[str, ...], expected: str) -> None:
    def called(*arguments: str) -> Any:
        done = run(*arguments)
        assert (done.returncode, done.stderr) == (0, b""), done
        return done.stdout.decode()

    called("task", "create", "T1", "--title", "Login form", "--assignee", "developer")
    called("task", "status", "T1", "in_progress", "--by", "developer")
    called("task", "status", "T1", "blocked", "--by", "developer", "--reason", "no \x1b[31mdata")
    shown = called(*words)
    assert expected in shown
    assert "\x1b" not in shown
