DROP TRIGGER task_groups_update_needs_orchestrator;

DROP TRIGGER criteria_origins_are_fixed;

DROP TRIGGER task_groups_keys_are_fixed;

ALTER TABLE task_groups ADD COLUMN description TEXT;

ALTER TABLE criteria ADD COLUMN group_id TEXT;

ALTER TABLE criteria ADD COLUMN due_at TEXT;

ALTER TABLE criteria ADD COLUMN approval TEXT;

ALTER TABLE criteria ADD COLUMN approved_by TEXT;

ALTER TABLE criteria ADD COLUMN approved_seq INTEGER;

CREATE TABLE adoptions (
	session_id TEXT NOT NULL,
	seq INTEGER NOT NULL,
	client TEXT,
	adopted_at TEXT NOT NULL,
	CONSTRAINT pk_adoptions PRIMARY KEY (session_id, seq),
	CONSTRAINT fk_adoptions_session_id FOREIGN KEY(session_id) REFERENCES sessions (id)
)
 WITHOUT ROWID;

CREATE INDEX ix_adoptions_client ON adoptions (client, session_id, seq);

CREATE TABLE starts (
	session_id TEXT NOT NULL,
	group_id TEXT NOT NULL,
	turn INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	role TEXT NOT NULL,
	agent_id TEXT NOT NULL,
	via TEXT NOT NULL,
	client TEXT NOT NULL,
	owner TEXT,
	call_id TEXT,
	isolation TEXT,
	started_at TEXT NOT NULL,
	worker TEXT,
	trace TEXT,
	bound_at TEXT,
	bound_seq INTEGER,
	ended_at TEXT,
	ended_seq INTEGER,
	outcome TEXT,
	reason TEXT,
	due_at TEXT,
	CONSTRAINT pk_starts PRIMARY KEY (session_id, group_id, turn, seq),
	CONSTRAINT ck_starts_via CHECK (via IN ('hook', 'mcp', 'drive')),
	CONSTRAINT ck_starts_isolation CHECK (isolation IS NULL OR isolation IN ('worktree', 'none')),
	CONSTRAINT ck_starts_outcome CHECK (outcome IS NULL OR outcome IN ('failed', 'lost', 'freed', 'limited')),
	CONSTRAINT ck_starts_ended CHECK ((ended_seq IS NULL) = (ended_at IS NULL) AND (ended_seq IS NULL) = (outcome IS NULL)),
	CONSTRAINT ck_starts_bound CHECK ((bound_seq IS NULL) = (bound_at IS NULL)),
	CONSTRAINT fk_starts_session_id FOREIGN KEY(session_id) REFERENCES sessions (id)
)
 WITHOUT ROWID;

CREATE INDEX ix_starts_client ON starts (client, worker);

CREATE INDEX ix_starts_open ON starts (session_id, group_id, turn) WHERE ended_seq IS NULL;

CREATE TRIGGER adoptions_insert_needs_orchestrator_and_new_key BEFORE INSERT ON adoptions
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM adoptions t WHERE t.session_id = NEW.session_id AND t.seq = NEW.seq) THEN RAISE(ABORT, 'ALREADY_EXISTS: adoptions has a row with this session_id, seq') END;
END;

CREATE TRIGGER adoptions_are_never_changed BEFORE UPDATE ON adoptions
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN 1 THEN RAISE(ABORT, 'NEVER_CHANGED: rows of adoptions stay as they were written') END;
END;

CREATE TRIGGER adoptions_are_never_deleted BEFORE DELETE ON adoptions
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of adoptions stay');
END;

CREATE TRIGGER starts_insert_needs_orchestrator_and_new_key BEFORE INSERT ON starts
BEGIN
  SELECT CASE WHEN orchestrator_write() IS NOT 1 THEN RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database')
    WHEN EXISTS (SELECT 1 FROM starts t WHERE t.session_id = NEW.session_id AND t.group_id = NEW.group_id AND t.turn = NEW.turn AND t.seq = NEW.seq) THEN RAISE(ABORT, 'ALREADY_EXISTS: starts has a row with this session_id, group_id, turn, seq') END;
END;

CREATE TRIGGER starts_update_needs_orchestrator BEFORE UPDATE ON starts
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER starts_are_never_deleted BEFORE DELETE ON starts
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of starts stay');
END;

