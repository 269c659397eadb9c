"""Tasks and blockers, as text."""

from __future__ import annotations

from orchestrator.doors.cli import screen
from orchestrator.doors.cli.text import changed as changes
from orchestrator.doors.cli.text import groups, layout
from orchestrator.doors.cli.text.layout import visible
from orchestrator.hints import Any

Answer = dict[str, Any]


def changed(answer: Answer) -> list[str]:
    """The answer of a command that creates or changes a task."""
    return [visible(f"{_state(answer['task'])}{changes.repeated(answer)}."), *changes.followed(answer)]


def _state(row: Answer) -> str:
    who = f", assigned to {row['assignee']}" if row["assignee"] else ", unassigned"
    why = f": {row['blocked_reason']}" if row["blocked_reason"] else ""
    return f"Task {row['id']} is {row['status']}{who}{why}"


def task(answer: Answer) -> list[str]:
    """The answer of `task show`."""
    row = answer["task"]
    lines = [f"Task {visible(row['id'])} of {visible(row['session_id'])}: {visible(row['title'])}", *_facts(row)]
    waits = [_edge(each) for each in row["depends_on"]]
    waits += [visible(f"group {each}: not satisfied") for each in row["waits_for_groups"]]
    lines += layout.section("Depends on", waits)
    lines += layout.section("Subtasks", [_part(each) for each in row["subtasks"]])
    lines += layout.section("Blockers", [groups.blocker(each) for each in row["blockers"]])
    return lines + layout.section("Questions", [groups.question(each) for each in row["questions"]])


def _facts(row: Answer) -> list[str]:
    by = row["status_changed_by_agent_id"] or "an unknown agent"
    return layout.fields(
        (
            ("Status", f"{row['status']} {screen.since(row['status_changed_at'])}, by {by}"),
            ("Reason", row["blocked_reason"]),
            ("Kind", f"{row['type']}, priority {row['priority']}"),
            ("Group", row["group_id"]),
            ("Part of", row["parent_id"]),
            ("Assignee", row["assignee"] or "unassigned"),
            ("Claimed", _claim(row) if row["claim_holder"] else None),
            ("Version", str(row["version"])),
            ("Waited for", ", ".join(row["dependents"]) or None),
        )
    )


def _claim(row: Answer) -> str:
    over = "; overdue: other agents may take it over" if row["overdue"] else ""
    return f"by {row['claim_holder']} {screen.until(row['claim_until'])}{over}"


def _edge(row: Answer) -> str:
    return visible(f"{row['id']} {row['title']}: {row['status']}{'' if row['satisfied'] else ', not satisfied'}")


def _part(row: Answer) -> str:
    return visible(f"{row['id']} {row['title']}: {row['status']}")


def tasks(answer: Answer) -> list[str]:
    """The answer of `task list`."""
    rows = [
        (each["id"], each["status"], each["priority"], each["group_id"], each["parent_id"], each["assignee"],
         each["title"])
        for each in answer["tasks"]
    ]  # fmt: skip
    headers = ("TASK", "STATUS", "PRIORITY", "GROUP", "PART OF", "ASSIGNEE", "TITLE")
    return [*(layout.table(headers, rows) if rows else ["No tasks."]), *layout.more(answer)]


def blockers(answer: Answer) -> list[str]:
    """The answer of `blocker list`."""
    rows = [
        (each["id"], "resolved" if each["resolved_at"] else "OPEN", each["class"], each["type"], each["group_id"],
         each["task_id"], each["opened_by"], each["reason"])
        for each in answer["blockers"]
    ]  # fmt: skip
    headers = ("BLOCKER", "STATE", "CLASS", "TYPE", "GROUP", "TASK", "OPENED BY", "REASON")
    return [*(layout.table(headers, rows) if rows else ["No blockers."]), *layout.more(answer)]


def blocker(answer: Answer) -> list[str]:
    """The answer of `blocker show`, and of `blocker resolve` with what became of the task."""
    lines = [f"Blocker {groups.blocker(answer['blocker'])}"]
    if "task" in answer:
        lines.append(visible(f"{_state(answer['task'])}."))
    return [*lines, *changes.followed(answer)]
