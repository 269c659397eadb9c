"""What deciding is told, and what it answers: plain values, no behaviour.

Deciding reads nothing else. The same facts, workflow version and rules version give the same decision.
"""

from __future__ import annotations

from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.workflow.model import Transition, Workflow
from orchestrator.hints import Any

RULES_VERSION = 7
"""Raised whenever deciding, or what is kept of a decision, changes meaning, so that a replay can tell a changed engine
from a changed record."""
PROVEN_SINCE = 5
"""The first version of the rules under which a merge from a worktree counts with its proof alone."""
LEAN_SINCE = 6
"""The first version of the rules under which a decision keeps of its answer only what its other columns do not say."""
PROGRESS_READ_SINCE = 7
"""The first version of the rules under which a session's progress is read off its reports, and not kept in its row."""

PERSON = "user"
MANAGER = "project_manager"
TECH_LEAD = "tech_lead"
DEVELOPER = "developer"
SENIOR = "senior_software_engineer"
QA = "qa_expert"
RESEARCHER = "requirements_engineer"
INVESTIGATOR = "investigator"
VALIDATOR = "validator"
ROUTER = "system:router"
RUNNER = "system:runner"

BUILDERS = (DEVELOPER, SENIOR, RESEARCHER)
STARTING = ("spawn", "respawn", "spawn_merge")
SPAWNING = (*STARTING, "spawn_batch")

PROGRESS = ("approve", "merge", "test_pass")
"""Effects that count as progress and so clear the loop guard's other counts."""
WITHHELD = "withheld"
"""The effect of a report while a person is asked about it. It counts with its own effect from the answer to go on."""

NOTHING: dict[str, Any] = {}
"""What a value holds under names where nothing was given; never written to."""


class Session(NamedTuple):
    """A session as deciding sees it. `turn` numbers its own open spawn, if any."""

    id: str
    kind: str
    mode: str
    testing_mode: str
    status: str
    planned: int
    disabled_roles: tuple[str, ...]
    awaited_role: str | None
    awaited_action: str | None
    turn: int | None
    held: str | None
    answered_seq: int
    workflow_version_id: int


class Group(NamedTuple):
    """A task group as deciding sees it, in the order of the columns read."""

    id: str
    name: str
    kind: str
    status: str
    security_sensitive: int
    complexity: int
    priority: int
    awaited_role: str | None
    awaited_agent_id: str | None
    awaited_action: str | None
    turn: int | None
    held: str | None
    held_seq: int | None
    held_part: int | None
    qa_attempts: int
    tl_review_attempts: int
    merge_attempts: int
    iterations: int
    senior: int
    builder_role: str | None
    builder_agent_id: str | None
    progress_seq: int
    answered_seq: int
    status_seq: int
    created_seq: int

    @property
    def running(self) -> bool:
        """Whether the group holds a slot: an agent other than the project manager works on it."""
        return self.awaited_role not in (None, MANAGER, PERSON) and self.held is None


class Blocker(NamedTuple):
    """An open blocker of the group."""

    id: str
    type: str
    severity: str
    external: int
    opened_role: str | None
    opened_by: str | None
    cause: str


class Stop(NamedTuple):
    """What return metadata says of how a report's work stopped: by what, and where a successor goes on.

    limit: the limit that made a soft blocker hard, in words; None where none was reached.
    message: what the error that stopped it says; None where none says anything.
    """

    status: str
    type: str
    severity: str
    limit: str | None
    message: str | None
    stage: str | None
    phases_completed: int | None
    phases_total: int | None
    handoff_path: str | None


class Report(NamedTuple):
    """What an agent answered, names already normalised, the raw ones kept beside."""

    role: str
    status: str
    raw_role: str
    raw_status: str
    group_id: str | None = None
    agent_id: str | None = None
    turn: int | None = None
    summary: str = ""
    details: dict[str, Any] = NOTHING
    acknowledge: dict[str, str] = NOTHING
    interrupt: bool = False
    testing_mode: str | None = None
    metadata: dict[str, Any] | None = None
    raw_text: str | None = None
    review_reason: str | None = None
    review_kind: str = "review"
    review_mark: str | None = None
    stop: Stop | None = None


class Facts(NamedTuple):
    """Everything recorded that a report's decision rests on."""

    session: Session
    group: Group | None = None
    blockers: tuple[Blocker, ...] = ()
    open_dependencies: tuple[str, ...] = ()
    question_id: str | None = None
    visits: int = 0
    refusal: str | None = None
    clarifications: int = 0
    open_code_groups: tuple[str, ...] = ()
    cancels: bool = False
    """Whether the end of the session cancels a group that is still open."""
    manager_turns: tuple[int, ...] = ()


class Path(NamedTuple):
    """The completion path as the view answers it, once the report under decision is written."""

    approved: bool = False
    merged: bool = False
    valid: bool = False
    awaiting_confirmation: bool = False
    missing: str | None = None


NO_PATH = Path()
"""What is known of the path of a group that no report could complete now, or that has none."""


class Refusal(NamedTuple):
    """A rule turned the report down: stable code, sentence, what to do, further keys."""

    code: str
    message: str
    suggestion: str
    data: dict[str, Any]


class Fired(NamedTuple):
    """A rule that fired: its name and reason as they stand in the decision."""

    name: str
    reason: str


class Target(NamedTuple):
    """Who is to act next, and how. `agent` None starts nobody; the person is an agent named `user`."""

    agent: str | None
    action: str
    instance: str | None = None


class Question(NamedTuple):
    """Something that only a person may answer."""

    kind: str
    text: str


class Decision(NamedTuple):
    """What deciding answers for one report; somebody else applies it."""

    target: Target
    model: str | None
    include_context: tuple[str, ...]
    rules: tuple[Fired, ...]
    extras: dict[str, Any]
    question: Question | None = None
    postponed: Target | None = None
    resolves: tuple[str, ...] = ()
    marks_external: str | None = None
    mandatory_review: bool = False

    @property
    def asks_session(self) -> bool:
        """Whether the question concerns no single group."""
        return self.question is not None and self.question.kind == "clarification"


class Case(NamedTuple):
    """One report under decision, with all that the rules read."""

    workflow: Workflow
    models: dict[str, str]
    facts: Facts
    report: Report
    transition: Transition
    alias: str | None
    path: Path

    @property
    def group(self) -> Group | None:
        """The group of the report, if it has one."""
        return self.facts.group

    @property
    def waiting(self) -> Group | None:
        """The group that waits for what is decided; None where the report leaves its group closed or not started."""
        group, transition = self.facts.group, self.transition
        if group is None or transition.effect == "defer":
            return None
        starts = self.report.role != MANAGER or transition.action in STARTING
        return group if starts or group.status == "in_progress" else None

    @property
    def session(self) -> Session:
        """The session of the report."""
        return self.facts.session

    @property
    def testing_mode(self) -> str:
        """The mode that this report is routed under: the session's, or a tighter one that the call names."""
        return self.report.testing_mode or self.facts.session.testing_mode
