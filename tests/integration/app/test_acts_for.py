"""A process that says for whom it acts reports and acts as nobody else."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

from orchestrator import Orchestrator
from orchestrator.app.kernel import agent_checks
from orchestrator.errors import Refused
from tests.acceptance.test_replay import assert_told_again
from tests.integration.app.table import Table


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("developer", "developer"), ("tech-lead", "tech_lead"), ("Tech Lead", "tech_lead"),
        ("pm", "project_manager"), ("developer@S1:A",) * 2,
        ("project_manager@S1",) * 2, ("orchestrator", None), ("1", None), ("", None), (None, None), ("someone", None),
        ("@S1:A", None),
    ],
)  # fmt: skip
def test_a_role_is_told_from_a_mark(value: str | None, said: str | None) -> None:
    assert agent_checks.spoken_for(value) == said


def table(said: str) -> Table:
    made = Table("A", "B", plan=True)
    made.context.acts_for = agent_checks.spoken_for(said)
    return made


REPORT = {"session_id": "S1", "group_id": "A", "status": "READY_FOR_QA", "summary": "done"}
OTHERS: dict[str, tuple[str, dict[str, Any]]] = {
    "a report of another role": ("route", {**REPORT, "current_agent": "tech_lead", "status": "APPROVED"}),
    "a report of another role out of turn": ("route", {**REPORT, "current_agent": "qa_expert", "status": "PASS"}),
    "a report by an agent of another role": ("route", {**REPORT, "current_agent": "techlead", "status": "APPROVED",
                                                      "agent_id": "tech_lead"}),
    "another agent's name": ("task create", {"id": "T", "title": "t", "session_id": "S1", "group_id": "A",
                                             "by": "tech_lead"}),
    "what only the manager does, by whom nobody names": ("group create", {"id": "C", "session_id": "S1"}),
    "a claim for another": ("task claim", {"session_id": "S1", "agent_id": "qa_expert"}),
    "moving a group": ("group set-status", {"id": "B", "status": "cancelled", "session_id": "S1",
                                            "by": "project_manager", "reason": "r"}),
    "registering an agent": ("agent register", {"id": "dev-9", "role": "developer", "parent": "tech_lead"}),
}  # fmt: skip


@pytest.mark.parametrize("said", ["developer", "developer@S1:A"])
@pytest.mark.parametrize("act", OTHERS)
def test_acts_of_another_role_are_refused_and_recorded(act: str, said: str) -> None:
    made = table(said)
    before = made.count("refusals")
    words, given = OTHERS[act]
    problem = made.refusal(words, **given)
    assert (problem.code, f"acts for {said} alone" in problem.message) == ("NOT_PERMITTED", True)
    assert made.count("refusals") == before + 1
    kept = json.loads(made.rows("SELECT input FROM audit_events WHERE kind = 'refusal' ORDER BY rowid DESC")[0][0])
    assert kept["input"]["acts_for"] == said
    assert_told_again(made.context)


@pytest.mark.parametrize("said", ["developer", "developer@S1:A", "orchestrator", "1", ""])
def test_its_own_are_taken(said: str) -> None:
    made = table(said)
    assert made.do("route", **REPORT, current_agent="developer")["success"] is True
    assert_told_again(made.context)


@pytest.mark.parametrize(
    ("said", "fits"), [("developer@S1:B", False), ("developer@S2:A", False), ("developer@S1", True)]
)
def test_its_place_counts_as_well(said: str, fits: bool) -> None:
    made = table(said)
    if fits:
        assert made.do("route", **REPORT, current_agent="developer")["success"] is True
    else:
        assert made.refusal("route", **REPORT, current_agent="developer").code == "NOT_PERMITTED"


def test_a_person_s_token_does_not_come_with_another_role() -> None:
    made = Table("A", plan=True)
    with made.person():
        token = made.do("human enrol")["token"]
    from orchestrator.app.people import person_proof

    made.context.acts_for = "developer"
    person_proof.by_token(made.context, token)
    assert made.refusal("session pause", id="S1", by="user", reason="r").code == "NOT_PERMITTED"


def test_a_dry_run_and_a_repeated_request_are_refused_too() -> None:
    made = Table("A", "B", plan=True)
    given = {**REPORT, "current_agent": "developer", "request_id": "r1"}
    made.do("route", **given)
    made.context.acts_for = "qa_expert"
    assert made.refusal("route", **given).code == "NOT_PERMITTED"
    made.context.acts_for = "developer"
    assert made.do("route", **given)["repeated"] is True
    dry = {**REPORT, "group_id": "B", "dry_run": True}
    made.context.acts_for = "qa_expert"
    with pytest.raises(Refused, match="acts for qa_expert alone"):
        made.do("route", **dry, current_agent="developer")


def test_it_holds_in_the_python_interface(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORCHESTRATOR_AGENT", "developer")
    with Orchestrator.create(tmp_path / "orchestrator.db") as mine, pytest.raises(Refused) as caught:
        mine.session_create("S1")
    assert caught.value.code == "NOT_PERMITTED"


@pytest.mark.parametrize("module", ["batch", "cli"])
def test_it_holds_on_the_command_line(
    module: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from orchestrator.doors.cli import main

    monkeypatch.setenv("ORCHESTRATOR_DB", str(tmp_path / "orchestrator.db"))
    for words in ("init", "session create S1", "group create A -s S1", "route pm PLANNING_COMPLETE -s S1"):
        assert main.main([*words.split(), "--json"]) == 0
    capfd.readouterr()
    monkeypatch.setenv("ORCHESTRATOR_AGENT", "developer@S1:A")
    if module == "cli":
        code = main.main("route tech_lead APPROVED -s S1 -g A --json".split())
    else:
        line = {"op": "route", "args": {"current_agent": "tech_lead", "status": "APPROVED", "session_id": "S1",
                                        "group_id": "A"}}  # fmt: skip
        (tmp_path / "lines").write_text(json.dumps(line))
        code = main.main(["batch", str(tmp_path / "lines")])
    found = json.loads(capfd.readouterr().out)
    assert (found["code"], code) == ("NOT_PERMITTED", 3 if module == "cli" else 1)
    assert main.main("route developer READY_FOR_QA -s S1 -g A --json".split()) == 0
