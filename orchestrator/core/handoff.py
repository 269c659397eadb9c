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

import functools
import re
from collections.abc import Iterable, Iterator

from orchestrator.core import completion_wording, masking, strict_json
from orchestrator.core.suggestions import Sentence, joined, sentence, suggest
from orchestrator.hints import Any

SHOWN_OUTPUT, DENIED_SHOWN = 1_000, 20
"""Characters from the end of a gate's output, and denied tools, that a hand-off shows."""
_LONG_FENCE = re.compile(r"`{3,}")


# Whoever looks at a session again and again is told of the same turns; a tenth of a `status` was wording them anew.
@functools.lru_cache(maxsize=1_024)
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


@functools.lru_cache(maxsize=1_024)
def report_command(session_id: str, group_id: str | None, role: str, turn: int | None) -> str:
    """The exact command that the agent's answer is reported with."""
    return suggest(
        "route", session_id=session_id, group_id=group_id, current_agent=role, turn=turn, status="CODE",
        summary="TEXT", details="JSON",
    )  # fmt: skip


BY_MESSAGE = (
    "Your last message is your report (where you are given SubagentHandback, the message that you hand back with it):"
    " end it with one fenced `json` document"
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
    lines += _section("Why you are called", called(full))
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
    how = f'Name those that you finish in your report, such as `"details": {{"tasks_done": ["{found[0]["id"]}"]}}`'
    if full.get("by_message"):
        return [*lines, "", f"{how}."]
    begin = task_command(full["session_id"], full["agent_id"], "in_progress")
    is_begun = all(task["status"] == "in_progress" for task in found)
    commands = full["task_command"] if is_begun else joined([begin, full["task_command"]], "\n")
    return [*lines, "", f"{how}; or:", "", _fence(commands)]


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
    line = f"- {group['id']} ({_quoted(group['name'])}): {group['status']}{awaited}{note(group)}"
    unmet = group.get("unmet", ())
    return [line, *(f"  - {completion_wording.LACKING[each['part']]}: {_one_line(each['reason'])}" for each in unmet)]


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
    where = sentence("It is the member {} of `{}` ({}). It begins:", _quoted(item["name"]), item["file"], of)
    return [where, "", _fence(value["summary"])]


def _block(value: object) -> str:
    """A value as it is; in JSON its secrets are masked here where it is escaped, since a line's end tells of them."""
    if isinstance(value, str):
        return _fence(value)
    written = strict_json.canonical(value)
    return _fence(strict_json.canonical(masking.mask_value(value)) if "\\" in written else written, "json")


def _fence(text: str, language: str = "") -> str:
    """The text between fences that are longer than any run of backticks in it."""
    mark = "`" * max((len(run) + 1 for run in _LONG_FENCE.findall(text)), default=3)
    return sentence("{}{}\n{}\n{}", mark, language, text, mark)


def _quoted(text: object) -> str:
    """The text between quotes, on one line."""
    escaped = masking.mask_before_spelling(str(text)).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{_one_line(escaped)}"'


def _one_line(text: str) -> str:
    """The text with line breaks, and whatever else does not print, spelt out."""
    text = masking.mask_before_spelling(text)
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def _word(name: str) -> str:
    """A name as it is, or quoted where it is not one word."""
    return name if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.:@/-]*", name) else _quoted(name)


LISTED = 200
"""How many groups a hand-off for a whole session names; where there are more, it counts them by status too."""
KINDS = ("awaiting_confirmation", "in_progress", "pending", "deferred_external", "cancelled", "completed")
"""The kinds of groups, those first that are for the project manager to say something about."""
TO_ACKNOWLEDGE = "to_be_acknowledged"
NOTHING_PLANNED = "nothing_planned"

_PHASES = {
    "complete": "Nothing runs: every group is completed, deferred, cancelled, or waits to be confirmed.",
    "attention": "Nothing runs, and not every group is settled.",
}
CAUSES = {
    "confirmation_needed": "Work is done and waits for the project manager to confirm it.",
    "blocked": "A group is blocked.",
    "held": "A group is held back: nobody is started on it yet.",
    "path_missing": "A group is with the project manager, and parts of its completion path are missing.",
    "waiting_on_deferred": "A group depends on one that is deferred.",
    "waiting_on_cancelled": "A group depends on one that is cancelled.",
    "nothing_planned": "The plan named no group, so nobody can be started.",
}
"""Why something does not go on by itself, a sentence for each cause."""
STALLED = {"nothing_pending": "No group is left to start.", "nothing_completed": "No group is completed."}
"""Causes that say something only where nobody is awaited, or the project manager alone."""
NOTES = {
    "confirmation_needed": "to be confirmed",
    "path_missing": "completion path not met",
    "held": "held back",
    "waiting_on_deferred": "depends on a deferred group",
    "waiting_on_cancelled": "depends on a cancelled group",
}
"""The same of one group, in a few words."""
_OF_A_GROUP = {**NOTES, "blocked": "blocked", TO_ACKNOWLEDGE: "to be acknowledged by the confirmation"}
_ACKNOWLEDGED = ("confirmation_needed", TO_ACKNOWLEDGE)


def named(frozen: list[Any]) -> dict[str, Any]:
    """A group of the frozen document, by name; one that says less than today's is filled up."""
    lacking: list[Any] = [None, [], []]
    id_, status, awaited, cause, unmet, open_ = [*frozen, *lacking[len(frozen) - 3 :]]
    told = [{"part": part, "reason": reason} for part, reason in unmet]
    found = {"id": id_, "status": status, "awaited_role": awaited, "cause": cause, "unmet": told}
    return found | ({"tasks": [{"id": task, "status": at} for task, at in open_]} if open_ else {})


