"""Registered actors, for Python programs."""

from __future__ import annotations

from orchestrator.doors.python.calling import Answer, Caller


class Agents(Caller):
    """Registered actors."""

    def agent_register(
        self,
        id: str,
        *,
        role: str,
        parent: str | None = None,
        kind: str = "ai",
        max_parallel_tasks: int = 1,
        by: str = "project_manager",
        request_id: str | None = None,
    ) -> Answer:
        """Register an agent under its parent.

        As `orchestrator agent register`; see `orchestrator.app.agents.register`.
        """
        return self._call(
            "agent register",
            id=id,
            role=role,
            parent=parent,
            kind=kind,
            max_parallel_tasks=max_parallel_tasks,
            by=by,
            request_id=request_id,
        )

    def agent_list(
        self,
        *,
        session_id: str | None = None,
        role: str | None = None,
        all: bool = False,
        limit: int = 50,
        since: str | None = None,
    ) -> Answer:
        """The registered agents in the order of their ids.

        As `orchestrator agent list`; see `orchestrator.app.agents.agents`.
        """
        return self._call("agent list", session_id=session_id, role=role, all=all, limit=limit, since=since)

    def agent_show(self, id: str) -> Answer:
        """One agent, with those above it up to the person, and the active ones right below it.

        As `orchestrator agent show`; see `orchestrator.app.agents.agent`.
        """
        return self._call("agent show", id=id)

    def agent_tree(self, *, session_id: str | None = None, all: bool = False) -> Answer:
        """The agents under those that they report to.

        As `orchestrator agent tree`; see `orchestrator.app.agents.agent_tree`.
        """
        return self._call("agent tree", session_id=session_id, all=all)

    def agent_deactivate(
        self, id: str, *, by: str | None = None, reason: str = "", request_id: str | None = None
    ) -> Answer:
        """Take an agent out of service; what it did stays, and it acts no more.

        As `orchestrator agent deactivate`; see `orchestrator.app.agents.deactivate`.
        """
        return self._call("agent deactivate", id=id, by=by, reason=reason, request_id=request_id)
