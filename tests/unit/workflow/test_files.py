"""The small files in tests/workflows, the shipped file, and the schema that editors use."""

from __future__ import annotations

import json
import typing
from pathlib import Path

import pytest

from orchestrator.core.workflow import checks, model, problems, schema, vocabulary

ROOT = Path(__file__).parents[3]
SMALL = ROOT / "tests" / "workflows"
SHIPPED = ROOT / "workflow" / "transitions.json"
SCHEMA = ROOT / "workflow" / "transitions.schema.json"


def report_on(path: Path) -> checks.Report:
    return checks.check(path.read_bytes(), path.name)


def places(report: checks.Report) -> set[tuple[str, str]]:
    return {(problem.id, problem.path) for problem in report.problems}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("clean", set()),
        ("manager_blocks", set()),
        ("alias_loop", {("W204", "$._status_aliases.DONE"), ("W204", "$._status_aliases.FINISHED")}),
        ("alias_to_nothing", {("W205", "$._status_aliases.DONE")}),
        ("own_status_wins", {("W221", "$._status_aliases.INCOMPLETE")}),
        ("role_twice", {("W105", "$.developer")}),
        (
            "orphans",
            {
                ("W210", "$.requirements_engineer.READY_FOR_REVIEW"),
                ("W301", "$.requirements_engineer"),
                ("W301", "$.validator"),
                ("W302", "$.requirements_engineer"),
                ("W302", "$.validator"),
            },
        ),
        (
            "no_way_out",
            {
                ("W302", "$.developer"),
                ("W302", "$.qa_expert"),
                ("W322", "$.tech_lead.APPROVED"),
                ("W301", "$.tech_lead"),
            },
        ),
    ],
)
def test_small_files(name: str, expected: set[tuple[str, str]]) -> None:
    assert places(report_on(SMALL / f"{name}.json")) == expected


def test_a_duplicate_names_both_lines() -> None:
    (problem,) = (p for p in report_on(SMALL / "role_twice.json").problems if p.id == "W105")
    assert (problem.line, problem.message) == (
        30,
        'The key "developer" appears twice in one object: on line 19 and on line 30.',
    )


def test_a_blocked_manager_asks_a_person() -> None:
    workflow = report_on(SMALL / "manager_blocks.json").workflow
    assert workflow is not None
    transition = workflow.transitions["project_manager", "BLOCKED"]
    assert (transition.next_agent, transition.action, transition.effect) == (None, "pause_for_user", "block")


def test_the_shipped_file_has_only_the_two_warnings_that_its_table_brings() -> None:
    report = report_on(SHIPPED)
    assert (report.ok, places(report)) == (
        True,
        {("W323", "$.developer.READY_FOR_REVIEW"), ("W221", "$._status_aliases.INCOMPLETE")},
    )


def test_shipped_effects_are_written_and_equal_the_built_in_ones() -> None:
    document = json.loads(SHIPPED.read_text("utf-8"))
    for (role, status), transition in model.parse(document).transitions.items():
        assert document[role][status]["effect"] == vocabulary.effect_of(role, status) == transition.effect


def test_every_shipped_rule_says_what_it_means() -> None:
    for transition in model.parse(json.loads(SHIPPED.read_text("utf-8"))).transitions.values():
        assert (transition.description[-1:], len(transition.description) > 20) == (".", True)


