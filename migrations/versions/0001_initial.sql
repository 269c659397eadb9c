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
	CONSTRAINT ck_agents_kind CHECK (kind IN ('ai', 'human', 'system')),
	CONSTRAINT ck_agents_active CHECK (active IN (0, 1)),
	CONSTRAINT ck_agents_max_parallel_tasks CHECK (max_parallel_tasks >= 1),
	CONSTRAINT fk_agents_parent_id FOREIGN KEY(parent_id) REFERENCES agents (id)
)
 WITHOUT ROWID;

CREATE INDEX ix_agents_parent_id ON agents (parent_id);

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
	CONSTRAINT ck_sessions_kind CHECK (kind IN ('orchestration', 'chat')),
	CONSTRAINT ck_sessions_mode CHECK (mode IN ('simple', 'parallel')),
	CONSTRAINT ck_sessions_testing_mode CHECK (testing_mode IN ('full', 'minimal', 'disabled')),
	CONSTRAINT ck_sessions_status CHECK (status IN ('active', 'paused', 'ended')),
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

CREATE INDEX ix_agent_reports_approve ON agent_reports (session_id, group_id, seq) WHERE effect = 'approve';

CREATE INDEX ix_agent_reports_block ON agent_reports (session_id, group_id, seq) WHERE effect = 'block';

CREATE INDEX ix_agent_reports_confirm ON agent_reports (session_id, seq) WHERE effect = 'confirm';

CREATE INDEX ix_agent_reports_key ON agent_reports (session_id, group_id, role, response_status, seq);

CREATE INDEX ix_agent_reports_manager ON agent_reports (session_id, group_id, seq) WHERE role = 'project_manager';

CREATE INDEX ix_agent_reports_merge ON agent_reports (session_id, group_id, seq) WHERE effect = 'merge';

CREATE INDEX ix_agent_reports_qa ON agent_reports (session_id, group_id, seq) WHERE role = 'qa_expert';

CREATE INDEX ix_agent_reports_qa_answer ON agent_reports (session_id, group_id, seq) WHERE role = 'qa_expert' AND effect IN ('test_pass', 'test_fail', 'inconclusive', 'block');

CREATE INDEX ix_agent_reports_standing ON agent_reports (session_id, group_id, seq) WHERE effect <> 'merge' AND (role <> 'project_manager' OR effect IN ('rework', 'defer'));

CREATE INDEX ix_agent_reports_submit_review ON agent_reports (session_id, group_id, seq) WHERE effect = 'submit_review';

CREATE INDEX ix_agent_reports_submit_test ON agent_reports (session_id, group_id, seq) WHERE effect = 'submit_test';

CREATE INDEX ix_agent_reports_tech_lead ON agent_reports (session_id, group_id, seq) WHERE role = 'tech_lead';

CREATE INDEX ix_agent_reports_test_fail ON agent_reports (session_id, group_id, seq) WHERE effect = 'test_fail';

CREATE INDEX ix_agent_reports_test_pass ON agent_reports (session_id, group_id, seq) WHERE effect = 'test_pass';

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
	CONSTRAINT ck_blockers_class CHECK (class IN ('soft', 'hard')),
	CONSTRAINT ck_blockers_cause CHECK (cause IN ('report', 'manual', 'cascade', 'gate', 'dependency', 'imported')),
	CONSTRAINT ck_blockers_external CHECK (external IN (0, 1)),
	CONSTRAINT ck_blockers_reason CHECK (reason <> ''),
	CONSTRAINT ck_blockers_external_dependency CHECK ((external = 1) = (external_dependency IS NOT NULL)),
	CONSTRAINT ck_blockers_resolved CHECK ((resolved_seq IS NULL) = (resolved_at IS NULL) AND (resolved_seq IS NULL) = (resolution IS NULL)),
	CONSTRAINT fk_blockers_session_id FOREIGN KEY(session_id) REFERENCES sessions (id)
)
 WITHOUT ROWID;

CREATE INDEX ix_blockers_group ON blockers (session_id, group_id, opened_seq);

CREATE INDEX ix_blockers_open ON blockers (session_id, group_id, opened_seq) WHERE resolved_seq IS NULL;

CREATE INDEX ix_blockers_resolved ON blockers (session_id, group_id, resolved_seq) WHERE resolved_seq IS NOT NULL;

CREATE TABLE context_items (
	session_id TEXT NOT NULL,
	group_id TEXT NOT NULL,
	name TEXT NOT NULL,
	seq INTEGER NOT NULL,
	CONSTRAINT pk_context_items PRIMARY KEY (session_id, group_id, name, seq),
	CONSTRAINT fk_context_items_session_id FOREIGN KEY(session_id) REFERENCES sessions (id)
)
 WITHOUT ROWID;

CREATE TABLE handoffs (
	session_id TEXT NOT NULL,
	turn INTEGER NOT NULL,
	group_id TEXT NOT NULL,
	agent_id TEXT NOT NULL,
	document TEXT NOT NULL,
	hash TEXT NOT NULL,
	CONSTRAINT uq_handoffs_session_id_group_id_turn UNIQUE (session_id, group_id, turn),
	CONSTRAINT fk_handoffs_session_id FOREIGN KEY(session_id) REFERENCES sessions (id)
);

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
	CONSTRAINT ck_questions_kind CHECK (kind IN ('review', 'clarification', 'budget', 'reply', 'confirmation', 'continuation')),
	CONSTRAINT fk_questions_session_id FOREIGN KEY(session_id) REFERENCES sessions (id)
)
 WITHOUT ROWID;

CREATE INDEX ix_questions_open ON questions (session_id, group_id, opened_seq) WHERE closed_seq IS NULL;

CREATE INDEX ix_questions_session ON questions (session_id, opened_seq);

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
	CONSTRAINT uq_router_decisions_session_id_seq_part UNIQUE (session_id, seq, part),
	CONSTRAINT ck_router_decisions_report_id CHECK ((report_id IS NULL OR (part = 1 AND report_id = session_id || ':R' || seq)) AND (report_id IS NOT NULL) = (cause = 'report')),
	CONSTRAINT fk_router_decisions_session_id FOREIGN KEY(session_id) REFERENCES sessions (id),
	CONSTRAINT fk_router_decisions_workflow_version_id FOREIGN KEY(workflow_version_id) REFERENCES workflow_versions (id)
);

CREATE INDEX idx_router_decisions_session ON router_decisions (session_id, group_id);

CREATE INDEX ix_router_decisions_mandatory ON router_decisions (session_id, group_id, seq) WHERE mandatory_review = 1;

CREATE INDEX ix_router_decisions_redispatch ON router_decisions (session_id, group_id, seq) WHERE cause = 'redispatch';

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
	CONSTRAINT pk_task_groups PRIMARY KEY (session_id, id),
	CONSTRAINT ck_task_groups_kind CHECK (kind IN ('code', 'research', 'chat')),
	CONSTRAINT ck_task_groups_status CHECK (status IN ('pending', 'in_progress', 'completed', 'deferred_external', 'cancelled')),
	CONSTRAINT ck_task_groups_security_sensitive CHECK (security_sensitive IN (0, 1)),
	CONSTRAINT ck_task_groups_senior CHECK (senior IN (0, 1)),
	CONSTRAINT ck_task_groups_complexity CHECK (complexity BETWEEN 1 AND 10),
	CONSTRAINT ck_task_groups_priority CHECK (priority BETWEEN 0 AND 3),
	CONSTRAINT ck_task_groups_held CHECK (held IS NULL OR held IN ('slot', 'session_paused')),
	CONSTRAINT ck_task_groups_awaited CHECK (status = 'in_progress' OR awaited_role IS NULL),
	CONSTRAINT fk_task_groups_session_id FOREIGN KEY(session_id) REFERENCES sessions (id)
)
 WITHOUT ROWID;

