DROP TRIGGER handoffs_insert_needs_orchestrator_and_new_key;

DROP TRIGGER handoffs_are_never_changed;

DROP TRIGGER handoffs_are_never_deleted;

DROP TRIGGER router_decisions_insert_needs_orchestrator_and_new_key;

ALTER TABLE router_decisions ADD COLUMN handoff_agent TEXT;

ALTER TABLE router_decisions ADD COLUMN handoff TEXT;

CREATE TABLE standalone_handoffs (
	session_id TEXT NOT NULL,
	turn INTEGER NOT NULL,
	group_id TEXT NOT NULL,
	agent_id TEXT NOT NULL,
	document TEXT NOT NULL,
	hash TEXT NOT NULL,
	CONSTRAINT uq_standalone_handoffs_session_id_group_id_turn UNIQUE (session_id, group_id, turn),
	CONSTRAINT fk_standalone_handoffs_session_id FOREIGN KEY(session_id) REFERENCES sessions (id)
);

INSERT INTO standalone_handoffs SELECT * FROM handoffs ORDER BY rowid;

DROP TABLE handoffs;

CREATE VIEW handoffs AS
SELECT session_id, turn, group_id, agent_id, document, hash FROM standalone_handoffs
UNION ALL
SELECT session_id, seq, group_id, handoff_agent, handoff, handoff_hash FROM router_decisions INDEXED BY sqlite_autoindex_router_decisions_1 WHERE handoff IS NOT NULL OR handoff_agent IS NOT NULL;

CREATE TRIGGER router_decisions_insert_needs_orchestrator_and_new_key BEFORE INSERT ON router_decisions
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM router_decisions t WHERE t.rowid = NEW.rowid) THEN RAISE(ABORT, 'ALREADY_EXISTS: router_decisions has a row with this rowid')
    WHEN EXISTS (SELECT 1 FROM router_decisions t WHERE t.session_id = NEW.session_id AND t.seq = NEW.seq AND t.part = NEW.part) THEN RAISE(ABORT, 'ALREADY_EXISTS: router_decisions has a row with this session_id, seq, part')
    WHEN (NEW.handoff IS NULL) <> (NEW.handoff_agent IS NULL) OR (NEW.handoff IS NOT NULL AND (NEW.group_id IS NULL OR NEW.handoff_hash IS NULL)) THEN RAISE(ABORT, 'HANDOFF_INCOMPLETE: a hand-off with its decision has a group, an agent and a hash')
    WHEN NEW.handoff IS NOT NULL AND EXISTS (SELECT 1 FROM handoffs h WHERE h.session_id = NEW.session_id AND h.group_id = NEW.group_id AND h.turn = NEW.seq) THEN RAISE(ABORT, 'ALREADY_EXISTS: handoffs has a row with this session_id, group_id, turn') END;
END;

CREATE TRIGGER standalone_handoffs_insert_needs_orchestrator_and_new_key BEFORE INSERT ON standalone_handoffs
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM standalone_handoffs t WHERE t.rowid = NEW.rowid) THEN RAISE(ABORT, 'ALREADY_EXISTS: standalone_handoffs has a row with this rowid')
    WHEN EXISTS (SELECT 1 FROM standalone_handoffs t WHERE t.session_id = NEW.session_id AND t.group_id = NEW.group_id AND t.turn = NEW.turn) THEN RAISE(ABORT, 'ALREADY_EXISTS: standalone_handoffs has a row with this session_id, group_id, turn')
    WHEN EXISTS (SELECT 1 FROM router_decisions t INDEXED BY sqlite_autoindex_router_decisions_1 WHERE t.session_id = NEW.session_id AND t.seq = NEW.turn AND t.group_id = NEW.group_id AND t.handoff IS NOT NULL) THEN RAISE(ABORT, 'ALREADY_EXISTS: handoffs has a row with this session_id, group_id, turn') END;
END;

CREATE TRIGGER standalone_handoffs_are_never_changed BEFORE UPDATE ON standalone_handoffs
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN 1 THEN RAISE(ABORT, 'NEVER_CHANGED: rows of standalone_handoffs stay as they were written') END;
END;

CREATE TRIGGER standalone_handoffs_are_never_deleted BEFORE DELETE ON standalone_handoffs
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of standalone_handoffs stay');
END;
