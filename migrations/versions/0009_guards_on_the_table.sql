DROP TRIGGER blockers_are_closed_whole;

DROP TRIGGER questions_are_closed_whole;

DROP TRIGGER task_groups_completed_needs_path;

DROP TRIGGER task_groups_completed_is_claimed;

DROP VIEW group_reasons;

DROP VIEW completion_claims;

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
    CASE WHEN kind = 'chat' THEN 'chat' WHEN kind = 'research' THEN 'not_required' WHEN mandatory_seq IS NOT NULL AND (tech_lead_seq > mandatory_seq) IS NOT 1 THEN 'no_review' WHEN security_sensitive <> 0 AND (tech_lead_seq > base_seq) IS NOT 1 THEN 'no_security_review' WHEN mandatory_seq IS NULL AND security_sensitive = 0 THEN 'not_required' WHEN 1 THEN 'reviewed' END AS reviewed_why
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
        SELECT status = 'in_progress' AND open_blocker IS NULL AND open_question IS NULL AND open_task IS NULL AND no_task_done = 0 AND CASE CASE WHEN kind = 'chat' THEN 'chat' WHEN standing_seq IS NULL THEN 'never' WHEN standing_seq <= base_seq THEN 'reopened' WHEN (standing_effect = 'approve' AND standing_seq > base_seq) THEN 'approved' WHEN 1 THEN 'voided' END WHEN 'approved' THEN 1 ELSE 0 END AND CASE CASE WHEN kind = 'chat' THEN 'chat' WHEN kind = 'research' THEN 'not_required' WHEN (submit_test_seq > base_seq OR submit_review_seq > base_seq) IS NOT 1 THEN 'no_submission' WHEN test_fail_seq > base_seq AND (test_pass_seq IS NULL OR test_fail_seq > test_pass_seq) THEN 'open_test_fail' WHEN submit_test_seq > base_seq AND passed_seq IS NOT NULL THEN 'test_pass' WHEN testing_mode IN ('minimal', 'disabled') THEN 'testing_mode' WHEN ((submit_test_seq > base_seq) IS NOT 1 AND (qa_seq > base_seq) IS NOT 1) THEN 'qa_not_asked' WHEN qa_answer_effect IN ('block', 'inconclusive') AND qa_answer_seq > base_seq AND (standing_effect = 'approve' AND standing_seq > base_seq) THEN 'unfinished_accepted' WHEN submit_test_seq > base_seq AND (qa_answer_seq > submit_test_seq) IS NOT 1 THEN 'qa_unanswered' WHEN 1 THEN 'no_test_pass' END WHEN 'not_required' THEN 1 WHEN 'test_pass' THEN 1 WHEN 'testing_mode' THEN 1 WHEN 'qa_not_asked' THEN 1 WHEN 'unfinished_accepted' THEN 1 ELSE 0 END AND CASE CASE WHEN kind = 'chat' THEN 'chat' WHEN kind = 'research' THEN 'not_required' WHEN merge_seq IS NULL THEN 'never' WHEN merge_seq <= base_seq THEN 'reopened' WHEN (standing_effect = 'approve' AND standing_seq > base_seq) AND merge_seq > standing_seq THEN 'merged' WHEN (standing_effect = 'approve' AND standing_seq > base_seq) THEN 'before_approval' WHEN 1 THEN 'voided' END WHEN 'not_required' THEN 1 WHEN 'merged' THEN 1 ELSE 0 END AND CASE CASE WHEN kind = 'chat' THEN 'chat' WHEN kind = 'research' THEN 'not_required' WHEN mandatory_seq IS NOT NULL AND (tech_lead_seq > mandatory_seq) IS NOT 1 THEN 'no_review' WHEN security_sensitive <> 0 AND (tech_lead_seq > base_seq) IS NOT 1 THEN 'no_security_review' WHEN mandatory_seq IS NULL AND security_sensitive = 0 THEN 'not_required' WHEN 1 THEN 'reviewed' END WHEN 'not_required' THEN 1 WHEN 'not_required' THEN 1 WHEN 'reviewed' THEN 1 ELSE 0 END FROM (
          SELECT DISTINCT kind, status, security_sensitive, testing_mode, base_seq, standing_seq, standing_effect, merge_seq, submit_test_seq, submit_review_seq, test_pass_seq, test_fail_seq, passed_seq, qa_seq, qa_answer_seq, qa_answer_effect, tech_lead_seq, mandatory_seq, open_blocker, open_question, open_task, no_task_done
          FROM group_marks k WHERE k.session_id = m.session_id AND k.group_id = w.group_id
        )
      ) IS NOT 1 LIMIT 1
    ) AS waits_on
  FROM group_marks m
);

