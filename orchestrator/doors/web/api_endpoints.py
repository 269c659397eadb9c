"""Endpoints made of the declarations: what they take, how that is checked and described, and what they answer.

Each reads or does what the command of the same operation does, with its keys and codes, without where the database
lies; runs, which are tasks of chats here, have operations of their own.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any, Literal

import orjson
from fastapi import APIRouter, Query, Response
from fastapi import Request as HttpRequest
from starlette.concurrency import run_in_threadpool

from orchestrator.app import answers, projects
from orchestrator.app.kernel import operations, parameter_schemas
from orchestrator.app.kernel.context import Context
from orchestrator.app.kernel.requests import REQUIRED, Parameter, Request
from orchestrator.app.running import requests, run_list_views
from orchestrator.app.running.web_run_service import Caller, Service
from orchestrator.core import masking, strict_json
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.suggestions import elsewhere
from orchestrator.doors.web import bodies, cancellation
from orchestrator.doors.web.api_reads import Answer, answer
from orchestrator.doors.web.authentication import Document, Key, Reading, Writing, service
from orchestrator.doors.web.bodies import failures
from orchestrator.doors.web.failures import Denied, told_as
from orchestrator.doors.web.request_reader import StrictRoute
from orchestrator.errors import Refused

router = APIRouter(prefix="/api")

MOST_ROWS = 500
"""Rows of an answer at most."""
_MAX_NAME = 300
"""Characters of a name in a query at most."""
_NONE: Mapping[str, Any] = {}
_ENVELOPE = ("schema", "db", "warnings")
"""Keys with which the command line wraps what it answers, and HTTP does not."""
_KEY = "request_id"
Then = Callable[[Service, Answer], Awaitable[Answer]]


class Endpoint(NamedTuple):
    """One endpoint.

    path: below `/api`; what stands in braces is a parameter of the operation, a session `session`.
    request: the declaration of the operation.
    name: how the description calls it.
    help: what it does, where that is not what the declaration says.
    query: the parameters that it takes in its query.
    defaults: of these, where they are not those of the declaration.
    body: how the description calls what is sent, of an operation that servers alone have.
    named: names that parameters have in a body, where these are others.
    status: with what a success is answered.
    failures: the statuses of failures.
    statuses: of errors, by their codes, where these are not those of their kinds.
    act: does what is asked for, where that is more than the operation: it takes the service and the caller, or where
        nothing is written a context, and the parameters.
    then: what is waited for before the answer.
    """

    path: str
    request: type[Request]
    name: str
    help: str = ""
    query: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = _NONE
    body: str = ""
    named: Mapping[str, str] = _NONE
    status: int = 200
    failures: tuple[int, ...] = (400, 401, 404, 503)
    statuses: Mapping[str, int] = _NONE
    act: Callable[..., Answer] | None = None
    then: Then | None = None

    @property
    def places(self) -> dict[str, str]:
        """The parameters in its path, by the names that they have there."""
        known = self.request.parameters()
        found = [part[1:-1] for part in self.path.split("/") if part.startswith("{")]
        return {name: name if name in known else f"{name}_id" for name in found}

    @property
    def sent(self) -> dict[str, Parameter]:
        """The parameters that stand in its body, by the names that they have there."""
        others = {parameter: name for name, parameter in self.named.items()}
        return {
            others.get(name, name): each
            for name, each in self.request.parameters().items()
            if name not in (*self.places.values(), _KEY) and each.field.help
        }

    @property
    def shape(self) -> Any:
        """What it answers, where that holds no more than its declaration says: that of servers alone."""
        return Answer if self.request.words else answers.shape(*self.request.answer)


def _show_session(context: Context, session_id: str) -> Answer:
    found = answer(context, "session show", session_id=session_id)
    return {**found, "groups": answer(context, "group list", session_id=session_id)["groups"]}


_of = operations.find
READING = (
    Endpoint("/projects", projects.ListProjects, "list_projects", failures=(401, 503)),
    Endpoint(
        "/task-groups", requests.ListChats, "list_groups", query=("limit", "offset", "status"), failures=(400, 401, 503)
    ),
    Endpoint("/task-groups/{group}/tasks", requests.ListTasksOfChat, "list_tasks"),
    Endpoint("/tasks/{id}", requests.ShowTaskOfChat, "show_task"),
    Endpoint(
        "/sessions", _of("session list"), "list_sessions", "Sessions in the order of their ids, including ended ones.",
        ("all", "limit", "since"), {"all": True}, failures=(400, 401, 503),
    ),
    Endpoint(
        "/sessions/{session}/decisions", _of("audit decisions"), "list_decisions",
        "The decisions of a session: who was sent where, by which rule.", ("group_id", "limit", "since"),
    ),
    Endpoint(
        "/sessions/{session}/timeline", _of("audit timeline"), "show_timeline",
        "All that happened in a session, in order.", ("group_id", "limit", "since"),
    ),
    Endpoint(
        "/sessions/{session}/status", _of("status"), "show_status",
        "The state of a session: who is awaited, since when, and open questions.", ("brief",),
    ),
    Endpoint(
        "/inbox", _of("inbox"), "show_inbox", "What is waiting for a person, oldest first.",
        ("session_id", "limit", "since"),
    ),
    Endpoint(
        "/workflow/graph", _of("workflow graph"), "show_graph",
        "The workflow as a drawing; with a session, its position is highlighted; with a group, only that group's.",
        ("format", "session_id", "group_id"),
    ),
    Endpoint(
        "/sessions/{session}", _of("session show"), "show_session", "A session with its groups.", act=_show_session
    ),
)  # fmt: skip

_REFUSED = (400, 401, 403, 404, 409, 413, 503)
_NO_BODY = (400, 401, 403, 404, 409, 503)
_NEW = (400, 401, 403, 409, 413, 503)
WRITING = (
    Endpoint(
        "/projects",
        projects.AddProject,
        "add_project",
        body="NewProject",
        named={"project_path": "path"},
        status=201,
        failures=_NEW,
        statuses={"ALREADY_EXISTS": 400},
        act=Service.add_project,
    ),
    Endpoint(
        "/projects/{project}/chat", requests.Chat, "chat", body="Chat", status=201, failures=_REFUSED, act=Service.chat
    ),
    Endpoint("/tasks/{id}/reply", requests.Reply, "reply", body="Reply", failures=_REFUSED, act=Service.reply),
    Endpoint("/tasks/{id}/retry", requests.Retry, "retry", failures=_NO_BODY, act=Service.retry),
    Endpoint(
        "/tasks/{id}/cancel",
        requests.Cancel,
        "cancel",
        failures=_NO_BODY,
        act=Service.cancel,
        then=cancellation.settled,
    ),
    Endpoint("/sessions", _of("session create"), "create_session", status=201, failures=_NEW),
    Endpoint("/sessions/{session}/groups", _of("group create"), "create_group", status=201, failures=_REFUSED),
    Endpoint("/sessions/{session}/reports", _of("route"), "report", status=201, failures=_REFUSED),
    Endpoint("/sessions/{session}/validate", _of("validate"), "validate", failures=_REFUSED),
    Endpoint("/questions/{id}/answer", _of("answer"), "answer_question", failures=_REFUSED, act=Service.answer),
)


def _parameter(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _query(parameter: Parameter) -> Any:
    """The type of a parameter in a query, with what fits it."""
    field, (kind,) = parameter.field, parameter.kinds
    if field.choices:
        kind = Literal[field.choices]  # type: ignore[assignment]
    elif kind is int:
        least, most = field.span or (None, None)
        fits = Query(ge=least, le=min(MOST_ROWS, most or MOST_ROWS) if parameter.name == "limit" else most)
        kind = Annotated[int, fits]  # type: ignore[assignment]
    elif kind is str:
        kind = Annotated[str, Query(max_length=_MAX_NAME)]  # type: ignore[assignment]
    return kind | None if parameter.nullable else kind


def _signed(handle: Callable[..., Any], endpoint: Endpoint, *more: inspect.Parameter) -> Callable[..., Any]:
    """A handler with the name, the description and the signature that its endpoint has."""
    handle.__name__, handle.__doc__ = endpoint.name, endpoint.help or endpoint.request.help()
    places = [_parameter(name, str) for name in endpoint.places]
    signature = inspect.Signature([*places, *more], return_annotation=Answer)
    handle.__signature__ = signature  # type: ignore[attr-defined]
    return handle


def _told(found: Answer, status: int = 200) -> Response:
    """An answer as it is sent: without what is local, its secrets masked."""
    sent = _json(found)
    if not _is_clean(sent):
        sent = _json(masking.mask_value(elsewhere(found)))
    return Response(sent, status, media_type="application/json")


_KNOWN_CLEAN = 1_024
"""So many answers are remembered by their SHA-256."""
_clean: set[bytes] = set()


def _is_clean(sent: bytes) -> bool:
    """Whether nothing in an answer can be a secret. Who follows a session is sent the same bytes again and again."""
    digest = hashlib.sha256(sent).digest()
    if digest in _clean:
        return True
    text = sent.decode()
    # Only behind a backslash could a secret be written in another way than in the value itself (SEC-7).
    if "\\" in text or masking.may_hold_secrets(text):
        return False
    if len(_clean) >= _KNOWN_CLEAN:
        _clean.clear()
    _clean.add(digest)
    return True


_KINDS = orjson.OPT_PASSTHROUGH_SUBCLASS | orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME


def _json(document: Answer) -> bytes:
    """A document without what is local; the writer asks only about texts and containers of a class of their own."""
    try:
        return orjson.dumps(document, elsewhere, _KINDS)
    except TypeError:
        # Integers of more than 64 bits, halves of characters, keys that are no plain texts.
        plain = elsewhere(document)
        return json.dumps(plain, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def _teller(endpoint: Endpoint) -> Callable[[Answer], Any]:
    """How an endpoint gives its answer: as it is sent, or to the framework where that has more to do."""
    if endpoint.shape is Answer and endpoint.then is None:
        return functools.partial(_told, status=endpoint.status)
    return lambda found: masking.mask_value(elsewhere(found))


def _reading(endpoint: Endpoint) -> Callable[..., Any]:
    places, request = endpoint.places, endpoint.request

    def act(context: Context, named: dict[str, Any]) -> Answer:
        if endpoint.act is not None:
            return endpoint.act(context, **named)
        if request.words:
            return answer(context, request.words, **named)
        found: Answer = run_list_views.with_places(context, None, operations.read(context, request, **named))
        return found

    tell = _teller(endpoint)

    def handle(http: HttpRequest, caller: Caller, **given: Any) -> Any:
        named = {places.get(name, name): value for name, value in given.items()}
        with service(http).pool.read() as context:
            return tell(act(context, named))

    known = request.parameters()
    query = [_parameter(name, _query(known[name]), endpoint.defaults.get(name, known[name].default))
             for name in endpoint.query]  # fmt: skip
    return _signed(handle, endpoint, _parameter("http", HttpRequest), _parameter("caller", Reading), *query)


def _writing(endpoint: Endpoint) -> Callable[..., Any]:
    places, act = endpoint.places, endpoint.act or functools.partial(_operate, endpoint.request.words)
    tell = _teller(endpoint)

    def handle(http: HttpRequest, caller: Caller, key: str | None, sent: Any = None, **given: Any) -> Any:
        named = {places[name]: value for name, value in given.items()} | ({} if key is None else {_KEY: key})
        try:
            return tell(act(service(http), caller=caller, **_asked(endpoint, sent, caller, named)))
        except Refused as problem:
            if problem.code in endpoint.statuses:
                raise told_as(problem, endpoint.statuses[problem.code]) from None
            raise

    more = (("http", HttpRequest), ("caller", Writing), ("key", Key), *_sent(endpoint))
    waiting = _waiting(handle, endpoint.then) if endpoint.then else handle
    return _signed(waiting, endpoint, *(_parameter(*each) for each in more))


def _waiting(handle: Callable[..., Answer], then: Then) -> Callable[..., Awaitable[Answer]]:
    async def handle_and_wait(http: HttpRequest, **given: Any) -> Answer:
        return await then(service(http), await run_in_threadpool(handle, http, **given))

    return handle_and_wait


def _sent(endpoint: Endpoint) -> tuple[tuple[str, Any], ...]:
    """The body as a parameter of a handler."""
    if endpoint.request.words:
        return (("sent", Document),)
    return (("sent", bodies.made(endpoint.body, endpoint.request.help(), endpoint.sent)),) if endpoint.body else ()


def _operate(words: str, serving: Service, *, caller: Caller, **given: Any) -> Answer:
    def act(context: Context) -> Answer:
        context.credential = caller.credential
        return answer(context, words, **given)

    return serving.carried_out(caller, words, given, act)


def _asked(endpoint: Endpoint, sent: Any, caller: Caller, named: dict[str, Any]) -> dict[str, Any]:
    """What is asked for, in the name of who calls: a person acts as nobody else.

    Args:
        named: what stands in the address and in the key.

    Raises:
        Denied: 400, the body has what stands there; 403, a person names another actor. OrchestratorError: something
            is wrong in the request itself.
    """
    if not endpoint.request.words:
        read = {endpoint.named.get(name, name): value for name, value in (sent.model_dump() if sent else {}).items()}
        operations.checked(endpoint.request(**read, **named))
        return read | named
    for name in (*endpoint.places.values(), _KEY):
        if name in sent:
            where = "the header Idempotency-Key" if name == _KEY else "the address"
            raise Denied(400, "USAGE", f"{name} is not part of the body; {where} says it.")
    if caller.person is None or "by" not in endpoint.request.parameters():
        return {**sent, **named}
    if sent.get("by") not in (None, caller.person):
        what = f"{caller.person} acts here, and under no other name; leave by out."
        raise Denied(403, "NOT_PERMITTED", what)
    return {**sent, "by": caller.person, **named}


_ASKED_OFTEN = frozenset(
    ("/sessions/{session}/status", "/sessions/{session}/reports", "/projects/{project}/chat", "/tasks/{id}")
)
"""The paths that come first: the framework tries one after the other."""


def _register(endpoint: Endpoint) -> None:
    if endpoint in READING:
        router.add_api_route(
            endpoint.path, _reading(endpoint), methods=["GET"], response_model=endpoint.shape,
            responses=failures(*endpoint.failures),
        )  # fmt: skip
        return
    router.add_api_route(
        endpoint.path, _writing(endpoint), methods=["POST"], status_code=endpoint.status, response_model=endpoint.shape,
        responses=failures(*endpoint.failures), route_class_override=StrictRoute,
    )  # fmt: skip


for each in sorted((*READING, *WRITING), key=lambda endpoint: endpoint.path not in _ASKED_OFTEN):
    _register(each)


def describe(found: dict[str, Any]) -> None:
    """Say in the description of the interface what the endpoints that write take and answer."""
    for each in (endpoint for endpoint in WRITING if endpoint.request.words):
        operation = found["paths"]["/api" + each.path]["post"]
        taken = each.sent
        needed = [name for name in taken if taken[name].default is REQUIRED]
        schema = parameter_schemas.of_object(
            {name: parameter_schemas.of_parameter(taken[name]) for name in taken}, needed
        )
        content = {"application/json": {"schema": schema}}
        operation["requestBody"] = {"required": bool(needed), "content": content}
        answered = operation["responses"][str(each.status)]["content"]["application/json"]
        answered["schema"], shapes = _shape(each.request)
        found["components"]["schemas"].update(shapes)


def _shape(request: type[Request]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The schema of an operation's answer without its envelope, and the schemas that it refers to."""
    text = json.dumps(answers.json_schema(request.words, request.answer))
    schema = strict_json.stored(text.replace("#/$defs/", "#/components/schemas/answers."))
    shapes = {f"answers.{name}": each for name, each in schema.pop("$defs", {}).items()}
    schema.pop("$schema")
    for name in _ENVELOPE:
        schema["properties"].pop(name, None)
    schema["required"] = [name for name in schema.get("required", ()) if name not in _ENVELOPE]
    return schema, shapes
