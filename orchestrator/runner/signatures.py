"""Signatures by SSH keys as git makes and checks them: by `ssh-keygen -Y`, against a file of allowed signers.

Source: OpenSSH PROTOCOL.sshsig; ssh-keygen(1), ALLOWED SIGNERS.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile

from orchestrator.core.named_tuple import NamedTuple
from orchestrator.runner import commands, surroundings

TIMEOUT_S = 30.0
_GOOD = re.compile(r'^Good ".*" signature (?:for .* )?with \S+ key (SHA256:\S+)', re.MULTILINE)
_ARMOUR = re.compile(r"-----BEGIN SSH SIGNATURE-----\n[A-Za-z0-9+/=\n]+-----END SSH SIGNATURE-----\n?")
_PUBLIC = re.compile(r"(?:ssh-|ecdsa-|sk-)\S+ [A-Za-z0-9+/=]+(?: (.*))?")
_VALIDITY = {"key has expired": "its key had expired when it was made", "not yet valid": "its key was not yet valid"}


class Signed(NamedTuple):
    """What a signature of a text is worth.

    key: the fingerprint of the key that made it; None where it is no signature of this text.
    signer: who the known keys say that is; None where nobody was named.
    why: what is wrong, as a phrase; empty where nothing is.
    """

    key: str | None
    signer: str | None = None
    why: str = ""


def check(text: str, signature: str, namespace: str, known: str | None, at: str) -> Signed:
    """Check a signature.

    Args:
        known: the content of a file of allowed signers, or a public key; None checks only that it fits the text.
        at: the time at which a key must be valid, UTC, ISO 8601.
    """
    if _ARMOUR.fullmatch(signature) is None:
        # Nobody looks at what stands around a signature, so it could be changed unseen (AUD-39).
        return Signed(None, why="it is more or less than one signature")
    program = surroundings.keygen()
    if program is None:
        return Signed(None, why="ssh-keygen is not installed, so it cannot be checked")
    with tempfile.TemporaryDirectory(prefix="orchestrator-") as folder:
        asked = _Asked(program, folder, text, namespace)
        asked.write("signature", signature)
        # First without the known keys, so that a signature of another content is told from one by an unknown key.
        status, said = asked.run("check-novalidate")
        found = _GOOD.search(said)
        if status or found is None:
            return Signed(None, why="the signature is not one of this content")
        if known is None:
            return Signed(found[1])
        public, when = _PUBLIC.fullmatch(known.strip()), re.sub(r"\D", "", at)[:14]
        # A public key alone names no owner, so it is allowed under every name.
        asked.write("signers", f"* {known.strip()}" if public else known)
        told = asked.known(found[1], when)
        return told if told.signer is None or public is None else told._replace(signer=public[1] or found[1])


class _Asked:
    """`ssh-keygen` asked about one signature in a folder of its own."""

    def __init__(self, program: str, folder: str, text: str, namespace: str) -> None:
        self._program = program
        self._folder = folder
        self._text = text.encode("utf-8", "surrogatepass")
        self._namespace = namespace

    def write(self, name: str, text: str) -> None:
        with open(os.path.join(self._folder, name), "w", encoding="utf-8", newline="\n") as file:
            file.write(f"{text.strip()}\n")

    def run(self, act: str, *words: str) -> tuple[int, str]:
        """Its exit status, and what it printed."""
        argv = [self._program, "-Y", act, *words, "-s", "signature"]
        if act != "find-principals":
            argv += ["-n", self._namespace]
        try:
            done = subprocess.run(  # noqa: S603 - an argument list; there is no shell
                argv, cwd=self._folder, input=self._text, env={**commands.environment(os.environ), "LC_ALL": "C"},
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT_S, check=False,
            )  # fmt: skip
        except (OSError, subprocess.SubprocessError):
            return 1, ""
        return done.returncode, done.stdout.decode("utf-8", "replace")

    def known(self, key: str, at: str) -> Signed:
        """Whose key it is, by the known ones that are valid at a time."""
        when = f"-Overify-time={at}Z"
        status, said = self.run("find-principals", "-f", "signers", when)
        if status:
            why = next((why for sign, why in _VALIDITY.items() if sign in said), "its key is not among the known ones")
            return Signed(key, why=f"{why} ({key})")
        for line in said.splitlines():
            # A pattern such as *@example.com is the name of none in particular, and matches itself.
            for signer in line.split(","):
                if self.run("verify", "-f", "signers", "-I", signer, when)[0] == 0:
                    return Signed(key, signer)
        return Signed(key, why=f"the known keys do not allow it to sign certificates ({key})")