CREATE INDEX ix_task_groups_awaited ON task_groups (session_id, awaited_role, held) WHERE awaited_role IS NOT NULL;

CREATE INDEX ix_task_groups_held ON task_groups (session_id, held_seq) WHERE held IS NOT NULL;

CREATE INDEX ix_task_groups_pending ON task_groups (session_id, priority, created_seq) WHERE status = 'pending';

CREATE INDEX ix_task_groups_running ON task_groups (session_id) WHERE awaited_role IS NOT NULL AND held IS NULL AND awaited_role NOT IN ('project_manager', 'user');

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

CREATE VIEW group_marks AS
SELECT
    g.session_id AS session_id,
    g.id AS group_id,
    g.kind AS kind,
    g.status AS status,
    g.security_sensitive AS security_sensitive,
    (SELECT s.testing_mode FROM sessions s WHERE s.id = g.session_id) AS testing_mode,
    CASE WHEN EXISTS (SELECT c.seq FROM status_changes c INDEXED BY ix_status_changes_reopened WHERE c.session_id = g.session_id AND c.entity = 'group' AND c.entity_id = g.id AND c.from_status = 'completed' ORDER BY c.seq DESC LIMIT 1) THEN (SELECT c.seq FROM status_changes c INDEXED BY ix_status_changes_reopened WHERE c.session_id = g.session_id AND c.entity = 'group' AND c.entity_id = g.id AND c.from_status = 'completed' ORDER BY c.seq DESC LIMIT 1) ELSE 0 END AS base_seq,
    (SELECT r.seq FROM agent_reports r INDEXED BY ix_agent_reports_standing WHERE r.session_id = g.session_id AND r.group_id = g.id AND r.effect <> 'merge' AND (r.role <> 'project_manager' OR r.effect IN ('rework', 'defer')) ORDER BY r.seq DESC LIMIT 1) AS standing_seq,
    (SELECT r.effect FROM agent_reports r INDEXED BY ix_agent_reports_standing WHERE r.session_id = g.session_id AND r.group_id = g.id AND r.effect <> 'merge' AND (r.role <> 'project_manager' OR r.effect IN ('rework', 'defer')) ORDER BY r.seq DESC LIMIT 1) AS standing_effect,
    (SELECT r.seq FROM agent_reports r INDEXED BY ix_agent_reports_merge WHERE r.session_id = g.session_id AND r.group_id = g.id AND r.effect = 'merge' ORDER BY r.seq DESC LIMIT 1) AS merge_seq,
    (SELECT r.seq FROM agent_reports r INDEXED BY ix_agent_reports_submit_test WHERE r.session_id = g.session_id AND r.group_id = g.id AND r.effect = 'submit_test' ORDER BY r.seq DESC LIMIT 1) AS submit_test_seq,
    (SELECT r.seq FROM agent_reports r INDEXED BY ix_agent_reports_submit_review WHERE r.session_id = g.session_id AND r.group_id = g.id AND r.effect = 'submit_review' ORDER BY r.seq DESC LIMIT 1) AS submit_review_seq,
    (SELECT r.seq FROM agent_reports r INDEXED BY ix_agent_reports_test_pass WHERE r.session_id = g.session_id AND r.group_id = g.id AND r.effect = 'test_pass' ORDER BY r.seq DESC LIMIT 1) AS test_pass_seq,
    (SELECT r.seq FROM agent_reports r INDEXED BY ix_agent_reports_test_fail WHERE r.session_id = g.session_id AND r.group_id = g.id AND r.effect = 'test_fail' ORDER BY r.seq DESC LIMIT 1) AS test_fail_seq,
    (SELECT r.seq FROM agent_reports r INDEXED BY ix_agent_reports_test_pass WHERE r.session_id = g.session_id AND r.group_id = g.id AND r.effect = 'test_pass' AND r.seq > (SELECT r.seq FROM agent_reports r INDEXED BY ix_agent_reports_submit_test WHERE r.session_id = g.session_id AND r.group_id = g.id AND r.effect = 'submit_test' ORDER BY r.seq DESC LIMIT 1) AND r.seq <= (SELECT r.seq FROM agent_reports r INDEXED BY ix_agent_reports_standing WHERE r.session_id = g.session_id AND r.group_id = g.id AND r.effect <> 'merge' AND (r.role <> 'project_manager' OR r.effect IN ('rework', 'defer')) ORDER BY r.seq DESC LIMIT 1) ORDER BY r.seq DESC LIMIT 1) AS passed_seq,
    (SELECT r.seq FROM agent_reports r INDEXED BY ix_agent_reports_qa WHERE r.session_id = g.session_id AND r.group_id = g.id AND r.role = 'qa_expert' ORDER BY r.seq DESC LIMIT 1) AS qa_seq,
    (SELECT r.seq FROM agent_reports r INDEXED BY ix_agent_reports_qa_answer WHERE r.session_id = g.session_id AND r.group_id = g.id AND r.role = 'qa_expert' AND r.effect IN ('test_pass', 'test_fail', 'inconclusive', 'block') ORDER BY r.seq DESC LIMIT 1) AS qa_answer_seq,
    (SELECT r.effect FROM agent_reports r INDEXED BY ix_agent_reports_qa_answer WHERE r.session_id = g.session_id AND r.group_id = g.id AND r.role = 'qa_expert' AND r.effect IN ('test_pass', 'test_fail', 'inconclusive', 'block') ORDER BY r.seq DESC LIMIT 1) AS qa_answer_effect,
    (SELECT r.seq FROM agent_reports r INDEXED BY ix_agent_reports_tech_lead WHERE r.session_id = g.session_id AND r.group_id = g.id AND r.role = 'tech_lead' ORDER BY r.seq DESC LIMIT 1) AS tech_lead_seq,
    (SELECT r.seq FROM agent_reports r INDEXED BY ix_agent_reports_manager WHERE r.session_id = g.session_id AND r.group_id = g.id AND r.role = 'project_manager' ORDER BY r.seq DESC LIMIT 1) AS manager_seq,
    (SELECT t.seq FROM router_decisions t INDEXED BY ix_router_decisions_mandatory WHERE t.session_id = g.session_id AND t.group_id = g.id AND t.mandatory_review = 1 ORDER BY t.seq DESC LIMIT 1) AS mandatory_seq,
    (SELECT t.id FROM blockers t INDEXED BY ix_blockers_open WHERE t.session_id = g.session_id AND t.group_id = g.id AND t.resolved_seq IS NULL ORDER BY t.opened_seq DESC LIMIT 1) AS open_blocker,
    (SELECT t.id FROM questions t INDEXED BY ix_questions_open WHERE t.session_id = g.session_id AND t.group_id = g.id AND t.closed_seq IS NULL ORDER BY t.opened_seq DESC LIMIT 1) AS open_question,
    (SELECT t.opened_seq FROM blockers t INDEXED BY ix_blockers_group WHERE t.session_id = g.session_id AND t.group_id = g.id ORDER BY t.opened_seq DESC LIMIT 1) AS blocker_seq,
    (SELECT t.resolved_seq FROM blockers t INDEXED BY ix_blockers_resolved WHERE t.session_id = g.session_id AND t.group_id = g.id AND t.resolved_seq IS NOT NULL ORDER BY t.resolved_seq DESC LIMIT 1) AS resolved_seq,
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
    waits_on AS waits_on,
    blocker_seq AS blocker_seq,
    resolved_seq AS resolved_seq,
    confirm_seq AS confirm_seq,
    acknowledged_seq AS acknowledged_seq,
    confirm_acknowledged AS confirm_acknowledged,
    CASE WHEN kind = 'chat' THEN 'chat' WHEN standing_seq IS NULL THEN 'never' WHEN standing_seq <= base_seq THEN 'reopened' WHEN (standing_effect = 'approve' AND standing_seq > base_seq) THEN 'approved' WHEN 1 THEN 'voided' END AS approved_why,
    CASE WHEN kind = 'chat' THEN 'chat' WHEN kind = 'research' THEN 'not_required' WHEN (submit_test_seq > base_seq OR submit_review_seq > base_seq) IS NOT 1 THEN 'no_submission' WHEN test_fail_seq > base_seq AND (test_pass_seq IS NULL OR test_fail_seq > test_pass_seq) THEN 'open_test_fail' WHEN submit_test_seq > base_seq AND passed_seq IS NOT NULL THEN 'test_pass' WHEN testing_mode IN ('minimal', 'disabled') THEN 'testing_mode' WHEN ((submit_test_seq > base_seq) IS NOT 1 AND (qa_seq > base_seq) IS NOT 1) THEN 'qa_not_asked' WHEN qa_answer_effect IN ('block', 'inconclusive') AND qa_answer_seq > base_seq AND (standing_effect = 'approve' AND standing_seq > base_seq) THEN 'unfinished_accepted' WHEN submit_test_seq > base_seq AND (qa_answer_seq > submit_test_seq) IS NOT 1 THEN 'qa_unanswered' WHEN 1 THEN 'no_test_pass' END AS tested_why,
    CASE WHEN kind = 'chat' THEN 'chat' WHEN kind = 'research' THEN 'not_required' WHEN merge_seq IS NULL THEN 'never' WHEN merge_seq <= base_seq THEN 'reopened' WHEN (standing_effect = 'approve' AND standing_seq > base_seq) AND merge_seq > standing_seq THEN 'merged' WHEN (standing_effect = 'approve' AND standing_seq > base_seq) THEN 'before_approval' WHEN 1 THEN 'voided' END AS merged_why,
    CASE WHEN kind = 'chat' THEN 'chat' WHEN open_blocker IS NOT NULL THEN 'open_blocker' WHEN open_question IS NOT NULL THEN 'open_question' WHEN waits_on IS NOT NULL THEN 'dependency' WHEN 1 THEN 'clear' END AS unblocked_why,
    CASE WHEN kind = 'chat' THEN 'chat' WHEN kind = 'research' THEN 'not_required' WHEN mandatory_seq IS NOT NULL AND (tech_lead_seq > mandatory_seq) IS NOT 1 THEN 'no_review' WHEN security_sensitive = 1 AND (tech_lead_seq > base_seq) IS NOT 1 THEN 'no_security_review' WHEN mandatory_seq IS NULL AND security_sensitive = 0 THEN 'not_required' WHEN 1 THEN 'reviewed' END AS reviewed_why
