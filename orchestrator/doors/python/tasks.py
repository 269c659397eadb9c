"""Tasks and blockers, for Python programs."""

from __future__ import annotations

from orchestrator.doors.python.calling import Answer, Caller


class Tasks(Caller):
    """Tasks and blockers."""

    def task_create(
        self,
        id: str,
        *,
        title: str,
        session_id: str | None = None,
        description: str = "",
        group_id: str | None = None,
        parent: str | None = None,
        assignee: str | None = None,
        priority: str = "medium",
        type: str = "IMPLEMENTATION",
        status: str = "todo",
        reason: str = "",
        depends_on: tuple[str, ...] = (),
        auto_unblock: bool = False,
        by: str | None = None,
        request_id: str | None = None,
    ) -> Answer:
        """Create a task.

        As `orchestrator task create`; see `orchestrator.app.task.tasks.create`.
        """
        return self._call(
            "task create",
            id=id,
            title=title,
            session_id=session_id,
            description=description,
            group_id=group_id,
            parent=parent,
            assignee=assignee,
            priority=priority,
            type=type,
            status=status,
            reason=reason,
            depends_on=depends_on,
            auto_unblock=auto_unblock,
            by=by,
            request_id=request_id,
        )

    def task_set_status(
        self,
        id: str,
        status: str,
        *,
        session_id: str | None = None,
        by: str | None = None,
        reason: str = "",
        blocker_type: str | None = None,
        expect_version: int | None = None,
        claim_token: str | None = None,
        request_id: str | None = None,
    ) -> Answer:
        """Change the status of a task, as far as moves, permissions and guards allow.

        As `orchestrator task set-status`; see `orchestrator.app.task.tasks.set_status`.
        """
        return self._call(
            "task set-status",
            id=id,
            status=status,
            session_id=session_id,
            by=by,
            reason=reason,
            blocker_type=blocker_type,
            expect_version=expect_version,
            claim_token=claim_token,
            request_id=request_id,
        )

    task_status = task_set_status

    def task_depend(
        self,
        id: str,
        on: str,
        *,
        session_id: str | None = None,
        by: str | None = None,
        reason: str = "",
        auto_unblock: bool = False,
        request_id: str | None = None,
    ) -> Answer:
        """Let a task wait for another one of its session.

        As `orchestrator task depend`; see `orchestrator.app.task.task_links.depend`.
        """
        return self._call(
            "task depend",
            id=id,
            on=on,
            session_id=session_id,
            by=by,
            reason=reason,
            auto_unblock=auto_unblock,
            request_id=request_id,
        )

    def task_undepend(
        self,
        id: str,
        on: str,
        *,
        session_id: str | None = None,
        by: str | None = None,
        reason: str = "",
        request_id: str | None = None,
    ) -> Answer:
        """Drop a dependency of a task.

        As `orchestrator task undepend`; see `orchestrator.app.task.task_links.undepend`.
        """
        return self._call(
            "task undepend", id=id, on=on, session_id=session_id, by=by, reason=reason, request_id=request_id
        )

    def task_list(
        self,
        session_id: str | None = None,
        *,
        group_id: str | None = None,
        status: str | None = None,
        assignee: str | None = None,
        parent: str | None = None,
        limit: int = 50,
        since: int | None = None,
    ) -> Answer:
        """The tasks of a session in the order of their creation.

        As `orchestrator task list`; see `orchestrator.app.task.task_views.tasks_of`.
        """
        return self._call(
            "task list",
            session_id=session_id,
            group_id=group_id,
            status=status,
            assignee=assignee,
            parent=parent,
            limit=limit,
            since=since,
        )

    def task_show(self, id: str, *, session_id: str | None = None, at_seq: int | None = None) -> Answer:
        """One task: what it waits for, what blocks it, what is open about it, its subtasks.

        As `orchestrator task show`; see `orchestrator.app.task.task_views.task`.
        """
        return self._call("task show", id=id, session_id=session_id, at_seq=at_seq)

    def blocker_list(
        self,
        session_id: str | None = None,
        *,
        group_id: str | None = None,
        task: str | None = None,
        open: bool = False,
        limit: int = 50,
        since: int | None = None,
    ) -> Answer:
        """The blockers of a session in the order in which they were opened.

        As `orchestrator blocker list`; see `orchestrator.app.task.lifting.blockers_of`.
        """
        return self._call(
            "blocker list", session_id=session_id, group_id=group_id, task=task, open=open, limit=limit, since=since
        )

    def blocker_show(self, id: str, *, session_id: str | None = None) -> Answer:
        """One blocker: who opened it, when and why, and what became of it.

        As `orchestrator blocker show`; see `orchestrator.app.task.lifting.blocker`.
        """
        return self._call("blocker show", id=id, session_id=session_id)

    def blocker_resolve(
        self,
        id: str,
        *,
        session_id: str | None = None,
        by: str | None = None,
        reason: str = "",
        request_id: str | None = None,
    ) -> Answer:
        """Resolve one blocker, as far as it is the caller's to lift.

        As `orchestrator blocker resolve`; see `orchestrator.app.task.lifting.resolve`.
        """
        return self._call("blocker resolve", id=id, session_id=session_id, by=by, reason=reason, request_id=request_id)
