"""Pages for people that read: what waits for them, and where work stands. Looking changes nothing."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from markupsafe import Markup
from starlette.responses import Response

from orchestrator.app import projects
from orchestrator.app.questions import inbox, question_views
from orchestrator.app.running import run_list_views
from orchestrator.app.verdict import verdicts
from orchestrator.core import masking, questions, visible
from orchestrator.core.running import states
from orchestrator.core.suggestions import elsewhere
from orchestrator.core.workflow import svg_style
from orchestrator.doors.web import callers, rendering, session_activity
from orchestrator.doors.web.callers import Reading
from orchestrator.doors.web.rendering import Look, looking

router = APIRouter(include_in_schema=False)

TYPED = ("reply", "note", "content", "project_path", "alias", "goal")
"""Fields of forms that hold what a person typed."""
DECISIONS, STEPS, SESSIONS, CHATS = 12, 25, 30, 30
"""How many of each are on a page."""
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
Step = Annotated[int | None, Query(ge=0, le=2**53)]


def failure(request: Request, status: int, code: str, message: str) -> Response:
    """The page of something that does not work; what was typed is given back."""
    fields: dict[str, str] = getattr(request.state, "typed", {})
    typed = {name: fields[name] for name in TYPED if fields.get(name, "").strip()}
    problem = {"status": status, "code": code, "message": message}
    title = _FAILURES.get(status, "That did not work")
    if status == HTTPStatus.UNAUTHORIZED and callers.cookie(request):
        title = "You have been signed out"
    # Where a form is sent, its page stands when that is opened; the link has its own, which is used up.
    again = request.method == "POST" and not request.url.path.startswith("/open/")
    told = {"problem": problem, "typed": typed, "hint": _HINTS.get(status), "again": again}
    return rendering.render(request, "failure.html", status, title=title, **told)


@router.get("/")
def show_inbox(request: Request, caller: Reading, since: Page = None) -> Response:
    """All that waits for a person, the oldest first."""
    with looking(request) as look:
        found = look.ask("inbox", limit=50, since=since)
        return look.page("inbox.html", title="Inbox", found=found)


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
        found = run_list_views.with_places(look.context, found["session_id"], found)
        needs = {each["decision"]: questions.needs_note(found["kind"], each["decision"]) for each in found["answers"]}
        note = {"always": all(needs.values()), "for": [name for name in needs if needs[name]]}
        return look.page("question.html", status, title=f"Question {id}", question=found, note=note, **more)


@router.get("/sessions")
def list_sessions(request: Request, caller: Reading, all: bool = False, since: Page = None) -> Response:
    """Sessions, open ones alone or all."""
    return sessions_page(request, all=all, since=since)


def sessions_page(
    request: Request, status: int = 200, *, all: bool = False, since: str | None = None, **more: Any
) -> Response:
    """The page of sessions, with a place to begin one; `more` as for a question."""
    with looking(request) as look:
        found = look.ask("session list", all=all, limit=SESSIONS, since=since)
        drives = request.app.state.autopilot is not None
        return look.page("sessions.html", status, title="Sessions", found=found, all=all, drives=drives, **more)


@router.get("/sessions/{session}")
def show_session(request: Request, session: str, caller: Reading, until: Step = None) -> Response:
    """A session: whom it awaits, what stands in its way, and what happened."""
    with looking(request, session) as look:
        found = look.ask("status", session_id=session)
        is_chat = found["session"]["kind"] == "chat"
        named: dict[str, Any] = {"session_id": session, "order": "desc"}
        data: dict[str, Any] = {
            "title": f"Session {session}",
            "found": found,
            "steps": look.ask("audit timeline", limit=STEPS, until=until, **named),
            "older": until is not None,
            "blockers": look.ask("blocker list", session_id=session, open=True, limit=100)["blockers"],
            "decisions": look.ask("audit decisions", limit=DECISIONS, **named)["decisions"],
            "picture": _picture(look, session, empty=not is_chat),
            "work": session_activity.of_session(look, request.app.state.autopilot, found),
        }
        if is_chat:
            return look.page("chat.html", **data, **_chat(look, session))
        return look.page("session.html", **data)


def _chat(look: Look, session: str) -> dict[str, Any]:
    """The tasks of a chat, and the project in which something more may be said."""
    tasks, root = run_list_views.listed(look.context, session)
    place = [each._asdict() for each in projects.listed(look.context) if each.path == root]
    under_way = [each for each in tasks if each["status"] in (states.RUNNING.upper(), states.QUEUED.upper())]
    return {"tasks": tasks, "under_way": under_way, "project": place[0] if place else None}


def _picture(look: Look, session: str, group: str | None = None, *, empty: bool = True) -> Markup:
    """The workflow with the position of a session, or of one group alone; its style is in our style sheet.

    Args:
        empty: it is drawn also where nothing stands in it.
    """
    found = look.ask("workflow graph", format="svg", session_id=session, group_id=group)
    # A picture goes onto the page as it is.
    drawn = masking.mask(elsewhere(found["graph"])) if empty or found["positions"] else ""
    return Markup(visible.on_a_page(drawn).replace(f"<style>{svg_style.STYLE}</style>", ""))  # noqa: S704 - made and escaped by us


@router.get("/sessions/{session}/verdict")
def show_verdict(request: Request, session: str, caller: Reading, anew: bool = False) -> Response:
    """The verdict that was recorded last; what the validator would say now, where there is none or it is wanted."""
    with looking(request, session) as look:
        shown = look.ask("session show", id=session)["session"]
        verdict = verdicts.newest(look.context, session)
        open_ = shown["status"] != "ended"
        if open_ and (anew or verdict is None):
            dry = look.ask("validate", session_id=session, dry_run=True)
            verdict = {"report_id": None, "at": None, "fresh": True, **dry}
        title = f"Verdict on {session}"
        return look.page("verdict.html", title=title, session=shown, verdict=verdict, open=open_)


@router.get("/sessions/{session}/groups/{group}")
def show_group(request: Request, session: str, group: str, caller: Reading) -> Response:
    """A group: each part of its completion path, its place in the workflow, its blockers and its decisions."""
    with looking(request, session) as look:
        found = look.ask("group show", id=group, session_id=session)["group"]
        found["questions"] = [{**each, "report": inbox.report(look.context, each)} for each in found["questions"]]
        decisions = look.ask("audit decisions", session_id=session, group_id=group, order="desc", limit=50)
        return look.page(
            "group.html", title=f"Group {group}", group=found, decisions=decisions["decisions"],
            picture=_picture(look, session, group, empty=found["kind"] != "chat"),
        )


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
            "may_cancel": not ended,
        }
        return look.page("task.html", status, title=f"Task {id}", **data, **more)


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
