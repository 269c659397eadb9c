"""The rows that a step writes: their columns, their keys, and which of them may change afterwards."""

from __future__ import annotations

from collections.abc import Iterable

NUMBERED = frozenset(
    (
        "acknowledgements", "agent_reports", "evidence", "import_findings", "imported_logs", "notices", "refusals",
        "router_decisions", "run_events", "run_files", "run_violations", "status_changes",
    )
)  # fmt: skip
"""Tables with a `part` column: one step may write several rows, numbered from 1."""

COLUMNS = {
    "acknowledgements": "session_id seq part group_id reason",
    "adoptions": "session_id seq client adopted_at",
    "agent_files": "workflow_version_id role name model reports_to content hash",
    "agent_reports": "session_id seq part group_id role agent_id response_status raw_role raw_status effect turn"
    " turn_assumed summary details metadata raw_hash reported_at",
    "agents": "id role parent_id kind max_parallel_tasks=1 active=1 session_id group_id created_at created_seq",
    "blockers": "id session_id group_id task_id type class reason opened_by opened_role opened_at opened_seq report_id"
    " cause external=0 external_dependency external_by external_seq resolved_at resolved_by resolved_seq resolution"
    " resolution_note",
    "context_items": "session_id group_id name seq",
    "criteria": "session_id id text metric operator target command created_by created_at created_seq status actual"
    " reason evidence set_by set_at set_seq removed_seq removed_by removed_reason group_id due_at approval approved_by"
    " approved_seq",
    "deferrals": "session_id seq group_id blocker_id reason dependency confirmed_by confirmed_seq deferred_by"
    " deferred_at",
    "evidence": "session_id seq part group_id kind subject outcome hash size content path",
    "grandfathered_groups": "session_id group_id seq peer_id peer_status completed_at",
    "group_dependencies": "session_id group_id depends_on seq added_by removed_seq removed_by removed_reason",
    "handoffs": "session_id turn group_id agent_id document hash",
    "human_credentials": "id seq agent_id kind created_at verifier source rests_on ends due_at",
    "human_tokens": "id seq agent_id hash enrolled_at",
    "import_findings": "session_id seq part group_id code text",
    "imported_logs": "session_id seq part group_id peer_id agent kind logged_at content more",
    "imported_sessions": "session_id seq peer_id peer_status peer_version source source_hash",
    "notices": "session_id seq part agent_id task_id blocker_id",
    "projects": "id seq path alias created_by created_at",
    "questions": "id session_id group_id task_id kind text asked_by asked_at opened_seq decision closed_at closed_by"
    " closed_seq answer note channel",
    "refusals": "session_id seq part door actor claimed_session group_id role status turn code detail refused_at",
    "requests": "session_id request_id command input_hash seq answer",
    "resume_points": "session_id seq group_id task_id status type class stage phases_completed phases_total"
    " handoff_path",
    "router_decisions": "session_id seq part group_id current_agent response_status next_agent action timestamp"
    " report_id cause rules workflow_version_id rules_version handoff_hash mandatory_review=0 answer",
    "run_events": "session_id seq part run_id at kind level text",
    "run_files": "session_id seq part run_id path change present detected_at detection_method",
    "run_locks": "session_id run_id path mode seq acquired_at released_at released_seq",
    "run_violations": "session_id seq part run_id type limit_value actual at",
    "runs": "session_id id log_id task_id prompt task_type executor provider model retry_of verification_root queued_by"
    " queued_at created_seq state state_changed_by state_changed_at state_seq owner started_at ended_at executor_status"
    " error_code error_reason executor_blocked=0 blocked_reason timeout_ms limit_name files_modified_count=0 output"
    " question_id",
    "sessions": "id kind mode testing_mode goal workflow_version_id turn_timeout disabled_roles created_by created_at"
    " status status_changed_by status_changed_at status_seq outcome outcome_reason planned=0 awaited_role"
    " awaited_agent_id awaited_action turn awaited_since held held_seq held_part progress_seq=0 answered_seq=0",
    "starts": "session_id group_id turn seq role agent_id via client owner call_id isolation started_at worker trace"
    " bound_at bound_seq ended_at ended_seq outcome reason due_at",
    "status_changes": "session_id seq part entity entity_id from_status to_status changed_by changed_at reason cause",
    "task_dependencies": "session_id task_id depends_on_id seq added_by removed_seq removed_by removed_reason",
    "task_groups": "session_id id name kind security_sensitive=0 complexity=3 priority=2 created_by created_at"
    " created_seq status status_changed_by status_changed_at status_seq awaited_role awaited_agent_id awaited_action"
    " turn awaited_since held held_seq held_part qa_attempts=0 tl_review_attempts=0 merge_attempts=0 iterations=0"
    " senior=0 builder_role builder_agent_id progress_seq=0 answered_seq=0 description",
    "tasks": "session_id id group_id parent_id title description type priority=2 assignee auto_unblock=0 created_by"
    " created_at created_seq status status_changed_by_agent_id status_changed_at status_seq former_status"
    " blocked_reason version=1 claim_holder claim_token claim_until claim_beat_at",
    "texts": "hash content",
    "turn_runs": "session_id id group_id turn role prompt executor model folder root lock_key queued_by queued_at"
    " created_seq state state_changed_by state_changed_at state_seq owner started_at ended_at reason error_code"
    " blocked_reason timeout_ms limit_name output usage",
    "workflow_activations": "seq workflow_version_id activated_by activated_at",
    "workflow_transitions": "workflow_version_id current_agent response_status next_agent action include_context"
    " escalation_check=0 model_override fallback_agent bypass_qa=0 max_parallel then_action effect",
    "workflow_versions": "id hash name content transitions_hash loaded_at seq",
}
"""The columns that a step writes, in the order of the declared schema, with the defaults of the declared schema."""

