"""What "complete" means: three views over the recorded rows, and nothing else defines it.

`group_marks` finds, for each group, the newest row of every kind that matters. `group_reasons` says from those marks,
in one word for each part of the completion path, why it is met or not. `completion_paths` draws the conclusions:
triggers, router, validator and `group show` read it.

Three habits keep it cheap and hard to go round:

- No SQL function, since any client may register another `max` or `ifnull`.
- Every mark is read off an index that is named: what other groups reported costs nothing, and a dropped index is an
  error instead of a slow answer. A group's reports are read from the newest on, so a mark that it does not have costs
  a look at each of them (STO-34). Tables that SQLite would make at each look are avoided (STO-53).
- `SELECT DISTINCT` (over a key, so it removes nothing) keeps SQLite from copying a subquery into every place
  that uses its column, and still lets the conditions on session and group through. Each one builds a table at every
  look, so what has no subquery and is used by few does without.

Source: seed 004, Proposed Solution 4 (completion guard)
"""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.sql.selectable import FromClause, NamedFromClause

from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.routing.facts import PROVEN_SINCE
from orchestrator.hints import Any
from orchestrator.store import emitter
from orchestrator.store.emitter import Expression, Row, View
from orchestrator.store.tables_record import acknowledgements, agent_reports, router_decisions, status_changes
from orchestrator.store.tables_work import (
    blockers,
    evidence,
    group_dependencies,
    questions,
    sessions,
    starts,
    task_groups,
    tasks,
)


class Case(NamedTuple):
    """One answer to "is this part met?": the first of a part's cases whose condition holds is the answer."""

    when: Expression
    why: str
    met: bool = False
    seq: Expression | None = None


_GROUP = Row("g", task_groups)


def _report(*where: Expression, r: FromClause, value: Any = None) -> Expression:
    """The newest report of the group that fulfils the conditions: its step, or another value of it."""
    found = r.c.seq if value is None else value
    of_group = (r.c.session_id == _GROUP.session_id, r.c.group_id == _GROUP.id)
    return emitter.newest(found, r, *of_group, *where, by=r.c.seq, index="ix_agent_reports_group")


def _of_effect(effect: str) -> Expression:
    """The newest report of the group with an effect."""
    r = agent_reports.alias("r")
    return _report(r.c.effect == effect, r=r)


def _of_role(role: str) -> Expression:
    """The newest report of the group by a role, of those that count."""
    r = agent_reports.alias("r")
    return _report(r.c.role == role, _counts(r), r=r)


def _newest(table: sa.Table, index: str, by: str, *where: Any, value: str = "") -> Expression:
    """The newest row of the group in another table; each condition takes the row."""
    t = table.alias("t")
    of_group = (t.c.session_id == _GROUP.session_id, t.c.group_id == _GROUP.id)
    return emitter.newest(t.c[value or by], t, *of_group, *(each(t) for each in where), by=t.c[by], index=index)


def _counts(r: FromClause) -> Expression:
    """A report that a person is asked about is withheld: the answer to go on writes it again, with its effect."""
    return r.c.effect != "withheld"


def _standing(value: Any = None) -> Expression:
    """The newest report that stands: the last word on the group."""
    r = agent_reports.alias("r")
    decides = sa.or_(r.c.role != "project_manager", r.c.effect.in_(("rework", "defer")))
    found = r.c[value] if value else None
    return _report(r.c.effect != "merge", _counts(r), decides, r=r, value=found)


def _qa_answer(value: Any = None) -> Expression:
    """The newest answer of QA, to a submission or of its own accord."""
    r = agent_reports.alias("r")
    # A list of more than two words would be a table of its own, made and dropped at each look.
    answers = emitter.bracketed(
        sa.or_(*(r.c.effect == effect for effect in ("test_pass", "test_fail", "inconclusive", "block")))
    )
    found = r.c[value] if value else None
    return _report(r.c.role == "qa_expert", answers, r=r, value=found)


def _passed() -> Expression:
    """The newest pass of what was submitted last.

    Nothing that stands is newer than a valid approval, so a pass up to the newest standing report came before it.
    """
    r = agent_reports.alias("r")
    since, until = r.c.seq > _of_effect("submit_test"), r.c.seq <= _standing()
    return _report(r.c.effect == "test_pass", since, until, r=r)


