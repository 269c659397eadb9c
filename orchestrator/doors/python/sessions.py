"""Sessions, for Python programs."""

from __future__ import annotations

from orchestrator.doors.python.calling import Answer, Caller


class Sessions(Caller):
    """Sessions."""

    def session_create(
        self,
        id: str,
        *,
        kind: str = "orchestration",
        mode: str = "parallel",
        testing_mode: str = "full",
        goal: str = "",
        turn_timeout: int = 60,
        disabled_roles: tuple[str, ...] = (),
        by: str = "project_manager",
        request_id: str | None = None,
    ) -> Answer:
        """Create a session, pinned to the active workflow version, and call the project manager.

        As `orchestrator session create`; see `orchestrator.app.session.sessions.create`.
        """
        return self._call(
            "session create",
            id=id,
            kind=kind,
            mode=mode,
            testing_mode=testing_mode,
            goal=goal,
            turn_timeout=turn_timeout,
            disabled_roles=disabled_roles,
            by=by,
            request_id=request_id,
        )

    def session_list(self, *, all: bool = False, limit: int = 50, since: str | None = None) -> Answer:
        """The sessions in the order of their ids.

        As `orchestrator session list`; see `orchestrator.app.session.session_views.sessions`.
        """
        return self._call("session list", all=all, limit=limit, since=since)

    def session_show(self, id: str | None = None) -> Answer:
        """One session, with how many of its groups have which status.

        As `orchestrator session show`; see `orchestrator.app.session.session_views.session`.
        """
        return self._call("session show", id=id)

    def session_pause(
        self, id: str | None = None, *, by: str | None = None, reason: str = "", request_id: str | None = None
    ) -> Answer:
        """Pause a session: reports are still accepted and decided, but nobody is started until `session resume`.

        As `orchestrator session pause`; see `orchestrator.app.session.sessions.pause`.
        """
        return self._call("session pause", id=id, by=by, reason=reason, request_id=request_id)

    def session_resume(
        self, id: str | None = None, *, by: str | None = None, reason: str = "", request_id: str | None = None
    ) -> Answer:
        """Resume a paused session: what was held back is emitted now, as far as slots allow.

        As `orchestrator session resume`; see `orchestrator.app.session.sessions.resume`.
        """
        return self._call("session resume", id=id, by=by, reason=reason, request_id=request_id)

    def session_end(
        self, id: str | None = None, *, by: str | None = None, reason: str = "", request_id: str | None = None
    ) -> Answer:
        """End a session: a chat is closed; abandoning an orchestration is a person's to do.

        As `orchestrator session end`; see `orchestrator.app.session.sessions.end`.
        """
        return self._call("session end", id=id, by=by, reason=reason, request_id=request_id)

    def session_testing_mode(
        self, id: str, mode: str, *, by: str | None = None, reason: str = "", request_id: str | None = None
    ) -> Answer:
        """Change how much a session tests. Tightening is the project manager's; loosening needs a person.

        As `orchestrator session testing-mode`; see `orchestrator.app.session.sessions.set_testing_mode`.
        """
        return self._call("session testing-mode", id=id, mode=mode, by=by, reason=reason, request_id=request_id)

    def session_upgrade_workflow(
        self, id: str | None = None, *, confirm: bool = False, by: str | None = None, reason: str = "",
        request_id: str | None = None,
    ) -> Answer:
        """Move a session to the active workflow version, unless its open state does not exist there.

        With `confirm`, move nothing: a person confirms the changes of rules that nobody confirmed so far.

        As `orchestrator session upgrade-workflow`; see `orchestrator.app.session.sessions.upgrade_workflow`.
        """
        return self._call(
            "session upgrade-workflow", id=id, confirm=confirm, by=by, reason=reason, request_id=request_id
        )
