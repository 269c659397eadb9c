"""`batch --commit-every N`: lines share a commit, each is a step of its own, and no answer comes before its commit."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from orchestrator import bootstrap
from orchestrator.app.kernel import operations
from orchestrator.doors.cli import batch, batch_arguments, catalogue, main, options, output
from orchestrator.store import sqlite
from tests.conftest import clean_environment
from tests.integration.cli.conftest import Run, jsonl

Answers = list[dict[str, Any]]
Together = Callable[..., Answers]
Line = tuple[str, dict[str, Any]]


def report(group: str = "A", **more: Any) -> Line:
    return "route", {"session_id": "S1", "group_id": group, "current_agent": "developer", "status": "PARTIAL", **more}


PLANNED: Line = ("route", {"session_id": "S1", "current_agent": "pm", "status": "PLANNING_COMPLETE"})
MIXED: list[Line] = [
    PLANNED,
    report(summary="first"),
    report("nowhere"),
    ("group create", {"id": "C", "session_id": "S1"}),
    ("group create", {"id": "C", "session_id": "S1"}),
    ("group show", {"id": "C", "session_id": "S1"}),
    report(status="READY_FOR_QA"),
    report(current_agent="qa_expert", status="PASS", dry_run=True),
    ("no such command", {}),
    report(current_agent="qa_expert", status="PASS"),
    ("status", {"session_id": "S1"}),
    ("task create", {"id": "T1", "session_id": "S1", "title": "t"}),
]
TOLD = ("op", "exit_code", "success", "code", "seq", "turn", "decision_id", "group_status", "dry_run", "next_agent")


@pytest.fixture
def together(
    database: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: pathlib.Path
) -> Together:
    """Run lines in this process, so many to a commit."""
    monkeypatch.setenv("ORCHESTRATOR_DB", str(database))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("ORCHESTRATOR_BUSY_TIMEOUT", "0")
    # How many share a commit is to depend on no clock.
    monkeypatch.setattr(batch, "LOCK_S", 60.0)

    def call(lines: list[Line] | bytes, every: int = 20, exit_code: int | None = None) -> Answers:
        file = tmp_path / "lines.jsonl"
        file.write_bytes(lines if isinstance(lines, bytes) else jsonl(lines))
        code = main.main(["batch", str(file), "--commit-every", str(every)])
        found: Answers = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
        assert exit_code in (None, code), found
        return found

    return call


def steps(database: pathlib.Path) -> list[int]:
    """The numbers of the recorded steps of the session."""
    with contextlib.closing(sqlite3.connect(database)) as connection:
        found = connection.execute("SELECT seq FROM audit_events WHERE session_id = 'S1' ORDER BY seq")
        return [seq for (seq,) in found]


@pytest.fixture
def commits(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The statements with which transactions begin and end on connections that write."""
    prepare, found = sqlite.prepare, list[str]()

    def note(sql: str) -> None:
        if sql in ("BEGIN IMMEDIATE", "COMMIT"):
            found.append(sql)

    def traced(connection: sqlite3.Connection, **more: Any) -> None:
        prepare(connection, **more)
        connection.set_trace_callback(note)

    monkeypatch.setattr(sqlite, "prepare", traced)
    return found


@pytest.mark.parametrize("every", ["0", "-1", "1001", "many"])
def test_a_number_that_cannot_be_meant_is_refused(every: str, run: Run) -> None:
    done = run("batch", f"--commit-every={every}", "--json", stdin=jsonl([PLANNED]))
    assert (done.returncode, json.loads(done.stdout)["code"]) == (64, "USAGE")


