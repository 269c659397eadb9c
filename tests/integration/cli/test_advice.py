"""What a refused call is told: all that it lacks at once, and the command that helps."""

from __future__ import annotations

import json
import pathlib
import re
from typing import Any

from orchestrator.store import migrate
from tests.integration.cli.conftest import Ask, Lines, Run

LACKING: dict[str, tuple[str, dict[str, Any], str]] = {
    "end of a session": ("session end", {"id": "S1"}, "ACTOR_REQUIRED REASON_REQUIRED HUMAN_REQUIRED"),
    "end by a name": ("session end", {"id": "S1", "by": "user"}, "REASON_REQUIRED HUMAN_REQUIRED"),
    "looser testing": (
        "session testing-mode", {"session_id": "S1", "mode": "disabled"},
        "ACTOR_REQUIRED REASON_REQUIRED HUMAN_REQUIRED",
    ),
    "pause": ("session pause", {"id": "S1"}, "ACTOR_REQUIRED REASON_REQUIRED"),
    "cancelled group": (
        "group set-status", {"id": "A", "status": "cancelled", "session_id": "S1"}, "ACTOR_REQUIRED REASON_REQUIRED",
    ),
    "cancelled by a name": (
        "group set-status", {"id": "A", "status": "cancelled", "session_id": "S1", "by": "user"},
        "HUMAN_REQUIRED REASON_REQUIRED",
    ),
    "dropped dependency": (
        "group undepend", {"id": "B", "on": "A", "session_id": "S1", "by": "user"}, "HUMAN_REQUIRED REASON_REQUIRED",
    ),
    "cancelled task": (
        "task set-status", {"id": "T", "status": "cancelled", "session_id": "S1"}, "ACTOR_REQUIRED REASON_REQUIRED",
    ),
    "resolved blocker": (
        "blocker resolve", {"id": "BLOCKER", "session_id": "S1", "by": "user"}, "HUMAN_REQUIRED REASON_REQUIRED",
    ),
    "met criterion": (
        "criterion set", {"id": "C", "status": "met", "session_id": "S1", "by": "user"},
        "HUMAN_REQUIRED REASON_REQUIRED",
    ),
    "removed criterion": (
        "criterion remove", {"id": "C", "session_id": "S1", "by": "user", "reason": " "},
        "HUMAN_REQUIRED REASON_REQUIRED",
    ),
    "deactivated agent": ("agent deactivate", {"id": "dev-2", "by": "user"}, "HUMAN_REQUIRED REASON_REQUIRED"),
    "renewed turn": ("redispatch", {"session_id": "S1", "by": "user"}, "HUMAN_REQUIRED REASON_REQUIRED"),
}  # fmt: skip


def test_all_that_a_call_lacks_is_named_at_once(run: Run, lines: Lines) -> None:
    prepared = lines(
        ("task create", {"id": "T", "session_id": "S1", "title": "one", "by": "project_manager"}),
        ("task create", {"id": "U", "session_id": "S1", "title": "two", "by": "project_manager"}),
        ("task set-status", {"id": "U", "status": "in_progress", "session_id": "S1", "by": "developer"}),
        ("task set-status", {"id": "U", "status": "blocked", "reason": "x", "session_id": "S1", "by": "developer"}),
        ("criterion add", {"id": "C", "text": "works", "session_id": "S1", "by": "project_manager"}),
        ("agent register", {"id": "dev-2", "role": "developer", "parent": "tech_lead", "by": "project_manager"}),
        ("blocker list", {"session_id": "S1"}),
    )
    blocker = prepared[-1]["blockers"][0]["id"]
    calls = [(op, {**args, **({"id": blocker} if args.get("id") == "BLOCKER" else {})})
             for op, args, _ in LACKING.values()]  # fmt: skip
    answers = dict(zip(LACKING, lines(*calls), strict=True))
    named = {case: " ".join(each["id"] for each in answers[case].get("problems", ())) for case in LACKING}
    assert named == {case: codes for case, (_, _, codes) in LACKING.items()}
    assert [case for case in LACKING if not named[case].startswith(answers[case]["code"])] == []
    assert [case for case in LACKING if "--reason TEXT" not in answers[case]["suggestion"]] == []
    assert "--by PERSON --reason TEXT. A person" in answers["end of a session"]["suggestion"]
    said = run("session", "end", "S1").stderr.decode().splitlines()
    assert [line.split(":")[0] for line in said] == ["error ACTOR_REQUIRED", "  REASON_REQUIRED", "  HUMAN_REQUIRED",
                                                     "try"]  # fmt: skip


def test_one_lack_is_told_as_it_is(ask: Ask) -> None:
    found = ask("session", "pause", "S1", "--by", "project_manager")
    assert (found["code"], "problems" in found) == ("REASON_REQUIRED", False)


def test_out_of_turn_names_the_report_that_is_awaited(ask: Ask, run: Run) -> None:
    ask("route", "developer", "READY_FOR_QA", "-g", "A", "-s", "S1")
    refused = ask("route", "tech_lead", "APPROVED", "-g", "A", "-s", "S1")
    assert refused["code"] == "OUT_OF_TURN"
    words = refused["suggestion"].replace("CODE", "PASS").replace("JSON", "{}").split()
    assert run(*words[1:]).returncode == 0, words


