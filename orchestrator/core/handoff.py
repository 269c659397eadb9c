"""The hand-off that a spawn freezes: references to rows that never change, under one hash.

The document names what the agent gets; `render` puts the referenced texts in. So a decision proves by one hash what
an agent was told, and no context is stored twice.
"""

from __future__ import annotations

from typing import Any

from orchestrator.core import strictjson


def document(
    *,
    session_id: str,
    group_id: str | None,
    turn: int,
    role: str,
    agent_id: str,
    action: str,
    workflow_version: str,
    context: list[list[Any]],
    missing_context: list[str],
    blockers: list[str],
    reports: list[int],
) -> dict[str, Any]:
    """The hand-off as it is frozen.

    Args:
        context: pairs of an item's name and the seq of the report whose details hold it.
        missing_context: names that the transition asks for and no report gave.
        blockers: ids of the group's open blockers, newest first.
        reports: seqs of the group's latest reports, newest first: guidance and findings.
    """
    return {
        "session_id": session_id,
        "group_id": group_id,
        "turn": turn,
        "role": role,
        "agent_id": agent_id,
        "action": action,
        "workflow_version": workflow_version,
        "context": context,
        "missing_context": missing_context,
        "blockers": blockers,
        "reports": reports,
    }


def command(session_id: str, group_id: str | None, turn: int) -> str:
    """The command that prints the hand-off."""
    group = f" {group_id}" if group_id else ""
    return f"orchestrator handoff{group} --turn {turn} --session-id {session_id}"


def report_command(session_id: str, group_id: str | None, role: str, turn: int) -> str:
    """The exact command that the agent's answer is reported with."""
    group = f" --group-id {group_id}" if group_id else ""
    return (
        f"orchestrator route --session-id {session_id}{group} --current-agent {role} --turn {turn}"
        " --status CODE --summary TEXT --details JSON"
    )


def render(full: dict[str, Any]) -> str:
    """The hand-off as Markdown, from the document with its references filled in."""
    group = full.get("group") or {}
    title = f"Group {group['id']}: {group['name']}" if group else f"Session {full['session_id']}"
    who = f"You are {full['role']} ({full['agent_id']}), turn {full['turn']}: {full['action']}."
    lines = [f"# {title}", "", who, ""]
    lines += _section("Goal", [full["goal"]] if full["goal"] else ["(none given)"])
    if group:
        flags = [group["kind"], f"complexity {group['complexity']}"]
        flags += ["security-sensitive"] if group["security_sensitive"] else []
        lines += _section("Group", [", ".join(flags)])
    lines += _section("Success criteria", [_criterion(c) for c in full["criteria"]])
    lines += _section("Open blockers", [_blocker(b) for b in full["blockers"]])
    for item in full["context"]:
        lines += _section(
            f"Context: {item['name']} (from {item['producer']}, step {item['seq']})", [_block(item["value"])]
        )
    lines += _section("Asked for, but given by nobody", [f"- {name}" for name in full["missing_context"]])
    lines += _section("Earlier reports on this group, newest first", [_report(r) for r in full["reports"]])
    lines += _section("Groups", [_group_line(g) for g in full.get("groups", [])])
    lines += _section("You may report", [f"- {s['status']}: {s['description']}" for s in full["statuses"]])
    lines += _section("Report with", [_fence(full["report_command"])])
    lines += _section("Your role", [full["role_text"]])
    return "\n".join(lines).rstrip() + "\n"


def _section(title: str, body: list[str]) -> list[str]:
    return [f"## {title}", "", *body, ""] if body else []


def _criterion(criterion: dict[str, Any]) -> str:
    decided = []
    if criterion["operator"]:
        decided.append(f"{criterion['metric']} {criterion['operator']} {criterion['target']}")
    if criterion["command"]:
        decided.append(" ".join(criterion["command"]))
    by = f" (decided by: {', '.join(decided)})" if decided else ""
    return f"- {criterion['id']}, {criterion['status']}: {criterion['text']}{by}"


def _blocker(blocker: dict[str, Any]) -> str:
    external = f", external: {blocker['external_dependency']}" if blocker["external"] else ""
    return f"- {blocker['id']} ({blocker['class']} {blocker['type']}{external}): {blocker['reason']}"


def _report(report: dict[str, Any]) -> str:
    summary = f": {report['summary']}" if report["summary"] else ""
    return f"- step {report['seq']}, {report['agent_id']}: {report['response_status']}{summary}"


def _group_line(group: dict[str, Any]) -> str:
    awaited = f", awaits {group['awaited_role']}" if group["awaited_role"] else ""
    return f"- {group['id']} ({group['name']}): {group['status']}{awaited}"


def _block(value: object) -> str:
    return value if isinstance(value, str) else _fence(strictjson.canonical(value), "json")


def _fence(text: str, language: str = "") -> str:
    mark = "```"
    while mark in text:
        mark += "`"
    return f"{mark}{language}\n{text}\n{mark}"
