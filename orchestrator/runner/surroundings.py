"""What stands around this process, for proving a person: its terminal, its ancestors, and the program `ssh-keygen`.

The one adapter of the port that `orchestrator.app.people.person_proof` describes. Nothing here judges.
"""

from __future__ import annotations

import getpass
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Collection, Iterator

from orchestrator.core.named_tuple import NamedTuple
from orchestrator.hints import IO
from orchestrator.runner import process_table, process_tree, rlimit_tag

MOST = 256
"""Ancestors that are read at most."""
SIGN_S = 120.0
"""Seconds that a person has to confirm a signature or touch a key."""
VERIFY_S = 10.0
KEYGEN = (
    "/usr/bin/ssh-keygen", "/usr/local/bin/ssh-keygen", "/opt/homebrew/bin/ssh-keygen",
    "/run/current-system/sw/bin/ssh-keygen",
)  # fmt: skip
"""Where the program may be. PATH is not searched, since whoever calls could put a program of their own there."""
_IDENTITY = "person"


class Ancestor(NamedTuple):
    """A process above this one.

    name: what the system shows. words: the first words of its command line, since a script shows its interpreter's
    name. variables: the names of the variables that it was started with; what cannot be read is empty.
    """

    name: str
    words: tuple[str, ...]
    variables: frozenset[str]


class Surroundings:
    """The surroundings of this very process."""

    def variables(self) -> Collection[str]:
        """The names of the variables that are set, empty ones as well."""
        return os.environ.keys()

    def is_terminal(self) -> bool:
        """Whether stdin and stderr are terminals."""
        return _is_terminal(sys.stdin) and _is_terminal(sys.stderr)

    def shows_terminal(self) -> bool:
        """Whether stdout is a terminal."""
        return _is_terminal(sys.stdout)

    def ancestors(self) -> Iterator[Ancestor]:
        """The processes above this one, the nearest first, as far as they can be read."""
        if not process_table.tells_variables():
            return
        process = process_table.find(os.getppid())
        for _ in range(MOST):
            if process is None or process.number < 1:
                return
            words = process_table.command_line(process.number).split(b"\0")[:2]
            yield Ancestor(
                process.name, tuple(word.decode("utf-8", "replace") for word in words),
                process_table.variable_names(process.number),
            )  # fmt: skip
            process = process_table.find(process.parent)

    def is_within_run(self, owners: Collection[str]) -> bool:
        """Whether this process was started by what a runner executes.

        Args:
            owners: the processes that run something now, as `owners.mine` tells them.
        """
        return a_run(owners)

    def show(self, text: str) -> None:
        """Write a text to the terminal, as it is."""
        sys.stderr.write(text)
        sys.stderr.flush()

    def read_line(self) -> str:
        """A line that is typed."""
        return sys.stdin.readline()

    def read_hidden(self, prompt: str) -> str | None:
        """A line that is typed without echo; None where the echo cannot be turned off, or nothing is typed."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", getpass.GetPassWarning)
                return getpass.getpass(prompt, sys.stderr)
        except (EOFError, getpass.GetPassWarning):
            return None

    def sign(self, key: str, source: str | None, message: str, namespace: str) -> str | None:
        """The signature of a message by a person's SSH key; None where none came of it.

        Args:
            key: the public key, in one line.
            source: a file of that key, whose private half may lie beside it; an SSH agent is asked in any case.
        """
        with _folder() as folder:
            # With the public key alone `ssh-keygen` asks the SSH agent, so the private key need not be in a file
            # here.
            place = source or _written(folder, "key.pub", key)
            # What it asks for itself (a key's passphrase, a touch) goes to the terminal.
            done = _run(("-Y", "sign", "-q", "-n", namespace, "-f", place), message, SIGN_S, None)
        return None if done is None else done.decode("ascii", "replace")

    def verify(self, key: str, message: str, signature: str, namespace: str) -> bool:
        """Whether a signature of a message is by a key and for a namespace."""
        with _folder() as folder:
            signers = _written(folder, "signers", f'{_IDENTITY} namespaces="{namespace}" {key}')
            signed = _written(folder, "signature", signature)
            words = ("-Y", "verify", "-f", signers, "-I", _IDENTITY, "-n", namespace, "-s", signed)
            done = _run(words, message, VERIFY_S, subprocess.DEVNULL)
        return done is not None


def _is_terminal(stream: IO[str] | None) -> bool:
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="orchestrator-", ignore_cleanup_errors=True)


def _written(folder: str, name: str, text: str) -> str:
    place = os.path.join(folder, name)
    with open(os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
        file.write(f"{text.strip()}\n")
    return place


def keygen() -> str | None:
    """Where `ssh-keygen` is; None where it is not installed."""
    return next((each for each in KEYGEN if os.access(each, os.X_OK)), None)


def _run(
    words: tuple[str, ...], message: str, seconds: float, errors: int | None
) -> bytes | None:
    """What `ssh-keygen` prints about a message; None where there is none, it fails, or it takes too long."""
    program = keygen()
    if program is None:
        return None
    try:
        # Whoever looks for what commands have left behind must not take it for that.
        process, family = process_tree.start(
            lambda: subprocess.Popen(  # noqa: S603
                (program, *words), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors
            ),
            process_tree.token(),
        )
    except (OSError, subprocess.SubprocessError):
        return None
    with process:
        try:
            said = process.communicate(message.encode(), seconds)[0]
            return said if process.returncode == 0 else None
        except subprocess.TimeoutExpired:
            process.kill()
            return None
        finally:
            process_tree.forget(family)


def a_run(owners: Collection[str] = ()) -> bool:
    """Whether this process or one that it descends from was started by an executor.

    Args:
        owners: the processes that run something now, as `owners.mine` tells them; they themselves are no executor's.
    """
    if os.environ.get(process_tree.MARK) or rlimit_tag.of(0) is not None:
        return True
    running = {":".join(owner.split(":")[-2:]) for owner in owners}
    process = process_table.find(os.getpid())
    for _ in range(MOST):
        if process is None or process.number <= 1:
            return False
        if process_table.variable(process.number, process_tree.MARK) or rlimit_tag.of(process.number) is not None:
            return True
        process = process_table.find(process.parent)
        if process is not None and f"{process.number}:{process.started}" in running:
            return True
    return True
