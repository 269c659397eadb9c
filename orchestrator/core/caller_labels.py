"""Who came, and by what a caller over HTTP was let in: as the record has it, and as people read it."""

from __future__ import annotations

from orchestrator.core import names

SERVER_TOKEN = "the server's token"  # noqa: S105 - the name of a way
_PAGE, _TOKEN = "a page of ", "the token of "


def page_of(person: str) -> str:
    """A page that a person opened by the one-time link."""
    return f"{_PAGE}{person}"


def token_of(person: str) -> str:
    """The token that a person was enrolled with."""
    return f"{_TOKEN}{person}"


def told(way: str, actor: str | None) -> str:
    """The end of a sentence about a step: for whom it was done, and by what they were let in.

    Args:
        way: as the step's event has it.
        actor: who did the step; where that is the person, only the way is said.
    """
    for start, by in ((_PAGE, "on a page"), (_TOKEN, "with their token")):
        if way.startswith(start):
            person = way.removeprefix(start)
            return f", {by}" if person == actor else f", for {person} {by}"
    return f", for a script with {way}"


def tried(actor: str | None, role: str | None) -> str:
    """Who tried something, and as whom where that is not plain from their name: `bob as project_manager`.

    Args:
        actor: who called, as they named themselves.
        role: the role that they claimed to report in, if any.
    """
    if not actor or not role:
        return actor or role or "somebody"
    # The instance of a role has the role's name before the `@`; short names of roles are names of the role.
    plain = role == actor or role == names.role_name(actor.partition("@")[0])
    return actor if plain else f"{actor} as {role}"
