"""The groups that do not go on by themselves, each with the reason and the commands that help."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.app.engine import decision_views, overview
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.app.session import open_work
from orchestrator.core import handoff, task_graph
from orchestrator.core.routing.facts import MANAGER
from orchestrator.core.suggestions import suggest
from orchestrator.hints import Any
from orchestrator.store.queries import Row

CYCLE = "dependency_cycle"
_GOES_ON = (None, "running", "pending", "held", handoff.TO_ACKNOWLEDGE)
"""Causes of groups that need nobody's help: they run, wait for a free slot or for another group, or are settled."""

_NEVER_DONE = ("waiting_on_deferred", "waiting_on_cancelled")
"""Causes of groups that wait for another one that is set aside."""


def groups(
    context: Context, session: Row, rows: list[Row], questions: list[Row], *, kinds: overview.Kinds | None = None,
    waits: dict[str, list[str]] | None = None,
) -> list[Answer]:
    """The groups of an open session that wait for the project manager, are blocked, or depend on each other.

    Args:
        session, rows: the session and all its groups, as `kernel.views` shapes them.
        questions: the open questions; a group that waits for a person is not listed, its question is.
        kinds, waits: the groups by kind and what they wait for, where the caller has looked at them.

    Returns:
        For each `group_id`, `cause`, `why` (a sentence), `waits_for` (groups), `unmet` (the missing parts of its
        completion path), `helps`: {what, command}, each command accepted as it stands.
    """
    if session["status"] == "ended":
        return []
    kinds = overview.kinds(context.reader, session["id"]) if kinds is None else kinds
    waits = open_work.dependencies(context, session["id"], rows) if waits is None else waits
    cycle = task_graph.cycle(waits)
    if not cycle and all(entry.get("cause") in _GOES_ON for entries in kinds.values() for entry in entries):
        # What the document says of each group is looked up only where one does not go on.
        return []
    asked = {question["group_id"] for question in questions}
    document = overview.groups_now(context.reader, session["id"], kinds)
    found = []
    for group in map(handoff.named, document["groups"]):
        id_, cause = group["id"], _cause(group, cycle)
        if cause in _GOES_ON or id_ in asked:
            continue
        helps = _without(session["id"], id_, waits.get(id_, ()), rows) if cause in _NEVER_DONE else []
        helps = helps or _helps(context, session, document, {**group, "cause": cause}, cycle)
        found.append({
            "group_id": id_, "cause": cause, "why": _why(group, cause, cycle),
            "waits_for": list(waits.get(id_, ())), "unmet": group["unmet"], "helps": helps,
        })  # fmt: skip
    return found


def _cause(group: dict[str, Any], cycle: tuple[str, ...]) -> str | None:
    cause: str | None = group["cause"]
    return CYCLE if cause == "pending" and group["id"] in cycle else cause


def _why(group: dict[str, Any], cause: str | None, cycle: tuple[str, ...]) -> str:
    if cause == CYCLE:
        return f"Dependency cycle: {' -> '.join((*cycle, cycle[0]))}."
    missing = "; ".join(f"{each['part']}: {each['reason']}" for each in group["unmet"])
    sentence = handoff.CAUSES.get(str(cause), str(cause))
    return f"{sentence.rstrip('.')} ({missing})." if missing else sentence


def _helps(
    context: Context, session: Row, document: dict[str, Any], group: dict[str, Any], cycle: tuple[str, ...]
) -> list[Answer]:
    """What can be done about one group."""
    if group["cause"] == CYCLE:
        command = suggest(
            "group undepend", id=group["id"], on=_after(cycle, group["id"]), by=MANAGER, session_id=session["id"],
            reason="TEXT",
        )  # fmt: skip
        return [{"what": f"break the cycle at {group['id']}", "command": command}]
    workflow = context.version(session["workflow_version_id"]).workflow
    own = session["awaited_role"] == MANAGER
    if group["cause"] == "blocked" and group["status"] == "in_progress":
        open_ = context.reader.blockers(session["id"], group["id"])
        group = {**group, "external": any(blocker.external for blocker in open_)}
    full = {
        "session_id": session["id"], "role": MANAGER, "turn": session["turn"] if own else None, "groups": [group],
        "statuses": decision_views.statuses(workflow, MANAGER, "spawn"), "phase_check": document.get("phase_check"),
    }  # fmt: skip
    return handoff.next_steps(full)


def _without(session: str, group: str, waits: Sequence[str], rows: list[Row]) -> list[Answer]:
    """The commands that drop a group's dependencies on others that are deferred or cancelled."""
    aside = {row["id"] for row in rows if row["status"] in ("deferred_external", "cancelled")}
    return [
        {
            "what": f"let {group} go on without {other}",
            "command": suggest("group undepend", id=group, on=other, by=MANAGER, reason="TEXT", session_id=session),
        }
        for other in waits if other in aside
    ]  # fmt: skip


def _after(cycle: tuple[str, ...], group: str) -> str:
    return cycle[(cycle.index(group) + 1) % len(cycle)]