def _reopened() -> sa.Select[Any]:
    """The step in which the group was last taken up again after it was completed."""
    c = status_changes.alias("c")
    where = (
        c.c.session_id == _GROUP.session_id,
        c.c.entity == "group",
        c.c.entity_id == _GROUP.id,
        c.c.from_status == "completed",
    )
    found = emitter.read(c, *where, value=c.c.seq, index="ix_status_changes_reopened")
    return found.order_by(c.c.seq.desc()).limit(1)


def _confirm() -> Expression:
    """The newest BAZINGA of the project manager in the session."""
    r = agent_reports.alias("r")
    where = (r.c.session_id == _GROUP.session_id, r.c.effect == "confirm", r.c.role == "project_manager")
    return emitter.newest(r.c.seq, r, *where, by=r.c.seq, index="ix_agent_reports_confirm")


def _by_manager(t: FromClause) -> Expression:
    """The condition that the project manager acknowledged; one report a step: the unique key finds who did."""
    r = agent_reports.alias("r")
    return emitter.exists(
        r,
        r.c.session_id == t.c.session_id,
        r.c.seq == t.c.seq,
        r.c.part == 1,
        r.c.role == "project_manager",
        index="sqlite_autoindex_agent_reports_1",
    )


def proof(r: Row) -> Expression:
    """How the merge in a report is proven; null where it is not.

    A merge from a worktree counts with the evidence that its driver has written in the same step. Older rules wrote
    none.
    """
    t, d, e = starts.alias("t"), router_decisions.alias("d"), evidence.alias("e")
    isolation = emitter.newest(
        t.c.isolation,
        t,
        t.c.session_id == r.session_id,
        t.c.group_id == r.group_id,
        t.c.turn == r.turn,
        t.c.seq < r.seq,
        by=t.c.seq,
        index="sqlite_autoindex_starts_1",
    )
    decided_by = emitter.read(
        d,
        d.c.session_id == r.session_id,
        d.c.seq == r.seq,
        d.c.part == 1,
        value=d.c.rules_version,
        index="sqlite_autoindex_router_decisions_1",
    ).scalar_subquery()
    outcome = emitter.read(
        e,
        e.c.session_id == r.session_id,
        e.c.subject == r.group_id,
        e.c.seq == r.seq,
        e.c.kind == "merge",
        value=e.c.outcome,
        index="ix_evidence_merge",
    )
    needs_none = sa.or_(emitter.differs(isolation, "worktree"), decided_by < PROVEN_SINCE)
    return emitter.case((needs_none, "not_needed"), otherwise=outcome.limit(1).scalar_subquery())


def _merge_proof() -> Expression:
    r = agent_reports.alias("r")
    return _report(r.c.effect == "merge", r=r, value=proof(Row("r", agent_reports)))


def _tasks(*where: Expression, value: Any = 1) -> sa.Select[Any]:
    """The tasks of the group; the conditions are on a row `t`."""
    t = tasks.alias("t")
    of_group = (t.c.session_id == _GROUP.session_id, t.c.group_id == _GROUP.id)
    return emitter.read(t, *of_group, *where, value=value, index="ix_tasks_group")


_TASK = Row("t", tasks)


def _open_task() -> Expression:
    """A task of the group that is neither done nor cancelled.

    A list of statuses would be a table of its own, made and dropped at each look.
    """
    is_open = (_TASK.status != "done", _TASK.status != "cancelled")
    return _tasks(*is_open, value=_TASK.id).limit(1).scalar_subquery()


def _testing_mode() -> Expression:
    s = sessions.alias("s")
    return emitter.read(s, s.c.id == _GROUP.session_id, value=s.c.testing_mode).scalar_subquery()


def _confirm_acknowledged() -> Expression:
    t = acknowledgements.alias("t")
    return emitter.exists(
        t,
        t.c.session_id == _GROUP.session_id,
        t.c.group_id == _GROUP.id,
        t.c.seq == _confirm(),
        index="ix_acknowledgements_group",
    )


def _is_own(t: FromClause) -> Expression:
    """The condition that a blocker is the group's own, not that of a task."""
    return t.c.task_id.is_(None)


