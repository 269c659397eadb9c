"""What parameters of operations hold, by their names: ids, choices and ranges."""

from __future__ import annotations

from orchestrator.core import blockers, lifecycle_table, task_types

AGENT_IDS = frozenset(("agent_id", "by", "parent", "agent", "assignee"))
IDS = {"session_id": "session", "group_id": "group", "group": "group", "on": "group", "depends_on": "group"}
TASK_IDS = frozenset(("task", "task parent", "task on", "task depends_on"))
"""Parameters that name tasks; with the group of the operation, where another group's mean something else."""
CHOICES: dict[str, tuple[str, ...]] = {
    "session create kind": ("orchestration", "chat"),
    "group create kind": ("code", "research"),
    "agent register kind": ("ai", "human"),
    "answer decision": ("continue", "revise", "abandon", "yes", "no"),
    "operator": ("ge", "gt", "le", "lt", "eq"),
    "criterion set status": ("open", "met", "deferred"),
    "mode": ("simple", "parallel"),
    "testing_mode": ("full", "minimal", "disabled"),
    "session testing-mode mode": ("full", "minimal", "disabled"),
    "task create status": ("backlog", "todo", "blocked"),
    "task list status": lifecycle_table.TASK_STATUSES,
    "group list status": lifecycle_table.GROUP_STATUSES,
    "audit blockers status": ("open", "resolved"),
    "task create type": task_types.TYPES,
    "blocker_type": (*blockers.TYPES, *blockers.SYNONYMS),
    "priority": ("urgent", "high", "medium", "low"),
    "workflow graph format": ("mermaid", "dot", "svg"),
    "audit export format": ("jsonl", "csv"),
}
STATES = frozenset(
    ("task list", "task create", "task set-status", "task status", "group list", "group set-status", "criterion set",
     "audit blockers")
)  # fmt: skip
"""Operations whose `status` is that of a thing, in small letters; reported statuses are read by the router."""
RANGES = {
    "complexity": (1, 10),
    "max_parallel_tasks": (1, 1000),
    "turn_timeout": (1, 525_600),
    "command_timeout": (1, 86_400),
    "limit": (1, 100_000),
    "lease": (1, 604_800),
    "expect_version": (1, 2**53),
    "turn": (0, 2**53),
    "since": (0, 2**53),
    "until": (0, 2**53),
    "seq": (0, 2**53),
    "timeout": (1, 3600),
}
