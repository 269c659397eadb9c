CREATE TABLE runs (
	session_id TEXT NOT NULL,
	id TEXT NOT NULL,
	log_id TEXT NOT NULL,
	task_id TEXT NOT NULL,
	prompt TEXT NOT NULL,
	task_type TEXT NOT NULL,
	executor TEXT NOT NULL,
	provider TEXT NOT NULL,
	model TEXT,
	retry_of TEXT,
	verification_root TEXT NOT NULL,
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
	executor_status TEXT,
	error_code TEXT,
	error_reason TEXT,
	executor_blocked INTEGER DEFAULT 0 NOT NULL,
	blocked_reason TEXT,
	timeout_ms INTEGER,
	limit_name TEXT,
	files_modified_count INTEGER DEFAULT 0 NOT NULL,
	output TEXT,
	question_id TEXT,
	CONSTRAINT pk_runs PRIMARY KEY (session_id, id),
	CONSTRAINT uq_runs_id UNIQUE (id),
	CONSTRAINT uq_runs_session_id_log_id UNIQUE (session_id, log_id),
	CONSTRAINT fk_runs_session_id_task_id FOREIGN KEY(session_id, task_id) REFERENCES tasks (session_id, id),
	CONSTRAINT fk_runs_retry_of FOREIGN KEY(session_id, retry_of) REFERENCES runs (session_id, id),
	CONSTRAINT ck_runs_state CHECK (state IN ('queued', 'running', 'awaiting_response', 'complete', 'incomplete', 'error', 'cancelled')),
	CONSTRAINT ck_runs_task_type CHECK (task_type IN ('READ_INFO', 'REPORT', 'LIGHT_EDIT', 'IMPLEMENTATION', 'REVIEW_RESPONSE', 'CONFIG_CI_CHANGE', 'DANGEROUS_OP')),
	CONSTRAINT ck_runs_executor_status CHECK (executor_status IS NULL OR executor_status IN ('COMPLETE', 'INCOMPLETE', 'NO_EVIDENCE', 'ERROR', 'INVALID', 'BLOCKED')),
	CONSTRAINT ck_runs_blocked CHECK (executor_status IS NOT 'BLOCKED' OR task_type = 'DANGEROUS_OP'),
	CONSTRAINT ck_runs_ended CHECK ((state IN ('complete', 'incomplete', 'error', 'cancelled')) = (ended_at IS NOT NULL)),
	CONSTRAINT ck_runs_complete CHECK (state <> 'complete' OR executor_status IS 'COMPLETE'),
	CONSTRAINT ck_runs_reason CHECK (state NOT IN ('incomplete', 'error', 'cancelled') OR (error_reason IS NOT NULL AND error_reason <> '')),
	CONSTRAINT ck_runs_question CHECK (state <> 'awaiting_response' OR question_id IS NOT NULL),
	CONSTRAINT ck_runs_owner CHECK ((state = 'running') = (owner IS NOT NULL)),
	CONSTRAINT ck_runs_executor_blocked CHECK (executor_blocked IN (0, 1)),
	CONSTRAINT ck_runs_blocked_reason CHECK (executor_blocked = 0 OR blocked_reason IS NOT NULL),
	CONSTRAINT fk_runs_session_id FOREIGN KEY(session_id) REFERENCES sessions (id),
	CONSTRAINT fk_runs_queued_by FOREIGN KEY(queued_by) REFERENCES agents (id)
)
 WITHOUT ROWID;

CREATE INDEX ix_runs_created ON runs (session_id, created_seq);

CREATE INDEX ix_runs_open ON runs (state, id) WHERE ended_at IS NULL;

CREATE INDEX ix_runs_task ON runs (session_id, task_id);

