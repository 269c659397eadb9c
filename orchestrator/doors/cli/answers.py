"""Which shape every command's answer has, for `schema COMMAND` and the tests that hold the answers to it.

Cold: pydantic makes the JSON Schemas.
"""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter

from orchestrator.doors.cli import answer_audits as audits
from orchestrator.doors.cli import answer_next, answer_tasks
from orchestrator.doors.cli import answer_people as people
from orchestrator.doors.cli import answer_records as records
from orchestrator.doors.cli import answer_runs as runs
from orchestrator.doors.cli import answer_shapes as shapes
from orchestrator.doors.cli import answer_verifying as verifying

SHAPES: dict[str, Any] = {
    "init": shapes.Init,
    "demo": shapes.Demo,
    "route": shapes.Decision,
    "status": shapes.Status | shapes.Overview,
    "next": answer_next.NextAction | answer_next.Postflight,
    "task create": answer_tasks.OneTask,
    "task set-status": answer_tasks.OneTask,
    "task status": answer_tasks.OneTask,
    "task depend": answer_tasks.OneTask,
    "task undepend": answer_tasks.OneTask,
    "task list": answer_tasks.Tasks,
    "task show": answer_tasks.TaskShow,
    "blocker list": answer_tasks.Blockers,
    "blocker show": answer_tasks.OneBlocker,
    "blocker resolve": answer_tasks.Resolved,
    "task claim": answer_next.Claimed,
    "task heartbeat": answer_next.Claimed,
    "task release": answer_next.Claimed,
    "why": shapes.WhyGroup | shapes.WhyDecision | shapes.WhyQuestion | answer_tasks.WhyTask,
    "handoff": shapes.Handoff,
    "redispatch": shapes.Decision,
    "inbox": people.Inbox,
    "answer": people.Answered,
    "human enrol": people.Enrolled,
    "human list": people.Listed,
    "human link": people.Linked,
    "human remove": people.Removal,
    "human reset": people.ResetAsked,
    "session create": shapes.OneSession,
    "session list": shapes.Sessions,
    "session show": shapes.SessionShow,
    "session pause": shapes.OneSession,
    "session resume": shapes.OneSession,
    "session end": shapes.OneSession,
    "session testing-mode": shapes.OneSession,
    "session upgrade-workflow": shapes.OneSession,
    "group create": shapes.OneGroup,
    "group list": shapes.Groups,
    "group show": shapes.GroupShow,
    "group set-status": shapes.OneGroup,
    "group depend": shapes.OneGroup,
    "group undepend": shapes.OneGroup,
    "criterion add": shapes.OneCriterion,
    "criterion list": shapes.Criteria,
    "criterion set": shapes.OneCriterion,
    "criterion remove": shapes.OneCriterion,
    "import peer": shapes.Import,
    "validate": shapes.Validation,
    "agent register": shapes.OneAgent,
    "agent list": shapes.Agents,
    "agent show": shapes.AgentShow,
    "agent tree": shapes.AgentTree,
    "agent deactivate": shapes.OneAgent,
    "workflow load": shapes.WorkflowLoad,
    "workflow check": shapes.WorkflowCheck,
    "workflow show": shapes.WorkflowShow,
    "workflow versions": shapes.Versions,
    "workflow diff": shapes.WorkflowDiff,
    "workflow graph": shapes.WorkflowGraph,
    "metadata check": shapes.Metadata,
    "audit decisions": shapes.Decisions,
    "audit timeline": shapes.Timeline,
    "audit refusals": shapes.Refusals,
    "audit verify": verifying.Verify,
    "audit head": verifying.Heads,
    "audit replay": records.Replay,
    "audit export": records.Export,
    "audit import": records.Import,
    "audit blockers": audits.Blockers,
    "audit gaps": audits.Gaps,
    "audit stats": audits.Stats,
    "audit query": audits.Query,
    "db upgrade": shapes.Moved,
    "db downgrade": shapes.Moved,
    "db current": shapes.Current,
    "db check": shapes.Check,
    "db backup": shapes.Backup,
    "db restore": shapes.Restored,
    "doctor": shapes.Doctor,
    "run": runs.OneRun,
    "repl": runs.Line,
    "batch": shapes.Batch,
    "serve": runs.Listening,
    "mcp": dict[str, Any],
    "schema": dict[str, Any],
}


def json_schema(words: str) -> dict[str, Any]:
    """The JSON Schema of a command's answer, errors included.

    Raises:
        KeyError: there is no command of these words.
    """
    shape = SHAPES[words]
    if words not in ("batch", "mcp", "schema"):
        shape = shape | shapes.Failure
    found: dict[str, Any] = TypeAdapter(shape).json_schema()
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"orchestrator {words}"}
    return {**head, **found, **head}
