"""What the next action is decided on: a task with what stands in its way, and who asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.tasks import IN_PROGRESS, Task
from orchestrator.core.wait_graph import Waits
from orchestrator.hints import Any, cast


class Question(NamedTuple):
    """An open question, which only a person may answer."""

    id: str
    reason: str


class Barrier(NamedTuple):
    """An open blocker of a task, and whether the asker may lift it.

    awaits: it stands for open dependencies, of the task or of one above it, and goes with the last of them.
    """

    id: str
    hard: bool
    reason: str
    opened_by: str | None
    liftable: bool
    awaits: bool = False


class Item(NamedTuple):
    """A task with what stands in its way.

    waits: a dependency of its own, or of its group, is open, or a hard blocker stops its group.
    """

    task: Task
    barriers: tuple[Barrier, ...] = ()
    waits: bool = False
    question: Question | None = None


class Worker(NamedTuple):
    """An agent that could take a task."""

    id: str
    role: str


class Turn(NamedTuple):
    """An open turn that the asker was started for; of the session as a whole where no group is named."""

    number: int
    group_id: str | None = None
    agent: str | None = None
    agent_id: str | None = None
    model: str | None = None
    action: str | None = None


class Notice(NamedTuple):
    """A blocker of a task below a manager, which the manager has not seen."""

    blocker_id: str
    task_id: str
    title: str
    type: str
    blocker_class: str
    reason: str
    opened_by: str | None
    opened_at: str


class Root(NamedTuple):
    """A task, group or blocker of a group that other work waits for, and that waits for nothing itself."""

    kind: str
    id: str
    title: str
    status: str
    assignee: str | None = None
    group_id: str | None = None
    parent_id: str | None = None


class Facts(NamedTuple):
    """What an agent's next action depends on.

    now: UTC, ISO 8601; claims that ended before it are overdue.
    manager: others report to the asker.
    main: the task that is asked about; None where the asker has none.
    candidate: without a main task, the first that the asker may take; why_none: why there is none.
    dead_end: without both, a task that the asker could take, or that is below a manager, and the cancelled task
        that it depends on.
    busy: tasks in progress that keep the asker from starting the main task.
    counts: how many subtasks of the main task have which status.
    working, blocked: its subtasks of these states, in order.
    gone: who of those at work is out of service.
    ready: its first pending subtask that may begin, and that the asker may start or hand out.
    workers: who could take it.
    walk: what the main task waits for, where it waits itself, else its open subtasks; asked only when nothing can
        be done, for it looks at the whole session.
    describe: what the walk has found, by its name there.
    elsewhere: a task of the asker's beside the main task that can go on; asked only when the main task waits.
    turns: the turns that the asker answers with a report.
    person: the only registered person in service; None where there is no such one.
    parted: whether a subtask has something open below it, so that it cannot be done yet.
    dropper: who may drop what one depends on, the asker where that is possible.
    """

    session_id: str
    agent_id: str
    now: str
    manager: bool = False
    question: Question | None = None
    main: Item | None = None
    candidate: Task | None = None
    why_none: str = ""
    dead_end: tuple[str, str] | None = None
    busy: tuple[str, ...] = ()
    counts: Mapping[str, int] = {}
    working: tuple[Task, ...] = ()
    gone: frozenset[str] = frozenset()
    ready: Task | None = None
    blocked: tuple[Item, ...] = ()
    workers: tuple[Worker, ...] = ()
    notices: tuple[Notice, ...] = ()
    walk: Callable[[], Waits] = Waits
    describe: Callable[[str], Root] = lambda name: Root("task", name, name, IN_PROGRESS)

    elsewhere: Callable[[], str | None] = lambda: None
    turns: Callable[[], tuple[Turn, ...]] = lambda: ()
    person: Callable[[], str | None] = lambda: None
    parted: Callable[[Task], bool] = lambda task: False
    dropper: Callable[[str, str], str] = lambda task, dependency: "project_manager"

    @property
    def task(self) -> Task:
        """The main task, for rules that are asked only where there is one."""
        return cast(Item, self.main).task


Payload = dict[str, Any]
