"""The coding clients for which a project can be set up."""

from __future__ import annotations

from orchestrator.app.clients import claude_code_checks, claude_code_files, codex_checks, codex_files
from orchestrator.app.clients.client_files import Client

CLAUDE_CODE = Client(
    "claude-code", (claude_code_files.FOLDER,), claude_code_files.SETTINGS, claude_code_files.hooks,
    claude_code_files.permissions, claude_code_files.all_files, claude_code_checks.checks,
)  # fmt: skip
CODEX = Client(
    "codex", codex_files.FOLDERS, codex_files.SETTINGS, codex_files.hooks, codex_files.permissions,
    codex_files.all_files, codex_checks.checks, codex_checks.LIMITS,
)  # fmt: skip
