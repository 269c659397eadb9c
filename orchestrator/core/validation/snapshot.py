"""What the validator looks at: one session as plain values, read in one go.

Every check reads nothing else, so that a test can hand it a bad and a good snapshot, and the same record always gives
the same verdict.
"""

from __future__ import annotations

from orchestrator.core.named_tuple import NamedTuple
from orchestrator.hints import Any


class Group(NamedTuple):
    """A group with its row of the completion view; `acknowledged` is the reason in the last BAZINGA.

    grandfathered: it was completed before it was imported, and never moved since; `imported`: what its import found.
    """

    id: str
    kind: str
    status: str
    awaited_role: str | None
    held: str | None
    chain: bool
    pm_path: bool
    missing: str | None
    reviewed: bool
    confirmed: bool
    unblocked: bool
    ever_blocked: bool
    acknowledged: str | None
    reason: str
    grandfathered: bool = False
    skipped_qa: bool = False
    imported: tuple[str, ...] = ()


class Proof(NamedTuple):
    """What is cited as evidence.

    is_report: a report; else a piece of evidence. by: the role that reported, or the kind of the evidence. said: the
    status, or the outcome. effect: the report's. group: which group it is about. is_older: work on that group was
    submitted since.
    """

    is_report: bool
    by: str
    said: str
    effect: str | None = None
    group: str | None = None
    is_older: bool = False


class Criterion(NamedTuple):
    """A success criterion; numbers are decimal texts, `command` is an argument list."""

    id: str
    text: str
    status: str
    metric: str | None
    operator: str | None
    target: str | None
    actual: str | None
    command: tuple[str, ...] | None
    evidence: str | None
    reason: str | None
    set_by: str | None = None
    evidence_exists: bool = False
    approval: str | None = None
    """`pending` for a command that came in a report and that no person has confirmed."""
    group: str | None = None
    proof: Proof | None = None
    """What its evidence says, where that exists."""


class Ran(NamedTuple):
    """How a criterion's command ended. `status` None: it did not end by itself (`why` says how)."""

    criterion: str
    status: int | None
    why: str


class Finding(NamedTuple):
    """A row of a fact that a check words: what it is about, and the details."""

    subject: str
    text: str


class Merge(NamedTuple):
    """The merge that completed a group; `ancestor` None where that could not be verified (`why` says so).

    is_older: its commit was made before the session began.
    """

    group: str
    commit: str | None
    ancestor: bool | None = None
    why: str = ""
    is_older: bool = False


class Measured(NamedTuple):
    """A report of an agent that was driven in a worktree, and what was seen of that which it claims.

    merge: `merged` or `nothing_to_merge`; changed: whether anything in the tree had changed. None: nobody has seen it.
    differences: what else was seen that nobody claimed, in words. turn: the agent's.
    """

    subject: str
    effect: str
    merge: str | None = None
    changed: bool | None = None
    differences: tuple[str, ...] = ()
    turn: int | None = None


class RuleChange(NamedTuple):
    """A change of the session's workflow version, in words.

    differs: whether a rule differs between the two; confirmed: whether a person did or confirmed it; older: it was
    recorded before anybody was asked to.
    """

    subject: str
    text: str
    differs: bool
    confirmed: bool
    older: bool


class Snapshot(NamedTuple):
    """One session at its audit head."""

    session: str
    kind: str
    status: str
    testing_mode: str
    head: str
    groups: tuple[Group, ...]
    confirmation_seq: int | None
    last_manager_seq: int | None
    last_manager_status: str | None
    reports_after: tuple[Finding, ...]
    open_blockers: tuple[Finding, ...]
    open_questions: tuple[Finding, ...]
    criteria: tuple[Criterion, ...]
    scope_changes: tuple[Finding, ...]
    gaps: tuple[Finding, ...]
    chain: tuple[Finding, ...]
    guards: tuple[Finding, ...]
    loosened: tuple[Finding, ...]
    mandatory: tuple[Finding, ...]
    roles: tuple[Finding, ...]
    human_acts: tuple[Finding, ...]
    evidence: tuple[Finding, ...]
    dropped: tuple[Finding, ...]
    repairs: tuple[Finding, ...] = ()
    tasks: tuple[Finding, ...] = ()
    ran: tuple[Ran, ...] = ()
    merges: tuple[Merge, ...] = ()
    measured: tuple[Measured, ...] = ()
    gates: tuple[Finding, ...] = ()
    workflow: tuple[Finding, ...] = ()
    unvouched_workflow: tuple[Finding, ...] = ()
    rule_changes: tuple[RuleChange, ...] = ()
    pending: tuple[str, ...] = ()
    """The criteria whose commands wait for a confirmation, the project's settings being looked at."""

    @property
    def is_confirmed(self) -> bool:
        """Whether the project manager's confirmation is their last report."""
        return self.confirmation_seq is not None and self.confirmation_seq == self.last_manager_seq

    def group(self, status: str) -> tuple[Group, ...]:
        """The groups of one status, in order of creation."""
        return tuple(group for group in self.groups if group.status == status)

    def completes(self) -> tuple[str, ...]:
        """The groups that an ACCEPT completes: in progress, with the project manager's path."""
        return tuple(group.id for group in self.groups if group.status == "in_progress" and group.pm_path)


class Outcome(NamedTuple):
    """One line of a verdict."""

    id: str
    level: str
    subject: str
    message: str
    hint: str


class Verdict(NamedTuple):
    """ACCEPT or REJECT, with every check's lines.

    completes: the groups that an ACCEPT completes; imported: the completed groups that were only imported as completed.
    """

    verdict: str
    reason: str
    checks: tuple[Outcome, ...]
    completes: tuple[str, ...]
    imported: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The verdict as the command prints it, but for what belongs to the call."""
        return {
            "verdict": self.verdict,
            "reason": self.reason,
            "checks": [check._asdict() for check in self.checks],
            "completes": list(self.completes),
            "imported": list(self.imported),
        }
