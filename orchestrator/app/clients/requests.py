"""The operations on coding clients."""

from __future__ import annotations

from orchestrator.app.kernel.requests import SESSION_ID, Request, flag, option

SCOPES = ("local", "project")


class Install(Request):
    """What every installation takes."""

    project: str = option("The project's folder.", default=".", metavar="DIR")
    scope: str = option("Where hooks and permissions go.", default="local", choices=SCOPES)
    strict: bool = flag("While a session is open, the main agent may not edit files or start agents of other types.")
    dry_run: bool = flag("Show what would change; change nothing.")
    check: bool = flag("Report what is missing, changed, outdated, untrusted or not found; change nothing.")
    uninstall: bool = flag("Remove what was installed; the database stays.")
    force: bool = flag(
        "Also replace or remove files that were changed or that this tool did not install; keep a copy of each."
    )
    session_id: str | None = option(
        "Session that the next client started in the project will direct.", "--session", default=None, metavar="ID",
        holds=SESSION_ID,
    )


class InstallClaudeCode(
    Install,
    words="install claude-code",
    line="Set up a project for Claude Code, check or uninstall it.",
    example="orchestrator install claude-code --project . --check",
    use_case="clients.install:install_claude_code",
    answer="shapes.Install",
):
    """Set up a project for Claude Code: the database, an agent file for each role, the skill /orchestrate, hooks and
    permissions. Existing settings are kept, files that are not ours or were changed are named and left (exit 1), and
    --uninstall removes exactly what was installed. Safe to repeat.
    """

    scope: str = option(
        "Where hooks and permissions go: local (.claude/settings.local.json, this machine only) or project"
        " (.claude/settings.json, to be committed).",
        default="local", choices=SCOPES,
    )  # fmt: skip


class InstallCodex(
    Install,
    words="install codex",
    line="Set up a project for Codex, check or uninstall it.",
    example="orchestrator install codex --project . --check",
    use_case="clients.install:install_codex",
    answer="shapes.Install",
):
    """Set up a project for Codex: the database, an agent file for each role, the skill $orchestrate, hooks, and rules
    for the commands that it may run. Existing hooks are kept, files that are not ours or were changed are named and
    left (exit 1), and --uninstall removes exactly what was installed. --check also names what the events of Codex
    cannot hold. Safe to repeat.
    """

    scope: str = option(
        "How the hooks in .codex/hooks.json find this program: local (its path on this machine) or project (on the"
        " PATH or in .venv, to be committed).",
        default="local", choices=SCOPES,
    )  # fmt: skip