CREATE TRIGGER blockers_are_closed_whole BEFORE UPDATE OF resolved_seq, resolved_at, resolved_by, resolution, resolution_note ON blockers
WHEN OLD.resolved_seq IS NULL AND (NEW.resolved_seq IS NULL AND (NEW.resolved_at IS NOT NULL OR NEW.resolved_by IS NOT NULL OR NEW.resolution IS NOT NULL OR NEW.resolution_note IS NOT NULL) OR NEW.resolved_seq IS NOT NULL AND (NEW.resolved_at IS NULL OR NEW.resolved_by IS NULL OR NEW.resolution IS NULL))
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: a blocker is resolved once, with the step that does it');
END;

CREATE TRIGGER questions_are_closed_whole BEFORE UPDATE OF closed_seq, decision, closed_at, closed_by, answer, note, channel ON questions
WHEN OLD.closed_seq IS NULL AND (NEW.closed_seq IS NULL AND (NEW.decision IS NOT NULL OR NEW.closed_at IS NOT NULL OR NEW.closed_by IS NOT NULL OR NEW.answer IS NOT NULL OR NEW.note IS NOT NULL OR NEW.channel IS NOT NULL) OR NEW.closed_seq IS NOT NULL AND (NEW.closed_at IS NULL OR NEW.closed_by IS NULL))
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: a question is closed once, with the step that does it');
END;

CREATE TRIGGER task_groups_completed_needs_path BEFORE UPDATE OF status ON task_groups
WHEN NEW.status IS NOT OLD.status AND NEW.status = 'completed'
BEGIN
  SELECT CASE (
      SELECT CASE WHEN p.valid = 1 THEN 'nothing' ELSE p.missing END FROM completion_paths p
      WHERE p.session_id = OLD.session_id AND p.group_id = OLD.id
    )
    WHEN 'approved' THEN RAISE(ABORT, 'COMPLETION_PATH_MISSING: approved is not met: tech_lead APPROVED + MERGE_SUCCESS, or project_manager BAZINGA acknowledging the group')
    WHEN 'tested' THEN RAISE(ABORT, 'COMPLETION_PATH_MISSING: tested is not met: tech_lead APPROVED + MERGE_SUCCESS, or project_manager BAZINGA acknowledging the group')
    WHEN 'merged' THEN RAISE(ABORT, 'COMPLETION_PATH_MISSING: merged is not met: tech_lead APPROVED + MERGE_SUCCESS, or project_manager BAZINGA acknowledging the group')
    WHEN 'unblocked' THEN RAISE(ABORT, 'COMPLETION_PATH_MISSING: unblocked is not met: tech_lead APPROVED + MERGE_SUCCESS, or project_manager BAZINGA acknowledging the group')
    WHEN 'reviewed' THEN RAISE(ABORT, 'COMPLETION_PATH_MISSING: reviewed is not met: tech_lead APPROVED + MERGE_SUCCESS, or project_manager BAZINGA acknowledging the group')
    WHEN 'confirmed' THEN RAISE(ABORT, 'COMPLETION_PATH_MISSING: confirmed is not met: tech_lead APPROVED + MERGE_SUCCESS, or project_manager BAZINGA acknowledging the group')
    WHEN 'nothing' THEN CASE
      WHEN OLD.status IS NOT 'in_progress'
        THEN RAISE(ABORT, 'ILLEGAL_MOVE: a group is completed from in_progress only')
      WHEN NOT EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'group' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by) THEN RAISE(ABORT, 'STATUS_CHANGE_MISSING: a move needs the status_changes row of its step') END
    ELSE RAISE(ABORT, 'COMPLETION_PATH_MISSING: the group has no completion path: tech_lead APPROVED + MERGE_SUCCESS, or project_manager BAZINGA acknowledging the group') END;
END;
