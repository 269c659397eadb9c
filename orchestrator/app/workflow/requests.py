"""The operations on workflow versions."""

from __future__ import annotations

from orchestrator.app.kernel.requests import (
    BY_MANAGER,
    GROUP,
    OF_SESSION,
    REQUEST,
    SESSION_ID,
    UNREAD,
    Request,
    argument,
    flag,
    hidden,
    option,
)

_KEY = "The version's number, name or hash"


class LoadWorkflow(
    Request,
    words="workflow load",
    line="Check a workflow file and make it the active version.",
    example="orchestrator workflow load workflow/transitions.json --by project_manager",
    use_case="workflow.workflows:load",
    answer="shapes.WorkflowLoad",
    writes=True,
    marked=True,
):
    """Check a workflow file with its agent files, and make it the active version. While sessions are open, only a
    person may activate a version whose rules differ from the active one's in more than texts, models and
    include_context. What recorded sessions would have decided under the file, `workflow what-if` shows.
    """

    by: str = BY_MANAGER
    request_id: str | None = REQUEST
    content: str = hidden("The text of the transitions file.", holds=UNREAD)
    agent_texts: dict[str, str] = hidden("The texts of the agent files, by role.")
    source: str = hidden("The name of the transitions file.", default="transitions.json")


class AskWhatIf(
    Request,
    words="workflow what-if",
    line="Show what recorded sessions would have decided under a file.",
    example="orchestrator workflow what-if new.json --all",
    use_case="audit.what_if:what_if",
    answer="records.WhatIf",
):
    """Replay recorded sessions under another workflow file and list the decisions that differ: who would have been
    called, which groups would have completed. The first report that the file no longer accepts ends the comparison of
    its group. With --all, replay every session, on as many cores as there are. Nothing is written.
    """

    content: str = hidden("The text of the transitions file.", holds=UNREAD)
    source: str = hidden("The name of the transitions file.", default="transitions.json")
    agent_texts: dict[str, str] | None = hidden(
        "The texts of the agent files, by role (default: those each session is pinned to).", default=None
    )
    sessions: tuple[str, ...] = option(
        "A session; repeatable (default: ORCHESTRATOR_SESSION, else the only open orchestration, else the last one that"
        " ended).", "--session", "--session-id", "-s", default=(), metavar="ID", holds=SESSION_ID,
        variable="ORCHESTRATOR_SESSION",
    )  # fmt: skip
    every: bool = flag("Replay every session.", "--all")


class ShowVersion(
    Request,
    words="workflow show",
    example="orchestrator workflow show 1 --json",
    use_case="workflow.workflows:show",
    answer="shapes.WorkflowShow",
):
    """Show a loaded version."""

    version: str | None = argument(f"{_KEY} (default: the active one).", default=None)


class ListVersions(
    Request,
    words="workflow versions",
    example="orchestrator workflow versions",
    use_case="workflow.workflows:versions",
    answer="shapes.Versions",
):
    """List the loaded versions."""


class CompareVersions(
    Request,
    words="workflow diff",
    line="Compare two loaded versions.",
    example="orchestrator workflow diff 1 2",
    use_case="workflow.workflows:compare",
    answer="shapes.WorkflowDiff",
):
    """Compare two loaded versions, transition by transition."""

    a: str = argument(f"{_KEY}.")
    b: str = argument(f"{_KEY}.")


class DrawWorkflow(
    Request,
    words="workflow graph",
    line="Draw the workflow, with a session's position.",
    example="orchestrator workflow graph --format mermaid -s S1",
    use_case="workflow.workflows:graph",
    answer="shapes.WorkflowGraph",
):
    """Draw the workflow; with a session, its position is highlighted."""

    format: str = option(
        "The notation (default: mermaid; at a terminal: text).", default="mermaid",
        choices=("mermaid", "dot", "svg", "text"),
    )  # fmt: skip
    session_id: str | None = OF_SESSION
    group_id: str | None = GROUP._replace(help="Highlight this group of the session alone.")
    version: str | None = option(f"{_KEY} (default: the active one).", default=None)
