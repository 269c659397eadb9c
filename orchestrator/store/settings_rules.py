"""What must hold between settings, scope and verdicts and the recorded changes, calls and people behind them.

A setting that decides what completes work (a group's kind, its security, the testing mode, roles that a session does
without, the workflow version, criteria) is as it was created, or as its newest recorded change left it; whoever changed
it was allowed to. Each statement gives what breaks it, with the columns of a broken rule of `gaps`.
"""

from __future__ import annotations

_EVENT = "audit_events e INDEXED BY sqlite_autoindex_audit_events_1"
_REPORT = "agent_reports r INDEXED BY sqlite_autoindex_agent_reports_1"
_CHANGED = """(SELECT c.to_status FROM status_changes c INDEXED BY ix_status_changes_entity
    WHERE c.session_id = {0}.session_id AND c.entity = '{1}' AND c.entity_id = {0}.id ORDER BY c.seq DESC, c.part DESC
    LIMIT 1)"""
_WAS_CHANGED = """EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity
    WHERE c.session_id = {0}.session_id AND c.entity = '{1}' AND c.entity_id = {0}.id)"""


def _setting(alias: str, column: str, entity: str, created: str) -> str:
    """The condition that a column is neither what its newest change says nor, without one, what it was created as."""
    changed = _CHANGED.format(alias, entity)
    return f"{alias}.{column} IS NOT CASE WHEN {_WAS_CHANGED.format(alias, entity)} THEN {changed} ELSE {created} END"


def _given(name: str, otherwise: str = "NULL") -> str:
    return f"ifnull(json_extract(e.input, '$.{name}'), {otherwise})"


# A flag is told of by its text.
_SECURITY = _setting(
    "g", "security_sensitive", "group_security", f"""CAST({_given("security_sensitive", "'0'")} AS TEXT)"""
).replace("g.security_sensitive", "CAST(g.security_sensitive AS TEXT)", 1)
# Channels of older records, which do not say what a person proved.
PROVEN = """(json_extract(e.input, '$.person.channel') IS NOT NULL AND json_extract(e.input, '$.person.fault') IS NULL
    OR e.channel IN ('terminal', 'token', 'page', 'passphrase', 'ssh-key'))"""
_ROLES = """CASE json_array_length(e.input, '$.disabled_roles') WHEN 0 THEN '' ELSE ifnull((SELECT group_concat(x.value)
    FROM json_each(e.input, '$.disabled_roles') x), '') END"""

GROUPS = f"""SELECT g.created_seq, g.id, g.id, NULL, NULL, g.status FROM task_groups g LEFT JOIN {_EVENT}
    ON e.session_id = g.session_id AND e.seq = g.created_seq WHERE g.session_id = :session
    AND CASE e.kind WHEN 'group create' THEN {_setting("g", "kind", "group_kind", _given("kind", "'code'"))}
        OR {_SECURITY} ELSE false END"""
SESSIONS = f"""SELECT s.status_seq, s.id, NULL, NULL, NULL, s.status
    FROM (SELECT x.id AS session_id, x.* FROM sessions x WHERE x.id = :session) s
    LEFT JOIN {_EVENT} ON e.session_id = s.id AND e.seq = 1 WHERE e.kind = 'session create'
    AND ({_setting("s", "testing_mode", "session_testing_mode", _given("testing_mode", "'full'"))}
        OR s.disabled_roles <> {_ROLES}
        OR {_WAS_CHANGED.format("s", "session_workflow")} AND NOT EXISTS (SELECT 1 FROM workflow_versions v
            WHERE v.id = s.workflow_version_id
            AND {_CHANGED.format("s", "session_workflow")} IN (v.hash, v.transitions_hash)))"""
_ADDED = " OR ".join(
    f"k.{name} IS NOT json_extract(e.input, '$.{name}')" for name in ("metric", "operator", "target", "command")
)
CRITERIA = f"""SELECT ifnull(k.set_seq, k.created_seq), k.id, NULL, NULL, k.set_by, k.status FROM criteria k
    LEFT JOIN {_EVENT} ON e.session_id = k.session_id AND e.seq = k.created_seq
    WHERE k.session_id = :session AND e.kind = 'criterion add'
    AND (CASE WHEN k.removed_seq IS NULL THEN k.status ELSE 'removed' END IS NOT {_CHANGED.format("k", "criterion")}
        OR {_setting("k", "text", "criterion_text", f"trim({_given('text')})")}
        OR k.actual IS NOT {_CHANGED.format("k", "criterion_actual")} OR {_ADDED})"""
_LINKED = """'criterion', 'criterion_text', 'criterion_actual', 'session_testing_mode', 'session_workflow',
    'group_kind', 'group_security'"""
_BEFORE = """FROM status_changes p INDEXED BY ix_status_changes_entity WHERE p.session_id = c.session_id
    AND p.entity = c.entity AND p.entity_id = c.entity_id AND p.seq < c.seq"""
LINKS = f"""SELECT c.seq, c.entity_id, NULL, a.role, c.changed_by, c.to_status FROM status_changes c
    INDEXED BY ix_status_changes_entity LEFT JOIN agents a ON a.id = c.changed_by WHERE c.session_id = :session
    AND c.seq > :since AND c.entity IN ({_LINKED}) AND EXISTS (SELECT 1 {_BEFORE})
    AND c.from_status IS NOT (SELECT p.to_status {_BEFORE} ORDER BY p.seq DESC, p.part DESC LIMIT 1)"""
