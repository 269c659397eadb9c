"""Blockers, gaps, numbers and the rows of a query, as text."""

from __future__ import annotations

from collections.abc import Iterable

from orchestrator.doors.cli import screen
from orchestrator.doors.cli.text import layout
from orchestrator.doors.cli.text.layout import visible
from orchestrator.hints import Any

Answer = dict[str, Any]

CELL = 200
"""Characters of a query's value that the text shows; --json has all of it."""


def blockers(answer: Answer) -> list[str]:
    """The answer of `audit blockers`."""
    rows = [
        (
            each["id"],
            each["status"],
            each["group_id"],
            each["task_id"],
            f"{each['class']} {each['type']}",
            f"{each['opened_by'] or 'nobody recorded'} ({each['cause']})",
            screen.when(each["opened_at"]),
            _resolved(each),
            duration(each["open_seconds"]),
            each["reason"],
        )
        for each in answer["blockers"]
    ]
    headers = ("BLOCKER", "STATUS", "GROUP", "TASK", "KIND", "OPENED BY", "AT", "RESOLVED BY", "OPEN FOR", "REASON")
    return [*(layout.table(headers, rows) if rows else ["No blockers."]), *layout.more(answer)]


def _resolved(blocker: Answer) -> str | None:
    if blocker["status"] == "open":
        return None
    return f"{blocker['resolved_by'] or 'nobody recorded'} ({blocker['resolution']})"


def gaps(answer: Answer) -> list[str]:
    """The answer of `audit gaps`."""
    rows = [(each["seq"], each["kind"], each["subject"], each["text"]) for each in answer["gaps"]]
    table = layout.table(("STEP", "GAP", "ABOUT", "WHAT IS MISSING"), rows)
    return [*(table if rows else ["No gaps."]), *layout.more(answer)]


def stats(answer: Answer) -> list[str]:
    """The answer of `audit stats`."""
    found = answer["stats"]
    group = f", group {found['group_id']}" if found["group_id"] is not None else ""
    return [
        visible(f"Session {found['session_id']}{group}, measured {screen.moment(found['measured_at'])}"),
        *layout.fields(_numbers(found)),
        *layout.section("Roles", _roles(found["roles"])),
        *layout.section("Agents started", _starts(found["starts"])),
        *layout.section("Driven turns by role and group", _driven_parts(found["driven"])),
        *layout.section("Reports", _reports(found["agents"])),
        *layout.section("Rules that fired", _counts("RULE", found["rules"])),
        *layout.section("Refusals", _counts("CODE", found["refusals"]["by_code"])),
    ]


def _numbers(found: Answer) -> list[tuple[str, object]]:
    rework, higher, asked = found["rework"], found["escalations"], found["questions"]
    share = f"{rework['returned']} of {rework['judged']} judgements sent work back"
    kinds = ", ".join(f"{name} {count}" for name, count in rework["by_effect"].items())
    rate = f"{rework['rate']}: {share} ({kinds})" if rework["rate"] is not None else f"none: {share}"
    causes = ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in higher.items() if name != "total")
    return [
        ("Reports", found["reports"]),
        ("Rework rate", f"{rate}; groups {rework['groups']}"),
        ("Escalations", f"{higher['total']} ({causes})"),
        ("Refusals", found["refusals"]["total"]),
        ("Questions", f"{asked['asked']}, {asked['open']} open, {duration(asked['seconds'])} in all"),
        ("Tasks", _tasks(found["tasks"])),
        ("Usage", _usage(found["usage"])),
        *([("Driven turns", _driven(found["driven"]))] if found["driven"]["runs"] else []),
    ]


def _driven(used: Answer) -> str:
    tokens = f"{used['input_tokens']} in, {used['output_tokens']} out"
    return f"{layout.counted(used['runs'], 'run')}, {duration(used['seconds'])}, {tokens}, {used['cost_usd']} USD"


def _driven_parts(used: Answer) -> list[str]:
    rows = [
        (each["role"], each["group_id"], each["runs"], duration(each["seconds"]), each["input_tokens"],
         each["output_tokens"], each["cost_usd"])
        for each in used["by_role_and_group"]
    ]  # fmt: skip
    return layout.table(("ROLE", "GROUP", "RUNS", "TIME", "TOKENS IN", "OUT", "USD"), rows) if rows else []


def _starts(found: Answer) -> list[str]:
    rows = [
        (each["role"], each["group_id"], each["via"], each["starts"], duration(each["seconds"]),
         ", ".join(f"{name} {count}" for name, count in each["outcomes"].items()), each["input_tokens"],
         each["output_tokens"])
        for each in found["by_role_and_group"]
    ]  # fmt: skip
    heads = ("ROLE", "GROUP", "THROUGH", "STARTS", "TIME", "OUTCOMES", "TOKENS IN", "OUT")
    return layout.table(heads, rows) if rows else []


def _tasks(found: Answer) -> str:
    moves = ", ".join(f"{status} {count}" for status, count in found["moved"].items())
    moved = f"moved to {moves}" if moves else "none moved"
    return f"{found['created']} created; {moved}; taken over {found['taken_over']}"


def _usage(used: Answer) -> str:
    if not used["reports"]:
        return "no report says"
    return f"{used['input_tokens']} in, {used['output_tokens']} out ({layout.counted(used['reports'], 'report')})"


def _roles(found: list[Answer]) -> list[str]:
    rows = [
        (
            each["role"],
            each["reports"],
            each["turns"],
            each["open_turns"],
            duration(each["seconds"]),
            _usage(each["usage"]),
        )
        for each in found
    ]
    return layout.table(("ROLE", "REPORTS", "TURNS", "OPEN", "TIME", "TOKENS"), rows) if rows else []


def _reports(found: list[Answer]) -> list[str]:
    rows = [
        (each["agent_id"], each["role"], status, count) for each in found for status, count in each["statuses"].items()
    ]
    return layout.table(("AGENT", "ROLE", "STATUS", "REPORTS"), rows) if rows else []


def _counts(header: str, found: dict[str, int]) -> list[str]:
    return layout.table((header, "COUNT"), list(found.items())) if found else []


def duration(seconds: int | None) -> str | None:
    """Seconds as days, hours, minutes and seconds; None stays None."""
    if seconds is None:
        return None
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = ((days, "d"), (hours, "h"), (minutes, "min"), (rest, "s"))
    return " ".join(f"{count} {unit}" for count, unit in parts if count) or "0 s"


def query(answer: Answer) -> list[str]:
    """The answer of `audit query`."""
    headers = [_cut(visible(name)) for name in answer["columns"]]
    rows = answer["rows"]
    lines = layout.table(headers, (list(_cells(row)) for row in rows))
    if answer["has_more"]:
        more = "is more than this row" if len(rows) == 1 else f"are more than these {len(rows)} rows"
        return [*lines, "", f"There {more}: repeat with a larger --limit, or narrow the query"]
    return lines if rows else [*lines, "No rows."]


def _cells(row: Iterable[object]) -> Iterable[str]:
    for value in row:
        yield "NULL" if value is None else _cut(visible(value))


def _cut(text: str) -> str:
    return text if len(text) <= CELL else f"{text[: CELL - 3]}..."
