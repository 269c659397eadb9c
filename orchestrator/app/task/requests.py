"""The operations on tasks, claims and blockers."""

from __future__ import annotations

from orchestrator.app.kernel.requests import (
    AGENT_ID,
    AT,
    BY,
    BY_MANAGER,
    GROUP,
    LIMIT,
    REASON,
    REQUEST,
    SESSION,
    SINCE,
    TASK_ID,
    TEXT,
    VERSION,
    Request,
    argument,
    flag,
    option,
)
from orchestrator.core import blockers, lifecycle_table, task_types


class AskNext(
    Request,
    words="next",
    line="Show an agent's next action, or how a session continues.",
    example="orchestrator next --agent-id developer -s S1 --json",
    use_case="task.answer_next:next_action",
    answer=("next_actions.NextAction", "next_actions.Postflight"),
):
    """Show what an agent does next; without an agent, the commands that continue a session. Exit 2 when the
    session waits for a person.
    """

    agent_id: str | None = option(
        "The agent that asks.", "--agent-id", "-a", default=None, metavar="AGENT", holds=AGENT_ID
    )
    task: str | None = option("The task (default: the agent's own).", default=None, metavar="ID", holds=TASK_ID)
    session_id: str = SESSION
    group_id: str | None = GROUP._replace(help="Only this group (without --agent-id).")


class CreateTask(
    Request,
    words="task create",
    example="orchestrator task create T1 --title 'Login form' -s S1 -g A --assignee developer --depends-on T0",
    use_case="task.tasks:create",
    answer="tasks.OneTask",
    writes=True,
    persons=True,
    checked_by="task.tasks:checked_new",
):
    """Create a task."""

    id: str = argument("The new task's id, unique in its session.", holds=TASK_ID)
    title: str = option("Title, in one line.", reading=TEXT)
    description: str = option("Description of the work.", default="", reading=TEXT)
    session_id: str = SESSION
    group_id: str | None = GROUP
    parent: str | None = option("The parent task.", default=None, metavar="ID", holds=TASK_ID)
    assignee: str | None = BY_MANAGER._replace(
        help="The assignee (default: unassigned until an agent starts it).", default=None
    )
    priority: str = option(
        "Priority of the task.", default="medium", choices=("urgent", "high", "medium", "low")
    )
    type: str = option("Type of the work.", default="IMPLEMENTATION", choices=task_types.TYPES)
    status: str = option(
        "Initial status; blocked needs a reason.",
        default="todo",
        choices=("backlog", "todo", "blocked"),
        is_state=True,
    )
    depends_on: tuple[str, ...] = option(
        "A task that must be done first. Repeatable.", default=(), metavar="ID", holds=TASK_ID
    )
    auto_unblock: bool = flag("Block it while dependencies are open, and unblock it when the last one is done.")
    by: str | None = BY._replace(
        help="The acting agent (default: the awaited agent of the task's group, else project_manager)."
    )
    reason: str = REASON
    request_id: str | None = REQUEST


class SetTaskStatus(
    Request,
    words="task set-status",
    line="Change the status of a task, within the rules.",
    example="orchestrator task set-status T1 blocked -s S1 --by developer --reason 'no test data'",
    use_case="task.tasks:set_status",
    answer="tasks.OneTask",
    writes=True,
    persons=True,
    checked_by="task.tasks:checked_status",
):
    """Change the status of a task, within the rules."""

    id: str = argument("The task.", holds=TASK_ID)
    status: str = argument("backlog, todo, in_progress, blocked, done or cancelled.", is_state=True)
    session_id: str = SESSION
    blocker_type: str | None = option(
        "Type of the blocker, with status blocked (default: manual).",
        default=None,
        choices=(*blockers.TYPES, *blockers.SYNONYMS),
    )
    expect_version: int | None = option(
        "Reject the call if the task has another version.", default=None, metavar="N", span=VERSION
    )
    claim_token: str | None = option("The token of the claim on the task.", default=None, metavar="TOKEN")
    by: str | None = BY
    reason: str = REASON
    request_id: str | None = REQUEST


class TaskStatus(
    SetTaskStatus,
    words="task status",
    event="task set-status",
    example="orchestrator task status T1 done -s S1 --by developer",
):
    """The same as task set-status."""


class DependTask(
    Request,
    words="task depend",
    line="Make a task wait for another one.",
    example="orchestrator task depend T2 --on T1 -s S1 --by developer",
    use_case="task.task_dependencies:depend",
    answer="tasks.OneTask",
    writes=True,
    persons=True,
):
    """Make a task wait for another task of its session."""

    id: str = argument("The task that waits.", holds=TASK_ID)
    on: str = option("The task it waits for.", metavar="ID", holds=TASK_ID)
    session_id: str = SESSION
    auto_unblock: bool = flag("Block it while dependencies are open, and unblock it when the last one is done.")
    by: str | None = BY._replace(
        help="The acting agent (default: the awaited agent of the task's group, else project_manager)."
    )
    reason: str = REASON
    request_id: str | None = REQUEST


class UndependTask(
    Request,
    words="task undepend",
    example="orchestrator task undepend T2 --on T1 -s S1 --by developer --reason 'T1 was cancelled'",
    use_case="task.task_dependencies:undepend",
    answer="tasks.OneTask",
    writes=True,
    persons=True,
):
    """Drop a dependency of a task."""

    id: str = argument("The task that waits.", holds=TASK_ID)
    on: str = option("The task it waits for.", metavar="ID", holds=TASK_ID)
    session_id: str = SESSION
    by: str | None = BY._replace(
        help="The acting agent (default: the awaited agent of the task's group, else project_manager)."
    )
    reason: str = REASON
    request_id: str | None = REQUEST


