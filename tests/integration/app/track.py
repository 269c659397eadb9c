"""Sessions whose tasks are run, and short words for what the runner, and people, do to the runs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from orchestrator import errors
from orchestrator.app.audit import replay_comparison, replay_events
from orchestrator.app.kernel import operations
from orchestrator.app.running import finish_run, preflight, run_queue, run_session, start_run
from orchestrator.core.running.facts import Facts, File
from orchestrator.store import run_reader, schema
from orchestrator.store.run_reader import Run
from orchestrator.testing import Clock, memory_context
from tests import persons

CHAT, OTHER, WORK = "C1", "C2", "S1"
"""Two chats, and a session with the group A."""
ROOT = "/project"
OWNER = "host:7:1"
RECORD = ("audit_events", "refusals")
TABLES = tuple(table.name for table in schema.metadata.sorted_tables)


@functools.cache
def _template() -> bytes:
    context = memory_context()
    for chat in (CHAT, OTHER):
        operations.call(context, "session create", id=chat, kind="chat")
    operations.call(context, "session create", id=WORK)
    operations.call(context, "group create", id="A", session_id=WORK)
    return bytes(context.connection.serialize())


def facts(type: str = "IMPLEMENTATION", status: str = "COMPLETE", output: str = "", **more: Any) -> Facts:
    """What the runner saw of an executor that ended by itself; by its session's id where none is given."""
    more.setdefault("exit_code", 0)
    return Facts(type, status, output=output, **{"tests_required": False, **more})


NEW_FILE = (File("a.md", True),)
SEEN: dict[str, dict[str, Any]] = {
    "complete": {"output": "It is written.", "verified": NEW_FILE},
    "incomplete": {"status": "INCOMPLETE", "output": "Half of it is written.", "verified": NEW_FILE},
    "nothing": {"output": "It is written."},
    "error": {"status": "ERROR", "error": "no disk"},
    "timeout": {
        "status": "ERROR", "exit_code": None, "signal": 15, "executor_blocked": True, "blocked_reason": "TIMEOUT",
        "timeout_ms": 60000, "limit": "executor_timeout",
    },
    "prompt": {
        "status": "ERROR", "exit_code": None, "signal": 15, "executor_blocked": True,
        "blocked_reason": "INTERACTIVE_PROMPT", "timeout_ms": 2000,
    },
    "foreign": {"foreign": ("b.md",), "verified": NEW_FILE},
    "asks": {"status": "INCOMPLETE", "output": "Which of the two?", "interactive": True},
    "asks nobody": {"status": "INCOMPLETE", "output": "Which of the two?"},
    "cancelled": {"status": "INCOMPLETE", "exit_code": None, "cancelled": True},
}  # fmt: skip
"""What may be seen of a run, by what comes of it."""


