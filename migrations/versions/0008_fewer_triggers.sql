DROP VIEW completion_paths;

DROP TRIGGER audit_events_are_never_changed;

DROP TRIGGER refusals_are_never_changed;

DROP TRIGGER requests_are_never_changed;

DROP TRIGGER status_changes_are_never_changed;

DROP TRIGGER texts_are_never_changed;

DROP TRIGGER workflow_versions_are_never_changed;

DROP TRIGGER agent_files_are_never_changed;

DROP TRIGGER human_tokens_are_never_changed;

DROP TRIGGER projects_are_never_changed;

DROP TRIGGER workflow_activations_are_never_changed;

DROP TRIGGER workflow_transitions_are_never_changed;

DROP TRIGGER acknowledgements_are_never_changed;

DROP TRIGGER agent_reports_are_never_changed;

DROP TRIGGER context_items_are_never_changed;

DROP TRIGGER evidence_are_never_changed;

DROP TRIGGER handoffs_are_never_changed;

DROP TRIGGER imported_sessions_are_never_changed;

DROP TRIGGER resume_points_are_never_changed;

DROP TRIGGER router_decisions_are_never_changed;

DROP TRIGGER deferrals_are_never_changed;

DROP TRIGGER grandfathered_groups_are_never_changed;

DROP TRIGGER import_findings_are_never_changed;

DROP TRIGGER imported_logs_are_never_changed;

DROP TRIGGER notices_are_never_changed;

DROP TRIGGER run_events_are_never_changed;

DROP TRIGGER run_files_are_never_changed;

DROP TRIGGER run_violations_are_never_changed;

DROP TRIGGER task_groups_completed_needs_path;

DROP TRIGGER agents_insert_needs_orchestrator;

DROP TRIGGER agents_id_is_taken_once;

DROP TRIGGER audit_events_insert_needs_orchestrator;

DROP TRIGGER audit_events_update_needs_orchestrator;

DROP TRIGGER audit_events_rowid_is_taken_once;

DROP TRIGGER audit_events_session_id_seq_is_taken_once;

DROP TRIGGER refusals_insert_needs_orchestrator;

DROP TRIGGER refusals_update_needs_orchestrator;

DROP TRIGGER refusals_rowid_is_taken_once;

DROP TRIGGER refusals_session_id_seq_part_is_taken_once;

DROP TRIGGER requests_insert_needs_orchestrator;

DROP TRIGGER requests_update_needs_orchestrator;

DROP TRIGGER requests_session_id_request_id_is_taken_once;

DROP TRIGGER status_changes_insert_needs_orchestrator;

DROP TRIGGER status_changes_update_needs_orchestrator;

DROP TRIGGER status_changes_session_id_seq_part_is_taken_once;

DROP TRIGGER texts_insert_needs_orchestrator;

DROP TRIGGER texts_update_needs_orchestrator;

DROP TRIGGER texts_hash_is_taken_once;

DROP TRIGGER texts_rowid_is_taken_once;

DROP TRIGGER workflow_versions_insert_needs_orchestrator;

DROP TRIGGER workflow_versions_update_needs_orchestrator;

DROP TRIGGER workflow_versions_hash_is_taken_once;

DROP TRIGGER workflow_versions_id_is_taken_once;

DROP TRIGGER agent_files_insert_needs_orchestrator;

DROP TRIGGER agent_files_update_needs_orchestrator;

DROP TRIGGER agent_files_rowid_is_taken_once;

DROP TRIGGER agent_files_workflow_version_id_name_is_taken_once;

DROP TRIGGER sessions_insert_needs_orchestrator;

DROP TRIGGER sessions_id_is_taken_once;

DROP TRIGGER workflow_activations_insert_needs_orchestrator;

DROP TRIGGER workflow_activations_update_needs_orchestrator;

DROP TRIGGER workflow_activations_seq_is_taken_once;

DROP TRIGGER workflow_transitions_insert_needs_orchestrator;

