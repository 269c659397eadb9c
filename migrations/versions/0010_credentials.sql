CREATE TABLE human_credentials (
	id TEXT NOT NULL,
	seq INTEGER NOT NULL,
	agent_id TEXT NOT NULL,
	kind TEXT NOT NULL,
	created_at TEXT NOT NULL,
	verifier TEXT,
	source TEXT,
	rests_on TEXT,
	ends TEXT,
	due_at TEXT,
	CONSTRAINT pk_human_credentials PRIMARY KEY (id),
	CONSTRAINT ck_human_credentials_kind CHECK (kind IN ('passphrase', 'ssh-key', 'removal', 'reset', 'link', 'use')),
	CONSTRAINT uq_human_credentials_ends UNIQUE (ends),
	CONSTRAINT fk_human_credentials_agent_id FOREIGN KEY(agent_id) REFERENCES agents (id)
)
 WITHOUT ROWID;

CREATE TRIGGER human_credentials_insert_needs_orchestrator_and_new_key BEFORE INSERT ON human_credentials
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM human_credentials t WHERE t.ends = NEW.ends) THEN RAISE(ABORT, 'ALREADY_EXISTS: human_credentials has a row with this ends')
    WHEN EXISTS (SELECT 1 FROM human_credentials t WHERE t.id = NEW.id) THEN RAISE(ABORT, 'ALREADY_EXISTS: human_credentials has a row with this id') END;
END;

CREATE TRIGGER human_credentials_are_never_changed BEFORE UPDATE ON human_credentials
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN 1 THEN RAISE(ABORT, 'NEVER_CHANGED: rows of human_credentials stay as they were written') END;
END;

CREATE TRIGGER human_credentials_are_never_deleted BEFORE DELETE ON human_credentials
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of human_credentials stay');
END;
