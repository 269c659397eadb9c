CREATE TRIGGER criteria_insert_needs_orchestrator BEFORE INSERT ON criteria
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER criteria_update_needs_orchestrator BEFORE UPDATE ON criteria
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER criteria_session_id_id_is_taken_once BEFORE INSERT ON criteria
WHEN EXISTS (SELECT 1 FROM criteria t WHERE t.session_id = NEW.session_id AND t.id = NEW.id)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: criteria has a row with this session_id, id');
END;

CREATE TRIGGER criteria_are_never_deleted BEFORE DELETE ON criteria
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of criteria stay');
END;

CREATE TRIGGER evidence_insert_needs_orchestrator BEFORE INSERT ON evidence
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER evidence_update_needs_orchestrator BEFORE UPDATE ON evidence
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER evidence_rowid_is_taken_once BEFORE INSERT ON evidence
WHEN EXISTS (SELECT 1 FROM evidence t WHERE t.rowid = NEW.rowid)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: evidence has a row with this rowid');
END;

CREATE TRIGGER evidence_session_id_seq_part_is_taken_once BEFORE INSERT ON evidence
WHEN EXISTS (SELECT 1 FROM evidence t WHERE t.session_id = NEW.session_id AND t.seq = NEW.seq AND t.part = NEW.part)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: evidence has a row with this session_id, seq, part');
END;

CREATE TRIGGER evidence_are_never_deleted BEFORE DELETE ON evidence
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of evidence stay');
END;

CREATE TRIGGER evidence_are_never_changed BEFORE UPDATE ON evidence
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: rows of evidence stay as they were written');
END;

CREATE TRIGGER sessions_accepted_needs_verdict BEFORE UPDATE OF outcome ON sessions
WHEN NEW.outcome = 'accepted' AND NEW.status IS NOT OLD.status AND ((OLD.status = 'active' AND NEW.status = 'paused') OR (OLD.status = 'paused' AND NEW.status = 'active') OR (OLD.status = 'active' AND NEW.status = 'ended') OR (OLD.status = 'paused' AND NEW.status = 'ended')) AND (NEW.status_seq >= OLD.status_seq AND EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.id AND c.entity = 'session' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by)) AND NOT EXISTS (SELECT 1 FROM agent_reports r INDEXED BY sqlite_autoindex_agent_reports_1 WHERE r.session_id = NEW.id AND r.seq = NEW.status_seq AND r.part = 1 AND r.role = 'validator' AND r.response_status = 'ACCEPT')
BEGIN
  SELECT RAISE(ABORT, 'VERDICT_MISSING: a session is accepted by the step of its ACCEPT alone');
END;

CREATE TRIGGER criteria_origins_are_fixed BEFORE UPDATE OF session_id, id, metric, operator, target, command, created_by, created_at, created_seq ON criteria
WHEN (NEW.session_id IS NOT OLD.session_id OR NEW.id IS NOT OLD.id OR NEW.metric IS NOT OLD.metric OR NEW.operator IS NOT OLD.operator OR NEW.target IS NOT OLD.target OR NEW.command IS NOT OLD.command OR NEW.created_by IS NOT OLD.created_by OR NEW.created_at IS NOT OLD.created_at OR NEW.created_seq IS NOT OLD.created_seq)
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: a criterion keeps what it measures');
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
