"""The operations on sessions and groups."""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.app.kernel.requests import (
    AT,
    BY,
    BY_MANAGER,
    GROUP_ID,
    LIMIT,
    REASON,
    REQUEST,
    SESSION,
    SESSION_ID,
    SINCE,
    TEXT,
    THIS_SESSION,
    Place,
    Request,
    argument,
    flag,
    option,
)
from orchestrator.core import lifecycle_table
from orchestrator.hints import Any

TESTING_MODES = ("full", "minimal", "disabled")


class _OfSession(Request):
    """What changes a session, which is called `id`."""

    @property
    def chain(self) -> str:
        """The session itself."""
        return str(self.__dict__["id"])


class _Move(_OfSession, answer="shapes.OneSession", writes=True, persons=True):
    """What moves a session from one status to another."""

    id: str = THIS_SESSION
    by: str | None = BY
    reason: str = REASON
    request_id: str | None = REQUEST


class ShowStatus(
    Request,
    words="status",
    line="Show the state of a session and who is awaited.",
    example="orchestrator status S1 --json",
    use_case="session.status:status",
    answer=("shapes.Status", "shapes.Overview"),
):
    """Show the state of a session: who is awaited, since when, and the commands that continue it. Exit 0 running
    or ended, 2 a person is awaited, 1 stalled.
    """

    session_id: str | None = SESSION._replace(
        default=None, is_found=False, places=(Place("session", "The session (default: a summary of all open ones)."),)
    )
    brief: bool = flag("Do not list the groups.")
    at_seq: int | None = AT


class CreateSession(
    _OfSession,
    words="session create",
    line="Create a session, pinned to the active workflow.",
    example="orchestrator session create S1 --goal 'Ship the login page'",
    use_case="session.sessions:begin",
    prepared_by="session.sessions:create",
    answer="shapes.OneSession",
    writes=True,
):
    """Create a session, pinned to the active workflow version, and call the project manager."""

    id: str = argument("The new session's id.", holds=SESSION_ID)
    kind: str = option(
        "orchestration: planned groups; chat: one group.", default="orchestration", choices=("orchestration", "chat")
    )
    mode: str = option(
        "Groups at a time: simple is one, parallel several.", default="parallel", choices=("simple", "parallel")
    )
    testing_mode: str = option("How much testing is required.", default="full", choices=TESTING_MODES)
    goal: str = option("The goal of the session.", default="", reading=TEXT)
    turn_timeout: int = option(
        "Minutes until an agent is overdue.", default=60, metavar="MINUTES", span=(1, 525600)
    )
    disabled_roles: tuple[str, ...] = option(
        "Run the session without this role. Repeatable.", "--disable-role", default=(), metavar="ROLE"
    )
    by: str = BY_MANAGER
    request_id: str | None = REQUEST

    @classmethod
    def is_alone(cls, asked: Mapping[str, Any]) -> bool:
        """Before its step nothing is looked up."""
        return False


class ListSessions(
    Request,
    words="session list",
    line="List sessions.",
    example="orchestrator session list --all --json",
    use_case="session.session_views:sessions",
    answer="shapes.Sessions",
):
    """List sessions (default: open ones)."""

    all: bool = flag("Include ended sessions.")
    limit: int = LIMIT
    since: str | None = option("Only rows after this id.", default=None, metavar="ID")


class ShowSession(
    Request,
    words="session show",
    example="orchestrator session show S1",
    use_case="session.session_views:session",
    answer="shapes.SessionShow",
):
    """Show a session."""

    id: str = THIS_SESSION


class PauseSession(
    _Move,
    words="session pause",
    line="Pause a session: nobody is started until it resumes.",
    example="orchestrator session pause S1 --by project_manager --reason 'waiting for the release'",
    use_case="session.sessions:pause",
):
    """Pause a session: reports are accepted and decided, but nobody is started."""


class ResumeSession(
    _Move,
    words="session resume",
    line="Resume a paused session.",
    example="orchestrator session resume S1 --by project_manager --reason 'released'",
    use_case="session.sessions:resume",
):
    """Resume a paused session; what was held back is started."""


class EndSession(
    _Move,
    words="session end",
    line="End a session.",
    example="orchestrator session end CHAT-1 --by project_manager --reason 'answered'",
    use_case="session.sessions:end",
):
    """End a session. The project manager may end a chat; only a person may abandon an orchestration."""


class SetTestingMode(
    _OfSession,
    words="session testing-mode",
    example="orchestrator session testing-mode S1 full --by project_manager --reason 'release candidate'",
    use_case="session.sessions:set_testing_mode",
    answer="shapes.OneSession",
    writes=True,
    persons=True,
):
    """Change how much testing a session requires. The project manager may tighten it; only a person may loosen it."""

    id: str = SESSION._replace(places=(Place("session", "The session (or use --session-id)."),))
    mode: str = argument("full, minimal or disabled.", choices=TESTING_MODES)
    by: str | None = BY
    reason: str = REASON
    request_id: str | None = REQUEST


