"""The tables, declared once. Migrations are compared with this; triggers and the completion view stand in `guards`.

Fat append-only tables keep SQLite's rowid (a row of a WITHOUT ROWID table travels in the inner nodes of its tree);
the small keyed ones do without, so that no REPLACE can reach a row by a number that no trigger sees.
`id` columns of the append-only tables are derived from session and step, never stored and never random.
"""

from __future__ import annotations

from orchestrator.store.columns import GROUP_STATUSES, metadata
from orchestrator.store.constants import STORE_CHAIN
from orchestrator.store.tables_blocking import (
    blockers,
    deferrals,
    questions,
)
from orchestrator.store.tables_imported import (
    grandfathered_groups,
    import_findings,
    imported_logs,
    imported_sessions,
)
from orchestrator.store.tables_people import (
    human_credentials,
    human_tokens,
    resume_points,
)
from orchestrator.store.tables_record import (
    acknowledgements,
    agent_reports,
    audit_events,
    context_items,
    handoffs,
    refusals,
    requests,
    router_decisions,
    status_changes,
    texts,
)
from orchestrator.store.tables_running import (
    projects,
    run_events,
    run_files,
    run_locks,
    run_violations,
    runs,
    turn_runs,
)
from orchestrator.store.tables_starts import (
    adoptions,
    starts,
)
from orchestrator.store.tables_tasks import (
    notices,
    task_dependencies,
    tasks,
)
from orchestrator.store.tables_validation import (
    criteria,
    evidence,
)
from orchestrator.store.tables_work import (
    agents,
    group_dependencies,
    sessions,
    task_groups,
)
from orchestrator.store.tables_workflow import (
    agent_files,
    workflow_activations,
    workflow_transitions,
    workflow_versions,
)

__all__ = [
    "GROUP_STATUSES",
    "STORE_CHAIN",
    "acknowledgements",
    "adoptions",
    "agent_files",
    "agent_reports",
    "agents",
    "audit_events",
    "blockers",
    "context_items",
    "criteria",
    "deferrals",
    "evidence",
    "grandfathered_groups",
    "group_dependencies",
    "handoffs",
    "human_credentials",
    "human_tokens",
    "import_findings",
    "imported_logs",
    "imported_sessions",
    "metadata",
    "notices",
    "projects",
    "questions",
    "refusals",
    "requests",
    "resume_points",
    "router_decisions",
    "run_events",
    "run_files",
    "run_locks",
    "run_violations",
    "runs",
    "sessions",
    "starts",
    "status_changes",
    "task_dependencies",
    "task_groups",
    "tasks",
    "texts",
    "turn_runs",
    "workflow_activations",
    "workflow_transitions",
    "workflow_versions",
]
