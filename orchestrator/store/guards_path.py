"""What "complete" means: three views over the recorded rows, and nothing else defines it.

`group_marks` finds, for each group, the newest row of every kind that matters. `group_reasons` says from those marks,
in one word for each part of the completion path, why it is met or not. `completion_paths` draws the conclusions:
triggers, router, validator and `group show` read it.

Three habits keep it cheap and hard to go round:

- No SQL function, since any client may register another `max` or `ifnull`.
- Every mark is one step into an index that is named: a table of reports costs the same at any length, and
  a dropped index is an error instead of a slow answer.
- `SELECT DISTINCT` (over a key, so it removes nothing) keeps SQLite from copying a subquery into every place
  that uses its column, and still lets the conditions on session and group through. Each one builds a table at every
  look, so what has no subquery and is used by few does without.

Source: seed 004, Proposed Solution 4 (completion guard)
"""

from __future__ import annotations

import re

from orchestrator.core.routing.facts import PROVEN_SINCE
from orchestrator.core.tuples import NamedTuple


class Case(NamedTuple):
    """One answer to "is this part met?": the first of a part's cases whose condition holds is the answer."""

    when: str
    why: str
    met: bool = False
    seq: str = "NULL"


def _report(index: str, where: str, *, column: str = "r.seq") -> str:
    """The newest report of the group that an index finds."""
    return (
        f"(SELECT {column} FROM agent_reports r INDEXED BY ix_agent_reports_{index}"
        f" WHERE r.session_id = g.session_id AND r.group_id = g.id AND {where} ORDER BY r.seq DESC LIMIT 1)"
    )


def _newest(table: str, index: str, order: str, where: str = "", *, column: str = "") -> str:
    """The newest row of the group in another table."""
    return (
        f"(SELECT t.{column or order} FROM {table} t INDEXED BY {index}"
        f" WHERE t.session_id = g.session_id AND t.group_id = g.id{where} ORDER BY t.{order} DESC LIMIT 1)"
    )


# A report that a person is asked about is withheld: it is written again, with its effect, by the answer to go on.
_COUNTS = "r.effect <> 'withheld'"
_STANDING = f"r.effect <> 'merge' AND {_COUNTS} AND (r.role <> 'project_manager' OR r.effect IN ('rework', 'defer'))"
_QA_ANSWER = "r.role = 'qa_expert' AND r.effect IN ('test_pass', 'test_fail', 'inconclusive', 'block')"
_REOPENED = (
    "SELECT c.seq FROM status_changes c INDEXED BY ix_status_changes_reopened WHERE c.session_id = g.session_id"
    " AND c.entity = 'group' AND c.entity_id = g.id AND c.from_status = 'completed' ORDER BY c.seq DESC LIMIT 1"
)
_CONFIRM = (
    "(SELECT r.seq FROM agent_reports r INDEXED BY ix_agent_reports_confirm WHERE r.session_id = g.session_id"
    " AND r.effect = 'confirm' AND r.role = 'project_manager' ORDER BY r.seq DESC LIMIT 1)"
)
# One report a step: the unique key finds who acknowledged.
_BY_MANAGER = (
    " AND EXISTS (SELECT 1 FROM agent_reports r INDEXED BY sqlite_autoindex_agent_reports_1"
    " WHERE r.session_id = t.session_id AND r.seq = t.seq AND r.part = 1 AND r.role = 'project_manager')"
)
_SUBMIT_TEST = _report("effect", "r.effect = 'submit_test'")
# Nothing that stands is newer than a valid approval, so a pass up to the newest standing report came before it.
_PASSED = _report(
    "effect",
    f"r.effect = 'test_pass' AND r.seq > {_SUBMIT_TEST} AND r.seq <= {_report('standing', _STANDING)}",
)

PROOF = (
    "CASE WHEN (SELECT t.isolation FROM starts t INDEXED BY sqlite_autoindex_starts_1"
    " WHERE t.session_id = r.session_id AND t.group_id = r.group_id AND t.turn = r.turn AND t.seq < r.seq"
    " ORDER BY t.seq DESC LIMIT 1) IS NOT 'worktree' OR (SELECT d.rules_version FROM router_decisions d"
    " INDEXED BY sqlite_autoindex_router_decisions_1 WHERE d.session_id = r.session_id AND d.seq = r.seq"
    f" AND d.part = 1) < {PROVEN_SINCE} THEN 'not_needed' ELSE (SELECT e.outcome FROM evidence e"
    " INDEXED BY ix_evidence_merge WHERE e.session_id = r.session_id AND e.subject = r.group_id AND e.seq = r.seq"
    " AND e.kind = 'merge' LIMIT 1) END"
)
"""How the merge in a report `r` is proven; null where it is not.

A merge from a worktree counts with the evidence that its driver has written in the same step. Older rules wrote none.
"""

