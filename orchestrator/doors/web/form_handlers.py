"""What people do on pages: each post carries its form's token, and sends the browser on to a page that reads.

What was not done is shown where it was tried, with the sentence that programs get, and with what was typed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from orchestrator.app.kernel import arguments, operations
from orchestrator.app.running import run_list_views
from orchestrator.app.session import sessions
from orchestrator.core import names
from orchestrator.core.running import states
from orchestrator.doors.web import authentication, cancellation, pages
from orchestrator.doors.web.authentication import Fields, Serving, Writing
from orchestrator.doors.web.failures import log, told
from orchestrator.doors.web.idempotent_forms import Done, Once
from orchestrator.doors.web.rendering import segment, words
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
    request: Request, fields: dict[str, str], act: Callable[[], Done], page: Callable[..., Response]
) -> Response:
    """Do something and go on to where it says, where the page says what was done; otherwise show the page again.

    Args:
        page: takes a status, and what went wrong and was typed by name.
    """
    try:
        done = act()
    except OrchestratorError as fault:
        status, code, message = told(fault)
        if status >= 500:
            log(fault)
        # An act of two steps may fail at the second one.
        _tell(request, "", "")
        typed = {name: fields[name] for name in pages.TYPED if name in fields}
        return page(status=status, problem={"status": status, "code": code, "message": message}, typed=typed)
    _tell(request, unquote(urlsplit(done.place).path), done.said)
    return RedirectResponse(done.place, 303)


def _tell(request: Request, path: str, said: str) -> None:
    authentication.access(request).notice(authentication.cookie(request), path, said)


def called(answer: Mapping[str, Any]) -> str:
    """Whom an act called, as the end of a sentence; nothing where it called nobody."""
    decided = (answer, answer.get("decision") or {}, *(answer.get("followed_by") or ()))
    found = [(each["agent"], each["group_id"]) for one in decided for each in one.get("spawns") or ()]
    if len(found) > 1:
        return f"; {len(found)} agents were started"
    return "".join(f"; the {words(role)} was started{f' on {group}' if group else ''}" for role, group in found)


def once(request: Request, fields: dict[str, str], act: Callable[[], Done]) -> Callable[[], Done]:
    """An act that a form begins once, however often it is sent."""
    sent: Once = request.app.state.once
    return lambda: sent.do(request.url.path, fields, act)


@router.post("/questions/{id}")
def answer(request: Request, id: str, fields: Fields, serving: Serving, caller: Writing) -> Response:
    """Answer a question by the button that was pressed."""

    def act() -> Done:
        found = serving.answer(id, caller, decision=fields.get("decision", ""), note=fields.get("note", ""))
        # Who answers one after the other stays with the others.
        place = "/" if fields.get("from") == "inbox" else f"/questions/{segment(id)}"
        return Done(place, f"Question {id} was answered: {words(found['answered'])}{called(found)}.")

    return tried(request, fields, act, lambda **more: pages.question(request, id, **more))


@router.post("/tasks/{id}/reply")
def reply(request: Request, id: str, fields: Fields, serving: Serving, caller: Writing) -> Response:
    """Reply to what a task asks."""
    given = {"reply": fields.get("reply"), "choice": fields.get("choice")}

    def act() -> Done:
        # A page that names no question would answer any.
        found = serving.reply(id, caller, question_id=fields.get("question_id", ""), **given)
        return Done(f"/tasks/{segment(id)}", f"Your reply was sent; the task is {words(found['new_status']).lower()}.")

    return tried(request, fields, act, lambda **more: pages.task(request, id, **more))


@router.post("/tasks/{id}/retry")
def retry(request: Request, id: str, fields: Fields, serving: Serving, caller: Writing) -> Response:
    """Try a task again."""

    def act() -> Done:
        new = serving.retry(id, caller)["task_id"]
        return Done(f"/tasks/{segment(new)}", f"Task {id} is tried again as {new}.")

    return tried(request, fields, once(request, fields, act), lambda **more: pages.task(request, id, **more))


@router.post("/tasks/{id}/again")
def repeat(request: Request, id: str, fields: Fields, serving: Serving, caller: Writing) -> Response:
    """Say in its chat again what a cancelled task was asked for, whose own task is closed."""

    def act() -> Done:
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
        new = serving.chat(place, run.prompt, run.session_id, caller)["task_id"]
        return Done(f"/tasks/{segment(new)}", f"The prompt of task {id} was sent again as task {new}.")

    return tried(request, fields, once(request, fields, act), lambda **more: pages.task(request, id, **more))


@router.post("/tasks/{id}/cancel")
async def cancel(request: Request, id: str, fields: Fields, serving: Serving, caller: Writing) -> Response:
    """Cancel a task. The wait for its end takes no thread; the page then shows what became of it."""
    found: dict[str, Any] = {}

    def act() -> Done:
        found.update(serving.cancel(id, caller))
        return Done(f"/tasks/{segment(id)}", f"Task {id} was cancelled.")

    def settled() -> Done:
        status = serving.cancelled(id, found["old_status"])["new_status"]
        said = "is being stopped" if status == states.RUNNING.upper() else "was cancelled"
        return Done(f"/tasks/{segment(id)}", f"Task {id} {said}.")

    def page(**more: Any) -> Response:
        return pages.task(request, id, **more)

    answer = await run_in_threadpool(tried, request, fields, act, page)
    if found.get("new_status") != "RUNNING":
        return answer
    await cancellation.until_ended(serving, id)
    return await run_in_threadpool(tried, request, fields, settled, page)


@router.post("/sessions")
def begin_session(request: Request, fields: Fields, serving: Serving, caller: Writing) -> Response:
    """Begin a session with a goal."""

    def act() -> Done:
        goal = fields.get("goal", "")
        if not names.said(goal):
            raise UsageError("USAGE", "A session needs a goal.", "Say what the team should achieve")
        with serving.called(caller) as context:
            context.credential = caller.credential
            id = sessions.free_id(context)
            bound = arguments.bind("session create", {"id": id, "goal": goal, "by": caller.person})
            operations.call(context, "session create", **bound)
        return Done(f"/sessions/{segment(id)}", f"Session {id} was begun.")

    return tried(request, fields, once(request, fields, act), lambda **more: pages.sessions_page(request, **more))


@router.post("/projects")
def add_project(request: Request, fields: Fields, serving: Serving, caller: Writing) -> Response:
    """Register a project."""

    def act() -> Done:
        path, alias = fields.get("project_path", "").strip(), fields.get("alias", "").strip() or None
        found = serving.add_project(path, alias, caller)["project"]
        return Done("/projects", f"Project {found['alias'] or found['id']} was registered.")

    return tried(request, fields, act, lambda **more: pages.projects_page(request, **more))


@router.post("/projects/{project}/chat")
def chat(request: Request, project: str, fields: Fields, serving: Serving, caller: Writing) -> Response:
    """Say something in a project; it becomes a task."""

    def act() -> Done:
        queued = serving.chat(project, fields.get("content", ""), fields.get("session_id") or None, caller)
        new = queued["task_id"]
        return Done(f"/tasks/{segment(new)}", f"Your message was sent as task {new}.")

    def page(**more: Any) -> Response:
        return pages.projects_page(request, at=project, **more)

    return tried(request, fields, once(request, fields, act), page)