DROP TRIGGER workflow_transitions_update_needs_orchestrator;

DROP TRIGGER workflow_transitions_workflow_version_id_current_agent_response_status_is_taken_once;

DROP TRIGGER acknowledgements_insert_needs_orchestrator;

DROP TRIGGER acknowledgements_update_needs_orchestrator;

DROP TRIGGER acknowledgements_session_id_seq_part_is_taken_once;

DROP TRIGGER agent_reports_insert_needs_orchestrator;

DROP TRIGGER agent_reports_update_needs_orchestrator;

DROP TRIGGER agent_reports_rowid_is_taken_once;

DROP TRIGGER agent_reports_session_id_seq_part_is_taken_once;

DROP TRIGGER blockers_insert_needs_orchestrator;

DROP TRIGGER blockers_id_is_taken_once;

DROP TRIGGER context_items_insert_needs_orchestrator;

DROP TRIGGER context_items_update_needs_orchestrator;

DROP TRIGGER context_items_session_id_group_id_name_seq_is_taken_once;

DROP TRIGGER handoffs_insert_needs_orchestrator;

DROP TRIGGER handoffs_update_needs_orchestrator;

DROP TRIGGER handoffs_rowid_is_taken_once;

DROP TRIGGER handoffs_session_id_group_id_turn_is_taken_once;

DROP TRIGGER questions_insert_needs_orchestrator;

DROP TRIGGER questions_id_is_taken_once;

DROP TRIGGER router_decisions_insert_needs_orchestrator;

DROP TRIGGER router_decisions_update_needs_orchestrator;

DROP TRIGGER router_decisions_rowid_is_taken_once;

DROP TRIGGER router_decisions_session_id_seq_part_is_taken_once;

DROP TRIGGER task_groups_insert_needs_orchestrator;

DROP TRIGGER task_groups_session_id_id_is_taken_once;

DROP TRIGGER deferrals_insert_needs_orchestrator;

DROP TRIGGER deferrals_update_needs_orchestrator;

DROP TRIGGER deferrals_session_id_seq_is_taken_once;

DROP TRIGGER group_dependencies_insert_needs_orchestrator;

DROP TRIGGER group_dependencies_session_id_group_id_depends_on_seq_is_taken_once;

DROP TRIGGER task_groups_completed_needs_approved;

DROP TRIGGER task_groups_completed_needs_tested;

DROP TRIGGER task_groups_completed_needs_merged;

DROP TRIGGER task_groups_completed_needs_unblocked;

DROP TRIGGER task_groups_completed_needs_reviewed;

DROP TRIGGER task_groups_completed_needs_confirmed;

DROP TRIGGER task_groups_completed_needs_in_progress;

DROP TRIGGER task_groups_completed_needs_status_change;

DROP TRIGGER criteria_insert_needs_orchestrator;

DROP TRIGGER criteria_session_id_id_is_taken_once;

DROP TRIGGER evidence_insert_needs_orchestrator;

DROP TRIGGER evidence_update_needs_orchestrator;

DROP TRIGGER evidence_rowid_is_taken_once;

DROP TRIGGER evidence_session_id_seq_part_is_taken_once;

DROP TRIGGER imported_sessions_insert_needs_orchestrator;

DROP TRIGGER imported_sessions_update_needs_orchestrator;

DROP TRIGGER imported_sessions_session_id_is_taken_once;

DROP TRIGGER grandfathered_groups_insert_needs_orchestrator;

DROP TRIGGER grandfathered_groups_update_needs_orchestrator;

DROP TRIGGER grandfathered_groups_session_id_group_id_is_taken_once;

DROP TRIGGER import_findings_insert_needs_orchestrator;

DROP TRIGGER import_findings_update_needs_orchestrator;

DROP TRIGGER import_findings_session_id_seq_part_is_taken_once;

DROP TRIGGER imported_logs_insert_needs_orchestrator;

