"""What people and agents ask of the record: named statements, each bounded by an index, and rows by column name.

Order is insertion order: `seq`, and in the lists of one group the rowid, which an append-only table gives out in
the same order. Filters compare whole values; an absent one is null and filters nothing.
"""

from __future__ import annotations

import operator

from orchestrator.hints import Any
from orchestrator.store.constants import STORE_CHAIN
from orchestrator.store.reader import Reader

LAST_SEQ = 2**62
"""Larger than any seq."""

FLAGS = frozenset(
    (
        "active", "auto_unblock", "external", "fresh", "mandatory_review", "planned", "security_sensitive", "senior",
        "turn_assumed",
    )
)  # fmt: skip
"""Columns that hold 0 or 1 and are answered as false or true."""

Row = dict[str, Any]

SESSION = "SELECT * FROM sessions WHERE id = :session"
SESSIONS = "SELECT * FROM sessions WHERE id > :since ORDER BY id LIMIT :limit"
OPEN_SESSIONS = """SELECT * FROM sessions INDEXED BY ix_sessions_open
    WHERE status <> 'ended' AND id > :since ORDER BY id LIMIT :limit"""

GRANDFATHERED = """SELECT f.peer_status FROM grandfathered_groups f
    JOIN task_groups t ON t.session_id = f.session_id AND t.id = f.group_id
    WHERE f.session_id = :session AND f.group_id = :group AND t.status = 'completed' AND t.status_seq = f.seq"""
IMPORT_FINDINGS = """SELECT group_id, code, text FROM import_findings
    WHERE session_id = :session ORDER BY seq, part LIMIT :limit"""
GROUP_FINDINGS = """SELECT group_id, code, text FROM import_findings INDEXED BY ix_import_findings_group
    WHERE session_id = :session AND group_id = :group ORDER BY seq, part"""

GROUP = "SELECT * FROM task_groups WHERE session_id = :session AND id = :group"
GROUPS = """SELECT * FROM task_groups WHERE session_id = :session AND created_seq > :since
    AND (:status IS NULL OR status = :status) ORDER BY created_seq, id LIMIT :limit"""
STANDING_GROUPS = """SELECT id, session_id, name, kind, status, priority, security_sensitive, held, turn, awaited_role,
    awaited_agent_id, awaited_action, awaited_since, qa_attempts, tl_review_attempts, merge_attempts
    FROM task_groups WHERE session_id = :session ORDER BY created_seq, id"""
DEPENDS_ON = """SELECT d.depends_on AS id, t.status
    FROM group_dependencies d JOIN task_groups t ON t.session_id = d.session_id AND t.id = d.depends_on
    WHERE d.session_id = :session AND d.group_id = :group AND d.removed_seq IS NULL ORDER BY d.seq, d.depends_on"""
OPEN_EDGES = """SELECT d.group_id, d.depends_on, t.status
    FROM group_dependencies d JOIN task_groups t ON t.session_id = d.session_id AND t.id = d.depends_on
    WHERE d.session_id = :session AND d.group_id IN (SELECT value FROM json_each(:groups))
    AND d.removed_seq IS NULL AND t.status <> 'completed'
    ORDER BY d.seq, d.depends_on"""
"""Dependencies on groups that are not completed; one that waits for its confirmation alone is satisfied as well."""
# Asked for one group at a time: for a group that another row names, SQLite would look at every path there is.
UNPROVEN = """SELECT EXISTS (
        SELECT 1 FROM grandfathered_groups f JOIN task_groups t ON t.session_id = f.session_id AND t.id = f.group_id
        WHERE f.session_id = p.session_id AND f.group_id = p.group_id AND t.status_seq = f.seq
    ), p.pm_path, p.missing FROM completion_paths p
    WHERE p.session_id = :session AND p.group_id = :group AND p.status = 'completed' AND p.kind <> 'chat'
    AND p.chain = 0"""


def _none(table: str, key: str, where: str) -> tuple[str, str]:
    """That a session, and that the group `g` of it, has no such row."""
    of_session = f"NOT EXISTS (SELECT 1 FROM {table} WHERE session_id = :session AND {where})"
    return of_session, f"{of_session[:-1]} AND {key} = g.id)"


def _report(effect: str, more: str = "") -> str:
    """The reports of the group `g` with an effect."""
    return f"""SELECT x.seq FROM agent_reports x INDEXED BY ix_agent_reports_group
        WHERE x.session_id = g.session_id AND x.group_id = g.id AND x.effect = '{effect}'{more}"""


