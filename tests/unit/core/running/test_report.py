"""P10 and P15: the final report is whole and its totals agree, or it is none."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core.running import report, states
from orchestrator.core.running.report import Inventory, Task
from orchestrator.errors import Refused

VIOLATION = {"type": "max_files", "limit": 2, "actual": 3, "time": "2025-01-01T00:00:00.000Z"}


def built(**changed: Any) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "session_id": "s-1", "statuses": ["COMPLETE", "ERROR"],
        "tasks": [Task("t-1", "complete"), Task("t-2", "error", "The executor failed.")],
        "inventory": Inventory(2, raw_files=["raw/op-1.log"]), "next_action": (False, "It waits for approval."),
        "violations": [VIOLATION], "provider": "claude-code", "model": None,
    }  # fmt: skip
    return report.build(**(facts | changed))


def test_p10_the_report_holds_every_part() -> None:
    assert built() == {
        "session_id": "s-1",
        "overall_status": "ERROR",
        "tasks": [{"task_id": "t-1", "status": "complete"}, {"task_id": "t-2", "status": "error"}],
        "totals": {"total": 2, "completed": 1, "incomplete": 0, "failed": 1, "open": 0},
        "incomplete_task_reasons": {"t-2": "The executor failed."},
        "evidence_inventory": {
            "total": 2, "missing_operations": [], "integrity_failures": [], "raw_files": ["raw/op-1.log"],
        },
        "next_action": False,
        "next_action_reason": "It waits for approval.",
        "violations": [VIOLATION],
        "selected_provider": "claude-code",
        "selected_model": None,
    }  # fmt: skip


def test_p10_a_built_report_is_valid_json() -> None:
    assert (report.check(json.loads(json.dumps(built()))), report.check(built())) == ([], [])


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        pytest.param({"statuses": [], "tasks": []}, "COMPLETE", id="merely started"),
        pytest.param({"statuses": []}, "INCOMPLETE", id="tasks without a verdict"),
        pytest.param({"statuses": ["COMPLETE"], "tasks": [Task("t", "complete")]}, "COMPLETE", id="all complete"),
        pytest.param({"statuses": [], "tasks": [Task("t", "complete")]}, "NO_EVIDENCE", id="complete without verdict"),
        pytest.param({"statuses": ["COMPLETE"], "tasks": [Task("t", "queued")]}, "INCOMPLETE", id="one is open"),
        pytest.param(
            {"statuses": ["COMPLETE"], "tasks": [Task("t", "complete")], "inventory": Inventory(1, ["op-1"])},
            "NO_EVIDENCE", id="P7 evidence is missing",
        ),
        pytest.param(
            {"statuses": ["COMPLETE"], "tasks": [Task("t", "complete")], "inventory": Inventory(1, [], ["op-1"])},
            "NO_EVIDENCE", id="P21 evidence was changed",
        ),
    ],
)  # fmt: skip
def test_p10_the_overall_status_is_the_most_severe(changed: dict[str, Any], status: str) -> None:
    made = built(**changed)
    assert (made["overall_status"], report.check(made)) == (status, [])


def test_p10_a_task_without_a_reason_is_named_as_such() -> None:
    made = built(tasks=[Task("t", "incomplete")], next_action=(True, ""))
    told = (made["incomplete_task_reasons"], made["next_action_reason"])
    assert told == ({"t": "(unknown)"}, "Nothing left to do.")


@pytest.mark.parametrize("name", report.FIELDS)
def test_p10_a_report_without_a_part_is_none(name: str) -> None:
    made = built()
    del made[name]
    assert [(each.place, each.message) for each in report.check(made)] == [(name, f"{name} is missing")]


def test_p10_everything_missing_is_named_at_once() -> None:
    assert [each.place for each in report.check({})] == list(report.FIELDS)


TOTALS = {"total": 2, "completed": 1, "incomplete": 0, "failed": 1, "open": 0}
INVENTORY = {"total": 0, "missing_operations": [], "integrity_failures": [], "raw_files": []}
WRONG: list[Any] = [
    pytest.param({"session_id": ""}, "session_id", id="P15 no session id"),
    pytest.param({"session_id": 5}, "session_id", id="session id of another kind"),
    pytest.param({"overall_status": "DONE"}, "overall_status", id="P15 bad status"),
    pytest.param({"overall_status": "COMPLETE"}, "overall_status", id="complete, and a task is not"),
    pytest.param({"totals": TOTALS | {"completed": 6, "total": 5}}, "totals.completed", id="P15 6 of 5"),
    pytest.param({"totals": TOTALS | {"completed": 0}}, "totals", id="totals do not add up"),
    pytest.param({"totals": {"total": 1, "completed": 1, "incomplete": 0, "failed": 0, "open": 0}}, "totals",
                 id="fewer than the tasks"),
    pytest.param({"totals": TOTALS | {"open": -1}}, "totals.open", id="negative"),
    pytest.param({"totals": TOTALS | {"open": True}}, "totals.open", id="no number"),
    pytest.param({"totals": {}}, "totals.total", id="no totals"),
    pytest.param({"next_action": "yes"}, "next_action", id="next action is no boolean"),
    pytest.param({"next_action_reason": ""}, "next_action_reason", id="no reason for what is next"),
    pytest.param({"incomplete_task_reasons": {}}, "incomplete_task_reasons", id="no reason of a task"),
    pytest.param({"evidence_inventory": {"total": 1}}, "evidence_inventory.missing_operations", id="no inventory"),
    pytest.param({"evidence_inventory": INVENTORY | {"total": None}}, "evidence_inventory.total", id="no total"),
    pytest.param({"violations": [{"type": "max_files"}]}, "violations[0]", id="half a violation"),
    pytest.param({"violations": ["x"]}, "violations[0]", id="no violation"),
    pytest.param({"tasks": [{"task_id": "", "status": "complete"}, {"task_id": "t-2", "status": "error"}]}, "tasks[0]",
                 id="a task without id"),
    pytest.param({"tasks": [{"task_id": "t-1", "status": "DONE"}, {"task_id": "t-2", "status": "error"}]}, "tasks[0]",
                 id="a task of unknown state"),
    pytest.param({"tasks": ["t-1", {"task_id": "t-2", "status": "error"}]}, "tasks[0]", id="no task"),
]  # fmt: skip


@pytest.mark.parametrize(("changed", "place"), WRONG)
def test_p15_a_report_that_contradicts_itself_is_refused(changed: dict[str, Any], place: str) -> None:
    with pytest.raises(Refused) as problem:
        report.require(built() | changed)
    assert (problem.value.code, problem.value.data["problems"][0]["place"]) == ("E208", place)


def test_p15_a_valid_report_passes() -> None:
    assert report.require(built()) is None  # type: ignore[func-returns-value]


states_ = st.sampled_from(states.STATES)
some_tasks = st.lists(st.builds(Task, st.uuids().map(str), states_, st.none() | st.text()), max_size=6)


@given(some_tasks, st.lists(st.sampled_from(states.EXECUTOR_STATUSES)), st.booleans(), st.text())
def test_p10_whatever_happened_the_report_is_valid_and_never_too_good(
    tasks: list[Task], statuses: list[str], following: bool, reason: str
) -> None:
    made = built(tasks=tasks, statuses=statuses, next_action=(following, reason))
    good = made["overall_status"] != "COMPLETE" or all(task.state == "complete" for task in tasks)
    assert (report.check(made), good) == ([], True)


parts = st.none() | st.integers() | st.text() | st.lists(st.none())


@given(st.dictionaries(st.sampled_from(sorted(report.FIELDS)), parts))
def test_p10_no_document_breaks_the_check(document: dict[str, Any]) -> None:
    assert report.check(document) != []
    assert isinstance(report.check(built() | document), list)


def test_p15_secrets_are_left_out_of_settings_and_other_values_kept() -> None:
    config = {
        "api_key": "x", "name": "n", "a": [{"DB_PASSWORD": "y", "tokens": 3}], "client-secret": {"b": 1}, "c": (1,),
    }  # fmt: skip
    assert report.redact(config) == {
        "api_key": "[REDACTED]", "name": "n", "a": [{"DB_PASSWORD": "[REDACTED]", "tokens": 3}],
        "client-secret": "[REDACTED]", "c": [1],
    }  # fmt: skip


def test_p10_the_page_reads_like_the_report() -> None:
    assert report.page(built(model="m-1")).splitlines() == [
        "# Session s-1: ERROR", "",
        "## Tasks", "", "- t-1: complete", "- t-2: error (The executor failed.)", "",
        "## Evidence", "", "- total: 2", "- missing_operations: none", "- integrity_failures: none",
        "- raw_files: raw/op-1.log", "",
        "## Violations", "", "- max_files: 3 of 2", "",
        "## Next", "", "- no (It waits for approval.)", "",
        "Provider claude-code, model m-1",
    ]  # fmt: skip


def test_p10_the_page_of_a_session_merely_started_names_nothing() -> None:
    page = report.page(built(tasks=[], statuses=[], violations=[], next_action=(True, "Enter a task.")))
    assert (page.count("- none"), "- yes (Enter a task.)" in page, "model of the provider" in page) == (2, True, True)


def test_p10_a_report_that_is_not_valid_has_no_page() -> None:
    with pytest.raises(Refused) as problem:
        report.page({})
    assert problem.value.code == "E208"
