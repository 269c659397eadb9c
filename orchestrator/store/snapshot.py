"""Everything that a verdict rests on, read in one transaction, so that all of it is of the same moment.

Each fact is one statement over the whole session; none is asked group by group, so the time grows with the record
and not with its square.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from orchestrator.core import strict_json
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.routing.admission import STRICTNESS
from orchestrator.core.validation.snapshot import Criterion, Finding, Group, Measured, Merge, RuleChange, Snapshot
from orchestrator.hints import Any, TypeVar
from orchestrator.store import evidence, gaps, snapshot_read, sqlite, step, verify_chain, versions
from orchestrator.store.constants import STORE_CHAIN

_T = TypeVar("_T")

SHOWN_FAULTS = 50
"""Of faults of one kind no more are named; one is enough to reject."""
_COMMIT = "[0-9a-fA-F]{4,64}"

_GROUPS = """SELECT t.id, t.kind, t.status, t.awaited_role, t.held, EXISTS (SELECT 1 FROM grandfathered_groups f
        WHERE f.session_id = t.session_id AND f.group_id = t.id AND f.seq = t.status_seq AND t.status = 'completed')
    FROM task_groups t WHERE t.session_id = :session ORDER BY t.created_seq, t.id"""
_IMPORTED = """SELECT group_id, text FROM import_findings
    WHERE session_id = :session AND group_id IS NOT NULL ORDER BY seq, part"""
_PATHS = """SELECT group_id, chain, pm_path, missing, reviewed_met, confirmed_met, unblocked_met, ever_blocked,
    tested_why, reviewed_why, reviewed_seq, merged_why FROM completion_paths WHERE session_id = :session"""
_CANCELLED = """SELECT entity_id, reason FROM status_changes INDEXED BY ix_status_changes_entity
    WHERE session_id = :session AND entity = 'group' AND to_status = 'cancelled' ORDER BY seq, part"""
_CONFIRMATION = """SELECT seq FROM agent_reports INDEXED BY ix_agent_reports_confirm
    WHERE session_id = :session AND effect = 'confirm' AND role = 'project_manager' ORDER BY seq DESC LIMIT 1"""
_LAST_OF_MANAGER = """SELECT seq, response_status FROM agent_reports INDEXED BY sqlite_autoindex_agent_reports_1
    WHERE session_id = :session AND role = 'project_manager' AND effect <> 'withheld' ORDER BY seq DESC LIMIT 1"""
_ACKNOWLEDGED = "SELECT group_id, reason FROM acknowledgements WHERE session_id = :session AND seq = :seq"
_REPORTS_AFTER = """SELECT coalesce(group_id, role), role || ' ' || response_status || ', report ' || id
    FROM agent_reports WHERE session_id = :session AND seq > :seq AND role <> 'validator' AND effect <> 'withheld'
    ORDER BY seq"""
_BLOCKERS = """SELECT coalesce(b.group_id, b.session_id), 'blocker ' || b.id || ' is open: ' || b.reason
    FROM blockers b INDEXED BY ix_blockers_open
    LEFT JOIN task_groups g ON g.session_id = b.session_id AND g.id = b.group_id
    WHERE b.session_id = :session AND b.resolved_seq IS NULL AND g.status IS NOT 'deferred_external'
    ORDER BY b.opened_seq, b.id"""
_QUESTIONS = """SELECT coalesce(group_id, session_id), 'question ' || id || ' is open: ' || text
    FROM questions INDEXED BY ix_questions_open WHERE session_id = :session AND closed_seq IS NULL
    ORDER BY opened_seq, id"""
_CRITERIA = """SELECT id, text, status, metric, operator, target, actual, command, evidence, reason, set_by, approval,
    group_id FROM criteria WHERE session_id = :session AND removed_seq IS NULL ORDER BY created_seq, id"""
_PLANNED = """SELECT min(seq) FROM agent_reports WHERE session_id = :session AND role = 'project_manager'
    AND effect IN ('plan', 'continue')"""
_CHANGES = """SELECT entity, entity_id, from_status, to_status, changed_by, reason, seq
    FROM status_changes INDEXED BY ix_status_changes_entity
    WHERE session_id = :session AND entity = :entity ORDER BY seq, part"""
_DROPPED = """SELECT group_id, 'no longer depends on ' || depends_on || ': ' || removed_reason
    || ' (' || removed_by || ')' FROM group_dependencies
    WHERE session_id = :session AND removed_seq IS NOT NULL ORDER BY removed_seq, group_id, depends_on"""
_ROLES = """SELECT r.id, r.agent_id || ' reported as ' || r.role || ' and is ' || coalesce(a.role, 'not registered')
    FROM agent_reports r LEFT JOIN agents a ON a.id = r.agent_id WHERE r.session_id = :session
    AND a.role IS NOT r.role AND NOT (r.role = 'validator' AND a.id IS 'system:validator') ORDER BY r.seq"""
# Older events do not say how much their channel proves.
_PROOF = """' (proof: ' || coalesce(json_extract(e.input, '$.person.proof'),
    CASE e.channel WHEN 'terminal' THEN 'weak' ELSE 'possession' END) || ')'"""
_HUMAN_ACTS = f"""SELECT e.actor, e.kind || ' (' || count(*) || ') through ' || e.channel || ({_PROOF}) AS text
    FROM audit_events e JOIN agents a ON a.id = e.actor AND a.kind = 'human'
    WHERE e.session_id = :session AND e.kind <> 'refusal'
    GROUP BY e.actor, e.channel, e.kind, {_PROOF} ORDER BY min(e.seq)"""
_ENROLMENTS = f"""SELECT t.agent_id, t.what || ' at ' || t.at || ' through ' || e.channel || {_PROOF} FROM (
        SELECT seq, agent_id, enrolled_at AS at, 'token ' || id || ' enrolled' AS what FROM human_tokens
        UNION ALL SELECT seq, agent_id, created_at, kind || ' ' || CASE kind
            WHEN 'removal' THEN 'of ' || ends || ' recorded'
            WHEN 'reset' THEN id || ' asked for, counting from ' || due_at || ','
            ELSE id || ' enrolled' END
        FROM human_credentials WHERE kind NOT IN ('link', 'use')) t
    JOIN audit_events e ON e.session_id = :chain AND e.seq = t.seq ORDER BY t.seq"""
_MERGED = ("merged", "proven", "nothing_to_merge")
"""What the view says of a group that is merged."""
_MERGES = """SELECT group_id, details FROM agent_reports INDEXED BY ix_agent_reports_group
    WHERE session_id = :session AND effect = 'merge' ORDER BY group_id, seq"""
_MEASURED = """SELECT coalesce(r.group_id, 'report ' || r.seq), r.effect, json_extract(e.input, '$.measured.merge'),
    CAST(json_extract(e.input, '$.measured.changed') AS INTEGER),
    json_extract(e.input, '$.measured.differences'), r.turn
    FROM starts s INDEXED BY ix_starts_open CROSS JOIN agent_reports r INDEXED BY ix_agent_reports_group
    CROSS JOIN audit_events e WHERE s.session_id = :session AND s.ended_seq IS NULL AND s.isolation = 'worktree'
    AND r.session_id = s.session_id AND r.group_id IS nullif(s.group_id, '') AND r.role = s.role AND r.turn = s.turn
    AND e.session_id = r.session_id AND e.seq = r.seq ORDER BY r.seq, r.part"""
_GATES = """SELECT coalesce(r.group_id, r.session_id), 'gate ' || e.subject || ' did not pass when '
    || r.response_status || ' was reported: ' || e.outcome, r.turn FROM evidence e INDEXED BY ix_evidence_gate
    CROSS JOIN agent_reports r INDEXED BY sqlite_autoindex_agent_reports_1 WHERE e.session_id = :session
    AND e.kind = 'gate' AND r.session_id = e.session_id AND r.seq = e.seq AND r.part = 1 ORDER BY e.seq, e.part"""
_REPAIRS = """SELECT 'step ' || seq, CASE kind WHEN 'repair' THEN 'guards were made anew by '
    ELSE 'a backup was put in place by ' END || actor || ' at ' || at FROM audit_events
    WHERE session_id = :chain AND kind IN ('repair', 'restore') ORDER BY seq"""


# Tasks of a group that is deferred or cancelled are not asked for: the group's own checks say what is owed.
_OWED = """FROM tasks t LEFT JOIN task_groups g ON g.session_id = t.session_id AND g.id = t.group_id
    WHERE t.session_id = :session AND g.status IS NOT 'deferred_external' AND g.status IS NOT 'cancelled'"""
_TASKS_OPEN = f"""SELECT t.id, 'task is ' || t.status || CASE WHEN t.blocked_reason IS NULL THEN ''
    ELSE ': ' || t.blocked_reason END {_OWED} AND t.status NOT IN ('done', 'cancelled') ORDER BY t.created_seq, t.id"""
_TASKS_UNEXPLAINED = f"""SELECT t.id, 'task was cancelled without a reason' {_OWED} AND t.status = 'cancelled'
    AND NOT EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity
        WHERE c.session_id = t.session_id AND c.entity = 'task' AND c.entity_id = t.id AND c.to_status = 'cancelled'
        AND trim(c.reason) <> '') ORDER BY t.created_seq, t.id"""
_TASKS_ALL_CANCELLED = f"""SELECT :session, 'all its tasks are cancelled' WHERE EXISTS (SELECT 1 {_OWED})
    AND NOT EXISTS (SELECT 1 {_OWED} AND t.status <> 'cancelled')"""
_TASKS = (_TASKS_OPEN, _TASKS_UNEXPLAINED, _TASKS_ALL_CANCELLED)


class Seen(NamedTuple):
    """A session as it was at one moment, with the evidence that lies in files, which is looked at afterwards.

    store: the last step of the store's chain then. began: when the session began.
    """

    snapshot: Snapshot
    store: int
    files: list[evidence.File]
    inventories: list[evidence.Inventory]
    began: str = ""


def read(connection: sqlite3.Connection, session: str, deadline_s: float = sqlite.DEADLINE_S) -> Seen | None:
    """Read a session in one transaction of its own; None where there is none of this id.

    Raises:
        EnvironmentProblem: BUSY, CORRUPT.
    """
    path = getattr(connection, "path", "")
    try:
        with snapshot_read.of(connection, deadline_s):
            return _Reading(connection, session).seen()
    except sqlite3.Error as error:
        raise sqlite.translate(error, path) or error from error


def measured(connection: sqlite3.Connection, session: str) -> tuple[list[Measured], list[tuple[str, str, int | None]]]:
    """What was seen of driven agents, and gates that did not pass: subject, text, and the turn of who reported."""
    reading = _Reading(connection, session)
    return list(reading._measured()), [(subject, text, turn) for subject, text, turn in reading._rows(_GATES)]


def head(seq: int, hash_: bytes) -> str:
    """The name of a chain's head: its last step and that step's hash."""
    return f"{seq}:{hash_.hex()}"


class _Reading:
    """The statements above on one session, each as the fact that a check reads."""

    def __init__(self, connection: sqlite3.Connection, session: str) -> None:
        self._connection = connection
        self._session = session

    def _rows(self, sql: str, **more: Any) -> list[Any]:
        return self._connection.execute(sql, {"session": self._session, **more}).fetchall()

    def _findings(self, sql: str, **more: Any) -> tuple[Finding, ...]:
        return tuple(Finding(str(subject), str(text)) for subject, text in self._rows(sql, **more))

    def seen(self) -> Seen | None:
        sql = "SELECT created_at, kind, status, testing_mode FROM sessions WHERE id = :session"
        found = self._connection.execute(sql, {"session": self._session}).fetchone()
        if not found:
            return None
        began, *found = found
        of = (self._connection, self._session)
        store = self._connection.execute(step.LAST_EVENT, (STORE_CHAIN,)).fetchone()
        snapshot = self._snapshot(*found)
        return Seen(snapshot, store[0] if store else 0, evidence.files(*of), evidence.inventories(*of), str(began))

    def _snapshot(self, kind: str, status: str, testing_mode: str) -> Snapshot:
        paths = {row[0]: row for row in self._rows(_PATHS)}
        (last,) = self._rows(_LAST_OF_MANAGER) or [(None, None)]
        confirmation = self._one(_CONFIRMATION)
        after = -1 if confirmation is None else confirmation
        groups = self._groups(paths, testing_mode, after)
        vouched, unvouched = self._pinned()
        return Snapshot(
            session=self._session,
            kind=kind,
            status=status,
            testing_mode=testing_mode,
            head=head(*self._connection.execute(step.LAST_EVENT, (self._session,)).fetchone()),
            groups=groups,
            confirmation_seq=confirmation,
            last_manager_seq=last[0],
            last_manager_status=last[1],
            reports_after=self._findings(_REPORTS_AFTER, seq=after) if confirmation is not None else (),
            open_blockers=self._findings(_BLOCKERS),
            open_questions=self._findings(_QUESTIONS),
            criteria=tuple(self._criteria()),
            scope_changes=tuple(self._scope_changes()),
            gaps=_first(gaps.found(self._connection, self._session), lambda each: Finding(*each)),
            chain=_first(
                verify_chain.broken(self._connection, self._session), lambda each: Finding(f"step {each.seq}", each.why)
            ),
            guards=self._guards(),
            loosened=tuple(self._loosened()),
            mandatory=(*self._reviewed(paths), *self._tightened()),
            roles=self._findings(_ROLES),
            human_acts=(*self._findings(_HUMAN_ACTS), *self._findings(_ENROLMENTS, chain=STORE_CHAIN)),
            evidence=_first(evidence.faults(self._connection, self._session), lambda each: Finding(*each)),
            dropped=self._findings(_DROPPED),
            repairs=self._findings(_REPAIRS, chain=STORE_CHAIN),
            tasks=tuple(each for sql in _TASKS for each in self._findings(sql)),
            merges=tuple(self._merges(groups, paths)),
            measured=tuple(self._measured()), gates=tuple(Finding(*row[:2]) for row in self._rows(_GATES)),
            rule_changes=tuple(self._rule_changes()),
            workflow=vouched,
            unvouched_workflow=unvouched,
        )

    def _rule_changes(self) -> Iterator[RuleChange]:
        for each in versions.moves(self._connection, self._session):
            yield RuleChange(
                self._session, each.text(), bool(each.differs), each.confirmed is not None, each.older
            )

    def _pinned(self) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
        """The workflow version that the session was created with, by whether a person stands behind its rules."""
        pinned = versions.pinned(self._connection, self._session)
        if pinned is None:
            return (), ()
        found = (Finding(self._session, pinned.text()),)
        return ((), found) if pinned.differs else (found, ())

    def _one(self, sql: str) -> Any:
        row = self._connection.execute(sql, {"session": self._session}).fetchone()
        return row[0] if row else None

    def _groups(self, paths: dict[str, Any], testing_mode: str, confirmation: int) -> tuple[Group, ...]:
        acknowledged = dict(self._rows(_ACKNOWLEDGED, seq=confirmation))
        reasons = dict(self._rows(_CANCELLED))
        imported: dict[str, list[str]] = {}
        for group, text in self._rows(_IMPORTED):
            imported.setdefault(group, []).append(text)
        return tuple(
            _group(row, paths[row[0]], acknowledged.get(row[0]), reasons.get(row[0], ""), testing_mode)._replace(
                imported=tuple(imported.get(row[0], ()))
            )
            for row in self._rows(_GROUPS)
        )

    def _criteria(self) -> Iterator[Criterion]:
        for row in self._rows(_CRITERIA):
            read = Criterion(*row[:11])._replace(approval=row[11], group=row[12])
            argv = None if row[7] is None else tuple(strict_json.stored(row[7]))
            named = read.evidence
            proof = None if named is None else evidence.proof(self._connection, self._session, named)
            yield read._replace(command=argv, evidence_exists=proof is not None, proof=proof)

    def _scope_changes(self) -> Iterator[Finding]:
        planned = self._one(_PLANNED)
        changes = [*self._rows(_CHANGES, entity="criterion"), *self._rows(_CHANGES, entity="criterion_text")]
        for entity, id_, old, new, by, reason, seq in sorted(changes, key=lambda row: int(row[6])):
            what = "reworded" if entity == "criterion_text" else "added" if old is None else "removed"
            moved = entity == "criterion" and old is not None and new != "removed"
            if planned is not None and seq > planned and not moved:
                yield Finding(id_, f"{what} after the plan by {by}: {reason}")

    def _guards(self) -> tuple[Finding, ...]:
        on_server = getattr(self._connection, "schema_problems", None)
        if on_server is not None:
            return tuple(Finding(each.subject, each.message) for each in on_server())
        # It compares with the declared schema, which is dear to load.
        from orchestrator.store import maintenance

        problems = maintenance.schema_problems(self._connection)  # type: ignore[arg-type]  # any connection will do
        return tuple(Finding(each.subject, each.message) for each in problems if each.severity == "error")

    def _loosened(self) -> Iterator[Finding]:
        for _, id_, old, new, by, reason, _ in self._rows(_CHANGES, entity="session_testing_mode"):
            if STRICTNESS[new] < STRICTNESS[old]:
                yield Finding(id_, f"the testing mode was loosened from {old} to {new} by {by}: {reason}")
        for _, id_, old, new, by, reason, _ in self._rows(_CHANGES, entity="group_security"):
            if str(new) < str(old):
                yield Finding(id_, f"is no longer security-sensitive, by {by}: {reason}")

    def _tightened(self) -> Iterator[Finding]:
        for _, id_, old, new, by, reason, _ in self._rows(_CHANGES, entity="session_testing_mode"):
            if STRICTNESS[new] > STRICTNESS[old]:
                yield Finding(id_, f"the testing mode was tightened from {old} to {new} by {by}: {reason}")
        for _, id_, old, new, by, reason, _ in self._rows(_CHANGES, entity="group_kind"):
            yield Finding(id_, f"its kind was changed from {old} to {new} by {by}: {reason}")

    def _reviewed(self, paths: dict[str, Any]) -> Iterator[Finding]:
        for group, *_, reviewed_why, reviewed_seq, _ in paths.values():
            if reviewed_why == "reviewed":
                yield Finding(group, f"its mandatory review was given by report {self._session}:R{reviewed_seq}")

    def _measured(self) -> Iterator[Measured]:
        for subject, effect, merge, changed, differences, turn in self._rows(_MEASURED):
            found = tuple(map(str, strict_json.stored(differences))) if differences else ()
            yield Measured(subject, effect, merge, None if changed is None else bool(changed), found, turn)

    def _merges(self, groups: Iterable[Group], paths: dict[str, Any]) -> Iterator[Merge]:
        details = dict(self._rows(_MERGES))
        for group in groups:
            if group.status == "completed" and paths[group.id][-1] in _MERGED:
                yield _merge(group.id, strict_json.stored(details[group.id]))


def _group(row: Any, path: Any, acknowledged: str | None, reason: str, testing_mode: str) -> Group:
    id_, kind, status, awaited_role, held, grandfathered = row
    _, chain, pm_path, missing, reviewed, confirmed, unblocked, ever_blocked, tested_why, *_ = path
    return Group(
        id=id_,
        kind=kind,
        status=status,
        awaited_role=awaited_role,
        held=held,
        chain=bool(chain),
        pm_path=bool(pm_path),
        missing=missing,
        reviewed=bool(reviewed),
        confirmed=bool(confirmed),
        unblocked=bool(unblocked),
        ever_blocked=bool(ever_blocked),
        acknowledged=acknowledged,
        reason=reason,
        grandfathered=bool(grandfathered),
        skipped_qa=testing_mode == "full" and tested_why == "qa_not_asked",
    )


def _merge(group: str, details: dict[str, Any]) -> Merge:
    commit = details.get("commit")
    if commit is None:
        return Merge(group, None, None, "the merge report's details name none")
    found = commit_id(commit)
    if found is None:
        return Merge(group, None, None, "what the merge report's details name is no commit id")
    return Merge(group, found, None, "it was not looked up")


def commit_id(named: object) -> str | None:
    """What is named as a commit in the form that git has, whole or shortened; None where it is no commit id."""
    return named.strip().lower() if isinstance(named, str) and re.fullmatch(_COMMIT, named.strip()) else None


def _first(found: Iterator[_T], finding: Callable[[_T], Finding]) -> tuple[Finding, ...]:
    """The first faults of a kind."""
    return tuple(map(finding, islice(found, SHOWN_FAULTS)))
