DROP VIEW group_marks;

DROP VIEW group_reasons;

DROP VIEW completion_paths;

CREATE INDEX ix_agents_standing ON agents (parent_id) WHERE session_id IS NULL;

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

CREATE INDEX ix_blockers_own ON blockers (session_id, group_id, opened_seq) WHERE task_id IS NULL;

CREATE INDEX ix_blockers_own_resolved ON blockers (session_id, group_id, resolved_seq) WHERE task_id IS NULL AND resolved_seq IS NOT NULL;

CREATE INDEX ix_blockers_task ON blockers (session_id, task_id, resolved_seq, opened_seq) WHERE task_id IS NOT NULL;

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
	CONSTRAINT ck_resume_points_status CHECK (status IN ('partial', 'blocked', 'failed')),
	CONSTRAINT ck_resume_points_class CHECK (class IN ('soft', 'hard')),
	CONSTRAINT fk_resume_points_session_id FOREIGN KEY(session_id) REFERENCES sessions (id)
)
 WITHOUT ROWID;

CREATE INDEX ix_resume_points_group ON resume_points (session_id, group_id, seq);

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
	CONSTRAINT ck_tasks_status CHECK (status IN ('backlog', 'todo', 'in_progress', 'blocked', 'done', 'cancelled')),
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
    (SELECT t.id FROM tasks t INDEXED BY ix_tasks_group WHERE t.session_id = g.session_id AND t.group_id = g.id AND t.status IN ('backlog', 'todo', 'in_progress', 'blocked') LIMIT 1) AS open_task,
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
    CASE WHEN kind = 'chat' THEN 'chat' WHEN kind = 'research' THEN 'not_required' WHEN merge_seq IS NULL THEN 'never' WHEN merge_seq <= base_seq THEN 'reopened' WHEN (standing_effect = 'approve' AND standing_seq > base_seq) AND merge_seq > standing_seq THEN 'merged' WHEN (standing_effect = 'approve' AND standing_seq > base_seq) THEN 'before_approval' WHEN 1 THEN 'voided' END AS merged_why,
    CASE WHEN kind = 'chat' THEN 'chat' WHEN open_blocker IS NOT NULL THEN 'open_blocker' WHEN open_question IS NOT NULL THEN 'open_question' WHEN open_task IS NOT NULL THEN 'open_task' WHEN no_task_done = 1 THEN 'no_task_done' WHEN waits_on IS NOT NULL THEN 'dependency' WHEN 1 THEN 'clear' END AS unblocked_why,
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
        SELECT status = 'in_progress' AND open_blocker IS NULL AND open_question IS NULL AND open_task IS NULL AND no_task_done = 0 AND CASE CASE WHEN kind = 'chat' THEN 'chat' WHEN standing_seq IS NULL THEN 'never' WHEN standing_seq <= base_seq THEN 'reopened' WHEN (standing_effect = 'approve' AND standing_seq > base_seq) THEN 'approved' WHEN 1 THEN 'voided' END WHEN 'approved' THEN 1 ELSE 0 END AND CASE CASE WHEN kind = 'chat' THEN 'chat' WHEN kind = 'research' THEN 'not_required' WHEN (submit_test_seq > base_seq OR submit_review_seq > base_seq) IS NOT 1 THEN 'no_submission' WHEN test_fail_seq > base_seq AND (test_pass_seq IS NULL OR test_fail_seq > test_pass_seq) THEN 'open_test_fail' WHEN submit_test_seq > base_seq AND passed_seq IS NOT NULL THEN 'test_pass' WHEN testing_mode IN ('minimal', 'disabled') THEN 'testing_mode' WHEN ((submit_test_seq > base_seq) IS NOT 1 AND (qa_seq > base_seq) IS NOT 1) THEN 'qa_not_asked' WHEN qa_answer_effect IN ('block', 'inconclusive') AND qa_answer_seq > base_seq AND (standing_effect = 'approve' AND standing_seq > base_seq) THEN 'unfinished_accepted' WHEN submit_test_seq > base_seq AND (qa_answer_seq > submit_test_seq) IS NOT 1 THEN 'qa_unanswered' WHEN 1 THEN 'no_test_pass' END WHEN 'not_required' THEN 1 WHEN 'test_pass' THEN 1 WHEN 'testing_mode' THEN 1 WHEN 'qa_not_asked' THEN 1 WHEN 'unfinished_accepted' THEN 1 ELSE 0 END AND CASE CASE WHEN kind = 'chat' THEN 'chat' WHEN kind = 'research' THEN 'not_required' WHEN merge_seq IS NULL THEN 'never' WHEN merge_seq <= base_seq THEN 'reopened' WHEN (standing_effect = 'approve' AND standing_seq > base_seq) AND merge_seq > standing_seq THEN 'merged' WHEN (standing_effect = 'approve' AND standing_seq > base_seq) THEN 'before_approval' WHEN 1 THEN 'voided' END WHEN 'not_required' THEN 1 WHEN 'merged' THEN 1 ELSE 0 END AND CASE CASE WHEN kind = 'chat' THEN 'chat' WHEN kind = 'research' THEN 'not_required' WHEN mandatory_seq IS NOT NULL AND (tech_lead_seq > mandatory_seq) IS NOT 1 THEN 'no_review' WHEN security_sensitive = 1 AND (tech_lead_seq > base_seq) IS NOT 1 THEN 'no_security_review' WHEN mandatory_seq IS NULL AND security_sensitive = 0 THEN 'not_required' WHEN 1 THEN 'reviewed' END WHEN 'not_required' THEN 1 WHEN 'not_required' THEN 1 WHEN 'reviewed' THEN 1 ELSE 0 END FROM (
          SELECT DISTINCT kind, status, security_sensitive, testing_mode, base_seq, standing_seq, standing_effect, merge_seq, submit_test_seq, submit_review_seq, test_pass_seq, test_fail_seq, passed_seq, qa_seq, qa_answer_seq, qa_answer_effect, tech_lead_seq, mandatory_seq, open_blocker, open_question, open_task, no_task_done
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
    CASE unblocked_why WHEN 'open_blocker' THEN open_blocker WHEN 'open_question' THEN open_question WHEN 'open_task' THEN open_task WHEN 'dependency' THEN waits_on END AS unblocked_ref,
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

CREATE TRIGGER human_tokens_insert_needs_orchestrator BEFORE INSERT ON human_tokens
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER human_tokens_update_needs_orchestrator BEFORE UPDATE ON human_tokens
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER human_tokens_hash_is_taken_once BEFORE INSERT ON human_tokens
WHEN EXISTS (SELECT 1 FROM human_tokens t WHERE t.hash = NEW.hash)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: human_tokens has a row with this hash');
END;

CREATE TRIGGER human_tokens_id_is_taken_once BEFORE INSERT ON human_tokens
WHEN EXISTS (SELECT 1 FROM human_tokens t WHERE t.id = NEW.id)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: human_tokens has a row with this id');
END;

CREATE TRIGGER human_tokens_are_never_deleted BEFORE DELETE ON human_tokens
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of human_tokens stay');
END;

CREATE TRIGGER human_tokens_are_never_changed BEFORE UPDATE ON human_tokens
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: rows of human_tokens stay as they were written');
END;

CREATE TRIGGER resume_points_insert_needs_orchestrator BEFORE INSERT ON resume_points
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER resume_points_update_needs_orchestrator BEFORE UPDATE ON resume_points
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER resume_points_session_id_seq_is_taken_once BEFORE INSERT ON resume_points
WHEN EXISTS (SELECT 1 FROM resume_points t WHERE t.session_id = NEW.session_id AND t.seq = NEW.seq)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: resume_points has a row with this session_id, seq');
END;

CREATE TRIGGER resume_points_are_never_deleted BEFORE DELETE ON resume_points
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of resume_points stay');
END;

CREATE TRIGGER resume_points_are_never_changed BEFORE UPDATE ON resume_points
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: rows of resume_points stay as they were written');
END;

CREATE TRIGGER tasks_insert_needs_orchestrator BEFORE INSERT ON tasks
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER tasks_update_needs_orchestrator BEFORE UPDATE ON tasks
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER tasks_session_id_id_is_taken_once BEFORE INSERT ON tasks
WHEN EXISTS (SELECT 1 FROM tasks t WHERE t.session_id = NEW.session_id AND t.id = NEW.id)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: tasks has a row with this session_id, id');
END;

CREATE TRIGGER tasks_are_never_deleted BEFORE DELETE ON tasks
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of tasks stay');
END;

CREATE TRIGGER notices_insert_needs_orchestrator BEFORE INSERT ON notices
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER notices_update_needs_orchestrator BEFORE UPDATE ON notices
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER notices_session_id_seq_part_is_taken_once BEFORE INSERT ON notices
WHEN EXISTS (SELECT 1 FROM notices t WHERE t.session_id = NEW.session_id AND t.seq = NEW.seq AND t.part = NEW.part)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: notices has a row with this session_id, seq, part');
END;

CREATE TRIGGER notices_are_never_deleted BEFORE DELETE ON notices
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of notices stay');
END;

CREATE TRIGGER notices_are_never_changed BEFORE UPDATE ON notices
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: rows of notices stay as they were written');
END;

CREATE TRIGGER task_dependencies_insert_needs_orchestrator BEFORE INSERT ON task_dependencies
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER task_dependencies_update_needs_orchestrator BEFORE UPDATE ON task_dependencies
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER task_dependencies_session_id_task_id_depends_on_id_seq_is_taken_once BEFORE INSERT ON task_dependencies
WHEN EXISTS (SELECT 1 FROM task_dependencies t WHERE t.session_id = NEW.session_id AND t.task_id = NEW.task_id AND t.depends_on_id = NEW.depends_on_id AND t.seq = NEW.seq)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: task_dependencies has a row with this session_id, task_id, depends_on_id, seq');
END;

CREATE TRIGGER task_dependencies_are_never_deleted BEFORE DELETE ON task_dependencies
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of task_dependencies stay');
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

CREATE TRIGGER tasks_moves_are_legal BEFORE UPDATE OF status ON tasks
WHEN NEW.status IS NOT OLD.status AND NOT ((OLD.status = 'backlog' AND NEW.status = 'todo') OR (OLD.status = 'todo' AND NEW.status = 'backlog') OR (OLD.status = 'backlog' AND NEW.status = 'in_progress') OR (OLD.status = 'todo' AND NEW.status = 'in_progress') OR (OLD.status = 'in_progress' AND NEW.status = 'blocked') OR (OLD.status = 'blocked' AND NEW.status = 'in_progress') OR (OLD.status = 'in_progress' AND NEW.status = 'done') OR (OLD.status = 'backlog' AND NEW.status = 'cancelled') OR (OLD.status = 'todo' AND NEW.status = 'cancelled') OR (OLD.status = 'in_progress' AND NEW.status = 'cancelled') OR (OLD.status = 'blocked' AND NEW.status = 'cancelled') OR (OLD.status = 'backlog' AND NEW.status = 'blocked') OR (OLD.status = 'todo' AND NEW.status = 'blocked') OR (OLD.status = 'blocked' AND NEW.status = 'backlog') OR (OLD.status = 'blocked' AND NEW.status = 'todo') OR (OLD.status = 'in_progress' AND NEW.status = 'todo'))
BEGIN
  SELECT RAISE(ABORT, 'ILLEGAL_MOVE: a task does not go from its status to this one');
END;

CREATE TRIGGER tasks_moves_are_recorded BEFORE UPDATE OF status ON tasks
WHEN NEW.status IS NOT OLD.status AND ((OLD.status = 'backlog' AND NEW.status = 'todo') OR (OLD.status = 'todo' AND NEW.status = 'backlog') OR (OLD.status = 'backlog' AND NEW.status = 'in_progress') OR (OLD.status = 'todo' AND NEW.status = 'in_progress') OR (OLD.status = 'in_progress' AND NEW.status = 'blocked') OR (OLD.status = 'blocked' AND NEW.status = 'in_progress') OR (OLD.status = 'in_progress' AND NEW.status = 'done') OR (OLD.status = 'backlog' AND NEW.status = 'cancelled') OR (OLD.status = 'todo' AND NEW.status = 'cancelled') OR (OLD.status = 'in_progress' AND NEW.status = 'cancelled') OR (OLD.status = 'blocked' AND NEW.status = 'cancelled') OR (OLD.status = 'backlog' AND NEW.status = 'blocked') OR (OLD.status = 'todo' AND NEW.status = 'blocked') OR (OLD.status = 'blocked' AND NEW.status = 'backlog') OR (OLD.status = 'blocked' AND NEW.status = 'todo') OR (OLD.status = 'in_progress' AND NEW.status = 'todo')) AND NOT ((NOT ((OLD.status = 'backlog' AND NEW.status = 'todo') OR (OLD.status = 'todo' AND NEW.status = 'backlog') OR (OLD.status = 'backlog' AND NEW.status = 'in_progress') OR (OLD.status = 'todo' AND NEW.status = 'in_progress') OR (OLD.status = 'in_progress' AND NEW.status = 'blocked') OR (OLD.status = 'blocked' AND NEW.status = 'in_progress') OR (OLD.status = 'in_progress' AND NEW.status = 'done') OR (OLD.status = 'backlog' AND NEW.status = 'cancelled') OR (OLD.status = 'todo' AND NEW.status = 'cancelled') OR (OLD.status = 'in_progress' AND NEW.status = 'cancelled') OR (OLD.status = 'blocked' AND NEW.status = 'cancelled')) OR EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'task' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by_agent_id)) AND (NOT (OLD.status = 'backlog' AND NEW.status = 'blocked') OR EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'task' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by_agent_id AND c.cause IN ('cascade', 'dependency'))) AND (NOT (OLD.status = 'todo' AND NEW.status = 'blocked') OR EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'task' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by_agent_id AND c.cause IN ('cascade', 'dependency'))) AND (NOT (OLD.status = 'blocked' AND NEW.status = 'backlog') OR EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'task' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by_agent_id AND c.cause IN ('release'))) AND (NOT (OLD.status = 'blocked' AND NEW.status = 'todo') OR EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'task' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by_agent_id AND c.cause IN ('release'))) AND (NOT (OLD.status = 'in_progress' AND NEW.status = 'todo') OR EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'task' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by_agent_id AND c.cause IN ('claim_release'))))
BEGIN
  SELECT RAISE(ABORT, 'STATUS_CHANGE_MISSING: a move needs the status_changes row of its step');