_TASKS = "FROM tasks t INDEXED BY ix_tasks_group WHERE t.session_id = g.session_id AND t.group_id = g.id"
_OWN = " AND t.task_id IS NULL"

_MARKS = (
    ("session_id", "g.session_id"),
    ("group_id", "g.id"),
    ("kind", "g.kind"),
    ("status", "g.status"),
    ("security_sensitive", "g.security_sensitive"),
    ("testing_mode", "(SELECT s.testing_mode FROM sessions s WHERE s.id = g.session_id)"),
    ("base_seq", f"CASE WHEN EXISTS ({_REOPENED}) THEN ({_REOPENED}) ELSE 0 END"),
    ("standing_seq", _report("standing", _STANDING)),
    ("standing_effect", _report("standing", _STANDING, column="r.effect")),
    ("merge_seq", _report("effect", "r.effect = 'merge'")),
    ("merge_proof", _report("effect", "r.effect = 'merge'", column=PROOF)),
    ("submit_test_seq", _SUBMIT_TEST),
    ("submit_review_seq", _report("effect", "r.effect = 'submit_review'")),
    ("test_pass_seq", _report("effect", "r.effect = 'test_pass'")),
    ("test_fail_seq", _report("effect", "r.effect = 'test_fail'")),
    ("passed_seq", _PASSED),
    ("qa_seq", _report("role", f"r.role = 'qa_expert' AND {_COUNTS}")),
    ("qa_answer_seq", _report("role", _QA_ANSWER)),
    ("qa_answer_effect", _report("role", _QA_ANSWER, column="r.effect")),
    ("tech_lead_seq", _report("role", f"r.role = 'tech_lead' AND {_COUNTS}")),
    ("manager_seq", _report("role", f"r.role = 'project_manager' AND {_COUNTS}")),
    (
        "mandatory_seq",
        _newest("router_decisions", "ix_router_decisions_mandatory", "seq", " AND t.mandatory_review = 1"),
    ),
    ("open_blocker", _newest("blockers", "ix_blockers_open", "opened_seq", " AND t.resolved_seq IS NULL", column="id")),
    (
        "open_question",
        _newest("questions", "ix_questions_open", "opened_seq", " AND t.closed_seq IS NULL", column="id"),
    ),
    (
        "open_task",
        f"(SELECT t.id {_TASKS} AND t.status IN ('backlog', 'todo', 'in_progress', 'blocked') LIMIT 1)",
    ),
    (
        "no_task_done",
        f"CASE WHEN EXISTS (SELECT 1 {_TASKS})"
        f" AND NOT EXISTS (SELECT 1 {_TASKS} AND t.status = 'done') THEN 1 ELSE 0 END",
    ),
    ("blocker_seq", _newest("blockers", "ix_blockers_own", "opened_seq", _OWN)),
    (
        "resolved_seq",
        _newest("blockers", "ix_blockers_own_resolved", "resolved_seq", f"{_OWN} AND t.resolved_seq IS NOT NULL"),
    ),
    ("confirm_seq", _CONFIRM),
    ("acknowledged_seq", _newest("acknowledgements", "ix_acknowledgements_group", "seq", _BY_MANAGER)),
    (
        "confirm_acknowledged",
        "EXISTS (SELECT 1 FROM acknowledgements t INDEXED BY ix_acknowledgements_group"
        f" WHERE t.session_id = g.session_id AND t.group_id = g.id AND t.seq = {_CONFIRM})",
    ),
)

