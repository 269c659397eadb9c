"""The operations on coding clients."""

from __future__ import annotations

from orchestrator.app.kernel.requests import SESSION_ID, Request, flag, option

SCOPES = ("local", "project")


class InstallClaudeCode(
    Request,
    words="install claude-code",
    line="Set up a project for Claude Code, check or uninstall it.",
    example="orchestrator install claude-code --project . --check",
    use_case="clients.install:install",
    answer="shapes.Install",
):
    """Set up a project for Claude Code: the database, an agent file for each role, the skill /orchestrate, hooks and
    permissions. Existing settings are kept, files that are not ours or were changed are named and left (exit 1), and
    --uninstall removes exactly what was installed. Safe to repeat.
    """

    project: str = option("The project's folder.", default=".", metavar="DIR")
    scope: str = option(
        "Where hooks and permissions go: local (.claude/settings.local.json, this machine only) or project"
        " (.claude/settings.json, to be committed).",
        default="local", choices=SCOPES,
    )  # fmt: skip
    strict: bool = flag("While a session is open, the main agent may not edit files or start agents of other types.")
    dry_run: bool = flag("Say what would be changed; change nothing.")
    check: bool = flag("Say what is missing, changed, of another version, untrusted or not found; change nothing.")
    uninstall: bool = flag("Remove what was installed; the database stays.")
    force: bool = flag("Replace or remove files that were changed or are not ours; keep a copy beside each.")
    session_id: str | None = option(
        "Let the next client that starts in the project direct this session.", "--session", default=None, metavar="ID",
        holds=SESSION_ID,
    )
