"""Which moves of groups, sessions, tasks, runs and phases exist, and who may make them: tables, without the machine."""

from __future__ import annotations

from orchestrator.errors import Refused

GROUP_STATUSES = ("pending", "in_progress", "completed", "deferred_external", "cancelled")
GROUP_MOVES: tuple[tuple[str, str, str], ...] = (
    ("start", "pending", "in_progress"),
    ("complete", "in_progress", "completed"),
    ("defer", "in_progress", "deferred_external"),
    ("resume", "deferred_external", "in_progress"),
    ("cancel", "pending", "cancelled"),
    ("cancel", "in_progress", "cancelled"),
    ("cancel", "deferred_external", "cancelled"),
    ("reopen", "completed", "in_progress"),
)
SESSION_STATUSES = ("active", "paused", "ended")
SESSION_MOVES: tuple[tuple[str, str, str], ...] = (
    ("pause", "active", "paused"),
    ("resume", "paused", "active"),
    ("end", "active", "ended"),
    ("end", "paused", "ended"),
)
TASK_STATUSES = ("backlog", "todo", "in_progress", "blocked", "done", "cancelled")
TASK_MOVES: tuple[tuple[str, str, str], ...] = (
    ("plan", "backlog", "todo"),
    ("shelve", "todo", "backlog"),
    ("start", "backlog", "in_progress"),
    ("start", "todo", "in_progress"),
    ("block", "in_progress", "blocked"),
    ("resume", "blocked", "in_progress"),
    ("finish", "in_progress", "done"),
    ("cancel", "backlog", "cancelled"),
    ("cancel", "todo", "cancelled"),
    ("cancel", "in_progress", "cancelled"),
    ("cancel", "blocked", "cancelled"),
    ("cascade", "backlog", "blocked"),
    ("cascade", "todo", "blocked"),
    ("dependency", "backlog", "blocked"),
    ("dependency", "todo", "blocked"),
    ("release", "blocked", "backlog"),
    ("release", "blocked", "todo"),
    ("claim_release", "in_progress", "todo"),
)
TASK_SYSTEM_MOVES = ("cascade", "dependency", "release", "claim_release")
"""Moves that only the system makes: each is the cause of the change as well."""
RUN_STATUSES = ("queued", "running", "awaiting_response", "complete", "incomplete", "error", "cancelled")
RUN_TERMINAL = ("complete", "incomplete", "error", "cancelled")
RUN_MOVES: tuple[tuple[str, str, str], ...] = (
    ("start", "queued", "running"),
    ("complete", "running", "complete"),
    ("fall_short", "running", "incomplete"),
    ("fail", "running", "error"),
    ("ask", "running", "awaiting_response"),
    ("answer", "awaiting_response", "queued"),
    ("lapse", "awaiting_response", "incomplete"),
    ("cancel", "queued", "cancelled"),
    ("cancel", "running", "cancelled"),
    ("cancel", "awaiting_response", "cancelled"),
)
"""A run waits for an answer until it is given, or until nobody is left who could give it."""
PHASES = (
    "REQUIREMENT_ANALYSIS",
    "TASK_DECOMPOSITION",
    "PLANNING",
    "EXECUTION",
    "QA",
    "COMPLETION_VALIDATION",
    "REPORT",
)
PHASE_MOVES: tuple[tuple[str, str, str], ...] = (
    ("decompose", "REQUIREMENT_ANALYSIS", "TASK_DECOMPOSITION"),
    ("plan", "TASK_DECOMPOSITION", "PLANNING"),
    ("execute", "PLANNING", "EXECUTION"),
    ("assure", "EXECUTION", "QA"),
    ("validate", "QA", "COMPLETION_VALIDATION"),
    ("report", "COMPLETION_VALIDATION", "REPORT"),
)
GROUP_MOVERS: dict[tuple[str, str], tuple[str, ...]] = {
    (source, dest): () if trigger == "start" else ("project_manager",) for trigger, source, dest in GROUP_MOVES
}
"""The roles that may make a move by hand. The router and the validator move groups by their decisions alone."""


def refuse_move(from_: str, to: str) -> None:
    """Raise `Refused` ILLEGAL_MOVE unless a group can go from one status to the other."""
    if (from_, to) in GROUP_MOVERS:
        return
    reachable = [dest for source, dest in GROUP_MOVERS if source == from_]
    raise illegal("group", from_, to, reachable)


def refuse_task_move(from_: str, to: str, cause: str) -> None:
    """Raise `Refused` ILLEGAL_MOVE unless a task can go from one status to the other for this cause.

    Args:
        cause: why it is moved: `set_status`, `claim`, ..., or the name of a move that only the system makes.

    Source: seed 002, ステータス遷移ロジック変更.
    """
    found = [(trigger, dest) for trigger, source, dest in TASK_MOVES if source == from_]
    by_hand = [dest for trigger, dest in found if trigger not in TASK_SYSTEM_MOVES]
    if to not in by_hand and (cause, to) not in found:
        raise illegal("task", from_, to, by_hand)


def illegal(what: str, from_: str, to: str, reachable: list[str]) -> Refused:
    """The refusal of a move that does not exist."""
    return Refused(
        "ILLEGAL_MOVE",
        f"A {what} cannot go from {from_} to {to}.",
        f"From {from_} it can go to: {', '.join(reachable)}" if reachable
        else f"No command changes the status of a {what} that is {from_}",
        allowed=reachable,
    )
