"""What is open, as `status` and `next` tell of it: one list of turns, the validator, and what is stuck."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.app.engine import overview
from orchestrator.app.kernel import arguments, operations
from orchestrator.core import task_graph
from orchestrator.doors.cli import text
from tests import forging
from tests.acceptance import offered
from tests.integration.app.table import SESSION, Table

BUILT = (
    ("developer", "READY_FOR_QA"), ("qa_expert", "PASS"), ("tech_lead", "APPROVED"), ("developer", "MERGE_SUCCESS"),
)  # fmt: skip


def built(table: Table, group: str) -> None:
    for role, status in BUILT:
        table.says(role, status, group)


def of_next(table: Table, **more: Any) -> dict[str, Any]:
    return table.do("next", session_id=SESSION, **more)


def test_the_validator_is_named_with_its_command_by_status_and_next() -> None:
    table = Table("A", plan=True)
    built(table, "A")
    table.says("project_manager", "BAZINGA")
    found, status = of_next(table), table.do("status", session_id=SESSION)
    assert (found["state"], found["validate"]["command"]) == ("validate", f"orchestrator validate {SESSION}")
    assert status["validate"] == found["validate"]
    said = f"Nobody to start: waiting for the validator. Run orchestrator validate {SESSION}"
    assert text.render("next", found) == said


@pytest.mark.parametrize("asks", [pytest.param(False, id="a turn is open"), pytest.param(True, id="a question too")])
def test_nobody_to_start_is_not_said_where_somebody_is(asks: bool) -> None:
    table = Table("A", plan=True)
    if asks:
        table.says("project_manager", "NEEDS_CLARIFICATION", summary="which colour?")
    table.says("project_manager", "BAZINGA")
    said = text.render("next", of_next(table))
    assert "developer (sonnet) on A" in said
    assert "Nobody to start" not in said
    assert said.endswith(f"Waiting for the validator. Run orchestrator validate {SESSION}")


def test_next_and_status_tell_of_the_same_turns_with_role_and_model() -> None:
    table = Table("A", "B", plan=True)
    table.says("developer", "READY_FOR_QA", "A")
    found, status = of_next(table), table.do("status", session_id=SESSION)
    assert [(each["group_id"], each["agent"], each["model"]) for each in found["turns"]] == [
        ("B", "developer", "sonnet"), ("A", "qa_expert", "sonnet"),
    ]  # fmt: skip
    shared = status["spawns"][0].keys()
    assert [{name: each[name] for name in shared} for each in found["turns"]] == status["spawns"]


@pytest.mark.parametrize("agent", ["qa_expert", "qa_expert@S1:A"])
def test_an_agent_with_an_open_turn_has_work(agent: str) -> None:
    table = Table("A", plan=True)
    table.says("developer", "READY_FOR_QA", "A")
    found = of_next(table, agent_id=agent)
    (turn,) = found["turns"]
    assert (found["action"], turn["agent"], turn["agent_id"], turn["action"]) == (
        "take_turn", "qa_expert", "qa_expert@S1:A", "spawn",
    )  # fmt: skip
    assert turn["handoff"] in found["instruction"]


def test_a_turn_comes_before_a_task_that_could_be_taken() -> None:
    table = Table("A", plan=True)
    table.do("task create", id="T", title="x", session_id=SESSION, group_id="A", by="tech_lead")
    found = of_next(table, agent_id="developer")
    assert found["action"] == "get_task"
    assert found["instruction"].index(found["turns"][0]["handoff"]) < found["instruction"].index("task claim T")


def test_a_question_hides_no_open_turn_of_another_group() -> None:
    table = Table("A", "B", plan=True)
    table.says("developer", "PARTIAL", "A", metadata={
        "status": "partial", "requires_user_review": True, "review_reason": "which one", "errors": [],
    })  # fmt: skip
    found = of_next(table)
    assert (found["resume"], [each["group_id"] for each in found["turns"]]) == ([], ["B"])
    (question,) = found["questions"]
    assert question["text"] == "which one"
    assert [each["decision"] for each in question["answers"]] == ["continue", "revise", "abandon"]


def test_a_group_that_waits_for_the_manager_is_stuck_while_another_runs() -> None:
    table = Table("A", "B", plan=True)
    table.do("task create", id="T", title="x", session_id=SESSION, group_id="A", by="tech_lead")
    built(table, "A")
    for words in ("next", "status"):
        (group,) = table.do(words, session_id=SESSION)["stuck"]
        assert (group["group_id"], group["cause"]) == ("A", "path_missing")
        assert "T" in group["why"]
        assert group["helps"]


def test_a_group_that_waits_for_something_outside_may_be_deferred_or_asked_about() -> None:
    table = Table("A", "B", plan=True)
    table.mark_external("A")
    offered = {}
    for words in ("next", "status"):
        (group,) = table.do(words, session_id=SESSION)["stuck"]
        offered[words] = [(each["what"], each["command"]) for each in group["helps"]]
    of_pm = f"orchestrator route --session-id {SESSION} --group-id A --current-agent project_manager --status"
    assert offered["next"] == offered["status"] == [
        ("defer A until what it waits for is there", f"{of_pm} DEFER_EXTERNAL --summary TEXT"),
        ("ask the tech lead about A", f"{of_pm} ESCALATING_TO_TECH_LEAD --summary TEXT"),
    ]  # fmt: skip
    table.says("project_manager", "DEFER_EXTERNAL", "A", summary="TEXT")
    assert table.do("status", session_id=SESSION)["stuck"] == []


@pytest.mark.parametrize("aside", ["deferred_external", "cancelled"])
def test_a_group_that_waits_for_one_that_is_set_aside_is_told_which_to_drop(aside: str) -> None:
    table = Table("A", "C", plan=True)
    table.group("B", depends_on=("A", "C"))
    if aside == "cancelled":
        table.move("A", "cancelled")
    else:
        table.mark_external("A")
        table.says("project_manager", "DEFER_EXTERNAL", "A", summary="no environment")
    for words in ("next", "status"):
        (group,) = table.do(words, session_id=SESSION)["stuck"]
        assert (group["group_id"], [each["command"] for each in group["helps"]]) == ("B", [
            f"orchestrator group undepend B --on A --by project_manager --reason TEXT --session-id {SESSION}",
        ])  # fmt: skip
    table.do("group undepend", id="B", on="A", session_id=SESSION, by="project_manager", reason="not needed")
    assert table.do("next", session_id=SESSION)["stuck"] == []


def test_what_is_missing_of_a_group_is_looked_up_only_where_one_is_stuck(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table("A", "B", plan=True)
    table.do("group create", id="C", session_id=SESSION, name="x", depends_on=["B"])
    table.do("task create", id="T", title="x", session_id=SESSION, group_id="A", by="tech_lead")
    looked: list[int] = []
    groups_now = overview.groups_now
    monkeypatch.setattr(overview, "groups_now", lambda *given, **more: looked.append(1) or groups_now(*given, **more))
    assert table.do("status", session_id=SESSION)["stuck"] == []
    assert looked == []
    built(table, "A")
    assert [each["group_id"] for each in table.do("status", session_id=SESSION)["stuck"]] == ["A"]
    assert looked == [1]


def test_a_pending_group_says_for_which_groups_it_waits() -> None:
    table = Table("A", "C", plan=True)
    table.group("B", depends_on=("A", "C"))
    status = table.do("status", session_id=SESSION)
    assert {each["id"]: each["waits_for"] for each in status["groups"]} == {"A": [], "C": [], "B": ["A", "C"]}
    assert "waits for A, C" in text.render("status", status)
    assert "waits for A, C" in text.render("group list", table.do("group list", session_id=SESSION))


@pytest.mark.sqlite("what is offered is tried on copies in memory")
def test_a_cycle_of_groups_is_named_and_can_be_broken() -> None:
    table = Table("A", "B", "C", plan=True)
    table.group("D", depends_on=("A",))
    table.group("E", depends_on=("D",))
    forged = table.context
    # An older program, or a forger, let D wait for E as well.
    triggers = forging.disarm(forged.connection)
    forged.connection.execute("UPDATE group_dependencies SET depends_on = 'E' WHERE group_id = 'D'")
    forging.rearm(forged.connection, triggers)
    found = operations.call(forged, "next", session_id=SESSION)
    status = operations.call(forged, "status", session_id=SESSION)
    assert {each["group_id"]: each["cause"] for each in found["stuck"]} == dict.fromkeys("DE", "dependency_cycle")
    assert found["stuck"] == status["stuck"]
    assert "D -> E -> D" in found["stuck"][0]["why"]
    assert [each["helps"][0]["command"] for each in found["stuck"]] == [
        f"orchestrator group undepend {one} --on {other} --by project_manager --session-id {SESSION} --reason TEXT"
        for one, other in ("DE", "ED")
    ]
    assert offered.faults(forged, (("next", found), ("status", status))) == []
    operations.call(forged, "group undepend", id="D", on="E", session_id=SESSION, by="project_manager", reason="old")
    assert operations.call(forged, "next", session_id=SESSION)["stuck"] == []


class TestTheLastSession:
    def ended(self) -> Table:
        table = Table("A", plan=True)
        built(table, "A")
        table.says("project_manager", "BAZINGA")
        assert table.do("validate", session_id=SESSION)["verdict"] == "ACCEPT"
        return table

    def test_is_accepted_without_advice_that_is_refused_now(self) -> None:
        table = Table("A", plan=True)
        built(table, "A")
        assert "try: orchestrator criterion add" in text.render("validate", table.do("validate", session_id=SESSION))
        table.says("project_manager", "BAZINGA")
        said = text.render("validate", table.do("validate", session_id=SESSION))
        assert "no success criteria" in said
        assert "try: " not in said

    @pytest.mark.parametrize(
        "words", ["status", "next", "audit stats", "audit timeline", "audit decisions", "audit replay", "audit export"]
    )
    def test_is_read_where_none_is_open(self, words: str) -> None:
        table = self.ended()
        bound = arguments.complete(table.context, words, {})
        assert bound == {"session_id": SESSION}

    def test_is_read_by_why(self) -> None:
        table = self.ended()
        bound = arguments.complete(table.context, "why", {"id": "A"})
        assert f"Session {SESSION} has ended." in operations.call(table.context, "why", **bound)["sentences"]

    def test_says_that_it_has_ended_and_its_verdict(self) -> None:
        found = of_next(self.ended())
        assert (found["state"], found["outcome"], found["verdict"]["verdict"]) == ("ended", "accepted", "ACCEPT")
        assert text.render("next", found).startswith(f"Session {SESSION} has ended: accepted. Verdict: ACCEPT")

    def test_is_nothing_to_write_to(self) -> None:
        table = self.ended()
        with pytest.raises(Exception, match="No session is open"):
            arguments.complete(table.context, "route", {"current_agent": "developer", "status": "PARTIAL"})

    def test_is_not_taken_while_another_one_is_open(self) -> None:
        table = self.ended()
        table.do("session create", id="S2")
        assert arguments.complete(table.context, "next", {}) == {"session_id": "S2"}


@pytest.mark.parametrize(
    ("edges", "expected"),
    [
        ({}, ()),
        ({"A": ("B",), "B": ("C",)}, ()),
        ({"A": ("B",), "B": ("A",)}, {("A", "B"), ("B", "A")}),
        ({"X": ("A",), "A": ("B",), "B": ("C",), "C": ("A",)}, {("A", "B"), ("B", "C"), ("C", "A")}),
    ],
)
def test_a_cycle_lists_each_name_before_the_one_that_it_waits_for(edges: Any, expected: Any) -> None:
    cycle = task_graph.cycle(edges)
    assert set(zip(cycle, (*cycle[1:], *cycle[:1]), strict=True)) == set(expected)
