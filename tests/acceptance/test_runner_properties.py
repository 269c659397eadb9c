"""Properties of the task runner that nothing else plays through the installed command; and that none is left out."""

from __future__ import annotations

import json
import pathlib
import re
import sqlite3
import sys
from typing import Any

import pytest

from tests.acceptance.replhouse import DEADLINE_S, House

PHASES = (
    "REQUIREMENT_ANALYSIS", "TASK_DECOMPOSITION", "PLANNING", "EXECUTION", "QA", "COMPLETION_VALIDATION", "REPORT",
)  # fmt: skip
NOT_PLAYED = {22: "what the project asks of its own tests is held by what runs them"}
"""Properties that no call of the command could show."""


@pytest.fixture
def house(installed_house: House) -> House:
    return installed_house


def configured(house: House, **settings: Any) -> None:
    (house.project / ".claude" / "settings.json").write_text(json.dumps({"orchestrator": settings}))


def rows(house: House, sql: str) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(f"file:{house.database}?mode=ro", uri=True)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def ended(house: House, task: str, executor: str, *flags: str) -> tuple[int, dict[str, Any]]:
    """Exit code and run of a call of `run`."""
    done = house.run(task, "--json", *flags, command="run", executor=executor)
    return done.code, json.loads(done.out)["run"]


def test_every_property_is_played_through_the_command() -> None:
    here = pathlib.Path(__file__).parent
    text = "\n".join(path.read_text("utf-8") for path in here.glob("test_*.py"))
    lists = re.findall(r"Propert(?:y|ies) ([0-9]+(?:(?:, | and )[0-9]+)*)", text)
    named = {int(number) for each in lists for number in re.findall(r"[0-9]+", each)}
    named |= {int(number) for number in re.findall(r"def test_p([0-9]+)_", text)}
    assert sorted(set(range(1, 41)) - named) == sorted(NOT_PLAYED)


WRONG = {
    "out of range": ({"task_limits": {"files": 21}}, "E104"),
    "not a number": ({"timeouts": {"deadlock_timeout_seconds": "60"}}, "E104"),
    "unknown": ({"task_limit": {"files": 5}}, "E104"),
    "an unknown one within": ({"parallel_limits": {"executor": 1}}, "E104"),
    "an override beyond the range": ({"parallel_limits": {"executors": 5}}, "E104"),
}


@pytest.mark.parametrize(("settings", "code"), WRONG.values(), ids=WRONG)
def test_p3_of_wrong_settings_nothing_is_taken(house: House, settings: dict[str, Any], code: str) -> None:
    configured(house, **settings, evidence_settings={"retention_days": 10})
    done = house.run("create notes.md", command="run", executor=house.program(f"touch {house.base}/called"))
    assert (done.code, code in done.err, (house.base / "called").exists()) == (1, True, False), done.err
    assert rows(house, "SELECT count(*) FROM runs") == [(0,)]


@pytest.mark.parametrize(
    ("program", "passed"), [("echo x > notes.md; echo done", 7), ("exit 3", 3)], ids=["complete", "error"]
)
def test_p4_the_log_tells_the_phases_in_order_up_to_the_one_that_failed(
    house: House, program: str, passed: int
) -> None:
    house.run("create notes.md", command="run", executor=house.program(program))
    (log,) = house.logs()
    told = [event["text"].split(": ")[:2] for event in log["events"] if event["kind"] == "phase"]
    assert [phase for phase, _ in told] == list(PHASES[: passed + 1])
    assert [said == "passed" for _, said in told] == [True] * passed + [False] * (passed < len(PHASES))


def test_p5_no_more_executors_work_than_the_limit_allows_and_the_others_follow(house: House) -> None:
    configured(house, parallel_limits={"executors": 2})
    base = house.base
    (base / "in").mkdir()
    program = house.program(
        f"touch {base}/in/$$; ls {base}/in | wc -l >> {base}/counts; sleep 0.7; rm {base}/in/$$; echo It is."
    )
    begun = [
        house.start("explain it", "--type", "READ_INFO", "--json", command="run", executor=program) for _ in range(4)
    ]
    codes = [process.wait(DEADLINE_S) for process in begun]
    for process in begun:
        process.communicate()
    counts = sorted(map(int, (base / "counts").read_text().split()))
    assert (codes, len(counts), counts[-1]) == ([0] * 4, 4, 2)


def test_p7_p18_each_operation_of_a_run_has_its_own_evidence(house: House) -> None:
    """Source: seed 001, Properties 7 and 18."""
    code, run = ended(house, "create notes.md", house.program("echo x > notes.md; echo done"))
    subjects = rows(house, "SELECT subject, count(*) FROM evidence WHERE kind = 'operation' GROUP BY subject")
    assert (code, subjects) == (0, [(f"{run['id']}-execute", 1), (f"{run['id']}-verify", 1)])
    (report,) = house.project.glob(".orchestrator/sessions/*/report.json")
    inventory = json.loads(report.read_bytes())["evidence_inventory"]
    assert (inventory["total"], inventory["missing_operations"], inventory["integrity_failures"]) == (2, [], [])


