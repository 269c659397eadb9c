"""Parsing a checked document, looking statuses up, and the built-in effects."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core.workflow import loader, model, vocabulary
from tests.unit.workflow import build

NAMES = st.sampled_from(["A", "B", "C", "D", "E"])


def small(**given_aliases: str) -> model.Workflow:
    return model.parse(build.document(build.aliases(**given_aliases)))


@pytest.mark.parametrize(
    ("role", "status", "expected"),
    [
        ("project_manager", "BAZINGA", ("BAZINGA", None)),
        ("project_manager", "DONE", ("BAZINGA", "DONE")),
        ("project_manager", "READY", ("BAZINGA", "READY")),
        ("tech_lead", "DONE", None),
        ("tech_lead", "APPROVED", ("APPROVED", None)),
        ("project_manager", "APPROVED", ("BAZINGA", "APPROVED")),
        ("project_manager", "NOTHING", None),
        ("nobody", "BAZINGA", None),
    ],
    ids=[
        "own",
        "alias",
        "alias of an alias",
        "alias without its target",
        "own before alias",
        "alias where the name is not the role's",
        "unknown status",
        "unknown role",
    ],
)
def test_find(role: str, status: str, expected: tuple[str, str | None] | None) -> None:
    found = small(DONE="BAZINGA", READY="DONE", APPROVED="BAZINGA").find(role, status)
    assert (found and (found[0].status, found[1])) == expected


@given(st.dictionaries(NAMES, NAMES), NAMES)
def test_find_ends_whatever_the_aliases_are(aliases: dict[str, str], status: str) -> None:
    assert small(**aliases).find("tech_lead", status) is None


@given(st.dictionaries(NAMES, st.one_of(NAMES, st.just("APPROVED"))), NAMES)
def test_an_alias_is_found_exactly_when_its_chain_leads_to_the_status(aliases: dict[str, str], status: str) -> None:
    seen, at = [status], aliases.get(status)
    while at is not None and at not in seen:
        seen.append(at)
        at = aliases.get(at)
    found = small(**aliases).find("tech_lead", status)
    assert (found is not None) == ("APPROVED" in seen)


def test_statuses_come_in_the_documents_order() -> None:
    assert small().statuses_of("project_manager") == ("PLANNING_COMPLETE", "NEEDS_CLARIFICATION", "BAZINGA")
    assert small().roles() == ("project_manager", "developer", "tech_lead", "validator")


def test_rules_that_a_file_lacks() -> None:
    assert small().rules == model.Rules(
        testing_modes={},
        escalation_threshold=2,
        escalation_agent=None,
        security_force_agent=None,
        security_mandatory_review=False,
        research_agent="requirements_engineer",
        research_max_parallel=2,
        investigation_max_iterations=5,
        investigation_on_exhausted="tech_lead",
        loop_max_visits=6,
        loop_on_exhausted=("tech_lead", "project_manager", "question"),
    )


@pytest.mark.parametrize(
    ("change", "expected"),
    [([], 2), ([build.without("project_manager", "PLANNING_COMPLETE", "max_parallel")], 4)],
    ids=["of the plan", "default"],
)
def test_slots(change: list[build.Change], expected: int) -> None:
    assert model.parse(build.document(*change)).max_parallel == expected


EFFECTS = [
    ("developer", "READY_FOR_QA", "submit_test"),
    ("requirements_engineer", "READY_FOR_REVIEW", "submit_review"),
    ("tech_lead", "READY_FOR_REVIEW", None),
    ("developer", "MERGE_SUCCESS", "merge"),
    ("qa_expert", "MERGE_SUCCESS", None),
    ("qa_expert", "PASS", "test_pass"),
    ("developer", "PASS", None),
    ("qa_expert", "FAIL_ESCALATE", "test_fail"),
    ("qa_expert", "PARTIAL", "inconclusive"),
    ("developer", "PARTIAL", "progress"),
    ("qa_expert", "INCOMPLETE", "progress"),
    ("developer", "APPROVED", None),
    ("project_manager", "BLOCKED", "block"),
    ("developer", "MERGE_BLOCKED", "block"),
    ("developer", "ESCALATE_SENIOR", "escalate"),
    ("project_manager", "ESCALATING_TO_TECH_LEAD", "escalate"),
    ("tech_lead", "SPAWN_INVESTIGATOR", "investigate"),
    ("project_manager", "REASSIGNING_FOR_FIXES", "rework"),
    ("investigator", "EXHAUSTED", "none"),
    ("validator", "ACCEPT", "none"),
    ("developer", "SOMETHING", None),
]


@pytest.mark.parametrize(("role", "status", "expected"), EFFECTS, ids=[f"{row[0]} {row[1]}" for row in EFFECTS])
def test_built_in_effects(role: str, status: str, expected: str | None) -> None:
    assert vocabulary.known_effect(role, status) == expected
    assert vocabulary.effect_of(role, status) == (expected or "none")


@pytest.mark.parametrize("effect", vocabulary.EFFECT_ORDER)
def test_what_a_report_resolves_by_default(effect: str) -> None:
    expected = {"guide": "newest", "resume": "newest", "approve": "all"}.get(effect, "none")
    transition = model.parse({"developer": {"X": {"action": "spawn", "effect": effect}}}).transitions["developer", "X"]
    assert transition.resolves == expected


def test_resolves_can_be_written() -> None:
    entry = {"action": "spawn", "effect": "guide", "resolves": "all"}
    assert model.parse({"tech_lead": {"X": entry}}).transitions["tech_lead", "X"].resolves == "all"


def shuffled(value: Any, draw: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {key: shuffled(value[key], draw) for key in draw(st.permutations(list(value)))}


@given(st.data())
def test_the_hash_does_not_depend_on_order_or_spaces(data: st.DataObject) -> None:
    first = loader.load_text(build.encoded(build.CLEAN), "a")
    mixed = shuffled(build.CLEAN, data.draw)
    again = loader.load_text(json.dumps(mixed).encode(), "b")
    stored = json.loads(first.canonical_text)
    assert first.hash == again.hash == model.parse(stored).hash == model.hash_of(model.canonical(stored))
    assert model.parse(stored).transitions == model.parse(mixed).transitions


def test_a_stored_version_says_its_effects() -> None:
    document = loader.load_text(build.encoded(build.CLEAN), "a").document
    assert document is not None
    assert document["tech_lead"]["APPROVED"]["effect"] == "approve"


def test_the_hash_changes_with_the_content() -> None:
    other = build.document(build.with_keys("tech_lead", "APPROVED", include_context=["notes"]))
    assert model.parse(other).hash != model.parse(build.CLEAN).hash
