DROP TRIGGER sessions_moves_are_recorded;

DROP TRIGGER sessions_moves_are_legal;

DROP TRIGGER sessions_accepted_needs_verdict;

DROP TRIGGER task_groups_moves_are_recorded;

DROP TRIGGER task_groups_deferred_needs_deferral;

DROP TRIGGER task_groups_moves_are_legal;

DROP TRIGGER tasks_moves_are_legal;

DROP TRIGGER tasks_moves_are_recorded;

DROP TRIGGER tasks_blocked_needs_blocker;

DROP TRIGGER tasks_released_without_blocker;

DROP TRIGGER tasks_released_to_former_status;

DROP TRIGGER tasks_in_progress_needs_dependencies;

DROP TRIGGER tasks_in_progress_needs_assignee;

DROP TRIGGER tasks_done_needs_all_done;

DROP TRIGGER runs_moves_are_legal;

DROP TRIGGER runs_moves_are_recorded;

DROP TRIGGER runs_end_with_their_log;

DROP TRIGGER runs_complete_needs_proof;

DROP TRIGGER runs_await_an_open_question;

DROP TRIGGER runs_stop_without_locks;

DROP TRIGGER turn_runs_moves_are_legal;

DROP TRIGGER turn_runs_moves_are_recorded;

DROP TRIGGER turn_runs_exclude_each_other;

DROP TRIGGER turn_runs_end_with_their_log;

DROP TRIGGER turn_runs_answered_needs_proof;

CREATE TRIGGER sessions_move_by_the_rules BEFORE UPDATE OF status, outcome ON sessions
WHEN NEW.status IS NOT OLD.status
BEGIN
  SELECT CASE WHEN NOT ((OLD.status = 'active' AND (NEW.status = 'paused' OR NEW.status = 'ended')) OR (OLD.status = 'paused' AND (NEW.status = 'active' OR NEW.status = 'ended'))) THEN RAISE(ABORT, 'ILLEGAL_MOVE: a session does not go from its status to this one')
    WHEN NOT (NEW.status_seq >= OLD.status_seq AND EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.id AND c.entity = 'session' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by)) THEN RAISE(ABORT, 'STATUS_CHANGE_MISSING: a move needs the status_changes row of its step')
    WHEN NEW.outcome = 'accepted' AND NOT EXISTS (SELECT 1 FROM agent_reports r INDEXED BY sqlite_autoindex_agent_reports_1 WHERE r.session_id = NEW.id AND r.seq = NEW.status_seq AND r.part = 1 AND r.role = 'validator' AND r.response_status = 'ACCEPT') THEN RAISE(ABORT, 'VERDICT_MISSING: a session is accepted by the step of its ACCEPT alone') END;
END;

CREATE TRIGGER task_groups_move_by_the_rules BEFORE UPDATE OF status ON task_groups
WHEN NEW.status IS NOT OLD.status AND NEW.status IS NOT 'completed'
BEGIN
  SELECT CASE WHEN NOT ((OLD.status = 'pending' AND (NEW.status = 'in_progress' OR NEW.status = 'cancelled')) OR (OLD.status = 'in_progress' AND (NEW.status = 'completed' OR NEW.status = 'deferred_external' OR NEW.status = 'cancelled')) OR (OLD.status = 'deferred_external' AND (NEW.status = 'in_progress' OR NEW.status = 'cancelled')) OR (OLD.status = 'completed' AND (NEW.status = 'in_progress'))) THEN RAISE(ABORT, 'ILLEGAL_MOVE: a group does not go from its status to this one')
    WHEN NEW.status = 'deferred_external' AND NOT EXISTS (SELECT 1 FROM deferrals d CROSS JOIN blockers b WHERE d.session_id = NEW.session_id AND d.seq = NEW.status_seq AND d.group_id = NEW.id AND b.id = d.blocker_id AND b.session_id = NEW.session_id AND b.group_id = NEW.id AND b.resolved_seq IS NULL AND b.external = 1) THEN RAISE(ABORT, 'DEFERRAL_NOT_CONFIRMED: deferred_external needs the deferral of its step, on an open external blocker')
    WHEN NOT EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'group' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by) THEN RAISE(ABORT, 'STATUS_CHANGE_MISSING: a move needs the status_changes row of its step') END;