_MARKS = {
    "session_id": _GROUP.session_id,
    "group_id": _GROUP.id,
    "kind": _GROUP.kind,
    "status": _GROUP.status,
    "security_sensitive": _GROUP.security_sensitive,
    "testing_mode": _testing_mode(),
    "base_seq": emitter.case((_reopened().exists(), _reopened().scalar_subquery()), otherwise=0),
    "standing_seq": _standing(),
    "standing_effect": _standing("effect"),
    "merge_seq": _of_effect("merge"),
    "merge_proof": _merge_proof(),
    "submit_test_seq": _of_effect("submit_test"),
    "submit_review_seq": _of_effect("submit_review"),
    "test_pass_seq": _of_effect("test_pass"),
    "test_fail_seq": _of_effect("test_fail"),
    "passed_seq": _passed(),
    "qa_seq": _of_role("qa_expert"),
    "qa_answer_seq": _qa_answer(),
    "qa_answer_effect": _qa_answer("effect"),
    "tech_lead_seq": _of_role("tech_lead"),
    "manager_seq": _of_role("project_manager"),
    "mandatory_seq": _newest(
        router_decisions, "ix_router_decisions_mandatory", "seq", lambda t: t.c.mandatory_review == 1
    ),
    "open_blocker": _newest(
        blockers, "ix_blockers_open", "opened_seq", lambda t: t.c.resolved_seq.is_(None), value="id"
    ),
    "open_question": _newest(
        questions, "ix_questions_open", "opened_seq", lambda t: t.c.closed_seq.is_(None), value="id"
    ),
    "open_task": _open_task(),
    "no_task_done": emitter.case(
        (sa.and_(_tasks().exists(), emitter.negated(_tasks(_TASK.status == "done").exists())), 1), otherwise=0
    ),
    "blocker_seq": _newest(blockers, "ix_blockers_own", "opened_seq", _is_own),
    "resolved_seq": _newest(
        blockers, "ix_blockers_own_resolved", "resolved_seq", _is_own, lambda t: t.c.resolved_seq.is_not(None)
    ),
    "confirm_seq": _confirm(),
    "acknowledged_seq": _newest(acknowledgements, "ix_acknowledgements_group", "seq", _by_manager),
    "confirm_acknowledged": _confirm_acknowledged(),
}

# Conditions over marks. Each is true, false or null, and null is never taken for met.
_WORDS = [f"{part}_why" for part in ("approved", "tested", "merged", "unblocked", "reviewed", "confirmed")]
_M = Row("", (*_MARKS, "waits_on", *_WORDS))
_APPROVED = emitter.bracketed(sa.and_(_M.standing_effect == "approve", _M.standing_seq > _M.base_seq))
_MERGED = sa.and_(_APPROVED, _M.merge_seq > _M.standing_seq)
_SUBMIT_TEST_COUNTS = _M.submit_test_seq > _M.base_seq
_QA_NOT_ASKED = emitter.bracketed(
    sa.and_(_SUBMIT_TEST_COUNTS.is_not(sa.true()), (_M.qa_seq > _M.base_seq).is_not(sa.true()))
)
# An approval that stands is newer than every answer of QA.
_UNFINISHED_ACCEPTED = sa.and_(
    _M.qa_answer_effect.in_(("block", "inconclusive")), _M.qa_answer_seq > _M.base_seq, _APPROVED
)
_CHAT = Case(_M.kind == "chat", "chat")
_RESEARCH = Case(_M.kind == "research", "not_required", met=True)
_ALWAYS = sa.true()


def _opened(table: sa.Table, alias: str, id_: Expression) -> Expression:
    """The step in which a blocker or a question was opened."""
    row = table.alias(alias)
    return emitter.read(row, row.c.id == id_, value=row.c.opened_seq).scalar_subquery()


def _dependency() -> Expression:
    """The step in which the dependency was added that is waited for."""
    d, p = group_dependencies.alias("d"), Row("p", ("session_id", "group_id"))
    return emitter.read(
        d,
        d.c.session_id == p.session_id,
        d.c.group_id == p.group_id,
        d.c.depends_on == _M.waits_on,
        d.c.removed_seq.is_(None),
        value=d.c.seq,
    ).scalar_subquery()


