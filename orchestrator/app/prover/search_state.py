"""What of a session's state deciding can tell apart, and what must hold in it.

Two states with the same key go on alike: numbers of steps are compared with each other only in the ways in which the
completion view compares them, so the outcomes of these comparisons stand for the numbers. What a later report would
overwrite anyway is left out, closed groups keep what a reopening would bring back, and groups that nothing but their
ids tells apart are put in order.
"""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator.app.prover.sandbox import SESSION, World
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.routing import free_slots
from orchestrator.core.routing.facts import DEVELOPER, MANAGER, PERSON, TECH_LEAD, VALIDATOR, Session
from orchestrator.hints import Any

Key = tuple[Any, ...]


class Marks(NamedTuple):
    """One group: its row, and the newest step of every kind that the completion view looks at."""

    id: str
    status: str
    kind: str
    security: int
    awaited_role: str | None
    awaited_agent: str | None
    awaited_action: str | None
    turn: int | None
    held: str | None
    rank: int | None
    senior: int
    builder: str | None
    base: int
    standing: int | None
    standing_effect: str | None
    standing_role: str | None
    merge: int | None
    submit_test: int | None
    submit_review: int | None
    test_pass: int | None
    test_fail: int | None
    passed: int | None
    qa: int | None
    qa_answer: int | None
    qa_answer_effect: str | None
    tech_lead: int | None
    mandatory: int | None
    blocker: int | None
    resolved: int | None
    confirm: int | None
    acknowledged: int | None
    question: str | None

    @property
    def running(self) -> bool:
        """Whether an agent other than the project manager was started and is awaited."""
        return self.awaited_role not in (None, MANAGER, PERSON) and self.held is None


_RANK = """CASE WHEN g.held IS NOT NULL THEN (SELECT count(*) FROM task_groups h WHERE h.session_id = g.session_id
    AND h.held IS NOT NULL AND (h.held_seq, h.held_part) < (g.held_seq, g.held_part)) END"""
_GROUPS = f"""SELECT g.id, g.status, g.kind, g.security_sensitive, g.awaited_role, g.awaited_agent_id, g.awaited_action,
    g.turn, g.held, {_RANK}, g.senior, g.builder_role, m.base_seq, m.standing_seq, m.standing_effect,
    (SELECT r.role FROM agent_reports r WHERE r.session_id = g.session_id AND r.seq = m.standing_seq AND r.part = 1),
    m.merge_seq, m.submit_test_seq, m.submit_review_seq, m.test_pass_seq, m.test_fail_seq, m.passed_seq, m.qa_seq,
    m.qa_answer_seq, m.qa_answer_effect, m.tech_lead_seq, m.mandatory_seq, m.blocker_seq, m.resolved_seq, m.confirm_seq,
    m.acknowledged_seq, m.open_question
    FROM task_groups g JOIN group_marks m ON m.session_id = g.session_id AND m.group_id = g.id
    WHERE g.session_id = '{SESSION}' ORDER BY g.created_seq"""
_BLOCKERS = f"""SELECT group_id, external, opened_role, cause FROM blockers
    WHERE session_id = '{SESSION}' AND resolved_seq IS NULL ORDER BY opened_seq DESC, id DESC"""
_QUESTIONS = f"""SELECT group_id, kind, json_extract(decision, '$.target'), json_extract(decision, '$.reporter'),
    json_array_length(json_extract(decision, '$.blockers')), json_extract(decision, '$.report.effect'),
    json_array_length(json_extract(decision, '$.report.concerns')), json_extract(decision, '$.report.acknowledge'),
    (SELECT r.response_status FROM agent_reports r WHERE r.session_id = questions.session_id AND r.seq = opened_seq)
    FROM questions WHERE session_id = '{SESSION}' AND closed_seq IS NULL ORDER BY opened_seq, id"""
_EDGES = f"""SELECT group_id, depends_on FROM group_dependencies
    WHERE session_id = '{SESSION}' AND removed_seq IS NULL ORDER BY 1, 2"""


class State(NamedTuple):
    """The session as it is."""

    session: Session
    groups: tuple[Marks, ...]
    blockers: dict[str, tuple[tuple[Any, ...], ...]]
    questions: tuple[tuple[Any, ...], ...]
    edges: tuple[tuple[str, str], ...]

    @property
    def asks(self) -> bool:
        """Whether a person is asked."""
        return bool(self.questions)

    @property
    def good(self) -> bool:
        """Whether the session has ended, asks a person, or waits for the verdict."""
        return self.session.status == "ended" or self.asks or self.session.awaited_role == VALIDATOR

    @property
    def final(self) -> bool:
        """Whether the search goes no further from here: the session has ended."""
        return self.session.status == "ended"


