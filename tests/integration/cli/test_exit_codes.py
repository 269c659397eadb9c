"""Every way to end has its code, and a caller that looks at it alone is never told of a success that was none."""

from __future__ import annotations

import json
import pathlib
import signal
import subprocess
import sys
import time

import pytest

from orchestrator.doors.cli import invoke, main
from tests.integration.cli.conftest import Ask, Lines, Run, clean_environment

ROUTE = ("route", "-s", "S1", "-g", "A", "--current-agent", "developer", "--status")

FAILURES = {
    "refused": (("group", "create", "A", "-s", "S1"), 3, "ALREADY_EXISTS"),
    "unknown session": (("status", "S9"), 3, "UNKNOWN_SESSION"),
    "unknown status": ((*ROUTE, "PERFECT"), 3, "UNKNOWN_STATUS"),
    "invalid workflow": (("workflow", "check", "broken.json"), 4, "WORKFLOW_INVALID"),
    "invalid workflow at load": (("workflow", "load", "broken.json"), 4, "WORKFLOW_INVALID"),
    "workflow file missing": (("workflow", "load", "nowhere.json"), 4, "WORKFLOW_INVALID"),
    "invalid metadata": (("metadata", "check", "broken.json"), 4, "METADATA_INVALID"),
    "details are no object": ((*ROUTE, "PARTIAL", "--details", "[1]"), 4, "METADATA_INVALID"),
    "details have a key twice": ((*ROUTE, "PARTIAL", "--details", '{"a":1,"a":2}'), 4, "METADATA_INVALID"),
    "details hold NaN": ((*ROUTE, "PARTIAL", "--details", '{"a":NaN}'), 4, "METADATA_INVALID"),
    "no database": (("status", "--db", "nowhere.db"), 5, "NO_DATABASE"),
    "no database to write": (("session", "create", "S2", "--db", "nowhere.db"), 5, "NO_DATABASE"),
    "not a database": (("status", "--db", "broken.json"), 5, "CORRUPT"),
    "a folder": (("status", "--db", "."), 5, "NO_DATABASE"),
    "unknown option": (("status", "--sesion-id", "S1"), 64, "USAGE"),
    "unknown command": (("statsu",), 64, "USAGE"),
    "unknown subcommand": (("group", "shw"), 64, "USAGE"),
    "missing argument": (("group", "show"), 64, "USAGE"),
    "too many arguments": (("group", "show", "A", "B", "C"), 64, "USAGE"),
    "a flag with a value": (("status", "--brief=yes"), 64, "USAGE"),
    "unknown choice": (("session", "create", "S2", "--testing-mode", "ful"), 64, "USAGE"),
    "no number": ((*ROUTE, "PARTIAL", "--turn", "two"), 64, "USAGE"),
    "a huge number": ((*ROUTE, "PARTIAL", "--turn", "9" * 30), 64, "USAGE"),
    "out of range": (("group", "create", "C", "-s", "S1", "--complexity", "11"), 64, "USAGE"),
    "invalid id": (("group", "show", "A/B", "-s", "S1"), 64, "INVALID_ID"),
    "file that is missing": ((*ROUTE, "PARTIAL", "--summary", "@nowhere.txt"), 5, "FILE_UNREADABLE"),
    "unknown revision": (("db", "downgrade", "9999"), 64, "UNKNOWN_REVISION"),
    "unknown schema": (("schema", "grop", "show"), 64, "USAGE"),
}


@pytest.fixture
def run(installed: Run) -> Run:
    """With an interpreter of its own: these tests are about what a start finds."""
    return installed


@pytest.mark.parametrize("name", FAILURES)
def test_a_failure_has_its_code_and_changes_nothing(name: str, ask: Ask, run: Run, tmp_path: pathlib.Path) -> None:
    arguments, exit_code, code = FAILURES[name]
    (tmp_path / "broken.json").write_text("{ no json " * 20)
    answer = ask(*arguments)
    assert (answer["success"], answer["schema"], answer["code"], answer["_exit"]) == (False, 1, code, exit_code)
    assert answer["error"].endswith((".", "?")), answer["error"]
    assert not (tmp_path / "nowhere.db").exists()


def test_a_failure_in_words_goes_to_stderr_with_what_helps(run: Run) -> None:
    done = run("group", "create", "A", "-s", "S1")
    assert (done.returncode, done.stdout) == (3, b"")
    first, second = done.stderr.decode().splitlines()
    assert first.startswith("error ALREADY_EXISTS: Group A already exists in session S1")
    assert second == "try: orchestrator group show A --session-id S1"