END;

CREATE TRIGGER tasks_blocked_needs_blocker BEFORE UPDATE OF status ON tasks
WHEN NEW.status IS NOT OLD.status AND ((OLD.status = 'backlog' AND NEW.status = 'todo') OR (OLD.status = 'todo' AND NEW.status = 'backlog') OR (OLD.status = 'backlog' AND NEW.status = 'in_progress') OR (OLD.status = 'todo' AND NEW.status = 'in_progress') OR (OLD.status = 'in_progress' AND NEW.status = 'blocked') OR (OLD.status = 'blocked' AND NEW.status = 'in_progress') OR (OLD.status = 'in_progress' AND NEW.status = 'done') OR (OLD.status = 'backlog' AND NEW.status = 'cancelled') OR (OLD.status = 'todo' AND NEW.status = 'cancelled') OR (OLD.status = 'in_progress' AND NEW.status = 'cancelled') OR (OLD.status = 'blocked' AND NEW.status = 'cancelled') OR (OLD.status = 'backlog' AND NEW.status = 'blocked') OR (OLD.status = 'todo' AND NEW.status = 'blocked') OR (OLD.status = 'blocked' AND NEW.status = 'backlog') OR (OLD.status = 'blocked' AND NEW.status = 'todo') OR (OLD.status = 'in_progress' AND NEW.status = 'todo')) AND (NOT ((OLD.status = 'backlog' AND NEW.status = 'todo') OR (OLD.status = 'todo' AND NEW.status = 'backlog') OR (OLD.status = 'backlog' AND NEW.status = 'in_progress') OR (OLD.status = 'todo' AND NEW.status = 'in_progress') OR (OLD.status = 'in_progress' AND NEW.status = 'blocked') OR (OLD.status = 'blocked' AND NEW.status = 'in_progress') OR (OLD.status = 'in_progress' AND NEW.status = 'done') OR (OLD.status = 'backlog' AND NEW.status = 'cancelled') OR (OLD.status = 'todo' AND NEW.status = 'cancelled') OR (OLD.status = 'in_progress' AND NEW.status = 'cancelled') OR (OLD.status = 'blocked' AND NEW.status = 'cancelled')) OR EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'task' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by_agent_id)) AND (NOT (OLD.status = 'backlog' AND NEW.status = 'blocked') OR EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'task' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by_agent_id AND c.cause IN ('cascade', 'dependency'))) AND (NOT (OLD.status = 'todo' AND NEW.status = 'blocked') OR EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'task' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by_agent_id AND c.cause IN ('cascade', 'dependency'))) AND (NOT (OLD.status = 'blocked' AND NEW.status = 'backlog') OR EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'task' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by_agent_id AND c.cause IN ('release'))) AND (NOT (OLD.status = 'blocked' AND NEW.status = 'todo') OR EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'task' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by_agent_id AND c.cause IN ('release'))) AND (NOT (OLD.status = 'in_progress' AND NEW.status = 'todo') OR EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'task' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by_agent_id AND c.cause IN ('claim_release'))) AND NEW.status = 'blocked' AND NOT EXISTS (SELECT 1 FROM blockers b INDEXED BY ix_blockers_task WHERE b.session_id = NEW.session_id AND b.task_id = NEW.id AND b.resolved_seq IS NULL)
BEGIN
  SELECT RAISE(ABORT, 'BLOCKER_MISSING: a blocked task has an open blocker');
