"""The installed `serve` on a database and projects of the test's own, and what calls it: scripts, people, readers."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import signal
import sqlite3
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import httpx

from orchestrator import bootstrap
from orchestrator.app.kernel import operations
from tests import persons
from tests.acceptance import replhouse
from tests.acceptance.replhouse import DEADLINE_S

LAST = ("COMPLETE", "INCOMPLETE", "ERROR", "CANCELLED")
"""Statuses of tasks that have ended."""
MADE: dict[str, Any] = {"when": "create", "status": "COMPLETE", "output": "made", "repeat": True,
                        "writes": {"notes.md": "words\n"}}  # fmt: skip
EXPLAINS: dict[str, Any] = {"status": "COMPLETE", "output": "It is so.", "repeat": True}
ANSWERED: dict[str, Any] = {"when": "Answer: ", "status": "COMPLETE", "output": "thanks", "repeat": True}
ASKS: dict[str, Any] = {"when": "ask", "status": "INCOMPLETE", "output": "Which colour should it have?", "repeat": True}
BLANK: dict[str, Any] = {"when": "say nothing", "status": "INCOMPLETE", "output": "", "repeat": True}
FAILS: dict[str, Any] = {"when": "fail", "status": "ERROR", "output": "", "error": "no such thing", "repeat": True}
SLEEPS: dict[str, Any] = {"when": "sleep", "status": "COMPLETE", "output": "x", "delay_ms": 25_000, "repeat": True}
NO_AUTHORITIES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Nothing here is encrypted, and reading the authorities' certificates takes a client longer than many requests."""
STEPS = (ANSWERED, ASKS, BLANK, FAILS, SLEEPS, MADE, EXPLAINS)
"""An executor that asks, says nothing, fails, takes long or does it, as its prompt says."""


class Server:
    """A running `serve`.

    Args:
        script: the installed command.
        base: its working folder.
        database: its database.
        flags: more of the command line.
    """

    def __init__(
        self, script: pathlib.Path, base: pathlib.Path, database: pathlib.Path, *flags: str,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(replhouse.OWN)}
        self.database = database
        self._errors = base / f"serve-{time.monotonic_ns()}.err"
        argv = [sys.executable, str(script), "serve", "--json", "--db", str(database), "--port", "0", *flags]
        with self._errors.open("wb") as errors:
            self.process = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, cwd=base,
                env=kept | dict(variables or {}),
            )  # fmt: skip
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.errors
        self.told: dict[str, Any] = json.loads(line)
        assert self.told["success"], (self.told, self.errors)
        self.url = str(self.told["url"])
        self.port = int(self.url.rpartition(":")[2])
        self.token = self.told["token"]
        self._clients: list[httpx.Client] = []
        self.open = httpx.Client(base_url=self.url, timeout=DEADLINE_S, verify=NO_AUTHORITIES)
        self.scripts = self.client(str(self.token))

    @property
    def errors(self) -> str:
        """What it said on stderr so far."""
        return self._errors.read_text("utf-8", "replace")

    def client(self, token: str, **headers: str) -> httpx.Client:
        """A client with a token."""
        with_token = {"Authorization": f"Bearer {token}", **headers}
        self._clients.append(
            httpx.Client(base_url=self.url, timeout=DEADLINE_S, headers=with_token, verify=NO_AUTHORITIES)
        )
        return self._clients[-1]

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send a signal and wait for the end; the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(DEADLINE_S)
        for client in (self.open, *self._clients):
            client.close()
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code

    # --- short words

    def project(self, folder: pathlib.Path, alias: str | None = None) -> str:
        """Register a folder; its id."""
        answer = self.scripts.post("/api/projects", json={"project_path": str(folder), "alias": alias})
        assert answer.status_code in (200, 201), answer.text
        return str(answer.json()["project_id"])

    def chat(self, project: str, content: str, session: str | None = None) -> dict[str, Any]:
        """Say something; what is answered."""
        answer = self.scripts.post(f"/api/projects/{project}/chat", json={"content": content, "session_id": session})
        assert answer.status_code == 201, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def task(self, id: str) -> dict[str, Any]:
        """A task as it is now."""
        answer = self.open.get(f"/api/tasks/{id}")
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def until(self, id: str, *statuses: str) -> dict[str, Any]:
        """A task once it has one of these statuses; those of an end where none is named."""
        wanted = statuses or LAST
        last: dict[str, Any] = {}

        def reached() -> bool:
            nonlocal last
            last = self.task(id)
            return last["status"] in wanted

        wait_for(reached, lambda: f"task {id} is {last.get('status')}: {last.get('why')}; {self.errors}")
        return last