def test_an_error_of_a_session_says_where_to_look(ask: Ask) -> None:
    answer = ask(*ROUTE, "PERFECT")
    assert (answer["status_hint"], answer["fallback_action"]["next_agent"]) == ("orchestrator status S1", "tech_lead")


def test_an_option_at_the_end_without_its_value_is_a_wrong_call(run: Run) -> None:
    done = run("status", "--db")
    assert (done.returncode, done.stdout, done.stderr.split(b":")[0]) == (64, b"", b"error USAGE")


def test_near_misses_are_named(ask: Ask) -> None:
    found = [
        ask("statsu")["did_you_mean"],
        ask("grup", "show")["did_you_mean"],
        ask("group", "shw")["did_you_mean"],
        ask("group", "show", "--sesion-id", "S1", "A")["did_you_mean"],
        ask("session", "create", "S2", "--mode", "simpel")["did_you_mean"],
    ]
    assert found == ["status", "group", "show", "--session-id", "simple"]


def test_a_person_who_is_awaited_is_exit_2(ask: Ask, lines: Lines) -> None:
    lines(("route", {"session_id": "S1", "current_agent": "project_manager", "status": "NEEDS_CLARIFICATION"}))
    answer = ask("status", "S1")
    assert (answer["state"], answer["_exit"]) == ("person_awaited", 2)
    assert "exit_code" not in answer


def test_a_batch_with_a_failing_line_is_exit_1(run: Run) -> None:
    done = run("batch", stdin=b'{"op": "session list"}\n{"op": "nothing"}\n')
    assert (done.returncode, [json.loads(line)["exit_code"] for line in done.stdout.splitlines()]) == (1, [0, 64])


def test_a_decision_that_pauses_for_a_person_is_exit_0(ask: Ask) -> None:
    answer = ask("route", "project_manager", "NEEDS_CLARIFICATION", "-s", "S1", "--summary", "which colour?")
    assert (answer["action"], answer["_exit"]) == ("pause_for_user", 0)


@pytest.mark.parametrize("debug", [False, True], ids=["quiet", "debug"])
def test_a_fault_of_the_program_is_one_line_and_exit_70(
    debug: bool, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        secret = "hunter2"  # noqa: S105 - what no traceback may show
        raise RuntimeError(f"broken by {len(secret)}")

    monkeypatch.setattr(invoke, "run", fail)
    code = main.main(["session", "list", *(["--debug"] if debug else [])])
    out, err = capfd.readouterr()
    assert (code, out, "Traceback" in err, "hunter2" in err) == (70, "", debug, False)
    assert "error INTERNAL: Unexpected: RuntimeError: broken by 7" in err
    assert debug or len(err.splitlines()) == 2


def test_a_fault_of_the_program_is_json_where_asked(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(invoke, "run", lambda *_: 1 / 0)
    assert main.main(["session", "list", "--json"]) == 70
    assert json.loads(capfd.readouterr().out)["code"] == "INTERNAL"


def test_an_interrupt_is_exit_130(script: pathlib.Path, database: pathlib.Path) -> None:
    environment = clean_environment() | {"ORCHESTRATOR_DB": str(database)}
    argv = [sys.executable, str(script), "batch"]
    pipe = subprocess.PIPE
    with subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=pipe, env=environment) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b'{"op": "session list"}\n')
        process.stdin.flush()
        assert process.stdout.readline()
        time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, b"")
    assert err.startswith(b"error INTERRUPTED: ")
    assert b"Traceback" not in err


def test_the_bare_command_shows_help(run: Run) -> None:
    done = run()
    assert (done.returncode, done.stdout.startswith(b"Usage: orchestrator")) == (0, True)


def test_common_options_may_stand_before_the_command(run: Run, database: pathlib.Path) -> None:
    done = run("--json", f"--db={database}", "session", "list", ORCHESTRATOR_DB="/nowhere")
    assert [session["id"] for session in json.loads(done.stdout)["sessions"]] == ["S1"]


def test_json_may_be_asked_for_by_the_environment(run: Run) -> None:
    assert json.loads(run("session", "list", ORCHESTRATOR_JSON="1").stdout)["success"] is True
    assert json.loads(run("statsu", ORCHESTRATOR_JSON="1").stdout)["code"] == "USAGE"
    assert run("session", "list", ORCHESTRATOR_JSON="0").stdout.startswith(b"SESSION ")