# Conditions over marks. Each is 1, 0 or null, and null is never taken for met.
_APPROVED = "(standing_effect = 'approve' AND standing_seq > base_seq)"
_MERGED = f"{_APPROVED} AND merge_seq > standing_seq"
_SUBMIT_TEST_COUNTS = "submit_test_seq > base_seq"
_QA_NOT_ASKED = f"(({_SUBMIT_TEST_COUNTS}) IS NOT 1 AND (qa_seq > base_seq) IS NOT 1)"
# An approval that stands is newer than every answer of QA.
_UNFINISHED_ACCEPTED = f"qa_answer_effect IN ('block', 'inconclusive') AND qa_answer_seq > base_seq AND {_APPROVED}"
_CHAT = Case("kind = 'chat'", "chat")
_RESEARCH = Case("kind = 'research'", "not_required", met=True)
_ALWAYS = "1"

_CASES = {
    "approved": (
        _CHAT,
        Case("standing_seq IS NULL", "never"),
        Case("standing_seq <= base_seq", "reopened", seq="base_seq"),
        Case(_APPROVED, "approved", met=True, seq="standing_seq"),
        Case(_ALWAYS, "voided", seq="standing_seq"),
    ),
    "tested": (
        _CHAT,
        _RESEARCH,
        Case(f"({_SUBMIT_TEST_COUNTS} OR submit_review_seq > base_seq) IS NOT 1", "no_submission"),
        Case(
            "test_fail_seq > base_seq AND (test_pass_seq IS NULL OR test_fail_seq > test_pass_seq)",
            "open_test_fail",
            seq="test_fail_seq",
        ),
        Case(f"{_SUBMIT_TEST_COUNTS} AND passed_seq IS NOT NULL", "test_pass", met=True, seq="passed_seq"),
        Case("testing_mode IN ('minimal', 'disabled')", "testing_mode", met=True),
        Case(_QA_NOT_ASKED, "qa_not_asked", met=True, seq="submit_review_seq"),
        Case(_UNFINISHED_ACCEPTED, "unfinished_accepted", met=True, seq="qa_answer_seq"),
        Case(
            f"{_SUBMIT_TEST_COUNTS} AND (qa_answer_seq > submit_test_seq) IS NOT 1",
            "qa_unanswered",
            seq="submit_test_seq",
        ),
        Case(_ALWAYS, "no_test_pass", seq="qa_answer_seq"),
    ),
    "merged": (
        _CHAT,
        _RESEARCH,
        Case("merge_seq IS NULL", "never"),
        Case("merge_seq <= base_seq", "reopened", seq="base_seq"),
        Case(f"{_MERGED} AND merge_proof IS NULL", "unproven", seq="merge_seq"),
        Case(f"{_MERGED} AND merge_proof = 'nothing_to_merge'", "nothing_to_merge", met=True, seq="merge_seq"),
        Case(f"{_MERGED} AND merge_proof = 'merged'", "proven", met=True, seq="merge_seq"),
        Case(_MERGED, "merged", met=True, seq="merge_seq"),
        Case(_APPROVED, "before_approval", seq="merge_seq"),
        Case(_ALWAYS, "voided", seq="standing_seq"),
    ),
    "unblocked": (
        _CHAT,
        Case(
            "open_blocker IS NOT NULL",
            "open_blocker",
            seq="(SELECT b.opened_seq FROM blockers b WHERE b.id = open_blocker)",
        ),
        Case(
            "open_question IS NOT NULL",
            "open_question",
            seq="(SELECT q.opened_seq FROM questions q WHERE q.id = open_question)",
        ),
        Case("open_task IS NOT NULL", "open_task"),
        Case("no_task_done = 1", "no_task_done"),
        Case(
            "waits_on IS NOT NULL",
            "dependency",
            seq="(SELECT d.seq FROM group_dependencies d WHERE d.session_id = p.session_id"
            " AND d.group_id = p.group_id AND d.depends_on = waits_on AND d.removed_seq IS NULL)",
        ),
        Case(_ALWAYS, "clear", met=True, seq="resolved_seq"),
    ),
    "reviewed": (
        _CHAT,
        _RESEARCH,
        Case(
            "mandatory_seq IS NOT NULL AND (tech_lead_seq > mandatory_seq) IS NOT 1", "no_review", seq="mandatory_seq"
        ),
        Case("security_sensitive <> 0 AND (tech_lead_seq > base_seq) IS NOT 1", "no_security_review"),
        Case("mandatory_seq IS NULL AND security_sensitive = 0", "not_required", met=True),
        Case(_ALWAYS, "reviewed", met=True, seq="tech_lead_seq"),
    ),
}