FROM (
  SELECT DISTINCT m.*,
    (
      WITH RECURSIVE waits(group_id) AS (
        SELECT d.depends_on FROM group_dependencies d WHERE d.group_id = m.group_id AND d.session_id = m.session_id AND d.removed_seq IS NULL AND NOT EXISTS (SELECT 1 FROM task_groups c WHERE c.session_id = d.session_id AND c.id = d.depends_on AND c.status = 'completed')
        UNION
        SELECT d.depends_on FROM waits w CROSS JOIN group_dependencies d
        WHERE d.group_id = w.group_id AND d.session_id = m.session_id AND d.removed_seq IS NULL AND NOT EXISTS (SELECT 1 FROM task_groups c WHERE c.session_id = d.session_id AND c.id = d.depends_on AND c.status = 'completed')
      )
      SELECT w.group_id FROM waits w WHERE (
        SELECT status = 'in_progress' AND open_blocker IS NULL AND open_question IS NULL AND CASE CASE WHEN kind = 'chat' THEN 'chat' WHEN standing_seq IS NULL THEN 'never' WHEN standing_seq <= base_seq THEN 'reopened' WHEN (standing_effect = 'approve' AND standing_seq > base_seq) THEN 'approved' WHEN 1 THEN 'voided' END WHEN 'approved' THEN 1 ELSE 0 END AND CASE CASE WHEN kind = 'chat' THEN 'chat' WHEN kind = 'research' THEN 'not_required' WHEN (submit_test_seq > base_seq OR submit_review_seq > base_seq) IS NOT 1 THEN 'no_submission' WHEN test_fail_seq > base_seq AND (test_pass_seq IS NULL OR test_fail_seq > test_pass_seq) THEN 'open_test_fail' WHEN submit_test_seq > base_seq AND passed_seq IS NOT NULL THEN 'test_pass' WHEN testing_mode IN ('minimal', 'disabled') THEN 'testing_mode' WHEN ((submit_test_seq > base_seq) IS NOT 1 AND (qa_seq > base_seq) IS NOT 1) THEN 'qa_not_asked' WHEN qa_answer_effect IN ('block', 'inconclusive') AND qa_answer_seq > base_seq AND (standing_effect = 'approve' AND standing_seq > base_seq) THEN 'unfinished_accepted' WHEN submit_test_seq > base_seq AND (qa_answer_seq > submit_test_seq) IS NOT 1 THEN 'qa_unanswered' WHEN 1 THEN 'no_test_pass' END WHEN 'not_required' THEN 1 WHEN 'test_pass' THEN 1 WHEN 'testing_mode' THEN 1 WHEN 'qa_not_asked' THEN 1 WHEN 'unfinished_accepted' THEN 1 ELSE 0 END AND CASE CASE WHEN kind = 'chat' THEN 'chat' WHEN kind = 'research' THEN 'not_required' WHEN merge_seq IS NULL THEN 'never' WHEN merge_seq <= base_seq THEN 'reopened' WHEN (standing_effect = 'approve' AND standing_seq > base_seq) AND merge_seq > standing_seq THEN 'merged' WHEN (standing_effect = 'approve' AND standing_seq > base_seq) THEN 'before_approval' WHEN 1 THEN 'voided' END WHEN 'not_required' THEN 1 WHEN 'merged' THEN 1 ELSE 0 END AND CASE CASE WHEN kind = 'chat' THEN 'chat' WHEN kind = 'research' THEN 'not_required' WHEN mandatory_seq IS NOT NULL AND (tech_lead_seq > mandatory_seq) IS NOT 1 THEN 'no_review' WHEN security_sensitive = 1 AND (tech_lead_seq > base_seq) IS NOT 1 THEN 'no_security_review' WHEN mandatory_seq IS NULL AND security_sensitive = 0 THEN 'not_required' WHEN 1 THEN 'reviewed' END WHEN 'not_required' THEN 1 WHEN 'not_required' THEN 1 WHEN 'reviewed' THEN 1 ELSE 0 END FROM (
          SELECT DISTINCT kind, status, security_sensitive, testing_mode, base_seq, standing_seq, standing_effect, merge_seq, submit_test_seq, submit_review_seq, test_pass_seq, test_fail_seq, passed_seq, qa_seq, qa_answer_seq, qa_answer_effect, tech_lead_seq, mandatory_seq, open_blocker, open_question
          FROM group_marks k WHERE k.session_id = m.session_id AND k.group_id = w.group_id
        )
      ) IS NOT 1 LIMIT 1
    ) AS waits_on
  FROM group_marks m
);

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
    CASE WHEN CASE merged_why WHEN 'not_required' THEN 1 WHEN 'merged' THEN 1 ELSE 0 END THEN 1 ELSE 0 END AS merged_met,
    merged_why AS merged_why,
    CASE merged_why WHEN 'reopened' THEN base_seq WHEN 'merged' THEN merge_seq WHEN 'before_approval' THEN merge_seq WHEN 'voided' THEN standing_seq END AS merged_seq,
    CASE WHEN CASE unblocked_why WHEN 'clear' THEN 1 ELSE 0 END THEN 1 ELSE 0 END AS unblocked_met,
    unblocked_why AS unblocked_why,
    CASE unblocked_why WHEN 'open_blocker' THEN (SELECT b.opened_seq FROM blockers b WHERE b.id = open_blocker) WHEN 'open_question' THEN (SELECT q.opened_seq FROM questions q WHERE q.id = open_question) WHEN 'dependency' THEN (SELECT d.seq FROM group_dependencies d WHERE d.session_id = p.session_id AND d.group_id = p.group_id AND d.depends_on = waits_on AND d.removed_seq IS NULL) WHEN 'clear' THEN resolved_seq END AS unblocked_seq,
    CASE WHEN CASE reviewed_why WHEN 'not_required' THEN 1 WHEN 'not_required' THEN 1 WHEN 'reviewed' THEN 1 ELSE 0 END THEN 1 ELSE 0 END AS reviewed_met,
    reviewed_why AS reviewed_why,
    CASE reviewed_why WHEN 'no_review' THEN mandatory_seq WHEN 'reviewed' THEN tech_lead_seq END AS reviewed_seq,
    CASE WHEN CASE confirmed_why WHEN 'not_required' THEN 1 WHEN 'confirmed' THEN 1 WHEN 'acknowledged' THEN 1 ELSE 0 END THEN 1 ELSE 0 END AS confirmed_met,
    confirmed_why AS confirmed_why,
    CASE confirmed_why WHEN 'confirmed' THEN confirm_seq WHEN 'acknowledged' THEN acknowledged_seq WHEN 'not_confirmed' THEN resolved_seq END AS confirmed_seq,
    CASE unblocked_why WHEN 'open_blocker' THEN open_blocker WHEN 'open_question' THEN open_question WHEN 'dependency' THEN waits_on END AS unblocked_ref,
    CASE WHEN (SELECT 1) AND (CASE approved_why WHEN 'approved' THEN 1 ELSE 0 END AND CASE tested_why WHEN 'not_required' THEN 1 WHEN 'test_pass' THEN 1 WHEN 'testing_mode' THEN 1 WHEN 'qa_not_asked' THEN 1 WHEN 'unfinished_accepted' THEN 1 ELSE 0 END AND CASE merged_why WHEN 'not_required' THEN 1 WHEN 'merged' THEN 1 ELSE 0 END AND CASE unblocked_why WHEN 'clear' THEN 1 ELSE 0 END AND CASE reviewed_why WHEN 'not_required' THEN 1 WHEN 'not_required' THEN 1 WHEN 'reviewed' THEN 1 ELSE 0 END AND CASE confirmed_why WHEN 'not_required' THEN 1 WHEN 'confirmed' THEN 1 WHEN 'acknowledged' THEN 1 ELSE 0 END) THEN 1 ELSE 0 END AS chain,
    CASE WHEN (SELECT 1) AND (confirm_acknowledged AND confirm_seq > base_seq AND CASE unblocked_why WHEN 'clear' THEN 1 ELSE 0 END AND (standing_seq IS NULL OR standing_seq <= confirm_seq) AND (merge_seq IS NULL OR merge_seq <= confirm_seq) AND (manager_seq IS NULL OR manager_seq <= confirm_seq)) THEN 1 ELSE 0 END AS pm_path,
    CASE WHEN (SELECT 1) AND ((CASE approved_why WHEN 'approved' THEN 1 ELSE 0 END AND CASE tested_why WHEN 'not_required' THEN 1 WHEN 'test_pass' THEN 1 WHEN 'testing_mode' THEN 1 WHEN 'qa_not_asked' THEN 1 WHEN 'unfinished_accepted' THEN 1 ELSE 0 END AND CASE merged_why WHEN 'not_required' THEN 1 WHEN 'merged' THEN 1 ELSE 0 END AND CASE unblocked_why WHEN 'clear' THEN 1 ELSE 0 END AND CASE reviewed_why WHEN 'not_required' THEN 1 WHEN 'not_required' THEN 1 WHEN 'reviewed' THEN 1 ELSE 0 END AND CASE confirmed_why WHEN 'not_required' THEN 1 WHEN 'confirmed' THEN 1 WHEN 'acknowledged' THEN 1 ELSE 0 END) OR (confirm_acknowledged AND confirm_seq > base_seq AND CASE unblocked_why WHEN 'clear' THEN 1 ELSE 0 END AND (standing_seq IS NULL OR standing_seq <= confirm_seq) AND (merge_seq IS NULL OR merge_seq <= confirm_seq) AND (manager_seq IS NULL OR manager_seq <= confirm_seq))) THEN 1 ELSE 0 END AS valid,
    CASE WHEN kind = 'chat' THEN 'closed' WHEN CASE approved_why WHEN 'approved' THEN 1 ELSE 0 END = 0 THEN 'approved' WHEN CASE tested_why WHEN 'not_required' THEN 1 WHEN 'test_pass' THEN 1 WHEN 'testing_mode' THEN 1 WHEN 'qa_not_asked' THEN 1 WHEN 'unfinished_accepted' THEN 1 ELSE 0 END = 0 THEN 'tested' WHEN CASE merged_why WHEN 'not_required' THEN 1 WHEN 'merged' THEN 1 ELSE 0 END = 0 THEN 'merged' WHEN CASE unblocked_why WHEN 'clear' THEN 1 ELSE 0 END = 0 THEN 'unblocked' WHEN CASE reviewed_why WHEN 'not_required' THEN 1 WHEN 'not_required' THEN 1 WHEN 'reviewed' THEN 1 ELSE 0 END = 0 THEN 'reviewed' WHEN CASE confirmed_why WHEN 'not_required' THEN 1 WHEN 'confirmed' THEN 1 WHEN 'acknowledged' THEN 1 ELSE 0 END = 0 THEN 'confirmed' END AS missing,
    CASE WHEN (SELECT 1) AND (status = 'in_progress' AND CASE approved_why WHEN 'approved' THEN 1 ELSE 0 END AND CASE tested_why WHEN 'not_required' THEN 1 WHEN 'test_pass' THEN 1 WHEN 'testing_mode' THEN 1 WHEN 'qa_not_asked' THEN 1 WHEN 'unfinished_accepted' THEN 1 ELSE 0 END AND CASE merged_why WHEN 'not_required' THEN 1 WHEN 'merged' THEN 1 ELSE 0 END AND CASE unblocked_why WHEN 'clear' THEN 1 ELSE 0 END AND CASE reviewed_why WHEN 'not_required' THEN 1 WHEN 'not_required' THEN 1 WHEN 'reviewed' THEN 1 ELSE 0 END AND confirmed_why = 'not_confirmed') THEN 1 ELSE 0 END AS awaiting_confirmation,
    CASE WHEN blocker_seq IS NOT NULL THEN 1 ELSE 0 END AS ever_blocked
