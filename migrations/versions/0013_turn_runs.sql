DROP TRIGGER run_locks_exclude_writers;

CREATE TABLE turn_runs (
	session_id TEXT NOT NULL,
	id TEXT NOT NULL,
	group_id TEXT,
	turn INTEGER NOT NULL,
	role TEXT NOT NULL,
	prompt TEXT NOT NULL,
	executor TEXT NOT NULL,
	model TEXT,
	folder TEXT NOT NULL,
	root TEXT NOT NULL,
	lock_key TEXT NOT NULL,
	queued_by TEXT NOT NULL,
	queued_at TEXT NOT NULL,
	created_seq INTEGER NOT NULL,
	state TEXT NOT NULL,
	state_changed_by TEXT NOT NULL,
	state_changed_at TEXT NOT NULL,
	state_seq INTEGER NOT NULL,
	owner TEXT,
	started_at TEXT,
	ended_at TEXT,
	reason TEXT,
	error_code TEXT,
	blocked_reason TEXT,
	timeout_ms INTEGER,
	limit_name TEXT,
	output TEXT,
	usage TEXT,
	CONSTRAINT pk_turn_runs PRIMARY KEY (session_id, id),
	CONSTRAINT uq_turn_runs_id UNIQUE (id),
	CONSTRAINT fk_turn_runs_session_id_group_id FOREIGN KEY(session_id, group_id) REFERENCES task_groups (session_id, id),
	CONSTRAINT ck_turn_runs_state CHECK (state IN ('queued', 'running', 'answered', 'no_answer', 'failed', 'limited')),
	CONSTRAINT ck_turn_runs_ended CHECK ((state IN ('answered', 'no_answer', 'failed', 'limited')) = (ended_at IS NOT NULL)),
	CONSTRAINT ck_turn_runs_owner CHECK ((ended_at IS NULL) = (owner IS NOT NULL)),
	CONSTRAINT ck_turn_runs_answer CHECK (state <> 'answered' OR (output IS NOT NULL AND output <> '')),
	CONSTRAINT ck_turn_runs_reason CHECK (state NOT IN ('no_answer', 'failed', 'limited') OR (reason IS NOT NULL AND reason <> '')),
	CONSTRAINT fk_turn_runs_session_id FOREIGN KEY(session_id) REFERENCES sessions (id),
	CONSTRAINT fk_turn_runs_queued_by FOREIGN KEY(queued_by) REFERENCES agents (id)
)
 WITHOUT ROWID;

CREATE INDEX ix_turn_runs_open ON turn_runs (state, id) WHERE ended_at IS NULL;

CREATE INDEX ix_turn_runs_turn ON turn_runs (session_id, group_id, turn);

CREATE TRIGGER turn_runs_insert_needs_orchestrator_and_new_key BEFORE INSERT ON turn_runs
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM turn_runs t WHERE t.id = NEW.id) THEN RAISE(ABORT, 'ALREADY_EXISTS: turn_runs has a row with this id')
    WHEN EXISTS (SELECT 1 FROM turn_runs t WHERE t.session_id = NEW.session_id AND t.id = NEW.id) THEN RAISE(ABORT, 'ALREADY_EXISTS: turn_runs has a row with this session_id, id') END;
END;

CREATE TRIGGER turn_runs_update_needs_orchestrator BEFORE UPDATE ON turn_runs
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER turn_runs_are_never_deleted BEFORE DELETE ON turn_runs
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of turn_runs stay');
END;

CREATE TRIGGER turn_runs_begin_queued BEFORE INSERT ON turn_runs
WHEN NEW.state IS NOT 'queued'
BEGIN
  SELECT RAISE(ABORT, 'ILLEGAL_MOVE: the run of a turn begins as queued');
END;

