"""Where a session stands, as text."""

from __future__ import annotations

from orchestrator.core import completion_wording
from orchestrator.core.handoff import CAUSES, NOTES, STALLED
from orchestrator.core.suggestions import suggest
from orchestrator.doors.cli import output, screen
from orchestrator.doors.cli.text import layout
from orchestrator.doors.cli.text.layout import visible
from orchestrator.hints import Any

Answer = dict[str, Any]

_STATES = {
    "running": "running",
    "paused": "paused",
    "ended": "ended",
    "person_awaited": "waiting for a person",
    "stalled": "STALLED: nobody to wait for",
}


def status(answer: Answer) -> list[str]:
    """The answer of `status`: one session, or every open one in a table."""
    if "sessions" in answer:
        return _overview(answer["sessions"])
    lines = _head(answer)
    lines += layout.section("Groups", _groups(answer.get("groups", [])))
    lines += layout.section("In progress", [line for spawn in answer["spawns"] for line in _spawn(spawn)])
    questions = [line for each in answer["questions"] for line in _question(each)]
    lines += layout.section("Questions for a person", questions)
    lines += layout.section("Stuck", [line for each in answer["stuck"] for line in stuck(each)] or _causes(answer))
    waiting = [line for each in answer.get("pending_approval", ()) for line in _unapproved(each)]
    lines += layout.section("Commands from reports waiting for a person (pending_approval)", waiting)
    shown = _shown(answer)
    return lines + layout.section("Next", [visible(command) for command in answer["next"] if command not in shown])


def _shown(answer: Answer) -> set[str]:
    """What the sections above have said of how it goes on."""
    named = ("handoff", "report_command", "redispatch")
    commands = {spawn[name] for spawn in answer["spawns"] for name in named if name in spawn}
    commands |= {each["help"] for each in answer.get("pending_approval", ())}
    return commands | {step["command"] for each in answer["stuck"] for step in each["helps"]}


def _unapproved(each: Answer) -> list[str]:
    """A criterion's command that nobody has allowed yet."""
    line = visible(f"{each['criterion']}: {' '.join(each['command'])} ({each['why']})")
    return [line, layout.INDENT + visible(each["help"])]


def stuck(group: Answer) -> list[str]:
    """A group that does not go on by itself: why, and each command that helps."""
    lines = [visible(f"{group['group_id']}: {group['why']}")]
    for step in group["helps"]:
        lines += [layout.INDENT + visible(f"To {step['what']}:"), layout.INDENT * 2 + visible(step["command"])]
    return lines


def _causes(answer: Answer) -> list[str]:
    """Why nothing goes on without the project manager, in words; a session that has just begun lacks nothing."""
    names = [cause for cause in answer.get("causes", ()) if cause in CAUSES or answer["stalled"]]
    return [CAUSES.get(name) or STALLED.get(name) or name for name in names] if answer["state"] != "ended" else []


def _overview(sessions: list[Answer]) -> list[str]:
    if not sessions:
        return [
            "No session is open.", output.worded(suggest("session create", id="ID", goal="TEXT")),
            f"{output.worded(suggest('session list', all=True))} shows those that have ended.",
        ]  # fmt: skip
    rows = [
        (each["session"]["id"], _STATES[each["state"]], progress(each["progress"]), each["goal"]) for each in sessions
    ]
    return layout.table(("SESSION", "STATE", "PROGRESS", "GOAL"), rows)


def _head(answer: Answer) -> list[str]:
    session = answer["session"]
    how = f"{session['kind']}, {session['mode']}, testing {session['testing_mode']}"
    return [
        f"Session {visible(session['id'])} ({visible(how)}): {_STATES[answer['state']]}",
        *layout.fields(
            (
                ("Goal", answer["goal"]),
                ("Outcome", session["outcome"]),
                ("Reason", session["outcome_reason"]),
                ("Awaits", layout.awaited(answer["awaited"])),
                ("Held", ", ".join(answer["held"]) or None),
                ("Progress", progress(answer["progress"])),
                ("Verdict", _verdict(answer.get("verdict"))),
                ("Rules", _rules(answer.get("workflow"))),
            )
        ),
    ]


def _rules(pinned: Answer | None) -> str | None:
    """The workflow version that a session was created with, and who made it active."""
    if pinned is None:
        return None
    return f"workflow version {pinned['version']} ({pinned['name']}), made active by {pinned['by']}"


def _verdict(found: Answer | None) -> str | None:
    if found is None:
        return None
    since = "" if found["fresh"] else " (out of date)"
    reason = layout.cut(found["reason"])
    return f"{found['verdict']} {screen.moment(found['at'])}, {found['id']}{since}: {reason}"


def progress(found: Answer) -> str:
    """How many groups have which status, and how often work came back."""
    if not found["groups"]:
        return "no groups"
    parts = ", ".join(f"{count} {name}" for name, count in found["by_status"].items())
    rework = f"; rework {found['rework']}" if found["rework"] else ""
    return f"{layout.counted(found['groups'], 'group')}: {parts}{rework}"


