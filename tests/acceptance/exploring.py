"""A breadth-first search through the states of small sessions, with the real use cases on the real store.

States that differ in nothing that deciding looks at are one: numbers of steps are left out, counters stop at their
limit. Every state is reached by a shortest list of operations, which is what a counterexample shows.
"""

from __future__ import annotations

import json
import pathlib
import zlib
from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

from orchestrator import resources, testing
from orchestrator.app import setup
from orchestrator.app.kernel.context import Context
from orchestrator.core.workflow.model import Workflow
from tests.acceptance import walking
from tests.acceptance.walking import SESSION, Op, report

Key = tuple[Any, ...]
PAGE = 4096
MANAGER = "project_manager"
ABANDONED = Op("session end", {"id": SESSION, "by": "user", "reason": "nothing is left to do"})
DECISIONS = ("continue", "revise", "abandon")
MOST_STEPS = 80
"""Good answers after which a session should long have come to its end."""


class Setting(NamedTuple):
    """What is searched: the groups, and how tight the workflow's limits are.

    `threshold` and `visits` are the workflow's limits of failures and of equal reports. Where they are set, counters
    are part of the state; where not, they are taken to be below their limits, which short ways do not reach.
    """

    name: str
    groups: tuple[dict[str, Any], ...]
    slots: int = 2
    threshold: int = 0
    visits: int = 0
    testing_mode: str = "full"
    disabled: tuple[str, ...] = ()
    planned: bool = True


class Snapshots:
    """States of one database, each as the pages in which it differs from the first."""

    def __init__(self, context: Context) -> None:
        self._connection = context.connection
        self._base = self._connection.serialize()

    def save(self) -> bytes:
        now, base = self._connection.serialize(), self._base
        changed = [n for n in range(0, len(now), PAGE) if now[n : n + PAGE] != base[n : n + PAGE]]
        head = json.dumps([len(now), changed]).encode() + b"\n"
        return zlib.compress(head + b"".join(now[n : n + PAGE] for n in changed), 1)

    def load(self, content: bytes) -> bytes:
        """Go to a state; return the whole database, to go there again at once."""
        head, _, pages = zlib.decompress(content).partition(b"\n")
        size, changed = json.loads(head)
        whole = bytearray(self._base.ljust(size, b"\0")[:size])
        for place, offset in enumerate(changed):
            whole[offset : offset + PAGE] = pages[place * PAGE : (place + 1) * PAGE]
        self._connection.deserialize(bytes(whole))
        return bytes(whole)


class Search(NamedTuple):
    """What a search found: how each state was reached, where each leads, and those that were not expanded."""

    setting: Setting
    store: Snapshots
    came: dict[Key, tuple[Key | None, Op | None]]
    leads: dict[Key, set[Key]]
    goals: set[Key]
    rest: dict[Key, bytes]
    wrong: list[tuple[Key, list[str]]]

    def trace(self, key: Key) -> list[Op]:
        """The shortest list of operations to a state, the beginning of the session included."""
        ops: list[Op] = []
        here: Key | None = key
        while here is not None:
            here, op = self.came[here]
            if op is not None:
                ops.append(op)
        return [*beginning(self.setting), *reversed(ops)]


def workflow_file(setting: Setting, folder: pathlib.Path) -> pathlib.Path:
    """The shipped workflow under the limits of a setting."""
    document = json.loads((resources.path("workflow") / "transitions.json").read_text("utf-8"))
    for status in ("PLANNING_COMPLETE", "CONTINUE"):
        document[MANAGER][status]["max_parallel"] = setting.slots
    if setting.threshold:
        document["_special_rules"]["escalation_after_failures"]["threshold"] = setting.threshold
    if setting.visits:
        document["_special_rules"]["loop_guard"]["max_visits"] = setting.visits
    file = folder / f"{setting.name}.json"
    file.write_text(json.dumps(document), "utf-8")
    return file


def beginning(setting: Setting) -> list[Op]:
    """The operations that a search begins with."""
    session = {"id": SESSION, "testing_mode": setting.testing_mode, "disabled_roles": setting.disabled}
    groups = [Op("group create", {"session_id": SESSION, **group}) for group in setting.groups]
    plan = [report(MANAGER, "PLANNING_COMPLETE")] if setting.planned else []
    return [Op("session create", session), *groups, *plan]