def read(world: World) -> State:
    """The state in which a world stands."""
    query = world.context.connection.execute
    blockers: dict[str, tuple[tuple[Any, ...], ...]] = {}
    for group, *what in query(_BLOCKERS):
        blockers[group] = (*blockers.get(group, ()), tuple(what))
    return State(
        world.context.require_session(SESSION),
        tuple(Marks(*row) for row in query(_GROUPS)),
        blockers,
        tuple(query(_QUESTIONS)),
        tuple(query(_EDGES)),
    )


class Place(NamedTuple):
    """A state with the keys of its groups, in their order of creation, and the key of all the rest."""

    state: State
    groups: tuple[Key, ...]
    rest: Key

    def key(self, alike: dict[str, int]) -> Key:
        """The key of the state.

        Args:
            alike: a number for each group; groups with the same number may change places.
        """
        numbers = [alike.get(m.id, -1) for m in self.state.groups]
        groups = sorted(((number, *own) for number, own in zip(numbers, self.groups, strict=True)), key=repr)
        return (*self.rest[:5], tuple(groups), *self.rest[5:])


def place(state: State) -> Place:
    """A state with its keys."""
    session = state.session
    rest = (session.status, session.planned, session.awaited_role, session.awaited_action, session.held,
            state.questions, state.edges)  # fmt: skip
    return Place(state, tuple(_group(state, m) for m in state.groups), rest)


def key(state: State, alike: dict[str, int]) -> Key:
    """The key of a state, as `Place.key` has it."""
    return place(state).key(alike)


def _group(state: State, m: Marks) -> Key:
    if m.status == "cancelled":
        return (m.status,)
    lasting = (m.status, m.senior, m.builder, m.blocker is not None, _owes(m, m.mandatory))
    if m.status == "completed":
        return lasting
    # Of actions deciding asks only whether a merge was ordered, and whether the manager was only named.
    action = m.awaited_action if m.awaited_action in ("spawn_merge", "wait", None) else "spawn"
    waits = (m.awaited_role, action, m.held, m.rank, m.turn is None)
    return (*lasting, *waits, *path(m), state.blockers.get(m.id, ()))


def _after(one: int | None, other: int | None) -> bool:
    return one is not None and one > (other or 0)


def _owes(m: Marks, since: int | None) -> bool:
    return since is not None and not _after(m.tech_lead, since)


def path(m: Marks) -> Key:
    """The comparisons of the completion view that decide how a group goes on."""
    approved = m.standing_effect == "approve" and _after(m.standing, m.base) and m.standing_role
    if m.kind == "research":
        return (approved, _confirmed(m, bool(approved)))
    merged = bool(approved) and _after(m.merge, m.standing)
    owes = _owes(m, m.mandatory) or bool(m.security and _owes(m, m.base))
    return (approved, merged, owes, _confirmed(m, merged), *_tested(m))


def _tested(m: Marks) -> Key:
    """What of the tests still counts: with a failure open a pass alone, and it settles how QA answered last."""
    submitted, failed = _after(m.submit_test, m.base), fails(m)
    if failed:
        return (submitted, failed)
    unfinished = m.qa_answer_effect in ("block", "inconclusive") and _after(m.qa_answer, m.base)
    if submitted:
        return (submitted, failed, unfinished, m.passed is not None, _after(m.test_pass, m.submit_test))
    return (submitted, failed, unfinished, _after(m.qa, m.base), _after(m.submit_review, m.base))


def fails(m: Marks) -> bool:
    """Whether a failed test is open."""
    return _after(m.test_fail, m.base) and _after(m.test_fail, m.test_pass)


def _confirmed(m: Marks, settled: bool) -> bool:
    since = max(m.resolved or 0, (m.standing if m.kind == "research" else m.merge) or 0)
    return settled and (_after(m.confirm, since) or _after(m.acknowledged, since))


_VISITS = f"""SELECT r.group_id, r.role, r.response_status, count(*) FROM agent_reports r
    LEFT JOIN task_groups g ON g.session_id = r.session_id AND g.id = r.group_id JOIN sessions s ON s.id = r.session_id
    LEFT JOIN (SELECT session_id, max(progress_seq) AS seq FROM task_groups GROUP BY 1) p ON p.session_id = s.id
    WHERE r.session_id = '{SESSION}' AND r.seq > CASE WHEN r.effect IN ('approve', 'merge', 'test_pass')
        THEN ifnull(g.answered_seq, s.answered_seq)
        ELSE max(ifnull(g.answered_seq, s.answered_seq), ifnull(g.progress_seq, ifnull(p.seq, 0))) END
    GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"""
