"""The server itself: tools and resources as the official SDK offers them, each call in a thread of its own."""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib import metadata
from typing import Any, TypeVar

import mcp_types as types
from anyio import CapacityLimiter, to_thread
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError

from orchestrator.core import names
from orchestrator.doors.mcp import prompts, resources, tools
from orchestrator.doors.mcp.tool_calls import Caller
from orchestrator.doors.mcp.tools import Tool
from orchestrator.errors import OrchestratorError

NAME = "orchestrator"
READERS = 4
"""How many reading calls may be under way at once. Writing ones take their turns, in the order in which they came."""
_T = TypeVar("_T")
_SchemaOf = Callable[[str], dict[str, Any]]
_Asked = ServerRequestContext[Any]


class Desk:
    """Takes requests, and has each answered in a thread, so that a long one does not keep the others waiting."""

    def __init__(self, caller: Caller, schema_of: _SchemaOf) -> None:
        self.caller = caller
        self._schema_of = schema_of
        self._writing, self._reading = CapacityLimiter(1), CapacityLimiter(READERS)
        self._under_way = 0
        self._tools: list[types.Tool] = []

    def busy(self) -> bool:
        """Whether a call is under way."""
        return self._under_way > 0

    async def _in_thread(self, action: Callable[[], _T], *, writes: bool = False) -> _T:
        self._under_way += 1
        try:
            # A step that has begun is ended, whoever still listens (MCP-15).
            return await to_thread.run_sync(action, limiter=self._writing if writes else self._reading)
        finally:
            self._under_way -= 1

    async def list_tools(self, asked: _Asked, page: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        """Every tool."""
        if not self._tools:
            self._tools = await self._in_thread(self._describe)
        return types.ListToolsResult(tools=self._tools)

    def _describe(self) -> list[types.Tool]:
        return [_described(tool, self._schema_of(tool.words)) for tool in self.caller.tools.values()]

    async def call_tool(self, asked: _Asked, call: types.CallToolRequestParams) -> types.CallToolResult:
        """Call a tool.

        Raises:
            MCPError: there is none of this name.
        """
        tool = self.caller.tools.get(call.name)
        if tool is None:
            near = names.nearest(call.name, self.caller.tools)
            hint = f"; did you mean {near}?" if near else "."
            raise MCPError(types.INVALID_PARAMS, f"There is no tool {names.shown(call.name)}{hint}")
        action = functools.partial(self.caller.call, tool, call.arguments or {})
        reply = await self._in_thread(action, writes=tool.is_writing)
        text = types.TextContent(type="text", text=reply.text)
        return types.CallToolResult(content=[text], structured_content=reply.document, is_error=reply.is_error)

    async def list_resources(
        self, asked: _Asked, page: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        """The resources of the session that the server is in."""
        found = await self._in_thread(functools.partial(resources.listed, self.caller))
        listed = [types.Resource(uri=each.uri, **_told(each)) for each in found]
        return types.ListResourcesResult(resources=listed)

    async def list_templates(
        self, asked: _Asked, page: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        """The resources of every session."""
        found = [each for each in resources.RESOURCES if each.is_template]
        templates = [types.ResourceTemplate(uri_template=each.uri, **_told(each)) for each in found]
        return types.ListResourceTemplatesResult(resource_templates=templates)

    async def read_resource(self, asked: _Asked, wanted: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        """Read a resource.

        Raises:
            MCPError: with the object of the error in its data.
        """
        uri = str(wanted.uri)
        found = await self._found(functools.partial(resources.read, self.caller, uri))
        content = types.TextResourceContents(uri=uri, mime_type=found.kind, text=found.text)
        return types.ReadResourceResult(contents=[content])

    async def _found(self, action: Callable[[], _T]) -> _T:
        """What is read outside of any tool.

        Raises:
            MCPError: with the object of the error in its data.
        """
        try:
            return await self._in_thread(action)
        except Exception as problem:
            document = self.caller.failed(problem, self.caller.settings.session_id).document
            known = isinstance(problem, OrchestratorError)
            code = types.INVALID_PARAMS if known else types.INTERNAL_ERROR
            raise MCPError(code, document["error"], document) from None

    async def list_prompts(self, asked: _Asked, page: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        """One prompt for each role, and one to report."""
        found = await self._in_thread(functools.partial(prompts.listed, self.caller))
        return types.ListPromptsResult(prompts=[_prompt(each) for each in found])

    async def get_prompt(self, asked: _Asked, wanted: types.GetPromptRequestParams) -> types.GetPromptResult:
        """The hand-off of a turn, or what to report.

        Raises:
            MCPError: with the object of the error in its data.
        """
        text = await self._found(
            functools.partial(prompts.text, self.caller, wanted.name, wanted.arguments or {})
        )
        content = types.TextContent(type="text", text=text)
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=content)])

    async def complete(self, asked: _Asked, wanted: types.CompleteRequestParams) -> types.CompleteResult:
        """The values with which an argument of a prompt, or a part of a URI, may go on.

        Raises:
            MCPError: with the object of the error in its data.
        """
        of = wanted.ref.name if isinstance(wanted.ref, types.PromptReference) else ""
        given = (wanted.context.arguments if wanted.context else None) or {}
        found = await self._found(
            functools.partial(
                prompts.completed, self.caller, of, wanted.argument.name, wanted.argument.value, given
            )
        )
        return types.CompleteResult(completion=types.Completion(values=found, total=len(found), has_more=False))


def _described(tool: Tool, answer: dict[str, Any]) -> types.Tool:
    writes = tool.is_writing
    # A verdict may end its session, and runs the commands of its criteria.
    judges = tool.words == "validate"
    hints = types.ToolAnnotations(
        title=tool.title, read_only_hint=not writes, destructive_hint=judges, idempotent_hint=not writes,
        open_world_hint=judges,
    )
    return types.Tool(
        name=tool.name, title=tool.title, description=tool.description, input_schema=tools.taken(tool),
        output_schema=tools.answered(answer), annotations=hints,
    )


def _prompt(prompt: prompts.Prompt) -> types.Prompt:
    taken = [
        types.PromptArgument(name=name, description=what, required=name in prompt.required)
        for name, what in prompt.arguments.items()
    ]
    return types.Prompt(name=prompt.name, description=prompt.description, arguments=taken)


def _told(resource: resources.Resource) -> dict[str, Any]:
    return {"name": resource.name, "description": resource.description, "mime_type": resource.kind}


_ACTS = (
    "You act as agent {}. Call get_next_action for what to do now, a task or the turn that is open, and get_status when"
    " you have lost your context. Report a turn once, with route; report a task with report_completed. A task is taken"
    " by setting it in_progress."
)
_DIRECTS = (
    "You direct a team: you start agents and report what they answer, and you do not plan, build, test or review"
    " yourself. Begin a session with create_session, or go on with the open one. Repeat: get_next_action names what is"
    " due. For each open turn that is not under way call handoff with start true, start an agent of that role with"
    " markdown as its whole prompt, and pass its last message unchanged to route. Agents that are due together may run"
    " together. Call validate_session when it is due. Stop when the session has ended or a person is awaited, and tell"
    " the user the verdict or the question word for word: no call here is a person's. If you have lost your context,"
    " call get_status."
)
_ANSWERS = (
    " A refusal is an error with a code and a suggestion: follow it, and do not repeat the same call. Answers name the"
    " tools to call next, each with its arguments as a JSON object. What is said to be done at the command line is for"
    " whoever runs this server: tell them."
)


def build(desk: Desk) -> Server[Any]:
    """A server whose requests a desk answers."""
    agent = desk.caller.settings.agent_id
    return Server(
        NAME,
        version=metadata.version("guarded-orchestrator"),
        instructions=f"{_DIRECTS if agent is None else _ACTS.format(agent)}{_ANSWERS}",
        on_list_tools=desk.list_tools,
        on_call_tool=desk.call_tool,
        on_list_resources=desk.list_resources,
        on_list_resource_templates=desk.list_templates,
        on_read_resource=desk.read_resource,
        on_list_prompts=desk.list_prompts,
        on_get_prompt=desk.get_prompt,
        on_completion=desk.complete,
    )
