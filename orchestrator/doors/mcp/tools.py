"""The tools: which operation each is, what it takes, and what the server itself fills in.

An agent knows who it is only by how its server was started, so no tool takes an acting agent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from orchestrator.app.clients.main_agent import Director
from orchestrator.app.kernel import arguments, operations, parameter_schemas
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.app.kernel.parameter_schemas import Schema
from orchestrator.app.kernel.requests import REQUIRED, Parameter
from orchestrator.app.task import implied_arguments
from orchestrator.core.named_tuple import NamedTuple

Given = dict[str, Any]
Fill = Callable[[Context, str, Given], Given]
Act = Callable[[Context, Director, Given], Answer]
_NONE: Mapping[str, Any] = {}


class Tool(NamedTuple):
    """One tool.

    words: the operation behind it.
    arguments: what it takes besides the session, each with what it means, by the names of the use case's parameters.
    actor: the parameter that takes the acting agent, where the operation has one.
    fixed: parameters with one value.
    aliases: other names that are understood.
    fill: finds out what a caller may leave out.
    filled: what that is.
    besides: parameters that the tool has and its operation does not.
    act: carries the call out in place of the operation, where the tool does more than that.
    writes: whether a call may change the record though its operation only reads.
    """

    name: str
    words: str
    title: str
    description: str
    arguments: Mapping[str, str]
    actor: str = ""
    fixed: Mapping[str, Any] = _NONE
    aliases: Mapping[str, str] = _NONE
    fill: Fill | None = None
    filled: tuple[str, ...] = ()
    besides: Mapping[str, Parameter] = _NONE
    act: Act | None = None
    writes: bool = False

    @property
    def is_writing(self) -> bool:
        """Whether a call may change the record."""
        return self.writes or operations.find(self.words).is_writing

    @property
    def parameters(self) -> Mapping[str, Parameter]:
        """The parameters that its arguments are, by name."""
        return {**arguments.parameters(self.words), **self.besides}

    @property
    def required(self) -> tuple[str, ...]:
        """The arguments that cannot be left out."""
        known = self.parameters
        return tuple(
            name
            for name in self.arguments
            if known[name].default is REQUIRED and name not in (*self.filled, SESSION)
        )


SESSION = "session_id"
_SESSION = {SESSION: "The session (default: the server's own, else the only open one)."}
_REQUEST = {"request_id": "Idempotency key: repeating the call with the same id and arguments returns the same result."}
_GROUP_ALIAS = {"group_id": "id"}
_PAGE = {
    "since": "Only what comes after this step of the session.",
    "until": "Only what comes up to this step.",
    "limit": "Maximum number of rows.",
    "order": "asc or desc, by step.",
}


def _role(context: Context, agent: str, given: Given) -> Given:
    """The role of the acting agent, where the report names none."""
    if given.get("current_agent") is not None:
        return given
    asked = {name: given[name] for name in (SESSION,) if name in given}
    bound = arguments.complete(context, "route", arguments.bind("route", {**asked, "current_agent": "", "status": ""}))
    role = implied_arguments.role(context, agent, bound[SESSION], dry_run=given.get("dry_run") is True)
    return {**given, "current_agent": role}


def _main_task(context: Context, agent: str, given: Given) -> Given:
    """The main task of the acting agent, where the report names none."""
    if given.get("id") is not None:
        return given
    asked = {name: given[name] for name in (SESSION, "request_id") if name in given}
    bound = arguments.complete(
        context,
        implied_arguments.SET_STATUS,
        arguments.bind(implied_arguments.SET_STATUS, {**asked, "id": "T", **_DONE}),
    )
    return {**given, "id": implied_arguments.main_task(context, agent, bound[SESSION], bound.get("request_id"))}


_DONE: Mapping[str, Any] = {"status": "done"}

TOOLS: dict[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool(
            "route",
            "route",
            "Report and learn who acts next",
            "Report how your turn on a group ended. The answer is the decision: which agent acts next, in which"
            " turn, and the rules that led there. Call it once per turn, with a status listed in your hand-off.",
            {
                "status": "The status code to report, such as READY_FOR_QA or BLOCKED.",
                "group_id": "The task group. Optional for a project manager.",
                "current_agent": "The role in which you report (default: your own).",
                "turn": "The turn this report answers, as named in the hand-off. A turn is answered once.",
                "summary": "What was done, in a sentence.",
                "details": "A JSON object with context for the next agent.",
                "metadata": "A JSON object: how far you got, and what stopped you.",
                "acknowledge": "Project manager: an object of group id to reason, for groups accepted as they are.",
                "testing_mode": "Repeat or tighten the session's testing mode.",
                "interrupt": "Project manager: supersede another role's open turn.",
                "dry_run": "Show the decision without recording anything.",
                "run_commands": "Run the commands that are due at this status first; a failing one refuses it.",
                **_SESSION,
                **_REQUEST,
            },
            actor="agent_id",
            fill=_role,
            filled=("current_agent",),
        ),
        Tool(
            "get_next_action",
            "next",
            "What to do now",
            "The one thing to do next: start, continue or unblock a task, report completion, or wait, with the"
            " reason. Read-only; ask again after every change.",
            {"task": "The task (default: your own).", **_SESSION},
            actor="agent_id",
            aliases={"task_id": "task", "id": "task"},
        ),
        Tool(
            "update_task_status",
            implied_arguments.SET_STATUS,
            "Change a task's status",
            "Move a task to backlog, todo, in_progress, blocked, done or cancelled, within the allowed moves, your"
            " permissions and the guards. A refusal says what is in the way and who may remove it.",
            {
                "id": "The task.",
                "status": "backlog, todo, in_progress, blocked, done or cancelled.",
                "reason": "Why; required for blocked and cancelled.",
                "blocker_type": "With blocked: what kind of blocker it is; manual where left out.",
                "expect_version": "Reject the change if the task has another version.",
                "claim_token": "The token returned by the claim.",
                **_SESSION,
                **_REQUEST,
            },
            actor="by",
            aliases={"task_id": "id"},
        ),
        Tool(
            "report_completed",
            implied_arguments.SET_STATUS,
            "Report the main task done",
            "Set your main task, the one you have in progress, to done. Refused with COMPLETION_GATE while anything"
            " below it is open; `next` in the refusal says what to do instead.",
            {
                "id": "The task (default: your main task).",
                "expect_version": "Reject the change if the task has another version.",
                "claim_token": "The token returned by the claim.",
                **_SESSION,
                **_REQUEST,
            },
            actor="by",
            fixed=_DONE,
            aliases={"task_id": "id", "task": "id"},
            fill=_main_task,
            filled=("id",),
        ),
        Tool(
            "validate_session",
            "validate",
            "Validate a session",
            "Validate a session against its record. ACCEPT completes the groups that may be completed and ends the"
            " session; REJECT calls the project manager with the list of what is missing. Runs the commands of the"
            " criteria. Unless the project"
            " manager's last report is BAZINGA, this is a dry run.",
            {
                "dry_run": "Record nothing and run no commands.",
                "record": "Record a verdict even if the project manager's last report is not BAZINGA.",
                "run_commands": "In a dry run, run the criteria's commands as well.",
                "command_timeout": "Timeout of a command in seconds.",
                **_SESSION,
                **_REQUEST,
            },
            actor="by",
        ),
        Tool(
            "get_status",
            "status",
            "State of the session",
            "The state of a session: who is awaited and since when, its groups, open questions, what stalls it, and"
            " the verdict. Call this first if you have lost your context.",
            {
                "brief": "Do not list the groups.",
                "at_seq": "Show it as it was after this step of the session.",
                **_SESSION,
            },
        ),
        Tool(
            "get_group",
            "group show",
            "One task group",
            "One task group: who is awaited, its counters, blockers, and each part of its completion path.",
            {"id": "The task group.", "at_seq": "Show it as it was after this step of the session.", **_SESSION},
            aliases=_GROUP_ALIAS,
        ),
        Tool(
            "list_decisions",
            "audit decisions",
            "Who was sent where",
            "The decisions of a session in order: who was sent where, on which report, by which rules.",
            {
                "group_id": "Only decisions on this group.",
                "agent": "Only decisions on reports of this role or agent.",
                "status": "Only decisions on this response status.",
                **_PAGE,
                **_SESSION,
            },
        ),
        Tool(
            "handoff",
            "handoff",
            "What the agent of a turn was given",
            "What the agent of a turn was given: goal, role text, context, blockers, guidance, the statuses that it may"
            " report, and its turn.",
            {
                "group_id": "The task group (default: the session as a whole).",
                "turn": "The turn (default: the latest).",
                **_SESSION,
            },
        ),
    )
}


def taken(tool: Tool) -> Schema:
    """The JSON Schema of a tool's arguments."""
    known = tool.parameters
    properties = {name: parameter_schemas.of_parameter(known[name], what) for name, what in tool.arguments.items()}
    return parameter_schemas.of_object(properties, tool.required)


def answered(found: Schema) -> Schema:
    """The schema of an answer with its kind at the root, where the protocol wants it."""
    return {"type": "object", **found}