_CASES = {
    "approved": (
        _CHAT,
        Case(_M.standing_seq.is_(None), "never"),
        Case(_M.standing_seq <= _M.base_seq, "reopened", seq=_M.base_seq),
        Case(_APPROVED, "approved", met=True, seq=_M.standing_seq),
        Case(_ALWAYS, "voided", seq=_M.standing_seq),
    ),
    "tested": (
        _CHAT,
        _RESEARCH,
        Case(
            sa.or_(_SUBMIT_TEST_COUNTS, _M.submit_review_seq > _M.base_seq).is_not(sa.true()), "no_submission"
        ),
        Case(
            sa.and_(
                _M.test_fail_seq > _M.base_seq,
                sa.or_(_M.test_pass_seq.is_(None), _M.test_fail_seq > _M.test_pass_seq),
            ),
            "open_test_fail",
            seq=_M.test_fail_seq,
        ),
        Case(
            sa.and_(_SUBMIT_TEST_COUNTS, _M.passed_seq.is_not(None)), "test_pass", met=True, seq=_M.passed_seq
        ),
        Case(_M.testing_mode.in_(("minimal", "disabled")), "testing_mode", met=True),
        Case(_QA_NOT_ASKED, "qa_not_asked", met=True, seq=_M.submit_review_seq),
        Case(_UNFINISHED_ACCEPTED, "unfinished_accepted", met=True, seq=_M.qa_answer_seq),
        Case(
            sa.and_(_SUBMIT_TEST_COUNTS, (_M.qa_answer_seq > _M.submit_test_seq).is_not(sa.true())),
            "qa_unanswered",
            seq=_M.submit_test_seq,
        ),
        Case(_ALWAYS, "no_test_pass", seq=_M.qa_answer_seq),
    ),
    "merged": (
        _CHAT,
        _RESEARCH,
        Case(_M.merge_seq.is_(None), "never"),
        Case(_M.merge_seq <= _M.base_seq, "reopened", seq=_M.base_seq),
        Case(sa.and_(_MERGED, _M.merge_proof.is_(None)), "unproven", seq=_M.merge_seq),
        Case(
            sa.and_(_MERGED, _M.merge_proof == "nothing_to_merge"), "nothing_to_merge", met=True, seq=_M.merge_seq
        ),
        Case(sa.and_(_MERGED, _M.merge_proof == "merged"), "proven", met=True, seq=_M.merge_seq),
        Case(_MERGED, "merged", met=True, seq=_M.merge_seq),
        Case(_APPROVED, "before_approval", seq=_M.merge_seq),
        Case(_ALWAYS, "voided", seq=_M.standing_seq),
    ),
    "unblocked": (
        _CHAT,
        Case(_M.open_blocker.is_not(None), "open_blocker", seq=_opened(blockers, "b", _M.open_blocker)),
        Case(_M.open_question.is_not(None), "open_question", seq=_opened(questions, "q", _M.open_question)),
        Case(_M.open_task.is_not(None), "open_task"),
        Case(_M.no_task_done == 1, "no_task_done"),
        Case(_M.waits_on.is_not(None), "dependency", seq=_dependency()),
        Case(_ALWAYS, "clear", met=True, seq=_M.resolved_seq),
    ),
    "reviewed": (
        _CHAT,
        _RESEARCH,
        Case(
            sa.and_(_M.mandatory_seq.is_not(None), (_M.tech_lead_seq > _M.mandatory_seq).is_not(sa.true())),
            "no_review",
            seq=_M.mandatory_seq,
        ),
        Case(
            sa.and_(_M.security_sensitive != 0, (_M.tech_lead_seq > _M.base_seq).is_not(sa.true())),
            "no_security_review",
        ),
        Case(sa.and_(_M.mandatory_seq.is_(None), _M.security_sensitive == 0), "not_required", met=True),
        Case(_ALWAYS, "reviewed", met=True, seq=_M.tech_lead_seq),
    ),
}


_IS_MERGED = sa.or_(
    *(_M.merged_why == case.why for case in _CASES["merged"] if case.met and case is not _RESEARCH)
)


def _confirms(seq: Expression) -> Expression:
    """Whether a report came after the last blocker was resolved and after the merge (research: the approval)."""
    research = sa.and_(_M.kind == "research", _M.approved_why == "approved", seq > _M.standing_seq)
    code = sa.and_(_M.kind == "code", _IS_MERGED, seq > _M.merge_seq)
    return sa.and_(
        _M.open_blocker.is_(None),
        sa.or_(_M.resolved_seq.is_(None), seq > _M.resolved_seq),
        emitter.bracketed(sa.or_(emitter.bracketed(research), emitter.bracketed(code))),
    )


