"""The operations on criteria and verdicts."""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.app.kernel.requests import (
    ARRAY,
    BY,
    BY_MANAGER,
    CRITERION_ID,
    GROUP,
    LIMIT,
    REASON,
    REQUEST,
    REQUIRED,
    SESSION,
    SINCE,
    TEXT,
    THIS_SESSION,
    Request,
    argument,
    flag,
    option,
)
from orchestrator.hints import Any

AGENT = "system:validator"
"""Who gives verdicts."""


class AddCriterion(
    Request,
    words="criterion add",
    line="Add a success criterion.",
    example="orchestrator criterion add C1 -s S1 --text 'Tests cover it' --metric coverage --operator ge --target 80",
    use_case="verdict.criteria:add",
    answer="shapes.OneCriterion",
    writes=True,
    persons=True,
    checked_by="verdict.criteria:checked_addition",
):
    """Add a success criterion: in words, measured against a target, or decided by a command's exit status. The first
    plan freezes them: later it is the project manager's, with a reason.
    """

    id: str = argument("The new criterion's id, unique in its session.", holds=CRITERION_ID)
    session_id: str = SESSION
    text: str = option("The criterion, in words.", reading=TEXT)
    metric: str | None = option("The metric; needs --operator and --target.", default=None, metavar="NAME")
    operator: str | None = option(
        "How the value compares to the target.", default=None, choices=("ge", "gt", "le", "lt", "eq")
    )
    target: str | int | None = option("The target, a decimal number.", default=None, metavar="N")
    command: tuple[str, ...] | None = option(
        'A program and its arguments, such as ["pytest", "-q"]; the validator runs it, without a shell.',
        default=None,
        metavar="JSON-ARRAY",
        reading=ARRAY,
    )
    at_status: tuple[str, ...] | None = option(
        "Run the command before a report of this status, such as READY_FOR_QA, is accepted. Repeatable.", "--at",
        default=None, metavar="CODE",
    )  # fmt: skip
    group_id: str | None = GROUP._replace(help="The group it applies to (default: the whole session).")
    by: str = BY_MANAGER
    reason: str | None = REASON._replace(default=None)
    request_id: str | None = REQUEST


class ListCriteria(
    Request,
    words="criterion list",
    example="orchestrator criterion list -s S1",
    use_case="verdict.criteria_views:criteria",
    answer="shapes.Criteria",
):
    """List the success criteria of a session."""

    session_id: str = SESSION
    all: bool = flag("Include removed criteria.")
    limit: int = LIMIT
    since: int | None = SINCE


class SetCriterion(
    Request,
    words="criterion set",
    example="orchestrator criterion set C1 -s S1 --actual 83.5 --by qa_expert --reason 'measured on the merged branch'",
    use_case="verdict.criteria:set_criterion",
    answer="shapes.OneCriterion",
    writes=True,
    persons=True,
    checked_by="verdict.criteria:checked_finding",
):
    """Record the result of a criterion. Criteria decided by a number or a command cannot be set to met by hand."""

    id: str = argument("The criterion.", holds=CRITERION_ID)
    session_id: str = SESSION
    status: str | None = option(
        "Set by the project manager, with a reason.", default=None, choices=("open", "met", "deferred"), is_state=True
    )
    actual: str | int | None = option("The measured value, a decimal number.", default=None, metavar="N")
    evidence: str | None = option(
        "The proof: the id of evidence or of a report, such as S1:R12.", default=None, metavar="ID"
    )
    text: str | None = option("New wording.", default=None, reading=TEXT)
    by: str | None = BY
    reason: str | None = REASON._replace(default=None)
    request_id: str | None = REQUEST


class ApproveCriterion(
    Request,
    words="criterion approve",
    line="Allow the command of a criterion to run, as a person.",
    example="orchestrator criterion approve C1 -s S1 --reason 'it only runs the tests'",
    use_case="verdict.criteria:approve",
    answer="shapes.OneCriterion",
    writes=True,
    persons=True,
):
    """Allow the command of a criterion to run, as a person. A command that came in an agent's report waits for it,
    unless orchestrator.json allows how it begins.
    """

    id: str = argument("The criterion.", holds=CRITERION_ID)
    session_id: str = SESSION
    reason: str | None = REASON._replace(default=None)
    by: str | None = BY
    request_id: str | None = REQUEST


class RemoveCriterion(
    Request,
    words="criterion remove",
    line="Remove a criterion from the scope.",
    example="orchestrator criterion remove C1 -s S1 --by project_manager --reason 'moved to the next release'",
    use_case="verdict.criteria:remove",
    answer="shapes.OneCriterion",
    writes=True,
    persons=True,
):
    """Remove a criterion from the scope; it stays on record, and the verdict lists it."""

    id: str = argument("The criterion.", holds=CRITERION_ID)
    session_id: str = SESSION
    by: str = BY._replace(default=REQUIRED)
    reason: str = option("Why; kept in the record.", reading=TEXT)
    request_id: str | None = REQUEST


class Validate(
    Request,
    words="validate",
    line="Validate a session: ACCEPT or REJECT, with reasons.",
    example="orchestrator validate S1 --json",
    use_case="verdict.verdicts:record",
    prepared_by="verdict.validate_session:validate",
    unrecorded=("run_commands",),
    answer="shapes.Validation",
    writes=True,
):
    """Validate a session against its record: ACCEPT (exit 0) ends it, REJECT (exit 1) sends it back to the project
    manager with the list.
    Runs the criteria's commands in the project's folder. Unless the project manager's last report is BAZINGA,
    this is a dry run (exit 1).
    """

    session_id: str = THIS_SESSION
    dry_run: bool = flag("Record nothing and run no commands.")
    record: bool = flag("Record a verdict even if the project manager's last report is not BAZINGA.")
    run_commands: bool = flag("In a dry run, run the criteria's commands as well.")
    command_timeout: int = option(
        "Timeout of a command in seconds (default: 300).", default=300, metavar="N", span=(1, 86400)
    )
    by: str | None = BY
    request_id: str | None = REQUEST

    @classmethod
    def is_trial(cls, asked: Mapping[str, Any]) -> bool:
        """A verdict is worth knowing where it cannot be recorded."""
        return not asked.get("record")

    @property
    def actor(self) -> str:
        """Who asks; else the validator, whose the verdict is."""
        return self.by or AGENT