END;

CREATE TRIGGER tasks_released_without_blocker BEFORE UPDATE OF status ON tasks
WHEN NEW.status IS NOT OLD.status AND ((OLD.status = 'backlog' AND NEW.status = 'todo') OR (OLD.status = 'todo' AND NEW.status = 'backlog') OR (OLD.status = 'backlog' AND NEW.status = 'in_progress') OR (OLD.status = 'todo' AND NEW.status = 'in_progress') OR (OLD.status = 'in_progress' AND NEW.status = 'blocked') OR (OLD.status = 'blocked' AND NEW.status = 'in_progress') OR (OLD.status = 'in_progress' AND NEW.status = 'done') OR (OLD.status = 'backlog' AND NEW.status = 'cancelled') OR (OLD.status = 'todo' AND NEW.status = 'cancelled') OR (OLD.status = 'in_progress' AND NEW.status = 'cancelled') OR (OLD.status = 'blocked' AND NEW.status = 'cancelled') OR (OLD.status = 'backlog' AND NEW.status = 'blocked') OR (OLD.status = 'todo' AND NEW.status = 'blocked') OR (OLD.status = 'blocked' AND NEW.status = 'backlog') OR (OLD.status = 'blocked' AND NEW.status = 'todo') OR (OLD.status = 'in_progress' AND NEW.status = 'todo')) AND (NOT ((OLD.status = 'backlog' AND NEW.status = 'todo') OR (OLD.status = 'todo' AND NEW.status = 'backlog') OR (OLD.status = 'backlog' AND NEW.status = 'in_progress') OR (OLD.status = 'todo' AND NEW.status = 'in_progress') OR (OLD.status = 'in_progress' AND NEW.status = 'blocked') OR (OLD.status = 'blocked' AND NEW.status = 'in_progress') OR (OLD.status = 'in_progress' AND NEW.status = 'done') OR (OLD.status = 'backlog' AND NEW.status = 'cancelled') OR (OLD.status = 'todo' AND NEW.status = 'cancelled') OR (OLD.status = 'in_progress' AND NEW.status = 'cancelled') OR (OLD.status = 'blocked' AND NEW.status = 'cancelled')) OR EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'task' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by_agent_id)) AND (NOT (OLD.status = 'backlog' AND NEW.status = 'blocked') OR EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'task' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by_agent_id AND c.cause IN ('cascade', 'dependency'))) AND (NOT (OLD.status = 'todo' AND NEW.status = 'blocked') OR EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'task' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by_agent_id AND c.cause IN ('cascade', 'dependency'))) AND (NOT (OLD.status = 'blocked' AND NEW.status = 'backlog') OR EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'task' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by_agent_id AND c.cause IN ('release'))) AND (NOT (OLD.status = 'blocked' AND NEW.status = 'todo') OR EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'task' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by_agent_id AND c.cause IN ('release'))) AND (NOT (OLD.status = 'in_progress' AND NEW.status = 'todo') OR EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'task' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by_agent_id AND c.cause IN ('claim_release'))) AND NEW.status <> 'blocked' AND EXISTS (SELECT 1 FROM blockers b INDEXED BY ix_blockers_task WHERE b.session_id = NEW.session_id AND b.task_id = NEW.id AND b.resolved_seq IS NULL)
BEGIN
  SELECT RAISE(ABORT, 'UNBLOCK_NOT_PERMITTED: a task with an open blocker stays blocked');
