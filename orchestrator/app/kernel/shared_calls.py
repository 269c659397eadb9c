"""Group commit for a server: calls that wait at the same time are carried out one after the other, in one transaction.

A commit costs more than all else that a step does, and only one can be made at a time. A thread that calls while no
other one leads becomes the leader: it carries out its own call and those that come meanwhile, commits, and hands on to
the call that has waited longest. Each call is a step of its own, which is refused or fails by itself; none is answered
before the commit. A call that comes alone commits by itself (HTTP-26).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager

from orchestrator.app.kernel.context import Context
from orchestrator.errors import OrchestratorError
from orchestrator.hints import Any, TypeVar
from orchestrator.store import sqlite_errors

MOST_TOGETHER = 32
"""Calls that may share a commit."""
LOCK_S = 0.02
"""Seconds after which a common commit takes no further call: the first of them waits for its answer that long."""

_T = TypeVar("_T")


class _Call:
    """A call that waits: to be answered, or to lead."""

    def __init__(self, action: Callable[[Context], Any]) -> None:
        self.action = action
        self.since_s = time.monotonic()
        self.leads = False
        self.wait_is_over = threading.Event()
        self.answer: Any = None
        self.problem: BaseException | None = None


class SharedCalls:
    """Carries out the calls of a server's threads on one connection.

    Args:
        lent: lends a context that writes, on a connection of `orchestrator.store.shared_commit`.
    """

    def __init__(self, lent: Callable[[], AbstractContextManager[Context]]) -> None:
        self._lent = lent
        self._lock = threading.Lock()
        self._waiting: list[_Call] = []
        self._has_leader = False

    def carried_out(self, action: Callable[[Context], _T]) -> _T:
        """What a call answers, once what it did is committed.

        Args:
            action: the call, which does nothing but its step.

        Raises:
            BaseException: what the action raised; an EnvironmentProblem where the commit failed, and nothing of the
                call is on record.
        """
        call = _Call(action)
        with self._lock:
            self._waiting.append(call)
            call.leads, self._has_leader = not self._has_leader, True
        if not call.leads:
            call.wait_is_over.wait()
        if call.leads:
            self._lead()
        if call.problem is not None:
            raise call.problem
        answer: _T = call.answer
        return answer

    def _lead(self) -> None:
        """Carry out the call that has waited longest, which is this thread's own, and those that wait with it."""
        with self._lock:
            together = [self._waiting.pop(0)]
        try:
            with self._lent() as context:
                self._commit_together(context, together)
        except BaseException as problem:
            for call in together:
                call.problem = _own(problem)
        finally:
            with self._lock:
                following = self._waiting[:1]
                self._has_leader = bool(following)
            for call in following:
                call.leads = True
            for call in (*together[1:], *following):
                call.wait_is_over.set()

    def _commit_together(self, context: Context, together: list[_Call]) -> None:
        connection: Any = context.connection
        connection.joins, deadline_s = bool(self._waiting), context.deadline_s
        try:
            _carry_out(context, together[0], deadline_s)
            while connection.is_shared and self._take(together, connection.begun_s):
                _carry_out(context, together[-1], deadline_s)
            connection.settle(deadline_s)
        except Exception as problem:
            known = sqlite_errors.environment_problem(problem, context.path)
            if known is None:
                raise
            raise known from problem
        finally:
            connection.joins, context.deadline_s = False, deadline_s

    def _take(self, together: list[_Call], begun_s: float) -> bool:
        """Take one more of those that wait, if it may still join."""
        if len(together) >= MOST_TOGETHER or time.monotonic() - begun_s >= LOCK_S:
            return False
        with self._lock:
            if self._waiting:
                together.append(self._waiting.pop(0))
                return True
        return False


def _carry_out(context: Context, call: _Call, deadline_s: float) -> None:
    # Who waited for others has waited: a database that another process holds is BUSY for all of them at the same time.
    context.deadline_s = max(0.0, deadline_s - (time.monotonic() - call.since_s))
    try:
        call.answer = call.action(context)
    except BaseException as problem:
        call.problem = problem
    finally:
        context.forget_caller()


def _own(problem: BaseException) -> BaseException:
    """A problem for one of several callers: each may say it in other words."""
    if isinstance(problem, OrchestratorError):
        return type(problem)(problem.code, problem.message, problem.suggestion, **problem.data)
    return problem
