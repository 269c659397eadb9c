"""Reasons and hand-offs, as text."""

from __future__ import annotations

from orchestrator.core.suggestions import suggest
from orchestrator.doors.cli import output, screen
from orchestrator.doors.cli.text import groups, layout, lists
from orchestrator.doors.cli.text.layout import visible
from orchestrator.hints import Any

Answer = dict[str, Any]


def why(answer: Answer) -> list[str]:
    """The answer of `why`: the reasons in sentences, then what they rest on."""
    lines = [screen.timed(visible(sentence)) for sentence in answer["sentences"]]
    if answer["about"] == "question":
        return lines
    if answer["about"] == "decision":
        return [f"Decision {visible(answer['decision']['id'])}", *(f"{layout.INDENT}{line}" for line in lines)]
    if answer["about"] == "task":
        return lines + layout.section("Last changes", [_change(each) for each in reversed(answer["changes"])])
    lines += layout.section("Open blockers", [groups.blocker(each) for each in answer["blockers"]])
    newest_last = list(reversed(answer["decisions"]))
    lines += layout.section("Last decisions", lists.decision_lines(newest_last))
    told = output.worded(
        suggest("audit timeline", session_id=answer["session_id"], group_id=answer["group_id"])
    )
    return lines + layout.section("History", [told])


def _change(row: Answer) -> str:
    reason = f": {row['reason']}" if row["reason"] else ""
    moved = f"{row['from_status'] or '(new)'} -> {row['to_status']}"
    return visible(f"step {row['seq']}, {screen.when(row['changed_at'])}: {moved} by {row['changed_by']}{reason}")


def handoff(answer: Answer) -> list[str]:
    """The answer of `handoff`: what the agent is given, as Markdown."""
    return layout.visible_lines(answer["markdown"])