_IS_MERGED = " OR ".join(
    f"merged_why = '{case.why}'" for case in _CASES["merged"] if case.met and case is not _RESEARCH
)


def _confirms(seq: str) -> str:
    """Whether a report came after the last blocker was resolved and after the merge (research: the approval)."""
    return (
        f"open_blocker IS NULL AND (resolved_seq IS NULL OR {seq} > resolved_seq)"
        f" AND ((kind = 'research' AND approved_why = 'approved' AND {seq} > standing_seq)"
        f" OR (kind = 'code' AND ({_IS_MERGED}) AND {seq} > merge_seq))"
    )


_CONFIRMED = (
    _CHAT,
    Case("blocker_seq IS NULL AND tested_why <> 'unfinished_accepted'", "not_required", met=True),
    Case(_confirms("confirm_seq"), "confirmed", met=True, seq="confirm_seq"),
    Case(_confirms("acknowledged_seq"), "acknowledged", met=True, seq="acknowledged_seq"),
    Case(_ALWAYS, "not_confirmed", seq="resolved_seq"),
)
_ALL_CASES = {**_CASES, "confirmed": _CONFIRMED}
PARTS = tuple(_ALL_CASES)
"""The parts of the chain in the order in which a missing one is named."""


def _why(cases: tuple[Case, ...]) -> str:
    return "CASE " + " ".join(f"WHEN {case.when} THEN '{case.why}'" for case in cases) + " END"


def _is_met(part: str, why: str = "") -> str:
    """Whether a part's word is one that meets it. (A list after IN would be built as a table at every look.)"""
    words = " ".join(f"WHEN '{case.why}' THEN 1" for case in _ALL_CASES[part] if case.met)
    return f"CASE {why or part + '_why'} {words} ELSE 0 END"


def _seq(part: str) -> str:
    found = [f"WHEN '{case.why}' THEN {case.seq}" for case in _ALL_CASES[part] if case.seq != "NULL"]
    return f"CASE {part}_why {' '.join(found)} END"


def _columns(pairs: dict[str, str]) -> str:
    return ",\n    ".join(f"{expression} AS {name}" for name, expression in pairs.items())


# All of the path but the confirmation and further dependencies: an unfinished group that satisfies who depends on it.
_SETTLED_PARTS = ("approved", "tested", "merged", "reviewed")
_SETTLED = (
    "status = 'in_progress' AND open_blocker IS NULL AND open_question IS NULL AND open_task IS NULL"
    " AND no_task_done = 0 AND "
) + " AND ".join(_is_met(part, _why(_CASES[part])) for part in _SETTLED_PARTS)
_SETTLED_MARKS = ", ".join(name for name, _ in _MARKS if re.search(rf"\b{name}\b", _SETTLED))
_OPEN_DEPENDENCY = (
    "d.session_id = m.session_id AND d.removed_seq IS NULL AND NOT EXISTS (SELECT 1 FROM task_groups c"
    " WHERE c.session_id = d.session_id AND c.id = d.depends_on AND c.status = 'completed')"
)
# UNION drops what was seen, so a cycle ends. The verdict is a column, since SQLite would copy a condition inwards.
_WAITS_ON = f"""(
      WITH RECURSIVE waits(group_id) AS (
        SELECT d.depends_on FROM group_dependencies d WHERE d.group_id = m.group_id AND {_OPEN_DEPENDENCY}
        UNION
        SELECT d.depends_on FROM waits w CROSS JOIN group_dependencies d
        WHERE d.group_id = w.group_id AND {_OPEN_DEPENDENCY}
      )
      SELECT w.group_id FROM waits w WHERE (
        SELECT {_SETTLED} FROM (
          SELECT DISTINCT {_SETTLED_MARKS}
          FROM group_marks k WHERE k.session_id = m.session_id AND k.group_id = w.group_id
        )
      ) IS NOT 1 LIMIT 1
    )"""

_PASSED_ON = (
    "session_id", "group_id", "kind", "status", "base_seq", "standing_seq", "merge_seq", "submit_test_seq",
    "submit_review_seq", "test_fail_seq", "passed_seq", "qa_answer_seq", "tech_lead_seq", "manager_seq",
    "mandatory_seq", "open_blocker", "open_question", "open_task", "no_task_done", "waits_on", "blocker_seq",
    "resolved_seq", "confirm_seq",
    "acknowledged_seq", "confirm_acknowledged",
)  # fmt: skip
_REASONS = {name: name for name in _PASSED_ON} | {f"{part}_why": _why(cases) for part, cases in _CASES.items()}

