"""Runs of different sessions in one project at the same time, as real processes: who is credited."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import time
from typing import Any

import pytest

from tests.acceptance.replhouse import DEADLINE_S, House


@pytest.fixture
def house(installed_house: House) -> House:
    return installed_house


def meets(house: House, mine: str, other: str, then: str, last: str) -> str:
    """An executor that begins beside another one, does something, and ends when both have done theirs."""
    base = house.base
    return house.program(
        f"touch {base}/{mine}.begun; while [ ! -e {base}/{other}.begun ]; do sleep 0.02; done; {then}; "
        f"touch {base}/{mine}.did; while [ ! -e {base}/{other}.did ]; do sleep 0.02; done; {last}"
    )


def begin(house: House, executor: str, *words: str, **more: Any) -> subprocess.Popen[bytes]:
    return house.start(*words, "--json", "--executor-timeout", "20000", command="run", executor=executor, **more)


def ended(process: subprocess.Popen[bytes]) -> tuple[int, dict[str, Any]]:
    out, err = process.communicate(timeout=DEADLINE_S)
    assert out, err
    run: dict[str, Any] = json.loads(out)["run"]
    return process.returncode, run


ASK = ("explain the project", "--type", "READ_INFO")
CLAIM = (
    """printf '{"status":"COMPLETE","session_id":"%s","output":"It is.","files":["made.txt"]}\\n' """
    '"$ORCHESTRATOR_SESSION_ID"'
)
ENDS = {
    "silent": (":", "NO_EVIDENCE", 2),
    "with an answer": ("echo It holds words.", "COMPLETE", 0),
    "claiming the file": (CLAIM, "NO_EVIDENCE", 2),
}


@pytest.mark.parametrize(("last", "status", "code"), ENDS.values(), ids=ENDS)
def test_p8_what_changed_while_others_worked_there_is_nobody_s_evidence(
    house: House, last: str, status: str, code: int
) -> None:
    """Source: seed 001, Properties 6, 8 and 31."""
    writer = begin(house, meets(house, "a", "b", "echo x > made.txt", last), *ASK)
    reader = begin(house, meets(house, "b", "a", ":", last), *ASK)
    found = [ended(writer), ended(reader)]
    assert [(each, run["executor_status"], run["files_modified_count"]) for each, run in found] == [
        (code, status, 0)
    ] * 2
    assert [[each["path"] for each in run["verified_files"] if each["exists"]] for _, run in found] == [[], []]
    assert (house.project / "made.txt").exists()
    for log in house.logs():
        said = {event["kind"]: event["text"] for event in log["events"]}
        other = next(run["id"] for _, run in found if run["id"] != log["external_task_id"])
        assert said["beside"] == f"worked in the project too: {other}"
        assert said["unattributed"] == "new, by whom is not known: made.txt"


def test_p8_a_silent_run_says_whom_it_was_beside(house: House) -> None:
    writer = begin(house, meets(house, "a", "b", "echo x > made.txt", "echo done"), *ASK)
    reader = begin(house, meets(house, "b", "a", ":", ":"), *ASK)
    (_, first), (_, second) = ended(writer), ended(reader)
    assert second["why"] == f"{first['id']} worked in the project too, so whose work made.txt is cannot be told."
    assert first["executor_status"] == "COMPLETE"


def test_p17_what_cannot_be_attributed_counts_for_nobody_and_against_everybody(house: House) -> None:
    """Source: seed 001, Properties 17 and 20."""
    many = "for each in 1 2 3 4 5 6; do echo x > $each.txt; done"
    writer = begin(house, meets(house, "a", "b", many, "echo done"), *ASK)
    reader = begin(house, meets(house, "b", "a", ":", "echo done"), *ASK)
    assert [(code, run["error_code"]) for code, run in (ended(writer), ended(reader))] == [(1, "E206")] * 2


def test_p31_a_run_that_only_asks_and_is_alone_is_credited_with_what_it_wrote(house: House) -> None:
    code, run = ended(begin(house, house.program("echo x > made.txt"), *ASK))
    assert (code, run["executor_status"], run["files_modified_count"]) == (0, "COMPLETE", 1)


def test_p31_who_came_and_went_meanwhile_was_beside_all_the_same(house: House) -> None:
    base = house.base
    long = house.program(f"touch {base}/begun; while [ ! -e {base}/over ]; do sleep 0.02; done; echo x > made.txt")
    first = begin(house, long, *ASK)
    until(base / "begun")
    code, short = ended(begin(house, house.program("echo It is."), *ASK))
    (base / "over").touch()
    assert (code, short["executor_status"]) == (0, "COMPLETE")
    code, run = ended(first)
    assert (code, run["executor_status"], run["verified_files"]) == (2, "NO_EVIDENCE", [])


def until(path: pathlib.Path) -> None:
    last = time.monotonic() + DEADLINE_S
    while not path.exists():
        assert time.monotonic() < last, path
        time.sleep(0.02)


ALONE = "if ! mkdir {base}/inside; then touch {base}/met; fi; sleep 0.3; {act}; rmdir {base}/inside"


def test_p6_a_report_that_names_its_file_is_alone_with_its_project(house: House) -> None:
    """Source: seed 001, Property 6."""
    act = ALONE.format(base=house.base, act="mkdir -p docs; echo x > docs/report.md; echo done")
    report = begin(house, house.program(act), "Write the report to docs/report.md", "--type", "REPORT")
    asks = begin(house, house.program(ALONE.format(base=house.base, act="echo It is.")), *ASK)
    found = [ended(report), ended(asks)]
    assert [(code, run["files_modified_count"]) for code, run in found] == [(0, 1), (0, 0)]
    assert not (house.base / "met").exists()


def test_p6_two_ways_to_one_folder_are_one_project(house: House) -> None:
    """Source: seed 001, Property 6."""
    os.symlink(house.project, house.base / "alias")
    found = []
    for name, place in (("a.md", "project"), ("b.md", "alias")):
        act = ALONE.format(base=house.base, act=f"echo x > {name}; echo done")
        found.append(begin(house, house.program(act), f"create {name}", place=("--project", str(house.base / place))))
    runs = [ended(each)[1] for each in found]
    assert [[each["path"] for each in run["verified_files"]] for run in runs] == [["a.md"], ["b.md"]]
    assert not (house.base / "met").exists()
