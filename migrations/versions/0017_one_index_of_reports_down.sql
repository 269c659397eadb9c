DROP VIEW group_marks;

DROP INDEX ix_agent_reports_group;

DROP INDEX ix_agent_reports_verdict;

PRAGMA writable_schema=ON;

UPDATE sqlite_schema SET sql = replace(sql, 'CONSTRAINT ck_agents_kind CHECK (kind = ''ai'' OR kind = ''human'' OR kind = ''system'')',
        'CONSTRAINT ck_agents_kind CHECK (kind IN (''ai'', ''human'', ''system''))')
    WHERE type = 'table' AND name = 'agents';

UPDATE sqlite_schema SET sql = replace(sql, 'CONSTRAINT ck_human_credentials_kind CHECK (kind = ''passphrase'' OR kind = ''ssh-key'' OR kind = ''removal'' OR kind = ''reset'' OR kind = ''link'' OR kind = ''use'')',
        'CONSTRAINT ck_human_credentials_kind CHECK (kind IN (''passphrase'', ''ssh-key'', ''removal'', ''reset'', ''link'', ''use''))')
    WHERE type = 'table' AND name = 'human_credentials';

UPDATE sqlite_schema SET sql = replace(replace(replace(replace(sql, 'CONSTRAINT ck_sessions_kind CHECK (kind = ''orchestration'' OR kind = ''chat'')',
        'CONSTRAINT ck_sessions_kind CHECK (kind IN (''orchestration'', ''chat''))'), 'CONSTRAINT ck_sessions_mode CHECK (mode = ''simple'' OR mode = ''parallel'')',
        'CONSTRAINT ck_sessions_mode CHECK (mode IN (''simple'', ''parallel''))'), 'CONSTRAINT ck_sessions_testing_mode CHECK (testing_mode = ''full'' OR testing_mode = ''minimal'' OR testing_mode = ''disabled'')',
        'CONSTRAINT ck_sessions_testing_mode CHECK (testing_mode IN (''full'', ''minimal'', ''disabled''))'), 'CONSTRAINT ck_sessions_status CHECK (status = ''active'' OR status = ''paused'' OR status = ''ended'')',
        'CONSTRAINT ck_sessions_status CHECK (status IN (''active'', ''paused'', ''ended''))')
    WHERE type = 'table' AND name = 'sessions';

UPDATE sqlite_schema SET sql = replace(replace(sql, 'CONSTRAINT ck_blockers_class CHECK (class = ''soft'' OR class = ''hard'')',
        'CONSTRAINT ck_blockers_class CHECK (class IN (''soft'', ''hard''))'), 'CONSTRAINT ck_blockers_cause CHECK (cause = ''report'' OR cause = ''manual'' OR cause = ''cascade'' OR cause = ''gate'' OR cause = ''dependency'' OR cause = ''imported'')',
        'CONSTRAINT ck_blockers_cause CHECK (cause IN (''report'', ''manual'', ''cascade'', ''gate'', ''dependency'', ''imported''))')
    WHERE type = 'table' AND name = 'blockers';

UPDATE sqlite_schema SET sql = replace(sql, 'CONSTRAINT ck_criteria_status CHECK (status = ''open'' OR status = ''met'' OR status = ''deferred'')',
        'CONSTRAINT ck_criteria_status CHECK (status IN (''open'', ''met'', ''deferred''))')
    WHERE type = 'table' AND name = 'criteria';

UPDATE sqlite_schema SET sql = replace(sql, 'CONSTRAINT ck_questions_kind CHECK (kind = ''review'' OR kind = ''clarification'' OR kind = ''budget'' OR kind = ''reply'' OR kind = ''confirmation'' OR kind = ''continuation'')',
        'CONSTRAINT ck_questions_kind CHECK (kind IN (''review'', ''clarification'', ''budget'', ''reply'', ''confirmation'', ''continuation''))')
    WHERE type = 'table' AND name = 'questions';

