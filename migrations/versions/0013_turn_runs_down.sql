DROP TRIGGER run_locks_exclude_writers;

DROP TABLE turn_runs;

CREATE TRIGGER run_locks_exclude_writers BEFORE INSERT ON run_locks
WHEN NEW.released_seq IS NULL AND EXISTS (SELECT 1 FROM run_locks l INDEXED BY ix_run_locks_held WHERE l.path = NEW.path AND l.released_seq IS NULL AND 'write' IN (l.mode, NEW.mode))
BEGIN
  SELECT RAISE(ABORT, 'LOCK_HELD: a file has many readers or one writer');
END;
