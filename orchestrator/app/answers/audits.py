"""The shapes of what `audit` answers about blockers, gaps, numbers and questions in SQL."""

from __future__ import annotations

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from orchestrator.app.answers.parts import Blocker
from orchestrator.app.answers.shapes import Answer, Page

Kind = Literal[
    "missing_step", "report_without_decision", "decision_without_report", "decision_not_of_report",
    "decision_without_rule", "spawn_without_decision", "spawn_without_report", "move_without_cause",
    "completion_without_path", "deferral_without_blocker", "resolution_without_right", "answer_without_person",
    "acknowledgement_without_report", "acceptance_without_verdict", "setting_without_change", "change_without_right",
    "external_without_guidance", "dependency_dropped_without_call", "verdict_without_ground",
    "plan_not_as_reported",
]
BlockerRow = TypedDict(
    "BlockerRow",
    {
        "class": Literal["soft", "hard"],
        "opened_role": str | None,
        "opened_seq": int,
        "report_id": str | None,
        "cause": str,
        "external_by": str | None,
        "external_seq": int | None,
        "resolved_seq": int | None,
        "resolved_role": str | None,
        "resolution_note": str | None,
        "seq": int,
        "status": Literal["open", "resolved"],
        "open_seconds": int | None,
    },
)
"""What a list of blockers adds to a blocker: how it was opened and resolved, and for how many seconds it stood."""


class BlockerLine(Blocker, BlockerRow):
    """A blocker, and how long it stands or stood."""


class Blockers(Page):
    """`audit blockers`."""

    blockers: list[BlockerLine]
    measured_at: str
    next_until: NotRequired[int]


class GapRow(TypedDict):
    """Something that does not hold between the rows of the record."""

    kind: Kind
    seq: int
    subject: str
    group_id: str | None
    role: str | None
    agent_id: str | None
    status: str | None
    text: str


class Gaps(Page):
    """`audit gaps`."""

    gaps: list[GapRow]
    next_until: NotRequired[int]


class Usage(TypedDict):
    """What reports say they used."""

    reports: int
    input_tokens: int
    output_tokens: int


class RoleNumbers(TypedDict):
    """A role in numbers; seconds are those of its turns."""

    role: str
    reports: int
    statuses: dict[str, int]
    turns: int
    open_turns: int
    seconds: int
    usage: Usage


class AgentNumbers(TypedDict):
    """An agent's reports."""

    role: str
    agent_id: str
    reports: int
    statuses: dict[str, int]


class Rework(TypedDict):
    """How much of what was judged came back; the rate is a decimal text."""

    judged: int
    returned: int
    rate: str | None
    by_effect: dict[str, int]
    groups: int


class Escalations(TypedDict):
    """What went higher, and why."""

    total: int
    after_failures: int
    iteration_budget: int
    loop_guard: int
    reported: int


class Refused(TypedDict):
    """What was refused."""

    total: int
    by_code: dict[str, int]


class Tasks(TypedDict):
    """Tasks in numbers."""

    created: int
    moved: dict[str, int]
    taken_over: int


class Questions(TypedDict):
    """What a person was asked; seconds are those until the answers."""

    asked: int
    open: int
    seconds: int


class DrivenUse(TypedDict):
    """What executors used in driven turns."""

    runs: int
    seconds: int
    input_tokens: int
    output_tokens: int
    cost_usd: str


class DrivenPart(DrivenUse):
    """The same of one role in one group."""

    role: str
    group_id: str | None


class Driven(DrivenUse):
    """The same of all, and of each role in each group."""

    by_role_and_group: list[DrivenPart]


class StartsPart(TypedDict):
    """The agents of one role in one group that were started in one way."""

    role: str
    group_id: str | None
    via: Literal["hook", "mcp", "drive"]
    starts: int
    outcomes: dict[str, int]
    seconds: int
    input_tokens: int
    output_tokens: int
    cost_usd: str


class Starts(TypedDict):
    """The agents that were started, and how long they were at work."""

    starts: int
    seconds: int
    input_tokens: int
    output_tokens: int
    cost_usd: str
    by_role_and_group: list[StartsPart]


class Numbers(TypedDict):
    """A session, or one group of it, in numbers."""

    session_id: str
    group_id: str | None
    since: int | None
    until: int | None
    measured_at: str
    reports: int
    roles: list[RoleNumbers]
    agents: list[AgentNumbers]
    rework: Rework
    escalations: Escalations
    loop_guard: int
    rules: dict[str, int]
    refusals: Refused
    questions: Questions
    tasks: Tasks
    usage: Usage
    driven: Driven
    starts: Starts


class Stats(Answer):
    """`audit stats`."""

    stats: Numbers


class Query(Answer):
    """`audit query`; each row has a value for each column."""

    columns: list[str]
    rows: list[list[int | float | str | None]]
    has_more: bool


class VerifyFinding(TypedDict):
    """Something that is not as the record says; without a step or table where it is about none."""

    code: str
    session_id: str | None
    seq: int | None
    table: str | None
    subject: str
    message: str
    suggestion: str


class VerifyNote(TypedDict):
    """A repair of the guards, which every later verification mentions."""

    seq: int
    message: str


class Verify(Answer):
    """`audit verify`."""

    ok: bool
    session_id: str | None
    since: int | None
    head: str | None
    chains: int
    events: int
    rows: int
    findings: list[VerifyFinding]
    counts: dict[str, int]
    total: int
    has_more: bool
    notes: list[VerifyNote]


class Head(TypedDict):
    """The newest step of a chain, and how `audit verify --head` takes it."""

    session_id: str
    seq: int
    hash: str
    head: str


class Heads(Answer):
    """`audit head`."""

    heads: list[Head]


class LaneBar(TypedDict):
    """A turn of a lane, and what was reported on it."""

    turn: int | None
    role: str
    agent_id: str | None
    start: str
    end: str | None
    state: Literal["open", "done", "replaced"]
    rework: bool
    report_id: str | None
    response_status: str | None
    effect: str | None
    summary: str | None
    decision_id: str | None
    next_agent: str | None
    action: str | None


class LanePause(TypedDict):
    """A question to a person."""

    id: str
    kind: str
    text: str
    start: str
    end: str | None


LaneBlock = TypedDict(
    "LaneBlock", {"id": str, "type": str, "class": str, "reason": str, "start": str, "end": str | None}
)
"""A blocker of a lane's group."""


class Lane(TypedDict):
    """The turns of a group over time; that of the session itself has no group."""

    group_id: str | None
    name: str
    status: str
    held: str | None
    bars: list[LaneBar]
    pauses: list[LanePause]
    blocks: list[LaneBlock]


class Lanes(Page):
    """`audit timeline --lanes`."""

    session_id: str
    start: str
    end: str
    ended: bool
    without_steps: int
    lanes: list[Lane]
