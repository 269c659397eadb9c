"""Lists, as tables."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.core import caller_labels
from orchestrator.doors.cli import screen
from orchestrator.doors.cli.text import layout, standing
from orchestrator.doors.cli.text.layout import visible
from orchestrator.hints import Any

Answer = dict[str, Any]
NO_SESSION = "No open sessions; --all lists ended ones."


def sessions(answer: Answer) -> list[str]:
    """The answer of `session list`."""
    rows = [
        (each["id"], each["status"], each["outcome"], each["awaited_role"],
         screen.when(each["created_at"]), each["goal"])
        for each in answer["sessions"]
    ]
    return _listed(answer, ("SESSION", "STATUS", "OUTCOME", "AWAITS", "CREATED", "GOAL"), rows, NO_SESSION)


def groups(answer: Answer) -> list[str]:
    """The answer of `group list`."""
    rows = [
        (each["id"], each["status"], each["kind"], each["priority"], each["awaited_role"], each["turn"],
         standing.waits(each) or standing.doubt(each), each["name"])
        for each in answer["groups"]
    ]
    headers = ("GROUP", "STATUS", "KIND", "PRIORITY", "AWAITS", "TURN", "NOTE", "NAME")
    return _listed(answer, headers, rows, "No groups.")


def agents(answer: Answer) -> list[str]:
    """The answer of `agent list`."""
    rows = [(each["id"], each["role"], each["kind"], each["active"], each["parent_id"]) for each in answer["agents"]]
    return _listed(answer, ("AGENT", "ROLE", "KIND", "ACTIVE", "REPORTS TO"), rows, "No agents.")


def decisions(answer: Answer) -> list[str]:
    """The answer of `audit decisions`."""
    found = answer["decisions"]
    return [*(decision_lines(found) or ["No decisions."]), *layout.more(answer)]


def decision_lines(found: list[Answer]) -> list[str]:
    """Decisions in a table, each with the rules that fired."""
    if not found:
        return []
    rows = [
        (
            each["id"],
            screen.when(each["timestamp"]),
            each["group_id"],
            f"{each['current_agent']} {each['response_status']}",
            _sent(each),
            ", ".join(rule["name"] for rule in each["rules"]),
        )
        for each in found
    ]
    return layout.table(("DECISION", "AT", "GROUP", "REPORTED", "DECIDED", "RULES"), rows)


def _sent(decision: Answer) -> str:
    if decision["action"] == "spawn_batch":
        return "spawn_batch " + ", ".join(f"{spawn['agent']} on {spawn['group_id']}" for spawn in decision["spawns"])
    reason = f" ({decision['reason']})" if decision["reason"] else ""
    return f"{decision['action']} {decision['next_agent'] or ''}".rstrip() + reason


def refusals(answer: Answer) -> list[str]:
    """The answer of `audit refusals`."""
    rows = [
        (each["id"], screen.when(each["refused_at"]), caller_labels.tried(each["actor"], each["role"]), each["status"],
         each["group_id"], each["code"], each["detail"])
        for each in answer["refusals"]
    ]  # fmt: skip
    headers = ("REFUSAL", "AT", "WHO", "STATUS", "GROUP", "CODE", "DETAIL")
    return _listed(answer, headers, rows, "No refusals.")


def timeline(answer: Answer) -> list[str]:
    """The answer of `audit timeline`: each step on a line, below it what it wrote where that is more than one thing."""
    if "lanes" in answer:
        from orchestrator.doors.cli.text import lanes

        return lanes.lanes(answer)
    lines = [line for event in answer["events"] for line in _event(event)]
    return [*(lines or ["No events."]), *layout.more(answer)]


def _event(event: Answer) -> list[str]:
    head = f"{event['seq']:>6}  {visible(screen.when(event['at'])):<10}  "
    wrote = [visible(each["text"]) for each in event["wrote"]]
    if len(wrote) < 2:
        return layout.hanging(head, visible(event["text"]))
    called = event["called"] or f"{event['kind']} by {event['actor']}"
    below = f"{'':>8}{layout.INDENT}"
    return [*layout.hanging(head, visible(called)), *(line for text in wrote for line in layout.hanging(below, text))]


def _listed(answer: Answer, headers: tuple[str, ...], rows: Sequence[tuple[object, ...]], nothing: str) -> list[str]:
    return [*(layout.table(headers, rows) if rows else [nothing]), *layout.more(answer)]