def begin(setting: Setting, folder: pathlib.Path) -> Context:
    """A context that stands at the first state of a search."""
    context = testing.memory_context()
    setup.initialise(context, workflow=workflow_file(setting, folder))
    for op in beginning(setting):
        assert walking.perform(context, op) is None, op
    return context


def search(context: Context, setting: Setting, *, states: int) -> Search:
    """Search breadth first from where the context stands, until so many states are found or nothing is left."""
    store = Snapshots(context)
    first = key_of(context, setting)
    found = Search(setting, store, {first: (None, None)}, {}, set(), {}, [])
    queue = deque([(first, store.save())])
    while queue and len(found.came) < states and not found.wrong:
        key, content = queue.popleft()
        _expand(context, found, key, content, queue)
    found.rest.update(queue)
    return found


def _expand(
    context: Context, found: Search, key: Key, content: bytes, queue: deque[tuple[Key, bytes]]
) -> None:
    whole = found.store.load(content)
    ops = list(moves(context, found.setting))
    leads = found.leads.setdefault(key, set())
    if is_goal(context):
        found.goals.add(key)
    for op in ops:
        context.connection.deserialize(whole)
        if walking.perform(context, op) is not None:
            continue
        reached = key_of(context, found.setting)
        leads.add(reached)
        if reached not in found.came:
            found.came[reached] = (key, op)
            queue.append((reached, found.store.save()))
            if wrong := walking.violations(context):
                found.wrong.append((reached, wrong))


_GROUP_KEY = """SELECT g.id, g.kind, g.security_sensitive, g.status, g.awaited_role, g.awaited_action, g.held,
    g.turn IS NOT NULL, g.senior, g.builder_role, g.qa_attempts, g.tl_review_attempts, g.merge_attempts, g.iterations,
    p.approved_met, p.tested_met, p.merged_met, p.unblocked_met, p.reviewed_met, p.confirmed_met, p.valid,
    p.ever_blocked
    FROM task_groups g LEFT JOIN completion_paths p ON p.session_id = g.session_id AND p.group_id = g.id
    WHERE g.session_id = 'S1' ORDER BY g.created_seq"""
_BLOCKERS_KEY = """SELECT group_id, external, opened_role FROM blockers
    WHERE session_id = 'S1' AND resolved_seq IS NULL ORDER BY opened_seq DESC"""
_QUESTIONS_KEY = """SELECT group_id, kind, json_extract(decision, '$.target'), json_extract(decision, '$.reporter'),
    json_array_length(json_extract(decision, '$.blockers')), json_extract(decision, '$.report.effect'),
    json_array_length(json_extract(decision, '$.report.concerns')), json_extract(decision, '$.report.acknowledge'),
    (SELECT r.response_status FROM agent_reports r WHERE r.session_id = questions.session_id AND r.seq = opened_seq)
    FROM questions WHERE session_id = 'S1' AND closed_seq IS NULL ORDER BY opened_seq"""
_EDGES_KEY = "SELECT group_id, depends_on FROM group_dependencies WHERE session_id = 'S1' AND removed_seq IS NULL"
_VISITS_KEY = """SELECT r.group_id, r.role, r.response_status, count(*) FROM agent_reports r
    LEFT JOIN task_groups g ON g.session_id = r.session_id AND g.id = r.group_id JOIN sessions s ON s.id = r.session_id
    LEFT JOIN (SELECT session_id, max(progress_seq) AS seq FROM task_groups GROUP BY 1) p ON p.session_id = s.id
    WHERE r.session_id = 'S1' AND r.seq > CASE WHEN r.effect IN ('approve', 'merge', 'test_pass')
        THEN ifnull(g.answered_seq, s.answered_seq)
        ELSE max(ifnull(g.answered_seq, s.answered_seq), ifnull(g.progress_seq, ifnull(p.seq, 0))) END
    GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"""


def key_of(context: Context, setting: Setting) -> Key:
    """What of a state deciding can tell apart."""
    query = context.connection.execute
    session = context.require_session(SESSION)
    limit = 4 * setting.threshold
    groups = tuple(
        (*row[:10], *(min(counter, limit) for counter in row[10:14]), *row[14:])
        for row in query(_GROUP_KEY)
    )
    blockers: dict[str, list[tuple[Any, ...]]] = {}
    for group, *what in query(_BLOCKERS_KEY):
        blockers.setdefault(group, []).append(tuple(what))
    visits = ()
    if setting.visits:
        visits = tuple((*row[:3], min(row[3], setting.visits + 2)) for row in query(_VISITS_KEY))
    return (
        (session.status, session.planned, session.awaited_role, session.held),
        groups,
        tuple((group, *rows[:2]) for group, rows in sorted(blockers.items())),
        tuple(query(_QUESTIONS_KEY)),
        tuple(query(_EDGES_KEY)),
        visits,
    )


