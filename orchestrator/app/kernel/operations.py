"""The operations that doors offer, found by their words; each is declared once, in the requests of its feature.

Every door calls `call`; none knows another home for the same thing. Declarations and use cases are imported when they
are asked for. What doors take from outside goes through `orchestrator.app.kernel.arguments` first.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Sequence

from orchestrator.app.kernel.context import (
    NO_CIRCUMSTANCES,
    Action,
    Answer,
    Circumstances,
    Context,
    Work,
    call_of,
    perform,
)
from orchestrator.app.kernel.requests import DECLARED, Request
from orchestrator.core import names
from orchestrator.core.oversized import Moved
from orchestrator.core.suggestions import again, suggest
from orchestrator.errors import OrchestratorError, Refused, UsageError
from orchestrator.hints import Any

FEATURES: dict[str, str] = {
    "install": "clients",
    "route": "reports",
    "next": "task",
    "status": "session",
    "why": "audit",
    "handoff": "reports",
    "redispatch": "reports",
    "drive": "driving",
    "inbox": "questions",
    "answer": "people",
    "human": "people",
    "session": "session",
    "group": "session",
    "task": "task",
    "blocker": "task",
    "criterion": "verdict",
    "import": "audit",
    "validate": "verdict",
    "agent": "agents",
    "workflow": "workflow",
    "audit": "audit",
    "certificate": "audit",
}
"""The feature that declares the operations which begin with a word."""

STEPS: dict[str, str] = {
    "init": "setup:RegisterAgents",
    "give up": "reports.redispatch:GiveUp",
    "human enrol": "people.enrolment:KeepProof",
    "human link": "people.enrolment:KeepLink",
    "human open": "people.enrolment:UseLink",
    "human verify": "people.person_proof:FailToVerify",
    "project add": "projects:AddProject",
    "run queue": "running.run_queue:QueueRun",
    "run retry": "running.run_queue:RetryRun",
    "run cancel": "running.run_queue:CancelRun",
    "run unanswered": "running.run_queue:EndUnanswered",
    "run stop": "running.run_queue:StopRun",
    "run wait": "running.start_run:AwaitStart",
    "run start": "running.start_run:StartRun",
    "run abandon": "running.start_run:AbandonRun",
    "run hold": "running.preflight:HoldRun",
    "run finish": "running.finish_run:FinishRun",
    "run expire": "running.retention:ExpireEvidence",
    "run choose": "running.run_session:ChooseProvider",
    "turn queue": "running.turn_runs:QueueTurn",
    "turn start": "running.turn_runs:StartTurn",
    "turn finish": "running.turn_runs:FinishTurn",
    "turn abandon": "running.turn_runs:AbandonTurn",
    "tree keep": "running.tree_evidence:KeepOfTree",
    "session adopt": "starts:AdoptSession",
    "start": "starts:ReserveStart",
    "start bind": "starts:BindStart",
    "start end": "starts:EndStart",
    "import peer": "audit.peer_import:ImportSession",
}
"""Steps of which no door has an operation, or another one: by their kind, the module and class of their request."""

_TASKS, _ACTORS = ("task", "parent"), ("agent", "assignee", "role")
"""Filters of lists that name a task; and an agent, or all of a role."""
_GROUPS = "SELECT id FROM task_groups WHERE session_id = :session"
_OF_SESSION = "SELECT id FROM tasks WHERE session_id = :session"
_ACTING = "SELECT id FROM agents UNION SELECT role FROM agents UNION SELECT current_agent FROM workflow_transitions"

PERSONS = ("answer", "criterion approve", "human enrol", "human remove", "human reset", "human link", "session end")
"""Operations that a person may be meant to call though none is named."""


def known(words: str) -> type[Request] | None:
    """The declaration of an operation, or None where there is none of these words."""
    if words not in DECLARED:
        feature = FEATURES.get(words.partition(" ")[0])
        if feature is None:
            return None
        importlib.import_module(f"orchestrator.app.{feature}.requests")
    return DECLARED.get(words)


def find(words: str) -> type[Request]:
    """The declaration of an operation.

    Raises:
        UsageError: USAGE for an unknown operation, with the nearest known one.
    """
    found = known(words)
    if found is None:
        near = names.nearest(words, every())
        hint = f"; did you mean {near}?" if near else "."
        raise UsageError(
            "USAGE", f"There is no operation {names.shown(words)}{hint}", suggest("", help=True), did_you_mean=near
        )
    return found


def every() -> dict[str, type[Request]]:
    """All operations by their words, in the order in which they are listed."""
    for word in FEATURES:
        known(word)
    return {
        words: request for first in FEATURES for words, request in DECLARED.items() if words.partition(" ")[0] == first
    }


def call(context: Context, words: str, **arguments: Any) -> Answer:
    """Call an operation by its words with the parameters that it declares, which `arguments` has checked."""
    request = find(words)
    return ask(context, request(**arguments)) if request.is_writing else read(context, request, **arguments)


def read(context: Context, request: type[Request], **arguments: Any) -> Answer:
    """What an operation that only reads answers.

    Raises:
        Refused: as the use case says; UNKNOWN_GROUP, UNKNOWN_TASK, UNKNOWN_AGENT, nothing is listed for a name that
            is nobody's: a misspelt filter is no empty list.
    """
    answer: Answer = _loaded(request.use_case)(context, **arguments)
    if answer.get("has_more") is False and [] in answer.values():
        _require_filters(context, arguments)
    return answer


def _require_filters(context: Context, given: dict[str, Any]) -> None:
    session = given.get("session_id")
    if session is not None and context.reader.session(session) is not None:
        group = given.get("group_id")
        if group is not None and group not in _first(context, _GROUPS, session):
            raise context.unknown_group(session, group)
        for task in map(given.get, _TASKS):
            known = [] if task is None else _first(context, _OF_SESSION, session)
            if task is not None and task not in known:
                what = f"Session {session} has no task {names.shown(task)}."
                look = suggest("task list", session_id=session)
                raise Refused("UNKNOWN_TASK", what, look, did_you_mean=names.nearest(task, known))
    for name in _ACTORS:
        actor = given.get(name)
        known = [] if actor is None else _first(context, _ACTING)
        if actor is not None and actor not in known:
            role = names.role_name(actor)
            near = role if role in known else names.nearest(role, known)
            what = f"No agent or role is called {names.shown(actor)}{f'; did you mean {near}?' if near else '.'}"
            way = again(**{name: near}) if near else suggest("agent list")
            raise Refused("UNKNOWN_AGENT", what, way, did_you_mean=near)


def _first(context: Context, sql: str, session: str | None = None) -> list[str]:
    return [row[0] for row in context.connection.execute(sql, {} if session is None else {"session": session})]


def ask(context: Context, request: Request) -> Answer:
    """Carry out what is asked for.

    Raises:
        OrchestratorError: as the use case says.
    """
    request = checked(request)
    if request.prepared_by:
        answer: Answer = _loaded(request.prepared_by)(context, request)
        return answer
    return carry_out(context, request)


def checked(request: Request) -> Request:
    """A request as it is recorded, once nothing is wrong in itself.

    Raises:
        OrchestratorError: as its `checked_by` says.
    """
    found: Request = _loaded(request.checked_by)(request) if request.checked_by else request
    return found


def carry_out(
    context: Context,
    request: Request,
    circumstances: Circumstances = NO_CIRCUMSTANCES,
    files: Sequence[Moved] = (),
    at: str | None = None,
) -> Answer:
    """Carry out the step of a request that is checked and prepared.

    Args:
        circumstances: what was found out before the step, without its files.
        files: what of the request lies in files, as `perform` takes it.
        at: when, where it is not now.
    """
    if files:
        from orchestrator.app.kernel import attached_evidence

        circumstances = circumstances._replace(attached=attached_evidence.recorded(context.path, files))
    call = call_of(request, circumstances, at=at)
    return perform(context, call, action(request.event), files)


def step(kind: str) -> type[Request]:
    """The request of the steps of a kind, as the record names it.

    Raises:
        UsageError: USAGE, there is none.
    """
    place = STEPS.get(kind)
    if place is None:
        return find(kind)
    found: type[Request] = _loaded(place)
    return found


@functools.cache
def kinds() -> frozenset[str]:
    """The kinds of steps that this program knows, but for refusals and moves of the schema."""
    return frozenset((*STEPS, *(each.event for each in every().values() if each.is_writing)))


@functools.cache
def action(kind: str) -> Action:
    """What a step of a kind does: its use case, with the request that the step's input keeps."""
    request = step(kind)
    use_case = _loaded(request.use_case)

    def act(work: Work) -> Answer:
        answer: Answer = use_case(work, request.of_event(work.call.chain, work.call.input))
        return answer

    return act


