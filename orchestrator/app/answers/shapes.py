"""The shape of each command's answer. Within a schema number keys are only added, so further keys are allowed."""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from orchestrator.app.answers.imports import Account, Found, ImportedSession, ImportFinding, Renamed
from orchestrator.app.answers.parts import (
    Agent,
    AgentFile,
    AgentNode,
    AgentWithFamily,
    Awaited,
    Blocker,
    FileChange,
    Finding,
    Group,
    GroupStanding,
    GroupWithAll,
    InstallProblem,
    ListedGroup,
    Part,
    PendingCommand,
    PinnedVersion,
    Problem,
    Routed,
    Rule,
    Session,
    SessionHead,
    SessionWithProgress,
    Spawn,
    Started,
    Stuck,
    ValidatorAwaited,
    Version,
)
from orchestrator.app.answers.verdicts import CheckLine, Criterion, LastVerdict


class Answer(TypedDict):
    """What every answer has."""

    success: Literal[True]
    schema: Literal[1]
    db: str | None
    warnings: list[str]


class Failure(TypedDict):
    """An error; further keys belong to its code."""

    success: Literal[False]
    schema: Literal[1]
    code: str
    error: str
    suggestion: str
    status_hint: NotRequired[str]


class Decision(Answer, Routed):
    """`route` and `redispatch`."""


class Written(Answer):
    """What every change has."""

    seq: NotRequired[int]
    repeated: NotRequired[bool]
    proof: NotRequired[Literal["weak", "possession", "strong"]]
    followed_by: NotRequired[list[Routed]]


class Page(Answer):
    """What every list has."""

    has_more: bool
    next_since: int | str | None


class Import(Answer):
    """`import peer`."""

    file: str
    file_hash: str
    peer_version: int | None
    sessions: list[ImportedSession]
    tables: list[Account]
    renamed: list[Renamed]
    findings: list[Found]
    dry_run: bool
    repeated: bool


class OneSession(Written):
    """A session that was changed."""

    session: Session
    decision: NotRequired[Routed]
    cancelled: NotRequired[list[str]]
    workflow: NotRequired[PinnedVersion]
    changes: NotRequired[list[str]]
    confirmed: NotRequired[list[str]]


class SessionShow(Answer):
    """`session show`."""

    session: SessionWithProgress
    workflow: PinnedVersion | None


class Sessions(Page):
    """`session list`."""

    sessions: list[Session]


class OneGroup(Written):
    """A group that was changed."""

    group: Group
    dependents: NotRequired[list[dict[str, Any]]]


class AsOf(TypedDict):
    """The step that an answer about the past speaks of."""

    seq: int
    at: str


class Past(Answer):
    """What answers with --at have."""

    as_of: NotRequired[AsOf]


class GroupShow(Past):
    """`group show`."""

    group: GroupWithAll


class Groups(Page):
    """`group list`."""

    groups: list[ListedGroup]


class OneCriterion(Written):
    """A success criterion that was added or changed."""

    criterion: Criterion


class Criteria(Page):
    """`criterion list`."""

    criteria: list[Criterion]


class Validation(Answer):
    """`validate`; what was recorded is left out in a dry run."""

    verdict: Literal["ACCEPT", "REJECT"]
    reason: str
    checks: list[CheckLine]
    completes: list[str]
    imported: NotRequired[list[str]]
    recorded: bool
    head: str
    session_id: str
    dry_run: bool
    seq: NotRequired[int]
    report_id: NotRequired[str]
    evidence: NotRequired[list[str]]
    decision: NotRequired[Routed]
    repeated: NotRequired[bool]


class OneAgent(Written):
    """An agent that was changed."""

    agent: Agent


class AgentShow(Answer):
    """`agent show`."""

    agent: AgentWithFamily


class Agents(Page):
    """`agent list`."""

    agents: list[Agent]


class AgentTree(Answer):
    """`agent tree`."""

    agents: list[AgentNode]


class WorkflowLoad(Written):
    """`workflow load`."""

    version: Version
    loaded: bool
    activated: bool
    problems: list[Problem]
    what_if: NotRequired[str]


class WorkflowCheck(Answer):
    """`workflow check`, where nothing is wrong."""

    ok: Literal[True]
    source: str
    hash: str | None
    errors: int
    warning_count: int
    problems: list[Problem]
    proof: NotRequired[dict[str, Any]]


class WorkflowShow(Answer):
    """`workflow show`."""

    version: Version
    workflow: dict[str, Any]
    agent_files: list[AgentFile]


class Versions(Page):
    """`workflow versions`."""

    versions: list[Version]


class WorkflowDiff(Answer):
    """`workflow diff`."""

    a: str
    b: str
    changes: list[dict[str, Any]]
    text: str
    rules: list[str]


class WorkflowGraph(Answer):
    """`workflow graph`."""

    format: Literal["mermaid", "dot", "svg"]
    graph: str
    positions: dict[str, list[str]]


class CompletionScript(Answer):
    """`completion`."""

    shell: Literal["bash", "zsh", "fish"]
    script: str


