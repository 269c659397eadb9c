"""The hand-off that a spawn freezes: references to rows that never change, under one hash.

The document names what the agent gets; `render` puts the referenced texts in. So a decision proves by one hash what
an agent was told, and no context is stored twice. What may change later stands in the document itself.

Besides whom it is for (`session_id`, `group_id`, `turn`, `role`, `agent_id`, `action`, `workflow_version`), it has

- `context`: pairs of an item's name and the seq of the report whose details hold it; `missing_context`: names that the
  transition asks for and no report gave.
- `blockers`: ids of the group's open blockers, newest first; `external`: pairs of a blocker's id and the seq of the
  report that says what outside it waits for.
- `reports`: seqs of the group's latest reports, newest first: guidance and findings.
- `tasks`: pairs of the id of an open task of the group and its status.
- `question`: id of the question whose answer the agent gets; `resume`: seq of the report that says where it goes on.
- `groups`: for a session as a whole, each group's id, status and awaited role at that moment, why it does not go on by
  itself, and pairs of a part of its completion path that is missing and the reason; `group_counts`: the number of
  groups by status, where `groups` does not name all of them; `phase_check`, `causes`: where nothing runs, whether
  every group is settled, and why nothing goes on by itself.
"""

from __future__ import annotations

import re
from typing import Any

from orchestrator.core import completion, handoff_groups, large, strictjson
from orchestrator.core.suggestions import Sentence, joined, sentence, suggest

SHOWN_OUTPUT, DENIED_SHOWN = 1_000, 20
"""Characters from the end of a gate's output, and denied tools, that a hand-off shows."""
_LONG_FENCE = re.compile(r"`{3,}")


def command(session_id: str, group_id: str | None, turn: int) -> str:
    """The command that prints the hand-off."""
    return suggest("handoff", group_id=group_id, turn=turn, session_id=session_id)


def first_line(full: dict[str, Any]) -> str:
    """What every hand-off begins with: whose turn it is, so that an answer can be told from it alone."""
    group = full["group_id"] or "-"
    return f"[orchestrator {full['session_id']} {group} turn {full['turn']} {full['role']} {full['action']}]"


def place(decision: dict[str, Any]) -> str:
    """Where the agent that a decision starts is to act, or which groups are left to the project manager, in words.

    A decision on a report in one group may call the project manager for the whole session, or start other groups.
    """
    spawns, left = decision.get("spawns"), decision.get("awaiting_manager")
    if left and not decision["next_agent"]:
        return f"; {', '.join(left)} {'awaits' if len(left) == 1 else 'await'} project_manager"
    if not decision["group_id"] or decision["action"] == "spawn_batch":
        return ""
    return " for the session" if spawns and spawns[0]["group_id"] is None else f" on {decision['group_id']}"


def report_command(session_id: str, group_id: str | None, role: str, turn: int | None) -> str:
    """The exact command that the agent's answer is reported with."""
    return suggest(
        "route", session_id=session_id, group_id=group_id, current_agent=role, turn=turn, status="CODE",
        summary="TEXT", details="JSON",
    )  # fmt: skip


BY_MESSAGE = (
    "Your last message is your report: end it with one fenced `json` document"
    ' `{"status": "CODE", "summary": "one sentence", "details": {}}`, or with one line `STATUS: CODE`, and nothing'
    " after it. It is taken from there; run no command to hand it in."
)
"""How an agent reports whose last message is read."""


