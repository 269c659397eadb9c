"""`status` and `handoff`: watching a session, opening its page, and a hand-off as JSON."""

from __future__ import annotations

from orchestrator.app.reports.requests import ShowHandoff
from orchestrator.app.session.requests import ShowStatus
from orchestrator.core.suggestions import suggest
from orchestrator.doors.cli import invoke
from orchestrator.doors.cli.options import INTEGER, Given, Result, flag, of_operation, option
from orchestrator.errors import UsageError


def _handoff(given: Given) -> Result:
    arguments = dict(given.arguments)
    notation = arguments.pop("format", "md")
    found = invoke.operation("handoff", given._replace(arguments=arguments))
    if notation == "md":
        return found
    import json

    return found._replace(text=json.dumps(found.answer["handoff"], indent=2))


def _status(given: Given) -> Result:
    arguments = dict(given.arguments)
    watched, interval = arguments.pop("watch", False), arguments.pop("interval", None)
    is_opened, address = arguments.pop("open", False), arguments.pop("url", None)
    asked = given._replace(arguments=arguments)
    if is_opened or address is not None:
        return _opened(asked, is_opened, address, watched=watched)
    if not watched:
        if interval is not None:
            raise UsageError("USAGE", "--interval needs --watch.", suggest("status", watch=True))
        return invoke.operation("status", asked)
    if "at_seq" in arguments:
        raise UsageError("USAGE", "--at and --watch cannot be combined: the past does not change.", "Leave one out")
    from orchestrator.doors.cli import watch

    return watch.watch(asked, interval)


def _opened(asked: Given, is_opened: bool, address: str | None, *, watched: bool) -> Result:
    if not is_opened:
        raise UsageError("USAGE", "--url needs --open.", suggest("status", open=True))
    if watched or "at_seq" in asked.arguments:
        raise UsageError("USAGE", "--open cannot be combined with --watch or --at: the page shows the present.",
                         "Leave one out")  # fmt: skip
    from orchestrator.doors.cli import opening

    return opening.opened(asked, address)


_OPEN = flag("open", "Open the session's page, which a running `orchestrator serve` shows, in a browser.")
_URL = option("url", "With --open: the server's address (default: http://127.0.0.1:8765).", metavar="URL")
_WATCH = flag("watch", "Refresh until the session ends.")
_INTERVAL = option("interval", "Seconds between refreshes of --watch (default: 2).", kind=INTEGER)
_FORMAT = option("format", "Output format.", choices=("md", "json"))

COMMANDS = {
    "status": of_operation(ShowStatus, _WATCH, _INTERVAL, _OPEN, _URL, handler=_status),
    "handoff": of_operation(ShowHandoff, _FORMAT, handler=_handoff),
}
