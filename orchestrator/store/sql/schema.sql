CREATE TABLE agents (
	id TEXT NOT NULL,
	role TEXT NOT NULL,
	parent_id TEXT,
	kind TEXT NOT NULL,
	max_parallel_tasks INTEGER DEFAULT 1 NOT NULL,
	active INTEGER DEFAULT 1 NOT NULL,
	session_id TEXT,
	group_id TEXT,
	created_at TEXT NOT NULL,
	created_seq INTEGER NOT NULL,
	CONSTRAINT pk_agents PRIMARY KEY (id),
	CONSTRAINT ck_agents_kind CHECK (kind = 'ai' OR kind = 'human' OR kind = 'system'),
	CONSTRAINT ck_agents_active CHECK (active IN (0, 1)),
	CONSTRAINT ck_agents_max_parallel_tasks CHECK (max_parallel_tasks >= 1),
	CONSTRAINT fk_agents_parent_id FOREIGN KEY(parent_id) REFERENCES agents (id)
)
 WITHOUT ROWID;

CREATE INDEX ix_agents_standing ON agents (parent_id) WHERE session_id IS NULL;

CREATE TABLE audit_events (
	session_id TEXT NOT NULL,
	seq INTEGER NOT NULL,
	kind TEXT NOT NULL,
	actor TEXT NOT NULL,
	channel TEXT NOT NULL,
	at TEXT NOT NULL,
	input TEXT NOT NULL,
	rows TEXT NOT NULL,
	prev_hash BLOB NOT NULL,
	hash BLOB NOT NULL,
	CONSTRAINT uq_audit_events_session_id_seq UNIQUE (session_id, seq),
	CONSTRAINT ck_audit_events_seq CHECK (seq >= 1)
);

CREATE TABLE refusals (
	session_id TEXT NOT NULL,
	seq INTEGER NOT NULL,
	part INTEGER DEFAULT 1 NOT NULL,
	id TEXT NOT NULL GENERATED ALWAYS AS (session_id || ':X' || seq || CASE WHEN part = 1 THEN '' ELSE '.' || part END) VIRTUAL,
	door TEXT NOT NULL,
	actor TEXT,
	claimed_session TEXT,
	group_id TEXT,
	role TEXT,
	status TEXT,
	turn INTEGER,
	code TEXT NOT NULL,
	detail TEXT NOT NULL,
	refused_at TEXT NOT NULL,
	CONSTRAINT uq_refusals_session_id_seq_part UNIQUE (session_id, seq, part)
);

CREATE INDEX ix_refusals_gate ON refusals (session_id, group_id, turn) WHERE code = 'GATE_FAILED';

CREATE INDEX ix_refusals_turn ON refusals (session_id, group_id, turn, seq) WHERE turn IS NOT NULL;

CREATE TABLE requests (
	session_id TEXT NOT NULL,
	request_id TEXT NOT NULL,
	command TEXT NOT NULL,
	input_hash TEXT NOT NULL,
	seq INTEGER NOT NULL,
	answer TEXT NOT NULL,
	CONSTRAINT pk_requests PRIMARY KEY (session_id, request_id)
)
 WITHOUT ROWID;

CREATE TABLE status_changes (
	session_id TEXT NOT NULL,
	seq INTEGER NOT NULL,
	part INTEGER DEFAULT 1 NOT NULL,
	entity TEXT NOT NULL,
	entity_id TEXT NOT NULL,
	from_status TEXT,
	to_status TEXT NOT NULL,
	changed_by TEXT NOT NULL,
	changed_at TEXT NOT NULL,
	reason TEXT NOT NULL,
	cause TEXT NOT NULL,
	CONSTRAINT pk_status_changes PRIMARY KEY (session_id, seq, part)
)
 WITHOUT ROWID;

CREATE INDEX ix_status_changes_entity ON status_changes (session_id, entity, entity_id, seq);

CREATE INDEX ix_status_changes_reopened ON status_changes (session_id, entity, entity_id, seq) WHERE from_status = 'completed';

CREATE TABLE texts (
	hash TEXT NOT NULL,
	content TEXT NOT NULL,
	CONSTRAINT pk_texts PRIMARY KEY (hash)
);

CREATE TABLE workflow_versions (
	id INTEGER NOT NULL,
	hash TEXT NOT NULL,
	name TEXT NOT NULL,
	content TEXT NOT NULL,
	transitions_hash TEXT NOT NULL,
	loaded_at TEXT NOT NULL,
	seq INTEGER NOT NULL,
	CONSTRAINT pk_workflow_versions PRIMARY KEY (id),
	CONSTRAINT uq_workflow_versions_hash UNIQUE (hash)
);

CREATE TABLE agent_files (
	workflow_version_id INTEGER NOT NULL,
	role TEXT NOT NULL,
	name TEXT NOT NULL,
	model TEXT,
	reports_to TEXT,
	content TEXT NOT NULL,
	hash TEXT NOT NULL,
	CONSTRAINT pk_agent_files PRIMARY KEY (workflow_version_id, name),
	CONSTRAINT fk_agent_files_workflow_version_id FOREIGN KEY(workflow_version_id) REFERENCES workflow_versions (id)
);

CREATE TABLE human_credentials (
	id TEXT NOT NULL,
	seq INTEGER NOT NULL,
	agent_id TEXT NOT NULL,
	kind TEXT NOT NULL,
	created_at TEXT NOT NULL,
	verifier TEXT,
	source TEXT,
	rests_on TEXT,
	ends TEXT,
	due_at TEXT,
	CONSTRAINT pk_human_credentials PRIMARY KEY (id),
	CONSTRAINT ck_human_credentials_kind CHECK (kind = 'passphrase' OR kind = 'ssh-key' OR kind = 'removal' OR kind = 'reset' OR kind = 'link' OR kind = 'use'),
	CONSTRAINT uq_human_credentials_ends UNIQUE (ends),
	CONSTRAINT fk_human_credentials_agent_id FOREIGN KEY(agent_id) REFERENCES agents (id)
)
 WITHOUT ROWID;

CREATE TABLE human_tokens (
	id TEXT NOT NULL,
	seq INTEGER NOT NULL,
	agent_id TEXT NOT NULL,
	hash TEXT NOT NULL,
	enrolled_at TEXT NOT NULL,
	CONSTRAINT pk_human_tokens PRIMARY KEY (id),
	CONSTRAINT uq_human_tokens_hash UNIQUE (hash),
	CONSTRAINT fk_human_tokens_agent_id FOREIGN KEY(agent_id) REFERENCES agents (id)
)
 WITHOUT ROWID;

CREATE INDEX ix_human_tokens_agent ON human_tokens (agent_id, seq);

CREATE TABLE projects (
	id TEXT NOT NULL,
	seq INTEGER NOT NULL,
	path TEXT NOT NULL,
	alias TEXT,
	created_by TEXT NOT NULL,
	created_at TEXT NOT NULL,
	CONSTRAINT pk_projects PRIMARY KEY (id),
	CONSTRAINT uq_projects_path UNIQUE (path),
	CONSTRAINT uq_projects_alias UNIQUE (alias),
	CONSTRAINT fk_projects_created_by FOREIGN KEY(created_by) REFERENCES agents (id)
)
 WITHOUT ROWID;

CREATE TABLE sessions (
	id TEXT NOT NULL,
	kind TEXT NOT NULL,
	mode TEXT NOT NULL,
	testing_mode TEXT NOT NULL,
	goal TEXT NOT NULL,
	workflow_version_id INTEGER NOT NULL,
	turn_timeout INTEGER NOT NULL,
	disabled_roles TEXT NOT NULL,
	created_by TEXT NOT NULL,
	created_at TEXT NOT NULL,
	status TEXT NOT NULL,
	status_changed_by TEXT,
	status_changed_at TEXT NOT NULL,
	status_seq INTEGER NOT NULL,
	outcome TEXT,
	outcome_reason TEXT,
	planned INTEGER DEFAULT 0 NOT NULL,
	awaited_role TEXT,
	awaited_agent_id TEXT,
	awaited_action TEXT,
	turn INTEGER,
	awaited_since TEXT,
	held TEXT,
	held_seq INTEGER,
	held_part INTEGER,
	progress_seq INTEGER DEFAULT 0 NOT NULL,
	answered_seq INTEGER DEFAULT 0 NOT NULL,
	CONSTRAINT pk_sessions PRIMARY KEY (id),
	CONSTRAINT ck_sessions_kind CHECK (kind = 'orchestration' OR kind = 'chat'),
	CONSTRAINT ck_sessions_mode CHECK (mode = 'simple' OR mode = 'parallel'),
	CONSTRAINT ck_sessions_testing_mode CHECK (testing_mode = 'full' OR testing_mode = 'minimal' OR testing_mode = 'disabled'),
	CONSTRAINT ck_sessions_status CHECK (status = 'active' OR status = 'paused' OR status = 'ended'),
	CONSTRAINT ck_sessions_outcome CHECK ((status = 'ended') = (outcome IS NOT NULL) AND (outcome IS NULL OR outcome IN ('accepted', 'investigation_only', 'abandoned', 'imported', 'closed'))),
	CONSTRAINT ck_sessions_planned CHECK (planned IN (0, 1)),
	CONSTRAINT fk_sessions_workflow_version_id FOREIGN KEY(workflow_version_id) REFERENCES workflow_versions (id)
)
 WITHOUT ROWID;

CREATE INDEX ix_sessions_open ON sessions (id) WHERE status <> 'ended';

CREATE TABLE workflow_activations (
	seq INTEGER NOT NULL,
	workflow_version_id INTEGER NOT NULL,
	activated_by TEXT NOT NULL,
	activated_at TEXT NOT NULL,
	CONSTRAINT pk_workflow_activations PRIMARY KEY (seq),
	CONSTRAINT fk_workflow_activations_workflow_version_id FOREIGN KEY(workflow_version_id) REFERENCES workflow_versions (id)
);

CREATE TABLE workflow_transitions (
	workflow_version_id INTEGER NOT NULL,
	current_agent TEXT NOT NULL,
	response_status TEXT NOT NULL,
	next_agent TEXT,
	action TEXT NOT NULL,
	include_context TEXT,
	escalation_check INTEGER DEFAULT 0 NOT NULL,
	model_override TEXT,
	fallback_agent TEXT,
	bypass_qa INTEGER DEFAULT 0 NOT NULL,
	max_parallel INTEGER,
	then_action TEXT,
	effect TEXT NOT NULL,
	CONSTRAINT pk_workflow_transitions PRIMARY KEY (workflow_version_id, current_agent, response_status),
	CONSTRAINT fk_workflow_transitions_workflow_version_id FOREIGN KEY(workflow_version_id) REFERENCES workflow_versions (id)
)
 WITHOUT ROWID;

CREATE TABLE acknowledgements (
	session_id TEXT NOT NULL,
	seq INTEGER NOT NULL,
	part INTEGER DEFAULT 1 NOT NULL,
	group_id TEXT NOT NULL,
	reason TEXT NOT NULL,
	CONSTRAINT pk_acknowledgements PRIMARY KEY (session_id, seq, part),
	CONSTRAINT fk_acknowledgements_session_id FOREIGN KEY(session_id) REFERENCES sessions (id)
)
 WITHOUT ROWID;

CREATE INDEX ix_acknowledgements_group ON acknowledgements (session_id, group_id, seq);

CREATE TABLE adoptions (
	session_id TEXT NOT NULL,
	seq INTEGER NOT NULL,
	client TEXT,
	adopted_at TEXT NOT NULL,
	CONSTRAINT pk_adoptions PRIMARY KEY (session_id, seq),
	CONSTRAINT fk_adoptions_session_id FOREIGN KEY(session_id) REFERENCES sessions (id)
)
 WITHOUT ROWID;

CREATE INDEX ix_adoptions_client ON adoptions (client, session_id, seq);

CREATE TABLE agent_reports (
	session_id TEXT NOT NULL,
	seq INTEGER NOT NULL,
	part INTEGER DEFAULT 1 NOT NULL,
	id TEXT NOT NULL GENERATED ALWAYS AS (session_id || ':R' || seq || CASE WHEN part = 1 THEN '' ELSE '.' || part END) VIRTUAL,
	group_id TEXT,
	role TEXT NOT NULL,
	agent_id TEXT NOT NULL,
	response_status TEXT NOT NULL,
	raw_role TEXT NOT NULL,
	raw_status TEXT NOT NULL,
	effect TEXT NOT NULL,
	turn INTEGER,
	turn_assumed INTEGER NOT NULL,
	summary TEXT NOT NULL,
	details TEXT NOT NULL,
	metadata TEXT,
	raw_hash TEXT,
	reported_at TEXT NOT NULL,
	CONSTRAINT uq_agent_reports_session_id_seq_part UNIQUE (session_id, seq, part),
	CONSTRAINT ck_agent_reports_one_report_per_step CHECK (part = 1),
	CONSTRAINT fk_agent_reports_session_id FOREIGN KEY(session_id) REFERENCES sessions (id),
	CONSTRAINT fk_agent_reports_agent_id FOREIGN KEY(agent_id) REFERENCES agents (id)
);

CREATE INDEX ix_agent_reports_confirm ON agent_reports (session_id, seq) WHERE effect = 'confirm';

CREATE INDEX ix_agent_reports_group ON agent_reports (session_id, group_id, seq, role, effect);

CREATE INDEX ix_agent_reports_verdict ON agent_reports (session_id, seq) WHERE role = 'validator';

CREATE TABLE blockers (
	id TEXT NOT NULL,
	session_id TEXT NOT NULL,
	group_id TEXT,
	task_id TEXT,
	type TEXT NOT NULL,
	class TEXT NOT NULL,
	reason TEXT NOT NULL,
	opened_by TEXT,
	opened_role TEXT,
	opened_at TEXT NOT NULL,
	opened_seq INTEGER NOT NULL,
	report_id TEXT,
	cause TEXT NOT NULL,
	external INTEGER DEFAULT 0 NOT NULL,
	external_dependency TEXT,
	external_by TEXT,
	external_seq INTEGER,
	resolved_at TEXT,
	resolved_by TEXT,
	resolved_seq INTEGER,
	resolution TEXT,
	resolution_note TEXT,
	CONSTRAINT pk_blockers PRIMARY KEY (id),
	CONSTRAINT ck_blockers_class CHECK (class = 'soft' OR class = 'hard'),
	CONSTRAINT ck_blockers_cause CHECK (cause = 'report' OR cause = 'manual' OR cause = 'cascade' OR cause = 'gate' OR cause = 'dependency' OR cause = 'imported'),
	CONSTRAINT ck_blockers_external CHECK (external IN (0, 1)),
	CONSTRAINT ck_blockers_reason CHECK (reason <> ''),
	CONSTRAINT ck_blockers_external_dependency CHECK ((external = 1) = (external_dependency IS NOT NULL)),
	CONSTRAINT ck_blockers_resolved CHECK ((resolved_seq IS NULL) = (resolved_at IS NULL) AND (resolved_seq IS NULL) = (resolution IS NULL)),
	CONSTRAINT fk_blockers_session_id FOREIGN KEY(session_id) REFERENCES sessions (id)
)
 WITHOUT ROWID;

CREATE INDEX ix_blockers_group ON blockers (session_id, group_id, opened_seq);

CREATE INDEX ix_blockers_open ON blockers (session_id, group_id, opened_seq) WHERE resolved_seq IS NULL;

CREATE INDEX ix_blockers_own ON blockers (session_id, group_id, opened_seq) WHERE task_id IS NULL;

CREATE INDEX ix_blockers_own_resolved ON blockers (session_id, group_id, resolved_seq) WHERE task_id IS NULL AND resolved_seq IS NOT NULL;

CREATE INDEX ix_blockers_resolved ON blockers (session_id, group_id, resolved_seq) WHERE resolved_seq IS NOT NULL;

CREATE INDEX ix_blockers_task ON blockers (session_id, task_id, resolved_seq, opened_seq) WHERE task_id IS NOT NULL;

CREATE TABLE context_items (
	session_id TEXT NOT NULL,
	group_id TEXT NOT NULL,
	name TEXT NOT NULL,
	seq INTEGER NOT NULL,
	CONSTRAINT pk_context_items PRIMARY KEY (session_id, group_id, name, seq),
	CONSTRAINT fk_context_items_session_id FOREIGN KEY(session_id) REFERENCES sessions (id)
)
 WITHOUT ROWID;

CREATE TABLE criteria (
	session_id TEXT NOT NULL,
	id TEXT NOT NULL,
	text TEXT NOT NULL,
	metric TEXT,
	operator TEXT,
	target TEXT,
	command TEXT,
	created_by TEXT NOT NULL,
	created_at TEXT NOT NULL,
	created_seq INTEGER NOT NULL,
	status TEXT NOT NULL,
	actual TEXT,
	reason TEXT,
	evidence TEXT,
	set_by TEXT,
	set_at TEXT,
	set_seq INTEGER,
	removed_seq INTEGER,
	removed_by TEXT,
	removed_reason TEXT,
	group_id TEXT,
	due_at TEXT,
	approval TEXT,
	approved_by TEXT,
	approved_seq INTEGER,
	CONSTRAINT pk_criteria PRIMARY KEY (session_id, id),
	CONSTRAINT ck_criteria_status CHECK (status = 'open' OR status = 'met' OR status = 'deferred'),
	CONSTRAINT ck_criteria_measure CHECK ((operator IS NULL OR operator IN ('ge', 'gt', 'le', 'lt', 'eq')) AND (operator IS NULL) = (metric IS NULL) AND (operator IS NULL) = (target IS NULL)),
	CONSTRAINT ck_criteria_computed CHECK (status <> 'met' OR (operator IS NULL AND command IS NULL)),
	CONSTRAINT ck_criteria_actual CHECK (actual IS NULL OR operator IS NOT NULL),
	CONSTRAINT ck_criteria_set CHECK ((set_seq IS NULL) = (set_by IS NULL) AND (set_seq IS NULL) = (set_at IS NULL)),
	CONSTRAINT fk_criteria_session_id FOREIGN KEY(session_id) REFERENCES sessions (id)
)
 WITHOUT ROWID;

CREATE INDEX ix_criteria_created ON criteria (session_id, created_seq);

CREATE TABLE evidence (
	session_id TEXT NOT NULL,
	seq INTEGER NOT NULL,
	part INTEGER DEFAULT 1 NOT NULL,
	id TEXT NOT NULL GENERATED ALWAYS AS (session_id || ':E' || seq || CASE WHEN part = 1 THEN '' ELSE '.' || part END) VIRTUAL,
	group_id TEXT,
	kind TEXT NOT NULL,
	subject TEXT NOT NULL,
	outcome TEXT NOT NULL,
	hash TEXT NOT NULL,
	size INTEGER NOT NULL,
	content TEXT,
	path TEXT,
	CONSTRAINT uq_evidence_session_id_seq_part UNIQUE (session_id, seq, part),
	CONSTRAINT ck_evidence_place CHECK ((content IS NULL) <> (path IS NULL)),
	CONSTRAINT ck_evidence_size CHECK (size >= 0),
	CONSTRAINT fk_evidence_session_id FOREIGN KEY(session_id) REFERENCES sessions (id)
);

CREATE INDEX ix_evidence_gate ON evidence (session_id, seq, part) WHERE kind = 'gate';

CREATE INDEX ix_evidence_merge ON evidence (session_id, subject, seq) WHERE kind = 'merge';

CREATE TABLE imported_sessions (
	session_id TEXT NOT NULL,
	seq INTEGER NOT NULL,
	peer_id TEXT NOT NULL,
	peer_status TEXT,
	peer_version INTEGER,
	source TEXT NOT NULL,
	source_hash TEXT NOT NULL,
	CONSTRAINT pk_imported_sessions PRIMARY KEY (session_id),
	CONSTRAINT fk_imported_sessions_session_id FOREIGN KEY(session_id) REFERENCES sessions (id)
)
 WITHOUT ROWID;

