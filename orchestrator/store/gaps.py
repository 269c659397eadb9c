"""What must hold between the rows of a session, whatever their hashes say: the one place where these rules stand.

Every report has its decision, every decision its report and its transition or rule, every spawn its decision and its
end, every move its cause, every completion its path at that moment, every closing somebody who may. `audit gaps`, the
validator and `audit verify` ask here. A forger who recomputes every hash still has to make all of this fit.

Every statement walks an index once, and what is held in memory grows with the groups and spawns, so the time grows
with the record.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator

from orchestrator.core import lifecycle_table, strict_json
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.routing import rules
from orchestrator.hints import Any
from orchestrator.store import path_history, plan_checks, redirects, settings_rules, versions
from orchestrator.store.constants import STORE_CHAIN

UNDECIDED = "report_without_decision"
UNREPORTED = "decision_without_report"
MISSING_STEP = "missing_step"
UNENDED = "spawn_without_report"
UNCAUSED = "move_without_cause"
MISMATCHED = "decision_not_of_report"
UNRULED = "decision_without_rule"
UNSPAWNED = "spawn_without_decision"
UNPROVEN = "completion_without_path"
UNCONFIRMED = "deferral_without_blocker"
UNPERMITTED = "resolution_without_right"
UNANSWERED = "answer_without_person"
UNSAID = "acknowledgement_without_report"
UNJUDGED = "acceptance_without_verdict"
UNCHANGED = "setting_without_change"
UNALLOWED = "change_without_right"
UNGUIDED = "external_without_guidance"
UNDROPPED = "dependency_dropped_without_call"
UNGROUNDED = "verdict_without_ground"
UNPROVED = "person_without_proof"
UNLOADED = "workflow_not_as_loaded"
UNPLANNED = "plan_not_as_reported"
KINDS = (
    MISSING_STEP, UNDECIDED, UNREPORTED, MISMATCHED, UNRULED, UNSPAWNED, UNENDED, UNCAUSED, UNPROVEN, UNCONFIRMED,
    UNPERMITTED, UNANSWERED, UNSAID, UNJUDGED, UNCHANGED, UNALLOWED, UNGUIDED, UNDROPPED, UNGROUNDED,
    UNPROVED, UNLOADED, UNPLANNED,
)
"""The kinds of gaps, in the order in which those of one step are told."""

_REPORT = "agent_reports r INDEXED BY sqlite_autoindex_agent_reports_1"
_DECISION = "router_decisions d INDEXED BY sqlite_autoindex_router_decisions_1"
_CHANGE = "status_changes c INDEXED BY sqlite_autoindex_status_changes_1"


# A blocker of a group is lifted one by one, by the caller of that very step: a person, who opened it, or who stands
# above the opener.
_IS_ABOVE = """EXISTS (WITH RECURSIVE above(id) AS (SELECT o.parent_id FROM agents o WHERE o.id = b.opened_by
            UNION SELECT p.parent_id FROM above CROSS JOIN agents p WHERE p.id = above.id)
        SELECT 1 FROM above WHERE above.id = CASE WHEN a.session_id IS NULL THEN a.id ELSE a.parent_id END)"""
_UNLIFTED = f"""NOT EXISTS (SELECT 1 FROM audit_events e WHERE e.session_id = b.session_id AND e.seq = b.resolved_seq
        AND e.kind = 'blocker resolve' AND e.actor = b.resolved_by)
    OR (a.kind <> 'human' AND b.opened_by <> b.resolved_by AND NOT {_IS_ABOVE})"""
# A task still depends on one that was not done by then.
_WAITING = """EXISTS (SELECT 1 FROM task_dependencies x WHERE x.session_id = b.session_id AND x.task_id = b.task_id
    AND x.seq < b.resolved_seq AND ifnull(x.removed_seq, b.resolved_seq + 1) > b.resolved_seq
    AND NOT EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity
        WHERE c.session_id = x.session_id AND c.entity = 'task' AND c.entity_id = x.depends_on_id
        AND c.to_status = 'done' AND c.seq <= b.resolved_seq))"""

_ABOVE_TASK = """WITH RECURSIVE above(id) AS (SELECT p.parent_id FROM tasks p WHERE p.session_id = b.session_id
        AND p.id = b.task_id UNION SELECT p.parent_id FROM above CROSS JOIN tasks p ON p.session_id = b.session_id
        AND p.id = above.id)"""
# A blocker of a task: what became of it, in one word, and what has to stand behind that word.
_KEPT_BY_TASK = f"""CASE b.resolution
    WHEN 'cancelled' THEN NOT EXISTS (SELECT 1 FROM {_CHANGE} WHERE c.session_id = b.session_id
        AND c.seq = b.resolved_seq AND c.entity = 'task' AND c.entity_id = b.task_id AND c.to_status = 'cancelled')
    WHEN 'released' THEN b.cause <> 'cascade' OR NOT EXISTS ({_ABOVE_TASK} SELECT 1 FROM above CROSS JOIN blockers o
        WHERE o.session_id = b.session_id AND o.task_id = above.id AND o.resolved_seq = b.resolved_seq
        AND o.resolution <> 'released')
    WHEN 'dependencies_done' THEN b.cause <> 'dependency' OR a.kind <> 'system' OR {_WAITING}
    WHEN 'dependency_dropped' THEN b.cause <> 'dependency' OR a.kind <> 'system' OR {_WAITING}
        OR NOT EXISTS (SELECT 1 FROM task_dependencies x WHERE x.session_id = b.session_id AND x.task_id = b.task_id
        AND x.removed_seq = b.resolved_seq)
    WHEN 'answered' THEN NOT EXISTS (SELECT 1 FROM questions q WHERE q.session_id = b.session_id
        AND q.task_id = b.task_id AND q.closed_seq = b.resolved_seq)
    ELSE b.resolution NOT IN ('resolved', 'lifted', 'legacy') OR a.kind <> 'human' AND (b.class = 'hard'
        OR NOT (b.opened_by IS NULL OR b.opened_by = b.resolved_by OR {_IS_ABOVE}))
        OR NOT EXISTS (SELECT 1 FROM audit_events e WHERE e.session_id = b.session_id AND e.seq = b.resolved_seq
            AND (e.actor = b.resolved_by OR a.kind = 'system') AND e.kind <> 'refusal')
    END"""


class Rule(NamedTuple):
    """Something that must hold between rows.

    sql gives what breaks it: step, subject, group, role, agent and status. It takes the session, and the step after
    which is looked.
    """

    kind: str
    table: str
    text: str
    sql: str


_OF_TURNS = (
    Rule(UNDECIDED, "agent_reports", "the report has no decision", f"""SELECT r.seq, r.id, r.group_id, r.role,
        r.agent_id, r.response_status FROM {_REPORT} WHERE r.session_id = :session AND r.seq > :since
        AND NOT EXISTS (SELECT 1 FROM {_DECISION} WHERE d.session_id = r.session_id AND d.seq = r.seq AND d.part = 1)
        ORDER BY r.seq"""),
    Rule(UNREPORTED, "router_decisions", "the decision names a report that does not exist", f"""SELECT d.seq, d.id,
        d.group_id, d.current_agent, NULL, d.response_status FROM {_DECISION} WHERE d.session_id = :session
        AND d.seq > :since AND CASE WHEN EXISTS (SELECT 1 FROM {_REPORT} WHERE r.session_id = d.session_id
        AND r.seq = d.seq AND r.part = 1) THEN false ELSE d.report_id IS NOT NULL END ORDER BY d.seq, d.part"""),
)  # fmt: skip
_OTHERS = (
    Rule(UNSPAWNED, "handoffs", "an agent was started, and no decision of that step says so", f"""SELECT h.turn,
        CASE h.group_id WHEN '' THEN :session ELSE h.group_id END, h.group_id, NULL, h.agent_id, NULL FROM handoffs h
        WHERE h.session_id = :session AND h.turn > :since AND NOT EXISTS (SELECT 1 FROM {_DECISION}
        WHERE d.session_id = h.session_id AND d.seq = h.turn) AND NOT EXISTS (SELECT 1 FROM {_REPORT}
        WHERE r.session_id = h.session_id AND r.seq = h.turn) ORDER BY h.turn"""),
    Rule(UNCONFIRMED, "status_changes", "the group was deferred without an open external blocker on record", f"""SELECT
        c.seq, c.entity_id, c.entity_id, a.role, c.changed_by, c.to_status FROM {_CHANGE}
        LEFT JOIN agents a ON a.id = c.changed_by WHERE c.session_id = :session AND c.seq > :since
        AND c.entity = 'group' AND c.to_status = 'deferred_external' AND NOT EXISTS (SELECT 1 FROM deferrals f
        CROSS JOIN blockers b WHERE f.session_id = c.session_id AND f.seq = c.seq AND f.group_id = c.entity_id
        AND b.id = f.blocker_id AND b.session_id = c.session_id AND b.group_id = c.entity_id AND b.opened_seq < c.seq
        AND (b.resolved_seq IS NULL OR b.resolved_seq > c.seq) AND f.confirmed_seq < c.seq) ORDER BY c.seq"""),
    Rule(UNPERMITTED, "blockers", "the blocker was closed by nobody who may, or nothing in that step says why",
        f"""SELECT b.resolved_seq, b.id, b.group_id, a.role, b.resolved_by, b.resolution FROM blockers b
        LEFT JOIN agents a ON a.id = b.resolved_by WHERE b.session_id = :session AND b.resolved_seq > :since
        AND (a.id IS NULL OR b.resolved_seq < b.opened_seq OR CASE WHEN b.task_id IS NOT NULL THEN {_KEPT_BY_TASK}
        ELSE CASE b.resolution
        WHEN 'accepted' THEN NOT EXISTS (SELECT 1 FROM {_REPORT} WHERE r.session_id = b.session_id
            AND r.seq = b.resolved_seq AND r.effect = 'approve' AND r.agent_id = b.resolved_by
            AND r.group_id IS b.group_id)
        WHEN 'guidance' THEN NOT EXISTS (SELECT 1 FROM {_REPORT} WHERE r.session_id = b.session_id
            AND r.seq = b.resolved_seq AND r.effect = 'guide' AND r.agent_id = b.resolved_by
            AND r.group_id IS b.group_id)
        WHEN 'answered' THEN NOT EXISTS (SELECT 1 FROM questions q WHERE q.session_id = b.session_id
            AND q.closed_seq = b.resolved_seq AND q.group_id IS b.group_id)
        WHEN 'cancelled' THEN NOT EXISTS (SELECT 1 FROM {_CHANGE} WHERE c.session_id = b.session_id
            AND c.seq = b.resolved_seq AND c.to_status IN ('cancelled', 'ended'))
        WHEN 'resumed' THEN NOT EXISTS (SELECT 1 FROM {_CHANGE} WHERE c.session_id = b.session_id
            AND c.seq = b.resolved_seq AND c.from_status = 'deferred_external')
            AND NOT EXISTS (SELECT 1 FROM {_REPORT} WHERE r.session_id = b.session_id AND r.seq = b.resolved_seq
            AND r.role = 'project_manager')
        ELSE NOT EXISTS (SELECT 1 FROM {_REPORT} WHERE r.session_id = b.session_id AND r.seq = b.resolved_seq
            AND r.group_id IS b.group_id AND r.agent_id = b.resolved_by)
            AND (b.class = 'hard' AND a.kind <> 'human' OR {_UNLIFTED})
        END END) ORDER BY b.resolved_seq, b.id"""),
    Rule(UNANSWERED, "questions", "the question was answered by nobody who is on record as a person, by a channel",
        """SELECT q.closed_seq, q.id, q.group_id, a.role, q.closed_by, q.answer FROM questions q
        LEFT JOIN agents a ON a.id = q.closed_by WHERE q.session_id = :session AND q.closed_seq > :since
        AND (a.id IS NULL OR q.closed_seq < q.opened_seq OR q.answer IS NULL
        OR (q.answer IS NOT 'moot' AND q.channel IS NULL) OR (q.channel IS NOT NULL AND a.kind <> 'human')
        OR CASE WHEN q.channel IS NULL THEN NOT EXISTS (SELECT 1 FROM status_changes c INDEXED BY
                sqlite_autoindex_status_changes_1 WHERE c.session_id = q.session_id AND c.seq = q.closed_seq)
            AND NOT EXISTS (SELECT 1 FROM agent_reports r INDEXED BY sqlite_autoindex_agent_reports_1
                WHERE r.session_id = q.session_id AND r.seq = q.closed_seq)
            AND NOT EXISTS (SELECT 1 FROM blockers b WHERE b.session_id = q.session_id
                AND b.resolved_seq = q.closed_seq)
        ELSE NOT EXISTS (SELECT 1 FROM audit_events e WHERE e.session_id = q.session_id AND e.seq = q.closed_seq
            AND e.actor = q.closed_by AND e.channel = q.channel) END)
        ORDER BY q.closed_seq, q.id"""),
    Rule(UNSAID, "acknowledgements", "groups are acknowledged by a report of the project manager alone",
        f"""SELECT k.seq, k.group_id, k.group_id, NULL, NULL, NULL FROM acknowledgements k WHERE k.session_id = :session
        AND k.seq > :since AND NOT EXISTS (SELECT 1 FROM {_REPORT} WHERE r.session_id = k.session_id
        AND r.seq = k.seq AND r.part = 1 AND r.role = 'project_manager') ORDER BY k.seq, k.part"""),
    Rule(UNJUDGED, "sessions", "the session was accepted, and no verdict of that step says so", f"""SELECT s.status_seq,
        s.id, NULL, NULL, s.status_changed_by, s.outcome FROM sessions s WHERE s.id = :session
        AND s.outcome = 'accepted' AND s.status_seq > :since AND NOT EXISTS (SELECT 1 FROM {_REPORT}
        WHERE r.session_id = s.id AND r.seq = s.status_seq AND r.part = 1 AND r.role = 'validator'
        AND r.response_status = 'ACCEPT')"""),
    Rule(UNGROUNDED, "agent_reports", "the verdict accepts a session without the confirmation, or with open groups,"
        " blockers or questions", settings_rules.VERDICTS),
    Rule(UNCHANGED, "task_groups", "its kind or security is not as it was created or last changed on record",
        settings_rules.GROUPS),
    Rule(UNCHANGED, "sessions", "its testing mode, workflow or roles are not as created or last changed on record",
        settings_rules.SESSIONS),
    Rule(UNCHANGED, "criteria", "the criterion is not as it was added or last changed on record",
        settings_rules.CRITERIA),
    Rule(UNCHANGED, "status_changes", "the change does not begin where the one before it ended",
        settings_rules.LINKS),
    Rule(UNALLOWED, "status_changes", "the change was made by nobody who may, or by a command that makes none",
        settings_rules.CHANGERS),
    Rule(UNGUIDED, "blockers", "the blocker is marked external, and no guidance of that step says so",
        settings_rules.EXTERNAL),
    Rule(UNDROPPED, "group_dependencies", "the dependency was dropped by no command that does so",
        settings_rules.DROPPED),
    Rule(UNDROPPED, "task_dependencies", "the dependency was dropped by no command that does so",
        settings_rules.DROPPED_OF_TASKS),
)  # fmt: skip
# Where something is, against the newest change on record, or how it began: unknown for what came in from elsewhere.
_NEWEST = """(SELECT c.to_status FROM status_changes c INDEXED BY ix_status_changes_entity
    WHERE c.session_id = :session AND c.entity = '{0}' AND c.entity_id = s.id
    ORDER BY c.seq DESC, c.part DESC LIMIT 1)"""
_BORN = """CASE WHEN EXISTS (SELECT 1 FROM audit_events e WHERE e.session_id = :session AND e.seq = {0}
    AND e.kind LIKE 'import %') THEN s.status ELSE '{1}' END"""
_UNRECORDED = "no recorded change leads to its status"
_STANDING = (
    Rule(UNCAUSED, "task_groups", _UNRECORDED, f"""SELECT s.status_seq, s.id, s.id, NULL, s.status_changed_by, s.status
        FROM task_groups s WHERE s.session_id = :session AND s.status IS NOT
        ifnull({_NEWEST.format("group")}, {_BORN.format("s.created_seq", "pending")}) ORDER BY s.id"""),
    Rule(UNCAUSED, "tasks", _UNRECORDED, f"""SELECT s.status_seq, s.id, s.group_id, NULL,
        s.status_changed_by_agent_id, s.status FROM tasks s WHERE s.session_id = :session AND s.status IS NOT
        ifnull({_NEWEST.format("task")}, {_BORN.format("s.created_seq", "")}) ORDER BY s.id"""),
    Rule(UNCAUSED, "sessions", _UNRECORDED, f"""SELECT s.status_seq, s.id, NULL, NULL, s.status_changed_by, s.status
        FROM sessions s WHERE s.id = :session AND s.status IS NOT
        ifnull({_NEWEST.format("session")}, {_BORN.format("1", "active")})"""),
    *(
        rule for rule in _OTHERS
        if rule.table in ("blockers", "questions", "sessions") and rule.kind not in (UNGROUNDED, UNCHANGED, UNGUIDED)
    ),
)  # fmt: skip
# Two looks, since a list of two would be built anew for every row. Here and below CASE stops where a value is known;
# AND and OR in a column of the result evaluate both sides (AUD-7).
_STARTED = """CASE WHEN EXISTS (SELECT 1 FROM handoffs h WHERE h.session_id = {0}.session_id
    AND h.group_id = ifnull({0}.group_id, '') AND h.turn = {1}) THEN true ELSE EXISTS (SELECT 1 FROM handoffs h
    WHERE h.session_id = {0}.session_id AND h.group_id = '' AND h.turn = {1}) END"""
# Every decision that is not plainly what its report's transition says, with what may be wrong with it.
_PLAIN = """d.cause <> 'report' OR (d.current_agent = r.role AND d.response_status = r.response_status
    AND (r.group_id IS NULL OR d.group_id = r.group_id) AND t.effect = r.effect AND d.rules = '[]'
    AND d.next_agent IS t.next_agent AND d.action = t.action)"""
# A report that a person has let go on: its withheld row is the newest of its kind before it, and the question that was
# opened there is answered in its own step.
_CONFIRMED = """(d.cause = 'question' AND EXISTS (SELECT 1 FROM questions q INDEXED BY ix_questions_session
        WHERE q.session_id = d.session_id AND q.closed_seq = d.seq AND q.answer IN ('continue', 'yes')
        AND q.opened_seq = (SELECT w.seq FROM agent_reports w INDEXED BY ix_agent_reports_group
            WHERE w.session_id = r.session_id AND w.group_id IS r.group_id AND w.role = r.role
            AND w.response_status = r.response_status AND w.seq < r.seq AND w.effect = 'withheld'
            ORDER BY w.seq DESC LIMIT 1)))"""
_DECIDED = f"""SELECT d.seq, d.id, d.group_id, d.current_agent, r.agent_id, d.response_status, d.rules,
    d.cause = 'report',
    CASE WHEN d.workflow_version_id IS NOT (SELECT s.workflow_version_id FROM sessions s WHERE s.id = :session)
        THEN d.seq > (SELECT ifnull(max(e.seq), 0) FROM audit_events e WHERE e.session_id = :session
            AND e.kind = 'session upgrade-workflow') ELSE false END,
    CASE WHEN r.seq IS NOT NULL AND d.part = 1 AND (d.report_id IS NULL OR d.current_agent <> r.role
        OR d.response_status <> r.response_status OR (r.group_id IS NOT NULL AND d.group_id IS NOT r.group_id))
        THEN NOT {_CONFIRMED} ELSE false END,
    CASE WHEN d.handoff_hash IS NULL THEN false ELSE NOT {_STARTED.format("d", "d.seq")} END,
    t.effect IS NOT r.effect AND r.effect <> 'withheld',
    (d.action = 'wait' OR d.action = t.action) AND (d.next_agent IS t.next_agent
        OR d.next_agent IS NULL AND (t.next_agent = 'user' OR d.action = 'wait')),
    CASE WHEN d.next_agent IS NULL THEN true ELSE EXISTS (SELECT 1 FROM workflow_transitions n
        WHERE n.workflow_version_id = d.workflow_version_id AND n.current_agent = d.next_agent) END, d.action, t.action
    FROM {_DECISION} LEFT JOIN {_REPORT} ON r.session_id = d.session_id AND r.seq = d.seq AND r.part = 1
    LEFT JOIN workflow_transitions t ON t.workflow_version_id = d.workflow_version_id
        AND t.current_agent = d.current_agent AND t.response_status = d.response_status
    WHERE d.session_id = :session AND d.seq > :since AND NOT (
        ({_PLAIN}) AND (d.handoff_hash IS NULL OR {_STARTED.format("d", "d.seq")})
        AND (d.report_id IS NOT NULL OR d.part > 1 OR r.seq IS NULL)
        AND d.workflow_version_id IS (SELECT s.workflow_version_id FROM sessions s WHERE s.id = :session)
    ) ORDER BY d.seq, d.part"""
# The project manager may also answer a turn in which groups were left waiting for them and nobody was started: the
# decisions of that step name those groups.
_UNGIVEN = f"""SELECT r.seq, r.id, r.group_id, r.role, r.agent_id, r.response_status FROM {_REPORT}
    WHERE r.session_id = :session AND r.seq > :since AND r.turn IS NOT NULL AND NOT {_STARTED.format("r", "r.turn")}
    AND NOT (r.role = 'project_manager' AND EXISTS (SELECT 1 FROM {_DECISION} CROSS JOIN json_each(
        CASE WHEN json_valid(d.answer) THEN d.answer ELSE '{{}}' END, '$.awaiting_manager') w
    WHERE d.session_id = r.session_id AND d.seq = r.turn AND w.value = ifnull(r.group_id, w.value)))
    ORDER BY r.seq"""
_STEPS = "SELECT count(*), max(seq) FROM audit_events WHERE session_id = :session AND seq > :since"
_MISSING_STEP = """SELECT e.seq + 1 FROM audit_events e WHERE e.session_id = :session AND e.seq > :since
    AND NOT EXISTS (SELECT 1 FROM audit_events n WHERE n.session_id = e.session_id AND n.seq = e.seq + 1)
    ORDER BY e.seq LIMIT 1"""
_FIRST_STEP = "SELECT 1 FROM audit_events WHERE session_id = :session AND seq = :since + 1"
# The newest spawn of each group, unless it is still open or was closed with its group or session. A later spawn of its
# group ended every earlier one.
_SPAWNS = """SELECT newest.group_id, newest.turn FROM (SELECT group_id, max(turn) AS turn FROM handoffs
        WHERE session_id = :session AND turn > :since GROUP BY group_id) newest
    LEFT JOIN task_groups g ON g.session_id = :session AND g.id = newest.group_id
    LEFT JOIN sessions s ON newest.group_id = '' AND s.id = :session
    WHERE CASE WHEN newest.turn = ifnull(g.turn, s.turn) THEN false
        ELSE ifnull(ifnull(g.status, s.status) IN ('in_progress', 'active', 'paused')
            OR ifnull(g.status_seq, s.status_seq) < newest.turn, true) END
    ORDER BY newest.turn"""
_SPAWNED = """SELECT h.agent_id, a.role FROM handoffs h
    LEFT JOIN agents a ON a.id = h.agent_id WHERE h.session_id = :session AND h.group_id = :group AND h.turn = :turn"""
_ANSWERS = f"""SELECT r.group_id, r.turn FROM {_REPORT} WHERE r.session_id = :session AND r.seq > :since
    AND r.turn > :since"""
_LAST_OF_MANAGER = """SELECT max(seq) FROM agent_reports INDEXED BY sqlite_autoindex_agent_reports_1
    WHERE session_id = :session AND seq > :since AND role = 'project_manager'"""
# Per group of all steps after one, in one pass: asked for each group alone, it cost the square of the steps.
_LAST_DECISIONS = f"""SELECT d.group_id, max(d.seq) FROM {_DECISION} WHERE d.session_id = :session AND d.seq > :since
    GROUP BY d.group_id"""
_MOVES = """SELECT entity, entity_id, seq, from_status, to_status, changed_by, cause FROM status_changes
    WHERE session_id = :session AND seq > :since AND entity IN ('group', 'task', 'session') ORDER BY seq, part"""
_MOVED_BEFORE = """SELECT to_status, seq FROM status_changes INDEXED BY ix_status_changes_entity
    WHERE session_id = :session AND entity = :entity AND entity_id = :id AND seq <= :since
    ORDER BY seq DESC, part DESC LIMIT 1"""
_STEP = "SELECT 1 FROM audit_events WHERE session_id = :session AND seq = :seq"
_MAKER = "SELECT role, kind FROM agents WHERE id = :name"
_VERDICT = """SELECT 1 FROM agent_reports r INDEXED BY sqlite_autoindex_agent_reports_1
    WHERE r.session_id = :session AND r.seq = :seq AND r.part = 1 AND r.role = 'validator'"""
_REPORTED = "SELECT 1 FROM agent_reports WHERE session_id = :session AND seq = :seq"
_SESSION_MOVED = f"""SELECT 1 FROM {_CHANGE} WHERE c.session_id = :session AND c.seq = :seq AND c.entity = 'session'
    UNION ALL SELECT 1 FROM audit_events e WHERE e.session_id = :session AND e.seq = :seq
        AND e.kind = 'session create'"""
_CLOSED_QUESTION = "SELECT 1 FROM questions WHERE session_id = :session AND closed_seq = :seq"
_BEHIND = {
    ("group", "verdict"): ("a verdict", _VERDICT),
    ("session", "verdict"): ("a verdict", _VERDICT),
    ("group", "report"): ("a report", _REPORTED),
    ("group", "session"): ("a beginning or end of the session", _SESSION_MOVED),
    ("group", "question"): ("an answer", _CLOSED_QUESTION),
}
"""By what moves and its cause: what has to be on record in the same step, and the statement that finds it."""
_GROUPS = """SELECT g.id, g.status, g.status_seq, g.status_changed_by, a.role, g.created_seq, 'pending', e.kind, g.id
    FROM task_groups g LEFT JOIN agents a ON a.id = g.status_changed_by
    LEFT JOIN audit_events e ON e.session_id = g.session_id AND e.seq = g.created_seq
    WHERE g.session_id = :session ORDER BY g.id"""
_SESSION = """SELECT s.id, s.status, s.status_seq, s.status_changed_by, a.role, 1, 'active', e.kind, NULL
    FROM sessions s LEFT JOIN agents a ON a.id = s.status_changed_by
    LEFT JOIN audit_events e ON e.session_id = s.id AND e.seq = 1 WHERE s.id = :session"""
# A task begins with a recorded change from nothing.
_TASKS = """SELECT t.id, t.status, t.status_seq, t.status_changed_by_agent_id, a.role, t.created_seq, NULL, e.kind,
    t.group_id
    FROM tasks t LEFT JOIN agents a ON a.id = t.status_changed_by_agent_id
    LEFT JOIN audit_events e ON e.session_id = t.session_id AND e.seq = t.created_seq
    WHERE t.session_id = :session ORDER BY t.id"""
_TABLES = {"group": "task_groups", "task": "tasks", "session": "sessions"}
_GROUP_MOVES = frozenset(lifecycle_table.GROUP_MOVERS)
_USUAL = frozenset(("batch", "report", "completion", "slot"))
"""The causes of moves that the program makes by itself."""
_CAUSES = frozenset(
    ("batch", "report", "completion", "slot", "set_status", "manual", "question", "verdict", "session", "imported")
)
"""Every cause of a group's moves."""
_IMPORT = "import "
"""How the kinds of steps begin that bring groups and sessions in with the status that they had elsewhere."""