def test_answers_and_steps_are_the_same_however_many_share_a_commit(
    together: Together, database: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    before = database.read_bytes()
    for every in (1, 3, 1000):
        copy = tmp_path / f"{every}.db"
        copy.write_bytes(before)
        monkeypatch.setenv("ORCHESTRATOR_DB", str(copy))
        answers = together(MIXED, every, exit_code=1)
        told = [{name: answer.get(name) for name in TOLD} for answer in answers]
        found.append((told, steps(copy)))
        assert together([("audit verify", {}), ("audit replay", {"session_id": "S1"})], exit_code=0)
    assert found[0] == found[1] == found[2]
    assert [answer["exit_code"] for answer in found[0][0]] == [0, 0, 3, 0, 3, 0, 0, 0, 64, 0, 0, 0]


@pytest.mark.parametrize(("every", "most"), [(1, 9), (4, 3), (20, 1)])
def test_so_many_lines_share_a_commit(together: Together, commits: list[str], every: int, most: int) -> None:
    lines = [("group create", {"id": f"N{number}", "session_id": "S1"}) for number in range(9)]
    together(lines, every, exit_code=0)
    assert commits == ["BEGIN IMMEDIATE", "COMMIT"] * most


def test_the_lock_is_given_up_after_its_time(
    together: Together, commits: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "LOCK_S", 0.0)
    together([("group create", {"id": f"N{number}", "session_id": "S1"}) for number in range(3)], exit_code=0)
    assert commits == ["BEGIN IMMEDIATE", "COMMIT"] * 3


def test_no_answer_comes_before_its_commit(
    together: Together, database: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, seen = output.write, list[tuple[int, int]]()

    def look(data: bytes, recorded: str | None = None) -> bool:
        last = max(json.loads(line)["seq"] for line in data.splitlines())
        seen.append((last, steps(database)[-1]))
        return write(data, recorded)

    monkeypatch.setattr(output, "write", look)
    together([PLANNED, *(report(summary=str(number)) for number in range(3))], 2, exit_code=0)
    assert len(seen) == 2
    assert all(answered <= recorded for answered, recorded in seen)


def test_nobody_is_kept_waiting_for_lines_that_are_still_to_come(
    script: pathlib.Path, database: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    environment = clean_environment() | {"ORCHESTRATOR_DB": str(database)}
    argv = [sys.executable, str(script), "batch", "--commit-every", "20"]
    lines = jsonl([PLANNED, report(), report(summary="more")])
    half = len(lines) - 30
    with subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, cwd=tmp_path
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(lines[:half])
        process.stdin.flush()
        assert [json.loads(process.stdout.readline())["success"] for _ in range(2)] == [True, True]
        with held(database):
            pass
        process.stdin.write(lines[half:])
        process.stdin.close()
        assert json.loads(process.stdout.readline())["success"]
    assert process.returncode == 0


@contextlib.contextmanager
def held(database: pathlib.Path, how: str = "IMMEDIATE") -> Iterator[None]:
    """Another process's hold on a database, which it gets at once or not at all."""
    with contextlib.closing(sqlite3.connect(database, timeout=0, isolation_level=None)) as other:
        other.execute(f"BEGIN {how}")
        other.execute("SELECT count(*) FROM audit_events").fetchall()
        yield


def test_a_busy_database_costs_the_lines_that_meet_it(
    together: Together, database: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with held(database):
        answers = together([PLANNED, report()], exit_code=1)
    assert [answer["code"] for answer in answers] == ["BUSY", "BUSY"]


FAILED: list[Line] = [PLANNED, report(), report("nowhere"), report(details={"notes": "x" * 1_100_000})]


def test_where_the_common_commit_fails_no_line_of_it_is_recorded_and_each_says_so(
    together: Together, database: pathlib.Path, commits: list[str], tmp_path: pathlib.Path
) -> None:
    """Beside a rollback journal a commit waits for whoever reads."""
    with contextlib.closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
    before = database.read_bytes()
    with held(database, "DEFERRED"):
        answers = together([*FAILED[:3], ("group create", {"id": "C", "session_id": "S1"})], exit_code=1)
        large = together(FAILED, exit_code=1)
    assert [(answer["code"], answer["exit_code"]) for answer in answers + large] == [("BUSY", 5)] * 8
    assert database.read_bytes() == before
    assert not list(tmp_path.rglob("reports/*"))
    # The mark that this machine keeps of the newest step did not run ahead: nothing warns of steps that are missing.
    again = together(FAILED, exit_code=1)
    told = [(answer["success"], answer.get("warnings")) for answer in again]
    assert told == [(True, []), (True, []), (False, None), (True, [])]


def test_an_interrupt_takes_what_was_not_answered_and_nothing_else(
    together: Together, database: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call, numbers = operations.call, iter(range(100))

    def interrupted(*given: Any, **named: Any) -> dict[str, Any]:
        if next(numbers) == 5:
            raise KeyboardInterrupt
        return call(*given, **named)

    before = steps(database)
    monkeypatch.setattr(operations, "call", interrupted)
    answers = together([PLANNED, *(report(summary=str(number)) for number in range(8))], 4, exit_code=130)
    assert [answer["seq"] for answer in answers] == steps(database)[len(before) :]
    assert len(answers) == 4


def test_a_fault_in_a_line_takes_nothing_of_the_others(
    together: Together, database: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from orchestrator.store import step

    def broken(self: step.Step, kind: str, *given: Any) -> bytes:
        if kind == "group create":
            raise ZeroDivisionError
        return seal(self, kind, *given)

    seal = step.Step.seal
    monkeypatch.setattr(step.Step, "seal", broken)
    answers = together([PLANNED, ("group create", {"id": "C", "session_id": "S1"}), report()], exit_code=1)
    assert [answer["exit_code"] for answer in answers] == [0, 70, 0]
    assert [answer["seq"] for answer in answers if answer["success"]] == steps(database)[-2:]


def test_a_common_transaction_that_sqlite_rolled_back_is_answered_as_such(
    together: Together, database: pathlib.Path
) -> None:
    with contextlib.closing(sqlite3.connect(database)) as connection:
        connection.execute(
            "CREATE TRIGGER foreign_one BEFORE INSERT ON task_groups WHEN NEW.id = 'X'"
            " BEGIN SELECT RAISE(ROLLBACK, 'no more'); END"
        )
    before = steps(database)
    groups = [("group create", {"id": name, "session_id": "S1"}) for name in ("C", "D", "X", "E")]
    answers = together([*groups], exit_code=1)
    assert [answer["success"] for answer in answers] == [False, False, False, True]
    assert steps(database) == [*before, before[-1] + 1]


def test_nothing_is_run_while_the_transaction_is_open(
    together: Together, database: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = []

    def run(argv: Any, **settings: Any) -> Any:
        with held(database):
            ran.append(tuple(argv))
        return real(argv, **settings)

    real = bootstrap.run_command
    monkeypatch.setattr(bootstrap, "run_command", run)
    given = {"session_id": "S1", "id": "C1", "text": "it runs", "command": ["true"], "reason": "asked for"}
    answers = together([("criterion add", given), PLANNED, ("validate", {"session_id": "S1", "run_commands": True})])
    assert [answer["success"] for answer in answers] == [True, True, True]
    assert ran


def test_only_what_is_known_to_do_no_more_than_its_step_joins_others() -> None:
    every = operations.every()
    joining = {words for words, request in every.items() if not request.is_alone({})}
    assert {words for words in joining if every[words].prepared_by} == {"route", "session create"}
    assert every["route"].is_alone({"run_commands": True})
    named = {
        name
        for words in joining
        for each in catalogue.find(words).parameters
        if each.kind in (options.DOCUMENT, options.METADATA, options.SECRET, options.OBJECT_FILE)
        for name in (each.name, each.key)
    }
    assert named <= set(batch_arguments.NAMES_OF_FILES)


def test_a_closed_stdout_is_told_with_the_steps_that_are_recorded(
    together: Together, database: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, os.strerror(28))

    before = steps(database)
    monkeypatch.setattr(output, "_write_all", full)
    together([PLANNED, report(), report(summary="2")], exit_code=5)
    assert len(steps(database)) == len(before) + 3
