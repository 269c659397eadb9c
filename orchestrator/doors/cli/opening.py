"""`status --open`: the page of a session in a browser, from the server that serves this database."""

from __future__ import annotations

import http.client
import os
import sys
import urllib.error
import urllib.request
import webbrowser
from urllib.parse import quote, urlsplit

from orchestrator.core import strict_json
from orchestrator.core.suggestions import again, options, sentence, suggest
from orchestrator.doors.cli import invoke, output
from orchestrator.doors.cli.options import Given, Result
from orchestrator.errors import EnvironmentProblem, UsageError
from orchestrator.hints import Any

ADDRESS = "http://127.0.0.1:8765"
"""Where `serve` listens if it is told nothing else."""
TIMEOUT_S = 5.0
MOST = 64 * 1024 * 1024
"""Bytes that are read of an answer."""


def opened(asked: Given, address: str | None) -> Result:
    """Open the page of the session that `status` would show; all sessions where it would show several.

    Where there is no screen for a browser the address is printed alone.

    Raises:
        UsageError: USAGE, the address is none. EnvironmentProblem: NOT_SERVED, nobody serves this database there.
    """
    base = _base(address or ADDRESS)
    found = invoke.operation("status", asked)
    session = found.answer.get("session")
    url = f"{base}/sessions"
    if session is None:
        _ask(base, "/api/health")
    else:
        shown = invoke.operation("session show", asked._replace(arguments={"id": session["id"]}))
        told = _ask(base, f"/api/sessions/{quote(session['id'])}")
        # Two databases have sessions of one name, but none that began in the same microsecond.
        if (told.get("session") or {}).get("created_at") != shown.answer["session"]["created_at"]:
            raise _not_served(base, "another database is served there", is_taken=True)
        url = f"{url}/{quote(session['id'])}"
    is_shown = _has_screen() and webbrowser.open(url)
    answer = {"db": found.answer["db"], "url": url, "opened": is_shown}
    return Result(answer, f"Opened {url}" if is_shown else f"Open this page in a browser: {url}")


def _base(address: str) -> str:
    try:
        parts = urlsplit(address)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        fits = False
    if not fits:
        raise UsageError("USAGE", f"--url is the server's address, such as {ADDRESS}.", again(url=ADDRESS))
    return address.rstrip("/")


def _ask(base: str, path: str) -> dict[str, Any]:
    """The answer of a server, as JSON; an empty one where the server wants a token first."""
    try:
        with urllib.request.urlopen(f"{base}{path}", timeout=TIMEOUT_S) as answer:  # noqa: S310 - http or https
            found = strict_json.lenient(answer.read(MOST))
    except urllib.error.HTTPError as problem:
        why = "it wants a sign-in before it shows anything" if problem.code == 401 else f"it answers {problem.code}"
        raise _not_served(base, why, is_taken=True) from None
    except OSError as problem:
        why = getattr(getattr(problem, "reason", problem), "strerror", None) or "nobody answers"
        raise _not_served(base, why) from None
    except (ValueError, http.client.HTTPException):
        raise _not_served(base, "another program answers there", is_taken=True) from None
    return found if isinstance(found, dict) else {}


def _not_served(base: str, why: str, *, is_taken: bool = False) -> EnvironmentProblem:
    port = 0 if is_taken else urlsplit(base).port
    needs_port = port is not None and port != urlsplit(ADDRESS).port
    started = output.worded(suggest("serve", port=port) if needs_port else suggest("serve"))
    way = sentence("Start it with {}, or name the address of the running one with {}", started, options(url=True))
    return EnvironmentProblem("NOT_SERVED", f"{base} does not serve this database: {why}.", way, url=base)


def _has_screen() -> bool:
    """Whether a browser would have a window; a text browser would take the terminal away."""
    return sys.platform == "darwin" or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))
