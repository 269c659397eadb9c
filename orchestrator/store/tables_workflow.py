"""Tables of workflow versions: what is loaded, which is active, and the agent files pinned with each."""

from __future__ import annotations

import sqlalchemy as sa

from orchestrator.store import columns

workflow_versions = sa.Table(
    "workflow_versions",
    columns.metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
    columns.text("hash"),
    columns.text("name"),
    columns.text("content"),
    columns.text("transitions_hash"),
    columns.text("loaded_at"),
    columns.integer("seq"),
    sa.UniqueConstraint("hash"),
)

workflow_transitions = sa.Table(
    "workflow_transitions",
    columns.metadata,
    sa.Column("workflow_version_id", sa.Integer, sa.ForeignKey("workflow_versions.id"), nullable=False),
    columns.text("current_agent"),
    columns.text("response_status"),
    columns.text("next_agent", null=True),
    columns.text("action"),
    columns.text("include_context", null=True),
    columns.integer("escalation_check", default=0),
    columns.text("model_override", null=True),
    columns.text("fallback_agent", null=True),
    columns.integer("bypass_qa", default=0),
    columns.integer("max_parallel", null=True),
    columns.text("then_action", null=True),
    columns.text("effect"),
    sa.PrimaryKeyConstraint("workflow_version_id", "current_agent", "response_status"),
    sqlite_with_rowid=False,
)

workflow_activations = sa.Table(
    "workflow_activations",
    columns.metadata,
    sa.Column("seq", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("workflow_version_id", sa.Integer, sa.ForeignKey("workflow_versions.id"), nullable=False),
    columns.text("activated_by"),
    columns.text("activated_at"),
)

agent_files = sa.Table(
    "agent_files",
    columns.metadata,
    sa.Column("workflow_version_id", sa.Integer, sa.ForeignKey("workflow_versions.id"), nullable=False),
    columns.text("role"),
    columns.text("name"),
    columns.text("model", null=True),
    columns.text("reports_to", null=True),
    columns.text("content"),
    columns.text("hash"),
    sa.PrimaryKeyConstraint("workflow_version_id", "name"),
)
