"""The operation that runs a team."""

from __future__ import annotations

from orchestrator.app.kernel.requests import COUNT, SESSION, TEXT, Place, Request, flag, option


class Drive(
    Request,
    words="drive",
    line="Run a team by itself, from a goal to a verdict.",
    example="orchestrator drive --goal 'Ship the login page' --executor command:./agent.sh",
    use_case="driving.drive:drive",
    prepared_by="driving.drive:drive",
    answer=("driving.Driven", "driving.Event", "driving.Preflight", "driving.Cleaned"),
    writes=True,
):
    """Run a team by itself, from a goal to a verdict: start every open turn, take each report out of the agent's
    answer, route it, and validate. No language model decides who acts next. Exit 0 ACCEPT, 2 a person is awaited, a
    budget is used up or work remains, 1 ended without ACCEPT, 5 the surroundings.
    """

    session_id: str | None = SESSION._replace(
        default=None, is_found=False, places=(Place("session", "The session (default: the only open one)."),)
    )
    goal: str | None = option("Start a session with this goal.", default=None, reading=TEXT)
    executor: str | None = option(
        "Executor: claude-code (default), codex, command:PROGRAM or scripted:FILE.", default=None, metavar="NAME"
    )
    role: tuple[str, ...] = option(
        "Another executor or model for one role. Repeatable.", default=(), metavar="ROLE=EXECUTOR[:MODEL]"
    )
    isolation: str | None = option(
        "Where agents work: a git worktree for each group (default in a repository with a commit), or the project"
        " folder for all of them (none).", default=None, choices=("worktree", "none"),
    )
    parallel: int | None = option(
        "Maximum number of turns at once (default: the workflow's limit).", default=None, metavar="N", span=(1, 4)
    )
    turn_timeout: int = option(
        "Timeout of a turn in minutes (default: 30).", default=30, metavar="MINUTES", span=(1, 1440)
    )
    max_steps: int | None = option("Maximum number of turns to start.", default=None, metavar="N", span=COUNT)
    max_minutes: int | None = option(
        "Start no new turn after this many minutes.", default=None, metavar="MINUTES", span=(1, 525600)
    )
    no_wait: bool = flag("Exit (2) at a usage limit instead of waiting for its reset.")
    land: bool = flag("After ACCEPT, fast-forward the checked-out branch to the work if its tree is clean.")
    clean: bool = flag("Only remove the session's merged worktrees and branches. Start nothing.")
    max_cost: str | None = option(
        "Start no new turn once the session has cost this much, in dollars; Claude Code is told what is left.",
        default=None, metavar="USD",
    )
    once: bool = flag("One round only: start what is open now, wait for it, and exit.")
    check: bool = flag("Only check the environment: programs, login, folder, disk. Start nothing.")