_CONFIRMED = (
    _CHAT,
    Case(
        sa.and_(_M.blocker_seq.is_(None), _M.tested_why != "unfinished_accepted"), "not_required", met=True
    ),
    Case(_confirms(_M.confirm_seq), "confirmed", met=True, seq=_M.confirm_seq),
    Case(_confirms(_M.acknowledged_seq), "acknowledged", met=True, seq=_M.acknowledged_seq),
    Case(_ALWAYS, "not_confirmed", seq=_M.resolved_seq),
)
CASES = {**_CASES, "confirmed": _CONFIRMED}
"""For each part of the chain, in the order in which a missing one is named, why it is met or not."""
PARTS = tuple(CASES)
"""The parts of the chain in the order in which a missing one is named."""


def _why(cases: tuple[Case, ...]) -> Expression:
    return emitter.case(*((case.when, case.why) for case in cases))


def _is_met(part: str, why: Expression | None = None) -> Expression:
    """Whether a part's word is one that meets it. (A list after IN would be built as a table at every look.)"""
    words = ((case.why, True) for case in CASES[part] if case.met)
    return emitter.case(*words, value=_M[f"{part}_why"] if why is None else why, otherwise=False)


def _seq(part: str) -> Expression:
    found = ((case.why, case.seq) for case in CASES[part] if case.seq is not None)
    return emitter.case(*found, value=_M[f"{part}_why"])


# All of the path but the confirmation and further dependencies: an unfinished group that satisfies who depends on it.
_SETTLED_PARTS = ("approved", "tested", "merged", "reviewed")
_SETTLED = sa.and_(
    _M.status == "in_progress",
    _M.open_blocker.is_(None),
    _M.open_question.is_(None),
    _M.open_task.is_(None),
    _M.no_task_done == 0,
    *(_is_met(part, _why(_CASES[part])) for part in _SETTLED_PARTS),
)
_SETTLED_MARKS = [name for name in _MARKS if name in emitter.names(_SETTLED)]


def _open_dependency(d: FromClause) -> Expression:
    """The condition that a dependency of the session is in force, and on a group that is not completed."""
    c = task_groups.alias("c")
    completed = emitter.exists(c, c.c.session_id == d.c.session_id, c.c.id == d.c.depends_on, c.c.status == "completed")
    m = Row("m", ("session_id",))
    return sa.and_(d.c.session_id == m.session_id, d.c.removed_seq.is_(None), emitter.negated(completed))


def _waits_on() -> Expression:
    """A group that is waited for, directly or by others, and is neither completed nor settled; else null."""
    m = Row("m", ("session_id", "group_id"))
    d = group_dependencies.alias("d")
    first = emitter.named("group_id", d.c.depends_on)
    # UNION drops what was seen, so a cycle ends.
    found = emitter.walk("waits", emitter.read(d, d.c.group_id == m.group_id, _open_dependency(d), value=first))
    w, further = found.alias("w"), group_dependencies.alias("d")
    source = emitter.ordered(w, further)
    found = found.union(
        emitter.read(source, further.c.group_id == w.c.group_id, _open_dependency(further), value=further.c.depends_on)
    )
    w = found.alias("w")
    k, waited = group_marks.alias("k"), Row("w", ("group_id",))
    marks = (
        sa.select(*map(sa.literal_column, _SETTLED_MARKS))
        .distinct()
        .select_from(k)
        .where(k.c.session_id == m.session_id, k.c.group_id == waited.group_id)
        .subquery(emitter.UNNAMED)
    )
    # The verdict is a column, since SQLite would copy a condition inwards.
    settled = sa.select(_SETTLED).select_from(marks).scalar_subquery()
    waited_for = emitter.read(w, settled.is_not(sa.true()), value=w.c.group_id).limit(1)
    # Most groups depend on none, and a walk makes two tables before it finds that out.
    depends = emitter.read(d, d.c.session_id == m.session_id, d.c.group_id == m.group_id, d.c.removed_seq.is_(None))
    return emitter.case((depends.exists(), waited_for.scalar_subquery()))


_PASSED_ON = (
    "session_id", "group_id", "kind", "status", "base_seq", "standing_seq", "merge_seq", "submit_test_seq",
    "submit_review_seq", "test_fail_seq", "passed_seq", "qa_answer_seq", "tech_lead_seq", "manager_seq",
    "mandatory_seq", "open_blocker", "open_question", "open_task", "no_task_done", "waits_on", "blocker_seq",
    "resolved_seq", "confirm_seq",
    "acknowledged_seq", "confirm_acknowledged",
)  # fmt: skip
_REASONS = {name: _M[name] for name in _PASSED_ON} | {f"{part}_why": _why(cases) for part, cases in _CASES.items()}

