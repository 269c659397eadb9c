CREATE TRIGGER imported_sessions_insert_needs_orchestrator BEFORE INSERT ON imported_sessions
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER imported_sessions_update_needs_orchestrator BEFORE UPDATE ON imported_sessions
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER imported_sessions_session_id_is_taken_once BEFORE INSERT ON imported_sessions
WHEN EXISTS (SELECT 1 FROM imported_sessions t WHERE t.session_id = NEW.session_id)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: imported_sessions has a row with this session_id');
END;

CREATE TRIGGER imported_sessions_are_never_deleted BEFORE DELETE ON imported_sessions
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of imported_sessions stay');
END;

CREATE TRIGGER imported_sessions_are_never_changed BEFORE UPDATE ON imported_sessions
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: rows of imported_sessions stay as they were written');
END;

CREATE TRIGGER grandfathered_groups_insert_needs_orchestrator BEFORE INSERT ON grandfathered_groups
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER grandfathered_groups_update_needs_orchestrator BEFORE UPDATE ON grandfathered_groups
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER grandfathered_groups_session_id_group_id_is_taken_once BEFORE INSERT ON grandfathered_groups
WHEN EXISTS (SELECT 1 FROM grandfathered_groups t WHERE t.session_id = NEW.session_id AND t.group_id = NEW.group_id)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: grandfathered_groups has a row with this session_id, group_id');
END;

CREATE TRIGGER grandfathered_groups_are_never_deleted BEFORE DELETE ON grandfathered_groups
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of grandfathered_groups stay');
END;

CREATE TRIGGER grandfathered_groups_are_never_changed BEFORE UPDATE ON grandfathered_groups
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: rows of grandfathered_groups stay as they were written');
END;

CREATE TRIGGER import_findings_insert_needs_orchestrator BEFORE INSERT ON import_findings
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER import_findings_update_needs_orchestrator BEFORE UPDATE ON import_findings
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER import_findings_session_id_seq_part_is_taken_once BEFORE INSERT ON import_findings
WHEN EXISTS (SELECT 1 FROM import_findings t WHERE t.session_id = NEW.session_id AND t.seq = NEW.seq AND t.part = NEW.part)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: import_findings has a row with this session_id, seq, part');
END;

CREATE TRIGGER import_findings_are_never_deleted BEFORE DELETE ON import_findings
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of import_findings stay');
END;

CREATE TRIGGER import_findings_are_never_changed BEFORE UPDATE ON import_findings
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: rows of import_findings stay as they were written');
END;

CREATE TRIGGER imported_logs_insert_needs_orchestrator BEFORE INSERT ON imported_logs
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER imported_logs_update_needs_orchestrator BEFORE UPDATE ON imported_logs
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER imported_logs_rowid_is_taken_once BEFORE INSERT ON imported_logs
WHEN EXISTS (SELECT 1 FROM imported_logs t WHERE t.rowid = NEW.rowid)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: imported_logs has a row with this rowid');
END;

CREATE TRIGGER imported_logs_session_id_seq_part_is_taken_once BEFORE INSERT ON imported_logs
WHEN EXISTS (SELECT 1 FROM imported_logs t WHERE t.session_id = NEW.session_id AND t.seq = NEW.seq AND t.part = NEW.part)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: imported_logs has a row with this session_id, seq, part');
END;

CREATE TRIGGER imported_logs_are_never_deleted BEFORE DELETE ON imported_logs
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of imported_logs stay');
END;

CREATE TRIGGER imported_logs_are_never_changed BEFORE UPDATE ON imported_logs
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: rows of imported_logs stay as they were written');
END;

CREATE TRIGGER task_groups_begin_pending BEFORE INSERT ON task_groups
WHEN NEW.status IS NOT 'pending' AND NOT (NEW.status = 'in_progress' AND NEW.kind = 'chat') AND NOT (NEW.status_changed_by IS NULL AND NEW.status_seq = NEW.created_seq AND EXISTS (SELECT 1 FROM imported_sessions i WHERE i.session_id = NEW.session_id AND i.seq = NEW.created_seq) AND NOT EXISTS (SELECT 1 FROM audit_events e INDEXED BY sqlite_autoindex_audit_events_1 WHERE e.session_id = NEW.session_id) AND (NEW.status = 'in_progress' OR (NEW.status = 'completed' AND EXISTS (SELECT 1 FROM grandfathered_groups f WHERE f.session_id = NEW.session_id AND f.group_id = NEW.id AND f.seq = NEW.created_seq))))
BEGIN
  SELECT RAISE(ABORT, 'ILLEGAL_MOVE: a group begins as pending, or a chat group as in_progress');
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