CREATE TABLE run_events (
	session_id TEXT NOT NULL,
	seq INTEGER NOT NULL,
	part INTEGER DEFAULT 1 NOT NULL,
	run_id TEXT NOT NULL,
	at TEXT NOT NULL,
	kind TEXT NOT NULL,
	level TEXT NOT NULL,
	text TEXT NOT NULL,
	CONSTRAINT pk_run_events PRIMARY KEY (session_id, seq, part),
	CONSTRAINT ck_run_events_level CHECK (level IN ('summary', 'full')),
	CONSTRAINT fk_run_events_session_id_run_id FOREIGN KEY(session_id, run_id) REFERENCES runs (session_id, id)
)
 WITHOUT ROWID;

CREATE INDEX ix_run_events_run ON run_events (session_id, run_id, seq);

CREATE TABLE run_files (
	session_id TEXT NOT NULL,
	seq INTEGER NOT NULL,
	part INTEGER DEFAULT 1 NOT NULL,
	run_id TEXT NOT NULL,
	path TEXT NOT NULL,
	change TEXT,
	present INTEGER NOT NULL,
	detected_at TEXT NOT NULL,
	detection_method TEXT NOT NULL,
	CONSTRAINT pk_run_files PRIMARY KEY (session_id, seq, part),
	CONSTRAINT ck_run_files_detection_method CHECK (detection_method IN ('diff', 'executor_claim')),
	CONSTRAINT ck_run_files_present CHECK (present IN (0, 1)),
	CONSTRAINT fk_run_files_session_id_run_id FOREIGN KEY(session_id, run_id) REFERENCES runs (session_id, id)
)
 WITHOUT ROWID;

CREATE INDEX ix_run_files_run ON run_files (session_id, run_id, seq);

CREATE TABLE run_locks (
	session_id TEXT NOT NULL,
	run_id TEXT NOT NULL,
	path TEXT NOT NULL,
	mode TEXT NOT NULL,
	seq INTEGER NOT NULL,
	acquired_at TEXT NOT NULL,
	released_at TEXT,
	released_seq INTEGER,
	CONSTRAINT pk_run_locks PRIMARY KEY (session_id, run_id, path, seq),
	CONSTRAINT fk_run_locks_session_id_run_id FOREIGN KEY(session_id, run_id) REFERENCES runs (session_id, id),
	CONSTRAINT ck_run_locks_mode CHECK (mode IN ('read', 'write')),
	CONSTRAINT ck_run_locks_released CHECK ((released_at IS NULL) = (released_seq IS NULL))
)
 WITHOUT ROWID;

CREATE INDEX ix_run_locks_held ON run_locks (path) WHERE released_seq IS NULL;

CREATE TABLE run_violations (
	session_id TEXT NOT NULL,
	seq INTEGER NOT NULL,
	part INTEGER DEFAULT 1 NOT NULL,
	run_id TEXT NOT NULL,
	type TEXT NOT NULL,
	limit_value INTEGER NOT NULL,
	actual INTEGER NOT NULL,
	at TEXT NOT NULL,
	CONSTRAINT pk_run_violations PRIMARY KEY (session_id, seq, part),
	CONSTRAINT fk_run_violations_session_id_run_id FOREIGN KEY(session_id, run_id) REFERENCES runs (session_id, id)
)
 WITHOUT ROWID;

CREATE INDEX ix_run_violations_run ON run_violations (session_id, run_id, seq);

CREATE TRIGGER runs_insert_needs_orchestrator BEFORE INSERT ON runs
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER runs_update_needs_orchestrator BEFORE UPDATE ON runs
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER runs_id_is_taken_once BEFORE INSERT ON runs
WHEN EXISTS (SELECT 1 FROM runs t WHERE t.id = NEW.id)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: runs has a row with this id');
END;

CREATE TRIGGER runs_session_id_id_is_taken_once BEFORE INSERT ON runs
WHEN EXISTS (SELECT 1 FROM runs t WHERE t.session_id = NEW.session_id AND t.id = NEW.id)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: runs has a row with this session_id, id');
END;

