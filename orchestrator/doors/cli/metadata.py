"""`metadata check`: whether a metadata file says what it must."""

from __future__ import annotations

import os

from orchestrator.app import maintenance
from orchestrator.app.engine import metadata as looked_up
from orchestrator.core import metadata, oversized
from orchestrator.doors.cli.options import METADATA, Command, Given, Result, argument
from orchestrator.errors import OrchestratorError


def _check(given: Given) -> Result:
    place = _database(given)
    found = metadata.check(given.arguments["file"], lambda path: looked_up.is_there(path, place))
    # As `route` would: what decides a report has to fit into the record.
    oversized.document(oversized.METADATA, dict(found.raw), "", lambda value: value)
    answer = {
        "db": None,
        "status": found.status,
        "requires_user_review": found.requires_user_review,
        "review_reason": found.review_reason,
        "blocker_type": found.blocker_type,
        "blocker_class": found.blocker_class,
        "under_flagged": found.under_flagged,
        "over_flagged": found.over_flagged,
        "warnings": list(found.warnings),
    }
    return Result(answer)


def _database(given: Given) -> str | None:
    """The database whose project hand-off files are looked for in, as `route` does; none is needed."""
    try:
        return maintenance.find(given.db, os.environ, maintenance.working_folder(given.db, os.environ))
    except OrchestratorError:
        return None


COMMANDS = {
    "metadata check": Command(
        "metadata check",
        "Check a metadata file and list every problem.",
        "orchestrator metadata check result.json",
        (argument("file", "The metadata file, or - for stdin.", kind=METADATA),),
        None,
        _check,
        line="Check a metadata file.",
        answer=("shapes.Metadata",),
    ),
}