_COUNTERS = f"""SELECT qa_attempts, tl_review_attempts, merge_attempts, iterations,
    (SELECT count(*) FROM status_changes c WHERE c.session_id = g.session_id AND c.entity = 'group'
        AND c.entity_id = g.id AND c.cause = 'set_status' AND c.seq > g.answered_seq)
    FROM task_groups g WHERE g.session_id = '{SESSION}' ORDER BY created_seq"""


def exact(world: World, of: Key) -> Key:
    """A key with every counter beside it, as far as each matters: what has the same one twice can go on for ever."""
    given = world.version.workflow.rules
    visits = given.loop_max_visits + len(given.loop_on_exhausted)
    query = world.context.connection.execute
    seen = tuple((*what, min(count, visits)) for *what, count in query(_VISITS))
    most = max(4 * given.escalation_threshold, given.investigation_max_iterations, visits)
    return (of, seen, tuple(tuple(min(count, most) for count in row) for row in query(_COUNTERS)))


class Fault(NamedTuple):
    """An invariant that does not hold: its name, and what is wrong in words."""

    invariant: str
    message: str


def faults(world: World, state: State) -> list[Fault]:
    """Every invariant of single states that does not hold in this one."""
    found = [fault for m in state.groups for fault in _of_group(state, m)]
    return [*found, *_of_session(world, state)]


def _of_group(state: State, m: Marks) -> Iterator[Fault]:
    if m.status == "in_progress" and (m.awaited_role is None or not m.awaited_agent):
        yield Fault("stall", f"group {m.id} is in progress and waits for {m.awaited_role or 'nobody'}, nobody by name")
    elif m.status == "in_progress" and m.running and m.turn is None:
        yield Fault("stall", f"group {m.id} waits for {m.awaited_role}, who was never started")
    if m.status == "in_progress" and m.awaited_role == PERSON and not state.asks:
        yield Fault("stall", f"group {m.id} waits for a person who is asked nothing")
    if m.security and m.awaited_role == DEVELOPER:
        yield Fault("security", f"group {m.id} is security-sensitive and waits for a developer")
    if m.status == "completed":
        yield from _of_completed(state, m)
    if state.session.status == "ended" and m.status in ("pending", "in_progress"):
        yield Fault("end", f"the session has ended and group {m.id} is {m.status}")


def _of_completed(state: State, m: Marks) -> Iterator[Fault]:
    approver = m.standing_role if m.standing_effect == "approve" else None
    if approver != TECH_LEAD or not _after(m.standing, m.base):
        why = f"its approval is by {approver}" if approver else "no approval stands"
        yield Fault("approval", f"group {m.id} is completed, and {why}")
    elif m.kind == "code" and not _after(m.merge, m.standing):
        yield Fault("approval", f"group {m.id} is completed, and nothing was merged after its approval")
    if m.kind == "code" and fails(m):
        yield Fault("approval", f"group {m.id} is completed with a failed test open")
    if state.blockers.get(m.id):
        yield Fault("blocked", f"group {m.id} is completed with an open blocker")
    if m.blocker is not None and not _confirmed(m, True):
        yield Fault("blocked", f"group {m.id} was blocked and is completed without the project manager's word")


def _of_session(world: World, state: State) -> Iterator[Fault]:
    session, workflow = state.session, world.version.workflow
    if session.status == "paused" and not state.asks:
        yield Fault("stall", "the session is paused, and no person is asked")
    if session.status != "active":
        return
    called = any(m.awaited_role == MANAGER and m.awaited_action != "wait" and not m.held for m in state.groups)
    running = sum(m.running for m in state.groups)
    if not (running or called or state.asks or session.awaited_role):
        yield Fault("stall", "the session waits for nobody")
    limit = free_slots.limit(workflow, session)
    if running > limit:
        yield Fault("slots", f"{running} groups run, and the limit is {limit}")
    if any(m.held and m.awaited_role != MANAGER for m in state.groups) and running < limit:
        yield Fault("stall", "a group is held while a slot is free")
    board = world.reader.board(session, limit, workflow.rules.research_max_parallel)
    if starts := free_slots.batch(workflow, session, board):
        yield Fault("stall", f"group {starts[0].group.id} could start in a free slot and does not")