# role: STATUS>next agent ! action, + then, * effect; the table that the file must hold
TABLE = {
    "developer": {
        "READY_FOR_QA": "spawn qa_expert submit_test",
        "READY_FOR_REVIEW": "spawn tech_lead submit_review",
        "BLOCKED": "spawn investigator block fallback=tech_lead",
        "PARTIAL": "respawn developer progress",
        "INCOMPLETE": "respawn developer progress",
        "ESCALATE_SENIOR": "spawn senior_software_engineer escalate",
        "NEEDS_TECH_LEAD_VALIDATION": "spawn tech_lead submit_review",
        "SPAWN_INVESTIGATOR": "spawn investigator investigate",
        "MERGE_SUCCESS": "check_phase None merge",
        "MERGE_CONFLICT": "respawn developer merge_fail escalation",
        "MERGE_TEST_FAILURE": "respawn developer merge_fail escalation",
        "MERGE_BLOCKED": "spawn tech_lead block",
    },
    "senior_software_engineer": {
        "READY_FOR_QA": "spawn qa_expert submit_test",
        "READY_FOR_REVIEW": "spawn tech_lead submit_review",
        "BLOCKED": "spawn tech_lead block",
        "NEEDS_TECH_LEAD_VALIDATION": "spawn tech_lead submit_review",
        "ROOT_CAUSE_FOUND": "spawn tech_lead none review",
        "SPAWN_INVESTIGATOR": "spawn investigator investigate",
        "PARTIAL": "respawn senior_software_engineer progress",
        "MERGE_SUCCESS": "check_phase None merge",
        "MERGE_CONFLICT": "respawn senior_software_engineer merge_fail escalation",
        "MERGE_TEST_FAILURE": "respawn senior_software_engineer merge_fail escalation",
        "MERGE_BLOCKED": "spawn tech_lead block",
    },
    "qa_expert": {
        "PASS": "spawn tech_lead test_pass",
        "FAIL": "respawn developer test_fail escalation",
        "FAIL_ESCALATE": "spawn senior_software_engineer test_fail",
        "PARTIAL": "spawn tech_lead inconclusive",
        "BLOCKED": "spawn tech_lead block",
        "FLAKY": "spawn tech_lead inconclusive",
    },
    "tech_lead": {
        "APPROVED": "spawn_merge developer approve fallback=senior_software_engineer then=check_phase resolves=all",
        "APPROVED_WITH_NOTES": (
            "spawn_merge developer approve fallback=senior_software_engineer then=check_phase resolves=all"
        ),
        "CHANGES_REQUESTED": "respawn developer reject escalation",
        "SPAWN_INVESTIGATOR": "spawn investigator investigate",
        "ESCALATE_TO_OPUS": "respawn tech_lead escalate model=opus",
        "UNBLOCKING_GUIDANCE_PROVIDED": "spawn _return_to_blocked guide resolves=newest",
        "UNBLOCKING_GUIDANCE": "spawn _return_to_blocked guide resolves=newest",
        "ARCHITECTURAL_DECISION_MADE": "spawn developer guide resolves=newest",
    },
    "project_manager": {
        "PLANNING_COMPLETE": "spawn_batch developer plan fallback=senior_software_engineer max=4",
        "CONTINUE": "spawn_batch developer continue fallback=senior_software_engineer max=4",
        "BAZINGA": "validate_then_end None confirm",
        "DEFER_EXTERNAL": "check_phase None defer",
        "REWORK": "respawn developer rework",
        "RESUME_BLOCKED": "spawn _return_to_blocked resume resolves=newest",
        "ESCALATING_TO_TECH_LEAD": "spawn tech_lead escalate",
        "NEEDS_CLARIFICATION": "pause_for_user None clarify",
        "INVESTIGATION_NEEDED": "spawn investigator investigate",
        "INVESTIGATION_ONLY": "end_session None end_research",
    },
    "investigator": {
        "ROOT_CAUSE_FOUND": "spawn tech_lead none",
        "INVESTIGATION_INCOMPLETE": "spawn tech_lead progress",
        "BLOCKED": "spawn tech_lead block",
        "EXHAUSTED": "spawn tech_lead none",
        "NEED_DEVELOPER_DIAGNOSTIC": "spawn developer none",
        "HYPOTHESIS_ELIMINATED": "respawn investigator none budget",
        "NEED_MORE_ANALYSIS": "respawn investigator none budget",
    },
    "requirements_engineer": {
        "READY_FOR_REVIEW": "spawn tech_lead submit_review bypass_qa",
        "BLOCKED": "spawn investigator block",
        "PARTIAL": "respawn requirements_engineer progress",
    },
    "validator": {
        "ACCEPT": "end_session None none",
        "REJECT": "spawn project_manager none",
    },
}


def in_short(t: model.Transition) -> str:
    extras = [
        f"fallback={t.fallback_agent}" if t.fallback_agent else "",
        f"then={t.then}" if t.then else "",
        f"model={t.model_override}" if t.model_override else "",
        f"max={t.max_parallel}" if t.max_parallel else "",
        f"resolves={t.resolves}" if t.resolves != "none" else "",
        "escalation" if t.escalation_check else "",
        "budget" if t.iteration_budget_check else "",
        "review" if t.mandatory_review else "",
        "bypass_qa" if t.bypass_qa else "",
    ]
    return " ".join([t.action, str(t.next_agent), t.effect, *(extra for extra in extras if extra)])