END;

CREATE TRIGGER tasks_move_by_the_rules BEFORE UPDATE OF status ON tasks
WHEN NEW.status IS NOT OLD.status
BEGIN
  SELECT CASE WHEN NOT ((OLD.status = 'backlog' AND (NEW.status = 'todo' OR NEW.status = 'in_progress' OR NEW.status = 'cancelled' OR NEW.status = 'blocked')) OR (OLD.status = 'todo' AND (NEW.status = 'backlog' OR NEW.status = 'in_progress' OR NEW.status = 'cancelled' OR NEW.status = 'blocked')) OR (OLD.status = 'in_progress' AND (NEW.status = 'blocked' OR NEW.status = 'done' OR NEW.status = 'cancelled' OR NEW.status = 'todo')) OR (OLD.status = 'blocked' AND (NEW.status = 'in_progress' OR NEW.status = 'cancelled' OR NEW.status = 'backlog' OR NEW.status = 'todo'))) THEN RAISE(ABORT, 'ILLEGAL_MOVE: a task does not go from its status to this one')
    WHEN NOT EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'task' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by_agent_id AND ((OLD.status = 'backlog' AND (NEW.status = 'todo' OR NEW.status = 'in_progress' OR NEW.status = 'cancelled')) OR (OLD.status = 'todo' AND (NEW.status = 'backlog' OR NEW.status = 'in_progress' OR NEW.status = 'cancelled')) OR (OLD.status = 'in_progress' AND (NEW.status = 'blocked' OR NEW.status = 'done' OR NEW.status = 'cancelled')) OR (OLD.status = 'blocked' AND (NEW.status = 'in_progress' OR NEW.status = 'cancelled')) OR (((OLD.status = 'backlog' AND (NEW.status = 'blocked')) OR (OLD.status = 'todo' AND (NEW.status = 'blocked'))) AND c.cause IN ('cascade', 'dependency')) OR (((OLD.status = 'blocked' AND (NEW.status = 'backlog' OR NEW.status = 'todo'))) AND c.cause IN ('release')) OR (((OLD.status = 'in_progress' AND (NEW.status = 'todo'))) AND c.cause IN ('claim_release')))) THEN RAISE(ABORT, 'STATUS_CHANGE_MISSING: a move needs the status_changes row of its step')
    WHEN NEW.status = 'blocked' AND NOT EXISTS (SELECT 1 FROM blockers b INDEXED BY ix_blockers_task WHERE b.session_id = NEW.session_id AND b.task_id = NEW.id AND b.resolved_seq IS NULL) THEN RAISE(ABORT, 'BLOCKER_MISSING: a blocked task has an open blocker')
    WHEN NEW.status <> 'blocked' AND EXISTS (SELECT 1 FROM blockers b INDEXED BY ix_blockers_task WHERE b.session_id = NEW.session_id AND b.task_id = NEW.id AND b.resolved_seq IS NULL) THEN RAISE(ABORT, 'UNBLOCK_NOT_PERMITTED: a task with an open blocker stays blocked')
    WHEN OLD.status = 'blocked' AND NEW.status = 'backlog' AND OLD.former_status <> 'backlog' THEN RAISE(ABORT, 'ILLEGAL_MOVE: a task is released to its former status, or to todo where that cannot be')
    WHEN NEW.status = 'in_progress' AND (EXISTS (WITH RECURSIVE line(id) AS (SELECT NEW.id UNION SELECT p.parent_id FROM line l CROSS JOIN tasks p ON p.session_id = NEW.session_id AND p.id = l.id WHERE p.parent_id IS NOT NULL) SELECT 1 FROM line x WHERE EXISTS (SELECT 1 FROM task_dependencies d CROSS JOIN tasks o WHERE d.session_id = NEW.session_id AND d.task_id = x.id AND d.removed_seq IS NULL AND o.session_id = d.session_id AND o.id = d.depends_on_id AND o.status <> 'done')) OR EXISTS (SELECT 1 FROM group_dependencies d WHERE d.session_id = NEW.session_id AND d.group_id = NEW.group_id AND d.removed_seq IS NULL AND NOT EXISTS (SELECT 1 FROM task_groups g WHERE g.session_id = NEW.session_id AND g.id = d.depends_on AND g.status = 'completed') AND NOT EXISTS (SELECT 1 FROM completion_paths p WHERE p.session_id = NEW.session_id AND p.group_id = d.depends_on AND p.awaiting_confirmation = 1))) THEN RAISE(ABORT, 'DEPENDENCIES_OPEN: a task begins when all that it depends on is done')
    WHEN NEW.status = 'in_progress' AND NEW.assignee IS NULL THEN RAISE(ABORT, 'NOT_PERMITTED: a task in progress has an assignee')
    WHEN NEW.status = 'done' AND (EXISTS (SELECT 1 FROM tasks c INDEXED BY ix_tasks_parent WHERE c.session_id = NEW.session_id AND c.parent_id = NEW.id AND c.status NOT IN ('done', 'cancelled')) OR (EXISTS (SELECT 1 FROM tasks c INDEXED BY ix_tasks_parent WHERE c.session_id = NEW.session_id AND c.parent_id = NEW.id) AND NOT EXISTS (SELECT 1 FROM tasks c INDEXED BY ix_tasks_parent WHERE c.session_id = NEW.session_id AND c.parent_id = NEW.id AND c.status = 'done')) OR EXISTS (SELECT 1 FROM questions q INDEXED BY ix_questions_open WHERE q.session_id = NEW.session_id AND q.group_id IS NEW.group_id AND q.closed_seq IS NULL AND (q.task_id IN (WITH RECURSIVE line(id) AS (SELECT NEW.id UNION SELECT p.parent_id FROM line l CROSS JOIN tasks p ON p.session_id = NEW.session_id AND p.id = l.id WHERE p.parent_id IS NOT NULL) SELECT id FROM line) OR (q.task_id IS NULL AND q.group_id IS NOT NULL)))) THEN RAISE(ABORT, 'COMPLETION_GATE: a task is done when its subtasks are, one at least, and nothing about it is open') END;
