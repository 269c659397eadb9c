"""Whether every completion had its path when it happened.

The marks of each group (the newest row of every kind that matters) are folded from the record in one pass, up to the
step of each completion. What follows from marks is said by the statement that the completion views are made of, so
there is one definition of complete. Groups whose marks have the same order get the same answer, which is asked for
once.

Of the step of a completion itself counts what was reported, acknowledged, moved and resolved; what that step opened
or decided came after the completion.
"""

from __future__ import annotations

import contextlib
import operator
import re
import sqlite3
from collections.abc import Callable, Iterator

from orchestrator.core.named_tuple import NamedTuple
from orchestrator.hints import Any
from orchestrator.store import path_statements

_COMPLETIONS = """SELECT c.seq, c.entity_id, c.changed_by FROM status_changes c
    WHERE c.session_id = :session AND c.seq > :since AND c.entity = 'group' AND c.to_status = 'completed'
    ORDER BY c.seq, c.part"""
_GROUPS = """SELECT g.id, g.kind, g.security_sensitive,
    CASE WHEN f.group_id IS NULL THEN 'in_progress' ELSE 'completed' END
    FROM task_groups g LEFT JOIN grandfathered_groups f ON f.session_id = g.session_id AND f.group_id = g.id
    WHERE g.session_id = :session"""
_MODE = "SELECT testing_mode FROM sessions WHERE id = :session"
_CHANGED_FIXED = """SELECT entity, entity_id, from_status FROM status_changes INDEXED BY ix_status_changes_entity
    WHERE session_id = :session AND entity IN ('group_kind', 'group_security', 'session_testing_mode')
    ORDER BY seq DESC, part DESC"""
_TASKS = "SELECT id, group_id FROM tasks WHERE session_id = :session"
_REPORTS = f"""SELECT r.seq, r.group_id, r.role, r.effect, CASE r.effect WHEN 'merge' THEN {path_statements.PROOF} END
    FROM agent_reports r INDEXED BY sqlite_autoindex_agent_reports_1
    WHERE r.session_id = :session ORDER BY r.seq, r.part"""
_ACKNOWLEDGED = """SELECT k.seq, k.group_id, r.effect FROM acknowledgements k CROSS JOIN agent_reports r
    INDEXED BY sqlite_autoindex_agent_reports_1 WHERE k.session_id = :session AND r.session_id = k.session_id
    AND r.seq = k.seq AND r.part = 1 AND r.role = 'project_manager' ORDER BY k.seq, k.part"""
_CHANGES = """SELECT seq, entity, entity_id, from_status, to_status FROM status_changes
    WHERE session_id = :session ORDER BY seq, part"""
_MANDATORY = """SELECT seq, group_id FROM router_decisions INDEXED BY ix_router_decisions_mandatory
    WHERE session_id = :session AND mandatory_review = 1 ORDER BY seq"""
_OPENED = """SELECT opened_seq, group_id, task_id FROM blockers WHERE session_id = :session ORDER BY opened_seq"""
_RESOLVED = """SELECT resolved_seq, group_id, task_id FROM blockers
    WHERE session_id = :session AND resolved_seq IS NOT NULL ORDER BY resolved_seq"""
_ASKED = "SELECT opened_seq, group_id FROM questions WHERE session_id = :session ORDER BY opened_seq"
_CLOSED = """SELECT closed_seq, group_id FROM questions WHERE session_id = :session AND closed_seq IS NOT NULL
    ORDER BY closed_seq"""
_DEPENDS = "SELECT seq, group_id, depends_on FROM group_dependencies WHERE session_id = :session ORDER BY seq"
_DROPPED = """SELECT removed_seq, group_id, depends_on FROM group_dependencies
    WHERE session_id = :session AND removed_seq IS NOT NULL ORDER BY removed_seq"""

_MARK_NAMES = tuple(re.findall(r":(\w+) AS", path_statements.JUDGED))
_MANAGER, _QA = "project_manager", "qa_expert"
_ANSWERS = ("test_pass", "test_fail", "inconclusive", "block")
_BY_EFFECT = {name: f"{name}_seq" for name in ("merge", "submit_test", "submit_review", "test_pass", "test_fail")}
_BY_ROLE = {_QA: "qa_seq", "tech_lead": "tech_lead_seq", _MANAGER: "manager_seq"}
_COMPLETED = "completed"
_MARKED: dict[tuple[str, str], tuple[str, ...]] = {}

_Marks = dict[str, Any]
_SEQS = tuple(name for name in _MARK_NAMES if name.endswith("_seq"))
_STEPS_OF = operator.itemgetter(*_SEQS)
_WORDS_OF = operator.itemgetter(*(name for name in _MARK_NAMES if name not in _SEQS))
_NEW: _Marks = {**dict.fromkeys(_MARK_NAMES), "base_seq": 0}
_NOTHING = frozenset((None,))


