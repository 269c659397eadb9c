"""What is to be done next, and claims, as text."""

from __future__ import annotations

from orchestrator.doors.cli import screen
from orchestrator.doors.cli.text import layout, standing
from orchestrator.doors.cli.text.layout import visible
from orchestrator.hints import Any

Answer = dict[str, Any]


def next(answer: Answer) -> list[str]:
    """The answer of `next`: for an agent, or for a session."""
    return _action(answer) if "action" in answer else _postflight(answer)


def _action(answer: Answer) -> list[str]:
    lines = [f"{visible(answer['action'])} ({visible(answer['state'])})", visible(answer["instruction"])]
    progress = answer["progress"]
    if progress["total"]:
        parts = [f"{count} {name}" for name, count in progress.items() if count and name != "total"]
        lines.append(f"{layout.counted(progress['total'], 'subtask')}: {', '.join(parts)}")
    return lines + layout.section("Blocked below you", [_notice(each) for each in answer["notices"]])


def _notice(notice: Answer) -> str:
    who = f"{notice['type']}, {notice['blocker_class']}, by {notice['opened_by']}"
    return visible(f"{notice['task_id']} ({who}): {notice['reason']}")


def _postflight(answer: Answer) -> list[str]:
    lines = []
    for question in answer["questions"]:
        lines.append(visible(f"USER REVIEW REQUIRED: {question['reason']}"))
        lines.append(visible(f"After resolving, run {question['command']} to continue"))
        lines += standing.answers(question)
    if answer["questions"] and answer["turns"]:
        lines += layout.section("Open turns", [visible(f"{_who(each)}: {each['handoff']}") for each in answer["turns"]])
    for each in answer["resume"]:
        if each["command"] is None:
            lines.append(visible(f"In progress: {_who(each)}: {standing.started(each['start'])}"))
            continue
        lines += [visible(f"Start {_who(each)}:")] if each["agent"] else []
        lines.append(visible(f"Run {each['command']} to resume{_phase(each)}"))
    if answer["validate"]:
        who = "Waiting" if answer["resume"] or answer["turns"] else "Nobody to start: waiting"
        lines.append(visible(f"{who} for the validator. Run {answer['validate']['command']}"))
    lines += layout.section("Stuck", [line for each in answer["stuck"] for line in standing.stuck(each)])
    return lines or [visible(_nothing(answer))]


def _who(turn: Answer) -> str:
    """Who is to be started: `developer (sonnet) on A, turn 3`."""
    model = f" ({turn['model']})" if turn["model"] else ""
    on = f" on {turn['group_id']}" if turn["group_id"] else ""
    return f"{turn['agent']}{model}{on}, turn {turn['turn']}"


def _nothing(answer: Answer) -> str:
    session, verdict = answer["session_id"], answer["verdict"]
    if answer["state"] != "ended":
        return f"Session {session} has no open turns."
    said = f" Verdict: {verdict['verdict']}, {layout.cut(verdict['reason'])}" if verdict else ""
    return f"Session {session} has ended: {answer['outcome']}.{said}"


def _phase(spawn: Answer) -> str:
    if spawn["from_phase"] is None:
        return ""
    of = "" if spawn["phases_total"] is None else f" of {spawn['phases_total']}"
    path = f", hand-off {spawn['handoff_path']}" if spawn["handoff_path"] else ""
    return f" from phase {spawn['from_phase']}{of}{path}"


def claim(answer: Answer) -> list[str]:
    """The answer of `task claim`, `task heartbeat` and `task release`."""
    task, held = answer["task"], answer["claim"]
    if task is None:
        return [visible(f"Nothing to claim: {answer['why']}")]
    first = f"Task {task['id']} ({task['title']}) is {task['status']}"
    if held is None:
        return [visible(f"{first}; nobody has claimed it.")]
    lines = [visible(f"{first}, claimed by {held['holder']} {screen.until(held['until'])}.")]
    if answer.get("taken_over_from"):
        lines.append(visible(f"Taken over from {answer['taken_over_from']}."))
    # Not "Token: ...", which is masked as a secret; it is none, only the claim's name (SEC-15).
    return [*lines, visible(f"Claim token: {held['token']} (pass it as --claim-token)")]