CREATE TABLE questions (
	id TEXT NOT NULL,
	session_id TEXT NOT NULL,
	group_id TEXT,
	task_id TEXT,
	kind TEXT NOT NULL,
	text TEXT NOT NULL,
	asked_by TEXT NOT NULL,
	asked_at TEXT NOT NULL,
	opened_seq INTEGER NOT NULL,
	decision TEXT,
	closed_at TEXT,
	closed_by TEXT,
	closed_seq INTEGER,
	answer TEXT,
	note TEXT,
	channel TEXT,
	CONSTRAINT pk_questions PRIMARY KEY (id),
	CONSTRAINT ck_questions_kind CHECK (kind = 'review' OR kind = 'clarification' OR kind = 'budget' OR kind = 'reply' OR kind = 'confirmation' OR kind = 'continuation'),
	CONSTRAINT fk_questions_session_id FOREIGN KEY(session_id) REFERENCES sessions (id)
)
 WITHOUT ROWID;

CREATE INDEX ix_questions_open ON questions (session_id, group_id, opened_seq) WHERE closed_seq IS NULL;

CREATE INDEX ix_questions_session ON questions (session_id, opened_seq);

CREATE TABLE resume_points (
	session_id TEXT NOT NULL,
	seq INTEGER NOT NULL,
	group_id TEXT,
	task_id TEXT,
	status TEXT NOT NULL,
	type TEXT NOT NULL,
	class TEXT NOT NULL,
	stage TEXT,
	phases_completed INTEGER,
	phases_total INTEGER,
	handoff_path TEXT,
	CONSTRAINT pk_resume_points PRIMARY KEY (session_id, seq),
	CONSTRAINT ck_resume_points_status CHECK (status = 'partial' OR status = 'blocked' OR status = 'failed'),
	CONSTRAINT ck_resume_points_class CHECK (class = 'soft' OR class = 'hard'),
	CONSTRAINT fk_resume_points_session_id FOREIGN KEY(session_id) REFERENCES sessions (id)
)
 WITHOUT ROWID;

CREATE INDEX ix_resume_points_group ON resume_points (session_id, group_id, seq);

CREATE TABLE router_decisions (
	session_id TEXT NOT NULL,
	seq INTEGER NOT NULL,
	part INTEGER DEFAULT 1 NOT NULL,
	id TEXT NOT NULL GENERATED ALWAYS AS (session_id || ':D' || seq || CASE WHEN part = 1 THEN '' ELSE '.' || part END) VIRTUAL,
	group_id TEXT,
	current_agent TEXT NOT NULL,
	response_status TEXT NOT NULL,
	next_agent TEXT,
	action TEXT NOT NULL,
	timestamp TEXT NOT NULL,
	report_id TEXT,
	cause TEXT NOT NULL,
	rules TEXT NOT NULL,
	workflow_version_id INTEGER NOT NULL,
	rules_version INTEGER NOT NULL,
	handoff_hash TEXT,
	mandatory_review INTEGER DEFAULT 0 NOT NULL,
	answer TEXT NOT NULL,
	handoff_agent TEXT,
	handoff TEXT,
	handoff_group TEXT,
	handoff_group_hash TEXT,
	CONSTRAINT uq_router_decisions_session_id_seq_part UNIQUE (session_id, seq, part),
	CONSTRAINT ck_router_decisions_report_id CHECK ((report_id IS NULL OR (part = 1 AND report_id = session_id || ':R' || seq)) AND (report_id IS NOT NULL) = (cause = 'report')),
	CONSTRAINT fk_router_decisions_session_id FOREIGN KEY(session_id) REFERENCES sessions (id),
	CONSTRAINT fk_router_decisions_workflow_version_id FOREIGN KEY(workflow_version_id) REFERENCES workflow_versions (id)
);

CREATE INDEX idx_router_decisions_session ON router_decisions (session_id, group_id);

CREATE INDEX ix_router_decisions_mandatory ON router_decisions (session_id, group_id, seq) WHERE mandatory_review = 1;

CREATE INDEX ix_router_decisions_redispatch ON router_decisions (session_id, group_id, seq) WHERE cause = 'redispatch';

CREATE TABLE standalone_handoffs (
	session_id TEXT NOT NULL,
	turn INTEGER NOT NULL,
	group_id TEXT NOT NULL,
	agent_id TEXT NOT NULL,
	document TEXT NOT NULL,
	hash TEXT NOT NULL,
	CONSTRAINT uq_standalone_handoffs_session_id_group_id_turn UNIQUE (session_id, group_id, turn),
	CONSTRAINT fk_standalone_handoffs_session_id FOREIGN KEY(session_id) REFERENCES sessions (id)
);

CREATE TABLE starts (
	session_id TEXT NOT NULL,
	group_id TEXT NOT NULL,
	turn INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	role TEXT NOT NULL,
	agent_id TEXT NOT NULL,
	via TEXT NOT NULL,
	client TEXT NOT NULL,
	owner TEXT,
	call_id TEXT,
	isolation TEXT,
	started_at TEXT NOT NULL,
	worker TEXT,
	trace TEXT,
	bound_at TEXT,
	bound_seq INTEGER,
	ended_at TEXT,
	ended_seq INTEGER,
	outcome TEXT,
	reason TEXT,
	due_at TEXT,
	CONSTRAINT pk_starts PRIMARY KEY (session_id, group_id, turn, seq),
	CONSTRAINT ck_starts_via CHECK (via = 'hook' OR via = 'mcp' OR via = 'drive'),
	CONSTRAINT ck_starts_isolation CHECK (isolation IS NULL OR isolation IN ('worktree', 'none')),
	CONSTRAINT ck_starts_outcome CHECK (outcome IS NULL OR outcome IN ('failed', 'lost', 'freed', 'limited')),
	CONSTRAINT ck_starts_ended CHECK ((ended_seq IS NULL) = (ended_at IS NULL) AND (ended_seq IS NULL) = (outcome IS NULL)),
	CONSTRAINT ck_starts_bound CHECK ((bound_seq IS NULL) = (bound_at IS NULL)),
	CONSTRAINT fk_starts_session_id FOREIGN KEY(session_id) REFERENCES sessions (id)
)
 WITHOUT ROWID;

CREATE INDEX ix_starts_client ON starts (client, worker);

CREATE INDEX ix_starts_open ON starts (session_id, group_id, turn) WHERE ended_seq IS NULL;

CREATE TABLE task_groups (
	session_id TEXT NOT NULL,
	id TEXT NOT NULL,
	name TEXT NOT NULL,
	kind TEXT NOT NULL,
	security_sensitive INTEGER DEFAULT 0 NOT NULL,
	complexity INTEGER DEFAULT 3 NOT NULL,
	priority INTEGER DEFAULT 2 NOT NULL,
	created_by TEXT NOT NULL,
	created_at TEXT NOT NULL,
	created_seq INTEGER NOT NULL,
	status TEXT NOT NULL,
	status_changed_by TEXT,
	status_changed_at TEXT NOT NULL,
	status_seq INTEGER NOT NULL,
	awaited_role TEXT,
	awaited_agent_id TEXT,
	awaited_action TEXT,
	turn INTEGER,
	awaited_since TEXT,
	held TEXT,
	held_seq INTEGER,
	held_part INTEGER,
	qa_attempts INTEGER DEFAULT 0 NOT NULL,
	tl_review_attempts INTEGER DEFAULT 0 NOT NULL,
	merge_attempts INTEGER DEFAULT 0 NOT NULL,
	iterations INTEGER DEFAULT 0 NOT NULL,
	senior INTEGER DEFAULT 0 NOT NULL,
	builder_role TEXT,
	builder_agent_id TEXT,
	progress_seq INTEGER DEFAULT 0 NOT NULL,
	answered_seq INTEGER DEFAULT 0 NOT NULL,
	description TEXT,
	CONSTRAINT pk_task_groups PRIMARY KEY (session_id, id),
	CONSTRAINT ck_task_groups_kind CHECK (kind = 'code' OR kind = 'research' OR kind = 'chat'),
	CONSTRAINT ck_task_groups_status CHECK (status = 'pending' OR status = 'in_progress' OR status = 'completed' OR status = 'deferred_external' OR status = 'cancelled'),
	CONSTRAINT ck_task_groups_security_sensitive CHECK (security_sensitive IN (0, 1)),
	CONSTRAINT ck_task_groups_senior CHECK (senior IN (0, 1)),
	CONSTRAINT ck_task_groups_complexity CHECK (complexity BETWEEN 1 AND 10),
	CONSTRAINT ck_task_groups_priority CHECK (priority BETWEEN 0 AND 3),
	CONSTRAINT ck_task_groups_held CHECK (held IS NULL OR held IN ('slot', 'session_paused')),
	CONSTRAINT ck_task_groups_awaited CHECK (status = 'in_progress' OR awaited_role IS NULL),
	CONSTRAINT fk_task_groups_session_id FOREIGN KEY(session_id) REFERENCES sessions (id)
)
 WITHOUT ROWID;

CREATE INDEX ix_task_groups_held ON task_groups (session_id, held_seq) WHERE held IS NOT NULL;

CREATE INDEX ix_task_groups_open ON task_groups (session_id, status, priority, created_seq) WHERE status = 'pending' OR status = 'in_progress';

CREATE TABLE deferrals (
	session_id TEXT NOT NULL,
	seq INTEGER NOT NULL,
	group_id TEXT NOT NULL,
	blocker_id TEXT NOT NULL,
	reason TEXT NOT NULL,
	dependency TEXT NOT NULL,
	confirmed_by TEXT NOT NULL,
	confirmed_seq INTEGER NOT NULL,
	deferred_by TEXT NOT NULL,
	deferred_at TEXT NOT NULL,
	CONSTRAINT pk_deferrals PRIMARY KEY (session_id, seq),
	CONSTRAINT fk_deferrals_session_id FOREIGN KEY(session_id) REFERENCES sessions (id),
	CONSTRAINT fk_deferrals_blocker_id FOREIGN KEY(blocker_id) REFERENCES blockers (id)
)
 WITHOUT ROWID;

CREATE INDEX ix_deferrals_group ON deferrals (session_id, group_id, seq);

CREATE TABLE grandfathered_groups (
	session_id TEXT NOT NULL,
	group_id TEXT NOT NULL,
	seq INTEGER NOT NULL,
	peer_id TEXT NOT NULL,
	peer_status TEXT,
	completed_at TEXT,
	CONSTRAINT pk_grandfathered_groups PRIMARY KEY (session_id, group_id),
	CONSTRAINT fk_grandfathered_groups_session_id_group_id FOREIGN KEY(session_id, group_id) REFERENCES task_groups (session_id, id) DEFERRABLE INITIALLY DEFERRED
)
 WITHOUT ROWID;

CREATE TABLE group_dependencies (
	session_id TEXT NOT NULL,
	group_id TEXT NOT NULL,
	depends_on TEXT NOT NULL,
	seq INTEGER NOT NULL,
	added_by TEXT NOT NULL,
	removed_seq INTEGER,
	removed_by TEXT,
	removed_reason TEXT,
	CONSTRAINT pk_group_dependencies PRIMARY KEY (session_id, group_id, depends_on, seq),
	CONSTRAINT fk_group_dependencies_session_id_group_id FOREIGN KEY(session_id, group_id) REFERENCES task_groups (session_id, id),
	CONSTRAINT fk_group_dependencies_depends_on FOREIGN KEY(session_id, depends_on) REFERENCES task_groups (session_id, id),
	CONSTRAINT ck_group_dependencies_self CHECK (group_id <> depends_on)
)
 WITHOUT ROWID;

CREATE INDEX ix_group_dependencies_depends_on ON group_dependencies (session_id, depends_on);

CREATE TABLE import_findings (
	session_id TEXT NOT NULL,
	seq INTEGER NOT NULL,
	part INTEGER DEFAULT 1 NOT NULL,
	group_id TEXT,
	code TEXT NOT NULL,
	text TEXT NOT NULL,
	CONSTRAINT pk_import_findings PRIMARY KEY (session_id, seq, part),
	CONSTRAINT fk_import_findings_session_id FOREIGN KEY(session_id) REFERENCES imported_sessions (session_id)
)
 WITHOUT ROWID;

CREATE INDEX ix_import_findings_group ON import_findings (session_id, group_id);

CREATE TABLE imported_logs (
	session_id TEXT NOT NULL,
	seq INTEGER NOT NULL,
	part INTEGER DEFAULT 1 NOT NULL,
	group_id TEXT,
	peer_id TEXT,
	agent TEXT,
	kind TEXT,
	logged_at TEXT,
	content TEXT NOT NULL,
	more TEXT,
	CONSTRAINT uq_imported_logs_session_id_seq_part UNIQUE (session_id, seq, part),
	CONSTRAINT fk_imported_logs_session_id FOREIGN KEY(session_id) REFERENCES imported_sessions (session_id)
);

CREATE TABLE tasks (
	session_id TEXT NOT NULL,
	id TEXT NOT NULL,
	group_id TEXT,
	parent_id TEXT,
	title TEXT NOT NULL,
	description TEXT NOT NULL,
	type TEXT NOT NULL,
	priority INTEGER DEFAULT 2 NOT NULL,
	assignee TEXT,
	auto_unblock INTEGER DEFAULT 0 NOT NULL,
	created_by TEXT,
	created_at TEXT NOT NULL,
	created_seq INTEGER NOT NULL,
	status TEXT NOT NULL,
	status_changed_by_agent_id TEXT,
	status_changed_at TEXT NOT NULL,
	status_seq INTEGER NOT NULL,
	former_status TEXT,
	blocked_reason TEXT,
	version INTEGER DEFAULT 1 NOT NULL,
	claim_holder TEXT,
	claim_token TEXT,
	claim_until TEXT,
	claim_beat_at TEXT,
	CONSTRAINT pk_tasks PRIMARY KEY (session_id, id),
	CONSTRAINT fk_tasks_session_id_group_id FOREIGN KEY(session_id, group_id) REFERENCES task_groups (session_id, id),
	CONSTRAINT fk_tasks_parent_id FOREIGN KEY(session_id, parent_id) REFERENCES tasks (session_id, id),
	CONSTRAINT ck_tasks_status CHECK (status = 'backlog' OR status = 'todo' OR status = 'in_progress' OR status = 'blocked' OR status = 'done' OR status = 'cancelled'),
	CONSTRAINT ck_tasks_auto_unblock CHECK (auto_unblock IN (0, 1)),
	CONSTRAINT ck_tasks_priority CHECK (priority BETWEEN 0 AND 3),
	CONSTRAINT ck_tasks_parent CHECK (parent_id IS NULL OR parent_id <> id),
	CONSTRAINT ck_tasks_former_status CHECK ((status = 'blocked') = (former_status IS NOT NULL)),
	CONSTRAINT ck_tasks_blocked_reason CHECK ((status = 'blocked') = (blocked_reason IS NOT NULL)),
	CONSTRAINT ck_tasks_claim CHECK ((claim_holder IS NULL) = (claim_token IS NULL) AND (claim_holder IS NULL) = (claim_until IS NULL) AND (claim_holder IS NULL) = (claim_beat_at IS NULL)),
	CONSTRAINT ck_tasks_claimed CHECK (claim_holder IS NULL OR status IN ('in_progress', 'blocked')),
	CONSTRAINT fk_tasks_session_id FOREIGN KEY(session_id) REFERENCES sessions (id),
	CONSTRAINT fk_tasks_assignee FOREIGN KEY(assignee) REFERENCES agents (id),
	CONSTRAINT fk_tasks_created_by FOREIGN KEY(created_by) REFERENCES agents (id),
	CONSTRAINT fk_tasks_status_changed_by_agent_id FOREIGN KEY(status_changed_by_agent_id) REFERENCES agents (id),
	CONSTRAINT fk_tasks_claim_holder FOREIGN KEY(claim_holder) REFERENCES agents (id)
)
 WITHOUT ROWID;

CREATE INDEX idx_tasks_status_changed_by ON tasks (status_changed_by_agent_id);

CREATE INDEX ix_tasks_assignee ON tasks (assignee, status);

CREATE INDEX ix_tasks_claimed ON tasks (session_id, claim_until) WHERE claim_until IS NOT NULL;

CREATE INDEX ix_tasks_created ON tasks (session_id, created_seq);

CREATE INDEX ix_tasks_group ON tasks (session_id, group_id, status);

CREATE INDEX ix_tasks_parent ON tasks (session_id, parent_id, status, priority, created_at);

CREATE INDEX ix_tasks_pending ON tasks (session_id, priority, created_at) WHERE status IN ('backlog', 'todo');

CREATE TABLE turn_runs (
	session_id TEXT NOT NULL,
	id TEXT NOT NULL,
	group_id TEXT,
	turn INTEGER NOT NULL,
	role TEXT NOT NULL,
	prompt TEXT NOT NULL,
	executor TEXT NOT NULL,
	model TEXT,
	folder TEXT NOT NULL,
	root TEXT NOT NULL,
	lock_key TEXT NOT NULL,
	queued_by TEXT NOT NULL,
	queued_at TEXT NOT NULL,
	created_seq INTEGER NOT NULL,
	state TEXT NOT NULL,
	state_changed_by TEXT NOT NULL,
	state_changed_at TEXT NOT NULL,
	state_seq INTEGER NOT NULL,
	owner TEXT,
	started_at TEXT,
	ended_at TEXT,
	reason TEXT,
	error_code TEXT,
	blocked_reason TEXT,
	timeout_ms INTEGER,
	limit_name TEXT,
	output TEXT,
	usage TEXT,
	CONSTRAINT pk_turn_runs PRIMARY KEY (session_id, id),
	CONSTRAINT uq_turn_runs_id UNIQUE (id),
	CONSTRAINT fk_turn_runs_session_id_group_id FOREIGN KEY(session_id, group_id) REFERENCES task_groups (session_id, id),
	CONSTRAINT ck_turn_runs_state CHECK (state = 'queued' OR state = 'running' OR state = 'answered' OR state = 'no_answer' OR state = 'failed' OR state = 'limited'),
	CONSTRAINT ck_turn_runs_ended CHECK ((state IN ('answered', 'no_answer', 'failed', 'limited')) = (ended_at IS NOT NULL)),
	CONSTRAINT ck_turn_runs_owner CHECK ((ended_at IS NULL) = (owner IS NOT NULL)),
	CONSTRAINT ck_turn_runs_answer CHECK (state <> 'answered' OR (output IS NOT NULL AND output <> '')),
	CONSTRAINT ck_turn_runs_reason CHECK (state NOT IN ('no_answer', 'failed', 'limited') OR (reason IS NOT NULL AND reason <> '')),
	CONSTRAINT fk_turn_runs_session_id FOREIGN KEY(session_id) REFERENCES sessions (id),
	CONSTRAINT fk_turn_runs_queued_by FOREIGN KEY(queued_by) REFERENCES agents (id)
)
 WITHOUT ROWID;

CREATE INDEX ix_turn_runs_open ON turn_runs (state, id) WHERE ended_at IS NULL;

CREATE INDEX ix_turn_runs_turn ON turn_runs (session_id, group_id, turn);

CREATE TABLE notices (
	session_id TEXT NOT NULL,
	seq INTEGER NOT NULL,
	part INTEGER DEFAULT 1 NOT NULL,
	agent_id TEXT NOT NULL,
	task_id TEXT NOT NULL,
	blocker_id TEXT NOT NULL,
	CONSTRAINT pk_notices PRIMARY KEY (session_id, seq, part),
	CONSTRAINT fk_notices_session_id_task_id FOREIGN KEY(session_id, task_id) REFERENCES tasks (session_id, id),
	CONSTRAINT fk_notices_agent_id FOREIGN KEY(agent_id) REFERENCES agents (id),
	CONSTRAINT fk_notices_blocker_id FOREIGN KEY(blocker_id) REFERENCES blockers (id)
)
 WITHOUT ROWID;

CREATE INDEX ix_notices_agent ON notices (agent_id, session_id, seq);

