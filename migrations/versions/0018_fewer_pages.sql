DROP TRIGGER router_decisions_insert_needs_orchestrator_and_new_key;

DROP TRIGGER standalone_handoffs_insert_needs_orchestrator_and_new_key;

DROP VIEW handoffs;

ALTER TABLE router_decisions ADD COLUMN handoff_group TEXT;

ALTER TABLE router_decisions ADD COLUMN handoff_group_hash TEXT;

DROP VIEW group_marks;

DROP VIEW group_reasons;

DROP INDEX ix_agent_reports_group;

DROP INDEX ix_task_groups_in_progress;

DROP INDEX ix_task_groups_pending;

CREATE INDEX ix_agent_reports_group ON agent_reports (session_id, group_id, seq, role, effect);

CREATE INDEX ix_task_groups_open ON task_groups (session_id, status, priority, created_seq) WHERE status = 'pending' OR status = 'in_progress';

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

CREATE TRIGGER router_decisions_insert_needs_orchestrator_and_new_key BEFORE INSERT ON router_decisions
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM router_decisions t WHERE t.rowid = NEW.rowid) THEN RAISE(ABORT, 'ALREADY_EXISTS: router_decisions has a row with this rowid')
    WHEN EXISTS (SELECT 1 FROM router_decisions t WHERE t.session_id = NEW.session_id AND t.seq = NEW.seq AND t.part = NEW.part) THEN RAISE(ABORT, 'ALREADY_EXISTS: router_decisions has a row with this session_id, seq, part')
    WHEN (NEW.handoff IS NULL) <> (NEW.handoff_agent IS NULL) OR (NEW.handoff_group IS NULL) <> (NEW.handoff_group_hash IS NULL) OR (NEW.handoff IS NULL AND NEW.handoff_group IS NOT NULL) OR (NEW.handoff IS NOT NULL AND NEW.handoff_group IS NULL AND (NEW.group_id IS NULL OR NEW.handoff_hash IS NULL)) THEN RAISE(ABORT, 'HANDOFF_INCOMPLETE: a hand-off with its decision has a group, an agent and a hash')
    WHEN NEW.handoff IS NOT NULL AND EXISTS (SELECT 1 FROM handoffs h WHERE h.session_id = NEW.session_id AND h.group_id = CASE WHEN NEW.handoff_group IS NULL THEN NEW.group_id ELSE NEW.handoff_group END AND h.turn = NEW.seq) THEN RAISE(ABORT, 'ALREADY_EXISTS: handoffs has a row with this session_id, group_id, turn') END;
END;

CREATE TRIGGER standalone_handoffs_insert_needs_orchestrator_and_new_key BEFORE INSERT ON standalone_handoffs
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM standalone_handoffs t WHERE t.rowid = NEW.rowid) THEN RAISE(ABORT, 'ALREADY_EXISTS: standalone_handoffs has a row with this rowid')
    WHEN EXISTS (SELECT 1 FROM standalone_handoffs t WHERE t.session_id = NEW.session_id AND t.group_id = NEW.group_id AND t.turn = NEW.turn) THEN RAISE(ABORT, 'ALREADY_EXISTS: standalone_handoffs has a row with this session_id, group_id, turn')
    WHEN EXISTS (SELECT 1 FROM router_decisions t INDEXED BY sqlite_autoindex_router_decisions_1 WHERE t.session_id = NEW.session_id AND t.seq = NEW.turn AND CASE WHEN t.handoff_group IS NULL THEN t.group_id ELSE t.handoff_group END = NEW.group_id AND t.handoff IS NOT NULL) THEN RAISE(ABORT, 'ALREADY_EXISTS: handoffs has a row with this session_id, group_id, turn') END;
END;

CREATE TRIGGER router_decisions_start_is_recorded BEFORE INSERT ON router_decisions
WHEN NEW.handoff_group IS NOT NULL AND NOT EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'group' AND c.entity_id = NEW.handoff_group AND c.seq = NEW.seq AND c.to_status = 'in_progress')
BEGIN
  SELECT RAISE(ABORT, 'STATUS_CHANGE_MISSING: a hand-off for another group than its decision needs the move that starts it');
END;