FROM (
  SELECT DISTINCT j.*,
    CASE WHEN kind = 'chat' THEN 'chat' WHEN blocker_seq IS NULL AND tested_why <> 'unfinished_accepted' THEN 'not_required' WHEN open_blocker IS NULL AND (resolved_seq IS NULL OR confirm_seq > resolved_seq) AND ((kind = 'research' AND approved_why = 'approved' AND confirm_seq > standing_seq) OR (kind = 'code' AND merged_why = 'merged' AND confirm_seq > merge_seq)) THEN 'confirmed' WHEN open_blocker IS NULL AND (resolved_seq IS NULL OR acknowledged_seq > resolved_seq) AND ((kind = 'research' AND approved_why = 'approved' AND acknowledged_seq > standing_seq) OR (kind = 'code' AND merged_why = 'merged' AND acknowledged_seq > merge_seq)) THEN 'acknowledged' WHEN 1 THEN 'not_confirmed' END AS confirmed_why
  FROM group_reasons j
) p;

CREATE VIEW completion_claims AS
SELECT NULL AS session_id, NULL AS group_id, NULL AS from_status, NULL AS changed_by, NULL AS seq, NULL AS missing WHERE 0;

CREATE TRIGGER agents_insert_needs_orchestrator BEFORE INSERT ON agents
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER agents_update_needs_orchestrator BEFORE UPDATE ON agents
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER agents_id_is_taken_once BEFORE INSERT ON agents
WHEN EXISTS (SELECT 1 FROM agents t WHERE t.id = NEW.id)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: agents has a row with this id');
END;

