"""When a task may begin and when it may be done, as SQL for statements.

Rendered from `task_rules` by `./task generate`.
"""

WAITS = (
    "(EXISTS (WITH RECURSIVE line(id) AS (SELECT :task UNION SELECT p.parent_id FROM line l CROSS JOIN tasks p ON "
    "p.session_id = :session AND p.id = l.id WHERE p.parent_id IS NOT NULL) SELECT 1 FROM line x WHERE EXISTS "
    "(SELECT 1 FROM task_dependencies d CROSS JOIN tasks o WHERE d.session_id = :session AND d.task_id = x.id AND "
    "d.removed_seq IS NULL AND o.session_id = d.session_id AND o.id = d.depends_on_id AND o.status <> 'done')) OR "
    "EXISTS (SELECT 1 FROM group_dependencies d WHERE d.session_id = :session AND d.group_id = :group AND "
    "d.removed_seq IS NULL AND NOT EXISTS (SELECT 1 FROM task_groups g WHERE g.session_id = :session AND g.id = "
    "d.depends_on AND g.status = 'completed') AND NOT EXISTS (SELECT 1 FROM completion_paths p WHERE p.session_id = "
    ":session AND p.group_id = d.depends_on AND p.awaiting_confirmation = 1)))"
)

LINE_WAITS = (
    "EXISTS (WITH RECURSIVE line(id) AS (SELECT :task UNION SELECT p.parent_id FROM line l CROSS JOIN tasks p ON "
    "p.session_id = :session AND p.id = l.id WHERE p.parent_id IS NOT NULL) SELECT 1 FROM line x WHERE EXISTS "
    "(SELECT 1 FROM task_dependencies d CROSS JOIN tasks o WHERE d.session_id = :session AND d.task_id = x.id AND "
    "d.removed_seq IS NULL AND o.session_id = d.session_id AND o.id = d.depends_on_id AND o.status <> 'done'))"
)

BEGUN_BELOW = (
    "EXISTS (WITH RECURSIVE below(id) AS (SELECT :task UNION SELECT c.id FROM below b CROSS JOIN tasks c INDEXED BY "
    "ix_tasks_parent ON c.session_id = :session AND c.parent_id = b.id) SELECT 1 FROM below b CROSS JOIN tasks t ON "
    "t.session_id = :session AND t.id = b.id WHERE t.status = 'in_progress' OR t.former_status IS 'in_progress')"
)

NONE_DONE = (
    "(EXISTS (SELECT 1 FROM tasks c INDEXED BY ix_tasks_parent WHERE c.session_id = :session AND c.parent_id = "
    ":task) AND NOT EXISTS (SELECT 1 FROM tasks c INDEXED BY ix_tasks_parent WHERE c.session_id = :session AND "
    "c.parent_id = :task AND c.status = 'done'))"
)

QUESTIONS_BEFORE = (
    "questions q INDEXED BY ix_questions_open WHERE q.session_id = :session AND q.group_id IS :group AND "
    "q.closed_seq IS NULL AND (q.task_id IN (WITH RECURSIVE line(id) AS (SELECT :task UNION SELECT p.parent_id FROM "
    "line l CROSS JOIN tasks p ON p.session_id = :session AND p.id = l.id WHERE p.parent_id IS NOT NULL) SELECT id "
    "FROM line) OR (q.task_id IS NULL AND q.group_id IS NOT NULL))"
)

ROW_WAITS_ON_TASKS = (
    "EXISTS (SELECT 1 FROM task_dependencies d CROSS JOIN tasks o WHERE d.session_id = :session AND d.task_id = "
    "t.id AND d.removed_seq IS NULL AND o.session_id = d.session_id AND o.id = d.depends_on_id AND o.status <> "
    "'done')"
)

ROW_AND_ABOVE = (
    "WITH RECURSIVE line(id) AS (SELECT t.id UNION SELECT p.parent_id FROM line l CROSS JOIN tasks p ON "
    "p.session_id = :session AND p.id = l.id WHERE p.parent_id IS NOT NULL) SELECT id FROM line"
)
