"""Coming in by the one-time link, and leaving. Looking at the link uses nothing up; the button on its page does."""

from __future__ import annotations

import contextlib
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from orchestrator.app import human
from orchestrator.doors.web import callers, rendering
from orchestrator.doors.web.access import VISIT_S
from orchestrator.doors.web.callers import Fields, Serving, Writing
from orchestrator.doors.web.failures import Denied

router = APIRouter(include_in_schema=False)

WRONG_TOKEN = "This is not the server's token, so nobody came in. The link is still good."  # noqa: S105 - a sentence


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
    return _page(request, serving)


def _page(request: Request, serving: Serving, status: int = 200, **more: Any) -> Response:
    """The page of the link; `more` may hold a `problem`."""
    access = callers.access(request)
    known = {"title": "Come in", "people": _people(serving), "asks": not access.reading}
    return rendering.render(request, "open.html", status, **known, **more)


@router.post("/open/{code}")
def enter(request: Request, code: str, fields: Fields, serving: Serving) -> Response:
    """Use the link up; from then on the browser is that person's. Beyond loopback that takes the token as well."""
    callers.require_own_page(request)
    person, access = fields.get("person", ""), callers.access(request)
    if person not in _people(serving):
        raise Denied(400, "UNKNOWN_AGENT", "Say as whom you continue: one of the people that are registered.")
    if access.is_link(code) and not (access.reading or access.is_token(fields.get("token", "").strip())):
        problem = {"status": 401, "code": "UNAUTHENTICATED", "message": WRONG_TOKEN}
        return _page(request, serving, 401, problem=problem)
    used = access.use_link(code, person)
    if used is None:
        raise _no_link(request, code)
    access.leave(callers.cookie(request))
    with contextlib.suppress(OSError):
        request.app.state.link_used()
    answer = RedirectResponse("/", 303)
    answer.set_cookie(
        access.cookie, used[0], max_age=VISIT_S, path="/", httponly=True, samesite="strict",
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
    access = callers.access(request)
    access.leave(callers.cookie(request))
    answer = RedirectResponse("/", 303)
    answer.delete_cookie(access.cookie, path="/", httponly=True, samesite="strict")
    return answer