CREATE TRIGGER agents_are_never_deleted BEFORE DELETE ON agents
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of agents stay');
END;

CREATE TRIGGER audit_events_insert_needs_orchestrator BEFORE INSERT ON audit_events
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER audit_events_update_needs_orchestrator BEFORE UPDATE ON audit_events
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER audit_events_rowid_is_taken_once BEFORE INSERT ON audit_events
WHEN EXISTS (SELECT 1 FROM audit_events t WHERE t.rowid = NEW.rowid)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: audit_events has a row with this rowid');
END;

CREATE TRIGGER audit_events_session_id_seq_is_taken_once BEFORE INSERT ON audit_events
WHEN EXISTS (SELECT 1 FROM audit_events t WHERE t.session_id = NEW.session_id AND t.seq = NEW.seq)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: audit_events has a row with this session_id, seq');
END;

CREATE TRIGGER audit_events_are_never_deleted BEFORE DELETE ON audit_events
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of audit_events stay');
END;

CREATE TRIGGER audit_events_are_never_changed BEFORE UPDATE ON audit_events
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: rows of audit_events stay as they were written');
END;

CREATE TRIGGER refusals_insert_needs_orchestrator BEFORE INSERT ON refusals
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER refusals_update_needs_orchestrator BEFORE UPDATE ON refusals
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER refusals_rowid_is_taken_once BEFORE INSERT ON refusals
WHEN EXISTS (SELECT 1 FROM refusals t WHERE t.rowid = NEW.rowid)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: refusals has a row with this rowid');
END;

CREATE TRIGGER refusals_session_id_seq_part_is_taken_once BEFORE INSERT ON refusals
WHEN EXISTS (SELECT 1 FROM refusals t WHERE t.session_id = NEW.session_id AND t.seq = NEW.seq AND t.part = NEW.part)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: refusals has a row with this session_id, seq, part');
END;

CREATE TRIGGER refusals_are_never_deleted BEFORE DELETE ON refusals
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of refusals stay');
END;

CREATE TRIGGER refusals_are_never_changed BEFORE UPDATE ON refusals
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: rows of refusals stay as they were written');
END;

CREATE TRIGGER requests_insert_needs_orchestrator BEFORE INSERT ON requests
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER requests_update_needs_orchestrator BEFORE UPDATE ON requests
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER requests_session_id_request_id_is_taken_once BEFORE INSERT ON requests
WHEN EXISTS (SELECT 1 FROM requests t WHERE t.session_id = NEW.session_id AND t.request_id = NEW.request_id)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: requests has a row with this session_id, request_id');
END;

CREATE TRIGGER requests_are_never_deleted BEFORE DELETE ON requests
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of requests stay');
END;

CREATE TRIGGER requests_are_never_changed BEFORE UPDATE ON requests
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: rows of requests stay as they were written');
END;

CREATE TRIGGER status_changes_insert_needs_orchestrator BEFORE INSERT ON status_changes
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER status_changes_update_needs_orchestrator BEFORE UPDATE ON status_changes
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER status_changes_session_id_seq_part_is_taken_once BEFORE INSERT ON status_changes
WHEN EXISTS (SELECT 1 FROM status_changes t WHERE t.session_id = NEW.session_id AND t.seq = NEW.seq AND t.part = NEW.part)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: status_changes has a row with this session_id, seq, part');
END;

CREATE TRIGGER status_changes_are_never_deleted BEFORE DELETE ON status_changes
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of status_changes stay');
END;

CREATE TRIGGER status_changes_are_never_changed BEFORE UPDATE ON status_changes
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: rows of status_changes stay as they were written');
END;

CREATE TRIGGER texts_insert_needs_orchestrator BEFORE INSERT ON texts
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER texts_update_needs_orchestrator BEFORE UPDATE ON texts
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER texts_hash_is_taken_once BEFORE INSERT ON texts
WHEN EXISTS (SELECT 1 FROM texts t WHERE t.hash = NEW.hash)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: texts has a row with this hash');
END;

CREATE TRIGGER texts_rowid_is_taken_once BEFORE INSERT ON texts
WHEN EXISTS (SELECT 1 FROM texts t WHERE t.rowid = NEW.rowid)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: texts has a row with this rowid');
END;

CREATE TRIGGER texts_are_never_deleted BEFORE DELETE ON texts
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of texts stay');
END;

CREATE TRIGGER texts_are_never_changed BEFORE UPDATE ON texts
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: rows of texts stay as they were written');
END;

CREATE TRIGGER workflow_versions_insert_needs_orchestrator BEFORE INSERT ON workflow_versions
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER workflow_versions_update_needs_orchestrator BEFORE UPDATE ON workflow_versions
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER workflow_versions_hash_is_taken_once BEFORE INSERT ON workflow_versions
WHEN EXISTS (SELECT 1 FROM workflow_versions t WHERE t.hash = NEW.hash)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: workflow_versions has a row with this hash');
END;

CREATE TRIGGER workflow_versions_id_is_taken_once BEFORE INSERT ON workflow_versions
WHEN EXISTS (SELECT 1 FROM workflow_versions t WHERE t.id = NEW.id)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: workflow_versions has a row with this id');
END;

CREATE TRIGGER workflow_versions_are_never_deleted BEFORE DELETE ON workflow_versions
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of workflow_versions stay');
END;