def test_p21_who_spoils_the_evidence_of_the_session_has_completed_nothing(house: House) -> None:
    """Source: seed 001, Properties 7, 8 and 21."""
    first = "echo x > first.md; echo done"
    # It spoils the record of a run before it, and so that of the session.
    spoilt = "for each in .orchestrator/sessions/*/evidence/evidence_index.json; do echo '{bad' > $each; done"
    program = house.program(f'case "$*" in *first*) {first};; *) {spoilt}; echo x > notes.md; echo done;; esac')
    done = house.run(lines=["create first.md", "create notes.md"], executor=program)
    assert (done.code, done.results) == (1, ["COMPLETE", "ERROR"]), done.out
    statuses = rows(house, "SELECT executor_status, error_code FROM runs ORDER BY created_seq")
    assert statuses[1] == ("INVALID", "E501")
    assert "evidence_index.json (changed)" in done.whys[1]


CHECK = "import pathlib, sys; sys.exit(pathlib.Path('app.py').read_text() != 'right')"
TESTED = {
    "no tests": (None, "right", "ERROR", "E211", 1),
    "failing": ("test_app.py", "wrong", "INCOMPLETE", "E210", 2),
    "passing": ("test_app.py", "right", "COMPLETE", None, 0),
}


@pytest.mark.parametrize(("tests", "text", "status", "error", "code"), TESTED.values(), ids=TESTED)
def test_p11_source_is_changed_only_where_tests_exist_and_pass(
    house: House, tests: str | None, text: str, status: str, error: str | None, code: int
) -> None:
    configured(house, detection={"checks": {"tests": [[sys.executable, "-c", CHECK]]}} if tests else {})
    if tests is not None:
        (house.project / tests).write_text("")
    program = house.program(f"touch {house.base}/called; printf {text} > app.py; echo done")
    exit_code, run = ended(house, "implement app.py", program, "--type", "IMPLEMENTATION")
    assert (run["executor_status"], run["error_code"], exit_code) == (status, error, code), run
    assert (house.base / "called").exists() == (tests is not None)


def test_p13_a_subtask_that_an_executor_makes_for_itself_is_invalid(house: House, script: pathlib.Path) -> None:
    call = f"{sys.executable} {script} --db {house.database}"
    chat = "--session-id $ORCHESTRATOR_SESSION_ID"
    make = f"{call} task create sub --title more --group-id $ORCHESTRATOR_SESSION_ID {chat} --by developer --parent"
    parent = f"$({call} task list {chat} --json | {sys.executable} -c"
    parent += """ 'import json, sys; print(json.load(sys.stdin)["tasks"][0]["id"])')"""
    program = house.program(f"{make} {parent} >&2; echo x > notes.md; echo done")
    code, run = ended(house, "create notes.md", program)
    assert (code, run["executor_status"], run["error_code"]) == (1, "INVALID", "E205"), run
    assert rows(house, "SELECT created_by FROM tasks WHERE id = 'sub'") == [("developer",)]


def test_p13_what_an_executor_proposes_is_noted_and_not_done(house: House) -> None:
    said = '{"status":"COMPLETE","session_id":"%s","output":"done","proposed_tasks":["and more.md"]}'
    program = house.program(f"echo x > notes.md; printf '{said}\\n' $ORCHESTRATOR_SESSION_ID")
    code, _ = ended(house, "create notes.md", program)
    (log,) = house.logs()
    told = [event["text"] for event in log["events"] if event["kind"] == "proposal"]
    assert (code, told, rows(house, "SELECT count(*) FROM tasks")) == (0, ["not approved: and more.md"], [(1,)])


@pytest.mark.parametrize("claim", ["It is probably done.", "It should be done.", "たぶん完了しました。"])
def test_p15_a_claim_in_words_of_guess_is_none_and_raw_output_is_not_shown(house: House, claim: str) -> None:
    program = house.program(f"echo x > notes.md; echo 'step 7734'; echo '{claim}'")
    done = house.run(lines=["create notes.md", "/logs task-001", "/tasks"], executor=program)
    assert (done.code, done.results, "step 7734" in done.out) == (2, ["INCOMPLETE"], False)
    assert rows(house, "SELECT executor_status FROM runs") == [("NO_EVIDENCE",)]


def test_p33_another_process_finds_every_verified_file_by_the_log(house: House) -> None:
    """Source: seed 001, Properties 26 and 33."""
    claim = '{"status":"COMPLETE","session_id":"%s","output":"done","files":["docs/a.md","node_modules/b.js"]}'
    make = "mkdir docs node_modules; echo x > docs/a.md; echo x > node_modules/b.js"
    program = house.program(f"{make}; printf '{claim}\\n' $ORCHESTRATOR_SESSION_ID")
    ended(house, "create docs/a.md", program)
    (log,) = house.logs()
    found = {each["path"]: each["detection_method"] for each in log["verified_files"] if each["exists"]}
    assert found == {"docs/a.md": "diff", "node_modules/b.js": "executor_claim"}
    root = pathlib.Path(log["verification_root"])
    assert (root.is_absolute(), [(root / path).is_file() for path in found]) == (True, [True, True])
    assert {"task_id", "session_id", "status", "started_at", "ended_at", "artifacts", "events"} <= log.keys()


FAKES = {"fake-success": ("COMPLETE", 0), "fake-blocked": ("ERROR", 1), "fake-error": ("ERROR", 1),
         "fake-timeout": ("ERROR", 1)}  # fmt: skip


@pytest.mark.parametrize(("name", "status"), [(name, status) for name, (status, _) in FAKES.items()], ids=FAKES)
def test_p37_fakes_end_as_their_name_says_and_start_no_program(house: House, name: str, status: str) -> None:
    code, run = ended(house, "explain it", name, "--type", "READ_INFO")
    assert (run["status"], code) == (status, FAKES[name][1]), run