STATEMENTS = {
    name: sql for name, sql in list(globals().items()) if isinstance(sql, str) and sql.lstrip().startswith("SELECT")
}
STATEMENTS |= {f"{rule.kind} {rule.table}": rule.sql for rule in (*_OF_TURNS, *_OTHERS, *_STANDING)}
STATEMENTS |= redirects.STATEMENTS | plan_checks.STATEMENTS
"""All statements by name; each takes the session and a step."""

TURNING = frozenset(name for _, name, _ in rules.RULES) | {
    "user_review", "batch", "phase_check", "stalled", "question_open", "complexity",
}  # fmt: skip
"""The rules that may send somebody else than the transition says."""
_TELLING = frozenset(("alias", "completion"))
"""Those that only say something."""


class Gap(NamedTuple):
    """Something that is missing: what it is about, and what is missing."""

    subject: str
    text: str


class Break(NamedTuple):
    """A gap with what it can be asked for by.

    kind: one of `KINDS`; table: where the row is; seq: the step at which something is missing; role, agent_id: who
    reported, was started or moved something; status: what was reported, or which status was reached.
    """

    kind: str
    seq: int
    subject: str
    group_id: str | None
    role: str | None
    agent_id: str | None
    status: str | None
    text: str
    table: str


class _Standing(NamedTuple):
    """A group, task or session as it is now, and how it began: by which kind of step, in which, with which status."""

    id: str
    status: str
    status_seq: int
    changed_by: str | None
    role: str | None
    created_seq: int
    first: str | None
    born: str | None
    group_id: str | None


