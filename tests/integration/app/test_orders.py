"""What a task orders by name, over all its runs and with what people said about it since."""

from __future__ import annotations

import pathlib

import pytest

from orchestrator.app.running.desk import Desk
from orchestrator.errors import Refused
from tests import persons
from tests.integration.app.test_desk import desk, done

JUNK = {"status": "COMPLETE", "output": "done", "writes": {"junk.txt": "x"}}


def as_person(at: Desk) -> None:
    persons.sit(at.context)


def test_p31_what_an_earlier_run_of_the_task_changed_counts(tmp_path: pathlib.Path) -> None:
    first = {"status": "COMPLETE", "output": "done", "writes": {"a.md": "new"}}
    second = {"status": "COMPLETE", "output": "done", "writes": {"b.md": "new"}}
    at = desk(tmp_path, first, second)
    for name in ("a.md", "b.md"):
        pathlib.Path(at.project.root, name).write_text("old")
    run = done(at, "Update a.md and b.md")
    assert (run["state"], run["error_reason"]) == ("incomplete", "The task names b.md, and that was not done.")
    as_person(at)
    run = at.approve()
    assert at.work(run["id"])["state"] == "complete"


def test_p31_a_task_that_goes_on_without_its_file_is_not_complete(tmp_path: pathlib.Path) -> None:
    at = desk(tmp_path, JUNK, {**JUNK, "writes": {"junk.txt": "y"}})
    done(at, "Create docs/x.md")
    as_person(at)
    assert at.work(at.approve()["id"])["executor_status"] == "NO_EVIDENCE"


def test_a_file_that_a_person_names_since_may_be_meant_instead(tmp_path: pathlib.Path) -> None:
    asks = {"status": "INCOMPLETE", "output": "Under which name?"}
    at = desk(tmp_path, asks, {"status": "COMPLETE", "output": "done", "writes": {"y.md": "x"}}, interactive=True)
    run = done(at, "Create docs/x.md")
    as_person(at)
    at.respond("y.md")
    assert at.work(run["id"])["state"] == "complete"


def test_a_file_may_be_named_by_its_whole_path(tmp_path: pathlib.Path) -> None:
    at = desk(tmp_path, {"status": "COMPLETE", "output": "done", "writes": {"docs/x.md": "x"}}, JUNK)
    assert done(at, f"Create {at.project.root}/docs/x.md")["state"] == "complete"
    assert done(at, f"Create {at.project.root}/docs/y.md")["executor_status"] == "NO_EVIDENCE"


def test_a_file_outside_of_the_project_is_no_evidence(tmp_path: pathlib.Path) -> None:
    at = desk(tmp_path, JUNK)
    assert done(at, f"Create {tmp_path}/elsewhere/x.md")["executor_status"] == "NO_EVIDENCE"


def test_p16_what_lost_its_evidence_is_not_continued(tmp_path: pathlib.Path) -> None:
    at = desk(tmp_path, JUNK)
    done(at, "Create docs/x.md")
    as_person(at)
    for index in pathlib.Path(at.project.root, ".orchestrator").rglob("evidence_index.json"):
        index.unlink()
    with pytest.raises(Refused, match="evidence is not valid") as refused:
        at.approve()
    assert refused.value.code == "E207"


@pytest.mark.parametrize(
    ("task_type", "status"), [("READ_INFO", "COMPLETE"), ("REPORT", "NO_EVIDENCE"), ("LIGHT_EDIT", "NO_EVIDENCE")]
)
def test_a_question_is_answered_and_orders_nothing(tmp_path: pathlib.Path, task_type: str, status: str) -> None:
    at = desk(tmp_path, JUNK)
    run = at.work(at.submit("Write docs/x.md", task_type)["id"])
    assert run["executor_status"] == status