UPDATE sqlite_schema SET sql = replace(replace(sql, 'CONSTRAINT ck_resume_points_status CHECK (status = ''partial'' OR status = ''blocked'' OR status = ''failed'')',
        'CONSTRAINT ck_resume_points_status CHECK (status IN (''partial'', ''blocked'', ''failed''))'), 'CONSTRAINT ck_resume_points_class CHECK (class = ''soft'' OR class = ''hard'')',
        'CONSTRAINT ck_resume_points_class CHECK (class IN (''soft'', ''hard''))')
    WHERE type = 'table' AND name = 'resume_points';

UPDATE sqlite_schema SET sql = replace(sql, 'CONSTRAINT ck_starts_via CHECK (via = ''hook'' OR via = ''mcp'' OR via = ''drive'')',
        'CONSTRAINT ck_starts_via CHECK (via IN (''hook'', ''mcp'', ''drive''))')
    WHERE type = 'table' AND name = 'starts';

UPDATE sqlite_schema SET sql = replace(replace(sql, 'CONSTRAINT ck_task_groups_kind CHECK (kind = ''code'' OR kind = ''research'' OR kind = ''chat'')',
        'CONSTRAINT ck_task_groups_kind CHECK (kind IN (''code'', ''research'', ''chat''))'), 'CONSTRAINT ck_task_groups_status CHECK (status = ''pending'' OR status = ''in_progress'' OR status = ''completed'' OR status = ''deferred_external'' OR status = ''cancelled'')',
        'CONSTRAINT ck_task_groups_status CHECK (status IN (''pending'', ''in_progress'', ''completed'', ''deferred_external'', ''cancelled''))')
    WHERE type = 'table' AND name = 'task_groups';

UPDATE sqlite_schema SET sql = replace(sql, 'CONSTRAINT ck_tasks_status CHECK (status = ''backlog'' OR status = ''todo'' OR status = ''in_progress'' OR status = ''blocked'' OR status = ''done'' OR status = ''cancelled'')',
        'CONSTRAINT ck_tasks_status CHECK (status IN (''backlog'', ''todo'', ''in_progress'', ''blocked'', ''done'', ''cancelled''))')
    WHERE type = 'table' AND name = 'tasks';

UPDATE sqlite_schema SET sql = replace(sql, 'CONSTRAINT ck_turn_runs_state CHECK (state = ''queued'' OR state = ''running'' OR state = ''answered'' OR state = ''no_answer'' OR state = ''failed'' OR state = ''limited'')',
        'CONSTRAINT ck_turn_runs_state CHECK (state IN (''queued'', ''running'', ''answered'', ''no_answer'', ''failed'', ''limited''))')
    WHERE type = 'table' AND name = 'turn_runs';

UPDATE sqlite_schema SET sql = replace(replace(sql, 'CONSTRAINT ck_runs_state CHECK (state = ''queued'' OR state = ''running'' OR state = ''awaiting_response'' OR state = ''complete'' OR state = ''incomplete'' OR state = ''error'' OR state = ''cancelled'')',
        'CONSTRAINT ck_runs_state CHECK (state IN (''queued'', ''running'', ''awaiting_response'', ''complete'', ''incomplete'', ''error'', ''cancelled''))'), 'CONSTRAINT ck_runs_task_type CHECK (task_type = ''READ_INFO'' OR task_type = ''REPORT'' OR task_type = ''LIGHT_EDIT'' OR task_type = ''IMPLEMENTATION'' OR task_type = ''REVIEW_RESPONSE'' OR task_type = ''CONFIG_CI_CHANGE'' OR task_type = ''DANGEROUS_OP'')',
        'CONSTRAINT ck_runs_task_type CHECK (task_type IN (''READ_INFO'', ''REPORT'', ''LIGHT_EDIT'', ''IMPLEMENTATION'', ''REVIEW_RESPONSE'', ''CONFIG_CI_CHANGE'', ''DANGEROUS_OP''))')
    WHERE type = 'table' AND name = 'runs';

