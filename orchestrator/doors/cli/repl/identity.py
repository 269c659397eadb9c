"""Who speaks: a person at the terminal of the loop, or with a token, or nobody of whom that is known.

A terminal proves a person once in the life of a process, until that is not enough any more.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from orchestrator.app.kernel import human
from orchestrator.app.kernel.context import Context
from orchestrator.app.kernel.human import TERMINAL, TOKEN, Credential
from orchestrator.app.people import person_proof
from orchestrator.app.running.run_session import RunSession
from orchestrator.core.suggestions import sentence, suggest

_AGAIN = ("code", "passphrase", "signature", "unsigned", "paused")
"""Faults of somebody at a terminal who may try again."""


class Speaker:
    """Proves the person who writes the lines.

    Args:
        token: the content of a token file, if one was given.
        interactive: whether lines are typed.

    Raises:
        UsageError: USAGE, the token is no text.
    """

    def __init__(self, token: bytes | None, *, interactive: bool) -> None:
        self._interactive = interactive
        self._given = human.credential_of(token) if token is not None else None
        self._known = self._given

    def proof(self, context: Context, act: str) -> Credential:
        """What proves the person who does an act, or why nothing does.

        Args:
            context: of the database in which the act is done.
            act: as it was written, to be shown to the person.
        """
        if self._known is None:
            found = Credential(TERMINAL, fault="no_terminal")
            if self._interactive:
                found = person_proof.at_terminal(context, act)
            if found.fault in _AGAIN:
                return found
            self._known = found
        return self._known

    def forget(self) -> None:
        """Ask once more at the next act; what was known has not been enough."""
        self._known = self._given


_FLAG = "--human-token-file FILE"


def advice(proof: Credential, name: str, rest: str, run: str | None, root: str) -> str:
    """What to type where an act was refused because nothing proves a person.

    Args:
        proof: what was found.
        name, rest: the command, as it was written.
        run: the id of the run that it is about, where that is known.
        root: the project's folder.
    """
    if proof.fault in _AGAIN:
        return f"Type {f'{name} {rest}'.strip()} again, then what it asks for"
    if proof.channel == TOKEN:
        gives = "{} creates a valid token; then /exit, and start with {}"
        return sentence(gives, suggest("human enrol"), _FLAG)
    where = sentence("{} shows how to answer it", suggest("inbox"))
    if run is not None and name != "/respond":
        where = sentence("{}, and there /continue {}", suggest("repl", project=root), run)
    return sentence("{}, at your own terminal; a script starts with {}", where, _FLAG)


@contextlib.contextmanager
def speaking(session: RunSession, proof: Credential) -> Iterator[None]:
    """While this is entered, what the session does is done by the person that the proof proves."""
    session.context.credential = proof
    try:
        yield
    finally:
        session.context.credential = None
