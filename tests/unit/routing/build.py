"""Facts for deciding, built from the shipped workflow: what a test does not name has its everyday value."""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Callable, Iterable
from typing import Any

from orchestrator import resources
from orchestrator.core.routing import engine
from orchestrator.core.routing.facts import (
    Blocker,
    Case,
    Decision,
    Facts,
    Group,
    Path,
    Refusal,
    Report,
    Session,
)
from orchestrator.core.workflow import model

Document = dict[str, Any]
Change = Callable[[Document], object]
Pairs = list[tuple[str, str]]

MODELS = {"developer": "haiku", "senior_software_engineer": "opus", "tech_lead": "sonnet", "qa_expert": "haiku"}
SESSION = Session(
    id="S1", kind="orchestration", mode="parallel", testing_mode="full", status="active", planned=1,
    disabled_roles=(), awaited_role=None, awaited_action=None, turn=None, held=None, answered_seq=0,
    workflow_version_id=1,
)  # fmt: skip
GROUP = Group(
    id="G", name="Group", kind="code", status="in_progress", security_sensitive=0, complexity=3, priority=2,
    awaited_role="developer", awaited_agent_id="developer@S1:G", awaited_action="spawn", turn=7, held=None,
    held_seq=None, held_part=None, qa_attempts=0, tl_review_attempts=0, merge_attempts=0, iterations=0, senior=0,
    builder_role=None, builder_agent_id=None, progress_seq=0, answered_seq=0, status_seq=1, created_seq=1,
)  # fmt: skip
NOBODY = {"awaited_role": None, "awaited_agent_id": None, "awaited_action": None, "turn": None}


@functools.cache
def document() -> Document:
    """The shipped transitions file."""
    found: Document = json.loads((resources.path("workflow") / "transitions.json").read_text("utf-8"))
    return found


@functools.cache
def shipped() -> model.Workflow:
    """The shipped workflow."""
    return model.parse(document())


def workflow(*changes: Change) -> model.Workflow:
    """The shipped workflow with changes."""
    made = copy.deepcopy(document())
    for change in changes:
        change(made)
    return model.parse(made)


def put(role: str, status: str, **entry: Any) -> Change:
    """Add a transition, or change keys of one."""

    def change(made: Document) -> None:
        block = made[role]
        block[status] = {"next_agent": None, "action": "pause_for_user", **block.get(status, {}), **entry}

    return change


def rule(name: str, **keys: Any) -> Change:
    """Change a special rule."""

    def change(made: Document) -> None:
        made["_special_rules"].setdefault(name, {}).update(keys)

    return change


def without_rule(name: str) -> Change:
    """Leave a special rule out."""

    def change(made: Document) -> None:
        del made["_special_rules"][name]

    return change


def session(**values: Any) -> Session:
    """An active session that has been planned."""
    return SESSION._replace(**values)


def group(**values: Any) -> Group:
    """A code group in progress that awaits the developer in turn 7."""
    return GROUP._replace(**values)


def pending(**values: Any) -> Group:
    """A group that nobody has started."""
    return group(status="pending", **NOBODY, **values)


def blocker(id: str = "B1", **values: Any) -> Blocker:
    """An open blocker that QA reported."""
    found = Blocker(id, "unclassified", "hard", 0, "qa_expert", "qa_expert@S1:G", "report")
    return found._replace(**values)


def case(
    role: str,
    status: str,
    *,
    group: Group | None = GROUP,
    session: Session = SESSION,
    workflow: model.Workflow | None = None,
    path: Path | None = None,
    blockers: Iterable[Blocker] = (),
    facts: dict[str, Any] | None = None,
    **report: Any,
) -> Case:
    """A report of a known status under decision."""
    used = workflow or shipped()
    found = used.find(role, status)
    assert found is not None, f"{role} has no status {status}"
    known = Facts(session, group, blockers=tuple(blockers), **(facts or {}))
    given = Report(role, status, role, status, group_id=group.id if group else None, **report)
    return Case(used, MODELS, known, given, *found, path or Path())


def decide(role: str, status: str, **more: Any) -> Decision:
    """The decision on a report."""
    return engine.decide(case(role, status, **more))


def target(role: str, status: str, **more: Any) -> tuple[str | None, str]:
    """Whom a report is decided to start, and how."""
    decision = decide(role, status, **more)
    return decision.target.agent, decision.target.action


def fired(decision: Decision) -> list[str]:
    """The names of the rules that fired."""
    return [rule.name for rule in decision.rules]


def admit(role: str, status: str, **more: Any) -> Refusal | None:
    """What turns a report of a known status down, if anything does."""
    made = case(role, status, **more)
    return engine.admit(made, made.workflow, made.facts, made.report)


def code(role: str, status: str, **more: Any) -> str | None:
    """The code of what turns a report down; None where it is admitted."""
    refusal = admit(role, status, **more)
    return refusal.code if refusal else None
