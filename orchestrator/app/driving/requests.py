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
        default=None, is_found=False, places=(Place("session", "The session; else the only open one."),)
    )
    goal: str | None = option("Begin a session with this goal.", default=None, reading=TEXT)
    executor: str | None = option(
        "Who answers: claude-code (default), codex, command:PROGRAM or scripted:FILE.", default=None, metavar="NAME"
    )
    role: tuple[str, ...] = option(
        "Another executor or model for one role. Repeatable.", default=(), metavar="ROLE=EXECUTOR[:MODEL]"
    )
    isolation: str | None = option(
        "Where agents work: a git worktree for each group (default in a repository with a commit), or all in the"
        " project's folder (none).", default=None, choices=("worktree", "none"),
    )
    parallel: int | None = option(
        "How many turns run at once (default: the workflow's limit).", default=None, metavar="N", span=(1, 4)
    )
    turn_timeout: int = option(
        "Minutes after which a turn is ended (default: 30).", default=30, metavar="MINUTES", span=(1, 1440)
    )
    max_steps: int | None = option("Start no more turns than this.", default=None, metavar="N", span=COUNT)
    max_minutes: int | None = option(
        "Start no further turn after this time.", default=None, metavar="MINUTES", span=(1, 525600)
    )
    no_wait: bool = flag("End at a usage limit (exit 2) instead of waiting for its reset.")
    land: bool = flag("After ACCEPT, move the checked-out branch forward to the work, where its tree is clean.")
    clean: bool = flag("Only remove the session's worktrees and branches that are merged. Start nothing.")
    max_cost: str | None = option(
        "Start no further turn once the session's turns have cost this much.", default=None, metavar="USD"
    )
    once: bool = flag("One round: start what is open now, wait for it, and end.")
    check: bool = flag("Only check the surroundings: programs, login, folder, disk. Start nothing.")