_LAST = " ORDER BY x.seq DESC LIMIT 1"
_PECULIAR = (
    _none("status_changes INDEXED BY ix_status_changes_reopened", "entity_id",
          "entity = 'group' AND from_status = 'completed'"),
    _none("blockers INDEXED BY ix_blockers_group", "group_id", "1"),
    _none("questions INDEXED BY ix_questions_open", "group_id", "closed_seq IS NULL"),
    _none("router_decisions INDEXED BY ix_router_decisions_mandatory", "group_id", "mandatory_review = 1"),
)  # fmt: skip
"""What a plain group has nothing of: it was reopened, blocked, asked about or put under review."""
_TASKS = _none("tasks INDEXED BY ix_tasks_group", "group_id", "1")
_OPEN_TASK = _none(
    "tasks INDEXED BY ix_tasks_group", "group_id", "status IN ('backlog', 'todo', 'in_progress', 'blocked')"
)
_DEPENDENCY = _none("group_dependencies d", "d.group_id", """d.removed_seq IS NULL AND NOT EXISTS (
    SELECT 1 FROM task_groups c WHERE c.session_id = :session AND c.id = d.depends_on AND c.status = 'completed')""")
_ISOLATED = _none("starts", "group_id", "isolation = 'worktree'")
_TESTED_ANEW = """SELECT 1 FROM agent_reports y INDEXED BY ix_agent_reports_group WHERE y.session_id = g.session_id
    AND y.group_id = g.id AND y.seq > x.seq AND (y.effect = 'test_fail' OR y.effect = 'submit_test')"""
_PASSED = f" AND x.seq < s.seq AND NOT EXISTS ({_TESTED_ANEW})"
_TESTED = f"""((EXISTS ({_report("submit_test")}) AND EXISTS ({_report("test_pass", _PASSED)})) OR (
    (EXISTS ({_report("submit_review")}) OR EXISTS ({_report("submit_test")})) AND NOT EXISTS ({_report("test_fail")})
    AND (EXISTS (SELECT 1 FROM sessions WHERE id = :session AND testing_mode IN ('minimal', 'disabled'))
        OR NOT EXISTS ({_report("submit_test")}) AND NOT EXISTS (SELECT 1 FROM agent_reports q
            INDEXED BY ix_agent_reports_group WHERE q.session_id = g.session_id AND q.group_id = g.id
            AND q.role = 'qa_expert'))))"""
_SEEN = """ AND EXISTS (SELECT 1 FROM evidence e INDEXED BY ix_evidence_merge WHERE e.session_id = g.session_id
    AND e.subject = g.id AND e.seq = x.seq AND e.kind = 'merge')"""
_MERGED = f"""(EXISTS ({_report("merge", " AND x.seq > s.seq")}) AND ({_ISOLATED[0]} OR {_ISOLATED[1]}
    OR EXISTS ({_report("merge", f" AND x.seq = ({_report('merge', _LAST)}){_SEEN}")})))"""
_VOIDED = """SELECT 1 FROM agent_reports n INDEXED BY ix_agent_reports_group
    WHERE n.session_id = g.session_id AND n.group_id = g.id AND n.seq > s.seq AND n.effect <> 'merge'
    AND n.effect <> 'withheld' AND (n.role <> 'project_manager' OR n.effect IN ('rework', 'defer'))"""
PLAIN = f"""(((SELECT {" AND ".join(each[0] for each in (*_PECULIAR, _TASKS, _DEPENDENCY))}) OR (
        {" AND ".join(each[1] for each in (*_PECULIAR, _DEPENDENCY))}
        AND ({_TASKS[1]} OR {_OPEN_TASK[1]} AND EXISTS (SELECT 1 FROM tasks INDEXED BY ix_tasks_group
            WHERE session_id = :session AND group_id = g.id AND status = 'done'))))
    AND (g.security_sensitive = 0 OR EXISTS (SELECT 1 FROM agent_reports q INDEXED BY ix_agent_reports_group
        WHERE q.session_id = g.session_id AND q.group_id = g.id AND q.role = 'tech_lead' AND q.effect <> 'withheld'))
    AND EXISTS (SELECT 1 FROM agent_reports s INDEXED BY ix_agent_reports_group WHERE s.session_id = g.session_id
        AND s.group_id = g.id AND s.effect = 'approve' AND s.role <> 'project_manager' AND NOT EXISTS ({_VOIDED})
        AND (g.kind = 'research' OR (g.kind = 'code' AND {_MERGED} AND {_TESTED}))))"""
