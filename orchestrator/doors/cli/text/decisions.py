"""How a decision reads: who acts next, by which rule, and what else followed."""

from __future__ import annotations

from typing import Any

from orchestrator.core import handoff
from orchestrator.doors.cli.shapes import visible


def decision(answer: dict[str, Any]) -> list[str]:
    """A decision in a few lines: who acts next, which rules fired, what else followed."""
    lines = [_first(answer)]
    if answer.get("dry_run"):
        lines[0] += " (dry run: nothing was recorded)"
    if answer.get("repeated"):
        lines[0] += " (recorded before)"
    lines += [
        f"  rule {visible(rule.get('name'))}: {visible(rule.get('reason'))}" for rule in answer.get("rules") or ()
    ]
    lines += _planned(answer)
    lines += [_in_file(part) for part in answer.get("evidence") or ()]
    if "turn" not in answer:
        # The first line names the one agent that a decision starts alone.
        lines += [_spawn(spawn) for spawn in answer.get("spawns") or ()]
    for name in _SHOWN:
        if answer.get(name):
            lines.append(f"  {name.replace('_', ' ')}: {visible(answer[name])}")
    for each in answer.get("followed_by") or ():
        first, *rest = decision(each)
        lines += [f"  then {first}", *rest]
    return lines


def _first(answer: dict[str, Any]) -> str:
    """Who acts next, or why nobody is started."""
    if answer.get("next_agent"):
        return f"{visible(answer.get('action'))}: {visible(answer['next_agent'])}{_where(answer)}"
    return visible(f"Nobody to start: {nobody(answer)}")


_WAITS = {
    "validate_then_end": "the validator decides next",
    "pause_for_user": "a person must answer a question",
    "end_session": "the session has ended",
}


def nobody(answer: dict[str, Any]) -> str:
    """Why a decision starts nobody, in words."""
    left = answer.get("awaiting_manager") or ()
    if left:
        return f"{', '.join(left)} {'waits' if len(left) == 1 else 'wait'} for the project manager"
    action = str(answer.get("action"))
    return _WAITS.get(action) or str(answer.get("reason") or action).replace("_", " ")


def _planned(answer: dict[str, Any]) -> list[str]:
    """What the report's plan made, and what it named that existed already."""
    named = [(what, answer.get("planned", {}).get(what)) for what in ("groups", "criteria", "unchanged")]
    return [f"  planned {what}: {visible(', '.join(ids))}" for what, ids in named if ids]


_SHOWN = (
    "reason",
    "model",
    "skip_reason",
    "escalation_reason",
    "phase_check",
    "blockers_opened",
    "blockers_resolved",
    "tasks_done",
    "group_status",
    "question_id",
    "answered",
    "decision_id",
)


def _where(answer: dict[str, Any]) -> str:
    turn, place = answer.get("turn"), handoff.place(answer)
    place = place and visible(place)
    return f"{place}, turn {turn}" if turn is not None else place


def _in_file(part: dict[str, Any]) -> str:
    return f"  kept in a file: {part['what']}, {part['bytes']} bytes, {visible(part['path'])}"


def _spawn(spawn: dict[str, Any]) -> str:
    who = f"{visible(spawn.get('agent'))} ({visible(spawn.get('model'))})"
    return f"  start {who} on {visible(spawn.get('group_id'))}, turn {visible(spawn.get('turn'))}"