CREATE TRIGGER criteria_are_approved_by_record BEFORE UPDATE OF approval, approved_by, approved_seq ON criteria
WHEN (NEW.approval IS NOT OLD.approval OR NEW.approved_by IS NOT OLD.approved_by OR NEW.approved_seq IS NOT OLD.approved_seq) AND NOT (OLD.approval = 'pending' AND NEW.approval = 'approved' AND EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'criterion_command' AND c.entity_id = NEW.id AND c.seq = NEW.approved_seq AND c.to_status = 'approved' AND c.changed_by = NEW.approved_by))
BEGIN
  SELECT RAISE(ABORT, 'STATUS_CHANGE_MISSING: an approved command needs the status_changes row of its step (criterion_command)');
END;

CREATE TRIGGER starts_come_one_after_another BEFORE INSERT ON starts
WHEN NEW.ended_seq IS NULL AND EXISTS (SELECT 1 FROM starts s INDEXED BY ix_starts_open WHERE s.session_id = NEW.session_id AND s.group_id = NEW.group_id AND s.turn = NEW.turn AND s.ended_seq IS NULL AND s.seq <> NEW.seq)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: the turn is started already');
END;

CREATE TRIGGER starts_origins_are_fixed BEFORE UPDATE OF session_id, group_id, turn, seq, role, agent_id, via, client, owner, call_id, isolation, started_at ON starts
WHEN (NEW.session_id IS NOT OLD.session_id OR NEW.group_id IS NOT OLD.group_id OR NEW.turn IS NOT OLD.turn OR NEW.seq IS NOT OLD.seq OR NEW.role IS NOT OLD.role OR NEW.agent_id IS NOT OLD.agent_id OR NEW.via IS NOT OLD.via OR NEW.client IS NOT OLD.client OR NEW.owner IS NOT OLD.owner OR NEW.call_id IS NOT OLD.call_id OR NEW.isolation IS NOT OLD.isolation OR NEW.started_at IS NOT OLD.started_at)
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: a start keeps its turn and who made it');
END;

CREATE TRIGGER starts_are_bound_once BEFORE UPDATE OF worker, trace, bound_at, bound_seq ON starts
WHEN OLD.bound_seq IS NOT NULL AND (NEW.worker IS NOT OLD.worker OR NEW.trace IS NOT OLD.trace OR NEW.bound_at IS NOT OLD.bound_at OR NEW.bound_seq IS NOT OLD.bound_seq)
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: a start is bound to one agent');
END;

CREATE TRIGGER starts_are_closed_once BEFORE UPDATE ON starts
WHEN OLD.ended_seq IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: a start ends once');
END;

CREATE TRIGGER starts_are_closed_whole BEFORE UPDATE OF ended_seq, ended_at, outcome, reason, due_at ON starts
WHEN OLD.ended_seq IS NULL AND (NEW.ended_seq IS NULL AND (NEW.ended_at IS NOT NULL OR NEW.outcome IS NOT NULL OR NEW.reason IS NOT NULL OR NEW.due_at IS NOT NULL) OR NEW.ended_seq IS NOT NULL AND (NEW.ended_at IS NULL OR NEW.outcome IS NULL))
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: a start ends once, with the step that does it');
END;

CREATE TRIGGER task_groups_update_needs_orchestrator BEFORE UPDATE OF session_id, id, name, kind, security_sensitive, complexity, priority, created_by, created_at, created_seq, awaited_role, awaited_agent_id, awaited_action, turn, awaited_since, held, held_seq, held_part, qa_attempts, tl_review_attempts, merge_attempts, iterations, senior, builder_role, builder_agent_id, progress_seq, answered_seq, description ON task_groups
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER criteria_origins_are_fixed BEFORE UPDATE OF session_id, id, metric, operator, target, command, created_by, created_at, created_seq, group_id, due_at ON criteria
WHEN (NEW.session_id IS NOT OLD.session_id OR NEW.id IS NOT OLD.id OR NEW.metric IS NOT OLD.metric OR NEW.operator IS NOT OLD.operator OR NEW.target IS NOT OLD.target OR NEW.command IS NOT OLD.command OR NEW.created_by IS NOT OLD.created_by OR NEW.created_at IS NOT OLD.created_at OR NEW.created_seq IS NOT OLD.created_seq OR NEW.group_id IS NOT OLD.group_id OR NEW.due_at IS NOT OLD.due_at)
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: a criterion keeps what it measures');
END;

CREATE TRIGGER task_groups_keys_are_fixed BEFORE UPDATE OF session_id, id, description, created_by, created_at, created_seq ON task_groups
WHEN (NEW.session_id IS NOT OLD.session_id OR NEW.id IS NOT OLD.id OR NEW.description IS NOT OLD.description OR NEW.created_by IS NOT OLD.created_by OR NEW.created_at IS NOT OLD.created_at OR NEW.created_seq IS NOT OLD.created_seq)
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: a group keeps its key and its origin');
END;
