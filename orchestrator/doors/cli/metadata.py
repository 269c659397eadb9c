"""`metadata check`: whether a metadata file says what it must."""

from __future__ import annotations

from orchestrator.core import metadata
from orchestrator.doors.cli.options import METADATA, Command, Given, Result, argument


def _check(given: Given) -> Result:
    found = metadata.check(given.arguments["file"])
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


COMMANDS = {
    "metadata check": Command(
        "metadata check",
        "Check a metadata file and list all that is wrong with it.",
        "orchestrator metadata check result.json",
        (argument("file", "The metadata file, or - for stdin.", kind=METADATA),),
        None,
        _check,
    ),
}
