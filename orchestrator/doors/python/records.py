"""A session's record told again, and written to a file, for Python programs."""

from __future__ import annotations

from orchestrator.doors.python.calling import Answer, Caller


class Records(Caller):
    """A session's record, told again or taken elsewhere."""

    def audit_replay(self, session_id: str | None = None, *, strict: bool = False) -> Answer:
        """A session's events told again, and everything that differs from what is on record.

        As `orchestrator audit replay`; see `orchestrator.app.audit.replayed.replay`. `exit_code` is 1 where it matters.
        """
        return self._call("audit replay", session_id=session_id, strict=strict)

    def audit_export(
        self, session_id: str | None = None, *, format: str = "jsonl", output: str | None = None, unmasked: bool = False
    ) -> Answer:
        """Write a session's record to a new file.

        As `orchestrator audit export`; see `orchestrator.app.audit.exporting.export`.
        """
        return self._call("audit export", session_id=session_id, format=format, output=output, unmasked=unmasked)
