"""Changing the rules of open sessions is a person's to do: what counts as a change, and who may make it."""

from __future__ import annotations

from orchestrator.app.engine import state_changes
from orchestrator.app.kernel import human
from orchestrator.app.kernel.context import Work
from orchestrator.core.suggestions import suggest
from orchestrator.core.workflow import diff
from orchestrator.errors import Refused
from orchestrator.hints import Any
from orchestrator.store import versions
from orchestrator.store.reader import Agent

ASKED_SINCE = 4
"""The first rules version that asks for a person."""
SHOWN = 10
"""How many changes the sentence of a refusal names; its `changes` names all."""
_OPEN = "SELECT id FROM sessions WHERE status <> 'ended' ORDER BY id"


def require_person_to_activate(
    work: Work, agent: Agent, old: int | None, new: diff.Version, source: str
) -> None:
    """Refuse to make a version active that changes the rules while sessions are open, unless a person does it.

    Args:
        old: the active version.
        source: the file of the new one.

    Raises:
        Refused: HUMAN_REQUIRED {changes, sessions}.
    """
    if old is None or not work.asks(ASKED_SINCE):
        return
    found = [str(row[0]) for row in work.context.connection.execute(_OPEN)]
    open_ = work.elsewhere("open sessions", {"count": len(found), "first": found[:SHOWN]} if found else None)
    before = versions.read(work.context.connection, old)
    if agent.kind == "human" or not open_ or before is None:
        return
    more = open_["count"] - len(open_["first"])
    which = ", ".join(open_["first"]) + (f" and {more} more" if more else "")
    _refuse(
        f"Only a person may make this workflow version active while sessions are open ({which}), because its rules"
        f" differ from those of the active version {old}",
        diff.sentences(diff.of_rules(diff.diff(before, new))),
        suggest("workflow load", file=source, by=_person(work)), work,
        sessions=open_["first"],
    )  # fmt: skip


def require_person_to_upgrade(work: Work, agent: Agent, old: int, new: int) -> tuple[str, ...]:
    """Refuse to move a session to a version with other rules, unless a person does it; the rules that differ.

    Raises:
        Refused: HUMAN_REQUIRED {changes}.
    """
    differs = versions.rules_between(work.context.connection, old, new)
    if agent.kind != "human" and work.asks(ASKED_SINCE):
        session = work.step.chain
        _refuse(
            f"Only a person may move session {session} from workflow version {old} to version {new}, because their"
            " rules differ",
            list(differs),
            suggest("session upgrade-workflow", id=session, by=_person(work), reason="TEXT"), work,
        )  # fmt: skip
    return differs


def confirm(work: Work, agent: Agent, hash_: str, reason: str) -> list[str]:
    """A person stands by every change of the session's rules that nobody confirmed so far; what it is, in words.

    Raises:
        Refused: HUMAN_REQUIRED.
    """
    human.require(work, agent, f"Confirming changed rules as {agent.id}")
    open_ = [each for each in versions.moves(work.context.connection, work.step.chain) if each.is_open]
    if open_:
        state_changes.record_change(
            work, versions.CONFIRMED, work.step.chain, hash_, hash_, by=agent.id, reason=reason
        )
    return [each.text() for each in open_]


def _person(work: Work) -> str:
    people = human.people(work.context)
    return people[0] if len(people) == 1 else "PERSON"


def _refuse(what: str, differs: list[str], command: str, work: Work, **more: Any) -> None:
    if not differs:
        return
    message = f"{what}: {_few(differs, '; ')}."
    raise Refused("HUMAN_REQUIRED", message, command, changes=list(differs), **more)


def _few(found: list[str], between: str) -> str:
    left = len(found) - SHOWN
    return between.join(found[:SHOWN]) + (f" and {left} more" if left > 0 else "")
