"""Whether a rule that turned a decision away from its transition could fire, as far as the rows of the record tell.

Each condition is necessary, not sufficient: a rule that fired fulfils it, and where it is not fulfilled the rule cannot
have fired. That all facts of the rule held is what a replay tells.
"""

from __future__ import annotations

import sqlite3

from orchestrator.core import strict_json
from orchestrator.core.routing import facts, rules
from orchestrator.core.workflow import model
from orchestrator.hints import Any

_BUILDERS = ", ".join(f"'{role}'" for role in facts.BUILDERS)
_COUNTED = ", ".join(f"'{effect}'" for effect in rules.COUNTERS)
_OPENED_BEFORE = "SELECT 1 FROM blockers b WHERE b.session_id = d.session_id AND b.group_id = d.group_id" + (
    " AND b.opened_seq < d.seq"
)
_LIKE_IT = """SELECT count(*) FROM agent_reports o INDEXED BY ix_agent_reports_group WHERE o.session_id = d.session_id
    AND o.group_id IS r.group_id AND o.role = r.role AND o.response_status = r.response_status AND o.seq <= d.seq"""
# What is approved of a research group is not merged, so that the phase is checked instead.
_FANNING = "(ifnull(t.action, '') IN ('check_phase', 'spawn_batch') OR g.kind = 'research')"
# Nobody is started yet where the start is held back.
_TO_MANAGER = "ifnull(d.next_agent, 'project_manager') = 'project_manager'"

CONDITIONS = {
    "external_blocker": f"""t.effect = 'guide' AND EXISTS ({_OPENED_BEFORE})
        AND CASE WHEN json_valid(r.details) THEN CAST(json_extract(r.details, '$.external') AS TEXT) END = '1'""",
    "return_to_blocked": f"t.next_agent = '_return_to_blocked' AND EXISTS ({_OPENED_BEFORE})",
    "rework": "t.effect = 'rework'",
    "fallback": "s.disabled_roles <> ''",
    "testing_mode": """(s.testing_mode <> 'full'
        OR EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = d.session_id
            AND c.entity = 'session_testing_mode' AND c.from_status <> 'full' AND c.seq > d.seq)
        OR EXISTS (SELECT 1 FROM audit_events e WHERE e.session_id = d.session_id AND e.seq = d.seq
            AND json_extract(e.input, '$.testing_mode') IS NOT NULL))""",
    "escalation": f"""t.escalation_check = 1 AND t.effect IN ({_COUNTED}) AND (SELECT count(*) FROM agent_reports o
        INDEXED BY sqlite_autoindex_agent_reports_1 WHERE o.session_id = d.session_id AND o.seq <= d.seq
        AND o.group_id = d.group_id AND o.effect = t.effect) >= :threshold""",
    "iteration_budget": ":budgeted",
    "loop_guard": f"({_LIKE_IT}) >= :visits",
    "merge_without_approval": "t.effect = 'merge'",
    "research": "g.kind = 'research'",
    "no_downgrade": """(g.senior = 1 OR EXISTS (
        SELECT 1 FROM router_decisions o INDEXED BY idx_router_decisions_session WHERE o.session_id = d.session_id
        AND o.group_id = d.group_id AND o.seq < d.seq AND o.next_agent = 'senior_software_engineer'))""",
    "security": """ifnull(d.next_agent, '') <> 'developer' AND (g.security_sensitive = 1 OR EXISTS (SELECT 1
        FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = d.session_id
        AND c.entity = 'group_security' AND c.entity_id = d.group_id))""",
    "user_review": """d.action = 'pause_for_user' AND EXISTS (SELECT 1 FROM questions q INDEXED BY ix_questions_session
        WHERE q.session_id = d.session_id AND q.opened_seq = d.seq)""",
    "question_open": """d.action = 'pause_for_user' AND EXISTS (SELECT 1 FROM questions q
        INDEXED BY ix_questions_session WHERE q.session_id = d.session_id AND q.opened_seq <= d.seq
        AND ifnull(q.closed_seq, d.seq + 1) > d.seq)""",
    "phase_check": f"{_FANNING} AND {_TO_MANAGER}",
    "stalled": f"{_FANNING} AND {_TO_MANAGER}",
}
"""What has to hold where a rule fired on a report: `d` the decision, `r` its report, `t` its transition, `g` the group
and `s` the session as they are now."""
_OF_A_BATCH = frozenset(("complexity", "research", "security", "fallback"))
"""Rules that speak of the groups which a batch starts, not of the report's own."""

_ASKED = """SELECT 1 FROM router_decisions d INDEXED BY sqlite_autoindex_router_decisions_1
    CROSS JOIN agent_reports r INDEXED BY sqlite_autoindex_agent_reports_1
        ON r.session_id = d.session_id AND r.seq = d.seq AND r.part = 1
    CROSS JOIN sessions s ON s.id = d.session_id
    LEFT JOIN workflow_transitions t ON t.workflow_version_id = d.workflow_version_id
        AND t.current_agent = d.current_agent AND t.response_status = d.response_status
    LEFT JOIN task_groups g ON g.session_id = d.session_id AND g.id = d.group_id
    WHERE d.session_id = :session AND d.seq = :seq AND d.part = 1 AND ({})"""
STATEMENTS = {name: _ASKED.format(condition) for name, condition in CONDITIONS.items()}
"""By rule: a row where it could fire. They take the session, the step, and the numbers of the workflow's rules."""
_CONTENT = """SELECT v.content, d.current_agent, d.response_status FROM router_decisions d
    JOIN workflow_versions v ON v.id = d.workflow_version_id
    WHERE d.session_id = :session AND d.seq = :seq AND d.part = 1"""


class Reasons:
    """Asks whether rules could fire; the workflow of each version is read once."""

    def __init__(self, connection: sqlite3.Connection, session: str) -> None:
        self._connection = connection
        self._session = session
        self._workflows: dict[str, model.Workflow] = {}

    def missing(self, seq: int, names: frozenset[str], action: str, given: str | None) -> str | None:
        """The first of the rules that a decision on a report names which cannot have fired; None where all can.

        Args:
            seq: the decision's step.
            names: the rules that it names.
            action, given: what it does, and what its transition does.
        """
        batch = "batch" in names
        if batch and action not in ("spawn_batch", "wait"):
            return "batch"
        if "complexity" in names and not batch:
            return "complexity"
        asked = set(names.difference(_OF_A_BATCH if batch else ()) & CONDITIONS.keys())
        if batch and given not in ("spawn_batch", "check_phase"):
            asked.add("research")
        if not asked:
            return None
        numbers = self._numbers(seq)
        return next((name for name in sorted(asked) if not self._could_fire(name, numbers)), None)

    def _could_fire(self, name: str, numbers: dict[str, Any]) -> bool:
        return self._connection.execute(STATEMENTS[name], numbers).fetchone() is not None

    def _numbers(self, seq: int) -> dict[str, Any]:
        key = {"session": self._session, "seq": seq}
        row = self._connection.execute(_CONTENT, key).fetchone()
        if row is None:
            return {**key, "threshold": 1, "visits": 1, "budgeted": 1}
        content, role, status = row
        workflow = self._workflows.get(content)
        if workflow is None:
            workflow = self._workflows[content] = model.parse(strict_json.stored(content))
        found = workflow.find(role, status)
        return {
            **key,
            "threshold": workflow.rules.escalation_threshold,
            "visits": workflow.rules.loop_max_visits,
            "budgeted": int(found is not None and found[0].iteration_budget_check),
        }