END;

CREATE TRIGGER tasks_released_to_former_status BEFORE UPDATE OF status ON tasks
WHEN NEW.status IS NOT OLD.status AND ((OLD.status = 'backlog' AND NEW.status = 'todo') OR (OLD.status = 'todo' AND NEW.status = 'backlog') OR (OLD.status = 'backlog' AND NEW.status = 'in_progress') OR (OLD.status = 'todo' AND NEW.status = 'in_progress') OR (OLD.status = 'in_progress' AND NEW.status = 'blocked') OR (OLD.status = 'blocked' AND NEW.status = 'in_progress') OR (OLD.status = 'in_progress' AND NEW.status = 'done') OR (OLD.status = 'backlog' AND NEW.status = 'cancelled') OR (OLD.status = 'todo' AND NEW.status = 'cancelled') OR (OLD.status = 'in_progress' AND NEW.status = 'cancelled') OR (OLD.status = 'blocked' AND NEW.status = 'cancelled') OR (OLD.status = 'backlog' AND NEW.status = 'blocked') OR (OLD.status = 'todo' AND NEW.status = 'blocked') OR (OLD.status = 'blocked' AND NEW.status = 'backlog') OR (OLD.status = 'blocked' AND NEW.status = 'todo') OR (OLD.status = 'in_progress' AND NEW.status = 'todo')) AND (NOT ((OLD.status = 'backlog' AND NEW.status = 'todo') OR (OLD.status = 'todo' AND NEW.status = 'backlog') OR (OLD.status = 'backlog' AND NEW.status = 'in_progress') OR (OLD.status = 'todo' AND NEW.status = 'in_progress') OR (OLD.status = 'in_progress' AND NEW.status = 'blocked') OR (OLD.status = 'blocked' AND NEW.status = 'in_progress') OR (OLD.status = 'in_progress' AND NEW.status = 'done') OR (OLD.status = 'backlog' AND NEW.status = 'cancelled') OR (OLD.status = 'todo' AND NEW.status = 'cancelled') OR (OLD.status = 'in_progress' AND NEW.status = 'cancelled') OR (OLD.status = 'blocked' AND NEW.status = 'cancelled')) OR EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'task' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by_agent_id)) AND (NOT (OLD.status = 'backlog' AND NEW.status = 'blocked') OR EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'task' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by_agent_id AND c.cause IN ('cascade', 'dependency'))) AND (NOT (OLD.status = 'todo' AND NEW.status = 'blocked') OR EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'task' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by_agent_id AND c.cause IN ('cascade', 'dependency'))) AND (NOT (OLD.status = 'blocked' AND NEW.status = 'backlog') OR EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'task' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by_agent_id AND c.cause IN ('release'))) AND (NOT (OLD.status = 'blocked' AND NEW.status = 'todo') OR EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'task' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by_agent_id AND c.cause IN ('release'))) AND (NOT (OLD.status = 'in_progress' AND NEW.status = 'todo') OR EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'task' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by_agent_id AND c.cause IN ('claim_release'))) AND OLD.status = 'blocked' AND NEW.status = 'backlog' AND OLD.former_status <> 'backlog'
BEGIN
  SELECT RAISE(ABORT, 'ILLEGAL_MOVE: a task is released to its former status, or to todo where that cannot be');
