"""Connections of a server: kept between calls, since opening one costs more than most calls, never in a transaction.

A context that is kept holds no snapshot of the database, so it keeps no log from being written back. Before it is used
again the file is looked at: one that was replaced, overwritten, cut off, upgraded or deleted is opened anew, and says
what is the matter. On a server each context has a connection of its own, and one that was lost is opened anew.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator

from orchestrator.app.kernel import copy_in_memory
from orchestrator.app.kernel.context import Context
from orchestrator.app.kernel.shared_calls import SharedCalls
from orchestrator.core import database_urls
from orchestrator.errors import EnvironmentProblem, OrchestratorError
from orchestrator.hints import Any, TypeVar
from orchestrator.store import file_stamp, sqlite, sqlite_errors

MOST_IDLE = 16
"""Contexts of a kind that are kept; more are closed after their call."""

LOOK_S = 2.0
"""Seconds that a look whether the store can be written waits for other writers: whoever asks wants to know soon."""

TURN_S = 0.05
"""Seconds that a short read waits for those before it. What takes longer holds up nobody for more than this."""

Open = Callable[[bool], Context]
"""Opens a context that threads may share; true for one that writes."""
_T = TypeVar("_T")


class Pool:
    """Lends contexts to threads, one at a time each.

    Args:
        open_context: opens one.
        shares_commits: the writing ones are on connections of `orchestrator.store.shared_commit`, so that calls which
            wait at the same time can share a commit.
    """

    def __init__(self, open_context: Open, *, shares_commits: bool = False) -> None:
        self._open = open_context
        self._together = SharedCalls(lambda: self.lent(write=True)) if shares_commits else None
        self._idle: dict[bool, list[Context]] = {True: [], False: []}
        self._lock = threading.Lock()
        self._turn = threading.Lock()
        self._closed = False

    @contextlib.contextmanager
    def lent(self, *, write: bool = False, trial: bool = False) -> Iterator[Context]:
        """A context for one call.

        Args:
            trial: what is called makes sense where nothing can be written; there it works on a copy in memory.

        Raises:
            EnvironmentProblem: as opening a database does.
        """
        try:
            context = self._take(write)
        except EnvironmentProblem as problem:
            is_on_server = database_urls.is_postgresql(str(problem.data.get("db")))
            if not trial or problem.code != "READ_ONLY" or is_on_server:
                raise
            with self._rehearsal() as context:
                yield context
            return
        try:
            yield context
        finally:
            context.forget_caller()
            self._give_back(context, write)

    @contextlib.contextmanager
    def read(self) -> Iterator[Context]:
        """A context for a read of a file, one after the other as far as they are short.

        A read is Python's work, of which one thread does some at a time. Eight at once take each other's turns at every
        row, which costs more than the reads. On a server they wait for the database, each by itself.

        Raises:
            EnvironmentProblem: as opening a database does.
        """
        has_turn = self._together is not None and self._turn.acquire(timeout=TURN_S)
        try:
            with self.lent() as context:
                yield context
        finally:
            if has_turn:
                self._turn.release()

    def carried_out(self, action: Callable[[Context], _T], *, joins: bool, trial: bool = False) -> _T:
        """What a call that writes answers, once what it did is committed.

        Args:
            joins: it does nothing but its step, so that it may share the commit of others.
            trial: as `lent` takes it.

        Raises:
            BaseException: as the action does. EnvironmentProblem: as opening a database does; the commit failed.
        """
        if self._together is not None and joins and not trial:
            return self._together.carried_out(action)
        with self.lent(write=True, trial=trial) as context:
            return action(context)

    @contextlib.contextmanager
    def _rehearsal(self) -> Iterator[Context]:
        with self.lent() as reading:
            context = copy_in_memory.of(reading)
        try:
            yield context
        finally:
            context.connection.close()

    def _take(self, write: bool) -> Context:
        while (context := self._pop(write)) is not None:
            if _is_current(context):
                return context
            context.connection.close()
        opened = self._open(write)
        file_stamp.note(opened.connection)
        return opened

    def _pop(self, write: bool) -> Context | None:
        with self._lock:
            return self._idle[write].pop() if self._idle[write] else None

    def _give_back(self, context: Context, write: bool) -> None:
        with self._lock:
            idle = self._idle[write]
            connection = context.connection
            is_free = not (connection.in_transaction or connection.is_shared)
            if not self._closed and len(idle) < MOST_IDLE and is_free:
                idle.append(context)
                return
        context.connection.close()

    def check_writable(self) -> None:
        """Open the database and write the number of its schema as it is: what shows itself only there is found.

        Raises:
            EnvironmentProblem: why the store cannot be written.
        """
        context = self._open(True)
        try:
            _write_version(context.connection, min(context.deadline_s, LOOK_S))
        except EnvironmentProblem:
            self._forget()
            raise
        except Exception as error:
            self._forget()
            raise sqlite_errors.environment_problem(error, context.path) or error from error
        finally:
            context.connection.close()

    def listener(self) -> Any | None:
        """What waits for steps by `wait(seconds)`, where the database tells of them; None where it is looked at."""
        with self.lent() as context:
            made = getattr(context.connection, "listener", None)
            return None if made is None else made()

    def close(self) -> None:
        """Close what is idle; what is lent is closed when it comes back."""
        with self._lock:
            self._closed = True
        self._forget()

    def _forget(self) -> None:
        """Close what is idle: whoever asks next opens the database anew, and is told the same as this caller."""
        with self._lock:
            idle = [context for kept in self._idle.values() for context in kept]
            for kept in self._idle.values():
                kept.clear()
        for context in idle:
            context.connection.close()


def _write_version(connection: Any, deadline_s: float) -> None:
    """Write the number of the schema as it is."""
    of_server = getattr(connection, "check_writable", None)
    if of_server is not None:
        of_server(deadline_s)
        return
    sqlite.begin_immediate(connection, deadline_s)
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    connection.execute(f"PRAGMA user_version = {int(version)}")
    connection.execute("COMMIT")


def _is_current(context: Context) -> bool:
    """Whether a context that was kept is still on the file of its path, as it was opened, at this schema version."""
    of_server = getattr(context.connection, "is_current", None)
    if of_server is not None:
        return bool(of_server())
    try:
        sqlite.require_place(context.connection)
        sqlite.check_version(context.connection)
        return file_stamp.is_as_opened(context.connection)
    except OrchestratorError:
        return False
    except Exception as error:
        if sqlite_errors.environment_problem(error, context.path) is None:
            raise
        return False
