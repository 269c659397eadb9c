"""What a recorded session would have decided under another workflow: chosen among those loaded, or a file of one's own.

It asks the operation of `workflow what-if`, which writes nothing. A file goes with a form, since an address holds none.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from orchestrator.app.session import dashboard
from orchestrator.core import strict_json
from orchestrator.doors.web.authentication import Fields, Reading, Writing
from orchestrator.doors.web.failures import log, told
from orchestrator.doors.web.rendering import Look, looking
from orchestrator.errors import OrchestratorError, UsageError

router = APIRouter(include_in_schema=False)

SESSIONS, PROBLEMS = 100, 20
"""How many sessions are offered, and how many problems of a file are listed."""
_OWN = "your file"

Name = Annotated[str | None, Query(max_length=300)]


@router.get("/what-if")
def show_choice(request: Request, caller: Reading, session: Name = None, version: Name = None) -> Response:
    """The choice of a session and a version, and where both are made, what differs."""
    with looking(request) as look:
        return _page(request, look, session or None, version or None)


@router.post("/what-if")
def compare(request: Request, fields: Fields, caller: Writing) -> Response:
    """What differs under a file that was sent; nothing of it is kept."""
    with looking(request) as look:
        return _page(request, look, fields.get("session") or None, None, fields.get("content", ""))


def _page(
    request: Request, look: Look, session: str | None, version: str | None, content: str | None = None
) -> Response:
    found, problem, status = None, None, 200
    try:
        if content is not None and not (session and content.strip()):
            raise UsageError("USAGE", "Something is missing: the session or the file.", "Choose both")
        if session and (version or content):
            given = {"content": content, "source": _OWN} if content else _loaded(look, str(version))
            found = look.ask("workflow what-if", sessions=(session,), **given)
    except OrchestratorError as fault:
        status, code, message = told(fault)
        if status >= 500:
            log(fault)
        rows = [each for each in fault.data.get("problems", ()) if each["severity"] == "error"]
        problem = {"status": status, "code": code, "message": message, "rows": rows[:PROBLEMS], "all": len(rows)}
    return look.page(
        "what_if.html", status, title="What if", found=found, problem=problem, session=session, version=version,
        typed={"content": content or ""},
        sessions=dashboard.sessions(look.context, state="all", limit=SESSIONS)["sessions"],
        versions=look.ask("workflow versions")["versions"],
    )  # fmt: skip


def _loaded(look: Look, version: str) -> dict[str, Any]:
    """A version that is loaded, as the operation takes a file."""
    shown = look.ask("workflow show", version=version)
    return {"content": strict_json.canonical(shown["workflow"]), "source": f"version {shown['version']['id']}"}