class Judged(NamedTuple):
    """Whether a path is valid, the first part that is missing, and whether dependents are satisfied by it."""

    valid: int
    missing: str | None
    settled: int | None


def unproven(connection: sqlite3.Connection, session: str, since: int = 0) -> Iterator[tuple[int, str, str, str]]:
    """The completions of a session without a valid path at that moment: step, group, by whom, and the missing part.

    Args:
        since: only completions in later steps.
    """
    completions = connection.execute(_COMPLETIONS, {"session": session, "since": since}).fetchall()
    if not completions:
        return
    with contextlib.closing(History(connection, session)) as history:
        for seq, group, by in completions:
            judged = history.judge(group, seq)
            if judged is not None and not judged.valid:
                yield seq, group, by, judged.missing or "all"


class _Group:
    """What is known of a group up to a step."""

    __slots__ = ("blockers", "confirmed", "depends_on", "done", "marks", "open_tasks", "questions", "status", "tasks")

    def __init__(self, kind: str, security: int, status: str) -> None:
        self.marks: _Marks = _NEW.copy()
        self.marks["kind"], self.marks["security_sensitive"] = kind, security
        self.status = status
        self.depends_on: set[str] = set()
        self.blockers = self.questions = self.tasks = self.open_tasks = self.done = 0
        self.confirmed = 0


class _Stream:
    """Rows in the order of their steps, the next one at hand."""

    __slots__ = ("apply", "early", "row", "rows")

    def __init__(self, rows: sqlite3.Cursor, apply: Callable[..., None], *, early: bool) -> None:
        self.rows, self.apply, self.early = rows, apply, early
        self.row: Any = next(rows, None)

    def advance(self, seq: int) -> None:
        """Take in all rows before a step, and those of the step itself where they come early in it."""
        row, last = self.row, seq if self.early else seq - 1
        while row is not None and row[0] <= last:
            self.apply(*row)
            row = next(self.rows, None)
        self.row = row


