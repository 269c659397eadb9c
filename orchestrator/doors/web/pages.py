"""Pages for people: what waits for them, and where work stands."""

from __future__ import annotations

from html import escape

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, Response

router = APIRouter(include_in_schema=False)


def failure(request: Request, status: int, code: str, message: str) -> Response:
    """The page of something that does not work."""
    return HTMLResponse(f"<!doctype html><title>{escape(code)}</title><p>{escape(message)}</p>", status)
