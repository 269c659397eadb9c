"""Steps that share one commit: each is a savepoint in one longer transaction, which `settle` commits.

A step that fails takes back its own rows alone. Whatever ends the longer transaction otherwise (a full disk, a file
that was replaced, a killed process) takes all of its steps, so nobody may be told of one before it is committed.
"""

from __future__ import annotations

import sqlite3
import time

from orchestrator.hints import Any, ClassVar
from orchestrator.store import problems, sqlite


class _Noted:
    """Stands for the mark outside of the database until the steps are committed: the mark never runs ahead."""

    def __init__(self, mark: sqlite.StepMark) -> None:
        self.mark = mark
        self.last: tuple[str, int, bytes, str] | None = None

    def note(self, chain: str, seq: int, digest: bytes, at: str) -> None:
        """Remember the newest step."""
        self.last = (chain, seq, digest, at)


class Connection(sqlite.Connection):
    """A connection on which a step's transaction can be a savepoint in a longer one. No two steps are ever nested.

    Attributes:
        is_shared: whether steps wait for `settle`; they still do where their transaction was lost meanwhile.
        keeps_in_memory: whether what savepoints keep of changed pages lies in memory: those of one step, no more.
        joins: whether the next steps share a commit; else each commits by itself.
        begun_s: when the longer transaction began, by the monotonic clock.
    """

    begin_words: ClassVar[str] = "BEGIN IMMEDIATE"
    keeps_in_memory = False
    joins = False
    begun_s = 0.0
    _in_step = False
    _noted: _Noted | None = None
    _lost: Exception | None = None

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        """As usual; the three words that begin and end a step's transaction mean its savepoint."""
        if sql == "BEGIN IMMEDIATE" and self.joins:
            return self._begin()
        if self.is_shared:
            if sql == "COMMIT":
                return self._keep()
            if sql == "ROLLBACK":
                return self._take_back()
        try:
            return super().execute(sql, parameters)
        except sqlite3.Error as error:
            if self.is_shared and not self.in_transaction:
                # SQLite has rolled back all of it: no room, or a guard that says so.
                self._lose(error)
            raise

    def _begin(self) -> sqlite3.Cursor:
        if not self.is_shared:
            if not self.keeps_in_memory:
                # What a savepoint keeps of pages, for taking a step back: in a file it costs as much as the commits.
                super().execute("PRAGMA temp_store=MEMORY")
                self.keeps_in_memory = True
            super().execute(self.begin_words)
            self.begun_s = time.monotonic()
            self.is_shared = True
            if self.seen is not None:
                self.seen = self._noted = _Noted(self.seen)
        self._require_whole()
        begun = super().execute("SAVEPOINT step")
        self._in_step = True
        return begun

    def _require_whole(self) -> None:
        if not self.in_transaction or self._in_step:
            # What nobody here rolled back was rolled back because the file was gone from its path.
            raise self._lost or problems.no_database(self.path, "was moved or deleted while it was open")

    def _keep(self) -> sqlite3.Cursor:
        released = super().execute("RELEASE step")
        self._in_step = False
        return released

    def _take_back(self) -> sqlite3.Cursor:
        """Leave nothing of the step, and all of those before it; where that fails, of none."""
        if self._in_step:
            try:
                super().execute("ROLLBACK TO step")
                super().execute("RELEASE step")
            except BaseException as error:
                self._lose(error)
                raise
            self._in_step = False
        return self.cursor()

    def settle(self, deadline_s: float = sqlite.DEADLINE_S) -> None:
        """Commit the steps that share a transaction, if there are any.

        After an error none of them is recorded, and the connection takes no further step: it is to be opened anew.

        Args:
            deadline_s: seconds to wait while another process holds the file.

        Raises:
            EnvironmentProblem: NO_DATABASE, BUSY, DISK_FULL, CORRUPT; the same again where it is called again.
        """
        if not self.is_shared:
            return
        try:
            sqlite.require_place(self)
            self._require_whole()
            sqlite.with_retry(self._commit, self.path, deadline_s)
        except BaseException as error:
            self._lose(error)
            raise
        self.is_shared = False
        noted, self._noted = self._noted, None
        if noted is not None:
            self.seen = noted.mark
            if noted.last is not None:
                noted.mark.note(*noted.last)

    def _commit(self) -> None:
        super().execute("COMMIT")

    def _lose(self, error: BaseException) -> None:
        self._lost = self._lost or (error if isinstance(error, Exception) else None)
        if self.in_transaction:
            self.rollback()
