"""What is to be done next, and claims, for Python programs."""

from __future__ import annotations

from orchestrator.doors.python.calling import Answer, Caller


class Claims(Caller):
    """The next action of an agent, and who has which task."""

    def next(
        self,
        agent_id: str | None = None,
        *,
        session_id: str | None = None,
        task: str | None = None,
        group_id: str | None = None,
    ) -> Answer:
        """What an agent does next, or without an agent with which commands a session goes on.

        As `orchestrator next`; see `orchestrator.app.task.next_action.next_action`.
        """
        return self._call("next", agent_id=agent_id, session_id=session_id, task=task, group_id=group_id)

    def task_claim(
        self,
        id: str | None = None,
        *,
        agent_id: str,
        session_id: str | None = None,
        lease: int = 900,
        claim_token: str | None = None,
        request_id: str | None = None,
    ) -> Answer:
        """Pick a task and claim it, in one step; `lease` in seconds.

        As `orchestrator task claim`; see `orchestrator.app.task.claims.claim`.
        """
        return self._call(
            "task claim",
            id=id,
            agent_id=agent_id,
            session_id=session_id,
            lease=lease,
            claim_token=claim_token,
            request_id=request_id,
        )

    def task_heartbeat(
        self,
        id: str,
        *,
        session_id: str | None = None,
        by: str | None = None,
        claim_token: str | None = None,
        lease: int | None = None,
        request_id: str | None = None,
    ) -> Answer:
        """Give a sign of life: the lease of a claim, in seconds, begins anew.

        As `orchestrator task heartbeat`; see `orchestrator.app.task.claims.heartbeat`.
        """
        return self._call(
            "task heartbeat",
            id=id,
            session_id=session_id,
            by=by,
            claim_token=claim_token,
            lease=lease,
            request_id=request_id,
        )

    def task_release(
        self,
        id: str,
        *,
        session_id: str | None = None,
        by: str | None = None,
        claim_token: str | None = None,
        reason: str = "",
        expect_version: int | None = None,
        request_id: str | None = None,
    ) -> Answer:
        """Give a task back, or free it of who is gone, so that it is todo again.

        As `orchestrator task release`; see `orchestrator.app.task.claims.release`.
        """
        return self._call(
            "task release",
            id=id,
            session_id=session_id,
            by=by,
            claim_token=claim_token,
            reason=reason,
            expect_version=expect_version,
            request_id=request_id,
        )
