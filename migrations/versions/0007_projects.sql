CREATE TABLE projects (
	id TEXT NOT NULL,
	seq INTEGER NOT NULL,
	path TEXT NOT NULL,
	alias TEXT,
	created_by TEXT NOT NULL,
	created_at TEXT NOT NULL,
	CONSTRAINT pk_projects PRIMARY KEY (id),
	CONSTRAINT uq_projects_path UNIQUE (path),
	CONSTRAINT uq_projects_alias UNIQUE (alias),
	CONSTRAINT fk_projects_created_by FOREIGN KEY(created_by) REFERENCES agents (id)
)
 WITHOUT ROWID;

CREATE TRIGGER projects_insert_needs_orchestrator BEFORE INSERT ON projects
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER projects_update_needs_orchestrator BEFORE UPDATE ON projects
BEGIN
  SELECT CASE WHEN orchestrator_write() = 1 THEN 1 ELSE RAISE(ABORT, 'WRITE_REFUSED: only the orchestrator writes to this database') END;
END;

CREATE TRIGGER projects_alias_is_taken_once BEFORE INSERT ON projects
WHEN EXISTS (SELECT 1 FROM projects t WHERE t.alias = NEW.alias)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: projects has a row with this alias');
END;

CREATE TRIGGER projects_id_is_taken_once BEFORE INSERT ON projects
WHEN EXISTS (SELECT 1 FROM projects t WHERE t.id = NEW.id)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: projects has a row with this id');
END;

CREATE TRIGGER projects_path_is_taken_once BEFORE INSERT ON projects
WHEN EXISTS (SELECT 1 FROM projects t WHERE t.path = NEW.path)
BEGIN
  SELECT RAISE(ABORT, 'ALREADY_EXISTS: projects has a row with this path');
END;

CREATE TRIGGER projects_are_never_deleted BEFORE DELETE ON projects
BEGIN
  SELECT RAISE(ABORT, 'NEVER_DELETED: rows of projects stay');
END;

CREATE TRIGGER projects_are_never_changed BEFORE UPDATE ON projects
BEGIN
  SELECT RAISE(ABORT, 'NEVER_CHANGED: rows of projects stay as they were written');
END;
