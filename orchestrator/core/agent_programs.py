"""Signs that a process belongs to an agent's program: variables that such programs set, and names of their processes.

The presence of a variable counts, whatever its value: an empty one was set by somebody as well.
"""

from __future__ import annotations

from collections.abc import Collection

ACTS_FOR = "ORCHESTRATOR_AGENT"
"""Says for whom a process acts: `ROLE`, or `ROLE@SESSION:GROUP`; any other value only marks an agent's process."""

VARIABLES: dict[str, str] = {
    ACTS_FOR: "set by whoever starts an agent of this orchestrator",
    "AMP_CURRENT_THREAD_ID": "set by Amp for its commands",
    "AUGMENT_AGENT": "set by Auggie for its commands",
    "CLAUDECODE": "set by Claude Code for its commands",
    "CLAUDE_CODE_ENTRYPOINT": "set by Claude Code for its own process",
    "CLINE_ACTIVE": "set by Cline for its commands",
    "CODEX_SANDBOX": "set by Codex for its commands (macOS)",
    "CODEX_SANDBOX_NETWORK_DISABLED": "set by Codex for its commands",
    "CODEX_THREAD_ID": "set by Codex for its commands",
    "COPILOT_CLI": "set by Copilot's command line for its commands",
    "CURSOR_AGENT": "set by Cursor's agent for its commands",
    "GOOSE_TERMINAL": "set by Goose for its commands",
    "GEMINI_CLI": "set by Gemini CLI for its commands",
    "OPENCODE": "set by OpenCode for its commands",
    "QWEN_CODE": "set by Qwen Code for its commands",
}
"""Variables of agents' programs, each with the reason why it counts; none that people set for settings of their own."""

PROGRAMS: dict[str, str] = {
    "aider": "Aider",
    "amp": "Amp",
    "auggie": "Auggie",
    "claude": "Claude Code",
    "codex": "Codex",
    "copilot": "Copilot's command line",
    "cursor-agent": "Cursor's agent",
    "gemini": "Gemini CLI",
    "goose": "Goose",
    "opencode": "OpenCode",
    "qwen": "Qwen Code",
}
"""Names of agents' programs, as the system shows them for a process."""


def variable(names: Collection[str]) -> str | None:
    """The first variable among these names that is a sign of an agent's program; None where there is none."""
    return next((name for name in VARIABLES if name in names), None)


def program(name: str) -> str | None:
    """The agent's program that a process's name stands for; None where it stands for none.

    Args:
        name: what the system shows, or the file of the program; a path counts by its last part.
    """
    return PROGRAMS.get(name.rpartition("/")[2].lower())
