"""Who acts on tasks: the agent that a call names, or who plans them where none is named."""

from __future__ import annotations

from orchestrator.app.kernel import actors, agent_checks, human
from orchestrator.app.kernel.context import Work
from orchestrator.app.task import status_checks
from orchestrator.core.routing.facts import MANAGER, PERSON, VALIDATOR
from orchestrator.store.reader import Agent


def actor(work: Work, by: str | None, group: str | None) -> Agent:
    """The registered, active actor that a change of a task names.

    Args:
        group: the task's group; who was started for another one does not act here.

    Raises:
        Refused: ACTOR_REQUIRED, UNKNOWN_AGENT, NOT_PERMITTED, HUMAN_REQUIRED.
    """
    agent = actors.actor(work, by)
    agent_checks.refuse_outside(work, agent, group)
    status_checks.by_hand(work, agent)
    return agent


def planner(work: Work, by: str | None, group: str | None) -> str:
    """Who plans tasks: whom the call names, else the token's person, else whom the group awaits, else the manager.

    A group that awaits a person or the program itself, whose name proves nothing, leaves it to the manager.

    Raises:
        Refused: UNKNOWN_AGENT, the awaited agent is deactivated; ACTOR_REQUIRED, nobody stands for the role.
    """
    named = by if by is not None else human.speaker(work)
    if named is not None:
        return named
    found = work.group(group) if group is not None else None
    role = found.awaited_role if found is not None else None
    return agent_checks.acting_agent(work, MANAGER if role in (None, PERSON, VALIDATOR) else str(role), found, None)