END;

CREATE TRIGGER tasks_in_progress_needs_dependencies BEFORE UPDATE OF status ON tasks
WHEN NEW.status IS NOT OLD.status AND ((OLD.status = 'backlog' AND NEW.status = 'todo') OR (OLD.status = 'todo' AND NEW.status = 'backlog') OR (OLD.status = 'backlog' AND NEW.status = 'in_progress') OR (OLD.status = 'todo' AND NEW.status = 'in_progress') OR (OLD.status = 'in_progress' AND NEW.status = 'blocked') OR (OLD.status = 'blocked' AND NEW.status = 'in_progress') OR (OLD.status = 'in_progress' AND NEW.status = 'done') OR (OLD.status = 'backlog' AND NEW.status = 'cancelled') OR (OLD.status = 'todo' AND NEW.status = 'cancelled') OR (OLD.status = 'in_progress' AND NEW.status = 'cancelled') OR (OLD.status = 'blocked' AND NEW.status = 'cancelled') OR (OLD.status = 'backlog' AND NEW.status = 'blocked') OR (OLD.status = 'todo' AND NEW.status = 'blocked') OR (OLD.status = 'blocked' AND NEW.status = 'backlog') OR (OLD.status = 'blocked' AND NEW.status = 'todo') OR (OLD.status = 'in_progress' AND NEW.status = 'todo')) AND (NOT ((OLD.status = 'backlog' AND NEW.status = 'todo') OR (OLD.status = 'todo' AND NEW.status = 'backlog') OR (OLD.status = 'backlog' AND NEW.status = 'in_progress') OR (OLD.status = 'todo' AND NEW.status = 'in_progress') OR (OLD.status = 'in_progress' AND NEW.status = 'blocked') OR (OLD.status = 'blocked' AND NEW.status = 'in_progress') OR (OLD.status = 'in_progress' AND NEW.status = 'done') OR (OLD.status = 'backlog' AND NEW.status = 'cancelled') OR (OLD.status = 'todo' AND NEW.status = 'cancelled') OR (OLD.status = 'in_progress' AND NEW.status = 'cancelled') OR (OLD.status = 'blocked' AND NEW.status = 'cancelled')) OR EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'task' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by_agent_id)) AND (NOT (OLD.status = 'backlog' AND NEW.status = 'blocked') OR EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'task' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by_agent_id AND c.cause IN ('cascade', 'dependency'))) AND (NOT (OLD.status = 'todo' AND NEW.status = 'blocked') OR EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'task' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by_agent_id AND c.cause IN ('cascade', 'dependency'))) AND (NOT (OLD.status = 'blocked' AND NEW.status = 'backlog') OR EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'task' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by_agent_id AND c.cause IN ('release'))) AND (NOT (OLD.status = 'blocked' AND NEW.status = 'todo') OR EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'task' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by_agent_id AND c.cause IN ('release'))) AND (NOT (OLD.status = 'in_progress' AND NEW.status = 'todo') OR EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'task' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by_agent_id AND c.cause IN ('claim_release'))) AND NEW.status = 'in_progress' AND NOT EXISTS (SELECT 1 FROM blockers b INDEXED BY ix_blockers_task WHERE b.session_id = NEW.session_id AND b.task_id = NEW.id AND b.resolved_seq IS NULL) AND (EXISTS (SELECT 1 FROM task_dependencies d CROSS JOIN tasks o WHERE d.session_id = NEW.session_id AND d.task_id = NEW.id AND d.removed_seq IS NULL AND o.session_id = d.session_id AND o.id = d.depends_on_id AND o.status <> 'done') OR EXISTS (SELECT 1 FROM group_dependencies d WHERE d.session_id = NEW.session_id AND d.group_id = NEW.group_id AND d.removed_seq IS NULL AND NOT EXISTS (SELECT 1 FROM task_groups g WHERE g.session_id = NEW.session_id AND g.id = d.depends_on AND g.status = 'completed') AND NOT EXISTS (SELECT 1 FROM completion_paths p WHERE p.session_id = NEW.session_id AND p.group_id = d.depends_on AND p.awaiting_confirmation = 1)))
BEGIN
  SELECT RAISE(ABORT, 'DEPENDENCIES_OPEN: a task begins when all that it depends on is done');
