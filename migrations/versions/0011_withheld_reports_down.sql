DROP INDEX ix_agent_reports_by_manager;

DROP INDEX ix_agent_reports_by_qa;

DROP INDEX ix_agent_reports_standing;

DROP INDEX ix_agent_reports_by_tech_lead;

DROP VIEW group_marks;

CREATE INDEX ix_agent_reports_manager ON agent_reports (session_id, group_id, seq) WHERE role = 'project_manager';

CREATE INDEX ix_agent_reports_qa ON agent_reports (session_id, group_id, seq) WHERE role = 'qa_expert';

CREATE INDEX ix_agent_reports_standing ON agent_reports (session_id, group_id, seq) WHERE effect <> 'merge' AND (role <> 'project_manager' OR effect IN ('rework', 'defer'));

CREATE INDEX ix_agent_reports_tech_lead ON agent_reports (session_id, group_id, seq) WHERE role = 'tech_lead';

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