class ListTasks(
    Request,
    words="task list",
    example="orchestrator task list -s S1 -g A --status blocked",
    use_case="task.task_views:tasks_of",
    answer="tasks.Tasks",
):
    """List the tasks of a session."""

    session_id: str = SESSION
    group_id: str | None = GROUP
    status: str | None = option(
        "Only tasks of this status.", default=None, choices=lifecycle_table.TASK_STATUSES, is_state=True
    )
    assignee: str | None = BY_MANAGER._replace(help="Only tasks assigned to this agent.", default=None)
    parent: str | None = option("Only the direct subtasks of this task.", default=None, metavar="ID", holds=TASK_ID)
    limit: int = LIMIT
    since: int | None = SINCE


class ShowTask(
    Request,
    words="task show",
    line="Show a task: what it waits for, blockers, subtasks.",
    example="orchestrator task show T1 -s S1 --json",
    use_case="task.task_views:task",
    answer="tasks.TaskShow",
):
    """Show a task: what it waits for, what blocks it, its subtasks."""

    id: str = argument("The task.", holds=TASK_ID)
    session_id: str = SESSION
    at_seq: int | None = AT


class ClaimTask(
    Request,
    words="task claim",
    line="Pick a task and claim it, in one step.",
    example="orchestrator task claim T1 -s S1 --agent-id developer --lease 900",
    use_case="task.claims:claim",
    answer="next_actions.Claimed",
    writes=True,
):
    """Pick a task and claim it in one step; of several callers exactly one gets it. Exit 1 if there is nothing to
    claim.
    """

    id: str | None = argument("The task (default: the one `next` offers).", default=None, holds=TASK_ID)
    agent_id: str = option("The claiming agent.", "--agent-id", "--by", "-a", metavar="AGENT", holds=AGENT_ID)
    lease: int = option(
        "Seconds until other agents may take over the task.", default=900, metavar="SECONDS", span=(1, 604800)
    )
    claim_token: str | None = option("The token returned by the claim.", default=None, metavar="TOKEN")
    session_id: str = SESSION
    request_id: str | None = REQUEST

    @property
    def actor(self) -> str:
        """The claiming agent."""
        return self.agent_id


class HeartbeatTask(
    Request,
    words="task heartbeat",
    line="Send a heartbeat to renew a lease.",
    example="orchestrator task heartbeat T1 -s S1 --by developer --claim-token S1:C12",
    use_case="task.claims:heartbeat",
    answer="next_actions.Claimed",
    writes=True,
):
    """Send a heartbeat: renew the lease of a claim."""

    id: str = argument("The task.", holds=TASK_ID)
    by: str | None = option(
        "The holder of the claim (default: the holder of the token).",
        "--by",
        "--agent-id",
        default=None,
        metavar="AGENT",
        holds=AGENT_ID,
    )
    claim_token: str | None = option("The token returned by the claim.", default=None, metavar="TOKEN")
    lease: int | None = option(
        "Seconds until other agents may take over the task.", default=None, metavar="SECONDS", span=(1, 604800)
    )
    session_id: str = SESSION
    request_id: str | None = REQUEST


class ReleaseTask(
    Request,
    words="task release",
    line="Release a task, or take it from an agent that is gone.",
    example="orchestrator task release T1 -s S1 --by developer --claim-token S1:C12",
    use_case="task.claims:release",
    answer="next_actions.Claimed",
    writes=True,
):
    """Release a task, or free it from an agent that is gone; it becomes todo again. Without the token, a manager
    releases a claimed task, with a reason unless the lease has expired.
    """

    id: str = argument("The task.", holds=TASK_ID)
    by: str | None = option(
        "The holder of the task, or an agent above the holder (default: the holder of the token).",
        "--by",
        "--agent-id",
        default=None,
        metavar="AGENT",
        holds=AGENT_ID,
    )
    claim_token: str | None = option("The token returned by the claim.", default=None, metavar="TOKEN")
    reason: str = REASON
    expect_version: int | None = option(
        "Reject the call if the task has another version.", default=None, metavar="N", span=VERSION
    )
    session_id: str = SESSION
    request_id: str | None = REQUEST


class ListBlockers(
    Request,
    words="blocker list",
    example="orchestrator blocker list -s S1 -g A --open",
    use_case="task.blockers:blockers_of",
    answer="tasks.Blockers",
):
    """List the blockers of a session."""

    session_id: str = SESSION
    group_id: str | None = GROUP
    task: str | None = option("Only those of this task.", default=None, metavar="ID", holds=TASK_ID)
    open: bool = flag("Only those that are not resolved.")
    limit: int = LIMIT
    since: int | None = SINCE


class ShowBlocker(
    Request,
    words="blocker show",
    line="Show a blocker.",
    example="orchestrator blocker show S1:B12 -s S1",
    use_case="task.blockers:blocker",
    answer="tasks.OneBlocker",
):
    """Show a blocker: who opened it, when and why, and what became of it."""

    id: str = argument("The blocker.")
    session_id: str = SESSION


class ResolveBlocker(
    Request,
    words="blocker resolve",
    example="orchestrator blocker resolve S1:B12 -s S1 --by developer --reason 'the file is there now'",
    use_case="task.blockers:resolve",
    answer="tasks.Resolved",
    writes=True,
    persons=True,
):
    """Resolve a blocker that you may lift."""

    id: str = argument("The blocker.")
    session_id: str = SESSION
    by: str | None = BY
    reason: str = REASON
    request_id: str | None = REQUEST