CREATE TABLE runs (
	session_id TEXT NOT NULL,
	id TEXT NOT NULL,
	log_id TEXT NOT NULL,
	task_id TEXT NOT NULL,
	prompt TEXT NOT NULL,
	task_type TEXT NOT NULL,
	executor TEXT NOT NULL,
	provider TEXT NOT NULL,
	model TEXT,
	retry_of TEXT,
	verification_root TEXT NOT NULL,
	queued_by TEXT NOT NULL,
	queued_at TEXT NOT NULL,
	created_seq INTEGER NOT NULL,
	state TEXT NOT NULL,
	state_changed_by TEXT NOT NULL,
	state_changed_at TEXT NOT NULL,
	state_seq INTEGER NOT NULL,
	owner TEXT,
	started_at TEXT,
	ended_at TEXT,
	executor_status TEXT,
	error_code TEXT,
	error_reason TEXT,
	executor_blocked INTEGER DEFAULT 0 NOT NULL,
	blocked_reason TEXT,
	timeout_ms INTEGER,
	limit_name TEXT,
	files_modified_count INTEGER DEFAULT 0 NOT NULL,
	output TEXT,
	question_id TEXT,
	CONSTRAINT pk_runs PRIMARY KEY (session_id, id),
	CONSTRAINT uq_runs_id UNIQUE (id),
	CONSTRAINT uq_runs_session_id_log_id UNIQUE (session_id, log_id),
	CONSTRAINT fk_runs_session_id_task_id FOREIGN KEY(session_id, task_id) REFERENCES tasks (session_id, id),
	CONSTRAINT fk_runs_retry_of FOREIGN KEY(session_id, retry_of) REFERENCES runs (session_id, id),
	CONSTRAINT ck_runs_state CHECK (state = 'queued' OR state = 'running' OR state = 'awaiting_response' OR state = 'complete' OR state = 'incomplete' OR state = 'error' OR state = 'cancelled'),
	CONSTRAINT ck_runs_task_type CHECK (task_type = 'READ_INFO' OR task_type = 'REPORT' OR task_type = 'LIGHT_EDIT' OR task_type = 'IMPLEMENTATION' OR task_type = 'REVIEW_RESPONSE' OR task_type = 'CONFIG_CI_CHANGE' OR task_type = 'DANGEROUS_OP'),
	CONSTRAINT ck_runs_executor_status CHECK (executor_status IS NULL OR executor_status IN ('COMPLETE', 'INCOMPLETE', 'NO_EVIDENCE', 'ERROR', 'INVALID', 'BLOCKED')),
	CONSTRAINT ck_runs_blocked CHECK (executor_status IS NOT 'BLOCKED' OR task_type = 'DANGEROUS_OP'),
	CONSTRAINT ck_runs_ended CHECK ((state IN ('complete', 'incomplete', 'error', 'cancelled')) = (ended_at IS NOT NULL)),
	CONSTRAINT ck_runs_complete CHECK (state <> 'complete' OR executor_status IS 'COMPLETE'),
	CONSTRAINT ck_runs_reason CHECK (state NOT IN ('incomplete', 'error', 'cancelled') OR (error_reason IS NOT NULL AND error_reason <> '')),
	CONSTRAINT ck_runs_question CHECK (state <> 'awaiting_response' OR question_id IS NOT NULL),
	CONSTRAINT ck_runs_owner CHECK ((state = 'running') = (owner IS NOT NULL)),
	CONSTRAINT ck_runs_executor_blocked CHECK (executor_blocked IN (0, 1)),
	CONSTRAINT ck_runs_blocked_reason CHECK (executor_blocked = 0 OR blocked_reason IS NOT NULL),
	CONSTRAINT fk_runs_session_id FOREIGN KEY(session_id) REFERENCES sessions (id),
	CONSTRAINT fk_runs_queued_by FOREIGN KEY(queued_by) REFERENCES agents (id)
)
 WITHOUT ROWID;

CREATE INDEX ix_runs_created ON runs (session_id, created_seq);

CREATE INDEX ix_runs_open ON runs (state, id) WHERE ended_at IS NULL;

CREATE INDEX ix_runs_task ON runs (session_id, task_id);

CREATE TABLE task_dependencies (
	session_id TEXT NOT NULL,
	task_id TEXT NOT NULL,
	depends_on_id TEXT NOT NULL,
	seq INTEGER NOT NULL,
	added_by TEXT,
	removed_seq INTEGER,
	removed_by TEXT,
	removed_reason TEXT,
	CONSTRAINT pk_task_dependencies PRIMARY KEY (session_id, task_id, depends_on_id, seq),
	CONSTRAINT fk_task_dependencies_session_id_task_id FOREIGN KEY(session_id, task_id) REFERENCES tasks (session_id, id),
	CONSTRAINT fk_task_dependencies_depends_on_id FOREIGN KEY(session_id, depends_on_id) REFERENCES tasks (session_id, id),
	CONSTRAINT ck_task_dependencies_self CHECK (task_id <> depends_on_id),
	CONSTRAINT fk_task_dependencies_added_by FOREIGN KEY(added_by) REFERENCES agents (id)
)
 WITHOUT ROWID;

CREATE INDEX ix_task_dependencies_depends_on ON task_dependencies (session_id, depends_on_id);

CREATE TABLE run_events (
	session_id TEXT NOT NULL,
	seq INTEGER NOT NULL,
	part INTEGER DEFAULT 1 NOT NULL,
	run_id TEXT NOT NULL,
	at TEXT NOT NULL,
	kind TEXT NOT NULL,
	level TEXT NOT NULL,
	text TEXT NOT NULL,
	CONSTRAINT pk_run_events PRIMARY KEY (session_id, seq, part),
	CONSTRAINT ck_run_events_level CHECK (level = 'summary' OR level = 'full'),
	CONSTRAINT fk_run_events_session_id_run_id FOREIGN KEY(session_id, run_id) REFERENCES runs (session_id, id)
)
 WITHOUT ROWID;

CREATE INDEX ix_run_events_run ON run_events (session_id, run_id, seq);

CREATE TABLE run_files (
	session_id TEXT NOT NULL,
	seq INTEGER NOT NULL,
	part INTEGER DEFAULT 1 NOT NULL,
	run_id TEXT NOT NULL,
	path TEXT NOT NULL,
	change TEXT,
	present INTEGER NOT NULL,
	detected_at TEXT NOT NULL,
	detection_method TEXT NOT NULL,
	CONSTRAINT pk_run_files PRIMARY KEY (session_id, seq, part),
	CONSTRAINT ck_run_files_detection_method CHECK (detection_method = 'diff' OR detection_method = 'executor_claim'),
	CONSTRAINT ck_run_files_present CHECK (present IN (0, 1)),
	CONSTRAINT fk_run_files_session_id_run_id FOREIGN KEY(session_id, run_id) REFERENCES runs (session_id, id)
)
 WITHOUT ROWID;

CREATE INDEX ix_run_files_run ON run_files (session_id, run_id, seq);

CREATE TABLE run_locks (
	session_id TEXT NOT NULL,
	run_id TEXT NOT NULL,
	path TEXT NOT NULL,
	mode TEXT NOT NULL,
	seq INTEGER NOT NULL,
	acquired_at TEXT NOT NULL,
	released_at TEXT,
	released_seq INTEGER,
	CONSTRAINT pk_run_locks PRIMARY KEY (session_id, run_id, path, seq),
	CONSTRAINT fk_run_locks_session_id_run_id FOREIGN KEY(session_id, run_id) REFERENCES runs (session_id, id),
	CONSTRAINT ck_run_locks_mode CHECK (mode = 'read' OR mode = 'write'),
	CONSTRAINT ck_run_locks_released CHECK ((released_at IS NULL) = (released_seq IS NULL))
)
 WITHOUT ROWID;

CREATE INDEX ix_run_locks_held ON run_locks (path) WHERE released_seq IS NULL;

CREATE TABLE run_violations (
	session_id TEXT NOT NULL,
	seq INTEGER NOT NULL,
	part INTEGER DEFAULT 1 NOT NULL,
	run_id TEXT NOT NULL,
	type TEXT NOT NULL,
	limit_value INTEGER NOT NULL,
	actual INTEGER NOT NULL,
	at TEXT NOT NULL,
	CONSTRAINT pk_run_violations PRIMARY KEY (session_id, seq, part),
	CONSTRAINT fk_run_violations_session_id_run_id FOREIGN KEY(session_id, run_id) REFERENCES runs (session_id, id)
)
 WITHOUT ROWID;

CREATE INDEX ix_run_violations_run ON run_violations (session_id, run_id, seq);

CREATE VIEW handoffs AS
SELECT session_id, turn, group_id, agent_id, document, hash FROM standalone_handoffs
UNION ALL
SELECT session_id, seq, CAST(CASE WHEN handoff_group IS NULL THEN group_id ELSE handoff_group END AS TEXT), handoff_agent, handoff, CAST(CASE WHEN handoff_group IS NULL THEN handoff_hash ELSE handoff_group_hash END AS TEXT) FROM router_decisions INDEXED BY sqlite_autoindex_router_decisions_1 WHERE handoff IS NOT NULL OR handoff_agent IS NOT NULL;

CREATE VIEW group_marks AS
SELECT
    g.session_id AS session_id,
    g.id AS group_id,
    g.kind AS kind,
    g.status AS status,
    g.security_sensitive AS security_sensitive,
    (SELECT s.testing_mode FROM sessions s WHERE s.id = g.session_id) AS testing_mode,
    CASE WHEN EXISTS (SELECT c.seq FROM status_changes c INDEXED BY ix_status_changes_reopened WHERE c.session_id = g.session_id AND c.entity = 'group' AND c.entity_id = g.id AND c.from_status = 'completed' ORDER BY c.seq DESC LIMIT 1) THEN (SELECT c.seq FROM status_changes c INDEXED BY ix_status_changes_reopened WHERE c.session_id = g.session_id AND c.entity = 'group' AND c.entity_id = g.id AND c.from_status = 'completed' ORDER BY c.seq DESC LIMIT 1) ELSE 0 END AS base_seq,
    (SELECT r.seq FROM agent_reports r INDEXED BY ix_agent_reports_group WHERE r.session_id = g.session_id AND r.group_id = g.id AND r.effect <> 'merge' AND r.effect <> 'withheld' AND (r.role <> 'project_manager' OR r.effect IN ('rework', 'defer')) ORDER BY r.seq DESC LIMIT 1) AS standing_seq,
    (SELECT r.effect FROM agent_reports r INDEXED BY ix_agent_reports_group WHERE r.session_id = g.session_id AND r.group_id = g.id AND r.effect <> 'merge' AND r.effect <> 'withheld' AND (r.role <> 'project_manager' OR r.effect IN ('rework', 'defer')) ORDER BY r.seq DESC LIMIT 1) AS standing_effect,
    (SELECT r.seq FROM agent_reports r INDEXED BY ix_agent_reports_group WHERE r.session_id = g.session_id AND r.group_id = g.id AND r.effect = 'merge' ORDER BY r.seq DESC LIMIT 1) AS merge_seq,
    (SELECT CASE WHEN (SELECT t.isolation FROM starts t INDEXED BY sqlite_autoindex_starts_1 WHERE t.session_id = r.session_id AND t.group_id = r.group_id AND t.turn = r.turn AND t.seq < r.seq ORDER BY t.seq DESC LIMIT 1) IS NOT 'worktree' OR (SELECT d.rules_version FROM router_decisions d INDEXED BY sqlite_autoindex_router_decisions_1 WHERE d.session_id = r.session_id AND d.seq = r.seq AND d.part = 1) < 5 THEN 'not_needed' ELSE (SELECT e.outcome FROM evidence e INDEXED BY ix_evidence_merge WHERE e.session_id = r.session_id AND e.subject = r.group_id AND e.seq = r.seq AND e.kind = 'merge' LIMIT 1) END FROM agent_reports r INDEXED BY ix_agent_reports_group WHERE r.session_id = g.session_id AND r.group_id = g.id AND r.effect = 'merge' ORDER BY r.seq DESC LIMIT 1) AS merge_proof,
    (SELECT r.seq FROM agent_reports r INDEXED BY ix_agent_reports_group WHERE r.session_id = g.session_id AND r.group_id = g.id AND r.effect = 'submit_test' ORDER BY r.seq DESC LIMIT 1) AS submit_test_seq,
    (SELECT r.seq FROM agent_reports r INDEXED BY ix_agent_reports_group WHERE r.session_id = g.session_id AND r.group_id = g.id AND r.effect = 'submit_review' ORDER BY r.seq DESC LIMIT 1) AS submit_review_seq,
    (SELECT r.seq FROM agent_reports r INDEXED BY ix_agent_reports_group WHERE r.session_id = g.session_id AND r.group_id = g.id AND r.effect = 'test_pass' ORDER BY r.seq DESC LIMIT 1) AS test_pass_seq,
    (SELECT r.seq FROM agent_reports r INDEXED BY ix_agent_reports_group WHERE r.session_id = g.session_id AND r.group_id = g.id AND r.effect = 'test_fail' ORDER BY r.seq DESC LIMIT 1) AS test_fail_seq,
    (SELECT r.seq FROM agent_reports r INDEXED BY ix_agent_reports_group WHERE r.session_id = g.session_id AND r.group_id = g.id AND r.effect = 'test_pass' AND r.seq > (SELECT r.seq FROM agent_reports r INDEXED BY ix_agent_reports_group WHERE r.session_id = g.session_id AND r.group_id = g.id AND r.effect = 'submit_test' ORDER BY r.seq DESC LIMIT 1) AND r.seq <= (SELECT r.seq FROM agent_reports r INDEXED BY ix_agent_reports_group WHERE r.session_id = g.session_id AND r.group_id = g.id AND r.effect <> 'merge' AND r.effect <> 'withheld' AND (r.role <> 'project_manager' OR r.effect IN ('rework', 'defer')) ORDER BY r.seq DESC LIMIT 1) ORDER BY r.seq DESC LIMIT 1) AS passed_seq,
    (SELECT r.seq FROM agent_reports r INDEXED BY ix_agent_reports_group WHERE r.session_id = g.session_id AND r.group_id = g.id AND r.role = 'qa_expert' AND r.effect <> 'withheld' ORDER BY r.seq DESC LIMIT 1) AS qa_seq,
    (SELECT r.seq FROM agent_reports r INDEXED BY ix_agent_reports_group WHERE r.session_id = g.session_id AND r.group_id = g.id AND r.role = 'qa_expert' AND (r.effect = 'test_pass' OR r.effect = 'test_fail' OR r.effect = 'inconclusive' OR r.effect = 'block') ORDER BY r.seq DESC LIMIT 1) AS qa_answer_seq,
    (SELECT r.effect FROM agent_reports r INDEXED BY ix_agent_reports_group WHERE r.session_id = g.session_id AND r.group_id = g.id AND r.role = 'qa_expert' AND (r.effect = 'test_pass' OR r.effect = 'test_fail' OR r.effect = 'inconclusive' OR r.effect = 'block') ORDER BY r.seq DESC LIMIT 1) AS qa_answer_effect,
    (SELECT r.seq FROM agent_reports r INDEXED BY ix_agent_reports_group WHERE r.session_id = g.session_id AND r.group_id = g.id AND r.role = 'tech_lead' AND r.effect <> 'withheld' ORDER BY r.seq DESC LIMIT 1) AS tech_lead_seq,
    (SELECT r.seq FROM agent_reports r INDEXED BY ix_agent_reports_group WHERE r.session_id = g.session_id AND r.group_id = g.id AND r.role = 'project_manager' AND r.effect <> 'withheld' ORDER BY r.seq DESC LIMIT 1) AS manager_seq,
    (SELECT t.seq FROM router_decisions t INDEXED BY ix_router_decisions_mandatory WHERE t.session_id = g.session_id AND t.group_id = g.id AND t.mandatory_review = 1 ORDER BY t.seq DESC LIMIT 1) AS mandatory_seq,
    (SELECT t.id FROM blockers t INDEXED BY ix_blockers_open WHERE t.session_id = g.session_id AND t.group_id = g.id AND t.resolved_seq IS NULL ORDER BY t.opened_seq DESC LIMIT 1) AS open_blocker,
    (SELECT t.id FROM questions t INDEXED BY ix_questions_open WHERE t.session_id = g.session_id AND t.group_id = g.id AND t.closed_seq IS NULL ORDER BY t.opened_seq DESC LIMIT 1) AS open_question,
    (SELECT t.id FROM tasks t INDEXED BY ix_tasks_group WHERE t.session_id = g.session_id AND t.group_id = g.id AND t.status <> 'done' AND t.status <> 'cancelled' LIMIT 1) AS open_task,
    CASE WHEN EXISTS (SELECT 1 FROM tasks t INDEXED BY ix_tasks_group WHERE t.session_id = g.session_id AND t.group_id = g.id) AND NOT EXISTS (SELECT 1 FROM tasks t INDEXED BY ix_tasks_group WHERE t.session_id = g.session_id AND t.group_id = g.id AND t.status = 'done') THEN 1 ELSE 0 END AS no_task_done,
    (SELECT t.opened_seq FROM blockers t INDEXED BY ix_blockers_own WHERE t.session_id = g.session_id AND t.group_id = g.id AND t.task_id IS NULL ORDER BY t.opened_seq DESC LIMIT 1) AS blocker_seq,
    (SELECT t.resolved_seq FROM blockers t INDEXED BY ix_blockers_own_resolved WHERE t.session_id = g.session_id AND t.group_id = g.id AND t.task_id IS NULL AND t.resolved_seq IS NOT NULL ORDER BY t.resolved_seq DESC LIMIT 1) AS resolved_seq,
    (SELECT r.seq FROM agent_reports r INDEXED BY ix_agent_reports_confirm WHERE r.session_id = g.session_id AND r.effect = 'confirm' AND r.role = 'project_manager' ORDER BY r.seq DESC LIMIT 1) AS confirm_seq,
    (SELECT t.seq FROM acknowledgements t INDEXED BY ix_acknowledgements_group WHERE t.session_id = g.session_id AND t.group_id = g.id AND EXISTS (SELECT 1 FROM agent_reports r INDEXED BY sqlite_autoindex_agent_reports_1 WHERE r.session_id = t.session_id AND r.seq = t.seq AND r.part = 1 AND r.role = 'project_manager') ORDER BY t.seq DESC LIMIT 1) AS acknowledged_seq,
    EXISTS (SELECT 1 FROM acknowledgements t INDEXED BY ix_acknowledgements_group WHERE t.session_id = g.session_id AND t.group_id = g.id AND t.seq = (SELECT r.seq FROM agent_reports r INDEXED BY ix_agent_reports_confirm WHERE r.session_id = g.session_id AND r.effect = 'confirm' AND r.role = 'project_manager' ORDER BY r.seq DESC LIMIT 1)) AS confirm_acknowledged
FROM task_groups g;

