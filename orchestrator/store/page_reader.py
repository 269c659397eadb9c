"""What pages and pictures of a session are told: named statements, each of one page of rows, bounded by an index.

Groups are named by a JSON array, so that one statement reads those of a whole page.
"""

from __future__ import annotations

_NAMED = "(SELECT value FROM json_each(:groups))"

_HAS_A_STEP = """(EXISTS (SELECT 1 FROM handoffs WHERE session_id = g.session_id AND group_id = g.id)
    OR EXISTS (SELECT 1 FROM agent_reports INDEXED BY ix_agent_reports_group
        WHERE session_id = g.session_id AND group_id = g.id)
    OR EXISTS (SELECT 1 FROM questions INDEXED BY ix_questions_session
        WHERE session_id = g.session_id AND group_id = g.id)
    OR EXISTS (SELECT 1 FROM blockers INDEXED BY ix_blockers_group
        WHERE session_id = g.session_id AND group_id = g.id))"""
LANES = f"""SELECT id, name, status, turn, awaited_role, awaited_agent_id, held, status_changed_at, created_seq
    FROM task_groups g
    WHERE session_id = :session AND created_seq > :since AND (:every OR {_HAS_A_STEP})
    ORDER BY created_seq, id LIMIT :limit"""
WITHOUT_STEPS = f"SELECT count(*) FROM task_groups g WHERE session_id = :session AND NOT {_HAS_A_STEP}"
CHOSEN_LANES = f"""SELECT id, name, status, turn, awaited_role, awaited_agent_id, held, status_changed_at, created_seq
    FROM task_groups WHERE session_id = :session AND id IN {_NAMED} ORDER BY created_seq, id"""
TURNS = f"""SELECT h.group_id, h.turn, h.agent_id, a.role, e.at FROM handoffs h
    JOIN audit_events e ON e.session_id = h.session_id AND e.seq = h.turn
    LEFT JOIN agents a ON a.id = h.agent_id
    WHERE h.session_id = :session AND h.group_id IN {_NAMED} ORDER BY h.turn, h.group_id"""
"""The turns that were given out; the group of one that belongs to the whole session is empty."""
REPORTS = f"""SELECT r.group_id, r.seq, r.id, r.role, r.agent_id, r.response_status, r.effect, r.turn, r.summary,
        r.reported_at, d.id AS decision_id, d.next_agent, d.action
    FROM agent_reports r INDEXED BY ix_agent_reports_group
    LEFT JOIN router_decisions d ON d.session_id = r.session_id AND d.seq = r.seq AND d.part = 1
    WHERE r.session_id = :session AND r.group_id IN {_NAMED} ORDER BY r.seq"""
SESSION_REPORTS = """SELECT '' AS group_id, r.seq, r.id, r.role, r.agent_id, r.response_status, r.effect, r.turn,
        r.summary, r.reported_at, d.id AS decision_id, d.next_agent, d.action
    FROM agent_reports r INDEXED BY ix_agent_reports_group
    LEFT JOIN router_decisions d ON d.session_id = r.session_id AND d.seq = r.seq AND d.part = 1
    WHERE r.session_id = :session AND r.group_id IS NULL ORDER BY r.seq"""
QUESTIONS = f"""SELECT coalesce(group_id, '') AS group_id, id, kind, text, asked_at, closed_at
    FROM questions INDEXED BY ix_questions_session
    WHERE session_id = :session AND coalesce(group_id, '') IN {_NAMED} ORDER BY opened_seq, id"""
BLOCKERS = f"""SELECT group_id, id, type, class, reason, opened_at, resolved_at
    FROM blockers INDEXED BY ix_blockers_group
    WHERE session_id = :session AND group_id IN {_NAMED} ORDER BY opened_seq, id"""

_IS_OPEN = "session_id = g.session_id AND group_id = g.id"
_BLOCKED = f"""EXISTS (SELECT 1 FROM blockers INDEXED BY ix_blockers_open
    WHERE {_IS_OPEN} AND resolved_seq IS NULL)"""
_ASKED = f"""EXISTS (SELECT 1 FROM questions INDEXED BY ix_questions_open WHERE {_IS_OPEN} AND closed_seq IS NULL)"""
# As `open_work.overdue`: a person is never overdue.
_OVERDUE = """(g.awaited_since IS NOT NULL AND g.turn IS NOT NULL AND g.held IS NULL AND g.awaited_role <> 'user'
    AND g.awaited_since < :late)"""