CREATE TRIGGER workflow_versions_are_never_changed BEFORE UPDATE ON workflow_versions
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: rows of workflow_versions stay as they were written');
END;

CREATE TRIGGER agent_files_insert_needs_orchestrator BEFORE INSERT ON agent_files
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER agent_files_update_needs_orchestrator BEFORE UPDATE ON agent_files
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER agent_files_rowid_is_taken_once BEFORE INSERT ON agent_files
WHEN EXISTS (SELECT 1 FROM agent_files t WHERE t.rowid = NEW.rowid)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: agent_files has a row with this rowid');
END;

CREATE TRIGGER agent_files_workflow_version_id_name_is_taken_once BEFORE INSERT ON agent_files
WHEN EXISTS (SELECT 1 FROM agent_files t WHERE t.workflow_version_id = NEW.workflow_version_id AND t.name = NEW.name)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: agent_files has a row with this workflow_version_id, name');
END;

CREATE TRIGGER agent_files_are_never_deleted BEFORE DELETE ON agent_files
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of agent_files stay');
END;

CREATE TRIGGER agent_files_are_never_changed BEFORE UPDATE ON agent_files
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: rows of agent_files stay as they were written');
END;

CREATE TRIGGER sessions_insert_needs_orchestrator BEFORE INSERT ON sessions
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER sessions_update_needs_orchestrator BEFORE UPDATE ON sessions
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER sessions_id_is_taken_once BEFORE INSERT ON sessions
WHEN EXISTS (SELECT 1 FROM sessions t WHERE t.id = NEW.id)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: sessions has a row with this id');
END;

CREATE TRIGGER sessions_are_never_deleted BEFORE DELETE ON sessions
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of sessions stay');
END;

CREATE TRIGGER workflow_activations_insert_needs_orchestrator BEFORE INSERT ON workflow_activations
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER workflow_activations_update_needs_orchestrator BEFORE UPDATE ON workflow_activations
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER workflow_activations_seq_is_taken_once BEFORE INSERT ON workflow_activations
WHEN EXISTS (SELECT 1 FROM workflow_activations t WHERE t.seq = NEW.seq)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: workflow_activations has a row with this seq');
END;

CREATE TRIGGER workflow_activations_are_never_deleted BEFORE DELETE ON workflow_activations
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of workflow_activations stay');
END;

CREATE TRIGGER workflow_activations_are_never_changed BEFORE UPDATE ON workflow_activations
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: rows of workflow_activations stay as they were written');
END;

CREATE TRIGGER workflow_transitions_insert_needs_orchestrator BEFORE INSERT ON workflow_transitions
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER workflow_transitions_update_needs_orchestrator BEFORE UPDATE ON workflow_transitions
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER workflow_transitions_workflow_version_id_current_agent_response_status_is_taken_once BEFORE INSERT ON workflow_transitions
WHEN EXISTS (SELECT 1 FROM workflow_transitions t WHERE t.workflow_version_id = NEW.workflow_version_id AND t.current_agent = NEW.current_agent AND t.response_status = NEW.response_status)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: workflow_transitions has a row with this workflow_version_id, current_agent, response_status');
END;

CREATE TRIGGER workflow_transitions_are_never_deleted BEFORE DELETE ON workflow_transitions
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of workflow_transitions stay');
END;

CREATE TRIGGER workflow_transitions_are_never_changed BEFORE UPDATE ON workflow_transitions
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: rows of workflow_transitions stay as they were written');
END;

CREATE TRIGGER acknowledgements_insert_needs_orchestrator BEFORE INSERT ON acknowledgements
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER acknowledgements_update_needs_orchestrator BEFORE UPDATE ON acknowledgements
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER acknowledgements_session_id_seq_part_is_taken_once BEFORE INSERT ON acknowledgements
WHEN EXISTS (SELECT 1 FROM acknowledgements t WHERE t.session_id = NEW.session_id AND t.seq = NEW.seq AND t.part = NEW.part)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: acknowledgements has a row with this session_id, seq, part');
END;

CREATE TRIGGER acknowledgements_are_never_deleted BEFORE DELETE ON acknowledgements
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of acknowledgements stay');
END;

CREATE TRIGGER acknowledgements_are_never_changed BEFORE UPDATE ON acknowledgements
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: rows of acknowledgements stay as they were written');
END;

CREATE TRIGGER agent_reports_insert_needs_orchestrator BEFORE INSERT ON agent_reports
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER agent_reports_update_needs_orchestrator BEFORE UPDATE ON agent_reports
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER agent_reports_rowid_is_taken_once BEFORE INSERT ON agent_reports
WHEN EXISTS (SELECT 1 FROM agent_reports t WHERE t.rowid = NEW.rowid)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: agent_reports has a row with this rowid');
END;

CREATE TRIGGER agent_reports_session_id_seq_part_is_taken_once BEFORE INSERT ON agent_reports
WHEN EXISTS (SELECT 1 FROM agent_reports t WHERE t.session_id = NEW.session_id AND t.seq = NEW.seq AND t.part = NEW.part)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: agent_reports has a row with this session_id, seq, part');
END;

CREATE TRIGGER agent_reports_are_never_deleted BEFORE DELETE ON agent_reports
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of agent_reports stay');
END;

CREATE TRIGGER agent_reports_are_never_changed BEFORE UPDATE ON agent_reports
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: rows of agent_reports stay as they were written');
END;

CREATE TRIGGER blockers_insert_needs_orchestrator BEFORE INSERT ON blockers
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER blockers_update_needs_orchestrator BEFORE UPDATE ON blockers
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER blockers_id_is_taken_once BEFORE INSERT ON blockers
WHEN EXISTS (SELECT 1 FROM blockers t WHERE t.id = NEW.id)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: blockers has a row with this id');
END;

CREATE TRIGGER blockers_are_never_deleted BEFORE DELETE ON blockers
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of blockers stay');
END;

CREATE TRIGGER context_items_insert_needs_orchestrator BEFORE INSERT ON context_items
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER context_items_update_needs_orchestrator BEFORE UPDATE ON context_items
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER context_items_session_id_group_id_name_seq_is_taken_once BEFORE INSERT ON context_items
WHEN EXISTS (SELECT 1 FROM context_items t WHERE t.session_id = NEW.session_id AND t.group_id = NEW.group_id AND t.name = NEW.name AND t.seq = NEW.seq)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: context_items has a row with this session_id, group_id, name, seq');
END;

CREATE TRIGGER context_items_are_never_deleted BEFORE DELETE ON context_items
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of context_items stay');
END;

CREATE TRIGGER context_items_are_never_changed BEFORE UPDATE ON context_items
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: rows of context_items stay as they were written');
END;

CREATE TRIGGER handoffs_insert_needs_orchestrator BEFORE INSERT ON handoffs
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER handoffs_update_needs_orchestrator BEFORE UPDATE ON handoffs
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER handoffs_rowid_is_taken_once BEFORE INSERT ON handoffs
WHEN EXISTS (SELECT 1 FROM handoffs t WHERE t.rowid = NEW.rowid)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: handoffs has a row with this rowid');
END;

CREATE TRIGGER handoffs_session_id_group_id_turn_is_taken_once BEFORE INSERT ON handoffs
WHEN EXISTS (SELECT 1 FROM handoffs t WHERE t.session_id = NEW.session_id AND t.group_id = NEW.group_id AND t.turn = NEW.turn)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: handoffs has a row with this session_id, group_id, turn');
END;

