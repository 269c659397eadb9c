"""Reports and the decisions on them, for Python programs."""

from __future__ import annotations

from typing import Any

from orchestrator.doors.python.calling import Answer, Caller


class Routing(Caller):
    """Reports and the decisions on them."""

    def route(
        self,
        *,
        session_id: str | None = None,
        current_agent: str,
        status: str,
        group_id: str | None = None,
        agent_id: str | None = None,
        turn: int | None = None,
        testing_mode: str | None = None,
        summary: str = "",
        details: dict[str, Any] | None = None,
        metadata: dict[str, Any] | None = None,
        acknowledge: dict[str, str] | None = None,
        raw_text: str | None = None,
        interrupt: bool = False,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> Answer:
        """Record what an agent reported and decide what follows.

        As `orchestrator route`; see `orchestrator.app.reports.routing.route`.
        """
        return self._call(
            "route",
            session_id=session_id,
            current_agent=current_agent,
            status=status,
            group_id=group_id,
            agent_id=agent_id,
            turn=turn,
            testing_mode=testing_mode,
            summary=summary,
            details=details,
            metadata=metadata,
            acknowledge=acknowledge,
            raw_text=raw_text,
            interrupt=interrupt,
            request_id=request_id,
            dry_run=dry_run,
        )

    def redispatch(
        self,
        group_id: str | None = None,
        *,
        session_id: str | None = None,
        reason: str = "",
        by: str = "orchestrator",
        request_id: str | None = None,
    ) -> Answer:
        """Order the awaited role of a group (or of the session, without one) to start anew, under a new turn.

        As `orchestrator redispatch`; see `orchestrator.app.reports.redispatching.redispatch`.
        """
        return self._call(
            "redispatch", session_id=session_id, group_id=group_id, reason=reason, by=by, request_id=request_id
        )
