"""Streams that end early, are full or closed: no traceback, no lost write, and an exit code that tells the truth."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest

from tests.integration.cli.conftest import Ask, Completed, Lines, Run, clean_environment, jsonl

ROUTE = ("route", "developer", "READY_FOR_QA", "-s", "S1", "-g", "A")
LIST = ("audit", "timeline", "-s", "S1")


@pytest.fixture
def run(installed: Run) -> Run:
    """With an interpreter of its own: these tests are about what a start finds."""
    return installed


@pytest.fixture
def shell(script: pathlib.Path, database: pathlib.Path) -> Run:
    """Run the command through a shell, so that its streams can be bent: `shell("{} status | head -1")`."""

    def call(text: str, stdin: bytes = b"", **more: str) -> Completed:
        environment = clean_environment() | {"ORCHESTRATOR_DB": str(database)} | more
        line = text.replace("{}", f"'{sys.executable}' '{script}'")
        return subprocess.run(
            ["/bin/bash", "-c", f"set -o pipefail; {line}"],
            input=stdin,
            capture_output=True,
            env=environment,
            timeout=60,
            check=False,
        )

    return call


def reports(ask: Ask) -> list[str]:
    """The statuses that were reported, in order."""
    return [row["response_status"] for row in ask("audit", "decisions", "-s", "S1")["decisions"] if row["report_id"]]


@pytest.mark.parametrize("form", ["", " --json"], ids=["text", "json"])
def test_a_list_whose_reader_goes_away_ends_quietly(form: str, shell: Run) -> None:
    done = shell(f"{{}} {' '.join(LIST)}{form} | true")
    assert (done.returncode, done.stderr) == (0, b"")


def test_the_first_line_of_a_list_can_be_had(shell: Run) -> None:
    done = shell(f"{{}} {' '.join(LIST)} | head -1")
    assert (done.returncode, done.stderr, done.stdout.split()[0]) == (0, b"", b"1")


@pytest.mark.parametrize("form", ["", " --json"], ids=["text", "json"])
def test_a_write_whose_reader_goes_away_is_recorded_once(form: str, shell: Run, ask: Ask) -> None:
    done = shell(f"{{}} {' '.join(ROUTE)}{form} | true")
    assert (done.returncode, done.stderr, reports(ask)) == (0, b"", ["READY_FOR_QA"])


@pytest.mark.parametrize("form", ["", " --json"], ids=["text", "json"])
@pytest.mark.parametrize("target", [">/dev/full", ">&-", "<&- >&-"], ids=["full", "closed", "stdin closed too"])
def test_an_answer_that_cannot_be_written_is_told_with_the_recorded_step(
    target: str, form: str, shell: Run, ask: Ask
) -> None:
    done = shell(f"{{}} {' '.join(ROUTE)}{form} {target}")
    assert (done.returncode, done.stdout) == (5, b"")
    assert done.stderr.startswith(b"error OUTPUT_FAILED: ")
    assert b"the step is recorded: S1:D4" in done.stderr
    assert b"Traceback" not in done.stderr
    assert reports(ask) == ["READY_FOR_QA"]


@pytest.mark.parametrize("target", [">/dev/full", ">&-"], ids=["full", "closed"])
@pytest.mark.parametrize("words", ["status S1", "--help", "--version", "group --help", "schema route"])
def test_a_reading_command_that_cannot_answer_says_so(words: str, target: str, shell: Run) -> None:
    done = shell(f"{{}} {words} {target}")
    assert (done.returncode, b"Traceback" in done.stderr) == (5, False)
    assert done.stderr.startswith(b"error OUTPUT_FAILED: ")


def test_a_write_with_all_streams_closed_is_recorded(shell: Run, ask: Ask) -> None:
    assert shell(f"{{}} {' '.join(ROUTE)} <&- >&- 2>&-").returncode == 5
    assert reports(ask) == ["READY_FOR_QA"]
    assert "CORRUPT" not in {problem["id"] for problem in ask("db", "check")["problems"]}


def test_a_refusal_with_stderr_closed_keeps_its_code(shell: Run) -> None:
    assert shell("{} group create A -s S1 2>&-").returncode == 3
    assert shell("{} group create A -s S1 2>/dev/full").returncode == 3


def test_a_batch_goes_on_when_its_reader_goes_away(shell: Run, ask: Ask) -> None:
    lines = jsonl(("group create", {"id": f"G{number}", "session_id": "S1"}) for number in range(40))
    done = shell("{} batch | head -1", stdin=lines)
    assert (done.returncode, done.stderr, done.stdout.count(b"\n")) == (0, b"", 1)
    assert len(ask("group", "list", "-s", "S1")["groups"]) == 42


def test_a_batch_whose_output_is_full_stops_and_names_the_step(shell: Run, ask: Ask) -> None:
    lines = jsonl(("group create", {"id": f"G{number}", "session_id": "S1"}) for number in range(3))
    done = shell("{} batch >/dev/full", stdin=lines)
    assert done.returncode == 5
    assert b"the step is recorded: step 4, line 1" in done.stderr
    assert [group["id"] for group in ask("group", "list", "-s", "S1")["groups"]] == ["A", "B", "G0"]


def test_each_answer_of_a_batch_is_there_before_the_next_line_is_read(
    script: pathlib.Path, database: pathlib.Path
) -> None:
    environment = clean_environment() | {"ORCHESTRATOR_DB": str(database)}
    argv = [sys.executable, str(script), "batch"]
    pipe = subprocess.PIPE
    with subprocess.Popen(argv, stdin=pipe, stdout=pipe, env=environment) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for number in range(3):
            process.stdin.write(jsonl([("group create", {"id": f"G{number}", "session_id": "S1"})]))
            process.stdin.flush()
            assert f'"id": "G{number}"'.encode() in process.stdout.readline()
        process.stdin.close()
        assert process.wait(timeout=30) == 0


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="no pseudo terminals here")
def test_nothing_is_coloured(run: Run) -> None:
    assert b"\x1b[" not in run("status", "S1").stdout + run("status", "S9").stderr


def test_the_answers_of_one_batch_come_in_order(lines: Lines) -> None:
    answers = lines(*(("group create", {"id": f"G{number}", "session_id": "S1"}) for number in range(5)))
    assert [answer["group"]["id"] for answer in answers] == [f"G{number}" for number in range(5)]