STORED_WITH = {"router_decisions": ("handoff_agent", "handoff", "handoff_group", "handoff_group_hash")}
"""Columns of a table in which a row of another is stored, under whose name that is read and covered."""

STORED_AS = {"handoffs": "standalone_handoffs"}
"""The table into which rows are written whose own name is that of a view."""

NO_SESSION = frozenset(("agents",))
"""Tables whose `session_id` may be null: it is then left as given."""

KEYS: dict[str, tuple[str, ...]] = {
    "agents": ("id",),
    "blockers": ("id",),
    "criteria": ("id",),
    "group_dependencies": ("group_id", "depends_on", "seq"),
    "questions": ("id",),
    "run_locks": ("run_id", "path", "seq"),
    "runs": ("id",),
    "sessions": ("id",),
    "starts": ("group_id", "turn", "seq"),
    "task_dependencies": ("task_id", "depends_on_id", "seq"),
    "task_groups": ("id",),
    "tasks": ("id",),
    "turn_runs": ("id",),
}
"""Tables whose rows may change, with their keys: where a session is part of the key, within that session."""

OF_SESSION = frozenset(
    (
        "criteria", "group_dependencies", "run_locks", "runs", "starts", "task_dependencies", "task_groups", "tasks",
        "turn_runs",
    )
)
"""Those of them that have the session in their key."""


def column_names(table: str) -> tuple[str, ...]:
    """The names of a table's columns, in the order of the declared schema."""
    return tuple(word.partition("=")[0] for word in COLUMNS[table].split())


def listed(table: str, prefix: str = "") -> str:
    """All columns of a table as a statement names them, each behind the prefix, such as `t.`."""
    return ", ".join(f'{prefix}"{name}"' for name in column_names(table))


def packed(names: Iterable[str], prefix: str = "") -> str:
    """Columns as a statement selects them in one value, which `canonical_json.values` reads.

    For each column of its own the connection would name it, ask for its type and its value, and lock twice.
    """
    return f"""json_array({', '.join(f'{prefix}"{name}"' for name in names)})"""
