"""The application without a server: requests in, answers out, in the test's own process; and what a browser keeps."""

from __future__ import annotations

import asyncio
import pathlib
import re
import shutil
from collections.abc import Mapping
from http.cookies import SimpleCookie
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from fastapi.routing import APIRoute

from orchestrator import bootstrap
from orchestrator.app import setup
from orchestrator.app.kernel import operations
from orchestrator.doors.web import application
from orchestrator.doors.web.access import Access
from tests import persons
from tests.acceptance.replhouse import set_up

HOST = "here.test"
TOKEN = "a-token-of-scripts"  # noqa: S105 - opens nothing


def initialised(path: pathlib.Path) -> pathlib.Path:
    """Make a database to copy from."""
    setup.create_database(path, bootstrap.now())
    context = bootstrap.open_context(str(path), write=True, door="test")
    setup.initialise(context)
    context.connection.close()
    return path


class Page(NamedTuple):
    """What was answered."""

    status: int
    headers: dict[str, str]
    text: str

    @property
    def csrf(self) -> str:
        """The token of its first form."""
        found = re.search(r'name="csrf" value="([^"]+)"', self.text)
        assert found is not None, "the page has no form"
        return found[1]

    @property
    def forms(self) -> list[str]:
        """Where the forms of its content are sent."""
        return [place for place in re.findall(r'<form method="post" action="([^"]+)"', self.text) if place != "/leave"]


class Web:
    """An application on a database of its own.

    Args:
        base: the test's own folder.
        database: an initialised one, to be copied; or the URL of the test's own.
        steps: what the executor plays, as `orchestrator.runner.executors.scripted` reads it.
        executor: another one.
    """

    def __init__(
        self, base: pathlib.Path, database: pathlib.Path | str, *, steps: str = "[]", executor: str | None = None,
        reading: bool = True, links: bool = True,
    ) -> None:
        self.database = base / "orchestrator.db"
        self.project = set_up(base / "project")
        script = base / "steps.json"
        script.write_text(steps)
        named = database if isinstance(database, str) else shutil.copy(database, self.database)
        self._context = bootstrap.open_context(str(named), write=True, door="test")
        self.faults: list[Exception] = []
        self.service = bootstrap.open_service(
            database=str(named), executor=executor or f"scripted:{script}", environment={},
            tell=self.faults.append,
        )
        self.access = Access(TOKEN, reading=reading, links=links)
        self.app = application.create(self.service, self.access, hosts=(HOST,))
        self.links: list[str | None] = []
        self.app.state.link_used = lambda: self.links.append(self.access.new_link())
        self.cookies: dict[str, str] = {}
        self._serving = False

    @property
    def routes(self) -> list[APIRoute]:
        """What it answers, with addresses and methods."""
        return [each for each in self.app.routes if isinstance(each, APIRoute)]

    def serve_runs(self) -> None:
        """Execute what is queued, as a server does."""
        self.service.loop.start()
        self._serving = True

    def close(self) -> None:
        """Let the database go."""
        if self._serving:
            self.service.loop.stop(0.0)
        self.service.pool.close()
        self._context.connection.close()

    def call(self, words: str, *, at: str | None = None, **arguments: Any) -> dict[str, Any]:
        """Call an operation as another process would, at another time than now where one is given."""
        now, self._context.clock = self._context.clock, self._context.clock if at is None else lambda: at
        try:
            return operations.call(self._context, words, **arguments)
        finally:
            self._context.clock = now

    def call_at_terminal(self, words: str, **arguments: Any) -> dict[str, Any]:
        """Call an operation as a person at a terminal would."""
        persons.sit(self._context)
        try:
            return self.call(words, **arguments)
        finally:
            self._context.credential = None

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Read from the database."""
        return [tuple(row) for row in self._context.connection.execute(sql)]

    def head(self) -> list[tuple[Any, ...]]:
        """How long each chain of the record is, and the hash at its end."""
        newest = "SELECT session_id, max(seq) FROM audit_events GROUP BY session_id"
        return self.rows(
            f"SELECT session_id, seq, hash FROM audit_events WHERE (session_id, seq) IN ({newest}) ORDER BY session_id"
        )

    def come_in(self, person: str = "user") -> None:
        """Open the one-time link, as a person."""
        code = self.access.new_link()
        assert self.post(f"/open/{code}", person=person, token=TOKEN).status == 303

    def get(self, path: str, **headers: str) -> Page:
        """Open a page."""
        return self._ask("GET", path, b"", headers)

    def post(self, path: str, headers: Mapping[str, str] | None = None, **fields: str) -> Page:
        """Send a form."""
        kind = {"content-type": "application/x-www-form-urlencoded"}
        return self._ask("POST", path, urlencode(fields).encode(), kind | dict(headers or {}))

    def send(self, at: str, path: str, **fields: str) -> Page:
        """Send a form of the page at a path, with its token."""
        return self.post(path, None, csrf=self.get(at).csrf, **fields)

    def _ask(self, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> Page:
        place, _, query = path.partition("?")
        named = {"host": HOST, "cookie": "; ".join(f"{k}={v}" for k, v in self.cookies.items()), **headers}
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
            "path": place, "raw_path": quote(place).encode(), "query_string": query.encode(), "root_path": "",
            "headers": [(name.encode(), value.encode("latin-1")) for name, value in named.items()],
            "client": ("127.0.0.1", 1), "server": (HOST, 80),
        }  # fmt: skip
        found = asyncio.run(_run(self.app, scope, body))
        for morsel in SimpleCookie(found.headers.get("set-cookie", "")).values():
            self.cookies[morsel.key] = morsel.value
        return found


async def _run(app: Any, scope: dict[str, Any], body: bytes) -> Page:
    sent: list[dict[str, Any]] = []
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> dict[str, Any]:
        return waiting.pop() if waiting else {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    try:
        await app(scope, receive, send)
    except Exception:
        # The outermost layer answers and raises again, for the server's own log.
        assert sent, "nothing was answered"
    begin = next(message for message in sent if message["type"] == "http.response.start")
    text = b"".join(message.get("body", b"") for message in sent if message["type"] == "http.response.body").decode()
    return Page(begin["status"], {name.decode(): value.decode() for name, value in begin["headers"]}, text)