class Track:
    """Runs in one database; what is not said concerns the first chat."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.clock.seconds = 1000
        self.context = memory_context(self.clock, content=_template())

    # The runner

    def queue(
        self, prompt: str = "create a.md", type: str = "IMPLEMENTATION", session: str = CHAT, **more: Any
    ) -> str:
        given = {"executor": "fake", "provider": "claude-code", "root": ROOT, **more}
        answer = operations.ask(
            self.context, run_queue.QueueRun(session_id=session, prompt=prompt, task_type=type, **given)
        )
        return str(answer["run"])

    def start(self, run: str, *, capacity: int = 4, locks: Any = ((ROOT, "write"),), owner: str = OWNER) -> None:
        session = self.run(run).session_id
        operations.ask(
            self.context, start_run.StartRun(session_id=session, id=run, owner=owner, capacity=capacity, locks=locks)
        )

    def begun(self, *args: Any, **given: Any) -> str:
        """A run that runs."""
        run = self.queue(*args, **given)
        self.start(run, locks=())
        return run

    def finish(self, run: str, seen: str | Facts = "complete", **more: Any) -> dict[str, Any]:
        known = self.run(run)
        found = seen if isinstance(seen, Facts) else facts(known.task_type, **SEEN[seen])
        if found.session is None and not found.executor_blocked and not found.cancelled:
            found = found._replace(session=known.session_id)
        found = found._replace(issued_session=known.session_id)
        files = [
            {"path": each.path, "change": "new", "present": each.exists, "detected_at": "t", "detection_method": "diff"}
            for each in found.verified
        ]  # fmt: skip
        given: dict[str, Any] = {"log": [], "files": files, "evidence": [], **more}
        return finish_run.finish(self.context, session_id=known.session_id, id=run, facts=found, **given)

    def ended(self, seen: str | Facts = "complete", *args: Any, **given: Any) -> str:
        """A run that was queued, started and finished."""
        run = self.begun(*args, **given)
        self.finish(run, seen)
        return run

    def hold(self, run: str, state: str = "awaiting_response", **more: Any) -> dict[str, Any]:
        given = {"reason": "it is not clear", "executor_status": "INCOMPLETE", **more}
        if state == "awaiting_response":
            given.setdefault("question", "Which file?")
        return operations.ask(
            self.context, preflight.HoldRun(session_id=self.run(run).session_id, id=run, state=state, **given)
        )

    def cancel(self, run: str, reason: str = "no need", **more: Any) -> dict[str, Any]:
        return operations.ask(
            self.context, run_queue.CancelRun(session_id=self.run(run).session_id, id=run, **{"reason": reason, **more})
        )

    def again(self, run: str, **more: Any) -> str:
        answer = operations.ask(self.context, run_queue.RetryRun(session_id=self.run(run).session_id, id=run, **more))
        return str(answer["run"])

    def unanswered(self, run: str) -> dict[str, Any]:
        return operations.ask(self.context, run_queue.EndUnanswered(session_id=self.run(run).session_id, id=run))

    def abandon(self, run: str, owner: str = OWNER) -> dict[str, Any]:
        return start_run.abandon(self.context, session_id=self.run(run).session_id, id=run, owner=owner, gone=True)

    def choose(self, provider: str, model: str | None, session: str = CHAT) -> dict[str, Any]:
        return operations.ask(
            self.context, run_session.ChooseProvider(session_id=session, provider=provider, model=model)
        )

    # People

    def person(self, words: str, **given: Any) -> dict[str, Any]:
        """An operation of a person at a terminal."""
        persons.sit(self.context)
        try:
            return operations.call(self.context, words, **given)
        finally:
            self.context.credential = None

    def answer(self, question: str, decision: str, note: str = "so be it") -> dict[str, Any]:
        return self.person("answer", id=question, decision=decision, note=note)

    # What there is

    def run(self, id: str) -> Run:
        found = run_reader.by_id(self.context.connection, id)
        assert found is not None
        return found

    def state(self, *ids: str) -> list[str]:
        return [self.run(id_).state for id_ in ids]

    def task(self, run: str) -> str:
        """The status of the task of a run."""
        known = self.run(run)
        sql = "SELECT status FROM tasks WHERE session_id = ? AND id = ?"
        return str(self.one(sql, known.session_id, known.task_id))

    def log(self, run: str) -> list[tuple[str, str]]:
        known = self.run(run)
        found = run_reader.events(self.context.connection, known.session_id, run)
        return [(row["kind"], row["text"]) for row in found]

    def questions(self, run: str) -> list[tuple[Any, ...]]:
        """Kind and answer of what was asked about a run's task; no answer where it is open."""
        return self.rows("SELECT kind, answer FROM questions WHERE task_id = ? AND session_id = ? ORDER BY opened_seq",
                         self.run(run).task_id, self.run(run).session_id)  # fmt: skip

    def blockers(self, run: str) -> list[tuple[str, str, str]]:
        """Type, class and opener of the open blockers of a run's task."""
        return self.rows(
            'SELECT type, "class", opened_by FROM blockers WHERE task_id = ? AND session_id = ?'
            " AND resolved_seq IS NULL ORDER BY opened_seq",
            self.run(run).task_id, self.run(run).session_id,
        )  # fmt: skip

    def held(self) -> list[tuple[str, str, str, str]]:
        return run_reader.held(self.context.connection)

    def rows(self, sql: str, *given: Any) -> list[tuple[Any, ...]]:
        return list(self.context.connection.execute(sql, given).fetchall())

    def one(self, sql: str, *given: Any) -> Any:
        return self.rows(sql, *given)[0][0]

    def everything(self, *without: str) -> dict[str, list[tuple[Any, ...]]]:
        return {name: self.rows(f"SELECT * FROM {name}") for name in TABLES if name not in without}

    def refused(self, call: Callable[[], object], code: str) -> errors.OrchestratorError:
        """A call that must be turned down: nothing but the refusal, and its event, may be new afterwards."""
        before = self.everything(*RECORD)
        counts = [len(self.rows(f"SELECT 1 FROM {name}")) for name in RECORD]
        with pytest.raises(errors.OrchestratorError) as caught:
            call()
        assert caught.value.code == code, caught.value.message
        assert self.everything(*RECORD) == before
        assert [len(self.rows(f"SELECT 1 FROM {name}")) for name in RECORD] == [count + 1 for count in counts]
        assert self.one("SELECT code FROM refusals ORDER BY rowid DESC LIMIT 1") == code
        return caught.value

    def told_again(self) -> None:
        """The record, told again into another database, makes the same rows; a session alone does so as well."""
        told, again = replay_events.events(self.context), memory_context()
        replay_events.replay(again, told[len(replay_events.events(again)) :])
        for name, rows in self.everything().items():
            found = again.connection.execute(f"SELECT * FROM {name}").fetchall()
            assert sorted(found, key=repr) == sorted(rows, key=repr), name
        for session in (CHAT, OTHER, WORK):
            answer = replay_comparison.replay(self.context, session_id=session, strict=True)
            assert (answer["differences"], answer["exit_code"]) == ([], 0)


def in_state(track: Track, state: str) -> str:
    """A run of a task of its own in a state."""
    run = track.queue()
    if state == "awaiting_response":
        track.hold(run)
    elif state != "queued":
        track.start(run, locks=())
        if state != "running":
            track.finish(run, state)
    assert track.state(run) == [state]
    return run


@pytest.fixture
def track() -> Iterator[Track]:
    """A track of the test's own, whose whole record is told again at the end."""
    made = Track()
    yield made
    made.told_again()
