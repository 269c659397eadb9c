"""The table of what the doors offer: the words of an operation, the use case behind it, and whether it writes.

Every door calls `call`; none knows another home for the same thing. Use cases are imported when they are called.
What doors take from outside goes through `orchestrator.app.kernel.arguments` first.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

from orchestrator.app.kernel.context import Answer, Context
from orchestrator.core.tuples import NamedTuple


class Operation(NamedTuple):
    """One use case as the doors see it."""

    words: str
    module: str
    function: str
    writes: bool


def _operation(words: str, place: str, *, writes: bool = False) -> Operation:
    module, _, function = place.partition(":")
    return Operation(words, f"orchestrator.app.{module}", function, writes)


OPERATIONS: dict[str, Operation] = {
    operation.words: operation
    for operation in (
        _operation("route", "reports.routing:route", writes=True),
        _operation("redispatch", "reports.redispatching:redispatch", writes=True),
        _operation("inbox", "questions.inbox:inbox"),
        _operation("answer", "people.answering:answer", writes=True),
        _operation("human enrol", "people.enrolment:enrol", writes=True),
        _operation("human remove", "people.enrolment:remove", writes=True),
        _operation("human reset", "people.enrolment:reset", writes=True),
        _operation("human link", "people.enrolment:link", writes=True),
        _operation("human list", "people.enrolment:status"),
        _operation("session create", "session.sessions:create", writes=True),
        _operation("session pause", "session.sessions:pause", writes=True),
        _operation("session resume", "session.sessions:resume", writes=True),
        _operation("session end", "session.sessions:end", writes=True),
        _operation("session testing-mode", "session.sessions:set_testing_mode", writes=True),
        _operation("session upgrade-workflow", "session.sessions:upgrade_workflow", writes=True),
        _operation("session list", "session.session_views:sessions"),
        _operation("session show", "session.session_views:session"),
        _operation("group create", "session.groups:create", writes=True),
        _operation("group set-status", "session.moving:set_status", writes=True),
        _operation("group depend", "session.dependencies:depend", writes=True),
        _operation("group undepend", "session.dependencies:undepend", writes=True),
        _operation("group list", "session.session_views:groups"),
        _operation("group show", "session.session_views:group"),
        _operation("next", "task.next_action:next_action"),
        _operation("task claim", "task.claims:claim", writes=True),
        _operation("task heartbeat", "task.claims:heartbeat", writes=True),
        _operation("task release", "task.claims:release", writes=True),
        _operation("task create", "task.tasks:create", writes=True),
        _operation("task set-status", "task.tasks:set_status", writes=True),
        _operation("task status", "task.tasks:set_status", writes=True),
        _operation("task depend", "task.task_links:depend", writes=True),
        _operation("task undepend", "task.task_links:undepend", writes=True),
        _operation("task list", "task.task_views:tasks_of"),
        _operation("task show", "task.task_views:task"),
        _operation("blocker list", "task.lifting:blockers_of"),
        _operation("blocker show", "task.lifting:blocker"),
        _operation("blocker resolve", "task.lifting:resolve", writes=True),
        _operation("criterion add", "verdict.criteria:add", writes=True),
        _operation("criterion set", "verdict.criteria:set_criterion", writes=True),
        _operation("criterion remove", "verdict.criteria:remove", writes=True),
        _operation("criterion list", "verdict.scope:criteria"),
        _operation("import peer", "audit.peers:import_peer", writes=True),
        _operation("validate", "verdict.validating:validate", writes=True),
        _operation("agent register", "agents:register", writes=True),
        _operation("agent deactivate", "agents:deactivate", writes=True),
        _operation("agent list", "agents:agents"),
        _operation("agent show", "agents:agent"),
        _operation("agent tree", "agents:agent_tree"),
        _operation("workflow load", "workflow.workflows:load", writes=True),
        _operation("workflow show", "workflow.workflows:show"),
        _operation("workflow versions", "workflow.workflows:versions"),
        _operation("workflow diff", "workflow.workflows:compare"),
        _operation("workflow graph", "workflow.workflows:graph"),
        _operation("status", "session.status:status"),
        _operation("why", "audit.explaining:why"),
        _operation("handoff", "reports.handoffs:handoff"),
        _operation("audit decisions", "audit.auditing:decisions"),
        _operation("audit timeline", "audit.auditing:timeline"),
        _operation("audit refusals", "audit.auditing:refusals"),
        _operation("audit blockers", "audit.blockages:blockers"),
        _operation("audit gaps", "audit.holes:gaps"),
        _operation("audit stats", "audit.stats:stats"),
        _operation("audit query", "audit.querying:query"),
        _operation("audit verify", "audit.verification:verify"),
        _operation("audit head", "audit.verification:head"),
        _operation("audit replay", "audit.replayed:replay"),
        _operation("audit export", "audit.exporting:export"),
    )
}


PERSONS = ("answer", "human enrol", "human remove", "human reset", "human link", "session end")
"""Operations that a person may be meant to call though none is named."""


def call(context: Context, words: str, **arguments: Any) -> Answer:
    """Call an operation by its words with the parameters of its use case, which `arguments` has checked."""
    answer: Answer = _use_case(words)(context, **arguments)
    return answer


@functools.cache
def _use_case(words: str) -> Callable[..., Answer]:
    operation = OPERATIONS[words]
    found: Callable[..., Answer] = getattr(importlib.import_module(operation.module), operation.function)
    return found
