"""One group, as text."""

from __future__ import annotations

from orchestrator.doors.cli import screen
from orchestrator.doors.cli.text import layout
from orchestrator.doors.cli.text.layout import visible
from orchestrator.hints import Any

Answer = dict[str, Any]


def group(answer: Answer) -> list[str]:
    """The answer of `group show`."""
    row = answer["group"]
    lines = [f"Group {visible(row['id'])} of {visible(row['session_id'])}: {visible(row['name'])}", *_facts(row)]
    lines += layout.section("Completion path", path(row["path"]))
    lines += layout.section("Import findings (text, no proof)", found(row))
    lines += layout.section("Depends on", [dependency(each) for each in row["depends_on"]])
    lines += layout.section("Blockers", [blocker(each) for each in row["blockers"]])
    return lines + layout.section("Questions", [question(each) for each in row["questions"]])


def _facts(row: Answer) -> list[str]:
    kind = f"{row['kind']}, complexity {row['complexity']}, priority {row['priority']}"
    kind += ", security-sensitive" if row["security_sensitive"] else ""
    counts = row["counters"]
    return layout.fields(
        (
            ("Status", f"{row['status']} {screen.since(row['status_changed_at'])}, {_by(row)}"),
            ("Kind", kind),
            ("Description", row["description"]),
            ("Awaits", layout.awaited(row["awaited"])),
            (
                "Came back",
                f"{layout.times(counts['revision_count'])}: {layout.counted(counts['qa_attempts'], 'failed test')},"
                f" {layout.counted(counts['tl_review_attempts'], 'rejection')},"
                f" {layout.counted(counts['merge_attempts'], 'failed merge')}"
                if counts["revision_count"]
                else None,
            ),
            ("Resume at", _resume(row["resume_point"])),
            ("Path", _verdict(row)),
        )
    )


def _by(row: Answer) -> str:
    return f"by {row['status_changed_by']}" if row["status_changed_by"] else "as it was imported"


def _resume(point: Answer | None) -> str | None:
    if point is None:
        return None
    total = f" of {point['phases_total']}" if point["phases_total"] is not None else ""
    parts = [f"phase {point['phase']}{total}"] if point["phase"] is not None else []
    parts += [str(part) for part in (point["stage"], point["handoff_path"]) if part]
    return f"{', '.join(parts) or 'where it stopped'} (step {point['seq']})"


def _verdict(row: Answer) -> str:
    if row["grandfathered"]:
        return "none here: completed before the import"
    if row["pm_path"]:
        return "valid: the project manager's acknowledgement"
    if row["path_valid"]:
        return "valid"
    return "waiting for the project manager's confirmation" if row["awaiting_confirmation"] else "not valid"


def path(parts: list[Answer]) -> list[str]:
    """The parts of a completion path, one a line."""
    return [line for part in parts for line in layout.hanging(_part(part), visible(part["reason"]))]


def _part(part: Answer) -> str:
    return f"{part['part']}: {screen.status('met' if part['met'] else 'not met')}, "


def dependency(row: Answer) -> str:
    """A group that another depends on, in one line."""
    return visible(f"{row['id']}: {row['status']}, {'satisfied' if row['satisfied'] else 'not satisfied'}")


def blocker(row: Answer) -> str:
    """A blocker in one line, with its end where it has one."""
    external = f", external: {row['external_dependency']}" if row["external"] else ""
    state = f"resolved by {row['resolved_by']} ({row['resolution']})" if row["resolved_at"] else "OPEN"
    opened = f"{screen.since(row['opened_at'])}, by {row['opened_by'] or 'an unknown agent'}"
    about = f" on task {row['task_id']}" if row["task_id"] else ""
    return visible(f"{row['id']}{about} {state}, {row['class']} {row['type']}{external}, {opened}: {row['reason']}")


def question(row: Answer) -> str:
    """A question in one line, with its end where it has one."""
    state = f"closed by {row['closed_by']}: {row['answer']}" if row["closed_at"] else "OPEN"
    return visible(f"{row['id']} ({row['kind']}) {state}: {row['text']}")


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