_REWORK = "g.qa_attempts + g.tl_review_attempts + g.merge_attempts"
_RANK = """CASE WHEN g.status IN ('completed', 'cancelled') THEN 6 WHEN asked OR g.awaited_role = 'user' THEN 0
    WHEN overdue THEN 1 WHEN blocked THEN 2 WHEN g.status = 'deferred_external' THEN 5
    WHEN g.status = 'pending' OR g.held IS NOT NULL THEN 4 ELSE 3 END"""
ORDERS = {
    "urgent": f"{_RANK}, g.priority, g.created_seq, g.id",
    "waiting": "g.awaited_since IS NULL, g.awaited_since, g.created_seq, g.id",
    "changed": "max(g.status_seq, coalesce(g.turn, 0), g.progress_seq) DESC, g.id",
    "rework": f"{_REWORK} DESC, g.created_seq, g.id",
    "priority": "g.priority, g.created_seq, g.id",
    "name": "lower(g.id), g.id",
}
"""How a board is sorted."""
_FACTS = f"SELECT *, {_BLOCKED} AS blocked, {_ASKED} AS asked, {_OVERDUE} AS overdue FROM task_groups g"
_CHOSEN = f"""FROM ({_FACTS} WHERE g.session_id = :session) g
    WHERE CASE :state WHEN 'all' THEN true WHEN 'overdue' THEN overdue WHEN 'blocked' THEN blocked
        WHEN 'held' THEN g.held IS NOT NULL WHEN 'waiting' THEN asked OR awaited_role = 'user'
        ELSE g.status = :state END
    AND (:role IS NULL OR g.awaited_role = :role)
    AND (:text = '' OR instr(lower(g.id || ' ' || g.name), lower(:text)) > 0)"""


def board(sort: str) -> str:
    """The groups of a session that fit a filter, a page of them, each with how many fit it in all."""
    return f"SELECT *, count(*) OVER () AS total {_CHOSEN} ORDER BY {ORDERS[sort]} LIMIT :limit OFFSET :offset"


BOARD_COUNT = f"SELECT count(*) {_CHOSEN}"
BOARD_COUNTS = f"""SELECT status, awaited_role, held IS NOT NULL AS is_held, overdue, blocked, asked,
        count(*) AS groups, min(awaited_since) AS since, min(id) AS first, sum({_REWORK}) AS rework
    FROM ({_FACTS} WHERE g.session_id = :session) g GROUP BY 1, 2, 3, 4, 5, 6"""
"""How many groups there are of each status, role that is awaited, and trouble."""
OPEN_REASONS = f"""SELECT group_id, id, type, class, reason, external FROM blockers INDEXED BY ix_blockers_open
    WHERE session_id = :session AND group_id IN {_NAMED} AND resolved_seq IS NULL ORDER BY opened_seq, id"""
GROUP_EDGES = """SELECT group_id, depends_on FROM group_dependencies
    WHERE session_id = :session AND removed_seq IS NULL ORDER BY group_id, depends_on"""
GROUPS_NAMED = """SELECT id, name AS title, status FROM task_groups
    WHERE session_id = :session AND id IN (SELECT value FROM json_each(:ids)) ORDER BY created_seq, id"""
RUNS_NAMED = """SELECT t.id AS name, r.id AS run, r.created_seq FROM tasks t CROSS JOIN runs r INDEXED BY ix_runs_task
        ON r.session_id = t.session_id AND r.task_id = t.id
    WHERE t.session_id = :session AND t.id IN (SELECT value FROM json_each(:names))
    UNION ALL SELECT b.id, r.id, r.created_seq FROM blockers b CROSS JOIN runs r INDEXED BY ix_runs_task
        ON r.session_id = b.session_id AND r.task_id = b.task_id
    WHERE b.session_id = :session AND b.id IN (SELECT value FROM json_each(:names))
    UNION ALL SELECT e.id, r.id, r.created_seq FROM evidence e CROSS JOIN runs r
        ON r.session_id = e.session_id AND r.id = e.subject
    WHERE e.session_id = :session AND e.id IN (SELECT value FROM json_each(:names)) ORDER BY 3"""
"""The runs of tasks, those that led to a blocker and those that left a piece of evidence, the newest last."""
LIMITED = f"""SELECT g.id AS group_id, s.due_at FROM task_groups g CROSS JOIN starts s
    ON s.session_id = g.session_id AND s.group_id = g.id AND s.turn = g.turn
    WHERE g.session_id = :session AND g.id IN {_NAMED} AND s.outcome = 'limited' AND s.due_at > :now
    AND s.seq = (SELECT max(seq) FROM starts WHERE session_id = s.session_id AND group_id = s.group_id
        AND turn = s.turn)"""
