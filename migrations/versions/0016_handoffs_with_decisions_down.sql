DROP VIEW handoffs;

DROP TRIGGER standalone_handoffs_insert_needs_orchestrator_and_new_key;

DROP TRIGGER standalone_handoffs_are_never_changed;

DROP TRIGGER standalone_handoffs_are_never_deleted;

DROP TRIGGER router_decisions_insert_needs_orchestrator_and_new_key;

CREATE TABLE handoffs (
	session_id TEXT NOT NULL,
	turn INTEGER NOT NULL,
	group_id TEXT NOT NULL,
	agent_id TEXT NOT NULL,
	document TEXT NOT NULL,
	hash TEXT NOT NULL,
	CONSTRAINT uq_handoffs_session_id_group_id_turn UNIQUE (session_id, group_id, turn),
	CONSTRAINT fk_handoffs_session_id FOREIGN KEY(session_id) REFERENCES sessions (id)
);

INSERT INTO handoffs SELECT session_id, turn, group_id, agent_id, document, hash FROM (
    SELECT session_id, seq AS turn, group_id, handoff_agent AS agent_id, handoff AS document, handoff_hash AS hash,
        part AS place FROM router_decisions WHERE handoff IS NOT NULL
    UNION ALL SELECT session_id, turn, group_id, agent_id, document, hash, rowid + 4294967296 FROM standalone_handoffs
) ORDER BY session_id, turn, place;

DROP TABLE standalone_handoffs;

ALTER TABLE router_decisions DROP COLUMN handoff;

ALTER TABLE router_decisions DROP COLUMN handoff_agent;

CREATE TRIGGER router_decisions_insert_needs_orchestrator_and_new_key BEFORE INSERT ON router_decisions
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM router_decisions t WHERE t.rowid = NEW.rowid) THEN RAISE(ABORT, 'ALREADY_EXISTS: router_decisions has a row with this rowid')
    WHEN EXISTS (SELECT 1 FROM router_decisions t WHERE t.session_id = NEW.session_id AND t.seq = NEW.seq AND t.part = NEW.part) THEN RAISE(ABORT, 'ALREADY_EXISTS: router_decisions has a row with this session_id, seq, part') END;
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

CREATE TRIGGER handoffs_are_never_deleted BEFORE DELETE ON handoffs
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of handoffs stay');
END;
