"""Who acts: only registered, active agents, and those that were started for a session or group in that alone."""

from __future__ import annotations

from orchestrator.app.context import Context, Work
from orchestrator.core.routing.facts import Group
from orchestrator.errors import Refused
from orchestrator.store.reader import Agent


def acting_agent(work: Work, role: str, group: Group | None, given: str | None, *, stands: bool = False) -> str:
    """Who reports: the agent that the call names, else the awaited instance, else the agent whose id is the role.

    Args:
        stands: whether the awaited instance is known to be registered and active.

    Raises:
        Refused: UNKNOWN_AGENT, NOT_PERMITTED (the agent has another role, session or group), ACTOR_REQUIRED.
    """
    if given is not None:
        agent = require_agent(work, given)
        refuse_outside(work, agent, group and group.id)
        if agent.role != role:
            what = f"Agent {given} is {agent.role}, not {role}."
            raise Refused("NOT_PERMITTED", what, f"orchestrator agent show {given}")
        return agent.id
    if group is not None and group.awaited_role == role and group.awaited_agent_id:
        return group.awaited_agent_id if stands else require_agent(work, group.awaited_agent_id).id
    known = work.reader.agent(role)
    if known is None or not known.active:
        raise Refused("ACTOR_REQUIRED", f"No active agent stands for {role}; name one.", "Repeat with --agent-id AGENT")
    return known.id


def require_agent(work: Work | Context, agent_id: str) -> Agent:
    """The registered, active agent.

    Raises:
        Refused: UNKNOWN_AGENT.
    """
    agent = work.reader.agent(agent_id)
    if agent is None or not agent.active:
        what = "is not registered" if agent is None else "is deactivated"
        raise Refused("UNKNOWN_AGENT", f"Agent {agent_id} {what}.", "orchestrator agent list")
    return agent


def refuse_program(agent: Agent) -> None:
    """Refuse a name under which the program itself is on record: nobody acts under it.

    Raises:
        Refused: NOT_PERMITTED.
    """
    if agent.kind == "system":
        what = f"{agent.id} is the program itself; nobody acts under its name."
        raise Refused("NOT_PERMITTED", what, "orchestrator agent list")


def refuse_outside(work: Work, agent: Agent, group: str | None) -> None:
    """Refuse an agent that was started for another session or group.

    Raises:
        Refused: NOT_PERMITTED.
    """
    if not within(agent, work.step.chain, group):
        where = f"group {agent.group_id} of session" if agent.group_id else "session"
        raise Refused(
            "NOT_PERMITTED", f"Agent {agent.id} acts in {where} {agent.session_id} only.",
            f"orchestrator agent show {agent.id}",
        )


def within(agent: Agent, chain: str, group: str | None) -> bool:
    """Whether an agent may act there: one that was started for a session or group acts in that alone.

    Args:
        group: the group that is acted for; None where the call names none.
    """
    session_fits = agent.session_id in (None, chain)
    return session_fits and (group is None or agent.group_id in (None, group))