CREATE VIEW group_reasons AS
SELECT DISTINCT
    session_id AS session_id,
    group_id AS group_id,
    kind AS kind,
    status AS status,
    base_seq AS base_seq,
    standing_seq AS standing_seq,
    merge_seq AS merge_seq,
    submit_test_seq AS submit_test_seq,
    submit_review_seq AS submit_review_seq,
    test_fail_seq AS test_fail_seq,
    passed_seq AS passed_seq,
    qa_answer_seq AS qa_answer_seq,
    tech_lead_seq AS tech_lead_seq,
    manager_seq AS manager_seq,
    mandatory_seq AS mandatory_seq,
    open_blocker AS open_blocker,
    open_question AS open_question,
    open_task AS open_task,
    no_task_done AS no_task_done,
    waits_on AS waits_on,
    blocker_seq AS blocker_seq,
    resolved_seq AS resolved_seq,
    confirm_seq AS confirm_seq,
    acknowledged_seq AS acknowledged_seq,
    confirm_acknowledged AS confirm_acknowledged,
    CASE WHEN kind = 'chat' THEN 'chat' WHEN standing_seq IS NULL THEN 'never' WHEN standing_seq <= base_seq THEN 'reopened' WHEN (standing_effect = 'approve' AND standing_seq > base_seq) THEN 'approved' WHEN 1 THEN 'voided' END AS approved_why,
    CASE WHEN kind = 'chat' THEN 'chat' WHEN kind = 'research' THEN 'not_required' WHEN (submit_test_seq > base_seq OR submit_review_seq > base_seq) IS NOT 1 THEN 'no_submission' WHEN test_fail_seq > base_seq AND (test_pass_seq IS NULL OR test_fail_seq > test_pass_seq) THEN 'open_test_fail' WHEN submit_test_seq > base_seq AND passed_seq IS NOT NULL THEN 'test_pass' WHEN testing_mode IN ('minimal', 'disabled') THEN 'testing_mode' WHEN ((submit_test_seq > base_seq) IS NOT 1 AND (qa_seq > base_seq) IS NOT 1) THEN 'qa_not_asked' WHEN qa_answer_effect IN ('block', 'inconclusive') AND qa_answer_seq > base_seq AND (standing_effect = 'approve' AND standing_seq > base_seq) THEN 'unfinished_accepted' WHEN submit_test_seq > base_seq AND (qa_answer_seq > submit_test_seq) IS NOT 1 THEN 'qa_unanswered' WHEN 1 THEN 'no_test_pass' END AS tested_why,
    CASE WHEN kind = 'chat' THEN 'chat' WHEN kind = 'research' THEN 'not_required' WHEN merge_seq IS NULL THEN 'never' WHEN merge_seq <= base_seq THEN 'reopened' WHEN (standing_effect = 'approve' AND standing_seq > base_seq) AND merge_seq > standing_seq AND merge_proof IS NULL THEN 'unproven' WHEN (standing_effect = 'approve' AND standing_seq > base_seq) AND merge_seq > standing_seq AND merge_proof = 'nothing_to_merge' THEN 'nothing_to_merge' WHEN (standing_effect = 'approve' AND standing_seq > base_seq) AND merge_seq > standing_seq AND merge_proof = 'merged' THEN 'proven' WHEN (standing_effect = 'approve' AND standing_seq > base_seq) AND merge_seq > standing_seq THEN 'merged' WHEN (standing_effect = 'approve' AND standing_seq > base_seq) THEN 'before_approval' WHEN 1 THEN 'voided' END AS merged_why,
    CASE WHEN kind = 'chat' THEN 'chat' WHEN open_blocker IS NOT NULL THEN 'open_blocker' WHEN open_question IS NOT NULL THEN 'open_question' WHEN open_task IS NOT NULL THEN 'open_task' WHEN no_task_done = 1 THEN 'no_task_done' WHEN waits_on IS NOT NULL THEN 'dependency' WHEN 1 THEN 'clear' END AS unblocked_why,
    CASE WHEN kind = 'chat' THEN 'chat' WHEN kind = 'research' THEN 'not_required' WHEN mandatory_seq IS NOT NULL AND (tech_lead_seq > mandatory_seq) IS NOT 1 THEN 'no_review' WHEN security_sensitive <> 0 AND (tech_lead_seq > base_seq) IS NOT 1 THEN 'no_security_review' WHEN mandatory_seq IS NULL AND security_sensitive = 0 THEN 'not_required' WHEN 1 THEN 'reviewed' END AS reviewed_why
FROM (SELECT DISTINCT m.*, CASE WHEN EXISTS (SELECT 1 FROM group_dependencies d WHERE d.session_id = m.session_id AND d.group_id = m.group_id AND d.removed_seq IS NULL) THEN (WITH RECURSIVE waits(group_id) AS (SELECT d.depends_on FROM group_dependencies d WHERE d.group_id = m.group_id AND d.session_id = m.session_id AND d.removed_seq IS NULL AND NOT EXISTS (SELECT 1 FROM task_groups c WHERE c.session_id = d.session_id AND c.id = d.depends_on AND c.status = 'completed') UNION SELECT d.depends_on FROM waits w CROSS JOIN group_dependencies d WHERE d.group_id = w.group_id AND d.session_id = m.session_id AND d.removed_seq IS NULL AND NOT EXISTS (SELECT 1 FROM task_groups c WHERE c.session_id = d.session_id AND c.id = d.depends_on AND c.status = 'completed')) SELECT w.group_id FROM waits w WHERE (SELECT status = 'in_progress' AND open_blocker IS NULL AND open_question IS NULL AND open_task IS NULL AND no_task_done = 0 AND CASE CASE WHEN kind = 'chat' THEN 'chat' WHEN standing_seq IS NULL THEN 'never' WHEN standing_seq <= base_seq THEN 'reopened' WHEN (standing_effect = 'approve' AND standing_seq > base_seq) THEN 'approved' WHEN 1 THEN 'voided' END WHEN 'approved' THEN 1 ELSE 0 END AND CASE CASE WHEN kind = 'chat' THEN 'chat' WHEN kind = 'research' THEN 'not_required' WHEN (submit_test_seq > base_seq OR submit_review_seq > base_seq) IS NOT 1 THEN 'no_submission' WHEN test_fail_seq > base_seq AND (test_pass_seq IS NULL OR test_fail_seq > test_pass_seq) THEN 'open_test_fail' WHEN submit_test_seq > base_seq AND passed_seq IS NOT NULL THEN 'test_pass' WHEN testing_mode IN ('minimal', 'disabled') THEN 'testing_mode' WHEN ((submit_test_seq > base_seq) IS NOT 1 AND (qa_seq > base_seq) IS NOT 1) THEN 'qa_not_asked' WHEN qa_answer_effect IN ('block', 'inconclusive') AND qa_answer_seq > base_seq AND (standing_effect = 'approve' AND standing_seq > base_seq) THEN 'unfinished_accepted' WHEN submit_test_seq > base_seq AND (qa_answer_seq > submit_test_seq) IS NOT 1 THEN 'qa_unanswered' WHEN 1 THEN 'no_test_pass' END WHEN 'not_required' THEN 1 WHEN 'test_pass' THEN 1 WHEN 'testing_mode' THEN 1 WHEN 'qa_not_asked' THEN 1 WHEN 'unfinished_accepted' THEN 1 ELSE 0 END AND CASE CASE WHEN kind = 'chat' THEN 'chat' WHEN kind = 'research' THEN 'not_required' WHEN merge_seq IS NULL THEN 'never' WHEN merge_seq <= base_seq THEN 'reopened' WHEN (standing_effect = 'approve' AND standing_seq > base_seq) AND merge_seq > standing_seq AND merge_proof IS NULL THEN 'unproven' WHEN (standing_effect = 'approve' AND standing_seq > base_seq) AND merge_seq > standing_seq AND merge_proof = 'nothing_to_merge' THEN 'nothing_to_merge' WHEN (standing_effect = 'approve' AND standing_seq > base_seq) AND merge_seq > standing_seq AND merge_proof = 'merged' THEN 'proven' WHEN (standing_effect = 'approve' AND standing_seq > base_seq) AND merge_seq > standing_seq THEN 'merged' WHEN (standing_effect = 'approve' AND standing_seq > base_seq) THEN 'before_approval' WHEN 1 THEN 'voided' END WHEN 'not_required' THEN 1 WHEN 'nothing_to_merge' THEN 1 WHEN 'proven' THEN 1 WHEN 'merged' THEN 1 ELSE 0 END AND CASE CASE WHEN kind = 'chat' THEN 'chat' WHEN kind = 'research' THEN 'not_required' WHEN mandatory_seq IS NOT NULL AND (tech_lead_seq > mandatory_seq) IS NOT 1 THEN 'no_review' WHEN security_sensitive <> 0 AND (tech_lead_seq > base_seq) IS NOT 1 THEN 'no_security_review' WHEN mandatory_seq IS NULL AND security_sensitive = 0 THEN 'not_required' WHEN 1 THEN 'reviewed' END WHEN 'not_required' THEN 1 WHEN 'not_required' THEN 1 WHEN 'reviewed' THEN 1 ELSE 0 END FROM (SELECT DISTINCT kind, status, security_sensitive, testing_mode, base_seq, standing_seq, standing_effect, merge_seq, merge_proof, submit_test_seq, submit_review_seq, test_pass_seq, test_fail_seq, passed_seq, qa_seq, qa_answer_seq, qa_answer_effect, tech_lead_seq, mandatory_seq, open_blocker, open_question, open_task, no_task_done FROM group_marks k WHERE k.session_id = m.session_id AND k.group_id = w.group_id)) IS NOT 1 LIMIT 1) END AS waits_on FROM group_marks m);

CREATE VIEW completion_paths AS
SELECT
    session_id AS session_id,
    group_id AS group_id,
    kind AS kind,
    status AS status,
    CASE WHEN CASE approved_why WHEN 'approved' THEN 1 ELSE 0 END THEN 1 ELSE 0 END AS approved_met,
    approved_why AS approved_why,
    CASE approved_why WHEN 'reopened' THEN base_seq WHEN 'approved' THEN standing_seq WHEN 'voided' THEN standing_seq END AS approved_seq,
    CASE WHEN CASE tested_why WHEN 'not_required' THEN 1 WHEN 'test_pass' THEN 1 WHEN 'testing_mode' THEN 1 WHEN 'qa_not_asked' THEN 1 WHEN 'unfinished_accepted' THEN 1 ELSE 0 END THEN 1 ELSE 0 END AS tested_met,
    tested_why AS tested_why,
    CASE tested_why WHEN 'open_test_fail' THEN test_fail_seq WHEN 'test_pass' THEN passed_seq WHEN 'qa_not_asked' THEN submit_review_seq WHEN 'unfinished_accepted' THEN qa_answer_seq WHEN 'qa_unanswered' THEN submit_test_seq WHEN 'no_test_pass' THEN qa_answer_seq END AS tested_seq,
    CASE WHEN CASE merged_why WHEN 'not_required' THEN 1 WHEN 'nothing_to_merge' THEN 1 WHEN 'proven' THEN 1 WHEN 'merged' THEN 1 ELSE 0 END THEN 1 ELSE 0 END AS merged_met,
    merged_why AS merged_why,
    CASE merged_why WHEN 'reopened' THEN base_seq WHEN 'unproven' THEN merge_seq WHEN 'nothing_to_merge' THEN merge_seq WHEN 'proven' THEN merge_seq WHEN 'merged' THEN merge_seq WHEN 'before_approval' THEN merge_seq WHEN 'voided' THEN standing_seq END AS merged_seq,
    CASE WHEN CASE unblocked_why WHEN 'clear' THEN 1 ELSE 0 END THEN 1 ELSE 0 END AS unblocked_met,
    unblocked_why AS unblocked_why,
    CASE unblocked_why WHEN 'open_blocker' THEN (SELECT b.opened_seq FROM blockers b WHERE b.id = open_blocker) WHEN 'open_question' THEN (SELECT q.opened_seq FROM questions q WHERE q.id = open_question) WHEN 'dependency' THEN (SELECT d.seq FROM group_dependencies d WHERE d.session_id = p.session_id AND d.group_id = p.group_id AND d.depends_on = waits_on AND d.removed_seq IS NULL) WHEN 'clear' THEN resolved_seq END AS unblocked_seq,
    CASE WHEN CASE reviewed_why WHEN 'not_required' THEN 1 WHEN 'not_required' THEN 1 WHEN 'reviewed' THEN 1 ELSE 0 END THEN 1 ELSE 0 END AS reviewed_met,
    reviewed_why AS reviewed_why,
    CASE reviewed_why WHEN 'no_review' THEN mandatory_seq WHEN 'reviewed' THEN tech_lead_seq END AS reviewed_seq,
    CASE WHEN CASE confirmed_why WHEN 'not_required' THEN 1 WHEN 'confirmed' THEN 1 WHEN 'acknowledged' THEN 1 ELSE 0 END THEN 1 ELSE 0 END AS confirmed_met,
    confirmed_why AS confirmed_why,
    CASE confirmed_why WHEN 'confirmed' THEN confirm_seq WHEN 'acknowledged' THEN acknowledged_seq WHEN 'not_confirmed' THEN resolved_seq END AS confirmed_seq,
    CASE unblocked_why WHEN 'open_blocker' THEN open_blocker WHEN 'open_question' THEN open_question WHEN 'open_task' THEN open_task WHEN 'dependency' THEN waits_on END AS unblocked_ref,
    CASE WHEN (SELECT 1) AND (CASE approved_why WHEN 'approved' THEN 1 ELSE 0 END AND CASE tested_why WHEN 'not_required' THEN 1 WHEN 'test_pass' THEN 1 WHEN 'testing_mode' THEN 1 WHEN 'qa_not_asked' THEN 1 WHEN 'unfinished_accepted' THEN 1 ELSE 0 END AND CASE merged_why WHEN 'not_required' THEN 1 WHEN 'nothing_to_merge' THEN 1 WHEN 'proven' THEN 1 WHEN 'merged' THEN 1 ELSE 0 END AND CASE unblocked_why WHEN 'clear' THEN 1 ELSE 0 END AND CASE reviewed_why WHEN 'not_required' THEN 1 WHEN 'not_required' THEN 1 WHEN 'reviewed' THEN 1 ELSE 0 END AND CASE confirmed_why WHEN 'not_required' THEN 1 WHEN 'confirmed' THEN 1 WHEN 'acknowledged' THEN 1 ELSE 0 END) THEN 1 ELSE 0 END AS chain,
    CASE WHEN (SELECT 1) AND (confirm_acknowledged AND confirm_seq > base_seq AND CASE unblocked_why WHEN 'clear' THEN 1 ELSE 0 END AND (standing_seq IS NULL OR standing_seq <= confirm_seq) AND (merge_seq IS NULL OR merge_seq <= confirm_seq) AND (manager_seq IS NULL OR manager_seq <= confirm_seq)) THEN 1 ELSE 0 END AS pm_path,
    CASE WHEN (SELECT 1) AND ((CASE approved_why WHEN 'approved' THEN 1 ELSE 0 END AND CASE tested_why WHEN 'not_required' THEN 1 WHEN 'test_pass' THEN 1 WHEN 'testing_mode' THEN 1 WHEN 'qa_not_asked' THEN 1 WHEN 'unfinished_accepted' THEN 1 ELSE 0 END AND CASE merged_why WHEN 'not_required' THEN 1 WHEN 'nothing_to_merge' THEN 1 WHEN 'proven' THEN 1 WHEN 'merged' THEN 1 ELSE 0 END AND CASE unblocked_why WHEN 'clear' THEN 1 ELSE 0 END AND CASE reviewed_why WHEN 'not_required' THEN 1 WHEN 'not_required' THEN 1 WHEN 'reviewed' THEN 1 ELSE 0 END AND CASE confirmed_why WHEN 'not_required' THEN 1 WHEN 'confirmed' THEN 1 WHEN 'acknowledged' THEN 1 ELSE 0 END) OR (confirm_acknowledged AND confirm_seq > base_seq AND CASE unblocked_why WHEN 'clear' THEN 1 ELSE 0 END AND (standing_seq IS NULL OR standing_seq <= confirm_seq) AND (merge_seq IS NULL OR merge_seq <= confirm_seq) AND (manager_seq IS NULL OR manager_seq <= confirm_seq))) THEN 1 ELSE 0 END AS valid,
    CASE WHEN kind = 'chat' THEN 'closed' WHEN CASE approved_why WHEN 'approved' THEN 1 ELSE 0 END = 0 THEN 'approved' WHEN CASE tested_why WHEN 'not_required' THEN 1 WHEN 'test_pass' THEN 1 WHEN 'testing_mode' THEN 1 WHEN 'qa_not_asked' THEN 1 WHEN 'unfinished_accepted' THEN 1 ELSE 0 END = 0 THEN 'tested' WHEN CASE merged_why WHEN 'not_required' THEN 1 WHEN 'nothing_to_merge' THEN 1 WHEN 'proven' THEN 1 WHEN 'merged' THEN 1 ELSE 0 END = 0 THEN 'merged' WHEN CASE unblocked_why WHEN 'clear' THEN 1 ELSE 0 END = 0 THEN 'unblocked' WHEN CASE reviewed_why WHEN 'not_required' THEN 1 WHEN 'not_required' THEN 1 WHEN 'reviewed' THEN 1 ELSE 0 END = 0 THEN 'reviewed' WHEN CASE confirmed_why WHEN 'not_required' THEN 1 WHEN 'confirmed' THEN 1 WHEN 'acknowledged' THEN 1 ELSE 0 END = 0 THEN 'confirmed' END AS missing,
    CASE WHEN (SELECT 1) AND (status = 'in_progress' AND CASE approved_why WHEN 'approved' THEN 1 ELSE 0 END AND CASE tested_why WHEN 'not_required' THEN 1 WHEN 'test_pass' THEN 1 WHEN 'testing_mode' THEN 1 WHEN 'qa_not_asked' THEN 1 WHEN 'unfinished_accepted' THEN 1 ELSE 0 END AND CASE merged_why WHEN 'not_required' THEN 1 WHEN 'nothing_to_merge' THEN 1 WHEN 'proven' THEN 1 WHEN 'merged' THEN 1 ELSE 0 END AND CASE unblocked_why WHEN 'clear' THEN 1 ELSE 0 END AND CASE reviewed_why WHEN 'not_required' THEN 1 WHEN 'not_required' THEN 1 WHEN 'reviewed' THEN 1 ELSE 0 END AND confirmed_why = 'not_confirmed') THEN 1 ELSE 0 END AS awaiting_confirmation,
    CASE WHEN blocker_seq IS NOT NULL THEN 1 ELSE 0 END AS ever_blocked
FROM (SELECT j.*, CASE WHEN kind = 'chat' THEN 'chat' WHEN blocker_seq IS NULL AND tested_why <> 'unfinished_accepted' THEN 'not_required' WHEN open_blocker IS NULL AND (resolved_seq IS NULL OR confirm_seq > resolved_seq) AND ((kind = 'research' AND approved_why = 'approved' AND confirm_seq > standing_seq) OR (kind = 'code' AND (merged_why = 'nothing_to_merge' OR merged_why = 'proven' OR merged_why = 'merged') AND confirm_seq > merge_seq)) THEN 'confirmed' WHEN open_blocker IS NULL AND (resolved_seq IS NULL OR acknowledged_seq > resolved_seq) AND ((kind = 'research' AND approved_why = 'approved' AND acknowledged_seq > standing_seq) OR (kind = 'code' AND (merged_why = 'nothing_to_merge' OR merged_why = 'proven' OR merged_why = 'merged') AND acknowledged_seq > merge_seq)) THEN 'acknowledged' WHEN 1 THEN 'not_confirmed' END AS confirmed_why FROM group_reasons j) p;

CREATE TRIGGER agents_insert_needs_orchestrator_and_new_key BEFORE INSERT ON agents
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM agents t WHERE t.id = NEW.id) THEN RAISE(ABORT, 'ALREADY_EXISTS: agents has a row with this id') END;
END;

CREATE TRIGGER agents_update_needs_orchestrator BEFORE UPDATE ON agents
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER agents_are_never_deleted BEFORE DELETE ON agents
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of agents stay');
END;

CREATE TRIGGER audit_events_insert_needs_orchestrator_and_new_key BEFORE INSERT ON audit_events
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM audit_events t WHERE t.rowid = NEW.rowid) THEN RAISE(ABORT, 'ALREADY_EXISTS: audit_events has a row with this rowid')
    WHEN EXISTS (SELECT 1 FROM audit_events t WHERE t.session_id = NEW.session_id AND t.seq = NEW.seq) THEN RAISE(ABORT, 'ALREADY_EXISTS: audit_events has a row with this session_id, seq') END;
END;

CREATE TRIGGER audit_events_are_never_changed BEFORE UPDATE ON audit_events
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN 1 THEN RAISE(ABORT, 'NEVER_CHANGED: rows of audit_events stay as they were written') END;
END;

CREATE TRIGGER audit_events_are_never_deleted BEFORE DELETE ON audit_events
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of audit_events stay');
END;

CREATE TRIGGER refusals_insert_needs_orchestrator_and_new_key BEFORE INSERT ON refusals
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM refusals t WHERE t.rowid = NEW.rowid) THEN RAISE(ABORT, 'ALREADY_EXISTS: refusals has a row with this rowid')
    WHEN EXISTS (SELECT 1 FROM refusals t WHERE t.session_id = NEW.session_id AND t.seq = NEW.seq AND t.part = NEW.part) THEN RAISE(ABORT, 'ALREADY_EXISTS: refusals has a row with this session_id, seq, part') END;
