"""Faults that programs of this kind are known for, each by its number: what is finished, and what proves it."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from orchestrator.errors import UsageError
from orchestrator.runner import commands
from tests.integration.app.table import SESSION, Answer, Table

PM = "project_manager"
MEASURE = {"metric": "coverage", "operator": "ge", "target": "80"}


def add(table: Table, id: str = "C1", **more: Any) -> None:
    table.do("criterion add", id=id, session_id=SESSION, text="what must hold", reason="asked for", **more)


def judge(table: Table, confirm: bool = True) -> Answer:
    if confirm:
        table.says(PM, "BAZINGA")
    table.context.run = commands.run
    return table.do("validate", session_id=SESSION, record=True)


def failed(verdict: Answer) -> list[tuple[str, str]]:
    return [(check["id"], check["subject"]) for check in verdict["checks"] if check["level"] == "error"]


# C05: sums and counts make an unfinished scope look finished


def test_c05_a_session_without_groups_is_not_finished() -> None:
    verdict = judge(Table())
    assert (verdict["verdict"], failed(verdict)) == ("REJECT", [("V02", SESSION)])


def test_c05_b_a_numeric_criterion_without_a_value_is_not_met() -> None:
    table = Table("A", plan=True)
    add(table, **MEASURE)
    table.complete("A")
    verdict = judge(table)
    assert (verdict["verdict"], failed(verdict)) == ("REJECT", [("V09", "C1")])


def test_c05_c_every_criterion_met_does_not_close_an_open_group() -> None:
    table = Table("A", "B", plan=True)
    add(table, **MEASURE)
    table.do("criterion set", id="C1", session_id=SESSION, actual="100", by=PM, reason="measured")
    table.complete("A")
    verdict = judge(table)
    assert (verdict["verdict"], failed(verdict)) == ("REJECT", [("V02", "B")])


@pytest.mark.parametrize("target", ["NaN", "Infinity", "-Infinity", "-80"])
def test_c05_d_a_target_that_makes_no_sense_is_refused_at_creation(target: str) -> None:
    table = Table("A")
    with pytest.raises(UsageError):
        add(table, **{**MEASURE, "target": target})
    assert table.count("criteria") == 0


# C07: evidence judged by keywords

SAID = {
    "completed with errors": "Build completed with 3 errors",
    "unsuccessful": "Unsuccessful",
    "clean": "12 passed, 0 failed, 0 errors",
    "failure in a name": "test_failure_handling passed",
    "nothing": "",
    "5 MB": None,
}


@pytest.mark.parametrize("status", [0, 1, 5])
@pytest.mark.parametrize("said", SAID.values(), ids=SAID)
def test_c07_the_exit_status_decides_and_never_a_word(said: str | None, status: int) -> None:
    table = Table("A", plan=True)
    printed = f"print({said!r})" if said is not None else "print('passed\\n' * 700_000 + '12 passed in 3 s')"
    add(table, command=(sys.executable, "-c", f"{printed}; raise SystemExit({status})"))
    table.complete("A")

    verdict = judge(table)

    assert verdict["verdict"] == ("ACCEPT" if status == 0 else "REJECT")
    assert failed(verdict) == ([] if status == 0 else [("V10", "C1")])
    ((outcome, size, content),) = table.rows("SELECT outcome, size, content FROM evidence")
    assert outcome == f"exit {status}"
    if said is None:
        assert (size, content.endswith("12 passed in 3 s\n")) == (4_900_017, True)
    else:
        assert content == f"{said}\n"
