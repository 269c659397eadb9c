"""What a hand-off for a whole session says of its groups: why the project manager is called, and what may follow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from orchestrator.core.suggestions import suggest

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
        full: the document with its groups and the role's statuses, by whose effects the commands are chosen.
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
    found += [_about(full, statuses, group) for group in groups]
    return [step for step in found if step is not None]


def _confirm(full: dict[str, Any], statuses: dict[str, str], ids: list[str]) -> dict[str, str] | None:
    what = f"confirm the goal, and with it {', '.join(ids)}" if ids else "confirm the goal"
    return _report(full, statuses.get("confirm"), what, None, ids)


def _go_on(full: dict[str, Any], statuses: dict[str, str], groups: Any) -> dict[str, str] | None:
    ids = [group["id"] for group in groups if group["cause"] == "confirmation_needed"]
    what = f"confirm {', '.join(ids)}, and go on"
    return _report(full, statuses.get("continue"), what, None, ids) if ids else None


PLAN = '{"plan": {"groups": [{"id": "ID", "name": "NAME", "description": "TEXT"}]}}'
"""What the details of a report look like that plans a group."""


def _plan(full: dict[str, Any], statuses: dict[str, str]) -> dict[str, str] | None:
    """The report that plans what is to be done."""
    return _report(full, statuses.get("plan"), "plan the groups", None, details=PLAN)


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


def _about(full: dict[str, Any], statuses: dict[str, str], group: dict[str, Any]) -> dict[str, str] | None:
    """What may be done about one group that does not go on by itself."""
    cause, id_ = group["cause"], group["id"]
    in_progress = group["status"] == "in_progress"
    if cause == "path_missing":
        return _report(full, statuses.get("rework"), f"send {id_} back to its builder", id_)
    if cause == "blocked" and in_progress:
        return _report(full, statuses.get("escalate"), f"ask the tech lead about {id_}", id_)
    session = full["session_id"]
    if cause == "blocked":
        look = suggest("blocker list", group_id=id_, session_id=session)
        return {"what": f"look at what blocks {id_}", "command": look}
    if cause in ("waiting_on_deferred", "waiting_on_cancelled"):
        drop = suggest("group undepend", id=id_, on="GROUP", by="project_manager", reason="TEXT", session_id=session)
        return {"what": f"let {id_} go on without the group that it depends on", "command": drop}
    return None


def _report(
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
