"""A tool's call from its arguments to its answer. Each is lent the database, and does one thing in it.

Connections are kept between calls, since opening one costs more than most calls, but nothing of the database is: a
server which lives for days neither holds the write-ahead log, nor misses that the file was upgraded, replaced or
deleted.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import uuid
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from orchestrator import bootstrap
from orchestrator.app.clients.main_agent import Director, own_start
from orchestrator.app.kernel import agent_checks, arguments, human, operations
from orchestrator.app.kernel.connection_pool import Pool
from orchestrator.app.kernel.context import Context
from orchestrator.app.running import work_leases
from orchestrator.core import fields, masking, names, oversized, strict_json
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.suggestions import elsewhere, is_local, reword, sentence, suggest, suggestions
from orchestrator.doors.mcp import suggested_calls
from orchestrator.doors.mcp.main_tools import MAIN_TOOLS
from orchestrator.doors.mcp.tools import SESSION, TOOLS, Given, Tool
from orchestrator.errors import EnvironmentProblem, OrchestratorError, UsageError

DOOR = CHANNEL = "mcp"
_ACTORS = ("agent_id", "by", "human_token_file")
_PATHS = ("db", "path", "resource")
"""Keys of an error's data that hold paths."""
_OPERATOR = reword(sentence("For whoever runs this server, {}", suggest("doctor")), suggested_calls.worded)
_T = TypeVar("_T")


class Settings(NamedTuple):
    """How a server was started: as whom, in which session, on which database; each with its usual default.

    Without an agent it is the main agent's, who acts for each role that it has started.
    """

    agent_id: str | None
    session_id: str | None = None
    db: str | None = None
    debug: bool = False


class Reply(NamedTuple):
    """What a call answers, by the keys of the command line's JSON, and whether it is an error."""

    document: dict[str, Any]
    is_error: bool

    @property
    def text(self) -> str:
        """The document as JSON that fits everywhere."""
        return json.dumps(self.document, default=str)


