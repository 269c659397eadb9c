"""JSON lines in, JSON lines out: one for one, in order, each a transaction of its own."""

from __future__ import annotations

import json
import os
import pathlib

import pytest

from tests.integration.cli.conftest import Ask, Lines, Run, jsonl

NOT_ROOT = hasattr(os, "geteuid") and os.geteuid() != 0


@pytest.mark.parametrize(
    ("line", "exit_code", "code", "op"),
    [
        pytest.param(b"{bad", 4, "BATCH_LINE_INVALID", None, id="no JSON"),
        pytest.param(b"[]", 4, "BATCH_LINE_INVALID", None, id="no object"),
        pytest.param(b"{}", 4, "BATCH_LINE_INVALID", None, id="no op"),
        pytest.param(b'{"op": 7}', 4, "BATCH_LINE_INVALID", None, id="op is a number"),
        pytest.param(b'{"op": "status", "args": []}', 4, "BATCH_LINE_INVALID", None, id="args is a list"),
        pytest.param(b'{"op": "status", "arg": {}}', 4, "BATCH_LINE_INVALID", None, id="unknown key"),
        pytest.param(b'{"op": "status", "op": "why"}', 4, "BATCH_LINE_INVALID", None, id="a key twice"),
        pytest.param(b'\xff{"op": "status"}', 4, "BATCH_LINE_INVALID", None, id="no UTF-8"),
        pytest.param(b'{"op": "status", "args": {"brief": NaN}}', 4, "BATCH_LINE_INVALID", None, id="NaN"),
        pytest.param(b'{"op": "stats"}', 64, "USAGE", "stats", id="unknown operation"),
        pytest.param(b'{"op": "demo"}', 64, "USAGE", "demo", id="a command that is no operation"),
        pytest.param(b'{"op": "group show"}', 64, "USAGE", "group show", id="missing parameter"),
        pytest.param(b'{"op": "status", "args": {"brif": true}}', 64, "USAGE", "status", id="unknown parameter"),
        pytest.param(b'{"op": "status", "args": {"brief": "yes"}}', 64, "USAGE", "status", id="wrong type"),
        pytest.param(b'{"op": "status", "args": {"brief": 1}}', 64, "USAGE", "status", id="a number for a flag"),
        pytest.param(
            b'{"op": "route", "args": {"current_agent": "pm", "status": "x", "turn": true}}', 64, "USAGE", "route",
            id="a flag for a number",
        ),
        pytest.param(
            b'{"op": "group create", "args": {"id": "C", "depends_on": "A"}}', 64, "USAGE", "group create",
            id="a text for a list",
        ),
        pytest.param(
            b'{"op": "group create", "args": {"id": "C", "depends_on": [7]}}', 64, "INVALID_ID", "group create",
            id="a number in a list of ids",
        ),
        pytest.param(
            b'{"op": "route", "args": {"current_agent": "pm", "status": "x", "turn": 1e99}}', 64, "USAGE", "route",
            id="no whole number",
        ),
        pytest.param(
            b'{"op": "audit decisions", "args": {"limit": 0}}', 64, "USAGE", "audit decisions", id="out of range"
        ),
    ],
)  # fmt: skip
def test_a_line_that_is_wrong_is_answered_and_the_next_one_runs(
    line: bytes, exit_code: int, code: str, op: str | None, run: Run
) -> None:
    done = run("batch", stdin=line + b'\n\n  \n{"op": "group show", "args": {"id": "A"}}')
    wrong, right = map(json.loads, done.stdout.splitlines())
    assert (wrong["success"], wrong["code"], wrong["exit_code"], wrong["op"]) == (False, code, exit_code, op)
    assert (right["success"], right["op"], right["exit_code"], done.returncode) == (True, "group show", 0, 1)


def test_the_number_of_a_line_is_that_of_the_file(run: Run) -> None:
    done = run("batch", stdin=b"\n\n{bad\n")
    assert json.loads(done.stdout)["error"].startswith("line 3 is not valid JSON")


def test_common_names_are_understood(lines: Lines) -> None:
    answers = lines(
        ("session show", {"session_id": "S1"}),
        ("session show", {"id": "S1"}),
        ("handoff", {"id": "A", "session_id": "S1"}),
        ("group show", {"group_id": "A", "session_id": "S1"}),
        ("group show", {"id": "A", "session_id": None}),
        ("group list", {"session_id": "S1", "status": None}),
        ("group create", {"id": "C", "session_id": "S1", "name": None}),
    )
    assert [answer.get("code") for answer in answers] == [None, None, "UNKNOWN_ID", None, None, None, None]


def test_answers_are_those_of_the_commands(ask: Ask, lines: Lines) -> None:
    (answer,) = lines(("group show", {"id": "A", "session_id": "S1"}))
    alone = ask("group", "show", "A", "-s", "S1")
    assert {**answer, "_exit": 0} == {**alone, "op": "group show", "exit_code": 0}


def test_lines_may_come_from_a_file(run: Run, tmp_path: pathlib.Path) -> None:
    (tmp_path / "lines.jsonl").write_bytes(b'{"op": "session list"}\r\n{"op": "session list"}')
    done = run("batch", "lines.jsonl")
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 2)


def test_a_batch_without_a_database_or_a_file_is_one_error(run: Run) -> None:
    for words, code in ((("--db", "nowhere.db"), b"NO_DATABASE"), (("nowhere.jsonl",), b"FILE_UNREADABLE")):
        done = run("batch", *words, "--json", stdin=b'{"op": "session list"}\n')
        assert (done.returncode, code in done.stdout, done.stdout.count(b"\n")) == (5, True, 1)


def test_a_state_that_awaits_a_person_is_no_failure_of_a_batch(run: Run) -> None:
    calls = [
        ("route", {"current_agent": "pm", "status": "NEEDS_CLARIFICATION"}),
        ("status", {"session_id": "S1"}),
    ]
    done = run("batch", stdin=jsonl(calls))
    assert ([json.loads(line)["exit_code"] for line in done.stdout.splitlines()], done.returncode) == ([0, 2], 0)


def test_a_fault_of_the_program_costs_its_line_alone(
    database: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: pathlib.Path
) -> None:
    from orchestrator.app import reading
    from orchestrator.doors.cli import main

    monkeypatch.setattr(reading, "session_row", lambda *_: 1 / 0)
    monkeypatch.setenv("ORCHESTRATOR_DB", str(database))
    file = tmp_path / "lines.jsonl"
    file.write_text('{"op": "session show", "args": {"id": "S1"}}\n{"op": "session list"}\n')
    assert main.main(["batch", str(file)]) == 1
    broken, whole = map(json.loads, capfd.readouterr().out.splitlines())
    assert (broken["code"], broken["exit_code"], whole["success"]) == ("INTERNAL", 70, True)


@pytest.mark.skipif(not NOT_ROOT, reason="permissions do not hold root back")
def test_a_database_that_may_only_be_read_is_read(database: pathlib.Path, run: Run) -> None:
    database.chmod(0o400)
    done = run("batch", stdin=b'{"op": "session list"}\n{"op": "session create", "args": {"id": "S2"}}\n')
    read, write = map(json.loads, done.stdout.splitlines())
    assert (read["success"], write["code"], write["exit_code"]) == (True, "READ_ONLY", 5)