UPDATE sqlite_schema SET sql = replace(sql, 'CONSTRAINT ck_run_events_level CHECK (level = ''summary'' OR level = ''full'')',
        'CONSTRAINT ck_run_events_level CHECK (level IN (''summary'', ''full''))')
    WHERE type = 'table' AND name = 'run_events';

UPDATE sqlite_schema SET sql = replace(sql, 'CONSTRAINT ck_run_files_detection_method CHECK (detection_method = ''diff'' OR detection_method = ''executor_claim'')',
        'CONSTRAINT ck_run_files_detection_method CHECK (detection_method IN (''diff'', ''executor_claim''))')
    WHERE type = 'table' AND name = 'run_files';

UPDATE sqlite_schema SET sql = replace(sql, 'CONSTRAINT ck_run_locks_mode CHECK (mode = ''read'' OR mode = ''write'')',
        'CONSTRAINT ck_run_locks_mode CHECK (mode IN (''read'', ''write''))')
    WHERE type = 'table' AND name = 'run_locks';

PRAGMA writable_schema=RESET;

CREATE INDEX ix_agent_reports_effect ON agent_reports (session_id, group_id, effect, seq);

CREATE INDEX ix_agent_reports_role ON agent_reports (session_id, group_id, role, seq, response_status);

CREATE INDEX ix_agent_reports_standing ON agent_reports (session_id, group_id, seq) WHERE effect <> 'merge' AND effect <> 'withheld' AND (role <> 'project_manager' OR effect IN ('rework', 'defer'));