END;

CREATE TRIGGER tasks_in_progress_needs_assignee BEFORE UPDATE OF status ON tasks
WHEN NEW.status IS NOT OLD.status AND ((OLD.status = 'backlog' AND NEW.status = 'todo') OR (OLD.status = 'todo' AND NEW.status = 'backlog') OR (OLD.status = 'backlog' AND NEW.status = 'in_progress') OR (OLD.status = 'todo' AND NEW.status = 'in_progress') OR (OLD.status = 'in_progress' AND NEW.status = 'blocked') OR (OLD.status = 'blocked' AND NEW.status = 'in_progress') OR (OLD.status = 'in_progress' AND NEW.status = 'done') OR (OLD.status = 'backlog' AND NEW.status = 'cancelled') OR (OLD.status = 'todo' AND NEW.status = 'cancelled') OR (OLD.status = 'in_progress' AND NEW.status = 'cancelled') OR (OLD.status = 'blocked' AND NEW.status = 'cancelled') OR (OLD.status = 'backlog' AND NEW.status = 'blocked') OR (OLD.status = 'todo' AND NEW.status = 'blocked') OR (OLD.status = 'blocked' AND NEW.status = 'backlog') OR (OLD.status = 'blocked' AND NEW.status = 'todo') OR (OLD.status = 'in_progress' AND NEW.status = 'todo')) AND (NOT ((OLD.status = 'backlog' AND NEW.status = 'todo') OR (OLD.status = 'todo' AND NEW.status = 'backlog') OR (OLD.status = 'backlog' AND NEW.status = 'in_progress') OR (OLD.status = 'todo' AND NEW.status = 'in_progress') OR (OLD.status = 'in_progress' AND NEW.status = 'blocked') OR (OLD.status = 'blocked' AND NEW.status = 'in_progress') OR (OLD.status = 'in_progress' AND NEW.status = 'done') OR (OLD.status = 'backlog' AND NEW.status = 'cancelled') OR (OLD.status = 'todo' AND NEW.status = 'cancelled') OR (OLD.status = 'in_progress' AND NEW.status = 'cancelled') OR (OLD.status = 'blocked' AND NEW.status = 'cancelled')) OR EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'task' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by_agent_id)) AND (NOT (OLD.status = 'backlog' AND NEW.status = 'blocked') OR EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'task' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by_agent_id AND c.cause IN ('cascade', 'dependency'))) AND (NOT (OLD.status = 'todo' AND NEW.status = 'blocked') OR EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'task' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by_agent_id AND c.cause IN ('cascade', 'dependency'))) AND (NOT (OLD.status = 'blocked' AND NEW.status = 'backlog') OR EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'task' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by_agent_id AND c.cause IN ('release'))) AND (NOT (OLD.status = 'blocked' AND NEW.status = 'todo') OR EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'task' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by_agent_id AND c.cause IN ('release'))) AND (NOT (OLD.status = 'in_progress' AND NEW.status = 'todo') OR EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'task' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by_agent_id AND c.cause IN ('claim_release'))) AND NEW.status = 'in_progress' AND NEW.assignee IS NULL AND NOT EXISTS (SELECT 1 FROM blockers b INDEXED BY ix_blockers_task WHERE b.session_id = NEW.session_id AND b.task_id = NEW.id AND b.resolved_seq IS NULL) AND NOT (EXISTS (SELECT 1 FROM task_dependencies d CROSS JOIN tasks o WHERE d.session_id = NEW.session_id AND d.task_id = NEW.id AND d.removed_seq IS NULL AND o.session_id = d.session_id AND o.id = d.depends_on_id AND o.status <> 'done') OR EXISTS (SELECT 1 FROM group_dependencies d WHERE d.session_id = NEW.session_id AND d.group_id = NEW.group_id AND d.removed_seq IS NULL AND NOT EXISTS (SELECT 1 FROM task_groups g WHERE g.session_id = NEW.session_id AND g.id = d.depends_on AND g.status = 'completed') AND NOT EXISTS (SELECT 1 FROM completion_paths p WHERE p.session_id = NEW.session_id AND p.group_id = d.depends_on AND p.awaiting_confirmation = 1)))
BEGIN
  SELECT RAISE(ABORT, 'NOT_PERMITTED: a task in progress has an assignee');
