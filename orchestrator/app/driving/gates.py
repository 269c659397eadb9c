"""Gates: commands of criteria that are due when an agent reports a status, run before the report is routed.

So an agent fixes what fails in its own context, and nobody else is started for what does not build.
"""

from __future__ import annotations

from orchestrator.app.kernel.context import Answer, Context
from orchestrator.app.session import pending_commands
from orchestrator.app.verdict import scope
from orchestrator.core import masking
from orchestrator.core.suggestions import suggest
from orchestrator.errors import Refused
from orchestrator.store import queries

TIMEOUT_S = 300.0
"""Seconds that one command may take."""
MOST = 3
"""How often a failing gate sends an agent back in one turn; then its report is routed with the failure."""
CODE = "GATE_FAILED"
_SHOWN = 2_000
"""Characters of a failing command's output, from its end, that the agent is shown."""


def failing(context: Context, session: str, group: str | None, status: str, folder: str) -> list[Answer]:
    """Run the gates that are due at a status, outside any transaction.

    Args:
        folder: where they are run: that in which the agent worked.

    Returns:
        Those that fail, as {criterion, command, why, output}; the output is its end, with secrets masked.
    """
    rows = queries.rows(context.reader, queries.CRITERIA, session=session, since=0, all=0, limit=-1)
    due = [each for each in map(scope.shape, rows) if each["command"] and status in each["due_at"]]
    due = [each for each in due if each["group_id"] in (None, group)]
    if not due or context.run is None:
        return []
    asked = [(each["id"], each["command"]) for each in due if each["approval"] == pending_commands.PENDING]
    pending = pending_commands.unallowed(context.path, asked)[0] if asked else []
    found = []
    for each in due:
        if each["id"] in pending:
            continue
        ended = context.run(each["command"], folder=folder, timeout_s=TIMEOUT_S)
        if ended.status != 0:
            output = masking.mask(ended.output[-_SHOWN:])
            found.append({"criterion": each["id"], "command": each["command"], "why": ended.why, "output": output})
    return found


def refusal(session: str, failed: list[Answer]) -> Refused:
    """The refusal of a report before which a gate fails."""
    told = "\n\n".join(
        f"{each['criterion']} ({' '.join(each['command'])}): {each['why']}\n{each['output']}".rstrip()
        for each in failed
    )
    return Refused(
        CODE, f"A check that must pass before this report fails. Fix it, then report again.\n\n{told}",
        suggest("status", session_id=session), gates=failed,
    )  # fmt: skip