def alphabet(workflow: Workflow, role: str) -> list[str]:
    """One status of a role for each effect and target; the others mean the same."""
    found: dict[tuple[str, str | None], str] = {}
    for status in workflow.statuses_of(role):
        transition = workflow.transitions[role, status]
        found.setdefault((transition.effect, transition.next_agent), status)
    return list(found.values())


def moves(context: Context, setting: Setting) -> Iterator[Op]:
    """What may be tried in a state: the awaited agents' answers, and whatever the project manager may think of."""
    session = context.require_session(SESSION)
    workflow = context.version(session.workflow_version_id).workflow
    rows = context.connection.execute(
        "SELECT id, status, awaited_role, awaited_action, held FROM task_groups WHERE session_id = 'S1'"
        " ORDER BY created_seq"
    ).fetchall()
    for question, *_ in context.connection.execute(walking.QUESTIONS).fetchall():
        yield from (walking.answer(question, decision) for decision in DECISIONS)
    yield report(MANAGER, "CONTINUE" if session.planned else "PLANNING_COMPLETE")
    yield report(MANAGER, "BAZINGA")
    if all(status not in ("pending", "in_progress") for _, status, *_ in rows):
        yield report(MANAGER, "NEEDS_CLARIFICATION", summary="nothing is left to do")
        if context.connection.execute(walking.QUESTIONS).fetchone():
            yield ABANDONED
    for group, status, role, action, held in rows:
        yield from _of_the_manager(group, status, role)
        if status == "in_progress" and not held and role not in (None, "user", MANAGER):
            yield from _of_the_awaited(workflow, group, role, action)
        if status == "pending" and not setting.planned:
            yield report("developer", "READY_FOR_QA", group)
            yield report("tech_lead", "APPROVED", group)


def _of_the_awaited(workflow: Workflow, group: str, role: str, action: str) -> Iterator[Op]:
    for status in alphabet(workflow, role):
        effect = workflow.transitions[role, status].effect
        if effect in ("merge", "merge_fail") and action != "spawn_merge":
            continue
        yield report(role, status, group)
        if effect == "guide" and workflow.transitions[role, status].next_agent == "_return_to_blocked":
            external = {"external": True, "external_dependency": "the environment"}
            yield report(role, status, group, details=external)


def _of_the_manager(group: str, status: str, role: str | None) -> Iterator[Op]:
    if status in ("pending", "in_progress", "deferred_external"):
        yield _set(group, "cancelled")
    if status in ("completed", "deferred_external"):
        yield _set(group, "in_progress")
    if status == "deferred_external":
        yield report(MANAGER, "RESUME_BLOCKED", group, summary="it is there now")
    if status == "in_progress":
        yield _set(group, "completed")
        yield report(MANAGER, "BAZINGA", acknowledge={group: "known"})
        yield Op("redispatch", {"session_id": SESSION, "group_id": group, "reason": "it died"})
        more: dict[str, Any] = {} if role == MANAGER else {"interrupt": True}
        for code in ("REWORK", "ESCALATING_TO_TECH_LEAD", "INVESTIGATION_NEEDED"):
            yield report(MANAGER, code, group, **more)
        if role == MANAGER:
            for code in ("DEFER_EXTERNAL", "RESUME_BLOCKED"):
                yield report(MANAGER, code, group, summary="a reason")


def _set(group: str, status: str) -> Op:
    given = {"id": group, "session_id": SESSION, "by": MANAGER, "status": status, "reason": "a reason"}
    return Op("group set-status", given)


def is_goal(context: Context) -> bool:
    """Whether the session has ended, or has nothing open and waits for its verdict; being asked is no end."""
    session = context.require_session(SESSION)
    if session.status == "ended":
        return True
    statuses = {row[0] for row in context.connection.execute("SELECT status FROM task_groups WHERE session_id = 'S1'")}
    closed = statuses <= {"completed", "deferred_external", "cancelled"}
    return closed and "completed" in statuses and session.awaited_role == "validator"


