"""What is said in the loop to who is no proven person: what to type, and where."""

from __future__ import annotations

import pytest

from orchestrator.app.kernel.human import TERMINAL, TOKEN, Credential
from orchestrator.doors.cli.repl import identity

SCRIPT = "a script starts with --human-token-file FILE"
AGAIN = "orchestrator repl --project '/p q', and there /continue task-7, at your own terminal"


@pytest.mark.parametrize(
    ("proof", "name", "rest", "run", "expected"),
    [
        pytest.param(
            Credential(TERMINAL, fault="code"), "/respond", "blue", None,
            "Type /respond blue again, then what it asks for", id="the code was not typed",
        ),
        pytest.param(
            Credential(TERMINAL, fault="code"), "/approve", "", "task-7",
            "Type /approve again, then what it asks for", id="a command alone",
        ),
        pytest.param(
            Credential(TERMINAL, fault="no_terminal"), "/approve", "", "task-7", f"{AGAIN}; {SCRIPT}", id="a script",
        ),
        pytest.param(
            Credential(TERMINAL, fault="agent"), "/continue", "task-7", "task-7", f"{AGAIN}; {SCRIPT}", id="an agent",
        ),
        pytest.param(
            Credential(TERMINAL, fault="executor"), "/respond", "blue", None,
            f"orchestrator inbox shows how to answer it, at your own terminal; {SCRIPT}", id="an answer",
        ),
        pytest.param(
            Credential(TOKEN), "/approve", "", "task-7",
            "orchestrator human enrol creates a valid token; then /exit, and start with --human-token-file"
            " FILE", id="a token that is in force no more",
        ),
    ],
)  # fmt: skip
def test_it_is_told_what_to_type(proof: Credential, name: str, rest: str, run: str | None, expected: str) -> None:
    assert identity.advice(proof, name, rest, run, "/p q") == expected