CREATE VIEW group_marks AS
SELECT
    g.session_id AS session_id,
    g.id AS group_id,
    g.kind AS kind,
    g.status AS status,
    g.security_sensitive AS security_sensitive,
    (SELECT s.testing_mode FROM sessions s WHERE s.id = g.session_id) AS testing_mode,
    CASE WHEN EXISTS (SELECT c.seq FROM status_changes c INDEXED BY ix_status_changes_reopened WHERE c.session_id = g.session_id AND c.entity = 'group' AND c.entity_id = g.id AND c.from_status = 'completed' ORDER BY c.seq DESC LIMIT 1) THEN (SELECT c.seq FROM status_changes c INDEXED BY ix_status_changes_reopened WHERE c.session_id = g.session_id AND c.entity = 'group' AND c.entity_id = g.id AND c.from_status = 'completed' ORDER BY c.seq DESC LIMIT 1) ELSE 0 END AS base_seq,
    (SELECT r.seq FROM agent_reports r INDEXED BY ix_agent_reports_standing WHERE r.session_id = g.session_id AND r.group_id = g.id AND r.effect <> 'merge' AND r.effect <> 'withheld' AND (r.role <> 'project_manager' OR r.effect IN ('rework', 'defer')) ORDER BY r.seq DESC LIMIT 1) AS standing_seq,
    (SELECT r.effect FROM agent_reports r INDEXED BY ix_agent_reports_standing WHERE r.session_id = g.session_id AND r.group_id = g.id AND r.effect <> 'merge' AND r.effect <> 'withheld' AND (r.role <> 'project_manager' OR r.effect IN ('rework', 'defer')) ORDER BY r.seq DESC LIMIT 1) AS standing_effect,
    (SELECT r.seq FROM agent_reports r INDEXED BY ix_agent_reports_effect WHERE r.session_id = g.session_id AND r.group_id = g.id AND r.effect = 'merge' ORDER BY r.seq DESC LIMIT 1) AS merge_seq,
    (SELECT CASE WHEN (SELECT t.isolation FROM starts t INDEXED BY sqlite_autoindex_starts_1 WHERE t.session_id = r.session_id AND t.group_id = r.group_id AND t.turn = r.turn AND t.seq < r.seq ORDER BY t.seq DESC LIMIT 1) IS NOT 'worktree' OR (SELECT d.rules_version FROM router_decisions d INDEXED BY sqlite_autoindex_router_decisions_1 WHERE d.session_id = r.session_id AND d.seq = r.seq AND d.part = 1) < 5 THEN 'not_needed' ELSE (SELECT e.outcome FROM evidence e INDEXED BY ix_evidence_merge WHERE e.session_id = r.session_id AND e.subject = r.group_id AND e.seq = r.seq AND e.kind = 'merge' LIMIT 1) END FROM agent_reports r INDEXED BY ix_agent_reports_effect WHERE r.session_id = g.session_id AND r.group_id = g.id AND r.effect = 'merge' ORDER BY r.seq DESC LIMIT 1) AS merge_proof,
    (SELECT r.seq FROM agent_reports r INDEXED BY ix_agent_reports_effect WHERE r.session_id = g.session_id AND r.group_id = g.id AND r.effect = 'submit_test' ORDER BY r.seq DESC LIMIT 1) AS submit_test_seq,
    (SELECT r.seq FROM agent_reports r INDEXED BY ix_agent_reports_effect WHERE r.session_id = g.session_id AND r.group_id = g.id AND r.effect = 'submit_review' ORDER BY r.seq DESC LIMIT 1) AS submit_review_seq,
    (SELECT r.seq FROM agent_reports r INDEXED BY ix_agent_reports_effect WHERE r.session_id = g.session_id AND r.group_id = g.id AND r.effect = 'test_pass' ORDER BY r.seq DESC LIMIT 1) AS test_pass_seq,
    (SELECT r.seq FROM agent_reports r INDEXED BY ix_agent_reports_effect WHERE r.session_id = g.session_id AND r.group_id = g.id AND r.effect = 'test_fail' ORDER BY r.seq DESC LIMIT 1) AS test_fail_seq,
    (SELECT r.seq FROM agent_reports r INDEXED BY ix_agent_reports_effect WHERE r.session_id = g.session_id AND r.group_id = g.id AND r.effect = 'test_pass' AND r.seq > (SELECT r.seq FROM agent_reports r INDEXED BY ix_agent_reports_effect WHERE r.session_id = g.session_id AND r.group_id = g.id AND r.effect = 'submit_test' ORDER BY r.seq DESC LIMIT 1) AND r.seq <= (SELECT r.seq FROM agent_reports r INDEXED BY ix_agent_reports_standing WHERE r.session_id = g.session_id AND r.group_id = g.id AND r.effect <> 'merge' AND r.effect <> 'withheld' AND (r.role <> 'project_manager' OR r.effect IN ('rework', 'defer')) ORDER BY r.seq DESC LIMIT 1) ORDER BY r.seq DESC LIMIT 1) AS passed_seq,
    (SELECT r.seq FROM agent_reports r INDEXED BY ix_agent_reports_role WHERE r.session_id = g.session_id AND r.group_id = g.id AND r.role = 'qa_expert' AND r.effect <> 'withheld' ORDER BY r.seq DESC LIMIT 1) AS qa_seq,
    (SELECT r.seq FROM agent_reports r INDEXED BY ix_agent_reports_role WHERE r.session_id = g.session_id AND r.group_id = g.id AND r.role = 'qa_expert' AND r.effect IN ('test_pass', 'test_fail', 'inconclusive', 'block') ORDER BY r.seq DESC LIMIT 1) AS qa_answer_seq,
    (SELECT r.effect FROM agent_reports r INDEXED BY ix_agent_reports_role WHERE r.session_id = g.session_id AND r.group_id = g.id AND r.role = 'qa_expert' AND r.effect IN ('test_pass', 'test_fail', 'inconclusive', 'block') ORDER BY r.seq DESC LIMIT 1) AS qa_answer_effect,
    (SELECT r.seq FROM agent_reports r INDEXED BY ix_agent_reports_role WHERE r.session_id = g.session_id AND r.group_id = g.id AND r.role = 'tech_lead' AND r.effect <> 'withheld' ORDER BY r.seq DESC LIMIT 1) AS tech_lead_seq,
    (SELECT r.seq FROM agent_reports r INDEXED BY ix_agent_reports_role WHERE r.session_id = g.session_id AND r.group_id = g.id AND r.role = 'project_manager' AND r.effect <> 'withheld' ORDER BY r.seq DESC LIMIT 1) AS manager_seq,
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
