"""Who acts: the registered agent that a change names, or the person who proves to be one."""

from __future__ import annotations

from collections.abc import Callable

from orchestrator.app.kernel import agent_checks, human
from orchestrator.app.kernel.context import Work
from orchestrator.core import names
from orchestrator.core.suggestions import Argument, again, sentence, suggestions
from orchestrator.errors import Refused
from orchestrator.hints import TypeVar
from orchestrator.store.reader import Agent

T = TypeVar("T")
_MISSING = ("ACTOR_REQUIRED", "REASON_REQUIRED", "HUMAN_REQUIRED")
"""Refusals of a call that lacks something; one that lacks several things is told of all of them at once."""


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
    agent: Agent = agent_checks.require_agent(work, by)
    work.actor = work.actor or agent.id
    agent_checks.refuse_outside(work, agent, work.call.group)
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
    agent_checks.refuse_program(agent)
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


def reason(given: str | None, what: str) -> str:
    """The reason of a change that needs one.

    Args:
        what: the change, as the beginning of a sentence: `Ending a session`.

    Raises:
        Refused: REASON_REQUIRED.
    """
    said = names.said(given)
    if not said:
        raise Refused("REASON_REQUIRED", f"{what} needs a reason.", again(reason="TEXT"))
    return said


def first_of(work: Work, check: Callable[[], T], *others: Callable[[], object]) -> T:
    """Make a check; where the call lacks what it asks for, say at once what else the call lacks.

    Args:
        others: checks that come later, made here only to be named.

    Raises:
        Refused: the refusal of `check`. Where others refuse as well they are all in its `problems`, and its suggestion
            covers all.
    """
    try:
        return check()
    except Refused as first:
        if first.code not in _MISSING:
            raise
        # What a later check finds out about the caller is no part of the record of this refusal.
        spoken = work.context.spoken
        refusals = [first, *(found for each in others if (found := _lacking(each)) is not None)]
        work.context.spoken = spoken
        raise _combined(refusals) from None


def _lacking(check: Callable[[], object]) -> Refused | None:
    try:
        check()
    except Refused as refusal:
        return refusal if refusal.code in _MISSING else None
    return None


def _combined(refusals: list[Refused]) -> Refused:
    """The first of some refusals, which names what the others say."""
    first = refusals[0]
    if len(refusals) > 1:
        first.data["problems"] = [{"id": each.code, "message": each.message} for each in refusals]
        given: dict[str, Argument] = {}
        for each in refusals:
            for part in suggestions(each.suggestion):
                given.update({} if part.operation else part.arguments)
        others = [each.suggestion for each in refusals if not _is_repeat(each.suggestion)]
        if others and "by" in given:
            given["by"] = "PERSON"
        first.suggestion = sentence(". ".join(["{}"] * (len(others) + 1)), again(**given), *others)
    return first


def _is_repeat(suggestion: str) -> bool:
    """Whether it says only with which arguments the call is repeated."""
    found = suggestions(suggestion)
    return bool(found) and not any(each.operation for each in found)
