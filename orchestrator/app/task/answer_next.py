"""What an agent does next: the facts are read in one view of the database, the rules decide, and nothing is written.

Source: seed 002, 完了時チェック and pendingSubTasks の依存関係フィルタリング.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from orchestrator.app.engine import decision_views as decided
from orchestrator.app.kernel.context import Answer, Context, Work
from orchestrator.app.task import next_waits
from orchestrator.core import names, permissions, tasks
from orchestrator.core import next_action as rules
from orchestrator.core.next_facts import Barrier, Facts, Item, Turn, Worker
from orchestrator.core.permissions import Standing
from orchestrator.core.routing.facts import ROUTER, Session
from orchestrator.core.suggestions import again, suggest
from orchestrator.core.tasks import Task
from orchestrator.errors import Refused, UsageError
from orchestrator.hints import Any, TypeVar
from orchestrator.store import next_reader, task_reader
from orchestrator.store.reader import Agent

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")
_LOOKED_AT = 20
"""How many other tasks of an agent that waits are looked at, to see whether one can go on."""
_TURNS_NAMED = 5
"""How many open turns an agent is told of at a time: only one that stands for its role has more than one."""


def next_action(
    context: Context, *, session_id: str, agent_id: str | None = None, task: str | None = None,
    group_id: str | None = None,
) -> Answer:
    """What an agent does next, or without an agent with which commands a session goes on.

    Args:
        agent_id: who asks.
        task: the task to ask about; else the agent's task in progress, else its blocked one.
        group_id: without an agent, only this group.

    Returns:
        For an agent `action`, `state`, `instruction`, the keys of the action, `turns`, `progress`, `notices`;
        without one what
        `orchestrator.app.verdict.postflight.postflight` answers.

    Raises:
        Refused: UNKNOWN_SESSION, UNKNOWN_AGENT, UNKNOWN_TASK, UNKNOWN_GROUP, NOT_PERMITTED (another session's or
            group's agent; a task that is neither the agent's nor below it). UsageError: USAGE.

    Source: seed 002, 完了時チェック; seed 003, Recommendations 2.
    """
    if agent_id is None:
        if task is not None:
            raise UsageError("USAGE", "--task needs an agent who asks about it.", again(agent_id="AGENT"))
        from orchestrator.app.verdict import postflight

        return postflight.postflight(context, session_id, group_id)
    if group_id is not None:
        raise UsageError("USAGE", "--group-id is not for an agent's next action.", again(task="TASK"))
    with _one_view(context):
        session = context.require_session(session_id)
        agent = _agent(context, session_id, agent_id)
        asked = _task(context, session_id, task) if task is not None else None
        if asked is not None:
            _refuse_stranger(context, session_id, agent, asked)
        return {"success": True, **answer(context, session_id, agent, asked, session)}


def answer(
    asked: Work | Context, session_id: str, agent: Agent, task: Task | None, session: Session | None = None
) -> dict[str, Any]:
    """The next action of an agent about a task, or about its own where none is given, as `next` answers it.

    Args:
        asked: a step under way, whose own writes count, or a context.
        session: as it was read in the same view, where it was.

    Source: seed 002, 完了時チェック.
    """
    context = asked.context if isinstance(asked, Work) else asked
    now = asked.at if isinstance(asked, Work) else context.clock()
    standing = task_reader.standing(context.connection, agent.id)
    assert standing is not None  # noqa: S101 - its caller has required the agent
    reading = _Reading(context, session_id, standing, now)
    if session is not None:
        reading.sessions[session_id] = session
    return rules.answer(reading.facts(task))


@contextmanager
def _one_view(context: Context) -> Iterator[None]:
    """One state of the database for all statements, whoever writes meanwhile."""
    if context.connection.in_transaction:
        yield
        return
    context.connection.execute("BEGIN")
    try:
        yield
    finally:
        context.connection.execute("ROLLBACK")


def _agent(context: Context, session: str, agent_id: str) -> Agent:
    agent = context.reader.agent(agent_id)
    if agent is None or not agent.active:
        what = "is not registered" if agent is None else "is deactivated"
        raise Refused("UNKNOWN_AGENT", f"Agent {agent_id} {what}.", suggest("agent list"))
    if agent.session_id not in (None, session):
        raise Refused(
            "NOT_PERMITTED", f"Agent {agent_id} acts in session {agent.session_id} only.",
            suggest("next", session_id=agent.session_id, agent_id=agent_id),
        )
    return agent


def _task(context: Context, session: str, task_id: str) -> Task:
    found = task_reader.task(context.connection, session, task_id)
    if found is None:
        near = names.nearest(task_id, task_reader.known(context.connection, session))
        message = f"Session {session} has no task {names.shown(task_id)}."
        raise Refused("UNKNOWN_TASK", message, suggest("task list", session_id=session), did_you_mean=near)
    return found


def _refuse_stranger(context: Context, session: str, agent: Agent, task: Task) -> None:
    """A task is its assignee's, and a matter of those above the assignee; one that nobody has is anybody's."""
    where = f"group {task.group_id}"
    if agent.group_id is not None and task.group_id not in (None, agent.group_id):
        why = f"{agent.id} acts in group {agent.group_id} only, and task {task.id} is in {where}"
    else:
        requester = task_reader.standing(context.connection, agent.id)
        owner = task_reader.standing(context.connection, task.assignee) if task.assignee else None
        assert requester is not None  # noqa: S101 - the agent was read just now
        person = agent.kind == "human"
        found = permissions.move(requester, owner, task.assignee, person=person, starts=task.assignee is None)
        if found.allowed:
            return
        why = f"{found.why}; {agent.id} is not the one, nor above"
    raise Refused("NOT_PERMITTED", f"{why}.", suggest("task show", id=task.id, session_id=session))


class _Once(dict[_Key, _Value]):
    """Answers that are asked for once each. It costs nothing to make, as a cached function would."""

    def __init__(self, ask: Callable[[_Key], _Value]) -> None:
        super().__init__()
        self.ask = ask

    def __missing__(self, key: _Key) -> _Value:
        found = self[key] = self.ask(key)
        return found


class _Reading:
    """Reads the facts of one question, each at most once, and what is expensive only when it is asked for."""

    def __init__(self, context: Context, session: str, asker: Standing, now: str) -> None:
        self.reader = context.reader
        self.connection = context.connection
        self.session = session
        self.asker = asker
        self.now = now
        self.waiting_group = _Once(self._waiting_group)
        self.waits_from = _Once(self._waits_from)
        self.takes_part = _Once(self._takes_part)
        self.lets_begin = _Once(self._lets_begin)
        self.standing = _Once(self._standing)
        self.sessions = _Once(self._session)

    def facts(self, task: Task | None) -> Facts:
        """What the rules are told."""
        main = None if self._status() == "ended" else task or self._own_main()
        facts = self._facts(main)
        drop = functools.partial(next_waits.dropper, self.reader, self.session, self.asker)
        return facts._replace(
            dropper=drop, elsewhere=functools.partial(_Once(self._elsewhere).__getitem__, main),
            parted=self._parted, person=functools.partial(next_reader.only_person, self.connection),
            turns=functools.cache(self._turns),
        )  # fmt: skip

    def _status(self) -> str:
        return self.sessions[self.session].status

    def _parted(self, task: Task) -> bool:
        """Whether a subtask has parts of which not all are closed, or none is done."""
        counts = next_reader.counts(self.connection, self.session, task.id)
        return bool(counts) and (not counts.get(tasks.DONE) or not set(counts) <= set(tasks.CLOSED))

    def _turns(self) -> tuple[Turn, ...]:
        """The open turns of the asker, in the order of their groups, the session's first; a few are named."""
        if self._status() == "ended":
            return ()
        found = next_reader.turns(self.connection, self.session, self.asker)[:_TURNS_NAMED]
        return tuple(self._started(turn) for turn in found)

    def _started(self, turn: Turn) -> Turn:
        """The turn with whom the decision started for it."""
        given = decided.spawn(self.reader, self.session, turn.group_id, turn.number)
        entry: dict[str, Any] = given[1] if given else {}
        action = given[0]["action"] if given else None
        agent, agent_id, model = (entry.get(name) for name in ("agent", "agent_id", "model"))
        return turn._replace(agent=agent or self.asker.role, agent_id=agent_id, model=model, action=action)

    def _session(self, session: str) -> Session:
        found = self.reader.session(session)
        assert found is not None  # noqa: S101 - its caller has required the session
        return found

    def _standing(self, agent: str) -> Standing | None:
        return task_reader.standing(self.connection, agent)

    def has_place(self, role: str) -> bool:
        """Whether the session has work for a role."""
        return role not in self.sessions[self.session].disabled_roles

    def _own_main(self) -> Task | None:
        found = next_reader.main_tasks(self.connection, self.session, self.asker.id, tasks.IN_PROGRESS)
        found = found or next_reader.main_tasks(self.connection, self.session, self.asker.id, tasks.BLOCKED)
        return found[0] if found else None

    def _elsewhere(self, main: Task | None) -> str | None:
        """Another task of the asker's that can go on: one in progress, else a pending one; a few are looked at."""
        at_work = next_reader.main_tasks(self.connection, self.session, self.asker.id, tasks.IN_PROGRESS)
        pending = next_reader.own_elsewhere(self.connection, self.session, self.asker, main and main.id)
        others = [*(task for task in at_work if task != main), *filter(self.lets_begin.__getitem__, pending)]
        return next((task.id for task in others[:_LOOKED_AT] if self._goes_on(task)), None)

    def _goes_on(self, task: Task) -> bool:
        return rules.answer(self._facts(task))["action"] not in (*rules.WAITING, "no_work")

    def _facts(self, main: Task | None) -> Facts:
        facts = Facts(
            self.session, self.asker.id, self.now,
            manager=next_reader.leads(self.connection, self.asker),
            question=self._question(main),
            notices=next_reader.notices(self.connection, self.session, self.asker),
        )  # fmt: skip
        if facts.question is not None:
            return facts._replace(main=main and Item(main), counts=self._counts(main))
        return self._about(facts, main) if main else self._without(facts)

    def _question(self, main: Task | None) -> Any:
        if main is None:
            group = self.asker.group_id
            return next_reader.question(self.connection, self.session, None, group) if group else None
        return task_reader.question(self.connection, self.session, main.id, main.group_id)

    def _counts(self, main: Task | None) -> dict[str, int]:
        return next_reader.counts(self.connection, self.session, main.id) if main else {}

    def _without(self, facts: Facts) -> Facts:
        """The facts of an agent that has no task."""
        status = self._status()
        busy = self._busy(None)
        if status != "active":
            return facts._replace(why_none=f"Session {self.session} {'has' if status == 'ended' else 'is'} {status}.")
        if not self.has_place(self.asker.role):
            return facts._replace(why_none=f"Session {self.session} does without {self.asker.role}.")
        if busy:
            return facts._replace(why_none=f"{self.asker.id} has its hands full with {', '.join(busy[:5])}.")
        found = candidate(self)
        if found is not None:
            return facts._replace(candidate=found)
        count = next_reader.pending(self.connection, self.session)
        others = f"Each pending task ({count}) waits for other work, or is others'." if count else "No task is pending."
        end = next_reader.dead_end(self.connection, self.session, self.asker, all=facts.manager)
        return facts._replace(why_none=others, dead_end=end)

    def _about(self, facts: Facts, main: Task) -> Facts:
        """The facts about a task and what is below it."""
        counts = self._counts(main)
        waiting = next_waits.Waiting(self.reader, self.session, main)
        facts = facts._replace(
            main=self._item(main), counts=counts, busy=() if main.status == tasks.IN_PROGRESS else self._busy(main),
            walk=waiting.walk, describe=waiting.describe,
        )  # fmt: skip
        if counts.get(tasks.IN_PROGRESS):
            working = next_reader.of_status(self.connection, self.session, main.id, tasks.IN_PROGRESS)
            facts = facts._replace(working=tuple(working))
        facts = facts._replace(gone=frozenset(self._gone(main, *facts.working)))
        if counts.get(tasks.BLOCKED):
            blocked = next_reader.of_status(self.connection, self.session, main.id, tasks.BLOCKED)
            facts = facts._replace(blocked=tuple(map(self._item, blocked)))
        if counts.get(tasks.TODO) or counts.get(tasks.BACKLOG):
            facts = facts._replace(
                ready=next_reader.ready(
                    self.connection, self.session, main.id, self.asker, self._lets_below, all=facts.manager
                )
            )
        return facts._replace(workers=self._workers(facts)) if facts.manager else facts

    def _gone(self, *working: Task) -> Iterator[str]:
        """Who of those that have tasks in progress is out of service."""
        for name in {task.holder for task in working if task.holder and task.status == tasks.IN_PROGRESS}:
            found = self.standing[name]
            if found is None or not found.active:
                yield name

    def _workers(self, facts: Facts) -> tuple[Worker, ...]:
        task = facts.ready or (facts.main.task if facts.main and not facts.counts else None)
        if task is None or task.assignee == self.asker.id:
            return ()
        assigned = self._at_hand(task.assignee)
        if assigned:
            return () if self._busy(task) else assigned
        # Who has the main task has its subtasks at hand; they take no room of their own.
        owner = facts.main.task.assignee if facts.main else None
        first = self._at_hand(owner) if owner not in (None, self.asker.id) else ()
        others = (each for each in next_reader.workers(self.connection, self.asker) if each.id != owner)
        return (*first, *(each for each in others if self.has_place(each.role)))

    def _at_hand(self, agent: str | None) -> tuple[Worker, ...]:
        found = self.standing[agent] if agent else None
        fits = found is not None and found.active and self.has_place(found.role)
        return (Worker(found.id, found.role),) if found is not None and fits else ()

    def _busy(self, main: Task | None) -> tuple[str, ...]:
        """The tasks that leave no room for another one in progress; a subtask takes none."""
        if main is not None and main.parent_id is not None:
            return ()
        holder = main.assignee if main is not None and main.assignee else self.asker.id
        running = [task for _, task in task_reader.running(self.connection, holder)]
        return tuple(running) if len(running) >= next_reader.limit(self.connection, holder) else ()

    def _item(self, task: Task) -> Item:
        """A task with what stands in its way."""
        waits = task.status != tasks.IN_PROGRESS and (
            task_reader.waits(self.connection, self.session, task)
            or task_reader.stops_group(self.connection, self.session, task.group_id) is not None
        )
        if task.status != tasks.BLOCKED:
            return Item(task, waits=waits)
        found = task_reader.blockers_of_task(self.connection, self.session, task.id)
        barriers = tuple(
            Barrier(
                block.id, block.severity == "hard", block.reason, block.opened_by, self._may_lift(block),
                # Opened for dependencies: it goes by itself with the last of them, and no agent may lift it (TSK-11).
                awaits=block.opened_by == ROUTER and block.type == "waiting",
            )
            for block in found
        )
        question = next_reader.question(self.connection, self.session, task.id, task.group_id)
        return Item(task, barriers, waits, question)

    def _may_lift(self, block: permissions.Block) -> bool:
        opener = self.standing[block.opened_by] if block.opened_by else None
        return permissions.lift(self.asker, block, opener, person=False).allowed

    def _lets_below(self, task: Task) -> bool:
        """Whether a subtask of the main task may begin, its own dependencies aside."""
        group_waits = task.group_id is not None and self.waiting_group[task.group_id]
        return not group_waits and not self.waits_from[str(task.parent_id)]

    def _waits_from(self, task: str) -> bool:
        return task_reader.line_waits(self.connection, self.session, task)

    def _waiting_group(self, group: str) -> bool:
        stopped = task_reader.stops_group(self.connection, self.session, group) is not None
        return stopped or bool(self.reader.open_dependencies(self.session, group))

    def _lets_begin(self, task: Task) -> bool:
        """Whether a task may be offered to anybody: its group goes on, and no question stands before it.

        Its own dependencies have been asked for.
        """
        if task.group_id is not None and not self.takes_part[task.group_id]:
            return False
        if task.parent_id is not None and self.waits_from[task.parent_id]:
            return False
        return task_reader.question(self.connection, self.session, task.id, task.group_id) is None

    def _takes_part(self, group: str) -> bool:
        found = self.reader.group(self.session, group)
        return found is not None and found.status not in next_waits.CLOSED_GROUPS and not self.waiting_group[group]


def candidate(reading: _Reading) -> Task | None:
    """The task that an agent takes next: a pending one, else one that is overdue."""
    connection, session, asker = reading.connection, reading.session, reading.asker
    if not reading.has_place(asker.role):
        return None
    found = next_reader.candidate(connection, session, asker, reading.lets_begin.__getitem__)
    # Of every role: `task claim` takes over any of them, so `no_work` beside one would be untrue (TSK-35).
    return found or next_reader.overdue(connection, session, asker, reading.now)


def pick(work: Work, agent: Agent) -> Task | None:
    """What `next` would offer an agent that has no task, in a step under way; None where there is nothing."""
    standing = task_reader.standing(work.context.connection, agent.id)
    assert standing is not None  # noqa: S101 - its caller has required the agent
    if work.session().status != "active":
        return None
    return candidate(_Reading(work.context, work.step.chain, standing, work.at))
