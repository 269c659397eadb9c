"""Who speaks: a person at the terminal of the loop, or with a token, or nobody of whom that is known.

A terminal proves a person by a short code that is shown and typed, once in the life of a process.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

from orchestrator import bootstrap
from orchestrator.app import human
from orchestrator.app.human import TERMINAL, TOKEN, Credential
from orchestrator.core import names
from orchestrator.doors.cli import person
from orchestrator.doors.cli.repl.desk import Desk

_UNPROVEN = "code"
"""The fault of a terminal at which the code was not typed: it may be tried again."""


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
        self._known = human.credential_of(token) if token is not None else None

    def proof(self, act: str) -> Credential:
        """What proves the person who does an act, or why nothing does.

        Args:
            act: as it was written, to be shown with the code.
        """
        if self._known is None:
            found = self._at_terminal(act)
            if found.fault == _UNPROVEN:
                return found
            self._known = found
        return self._known

    def _at_terminal(self, act: str) -> Credential:
        fault = person.unfit(os.environ, sys.stdin, sys.stderr) if self._interactive else "no_terminal"
        if fault is None and bootstrap.is_within_run():
            fault = "executor"
        if fault is None and not person.confirmed(act, sys.stdin, sys.stderr):
            fault = _UNPROVEN
        return Credential(TERMINAL, fault=fault)


_FLAG = "--human-token-file FILE"


def advice(proof: Credential, name: str, rest: str, run: str | None, root: str) -> str:
    """What to type where an act was refused because nothing proves a person.

    Args:
        proof: what was found.
        name, rest: the command, as it was written.
        run: the id of the run that it is about, where that is known.
        root: the project's folder.
    """
    if proof.fault == _UNPROVEN:
        return f"Type {f'{name} {rest}'.strip()} again, and then the code that is shown"
    if proof.channel == TOKEN:
        return f"orchestrator human enrol gives a token that is in force; then /exit, and begin with {_FLAG}"
    where = "orchestrator inbox says how it is answered"
    if run is not None and name != "/respond":
        where = f"orchestrator repl --project {names.word(root)}, and there /continue {run}"
    return f"{where}, at a terminal of your own; a script begins with {_FLAG}"


@contextlib.contextmanager
def speaking(desk: Desk, proof: Credential) -> Iterator[None]:
    """While this is entered, what the desk does is done by the person that the proof proves."""
    desk.context.credential = proof
    try:
        yield
    finally:
        desk.context.credential = None
