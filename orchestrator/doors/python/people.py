"""People, for Python programs: what waits for one, and calls that come from one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from orchestrator.app import human
from orchestrator.doors.python.calling import Answer, Caller


class People(Caller):
    """People."""

    @contextmanager
    def as_person(self, token: str) -> Iterator[None]:
        """Let the calls inside come from the person whose token this is.

        Args:
            token: what `orchestrator human enrol` printed once.
        """
        before, self._context.credential = self._context.credential, human.Credential(human.TOKEN, token)
        try:
            yield
        finally:
            self._context.credential = before

    def inbox(self, *, session_id: str | None = None, limit: int = 50, since: str | None = None) -> Answer:
        """What waits for a person, the oldest first.

        As `orchestrator inbox`; see `orchestrator.app.inbox.inbox`.
        """
        return self._call("inbox", session_id=session_id, limit=limit, since=since)

    def answer(
        self,
        id: str,
        decision: str,
        *,
        note: str = "",
        session_id: str | None = None,
        by: str | None = None,
        request_id: str | None = None,
    ) -> Answer:
        """Answer a question, inside `as_person`.

        As `orchestrator answer`; see `orchestrator.app.answering.answer`.
        """
        return self._call(
            "answer", id=id, decision=decision, note=note, session_id=session_id, by=by, request_id=request_id
        )

    def human_enrol(self, *, agent: str | None = None, by: str | None = None) -> Answer:
        """Give a person a token; refused here, since it is done at a terminal.

        As `orchestrator human enrol`; see `orchestrator.app.human.enrol`.
        """
        return self._call("human enrol", agent=agent, by=by)
