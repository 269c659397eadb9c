"""No door lets an agent change the rules of an open session, and a person's change comes along with an export."""

from __future__ import annotations

import json
import pathlib
import sqlite3
from typing import Any

import pytest

from orchestrator import Orchestrator, Refused, resources
from orchestrator.app import setup
from orchestrator.app.kernel import human
from orchestrator.doors.mcp.tools import TOOLS
from tests.integration.cli.conftest import Ask, Lines, Run

EASIER = {"effect": "approve", "next_agent": "developer", "action": "spawn_merge"}
DIFFERS = "developer.READY_FOR_QA: "


@pytest.fixture
def easier(tmp_path: pathlib.Path) -> pathlib.Path:
    """A transitions file by which a developer's READY_FOR_QA approves."""
    made = json.loads((resources.path("workflow") / "transitions.json").read_text("utf-8"))
    made["developer"]["READY_FOR_QA"] |= EASIER
    file = tmp_path / "easier.json"
    file.write_text(json.dumps(made), "utf-8")
    return file


def refused(answer: dict[str, Any]) -> bool:
    return answer["code"] == "HUMAN_REQUIRED" and answer["changes"][0].startswith(DIFFERS)


@pytest.mark.parametrize(
    "words",
    [("workflow", "load", "FILE"), ("workflow", "load", "FILE", "--by", "project_manager"),
     ("init", "--workflow", "FILE")],
    ids=["load", "load by the manager", "init"],
)  # fmt: skip
def test_the_command_line_refuses_and_names_what_differs(
    run: Run, easier: pathlib.Path, words: tuple[str, ...], database: pathlib.Path
) -> None:
    done = run(*(str(easier) if word == "FILE" else word for word in words), "--json")
    assert (done.returncode, refused(json.loads(done.stdout))) == (3, True)
    with sqlite3.connect(database) as connection:
        recorded = connection.execute("SELECT code FROM refusals").fetchall()
        active = connection.execute("SELECT max(workflow_version_id) FROM workflow_activations").fetchall()
    connection.close()
    assert (recorded, active) == ([("HUMAN_REQUIRED",)], [(1,)])


def test_a_batch_refuses_as_well(lines: Lines, easier: pathlib.Path) -> None:
    (answer,) = lines(("workflow load", {"file": str(easier), "by": "project_manager"}))
    assert (answer["exit_code"], refused(answer)) == (3, True)


def test_python_refuses_as_well(database: pathlib.Path, easier: pathlib.Path) -> None:
    with Orchestrator.open(database) as o, pytest.raises(Refused) as caught:
        o.workflow_load(easier.read_text("utf-8"), setup.agent_texts())
    assert refused({"code": caught.value.code, **caught.value.data})


def test_no_tool_over_mcp_changes_rules() -> None:
    assert {tool.words for tool in TOOLS.values()} & {"workflow load", "session upgrade-workflow", "init"} == set()


def test_what_a_person_changed_comes_along_with_an_export(
    database: pathlib.Path, easier: pathlib.Path, ask: Ask, run: Run, tmp_path: pathlib.Path
) -> None:
    with Orchestrator.open(database) as o:
        o._context.credential = human.Credential(human.TERMINAL)
        o.workflow_load(easier.read_text("utf-8"), setup.agent_texts(), by="user")
        assert o.session_upgrade_workflow("S1", by="user", reason="a trial")["changes"][0].startswith(DIFFERS)
    file, other = tmp_path / "S1.jsonl", tmp_path / "other.db"
    assert run("audit", "export", "S1", "--format", "jsonl", "--output", str(file)).returncode == 0
    assert run("audit", "import", str(file), "--db", str(other)).returncode == 0
    found = json.loads(run("validate", "S1", "--dry-run", "--json", "--db", str(other)).stdout)
    (line,) = [each for each in found["checks"] if each["id"] == "V18" and each["level"] != "info"]
    assert (line["level"], DIFFERS in line["message"], "by user through terminal" in line["message"]) == (
        "warning", True, True,
    )  # fmt: skip
