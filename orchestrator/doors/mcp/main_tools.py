"""The tools of a main agent, who starts the agents of every role and reports for them.

They are those of one agent, but that the turn which a call is about says who acts: one that was taken on this server.
"""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.app.clients import main_agent
from orchestrator.app.clients.main_agent import Director, ForTurn, Place, ReportMessage, TakeTurn
from orchestrator.app.kernel import arguments, operations
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.app.task import implied_arguments
from orchestrator.core import names
from orchestrator.doors.mcp.tools import SESSION, TOOLS, Given, Tool
from orchestrator.errors import UsageError

_NOT_OF_A_START = ("start", "request_id")


def _handoff(context: Context, director: Director, given: Given) -> Answer:
    """Read a hand-off, or take its turn."""
    words = "handoff"
    asked = {name: value for name, value in given.items() if name not in _NOT_OF_A_START}
    bound = arguments.complete(context, words, arguments.bind(words, asked))
    if not given.get("start"):
        return operations.call(context, words, **bound)
    where = (bound[SESSION], bound.get("group_id"), bound.get("turn"))
    return main_agent.take(context, director, *where, given.get("request_id"))


def _route(context: Context, director: Director, given: Given) -> Answer:
    """Report for a turn that was taken here."""
    message = given.get("message")
    if (message is None) == (given.get("status") is None):
        raise UsageError("USAGE", "route needs message or status, and not both.", "Send the agent's last message")
    asked = {name: value for name, value in given.items() if name != "message"}
    unsaid = {"current_agent": "", "status": "", **asked}
    bound = arguments.complete(context, "route", arguments.bind("route", unsaid))
    role = names.role_name(bound["current_agent"]) or None
    place = Place(bound[SESSION], bound.get("group_id"), bound.get("turn"), role)
    again = place.turn is not None or bound.get("request_id") is not None
    start = main_agent.started(context, director, "route", place, also_over=again, message=message)
    kept = {name: value for name, value in bound.items() if name in asked or name == SESSION}
    return main_agent.report(context, start, kept, message)


def _task_status(context: Context, director: Director, given: Given) -> Answer:
    """Change the status of a task as the agent of a turn that was taken here."""
    words = implied_arguments.SET_STATUS
    asked = {name: value for name, value in given.items() if name not in ForTurn.parameters()}
    bound = arguments.complete(context, words, arguments.bind(words, {"id": "T", **asked}))
    place = Place(bound[SESSION], given.get("group_id"), given.get("turn"))
    agent = main_agent.started(context, director, words, place)["agent_id"]
    if "id" not in given:
        bound["id"] = implied_arguments.main_task(context, agent, bound[SESSION], bound.get("request_id"))
    return operations.call(context, words, **{**bound, "by": agent})


def _arguments(tool: Tool, *left_out: str, **more: str) -> Mapping[str, str]:
    return {**{name: what for name, what in tool.arguments.items() if name not in left_out}, **more}


def _of_the_turn(tool: Tool) -> Tool:
    """A tool on tasks, which takes the turn for whose agent it acts."""
    known = ForTurn.parameters()
    more = {name: each.field.help for name, each in known.items()}
    return tool._replace(
        arguments=_arguments(tool, **more), actor="", fill=None, besides=known, act=_task_status,
        description=f"{tool.description} The agent of the named turn acts, which must have been started here.",
    )


_REQUEST = TOOLS["route"].arguments["request_id"]
_ROUTE, _HANDOFF, _VALIDATE = TOOLS["route"], TOOLS["handoff"], TOOLS["validate_session"]
_CHANGED: tuple[Tool, ...] = (
    _ROUTE._replace(
        title="Report for an agent and learn who acts next",
        description=(
            "Report for an agent that you have started, by its whole last message or by a status. The answer is the"
            " decision: which agent acts next, with which turn. The turn must have been started with handoff. Where the"
            " message holds no valid report, send_back is what to tell the same agent. A project manager's plan is"
            " details.plan of its report."
        ),
        arguments={
            **{name: each.field.help for name, each in ReportMessage.parameters().items()},
            **_arguments(
                _ROUTE, "interrupt", "testing_mode", status="The status code, where no message is given.",
                group_id="The group of the turn (default: the only turn that is under way here).",
                current_agent="The reporting role (default: that of the turn).",
                turn="The turn that is answered.",
            ),
        },
        actor="", fill=None, filled=("current_agent", "status"), besides=ReportMessage.parameters(), act=_route,
    ),
    TOOLS["get_next_action"]._replace(
        title="What is due now",
        description=(
            "What is due now in the session: the open turns, each to be started unless it is under way already, the"
            " validator, or the question that a person must answer first."
        ),
        arguments=_arguments(TOOLS["get_next_action"], "task", group_id="Only this group."),
        actor="", aliases={},
    ),
    _of_the_turn(TOOLS["update_task_status"]),
    _of_the_turn(TOOLS["report_completed"]),
    _VALIDATE._replace(actor=""),
    _HANDOFF._replace(
        title="Start the agent of a turn",
        description=(
            "What the agent of a turn is given. With start true the turn is taken: give markdown to a new agent of that"
            " role as its whole prompt, and pass its last message to route. A turn is started once; another start of it"
            " is refused while it is under way."
        ),
        arguments={**_HANDOFF.arguments, **{name: each.field.help for name, each in TakeTurn.parameters().items()}},
        besides=TakeTurn.parameters(), act=_handoff, writes=True,
    ),
)  # fmt: skip
_MORE: tuple[Tool, ...] = (
    Tool(
        "create_session",
        "session create",
        "Begin a session",
        "Begin a session for a goal. The project manager is called first, to plan it.",
        {
            "id": "The new session's id.",
            "goal": "The goal, in the user's words.",
            "mode": "Groups at a time: simple one, parallel several.",
            "testing_mode": "How much testing is required.",
            "request_id": _REQUEST,
        },
        aliases={SESSION: "id"},
    ),
    Tool(
        "redispatch",
        "redispatch",
        "Replace an agent",
        "Start the awaited agent again under a new turn, where it died or did not report; the old turn becomes stale.",
        {
            "group_id": "The task group (default: the session as a whole).",
            "reason": "Why; kept in the record.",
            SESSION: _HANDOFF.arguments[SESSION],
            "request_id": _REQUEST,
        },
    ),
)
MAIN_TOOLS: dict[str, Tool] = {**TOOLS, **{tool.name: tool for tool in (*_CHANGED, *_MORE)}}
"""Every tool of a main agent by its name."""
