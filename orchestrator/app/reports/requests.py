"""The operations on reports and hand-offs."""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.app.kernel.requests import (
    BY,
    GROUP,
    OBJECT_FILE,
    PAIRS,
    REASON,
    REASONS,
    REPORT_PART,
    REQUEST,
    SESSION,
    STEP,
    TEXT,
    Place,
    Request,
    flag,
    hidden,
    option,
)
from orchestrator.hints import Any

_GROUP = GROUP._replace(places=(Place("group", "The group (default: the session itself)."),))


class Route(
    Request,
    words="route",
    line="Report an agent's answer and learn who acts next.",
    example="orchestrator route developer READY_FOR_QA -s S1 -g A --summary 'login works' --json",
    use_case="reports.route_report:report",
    prepared_by="reports.route_report:route",
    unrecorded=("run_commands",),
    answer="shapes.Decision",
    writes=True,
):
    """Report what an agent answered, and learn who acts next."""

    current_agent: str = option("The reporting role.", metavar="ROLE", places=(Place("role", "The reporting role."),))
    status: str = option(
        "The reported status.", metavar="CODE", places=(Place("code", "The reported status.", "STATUS"),)
    )
    session_id: str = SESSION
    group_id: str | None = GROUP
    testing_mode: str | None = option(
        "Repeat or tighten the session's testing mode.", default=None, choices=("full", "minimal", "disabled")
    )
    turn: int | None = option("The turn this report answers.", default=None, span=STEP)
    agent_id: str | None = BY._replace(help="The reporting agent (default: the awaited one).")
    summary: str = option("What was done, in a sentence.", default="", reading=TEXT)
    details: dict[str, Any] | None = option(
        "A JSON object with context for the next agent.", default=None, metavar="JSON", holds=REPORT_PART
    )
    metadata: dict[str, Any] | None = option(
        "A JSON file: how far the agent got, and what stopped it.",
        default=None,
        metavar="FILE",
        holds=REPORT_PART,
        reading=OBJECT_FILE,
    )
    acknowledge: dict[str, str] | None = option(
        "Project manager: accept a group as it is, with a reason. Repeatable.",
        default=None,
        metavar="GROUP=REASON",
        holds=REASONS,
        reading=PAIRS,
    )
    interrupt: bool = flag("Project manager: supersede another role's open turn.")
    dry_run: bool = flag("Show the decision without recording anything.")
    run_commands: bool = flag("Run the commands that are due at this status first; a failing one refuses it.")
    request_id: str | None = REQUEST
    raw_text: str | None = hidden("The agent's whole final message, kept by its hash.", default=None)

    @classmethod
    def is_alone(cls, asked: Mapping[str, Any]) -> bool:
        """Before its step a report is only read; commands are run where it says so."""
        return bool(asked.get("run_commands"))

    @property
    def actor(self) -> str:
        """Who reports; else the role."""
        return self.agent_id or self.current_agent


class ShowHandoff(
    Request,
    words="handoff",
    line="Print the hand-off of a group's awaited agent.",
    example="orchestrator handoff A -s S1 --turn 7",
    use_case="reports.handoffs:handoff",
    answer="shapes.Handoff",
):
    """Print the hand-off of a turn, exactly as it was when the agent was started."""

    group_id: str | None = _GROUP
    session_id: str = SESSION
    turn: int | None = option("The turn (default: the latest).", default=None, span=STEP)


class Redispatch(
    Request,
    words="redispatch",
    line="Start the awaited agent again, under a new turn.",
    example="orchestrator redispatch A -s S1 --reason 'the agent died'",
    use_case="reports.redispatch:redispatch",
    answer="shapes.Decision",
    writes=True,
    persons=True,
):
    """Start the awaited agent of a group again, under a new turn; the old turn becomes stale."""

    group_id: str | None = _GROUP
    session_id: str = SESSION
    by: str = BY._replace(default="orchestrator")
    reason: str = REASON
    request_id: str | None = REQUEST
