"""What stood in the way, what is missing, how much and how often, for Python programs."""

from __future__ import annotations

from orchestrator.doors.python.calling import Answer, Caller


class Auditing(Caller):
    """Questions about the record of a session."""

    def audit_blockers(
        self,
        session_id: str | None = None,
        *,
        group_id: str | None = None,
        agent: str | None = None,
        status: str | None = None,
        since: int | None = None,
        until: int | None = None,
        limit: int = 50,
        order: str = "asc",
    ) -> Answer:
        """Open and resolved blockers, how long each stands or stood.

        As `orchestrator audit blockers`; see `orchestrator.app.audit.blockages.blockers`.
        """
        return self._call(
            "audit blockers",
            session_id=session_id,
            group_id=group_id,
            agent=agent,
            status=status,
            since=since,
            until=until,
            limit=limit,
            order=order,
        )

    def audit_gaps(
        self,
        session_id: str | None = None,
        *,
        group_id: str | None = None,
        agent: str | None = None,
        status: str | None = None,
        since: int | None = None,
        until: int | None = None,
        limit: int = 50,
        order: str = "asc",
    ) -> Answer:
        """Where the record of a session is not whole.

        As `orchestrator audit gaps`; see `orchestrator.app.audit.holes.gaps`. `exit_code` is 1 where there are any.
        """
        return self._call(
            "audit gaps",
            session_id=session_id,
            group_id=group_id,
            agent=agent,
            status=status,
            since=since,
            until=until,
            limit=limit,
            order=order,
        )

    def audit_stats(
        self,
        session_id: str | None = None,
        *,
        group_id: str | None = None,
        since: int | None = None,
        until: int | None = None,
    ) -> Answer:
        """A session, or one group of it, in numbers.

        As `orchestrator audit stats`; see `orchestrator.app.audit.stats.stats`.
        """
        return self._call("audit stats", session_id=session_id, group_id=group_id, since=since, until=until)

    def audit_query(self, sql: str, *, limit: int = 1000, timeout: int = 30) -> Answer:
        """The rows of one reading statement.

        As `orchestrator audit query`; see `orchestrator.app.audit.querying.query`.
        """
        return self._call("audit query", sql=sql, limit=limit, timeout=timeout)
