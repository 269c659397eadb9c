"""The few files that pages need: a style sheet, a script, a picture. Their addresses change with what they hold."""

from __future__ import annotations

import hashlib
import pathlib

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.responses import Response

from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.workflow import svg_style

router = APIRouter(include_in_schema=False)

KEPT = "public, max-age=31536000, immutable"
_FOLDER = pathlib.Path(__file__).resolve().parent / "static"
_KINDS = {"pages.css": "text/css", "pages.js": "text/javascript", "mark.svg": "image/svg+xml"}


class Asset(NamedTuple):
    """A file: its bytes, kind, and what is told of them in its address."""

    content: bytes
    kind: str
    version: str


def _read(name: str, kind: str) -> Asset:
    content = (_FOLDER / name).read_bytes()
    if name == "pages.css":
        # A page takes no style from within a picture of a workflow.
        content += svg_style.STYLE.encode()
    return Asset(content, kind, hashlib.sha256(content).hexdigest()[:12])


_ASSETS = {name: _read(name, kind) for name, kind in _KINDS.items()}


def address(name: str) -> str:
    """Where a page finds a file."""
    return f"/static/{name}?v={_ASSETS[name].version}"


@router.get("/static/{name}")
async def show(name: str, v: str = "") -> Response:
    """A file; browsers keep what they asked for by its own version."""
    found = _ASSETS.get(name)
    if found is None:
        raise HTTPException(404)
    headers = {"Cache-Control": KEPT if v == found.version else "no-cache"}
    return Response(found.content, headers=headers, media_type=found.kind)
