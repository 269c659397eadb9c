"""Task groups, for Python programs."""

from __future__ import annotations

from orchestrator.doors.python.calling import Answer, Caller


class Groups(Caller):
    """Task groups."""

    def group_create(
        self,
        id: str,
        *,
        session_id: str | None = None,
        name: str | None = None,
        kind: str = "code",
        security_sensitive: bool = False,
        complexity: int = 3,
        priority: str = "medium",
        depends_on: tuple[str, ...] = (),
        by: str = "project_manager",
        request_id: str | None = None,
    ) -> Answer:
        """Create a task group.

        As `orchestrator group create`; see `orchestrator.app.session.groups.create`.
        """
        return self._call(
            "group create",
            id=id,
            session_id=session_id,
            name=name,
            kind=kind,
            security_sensitive=security_sensitive,
            complexity=complexity,
            priority=priority,
            depends_on=depends_on,
            by=by,
            request_id=request_id,
        )

    def group_list(
        self, session_id: str | None = None, *, status: str | None = None, limit: int = 50, since: int | None = None
    ) -> Answer:
        """The groups of a session in the order of their creation.

        As `orchestrator group list`; see `orchestrator.app.session.session_views.groups`.
        """
        return self._call("group list", session_id=session_id, status=status, limit=limit, since=since)

    def group_show(self, id: str, *, session_id: str | None = None, at_seq: int | None = None) -> Answer:
        """One group: whom it awaits, how often it came back, what stands in its way, each part of its path.

        As `orchestrator group show`; see `orchestrator.app.session.session_views.group`.
        """
        return self._call("group show", id=id, session_id=session_id, at_seq=at_seq)

    def group_set_status(
        self,
        id: str,
        status: str,
        *,
        session_id: str | None = None,
        by: str | None = None,
        reason: str = "",
        request_id: str | None = None,
    ) -> Answer:
        """Move a group by hand, as far as the table of moves and the guards allow.

        As `orchestrator group set-status`; see `orchestrator.app.session.moving.set_status`.
        """
        return self._call(
            "group set-status", id=id, status=status, session_id=session_id, by=by, reason=reason, request_id=request_id
        )

    def group_depend(
        self,
        id: str,
        on: str,
        *,
        session_id: str | None = None,
        by: str = "project_manager",
        reason: str = "",
        request_id: str | None = None,
    ) -> Answer:
        """Let a group wait for another one of its session.

        As `orchestrator group depend`; see `orchestrator.app.session.dependencies.depend`.
        """
        return self._call(
            "group depend", id=id, on=on, session_id=session_id, by=by, reason=reason, request_id=request_id
        )

    def group_undepend(
        self,
        id: str,
        on: str,
        *,
        session_id: str | None = None,
        by: str | None = None,
        reason: str = "",
        request_id: str | None = None,
    ) -> Answer:
        """Drop a dependency on a group that is cancelled or deferred, with the reason.

        As `orchestrator group undepend`; see `orchestrator.app.session.dependencies.undepend`.
        """
        return self._call(
            "group undepend", id=id, on=on, session_id=session_id, by=by, reason=reason, request_id=request_id
        )