END;

CREATE TRIGGER runs_move_by_the_rules BEFORE UPDATE OF state ON runs
WHEN NEW.state IS NOT OLD.state AND OLD.ended_at IS NULL
BEGIN
  SELECT CASE WHEN NOT ((OLD.state = 'queued' AND (NEW.state = 'running' OR NEW.state = 'cancelled')) OR (OLD.state = 'running' AND (NEW.state = 'complete' OR NEW.state = 'incomplete' OR NEW.state = 'error' OR NEW.state = 'awaiting_response' OR NEW.state = 'cancelled')) OR (OLD.state = 'awaiting_response' AND (NEW.state = 'queued' OR NEW.state = 'incomplete' OR NEW.state = 'cancelled'))) THEN RAISE(ABORT, 'ILLEGAL_MOVE: a run does not go from its state to this one')
    WHEN NOT (NEW.state_seq >= OLD.state_seq AND EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'run' AND c.entity_id = NEW.id AND c.seq = NEW.state_seq AND c.from_status = OLD.state AND c.to_status = NEW.state AND c.changed_by = NEW.state_changed_by)) THEN RAISE(ABORT, 'STATUS_CHANGE_MISSING: a move needs the status_changes row of its step')
    WHEN NEW.ended_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM run_events e INDEXED BY ix_run_events_run WHERE e.session_id = NEW.session_id AND e.run_id = NEW.id AND e.seq = NEW.state_seq) THEN RAISE(ABORT, 'LOG_MISSING: a run ends with its log, written in the same step')
    WHEN NEW.state = 'complete' AND NOT (EXISTS (SELECT 1 FROM evidence e WHERE e.session_id = NEW.session_id AND e.seq = NEW.state_seq AND e.kind = 'run' AND e.subject = NEW.id) AND (EXISTS (SELECT 1 FROM run_files f INDEXED BY ix_run_files_run WHERE f.session_id = NEW.session_id AND f.run_id = NEW.id AND f.seq = NEW.state_seq AND (f.present = 1 OR f.change = 'deleted')) OR (NEW.task_type IN ('READ_INFO', 'REPORT') AND NEW.output IS NOT NULL AND NEW.output <> ''))) THEN RAISE(ABORT, 'EVIDENCE_MISSING: a run is complete by what the runner verified, with its evidence')
    WHEN NEW.state = 'awaiting_response' AND NOT EXISTS (SELECT 1 FROM questions q WHERE q.id = NEW.question_id AND q.session_id = NEW.session_id AND q.task_id = NEW.task_id AND q.closed_seq IS NULL) THEN RAISE(ABORT, 'QUESTION_MISSING: a run awaits the answer to an open question about its task')
    WHEN OLD.state = 'running' AND EXISTS (SELECT 1 FROM run_locks l WHERE l.session_id = OLD.session_id AND l.run_id = OLD.id AND l.released_seq IS NULL) THEN RAISE(ABORT, 'LOCK_HELD: a run that stops running has released what it held') END;