"""That reports alone prove the group `g` of `:session`, none of which was taken back, and nothing stood in its way.

Most completed groups are such. The condition is sufficient and not necessary: where it holds, the chain of the
completion view is whole, and the view is asked about every other group. It takes an eighth of the view's steps.
"""
NOT_PLAIN = f"""SELECT g.id FROM task_groups g WHERE g.session_id = :session AND g.status = 'completed'
    AND NOT {PLAIN}"""
AWAITS_CONFIRMATION = """SELECT awaiting_confirmation FROM completion_paths
    WHERE session_id = :session AND group_id = :group"""
DEPENDENTS = """SELECT d.group_id, t.status
    FROM group_dependencies d INDEXED BY ix_group_dependencies_depends_on
    JOIN task_groups t ON t.session_id = d.session_id AND t.id = d.group_id
    WHERE d.session_id = :session AND d.depends_on = :group AND d.removed_seq IS NULL
    AND t.status IN ('pending', 'in_progress', 'deferred_external', 'completed') ORDER BY t.created_seq, d.group_id"""

TASK_TEXTS = "SELECT id, title, description FROM tasks WHERE session_id = :session AND id = :task"

BLOCKERS = """SELECT * FROM blockers INDEXED BY ix_blockers_group
    WHERE session_id = :session AND group_id = :group ORDER BY opened_seq, id"""
BLOCKER = "SELECT * FROM blockers WHERE id = :id AND session_id = :session"
OPEN_BLOCKERS = """SELECT * FROM blockers INDEXED BY ix_blockers_open
    WHERE session_id = :session AND resolved_seq IS NULL ORDER BY opened_seq, id"""
QUESTION = "SELECT * FROM questions WHERE id = :id"
QUESTIONS = """SELECT * FROM questions INDEXED BY ix_questions_session
    WHERE session_id = :session AND group_id = :group ORDER BY opened_seq, id"""
OPEN_QUESTIONS = """SELECT * FROM questions INDEXED BY ix_questions_open
    WHERE session_id = :session AND closed_seq IS NULL ORDER BY opened_seq, id"""

RESUME_POINT = """SELECT * FROM resume_points INDEXED BY ix_resume_points_group
    WHERE session_id = :session AND group_id IS :group AND status = 'partial' ORDER BY seq DESC LIMIT 1"""
RESUME_POINT_OF = "SELECT * FROM resume_points WHERE session_id = :session AND seq = :seq"

INBOX = """SELECT q.* FROM questions q INDEXED BY ix_questions_open WHERE q.closed_seq IS NULL
    AND (:session IS NULL OR q.session_id = :session)
    AND (:at IS NULL OR q.asked_at > :at OR (q.asked_at = :at AND q.id > :id)) ORDER BY q.asked_at, q.id LIMIT :limit"""

CRITERION = "SELECT * FROM criteria WHERE session_id = :session AND id = :id"
CRITERIA = """SELECT * FROM criteria INDEXED BY ix_criteria_created WHERE session_id = :session
    AND created_seq > :since AND (:all = 1 OR removed_seq IS NULL) ORDER BY created_seq, id LIMIT :limit"""
PENDING_CRITERIA = """SELECT * FROM criteria INDEXED BY ix_criteria_created WHERE session_id = :session
    AND approval = 'pending' AND removed_seq IS NULL ORDER BY created_seq, id"""
START = "SELECT * FROM starts WHERE session_id = :session AND group_id = :group AND turn = :turn AND seq = :seq"
START_OF_TURN = """SELECT * FROM starts INDEXED BY ix_starts_open WHERE session_id = :session
    AND group_id = :group AND turn = :turn AND ended_seq IS NULL"""
NEWEST_STEP = "SELECT max(seq) FROM audit_events WHERE session_id = :session"
SERVED_SESSIONS = """SELECT s.id, (SELECT max(seq) FROM audit_events WHERE session_id = s.id)
    FROM sessions s INDEXED BY ix_sessions_open JOIN audit_events b ON b.session_id = s.id AND b.seq = 1
    WHERE s.status <> 'ended' AND s.kind <> 'chat'
    AND (b.channel = :channel OR json_extract(b.input, '$.via') IS NOT NULL) ORDER BY s.id"""
