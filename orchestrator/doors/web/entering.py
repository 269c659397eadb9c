"""Coming in by the one-time link, and leaving. Looking at the link uses nothing up; the button on its page does."""

from __future__ import annotations

import contextlib

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from orchestrator.app import human
from orchestrator.doors.web import callers, rendering
from orchestrator.doors.web.access import COOKIE, VISIT_S
from orchestrator.doors.web.callers import Fields, Serving, Writing
from orchestrator.doors.web.failures import Denied

router = APIRouter(include_in_schema=False)


def _people(serving: Serving) -> list[str]:
    with serving.pool.lent() as context:
        return human.people(context)


def _no_link(request: Request, code: str) -> Denied:
    if callers.access(request).was_link(code):
        return Denied(410, "LINK_USED", "This link was used up; the server's terminal shows the next one.")
    return Denied(404, "LINK_UNKNOWN", "This is no link of this server as it runs now; its terminal shows the link.")


@router.get("/open/{code}")
def show(request: Request, code: str, serving: Serving) -> Response:
    """What the link would do."""
    if not callers.access(request).is_link(code):
        raise _no_link(request, code)
    return rendering.render(request, "open.html", title="Come in", people=_people(serving))


@router.post("/open/{code}")
def enter(request: Request, code: str, fields: Fields, serving: Serving) -> Response:
    """Use the link up; from then on the browser is that person's."""
    callers.require_own_page(request)
    person, access = fields.get("person", ""), callers.access(request)
    if person not in _people(serving):
        raise Denied(400, "UNKNOWN_AGENT", "Say as whom you continue: one of the people that are registered.")
    used = access.use_link(code, person)
    if used is None:
        raise _no_link(request, code)
    access.leave(request.cookies.get(COOKIE))
    with contextlib.suppress(OSError):
        request.app.state.link_used()
    answer = RedirectResponse("/", 303)
    answer.set_cookie(
        COOKIE, used[0], max_age=VISIT_S, path="/", httponly=True, samesite="strict",
        secure=request.url.scheme == "https",
    )  # fmt: skip
    return answer


@router.get("/leave")
def show_inbox() -> Response:
    """The inbox, where a browser opens the address again to which its form was sent."""
    return RedirectResponse("/", 303)


@router.post("/leave")
def leave(request: Request, fields: Fields, caller: Writing) -> Response:
    """End the visit."""
    callers.access(request).leave(request.cookies.get(COOKIE))
    answer = RedirectResponse("/", 303)
    answer.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
    return answer
