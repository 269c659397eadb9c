"""`audit verify` and `audit head` as people and scripts run them."""

from __future__ import annotations

import json
import pathlib
import sqlite3
from typing import Any

import pytest

from tests import forging
from tests.integration.cli.conftest import Run

FORGED = "UPDATE task_groups SET name = 'forged' WHERE session_id = 'S1' AND id = 'A'"


def answer(run: Run, *arguments: str) -> tuple[int, dict[str, Any]]:
    done = run(*arguments, "--json")
    assert done.stderr == b""
    return done.returncode, json.loads(done.stdout)


def test_a_record_that_is_whole_exits_with_0(run: Run) -> None:
    done = run("audit", "verify")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode().splitlines() == ["No problems found in 6 events and 89 rows of the whole database."]


def test_a_record_that_was_changed_exits_with_1_and_says_where(run: Run, database: pathlib.Path) -> None:
    forging.tamper(database, FORGED)
    for words in (("audit", "verify"), ("audit", "verify", "S1"), ("audit", "verify", "-s", "S1")):
        code, found = answer(run, *words)
        assert (code, found["success"], found["ok"]) == (1, True, False)
        assert [(each["code"], each["session_id"], each["seq"], each["table"]) for each in found["findings"]] == [
            ("STATE_ALTERED", "S1", 2, "task_groups")
        ]
    done = run("audit", "verify")
    assert done.returncode == 1
    assert b"STATE_ALTERED session S1, step 2, task_groups: Row A of task_groups is not as step 2" in done.stdout
    assert run("audit", "verify", "store").returncode == 0


def test_a_head_that_is_printed_is_taken_back(run: Run) -> None:
    lines = run("audit", "head").stdout.decode().splitlines()
    assert [line.split()[0] for line in lines] == ["SESSION", "store", "S1"]
    head = lines[2].split()[1]
    assert answer(run, "audit", "head", "S1")[1]["heads"][0]["head"] == head
    for given in (head, head.partition(":")[2]):
        assert run("audit", "verify", "S1", "--head", given).returncode == 0
        assert run("audit", "verify", "--head", given).returncode == 0
    code, found = answer(run, "audit", "verify", "S1", "--head", f"3:{'0' * 64}")
    assert (code, [(each["code"], each["seq"]) for each in found["findings"]]) == (1, [("HEAD_MISSING", 3)])


@pytest.mark.parametrize(
    ("arguments", "exit_code", "code"),
    [
        (("audit", "verify", "S9"), 3, "UNKNOWN_SESSION"),
        (("audit", "head", "S9"), 3, "UNKNOWN_SESSION"),
        (("audit", "verify", "not an id"), 64, "INVALID_ID"),
        (("audit", "verify", "S1", "--head", "noted"), 64, "USAGE"),
        (("audit", "verify", "--since", "2"), 64, "USAGE"),
        (("audit", "verify", "S1", "--since", "-1"), 64, "USAGE"),
        (("audit", "verify", "S1", "--limit", "0"), 64, "USAGE"),
        (("audit", "verify", "S1", "--sinse", "1"), 64, "USAGE"),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, tuple) else str(each),
)
def test_what_cannot_be_asked_is_told_so(run: Run, arguments: tuple[str, ...], exit_code: int, code: str) -> None:
    assert (answer(run, *arguments)[0], answer(run, *arguments)[1]["code"]) == (exit_code, code)


def test_a_step_beyond_the_end_was_cut_off(run: Run) -> None:
    assert answer(run, "audit", "verify", "S1", "--since", "3")[0] == 0
    code, found = answer(run, "audit", "verify", "S1", "--since", "4")
    assert (code, [(each["code"], each["seq"]) for each in found["findings"]]) == (1, [("EVENT_MISSING", 4)])


def test_only_the_first_findings_are_listed(run: Run, database: pathlib.Path) -> None:
    forging.tamper(database, "UPDATE task_groups SET name = 'forged'")
    code, found = answer(run, "audit", "verify", "--limit", "1")
    assert (code, len(found["findings"]), found["counts"], found["has_more"]) == (1, 1, {"STATE_ALTERED": 2}, True)


def test_the_session_of_the_environment_narrows_nothing(run: Run, database: pathlib.Path) -> None:
    forging.tamper(database, "UPDATE agents SET role = 'tech_lead' WHERE id = 'developer'")
    assert run("audit", "verify", ORCHESTRATOR_SESSION="S1").returncode == 1


def test_a_repair_is_noted_and_nothing_is_wrong(run: Run, database: pathlib.Path) -> None:
    raw = sqlite3.connect(database)
    raw.execute("DROP VIEW completion_paths")
    raw.close()
    assert answer(run, "audit", "verify")[1]["counts"]["VIEW_MISSING"] == 1
    assert run("db", "check", "--repair").returncode == 0
    code, found = answer(run, "audit", "verify", "S1")
    assert (code, len(found["notes"])) == (0, 1)


def test_nothing_is_written(run: Run, database: pathlib.Path) -> None:
    before = database.read_bytes()
    run("audit", "verify")
    run("audit", "head")
    assert database.read_bytes() == before


def test_a_damaged_file_exits_with_5(run: Run, database: pathlib.Path) -> None:
    content = database.read_bytes()
    database.write_bytes(content[: len(content) // 3])
    code, found = answer(run, "audit", "verify")
    assert (code, found["code"]) == (5, "CORRUPT")


def test_a_page_that_was_overwritten_is_damage(run: Run, database: pathlib.Path) -> None:
    raw = sqlite3.connect(database)
    (page,) = raw.execute("SELECT rootpage FROM sqlite_master WHERE name = 'ix_task_groups_open'").fetchone()
    (size,) = raw.execute("PRAGMA page_size").fetchone()
    raw.close()
    with database.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)
    code, found = answer(run, "audit", "verify")
    assert (code, found["code"]) == (5, "CORRUPT")


def test_a_writer_at_work_is_no_hindrance(run: Run, database: pathlib.Path) -> None:
    raw = sqlite3.connect(database, isolation_level=None)
    raw.execute("BEGIN IMMEDIATE")
    assert run("audit", "verify").returncode == 0
    raw.execute("ROLLBACK")
    raw.close()


def test_a_file_that_is_held_alone_is_busy(run: Run, database: pathlib.Path) -> None:
    raw = sqlite3.connect(database, isolation_level=None)
    raw.execute("PRAGMA journal_mode=DELETE")
    raw.execute("BEGIN EXCLUSIVE")
    done = run("audit", "verify", "--json", ORCHESTRATOR_BUSY_TIMEOUT="1")
    raw.close()
    assert (done.returncode, json.loads(done.stdout)["code"]) == (5, "BUSY")
