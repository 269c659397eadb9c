"""`route`: the one command that agents' answers go through."""

from __future__ import annotations

from orchestrator.app.reports.requests import Route
from orchestrator.core import names
from orchestrator.core.suggestions import suggest
from orchestrator.doors.cli import coercion, invoke
from orchestrator.doors.cli.options import DOCUMENT, Given, Result, of_operation, option
from orchestrator.errors import InvalidInput, UsageError
from orchestrator.hints import Any

_FROM_DOCUMENT = ("status", "group_id", "summary", "details", "metadata", "acknowledge")


def _route(given: Given) -> Result:
    arguments = dict(given.arguments)
    try:
        take_document(arguments)
    except InvalidInput as problem:
        invoke.record_unread("route", given, problem)
        raise
    for name, flag in (("current_agent", "--current-agent ROLE"), ("status", "--status CODE")):
        if name not in arguments:
            way = suggest("route", current_agent="ROLE", status="STATUS", group_id="GROUP")
            raise UsageError("USAGE", f"route needs {flag}.", way)
    found = invoke.operation("route", given._replace(arguments=arguments))
    if given.json:
        return found
    from orchestrator.doors.cli import next_steps, text

    lines = [text.render("route", found.answer), *next_steps.after_route(found.answer, given)]
    return found._replace(text="\n".join(lines))


def take_document(arguments: dict[str, Any]) -> None:
    """Take the parts of a report out of `report` or `output`, the bytes of a document or of a message.

    Raises:
        UsageError: USAGE, both are given, or they contradict the other arguments. InvalidInput: what is wrong in them.
    """
    report, message = arguments.pop("report", None), arguments.pop("output", None)
    if report is None and message is None:
        return
    if report is not None and message is not None:
        raise UsageError("USAGE", "--report and --output cannot be given together.", "Give one of them")
    from orchestrator.core import report_parser

    if message is None:
        found, flag = report_parser.document(report), "--report"
    else:
        text = message.decode("utf-8-sig")
        found, flag = report_parser.extract(text, arguments.get("current_agent") or ""), "--output"
        arguments["raw_text"] = text
    for name in _FROM_DOCUMENT:
        value = getattr(found, name)
        if value and not (name == "status" and _same_status(arguments.get(name), value)):
            plain = value if isinstance(value, str) else dict(value)
            coercion.agree(arguments, name, plain, f"{flag} and --{name}")


def _same_status(given: str | None, found: str) -> bool:
    return given is not None and names.status_name(given) == names.status_name(found)


_DOCUMENTS = (
    option("report", "Read the report from a JSON document.", kind=DOCUMENT, metavar="FILE"),
    option("output", "Extract the report from an agent's final message.", kind=DOCUMENT, metavar="FILE"),
)

COMMANDS = {"route": of_operation(Route, *_DOCUMENTS, handler=_route)}