"""Groups whose agent waits for a usage limit, and until when."""
DEFERRAL = """SELECT reason, dependency, deferred_by, deferred_at FROM deferrals
    WHERE session_id = :session AND group_id = :group ORDER BY seq DESC LIMIT 1"""
WAYS = """SELECT role, response_status, count(*) FROM agent_reports INDEXED BY ix_agent_reports_group
    WHERE session_id = :session AND (:group IS NULL OR group_id = :group) GROUP BY role, response_status"""
"""How often each role reported each status, read from the index alone."""

_WAITS = """(EXISTS (SELECT 1 FROM questions INDEXED BY ix_questions_open
        WHERE session_id = s.id AND closed_seq IS NULL) OR coalesce(s.awaited_role, '') = 'user')"""
_RANKED = f"""SELECT s.*, {_WAITS} AS waits,
    (SELECT max(seq) FROM audit_events WHERE session_id = s.id) AS last_seq FROM sessions s"""
SESSION_STATES = {
    "open": "s.status <> 'ended'",
    "waiting": "s.status <> 'ended' AND waits",
    "ended": "s.status = 'ended'",
    "all": "1",
}
"""Which sessions a dashboard shows."""
_SEARCHED = "(:text = '' OR instr(lower(s.id || ' ' || s.goal), lower(:text)) > 0)"


def sessions(state: str) -> str:
    """A page of sessions with their counts: those that wait for a person first, then the ones that changed last."""
    return f"""SELECT s.*, (SELECT at FROM audit_events WHERE session_id = s.id AND seq = last_seq) AS changed_at,
        (SELECT count(*) FROM task_groups WHERE session_id = s.id) AS groups,
        (SELECT count(*) FROM task_groups WHERE session_id = s.id AND status = 'completed') AS completed,
        (SELECT count(*) FROM task_groups WHERE session_id = s.id AND awaited_role = 'user') AS persons,
        (SELECT count(*) FROM task_groups WHERE session_id = s.id AND awaited_role <> 'user' AND held IS NULL) AS work,
        (SELECT count(DISTINCT group_id) FROM blockers INDEXED BY ix_blockers_open
            WHERE session_id = s.id AND resolved_seq IS NULL) AS blocked,
        (SELECT count(*) FROM questions INDEXED BY ix_questions_open
            WHERE session_id = s.id AND closed_seq IS NULL) AS questions,
        (SELECT min(asked_at) FROM questions INDEXED BY ix_questions_open
            WHERE session_id = s.id AND closed_seq IS NULL) AS asked_at,
        (SELECT response_status FROM agent_reports INDEXED BY ix_agent_reports_verdict WHERE session_id = s.id
            AND group_id IS NULL AND role = 'validator' ORDER BY seq DESC LIMIT 1) AS verdict,
        (SELECT prompt FROM runs INDEXED BY ix_runs_created
            WHERE session_id = s.id ORDER BY created_seq LIMIT 1) AS first_words,
        total
        FROM (SELECT *, count(*) OVER () AS total FROM ({_RANKED}) s WHERE {SESSION_STATES[state]} AND {_SEARCHED}
            ORDER BY s.status = 'ended', waits DESC, s.created_at DESC, s.id LIMIT :limit OFFSET :offset) s"""


SESSIONS_COUNTED = f"""SELECT count(*), sum(status <> 'ended'), sum(status <> 'ended' AND waits),
    sum(status = 'ended') FROM ({_RANKED}) s WHERE {_SEARCHED}"""
"""How many sessions a search finds of each state: all, open, waiting, ended."""

EVIDENCE = """SELECT e.id, e.seq, e.part, e.group_id, e.kind, e.subject, e.outcome, e.hash, e.size,
    e.content IS NOT NULL AS is_kept, v.at FROM evidence e INDEXED BY sqlite_autoindex_evidence_1
    JOIN audit_events v ON v.session_id = e.session_id AND v.seq = e.seq
    WHERE e.session_id = :session AND e.seq < :until ORDER BY e.seq DESC, e.part LIMIT :limit"""
EVIDENCE_CONTENT = "SELECT content FROM evidence WHERE session_id = :session AND seq = :seq AND part = :part"