END;

CREATE TRIGGER turn_runs_move_by_the_rules BEFORE UPDATE OF state ON turn_runs
WHEN NEW.state IS NOT OLD.state AND OLD.ended_at IS NULL
BEGIN
  SELECT CASE WHEN NOT ((OLD.state = 'queued' AND (NEW.state = 'running' OR NEW.state = 'failed')) OR (OLD.state = 'running' AND (NEW.state = 'answered' OR NEW.state = 'no_answer' OR NEW.state = 'failed' OR NEW.state = 'limited'))) THEN RAISE(ABORT, 'ILLEGAL_MOVE: the run of a turn does not go from its state to this one')
    WHEN NOT (NEW.state_seq >= OLD.state_seq AND EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'turn' AND c.entity_id = NEW.id AND c.seq = NEW.state_seq AND c.from_status = OLD.state AND c.to_status = NEW.state AND c.changed_by = NEW.state_changed_by)) THEN RAISE(ABORT, 'STATUS_CHANGE_MISSING: a move needs the status_changes row of its step')
    WHEN NEW.state = 'running' AND (EXISTS (SELECT 1 FROM turn_runs t INDEXED BY ix_turn_runs_open WHERE t.ended_at IS NULL AND t.state = 'running' AND t.id <> NEW.id AND (t.lock_key = NEW.lock_key OR t.folder = NEW.folder)) OR EXISTS (SELECT 1 FROM run_locks l INDEXED BY ix_run_locks_held WHERE l.path IN (NEW.folder, NEW.lock_key) AND l.released_seq IS NULL)) THEN RAISE(ABORT, 'LOCK_HELD: one turn at a time works on a group, and in a folder')
    WHEN NEW.ended_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM evidence e WHERE e.session_id = NEW.session_id AND e.seq = NEW.state_seq AND e.kind = 'turn' AND e.subject = NEW.id) THEN RAISE(ABORT, 'LOG_MISSING: the run of a turn ends with what was seen and how it was judged, written in the same step')
    WHEN NEW.state = 'answered' AND NOT EXISTS (SELECT 1 FROM evidence e WHERE e.session_id = NEW.session_id AND e.seq = NEW.state_seq AND e.kind = 'operation' AND e.subject = NEW.id || '-execute') THEN RAISE(ABORT, 'EVIDENCE_MISSING: a turn is answered by what an executor said, with the evidence that it was called') END;
END;
