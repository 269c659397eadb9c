"""Workflow versions, for Python programs."""

from __future__ import annotations

from orchestrator.doors.python.calling import Answer, Caller


class Workflows(Caller):
    """Workflow versions."""

    def workflow_load(
        self,
        content: str,
        agent_texts: dict[str, str],
        *,
        source: str = "transitions.json",
        by: str = "project_manager",
        request_id: str | None = None,
    ) -> Answer:
        """Check a transitions file with its agent files, store them as one version, and make that the active one.

        As `orchestrator workflow load`; see `orchestrator.app.workflow.workflows.load`.
        """
        return self._call(
            "workflow load", content=content, agent_texts=agent_texts, source=source, by=by, request_id=request_id
        )

    def workflow_show(self, version: str | None = None) -> Answer:
        """One loaded version: its file as canonical JSON, and the agent files pinned with it.

        As `orchestrator workflow show`; see `orchestrator.app.workflow.workflows.show`.
        """
        return self._call("workflow show", version=version)

    def workflow_versions(
        self,
    ) -> Answer:
        """Every loaded version, oldest first, the active one marked.

        As `orchestrator workflow versions`; see `orchestrator.app.workflow.workflows.versions`.
        """
        return self._call("workflow versions")

    def workflow_diff(self, a: str, b: str) -> Answer:
        """What changed from one loaded version to another, transition by transition.

        As `orchestrator workflow diff`; see `orchestrator.app.workflow.workflows.compare`.
        """
        return self._call("workflow diff", a=a, b=b)

    def workflow_graph(
        self, *, format: str = "mermaid", session_id: str | None = None, group_id: str | None = None,
        version: str | None = None,
    ) -> Answer:
        """The workflow as a drawing in mermaid, dot or svg; with a session, its position highlighted, or a group's.

        As `orchestrator workflow graph`; see `orchestrator.app.workflow.workflows.graph`.
        """
        return self._call(
            "workflow graph", format=format, session_id=session_id, group_id=group_id, version=version
        )
