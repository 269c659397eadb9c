"""`serve`: start the HTTP door, which has the process from then on."""

from __future__ import annotations

import gc
import importlib
from importlib import util

from orchestrator import resources
from orchestrator.app.driving.requests import Drive
from orchestrator.app.kernel import arguments, operations
from orchestrator.core.suggestions import suggest
from orchestrator.doors.cli import catalogue, options, output
from orchestrator.doors.cli.options import INTEGER, SECRET, WORDS, Command, Given, Result, flag, option
from orchestrator.doors.cli.repl import flags
from orchestrator.errors import EnvironmentProblem, InvalidInput, UsageError
from orchestrator.hints import Any

PACKAGES = ("fastapi", "uvicorn", "jinja2")
_EXECUTING = ("executor", "executor_timeout", "progress_timeout", "provider", "model")
_DRIVING = ("role", "isolation", "parallel", "turn_timeout", "max_cost")
"""What `--drive` takes besides, as `drive` does."""
_LARGEST_PORT = 65535
BEYOND = (
    "Listening beyond loopback: every request needs the token of --token-file or a person's own token, and the"
    " sign-in link asks for the server's token too. Put TLS in front of it."
)
"""What is said of a server that others than this machine can reach."""
LACKING = "No executor is ready, so every task will fail."
"""What is said first where there is no executor; why, and what helps, follows."""

UNDRIVEN = "No session can be driven yet."
"""The same of sessions."""


def _serve(given: Given) -> Result:
    """Serve until a signal ends it."""
    if flags.forbidden(given):
        return Result({}, exit_code=1, printed=True)
    flags.check_clocks(given.arguments)
    _require_packages()
    # A long life needs what a short one does without.
    gc.enable()
    door: Any = importlib.import_module(catalogue.DOORS["serve"])
    teller = _Teller(given)
    try:
        door.serve(_settings(door, given), teller.tell)
    except OSError as problem:
        what = f"The server cannot listen there: {problem.strerror or problem}."
        raise EnvironmentProblem("ADDRESS_UNAVAILABLE", what, suggest("serve", port=0)) from None
    return Result({}, exit_code=0, printed=True)


def _settings(door: Any, given: Given) -> Any:
    wanted = given.arguments
    port = wanted.get("port")
    if port is not None and not 0 <= port <= _LARGEST_PORT:
        raise UsageError("USAGE", f"--port must be from 0 to {_LARGEST_PORT}, not {port}.", "--port 0 takes a free one")
    standard = door.Settings()
    host = standard.host if wanted.get("host") is None else wanted["host"]
    if not host or any(each.isspace() for each in host):
        raise UsageError("USAGE", f"--host {host!r} is not an address: it is empty or contains blanks.", "--host"
            " 127.0.0.1")
    return standard._replace(
        host=host,
        port=standard.port if port is None else port,
        names=tuple(name.lower() for name in wanted.get("name") or ()),
        token=_token(wanted.get("token_file")),
        flags={
            "database": given.db,
            **{_KEYS.get(name, name): wanted.get(name) for name in _EXECUTING},
        },
        drive=_driven(wanted),
    )


def _driven(wanted: dict[str, Any]) -> Drive | None:
    """How sessions are driven; None without `--drive`.

    Raises:
        UsageError: USAGE, something is said of driving without it.
    """
    given = {name: wanted[name] for name in _DRIVING if wanted.get(name)}
    if not wanted.get("drive"):
        if given:
            spelt = ", ".join(f"--{name.replace('_', '-')}" for name in given)
            raise UsageError("USAGE", f"{spelt} needs --drive.", "Add --drive")
        return None
    executor, provider, model = (wanted.get(name) for name in ("executor", "provider", "model"))
    named = executor or (f"{provider}:{model}" if provider and model else provider)
    bound = arguments.bind("drive", given)
    return Drive(executor=named, **bound)


_KEYS = {"executor_timeout": "executor_timeout_ms", "progress_timeout": "progress_timeout_ms"}


def _token(data: bytes | None) -> str | None:
    """The token that a file holds."""
    if data is None:
        return None
    try:
        token = data.decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        token = ""
    if not token.isascii() or not token.isprintable() or " " in token or not token:
        message = "The token file holds no token: one line of visible ASCII."
        raise InvalidInput("FILE_INVALID", message, "Write a token into it")
    return token


class _Teller:
    """Says where the server listens and by which link a person comes in, in lines or in JSON objects."""

    def __init__(self, given: Given) -> None:
        self._json = given.json
        self._given = given.warnings
        self._again = False

    def tell(self, listening: Any) -> None:
        """Say it; after the first time only what is new."""
        link = f"{listening.url}/open/{listening.link}" if listening.link else None
        if self._json:
            found: dict[str, Any] = {
                "url": listening.url,
                "link": link,
                "token": None if self._again else listening.token,
                "warnings": [] if self._again else self._warnings(listening),
            }
            output.write(output.line(operations.success(found, listening.db)))
        else:
            output.write("".join(f"{line}\n" for line in self._lines(listening, link)).encode())
        self._again = True

    def _warnings(self, listening: Any) -> list[str]:
        lacking = [f"{LACKING} {listening.lacking}"] if listening.lacking else []
        undriven = [f"{UNDRIVEN} {listening.undriven}"] if listening.undriven else []
        return [*([] if listening.local else [BEYOND]), *lacking, *undriven, *self._given]

    def _lines(self, listening: Any, link: str | None) -> list[str]:
        if self._again:
            return [f"Sign-in link for another browser (valid once): {link}"] if link else []
        lines = [f"Listening on {listening.url}"]
        lines.append(f"Sign-in link (valid once): {link}" if link else self._advice(listening))
        lines += self._warnings(listening)
        if listening.token:
            lines.append(f"API token: {listening.token} (Authorization: Bearer TOKEN)")
        return [*lines, "Press Ctrl-C to stop."]

    def _advice(self, listening: Any) -> str:
        """How a person comes in where no link is printed, since an agent could read it there."""
        link = suggest("human link", url=listening.url)
        return f"Sign in: run `{output.worded(link)}` at your own terminal."


def _require_packages() -> None:
    missing = [name for name in PACKAGES if util.find_spec(name) is None]
    if missing:
        raise EnvironmentProblem(
            "EXTRA_MISSING",
            f"The Python package {missing[0]} is not installed.",
            resources.installing("web"),
        )


COMMANDS = {
    "serve": Command(
        "serve",
        "Serve HTTP: an API for programs below /api, and pages on which people read and answer. It also runs the"
        " tasks that people type into a chat. Listens on loopback unless --host is given; then every request needs"
        " the token in --token-file, even after opening the sign-in link. At a terminal it prints a sign-in link"
        " that works once; otherwise create one with `orchestrator human link`.",
        "orchestrator serve --port 8765",
        (
            option("host", "Address to listen on (default: 127.0.0.1).", metavar="ADDRESS"),
            option("port", "Port to listen on; 0 picks a free one (default: 8765).", kind=INTEGER, metavar="N"),
            option("name", "Another host name of this server, for browsers. Repeatable.", kind=WORDS, metavar="NAME"),
            option(
                "token_file",
                "A file with the API token (default: a new token for each start).",
                kind=SECRET,
                metavar="FILE",
            ),
            *(each for each in flags.FLAGS if each.name in _EXECUTING),
            flag("drive", "Run the sessions that are begun here by themselves, as `drive` does."),
            *(each for each in options.of_operation(Drive).parameters if each.name in _DRIVING),
        ),
        None,
        _serve,
        line="Serve HTTP: an API for programs, and pages for people.",
        answer=("runs.Listening",),
    ),
}
