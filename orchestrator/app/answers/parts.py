"""The parts that answers are made of: rows by column name, and what is told about them."""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from orchestrator.app.answers.imports import ImportFinding


class Rule(TypedDict):
    """A rule that fired."""

    name: str
    reason: str


class Spawn(TypedDict):
    """One agent that is started."""

    group_id: str | None
    agent: str
    agent_id: str | None
    model: str | None
    turn: int
    handoff: str
    handoff_hash: str


class ResumePoint(TypedDict):
    """Where a successor goes on."""

    seq: int
    stage: str | None
    phase: int | None
    phases_completed: int | None
    phases_total: int | None
    handoff_path: str | None


class PartInFile(TypedDict):
    """A part of a report that is too large for the record; `what` is details, metadata or message.

    On a server `host` is the machine on which the file lies, or `a shared folder`, which `folder` names then.
    """

    what: str
    path: str
    sha256: str
    bytes: int
    host: NotRequired[str]
    folder: NotRequired[str]


class Planned(TypedDict):
    """What a plan in a report made, and what it named that existed already."""

    groups: list[str]
    criteria: list[str]
    unchanged: list[str]


class Routed(TypedDict):
    """A decision as it is answered; keys are there when they apply."""

    current_agent: str
    response_status: str
    next_agent: str | None
    action: str
    group_id: str | None
    session_id: str
    include_context: list[str]
    decision_id: str
    report_id: str | None
    seq: int
    rules: list[Rule]
    workflow_version: str
    repeated: bool
    dry_run: bool
    turn: NotRequired[int | None]
    agent_id: NotRequired[str | None]
    handoff: NotRequired[str]
    handoff_hash: NotRequired[str]
    model: NotRequired[str | None]
    effect: NotRequired[str]
    evidence: NotRequired[list[PartInFile]]
    reason: NotRequired[str]
    group_status: NotRequired[str]
    question_id: NotRequired[str]
    answered: NotRequired[str]
    resume: NotRequired[ResumePoint | None]
    over_flagged: NotRequired[bool]
    under_flagged: NotRequired[bool]
    groups_to_spawn: NotRequired[list[str]]
    spawns: NotRequired[list[Spawn]]
    bypass_qa: NotRequired[bool]
    escalation_applied: NotRequired[bool]
    escalation_reason: NotRequired[str]
    escalation_counter: NotRequired[str]
    skip_reason: NotRequired[str]
    phase_check: NotRequired[str]
    security_override: NotRequired[bool]
    blockers_opened: NotRequired[list[str]]
    blockers_resolved: NotRequired[list[str]]
    completed: NotRequired[list[str]]
    groups: NotRequired[dict[str, Any]]
    causes: NotRequired[list[str]]
    path: NotRequired[list[Part]]
    awaiting_manager: NotRequired[list[str]]
    planned: NotRequired[Planned]
    tasks_done: NotRequired[list[str]]
    followed_by: NotRequired[list[dict[str, Any]]]


class Changed(TypedDict):
    """Who changed a status last, and when."""

    status: str
    status_changed_by: str | None
    status_changed_at: str
    status_seq: int


class Waiting(TypedDict):
    """The columns that say who is awaited."""

    awaited_role: str | None
    awaited_agent_id: str | None
    awaited_action: str | None
    turn: int | None
    awaited_since: str | None
    held: str | None


class Awaited(TypedDict):
    """Who is awaited, and since when."""

    role: str
    agent_id: str | None
    action: str | None
    turn: int | None
    since: str | None
    held: str | None


class Progress(TypedDict):
    """How far a session is."""

    groups: int
    by_status: dict[str, int]
    rework: int


class Session(Changed, Waiting):
    """A session's row."""

    id: str
    kind: str
    mode: str
    testing_mode: str
    goal: str
    workflow_version_id: int
    turn_timeout: int
    disabled_roles: list[str]
    created_by: str
    created_at: str
    outcome: str | None
    outcome_reason: str | None
    planned: bool


class PinnedVersion(TypedDict):
    """The workflow version that a session was created with, and who made it active."""

    version: int
    name: str
    hash: str
    by: str
    at: str
    channel: str
    vouched: int | None
    differs: list[str]


class SessionWithProgress(Session):
    """A session's row, whom it awaits, and how far it is."""

    awaited: Awaited | None
    progress: Progress


class SessionBrief(TypedDict):
    """The columns of a session that its status shows."""

    id: str
    kind: str
    mode: str
    testing_mode: str
    status: str
    outcome: str | None
    outcome_reason: str | None
    turn_timeout: int
    planned: bool


class SessionHead(TypedDict):
    """Where a session stands."""

    session: SessionBrief
    goal: str
    state: str
    stalled: bool
    awaited: Awaited | None
    held: list[str]
    progress: Progress