CREATE TRIGGER runs_session_id_log_id_is_taken_once BEFORE INSERT ON runs
WHEN EXISTS (SELECT 1 FROM runs t WHERE t.session_id = NEW.session_id AND t.log_id = NEW.log_id)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: runs has a row with this session_id, log_id');
END;

CREATE TRIGGER runs_are_never_deleted BEFORE DELETE ON runs
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of runs stay');
END;

CREATE TRIGGER run_events_insert_needs_orchestrator BEFORE INSERT ON run_events
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER run_events_update_needs_orchestrator BEFORE UPDATE ON run_events
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER run_events_session_id_seq_part_is_taken_once BEFORE INSERT ON run_events
WHEN EXISTS (SELECT 1 FROM run_events t WHERE t.session_id = NEW.session_id AND t.seq = NEW.seq AND t.part = NEW.part)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: run_events has a row with this session_id, seq, part');
END;

CREATE TRIGGER run_events_are_never_deleted BEFORE DELETE ON run_events
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of run_events stay');
END;

CREATE TRIGGER run_events_are_never_changed BEFORE UPDATE ON run_events
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: rows of run_events stay as they were written');
END;

CREATE TRIGGER run_files_insert_needs_orchestrator BEFORE INSERT ON run_files
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER run_files_update_needs_orchestrator BEFORE UPDATE ON run_files
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER run_files_session_id_seq_part_is_taken_once BEFORE INSERT ON run_files
WHEN EXISTS (SELECT 1 FROM run_files t WHERE t.session_id = NEW.session_id AND t.seq = NEW.seq AND t.part = NEW.part)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: run_files has a row with this session_id, seq, part');
END;

CREATE TRIGGER run_files_are_never_deleted BEFORE DELETE ON run_files
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of run_files stay');
END;

CREATE TRIGGER run_files_are_never_changed BEFORE UPDATE ON run_files
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: rows of run_files stay as they were written');
END;

CREATE TRIGGER run_locks_insert_needs_orchestrator BEFORE INSERT ON run_locks
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER run_locks_update_needs_orchestrator BEFORE UPDATE ON run_locks
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER run_locks_session_id_run_id_path_seq_is_taken_once BEFORE INSERT ON run_locks
WHEN EXISTS (SELECT 1 FROM run_locks t WHERE t.session_id = NEW.session_id AND t.run_id = NEW.run_id AND t.path = NEW.path AND t.seq = NEW.seq)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: run_locks has a row with this session_id, run_id, path, seq');
END;

CREATE TRIGGER run_locks_are_never_deleted BEFORE DELETE ON run_locks
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of run_locks stay');
END;

CREATE TRIGGER run_violations_insert_needs_orchestrator BEFORE INSERT ON run_violations
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER run_violations_update_needs_orchestrator BEFORE UPDATE ON run_violations
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER run_violations_session_id_seq_part_is_taken_once BEFORE INSERT ON run_violations
WHEN EXISTS (SELECT 1 FROM run_violations t WHERE t.session_id = NEW.session_id AND t.seq = NEW.seq AND t.part = NEW.part)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: run_violations has a row with this session_id, seq, part');
END;

CREATE TRIGGER run_violations_are_never_deleted BEFORE DELETE ON run_violations
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of run_violations stay');
END;

CREATE TRIGGER run_violations_are_never_changed BEFORE UPDATE ON run_violations
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: rows of run_violations stay as they were written');
END;

CREATE TRIGGER runs_begin_queued BEFORE INSERT ON runs
WHEN NEW.state IS NOT 'queued'
BEGIN
  SELECT RAISE(ABORT, 'ILLEGAL_MOVE: a run begins as queued');
END;