class _Move(NamedTuple):
    """One recorded change of a status."""

    entity: str
    entity_id: str
    seq: int
    from_status: str | None
    to_status: str
    changed_by: str
    cause: str


class _Course:
    """How far a group, task or session came by the changes on record: its status, since which step.

    known: whether the status is; of what came in from elsewhere it is not before its first change.
    """

    __slots__ = ("begun", "group_id", "known", "seq", "standing", "status")

    def __init__(self, standing: _Standing | None, group_id: str | None) -> None:
        self.standing, self.group_id = standing, group_id
        self.known = standing is not None and not (standing.born or "").startswith(_IMPORT)
        self.status = standing.first if standing and self.known else None
        self.seq = standing.created_seq if standing else 0
        self.begun = False

    def begin(self, connection: sqlite3.Connection, entity: str, id_: str, key: dict[str, Any]) -> None:
        """Put it where the changes led that come before those which are looked at."""
        if self.begun:
            return
        self.begun = True
        moved = {**key, "entity": entity, "id": id_}
        before = connection.execute(_MOVED_BEFORE, moved).fetchone() if key["since"] else None
        if before is not None:
            self.known, (self.status, self.seq) = True, before


class _Makers(dict[str, tuple[str | None, str | None]]):
    """Role and kind of who moves something; neither where nobody is registered under that name."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        super().__init__()
        self._connection = connection

    def __missing__(self, name: str) -> tuple[str | None, str | None]:
        row = self._connection.execute(_MAKER, {"name": name}).fetchone()
        self[name] = found = row or (None, None)
        return found


def found(connection: sqlite3.Connection, session: str) -> Iterator[Gap]:
    """Every gap of a session's record between reports, decisions, spawns and steps."""
    for each in _of_turns(connection, session):
        yield Gap(each.subject, each.text)


