"""What waits for a person, as text."""

from __future__ import annotations

from typing import Any

from orchestrator.doors.cli.text import layout
from orchestrator.doors.cli.text.layout import visible

Answer = dict[str, Any]


def inbox(answer: Answer) -> list[str]:
    """The answer of `inbox`."""
    lines = [line for each in answer["questions"] for line in (*question(each), "")]
    return [*(lines[:-1] or ["Nothing waits for a person."]), *layout.more(answer)]


def question(row: Answer) -> list[str]:
    """A question, and below it each answer with what it does and its command."""
    places = [row["session_id"], row["group_id"], row["task_id"]]
    where = " / ".join(str(each) for each in places if each)
    first = f"{row['id']} ({row['kind']} on {where}), asked by {row['asked_by']} at {row['asked_at']}"
    lines = [visible(first), *(layout.INDENT + line for line in layout.visible_lines(row["text"]))]
    for each in row["answers"]:
        lines.append(f"{layout.INDENT}{visible(each['decision'])}: {visible(each['effect'])}")
        lines.append(f"{layout.INDENT * 2}{visible(each['command'])}")
    return lines


def enrolled(answer: Answer) -> list[str]:
    """The answer of `human enrol`."""
    row = answer["enrolment"]
    return [
        f"{visible(row['agent_id'])} is enrolled ({visible(row['id'])}); any older token of theirs is void.",
        "The token, shown this once (keep it in a file that only you can read):",
        visible(answer["token"]),
    ]