DROP TRIGGER imported_logs_update_needs_orchestrator;

DROP TRIGGER imported_logs_rowid_is_taken_once;

DROP TRIGGER imported_logs_session_id_seq_part_is_taken_once;

DROP TRIGGER human_tokens_insert_needs_orchestrator;

DROP TRIGGER human_tokens_update_needs_orchestrator;

DROP TRIGGER human_tokens_hash_is_taken_once;

DROP TRIGGER human_tokens_id_is_taken_once;

DROP TRIGGER resume_points_insert_needs_orchestrator;

DROP TRIGGER resume_points_update_needs_orchestrator;

DROP TRIGGER resume_points_session_id_seq_is_taken_once;

DROP TRIGGER tasks_insert_needs_orchestrator;

DROP TRIGGER tasks_session_id_id_is_taken_once;

DROP TRIGGER notices_insert_needs_orchestrator;

DROP TRIGGER notices_update_needs_orchestrator;

DROP TRIGGER notices_session_id_seq_part_is_taken_once;

DROP TRIGGER task_dependencies_insert_needs_orchestrator;

DROP TRIGGER task_dependencies_session_id_task_id_depends_on_id_seq_is_taken_once;

DROP TRIGGER runs_insert_needs_orchestrator;

DROP TRIGGER runs_id_is_taken_once;

DROP TRIGGER runs_session_id_id_is_taken_once;

DROP TRIGGER runs_session_id_log_id_is_taken_once;

DROP TRIGGER run_events_insert_needs_orchestrator;

DROP TRIGGER run_events_update_needs_orchestrator;

DROP TRIGGER run_events_session_id_seq_part_is_taken_once;

DROP TRIGGER run_files_insert_needs_orchestrator;

DROP TRIGGER run_files_update_needs_orchestrator;

DROP TRIGGER run_files_session_id_seq_part_is_taken_once;

DROP TRIGGER run_locks_insert_needs_orchestrator;

DROP TRIGGER run_locks_session_id_run_id_path_seq_is_taken_once;

DROP TRIGGER run_violations_insert_needs_orchestrator;

DROP TRIGGER run_violations_update_needs_orchestrator;

DROP TRIGGER run_violations_session_id_seq_part_is_taken_once;

DROP TRIGGER projects_insert_needs_orchestrator;

DROP TRIGGER projects_update_needs_orchestrator;

DROP TRIGGER projects_alias_is_taken_once;

DROP TRIGGER projects_id_is_taken_once;

DROP TRIGGER projects_path_is_taken_once;

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
  SELECT j.*,
    CASE WHEN kind = 'chat' THEN 'chat' WHEN blocker_seq IS NULL AND tested_why <> 'unfinished_accepted' THEN 'not_required' WHEN open_blocker IS NULL AND (resolved_seq IS NULL OR confirm_seq > resolved_seq) AND ((kind = 'research' AND approved_why = 'approved' AND confirm_seq > standing_seq) OR (kind = 'code' AND merged_why = 'merged' AND confirm_seq > merge_seq)) THEN 'confirmed' WHEN open_blocker IS NULL AND (resolved_seq IS NULL OR acknowledged_seq > resolved_seq) AND ((kind = 'research' AND approved_why = 'approved' AND acknowledged_seq > standing_seq) OR (kind = 'code' AND merged_why = 'merged' AND acknowledged_seq > merge_seq)) THEN 'acknowledged' WHEN 1 THEN 'not_confirmed' END AS confirmed_why
  FROM group_reasons j
) p;

CREATE TRIGGER agents_insert_needs_orchestrator_and_new_key BEFORE INSERT ON agents
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM agents t WHERE t.id = NEW.id) THEN RAISE(ABORT, 'ALREADY_EXISTS: agents has a row with this id') END;
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

CREATE TRIGGER sessions_insert_needs_orchestrator_and_new_key BEFORE INSERT ON sessions
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM sessions t WHERE t.id = NEW.id) THEN RAISE(ABORT, 'ALREADY_EXISTS: sessions has a row with this id') END;
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