class History:
    """The groups of a session, step after step; it only goes forward.

    Until `close`, the connection reads at the moment at which this was made, and a step on it after those of others
    would be refused as BUSY however long it waits.
    """

    def __init__(self, connection: sqlite3.Connection, session: str) -> None:
        self._connection = connection
        key = {"session": session}
        self._groups = {row[0]: _Group(*row[1:]) for row in connection.execute(_GROUPS, key)}
        self._mode = next((row[0] for row in connection.execute(_MODE, key)), None)
        self._tasks = {task: (group, "") for task, group in connection.execute(_TASKS, key)}
        self._confirm: int | None = None
        self._known: dict[tuple[Any, ...], Judged] = {}
        # From the newest to the oldest, so that what was there before the first change is left.
        for _, entity, id_, before in ((0, *row) for row in connection.execute(_CHANGED_FIXED, key)):
            self._changed(0, entity, id_, None, before)
        self._streams = [
            _Stream(connection.execute(sql, key), apply, early=early)
            for sql, apply, early in (
                (_REPORTS, self._reported, True),
                (_ACKNOWLEDGED, self._acknowledged, True),
                (_CHANGES, self._changed, True),
                (_MANDATORY, self._mandatory, False),
                (_OPENED, self._opened, False),
                (_RESOLVED, self._resolved, True),
                (_ASKED, self._asked, False),
                (_CLOSED, self._closed, True),
                (_DEPENDS, self._depends, False),
                (_DROPPED, self._dropped, True),
            )
        ]

    def close(self) -> None:
        """Stop reading."""
        for stream in self._streams:
            stream.rows.close()
        self._streams = []

    def judge(self, group: str, seq: int) -> Judged | None:
        """What the path of a group was in a step; None where there is no such group."""
        for stream in self._streams:
            stream.advance(seq)
        self._streams = [stream for stream in self._streams if stream.row is not None]
        known = self._groups.get(group)
        return None if known is None else self._judged(known, self._waits_on(known))

    def _judged(self, group: _Group, waits_on: str | None) -> Judged:
        marks = group.marks
        marks["waits_on"] = waits_on
        marks["testing_mode"] = self._mode
        marks["status"] = group.status
        marks["confirm_seq"] = self._confirm
        marks["confirm_acknowledged"] = int(self._confirm is not None and group.confirmed == self._confirm)
        marks["open_blocker"] = "a blocker" if group.blockers > 0 else None
        marks["open_question"] = "a question" if group.questions > 0 else None
        marks["open_task"] = "a task" if group.open_tasks > 0 else None
        marks["no_task_done"] = int(group.tasks > 0 and not group.done)
        shape = _shape(marks)
        found = self._known.get(shape)
        if found is None:
            # It reads no table, and any SQLite answers it.
            judge = getattr(self._connection, "judge", self._connection)
            row = judge.execute(path_statements.JUDGED, marks).fetchone()
            found = self._known[shape] = Judged(*row)
        return found

    def _waits_on(self, group: _Group) -> str | None:
        """A group that is waited for, directly or by others, and is neither completed nor settled."""
        seen: set[str] = set()
        ahead = [*group.depends_on]
        while ahead:
            name = ahead.pop()
            other = self._groups.get(name)
            if other is None:
                return name
            if name in seen or other.status == _COMPLETED:
                continue
            seen.add(name)
            if self._judged(other, None).settled != 1:
                return name
            ahead += other.depends_on
        return None

    # What each kind of row does

    def _reported(self, seq: int, name: str | None, role: str, effect: str, proof: str | None) -> None:
        if role == _MANAGER and effect == "confirm":
            self._confirm = seq
        group = self._groups.get(name or "")
        if group is None:
            return
        marks = group.marks
        for mark in _MARKED.get((role, effect)) or _marked(role, effect):
            marks[mark] = seq
        if effect == "merge":
            marks["merge_proof"] = proof
        if marks["qa_answer_seq"] == seq:
            marks["qa_answer_effect"] = effect
        if effect == "submit_test":
            marks["passed_seq"] = None
        if marks["standing_seq"] != seq:
            return
        marks["standing_effect"] = effect
        passed, submitted = marks["test_pass_seq"], marks["submit_test_seq"]
        # A pass before the newest submission for testing says nothing of it.
        marks["passed_seq"] = passed if passed is not None and submitted is not None and passed > submitted else None

    def _acknowledged(self, seq: int, name: str, effect: str) -> None:
        if group := self._groups.get(name):
            group.marks["acknowledged_seq"] = seq
            if effect == "confirm":
                group.confirmed = seq

    def _changed(self, seq: int, entity: str, id_: str, before: str | None, after: str) -> None:
        if entity == "session_testing_mode":
            self._mode = after
        elif entity == "task":
            self._task(id_, after)
        elif group := self._groups.get(id_):
            if entity == "group":
                group.status = after
                if before == _COMPLETED:
                    group.marks["base_seq"] = seq
            elif entity == "group_kind":
                group.marks["kind"] = after
            elif entity == "group_security":
                group.marks["security_sensitive"] = int(after != "0")

    def _task(self, task: str, after: str) -> None:
        name, before = self._tasks.get(task, ("", ""))
        if group := self._groups.get(name):
            group.tasks += not before
            group.done += (after == "done") - (before == "done")
            group.open_tasks += (after not in ("done", "cancelled")) - (before not in ("done", "cancelled", ""))
            self._tasks[task] = name, after

    def _mandatory(self, seq: int, name: str | None) -> None:
        if group := self._groups.get(name or ""):
            group.marks["mandatory_seq"] = seq

    def _opened(self, seq: int, name: str | None, task: str | None) -> None:
        if group := self._groups.get(name or ""):
            group.blockers += 1
            if task is None:
                group.marks["blocker_seq"] = seq

    def _resolved(self, seq: int, name: str | None, task: str | None) -> None:
        if group := self._groups.get(name or ""):
            group.blockers -= 1
            if task is None:
                group.marks["resolved_seq"] = seq

    def _asked(self, seq: int, name: str | None) -> None:
        if group := self._groups.get(name or ""):
            group.questions += 1

    def _closed(self, seq: int, name: str | None) -> None:
        if group := self._groups.get(name or ""):
            group.questions -= 1

    def _depends(self, seq: int, name: str, on: str) -> None:
        if group := self._groups.get(name):
            group.depends_on.add(on)

    def _dropped(self, seq: int, name: str, on: str) -> None:
        if group := self._groups.get(name):
            group.depends_on.discard(on)


def _marked(role: str, effect: str) -> tuple[str, ...]:
    """The marks that a report of a role with an effect sets; none that counts is the newest report of nothing."""
    found = [mark for mark in (_BY_EFFECT.get(effect), _BY_ROLE.get(role)) if mark]
    if role == _QA and effect in _ANSWERS:
        found.append("qa_answer_seq")
    if effect != "merge" and (role != _MANAGER or effect in ("rework", "defer")):
        found.append("standing_seq")
    _MARKED[role, effect] = marks = tuple(found)
    return marks


def _shape(marks: _Marks) -> tuple[Any, ...]:
    """The marks with steps by their order alone."""
    steps = _STEPS_OF(marks)
    place: dict[int | None, int | None] = dict(zip(sorted({0, *steps} - _NOTHING), range(len(_SEQS) + 1), strict=False))
    return *map(place.get, steps), *_WORDS_OF(marks)