def test_a_verdict_by_hand_names_the_command_that_gives_one(ask: Ask) -> None:
    refused = ask("route", "validator", "ACCEPT", "-s", "S1")
    assert (refused["code"], refused["suggestion"].split()[1:3]) == ("RESERVED_ROLE", ["validate", "S1"])


def test_an_open_question_names_the_inbox(ask: Ask) -> None:
    ask("route", "developer", "READY_FOR_QA", "-g", "A", "-s", "S1")
    metadata = '{"status": "blocked", "requires_user_review": true, "review_reason": "which server?"}'
    ask("route", "qa_expert", "BLOCKED", "-g", "A", "-s", "S1", "--metadata", "-", stdin=metadata.encode())
    refused = ask("route", "tech_lead", "APPROVED", "-g", "A", "-s", "S1")
    assert (refused["code"], refused["suggestion"].split()[1]) == ("QUESTION_OPEN", "inbox")


def test_an_unknown_role_is_recorded_in_the_words_that_older_records_have(ask: Ask) -> None:
    refused = ask("route", "techlead", "APPROVED", "-s", "S1")
    assert refused["error"] == "Unknown role 'techlead'; did you mean tech_lead?"
    assert "_recorded" not in refused
    detail = ask("audit", "refusals", "-s", "S1")["refusals"][0]["detail"]
    assert detail.startswith("No role is called 'techlead'")
    assert ask("audit", "replay", "S1")["equal"]


def test_init_with_a_bad_workflow_leaves_nothing(run: Run, tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "new"
    (folder / "flows").mkdir(parents=True)
    (folder / "flows" / "bad.json").write_text('{"developer": {}}')
    database = folder / "x.db"
    done = run("init", "--db", str(database), "--workflow", "flows/bad.json", "--json", cwd=folder)
    assert (done.returncode, [each.name for each in folder.iterdir()]) == (4, ["flows"])
    advice = json.loads(done.stdout)["suggestion"].split()
    assert advice[-1] == "flows/bad.json"
    assert run(*advice[1:], cwd=folder).returncode == 4


def test_a_bad_workflow_is_checked_by_the_path_that_was_given(run: Run, tmp_path: pathlib.Path) -> None:
    (tmp_path / "flows").mkdir()
    (tmp_path / "flows" / "bad.json").write_text('{"developer": {}}')
    done = run("workflow", "load", "flows/bad.json", "--by", "project_manager", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["suggestion"].endswith("workflow check flows/bad.json")


def test_a_database_without_a_workflow_is_told_by_doctor(run: Run, tmp_path: pathlib.Path) -> None:
    database = str(tmp_path / "half.db")
    migrate.upgrade(database, "2026-01-01T00:00:00.000000Z", actor="system:router")
    found = json.loads(run("doctor", "--json", "--db", database).stdout)
    problem = next(each for each in found["findings"] if each["id"] == "NO_WORKFLOW")
    assert run(*problem["suggestion"].split()[1:]).returncode == 0
    assert run("doctor", "--db", database).returncode == 0


ELSEWHERE: tuple[tuple[str, ...], ...] = (
    ("validate", "S1"), ("status", "S1"), ("next", "-s", "S1"), ("next", "-a", "developer", "-s", "S1"),
    ("why", "A", "-s", "S1"), ("why", "T", "-s", "S1"), ("task", "set-status", "T", "done", "--by", "developer"),
    ("task", "create", "X", "-s", "S1"), ("group", "create", "N", "-s", "S1"), ("session", "end", "S1"),
    ("route", "tech_lead", "APPROVED", "-g", "A", "-s", "S1"), ("route", "pm", "PLANNING_COMPLETE", "-s", "S2"),
    ("session", "create", "S1"), ("group", "show", "Z", "-s", "S1"), ("answer", "S1:Q9", "--decision", "yes"),
    ("session", "create", "S3"), ("doctor",), ("audit", "verify"), ("inbox",), ("human", "list"),
)  # fmt: skip


def test_every_command_that_is_advised_names_the_database_that_the_call_named(
    run: Run, lines: Lines, database: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    lines(
        ("session create", {"id": "S2"}),
        ("task create", {"id": "T", "session_id": "S1", "title": "one", "by": "project_manager"}),
        ("task create", {"id": "U", "session_id": "S1", "title": "two", "parent": "T", "by": "project_manager"}),
        ("task set-status", {"id": "T", "status": "in_progress", "session_id": "S1", "by": "developer"}),
        ("route", {"current_agent": "developer", "status": "READY_FOR_QA", "group_id": "A", "session_id": "S1"}),
    )
    place = f"orchestrator --db {database}"
    lost = {}
    for words in ELSEWHERE:
        done = run(*words, "--db", str(database), cwd=tmp_path.parent, ORCHESTRATOR_DB="")
        said = (done.stdout + done.stderr).decode().replace(place, "")
        found = re.findall(r"orchestrator (?!--db|doctor$)[a-z]+ .{0,40}", said)
        lost.update({words: found} if found else {})
    assert lost == {}
