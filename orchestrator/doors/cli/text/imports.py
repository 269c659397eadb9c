"""What was imported, as text."""

from __future__ import annotations

from typing import Any

from orchestrator.doors.cli.text import layout
from orchestrator.doors.cli.text.layout import visible

Answer = dict[str, Any]

_LISTS = (
    ("completed there", "grandfathered"),
    ("in progress", "in_progress"),
    ("pending", "pending"),
    ("blocked", "blocked"),
)


def peer(answer: Answer) -> list[str]:
    """The answer of `import peer`: the sessions, what was found, and every table of the file."""
    done = "would be imported" if answer["dry_run"] else "imported"
    repeated = " (recorded before)" if answer["repeated"] else ""
    count = layout.counted(len(answer["sessions"]), "session")
    version = f", schema version {answer['peer_version']}" if answer["peer_version"] is not None else ""
    lines = [visible(f"{count} of {answer['file']}{version} {done}{repeated}.")]
    for session in answer["sessions"]:
        lines += layout.section(f"Session {visible(session['id'])}: {session['status']}", _session(session))
    findings = [_finding(each) for each in answer["findings"]]
    lines += layout.section("Findings (from the other tool's texts; no proof)", findings)
    lines += layout.section("Renamed", [_renamed(each) for each in answer["renamed"]])
    return lines + layout.section("Tables in the file", _tables(answer["tables"]))


def _session(row: Answer) -> list[str]:
    groups = [f"{name}: {', '.join(row[key])}" for name, key in _LISTS if row[key]]
    return layout.fields(
        (
            ("There", f"{row['peer_id']}, {row['peer_status'] or 'without a status'}"),
            ("Groups", f"{row['groups']}" + (f" ({'; '.join(groups)})" if groups else "")),
            ("Criteria", row["criteria"] or None),
            ("Log lines", f"{row['logs']}, as text" if row["logs"] else None),
            ("Next", row["handoff"]),
        )
    )


def _finding(row: Answer) -> str:
    return visible(f"{row['group_id'] or row['session_id']} ({row['code']}): {row['text']}")


def _renamed(row: Answer) -> str:
    return visible(f"{row['kind']} {row['from']} is {row['to']} here")


def _tables(rows: list[Answer]) -> list[str]:
    """Tables with rows; empty ones are counted."""
    filled = [row for row in rows if row["rows"] != 0]
    shown = [
        (row["table"], row["rows"], row["imported"], row["left_out"], "; ".join(map(_reason, row["reasons"])))
        for row in filled
    ]
    lines = layout.table(("TABLE", "ROWS", "IMPORTED", "LEFT OUT", "WHY"), shown)
    empty = len(rows) - len(filled)
    return [*lines, *([f"{layout.counted(empty, 'further table')} without rows"] if empty else [])]


def _reason(row: Answer) -> str:
    return str(row["reason"]) if row["rows"] is None else f"{row['rows']} {row['reason']}"


def found(group: Answer) -> list[str]:
    """What an import found out about one group, one a line."""
    return [visible(f"{each['code']}: {each['text']}") for each in group["import_findings"]]
