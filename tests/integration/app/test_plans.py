"""A plan in a report is made in the report's own step, or nothing of it is."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest

from orchestrator.app.kernel import human
from orchestrator.errors import InvalidInput
from orchestrator.runner import commands
from tests.integration.app.desk import Desk

PLAN = {
    "groups": [
        {"id": "A", "name": "Login page", "description": "A form with two fields.", "complexity": 8,
         "criteria": [{"id": "C1", "text": "it shows", "metric": "coverage", "operator": "ge", "target": 80}]},
        {"id": "B", "depends_on": ["A"], "priority": "high"},
    ],
    "criteria": [{"id": "C2", "text": "nothing is broken"}],
}  # fmt: skip
GROUPS = """SELECT id, name, description, complexity, priority, created_by, status FROM task_groups
    ORDER BY created_seq, id"""
MANAGER = "project_manager"


@pytest.fixture
def desk(tmp_path: pathlib.Path) -> Desk:
    folder = tmp_path / ".orchestrator"
    folder.mkdir()
    found = Desk(folder)
    found.session()
    return found


def rows(desk: Desk, sql: str) -> list[tuple[Any, ...]]:
    return desk.context.connection.execute(sql).fetchall()


def planned(desk: Desk, plan: dict[str, Any], status: str = "PLANNING_COMPLETE", **more: Any) -> dict[str, Any]:
    return desk.report(f"{MANAGER} {status}", details={"plan": plan}, **more)


def turned_down(desk: Desk, details: dict[str, Any], status: str = "PLANNING_COMPLETE", **more: Any) -> Any:
    return desk.refused(
        "route", session_id="S1", current_agent=MANAGER, status=status, details=details, **more
    )


def test_one_report_makes_the_groups_and_criteria_and_starts_the_batch(desk: Desk) -> None:
    answer = planned(desk, PLAN)
    assert answer["planned"] == {"groups": ["A", "B"], "criteria": ["C1", "C2"], "unchanged": []}
    assert answer["groups_to_spawn"] == ["A"]
    by = f"{MANAGER}"
    assert rows(desk, GROUPS) == [
        ("A", "Login page", "A form with two fields.", 8, 2, by, "in_progress"),
        ("B", "B", None, 3, 1, by, "pending"),
    ]
    assert rows(desk, "SELECT id, group_id, target, created_by FROM criteria ORDER BY id") == [
        ("C1", "A", "80", by), ("C2", None, None, by),
    ]  # fmt: skip
    assert [each["id"] for each in desk.group("B")["depends_on"]] == ["A"]
    assert {row[0] for row in rows(desk, "SELECT created_seq FROM task_groups")} == {answer["seq"]}


def test_criteria_of_the_first_plan_are_no_change_of_scope(desk: Desk) -> None:
    planned(desk, PLAN)
    checks = desk.call("validate", session_id="S1", dry_run=True)["checks"]
    assert not [each for each in checks if "after the plan" in each["message"]]


def test_a_description_reaches_whoever_builds(desk: Desk) -> None:
    answer = planned(desk, PLAN)
    given = desk.call("handoff", session_id="S1", group_id="A", turn=answer["seq"])
    assert given["handoff"]["group"]["description"] == "A form with two fields."
    assert "## Description\n\n```\nA form with two fields.\n```" in given["markdown"]
    first = f"[orchestrator S1 A turn {answer['seq']} senior_software_engineer spawn]"
    assert given["markdown"].splitlines()[0] == first


def test_the_first_line_of_a_hand_off_for_the_session_names_no_group(desk: Desk) -> None:
    turn = desk.call("status", session_id="S1")["spawns"][0]["turn"]
    markdown = desk.call("handoff", session_id="S1")["markdown"]
    assert markdown.splitlines()[0] == f"[orchestrator S1 - turn {turn} project_manager spawn]"


@pytest.mark.parametrize(
    "plan",
    [
        {"groups": [{"id": "A"}, {"id": "B", "depends_on": ["NONE"]}]},
        {"groups": [{"id": "A", "kind": "docs"}]},
        {"groups": []},
    ],
    ids=str,
)
def test_a_faulty_plan_writes_nothing_and_leaves_the_turn_open(desk: Desk, plan: dict[str, Any]) -> None:
    before = desk.call("status", session_id="S1")["spawns"]
    problem = turned_down(desk, {"plan": plan})
    assert (problem.code, problem.exit_code) == ("METADATA_INVALID", 4)
    assert problem.data["problems"]
    assert rows(desk, GROUPS) == []
    assert desk.call("status", session_id="S1")["spawns"] == before
    assert rows(desk, "SELECT code, role, turn FROM refusals") == [("METADATA_INVALID", MANAGER, before[0]["turn"])]
    planned(desk, PLAN, turn=before[0]["turn"])


def test_a_plan_may_depend_on_groups_that_exist(desk: Desk) -> None:
    desk.call("group create", id="OLD", session_id="S1")
    planned(desk, {"groups": [{"id": "A", "depends_on": ["OLD"]}]})
    assert (desk.group("OLD")["status"], desk.group("A")["status"]) == ("in_progress", "pending")


def test_a_group_that_could_never_be_completed_is_a_fault_of_the_plan(tmp_path: pathlib.Path) -> None:
    desk = Desk(tmp_path)
    desk.session(disabled_roles=("senior_software_engineer",))
    problem = turned_down(desk, {"plan": {"groups": [{"id": "A"}, {"id": "B", "security_sensitive": True}]}})
    assert [each["path"] for each in problem.data["problems"]] == ["$.details.plan.groups[1]"]
    assert rows(desk, GROUPS) == []


def test_what_exists_with_the_same_content_is_left_alone(desk: Desk) -> None:
    planned(desk, PLAN)
    more = {"groups": [*PLAN["groups"], {"id": "C"}], "criteria": PLAN["criteria"]}
    answer = planned(desk, more, "CONTINUE", summary="one more")
    assert answer["planned"] == {"groups": ["C"], "criteria": [], "unchanged": ["A", "B", "C1", "C2"]}
    assert len(rows(desk, GROUPS)) == 3


OTHER = [
    ({"groups": [{"id": "A", "name": "Logout page"}]}, "group", "in_progress", ["name"]),
    ({"groups": [{"id": "A", "description": "Three fields."}]}, "group", "in_progress", ["description"]),
    ({"groups": [{"id": "B", "depends_on": []}]}, "group", "pending", ["depends_on"]),
    ({"groups": [{"id": "A", "complexity": 2, "kind": "research"}]}, "group", "in_progress", ["kind", "complexity"]),
    ({"groups": [{"id": "A", "security_sensitive": True}]}, "group", "in_progress", ["security_sensitive"]),
    ({"criteria": [{"id": "C2", "text": "all is broken"}]}, "criterion", "open", ["text"]),
    (
        {"criteria": [{"id": "C1", "text": "it shows"}]}, "criterion", "open",
        ["metric", "operator", "target", "group_id"],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("plan", "kind", "status", "differs"), OTHER)
def test_what_exists_with_other_content_is_refused(
    desk: Desk, plan: dict[str, Any], kind: str, status: str, differs: list[str]
) -> None:
    planned(desk, PLAN)
    problem = turned_down(desk, {"plan": {**plan, "groups": [*plan.get("groups", ()), {"id": "NEW"}]}}, "CONTINUE")
    assert (problem.code, problem.data["status"]) == ("ALREADY_EXISTS", status)
    assert [(each["kind"], each["differs"]) for each in problem.data["existing"]] == [(kind, differs)]
    assert len(rows(desk, GROUPS)) == 2


def test_what_was_given_up_is_not_planned_again(desk: Desk) -> None:
    planned(desk, PLAN)
    desk.call("group set-status", id="B", status="cancelled", session_id="S1", by=MANAGER, reason="moot")
    desk.call("criterion remove", id="C2", session_id="S1", by=MANAGER, reason="moot")
    problem = turned_down(desk, {"plan": {"groups": [{"id": "B"}], "criteria": PLAN["criteria"]}}, "CONTINUE")
    found = [(each["id"], each["status"]) for each in problem.data["existing"]]
    assert found == [("B", "cancelled"), ("C2", "removed")]
    assert problem.data["status"] == "cancelled"


def test_later_criteria_need_the_reports_summary_as_their_reason(desk: Desk) -> None:
    planned(desk, PLAN)
    more = {"criteria": [{"id": "C3", "text": "faster"}]}
    assert turned_down(desk, {"plan": more}, "CONTINUE").code == "REASON_REQUIRED"
    planned(desk, more, "CONTINUE", summary="the customer asked for it")
    (change,) = rows(desk, "SELECT reason FROM status_changes WHERE entity = 'criterion' AND entity_id = 'C3'")
    assert change == ("the customer asked for it",)
    checks = desk.call("validate", session_id="S1", dry_run=True)["checks"]
    assert [each["subject"] for each in checks if "added after the plan" in each["message"]] == ["C3"]


def test_groups_that_are_added_later_need_no_reason(desk: Desk) -> None:
    planned(desk, PLAN)
    planned(desk, {"groups": [{"id": "C"}]}, "CONTINUE")
    assert desk.group("C")["status"] == "in_progress"


def test_a_plan_of_nothing_is_accepted_and_said_again_in_the_next_hand_off(desk: Desk) -> None:
    answer = desk.report(f"{MANAGER} PLANNING_COMPLETE")
    assert [each.partition(":")[0] for each in answer["warnings"]] == ["nothing_planned"]
    turn = desk.call("status", session_id="S1")["spawns"][0]["turn"]
    given = desk.call("handoff", session_id="S1", turn=turn)
    assert given["handoff"]["causes"] == ["nothing_planned"]
    assert "The plan named no group" in given["markdown"]
    assert any("--details '{\"plan\"" in step["command"] for step in given["handoff"]["next"])


def test_a_plan_of_nothing_beside_groups_that_exist_is_a_plan(desk: Desk) -> None:
    desk.call("group create", id="A", session_id="S1")
    assert "warnings" not in desk.report(f"{MANAGER} PLANNING_COMPLETE", details={"task_groups": ["A"]})


def test_other_reports_carry_no_plan_and_say_so(desk: Desk) -> None:
    answer = desk.report(f"{MANAGER} BAZINGA", details={"plan": {"groups": [{"id": "A"}]}})
    assert [each.partition(":")[0] for each in answer["warnings"]] == ["plan_ignored"]
    assert rows(desk, GROUPS) == []


def test_other_roles_may_speak_of_a_plan_as_they_like(desk: Desk) -> None:
    planned(desk, {"groups": [{"id": "A"}]})
    answer = desk.report("developer READY_FOR_QA", "A", details={"plan": {"groups": "none of your business"}})
    assert "warnings" not in answer
    assert "planned" not in answer


def test_a_name_that_speaks_of_security_is_warned_of(desk: Desk) -> None:
    answer = planned(desk, {"groups": [{"id": "A", "name": "Login"}, {"id": "B", "name": "Login",
                                                                    "security_sensitive": True}]})
    assert len([each for each in answer["warnings"] if "speaks of Login" in each]) == 1


def test_the_same_request_makes_a_plan_once(desk: Desk) -> None:
    first = planned(desk, PLAN, request_id="r1")
    again = planned(desk, PLAN, request_id="r1")
    assert (again["repeated"], again["planned"]) == (True, first["planned"])
    assert len(rows(desk, GROUPS)) == 2


def test_a_dry_run_makes_nothing(desk: Desk) -> None:
    answer = planned(desk, PLAN, dry_run=True)
    assert answer["planned"]["groups"] == ["A", "B"]
    assert rows(desk, GROUPS) == []


def test_a_plan_is_told_again_as_it_was(desk: Desk) -> None:
    planned(desk, PLAN)
    planned(desk, {"groups": [{"id": "C"}], "criteria": [{"id": "C3", "text": "x", "command": ["true"]}]}, "CONTINUE",
            summary="more")
    turned_down(desk, {"plan": {"groups": [{"id": "A", "name": "other"}]}}, "CONTINUE")
    answer = desk.call("audit replay", session_id="S1")
    assert (answer["equal"], answer["count"]) == (True, 0), answer


def test_many_faults_of_one_turn_call_the_next_rung(desk: Desk) -> None:
    for _ in range(6):
        turned_down(desk, {"plan": {"groups": [{"id": "a b"}]}})
    assert desk.call("status", session_id="S1")["state"] == "person_awaited"


# Commands that come in a report


TESTS = {"id": "T", "text": "tests", "command": ["true"], "at": ["READY_FOR_QA"]}
RUNS = {"groups": [{"id": "A"}], "criteria": [TESTS]}


def verdict(desk: Desk) -> list[dict[str, Any]]:
    desk.context.run = commands.run
    checks = desk.call("validate", session_id="S1", dry_run=True, run_commands=True)["checks"]
    return [each for each in checks if each["id"] == "V10"]


def test_a_command_from_a_report_waits_for_a_person(desk: Desk) -> None:
    answer = planned(desk, RUNS)
    assert [each.partition(":")[0] for each in answer["warnings"]] == ["pending_approval"]
    (waiting,) = desk.call("status", session_id="S1")["pending_approval"]
    assert (waiting["criterion"], waiting["command"]) == ("T", ["true"])
    assert waiting["why"] == "no orchestrator.json allows it"
    (line,) = verdict(desk)
    assert (line["level"], line["message"].partition(":")[0]) == ("error", "pending_approval")
    assert line["hint"] == "orchestrator criterion approve T --session-id S1"


def test_only_a_person_confirms_it(desk: Desk) -> None:
    planned(desk, RUNS)
    for by in (None, MANAGER, "user"):
        assert desk.refused("criterion approve", id="T", session_id="S1", by=by).code == "HUMAN_REQUIRED"
    desk.context.credential = human.Credential(human.TERMINAL)
    found = desk.call("criterion approve", id="T", session_id="S1", reason="I looked")["criterion"]
    desk.context.credential = None
    assert (found["approval"], found["approved_by"]) == ("approved", "user")
    assert verdict(desk)[0]["level"] == "info"
    assert "pending_approval" not in desk.call("status", session_id="S1")
    desk.context.credential = human.Credential(human.TERMINAL)
    assert desk.refused("criterion approve", id="T", session_id="S1").code == "ILLEGAL_MOVE"
    assert desk.refused("criterion approve", id="NONE", session_id="S1").code == "UNKNOWN_ID"


def test_the_projects_settings_allow_how_a_command_begins(desk: Desk) -> None:
    planned(desk, RUNS)
    settings = desk.path.parent.parent / "orchestrator.json"
    settings.write_text('{"allowed_commands": [["false"]]}')
    assert verdict(desk)[0]["level"] == "error"
    (waiting,) = desk.call("status", session_id="S1")["pending_approval"]
    assert waiting["why"] == "orchestrator.json does not allow it"
    settings.write_text('{"allowed_commands": [["true"]]}')
    assert verdict(desk)[0]["level"] == "info"
    assert "pending_approval" not in desk.call("status", session_id="S1")


def test_settings_that_cannot_be_read_allow_nothing(desk: Desk) -> None:
    planned(desk, RUNS)
    settings = desk.path.parent.parent / "orchestrator.json"
    settings.write_text('{"allowed_commands": [["true"]]')
    assert verdict(desk)[0]["message"].startswith("pending_approval")
    (waiting,) = desk.call("status", session_id="S1")["pending_approval"]
    assert waiting["why"].startswith("orchestrator.json is not valid")


def test_a_command_that_was_added_by_hand_needs_no_confirmation(desk: Desk) -> None:
    desk.call("criterion add", id="T", session_id="S1", text="tests", command=("true",), at_status=("ready-for-qa",),
              group_id=None)
    assert verdict(desk)[0]["level"] == "info"
    (found,) = desk.call("criterion list", session_id="S1")["criteria"]
    assert (found["due_at"], found["approval"]) == (["READY_FOR_QA"], None)


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"at_status": ("NONE",), "command": ("true",)}, "USAGE"),
        ({"at_status": ("READY_FOR_QA",)}, "USAGE"),
        ({"group_id": "NONE"}, "UNKNOWN_GROUP"),
    ],
)
def test_a_criterion_is_about_a_group_and_due_at_statuses_that_exist(
    desk: Desk, more: dict[str, Any], code: str
) -> None:
    assert desk.refused("criterion add", id="T", session_id="S1", text="tests", **more).code == code


# A plan that a person is asked about


def test_a_plan_that_a_person_is_asked_about_is_made_when_it_counts(desk: Desk) -> None:
    planned(desk, {"groups": [{"id": "A"}]})
    review = {"status": "blocked", "requires_user_review": True, "review_reason": "look at this"}
    assert isinstance(desk.refused("route", session_id="S1", current_agent=MANAGER, status="CONTINUE",
                                   metadata=review, details={"plan": {"groups": [{"id": "B"}]}}), InvalidInput)
    for number in range(5):
        planned(desk, {"groups": [{"id": f"G{number}"}]}, "CONTINUE", summary="more")
    answer = planned(desk, {"groups": [{"id": "LAST"}]}, "CONTINUE")
    assert answer["question_id"]
    assert not rows(desk, "SELECT 1 FROM task_groups WHERE id = 'LAST'")
    desk.context.credential = human.Credential(human.TERMINAL)
    found = desk.call("answer", id=answer["question_id"], decision="continue", note="go on")
    assert found["planned"]["groups"] == ["LAST"]
    assert rows(desk, "SELECT 1 FROM task_groups WHERE id = 'LAST'")


def test_a_plan_that_can_no_longer_be_made_calls_the_manager(desk: Desk) -> None:
    for number in range(6):
        planned(desk, {"groups": [{"id": f"G{number}"}]}, "CONTINUE", summary="more")
    answer = planned(desk, {"groups": [{"id": "LAST", "name": "one"}]}, "CONTINUE")
    desk.call("group create", id="LAST", session_id="S1", name="another")
    desk.context.credential = human.Credential(human.TERMINAL)
    found = desk.call("answer", id=answer["question_id"], decision="continue", note="go on")
    assert found["next_agent"] == MANAGER
    assert any("cannot be carried out any more" in rule["reason"] for rule in found["rules"])