CREATE TRIGGER runs_moves_are_legal BEFORE UPDATE OF state ON runs
WHEN NEW.state IS NOT OLD.state AND NOT ((OLD.state = 'queued' AND NEW.state = 'running') OR (OLD.state = 'queued' AND NEW.state = 'cancelled') OR (OLD.state = 'running' AND NEW.state = 'complete') OR (OLD.state = 'running' AND NEW.state = 'incomplete') OR (OLD.state = 'running' AND NEW.state = 'error') OR (OLD.state = 'running' AND NEW.state = 'awaiting_response') OR (OLD.state = 'running' AND NEW.state = 'cancelled') OR (OLD.state = 'awaiting_response' AND NEW.state = 'queued') OR (OLD.state = 'awaiting_response' AND NEW.state = 'incomplete') OR (OLD.state = 'awaiting_response' AND NEW.state = 'cancelled')) AND OLD.ended_at IS NULL
BEGIN
  SELECT RAISE(ABORT, 'ILLEGAL_MOVE: a run does not go from its state to this one');
END;

CREATE TRIGGER runs_moves_are_recorded BEFORE UPDATE OF state ON runs
WHEN NEW.state IS NOT OLD.state AND ((OLD.state = 'queued' AND NEW.state = 'running') OR (OLD.state = 'queued' AND NEW.state = 'cancelled') OR (OLD.state = 'running' AND NEW.state = 'complete') OR (OLD.state = 'running' AND NEW.state = 'incomplete') OR (OLD.state = 'running' AND NEW.state = 'error') OR (OLD.state = 'running' AND NEW.state = 'awaiting_response') OR (OLD.state = 'running' AND NEW.state = 'cancelled') OR (OLD.state = 'awaiting_response' AND NEW.state = 'queued') OR (OLD.state = 'awaiting_response' AND NEW.state = 'incomplete') OR (OLD.state = 'awaiting_response' AND NEW.state = 'cancelled')) AND NOT (NEW.state_seq >= OLD.state_seq AND EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'run' AND c.entity_id = NEW.id AND c.seq = NEW.state_seq AND c.from_status = OLD.state AND c.to_status = NEW.state AND c.changed_by = NEW.state_changed_by))
BEGIN
  SELECT RAISE(ABORT, 'STATUS_CHANGE_MISSING: a move needs the status_changes row of its step');
END;

CREATE TRIGGER runs_end_with_their_log BEFORE UPDATE OF state ON runs
WHEN NEW.state IS NOT OLD.state AND ((OLD.state = 'queued' AND NEW.state = 'running') OR (OLD.state = 'queued' AND NEW.state = 'cancelled') OR (OLD.state = 'running' AND NEW.state = 'complete') OR (OLD.state = 'running' AND NEW.state = 'incomplete') OR (OLD.state = 'running' AND NEW.state = 'error') OR (OLD.state = 'running' AND NEW.state = 'awaiting_response') OR (OLD.state = 'running' AND NEW.state = 'cancelled') OR (OLD.state = 'awaiting_response' AND NEW.state = 'queued') OR (OLD.state = 'awaiting_response' AND NEW.state = 'incomplete') OR (OLD.state = 'awaiting_response' AND NEW.state = 'cancelled')) AND (NEW.state_seq >= OLD.state_seq AND EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'run' AND c.entity_id = NEW.id AND c.seq = NEW.state_seq AND c.from_status = OLD.state AND c.to_status = NEW.state AND c.changed_by = NEW.state_changed_by)) AND NEW.ended_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM run_events e INDEXED BY ix_run_events_run WHERE e.session_id = NEW.session_id AND e.run_id = NEW.id AND e.seq = NEW.state_seq)
BEGIN
  SELECT RAISE(ABORT, 'LOG_MISSING: a run ends with its log, written in the same step');
END;

