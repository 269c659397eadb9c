"""`validate`: is the work done?"""

from __future__ import annotations

from orchestrator.doors.cli.options import BY, INTEGER, REQUEST, SESSION, Command, argument, flag, option

COMMANDS = {
    "validate": Command(
        "validate",
        "Judge a session by its record: ACCEPT (exit 0) ends it, REJECT (exit 1) calls the project manager with"
        " the list. Runs the criteria's commands in the project's folder. Unless the project manager's last report is"
        " BAZINGA, this is a dry run (exit 1).",
        "orchestrator validate S1 --json",
        (
            argument("session", "The session.", target="session_id", required=False),
            SESSION,
            flag("dry_run", "Record nothing, and run no command.", "--dry-run"),
            flag("record", "Record a verdict whatever the project manager's last report is."),
            flag("run_commands", "In a dry run, run the criteria's commands as well.", "--run-commands"),
            option("command_timeout", "Seconds after which a command is killed (300).", kind=INTEGER, metavar="N"),
            BY,
            REQUEST,
        ),
    ),
}