def breaks(connection: sqlite3.Connection, session: str, since: int = 0) -> Iterator[Break]:
    """Everything that does not hold between the rows of a session.

    Args:
        since: only what is missing in a later step.
    """
    yield from _of_turns(connection, session, since)
    yield from others(connection, session, since)


def others(connection: sqlite3.Connection, session: str, since: int = 0) -> Iterator[Break]:
    """The same without what `found` finds."""
    key = {"session": session, "since": since}
    for rule in _OTHERS:
        yield from _broken_rule(connection, rule, key)
    yield from _undecidable(connection, key)
    yield from (Break._make((UNPLANNED, *fault)) for fault in plan_checks.faults(connection, session, since))
    yield from (each for each in _uncaused(connection, key) if each.seq > since)
    for seq, group, by, missing in path_history.unproven(connection, session, since):
        text = f"group {group} was completed in step {seq}, where its path lacked {missing}"
        yield Break(UNPROVEN, seq, group, group, None, by, "completed", text, "status_changes")


def standing(connection: sqlite3.Connection, session: str) -> Iterator[Break]:
    """What groups, tasks, blockers, questions and the session are now, and no step on record made them.

    A part of `breaks` that looks at each of them once and not at the record, so that it costs little beside a read of
    the whole file.
    """
    for rule in _STANDING:
        yield from _broken_rule(connection, rule, {"session": session, "since": 0})