END;

CREATE TRIGGER refusals_are_never_changed BEFORE UPDATE ON refusals
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN 1 THEN RAISE(ABORT, 'NEVER_CHANGED: rows of refusals stay as they were written') END;
END;

CREATE TRIGGER refusals_are_never_deleted BEFORE DELETE ON refusals
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of refusals stay');
END;

CREATE TRIGGER requests_insert_needs_orchestrator_and_new_key BEFORE INSERT ON requests
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM requests t WHERE t.session_id = NEW.session_id AND t.request_id = NEW.request_id) THEN RAISE(ABORT, 'ALREADY_EXISTS: requests has a row with this session_id, request_id') END;
END;

CREATE TRIGGER requests_are_never_changed BEFORE UPDATE ON requests
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN 1 THEN RAISE(ABORT, 'NEVER_CHANGED: rows of requests stay as they were written') END;
END;

CREATE TRIGGER requests_are_never_deleted BEFORE DELETE ON requests
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of requests stay');
END;

CREATE TRIGGER status_changes_insert_needs_orchestrator_and_new_key BEFORE INSERT ON status_changes
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM status_changes t WHERE t.session_id = NEW.session_id AND t.seq = NEW.seq AND t.part = NEW.part) THEN RAISE(ABORT, 'ALREADY_EXISTS: status_changes has a row with this session_id, seq, part') END;
END;

CREATE TRIGGER status_changes_are_never_changed BEFORE UPDATE ON status_changes
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN 1 THEN RAISE(ABORT, 'NEVER_CHANGED: rows of status_changes stay as they were written') END;
END;

CREATE TRIGGER status_changes_are_never_deleted BEFORE DELETE ON status_changes
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of status_changes stay');
END;

CREATE TRIGGER texts_insert_needs_orchestrator_and_new_key BEFORE INSERT ON texts
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM texts t WHERE t.hash = NEW.hash) THEN RAISE(ABORT, 'ALREADY_EXISTS: texts has a row with this hash')
    WHEN EXISTS (SELECT 1 FROM texts t WHERE t.rowid = NEW.rowid) THEN RAISE(ABORT, 'ALREADY_EXISTS: texts has a row with this rowid') END;
END;

CREATE TRIGGER texts_are_never_changed BEFORE UPDATE ON texts
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN 1 THEN RAISE(ABORT, 'NEVER_CHANGED: rows of texts stay as they were written') END;
END;

CREATE TRIGGER texts_are_never_deleted BEFORE DELETE ON texts
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of texts stay');
END;

CREATE TRIGGER workflow_versions_insert_needs_orchestrator_and_new_key BEFORE INSERT ON workflow_versions
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM workflow_versions t WHERE t.hash = NEW.hash) THEN RAISE(ABORT, 'ALREADY_EXISTS: workflow_versions has a row with this hash')
    WHEN EXISTS (SELECT 1 FROM workflow_versions t WHERE t.id = NEW.id) THEN RAISE(ABORT, 'ALREADY_EXISTS: workflow_versions has a row with this id') END;
END;

CREATE TRIGGER workflow_versions_are_never_changed BEFORE UPDATE ON workflow_versions
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN 1 THEN RAISE(ABORT, 'NEVER_CHANGED: rows of workflow_versions stay as they were written') END;
END;

CREATE TRIGGER workflow_versions_are_never_deleted BEFORE DELETE ON workflow_versions
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of workflow_versions stay');
END;

CREATE TRIGGER agent_files_insert_needs_orchestrator_and_new_key BEFORE INSERT ON agent_files
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM agent_files t WHERE t.rowid = NEW.rowid) THEN RAISE(ABORT, 'ALREADY_EXISTS: agent_files has a row with this rowid')
    WHEN EXISTS (SELECT 1 FROM agent_files t WHERE t.workflow_version_id = NEW.workflow_version_id AND t.name = NEW.name) THEN RAISE(ABORT, 'ALREADY_EXISTS: agent_files has a row with this workflow_version_id, name') END;
END;

CREATE TRIGGER agent_files_are_never_changed BEFORE UPDATE ON agent_files
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN 1 THEN RAISE(ABORT, 'NEVER_CHANGED: rows of agent_files stay as they were written') END;
END;

CREATE TRIGGER agent_files_are_never_deleted BEFORE DELETE ON agent_files
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of agent_files stay');
END;

CREATE TRIGGER human_credentials_insert_needs_orchestrator_and_new_key BEFORE INSERT ON human_credentials
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM human_credentials t WHERE t.ends = NEW.ends) THEN RAISE(ABORT, 'ALREADY_EXISTS: human_credentials has a row with this ends')
    WHEN EXISTS (SELECT 1 FROM human_credentials t WHERE t.id = NEW.id) THEN RAISE(ABORT, 'ALREADY_EXISTS: human_credentials has a row with this id') END;
END;

CREATE TRIGGER human_credentials_are_never_changed BEFORE UPDATE ON human_credentials
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN 1 THEN RAISE(ABORT, 'NEVER_CHANGED: rows of human_credentials stay as they were written') END;
END;

CREATE TRIGGER human_credentials_are_never_deleted BEFORE DELETE ON human_credentials
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of human_credentials stay');
END;

CREATE TRIGGER human_tokens_insert_needs_orchestrator_and_new_key BEFORE INSERT ON human_tokens
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM human_tokens t WHERE t.hash = NEW.hash) THEN RAISE(ABORT, 'ALREADY_EXISTS: human_tokens has a row with this hash')
    WHEN EXISTS (SELECT 1 FROM human_tokens t WHERE t.id = NEW.id) THEN RAISE(ABORT, 'ALREADY_EXISTS: human_tokens has a row with this id') END;
END;

CREATE TRIGGER human_tokens_are_never_changed BEFORE UPDATE ON human_tokens
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN 1 THEN RAISE(ABORT, 'NEVER_CHANGED: rows of human_tokens stay as they were written') END;
END;

CREATE TRIGGER human_tokens_are_never_deleted BEFORE DELETE ON human_tokens
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of human_tokens stay');
END;

CREATE TRIGGER projects_insert_needs_orchestrator_and_new_key BEFORE INSERT ON projects
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM projects t WHERE t.alias = NEW.alias) THEN RAISE(ABORT, 'ALREADY_EXISTS: projects has a row with this alias')
    WHEN EXISTS (SELECT 1 FROM projects t WHERE t.id = NEW.id) THEN RAISE(ABORT, 'ALREADY_EXISTS: projects has a row with this id')
    WHEN EXISTS (SELECT 1 FROM projects t WHERE t.path = NEW.path) THEN RAISE(ABORT, 'ALREADY_EXISTS: projects has a row with this path') END;
END;

CREATE TRIGGER projects_are_never_changed BEFORE UPDATE ON projects
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN 1 THEN RAISE(ABORT, 'NEVER_CHANGED: rows of projects stay as they were written') END;
END;

CREATE TRIGGER projects_are_never_deleted BEFORE DELETE ON projects
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of projects stay');
END;

CREATE TRIGGER sessions_insert_needs_orchestrator_and_new_key BEFORE INSERT ON sessions
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM sessions t WHERE t.id = NEW.id) THEN RAISE(ABORT, 'ALREADY_EXISTS: sessions has a row with this id') END;
END;

CREATE TRIGGER sessions_update_needs_orchestrator BEFORE UPDATE ON sessions
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER sessions_are_never_deleted BEFORE DELETE ON sessions
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of sessions stay');
END;

CREATE TRIGGER workflow_activations_insert_needs_orchestrator_and_new_key BEFORE INSERT ON workflow_activations
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM workflow_activations t WHERE t.seq = NEW.seq) THEN RAISE(ABORT, 'ALREADY_EXISTS: workflow_activations has a row with this seq') END;
END;

CREATE TRIGGER workflow_activations_are_never_changed BEFORE UPDATE ON workflow_activations
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN 1 THEN RAISE(ABORT, 'NEVER_CHANGED: rows of workflow_activations stay as they were written') END;
END;

CREATE TRIGGER workflow_activations_are_never_deleted BEFORE DELETE ON workflow_activations
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of workflow_activations stay');
END;

CREATE TRIGGER workflow_transitions_insert_needs_orchestrator_and_new_key BEFORE INSERT ON workflow_transitions
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM workflow_transitions t WHERE t.workflow_version_id = NEW.workflow_version_id AND t.current_agent = NEW.current_agent AND t.response_status = NEW.response_status) THEN RAISE(ABORT, 'ALREADY_EXISTS: workflow_transitions has a row with this workflow_version_id, current_agent, response_status') END;
END;

CREATE TRIGGER workflow_transitions_are_never_changed BEFORE UPDATE ON workflow_transitions
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN 1 THEN RAISE(ABORT, 'NEVER_CHANGED: rows of workflow_transitions stay as they were written') END;
END;

CREATE TRIGGER workflow_transitions_are_never_deleted BEFORE DELETE ON workflow_transitions
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of workflow_transitions stay');
END;

CREATE TRIGGER acknowledgements_insert_needs_orchestrator_and_new_key BEFORE INSERT ON acknowledgements
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM acknowledgements t WHERE t.session_id = NEW.session_id AND t.seq = NEW.seq AND t.part = NEW.part) THEN RAISE(ABORT, 'ALREADY_EXISTS: acknowledgements has a row with this session_id, seq, part') END;
END;

CREATE TRIGGER acknowledgements_are_never_changed BEFORE UPDATE ON acknowledgements
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN 1 THEN RAISE(ABORT, 'NEVER_CHANGED: rows of acknowledgements stay as they were written') END;
END;

CREATE TRIGGER acknowledgements_are_never_deleted BEFORE DELETE ON acknowledgements
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of acknowledgements stay');
END;

CREATE TRIGGER adoptions_insert_needs_orchestrator_and_new_key BEFORE INSERT ON adoptions
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM adoptions t WHERE t.session_id = NEW.session_id AND t.seq = NEW.seq) THEN RAISE(ABORT, 'ALREADY_EXISTS: adoptions has a row with this session_id, seq') END;
END;

CREATE TRIGGER adoptions_are_never_changed BEFORE UPDATE ON adoptions
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN 1 THEN RAISE(ABORT, 'NEVER_CHANGED: rows of adoptions stay as they were written') END;
END;

CREATE TRIGGER adoptions_are_never_deleted BEFORE DELETE ON adoptions
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of adoptions stay');
END;

CREATE TRIGGER agent_reports_insert_needs_orchestrator_and_new_key BEFORE INSERT ON agent_reports
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM agent_reports t WHERE t.rowid = NEW.rowid) THEN RAISE(ABORT, 'ALREADY_EXISTS: agent_reports has a row with this rowid')
    WHEN EXISTS (SELECT 1 FROM agent_reports t WHERE t.session_id = NEW.session_id AND t.seq = NEW.seq AND t.part = NEW.part) THEN RAISE(ABORT, 'ALREADY_EXISTS: agent_reports has a row with this session_id, seq, part') END;
END;

CREATE TRIGGER agent_reports_are_never_changed BEFORE UPDATE ON agent_reports
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN 1 THEN RAISE(ABORT, 'NEVER_CHANGED: rows of agent_reports stay as they were written') END;
END;

CREATE TRIGGER agent_reports_are_never_deleted BEFORE DELETE ON agent_reports
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of agent_reports stay');
END;

CREATE TRIGGER blockers_insert_needs_orchestrator_and_new_key BEFORE INSERT ON blockers
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM blockers t WHERE t.id = NEW.id) THEN RAISE(ABORT, 'ALREADY_EXISTS: blockers has a row with this id') END;
END;

CREATE TRIGGER blockers_update_needs_orchestrator BEFORE UPDATE ON blockers
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER blockers_are_never_deleted BEFORE DELETE ON blockers
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of blockers stay');
END;

CREATE TRIGGER context_items_insert_needs_orchestrator_and_new_key BEFORE INSERT ON context_items
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM context_items t WHERE t.session_id = NEW.session_id AND t.group_id = NEW.group_id AND t.name = NEW.name AND t.seq = NEW.seq) THEN RAISE(ABORT, 'ALREADY_EXISTS: context_items has a row with this session_id, group_id, name, seq') END;
END;

CREATE TRIGGER context_items_are_never_changed BEFORE UPDATE ON context_items
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN 1 THEN RAISE(ABORT, 'NEVER_CHANGED: rows of context_items stay as they were written') END;
END;

CREATE TRIGGER context_items_are_never_deleted BEFORE DELETE ON context_items
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of context_items stay');
END;

CREATE TRIGGER criteria_insert_needs_orchestrator_and_new_key BEFORE INSERT ON criteria
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM criteria t WHERE t.session_id = NEW.session_id AND t.id = NEW.id) THEN RAISE(ABORT, 'ALREADY_EXISTS: criteria has a row with this session_id, id') END;
END;

CREATE TRIGGER criteria_update_needs_orchestrator BEFORE UPDATE ON criteria
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER criteria_are_never_deleted BEFORE DELETE ON criteria
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of criteria stay');
END;

CREATE TRIGGER evidence_insert_needs_orchestrator_and_new_key BEFORE INSERT ON evidence
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM evidence t WHERE t.rowid = NEW.rowid) THEN RAISE(ABORT, 'ALREADY_EXISTS: evidence has a row with this rowid')
    WHEN EXISTS (SELECT 1 FROM evidence t WHERE t.session_id = NEW.session_id AND t.seq = NEW.seq AND t.part = NEW.part) THEN RAISE(ABORT, 'ALREADY_EXISTS: evidence has a row with this session_id, seq, part') END;
END;

CREATE TRIGGER evidence_are_never_changed BEFORE UPDATE ON evidence
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN 1 THEN RAISE(ABORT, 'NEVER_CHANGED: rows of evidence stay as they were written') END;
END;

CREATE TRIGGER evidence_are_never_deleted BEFORE DELETE ON evidence
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of evidence stay');
END;

CREATE TRIGGER imported_sessions_insert_needs_orchestrator_and_new_key BEFORE INSERT ON imported_sessions
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM imported_sessions t WHERE t.session_id = NEW.session_id) THEN RAISE(ABORT, 'ALREADY_EXISTS: imported_sessions has a row with this session_id') END;
END;

CREATE TRIGGER imported_sessions_are_never_changed BEFORE UPDATE ON imported_sessions
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN 1 THEN RAISE(ABORT, 'NEVER_CHANGED: rows of imported_sessions stay as they were written') END;
END;

CREATE TRIGGER imported_sessions_are_never_deleted BEFORE DELETE ON imported_sessions
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of imported_sessions stay');
END;

CREATE TRIGGER questions_insert_needs_orchestrator_and_new_key BEFORE INSERT ON questions
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM questions t WHERE t.id = NEW.id) THEN RAISE(ABORT, 'ALREADY_EXISTS: questions has a row with this id') END;
END;

CREATE TRIGGER questions_update_needs_orchestrator BEFORE UPDATE ON questions
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER questions_are_never_deleted BEFORE DELETE ON questions
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of questions stay');
END;

CREATE TRIGGER resume_points_insert_needs_orchestrator_and_new_key BEFORE INSERT ON resume_points
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM resume_points t WHERE t.session_id = NEW.session_id AND t.seq = NEW.seq) THEN RAISE(ABORT, 'ALREADY_EXISTS: resume_points has a row with this session_id, seq') END;
END;

CREATE TRIGGER resume_points_are_never_changed BEFORE UPDATE ON resume_points
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN 1 THEN RAISE(ABORT, 'NEVER_CHANGED: rows of resume_points stay as they were written') END;
END;

CREATE TRIGGER resume_points_are_never_deleted BEFORE DELETE ON resume_points
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of resume_points stay');
END;

CREATE TRIGGER router_decisions_insert_needs_orchestrator_and_new_key BEFORE INSERT ON router_decisions
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM router_decisions t WHERE t.rowid = NEW.rowid) THEN RAISE(ABORT, 'ALREADY_EXISTS: router_decisions has a row with this rowid')
    WHEN EXISTS (SELECT 1 FROM router_decisions t WHERE t.session_id = NEW.session_id AND t.seq = NEW.seq AND t.part = NEW.part) THEN RAISE(ABORT, 'ALREADY_EXISTS: router_decisions has a row with this session_id, seq, part')
    WHEN (NEW.handoff IS NULL) <> (NEW.handoff_agent IS NULL) OR (NEW.handoff_group IS NULL) <> (NEW.handoff_group_hash IS NULL) OR (NEW.handoff IS NULL AND NEW.handoff_group IS NOT NULL) OR (NEW.handoff IS NOT NULL AND NEW.handoff_group IS NULL AND (NEW.group_id IS NULL OR NEW.handoff_hash IS NULL)) THEN RAISE(ABORT, 'HANDOFF_INCOMPLETE: a hand-off with its decision has a group, an agent and a hash')
    WHEN NEW.handoff IS NOT NULL AND EXISTS (SELECT 1 FROM handoffs h WHERE h.session_id = NEW.session_id AND h.group_id = CASE WHEN NEW.handoff_group IS NULL THEN NEW.group_id ELSE NEW.handoff_group END AND h.turn = NEW.seq) THEN RAISE(ABORT, 'ALREADY_EXISTS: handoffs has a row with this session_id, group_id, turn') END;
END;

CREATE TRIGGER router_decisions_are_never_changed BEFORE UPDATE ON router_decisions
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN 1 THEN RAISE(ABORT, 'NEVER_CHANGED: rows of router_decisions stay as they were written') END;
END;

CREATE TRIGGER router_decisions_are_never_deleted BEFORE DELETE ON router_decisions
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of router_decisions stay');
END;

CREATE TRIGGER standalone_handoffs_insert_needs_orchestrator_and_new_key BEFORE INSERT ON standalone_handoffs
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM standalone_handoffs t WHERE t.rowid = NEW.rowid) THEN RAISE(ABORT, 'ALREADY_EXISTS: standalone_handoffs has a row with this rowid')
    WHEN EXISTS (SELECT 1 FROM standalone_handoffs t WHERE t.session_id = NEW.session_id AND t.group_id = NEW.group_id AND t.turn = NEW.turn) THEN RAISE(ABORT, 'ALREADY_EXISTS: standalone_handoffs has a row with this session_id, group_id, turn')
    WHEN EXISTS (SELECT 1 FROM router_decisions t INDEXED BY sqlite_autoindex_router_decisions_1 WHERE t.session_id = NEW.session_id AND t.seq = NEW.turn AND CASE WHEN t.handoff_group IS NULL THEN t.group_id ELSE t.handoff_group END = NEW.group_id AND t.handoff IS NOT NULL) THEN RAISE(ABORT, 'ALREADY_EXISTS: handoffs has a row with this session_id, group_id, turn') END;
END;

CREATE TRIGGER standalone_handoffs_are_never_changed BEFORE UPDATE ON standalone_handoffs
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN 1 THEN RAISE(ABORT, 'NEVER_CHANGED: rows of standalone_handoffs stay as they were written') END;
END;

CREATE TRIGGER standalone_handoffs_are_never_deleted BEFORE DELETE ON standalone_handoffs
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of standalone_handoffs stay');
END;

CREATE TRIGGER starts_insert_needs_orchestrator_and_new_key BEFORE INSERT ON starts
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM starts t WHERE t.session_id = NEW.session_id AND t.group_id = NEW.group_id AND t.turn = NEW.turn AND t.seq = NEW.seq) THEN RAISE(ABORT, 'ALREADY_EXISTS: starts has a row with this session_id, group_id, turn, seq') END;
END;

CREATE TRIGGER starts_update_needs_orchestrator BEFORE UPDATE ON starts
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER starts_are_never_deleted BEFORE DELETE ON starts
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of starts stay');
END;

CREATE TRIGGER task_groups_insert_needs_orchestrator_and_new_key BEFORE INSERT ON task_groups
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM task_groups t WHERE t.session_id = NEW.session_id AND t.id = NEW.id) THEN RAISE(ABORT, 'ALREADY_EXISTS: task_groups has a row with this session_id, id') END;
END;