class Caller:
    """Makes the calls of one server."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.is_main = settings.agent_id is None
        self.tools = MAIN_TOOLS if self.is_main else TOOLS
        self.worded = suggested_calls.main_worded if self.is_main else suggested_calls.worded
        self.director = Director(f"{CHANNEL}-{os.getpid()}-{uuid.uuid4().hex[:8]}", bootstrap.owner(os.getpid()))
        """Who takes turns on the main agent's server: this process."""
        self.leaving = threading.Event()
        """Set when the server is to end: commands that validation runs end with it."""
        self._path: str | None = None
        self._url = bootstrap.server(settings.db)
        self._pool = Pool(self._open, shares_commits=self._url is None)
        self._lease: work_leases.Lease | None = None
        self._leasing = threading.Lock()

    def prepare(self) -> None:
        """Load what the tools need, and keep to the database that is there at the start.

        Raises:
            Refused: UNKNOWN_AGENT, NOT_PERMITTED, HUMAN_REQUIRED: nobody can act here as whom the server is started.
        """
        for tool in self.tools.values():
            arguments.parameters(tool.words)
        try:
            self.within(self._require_agent)
        except EnvironmentProblem as problem:
            log(f"{problem.code}: {problem.message}")

    def _require_agent(self, context: Context) -> None:
        if self.settings.agent_id is None:
            return
        agent = agent_checks.require_agent(context, self.settings.agent_id)
        if agent.kind == "human":
            # Nothing proves a person here, so that every act would be refused.
            why = "an MCP server acts for an agent and is no proof of a person"
            raise human.refusal(f"Acting as {agent.id}", why, sentence("Name an agent: {}", suggest("agent list")))
        agent_checks.refuse_program(agent)

    def _open(self, write: bool) -> Context:
        """The database, for calls one after another: the one that was found first, whatever else there is by now.

        Raises:
            OrchestratorError: as `orchestrator.bootstrap.open_context`.
        """
        named = self._url or self._path or self.settings.db
        context = bootstrap.open_context(
            named, write=write, door=DOOR, channel=CHANNEL, shared=True, stays=True, together=write
        )
        self._path = context.path
        context.run = self._run
        return context

    def _run(self, argv: Sequence[str], **settings: Any) -> Any:
        """Run a command of a criterion; where the server is to end nothing is made of it.

        Raises:
            OrchestratorError: INTERRUPTED.
        """
        given = settings.pop("cancelled", None) or (lambda: False)
        ended = bootstrap.run_command(argv, cancelled=lambda: self.leaving.is_set() or given(), **settings)
        if self.leaving.is_set():
            raise OrchestratorError("INTERRUPTED", "Interrupted; nothing was recorded.", "Repeat the call")
        return ended

    def call(self, tool: Tool, given: Given) -> Reply:
        """Call a tool; what goes wrong is an answer as well."""
        session = self.settings.session_id
        try:
            taken = self.taken(tool, given)
            session = taken.get(SESSION, session)
            return Reply(shown(self._performed(tool, taken), self.worded), False)
        except Exception as problem:
            return self.failed(_worded(tool, problem), session if isinstance(session, str) else None)

    def failed(self, problem: Exception, session: str | None) -> Reply:
        """The answer that says what went wrong."""
        if not isinstance(problem, OrchestratorError):
            problem = bootstrap.environment_problem(problem, self._path or "") or self._logged(problem)
        found = problem.data.get("_session") or session
        return Reply(shown(failure(problem, found, self.worded), self.worded), True)

    def taken(self, tool: Tool, given: Given) -> Given:
        """The arguments by the use case's names, with what the server itself knows.

        Raises:
            UsageError: USAGE, an argument that the tool does not have, or one that is missing.
        """
        found: Given = {}
        for name, value in given.items():
            key = tool.aliases.get(name, name)
            if key not in tool.arguments:
                raise _unknown(tool, name)
            if key in found:
                raise UsageError("USAGE", f"{tool.name} was given {key} twice.", _takes(tool))
            if value is not None:
                found[key] = _object(tool, key, value)
        missing = [name for name in tool.required if name not in found]
        if missing:
            raise UsageError("USAGE", f"{tool.name} needs {', '.join(missing)}.", _takes(tool))
        session = self.settings.session_id if SESSION in tool.arguments else None
        own = {SESSION: session} if session else {}
        actor = {tool.actor: self.settings.agent_id} if tool.actor else {}
        # The agent comes last: no argument of a call may say who acts (MCP-2).
        return {**own, **found, **tool.fixed, **actor}

    def _performed(self, tool: Tool, taken: Given) -> dict[str, Any]:
        def perform(context: Context) -> dict[str, Any]:
            act = self._directed if tool.act else self._acted
            answer = act(context, tool, taken)
            answer.pop("exit_code", None)
            return operations.success(answer, context.path)

        if not tool.is_writing:
            return self.within(perform)
        request = None if tool.act else operations.find(tool.words)
        # What the main agent's own tools do is more than a step.
        joins, trial = (False, False) if request is None else (not request.is_alone(taken), request.is_trial(taken))
        return self._pool.carried_out(perform, joins=joins, trial=trial)

    def _acted(self, context: Context, tool: Tool, taken: Given) -> dict[str, Any]:
        """Carry out the operation of a tool, as the agent of the server where it has one."""
        words, agent = tool.words, self.settings.agent_id
        given = tool.fill(context, agent, taken) if tool.fill and agent else taken
        bound = arguments.complete(context, words, arguments.bind(words, given))
        try:
            if agent is not None and words == "route":
                where = (bound[SESSION], bound.get("group_id"), bound.get("turn"))
                context.start = own_start(context, agent, *where)
            return operations.call(context, words, **bound)
        except OrchestratorError as problem:
            problem.data.setdefault("_session", operations.session_of(words, bound))
            raise
        finally:
            context.start = None

    def _directed(self, context: Context, tool: Tool, taken: Given) -> dict[str, Any]:
        """Carry out a tool of the main agent that depends on what it has started."""
        assert tool.act is not None  # noqa: S101 - its caller has looked
        self._keep_lease(context)
        for name, parameter in tool.besides.items():
            if name in taken:
                arguments.fitting(tool.words, parameter, taken[name])
        try:
            return tool.act(context, self.director, taken)
        except OrchestratorError as problem:
            problem.data.setdefault("_session", taken.get(SESSION))
            raise

    def _keep_lease(self, context: Context) -> None:
        """Have other machines know, of a database on a server, that the turns which were taken here are somebody's."""
        if self._url is None:
            return
        with self._leasing:
            if self._lease is not None and self._lease.is_lost():
                self._lease.drop()
                self._lease = None
            self._lease = self._lease or work_leases.take_own(context)

    def within(self, action: Callable[[Context], _T]) -> _T:
        """Read something of the database, as `Pool.lent` says."""
        with self._pool.lent() as context:
            return action(context)

    def close(self) -> None:
        """Let the database go, and with it the turns that were taken here."""
        with self._leasing:
            if self._lease is not None:
                self._lease.give_back()
                self._lease = None
        self._pool.close()

    def _logged(self, problem: Exception) -> OrchestratorError:
        log(f"unexpected {type(problem).__name__}: {names.shown(str(problem))}")
        if self.settings.debug:
            import traceback

            log("".join(traceback.format_tb(problem.__traceback__)))
        return unexpected(problem)