def render(full: dict[str, Any], *, is_open: bool = True) -> str:
    """The hand-off as Markdown, from the document with its references filled in.

    What agents wrote stands in fences or between quotes on one line, so that it cannot pass for a part of the
    hand-off; only the role's own text, which is loaded with the workflow, stands as it is, at the end.

    Args:
        is_open: whether the turn is still awaited; of one that is not, no report is asked for.
    """
    group = full.get("group") or {}
    title = f"Group {group['id']}: {_quoted(group['name'])}" if group else f"Session {full['session_id']}"
    lines = [first_line(full), "", f"# {title}", ""]
    if not is_open:
        lines += [f"Turn {full['turn']} is over; this is what the agent was told.", ""]
    lines += [f"You are {full['role']} ({full['agent_id']}), turn {full['turn']}: {full['action']}.", ""]
    lines += _section("Goal", [_fence(full["goal"]) if full["goal"] else "(none given)"])
    if group and group.get("description"):
        lines += _section("Description", [_fence(group["description"])])
    if group:
        flags = [group["kind"], f"complexity {group['complexity']}"]
        flags += ["security-sensitive"] if group["security_sensitive"] else []
        lines += _section("Group", [", ".join(flags)])
    lines += _section("Open tasks of this group", _tasks(full))
    lines += _section("A person's answer", _answered(full.get("question")))
    lines += _section("Resume point", _resume(full.get("resume")))
    lines += _section("Why you are called", handoff_groups.called(full))
    lines += _section("Success criteria", [_criterion(c) for c in full["criteria"]])
    lines += _section("Open blockers", [_blocker(b) for b in full["blockers"]])
    for item in full["context"]:
        title = f"Context: {_word(item['name'])} (from {item['producer']}, step {item['seq']})"
        lines += _section(title, _moved(item) if "evidence" in item else [_block(item["value"])])
    lines += _section("Missing context", [f"- {_word(name)}" for name in full["missing_context"]])
    reports = [line for report in full["reports"] for line in _report(report)]
    lines += _section("Earlier reports on this group, newest first", reports)
    lines += _section("Tools that were denied", [_denied(each) for each in full.get("denied", ())])
    title = "Found by the import (read from texts of a peer; no proof)"
    lines += _section(title, [_found(each) for each in full.get("imported", ())])
    lines += _section("Groups", _groups(full))
    lines += _section("What may follow", _next(full)) if is_open else []
    lines += _section("You may report", [f"- {s['status']}: {_one_line(s['description'])}" for s in full["statuses"]])
    if is_open:
        lines += _section("Report with", [BY_MESSAGE if full.get("by_message") else _fence(full["report_command"])])
    lines += _section("Your role", [full["role_text"]] if full["role_text"] else [])
    while not lines[-1].strip():
        lines.pop()
    if not isinstance(lines[-1], Sentence):
        lines[-1] = lines[-1].rstrip()
    return joined(lines, "\n") + "\n"


def _section(title: str, body: list[str]) -> list[str]:
    return [f"## {title}", "", *body, ""] if body else []


def _answered(question: dict[str, Any] | None) -> list[str]:
    if question is None:
        return []
    asked = f"Asked ({question['id']}, {question['kind']}): {_quoted(question['text'])}"
    said = f"Answered by {question['closed_by']}: {question['answer']}"
    return [asked, "", said, *(["", _fence(question["note"])] if question["note"] else [])]


def _tasks(full: dict[str, Any]) -> list[str]:
    found = full.get("tasks", ())
    if not found:
        return []
    lines: list[str] = []
    for task in found:
        lines.append(f"- {task['id']} ({task['status']}): {_quoted(task['title'])}")
        if task["description"]:
            lines += ["", _fence(task["description"]), ""]
    how = f'Name those that you finish in your report, such as `"details": {{"tasks_done": ["{found[0]["id"]}"]}}`; or:'
    begin = task_command(full["session_id"], full["agent_id"], "in_progress")
    is_begun = all(task["status"] == "in_progress" for task in found)
    commands = full["task_command"] if is_begun else joined([begin, full["task_command"]], "\n")
    return [*lines, "", how, "", _fence(commands)]


def task_command(session_id: str, agent_id: str, status: str = "done") -> str:
    """How an agent finishes a task that it has begun, or begins one."""
    return suggest("task set-status", id="ID", status=status, session_id=session_id, by=agent_id)


def _resume(point: dict[str, Any] | None) -> list[str]:
    if point is None:
        return []
    total = f" of {point['phases_total']}" if point["phases_total"] is not None else ""
    lines = [f"- begin with phase {point['phase']}{total}"] if point["phase"] is not None else []
    lines += [f"- stopped at {_quoted(point['stage'])} (step {point['seq']})"] if point["stage"] else []
    lines += [f"- hand-off file: {_quoted(point['handoff_path'])}"] if point["handoff_path"] else []
    return lines or [f"- step {point['seq']} stopped in the middle"]