def of_store(connection: sqlite3.Connection) -> Iterator[Break]:
    """What does not hold between the rows that belong to no session: people, and loaded workflow versions."""
    for row in connection.execute(settings_rules.PEOPLE, {"chain": STORE_CHAIN}):
        yield Break._make((UNPROVED, *row, "nobody who was proven a person registered this one", "agents"))
    for seq, name, why in versions.altered(connection):
        yield Break(UNLOADED, seq, name, None, None, None, None, why, "workflow_versions")


def _broken_rule(connection: sqlite3.Connection, rule: Rule, key: dict[str, Any]) -> Iterator[Break]:
    for row in connection.execute(rule.sql, key):
        yield Break._make((rule.kind, *row, rule.text, rule.table))


def _undecidable(connection: sqlite3.Connection, key: dict[str, Any]) -> Iterator[Break]:
    """Decisions that do not fit their report, or that neither their transition nor a rule gives."""
    reasons = redirects.Reasons(connection, key["session"])
    for given in connection.execute(_DECIDED, key):
        row, (fired, reported, other_version, other_report, unstarted, *judged, action, told) = given[:6], given[6:]
        texts = []
        if other_report:
            texts.append((MISMATCHED, "the decision is not about its report: role, status or group differ"))
        if unstarted:
            texts.append((UNSPAWNED, "the decision starts an agent, and its hand-off is missing"))
        if other_version:
            texts.append((UNRULED, "the decision follows another version of the workflow than the session's"))
        if reported:
            names = _names(fired)
            missing = reasons.missing(row[0], names, action, told)
            if why := _unruled(names, *judged) or (missing and f"the rule {missing} had no reason to fire"):
                texts.append((UNRULED, why))
        for kind, text in texts:
            yield Break._make((kind, *row, text, "router_decisions"))


