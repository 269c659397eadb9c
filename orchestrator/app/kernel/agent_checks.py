"""Who acts: only registered, active agents, and those that were started for a session or group in that alone."""

from __future__ import annotations

from orchestrator.app.kernel.context import Context, Work
from orchestrator.core import names
from orchestrator.core.agent_programs import ACTS_FOR as VARIABLE
from orchestrator.core.routing.facts import Group
from orchestrator.core.suggestions import again, suggest
from orchestrator.core.workflow import vocabulary
from orchestrator.errors import Refused
from orchestrator.store.constants import STORE_CHAIN
from orchestrator.store.reader import Agent

ORCHESTRATOR = "orchestrator"


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
            raise Refused("NOT_PERMITTED", what, suggest("agent show", id=given))
        return agent.id
    if group is not None and group.awaited_role == role and group.awaited_agent_id:
        return group.awaited_agent_id if stands else require_agent(work, group.awaited_agent_id).id
    known = work.reader.agent(role)
    if known is None or not known.active:
        raise Refused("ACTOR_REQUIRED", f"No active agent stands for {role}; name one.", again(agent_id="AGENT"))
    return known.id


def require_agent(work: Work | Context, agent_id: str) -> Agent:
    """The registered, active agent.

    Raises:
        Refused: UNKNOWN_AGENT.
    """
    agent = work.reader.agent(agent_id)
    if agent is None or not agent.active:
        what = "is not registered" if agent is None else "is deactivated"
        raise Refused("UNKNOWN_AGENT", f"Agent {agent_id} {what}.", suggest("agent list"))
    return agent


def refuse_program(agent: Agent) -> None:
    """Refuse a name under which the program itself is on record: nobody acts under it.

    Raises:
        Refused: NOT_PERMITTED.
    """
    if agent.kind == "system":
        what = f"{agent.id} is the program itself; nobody acts under its name."
        raise Refused("NOT_PERMITTED", what, suggest("agent list"))


def refuse_other_role(work: Work, said: str, actor: str) -> None:
    """Refuse the act of another role, session or group than the process says that it acts for.

    Args:
        said: `ROLE`, `ROLE@SESSION` or `ROLE@SESSION:GROUP`.
        actor: whose act it is; the program's own acts, and names that are not registered, are judged elsewhere.

    Raises:
        Refused: NOT_PERMITTED.
    """
    role, _, place = said.partition("@")
    session, _, group = place.partition(":")
    agent = work.reader.agent(actor) if actor else None
    claimed = agent.role if agent is not None else names.role_name(work.call.role or role)
    call = work.call
    fits = claimed == role and session in ("", call.chain) and group in ("", call.group or group)
    if fits or (agent is not None and agent.kind == "system") or (claimed == role and call.chain == STORE_CHAIN):
        return
    raise Refused(
        "NOT_PERMITTED",
        f"This process acts for {said} alone ({VARIABLE} says so), not for {actor or claimed} in {call.chain}"
        f"{f':{call.group}' if call.group else ''}.",
        f"Act as {role}, or leave it to whoever runs {actor or claimed}",
    )


def spoken_for(value: str | None) -> str | None:
    """For whom alone a process acts, by the variable's value; None where it says no role, or the orchestrator.

    Args:
        value: `ROLE`, `ROLE@SESSION` or `ROLE@SESSION:GROUP`; anything else only marks an agent's process.
    """
    raw, at, place = (value or "").strip().partition("@")
    role = names.role_name(raw)
    if role not in vocabulary.ROLES or role == ORCHESTRATOR:
        return None
    return f"{role}{at}{place}"


def refuse_outside(work: Work, agent: Agent, group: str | None) -> None:
    """Refuse an agent that was started for another session or group.

    Raises:
        Refused: NOT_PERMITTED.
    """
    if not within(agent, work.step.chain, group):
        where = f"group {agent.group_id} of session" if agent.group_id else "session"
        raise Refused(
            "NOT_PERMITTED", f"Agent {agent.id} acts in {where} {agent.session_id} only.",
            suggest("agent show", id=agent.id),
        )


def within(agent: Agent, chain: str, group: str | None) -> bool:
    """Whether an agent may act there: one that was started for a session or group acts in that alone.

    Args:
        group: the group that is acted for; None where the call names none.
    """
    session_fits = agent.session_id in (None, chain)
    return session_fits and (group is None or agent.group_id in (None, group))