class UpgradeWorkflow(
    _OfSession,
    words="session upgrade-workflow",
    line="Move a session to the active workflow version.",
    example="orchestrator session upgrade-workflow S1 --by user --reason 'new review step'",
    use_case="session.sessions:upgrade_workflow",
    answer="shapes.OneSession",
    writes=True,
    persons=True,
    marked=True,
):
    """Move a session to the active workflow version, unless its open state does not exist there. Only a person may do
    it where the two versions differ in more than texts, models and include_context.
    """

    id: str = THIS_SESSION
    confirm: bool = flag("As a person, only confirm the rule changes that no person has confirmed yet.")
    by: str | None = BY
    reason: str = REASON
    request_id: str | None = REQUEST


class CreateGroup(
    Request,
    words="group create",
    example="orchestrator group create A -s S1 --name 'Login page' --depends-on B",
    use_case="session.groups:create",
    answer="shapes.OneGroup",
    writes=True,
    persons=True,
    marked=True,
):
    """Create a task group."""

    id: str = argument("The new group's id, unique in its session.", holds=GROUP_ID)
    session_id: str = SESSION
    name: str | None = option("Its name.", default=None, reading=TEXT)
    description: str | None = option("What to do; passed to its agents.", default=None, reading=TEXT)
    kind: str = option("What it produces.", default="code", choices=("code", "research"))
    security_sensitive: bool = flag("Only the senior engineer may build it.")
    complexity: int = option("1 to 10; from 7 on the senior engineer builds it.", default=3, span=(1, 10))
    priority: str = option(
        "Priority when slots are free.", default="medium", choices=("urgent", "high", "medium", "low")
    )
    depends_on: tuple[str, ...] = option(
        "A group that must be completed first. Repeatable.", default=(), metavar="GROUP", holds=GROUP_ID
    )
    by: str = BY_MANAGER
    request_id: str | None = REQUEST


class ListGroups(
    Request,
    words="group list",
    example="orchestrator group list -s S1 --status in_progress",
    use_case="session.session_views:groups",
    answer="shapes.Groups",
):
    """List the groups of a session."""

    session_id: str = SESSION
    status: str | None = option(
        "Only groups of this status.", default=None, choices=lifecycle_table.GROUP_STATUSES, is_state=True
    )
    limit: int = LIMIT
    since: int | None = SINCE


class ShowGroup(
    Request,
    words="group show",
    line="Show a group: who is awaited, blockers, completion path.",
    example="orchestrator group show A -s S1 --json",
    use_case="session.session_views:group",
    answer="shapes.GroupShow",
):
    """Show a group: who is awaited, its blockers, and each part of its completion path."""

    id: str = argument("The group.", holds=GROUP_ID)
    session_id: str = SESSION
    at_seq: int | None = AT


class SetGroupStatus(
    Request,
    words="group set-status",
    line="Change the status of a group, within the rules.",
    example="orchestrator group set-status A cancelled -s S1 --by project_manager --reason 'out of scope'",
    use_case="session.group_transitions:set_status",
    answer="shapes.OneGroup",
    writes=True,
    persons=True,
):
    """Change the status of a group, within the rules."""

    id: str = argument("The group.", holds=GROUP_ID)
    status: str = argument("pending, in_progress, completed, deferred_external or cancelled.", is_state=True)
    session_id: str = SESSION
    by: str | None = BY
    reason: str = REASON
    request_id: str | None = REQUEST


class DependGroup(
    Request,
    words="group depend",
    line="Make a group wait for another one.",
    example="orchestrator group depend A --on B -s S1 --by project_manager --reason 'needs its tables'",
    use_case="session.dependencies:depend",
    answer="shapes.OneGroup",
    writes=True,
    persons=True,
):
    """Make a group wait for another group of its session."""

    id: str = argument("The group that waits.", holds=GROUP_ID)
    on: str = option("The group that must be done first.", metavar="GROUP", holds=GROUP_ID)
    session_id: str = SESSION
    by: str = BY._replace(default="project_manager")
    reason: str = REASON
    request_id: str | None = REQUEST


class UndependGroup(
    Request,
    words="group undepend",
    line="Drop a dependency.",
    example="orchestrator group undepend A --on B -s S1 --by project_manager --reason 'B was cancelled'",
    use_case="session.dependencies:undepend",
    answer="shapes.OneGroup",
    writes=True,
    persons=True,
):
    """Drop a dependency on a group that is cancelled or deferred."""

    id: str = argument("The group that waits.", holds=GROUP_ID)
    on: str = option("The group that it no longer waits for.", metavar="GROUP", holds=GROUP_ID)
    session_id: str = SESSION
    by: str | None = BY
    reason: str = REASON
    request_id: str | None = REQUEST