def _unruled(names: frozenset[str], other_effect: int, as_told: int, known: int) -> str | None:
    """Why a decision on a report is none that its transition or a rule gives, as far as one look can tell."""
    if other_effect:
        return "no transition of the workflow's version gives such a report this effect"
    if not names <= TURNING | _TELLING:
        return f"the decision names no rule of this program: {', '.join(sorted(names - TURNING - _TELLING))}"
    if not (as_told or names & TURNING):
        return "the decision is not the transition's, and names no rule that turned it away"
    return None if known else "the decision starts a role that the workflow's version does not know"


def _names(fired: str) -> frozenset[str]:
    """The names of the rules that fired; a text that is none is the name of no rule."""
    try:
        return frozenset(str(each["name"]) for each in strict_json.stored(fired))
    except (ValueError, TypeError, KeyError, RecursionError):
        return frozenset((fired[:40],))


def _of_turns(connection: sqlite3.Connection, session: str, since: int = 0) -> Iterator[Break]:
    key = {"session": session, "since": since}
    for rule in _OF_TURNS:
        yield from _broken_rule(connection, rule, key)
    count, last = connection.execute(_STEPS, key).fetchone()
    if count != (last or since) - since:
        missing = _missing_step(connection, key)
        recorded, _ = connection.execute(_STEPS, {**key, "since": 0}).fetchone()
        text = f"of {last} steps {recorded} are on record; step {missing} is missing"
        yield Break(MISSING_STEP, missing, session, None, None, None, None, text, "audit_events")
    yield from _unended(connection, key)