"""The open orchestrations that were begun through a server, each with its newest step. Whoever proves to be a person
there speaks through another channel."""
MEASURED = "SELECT json_extract(input, '$.measured') FROM audit_events WHERE session_id = :session AND seq = :seq"
SEEN_REPORTS = """SELECT r.id, r.group_id, r.role, r.response_status, json_extract(e.input, '$.measured') AS measured
    FROM agent_reports r JOIN audit_events e ON e.session_id = r.session_id AND e.seq = r.seq
    WHERE r.session_id = :session AND json_extract(e.input, '$.measured') IS NOT NULL
    ORDER BY r.seq DESC LIMIT :limit"""
"""The newest reports of which a driver has measured anything."""
NEWEST_START = """SELECT ended_seq, outcome, due_at, reason, worker FROM starts INDEXED BY sqlite_autoindex_starts_1
    WHERE session_id = :session AND group_id = :group AND turn = :turn ORDER BY seq DESC LIMIT 1"""
LIMITED_STARTS = """SELECT count(*) FROM starts INDEXED BY sqlite_autoindex_starts_1 WHERE session_id = :session
    AND group_id = :group AND turn = :turn AND outcome = 'limited'"""
STARTS_OF_CLIENT = """SELECT * FROM starts INDEXED BY ix_starts_client WHERE client = :client AND session_id = :session
    AND ended_seq IS NULL ORDER BY seq"""
STARTS_BY = """SELECT * FROM starts INDEXED BY ix_starts_open WHERE session_id = :session AND ended_seq IS NULL
    AND via = :via AND owner IS NOT NULL ORDER BY seq"""
START_OF_WORKER = """SELECT * FROM starts INDEXED BY ix_starts_client WHERE client = :client AND worker = :worker
    ORDER BY session_id, seq DESC LIMIT 1"""
ADOPTED_BY = "SELECT client FROM adoptions WHERE session_id = :session ORDER BY seq DESC LIMIT 1"
ADOPTED = """SELECT a.session_id FROM adoptions a INDEXED BY ix_adoptions_client
    JOIN sessions s ON s.id = a.session_id AND s.status <> 'ended'
    WHERE a.client IS :client AND a.seq = (SELECT max(b.seq) FROM adoptions b WHERE b.session_id = a.session_id)
    ORDER BY a.adopted_at DESC, a.session_id DESC LIMIT 1"""
ANY_PENDING = """SELECT 1 FROM criteria INDEXED BY ix_criteria_created
    WHERE session_id = :session AND approval = 'pending' AND removed_seq IS NULL LIMIT 1"""
UNJUDGED = (
    "refusal", "task claim", "task heartbeat", "task release", "run start", "run wait", "turn queue", "turn start",
    "start", "start bind", "start end", "session adopt", "init", "project add", "workflow load", "human enrol",
    "human remove", "human reset", "human link", "human open", "human verify",
)  # fmt: skip
"""Kinds of events that change nothing of what a verdict rests on. Every other kind does, also one added later."""

# A refusal may call the next rung or ask a person, which its step decides (VAL-5).
_JUDGED = f"""(e.kind NOT IN ({", ".join(f"'{kind}'" for kind in UNJUDGED)}) OR EXISTS (SELECT 1
    FROM router_decisions d WHERE e.kind = 'refusal' AND d.session_id = e.session_id AND d.seq = e.seq))"""
CHANGED_SINCE = f"""SELECT EXISTS (SELECT 1 FROM audit_events e WHERE e.session_id = :chain AND e.seq > :seq
    AND e.seq < :until AND {_JUDGED})"""
"""Whether a chain had an event between two steps that changes what a verdict rests on."""

# What the store's chain had since is told by the order in which events were committed. Nothing changes a session that
# has ended.
LAST_VERDICT = f"""SELECT r.id, r.response_status AS verdict, r.summary AS reason, r.seq, r.reported_at AS at,
    NOT EXISTS (SELECT 1 FROM audit_events e WHERE e.session_id = r.session_id AND e.seq > r.seq AND {_JUDGED})
    AND (s.status = 'ended' OR NOT EXISTS (SELECT 1 FROM audit_events e WHERE e.session_id = '{STORE_CHAIN}'
        AND +e.rowid > (SELECT v.rowid FROM audit_events v WHERE v.session_id = r.session_id AND v.seq = r.seq)
        AND {_JUDGED})) AS fresh
    FROM agent_reports r INDEXED BY ix_agent_reports_verdict JOIN sessions s ON s.id = r.session_id
    WHERE r.session_id = :session AND r.group_id IS NULL AND r.role = 'validator' ORDER BY r.seq DESC LIMIT 1"""