CREATE TRIGGER task_groups_update_needs_orchestrator BEFORE UPDATE OF session_id, id, name, kind, security_sensitive, complexity, priority, created_by, created_at, created_seq, awaited_role, awaited_agent_id, awaited_action, turn, awaited_since, held, held_seq, held_part, qa_attempts, tl_review_attempts, merge_attempts, iterations, senior, builder_role, builder_agent_id, progress_seq, answered_seq, description ON task_groups
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER task_groups_are_never_deleted BEFORE DELETE ON task_groups
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of task_groups stay');
END;

CREATE TRIGGER deferrals_insert_needs_orchestrator_and_new_key BEFORE INSERT ON deferrals
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM deferrals t WHERE t.session_id = NEW.session_id AND t.seq = NEW.seq) THEN RAISE(ABORT, 'ALREADY_EXISTS: deferrals has a row with this session_id, seq') END;
END;

CREATE TRIGGER deferrals_are_never_changed BEFORE UPDATE ON deferrals
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN 1 THEN RAISE(ABORT, 'NEVER_CHANGED: rows of deferrals stay as they were written') END;
END;

CREATE TRIGGER deferrals_are_never_deleted BEFORE DELETE ON deferrals
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of deferrals stay');
END;

CREATE TRIGGER grandfathered_groups_insert_needs_orchestrator_and_new_key BEFORE INSERT ON grandfathered_groups
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM grandfathered_groups t WHERE t.session_id = NEW.session_id AND t.group_id = NEW.group_id) THEN RAISE(ABORT, 'ALREADY_EXISTS: grandfathered_groups has a row with this session_id, group_id') END;
END;

CREATE TRIGGER grandfathered_groups_are_never_changed BEFORE UPDATE ON grandfathered_groups
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN 1 THEN RAISE(ABORT, 'NEVER_CHANGED: rows of grandfathered_groups stay as they were written') END;
END;

CREATE TRIGGER grandfathered_groups_are_never_deleted BEFORE DELETE ON grandfathered_groups
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of grandfathered_groups stay');
END;

CREATE TRIGGER group_dependencies_insert_needs_orchestrator_and_new_key BEFORE INSERT ON group_dependencies
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM group_dependencies t WHERE t.session_id = NEW.session_id AND t.group_id = NEW.group_id AND t.depends_on = NEW.depends_on AND t.seq = NEW.seq) THEN RAISE(ABORT, 'ALREADY_EXISTS: group_dependencies has a row with this session_id, group_id, depends_on, seq') END;
END;

CREATE TRIGGER group_dependencies_update_needs_orchestrator BEFORE UPDATE ON group_dependencies
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER group_dependencies_are_never_deleted BEFORE DELETE ON group_dependencies
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of group_dependencies stay');
END;

CREATE TRIGGER import_findings_insert_needs_orchestrator_and_new_key BEFORE INSERT ON import_findings
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM import_findings t WHERE t.session_id = NEW.session_id AND t.seq = NEW.seq AND t.part = NEW.part) THEN RAISE(ABORT, 'ALREADY_EXISTS: import_findings has a row with this session_id, seq, part') END;
END;

CREATE TRIGGER import_findings_are_never_changed BEFORE UPDATE ON import_findings
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN 1 THEN RAISE(ABORT, 'NEVER_CHANGED: rows of import_findings stay as they were written') END;
END;

CREATE TRIGGER import_findings_are_never_deleted BEFORE DELETE ON import_findings
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of import_findings stay');
END;

CREATE TRIGGER imported_logs_insert_needs_orchestrator_and_new_key BEFORE INSERT ON imported_logs
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM imported_logs t WHERE t.rowid = NEW.rowid) THEN RAISE(ABORT, 'ALREADY_EXISTS: imported_logs has a row with this rowid')
    WHEN EXISTS (SELECT 1 FROM imported_logs t WHERE t.session_id = NEW.session_id AND t.seq = NEW.seq AND t.part = NEW.part) THEN RAISE(ABORT, 'ALREADY_EXISTS: imported_logs has a row with this session_id, seq, part') END;
END;

CREATE TRIGGER imported_logs_are_never_changed BEFORE UPDATE ON imported_logs
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN 1 THEN RAISE(ABORT, 'NEVER_CHANGED: rows of imported_logs stay as they were written') END;
END;

CREATE TRIGGER imported_logs_are_never_deleted BEFORE DELETE ON imported_logs
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of imported_logs stay');
END;

CREATE TRIGGER tasks_insert_needs_orchestrator_and_new_key BEFORE INSERT ON tasks
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM tasks t WHERE t.session_id = NEW.session_id AND t.id = NEW.id) THEN RAISE(ABORT, 'ALREADY_EXISTS: tasks has a row with this session_id, id') END;
END;

CREATE TRIGGER tasks_update_needs_orchestrator BEFORE UPDATE ON tasks
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER tasks_are_never_deleted BEFORE DELETE ON tasks
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of tasks stay');
END;

CREATE TRIGGER turn_runs_insert_needs_orchestrator_and_new_key BEFORE INSERT ON turn_runs
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM turn_runs t WHERE t.id = NEW.id) THEN RAISE(ABORT, 'ALREADY_EXISTS: turn_runs has a row with this id')
    WHEN EXISTS (SELECT 1 FROM turn_runs t WHERE t.session_id = NEW.session_id AND t.id = NEW.id) THEN RAISE(ABORT, 'ALREADY_EXISTS: turn_runs has a row with this session_id, id') END;
END;

CREATE TRIGGER turn_runs_update_needs_orchestrator BEFORE UPDATE ON turn_runs
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER turn_runs_are_never_deleted BEFORE DELETE ON turn_runs
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of turn_runs stay');
END;

CREATE TRIGGER notices_insert_needs_orchestrator_and_new_key BEFORE INSERT ON notices
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM notices t WHERE t.session_id = NEW.session_id AND t.seq = NEW.seq AND t.part = NEW.part) THEN RAISE(ABORT, 'ALREADY_EXISTS: notices has a row with this session_id, seq, part') END;
END;

CREATE TRIGGER notices_are_never_changed BEFORE UPDATE ON notices
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN 1 THEN RAISE(ABORT, 'NEVER_CHANGED: rows of notices stay as they were written') END;
END;

CREATE TRIGGER notices_are_never_deleted BEFORE DELETE ON notices
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of notices stay');
END;

CREATE TRIGGER runs_insert_needs_orchestrator_and_new_key BEFORE INSERT ON runs
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM runs t WHERE t.id = NEW.id) THEN RAISE(ABORT, 'ALREADY_EXISTS: runs has a row with this id')
    WHEN EXISTS (SELECT 1 FROM runs t WHERE t.session_id = NEW.session_id AND t.id = NEW.id) THEN RAISE(ABORT, 'ALREADY_EXISTS: runs has a row with this session_id, id')
    WHEN EXISTS (SELECT 1 FROM runs t WHERE t.session_id = NEW.session_id AND t.log_id = NEW.log_id) THEN RAISE(ABORT, 'ALREADY_EXISTS: runs has a row with this session_id, log_id') END;
END;

CREATE TRIGGER runs_update_needs_orchestrator BEFORE UPDATE ON runs
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER runs_are_never_deleted BEFORE DELETE ON runs
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of runs stay');
END;

CREATE TRIGGER task_dependencies_insert_needs_orchestrator_and_new_key BEFORE INSERT ON task_dependencies
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM task_dependencies t WHERE t.session_id = NEW.session_id AND t.task_id = NEW.task_id AND t.depends_on_id = NEW.depends_on_id AND t.seq = NEW.seq) THEN RAISE(ABORT, 'ALREADY_EXISTS: task_dependencies has a row with this session_id, task_id, depends_on_id, seq') END;
END;

CREATE TRIGGER task_dependencies_update_needs_orchestrator BEFORE UPDATE ON task_dependencies
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER task_dependencies_are_never_deleted BEFORE DELETE ON task_dependencies
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of task_dependencies stay');
END;

CREATE TRIGGER run_events_insert_needs_orchestrator_and_new_key BEFORE INSERT ON run_events
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM run_events t WHERE t.session_id = NEW.session_id AND t.seq = NEW.seq AND t.part = NEW.part) THEN RAISE(ABORT, 'ALREADY_EXISTS: run_events has a row with this session_id, seq, part') END;
END;

CREATE TRIGGER run_events_are_never_changed BEFORE UPDATE ON run_events
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN 1 THEN RAISE(ABORT, 'NEVER_CHANGED: rows of run_events stay as they were written') END;
END;

CREATE TRIGGER run_events_are_never_deleted BEFORE DELETE ON run_events
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of run_events stay');
END;

CREATE TRIGGER run_files_insert_needs_orchestrator_and_new_key BEFORE INSERT ON run_files
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM run_files t WHERE t.session_id = NEW.session_id AND t.seq = NEW.seq AND t.part = NEW.part) THEN RAISE(ABORT, 'ALREADY_EXISTS: run_files has a row with this session_id, seq, part') END;
END;

CREATE TRIGGER run_files_are_never_changed BEFORE UPDATE ON run_files
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN 1 THEN RAISE(ABORT, 'NEVER_CHANGED: rows of run_files stay as they were written') END;
END;

CREATE TRIGGER run_files_are_never_deleted BEFORE DELETE ON run_files
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of run_files stay');
END;

CREATE TRIGGER run_locks_insert_needs_orchestrator_and_new_key BEFORE INSERT ON run_locks
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM run_locks t WHERE t.session_id = NEW.session_id AND t.run_id = NEW.run_id AND t.path = NEW.path AND t.seq = NEW.seq) THEN RAISE(ABORT, 'ALREADY_EXISTS: run_locks has a row with this session_id, run_id, path, seq') END;
END;

CREATE TRIGGER run_locks_update_needs_orchestrator BEFORE UPDATE ON run_locks
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER run_locks_are_never_deleted BEFORE DELETE ON run_locks
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of run_locks stay');
END;

CREATE TRIGGER run_violations_insert_needs_orchestrator_and_new_key BEFORE INSERT ON run_violations
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM run_violations t WHERE t.session_id = NEW.session_id AND t.seq = NEW.seq AND t.part = NEW.part) THEN RAISE(ABORT, 'ALREADY_EXISTS: run_violations has a row with this session_id, seq, part') END;
END;

CREATE TRIGGER run_violations_are_never_changed BEFORE UPDATE ON run_violations
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN 1 THEN RAISE(ABORT, 'NEVER_CHANGED: rows of run_violations stay as they were written') END;
END;

CREATE TRIGGER run_violations_are_never_deleted BEFORE DELETE ON run_violations
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of run_violations stay');
END;

CREATE TRIGGER sessions_begin_active BEFORE INSERT ON sessions
WHEN NEW.status IS NOT 'active'
BEGIN
  SELECT RAISE(ABORT, 'ILLEGAL_MOVE: a session begins as active');
END;

CREATE TRIGGER sessions_move_by_the_rules BEFORE UPDATE OF status, outcome ON sessions
WHEN NEW.status IS NOT OLD.status
BEGIN
  SELECT CASE WHEN NOT ((OLD.status = 'active' AND (NEW.status = 'paused' OR NEW.status = 'ended')) OR (OLD.status = 'paused' AND (NEW.status = 'active' OR NEW.status = 'ended'))) THEN RAISE(ABORT, 'ILLEGAL_MOVE: a session does not go from its status to this one')
    WHEN NOT (NEW.status_seq >= OLD.status_seq AND EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.id AND c.entity = 'session' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by)) THEN RAISE(ABORT, 'STATUS_CHANGE_MISSING: a move needs the status_changes row of its step')
    WHEN NEW.outcome = 'accepted' AND NOT EXISTS (SELECT 1 FROM agent_reports r INDEXED BY sqlite_autoindex_agent_reports_1 WHERE r.session_id = NEW.id AND r.seq = NEW.status_seq AND r.part = 1 AND r.role = 'validator' AND r.response_status = 'ACCEPT') THEN RAISE(ABORT, 'VERDICT_MISSING: a session is accepted by the step of its ACCEPT alone') END;
END;

CREATE TRIGGER sessions_change_columns_follow_the_status BEFORE UPDATE OF status_changed_by, status_changed_at, status_seq, outcome, outcome_reason ON sessions
WHEN NEW.status IS OLD.status AND (NEW.status_changed_by IS NOT OLD.status_changed_by OR NEW.status_changed_at IS NOT OLD.status_changed_at OR NEW.status_seq IS NOT OLD.status_seq OR NEW.outcome IS NOT OLD.outcome OR NEW.outcome_reason IS NOT OLD.outcome_reason)
BEGIN
  SELECT RAISE(ABORT, 'STATUS_CHANGE_MISSING: who changed a status, when, and the outcome are written with the change alone');
END;

CREATE TRIGGER sessions_testing_mode_is_fixed BEFORE UPDATE OF testing_mode ON sessions
WHEN (NEW.testing_mode IS NOT OLD.testing_mode) AND NOT EXISTS (SELECT 1 FROM (SELECT c.from_status, c.to_status FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = OLD.id AND c.entity = 'session_testing_mode' AND c.entity_id = OLD.id ORDER BY c.seq DESC, c.part DESC LIMIT 1) n WHERE n.from_status = OLD.testing_mode AND n.to_status = NEW.testing_mode)
BEGIN
  SELECT RAISE(ABORT, 'STATUS_CHANGE_MISSING: another testing mode needs its status_changes row (session_testing_mode)');
END;

CREATE TRIGGER sessions_origins_are_fixed BEFORE UPDATE OF id, kind, goal, created_by, created_at ON sessions
WHEN (NEW.id IS NOT OLD.id OR NEW.kind IS NOT OLD.kind OR NEW.goal IS NOT OLD.goal OR NEW.created_by IS NOT OLD.created_by OR NEW.created_at IS NOT OLD.created_at)
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: a session keeps its id, kind and goal');
END;

CREATE TRIGGER agents_origins_are_fixed BEFORE UPDATE OF id, role, parent_id, kind, session_id, group_id, created_at, created_seq ON agents
WHEN (NEW.id IS NOT OLD.id OR NEW.role IS NOT OLD.role OR NEW.parent_id IS NOT OLD.parent_id OR NEW.kind IS NOT OLD.kind OR NEW.session_id IS NOT OLD.session_id OR NEW.group_id IS NOT OLD.group_id OR NEW.created_at IS NOT OLD.created_at OR NEW.created_seq IS NOT OLD.created_seq)
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: an agent keeps its id, role, parent and kind');
END;

CREATE TRIGGER blockers_origins_are_fixed BEFORE UPDATE OF id, session_id, group_id, task_id, type, class, reason, opened_by, opened_role, opened_at, opened_seq, report_id, cause ON blockers
WHEN (NEW.id IS NOT OLD.id OR NEW.session_id IS NOT OLD.session_id OR NEW.group_id IS NOT OLD.group_id OR NEW.task_id IS NOT OLD.task_id OR NEW.type IS NOT OLD.type OR NEW.class IS NOT OLD.class OR NEW.reason IS NOT OLD.reason OR NEW.opened_by IS NOT OLD.opened_by OR NEW.opened_role IS NOT OLD.opened_role OR NEW.opened_at IS NOT OLD.opened_at OR NEW.opened_seq IS NOT OLD.opened_seq OR NEW.report_id IS NOT OLD.report_id OR NEW.cause IS NOT OLD.cause)
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: a blocker keeps what it was opened with');
END;

CREATE TRIGGER blockers_are_closed_once BEFORE UPDATE ON blockers
WHEN OLD.resolved_seq IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: a blocker is resolved once');
END;

CREATE TRIGGER blockers_are_closed_whole BEFORE UPDATE OF resolved_seq, resolved_at, resolved_by, resolution, resolution_note ON blockers
WHEN OLD.resolved_seq IS NULL AND (NEW.resolved_seq IS NULL AND (NEW.resolved_at IS NOT NULL OR NEW.resolved_by IS NOT NULL OR NEW.resolution IS NOT NULL OR NEW.resolution_note IS NOT NULL) OR NEW.resolved_seq IS NOT NULL AND (NEW.resolved_at IS NULL OR NEW.resolved_by IS NULL OR NEW.resolution IS NULL))
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: a blocker is resolved once, with the step that does it');
END;

CREATE TRIGGER questions_origins_are_fixed BEFORE UPDATE OF id, session_id, group_id, task_id, kind, text, asked_by, asked_at, opened_seq ON questions
WHEN (NEW.id IS NOT OLD.id OR NEW.session_id IS NOT OLD.session_id OR NEW.group_id IS NOT OLD.group_id OR NEW.task_id IS NOT OLD.task_id OR NEW.kind IS NOT OLD.kind OR NEW.text IS NOT OLD.text OR NEW.asked_by IS NOT OLD.asked_by OR NEW.asked_at IS NOT OLD.asked_at OR NEW.opened_seq IS NOT OLD.opened_seq)
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: a question keeps what was asked');
END;

CREATE TRIGGER questions_are_closed_once BEFORE UPDATE ON questions
WHEN OLD.closed_seq IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: a question is closed once');
END;

CREATE TRIGGER questions_are_closed_whole BEFORE UPDATE OF closed_seq, decision, closed_at, closed_by, answer, note, channel ON questions
WHEN OLD.closed_seq IS NULL AND (NEW.closed_seq IS NULL AND (NEW.decision IS NOT NULL OR NEW.closed_at IS NOT NULL OR NEW.closed_by IS NOT NULL OR NEW.answer IS NOT NULL OR NEW.note IS NOT NULL OR NEW.channel IS NOT NULL) OR NEW.closed_seq IS NOT NULL AND (NEW.closed_at IS NULL OR NEW.closed_by IS NULL))
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: a question is closed once, with the step that does it');
END;

CREATE TRIGGER group_dependencies_origins_are_fixed BEFORE UPDATE OF session_id, group_id, depends_on, seq, added_by ON group_dependencies
WHEN (NEW.session_id IS NOT OLD.session_id OR NEW.group_id IS NOT OLD.group_id OR NEW.depends_on IS NOT OLD.depends_on OR NEW.seq IS NOT OLD.seq OR NEW.added_by IS NOT OLD.added_by)
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: a dependency keeps who depends on whom');
END;

CREATE TRIGGER group_dependencies_are_closed_once BEFORE UPDATE ON group_dependencies
WHEN OLD.removed_seq IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: a dependency is removed once');
END;

CREATE TRIGGER group_dependencies_are_closed_whole BEFORE UPDATE OF removed_by, removed_reason ON group_dependencies
WHEN OLD.removed_seq IS NULL AND NEW.removed_seq IS NULL AND (NEW.removed_by IS NOT NULL OR NEW.removed_reason IS NOT NULL)
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: a dependency is removed once, with the step that does it');
END;

CREATE TRIGGER criteria_origins_are_fixed BEFORE UPDATE OF session_id, id, metric, operator, target, command, created_by, created_at, created_seq, group_id, due_at ON criteria
WHEN (NEW.session_id IS NOT OLD.session_id OR NEW.id IS NOT OLD.id OR NEW.metric IS NOT OLD.metric OR NEW.operator IS NOT OLD.operator OR NEW.target IS NOT OLD.target OR NEW.command IS NOT OLD.command OR NEW.created_by IS NOT OLD.created_by OR NEW.created_at IS NOT OLD.created_at OR NEW.created_seq IS NOT OLD.created_seq OR NEW.group_id IS NOT OLD.group_id OR NEW.due_at IS NOT OLD.due_at)
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: a criterion keeps what it measures');
END;

CREATE TRIGGER criteria_are_approved_by_record BEFORE UPDATE OF approval, approved_by, approved_seq ON criteria
WHEN (NEW.approval IS NOT OLD.approval OR NEW.approved_by IS NOT OLD.approved_by OR NEW.approved_seq IS NOT OLD.approved_seq) AND NOT (OLD.approval = 'pending' AND NEW.approval = 'approved' AND EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'criterion_command' AND c.entity_id = NEW.id AND c.seq = NEW.approved_seq AND c.to_status = 'approved' AND c.changed_by = NEW.approved_by))
BEGIN
  SELECT RAISE(ABORT, 'STATUS_CHANGE_MISSING: an approved command needs the status_changes row of its step (criterion_command)');
