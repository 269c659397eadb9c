"""A person at a terminal, played through the port that the program has for what stands around a process."""

from __future__ import annotations

import contextlib
import pathlib
import re
import subprocess
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from orchestrator.app.kernel.context import Context
from orchestrator.app.people import person_proof
from orchestrator.runner.surroundings import Surroundings

CODE = re.compile(r"Type ([A-Z0-9]+) to confirm")


class Above(NamedTuple):
    """A process above the one that is played."""

    name: str = "bash"
    words: tuple[str, ...] = ()
    variables: frozenset[str] = frozenset()


class Played:
    """What stands around a process that is played.

    Args:
        variables: the names of those that are set.
        terminal: whether there is one.
        above: the processes above.
        within: whether an executor has started this.
        types: makes the line that is typed of the code that is shown.
        secrets: what is typed without echo, one after the other; nothing where no more is left.
        signs: whether somebody confirms a signature.
    """

    def __init__(
        self, *, variables: Collection[str] = (), terminal: bool = True, above: Sequence[Above] = (),
        within: bool = False, types: Callable[[str], str] = lambda code: code, secrets: Iterable[str] = (),
        signs: bool = True,
    ) -> None:
        self._variables, self._terminal, self._above, self._within = variables, terminal, above, within
        self._types, self._signs = types, signs
        self.secrets = list(secrets)
        self.shown: list[str] = []
        self._real = Surroundings()

    def variables(self) -> Collection[str]:
        return self._variables

    def is_terminal(self) -> bool:
        return self._terminal

    def shows_terminal(self) -> bool:
        return self._terminal

    def ancestors(self) -> Iterable[Above]:
        return self._above

    def is_within_run(self, owners: Collection[str]) -> bool:
        return self._within

    def show(self, text: str) -> None:
        self.shown.append(text)

    def read_line(self) -> str:
        found = CODE.search("".join(self.shown[-1:]))
        return f"{self._types(found[1])}\n" if found else "\n"

    def read_hidden(self, prompt: str) -> str | None:
        self.shown.append(prompt)
        return self.secrets.pop(0) if self.secrets else None

    def sign(self, key: str, source: str | None, message: str, namespace: str) -> str | None:
        self.shown.append(message)
        return self._real.sign(key, source, message, namespace) if self._signs else None

    def verify(self, key: str, message: str, signature: str, namespace: str) -> bool:
        return self._real.verify(key, message, signature, namespace)


def sit(context: Context, **around: Any) -> Played:
    """Let the next calls on a context come from somebody at a terminal, proven as a command proves it."""
    context.surroundings = played = Played(**around)
    context.credential = person_proof.at_terminal(context, "a test")
    return played


@contextlib.contextmanager
def seated(context: Context, **around: Any) -> Iterator[Played]:
    """The same for the calls inside."""
    try:
        yield sit(context, **around)
    finally:
        context.credential = None


def key(folder: pathlib.Path, name: str = "key") -> pathlib.Path:
    """A new SSH key without a passphrase of its own; its public half."""
    file = folder / name
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(file)], check=True)
    return file.with_suffix(".pub")
