"""`init`, `db check` and what they say of a database that is in use."""

from __future__ import annotations

import json
import pathlib
import shutil
import sqlite3

import pytest

from tests import forging
from tests.integration.cli.conftest import Ask, Lines, Run

REPORTS = (
    ("project_manager", "PLANNING_COMPLETE", None),
    ("developer", "READY_FOR_QA", "A"),
    ("qa_expert", "BLOCKED", "A"),
)
AGENTS = pathlib.Path(__file__).parents[3] / "agents"


@pytest.fixture
def used(lines: Lines, database: pathlib.Path) -> pathlib.Path:
    """The database after some routes, one of them of the session as a whole."""
    calls = [
        ("route", {"session_id": "S1", "group_id": group, "current_agent": role, "status": status})
        for role, status, group in REPORTS
    ]
    assert [answer["success"] for answer in lines(*calls)] == [True] * len(REPORTS)
    return database


def test_a_healthy_database_has_no_problem(used: pathlib.Path, ask: Ask) -> None:
    answer = ask("db", "check")
    assert (answer["_exit"], answer["ok"], answer["problems"]) == (0, True, [])


def test_a_missing_trigger_is_found_and_repaired(used: pathlib.Path, ask: Ask, run: Run) -> None:
    connection = sqlite3.connect(used)
    (name,) = connection.execute("SELECT min(name) FROM sqlite_master WHERE type = 'trigger'").fetchone()
    connection.execute(f"DROP TRIGGER {name}")
    connection.close()
    (problem,) = ask("db", "check")["problems"]
    assert (problem["id"], problem["subject"]) == ("TRIGGER_MISSING", name)
    assert problem["suggestion"] == f"orchestrator db check --repair --db {used}"
    answer = ask("db", "check", "--repair")
    assert (answer["_exit"], answer["repaired"], answer["problems"]) == (0, [name], [])
    assert ask("audit", "timeline", "-s", "store", "--order", "desc", "--limit", "1")["events"][0]["kind"] == "repair"


@pytest.mark.parametrize(
    ("table", "words"),
    [
        pytest.param("sessions", "session pause S1 --by project_manager --reason r", id="session"),
        pytest.param("task_groups", "route tech_lead APPROVED -g A -s S1 --summary s", id="route"),
        pytest.param("blockers", "route tech_lead APPROVED -g A -s S1 --summary s", id="blocker"),
        pytest.param("tasks", "task set-status T1 cancelled -s S1 --by project_manager --reason r", id="task"),
    ],
)
def test_a_change_that_a_foreign_trigger_skips_is_an_error_and_not_done(
    used: pathlib.Path, ask: Ask, table: str, words: str
) -> None:
    created = ask("task", "create", "T1", "--title", "t", "-s", "S1", "-g", "A", "--by", "project_manager")
    assert created["_exit"] == 0
    connection = sqlite3.connect(used)
    connection.execute(f"CREATE TRIGGER skips BEFORE UPDATE ON {table} BEGIN SELECT RAISE(IGNORE); END")
    before = [*connection.iterdump()]
    answer = ask(*words.split())
    assert (answer["_exit"], answer["code"]) == (5, "CORRUPT")
    assert f"a row of {table} was skipped" in answer["error"]
    assert [*connection.iterdump()] == before
    connection.close()
    assert [each["subject"] for each in ask("doctor")["findings"]] == ["skips"]


@pytest.mark.parametrize(
    ("statement", "subject"),
    [
        pytest.param("UPDATE task_groups SET status = 'completed' WHERE id = 'A'", "A", id="group completed"),
        pytest.param("UPDATE task_groups SET status = 'in_progress' WHERE id = 'B'", "B", id="group begun"),
        pytest.param("UPDATE tasks SET status = 'done'", "T1", id="task done"),
        pytest.param("UPDATE sessions SET status = 'paused'", "S1", id="session paused"),
        pytest.param("UPDATE sessions SET outcome = 'accepted'", "S1", id="session accepted"),
        pytest.param("UPDATE blockers SET resolved_at = '2026-01-01T00:00:00.000000Z', resolved_by = 'developer',"
                     " resolution = 'lifted', resolved_seq = 5", "S1:B6", id="blocker lifted"),
        pytest.param("INSERT INTO questions (id, session_id, kind, text, asked_by, asked_at, opened_seq, closed_at,"
                     " closed_by, closed_seq, answer, channel) VALUES ('Q', 'S1', 'review', '?', 'qa_expert', '', 1,"
                     " '', 'developer', 5, 'continue', 'terminal')", "Q", id="question answered"),
    ],
)  # fmt: skip
def test_a_state_that_was_written_without_guards_is_found(
    used: pathlib.Path, ask: Ask, statement: str, subject: str
) -> None:
    assert ask("task", "create", "T1", "--title", "t", "-s", "S1", "-g", "A", "--by", "project_manager")["_exit"] == 0
    assert [(ask(*words.split())["ok"]) for words in ("doctor", "db check")] == [True, True]
    forging.tamper(used, statement)
    for words, found in (("doctor", "findings"), ("db check", "problems")):
        answer = ask(*words.split())
        (problem,) = (each for each in answer[found] if each["severity"] == "error")
        assert (answer["_exit"], problem["id"], problem["subject"]) == (1, "STATE_UNRECORDED", subject)
        assert problem["suggestion"] == f"orchestrator audit verify S1 --db {used}"
    assert ask("audit", "verify", "S1")["_exit"] == 1