def wait_for(holds: Callable[[], bool], why: Callable[[], str] = lambda: "it never holds") -> None:
    """Wait until something holds."""
    until = time.monotonic() + DEADLINE_S
    while not holds():
        assert time.monotonic() < until, why()
        time.sleep(0.02)


class WebHouse:
    """A database, projects, and servers on them.

    Args:
        base: a folder of the test's own.
        script: the installed command, or what stands in for it.
        template: an initialised database, to be copied.
    """

    def __init__(self, base: pathlib.Path, script: pathlib.Path, template: pathlib.Path) -> None:
        self.base, self._script = base, script
        self.database = base / "data" / "orchestrator.db"
        self.database.parent.mkdir()
        self.database.write_bytes(template.read_bytes())
        self._servers: list[Server] = []
        self._reader: sqlite3.Connection | None = None

    def serve(self, *flags: str, steps: Sequence[Mapping[str, Any]] | None = None, **more: Any) -> Server:
        """Start a server; with steps its executor plays these."""
        executor = () if steps is None else ("--executor", self.scripted(*steps))
        self._servers.append(Server(self._script, self.base, self.database, *executor, *flags, **more))
        return self._servers[-1]

    def folder(self, name: str = "project") -> pathlib.Path:
        """A project of this name, set up."""
        path = self.base / name
        return path if path.exists() else replhouse.set_up(path)

    def scripted(self, *steps: Mapping[str, Any]) -> str:
        """An executor that plays these steps."""
        path = self.base / f"steps-{time.monotonic_ns()}.json"
        path.write_text(json.dumps(list(steps)))
        return f"scripted:{path}"

    def program(self, text: str) -> str:
        """An executor that is a real program: a shell script."""
        path = self.base / f"program-{time.monotonic_ns()}.sh"
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return f"command:{path}"

    def person(self, id: str = "user") -> str:
        """Enrol a person as at a terminal; their token."""
        with self.at_terminal() as context:
            return str(operations.call(context, "human enrol", agent=id, by="user")["token"])

    @contextlib.contextmanager
    def at_terminal(self) -> Iterator[Any]:
        """The database as a person at a terminal has it."""
        context = bootstrap.open_context(str(self.database), write=True, door="cli", environment={})
        persons.sit(context)
        try:
            yield context
        finally:
            context.connection.close()

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """Let `rows` read on one connection, which need not read the whole schema each time."""
        with contextlib.closing(sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)) as self._reader:
            yield
        self._reader = None

    def rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """What a query finds."""
        if self._reader is not None:
            return self._reader.execute(sql, values).fetchall()
        connection = sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)
        try:
            return connection.execute(sql, values).fetchall()
        finally:
            connection.close()

    def command(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Call the command line on the database."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(replhouse.OWN)}
        return subprocess.run(
            [sys.executable, str(self._script), *words, "--db", str(self.database)], capture_output=True, text=True,
            env=kept | variables, cwd=self.base, timeout=DEADLINE_S, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def close(self) -> None:
        """End what still runs."""
        for server in self._servers:
            if server.process.poll() is None:
                server.process.kill()
            server.stop()
