"""The operations on agents."""

from __future__ import annotations

from orchestrator.app.kernel.requests import (
    AGENT_ID,
    BY,
    BY_MANAGER,
    LIMIT,
    OF_SESSION,
    REASON,
    REQUEST,
    Request,
    argument,
    flag,
    option,
)


class RegisterAgent(
    Request,
    words="agent register",
    example="orchestrator agent register developer-2 --role developer --parent tech_lead",
    use_case="agents.registry:register",
    answer="shapes.OneAgent",
    writes=True,
    persons=True,
):
    """Register an agent under its parent."""

    id: str = argument("The new agent's id.", holds=AGENT_ID)
    role: str = option("Its role.")
    parent: str | None = BY_MANAGER._replace(
        help="The agent it reports to (default: the agent of its role).", default=None
    )
    kind: str = option("ai or human; only a person can register a person.", default="ai", choices=("ai", "human"))
    max_parallel_tasks: int = option("Maximum number of tasks in progress.", default=1, span=(1, 1000))
    by: str = BY_MANAGER
    request_id: str | None = REQUEST


class ListAgents(
    Request,
    words="agent list",
    example="orchestrator agent list --role developer",
    use_case="agents.registry:agents",
    answer="shapes.Agents",
):
    """List agents."""

    session_id: str | None = OF_SESSION
    role: str | None = option("Only agents of this role.", default=None)
    all: bool = flag("Include deactivated agents.")
    limit: int = LIMIT
    since: str | None = option("Only rows after this id.", default=None, metavar="ID")


class ShowAgent(
    Request,
    words="agent show",
    line="Show an agent.",
    example="orchestrator agent show developer",
    use_case="agents.registry:agent",
    answer="shapes.AgentShow",
):
    """Show an agent, its managers and its direct reports."""

    id: str = argument("The agent.", holds=AGENT_ID)


class ShowAgentTree(
    Request,
    words="agent tree",
    example="orchestrator agent tree -s S1",
    use_case="agents.registry:agent_tree",
    answer="shapes.AgentTree",
):
    """Show who reports to whom."""

    session_id: str | None = OF_SESSION
    all: bool = flag("Include deactivated agents.")


class DeactivateAgent(
    Request,
    words="agent deactivate",
    line="Deactivate an agent.",
    example="orchestrator agent deactivate developer-2 --by project_manager --reason 'replaced'",
    use_case="agents.registry:deactivate",
    answer="shapes.OneAgent",
    writes=True,
    persons=True,
):
    """Deactivate an agent: it can no longer act; what it did stays on record."""

    id: str = argument("The agent.", holds=AGENT_ID)
    by: str | None = BY
    reason: str = REASON
    request_id: str | None = REQUEST
