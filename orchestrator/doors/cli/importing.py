"""`import ...`: what comes from other programs."""

from __future__ import annotations

from orchestrator.doors.cli.options import BY_MANAGER, HUMAN, OF_SESSION, REQUEST, Command, argument, flag

COMMANDS = {
    "import peer": Command(
        "import peer",
        "Import the sessions of a peer's SQLite database, with findings; the file is only read. What was completed"
        " there is kept as such and proves nothing.",
        "orchestrator import peer bazinga.db --dry-run",
        (
            argument("file", "The peer's database."),
            OF_SESSION._replace(help="Only this session of the file."),
            flag("dry_run", "Show what would be imported, and record nothing.", "--dry-run"),
            BY_MANAGER,
            HUMAN,
            REQUEST,
        ),
    ),
}