class Status(Past, SessionHead):
    """`status SESSION`."""

    spawns: list[dict[str, Any]]
    questions: list[dict[str, Any]]
    verdict: LastVerdict | None
    validate: ValidatorAwaited | None
    stuck: list[Stuck]
    pending_approval: NotRequired[list[PendingCommand]]
    next: list[str]
    workflow: NotRequired[PinnedVersion | None]
    groups: NotRequired[list[GroupStanding]]
    causes: NotRequired[list[str]]


class Overview(Answer):
    """`status` of all open sessions."""

    sessions: list[SessionHead]


class WhyGroup(Past):
    """`why GROUP`."""

    about: Literal["group"]
    session_id: str
    group_id: str
    status: str
    awaited: Awaited | None
    path: list[Part]
    unmet: list[Part]
    path_valid: bool
    blockers: list[Blocker]
    decisions: list[DecisionRow]
    grandfathered: bool
    import_findings: list[ImportFinding]
    sentences: list[str]


class WhyQuestion(Past):
    """`why QUESTION`."""

    about: Literal["question"]
    session_id: str
    group_id: str | None
    question: dict[str, Any]
    sentences: list[str]


class WhyDecision(Past):
    """`why DECISION`."""

    about: Literal["decision"]
    session_id: str
    group_id: str | None
    decision: DecisionRow
    report: dict[str, Any] | None
    transition: dict[str, Any] | None
    rules: list[Rule]
    consequences: list[Told]
    sentences: list[str]


class Handoff(Answer):
    """`handoff`; over MCP with `start` where the turn was taken."""

    handoff: dict[str, Any]
    hash: str
    verified: bool
    open: bool
    markdown: str
    start: NotRequired[Started]


class Decisions(Page):
    """`audit decisions`."""

    decisions: list[DecisionRow]
    next_until: NotRequired[int]


class Timeline(Page):
    """`audit timeline`."""

    events: list[Event]
    next_until: NotRequired[int]


class Refusals(Page):
    """`audit refusals`."""

    refusals: list[Refusal]
    next_until: NotRequired[int]


class Metadata(Answer):
    """`metadata check`."""

    status: str
    requires_user_review: bool
    review_reason: str | None
    blocker_type: str | None
    blocker_class: str | None
    under_flagged: bool
    over_flagged: bool


class Moved(Answer):
    """`db upgrade` and `db downgrade`."""

    before: int
    after: int
    backup: str | None


class Init(Moved):
    """`init`."""

    agents_registered: list[str]
    loaded: bool
    activated: bool
    version: dict[str, Any]
    problems: list[Problem]
    project: NotRequired[str]
    created: NotRequired[list[str]]


class Install(Answer):
    """`install claude-code`, `install codex`."""

    client: Literal["claude-code", "codex"]
    project: str
    scope: Literal["local", "project"]
    mode: Literal["install", "check", "uninstall"]
    dry_run: bool
    changes: list[FileChange]
    problems: list[InstallProblem]
    limits: list[str]


class Demo(Answer):
    """`demo`."""

    steps: list[dict[str, Any]]
    next: list[str]


class Current(Answer):
    """`db current`."""

    database_version: int
    program_version: int


class Check(Answer):
    """`db check`."""

    ok: bool
    problems: list[Finding]
    repaired: list[str]
    limits: list[str]


class Backup(Answer):
    """`db backup`."""

    backup: str


class Copied(Answer):
    """`db copy`. source: the database that was copied to `db`; heads: by chain, as `audit head` prints them."""

    source: str
    rows: int
    heads: dict[str, str]


class Granted(Answer):
    """`db grant`."""

    role: str
    writes: bool
    statements: list[str]


class LostSteps(TypedDict):
    """What a chain lost: the last step that the backup has of it (0: none), and the newest that there was."""

    session_id: str
    kept_seq: int
    lost_seq: int
    lost_at: str


class Restored(Answer):
    """`db restore`."""

    before: int
    after: int
    replaced: str | None
    lost: list[LostSteps] | None


class Doctor(Answer):
    """`doctor`."""

    ok: bool
    why: str
    facts: dict[str, str | int | None]
    findings: list[Finding]
    limits: list[str]
    variables: dict[str, list[str]]


class Batch(TypedDict):
    """One line of `batch`: the answer or error of its command, with these."""

    op: str | None
    exit_code: int


class DecisionRow(TypedDict):
    """A recorded decision."""

    session_id: str
    seq: int
    part: int
    id: str
    group_id: str | None
    current_agent: str
    response_status: str
    next_agent: str | None
    action: str
    timestamp: str
    report_id: str | None
    cause: str
    rules: list[Rule]
    workflow_version_id: int
    rules_version: int
    handoff_hash: str | None
    reason: str | None
    spawns: list[Spawn]
    awaiting_manager: list[str]
    path: list[Part]


class Told(TypedDict):
    """One thing that a step wrote."""

    what: str
    id: str | None
    group_id: str | None
    text: str


class Event(TypedDict):
    """One step."""

    session_id: str
    seq: int
    kind: str
    actor: str
    channel: str
    at: str
    via: str | None
    called: str | None
    wrote: list[Told]
    text: str


class Refusal(TypedDict):
    """One attempt that a rule turned down."""

    session_id: str
    seq: int
    part: int
    id: str
    door: str
    actor: str | None
    claimed_session: str | None
    group_id: str | None
    role: str | None
    status: str | None
    turn: int | None
    code: str
    detail: str | None
    refused_at: str