_CHAIN = sa.and_(*map(_is_met, PARTS))
_ALL_BUT_CONFIRMED = sa.and_(*(_is_met(part) for part in PARTS if part != "confirmed"))
# The last BAZINGA names the group, and nothing was reported of the group, nor was it reopened, since.
_PM_PATH = sa.and_(
    _M.confirm_acknowledged,
    _M.confirm_seq > _M.base_seq,
    _is_met("unblocked"),
    *(sa.or_(_M[each].is_(None), _M[each] <= _M.confirm_seq) for each in ("standing_seq", "merge_seq", "manager_seq")),
)


def _flag(condition: Expression) -> Expression:
    return emitter.case((condition, 1), otherwise=0)


def _conclusion(condition: Expression) -> Expression:
    """A flag that people filter by. SQLite moves no condition with a subquery inwards, where it would be copied."""
    shield = sa.select(sa.true()).scalar_subquery()
    return _flag(sa.and_(shield, emitter.bracketed(condition)))


_VALID = sa.or_(emitter.bracketed(_CHAIN), emitter.bracketed(_PM_PATH))
_MISSING = emitter.case((_M.kind == "chat", "closed"), *((_is_met(part) == sa.false(), part) for part in PARTS))


def _path_columns() -> dict[str, Expression]:
    columns = {name: _M[name] for name in ("session_id", "group_id", "kind", "status")}
    for part in PARTS:
        columns |= {f"{part}_met": _flag(_is_met(part)), f"{part}_why": _M[f"{part}_why"], f"{part}_seq": _seq(part)}
    references = {name: _M[name] for name in ("open_blocker", "open_question", "open_task")}
    references["dependency"] = _M.waits_on
    return columns | {
        "unblocked_ref": emitter.case(*references.items(), value=_M.unblocked_why),
        "chain": _conclusion(_CHAIN),
        "pm_path": _conclusion(_PM_PATH),
        "valid": _conclusion(_VALID),
        "missing": _MISSING,
        "awaiting_confirmation": _conclusion(
            sa.and_(_M.status == "in_progress", _ALL_BUT_CONFIRMED, _M.confirmed_why == "not_confirmed")
        ),
        "ever_blocked": _flag(_M.blocker_seq.is_not(None)),
    }


def _table(name: str, columns: Any) -> sa.Table:
    """A view as what expressions read from; it is none of the declared tables."""
    return sa.Table(name, sa.MetaData(), *(sa.Column(each, sa.types.NULLTYPE) for each in columns))


_PATH = _path_columns()
group_marks = _table("group_marks", _MARKS)
group_reasons = _table("group_reasons", _REASONS)
completion_paths = _table("completion_paths", _PATH)


def _beside(source: NamedFromClause, more: dict[str, Expression], *, distinct: bool = False) -> sa.Select[Any]:
    """All columns of a source, and further ones."""
    labelled = (each.label(name) for name, each in more.items())
    selected = sa.select(sa.literal_column(f"{source.name}.*"), *labelled).select_from(source)
    return selected.distinct() if distinct else selected


VIEWS: tuple[View, ...] = (
    View("group_marks", _MARKS, task_groups.alias("g")),
    View(
        "group_reasons",
        _REASONS,
        _beside(group_marks.alias("m"), {"waits_on": _waits_on()}, distinct=True).subquery(emitter.UNNAMED),
        distinct=True,
    ),
    View(
        "completion_paths",
        _PATH,
        _beside(group_reasons.alias("j"), {"confirmed_why": _why(_CONFIRMED)}).subquery("p"),
    ),
)
"""The views, in the order in which they are made."""

MARKS = tuple(dict.fromkeys((*(name for name in _MARKS if name not in ("session_id", "group_id")), "waits_on")))
"""The names of the marks that `judged` takes as parameters."""


def judged() -> sa.Select[Any]:
    """What the views conclude from marks that are given.

    Whether the path is valid, the first part that is missing, and whether who depends on the group is satisfied before
    it is completed.
    """
    given = sa.select(*(sa.literal_column(f":{name}").label(name) for name in MARKS)).distinct().subquery("m")
    reasons = {f"{part}_why": _why(cases) for part, cases in _CASES.items()}
    judged_marks = _beside(given, reasons, distinct=True).subquery("j")
    whole = _beside(judged_marks, {"confirmed_why": _why(_CONFIRMED)}, distinct=True).subquery(emitter.UNNAMED)
    return sa.select(_flag(_VALID), _MISSING, _SETTLED).select_from(whole)