AGENT = "SELECT * FROM agents WHERE id = :agent"
AGENTS = """SELECT * FROM agents WHERE id > :since AND (:session IS NULL OR session_id = :session)
    AND (:role IS NULL OR role = :role) AND active >= :active ORDER BY id LIMIT :limit"""
AGENT_TREE = """SELECT * FROM agents WHERE active >= :active
    AND (:session IS NULL OR session_id IS NULL OR session_id = :session) ORDER BY id"""
# Most agents are started for one group and have nobody below; an index of all parents would cost each start a page.
CHILDREN = """SELECT id FROM agents WHERE parent_id = :agent AND active = 1 ORDER BY id LIMIT :limit"""

STEP_DECISIONS = """SELECT * FROM router_decisions INDEXED BY sqlite_autoindex_router_decisions_1
    WHERE session_id = :session AND seq = :seq ORDER BY part"""
LAST_DECISIONS = """SELECT * FROM router_decisions INDEXED BY idx_router_decisions_session
    WHERE session_id = :session AND group_id = :group ORDER BY rowid DESC LIMIT :limit"""
# A hand-off that is stored with the decision of another group starts its own one: that move leads to it.
_STARTED_BY_ANOTHER = """FROM status_changes c INDEXED BY ix_status_changes_entity
    CROSS JOIN router_decisions b INDEXED BY sqlite_autoindex_router_decisions_1
    WHERE c.session_id = {0} AND c.entity = 'group' AND c.entity_id = {1}
    AND b.session_id = c.session_id AND b.seq = c.seq AND b.handoff_group = c.entity_id"""
_TURNS_OF_GROUP = f"""SELECT turn FROM (SELECT turn FROM standalone_handoffs
        WHERE session_id = :session AND group_id = :group ORDER BY turn DESC LIMIT :limit)
    UNION ALL SELECT seq FROM (SELECT seq FROM router_decisions INDEXED BY idx_router_decisions_session
        WHERE session_id = :session AND group_id = :group AND handoff IS NOT NULL AND handoff_group IS NULL
        ORDER BY rowid DESC LIMIT :limit)
    UNION ALL SELECT seq FROM (SELECT c.seq {_STARTED_BY_ANOTHER.format(":session", ":group")}
        ORDER BY c.seq DESC LIMIT :limit)
    ORDER BY 1 DESC LIMIT :limit"""
LAST_TURNS = _TURNS_OF_GROUP
"""The newest turns of a group; each place is read from its end, since the view would be read from its beginning."""
LAST_CONFIRMED = """SELECT r.id, r.response_status, k.reason
    FROM acknowledgements k INDEXED BY ix_acknowledgements_group
    JOIN agent_reports r INDEXED BY sqlite_autoindex_agent_reports_1 ON r.session_id = k.session_id AND r.seq = k.seq
    WHERE k.session_id = :session AND k.group_id = :group AND r.effect = 'confirm' ORDER BY k.seq DESC LIMIT 1"""
LAST_CHANGES = """SELECT seq, from_status, to_status, changed_by, changed_at, reason, cause
    FROM status_changes INDEXED BY ix_status_changes_entity
    WHERE session_id = :session AND entity = :entity AND entity_id = :id ORDER BY seq DESC, part DESC LIMIT :limit"""
LAST_APPROVAL = """SELECT seq FROM agent_reports INDEXED BY ix_agent_reports_group
    WHERE session_id = :session AND group_id = :group AND effect = 'approve' ORDER BY seq DESC LIMIT 1"""
REPORT = """SELECT * FROM agent_reports INDEXED BY sqlite_autoindex_agent_reports_1
    WHERE session_id = :session AND seq = :seq"""

PARTS_IN_FILES = """SELECT id, kind, path, hash, size FROM evidence INDEXED BY sqlite_autoindex_evidence_1
    WHERE session_id = :session AND seq = :seq AND path IS NOT NULL ORDER BY part"""

GATES = """SELECT subject AS criterion, outcome AS why, content AS output FROM evidence
    INDEXED BY ix_evidence_gate WHERE session_id = :session AND seq = :seq AND kind = 'gate' ORDER BY part"""