CREATE TRIGGER handoffs_are_never_deleted BEFORE DELETE ON handoffs
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of handoffs stay');
END;

CREATE TRIGGER handoffs_are_never_changed BEFORE UPDATE ON handoffs
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: rows of handoffs stay as they were written');
END;

CREATE TRIGGER questions_insert_needs_orchestrator BEFORE INSERT ON questions
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER questions_update_needs_orchestrator BEFORE UPDATE ON questions
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER questions_id_is_taken_once BEFORE INSERT ON questions
WHEN EXISTS (SELECT 1 FROM questions t WHERE t.id = NEW.id)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: questions has a row with this id');
END;

CREATE TRIGGER questions_are_never_deleted BEFORE DELETE ON questions
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of questions stay');
END;

CREATE TRIGGER router_decisions_insert_needs_orchestrator BEFORE INSERT ON router_decisions
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER router_decisions_update_needs_orchestrator BEFORE UPDATE ON router_decisions
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER router_decisions_rowid_is_taken_once BEFORE INSERT ON router_decisions
WHEN EXISTS (SELECT 1 FROM router_decisions t WHERE t.rowid = NEW.rowid)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: router_decisions has a row with this rowid');
END;

CREATE TRIGGER router_decisions_session_id_seq_part_is_taken_once BEFORE INSERT ON router_decisions
WHEN EXISTS (SELECT 1 FROM router_decisions t WHERE t.session_id = NEW.session_id AND t.seq = NEW.seq AND t.part = NEW.part)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: router_decisions has a row with this session_id, seq, part');
END;

CREATE TRIGGER router_decisions_are_never_deleted BEFORE DELETE ON router_decisions
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of router_decisions stay');
END;

CREATE TRIGGER router_decisions_are_never_changed BEFORE UPDATE ON router_decisions
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: rows of router_decisions stay as they were written');
END;

CREATE TRIGGER task_groups_insert_needs_orchestrator BEFORE INSERT ON task_groups
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER task_groups_update_needs_orchestrator BEFORE UPDATE OF session_id, id, name, kind, security_sensitive, complexity, priority, created_by, created_at, created_seq, awaited_role, awaited_agent_id, awaited_action, turn, awaited_since, held, held_seq, held_part, qa_attempts, tl_review_attempts, merge_attempts, iterations, senior, builder_role, builder_agent_id, progress_seq, answered_seq ON task_groups
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER task_groups_session_id_id_is_taken_once BEFORE INSERT ON task_groups
WHEN EXISTS (SELECT 1 FROM task_groups t WHERE t.session_id = NEW.session_id AND t.id = NEW.id)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: task_groups has a row with this session_id, id');
END;

CREATE TRIGGER task_groups_are_never_deleted BEFORE DELETE ON task_groups
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of task_groups stay');
END;

CREATE TRIGGER deferrals_insert_needs_orchestrator BEFORE INSERT ON deferrals
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER deferrals_update_needs_orchestrator BEFORE UPDATE ON deferrals
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER deferrals_session_id_seq_is_taken_once BEFORE INSERT ON deferrals
WHEN EXISTS (SELECT 1 FROM deferrals t WHERE t.session_id = NEW.session_id AND t.seq = NEW.seq)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: deferrals has a row with this session_id, seq');
END;

CREATE TRIGGER deferrals_are_never_deleted BEFORE DELETE ON deferrals
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of deferrals stay');
END;

CREATE TRIGGER deferrals_are_never_changed BEFORE UPDATE ON deferrals
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: rows of deferrals stay as they were written');
END;

CREATE TRIGGER group_dependencies_insert_needs_orchestrator BEFORE INSERT ON group_dependencies
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER group_dependencies_update_needs_orchestrator BEFORE UPDATE ON group_dependencies
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER group_dependencies_session_id_group_id_depends_on_seq_is_taken_once BEFORE INSERT ON group_dependencies
WHEN EXISTS (SELECT 1 FROM group_dependencies t WHERE t.session_id = NEW.session_id AND t.group_id = NEW.group_id AND t.depends_on = NEW.depends_on AND t.seq = NEW.seq)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: group_dependencies has a row with this session_id, group_id, depends_on, seq');
END;

CREATE TRIGGER group_dependencies_are_never_deleted BEFORE DELETE ON group_dependencies
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of group_dependencies stay');
END;

CREATE TRIGGER sessions_begin_active BEFORE INSERT ON sessions
WHEN NEW.status IS NOT 'active'
BEGIN
  SELECT RAISE(ABORT, 'ILLEGAL_MOVE: a session begins as active');
END;

CREATE TRIGGER sessions_moves_are_recorded BEFORE UPDATE OF status ON sessions
WHEN NEW.status IS NOT OLD.status AND ((OLD.status = 'active' AND NEW.status = 'paused') OR (OLD.status = 'paused' AND NEW.status = 'active') OR (OLD.status = 'active' AND NEW.status = 'ended') OR (OLD.status = 'paused' AND NEW.status = 'ended')) AND NOT (NEW.status_seq >= OLD.status_seq AND EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.id AND c.entity = 'session' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by))
BEGIN
  SELECT RAISE(ABORT, 'STATUS_CHANGE_MISSING: a move needs the status_changes row of its step');
END;

CREATE TRIGGER sessions_moves_are_legal BEFORE UPDATE OF status ON sessions
WHEN NEW.status IS NOT OLD.status AND NOT ((OLD.status = 'active' AND NEW.status = 'paused') OR (OLD.status = 'paused' AND NEW.status = 'active') OR (OLD.status = 'active' AND NEW.status = 'ended') OR (OLD.status = 'paused' AND NEW.status = 'ended'))
BEGIN
  SELECT RAISE(ABORT, 'ILLEGAL_MOVE: a session does not go from its status to this one');
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

CREATE TRIGGER blockers_are_closed_whole BEFORE UPDATE OF resolved_at, resolved_by, resolution, resolution_note ON blockers
WHEN OLD.resolved_seq IS NULL AND NEW.resolved_seq IS NULL AND (NEW.resolved_at IS NOT NULL OR NEW.resolved_by IS NOT NULL OR NEW.resolution IS NOT NULL OR NEW.resolution_note IS NOT NULL)
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

CREATE TRIGGER questions_are_closed_whole BEFORE UPDATE OF decision, closed_at, closed_by, answer, note, channel ON questions
WHEN OLD.closed_seq IS NULL AND NEW.closed_seq IS NULL AND (NEW.decision IS NOT NULL OR NEW.closed_at IS NOT NULL OR NEW.closed_by IS NOT NULL OR NEW.answer IS NOT NULL OR NEW.note IS NOT NULL OR NEW.channel IS NOT NULL)
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

CREATE TRIGGER task_groups_begin_pending BEFORE INSERT ON task_groups
WHEN NEW.status IS NOT 'pending' AND NOT (NEW.status = 'in_progress' AND NEW.kind = 'chat')
BEGIN
  SELECT RAISE(ABORT, 'ILLEGAL_MOVE: a group begins as pending, or a chat group as in_progress');
END;

CREATE TRIGGER task_groups_completed_needs_approved INSTEAD OF INSERT ON completion_claims
WHEN NEW.missing = 'approved'
BEGIN
  SELECT RAISE(ABORT, 'COMPLETION_PATH_MISSING: approved is not met: tech_lead APPROVED + MERGE_SUCCESS, or project_manager BAZINGA acknowledging the group');