CREATE TRIGGER runs_complete_needs_proof BEFORE UPDATE OF state ON runs
WHEN NEW.state IS NOT OLD.state AND ((OLD.state = 'queued' AND NEW.state = 'running') OR (OLD.state = 'queued' AND NEW.state = 'cancelled') OR (OLD.state = 'running' AND NEW.state = 'complete') OR (OLD.state = 'running' AND NEW.state = 'incomplete') OR (OLD.state = 'running' AND NEW.state = 'error') OR (OLD.state = 'running' AND NEW.state = 'awaiting_response') OR (OLD.state = 'running' AND NEW.state = 'cancelled') OR (OLD.state = 'awaiting_response' AND NEW.state = 'queued') OR (OLD.state = 'awaiting_response' AND NEW.state = 'incomplete') OR (OLD.state = 'awaiting_response' AND NEW.state = 'cancelled')) AND (NEW.state_seq >= OLD.state_seq AND EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'run' AND c.entity_id = NEW.id AND c.seq = NEW.state_seq AND c.from_status = OLD.state AND c.to_status = NEW.state AND c.changed_by = NEW.state_changed_by)) AND NEW.state = 'complete' AND EXISTS (SELECT 1 FROM run_events e INDEXED BY ix_run_events_run WHERE e.session_id = NEW.session_id AND e.run_id = NEW.id AND e.seq = NEW.state_seq) AND NOT (EXISTS (SELECT 1 FROM evidence e WHERE e.session_id = NEW.session_id AND e.seq = NEW.state_seq AND e.kind = 'run' AND e.subject = NEW.id) AND (EXISTS (SELECT 1 FROM run_files f INDEXED BY ix_run_files_run WHERE f.session_id = NEW.session_id AND f.run_id = NEW.id AND f.seq = NEW.state_seq AND (f.present = 1 OR f.change = 'deleted')) OR (NEW.task_type IN ('READ_INFO', 'REPORT') AND NEW.output IS NOT NULL AND NEW.output <> '')))
BEGIN
  SELECT RAISE(ABORT, 'EVIDENCE_MISSING: a run is complete by what the runner verified, with its evidence');
END;

CREATE TRIGGER runs_await_an_open_question BEFORE UPDATE OF state ON runs
WHEN NEW.state IS NOT OLD.state AND ((OLD.state = 'queued' AND NEW.state = 'running') OR (OLD.state = 'queued' AND NEW.state = 'cancelled') OR (OLD.state = 'running' AND NEW.state = 'complete') OR (OLD.state = 'running' AND NEW.state = 'incomplete') OR (OLD.state = 'running' AND NEW.state = 'error') OR (OLD.state = 'running' AND NEW.state = 'awaiting_response') OR (OLD.state = 'running' AND NEW.state = 'cancelled') OR (OLD.state = 'awaiting_response' AND NEW.state = 'queued') OR (OLD.state = 'awaiting_response' AND NEW.state = 'incomplete') OR (OLD.state = 'awaiting_response' AND NEW.state = 'cancelled')) AND (NEW.state_seq >= OLD.state_seq AND EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'run' AND c.entity_id = NEW.id AND c.seq = NEW.state_seq AND c.from_status = OLD.state AND c.to_status = NEW.state AND c.changed_by = NEW.state_changed_by)) AND NEW.state = 'awaiting_response' AND NOT EXISTS (SELECT 1 FROM questions q WHERE q.id = NEW.question_id AND q.session_id = NEW.session_id AND q.task_id = NEW.task_id AND q.closed_seq IS NULL)
BEGIN
  SELECT RAISE(ABORT, 'QUESTION_MISSING: a run awaits the answer to an open question about its task');
END;

CREATE TRIGGER runs_stop_without_locks BEFORE UPDATE OF state ON runs
WHEN NEW.state IS NOT OLD.state AND ((OLD.state = 'queued' AND NEW.state = 'running') OR (OLD.state = 'queued' AND NEW.state = 'cancelled') OR (OLD.state = 'running' AND NEW.state = 'complete') OR (OLD.state = 'running' AND NEW.state = 'incomplete') OR (OLD.state = 'running' AND NEW.state = 'error') OR (OLD.state = 'running' AND NEW.state = 'awaiting_response') OR (OLD.state = 'running' AND NEW.state = 'cancelled') OR (OLD.state = 'awaiting_response' AND NEW.state = 'queued') OR (OLD.state = 'awaiting_response' AND NEW.state = 'incomplete') OR (OLD.state = 'awaiting_response' AND NEW.state = 'cancelled')) AND (NEW.state_seq >= OLD.state_seq AND EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'run' AND c.entity_id = NEW.id AND c.seq = NEW.state_seq AND c.from_status = OLD.state AND c.to_status = NEW.state AND c.changed_by = NEW.state_changed_by)) AND OLD.state = 'running' AND EXISTS (SELECT 1 FROM run_locks l WHERE l.session_id = OLD.session_id AND l.run_id = OLD.id AND l.released_seq IS NULL)
BEGIN
  SELECT RAISE(ABORT, 'LOCK_HELD: a run that stops running has released what it held');