CREATE TRIGGER blockers_insert_needs_orchestrator_and_new_key BEFORE INSERT ON blockers
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM blockers t WHERE t.id = NEW.id) THEN RAISE(ABORT, 'ALREADY_EXISTS: blockers has a row with this id') END;
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

CREATE TRIGGER criteria_insert_needs_orchestrator_and_new_key BEFORE INSERT ON criteria
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM criteria t WHERE t.session_id = NEW.session_id AND t.id = NEW.id) THEN RAISE(ABORT, 'ALREADY_EXISTS: criteria has a row with this session_id, id') END;
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

CREATE TRIGGER handoffs_insert_needs_orchestrator_and_new_key BEFORE INSERT ON handoffs
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM handoffs t WHERE t.rowid = NEW.rowid) THEN RAISE(ABORT, 'ALREADY_EXISTS: handoffs has a row with this rowid')
    WHEN EXISTS (SELECT 1 FROM handoffs t WHERE t.session_id = NEW.session_id AND t.group_id = NEW.group_id AND t.turn = NEW.turn) THEN RAISE(ABORT, 'ALREADY_EXISTS: handoffs has a row with this session_id, group_id, turn') END;
END;

CREATE TRIGGER handoffs_are_never_changed BEFORE UPDATE ON handoffs
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN 1 THEN RAISE(ABORT, 'NEVER_CHANGED: rows of handoffs stay as they were written') END;
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

CREATE TRIGGER questions_insert_needs_orchestrator_and_new_key BEFORE INSERT ON questions
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM questions t WHERE t.id = NEW.id) THEN RAISE(ABORT, 'ALREADY_EXISTS: questions has a row with this id') END;
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

CREATE TRIGGER router_decisions_insert_needs_orchestrator_and_new_key BEFORE INSERT ON router_decisions
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM router_decisions t WHERE t.rowid = NEW.rowid) THEN RAISE(ABORT, 'ALREADY_EXISTS: router_decisions has a row with this rowid')
    WHEN EXISTS (SELECT 1 FROM router_decisions t WHERE t.session_id = NEW.session_id AND t.seq = NEW.seq AND t.part = NEW.part) THEN RAISE(ABORT, 'ALREADY_EXISTS: router_decisions has a row with this session_id, seq, part') END;
END;

CREATE TRIGGER router_decisions_are_never_changed BEFORE UPDATE ON router_decisions
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN 1 THEN RAISE(ABORT, 'NEVER_CHANGED: rows of router_decisions stay as they were written') END;
END;

CREATE TRIGGER task_groups_insert_needs_orchestrator_and_new_key BEFORE INSERT ON task_groups
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM task_groups t WHERE t.session_id = NEW.session_id AND t.id = NEW.id) THEN RAISE(ABORT, 'ALREADY_EXISTS: task_groups has a row with this session_id, id') END;
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

CREATE TRIGGER group_dependencies_insert_needs_orchestrator_and_new_key BEFORE INSERT ON group_dependencies
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM group_dependencies t WHERE t.session_id = NEW.session_id AND t.group_id = NEW.group_id AND t.depends_on = NEW.depends_on AND t.seq = NEW.seq) THEN RAISE(ABORT, 'ALREADY_EXISTS: group_dependencies has a row with this session_id, group_id, depends_on, seq') END;
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

CREATE TRIGGER tasks_insert_needs_orchestrator_and_new_key BEFORE INSERT ON tasks
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM tasks t WHERE t.session_id = NEW.session_id AND t.id = NEW.id) THEN RAISE(ABORT, 'ALREADY_EXISTS: tasks has a row with this session_id, id') END;
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