def _criterion(criterion: dict[str, Any]) -> str:
    decided = []
    if criterion["operator"]:
        decided.append(f"{_quoted(criterion['metric'])} {criterion['operator']} {_quoted(criterion['target'])}")
    if criterion["command"]:
        decided.append(_quoted(" ".join(criterion["command"])))
    by = f" (decided by: {', '.join(decided)})" if decided else ""
    return f"- {criterion['id']}: {_quoted(criterion['text'])}{by}"


def _blocker(blocker: dict[str, Any]) -> str:
    dependency = blocker["external_dependency"]
    external = f", external: {_quoted(dependency)}" if dependency else ""
    return f"- {blocker['id']} ({blocker['class']} {_word(blocker['type'])}{external}): {_quoted(blocker['reason'])}"


def _report(report: dict[str, Any]) -> list[str]:
    summary = f": {_quoted(report['summary'])}" if report["summary"] else ""
    lines = [f"- step {report['seq']}, {report['agent_id']}: {report['response_status']}{summary}"]
    for gate in report.get("gates", ()):
        lines += [f"  - its gate {_word(gate['criterion'])} did not pass: {_one_line(gate['why'])}"]
        lines += ["", _fence(gate["output"][-SHOWN_OUTPUT:].rstrip()), ""] if gate["output"].strip() else []
    return lines


def _denied(denied: dict[str, Any]) -> str:
    return f"- {denied['role']} was not allowed to use: {', '.join(map(_quoted, denied['tools'][:DENIED_SHOWN]))}"


def _found(finding: dict[str, Any]) -> str:
    return f"- {finding['group_id'] or 'session'} ({_word(finding['code'])}): {_quoted(finding['text'])}"


def _groups(full: dict[str, Any]) -> list[str]:
    found = full.get("groups", ())
    lines = [line for group in found for line in _group_lines(group)]
    counts = full.get("group_counts")
    if counts:
        by_status = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
        lines.append(f"- the first {len(found)} of {sum(counts.values())}; in all: {by_status}")
    return lines


def _group_lines(group: dict[str, Any]) -> list[str]:
    awaited = f", awaits {group['awaited_role']}" if group["awaited_role"] else ""
    line = f"- {group['id']} ({_quoted(group['name'])}): {group['status']}{awaited}{handoff_groups.note(group)}"
    unmet = group.get("unmet", ())
    return [line, *(f"  - {completion.LACKING[each['part']]}: {_one_line(each['reason'])}" for each in unmet)]


def _next(full: dict[str, Any]) -> list[str]:
    lines: list[str] = []
    for step in full.get("next", ()):
        how = step.get("report", step["command"]) if full.get("by_message") else step["command"]
        lines += [*([""] if lines else []), f"To {step['what']}:", "", _fence(how)]
    return lines


def _moved(item: dict[str, Any]) -> list[str]:
    """Where an item lies that is too large for the record, and how it begins."""
    value = item["value"]
    of = f"{value['bytes']} bytes, SHA-256 {value['sha256']}, evidence {item['evidence']}"
    where = f"It is the member {_quoted(item['name'])} of `{value[large.FILE]}` ({of}). It begins:"
    return [where, "", _fence(value["summary"])]


def _block(value: object) -> str:
    return _fence(value) if isinstance(value, str) else _fence(strictjson.canonical(value), "json")


def _fence(text: str, language: str = "") -> str:
    """The text between fences that are longer than any run of backticks in it."""
    mark = "`" * max((len(run) + 1 for run in _LONG_FENCE.findall(text)), default=3)
    return sentence("{}{}\n{}\n{}", mark, language, text, mark)


def _quoted(text: object) -> str:
    """The text between quotes, on one line."""
    escaped = str(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{_one_line(escaped)}"'


def _one_line(text: str) -> str:
    """The text with line breaks, and whatever else does not print, spelt out."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def _word(name: str) -> str:
    """A name as it is, or quoted where it is not one word."""
    return name if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.:@/-]*", name) else _quoted(name)
