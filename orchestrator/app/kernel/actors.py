"""Who acts: the registered agent that a change names, or the person who proves to be one."""

from __future__ import annotations

from orchestrator.app.kernel import acting, human
from orchestrator.app.kernel.context import Work
from orchestrator.core.suggestions import again
from orchestrator.errors import Refused
from orchestrator.store.reader import Agent


def actor(work: Work, by: str | None) -> Agent:
    """The registered, active actor that a change names.

    Raises:
        Refused: ACTOR_REQUIRED, UNKNOWN_AGENT, NOT_PERMITTED (started for another session or group).
    """
    if work.context.proof is not None:
        human.refuse_bad_token(work)
        by = by or human.speaker(work)
    if not by:
        raise Refused("ACTOR_REQUIRED", "This change needs an actor.", again(by="AGENT"))
    agent: Agent = acting.require_agent(work, by)
    work.actor = work.actor or agent.id
    acting.refuse_outside(work, agent, work.call.group)
    return agent


def named_actor(work: Work, by: str | None, what: str) -> Agent:
    """The actor that a change names which is any agent's to do: a person only where one is proven, the program never.

    Args:
        what: the change, as the beginning of a sentence.

    Raises:
        Refused: as `actor`; HUMAN_REQUIRED, a person's name alone; NOT_PERMITTED, a name of the program itself.
    """
    agent = actor(work, by)
    if agent.kind == "human":
        human.require(work, agent, f"{what} as {agent.id}")
    acting.refuse_program(agent)
    return agent


def person_named(work: Work, by: str | None, what: str) -> Agent:
    """The person who acts: the one that is named, else the token's, else the only one there is; proven by a channel.

    Raises:
        Refused: ACTOR_REQUIRED, UNKNOWN_AGENT, NOT_PERMITTED, HUMAN_REQUIRED.
    """
    from orchestrator.store import next_reader

    agent = actor(work, by or human.speaker(work) or next_reader.only_person(work.context.connection))
    human.require(work, agent, what)
    return agent
