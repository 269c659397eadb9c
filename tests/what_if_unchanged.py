"""What-if under a session's own workflow file finds no difference, tried on the sessions that passing tests leave.

A test may have tampered with its record. So a session that differs counts only if `audit replay` finds it sound.

Source: spec 50, section 3
"""

from __future__ import annotations

import contextlib
import sqlite3
import zlib
from collections.abc import Generator

import pytest

from orchestrator import errors
from orchestrator.app.kernel import operations
from orchestrator.app.kernel.context import Context
from orchestrator.core import strict_json

SAMPLE = 40
"""Of so many tests of use cases one is looked at without the long drills."""
NEWEST = 3
"""As many of the databases that it made are looked at then; a property makes one for every example."""
_OWN = """SELECT s.id, e.input FROM sessions s JOIN workflow_versions v ON v.id = s.workflow_version_id
    JOIN audit_events e ON e.session_id = '@store' AND e.seq = v.seq
    WHERE EXISTS (SELECT 1 FROM agent_reports r WHERE r.session_id = s.id)
    AND (SELECT kind FROM audit_events f WHERE f.session_id = s.id ORDER BY seq LIMIT 1) = 'session create'
    AND NOT EXISTS (SELECT 1 FROM audit_events f WHERE f.session_id = s.id AND f.kind = 'session upgrade-workflow')"""
"""Sessions that began here and were decided by one file, with the step that loaded it."""


def own_files(context: Context) -> list[tuple[str, str]]:
    """The sessions of a database with their files; none where it was closed, or is no database any more."""
    try:
        if context.is_rehearsal or context.connection.in_transaction:
            return []
        rows = context.connection.execute(_OWN).fetchall()
        return [(session, str(strict_json.stored(loaded)["content"])) for session, loaded in rows]
    except (sqlite3.Error, errors.OrchestratorError):
        return []


def differing(context: Context, session: str, content: str) -> list[str]:
    """What a session would have decided otherwise under a file."""
    try:
        answer = operations.call(context, "workflow what-if", content=content, sessions=(session,))
        found = [] if answer["equal"] else answer["sessions"][0]["differences"][:3] or [answer]
    except errors.OrchestratorError as error:
        found = [error]
    return [f"{session}: {each}" for each in found] if found and _is_sound(context, session) else []


def _is_sound(context: Context, session: str) -> bool:
    try:
        return bool(operations.call(context, "audit replay", session_id=session)["equal"])
    except errors.OrchestratorError:
        return False


class Plugin:
    """Looks at the databases that a test has made when it passes.

    Args:
        every: whether after each test, not only some of the use cases'.
    """

    def __init__(self, *, every: bool) -> None:
        self._every = every
        # What a test had in its own variables is gone when it has passed, unless it is kept for the look.
        self._made: list[Context] = []
        self._is_kept = self._passed = False
        begin = Context.__init__

        def noted(context: Context, *given: object, **named: object) -> None:
            begin(context, *given, **named)  # type: ignore[arg-type]
            if self._is_kept:
                self._made.append(context)

        Context.__init__ = noted  # type: ignore[method-assign, assignment]

    def _is_looked_at(self, name: str) -> bool:
        return self._every or (name.startswith("tests/integration/app/") and zlib.crc32(name.encode()) % SAMPLE == 0)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, None, None]:
        """Keep what a test that is looked at makes."""
        self._is_kept = self._is_looked_at(item.nodeid)
        yield

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Generator[None, None, None]:
        """Remember whether a test passed."""
        self._passed = False
        yield
        self._passed = True

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self) -> Generator[None, None, None]:
        """Look once what the test had replaced is as it was."""
        made, self._made, self._is_kept = self._made[0 if self._every else -NEWEST :], [], False
        yield
        if self._passed:
            found: list[str] = []
            for context in made:
                # Threads of a test may close theirs at any time.
                with contextlib.suppress(sqlite3.ProgrammingError):
                    found += [line for own in own_files(context) for line in differing(context, *own)]
            assert not found, found