END;

CREATE TRIGGER task_groups_completed_needs_tested INSTEAD OF INSERT ON completion_claims
WHEN NEW.missing = 'tested'
BEGIN
  SELECT RAISE(ABORT, 'COMPLETION_PATH_MISSING: tested is not met: tech_lead APPROVED + MERGE_SUCCESS, or project_manager BAZINGA acknowledging the group');
END;

CREATE TRIGGER task_groups_completed_needs_merged INSTEAD OF INSERT ON completion_claims
WHEN NEW.missing = 'merged'
BEGIN
  SELECT RAISE(ABORT, 'COMPLETION_PATH_MISSING: merged is not met: tech_lead APPROVED + MERGE_SUCCESS, or project_manager BAZINGA acknowledging the group');
END;

CREATE TRIGGER task_groups_completed_needs_unblocked INSTEAD OF INSERT ON completion_claims
WHEN NEW.missing = 'unblocked'
BEGIN
  SELECT RAISE(ABORT, 'COMPLETION_PATH_MISSING: unblocked is not met: tech_lead APPROVED + MERGE_SUCCESS, or project_manager BAZINGA acknowledging the group');
END;

CREATE TRIGGER task_groups_completed_needs_reviewed INSTEAD OF INSERT ON completion_claims
WHEN NEW.missing = 'reviewed'
BEGIN
  SELECT RAISE(ABORT, 'COMPLETION_PATH_MISSING: reviewed is not met: tech_lead APPROVED + MERGE_SUCCESS, or project_manager BAZINGA acknowledging the group');
END;

CREATE TRIGGER task_groups_completed_needs_confirmed INSTEAD OF INSERT ON completion_claims
WHEN NEW.missing = 'confirmed'
BEGIN
  SELECT RAISE(ABORT, 'COMPLETION_PATH_MISSING: confirmed is not met: tech_lead APPROVED + MERGE_SUCCESS, or project_manager BAZINGA acknowledging the group');
END;

CREATE TRIGGER task_groups_completed_needs_path INSTEAD OF INSERT ON completion_claims
WHEN NEW.missing IS NULL OR NEW.missing NOT IN ('approved', 'tested', 'merged', 'unblocked', 'reviewed', 'confirmed', 'nothing')
BEGIN
  SELECT RAISE(ABORT, 'COMPLETION_PATH_MISSING: the group has no completion path: tech_lead APPROVED + MERGE_SUCCESS, or project_manager BAZINGA acknowledging the group');
END;

CREATE TRIGGER task_groups_completed_needs_in_progress INSTEAD OF INSERT ON completion_claims
WHEN NEW.missing = 'nothing' AND NEW.from_status IS NOT 'in_progress'
BEGIN
  SELECT RAISE(ABORT, 'ILLEGAL_MOVE: a group is completed from in_progress only');
END;

CREATE TRIGGER task_groups_completed_needs_status_change INSTEAD OF INSERT ON completion_claims
WHEN NEW.missing = 'nothing' AND NOT EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'group' AND c.entity_id = NEW.group_id AND c.seq = NEW.seq AND c.from_status = NEW.from_status AND c.to_status = 'completed' AND c.changed_by = NEW.changed_by)
BEGIN
  SELECT RAISE(ABORT, 'STATUS_CHANGE_MISSING: a move needs the status_changes row of its step');
END;

CREATE TRIGGER task_groups_moves_are_recorded BEFORE UPDATE OF status ON task_groups
WHEN NEW.status IS NOT OLD.status AND NEW.status IS NOT 'completed' AND NEW.status <> 'deferred_external' AND ((OLD.status = 'pending' AND NEW.status = 'in_progress') OR (OLD.status = 'pending' AND NEW.status = 'cancelled') OR (OLD.status = 'in_progress' AND NEW.status = 'completed') OR (OLD.status = 'in_progress' AND NEW.status = 'deferred_external') OR (OLD.status = 'in_progress' AND NEW.status = 'cancelled') OR (OLD.status = 'deferred_external' AND NEW.status = 'in_progress') OR (OLD.status = 'deferred_external' AND NEW.status = 'cancelled') OR (OLD.status = 'completed' AND NEW.status = 'in_progress')) AND NOT EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'group' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by)
BEGIN
  SELECT RAISE(ABORT, 'STATUS_CHANGE_MISSING: a move needs the status_changes row of its step');
END;

CREATE TRIGGER task_groups_deferred_needs_deferral BEFORE UPDATE OF status ON task_groups
WHEN NEW.status = 'deferred_external' AND OLD.status = 'in_progress'
BEGIN
  SELECT CASE WHEN NOT EXISTS (SELECT 1 FROM deferrals d CROSS JOIN blockers b WHERE d.session_id = NEW.session_id AND d.seq = NEW.status_seq AND d.group_id = NEW.id AND b.id = d.blocker_id AND b.session_id = NEW.session_id AND b.group_id = NEW.id AND b.resolved_seq IS NULL AND b.external = 1) THEN RAISE(ABORT, 'DEFERRAL_NOT_CONFIRMED: deferred_external needs the deferral of its step, on an open external blocker')
    WHEN NOT EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'group' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by) THEN RAISE(ABORT, 'STATUS_CHANGE_MISSING: a move needs the status_changes row of its step') END;
END;

CREATE TRIGGER task_groups_moves_are_legal BEFORE UPDATE OF status ON task_groups
WHEN NEW.status IS NOT OLD.status AND NEW.status IS NOT 'completed' AND NOT ((OLD.status = 'pending' AND NEW.status = 'in_progress') OR (OLD.status = 'pending' AND NEW.status = 'cancelled') OR (OLD.status = 'in_progress' AND NEW.status = 'completed') OR (OLD.status = 'in_progress' AND NEW.status = 'deferred_external') OR (OLD.status = 'in_progress' AND NEW.status = 'cancelled') OR (OLD.status = 'deferred_external' AND NEW.status = 'in_progress') OR (OLD.status = 'deferred_external' AND NEW.status = 'cancelled') OR (OLD.status = 'completed' AND NEW.status = 'in_progress'))
BEGIN
  SELECT RAISE(ABORT, 'ILLEGAL_MOVE: a group does not go from its status to this one');
END;

CREATE TRIGGER task_groups_completed_is_claimed BEFORE UPDATE OF status ON task_groups
WHEN NEW.status IS NOT OLD.status AND NEW.status = 'completed'
BEGIN
  INSERT INTO completion_claims (session_id, group_id, from_status, changed_by, seq, missing)
  SELECT OLD.session_id, OLD.id, OLD.status, NEW.status_changed_by, NEW.status_seq,
    (SELECT CASE WHEN p.valid = 1 THEN 'nothing' ELSE p.missing END FROM completion_paths p
      WHERE p.session_id = OLD.session_id AND p.group_id = OLD.id);
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

CREATE TRIGGER task_groups_keys_are_fixed BEFORE UPDATE OF session_id, id, created_by, created_at, created_seq ON task_groups
WHEN (NEW.session_id IS NOT OLD.session_id OR NEW.id IS NOT OLD.id OR NEW.created_by IS NOT OLD.created_by OR NEW.created_at IS NOT OLD.created_at OR NEW.created_seq IS NOT OLD.created_seq)
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