def test_the_shipped_file_holds_the_table() -> None:
    workflow = model.parse(json.loads(SHIPPED.read_text("utf-8")))
    found: dict[str, dict[str, str]] = {}
    for (role, status), transition in workflow.transitions.items():
        found.setdefault(role, {})[status] = in_short(transition)
    assert found == TABLE


def test_shipped_rules_and_aliases() -> None:
    workflow = model.parse(json.loads(SHIPPED.read_text("utf-8")))
    mode = model.TestingModeRule(("READY_FOR_QA",), "tech_lead")
    assert workflow.rules == model.Rules(
        testing_modes={"minimal": mode, "disabled": mode},
        escalation_threshold=2,
        escalation_agent="senior_software_engineer",
        security_force_agent="senior_software_engineer",
        security_mandatory_review=True,
        research_agent="requirements_engineer",
        research_max_parallel=2,
        investigation_max_iterations=5,
        investigation_on_exhausted="tech_lead",
        loop_max_visits=6,
        loop_on_exhausted=("tech_lead", "project_manager", "question"),
    )
    assert (workflow.name, workflow.max_parallel, workflow.aliases) == (
        "2.0.0",
        4,
        {
            "INCOMPLETE": "INVESTIGATION_INCOMPLETE",
            "WAITING_FOR_RESULTS": "NEED_DEVELOPER_DIAGNOSTIC",
            "REASSIGNING_FOR_FIXES": "REWORK",
        },
    )


def test_the_schema_file_is_the_generated_one() -> None:
    assert SCHEMA.read_text("utf-8") == schema.json_schema_text()


@pytest.mark.parametrize(
    ("literal", "words"),
    [
        (schema.Action, vocabulary.ACTIONS),
        (schema.Effect, vocabulary.EFFECT_ORDER),
        (schema.Resolves, vocabulary.RESOLVES),
    ],
    ids=["actions", "effects", "resolves"],
)
def test_schema_and_vocabulary_hold_the_same_words(literal: object, words: tuple[str, ...]) -> None:
    assert sorted(typing.get_args(literal)) == sorted(words)


def test_schema_and_model_hold_the_same_keys() -> None:
    keys = {field.alias or name for name, field in schema.Transition.model_fields.items()}
    assert keys - {"_note", "_description"} == set(model.Transition._fields) - {"role", "status"}


def shipped() -> dict[str, dict[str, dict[str, object]]]:
    document: dict[str, dict[str, dict[str, object]]] = json.loads(SHIPPED.read_text("utf-8"))
    return document


def lead(document: dict[str, dict[str, dict[str, object]]], role: str, to: str) -> None:
    for status, entry in document[role].items():
        if not status.startswith("_"):
            document[role][status] = {"next_agent": to, "action": "spawn", "effect": entry["effect"]}


def test_shipped_roles_that_nothing_leads_to_are_reported() -> None:
    document = shipped()
    lead(document, "requirements_engineer", "validator")
    lead(document, "validator", "requirements_engineer")
    document["project_manager"]["BAZINGA"].update(action="pause_for_user")
    del document["_special_rules"]["research_tasks"]
    found = places(checks.check(json.dumps(document).encode(), "f"))
    assert {place for place in found if place[0] in ("W301", "W302")} == {
        ("W301", "$.requirements_engineer"),
        ("W301", "$.validator"),
        ("W302", "$.requirements_engineer"),
        ("W302", "$.validator"),
    }


def test_shipped_roles_without_a_way_out_are_reported() -> None:
    document = shipped()
    lead(document, "developer", "qa_expert")
    lead(document, "qa_expert", "developer")
    found = places(checks.check(json.dumps(document).encode(), "f"))
    assert {place for place in found if place[0] in ("W301", "W302")} == {
        ("W302", "$.developer"),
        ("W302", "$.qa_expert"),
    }


def test_the_guide_names_every_check_effect_action_and_key() -> None:
    guide = (ROOT / "workflow" / "README.md").read_text("utf-8")
    words = [*problems.CATALOGUE, *vocabulary.EFFECTS, *vocabulary.ACTIONS, *model.Transition._fields[2:]]
    assert [word for word in words if word not in guide] == []