def called(full: dict[str, Any]) -> list[str]:
    """Why the project manager is called, a sentence a line."""
    phase = _PHASES.get(full.get("phase_check", ""))
    causes = [CAUSES.get(cause) or STALLED.get(cause) or cause for cause in full.get("causes", ())]
    return [f"- {sentence}" for sentence in ([phase] if phase else []) + causes]


def note(group: dict[str, Any]) -> str:
    """What a group waits for besides an agent, to be put behind its status."""
    found = _OF_A_GROUP.get(group.get("cause") or "")
    return f", {found}" if found else ""


def next_steps(full: dict[str, Any]) -> list[dict[str, str]]:
    """What the project manager may do about the groups, as {what, command}; nothing where no group needs them.

    Args:
        full: the document with its groups and the role's statuses, by whose effects the commands are chosen. `external`
            of a group says that it may be deferred.
    """
    groups = full.get("groups", ())
    statuses: dict[str, str] = {}
    for each in full["statuses"]:
        statuses.setdefault(each["effect"], each["status"])
    acknowledge = [group["id"] for group in groups if group["cause"] in _ACKNOWLEDGED]
    settled = full.get("phase_check") == "complete"
    found = [_confirm(full, statuses, acknowledge)] if settled else [_go_on(full, statuses, groups)]
    if NOTHING_PLANNED in full.get("causes", ()):
        found.append(_plan(full, statuses))
    found += [step for group in groups for step in _on_tasks(full, group)]
    found += [_defer(full, statuses, group) for group in groups if group.get("external")]
    found += [_about(full, statuses, group) for group in groups]
    return [step for step in found if step is not None]


def _confirm(full: dict[str, Any], statuses: dict[str, str], ids: list[str]) -> dict[str, str] | None:
    what = f"confirm the goal, and with it {', '.join(ids)}" if ids else "confirm the goal"
    return _to_report(full, statuses.get("confirm"), what, None, ids)


def _go_on(full: dict[str, Any], statuses: dict[str, str], groups: Any) -> dict[str, str] | None:
    ids = [group["id"] for group in groups if group["cause"] == "confirmation_needed"]
    what = f"confirm {', '.join(ids)}, and go on"
    return _to_report(full, statuses.get("continue"), what, None, ids) if ids else None


PLAN = '{"plan": {"groups": [{"id": "ID", "name": "NAME", "description": "TEXT"}]}}'
"""What the details of a report look like that plans a group."""


def _plan(full: dict[str, Any], statuses: dict[str, str]) -> dict[str, str] | None:
    """The report that holds the plan."""
    return _to_report(full, statuses.get("plan"), "plan the groups", None, details=PLAN)


def _on_tasks(full: dict[str, Any], group: dict[str, Any]) -> Iterator[dict[str, str]]:
    """What the project manager may do about the open tasks of a group, besides sending it back to its builder."""
    session, role = full["session_id"], full["role"]
    for task in group.get("tasks", ()):
        id_ = task["id"]
        if task["status"] == "in_progress":
            done = suggest("task set-status", id=id_, status="done", session_id=session, by=role)
            yield {"what": f"say that task {id_} is done", "command": done}
        drop = suggest("task set-status", id=id_, status="cancelled", session_id=session, by=role, reason="TEXT")
        yield {"what": f"drop task {id_} of {group['id']}", "command": drop}


def _defer(full: dict[str, Any], statuses: dict[str, str], group: dict[str, Any]) -> dict[str, str] | None:
    """Setting a group aside that waits for something outside the project."""
    return _to_report(full, statuses.get("defer"), f"defer {group['id']} until what it waits for is there", group["id"])


def _about(full: dict[str, Any], statuses: dict[str, str], group: dict[str, Any]) -> dict[str, str] | None:
    """What may be done about one group that does not go on by itself."""
    cause, id_ = group["cause"], group["id"]
    in_progress = group["status"] == "in_progress"
    if cause == "path_missing":
        return _to_report(full, statuses.get("rework"), f"send {id_} back to its builder", id_)
    if cause == "blocked" and in_progress:
        return _to_report(full, statuses.get("escalate"), f"ask the tech lead about {id_}", id_)
    session = full["session_id"]
    if cause == "blocked":
        look = suggest("blocker list", group_id=id_, session_id=session)
        return {"what": f"look at what blocks {id_}", "command": look}
    if cause in ("waiting_on_deferred", "waiting_on_cancelled"):
        drop = suggest("group undepend", id=id_, on="GROUP", by="project_manager", reason="TEXT", session_id=session)
        return {"what": f"let {id_} go on without the group that it depends on", "command": drop}
    return None


def _to_report(
    full: dict[str, Any], status: str | None, what: str, group: str | None, ids: list[str] | None = None,
    details: str | None = None,
) -> dict[str, str] | None:
    if status is None:
        return None
    command = suggest(
        "route", session_id=full["session_id"], group_id=group, current_agent=full["role"], turn=full["turn"],
        status=status, acknowledge=dict.fromkeys(ids or (), "REASON"), summary="TEXT",
        details=details,
    )  # fmt: skip
    found = {"what": what, "command": command}
    return {**found, "report": _document(status, group, ids or (), details)}


def _document(status: str, group: str | None, ids: Iterable[str], details: str | None) -> str:
    """The report of such a step, for an agent whose last message is read."""
    reasons = ", ".join(f'"{id_}": "REASON"' for id_ in ids)
    about = [f'"group_id": "{group}"'] if group else []
    more = [f'"details": {details}'] if details else []
    more += [f'"acknowledge": {{{reasons}}}'] if reasons else []
    return "{" + ", ".join([f'"status": "{status}"', *about, '"summary": "TEXT"', *more]) + "}"