class ValidatorAwaited(TypedDict):
    """The command that a session waits for where the validator is awaited."""

    command: str
    since: str | None


class Help(TypedDict):
    """What can be done about a group, and the command that does it."""

    what: str
    command: str


class Unmet(TypedDict):
    """A missing part of a completion path."""

    part: str
    reason: str


class Started(TypedDict):
    """Who was started for a turn: through what, by which client, and when it was last seen at work."""

    via: Literal["hook", "mcp", "drive"]
    client: str
    worker: str | None
    state: Literal["reserved", "running", "lost"]
    started_at: str
    last_sign: str
    isolation: str | None


class Stuck(TypedDict):
    """A group that does not go on by itself, and the commands that help."""

    group_id: str
    cause: str
    why: str
    waits_for: list[str]
    unmet: list[Unmet]
    helps: list[Help]


class PendingCommand(TypedDict):
    """A criterion's command that came in a report and waits for a person: why, and what allows it."""

    criterion: str
    command: list[str]
    why: str
    help: str


class Group(Changed, Waiting):
    """A group's row."""

    session_id: str
    id: str
    name: str
    kind: str
    security_sensitive: bool
    complexity: int
    priority: str
    created_by: str
    created_at: str
    created_seq: int
    qa_attempts: int
    tl_review_attempts: int
    merge_attempts: int
    iterations: int
    description: str | None


class ListedGroup(Group):
    """A group in a list; `doubt` says why it is completed though no chain proves it.

    One of grandfathered, pm_path (on the project manager's word), path_missing (no path is valid any more).
    """

    doubt: str | None
    waits_for: list[str]


class Counters(TypedDict):
    """How often a group's work came back."""

    qa_attempts: int
    tl_review_attempts: int
    merge_attempts: int
    revision_count: int
    iterations: int


class Blocker(TypedDict):
    """A blocker's row."""

    id: str
    session_id: str
    group_id: str | None
    task_id: str | None
    type: str
    reason: str
    opened_by: str | None
    opened_at: str
    external: bool
    external_dependency: str | None
    resolved_at: str | None
    resolved_by: str | None
    resolution: str | None


class Part(TypedDict):
    """One part of the completion path."""

    part: str
    met: bool
    reason: str
    report_id: str | None
    code: str


class GroupWithAll(Group):
    """A group's row, with what `group show` adds."""

    awaited: Awaited | None
    counters: Counters
    blockers: list[Blocker]
    questions: list[dict[str, Any]]
    resume_point: ResumePoint | None
    depends_on: list[dict[str, Any]]
    path: list[Part]
    path_valid: bool
    pm_path: bool
    awaiting_confirmation: bool
    ever_blocked: bool
    grandfathered: bool
    import_findings: list[ImportFinding]


class GroupStanding(TypedDict):
    """A group as `status` shows it."""

    id: str
    name: str
    kind: str
    status: str
    priority: str
    awaited: Awaited | None
    waits_for: list[str]
    overdue: bool
    awaiting_confirmation: bool
    cause: str | None
    missing: str | None
    doubt: str | None
    rework: int
    blockers: list[str]


class Agent(TypedDict):
    """An agent's row."""

    id: str
    role: str
    parent_id: str | None
    kind: str
    max_parallel_tasks: int
    active: bool
    session_id: str | None
    group_id: str | None
    created_at: str
    created_seq: int


class AgentWithFamily(Agent):
    """An agent's row, with those above and right below it."""

    ancestors: list[str]
    children: list[str]
    enrolments: NotRequired[list[dict[str, Any]]]


class AgentNode(Agent):
    """An agent's row, with those below it."""

    children: list[AgentNode]


class AgentFile(TypedDict):
    """An agent file that a version pins."""

    role: str
    name: str
    model: str | None
    reports_to: str | None
    hash: str


class Version(TypedDict):
    """A workflow version."""

    id: int
    hash: str
    name: str | None
    transitions_hash: str
    loaded_at: str
    seq: int
    active: bool


class Problem(TypedDict):
    """A finding on a workflow or agent file."""

    id: str
    severity: str
    path: str
    line: int | None
    message: str
    hint: str


class FileChange(TypedDict):
    """What is done to a file of a project; `copy` is where the content that it replaces is kept."""

    path: str
    change: Literal["create", "update", "remove", "restore"]
    copy: str | None


class InstallProblem(TypedDict):
    """Something that was left as it is, or that a check found."""

    id: Literal["changed", "foreign", "missing", "outdated", "untrusted", "not_found", "unknown"]
    path: str
    message: str
    difference: str


class Finding(TypedDict):
    """A finding on the database."""

    id: str
    severity: str
    subject: str
    message: str
    suggestion: str