def _groups(groups: list[Answer]) -> list[str]:
    if not groups:
        return []
    rows = [(each["id"], each["status"], *_waiting(each["awaited"]), _note(each)) for each in groups]
    return layout.table(("GROUP", "STATUS", "AWAITS", "TURN", "SINCE", "NOTE"), rows)


def _waiting(awaited: Answer | None) -> tuple[object, object, object]:
    if awaited is None:
        return None, None, None
    return "a person" if awaited["role"] == "user" else awaited["role"], awaited["turn"], screen.when(awaited["since"])


def _note(group: Answer) -> str:
    notes = ["OVERDUE"] if group["overdue"] else []
    notes += [f"blocked by {', '.join(group['blockers'])}"] if group["blockers"] else []
    cause = group["cause"]
    notes += [waits(group)] if group["waits_for"] else []
    notes += [NOTES[cause]] if cause in NOTES else []
    notes += [doubt(group)] if group["doubt"] else []
    notes += [f"sent back {layout.times(group['rework'])}"] if group["rework"] else []
    return ", ".join(notes)


def waits(group: Answer) -> str:
    """The groups that a pending one waits for; nothing where it waits for none."""
    return f"waits for {', '.join(group['waits_for'])}" if group["waits_for"] else ""


def doubt(group: Answer) -> str:
    """Why a completed group is not proven; nothing where it is, or is not completed."""
    missing = f": {completion_wording.LACKING[group['missing']].lower()}" if group.get("missing") else ""
    return f"{completion_wording.DOUBTS[group['doubt']]}{missing}" if group["doubt"] else ""


def _spawn(spawn: Answer) -> list[str]:
    on = f" on {spawn['group_id']}" if spawn["group_id"] else ""
    late = ", OVERDUE" if spawn["overdue"] else ""
    who = f"{spawn['agent']}{on} ({spawn['agent_id']}, model {spawn['model']})"
    first = f"{who}: {spawn['action']}, turn {spawn['turn']}, {screen.since(spawn['since'])}{late}"
    commands = (
        ("started", started(spawn["start"]) if "start" in spawn else None),
        ("waits", limited(spawn["limited"]) if "limited" in spawn else None),
        ("hand-off", spawn["handoff"]),
        ("report", spawn["report_command"]),
        ("start again", spawn.get("redispatch")),
    )
    return [visible(first), *layout.fields(commands, layout.INDENT)]


def started(start: Answer) -> str:
    """Who was started for a turn: through what, since when, and the last sign of life."""
    worker = f", agent {start['worker']}" if start["worker"] else ""
    since, sign = screen.since(start["started_at"]), screen.when(start["last_sign"])
    through = f"{start['state']} through {start['via']} {since}"
    return f"{through}, client {start['client']}{worker}, last sign of life {sign}"


def limited(limit: Answer) -> str:
    """Until when a usage limit is waited for, and what was said of it."""
    said = f": {limit['reason']}" if limit["reason"] else ""
    return f"for a usage limit until {screen.when(limit['due_at'])}{said}"


def _question(question: Answer) -> list[str]:
    on = f" on {question['group_id']}" if question["group_id"] else ""
    first = f"{question['id']} ({question['kind']}{on}), {screen.since(question['asked_at'])}: {question['text']}"
    return [visible(first), *answers(question)]


def answers(question: Answer) -> list[str]:
    """Each answer that a question may be given: what it does, and the command that gives it."""
    lines = []
    for each in question.get("answers", ()):
        lines.append(f"{layout.INDENT}{visible(each['decision'])}: {visible(each['effect'])}")
        lines.append(f"{layout.INDENT * 2}{visible(each['command'])}")
    return lines


def session(answer: Answer) -> list[str]:
    """The answer of `session show`."""
    row = answer["session"]
    how = f"{row['kind']}, {row['mode']}, testing {row['testing_mode']}"
    pairs = (
        ("Goal", row["goal"]),
        ("Status", row["status"]),
        ("Outcome", row["outcome"]),
        ("Reason", row["outcome_reason"]),
        ("Awaits", layout.awaited(row["awaited"])),
        ("Progress", progress(row["progress"])),
        ("Turn timeout", f"{row['turn_timeout']} minutes"),
        ("Disabled roles", ", ".join(row["disabled_roles"]) or None),
        ("Workflow version", row["workflow_version_id"]),
        ("Created with", _rules(answer["workflow"])),
        ("Differs", "; ".join((answer["workflow"] or {}).get("differs", ())) or None),
        ("Created", f"{screen.when(row['created_at'])} by {row['created_by']}"),
    )
    return [f"Session {visible(row['id'])} ({visible(how)})", *layout.fields(pairs)]