END;

CREATE TRIGGER tasks_done_needs_all_done BEFORE UPDATE OF status ON tasks
WHEN NEW.status IS NOT OLD.status AND ((OLD.status = 'backlog' AND NEW.status = 'todo') OR (OLD.status = 'todo' AND NEW.status = 'backlog') OR (OLD.status = 'backlog' AND NEW.status = 'in_progress') OR (OLD.status = 'todo' AND NEW.status = 'in_progress') OR (OLD.status = 'in_progress' AND NEW.status = 'blocked') OR (OLD.status = 'blocked' AND NEW.status = 'in_progress') OR (OLD.status = 'in_progress' AND NEW.status = 'done') OR (OLD.status = 'backlog' AND NEW.status = 'cancelled') OR (OLD.status = 'todo' AND NEW.status = 'cancelled') OR (OLD.status = 'in_progress' AND NEW.status = 'cancelled') OR (OLD.status = 'blocked' AND NEW.status = 'cancelled') OR (OLD.status = 'backlog' AND NEW.status = 'blocked') OR (OLD.status = 'todo' AND NEW.status = 'blocked') OR (OLD.status = 'blocked' AND NEW.status = 'backlog') OR (OLD.status = 'blocked' AND NEW.status = 'todo') OR (OLD.status = 'in_progress' AND NEW.status = 'todo')) AND (NOT ((OLD.status = 'backlog' AND NEW.status = 'todo') OR (OLD.status = 'todo' AND NEW.status = 'backlog') OR (OLD.status = 'backlog' AND NEW.status = 'in_progress') OR (OLD.status = 'todo' AND NEW.status = 'in_progress') OR (OLD.status = 'in_progress' AND NEW.status = 'blocked') OR (OLD.status = 'blocked' AND NEW.status = 'in_progress') OR (OLD.status = 'in_progress' AND NEW.status = 'done') OR (OLD.status = 'backlog' AND NEW.status = 'cancelled') OR (OLD.status = 'todo' AND NEW.status = 'cancelled') OR (OLD.status = 'in_progress' AND NEW.status = 'cancelled') OR (OLD.status = 'blocked' AND NEW.status = 'cancelled')) OR EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'task' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by_agent_id)) AND (NOT (OLD.status = 'backlog' AND NEW.status = 'blocked') OR EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'task' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by_agent_id AND c.cause IN ('cascade', 'dependency'))) AND (NOT (OLD.status = 'todo' AND NEW.status = 'blocked') OR EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'task' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by_agent_id AND c.cause IN ('cascade', 'dependency'))) AND (NOT (OLD.status = 'blocked' AND NEW.status = 'backlog') OR EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'task' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by_agent_id AND c.cause IN ('release'))) AND (NOT (OLD.status = 'blocked' AND NEW.status = 'todo') OR EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'task' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by_agent_id AND c.cause IN ('release'))) AND (NOT (OLD.status = 'in_progress' AND NEW.status = 'todo') OR EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'task' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by_agent_id AND c.cause IN ('claim_release'))) AND NEW.status = 'done' AND NOT EXISTS (SELECT 1 FROM blockers b INDEXED BY ix_blockers_task WHERE b.session_id = NEW.session_id AND b.task_id = NEW.id AND b.resolved_seq IS NULL) AND (EXISTS (SELECT 1 FROM tasks c INDEXED BY ix_tasks_parent WHERE c.session_id = NEW.session_id AND c.parent_id = NEW.id AND c.status NOT IN ('done', 'cancelled')) OR (EXISTS (SELECT 1 FROM tasks c INDEXED BY ix_tasks_parent WHERE c.session_id = NEW.session_id AND c.parent_id = NEW.id) AND NOT EXISTS (SELECT 1 FROM tasks c INDEXED BY ix_tasks_parent WHERE c.session_id = NEW.session_id AND c.parent_id = NEW.id AND c.status = 'done')) OR EXISTS (SELECT 1 FROM questions q INDEXED BY ix_questions_open WHERE q.session_id = NEW.session_id AND q.group_id IS NEW.group_id AND q.closed_seq IS NULL AND q.task_id = NEW.id))
BEGIN
  SELECT RAISE(ABORT, 'COMPLETION_GATE: a task is done when its subtasks are, one at least, and nothing about it is open');
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
WHEN NEW.removed_seq IS NULL AND EXISTS (SELECT 1 FROM tasks t WHERE t.session_id = NEW.session_id AND t.id = NEW.task_id AND (t.status IN ('in_progress', 'done', 'cancelled') OR t.former_status IS 'in_progress')) AND EXISTS (SELECT 1 FROM tasks o WHERE o.session_id = NEW.session_id AND o.id = NEW.depends_on_id AND o.status <> 'done')
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