END;

CREATE TRIGGER run_locks_exclude_writers BEFORE INSERT ON run_locks
WHEN NEW.released_seq IS NULL AND EXISTS (SELECT 1 FROM run_locks l INDEXED BY ix_run_locks_held WHERE l.path = NEW.path AND l.released_seq IS NULL AND 'write' IN (l.mode, NEW.mode))
BEGIN
  SELECT RAISE(ABORT, 'LOCK_HELD: a file has many readers or one writer');
END;

CREATE TRIGGER runs_never_change_when_ended BEFORE UPDATE ON runs
WHEN OLD.ended_at IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: a run that has ended stays as it is');
END;

CREATE TRIGGER runs_change_columns_follow_the_state BEFORE UPDATE OF state_changed_by, state_changed_at, state_seq, owner ON runs
WHEN NEW.state IS OLD.state AND OLD.ended_at IS NULL AND (NEW.state_changed_by IS NOT OLD.state_changed_by OR NEW.state_changed_at IS NOT OLD.state_changed_at OR NEW.state_seq IS NOT OLD.state_seq OR NEW.owner IS NOT OLD.owner)
BEGIN
  SELECT RAISE(ABORT, 'STATUS_CHANGE_MISSING: who changed a state, when, and who runs it is written with the change alone');
END;

CREATE TRIGGER runs_origins_are_fixed BEFORE UPDATE OF session_id, id, log_id, task_id, prompt, task_type, executor, provider, model, retry_of, verification_root, queued_by, queued_at, created_seq ON runs
WHEN (NEW.session_id IS NOT OLD.session_id OR NEW.id IS NOT OLD.id OR NEW.log_id IS NOT OLD.log_id OR NEW.task_id IS NOT OLD.task_id OR NEW.prompt IS NOT OLD.prompt OR NEW.task_type IS NOT OLD.task_type OR NEW.executor IS NOT OLD.executor OR NEW.provider IS NOT OLD.provider OR NEW.model IS NOT OLD.model OR NEW.retry_of IS NOT OLD.retry_of OR NEW.verification_root IS NOT OLD.verification_root OR NEW.queued_by IS NOT OLD.queued_by OR NEW.queued_at IS NOT OLD.queued_at OR NEW.created_seq IS NOT OLD.created_seq)
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: a run keeps what it was queued with');
END;

CREATE TRIGGER run_locks_origins_are_fixed BEFORE UPDATE OF session_id, run_id, path, mode, seq, acquired_at ON run_locks
WHEN (NEW.session_id IS NOT OLD.session_id OR NEW.run_id IS NOT OLD.run_id OR NEW.path IS NOT OLD.path OR NEW.mode IS NOT OLD.mode OR NEW.seq IS NOT OLD.seq OR NEW.acquired_at IS NOT OLD.acquired_at)
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: a lock keeps what it holds');
END;

CREATE TRIGGER run_locks_are_closed_once BEFORE UPDATE ON run_locks
WHEN OLD.released_seq IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: a lock is released once');
END;

CREATE TRIGGER run_locks_are_closed_whole BEFORE UPDATE OF released_at ON run_locks
WHEN OLD.released_seq IS NULL AND NEW.released_seq IS NULL AND (NEW.released_at IS NOT NULL)
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: a lock is released once, with the step that does it');
END;
