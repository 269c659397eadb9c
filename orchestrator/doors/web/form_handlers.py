"""What people do on pages: each post carries its form's token, and sends the browser on to a page that reads.

What was not done is shown where it was tried, with the sentence that programs get, and with what was typed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from orchestrator.app.kernel import arguments, operations
from orchestrator.app.running import run_list_views
from orchestrator.app.session import sessions
from orchestrator.core import names
from orchestrator.core.running import states
from orchestrator.doors.web import cancellation, pages
from orchestrator.doors.web.authentication import Fields, Serving, Writing
from orchestrator.doors.web.failures import log, told
from orchestrator.doors.web.idempotent_forms import Once
from orchestrator.doors.web.rendering import segment
from orchestrator.errors import OrchestratorError, Refused, UsageError

router = APIRouter(include_in_schema=False)


@router.get("/tasks/{id}/reply")
@router.get("/tasks/{id}/retry")
@router.get("/tasks/{id}/again")
@router.get("/tasks/{id}/cancel")
def show_task(id: str) -> Response:
    """The page of a task: what was not done leaves the address to which it was sent, which a browser may open again."""
    return RedirectResponse(f"/tasks/{segment(id)}", 303)


@router.get("/projects/{project}/chat")
def show_projects(project: str) -> Response:
    """The page of all projects, as `show_task`."""
    return RedirectResponse("/projects", 303)


def tried(
    fields: dict[str, str], act: Callable[[], str], page: Callable[..., Response]
) -> Response:
    """Do something and go on to where it says; where it was not done, show the page again.

    Args:
        page: takes a status, and what went wrong and was typed by name.
    """
    try:
        place = act()
    except OrchestratorError as fault:
        status, code, message = told(fault)
        if status >= 500:
            log(fault)
        typed = {name: fields[name] for name in pages.TYPED if name in fields}
        return page(status=status, problem={"status": status, "code": code, "message": message}, typed=typed)
    return RedirectResponse(place, 303)


def once(request: Request, fields: dict[str, str], act: Callable[[], str]) -> Callable[[], str]:
    """An act that a form begins once, however often it is sent."""
    sent: Once = request.app.state.once
    return lambda: sent.do(request.url.path, fields, act)


@router.post("/questions/{id}")
def answer(request: Request, id: str, fields: Fields, serving: Serving, caller: Writing) -> Response:
    """Answer a question by the button that was pressed."""

    def act() -> str:
        serving.answer(id, caller, decision=fields.get("decision", ""), note=fields.get("note", ""))
        # Who answers one after the other stays with the others.
        return "/" if fields.get("from") == "inbox" else f"/questions/{segment(id)}"

    return tried(fields, act, lambda **more: pages.question(request, id, **more))


@router.post("/tasks/{id}/reply")
def reply(request: Request, id: str, fields: Fields, serving: Serving, caller: Writing) -> Response:
    """Reply to what a task asks."""
    given = {"reply": fields.get("reply"), "choice": fields.get("choice")}

    def act() -> str:
        # A page that names no question would answer any.
        serving.reply(id, caller, question_id=fields.get("question_id", ""), **given)
        return f"/tasks/{segment(id)}"

    return tried(fields, act, lambda **more: pages.task(request, id, **more))


@router.post("/tasks/{id}/retry")
def retry(request: Request, id: str, fields: Fields, serving: Serving, caller: Writing) -> Response:
    """Try a task again."""

    def act() -> str:
        return f"/tasks/{serving.retry(id, caller)['task_id']}"

    return tried(fields, once(request, fields, act), lambda **more: pages.task(request, id, **more))


@router.post("/tasks/{id}/again")
def repeat(request: Request, id: str, fields: Fields, serving: Serving, caller: Writing) -> Response:
    """Say in its chat again what a cancelled task was asked for, whose own task is closed."""

    def act() -> str:
        with serving.pool.lent() as context:
            run = run_list_views.require(context, id)
            place = run_list_views.place_of(context, run)
        if run.state != states.CANCELLED:
            raise Refused(
                "ILLEGAL_MOVE", f"Task {id} is {run.state.upper()}; only a cancelled one is sent again.",
                "Open its page to see what can be done",
            )  # fmt: skip
        if place is None:
            raise UsageError("USAGE", "The chat of this task takes no further message.", "Send it in another chat")
        return f"/tasks/{segment(serving.chat(place, run.prompt, run.session_id, caller)['task_id'])}"

    return tried(fields, once(request, fields, act), lambda **more: pages.task(request, id, **more))


@router.post("/tasks/{id}/cancel")
async def cancel(request: Request, id: str, fields: Fields, serving: Serving, caller: Writing) -> Response:
    """Cancel a task. The wait for its end takes no thread; the page then shows what became of it."""
    found: dict[str, Any] = {}

    def act() -> str:
        found.update(serving.cancel(id, caller))
        return f"/tasks/{segment(id)}"

    def settled() -> str:
        return f"/tasks/{segment(serving.cancelled(id, found['old_status'])['task_id'])}"

    def page(**more: Any) -> Response:
        return pages.task(request, id, **more)

    answer = await run_in_threadpool(tried, fields, act, page)
    if found.get("new_status") != "RUNNING":
        return answer
    await cancellation.until_ended(serving, id)
    return await run_in_threadpool(tried, fields, settled, page)


@router.post("/sessions")
def begin_session(request: Request, fields: Fields, serving: Serving, caller: Writing) -> Response:
    """Begin a session with a goal."""

    def act() -> str:
        goal = fields.get("goal", "")
        if not names.said(goal):
            raise UsageError("USAGE", "A session needs a goal.", "Say what the team should achieve")
        with serving.called(caller) as context:
            context.credential = caller.credential
            id = sessions.free_id(context)
            bound = arguments.bind("session create", {"id": id, "goal": goal, "by": caller.person})
            operations.call(context, "session create", **bound)
        return f"/sessions/{segment(id)}"

    return tried(fields, once(request, fields, act), lambda **more: pages.sessions_page(request, **more))


@router.post("/projects")
def add_project(request: Request, fields: Fields, serving: Serving, caller: Writing) -> Response:
    """Register a project."""

    def act() -> str:
        path, alias = fields.get("project_path", "").strip(), fields.get("alias", "").strip() or None
        serving.add_project(path, alias, caller)
        return "/projects"

    return tried(fields, act, lambda **more: pages.projects_page(request, **more))


@router.post("/projects/{project}/chat")
def chat(request: Request, project: str, fields: Fields, serving: Serving, caller: Writing) -> Response:
    """Say something in a project; it becomes a task."""

    def act() -> str:
        queued = serving.chat(project, fields.get("content", ""), fields.get("session_id") or None, caller)
        return f"/tasks/{segment(queued['task_id'])}"

    def page(**more: Any) -> Response:
        return pages.projects_page(request, at=project, **more)

    return tried(fields, once(request, fields, act), page)
