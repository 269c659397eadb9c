"""Lines of a batch: commands that are no operations, and arguments by the names of the command line."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

from tests.integration.cli.conftest import Ask, Lines, Run

SHIPPED = str(pathlib.Path(__file__).parents[3] / "workflow" / "transitions.json")
PM: dict[str, Any] = {"session_id": "S1", "current_agent": "project_manager"}
DEV: dict[str, Any] = {"session_id": "S1", "group_id": "A", "current_agent": "developer"}


@pytest.mark.parametrize(
    ("op", "arguments", "words"),
    [
        pytest.param("doctor", {}, ("doctor",), id="doctor"),
        pytest.param("db current", {}, ("db", "current"), id="db current"),
        pytest.param("db check", {}, ("db", "check"), id="db check"),
        pytest.param("init", {}, ("init",), id="init"),
        pytest.param("workflow check", {"file": SHIPPED}, ("workflow", "check", SHIPPED), id="workflow check"),
        pytest.param("metadata check", {"file": "meta.json"}, ("metadata", "check", "meta.json"), id="metadata"),
    ],
)
def test_a_command_that_is_no_operation_gives_its_own_answer(
    op: str, arguments: dict[str, Any], words: tuple[str, ...], ask: Ask, lines: Lines, tmp_path: pathlib.Path
) -> None:
    (tmp_path / "meta.json").write_text('{"status": "implemented", "requires_user_review": false}')
    (answer,) = lines((op, arguments))
    alone = ask(*words)
    assert (answer.pop("op"), answer.pop("exit_code")) == (op, alone.pop("_exit"))
    for each in (answer, alone):
        # When somebody else holds the lock, or which copy was made, is no part of the comparison.
        each.pop("facts", None)
        each.pop("why", None)
    assert answer == alone


def test_a_schema_comes_as_a_document(lines: Lines) -> None:
    (answer,) = lines(("schema", {"command": ["group", "show"]}))
    assert (answer["success"], answer["document"]["title"]) == (True, "orchestrator group show")


@pytest.mark.parametrize(
    ("op", "arguments"),
    [
        pytest.param("doctor", {"fast": True}, id="unknown"),
        pytest.param("db check", {"repair": "yes"}, id="no flag"),
        pytest.param("workflow check", {}, id="missing"),
        pytest.param("metadata check", {"file": "-"}, id="stdin"),
        pytest.param("workflow check", {"file": SHIPPED, "format": "jsn"}, id="no choice"),
        pytest.param("route", {**DEV, "report": "-"}, id="report on stdin"),
        pytest.param("route", {**DEV, "report": 7}, id="report is a number"),
        pytest.param("route", {**PM, "status": "BAZINGA", "acknowledge": ["A"]}, id="no reason"),
    ],
)
def test_what_does_not_fit_is_refused(op: str, arguments: dict[str, Any], lines: Lines) -> None:
    (answer,) = lines((op, arguments))
    assert (answer["code"], answer["exit_code"]) == ("USAGE", 64)


def test_options_may_be_called_as_on_the_command_line(lines: Lines) -> None:
    (answer,) = lines(("session create", {"id": "S2", "disable_role": ["qa_expert"], "testing_mode": "minimal"}))
    assert answer["session"]["disabled_roles"] == ["qa_expert"]


@pytest.mark.parametrize("given", [{"A": "it is done"}, ["A=it is done"]], ids=["object", "list"])
def test_acknowledgements_are_an_object_or_a_list(given: Any, lines: Lines) -> None:
    first, second = lines(
        ("route", {**DEV, "status": "READY_FOR_QA"}),
        ("route", {**PM, "status": "BAZINGA", "acknowledge": given, "dry_run": True}),
    )
    assert (first["success"], second.get("code")) == (True, None)


@pytest.mark.parametrize("how", ["object", "file", "output"])
def test_a_report_is_an_object_or_a_file(how: str, lines: Lines, tmp_path: pathlib.Path) -> None:
    report = {"status": "READY_FOR_QA", "summary": "all done"}
    (tmp_path / "report.json").write_text(json.dumps(report))
    (tmp_path / "message.md").write_text("All done.\n\nSTATUS: READY_FOR_QA\n")
    given = {"object": {"report": report}, "file": {"report": "report.json"}, "output": {"output": "message.md"}}[how]
    (answer,) = lines(("route", {**DEV, **given}))
    assert (answer["success"], answer["next_agent"]) == (True, "qa_expert")


def test_metadata_may_be_a_file(lines: Lines, tmp_path: pathlib.Path) -> None:
    (tmp_path / "meta.json").write_text('{"status": "implemented", "requires_user_review": false}')
    (answer,) = lines(("route", {**DEV, "status": "READY_FOR_QA", "metadata": "meta.json"}))
    assert answer["success"] is True


def test_a_workflow_is_loaded_by_its_file(lines: Lines) -> None:
    (answer,) = lines(("workflow load", {"file": SHIPPED, "by": "project_manager"}))
    assert (answer["success"], answer["version"]["active"]) == (True, True)


def test_the_help_shows_a_line(run: Run) -> None:
    assert b'{"op": "group create"' in run("batch", "--help").stdout