ENDED_TURNS = """SELECT r.role, e.content FROM turn_runs r INDEXED BY ix_turn_runs_turn
    CROSS JOIN evidence e INDEXED BY sqlite_autoindex_evidence_1 WHERE r.session_id = :session
    AND r.group_id IS :group AND r.turn >= :since AND r.turn < :turn AND r.ended_at IS NOT NULL
    AND e.session_id = r.session_id AND e.seq = r.state_seq AND e.kind = 'turn' AND e.subject = r.id
    ORDER BY r.created_seq, r.id"""

HANDOFF = """SELECT * FROM handoffs
    WHERE session_id = :session AND group_id = :group AND turn = :turn"""
LAST_HANDOFF = f"""SELECT * FROM handoffs WHERE session_id = :session AND group_id = :group
    AND turn = ({_TURNS_OF_GROUP.replace(":limit", "1")})"""
VERSION = "SELECT id FROM workflow_versions WHERE hash = :hash"
ROLE_TEXT = """SELECT content FROM agent_files WHERE workflow_version_id = :version AND role = :role
    ORDER BY name LIMIT 1"""

_SPAN = "session_id = :session AND seq > :since AND seq <= :until"

STEP_ROWS: dict[str, str] = {
    # With the turn that the project manager took from another role, on which nothing was decided since it was given.
    "report": f"""SELECT r.*, CASE WHEN r.role = 'project_manager' AND r.group_id IS NOT NULL AND (
            SELECT json_extract(e.input, '$.interrupt') FROM audit_events e
            WHERE e.session_id = r.session_id AND e.seq = r.seq
        ) IS NOT NULL THEN (
            SELECT CASE WHEN (SELECT a.role FROM agents a WHERE a.id = h.agent_id) <> 'project_manager' AND NOT EXISTS (
                SELECT 1 FROM router_decisions d INDEXED BY idx_router_decisions_session
                WHERE d.session_id = h.session_id AND d.group_id = h.group_id AND d.seq > h.turn AND d.seq < r.seq
            ) THEN 'turn ' || h.turn || ' of ' || h.agent_id END
            FROM handoffs h WHERE h.session_id = r.session_id AND h.group_id = r.group_id AND h.turn = (
                SELECT max(given.turn) FROM (SELECT o.turn FROM standalone_handoffs o WHERE o.session_id = r.session_id
                    AND o.group_id = r.group_id AND o.turn < r.seq
                UNION ALL SELECT b.seq FROM router_decisions b INDEXED BY idx_router_decisions_session
                    WHERE b.session_id = r.session_id AND b.group_id = r.group_id AND b.seq < r.seq
                    AND b.handoff IS NOT NULL AND b.handoff_group IS NULL
                UNION ALL SELECT c.seq {_STARTED_BY_ANOTHER.format("r.session_id", "r.group_id")}
                    AND c.seq < r.seq) given)
        ) END AS interrupted
        FROM agent_reports r WHERE r.session_id = :session AND r.seq > :since AND r.seq <= :until
        ORDER BY r.seq, r.part""",
    "acknowledgement": f"SELECT * FROM acknowledgements WHERE {_SPAN} ORDER BY seq, part",
    "decision": f"SELECT * FROM router_decisions WHERE {_SPAN} ORDER BY seq, part",
    "status_change": f"""SELECT c.*, CASE WHEN c.entity IN ('task', 'task_claim') THEN
        (SELECT t.group_id FROM tasks t WHERE t.session_id = c.session_id AND t.id = c.entity_id) END AS group_id
        FROM status_changes c WHERE {_SPAN} ORDER BY c.seq, c.part""",
    "blocker_opened": """SELECT *, opened_seq AS seq FROM blockers INDEXED BY ix_blockers_group
        WHERE session_id = :session AND opened_seq > :since AND opened_seq <= :until ORDER BY opened_seq, id""",
    "blocker_marked": f"""SELECT seq, group_id, agent_id, role,
        json_extract(details, '$.external_dependency') AS dependency,
        (SELECT b.id FROM blockers b INDEXED BY ix_blockers_group WHERE b.session_id = agent_reports.session_id
            AND b.group_id = agent_reports.group_id AND b.external_seq = agent_reports.seq) AS id
        FROM agent_reports WHERE {_SPAN} AND effect = 'guide' AND json_type(details, '$.external') = 'true'
        ORDER BY seq, part""",
    "blocker_resolved": """SELECT *, resolved_seq AS seq FROM blockers INDEXED BY ix_blockers_resolved
        WHERE session_id = :session AND resolved_seq IS NOT NULL AND resolved_seq > :since AND resolved_seq <= :until
        ORDER BY resolved_seq, id""",
    "question_asked": """SELECT *, opened_seq AS seq FROM questions INDEXED BY ix_questions_session
        WHERE session_id = :session AND opened_seq > :since AND opened_seq <= :until ORDER BY opened_seq, id""",
    "question_closed": """SELECT *, closed_seq AS seq FROM questions INDEXED BY ix_questions_session
        WHERE session_id = :session AND closed_seq IS NOT NULL AND closed_seq > :since AND closed_seq <= :until
        ORDER BY closed_seq, id""",
    "evidence": f"SELECT id, seq, group_id, kind, subject, outcome FROM evidence WHERE {_SPAN} ORDER BY seq, part",
    "import_finding": f"SELECT * FROM import_findings WHERE {_SPAN} ORDER BY seq, part",
    "refusal": f"SELECT * FROM refusals WHERE {_SPAN} ORDER BY seq, part",
}
"""What a step may have written, in the order in which it is told; each takes a span of seqs."""


