"""People, for Python programs: what waits for one, and calls that come from one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from orchestrator.app.people import enrolment, verification
from orchestrator.doors.python.calling import Answer, Caller


class People(Caller):
    """People."""

    @contextmanager
    def as_person(self, token: str) -> Iterator[None]:
        """Let the calls inside come from the person whose token this is.

        Args:
            token: what `orchestrator human enrol` printed once.
        """
        before = self._context.credential
        verification.by_token(self._context, token)
        try:
            yield
        finally:
            self._context.credential = before

    def inbox(self, *, session_id: str | None = None, limit: int = 50, since: str | None = None) -> Answer:
        """What waits for a person, the oldest first.

        As `orchestrator inbox`; see `orchestrator.app.questions.inbox.inbox`.
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

        As `orchestrator answer`; see `orchestrator.app.people.answering.answer`.
        """
        return self._call(
            "answer", id=id, decision=decision, note=note, session_id=session_id, by=by, request_id=request_id
        )

    def human_enrol(
        self, *, agent: str | None = None, by: str | None = None, passphrase: bool = False, ssh_key: str | None = None
    ) -> Answer:
        """Enrol a token, or an SSH key by the path of its public file, inside `as_person`.

        As `orchestrator human enrol`; see `orchestrator.app.people.enrolment.enrol`. It needs the old proof.
        """
        return self._call("human enrol", agent=agent, by=by, passphrase=passphrase or None, ssh_key=ssh_key)

    def human_remove(self, id: str, *, by: str | None = None) -> Answer:
        """Remove a token, passphrase or key, inside `as_person`.

        As `orchestrator human remove`; see `orchestrator.app.people.enrolment.remove`.
        """
        return self._call("human remove", id=id, by=by)

    def human_reset(self, *, agent: str | None = None) -> Answer:
        """Start over when a proof is lost; refused here, since it is done at a terminal.

        As `orchestrator human reset`; see `orchestrator.app.people.enrolment.reset`.
        """
        return self._call("human reset", agent=agent)

    def human_link(
        self, *, agent: str | None = None, url: str = enrolment.DEFAULT_URL, by: str | None = None
    ) -> Answer:
        """Make a sign-in link for a running server, inside `as_person`.

        As `orchestrator human link`; see `orchestrator.app.people.enrolment.link`.
        """
        return self._call("human link", agent=agent, url=url, by=by)

    def human_list(self) -> Answer:
        """What is enrolled for each person.

        As `orchestrator human list`; see `orchestrator.app.people.enrolment.status`.
        """
        return self._call("human list")
