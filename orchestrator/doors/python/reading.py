"""Where things stand, and what happened, for Python programs."""

from __future__ import annotations

from orchestrator.doors.python.calling import Answer, Caller


class Reading(Caller):
    """Where things stand, and what happened."""

    def status(
        self, session_id: str | None = None, *, brief: bool = False, at_seq: int | None = None
    ) -> Answer:
        """Where a session stands, or all open ones briefly.

        As `orchestrator status`; see `orchestrator.app.session.status.status`.
        """
        return self._call("status", session_id=session_id, brief=brief, at_seq=at_seq)

    def why(self, id: str, *, session_id: str | None = None, at_seq: int | None = None) -> Answer:
        """Why a group or task is not finished, or why a decision was made.

        As `orchestrator why`; see `orchestrator.app.audit.explaining.why`.
        """
        return self._call("why", id=id, session_id=session_id, at_seq=at_seq)

    def handoff(self, group_id: str | None = None, *, session_id: str | None = None, turn: int | None = None) -> Answer:
        """What the agent of a turn was given.

        As `orchestrator handoff`; see `orchestrator.app.reports.handoffs.handoff`.
        """
        return self._call("handoff", session_id=session_id, group_id=group_id, turn=turn)

    def audit_decisions(
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
        """Who was sent where, by which rule.

        As `orchestrator audit decisions`; see `orchestrator.app.audit.auditing.decisions`.
        """
        return self._call(
            "audit decisions",
            session_id=session_id,
            group_id=group_id,
            agent=agent,
            status=status,
            since=since,
            until=until,
            limit=limit,
            order=order,
        )

    def audit_timeline(
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
        """Every step in order, with a sentence for each thing that it wrote.

        As `orchestrator audit timeline`; see `orchestrator.app.audit.auditing.timeline`.
        """
        return self._call(
            "audit timeline",
            session_id=session_id,
            group_id=group_id,
            agent=agent,
            status=status,
            since=since,
            until=until,
            limit=limit,
            order=order,
        )

    def audit_refusals(
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
        """Who tried what, and why it was refused.

        As `orchestrator audit refusals`; see `orchestrator.app.audit.auditing.refusals`.
        """
        return self._call(
            "audit refusals",
            session_id=session_id,
            group_id=group_id,
            agent=agent,
            status=status,
            since=since,
            until=until,
            limit=limit,
            order=order,
        )