CREATE TRIGGER turn_runs_moves_are_legal BEFORE UPDATE OF state ON turn_runs
WHEN NEW.state IS NOT OLD.state AND NOT ((OLD.state = 'queued' AND NEW.state = 'running') OR (OLD.state = 'queued' AND NEW.state = 'failed') OR (OLD.state = 'running' AND NEW.state = 'answered') OR (OLD.state = 'running' AND NEW.state = 'no_answer') OR (OLD.state = 'running' AND NEW.state = 'failed') OR (OLD.state = 'running' AND NEW.state = 'limited')) AND OLD.ended_at IS NULL
BEGIN
  SELECT RAISE(ABORT, 'ILLEGAL_MOVE: the run of a turn does not go from its state to this one');
END;

CREATE TRIGGER turn_runs_moves_are_recorded BEFORE UPDATE OF state ON turn_runs
WHEN NEW.state IS NOT OLD.state AND ((OLD.state = 'queued' AND NEW.state = 'running') OR (OLD.state = 'queued' AND NEW.state = 'failed') OR (OLD.state = 'running' AND NEW.state = 'answered') OR (OLD.state = 'running' AND NEW.state = 'no_answer') OR (OLD.state = 'running' AND NEW.state = 'failed') OR (OLD.state = 'running' AND NEW.state = 'limited')) AND NOT (NEW.state_seq >= OLD.state_seq AND EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'turn' AND c.entity_id = NEW.id AND c.seq = NEW.state_seq AND c.from_status = OLD.state AND c.to_status = NEW.state AND c.changed_by = NEW.state_changed_by))
BEGIN
  SELECT RAISE(ABORT, 'STATUS_CHANGE_MISSING: a move needs the status_changes row of its step');
END;

CREATE TRIGGER turn_runs_exclude_each_other BEFORE UPDATE OF state ON turn_runs
WHEN NEW.state IS NOT OLD.state AND ((OLD.state = 'queued' AND NEW.state = 'running') OR (OLD.state = 'queued' AND NEW.state = 'failed') OR (OLD.state = 'running' AND NEW.state = 'answered') OR (OLD.state = 'running' AND NEW.state = 'no_answer') OR (OLD.state = 'running' AND NEW.state = 'failed') OR (OLD.state = 'running' AND NEW.state = 'limited')) AND (NEW.state_seq >= OLD.state_seq AND EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'turn' AND c.entity_id = NEW.id AND c.seq = NEW.state_seq AND c.from_status = OLD.state AND c.to_status = NEW.state AND c.changed_by = NEW.state_changed_by)) AND NEW.state = 'running' AND (EXISTS (SELECT 1 FROM turn_runs t INDEXED BY ix_turn_runs_open WHERE t.ended_at IS NULL AND t.state = 'running' AND t.id <> NEW.id AND (t.lock_key = NEW.lock_key OR t.folder = NEW.folder)) OR EXISTS (SELECT 1 FROM run_locks l INDEXED BY ix_run_locks_held WHERE l.path IN (NEW.folder, NEW.lock_key) AND l.released_seq IS NULL))
BEGIN
  SELECT RAISE(ABORT, 'LOCK_HELD: one turn at a time works on a group, and in a folder');
END;

CREATE TRIGGER turn_runs_end_with_their_log BEFORE UPDATE OF state ON turn_runs
WHEN NEW.state IS NOT OLD.state AND ((OLD.state = 'queued' AND NEW.state = 'running') OR (OLD.state = 'queued' AND NEW.state = 'failed') OR (OLD.state = 'running' AND NEW.state = 'answered') OR (OLD.state = 'running' AND NEW.state = 'no_answer') OR (OLD.state = 'running' AND NEW.state = 'failed') OR (OLD.state = 'running' AND NEW.state = 'limited')) AND (NEW.state_seq >= OLD.state_seq AND EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'turn' AND c.entity_id = NEW.id AND c.seq = NEW.state_seq AND c.from_status = OLD.state AND c.to_status = NEW.state AND c.changed_by = NEW.state_changed_by)) AND NEW.ended_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM evidence e WHERE e.session_id = NEW.session_id AND e.seq = NEW.state_seq AND e.kind = 'turn' AND e.subject = NEW.id)
BEGIN
  SELECT RAISE(ABORT, 'LOG_MISSING: the run of a turn ends with what was seen and how it was judged, written in the same step');