ANSWERS = {
    "developer": "READY_FOR_QA",
    "senior_software_engineer": "READY_FOR_QA",
    "requirements_engineer": "READY_FOR_REVIEW",
    "qa_expert": "PASS",
    "tech_lead": "APPROVED",
    "investigator": "ROOT_CAUSE_FOUND",
}


def good_answer(context: Context) -> Op:
    """What somebody of good will does next, so that the session comes to its end."""
    session = context.require_session(SESSION)
    if asked := context.connection.execute(walking.QUESTIONS).fetchone():
        return _a_person_s(context, *asked)
    if not session.planned:
        return report(MANAGER, "PLANNING_COMPLETE")
    rows = context.connection.execute(
        "SELECT id, status, awaited_role, awaited_action, held FROM task_groups WHERE session_id = 'S1'"
        " ORDER BY awaited_role = 'project_manager', created_seq"
    ).fetchall()
    for group, status, role, action, held in rows:
        if status == "in_progress" and not held and role != MANAGER:
            return report(role, "MERGE_SUCCESS" if action == "spawn_merge" else ANSWERS[role], group)
        if status == "in_progress" and role == MANAGER and not _lacks_confirmation_alone(context, group):
            if context.reader.open_dependencies(SESSION, group) and context.reader.path(SESSION, group).merged:
                return _unchain(context, group)
            external = any(blocker.external for blocker in context.reader.blockers(SESSION, group))
            return report(MANAGER, "DEFER_EXTERNAL" if external else "REWORK", group, summary="a reason")
    for group, status, *_ in rows:
        if status == "pending":
            return _unchain(context, group)
    if any(status in ("completed", "in_progress") for _, status, *_ in rows):
        return report(MANAGER, "BAZINGA")
    return report(MANAGER, "NEEDS_CLARIFICATION", summary="nothing is left to do")


def _a_person_s(context: Context, question: str, group: str | None, kind: str) -> Op:
    """A person of good will lets the work go on; where nothing is left to do they end it."""
    statuses = {row[0] for row in context.connection.execute("SELECT status FROM task_groups WHERE session_id = 'S1'")}
    if kind == "clarification" and not statuses & {"pending", "in_progress", "completed"}:
        return ABANDONED
    return walking.answer(question, "continue")


def _lacks_confirmation_alone(context: Context, group: str) -> bool:
    return context.reader.path(SESSION, group).awaiting_confirmation


def _unchain(context: Context, group: str) -> Op:
    (on,) = context.reader.open_dependencies(SESSION, group)[:1] or (group,)
    given = {"id": group, "on": on, "session_id": SESSION, "by": MANAGER, "reason": "without it then"}
    return Op("group undepend", given)


def dead_ends(context: Context, found: Search) -> list[str]:
    """The states from which no goal is reached, neither along what was searched nor by people of good will."""
    good = _leading_to(found, found.goals)
    stuck: list[str] = []
    for key, content in found.rest.items():
        if key not in good:
            found.store.load(content)
            stuck += _walk_out(context, found, key, good)
    good = _leading_to(found, good)
    left = found.leads.keys() - good
    return [*stuck, *(walking.counterexample(["nothing leads to an end"], found.trace(key)) for key in left)]


def _leading_to(found: Search, goals: set[Key]) -> set[Key]:
    sources: dict[Key, list[Key]] = {}
    for key, reached in found.leads.items():
        for each in reached:
            sources.setdefault(each, []).append(key)
    good, queue = set(goals), deque(goals)
    while queue:
        for key in sources.get(queue.popleft(), ()):
            if key not in good:
                good.add(key)
                queue.append(key)
    return good


def _walk_out(context: Context, found: Search, key: Key, good: set[Key]) -> list[str]:
    """Let people of good will go on until a goal or a state that is known to lead to one; add what they passed."""
    passed, ops = [key], found.trace(key)
    for _ in range(MOST_STEPS):
        if passed[-1] in good or is_goal(context):
            good.update(passed)
            return []
        ops.append(good_answer(context))
        code = walking.perform(context, ops[-1])
        wrong = walking.violations(context)
        if code or wrong:
            return [walking.counterexample([*wrong, f"the last line is refused with {code}"], ops)]
        passed.append(key_of(context, found.setting))
    return [walking.counterexample([f"no end after {MOST_STEPS} good answers"], ops)]