CHANGERS = f"""SELECT c.seq, c.entity_id, NULL, a.role, c.changed_by, c.to_status FROM status_changes c
    INDEXED BY ix_status_changes_entity LEFT JOIN agents a ON a.id = c.changed_by
    LEFT JOIN {_EVENT} ON e.session_id = c.session_id AND e.seq = c.seq
    WHERE c.session_id = :session AND c.seq > :since AND c.entity IN ({_LINKED}, 'session_workflow_confirmed')
    AND (a.id IS NULL OR e.kind NOT LIKE CASE WHEN c.entity LIKE 'criterion%' THEN 'criterion %' ELSE 'session %' END
        AND NOT (c.entity = 'criterion' AND c.from_status IS NULL AND e.kind = 'route')
        OR a.kind = 'human' AND c.entity <> 'criterion_actual' AND NOT {PROVEN} OR a.kind <> 'human' AND CASE c.entity
        WHEN 'criterion' THEN c.from_status IS NOT NULL AND c.to_status <> 'removed' AND a.role <> 'project_manager'
        WHEN 'session_workflow_confirmed' THEN true
        WHEN 'session_testing_mode' THEN c.to_status = 'disabled' OR c.from_status = 'full' ELSE false END
        OR c.entity = 'criterion' AND c.to_status = 'met' AND EXISTS (SELECT 1 FROM criteria k
            WHERE k.session_id = c.session_id AND k.id = c.entity_id
            AND (k.operator IS NOT NULL OR k.command IS NOT NULL)))"""

EXTERNAL = f"""SELECT b.external_seq, b.id, b.group_id, a.role, b.external_by, b.external_dependency FROM blockers b
    LEFT JOIN agents a ON a.id = b.external_by WHERE b.session_id = :session
    AND b.external_seq > :since AND NOT EXISTS (SELECT 1 FROM {_REPORT} WHERE r.session_id = b.session_id
        AND r.seq = b.external_seq AND r.effect = 'guide' AND r.group_id IS b.group_id
        AND r.agent_id = b.external_by)"""
_DROPPED = f"""NOT EXISTS (SELECT 1 FROM {_EVENT} WHERE e.session_id = d.session_id AND e.seq = d.removed_seq
    AND e.actor = d.removed_by AND e.kind = '{{}}')"""
DROPPED = f"""SELECT d.removed_seq, d.group_id, d.group_id, a.role, d.removed_by, d.depends_on FROM group_dependencies d
    LEFT JOIN agents a ON a.id = d.removed_by WHERE d.session_id = :session AND d.removed_seq > :since
    AND {_DROPPED.format("group undepend")}"""
DROPPED_OF_TASKS = f"""SELECT d.removed_seq, d.task_id, NULL, a.role, d.removed_by, d.depends_on_id
    FROM task_dependencies d LEFT JOIN agents a ON a.id = d.removed_by WHERE d.session_id = :session
    AND d.removed_seq > :since AND {_DROPPED.format("task undepend")}"""

_CLOSED = "('completed', 'cancelled', 'deferred_external')"
_OPEN_GROUP = f"""SELECT 1 FROM task_groups g LEFT JOIN {_EVENT}
    ON e.session_id = g.session_id AND e.seq = g.created_seq WHERE g.session_id = r.session_id AND g.created_seq < r.seq
    AND ifnull((SELECT c.to_status FROM status_changes c INDEXED BY ix_status_changes_entity
        WHERE c.session_id = g.session_id AND c.entity = 'group' AND c.entity_id = g.id AND c.seq <= r.seq
        ORDER BY c.seq DESC, c.part DESC LIMIT 1), CASE WHEN e.kind LIKE 'import %' THEN 'completed' ELSE 'pending' END)
        NOT IN {_CLOSED}"""
_OPEN_BLOCKER = """SELECT 1 FROM blockers b
    LEFT JOIN task_groups g ON g.session_id = b.session_id AND g.id = b.group_id
    WHERE b.session_id = r.session_id AND b.opened_seq < r.seq AND ifnull(b.resolved_seq, r.seq + 1) > r.seq
    AND g.status IS NOT 'deferred_external'"""
VERDICTS = f"""SELECT r.seq, r.id, NULL, r.role, r.agent_id, r.response_status FROM {_REPORT}
    WHERE r.session_id = :session AND r.seq > :since AND r.role = 'validator' AND r.response_status = 'ACCEPT'
    AND (NOT EXISTS (SELECT 1 FROM agent_reports m INDEXED BY ix_agent_reports_confirm WHERE m.session_id = r.session_id
            AND m.effect = 'confirm' AND m.role = 'project_manager' AND m.seq < r.seq)
        OR EXISTS (SELECT 1 FROM questions q WHERE q.session_id = r.session_id AND q.opened_seq < r.seq
            AND ifnull(q.closed_seq, r.seq + 1) > r.seq)
        OR EXISTS ({_OPEN_BLOCKER}) OR EXISTS ({_OPEN_GROUP}))"""

PEOPLE = f"""SELECT a.created_seq, a.id, NULL, a.role, a.id, a.kind FROM agents a
    LEFT JOIN {_EVENT} ON e.session_id = :chain AND e.seq = a.created_seq
    WHERE a.session_id IS NULL AND a.kind = 'human'
    AND NOT ifnull(e.kind = 'init' OR e.kind = 'agent register' AND {PROVEN}, false)"""
"""People of the store's chain whom neither `init` nor a proven person registered."""
