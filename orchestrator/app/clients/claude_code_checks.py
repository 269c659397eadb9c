"""What `install claude-code --check` finds that is Claude Code's own: its version, its trust, its agents and events."""

from __future__ import annotations

import functools
import os

from orchestrator.app.clients import claude_code_files, install_checks
from orchestrator.app.clients.install_record import Problem
from orchestrator.core.suggestions import local, sentence

VERSIONS = ("2.1.332",)
"""The versions that the hooks were tested with."""
CLIENT_EVENTS = (
    *claude_code_files.EVENTS, "SubagentStart", "Notification", "PreCompact", "PostCompact", "PreModelSwitch",
    "PostModelSwitch", "PermissionRequest", "PermissionDenied", "PostToolBatch", "UserPromptExpansion", "Setup",
    "TeammateIdle", "Elicitation", "ElicitationResult", "ConfigChange", "WorktreeCreate", "WorktreeRemove",
    "InstructionsLoaded", "CwdChanged", "FileChanged", "DirectoryAdded", "MessageDisplay", "PreSkillShellCommand",
)  # fmt: skip
"""The events that hooks of these versions may name."""
_KEYS = (
    "type", "command", "args", "timeout", "matcher", "hooks", "prompt", "url", "model", "async", "asyncRewake", "once",
    "if", "statusMessage", "headers", "allowedEnvVars", "shell", "server", "tool", "input", "continueOnBlock",
)  # fmt: skip


def checks(root: str, scope: str, roles: tuple[str, ...]) -> list[Problem]:
    """What is amiss around the files of ours."""
    found = install_checks.version("claude", "Claude Code", VERSIONS)
    if scope == "project" and not is_trusted(root):
        said = sentence(
            "Claude Code does not trust {} yet, so it ignores permissions in {}. Start claude there once and accept the"
            " trust prompt.",
            local(root), claude_code_files.SHARED,
        )
        found.append(Problem("untrusted", root, said))
    role_of = functools.partial(claude_code_files.names_role, roles=roles)
    found += install_checks.rivals(root, claude_code_files.AGENTS, "*.md", role_of)
    return found + install_checks.unknown(root, claude_code_files.SETTINGS.values(), CLIENT_EVENTS, _KEYS)


def is_trusted(root: str) -> bool:
    """Whether the user has told the client to trust a folder."""
    home = os.environ.get("CLAUDE_CONFIG_DIR") or os.path.expanduser("~")
    found = install_checks.document(os.path.join(home, ".claude.json")).get("projects")
    project = found.get(root) if isinstance(found, dict) else None
    return isinstance(project, dict) and project.get("hasTrustDialogAccepted") is True
