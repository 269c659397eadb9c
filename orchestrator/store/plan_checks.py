"""What must hold between the plans that reports carry and the groups and criteria that were made of them.

What a plan says is read as it was read when it was reported, so that both are compared in one form.

Source: spec 80, section 2.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping

from orchestrator.core import plan, strict_json
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.errors import InvalidInput
from orchestrator.hints import Any

_MANAGER = "project_manager"
# What something was created as: the beginning of its first recorded change, else what it is.
_FIRST = """(SELECT c.from_status FROM status_changes c INDEXED BY ix_status_changes_entity
    WHERE c.session_id = {0}.session_id AND c.entity = '{1}' AND c.entity_id = {0}.id ORDER BY c.seq, c.part LIMIT 1)"""
_REPORTS = """SELECT r.seq, r.agent_id, r.response_status, r.details FROM agent_reports r
    INDEXED BY sqlite_autoindex_agent_reports_1 WHERE r.session_id = :session
    AND r.seq > :since AND r.role = 'project_manager' AND r.effect IN ('plan', 'continue') ORDER BY r.seq"""
_KNOWN = "SELECT id FROM task_groups WHERE session_id = :session"
_STATUSES = "SELECT DISTINCT response_status FROM workflow_transitions"
# The plus keeps SQLite from passing the bound on steps on to the reports, of which it would walk a range for each row.
# A group and a criterion of a report's step, but for the group of an investigation that no group was named for.
_MADE_GROUPS = f"""SELECT g.created_seq, g.id, g.id, g.created_by, g.name, g.description,
    ifnull({_FIRST.format("g", "group_kind")}, g.kind),
    ifnull(CAST({_FIRST.format("g", "group_security")} AS INTEGER), g.security_sensitive), g.complexity, g.priority,
    (SELECT json_group_array(d.depends_on) FROM group_dependencies d WHERE d.session_id = g.session_id
        AND d.group_id = g.id AND d.seq = g.created_seq)
    FROM task_groups g CROSS JOIN agent_reports r INDEXED BY sqlite_autoindex_agent_reports_1
        ON r.session_id = g.session_id AND r.seq = +g.created_seq
    WHERE g.session_id = :session AND g.created_seq > :since
        AND NOT (g.id = 'investigation-' || g.created_seq AND g.kind = 'research'
            AND r.effect NOT IN ('plan', 'continue')) ORDER BY g.created_seq, g.id"""
_MADE_CRITERIA = f"""SELECT k.created_seq, k.id, k.group_id, k.created_by,
    ifnull({_FIRST.format("k", "criterion_text")}, k.text), k.metric, k.operator, k.target, k.command, k.group_id,
    k.due_at, CASE WHEN k.approval = 'approved' AND EXISTS (SELECT 1 FROM audit_events e CROSS JOIN agents a
        WHERE e.session_id = k.session_id AND e.seq = k.approved_seq AND e.kind = 'criterion approve'
        AND e.actor = k.approved_by AND a.id = e.actor AND a.kind = 'human') THEN 'pending' ELSE k.approval END
    FROM criteria k CROSS JOIN agent_reports r INDEXED BY sqlite_autoindex_agent_reports_1
        ON r.session_id = k.session_id AND r.seq = +k.created_seq
    WHERE k.session_id = :session AND k.created_seq > :since ORDER BY k.created_seq, k.id"""
STATEMENTS = {"plans": _REPORTS, "planned groups": _MADE_GROUPS, "planned criteria": _MADE_CRITERIA}
"""All that walk the record, by name; each takes the session and a step."""

_OF_GROUP = (
    "creator", "name", "description", "kind", "security_sensitive", "complexity", "priority", "depends_on",
)  # fmt: skip
_OF_CRITERION = (
    "creator", "text", "metric", "operator", "target", "command", "group_id", "due_at", "approval",
)  # fmt: skip
_TABLES = {"group": "task_groups", "criterion": "criteria"}


class Fault(NamedTuple):
    """Something that is not as a report planned it: the row, or where it is missing the report's step, and why."""

    seq: int
    subject: str
    group_id: str | None
    role: str
    agent_id: str
    status: str | None
    text: str
    table: str


Wanted = Mapping[tuple[str, str], tuple[Any, ...]]
"""What a plan says, by kind and id, in the order of the columns that are compared."""


def faults(connection: sqlite3.Connection, session: str, since: int = 0) -> Iterator[Fault]:
    """Groups and criteria that came of a report and are not in its plan, or differ from it, and planned ones that are
    missing.

    Args:
        since: only those of later steps.
    """
    key = {"session": session, "since": since}
    made = [
        *(("group", _OF_GROUP, (*row, _sorted(on))) for *row, on in connection.execute(_MADE_GROUPS, key)),
        *(("criterion", _OF_CRITERION, row) for row in connection.execute(_MADE_CRITERIA, key)),
    ]
    plans: dict[int, Wanted] = {}
    for seq, agent, status, details in connection.execute(_REPORTS, key):
        plans[seq] = _plan(connection, session, details, agent)
        for kind, id_ in plans[seq]:
            if not _existed(connection, kind, {**key, "id": id_, "seq": seq}):
                text = f"the report's plan holds {kind} {id_}, which was made neither by it nor before it"
                yield Fault(seq, id_, None, _MANAGER, agent, status, text, _TABLES[kind])
    for kind, names, (seq, id_, group, by, *values) in made:
        wanted = plans.get(seq, {}).get((kind, id_))
        found = (by, *values)
        if wanted is None:
            text = f"{kind} {id_} was made in the step of a report whose plan does not hold it"
        elif differs := [name for name, old, new in zip(names, wanted, found, strict=True) if old != new]:
            text = f"{kind} {id_} is not as its report planned it: {', '.join(differs)}"
        else:
            continue
        yield Fault(seq, id_, group, _MANAGER, by, None, text, _TABLES[kind])


def _existed(connection: sqlite3.Connection, kind: str, key: Mapping[str, Any]) -> bool:
    sql = f"SELECT 1 FROM {_TABLES[kind]} WHERE session_id = :session AND id = :id AND created_seq <= :seq"
    return connection.execute(sql, key).fetchone() is not None


def _plan(connection: sqlite3.Connection, session: str, details: str, agent: str) -> Wanted:
    """What a report's details plan; nothing where they hold no plan that could have been accepted."""
    groups = {row[0]: () for row in connection.execute(_KNOWN, {"session": session})}
    statuses = [row[0] for row in connection.execute(_STATUSES)]
    try:
        read = plan.read(strict_json.stored(details), plan.Known(groups, statuses))
    except (InvalidInput, ValueError, TypeError):
        return {}
    if read is None:
        return {}
    found: dict[tuple[str, str], tuple[Any, ...]] = {}
    for group in read.groups:
        found["group", group.id] = (
            agent, group.name, group.description, group.kind, int(group.security_sensitive), group.complexity,
            plan.PRIORITIES.index(group.priority), sorted(group.depends_on),
        )  # fmt: skip
    for each in read.criteria:
        command = strict_json.canonical(list(each.command)) if each.command else None
        found["criterion", each.id] = (
            agent, each.text, each.metric, each.operator, each.target, command, each.group_id,
            strict_json.canonical(list(each.at)) if each.at else None, command and "pending",
        )  # fmt: skip
    return found


def _sorted(listed: str) -> list[str]:
    return sorted(strict_json.stored(listed))