CREATE TRIGGER runs_insert_needs_orchestrator_and_new_key BEFORE INSERT ON runs
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM runs t WHERE t.id = NEW.id) THEN RAISE(ABORT, 'ALREADY_EXISTS: runs has a row with this id')
    WHEN EXISTS (SELECT 1 FROM runs t WHERE t.session_id = NEW.session_id AND t.id = NEW.id) THEN RAISE(ABORT, 'ALREADY_EXISTS: runs has a row with this session_id, id')
    WHEN EXISTS (SELECT 1 FROM runs t WHERE t.session_id = NEW.session_id AND t.log_id = NEW.log_id) THEN RAISE(ABORT, 'ALREADY_EXISTS: runs has a row with this session_id, log_id') END;
END;

CREATE TRIGGER task_dependencies_insert_needs_orchestrator_and_new_key BEFORE INSERT ON task_dependencies
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM task_dependencies t WHERE t.session_id = NEW.session_id AND t.task_id = NEW.task_id AND t.depends_on_id = NEW.depends_on_id AND t.seq = NEW.seq) THEN RAISE(ABORT, 'ALREADY_EXISTS: task_dependencies has a row with this session_id, task_id, depends_on_id, seq') END;
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

CREATE TRIGGER run_locks_insert_needs_orchestrator_and_new_key BEFORE INSERT ON run_locks
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM run_locks t WHERE t.session_id = NEW.session_id AND t.run_id = NEW.run_id AND t.path = NEW.path AND t.seq = NEW.seq) THEN RAISE(ABORT, 'ALREADY_EXISTS: run_locks has a row with this session_id, run_id, path, seq') END;
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

CREATE TRIGGER task_groups_completed_needs_path INSTEAD OF INSERT ON completion_claims
BEGIN
  SELECT CASE WHEN NEW.missing = 'approved' THEN RAISE(ABORT, 'COMPLETION_PATH_MISSING: approved is not met: tech_lead APPROVED + MERGE_SUCCESS, or project_manager BAZINGA acknowledging the group')
    WHEN NEW.missing = 'tested' THEN RAISE(ABORT, 'COMPLETION_PATH_MISSING: tested is not met: tech_lead APPROVED + MERGE_SUCCESS, or project_manager BAZINGA acknowledging the group')
    WHEN NEW.missing = 'merged' THEN RAISE(ABORT, 'COMPLETION_PATH_MISSING: merged is not met: tech_lead APPROVED + MERGE_SUCCESS, or project_manager BAZINGA acknowledging the group')
    WHEN NEW.missing = 'unblocked' THEN RAISE(ABORT, 'COMPLETION_PATH_MISSING: unblocked is not met: tech_lead APPROVED + MERGE_SUCCESS, or project_manager BAZINGA acknowledging the group')
    WHEN NEW.missing = 'reviewed' THEN RAISE(ABORT, 'COMPLETION_PATH_MISSING: reviewed is not met: tech_lead APPROVED + MERGE_SUCCESS, or project_manager BAZINGA acknowledging the group')
    WHEN NEW.missing = 'confirmed' THEN RAISE(ABORT, 'COMPLETION_PATH_MISSING: confirmed is not met: tech_lead APPROVED + MERGE_SUCCESS, or project_manager BAZINGA acknowledging the group')
    WHEN NEW.missing IS NOT 'nothing' THEN RAISE(ABORT, 'COMPLETION_PATH_MISSING: the group has no completion path: tech_lead APPROVED + MERGE_SUCCESS, or project_manager BAZINGA acknowledging the group')
    WHEN NEW.from_status IS NOT 'in_progress' THEN RAISE(ABORT, 'ILLEGAL_MOVE: a group is completed from in_progress only')
    WHEN NOT EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'group' AND c.entity_id = NEW.group_id AND c.seq = NEW.seq AND c.from_status = NEW.from_status AND c.to_status = 'completed' AND c.changed_by = NEW.changed_by) THEN RAISE(ABORT, 'STATUS_CHANGE_MISSING: a move needs the status_changes row of its step') END;
END;
