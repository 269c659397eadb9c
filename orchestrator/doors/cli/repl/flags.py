"""The flags of `repl` and `run`, and what they open."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping

from orchestrator import bootstrap
from orchestrator.core.running import simulated_failures
from orchestrator.doors.cli import output
from orchestrator.doors.cli.options import INTEGER, Given, flag, option
from orchestrator.doors.cli.repl.interrupts import Interrupts
from orchestrator.doors.cli.repl.sources import Stream, is_terminal
from orchestrator.doors.cli.text.layout import visible
from orchestrator.errors import EXIT_NEGATIVE, OrchestratorError, Refused, UsageError
from orchestrator.hints import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orchestrator.app.running.run_session import RunSession

NO_PROJECT = ("E101", "E103")
_CLOCKS = {"executor_timeout": 60_000, "progress_timeout": 30_000}
"""The flags of clocks, each with what it is where it is left out."""
_LONGEST_MS = 24 * 3600 * 1000

FLAGS = (
    option("project", "The project folder (default: the current one with --project-mode cwd).", metavar="PATH"),
    option(
        "project_mode", "Where tasks work: in a temporary folder that may be deleted afterwards (temp; the default"
        " without a project), in --project-root (fixed), or in the current folder (cwd).",
        choices=("temp", "fixed", "cwd"),
    ),
    option("project_root", "The folder of a fixed project; it must exist and is never deleted.", metavar="PATH"),
    flag(
        "print_project_path", "Print PROJECT_PATH=PATH as the first line; with --json, the first object holds it as"
            " project.",
    ),
    flag("non_interactive", "Never prompt (the default when stdin is not a terminal)."),
    option("executor", "The executor, such as command:PATH (default: the provider's own).", metavar="NAME"),
    option("executor_timeout", "Timeout of the executor in milliseconds (default: 60000).", kind=INTEGER, metavar="MS"),
    option("progress_timeout", "Maximum milliseconds without output (default: 30000).", kind=INTEGER, metavar="MS"),
    option("provider", "claude-code (default), codex, openai or anthropic.", metavar="NAME"),
    option("model", "The model; its name is passed on unchanged.", metavar="NAME"),
)  # fmt: skip


def check_clocks(arguments: Mapping[str, Any]) -> None:
    """Refuse clocks that are no clocks.

    Raises:
        UsageError: USAGE.
    """
    for name, usual in _CLOCKS.items():
        value = arguments.get(name)
        if value is not None and not 1 <= value <= _LONGEST_MS:
            spelt = f"--{name.replace('_', '-')}"
            message = f"{spelt} must be from 1 to {_LONGEST_MS} milliseconds, not {value}."
            raise UsageError("USAGE", message, f"{spelt} {usual}")


def forbidden(given: Given) -> bool:
    """Whether this process must not start, because of what its environment asks for; it has been said then.

    Raises:
        OrchestratorError: EXECUTOR_FORBIDDEN, where JSON is asked for.

    Source: seed 001, Property 40.
    """
    start = simulated_failures.decide(os.environ)
    if start.exit_code is None:
        return False
    for line in start.stderr:
        output.complain(line)
    if given.json:
        raise as_negative(Refused("EXECUTOR_FORBIDDEN", start.stderr[0], "unset PM_EXECUTOR_MODE"))
    return True


def notices() -> list[str]:
    """What is said after the project's path, where a test executor is in use.

    Source: seed 001, Property 40.
    """
    return list(simulated_failures.decide(os.environ).stdout)


def named_project(given: Given, interrupts: Interrupts) -> str | None:
    """The project that the call names; where it names none, in a repository, a person at a terminal is asked once.

    Source: seed 001, Property 32.
    """
    wanted = given.arguments
    is_named = any(wanted.get(name) is not None for name in ("project", "project_mode", "project_root"))
    is_seated = is_terminal(sys.stdin) and is_terminal(sys.stderr)
    asks_nobody = given.json or wanted.get("non_interactive") or not is_seated
    if is_named or asks_nobody or not bootstrap.is_in_repository():
        project: str | None = wanted.get("project")
        return project
    sys.stderr.write(visible(f"No project was named. Work here, in {os.getcwd()}? (y/N; N works in a temporary"
        f" folder) "))
    sys.stderr.flush()
    with interrupts.breaking_in():
        answer = Stream(sys.stdin.buffer).read() or b""
    return "." if answer.strip().lower() in (b"y", b"yes") else None


def opened(given: Given, interrupts: Interrupts, *, interactive: bool) -> RunSession:
    """The session of runs that the flags describe. Whether its folder is a project is not looked at: see `is_project`.

    Raises:
        OrchestratorError: the folder, the configuration, the executor or the database is not fit.
    """
    wanted = given.arguments
    session = bootstrap.open_run_session(
        project=named_project(given, interrupts),
        project_mode=wanted.get("project_mode"),
        project_root=wanted.get("project_root"),
        executor=wanted.get("executor"),
        executor_timeout_ms=wanted.get("executor_timeout"),
        progress_timeout_ms=wanted.get("progress_timeout"),
        provider=wanted.get("provider"),
        model=wanted.get("model"),
        interactive=interactive,
        database=given.db,
    )
    session.tell = lambda text: output.complain(visible(text))
    return session


def copyable(given: Given, session: RunSession) -> Callable[[str], str]:
    """What makes a printed command one that works on the same database where it is copied to a shell.

    It names the database where this call did, and where no other call from here would find it.
    """

    named = given.db

    def told(text: str) -> str:
        nonlocal named
        if named is None and session.session_id is not None and not bootstrap.is_found_here(session.context.path):
            named = session.context.path
        output.name_database(named)
        said: str = output.worded(text)
        return said

    return told


def is_project(session: RunSession, *, interactive: bool) -> bool:
    """Whether the project's folder is set up.

    A person may set it up, so that for them it may be missing, as long as `/init` can do it: where something is in its
    way, the error says what to do.

    Raises:
        OrchestratorError: E101 to E105.

    Source: seed 001, Property 2.
    """
    try:
        _ = session.settings
    except OrchestratorError as problem:
        if interactive and problem.code in NO_PROJECT and not problem.data.get("in_the_way"):
            return False
        raise
    return True


def as_negative(problem: OrchestratorError) -> OrchestratorError:
    """The same error, to end with 1, as whatever fails here does.

    Source: seed 001, Property 29.
    """
    problem.data["_exit_code"] = EXIT_NEGATIVE
    return problem
