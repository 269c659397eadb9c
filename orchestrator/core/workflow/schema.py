"""The file's shape, as pydantic models; `workflow/transitions.schema.json` is generated from them.

Cold module. Unknown keys are errors: a file must not promise what the router does not do.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from orchestrator.core.workflow import vocabulary

STATUS_PATTERN = r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*"
MAX_STATUS = 64
MAX_COUNT = 10_000

Name = Annotated[str, Field(min_length=1, max_length=128, pattern=r"\S")]
Status = Annotated[str, Field(min_length=1, max_length=MAX_STATUS)]
Role = Annotated[str, Field(min_length=1, max_length=128, json_schema_extra={"enum": list(vocabulary.REPORTING_ROLES)})]
Target = Annotated[
    str,
    Field(
        min_length=1,
        max_length=128,
        json_schema_extra={"enum": [*vocabulary.REPORTING_ROLES, vocabulary.RETURN_TO_BLOCKED]},
    ),
]
Rung = Annotated[
    str,
    Field(
        min_length=1,
        max_length=128,
        json_schema_extra={"enum": [*vocabulary.REPORTING_ROLES, vocabulary.QUESTION]},
    ),
]
Count = Annotated[int, Field(ge=1, le=MAX_COUNT)]
Text = Annotated[str, Field(max_length=4000)]


Action = Literal[
    "spawn",
    "respawn",
    "spawn_merge",
    "spawn_batch",
    "check_phase",
    "validate_then_end",
    "pause_for_user",
    "end_session",
]
Effect = Literal[
    "submit_test",
    "submit_review",
    "test_pass",
    "test_fail",
    "inconclusive",
    "approve",
    "reject",
    "merge",
    "merge_fail",
    "block",
    "guide",
    "escalate",
    "investigate",
    "progress",
    "plan",
    "continue",
    "confirm",
    "defer",
    "resume",
    "rework",
    "clarify",
    "end_research",
    "none",
]
Resolves = Literal["newest", "all", "none"]


_ABSENT: Any = None


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, populate_by_name=False)


class _Noted(_Strict):
    """Anything that may carry comments."""

    description: Text = ""
    comment: Text = Field(default="", alias="_description", description="A comment.")
    note: Text = Field(default="", alias="_note", description="A comment.")


class Transition(_Noted):
    """What follows when a role reports a status."""

    description: Text = Field(default="", description="What the status means, one sentence; agents read it.")
    next_agent: Target | None = Field(default=None, description="Who acts next; null if nobody is started.")
    action: Action = Field(description="What the caller does next.")
    then: Literal["check_phase"] | None = Field(default=None, description="Evaluated when the step has succeeded.")
    effect: Effect | None = Field(
        default=None, description="What the status means to the engine; built in for well-known names."
    )
    include_context: list[Name] = Field(default=[], description="Context items for the next agent.")
    fallback_agent: Role | None = Field(default=None, description="Used when next_agent is disabled.")
    model_override: Name | None = Field(default=None, description="Model for the next agent.")
    escalation_check: bool = Field(default=False, description="May be redirected by the count of failures.")
    iteration_budget_check: bool = Field(default=False, description="Counts towards the investigation budget.")
    max_parallel: Count | None = Field(default=None, description="Limit of running groups, for spawn_batch.")
    resolves: Resolves | None = Field(default=None, description="The open blockers it resolves.")
    mandatory_review: bool = Field(default=False, description="Completion needs a tech lead's report after it.")
    bypass_qa: bool = Field(default=False, description="Completion does not wait for QA.")


class Block(BaseModel):
    """The statuses of one role."""

    model_config = ConfigDict(
        extra="allow",
        strict=True,
        json_schema_extra={"propertyNames": {"pattern": f"^(_description|_note|{STATUS_PATTERN})$"}},
    )
    __pydantic_extra__: dict[str, Transition] = Field(init=False)

    comment: Text = Field(default="", alias="_description", description="A comment.")
    note: Text = Field(default="", alias="_note", description="A comment.")


class TestingMode(_Noted):
    """Where a reduced testing mode sends what would go to quality assurance."""

    affected_statuses: list[Status]
    override_next_agent: Role


class Escalation(_Noted):
    """When repeated failures go to somebody else."""

    threshold: Count = 2
    escalation_agent: Role


class Security(_Noted):
    """Who works on security-sensitive groups."""

    force_agent: Role
    mandatory_review: bool = False


class Research(_Noted):
    """Who works on research groups."""

    agent: Role
    max_parallel: Count = 2


class InvestigationBudget(_Noted):
    """How long an investigator may go on by itself."""

    max_iterations: Count = 5
    on_exhausted: Role = vocabulary.TECH_LEAD


class LoopGuard(_Noted):
    """How often one status may come back without progress, and who is called then, rung by rung."""

    max_visits: Count = 6
    on_exhausted: list[Rung] = Field(
        default=[vocabulary.TECH_LEAD, vocabulary.PROJECT_MANAGER, vocabulary.QUESTION], min_length=1
    )


class SpecialRules(_Strict):
    """Rules that change where a transition leads."""

    comment: Text = Field(default="", alias="_description", description="A comment.")
    note: Text = Field(default="", alias="_note", description="A comment.")
    testing_mode_disabled: TestingMode = Field(default=_ABSENT)
    testing_mode_minimal: TestingMode = Field(default=_ABSENT)
    escalation_after_failures: Escalation = Field(default=_ABSENT)
    security_sensitive: Security = Field(default=_ABSENT)
    research_tasks: Research = Field(default=_ABSENT)
    investigation_budget: InvestigationBudget = Field(default=_ABSENT)
    loop_guard: LoopGuard = Field(default=_ABSENT)


class Aliases(BaseModel):
    """Other names of statuses."""

    model_config = ConfigDict(extra="allow", strict=True)
    __pydantic_extra__: dict[str, Status] = Field(init=False)

    comment: Text = Field(default="", alias="_description", description="A comment.")
    note: Text = Field(default="", alias="_note", description="A comment.")


class WorkflowFile(_Strict):
    """A workflow: who may report what, and what follows."""

    version: Annotated[str, Field(min_length=1, max_length=64)] = Field(default="0", alias="_version")
    about: Text = Field(default="", alias="_description")
    changelog: dict[str, Text] = Field(default={}, alias="_changelog")
    project_manager: Block = Field(default_factory=Block)
    tech_lead: Block = Field(default_factory=Block)
    developer: Block = Field(default_factory=Block)
    senior_software_engineer: Block = Field(default_factory=Block)
    qa_expert: Block = Field(default_factory=Block)
    investigator: Block = Field(default_factory=Block)
    requirements_engineer: Block = Field(default_factory=Block)
    validator: Block = Field(default_factory=Block)
    special_rules: SpecialRules = Field(default_factory=SpecialRules, alias="_special_rules")
    status_aliases: Aliases = Field(default_factory=Aliases, alias="_status_aliases")


ADAPTER: TypeAdapter[WorkflowFile] = TypeAdapter(WorkflowFile)


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a workflow file, for editors."""
    schema = WorkflowFile.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **_tidy(schema)}


def json_schema_text() -> str:
    """The text of `workflow/transitions.schema.json`."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"


def _tidy(node: Any) -> Any:
    """Leave out what says nothing to a reader: generated titles and empty defaults."""
    if isinstance(node, list):
        return [_tidy(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {key: _tidy(value) for key, value in node.items() if not _says_nothing(key, value)}


def _says_nothing(key: str, value: Any) -> bool:
    return (key == "title" and isinstance(value, str)) or (key == "default" and value in (None, "", [], {}))
