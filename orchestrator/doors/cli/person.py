"""A person at a terminal: shown a short code, who types it. Scripts and agents do not get this far."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import IO, Any

from orchestrator import bootstrap
from orchestrator.app import human
from orchestrator.app.context import Context
from orchestrator.app.human import TERMINAL, Credential

AGENT_VARIABLES = ("CLAUDECODE", "ORCHESTRATOR_AGENT")
"""Where one of these is set, an agent types, whatever the terminal looks like."""
_LETTERS = "ABCDEFGHJKMNPQRSTVWXYZ23456789"
_LENGTH = 5


def credential(context: Context, words: str, bound: dict[str, Any], token: bytes | None) -> Credential | None:
    """What proves a person behind a call: the token that it came with, else a terminal, where a person is wanted.

    Args:
        words: the operation.
        bound: its parameters.
        token: the content of the token file, if one was given.

    Returns:
        None where nobody asks for a person; a credential with a fault where one is wanted and none is there.
    """
    if token is not None:
        return human.credential_of(token)
    if not human.wanted(context, words, bound):
        return None
    fault = unfit(os.environ, sys.stdin, sys.stderr)
    if fault is None and bootstrap.is_within_run(context):
        fault = "executor"
    if fault is None and words == "answer":
        from orchestrator.app import answering

        # Nobody is asked to prove anything for what cannot be done.
        answering.look(context, bound["id"], bound["decision"], bound.get("note") or "")
    if fault is None and not confirmed(_act(words, bound), sys.stdin, sys.stderr):
        fault = "code"
    return Credential(TERMINAL, fault=fault)


def unfit(environment: Mapping[str, str], source: IO[str] | None, sink: IO[str] | None) -> str | None:
    """Why no person can confirm anything here; None where one can."""
    if any(environment.get(name) for name in AGENT_VARIABLES):
        return "agent"
    return None if _is_terminal(source) and _is_terminal(sink) else "no_terminal"


def _is_terminal(stream: IO[str] | None) -> bool:
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


def confirmed(act: str, source: IO[str], sink: IO[str]) -> bool:
    """Show a short code and read it back; it is fresh for each call, so that no script can have it ready."""
    import secrets

    code = "".join(secrets.choice(_LETTERS) for _ in range(_LENGTH))
    sink.write(f"{act}\nOnly a person may do this. Type {code} to confirm: ")
    sink.flush()
    return source.readline().strip().upper() == code


def _act(words: str, bound: dict[str, Any]) -> str:
    from orchestrator.doors.cli.text.layout import visible

    shown = [str(bound[name]) for name in ("id", "agent", "status", "mode", "decision") if bound.get(name)]
    by = f" as {bound['by']}" if bound.get("by") else ""
    return str(visible(f"orchestrator {' '.join([words, *shown])}{by}"))