@pytest.mark.parametrize("words", [("doctor",), ("db", "check")])
def test_what_was_not_compared_is_said_and_named(used: pathlib.Path, run: Run, words: tuple[str, ...]) -> None:
    forging.tamper(used, "UPDATE task_groups SET name = 'another'")
    for named, option in ((), ""), (("--db", str(used)), f" --db {used}"):
        done = run(*words, *named)
        assert (done.returncode, done.stdout.decode().splitlines()[-2:]) == (0, [
            "No problems found. Rows were not compared with the record; to do that, run:",
            f"  orchestrator{option} audit verify",
        ])  # fmt: skip
    assert run("audit", "verify").returncode == 1


def test_what_is_only_warned_of_is_not_called_nothing(used: pathlib.Path, run: Run) -> None:
    connection = sqlite3.connect(used)
    connection.execute("CREATE VIEW easy AS SELECT 1")
    connection.close()
    checked = run("db", "check")
    assert (checked.returncode, checked.stdout.decode().splitlines()[-2:]) == (0, [
        "No errors found, 1 warning. Rows were not compared with the record; to do that, run:",
        "  orchestrator audit verify",
    ])  # fmt: skip


def test_init_says_in_one_line_how_many_warnings_a_named_workflow_has(run: Run, tmp_path: pathlib.Path) -> None:
    named = ("init", "--workflow", str(AGENTS.parent / "workflow" / "transitions.json"))
    answer = json.loads(run(*named, "--json", ORCHESTRATOR_DB=str(tmp_path / "new.db")).stdout)
    (line,) = answer["warnings"]
    assert answer["problems"] != []
    assert line.startswith(f"{len(answer['problems'])} warnings about the workflow: orchestrator workflow check /")
    again = run(*named, ORCHESTRATOR_DB=str(tmp_path / "other.db"))
    assert again.stderr.decode() == f"warning: {line}\n"


def test_init_does_not_greet_with_the_warnings_of_the_shipped_workflow(run: Run, tmp_path: pathlib.Path) -> None:
    done = run("init", ORCHESTRATOR_DB=str(tmp_path / "new.db"))
    assert (done.returncode, done.stderr) == (0, b"")


def test_init_again_answers_the_same_version(run: Run, tmp_path: pathlib.Path) -> None:
    first, second = (
        json.loads(run("init", "--json", ORCHESTRATOR_DB=str(tmp_path / "new.db")).stdout) for _ in range(2)
    )
    assert second["version"] == first["version"]
    assert (second["loaded"], second["version"]["id"], second["version"]["active"]) == (False, 1, True)


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    """The shipped agent files, where the developer's has a status that the workflow lacks."""
    found = tmp_path / "files"
    shutil.copytree(AGENTS, found)
    file = found / "developer.md"
    file.write_text(file.read_text("utf-8").replace("statuses:\n", "statuses:\n  - MADE_UP\n", 1), "utf-8")
    return found


def test_a_problem_of_an_agent_file_names_the_file(folder: pathlib.Path, run: Run) -> None:
    workflow = str(AGENTS.parent / "workflow" / "transitions.json")
    checked = json.loads(run("workflow", "check", workflow, "--agents", str(folder), "--json").stdout)
    loaded = json.loads(run("workflow", "load", workflow, "--agents", str(folder), "--by", "project_manager",
                            "--json").stdout)  # fmt: skip
    places = [[each["path"] for each in answer["problems"] if each["id"] == "A103"] for answer in (checked, loaded)]
    assert places == [[str(folder / "developer.md")], ["agents/developer.md"]]


def test_P24_doctor_lists_by_name_alone_which_login_variables_are_passed_on_to_whom(
    used: pathlib.Path, ask: Ask, run: Run
) -> None:
    given = {"ANTHROPIC_API_KEY": "value-nobody-may-see", "AWS_REGION": "eu-west-1", "CODEX_API_KEY": " "}
    answer = ask("doctor", **given)
    named = {program: set(given) & set(names) for program, names in answer["variables"].items()}
    own = {"ANTHROPIC_API_KEY"}
    assert named == {"claude-code": own | {"AWS_REGION"}, "codex": {"AWS_REGION"}, "anthropic": own, "openai": set()}
    shown = run("doctor", **given).stdout.decode()
    assert "Passed on to claude-code: ANTHROPIC_API_KEY, " in shown
    assert "value-nobody-may-see" not in shown + json.dumps(answer)