def _missing_step(connection: sqlite3.Connection, key: dict[str, Any]) -> int:
    if connection.execute(_FIRST_STEP, key).fetchone() is None:
        return int(key["since"]) + 1
    return int(connection.execute(_MISSING_STEP, key).fetchone()[0])


def _unended(connection: sqlite3.Connection, key: dict[str, Any]) -> Iterator[Break]:
    """Spawns without an end: no answer, no later decision, no longer open, and not closed with their group."""
    for row in connection.execute(_UNGIVEN, key):
        yield Break._make((UNSPAWNED, *row, "the report answers a turn in which nobody was started", "agent_reports"))
    last_of_manager = connection.execute(_LAST_OF_MANAGER, key).fetchone()[0] or 0
    answered = set(connection.execute(_ANSWERS, key))
    last_decisions = dict(connection.execute(_LAST_DECISIONS, key).fetchall())
    for group, turn in connection.execute(_SPAWNS, key).fetchall():
        if (group or None, turn) in answered or last_decisions.get(group or None, 0) > turn:
            continue
        agent, role = connection.execute(_SPAWNED, {**key, "group": group, "turn": turn}).fetchone()
        if not (role == "project_manager" and last_of_manager > turn):
            text = f"{agent} was started in turn {turn}, and nothing tells how that ended"
            yield Break(UNENDED, turn, group or key["session"], group or None, role, agent, None, text, "handoffs")


