DROP TRIGGER task_groups_update_needs_orchestrator;

DROP TRIGGER criteria_origins_are_fixed;

DROP TRIGGER task_groups_keys_are_fixed;

DROP TRIGGER criteria_are_approved_by_record;

DROP TABLE starts;

DROP TABLE adoptions;

ALTER TABLE criteria DROP COLUMN approved_seq;

ALTER TABLE criteria DROP COLUMN approved_by;

ALTER TABLE criteria DROP COLUMN approval;

ALTER TABLE criteria DROP COLUMN due_at;

ALTER TABLE criteria DROP COLUMN group_id;

ALTER TABLE task_groups DROP COLUMN description;

CREATE TRIGGER task_groups_update_needs_orchestrator BEFORE UPDATE OF session_id, id, name, kind, security_sensitive, complexity, priority, created_by, created_at, created_seq, awaited_role, awaited_agent_id, awaited_action, turn, awaited_since, held, held_seq, held_part, qa_attempts, tl_review_attempts, merge_attempts, iterations, senior, builder_role, builder_agent_id, progress_seq, answered_seq ON task_groups
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER criteria_origins_are_fixed BEFORE UPDATE OF session_id, id, metric, operator, target, command, created_by, created_at, created_seq ON criteria
WHEN (NEW.session_id IS NOT OLD.session_id OR NEW.id IS NOT OLD.id OR NEW.metric IS NOT OLD.metric OR NEW.operator IS NOT OLD.operator OR NEW.target IS NOT OLD.target OR NEW.command IS NOT OLD.command OR NEW.created_by IS NOT OLD.created_by OR NEW.created_at IS NOT OLD.created_at OR NEW.created_seq IS NOT OLD.created_seq)
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: a criterion keeps what it measures');
END;

CREATE TRIGGER task_groups_keys_are_fixed BEFORE UPDATE OF session_id, id, created_by, created_at, created_seq ON task_groups
WHEN (NEW.session_id IS NOT OLD.session_id OR NEW.id IS NOT OLD.id OR NEW.created_by IS NOT OLD.created_by OR NEW.created_at IS NOT OLD.created_at OR NEW.created_seq IS NOT OLD.created_seq)
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: a group keeps its key and its origin');
END;