END;

CREATE TRIGGER criteria_moves_are_recorded BEFORE UPDATE OF status ON criteria
WHEN (NEW.status IS NOT OLD.status) AND NOT EXISTS (SELECT 1 FROM (SELECT c.from_status, c.to_status FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = OLD.session_id AND c.entity = 'criterion' AND c.entity_id = OLD.id ORDER BY c.seq DESC, c.part DESC LIMIT 1) n WHERE n.from_status = OLD.status AND n.to_status = NEW.status)
BEGIN
  SELECT RAISE(ABORT, 'STATUS_CHANGE_MISSING: another status of a criterion needs its status_changes row (criterion)');
END;

CREATE TRIGGER criteria_text_is_recorded BEFORE UPDATE OF text ON criteria
WHEN (NEW.text IS NOT OLD.text) AND NOT EXISTS (SELECT 1 FROM (SELECT c.from_status, c.to_status FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = OLD.session_id AND c.entity = 'criterion_text' AND c.entity_id = OLD.id ORDER BY c.seq DESC, c.part DESC LIMIT 1) n WHERE n.from_status = OLD.text AND n.to_status = NEW.text)
BEGIN
  SELECT RAISE(ABORT, 'STATUS_CHANGE_MISSING: another wording of a criterion needs its status_changes row (criterion_text)');
END;

CREATE TRIGGER criteria_are_closed_once BEFORE UPDATE ON criteria
WHEN OLD.removed_seq IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: a criterion is removed once');
END;

CREATE TRIGGER criteria_are_closed_whole BEFORE UPDATE OF removed_by, removed_reason ON criteria
WHEN OLD.removed_seq IS NULL AND NEW.removed_seq IS NULL AND (NEW.removed_by IS NOT NULL OR NEW.removed_reason IS NOT NULL)
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: a criterion is removed once, with the step that does it');
END;

CREATE TRIGGER router_decisions_start_is_recorded BEFORE INSERT ON router_decisions
WHEN NEW.handoff_group IS NOT NULL AND NOT EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'group' AND c.entity_id = NEW.handoff_group AND c.seq = NEW.seq AND c.to_status = 'in_progress')
BEGIN
  SELECT RAISE(ABORT, 'STATUS_CHANGE_MISSING: a hand-off for another group than its decision needs the move that starts it');
END;

CREATE TRIGGER task_groups_begin_pending BEFORE INSERT ON task_groups
WHEN NEW.status IS NOT 'pending' AND NOT (NEW.status = 'in_progress' AND NEW.kind = 'chat') AND NOT (NEW.status_changed_by IS NULL AND NEW.status_seq = NEW.created_seq AND EXISTS (SELECT 1 FROM imported_sessions i WHERE i.session_id = NEW.session_id AND i.seq = NEW.created_seq) AND NOT EXISTS (SELECT 1 FROM audit_events e INDEXED BY sqlite_autoindex_audit_events_1 WHERE e.session_id = NEW.session_id) AND (NEW.status = 'in_progress' OR (NEW.status = 'completed' AND EXISTS (SELECT 1 FROM grandfathered_groups f WHERE f.session_id = NEW.session_id AND f.group_id = NEW.id AND f.seq = NEW.created_seq))))
BEGIN
  SELECT RAISE(ABORT, 'ILLEGAL_MOVE: a group begins as pending, or a chat group as in_progress');
END;

CREATE TRIGGER task_groups_completed_needs_path BEFORE UPDATE OF status ON task_groups
WHEN NEW.status IS NOT OLD.status AND NEW.status = 'completed'
BEGIN
  SELECT CASE (SELECT CASE WHEN p.valid = 1 THEN 'nothing' ELSE p.missing END FROM completion_paths p WHERE p.session_id = OLD.session_id AND p.group_id = OLD.id)
    WHEN 'approved' THEN RAISE(ABORT, 'COMPLETION_PATH_MISSING: approved is not met: tech_lead APPROVED + MERGE_SUCCESS, or project_manager BAZINGA acknowledging the group')
    WHEN 'tested' THEN RAISE(ABORT, 'COMPLETION_PATH_MISSING: tested is not met: tech_lead APPROVED + MERGE_SUCCESS, or project_manager BAZINGA acknowledging the group')
    WHEN 'merged' THEN RAISE(ABORT, 'COMPLETION_PATH_MISSING: merged is not met: tech_lead APPROVED + MERGE_SUCCESS, or project_manager BAZINGA acknowledging the group')
    WHEN 'unblocked' THEN RAISE(ABORT, 'COMPLETION_PATH_MISSING: unblocked is not met: tech_lead APPROVED + MERGE_SUCCESS, or project_manager BAZINGA acknowledging the group')
    WHEN 'reviewed' THEN RAISE(ABORT, 'COMPLETION_PATH_MISSING: reviewed is not met: tech_lead APPROVED + MERGE_SUCCESS, or project_manager BAZINGA acknowledging the group')
    WHEN 'confirmed' THEN RAISE(ABORT, 'COMPLETION_PATH_MISSING: confirmed is not met: tech_lead APPROVED + MERGE_SUCCESS, or project_manager BAZINGA acknowledging the group')
    WHEN 'nothing' THEN CASE WHEN OLD.status IS NOT 'in_progress' THEN RAISE(ABORT, 'ILLEGAL_MOVE: a group is completed from in_progress only')
    WHEN NOT EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'group' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by) THEN RAISE(ABORT, 'STATUS_CHANGE_MISSING: a move needs the status_changes row of its step') END ELSE RAISE(ABORT, 'COMPLETION_PATH_MISSING: the group has no completion path: tech_lead APPROVED + MERGE_SUCCESS, or project_manager BAZINGA acknowledging the group') END;
END;

CREATE TRIGGER task_groups_move_by_the_rules BEFORE UPDATE OF status ON task_groups
WHEN NEW.status IS NOT OLD.status AND NEW.status IS NOT 'completed'
BEGIN
  SELECT CASE WHEN NOT ((OLD.status = 'pending' AND (NEW.status = 'in_progress' OR NEW.status = 'cancelled')) OR (OLD.status = 'in_progress' AND (NEW.status = 'completed' OR NEW.status = 'deferred_external' OR NEW.status = 'cancelled')) OR (OLD.status = 'deferred_external' AND (NEW.status = 'in_progress' OR NEW.status = 'cancelled')) OR (OLD.status = 'completed' AND (NEW.status = 'in_progress'))) THEN RAISE(ABORT, 'ILLEGAL_MOVE: a group does not go from its status to this one')
    WHEN NEW.status = 'deferred_external' AND NOT EXISTS (SELECT 1 FROM deferrals d CROSS JOIN blockers b WHERE d.session_id = NEW.session_id AND d.seq = NEW.status_seq AND d.group_id = NEW.id AND b.id = d.blocker_id AND b.session_id = NEW.session_id AND b.group_id = NEW.id AND b.resolved_seq IS NULL AND b.external = 1) THEN RAISE(ABORT, 'DEFERRAL_NOT_CONFIRMED: deferred_external needs the deferral of its step, on an open external blocker')
    WHEN NOT EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'group' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by) THEN RAISE(ABORT, 'STATUS_CHANGE_MISSING: a move needs the status_changes row of its step') END;
END;

CREATE TRIGGER task_groups_status_seq_never_falls BEFORE UPDATE OF status_seq ON task_groups
WHEN NEW.status_seq < OLD.status_seq
BEGIN
  SELECT RAISE(ABORT, 'STATUS_CHANGE_MISSING: a later move has no earlier step');
END;

CREATE TRIGGER task_groups_change_columns_follow_the_status BEFORE UPDATE OF status_changed_by, status_changed_at, status_seq ON task_groups
WHEN NEW.status IS OLD.status AND (NEW.status_changed_by IS NOT OLD.status_changed_by OR NEW.status_changed_at IS NOT OLD.status_changed_at OR NEW.status_seq IS NOT OLD.status_seq)
BEGIN
  SELECT RAISE(ABORT, 'STATUS_CHANGE_MISSING: who changed a status, and when, is written with the change alone');
END;

CREATE TRIGGER task_groups_keys_are_fixed BEFORE UPDATE OF session_id, id, description, created_by, created_at, created_seq ON task_groups
WHEN (NEW.session_id IS NOT OLD.session_id OR NEW.id IS NOT OLD.id OR NEW.description IS NOT OLD.description OR NEW.created_by IS NOT OLD.created_by OR NEW.created_at IS NOT OLD.created_at OR NEW.created_seq IS NOT OLD.created_seq)
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: a group keeps its key and its origin');
END;

CREATE TRIGGER task_groups_kind_is_fixed BEFORE UPDATE OF kind ON task_groups
WHEN (NEW.kind IS NOT OLD.kind) AND NOT EXISTS (SELECT 1 FROM (SELECT c.from_status, c.to_status FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = OLD.session_id AND c.entity = 'group_kind' AND c.entity_id = OLD.id ORDER BY c.seq DESC, c.part DESC LIMIT 1) n WHERE n.from_status = OLD.kind AND n.to_status = NEW.kind)
BEGIN
  SELECT RAISE(ABORT, 'STATUS_CHANGE_MISSING: another kind needs its status_changes row (group_kind)');
END;

CREATE TRIGGER task_groups_security_is_fixed BEFORE UPDATE OF security_sensitive ON task_groups
WHEN (NEW.security_sensitive IS NOT OLD.security_sensitive) AND NOT EXISTS (SELECT 1 FROM (SELECT c.from_status, c.to_status FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = OLD.session_id AND c.entity = 'group_security' AND c.entity_id = OLD.id ORDER BY c.seq DESC, c.part DESC LIMIT 1) n WHERE n.from_status = OLD.security_sensitive AND n.to_status = NEW.security_sensitive)
BEGIN
  SELECT RAISE(ABORT, 'STATUS_CHANGE_MISSING: another security flag needs its status_changes row (group_security)');
END;

CREATE TRIGGER tasks_begin_open BEFORE INSERT ON tasks
WHEN NEW.status NOT IN ('backlog', 'todo', 'blocked') OR NEW.version IS NOT 1 OR NEW.claim_holder IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'ILLEGAL_MOVE: a task begins as backlog, todo or blocked, in its first version, and unclaimed');
END;

CREATE TRIGGER tasks_begin_blocked_needs_blocker BEFORE INSERT ON tasks
WHEN NEW.status = 'blocked' AND NOT EXISTS (SELECT 1 FROM blockers b INDEXED BY ix_blockers_task WHERE b.session_id = NEW.session_id AND b.task_id = NEW.id AND b.resolved_seq IS NULL)
BEGIN
  SELECT RAISE(ABORT, 'BLOCKER_MISSING: a blocked task has an open blocker');
END;

CREATE TRIGGER tasks_move_by_the_rules BEFORE UPDATE OF status ON tasks
WHEN NEW.status IS NOT OLD.status
BEGIN
  SELECT CASE WHEN NOT ((OLD.status = 'backlog' AND (NEW.status = 'todo' OR NEW.status = 'in_progress' OR NEW.status = 'cancelled' OR NEW.status = 'blocked')) OR (OLD.status = 'todo' AND (NEW.status = 'backlog' OR NEW.status = 'in_progress' OR NEW.status = 'cancelled' OR NEW.status = 'blocked')) OR (OLD.status = 'in_progress' AND (NEW.status = 'blocked' OR NEW.status = 'done' OR NEW.status = 'cancelled' OR NEW.status = 'todo')) OR (OLD.status = 'blocked' AND (NEW.status = 'in_progress' OR NEW.status = 'cancelled' OR NEW.status = 'backlog' OR NEW.status = 'todo'))) THEN RAISE(ABORT, 'ILLEGAL_MOVE: a task does not go from its status to this one')
    WHEN NOT EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'task' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by_agent_id AND ((OLD.status = 'backlog' AND (NEW.status = 'todo' OR NEW.status = 'in_progress' OR NEW.status = 'cancelled')) OR (OLD.status = 'todo' AND (NEW.status = 'backlog' OR NEW.status = 'in_progress' OR NEW.status = 'cancelled')) OR (OLD.status = 'in_progress' AND (NEW.status = 'blocked' OR NEW.status = 'done' OR NEW.status = 'cancelled')) OR (OLD.status = 'blocked' AND (NEW.status = 'in_progress' OR NEW.status = 'cancelled')) OR (((OLD.status = 'backlog' AND (NEW.status = 'blocked')) OR (OLD.status = 'todo' AND (NEW.status = 'blocked'))) AND c.cause IN ('cascade', 'dependency')) OR (((OLD.status = 'blocked' AND (NEW.status = 'backlog' OR NEW.status = 'todo'))) AND c.cause IN ('release')) OR (((OLD.status = 'in_progress' AND (NEW.status = 'todo'))) AND c.cause IN ('claim_release')))) THEN RAISE(ABORT, 'STATUS_CHANGE_MISSING: a move needs the status_changes row of its step')
    WHEN NEW.status = 'blocked' AND NOT EXISTS (SELECT 1 FROM blockers b INDEXED BY ix_blockers_task WHERE b.session_id = NEW.session_id AND b.task_id = NEW.id AND b.resolved_seq IS NULL) THEN RAISE(ABORT, 'BLOCKER_MISSING: a blocked task has an open blocker')
    WHEN NEW.status <> 'blocked' AND EXISTS (SELECT 1 FROM blockers b INDEXED BY ix_blockers_task WHERE b.session_id = NEW.session_id AND b.task_id = NEW.id AND b.resolved_seq IS NULL) THEN RAISE(ABORT, 'UNBLOCK_NOT_PERMITTED: a task with an open blocker stays blocked')
    WHEN OLD.status = 'blocked' AND NEW.status = 'backlog' AND OLD.former_status <> 'backlog' THEN RAISE(ABORT, 'ILLEGAL_MOVE: a task is released to its former status, or to todo where that cannot be')
    WHEN NEW.status = 'in_progress' AND (EXISTS (WITH RECURSIVE line(id) AS (SELECT NEW.id UNION SELECT p.parent_id FROM line l CROSS JOIN tasks p ON p.session_id = NEW.session_id AND p.id = l.id WHERE p.parent_id IS NOT NULL) SELECT 1 FROM line x WHERE EXISTS (SELECT 1 FROM task_dependencies d CROSS JOIN tasks o WHERE d.session_id = NEW.session_id AND d.task_id = x.id AND d.removed_seq IS NULL AND o.session_id = d.session_id AND o.id = d.depends_on_id AND o.status <> 'done')) OR EXISTS (SELECT 1 FROM group_dependencies d WHERE d.session_id = NEW.session_id AND d.group_id = NEW.group_id AND d.removed_seq IS NULL AND NOT EXISTS (SELECT 1 FROM task_groups g WHERE g.session_id = NEW.session_id AND g.id = d.depends_on AND g.status = 'completed') AND NOT EXISTS (SELECT 1 FROM completion_paths p WHERE p.session_id = NEW.session_id AND p.group_id = d.depends_on AND p.awaiting_confirmation = 1))) THEN RAISE(ABORT, 'DEPENDENCIES_OPEN: a task begins when all that it depends on is done')
    WHEN NEW.status = 'in_progress' AND NEW.assignee IS NULL THEN RAISE(ABORT, 'NOT_PERMITTED: a task in progress has an assignee')
    WHEN NEW.status = 'done' AND (EXISTS (SELECT 1 FROM tasks c INDEXED BY ix_tasks_parent WHERE c.session_id = NEW.session_id AND c.parent_id = NEW.id AND c.status NOT IN ('done', 'cancelled')) OR (EXISTS (SELECT 1 FROM tasks c INDEXED BY ix_tasks_parent WHERE c.session_id = NEW.session_id AND c.parent_id = NEW.id) AND NOT EXISTS (SELECT 1 FROM tasks c INDEXED BY ix_tasks_parent WHERE c.session_id = NEW.session_id AND c.parent_id = NEW.id AND c.status = 'done')) OR EXISTS (SELECT 1 FROM questions q INDEXED BY ix_questions_open WHERE q.session_id = NEW.session_id AND q.group_id IS NEW.group_id AND q.closed_seq IS NULL AND (q.task_id IN (WITH RECURSIVE line(id) AS (SELECT NEW.id UNION SELECT p.parent_id FROM line l CROSS JOIN tasks p ON p.session_id = NEW.session_id AND p.id = l.id WHERE p.parent_id IS NOT NULL) SELECT id FROM line) OR (q.task_id IS NULL AND q.group_id IS NOT NULL)))) THEN RAISE(ABORT, 'COMPLETION_GATE: a task is done when its subtasks are, one at least, and nothing about it is open') END;
END;

CREATE TRIGGER tasks_status_seq_never_falls BEFORE UPDATE OF status_seq ON tasks
WHEN NEW.status_seq < OLD.status_seq
BEGIN
  SELECT RAISE(ABORT, 'STATUS_CHANGE_MISSING: a later move has no earlier step');
END;

CREATE TRIGGER tasks_change_columns_follow_the_status BEFORE UPDATE OF status_changed_by_agent_id, status_changed_at, status_seq ON tasks
WHEN NEW.status IS OLD.status AND NEW.status_seq >= OLD.status_seq AND (NEW.status_changed_by_agent_id IS NOT OLD.status_changed_by_agent_id OR NEW.status_changed_at IS NOT OLD.status_changed_at OR NEW.status_seq IS NOT OLD.status_seq)
BEGIN
  SELECT RAISE(ABORT, 'STATUS_CHANGE_MISSING: who changed a status, and when, is written with the change alone');
END;

CREATE TRIGGER tasks_blocked_reason_is_the_newest BEFORE UPDATE OF blocked_reason ON tasks
WHEN (NEW.blocked_reason IS NOT OLD.blocked_reason) AND NEW.status IS OLD.status AND NEW.blocked_reason IS NOT (SELECT b.reason FROM blockers b INDEXED BY ix_blockers_task WHERE b.session_id = NEW.session_id AND b.task_id = NEW.id AND b.resolved_seq IS NULL ORDER BY b.opened_seq DESC, b.id DESC LIMIT 1)
BEGIN
  SELECT RAISE(ABORT, 'BLOCKER_MISSING: the reason of a blocked task is that of its newest open blocker');
END;

CREATE TRIGGER tasks_former_status_is_fixed BEFORE UPDATE OF former_status ON tasks
WHEN (NEW.former_status IS NOT OLD.former_status) AND (NEW.status IS OLD.status OR (NEW.status = 'blocked' AND NEW.former_status IS NOT OLD.status))
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: a blocked task keeps the status that it comes from');
END;

CREATE TRIGGER tasks_versions_rise BEFORE UPDATE OF status, assignee, auto_unblock, claim_holder, claim_token, blocked_reason, former_status, version ON tasks
WHEN (NEW.version IS NOT OLD.version OR (NEW.status IS NOT OLD.status OR NEW.assignee IS NOT OLD.assignee OR NEW.auto_unblock IS NOT OLD.auto_unblock OR NEW.claim_holder IS NOT OLD.claim_holder OR NEW.claim_token IS NOT OLD.claim_token OR NEW.blocked_reason IS NOT OLD.blocked_reason OR NEW.former_status IS NOT OLD.former_status)) AND NEW.version IS NOT OLD.version + 1
BEGIN
  SELECT RAISE(ABORT, 'VERSION_CONFLICT: every change of a task is its next version');
END;

CREATE TRIGGER tasks_claims_are_taken_over_on_record BEFORE UPDATE OF claim_holder ON tasks
WHEN OLD.claim_holder IS NOT NULL AND NEW.claim_holder IS NOT NULL AND NEW.claim_holder <> OLD.claim_holder AND NOT EXISTS (SELECT 1 FROM (SELECT c.from_status, c.to_status FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = OLD.session_id AND c.entity = 'task_claim' AND c.entity_id = OLD.id ORDER BY c.seq DESC, c.part DESC LIMIT 1) n WHERE n.from_status = OLD.claim_holder AND n.to_status = NEW.claim_holder)
BEGIN
  SELECT RAISE(ABORT, 'CLAIM_LOST: a claim goes to another holder with its status_changes row (task_claim) alone');
