"""Pages for people that read: what waits for them, and where work stands. Looking changes nothing."""

from __future__ import annotations

from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from orchestrator.app import projects
from orchestrator.app.questions import question_views
from orchestrator.app.running import live_output, run_list_views
from orchestrator.app.session import dashboard
from orchestrator.core import questions
from orchestrator.core.running import states
from orchestrator.doors.web import authentication, rendering
from orchestrator.doors.web.authentication import Reading
from orchestrator.doors.web.rendering import looking

router = APIRouter(include_in_schema=False)

TYPED = ("reply", "note", "content", "project_path", "alias", "goal", "reason", "name", "description", "text")
"""Fields of forms that hold what a person typed."""
CHATS = 30
"""How many chats are on a page."""
FILES, EVENTS = 200, 500
"""How many files and entries of its log a task's page shows."""

_FAILURES = {
    401: "Sign in first", 403: "Nothing was changed", 404: "Not found", 409: "Nothing was changed",
    410: "This link has been used", 413: "Too large", 503: "Temporarily unavailable",
}  # fmt: skip
_HINTS = {
    403: "Open the page again and send it from there.",
    404: "It may have another name, or belong to another database. Use the inbox, sessions and projects to find it.",
    413: "Use your browser's Back button to get your text back, and send it in parts.",
    503: "Try again in a moment. The server's terminal shows the problem; orchestrator doctor tells more.",
}
"""What a person does next, by the status of a failure."""

Page = Annotated[str | None, Query(max_length=300)]
Word = Annotated[str, Query(max_length=300)]


def failure(request: Request, status: int, code: str, message: str) -> Response:
    """The page of something that does not work; what was typed is given back."""
    fields: dict[str, str] = getattr(request.state, "typed", {})
    typed = {name: fields[name] for name in TYPED if fields.get(name, "").strip()}
    problem = {"status": status, "code": code, "message": message}
    title = _FAILURES.get(status, "That did not work")
    if status == HTTPStatus.UNAUTHORIZED and authentication.cookie(request):
        title = "You have been signed out"
    # Where a form is sent, its page stands when that is opened; the link has its own, which is used up.
    again = request.method == "POST" and not request.url.path.startswith("/open/")
    told = {"problem": problem, "typed": typed, "hint": _HINTS.get(status), "again": again}
    return rendering.render(request, "failure.html", status, title=title, **told)


@router.get("/")
def show_inbox(request: Request, caller: Reading, since: Page = None, session: Page = None) -> Response:
    """All that waits for a person, the oldest first; equal questions of a session are one card."""
    with looking(request) as look:
        found = look.ask("inbox", limit=50, since=since, session_id=session or None)
        return look.page("inbox.html", title="Inbox", found=found, cards=_cards(found["questions"]), session=session)


def _cards(asked: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Questions with the same words of a session under the first of them, each with what a note is needed for."""
    cards: dict[tuple[str, ...], dict[str, Any]] = {}
    for each in asked:
        key = (each["session_id"], each["kind"], each["text"])
        card = cards.setdefault(key, {"question": each, "note": _note(each), "others": []})
        if card["question"] is not each:
            card["others"].append(each)
    return list(cards.values())


def _note(asked: dict[str, Any]) -> dict[str, Any]:
    """For which answers to a question a note is needed."""
    needs = {each["decision"]: questions.needs_note(asked["kind"], each["decision"]) for each in asked["answers"]}
    return {"always": all(needs.values()), "for": [name for name in needs if needs[name]]}


@router.get("/questions/{id}")
def show_question(request: Request, id: str, caller: Reading) -> Response:
    """One question with the form that answers it, or with its answer."""
    return question(request, id)


def question(request: Request, id: str, status: int = 200, **more: Any) -> Response:
    """The page of a question.

    Args:
        more: `problem` and `typed`, where an answer was not taken.
    """
    with looking(request) as look:
        found = question_views.question(look.context, id=id)["question"]
        return look.page("question.html", status, title=found["text"], question=found, note=_note(found), **more)


@router.get("/sessions")
def list_sessions(
    request: Request, caller: Reading, state: Word = dashboard.STATES[0], text: Word = "",
    page: Annotated[int, Query(ge=1, le=10**6)] = 1, all: bool = False,
) -> Response:  # fmt: skip
    """The sessions at a glance; `all` is how their address asked for ended ones before."""
    return sessions_page(request, state="all" if all else state, text=text.strip(), page=page)


def sessions_page(
    request: Request, status: int = 200, *, state: str = dashboard.STATES[0], text: str = "", page: int = 1, **more: Any
) -> Response:
    """The page of sessions, with a place to begin one; `more` as for a question."""
    with looking(request) as look:
        found = dashboard.sessions(look.context, state=state, text=text, page=page)
        asked = {"state": state, "text": text}
        drives = request.app.state.autopilot is not None
        return look.page("sessions.html", status, title="Sessions", found=found, asked=asked, drives=drives, **more)


@router.get("/tasks/{id}")
def show_task(request: Request, id: str, caller: Reading) -> Response:
    """A run with its output and log, and the one question that it asks."""
    return task(request, id)


def task(request: Request, id: str, status: int = 200, **more: Any) -> Response:
    """The page of a run; `more` as for a question."""
    with looking(request) as look:
        run = run_list_views.require(look.context, id)
        found = run_list_views.detail(look.context, run)
        ended = run.ended_at is not None
        about = look.ask("task show", id=run.task_id, session_id=run.session_id)["task"]
        closed = about["status"] in ("done", "cancelled")
        asked = look.ask("inbox", session_id=run.session_id, limit=200)["questions"]
        data = {
            **_shortened(found),
            "asked": [each for each in asked if each["task_id"] == run.task_id],
            "next_try": run_list_views.next_try(look.context, run),
            "may_retry": ended and run.state != states.DONE and not closed,
            "may_repeat": closed and run.state == states.CANCELLED and bool(run_list_views.place_of(look.context, run)),
            "may_cancel": not ended,
            "so_far": live_output.of_run(look.context, run),
            "ends_at": _deadline(run.started_at, run.timeout_ms) if not ended else None,
        }
        return look.page("task.html", status, title=found["prompt"], **data, **more)


def _deadline(started: str | None, timeout_ms: int | None) -> str | None:
    """When a run that has begun is stopped, UTC; None where that is not known."""
    if started is None or timeout_ms is None:
        return None
    moment = datetime.fromisoformat(started) + timedelta(milliseconds=timeout_ms)
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")


def _shortened(found: dict[str, Any]) -> dict[str, Any]:
    """What a task's page shows of a run, the changed files before all others and the newest entries of its log."""
    files = sorted(found["files"], key=lambda file: file["change"] is None)
    events = found["events"]
    return {
        "task": {**found, "files": files[:FILES], "events": events[-EVENTS:]},
        "more_files": max(len(files) - FILES, 0),
        "more_events": max(len(events) - EVENTS, 0),
    }


@router.get("/projects")
def show_projects(request: Request, caller: Reading) -> Response:
    """Projects, with a place to say something in each, and what was said lately."""
    return projects_page(request)


def projects_page(request: Request, status: int = 200, **more: Any) -> Response:
    """The page of all projects; `more` as for a question, and `at`, the project that it is about."""
    with looking(request) as look:
        known = [each._asdict() for each in projects.listed(look.context)]
        chats = run_list_views.groups(look.context, limit=CHATS)
        data = {"projects": known, "chats": chats, "at": None, **more}
        return look.page("projects.html", status, title="Projects", **data)
