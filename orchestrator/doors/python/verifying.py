"""Whether the record is whole, for Python programs."""

from __future__ import annotations

from orchestrator.doors.python.calling import Answer, Caller


class Verifying(Caller):
    """Whether the record is whole."""

    def audit_verify(
        self,
        session_id: str | None = None,
        *,
        head: str | None = None,
        since: int | None = None,
        limit: int = 50,
    ) -> Answer:
        """Verify the record against its hash chain; without a session all of it, and the file too.

        As `orchestrator audit verify`; see `orchestrator.app.audit.verification.verify`. `exit_code` is 1 where
        anything is wrong.
        """
        return self._call("audit verify", session_id=session_id, head=head, since=since, limit=limit)

    def audit_head(self, session_id: str | None = None) -> Answer:
        """The newest step of a session, or of all, with its hash, to be noted outside.

        As `orchestrator audit head`; see `orchestrator.app.audit.verification.head`.
        """
        return self._call("audit head", session_id=session_id)
