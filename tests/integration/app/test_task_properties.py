"""Random forests of tasks, with random dependencies and changes, against a small model that knows only the rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator.app.audit import replay_events
from orchestrator.errors import OrchestratorError
from orchestrator.testing import memory_context
from tests.conftest import LONG
from tests.integration.app.board import Board

TASKS = [f"T{number}" for number in range(7)]
ABOVE = {
    "dev-1": {"developer", "tech_lead", "project_manager"},
    "qa-1": {"qa_expert", "tech_lead", "project_manager"},
    "developer": {"tech_lead", "project_manager"},
    "tech_lead": {"project_manager"},
    "project_manager": set(),
}
AGENTS = list(ABOVE)
STATUSES = ("backlog", "todo", "in_progress", "blocked", "done", "cancelled")

Step = tuple[Any, ...]
_slow = settings(max_examples=100 if LONG else 10, suppress_health_check=[HealthCheck.too_slow])
_random = st.randoms(use_true_random=False)
LIKELY = {
    "backlog": ("todo", "in_progress", "in_progress"),
    "todo": ("in_progress", "in_progress", "backlog"),
    "in_progress": ("blocked", "done", "done"),
    "blocked": ("in_progress", "in_progress", "blocked"),
}
"""What may come of it, for a task of each status; anything else is tried as well, and refused."""


def any_step(random: Random, facts: Facts) -> Step:
    """A step that may well be possible, on tasks that exist; at first tasks are created."""
    known = list(facts.tasks)
    if len(known) < 3 or (len(known) < len(TASKS) and random.random() < 0.25):
        return _creation(random, known)
    id_ = random.choice(known)
    kind = random.choices(("move", "depend", "undepend", "resolve"), (14, 3, 1, 3))[0]
    if kind == "depend":
        return kind, id_, random.choice(known)
    if kind == "undepend":
        return (kind, *random.choice(facts.depends or [(id_, id_)]))
    if kind == "resolve":
        return kind, random.choice([each for each in known if facts.open(each)] or known), random.choice(AGENTS)
    status = random.choice(LIKELY.get(facts.status(id_), STATUSES)) if random.random() < 0.9 else _any_status(random)
    by = random.choice((facts.tasks[id_][3] or "dev-1", "project_manager", random.choice(AGENTS)))
    type_ = "missing_dependency" if status == "blocked" and random.random() < 0.4 else None
    return kind, id_, status, by, type_


def _any_status(random: Random) -> str:
    return random.choice(STATUSES)


def _creation(random: Random, known: list[str]) -> Step:
    id_ = random.choice([each for each in TASKS if each not in known])
    parent = random.choice([None, *known, *known])
    depends = random.sample(known, min(len(known), random.choice((0, 0, 1, 2))))
    assignee = random.choice((None, "dev-1", "dev-1", "qa-1"))
    return "create", id_, parent, depends, assignee, random.random() < 0.3


def story(board: Board, random: Random, length: int = 30) -> Iterator[tuple[Facts, Step, str | None]]:
    """Steps that are tried one after another: what was before, the step, and the code of its refusal."""
    for _ in range(length):
        facts = Facts(board)
        step = any_step(random, facts)
        yield facts, step, play(board, step)


class Facts:
    """What the database holds, read row by row without the product's own questions."""

    def __init__(self, board: Board) -> None:
        names = "id, parent_id, status, assignee, former_status, blocked_reason, version"
        self.tasks = {row[0]: row for row in board.rows(f"SELECT {names} FROM tasks")}
        self.depends = board.rows("SELECT task_id, depends_on_id FROM task_dependencies WHERE removed_seq IS NULL")
        self.blockers = board.rows(
            'SELECT task_id, cause, "class", opened_by, reason, id, resolved_by, opened_seq FROM blockers'
            " WHERE task_id IS NOT NULL ORDER BY opened_seq, id"
        )

    def status(self, id: str) -> str:
        return str(self.tasks[id][2])

    def children(self, id: str) -> list[str]:
        return [row[0] for row in self.tasks.values() if row[1] == id]

    def above(self, id: str) -> list[str]:
        found = []
        while (id := self.tasks[id][1]) is not None:
            found.append(id)
        return found

    def open(self, id: str) -> list[tuple[Any, ...]]:
        return [row for row in self.blockers if row[0] == id and row[6] is None]

    def own(self, id: str) -> bool:
        return any(row[1] != "cascade" for row in self.open(id))


def play(board: Board, step: tuple[Any, ...]) -> str | None:
    """Try one step; the code of its refusal, or None."""
    try:
        if step[0] == "create":
            _, id_, parent, depends, assignee, waits = step
            more = {"parent": parent} if parent else {"group_id": "A"}
            board.task(id_, depends_on=tuple(depends), assignee=assignee, auto_unblock=waits, **more)
        elif step[0] == "move":
            _, id_, status, by, type_ = step
            board.move(id_, status, by=by, reason="why", blocker_type=type_)
        elif step[0] in ("depend", "undepend"):
            board.call(f"task {step[0]}", id=step[1], on=step[2])
        else:
            board.resolve((board.open(step[1]) or ["none"])[-1], by=step[2])
    except OrchestratorError as problem:
        return problem.code
    return None


