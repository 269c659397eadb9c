"""Endpoints made of the declarations: what they take, how that is checked and described, and what they answer.

Each reads or does what the command of the same operation does, with its keys and codes, without where the database
lies.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query

from orchestrator.app.kernel import operations, parameter_schemas
from orchestrator.app.kernel.requests import REQUIRED, Parameter
from orchestrator.app.running import run_list_views
from orchestrator.app.running.web_run_service import Caller, Service
from orchestrator.core import masking, strictjson
from orchestrator.core.tuples import NamedTuple
from orchestrator.doors.web.api import failures
from orchestrator.doors.web.api_reading import Answer, answer, read
from orchestrator.doors.web.callers import Document, Key, Reading, Serving, Writing
from orchestrator.doors.web.failures import Denied
from orchestrator.doors.web.reading import StrictRoute

router = APIRouter(prefix="/api")

MOST_ROWS = 500
"""Rows of an answer at most."""
_MAX_NAME = 300
"""Characters of a name in a query at most."""
_NONE: Mapping[str, Any] = {}
_ENVELOPE = ("schema", "db", "warnings")
"""Keys with which the command line wraps what it answers, and HTTP does not."""
_KEY = "request_id"


class Endpoint(NamedTuple):
    """One endpoint.

    path: below `/api`; what stands in braces is a parameter of the operation, a session `session`.
    words: the operation.
    name: how the description calls it.
    help: what it does, where that is not what the declaration says.
    query: the parameters that it takes in its query.
    defaults: of these, where they are not those of the declaration.
    status: with what a success is answered.
    failures: the statuses of failures.
    act: does what is asked for, where that is more than the operation.
    """

    path: str
    words: str
    name: str
    help: str = ""
    query: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = _NONE
    status: int = 200
    failures: tuple[int, ...] = (400, 401, 404, 503)
    act: Callable[[Service, Caller, dict[str, Any]], Answer] | None = None

    @property
    def places(self) -> dict[str, str]:
        """The parameters in its path, by the names that they have there."""
        known = operations.find(self.words).parameters()
        found = [part[1:-1] for part in self.path.split("/") if part.startswith("{")]
        return {name: name if name in known else f"{name}_id" for name in found}


READING = (
    Endpoint(
        "/sessions", "session list", "list_sessions", "Sessions in the order of their ids, including ended ones.",
        ("all", "limit", "since"), {"all": True}, failures=(400, 401, 503),
    ),
    Endpoint(
        "/sessions/{session}/decisions", "audit decisions", "list_decisions",
        "The decisions of a session: who was sent where, by which rule.", ("group_id", "limit", "since"),
    ),
    Endpoint(
        "/sessions/{session}/timeline", "audit timeline", "show_timeline",
        "All that happened in a session, in order.", ("group_id", "limit", "since"),
    ),
    Endpoint(
        "/sessions/{session}/status", "status", "show_status",
        "The state of a session: who is awaited, since when, and open questions.", ("brief",),
    ),
    Endpoint(
        "/inbox", "inbox", "show_inbox", "What is waiting for a person, oldest first.", ("session_id", "limit", "since")
    ),
    Endpoint(
        "/workflow/graph", "workflow graph", "show_graph",
        "The workflow as a drawing; with a session, its position is highlighted; with a group, only that group's.",
        ("format", "session_id", "group_id"),
    ),
)  # fmt: skip


def _answer_question(serving: Service, caller: Caller, given: dict[str, Any]) -> Answer:
    found = serving.answer(caller=caller, **given)
    with serving.pool.lent() as context:
        told: Answer = run_list_views.without_places(context, found["session_id"], found)
    return told


_REFUSED = (400, 401, 403, 404, 409, 413, 503)
WRITING = (
    Endpoint("/sessions", "session create", "create_session", status=201, failures=(400, 401, 403, 409, 413, 503)),
    Endpoint("/sessions/{session}/groups", "group create", "create_group", status=201, failures=_REFUSED),
    Endpoint("/sessions/{session}/reports", "route", "report", status=201, failures=_REFUSED),
    Endpoint("/sessions/{session}/validate", "validate", "validate", failures=_REFUSED),
    Endpoint("/questions/{id}/answer", "answer", "answer_question", failures=_REFUSED, act=_answer_question),
)


def _parameter(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _query(parameter: Parameter) -> Any:
    """The type of a parameter in a query, with what fits it."""
    field, nullable = parameter.field, parameter.nullable
    if field.choices:
        return Literal[field.choices]
    (kind,) = parameter.kinds
    if kind is bool:
        return bool
    if kind is int:
        least, most = field.span or (None, None)
        fits = Query(ge=least, le=MOST_ROWS if parameter.name == "limit" else most)
    else:
        fits = Query(max_length=_MAX_NAME)
    return Annotated[kind | None, fits] if nullable else Annotated[kind, fits]


def _signed(handle: Callable[..., Any], endpoint: Endpoint, *more: inspect.Parameter) -> Callable[..., Any]:
    """A handler with the name, the description and the signature that its endpoint has."""
    handle.__name__, handle.__doc__ = endpoint.name, endpoint.help or operations.find(endpoint.words).help()
    places = [_parameter(name, str) for name in endpoint.places]
    signature = inspect.Signature([*places, *more], return_annotation=Answer)
    handle.__signature__ = signature  # type: ignore[attr-defined]
    return handle


def _reading(endpoint: Endpoint) -> Callable[..., Any]:
    places, known = endpoint.places, operations.find(endpoint.words).parameters()

    def handle(serving: Service, caller: Caller, **given: Any) -> Answer:
        return read(serving, endpoint.words, **{places.get(name, name): value for name, value in given.items()})

    query = [_parameter(name, _query(known[name]), endpoint.defaults.get(name, known[name].default))
             for name in endpoint.query]  # fmt: skip
    return _signed(handle, endpoint, _parameter("serving", Serving), _parameter("caller", Reading), *query)


def _writing(endpoint: Endpoint) -> Callable[..., Any]:
    places = endpoint.places

    def handle(serving: Service, caller: Caller, key: str | None, document: dict[str, Any], **given: Any) -> Answer:
        named = {places[name]: value for name, value in given.items()}
        asked = _asked(endpoint, document, caller) | named | ({} if key is None else {_KEY: key})
        found = (endpoint.act or _operate(endpoint.words))(serving, caller, asked)
        told: Answer = masking.mask_value(found)
        return told

    more = (("serving", Serving), ("caller", Writing), ("key", Key), ("document", Document))
    return _signed(handle, endpoint, *(_parameter(*each) for each in more))


def _operate(words: str) -> Callable[[Service, Caller, dict[str, Any]], Answer]:
    def act(serving: Service, caller: Caller, given: dict[str, Any]) -> Answer:
        with serving.called(caller) as context:
            context.credential = caller.credential
            return answer(context, words, **given)

    return act


def _asked(endpoint: Endpoint, document: dict[str, Any], caller: Caller) -> dict[str, Any]:
    """What a body asks for, in the name of who calls: a person acts as nobody else.

    Raises:
        Denied: 400, the body has what stands in the address or the key; 403, a person names another actor.
    """
    for name in (*endpoint.places.values(), _KEY):
        if name in document:
            where = "the header Idempotency-Key" if name == _KEY else "the address"
            raise Denied(400, "USAGE", f"{name} is not part of the body; use {where}.")
    known = operations.find(endpoint.words).parameters()
    if caller.person is None or "by" not in known:
        return document
    if document.get("by") not in (None, caller.person):
        what = f"{caller.person} is acting here; leave by out."
        raise Denied(403, "NOT_PERMITTED", what)
    return {**document, "by": caller.person}


for each in READING:
    router.add_api_route(each.path, _reading(each), methods=["GET"], responses=failures(*each.failures))
for each in WRITING:
    router.add_api_route(
        each.path, _writing(each), methods=["POST"], status_code=each.status, responses=failures(*each.failures),
        route_class_override=StrictRoute,
    )  # fmt: skip


def describe(found: dict[str, Any]) -> None:
    """Say in the description of the interface what the endpoints that write take and answer."""
    for each in WRITING:
        path = "/api" + each.path
        operation = found["paths"][path]["post"]
        known = operations.find(each.words).parameters()
        taken = {name: known[name] for name in known if name not in (*each.places.values(), _KEY)}
        needed = [name for name in taken if taken[name].default is REQUIRED]
        schema = parameter_schemas.of_object(
            {name: parameter_schemas.of_parameter(taken[name]) for name in taken}, needed
        )
        content = {"application/json": {"schema": schema}}
        operation["requestBody"] = {"required": bool(needed), "content": content}
        answered = operation["responses"][str(each.status)]["content"]["application/json"]
        answered["schema"], shapes = _shape(each.words)
        found["components"]["schemas"].update(shapes)


def _shape(words: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The schema of an operation's answer without its envelope, and the schemas that it refers to."""
    from orchestrator.app import answers

    text = json.dumps(answers.json_schema(words, operations.find(words).answer))
    schema = strictjson.stored(text.replace("#/$defs/", "#/components/schemas/answers."))
    shapes = {f"answers.{name}": each for name, each in schema.pop("$defs", {}).items()}
    schema.pop("$schema")
    for name in _ENVELOPE:
        schema["properties"].pop(name, None)
    schema["required"] = [name for name in schema.get("required", ()) if name not in _ENVELOPE]
    return schema, shapes
