"""What comes from other programs, for Python programs."""

from __future__ import annotations

from orchestrator.doors.python.calling import Answer, Caller


class Importing(Caller):
    """Imports."""

    def import_peer(
        self,
        file: str,
        *,
        session_id: str | None = None,
        dry_run: bool = False,
        by: str = "project_manager",
        request_id: str | None = None,
    ) -> Answer:
        """Import the sessions of a peer's SQLite database, which is only read.

        As `orchestrator import peer`; see `orchestrator.app.audit.peers.import_peer`.
        """
        return self._call(
            "import peer", file=file, session_id=session_id, dry_run=dry_run, by=by, request_id=request_id
        )