def holds(facts: Facts) -> None:
    """The rules that hold after every step."""
    for id_, (_, _, status, assignee, former, reason, _) in facts.tasks.items():
        found = facts.open(id_)
        assert (status == "blocked") == bool(found) == (former is not None)
        assert reason == (found[-1][4] if found else None)
        if status == "in_progress":
            assert assignee is not None
            line = (id_, *facts.above(id_))
            assert all(facts.status(on) == "done" for task, on in facts.depends if task in line)
        if status == "done":
            below = [facts.status(child) for child in facts.children(id_)]
            assert set(below) <= {"done", "cancelled"}
            assert not below or "done" in below
        if status == "cancelled":
            assert all(facts.status(child) in ("done", "cancelled") for child in facts.children(id_))
        if any(row[1] == "cascade" for row in found):
            assert any(facts.own(above) for above in facts.above(id_))
    _no_ring(facts)


def _no_ring(facts: Facts) -> None:
    waits: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for id_, parent, *_ in facts.tasks.values():
        waits.setdefault(("end", id_), set()).add(("start", id_))
        waits.setdefault(("start", id_), set())
        if parent is not None:
            waits.setdefault(("end", parent), set()).add(("end", id_))
            waits[("start", id_)].add(("start", parent))
    for task, on in facts.depends:
        waits[("start", task)].add(("end", on))
    while free := [node for node, others in waits.items() if not others & waits.keys()]:
        for node in free:
            del waits[node]
    assert waits == {}


def lifted_rightly(before: Facts, after: Facts, step: tuple[Any, ...]) -> None:
    """Whoever took a blocker away could: its opener or one above, and of a hard one nobody but by cancelling."""
    gone = {row[5] for row in after.blockers if row[6] is not None} - {
        row[5] for row in before.blockers if row[6] is not None
    }
    for task, cause, severity, opener, _, id_, by, _ in after.blockers:
        if id_ not in gone or by == "system:router" or cause == "cascade":
            continue
        cancelled = after.status(task) == "cancelled"
        assert (cancelled and by == "project_manager") or (
            severity == "soft" and (opener == by or by in ABOVE.get(opener, set()))
        ), step


def busy_at_most_once(facts: Facts) -> None:
    running: dict[str, int] = {}
    for _, parent, status, assignee, *_ in facts.tasks.values():
        if status == "in_progress" and parent is None:
            running[assignee] = running.get(assignee, 0) + 1
    assert all(count == 1 for count in running.values())


@_slow
@given(_random)
def test_whatever_is_tried_the_rules_hold(random: Random) -> None:
    board = Board()
    events = board.events()
    for before, step, code in story(board, random):
        after = Facts(board)
        if code is not None:
            assert (after.tasks, after.depends, after.blockers) == (before.tasks, before.depends, before.blockers)
        events += 1
        assert board.events() == events
        holds(after)
        busy_at_most_once(after)
        lifted_rightly(before, after, step)
        assert all(after.tasks[id_][6] >= row[6] for id_, row in before.tasks.items())


@_slow
@given(_random)
def test_a_block_and_its_release_leave_everything_as_it_was(random: Random) -> None:
    board = Board()
    for _ in story(board, random):
        pass
    facts = Facts(board)
    before = {id_: (row[2], row[4], row[5]) for id_, row in facts.tasks.items()}
    for top in [id_ for id_ in facts.tasks if facts.status(id_) == "in_progress"]:
        board.move(top, "blocked", by="project_manager", reason="stop")
        blocked = Facts(board)
        below = [id_ for id_ in facts.tasks if top in facts.above(id_)]
        for id_ in facts.tasks:
            closed = facts.status(id_) in ("done", "cancelled")
            assert blocked.status(id_) == ("blocked" if id_ in [*below, top] and not closed else facts.status(id_))
        for blocker in board.open(top):
            with board.person():
                board.resolve(blocker, by="user")
        after = Facts(board)
        assert {id_: (row[2], row[4], row[5]) for id_, row in after.tasks.items()} == before


@_slow
@given(_random)
def test_told_again_a_story_ends_the_same(random: Random) -> None:
    board, again = Board(), memory_context()
    for _ in story(board, random):
        pass
    told = replay_events.events(board.context)
    replay_events.replay(again, told[len(replay_events.events(again)) :])
    for table in ("tasks", "task_dependencies", "blockers", "notices", "audit_events"):
        assert again.connection.execute(f"SELECT * FROM {table}").fetchall() == board.rows(f"SELECT * FROM {table}")


def test_the_stories_are_no_idle_talk() -> None:
    """What the properties are tried on: most kinds of success and of refusal come about."""
    found: Counter[str] = Counter()
    for seed in range(25):
        board = Board()
        for _, step, code in story(board, Random(seed)):  # noqa: S311 - always the same stories
            found[code or " ".join(step[0:1] if step[0] != "move" else (step[2],))] += 1
    wanted = {
        "create", "depend", "undepend", "resolve", "in_progress", "blocked", "done", "cancelled", "DEPENDENCIES_OPEN",
        "ASSIGNEE_BUSY", "COMPLETION_GATE", "UNBLOCK_NOT_PERMITTED", "NOT_PERMITTED", "ILLEGAL_MOVE",
        "DEPENDENCY_INVALID", "DEPENDENCY_CYCLE",
    }  # fmt: skip
    assert {name for name in wanted if found[name] < 3} == set()
