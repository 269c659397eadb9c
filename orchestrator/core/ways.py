"""By what a caller over HTTP was let in: as the record has it, and as people read it."""

from __future__ import annotations

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