END;

CREATE TRIGGER turn_runs_answered_needs_proof BEFORE UPDATE OF state ON turn_runs
WHEN NEW.state IS NOT OLD.state AND ((OLD.state = 'queued' AND NEW.state = 'running') OR (OLD.state = 'queued' AND NEW.state = 'failed') OR (OLD.state = 'running' AND NEW.state = 'answered') OR (OLD.state = 'running' AND NEW.state = 'no_answer') OR (OLD.state = 'running' AND NEW.state = 'failed') OR (OLD.state = 'running' AND NEW.state = 'limited')) AND (NEW.state_seq >= OLD.state_seq AND EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'turn' AND c.entity_id = NEW.id AND c.seq = NEW.state_seq AND c.from_status = OLD.state AND c.to_status = NEW.state AND c.changed_by = NEW.state_changed_by)) AND NEW.state = 'answered' AND EXISTS (SELECT 1 FROM evidence e WHERE e.session_id = NEW.session_id AND e.seq = NEW.state_seq AND e.kind = 'turn' AND e.subject = NEW.id) AND NOT EXISTS (SELECT 1 FROM evidence e WHERE e.session_id = NEW.session_id AND e.seq = NEW.state_seq AND e.kind = 'operation' AND e.subject = NEW.id || '-execute')
BEGIN
  SELECT RAISE(ABORT, 'EVIDENCE_MISSING: a turn is answered by what an executor said, with the evidence that it was called');
END;

CREATE TRIGGER turn_runs_never_change_when_ended BEFORE UPDATE ON turn_runs
WHEN OLD.ended_at IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: the run of a turn that has ended stays as it is');
END;

CREATE TRIGGER turn_runs_change_columns_follow_the_state BEFORE UPDATE OF state_changed_by, state_changed_at, state_seq, owner ON turn_runs
WHEN NEW.state IS OLD.state AND OLD.ended_at IS NULL AND (NEW.state_changed_by IS NOT OLD.state_changed_by OR NEW.state_changed_at IS NOT OLD.state_changed_at OR NEW.state_seq IS NOT OLD.state_seq OR NEW.owner IS NOT OLD.owner)
BEGIN
  SELECT RAISE(ABORT, 'STATUS_CHANGE_MISSING: who changed a state, when, and who runs it is written with the change alone');
END;

CREATE TRIGGER turn_runs_origins_are_fixed BEFORE UPDATE OF session_id, id, group_id, turn, role, prompt, executor, model, folder, root, lock_key, queued_by, queued_at, created_seq ON turn_runs
WHEN (NEW.session_id IS NOT OLD.session_id OR NEW.id IS NOT OLD.id OR NEW.group_id IS NOT OLD.group_id OR NEW.turn IS NOT OLD.turn OR NEW.role IS NOT OLD.role OR NEW.prompt IS NOT OLD.prompt OR NEW.executor IS NOT OLD.executor OR NEW.model IS NOT OLD.model OR NEW.folder IS NOT OLD.folder OR NEW.root IS NOT OLD.root OR NEW.lock_key IS NOT OLD.lock_key OR NEW.queued_by IS NOT OLD.queued_by OR NEW.queued_at IS NOT OLD.queued_at OR NEW.created_seq IS NOT OLD.created_seq)
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: the run of a turn keeps what it was queued with');
END;

CREATE TRIGGER run_locks_exclude_writers BEFORE INSERT ON run_locks
WHEN NEW.released_seq IS NULL AND (EXISTS (SELECT 1 FROM run_locks l INDEXED BY ix_run_locks_held WHERE l.path = NEW.path AND l.released_seq IS NULL AND 'write' IN (l.mode, NEW.mode)) OR EXISTS (SELECT 1 FROM turn_runs t INDEXED BY ix_turn_runs_open WHERE t.ended_at IS NULL AND t.state = 'running' AND NEW.path IN (t.folder, t.lock_key)))
BEGIN
  SELECT RAISE(ABORT, 'LOCK_HELD: a file has many readers or one writer');
END;
