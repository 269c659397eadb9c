"""What waits for a person, as text."""

from __future__ import annotations

from orchestrator.doors.cli import screen
from orchestrator.doors.cli.text import layout
from orchestrator.doors.cli.text.layout import visible
from orchestrator.hints import Any

Answer = dict[str, Any]


def inbox(answer: Answer) -> list[str]:
    """The answer of `inbox`."""
    lines = [line for each in answer["questions"] for line in (*question(each), "")]
    return [*(lines[:-1] or ["No open questions."]), *layout.more(answer)]


def question(row: Answer) -> list[str]:
    """A question, what the report says that asked it, and below it each answer with what it does and its command."""
    places = [row["session_id"], row["group_id"], row["task_id"]]
    where = " / ".join(str(each) for each in places if each)
    first = f"{row['id']} ({row['kind']} on {where}), asked by {row['asked_by']} {screen.moment(row['asked_at'])}"
    lines = [visible(first), *(layout.INDENT + line for line in layout.visible_lines(row["text"]))]
    lines += [layout.INDENT + line for line in told(row["report"], row["text"])] if row["report"] else []
    for each in row["answers"]:
        lines.append(f"{layout.INDENT}{visible(each['decision'])}: {visible(each['effect'])}")
        lines.append(f"{layout.INDENT * 2}{visible(each['command'])}")
    return lines


def told(report: Answer, asked: str) -> list[str]:
    """What a report says that asked a question: who reported what, its summary, its errors, and how far it came."""
    said = "" if report["summary"] == asked else report["summary"]
    head = f"{report['id']}: {report['agent_id']} reported {report['response_status']}"
    lines = [visible(head), *(layout.INDENT + line for line in (layout.visible_lines(said) if said else ()))]
    for each in report["errors"]:
        message = f": {each['message']}" if each["message"] else ""
        lines.append(layout.INDENT + visible(f"{each['type']}{message}"))
    return [*lines, *(layout.INDENT + visible(line) for line in _progress(report["progress"] or {}))]


def _progress(found: Answer) -> list[str]:
    phases = [found.get("phases_completed"), found.get("phases_total")]
    done = f"phases {phases[0] or 0} of {phases[1]}" if phases[1] is not None else ""
    parts = [str(part) for part in (found.get("stage"), done, found.get("details")) if part]
    return [f"so far: {', '.join(parts)}"] if parts else []