def failure(
    problem: OrchestratorError, session: str | None, worded: suggested_calls.Worded = suggested_calls.worded
) -> dict[str, Any]:
    """The object of an error, with calls of tools where use cases suggest commands.

    Args:
        session: the one that the call was about.
        worded: says a suggestion in the words of the server.
    """
    rest = {name: value for name, value in problem.data.items() if not _is_place(name, value)}
    suggestion = _OPERATOR if is_local(problem.suggestion) else problem.suggestion
    told = type(problem)(problem.code, problem.message, suggestion, **rest)
    said: dict[str, Any] = elsewhere(operations.failure(told, operations.hinted(problem, session)), worded)
    return said


def unexpected(problem: Exception) -> OrchestratorError:
    """A fault of the program, without its words, which may hold anything."""
    what = f"Unexpected: {type(problem).__name__}."
    return OrchestratorError("INTERNAL", what, "See the server log, and report it as a bug")


def _is_place(name: str, value: Any) -> bool:
    return name in _PATHS and isinstance(value, str) and os.path.isabs(value)


def shown(
    document: dict[str, Any], worded: suggested_calls.Worded = suggested_calls.worded
) -> dict[str, Any]:
    """The document in the words of a server, with secrets masked, of nothing but what JSON has."""
    said = reword(document, worded)
    found: dict[str, Any] = strict_json.stored(json.dumps(masking.mask_document(said), default=str))
    return found


def log(words: str) -> None:
    """Write a line to the log, which is stderr; where that fails there is nobody left to tell."""
    masked: str = masking.mask_document(words)
    try:
        print(f"orchestrator mcp: {masked}", file=sys.stderr, flush=True)
    except (OSError, ValueError):
        pass


def _unknown(tool: Tool, name: str) -> UsageError:
    if name in _ACTORS:
        fixed = "who acts is fixed when the server is started, with --agent-id"
        fixed = "the turn says who acts" if tool.act else fixed
        message = f"{tool.name} takes no {name}: {fixed}."
        return UsageError("USAGE", message, _takes(tool))
    near = names.nearest(name, (*tool.arguments, *tool.aliases))
    hint = f"; did you mean {near}?" if near else "."
    return UsageError(
        "USAGE", f"{tool.name} has no argument {names.shown(name)}{hint}", _takes(tool), did_you_mean=near
    )


_FORMS = {
    "details": '{"files": ["login.py"]}', "metadata": '{"status": "implemented"}', "acknowledge": '{"GROUP": "REASON"}',
}  # fmt: skip
"""What an object looks like that an argument takes."""


def _object(tool: Tool, name: str, value: Any) -> Any:
    """A value; where an object is asked for, also from its JSON as a text, which is how some clients send it.

    Raises:
        UsageError: USAGE, with the form that is wanted.
    """
    if tool.parameters[name].kinds != (dict,) or isinstance(value, dict):
        return value
    form = f'"{name}": {_FORMS.get(name, "{}")}'
    why = f"not {fields.kind(value)}"
    if isinstance(value, str):
        try:
            found = strict_json.loads(value, f"the text of {name}", oversized.REPORT_LIMIT)
        except strict_json.JsonProblem as problem:
            why = f"and {problem.message}"
        else:
            if isinstance(found, dict):
                return found
    raise UsageError("USAGE", f"{tool.name}: {name} must be an object, {why}.", f"Send it as {form}", form=form)


def _takes(tool: Tool) -> str:
    return f"{tool.name} takes: {', '.join(tool.arguments)}"


def _worded(tool: Tool, problem: Exception) -> Exception:
    """A problem with arguments in the words of the tool, where the use case speaks of a command."""
    if isinstance(problem, UsageError):
        if problem.message.startswith(tool.words):
            problem.message = tool.name + problem.message.removeprefix(tool.words)
        asks = any("help" in each.arguments for each in suggestions(problem.suggestion))
        if not problem.suggestion or asks:
            problem.suggestion = _takes(tool)
    return problem