_CHAIN = " AND ".join(_is_met(part) for part in PARTS)
_ALL_BUT_CONFIRMED = " AND ".join(_is_met(part) for part in PARTS if part != "confirmed")
# The last BAZINGA names the group, and nothing was reported of the group, nor was it reopened, since.
_PM_PATH = (
    f"confirm_acknowledged AND confirm_seq > base_seq AND {_is_met('unblocked')}"
    " AND (standing_seq IS NULL OR standing_seq <= confirm_seq) AND (merge_seq IS NULL OR merge_seq <= confirm_seq)"
    " AND (manager_seq IS NULL OR manager_seq <= confirm_seq)"
)


def _flag(condition: str) -> str:
    return f"CASE WHEN {condition} THEN 1 ELSE 0 END"


def _conclusion(condition: str) -> str:
    """A flag that people filter by. SQLite moves no condition with a subquery inwards, where it would be copied."""
    return _flag(f"(SELECT 1) AND ({condition})")


def _path_columns() -> dict[str, str]:
    columns = {name: name for name in ("session_id", "group_id", "kind", "status")}
    for part in PARTS:
        columns |= {f"{part}_met": _flag(_is_met(part)), f"{part}_why": f"{part}_why", f"{part}_seq": _seq(part)}
    missing = " ".join(f"WHEN {_is_met(part)} = 0 THEN '{part}'" for part in PARTS)
    return columns | {
        "unblocked_ref": "CASE unblocked_why WHEN 'open_blocker' THEN open_blocker"
        " WHEN 'open_question' THEN open_question WHEN 'open_task' THEN open_task"
        " WHEN 'dependency' THEN waits_on END",
        "chain": _conclusion(_CHAIN),
        "pm_path": _conclusion(_PM_PATH),
        "valid": _conclusion(f"({_CHAIN}) OR ({_PM_PATH})"),
        "missing": f"CASE WHEN kind = 'chat' THEN 'closed' {missing} END",
        "awaiting_confirmation": _conclusion(
            f"status = 'in_progress' AND {_ALL_BUT_CONFIRMED} AND confirmed_why = 'not_confirmed'"
        ),
        "ever_blocked": _flag("blocker_seq IS NOT NULL"),
    }


_GIVEN = tuple(
    dict.fromkeys((*(name for name, _ in _MARKS if name not in ("session_id", "group_id")), "waits_on"))
)
JUDGED = (
    f"SELECT CASE WHEN ({_CHAIN}) OR ({_PM_PATH}) THEN 1 ELSE 0 END,"
    f" {_path_columns()['missing']}, {_SETTLED} FROM (\n"
    f"  SELECT DISTINCT j.*, {_why(_CONFIRMED)} AS confirmed_why FROM (\n"
    f"    SELECT DISTINCT m.*, {', '.join(f'{_why(cases)} AS {part}_why' for part, cases in _CASES.items())}\n"
    f"    FROM (SELECT DISTINCT {', '.join(f':{name} AS {name}' for name in _GIVEN)}) m\n  ) j\n)"
)
"""What the views conclude from marks that are given: whether the path is valid, the first part that is missing, and
whether who depends on the group is satisfied before it is completed.
"""
MARKS = _GIVEN
"""The names of the marks that `JUDGED` takes."""


def _view(name: str, select: str) -> tuple[str, str]:
    return name, f"CREATE VIEW {name} AS\n{select}"


VIEWS: tuple[tuple[str, str], ...] = (
    _view("group_marks", f"SELECT\n    {_columns(dict(_MARKS))}\nFROM task_groups g"),
    _view(
        "group_reasons",
        f"SELECT DISTINCT\n    {_columns(_REASONS)}\n"
        f"FROM (\n  SELECT DISTINCT m.*,\n    {_WAITS_ON} AS waits_on\n  FROM group_marks m\n)",
    ),
    _view(
        "completion_paths",
        f"SELECT\n    {_columns(_path_columns())}\n"
        f"FROM (\n  SELECT j.*,\n    {_why(_CONFIRMED)} AS confirmed_why\n  FROM group_reasons j\n) p",
    ),
)
"""The views as (name, statement), in the order in which they are made."""
