"""Endpoints of runs: projects, chats, replies. A run is called a task here, and its chat a task group.

Source: seed 000, INV-3 to INV-6.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from orchestrator.app import projects
from orchestrator.app.running import run_list_views
from orchestrator.doors.web import bodies, cancelling
from orchestrator.doors.web.callers import Key, Reading, Serving, Writing
from orchestrator.doors.web.failures import told_as
from orchestrator.doors.web.reading import StrictRoute
from orchestrator.errors import Refused, UsageError

router = APIRouter(prefix="/api", route_class=StrictRoute)

Answer = dict[str, Any]


def failures(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The failures that an endpoint documents."""
    return {status: {"model": bodies.Failure} for status in statuses}


@router.post(
    "/projects", status_code=201, response_model=bodies.ProjectAnswer,
    responses=failures(400, 401, 403, 409, 413, 503),
)
def add_project(body: bodies.NewProject, serving: Serving, caller: Writing, key: Key) -> Answer:
    """Register a project. One that is registered already is answered as it is, with `created` false; an alias that is
    another project's, or another one for this project, is 400."""
    try:
        found = serving.add_project(body.project_path, body.alias, caller, key)
    except Refused as problem:
        if problem.code == "ALREADY_EXISTS":
            raise told_as(problem, 400) from None
        raise
    return {"project_id": found["project"]["id"], **found}


@router.get("/projects", response_model=bodies.Projects, responses=failures(401, 503))
def list_projects(serving: Serving, caller: Reading) -> Answer:
    """All projects."""
    with serving.pool.lent() as context:
        return {"projects": [found._asdict() for found in projects.listed(context)]}


@router.post(
    "/projects/{project}/chat", status_code=201, response_model=bodies.Queued,
    responses=failures(400, 401, 403, 404, 409, 413, 503),
)
def chat(project: str, body: bodies.Chat, serving: Serving, caller: Writing, key: Key) -> Answer:
    """Queue what is to be done in a project."""
    return serving.chat(project, body.content, body.session_id, caller, key)


@router.get("/task-groups", response_model=bodies.Groups, responses=failures(400, 401, 503))
def list_groups(
    serving: Serving, caller: Reading, limit: Annotated[int, Query(ge=1, le=run_list_views.MOST)] = 50,
    offset: Annotated[int, Query(ge=0, le=2**31)] = 0, status: bodies.Status | None = None,
) -> Answer:
    """Chats that hold tasks, the one that changed last first; those in a status by their newest task."""
    with serving.pool.lent() as context:
        return run_list_views.groups(context, limit=limit, offset=offset, status=status)


@router.get("/task-groups/{group}/tasks", response_model=bodies.Tasks, responses=failures(400, 401, 404, 503))
def list_tasks(group: str, serving: Serving, caller: Reading) -> Answer:
    """The tasks of a chat."""
    with serving.pool.lent() as context:
        return run_list_views.tasks(context, group)


@router.get("/tasks/{id}", response_model=bodies.TaskDetail, responses=failures(400, 401, 404, 503))
def show_task(id: str, serving: Serving, caller: Reading) -> Answer:
    """A task with what it asks."""
    with serving.pool.lent() as context:
        return run_list_views.detail(context, run_list_views.require(context, id))


@router.post(
    "/tasks/{id}/reply", response_model=bodies.Replied, responses=failures(400, 401, 403, 404, 409, 413, 503)
)
def reply(id: str, body: bodies.Reply, serving: Serving, caller: Writing, key: Key) -> Answer:
    """Answer what a task asks, as a person: by words, or by a choice."""
    if body.reply is not None and body.choice is not None:
        raise UsageError("USAGE", "A reply has words or a choice, not both; nothing changed.", "Send one of them")
    return serving.reply(id, caller, **body.model_dump(), key=key)


@router.post("/tasks/{id}/retry", response_model=bodies.Retried, responses=failures(400, 401, 403, 404, 409, 503))
def retry(id: str, serving: Serving, caller: Writing, key: Key) -> Answer:
    """Try again what ended without being complete, as INCOMPLETE or ERROR. With the server's token that is done as far
    as the program may lift what blocks the task; what only a person may lift (403) is tried again from a page, or with
    a person's token. What is CANCELLED is not tried again (409): say it anew."""
    return serving.retry(id, caller, key)


@router.post("/tasks/{id}/cancel", response_model=bodies.Moved, responses=failures(400, 401, 403, 404, 409, 503))
async def cancel(id: str, serving: Serving, caller: Writing, key: Key) -> Answer:
    """Cancel a task that has not ended. One that runs is stopped; where that takes longer than a few seconds it is
    answered as RUNNING, and is CANCELLED later."""
    return await cancelling.cancel(serving, id, caller, key)