END;

CREATE TRIGGER tasks_origins_are_fixed BEFORE UPDATE OF session_id, id, group_id, parent_id, title, description, type, created_by, created_at, created_seq ON tasks
WHEN (NEW.session_id IS NOT OLD.session_id OR NEW.id IS NOT OLD.id OR NEW.group_id IS NOT OLD.group_id OR NEW.parent_id IS NOT OLD.parent_id OR NEW.title IS NOT OLD.title OR NEW.description IS NOT OLD.description OR NEW.type IS NOT OLD.type OR NEW.created_by IS NOT OLD.created_by OR NEW.created_at IS NOT OLD.created_at OR NEW.created_seq IS NOT OLD.created_seq)
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: a task keeps its key, place and origin');
END;

CREATE TRIGGER task_dependencies_are_for_what_waits BEFORE INSERT ON task_dependencies
WHEN NEW.removed_seq IS NULL AND EXISTS (SELECT 1 FROM tasks t WHERE t.session_id = NEW.session_id AND t.id = NEW.task_id AND (t.status IN ('done', 'cancelled') OR EXISTS (WITH RECURSIVE below(id) AS (SELECT NEW.task_id UNION SELECT c.id FROM below b CROSS JOIN tasks c INDEXED BY ix_tasks_parent ON c.session_id = NEW.session_id AND c.parent_id = b.id) SELECT 1 FROM below b CROSS JOIN tasks t ON t.session_id = NEW.session_id AND t.id = b.id WHERE t.status = 'in_progress' OR t.former_status IS 'in_progress'))) AND EXISTS (SELECT 1 FROM tasks o WHERE o.session_id = NEW.session_id AND o.id = NEW.depends_on_id AND o.status <> 'done')
BEGIN
  SELECT RAISE(ABORT, 'DEPENDENCY_INVALID: only what has not begun can wait for something that is not done');
END;

CREATE TRIGGER task_dependencies_close_no_pair BEFORE INSERT ON task_dependencies
WHEN NEW.removed_seq IS NULL AND EXISTS (SELECT 1 FROM task_dependencies d WHERE d.session_id = NEW.session_id AND d.task_id = NEW.depends_on_id AND d.depends_on_id = NEW.task_id AND d.removed_seq IS NULL)
BEGIN
  SELECT RAISE(ABORT, 'DEPENDENCY_CYCLE: two tasks do not wait for each other');
END;

CREATE TRIGGER task_dependencies_origins_are_fixed BEFORE UPDATE OF session_id, task_id, depends_on_id, seq, added_by ON task_dependencies
WHEN (NEW.session_id IS NOT OLD.session_id OR NEW.task_id IS NOT OLD.task_id OR NEW.depends_on_id IS NOT OLD.depends_on_id OR NEW.seq IS NOT OLD.seq OR NEW.added_by IS NOT OLD.added_by)
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: a dependency keeps who depends on whom');
END;

CREATE TRIGGER task_dependencies_are_closed_once BEFORE UPDATE ON task_dependencies
WHEN OLD.removed_seq IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: a dependency is removed once');
END;

CREATE TRIGGER task_dependencies_are_closed_whole BEFORE UPDATE OF removed_by, removed_reason ON task_dependencies
WHEN OLD.removed_seq IS NULL AND NEW.removed_seq IS NULL AND (NEW.removed_by IS NOT NULL OR NEW.removed_reason IS NOT NULL)
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: a dependency is removed once, with the step that does it');
END;

CREATE TRIGGER imported_sessions_are_closed BEFORE INSERT ON imported_sessions
WHEN (NEW.seq IS NOT 1 OR EXISTS (SELECT 1 FROM audit_events e INDEXED BY sqlite_autoindex_audit_events_1 WHERE e.session_id = NEW.session_id)) AND NOT EXISTS (SELECT 1 FROM imported_sessions t WHERE (t.session_id = NEW.session_id))
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN RAISE(ABORT, 'IMPORT_CLOSED: what was imported comes with the first step of its session alone') ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER grandfathered_groups_are_closed BEFORE INSERT ON grandfathered_groups
WHEN (NOT (EXISTS (SELECT 1 FROM imported_sessions i WHERE i.session_id = NEW.session_id AND i.seq = NEW.seq) AND NOT EXISTS (SELECT 1 FROM audit_events e INDEXED BY sqlite_autoindex_audit_events_1 WHERE e.session_id = NEW.session_id))) AND NOT EXISTS (SELECT 1 FROM grandfathered_groups t WHERE (t.session_id = NEW.session_id AND t.group_id = NEW.group_id))
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN RAISE(ABORT, 'IMPORT_CLOSED: what was imported comes with the first step of its session alone') ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER imported_logs_are_closed BEFORE INSERT ON imported_logs
WHEN (NOT (EXISTS (SELECT 1 FROM imported_sessions i WHERE i.session_id = NEW.session_id AND i.seq = NEW.seq) AND NOT EXISTS (SELECT 1 FROM audit_events e INDEXED BY sqlite_autoindex_audit_events_1 WHERE e.session_id = NEW.session_id))) AND NOT EXISTS (SELECT 1 FROM imported_logs t WHERE (t.session_id = NEW.session_id AND t.seq = NEW.seq AND t.part = NEW.part) OR (t.rowid = NEW.rowid))
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN RAISE(ABORT, 'IMPORT_CLOSED: what was imported comes with the first step of its session alone') ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER import_findings_are_closed BEFORE INSERT ON import_findings
WHEN (NOT (EXISTS (SELECT 1 FROM imported_sessions i WHERE i.session_id = NEW.session_id AND i.seq = NEW.seq) AND NOT EXISTS (SELECT 1 FROM audit_events e INDEXED BY sqlite_autoindex_audit_events_1 WHERE e.session_id = NEW.session_id))) AND NOT EXISTS (SELECT 1 FROM import_findings t WHERE (t.session_id = NEW.session_id AND t.seq = NEW.seq AND t.part = NEW.part))
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN RAISE(ABORT, 'IMPORT_CLOSED: what was imported comes with the first step of its session alone') ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER audit_events_tell_of_imports BEFORE INSERT ON audit_events
WHEN NEW.seq = 1 AND NEW.kind IS NOT 'import peer' AND EXISTS (SELECT 1 FROM imported_sessions i WHERE i.session_id = NEW.session_id)
BEGIN
  SELECT RAISE(ABORT, 'IMPORT_CLOSED: the first step of an imported session is its import');
END;

CREATE TRIGGER runs_begin_queued BEFORE INSERT ON runs
WHEN NEW.state IS NOT 'queued'
BEGIN
  SELECT RAISE(ABORT, 'ILLEGAL_MOVE: a run begins as queued');
END;

CREATE TRIGGER runs_move_by_the_rules BEFORE UPDATE OF state ON runs
WHEN NEW.state IS NOT OLD.state AND OLD.ended_at IS NULL
BEGIN
  SELECT CASE WHEN NOT ((OLD.state = 'queued' AND (NEW.state = 'running' OR NEW.state = 'cancelled')) OR (OLD.state = 'running' AND (NEW.state = 'complete' OR NEW.state = 'incomplete' OR NEW.state = 'error' OR NEW.state = 'awaiting_response' OR NEW.state = 'cancelled')) OR (OLD.state = 'awaiting_response' AND (NEW.state = 'queued' OR NEW.state = 'incomplete' OR NEW.state = 'cancelled'))) THEN RAISE(ABORT, 'ILLEGAL_MOVE: a run does not go from its state to this one')
    WHEN NOT (NEW.state_seq >= OLD.state_seq AND EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'run' AND c.entity_id = NEW.id AND c.seq = NEW.state_seq AND c.from_status = OLD.state AND c.to_status = NEW.state AND c.changed_by = NEW.state_changed_by)) THEN RAISE(ABORT, 'STATUS_CHANGE_MISSING: a move needs the status_changes row of its step')
    WHEN NEW.ended_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM run_events e INDEXED BY ix_run_events_run WHERE e.session_id = NEW.session_id AND e.run_id = NEW.id AND e.seq = NEW.state_seq) THEN RAISE(ABORT, 'LOG_MISSING: a run ends with its log, written in the same step')
    WHEN NEW.state = 'complete' AND NOT (EXISTS (SELECT 1 FROM evidence e WHERE e.session_id = NEW.session_id AND e.seq = NEW.state_seq AND e.kind = 'run' AND e.subject = NEW.id) AND (EXISTS (SELECT 1 FROM run_files f INDEXED BY ix_run_files_run WHERE f.session_id = NEW.session_id AND f.run_id = NEW.id AND f.seq = NEW.state_seq AND (f.present = 1 OR f.change = 'deleted')) OR (NEW.task_type IN ('READ_INFO', 'REPORT') AND NEW.output IS NOT NULL AND NEW.output <> ''))) THEN RAISE(ABORT, 'EVIDENCE_MISSING: a run is complete by what the runner verified, with its evidence')
    WHEN NEW.state = 'awaiting_response' AND NOT EXISTS (SELECT 1 FROM questions q WHERE q.id = NEW.question_id AND q.session_id = NEW.session_id AND q.task_id = NEW.task_id AND q.closed_seq IS NULL) THEN RAISE(ABORT, 'QUESTION_MISSING: a run awaits the answer to an open question about its task')
    WHEN OLD.state = 'running' AND EXISTS (SELECT 1 FROM run_locks l WHERE l.session_id = OLD.session_id AND l.run_id = OLD.id AND l.released_seq IS NULL) THEN RAISE(ABORT, 'LOCK_HELD: a run that stops running has released what it held') END;
END;

CREATE TRIGGER run_locks_exclude_writers BEFORE INSERT ON run_locks
WHEN NEW.released_seq IS NULL AND (EXISTS (SELECT 1 FROM run_locks l INDEXED BY ix_run_locks_held WHERE l.path = NEW.path AND l.released_seq IS NULL AND 'write' IN (l.mode, NEW.mode)) OR EXISTS (SELECT 1 FROM turn_runs t INDEXED BY ix_turn_runs_open WHERE t.ended_at IS NULL AND t.state = 'running' AND NEW.path IN (t.folder, t.lock_key)))
BEGIN
  SELECT RAISE(ABORT, 'LOCK_HELD: a file has many readers or one writer');
END;

CREATE TRIGGER runs_never_change_when_ended BEFORE UPDATE ON runs
WHEN OLD.ended_at IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: a run that has ended stays as it is');
END;

CREATE TRIGGER runs_change_columns_follow_the_state BEFORE UPDATE OF state_changed_by, state_changed_at, state_seq, owner ON runs
WHEN NEW.state IS OLD.state AND OLD.ended_at IS NULL AND (NEW.state_changed_by IS NOT OLD.state_changed_by OR NEW.state_changed_at IS NOT OLD.state_changed_at OR NEW.state_seq IS NOT OLD.state_seq OR NEW.owner IS NOT OLD.owner)
BEGIN
  SELECT RAISE(ABORT, 'STATUS_CHANGE_MISSING: who changed a state, when, and who runs it is written with the change alone');
END;

CREATE TRIGGER runs_origins_are_fixed BEFORE UPDATE OF session_id, id, log_id, task_id, prompt, task_type, executor, provider, model, retry_of, verification_root, queued_by, queued_at, created_seq ON runs
WHEN (NEW.session_id IS NOT OLD.session_id OR NEW.id IS NOT OLD.id OR NEW.log_id IS NOT OLD.log_id OR NEW.task_id IS NOT OLD.task_id OR NEW.prompt IS NOT OLD.prompt OR NEW.task_type IS NOT OLD.task_type OR NEW.executor IS NOT OLD.executor OR NEW.provider IS NOT OLD.provider OR NEW.model IS NOT OLD.model OR NEW.retry_of IS NOT OLD.retry_of OR NEW.verification_root IS NOT OLD.verification_root OR NEW.queued_by IS NOT OLD.queued_by OR NEW.queued_at IS NOT OLD.queued_at OR NEW.created_seq IS NOT OLD.created_seq)
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: a run keeps what it was queued with');
END;

CREATE TRIGGER run_locks_origins_are_fixed BEFORE UPDATE OF session_id, run_id, path, mode, seq, acquired_at ON run_locks
WHEN (NEW.session_id IS NOT OLD.session_id OR NEW.run_id IS NOT OLD.run_id OR NEW.path IS NOT OLD.path OR NEW.mode IS NOT OLD.mode OR NEW.seq IS NOT OLD.seq OR NEW.acquired_at IS NOT OLD.acquired_at)
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: a lock keeps what it holds');
END;

CREATE TRIGGER run_locks_are_closed_once BEFORE UPDATE ON run_locks
WHEN OLD.released_seq IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: a lock is released once');
END;

CREATE TRIGGER run_locks_are_closed_whole BEFORE UPDATE OF released_at ON run_locks
WHEN OLD.released_seq IS NULL AND NEW.released_seq IS NULL AND (NEW.released_at IS NOT NULL)
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: a lock is released once, with the step that does it');
END;

CREATE TRIGGER turn_runs_begin_queued BEFORE INSERT ON turn_runs
WHEN NEW.state IS NOT 'queued'
BEGIN
  SELECT RAISE(ABORT, 'ILLEGAL_MOVE: the run of a turn begins as queued');
END;

CREATE TRIGGER turn_runs_move_by_the_rules BEFORE UPDATE OF state ON turn_runs
WHEN NEW.state IS NOT OLD.state AND OLD.ended_at IS NULL
BEGIN
  SELECT CASE WHEN NOT ((OLD.state = 'queued' AND (NEW.state = 'running' OR NEW.state = 'failed')) OR (OLD.state = 'running' AND (NEW.state = 'answered' OR NEW.state = 'no_answer' OR NEW.state = 'failed' OR NEW.state = 'limited'))) THEN RAISE(ABORT, 'ILLEGAL_MOVE: the run of a turn does not go from its state to this one')
    WHEN NOT (NEW.state_seq >= OLD.state_seq AND EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'turn' AND c.entity_id = NEW.id AND c.seq = NEW.state_seq AND c.from_status = OLD.state AND c.to_status = NEW.state AND c.changed_by = NEW.state_changed_by)) THEN RAISE(ABORT, 'STATUS_CHANGE_MISSING: a move needs the status_changes row of its step')
    WHEN NEW.state = 'running' AND (EXISTS (SELECT 1 FROM turn_runs t INDEXED BY ix_turn_runs_open WHERE t.ended_at IS NULL AND t.state = 'running' AND t.id <> NEW.id AND (t.lock_key = NEW.lock_key OR t.folder = NEW.folder)) OR EXISTS (SELECT 1 FROM run_locks l INDEXED BY ix_run_locks_held WHERE l.path IN (NEW.folder, NEW.lock_key) AND l.released_seq IS NULL)) THEN RAISE(ABORT, 'LOCK_HELD: one turn at a time works on a group, and in a folder')
    WHEN NEW.ended_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM evidence e WHERE e.session_id = NEW.session_id AND e.seq = NEW.state_seq AND e.kind = 'turn' AND e.subject = NEW.id) THEN RAISE(ABORT, 'LOG_MISSING: the run of a turn ends with what was seen and how it was judged, written in the same step')
    WHEN NEW.state = 'answered' AND NOT EXISTS (SELECT 1 FROM evidence e WHERE e.session_id = NEW.session_id AND e.seq = NEW.state_seq AND e.kind = 'operation' AND e.subject = NEW.id || '-execute') THEN RAISE(ABORT, 'EVIDENCE_MISSING: a turn is answered by what an executor said, with the evidence that it was called') END;
END;

CREATE TRIGGER turn_runs_never_change_when_ended BEFORE UPDATE ON turn_runs
WHEN OLD.ended_at IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: the run of a turn that has ended stays as it is');
END;

CREATE TRIGGER turn_runs_change_columns_follow_the_state BEFORE UPDATE OF state_changed_by, state_changed_at, state_seq, owner ON turn_runs
WHEN NEW.state IS OLD.state AND OLD.ended_at IS NULL AND (NEW.state_changed_by IS NOT OLD.state_changed_by OR NEW.state_changed_at IS NOT OLD.state_changed_at OR NEW.state_seq IS NOT OLD.state_seq OR NEW.owner IS NOT OLD.owner)
BEGIN
  SELECT RAISE(ABORT, 'STATUS_CHANGE_MISSING: who changed a state, when, and who runs it is written with the change alone');
END;

CREATE TRIGGER turn_runs_origins_are_fixed BEFORE UPDATE OF session_id, id, group_id, turn, role, prompt, executor, model, folder, root, lock_key, queued_by, queued_at, created_seq ON turn_runs
WHEN (NEW.session_id IS NOT OLD.session_id OR NEW.id IS NOT OLD.id OR NEW.group_id IS NOT OLD.group_id OR NEW.turn IS NOT OLD.turn OR NEW.role IS NOT OLD.role OR NEW.prompt IS NOT OLD.prompt OR NEW.executor IS NOT OLD.executor OR NEW.model IS NOT OLD.model OR NEW.folder IS NOT OLD.folder OR NEW.root IS NOT OLD.root OR NEW.lock_key IS NOT OLD.lock_key OR NEW.queued_by IS NOT OLD.queued_by OR NEW.queued_at IS NOT OLD.queued_at OR NEW.created_seq IS NOT OLD.created_seq)
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: the run of a turn keeps what it was queued with');
END;

CREATE TRIGGER starts_come_one_after_another BEFORE INSERT ON starts
WHEN NEW.ended_seq IS NULL AND EXISTS (SELECT 1 FROM starts s INDEXED BY ix_starts_open WHERE s.session_id = NEW.session_id AND s.group_id = NEW.group_id AND s.turn = NEW.turn AND s.ended_seq IS NULL AND s.seq <> NEW.seq)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: the turn is started already');
END;

CREATE TRIGGER starts_origins_are_fixed BEFORE UPDATE OF session_id, group_id, turn, seq, role, agent_id, via, client, owner, call_id, isolation, started_at ON starts
WHEN (NEW.session_id IS NOT OLD.session_id OR NEW.group_id IS NOT OLD.group_id OR NEW.turn IS NOT OLD.turn OR NEW.seq IS NOT OLD.seq OR NEW.role IS NOT OLD.role OR NEW.agent_id IS NOT OLD.agent_id OR NEW.via IS NOT OLD.via OR NEW.client IS NOT OLD.client OR NEW.owner IS NOT OLD.owner OR NEW.call_id IS NOT OLD.call_id OR NEW.isolation IS NOT OLD.isolation OR NEW.started_at IS NOT OLD.started_at)
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: a start keeps its turn and who made it');
END;

CREATE TRIGGER starts_are_bound_once BEFORE UPDATE OF worker, trace, bound_at, bound_seq ON starts
WHEN OLD.bound_seq IS NOT NULL AND (NEW.worker IS NOT OLD.worker OR NEW.trace IS NOT OLD.trace OR NEW.bound_at IS NOT OLD.bound_at OR NEW.bound_seq IS NOT OLD.bound_seq)
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: a start is bound to one agent');
END;

CREATE TRIGGER starts_are_closed_once BEFORE UPDATE ON starts
WHEN OLD.ended_seq IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: a start ends once');
END;

CREATE TRIGGER starts_are_closed_whole BEFORE UPDATE OF ended_seq, ended_at, outcome, reason, due_at ON starts
WHEN OLD.ended_seq IS NULL AND (NEW.ended_seq IS NULL AND (NEW.ended_at IS NOT NULL OR NEW.outcome IS NOT NULL OR NEW.reason IS NOT NULL OR NEW.due_at IS NOT NULL) OR NEW.ended_seq IS NOT NULL AND (NEW.ended_at IS NULL OR NEW.outcome IS NULL))
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: a start ends once, with the step that does it');
END;

CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL, CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num));

CREATE TRIGGER alembic_version_insert_needs_orchestrator BEFORE INSERT ON alembic_version
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER alembic_version_update_needs_orchestrator BEFORE UPDATE ON alembic_version
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER alembic_version_delete_needs_orchestrator BEFORE DELETE ON alembic_version
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;
