"""A checked workflow as frozen values: what the routing engine reads.

Hot module: no validation, no pydantic. A document arrives here only after `checks.check` found no error in it,
usually as the canonical JSON that the store pinned a session to.

Source: seed 004, Proposed Solution 1 (the transitions file is the one source of routing).
"""

from __future__ import annotations

import json

from orchestrator.core import sha256
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.workflow import vocabulary
from orchestrator.hints import Any

DEFAULT_MAX_PARALLEL = 4
DEFAULT_THRESHOLD = 2
DEFAULT_RESEARCH_PARALLEL = 2
DEFAULT_MAX_ITERATIONS = 5
DEFAULT_MAX_VISITS = 6
DEFAULT_RUNGS = (vocabulary.TECH_LEAD, vocabulary.PROJECT_MANAGER, vocabulary.QUESTION)

TESTING_MODES = ("minimal", "disabled")


class Transition(NamedTuple):
    """What follows when one role reports one status."""

    role: str
    status: str
    next_agent: str | None
    action: str
    then: str | None
    effect: str
    include_context: tuple[str, ...]
    fallback_agent: str | None
    model_override: str | None
    escalation_check: bool
    iteration_budget_check: bool
    max_parallel: int | None
    resolves: str
    mandatory_review: bool
    bypass_qa: bool
    description: str


class TestingModeRule(NamedTuple):
    """Where a reduced testing mode sends what would have gone to quality assurance."""

    affected_statuses: tuple[str, ...]
    override_next_agent: str


class Rules(NamedTuple):
    """The special rules; a rule that does not fire is empty or None."""

    testing_modes: dict[str, TestingModeRule]
    escalation_threshold: int
    escalation_agent: str | None
    security_force_agent: str | None
    security_mandatory_review: bool
    research_agent: str
    research_max_parallel: int
    investigation_max_iterations: int
    investigation_on_exhausted: str
    loop_max_visits: int
    loop_on_exhausted: tuple[str, ...]


class Workflow(NamedTuple):
    """One content-hashed version of the transitions file.

    `name` is the label in `_version`; `max_parallel` the limit of running groups, from the plan transition.
    """

    hash: str
    name: str
    transitions: dict[tuple[str, str], Transition]
    aliases: dict[str, str]
    rules: Rules
    max_parallel: int

    def statuses_of(self, role: str) -> tuple[str, ...]:
        """The statuses that a role may report, in the document's order."""
        return tuple(status for owner, status in self.transitions if owner == role)

    def find(self, role: str, status: str) -> tuple[Transition, str | None] | None:
        """The transition for a reported status, with the alias that led to it, or None when there is none.

        A role's own status always wins; an alias counts only where the role has what it stands for.
        """
        own = self.transitions.get((role, status))
        if own is not None:
            return own, None
        target, left = self.aliases.get(status), len(self.aliases)
        while target is not None and left:
            found = self.transitions.get((role, target))
            if found is not None:
                return found, status
            target, left = self.aliases.get(target), left - 1
        return None

    def roles(self) -> tuple[str, ...]:
        """The roles that the file gives statuses to, in the document's order."""
        return tuple(dict.fromkeys(role for role, _ in self.transitions))


def canonical(document: dict[str, Any]) -> str:
    """The one spelling of a document: sorted keys, no spaces. Its SHA-256 is the version's hash."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def hash_of(canonical_text: str) -> str:
    """SHA-256 of a canonical text, in hexadecimal."""
    return sha256.new(canonical_text.encode("utf-8", "surrogatepass")).hexdigest()


def parse(document: dict[str, Any], known_hash: str = "") -> Workflow:
    """Turn an already checked document into a Workflow, without checking it again.

    Args:
        document: the decoded canonical JSON of a checked file.
        known_hash: its hash, where the caller has it already (the store's key); computed otherwise.
    """
    transitions = {
        (role, status): _transition(role, status, entry)
        for role, block in document.items()
        if not role.startswith("_")
        for status, entry in block.items()
        if not status.startswith("_")
    }
    aliases = {name: to for name, to in document.get("_status_aliases", {}).items() if not name.startswith("_")}
    return Workflow(
        hash=known_hash or hash_of(canonical(document)),
        name=document.get("_version") or "",
        transitions=transitions,
        aliases=aliases,
        rules=_rules(document.get("_special_rules", {})),
        max_parallel=_limit(transitions),
    )


def _transition(role: str, status: str, entry: dict[str, Any]) -> Transition:
    get = entry.get
    effect = get("effect") or vocabulary.effect_of(role, status)
    return Transition(
        role,
        status,
        get("next_agent"),
        entry["action"],
        get("then"),
        effect,
        tuple(get("include_context") or ()),
        get("fallback_agent"),
        get("model_override"),
        get("escalation_check", False),
        get("iteration_budget_check", False),
        get("max_parallel"),
        get("resolves") or vocabulary.DEFAULT_RESOLVES.get(effect, vocabulary.NONE),
        get("mandatory_review", False),
        get("bypass_qa", False),
        get("description") or get("_note") or "",
    )


def _rules(rules: dict[str, Any]) -> Rules:
    escalation, security = rules.get("escalation_after_failures", {}), rules.get("security_sensitive", {})
    research, budget = rules.get("research_tasks", {}), rules.get("investigation_budget", {})
    guard = rules.get("loop_guard", {})
    return Rules(
        testing_modes={
            mode: TestingModeRule(tuple(rule["affected_statuses"]), rule["override_next_agent"])
            for mode in TESTING_MODES
            if (rule := rules.get(f"testing_mode_{mode}")) is not None
        },
        escalation_threshold=escalation.get("threshold", DEFAULT_THRESHOLD),
        escalation_agent=escalation.get("escalation_agent"),
        security_force_agent=security.get("force_agent"),
        security_mandatory_review=security.get("mandatory_review", False),
        research_agent=research.get("agent", vocabulary.REQUIREMENTS_ENGINEER),
        research_max_parallel=research.get("max_parallel", DEFAULT_RESEARCH_PARALLEL),
        investigation_max_iterations=budget.get("max_iterations", DEFAULT_MAX_ITERATIONS),
        investigation_on_exhausted=budget.get("on_exhausted", vocabulary.TECH_LEAD),
        loop_max_visits=guard.get("max_visits", DEFAULT_MAX_VISITS),
        loop_on_exhausted=tuple(guard.get("on_exhausted", DEFAULT_RUNGS)),
    )


def _limit(transitions: dict[tuple[str, str], Transition]) -> int:
    limits = [t.max_parallel for t in transitions.values() if t.effect == "plan" and t.max_parallel is not None]
    return min(limits, default=DEFAULT_MAX_PARALLEL)