def _uncaused(connection: sqlite3.Connection, key: dict[str, Any]) -> Iterator[Break]:
    """What does not follow from one recorded change of a status after the other."""
    courses: dict[tuple[str, str], _Course] = {}
    for entity, sql in (("group", _GROUPS), ("task", _TASKS), ("session", _SESSION)):
        for row in connection.execute(sql, key):
            courses[entity, row[0]] = _Course(_Standing._make(row), row[-1])
            if row[2] > key["since"]:
                courses[entity, row[0]].begin(connection, entity, row[0], key)
    recorded, makers = _recorded(connection, key), _Makers(connection)
    for entity, id_, seq, before, after, by, cause in connection.execute(_MOVES, key):
        course = courses.get((entity, id_))
        if course is None:
            course = courses[entity, id_] = _Course(None, id_ if entity == "group" else None)
        course.begin(connection, entity, id_, key)
        usual = cause in _USUAL and (before, after) in _GROUP_MOVES and makers[by][1] == "system"
        if not (usual and entity == "group" and course.known and course.status == before and recorded(seq)):
            move = _Move(entity, id_, seq, before, after, by, cause)
            faults = _move_faults(move, course, known_step=recorded(seq))
            for text in (*faults, *_unlawful(connection, key, move, makers[by])):
                yield Break(UNCAUSED, seq, id_, course.group_id, makers[by][0], by, after, text, "status_changes")
            course.known = True
        course.status, course.seq = after, seq
    for (entity, id_), course in courses.items():
        yield from _elsewhere(entity, id_, course)


def _recorded(connection: sqlite3.Connection, key: dict[str, Any]) -> Callable[[int], bool]:
    """Whether a step is on record; no look at each where none is missing."""
    since, (count, last) = key["since"], connection.execute(_STEPS, key).fetchone()
    if count == (last or since) - since:
        return range(since + 1, (last or since) + 1).__contains__
    return lambda seq: connection.execute(_STEP, {**key, "seq": seq}).fetchone() is not None


def _elsewhere(entity: str, id_: str, course: _Course) -> Iterator[Break]:
    """Where something is not where its last recorded change led."""
    standing, seq, group = course.standing, course.seq, course.group_id
    if standing is None:
        text = f"status changes tell of {entity} {id_}, which does not exist"
        yield Break(UNCAUSED, seq, id_, group, None, None, course.status, text, _TABLES[entity])
    elif standing.status_seq != seq or (course.known and standing.status != course.status):
        text = (
            f"{entity} {id_} is {standing.status} since step {standing.status_seq}, and no recorded change leads there:"
            f" the last one is {(course.status or 'its creation') if course.known else 'its import'} in step {seq}"
        )
        about = (standing.role, standing.changed_by, standing.status)
        yield Break(UNCAUSED, standing.status_seq, id_, group, *about, text, _TABLES[entity])


def _unlawful(
    connection: sqlite3.Connection, key: dict[str, Any], move: _Move, maker: tuple[str | None, str | None]
) -> Iterator[str]:
    """What is wrong with who moved something, or with the move as such."""
    said = f"{move.entity} {move.entity_id} went to {move.to_status} by {move.changed_by}"
    role, kind = maker
    if kind is None:
        yield f"{said}, who is not registered"
    what, sql = _BEHIND.get((move.entity, move.cause), ("", ""))
    if sql and connection.execute(sql, {**key, "seq": move.seq}).fetchone() is None:
        yield f"{said} by {what}, of which that step has none"
    if move.entity == "group" and move.cause not in _CAUSES:
        yield f"{said} because of {move.cause!r}, which moves no group"
    if move.entity == "group" and move.from_status is not None:
        movers = lifecycle_table.GROUP_MOVERS.get((move.from_status, move.to_status))
        if movers is None:
            yield f"{said}, and no group goes there from {move.from_status}"
        elif move.cause == "set_status" and kind != "human" and role not in movers:
            yield f"{said} ({role}), who may not"


def _move_faults(move: _Move, course: _Course, *, known_step: bool) -> Iterator[str]:
    what = f"{move.entity} {move.entity_id}"
    before, after, status = move.from_status, move.to_status, course.status
    if course.known and before != status:
        said = f"go from {before} to {after}" if before else f"begin as {after}"
        yield f"{what} is said to {said}, but {f'was {status} since' if status else 'was not before'} step {course.seq}"
    if not known_step:
        yield f"{what} went to {after} in step {move.seq}, which is not on record"