def events(*, descending: bool) -> str:
    """The statement for a session's audit events."""
    columns = "session_id, seq, kind, actor, channel, at, input"
    return f"SELECT {columns} FROM audit_events WHERE {_SPAN} ORDER BY seq {_order(descending)} LIMIT :limit"


def decisions(*, by_group: bool, descending: bool) -> str:
    """The statement for a list of decisions; with a group it walks the group's own index."""
    order = _order(descending)
    filters = """(:status IS NULL OR d.response_status = :status) AND (:agent IS NULL OR d.current_agent = :agent
        OR EXISTS (SELECT 1 FROM agent_reports r WHERE r.session_id = d.session_id AND r.seq = d.seq AND r.part = 1
            AND d.report_id IS NOT NULL AND r.agent_id = :agent))"""
    if not by_group:
        return f"""SELECT d.* FROM router_decisions d INDEXED BY sqlite_autoindex_router_decisions_1
            WHERE d.session_id = :session AND d.seq > :since AND d.seq <= :until AND :group IS NULL AND {filters}
            ORDER BY d.seq {order}, d.part {order} LIMIT :limit"""
    return f"""SELECT d.* FROM router_decisions d INDEXED BY idx_router_decisions_session
        WHERE d.session_id = :session AND d.group_id = :group
        AND d.rowid > ifnull(({_rowid_at("since")}), 0) AND d.rowid <= ifnull(({_rowid_at("until")}), 0) AND {filters}
        ORDER BY d.rowid {order} LIMIT :limit"""


def refusals(*, descending: bool) -> str:
    """The statement for a list of refusals."""
    order = _order(descending)
    return f"""SELECT * FROM refusals INDEXED BY sqlite_autoindex_refusals_1 WHERE {_SPAN}
        AND (:group IS NULL OR group_id = :group) AND (:agent IS NULL OR role = :agent OR actor = :agent)
        AND (:status IS NULL OR status = :status) ORDER BY seq {order}, part {order} LIMIT :limit"""


def _order(descending: bool) -> str:
    return "DESC" if descending else "ASC"


def _rowid_at(bound: str) -> str:
    """The newest decision of the session up to a seq."""
    return f"""SELECT b.rowid FROM router_decisions b INDEXED BY sqlite_autoindex_router_decisions_1
        WHERE b.session_id = :session AND b.seq <= :{bound} ORDER BY b.seq DESC, b.part DESC LIMIT 1"""


_NAME = operator.itemgetter(0)


def rows(reader: Reader, sql: str, **parameters: object) -> list[Row]:
    """The rows of a statement by column name, flags as booleans."""
    try:
        cursor = reader.connection.execute(sql, parameters)
    except UnicodeEncodeError:
        # Half a surrogate pair is stored nowhere, so nothing matches it.
        return []
    columns = list(map(_NAME, cursor.description))
    flags = FLAGS.intersection(columns)
    found: list[Row] = [dict(zip(columns, row, strict=True)) for row in cursor]
    for name in flags:
        for row in found:
            row[name] = bool(row[name])
    return found


def row(reader: Reader, sql: str, **parameters: object) -> Row | None:
    """The first row of a statement by column name, or None."""
    found = rows(reader, sql, **parameters)
    return found[0] if found else None