@functools.cache
def _loaded(place: str) -> Any:
    module, _, function = place.partition(":")
    return getattr(importlib.import_module(f"orchestrator.app.{module}"), function)


SCHEMA = 1
_NO_HINT = ("UNKNOWN_SESSION", "AMBIGUOUS_SESSION", "INVALID_ID", "INVALID_TEXT", "USAGE")


def success(answer: dict[str, Any], db: str | None) -> dict[str, Any]:
    """The object of an answer, the keys that every one has first."""
    head = {"success": True, "schema": SCHEMA, "db": db, "warnings": answer.get("warnings") or []}
    return {**head, **{key: value for key, value in answer.items() if key not in head}}


def failure(problem: OrchestratorError, session: str | None, db: str | None = None) -> dict[str, Any]:
    """The object of an error."""
    head: dict[str, Any] = {
        "success": False,
        "schema": SCHEMA,
        "code": problem.code,
        "error": problem.message,
        "suggestion": problem.suggestion,
    }
    if session:
        head["status_hint"] = suggest("status", session_id=session)
    if db:
        head["db"] = db
    return {**head, **{key: value for key, value in problem.data.items() if key not in head and key[0] != "_"}}


def session_of(words: str, bound: dict[str, Any]) -> str | None:
    """The session that a call was about."""
    found = bound.get("id") if words.startswith("session ") else bound.get("session_id")
    return found if isinstance(found, str) else None


def hinted(problem: OrchestratorError, session: str | None) -> str | None:
    """The session to look at after an error, where looking helps."""
    return None if problem.code in _NO_HINT else session
