"""Serving: the socket, the link that is printed, and the graceful end."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
from collections.abc import Callable, Iterator
from typing import Any

import uvicorn

from orchestrator import bootstrap
from orchestrator.app.people import person_proof
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.doors.web import application, failures
from orchestrator.doors.web.access import MIN_TOKEN, Access, new_token
from orchestrator.errors import UsageError

EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104 - recognised, not listened on unasked
LOOPBACK = ("127.0.0.1", "::1", "localhost")
CLOSING_S = 5
"""Seconds that answers under way have to end."""


class Settings(NamedTuple):
    """How a server is asked for.

    host, port: where it listens; port 0 takes a free one.
    names: further names by which it is called.
    token: the scripts'; a fresh one where left out. Beyond loopback it has to be given.
    grace_s: seconds that runs under way have to end, when it stops.
    flags: what `bootstrap.open_service` takes. drive: how sessions that are begun here are driven, as
    `driving.requests.Drive`; None where nobody drives them.
    """

    host: str = "127.0.0.1"
    port: int = 8765
    names: tuple[str, ...] = ()
    token: str | None = None
    grace_s: float = 10.0
    flags: dict[str, Any] = {}  # noqa: RUF012 - never changed
    drive: Any = None


class Listening(NamedTuple):
    """A server that accepts calls.

    url: its address. link: the code of the one-time link; None where no person's terminal shows it. token: the scripts'
    token, where it was made for this server. db: the path of its database. local: whether it listens on loopback alone.
    lacking: why no task can be executed as things stand, and what helps; None where one can. undriven: the same of
    sessions.
    """

    url: str
    link: str | None
    token: str | None
    db: str
    local: bool
    lacking: str | None
    undriven: str | None = None


def serve(settings: Settings, tell: Callable[[Listening], None]) -> None:
    """Serve until a signal ends it.

    Args:
        tell: is told where the server listens, once it does, and again for each link that follows on a used one.

    Raises:
        UsageError: beyond loopback without a token, or a token that is too short. And as `bootstrap.open_service`.
        OSError: the address cannot be had. KeyboardInterrupt: a second signal ended it.
    """
    local = settings.host in LOOPBACK
    if settings.token is None and not local:
        what = "Beyond loopback a server needs a token."
        raise UsageError("USAGE", what, "Add --token-file FILE with a token of 16 characters or more")
    if settings.token is not None and len(settings.token) < MIN_TOKEN:
        raise UsageError("USAGE", f"A token needs at least {MIN_TOKEN} characters.", "Use a longer one")
    token = settings.token or new_token()
    service = bootstrap.open_service(tell=failures.log, **settings.flags)
    autopilot = _autopilot(service, settings)
    with service.pool.lent() as context:
        path, shown_here = context.path, person_proof.shows_link(context)
    # Bound first: the name of the cookie needs the port, which the system chooses for port 0 (HTTP-3).
    listening = _bind(settings.host, settings.port)
    access = Access(token, reading=local, links=shown_here, port=listening.getsockname()[1])
    hosts = (*LOOPBACK, settings.host.lower(), socket.gethostname().lower(), *settings.names)
    app = application.create(service, access, hosts=hosts, grace_s=settings.grace_s, autopilot=autopilot)
    config = uvicorn.Config(
        # An access log would hold the addresses of one-time links, which are secrets (HTTP-2).
        app, host=settings.host, port=settings.port, log_level="warning", access_log=False, server_header=False,
        timeout_graceful_shutdown=CLOSING_S, lifespan="on",
    )
    server = _Server(config)
    shown = token if settings.token is None else None

    def link() -> None:
        undriven = autopilot.lacking if autopilot is not None else None
        tell(Listening(server.url, access.new_link(), shown, path, local, service.lacking, undriven))

    app.state.link_used = link if shown_here else _nothing
    server.listening = link
    with _quiet():
        server.run([listening])
    if server.force_exit:
        raise KeyboardInterrupt


def _autopilot(service: Any, settings: Settings) -> Any:
    """What drives the sessions that are begun here; None where that was not asked for."""
    if settings.drive is None:
        return None
    database = settings.flags.get("database")
    return bootstrap.open_autopilot(service, settings.drive, database=database, tell=failures.log)


def _nothing() -> None:
    """What is told where a link was used and no other follows."""


class _Server(uvicorn.Server):
    """Tells when it listens, and ends streams before it waits for answers under way."""

    listening: Callable[[], None]
    bound: socket.socket

    @property
    def url(self) -> str:
        """The address, with the port that was had."""
        host, port = self.bound.getsockname()[:2]
        host = socket.gethostname() if host in EVERYWHERE else host
        shown = f"[{host}]" if ":" in host else host
        return f"http://{shown}:{port}"

    async def startup(self, sockets: Any = None) -> None:
        """Listen."""
        (self.bound,) = sockets
        await super().startup(sockets)
        if self.started:
            self.listening()

    def handle_exit(self, sig: int, frame: Any) -> None:
        """Begin to end; at a second signal at once. A signal that was obeyed is not raised again afterwards."""
        state = self._state
        if not self.should_exit:
            self.should_exit = True
            state.service.loop.leave()
        else:
            self.force_exit = True
            state.service.loop.hurry()
        if state.autopilot is not None:
            (state.autopilot.hurry if self.force_exit else state.autopilot.leave)()
        if (pulse := getattr(state, "pulse", None)) is not None:
            pulse.stop()

    async def shutdown(self, sockets: Any = None) -> None:
        """End answers, then what is executed: that is never just left behind."""
        await super().shutdown(sockets)
        if not self.lifespan.shutdown_event.is_set():
            await self.lifespan.shutdown()

    @property
    def _state(self) -> Any:
        app: Any = self.config.app
        return app.state


def _bind(host: str, port: int) -> socket.socket:
    """A socket at an address, had before anything is executed.

    Raises:
        OSError: the address cannot be had.
    """
    family, kind, protocol, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    bound = socket.socket(family, kind, protocol)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        bound.listen()
        bound.setblocking(False)
    except BaseException:
        bound.close()
        raise
    return bound


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """A reader of our output that went away ends nothing."""
    try:
        yield
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
