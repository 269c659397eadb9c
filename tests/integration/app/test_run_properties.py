"""Random runs in two sessions, against a small model that knows only states, places, locks and who asked."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any, NamedTuple

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator.errors import OrchestratorError
from tests import persons
from tests.conftest import LONG
from tests.integration.app.track import CHAT, OTHER, OWNER, SEEN, Track, facts

CAPACITY = 2
PATHS = ("/a", "/b")
OPEN = ("queued", "running", "awaiting_response")
ENDED = ("complete", "incomplete", "error", "cancelled")
ENDS = {
    "complete": "complete", "incomplete": "incomplete", "nothing": "incomplete", "asks nobody": "incomplete",
    "asks": "awaiting_response", "error": "error", "timeout": "error", "prompt": "error", "foreign": "error",
    "cancelled": "cancelled",
}  # fmt: skip
"""What comes of what is seen."""
AGREES = {
    "running": {"in_progress"}, "awaiting_response": {"blocked"}, "complete": {"done"}, "error": {"blocked"},
    "incomplete": {"in_progress"}, "cancelled": {"cancelled"},
}  # fmt: skip
"""Which status a task has by the last run of it that was begun, where nobody else had a hand in it."""
TASKS = {"UNBLOCK_NOT_PERMITTED", "ILLEGAL_MOVE", "COMPLETION_GATE", "ASSIGNEE_BUSY"}
"""Why a task may refuse what its run would allow: somebody else had a hand in it."""
STEPS = ("queue", "add", "start", "finish", "hold", "cancel", "again", "unanswered", "abandon", "answer", "meddle")
WEIGHTS = (10, 2, 18, 10, 5, 3, 5, 2, 2, 8, 2)

_slow = settings(max_examples=100 if LONG else 10, suppress_health_check=[HealthCheck.too_slow])
_random = st.randoms(use_true_random=False)


class Known(NamedTuple):
    """What the model knows of a run."""

    session: str
    task: str
    state: str
    locks: tuple[tuple[str, str], ...] = ()


class Model:
    """Runs by their ids in the order in which they were queued, and the tasks that somebody else had a hand in.

    ended: sessions; as no process has one open here, an answer ends the one in which it leaves nothing open.
    """

    def __init__(self) -> None:
        self.runs: dict[str, Known] = {}
        self.touched: set[tuple[str, str]] = set()
        self.ended: set[str] = set()

    def session(self, step: tuple[Any, ...]) -> str:
        return str(step[1]) if step[0] == "queue" else self.runs[step[1]].session

    def of_task(self, run: str) -> list[str]:
        return [id_ for id_, each in self.runs.items() if each[:2] == self.runs[run][:2]]

    def busy(self, run: str) -> bool:
        return any(self.runs[each].state in OPEN for each in self.of_task(run))

    def closed(self, run: str) -> bool:
        return any(self.runs[each].state in ("complete", "cancelled") for each in self.of_task(run))

    def running(self) -> list[Known]:
        return [each for each in self.runs.values() if each.state == "running"]

    def against(self, locks: tuple[tuple[str, str], ...]) -> bool:
        held = [lock for each in self.running() for lock in each.locks]
        return any(path == other and "write" in (mode, asked) for path, mode in locks for other, asked in held)


def any_step(random: Random, model: Model) -> tuple[Any, ...]:
    """A step that may well be possible, on runs that exist."""
    kind = random.choices(STEPS, WEIGHTS)[0] if model.runs else "queue"
    if kind == "queue":
        return kind, random.choice((CHAT, OTHER))
    likely = {
        "start": ("queued",), "hold": ("queued",), "finish": ("running",), "abandon": ("running",),
        "unanswered": ("awaiting_response",), "cancel": ("queued", "awaiting_response"),
        "again": ("incomplete", "error"), "add": ("incomplete", "error"),
        "answer": ("awaiting_response", "incomplete", "error"),
    }.get(kind, OPEN)  # fmt: skip
    fit = [id_ for id_, each in model.runs.items() if each.state in likely]
    run = random.choice(fit) if fit and random.random() < 0.9 else random.choice(list(model.runs))
    if kind == "start":
        locks = tuple((path, random.choice(("read", "write"))) for path in PATHS if random.random() < 0.35)
        return kind, run, locks
    if kind == "finish":
        return kind, run, random.choice(list(SEEN))
    if kind == "hold":
        return kind, run, random.choice(("awaiting_response", "incomplete", "error"))
    if kind == "abandon":
        return kind, run, random.choice((OWNER, OWNER, "another:1:2"))
    if kind == "answer":
        return kind, run, random.choice(("continue", "continue", "revise", "abandon"))
    if kind == "again":
        return kind, run, random.choice(("user", "system:runner"))
    if kind == "meddle":
        return kind, run, random.choice(("blocked", "blocked", "in_progress", "cancelled"))
    return kind, run


def play(track: Track, model: Model, step: tuple[Any, ...]) -> tuple[str | None, Any]:
    """Try one step: the code of its refusal or None, and what it answered."""
    kind, *given = step
    try:
        return None, _ACTS[kind](track, model, *given)
    except OrchestratorError as problem:
        return problem.code, None
    finally:
        track.context.credential = None


def _finish(track: Track, model: Model, run: str, seen: str) -> Any:
    return track.finish(run, facts("IMPLEMENTATION", **SEEN[seen]))


def _again(track: Track, model: Model, run: str, by: str) -> str:
    if by == "user":
        persons.sit(track.context)
    return track.again(run, by=by)


def _answer(track: Track, model: Model, run: str, decision: str) -> Any:
    question = track.run(run).question_id
    return track.answer(question or "none", decision)


def _meddle(track: Track, model: Model, run: str, status: str) -> Any:
    known = model.runs[run]
    given = {"id": known.task, "session_id": known.session, "by": "user", "status": status}
    answer = track.person("task set-status", reason="for a reason", **given)
    model.touched.add(known[:2])
    if status == "cancelled":
        # What no executor works on ends with its task.
        for id_ in model.of_task(run):
            if model.runs[id_].state in ("queued", "awaiting_response"):
                model.runs[id_] = model.runs[id_]._replace(state="cancelled")
    return answer


_ACTS: dict[str, Any] = {
    "queue": lambda track, model, session: track.queue(session=session),
    "add": lambda track, model, run: track.queue(session=model.runs[run].session, task=model.runs[run].task),
    "start": lambda track, model, run, locks: track.start(run, capacity=CAPACITY, locks=locks),
    "finish": _finish,
    "hold": lambda track, model, run, state: track.hold(run, state),
    "cancel": lambda track, model, run: track.cancel(run),
    "again": _again,
    "unanswered": lambda track, model, run: track.unanswered(run),
    "abandon": lambda track, model, run, owner: track.abandon(run, owner),
    "answer": _answer,
    "meddle": _meddle,
}


def expected(track: Track, model: Model, step: tuple[Any, ...]) -> set[str | None]:
    """The codes with which a step may be answered; None alone where it has to succeed."""
    may = _expected(track, model, step)
    return may if model.session(step) not in model.ended else {"SESSION_CLOSED", *(may - {None})}


def _expected(track: Track, model: Model, step: tuple[Any, ...]) -> set[str | None]:
    kind, run, *more = step
    if kind in ("queue", "meddle"):
        return {None} if kind == "queue" else {None, *TASKS}
    known = model.runs[run]
    hands_off: set[str | None] = {None} if known[:2] not in model.touched else {None, *TASKS}
    if kind in ("add", "again"):
        if model.busy(run) or (model.closed(run) and known[:2] not in model.touched):
            return {"ILLEGAL_MOVE"}
        if kind == "again" and known.state not in ("incomplete", "error", "cancelled"):
            return {"ILLEGAL_MOVE"}
        # An error that nobody understands is a person's to try again.
        return hands_off | ({"UNBLOCK_NOT_PERMITTED"} if kind == "again" and more[0] != "user" else set())
    if kind == "answer":
        asked = track.run(run).question_id
        return {"UNKNOWN_ID"} if asked is None else {*hands_off, "QUESTION_CLOSED"} - _open(track, asked)
    legal = {
        "start": ("queued",), "hold": ("queued",), "finish": ("running",), "abandon": ("running",),
        "unanswered": ("awaiting_response",), "cancel": ("queued", "awaiting_response"),
    }[kind]  # fmt: skip
    if known.state not in legal or (kind == "abandon" and more[0] != OWNER):
        return {"ILLEGAL_MOVE"}
    if kind == "start" and len(model.running()) >= CAPACITY:
        return {"E404"}
    if kind == "start" and model.against(more[0]):
        return {"E401"}
    if kind in ("start", "hold"):
        return hands_off | {"UNBLOCK_NOT_PERMITTED"} if _hard(track, *known[:2]) else hands_off
    return {None}


def _open(track: Track, question: str) -> set[str | None]:
    """What cannot be: an open question is not closed, a closed one is not answered."""
    closed = track.one("SELECT closed_seq FROM questions WHERE id = ?", question) is not None
    return {None, *TASKS} if closed else {"QUESTION_CLOSED"}


def _hard(track: Track, session: str, task: str) -> bool:
    sql = 'SELECT 1 FROM blockers WHERE session_id = ? AND task_id = ? AND "class" = ? AND resolved_seq IS NULL'
    return bool(track.rows(sql, session, task, "hard"))


def follow(track: Track, model: Model, step: tuple[Any, ...], answer: Any) -> None:
    """What the model makes of a step that succeeded."""
    kind, run, *more = step
    if kind in ("queue", "add", "again"):
        row = track.run(answer)
        model.runs[answer] = Known(row.session_id, row.task_id, "queued")
        return
    known = model.runs[run]
    if kind == "answer":
        _answered(track, model, run, more[0])
        _ended(track, model, known.session)
        return
    to = {
        "start": "running", "cancel": "cancelled", "unanswered": "incomplete", "abandon": "error",
        "finish": ENDS.get(more[0]) if kind == "finish" else None, "hold": more[0] if kind == "hold" else None,
    }.get(kind)  # fmt: skip
    if to is not None:
        model.runs[run] = known._replace(state=to, locks=more[0] if kind == "start" else ())


def _answered(track: Track, model: Model, run: str, decision: str) -> None:
    known = model.runs[run]
    if known.state == "awaiting_response":
        model.runs[run] = known._replace(state="cancelled" if decision == "abandon" else "queued")
    elif decision == "abandon":
        model.touched.add(known[:2])
    else:
        (new,) = track.rows("SELECT id FROM runs WHERE retry_of = ? ORDER BY created_seq DESC LIMIT 1", run)[0]
        model.runs[new] = Known(known.session, known.task, "queued")


def _ended(track: Track, model: Model, session: str) -> None:
    asked = track.rows("SELECT 1 FROM questions WHERE session_id = ? AND closed_seq IS NULL", session)
    if not asked and not any(each.state in OPEN for each in model.runs.values() if each.session == session):
        model.ended.add(session)
        # What is left of it is cancelled.
        model.touched |= {each[:2] for each in model.runs.values() if each.session == session}


def holds(track: Track, model: Model) -> None:
    """What holds after every step."""
    ended = track.rows("SELECT id FROM sessions WHERE status = 'ended'")
    assert {row[0] for row in ended} == model.ended
    states = track.rows("SELECT id, session_id, task_id, state FROM runs")
    assert {row[0]: row[1:] for row in states} == {id_: each[:3] for id_, each in model.runs.items()}
    assert {row[3] for row in states} <= {*OPEN, *ENDED}
    assert len(model.running()) <= CAPACITY
    held = track.rows("SELECT path, mode, run_id FROM run_locks WHERE released_seq IS NULL")
    locks = [(*lock, id_) for id_, each in model.runs.items() if each.state == "running" for lock in each.locks]
    assert sorted(held) == sorted(locks)
    for path in PATHS:
        modes = [mode for other, mode, _ in held if other == path]
        assert "write" not in modes or len(modes) == 1
    assert track.rows(
        "SELECT r.id FROM runs r WHERE r.ended_at IS NOT NULL AND (r.state NOT IN (?, ?, ?, ?)"
        " OR (r.state <> 'complete' AND coalesce(r.error_reason, '') = '') OR r.executor_status IS NULL"
        " OR NOT EXISTS (SELECT 1 FROM run_events e WHERE e.run_id = r.id AND e.seq = r.state_seq))",
        *ENDED,
    ) == []  # fmt: skip
    assert track.rows(
        "SELECT r.id FROM runs r LEFT JOIN questions q ON q.id = r.question_id AND q.closed_seq IS NULL"
        " WHERE r.state = 'awaiting_response' AND q.id IS NULL"
    ) == []  # fmt: skip
    _tasks_agree(track, model)


def _tasks_agree(track: Track, model: Model) -> None:
    found = {(row[0], row[1]): row[2] for row in track.rows("SELECT session_id, id, status FROM tasks")}
    last: dict[tuple[str, str], str] = {}
    for each in model.runs.values():
        if each.state != "queued":
            last[each[:2]] = each.state
    opened = Counter(each[:2] for each in model.runs.values() if each.state in OPEN)
    assert set(opened.values()) <= {1}
    for task, state in last.items():
        again = any(each[:2] == task and each.state == "queued" for each in model.runs.values())
        if task not in model.touched and not again:
            # A run that ends before its executor leaves a hard block of an earlier one where it is.
            more = {"blocked"} if state == "incomplete" and _hard(track, *task) else set()
            assert found[task] in AGREES[state] | more, (task, state)


def story(random: Random, length: int) -> tuple[Track, list[tuple[str, str | None]]]:
    """Steps that are tried one after another, each compared with the model."""
    track, model, codes = Track(), Model(), []
    for _ in range(length):
        step = any_step(random, model)
        may = expected(track, model, step)
        before = track.everything("audit_events", "refusals")
        code, answer = play(track, model, step)
        codes.append((step[0], code))
        assert code in may, (step, code, may)
        if code is None:
            follow(track, model, step, answer)
        else:
            assert track.everything("audit_events", "refusals") == before
        holds(track, model)
    return track, codes


@_slow
@given(_random)
def test_property_6_8_26_whatever_is_tried_the_rules_hold(random: Random) -> None:
    track, _ = story(random, 20)
    made = track.rows("SELECT id FROM runs ORDER BY queued_at, id")
    numbers = [int(row[0].removeprefix("task-")) for row in made]
    assert numbers == sorted(set(numbers))
    for session in (CHAT, OTHER):
        logs = track.rows("SELECT log_id FROM runs WHERE session_id = ? ORDER BY created_seq", session)
        assert logs == [(f"task-{number:03d}",) for number in range(1, len(logs) + 1)]


@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])
@given(_random)
def test_told_again_a_story_of_runs_ends_the_same(random: Random) -> None:
    track, _ = story(random, 25)
    track.told_again()


def test_the_stories_are_no_idle_talk() -> None:
    found: Counter[tuple[str, str | None]] = Counter()
    for seed in range(12):
        found.update(story(Random(seed), 40)[1])  # noqa: S311 - always the same stories
    wanted = [*((kind, None) for kind in STEPS), ("start", "E404"), ("start", "E401"), ("start", "ILLEGAL_MOVE"),
              ("finish", "ILLEGAL_MOVE"), ("add", "ILLEGAL_MOVE"), ("again", "UNBLOCK_NOT_PERMITTED")]  # fmt: skip
    assert [each for each in wanted if not found[each]] == []
